"""How many float operations a node takes, as TensorFlow 1's profiler counts them.

A table of formulas by op, each of a node whose shapes are known; ops that are not in it (activations, copies, gathers)
count as none, which is how the published numbers of models were made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Formula = Callable[[Any], int]


def count(node: Any) -> int:
    """Return the float operations of a node; 0 where its op has no formula, or a shape is not known."""
    formula = FORMULAS.get(node.type)
    if formula is None:
        return 0
    try:
        return int(formula(node))
    except TypeError:  # a length is None
        return 0


def _size(tensor: Any) -> int:
    return math.prod(tensor._dims)


def _per_element(times: int) -> Formula:
    return lambda node: times * _size(node.outputs[0])


def _reduction(finish: int) -> Formula:
    """What is left out of the sum, and `finish` operations for each result."""
    return lambda node: _size(node.inputs[0]) - _size(node.outputs[0]) + finish * _size(node.outputs[0])


def _product(node: Any) -> int:
    attrs, dims = node._attrs, node.inputs[0]._dims
    turned = attrs.get("transpose_a") or attrs.get("adj_x")
    return 2 * _size(node.outputs[0]) * dims[-2 if turned else -1]


def _convolution(filters: int, image: int | None) -> Formula:
    """Two for each element of the image and each of the filter that meets it. `filters` is the number of the input that
    has the filter's shape; `image` of the one with the result's (None: the output).
    """

    def formula(node: Any) -> int:
        result = node.outputs[0] if image is None else node.inputs[image]
        dims = node.outputs[0]._dims if filters < 0 else node.inputs[filters]._dims
        return 2 * _size(result) * math.prod(dims[:-1])

    return formula


def _over_window(node: Any) -> int:
    return 2 * _size(node.outputs[0]) * math.prod(node.inputs[1]._dims[:2])


def _pool(result: int | None, factor: int, extra: int) -> Formula:
    def formula(node: Any) -> int:
        size = _size(node.outputs[0] if result is None else node.inputs[result])
        return factor * size * math.prod(node._attrs["ksize"]) + extra * size

    return formula


FORMULAS: dict[str, Formula] = {
    "Add": _per_element(1),
    "AddN": lambda node: _size(node.outputs[0]) * (len(node.inputs) - 1),
    "ArgMax": _reduction(0),
    "ArgMin": _reduction(0),
    "AssignAdd": _per_element(1),
    "AssignSub": _per_element(1),
    "AvgPool": _pool(None, 1, 0),
    "AvgPoolGrad": _pool(1, 2, 0),
    "BatchMatMul": _product,
    "BiasAdd": _per_element(1),
    "BiasAddGrad": lambda node: _size(node.inputs[0]) - _size(node.outputs[0]),
    "Conv2D": _convolution(1, None),
    "Conv2DBackpropFilter": _convolution(-1, 2),
    "Conv2DBackpropInput": _convolution(1, 2),
    "Conv3D": _convolution(1, None),
    "DepthwiseConv2dNative": _over_window,
    "Dilation2D": _over_window,
    "Equal": _per_element(1),
    "Greater": _per_element(1),
    "GreaterEqual": _per_element(1),
    "L2Loss": lambda node: 3 * _size(node.inputs[0]) - 1,
    "Less": _per_element(1),
    "LessEqual": _per_element(1),
    "Log": _per_element(1),
    "MatMul": _product,
    "MaxPool": _pool(None, 1, 0),
    "MaxPoolGrad": _pool(2, 1, 1),
    "Maximum": _per_element(1),
    "Mean": _reduction(1),
    "Minimum": _per_element(1),
    "Mul": _per_element(1),
    "Neg": _per_element(1),
    "NotEqual": _per_element(1),
    "Pow": _per_element(1),
    "RealDiv": _per_element(1),
    "Reciprocal": _per_element(1),
    "Rsqrt": _per_element(2),
    "RsqrtGrad": _per_element(4),
    "Softmax": _per_element(5),
    "Square": _per_element(1),
    "SquaredDifference": _per_element(2),
    "Sub": _per_element(1),
    "Sum": _reduction(0),
}
