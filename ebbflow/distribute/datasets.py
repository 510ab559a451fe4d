"""Datasets of a strategy: what a function that makes one is told, and datasets of elements for several replicas."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ebbflow.core import context, dtypes, nest
from ebbflow.core.composite import BatchableTypeSpec, CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested
from ebbflow.distribute.values import PerReplica, PerReplicaSpec
from ebbflow.functions.autograph.iteration import Drawn, register
from ebbflow.functions.control_flow.cond import cond
from ebbflow.ops.declare import raw

if TYPE_CHECKING:
    from ebbflow.data.dataset import DatasetV2


class InputReplicationMode(enum.Enum):
    """How often a strategy calls a function that makes a dataset."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputContext:
    """What a function that makes a dataset is told of the strategy."""

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        return self._num_replicas_in_sync

    @property
    def input_pipeline_id(self) -> int:
        return self._input_pipeline_id

    @property
    def num_input_pipelines(self) -> int:
        return self._num_input_pipelines

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return a replica's share of a batch; ValueError if it does not come out even."""
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                f"{self._num_replicas_in_sync} "
            )
        return global_batch_size // self._num_replicas_in_sync

    def __repr__(self) -> str:
        pipeline = f"input pipeline id {self._input_pipeline_id}, total: {self._num_input_pipelines}"
        return f"tf.distribute.InputContext({pipeline})"


class InputOptions:
    """How a dataset goes to the replicas."""

    def __init__(
        self,
        experimental_fetch_to_device: bool | None = None,
        experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
        experimental_place_dataset_on_device: bool = False,
        experimental_per_replica_buffer_size: int = 1,
    ):
        if experimental_place_dataset_on_device and experimental_fetch_to_device is None:
            experimental_fetch_to_device = False
        self.experimental_fetch_to_device = (
            True if experimental_fetch_to_device is None else experimental_fetch_to_device
        )
        self.experimental_replication_mode = experimental_replication_mode
        self.experimental_place_dataset_on_device = experimental_place_dataset_on_device
        self.experimental_per_replica_buffer_size = experimental_per_replica_buffer_size


class Dealing(NamedTuple):
    """How an element goes to replicas: each tensor cut into one part for each of them, or one whole tensor each."""

    replicas: int
    whole: bool = False

    @property
    def draws(self) -> int:
        """How many elements go to the replicas at once."""
        return 1

    def drawn(self, elements: Sequence[Any]) -> Any:
        """Return one element, drawn from an iterator, as values for each replica."""
        return self.deal(elements[0])

    def deal(self, element: Any) -> Any:
        """Return an element as values for each replica."""
        return nest.map_structure(self._deal_tensor, element)

    def _deal_tensor(self, tensor: Any) -> PerReplica:
        if isinstance(tensor, CompositeTensor) and isinstance(tensor._type_spec, BatchableTypeSpec):
            return self._deal_composite(tensor)
        return PerReplica(self._parts(convert(tensor)))

    def _deal_composite(self, value: Any) -> PerReplica:
        """Return the rows of a value that is made of tensors, dealt as the rows of each tensor that stands for it."""
        spec = value._type_spec
        row = spec._unbatch()
        part = row if self.whole else row._batch(None)
        dealt = [self._parts(tensor) for tensor in spec._to_batched_tensor_list(value)]
        return PerReplica([part._from_compatible_tensor_list(list(tensors)) for tensors in zip(*dealt, strict=True)])

    def _parts(self, tensor: Any) -> list[Any]:
        if self.whole:
            return [tensor[i] for i in range(self.replicas)]
        rows = raw.Shape(tensor)[0]
        most = (rows + self.replicas - 1) // self.replicas  # in all but the last that have any
        return [tensor[most * i : most * (i + 1)] for i in range(self.replicas)]

    def spec(self, element_spec: Any) -> Any:
        """Return the type of such a value."""
        return nest.map_structure(self._spec_of_tensor, element_spec)

    def _spec_of_tensor(self, spec: Any) -> PerReplicaSpec:
        if isinstance(spec, BatchableTypeSpec) and not isinstance(spec, TensorSpec):
            row = spec._unbatch()
            return PerReplicaSpec(*[spec if self.whole else row._batch(None)] * self.replicas)  # type: ignore[attr-defined]
        rows = spec.shape[0] if not self.whole and spec.shape.rank else None
        rows = rows // self.replicas if rows is not None and rows % self.replicas == 0 else None
        part = spec if self.whole else TensorSpec([rows, *spec.shape[1:]], spec.dtype)
        return PerReplicaSpec(*[part] * self.replicas)


class Turns(NamedTuple):
    """How elements go to replicas that have one each, in turn. Those that the last turn lacks are empty batches."""

    replicas: int

    @property
    def draws(self) -> int:
        """How many elements go to the replicas at once."""
        return self.replicas

    def drawn(self, elements: Sequence[Any]) -> Any:
        """Return as many elements as there are replicas as values for each of them."""
        return nest.map_structure(lambda *parts: PerReplica(parts), *elements)

    def spec(self, element_spec: Any) -> Any:
        """Return the type of such a value."""
        return nest.map_structure(lambda spec: PerReplicaSpec(*[spec] * self.replicas), element_spec)


def _nothing(element_spec: Any) -> Any:
    """Return an empty batch of a type; None where batches of the type have one size, so that there are no smaller."""
    leaves = nest.flatten(element_spec)
    if not all(isinstance(spec, TensorSpec) and spec.shape.rank and spec.shape[0] is None for spec in leaves):
        return None
    return nest.map_structure(lambda spec: raw.Fill([n or 0 for n in spec.shape], _zero(spec)), element_spec)


def _zero(spec: TensorSpec) -> Any:
    return convert("" if spec.dtype == dtypes.string else np.zeros([], spec.dtype.np), spec.dtype)


class DistributedIterator(CompositeTensor):
    """Goes over the elements of a dataset of several replicas."""

    def __init__(self, iterator: Any, how: Dealing | Turns):
        self._iterator, self._how = iterator, how

    @property
    def element_spec(self) -> Nested:
        """The type of an element: a value for each replica."""
        return self._how.spec(self._iterator.element_spec)

    @property
    def _type_spec(self) -> DistributedIteratorSpec:
        return DistributedIteratorSpec(self._iterator._type_spec, self._how)

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        return self._how.drawn([next(self._iterator), *self._others()])

    def get_next(self) -> Nested:
        """Return the next element, one value for each replica; behind the last, `tf.errors.OutOfRangeError`."""
        return self._how.drawn([self._iterator.get_next(), *self._others()])

    def _others(self) -> list[Any]:
        """Return the elements of the replicas behind the first."""
        lacking = self._how.draws > 1 and _nothing(self._iterator.element_spec) is not None
        draw = (lambda: _value_or_nothing(self._iterator.get_next_as_optional())) if lacking else self._drawn_next
        return [draw() for _ in range(self._how.draws - 1)]

    def _drawn_next(self) -> Any:
        return next(self._iterator) if context.executing_eagerly() else self._iterator.get_next()

    def get_next_as_optional(self) -> Nested:
        """Return the next element as an optional, which is empty behind the last."""
        drawn = [self._iterator.get_next_as_optional() for _ in range(self._how.draws)]
        return DistributedOptional(drawn, self._how)


def _value_or_nothing(optional: Any) -> Any:
    """Return the value of an optional; without one an empty batch, if there are such."""
    nothing = _nothing(optional.element_spec)
    if nothing is None:
        return optional.get_value()
    return cond(optional.has_value(), optional.get_value, lambda: nothing)


class DistributedIteratorSpec(TypeSpec):
    """The type of such an iterator."""

    __slots__ = ("_how", "_inner")

    def __init__(self, inner: TypeSpec, how: Dealing | Turns):
        self._inner, self._how = inner, how

    @property
    def value_type(self) -> type:
        return DistributedIterator

    @property
    def _component_specs(self) -> Any:
        return self._inner._component_specs

    def _to_components(self, value: Any) -> Any:
        return self._inner._to_components(value._iterator)

    def _from_components(self, components: Any) -> DistributedIterator:
        return DistributedIterator(self._inner._from_components(components), self._how)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DistributedIteratorSpec) and (self._inner, self._how) == (other._inner, other._how)

    def __hash__(self) -> int:
        return hash((self._inner, self._how))


class DistributedOptional(CompositeTensor):
    """An element for several replicas, or none."""

    def __init__(self, optionals: Sequence[Any], how: Dealing | Turns):
        self._optionals, self._how = list(optionals), how

    @property
    def element_spec(self) -> Any:
        return self._how.spec(self._optionals[0].element_spec)

    @property
    def _type_spec(self) -> DistributedOptionalSpec:
        return DistributedOptionalSpec(self._optionals[0]._type_spec, self._how)

    def has_value(self, name: str | None = None) -> Any:
        """Return whether there is an element."""
        fits = self._optionals if _nothing(self._optionals[0].element_spec) is None else self._optionals[:1]
        found = fits[0].has_value(name)
        for other in fits[1:]:
            found = raw.LogicalAnd(found, other.has_value())
        return found

    def get_value(self, name: str | None = None) -> Any:
        """Return the element, a value for each replica."""
        first, *others = self._optionals
        return self._how.drawn([first.get_value(name), *map(_value_or_nothing, others)])


class DistributedOptionalSpec(DistributedIteratorSpec):
    """The type of such an optional."""

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return DistributedOptional

    @property
    def _component_specs(self) -> Any:
        return [self._inner._component_specs] * self._how.draws

    def _to_components(self, value: Any) -> Any:
        return [self._inner._to_components(optional) for optional in value._optionals]

    def _from_components(self, components: Any) -> Any:
        return DistributedOptional([self._inner._from_components(one) for one in components], self._how)


class DistributedDataset:
    """A dataset whose batches are divided among replicas."""

    def __init__(self, dataset: DatasetV2, replicas: int):
        self._dataset = self._batches = dataset  # in TF 1 iterators go over these, dealt so
        self._how: Dealing | Turns = Dealing(replicas)
        self._dealing = Dealing(replicas)

    @property
    def element_spec(self) -> Nested:
        return self._how.spec(self._dataset.element_spec)

    @property
    def cardinality(self) -> Tensor:
        return self._dataset.cardinality()

    def __iter__(self) -> Iterator[Any]:
        return DistributedIterator(iter(self._dataset), self._how)


class DistributedDatasetsFromFunction(DistributedDataset):
    """A dataset that a function made of batches for one replica each; the replicas get one in turn."""

    def __init__(self, dataset: Any, replicas: int):
        super().__init__(dataset, replicas)
        self._batches = dataset.batch(replicas, drop_remainder=True)
        self._how, self._dealing = Turns(replicas), Dealing(replicas, whole=True)


register(DistributedDataset, lambda dataset: Drawn(iter(dataset)))
register(DistributedIterator, Drawn)


class InputIterator:
    """TF 1's iterator of a strategy: goes over a dataset, for one replica or several, and over it again each time it is
    initialized.
    """

    def __init__(self, dataset: Any):
        divided = isinstance(dataset, DistributedDataset)
        self._batches: Any = dataset._batches if divided else dataset
        self._how: Dealing | None = dataset._dealing if divided else None
        self._iterator: Any = None
        self.initialize()

    def get_next(self) -> Nested:
        """Return the next element, as a value for each replica where there are several."""
        element = self._iterator.get_next()
        return element if self._how is None else self._how.deal(element)

    @property
    def element_spec(self) -> Nested:
        """The types of an element, for each replica where there are several."""
        spec = self._batches.element_spec
        return spec if self._how is None else self._how.spec(spec)

    @property
    def initializer(self) -> Any:
        """The operation that begins anew."""
        return self.initialize()

    def initialize(self) -> Any:
        """Begin anew; in a graph, return the operation that does."""
        if context.executing_eagerly():
            self._iterator = iter(self._batches)
            return []
        if self._iterator is None:
            from ebbflow.data.iterator_v1 import make_initializable_iterator  # a large room, loaded with a dataset

            self._iterator = make_initializable_iterator(self._batches)
        return self._iterator.initializer
