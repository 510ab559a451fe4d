"""What an `Experiment` asks of its Estimator, and when: with Estimators that only write down what they are asked."""

import os
import time

import pytest

from tests.machine import KERAS_2


class Core:
    """An Estimator as those of `tf.estimator`; its every evaluation is ten steps on."""

    config = type("Config", (), {"task_id": 3, "cluster_spec": None, "master": ""})()

    def __init__(self, where):
        self.model_dir, self.asked, self.step = str(where), [], 0
        open(os.path.join(self.model_dir, "model-0.index"), "w").close()
        with open(os.path.join(self.model_dir, "checkpoint"), "w") as file:
            file.write('model_checkpoint_path: "model-0"\n')

    def train(self, **asked):
        self.asked.append(("train", asked.get("steps"), asked.get("max_steps"), len(asked["hooks"])))

    def evaluate(self, **asked):
        self.asked.append(("evaluate", asked["steps"], asked["name"]))
        self.step += 10
        return {"global_step": self.step}

    def export_savedmodel(self, base, serving_input_fn, **asked):
        os.makedirs(os.path.join(base, "1"), exist_ok=True)
        self.asked.append(("export", os.path.basename(base)))
        return base


class Early(Core):
    def fit(self, monitors, **asked):
        return super().train(hooks=monitors, **asked)


def made(estimator, **said):
    from ebbflow.doors.learn.experiment import Experiment

    return Experiment(estimator, "train", "eval", **said)


@pytest.fixture
def slept(monkeypatch):
    told = []
    monkeypatch.setattr(time, "sleep", told.append)
    monkeypatch.setattr(time, "time", lambda: sum(told))
    return told


@KERAS_2
@pytest.mark.parametrize("kind", [Core, Early])
def test_schedules(kind, tmp_path, slept):
    from ebbflow.doors.learn.experiment import make_export_strategy

    estimator = kind(tmp_path)
    experiment = made(estimator, train_steps=25, eval_steps=2, export_strategies=make_export_strategy("serve"))
    experiment.train()
    experiment.evaluate(delay_secs=7)
    assert slept == [15, 7]
    assert estimator.asked == [("train", None, 25, 0), ("evaluate", 2, None)]
    estimator.asked.clear()
    assert experiment.train_and_evaluate()[0] == {"global_step": 20}
    assert estimator.asked == [("train", None, 25, 1), ("evaluate", 2, None), ("export", "Servo")]
    estimator.asked.clear()
    estimator.step = 0
    assert experiment.continuous_train_and_eval()[0] == {"global_step": 30}
    assert estimator.asked == [("train", 2, None, 0), ("evaluate", 2, None)] * 3 + [("export", "Servo")]


@KERAS_2
def test_evaluation_goes_on_until_the_model_is_trained(tmp_path, slept):
    experiment = made(Core(tmp_path), train_steps=30, eval_delay_secs=5)
    experiment.continuous_eval(evaluate_checkpoint_only_once=False)
    assert experiment.estimator.step == 30 and slept == [5, 60, 60, 60]
    calls = []
    experiment = made(Core(tmp_path), eval_delay_secs=0, continuous_eval_throttle_secs=0)
    experiment.continuous_eval(
        continuous_eval_predicate_fn=lambda told, path: calls.append((told, path)) or len(calls) < 4
    )
    assert [told is None and path is None for told, path in calls] == [True, False, True, True]  # no checkpoint twice
    assert experiment.reset_export_strategies() == []


@KERAS_2
@pytest.mark.parametrize(
    ("kind", "said", "says"),
    [
        (Core, {"eval_metrics": {}}, "`eval_metrics` must be `None`"),
        (Early, {"saving_listeners": []}, "`saving_listeners` must be `None`"),
        (Core, {"train_steps_per_iteration": "1"}, "must be an integer"),
        (Core, {"export_strategies": "once"}, "must be an ExportStrategy"),
    ],
)
def test_what_cannot_be_is_refused(kind, said, says, tmp_path):
    with pytest.raises(ValueError, match=says):
        made(kind(tmp_path), **said)


@KERAS_2
def test_a_task_without_a_cluster_has_no_server(tmp_path):
    with pytest.raises(ValueError, match="Could not start server"):
        made(Core(tmp_path)).run_std_server()
