"""`tf.experimental.numpy`: as TensorFlow 2.21 answers or, where it errs, as NumPy; functions, gradients, behaviour."""

from __future__ import annotations

import json
import math
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.api import views
from tests.golden.numpy import cases

RECORDED = json.loads((pathlib.Path(cases.__file__).parent / "answers.json").read_text())
tnp = tf.experimental.numpy
SPACE = cases.names(tnp, tf.constant)
PLAIN = cases.names(np, np.asarray)


OTHERWISE = {
    "np.angle(i8)": "float64; TensorFlow has float32 even of float64, NumPy float16",
    "np.hypot([1, 2, 3, 4], f32)": "a list gives way, as it does in np.add",
    "np.logaddexp([1, 2, 3, 4], f32)": "a list gives way, as it does in np.add",
    "np.logaddexp2([1, 2, 3, 4], f32)": "a list gives way, as it does in np.add",
}


def near(ours, theirs):
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(near(a, b) for a, b in zip(ours, theirs, strict=True))
    try:
        x, y = float(ours), float(theirs)
    except (TypeError, ValueError):
        return ours == theirs
    return (math.isnan(x) and math.isnan(y)) or x == y or abs(x - y) <= 2e-5 * max(abs(x), abs(y)) + 1e-7


def is_kind(error, name):
    return any(kind.__name__ == name for kind in type(error).__mro__)


def test_enough_is_recorded():
    assert len(RECORDED) > 1000
    assert sum(not isinstance(answer, str) for answer in RECORDED.values()) > 950


@pytest.mark.parametrize("start", range(0, len(RECORDED), 100))
def test_recorded(start):
    wrong = []
    for expression in [e for e in list(RECORDED)[start : start + 100] if e not in OTHERWISE]:
        try:
            ours = cases.plain(eval(expression, dict(SPACE)))
        except Exception as error:
            if not is_kind(error, str(RECORDED[expression])) and not is_kind(error, cases.answer(expression, PLAIN)):
                wrong.append(f"{expression}: {error!r}, TensorFlow: {RECORDED[expression]}")
            continue
        if not near(ours, RECORDED[expression]) and not near(ours, cases.answer(expression, PLAIN)):
            wrong.append(f"{expression}: {ours}, TensorFlow: {RECORDED[expression]}")
    assert not wrong, "\n".join(wrong)


def test_every_name_of_tensorflow_is_there():
    listed = {name.split(".", 2)[2] for name in views.names_of("v2") if name.startswith("experimental.numpy.")}
    assert len(listed) > 230
    assert {"add", "random.randn", "experimental_enable_numpy_behavior", "ndarray"} <= listed
    for name in listed:
        space = tnp
        for part in name.split("."):
            space = getattr(space, part)


def test_functions_and_gradients():
    @tf.function
    def f(x):
        return tnp.sum(tnp.matmul(x, tnp.transpose(x)) + tnp.mean(x, axis=0)[0])

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(y, (x.numpy() @ x.numpy().T + x.numpy().mean(0)[0]).sum())
    np.testing.assert_allclose(tape.gradient(y, x), [[10, 12], [10, 12]])


def test_draws():
    tnp.random.seed(3)
    first = tnp.random.randn(3).numpy()
    tnp.random.seed(3)
    np.testing.assert_array_equal(first, tnp.random.randn(3))
    drawn = tnp.random.randint(2, 5, [1000]).numpy()
    assert drawn.min() == 2 and drawn.max() == 4 and drawn.dtype == np.int64


BEHAVIOUR = """
import numpy as np, ebbflow as tf
a = tf.constant([1, 2, 3])
assert not hasattr(a, "astype")
tf.experimental.numpy.experimental_enable_numpy_behavior()
assert a.T.shape == (3,) and a.astype(tf.float32).dtype == tf.float32 and (a + 1.5).dtype == tf.float64
assert (a + np.float32(1)).dtype == tf.float64 and (a + 1).dtype == tf.int32 and (1.5 * a).dtype == tf.float64
assert a.reshape(3, 1).shape == (3, 1) and a.ravel().shape == (3,) and a.size == 3 and a.ndim == 1
assert a[[0, 2]].numpy().tolist() == [1, 3] and a[a > 1].numpy().tolist() == [2, 3] and a.tolist() == [1, 2, 3]
assert float(a.mean()) == 2 and int(a.max()) == 3 and a.clip(2, 3).numpy().tolist() == [2, 2, 3]
assert (tf.constant([1.0]) + tf.constant([1])).dtype == tf.float64
assert tf.function(lambda x: (x * 2.5).reshape(-1))(a).numpy().tolist() == [2.5, 5.0, 7.5]
assert (a == 2).numpy().tolist() == [False, True, False] and (a % 2).numpy().tolist() == [1, 0, 1] and (-a)[0] == -1
assert (a / 2).numpy().tolist() == [0.5, 1.0, 1.5] and (a == tf.constant([1.0, 2.0, 4.0])).numpy().tolist()[2] is False
assert tf.Tensor._with_index_add(a, [0, 0], 5).numpy().tolist() == [11, 2, 3]
print("good")
"""


def test_behaviour_in_a_process_of_its_own():
    done = subprocess.run([sys.executable, "-c", BEHAVIOUR], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "good", done.stderr
