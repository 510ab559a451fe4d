"""`tf.contrib`, at the TF 1 door only. The forms are those of `paths`."""

MIRRORS = {
    "contrib.eager.python.tfe": "contrib.eager",
    "contrib.framework.nest": "python.util.nest",
    "contrib.graph_editor.edit": "contrib.graph_editor",
    "contrib.graph_editor.reroute": "contrib.graph_editor",
    "contrib.graph_editor.select": "contrib.graph_editor",
    "contrib.graph_editor.subgraph": "contrib.graph_editor",
    "contrib.graph_editor.transform": "contrib.graph_editor",
    "contrib.graph_editor.util": "contrib.graph_editor",
    "contrib.cluster_resolver": "distribute.cluster_resolver",
    "contrib.rnn": "nn.rnn_cell",
    "contrib.rnn.python.ops.core_rnn_cell": "nn.rnn_cell",
    "contrib.lookup.lookup_ops": "contrib.lookup",
    "contrib.slim": "contrib.layers",
    "contrib.summary.summary": "contrib.summary",
}

PATHS = {
    "contrib.compiler.jit": "experimental_jit_scope=xla.experimental.jit_scope",
    "contrib.compiler.xla": "compile=xla.experimental.compile",
    "contrib.distribute": """
        CrossDeviceOps=distribute.CrossDeviceOps OneDeviceStrategy=distribute.OneDeviceStrategy
        ReplicaContext=distribute.ReplicaContext TPUStrategy=distribute.experimental.TPUStrategy
        get_distribution_strategy=distribute.get_strategy get_loss_reduction=distribute.get_loss_reduction
        get_replica_context=distribute.get_replica_context get_strategy=distribute.get_strategy
        has_distribution_strategy=distribute.has_strategy has_strategy=distribute.has_strategy
        in_cross_replica_context=distribute.in_cross_replica_context
        initialize_tpu_system=tpu.experimental.initialize_tpu_system
    """,
    "contrib.optimizer_v2": """
        AdadeltaOptimizer=train.AdadeltaOptimizer AdagradOptimizer=train.AdagradOptimizer
        AdamOptimizer=train.AdamOptimizer GradientDescentOptimizer=train.GradientDescentOptimizer
        MomentumOptimizer=train.MomentumOptimizer OptimizerV2=train.Optimizer
    """,
    "contrib.optimizer_v2.adadelta": "AdadeltaOptimizer=train.AdadeltaOptimizer",
    "contrib.optimizer_v2.adagrad": "AdagradOptimizer=train.AdagradOptimizer",
    "contrib.optimizer_v2.adam": "AdamOptimizer=train.AdamOptimizer",
    "contrib.optimizer_v2.gradient_descent": "GradientDescentOptimizer=train.GradientDescentOptimizer",
    "contrib.optimizer_v2.momentum": "MomentumOptimizer=train.MomentumOptimizer",
    "contrib.optimizer_v2.optimizer_v2": "OptimizerV2=train.Optimizer",
    "contrib.proto": "decode_proto=io.decode_proto encode_proto=io.encode_proto",
    "contrib.autograph": """
        do_not_convert=autograph.experimental.do_not_convert set_loop_options=autograph.experimental.set_loop_options
        set_verbosity=autograph.set_verbosity to_code=autograph.to_code to_graph=autograph.to_graph
        trace=autograph.trace
    """,
    "contrib.data": """
        AUTOTUNE=data.AUTOTUNE Counter=data.experimental.Counter CsvDataset=data.experimental.CsvDataset
        Dataset=data.Dataset make_csv_dataset=data.experimental.make_csv_dataset SqlDataset=data.experimental.SqlDataset
        make_batched_features_dataset=data.experimental.make_batched_features_dataset
        parse_example_dataset=data.experimental.parse_example_dataset
        FixedLengthRecordDataset=data.FixedLengthRecordDataset Iterator=data.Iterator
        Optional=data.experimental.Optional RandomDataset=data.experimental.RandomDataset
        Reducer=data.experimental.Reducer TFRecordDataset=data.TFRecordDataset
        TFRecordWriter=data.experimental.TFRecordWriter TextLineDataset=data.TextLineDataset
        bucket_by_sequence_length=data.experimental.bucket_by_sequence_length
        choose_from_datasets=data.experimental.choose_from_datasets copy_to_device=data.experimental.copy_to_device
        dense_to_sparse_batch=data.experimental.dense_to_sparse_batch
        enumerate_dataset=data.experimental.enumerate_dataset
        get_next_as_optional=data.experimental.get_next_as_optional
        get_single_element=data.experimental.get_single_element group_by_reducer=data.experimental.group_by_reducer
        group_by_window=data.experimental.group_by_window ignore_errors=data.experimental.ignore_errors
        make_saveable_from_iterator=data.experimental.make_saveable_from_iterator
        map_and_batch=data.experimental.map_and_batch parallel_interleave=data.experimental.parallel_interleave
        prefetch_to_device=data.experimental.prefetch_to_device rejection_resample=data.experimental.rejection_resample
        sample_from_datasets=data.experimental.sample_from_datasets scan=data.experimental.scan
        shuffle_and_repeat=data.experimental.shuffle_and_repeat unbatch=data.experimental.unbatch
        unique=data.experimental.unique
    """,
    "contrib.metrics": """
        set_difference=sets.set_difference set_intersection=sets.set_intersection set_size=sets.set_size
        set_union=sets.set_union
    """,
    "contrib.nn": "conv1d_transpose=nn.conv1d_transpose",
    "contrib.eager": """
        GradientTape TensorSpec custom_gradient enable=enable_eager_execution enable_eager_execution executing_eagerly
        make_template py_func
    """,
    "contrib.framework": """
        argsort assert_global_step=train.assert_global_step assert_same_float_dtype assert_scalar
        create_global_step=train.create_global_step get_global_step=train.get_global_step
        get_local_variables=local_variables get_model_variables=model_variables
        get_or_create_global_step=train.get_or_create_global_step get_trainable_variables=trainable_variables
        TensorSpec is_tensor py_func sort
    """,
    "contrib.framework.python.ops.variables": """
        create_global_step=train.create_global_step get_global_step=train.get_global_step
        get_or_create_global_step=train.get_or_create_global_step get_model_variables=model_variables
        get_trainable_variables=trainable_variables
    """,
    "contrib.stateless": """
        stateless_multinomial=random.stateless_multinomial stateless_random_normal=random.stateless_normal
        stateless_random_uniform=random.stateless_uniform stateless_truncated_normal=random.stateless_truncated_normal
    """,
    "contrib.util": "constant_value=get_static_value make_ndarray make_tensor_proto",
    "contrib.layers": """
        recompute_grad
        safe_embedding_lookup_sparse=nn.safe_embedding_lookup_sparse
    """,
    "contrib.rnn": """
        static_bidirectional_rnn=nn.static_bidirectional_rnn static_rnn=nn.static_rnn
        static_state_saving_rnn=nn.static_state_saving_rnn
    """,
}

ROWS = """
[data.experimental_functions]
contrib.data.: assert_element_shape batch_and_drop_remainder padded_batch_and_drop_remainder reduce_dataset
contrib.data.: sloppy_interleave
[data.eager_iterator]
contrib.eager.Iterator
[api.before_one]
flipped_sigmoid_cross_entropy as contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits
flipped_softmax_cross_entropy as contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits
flipped_sparse_softmax_cross_entropy as contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits
[api.early_summaries]
contrib.deprecated.: audio_summary histogram_summary image_summary scalar_summary
[summary.ops]
merge as contrib.deprecated.merge_summary
merge_all as contrib.deprecated.merge_all_summaries
[graph.scopes]
contrib.framework.get_name_scope
[layers.seq2seq.legacy]
contrib.legacy_seq2seq.: attention_decoder basic_rnn_seq2seq embedding_attention_decoder embedding_attention_seq2seq
contrib.legacy_seq2seq.: embedding_rnn_decoder embedding_rnn_seq2seq embedding_tied_rnn_seq2seq model_with_buckets
contrib.legacy_seq2seq.: one2many_rnn_seq2seq rnn_decoder sequence_loss sequence_loss_by_example tied_rnn_seq2seq
contrib.legacy_seq2seq.python.ops.seq2seq.: attention_decoder basic_rnn_seq2seq embedding_attention_decoder
contrib.legacy_seq2seq.python.ops.seq2seq.: embedding_attention_seq2seq embedding_rnn_decoder embedding_rnn_seq2seq
contrib.legacy_seq2seq.python.ops.seq2seq.: embedding_tied_rnn_seq2seq model_with_buckets one2many_rnn_seq2seq
contrib.legacy_seq2seq.python.ops.seq2seq.: rnn_decoder sequence_loss sequence_loss_by_example tied_rnn_seq2seq
extract_argmax_and_embed as contrib.legacy_seq2seq.python.ops.seq2seq._extract_argmax_and_embed
[layers.seq2seq.helpers]
contrib.seq2seq.: CustomHelper GreedyEmbeddingHelper Helper InferenceHelper SampleEmbeddingHelper
contrib.seq2seq.: ScheduledEmbeddingTrainingHelper ScheduledOutputTrainingHelper TrainingHelper
contrib.seq2seq.python.ops.helper.: CustomHelper GreedyEmbeddingHelper Helper InferenceHelper SampleEmbeddingHelper
contrib.seq2seq.python.ops.helper.: ScheduledEmbeddingTrainingHelper ScheduledOutputTrainingHelper TrainingHelper
contrib.seq2seq.python.ops.helper.: categorical_sample
[layers.seq2seq.decoder]
contrib.seq2seq.: BasicDecoder BasicDecoderOutput Decoder dynamic_decode
contrib.seq2seq.python.ops.basic_decoder.: BasicDecoder BasicDecoderOutput
contrib.seq2seq.python.ops.decoder.: Decoder dynamic_decode
[layers.seq2seq.attention]
contrib.seq2seq.: AttentionMechanism BahdanauAttention BahdanauMonotonicAttention LuongAttention
contrib.seq2seq.: LuongMonotonicAttention hardmax monotonic_attention safe_cumprod
monotonic_probability_fn as contrib.seq2seq.monotonic_probability_fn
contrib.seq2seq.python.ops.attention_wrapper.: AttentionMechanism BahdanauAttention BahdanauMonotonicAttention
contrib.seq2seq.python.ops.attention_wrapper.: LuongAttention LuongMonotonicAttention hardmax monotonic_attention
contrib.seq2seq.python.ops.attention_wrapper.: safe_cumprod
_Mechanism as contrib.seq2seq.python.ops.attention_wrapper._BaseAttentionMechanism
bahdanau_score as contrib.seq2seq.python.ops.attention_wrapper._bahdanau_score
luong_score as contrib.seq2seq.python.ops.attention_wrapper._luong_score
[layers.seq2seq.attention_wrapper]
contrib.seq2seq.: AttentionWrapper AttentionWrapperState
contrib.seq2seq.python.ops.attention_wrapper.: AttentionWrapper AttentionWrapperState
compute_attention as contrib.seq2seq.python.ops.attention_wrapper._compute_attention
[layers.seq2seq.beam_search]
contrib.seq2seq.: BeamSearchDecoder BeamSearchDecoderOutput BeamSearchDecoderState FinalBeamSearchDecoderOutput
contrib.seq2seq.: gather_tree tile_batch
contrib.seq2seq.python.ops.beam_search_decoder.: BeamSearchDecoder BeamSearchDecoderOutput BeamSearchDecoderState
contrib.seq2seq.python.ops.beam_search_decoder.: FinalBeamSearchDecoderOutput gather_tree tile_batch
contrib.seq2seq.python.ops.beam_search_ops.gather_tree
contrib.seq2seq.python.ops.beam_search_decoder.gather_tree_from_array
beam_search_step as contrib.seq2seq.python.ops.beam_search_decoder._beam_search_step
check_batch_beam as contrib.seq2seq.python.ops.beam_search_decoder._check_batch_beam
mask_probs as contrib.seq2seq.python.ops.beam_search_decoder._mask_probs
[layers.seq2seq.loss]
contrib.seq2seq.sequence_loss contrib.seq2seq.python.ops.loss.sequence_loss
contrib.seq2seq.python.ops.loss.SequenceLoss
[layers.rnn.steps]
transpose_batch_time as contrib.seq2seq.python.ops.decoder._transpose_batch_time
transpose_batch_time as contrib.seq2seq.python.ops.helper._transpose_batch_time
[layers.rnn.projections]
contrib.rnn.python.ops.core_rnn_cell.: EmbeddingWrapper InputProjectionWrapper OutputProjectionWrapper
Linear as contrib.rnn.python.ops.core_rnn_cell._Linear
linear as contrib.rnn.python.ops.core_rnn_cell._linear
Linear as contrib.rnn.python.ops.core_rnn_cell_impl._Linear
linear as contrib.rnn.python.ops.core_rnn_cell_impl._linear
Linear as contrib.rnn.python.ops.rnn_cell._Linear
linear as contrib.rnn.python.ops.rnn_cell._linear
[layers.rnn.projections]
contrib.rnn.python.ops.core_rnn_cell_impl.: EmbeddingWrapper InputProjectionWrapper OutputProjectionWrapper
[layers.rnn.blocks]
contrib.rnn.python.ops.lstm_ops.: LSTMBlockCell LSTMBlockFusedCell LSTMBlockWrapper
contrib.rnn.python.ops.gru_ops.: GRUBlockCell GRUBlockCellV2
contrib.rnn.python.ops.fused_rnn_cell.: FusedRNNCell FusedRNNCellAdaptor TimeReversedFusedRNN
[layers.rnn.dynamic]
contrib.rnn.python.ops.rnn.stack_bidirectional_dynamic_rnn
[layers.rnn.static]
contrib.rnn.python.ops.rnn.stack_bidirectional_rnn
[layers.rnn.contrib]
contrib.rnn.python.ops.rnn_cell.: CoupledInputForgetGateLSTMCell GLSTMCell LayerNormBasicLSTMCell NASCell
contrib.rnn.python.ops.rnn_cell.: PhasedLSTMCell
[layers.rnn.contrib_simple]
contrib.rnn.python.ops.rnn_cell.: IndRNNCell IndyGRUCell IndyLSTMCell IntersectionRNNCell SRUCell UGRNNCell
[layers.rnn.conv]
contrib.rnn.python.ops.rnn_cell.: Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell
[layers.rnn.grid]
contrib.rnn.python.ops.rnn_cell.: BidirectionalGridLSTMCell GridLSTMCell TimeFreqLSTMCell
[layers.rnn.grid_cells]
contrib.grid_rnn.: Grid1BasicLSTMCell Grid1BasicRNNCell Grid1LSTMCell Grid2BasicLSTMCell Grid2BasicRNNCell Grid2GRUCell
contrib.grid_rnn.: Grid2LSTMCell Grid3LSTMCell GridRNNCell
[layers.rnn.attention]
contrib.rnn.python.ops.rnn_cell.AttentionCellWrapper
[layers.rnn.wrappers]
contrib.rnn.python.ops.rnn_cell.: CompiledWrapper HighwayWrapper
[layers.smart_cond]
contrib.framework.smart_cond
[tf1.shape_checks]
contrib.framework.: assert_scalar_int get_graph_from_inputs get_placeholders reduce_sum_n remove_squeezable_dimensions
contrib.framework.: smart_case smart_constant_value with_same_shape with_shape zero_initializer
[graph.scope_names]
contrib.framework.: prepend_name_scope strip_name_scope
[ops.sparse.functions]
contrib.framework.convert_to_tensor_or_sparse_tensor
[testing.summaries]
contrib.testing.: FakeSummaryWriter assert_summary latest_event_file latest_events latest_summaries
[functions.autograph.public]
convert_v1 as contrib.autograph.convert
[layers.rnn.blocks]
contrib.rnn.: FusedRNNCell FusedRNNCellAdaptor GRUBlockCell GRUBlockCellV2 LSTMBlockCell LSTMBlockFusedCell
contrib.rnn.: LSTMBlockWrapper TimeReversedFusedRNN
[layers.rnn.dynamic]
contrib.rnn.stack_bidirectional_dynamic_rnn
[layers.rnn.attention]
contrib.rnn.AttentionCellWrapper
[layers.rnn.cell_base]
contrib.rnn.LayerRNNCell
[layers.rnn.contrib]
contrib.rnn.: CoupledInputForgetGateLSTMCell GLSTMCell LayerNormBasicLSTMCell NASCell PhasedLSTMCell
contrib.rnn.python.ops.rnn_cell.: LayerNormLSTMCell WeightNormLSTMCell
[layers.rnn.contrib_simple]
contrib.rnn.: IndRNNCell IndyGRUCell IndyLSTMCell IntersectionRNNCell SRUCell UGRNNCell
contrib.rnn.python.ops.rnn_cell.: CFNCell MinimalRNNCell
[layers.rnn.conv]
contrib.rnn.: Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell
[layers.rnn.grid]
contrib.rnn.: BidirectionalGridLSTMCell GridLSTMCell TimeFreqLSTMCell
[layers.rnn.projections]
contrib.rnn.: EmbeddingWrapper InputProjectionWrapper OutputProjectionWrapper
[layers.rnn.steps]
contrib.rnn.: best_effort_input_batch_size transpose_batch_time
[layers.rnn.static]
contrib.rnn.stack_bidirectional_rnn
[layers.rnn.wrappers]
contrib.rnn.: CompiledWrapper HighwayWrapper
[functions.defun]
defun as contrib.eager.defun
[state.graph_callable]
graph_callable as contrib.eager.graph_callable
[platform.deprecation]
contrib.framework.: deprecated deprecated_args deprecated_arg_values
[engines.devices]
contrib.eager.: list_devices num_gpus
[platform.early_eager]
contrib.eager.: async_clear_error async_wait execution_mode in_eager_mode in_graph_mode run set_execution_mode
[platform.eras]
contrib.eager.: ASYNC SYNC DEVICE_PLACEMENT_EXPLICIT DEVICE_PLACEMENT_SILENT DEVICE_PLACEMENT_SILENT_FOR_INT32
contrib.eager.DEVICE_PLACEMENT_WARN
[platform.mnist]
contrib.learn.python.learn.datasets.mnist.: DataSet Datasets dense_to_one_hot extract_images extract_labels load_mnist
contrib.learn.python.learn.datasets.mnist.read_data_sets
[eager.functions]
contrib.eager.: gradients_function implicit_gradients implicit_value_and_gradients make_vjp value_and_gradients_function
[testing.modes]
run_in_graph_and_eager_modes as contrib.eager.run_test_in_graph_and_eager_modes
run_all_in_graph_and_eager_modes as contrib.eager.run_all_tests_in_graph_and_eager_modes
[state.resource]
ResourceVariable as contrib.eager.Variable
[state.orthogonal]
ConvolutionDeltaOrthogonal as contrib.framework.convolutional_delta_orthogonal
ConvolutionOrthogonal1D as contrib.framework.convolutional_orthogonal_1d
ConvolutionOrthogonal2D as contrib.framework.convolutional_orthogonal_2d
ConvolutionOrthogonal3D as contrib.framework.convolutional_orthogonal_3d
[state.variable_scope]
contrib.eager.EagerVariableStore
[train.contrib_metrics]
contrib.metrics.: accuracy aggregate_metric_map aggregate_metrics streaming_accuracy streaming_auc
contrib.metrics.: streaming_false_negatives streaming_false_positives streaming_mean streaming_mean_absolute_error
contrib.metrics.: streaming_mean_cosine_distance streaming_mean_iou streaming_mean_relative_error
contrib.metrics.: streaming_mean_squared_error streaming_mean_tensor streaming_percentage_less streaming_precision
contrib.metrics.: streaming_precision_at_thresholds streaming_recall streaming_recall_at_thresholds
contrib.metrics.: streaming_root_mean_squared_error streaming_sensitivity_at_specificity
contrib.metrics.: streaming_sparse_precision_at_k streaming_sparse_recall_at_k streaming_specificity_at_sensitivity
contrib.metrics.: streaming_true_negatives streaming_true_positives sparse_recall_at_top_k streaming_recall_at_k
contrib.metrics.: streaming_false_negatives_at_thresholds streaming_false_positives_at_thresholds
contrib.metrics.: streaming_sparse_average_precision_at_k streaming_sparse_average_precision_at_top_k
contrib.metrics.: streaming_sparse_precision_at_top_k streaming_true_negatives_at_thresholds
contrib.metrics.: streaming_true_positives_at_thresholds
[train.metrics_curves]
contrib.metrics.: f1_score precision_at_recall precision_recall_at_equal_thresholds recall_at_precision
contrib.metrics.: streaming_curve_points streaming_false_negative_rate streaming_false_negative_rate_at_thresholds
contrib.metrics.: streaming_false_positive_rate streaming_false_positive_rate_at_thresholds
[train.metrics_kept]
contrib.metrics.: auc_using_histogram auc_with_confidence_intervals cohen_kappa count streaming_concat
contrib.metrics.: streaming_covariance streaming_dynamic_auc streaming_pearson_correlation
[train.confusion]
confusion_matrix_v1 as contrib.metrics.confusion_matrix
[train.device_setter]
contrib.training.: GreedyLoadBalancingStrategy RandomStrategy byte_size_load_fn
[summary.contrib]
contrib.summary.: all_summary_ops always_record_summaries audio create_db_writer create_file_writer eval_dir flush
contrib.summary.: generic graph histogram image import_event initialize never_record_summaries
contrib.summary.: record_summaries_every_n_global_steps scalar should_record_summaries summary_writer_initializer_op
create_file_writer as contrib.summary.create_summary_file_writer
[summary.recording]
contrib.summary.SummaryWriter
[state.regularizers]
contrib.layers.l1_regularizer
contrib.layers.l2_regularizer
contrib.layers.l1_l2_regularizer
contrib.layers.sum_regularizer
contrib.layers.apply_regularization
[state.contrib_initializers]
contrib.layers.xavier_initializer
contrib.layers.xavier_initializer_conv2d
contrib.layers.variance_scaling_initializer
[tf1.hparams]
contrib.training.: HParams parse_values
contrib.training.python.training.hparam.: HParams parse_values
[tf1.optimizers_v2]
contrib.optimizer_v2.RMSPropOptimizer contrib.optimizer_v2.rmsprop.RMSPropOptimizer
[tf1.wrapping_optimizers]
contrib.opt.: MultitaskOptimizerWrapper VariableClippingOptimizer clip_gradients_by_global_norm
[tf1.optimizers]
contrib.opt.: AdaMaxOptimizer AdamWOptimizer AddSignOptimizer DecoupledWeightDecayExtension LARSOptimizer
contrib.opt.: LazyAdamOptimizer MomentumWOptimizer MovingAverageOptimizer NadamOptimizer
contrib.opt.: PowerSignOptimizer RegAdagradOptimizer
contrib.opt.extend_with_decoupled_weight_decay
contrib.opt.python.training.lazy_adam_optimizer.LazyAdamOptimizer
contrib.opt.python.training.weight_decay_optimizers.: AdamWOptimizer DecoupledWeightDecayExtension MomentumWOptimizer
contrib.opt.python.training.weight_decay_optimizers.extend_with_decoupled_weight_decay
[tf1.averaging_optimizers]
contrib.opt.: AGNCustomGetter AGNOptimizer ElasticAverageCustomGetter ElasticAverageOptimizer ModelAverageCustomGetter
contrib.opt.ModelAverageOptimizer
contrib.opt.python.training.agn_optimizer.: AGNCustomGetter AGNOptimizer GLOBAL_VARIABLE_NAME GRAD_VARIABLE_NAME
contrib.opt.python.training.elastic_average_optimizer.: ElasticAverageCustomGetter ElasticAverageOptimizer
contrib.opt.python.training.elastic_average_optimizer.: GLOBAL_VARIABLE_NAME LOCAL_VARIABLE_NAME
contrib.opt.python.training.model_average_optimizer.: GLOBAL_VARIABLE_NAME ModelAverageCustomGetter
contrib.opt.python.training.model_average_optimizer.ModelAverageOptimizer
[tf1.preconditioned_optimizers]
contrib.opt.: GGTOptimizer ShampooOptimizer
contrib.opt.python.training.ggt.GGTOptimizer
contrib.opt.python.training.shampoo.ShampooOptimizer
contrib.opt.python.training.matrix_functions.: matrix_inverse_pth_root matrix_square_root
[tf1.external_optimizer]
contrib.opt.: ExternalOptimizerInterface ScipyOptimizerInterface
[tf1.sequences]
contrib.layers.: bow_encoder embed_sequence embedding_lookup_unique
contrib.training.: bucket bucket_by_sequence_length
[tf1.state_saver]
contrib.training.: NextQueuedSequenceBatch SequenceQueueingStateSaver
contrib.training.python.training.sequence_queueing_state_saver.: NextQueuedSequenceBatch SequenceQueueingStateSaver
SequenceInput as contrib.training.python.training.sequence_queueing_state_saver._SequenceInputWrapper
[tf1.sequence_segments]
contrib.training.batch_sequences_with_states
contrib.training.python.training.sequence_queueing_state_saver.batch_sequences_with_states
padded as contrib.training.python.training.sequence_queueing_state_saver._padding
as_handles as contrib.training.python.training.sequence_queueing_state_saver._deconstruct_sparse_tensor_seq
from_handles as contrib.training.python.training.sequence_queueing_state_saver._reconstruct_sparse_tensor_seq
[tf1.sampling]
contrib.training.: rejection_sample resample_at_rate stratified_sample weighted_resample
[tf1.loss_scaling]
contrib.mixed_precision.: ExponentialUpdateLossScaleManager FixedLossScaleManager LossScaleManager LossScaleOptimizer
contrib.mixed_precision.python.loss_scale_manager.: ExponentialUpdateLossScaleManager FixedLossScaleManager
contrib.mixed_precision.python.loss_scale_manager.LossScaleManager
contrib.mixed_precision.python.loss_scale_optimizer.LossScaleOptimizer
[tf1.sparsemax]
contrib.sparsemax.: sparsemax sparsemax_loss
[tf1.self_normalizing]
contrib.nn.: alpha_dropout nth_element scaled_softplus
[tf1.model_profile]
contrib.tfprof.model_analyzer.: FLOAT_OPS_OPTIONS TRAINABLE_VARS_PARAMS_STAT_OPTIONS print_model_analysis
[tf1.projector]
contrib.tensorboard.plugins.projector.visualize_embeddings
[messages]
contrib.tensorboard.plugins.projector.: EmbeddingInfo ProjectorConfig SpriteMetadata
[tf1.graph_views]
contrib.graph_editor.: SubGraphView can_be_regex compute_boundary_ts filter_ops filter_ops_from_regex filter_ts
contrib.graph_editor.: filter_ts_from_regex get_backward_walk_ops get_consuming_ops get_forward_walk_ops
contrib.graph_editor.: get_generating_ops get_name_scope_ops get_tensors get_walks_intersection_ops
contrib.graph_editor.: get_walks_union_ops make_list_of_op make_list_of_t make_regex make_view make_view_from_scope
contrib.graph_editor.: select_ops select_ts
make_view as contrib.graph_editor.sgv
make_view_from_scope as contrib.graph_editor.sgv_scope
[tf1.graph_copies]
contrib.graph_editor.: Transformer TransformerInfo add_control_inputs assign_renamed_collections_handler copy
contrib.graph_editor.: copy_op_handler copy_with_input_replacements graph_replace keep_t_if_possible_handler
contrib.graph_editor.: make_placeholder_from_dtype_and_shape make_placeholder_from_tensor placeholder_name
contrib.graph_editor.: remove_control_inputs replace_t_with_placeholder_handler reroute_ts swap_ts
contrib.graph_editor.: transform_op_if_inside_handler
make_placeholder_from_dtype_and_shape as contrib.graph_editor.ph
[tf1.graph_edits]
contrib.graph_editor.: ControlOutputs bypass check_cios connect detach detach_control_inputs detach_control_outputs
contrib.graph_editor.: detach_inputs detach_outputs get_ops_ios get_within_boundary_ops reroute_inputs reroute_ios
contrib.graph_editor.: reroute_outputs select_ops_and_ts swap_inputs swap_ios swap_outputs
contrib.graph_editor.util.: ListView check_graphs concatenate_unique flatten_tree get_unique_graph is_iterable
contrib.graph_editor.util.: scope_basename scope_dirname scope_finalize
input_tensors as contrib.graph_editor.select._get_input_ts
output_tensors as contrib.graph_editor.select._get_output_ts
[tf1.nccl]
contrib.nccl.: all_max all_min all_prod all_sum broadcast reduce_sum
[tf1.tensorrt]
contrib.tensorrt.: calib_graph_to_infer_graph create_inference_graph
[tf1.memory_stats]
contrib.memory_stats.: BytesInUse BytesLimit MaxBytesInUse
[tf1.eager_metrics]
contrib.eager.metrics.: Accuracy BinaryAccuracy CategoricalAccuracy Mean Metric SparseAccuracy
contrib.eager.python.metrics.: Accuracy BinaryAccuracy CategoricalAccuracy Mean Metric SparseAccuracy
[platform.mnist]
contrib.learn.datasets.mnist.: DataSet Datasets dense_to_one_hot extract_images extract_labels load_mnist read_data_sets
[tf1.cudnn_rnn]
contrib.cudnn_rnn.: CudnnCompatibleGRUCell CudnnCompatibleLSTMCell CudnnGRU CudnnGRUSaveable CudnnLSTM
contrib.cudnn_rnn.: CudnnLSTMSaveable CudnnRNNRelu CudnnRNNReluSaveable CudnnRNNTanh CudnnRNNTanhSaveable
contrib.cudnn_rnn.python.layers.cudnn_rnn.: CudnnGRU CudnnLSTM CudnnRNNRelu CudnnRNNTanh
contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.: CudnnCompatibleGRUCell CudnnCompatibleLSTMCell CudnnGRUSaveable
contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.: CudnnLSTMSaveable CudnnRNNReluSaveable CudnnRNNTanhSaveable
LINEAR as contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_INPUT_LINEAR_MODE
SKIP as contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_INPUT_SKIP_MODE
AUTO as contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_INPUT_AUTO_MODE
[tf1.cudnn_params]
UNIDIRECTION as contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_RNN_UNIDIRECTION
BIDIRECTION as contrib.cudnn_rnn.python.ops.cudnn_rnn_ops.CUDNN_RNN_BIDIRECTION
ConverterLSTM as contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM
ConverterGRU as contrib.cudnn_rnn.CudnnParamsFormatConverterGRU
ConverterSimple as contrib.cudnn_rnn.CudnnParamsFormatConverterRelu
ConverterSimple as contrib.cudnn_rnn.CudnnParamsFormatConverterTanh
[tf1.integrate]
contrib.integrate.: odeint odeint_fixed
contrib.integrate.python.ops.odes.: odeint odeint_fixed
interp_fit as contrib.integrate.python.ops.odes._interp_fit
interp_evaluate as contrib.integrate.python.ops.odes._interp_evaluate
optimal_step_size as contrib.integrate.python.ops.odes._optimal_step_size
[tf1.eager_network]
contrib.eager.: Network Sequential restore_network_checkpoint save_network_checkpoint
contrib.eager.python.network.: Network Sequential restore_network_checkpoint save_network_checkpoint
[trackable.auto]
AutoTrackable as contrib.eager.Checkpointable
[functions.function]
contrib.eager.function
[tf1.quantize.public]
contrib.quantize.: create_eval_graph create_training_graph experimental_create_eval_graph
contrib.quantize.experimental_create_training_graph
contrib.quantize.python.quantize_graph.: create_eval_graph create_training_graph experimental_create_eval_graph
contrib.quantize.python.quantize_graph.experimental_create_training_graph
fold_batch_norms as contrib.quantize.python.fold_batch_norms.FoldBatchNorms
quantize_layers as contrib.quantize.python.quantize.Quantize
[tf1.quantize.fake]
fixed_quantize as contrib.quantize.python.quant_ops.FixedQuantize
last_value_quantize as contrib.quantize.python.quant_ops.LastValueQuantize
moving_average_quantize as contrib.quantize.python.quant_ops.MovingAvgQuantize
quantization_step as contrib.quantize.python.common.CreateOrGetQuantizationStep
[tf1.quantize.unfused]
batch_norm_groups as contrib.quantize.python.common.BatchNormGroups
[tf1.crf]
contrib.crf.: CrfDecodeBackwardRnnCell CrfDecodeForwardRnnCell CrfForwardRnnCell crf_binary_score crf_decode
contrib.crf.: crf_log_likelihood crf_log_norm crf_multitag_sequence_score crf_sequence_score crf_unary_score
contrib.crf.viterbi_decode
contrib.crf.python.ops.crf.: CrfDecodeBackwardRnnCell CrfDecodeForwardRnnCell CrfForwardRnnCell crf_binary_score
contrib.crf.python.ops.crf.: crf_decode crf_log_likelihood crf_log_norm crf_multitag_sequence_score
contrib.crf.python.ops.crf.: crf_sequence_score crf_unary_score viterbi_decode
[tf1.labeled.axes]
contrib.labeled_tensor.: Axes Axis as_axis
Error as contrib.labeled_tensor.python.ops._typecheck.Error
concat_axes as contrib.labeled_tensor.python.ops.core.concat_axes
[tf1.labeled.tensors]
contrib.labeled_tensor.: AxisOrderError LabeledTensor align axis_order_scope check_axis_order convert_to_labeled_tensor
contrib.labeled_tensor.: define_binary_op define_unary_op expand_dims identity impose_axis_order transpose abs acos add
contrib.labeled_tensor.: asin atan ceil cos digamma div equal erf erfc exp floor greater greater_equal igamma igammac
contrib.labeled_tensor.: less less_equal lgamma log logical_and logical_not logical_or logical_xor maximum minimum mod
contrib.labeled_tensor.: mul neg not_equal polygamma pow reciprocal round rsqrt sigmoid sign sin sqrt square
contrib.labeled_tensor.: squared_difference sub tan tanh zeta
slice_function as contrib.labeled_tensor.slice contrib.labeled_tensor.python.ops.core.slice_function
get_axis_order as contrib.labeled_tensor.python.ops.core.get_axis_order
find_consistent_ordering as contrib.labeled_tensor.python.ops.core._find_consistent_ordering
abs as contrib.labeled_tensor.python.ops.core.abs_function
pow as contrib.labeled_tensor.python.ops.core.pow_function
round as contrib.labeled_tensor.python.ops.core.round_function
[tf1.labeled.operations]
contrib.labeled_tensor.: batch boolean_mask cast concat constant define_reduce_op foldl map_fn matmul ones_like pack pad
contrib.labeled_tensor.: random_crop reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min
contrib.labeled_tensor.: reduce_prod reduce_sum rename_axis reshape select shuffle_batch squeeze tile unpack
contrib.labeled_tensor.: verify_tensor_all_finite where zeros_like
[tf1.labeled.examples]
contrib.labeled_tensor.: FixedLenFeature parse_example parse_single_example placeholder
contrib.labeled_tensor.nn.: crelu elu l2_loss log_softmax relu relu6 sigmoid_cross_entropy_with_logits softmax
contrib.labeled_tensor.nn.: softmax_cross_entropy_with_logits softplus sparse_softmax_cross_entropy_with_logits
contrib.labeled_tensor.ReshapeCoder
[tf1.optimizers_by_step]
contrib.opt.: AdamGSOptimizer DropStaleGradientOptimizer LazyAdamGSOptimizer
contrib.opt.python.training.sign_decay.: get_cosine_decay_fn get_linear_decay_fn get_restart_decay_fn
[tf1.kernel_methods]
contrib.kernel_methods.: RandomFourierFeatureMapper sparse_multiclass_hinge_loss
contrib.kernel_methods.python.losses.sparse_multiclass_hinge_loss
contrib.kernel_methods.python.mappers.random_fourier_features.RandomFourierFeatureMapper
contrib.kernel_methods.python.mappers.dense_kernel_mapper.: DenseKernelMapper InvalidShapeError
[tf1.solvers]
contrib.solvers.python.ops.linear_equations.conjugate_gradient
contrib.solvers.python.ops.least_squares.cgls
contrib.solvers.python.ops.lanczos.: bidiag_matmul lanczos_bidiag
contrib.solvers.python.ops.util.: create_operator dot identity_operator l2norm l2norm_squared l2normalize
[layers.seq2seq.samplers]
contrib.seq2seq.: CustomSampler GreedyEmbeddingSampler InferenceSampler SampleEmbeddingSampler Sampler TrainingSampler
contrib.seq2seq.: ScheduledEmbeddingTrainingSampler ScheduledOutputTrainingSampler
contrib.seq2seq.python.ops.sampler.: CustomSampler GreedyEmbeddingSampler InferenceSampler SampleEmbeddingSampler
contrib.seq2seq.python.ops.sampler.: Sampler ScheduledEmbeddingTrainingSampler ScheduledOutputTrainingSampler
contrib.seq2seq.python.ops.sampler.TrainingSampler
[layers.seq2seq.helpers]
contrib.seq2seq.python.ops.sampler.: bernoulli_sample categorical_sample
contrib.seq2seq.python.ops.helper.bernoulli_sample
[doors.decoder_layers]
contrib.seq2seq.: BaseDecoder BasicDecoderV2
contrib.seq2seq.python.ops.decoder.BaseDecoder
contrib.seq2seq.python.ops.basic_decoder.BasicDecoderV2
[distributions.shapes]
DistributionShape as contrib.distributions.python.ops.shape._DistributionShape
[ops.sparse.cross]
DEFAULT_KEY as contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
[tf1.metric_learning]
contrib.losses.metric_learning.: contrastive_loss lifted_struct_loss npairs_loss npairs_loss_multilabel
contrib.losses.metric_learning.triplet_semihard_loss
contrib.losses.python.metric_learning.: contrastive_loss lifted_struct_loss npairs_loss npairs_loss_multilabel
contrib.losses.python.metric_learning.triplet_semihard_loss
contrib.losses.python.metric_learning.metric_loss_ops.: contrastive_loss lifted_struct_loss npairs_loss
contrib.losses.python.metric_learning.metric_loss_ops.: npairs_loss_multilabel triplet_semihard_loss
[tf1.learn_roles]
contrib.learn.: Evaluable Trainable
contrib.learn.python.learn.evaluable.Evaluable
contrib.learn.python.learn.trainable.Trainable
[doors.learn.run_config]
contrib.learn.python.learn.run_config.RunConfig
"""
