"""A function called for each row of some tensors (`MapDefun`), as TensorFlow's own helpers for datasets do it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.shape import as_dims, is_compatible
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.data.pipe import TYPED, caller
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid


def _shapes(arguments: Any, captured_inputs: Any, *, output_shapes: Any) -> list[Any]:
    rows = {given.dims[0] for given in arguments if given.dims} - {None}
    if len(rows) > 1:
        raise ValueError(f"MapDefun: arguments must have equally many rows, got {sorted(rows)}")
    first = rows.pop() if rows else None
    return [None if dims is None else (first, *dims) for dims in map(as_dims, output_shapes)]


MapDefun = op(
    "MapDefun(arguments:list(Targuments), captured_inputs:list(Tcaptured)) -> (output:list(output_types)) | "
    f"Targuments: list(type) >= 1; Tcaptured: list(type) >= 0 = []; {TYPED}; f: func; "
    "max_intra_op_parallelism: int = 1",
    shape=_shapes,
    gradient=FLAT,
)


@MapDefun.kernel
def _(xp: Any, arguments: Any, captured_inputs: Any, *, output_types: Any, output_shapes: Any, f: Any, run: Any) -> Any:
    if any(not a.ndim for a in arguments) or len({len(a) for a in arguments}) != 1:
        shapes = [list(a.shape) for a in arguments]
        raise invalid(f"All inputs must have the same dimension 0, and at least one: arguments have shapes {shapes}")
    call = caller(f, captured_inputs, run)
    if len(arguments) != call.count or [t.np for t in output_types] != call.facts.types:
        raise invalid(
            f"f takes {call.count} arguments and gives {call.facts.types}: not what arguments and output_types say"
        )
    results = [call([a[i, ...] for a in arguments]) for i in range(len(arguments[0]))]
    return [
        _column([row[k] for row in results], *said)
        for k, said in enumerate(zip(output_types, output_shapes, strict=True))
    ]


def _column(parts: Sequence[np.ndarray], dtype: Any, shape: Any) -> np.ndarray:
    dims = as_dims(shape)
    for part in parts:
        if not is_compatible(part.shape, dims) or part.shape != parts[0].shape:
            wanted = f"output_shapes says {dims}, the first row has {list(parts[0].shape)}"
            raise invalid(f"A row of the output has shape {list(part.shape)}: {wanted}")
    return np.stack(parts) if parts else np.empty([0, *[n or 0 for n in dims or ()]], dtype.np)


def map_defun(
    fn: Any,
    elems: list[TensorLike],
    output_dtypes: list[DTypeLike],
    output_shapes: list[ShapeLike],
    max_intra_op_parallelism: int = 1,
) -> Any:
    """Return what a `tf.function` with an input signature gives for each row of tensors, stacked."""
    for name, given in (("elems", elems), ("output_dtypes", output_dtypes), ("output_shapes", output_shapes)):
        if not isinstance(given, list):
            raise ValueError(f"`{name}` must be a list, got {given!r}")
    concrete = fn.get_concrete_function()
    found = MapDefun(
        [convert(e) for e in elems], list(concrete.captured_inputs), f=concrete, output_types=output_dtypes,
        output_shapes=output_shapes, max_intra_op_parallelism=max_intra_op_parallelism,
    )  # fmt: skip
    return found if isinstance(found, list) else [found]
