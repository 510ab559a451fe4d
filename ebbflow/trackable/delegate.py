"""A trackable object that passes everything about tracking on to another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebbflow.trackable.base import Trackable


_PROPERTIES = (  # noqa: SIM905
    "_update_uid _unconditional_checkpoint_dependencies _unconditional_dependency_names _name_based_restores "
    "_object_identifier _tracking_metadata _checkpoint_dependencies _deferred_dependencies"
).split()
_METHODS = (  # noqa: SIM905
    "_maybe_initialize_trackable _no_dependency _name_based_attribute_restore _lookup_dependency "
    "_add_variable_with_custom_getter _preload_simple_restoration _track_trackable _handle_deferred_dependencies "
    "_gather_saveables_for_checkpoint _trackable_children _deserialization_dependencies "
    "_export_to_saved_model_graph _serialize_to_tensors _restore_from_tensors _copy_trackable_to_cpu"
).split()


class DelegatingTrackableMixin:
    """Mix in before `Trackable`: children, names and values are those of `trackable_obj`."""

    def __init__(self, trackable_obj: Trackable):
        self._trackable = trackable_obj

    @property
    def _setattr_tracking(self) -> bool:
        return self._trackable._setattr_tracking

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        self._trackable._setattr_tracking = value


def _passed_on(name: str) -> property:
    def read(self: Any) -> Any:
        return getattr(self._trackable, name)

    def write(self: Any, value: Any) -> None:
        setattr(self._trackable, name, value)

    return property(read, write)


for _name in _PROPERTIES + _METHODS:
    setattr(DelegatingTrackableMixin, _name, _passed_on(_name))
