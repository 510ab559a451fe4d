"""What a graph alone already decides: constant values, and shapes held in integer tensors.

Static shape inference lives on this: `tf.reshape(x, [tf.shape(x)[0], 4])` has a known last dimension because the
pieces of its shape argument are followed backwards here. Only small, stateless nodes are evaluated; depth is bounded
by an explicit stack.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.shape import Dims

MAX_ELEMENTS = 4096
"""Larger values are not computed while building: nothing about a shape needs them."""


def evaluate(tensor: Any) -> np.ndarray | None:
    """Return the value of `tensor` if the graph decides it, else None."""
    stack = [tensor]
    while stack:
        top = stack[-1]
        if _settled(top):
            stack.pop()
            continue
        waiting = [x for x in _operands(top) if not _settled(x)]
        if waiting:
            stack.extend(waiting)
            continue
        top._known = _compute(top)
        stack.pop()
    return tensor._known


def _settled(tensor: Any) -> bool:
    known = tensor._known
    return known is None or isinstance(known, np.ndarray)


def _operands(tensor: Any) -> list[Any]:
    op = tensor.op._op
    return tensor.op._inputs if op.facts.static and op.from_dims_fn is None else []


def _compute(tensor: Any) -> np.ndarray | None:
    node = tensor.op
    kind = node.type
    if kind == "Const":
        return np.asarray(node._attrs["value"])
    if not node._op.facts.static:
        return None
    if node._op.from_dims_fn is not None:
        dims = node._inputs[tensor.value_index]._dims
        value = None if dims is None or not _small(tensor._dims) else node._op.from_dims_fn(dims, tensor.dtype.np)
        return None if value is None else np.array(value)
    values = [x._known for x in node._inputs]
    if kind == "StridedSlice" and values[0] is None:
        return _known_part(tensor)
    if any(v is None for v in values) or not _small(tensor._dims):
        return None
    return _run(node, values, tensor)


def _known_part(tensor: Any) -> np.ndarray | None:
    """Return a slice of a partly known shape, where the slice itself is known."""
    if tensor._dims == ():
        one = _one(tensor, look=False)
        return None if one is None else np.array(one, tensor.dtype.np)
    part = _sliced(tensor.op, tensor)
    return None if part is None or None in part else np.array(part, tensor.dtype.np)


def _small(dims: Any) -> bool:
    return dims is not None and None not in dims and int(np.prod(dims, dtype=np.float64)) <= MAX_ELEMENTS


def _run(node: Any, values: list[np.ndarray], tensor: Any) -> np.ndarray | None:
    signature = node._op.signature
    try:
        with np.errstate(all="ignore"):
            results = node._op.run(signature.group_inputs(values, node._attrs), node._attrs)
    except Exception:  # what is wrong with it will be said when it runs
        return None
    return np.asarray(signature.flat_results(results)[tensor.value_index], tensor.dtype.np)


def computed(tensor: Any) -> np.ndarray | None:
    """Return the value of a tensor that follows from constants and shapes by any ops without state, else None."""
    found: dict[int, np.ndarray | None] = {}
    stack = [tensor]
    while stack:
        top = stack[-1]
        value = top.constant_value()
        if value is None and not top.op._op.keeps_state:
            waiting = [x for x in top.op._inputs if id(x) not in found]
            if waiting:
                stack.extend(waiting)
                continue
            given = [found[id(x)] for x in top.op._inputs]
            value = None if any(v is None for v in given) else _run(top.op, given, top)  # type: ignore[arg-type]
        found[id(top)] = value
        stack.pop()
    return found[id(tensor)]


def partial_dims(tensor: Any) -> Dims:
    """Return the shape that an integer vector spells, as far as it is known (-1 counts as unknown)."""
    value = tensor.constant_value()
    if value is not None:
        return tuple(None if n < 0 else int(n) for n in value.reshape(-1))
    while tensor.op.type in ("Identity", "Cast"):
        tensor = tensor.op._inputs[0]
    node = tensor.op
    if node.type == "Shape":
        return node._inputs[0]._dims
    if node.type == "ShapeN":
        return node._inputs[tensor.value_index]._dims
    if node.type == "Pack" and node._attrs.get("axis", 0) == 0:
        return tuple(_one(x) for x in node._inputs)
    if node.type == "ConcatV2":
        return _joined([partial_dims(x) for x in node._inputs[:-1]])
    if node.type == "StridedSlice":
        return _sliced(node, tensor)
    dims = tensor._dims
    return None if dims is None or len(dims) != 1 or dims[0] is None else (None,) * dims[0]


def partial_value(tensor: Any) -> Any:
    """Return a value as far as the graph decides it: a list of parts, unknown ones None; None if nothing is known."""
    value = tensor.constant_value()
    if value is not None:
        return value
    node = tensor.op
    if node.type == "Pack" and node._attrs.get("axis", 0) == 0:
        return [partial_value(x) for x in node._inputs]
    if node.type == "Unpack" and node._attrs.get("axis", 0) == 0:
        parts = _packed(node._inputs[0])
        return None if parts is None else parts[tensor.value_index]
    if node.type == "Split" and node._inputs[0].constant_value() == 0:
        parts = _packed(node._inputs[1])
        size = 0 if parts is None else len(parts) // node._attrs["num_split"]
        return None if parts is None else parts[size * tensor.value_index : size * (tensor.value_index + 1)]
    return None


def _packed(tensor: Any) -> list[Any] | None:
    """Return the values, as far as they are known, that are stacked into a tensor; None where it is made otherwise."""
    if tensor.op.type != "Pack" or tensor.op._attrs.get("axis", 0) != 0:
        return None
    return [partial_value(x) for x in tensor.op._inputs]


def _one(scalar: Any, look: bool = True) -> int | None:
    value = scalar.constant_value() if look else None
    if value is not None:
        return None if value < 0 else int(value)
    if scalar.op.type == "StridedSlice" and scalar._dims == ():
        whole = partial_dims(scalar.op._inputs[0])
        begin = scalar.op._inputs[1].constant_value()
        if whole is not None and begin is not None and begin.size == 1 and -len(whole) <= int(begin[0]) < len(whole):
            return whole[int(begin[0])]
    return None


def _joined(parts: list[Dims]) -> Dims:
    if any(p is None for p in parts):
        return None
    return tuple(n for part in parts for n in part)  # type: ignore[union-attr]


def _sliced(node: Any, tensor: Any) -> Dims:
    whole = partial_dims(node._inputs[0])
    begin, end, strides = (x.constant_value() for x in node._inputs[1:4])
    masks = node._attrs
    if whole is None or begin is None or end is None or strides is None or begin.size != 1:
        dims = tensor._dims
        return None if dims is None or len(dims) != 1 or dims[0] is None else (None,) * dims[0]
    if masks["shrink_axis_mask"] or masks["new_axis_mask"] or masks["ellipsis_mask"]:
        return None
    start = None if masks["begin_mask"] & 1 else int(begin[0])
    stop = None if masks["end_mask"] & 1 else int(end[0])
    return whole[slice(start, stop, int(strides[0]))]


# --- what loops count -------------------------------------------------------------------------------------------------


def original(tensor: Any) -> Any:
    """Return the tensor that one is handed on from."""
    while tensor.op.type == "Identity":
        tensor = tensor.op._inputs[0]
    return tensor


def is_number(tensor: Any, number: int) -> bool:
    """Return whether a tensor, or a value of a flow, is known to be a number."""
    value = tensor.constant_value()
    return value is not None and value.ndim == 0 and value == number


def adds_one(before: Any, after: Any) -> bool:
    """Return whether a whole number is one more after a turn than before it."""
    if after.op.type not in ("Add", "AddV2") or not after.dtype.is_integer:
        return False
    x, y = after.op._inputs
    return original(x) is before and is_number(y, 1)
