"""Stages that say what stands around them; names and words are those of TensorFlow 2.21."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.data.asserted import assert_next, assert_prev
from ebbflow.data.worker_datasets import non_serializable

Dataset = tf.data.Dataset


def with_wishes(dataset, **wishes):
    options = tf.data.Options()
    for name, value in wishes.items():
        setattr(options.experimental_optimization, name, value)
    return dataset.with_options(options)


NEXT = [
    (["Map", "Batch"], lambda d: d.map(lambda x: x).batch(1), {"apply_default_optimizations": False}),
    (["MapAndBatch"], lambda d: d.map(lambda x: x).batch(1), {}),
    (["ParallelMap", "Root"], lambda d: d.map(lambda x: x), {"map_parallelization": True}),
    (["FiniteTake", "FiniteSkip"], lambda d: d.take(1).skip(0), {"noop_elimination": False}),
    (["MemoryCacheImpl"], lambda d: d.skip(0).cache(), {}),
    (["ForeverRepeat", "FiniteTake"], lambda d: d.repeat().take(1), {}),
    (["FiniteSkip"], lambda d: d.skip(0).apply(non_serializable()).skip(0), {}),
    (["Interleave", "Prefetch"], lambda d: d.interleave(Dataset.from_tensors).prefetch(1), {}),
    (["Root"], lambda d: d, {}),
]


@pytest.mark.parametrize("names, after, wishes", NEXT, ids=lambda x: "-".join(x) if isinstance(x, list) else "")
def test_what_comes_next_is_as_said(names, after, wishes):
    found = list(with_wishes(after(Dataset.from_tensors(7).apply(assert_next(names))), **wishes).as_numpy_iterator())
    assert found in ([7], [[7]])


@pytest.mark.parametrize("names, after, wishes", NEXT, ids=lambda x: "-".join(x) if isinstance(x, list) else "")
def test_something_else_that_comes_next_is_refused(names, after, wishes):
    dataset = after(Dataset.from_tensors(7).apply(assert_next([*names[:-1], "Whoops"])))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"matching Whoops at offset {len(names) - 1}"):
        iter(with_wishes(dataset, **wishes))


def test_more_than_come_next_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Asserted next 2 transformations but encountered only 1"):
        iter(Dataset.range(3).apply(assert_next(["Root", "Whoops"])))
    with pytest.raises(ValueError, match="should not be empty"):
        assert_next(None)


def mapped():
    return Dataset.from_tensors(0).map(lambda x: x, num_parallel_calls=8, deterministic=True).batch(1)


def test_what_came_before_is_as_said():
    asked = [("BatchDataset", {}), ("ParallelMapDataset", {"deterministic": "true", "preserve_cardinality": True})]
    assert list(mapped().apply(assert_prev([*asked, ("TensorDataset", None)])).as_numpy_iterator()) == [[0]]


@pytest.mark.parametrize(
    "asked, says",
    [
        ([("Whoops", {})], "Asserted transformation matching 'Whoops', but found 'BatchDatasetV2'"),
        ([("BatchDataset", {"whoops": True})], "but found no such attribute defined"),
        ([("BatchDataset", {"parallel_copy": True})], "but found value of 'False'"),
        ([("BatchDataset", {}), ("ParallelMapDataset", {"deterministic": "false"})], "at offset 1"),
        ([("BatchDataset", {}), ("ParallelMapDataset", {}), ("TensorDataset", {}), ("A", {})], "encountered only 3"),
    ],
)
def test_something_else_that_came_before_is_refused(asked, says):
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        iter(mapped().apply(assert_prev(asked)))


def test_attributes_are_flags_numbers_and_texts():
    with pytest.raises(ValueError, match="must be bool, int, or str"):
        assert_prev([("BatchDataset", {"parallel_copy": 0.5})])
    with pytest.raises(ValueError, match="cannot be empty"):
        assert_prev(None)
