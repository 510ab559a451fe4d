"""Keras's `predict` on one batch goes without a dataset, and nobody can tell: it is compared with Keras's own way."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.doors import alias, keras_predict

keras = tf.keras
ROWS = np.random.RandomState(0).rand(5, 4).astype(np.float32)


@pytest.fixture
def datasets(monkeypatch):
    """Return a list that grows with every dataset that Keras makes for a model."""
    model = dense()
    for _ in range(2):
        model.predict(ROWS, verbose=0)  # looks whether it is a Keras that it knows
    made = []
    usual = sys.modules[alias.TRAINER].TFEpochIterator.__init__

    def begin(self, *args, **kwargs):
        made.append(self)
        usual(self, *args, **kwargs)

    monkeypatch.setattr(sys.modules[alias.TRAINER].TFEpochIterator, "__init__", begin)
    return made


def whole(model, *args, **kwargs):
    return type(model).predict.__wrapped__(model, *args, **kwargs)


def dense(**how):
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(3, activation="softmax"), keras.layers.Dropout(0.5)]
    )
    model.compile("sgd", "mse", **how)
    return model


def several():
    x = keras.Input((4,))
    return keras.Model(x, {"b": keras.layers.Dense(2)(x), "a": [keras.layers.Dense(1)(x), x]})


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)
        self.steps = []

    def call(self, x, training=None):
        return self.dense(tf.cast(x, tf.float32)) * (2.0 if training else 1.0)

    def predict_step(self, data):
        self.steps.append(data)
        return super().predict_step(data) + 1.0


MODELS = {
    "sequential": dense,
    "functional": several,
    "of one's own": Own,
    "eager": lambda: dense(run_eagerly=True),
    "several steps at once": lambda: dense(steps_per_execution=3),
    "compiled by XLA": lambda: dense(jit_compile=True),
}


def equal(found, expected):
    tf.nest.assert_same_structure(found, expected)
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        assert (type(one), one.dtype, one.flags.writeable) == (type(other), other.dtype, other.flags.writeable)
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_models_predict_alike(name, datasets):
    model = MODELS[name]()
    expected = model.predict(ROWS, verbose=0)
    assert len(datasets) == 1  # the first call is Keras's own
    equal(model.predict(ROWS, verbose=0), expected)
    equal(model.predict(ROWS[:1], 1, 0), whole(model, ROWS[:1], verbose=0))
    assert len(datasets) == 2
    assert model.stop_predicting is False


SHORT = {
    "an array": ROWS,
    "a tensor": tf.constant(ROWS),
    "integers": np.arange(8).reshape(2, 4),
    "truths": np.ones([2, 4], bool),
    "rows with gaps": np.repeat(ROWS, 2, axis=1)[:, ::2],
}
LONG = {
    "numbers of another float": ROWS.astype(np.float64),
    "numbers of the other byte order": ROWS.astype(">f4"),
    "a list": [ROWS],
    "more rows than a batch has": np.repeat(ROWS, 10, axis=0),
    "a dataset": tf.data.Dataset.from_tensors(ROWS),
    "a subclass": np.ma.masked_array(ROWS),
}


@pytest.mark.parametrize("rows", [*SHORT, *LONG])
def test_rows_of_any_kind(rows, datasets):
    model, given = Own(), {**SHORT, **LONG}[rows]
    given = given[0] if rows == "a list" else given
    expected = model.predict(given, verbose=0)
    del datasets[:]
    equal(model.predict(given, verbose=0), expected)
    assert bool(datasets) == (rows in LONG and rows != "a list")


@pytest.mark.parametrize(
    "how", [{"verbose": 1}, {"steps": 1}, {"callbacks": []}, {"batch_size": 2}, {"verbose": False}]
)
def test_calls_with_more_to_do_are_kerass_own(how, datasets, capsys):
    model = dense()
    expected = model.predict(ROWS, verbose=0)
    del datasets[:]
    equal(model.predict(ROWS, **{"verbose": 0, **how}), expected)
    assert len(datasets) == 1
    assert bool(capsys.readouterr().out) == ("verbose" in how and how["verbose"] is not False)


def test_a_callback_is_told(datasets):
    told = []

    class Told(keras.callbacks.Callback):
        def on_predict_batch_end(self, batch, logs=None):
            told.append((batch, logs["outputs"].shape))

    model = dense()
    for _ in range(2):
        model.predict(ROWS, verbose=0, callbacks=[Told()])
    assert told == [(0, (5, 3))] * 2


@pytest.mark.parametrize("rows", [np.ones([2, 7], np.float32), np.float32(1.0), np.ones([0, 4], np.float32)], ids=str)
def test_errors_are_the_same(rows):
    model, said = dense(), []
    model.predict(ROWS, verbose=0)
    for predict in (model.predict, lambda *a, **k: whole(model, *a, **k)):
        with pytest.raises(Exception) as error:
            predict(np.asarray(rows), verbose=0)
        said.append((type(error.value), str(error.value).splitlines()[0]))
    assert said[0] == said[1]


def test_a_tape_and_a_limit_and_a_strategy_are_minded(datasets):
    model = dense()
    model.predict(ROWS, verbose=0)
    del datasets[:]
    with tf.GradientTape():
        model.predict(ROWS, verbose=0)
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        model.predict(ROWS, verbose=0)
    assert len(datasets) == 2


def test_a_function_that_a_program_sets_is_called_as_keras_would():
    model = dense()
    model.predict(ROWS, verbose=0)
    given = []
    model.predict_function = lambda data: given.append(data) or tf.constant([[len(data) * 1.0]])
    assert model.predict(ROWS, verbose=0).tolist() == [[1.0]] == whole(model, ROWS, verbose=0).tolist()
    assert [type(data) for data in given] == [list, list]
    np.testing.assert_array_equal(given[0][0], given[1][0])


def test_another_keras_is_left_alone():
    trainer = sys.modules[alias.TRAINER]
    assert keras_predict._digest(trainer, trainer.TensorFlowTrainer.predict) in keras_predict.READ
    assert keras_predict._digest(trainer, trainer.TensorFlowTrainer.fit) not in keras_predict.READ
