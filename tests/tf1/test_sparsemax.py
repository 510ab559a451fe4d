"""The nearest point of the simplex where entries are infinite or no number, as TensorFlow 1.15 has it."""

import numpy as np
import pytest

from ebbflow.tf1.sparsemax import sparsemax, sparsemax_loss

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    "row, wanted",
    [
        ([0, -INF, 0], [0.5, 0, 0.5]),
        ([0, -INF, -INF], [1, 0, 0]),
        ([-INF, -INF, -INF], [NAN] * 3),
        ([0, INF, 0], [NAN] * 3),
        ([0, NAN, 0], [NAN] * 3),
        ([1.0, 2.0, 2.5], [0, 0.25, 0.75]),
    ],
)
def test_rows(row, wanted):
    np.testing.assert_allclose(sparsemax(np.float32([row])).numpy(), [wanted])


def test_losses():
    logits = np.float32([[0, -INF, 0], [0, NAN, 0], [1, 2, 2.5]])
    losses = sparsemax_loss(logits, sparsemax(logits), np.float32([[1, 0, 0], [1, 0, 0], [0, 0, 1]])).numpy()
    assert np.isnan(losses[1])
    np.testing.assert_allclose(losses[[0, 2]], [0.25, 0.0625])
