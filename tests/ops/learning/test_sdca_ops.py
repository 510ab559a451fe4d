"""Stochastic dual coordinate ascent: TensorFlow's recorded fingerprints and epochs, optima of every loss, refusals."""

import json
import pathlib

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.random import unseeded
from tests.golden.contrib import sdca

RECORDED = json.loads(pathlib.Path(sdca.__file__).with_suffix(".json").read_text())
LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")


@pytest.mark.parametrize("name", sdca.CASES)
def test_recorded(name):
    for mine, other in zip(sdca.answers(tf, [name])[name], RECORDED[name], strict=True):
        np.testing.assert_allclose(np.array(mine), np.array(other), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_epochs_close_the_gap_between_primal_and_dual(loss, adaptive, monkeypatch):
    order = np.random.default_rng(0)
    monkeypatch.setattr(unseeded, "generator", lambda: order)
    source = np.random.RandomState(1)
    x = source.normal(size=(40, 3)).astype(np.float32)
    labels = (x @ [1.0, -2.0, 0.5] > 0).astype(np.float32)
    state, weights, l2 = np.zeros((40, 4), np.float32), np.zeros(3, np.float32), 2.0
    for _ in range(60):
        state, _, (delta,) = tf.raw_ops.SdcaOptimizerV2(
            sparse_example_indices=[], sparse_feature_indices=[], sparse_feature_values=[], dense_features=[x],
            example_weights=np.ones(40, np.float32), example_labels=labels, sparse_indices=[], sparse_weights=[],
            dense_weights=[weights], example_state_data=state, loss_type=loss, adaptive=adaptive, l1=0.0, l2=l2,
            num_loss_partitions=1, num_inner_iterations=1,
        )  # fmt: skip
        weights = weights + delta.numpy()
    primal, dual, count = state.numpy()[:, 1].sum(), state.numpy()[:, 2].sum(), state.numpy()[:, 3].sum()
    gap = (primal + dual + l2 * np.square(weights).sum()) / count
    assert abs(gap) < (3e-2 if adaptive else 1e-2)  # an adaptive epoch passes some examples over


def test_l1_shrinks_references():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", initializer=[1.0, -3.0, 0.1], use_resource=False)
        shrink = v1.train.sdca_shrink_l1([w], l1=0.5, l2=1.0)
        session.run(w.initializer)
        session.run(shrink)
        np.testing.assert_allclose(session.run(w), [0.5, -2.5, 0.0])


def optimize(**change):
    asked = {
        "sparse_example_indices": [[0, 0, 1]], "sparse_feature_indices": [[0, 1, 1]], "sparse_feature_values": [],
        "dense_features": [np.ones((2, 1), np.float32)], "example_weights": [1.0, 1.0], "example_labels": [1.0, 0.0],
        "sparse_indices": [[0, 1]], "sparse_weights": [[0.0, 0.0]], "dense_weights": [[0.0]],
        "example_state_data": np.zeros((2, 4), np.float32), "loss_type": "logistic_loss", "l1": 0.0, "l2": 1.0,
        "num_loss_partitions": 1, "num_inner_iterations": 1,
    }  # fmt: skip
    return tf.raw_ops.SdcaOptimizerV2(**(asked | change))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"example_labels": [1.0, 2.0]}, "Only labels of 0.0 or 1.0"),
        ({"example_labels": [1.0, -2.0], "loss_type": "poisson_loss"}, "Only non-negative labels"),
        ({"example_labels": [1.0]}, "Expected 2 example labels but got 1"),
        ({"sparse_feature_indices": [[0, 1, 7]]}, "out of valid range: 7"),
        ({"sparse_feature_indices": [[1, 1, 1]]}, "Duplicate index in sparse vector"),
        ({"sparse_example_indices": [[0, 0, 9]]}, "has 9, but there are 2 examples"),
        ({"sparse_example_indices": [[0]]}, "mismatched example_indices and feature_indices"),
        ({"dense_features": [np.ones((2, 3), np.float32)]}, "More dense features than we have parameters for"),
        ({"example_state_data": np.zeros((3, 4), np.float32)}, "for example_state_data"),
        ({"l2": 0.0}, "l2 = 0.0 must be positive"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refused(change, says):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=says):
        optimize(**change)
