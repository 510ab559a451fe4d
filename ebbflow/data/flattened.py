"""Datasets flattened by numbers: the parts of elements, found by a function of their place; inputs in proportion.

`tensorflow.python.data.experimental.ops` has them as `index_flat_map` and `_weighted_flat_map`; none is public.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.data import structure
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.pipe import NOTED, UNKNOWN, Element, Pipe, caller, dataset_op, made, pipe_of
from ebbflow.data.traced import trace
from ebbflow.ops.sizes import invalid

Number = int | Tensor
"""The number of an element or of a part, as functions are given it."""

IndexFlatMapDataset = dataset_op(
    "IndexFlatMapDataset(input_dataset:variant, map_func_other_args:list(Tmap_func_args), "
    "index_map_func_other_args:list(Tindex_map_func_args), output_cardinality:int64) -> (handle:variant) | map_func: "
    f"func; index_map_func: func; Tmap_func_args: list(type) >= 0; Tindex_map_func_args: list(type) >= 0; {NOTED}"
)
WeightedFlatMapDataset = dataset_op(
    "WeightedFlatMapDataset(input_datasets:N*variant, weights:M*double) -> (handle:variant) | N: int >= 2; "
    f"M: int >= 2; {NOTED}"
)


@IndexFlatMapDataset.kernel
def _(
    xp: Any, input_dataset: Any, map_args: Any, index_args: Any, output_cardinality: Any,
    *, map_func: Any, index_map_func: Any, run: Any,
) -> Any:  # fmt: skip
    source, call = pipe_of(input_dataset), caller(map_func, map_args, run)
    place_of = caller(index_map_func, index_args, run)

    def start() -> Iterator[Element]:
        parts = _Parts(source, call)
        for number in itertools.count():
            element = parts.at(*_place(place_of((np.array(number, np.int64),))))
            if element is None:
                return
            yield element

    size = 0 if source.size == 0 else int(output_cardinality)
    return made(start, size, source, call=call)


def _place(found: Sequence[Any]) -> tuple[int, int]:
    """Return the number of an element and of a part of it that the user's function gave."""
    numbers = [np.asarray(value) for value in found]
    if len(numbers) != 2 or any(n.ndim or n.dtype.kind not in "iu" for n in numbers):
        raise invalid(
            "The `index_map_fn` for `index_flat_map` is expected to return two int values representing the element "
            f"index and an offset within the element. Got: {[n.tolist() for n in numbers]}"
        )
    return int(numbers[0]), int(numbers[1])


class _Parts:
    """The parts that a function makes of elements; those of the last one asked for are kept."""

    def __init__(self, source: Pipe, call: Callable[[Element], Element]):
        self._source, self._call = source, call
        self._elements, self._next = source.start(), 0
        self._number, self._parts = -1, ()

    def at(self, number: int, offset: int) -> Element | None:
        """Return a part of an element; None where there is no such element."""
        if number != self._number or not self._next:
            if number < 0:
                raise invalid(f"`index_flat_map` got invalid `index_map_func` which returns element index {number}")
            if number < self._next:
                self._elements, self._next = self._source.start(), 0
            element = next(itertools.islice(self._elements, number - self._next, None), None)
            if element is None:
                return None
            self._number, self._next = number, number + 1
            self._parts = self._of(element)
        if not 0 <= offset < len(self._parts):
            raise invalid(
                f"`index_flat_map` got invalid `index_map_func` which returns offset {offset}, but the input element "
                f"has {len(self._parts)} elements"
            )
        return (self._parts[offset],)

    def _of(self, element: Element) -> Any:
        found = self._call(element)
        if len(found) > 1:
            return found
        whole = np.asarray(found[0])
        return [whole[i, ...] for i in range(len(whole))] if whole.ndim else [whole]


def index_flat_map(
    input_dataset: DatasetV2,
    map_func: Callable[..., Any],
    index_map_func: Callable[[Number], tuple[Number, Number]],
    *,
    output_cardinality: Any = UNKNOWN,
    name: str | None = None,
) -> Any:
    """Return the parts of what a function gives for elements.

    `index_map_func` gives, for the number of a part among all, the number of its element and of the part in that.
    """
    made_of_elements = trace(map_func, [input_dataset.element_spec], "map_func")
    places = trace(index_map_func, [TensorSpec([], dtypes.int64)], "index_map_func")
    return input_dataset._then(
        IndexFlatMapDataset, made_of_elements.captured, places.captured, convert(output_cardinality, dtypes.int64),
        map_func=made_of_elements.body, index_map_func=places.body, spec=_of_a_part(made_of_elements.spec),
        kind="_IndexFlatMapDataset", name=name,
    )  # fmt: skip


def _of_a_part(spec: Any) -> Any:
    if isinstance(spec, (list, tuple)):
        return spec[0]
    rank = spec.shape.rank
    return TensorSpec(None if rank is None else spec.shape[1:] if rank else [], spec.dtype)


# --- in proportion ----------------------------------------------------------------------------------------------------


@WeightedFlatMapDataset.kernel
def _(xp: Any, input_datasets: Any, weights: Any) -> Any:
    sources = [pipe_of(variant) for variant in input_datasets]
    counts = _counts([source.size for source in sources], [float(weight) for weight in weights])

    def start() -> Iterator[Element]:
        for source, count in zip(sources, counts, strict=True):
            yield from itertools.islice(source.start(), count)

    return made(start, sum(counts), sources[0])


def _counts(sizes: Sequence[int], weights: Sequence[float]) -> list[int]:
    """Return how many elements of each input are taken, as many as there are of all in proportion to the weights.

    >>> _counts([10, 10, 10], [1, 1, 2]), _counts([5, 5], [1, 1.5])
    ([5, 5, 10], [3, 5])
    """
    if len(sizes) != len(weights):
        raise invalid(f"there must be a weight for each input, got {len(weights)} `weights` for {len(sizes)} inputs")
    for i, (size, weight) in enumerate(zip(sizes, weights, strict=True)):
        if not weight > 0:
            raise invalid(f"`weights` must be greater than 0.0. Input {i} has a weight of {weight:g}")
        if math.isinf(weight):
            raise invalid(f"`weights` must be finite. Input {i} has a weight of {weight}")
        if size < 0:
            kind = "UNKNOWN" if size == UNKNOWN else "INFINITE"
            raise invalid(f"Cardinalities of the inputs must be known. Input {i} has {kind} cardinality.")
    whole = min(size / weight for size, weight in zip(sizes, weights, strict=True))
    counts = [min(size, int(whole * weight + 1e-9)) for size, weight in zip(sizes, weights, strict=True)]
    if whole and not all(counts):  # each gives one at least
        for i, (size, weight) in enumerate(zip(sizes, weights, strict=True)):
            least = int(weight / min(weights))
            if least > size:
                raise invalid(f"Input {i} needs to have at least {least} elements. It only has {size} elements.")
    return counts


def weighted_flat_map(input_datasets: Sequence[DatasetV2], weights: Any = None, name: str | None = None) -> Any:
    """Return the first elements of some datasets, one dataset after the other, as many of each as its weight says."""
    datasets = list(input_datasets)
    if len(datasets) < 2:
        least = "should have at least two datasets" if datasets else "should not be empty"
        raise ValueError(f"Invalid `datasets`. `datasets` {least}.")
    spec = datasets[0].element_spec
    for other in datasets[1:]:
        try:
            spec = structure.map_structure(_common, spec, other.element_spec)
        except (TypeError, ValueError) as error:
            words = f"Incompatible dataset elements:\n  {datasets[0].element_spec} vs.   {other.element_spec}"
            raise TypeError(words) from error
    return datasets[0]._make(
        WeightedFlatMapDataset, datasets, _as_weights(weights, len(datasets)), spec=spec, kind="_WeightedFlatMap",
        made_of=datasets, name=name,
    )  # fmt: skip


def _common(a: Any, b: Any) -> Any:
    found = a.most_specific_common_supertype([b])
    if found is None:
        raise TypeError(f"No common supertype of {a} and {b}.")
    return found


def _as_weights(weights: Any, count: int) -> list[Any]:
    if weights is None:
        return [convert(1.0, dtypes.float64)] * count
    if isinstance(weights, Tensor):
        if not weights.shape.is_compatible_with([count]):
            raise ValueError(
                "Invalid `weights`. The shape of `weights` should be compatible with `[len(datasets)]` but is "
                f"{weights.shape}."
            )
        return [convert(weights[i], dtypes.float64) for i in range(count)]
    if len(weights) != count:
        raise ValueError(
            "Invalid `weights`. `weights` should have the same length as `datasets` but got "
            f"`len(weights)={len(weights)}` vs. `len(datasets)={count}`."
        )
    return [w if isinstance(w, Tensor) else convert(float(w), dtypes.float64) for w in weights]
