"""What can be trained and evaluated: classes that say how, and contrib's estimators."""

import importlib

import pytest

from ebbflow.tf1.learn_roles import Evaluable, Trainable
from tests.machine import KERAS_2


def test_a_role_must_be_played():
    class Silent(Trainable, Evaluable):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Silent()

    class Model(Trainable, Evaluable):
        model_dir = None

        def fit(self, **data):
            return self

        def evaluate(self, **data):
            return {}

    assert Model().fit().evaluate() == {}


@KERAS_2
def test_estimators_play_both():
    estimator = importlib.import_module("ebbflow.doors.learn.estimator")
    assert issubclass(estimator.Estimator, Evaluable) and issubclass(estimator.BaseEstimator, Trainable)
