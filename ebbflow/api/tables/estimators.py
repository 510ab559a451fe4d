"""What the package `tensorflow_estimator` asks of TensorFlow's inner modules, and the names of `tf.contrib.tpu`."""

BOTH = """
"""

V1 = """
[doors.estimator_package]
estimator_v1 as estimator
[distribute.coordinated_estimators]
distribute.get_loss_reduction
[train.losses]
losses.Reduction
"""

V2 = """
[doors.estimator_package]
estimator
[train.losses]
ReductionV2 as losses.Reduction
[platform.gauges]
__internal__.monitoring.: BoolGauge Counter IntGauge Sampler StringGauge
"""

INSIDE = """
[core.convert]
convert_to_tensor as python.framework.ops.internal_convert_to_tensor
[distribute.coordinated_estimators]
python.distribute.estimator_training.: init_run_config should_run_distribute_coordinator
[feature_column.base]
scope_name as python.feature_column.feature_column_v2._sanitize_column_name_for_variable_scope
check_batch_sizes as python.feature_column.feature_column_v2._verify_static_batch_size_equality
[feature_column.first_generation]
weighted_sum as python.feature_column.feature_column_v2._create_weighted_sum
[feature_column.serialization]
python.feature_column.feature_column_lib.: deserialize_feature_columns serialize_feature_columns
[monitored.several_steps]
MultiStepStopAtStepHook as python.training.basic_session_run_hooks._MultiStepStopAtStepHook
MultiStepStopAfterNEvalsHook as python.training.evaluation._MultiStepStopAfterNEvalsHook
python.training.training_util.GLOBAL_STEP_READ_KEY
get_or_create_global_step_read as python.training.training_util._get_or_create_global_step_read
python.training.training.get_or_create_steps_per_run_variable
[platform.deprecation]
python.util.deprecation.hide_attribute_from_api
[platform.gauges]
python.profiler.trace.Trace
python.eager.monitoring.: BoolGauge Counter IntGauge Sampler StringGauge
[platform.module_wrapper]
python.util.module_wrapper.TFModuleWrapper
python.util.tf_export.ESTIMATOR_API_NAME
tools.docs.doc_controls.inheritable_header
python.checkpoint.saveable_compat.legacy_saveable_name
[savedmodel.export_outputs]
python.saved_model.model_utils.export_output.: ClassificationOutput EvalOutput ExportOutput PredictOutput
python.saved_model.model_utils.export_output.: RegressionOutput TrainOutput
SupervisedOutput as python.saved_model.model_utils.export_output._SupervisedOutput
[savedmodel.export_signatures]
python.saved_model.model_utils.: EXPORT_TAG_MAP SIGNATURE_KEY_MAP build_all_signature_defs export_outputs_for_mode
python.saved_model.model_utils.: get_export_outputs get_temp_export_dir get_timestamped_export_dir
python.saved_model.model_utils.export_utils.: EXPORT_TAG_MAP SIGNATURE_KEY_MAP SINGLE_FEATURE_DEFAULT_NAME
python.saved_model.model_utils.export_utils.: SINGLE_LABEL_DEFAULT_NAME SINGLE_RECEIVER_DEFAULT_NAME
python.saved_model.model_utils.export_utils.: build_all_signature_defs export_outputs_for_mode get_export_outputs
python.saved_model.model_utils.export_utils.: get_temp_export_dir get_timestamped_export_dir
python.saved_model.path_helpers.: get_variables_dir get_variables_path
[state.variables]
_written as python.ops.ref_variable._to_proto_fn
Variable.from_proto as python.ops.ref_variable._from_proto_fn
[state.variable_scope]
pure_variable_scope as python.ops.variable_scope._pure_variable_scope
[tf1.clustering]
python.ops.clustering_ops.: CLUSTERS_VAR_NAME COSINE_DISTANCE KMC2_INIT KMEANS_PLUS_PLUS_INIT RANDOM_INIT
python.ops.clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
[train.device_setter]
python.training.device_setter.STANDARD_PS_OPS
[tf1.tpu]
TPUEmbeddingColumn as python.tpu.feature_column._TPUEmbeddingColumn
TPUSharedEmbeddingColumn as python.tpu.feature_column._TPUSharedEmbeddingColumn
TPUEmbeddingColumn as python.tpu.feature_column_v2._TPUEmbeddingColumnV2
TPUEmbeddingColumn as python.tpu.feature_column_v2._TPUDeviceSpecificEmbeddingColumnV2
TPUSharedEmbeddingColumn as python.tpu.feature_column_v2._TPUSharedEmbeddingColumnV2
TPUSharedEmbeddingColumn as python.tpu.feature_column_v2._TPUSharedDeviceSpecificEmbeddingColumnV2
python.tpu.tpu.: outside_compilation replicate rewrite shard
python.tpu.tensor_tracer.TensorTracer
python.tpu.tpu_replication.outside_compilation
python.ops.control_flow_ops.: ControlFlowContext XLAControlFlowContext
python.tpu.tpu_function.: get_tpu_context tpu_shard_context
python.tpu.tpu_optimizer.CrossShardOptimizer
python.tpu.tpu_system_metadata.TPUSystemMetadata
python.tpu.training_loop.: repeat while_loop
python.tpu.ops.tpu_ops.cross_replica_sum
python.tpu.tpu_embedding.: AdagradParameters AdamParameters FtrlParameters MomentumParameters
python.tpu.tpu_embedding.: ProximalAdagradParameters RMSPropParameters StochasticGradientDescentParameters
"""

MODULES = """
core.protobuf.tpu.compilation_result_pb2
python.distribute.cluster_resolver.tpu_cluster_resolver
python.tpu.device_assignment python.tpu.functional python.tpu.preempted_hook python.tpu.session_support
python.tpu.tpu_embedding_gradient python.tpu.tpu_feed
"""
"""Modules that are imported for what only a TPU needs; nothing stands in them here."""

CONTRIB = """
[tf1.tpu]
contrib.tpu.: CrossShardOptimizer cross_replica_sum outside_compilation replicate repeat rewrite shard while_loop
"""
