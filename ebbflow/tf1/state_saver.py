"""`tf.contrib.training.SequenceQueueingStateSaver`: sequences cut into segments, whose states go on in later batches.

A segment waits at a barrier under its own key until all it consists of is there: what was cut from the input at once,
its state when the segment before it has been run. A queue of tokens limits how many sequences are under way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, TensorLike
from ebbflow.graph.scopes import control_dependencies, group
from ebbflow.ops.arrays.creation import ones
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.padding import tile
from ebbflow.ops.arrays.shaping import reshape, shape
from ebbflow.ops.checks.asserts import Assert, assert_greater_equal_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.reduce.reductions import reduce_all, reduce_sum
from ebbflow.ops.strings.format_join import as_string, string_join
from ebbflow.state.queues.barrier import Barrier
from ebbflow.state.queues.queue import FIFOQueue

OWN = {
    "length": dtypes.int32, "total_length": dtypes.int32, "next_key": dtypes.string, "sequence": dtypes.int32,
    "sequence_count": dtypes.int32,
}  # fmt: skip
"""What every segment has beside sequences, context and states; all are scalars."""

TOKEN = 0


def _checked_names(kind: str, given: Mapping[str, Any]) -> None:
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"{kind} must be string: {name}")
        if ":" in name:
            raise ValueError(f"{kind} may not have a colon: '{name}'")


def _named(prefix: str, given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: convert(value, name=f"{prefix}_{key}") for key, value in given.items()}


def _sorted(given: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(given.items()))


class SequenceInput:
    """One sequence: its length, its key, tensors of its steps and tensors of it as a whole."""

    def __init__(
        self, length: TensorLike, key: TensorLike, sequences: Mapping[str, Any], context: Mapping[str, Any]
    ) -> None:
        self.length, self.key = convert(length, name="length"), convert(key, name="key")
        for kind, given in (("sequences", sequences), ("context", context)):
            if not isinstance(given, dict):
                raise TypeError(f"{kind} must be a dict")
        if not sequences:
            raise ValueError("must have at least one sequence tensor")
        _checked_names("sequence key", sequences)
        _checked_names("context key", context)
        self.sequences, self.context = _named("sequence", sequences), _named("context", context)


def multiple_of(value: Any, count: Any, label: str, name: str = "multiple_of_checked") -> Any:
    """Return a length once it is a multiple of a number, and not zero."""
    right = raw.LogicalAnd(raw.Equal(raw.FloorMod(value, cast(count, value.dtype)), 0), raw.NotEqual(value, 0))
    said: list[Any] = [
        f"{label} should be a multiple of: ", as_string(count), ", but saw value: ", as_string(value),
        ". Consider setting pad=True.",
    ]  # fmt: skip
    with control_dependencies([Assert(right, [string_join(said)])]):
        return raw.Identity(value, name=name)


def with_rank(value: Any, expected: Any) -> Any:
    """Return a tensor once it has a rank."""
    said = string_join([f"Rank of tensor {value.name} should be: ", as_string(expected), ", shape received:"])
    with control_dependencies([Assert(raw.Equal(expected, raw.Rank(value)), [said, shape(value)])]):
        checked = raw.Identity(value, name="rank_checked")
    static = convert(expected).constant_value()
    if static is not None:
        try:
            checked.set_shape(checked.shape.with_rank(int(static)))
        except ValueError as error:
            raise ValueError(f"Rank check failed for {value.name}: {error}") from None
    return checked


def with_shape(value: Any, expected: Any) -> Any:
    """Return a tensor once it has a shape, which is a tensor."""
    static = expected.constant_value()
    value = with_rank(value, raw.Size(expected) if static is None else len(static))
    said: list[Any] = [f"Shape of tensor {value.name} should be: ", as_string(expected), ", shape received: "]
    right = reduce_all(raw.Equal(expected, shape(value)))
    with control_dependencies([Assert(right, [string_join([*said, as_string(shape(value))])])]):
        checked = raw.Identity(value, name="shape_checked")
    if static is not None:
        try:
            checked.set_shape(checked.shape.merge_with([int(size) for size in static]))
        except ValueError as error:
            raise ValueError(f"Shape check failed for {value.name}: {error}") from None
    return checked


def _with_first(value: Any, expected: Any, label: str) -> Any:
    """Return a tensor once its first axis is as long as expected."""
    if value.shape.rank == 0:
        raise ValueError(f"{label}: rank of input is not greater than max(dimensions): 0 vs. 0")
    said: list[Any] = [f"Dimension 0 of tensor labeled {label} should be: ", as_string(expected), ", shape received: "]
    right = raw.Equal(expected, shape(value)[0])
    with control_dependencies([Assert(right, [string_join([*said, as_string(shape(value))])])]):
        return raw.Identity(value, name=f"dims_checked_{label}")


def _check_defined(label: str, given: Mapping[str, Any], start: int = 0) -> None:
    for key, value in given.items():
        if value.shape.rank is None or not value.shape[start:].is_fully_defined():
            note = " (ignoring first dimension)" if start else ""
            raise ValueError(f"Shape for {label} {key} is not fully defined{note}: {value.shape}")


class NextQueuedSequenceBatch:
    """A batch of segments, each with its state; what becomes of the state is given back by `save_state`."""

    def __init__(self, state_saver: SequenceQueueingStateSaver) -> None:
        self._saver = state_saver
        taken = state_saver.barrier.take_many(
            state_saver.batch_size, state_saver._allow_small_batch, name="BarrierTakeMany"
        )
        self.insertion_index, self.key, values = taken
        found = dict(zip(state_saver._places, values, strict=True))
        self.length, self.total_length = found["length"], found["total_length"]
        self.next_key = found["next_key"]
        self.sequence, self.sequence_count = found["sequence"], found["sequence_count"]
        self.batch_size = raw.Squeeze(shape(self.length))
        self.sequences = {name: found[f"sequence:{name}"] for name in state_saver._sequences}
        self.context = {name: found[f"context:{name}"] for name in state_saver._context}
        self._is_done = self.sequence + 1 >= self.sequence_count
        ended = reduce_sum(cast(self._is_done, dtypes.int32))
        with control_dependencies([state_saver._tokens.dequeue_many(ended)]):
            self._states = {name: raw.Identity(found[f"state:{name}"]) for name in state_saver._states}

    def state(self, state_name: str) -> Tensor:
        """Return a state of each segment, [batch, …]."""
        return self._states[state_name]

    def save_state(self, state_name: str, value: TensorLike, name: str | None = None) -> Effect:
        """Return the operation that gives a state to the segments that come next; those at an end have none."""
        if state_name not in self._states:
            raise KeyError(f"state was not declared: {state_name}")
        with name_scope(name or "InputQueueingStateSaver_SaveState"):
            going_on = reshape(raw.Where(raw.LogicalNot(self._is_done)), [-1])
            value = raw.Identity(value, name=f"convert_{state_name}")
            value = with_shape(value, shape(self._states[state_name]))
            return self._saver._insert(f"state:{state_name}", gather(self.next_key, going_on), gather(value, going_on))


class SequenceQueueingStateSaver:
    """Cuts sequences into segments of `num_unroll` steps; gives batches of segments that have their states."""

    def __init__(
        self,
        batch_size: Any,
        num_unroll: TensorLike,
        input_length: TensorLike,
        input_key: TensorLike,
        input_sequences: Mapping[str, Any],
        input_context: Mapping[str, Any],
        initial_states: Mapping[str, Any],
        capacity: Any = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ) -> None:
        if capacity is not None and isinstance(batch_size, Tensor):
            large = assert_greater_equal_v1(
                cast(capacity, dtypes.int64), cast(batch_size, dtypes.int64),
                message="capacity needs to be >= batch_size.",
            )  # fmt: skip
            with control_dependencies([large]):
                input_key = raw.Identity(input_key)
        elif capacity is not None and capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
        if not isinstance(initial_states, dict):
            raise TypeError("initial_states must be a dictionary")
        if not initial_states:
            raise ValueError("initial_states may not be empty: segments of a sequence run in turn by their states")
        _checked_names("state name", initial_states)
        self._tokens = FIFOQueue(-1 if capacity is None else capacity, [dtypes.int32], shapes=[[]])
        self.batch_size, self.num_unroll, self._allow_small_batch = batch_size, num_unroll, allow_small_batch
        self._prefetch: Any = None
        self._batch: NextQueuedSequenceBatch | None = None
        with name_scope(name or "InputQueueingStateSaver") as scope:
            self.name = scope
            self._take(SequenceInput(input_length, input_key, input_sequences, input_context), initial_states)

    def _take(self, given: SequenceInput, initial_states: Mapping[str, Any]) -> None:
        """Check what is given, and set up the barrier for it."""
        states = _named("state", initial_states)
        _check_defined("state", states)
        _check_defined("context", given.context)
        _check_defined("sequence", given.sequences, 1)
        length, self._key = with_rank(given.length, 0), with_rank(given.key, 0)
        for label, value, dtype in (("length", length, dtypes.int32), ("key", self._key, dtypes.string)):
            if value.dtype != dtype:
                raise TypeError(f"{label} dtype must be {dtype.name}, but received: {value.dtype}")
        self._states, self._context, self._sequences = _sorted(states), _sorted(given.context), _sorted(given.sequences)
        padded = raw.Identity(shape(next(iter(self._sequences.values())))[0], name="padded_length")
        self._padded = multiple_of(padded, self.num_unroll, f"Tensor {padded.name}")
        self._sequences = {
            key: _with_first(value, self._padded, f"sorted_sequences_{key}") for key, value in self._sequences.items()
        }
        said = ["Input length should be <= than length from sequences:", length, " vs. ", self._padded]
        with control_dependencies([Assert(raw.LessEqual(length, self._padded), said)]):
            self._length = raw.Identity(length)
        sizes = {f"sequence:{k}": [self.num_unroll, *v.shape.as_list()[1:]] for k, v in self._sequences.items()}
        parts = {f"sequence:{k}": v.dtype for k, v in self._sequences.items()}
        for kind, values in (("context", self._context), ("state", self._states)):
            parts |= {f"{kind}:{k}": v.dtype for k, v in values.items()}
            sizes |= {f"{kind}:{k}": v.shape.as_list() for k, v in values.items()}
        kinds = OWN | parts
        self._places = list(kinds)
        shapes = [TensorShape(_static(sizes.get(place, ()))) for place in self._places]
        self.barrier = Barrier(types=list(kinds.values()), shapes=shapes)

    def _insert(self, place: str, keys: Any, values: Any) -> Any:
        return self.barrier.insert_many(self._places.index(place), keys, values)

    @property
    def prefetch_op(self) -> Effect:
        """The operation that cuts one sequence and brings its segments to the barrier."""
        if self._prefetch is None:
            with name_scope(self.name):
                self._prefetch = self._cut()
        return self._prefetch

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The batch that comes next."""
        self.prefetch_op  # noqa: B018, as TensorFlow: made before the batch is
        if self._batch is None:
            with name_scope(self.name):
                self._batch = NextQueuedSequenceBatch(self)
        return self._batch

    def _cut(self) -> Any:
        steps = convert(self.num_unroll, dtypes.int32)
        count = raw.FloorDiv(self._padded, steps)
        number, all_alike = raw.Range(0, count, 1), ones([count], dtypes.int32)
        width: dict[str, Any] = {"width": 5, "fill": "0"}
        keys = string_join([as_string(number, **width), "_of_", as_string(count, **width), ":", self._key])
        values = {
            "sequence": number, "sequence_count": count * all_alike, "total_length": self._length * all_alike,
            "next_key": concat([keys[1:], string_join(["STOP:", self._key])[None]], 0),
            "length": raw.Minimum(steps, raw.Maximum(0, self._length - steps * number)),
        }  # fmt: skip
        for key, value in self._sequences.items():
            sizes = [int(size) for size in value.shape.as_list()[1:]]
            values[f"sequence:{key}"] = reshape(
                value, concat([[count], [steps], sizes], 0) if sizes else [count, steps]
            )
        for key, value in self._context.items():
            values[f"context:{key}"] = tile(value[None], [count, *[1] * value.shape.rank])
        inserts = {place: self._insert(place, keys, value) for place, value in values.items()}
        token = self._tokens.enqueue((TOKEN,))
        with control_dependencies([inserts["sequence"], token]):  # so that room is made for it first
            first = [self._insert(f"state:{key}", keys[:1], value[None]) for key, value in self._states.items()]
        return group(token, *inserts.values(), *first, name="StateSaverPrefetchGroup")

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Effect:
        """Return the operation after which no sequences are taken."""
        with name_scope(name or "SQSSClose") as scope:
            closed = [part.close(cancel_pending_enqueues) for part in (self.barrier, self._tokens)]
            return group(*closed, name=scope)


def _static(sizes: Any) -> list[int | None]:
    found = [size.constant_value() if isinstance(size, Tensor) else size for size in sizes]
    return [None if size is None else int(size) for size in found]
