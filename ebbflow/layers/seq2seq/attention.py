"""Attention for decoders: mechanisms that weigh a memory by a query.

A mechanism keeps keys and values of the memory and gives, for a query, one weight per place of it (`alignments`).
Variables have TensorFlow's names (`memory_layer/kernel`, `…/bahdanau_attention/attention_v`). Knows layers and cells.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, Nested, TensorLike
from ebbflow.functions.control_flow.loops import scan
from ebbflow.graph.scopes import control_dependencies
from ebbflow.layers.base import Layer
from ebbflow.layers.core import Dense
from ebbflow.layers.rnn.cell_base import zero_state_tensors
from ebbflow.ops.arrays.argmax import argmax
from ebbflow.ops.arrays.creation import ones, ones_like, zeros
from ebbflow.ops.arrays.indexing import one_hot
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.masks import sequence_mask
from ebbflow.ops.arrays.shaping import expand_dims, reshape, squeeze, transpose
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.checks.asserts import assert_positive_v1
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.clip import clip_by_value
from ebbflow.ops.elementwise.compare import where_v1
from ebbflow.ops.elementwise.unary import exp, log, rsqrt, sigmoid, square, tanh
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.bias_softmax import softmax
from ebbflow.ops.random.stateful import random_normal
from ebbflow.ops.reduce.reductions import reduce_sum
from ebbflow.ops.reduce.scan import cumprod, cumsum
from ebbflow.state.initializers import Constant, Ones, Zeros
from ebbflow.state.variable_scope import get_variable, variable_scope


def length(x: Any, axis: int) -> Any:
    """Return how long an axis is, as an int where that is known."""
    return x.shape.as_list()[axis] or shape_of(x)[axis]


class AttentionMechanism:
    """What `AttentionWrapper` asks of a mechanism."""

    @property
    def alignments_size(self) -> Nested:
        """How many places the memory has."""
        raise NotImplementedError(f"{type(self).__name__} must define the property alignments_size")

    @property
    def state_size(self) -> Nested:
        """The size of the mechanism's state."""
        raise NotImplementedError(f"{type(self).__name__} must define the property state_size")


class _Mechanism(AttentionMechanism):
    """The memory of a mechanism: its keys and values, and how scores become weights."""

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Any = None,
        name: str | None = None,
    ):
        for which, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{which} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = memory_layer.dtype
        if score_mask_value is None:
            score_mask_value = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, before: probability_fn(
            _masked_score(score, memory_sequence_length, score_mask_value), before
        )
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = _prepared(memory, memory_sequence_length, check_inner_dims_defined)
            self._keys = memory_layer(self._values) if memory_layer is not None else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = length(self._keys, 0)
            self._alignments_size = length(self._keys, 1)

    memory_layer = property(lambda self: self._memory_layer, doc="The layer that makes keys of the memory.")
    query_layer = property(lambda self: self._query_layer, doc="The layer that queries go through, or None.")
    values = property(lambda self: self._values, doc="The memory.")
    keys = property(lambda self: self._keys, doc="What queries are compared with.")
    batch_size = property(lambda self: self._batch_size, doc="How many rows there are.")
    alignments_size = property(lambda self: self._alignments_size, doc="How many places the memory has.")
    state_size = property(lambda self: self._alignments_size, doc="The state is the weights before.")

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Return the weights before the first step: none."""
        return zero_state_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return the state before the first step."""
        return self.initial_alignments(batch_size, dtype)


def _prepared(memory: Any, lengths: Any, check_inner: bool) -> Any:
    """Return a memory with zeros behind each row's end."""
    memory = nest.map_structure(lambda m: convert(m, name="memory"), memory)
    for m in nest.flatten(memory) if check_inner else ():
        if not m.shape[2:].is_fully_defined():
            raise ValueError(f"Expected memory {m.name} to have fully defined inner dims, but saw shape: {m.shape}")
    if lengths is None:
        return memory
    first = nest.flatten(memory)[0]
    lengths = convert(lengths, name="memory_sequence_length")
    inside = sequence_mask(lengths, maxlen=shape_of(first)[1], dtype=first.dtype)

    def masked(m: Any) -> Any:
        more = ones(m.shape.rank - 2, dtypes.int32)
        return m * reshape(inside, concat([shape_of(inside), more], 0))

    return nest.map_structure(masked, memory)


def _masked_score(score: Any, lengths: Any, value: Any) -> Any:
    """Return scores with a value that weighs nothing behind each row's end."""
    if lengths is None:
        return score
    words = "All values in memory_sequence_length must be greater than zero."
    check = assert_positive_v1(lengths, message=words)
    with control_dependencies([] if check is None else [check]):
        inside = sequence_mask(lengths, maxlen=shape_of(score)[1])
    return where_v1(inside, score, value * ones_like(score))


# --- mechanisms -------------------------------------------------------------------------------------------------------


def luong_score(query: Any, keys: Any, scale: Any) -> Any:
    """Return the products of a query with the keys."""
    depth, units = query.shape.as_list()[-1], keys.shape.as_list()[-1]
    if depth != units:
        raise ValueError(
            f"Incompatible or unknown inner dimensions between query and keys.  Query ({query}) has units: {depth}.  "
            f"Keys ({keys}) have units: {units}.  Perhaps you need to set num_units to the keys' dimension ({units})?"
        )
    score = squeeze(matmul(expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if scale is None else scale * score


def bahdanau_score(query: Any, keys: Any, v: Any, g: Any = None, b: TensorLike | None = None) -> Any:
    """Return what a small network makes of a query and each key."""
    query = expand_dims(query, 1)
    if g is None or b is None:
        return reduce_sum(v * tanh(keys + query), [2])
    normed = g * v * rsqrt(reduce_sum(square(v)))
    return reduce_sum(normed * tanh(keys + query + b), [2])


class _Luong(_Mechanism):
    """Scores by products."""

    _scope: str
    _scale: bool
    _score_bias_init: Any = None

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        with variable_scope(None, self._scope, [query]):
            scale = get_variable("attention_g", (), query.dtype, Ones()) if self._scale else None
            score = luong_score(query, self._keys, scale)
            if self._score_bias_init is not None:
                score = score + _score_bias(query.dtype, self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class _Bahdanau(_Mechanism):
    """Scores by a small network."""

    _scope: str
    _normalize: bool
    _num_units: int
    _score_bias_init: Any = None

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        dtype, units = query.dtype, self._num_units
        with variable_scope(None, self._scope, [query]):
            asked = self._query_layer(query) if self._query_layer is not None else query
            v, g, b = get_variable("attention_v", [units], dtype=dtype), None, None
            if self._normalize:
                g = get_variable("attention_g", (), dtype, Constant(math.sqrt(1.0 / units)))
                b = get_variable("attention_b", [units], dtype=dtype, initializer=Zeros())
            score = bahdanau_score(asked, self._keys, v, g, b)
            if self._score_bias_init is not None:
                score = score + _score_bias(asked.dtype, self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _score_bias(dtype: Any, start: float) -> Any:
    return get_variable("attention_score_bias", dtype=dtype, initializer=np.array(start, dtype.as_numpy_dtype))


def dense(units: int, name: str, dtype: Any) -> Dense:
    """Return a layer without bias."""
    return Dense(units, name=name, use_bias=False, dtype=dtype or dtypes.float32)


class LuongAttention(_Luong):
    """Attention by products of query and memory."""

    _scope = "luong_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        probability_fn: Callable[..., Any] | None = None,
        score_mask_value: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "LuongAttention",
    ):
        super().__init__(
            query_layer=None,
            memory_layer=dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: (probability_fn or softmax)(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._name = name


class BahdanauAttention(_Bahdanau):
    """Attention by a small network over query and memory."""

    _scope = "bahdanau_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        probability_fn: Callable[..., Any] | None = None,
        score_mask_value: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "BahdanauAttention",
    ):
        super().__init__(
            query_layer=dense(num_units, "query_layer", dtype),
            memory_layer=dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: (probability_fn or softmax)(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._name = name


# --- monotonic attention ----------------------------------------------------------------------------------------------


def safe_cumprod(x: TensorLike, *args: Any, **kwargs: Any) -> Tensor:
    """Return running products, as the exponential of running sums, which keeps gradients finite."""
    with name_scope(None, "SafeCumprod", [x]):
        x = convert(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return exp(cumsum(log(clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: TensorLike, previous_attention: TensorLike, mode: str) -> Tensor:
    """Return weights that only move on along the memory, from the probabilities of stopping at each place."""
    p, before = convert(p_choose_i, name="p_choose_i"), convert(previous_attention, name="previous_attention")
    if mode == "recursive":
        rows = length(p, 0)
        passed = concat([ones([rows, 1], p.dtype), 1 - p[:, :-1]], 1)
        found = scan(
            lambda x, given: reshape(given[0] * x + given[1], [rows]),
            [transpose(passed), transpose(before)],
            zeros([rows], p.dtype),
        )
        return p * transpose(found)
    if mode == "parallel":
        passed = safe_cumprod(1 - p, axis=1, exclusive=True)
        return p * passed * cumsum(before / clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        p = p * cumsum(before, axis=1)
        return p * cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def monotonic_probability_fn(
    score: AnyTensor, previous_alignments: TensorLike, sigmoid_noise: float, mode: str, seed: int | None = None
) -> Tensor:
    """Return monotonic weights from scores, to which noise may be added."""
    if sigmoid_noise > 0:
        score = score + sigmoid_noise * random_normal(shape_of(score), dtype=score.dtype, seed=seed)
    p = cast(score > 0, score.dtype) if mode == "hard" else sigmoid(score)
    return monotonic_attention(p, previous_alignments, mode)


class _Monotonic:
    """Begins at the first place of the memory."""

    _alignments_size: Any

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """Return the weights before the first step: all at the first place."""
        return one_hot(zeros([batch_size], dtypes.int32), self._alignments_size, dtype=dtype)


class BahdanauMonotonicAttention(_Monotonic, _Bahdanau):
    """Monotonic attention by a small network."""

    _scope = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        normalize: bool = False,
        score_mask_value: TensorLike | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str = "BahdanauMonotonicAttention",
    ):
        super().__init__(
            query_layer=dense(num_units, "query_layer", dtype),
            memory_layer=dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(
                monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._score_bias_init = score_bias_init
        self._name = name


class LuongMonotonicAttention(_Monotonic, _Luong):
    """Monotonic attention by products."""

    _scope = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: TensorLike,
        memory_sequence_length: TensorLike | None = None,
        scale: bool = False,
        score_mask_value: TensorLike | None = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str = "LuongMonotonicAttention",
    ):
        super().__init__(
            query_layer=None,
            memory_layer=dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(
                monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._score_bias_init = score_bias_init
        self._name = name


def hardmax(logits: TensorLike, name: str | None = None) -> Tensor:
    """Return 1 at the largest of each row, 0 elsewhere."""
    with name_scope(name, "Hardmax", [logits]):
        logits = convert(logits, name="logits")
        return one_hot(argmax(logits, -1), length(logits, -1), dtype=logits.dtype)
