"""Where the rows of `OPS` do not serve, said before a region is made: one node that is refused would spoil all of it.

A row names one of these with `lowers(…, where=…)`. A node here has `op`, `attrs`, `inputs` and `outputs`; all shapes
are known. Which inputs must be known is a fact of the op. What a row refuses beyond this is rare.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ebbflow.engines.native.lowering import LIMITS
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


def floats(node: Any) -> bool:
    """Return whether it computes with floats."""
    return node.inputs[0].dtype.is_floating


def product(node: Any) -> bool:
    """Return whether a product is of floats, and of matrices that are alike but for their last two axes."""
    a, b = (v.dims for v in node.inputs)
    inner = a[-2 if node.attrs.get("transpose_a", node.attrs.get("adj_x")) else -1]
    return floats(node) and inner > 0 and a[:-2] == b[:-2] and (len(a) > 2 or node.op.name == "MatMul")


def softmax(node: Any) -> bool:
    """Return whether there are logits at all, and labels of their shape where they are probabilities."""
    dims = [v.dims for v in node.inputs]
    alike = node.op.name != "SoftmaxCrossEntropyWithLogits" or dims[0] == dims[1]
    return floats(node) and size_of(dims[0]) > 0 and alike


def inside(node: Any) -> bool:
    """Return whether a slice lies inside of what it is taken from."""
    begin, taken, whole = node.inputs[1].known, node.outputs[0].dims, node.inputs[0].dims
    return all(0 <= b <= b + n <= m for b, n, m in zip(begin.tolist(), taken, whole, strict=True))


def channels_last(node: Any) -> bool:
    """Return whether channels come last."""
    return node.attrs["data_format"] == "NHWC"


def main_diagonal(node: Any) -> bool:
    """Return whether only the main diagonal is meant."""
    k = node.inputs[1].known if len(node.inputs) > 1 else 0
    return k is not None and not np.any(k)


def square(node: Any) -> bool:
    """Return whether a diagonal becomes a square matrix."""
    dims = node.outputs[0].dims
    return main_diagonal(node) and dims[-2] == dims[-1] == node.inputs[0].dims[-1]


def band(node: Any) -> bool:
    """Return whether a band is no wider than the matrix."""
    lower, upper = (int(v.known) for v in node.inputs[1:])
    rows, columns = node.inputs[0].dims[-2:]
    return lower <= rows and upper <= columns


def cast(node: Any) -> bool:
    """Return whether NumPy casts as the machine does."""
    return not node.attrs["Truncate"] and (cuts_like_c() or not (floats(node) and node.outputs[0].dtype.is_integer))


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
