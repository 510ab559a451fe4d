"""`tf.layers` gives TensorFlow 1.15's numbers, in a graph and eagerly (tests/golden/programs/layers.py)."""

import pytest

from tests.golden.programs import replay

RELATIVE = 1e-5  # sums over a window or a batch, in another order than TensorFlow's


@pytest.mark.parametrize("judge, name", replay.cases("layers"))
def test_in_a_graph(judge, name):
    expected, given = replay.outcome("layers", judge, name)
    replay.assert_alike(given, expected, RELATIVE)


@pytest.mark.parametrize("judge, name", replay.cases("layers_eager"))
def test_eagerly(judge, name):
    expected, given = replay.outcome("layers_eager", judge, name)
    facts = {key: value for key, value in expected["facts"].items() if key != "updates"}  # made at once, not collected
    replay.assert_alike(given, dict(expected, facts=facts), RELATIVE)
