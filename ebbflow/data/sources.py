"""Datasets that begin with values: tensors, their rows, ranges of numbers, Python generators, random numbers."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.data.calls import Call
from ebbflow.data.columns import Counted, in_memory
from ebbflow.data.pipe import INFINITE, NOTED, UNKNOWN, Element, Pipe, caller, dataset_op, made
from ebbflow.data.random_words import Seeds, seeds_of, words_of
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed

TensorDataset = dataset_op(
    "TensorDataset(components:list(Toutput_types)) -> (handle:variant) | Toutput_types: list(type) >= 1; "
    'output_shapes: list(shape) >= 1; metadata: string = "" | stateful',
    lasting=True,
)
TensorSliceDataset = dataset_op(
    "TensorSliceDataset(components:list(Toutput_types)) -> (handle:variant) | Toutput_types: list(type) >= 1; "
    'output_shapes: list(shape) >= 1; is_files: bool = false; metadata: string = ""; replicate_on_split: bool = false '
    "| stateful",
    lasting=True,
)
ListDataset = dataset_op(
    f"ListDataset(tensors:list(Tinput_types)) -> (handle:variant) | Tinput_types: list(type) >= 1; {NOTED} | stateful"
)
SparseTensorSliceDataset = dataset_op(
    "SparseTensorSliceDataset(indices:int64, values:Tvalues, dense_shape:int64) -> (handle:variant) | Tvalues: type "
    "| stateful"
)
RangeDataset = dataset_op(
    f"RangeDataset(start:int64, stop:int64, step:int64) -> (handle:variant) | {NOTED}; "
    "replicate_on_split: bool = false | stateful",
    lasting=True,
)
RandomDataset = dataset_op(f"RandomDataset(seed:int64, seed2:int64) -> (handle:variant) | {NOTED} | stateful")
RandomDatasetV2 = dataset_op(
    "RandomDatasetV2(seed:int64, seed2:int64, seed_generator:resource) -> (handle:variant) | "
    "rerandomize_each_iteration: bool = false; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; "
    'metadata: string = "" | stateful'
)
GeneratorDataset = dataset_op(
    "GeneratorDataset(init_func_other_args:list(Tinit_func_args), next_func_other_args:list(Tnext_func_args), "
    "finalize_func_other_args:list(Tfinalize_func_args)) -> (handle:variant) | init_func: func; next_func: func; "
    "finalize_func: func; Tinit_func_args: list(type) >= 0; Tnext_func_args: list(type) >= 0; Tfinalize_func_args: "
    f"list(type) >= 0; {NOTED} | stateful"
)


@TensorDataset.kernel
def _(xp: Any, components: Any) -> Any:
    element = tuple(components)
    return made(lambda: iter((element,)), 1, rows=len(element[0]) if element[0].ndim else None)


@TensorSliceDataset.kernel
def _(xp: Any, components: Any) -> Any:
    lengths = [len(c) if c.ndim else None for c in components]
    if None in lengths:
        raise invalid(f"Components of a sliced dataset must not be scalars: component {lengths.index(None)} is one")
    if len(set(lengths)) > 1:
        raise invalid(
            f"All components must have the same size in dimension 0, but they have {', '.join(map(str, lengths))}"
        )
    parts = tuple(components)
    return made(lambda: _rows(parts), lengths[0], columns=lambda: in_memory(parts))  # type: ignore[arg-type]


@ListDataset.kernel
def _(xp: Any, tensors: Any, *, output_types: Any) -> Any:
    count = len(output_types)
    if len(tensors) % count:
        raise invalid(f"tensors: {len(tensors)} are given, which makes no whole elements of {count} each")
    elements = [tuple(tensors[i : i + count]) for i in range(0, len(tensors), count)]
    return made(lambda: iter(elements), len(elements))


def _rows(parts: tuple[np.ndarray, ...]) -> Iterator[Element]:
    return (tuple([part[i, ...] for part in parts]) for i in range(len(parts[0])))


@SparseTensorSliceDataset.kernel
def _(xp: Any, indices: Any, values: Any, dense_shape: Any) -> Any:
    if indices.ndim != 2 or values.ndim != 1 or dense_shape.ndim != 1 or not len(dense_shape):
        raise invalid("A sparse tensor needs indices [n, rank], values [n] and a dense_shape of at least one dimension")
    if len(indices) != len(values) or indices.shape[1] != len(dense_shape):
        raise invalid(
            f"indices of shape {list(indices.shape)} do not fit {len(values)} values and {len(dense_shape)} dimensions"
        )
    rows = indices[:, 0]
    if (np.diff(rows) < 0).any():
        raise errors.UnimplementedError(None, None, "The SparseTensor must be ordered in the batch dimension")
    count = int(dense_shape[0])
    edges = np.searchsorted(rows, np.arange(count + 1))

    def start() -> Iterator[Element]:
        for first, last in itertools.pairwise(edges.tolist()):
            yield indices[first:last, 1:], values[first:last], dense_shape[1:]

    return made(start, count)


@RangeDataset.kernel
def _(xp: Any, start: Any, stop: Any, step: Any, *, output_types: Any) -> Any:
    if int(step) == 0:
        raise invalid("step must be a non-zero integer.")
    numbers, dtype = range(int(start), int(stop), int(step)), output_types[0].np
    array = np.array
    size = max(0, -((int(start) - int(stop)) // int(step)))  # `len` of a range ends at 2**63
    return made(
        lambda: ((array(n, dtype),) for n in numbers), min(size, 2**63 - 1), columns=lambda: Counted(numbers, dtype)
    )


# --- random numbers ---------------------------------------------------------------------------------------------------


def _random(seeds: Seeds) -> Any:
    def start() -> Iterator[Element]:
        return ((np.array(word, np.int64),) for word in words_of(*seeds.draw()))

    pipe = Pipe(start, INFINITE)
    pipe.seeds = seeds
    return boxed(pipe)


@RandomDataset.kernel
def _(xp: Any, seed: Any, seed2: Any) -> Any:
    return _random(seeds_of(int(seed), int(seed2), False))


@RandomDatasetV2.kernel
def _(xp: Any, seed: Any, seed2: Any, seed_generator: Any, *, rerandomize_each_iteration: Any) -> Any:
    return _random(seeds_of(int(seed), int(seed2), rerandomize_each_iteration))


# --- Python generators ------------------------------------------------------------------------------------------------


@GeneratorDataset.kernel
def _(xp: Any, first: Any, further: Any, last: Any, *, init_func: Any, next_func: Any, finalize_func: Any, run: Any):
    begin, go_on, end = caller(init_func, first, run), caller(next_func, further, run), caller(finalize_func, last, run)

    return made(lambda: _Generated(begin, go_on, end), UNKNOWN)


class _Generated:
    """What a generator gives. An element that is refused ends nothing: the generator goes on behind it."""

    def __init__(self, begin: Call, go_on: Call, end: Call):
        self._begin, self._go_on, self._end = begin, go_on, end
        self._state: Element | None = None
        self._ended = self._asked = False

    def __iter__(self) -> _Generated:
        return self

    def __next__(self) -> Element:
        if self._ended:
            raise StopIteration
        if self._asked:
            raise ValueError("generator already executing")
        self._asked = True
        try:
            if self._state is None:
                self._state = self._begin(())
            return self._go_on(self._state)
        except errors.OutOfRangeError:
            self._close()
            raise StopIteration from None
        finally:
            self._asked = False

    def _close(self) -> None:
        state, self._state, self._ended = self._state, None, True
        if state is not None:
            with contextlib.suppress(errors.OpError):  # nobody is there to hear of it
                self._end(state)

    def __del__(self, exiting: Callable[[], bool] = sys.is_finalizing) -> None:
        if not exiting():
            self._close()
