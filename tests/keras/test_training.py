"""Models of each kind are built, trained and asked, as Keras does it."""

import numpy as np
import pytest

import ebbflow as tf


def two_heaps(count=64):
    """Points on both sides of a line, and the side each is on."""
    x = np.random.RandomState(0).normal(size=(count, 5)).astype("float32")
    return x, (x.sum(axis=1) > 0).astype("int32")


def sequential(keras):
    return keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2, activation="softmax")])


def functional(keras):
    inputs = keras.Input((5,))
    hidden = keras.layers.Dense(8, activation="relu")(inputs)
    return keras.Model(inputs, keras.layers.Dense(2, activation="softmax")(hidden))


def subclassed(keras):
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = keras.layers.Dense(8, activation="relu")
            self.top = keras.layers.Dense(2, activation="softmax")

        def call(self, x, training=False):
            return self.top(self.hidden(x))

    return Net()


@pytest.mark.parametrize("build", [sequential, functional, subclassed])
def test_fit_evaluate_predict(keras, build):
    x, y = two_heaps()
    model = build(keras)
    model.compile(keras.optimizers.Adam(0.05), "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(x, y, epochs=8, batch_size=16, verbose=0, validation_data=(x, y)).history
    assert history["loss"][-1] < history["loss"][0] / 2
    loss, accuracy = model.evaluate(x, y, verbose=0)
    assert loss == pytest.approx(history["val_loss"][-1], rel=1e-4) and accuracy > 0.85
    assert np.mean(model.predict(x, verbose=0).argmax(1) == y) == pytest.approx(accuracy)


@pytest.mark.parametrize("settings", [{"jit_compile": True}, {"run_eagerly": True}, {"steps_per_execution": 3}])
def test_ways_to_run_a_step_give_the_same(keras, settings):
    x, y = two_heaps()
    losses = []
    for extra in ({}, settings):
        keras.utils.set_random_seed(1)
        model = functional(keras)
        model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy", **extra)
        losses.append(model.fit(x, y, epochs=2, batch_size=16, verbose=0, shuffle=False).history["loss"])
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)


def test_a_loop_of_ones_own(keras):
    x, y = two_heaps()
    model, optimizer = functional(keras), keras.optimizers.RMSprop(0.01)
    loss_fn = keras.losses.SparseCategoricalCrossentropy()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss

    losses = [float(step(tf.constant(x), tf.constant(y))) for _ in range(20)]
    assert losses[-1] < losses[0] * 0.8
    assert int(optimizer.iterations) == 20


def test_fit_on_a_dataset(keras):
    dataset = tf.data.Dataset.from_tensor_slices(two_heaps()).shuffle(64, seed=3).batch(16)
    model = sequential(keras)
    model.compile("sgd", "sparse_categorical_crossentropy")
    assert len(model.fit(dataset, epochs=2, verbose=0).history["loss"]) == 2


def test_tensors_take_attributes_and_keras_variables_are_tensors(keras):
    v = keras.Variable([1.0, 2.0])
    assert tf.is_tensor(v) and not isinstance(v, tf.Tensor)
    x = tf.constant([3.0])
    x._keras_mask = "kept"
    assert x._keras_mask == "kept"
    with tf.GradientTape(persistent=True) as tape:
        z = v * x
        y = tf.reduce_sum(z)
    assert tape.gradient(y, v).numpy().tolist() == [3.0, 3.0]
    assert tape.jacobian(z, v).numpy().tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert tape.jacobian(x, v, unconnected_gradients="zero").shape == (1, 2)


@pytest.mark.parametrize("layer", ["LSTM", "GRU"])
def test_recurrent_layers_give_the_same_by_code_and_by_numpy(keras, layer, monkeypatch):
    def losses():
        keras.utils.set_random_seed(5)
        layers = keras.layers
        recurrent = getattr(layers, layer)
        model = keras.Sequential(
            [
                keras.Input((6,)),
                layers.Embedding(20, 4, mask_zero=True),
                recurrent(4, return_sequences=True, dropout=0.2),
                recurrent(3, go_backwards=True),
                layers.Dense(2, activation="softmax"),
            ]
        )
        model.compile("adam", "sparse_categorical_crossentropy")
        tokens = np.random.RandomState(0).randint(0, 20, (24, 6))
        return model.fit(tokens, tokens[:, 0] % 2, batch_size=8, epochs=3, shuffle=False, verbose=0).history["loss"]

    monkeypatch.setenv("EBBFLOW_CHECK", "1")  # code from the first run on
    by_code = losses()
    monkeypatch.setenv("EBBFLOW_ENGINES", "host")
    np.testing.assert_allclose(by_code, losses(), rtol=1e-5)


def test_namespaces_of_tf_2_that_are_keras():
    assert tf.optimizers is tf.keras.optimizers
    assert tf.losses.SparseCategoricalCrossentropy is tf.keras.losses.SparseCategoricalCrossentropy
    assert tf.metrics.Mean is tf.keras.metrics.Mean and tf.initializers.HeNormal is tf.keras.initializers.HeNormal
    assert not hasattr(tf.losses, "no_such_loss") and not hasattr(tf.compat.v1.metrics, "Mean")


def test_errors_name_the_layer_and_the_line_that_called_keras(keras):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Embedding(5, 2, name="words")])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"words.*") as caught:
        model.predict(np.array([[7]]), verbose=0)
    text = str(caught.value)
    assert "= 7 is not in [0, 5)" in text and f"(defined at {__file__}:" in text


def test_errors_in_layers_of_ones_own_show_their_line(keras):
    class Picks(keras.layers.Layer):
        def call(self, x):
            return tf.gather(tf.ones([5, 2]), x)

    model = keras.Sequential([keras.Input((1,), dtype="int32"), Picks()])
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        model.predict(np.array([[7]], np.int32), verbose=0)
    assert f"(defined at {__file__}:{Picks.call.__code__.co_firstlineno + 1})" in str(caught.value)
