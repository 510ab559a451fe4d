"""Feeders of arrays and iterators: what they feed under which placeholders, and when they end."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1.data_feeder import (
    DataFeeder,
    StreamingDataFeeder,
    setup_predict_data_feeder,
    setup_train_data_feeder,
)

X, Y = np.array([[1, 2], [3, 4], [5, 6]], np.int16), np.array([0, 2, 1])


def fed(feeder, times=1):
    with tf.Graph().as_default():
        x, y = feeder.input_builder()
        epoch = feeder.make_epoch_variable()
        found = [feeder.get_feed_dict_fn()() for _ in range(times)]
    name = lambda p, f: {k: f[v.name].tolist() for k, v in p.items()} if isinstance(p, dict) else f[p.name].tolist()
    return [(name(x, f), None if y is None else name(y, f), f[epoch.name]) for f in found]


def test_rows_in_their_order_and_epochs():
    feeder = DataFeeder(X, Y, n_classes=0, batch_size=2, shuffle=False, epochs=1)
    assert fed(feeder, 2) == [([[1, 2], [3, 4]], [0, 2], [0]), ([[5, 6]], [1], [0])]
    with pytest.raises(StopIteration):
        feeder.get_feed_dict_fn()()
    assert feeder.input_dtype == np.int16


def test_each_epoch_has_every_row_once():
    told = fed(DataFeeder(X, None, n_classes=0, batch_size=1), 6)
    assert [epoch for _, _, epoch in told] == [[0], [0], [0], [1], [1], [1]]
    assert sorted(x[0] for x, _, _ in told[3:]) == X.tolist()


def test_classes_become_rows_of_zeros_and_ones():
    ((x, y, _),) = fed(DataFeeder({"a": X}, {"b": Y}, n_classes={"b": 3}, shuffle=False))
    assert x == {"a": X.tolist()}
    assert y == {"b": np.eye(3)[Y].tolist()}
    with pytest.raises(ValueError, match=r"labels must be in \[0, 2\)"):
        fed(DataFeeder(X, Y, n_classes=2))


def test_iterators_are_fed_until_they_end():
    feeder = setup_train_data_feeder(iter(X), iter(Y), n_classes=0, batch_size=2)
    assert isinstance(feeder, StreamingDataFeeder)
    assert [x for x, _, _ in fed(feeder, 2)] == [[[1, 2], [3, 4]], [[5, 6]]]
    with pytest.raises(StopIteration):
        feeder.get_feed_dict_fn()()


def test_batches_for_prediction():
    assert [b.tolist() for b in setup_predict_data_feeder(X, 2)] == [[[1, 2], [3, 4]], [[5, 6]]]
    assert [b["a"].tolist() for b in setup_predict_data_feeder(iter([{"a": 1}, {"a": 2}, {"a": 3}]), 2)] == [
        [1, 2],
        [3],
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"x": X, "y": Y[:2], "n_classes": 0}, ValueError, "same number of rows"),
        ({"x": X, "y": Y, "n_classes": 0, "batch_size": 0}, ValueError, "batch_size must be positive"),
        ({"x": [[{}]], "y": None, "n_classes": 0}, TypeError, "Cannot convert"),
        ({"x": X, "y": {"b": Y}, "n_classes": 0}, ValueError, "n_classes must be a dictionary"),
    ],
)
def test_what_cannot_be_fed(arguments, error, says):
    with pytest.raises(error, match=says):
        DataFeeder(**arguments)
