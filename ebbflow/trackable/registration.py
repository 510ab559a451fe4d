"""Classes and savers that programs register: what files call them, and how they are found again.

A class registered for SavedModels is written by its name and made anew by its `_deserialize_from_proto`. A checkpoint
saver is a pair of functions that save and restore all objects which a predicate picks, in files of their own that are
merged into the checkpoint. Knows names and predicates; files are for `checkpoint/` and `savedmodel/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

_VALID = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.>/-]*$")


class RegisteredSaver(NamedTuple):
    """How the objects of one kind are saved and restored."""

    name: str
    predicate: Callable[[Any], bool]
    save_fn: Callable[..., Any]
    restore_fn: Callable[..., Any]
    strict: bool


_Kind = TypeVar("_Kind")


class _Registry(Generic[_Kind]):
    """Entries by name; of several that would take an object the last one registered does."""

    def __init__(self, what: str):
        self._what = what
        self._entries: dict[str, tuple[Callable[[Any], bool], _Kind]] = {}

    def add(self, name: str, predicate: Callable[[Any], bool], entry: _Kind) -> None:
        if name in self._entries:
            raise ValueError(f"The name '{name}' has already been registered to a {self._what}. Found: {entry!r}")
        self._entries[name] = (predicate, entry)

    def name_for(self, obj: Any) -> str | None:
        """Return the name of the entry that takes an object."""
        return next((name for name, (takes, _) in reversed(self._entries.items()) if takes(obj)), None)

    def get(self, name: str) -> _Kind | None:
        return self._entries[name][1] if name in self._entries else None


_classes: _Registry[type] = _Registry("class")
_savers: _Registry[RegisteredSaver] = _Registry("checkpoint saver")


# --- classes ----------------------------------------------------------------------------------------------------------


def register_serializable(
    package: str = "Custom", name: str | None = None, predicate: Callable[[Any], bool] | None = None
) -> Callable[[type], type]:
    """Return a decorator that has objects of a class (or those the predicate takes) written by the class's name."""

    def register(cls: type) -> type:
        if not isinstance(cls, type):
            raise TypeError(f"Registered serializable must be a class: {cls}")
        takes = (lambda obj: isinstance(obj, cls)) if predicate is None else predicate
        if not callable(takes):
            raise TypeError(f"The predicate registered to a class must be callable, not {takes!r}")
        _classes.add(f"{package}.{name or cls.__name__}", takes, cls)
        return cls

    return register


def get_registered_class_name(obj: Any) -> str | None:
    """Return the name that an object's class is registered under, if it is."""
    return _classes.name_for(obj)


def get_registered_class(registered_name: str) -> type | None:
    """Return the class that is registered under a name, if there is one."""
    return _classes.get(registered_name)


# --- checkpoint savers ------------------------------------------------------------------------------------------------


def register_checkpoint_saver(
    package: str = "Custom",
    name: str | None = None,
    predicate: Callable[[Any], bool] | None = None,
    save_fn: Callable[..., Any] | None = None,
    restore_fn: Callable[..., Any] | None = None,
    strict_predicate_restore: bool = True,
) -> None:
    """Have all objects that the predicate takes be saved and restored by these functions.

    `save_fn(trackables, file_prefix)` gets the objects by name, writes checkpoint files under the prefix and returns
    the prefixes it used; `restore_fn(trackables, merged_prefix)` reads them from the finished checkpoint.
    """
    for what, value in (("package", package), ("name", name)):
        if not isinstance(value, str):
            raise TypeError(f"The {what} registered to a checkpoint saver must be string, got: {value!r}")
    full = f"{package}.{name}"
    if not _VALID.match(full) or "/" in full:
        raise ValueError(
            f"Invalid registered checkpoint saver. The name '{full}' may have letters, digits and the characters _.>- "
        )
    if not callable(predicate):
        raise TypeError(f"The predicate registered to a checkpoint saver must be callable, got: {predicate!r}")
    if not callable(save_fn):
        raise TypeError(f"The save_fn must be callable, got: {save_fn!r}")
    if not callable(restore_fn):
        raise TypeError(f"The restore_fn must be callable, got: {restore_fn!r}")
    _savers.add(full, predicate, RegisteredSaver(full, predicate, save_fn, restore_fn, strict_predicate_restore))


def get_registered_saver_name(trackable: Any) -> str | None:
    """Return the name of the checkpoint saver that takes an object, if one does."""
    return _savers.name_for(trackable)


def get_save_function(registered_name: str) -> Callable[..., Any]:
    """Return the function by which a registered saver saves."""
    return _saver(registered_name).save_fn


def get_restore_function(registered_name: str) -> Callable[..., Any]:
    """Return the function by which a registered saver restores."""
    return _saver(registered_name).restore_fn


def get_strict_predicate_restore(registered_name: str) -> bool:
    """Return whether a registered saver restores only objects that its predicate takes."""
    return _saver(registered_name).strict


def validate_restore_function(trackable: Any, registered_name: str) -> None:
    """Refuse an object that was saved by a saver that is not registered now, or does not take it."""
    saver = _savers.get(registered_name)
    if saver is None:
        raise ValueError(
            f"Error when restoring object {trackable} from checkpoint. This object was saved using a registered saver "
            f"named '{registered_name}', but this saver cannot be found in the current context: register it with "
            "register_checkpoint_saver before restoring."
        )
    if saver.strict and not saver.predicate(trackable):
        raise ValueError(
            f"Object {trackable} was saved with the registered saver named '{registered_name}'. However, this saver "
            "cannot be used to restore the object because the predicate does not pass."
        )


def _saver(name: str) -> RegisteredSaver:
    saver = _savers.get(name)
    if saver is None:
        raise LookupError(f"There is no registered checkpoint saver named '{name}'")
    return saver
