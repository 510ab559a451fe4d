"""What is written on ragged tensors gives what TensorFlow 2.21 gave, eagerly and in functions."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import ebbflow as tf
from tests.golden.ragged import cases

RECORDED = json.loads((pathlib.Path(cases.__file__).parent / "tf-2.21.json").read_text(encoding="utf-8"))
ROWS = [(family, text) for family, rows in RECORDED.items() for text in rows]


def without_shapes(found):
    if isinstance(found, list):
        return [without_shapes(item) for item in found]
    return {key: value for key, value in found.items() if key != "shape"} if isinstance(found, dict) else found


@pytest.mark.parametrize(("family", "text"), ROWS, ids=[text for _, text in ROWS])
def test_as_recorded(family, text):
    wanted = RECORDED[family][text]
    assert json.loads(json.dumps(cases.evaluate(tf, text))) == wanted
    in_function = json.loads(json.dumps(cases.evaluate(tf, text, in_function=True)))
    assert without_shapes(in_function) == without_shapes(wanted)


def test_every_case_is_recorded():
    assert {(family, text) for family, rows in cases.FAMILIES.items() for text in rows} == set(ROWS)


# f(ragged tensor with the given values in rows of 3, 0, 1 and 2): a number
DIFFERENTIABLE = {
    "rows": lambda r: tf.reduce_sum(r[1:] * 2.0),
    "parts of rows": lambda r: tf.reduce_sum(r[:, 1:] ** 2.0),
    "reversed": lambda r: tf.reduce_sum(r[::-1, ::-1] * tf.constant([[1.0], [2.0], [3.0], [4.0]])),
    "gathered": lambda r: tf.reduce_sum(tf.gather(r, [3, 0, 3]) ** 3.0),
    "joined": lambda r: tf.reduce_sum(tf.concat([r, r * r], 1) ** 2.0),
    "stacked": lambda r: tf.reduce_sum(tf.stack([r, r * 3.0]).to_tensor() ** 2.0),
    "columns": lambda r: tf.reduce_sum(tf.reduce_sum(r, axis=0) ** 2.0),
    "means": lambda r: tf.reduce_sum(tf.reduce_mean(r[2:], axis=1) ** 2.0),
    "broadcast": lambda r: tf.reduce_sum(r * tf.constant([[1.0], [2.0], [3.0], [4.0]]) ** 2.0),
    "softmax": lambda r: tf.reduce_sum(tf.nn.softmax(r) ** 2.0),
    "mapped to numbers": lambda r: tf.reduce_sum(tf.map_fn(tf.reduce_sum, r, fn_output_signature=tf.float32) ** 2.0),
    "mapped to rows": lambda r: tf.reduce_sum(tf.map_fn(lambda row: row * row * row, r)),
    "sparse, mapped": lambda r: tf.reduce_sum(
        tf.map_fn(tf.sparse.reduce_sum, r.to_sparse(), fn_output_signature=tf.float32) ** 2.0
    ),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("in_function", [False, True])
def test_gradients(name, in_function):
    f = lambda values: DIFFERENTIABLE[name](tf.RaggedTensor.from_row_lengths(values, [3, 0, 1, 2]))
    f = tf.function(f, autograph=False) if in_function else f
    at = np.array([1.0, -2.0, 0.5, 3.0, 1.5, -1.0], np.float32)
    x = tf.constant(at)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    slope = tf.convert_to_tensor(tape.gradient(y, x)).numpy()
    step = 1e-2 * np.eye(6, dtype=np.float32)
    wanted = [(float(f(tf.constant(at + d))) - float(f(tf.constant(at - d)))) / 2e-2 for d in step]
    np.testing.assert_allclose(slope, wanted, rtol=2e-2, atol=2e-2)  # float32 differences


REFUSED = {
    "inner element": (lambda r: r[:, 0], ValueError, "inner ragged dimension"),
    "too many": (lambda r: r[0, 1, 2], ValueError, "Too many indices"),
    "row outside": (lambda r: r[7], IndexError, "index 7"),
    "other rows": (lambda r: r + tf.ragged.constant([[1.0], [2.0]]), tf.errors.InvalidArgumentError, "broadcast"),
    "other columns": (lambda r: r + tf.ones([4, 2]), tf.errors.InvalidArgumentError, "broadcast"),
    "step of zero": (lambda r: r[:, ::0], ValueError, "step cannot be zero"),
    "axis outside": (lambda r: tf.reduce_sum(r, axis=5), ValueError, "axis 5"),
    "other result": (
        lambda r: tf.map_fn(tf.reduce_sum, r, fn_output_signature=tf.RaggedTensorSpec([None], tf.float32)),
        ValueError,
        "Expected `fn` to return",
    ),
    "other sparse result": (
        lambda r: tf.map_fn(lambda row: row, r, fn_output_signature=tf.SparseTensorSpec([None], tf.float32)),
        ValueError,
        "Expected `fn` to return",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    use, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        use(tf.ragged.constant([[1.0, 2.0, 3.0], [], [4.0], [5.0, 6.0]]))
