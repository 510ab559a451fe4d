"""Dotted paths of TensorFlow's inside that programs import: second ways to the same objects.

Names here are public names of TF 1 (`here=public.name` where they differ, `@2` for TF 2's meaning); `inside` has the
names that were never public. A path that nobody imports need not be here."""

MIRRORS = {"app.flags": "flags"}
"""Whole namespaces that stand at two public paths."""

INNER_MIRRORS = {
    "python.framework.dtypes": "dtypes",
    "python.framework.errors": "errors",
    "python.framework.errors_impl": "errors",
    "python.ops.nn": "nn",
    "python.ops.signal.signal": "signal",
    "python.ops.image_ops": "image",
    "python.ops.image_ops_impl": "image",
    "python.ops.metrics": "metrics",
    "python.ops.metrics_impl": "metrics",
    "python.ops.rnn_cell": "nn.rnn_cell",
    "python.ops.rnn_cell_impl": "nn.rnn_cell",
    "python.ops.bitwise_ops": "bitwise",
    "python.summary.summary": "summary",
    "python.training.training": "train",
    "python.platform.flags": "flags",
    "python.platform.app": "app",
    "python.platform.tf_logging": "logging",
    "python.platform.gfile": "gfile",
    "python.platform.resource_loader": "resource_loader",
    "python.platform.sysconfig": "sysconfig",
    "python.util.compat": "compat",
    "python.util.nest": "nest",
    "python.platform.test": "test",
    "python.platform.googletest": "test",
    "python.layers.layers": "layers",
}
"""Inner paths that show the whole of a public namespace."""

UNIONS = {
    "python.ops.standard_ops": """
        array_ops check_ops clip_ops special_math_ops cond control_flow_ops critical_section_ops data_flow_ops
        functional_ops gradients histogram_ops init_ops linalg_ops logging_ops manip_ops math_ops numerics
        partitioned_variables random_ops script_ops session_ops sort_ops sparse_ops state_ops stateless_random_ops
        string_ops template tensor_array_ops while_loop variable_scope variables parallel_for.control_flow_ops
    """,
}
"""Inner paths that show what their neighbours do; where two have a name, the first one's."""

PYTHON = {
    "python.autograph.impl.api": """
        do_not_convert=autograph.experimental.do_not_convert to_code=autograph.to_code@2 to_code_v1=autograph.to_code
        to_graph=autograph.to_graph@2 to_graph_v1=autograph.to_graph
    """,
    "python.autograph.lang.directives": "set_loop_options=autograph.experimental.set_loop_options",
    "python.autograph.utils.ag_logging": "set_verbosity=autograph.set_verbosity trace=autograph.trace",
    "python.client.session": "InteractiveSession Session",
    "python.framework.constant_op": "constant constant_v1=constant",
    "python.framework.device_spec": "DeviceSpecV1=DeviceSpec",
    "python.framework.indexed_slices": "IndexedSlices convert_to_tensor_or_indexed_slices",
    "python.framework.ops": """
        Graph GraphKeys IndexedSlices NoGradient NotDifferentiable Operation RegisterGradient Tensor
        add_to_collection add_to_collections colocate_with container control_dependencies convert_to_tensor
        convert_to_tensor_or_indexed_slices convert_to_tensor_v2=convert_to_tensor@2 device device_v2=device@2
        disable_eager_execution disable_tensor_equality enable_eager_execution enable_tensor_equality
        executing_eagerly_outside_functions get_collection get_collection_ref get_default_graph
        get_default_session init_scope is_symbolic_tensor name_scope name_scope_v1=name_scope
        name_scope_v2=name_scope@2 no_gradient register_tensor_conversion_function reset_default_graph
    """,
    "python.framework.random_seed": "get_seed set_random_seed",
    "python.framework.sparse_tensor": """
        SparseTensor SparseTensorSpec SparseTensorValue convert_to_tensor_or_sparse_tensor
    """,
    "python.framework.tensor_spec": "TensorSpec",
    "python.framework.type_spec": "TypeSpec type_spec_from_value",
    "python.framework.graph_util": """
        convert_variables_to_constants=graph_util.convert_variables_to_constants
        extract_sub_graph=graph_util.extract_sub_graph must_run_on_cpu=graph_util.must_run_on_cpu
        remove_training_nodes=graph_util.remove_training_nodes
        tensor_shape_from_node_def_name=graph_util.tensor_shape_from_node_def_name
    """,
    "python.framework.graph_util_impl": """
        convert_variables_to_constants=graph_util.convert_variables_to_constants
        extract_sub_graph=graph_util.extract_sub_graph must_run_on_cpu=graph_util.must_run_on_cpu
        remove_training_nodes=graph_util.remove_training_nodes
        tensor_shape_from_node_def_name=graph_util.tensor_shape_from_node_def_name
    """,
    "python.framework.versions": """
        COMPILER_VERSION=version.COMPILER_VERSION GIT_VERSION=version.GIT_VERSION VERSION=version.VERSION
        __version__=version.VERSION
        GRAPH_DEF_VERSION=version.GRAPH_DEF_VERSION
        GRAPH_DEF_VERSION_MIN_CONSUMER=version.GRAPH_DEF_VERSION_MIN_CONSUMER
        GRAPH_DEF_VERSION_MIN_PRODUCER=version.GRAPH_DEF_VERSION_MIN_PRODUCER
    """,
    "python.framework.graph_io": "write_graph=io.write_graph",
    "python.framework.tensor": "Tensor disable_tensor_equality enable_tensor_equality",
    "python.framework.tensor_conversion": """
        convert_to_tensor_v1=convert_to_tensor convert_to_tensor_v1_with_dispatch=convert_to_tensor
        convert_to_tensor_v2=convert_to_tensor@2 convert_to_tensor_v2_with_dispatch=convert_to_tensor
    """,
    "python.framework.tensor_shape": """
        Dimension TensorShape dimension_at_index dimension_value disable_v2_tensorshape enable_v2_tensorshape
    """,
    "python.framework.tensor_util": """
        MakeNdarray=make_ndarray constant_value=get_static_value is_tensor is_tf_type=is_tensor
        make_tensor_proto
    """,
    "python.eager.backprop": "GradientTape",
    "python.eager.context": """
        LogicalDeviceConfiguration=config.LogicalDeviceConfiguration
        VirtualDeviceConfiguration=config.experimental.VirtualDeviceConfiguration device executing_eagerly
        executing_eagerly_v1=executing_eagerly get_log_device_placement=debugging.get_log_device_placement
        list_devices=config.experimental_list_devices
        set_log_device_placement=debugging.set_log_device_placement
    """,
    "python.eager.forwardprop": "ForwardAccumulator=autodiff.ForwardAccumulator",
    "python.layers.base": "Layer=layers.Layer",
    "python.layers.core": """
        Dense=layers.Dense Dropout=layers.Dropout Flatten=layers.Flatten FullyConnected=layers.Dense
        dense=layers.dense dropout=layers.dropout flatten=layers.flatten fully_connected=layers.dense
    """,
    "python.layers.convolutional": """
        Conv1D=layers.Conv1D Conv2D=layers.Conv2D Conv3D=layers.Conv3D Convolution1D=layers.Conv1D
        Convolution2D=layers.Conv2D Convolution3D=layers.Conv3D conv1d=layers.conv1d conv2d=layers.conv2d
        conv3d=layers.conv3d convolution1d=layers.conv1d convolution2d=layers.conv2d
        convolution3d=layers.conv3d Conv2DTranspose=layers.Conv2DTranspose Conv3DTranspose=layers.Conv3DTranspose
        Convolution2DTranspose=layers.Conv2DTranspose Convolution3DTranspose=layers.Conv3DTranspose
        Deconv2D=layers.Conv2DTranspose Deconv3D=layers.Conv3DTranspose Deconvolution2D=layers.Conv2DTranspose
        Deconvolution3D=layers.Conv3DTranspose SeparableConv1D=layers.SeparableConv1D
        SeparableConv2D=layers.SeparableConv2D SeparableConvolution2D=layers.SeparableConv2D
        conv2d_transpose=layers.conv2d_transpose conv3d_transpose=layers.conv3d_transpose
        convolution2d_transpose=layers.conv2d_transpose convolution3d_transpose=layers.conv3d_transpose
        deconv2d=layers.conv2d_transpose deconv3d=layers.conv3d_transpose deconvolution2d=layers.conv2d_transpose
        deconvolution3d=layers.conv3d_transpose separable_conv1d=layers.separable_conv1d
        separable_conv2d=layers.separable_conv2d separable_convolution2d=layers.separable_conv2d
    """,
    "python.layers.normalization": """
        BatchNorm=layers.BatchNormalization BatchNormalization=layers.BatchNormalization
        batch_norm=layers.batch_normalization batch_normalization=layers.batch_normalization
    """,
    "python.layers.pooling": """
        AveragePooling1D=layers.AveragePooling1D AveragePooling2D=layers.AveragePooling2D
        AveragePooling3D=layers.AveragePooling3D AvgPool2D=layers.AveragePooling2D
        MaxPool2D=layers.MaxPooling2D MaxPooling1D=layers.MaxPooling1D MaxPooling2D=layers.MaxPooling2D
        MaxPooling3D=layers.MaxPooling3D average_pooling1d=layers.average_pooling1d
        average_pooling2d=layers.average_pooling2d average_pooling3d=layers.average_pooling3d
        avg_pool2d=layers.average_pooling2d max_pool2d=layers.max_pooling2d max_pooling1d=layers.max_pooling1d
        max_pooling2d=layers.max_pooling2d max_pooling3d=layers.max_pooling3d
    """,
    "python.layers.layers": """
        AveragePooling1D=layers.AveragePooling1D AveragePooling2D=layers.AveragePooling2D
        AveragePooling3D=layers.AveragePooling3D BatchNormalization=layers.BatchNormalization
        Conv1D=layers.Conv1D Conv2D=layers.Conv2D Conv3D=layers.Conv3D Convolution1D=layers.Conv1D
        Convolution2D=layers.Conv2D Convolution3D=layers.Conv3D Dense=layers.Dense Dropout=layers.Dropout
        Flatten=layers.Flatten Layer=layers.Layer MaxPooling1D=layers.MaxPooling1D
        MaxPooling2D=layers.MaxPooling2D MaxPooling3D=layers.MaxPooling3D
        average_pooling1d=layers.average_pooling1d average_pooling2d=layers.average_pooling2d
        average_pooling3d=layers.average_pooling3d batch_normalization=layers.batch_normalization
        conv1d=layers.conv1d conv2d=layers.conv2d conv3d=layers.conv3d dense=layers.dense
        dropout=layers.dropout flatten=layers.flatten max_pooling1d=layers.max_pooling1d
        max_pooling2d=layers.max_pooling2d max_pooling3d=layers.max_pooling3d
    """,
    "python.lib.io.tf_record": """
        TFRecordCompressionType=io.TFRecordCompressionType TFRecordOptions=io.TFRecordOptions
        TFRecordWriter=io.TFRecordWriter tf_record_iterator=io.tf_record_iterator
    """,
    "python.ops.array_ops": """
        batch_gather batch_to_space batch_to_space_nd batch_to_space_v2=batch_to_space@2 bitcast boolean_mask
        boolean_mask_v2=boolean_mask@2 broadcast_dynamic_shape broadcast_static_shape broadcast_to
        check_numerics concat constant depth_to_space diag diag_part ensure_shape expand_dims
        expand_dims_v2=expand_dims@2 extract_image_patches extract_image_patches_v2=image.extract_patches fill
        gather gather_nd gather_nd_v2=gather_nd@2 gather_v2=gather@2 guarantee_const identity identity_n
        invert_permutation matrix_band_part matrix_diag matrix_diag_part matrix_set_diag matrix_transpose
        meshgrid one_hot ones ones_like ones_like_v2=ones_like@2 pad pad_v2=pad@2 parallel_stack placeholder
        placeholder_with_default rank repeat required_space_to_batch_paddings reshape reverse reverse_sequence
        reverse_sequence_v2=reverse_sequence@2 reverse_v2 scatter_nd searchsorted sequence_mask setdiff1d
        shape shape_n shape_v2=shape@2 size size_v2=size@2 slice space_to_batch space_to_batch_nd
        space_to_batch_v2=space_to_batch@2 space_to_depth sparse_placeholder split squeeze
        squeeze_v2=squeeze@2 stack stop_gradient strided_slice tensor_diag_part=linalg.tensor_diag_part
        tensor_scatter_add tensor_scatter_max=tensor_scatter_nd_max tensor_scatter_min=tensor_scatter_nd_min
        tensor_scatter_nd_update tensor_scatter_sub tensor_scatter_update tile transpose
        transpose_v2=transpose@2 unique unique_with_counts unstack where where_v2=where@2 zeros zeros_like
        zeros_like_v2=zeros_like@2
    """,
    "python.ops.array_ops_stack": "stack unstack",
    "python.ops.bincount_ops": "bincount=math.bincount@2 bincount_v1=bincount",
    "python.ops.check_ops": """
        assert_equal assert_equal_v2=assert_equal@2 assert_greater assert_greater_equal
        assert_greater_v2=assert_greater@2 assert_integer assert_less assert_less_equal
        assert_less_v2=assert_less@2 assert_near assert_negative assert_non_negative assert_non_positive
        assert_none_equal assert_positive assert_proper_iterable assert_rank assert_rank_at_least
        assert_rank_in assert_rank_v2=assert_rank@2 assert_same_float_dtype assert_scalar
        assert_shapes=debugging.assert_shapes assert_type ensure_shape is_non_decreasing is_numeric_tensor
        is_strictly_increasing
    """,
    "python.ops.clip_ops": "clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value global_norm",
    "python.ops.constant_op": "constant",
    "python.ops.cond": "cond cond_for_tf_v2=cond@2",
    "python.ops.cond_v2": "cond_v2=cond@2 indexed_case=switch_case",
    "python.ops.control_flow_assert": "Assert",
    "python.ops.control_flow_case": "case case_v2=case",
    "python.ops.control_flow_ops": """
        Assert case case_v2=case cond cond_for_tf_v2=cond@2 group no_op switch_case tuple tuple_v2=tuple@2 while_loop
        while_loop_v2=while_loop@2
    """,
    "python.ops.control_flow_switch_case": "switch_case",
    "python.ops.functional_ops": "foldl foldl_v2=foldl foldr foldr_v2=foldr map_fn map_fn_v2=map_fn scan scan_v2=scan",
    "python.ops.map_fn": "map_fn map_fn_v2=map_fn",
    "python.ops.parallel_for": "vectorized_map",
    "python.ops.parallel_for.control_flow_ops": "vectorized_map",
    "python.ops.tensor_array_ops": "TensorArray TensorArraySpec",
    "python.ops.while_loop": "while_loop while_loop_v2=while_loop@2",
    "python.ops.while_v2": "while_loop=while_loop@2",
    "python.ops.critical_section_ops": "CriticalSection",
    "python.ops.custom_gradient": "custom_gradient grad_pass_through recompute_grad",
    "python.ops.data_flow_ops": """
        delete_session_tensor dynamic_partition dynamic_stitch get_session_handle get_session_tensor
    """,
    "python.ops.embedding_ops": "embedding_lookup=nn.embedding_lookup",
    "python.ops.gradients": """
        AggregationMethod ForwardAccumulator=autodiff.ForwardAccumulator GradientTape UnconnectedGradients
        custom_gradient gradients hessians
    """,
    "python.ops.gradients_impl": "gradients gradients_v2=gradients@2 hessians",
    "python.ops.gradient_checker": """
        compute_gradient=test.compute_gradient compute_gradient_error=test.compute_gradient_error
    """,
    "python.ops.histogram_ops": "histogram_fixed_width histogram_fixed_width_bins",
    "python.ops.init_ops": """
        Constant=constant_initializer GlorotNormal=glorot_normal_initializer
        GlorotUniform=glorot_uniform_initializer Identity=initializers.identity Ones=ones_initializer
        Orthogonal=orthogonal_initializer RandomNormal=random_normal_initializer
        RandomUniform=random_uniform_initializer TruncatedNormal=truncated_normal_initializer
        UniformUnitScaling=uniform_unit_scaling_initializer VarianceScaling=variance_scaling_initializer
        Zeros=zeros_initializer constant_initializer glorot_normal_initializer glorot_uniform_initializer
        he_normal=initializers.he_normal he_uniform=initializers.he_uniform
        identity_initializer=initializers.identity lecun_normal=initializers.lecun_normal
        lecun_uniform=initializers.lecun_uniform ones_initializer orthogonal_initializer
        random_normal_initializer random_uniform_initializer truncated_normal_initializer
        uniform_unit_scaling_initializer variance_scaling_initializer zeros_initializer
    """,
    "python.ops.init_ops_v2": """
        constant constant_initializer glorot_normal_initializer glorot_uniform_initializer identity ones
        ones_initializer orthogonal_initializer random_normal random_normal_initializer random_uniform
        random_uniform_initializer truncated_normal truncated_normal_initializer variance_scaling_initializer
        zeros zeros_initializer
    """,
    "python.ops.linalg_ops": """
        cholesky cholesky_solve einsum eye log_matrix_determinant=linalg.slogdet matrix_determinant
        matrix_inverse matrix_solve matrix_solve_ls matrix_triangular_solve norm norm_v2=norm@2 qr
        self_adjoint_eig self_adjoint_eigvals svd
    """,
    "python.ops.logging_ops": "Assert Print print_v2=print timestamp",
    "python.ops.manip_ops": "roll",
    "python.ops.math_ops": """
        abs accumulate_n acos acosh add add_n angle arg_max arg_min argmax argmax_v2=argmax@2 argmin
        argmin_v2=argmin@2 asin asinh atan atan2 atanh bessel_i0e=math.bessel_i0e bessel_i1e=math.bessel_i1e
        betainc bincount bincount_v1=bincount cast ceil complex conj cos cosh count_nonzero cross cumprod
        cumsum cumulative_logsumexp=math.cumulative_logsumexp digamma div div_no_nan divide equal erf erfc
        erfcinv=math.erfcinv erfinv=math.erfinv exp expm1 floor floor_div floor_mod=mod floordiv floormod
        greater greater_equal igamma igammac imag is_finite is_inf is_nan less less_equal lgamma lin_space
        linspace linspace_nd=linspace log log1p log_sigmoid logical_and logical_not logical_or logical_xor
        matmul matvec=linalg.matvec maximum minimum mod multiply multiply_no_nan=math.multiply_no_nan
        ndtri=math.ndtri neg=negative negative next_after=math.nextafter nextafter=math.nextafter not_equal
        polygamma polyval=math.polyval pow range real real_div=realdiv realdiv reciprocal
        reciprocal_no_nan=math.reciprocal_no_nan reduce_all reduce_all_v1=reduce_all reduce_any
        reduce_any_v1=reduce_any reduce_euclidean_norm=math.reduce_euclidean_norm reduce_logsumexp
        reduce_logsumexp_v1=reduce_logsumexp reduce_max reduce_max_v1=reduce_max reduce_mean
        reduce_mean_v1=reduce_mean reduce_min reduce_min_v1=reduce_min reduce_prod reduce_prod_v1=reduce_prod
        reduce_std=math.reduce_std reduce_sum reduce_sum_v1=reduce_sum reduce_variance=math.reduce_variance
        rint round rsqrt saturate_cast scalar_mul segment_max segment_mean segment_min segment_prod
        segment_sum sigmoid sign sin sinh softplus=nn.softplus sparse_segment_mean sparse_segment_sqrt_n
        sparse_segment_sum sqrt square squared_difference subtract tan tanh tensordot to_bfloat16
        to_complex128 to_complex64 to_double to_float to_int32 to_int64 trace truediv truncate_div=truncatediv
        truncate_mod=truncatemod truncatediv truncatemod unsorted_segment_max unsorted_segment_mean
        unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum
        xdivy=math.xdivy xlog1py=math.xlog1py xlogy=math.xlogy zeta
    """,
    "python.ops.nn_impl": """
        batch_norm_with_global_normalization=nn.batch_norm_with_global_normalization
        batch_normalization=nn.batch_normalization depthwise_conv2d=nn.depthwise_conv2d
        fused_batch_norm=nn.fused_batch_norm l2_normalize=nn.l2_normalize log_poisson_loss=nn.log_poisson_loss
        moments=nn.moments normalize=linalg.normalize normalize_moments=nn.normalize_moments
        relu_layer=nn.relu_layer separable_conv2d=nn.separable_conv2d
        sigmoid_cross_entropy_with_logits=nn.sigmoid_cross_entropy_with_logits
        sufficient_statistics=nn.sufficient_statistics swish=nn.swish
        weighted_cross_entropy_with_logits=nn.weighted_cross_entropy_with_logits
        weighted_moments=nn.weighted_moments zero_fraction=nn.zero_fraction
    """,
    "python.ops.nn_ops": """
        atrous_conv2d=nn.atrous_conv2d atrous_conv2d_transpose=nn.atrous_conv2d_transpose avg_pool=nn.avg_pool
        avg_pool1d=nn.avg_pool1d avg_pool3d=nn.avg_pool3d avg_pool_v2=nn.avg_pool_v2 bias_add=nn.bias_add
        conv1d=nn.conv1d conv1d_transpose=nn.conv1d_transpose conv2d=nn.conv2d
        conv2d_backprop_filter=nn.conv2d_backprop_filter conv2d_backprop_input=nn.conv2d_backprop_input
        conv2d_transpose=nn.conv2d_transpose conv3d_backprop_filter_v2=nn.conv3d_backprop_filter_v2
        conv3d_transpose=nn.conv3d_transpose conv3d_v1=nn.conv3d conv_transpose=nn.conv_transpose
        convolution=nn.convolution crelu=nn.crelu depthwise_conv2d_native=nn.depthwise_conv2d_native
        depthwise_conv2d_native_backprop_filter=nn.depthwise_conv2d_native_backprop_filter
        depthwise_conv2d_native_backprop_input=nn.depthwise_conv2d_native_backprop_input dropout=nn.dropout
        elu=nn.elu gelu=nn.gelu general_dropout=nn.experimental.general_dropout in_top_k=nn.in_top_k
        l2_loss=nn.l2_loss leaky_relu=nn.leaky_relu
        local_response_normalization=nn.local_response_normalization log_softmax=nn.log_softmax lrn=nn.lrn
        max_pool=nn.max_pool max_pool1d=nn.max_pool1d max_pool2d=nn.max_pool2d max_pool3d=nn.max_pool3d
        max_pool_v2=nn.max_pool_v2 max_pool_with_argmax_v1=nn.max_pool_with_argmax pool=nn.pool relu=nn.relu
        relu6=nn.relu6 selu=nn.selu softmax=nn.softmax
        softmax_cross_entropy_with_logits=nn.softmax_cross_entropy_with_logits
        softmax_cross_entropy_with_logits_v2_helper=nn.softmax_cross_entropy_with_logits_v2
        softplus=nn.softplus softsign=nn.softsign
        sparse_softmax_cross_entropy_with_logits=nn.sparse_softmax_cross_entropy_with_logits
        stateless_dropout=nn.experimental.stateless_dropout top_k=nn.top_k xw_plus_b=nn.xw_plus_b
    """,
    "python.ops.numerics": "add_check_numerics_ops verify_tensor_all_finite",
    "python.ops.partitioned_variables": """
        create_partitioned_variables fixed_size_partitioner min_max_variable_partitioner
        variable_axis_size_partitioner
    """,
    "python.ops.random_ops": """
        categorical=random.categorical multinomial random_crop random_gamma random_normal random_poisson
        random_shuffle random_uniform truncated_normal
    """,
    "python.ops.rnn": """
        bidirectional_dynamic_rnn=nn.bidirectional_dynamic_rnn dynamic_rnn=nn.dynamic_rnn raw_rnn=nn.raw_rnn
        static_bidirectional_rnn=nn.static_bidirectional_rnn static_rnn=nn.static_rnn
        static_state_saving_rnn=nn.static_state_saving_rnn
    """,
    "python.ops.script_ops": "numpy_function py_func",
    "python.ops.session_ops": "delete_session_tensor get_session_handle get_session_tensor",
    "python.ops.sort_ops": "argsort sort",
    "python.ops.sparse_ops": """
        sparse_add sparse_concat sparse_fill_empty_rows sparse_merge sparse_minimum sparse_maximum sparse_placeholder
        sparse_reduce_max sparse_reduce_sum sparse_reduce_sum_sparse sparse_reorder sparse_reset_shape sparse_reshape
        sparse_retain sparse_slice sparse_softmax sparse_split sparse_tensor_dense_matmul sparse_tensor_to_dense
        sparse_to_dense sparse_to_indicator sparse_transpose from_dense=sparse.from_dense
    """,
    "python.ops.special_math_ops": """
        bessel_i0=math.bessel_i0 bessel_i0e=math.bessel_i0e bessel_i1=math.bessel_i1
        bessel_i1e=math.bessel_i1e bessel_j0=math.special.bessel_j0 bessel_j1=math.special.bessel_j1
        bessel_k0=math.special.bessel_k0 bessel_k0e=math.special.bessel_k0e bessel_k1=math.special.bessel_k1
        bessel_k1e=math.special.bessel_k1e bessel_y0=math.special.bessel_y0 bessel_y1=math.special.bessel_y1
        dawsn=math.special.dawsn einsum expint=math.special.expint fresnel_cos=math.special.fresnel_cos
        fresnel_sin=math.special.fresnel_sin lbeta spence=math.special.spence
    """,
    "python.ops.state_ops": """
        Variable assign assign_add assign_sub batch_scatter_update count_up_to is_variable_initialized
        scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_sub
        scatter_nd_update scatter_sub scatter_update
    """,
    "python.ops.stateless_random_ops": """
        fold_in=random.fold_in split=random.split stateless_categorical=random.stateless_categorical
        stateless_multinomial=random.stateless_multinomial
        stateless_parameterized_truncated_normal=random.stateless_parameterized_truncated_normal
        stateless_random_binomial=random.stateless_binomial stateless_random_gamma=random.stateless_gamma
        stateless_random_normal=random.stateless_normal stateless_random_poisson=random.stateless_poisson
        stateless_random_uniform=random.stateless_uniform
        stateless_shuffle=random.experimental.stateless_shuffle
        stateless_truncated_normal=random.stateless_truncated_normal
    """,
    "python.ops.string_ops": "as_string string_join",
    "python.ops.template": "make_template",
    "python.ops.variable_scope": """
        AUTO_REUSE VariableAggregation VariableScope VariableSynchronization disable_resource_variables
        enable_resource_variables get_local_variable get_variable get_variable_scope no_regularizer
        resource_variables_enabled variable=Variable variable_creator_scope
        variable_creator_scope_v1=variable_creator_scope variable_op_scope variable_scope
    """,
    "python.ops.variables": """
        Variable VariableAggregation VariableSynchronization VariableV1=Variable all_variables
        assert_variables_initialized global_variables global_variables_initializer initialize_all_variables
        initialize_local_variables initialize_variables is_variable_initialized local_variables
        local_variables_initializer model_variables moving_average_variables report_uninitialized_variables
        trainable_variables variables_initializer
    """,
    "python.summary.writer.writer": "FileWriter=summary.FileWriter",
    "python.summary.writer.writer_cache": "FileWriterCache=summary.FileWriterCache",
    "python.training.adadelta": "AdadeltaOptimizer=train.AdadeltaOptimizer",
    "python.training.adagrad": "AdagradOptimizer=train.AdagradOptimizer",
    "python.training.adagrad_da": "AdagradDAOptimizer=train.AdagradDAOptimizer",
    "python.training.adam": "AdamOptimizer=train.AdamOptimizer",
    "python.training.ftrl": "FtrlOptimizer=train.FtrlOptimizer",
    "python.training.gradient_descent": "GradientDescentOptimizer=train.GradientDescentOptimizer",
    "python.training.learning_rate_decay": """
        cosine_decay=train.cosine_decay cosine_decay_restarts=train.cosine_decay_restarts
        exponential_decay=train.exponential_decay inverse_time_decay=train.inverse_time_decay
        linear_cosine_decay=train.linear_cosine_decay natural_exp_decay=train.natural_exp_decay
        noisy_linear_cosine_decay=train.noisy_linear_cosine_decay piecewise_constant=train.piecewise_constant
        polynomial_decay=train.polynomial_decay
    """,
    "python.training.momentum": "MomentumOptimizer=train.MomentumOptimizer",
    "python.training.moving_averages": "ExponentialMovingAverage=train.ExponentialMovingAverage",
    "python.training.optimizer": "Optimizer=train.Optimizer",
    "python.training.proximal_adagrad": "ProximalAdagradOptimizer=train.ProximalAdagradOptimizer",
    "python.training.proximal_gradient_descent": """
        ProximalGradientDescentOptimizer=train.ProximalGradientDescentOptimizer
    """,
    "python.training.rmsprop": "RMSPropOptimizer=train.RMSPropOptimizer",
    "python.training.training_util": """
        assert_global_step=train.assert_global_step create_global_step=train.create_global_step
        get_global_step=train.get_global_step get_or_create_global_step=train.get_or_create_global_step
        global_step=train.global_step
    """,
}
