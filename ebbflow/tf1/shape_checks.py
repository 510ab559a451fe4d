"""Small helpers of `tf.contrib.framework`: tensors of an expected shape, sums of several tensors, graphs of inputs.

Each is a few lines on ordinary functions. What is known when the graph is built is checked then, the rest in the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, as_shape
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, Nested, TensorLike
from ebbflow.functions.control_flow.case import case
from ebbflow.graph.scopes import control_dependencies, graph_from_inputs
from ebbflow.layers.smart_cond import known_flag
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.declare import raw
from ebbflow.ops.reduce.reductions import reduce_sum_v1 as reduce_sum
from ebbflow.state.functions import assign
from ebbflow.train.weights import remove_squeezable_dimensions as without_odd_axes

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph
    from ebbflow.state.variables import Variable


def assert_scalar_int(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Return a tensor; raise unless it is one integer."""
    with name_scope(name, "assert_scalar_int", [tensor]):
        value = convert(tensor)
        if not value.dtype.base_dtype.is_integer:
            raise ValueError(f"Expected integer type for {_name(value)}, received type: {value.dtype.name}.")
        if value.shape.rank != 0:
            raise ValueError(f"Expected scalar shape for {_name(value)}, received shape: {value.shape}.")
        return value


def with_shape(expected_shape: TensorShape | TensorLike, tensor: TensorLike) -> Tensor | SparseTensor:
    """Return a tensor that is known, or checked when it runs, to have the expected shape."""
    if isinstance(tensor, SparseTensor):
        return SparseTensor(tensor.indices, tensor.values, _checked(_name(tensor), expected_shape, tensor.dense_shape))
    value = convert(tensor)
    known = expected_shape if isinstance(expected_shape, TensorShape) else _known_shape(expected_shape)
    if known is None:
        wanted = convert(expected_shape)
        with control_dependencies([_assert_shape(value, wanted)]):
            return raw.Identity(value)
    if value.shape.is_fully_defined() or not known.is_fully_defined():
        if not value.shape.is_compatible_with(known):
            raise ValueError(f"Wrong shape for {_name(value)}: expected {known}, got {value.shape}.")
        return value
    merged = value.shape.merge_with(known)
    with control_dependencies([_assert_shape(value, convert(known.as_list(), dtypes.int32))]):
        result = raw.Identity(value)
    result.set_shape(merged)
    return result


def with_same_shape(expected_tensor: TensorLike, tensor: TensorLike) -> Tensor | SparseTensor:
    """Return a tensor that has, or is checked when it runs to have, the shape of another."""
    expected = convert(expected_tensor)
    if expected.shape.is_fully_defined():
        return with_shape(expected.shape, tensor)
    value = convert(tensor)
    with control_dependencies([_assert_shape(value, shape_of(expected))]):
        return raw.Identity(value)


def _known_shape(expected: Any) -> TensorShape | None:
    """Return an expected shape that is no tensor; refuse what cannot be one."""
    sizes = convert(expected)
    if not sizes.dtype.base_dtype.is_integer:
        raise ValueError(f"Invalid dtype {sizes.dtype.name} for shape {expected} expected of a tensor.")
    if sizes.shape.rank != 1:
        raise ValueError(f"Invalid rank {sizes.shape.rank} for shape {expected} expected of a tensor.")
    return None if isinstance(expected, Tensor) else as_shape([int(n) for n in expected])


def _checked(name: str, expected: Any, shape: Any) -> Any:
    wanted = convert(expected.as_list() if isinstance(expected, TensorShape) else expected, shape.dtype)
    with control_dependencies([_assert_sizes(name, wanted, shape)]):
        return raw.Identity(shape)


def _assert_shape(value: Any, wanted: Any) -> Any:
    """Return the operation that checks a shape in a run."""
    return _assert_sizes(_name(value), wanted, raw.Cast(shape_of(value), DstT=wanted.dtype))


def _assert_sizes(name: str, wanted: Any, sizes: Any) -> Any:
    rank = raw.Equal(raw.Size(wanted), raw.Size(sizes))  # of shapes of other lengths, a length of 1 is like any number
    equal = raw.Equal(wanted, sizes, incompatible_shape_error=False)
    same = raw.LogicalAnd(rank, raw.All(equal, raw.Range(0, raw.Rank(equal), 1)))
    return raw.Assert(same, [convert(f"Wrong shape for {name} [expected] [actual]."), wanted, sizes])


def _name(value: Any) -> str:
    return value.name if hasattr(value, "op") else type(value).__name__


def remove_squeezable_dimensions(
    predictions: TensorLike, labels: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return predictions and labels; one that has a last axis of length 1 too many is without it."""
    labels, predictions = without_odd_axes(labels, predictions, name=name)
    return predictions, labels


def reduce_sum_n(tensors: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Return the sum of all elements of some tensors."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", list(tensors)) as scope:
        sums = [reduce_sum(tensor) for tensor in tensors]
        return sums[0] if len(sums) == 1 else raw.AddN(sums, name=scope or None)


def smart_constant_value(pred: TensorLike) -> bool | None:
    """Return the value of a condition that is known when the graph is built, else None."""
    if isinstance(pred, bool) or (isinstance(pred, int) and pred in (0, 1)):
        return bool(pred)
    if isinstance(pred, Tensor):
        return known_flag(pred)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")


def smart_case(
    pred_fn_pairs: Sequence[Any] | Mapping[Any, Any],
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Nested:
    """Return what the function of the first condition that holds gives: called at once, where that is known."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, Mapping) else list(pred_fn_pairs)
    known = [(smart_constant_value(pred), function) for pred, function in pairs]
    if any(value is None for value, _ in known):
        open_pairs = []  # what cannot come is not made
        for (pred, function), (value, _) in zip(pairs, known, strict=True):
            if value and not exclusive:
                default = function
                break
            if value is None or value:
                open_pairs.append((convert(pred), function))
        return case(open_pairs, default=default, exclusive=exclusive, name=name)
    holding = [function for value, function in known if value]
    if exclusive and len(holding) > 1:
        raise ValueError(f"exclusive=True, but {len(holding)} conditions hold")
    if not holding and default is None:
        raise ValueError("no condition holds, and there is no default")
    return holding[0]() if holding else default()  # type: ignore[misc]


def get_graph_from_inputs(op_input_list: Iterable[Any], graph: Graph | None = None) -> Graph:
    """Return the one graph that all inputs are of (or `graph`, or the default); raise where they differ."""
    return graph_from_inputs([getattr(item, "values", item) for item in op_input_list], graph)


def get_placeholders(graph: Graph) -> list[Tensor]:
    """Return the placeholders of a graph."""
    return [node.outputs[0] for node in graph.get_operations() if node.type == "Placeholder"]


def zero_initializer(ref: Variable, use_locking: bool = True, name: str = "zero_initializer") -> Effect:
    """Return the operation that fills a variable with zeros."""
    return assign(ref, zeros(ref.shape, ref.dtype.base_dtype), name=name)
