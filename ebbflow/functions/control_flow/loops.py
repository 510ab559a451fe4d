"""Loops over the rows of tensors: `map_fn`, `scan`, `foldl`, `foldr`.

Each is a `while_loop` that reads its elements from arrays of rows and, but for the folds, writes its results to others.
Structures of tensors are taken row by row together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import nest
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.typing import InitializerLike, Nested
from ebbflow.functions.autograph.status import converted_where_on
from ebbflow.functions.control_flow import row_access
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.functions.control_flow.while_loop import tensor_of_variable, while_loop


def map_fn(
    fn: Callable[[Any], Any],
    elems: Nested,
    dtype: Nested = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Nested = None,
) -> Nested:
    """Return what `fn` gives for each row of `elems`, stacked. Say what it gives where that is not like `elems`.

    >>> map_fn(lambda x: x * x, convert([1, 2, 3])).numpy().tolist()
    [1, 4, 9]
    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn} is not callable. fn must be callable.")
    fn = converted_where_on(fn)
    elems = nest.map_structure(tensor_of_variable, elems)
    given = nest.flatten(elems)
    if not given:
        raise ValueError(
            "elems must be a Tensor or (possibly nested) sequence of Tensors. "
            f"Got {elems}, which does not contain any Tensors."
        )
    wanted = fn_output_signature if fn_output_signature is not None else dtype
    with name_scope(name, "map", given):
        values = [v if isinstance(v, CompositeTensor) else convert(v, name="elem") for v in given]
        results = _Results(elems, values, wanted)
        return _mapped(fn, elems, values, results, infer_shape, (parallel_iterations or 10, back_prop, swap_memory))


def _mapped(
    fn: Any, elems: Any, values: Sequence[Any], results: _Results, infer_shape: bool, options: tuple[Any, ...]
) -> Any:
    sources, static, count = row_access.sources(values)

    def step(i: Any, arrays: Any) -> Any:
        value = fn(nest.pack_sequence_as(elems, [source.at(i) for source in sources]))
        return i + 1, [a.write(i, part) for a, part in zip(arrays, results.parts(value), strict=True)]

    _, arrays = _turning(lambda i, _: i < count, step, (convert(0), results.arrays(count, infer_shape)), count, options)
    return results.pack(arrays, static)


def _turning(cond: Any, step: Any, state: Any, count: Any, options: tuple[Any, ...]) -> Any:
    parallel_iterations, back_prop, swap_memory = options
    return while_loop(
        cond,
        step,
        state,
        parallel_iterations=parallel_iterations,
        back_prop=back_prop,
        swap_memory=swap_memory,
        maximum_iterations=count,
    )


class _Results:
    """How the results of a mapped function are taken apart, and put together again when they are stacked."""

    def __init__(self, elems: Any, values: Sequence[Any], wanted: Any):
        self._structure = elems if wanted is None else wanted
        self._sinks = [row_access.sink(like) for like in (values if wanted is None else nest.flatten(wanted))]
        self._sizes: list[int] = []

    def arrays(self, count: Any, infer_shape: bool) -> list[Any]:
        """Return what all parts of results are written to."""
        made = [sink.arrays(count, infer_shape) for sink in self._sinks]
        self._sizes = [len(arrays) for arrays in made]
        return [array for arrays in made for array in arrays]

    def parts(self, value: Any) -> list[Any]:
        """Return the tensors of one result."""
        if not any(isinstance(sink, row_access.RaggedResults) for sink in self._sinks):
            nest.assert_same_structure(self._structure, value)
        flat = nest.flatten(value)
        if len(flat) != len(self._sinks):
            raise ValueError(f"The two structures don't have the same number of elements: {self._structure}, {value}")
        return [part for item, sink in zip(flat, self._sinks, strict=True) for part in sink.parts(item)]

    def pack(self, arrays: Sequence[Any], static: int | None) -> Any:
        """Return all results in their structure."""
        left, flat = list(arrays), []
        for sink, size in zip(self._sinks, self._sizes, strict=True):
            flat.append(sink.pack(left[:size], static))
            del left[:size]
        return nest.pack_sequence_as(self._structure, flat)


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"{fn} is not callable. Please provide a callable function.")


def _tensors(elems: Any, like: str) -> tuple[Any, Any, Any]:
    """Return elements as tensors, in their structure, with the number of their rows (known or not)."""
    tensors = nest.map_structure(lambda e: convert(tensor_of_variable(e), name="elem"), elems)
    flat = nest.flatten(tensors)
    if not flat:
        raise ValueError(f"elems of {like} holds no tensors: {elems}")
    return tensors, *row_access.length(flat)


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Nested,
    initializer: InitializerLike | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Nested:
    """Return `fn(... fn(fn(initializer, first), second) ..., last)` over the rows of `elems`.

    >>> int(foldl(lambda total, x: total * 10 + x, convert([1, 2, 3])))
    123
    """
    return _fold(fn, elems, initializer, False, name, (parallel_iterations, back_prop, swap_memory))


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Nested,
    initializer: InitializerLike | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Nested:
    """Return `fn(... fn(fn(initializer, last), last but one) ..., first)` over the rows of `elems`.

    >>> int(foldr(lambda total, x: total * 10 + x, convert([1, 2, 3])))
    321
    """
    return _fold(fn, elems, initializer, True, name, (parallel_iterations, back_prop, swap_memory))


def _fold(fn: Any, elems: Any, initializer: Any, reverse: bool, name: Any, options: tuple[Any, ...]) -> Any:
    _check_callable(fn)
    fn = converted_where_on(fn)
    what = "foldr" if reverse else "foldl"
    with name_scope(name, what, [elems]):
        tensors, static, count = _tensors(elems, what)
        if initializer is None and static == 0:
            raise ValueError(f"{what} over no rows needs an initializer")
        arrays = nest.map_structure(lambda t: TensorArray(t.dtype, count, clear_after_read=False).unstack(t), tensors)
        read = lambda i: nest.map_structure(lambda a: a.read(i), arrays)
        first = count - 1 if reverse else 0
        total = initializer if initializer is not None else read(first)
        if initializer is None:
            start = convert(count - 1 if reverse else 1)
        else:
            start = convert(count if reverse else 0)
        if reverse:
            cond, step = (lambda i, a: i > 0), (lambda i, a: (i - 1, fn(a, read(i - 1))))
        else:
            cond, step = (lambda i, a: i < count), (lambda i, a: (i + 1, fn(a, read(i))))
        return _turning(cond, step, (start, total), count, options)[1]


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Nested,
    initializer: InitializerLike | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Nested:
    """Return all that `fn(what came before, row)` gives along the rows of `elems`, stacked.

    >>> scan(lambda total, x: total + x, convert([1, 2, 3])).numpy().tolist()
    [1, 3, 6]
    """
    _check_callable(fn)
    fn = converted_where_on(fn)
    with name_scope(name, "scan", [elems]):
        tensors, static, count = _tensors(elems, "scan")
        read = [_array_of_rows(t, count) for t in nest.flatten(tensors)]
        structure = elems if initializer is None else initializer
        edge = count - 1 if reverse else 0
        if initializer is None:
            before = [a.read(edge) for a in read]
        else:
            before = [convert(tensor_of_variable(v)) for v in nest.flatten(initializer)]
        found = [_array_for(v, count, infer_shape) for v in before]
        skipped = 0
        if initializer is None:
            found, skipped = [a.write(edge, v) for a, v in zip(found, before, strict=True)], 1
        start = convert(count - 1 - skipped if reverse else skipped)
        step = _scanning(fn, elems, structure, read, -1 if reverse else 1)
        cond = (lambda i, b, f: i >= 0) if reverse else (lambda i, b, f: i < count)
        options = (parallel_iterations, back_prop, swap_memory)
        _, _, found = _turning(cond, step, (start, before, found), count, options)
        return nest.pack_sequence_as(structure, [row_access.with_length(a.stack(), static) for a in found])


def _scanning(fn: Any, elems: Any, structure: Any, read: Sequence[TensorArray], by: int) -> Callable[..., Any]:
    """Return one step of a scan: from what came before and a row to what comes after, which is kept."""

    def step(i: Any, before: Any, found: Any) -> Any:
        row = nest.pack_sequence_as(elems, [a.read(i) for a in read])
        after = fn(nest.pack_sequence_as(structure, before), row)
        nest.assert_same_structure(structure, after)
        flat = nest.flatten(after)
        found = [a.write(i, v) for a, v in zip(found, flat, strict=True)]
        return i + by, flat, found

    return step


def _array_of_rows(tensor: Any, count: Any) -> TensorArray:
    return TensorArray(tensor.dtype, count, clear_after_read=False, element_shape=_row_shape(tensor)).unstack(tensor)


def _array_for(value: Any, count: Any, infer_shape: bool) -> TensorArray:
    """Return an array for as many values like this one."""
    shape = value.shape if infer_shape else None
    return TensorArray(value.dtype, count, clear_after_read=False, infer_shape=infer_shape, element_shape=shape)


def _row_shape(tensor: Any) -> Any:
    return None if tensor._dims is None else list(tensor._dims[1:])
