"""Names of what a model is run for: training, evaluation, prediction; Keras's, and the ones estimators use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


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


class ModeKeyMap(Mapping[str, Any]):
    """A value for each mode, found by either name; keys are Keras's names, and nothing changes it.

    >>> ModeKeyMap(eval=1)["test"]
    1
    """

    def __init__(self, **modes: Any) -> None:
        self._values: dict[str, Any] = {}
        for mode, value in modes.items():
            name = self._name(mode)
            if name in self._values:
                raise ValueError(f"Multiple keys/values found for mode {mode!r}: {self._values[name]} and {value}")
            self._values[name] = value

    def _name(self, mode: str) -> str:
        if is_predict(mode):
            return KerasModeKeys.PREDICT
        if is_eval(mode):
            return KerasModeKeys.TEST
        if is_train(mode):
            return KerasModeKeys.TRAIN
        raise ValueError(f"Invalid mode: {mode!r} is none of train, test (eval) and predict (infer)")

    def __getitem__(self, mode: str) -> Any:
        return self._values[self._name(mode)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
