"""Arithmetic whose kernels look at values before they compute: division, powers, checks.

What the kernels refuse (a division by zero, a negative power of an integer, a NaN) passes here in silence, as nothing
can be refused once a program is compiled; the rules say so.
"""

from __future__ import annotations

from typing import Any

from ebbflow.engines.xla.library import lax
from ebbflow.engines.xla.rules import lowering


def _whole_numbers(complaint: str) -> Any:
    return lambda attrs: complaint if attrs["T"].is_integer else None


BY_ZERO = _whole_numbers("integer division by zero")


def is_whole(x: Any) -> bool:
    return x.dtype.kind in "iu"


def _toward_zero(jnp: Any, x: Any, y: Any) -> Any:
    return lax.div(*jnp.broadcast_arrays(x, y))


@lowering("Div", "RealDiv", loses=BY_ZERO)
def _(jnp: Any, x: Any, y: Any) -> Any:
    return _toward_zero(jnp, x, y) if is_whole(x) else jnp.divide(x, y)


@lowering("TruncateDiv", loses=BY_ZERO)
def _(jnp: Any, x: Any, y: Any) -> Any:
    if is_whole(x):
        return _toward_zero(jnp, x, y)
    return jnp.divide(x, y) if x.dtype.kind == "c" else jnp.trunc(jnp.divide(x, y))


@lowering("FloorDiv", loses=BY_ZERO)
def _(jnp: Any, x: Any, y: Any) -> Any:
    return jnp.floor_divide(x, y) if is_whole(x) else jnp.floor(jnp.divide(x, y))


@lowering("FloorMod", loses=BY_ZERO)
def _(jnp: Any, x: Any, y: Any) -> Any:
    return jnp.mod(x, y)


@lowering("Mod", "TruncateMod", loses=BY_ZERO)
def _(jnp: Any, x: Any, y: Any) -> Any:
    return jnp.fmod(x, y)


@lowering("Pow", loses=_whole_numbers("a negative power of an integer"))
def _(jnp: Any, x: Any, y: Any) -> Any:
    return jnp.power(x, y)


@lowering("CheckNumerics", "CheckNumericsV2", loses="whether all numbers are finite")
def _(jnp: Any, tensor: Any) -> Any:
    return tensor


@lowering("Assert", loses="whether what it asserts holds")
def _(jnp: Any, condition: Any, data: Any) -> Any:
    return ()


@lowering("IgammaGradA")
def _(jnp: Any, a: Any, x: Any) -> Any:
    return lax.igamma_grad_a(*jnp.broadcast_arrays(a, x))
