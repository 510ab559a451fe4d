"""Where the rows of `OPS` do not serve, said before a region is made: one node that is refused would spoil all of it.

A node here has `op`, `attrs`, `inputs` and `outputs`; all shapes are known. What a row refuses beyond this is rare.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.engines.native.arithmetic.division import divides
from ebbflow.engines.native.values import size_of


def looked_at(node: Any) -> tuple[int, ...]:
    """Return the inputs (by number) that a guard looks at before anything is computed."""
    return _places(node.op, (node.op.facts.in_range,)) if node.op.facts.in_range else ()


def allows(node: Any) -> bool:
    """Return whether the op's row serves this node."""
    known = node.op.facts.known
    if known and any(node.inputs[i].known is None for i in _places(node.op, known)):
        return False
    limit = LIMITS.get(node.op.name)
    return limit is None or limit(node)


@functools.cache
def _places(op: Any, names: tuple[str, ...]) -> tuple[int, ...]:
    """Return the numbers of the inputs named; behind a list of tensors they are counted from the end."""
    args = op.signature.inputs
    lists = [i for i, arg in enumerate(args) if arg.is_list]
    places = [[arg.name for arg in args].index(name) for name in names]
    return tuple(i - len(args) if lists and i > lists[0] else i for i in places)


def _floats(node: Any) -> bool:
    return node.inputs[0].dtype.is_floating


def _product(node: Any) -> bool:
    a, b = (v.dims for v in node.inputs)
    inner = a[-2 if node.attrs.get("transpose_a", node.attrs.get("adj_x")) else -1]
    return _floats(node) and inner > 0 and a[:-2] == b[:-2] and (len(a) > 2 or node.op.name == "MatMul")


def _softmax(node: Any) -> bool:
    dims = [v.dims for v in node.inputs]
    alike = node.op.name != "SoftmaxCrossEntropyWithLogits" or dims[0] == dims[1]
    return _floats(node) and size_of(dims[0]) > 0 and alike


def _slice(node: Any) -> bool:
    begin, taken, whole = node.inputs[1].known, node.outputs[0].dims, node.inputs[0].dims
    return all(0 <= b <= b + n <= m for b, n, m in zip(begin.tolist(), taken, whole, strict=True))


def _channels_last(node: Any) -> bool:
    return node.attrs["data_format"] == "NHWC"


def _main_diagonal(node: Any) -> bool:
    k = node.inputs[1].known if len(node.inputs) > 1 else 0
    square = not node.op.name.startswith("MatrixDiagPart") and node.outputs[0].dims
    return k is not None and not np.any(k) and (not square or square[-2] == square[-1] == node.inputs[0].dims[-1])


def _band(node: Any) -> bool:
    lower, upper = (int(v.known) for v in node.inputs[1:])
    rows, columns = node.inputs[0].dims[-2:]
    return lower <= rows and upper <= columns


def _cast(node: Any) -> bool:
    return not node.attrs["Truncate"] and (cuts_like_c() or not (_floats(node) and node.outputs[0].dtype.is_integer))


@functools.cache
def cuts_like_c() -> bool:
    """Return whether floats that no integer is near to become the smallest one here, as on x86."""
    odd = [np.nan, np.inf, -np.inf, 1e30, -1e30]
    with np.errstate(all="ignore"):
        return all(
            (np.tile(np.array(odd, source), times).astype(target) == np.iinfo(target).min).all()
            for source in (np.float32, np.float64)
            for target in (np.int32, np.int64)
            for times in (1, 20)
        )


LIMITS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(["MatMul", "BatchMatMul", "BatchMatMulV2"], _product),
    **dict.fromkeys(["Softmax", "LogSoftmax", "SoftmaxCrossEntropyWithLogits"], _softmax),
    "SparseSoftmaxCrossEntropyWithLogits": _softmax,
    **dict.fromkeys(["Mean", "L2Loss", "EuclideanNorm"], _floats),
    **dict.fromkeys(["BiasAdd", "BiasAddGrad"], _channels_last),
    **dict.fromkeys(["FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod", "Div"], divides),
    **dict.fromkeys(["MatrixDiag", "MatrixDiagV3", "MatrixDiagPart", "MatrixDiagPartV3"], _main_diagonal),
    **dict.fromkeys(["ArgMax", "ArgMin"], lambda node: not node.inputs[0].dtype.is_bool),
    "MatrixBandPart": _band,
    "Slice": _slice,
    "Cast": _cast,
}
