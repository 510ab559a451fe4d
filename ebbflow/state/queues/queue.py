"""Queues: `tf.queue.FIFOQueue` and its kin, in graphs and eagerly.

An object stands for one queue: it knows the dtypes, shapes and names of the components, and makes the ops that put and
take. The queue itself is a resource (`ops.queues`). Nodes are named as TensorFlow names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, as_shape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Effect, Nested, TensorLike
from ebbflow.ops.arrays.joining import stack
from ebbflow.ops.declare import raw
from ebbflow.ops.random.seeds import get_seed


class QueueBase:
    """What all queues can do."""

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: AnyTensor):
        self._dtypes, self._names, self._queue_ref = list(dtypes), names, queue_ref
        if shapes is not None:
            if len(shapes) != len(self._dtypes):
                raise ValueError(
                    f"Queue shapes must have the same length as dtypes, received len(shapes)={len(shapes)}, "
                    f"len(dtypes)={len(self._dtypes)}"
                )
            self._shapes = [as_shape(shape) for shape in shapes]
        else:
            self._shapes = [TensorShape(None) for _ in self._dtypes]
        self._eager = getattr(queue_ref, "_array", None) is not None
        self._name = "queue" if self._eager else queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: TensorLike, queues: Sequence[QueueBase]) -> QueueBase:
        """Return one queue that stands for the one of `queues` that `index`, a tensor, names at each run."""
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        for what, of in (("dtypes", lambda q: q.dtypes), ("names", lambda q: q.names)):
            if any(of(q) != of(first) for q in queues[1:]):
                raise TypeError(f"Queues do not have matching {what}.")
        shapes = [q.shapes for q in queues]
        common = [_common(column) for column in zip(*shapes, strict=True)]
        reference = raw.GatherV2(stack([q.queue_ref for q in queues]), index, 0)
        return QueueBase(first.dtypes, common, first.names, reference)

    @property
    def queue_ref(self) -> Tensor:
        """The tensor that stands for the queue: a handle."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the queue's node; of an eager queue, a plain word."""
        return self._name if self._eager else self._queue_ref.op.name

    @property
    def dtypes(self) -> list[DType]:
        """The dtype of each component."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shape of each component."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The name of each component, where they have names: rows are dictionaries then."""
        return self._names

    # --- putting -----------------------------------------------------------------------------------------------------

    def _components(self, vals: Any) -> list[Tensor]:
        """Return a row, or a batch, as one tensor for each component."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError(
                    f"Keys in dictionary to enqueue do not match names of Queue.  Dictionary: {sorted(vals, key=str)},"
                    f"Queue: {sorted(self._names, key=str)}"
                )
            vals = [vals[name] for name in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(vals, (list, tuple)):
            vals = [vals]
        if len(vals) != len(self._dtypes):
            raise ValueError(f"{self._name} has {len(self._dtypes)} components, got {len(vals)} values")
        pairs = zip(vals, self._dtypes, strict=True)
        return [convert(val, dtype, name=f"component_{i}") for i, (val, dtype) in enumerate(pairs)]

    def enqueue(self, vals: TensorLike, name: str | None = None) -> Effect:
        """Return the operation that puts one row into the queue, waiting while it is full."""
        with name_scope(name, f"{self._name}_enqueue", _values(vals)) as scope:
            row = self._components(vals)
            for val, shape in zip(row, self._shapes, strict=True):
                val.shape.assert_is_compatible_with(shape)
            return raw.QueueEnqueueV2(self._queue_ref, row, name=scope or None)

    def enqueue_many(self, vals: TensorLike, name: str | None = None) -> Effect:
        """Return the operation that puts the rows of a batch into the queue, one after the other."""
        with name_scope(name, f"{self._name}_EnqueueMany", _values(vals)) as scope:
            batch = self._components(vals)
            lead = TensorShape([None])
            for val, shape in zip(batch, self._shapes, strict=True):
                lead = lead.merge_with(val.shape.with_rank_at_least(1)[:1])
                val.shape[1:].assert_is_compatible_with(shape)
            return raw.QueueEnqueueManyV2(self._queue_ref, batch, name=scope or None)

    # --- taking ------------------------------------------------------------------------------------------------------

    def _result(self, tensors: Any) -> Any:
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def _shaped(self, tensors: Any, lead: Sequence[int | None]) -> Any:
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            if getattr(tensor, "_array", None) is None:
                tensor.set_shape(TensorShape(list(lead)).concatenate(shape) if lead else shape)
        return self._result(tensors)

    def dequeue(self, name: str | None = None) -> Nested:
        """Return the next row, waiting while the queue is empty."""
        name = f"{self._name}_Dequeue" if name is None else name
        return self._shaped(raw.QueueDequeueV2(self._queue_ref, component_types=self._dtypes, name=name), ())

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> Nested:
        """Return the next `n` rows as a batch, waiting until there are that many."""
        name = f"{self._name}_DequeueMany" if name is None else name
        tensors = raw.QueueDequeueManyV2(self._queue_ref, n=n, component_types=self._dtypes, name=name)
        return self._shaped(tensors, (_constant(n),))

    def dequeue_up_to(self, n: TensorLike, name: str | None = None) -> Nested:
        """Return the next `n` rows as a batch; of a closed queue those that are left, if there are any."""
        name = f"{self._name}_DequeueUpTo" if name is None else name
        tensors = raw.QueueDequeueUpToV2(self._queue_ref, n=n, component_types=self._dtypes, name=name)
        return self._shaped(tensors, (None,))

    # --- state -------------------------------------------------------------------------------------------------------

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Effect:
        """Return the operation that closes the queue: nothing more is put, what it holds can be taken."""
        name = f"{self._name}_Close" if name is None else name
        return raw.QueueCloseV2(self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name)

    def is_closed(self, name: str | None = None) -> Tensor:
        """Return whether the queue is closed."""
        name = f"{self._name}_Is_Closed" if name is None else name
        return raw.QueueIsClosedV2(self._queue_ref, name=name)

    def size(self, name: str | None = None) -> Tensor:
        """Return how many rows the queue holds."""
        name = f"{self._name}_Size" if name is None else name
        return raw.QueueSizeV2(self._queue_ref, name=name)


def _common(shapes: Sequence[TensorShape]) -> TensorShape:
    """Return what shapes agree on: a length where all have it, unknown where they differ."""
    if any(shape.rank != shapes[0].rank for shape in shapes) or shapes[0].rank is None:
        return TensorShape(None)
    columns = zip(*(shape.as_list() for shape in shapes), strict=True)
    return TensorShape([column[0] if len(set(column)) == 1 else None for column in columns])


def _values(vals: Any) -> list[Any]:
    if isinstance(vals, dict):
        return list(vals.values())
    return list(vals) if isinstance(vals, (list, tuple)) else [vals]


def _constant(n: Any) -> int | None:
    """Return the size of a batch where it is known before running."""
    if isinstance(n, Tensor):
        value = n.numpy() if getattr(n, "_array", None) is not None else n.constant_value()
        return None if value is None else int(value)
    return int(n)


# --- the kinds --------------------------------------------------------------------------------------------------------


def types_of(given: Any) -> list[DType]:
    """Return dtypes as a list; one alone is a list of one."""
    return [as_dtype(t) for t in (given if isinstance(given, (list, tuple)) else [given])]


def shapes_of(given: Any, count: int, unknown: bool = False) -> list[TensorShape] | None:
    """Return shapes as a list, or None; one alone (a TensorShape, or a list of lengths) is a list of one."""
    if given is None:
        return None
    if isinstance(given, TensorShape) or (
        isinstance(given, (list, tuple))
        and not any(
            isinstance(shape, (TensorShape, list, tuple)) or (shape is None and count == len(given) > 1)
            for shape in given
        )
    ):
        given = [given]
    shapes = [as_shape(shape) for shape in given]
    if not unknown and any(not shape.is_fully_defined() for shape in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    return shapes


def _names(given: Any, count: int) -> list[str] | None:
    if given is None:
        return None
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, (list, tuple)) or any(not isinstance(name, str) for name in given):
        raise ValueError(f"Argument `names` must be a list of strings, got {given!r}")
    if len(given) != count:
        raise ValueError(f"Queue names must have the same length as dtypes, got {len(given)} names, {count} dtypes")
    return list(given)


def _attrs(types: list[DType], shapes: Any, capacity: int, shared_name: str | None, name: str) -> dict[str, Any]:
    if context.executing_eagerly():
        shared_name = None  # each eager queue is one of its own
    return {
        "component_types": types,
        "shapes": shapes or [],
        "capacity": capacity,
        "shared_name": shared_name or "",
        "name": name,
    }


class FIFOQueue(QueueBase):
    """A queue that gives rows in the order they came.

    >>> queue = FIFOQueue(10, "int32", shapes=[[]])
    >>> queue.enqueue_many([[1, 2, 3]])
    >>> int(queue.dequeue()), queue.dequeue_many(2).numpy().tolist()
    (1, [2, 3])
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Nested,
        shapes: Nested = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ):
        types = types_of(dtypes)
        sizes = shapes_of(shapes, len(types))
        names = _names(names, len(types))
        reference = raw.FIFOQueueV2(**_attrs(types, sizes, capacity, shared_name, name))
        super().__init__(types, sizes, names, reference)


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose batches are padded with zeros to the longest row, along axes whose length is None.

    >>> queue = PaddingFIFOQueue(10, "int32", shapes=[[None]])
    >>> queue.enqueue([[1]])
    >>> queue.enqueue([[2, 3]])
    >>> queue.dequeue_many(2).numpy().tolist()
    [[1, 0], [2, 3]]
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Nested,
        shapes: Nested,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ):
        types = types_of(dtypes)
        sizes = shapes_of(shapes, len(types), unknown=True)
        names = _names(names, len(types))
        if sizes is None:
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        if any(shape.rank is None for shape in sizes):
            raise ValueError(f"shapes of all components must have a defined rank, got {sizes}")
        if len(sizes) != len(types):
            raise ValueError(f"Shapes must be provided for all components, but received {len(types)} dtypes and "
                             f"{len(sizes)} shapes.")  # fmt: skip
        reference = raw.PaddingFIFOQueueV2(**_attrs(types, sizes, capacity, shared_name, name))
        super().__init__(types, sizes, names, reference)


class RandomShuffleQueue(QueueBase):
    """A queue that gives rows in random order, out of at least `min_after_dequeue` that stay behind."""

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Nested,
        shapes: Nested = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ):
        types = types_of(dtypes)
        sizes = shapes_of(shapes, len(types))
        names = _names(names, len(types))
        first, second = get_seed(seed)
        if first is None and second is None:
            first, second = 0, 0
        elif seed is None and shared_name is not None:
            # Sharers must ask for equal seeds; one of the graph's would differ by the node.
            second = _hashed(f"{first}{shared_name}")
        attrs = _attrs(types, sizes, capacity, shared_name, name)
        reference = raw.RandomShuffleQueueV2(
            **attrs, min_after_dequeue=min_after_dequeue, seed=first or 0, seed2=second or 0
        )
        super().__init__(types, sizes, names, reference)


def _hashed(text: str) -> int:
    """Return 31 bits that depend on a text only."""
    import hashlib  # only for queues that are shared by name and seeded by the graph

    return int(hashlib.md5(text.encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


class PriorityQueue(QueueBase):
    """A queue that gives the row with the smallest priority first: an int64 in front of the other components."""

    def __init__(
        self,
        capacity: int,
        types: Nested,
        shapes: Nested = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ):
        kinds = types_of(types)
        sizes = shapes_of(shapes, len(kinds))
        reference = raw.PriorityQueueV2(**_attrs(kinds, sizes, capacity, shared_name, name))
        with_priority = [TensorShape([]), *sizes] if sizes else None
        super().__init__([dtypes.int64, *kinds], with_priority, _names(names, len(kinds) + 1), reference)
