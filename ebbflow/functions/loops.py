"""Loops over the rows of tensors: `map_fn`, `scan`, `foldl`, `foldr`.

Each is a `while_loop` that reads its elements from arrays of rows and, but for the folds, writes its results to others.
Structures of tensors are taken row by row together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import nest
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import merge_dims
from ebbflow.core.spec import TensorSpec
from ebbflow.functions.tensor_array import TensorArray
from ebbflow.functions.while_loop import tensor_of_variable, while_loop
from ebbflow.ops.declare import raw


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Return what `fn` gives for each row of `elems`, stacked. Say what it gives where that is not like `elems`.

    >>> map_fn(lambda x: x * x, convert([1, 2, 3])).numpy().tolist()
    [1, 4, 9]
    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn} is not callable. fn must be callable.")
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
        rows = _Rows(values)
        results = _Results(elems, values, wanted)
        count = rows.count
        arrays = [
            TensorArray(spec.dtype, count, infer_shape=infer_shape, element_shape=spec.shape) for spec in results.specs
        ]

        def step(i: Any, arrays: Any) -> Any:
            value = fn(nest.pack_sequence_as(elems, rows.at(i)))
            return i + 1, [a.write(i, part) for a, part in zip(arrays, results.parts(value), strict=True)]

        _, arrays = while_loop(
            lambda i, _: i < count,
            step,
            (convert(0), arrays),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return results.pack([_with_length(a.stack(), rows.static_count) for a in arrays], rows.static_count)


def _with_length(tensor: Any, count: int | None) -> Any:
    if tensor._dims is not None:
        tensor.set_shape([count, *tensor._dims[1:]])
    return tensor


class _Rows:
    """The rows of several tensors (or composite values), taken together."""

    def __init__(self, values: Sequence[Any]):
        self._specs = [v._type_spec if isinstance(v, CompositeTensor) else None for v in values]
        tensors: list[Any] = []
        for value, spec in zip(values, self._specs, strict=True):
            tensors.extend(
                [value] if spec is None else _batchable(spec, "consume", value)._to_batched_tensor_list(value)
            )
        self.static_count, self.count = _length(tensors)
        self._arrays = [TensorArray(t.dtype, self.count, clear_after_read=False).unstack(t) for t in tensors]

    def at(self, index: Any) -> list[Any]:
        """Return the row of each value."""
        parts = [array.read(index) for array in self._arrays]
        found: list[Any] = []
        for spec in self._specs:
            if spec is None:
                found.append(parts.pop(0))
                continue
            one = spec._unbatch()
            count = len(one._flat_tensor_specs)
            found.append(one._from_compatible_tensor_list(parts[:count]))
            del parts[:count]
        return found


class _Results:
    """How the results of a mapped function are taken apart, and put together again when they are stacked."""

    def __init__(self, elems: Any, values: Sequence[Any], wanted: Any):
        self._structure = elems if wanted is None else wanted
        if wanted is None:
            self._flat = [v._type_spec._unbatch() if isinstance(v, CompositeTensor) else _any(v.dtype) for v in values]
        else:
            self._flat = [s if isinstance(s, TypeSpec) else _any(s) for s in nest.flatten(wanted)]
        self.specs: list[Any] = []
        for spec in self._flat:
            dense = isinstance(spec, TensorSpec)
            self.specs.extend([spec] if dense else _batchable(spec, "generate")._flat_tensor_specs)

    def parts(self, value: Any) -> list[Any]:
        """Return the tensors of one result."""
        nest.assert_same_structure(self._structure, value)
        found: list[Any] = []
        for part, spec in zip(nest.flatten(value), self._flat, strict=True):
            if isinstance(spec, TensorSpec):
                found.append(part)
                continue
            if not spec.is_compatible_with(part):
                raise ValueError(
                    f"Error in map_fn:\n  Expected `fn` to return a:\n    {spec}\n  But it returned a:\n    "
                    f"{part._type_spec if isinstance(part, CompositeTensor) else type(part)}\n    (value={part})\n"
                    "  To fix, update the `fn_output_signature` (or `dtype`) argument to `map_fn`."
                )
            found.extend(spec._to_tensor_list(part))
        return found

    def pack(self, stacked: list[Any], count: int | None) -> Any:
        """Return stacked tensors as the structure of results."""
        flat: list[Any] = []
        for spec in self._flat:
            if isinstance(spec, TensorSpec):
                flat.append(stacked.pop(0))
                continue
            size = len(spec._flat_tensor_specs)
            flat.append(spec._batch(count)._from_compatible_tensor_list(stacked[:size]))
            del stacked[:size]
        return nest.pack_sequence_as(self._structure, flat)


def _any(dtype: Any) -> TensorSpec:
    return TensorSpec(None, dtype)


def _batchable(spec: Any, what: str, value: Any = None) -> Any:
    if not hasattr(spec, "_to_batched_tensor_list"):
        raise TypeError(
            f"map_fn can not {what} {spec} {'inputs: got ' + repr(value) if value is not None else 'outputs'}"
        )
    return spec


def _length(tensors: Sequence[Any]) -> tuple[int | None, Any]:
    """Return how many rows tensors have, as a number where it is known, and as something to count up to."""
    dims: Any = (None,)
    for tensor in tensors:
        if tensor._dims is None:
            continue
        if not tensor._dims:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        try:
            dims = merge_dims(dims, tensor._dims[:1])
        except ValueError:
            raise ValueError(f"Dimensions {dims[0]} and {tensor._dims[0]} are not compatible") from None
    if dims[0] is not None:
        return dims[0], dims[0]
    return None, raw.StridedSlice(raw.Shape(tensors[0]), [0], [1], [1], shrink_axis_mask=1)


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"{fn} is not callable. Please provide a callable function.")


def _tensors(elems: Any, like: str) -> tuple[Any, Any, Any]:
    """Return elements as tensors, in their structure, with the number of their rows (known or not)."""
    tensors = nest.map_structure(lambda e: convert(tensor_of_variable(e), name="elem"), elems)
    flat = nest.flatten(tensors)
    if not flat:
        raise ValueError(f"elems of {like} holds no tensors: {elems}")
    return tensors, *_length(flat)


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Return `fn(... fn(fn(initializer, first), second) ..., last)` over the rows of `elems`.

    >>> int(foldl(lambda total, x: total * 10 + x, convert([1, 2, 3])))
    123
    """
    return _fold(fn, elems, initializer, False, name, (parallel_iterations, back_prop, swap_memory))


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Return `fn(... fn(fn(initializer, last), last but one) ..., first)` over the rows of `elems`.

    >>> int(foldr(lambda total, x: total * 10 + x, convert([1, 2, 3])))
    321
    """
    return _fold(fn, elems, initializer, True, name, (parallel_iterations, back_prop, swap_memory))


def _fold(fn: Any, elems: Any, initializer: Any, reverse: bool, name: Any, options: tuple[Any, ...]) -> Any:
    _check_callable(fn)
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
        parallel_iterations, back_prop, swap_memory = options
        return while_loop(
            cond,
            step,
            (start, total),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )[1]


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Return all that `fn(what came before, row)` gives along the rows of `elems`, stacked.

    >>> scan(lambda total, x: total + x, convert([1, 2, 3])).numpy().tolist()
    [1, 3, 6]
    """
    _check_callable(fn)
    with name_scope(name, "scan", [elems]):
        tensors, static, count = _tensors(elems, "scan")
        rows = [_array_of_rows(t, count) for t in nest.flatten(tensors)]
        structure = elems if initializer is None else initializer
        edge = count - 1 if reverse else 0
        if initializer is None:
            before = [a.read(edge) for a in rows]
        else:
            before = [convert(tensor_of_variable(v)) for v in nest.flatten(initializer)]
        found = [_array_for(v, count, infer_shape) for v in before]
        skipped = 0
        if initializer is None:
            found, skipped = [a.write(edge, v) for a, v in zip(found, before, strict=True)], 1

        def step(i: Any, before: Any, found: Any) -> Any:
            row = nest.pack_sequence_as(elems, [a.read(i) for a in rows])
            after = fn(nest.pack_sequence_as(structure, before), row)
            nest.assert_same_structure(structure, after)
            flat = nest.flatten(after)
            found = [a.write(i, v) for a, v in zip(found, flat, strict=True)]
            return i - 1 if reverse else i + 1, flat, found

        _, _, found = while_loop(
            (lambda i, b, f: i >= 0) if reverse else (lambda i, b, f: i < count),
            step,
            (convert(count - 1 - skipped if reverse else skipped), before, found),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=count,
        )
        return nest.pack_sequence_as(structure, [_with_length(a.stack(), static) for a in found])


def _array_of_rows(tensor: Any, count: Any) -> TensorArray:
    return TensorArray(tensor.dtype, count, clear_after_read=False, element_shape=_row_shape(tensor)).unstack(tensor)


def _array_for(value: Any, count: Any, infer_shape: bool) -> TensorArray:
    """Return an array for as many values like this one."""
    shape = value.shape if infer_shape else None
    return TensorArray(value.dtype, count, clear_after_read=False, infer_shape=infer_shape, element_shape=shape)


def _row_shape(tensor: Any) -> Any:
    return None if tensor._dims is None else list(tensor._dims[1:])
