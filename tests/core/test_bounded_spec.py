"""Types of tensors whose elements have bounds."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import spec as specs
from ebbflow.core.spec import BoundedTensorSpec
from ebbflow.io.structures import decode_proto, encode_structure


@pytest.mark.parametrize(
    "spec",
    [
        BoundedTensorSpec([1, 2, 3], tf.int64, 0, 10, "name"),
        BoundedTensorSpec((28, 28, 3), tf.float64, -2, (1, 1, 20)),
        BoundedTensorSpec.from_spec(tf.TensorSpec([None], tf.int8)),
    ],
)
def test_it_is_written_and_read(spec):
    again = decode_proto(encode_structure(spec))
    assert again == spec and hash(again) == hash(spec) and again.name == spec.name
    assert again != BoundedTensorSpec(spec.shape, spec.dtype, spec.minimum, spec.maximum - 1, spec.name)
    assert again != tf.TensorSpec(spec.shape, spec.dtype, spec.name)


def test_bounds():
    spec = BoundedTensorSpec.from_spec(tf.TensorSpec([None], tf.int8))
    assert (int(spec.minimum), int(spec.maximum)) == (-128, 127)
    with pytest.raises(ValueError, match="does not broadcast"):
        BoundedTensorSpec([3], tf.int32, [1, 2], 3)
    with pytest.raises(ValueError, match="read-only"):
        spec.minimum[...] = np.int8(1)
    with pytest.raises(ValueError, match="cannot be None"):
        BoundedTensorSpec([3], tf.int32, None, 3)


class Doubled(specs.DenseSpec):
    """A type of a program's own, for values that have a shape."""

    __slots__ = ()
    value_type = tuple
    _component_specs = property(lambda self: tf.TensorSpec(self.shape, self.dtype))


def test_types_of_values_with_a_shape():
    first = Doubled([2], tf.float32)
    assert isinstance(tf.TensorSpec([2]), specs.DenseSpec) and isinstance(first, tf.TypeSpec)
    assert first == Doubled([2]) != Doubled([3]) and first != tf.TensorSpec([2]) and hash(first) == hash(Doubled([2]))
    assert first.is_compatible_with(tf.constant([1.0, 2.0])) and not first.is_compatible_with(tf.constant([1, 2]))
    assert repr(first) == "Doubled(shape=(2,), dtype=tf.float32, name=None)"
