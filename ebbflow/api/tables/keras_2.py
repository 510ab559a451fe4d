"""What Keras 2 (the package `tf_keras`) asks for besides public names: its own place in `tf.__internal__`, operators as
functions, inner modules. `tf.keras` itself stands in `keras`.
"""

BOTH = """
[train.loss_scale]
mixed_precision.: DynamicLossScale FixedLossScale LossScale
train.experimental.: DynamicLossScale FixedLossScale LossScale
"""

V2 = """
[checkpoint.management]
update_checkpoint_state_internal as __internal__.train.update_checkpoint_state
[checkpoint.object_graph]
__internal__.tracking.: ObjectGraphView saveable_objects_from_trackable
[checkpoint.status]
__internal__.tracking.: register_session_provider streaming_restore
[core.dispatch]
__internal__.dispatch.: GlobalOpDispatcher add_dispatch_support
[core.op_dispatch]
__internal__.dispatch.OpDispatcher
[core.nest]
__internal__.nest.: flatten_up_to get_traverse_shallow_structure is_attrs is_mapping list_to_tuple map_structure_up_to
__internal__.nest.: sequence_like yield_flat_paths
[distribute.current]
__internal__.distribute.variable_sync_on_read_context
[distribute.multi_worker]
ExperimentalMultiWorkerMirroredStrategy as distribute.experimental.MultiWorkerMirroredStrategy
[eager.tape]
__internal__.record_gradient
[functions.autograph.public]
__internal__.autograph.tf_convert
[functions.autograph.status]
__internal__.autograph.control_status_ctx
[functions.dataflow_v1.one_node]
__internal__.create_c_op
[functions.device_choice]
__internal__.execute_fn_for_device
[functions.function]
__internal__.function.Function
[graph.scopes]
get_name_scope as __internal__.get_name_scope get_current_name_scope
[ops.operator_functions]
__operators__.: add eq getitem ne ragged_getitem
[platform.decorators]
__internal__.decorator.: make_decorator unwrap
[platform.keras_hooks]
__internal__.: register_call_context_function register_clear_session_function register_get_session_function
__internal__.register_load_model_function
__internal__.mixed_precision.register_loss_scale_wrapper
__internal__.train.: is_mixed_precision_graph_rewrite_enabled set_using_mixed_precision_policy
[savedmodel.load]
__internal__.saved_model.load_partial
[savedmodel.objects]
__internal__.saved_model.load.: VersionedTypeRegistration get_setter register_revived_type registered_identifiers
[savedmodel.options]
__internal__.load_context
[savedmodel.reading]
__internal__.saved_model.parse_saved_model
[io.structures]
__internal__.saved_model.decode_proto
[state.resource]
__internal__.ops.is_resource_variable
[summary.profiler]
profiler.experimental.: Profile ProfilerOptions Trace start stop
[testing.combinations]
__internal__.test.combinations.: NamedObject OptionalParameter ParameterModifier TestCombination combine times
generate_here as __internal__.test.combinations.generate
[testing.strategy_combinations]
__internal__.distribute.combinations.: default_strategy one_device_strategy one_device_strategy_gpu
__internal__.distribute.combinations.: mirrored_strategy_with_one_cpu mirrored_strategy_with_one_gpu
__internal__.distribute.combinations.: mirrored_strategy_with_two_cpus mirrored_strategy_with_cpu_1_and_2
__internal__.distribute.combinations.: cloud_tpu_strategy tpu_strategy_one_core
__internal__.distribute.combinations.: mirrored_strategy_with_gpu_and_cpu mirrored_strategy_with_two_gpus
__internal__.distribute.combinations.: mirrored_strategy_with_two_gpus_no_merge_call
__internal__.distribute.combinations.: central_storage_strategy_with_two_gpus
__internal__.distribute.combinations.: central_storage_strategy_with_gpu_and_cpu tpu_strategy
__internal__.distribute.combinations.: tpu_strategy_packed_var multi_worker_mirrored_2x1_cpu
__internal__.distribute.combinations.: multi_worker_mirrored_2x1_gpu multi_worker_mirrored_2x2_gpu
__internal__.distribute.combinations.: parameter_server_strategy_1worker_2ps_cpu
__internal__.distribute.combinations.: parameter_server_strategy_1worker_2ps_1gpu
__internal__.distribute.combinations.: parameter_server_strategy_3worker_2ps_cpu
__internal__.distribute.combinations.: parameter_server_strategy_3worker_2ps_1gpu
generate_with_strategies as __internal__.distribute.combinations.generate
[train.moving_averages]
__internal__.train.assign_moving_average
[train.weights]
__internal__.ops.broadcast_weights
"""

V1 = """
[doors.keras_package]
keras_v1 as keras
[distribute.elsewhere]
distribute.experimental.ParameterServerStrategy
[distribute.multi_worker]
ExperimentalMultiWorkerMirroredStrategy as distribute.experimental.MultiWorkerMirroredStrategy
[train.loss_scale_optimizer]
mixed_precision.: MixedPrecisionLossScaleOptimizer disable_mixed_precision_graph_rewrite
mixed_precision.enable_mixed_precision_graph_rewrite
train.experimental.: MixedPrecisionLossScaleOptimizer disable_mixed_precision_graph_rewrite
train.experimental.enable_mixed_precision_graph_rewrite
"""

INSIDE = """
[api.canonical]
python.util.tf_export.: get_canonical_name_for_symbol get_symbol_from_name
[core.convert]
python.framework.ops.convert_to_tensor_or_composite
python.framework.composite_tensor_ops.convert_to_tensor_or_composite
[core.dispatch]
python.util.dispatch.: GlobalOpDispatcher add_dispatch_support
_everywhere as python.util.dispatch._GLOBAL_DISPATCHERS
[core.op_dispatch]
python.util.dispatch.: OpDispatcher dispatch_for_types
[core.type_checks]
python.util.dispatch.: make_type_checker register_dispatchable_type
[core.type_dispatch]
python.util.dispatch.: add_type_based_api_dispatcher binary_elementwise_apis register_binary_elementwise_api
python.util.dispatch.: register_unary_elementwise_api type_based_dispatch_signatures_for unary_elementwise_apis
[data.kinds]
python.data.ops.from_generator_op._GeneratorDataset
python.data.ops.from_sparse_tensor_slices_op._SparseTensorSliceDataset
python.data.ops.from_tensor_slices_op._TensorSliceDataset
python.data.ops.from_tensors_op._TensorDataset
python.data.ops.range_op._RangeDataset
python.distribute.input_lib._get_dataset_attributes
python.distribute.input_ops.auto_shard_dataset
[data.structure]
python.data.util.structure.NoneTensorSpec
[distribute.current]
python.distribute.distribute_utils.cache_variable_reads
[eager.the_context]
python.eager.context.: get_config get_device_name
list_pluggable_devices as python.pywrap_tfe.TF_ListPluggablePhysicalDevices
[functions.control_flow.loops]
python.ops.ragged.ragged_map_ops.map_fn
[functions.dataflow_v1.switch_merge]
python.ops.control_flow_ops.get_enclosing_xla_context
[graph.scope_names]
python.framework.ops.: NullContextmanager name_from_scope_name
[ops.ragged.checks]
python.ops.ragged.ragged_util.assert_splits_match
[platform.doc_controls]
tools.docs.doc_controls.: do_not_doc_in_subclasses do_not_doc_inheritable do_not_generate_docs
tools.docs.doc_controls.: doc_in_current_and_subclasses doc_private for_subclass_implementers
[savedmodel.mode_keys]
python.saved_model.model_utils.mode_keys.: EstimatorModeKeys KerasModeKeys ModeKeyMap is_eval is_predict is_train
[savedmodel.save]
python.saved_model.save.save_and_return_nodes
[state.resource]
ResourceVariable as python.ops.resource_variable_ops.BaseResourceVariable
python.ops.resource_variable_ops._variable_handle_from_shape_and_dtype
[state.variable_store]
default_store as python.ops.variable_scope._get_default_variable_store
python.ops.variable_scope.with_variable_store
[testing.combinations]
python.framework.test_combinations.: NamedObject OptionalParameter ParameterModifier TestCombination combine
python.framework.test_combinations.: generate times
python.framework.combinations.: EagerGraphCombination NamedObject OptionalParameter TFVersionCombination combine times
generate_here as python.framework.combinations.generate
[testing.modes]
python.framework.test_util.disable_cudnn_autotune
[cluster.spec]
python.training.server_lib.ClusterSpec
"""
