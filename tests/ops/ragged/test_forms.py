"""Ragged tensors: made, taken apart, computed with, passed through functions."""

from __future__ import annotations

import contextlib
import operator

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import dispatch
from ebbflow.ops.ragged.rows import batch_gather_with_default

R = tf.RaggedTensor
A = [[1.0, 2.0], [3.0]]


def plain(value):
    """Return a result as Python values."""
    if isinstance(value, R):
        return value.to_list()
    return value.numpy().tolist() if hasattr(value, "numpy") else value


def rows():
    return tf.ragged.constant(A)


MADE = {
    "lengths": (lambda: R.from_row_lengths([1, 2, 3], [1, 0, 2]), [[1], [], [2, 3]]),
    "rowids": (lambda: R.from_value_rowids([1, 2, 3], [0, 0, 2]), [[1, 2], [], [3]]),
    "rowids and rows": (lambda: R.from_value_rowids([1, 2], [0, 0], nrows=3), [[1, 2], [], []]),
    "starts": (lambda: R.from_row_starts([1, 2, 3], [0, 1]), [[1], [2, 3]]),
    "limits": (lambda: R.from_row_limits([1, 2, 3], [1, 3]), [[1], [2, 3]]),
    "tensor": (lambda: R.from_tensor([[1, 2], [3, 0]]), [[1, 2], [3, 0]]),
    "padding": (lambda: R.from_tensor([[1, 2], [3, 0]], padding=0), [[1, 2], [3]]),
    "cut": (lambda: R.from_tensor([[1, 2], [3, 0]], lengths=[1, 2]), [[1], [3, 0]]),
    "sparse": (lambda: R.from_sparse(tf.sparse.from_dense([[1, 0], [2, 3]])), [[1], [2, 3]]),
    "nested": (lambda: tf.ragged.constant([[[1, 2], [3]], [], [[4]]]), [[[1, 2], [3]], [], [[4]]]),
    "ranges": (lambda: tf.ragged.range([0, 5], [3, 1], [1, -2]), [[0, 1, 2], [5, 3]]),
    "masked": (lambda: tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]), [[1], [3, 4]]),
}
COMPUTED = {
    "add": (lambda x: x + 1.0, [[2.0, 3.0], [4.0]]),
    "both": (lambda x: 2.0 * x - x, A),
    "column": (lambda x: x * tf.constant([[10.0], [20.0]]), [[10.0, 20.0], [60.0]]),
    "less": (lambda x: x < 2.5, [[True, True], [False]]),
    "negative": (lambda x: abs(-x), A),
    "mapped": (lambda x: tf.ragged.map_flat_values(tf.square, x), [[1.0, 4.0], [9.0]]),
    "cast": (lambda x: tf.cast(x, tf.int32), [[1, 2], [3]]),
    "sum of all": (lambda x: tf.reduce_sum(x), 6.0),
    "sum of rows": (lambda x: tf.reduce_sum(x, axis=1), [3.0, 3.0]),
    "sum of columns": (lambda x: tf.reduce_sum(x, axis=0), [4.0, 2.0]),
    "mean": (lambda x: tf.reduce_mean(x, axis=-1, keepdims=True), [[1.5], [3.0]]),
    "max": (lambda x: tf.reduce_max(x, axis=1), [2.0, 3.0]),
    "any": (lambda x: tf.reduce_any(x > 2.5, axis=1), [False, True]),
    "first row": (lambda x: x[0], [1.0, 2.0]),
    "last row": (lambda x: x[-1], [3.0]),
    "element": (lambda x: x[0, 1], 2.0),
    "some rows": (lambda x: x[1:], [[3.0]]),
    "filled": (lambda x: x.to_tensor(default_value=-1.0), [[1.0, 2.0], [3.0, -1.0]]),
    "fitted": (lambda x: x.to_tensor(shape=[None, 3]), [[1.0, 2.0, 0.0], [3.0, 0.0, 0.0]]),
    "sparse": (lambda x: tf.sparse.to_dense(x.to_sparse()), [[1.0, 2.0], [3.0, 0.0]]),
    "lengths": (lambda x: x.row_lengths(), [2, 1]),
    "rowids": (lambda x: x.value_rowids(), [0, 0, 1]),
    "rows": (lambda x: x.nrows(), 2),
    "bounds": (lambda x: x.bounding_shape(), [2, 2]),
}


@pytest.mark.parametrize("name", MADE)
def test_made(name):
    make, expected = MADE[name]
    assert make().to_list() == expected
    assert tf.function(make, autograph=False)().to_list() == expected


@pytest.mark.parametrize("name", COMPUTED)
def test_computed(name):
    f, expected = COMPUTED[name]
    assert plain(f(rows())) == expected
    for spec in (None, [tf.RaggedTensorSpec([None, None], tf.float32)]):
        found = tf.function(f, input_signature=spec, autograph=False)
        assert [plain(found(rows())) for _ in range(2)] == [expected, expected]


def test_gradient():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(R.from_row_lengths(v * v, [2, 1]).to_tensor() * [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(tape.gradient(y, v), [2.0, 8.0, 18.0])


def test_its_type():
    nested = tf.ragged.constant([[[1, 2], [3]], []])
    spec = tf.RaggedTensorSpec([None, None, None], tf.int32)
    assert (nested.ragged_rank, nested.shape.as_list()) == (2, [2, None, None])
    assert spec.is_compatible_with(nested)
    assert not spec.is_compatible_with(rows())
    assert nested._type_spec.is_subtype_of(spec)
    assert repr(rows()._type_spec) == "RaggedTensorSpec(TensorShape([2, None]), tf.float32, 1, tf.int64)"
    flat = tf.nest.flatten(nested, expand_composites=True)
    assert tf.nest.pack_sequence_as(nested, flat, expand_composites=True).to_list() == nested.to_list()


def test_traces_and_loops():
    @tf.function
    def f(x):
        traces.append(x.shape.as_list())
        i = 0
        while tf.reduce_sum(x) < 20.0:
            x = x * 2.0
            i += 1
        return x, i

    traces = []
    assert [plain(part) for part in f(rows())] == [[[4.0, 8.0], [12.0]], 2]
    f(tf.ragged.constant([[1.0], [2.0, 3.0]]))
    assert traces == [[2, None]]


REFUSED = [
    (lambda: R.from_row_splits([1, 2], [0, 3]), tf.errors.InvalidArgumentError, "ends at 3, and there are 2 values"),
    (lambda: R.from_row_splits([1, 2], [1, 2]), tf.errors.InvalidArgumentError, "must be 0"),
    (lambda: R.from_row_splits([1, 2], [0, 2, 1]), tf.errors.InvalidArgumentError, "must not decrease"),
    (lambda: R.from_row_splits([1, 2], tf.constant([0.0, 2.0])), ValueError, "int32 or int64"),
    (lambda: rows() + tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.errors.InvalidArgumentError, "different lengths"),
    (lambda: tf.ragged.constant([1, [2]]), ValueError, "nesting depth"),
    (lambda: tf.RaggedTensorSpec(None), ValueError, "Must specify ragged_rank"),
]


@pytest.mark.parametrize(("call", "error", "says"), REFUSED)
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_embeddings_of_ragged_ids():
    table = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    ids, weights = tf.ragged.constant([[0, 1], [2]]), tf.ragged.constant([[1.0, 3.0], [2.0]])
    assert tf.nn.embedding_lookup_sparse(table, ids, None).numpy().tolist() == [[2.0, 3.0], [5.0, 6.0]]
    weighted = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="sum")
    assert weighted.numpy().tolist() == [[10.0, 14.0], [10.0, 12.0]]
    with pytest.raises(TypeError, match="sp_ids must be of the same type as sp_weights"):
        tf.nn.embedding_lookup_sparse(table, ids, weights.to_sparse())
    safe = tf.nn.safe_embedding_lookup_sparse(table, tf.ragged.constant([[0, -1], []], dtype=tf.int64))
    assert safe.numpy().tolist() == [[1.0, 2.0], [0.0, 0.0]]


@pytest.mark.parametrize("graph", [False, True])
def test_rows_by_tensors(graph):
    with tf.Graph().as_default() if graph else contextlib.nullcontext():
        rows = tf.RaggedTensor.from_row_splits([1, 2, 3, 4], [0, 1, 4, 4])
        found = [rows[tf.constant(place)] for place in (-2, 0, 2)]
        if graph:
            with tf.compat.v1.Session() as session:
                assert [row.tolist() for row in session.run(found)] == [[2, 3, 4], [1], []]
                with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
                    session.run(rows[tf.constant(-4)])
        else:
            assert [row.numpy().tolist() for row in found] == [[2, 3, 4], [1], []]


def test_fetched_rows_are_taken_where_rows_are():
    value = tf.compat.v1.ragged.constant_value([["a b"], []], dtype=bytes)
    assert tf.strings.split(value).to_list() == [[[b"a", b"b"]], []]
    assert tf.strings.length(value).to_list() == [[3], []]


def test_bad_keys():
    rows = tf.ragged.constant([[1, 2], [3]])
    for key, words in (
        (0.5, "Only integers"),
        (slice(0, 2, 0.5), "Only integers"),
        ((slice(None), slice(None, None, 0.5)), "slice strides must be integers"),
        ((slice(None), slice("a", None)), "slice offsets must be integers"),
    ):
        with pytest.raises(TypeError, match=words):
            _ = rows[key]
    with pytest.raises(IndexError, match="Too many indices"):
        _ = rows[..., 0, 0, 0]


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("path", ["math.erfcinv", "math.reciprocal_no_nan", "nn.gelu", "nn.silu", "math.conj"])
def test_functions_made_of_ops_take_rows(path, wrapped):
    function = operator.attrgetter(path)(tf)
    rows = tf.ragged.constant([[0.5, 0.25], [], [1.5]])
    found = (tf.function(function) if wrapped else function)(rows)
    np.testing.assert_array_equal(found.row_splits, rows.row_splits)
    np.testing.assert_allclose(found.values, function(rows.values), rtol=1e-6)


@pytest.mark.parametrize("path", ["truediv", "div", "div_no_nan", "divide"])
def test_rows_are_divided(path):
    v1 = tf.compat.v1
    function = v1.div if path == "div" else getattr(tf.math, path, tf.divide)
    value = v1.ragged.constant_value([[1.0, 3.0], [2.0]], dtype="float32")
    rows = tf.ragged.constant([[2.0, 2.0], [4.0]])
    for x, y in ((value, rows), (value, value), (rows, value), (rows, 2.0)):
        dense = [getattr(each, "flat_values", each) for each in (x, y)]
        found = function(x, y)
        assert found.row_splits.numpy().tolist() == [0, 2, 3]
        np.testing.assert_allclose(found.values, dense[0] / dense[1])


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("name, other, holds", [
    ("assert_less", 5, True), ("assert_less", 3, False), ("assert_greater_equal", [[1], [3]], True),
    ("assert_none_equal", [[7], [3]], False), ("assert_equal", tf.ragged.constant([[1, 2], [3]]), True),
])  # fmt: skip
def test_rows_are_asserted(name, other, holds, wrapped):
    def check():
        getattr(tf.debugging, name)(tf.ragged.constant([[1, 2], [3]]), other)

    check = tf.function(check) if wrapped else check
    with contextlib.nullcontext() if holds else pytest.raises(tf.errors.InvalidArgumentError, match="did not hold"):
        check()


def test_texts_in_rows_are_transcoded():
    rows = tf.strings.unicode_transcode(tf.ragged.constant([["a", "é"], ["b"]]), "UTF-8", "UTF-16-BE")
    assert rows.to_list() == [[b"\x00a", b"\x00\xe9"], [b"\x00b"]]


@pytest.mark.parametrize("dtype, held", [(tf.uint64, 2**64 - 1), (tf.uint8, 255), (tf.int8, -1), (tf.bool, True)])
def test_values_that_do_not_fit_turn_around(dtype, held):
    assert tf.compat.v1.ragged.constant_value([[1, 0], [-1]], dtype=dtype).to_list() == [[1, 0], [held]]


def test_a_fetched_ragged_tensor_is_one_again():
    fetched = tf.compat.v1.ragged.constant_value([[1, 2], [3]])
    assert tf.reduce_sum(fetched, axis=1).numpy().tolist() == [3, 3]
    assert tf.compat.v1.batch_gather(fetched, tf.ragged.constant([[1, 0], [0]])).to_list() == [[2, 1], [3]]
    words = tf.ragged.constant([["a"], ["b", "c"]])
    assert tf.io.decode_base64(tf.io.encode_base64(words)).to_list() == words.to_list()


def test_tile_by_numbers_of_the_run():
    rows = tf.ragged.constant([[[1, 2], [3]], [[4]]])

    @tf.function
    def tiled(times):
        return tf.tile(rows, times)

    for times in ([2, 1, 1], [1, 2, 1], [1, 1, 2], [2, 3, 2], [1, 0, 1]):
        assert tiled(tf.constant(times)).to_list() == tf.tile(rows, times).to_list()


def test_squeeze_looks_at_the_rows():
    ones = tf.ragged.constant([[[1, 2]], [[3]]])
    for squeezed in (tf.squeeze, tf.function(tf.squeeze)):
        assert squeezed(ones, [1]).to_list() == [[1, 2], [3]]
        assert squeezed(tf.ragged.constant([[4], [5]]), [1]).numpy().tolist() == [4, 5]
        assert squeezed(tf.ragged.constant([[[6], [7, 8]]]), [0]).to_list() == [[6], [7, 8]]
        for rows, axis in ((ones, 0), (tf.ragged.constant([[1], [2, 3]]), 1), (ones, 2)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="expected rows of length 1"):
                squeezed(rows, [axis])


class Wrapped(tf.experimental.ExtensionType):
    value: tf.Tensor
    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)

    def __getitem__(self, key):
        return Wrapped(self.value[key])


class Unwraps(dispatch.GlobalOpDispatcher):
    def handle(self, op, args, kwargs):
        return Wrapped(op(*[getattr(arg, "value", arg) for arg in args], **kwargs))


def test_values_of_a_programs_own_type(monkeypatch):
    monkeypatch.setattr(dispatch, "_everywhere", [Unwraps()])
    rows = tf.RaggedTensor.from_row_splits(Wrapped(tf.constant([1, -2, 3])), [0, 2, 3], validate=False)
    assert tf.abs(rows).flat_values.value.numpy().tolist() == [1, 2, 3]
    assert tf.add(rows, rows).flat_values.value.numpy().tolist() == [2, -4, 6]
    assert rows[1:].flat_values.value.numpy().tolist() == [3]


def test_gather_along_any_axis():
    rows = tf.ragged.constant([[[1, 2], [3]], [[4], [5, 6], [7]]])
    assert tf.gather(rows, [1, 0], axis=1).to_list() == [[[3], [1, 2]], [[5, 6], [4]]]
    assert tf.gather(rows, [1, 0], axis=1, batch_dims=1).to_list() == [[3], [4]]
    assert tf.gather(rows, [[0], [0]], axis=2, batch_dims=1).to_list() == [[[1], [3]], [[4], [5], [7]]]
    at = tf.constant(2)
    assert rows[:, 0:3:at].to_list() == [[[1, 2]], [[4], [7]]]


def test_gather_with_a_default():
    found = batch_gather_with_default(
        tf.ragged.constant([[1, 2], [], [3]]), tf.ragged.constant([[1, 5], [0], [-1, 0]]), 9
    )
    assert found.to_list() == [[2, 9], [9], [9, 3]]
    with pytest.raises(ValueError, match="default_value must have rank 0"):
        batch_gather_with_default(tf.ragged.constant([[1]]), [[0]], [1, 2])


def test_further_axes_lie_inside_the_rows():
    assert tf.one_hot(tf.ragged.constant([[0, 1], [1]]), 2, axis=2).to_list() == [
        [[1.0, 0.0], [0.0, 1.0]],
        [[0.0, 1.0]],
    ]
    with pytest.raises(ValueError, match=r"must be greater than indices.ragged_rank \(1\)"):
        tf.one_hot(tf.ragged.constant([[0, 1], [1]]), 2, axis=1)


def test_parts_along_inner_axes():
    rows = R.from_row_lengths([[1, 2, 3], [4, 5, 6]], [2, 0])
    assert [plain(part) for part in tf.split(rows, 3, axis=2)] == [[[[1], [4]], []], [[[2], [5]], []], [[[3], [6]], []]]
    assert [plain(part) for part in tf.split(rows, [2, 1], axis=-1)] == [[[[1, 2], [4, 5]], []], [[[3], [6]], []]]
    with pytest.raises(ValueError, match="along its ragged dimension, axis 1"):
        tf.split(rows, 2, axis=1)


def test_bounding_shape_is_counted_in_any_type():
    assert R.from_row_lengths([1, 2], [2, 0]).bounding_shape(out_type=tf.int32).dtype is tf.int32


def test_means_of_segments():
    rows, ids = tf.ragged.constant([[1.0, 2.0], [3.0], [5.0, 6.0, 7.0]]), [1, 0, 1]
    assert tf.math.unsorted_segment_mean(rows, ids, 2).to_list() == [[3.0], [3.0, 4.0, 7.0]]
    assert tf.math.unsorted_segment_sqrt_n(rows, [0, 0, 1], 2).to_list()[1] == [5.0, 6.0, 7.0]
    alike = tf.ragged.constant([[0, 2], [0], [0, 2, 1]])
    assert tf.math.unsorted_segment_sum(rows, alike, 3).numpy().tolist() == [9.0, 7.0, 8.0]
    with pytest.raises(ValueError, match="segment_ids is ragged and data is not"):
        tf.math.unsorted_segment_sum([1.0, 2.0], tf.ragged.constant([[0], [1]]), 2)


def test_gradient_of_picked_rows_is_dense():
    rows = tf.ragged.constant([[1.0, 2.0], [3.0], [4.0]])
    with tf.GradientTape() as tape:
        tape.watch(rows)
        picked = tf.gather(rows, [0, 2])
    assert tape.gradient(picked, rows).to_list() == [[1.0, 1.0], [0.0], [1.0]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: r.to_tensor([1.0]), "default_value.rank = 1  must be less than rt_input.flat_values.rank = 1"),
        (lambda r: r.to_tensor(shape=[4, 4, 4]), "rt_input.rank = 2 but shape.rank = 3"),
        (lambda r: tf.split(r, [1, 2], num=3), "`num` does not match"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=words):
        call(rows())
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=words):
        tf.function(call)(rows())


def test_parts_of_sizes_that_a_run_knows():
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None]), tf.TensorSpec(None, tf.int32)])
    def parts(r, sizes):
        return tf.split(r, sizes, num=2)

    assert [plain(part) for part in parts(rows(), [1, 1])] == [[[1.0, 2.0]], [[3.0]]]
    for sizes in ([2, 1], [1, 1, 0], [3, -1]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            parts(rows(), sizes)


def test_gradients_of_cut_and_filled_rows():
    r, default = rows(), tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch([r.flat_values, default])
        filled = r.to_tensor(default, shape=[3, 1]) * tf.constant([[2.0], [3.0], [5.0]])
    found = tape.gradient(filled, [r.flat_values, default])
    assert [plain(tf.convert_to_tensor(g)) for g in found] == [[2.0, 0.0, 3.0], 5.0]


TEXTS = [[["a", "b"], ["c"]], [["d"]], []]


@pytest.mark.parametrize("axis, joined", [
    (0, [[b"a-d", b"b"], [b"c"]]),
    (1, [[b"a-c", b"b"], [b"d"], []]),
    (-1, [[b"a-b", b"c"], [b"d"], []]),
    ([0, 1], [b"a-c-d", b"b"]),
])  # fmt: skip
def test_texts_are_joined_along_any_axis(axis, joined):
    found = tf.strings.reduce_join(tf.ragged.constant(TEXTS), axis=axis, separator="-")
    assert (found.to_list() if isinstance(found, R) else found.numpy().tolist()) == joined


def _value(rows, dtype=None):
    return tf.compat.v1.ragged.constant_value(rows, dtype=dtype)


OF_VALUES = [
    (lambda v: tf.concat([v, np.array([[5.0, 6.0]])], 0), [[1.0, 2.0], [3.0], [5.0, 6.0]]),
    (lambda v: tf.stack([v, np.array([[5.0]])]), [[[1.0, 2.0], [3.0]], [[5.0]]]),
    (lambda v: tf.matmul(_value([[1.0, 2.0]]), _value([[3.0], [4.0]])), [[11.0]]),
    (lambda v: tf.cast(v, tf.int32), [[1, 2], [3]]),
    (lambda v: tf.saturate_cast(v, tf.uint8), [[1, 2], [3]]),
    (lambda v: tf.ones_like(v), [[1.0, 1.0], [1.0]]),
    (lambda v: tf.nn.dropout(v, 0.0), [[1.0, 2.0], [3.0]]),
    (lambda v: tf.math.scalar_mul(2.0, v), [[2.0, 4.0], [6.0]]),
    (lambda v: tf.strings.reduce_join(_value([["a", "b"], ["c"]]), axis=1), [b"ab", b"c"]),
    (lambda v: tf.strings.format("{}", [_value([[1, 2], [3]])]), b"[[1, 2], [3]]"),
    (lambda v: tf.nn.sigmoid_cross_entropy_with_logits(v * 0 + 1, v * 0) > 0.6, [[True, True], [True]]),
]


@pytest.mark.parametrize("number", range(len(OF_VALUES)))
def test_fetched_values_are_ragged_tensors_to_every_function(number):
    call, expected = OF_VALUES[number]
    given = _value([[1.0, 2.0], [3.0]]) if number < 10 else tf.ragged.constant([[1.0, 2.0], [3.0]])
    found = call(given)
    assert (found.to_list() if isinstance(found, R) else np.asarray(found).tolist()) == expected


def test_near_and_equal():
    near = rows(), rows() + 1e-9
    tf.debugging.assert_near(*near)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not equal to tolerance"):
        tf.debugging.assert_near(rows(), rows() + 1)
    other = tf.ragged.constant([[1.0, 2.0, 3.0, 4.0, 5.0]])
    assert (rows() == other) is False and (rows() != other) is True
    with tf.Graph().as_default():
        here = rows()
        assert (here == here) is True and (here == rows()) is False


def test_sparse_forms_are_checked():
    broken = [([2, 3], "First value"), ([0, 5], "Final value"), (np.zeros([0], np.int64), "may not be empty")]
    for splits, says in broken:
        with pytest.raises(tf.errors.InvalidArgumentError, match=says):
            R.from_row_splits([1, 2, 3], splits, validate=False).to_sparse()
    with tf.Graph().as_default():
        deep = tf.ragged.constant([[[1, 2]], [], [[3, 4]]], ragged_rank=1).to_sparse()
        assert deep.indices.shape == [4, 3] and deep.values.shape == [4] and deep.dense_shape.shape == [3]


def test_the_function_of_an_operator_takes_two_ragged_tensors():
    x = tf.ragged.constant([[3, 4], [1]])
    assert tf.__operators__.add(x, x).to_list() == [[6, 8], [2]]


def test_a_bias_is_added_to_rows_of_channels():
    """What Keras's Dense does of a ragged tensor whose rows have one length."""
    of_one_length = tf.ragged.constant([[1.0, 2.0], [3.0, 4.0]])
    rows_of_two = tf.ragged.constant([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], ragged_rank=1)
    for function in (tf.nn.bias_add, tf.function(tf.nn.bias_add)):
        assert function(of_one_length, [10.0, 20.0]).to_list() == [[11.0, 22.0], [13.0, 24.0]]
        assert function(rows_of_two, [10.0, 20.0]).to_list() == [[[11.0, 22.0]], [[13.0, 24.0], [15.0, 26.0]]]
    with pytest.raises(ValueError, match="the last axis"):
        tf.nn.bias_add(rows_of_two, [10.0, 20.0], data_format="NCHW")
