"""What is known of the size of a dataset's batches."""

import pytest
from ebbflow.python.data.experimental.ops.distribute import compute_batch_size

import ebbflow as tf

NUMBERS = tf.data.Dataset.range(10)


@pytest.mark.parametrize(
    "dataset, size",
    [
        (NUMBERS.batch(4), 4),
        (NUMBERS.batch(5, drop_remainder=True), 5),
        (NUMBERS.batch(4).take(2).shuffle(3).prefetch(1).repeat(), 4),
        (NUMBERS.batch(4).batch(2), 2),
        (NUMBERS.padded_batch(3, ()), 3),
        (NUMBERS.batch(4).map(lambda x: x + 1), -1),
        (NUMBERS.batch(4).unbatch(), -1),
        (tf.data.Dataset.from_tensors([1, 2, 3]), 3),
    ],
)
def test_batch_size(dataset, size):
    assert int(compute_batch_size(dataset)) == size


def test_only_batched_datasets_have_the_attribute_that_keras_looks_for():
    assert int(NUMBERS.batch(4)._batch_size) == int(NUMBERS.padded_batch(4, ())._batch_size) == 4
    assert not hasattr(NUMBERS, "_batch_size") and not hasattr(NUMBERS.batch(4).prefetch(1), "_batch_size")


@pytest.mark.parametrize(
    "dataset, says",
    [
        (NUMBERS, "scalar components"),
        (tf.data.Dataset.from_tensors(([[1.0], [2.0]], [3.0])), "Encountered both 2 and 1"),
    ],
)
def test_what_has_no_common_rows_is_not_unbatched(dataset, says):
    with pytest.raises(ValueError, match=says):
        dataset.unbatch()
