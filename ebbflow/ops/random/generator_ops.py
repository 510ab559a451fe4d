"""Random ops whose state is a variable: what `tf.random.Generator` is made of.

The state is three int64 numbers, a 128-bit counter and a key; reading numbers moves the counter on. Knows storages of
variables; the class with the methods is in the room of state.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Op, op
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.random import distributions, unseeded
from ebbflow.ops.random.distributions import BLOCKS_PER_NUMBER
from ebbflow.ops.random.philox import Source
from ebbflow.ops.random.stateful_ops import asked, asked_dims, asked_ints, int_bounds
from ebbflow.ops.random.stateless_ops import AUTO_SELECT, PHILOX, THREEFRY, batch_dims, binomial
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import held

STATE_SIZE = 3
_M64 = (1 << 64) - 1


def advance(resource: np.ndarray, alg: Any, count: int, tagged: bool = False) -> Source:
    """Return where a generator stands, and move it on by what `count` numbers may need.

    A state that is `tagged` begins with the number of its algorithm.
    """
    storage = held(resource)
    with storage:
        state = storage.present()
        if not tagged:
            check_algorithm(_scalar(alg, 1))
        _check_state(state, tagged)
        if tagged:
            check_algorithm(int(state[0]))
        skipped = 1 if tagged else 0
        low, high, key = (int(n) & _M64 for n in state[skipped : skipped + STATE_SIZE])
        counter = low | high << 64
        after = counter + count * BLOCKS_PER_NUMBER
        moved = state.copy()
        moved[skipped : skipped + 2] = np.array([after & _M64, after >> 64 & _M64], np.uint64).view(np.int64)
        storage.take(moved)
    return Source(key, counter)


def _check_state(state: np.ndarray, tagged: bool) -> None:
    if state.dtype != np.int64:
        raise invalid(f"dtype of RNG state variable must be int64, not {state.dtype.name}")
    if state.ndim != 1:
        raise invalid(f"RNG state must have one and only one dimension, not {state.ndim}")
    least = STATE_SIZE + tagged
    if state.size < least:
        raise invalid(f"For the Philox algorithm, the size of state must be at least {least}; got {state.size}")


def check_algorithm(number: int) -> None:
    """Refuse an algorithm that generators here do not have."""
    if number == THREEFRY:
        raise errors.UnimplementedError(
            None, None, "Non-XLA devices don't support the ThreeFry algorithm: use alg='philox' or 'auto_select'."
        )
    if number not in (PHILOX, AUTO_SELECT):
        raise invalid(f"Unsupported algorithm id: {number}")


def _scalar(value: np.ndarray, number: int) -> int:
    if value.ndim:
        raise invalid(f"input {number} (0-based) must have shape [], not {show(value.shape)}")
    return int(value)


# --- moving on --------------------------------------------------------------------------------------------------------

RngReadAndSkip = op(
    "RngReadAndSkip(resource:resource, alg:int32, delta:uint64) -> (value:int64) | stateful",
    shape=lambda resource, alg, delta: (STATE_SIZE,),
    gradient=FLAT,
    facts="beside",
)
RngSkip = op(
    "RngSkip(resource:resource, algorithm:int64, delta:int64) -> () | stateful",
    shape=lambda *inputs: [],
    gradient=FLAT,
    facts="beside",
)


@RngReadAndSkip.kernel
def _(xp, resource, alg, delta):
    key, counter = advance(resource, alg, _scalar(delta, 2))
    return np.array([counter & _M64, counter >> 64, key], np.uint64).view(np.int64)


@RngSkip.kernel
def _(xp, resource, algorithm, delta):
    advance(resource, algorithm, _scalar(delta, 2) & _M64)
    return ()


# --- numbers ----------------------------------------------------------------------------------------------------------


def _drawn(name: str, draw: Callable[..., np.ndarray], default: str) -> Op:
    """Declare an op that moves a generator on and gives numbers that need a type and a shape only."""
    declared = op(
        f"{name}(resource:resource, algorithm:int64, shape:shape_dtype) -> (output:dtype)"
        f" | dtype: type = {default}; shape_dtype: type = int64 | stateful",
        shape=lambda resource, algorithm, shape: asked_dims(shape),
        gradient=FLAT,
        facts="beside",
    )

    @declared.kernel
    def _(xp: Any, resource: Any, algorithm: Any, shape: Any, *, dtype: Any) -> Any:
        dims = asked(shape, dtype.np.itemsize)
        count = math.prod(dims)
        return draw(advance(resource, algorithm, count), count, dtype.np).reshape(dims)

    return declared


StatefulUniform = _drawn("StatefulUniform", distributions.uniform, "float")
StatefulUniformFullInt = _drawn("StatefulUniformFullInt", distributions.full_int, "uint64")
StatefulStandardNormalV2 = _drawn("StatefulStandardNormalV2", distributions.normal, "float")
StatefulTruncatedNormal = _drawn("StatefulTruncatedNormal", distributions.truncated_normal, "float")

StatefulStandardNormal = op(
    "StatefulStandardNormal(resource:resource, shape:shape_dtype) -> (output:dtype)"
    " | dtype: type = float; shape_dtype: type = int64 | stateful deprecated@29",
    shape=lambda resource, shape: asked_dims(shape),
    gradient=FLAT,
)
StatefulUniformInt = op(
    "StatefulUniformInt(resource:resource, algorithm:int64, shape:shape_dtype, minval:dtype, maxval:dtype)"
    " -> (output:dtype) | dtype: type = int64; shape_dtype: type = int64 | stateful",
    shape=lambda resource, algorithm, shape, minval, maxval: asked_ints(shape, minval, maxval),
    gradient=FLAT,
    facts="beside",
)
StatefulRandomBinomial = op(
    "StatefulRandomBinomial(resource:resource, algorithm:int64, shape:S, counts:T, probs:T) -> (output:dtype)"
    " | S: index; T: type in [half,float,double,int32,int64] = double;"
    " dtype: type in [half,float,double,int32,int64] = int64 | stateful",
    shape=lambda resource, algorithm, shape, counts, probs: asked_dims(shape),
    gradient=FLAT,
)
NonDeterministicInts = op(
    "NonDeterministicInts(shape:shape_dtype) -> (output:dtype)"
    " | dtype: type = int64; shape_dtype: type = int64 | stateful",
    shape=asked_dims,
    gradient=FLAT,
)


@StatefulStandardNormal.kernel
def _(xp, resource, shape, *, dtype):
    dims = asked(shape, dtype.np.itemsize)
    count = math.prod(dims)
    return distributions.normal(advance(resource, None, count, tagged=True), count, dtype.np).reshape(dims)


@StatefulUniformInt.kernel
def _(xp, resource, algorithm, shape, minval, maxval, *, dtype):
    dims = asked(shape, dtype.np.itemsize)
    count = math.prod(dims)
    low, high = int_bounds(minval, maxval, False)
    return distributions.uniform_int(advance(resource, algorithm, count), count, low, high, dtype.np).reshape(dims)


@StatefulRandomBinomial.kernel
def _(xp, resource, algorithm, shape, counts, probs, *, dtype):
    dims = asked(shape, 8)
    batches = math.prod(batch_dims(counts, probs))
    each = math.prod(dims) // max(batches, 1)
    return binomial(advance(resource, algorithm, batches * 200 * (each + 3) // 4), shape, counts, probs, dtype)


@NonDeterministicInts.kernel
def _(xp, shape, *, dtype):
    if dtype.np.kind not in "iu" or dtype.np.itemsize < 4:
        raise invalid(f"Unsupported dtype: {dtype.name}")
    dims = asked(shape, dtype.np.itemsize)
    return unseeded.full_int(math.prod(dims), dtype.np).reshape(dims)
