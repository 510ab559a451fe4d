"""Constants, fills, identities and ranges: values, node names, and what is refused."""

import ml_dtypes
import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.slices import IndexedSlices
from ebbflow.ops.arrays import creation, ranges
from ebbflow.ops.arrays.ensure_shape import ensure_shape
from ebbflow.ops.arrays.placeholder_ops import Placeholder
from ebbflow.ops.linalg import diag
from tests.ops.cases import MODES, Case, args


def run(make, mode):
    """What `make()` gives, eagerly or in a graph of its own, as an array."""
    if mode == "eager":
        return np.asarray(make().numpy())
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return np.asarray(session.run(make()))


CONSTANTS = {
    "int": (lambda: creation.constant(3), np.int32(3)),
    "large int": (lambda: creation.constant(2**40), np.int64(2**40)),
    "float": (lambda: creation.constant(0.5), np.float32(0.5)),
    "bool": (lambda: creation.constant(True), np.True_),
    "complex": (lambda: creation.constant(1 + 2j), np.complex128(1 + 2j)),
    "floats": (lambda: creation.constant([0.5, 1.5]), np.float32([0.5, 1.5])),
    "ints and floats": (lambda: creation.constant([1, 2.5]), np.float32([1, 2.5])),
    "rows": (lambda: creation.constant([[1, 2], [3, 4]]), np.int32([[1, 2], [3, 4]])),
    "rows of large ints": (lambda: creation.constant([[1, 2**40]]), np.int64([[1, 2**40]])),
    "three levels": (lambda: creation.constant([[[1]], [[2]]]), np.int32([[[1]], [[2]]])),
    "ints as floats": (lambda: creation.constant([1, 2], tf.float32), np.float32([1, 2])),
    "ints as halves": (lambda: creation.constant([1, 2], tf.float16), np.float16([1, 2])),
    "as bfloat16": (lambda: creation.constant([1.5], tf.bfloat16), np.array([1.5], ml_dtypes.bfloat16)),
    "empty": (lambda: creation.constant([]), np.zeros(0, np.float32)),
    "empty rows": (lambda: creation.constant([[], []]), np.zeros((2, 0), np.float32)),
    "array": (lambda: creation.constant(np.arange(3)), np.arange(3)),
    "array cut to ints": (lambda: creation.constant(np.array([1.7, -1.7]), tf.int32), np.int32([1, -1])),
    "filled": (lambda: creation.constant(7, shape=[2, 2]), np.full((2, 2), 7, np.int32)),
    "shaped": (lambda: creation.constant([1, 2, 3, 4], shape=[2, 2]), np.int32([[1, 2], [3, 4]])),
    "zeros": (lambda: creation.zeros([2, 3]), np.zeros((2, 3), np.float32)),
    "zeros of a number": (lambda: creation.zeros(3, tf.int64), np.zeros(3, np.int64)),
    "zeros of a shape": (lambda: creation.zeros(tf.TensorShape([1, 2])), np.zeros((1, 2), np.float32)),
    "zeros of an array": (lambda: creation.zeros(np.array([2, 1])), np.zeros((2, 1), np.float32)),
    "zeros of a tensor": (lambda: creation.zeros(creation.constant([2, 1])), np.zeros((2, 1), np.float32)),
    "zeros of numbers and tensors": (lambda: creation.zeros([creation.constant(2), 1]), np.zeros((2, 1), np.float32)),
    "many zeros": (lambda: creation.zeros([40, 50]), np.zeros((40, 50), np.float32)),
    "no zeros": (lambda: creation.zeros([0, 3]), np.zeros((0, 3), np.float32)),
    "ones": (lambda: creation.ones([2], tf.bool), np.array([True, True])),
    "fill": (lambda: creation.fill([2, 2], 9.0), np.full((2, 2), 9, np.float32)),
    "zeros like": (lambda: creation.zeros_like([[1, 2]]), np.zeros((1, 2), np.int32)),
    "zeros like, cast": (lambda: creation.zeros_like([[1, 2]], tf.float32), np.zeros((1, 2), np.float32)),
    "ones like": (lambda: creation.ones_like([[1.5]]), np.ones((1, 1), np.float32)),
    "ones like of TF 1": (lambda: creation.ones_like_v1([[1.5]], tf.int32), np.ones((1, 1), np.int32)),
    "eye": (lambda: diag.eye(2), np.eye(2, dtype=np.float32)),
    "eye, oblong": (lambda: diag.eye(2, 3, dtype=tf.int32), np.eye(2, 3, dtype=np.int32)),
    "eyes": (lambda: diag.eye(2, batch_shape=[3]), np.stack([np.eye(2, dtype=np.float32)] * 3)),
    "range": (lambda: ranges.range(4), np.arange(4, dtype=np.int32)),
    "range by 2": (lambda: ranges.range(1, 6, 2), np.int32([1, 3, 5])),
    "range down": (lambda: ranges.range(5, 0, -2), np.int32([5, 3, 1])),
    "range of nothing": (lambda: ranges.range(3, 3), np.zeros(0, np.int32)),
    "range of floats": (lambda: ranges.range(0.0, 0.3, 0.1), np.float32([0, 0.1, 0.2])),
    "range widens": (lambda: ranges.range(0, creation.constant(2.5)), np.float32([0, 1, 2])),
    "range as asked": (lambda: ranges.range(3, dtype=tf.float64), np.arange(3.0)),
    "linspace": (lambda: ranges.linspace(0.0, 1.0, 5), np.linspace(0, 1, 5, dtype=np.float32)),
    "linspace of ints": (lambda: ranges.linspace(0, 10, 5), np.linspace(0, 10, 5)),
    "linspace of one": (lambda: ranges.linspace(2.0, 3.0, 1), np.float32([2])),
    "linspace of none": (lambda: ranges.linspace(2.0, 3.0, 0), np.zeros(0, np.float32)),
    "linspace of vectors": (
        lambda: ranges.linspace([0.0, 1.0], [1.0, 3.0], 3, axis=-1),
        np.float32([[0, 0.5, 1], [1, 2, 3]]),
    ),
    "LinSpace": (lambda: ranges.lin_space(0.0, 1.0, 3), np.float32([0, 0.5, 1])),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CONSTANTS)
def test_values(name, mode):
    make, expected = CONSTANTS[name]
    value = run(make, mode)
    assert value.dtype == expected.dtype
    np.testing.assert_array_equal(value, expected, strict=True)


def test_strings_are_bytes():
    words = creation.constant(["a", "ü"])
    assert words.dtype is tf.string
    assert words.numpy().tolist() == [b"a", "ü".encode()]
    assert creation.zeros([2], tf.string).numpy().tolist() == [b"", b""]
    assert creation.zeros_like(["x"]).numpy().tolist() == [b""]


def test_a_constant_does_not_share_the_arrays_memory():
    source = np.ones(3, np.float32)
    kept = creation.constant(source)
    source[0] = 9
    assert kept.numpy().tolist() == [1, 1, 1]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        node = creation.constant(source)
        source[0] = 5
        fetched = session.run(node)
        assert fetched.tolist() == [9, 1, 1]


def test_a_list_that_holds_tensors_is_packed():
    x = creation.constant(1.5)
    assert creation.constant([x, 2.0]).numpy().tolist() == [1.5, 2.0]


REFUSED = {
    "wrong count": (lambda: creation.constant([1.0, 2.0], shape=[3]), TypeError, "has 2 elements"),
    "lost fraction": (lambda: creation.constant(1.5, tf.int32), TypeError, "1.5"),
    "ragged": (lambda: creation.constant([[1], [2, 3]]), ValueError, "non-rectangular"),
    "none": (lambda: creation.constant(None), ValueError, "None"),
    "dtype of a tensor": (lambda: creation.constant(creation.constant(1), tf.float32), TypeError, "float32"),
    "verified shape": (lambda: creation.constant_v1([1, 2], shape=[3], verify_shape=True), TypeError, "(3,)"),
    "negative": (
        lambda: creation.zeros([2, -1]),
        tf.errors.InvalidArgumentError,
        "Dimension -1 must be >= 0 [Op:Fill]",
    ),
    "negative fill": (lambda: creation.fill([-1], 1), tf.errors.InvalidArgumentError, "Dimension -1 must be >= 0"),
    "too many": (lambda: creation.zeros([2**40, 2**40]), tf.errors.InvalidArgumentError, "more than 2**63 - 1"),
    "no room": (lambda: creation.zeros([2**50]), tf.errors.ResourceExhaustedError, "OOM when allocating"),
    "no room to fill": (lambda: creation.fill([2**50], 1.0), tf.errors.ResourceExhaustedError, "[Op:Fill]"),
    "matrix of dims": (lambda: creation.fill([[2]], 1), tf.errors.InvalidArgumentError, "dims must represent a vector"),
    "vector of values": (lambda: creation.fill([2], [1, 2]), tf.errors.InvalidArgumentError, "must represent a scalar"),
    "fractional length": (lambda: creation.zeros([2, 3.5]), TypeError, "3.5"),
    "ones of strings": (lambda: creation.ones([2], tf.string), TypeError, "string"),
    "half known shape": (lambda: creation.zeros(tf.TensorShape([2, None])), ValueError, "partially known"),
    "no step": (lambda: ranges.range(0, 5, 0), tf.errors.InvalidArgumentError, "Requires delta != 0: 0"),
    "wrong way": (
        lambda: ranges.range(5, 0),
        tf.errors.InvalidArgumentError,
        "Requires start <= limit when delta > 0: 5/0",
    ),
    "wrong way down": (lambda: ranges.range(0, 5, -1), tf.errors.InvalidArgumentError, "when delta < 0: 0/5"),
    "from NaN": (lambda: ranges.range(float("nan"), 5.0), tf.errors.InvalidArgumentError, "nan/5"),
    "endless": (lambda: ranges.range(0.0, float("inf")), tf.errors.InvalidArgumentError, "Requires ((limit - start)"),
    "too long": (lambda: ranges.range(0, 2**50), tf.errors.ResourceExhaustedError, "[Op:Range]"),
    "range of bytes": (lambda: ranges.range(creation.constant(3, tf.uint8)), ValueError, "uint8"),
    "points by fraction": (lambda: ranges.linspace(0.0, 1.0, 3.0), TypeError, "must be of type integer"),
    "no points": (lambda: ranges.lin_space(0.0, 1.0, 0), tf.errors.InvalidArgumentError, "Requires num > 0: 0"),
    "negative eye": (lambda: diag.eye(-1), tf.errors.InvalidArgumentError, "must be >= 0"),
    "unfed": (
        lambda: Placeholder(dtype=tf.float32),
        tf.errors.InvalidArgumentError,
        "You must feed a value",
    ),
    "another shape": (
        lambda: ensure_shape([1, 2], [3]),
        tf.errors.InvalidArgumentError,
        "Shape of tensor input [2] is not compatible with expected shape [3].",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    make, error, says = REFUSED[name]
    with pytest.raises(error) as caught:
        make()
    assert says in str(caught.value)


def test_a_length_alone_is_a_list_of_it():
    assert tf.fill(2, 3).numpy().tolist() == [3, 3]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dims = tf.compat.v1.placeholder_with_default(2, None)
        assert session.run(tf.fill(dims, tf.compat.v1.placeholder_with_default([3], None))).tolist() == [3, 3]


def test_in_a_graph_the_last_value_fills_a_constant_of_tf1():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        assert session.run(creation.constant_v1([1, 2], shape=[4])).tolist() == [1, 2, 2, 2]
        with pytest.raises(TypeError, match="Expected Tensor's shape"):
            creation.constant([1, 2], shape=[4])
        for empty in (creation.constant([1, 2], shape=[0]), creation.constant_v1(1, shape=[2, 0])):
            assert empty.dtype is tf.float32  # nothing of the value is looked at
        assert creation.constant_v1(0, tf.int32, [0], verify_shape=True).shape == [0]
        assert session.run(creation.constant([[True, 2.5], [False, 3]], tf.float32)).tolist() == [[1, 2.5], [0, 3]]
        with pytest.raises(TypeError, match="non-tensor"):
            creation.constant(creation.zeros([]) + 1)


GRADIENTS = [
    Case(creation.identity, args("2 3"), numpy=lambda x: x),
    Case(lambda x: creation.identity_n([x, x * x])[1], args("3"), numpy=np.square, name="identity_n"),
    Case(lambda x: ensure_shape(x, [None]) ** 2.0, args("3", low=0.5), numpy=np.square, name="ensure_shape"),
    Case(lambda x: creation.fill([2, 3], x * x), args(""), numpy=lambda x: np.full((2, 3), x * x), name="fill"),
    Case(
        lambda a, b: ranges.linspace(a * a, b * a, 4),
        args("", ""),
        numpy=lambda a, b: np.linspace(a * a, b * a, 4),
        name="linspace",
    ),
    Case(lambda x: creation.stop_gradient(x) * x, args("3"), numpy=np.square, smooth=0, name="stop_gradient"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", GRADIENTS, ids=str)
def test_gradients(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


def test_nothing_flows_through_a_stop():
    x = creation.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = creation.stop_gradient(x) * x
    assert tape.gradient(y, x).numpy().tolist() == [2, 3]


def test_a_prevented_gradient_says_why():
    x = creation.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = creation.prevent_gradient(x, "not this way")
    with pytest.raises(LookupError, match="not this way"):
        tape.gradient(y, x)


def test_indexed_slices_become_dense_and_stay_slices():
    rows = IndexedSlices(
        creation.constant([[1.0], [2.0], [4.0]]), creation.constant([0, 2, 0]), creation.constant([3, 1])
    )
    assert tf.convert_to_tensor(rows).numpy().tolist() == [[5], [0], [2]]
    assert isinstance(creation.identity(rows), IndexedSlices)
    assert creation.convert_to_tensor_or_indexed_slices(rows) is rows
    with pytest.raises(ValueError, match="int32"):
        creation.convert_to_tensor_or_indexed_slices(rows, tf.int32)
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(IndexedSlices(rows.values, rows.indices))


def test_lengths_in_a_list_may_be_float_tensors_as_those_of_fill_may():
    assert tf.zeros([tf.constant(3.7), 2]).shape == tf.ones([tf.constant(3.0), 2]).shape == (3, 2)
    with pytest.raises(TypeError):
        tf.zeros([3.0, 2])
    with pytest.raises(TypeError):
        tf.zeros(tf.constant([3.0, 2.0]))


def test_lengths_may_be_floats_while_a_graph_is_built():
    with tf.Graph().as_default():
        for shape in ([2.0, 3], (np.float32(2), 3), np.array([2.0, 3.0]), [2.5, 3]):
            assert tf.zeros(shape).shape == tf.ones(shape).shape == [2, 3]
        assert tf.ones(2.0).shape == [2]
    with pytest.raises(TypeError, match="not an integer"):
        tf.zeros([2.0, 3])


def test_a_variable_of_known_shape_is_not_read_for_zeros_like_it():
    with tf.Graph().as_default() as graph:
        v = tf.compat.v1.get_variable("v", [2, 3], use_resource=True)
        before = len(graph.get_operations())
        assert tf.zeros_like(v).shape == tf.ones_like(v).shape == tf.zeros_like(v, tf.int32).shape == [2, 3]
        assert [node.type for node in graph.get_operations()[before:]] == ["Const"] * 3
        tf.compat.v1.zeros_like(v, optimize=False)
        assert [node.type for node in graph.get_operations()[before + 3 :]] == ["ReadVariableOp", "ZerosLike"]
