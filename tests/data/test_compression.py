"""Elements of datasets as compressed values."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data.compression import compress, uncompress


@pytest.mark.parametrize(
    "element",
    [1, "dog", (1, ("a", 2.0)), {"a": tf.sparse.from_dense([[0, 1]]), "b": tf.ragged.constant([[1], [2, 3]])}],
    ids=str,
)
def test_what_is_compressed_comes_back(element):
    dataset = tf.data.Dataset.from_tensors(element)
    through = dataset.map(lambda *x: compress(x if isinstance(element, tuple) else x[0]))
    through = through.map(lambda x: uncompress(x, dataset.element_spec))
    (found,), (wanted,) = list(through), list(dataset)
    for a, b in zip(tf.nest.flatten(found, True), tf.nest.flatten(wanted, True), strict=True):
        np.testing.assert_array_equal(a, b)


def test_refusals():
    with pytest.raises(tf.errors.FailedPreconditionError, match="int32 at 0, but got a tensor of type string"):
        uncompress(compress("a"), tf.TensorSpec([], tf.int32))
    with pytest.raises(tf.errors.FailedPreconditionError, match="Expected 2 tensors"):
        uncompress(compress("a"), (tf.TensorSpec([], tf.string),) * 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="holds Pipe"):
        uncompress(tf.data.Dataset.range(2)._variant_tensor, tf.TensorSpec([], tf.int64))
