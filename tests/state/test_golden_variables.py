"""Variables behave as TensorFlow's: assigning, scattering, initializing, sharing by scope, partitioning.

Recorded in TensorFlow 1.15 and 2.21 (tests/golden/programs/variables*.py): values, names and truths, also those of the
seeded initializers, whose numbers are TensorFlow's own.
"""

import pytest

from tests.golden.programs import replay


@pytest.mark.parametrize("judge, name", replay.cases("variables"))
def test_behaviour(judge, name):
    expected, given = replay.outcome("variables", judge, name)
    replay.assert_alike(given, expected)
