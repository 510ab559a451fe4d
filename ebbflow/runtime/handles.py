"""Values that stay in a session between runs: `tf.get_session_handle` and its kin.

Running the handle of a tensor keeps its value in the session and gives a `TensorHandle`; fed to any tensor of that
session's graph, the handle stands for the value. The value goes when its handle does, unless the program has asked for
the handle's raw name and so taken the matter into its own hands.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.dtypes import DType
from ebbflow.core.op import op
from ebbflow.core.tensor import HOST_DEVICE, Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.graph.placeholders import placeholder
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.declare import FLAT, scalar, unknown
from ebbflow.ops.state.variable_ops import find_or_make

GetSessionHandle = op(
    "GetSessionHandle(value:T) -> (handle:string) | T: type | stateful", shape=scalar, gradient=FLAT, facts="keeps"
)
GetSessionHandleV2 = op(
    "GetSessionHandleV2(value:T) -> (handle:resource) | T: type | stateful", shape=scalar, gradient=FLAT, facts="keeps"
)
GetSessionTensor = op(
    "GetSessionTensor(handle:string) -> (value:dtype) | dtype: type | stateful", shape=unknown, gradient=FLAT
)
DeleteSessionTensor = op("DeleteSessionTensor(handle:string) -> () | stateful", shape=lambda handle: [], gradient=FLAT)

STORE = (None, "values kept by handles")
"""Where a session keeps them among its resources: a dictionary by handle."""

_numbers = itertools.count()


class TensorHandle:
    """A value that is kept in a session."""

    def __init__(self, handle: str, dtype: DType, session: Any):
        self._handle = handle
        self._dtype = dtype
        self._session = session
        self._auto_gc_enabled = True

    @property
    def handle(self) -> str:
        """The name of the value in its session."""
        return self._handle

    @property
    def dtype(self) -> DType:
        """The dtype of the value."""
        return self._dtype

    def __str__(self) -> str:
        return self._handle

    def eval(self) -> Any:
        """Return the value."""
        self._check()
        value = kept(self._session.resources, self._handle)
        return value.copy() if value.ndim else value[()]

    def delete(self) -> None:
        """Forget the value."""
        self._check()
        self._auto_gc_enabled = False
        forget(self._session.resources, self._handle)

    def get_raw_handle(self) -> str:
        """Return the name of the value, which stays from now on until it is deleted by `tf.delete_session_tensor`."""
        self._auto_gc_enabled = False
        return self._handle

    def _check(self) -> None:
        if not self._auto_gc_enabled:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return the value, or its name where a string is asked for: what is fed for it then."""
        if dtype is not None and np.dtype(dtype).kind == "O" and self._dtype is not dtypes.string:
            return np.array(self._handle, object)
        return np.array(kept(self._session.resources, self._handle), dtype)

    def __del__(self) -> None:
        if getattr(self, "_auto_gc_enabled", False):
            self._session.resources.get(STORE, {}).pop(self._handle, None)


def kept(resources: dict[Any, Any], handle: str) -> np.ndarray:
    """Return the value that is kept under a handle."""
    found = resources.get(STORE, {}).get(handle)
    if found is None:
        raise errors.InvalidArgumentError(None, None, f"The tensor with handle '{handle}' is not in the session store.")
    return found


def forget(resources: dict[Any, Any], handle: str) -> None:
    """Forget the value that is kept under a handle."""
    if resources.get(STORE, {}).pop(handle, None) is None:
        raise errors.InvalidArgumentError(
            None, None, f"Failed to delete a tensor with handle '{handle}' in the session store."
        )


@GetSessionHandleV2.kernel
@GetSessionHandle.kernel
def _(xp, value, *, T, run):
    if run.node is None:
        raise errors.FailedPreconditionError(None, None, "a session handle needs a session: eager tensors stay anyway")
    handle = f"{run.node.name};{next(_numbers)};{run.node.device or HOST_DEVICE}"
    find_or_make(STORE, run, dict)[handle] = value
    box = np.empty((), object)
    box[()] = TensorHandle(handle, T, run.session)
    return box


def _name(handle: np.ndarray) -> str:
    given = handle[()]
    return given.decode() if isinstance(given, bytes) else str(given)


@GetSessionTensor.kernel
def _(xp, handle, *, dtype, run):
    value = kept(run.resources, _name(handle))
    if value.dtype != dtype.np:
        found = dtypes.from_numpy(value.dtype).name if value.dtype != object else "string"
        raise errors.InternalError(
            None, None, f"Output 0 of type {found} does not match declared output type {dtype.name}"
        )
    return value


@DeleteSessionTensor.kernel
def _(xp, handle, *, run):
    forget(run.resources, _name(handle))
    return ()


def get_session_handle(data: TensorLike, name: str | None = None) -> Tensor:
    """Return the handle of `data`: running it keeps the value in the session and gives a `TensorHandle`."""
    if type(data) is not SymbolicTensor:
        raise TypeError("`data` must be of type Tensor.")
    with data.graph.colocate_with(data):
        return GetSessionHandle(data, name=name)


def get_session_tensor(handle: TensorLike, dtype: DTypeLike, name: str | None = None) -> tuple[Any, Any]:
    """Return a placeholder for the name of a kept value, and the tensor that has the value."""
    with context.default_graph().device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, GetSessionTensor(holder, dtype=dtype, name=name)


def delete_session_tensor(handle: TensorLike, name: str | None = None) -> tuple[Any, Any]:
    """Return a placeholder for the name of a kept value, and the operation that forgets it."""
    with context.default_graph().device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, DeleteSessionTensor(holder, name=name)


def _device_of(handle: Any) -> str | None:
    """Return the device that the name of a value ends with."""
    parts = (handle.decode() if isinstance(handle, bytes) else str(handle)).split(";")
    return parts[-1] if len(parts) == 3 else None
