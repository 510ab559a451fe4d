"""`tf.random.Generator`: random numbers whose state is a variable the program holds.

Each call moves the variable's counter on and draws from where it stood, so a generator may be saved, copied and reset
like any variable. Knows variables and the random ops without state; the numbers themselves come from `ops`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import as_shape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, Nested, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.random.generator_ops import (
    STATE_SIZE,
    NonDeterministicInts,
    RngReadAndSkip,
    StatefulRandomBinomial,
)
from ebbflow.ops.random.stateful import added
from ebbflow.ops.random.stateless import algorithm_number
from ebbflow.ops.random.stateless_ops import (
    AUTO_SELECT,
    PHILOX,
    THREEFRY,
    StatelessRandomNormalV2,
    StatelessRandomUniformFullIntV2,
    StatelessRandomUniformIntV2,
    StatelessRandomUniformV2,
    StatelessTruncatedNormalV2,
)
from ebbflow.platform.config import is_op_determinism_enabled
from ebbflow.state.variables import Variable
from ebbflow.trackable.auto import AutoTrackable

STATE_TYPE = dtypes.int64
_SIZES = {PHILOX: STATE_SIZE, AUTO_SELECT: STATE_SIZE, THREEFRY: 2}


def create_rng_state(seed: TensorLike, alg: str) -> Tensor:
    """Return the state of a generator: `seed` is an integer of any size, or integers of 64 bits.

    >>> create_rng_state(1, "philox").numpy().tolist()
    [1, 0, 0]
    """
    size = _state_size(alg)
    if isinstance(seed, int):
        parts = [seed >> 64 * i & (2**64 - 1) for i in range(size)]
        return convert(np.array(parts, np.uint64).view(np.int64))
    state = raw.Reshape(_state_tensor(seed), [-1])[:size]
    missing = size - (state.shape[0] or 0)
    return raw.ConcatV2([np.zeros(missing, np.int64), state], 0) if missing > 0 else state


def _state_size(alg: Any) -> int:
    number = algorithm_number(alg)
    if number not in _SIZES:
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are {PHILOX} for the Philox algorithm, "
            f"{THREEFRY} for the ThreeFry algorithm, and {AUTO_SELECT} for auto-selection."
        )
    return _SIZES[number]


def counter_size(alg: AnyTensor) -> int:
    """Return how many numbers of a state are its counter; the rest is the key."""
    return _state_size(alg) - 1


def uint_to_int(n: int) -> int:
    """Return the signed number that has the same 64 bits.

    >>> uint_to_int(2**64 - 1)
    -1
    """
    return n - 2**64 if n >= 2**63 else n


def non_deterministic_ints(shape: AnyTensor, dtype: DTypeLike = dtypes.int64) -> Tensor:
    """Return integers that nobody can foretell, of which every bit is random."""
    return NonDeterministicInts(_shape_tensor(shape), dtype=as_dtype(dtype))


def _state_tensor(value: Any) -> Any:
    """Return integers as int64, large ones by their bits."""

    def signed(n: Any) -> Any:
        return uint_to_int(n) if isinstance(n, int) else n

    value = nest.map_structure(signed, value) if isinstance(value, (list, tuple)) else signed(value)
    value = convert(value, None, dtypes.int64)
    return value if value.dtype is dtypes.int64 else raw.Cast(value, DstT=dtypes.int64)


class Generator(AutoTrackable):
    """A source of random numbers with a state of its own."""

    def __init__(self, copy_from: Any = None, state: Nested = None, alg: TensorLike | None = None):
        if copy_from is not None:
            if alg is not None or state is not None:
                raise ValueError("a generator is made from another one, or from `state` and `alg`, not from both")
            state, alg = copy_from.state.read_value(), copy_from.algorithm
        if alg is None or state is None:
            raise ValueError("a generator needs `state` and `alg`; Generator.from_seed(seed) makes both")
        self._alg = algorithm_number(alg)
        if isinstance(state, Variable):
            self._state_var = state
        else:
            state = _state_tensor(state)
            self._check(state)
            self._state_var = Variable(state, dtype=dtypes.int64, trainable=False, name="StateVar")

    @classmethod
    def from_state(cls, state: Nested, alg: TensorLike) -> Generator:
        """Return a generator that stands where `state` says."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: AnyTensor, alg: AnyTensor = None) -> Generator:
        """Return the generator that belongs to a seed."""
        alg = PHILOX if alg is None else algorithm_number(alg)
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: TensorLike | None = None) -> Generator:
        """Return a generator whose numbers nobody can foretell."""
        if is_op_determinism_enabled():
            raise RuntimeError(
                '"from_non_deterministic_state" cannot be called when determinism is enabled. '
                "Generator.from_seed makes a generator of a seed"
            )
        alg = PHILOX if alg is None else algorithm_number(alg)
        return cls(state=NonDeterministicInts([_state_size(alg)], dtype=dtypes.int64), alg=alg)

    @classmethod
    def from_key_counter(cls, key: TensorLike, counter: TensorLike, alg: TensorLike) -> Generator:
        """Return a generator with this key, standing at this counter."""
        return cls(state=_joined(key, counter), alg=alg)

    # --- its state --------------------------------------------------------------------------------------------------

    @property
    def state(self) -> Variable:
        """The variable that holds counter and key."""
        return self._state_var

    @property
    def algorithm(self) -> int | Tensor:
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self) -> Tensor:
        """The part of the state that stays the same."""
        return self._state_var[-1]

    def reset(self, state: Nested) -> None:
        """Go to where `state` says."""
        state = _state_tensor(state)
        self._check(state)
        self._state_var.assign(state)

    def reset_from_seed(self, seed: TensorLike) -> None:
        """Go to where a new generator of that seed would stand."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: TensorLike, counter: TensorLike) -> None:
        """Take this key, and stand at this counter."""
        self.reset(_joined(key, counter))

    def _check(self, state: Any) -> None:
        as_shape(state.shape).assert_is_compatible_with([_state_size(self._alg)])

    def skip(self, delta: TensorLike) -> Tensor:
        """Move on by what `delta` numbers may need; return the state as it was."""
        delta = convert(delta)
        alg = np.array(self._alg, np.int32)
        return RngReadAndSkip(self._state_var.handle, alg, raw.Cast(delta, DstT=dtypes.uint64))

    def _place(self, shape: Any) -> tuple[Any, Any]:
        """Return key and counter to draw numbers of this shape from."""
        state = self.skip(raw.Prod(shape, [0]))
        counter = raw.Bitcast(state[:2], type=dtypes.uint64)
        return raw.Bitcast(state[2:], type=dtypes.uint64), counter

    # --- its numbers ------------------------------------------------------------------------------------------------

    def _draw(self, op: Any, shape: Any, dtype: Any, *inputs: Any, name: Any = None) -> Any:
        key, counter = self._place(shape)
        attrs = {} if inputs else {"dtype": dtype}
        return op(shape, key, counter, np.array(self._alg, np.int32), *inputs, name=name, **attrs)

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Return normal numbers of that mean and standard deviation."""
        return self._spread(StatelessRandomNormalV2, "stateful_normal", shape, mean, stddev, dtype, name)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Return normal numbers, drawn again where they are two standard deviations or more from the mean."""
        return self._spread(StatelessTruncatedNormalV2, "truncated_normal", shape, mean, stddev, dtype, name)

    def _spread(self, op: Any, default: str, shape: Any, mean: Any, stddev: Any, dtype: Any, name: Any) -> Any:
        dtype = as_dtype(dtype)
        with name_scope(name, default, [shape, mean, stddev]) as scope:
            shape = _shape_tensor(shape)
            mean = convert(mean, dtype, None, "mean")
            stddev = convert(stddev, dtype, None, "stddev")
            return added(raw.Mul(self._draw(op, shape, dtype), stddev, name="mul"), mean, scope)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Return numbers from [minval, maxval): real ones (up to 1 by default), or integers (any, for None)."""
        dtype = as_dtype(dtype)
        if dtype.is_integer and (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {dtype!r}, minval and maxval must be both `None` or both non-`None`; "
                f"got minval={minval} and maxval={maxval}"
            )
        if maxval is None and not dtype.is_integer:
            maxval = 1
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            shape = _shape_tensor(shape)
            if minval is None:
                return self._draw(StatelessRandomUniformFullIntV2, shape, dtype, name=scope or None)
            minval = convert(minval, dtype, None, "min")
            maxval = convert(maxval, dtype, None, "max")
            if dtype.is_integer:
                return self._draw(StatelessRandomUniformIntV2, shape, dtype, minval, maxval, name=scope or None)
            span = raw.Sub(maxval, minval, name="sub")
            return added(raw.Mul(self._draw(StatelessRandomUniformV2, shape, dtype), span, name="mul"), minval, scope)

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Return integers of which every bit is random."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as scope:
            return self._draw(
                StatelessRandomUniformFullIntV2, _shape_tensor(shape), as_dtype(dtype), name=scope or None
            )

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """Return how often something of chance `probs` happens in `counts` tries."""
        with name_scope(name, "binomial", [shape, counts, probs]) as scope:
            counts = convert(counts, None, None, "counts")
            probs = convert(probs, None, None, "probs")
            alg = np.array(self._alg, np.int64)
            return StatefulRandomBinomial(
                self._state_var.handle, alg, _shape_tensor(shape), counts, probs, dtype=dtype, name=scope or None
            )

    def _standard_normal(self, shape, dtype):
        return self._draw(StatelessRandomNormalV2, _shape_tensor(shape), as_dtype(dtype))

    def _make_int64_keys(self, shape=()):
        return self.uniform_full_int(shape, dtypes.int64)

    def make_seeds(self, count=1):
        """Return `count` pairs of seeds for ops without state, as the columns of a matrix."""
        keys = self._make_int64_keys([count])
        return raw.Pack([keys, raw.ZerosLike(keys)], name="stack")

    def split(self, count=1):
        """Return `count` new generators made from this one."""
        keys = raw.Unpack(self._make_int64_keys([count]), num=count)
        zeros = np.zeros(_state_size(self._alg) - 1, np.int64)
        return [Generator(state=raw.ConcatV2([zeros, raw.Reshape(key, [1])], 0), alg=self._alg) for key in keys]


def _shape_tensor(shape: Any) -> Any:
    empty = isinstance(shape, (list, tuple)) and not shape
    return convert(shape, dtypes.int64 if empty else None, None, "shape")


def _joined(key: Any, counter: Any) -> Any:
    return raw.ConcatV2([_state_tensor(counter), raw.Reshape(_state_tensor(key), [1])], 0)


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """Return the program's own generator, made the first time it is asked for."""
    if not _global:
        if is_op_determinism_enabled():
            raise RuntimeError(
                '"get_global_generator" cannot be called if determinism is enabled, unless "set_global_generator" has '
                'already been called. Please call "set_global_generator" first.'
            )
        with context.eager_scope() if context.switches.eager_by_default else name_scope(None):
            _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator: Generator | None) -> None:
    """Make `generator` the program's own; for None, one is made the next time it is asked for."""
    _global[:] = [] if generator is None else [generator]
