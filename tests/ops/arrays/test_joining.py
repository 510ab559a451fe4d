"""Shapes changed, arrays joined and parted, padded and reordered: against NumPy, with gradients, in every mode."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.arrays import broadcasting, creation, joining, padding, reversing, shaping, space
from ebbflow.ops.elementwise import casts
from tests.ops.cases import MODES, Case, Refusal, args


def squared(fn):
    """The function with its result squared, so that second gradients have something to find."""

    def result(*arguments):
        y = fn(*arguments)
        return y * y

    return result


def case(name, fn, dims, numpy, **more):
    """A row for a function that only moves elements: `numpy` says how."""
    return Case(squared(fn), args(*dims), numpy=lambda *a: numpy(*a) ** 2, name=name, **more)


SHAPING = [
    case("reshape", lambda x: shaping.reshape(x, [3, -1]), ["2 3"], lambda x: x.reshape(3, 2)),
    case("reshape to scalar", lambda x: shaping.reshape(x, []), ["1 1"], lambda x: x.reshape(())),
    case("reshape empty", lambda x: shaping.reshape(x, [-1, 3]), ["0 3"], lambda x: x.reshape(0, 3)),
    case("expand_dims", lambda x: shaping.expand_dims(x, -1), ["2 3"], lambda x: x[..., None]),
    case("squeeze", shaping.squeeze, ["2 1 3"], lambda x: x.reshape(2, 3), smooth=1),
    case("squeeze one", lambda x: shaping.squeeze(x, [1]), ["1 1 3"], lambda x: x.reshape(1, 3)),
    case("transpose", shaping.transpose, ["2 3"], np.transpose),
    case("transpose by perm", lambda x: shaping.transpose(x, [2, 0, 1]), ["2 3 4"], lambda x: x.transpose(2, 0, 1)),
    case("transpose by negative perm", lambda x: shaping.transpose(x, [-1, 0]), ["2 3"], np.transpose),
    case("matrix_transpose", shaping.matrix_transpose, ["2 3 4"], lambda x: x.swapaxes(-1, -2)),
    case(
        "broadcast_to",
        lambda x: broadcasting.broadcast_to(x, [2, 2, 3]),
        ["2 1"],
        lambda x: np.broadcast_to(x, (2, 2, 3)),
    ),
    case("broadcast_to itself", lambda x: broadcasting.broadcast_to(x, [2, 3]), ["2 3"], lambda x: x),
]

JOINING = [
    case("concat", lambda a, b: joining.concat([a, b], 0), ["2 3", "1 3"], lambda a, b: np.concatenate([a, b])),
    case(
        "concat last", lambda a, b: joining.concat([a, b], -1), ["2 3", "2 1"], lambda a, b: np.concatenate([a, b], -1)
    ),
    case("concat one", lambda a: joining.concat([a], 0), ["2 3"], lambda a: a),
    case("concat empty", lambda a, b: joining.concat([a, b], 0), ["0 3", "2 3"], lambda a, b: np.concatenate([a, b])),
    case("stack", lambda a, b: joining.stack([a, b]), ["2 3", "2 3"], lambda a, b: np.stack([a, b])),
    case("stack last", lambda a, b: joining.stack([a, b], -1), ["2", "2"], lambda a, b: np.stack([a, b], -1)),
    case("stack with a list", lambda a: joining.stack([a, [1.0, 2.0]]), ["2"], lambda a: np.stack([a, [1, 2]])),
    case("unstack", lambda a: joining.unstack(a, 3, axis=1)[1], ["2 3"], lambda a: a[:, 1]),
    case("split", lambda a: joining.split(a, 2, axis=1)[1], ["3 4"], lambda a: a[:, 2:]),
    case("split in one", lambda a: joining.split(a, 1)[0], ["3 4"], lambda a: a),
    case("split by sizes", lambda a: joining.split(a, [1, 2, 1])[1], ["4 2"], lambda a: a[1:3]),
    case("split with the rest", lambda a: joining.split(a, [1, -1])[1], ["4 2"], lambda a: a[1:]),
    case(
        "split of all parts", lambda a: joining.concat(joining.split(a, 2)[::-1], 0), ["4"], lambda a: a[[2, 3, 0, 1]]
    ),
]

PADDING = [
    case("tile", lambda x: padding.tile(x, [2, 3]), ["2 1"], lambda x: np.tile(x, [2, 3])),
    case("tile by none", lambda x: padding.tile(x, [0, 2]), ["2 3"], lambda x: np.tile(x, [0, 2])),
    case("pad", lambda x: padding.pad(x, [[1, 0], [2, 1]]), ["2 3"], lambda x: np.pad(x, [[1, 0], [2, 1]])),
    case(
        "pad by a value",
        lambda x: padding.pad(x, [[1, 1]], constant_values=2.5),
        ["3"],
        lambda x: np.pad(x, 1, constant_values=2.5),
    ),
    case("pad scalar", lambda x: padding.pad(x, np.zeros((0, 2), np.int32)), [""], lambda x: x),
    case(
        "reflect",
        lambda x: padding.pad(x, [[2, 1], [0, 2]], "reflect"),
        ["3 4"],
        lambda x: np.pad(x, [[2, 1], [0, 2]], "reflect"),
    ),
    case(
        "symmetric",
        lambda x: padding.pad(x, [[3, 1], [0, 2]], "SYMMETRIC"),
        ["3 2"],
        lambda x: np.pad(x, [[3, 1], [0, 2]], "symmetric"),
    ),
]

ORDERING = [
    case("reverse", lambda x: reversing.reverse(x, [0, -1]), ["2 3 2"], lambda x: x[::-1, :, ::-1]),
    case("reverse nothing", lambda x: reversing.reverse(x, np.zeros(0, np.int32)), ["2"], lambda x: x),
    case("roll", lambda x: reversing.roll(x, [1, -2], [0, 1]), ["3 4"], lambda x: np.roll(x, [1, -2], [0, 1])),
    case("roll one axis twice", lambda x: reversing.roll(x, [1, 1], [0, 0]), ["3"], lambda x: np.roll(x, 2)),
    case(
        "reverse_sequence",
        lambda x: reversing.reverse_sequence(x, [3, 1], seq_axis=1, batch_axis=0),
        ["2 4 2"],
        lambda x: np.stack([np.concatenate([x[0, 2::-1], x[0, 3:]]), x[1]]),
    ),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", SHAPING + JOINING + PADDING + ORDERING, ids=lambda c: c.name)
def test_values_and_gradients(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


def of(fn, *rest, **named):
    return lambda x: fn(x, *rest, **named)


REFUSALS = [
    Refusal(of(shaping.reshape, [4, 2]), args("2 3"), says="6", name="reshape"),
    Refusal(of(shaping.reshape, [-1, 4]), args("2 3"), says="4", name="reshape, not divisible"),
    Refusal(of(shaping.reshape, [-1, -1]), args("2 3"), says="Only one input size may be -1", name="reshape, twice -1"),
    Refusal(of(shaping.reshape, [-2, 3]), args("2 3"), says="-2", name="reshape, negative"),
    Refusal(of(shaping.reshape, [2**40, 2**40]), args("2 3"), says="elements", name="reshape, overflow"),
    Refusal(of(shaping.expand_dims, 3), args("2"), says="3", name="expand_dims"),
    Refusal(of(shaping.squeeze, [0]), args("2"), says="Can not squeeze dim[0], expected a dimension of 1, got 2"),
    Refusal(of(shaping.squeeze, [4]), args("2"), says="Tried to squeeze dim index 4 for tensor with 1 dimensions."),
    Refusal(of(shaping.transpose, [0, 0]), args("2 3"), says="1 is missing from {0,0}.", name="transpose, twice"),
    Refusal(of(shaping.transpose, [0, 2]), args("2 3"), says="out of range", name="transpose, outside"),
    Refusal(of(shaping.transpose, [0]), args("2 3"), says="2", name="transpose, too few"),
    Refusal(of(shaping.matrix_transpose), args("2"), says="rank >= 2", name="matrix_transpose"),
    Refusal(of(broadcasting.broadcast_to, [2, 2]), args("3"), says="Incompatible shapes: [3] vs. [2,2]"),
    Refusal(of(broadcasting.broadcast_to, [3]), args("2 3"), says="must be no greater than rank of output shape (1)"),
    Refusal(
        of(broadcasting.broadcast_to, [-1]), args("3"), says="Dimension -1 must be >= 0", name="broadcast_to, negative"
    ),
    Refusal(
        lambda a, b: joining.concat([a, b], 0), args("2 3", "2 2"), says="Dimension 1 in both shapes must be equal"
    ),
    Refusal(
        lambda a, b: joining.concat([a, b], 2),
        args("2 3", "2 3"),
        says="Expected concatenating dimensions in the range",
    ),
    Refusal(lambda a, b: joining.concat([a, b], 0), args("2 3", "2"), says="Ranks of all input tensors should match"),
    Refusal(
        lambda a, b: joining.concat([a, b], 0), args("", ""), says="Can't concatenate scalars (use tf.stack instead)"
    ),
    Refusal(lambda a, b: joining.stack([a, b]), args("2", "3"), says="Shapes of all inputs must match"),
    Refusal(lambda a: joining.stack([a, a], axis=3), args("2"), says="Argument `axis` = 3 not in range [-2, 2)"),
    Refusal(of(joining.unstack, 3), args("2 3"), says="must equal 3", name="unstack"),
    Refusal(of(joining.unstack), args(""), says="Argument `axis` = 0 not in range [0, 0)", name="unstack a scalar"),
    Refusal(of(joining.split, 3), args("4"), says="should evenly divide the split dimension", name="split"),
    Refusal(
        of(joining.split, 2, axis=1), args("4"), says="split_dim < input rank (1), but got 1", name="split, no axis"
    ),
    Refusal(of(joining.split, [1, 2]), args("4"), says="Got: 3", name="split, sizes"),
    Refusal(of(joining.split, [-1, -1]), args("4"), says="There can only be one -1 in the input.", name="split, rests"),
    Refusal(of(joining.split, 2.0), args("4"), says="Rank-0 tensors are not supported", name="split, float"),
    Refusal(of(padding.tile, [-1]), args("2"), says="Expected multiples[0] >= 0, but got -1", name="tile"),
    Refusal(of(padding.tile, [1, 2]), args("2"), says="vector of length 1 but got length 2", name="tile, length"),
    Refusal(of(padding.pad, [[-1, 0]]), args("2"), says="addings must be non-negative: -1 0", name="pad"),
    Refusal(of(padding.pad, [[1, 1]]), args("2 2"), says="The first dimension of paddings must be the rank of inputs"),
    Refusal(
        of(padding.pad, [1, 1]), args("2"), says="paddings must be a matrix with 2 columns: [2]", name="pad, vector"
    ),
    Refusal(of(padding.pad, [[2, 0]], "REFLECT"), args("2"), says="less than the dimension size: 2, 0 not less than 2"),
    Refusal(of(padding.pad, [[3, 0]], "SYMMETRIC"), args("2"), says="no greater than the dimension size: 3, 0 greater"),
    Refusal(of(padding.pad, [[1, 1]], "EDGE"), args("2"), says="`mode` = EDGE", name="pad, mode"),
    Refusal(of(reversing.reverse, [0, 0]), args("2"), says="axis 0 specified more than once.", name="reverse"),
    Refusal(of(reversing.reverse, [1]), args("2"), says="'axis'[0] = 1 is out of valid range", name="reverse, outside"),
    Refusal(of(reversing.roll, 1, 1), args("2"), says="axis 1 is out of range", name="roll"),
    Refusal(
        of(reversing.roll, [1, 2], [0]), args("2"), says="shift and axis must have the same size", name="roll, sizes"
    ),
    Refusal(of(reversing.reverse_sequence, [3, 1], 1), args("2 2"), says="seq_lens(0) > input.dims(1)"),
    Refusal(of(reversing.reverse_sequence, [-1, 1], 1), args("2 2"), says="seq_lens(0) < 0", name="reverse_sequence"),
    Refusal(
        of(reversing.reverse_sequence, [1], 1), args("2 2"), says="Length of seq_lengths != input.dims(0), (1 vs. 2)"
    ),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda r: r.name + " " + r.says["eager"][:30])
def test_refusals(refusal, mode):
    refusal.check_value(mode)


@pytest.mark.parametrize(
    "make",
    [
        lambda: space.extract_patches(np.ones([9, 9, 9, 9]), [1, 9000, 9000, 1], [1] * 4, [1] * 4, "SAME"),
        lambda: padding.tile([1.0, 2.0], [2**50]),
        lambda: padding.pad([1.0], [[2**50, 0]]),
        lambda: broadcasting.broadcast_to(1.0, [2**50]),
    ],
)
def test_what_no_memory_holds_is_refused_before_it_is_asked_for(make):
    with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM"):
        make()


REPEATS = {
    "flat": (([[1, 2], [3, 4]], 2), {}),
    "rows": (([[1, 2], [3, 4]], [1, 2]), {"axis": 0}),
    "columns": (([[1, 2], [3, 4]], [2, 0]), {"axis": -1}),
    "one for all": (([[1, 2], [3, 4]], [3]), {"axis": 1}),
    "never": (([1, 2], 0), {}),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", REPEATS)
def test_repeat(name, mode):
    given, named = REPEATS[name]
    expected = np.repeat(np.array(given[0]), given[1], **named)
    if mode == "eager":
        np.testing.assert_array_equal(padding.repeat(*given, **named), expected)
        return
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        np.testing.assert_array_equal(session.run(padding.repeat(*given, **named)), expected)


def test_repeat_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
        padding.repeat([1, 2], [1, 2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match=">= 0"):
        padding.repeat([1, 2], [1, -1])
    with pytest.raises(ValueError, match="axis=3 out of bounds"):
        padding.repeat([1, 2], 2, axis=3)


def test_shape_size_and_rank():
    x = creation.zeros([2, 3])
    assert shaping.shape(x).numpy().tolist() == [2, 3]
    assert shaping.shape(x, tf.int64).dtype is tf.int64
    assert [s.numpy().tolist() for s in shaping.shape_n([x, [1.0, 2.0]])] == [[2, 3], [2]]
    assert int(shaping.size(x)) == 6
    assert shaping.size(x, tf.float32).numpy() == np.float32(6)
    assert int(shaping.rank(x)) == 2
    assert broadcasting.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])).as_list() == [2, 3]
    assert broadcasting.broadcast_dynamic_shape([2, 1], [3]).numpy().tolist() == [2, 3]


def test_bits_are_read_as_another_type():
    ones = casts.bitcast(creation.constant([1.0, -2.0]), tf.int32)
    assert ones.numpy().tolist() == np.float32([1, -2]).view(np.int32).tolist()
    assert casts.bitcast([1, 2], tf.uint8).shape.as_list() == [2, 4]
    assert int(casts.bitcast([1, 0], tf.int64)) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot bitcast"):
        casts.bitcast([1, 2, 3], tf.int64)


PACKED = {
    "numbers follow the tensor": (lambda t: [t(1.5), 2], np.float32([1.5, 2])),
    "whichever comes first": (lambda t: [2, t(1.5)], np.float32([2, 1.5])),
    "nested": (lambda t: [[t(1), 2], [3, t(4)]], np.int32([[1, 2], [3, 4]])),
    "rows of numbers beside": (lambda t: [[t(1), 2], [3, 4]], np.int32([[1, 2], [3, 4]])),
    "strings": (lambda t: [t("a"), "b"], np.array([b"a", b"b"], object)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PACKED)
def test_lists_that_hold_tensors(name, mode):
    make, expected = PACKED[name]
    if mode == "eager":
        value = tf.convert_to_tensor(make(creation.constant)).numpy()
    else:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            value = session.run(tf.convert_to_tensor(make(creation.constant)))
    np.testing.assert_array_equal(value, expected)
    assert value.dtype == expected.dtype


def test_a_list_of_tensors_is_cast_where_a_type_is_asked_for():
    assert tf.convert_to_tensor([creation.constant(1), 2], dtype=tf.float32).numpy().tolist() == [1.0, 2.0]
    with pytest.raises((TypeError, ValueError)):
        tf.convert_to_tensor([creation.constant(1), 2.5])


def names_of(build):
    with tf.Graph().as_default() as graph:
        build(
            tf.compat.v1.placeholder(tf.float32, [None, 4], name="x"), tf.compat.v1.placeholder(tf.int32, [], name="n")
        )
        return [f"{node.name}:{node.type}" for node in graph.get_operations()[2:]]


NODES = {
    "reshape": (
        lambda x, n: shaping.reshape(x, [n, 2]),
        ["Reshape/shape/1:Const", "Reshape/shape:Pack", "Reshape:Reshape"],
    ),
    "stack of numbers": (lambda x, n: joining.stack([1, 2]), ["stack:Const"]),
    "stack with a tensor": (lambda x, n: joining.stack([n, 2]), ["stack/1:Const", "stack:Pack"]),
    "concat of one": (lambda x, n: joining.concat([x], 0), ["concat/concat_dim:Const", "concat/concat:Identity"]),
    "known shape": (
        lambda x, n: shaping.shape(joining.split(x, 2, 1)[0]),
        ["split/split_dim:Const", "split:Split", "Shape:Shape"],
    ),
    "transpose": (lambda x, n: shaping.transpose(x), ["transpose/perm:Const", "transpose:Transpose"]),
    "small fill": (lambda x, n: creation.zeros([2, 2]), ["zeros:Const"]),
    "fill by a tensor": (
        lambda x, n: creation.ones([n, 2]),
        ["ones/packed/1:Const", "ones/packed:Pack", "ones/Const:Const", "ones:Fill"],
    ),
    "pad": (lambda x, n: padding.pad(x, [[0, 1], [0, 0]]), ["Pad/paddings:Const", "Pad:Pad"]),
    "rank": (lambda x, n: shaping.rank(x), ["Rank:Const"]),
}


@pytest.mark.parametrize("name", NODES)
def test_nodes_are_named_as_tensorflow_names_them(name):
    build, expected = NODES[name]
    assert names_of(build) == expected


PARTLY_KNOWN = {
    "reshape by a tensor": (lambda x, n: shaping.reshape(x, [n, 2, 2]), [None, 2, 2]),
    "reshape by its own shape": (lambda x, n: shaping.reshape(x, [shaping.shape(x)[0], 2, -1]), [None, 2, None]),
    "concat": (lambda x, n: joining.concat([x, x], 1), [None, 8]),
    "concat of unknown rows": (lambda x, n: joining.concat([x, x], 0), [None, 4]),
    "stack": (lambda x, n: joining.stack([x, x], 1), [None, 2, 4]),
    "pad": (lambda x, n: padding.pad(x, [[1, 1], [1, 1]]), [None, 6]),
    "tile": (lambda x, n: padding.tile(x, [2, 3]), [None, 12]),
    "fill": (lambda x, n: creation.fill([n, 3], 1.0), [None, 3]),
    "range": (lambda x, n: tf.range(n), [None]),
}


@pytest.mark.parametrize("name", PARTLY_KNOWN)
def test_static_shapes_as_far_as_they_are_known(name):
    build, expected = PARTLY_KNOWN[name]
    with tf.Graph().as_default():
        x, n = tf.compat.v1.placeholder(tf.float32, [None, 4]), tf.compat.v1.placeholder(tf.int32, [])
        assert build(x, n).shape.as_list() == expected


@pytest.mark.parametrize(
    "dims, shape, made",
    [
        ([None, 2], [7], None),
        ([3, None], [5, 2], None),
        ([None, None, 2], [7], None),
        ([None, 4], [8], [8]),
        ([None, 2], [0], [0]),
        ([None, 2], [-1, 7], [None, 7]),
        (None, [7], [7]),
    ],
)
def test_reshaping_what_is_known_in_part(dims, shape, made):
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, dims)
        if made is None:
            with pytest.raises(ValueError, match="Dimension size must be evenly divisible by"):
                tf.reshape(x, shape)
        else:
            assert tf.reshape(x, shape).shape.as_list() == made


def test_what_wants_vectors_says_so_of_scalars():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Can't concatenate scalars"):
        tf.concat([[1], 2], 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="output_shape must be rank 1"):
        tf.compat.v1.sparse_to_dense(1, 4, 7)
    with pytest.raises(TypeError, match="Expected list for 'ksizes' argument"):
        tf.compat.v1.extract_image_patches(tf.ones([1, 1, 1, 1]), tf.constant([[1, 4]]), [1] * 4, [1] * 4, "SAME")
