"""What goes between a coordinator and its workers: results that are not there yet, and values of each worker.

Knows nothing of how work is given out.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from ebbflow.cluster.calls import RemoteResource
from ebbflow.core import dtypes, errors, nest
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.tensor import EagerTensor
from ebbflow.core.typing import Nested
from ebbflow.data.iterator import IteratorSpec, OwnedIterator
from ebbflow.ops.state.storage import boxed


class ClosureInputError(errors.OpError, Exception):
    """A step could not run, because what it takes could not be made."""

    def __init__(self, original: BaseException):
        said = f"{type(original).__name__}, error message is {original}"
        super().__init__(None, None, f"Input has an error, the original exception is {said}", errors.UNKNOWN)
        self.original_exception = original


class ClosureAbortedError(errors.OpError, Exception):
    """A step was given up, because the one before it failed."""

    def __init__(self, original: BaseException):
        super().__init__(None, None, f"The step was given up: {original}", errors.ABORTED)
        self.original_exception = original


class _Thread(threading.local):
    depth = 0


_thread = _Thread()


@contextlib.contextmanager
def giving_out() -> Iterator[None]:
    """Say that a function is traced inside the block to be given to workers."""
    _thread.depth += 1
    try:
        yield
    finally:
        _thread.depth -= 1


def given_out() -> bool:
    """Return whether a function is being traced that is to be given to workers."""
    return _thread.depth > 0


class RemoteValue:
    """What a function that was given to a worker will have returned."""

    def __init__(self, type_spec: Nested = None):
        self._ready = threading.Event()
        self._type_spec = type_spec
        self._value: Any = None
        self._error: BaseException | None = None

    def fetch(self) -> Nested:
        """Wait for the result, and return it with arrays in place of tensors."""
        return nest.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, self.get())

    def get(self) -> Nested:
        """Wait for the result, and return it."""
        self._ready.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def _set_value(self, value: Any) -> None:
        self._value, self._error = value, None
        self._ready.set()

    def _set_error(self, error: BaseException) -> None:
        self._value, self._error = None, error
        self._ready.set()

    def _rebuild(self) -> None:
        """What was there is gone with its worker, and will be made again."""
        self._ready.clear()


class PerWorkerValues(CompositeTensor):
    """A value of each worker; a step takes that of the worker it runs on."""

    def __init__(self, values: Sequence[RemoteValue], spec: Nested):
        self._values, self._spec = tuple(values), spec

    @property
    def _type_spec(self) -> Any:
        return PerWorkerSpec(self._spec)

    def __repr__(self) -> str:
        return f"<PerWorkerValues of {len(self._values)} workers: {self._spec!r}>"


class PerWorkerSpec(TypeSpec):
    """The type of a value of each worker: that of one."""

    __slots__ = ("_value_spec",)

    def __init__(self, value_spec: Any):
        self._value_spec = value_spec

    @property
    def value_type(self) -> type:
        return PerWorkerValues

    @property
    def _component_specs(self) -> Any:
        return self._value_spec

    def _to_components(self, value: Any) -> Any:
        return value._values

    def _from_components(self, components: Any) -> Any:
        return components

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerWorkerSpec) and self._value_spec == other._value_spec

    def __hash__(self) -> int:
        return hash((PerWorkerSpec, self._value_spec))


class RemoteIterator(OwnedIterator):
    """An iterator that a worker keeps: functions that run there take elements from it."""

    def __init__(self, resource: RemoteResource, element_spec: Any):
        self._spec, self._resource = element_spec, EagerTensor(boxed(resource), dtypes.resource)

    @property
    def _iterator_resource(self) -> Any:
        return self._resource


class PerWorkerIterator(PerWorkerValues):
    """An iterator of each worker."""

    def __init__(self, values: Sequence[RemoteValue], element_spec: Any):
        super().__init__(values, IteratorSpec(element_spec))
        self.element_spec = element_spec

    def get_next(self, name: str | None = None) -> Any:
        """Refuse: elements are taken by functions that run on workers."""
        raise NotImplementedError(
            "The iterator of each worker gives its elements to functions: pass it to `ClusterCoordinator.schedule`"
        )

    __next__ = get_next

    def __iter__(self) -> Any:
        return self


class WorkersDataset:
    """A dataset of a strategy with workers: each of them has its own, once a coordinator has made it."""

    def __init__(self, dataset: Any):
        self._dataset = dataset

    @property
    def element_spec(self) -> Any:
        """The type of an element."""
        return self._dataset.element_spec

    @property
    def _variant_tensor(self) -> Any:
        return self._dataset._variant_tensor

    def __iter__(self) -> Any:
        raise ValueError(
            "A dataset of ParameterServerStrategy is not iterated over by the coordinator: make it with "
            "`ClusterCoordinator.create_per_worker_dataset`, and pass its iterator to `schedule`"
        )
