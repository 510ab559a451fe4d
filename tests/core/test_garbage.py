"""Looking for garbage less often: for as long as a block lasts, and only where Python looks at all."""

from __future__ import annotations

import gc

import pytest

import ebbflow as tf
from ebbflow.core import garbage


@pytest.fixture(autouse=True)
def usual():
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_thresholds_are_as_before_behind_the_last_block():
    with garbage.seldom():
        assert gc.get_threshold() == (garbage.OBJECTS, 10, 10)
        with garbage.seldom():
            pass
        assert gc.get_threshold() == (garbage.OBJECTS, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_an_error_ends_the_block_too():
    with pytest.raises(ZeroDivisionError), garbage.seldom():
        1 / 0  # noqa: B018
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("chosen", [(0, 10, 10), (10**6, 5, 5)])
def test_who_looks_never_or_more_seldom_is_left_alone(chosen):
    gc.set_threshold(*chosen)
    with garbage.seldom():
        assert gc.get_threshold() == chosen
    assert gc.get_threshold() == chosen


def test_what_a_program_chooses_meanwhile_stays():
    with garbage.seldom():
        gc.set_threshold(123, 4, 5)
    assert gc.get_threshold() == (123, 4, 5)


def test_a_function_is_traced_with_few_looks():
    seen = []

    @tf.function
    def traced(x):
        seen.append(gc.get_threshold()[0])
        return x + 1

    assert int(traced(tf.constant(1))) == 2
    assert seen == [garbage.OBJECTS] and gc.get_threshold() == (700, 10, 10)
