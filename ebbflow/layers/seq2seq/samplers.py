"""Samplers: helpers of decoders that learn of their data when decoding begins, as decoders that are layers want it.

A sampler makes the helper of the same kind from what `initialize` is given, and hands everything else on to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import AnyTensor, DTypeLike, Nested, ShapeLike, TensorLike
from ebbflow.layers.seq2seq import helpers
from ebbflow.ops.nn.embedding import embedding_lookup_v1

if TYPE_CHECKING:
    from ebbflow.core.dtypes import DType


class Sampler:
    """What a decoder that is a layer asks for: what comes first, what is chosen, what comes next."""

    _helper: Any = None

    def _begin(self, helper: Any) -> tuple[Any, Any]:
        self._helper = helper
        return helper.initialize()

    @property
    def batch_size(self) -> AnyTensor:
        """How many rows there are, once it has begun."""
        if self._helper is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._helper.batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of what is chosen for a row."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> DType:
        """The dtype of what is chosen."""
        return dtypes.int32

    def initialize(self, inputs: Nested, **kwargs: Nested) -> tuple[Any, Any]:
        """Return which rows have finished before they began, and the first inputs."""
        raise NotImplementedError(f"{type(self).__name__} must define initialize()")

    def sample(self, time: TensorLike, outputs: Nested, state: Nested) -> AnyTensor:
        """Return what is chosen by a step's outputs."""
        return self._helper.sample(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: TensorLike, outputs: Nested, state: Nested, sample_ids: TensorLike
    ) -> tuple[Any, Any, Any]:
        """Return which rows have finished, the next inputs, and the next state."""
        return self._helper.next_inputs(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class CustomSampler(Sampler):
    """A sampler made of functions."""

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: ShapeLike = None,
        sample_ids_dtype: DTypeLike | None = None,
    ):
        self._functions = (initialize_fn, sample_fn, next_inputs_fn)
        self._ids = (TensorShape(sample_ids_shape or []), dtypes.as_dtype(sample_ids_dtype or dtypes.int32))

    sample_ids_shape = property(lambda self: self._ids[0], doc="The shape of what is chosen for a row.")
    sample_ids_dtype = property(lambda self: self._ids[1], doc="The dtype of what is chosen.")

    def initialize(self, inputs: Nested, **kwargs: Nested) -> tuple[Any, Any]:
        """Return what the function gives."""
        first, sample, following = self._functions
        return self._begin(helpers.CustomHelper(lambda: first(inputs, **kwargs), sample, following, *self._ids))


class TrainingSampler(Sampler):
    """The inputs come from data."""

    def __init__(self, time_major: bool = False) -> None:
        self.time_major = time_major

    def _lengths(self, sequence_length: Any) -> Any:
        if sequence_length is None:
            raise ValueError(f"sequence_length is required for {type(self).__name__}")
        return sequence_length

    def initialize(self, inputs: Nested, sequence_length: TensorLike | None = None) -> tuple[Any, Any]:  # type: ignore[override]
        """Begin with the first step of the inputs; a row ends with its length."""
        return self._begin(helpers.TrainingHelper(inputs, self._lengths(sequence_length), self.time_major))


def _probability(value: TensorLike) -> Any:
    found = convert(value, name="sampling_probability")
    if found.shape.rank not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {found.shape}")
    return found


def _embedding(function: Any) -> Any:
    if function is not None and not callable(function):
        raise ValueError(f"embedding_fn is expected to be callable, got {type(function)}")
    return function


class ScheduledEmbeddingTrainingSampler(TrainingSampler):
    """Now the inputs of data, now the embedding of what was chosen."""

    def __init__(
        self,
        sampling_probability: TensorLike,
        embedding_fn: Callable[..., Any] | None = None,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
    ):
        super().__init__(time_major)
        self.embedding_fn = _embedding(embedding_fn)
        self.sampling_probability = _probability(sampling_probability)
        self.seed, self.scheduling_seed = seed, scheduling_seed

    def initialize(  # type: ignore[override]
        self, inputs: Nested, sequence_length: TensorLike | None = None, embedding: TensorLike | None = None
    ) -> tuple[Any, Any]:
        """Begin with the first step of the inputs."""
        if self.embedding_fn is None and embedding is None:
            raise ValueError(f"embedding is required as a keyword argument for {type(self).__name__}")
        helper = helpers.ScheduledEmbeddingTrainingHelper(
            inputs, self._lengths(sequence_length), self.embedding_fn or embedding, self.sampling_probability,
            self.time_major, self.seed, self.scheduling_seed,
        )  # fmt: skip
        return self._begin(helper)


class ScheduledOutputTrainingSampler(TrainingSampler):
    """Now the inputs of data, now the outputs of the step before."""

    def __init__(
        self,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[..., Any] | None = None,
    ):
        super().__init__(time_major)
        self.sampling_probability = _probability(sampling_probability)
        self.seed, self.next_inputs_fn = seed, next_inputs_fn

    def initialize(  # type: ignore[override]
        self, inputs: Nested, sequence_length: TensorLike | None = None, auxiliary_inputs: Nested = None
    ) -> tuple[Any, Any]:
        """Begin with the first step of the inputs."""
        helper = helpers.ScheduledOutputTrainingHelper(
            inputs, self._lengths(sequence_length), self.sampling_probability, self.time_major, self.seed,
            self.next_inputs_fn, auxiliary_inputs,
        )  # fmt: skip
        return self._begin(helper)


class GreedyEmbeddingSampler(Sampler):
    """The embedding of the largest output comes next, until it is the end."""

    def __init__(self, embedding_fn: Callable[..., Any] | None = None) -> None:
        self.embedding_fn = _embedding(embedding_fn)

    def _lookup(self, embedding: Any) -> Any:
        if self.embedding_fn is None:
            self.embedding_fn = lambda ids: embedding_lookup_v1(embedding, ids)
        return self.embedding_fn

    def initialize(  # type: ignore[override]
        self, embedding: TensorLike, start_tokens: Nested = None, end_token: Nested = None
    ) -> tuple[Any, Any]:
        """Begin with the embeddings of the first tokens."""
        return self._begin(helpers.GreedyEmbeddingHelper(self._lookup(embedding), start_tokens, end_token))


class SampleEmbeddingSampler(GreedyEmbeddingSampler):
    """The embedding of what is drawn by the outputs comes next, until it is the end."""

    def __init__(
        self,
        embedding_fn: Callable[..., Any] | None = None,
        softmax_temperature: TensorLike | None = None,
        seed: int | None = None,
    ):
        super().__init__(embedding_fn)
        self.softmax_temperature, self.seed = softmax_temperature, seed

    def initialize(  # type: ignore[override]
        self, embedding: TensorLike, start_tokens: Nested = None, end_token: Nested = None
    ) -> tuple[Any, Any]:
        """Begin with the embeddings of the first tokens."""
        helper = helpers.SampleEmbeddingHelper(
            self._lookup(embedding), start_tokens, end_token, self.softmax_temperature, self.seed
        )
        return self._begin(helper)


class InferenceSampler(Sampler):
    """Functions say what is chosen, what comes next, and when a row ends."""

    def __init__(
        self,
        sample_fn: Callable[..., Any],
        sample_shape: ShapeLike,
        sample_dtype: DTypeLike,
        end_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any] | None = None,
    ):
        self.sample_fn, self.end_fn, self.next_inputs_fn = sample_fn, end_fn, next_inputs_fn
        self.sample_shape, self.sample_dtype = TensorShape(sample_shape), dtypes.as_dtype(sample_dtype)

    sample_ids_shape = property(lambda self: self.sample_shape, doc="The shape of what is chosen for a row.")
    sample_ids_dtype = property(lambda self: self.sample_dtype, doc="The dtype of what is chosen.")

    def initialize(self, start_inputs: Nested) -> tuple[Any, Any]:  # type: ignore[override]
        """Begin with the given inputs."""
        helper = helpers.InferenceHelper(
            self.sample_fn, self.sample_shape, self.sample_dtype, start_inputs, self.end_fn, self.next_inputs_fn
        )
        return self._begin(helper)
