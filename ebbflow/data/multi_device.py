"""Iterators that give elements of one dataset to several devices in turn (`tensorflow.python.data.ops`).

Each device has an iterator over a dataset of its own, that asks the shared one for what is its turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import context, dtypes, errors
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.spec import TensorSpec
from ebbflow.core.typing import Effect, Nested
from ebbflow.data import multi_device_ops as ops
from ebbflow.data import sources, structure
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.iterator import IteratorSpec, OwnedIterator
from ebbflow.data.iterator_v1 import make_initializable_iterator
from ebbflow.data.optional import Optional
from ebbflow.data.traced import Traced
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.graph.scopes import device_scope, group


class _Dealing:
    """What iterators over several devices have in common: one iterator a device."""

    _devices: Sequence[Any]
    _iterators: Sequence[Any]
    _spec: Any

    @property
    def element_spec(self) -> Nested:
        """The type of an element, as a nested structure of specs."""
        return self._spec

    def get_next(self, device: str | None = None) -> Nested:
        """Return the next element of one device, or a list of one for each."""
        return self._asked(device, lambda iterator: iterator.get_next())

    def get_next_as_optional(self) -> list[Optional]:
        """Return a list of the next elements of all devices as optionals, which are empty behind the last."""
        return self._asked(None, lambda iterator: iterator.get_next_as_optional())

    def _asked(self, device: Any, ask: Any) -> Any:
        if device is not None:
            with device_scope(device):
                return ask(self._iterators[list(self._devices).index(device)])
        found = []
        for place, iterator in zip(self._devices, self._iterators, strict=True):
            with device_scope(place):
                found.append(ask(iterator))
        return found


def _dealt(dataset: Any, devices: Sequence[Any], buffer: Any, ahead: Any, source: Any) -> tuple[Any, list[Any]]:
    """Return the shared iterator, and for each device the dataset of what is its turn."""
    spec = dataset.element_spec
    attrs = {"devices": [str(device) for device in devices], **structure.types_and_shapes(spec)}
    with device_scope(source):
        if context.executing_eagerly() or isinstance(context.current_graph(), FuncGraph):
            shared = ops.AnonymousMultiDeviceIteratorV3(**attrs)
        else:
            shared = ops.MultiDeviceIterator(shared_name="", container="", **attrs)
        number = ops.MultiDeviceIteratorInit(dataset._variant_tensor, shared, buffer)
        turns = [_turns_of(shared, place, number, spec) for place in range(len(devices))]
    return shared, [turn.prefetch(ahead) if ahead else turn for turn in turns]


def _turns_of(shared: Any, place: int, number: Any, spec: Any) -> Any:
    """Return the dataset of the elements that are one device's turn."""
    attrs, outer, state = structure.types_and_shapes(spec), context.current_graph(), [(dtypes.int64, (), "number")]

    def go_on(number: Any) -> Any:
        return ops.MultiDeviceIteratorGetNextFromShard(shared, place, number, **attrs)

    bodies = [
        build("deal_init", lambda: number, outer),
        build("deal_next", go_on, outer, state),
        build("deal_end", lambda number: number, outer, state),
    ]
    functions = [Traced(body, None) for body in bodies]
    return DatasetV2._make(
        sources.GeneratorDataset, *[f.captured for f in functions], spec=spec, kind="_PerDeviceGenerator",
        init_func=bodies[0], next_func=bodies[1], finalize_func=bodies[2],
    )  # fmt: skip


class MultiDeviceIterator(_Dealing):
    """An iterator over several devices, in a graph (which has to run its `initializer`) or eagerly."""

    def __init__(
        self,
        dataset: DatasetV2,
        devices: Sequence[Any],
        max_buffer_size: int = 1,
        prefetch_buffer_size: int = 1,
        source_device: str = "/cpu:0",
    ):
        self._devices, self._spec = list(devices), dataset.element_spec
        _, turns = _dealt(dataset, self._devices, max_buffer_size, prefetch_buffer_size, source_device)
        if context.executing_eagerly():
            self._iterators = [OwnedIterator(turn) for turn in turns]
        else:
            self._iterators = [make_initializable_iterator(turn) for turn in turns]
        self._eager = context.executing_eagerly()

    @property
    def initializer(self) -> Effect:
        """The operation that starts over the dataset, for all devices."""
        return group(*[] if self._eager else [iterator.initializer for iterator in self._iterators])


class OwnedMultiDeviceIterator(_Dealing, CompositeTensor):
    """An iterator over several devices that lives as long as somebody has it."""

    def __init__(
        self,
        dataset: DatasetV2 | None = None,
        devices: Sequence[Any] | None = None,
        max_buffer_size: int = 1,
        prefetch_buffer_size: int = 1,
        source_device: str = "/cpu:0",
        components: Sequence[Any] | None = None,
        element_spec: Nested = None,
    ):

        if not context.executing_eagerly() and not isinstance(context.current_graph(), FuncGraph):
            raise RuntimeError(
                "OwnedMultiDeviceIterator is only supported inside of tf.function or when eager execution is enabled."
            )
        if devices is None:
            raise ValueError("`devices` must be provided.")
        self._devices, self._source = list(devices), source_device
        if dataset is None:
            if components is None or element_spec is None:
                raise ValueError(
                    "When `dataset` is not provided, both `components` and `element_spec` must be specified."
                )
            self._spec, (self._shared, *self._iterators) = element_spec, components
            return
        if components is not None or element_spec is not None:
            raise ValueError("When `dataset` is provided, `element_spec` and `components` must not be specified.")
        self._spec = dataset.element_spec
        self._shared, turns = _dealt(dataset, self._devices, max_buffer_size, prefetch_buffer_size, source_device)
        self._iterators = [OwnedIterator(turn) for turn in turns]

    def __iter__(self) -> OwnedMultiDeviceIterator:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    next = __next__

    @property
    def _type_spec(self) -> MultiDeviceIteratorSpec:
        return MultiDeviceIteratorSpec(self._devices, self._source, self._spec)


class MultiDeviceIteratorSpec(TypeSpec):
    """The type of an iterator over several devices."""

    __slots__ = ("_devices", "_element_spec", "_source_device")

    def __init__(self, devices: Sequence[Any], source_device: str, element_spec: Nested):
        self._devices, self._source_device, self._element_spec = list(devices), source_device, element_spec

    @classmethod
    def from_value(cls, value: Any) -> MultiDeviceIteratorSpec:
        """Return the type of an iterator."""
        return value._type_spec

    @property
    def value_type(self) -> type:
        return OwnedMultiDeviceIterator

    def _serialize(self) -> tuple[Any, ...]:
        return tuple(self._devices), self._source_device, self._element_spec

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], dtypes.resource), *[IteratorSpec(self._element_spec) for _ in self._devices]]

    def _to_components(self, value: Any) -> list[Any]:
        return [value._shared, *value._iterators]

    def _from_components(self, components: Any) -> Any:
        return OwnedMultiDeviceIterator(
            None, self._devices, source_device=self._source_device, components=components,
            element_spec=self._element_spec,
        )  # fmt: skip
