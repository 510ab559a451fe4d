"""Gradients against differences: `tf.test.compute_gradient` and `compute_gradient_error`.

Both give Jacobians, one by the gradient rules and one by moving each element of the input a little. Knows the tape,
`tf.gradients` and sessions; knows no op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Feeds, InitializerLike, Nested, ShapeLike, TensorLike
from ebbflow.eager.tape import GradientTape, UnconnectedGradients
from ebbflow.graph.gradients import gradients
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.declare import raw
from ebbflow.runtime.session import Session, get_default_session

DELTA = 1.0 / 1024
"""How far an element is moved: a power of two, so that moving it is exact."""


def compute_gradient(
    f: Callable[..., Any], x: Sequence[Any], delta: float | None = None
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the Jacobians of `f(*x)` by each of `x`, twice: by the gradient rules, and by differences.

    Each Jacobian has a row for every element of the result and a column for every element of the input; a complex
    number counts as two.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            f"`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a {type(x)}"
        )
    x = [convert(value) if isinstance(value, CompositeTensor) else value for value in x]
    if any(isinstance(value, Tensor) and not hasattr(value, "numpy") for value in x):
        return _in_graph(f, x, delta or DELTA)
    with context.eager_scope():
        tensors = [convert(value) for value in x]
        for place, tensor in enumerate(tensors):
            _check_type(tensor.dtype, place)
        arrays = [np.asarray(tensor) for tensor in tensors]
        by_rules = [_by_rules(f, arrays, place) for place in range(len(arrays))]
        by_moving = [
            _by_moving(lambda moved: _value(f, moved), arrays, place, delta or DELTA) for place in range(len(arrays))
        ]
    return tuple(by_rules), tuple(by_moving)


def _in_graph(f: Callable[..., Any], x: Sequence[Any], delta: float) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the same for tensors of a graph, whose values the default session (or one of our own) computes."""
    tensors = [convert(value) for value in x]
    for place, tensor in enumerate(tensors):
        _check_type(tensor.dtype, place)
    session = get_default_session() or Session()
    arrays = [np.asarray(value) for value in session.run(tensors)]
    sources = [raw.Placeholder(dtype=t.dtype, shape=list(a.shape)) for t, a in zip(tensors, arrays, strict=True)]
    y = f(*sources)
    given = raw.Placeholder(dtype=y.dtype)
    slopes = [slope if slope is None else convert(slope) for slope in gradients(y, sources, grad_ys=given)]
    run = lambda fetch, values, **more: np.asarray(
        session.run(fetch, {**dict(zip(sources, values, strict=True)), **({given: more["dy"]} if more else {})})
    )
    out = run(y, arrays)
    places = range(len(arrays))
    by_rules = tuple(_graph_jacobian(run, out, slopes[place], arrays, place).T for place in places)
    return by_rules, tuple(_by_moving(lambda moved: run(y, moved), arrays, place, delta) for place in places)


def _check_type(dtype: Any, place: int) -> None:
    if not (dtype.is_floating or dtype.is_complex):
        raise TypeError(f"Cannot compute gradient for unsupported type {dtype.name} of argument {place}")


def max_error(grad1: Sequence[Any], grad2: Sequence[Any]) -> float:
    """Return the largest difference between two lists of Jacobians."""
    pairs = [(one, two) for one, two in zip(grad1, grad2, strict=True) if one.size or two.size]
    return max((float(np.max(np.abs(one - two))) for one, two in pairs), default=0.0)


def _value(f: Callable[..., Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.asarray(f(*[constant(array) for array in arrays]).numpy())


def _by_rules(f: Callable[..., Any], arrays: Sequence[np.ndarray], place: int) -> np.ndarray:
    tensors = [constant(array) for array in arrays]
    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        for tensor in tensors:
            tape.watch(tensor)
        y = f(*tensors)
    out = np.asarray(y.numpy())
    jacobian = np.zeros((_flat(out).size, _flat(arrays[place]).size), _real(arrays[place].dtype))
    for row in range(jacobian.shape[0]):
        one = constant(_unit(out, row))
        grad = tape.gradient(y, tensors[place], one, unconnected_gradients=UnconnectedGradients.ZERO)
        jacobian[row] = _flat(_dense_value(grad))
    return jacobian


def _dense_value(grad: Any) -> np.ndarray:
    if isinstance(grad, IndexedSlices):
        dense = np.zeros([int(n) for n in np.asarray(grad.dense_shape)], grad.values.numpy().dtype)
        np.add.at(dense, np.asarray(grad.indices), grad.values.numpy())
        return dense
    return np.asarray(grad.numpy())


def _flat(array: np.ndarray) -> np.ndarray:
    """Return the elements in a row; a complex one as its two parts."""
    row = np.ascontiguousarray(array).reshape(-1)
    return row.view(_real(array.dtype)) if row.dtype.kind == "c" else row


def _real(dtype: Any) -> Any:
    return {"complex64": np.float32, "complex128": np.float64}.get(np.dtype(dtype).name, dtype)


def _unit(like: np.ndarray, place: int) -> np.ndarray:
    """Return zeros with a one at a place, counted as `_flat` counts."""
    found = np.zeros(like.shape, like.dtype)
    _flat_view(found)[place] = 1
    return found


def _flat_view(array: np.ndarray) -> np.ndarray:
    row = array.reshape(-1)
    return row.view(_real(array.dtype)) if row.dtype.kind == "c" else row


def _by_moving(
    value: Callable[[list[np.ndarray]], np.ndarray], arrays: Sequence[np.ndarray], place: int, delta: float
) -> np.ndarray:
    moved = [np.array(array) for array in arrays]
    row = _flat_view(moved[place])
    columns = []
    for column in range(row.size):
        kept = row[column].copy()
        row[column] = kept + delta
        above = _flat(value([np.array(array) for array in moved]))
        row[column] = kept - delta
        below = _flat(value([np.array(array) for array in moved]))
        row[column] = kept
        columns.append(((above - below) / (2 * delta)).astype(row.dtype))
    if columns:
        return np.stack(columns, axis=1)
    return np.zeros((_flat(value(moved)).size, 0), row.dtype)


# The first era's form: tensors of a graph, their shapes, and a session.


def compute_gradient_v1(
    x: Nested,
    x_shape: Nested,
    y: Tensor,
    y_shape: Nested,
    x_init_value: Nested = None,
    delta: float = 1e-3,
    init_targets: Nested = None,
    extra_feed_dict: Feeds | None = None,
) -> Nested:
    """Return the Jacobians of `y` by `x` (or by each of a list) in the default session: by rules and by differences.

    Here a Jacobian has a row for every element of `x` and a column for every element of `y`.
    """
    several = isinstance(x, (list, tuple))
    sources, shapes = (list(x), list(x_shape)) if several else ([x], [x_shape])
    starts = list(x_init_value) if several and x_init_value is not None else [x_init_value] * len(sources)
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session: use it inside `with tf.Session():`")
    if init_targets is not None:
        for target in init_targets if isinstance(init_targets, (list, tuple)) else [init_targets]:
            session.run(target)
    for place, source in enumerate(sources):
        _check_type(source.dtype.base_dtype, place)
    out = np.zeros(y_shape, dtypes.as_dtype(y.dtype).base_dtype.as_numpy_dtype)
    with y.graph.as_default():
        given = constant(np.ones_like(out), name="dy")
        slopes = [slope if slope is None else convert(slope) for slope in gradients(y, sources, grad_ys=given)]
    feeds = dict(extra_feed_dict or {})
    arrays = [_start(source, shape, start) for source, shape, start in zip(sources, shapes, starts, strict=True)]

    def run(fetch: Any, values: Sequence[np.ndarray], **more: Any) -> np.ndarray:
        fed = {**feeds, **dict(zip(sources, values, strict=True))}
        return np.asarray(session.run(fetch, {**fed, given: more["dy"]} if more else fed))

    found = []
    for place, slope in enumerate(slopes):
        by_moving = _by_moving(lambda values: run(y, values), arrays, place, delta).T
        found.append((_graph_jacobian(run, out, slope, arrays, place), by_moving))
    return found if several else found[0]


def _start(source: Any, shape: Any, start: Any) -> np.ndarray:
    kind = dtypes.as_dtype(source.dtype).base_dtype
    if start is not None:
        array = np.array(start, kind.as_numpy_dtype, order="C")  # its own: it is changed in place
        if list(array.shape) != list(shape):
            raise ValueError(f"x_init_value has shape {array.shape}, x_shape is {tuple(shape)}")
        return array
    made = np.random.random_sample(shape)
    return (made + 1j * np.random.random_sample(shape) if kind.is_complex else made).astype(kind.as_numpy_dtype)


def _graph_jacobian(run: Any, out: np.ndarray, slope: Any, arrays: Sequence[np.ndarray], place: int) -> np.ndarray:
    """Return the Jacobian by the gradient rules: column by column, from a gradient of the result that is one there."""
    jacobian = np.zeros((_flat(arrays[place]).size, _flat(out).size), _real(arrays[place].dtype))
    for column in range(jacobian.shape[1] if slope is not None else 0):
        jacobian[:, column] = _flat(run(slope, arrays, dy=_unit(out, column)))
    return jacobian


def compute_gradient_error(
    x: TensorLike,
    x_shape: ShapeLike,
    y: Tensor,
    y_shape: ShapeLike,
    x_init_value: InitializerLike | None = None,
    delta: float = 1e-3,
    init_targets: Nested = None,
    extra_feed_dict: Feeds | None = None,
) -> float:
    """Return the largest difference between the Jacobian by rules and the one by differences."""
    found = compute_gradient_v1(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = found if isinstance(found, list) else [found]
    return max_error([one for one, _ in pairs], [two for _, two in pairs])
