"""How ops are written into a Program: lines of NumPy that put a result into an array that is there already.

They are in the op's own argument names: `out` is the array to fill, `zero`, `one`, … are constants of its dtype.
An op without lines is called by its kernel. Lines hold for float32 and float64, where NumPy computes in the dtype
itself; what depends on attrs or on known values is a function that returns the lines, or None where it does not apply.
Lines must give bit for bit what the op's kernel gives.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Node
from ebbflow.core import dtypes
from ebbflow.core.rule_names import named

FLOATS = (dtypes.float32, dtypes.float64)

Lines = Sequence[str]
Written = Lines | Callable[[Node], Lines | None]

LINES: dict[str, Written] = {
    "Relu": ["maximum(features, zero, out=out)"],
    "Relu6": ["maximum(features, zero, out=out)", "minimum(out, six, out=out)"],
    "Sigmoid": ["negative(x, out)", "exp(out, out)", "add(out, one, out)", "reciprocal(out, out)"],
    "ReluGrad": ["greater(features, zero, out)", "multiply(gradients, out, out)"],
    "SigmoidGrad": ["subtract(one, y, out)", "multiply(y, out, out)", "multiply(dy, out, out)"],
    "TanhGrad": ["multiply(y, y, out)", "subtract(one, out, out)", "multiply(dy, out, out)"],
    "SquaredDifference": ["subtract(x, y, out)", "multiply(out, out, out)"],
    "Softsign": ["absolute(features, out)", "add(out, one, out)", "divide(features, out, out)"],
    "BiasAdd": lambda node: ["add(value, bias, out)"] if node.attrs["data_format"] == "NHWC" else None,
}

CONSTANTS = {"zero": 0, "one": 1, "two": 2, "six": 6, "half": 0.5}


def written(*names: str) -> Callable[[Callable[[Node], Any]], Callable[[Node], Any]]:
    """Declare how the ops named are written, by a function of the node."""

    def declare(fn: Callable[[Node], Any]) -> Callable[[Node], Any]:
        for name in names:
            LINES[name] = fn
        return named(fn, f"{names[0]}.lines")

    return declare


@written("AddN")
def _(node: Node) -> Lines | None:
    if len(node.inputs) < 2:
        return None
    first = "add(inputs[0], inputs[1], out)"
    return [first, *[f"add(out, inputs[{i}], out)" for i in range(2, len(node.inputs))]]


@written("MatMul")
def _(node: Node) -> Lines | None:
    a = "a.T" if node.attrs["transpose_a"] else "a"
    b = "b.T" if node.attrs["transpose_b"] else "b"
    if not all(v.size for v in node.inputs):
        return None
    return [f"{a}.dot({b}, out)"]  # without the dispatching that `matmul` does: 0.7 µs less


@written("BatchMatMulV2", "BatchMatMul", "BatchMatMulV3")
def _(node: Node) -> Lines | None:
    if not all(v.size for v in node.inputs):
        return None
    x = "x.swapaxes(-1, -2)" if node.attrs["adj_x"] else "x"
    y = "y.swapaxes(-1, -2)" if node.attrs["adj_y"] else "y"
    return [f"matmul({x}, {y}, out)"]


@written("BiasAddGrad")
def _(node: Node) -> Lines | None:
    rank = len(node.inputs[0].dims or ())
    if node.attrs["data_format"] != "NHWC" or rank < 2:
        return None
    axes = "0" if rank == 2 else str(tuple(range(rank - 1)))
    return [f"add.reduce(out_backprop, {axes}, None, out)"]


def _folded(node: Node) -> tuple[str, bool] | None:
    """Return the axes of a reduction as they are written, and whether they are kept."""
    axes, dims = node.inputs[1].known, node.inputs[0].dims
    if axes is None or not dims or not node.inputs[0].size:
        return None
    folded = tuple(sorted({int(a) % len(dims) for a in axes.reshape(-1)}))
    if not folded:
        return None
    whole = len(folded) == len(dims) and len(dims) > 1
    return ("None" if whole else str(folded[0]) if len(folded) == 1 else str(folded)), bool(node.attrs["keep_dims"])


@written("Sum", "Max", "Min", "Prod")
def _(node: Node) -> Lines | None:
    found = _folded(node)
    if found is None:
        return None
    name = {"Sum": "add", "Max": "maximum", "Min": "minimum", "Prod": "multiply"}[node.op.name]
    return [f"{name}.reduce(input, {found[0]}, None, out, {found[1]})"]


@written("Mean")
def _(node: Node) -> Lines | None:
    found = _folded(node)
    if found is None:
        return None
    count = node.inputs[0].size // max(node.outputs[0].size, 1)
    return [f"add.reduce(input, {found[0]}, None, out, {found[1]})", f"divide(out, number({count}), out)"]


@written("ConcatV2")
def _(node: Node) -> Lines | None:
    axis = node.inputs[-1].known
    if axis is None:
        return None
    parts, out = node.inputs[:-1], node.outputs[0]
    if len(parts) > MANY or not all(v.is_static for v in (*parts, out)):
        return [f"concatenate(({''.join(f'values[{i}], ' for i in range(len(parts)))}), {int(axis)}, out)"]
    before = ":, " * (int(axis) % len(out.dims))  # type: ignore[arg-type]
    ends = list(itertools.accumulate((v.dims[int(axis)] for v in parts), initial=0))  # type: ignore[index]
    return [f"out[{before}{start}:{end}] = values[{i}]" for i, (start, end) in enumerate(itertools.pairwise(ends))]


MANY = 6
"""Parts of a concatenation from which on one call is cheaper than an assignment for each."""

# --- reading lines ----------------------------------------------------------------------------------------------------

_WORD = re.compile(r"(?<![.\w])[A-Za-z_]\w*(?:\[\d+\])?(?!=)")


def lines_for(node: Node) -> Lines | None:
    """Return the lines of a node with one output of known shape, or None where there are none for it."""
    out = node.outputs[0]
    if out.dtype not in FLOATS or any(v.dtype in FLOATS and v.dtype is not out.dtype for v in node.inputs):
        return _ufunc(node)
    found = LINES.get(node.op.name)
    if found is None:
        return _ufunc(node)
    return found(node) if callable(found) else found


def _ufunc(node: Node) -> Lines | None:
    ufunc = getattr(node.op.kernel_fn, "ufunc", None)
    if (
        ufunc is None
        or node.outputs[0].dtype.np.kind not in "fciub"
        or any(v.dtype.np.kind == "V" for v in node.inputs)
    ):
        return None
    given = "".join(v.dtype.np.char for v in node.inputs)
    if given + "->" + node.outputs[0].dtype.np.char not in ufunc.types:
        return None
    target = "out=out" if ufunc in (np.maximum, np.minimum) else "out"
    return [f"{ufunc.__name__}({', '.join(a.name for a in node.op.signature.inputs)}, {target})"]


def argument_names(node: Node) -> list[str]:
    """Return the words that stand for the inputs in a line."""
    names: list[str] = []
    for arg in node.op.signature.inputs:
        if arg.is_list:
            names += [f"{arg.name}[{i}]" for i in range(arg.count(node.attrs))]
        else:
            names.append(arg.name)
    return names


def words(line: str) -> list[str]:
    """Return the names in a line, list items as one word."""
    return _WORD.findall(line)


def fill(line: str, names: dict[str, str]) -> str:
    """Return the line with names put in the place of its words."""
    return _WORD.sub(lambda found: names.get(found.group(), found.group()), line)


def may_share(node: Node, lines: Lines) -> list[bool]:
    """Return for each input whether `out` may be the same memory: nothing reads it after the first write."""
    names = argument_names(node)
    shape = node.outputs[0].dims
    late = {word for line in lines[1:] for word in words(line)}
    first = lines[0]
    elementwise = not re.search(r"\b(matmul|dot|reduce|concatenate|out\[)", first)
    return [
        elementwise and name not in late and v.dims == shape and v.dtype is node.outputs[0].dtype
        for name, v in zip(names, node.inputs, strict=True)
    ]


def making(line: str) -> str | None:
    """Return what makes the array that the first line fills, where NumPy makes the very same by itself."""
    found = _FILLS.fullmatch(line)
    return None if found is None else f"{found.group(1)})"


_FILLS = re.compile(
    r"((?:maximum|minimum|negative|exp|add|subtract|multiply|divide|tanh|\w+\.dot)\(.*), (?:out=)?out\)"
)


def namespace() -> dict[str, Any]:
    """Return the names that lines use."""
    names = [
        "maximum",
        "minimum",
        "negative",
        "exp",
        "add",
        "reciprocal",
        "subtract",
        "multiply",
        "absolute",
        "divide",
        "matmul",
        "concatenate",
    ]
    found = {name: getattr(np, name) for name in names}
    found |= {n: f for n, f in vars(np).items() if isinstance(f, np.ufunc)}  # to ask for each name loads f2py and more
    return found
