"""The names of objects that are tracked: modules, data structures, and what walks along them.

`INSIDE` has the paths of TensorFlow's inside, of both eras: `python.trackable` and `python.training.tracking`."""

BOTH = """
[functions.trackable_resource]
saved_model.experimental.TrackableResource
[state.module]
Module
[trackable.python_state]
train.experimental.PythonState
"""

V2 = """
[functions.trackable_resource]
saved_model.Asset
[trackable.auto]
__internal__.tracking.AutoTrackable
[trackable.base]
__internal__.tracking.: CheckpointInitialValue CheckpointInitialValueCallable Trackable TrackableReference
__internal__.tracking.no_automatic_dependency_tracking
[trackable.data_structures]
__internal__.tracking.: TrackableDataStructure sticky_attribute_assignment
wrap_or_unwrap as __internal__.tracking.wrap
[trackable.delegate]
__internal__.tracking.DelegatingTrackableMixin
[trackable.view]
train.TrackableView
"""

INSIDE = """
[core.identity]
python.util.object_identity.: ObjectIdentityDictionary ObjectIdentitySet ObjectIdentityWeakKeyDictionary
python.util.object_identity.ObjectIdentityWeakSet
_Key as python.util.object_identity._ObjectIdentityWrapper
[core.tensor]
python.util.object_identity.Reference
[functions.trackable_resource]
python.trackable.asset.Asset
Asset as python.training.tracking.tracking.TrackableAsset
[trackable.json_values]
python.util.serialization.get_json_type
[functions.trackable_resource]
python.trackable.resource.: CapturableResource ResourceTracker RestoredResource TrackableResource resource_tracker_scope
python.framework.ops.resource_creator_scope
python.training.tracking.tracking.: CapturableResource ResourceTracker TrackableResource resource_tracker_scope
[state.module]
python.module.module.: _is_module _is_variable
python.module.module.: Module camel_to_snake valid_identifier
[trackable.auto]
python.trackable.autotrackable.AutoTrackable
python.training.tracking.tracking.AutoTrackable
[trackable.base]
python.trackable.base.: CheckpointInitialValue CheckpointInitialValueCallable ShardInfo Trackable TrackableReference
python.trackable.base.: WeakTrackableReference no_automatic_dependency_tracking no_automatic_dependency_tracking_scope
python.trackable.base.no_manual_dependency_tracking_scope
python.training.tracking.base.: CheckpointInitialValue Trackable TrackableReference no_automatic_dependency_tracking
python.training.tracking.base.no_automatic_dependency_tracking_scope
Trackable as python.training.checkpointable.base.CheckpointableBase python.training.checkpointable.base.Checkpointable
[trackable.constants]
python.trackable.base.: OBJECT_CONFIG_JSON_KEY OBJECT_GRAPH_PROTO_KEY VARIABLE_VALUE_KEY
python.trackable.constants.: OBJECT_CONFIG_JSON_KEY OBJECT_GRAPH_PROTO_KEY SaveType VARIABLE_VALUE_KEY
python.training.tracking.base.: OBJECT_CONFIG_JSON_KEY OBJECT_GRAPH_PROTO_KEY VARIABLE_VALUE_KEY
python.trackable.python_state.PYTHON_STATE
[trackable.data_structures]
python.trackable.converter.convert_to_trackable
python.trackable.data_structures.: List Mapping NoDependency TrackableDataStructure _UntrackableError set_list_item
python.trackable.data_structures.: _should_wrap_tuple set_tuple_item sticky_attribute_assignment wrap_or_unwrap
python.trackable.layer_utils.: filter_empty_layer_containers has_weights is_layer
python.training.tracking.data_structures.: List Mapping NoDependency TrackableDataStructure sticky_attribute_assignment
python.training.tracking.data_structures._UntrackableError
wrap_or_unwrap as python.training.tracking.data_structures._wrap_or_unwrap
wrap_or_unwrap as python.training.tracking.data_structures.wrap_or_unwrap
python.training.tracking.layer_utils.: filter_empty_layer_containers has_weights is_layer
[trackable.delegate]
python.trackable.base_delegate.DelegatingTrackableMixin
[trackable.keys]
python.trackable.trackable_utils.: CyclicDependencyError OBJECT_ATTRIBUTES_NAME SERIALIZE_TO_TENSORS_NAME checkpoint_key
python.trackable.trackable_utils.: escape_local_name extract_local_name extract_object_name object_path_to_string
python.trackable.trackable_utils.: order_by_dependency pretty_print_node_path slot_variable_key
[trackable.python_state]
python.trackable.python_state.PythonState
[trackable.view]
python.checkpoint.trackable_view.TrackableView
[trackable.wrappers]
python.trackable.data_structures.: ListWrapper _DictWrapper _TupleWrapper
python.training.tracking.data_structures.: ListWrapper _DictWrapper
"""
