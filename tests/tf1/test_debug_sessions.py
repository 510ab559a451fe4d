"""tfdbg's names: imported by programs that hardly ever use them."""

import numpy as np
import pytest

from ebbflow import v1 as tf
from ebbflow.tf1 import debug_sessions


@pytest.mark.parametrize(
    ("value", "bad"),
    [
        (np.array([1.0, np.nan]), True),
        (np.float32(np.inf), True),
        (np.ones(3), False),
        (np.array(["a"]), False),
        (None, False),
    ],
)
def test_bad_numbers_are_found(value, bad):
    assert debug_sessions.has_inf_or_nan(None, value) is bad


def test_the_debugger_says_what_to_use():
    assert tf.python.debug.has_inf_or_nan is debug_sessions.has_inf_or_nan
    with pytest.raises(NotImplementedError, match=r"LocalCLIDebugWrapperSession: .*add_check_numerics_ops"):
        tf.python.debug.LocalCLIDebugWrapperSession(None)
