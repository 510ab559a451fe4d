"""AutoTrackable: what is set as an attribute becomes a child; lists, dicts and tuples are wrapped so that they can be.

Knows which attributes are functions of TensorFlow's kind only through `provide_function_kinds`.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import SaveType
from ebbflow.trackable.data_structures import NoDependency, sticky_attribute_assignment

_function_kinds: tuple[type, ...] = ()


def provide_function_kinds(*kinds: type) -> None:
    """Say which classes are functions that a SavedModel keeps."""
    global _function_kinds
    _function_kinds = kinds


class AutoTrackable(Trackable):
    """An object whose attributes are its children.

    >>> parent, child = AutoTrackable(), AutoTrackable()
    >>> parent.child = child
    >>> parent._trackable_children() == {"child": child}
    True
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__dict__.get("_self_setattr_tracking", True):
            value = sticky_attribute_assignment(self, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._delete_tracking(name)
        super().__delattr__(name)

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)

    def _delete_tracking(self, name: str) -> None:
        self._unconditional_dependency_names.pop(name, None)

    def _add_trackable_child(self, name: str, value: Any) -> None:
        self.__setattr__(name, value)

    def _trackable_children(
        self, save_type: SaveType = SaveType.CHECKPOINT, cache: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        if save_type != SaveType.SAVEDMODEL:
            return super()._trackable_children(save_type, cache=cache, **kwargs)
        functions = self._function_attributes()  # once: properties may make new ones
        for function in functions.values():
            if hasattr(function, "_list_all_concrete_functions_for_serialization"):
                function._list_all_concrete_functions_for_serialization()  # a first trace may make variables
        children = super()._trackable_children(save_type, cache=cache, **kwargs)
        # Of functions only those count that are attributes now: some objects hide theirs while they are saved.
        others = {name: child for name, child in children.items() if not isinstance(child, _function_kinds)}
        return {**others, **functions}

    def _function_attributes(self) -> dict[str, Any]:
        """Return the attributes that are functions, but for those that only look back at this object."""
        functions = {}
        with warnings.catch_warnings():  # properties that warn when they are read
            warnings.simplefilter("ignore")
            before, self._setattr_tracking = self._setattr_tracking, False
            try:
                for name in dir(self):
                    with contextlib.suppress(Exception):  # a property that fails is no function
                        value = getattr(self, name, None)
                        if isinstance(value, _function_kinds):
                            functions[name] = value
            finally:
                self._setattr_tracking = before
        return functions
