"""Names of what a model is run for: training, evaluation, prediction; Keras's, and the ones estimators use."""

from __future__ import annotations


class KerasModeKeys:
    """What a Keras model is run for."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


class EstimatorModeKeys:
    """What an estimator's model is built for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


def is_predict(mode: str) -> bool:
    """Return whether a mode is prediction, by either name."""
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


def is_eval(mode: str) -> bool:
    """Return whether a mode is evaluation, by either name."""
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_train(mode: str) -> bool:
    """Return whether a mode is training."""
    return mode == KerasModeKeys.TRAIN
