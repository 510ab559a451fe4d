"""Models go into files and come back: .keras, .h5, weights, checkpoints, SavedModels; what callbacks write."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.savedmodel.reading import parse_saved_model

X = np.random.RandomState(0).normal(size=(16, 4)).astype("float32")
Y = X.sum(axis=1, keepdims=True)


def trained(keras):
    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(5, activation="tanh"),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", keras.losses.MeanSquaredError())
    model.fit(X, Y, epochs=2, verbose=0)
    return model


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_whole_models(keras, tmp_path, ending):
    model = trained(keras)
    model.save(tmp_path / f"model.{ending}")
    again = keras.models.load_model(tmp_path / f"model.{ending}")
    np.testing.assert_array_equal(again.predict(X, verbose=0), model.predict(X, verbose=0))
    assert int(again.optimizer.iterations) == int(model.optimizer.iterations) == 2
    assert again.evaluate(X, Y, verbose=0) == pytest.approx(model.evaluate(X, Y, verbose=0))


def test_weights(keras, tmp_path):
    model = trained(keras)
    model.save_weights(tmp_path / "model.weights.h5")
    other = keras.models.clone_model(model)
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other(X), model(X))


def test_checkpoints_of_models_and_optimizers(keras, tmp_path):
    model = trained(keras)
    path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(tmp_path / "ckpt")
    other = trained(keras)
    other.fit(X, Y, epochs=1, verbose=0)
    tf.train.Checkpoint(model=other, optimizer=other.optimizer).restore(path).assert_consumed()
    np.testing.assert_array_equal(other(X), model(X))
    assert int(other.optimizer.iterations) == 2
    for ours, theirs in zip(other.optimizer.variables, model.optimizer.variables, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_export(keras, tmp_path):
    model = trained(keras)
    model.export(tmp_path / "exported", verbose=False)
    served = tf.saved_model.load(str(tmp_path / "exported"))
    np.testing.assert_allclose(served.serve(X), model.predict(X, verbose=0), rtol=1e-6)


def test_exported_variables_are_variables_to_tensorflow_as_well(keras, tmp_path):
    """TensorFlow cannot load objects of another kind that say how they are saved: it calls what they say otherwise."""
    model = trained(keras)
    model.export(tmp_path / "exported", verbose=False)
    tf.saved_model.save(model, str(tmp_path / "saved"))
    for name in ("exported", "saved"):
        nodes = parse_saved_model(str(tmp_path / name)).meta_graphs[0].object_graph_def.nodes
        assert not any(node.saveable_objects for node in nodes)
        names = [node.variable.name for node in nodes if node.WhichOneof("kind") == "variable"]
        assert {v.path for v in model.weights} <= set(names)
    loaded = tf.saved_model.load(str(tmp_path / "exported"))
    assert {v.name for v in loaded.variables} == {f"{v.path}:0" for v in model.weights}


def test_a_broken_file_is_an_error_of_its_own(keras, tmp_path):
    model = trained(keras)
    model.save(tmp_path / "whole.keras")
    whole = (tmp_path / "whole.keras").read_bytes()
    (tmp_path / "broken.keras").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"File not found|not a (valid|zip)|accessible"):
        keras.models.load_model(tmp_path / "broken.keras")


def test_callbacks(keras, tmp_path):
    model = trained(keras)
    seen = []
    callbacks = [
        keras.callbacks.ModelCheckpoint(tmp_path / "best.keras", save_best_only=True, monitor="loss"),
        keras.callbacks.CSVLogger(tmp_path / "log.csv"),
        keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=1),
        keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch)),
        keras.callbacks.EarlyStopping(monitor="loss", patience=0, min_delta=1e9),
    ]
    history = model.fit(X, Y, batch_size=8, epochs=5, verbose=0, callbacks=callbacks).history
    assert seen == [0, 1, 0, 1] and len(history["loss"]) == 2
    assert (tmp_path / "best.keras").exists() and len((tmp_path / "log.csv").read_text().split()) == 3


def test_the_tensorboard_callback_writes_events(keras, tmp_path):
    model = trained(keras)
    board = keras.callbacks.TensorBoard(tmp_path, histogram_freq=1, update_freq=1, write_graph=True)
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0, callbacks=[board], validation_data=(X, Y))
    tags = set()
    for file in tmp_path.rglob("events.out.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(file)):
            tags |= {value.tag for value in event.summary.value}
    assert {"epoch_loss", "batch_loss", "evaluation_loss_vs_iterations"} <= tags
    assert any("histogram" in tag or "kernel" in tag for tag in tags), tags
