"""The names of checkpoints: savers, checkpoints of objects, readers, and the tools around them."""

BOTH = """
[checkpoint.array_variables]
train.: export_variables import_variables
[checkpoint.management]
train.: checkpoints_iterator get_checkpoint_state latest_checkpoint
[checkpoint.manager]
train.CheckpointManager
[checkpoint.options]
train.CheckpointOptions
[checkpoint.reader]
train.: list_variables load_checkpoint load_variable
"""

V2 = """
[checkpoint.checkpoint]
train.Checkpoint
[checkpoint.sharding]
train.experimental.: MaxShardSizePolicy ShardByTaskPolicy ShardableTensor ShardingCallback
[checkpoint.view]
train.CheckpointView
"""

V1 = """
[checkpoint.checkpoint]
CheckpointV1 as train.Checkpoint
[checkpoint.initializing]
train.init_from_checkpoint
[checkpoint.management]
train.: checkpoint_exists generate_checkpoint_state_proto get_checkpoint_mtimes remove_checkpoint
train.update_checkpoint_state
[checkpoint.reader]
new_checkpoint_reader as train.NewCheckpointReader
[checkpoint.saver]
train.: Saver export_meta_graph import_meta_graph
[checkpoint.warm_start]
train.: VocabInfo warm_start
"""

INSIDE = """
[checkpoint.sharding]
python.checkpoint.sharding.sharding_util.: Shard ShardableTensor ShardingCallback
python.checkpoint.sharding.sharding_policies.: MaxShardSizePolicy ShardByTaskPolicy
[checkpoint.builders]
python.training.saver.: BaseSaverBuilder BulkSaverBuilder
[checkpoint.initializing]
python.training.checkpoint_utils.init_from_checkpoint
is_variable as python.training.checkpoint_utils._is_variable
[checkpoint.management]
python.training.checkpoint_management.: checkpoint_exists checkpoint_exists_internal generate_checkpoint_state_proto
python.training.checkpoint_management.: get_checkpoint_mtimes get_checkpoint_state latest_checkpoint
python.training.checkpoint_management.: meta_graph_filename remove_checkpoint update_checkpoint_state
python.training.checkpoint_management.update_checkpoint_state_internal
python.checkpoint.checkpoint_management.: checkpoint_exists checkpoint_exists_internal get_checkpoint_mtimes
python.checkpoint.checkpoint_management.: generate_checkpoint_state_proto get_checkpoint_state latest_checkpoint
python.checkpoint.checkpoint_management.: meta_graph_filename remove_checkpoint update_checkpoint_state
python.checkpoint.checkpoint_management.update_checkpoint_state_internal
python.training.checkpoint_utils.: checkpoints_iterator wait_for_new_checkpoint
python.training.saver.: checkpoint_exists generate_checkpoint_state_proto get_checkpoint_mtimes get_checkpoint_state
python.training.saver.: latest_checkpoint remove_checkpoint update_checkpoint_state
[checkpoint.checkpoint]
python.training.tracking.util.Checkpoint python.checkpoint.checkpoint.Checkpoint
python.training.tracking.util.CheckpointV1 python.checkpoint.checkpoint.CheckpointV1
python.training.checkpointable.util.CheckpointV1
python.training.tracking.util.add_variable python.checkpoint.checkpoint.add_variable
python.training.checkpointable.util.add_variable
CheckpointV1 as python.training.checkpointable.util.Checkpoint
[checkpoint.manager]
python.training.checkpoint_management.CheckpointManager python.checkpoint.checkpoint_management.CheckpointManager
[checkpoint.object_graph]
TensorCallable as python.checkpoint.tensor_callable.Callable
python.checkpoint.save_util.serialize_graph_view
python.training.tracking.graph_view.ObjectGraphView python.checkpoint.graph_view.ObjectGraphView
initializers_of as python.training.tracking.util.gather_initializers
initializers_of as python.checkpoint.checkpoint.gather_initializers
initializers_of as python.training.checkpointable.util.gather_initializers
list_objects as python.checkpoint.util.list_objects
list_objects_of as python.checkpoint.checkpoint.list_objects python.training.tracking.util.list_objects
list_objects_of as python.training.checkpointable.util.list_objects
[checkpoint.object_saver]
python.training.tracking.util.TrackableSaver python.checkpoint.checkpoint.TrackableSaver
[checkpoint.options]
python.checkpoint.checkpoint_options.CheckpointOptions python.training.saving.checkpoint_options.CheckpointOptions
[checkpoint.positions]
python.training.tracking.util.object_metadata python.checkpoint.checkpoint.object_metadata
Position as python.checkpoint.restore.CheckpointPosition python.training.tracking.base.CheckpointPosition
[tf1.checkpoint_tools]
python.training.tracking.util.capture_dependencies python.checkpoint.checkpoint.capture_dependencies
[savedmodel.checkpoint_graph]
python.saved_model.tracing_utils.trace_save_and_restore
[checkpoint.device_saver]
python.checkpoint.functional_saver.MultiDeviceSaver python.training.saving.functional_saver.MultiDeviceSaver
python.checkpoint.checkpoint.frozen_saver python.training.tracking.util.frozen_saver
python.checkpoint.save_util_v1.serialize_gathered_objects
python.checkpoint.restore.restore_nodes
saveable_name as python.checkpoint.restore._extract_saveable_name
python.checkpoint.async_checkpoint_helper.AsyncCheckpointHelper
[checkpoint.status]
python.training.tracking.util.: CheckpointLoadStatus InitializationOnlyStatus NameBasedSaverStatus
python.training.tracking.util.: get_session register_session_provider
python.checkpoint.checkpoint.: CheckpointLoadStatus InitializationOnlyStatus NameBasedSaverStatus
python.checkpoint.checkpoint.: get_session register_session_provider
[checkpoint.reader]
python.training.checkpoint_utils.: list_variables load_checkpoint load_variable
checkpoint_filename as python.training.checkpoint_utils._get_checkpoint_filename
python.training.py_checkpoint_reader.CheckpointReader
new_checkpoint_reader as python.training.py_checkpoint_reader.NewCheckpointReader
new_checkpoint_reader as python.pywrap_tensorflow.NewCheckpointReader
new_checkpoint_reader as python.pywrap_tensorflow_internal.NewCheckpointReader
python.tools.inspect_checkpoint.print_tensors_in_checkpoint_file
count_params as python.tools.inspect_checkpoint._count_total_params
[checkpoint.saveables]
all_saveables as python.ops.variables._all_saveable_objects
python.training.saving.saveable_object.: SaveableObject SaveSpec
python.training.saving.saveable_object_util.: op_list_to_dict saveable_objects_for_op validate_and_slice_inputs
python.training.saving.saveable_object_util.: ReferenceVariableSaveable ResourceVariableSaveable
on_host as python.training.saving.saveable_object_util.set_cpu0
[checkpoint.saver]
python.training.saver.: Saver export_meta_graph import_meta_graph
python.training.saver.: import_meta_graph_with_return_elements object_graph_key_mapping
python.training.saver.saver_from_object_based_checkpoint
get_saver_or_default as python.training.saver._get_saver_or_default
[checkpoint.view]
python.checkpoint.checkpoint_view.CheckpointView
[checkpoint.remapping]
load_and_remap_matrix as python.training.checkpoint_ops._load_and_remap_matrix
load_and_remap_matrix_initializer as python.training.checkpoint_ops._load_and_remap_matrix_initializer
load_embedding_initializer as python.training.checkpoint_ops._load_embedding_initializer
[checkpoint.warm_start]
python.training.warm_starting_util.: VocabInfo warm_start
grouped_variables as python.training.warm_starting_util._get_grouped_variables
name_of as python.training.warm_starting_util._infer_var_name
var_info as python.training.warm_starting_util._get_var_info
warm_start_var_with_vocab as python.training.warm_starting_util._warm_start_var_with_vocab
"""

CONTRIB = """
[checkpoint.checkpoint]
CheckpointV1 as contrib.eager.Checkpoint
[tf1.eager_saver]
contrib.eager.: Saver get_optimizer_variables restore_variables_on_create
[checkpoint.manager]
contrib.checkpoint.CheckpointManager
[messages]
TrackableObjectGraph as contrib.checkpoint.CheckpointableObjectGraph
[checkpoint.object_graph]
list_objects_of as contrib.checkpoint.list_objects
[checkpoint.positions]
contrib.checkpoint.object_metadata
[tf1.checkpoint_tools]
contrib.checkpoint.: NumpyState UniqueNameTracker capture_dependencies dot_graph_from_checkpoint split_dependency
contrib.checkpoint.python.python_state.NumpyState
contrib.checkpoint.python.containers.UniqueNameTracker
contrib.checkpoint.python.split_dependency.split_dependency
contrib.checkpoint.python.visualize.dot_graph_from_checkpoint
[trackable.auto]
AutoTrackable as contrib.checkpoint.Checkpointable
[trackable.base]
Trackable as contrib.checkpoint.CheckpointableBase
[trackable.data_structures]
contrib.checkpoint.: List Mapping NoDependency
[trackable.python_state]
PythonState as contrib.checkpoint.PythonStateWrapper
[checkpoint.initializing]
contrib.framework.init_from_checkpoint
[checkpoint.reader]
contrib.framework.: list_variables load_checkpoint load_variable
[checkpoint.remapping]
contrib.framework.: load_and_remap_matrix_initializer load_embedding_initializer
contrib.framework.: load_linear_multiclass_bias_initializer load_variable_slot_initializer
[checkpoint.management]
contrib.training.: checkpoints_iterator wait_for_new_checkpoint
[tf1.framework_variables]
contrib.framework.: assign_from_checkpoint assign_from_checkpoint_fn assign_from_values assign_from_values_fn
contrib.framework.: get_unique_variable get_variable_full_name get_variables get_variables_by_name
contrib.framework.: get_variables_by_suffix get_variables_to_restore
contrib.slim.: assign_from_checkpoint assign_from_checkpoint_fn assign_from_values assign_from_values_fn
contrib.slim.: get_unique_variable get_variables get_variables_by_name get_variables_by_suffix get_variables_to_restore
"""
