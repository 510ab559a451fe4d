"""Recorded calls of public functions: how a case is written, run and compared.

A family of cases is a file in `tests/golden/calls/` with a function `cases(tf)` that yields (name, function without
arguments). The same code runs over TensorFlow, whose answers `tools/record/calls.py` writes beside it, and over
Ebbflow. A case gives tensors in any structure (ragged and sparse ones too); one that TensorFlow refuses is recorded by
the class of its error. False in the third place of what is yielded keeps a case out of functions.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.golden import TOLERANCE, decode, dtype_name, encode

FOLDER = Path(__file__).resolve().parent.parent / "golden" / "calls"


def families() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def cases(family: str, tf: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield each case of a family: its name, its function, whether it may run in a graph."""
    spec = importlib.util.spec_from_file_location(f"calls_{family}", FOLDER / f"{family}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    seen: set[str] = set()
    for name, function, *rest in module.cases(tf):
        assert name not in seen, f"two cases are called {name}"
        seen.add(name)
        yield name, function, rest[0] if rest else True


def gradients(tf: Any, function: Any, *values: Any) -> Any:
    """Return a function's value and the gradients of a weighted sum of it."""
    inputs = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        for x in inputs:
            tape.watch(x)
        y = function(*inputs)
        weights = np.cos(np.arange(int(np.prod(y.shape)))).reshape(y.shape)
        if y.dtype.is_complex:
            parts = tf.math.real(y) * weights + tf.math.imag(y) * weights[::-1]
        else:
            parts = y * tf.constant(weights, y.dtype)
        total = tf.reduce_sum(parts)
    return [y, *tape.gradient(total, inputs)]


def run(tf: Any, function: Any, graph: bool = False) -> Any:
    """Return a case's answer in the form of the record."""
    try:
        result = tf.function(lambda: function(), autograph=False)() if graph else function()
    except Exception as error:
        return {"error": type(error).__name__, "classes": [c.__name__ for c in type(error).__mro__]}
    return plain(tf, result)


def plain(tf: Any, value: Any) -> Any:
    """Return tensors in any structure as JSON."""
    if isinstance(value, tf.RaggedTensor):
        return {"ragged": [plain(tf, value.flat_values), *(plain(tf, s) for s in value.nested_row_splits)]}
    if isinstance(value, tf.SparseTensor):
        return {"sparse": [plain(tf, part) for part in (value.indices, value.values, value.dense_shape)]}
    if isinstance(value, dict):
        return {"dict": {key: plain(tf, part) for key, part in sorted(value.items())}}
    if isinstance(value, (list, tuple)):
        return [plain(tf, part) for part in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return encode(np.asarray(value.numpy() if hasattr(value, "numpy") else value))


def load(family: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{family}.json").read_text(encoding="utf-8"))


def difference(ours: Any, theirs: Any, factor: float = 1.0) -> str | None:
    """Return in what an answer departs from the record, or None."""
    if isinstance(theirs, dict) and "error" in theirs:
        classes = ours.get("classes", ()) if isinstance(ours, dict) else ()
        return None if theirs["error"] in classes else f"TensorFlow raises {theirs['error']}, we give {str(ours)[:200]}"
    if isinstance(ours, dict) and "error" in ours:
        return f"we raise {ours['error']}, TensorFlow gives {str(theirs)[:200]}"
    if isinstance(theirs, dict) and theirs.keys() == {"d", "s", "v"}:
        return _array_difference(ours, theirs, factor)
    if isinstance(theirs, dict):
        if not isinstance(ours, dict) or ours.keys() != theirs.keys():
            return f"{str(ours)[:200]} is not like {str(theirs)[:200]}"
        return next((d for key in theirs if (d := difference(ours[key], theirs[key], factor))), None)
    if isinstance(theirs, list):
        if not isinstance(ours, list) or len(ours) != len(theirs):
            return f"{str(ours)[:200]} is not like {str(theirs)[:200]}"
        return next((d for a, b in zip(ours, theirs, strict=True) if (d := difference(a, b, factor))), None)
    return None if ours == theirs else f"{ours!r} is not {theirs!r}"


def _array_difference(ours: Any, theirs: dict, factor: float) -> str | None:
    if not isinstance(ours, dict) or (ours.get("d"), ours.get("s")) != (theirs["d"], theirs["s"]):
        return f"{str(ours)[:200]} is not {str(theirs)[:200]}"
    a, b = decode(ours), decode(theirs)
    kind = dtype_name(b)
    if kind not in TOLERANCE:
        return None if (a == b).all() else f"{ours['v'][:20]} is not {theirs['v'][:20]}"
    wide = np.complex128 if b.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    absolute, relative = TOLERANCE[kind]
    size = np.abs(b[np.isfinite(b)]).max(initial=1.0)
    near = np.isclose(a, b, rtol=factor * relative, atol=factor * absolute * size, equal_nan=True)
    if near.all():
        return None
    at = tuple(int(i[0]) for i in np.nonzero(~near))
    return f"at {at}: {a[at]} is not {b[at]}; {int((~near).sum())} of {near.size} differ"
