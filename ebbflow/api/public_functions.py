"""What a name of a table is to the public: functions of tensors with support for dispatch, once a dispatcher is there.

Knows the tables, the doors and `core.dispatch`; remembers which function was fetched for which row, so that functions
can be named. Loaded with the first name that is fetched.
"""

from __future__ import annotations

from typing import Any

from ebbflow.api import namespace, views
from ebbflow.core import dispatch

DISPATCHED = ("ops.", "core.convert:convert_to_tensor", "api.adapters:convert_to_tensor")
"""How targets begin whose functions take tensors and give tensors: dispatchers may answer for these."""

_supported: dict[Any, Any] = {}
_targets: dict[Any, str] = {}


def public(target: str) -> Any:
    """Return the object a table's target names as the public sees it."""
    value = namespace.resolve(target)
    if isinstance(value, type):
        _targets.setdefault(value, target)
    if not dispatch.is_function(value):
        return value
    if dispatch.dispatches() and target.startswith(DISPATCHED) and not hasattr(value, dispatch.INNER):
        if value not in _supported:
            _supported[value] = _findable(dispatch.add_dispatch_support(value), target)
        value = _supported[value]
    _targets.setdefault(value, target)
    return value


def _findable(wrapped: Any, target: str) -> Any:
    """Give a wrapped function a name by which pickle finds it here: under its own, the function inside is found."""
    wrapped.__module__, wrapped.__qualname__ = __name__, _plain(target)
    return wrapped


def _plain(target: str) -> str:
    return target.replace(".", "_").replace(":", "__")


def __getattr__(name: str) -> Any:
    for key in ("v2", "v1"):
        for target in views.names_of(key).values():
            if _plain(target) == name:
                return public(target)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def target_of(function: Any) -> str | None:
    """Return the target of a function or class that was fetched through a door, or None."""
    return _targets.get(function) or _targets.get(getattr(function, dispatch.INNER, None))


def public_function(name: str) -> Any:
    """Return the function that TF 2 has under a public name: `math.add`, `compat.v1.add`."""
    key, path = views.locate("v2", name)
    return public(views.view(key).names[path])


def _support_dispatch() -> None:
    for support in namespace.furnished:
        support()


dispatch.provide_public(public_function)
dispatch.when_registered(_support_dispatch)
