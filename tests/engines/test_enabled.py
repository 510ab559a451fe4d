"""Engines that may serve: what machines without a oneDNN wheel (ARM, macOS) run, on LLVM's code or on NumPy alone."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys

import numpy as np
import pytest

TRAINING = """
import json
import numpy as np
import ebbflow as tf

draw = np.random.default_rng(0)
images = tf.constant(draw.normal(size=(16, 12, 12, 3)).astype("float32"))
labels = tf.constant(draw.integers(0, 5, 16))
shapes = [[3, 3, 3, 16], [16], [16, 20], [20, 20], [20, 5]]
weights = [tf.Variable((draw.normal(size=s) * 0.3).astype("float32")) for s in shapes]
filters, bias, enter, turn, leave = weights

@tf.function
def step():
    with tf.GradientTape() as tape:
        maps = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(images, filters, 1, "SAME") + bias), 2, 2, "SAME")
        rows = tf.reshape(maps, [16, 36, 16])
        state = tf.zeros([16, 20])
        for t in tf.range(36):
            state = tf.tanh(rows[:, t] @ enter + state @ turn)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, state @ leave))
    for weight, slope in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(0.1 * slope)
    return loss

from ebbflow.engines import background
losses = [float(step()) for _ in range(3)]
for worker in background._workers:
    worker.settle()  # machine code, where there is any
losses += [float(step()) for _ in range(3)]
print(json.dumps(losses))
"""


@functools.cache
def losses(engines: str | None) -> list[float]:
    """Return the losses of a small convolutional and recurrent net, in a process where only some engines serve."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("EBBFLOW_ENGINES", None)
    if engines is not None:
        environment["EBBFLOW_ENGINES"] = engines
    done = subprocess.run(
        [sys.executable, "-c", TRAINING], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("engines", ["host,native", "host,native,xla", "host"])
def test_a_net_learns_the_same_without_onednn(engines):
    np.testing.assert_allclose(losses(engines), losses(None), rtol=2e-4)
    assert losses(engines)[-1] < losses(engines)[0]
