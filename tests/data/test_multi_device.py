"""Iterators that deal the elements of a dataset to several devices, eagerly, in functions and in graphs."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.data.multi_device import MultiDeviceIterator, OwnedMultiDeviceIterator

DEVICES = ["/cpu:0", "/job:localhost/replica:0/task:0/device:CPU:0"]


@pytest.mark.parametrize("kind", [MultiDeviceIterator, OwnedMultiDeviceIterator])
@pytest.mark.parametrize("ahead", [0, 4])
def test_each_device_has_its_turn(kind, ahead):
    dealt = kind(tf.data.Dataset.range(5), DEVICES, prefetch_buffer_size=ahead)
    assert [int(x) for x in dealt.get_next()] == [0, 1]
    assert [int(dealt.get_next(DEVICES[1])) for _ in range(1)] == [3]
    first, second = dealt.get_next_as_optional()
    assert int(first.get_value()) == 2 and not bool(second.has_value())
    assert int(dealt.get_next(DEVICES[0])) == 4
    with pytest.raises(tf.errors.OutOfRangeError):
        dealt.get_next()


def test_random_elements_are_dealt_once():
    dealt = OwnedMultiDeviceIterator(tf.data.Dataset.range(8).shuffle(8), DEVICES)
    assert sorted(int(x) for pair in dealt for x in pair) == list(range(8))


def test_in_functions():
    traces = []

    @tf.function
    def total(dealt):
        traces.append(1)
        one, two = next(dealt)
        return one * 10 + two

    @tf.function
    def inside():
        dealt = OwnedMultiDeviceIterator(tf.data.Dataset.range(4), DEVICES)
        next(dealt)
        return next(dealt)

    for _ in range(2):
        dealt = OwnedMultiDeviceIterator(tf.data.Dataset.range(4), DEVICES)
        assert [int(total(dealt)), int(total(dealt))] == [1, 23]
    assert len(traces) == 1
    assert [int(x) for x in inside()] == [2, 3]


def test_in_graphs():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dealt = MultiDeviceIterator(tf.data.Dataset.range(4), DEVICES)
        both = dealt.get_next()
        for _ in range(2):
            session.run(dealt.initializer)
            assert [session.run(both), session.run(both)] == [[0, 1], [2, 3]]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(both)
        with pytest.raises(RuntimeError, match=r"only supported inside of tf\.function"):
            OwnedMultiDeviceIterator(tf.data.Dataset.range(4), DEVICES)


@pytest.mark.parametrize("given, says", [
    ({"dataset": tf.data.Dataset.range(1)}, "`devices` must be provided"),
    ({"devices": DEVICES}, "both `components` and `element_spec`"),
    ({"dataset": tf.data.Dataset.range(1), "devices": DEVICES, "components": []}, "must not be specified"),
    ({"dataset": tf.data.Dataset.range(1), "devices": []}, "less than minimum 1"),
])  # fmt: skip
def test_refusals(given, says):
    with pytest.raises(ValueError, match=says):
        OwnedMultiDeviceIterator(**given)
