"""Lists of numbers of several kinds, and numbers too large: what TensorFlow makes of them, eagerly and in graphs."""

import numpy as np
import pytest

import ebbflow as tf

# a list, and the dtypes TensorFlow 2.21 (eagerly, in a graph) and 1.15 (in a graph) give
CASES = [
    ([np.int64(1), np.int64(2)], "int32", "int32"),
    ((np.int64(1), 2), "int32", "int32"),
    ([[np.int64(2**40)]], "int64", "int64"),
    ([np.float64(1)], "float64", "float32"),
    (np.array([1, 2]), "int64", "int64"),
    (np.int64(3), "int64", "int64"),
]


@pytest.mark.parametrize("value, eagerly, in_graphs", CASES, ids=str)
def test_dtype(value, eagerly, in_graphs):
    assert tf.convert_to_tensor(value).dtype.name == eagerly
    with tf.Graph().as_default():
        assert tf.convert_to_tensor(value).dtype.name == in_graphs


# what TensorFlow 2.21 and 1.15 keep of an integer that is too large for the dtype that is asked for: its low bits
WRAPPED = [
    (300, "uint8", 44),
    (-1, "uint8", 255),
    (200, "int8", -56),
    ([1, 2**31], "int32", [1, -(2**31)]),
    (-(2**31) - 1, "int32", 2**31 - 1),
    (np.array([300]), "uint8", [44]),
    (np.array([2**63 + 1], np.uint64), "int64", [-(2**63) + 1]),
]


@pytest.mark.parametrize("value, dtype, kept", WRAPPED, ids=str)
def test_low_bits(value, dtype, kept):
    assert tf.constant(value, dtype).numpy().tolist() == kept
    assert tf.convert_to_tensor(value, dtype_hint=dtype).numpy().tolist() == kept
    assert tf.function(lambda: tf.convert_to_tensor(value, dtype))().numpy().tolist() == kept


def test_operands_keep_their_low_bits():
    one = tf.constant(1)
    for run in (lambda f: f(), lambda f: tf.function(f)()):
        assert bool(run(lambda: one < -(2**31) - 1)) and not bool(run(lambda: one < 2**31))
        assert int(run(lambda: 2**31 + one)) == int(run(lambda: tf.add(1, 2**31))) == -(2**31) + 1
        assert int(run(lambda: tf.constant(1, tf.uint8) * 256)) == 0
    assert tf.range(2**31, 2**31 + 1).dtype is tf.int64


@pytest.mark.parametrize("value, dtype", [(2**63, "int32"), ([2**63], "int64"), (-1, "uint64"), ([-1], "uint64")])
def test_beyond_64_bits(value, dtype):
    with pytest.raises(TypeError, match=f"Cannot convert .* of dtype {dtype}"):
        tf.constant(value, dtype)


# what graphs of TensorFlow 2.21 and 1.15 make of numbers of several kinds, and whether 2.21 refuses them eagerly
MIXED = [
    ([True, 2], "int32", [1, 2], True),
    ([2, True], "int32", [2, 1], False),
    ([True, 2.5], "float32", [1.0, 2.5], True),
    ([2.5, True], "float32", [2.5, 1.0], False),
    ([[], [True], [2]][1:], "int32", [[1], [2]], True),
    ([2, 1j], "complex128", [2, 1j], True),
    ([1j, 2], "complex128", [1j, 2], False),
]


@pytest.mark.parametrize("value, dtype, made, refused", MIXED, ids=str)
def test_mixed_kinds(value, dtype, made, refused):
    with tf.Graph().as_default():
        found = tf.constant(value)
        assert found.dtype.name == dtype
        assert tf.compat.v1.Session().run(found).tolist() == made
    if refused:
        with pytest.raises(ValueError, match="mixed types"):
            tf.constant(value)
    else:
        assert tf.constant(value).numpy().tolist() == made


def test_flags_are_numbers_in_graphs_of_tf_1(monkeypatch):
    monkeypatch.setattr(tf.core.context.switches, "tf1", True)
    with tf.Graph().as_default():
        sums = [
            tf.constant(1) + True,
            tf.multiply(tf.constant([2.0]), [True]),
            tf.convert_to_tensor([True, 2], "int64"),
        ]
        assert [x.tolist() for x in tf.compat.v1.Session().run(sums)] == [2, [2.0], [1, 2]]


def test_arrays_are_cast_as_numpy_casts_them():
    array = np.array([1.5 + 2j, 3])
    for dtype, wanted in ((tf.float32, [1.5, 3.0]), (tf.int32, [1, 3])):
        with pytest.warns(np.exceptions.ComplexWarning):
            assert (tf.zeros([2], dtype) + array).numpy().tolist() == wanted
        with tf.Graph().as_default(), pytest.warns(np.exceptions.ComplexWarning):
            assert tf.get_static_value(tf.convert_to_tensor(array, dtype)).tolist() == wanted


def test_what_has_elements_by_number_is_a_list():
    class Numbers:
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return i * 10

    assert tf.constant(Numbers()).numpy().tolist() == [0, 10, 20]
