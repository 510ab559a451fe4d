"""`tf.raw_ops`: every declared op under its own name, called with keywords only."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ebbflow.core.registry import registry

_AXIS = {"axis": "reduction_indices"}
SPELLINGS: dict[str, dict[str, str]] = {
    **dict.fromkeys(("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"), _AXIS),
    "ExpandDims": {"axis": "dim"},
    "Select": {"x": "t", "y": "e"},
    "Split": {"axis": "split_dim"},
    "SplitV": {"axis": "split_dim"},
    "Squeeze": {"axis": "squeeze_dims"},
    "Where": {"condition": "input"},
}
"""Where TensorFlow's Python functions spell an argument otherwise than the op's own interface."""


class _RawOps(ModuleType):
    """Makes the function of an op when it is first asked for."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = registry.find(name)
        if op is None:
            near = difflib.get_close_matches(name, registry.names(), 1)
            hint = f"; did you mean tf.raw_ops.{near[0]}?" if near else ""
            raise AttributeError(f"tf.raw_ops has no op {name!r}{hint}")

        spelt = SPELLINGS.get(name, {})

        def call(**arguments: Any) -> Any:
            return op(**{spelt.get(key, key): value for key, value in arguments.items()})

        call.__name__ = call.__qualname__ = name
        call.__doc__ = op.text
        setattr(self, name, call)
        return call

    def __dir__(self) -> list[str]:
        return registry.names()


raw_ops = _RawOps("ebbflow.raw_ops", __doc__)
