"""The value behind a TensorFlow 1 array of tensors: written once, read once, unless it says otherwise.

An array lives for one run of a graph. The array of its gradients (one for each gradient computation, told apart by a
name) has as many elements, and writing to one of them adds. Knows arrays and errors, and nothing of ops.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ebbflow.core import errors
from ebbflow.core.dtypes import DType, c_name
from ebbflow.core.shape import Dims, is_compatible, is_static, merge_dims
from ebbflow.ops.declare import show
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.list_value import zeros_of


class ArrayValue:
    """Tensors of one dtype by index."""

    def __init__(
        self,
        name: str,
        dtype: DType,
        size: int,
        element_dims: Dims = None,
        dynamic_size: bool = False,
        clear_after_read: bool = True,
        identical_shapes: bool = False,
        adds: bool = False,
    ):
        if size < 0:
            raise invalid("Size should be >= 0.")
        self.name, self.dtype, self.element_dims = name, dtype, element_dims
        self.dynamic_size, self.clear_after_read, self.identical_shapes = (
            dynamic_size,
            clear_after_read,
            identical_shapes,
        )
        self._adds = adds
        self._size = size
        self._items: dict[int, np.ndarray] = {}
        self._shapes: dict[int, tuple[int, ...]] = {}  # of what was written, even if it is gone
        self._read: set[int] = set()
        self._cleared: set[int] = set()
        self._gradients: dict[str, ArrayValue] = {}
        self._closed = False

    @property
    def size(self) -> int:
        """The number of elements."""
        self._check_open()
        return self._size

    def _check_open(self) -> None:
        if self._closed:
            raise invalid(f"TensorArray {self.name} has already been closed.")

    def close(self) -> None:
        """Let go of everything."""
        self._items.clear()
        self._closed = True

    def gradient(self, source: str, lead: Sequence[int] = ()) -> ArrayValue:
        """Return the array of gradients that goes by this name; `lead` are axes that its elements have in front."""
        self._check_open()
        found = self._gradients.get(source)
        if found is None:
            dims = None if self.element_dims is None else (*lead, *self.element_dims)
            found = ArrayValue(f"{self.name}@{source}", self.dtype, self._size, dims, clear_after_read=False, adds=True)
            found._shapes = {i: (*lead, *shape) for i, shape in self._shapes.items()}
            self._gradients[source] = found
        return found

    # --- writing ------------------------------------------------------------------------------------------------------

    def write(self, index: int, value: np.ndarray, dtype: DType) -> None:
        """Put a tensor at an index."""
        self._check_open()
        if dtype is not self.dtype:
            raise invalid(f"TensorArray dtype is {c_name(self.dtype)} but Op is trying to write dtype {c_name(dtype)}.")
        if index < 0 or (index >= self._size and not self.dynamic_size):
            raise invalid(
                f"TensorArray {self.name}: Tried to write to index {index} but array is not resizeable and size is: "
                f"{self._size}"
            )
        self._size = max(self._size, index + 1)
        self._check_shape(index, value.shape)
        if index in self._items or index in self._cleared:
            if not self._adds:
                self._refuse_second(index)
            value = self._sum(index, value)
        self._items[index] = value
        self._shapes[index] = value.shape

    def _check_shape(self, index: int, shape: tuple[int, ...]) -> None:
        if not is_compatible(self.element_dims, shape):
            raise self._cannot_write(
                index,
                f"the value shape is {show(shape)} which is incompatible with the TensorArray's inferred element "
                f"shape: {show(self.element_dims)} (consider setting infer_shape=False).",
            )
        if self.identical_shapes:
            self.element_dims = merge_dims(self.element_dims, shape)

    def _refuse_second(self, index: int) -> None:
        if index in self._read:
            raise self._cannot_write(index, "it has already been read.")
        raise self._cannot_write(index, "it has already been written to.")

    def _cannot_write(self, index: int, why: str) -> errors.OpError:
        return invalid(f"TensorArray {self.name}: Could not write to TensorArray index {index} because {why}")

    def _sum(self, index: int, value: np.ndarray) -> np.ndarray:
        mine = self._items[index]
        if mine.shape != value.shape:
            raise invalid(
                f"TensorArray {self.name}: Could not aggregate to TensorArray index {index} because the existing shape "
                f"is {show(mine.shape)} but the new input shape is {show(value.shape)}."
            )
        return mine + value

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(self, index: int, dtype: DType) -> np.ndarray:
        """Return the tensor at an index; of one that was never written, zeros."""
        self._check_open()
        if dtype is not self.dtype:
            raise invalid(f"TensorArray dtype is {c_name(self.dtype)} but Op requested dtype {c_name(dtype)}.")
        if not 0 <= index < self._size:
            raise invalid(f"Tried to read from index {index} but array size is: {self._size}")
        if index in self._cleared:
            raise invalid(
                f"TensorArray {self.name}: Could not read index {index} twice because it was cleared after a previous "
                "read (perhaps try setting clear_after_read = false?)."
            )
        value = self._items.get(index)
        if value is None:
            value = self._zeros(index)
        self._read.add(index)
        if self.clear_after_read:
            self._items.pop(index, None)
            self._cleared.add(index)
        return value

    def _zeros(self, index: int) -> np.ndarray:
        dims = self._shapes.get(index, self.element_dims)
        if not is_static(dims):
            raise invalid(
                f"TensorArray {self.name}: Could not read from TensorArray index {index}.  Furthermore, the element "
                f"shape is not fully defined: {show(self.element_dims)}.  It is possible you are working with a "
                "resizeable TensorArray and stop_gradients is not allowing the gradients to be written.  If you set "
                "the full element_shape property on the forward TensorArray, the proper all-zeros tensor will be "
                "returned instead of incurring this error."
            )
        return zeros_of(dims, self.dtype)

    def __repr__(self) -> str:
        return f"<array of {self._size} {self.dtype.name}>"
