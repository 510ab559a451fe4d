"""Brackets, slices, gathers and scatters: as NumPy indexes, with gradients, in every mode."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.slices import IndexedSlices
from ebbflow.ops.arrays import creation, indexing, masks, scatter, slicing
from tests.ops.arrays.test_joining import case
from tests.ops.cases import MODES, Case, Refusal, args

SPECS = {
    "row": np.s_[1],
    "last row": np.s_[-1],
    "rows": np.s_[1:3],
    "rows from the end": np.s_[-2:],
    "no rows": np.s_[3:1],
    "every other": np.s_[::2],
    "backwards": np.s_[::-1],
    "backwards from": np.s_[2::-1],
    "column": np.s_[:, 1],
    "row and column": np.s_[1, -1],
    "everything at once": np.s_[1, ..., ::-1],
    "dots": np.s_[...],
    "dots last": np.s_[0, ...],
    "dots first": np.s_[..., 0],
    "new axis": np.s_[None],
    "new axes": np.s_[:, None, 1, ..., None],
    "beyond the end": np.s_[2:99],
    "nothing": np.s_[()],
    "element": np.s_[1, 2, 0],
    "NumPy numbers": np.s_[np.int64(1), np.int8(2) :],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SPECS)
def test_brackets(name, mode):
    spec = SPECS[name]
    row = case(name, lambda x: x[spec], ["4 3 2"], lambda x: np.asarray(x[spec]))
    if mode == "eager":
        row.check_value(mode)
        row.check_gradient(mode)
        return
    x = np.arange(24.0).reshape(4, 3, 2)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for shape in ([4, 3, 2], [None, 3, None], None):
            node = tf.compat.v1.placeholder(tf.float64, shape)
            taken = node[spec]
            slope = tf.gradients(taken * taken, node)[0]
            value, found = session.run([taken, slope], {node: x})
            expected = np.zeros_like(x)
            expected[spec] = 2 * x[spec]
            np.testing.assert_array_equal(value, x[spec], strict=True)
            np.testing.assert_array_equal(found, expected)
            assert taken.shape.is_compatible_with(x[spec].shape)
            assert shape is None or None in shape or taken.shape.as_list() == list(x[spec].shape)


TENSOR_SPECS = {
    "row": (lambda x, i: x[i], lambda x: x[1]),
    "from": (lambda x, i: x[i:], lambda x: x[1:]),
    "up to": (lambda x, i: x[:i], lambda x: x[:1]),
    "window": (lambda x, i: x[i : i + 2, 1], lambda x: x[1:3, 1]),
    "column": (lambda x, i: x[:, i], lambda x: x[:, 1]),
    "stride": (lambda x, i: x[:: i + 1], lambda x: x[::2]),
    "dots": (lambda x, i: x[..., i], lambda x: x[..., 1]),
    "64 bits": (lambda x, i: x[tf.cast(i, tf.int64) :, 1], lambda x: x[1:, 1]),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", TENSOR_SPECS)
def test_brackets_with_tensors(name, mode):
    ours, theirs = TENSOR_SPECS[name]
    x = np.arange(12.0).reshape(4, 3)
    if mode == "eager":
        value = ours(creation.constant(x), creation.constant(1)).numpy()
    else:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            i = tf.compat.v1.placeholder(tf.int32, [])
            value = session.run(ours(creation.constant(x), i), {i: 1})
    np.testing.assert_array_equal(value, theirs(x), strict=True)


def test_brackets_in_a_graph_are_named_as_tensorflow_names_them():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [4, 5])
        i = tf.compat.v1.placeholder(tf.int32, [])
        x[1:, 0]
        x[i]
        names = [f"{node.name}:{node.type}" for node in graph.get_operations()[2:]]
    assert names == [
        "strided_slice/stack:Const",
        "strided_slice/stack_1:Const",
        "strided_slice/stack_2:Const",
        "strided_slice:StridedSlice",
        "add/y:Const",
        "add:AddV2",
        "strided_slice_1/stack:Pack",
        "strided_slice_1/stack_1:Pack",
        "strided_slice_1/stack_2:Const",
        "strided_slice_1:StridedSlice",
    ]


X = creation.constant([[1, 2, 3], [4, 5, 6]])
INVALID = tf.errors.InvalidArgumentError
ONLY = "Only integers, slices"
BAD_SPECS = {
    "beyond": (lambda: X[5], INVALID, "slice index 5 of dimension 0 out of bounds"),
    "before": (lambda: X[-3], INVALID, "out of bounds"),
    "beyond, second": (lambda: X[0, 3], INVALID, "slice index 3 of dimension 1 out of bounds"),
    "too many": (lambda: X[0, 0, 0], INVALID, "Index out of range using input dim 2; input has only 2 dims"),
    "of a scalar": (lambda: creation.constant(1)[0], INVALID, "Attempting to slice scalar input."),
    "two dots": (lambda: X[..., ...], INVALID, "Multiple ellipses in slice spec not allowed"),
    "no stride": (lambda: X[::0], INVALID, "strides[0] must be non-zero"),
    "text": (lambda: X["a"], TypeError, ONLY),
    "fraction": (lambda: X[1.0], TypeError, ONLY),
    "fractional end": (lambda: X[0:1.5], TypeError, ONLY),
    "vector": (lambda: X[creation.constant([0, 1])], TypeError, ONLY),
    "array": (lambda: X[np.array([0, 1])], TypeError, ONLY),
    "float tensor": (lambda: X[creation.constant(0.0)], TypeError, ONLY),
    "byte tensor": (lambda: X[creation.constant(0, tf.uint8)], TypeError, ONLY),
    "list of bools": (lambda: X[[True, False]], TypeError, "mask"),
    "bool": (lambda: X[True], ValueError, "mask cannot be scalar."),
    "huge": (lambda: X[2**40], INVALID, "slice index 1099511627776 of dimension 0 out of bounds"),
}


@pytest.mark.parametrize("name", BAD_SPECS)
def test_brackets_refuse(name):
    take, error, says = BAD_SPECS[name]
    with pytest.raises(error) as caught:
        take()
    assert says in str(caught.value)


def test_a_list_between_brackets_is_a_tuple_of_indices():
    assert int(X[[0, 1]]) == 2


def test_iteration_and_unpacking():
    first, second = X
    assert [row.numpy().tolist() for row in (first, second)] == [[1, 2, 3], [4, 5, 6]]
    assert [int(n) for n in X[0]] == [1, 2, 3]


def test_a_slice_shares_memory_and_changes_nothing():
    rows = X[:1]
    assert np.shares_memory(rows._array, X._array)
    assert X.numpy().tolist() == [[1, 2, 3], [4, 5, 6]]


# `x * 1.0`: its gradient is dense where the gather's own is IndexedSlices, so that it can be differentiated again.
LOOKING_UP = [
    case("gather", lambda x: indexing.gather(x * 1.0, [2, 0, 2]), ["3 2"], lambda x: x[[2, 0, 2]]),
    case("gather one", lambda x: indexing.gather(x * 1.0, 1), ["3 2"], lambda x: x[1]),
    case("gather a table", lambda x: indexing.gather(x * 1.0, [[0], [2]]), ["3 2"], lambda x: x[[[0], [2]]]),
    case("gather columns", lambda x: indexing.gather(x, [1, 1], axis=1), ["3 2"], lambda x: x[:, [1, 1]]),
    case("gather last", lambda x: indexing.gather(x, [[1], [0]], axis=-1), ["2 3 2"], lambda x: x[..., [[1], [0]]]),
    case(
        "gather in batches",
        lambda x: indexing.gather(x, [[2, 0], [1, 1]], batch_dims=1),
        ["2 3 2"],
        lambda x: np.stack([x[0][[2, 0]], x[1][[1, 1]]]),
    ),
    case(
        "gather in batches, behind",
        lambda x: indexing.gather(x, [[1], [0]], axis=2, batch_dims=1),
        ["2 3 2"],
        lambda x: np.stack([x[0][:, [1]], x[1][:, [0]]]),
    ),
    case("gather nothing", lambda x: indexing.gather(x * 1.0, np.zeros(0, np.int32)), ["3 2"], lambda x: x[:0]),
    case("gather_nd", lambda x: indexing.gather_nd(x, [[0, 1], [2, 0]]), ["3 2"], lambda x: x[[0, 2], [1, 0]]),
    case("gather_nd of rows", lambda x: indexing.gather_nd(x * 1.0, [[2], [2]]), ["3 2"], lambda x: x[[2, 2]]),
    case("gather_nd of one", lambda x: indexing.gather_nd(x, [1, 1]), ["3 2"], lambda x: x[1, 1]),
    case("slice", lambda x: slicing.slice_(x, [1, 0], [2, -1]), ["4 3"], lambda x: x[1:3]),
    case(
        "strided_slice",
        lambda x: slicing.strided_slice(x, [0, 2], [4, 0], [2, -1]),
        ["4 3"],
        lambda x: x[0:4:2, 2:0:-1],
    ),
    case(
        "scatter_nd",
        lambda u: scatter.scatter_nd([[1], [3], [1]], u, [5]),
        ["3"],
        lambda u: added(np.zeros(5), [1, 3, 1], u),
    ),
    case(
        "tensor_scatter_nd_update",
        lambda x, u: scatter.tensor_scatter_nd_update(x, [[2], [0]], u),
        ["3 2", "2 2"],
        lambda x, u: replaced(x, [2, 0], u),
    ),
    case(
        "tensor_scatter_nd_add",
        lambda x, u: scatter.tensor_scatter_nd_add(x, [[0], [0]], u),
        ["3 2", "2 2"],
        lambda x, u: added(x, [0, 0], u),
    ),
    case(
        "tensor_scatter_nd_sub",
        lambda x, u: scatter.tensor_scatter_nd_sub(x, [[0], [0]], u),
        ["3 2", "2 2"],
        lambda x, u: added(x, [0, 0], -u),
    ),
    case(
        "tensor_scatter_nd_min",
        lambda x, u: scatter.tensor_scatter_nd_min(x, [[0], [2]], u),
        ["3", "2"],
        lambda x, u: replaced(x, [0, 2], np.minimum(x[[0, 2]], u)),
    ),
    case(
        "tensor_scatter_nd_max",
        lambda x, u: scatter.tensor_scatter_nd_max(x, [[0], [2]], u),
        ["3", "2"],
        lambda x, u: replaced(x, [0, 2], np.maximum(x[[0, 2]], u)),
    ),
]


def added(base, rows, updates):
    result = base.copy()
    np.add.at(result, rows, updates)
    return result


def replaced(base, rows, updates):
    result = base.copy()
    result[rows] = updates
    return result


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", LOOKING_UP, ids=lambda c: c.name)
def test_looking_up_and_putting(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


REFUSALS = [
    Refusal(lambda x: indexing.gather(x, 7), args("3"), says="indices = 7 is not in [0, 3)"),
    Refusal(lambda x: indexing.gather(x, [1, 9]), args("3"), says="indices[1] = 9 is not in [0, 3)"),
    Refusal(lambda x: indexing.gather(x, [[0, -1]]), args("3"), says="indices[0,1] = -1 is not in [0, 3)"),
    Refusal(lambda x: indexing.gather(x, list(range(40))), args("3"), says="indices[3] = 3 is not in [0, 3)"),
    Refusal(lambda x: indexing.gather(x, [0], axis=1), args("3"), says="rank 2", name="gather, no axis"),
    Refusal(lambda x: indexing.gather(x, [0]), args(""), says="params must be at least 1 dimensional"),
    Refusal(lambda x: indexing.gather(x, [[3]], batch_dims=1), args("1 3"), says="indices[0,0] = 3 is not in [0, 3)"),
    Refusal(
        lambda x: indexing.gather(x, [[0], [0]], batch_dims=1), args("3 3"), says="should be equal to indices.shape[0]"
    ),
    Refusal(lambda x: indexing.gather_nd(x, [[0, 2]]), args("3 2"), says="indices[0] = [0, 2] does not index into"),
    Refusal(lambda x: indexing.gather_nd(x, [[0, 0, 0]]), args("3 2"), says="params", name="gather_nd, too deep"),
    Refusal(lambda x: slicing.slice_(x, [1], [5]), args("3"), says="Expected size[0] in [0, 2], but got 5"),
    Refusal(lambda x: slicing.slice_(x, [4], [0]), args("3"), says="Expected begin[0] in [0, 3], but got 4"),
    Refusal(lambda x: slicing.slice_(x, [-1], [1]), args("3"), says="Expected begin[0] in [0, 3], but got -1"),
    Refusal(
        lambda u: scatter.scatter_nd([[5]], u, [4]), args("1"), says="indices[0] = [5] does not index into shape [4]"
    ),
    Refusal(
        lambda u: scatter.scatter_nd([[-1]], u, [4]), args("1"), says="indices[0] = [-1] does not index into shape [4]"
    ),
    Refusal(lambda u: scatter.scatter_nd([[0]], u, [4]), args("2"), says="must match dimensions"),
    Refusal(lambda u: scatter.scatter_nd([[0]], u, [-4]), args("1"), says="Dimension -4 must be >= 0"),
    Refusal(
        lambda x: scatter.tensor_scatter_nd_update(x, [[3]], [1.0]), args("3"), says="does not index into shape [3]"
    ),
    Refusal(lambda x: indexing.one_hot([0], -1, on_value=x), args(""), says="depth must be non-negative, got: -1"),
    Refusal(
        lambda x: indexing.one_hot([0], 3, on_value=x, axis=2),
        args(""),
        says="Expected axis to be -1 or between [0, 2)",
    ),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda r: r.says["eager"][:45])
def test_refusals(refusal, mode):
    refusal.check_value(mode)


def test_an_eager_gather_names_its_op():
    with pytest.raises(INVALID) as caught:
        indexing.gather([0, 1, 2], 7)
    assert str(caught.value).startswith("indices = 7 is not in [0, 3) [Op:Gather]")


def test_bad_indices_can_be_ignored():
    assert scatter.scatter_nd([[5], [1]], [1, 2], [4], bad_indices_policy="IGNORE").numpy().tolist() == [0, 2, 0, 0]
    assert indexing.gather_nd([1, 2], [[9], [1]], bad_indices_policy="IGNORE").numpy().tolist() == [0, 2]


def test_strings_scatter_by_joining():
    assert scatter.scatter_nd([[0], [0]], ["a", "b"], [2]).numpy().tolist() == [b"ab", b""]


def test_the_gradient_of_a_gather_is_rows():
    x = creation.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        rows = indexing.gather(x, [2, 2])
        columns = indexing.gather(x, [0], axis=1)
    grad = tape.gradient(rows, x)
    assert isinstance(grad, IndexedSlices)
    assert grad.indices.numpy().tolist() == [2, 2]
    assert grad.dense_shape.numpy().tolist() == [3, 2]
    assert tf.convert_to_tensor(grad).numpy().tolist() == [[0, 0], [0, 0], [2, 2]]
    assert tape.gradient(columns, x).numpy().tolist() == [[1, 0], [1, 0], [1, 0]]


MASKS = [
    case("mask", lambda x: masks.boolean_mask(x, [True, False, True]), ["3 2"], lambda x: x[[0, 2]]),
    case("mask of elements", lambda x: masks.boolean_mask(x, x > 0.0), ["3 2"], lambda x: x[x > 0], smooth=1),
    case("mask of columns", lambda x: masks.boolean_mask(x, [False, True], axis=1), ["3 2"], lambda x: x[:, 1:]),
    case("mask of nothing", lambda x: masks.boolean_mask(x, [False] * 3), ["3 2"], lambda x: x[:0]),
]


@pytest.mark.parametrize("row", MASKS, ids=lambda c: c.name)
def test_masks(row):
    row.check_value("eager")
    row.check_gradient("eager")
    x = row.arguments[0]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        node = tf.compat.v1.placeholder(tf.float64, [None, 2])
        np.testing.assert_array_equal(session.run(row.fn(node), {node: x}), row.numpy(x))


def test_a_mask_between_brackets():
    x = creation.constant([1.0, -2.0, 3.0])
    assert x[x > 0.0].numpy().tolist() == [1, 3]
    assert x[np.array([False, True, True])].numpy().tolist() == [-2, 3]
    with pytest.raises(ValueError, match="incompatible"):
        x[np.array([True])]


HOT = {
    "floats": (([0, 2, -1, 9], 3), {}, [[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]], "float32"),
    "other values": (([1], 3), {"on_value": 5, "off_value": -1}, [[-1, 5, -1]], "int32"),
    "only one": (([1], 2), {"on_value": 5.0}, [[0, 5]], "float32"),
    "typed": (([1], 2), {"dtype": tf.int64}, [[0, 1]], "int64"),
    "first axis": (([0, 1], 3), {"axis": 0}, [[1, 0], [0, 1], [0, 0]], "float32"),
    "scalar": ((1, 2), {}, [0, 1], "float32"),
    "bools": (([1], 2), {"on_value": True, "off_value": False}, [[False, True]], "bool"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", HOT)
def test_one_hot(name, mode):
    given, named, expected, dtype = HOT[name]
    if mode == "eager":
        value = indexing.one_hot(*given, **named).numpy()
    else:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            value = session.run(indexing.one_hot(*given, **named))
    assert value.dtype.name == dtype
    assert value.tolist() == expected


def test_one_hot_values_must_agree():
    with pytest.raises(TypeError, match="does not match"):
        indexing.one_hot([0], 2, on_value=1, off_value=0.5)
    with pytest.raises(TypeError, match="dtype parameter"):
        indexing.one_hot([0], 2, on_value=creation.constant(1), dtype=tf.float32)


OTHERS = {
    "sequence_mask": (lambda: masks.sequence_mask([1, 3]), [[True, False, False], [True, True, True]]),
    "sequence_mask of floats": (lambda: masks.sequence_mask([1, 2], 3, tf.float32), [[1, 0, 0], [1, 1, 0]]),
    "sequence_mask of none": (lambda: masks.sequence_mask(np.zeros(0, np.int32)), []),
    "batch_gather": (lambda: indexing.batch_gather([[1, 2], [3, 4]], [[1], [0]]), [[2], [3]]),
    "gather_nd in batches": (lambda: indexing.gather_nd([[1, 2], [3, 4]], [[1], [0]], batch_dims=1), [2, 3]),
    "where": (lambda: indexing.Where([[0, 1], [2, 0]]), [[0, 1], [1, 0]]),
    "meshgrid": (lambda: indexing.meshgrid([1, 2], [3, 4])[1], [[3, 3], [4, 4]]),
    "meshgrid by rows": (lambda: indexing.meshgrid([1, 2], [3, 4], indexing="ij")[1], [[3, 4], [3, 4]]),
    "update by strides": (
        lambda: slicing.TensorStridedSliceUpdate([1, 2, 3, 4], [0], [4], [2], [8, 9]),
        [8, 2, 9, 4],
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OTHERS)
def test_others(name, mode):
    make, expected = OTHERS[name]
    if mode == "eager":
        assert make().numpy().tolist() == expected
        return
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        assert session.run(make()).tolist() == expected


GRADIENT_OF_UPDATE = Case(
    lambda x, v: slicing.TensorStridedSliceUpdate(x, [1], [3], [1], v) ** 2.0,
    args("4", "2", low=0.5),
    numpy=lambda x, v: replaced(x, [1, 2], v) ** 2,
    name="TensorStridedSliceUpdate",
)


@pytest.mark.parametrize("mode", MODES)
def test_gradient_of_an_update(mode):
    GRADIENT_OF_UPDATE.check_value(mode)
    GRADIENT_OF_UPDATE.check_gradient(mode)


def test_a_mask_along_an_axis_that_is_known_when_it_runs():
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def masked(axis):
        return tf.boolean_mask([[1, 2, 3], [4, 5, 6]], [True, False], axis=axis)

    assert masked(0).numpy().tolist() == [[1, 2, 3]]


def test_a_slice_up_to_an_unknown_length_is_the_whole():
    unknown = tf.compat.v1.Dimension(None)
    assert tf.constant([1, 2, 3])[unknown:unknown:unknown].numpy().tolist() == [1, 2, 3]


def test_sparse_values_have_a_shape_a_size_and_a_rank():
    value = tf.compat.v1.SparseTensorValue(((0, 1), (1, 0)), (42, 24), (2, 3))
    assert (tf.shape(value).numpy().tolist(), int(tf.size(value)), int(tf.rank(value))) == ([2, 3], 6, 2)


@pytest.mark.parametrize("dtype", [tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.uint32, tf.int64, tf.uint64])
def test_an_axis_of_argmax_may_be_any_integer(dtype):
    assert tf.argmax([[1, 9], [4, 5]], axis=tf.constant(1, dtype)).numpy().tolist() == [1, 1]
    assert tf.argmin([[1, 9], [4, 5]], axis=tf.constant(1, dtype)).numpy().tolist() == [0, 0]


def test_batches_of_unknown_rank_are_gathered():
    spec = [tf.TensorSpec(None, tf.float32), tf.TensorSpec(None, tf.int32)]
    found = tf.function(lambda x, i: tf.gather_nd(x, i, batch_dims=1), input_signature=spec)
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    assert found(x, [[1], [2]]).numpy().tolist() == [[2.0, 3.0], [10.0, 11.0]]


def test_an_array_for_on_keeps_its_dtype():
    with pytest.raises(TypeError, match="on_value does not match dtype parameter"):
        tf.one_hot([0, 1], 3, on_value=np.float32(1), dtype=tf.int32)
    assert tf.one_hot([0], 2, on_value=np.int32(5), dtype=tf.int32).numpy().tolist() == [[5, 0]]
