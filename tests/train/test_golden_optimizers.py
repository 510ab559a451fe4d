"""Optimizers, moving averages, learning rates and clipping take the very steps TensorFlow takes.

Recorded in TensorFlow 1.15 and 2.21 (tests/golden/programs/optimizers.py and schedules.py): the variable and every slot
after each of twenty steps, with dense and sparse gradients, ref and resource variables, in graphs and eagerly.
"""

import numpy as np
import pytest

from tests.golden.programs import replay

RELATIVE = 1e-6  # of the largest value a column takes: TensorFlow's own kernels differ by 2e-7 among themselves


def assert_same_path(given, expected):
    assert sorted(given["columns"]) == sorted(expected["columns"])
    assert given["steps"] == expected["steps"]
    for column, wanted in expected["columns"].items():
        got = np.asarray(given["columns"][column], wanted.dtype)
        scale = np.abs(wanted).max(initial=0.0)
        np.testing.assert_allclose(got, wanted, rtol=RELATIVE, atol=RELATIVE * scale, err_msg=column)


@pytest.mark.parametrize("judge, name", replay.cases("optimizers"))
def test_trajectory(judge, name):
    expected, given = replay.outcome("optimizers", judge, name)
    assert_same_path(given, expected)


@pytest.mark.parametrize("judge, name", replay.cases("schedules"))
def test_schedule(judge, name):
    expected, given = replay.outcome("schedules", judge, name)
    replay.assert_alike(given, expected, RELATIVE)


def test_the_comparison_sees_a_step_that_is_off_by_a_hundred_thousandth():
    expected = replay.recorded("optimizers", "1.15")["adam-dense-float32-ref"]
    columns = {name: rows.astype(np.float64) for name, rows in expected["columns"].items()}
    columns["w"][-1, 0] *= 1 + 1e-5
    with pytest.raises(AssertionError):
        assert_same_path({"columns": columns, "steps": expected["steps"]}, expected)
