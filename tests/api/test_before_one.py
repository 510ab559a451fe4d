"""Before TensorFlow 1.0: other names and other orders of arguments, at the TF 1 door."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow import messages
from ebbflow.api import before_one, namespace, views
from ebbflow.graph.graph import Graph
from ebbflow.platform import decorators

A = np.array([[1, 2], [3, 4]], np.int32)
F = A.astype(np.float32)
LOG_2 = np.log(np.float32(2))
FLIPPED = "deprecated_flipped"


def old(name):
    """The function the TF 1 door has under a name."""
    return namespace.resolve(views.view("v1").names[name])


CASES = [
    (lambda: old("concat")(0, [A, A]), np.concatenate([A, A], 0)),
    (lambda: old("concat")(1, [A, A], name="c"), np.concatenate([A, A], 1)),
    (lambda: old("concat")([A, A], 1), np.concatenate([A, A], 1)),
    (lambda: old("concat")(concat_dim=1, values=[A, A]), np.concatenate([A, A], 1)),
    (lambda: old("concat")(values=[A, A], axis=0), np.concatenate([A, A], 0)),
    (lambda: old("concat")(1, values=[A, A]), np.concatenate([A, A], 1)),
    (lambda: old("concat")(tf.constant(1), [A, A]), np.concatenate([A, A], 1)),
    (lambda: tf.stack(old("split")(1, 2, A)), np.stack(np.split(A, 2, 1))),
    (lambda: tf.stack(old("split")(0, 2, A)), np.stack(np.split(A, 2, 0))),
    (lambda: tf.stack(old("split")(A, 2, 1)), np.stack(np.split(A, 2, 1))),
    (lambda: tf.stack(old("split")(A, [1, 1], 0)), np.stack(np.split(A, 2, 0))),
    (lambda: tf.stack(old("split")(split_dim=1, num_split=2, value=A)), np.stack(np.split(A, 2, 1))),
    (lambda: tf.stack(old("split")(1, 2, value=A)), np.stack(np.split(A, 2, 1))),
    (lambda: tf.stack(old("split")(value=A, num_or_size_splits=2, axis=1)), np.stack(np.split(A, 2, 1))),
    (lambda: old("reverse")(A, [True, False]), A[::-1]),
    (lambda: old("reverse")(A, [1]), A[:, ::-1]),
    (lambda: old("reverse")(A, dims=[False, True]), A[:, ::-1]),
    (lambda: old("mul")(A, 2), A * 2),
    (lambda: old("sub")(A, 1), A - 1),
    (lambda: old("neg")(A), -A),
    (lambda: old("inv")(F), 1 / F),
    (lambda: old("complex_abs")([3 + 4j]), [5.0]),
    (lambda: old("pack")([A, A]), np.stack([A, A])),
    (lambda: old("unpack")(A)[1], A[1]),
    (lambda: old("select")([True, False], A, -A), np.array([[1, 2], [-3, -4]])),
    (lambda: old("batch_matmul")(F, F, adj_x=True), F.T @ F),
    (lambda: old("listdiff")([1, 2, 3], [2])[0], [1, 3]),
    (lambda: old("listdiff")([1, 2, 3], [2])[1], [0, 2]),
    (lambda: old("concat_v2")([A, A], 0), np.concatenate([A, A], 0)),
    (lambda: old("batch_matrix_transpose")(A), A.T),
    (lambda: old("batch_matrix_diag_part")(A), [1, 4]),
    (lambda: old(f"contrib.nn.{FLIPPED}_softmax_cross_entropy_with_logits")([[0.0, 0.0]], [[1.0, 0.0]]), [LOG_2]),
    (lambda: old(f"contrib.nn.{FLIPPED}_sparse_softmax_cross_entropy_with_logits")([[0.0, 0.0]], [1]), [LOG_2]),
    (lambda: old(f"contrib.nn.{FLIPPED}_sigmoid_cross_entropy_with_logits")([0.0], [1.0]), [LOG_2]),
]


@pytest.mark.parametrize("call, value", CASES, ids=range(len(CASES)))
def test_old_forms(call, value):
    np.testing.assert_array_equal(call().numpy(), value)


@pytest.mark.parametrize(
    "name, args, field",
    [
        ("scalar_summary", ("any tag, really", 0.5), "simple_value"),
        ("histogram_summary", ("w h", [1.0, 2.0]), "histo"),
        ("image_summary", ("i", np.zeros((1, 2, 2, 1), np.float32)), "image"),
        ("audio_summary", ("a", np.zeros((1, 8), np.float32), 8000.0), "audio"),
    ],
)
def test_old_summaries_keep_their_tags(name, args, field):
    value = messages.Summary.FromString(old(name)(*args).numpy()).value[0]
    assert value.tag.startswith(args[0]) and value.HasField(field)


def test_old_summaries_are_collected():
    with Graph().as_default() as graph:
        made = old("scalar_summary")("loss", tf.constant(1.0))
        merged = old("merge_all_summaries")()
        assert graph.get_collection("summaries") == [made]
        assert merged.op.type == "MergeSummary"


def test_the_other_doors_keep_the_order_of_today():
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        tf.concat(0, [A, A])
    assert not hasattr(tf.compat.v1, "mul")


def test_packages_find_the_arguments_they_compare_with():
    def ones(shape, dtype=tf.float32, name=None): ...

    spec = decorators.getfullargspec
    assert spec(before_one.ones) == spec(ones)
    assert before_one.fill([2], 3).numpy().tolist() == [3, 3] and before_one.zeros([1]).numpy().tolist() == [0.0]
