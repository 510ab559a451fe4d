"""Biases, softmax, cross entropies, embeddings: against NumPy, with gradients, in every mode."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.arrays import partition
from ebbflow.ops.declare import raw
from ebbflow.ops.nn import bias_softmax, cross_entropy, dropout, embedding
from tests.ops.cases import MODES, Case, Refusal, args


def named(name, fn, dims, numpy, **more):
    return Case(fn, args(*dims), numpy=numpy, name=name, **more)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, axis=-1):
    return np.log(softmax(x, axis))


def logistic(labels, logits):
    return np.log1p(np.exp(logits)) - labels * logits


LAYERS = [
    named("bias_add", bias_softmax.bias_add, ["4 3", "3"], lambda v, b: v + b),
    named("bias_add of images", bias_softmax.bias_add, ["2 2 2 3", "3"], lambda v, b: v + b),
    named("bias_add of no rows", bias_softmax.bias_add, ["0 3", "3"], lambda v, b: v + b),
    named(
        "bias_add NCHW",
        lambda v, b: bias_softmax.bias_add(v, b, data_format="NCHW"),
        ["2 3 2 2", "3"],
        lambda v, b: v + b[:, None, None],
    ),
    named("xw_plus_b", bias_softmax.xw_plus_b, ["2 3", "3 2", "2"], lambda x, w, b: x @ w + b),
    named("relu_layer", bias_softmax.relu_layer, ["2 3", "3 2", "2"], lambda x, w, b: np.maximum(x @ w + b, 0)),
    named("softmax", bias_softmax.softmax, ["2 3"], softmax),
    named("softmax of a vector", bias_softmax.softmax, ["4"], softmax),
    named("softmax of axis 0", lambda x: bias_softmax.softmax(x, axis=0), ["3 2"], lambda x: softmax(x, 0)),
    named("softmax of axis -2", lambda x: bias_softmax.softmax(x, axis=-2), ["2 3 2"], lambda x: softmax(x, -2)),
    named("softmax of no classes", bias_softmax.softmax, ["2 0"], lambda x: x),
    named("log_softmax", bias_softmax.log_softmax, ["2 3"], log_softmax),
    named(
        "log_softmax of axis 1", lambda x: bias_softmax.log_softmax(x, axis=1), ["2 3 2"], lambda x: log_softmax(x, 1)
    ),
    named("l2_loss", bias_softmax.l2_loss, ["2 3"], lambda x: (x * x).sum() / 2),
    named("l2_loss of nothing", bias_softmax.l2_loss, ["0 3"], lambda x: np.zeros(())),
]


def dense(labels, logits, axis=-1):
    return -(labels * log_softmax(logits, axis)).sum(axis)


CLASSES = np.array([2, 0])
SHARES = np.array([[0.2, 0.8, 0.0], [1.0, 0.0, 0.0]])
LOGITS = np.array([[0.5, 1.0, -1.0]])
LOSSES = [
    # TensorFlow's gradient for the logits takes labels as distributions, so labels are given, not differentiated twice.
    named(
        "softmax cross entropy",
        lambda x: cross_entropy.softmax_cross_entropy_with_logits(SHARES, x),
        ["2 3"],
        lambda x: dense(SHARES, x),
    ),
    named(
        "softmax cross entropy of labels",
        lambda labels: cross_entropy.softmax_cross_entropy_with_logits(labels, LOGITS),
        ["1 3"],
        lambda labels: dense(labels, LOGITS),
    ),
    named(
        "softmax cross entropy of axis 1",
        lambda x: cross_entropy.softmax_cross_entropy_with_logits(np.full((2, 3, 2), 1 / 3), x, axis=1),
        ["2 3 2"],
        lambda x: dense(np.full((2, 3, 2), 1 / 3), x, 1),
    ),
    named(
        "sparse softmax cross entropy",
        lambda x: cross_entropy.sparse_softmax_cross_entropy_with_logits(CLASSES, x),
        ["2 3"],
        lambda x: -log_softmax(x)[[0, 1], CLASSES],
    ),
    named(
        "sparse softmax cross entropy of sequences",
        lambda x: cross_entropy.sparse_softmax_cross_entropy_with_logits([[2, 0], [1, 1]], x),
        ["2 2 3"],
        lambda x: -np.take_along_axis(log_softmax(x), np.array([[2, 0], [1, 1]])[..., None], -1)[..., 0],
    ),
    named(
        "sigmoid cross entropy",
        lambda z, x: cross_entropy.sigmoid_cross_entropy_with_logits(labels=z, logits=x),
        ["2 3", "2 3"],
        logistic,
    ),
    named(
        "weighted cross entropy",
        lambda z, x: cross_entropy.weighted_cross_entropy_with_logits(z, x, 3.0),
        ["2 3", "2 3"],
        lambda z, x: 3 * z * np.log1p(np.exp(-x)) + (1 - z) * np.log1p(np.exp(x)),
    ),
    named(
        "log_poisson_loss",
        cross_entropy.log_poisson_loss,
        ["2 3", "2 3"],
        lambda z, x: np.exp(x) - x * z,
    ),
]


def rows(strategy, **more):
    """A row for a table of four rows of two, cut in two shards."""
    ids = [[3, 0], [2, 2]]
    order = {"mod": [0, 2, 1, 3], "div": [0, 1, 2, 3]}[strategy]  # rows of the table as the shards hold them

    def ours(a, b):
        return embedding.embedding_lookup_v1([a, b], ids, partition_strategy=strategy, **more)

    def numpy(a, b):
        table = np.concatenate([a, b])[np.argsort(order)]
        return table[np.array(ids)]

    return Case(ours, args("2 2", "2 2"), numpy=numpy, name=f"embedding_lookup {strategy}")


EMBEDDINGS = [
    named("embedding_lookup", lambda t: embedding.embedding_lookup(t, [1, 0, 1]), ["3 2"], lambda t: t[[1, 0, 1]]),
    rows("mod"),
    rows("div"),
    named(
        "embedding_lookup with max_norm",
        lambda t: embedding.embedding_lookup(t, [1, 2], max_norm=0.5),
        ["3 2"],
        lambda t: t[[1, 2]] * np.minimum(1, 0.5 / np.linalg.norm(t[[1, 2]], axis=1))[:, None],
        smooth=1,
    ),
    named(
        "dynamic_partition",
        lambda x: raw.ConcatV2([p * (i + 1.0) for i, p in enumerate(partition.dynamic_partition(x, [1, 0, 1], 2))], 0),
        ["3 2"],
        lambda x: np.concatenate([x[[1]], 2 * x[[0, 2]]]),
    ),
    named(
        "dynamic_stitch",
        lambda a, b: partition.dynamic_stitch([[2, 0], [1]], [a, b]),
        ["2 2", "1 2"],
        lambda a, b: np.stack([a[1], b[0], a[0]]),
    ),
]

REFUSALS = [
    Refusal(bias_softmax.bias_add, args("4 3", "2"), says="[2] vs. [4,3]", name="bias_add"),
    Refusal(bias_softmax.bias_add, args("4 3", "4 3"), says="1D: [4,3]", name="bias_add of a matrix"),
    Refusal(bias_softmax.softmax, args(""), says="scalar", name="softmax"),
    Refusal(lambda x: bias_softmax.softmax(x, axis=2), args("2 3"), says="range [-2, 2)", name="softmax of no axis"),
    Refusal(
        raw.SoftmaxCrossEntropyWithLogits, args("2 3", "2 4"), says="logits_size=[2,3] labels_size=[2,4]", name="dense"
    ),
    Refusal(
        lambda x: cross_entropy.sparse_softmax_cross_entropy_with_logits([0, 3], x),
        args("2 3"),
        says="a label value of 3 which is outside the valid range of [0, 3)",
        name="sparse",
    ),
    Refusal(
        lambda x: cross_entropy.sparse_softmax_cross_entropy_with_logits([0, -1], x),
        args("2 3"),
        says="a label value of -1",
        name="sparse of a negative class",
    ),
    Refusal(
        lambda x: cross_entropy.sparse_softmax_cross_entropy_with_logits([0], x),
        args("2 3"),
        says="`labels.shape` must equal `logits.shape` except for the last dimension",
        name="sparse of too few",
    ),
    Refusal(
        lambda z, x: cross_entropy.sigmoid_cross_entropy_with_logits(labels=z, logits=x),
        args("2", "3"),
        says="must have the same shape",
        name="sigmoid",
    ),
    Refusal(lambda t: embedding.embedding_lookup(t, [3]), args("3 2"), says="3 is not in [0, 3)", name="lookup"),
    Refusal(
        lambda t: embedding.embedding_lookup_v1([t, t], [0], "all"), args("3 2"), says="'mod' or 'div'", name="strategy"
    ),
    Refusal(lambda x: partition.dynamic_partition(x, [0, 2], 2), args("2"), says="is not in [0, 2)", name="partition"),
    Refusal(lambda x: partition.dynamic_stitch([[-1]], [x]), args("1"), says="negative", name="stitch"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", LAYERS + LOSSES + EMBEDDINGS, ids=str)
def test_value(case, mode):
    case.check_value(mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", LAYERS + LOSSES + EMBEDDINGS, ids=str)
def test_gradient(case, mode):
    case.check_gradient(mode)


@pytest.mark.parametrize("case", REFUSALS, ids=str)
def test_refused(case):
    case.check_value("eager")


def test_refused_when_a_graph_is_built():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 2 for"):
            bias_softmax.bias_add(np.zeros((4, 3)), np.zeros(2))
        with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 4 for"):
            raw.SoftmaxCrossEntropyWithLogits(np.zeros((2, 3)), np.zeros((2, 4)))


def test_large_logits_do_not_overflow():
    big = np.array([[1000.0, 0.0], [-1000.0, 1000.0]], np.float32)
    np.testing.assert_array_equal(bias_softmax.softmax(big).numpy(), [[1, 0], [0, 1]])
    np.testing.assert_array_equal(bias_softmax.log_softmax(big).numpy(), [[0, -1000], [-2000, 0]])
    losses = cross_entropy.sparse_softmax_cross_entropy_with_logits([1, 1], big)
    np.testing.assert_array_equal(losses.numpy(), [1000, 0])
    logistic_losses = cross_entropy.sigmoid_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[-1000.0, -1000.0]])
    np.testing.assert_array_equal(logistic_losses.numpy(), [[1000, 0]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats_are_summed_in_float32(dtype):
    x = tf.constant(np.full((2, 2048), 0.125), tf.as_dtype(dtype))
    assert bias_softmax.softmax(x).dtype.name == dtype
    np.testing.assert_allclose(np.asarray(bias_softmax.softmax(x).numpy(), np.float32), 1 / 2048, rtol=1e-2)
    assert bias_softmax.l2_loss(x).numpy() == 32
    assert float(raw.BiasAddGrad(tf.constant(np.ones((2048, 1)), tf.as_dtype(dtype))).numpy()[0]) == 2048
    loss = cross_entropy.sparse_softmax_cross_entropy_with_logits([0, 1], x)
    assert loss.dtype.name == dtype


def test_labels_stop_gradients_in_tf1_only():
    labels, logits = tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.25]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(labels)
        old = cross_entropy.softmax_cross_entropy_with_logits_v1(labels=labels, logits=logits)
        new = cross_entropy.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    assert tape.gradient(old, labels) is None
    assert tape.gradient(new, labels) is not None


def test_two_bare_arguments_are_logits_and_labels_as_before_one():
    logits, labels = [[2.0, 1.0]], [[0.0, 1.0]]
    expected = cross_entropy.softmax_cross_entropy_with_logits(labels, logits).numpy()
    assert cross_entropy.softmax_cross_entropy_with_logits_tf1(logits, labels).numpy() == expected
    classes = cross_entropy.sparse_softmax_cross_entropy_with_logits_tf1(logits, [1]).numpy()
    assert classes == expected


def test_old_and_new_name_of_an_argument_together_are_refused():
    with pytest.raises(ValueError, match="Cannot specify both"):
        bias_softmax.softmax_v1([1.0], axis=0, dim=0)


def test_embedding_in_a_variable_gets_a_sparse_gradient():
    table = tf.Variable(np.ones((4, 2), np.float32))
    with tf.GradientTape() as tape:
        y = embedding.embedding_lookup(table, [1, 3, 1])
    slices = tape.gradient(y, table)
    assert isinstance(slices, tf.IndexedSlices)
    assert slices.indices.numpy().tolist() == [1, 3, 1]


# --- dropout ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.25, tf.constant(0.25)], ids=["number", "tensor"])
def test_dropout_zeroes_a_share_and_grows_the_rest(rate):
    x = np.ones((100, 100), np.float32)
    found = dropout.dropout(x, rate, seed=1).numpy()
    assert set(np.unique(found).round(5)) == {np.float32(0), np.float32(1 / 0.75).round(5)}
    assert abs((found == 0).mean() - 0.25) < 0.02


def test_dropout_of_nothing_gives_the_tensor_itself():
    x = tf.constant([1.0, 2.0])
    assert dropout.dropout(x, 0.0) is x
    assert dropout.dropout_v1(x, 1.0) is x


def test_dropout_keeps_and_drops_whole_rows_by_noise_shape():
    found = dropout.dropout(np.ones((50, 4), np.float32), 0.5, noise_shape=[None, 1]).numpy()
    assert ((found == 0).all(axis=1) | (found == 2).all(axis=1)).all()


def test_what_is_dropped_does_not_spread_infinities():
    found = dropout.dropout(np.full(1000, np.inf, np.float32), 0.5).numpy()
    assert not np.isnan(found).any()


def test_gradient_of_dropout_is_its_mask():
    x = tf.constant(np.ones(100))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = dropout.dropout(x, 0.5)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), y.numpy())


def test_stateless_dropout_repeats_itself():
    x = np.ones(50, np.float32)
    first, again = (dropout.stateless_dropout(x, 0.5, seed=[1, 2]).numpy() for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert (first != dropout.stateless_dropout(x, 0.5, seed=[1, 3]).numpy()).any()


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: dropout.dropout([1.0], 1.0), "in the range [0, 1)"),
        (lambda: dropout.dropout([1.0], -0.1), "in the range [0, 1)"),
        (lambda: dropout.dropout([1], 0.5), "floating point tensor"),
        (lambda: dropout.dropout([1.0], tf.constant([0.5, 0.5])), "scalar"),
        (lambda: dropout.dropout_v1([1.0]), "must be provided"),
        (lambda: dropout.dropout_v1([1.0], keep_prob=0.5, rate=0.5), "Cannot specify both"),
    ],
)
def test_dropout_refuses(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    assert words in str(caught.value)
