"""Helpers of decoders: they choose what a cell is given next, from data or from what it has just put out.

`TrainingHelper` reads the inputs from data; greedy and sampling helpers feed back what was chosen; scheduled helpers do
now one, now the other. Knows tensors; knows no cell and no decoder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, Nested, ShapeLike, TensorLike
from ebbflow.functions.control_flow.cond import cond
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.layers.rnn.steps import transpose_batch_time
from ebbflow.ops.arrays.argmax import argmax
from ebbflow.ops.arrays.creation import fill, zeros_like
from ebbflow.ops.arrays.indexing import gather_nd
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape, transpose
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.arrays.shaping import size as size_of
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where_v1
from ebbflow.ops.nn.embedding import embedding_lookup_v1
from ebbflow.ops.random.stateful import multinomial, random_uniform
from ebbflow.ops.reduce.reductions import reduce_all, reduce_any

if TYPE_CHECKING:
    from ebbflow.core.dtypes import DType


class Helper:
    """What a decoder asks of a helper."""

    @property
    def batch_size(self) -> Tensor:
        """How many rows there are."""
        raise NotImplementedError("batch_size has not been implemented")

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of what is chosen for a row."""
        raise NotImplementedError("sample_ids_shape has not been implemented")

    @property
    def sample_ids_dtype(self) -> DType:
        """The dtype of what is chosen."""
        raise NotImplementedError("sample_ids_dtype has not been implemented")

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return which rows have finished before they began, and the first inputs."""
        raise NotImplementedError(f"{type(self).__name__} must define initialize()")

    def sample(self, time: TensorLike, outputs: Nested, state: Nested, name: str | None = None) -> Tensor:
        """Return what is chosen by a step's outputs."""
        raise NotImplementedError(f"{type(self).__name__} must define sample()")

    def next_inputs(
        self, time: AnyTensor, outputs: Any, state: Any, sample_ids: AnyTensor, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Return which rows have finished, the next inputs, and the next state."""
        raise NotImplementedError(f"{type(self).__name__} must define next_inputs()")


class CustomHelper(Helper):
    """A helper made of functions."""

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Any,
        sample_ids_shape: Nested = None,
        sample_ids_dtype: DTypeLike | None = None,
    ):
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self) -> Tensor:
        """How many rows there are, once it has begun."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    sample_ids_shape = property(lambda self: self._sample_ids_shape, doc="The shape of what is chosen for a row.")
    sample_ids_dtype = property(lambda self: self._sample_ids_dtype, doc="The dtype of what is chosen.")

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return what the function gives."""
        with name_scope(name, f"{type(self).__name__}Initialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = size_of(finished)
        return finished, inputs

    def sample(self, time: TensorLike, outputs: Nested, state: Nested, name: str | None = None) -> Tensor:
        """Return what the function gives."""
        with name_scope(name, f"{type(self).__name__}Sample", (time, outputs, state)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: AnyTensor, outputs: Any, state: Any, sample_ids: AnyTensor, name: str | None = None
    ) -> Any:
        """Return what the function gives."""
        with name_scope(name, f"{type(self).__name__}NextInputs", (time, outputs, state)):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


# --- inputs from data -------------------------------------------------------------------------------------------------


class _ChoosesNumbers(Helper):
    """What is chosen for a row is a number."""

    sample_ids_shape = property(lambda self: TensorShape([]), doc="A number for each row.")
    sample_ids_dtype = property(lambda self: dtypes.int32, doc="int32.")
    batch_size = property(lambda self: self._batch_size, doc="How many rows there are.")


class TrainingHelper(_ChoosesNumbers):
    """Reads the inputs from data, each row as long as it is."""

    def __init__(self, inputs: Nested, sequence_length: TensorLike, time_major: bool = False, name: str | None = None):
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = nest.map_structure(lambda x: convert(x, name="inputs"), inputs)
            self._inputs = inputs
            if not time_major:
                inputs = nest.map_structure(transpose_batch_time, inputs)
            self._input_tas = nest.map_structure(_unstacked, inputs)
            self._sequence_length = convert(sequence_length, name="sequence_length")
            if self._sequence_length.shape.rank != 1:
                raise ValueError(
                    f"Expected sequence_length to be a vector, but received shape: {self._sequence_length.shape}"
                )
            self._zero_inputs = nest.map_structure(lambda x: zeros_like(x[0, :]), inputs)
            self._batch_size = size_of(self._sequence_length)

    inputs = property(lambda self: self._inputs, doc="The inputs of all steps.")
    sequence_length = property(lambda self: self._sequence_length, doc="How long each row is.")

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return the first inputs."""
        with name_scope(name, "TrainingHelperInitialize"):
            finished = raw.Equal(raw.ZerosLike(self._sequence_length), self._sequence_length)
            return finished, self._read(finished, 0)

    def _read(self, finished: Any, time: Any) -> Any:
        """Return the inputs of a step, or zeros where all rows have finished: there may be none."""
        return cond(
            reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda array: array.read(time), self._input_tas),
        )

    def sample(self, time: TensorLike, outputs: Nested, name: str | None = None, **unused: Any) -> Tensor:  # type: ignore[override]
        """Return the likeliest symbols."""
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return cast(argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(self, time: AnyTensor, outputs: Any, state: Any, name: str | None = None, **unused: Any) -> Any:  # type: ignore[override]
        """Return the inputs of the next step."""
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            following = time + 1
            finished = cast(following, self._sequence_length.dtype) >= self._sequence_length
            return finished, self._read(finished, following), state


def _unstacked(x: Any) -> TensorArray:
    length = shape_of(x)[0] if x._dims is None or x._dims[0] is None else x._dims[0]
    return TensorArray(x.dtype, size=length, element_shape=x.shape[1:]).unstack(x)


def _probability(given: Any) -> Any:
    probability = convert(given, name="sampling_probability")
    if probability.shape.rank not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {probability.shape}")
    return probability


def _drawn(probability: Any, count: Any, dtype: Any, seed: int | None) -> Any:
    """Return for each row whether (as bools or numbers) an event of this probability happened."""
    shape = reshape(count, [1]) if probability._dims == () else shape_of(probability)
    return cast(random_uniform(shape, seed=seed, dtype=probability.dtype) < probability, dtype)


def _mixed(where_new: Any, new: Any, old: Any) -> Any:
    """Return rows of `old`, but those of `new` (which has only them) where so said."""
    there, elsewhere = (cast(raw.Where(chosen), dtypes.int32) for chosen in (where_new, raw.LogicalNot(where_new)))
    shape = shape_of(old)
    return raw.ScatterNd(there, new(there), shape) + raw.ScatterNd(elsewhere, gather_nd(old, elsewhere), shape)


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Reads the inputs from data, or, with a probability, feeds back a symbol that is drawn by the outputs."""

    def __init__(
        self,
        inputs: Nested,
        sequence_length: TensorLike,
        embedding: Nested,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ):
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]):
            self._embedding_fn = embedding_function(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time: TensorLike, outputs: Nested, state: Nested = None, name: str | None = None) -> Tensor:  # type: ignore[override]
        """Return symbols that are drawn, and -1 for rows that are to read from data."""
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            chosen = _drawn(self._sampling_probability, self.batch_size, dtypes.bool, self._scheduling_seed)
            drawn = categorical_sample(logits=outputs, seed=self._seed)
            return where_v1(chosen, drawn, fill(reshape(self.batch_size, [1]), -1))

    def next_inputs(  # type: ignore[override]
        self, time: AnyTensor, outputs: Any, state: Any, sample_ids: AnyTensor, name: str | None = None
    ) -> Any:
        """Return the embeddings of the symbols drawn, and the inputs from data for the other rows."""
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, base, state = super().next_inputs(time=time, outputs=outputs, state=state, name=name)

            def mixed() -> Any:
                return _mixed(sample_ids > -1, lambda rows: self._embedding_fn(gather_nd(sample_ids, rows)), base)

            return finished, cond(reduce_all(finished), lambda: base, mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Reads the inputs from data, or, with a probability, feeds back the outputs."""

    def __init__(
        self,
        inputs: Nested,
        sequence_length: TensorLike,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Any = None,
        auxiliary_inputs: Nested = None,
        name: str | None = None,
    ):
        with name_scope(name, "ScheduledOutputTrainingHelper", [inputs, auxiliary_inputs, sampling_probability]):
            self._sampling_probability = _probability(sampling_probability)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            self._auxiliary_input_tas = None
            if auxiliary_inputs is not None:
                inputs, more = convert(inputs, name="inputs"), convert(auxiliary_inputs, name="auxiliary_inputs")
                inputs = concat([inputs, more], -1)
                self._auxiliary_input_tas = _unstacked(more if time_major else transpose_batch_time(more))
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def sample(self, time: TensorLike, outputs: Nested, state: Nested = None, name: str | None = None) -> Tensor:  # type: ignore[override]
        """Return 1 for rows that are to be fed back, 0 for the others."""
        with name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return _drawn(self._sampling_probability, self.batch_size, dtypes.int32, self._seed)

    def next_inputs(  # type: ignore[override]
        self, time: AnyTensor, outputs: Any, state: Any, sample_ids: AnyTensor, name: str | None = None
    ) -> Any:
        """Return the outputs of some rows, and the inputs from data for the others."""
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, base, state = super().next_inputs(time=time, outputs=outputs, state=state, name=name)
            chosen = cast(sample_ids, dtypes.bool)

            def with_more(x: Any, rows: Any = None) -> Any:
                if self._auxiliary_input_tas is None:
                    return x
                more = self._auxiliary_input_tas.read(time + 1)
                return concat([x, more if rows is None else gather_nd(more, rows)], -1)

            def fed_back(rows: Any) -> Any:
                return with_more(self._next_inputs_fn(gather_nd(outputs, rows)), rows)

            def mixed() -> Any:
                if self._next_inputs_fn is None:
                    return where_v1(chosen, with_more(outputs), base)
                return _mixed(chosen, fed_back, base)

            nothing = raw.LogicalOr(reduce_all(finished), raw.LogicalNot(reduce_any(chosen)))
            return finished, cond(nothing, lambda: base, mixed), state


# --- inputs that are fed back -----------------------------------------------------------------------------------------


def embedding_function(embedding: Any) -> Any:
    """Return a function that embeds symbols: the one given, or a look-up in a table."""
    if callable(embedding) and not isinstance(embedding, Tensor):
        return embedding
    return lambda ids: embedding_lookup_v1(embedding, ids)


def categorical_sample(
    logits: TensorLike, dtype: DTypeLike = dtypes.int32, sample_shape: Any = (), seed: int | None = None
) -> Any:
    """Return a symbol for each row, drawn by what its logits say."""
    logits = convert(logits, name="logits")
    rows = logits if logits.shape.rank == 2 else reshape(logits, [-1, shape_of(logits)[-1]])
    wide = dtypes.int64 if logits.dtype.size > 4 else dtypes.int32
    drawn = multinomial(rows, 1, seed=seed, output_dtype=wide)
    return cast(reshape(transpose(drawn), shape_of(logits)[:-1]), dtype)


def bernoulli_sample(
    probs: TensorLike | None = None,
    logits: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    sample_shape: ShapeLike = (),
    seed: int | None = None,
) -> Any:
    """Return whether events of these probabilities happened, `sample_shape` times."""
    chance = raw.Sigmoid(logits) if probs is None else convert(probs, name="probs")
    times = reshape(convert(sample_shape, dtypes.int32), [-1])
    shape = concat([times, shape_of(chance)], 0)
    return cast(random_uniform(shape, seed=seed, dtype=chance.dtype) < chance, dtype)


class GreedyEmbeddingHelper(_ChoosesNumbers):
    """Feeds back the likeliest symbol, embedded, until it is the end."""

    def __init__(self, embedding: Nested, start_tokens: TensorLike, end_token: TensorLike):
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = convert(start_tokens, dtypes.int32, name="start_tokens")
        self._end_token = convert(end_token, dtypes.int32, name="end_token")
        if self._start_tokens.shape.rank != 1:
            raise ValueError("start_tokens must be a vector")
        if self._end_token.shape.rank != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = size_of(self._start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return the embedding of the start."""
        return fill(reshape(self._batch_size, [1]), False), self._start_inputs

    def sample(self, time: TensorLike, outputs: Nested, state: Nested, name: str | None = None) -> Tensor:
        """Return the likeliest symbols."""
        _check_tensor(outputs)
        return argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(
        self, time: AnyTensor, outputs: Any, state: Any, sample_ids: AnyTensor, name: str | None = None
    ) -> Any:
        """Return the embeddings of the symbols."""
        finished = raw.Equal(sample_ids, self._end_token)
        given = cond(reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids))
        return finished, given, state


def _check_tensor(outputs: Any) -> None:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Feeds back a symbol that is drawn by the outputs, embedded, until it is the end."""

    def __init__(
        self,
        embedding: Nested,
        start_tokens: TensorLike,
        end_token: TensorLike,
        softmax_temperature: TensorLike | None = None,
        seed: int | None = None,
    ):
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(self, time: TensorLike, outputs: Nested, state: Nested, name: str | None = None) -> Tensor:
        """Return symbols that are drawn."""
        _check_tensor(outputs)
        logits = outputs if self._softmax_temperature is None else outputs / self._softmax_temperature
        return categorical_sample(logits=logits, seed=self._seed)


class InferenceHelper(Helper):
    """Feeds back what a function makes of the outputs, until another says that it is the end."""

    def __init__(
        self,
        sample_fn: Callable[..., Any],
        sample_shape: ShapeLike,
        sample_dtype: DTypeLike,
        start_inputs: Nested,
        end_fn: Callable[..., Any],
        next_inputs_fn: Any = None,
    ):
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._sample_shape = TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._start_inputs = convert(start_inputs, name="start_inputs")
        self._batch_size = shape_of(self._start_inputs)[0]

    batch_size = property(lambda self: self._batch_size, doc="How many rows there are.")
    sample_ids_shape = property(lambda self: self._sample_shape, doc="The shape of what is chosen for a row.")
    sample_ids_dtype = property(lambda self: self._sample_dtype, doc="The dtype of what is chosen.")

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return the first inputs."""
        return fill(reshape(self._batch_size, [1]), False), self._start_inputs

    def sample(self, time: TensorLike, outputs: Nested, state: Nested, name: str | None = None) -> Tensor:
        """Return what the function makes of the outputs."""
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: AnyTensor, outputs: Any, state: Any, sample_ids: AnyTensor, name: str | None = None
    ) -> Any:
        """Return what was chosen, or what a function makes of it."""
        given = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), given, state
