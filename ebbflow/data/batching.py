"""Datasets that put elements together, or take them apart: batches, windows, rows."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import is_static
from ebbflow.data.columns import Columns, Listed, batches_of, length, split, stacked
from ebbflow.data.going_on import Failed, goes_on, told
from ebbflow.data.pipe import GATHERS, MAPS, NOTED, TYPED, UNKNOWN, Element, Pipe, dataset_op, made, pipe_of
from ebbflow.ops.ragged.composite_variants import in_variants
from ebbflow.ops.sizes import invalid, room_for
from ebbflow.ops.state.storage import boxed
from ebbflow.ops.strings.arrays import text_array

_COPIED = f"parallel_copy: bool = false; {NOTED}"
BatchDatasetV2 = dataset_op(
    "BatchDatasetV2(input_dataset:variant, batch_size:int64, drop_remainder:bool) -> (handle:variant) | " + _COPIED,
    lasting=True,
)
ParallelBatchDataset = dataset_op(
    "ParallelBatchDataset(input_dataset:variant, batch_size:int64, num_parallel_calls:int64, drop_remainder:bool) -> "
    f'(handle:variant) | parallel_copy: bool = false; {TYPED}; deterministic: string = "default"; '
    'metadata: string = ""'
)
PaddedBatchDatasetV2 = dataset_op(
    "PaddedBatchDatasetV2(input_dataset:variant, batch_size:int64, padded_shapes:N*int64, "
    "padding_values:list(Toutput_types), drop_remainder:bool) -> (handle:variant) | parallel_copy: bool = false; "
    'Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1; metadata: string = ""'
)
DenseToSparseBatchDataset = dataset_op(
    "DenseToSparseBatchDataset(input_dataset:variant, batch_size:int64, row_shape:int64) -> (handle:variant) | " + TYPED
)
RebatchDataset = dataset_op(
    f"RebatchDataset(input_dataset:variant, num_replicas:int64) -> (handle:variant) | {TYPED}; "
    "use_fallback: bool = true"
)
RebatchDatasetV2 = dataset_op(
    "RebatchDatasetV2(input_dataset:variant, batch_sizes:int64, drop_remainder:bool) -> (handle:variant) | " + TYPED
)
UnbatchDataset = dataset_op(f"UnbatchDataset(input_dataset:variant) -> (handle:variant) | {NOTED}")
WindowDataset = dataset_op(
    "WindowDataset(input_dataset:variant, size:int64, shift:int64, stride:int64, drop_remainder:bool) -> "
    f"(handle:variant) | {NOTED}"
)


def _positive(value: Any, name: str) -> int:
    number = int(value)
    if number < 1:
        shown = {"batch_size": "Batch size", "size": "Window size"}.get(name, f"Window {name}")
        raise invalid(f"{shown} must be greater than zero, got {name} = {number}.")
    return number


class _groups:  # noqa: N801  (called like a function)
    """Lists of elements that follow each other; the last may be shorter, unless only whole ones are wanted.

    An error takes the elements before it along that have not filled a list yet, and ends nothing; where it `costs` a
    list, those behind it that would fill it are gone as well.
    """

    __slots__ = ("_costs", "_count", "_elements", "_whole")

    def __init__(self, elements: Iterator[Element], count: int, whole: bool, costs: bool = False):
        self._elements, self._count, self._whole = told(elements) if costs else elements, count, whole
        self._costs = costs

    def __iter__(self) -> _groups:
        return self

    def __next__(self) -> list[Element]:
        group = list(itertools.islice(self._elements, self._count))
        if self._costs:
            for element in group:
                if element.__class__ is Failed:
                    raise element.error
        if not group or (self._whole and len(group) < self._count):
            raise StopIteration
        return group


def _number_of_groups(size: int, count: int, whole: bool) -> int:
    return size if size < 0 else size // count if whole else -(-size // count)


# --- batches ----------------------------------------------------------------------------------------------------------


def _batched(input_dataset: Any, batch_size: Any, drop_remainder: Any, fuses: bool = False) -> Any:
    source, count, whole = pipe_of(input_dataset), _positive(batch_size, "batch_size"), bool(drop_remainder)
    costs = fuses and source.role is MAPS  # one step in TensorFlow: what it calls for a batch, it calls

    def start() -> Iterator[Element]:
        columns = source.by_column()
        if columns is not None:
            return batches_of(columns, count, whole, costs)
        return map(_stack, _groups(source.start(), count, whole, costs))

    return made(start, _number_of_groups(source.size, count, whole), source, count if whole else None, role=GATHERS)


def _stack(group: list[Element]) -> Element:
    if len(group[0]) == 1:
        return (stacked([element[0] for element in group]),)
    return tuple([stacked(parts, i) for i, parts in enumerate(zip(*group, strict=True))])


@BatchDatasetV2.kernel
def _(xp: Any, input_dataset: Any, batch_size: Any, drop_remainder: Any) -> Any:
    return _batched(input_dataset, batch_size, drop_remainder, fuses=True)


@ParallelBatchDataset.kernel
def _(xp: Any, input_dataset: Any, batch_size: Any, num_parallel_calls: Any, drop_remainder: Any) -> Any:
    return _batched(input_dataset, batch_size, drop_remainder)


@PaddedBatchDatasetV2.kernel
def _(
    xp: Any, input_dataset: Any, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any
) -> Any:
    source, count, whole = pipe_of(input_dataset), _positive(batch_size, "batch_size"), bool(drop_remainder)
    shapes = [[int(n) for n in shape] for shape in padded_shapes]
    if any(n < -1 for shape in shapes for n in shape):
        raise invalid(f"padded_shapes must hold sizes, or -1 for the longest of a batch, got {shapes}")

    def start() -> Iterator[Element]:
        columns = source.by_column()
        groups: Iterator[Any] = (
            map(_by_part, _groups(source.start(), count, whole))
            if columns is None
            else batches_of(columns, count, whole)
        )
        return map(padded, groups)

    def padded(group: Any) -> Element:
        return tuple([_padded(parts, shapes[i], padding_values[i], i) for i, parts in enumerate(group)])

    return made(start, _number_of_groups(source.size, count, whole), source, role=GATHERS)


def _by_part(group: list[Element]) -> Iterator[Any]:
    return zip(*group, strict=True)


def _padded(parts: Sequence[np.ndarray], shape: list[int], filler: np.ndarray, index: int) -> np.ndarray:
    if not shape and parts[0].__class__ is bytes:
        return text_array(parts, (len(parts),))
    for part in parts:
        if part.ndim != len(shape):
            raise invalid(
                "All elements in a batch must have the same rank as the padded shape for component"
                f"{index}: expected rank {len(shape)} but got element with rank {part.ndim}"
            )
    dims = []
    for axis, wanted in enumerate(shape):
        longest = max(part.shape[axis] for part in parts)
        if wanted < 0:
            dims.append(longest)
        elif longest > wanted:
            raise too_long(parts, shape, axis, index)
        else:
            dims.append(wanted)
    if isinstance(parts, np.ndarray) and parts.shape[1:] == tuple(dims):
        return parts  # a block of rows that need no padding
    if not dims:
        return stacked(parts, index)
    room_for((len(parts), *dims), parts[0].dtype.itemsize)
    rows = np.empty((len(parts), *dims), parts[0].dtype)
    rows[...] = filler
    for row, part in zip(rows, parts, strict=True):
        row[tuple([slice(n) for n in part.shape])] = part
    return rows


def too_long(parts: Sequence[np.ndarray], shape: list[int], axis: int, index: int) -> Exception:
    """Return the error for an element that is longer than what it is to be padded to."""
    found = next(part.shape for part in parts if part.shape[axis] > shape[axis])
    return errors.DataLossError(
        None,
        None,
        "Attempted to pad to a smaller size than the input element: component "
        f"{index} has shape {list(found)}, and is to be padded to {shape}.",
    )


@DenseToSparseBatchDataset.kernel
def _(xp: Any, input_dataset: Any, batch_size: Any, row_shape: Any) -> Any:
    source, count, shape = pipe_of(input_dataset), _positive(batch_size, "batch_size"), row_shape.tolist()

    def start() -> Iterator[Element]:
        return map(batch, _groups(source.start(), count, False))

    def batch(group: list[Element]) -> Element:
        return (_sparse([element[0] for element in group], shape),)

    return made(start, _number_of_groups(source.size, count, False), source)


def _sparse(parts: Sequence[np.ndarray], shape: list[int]) -> np.ndarray:
    """Return the rows as one sparse tensor, in the form it travels in."""
    for part in parts:
        words = f"Input element had shape ({list(part.shape)}) that is"
        if part.ndim != len(shape):
            raise invalid(f"{words} incompatible with the row shape ({shape}).")
        if any(0 <= wanted < n for n, wanted in zip(part.shape, shape, strict=True)):
            raise errors.DataLossError(None, None, f"{words} larger than the row shape ({shape}).")
    dense = [max(part.shape[i] for part in parts) if n < 0 else n for i, n in enumerate(shape)]
    places = [np.insert(np.indices(part.shape).reshape(part.ndim, -1).T, 0, i, axis=1) for i, part in enumerate(parts)]
    values = np.concatenate([part.reshape(-1) for part in parts])
    lengths = np.array([len(parts), *dense], np.int64)
    return in_variants((np.concatenate(places).astype(np.int64), values, lengths))


@RebatchDataset.kernel
def _(xp: Any, input_dataset: Any, num_replicas: Any) -> Any:
    source, parts = pipe_of(input_dataset), int(num_replicas)
    if parts < 1:
        raise invalid(f"num_replicas must be positive, got {parts}")

    def start() -> Iterator[Element]:
        for block in map(_checked, source.start()):
            each = -(-length(block) // parts)
            yield from [tuple([column[i * each : (i + 1) * each] for column in block]) for i in range(parts)]

    return made(start, source.size if source.size < 0 else source.size * parts, source)


@RebatchDatasetV2.kernel
def _(xp: Any, input_dataset: Any, batch_sizes: Any, drop_remainder: Any) -> Any:
    source, sizes, whole = pipe_of(input_dataset), batch_sizes.reshape(-1).tolist(), bool(drop_remainder)
    if min(sizes, default=-1) < 0 or not any(sizes):
        raise invalid(f"batch_sizes must be >= 0, and one of them positive, got {sizes}")
    count = source.size if source.size <= 0 else UNKNOWN
    if source.size > 0 and source.rows is not None and len(set(sizes)) == 1:
        count = _number_of_groups(source.size * source.rows, sizes[0], whole)
    return made(lambda: _rebatched(map(_checked, source.start()), sizes, whole), count, source, role=GATHERS)


@goes_on
def _rebatched(blocks: Iterator[Any], sizes: list[int], whole: bool) -> Iterator[Any]:
    """Yield the rows of blocks in batches of these sizes, one after the other and over again.

    An error takes the rows before it along that have not filled a batch yet.
    """
    held: list[Any] = []
    have, like, more, blocks = 0, None, True, told(blocks)
    for size in itertools.cycle(sizes):
        while more and (have < size or like is None):
            block = next(blocks, None)
            if block.__class__ is Failed:
                held, have = [], 0
                yield block
                continue
            more = block is not None
            if block is not None and length(block):
                held.append(block)
                have, like = have + length(block), block
        if size and have and (have >= size or not whole):
            taken, held = split(held, min(size, have))
            have -= length(taken)
            yield taken
        elif not size and like is not None and (have or more):
            yield tuple([column[:0] for column in like])
        else:
            return


@UnbatchDataset.kernel
def _(xp: Any, input_dataset: Any, *, output_shapes: Any) -> Any:
    source = pipe_of(input_dataset)

    def start() -> Iterator[Element]:
        return _unbatched(map(_checked, source.start()))

    def columns() -> Columns | None:
        return Listed(map(_checked, source.start())) if all(is_static(dims) for dims in output_shapes) else None

    size = source.size if source.size <= 0 else UNKNOWN if source.rows is None else source.size * source.rows
    return made(start, size, source, columns=columns)


@goes_on
def _unbatched(elements: Iterator[Element]) -> Iterator[Any]:
    for element in told(elements):
        if element.__class__ is Failed:
            yield element
            continue
        for i in range(len(element[0])):
            yield tuple([part[i, ...] for part in element])


def _checked(element: Element) -> Any:
    """Refuse an element that has no rows, or columns of different lengths."""
    lengths = {len(part) if part.ndim else -1 for part in element}
    if len(lengths) > 1 or -1 in lengths:
        raise invalid(
            "Input element must have the same batch size in each component, and no scalars: it has shapes "
            f"{', '.join(str(list(part.shape)) for part in element)}"
        )
    return element


# --- windows ----------------------------------------------------------------------------------------------------------


@WindowDataset.kernel
def _(
    xp: Any, input_dataset: Any, size: Any, shift: Any, stride: Any, drop_remainder: Any, *, output_types: Any
) -> Any:
    source = pipe_of(input_dataset)
    count, step, stride = _positive(size, "size"), _positive(shift, "shift"), _positive(stride, "stride")
    span, whole = (count - 1) * stride + 1, bool(drop_remainder)

    def start() -> Iterator[Element]:
        return _windows(source.start(), span, step, whole, lambda held: _window(held[::stride], output_types))

    if source.size < 0:
        windows = source.size
    elif whole:
        windows = max(0, (source.size - span) // step + 1)
    else:
        windows = -(-source.size // step)
    return made(start, windows, source)


@goes_on
def _windows(
    elements: Iterator[Element], span: int, step: int, whole: bool, window: Callable[[list[Any]], Any]
) -> Iterator[Any]:
    """Yield windows over `span` elements, each `step` behind the last; one that has an error among them is that."""
    elements = told(elements)
    held: deque[Any] = deque(itertools.islice(elements, span))
    while held and (len(held) == span or not whole):
        yield window(list(held))
        gap = step - len(held)
        for _ in range(min(step, len(held))):
            held.popleft()
        for _ in range(gap):
            next(elements, None)
        held.extend(itertools.islice(elements, span - len(held)))


def _window(elements: list[Any], types: Sequence[DType]) -> Element | Failed:
    """Return a window: for each component of its elements a dataset, and a value where that is a dataset itself."""
    for element in elements:
        if element.__class__ is Failed:
            return element
    count = len(elements)
    columns = [[element[i] for element in elements] for i in range(len(elements[0]))]
    return tuple([boxed(Pipe(_column(column), count)) for column in columns])


def _column(parts: list[np.ndarray]) -> Any:
    return lambda: ((part,) for part in parts)
