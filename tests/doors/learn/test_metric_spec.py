"""Metrics of `tf.contrib.learn`: which argument is which, and what is refused before a metric is computed."""

import pytest

from ebbflow.doors.learn.metric_spec import MetricSpec

FEATURES, LABELS, PREDICTIONS = {"f": 1, "w": 2}, {"l": 3, "m": 4}, {"p": 5, "q": 6}
KEYS = {"prediction_key": "p", "label_key": "l", "weight_key": "w"}


@pytest.mark.parametrize(
    "metric",
    [
        lambda predictions, labels, weights=None: (predictions, labels, weights),
        lambda target, prediction, weight=None: (prediction, target, weight),
        lambda labels, scores, weights=None: (scores, labels, weights),
    ],
)
def test_arguments_are_known_by_name(metric):
    assert MetricSpec(metric, **KEYS).create_metric_ops(FEATURES, LABELS, PREDICTIONS) == (5, 3, 2)


def test_a_metric_of_predictions_alone():
    assert MetricSpec(lambda p: p).create_metric_ops({}, 3, {"only": 5}) == 5
    with pytest.raises(TypeError, match="no argument for predictions"):
        MetricSpec(lambda labels: labels).create_metric_ops({}, 3, 5)


@pytest.mark.parametrize(
    ("metric", "keys", "says"),
    [
        (lambda predictions: 0, {"label_key": "l"}, r"label.*missing"),
        (lambda predictions, labels: 0, {"weight_key": "w"}, r"weight.*missing"),
        (lambda predictions, labels, target: 0, {}, r"provide only one of.*label"),
    ],
)
def test_metrics_that_do_not_fit_their_keys(metric, keys, says):
    with pytest.raises(ValueError, match=says):
        MetricSpec(metric, **keys)


@pytest.mark.parametrize(
    ("labels", "keys", "says"),
    [
        (LABELS, {}, "without specified label_key requires labels tensor"),
        (3, {"label_key": "l"}, "with label_key specified requires labels dict"),
        (LABELS, {"label_key": "n"}, "'n'.*missing"),
    ],
)
def test_values_that_do_not_fit_their_keys(labels, keys, says):
    spec = MetricSpec(lambda predictions, labels: 0, **keys)
    assert "<lambda>" in str(spec)
    with pytest.raises((ValueError, KeyError), match=says):
        spec.create_metric_ops(FEATURES, labels, 5)
