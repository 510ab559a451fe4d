"""Names that only TensorFlow's inside had, at the paths where programs found them: rows as in the other tables."""

ROWS = """
[state.random_generator]
python.ops.stateful_random_ops.: STATE_TYPE non_deterministic_ints
STATE_SIZE as python.ops.stateful_random_ops.PHILOX_STATE_SIZE
counter_size as python.ops.stateful_random_ops._get_counter_size
uint_to_int as python.ops.stateful_random_ops._uint_to_int
[api.inner_helpers]
to_numpy as python.ops.gradient_checker_v2._to_numpy
python.util.compat.collections_abc
python.util.numpy_compat.: np_array np_asarray np_where
convert_n_to_tensor as python.framework.ops.convert_n_to_tensor
python.framework.ops.is_dense_tensor_like
get_name_scope as python.framework.ops.get_name_scope
NotOkStatusException as python.eager.core._NotOkStatusException
status_to_exception as python.eager.core._status_to_exception
is_sparse as python.framework.sparse_tensor.is_sparse
python.ops.array_ops.: batch_gather_nd newaxis
python.ops.math_ops.: tensor_equals tensor_not_equals
python.eager.context.: anonymous_name ensure_initialized shared_name
python.ops.stateful_random_ops.: RNG_ALG_PHILOX RNG_ALG_THREEFRY
python.eager.context.: ASYNC SYNC
python.data.ops.dataset_ops.: INFINITE UNKNOWN
python.data.experimental.ops.cardinality.: INFINITE UNKNOWN
python.ops.ragged.ragged_tensor.: convert_to_tensor_or_ragged_tensor is_ragged
ragged_concat as python.ops.ragged.ragged_concat_ops.concat
ragged_gather as python.ops.ragged.ragged_gather_ops.gather
ragged_gather_nd as python.ops.ragged.ragged_gather_ops.gather_nd
ragged_squeeze as python.ops.ragged.ragged_squeeze_op.squeeze
python.ops.ragged.ragged_conversion_ops.: from_sparse from_tensor to_sparse to_tensor
get_positive_axis as python.ops.array_ops.get_positive_axis python.ops.ragged.ragged_util.get_positive_axis
[api.public_functions]
dispatched_functions as python.util.dispatch.apis_with_type_based_dispatch
[core.tensor]
TensorBase as python.types.core.Tensor
[functions.trace_types]
python.types.core.TensorLike
[core.composite_gradient]
python.framework.composite_tensor_gradient.: CompositeTensorGradient WithValuesCompositeTensorGradient
flat_tensors as python.framework.composite_tensor_gradient.get_flat_tensors_for_gradients
gradients_like as python.framework.composite_tensor_gradient.replace_flat_tensors_for_gradients
[ops.nn.conv]
padding_of as python.ops.nn_ops.convert_padding
[core.immutable_dict]
python.framework.immutable_dict.ImmutableDict
[ops.extension.types]
python.framework.extension_type.ExtensionTypeMetaclass
[ops.extension.batching]
python.framework.extension_type.BatchableExtensionTypeSpec
[ops.extension.anonymous]
python.framework.extension_type.: AnonymousExtensionType AnonymousExtensionTypeSpec reinterpret
[ops.extension.packing]
python.framework.extension_type.: is_packed pack unpack
[ops.extension.fields]
python.framework.extension_type_field.: ExtensionTypeField RESERVED_FIELD_NAMES _ConversionContext _convert_value
python.framework.extension_type_field.: convert_fields convert_fields_for_spec validate_field_value_type
[eager.functions]
python.eager.backprop.: gradients_function make_vjp
implicit_gradients as python.eager.backprop.implicit_grad
implicit_value_and_gradients as python.eager.backprop.implicit_val_and_grad
value_and_gradients_function as python.eager.backprop.val_and_grad_function
[core.dtypes]
python.framework.dtypes.: bfloat16_ref bool_ref complex128_ref complex64_ref float16_ref float32_ref float64_ref
python.framework.dtypes.: half_ref int16_ref int32_ref int64_ref int8_ref resource_ref string_ref uint16_ref uint32_ref
python.framework.dtypes.: uint64_ref uint8_ref variant_ref
python.framework.dtypes.: float4_e2m1fn_ref float8_e4m3fn_ref float8_e5m2_ref int2_ref int4_ref qint16_ref qint32_ref
python.framework.dtypes.: TF_VALUE_DTYPES qint8_ref quint16_ref quint8_ref uint2_ref uint4_ref
[ops.arrays.slicing]
SLICE_TYPE_ERROR as python.ops.tensor_getitem_override._SLICE_TYPE_ERROR python.ops.array_ops._SLICE_TYPE_ERROR
[ops.state.list_functions]
python.ops.list_ops.: empty_tensor_list tensor_list_concat tensor_list_from_tensor tensor_list_gather
python.ops.list_ops.: tensor_list_get_item tensor_list_pop_back tensor_list_reserve tensor_list_scatter
python.ops.list_ops.: tensor_list_set_item tensor_list_split tensor_list_stack
element_shape_of as python.ops.list_ops._build_element_shape
[testing.gradient_check]
python.ops.gradient_checker_v2.max_error
[linear.batches]
python.ops.linalg.linear_operator_util.: broadcast_matrix_batch_dims matrix_solve_with_broadcast
[linear.kernels]
FORWARD as python.ops.linalg.linear_operator_circulant._FFT_OP
as_complex as python.ops.linalg.linear_operator_circulant._to_complex
as_complex as python.ops.linalg.linear_operator_toeplitz._to_complex
python.ops.linalg.linear_operator_circulant.exponential_power_convolution_kernel
[linear.arguments]
python.ops.linalg.linear_operator_util.: arg_is_blockwise assert_compatible_matrix_dimensions
python.ops.linalg.linear_operator_util.: assert_no_entries_with_modulus_zero assert_zero_imag_part is_aat_form
python.ops.linalg.linear_operator_util.: is_adjoint_pair split_arg_into_blocks
python.ops.linalg.linear_operator_util.: use_operator_or_provided_hint_unless_contradicting
[ops.random.seeds]
DEFAULT_GRAPH_SEED as python.framework.random_seed.DEFAULT_GRAPH_SEED
[api.live]
python.ops.control_flow_util.ENABLE_CONTROL_FLOW_V2
python.autograph.utils.ag_logging.echo_log_to_stdout
python.platform.tf_logging.: debug error info log warn warning
python.eager.context._context
python.autograph.operators.control_flow.: INEFFICIENT_UNROLL_MIN_ITERATIONS INEFFICIENT_UNROLL_MIN_OPS
python.autograph.operators.control_flow.PYTHON_MAX_ITERATIONS
[api.inner_helpers]
enable_control_flow_v2 as python.ops.control_flow_util.EnableControlFlowV2
body_of as python.ops.while_v2._get_graph
[ops.ragged.functions]
stack as python.ops.ragged.ragged_concat_ops.stack
[ops.strings.splitting]
python.ops.string_ops.string_split_v2
[ops.ragged.value]
python.ops.ragged.ragged_tensor_value.RaggedTensorValue
[ops.arrays.padding]
repeat as python.ops.ragged.ragged_util.repeat
[functions.control_flow.while_loop]
functional_while as python.ops.while_v2.while_loop
[ops.ragged.partition]
FACTORY_KEY as python.ops.ragged.row_partition._row_partition_factory_key
python.ops.ragged.row_partition.RowPartitionSpec
[ops.reduce.reductions]
python.ops.ragged.ragged_math_ops.: reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_std
python.ops.ragged.ragged_math_ops.: reduce_sum reduce_variance
[runtime.fetches]
python.framework.indexed_slices.IndexedSlicesValue python.framework.ops.IndexedSlicesValue
[data.dataset]
DatasetV2 as python.data.ops.dataset_ops.DatasetV2
python.data.ops.dataset_ops.DatasetSpec
are_compatible as python.data.util.structure.are_compatible
[data.feature_files]
make_tf_record_dataset as python.data.experimental.ops.readers.make_tf_record_dataset
[data.dataset_v1]
DatasetV1 as python.data.ops.dataset_ops.DatasetV1
[data.experimental_functions]
python.data.ops.dataset_ops.AUTOTUNE
get_structure as python.data.ops.dataset_ops.get_structure
[data.options]
python.data.ops.dataset_ops.Options python.data.ops.options.Options
python.data.util.options.: OptionsBase merge_options
[data.iterator]
python.data.ops.iterator_ops.: IteratorBase IteratorSpec OwnedIterator
[data.iterator_v1]
python.data.ops.dataset_ops.: get_output_classes get_output_shapes get_output_types
python.data.ops.dataset_ops.: make_initializable_iterator make_one_shot_iterator
python.data.ops.iterator_ops.Iterator
[data.optional]
python.data.ops.optional_ops.: Optional OptionalSpec
Optional as python.data.ops.optional_ops._OptionalImpl
[data.readers]
python.data.ops.readers.: FixedLengthRecordDatasetV2 TFRecordDatasetV2 TextLineDatasetV2
TFRecordDatasetV2 as python.data.ops.readers._TFRecordDataset
matching_files_dataset as python.data.experimental.ops.matching_files.MatchingFilesDataset
[data.compression]
python.data.experimental.ops.compression_ops.: compress uncompress
[data.record_input]
RecordInputV1 as python.ops.data_flow_ops.RecordInput
[data.random_access]
global_shuffle as python.data.experimental.ops.global_shuffle_op._global_shuffle
[data.index_shuffle]
python.data.experimental.ops.shuffle_ops.index_shuffle
[data.multi_device]
python.data.ops.multi_device_iterator_ops.: MultiDeviceIterator MultiDeviceIteratorSpec OwnedMultiDeviceIterator
[data.service.distributing]
distribute_refreshed as python.data.experimental.ops.data_service_ops._distribute
[data.inner_names]
python.data.util.nest.: assert_same_structure assert_shallow_structure flatten_up_to map_structure_up_to
python.data.util.nest.pack_sequence_as
map_structure_checked as python.data.util.nest.map_structure
python.data.util.structure.: from_tensor_list get_flat_tensor_shapes get_flat_tensor_types to_tensor_list
python.data.util.structure.type_spec_from_value
python.data.util.convert.: optional_param_to_tensor partial_shape_to_tensor
get_seed as python.data.util.random_seed.get_seed
python.data.util.sparse.: any_sparse as_dense_shapes as_dense_types deserialize_sparse_tensors get_classes
python.data.util.sparse.: serialize_many_sparse_tensors serialize_sparse_tensors
[data.structure]
python.data.util.nest.flatten
normalised as python.data.util.structure.normalize_element
from_legacy as python.data.util.structure.convert_legacy_structure
rows_to_tensors as python.data.util.structure.to_batched_tensor_list
from_tensors as python.data.util.structure.from_compatible_tensor_list
is_nested as python.data.util.nest.is_nested python.data.util.nest.is_sequence
[functions.dataflow_v1.switch_merge]
python.ops.control_flow_ops.: exit merge next_iteration switch
enter as python.ops.control_flow_ops._Enter
identity_of_any as python.ops.control_flow_ops._Identity
next_iteration as python.ops.control_flow_ops._NextIteration
switch_ref_or_tensor as python.ops.control_flow_ops._SwitchRefOrTensor
in_xla_context as python.ops.control_flow_util.GraphOrParentsInXlaContext
[ops.arrays.older_ops]
python.ops.inplace_ops.: inplace_add inplace_sub inplace_update
inplace_add as python.ops.inplace_ops.alias_inplace_add
inplace_sub as python.ops.inplace_ops.alias_inplace_sub
inplace_update as python.ops.inplace_ops.alias_inplace_update
[functions.vectorize.vectorized_map]
python.ops.parallel_for.: batch_jacobian for_loop jacobian pfor
python.ops.parallel_for.gradients.: batch_jacobian jacobian
python.ops.parallel_for.control_flow_ops.: for_loop pfor
[graph.scopes]
python.ops.control_flow_ops.with_dependencies
[state.dependent_variables]
get_dependent_variables as python.ops.custom_gradient.get_dependent_variables
get_dependent_variables as python.ops.custom_gradient._get_dependent_variables
variable_by_name as python.ops.custom_gradient.get_variable_by_name
[layers.smart_cond]
python.framework.smart_cond.smart_cond
known_flag as python.framework.smart_cond.smart_constant_value
[functions.autograph.public]
python.autograph.impl.api.tf_convert
convert_v1 as python.autograph.impl.api.convert
[functions.autograph.errors]
python.autograph.impl.api.: AutoGraphError ConversionError StagingError
[eager.inner_helpers]
python.framework.ops.get_gradient_function
as_indexed_slices as python.ops.math_ops._as_indexed_slices
aggregate_indexed_slices as python.eager.backprop_util.AggregateIndexedSlicesGradients
tensor_shape_slice as python.pywrap_tfe.TFE_Py_TensorShapeSlice
[eager.tape]
python.eager.record.should_record_backprop
[graph.statistics]
python.framework.ops.: OpStats RegisterStatistics get_stats_for_node_def
[testing.autograph_case]
python.autograph.utils.testing.AutoGraphTestCase
[functions.convert_to_constants]
python.framework.convert_to_constants.: VAR_ASSIGN_COLLECTION convert_var_to_const_function_in_v1
python.framework.convert_to_constants.: convert_variables_to_constants_from_session_graph
python.framework.convert_to_constants.: convert_variables_to_constants_v2 convert_variables_to_constants_v2_as_graph
python.framework.graph_util.convert_variables_to_constants_from_session_graph
[functions.meta_graph_import]
python.framework.meta_graph.: copy_scoped_meta_graph import_scoped_meta_graph
python.framework.meta_graph.import_scoped_meta_graph_with_return_elements
[graph.meta_graph]
python.framework.meta_graph.: add_collection_def create_meta_graph_def export_scoped_meta_graph ops_used_by_graph_def
python.framework.meta_graph.: read_meta_graph_file strip_graph_default_valued_attrs stripped_op_list_for_graph
[graph.creation]
node_def as python.framework.ops._NodeDef
set_shapes_for_outputs as python.framework.ops.set_shapes_for_outputs
[graph.graph_util]
python.framework.graph_util.graph_defs_equal __internal__.graph_util.graph_defs_equal
python.framework.graph_util.set_cpu0 python.framework.graph_util_impl.set_cpu0
[graph.graph]
python.framework.ops.: has_default_graph uid
[graph.proto_functions]
python.framework.ops.: get_collection_proto_type get_from_proto_function get_to_proto_function register_proto_function
[core.device]
python.framework.device.merge_device
[graph.scope_names]
python.framework.ops.: prepend_name_scope strip_name_scope
[functions.concrete]
python.eager.function.ConcreteFunction
python.eager.polymorphic_function.concrete_function.ConcreteFunction
[functions.defun]
python.eager.function.: defun defun_with_attributes
[functions.func_graph]
python.framework.func_graph.FuncGraph
add_exit_callback as python.framework.ops.add_exit_callback_to_default_func_graph
[core.nest_protocol]
python.util.nest_util.CustomNestProtocol
[state.template]
python.ops.template.make_template_internal
[functions.cancellation]
python.eager.cancellation.CancellationManager
[functions.function]
python.eager.def_function.: Function function
python.eager.polymorphic_function.polymorphic_function.: Function function
[functions.typed_function]
python.framework.function.Defun
[functions.wrap_function]
python.eager.wrap_function.: WrappedFunction function_from_graph_def wrap_function
[functions.dataflow_v1.graph_import]
python.framework.importer.: import_graph_def
[state.graph_callable]
python.eager.graph_callable.: ShapeAndDtype graph_callable
[api.before_one]
python.framework.ops.RegisterShape
[core.composite]
python.framework.composite_tensor.CompositeTensor
[core.tensor]
python.framework.ops.EagerTensor
[graph.graph_def]
op_def_named as python.framework.op_def_registry.get
python.framework.op_def_registry.get_registered_ops
[eager.the_context]
the_context as python.eager.context.context
[runtime.session]
python.client.session.BaseSession
DeviceAttributes as python.client.session._DeviceAttributes
[runtime.fetches]
python.client.session.register_session_run_conversion_functions
[state.partitioners]
python.ops.variables.PartitionedVariable
PartitionInfo as python.ops.variable_scope._PartitionInfo
[state.reference]
python.ops.ref_variable.RefVariable python.ops.variables.RefVariable
[state.resource]
python.ops.resource_variable_ops.: ResourceVariable is_resource_variable
UnreadVariable as python.ops.resource_variable_ops._UnreadVariable
[state.uninitialized_variable]
python.ops.resource_variable_ops.UninitializedVariable
[state.shared_resources]
python.ops.resources.: initialize_resources local_resources register_resource report_uninitialized_resources
python.ops.resources.shared_resources
[train.device_setter]
RoundRobinStrategy as python.training.device_setter._RoundRobinStrategy
python.training.device_setter.replica_device_setter
[train.metrics]
python.ops.metrics_impl.metric_variable
[state.variable_spec]
python.ops.resource_variable_ops.VariableSpec
[layers.rnn.cell_base]
KERNEL as python.ops.rnn_cell_impl._WEIGHTS_VARIABLE_NAME
BIAS as python.ops.rnn_cell_impl._BIAS_VARIABLE_NAME
concat_sizes as python.ops.rnn_cell_impl._concat python.ops.rnn._concat
like_rnncell as python.ops.rnn_cell_impl._like_rnncell python.ops.rnn._like_rnncell
zero_state_tensors as python.ops.rnn_cell_impl._zero_state_tensors
LayerRNNCell as python.ops.rnn_cell_impl.LayerRNNCell python.ops.rnn_cell_impl._LayerRNNCell
python.ops.rnn_cell_impl.assert_like_rnncell
[layers.rnn.projections]
Linear as python.ops.rnn_cell_impl._Linear python.ops.rnn_cell._Linear
linear as python.ops.rnn_cell_impl._linear python.ops.rnn_cell._linear
[layers.rnn.steps]
best_effort_input_batch_size as python.ops.rnn._best_effort_input_batch_size
infer_state_dtype as python.ops.rnn._infer_state_dtype
maybe_tensor_shape_from_tensor as python.ops.rnn._maybe_tensor_shape_from_tensor
reverse_steps as python.ops.rnn._reverse_seq
transpose_batch_time as python.ops.rnn._transpose_batch_time
[layers.seq2seq.legacy]
python.ops.seq2seq.: attention_decoder basic_rnn_seq2seq embedding_attention_decoder embedding_attention_seq2seq
python.ops.seq2seq.: embedding_rnn_decoder embedding_rnn_seq2seq embedding_tied_rnn_seq2seq model_with_buckets
python.ops.seq2seq.: one2many_rnn_seq2seq rnn_decoder sequence_loss sequence_loss_by_example tied_rnn_seq2seq
extract_argmax_and_embed as python.ops.seq2seq._extract_argmax_and_embed
[layers.rnn.static]
static_rnn as python.ops.rnn.rnn
static_bidirectional_rnn as python.ops.rnn.bidirectional_rnn
static_state_saving_rnn as python.ops.rnn.state_saving_rnn
[layers.rnn.projections]
python.ops.rnn_cell.: EmbeddingWrapper InputProjectionWrapper OutputProjectionWrapper
[platform.deprecation]
python.util.deprecation.: deprecated deprecated_alias deprecated_arg_values deprecated_args deprecated_argument_lookup
python.util.deprecation.: deprecated_endpoints rewrite_argument_docstring silence deprecate_moved_module
python.util.deprecation.: _PRINT_DEPRECATION_WARNINGS DeprecatedNamesAlreadySetError
experimental.: enable_strict_mode
[platform.decorators]
python.util.tf_decorator.: TFDecorator make_decorator unwrap rewrap
python.util.tf_inspect.: ArgSpec FullArgSpec currentframe getargspec getcallargs getdoc getfile getfullargspec
python.util.tf_inspect.: getmembers getmodule getmro getsource getsourcefile getsourcelines isanytargetmethod isbuiltin
python.util.tf_inspect.: isclass isframe isfunction isgenerator isgeneratorfunction ismethod ismodule isroutine stack
python.util.tf_inspect.: Parameter Signature signature
python.util.tf_export.: api_export estimator_export get_canonical_name keras_export kwarg_only tf_export
python.util.tf_export.: InvalidSymbolNameError SymbolAlreadyExposedError get_v1_constants get_v1_names
python.util.tf_export.: get_v2_constants get_v2_names
python.util.function_utils.: fn_args get_func_code get_func_name has_kwargs
python.util.keyword_args.keyword_args_only
python.util.tf_contextlib.contextmanager
python.util.all_util.: make_all remove_undocumented
python.util.lazy_loader.LazyLoader
[platform.eras]
tf2_enabled as python.tf2.enabled
enable_eager_execution as python.framework.ops.enable_eager_execution_internal
[platform.first_files]
Exists as python.lib.io.file_io.file_exists
Copy as python.lib.io.file_io.copy
Glob as python.lib.io.file_io.get_matching_files
IsDirectory as python.lib.io.file_io.is_directory
ListDirectory as python.lib.io.file_io.list_directory
MakeDirs as python.lib.io.file_io.recursive_create_dir
MkDir as python.lib.io.file_io.create_dir
Remove as python.lib.io.file_io.delete_file
Rename as python.lib.io.file_io.rename
DeleteRecursively as python.lib.io.file_io.delete_recursively
Stat as python.lib.io.file_io.stat
Walk as python.lib.io.file_io.walk
[platform.files]
GFile as python.lib.io.file_io.FileIO
exists as python.lib.io.file_io.file_exists_v2
copy as python.lib.io.file_io.copy_v2
glob as python.lib.io.file_io.get_matching_files_v2
isdir as python.lib.io.file_io.is_directory_v2
listdir as python.lib.io.file_io.list_directory_v2
makedirs as python.lib.io.file_io.recursive_create_dir_v2
mkdir as python.lib.io.file_io.create_dir_v2
remove as python.lib.io.file_io.delete_file_v2
rename as python.lib.io.file_io.rename_v2
rmtree as python.lib.io.file_io.delete_recursively_v2
stat as python.lib.io.file_io.stat_v2
walk as python.lib.io.file_io.walk_v2
python.lib.io.file_io.: atomic_write_string_to_file file_crc32 filecmp read_file_to_string write_string_to_file join
[platform.mnist]
examples.tutorials.mnist.input_data.: DataSet Datasets SOURCE_URL dense_to_one_hot extract_images extract_labels
examples.tutorials.mnist.input_data.: load_mnist read_data_sets
[core.nest]
python.util.nest.: STRUCTURES_HAVE_MISMATCHING_LENGTHS STRUCTURES_HAVE_MISMATCHING_TYPES
python.util.nest.: INPUT_TREE_SMALLER_THAN_SHALLOW_TREE SHALLOW_TREE_HAS_INVALID_KEYS
python.util.nest.: assert_same_structure assert_shallow_structure flatten flatten_dict_items flatten_up_to
python.util.nest.: flatten_with_joined_string_paths flatten_with_tuple_paths flatten_with_tuple_paths_up_to
python.util.nest.: get_traverse_shallow_structure is_nested is_nested_or_composite is_sequence
python.util.nest.: is_sequence_or_composite list_to_tuple map_structure map_structure_up_to
python.util.nest.: map_structure_with_paths map_structure_with_tuple_paths map_structure_with_tuple_paths_up_to
python.util.nest.: pack_sequence_as yield_flat_paths _is_attrs _is_composite_tensor _is_mapping _is_mapping_view
python.util.nest.: _is_namedtuple _is_type_spec _same_namedtuples
_is_attrs as python.util.nest.is_attrs
_is_mapping as python.util.nest.is_mapping
_is_namedtuple as python.util.nest.is_namedtuple
_same_namedtuples as python.util.nest.same_namedtuples
[io.events_writer]
python.pywrap_tensorflow.EventsWriter
[testing.modes]
python.framework.test_util.: IsBuiltWithNvcc IsBuiltWithXLA IsCPUTargetAvailable disable_with_predicate
python.framework.test_util.assert_no_new_pyobjects_executing_eagerly
python.framework.test_util.: IsBuiltWithROCm IsGoogleCudaEnabled IsMklEnabled InstallStackTraceHandler NCHWToNHWC
graph_def_difference as python.pywrap_tensorflow.EqualGraphDefWrapper
python.framework.test_util.: NHWCToNCHW also_run_as_tf_function assert_equal_graph_def assert_equal_graph_def_v1
python.framework.test_util.: assert_equal_graph_def_v2 assert_no_garbage_created assert_no_new_tensors
python.framework.test_util.: assert_ops_in_graph deprecated_graph_mode_only device disable_control_flow_v2 disable_tfrt
python.framework.test_util.: disable_xla enable_control_flow_v2 enable_output_all_intermediates for_all_test_methods
python.framework.test_util.: force_cpu force_gpu is_xla_enabled no_xla_auto_jit run_all_in_graph_and_eager_modes
python.framework.test_util.: run_cuda_only run_deprecated_v1 run_gpu_only run_in_graph_and_eager_modes run_v1_only
python.framework.test_util.: run_v2_only skip_if use_deterministic_cudnn use_gpu with_control_flow_v2
python.framework.test_util.xla_allow_fallback
[summary.contrib]
python.ops.summary_ops_v2.: all_summary_ops always_record_summaries audio create_file_writer flush generic graph
python.ops.summary_ops_v2.: histogram image initialize never_record_summaries record_summaries_every_n_global_steps
python.ops.summary_ops_v2.: scalar should_record_summaries summary_writer_initializer_op
[summary.ops]
python.ops.summary_op_util.: clean_tag summary_scope
[summary.recording]
python.ops.summary_ops_v2.: SummaryWriter has_default_writer record_if run_metadata run_metadata_graphs write
create_file_writer as python.ops.summary_ops_v2.create_file_writer_v2
_state as python.ops.summary_ops_v2._summary_state
flush as python.ops.summary_ops_v2.legacy_raw_flush
[testing.test_case]
TestCase as python.framework.test_util.TensorFlowTestCase
[engines.devices]
python.framework.test_util.: gpu_device_name is_gpu_available
[core.shape]
python.framework.tensor_shape.: as_shape unknown_shape scalar vector matrix as_dimension
[core.dtypes]
float4_e2m1fn as python.framework.dtypes.float4_e2m1fn
python.framework.dtypes.: float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz int2 int4 uint2
python.framework.dtypes.uint4
[engines.devices]
python.eager.context.num_gpus
[platform.early_eager]
python.eager.context.: eager_mode graph_mode
[train.moving_averages]
python.training.moving_averages.: assign_moving_average weighted_moving_average
[train.slots]
python.training.slot_creator.: create_slot create_slot_with_initializer create_zeros_slot
[layers.input_spec]
python.layers.base.InputSpec
[layers.smart_cond]
python.layers.utils.smart_cond
known_flag as python.layers.utils.constant_value
[layers.arguments]
sizes_of as python.layers.utils.normalize_tuple
padding_named as python.layers.utils.normalize_padding
data_format_named as python.layers.utils.normalize_data_format
window_length as python.layers.utils.conv_output_length
spread_length as python.layers.utils.deconv_output_length
[train.losses]
python.ops.losses.losses_impl.: Reduction absolute_difference compute_weighted_loss cosine_distance hinge_loss
python.ops.losses.losses_impl.: huber_loss log_loss mean_pairwise_squared_error mean_squared_error
python.ops.losses.losses_impl.: sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy
python.ops.losses.util.: add_loss get_losses get_total_loss
[api.device_lib]
python.client.device_lib.list_local_devices
[runtime.timeline]
python.client.timeline.Timeline
[runtime.handles]
python.ops.session_ops.TensorHandle
[state.orthogonal]
python.ops.init_ops.: ConvolutionDeltaOrthogonal ConvolutionOrthogonal ConvolutionOrthogonal1D ConvolutionOrthogonal2D
python.ops.init_ops.ConvolutionOrthogonal3D
[ops.numpy.behaviour]
python.ops.numpy_ops.np_math_ops.enable_numpy_methods_on_tensor
python.framework.ops.: enable_numpy_style_slicing set_dtype_conversion_mode
[api.gen_ops]
gen_ops as python.framework.test_ops
gen_ops as python.ops.gen_array_ops python.ops.gen_bitwise_ops python.ops.gen_control_flow_ops
gen_ops as python.ops.gen_data_flow_ops python.ops.gen_functional_ops python.ops.gen_io_ops python.ops.gen_linalg_ops
gen_ops as python.ops.gen_list_ops python.ops.gen_logging_ops python.ops.gen_math_ops python.ops.gen_nn_ops
gen_ops as python.ops.gen_checkpoint_ops python.ops.gen_lookup_ops
gen_ops as python.ops.gen_random_ops python.ops.gen_resource_variable_ops python.ops.gen_script_ops
gen_ops as python.ops.gen_set_ops python.ops.gen_sparse_ops python.ops.gen_state_ops
gen_ops as python.ops.gen_spectral_ops python.ops.gen_stateless_random_ops python.ops.gen_string_ops
gen_ops as python.ops.gen_audio_ops python.ops.gen_image_ops python.ops.gen_parsing_ops python.ops.gen_summary_ops
gen_ops as python.training.gen_training_ops python.training.training_ops python.ops.gen_training_ops
python.ops.resource_variable_ops.: assign_add_variable_op assign_sub_variable_op assign_variable_op
python.ops.resource_variable_ops.: destroy_resource_op read_variable_op resource_gather resource_gather_nd
python.ops.resource_variable_ops.: resource_scatter_add resource_scatter_div resource_scatter_max resource_scatter_min
python.ops.resource_variable_ops.: resource_scatter_mul resource_scatter_sub resource_scatter_update var_handle_op
python.ops.resource_variable_ops.: var_is_initialized_op variable_shape
[train.optimizer]
deduplicate as python.training.optimizer._deduplicate_indexed_slices
variable_key as python.training.optimizer._var_key
[api.libraries]
python.framework.load_library.load_op_library
[api.adapters]
get_static_value as python.framework.tensor_util.constant_value
is_tensor as python.framework.tensor_util.is_tensor
[linear.composite]
python.ops.linalg.linear_operator.make_composite_tensor
[core.spec]
BoundedTensorSpec as python.framework.tensor.BoundedTensorSpec python.framework.tensor_spec.BoundedTensorSpec
DenseSpec as python.framework.tensor.DenseSpec python.framework.tensor_spec.DenseSpec
[api.adapters]
python.framework.tensor_util.: constant_value_as_shape try_evaluate_constant
shape_equals as python.framework.tensor_util.ShapeEquals
[api.inner_shapes]
bfloat16_numpy_type as python.pywrap_tensorflow.TF_bfloat16_type
python.framework.common_shapes.: broadcast_shape is_broadcast_compatible scalar_shape unknown_shape
python.framework.device.: canonical_name check_valid
python.framework.tensor_util.shape_tensor
python.ops.math_ops.reduced_shape
python.ops.random_grad.add_leading_unit_dimensions
python.ops.array_ops.: rank_internal size_internal
python.ops.state_ops.variable_op
python.ops.inplace_ops.empty_like
to_complex as python.ops.linalg.linear_operator_circulant._to_complex
to_complex as python.ops.linalg.linear_operator_toeplitz._to_complex
[ops.sparse.cross]
DEFAULT_KEY as python.ops.sparse_ops._DEFAULT_HASH_KEY
[linear.addition]
python.ops.linalg.linear_operator_addition.add_operators
Hints as python.ops.linalg.linear_operator_addition._Hints
Adder as python.ops.linalg.linear_operator_addition._Adder
AddAndReturnScaledIdentity as python.ops.linalg.linear_operator_addition._AddAndReturnScaledIdentity
AddAndReturnDiag as python.ops.linalg.linear_operator_addition._AddAndReturnDiag
AddAndReturnTriL as python.ops.linalg.linear_operator_addition._AddAndReturnTriL
AddAndReturnMatrix as python.ops.linalg.linear_operator_addition._AddAndReturnMatrix
[linear.batches]
python.ops.linalg.linear_operator_util.: assert_compatible_matrix_dimensions assert_no_entries_with_modulus_zero
python.ops.linalg.linear_operator_util.: assert_zero_imag_part cholesky_solve_with_broadcast
python.ops.linalg.linear_operator_util.: matrix_triangular_solve_with_broadcast
python.ops.linalg.linear_operator_util.use_operator_or_provided_hint_unless_contradicting
[platform.decorator_notes]
python.util.decorator_utils.: add_notice_to_docstring get_qualified_name validate_callable
normalize_docstring as python.util.decorator_utils._normalize_docstring
[platform.group_lock]
python.util.lock_util.GroupLock
[summary.plugin_assets]
python.summary.plugin_asset.: PluginAsset get_all_plugin_assets get_plugin_asset
[summary.log_events]
python.training.tensorboard_logging.: DEBUG ERROR FATAL INFO WARN debug error fatal get_verbosity info log set_verbosity
python.training.tensorboard_logging.: set_summary_writer warn
clear_summary_writer as python.training.tensorboard_logging._clear_summary_writer
[ops.nn.sampled_losses]
sampled_logits as python.ops.nn_impl._compute_sampled_logits
[state.initializers]
fans as python.ops.init_ops._compute_fans python.ops.init_ops_v2._compute_fans
[tf1.graph_views]
python.ops.op_selector.: get_backward_walk_ops get_consuming_ops get_generating_ops make_list_of_op make_list_of_t
[tf1.graph_edits]
python.ops.op_selector.: check_graphs get_unique_graph is_iterable
[core.dtypes]
python.framework.dtypes.: qint32_ref qint8_ref quint8_ref
[eager.inner_helpers]
tensor_shape_slice as python.pywrap_tensorflow.TFE_Py_TensorShapeSlice
aggregate_indexed_slices as python.eager.backprop.aggregate_indexed_slices_gradients
[distributions.functions]
python.ops.distributions.special_math.: log_cdf_laplace log_ndtr ndtr ndtri
python.ops.distributions.util.gen_new_seed
[distributions.argument_checks]
python.ops.distributions.util.: assert_integer_form embed_check_categorical_event_shape get_logits_and_probs
python.ops.distributions.util.: embed_check_integer_casting_closed log_combinations maybe_get_static_value pick_vector
python.ops.distributions.util.: prefer_static_rank prefer_static_shape prefer_static_value rotate_transpose
python.ops.distributions.util.same_dynamic_shape
[core.nest]
STRUCTURES_HAVE_MISMATCHING_LENGTHS as python.util.nest._STRUCTURES_HAVE_MISMATCHING_LENGTHS
STRUCTURES_HAVE_MISMATCHING_TYPES as python.util.nest._STRUCTURES_HAVE_MISMATCHING_TYPES
SHALLOW_TREE_HAS_INVALID_KEYS as python.util.nest._SHALLOW_TREE_HAS_INVALID_KEYS
IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ as python.util.nest._IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ
[api.inner_helpers]
to_dense as python.ops.ragged.ragged_conversion_ops.ragged_to_dense
execute as python.eager.execute.execute
[functions.control_flow.functional_calls]
call_for as python.ops.functional_ops.For
call_if as python.ops.functional_ops.If
call_while as python.ops.functional_ops.While
[ops.ragged.pylists]
depths as python.ops.ragged.ragged_factory_ops._find_scalar_and_max_depth
default_inner_shape as python.ops.ragged.ragged_factory_ops._default_inner_shape_for_pylist
[ops.ragged.spec]
python.ops.ragged.ragged_tensor.RaggedTensorType
"""
