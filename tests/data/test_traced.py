"""Datasets that are made by the same lines over other arrays share traces; nobody can tell but by the time it takes."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data import traced
from ebbflow.platform import config


@pytest.fixture(autouse=True)
def nothing_remembered():
    traced.forget()
    yield
    traced.forget()


def doubled(array, factor=2):
    return tf.data.Dataset.from_tensor_slices(array).map(lambda x: x * factor)


def values(dataset):
    return [x.tolist() for x in dataset.as_numpy_iterator()]


def test_a_second_dataset_of_the_same_form_has_the_first_ones_body():
    assert values(doubled(np.arange(3.0))) == [0.0, 2.0, 4.0]
    assert len(traced._remembered) == 1
    assert values(doubled(np.arange(3.0, 6.0))) == [6.0, 8.0, 10.0]
    assert len(traced._remembered) == 1


def test_other_closures_types_and_shapes_are_traced_anew():
    assert values(doubled(np.arange(3.0), 3)) == [0.0, 3.0, 6.0]
    assert values(doubled(np.arange(3.0), 2)) == [0.0, 2.0, 4.0]
    assert values(doubled(np.arange(3), 2)) == [0, 2, 4]
    assert values(doubled(np.ones((2, 2)), 2)) == [[2.0, 2.0], [2.0, 2.0]]
    assert len(traced._remembered) == 4


def test_effects_in_python_are_seen_each_time():
    seen = []

    def noted(x):
        seen.append(x.dtype)
        return x

    for _ in range(3):
        tf.data.Dataset.range(2).map(noted)
    assert len(seen) == 3


def test_randomness_state_and_captures_are_not_shared():
    table = tf.constant([5, 6, 7], tf.int64)
    variable = tf.Variable(10, dtype=tf.int64)

    def make(which):
        return tf.data.Dataset.range(3).map(which)

    for function in (
        lambda x: tf.random.uniform([], seed=3),
        lambda x: tf.random.stateless_uniform([], [1, 2]),
        lambda x: tf.gather(table, x),
        lambda x: x + variable,
        lambda x: tf.numpy_function(lambda v: v, [x], tf.int64),
    ):
        make(function), make(function)
    assert not traced._remembered


def test_functions_that_draw_by_chance_are_shared_and_draw_anew(monkeypatch):
    def drawn():
        return tf.data.Dataset.range(40).map(lambda x: tf.random.uniform([], 0, 1 << 30, tf.int32))

    tf.random.set_seed(None)
    one, other = drawn(), drawn()
    assert len(traced._remembered) == 1
    found = [values(one), values(one), values(other), values(tf.data.Dataset.zip((one, other)).map(lambda a, b: a - b))]
    assert len({tuple(v) for v in found}) == 4
    assert any(found[-1])  # two stages of one iteration draw apart
    tf.random.set_seed(5)
    seeded = [values(drawn()) for _ in range(2)]
    tf.random.set_seed(5)
    assert seeded == [values(drawn()) for _ in range(2)]
    assert len(traced._remembered) == 2  # the difference's, too, but none that reads seeds
    tf.random.set_seed(None)
    assert values(drawn()) not in (*found, *seeded)
    monkeypatch.setattr(config.wishes, "seeds_needed", True)
    with pytest.raises(RuntimeError, match="require a seed"):
        drawn()


def test_datasets_in_random_order_inside_of_functions_are_not_shared():
    tf.random.set_seed(None)  # a test before may have left one
    first, second = [
        values(tf.data.Dataset.range(1).flat_map(lambda x: tf.data.Dataset.range(50).shuffle(50))) for _ in range(2)
    ]
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert not traced._remembered


def test_debugging_runs_each_ones_own_function():
    class Owner:
        factor = 2

        def __init__(self):
            self.seen = []

        def dataset(self):
            def times(x):
                return x * self.factor

            return tf.data.Dataset.range(2).map(times)

    one, other = Owner(), Owner()
    assert values(one.dataset()) == values(other.dataset()) == [0, 2]
    assert len(traced._remembered) == 1
    dataset = other.dataset()
    other.factor = 5
    assert values(dataset.debug()) == [0, 5]  # debug runs the function as Python, now
    assert values(dataset) == [0, 2]


def test_what_is_remembered_holds_nothing_of_the_program():
    class Owner:
        def __init__(self, array):
            self.array, self.factor = array, 2

        def dataset(self):
            return tf.data.Dataset.from_tensor_slices(self.array).map(lambda x: x * self.factor)

    owner = Owner(np.arange(3.0))
    gone = weakref.ref(owner)
    assert values(owner.dataset()) == [0.0, 2.0, 4.0]
    assert traced._remembered
    del owner
    gc.collect()
    assert gone() is None


def test_as_many_as_there_is_room_for_are_remembered():
    for factor in range(traced.REMEMBERED + 10):
        doubled(np.arange(3.0), factor)
    assert len(traced._remembered) == traced.REMEMBERED
    assert values(doubled(np.arange(3.0), 0)) == [0.0, 0.0, 0.0]


def test_settings_of_a_dataset_are_what_was_set():
    options = tf.data.Options()
    assert options.experimental_optimization.map_fusion is None
    assert options == tf.data.Options()
    options.experimental_optimization.map_fusion = False
    options.deterministic = True
    assert options.set_values() == {"experimental_optimization.map_fusion": False, "deterministic": True}
    merged = tf.data.Options().merge(options)
    assert merged == options and hash(merged) == hash(options)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        options.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="Cannot set the property nothing"):
        options.nothing = 1
