"""The language of the case tables: an op is a call of `op`, a case is a row of it.

    op("Reshape", ANY,
       case(tensor=D("2 3"), shape=I([3, 2])),          # the first row is repeated for every dtype
       case(tensor=D("0 3"), shape=I([-1])),            # the others run in the first dtype
       bad(tensor=D("2 3"), shape=I([4, 2])))           # must be refused

Arguments that are tensors are written `D` (made-up data of the op's dtype), `V` (given values of the op's dtype),
`I` (index values) or `L` (given values of a fixed dtype); every other argument is an attr, `DT("...")` being a dtype
and `SHAPE([...])` a shape. Knows nothing of TensorFlow: `ops.py` asks it for the answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tests.ops.golden import encode, np_dtype

FLOAT = ("float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
SIGNED = ("int32", "int64", "int8", "int16")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INT = SIGNED + UNSIGNED
REAL = FLOAT + INT
NUMBER = REAL + COMPLEX
ANY = (*NUMBER, "bool", "string")

nan, inf = math.nan, math.inf


@dataclass(frozen=True)
class D:
    """Made-up data: distinct small numbers, evenly spread between lo and hi, in a scrambled order."""

    dims: str
    lo: float = -2.0
    hi: float = 2.0
    dtype: str | None = None


@dataclass(frozen=True)
class V:
    """Given values in the op's dtype."""

    values: Any
    dtype: str | None = None


def L(dtype: str, values: Any) -> V:
    """Return given values in a fixed dtype."""
    return V(values, dtype)


def I(values: Any) -> V:  # noqa: E743 - reads well in tables
    """Return given values in the row's index dtype."""
    return V(values, "index")


def B(values: Any) -> V:
    return V(values, "bool")


def DT(name: str) -> str:
    return "DT:" + name


def SHAPE(dims: list | None) -> dict:
    return {"shape": dims}


SAME_DT = "DT:*"  # an attr that is the op's dtype


@dataclass(frozen=True)
class Row:
    args: dict[str, Any]
    refused: bool = False
    options: dict[str, Any] = field(default_factory=dict)


OPTIONS = frozenset(
    {
        "second",
        "wide",
        "no_grad",
        "refuses_grad",
        "via",
        "tol",
        "tol64",
        "zeros",
        "says",
        "mixed",
        "dtypes",
        "only",
        "toward",
        "free",
    }
)


def case(**args: Any) -> Row:
    """Return a row. What is not one of these options is an argument of the op.

    second        the second-order gradient too
    wide          repeat for every dtype; dtypes: repeat for exactly these
    no_grad       record no gradient; refuses_grad: asking for one must be refused
    toward        numbers of the outputs that get an upstream gradient (all)
    free          numbers of the outputs whose values are uninitialised
    only          modes TensorFlow can answer in; mixed: modes may disagree about refusing
    tol, tol64    tolerance factor and reason, for all dtypes or for 64-bit answers
    via, zeros, says    as in the file format
    """
    return Row(
        {k: v for k, v in args.items() if k not in OPTIONS}, False, {k: v for k, v in args.items() if k in OPTIONS}
    )


def bad(**args: Any) -> Row:
    """Return a row that must be refused."""
    return replace(case(**args), refused=True)


def op(name: str, dtypes: tuple[str, ...], *rows: Row, index: tuple[str, ...] = ("int32", "int64")) -> Iterator[dict]:
    """Yield the cases of one op: every row in the first dtype, the first row (and `wide` ones) in every dtype.

    The first row is also repeated with the other index dtypes.
    """
    for number, row in enumerate(rows):
        wide = (number == 0 and not row.refused) or row.options.get("wide")
        for dtype in row.options.get("dtypes", dtypes if wide else dtypes[:1]):
            yield _build(name, number, row, dtype, index[0])
        if number == 0 and _uses_index(row):
            for other in index[1:]:
                yield _build(name, number, row, dtypes[0], other)


def _uses_index(row: Row) -> bool:
    specs = [s for v in row.args.values() for s in (v if isinstance(v, list) else [v])]
    return any(isinstance(s, V) and s.dtype == "index" for s in specs)


def _build(name: str, number: int, row: Row, dtype: str, index: str) -> dict:
    inputs, attrs, salt = {}, {}, number
    for argument, value in row.args.items():
        if _is_tensors(value):
            salt += 1
            inputs[argument] = (
                [encode(array_of(v, dtype, index, salt + i)) for i, v in enumerate(value)]
                if isinstance(value, list)
                else encode(array_of(value, dtype, index, salt))
            )
        else:
            attrs[argument] = _fill(value, dtype)
    tag = f"{number}-{dtype}" + ("" if index == "int32" or not _uses_index(row) else f"-{index}")
    made = {"op": name, "id": f"{name}/{tag}", "inputs": inputs, "attrs": attrs}
    return made | {"_row": row}


def _is_tensors(value: Any) -> bool:
    return isinstance(value, (D, V)) or (isinstance(value, list) and bool(value) and isinstance(value[0], (D, V)))


def _fill(value: Any, dtype: str) -> Any:
    if isinstance(value, list):
        return [_fill(v, dtype) for v in value]
    return DT(dtype) if value == SAME_DT else value


# ---------------------------------------------------------------------------------------------- making arrays


def array_of(spec: D | V, dtype: str, index: str, salt: int) -> np.ndarray:
    """Return the array a table entry stands for."""
    wanted = {None: dtype, "index": index}.get(spec.dtype, spec.dtype)
    if isinstance(spec, D):
        return made_up(tuple(int(d) for d in spec.dims.split()), wanted, spec.lo, spec.hi, salt)
    if wanted == "string":
        return _strings(spec.values)
    values = np.asarray(spec.values)
    if values.size and values.dtype.kind == "f" and np_dtype(wanted).kind in "iu":
        values = np.trunc(values)
    return values.astype(np_dtype(wanted))


def _strings(values: Any) -> np.ndarray:
    shape = np.shape(values) if not isinstance(values, (bytes, str)) else ()
    flat = [
        v if isinstance(v, bytes) else str(v).encode("latin-1") for v in np.asarray(values, object).reshape(-1).tolist()
    ]
    out = np.empty(len(flat), object)
    out[:] = flat
    return out.reshape(shape)


def made_up(dims: tuple[int, ...], dtype: str, lo: float = -2.0, hi: float = 2.0, salt: int = 0) -> np.ndarray:
    """Return deterministic data of a dtype; floats are multiples of 1/16, so that every float dtype holds them."""
    count = math.prod(dims)
    order = _scrambled(count, salt)
    if dtype == "string":
        words = ["", "a", "b", "ab", "zeta", "Ünï", "x y", "0"]
        return _strings([words[(k + salt) % 8] for k in order]).reshape(dims)
    if dtype == "bool":
        return np.array([(k * 5 + salt) % 3 == 0 for k in order], bool).reshape(dims)
    kind = np_dtype(dtype).kind
    if kind == "c":
        imaginary = made_up((count,), "float64", lo, hi, salt + 3) if count else np.zeros(0)
        return (np.array(_spread(order, lo, hi, 16)) + 1j * imaginary).astype(dtype).reshape(dims)
    if kind in "iu":
        low = max(lo, 0.0) if kind == "u" else lo
        return np.array([round(v * 4) for v in _spread(order, low, hi, 4)], dtype).reshape(dims)
    return np.array(_spread(order, lo, hi, 16), np.float64).astype(np_dtype(dtype)).reshape(dims)


def _spread(order: list[int], lo: float, hi: float, steps: int) -> list[float]:
    count = max(len(order), 1)
    points = [round((lo + (hi - lo) * (k + 0.4) / count) * steps) / steps for k in order]
    return [min(max(p, math.ceil(lo * steps) / steps), math.floor(hi * steps) / steps) for p in points]


def _scrambled(count: int, salt: int) -> list[int]:
    stride = next((s for s in (7 + 2 * salt, 11, 13, 17, 19, 5, 3) if math.gcd(s, max(count, 1)) == 1), 1)
    return [(i * stride + salt * 3 + 1) % count for i in range(count)]
