"""The programs in examples/, run as a user runs them; each must end well and say what it promises."""

from __future__ import annotations

import importlib.util
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"

SAYS = {
    "collatz.py": [
        "tf.Tensor(3, shape=(), dtype=int32)",
        "tf.Tensor(10, shape=(), dtype=int32)",
        "tf.Tensor(1, shape=(), dtype=int32)",
    ],
    "early_eager_training.py": ["kernel: [ 2. -3.] bias: [0.5]"],
    "early_gradients.py": ["9.0 6.0 2.0", "log1pexp 0.5 nan", "stable_log1pexp 0.5 1.0"],
    "estimator.py": ["not seen is above 0.9: True after 300 steps", "a large red apple is ripe: True"],
    "functions.py": [
        "[[2.0, 2.0], [2.0, 2.0]]",
        "3 3.5 b'tensor'",
        "sum: 0.9935 gradient: [0.0489 0.0674 0.0951]",
        "the same: True",
        "the loop is smaller: True",
        "eager outside: True\neager in a graph: False\nfrom a session: 42",
    ],
    "graph_and_eager.py": [
        'Tensor("MatMul:0", shape=(1, 1), dtype=float32)',
        "[[4.]]",
        "tf.Tensor([[4.]], shape=(1, 1), dtype=float32)",
        "InvalidArgumentError: indices = 7 is not in [0, 3) [Op:Gather]",
    ],
    "input_pipeline.py": [
        "an element: TensorSpec(shape=(32, 3), dtype=tf.float32, name=None)",
        "traced once: True",
        "kernel: [ 1.  -2.   0.5] bias: 0.25",
        "[2, 4, 1, 3, 5, 7, 8, 6, 0, 9]",
        "[[3, 0], [7, 7]]\n[[18, 18, 18, 18], [13, 13, 13, 0]]",
    ],
    "keras_digits.py": [
        "it has not seen: True",
        "one by one: True",
        "replicas: 1",
        "the loss falls there, too: True",
    ],
    "keras_layers.py": [
        "Total params: 64,000",
        "always the same: True",
        "some are dropped: True and the others are larger: True",
        "gives the same: True shape (10, 10)",
    ],
    "keras_pretrained.py": [
        "features: (1, 1, 1, 512) the same as before: True",
        "after two blocks: (1, 8, 8, 128)",
        "[[2.0, 1.0], [-4.0, 1.0]]",
        "a good film is good: True a bad one is not: True",
    ],
    "line_search.py": [
        "variables: 4",
        "a bar of kind 2 is seen as 2",
        "at first is above 1: True",
        "seen as 3 with -log(p) below 0.1: True",
    ],
    "keras_of_tf1.py": [
        "a layer on a placeholder: [[2.0, 6.0]]",
        "learnt the circle: True",
        "dropout at test time does nothing: True",
        "the session is Keras's: True",
    ],
    "linear_regression.py": ["W: [-0.99999"],
    "lstm_cell.py": [
        "graph_callable gives the same: True and the same gradients: True",
        "defun gives the same: True and the same gradients: True",
    ],
    "mesh_training.py": [
        f"{net} divided by {how}: the same losses: True and weights: True"
        for net in ("mlp", "transformer")
        for how in ("data", "model", "both")
    ],
    "numpy_both_ways.py": ["ndarray [[7.0, 10.0], [15.0, 22.0]]", "[0. 1.]"],
    "square_sum.py": ["25.0"],
    "two_layer_net.py": ["last loss"],
    "variables_and_order.py": [
        "<tf.Variable 'Variable:0' shape=() dtype=int32_ref>",
        "FailedPreconditionError: Attempting to use uninitialized value Variable",
        "\n10\n100\n",
        "[6. 7. 8.]",
    ],
}


NEEDS = {
    "keras_of_tf1.py": ("tf_keras", "wrapt", "requests"),
    "estimator.py": ("tf_keras", "wrapt", "requests", "tensorflow_estimator"),
}
"""Packages that are not in every environment: tf_keras is in no extra."""


LAUNCHED = {"parameter_server.py", "multi_worker_keras.py"}
"""Programs of several processes: tests/doors/test_launch.py and tests/distribute/test_multi_worker.py run them."""


def test_every_example_is_checked():
    assert {p.name for p in EXAMPLES.glob("*.py")} == set(SAYS) | LAUNCHED


@pytest.mark.parametrize("name", sorted(SAYS))
def test_example(name):
    for package in NEEDS.get(name, ()):
        if importlib.util.find_spec(package) is None:
            pytest.skip("no extra brings tf_keras, which asks for TensorFlow")
    done = subprocess.run(
        [sys.executable, "-m", "ebbflow", "run", str(EXAMPLES / name)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for words in SAYS[name]:
        assert words in done.stdout, done.stdout
