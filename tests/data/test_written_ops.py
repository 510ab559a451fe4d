"""Ops of datasets that only graphs written by TensorFlow hold: called by name, they give what their kin do."""

from __future__ import annotations

import pytest

import ebbflow as tf

ops = tf.raw_ops
LIKE = {"output_types": [tf.int64], "output_shapes": [tf.TensorShape([])]}


def numbers(variant):
    dataset = tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))
    return [int(x) for x in dataset]


@pytest.fixture
def source():
    return tf.data.Dataset.range(6)._variant_tensor


HANDED_ON = {
    "MaxIntraOpParallelismDataset": {"max_intra_op_parallelism": 2},
    "PrivateThreadPoolDataset": {"num_threads": 2},
    "NonSerializableDataset": {},
    "FinalizeDataset": {},
    "LatencyStatsDataset": {"tag": "a"},
    "BytesProducedStatsDataset": {"tag": "a"},
    "SleepDataset": {"sleep_microseconds": 10},
}


@pytest.mark.parametrize("name", HANDED_ON)
def test_what_only_tunes_hands_elements_on(name, source):
    assert numbers(getattr(ops, name)(input_dataset=source, **HANDED_ON[name], **LIKE)) == list(range(6))


def test_variants_are_wrapped_and_unwrapped(source):
    wrapped = ops.WrapDatasetVariant(input_handle=source)
    assert numbers(ops.UnwrapDatasetVariant(input_handle=wrapped)) == list(range(6))


def test_iterators_come_with_what_deletes_them(source):
    handle, deleter = ops.AnonymousIteratorV2(**LIKE)
    ops.MakeIterator(dataset=source, iterator=handle)
    assert [int(ops.IteratorGetNext(iterator=handle, **LIKE)[0]) for _ in range(2)] == [0, 1]
    ops.DeleteIterator(handle=handle, deleter=deleter)
    plain = ops.AnonymousIterator(**LIKE)
    ops.MakeIterator(dataset=source, iterator=plain)
    assert int(ops.IteratorGetNext(iterator=plain, **LIKE)[0]) == 0


def test_orders_follow_the_seeds_of_a_generator(source):
    expected = [int(x) for x in tf.data.Dataset.range(6).shuffle(6, seed=7, reshuffle_each_iteration=False)]
    seed, seed2 = 87654321, 7
    generator, deleter = ops.AnonymousSeedGenerator(seed=seed, seed2=seed2, reshuffle=False)
    shuffled = ops.ShuffleDatasetV2(input_dataset=source, buffer_size=6, seed_generator=generator, **LIKE)
    assert sorted(numbers(shuffled)) == sorted(expected) and numbers(shuffled) == numbers(shuffled)
    again = ops.ShuffleDataset(
        input_dataset=source, buffer_size=6, seed=seed, seed2=seed2, reshuffle_each_iteration=False, **LIKE
    )
    assert numbers(shuffled) == numbers(again)
    both = ops.ShuffleAndRepeatDatasetV2(
        input_dataset=source, buffer_size=6, seed=1, seed2=2, count=2, seed_generator=generator, **LIKE
    )
    assert sorted(numbers(both)) == sorted([*range(6)] * 2)
    ops.DeleteSeedGenerator(handle=generator, deleter=deleter)
    with pytest.raises(tf.errors.InvalidArgumentError, match="seed_generator is not of a generator of seeds"):
        numbers(
            ops.ShuffleDatasetV2(
                input_dataset=source, buffer_size=6, seed_generator=ops.AnonymousIterator(**LIKE), **LIKE
            )
        )


def test_filters_side_by_side(source):
    predicate = tf.function(lambda x: x % 2 > 0).get_concrete_function(tf.TensorSpec([], tf.int64))
    kept = ops.ParallelFilterDataset(
        input_dataset=source, other_arguments=[], num_parallel_calls=2, predicate=predicate, **LIKE
    )
    assert numbers(kept) == [1, 3, 5]
