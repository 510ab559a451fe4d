"""Variables of the coordinator that a task of the cluster keeps.

To a program they are eager variables: read, assigned and captured by functions like any other. Their storage is at the
task, and every op on them is run there. A variable that nobody has any more is forgotten at its task, too.
"""

from __future__ import annotations

import contextlib
import threading
import uuid
import weakref
from typing import Any

from ebbflow.cluster.remote_storage import Home, RemoteStorage
from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, instant
from ebbflow.core.shape import dims_str, is_compatible
from ebbflow.core.tensor import EagerTensor
from ebbflow.ops.declare import raw
from ebbflow.state.base import Initial
from ebbflow.state.resource import ResourceVariable


class RemoteVariable(ResourceVariable):
    """A variable that a task keeps."""

    def __init__(self, home: Home, **given: Any):
        self._home = home
        super().__init__(**given)

    def _make_eagerly(self, initial: Initial, name: str | None) -> None:
        super()._make_eagerly(initial, name)
        value = EagerTensor(self._storage.read(), self._dtype)
        shared = f"{self._name}.{uuid.uuid4().hex}"
        self._storage = RemoteStorage(self._home, shared, self._dtype, self._dims)
        self._storage.owner = weakref.ref(self)
        self._handle = EagerTensor(self._storage.handle(), dtypes.resource)
        self._handle._device = self._home.device
        raw.AssignVariableOp(self._handle, value)
        weakref.finalize(self, _forget, self._handle).atexit = False

    @property
    def device(self) -> str:
        return self._home.device

    def value(self) -> Any:
        """Return the value now, as a tensor."""
        return self._read_now()

    def read_value(self) -> Any:
        """Return the value now, as a tensor of its own."""
        return raw.Identity(self._read_now()) if context.current_graph() is not None else self._read_now()

    def assign(
        self, value: Any, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Set the value; return the variable."""
        tensor = convert(value, self._dtype)
        if not is_compatible(self._dims, tensor._dims):
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape "
                f"{dims_str(self._dims)}, and the assigned value shape {dims_str(tensor._dims)} are incompatible."
            )
        return self._changed(raw.AssignVariableOp(self._handle, tensor, name=name), read_value)

    def _update(self, function: Any, op: Any, delta: Any, name: str | None, read_value: bool) -> Any:
        return self._changed(op(self._handle, convert(delta, self._dtype), name=name), read_value)

    def _strided_slice_assign(self, ends: Any, masks: Any, value: Any, name: str | None, read_value: bool) -> Any:
        value = convert(value, self._dtype)
        return self._changed(raw.ResourceStridedSliceAssign(self._handle, *ends, value, name=name, **masks), read_value)

    def _changed(self, operation: Any, read_value: bool = True) -> Any:
        if operation is None:
            return self if read_value else None
        return super()._changed(operation, read_value)

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={dims_str(self._dims)} dtype={self._dtype.name} at {self.device}>"

    __str__ = __repr__


instant[RemoteVariable] = lambda variable: variable.value()


def _forget(handle: EagerTensor) -> None:
    """Have the task forget a variable; not in the thread that found it unused, which may hold any lock."""

    def tell() -> None:
        with contextlib.suppress(errors.OpError, RuntimeError):  # a task that is gone keeps nothing
            raw.DestroyResourceOp(handle)

    threading.Thread(target=tell, daemon=True).start()
