"""`tensorflow.python.data.util`: structures beside each other, arguments as tensors, sparse tensors as variants."""

import collections

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data import inner_names as inner
from ebbflow.data import structure

Point = collections.namedtuple("Point", "x y")


def test_structures_that_nest_alike():
    inner.assert_same_structure((1, {"a": [1, 2]}), (2, {"a": 3}))
    inner.assert_same_structure({"a": 1, "b": 2}, (1, 2), check_types=False)
    for other, error in (
        ((1, 2, 3), ValueError),
        (1, ValueError),
        ({"a": 1, "b": 2}, TypeError),
        (Point(1, 2), TypeError),
    ):
        with pytest.raises(error, match="don't have the same nested structure"):
            inner.assert_same_structure((1, 2), other)


def test_maps_check_what_they_are_given():
    assert inner.map_structure_checked(lambda a, b: a + b, (1, {"k": 2}), (3, {"k": 4})) == (4, {"k": 6})
    with pytest.raises(TypeError, match="callable"):
        inner.map_structure_checked("f", 1)
    with pytest.raises(ValueError, match="Only valid keyword"):
        inner.map_structure_checked(lambda x: x, 1, depth=3)
    with pytest.raises(ValueError, match="same nested structure"):
        inner.map_structure_checked(lambda a, b: a, (1, 2), (1, (2, 3)))


def test_trees_as_deep_as_others():
    assert inner.flatten_up_to((0, (0, 0)), ((1, 2), (3, [4]))) == [(1, 2), 3, [4]]
    assert inner.map_structure_up_to((0, 0), lambda a, b: (a, b), ([1], 2), ((3, 4), 5)) == (([1], (3, 4)), (2, 5))
    with pytest.raises(ValueError, match="same sequence length"):
        inner.flatten_up_to((0, 0, 0), (1, 2))
    with pytest.raises(TypeError, match="input must also be a sequence"):
        inner.assert_shallow_structure((0, 0), [1, 2])


def test_packing_refuses_what_does_not_fit():
    assert inner.pack_sequence_as((1, {"a": 2}), ["x", [1]]) == ("x", {"a": [1]})
    for like, leaves in ((5, [1, 2]), ((1, 2), [1]), ((1, 2), [1, 2, 3])):
        with pytest.raises(ValueError):
            inner.pack_sequence_as(like, leaves)


class Masked:
    """A class that says how it is taken apart, and puts itself together again: with a method, no class method."""

    def __init__(self, mask, value):
        self.mask, self.value = mask, value

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    def __tf_unflatten__(self, metadata, components):
        return Masked(metadata[0], components[0])


def test_classes_of_ones_own():
    doubled = structure.map_structure(lambda x: x * 2, (Masked("m", 4), 5))
    assert doubled[0].mask == "m" and doubled[0].value == 8 and doubled[1] == 10


def test_arguments_are_tensors():
    assert inner.optional_param_to_tensor("size", None).numpy() == 0
    assert inner.optional_param_to_tensor("kind", None, "GZIP", tf.string).numpy() == b"GZIP"
    for shape in ([3, None], (3, None), tf.TensorShape([3, None])):
        assert inner.partial_shape_to_tensor(shape).numpy().tolist() == [3, -1]
    for wrong in (tf.constant([[1]], tf.int64), tf.constant([1], tf.int32)):
        with pytest.raises((ValueError, TypeError), match="must be a 1-D tensor"):
            inner.partial_shape_to_tensor(wrong)


@pytest.mark.parametrize("seed", [0, 2**31 - 1])
def test_seeds_are_never_both_zero(seed):
    tf.random.set_seed(0)
    try:
        for given in (seed, tf.constant(seed, tf.int64)):
            assert [s.numpy() for s in inner.get_seed(given)] == [0, 2**31 - 1]
    finally:
        tf.random.set_seed(None)
    assert [s.numpy() for s in inner.get_seed(tf.constant(5, tf.int64))] == [87654321, 5]


def test_sparse_tensors_travel_as_variants():
    sparse = tf.sparse.from_dense([[0, 1], [2, 0]])
    element = (sparse, {"a": tf.constant(3)})
    classes = inner.get_classes(element)
    assert inner.any_sparse(classes) and not inner.any_sparse((tf.Tensor,))
    assert inner.as_dense_types((tf.int32, {"a": tf.int32}), classes) == (tf.variant, {"a": tf.int32})
    shapes = structure.map_structure(lambda _: tf.TensorShape(None), classes)
    types = structure.map_structure(lambda _: tf.int32, classes)
    back = inner.deserialize_sparse_tensors(inner.serialize_sparse_tensors(element), types, shapes, classes)
    np.testing.assert_array_equal(tf.sparse.to_dense(back[0]), [[0, 1], [2, 0]])
    assert inner.serialize_many_sparse_tensors(sparse).shape[0] == 2


def test_elements_as_lists_of_tensors():
    element = {"a": tf.constant([1.0, 2.0]), "b": tf.ragged.constant([[1], [2, 3]])}
    spec = inner.type_spec_from_value(element)
    flat = inner.to_tensor_list(spec, element)
    assert inner.get_flat_tensor_types(spec) == [tf.float32, tf.variant]
    assert inner.get_flat_tensor_shapes(spec)[0] == [2]
    assert inner.from_tensor_list(spec, flat)["b"].to_list() == [[1], [2, 3]]
    with pytest.raises(ValueError, match="Expected 2 tensors but got 1"):
        inner.from_tensor_list(spec, flat[:1])
    with pytest.raises(ValueError, match="dtype"):
        inner.from_tensor_list(spec["a"], [tf.constant([1, 2])])
    with pytest.raises(ValueError, match="not compatible"):
        inner.to_tensor_list(spec["a"], tf.constant([1.0]))
