"""`vectorized_map` and `pfor`: a function of one row, done for all rows at once.

The function is traced for one row; then its nodes are called anew, each with all rows stacked along a new first axis
(`vectorize_rules` and `vectorize_bodies` say how). What does not depend on the row is done once. An op without a rule
is done row by row, and so is the whole function where its effects must come in their order. Nothing is compiled or
kept: eagerly the stacked ops run at once and tapes see them, in a graph they become nodes.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ebbflow.core import context, dtypes, errors, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import as_dims
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.typing import Nested
from ebbflow.functions.autograph.status import converted_where_on
from ebbflow.functions.control_flow.loops import map_fn
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.functions.vectorize.bodies import obstacle, run_body
from ebbflow.functions.vectorize.rules import Rows, Stacked
from ebbflow.graph.gradients import gradients
from ebbflow.ops.declare import raw


def vectorized_map(
    fn: Callable[[Any], Any], elems: Nested, fallback_to_while_loop: bool = True, warn: bool = True
) -> Nested:
    """Return what `fn` gives for each row of `elems`, stacked, computed for all rows at once where that can be.

    >>> vectorized_map(lambda x: x * x + 1, convert([1, 2, 3])).numpy().tolist()
    [2, 5, 10]
    """
    fn = converted_where_on(fn)
    tensors = nest.map_structure(convert, elems)
    flat = nest.flatten(tensors)
    if not flat:
        raise ValueError(f"elems must hold at least one tensor, got {elems}")
    for tensor in flat:
        if tensor._dims == ():
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    counts = {t._dims[0] for t in flat if t._dims is not None} - {None, 1}
    if len(counts) > 1:
        raise errors.StaticShapeError(
            f"Elements in elems must have as many rows, or one: got shapes {', '.join(str(t.shape) for t in flat)}"
        )
    with name_scope(None, "vectorized_map"):
        longest = _longest(flat)
        count = longest._dims[0] if longest._dims and longest._dims[0] is not None else _length(longest)
        single = [t._dims is not None and t._dims[0] == 1 and count != 1 for t in flat]
        rows = [raw.Squeeze(t, squeeze_dims=[0]) if one else t for t, one in zip(flat, single, strict=True)]

        def row(*taken: Any) -> Any:
            given = iter(taken)
            return fn(
                nest.pack_sequence_as(tensors, [r if one else next(given) for r, one in zip(rows, single, strict=True)])
            )

        stacked = [t for t, one in zip(rows, single, strict=True) if not one]
        slow = (lambda: map_fn_over(row, stacked, count)) if fallback_to_while_loop else None
        return _for_all(row, stacked, count, slow, warn)


def _longest(flat: Sequence[Any]) -> Any:
    return next((t for t in flat if t._dims is None or t._dims[0] != 1), flat[0])


def _length(tensor: Any) -> Any:
    return raw.StridedSlice(raw.Shape(tensor), [0], [1], [1], shrink_axis_mask=1)


def pfor(
    loop_fn: Callable[..., Any],
    iters: Any,
    fallback_to_while_loop: bool = True,
    parallel_iterations: int | None = None,
    warn: bool = False,
) -> Any:
    """Return what `loop_fn(i)` gives for each i from 0 to `iters`, stacked, computed for all of them at once.

    A function that has an argument `pfor_config` is given `Reductions` there.
    """
    known = iters if isinstance(iters, int) else convert(iters).constant_value()
    count = int(known) if known is not None else convert(iters, dtypes.int32)
    if parallel_iterations is not None and parallel_iterations < 1:
        raise ValueError(f"parallel_iterations must be None or a positive integer, got {parallel_iterations}")
    if parallel_iterations == 1:
        raise ValueError("Found `parallel_iterations == 1`. Use for_loop instead.")
    asks = _asks_for_all_rows(loop_fn)
    if asks and parallel_iterations is not None:
        raise ValueError(
            "Setting parallel_iterations currently unsupported if reductions across iterations are performed."
        )
    with name_scope(None, "pfor"):
        numbers = raw.Range(0, count, 1)
        reductions = Reductions(count) if asks else None
        row = functools.partial(loop_fn, pfor_config=reductions) if asks else loop_fn
        slow = (lambda: _one_by_one(row, numbers, count, reductions)) if fallback_to_while_loop else None
        return _for_all(row, [numbers], count, slow, warn, reductions)


def _asks_for_all_rows(loop_fn: Callable[..., Any]) -> bool:
    try:
        return "pfor_config" in inspect.signature(loop_fn).parameters
    except (TypeError, ValueError):  # a function that does not tell what it takes
        return False


class Reductions:
    """What a row may ask of all rows: their values of a tensor, together or reduced."""

    def __init__(self, count: Any) -> None:
        self._count = count
        self.asked: dict[Any, Any] = {}

    def reduce_concat(self, x: Any) -> Any:
        """Return the tensors of all rows, stacked."""
        x = convert(x)
        shape = raw.ConcatV2([[self._count] if isinstance(self._count, int) else self._count[None], raw.Shape(x)], 0)
        stands = raw.BroadcastTo(raw.ExpandDims(x, 0), shape)
        stands.set_shape([self._count if isinstance(self._count, int) else None, *x.shape])
        self.asked[stands.op] = x
        return stands

    def reduce(self, fn: Callable[..., Any], *args: Any) -> Any:
        """Return what `fn` gives for the tensors of all rows, stacked."""
        return fn(*[self.reduce_concat(x) for x in args])

    def reduce_mean(self, x: Any) -> Any:
        """Return the mean of a tensor over the rows."""
        return raw.Mean(self.reduce_concat(x), 0)

    def reduce_sum(self, x: Any) -> Any:
        """Return the sum of a tensor over the rows."""
        return raw.Sum(self.reduce_concat(x), 0)


def _one_by_one(row: Callable[..., Any], numbers: Any, count: Any, reductions: Reductions | None) -> Any:
    if reductions is not None:
        raise ValueError("pfor cannot reduce over rows (pfor_config) that must be done one after the other")
    return map_fn_over(row, [numbers], count)


def for_loop(
    loop_fn: Callable[[Any], Any], loop_fn_dtypes: Any, iters: Any, parallel_iterations: int | None = None
) -> Any:
    """Return what `loop_fn(i)` gives for each i from 0 to `iters`, stacked, computed one after the other."""
    if parallel_iterations is not None and parallel_iterations < 1:
        raise TypeError(f"parallel_iterations must be a positive integer, got {parallel_iterations}")
    numbers = raw.Range(0, convert(iters, dtypes.int32), 1)
    wanted = nest.flatten(loop_fn_dtypes)  # only how many matters: a loop may give a tuple where a list is told
    there = [True] * len(wanted)

    def row(i: Any) -> list[Any]:
        given = nest.flatten(loop_fn(i))
        if len(given) != len(wanted):
            raise ValueError(f"loop_fn gives {len(given)} results, but loop_fn_dtypes tells of {len(wanted)}")
        there[:] = [each is not None for each in given]
        return [convert(0, d) if each is None else each for each, d in zip(given, wanted, strict=True)]

    found = map_fn(row, numbers, dtype=wanted)
    return nest.pack_sequence_as(loop_fn_dtypes, [x if here else None for x, here in zip(found, there, strict=True)])


def map_fn_over(row: Callable[..., Any], stacked: Sequence[Any], count: Any) -> Any:
    """Return the results of a function of rows, computed row by row."""
    body = _traced(row, stacked)
    structure = body.structured_outputs
    if not body.outputs:
        return structure
    wanted = nest.pack_sequence_as(
        structure,
        [None if r is None else convert_dtype(r) for r in nest.flatten(structure, expand_composites=True)],
        expand_composites=True,
    )
    return map_fn(lambda taken: row(*taken), tuple(stacked), dtype=wanted)


def convert_dtype(result: Any) -> dtypes.DType:
    """Return the dtype that a result of a traced function has as a tensor."""
    found = getattr(result, "dtype", None)
    return found.base_dtype if isinstance(found, dtypes.DType) else convert(result).dtype.base_dtype


def _traced(row: Callable[..., Any], stacked: Sequence[Any]) -> FuncGraph:
    arguments = [(t.dtype.base_dtype, None if t._dims is None else t._dims[1:], "row") for t in stacked]
    return build("vectorized_body", row, context.current_graph(), arguments)


def _for_all(
    row: Any,
    stacked: Sequence[Any],
    count: Any,
    slow: Callable[[], Any] | None,
    warn: bool,
    reductions: Reductions | None = None,
) -> Any:
    body = _traced(row, stacked)
    reason = obstacle(body)
    if reason is not None:
        _row_by_row(reason, slow is not None, warn)
        return slow()  # type: ignore[misc]
    rows = Rows(count, lambda reason: _row_by_row(reason, slow is not None, warn))
    if reductions is not None:
        rows.seen_by_all = reductions.asked
    inside = {id(taken): outside for outside, taken in body.captures}
    given = [*[Stacked(x) for x in stacked], *[inside[id(t)] for t in body.inputs[len(stacked) :]]]
    results = iter([rows.stack(x).value for x in run_body(body, given, rows)])
    flat = [_result(leaf, results, rows) for leaf in nest.flatten(body.structured_outputs)]
    return nest.pack_sequence_as(body.structured_outputs, flat)


def _result(leaf: Any, results: Iterator[Any], rows: Rows) -> Any:
    """Return one result of a body for all rows, made of the next stacked tensors."""
    if leaf is None:
        return None
    parts = [None if part is None else next(results) for part in nest.flatten(leaf, expand_composites=True)]
    if isinstance(leaf, SparseTensor):
        return _sparse_rows(rows, *parts)
    return nest.pack_sequence_as(leaf, parts, expand_composites=True)


def _sparse_rows(rows: Rows, indices: Any, values: Any, shapes: Any) -> SparseTensor:
    """Return the sparse tensors of all rows as one, as large as the largest of them."""
    count = raw.Cast(rows.count, DstT=dtypes.int64)
    numbers = raw.BroadcastTo(rows.numbers(dtypes.int64, 2), raw.Shape(indices[:, :, :1]))
    places = raw.Reshape(raw.ConcatV2([numbers, indices], 2), raw.Pack([-1, raw.Shape(indices)[2] + 1]))
    whole = raw.ConcatV2([raw.ExpandDims(count, 0), raw.Max(shapes, 0)], 0)
    return SparseTensor(places, raw.Reshape(values, [-1]), whole)


def _row_by_row(reason: str, allowed: bool, warn: bool) -> None:
    """Say that something is done row by row, or refuse to."""
    if not allowed:
        raise ValueError(f"No pfor vectorization defined for {reason}")
    if warn:
        warnings.warn(f"vectorized_map does this row by row, for want of a rule: {reason}.", stacklevel=5)


# --- all derivatives of a tensor --------------------------------------------------------------------------------------


def jacobian(output: Any, inputs: Any, use_pfor: bool = True, parallel_iterations: int | None = None) -> Any:
    """Return d output[i…] / d input[j…] for each input, shaped output.shape + input.shape, in a graph."""
    flat = nest.flatten(inputs)
    taken = [_carried(x) for x in flat]
    size = raw.Size(output)

    def row(i: Any) -> list[Any]:
        picked = raw.OneHot(i, size, convert(1, output.dtype), convert(0, output.dtype))
        found = gradients(output, taken, grad_ys=raw.Reshape(picked, raw.Shape(output)))
        return [None if g is None else convert(g) for g in found]

    rows = _rows_of(row, size, use_pfor, flat, parallel_iterations)
    shape = raw.Shape(output)
    shaped = []
    for grads, x in zip(rows, flat, strict=True):
        if grads is not None:
            grads = raw.Reshape(grads, raw.ConcatV2([shape, raw.Shape(x)], 0))
            dims = as_dims(x.shape)  # a Keras variable's is a plain tuple
            if output._dims is not None and dims is not None:
                grads.set_shape([*output._dims, *dims])
        shaped.append(grads)
    return nest.pack_sequence_as(inputs, shaped)


def _carried(x: Any) -> Any:
    """Return what the nodes of the function that is being built know a variable by, or the tensor itself."""
    handle, graph = getattr(x, "_tape_handle", None), context.current_graph()
    return x if handle is None or not graph.building_function else graph.take(handle)


def batch_jacobian(output: Any, inp: Any, use_pfor: bool = True, parallel_iterations: int | None = None) -> Any:
    """Return, for each entry b of the batch, d output[b, i…] / d inp[b, j…], in a graph."""
    if output._dims and inp._dims and None not in (output._dims[0], inp._dims[0]) and output._dims[0] != inp._dims[0]:
        raise ValueError(
            f"Need first dimension of `output` shape ({output.shape}) and `inp` shape ({inp.shape}) to match."
        )
    lead, shape = _length(output), raw.Shape(output)
    size = raw.Size(output) // lead
    flat = raw.Reshape(output, raw.Pack([lead, size]))

    def row(i: Any) -> list[Any]:
        picked = raw.OneHot(i, size, convert(1, output.dtype), convert(0, output.dtype))
        found = gradients(flat, [inp], grad_ys=raw.BroadcastTo(picked, raw.Shape(flat)))[0]
        return [None if found is None else convert(found)]

    grads = _rows_of(row, size, use_pfor, [inp], parallel_iterations)[0]
    if grads is None:
        return None
    rank = len(grads._dims)
    turned = raw.Transpose(grads, [1, 0, *range(2, rank)])  # the batch in front
    rest = raw.StridedSlice(raw.Shape(inp), [1], [0], [1], end_mask=1)
    result = raw.Reshape(turned, raw.ConcatV2([shape, rest], 0))
    if output._dims is not None and inp._dims is not None:
        result.set_shape([*output._dims, *inp._dims[1:]])
    return result


def _rows_of(row: Any, size: Any, use_pfor: bool, inputs: Sequence[Any], parallel_iterations: int | None) -> Any:
    if use_pfor:
        return pfor(row, size, parallel_iterations=parallel_iterations)
    return for_loop(row, [x.dtype for x in inputs], size, parallel_iterations)
