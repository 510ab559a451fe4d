"""Elements by their place: one of them (`tf.data.experimental.at`), or all in an order drawn over the whole dataset."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.data import structure
from ebbflow.data.columns import Skipped
from ebbflow.data.dataset_sources import dataset_seeds
from ebbflow.data.iterator_ops import check
from ebbflow.data.pipe import NOTED, TYPED, UNKNOWN, Element, Pipe, begun_anew, dataset_op, pipe_of
from ebbflow.data.random_words import DummySeedGenerator, seeds_of
from ebbflow.data.selecting import in_random_order
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid

if TYPE_CHECKING:
    from ebbflow.data.dataset import DatasetV2


GetElementAtIndex = op(
    f"GetElementAtIndex(dataset:variant, index:int64) -> (components:list(output_types)) | {TYPED}",
    shape=lambda dataset, index, *, output_shapes: list(output_shapes),
    gradient=FLAT,
)
GlobalShuffleDataset = dataset_op(
    "GlobalShuffleDataset(input_dataset:variant, seed:int64, seed2:int64, seed_generator:resource) -> (handle:variant) "
    f"| reshuffle_each_iteration: bool = true; {NOTED} | stateful"
)


@GetElementAtIndex.kernel
def _(xp: Any, dataset: Any, index: Any, *, output_types: Any, output_shapes: Any) -> Any:
    pipe, place = pipe_of(dataset), int(index)
    element = None
    if place >= 0 and not 0 <= pipe.size <= place:
        with begun_anew({}):
            element = _element_at(pipe, place)
    if element is None:
        behind = f" of {pipe.size} elements" if pipe.size >= 0 else ""
        raise errors.OutOfRangeError(None, None, f"index = {place} is not that of an element{behind}")
    check(element, output_types, output_shapes)
    return list(element)


def _element_at(pipe: Pipe, place: int) -> Element | None:
    columns = pipe.by_column()
    if columns is None:
        return next(itertools.islice(pipe.start(), place, None), None)
    rows = Skipped(columns, place).take(1)
    return None if rows is None else [column[0, ...] for column in rows]


def at(dataset: DatasetV2, index: TensorLike) -> Nested:
    """Return the element of a dataset at a place, counted from 0; `tf.errors.OutOfRangeError` where there is none."""
    spec = dataset.element_spec
    place = convert(index, dtypes.int64, name="index")
    found = GetElementAtIndex(dataset._variant_tensor, place, **structure.types_and_shapes(spec))
    return structure.from_tensors(spec, found)


@GlobalShuffleDataset.kernel
def _(xp: Any, input_dataset: Any, seed: Any, seed2: Any, seed_generator: Any, *, reshuffle_each_iteration: Any) -> Any:
    source = pipe_of(input_dataset)
    if source.size <= 0:
        raise invalid(
            "`global_shuffle` requires the input dataset to have a non-empty finite cardinality. Got cardinality "
            f"{source.size}."
        )
    return in_random_order(source, UNKNOWN, seeds_of(int(seed), int(seed2), reshuffle_each_iteration))


def global_shuffle(
    input_dataset: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None, name: str | None = None
) -> Any:
    """Return all elements in one random order, however many there are."""
    return input_dataset._then(
        GlobalShuffleDataset, *dataset_seeds(seed), DummySeedGenerator(), kind="_GlobalShuffleDataset", name=name,
        reshuffle_each_iteration=reshuffle_each_iteration is not False,
    )  # fmt: skip
