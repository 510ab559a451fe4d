"""Where a variable's value lives.

A `Storage` holds one array. Reading gives that very array: tensors do not change, so no copy is needed. An update
writes into it when nobody else holds it, and otherwise into a copy: whoever read before keeps what was read. Shared by
both kinds of variable ops (references and resources), by eager variables and by sessions. Knows arrays and nothing of
variables, graphs or sessions. A handle is a scalar object array around a storage.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import errors, forks, memory
from ebbflow.core.dtypes import DType
from ebbflow.core.elsewhere import RunElsewhere, array_kinds
from ebbflow.core.shape import Dims, dims_str, is_compatible
from ebbflow.ops.declare import show


class Storage:
    """The value of one variable, or the lack of one.

    `with storage:` lets no other thread update it. An array being written to is taken out of `value` meanwhile, so that
    a reader waits for the block to end instead of seeing half of an update; one who read before is seen by the count of
    references.
    """

    __slots__ = (
        "__weakref__", "_being_written", "_depth", "_mutex", "dims", "dtype", "is_resource", "name", "owner", "value",
    )  # fmt: skip

    HANDLE_TYPE = "tensorflow::Var"  # how a handle of it is shown
    is_elsewhere = False  # the value is kept by another process

    def __init__(self, name: str, dtype: DType, dims: Dims, is_resource: bool = True):
        self.name = name
        self.dtype = dtype
        self.dims = dims
        self.is_resource = is_resource
        self.owner: Any = None  # a weak reference to the variable, where there is one: functions ask for it
        self.value: np.ndarray | None = None
        self._being_written: np.ndarray | None = None
        self._mutex = forks.rlock()
        self._depth = 0

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(self) -> np.ndarray:
        """Return the value; the array must not be written to."""
        value = self.value
        return value if value is not None else self._awaited(True)  # type: ignore[return-value]

    def is_set(self) -> bool:
        """Return whether there is a value."""
        return self.value is not None or self._awaited(False) is not None

    def present(self) -> np.ndarray:
        """Return the value as `read` does, for ops that do more than reading: a resource they miss is "not found"."""
        value = self.value if self.value is not None else self._awaited(False)
        if value is None:
            raise self.not_found()
        return value

    def _awaited(self, required: bool) -> np.ndarray | None:
        with self:
            value = self._being_written if self.value is None else self.value
        if value is None and required:
            raise self.uninitialised()
        return value

    def uninitialised(self) -> errors.OpError:
        """Return the error for reading a variable that was never written."""
        if not self.is_resource:
            return errors.FailedPreconditionError(None, None, f"Attempting to use uninitialized value {self.name}")
        return errors.FailedPreconditionError(
            None,
            None,
            f"Error while reading resource variable {self.name} from Container: localhost. Could not find variable "
            f"{self.name}. This could mean that the variable was uninitialized, or has been deleted.",
        )

    def not_found(self) -> errors.OpError:
        """Return the error for changing a variable that was never written."""
        if not self.is_resource:
            return self.uninitialised()
        return errors.NotFoundError(
            None,
            None,
            f"Could not find variable {self.name} (resource: localhost/{self.name}). "
            "This could mean that the variable was uninitialized, or has been deleted.",
        )

    # --- writing ------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Storage:
        self._mutex.acquire()
        self._depth += 1
        return self

    def __exit__(self, *exc: Any) -> None:
        self._depth -= 1
        if not self._depth and self._being_written is not None:
            self.value, self._being_written = self._being_written, None
        self._mutex.release()

    @property
    def lock(self) -> Storage:
        """What an update holds: `with storage.lock:` is `with storage:`."""
        return self

    def writable(self) -> np.ndarray:
        """Return the value as an array to be written to: its own when nobody else holds it, else a copy.

        To be called, and the array used, inside `with storage:`.
        """
        if self._being_written is None:
            if self.value is None:
                raise self.not_found()
            if self.value.__class__ in array_kinds:
                raise RunElsewhere(self.value.run_op, "spread over a mesh")  # type: ignore[attr-defined]
            self._being_written, self.value = self.value, None
            if not _alone(self):
                self._being_written = self._being_written.copy()
        return self._being_written

    def assign(self, array: np.ndarray, validate: bool = True) -> None:
        """Set the value to what `array` holds now: it is copied, so whoever has it may go on to change it."""
        self._check(array, validate)
        if array.__class__ in array_kinds:
            return self.take(array, validate)
        with self:
            if self.is_set() and self.read().shape == array.shape:
                np.copyto(self.writable(), array)
            else:
                self.value, self._being_written = memory.copied(array, self.dtype.np), None

    def take(self, array: np.ndarray, validate: bool = True) -> None:
        """Set the value to `array` itself, which nobody may change from now on (a tensor's value)."""
        self._check(array, validate)
        if array.__class__ not in array_kinds and not (memory.is_whole(array) and array.flags.c_contiguous):
            array = memory.copied(array)  # a part would keep the whole alive
        with self:
            self.value, self._being_written = array, None

    def _check(self, array: np.ndarray, validate: bool) -> None:
        if validate and not is_compatible(self.dims, array.shape):
            raise self.wrong_shape(array)

    def wrong_shape(self, array: np.ndarray) -> errors.OpError:
        """Return the error for assigning an array of another shape."""
        found = show(self.dims if self.value is None else self.value.shape)
        if self.is_resource:
            text = (
                f"Trying to assign to variable with tensor with wrong shape. Expected {found} got {show(array.shape)}"
            )
        else:
            text = f"Assign requires shapes of both tensors to match. lhs shape= {found} rhs shape= {show(array.shape)}"
        return errors.InvalidArgumentError(None, None, f"{text} (variable '{self.name}')")

    def update(self, function: Callable[..., Any], delta: np.ndarray) -> None:
        """Set the value to `function(value, delta)`, `function` being a ufunc."""
        with self:
            value = self.writable()
            if value.shape != delta.shape:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Cannot update variable with shape {show(value.shape)} using a Tensor with shape "
                    f"{show(delta.shape)}, shapes must be equal.",
                )
            function(value, delta, out=value)

    def clear(self) -> None:
        """Forget the value."""
        with self:
            self.value = self._being_written = None

    def handle(self) -> np.ndarray:
        """Return the scalar object array that stands for this storage as a tensor's value."""
        return boxed(self)

    def __repr__(self) -> str:
        return f"<Storage of {self.name!r}: {self.dtype.name} {dims_str(self.dims)}>"


ELSEWHERE = "@"
"""A container that begins so is one of another task: the rest is the task's address."""

made_elsewhere: list[Callable[[str, str, DType, Dims], Storage]] = []
"""What makes the storage that stands for a variable of another task, from its container, name, dtype and dims."""


def named_storage(container: str, name: str, dtype: DType, dims: Dims) -> Storage:
    """Return a new storage for a variable in a container, or what stands for one that another task keeps."""
    if not container.startswith(ELSEWHERE):
        return Storage(name, dtype, dims)
    if not made_elsewhere:
        raise errors.FailedPreconditionError(None, None, f"variable {name}: this process is in no cluster")
    return made_elsewhere[0](container, name, dtype, dims)


def boxed(resource: Any) -> np.ndarray:
    """Return the scalar object array that stands for a resource as a tensor's value."""
    box = np.empty((), object)
    box[()] = resource
    return box


def held(handle: np.ndarray) -> Any:
    """Return the storage (or other resource) that a handle stands for."""
    return handle.item()


# --- who holds an array -----------------------------------------------------------------------------------------------
#
# A view keeps a reference to the array it looks into, so the count of references sees views too. What the count is when
# nobody else holds the array depends on the interpreter (3.14 borrows where 3.11 counts), so it is measured, by the
# very function that is asked later. Without a global lock counts say nothing: then every update copies.


def _references(storage: Storage) -> int:
    array = storage._being_written
    return sys.getrefcount(array)


def _measured() -> int:
    if not hasattr(sys, "getrefcount") or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return 0
    storage: Any = Storage.__new__(Storage)
    storage._being_written = np.empty(1)
    return _references(storage)


_REFERENCES_ALONE = _measured()


def _holders(array: np.ndarray) -> int:
    """Return how many hold the memory behind an array: itself, and views of it."""
    return sys.getrefcount(array.base)


_HOLDERS_ALONE = _holders(memory.empty((memory.LARGE,), np.uint8)) if _REFERENCES_ALONE else 0


def _alone(storage: Storage) -> bool:
    """Return whether nobody but `storage` holds the array being written, and it may be written to."""
    if _references(storage) > _REFERENCES_ALONE:
        return False
    array: Any = storage._being_written
    flags = array.flags
    if flags.owndata or not flags.writeable:
        return flags.writeable
    return memory.is_whole(array) and _holders(array) <= _HOLDERS_ALONE


def is_reference(value: Any) -> bool:
    """Return whether a value is the storage of a reference variable, not a fed array."""
    return value.dtype == object and value.ndim == 0 and isinstance(value.item(), Storage)
