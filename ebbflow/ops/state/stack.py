"""Stacks of tensors as resources: what TensorFlow 1's loops keep for their gradients.

A stack lives for one run of a graph: whoever runs the op that makes it gets a new, empty one. Pushing gives the pushed
tensor back. Graphs made here use lists of tensors instead; these ops are for graphs that come from elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.dtypes import DType
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, unknown
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed, held


class Stack:
    """Tensors of one dtype, last in first out; at most `limit` of them (-1: as many as there is room for)."""

    def __init__(self, name: str, dtype: DType, limit: int = -1):
        self.name, self.dtype, self.limit = name, dtype, limit
        self._items: list[np.ndarray] = []
        self._closed = False

    def push(self, item: np.ndarray) -> None:
        """Put a tensor on top."""
        self._check_open()
        if 0 <= self.limit <= len(self._items):
            raise invalid(f"Stack[{self.name}] overflowed its max_size ({self.limit})")
        self._items.append(item)

    def pop(self) -> np.ndarray:
        """Take the tensor on top away."""
        self._check_open()
        if not self._items:
            raise invalid(f"Stack[{self.name}] is empty when calling Pop().")
        return self._items.pop()

    def close(self) -> None:
        """Let go of all tensors; nothing can be pushed any more."""
        self._items.clear()
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise errors.InvalidArgumentError(None, None, f"Stack[{self.name}] has already been closed.")


def _made(elem_type: Any, stack_name: str, run: Any, limit: int = -1) -> np.ndarray:
    return boxed(Stack(stack_name or (run.node.name if run.node is not None else "stack"), elem_type, limit))


def _stack(handle: np.ndarray) -> Stack:
    found = held(handle)
    if not isinstance(found, Stack):
        raise invalid(f"the handle is not of a stack, but of {type(found).__name__}")
    return found


def _push(xp: Any, handle: Any, elem: Any, *, T: Any) -> Any:
    stack = _stack(handle)
    if stack.dtype is not T:
        raise invalid(f"Must have type {stack.dtype.name} but got {T.name}")
    stack.push(elem)
    return elem


def _pop(xp: Any, handle: Any, *, elem_type: Any) -> Any:
    return _stack(handle).pop()


def _close(xp: Any, handle: Any) -> tuple[()]:
    _stack(handle).close()
    return ()


StackV2 = op(
    'StackV2(max_size:int32) -> (handle:resource) | elem_type: type; stack_name: string = "" | stateful',
    shape=lambda max_size: (2,),
    kernel=lambda xp, max_size, *, elem_type, stack_name, run: _made(elem_type, stack_name, run, int(max_size)),
    gradient=FLAT,
)
Stack_ = op(
    'Stack() -> (handle:Ref(string)) | elem_type: type; stack_name: string = "" | stateful',
    shape=lambda: (2,),
    kernel=lambda xp, *, elem_type, stack_name, run: _made(elem_type, stack_name, run),
    gradient=FLAT,
)
StackPushV2 = op(
    "StackPushV2(handle:resource, elem:T) -> (output:T) | T: type; swap_memory: bool = false | stateful",
    shape=lambda handle, elem: elem.dims,
    kernel=_push,
    gradient=FLAT,
)
StackPush = op(
    "StackPush(handle:Ref(string), elem:T) -> (output:T) | T: type; swap_memory: bool = false",
    shape=lambda handle, elem: elem.dims,
    kernel=_push,
    gradient=FLAT,
)
StackPopV2 = op(
    "StackPopV2(handle:resource) -> (elem:elem_type) | elem_type: type | stateful",
    shape=unknown,
    kernel=_pop,
    gradient=FLAT,
)
StackPop = op(
    "StackPop(handle:Ref(string)) -> (elem:elem_type) | elem_type: type", shape=unknown, kernel=_pop, gradient=FLAT
)
StackCloseV2 = op(
    "StackCloseV2(handle:resource) -> () | stateful", shape=lambda handle: [], kernel=_close, gradient=FLAT
)
StackClose = op("StackClose(handle:Ref(string)) -> ()", shape=lambda handle: [], kernel=_close, gradient=FLAT)
