"""Keras 2 (the package `tf_keras`) on Ebbflow: programs of TensorFlow 1 and of 2.0 to 2.15, each in a process."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

import ebbflow as package

HERE = os.path.dirname(os.path.dirname(package.__file__))
missing = [name for name in ("tf_keras", "wrapt", "requests", "h5py", "absl") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(missing), reason="no extra brings tf_keras, which asks for TensorFlow")


def run(code, tmp_path, *options, **env):
    """Run a program by `ebbflow run`; return what it printed."""
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(code))
    environment = {**os.environ, "PYTHONPATH": HERE, **env}
    command = [sys.executable, "-m", "ebbflow", "run", *options, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_of_tf_1(tmp_path):
    """Layers on placeholders, sessions, K.function, learning phases, old arguments, .h5 and checkpoints."""
    told = run(
        """
        import numpy as np
        import tensorflow as tf
        from tensorflow.python.keras.layers.core import Dropout
        K, layers = tf.keras.backend, tf.keras.layers
        x = tf.placeholder(tf.float32, [None, 3])
        y = layers.Dense(2, kernel_initializer="ones")(x)
        with tf.Session() as sess:
            K.set_session(sess)
            sess.run(tf.global_variables_initializer())
            print(sess.run(y, {x: np.ones((1, 3))}).tolist())
            model = tf.keras.Sequential([layers.Dense(4, activation="relu", input_shape=(3,)), Dropout(0.5),
                                         layers.Dense(1)])
            model.compile(tf.keras.optimizers.Adam(lr=0.01, decay=1e-4), "mse", metrics=["mae"])
            batches = ((np.ones((4, 3)), np.ones((4, 1))) for _ in range(9))
            done = model.fit_generator(batches, steps_per_epoch=2, epochs=3, verbose=0)
            print(len(done.history["mean_absolute_error"]))
            at = K.function([model.input, K.learning_phase()], [model.output])
            same = at([np.ones((2, 3)), 0])[0]
            print(np.array_equal(same, at([np.ones((2, 3)), 0])[0]), K.get_session() is sess)
            model.save("m.h5")
            print(np.allclose(tf.keras.models.load_model("m.h5").predict(np.ones((2, 3))), same, atol=1e-6))
            model.save_weights("w")
            model.load_weights("w")
            print(np.allclose(model.predict(np.ones((2, 3))), same, atol=1e-6))
        """,
        tmp_path,
    )
    assert told.splitlines() == ["[[3.0, 3.0]]", "3", "True True", "True", "True"]


def test_a_program_of_the_years_of_keras_2(tmp_path):
    told = run(
        """
        import numpy as np
        import tensorflow as tf
        from tensorflow.keras.layers.experimental import preprocessing
        from tensorflow.keras.optimizers import SGD

        class Scale(tf.keras.layers.Layer):
            def build(self, shape):
                self.factor = self.add_variable("factor", [int(shape[-1])], initializer="ones")

            def call(self, inputs):
                return inputs * self.factor

        inputs = tf.keras.Input((3,))
        summed = tf.reduce_sum(tf.nn.relu(Scale()(preprocessing.Rescaling(0.5)(inputs))) + 1.0, axis=1, keepdims=True)
        model = tf.keras.Model(inputs, summed)
        model.compile(SGD(lr=0.1, decay=1e-3, momentum=0.9), "mse")
        board = tf.keras.callbacks.TensorBoard("logs", histogram_freq=1)
        model.fit(np.ones((8, 3)), np.ones((8, 1)), epochs=2, verbose=0, callbacks=[board])
        model.save("folder")
        again = tf.keras.models.load_model("folder", custom_objects={"Scale": Scale})
        print([layer.name for layer in model.layers[-3:]], type(model.optimizer).__module__)
        print(np.allclose(again.predict(np.ones((1, 3)), verbose=0), model.predict(np.ones((1, 3)), verbose=0)))
        print(np.allclose(tf.saved_model.load("folder").signatures["serving_default"](tf.ones([1, 3])).popitem()[1],
                          model.predict(np.ones((1, 3)), verbose=0)))
        print(list(tf.saved_model.load("folder").signatures._signatures))
        print([name for name, _ in tf.train.list_variables("folder/variables/variables") if "SLOT" in name])
        tf.saved_model.save(model, "no_model")
        try:
            tf.keras.models.load_model("no_model")
        except ValueError as error:
            print(str(error)[:40])
        """,
        tmp_path,
    )
    names, same, served, signature, slots, refused = told.splitlines()
    assert "'tf.nn.relu', 'tf.__operators__.add', 'tf.math.reduce_sum'" in names
    assert names.endswith("optimizers.legacy.gradient_descent") and (same, served) == ("True", "True")
    assert signature == "['serving_default']"
    assert slots.count(".OPTIMIZER_SLOT/optimizer/momentum/.ATTRIBUTES/VARIABLE_VALUE") == 1
    assert refused == "Unable to create a TF-Keras model from S"


def test_symbolic_inputs_beside_arrays_and_as_an_index(tmp_path):
    told = run(
        """
        import numpy as np
        import tensorflow as tf
        assert tf.keras.__version__.startswith("2.")
        row, at = tf.keras.Input((4,)), tf.keras.Input((), dtype="int32")
        print(tf.keras.Model(row, np.asarray([3.0]) * row)(tf.ones([1, 4])).numpy().tolist())
        sides = [1 + row, 1 - row, 2 * row, 2 / row, 2 // row, 2 % row, 2**row, [1, 2, 3, 4] - row]
        print([float(y[0, 1]) for y in tf.keras.Model(row, sides)(tf.fill([1, 4], 2.0))])
        picked, first = (tf.keras.Model(at, y) for y in (tf.range(10.0)[at[0]], tf.range(10.0)[: at[0]]))
        print(picked(tf.constant([6, 6])).numpy(), first(tf.constant([2])).numpy())
        sparse = [tf.keras.Input((n,), batch_size=2, sparse=True) for n in (1, 2)]
        print(tf.keras.layers.Concatenate(axis=1)(sparse).shape.as_list())
        """,
        tmp_path,
        TF_USE_LEGACY_KERAS="1",
    )
    product, sides, *others = told.splitlines()
    assert sides == "[3.0, -1.0, 4.0, 1.0, 1.0, 0.0, 4.0, 0.0]"
    assert [product, *others] == ["[[3.0, 3.0, 3.0, 3.0]]", "6.0 [0. 1.]", "[2, 3]"]


def test_layers_of_ones_own_from_the_engine(tmp_path):
    told = run(
        """
        import keras
        import keras.engine as KE
        import numpy as np
        from keras.engine.topology import InputSpec, Layer, get_source_inputs
        from keras.utils.generic_utils import CustomObjectScope, serialize_keras_object
        assert CustomObjectScope is keras.utils.CustomObjectScope

        class Twice(KE.Layer):
            def call(self, x):
                return 2 * x

        x = KE.Input((2,))
        print(Layer is KE.Layer is keras.layers.Layer, InputSpec is KE.InputSpec, get_source_inputs(x)[0] is x)
        print(KE.Model(x, Twice()(x)).predict(np.array([[1.0, 2.0]]), verbose=0).tolist())
        """,
        tmp_path,
        "--tf",
        "1",
    )
    assert told.splitlines()[-2:] == ["True True True", "[[2.0, 4.0]]"]


def test_mixed_precision_by_its_first_names(tmp_path):
    told = run(
        """
        import tensorflow as tf
        from tensorflow.keras.mixed_precision import experimental as prec
        import tensorflow.keras.mixed_precision.experimental as again
        prec.set_policy(prec.Policy("mixed_float16"))
        dense = tf.keras.layers.Dense(2)
        print(dense(tf.ones((1, 3))).dtype.name, dense.kernel.dtype.name, prec.global_policy().name, again is prec)
        print(prec.get_layer_policy(dense).compute_dtype)
        for scale in ("dynamic", 128):
            optimizer = prec.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1), scale)
            print(float(optimizer.loss_scale), optimizer.dynamic)
        """,
        tmp_path,
    )
    assert told.splitlines()[-4:] == ["float16 float32 mixed_float16 True", "float16", "32768.0 True", "128.0 False"]


def test_slots_of_old_optimizers_come_back_from_checkpoints(tmp_path):
    told = run(
        """
        import numpy as np
        import tensorflow as tf

        def trained(steps):
            v, opt = tf.Variable([1.0, 2.0]), tf.keras.optimizers.legacy.Adam(0.1)
            for _ in range(steps):
                opt.minimize(lambda: tf.reduce_sum(v * v), [v])
            return tf.train.Checkpoint(v=v, opt=opt)

        first = trained(3)
        path = first.save("c")
        m = first.opt.get_slot(first.v, "m").numpy()
        new, used = trained(0), trained(1)
        for each in (new, used):
            each.restore(path)
            print(np.array_equal(each.opt.get_slot(each.v, "m").numpy(), m))
            each.opt.minimize(lambda: tf.reduce_sum(each.v * each.v), [each.v])
        print(np.array_equal(new.v.numpy(), used.v.numpy()))
        """,
        tmp_path,
        TF_USE_LEGACY_KERAS="1",
    )
    assert told.split() == ["True"] * 3


def test_plain_keras_of_an_old_program(tmp_path):
    told = run(
        """
        import numpy as np
        import keras
        from keras import backend as K
        from keras.layers.core import Activation, Dense
        from keras.models import Sequential
        from keras.optimizers import SGD
        from keras.utils import np_utils
        import tensorflow as tf
        assert keras is tf.keras
        K.set_session(tf.Session())
        model = Sequential([Dense(4, input_dim=3), Activation("relu"), Dense(2, activation="softmax")])
        model.compile(SGD(lr=0.1, momentum=0.9, nesterov=True), "categorical_crossentropy", metrics=["accuracy"])
        labels = np_utils.to_categorical([0, 1, 0, 1], 2)
        print(sorted(model.fit(np.ones((4, 3)), labels, epochs=1, verbose=0).history), keras.__version__[:2])
        """,
        tmp_path,
        "--tf",
        "1",
    )
    assert told == "['acc', 'loss'] 2.\n"


def test_which_keras(tmp_path):
    code = "import tensorflow as tf; print(tf.keras.__name__.split('.')[0])"
    assert run(code, tmp_path) == "keras\n"
    assert run(code, tmp_path, "--keras", "2") == "tf_keras\n"
    deeper = (
        "import keras.src; from keras.src.engine import keras_tensor; print(keras_tensor.__name__, keras.src.__name__)"
    )
    assert run(deeper, tmp_path, "--keras", "2") == "tf_keras.src.engine.keras_tensor tf_keras.src\n"
    assert run(code, tmp_path, TF_USE_LEGACY_KERAS="1") == "tf_keras\n"
    assert run("import tensorflow.compat.v1 as tf; print(tf.keras.__name__.split('.')[0])", tmp_path) == "tf_keras\n"


def test_folders_of_models_with_functions_and_recurrent_layers(tmp_path):
    told = run(
        """
        import numpy as np
        import tensorflow as tf
        keras = tf.keras

        class Twice(keras.layers.Layer):
            def call(self, inputs, training=None):
                return inputs * 2.0 if training else inputs

        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                self.dense, self.norm, self.twice = keras.layers.Dense(2), keras.layers.BatchNormalization(), Twice()

            @tf.function
            def call(self, inputs, training=False):
                return self.twice(self.norm(self.dense(inputs), training=training), training=training)

        sequence = keras.Input((5, 4))
        outputs = [keras.layers.LSTM(3, recurrent_dropout=0.2)(sequence), keras.layers.GRU(3, dropout=0.1)(sequence)]
        for folder, model, x in [("a", Net(), np.ones((4, 3))),
                                 ("b", keras.Model(sequence, outputs), np.ones((4, 5, 4)))]:
            model.compile(keras.optimizers.RMSprop(), "mse")
            model.fit(x, model.predict(x, verbose=0), verbose=0)
            before = model.predict(x, verbose=0)
            model.save(folder)
            again = keras.models.load_model(folder)
            print(all(map(np.allclose, again.predict(x, verbose=0), before)))
            again.fit(x, before, verbose=0)
        """,
        tmp_path,
        "--keras",
        "2",
    )
    assert told.splitlines() == ["True", "True"]


def test_a_saved_model_of_a_session_keeps_its_values(tmp_path):
    told = run(
        """
        import numpy as np
        import tensorflow.compat.v1 as tf
        tf.disable_eager_execution()
        layers, x = tf.keras.layers, np.ones((3, 4), np.float32)
        model = tf.keras.Sequential([layers.Dense(2, activation="tanh"), layers.Dense(1)])
        model.compile("sgd", "mse")
        model.train_on_batch(x, np.ones((3, 1)))
        model.save("model", save_format="tf", include_optimizer=False)
        print(np.array_equal(tf.keras.models.load_model("model").predict(x), model.predict(x)))
        """,
        tmp_path,
        "--keras",
        "2",
    )
    assert told.split()[-1] == "True"


def test_lookups_are_filled_again_each_time_they_are_loaded(tmp_path):
    (tmp_path / "words.txt").write_text("earth\nwind\nfire")
    told = run(
        """
        import tensorflow as tf
        layers, x = tf.keras.layers, tf.constant([["wind", "sea"]])
        for words in (["earth", "wind", "fire"], "words.txt"):
            lookup = layers.StringLookup(vocabulary=words)
            model = tf.keras.Sequential([tf.keras.Input((None,), dtype=tf.string), lookup])
            for turn in ("once", "twice"):
                model.save(turn)
                model = tf.keras.models.load_model(turn)
                print(model.predict(x, verbose=0).tolist())
        """,
        tmp_path,
        "--keras",
        "2",
    )
    assert told.split("\n")[:4] == ["[[2, 0]]"] * 4


def test_modules_that_keras_has_moved_are_found_where_they_were(tmp_path):
    told = run(
        """
        from tensorflow.python.keras.layers import Conv2D, Dense, core
        from tensorflow.python.keras.saving import hdf5_format, model_config
        from tensorflow.python.keras.optimizer_v2 import adam, learning_rate_schedule
        from tensorflow.python.feature_column import dense_features, feature_column_v2
        print(core.Dense is Dense, callable(hdf5_format.save_model_to_hdf5), callable(model_config.model_from_json))
        rate = learning_rate_schedule.ExponentialDecay(0.5, 10, 0.1)
        print(adam.Adam(rate).get_config()["learning_rate"]["class_name"])
        columns = [feature_column_v2.numeric_column("x", shape=(2,))]
        print(dense_features.DenseFeatures(columns)({"x": [[1.0, 2.0]]}).shape)
        print(feature_column_v2.LinearModel(columns, units=3)({"x": [[1.0, 2.0]]}).shape)
        """,
        tmp_path,
    )
    assert told.split("\n")[:4] == ["True True True", "ExponentialDecay", "(1, 2)", "(1, 3)"]


def test_a_decoder_that_is_a_layer(tmp_path):
    told = run(
        """
        import numpy as np
        import tensorflow as tf
        seq = tf.contrib.seq2seq
        cell = tf.nn.rnn_cell.BasicRNNCell(2)
        decoder = seq.BasicDecoderV2(cell, seq.TrainingSampler(), output_layer=tf.keras.layers.Dense(3))
        inputs = tf.constant(np.ones((2, 4, 5), np.float32))
        out, state, lengths = decoder(inputs, initial_state=cell.zero_state(2, tf.float32), sequence_length=[4, 2])
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            found, last = sess.run([out, lengths])
        print(found.rnn_output.shape, found.sample_id.shape, last.tolist())
        try:
            seq.TrainingSampler().initialize(inputs)
        except ValueError as error:
            print(error)
        """,
        tmp_path,
    )
    assert told.split("\n")[:2] == ["(2, 4, 3) (2, 4) [4, 2]", "sequence_length is required for TrainingSampler"]


def test_cells_and_layers_of_tf_1_beside_keras(tmp_path):
    """Keras's RNN counts the variables of such a cell, and its session initialises them and those of `tf.layers`."""
    told = run(
        """
        import numpy as np
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()
        K, layers = tf.keras.backend, tf.keras.layers
        for cell in (tf.nn.rnn_cell.BasicLSTMCell(3), tf.nn.rnn_cell.GRUCell(3)):
            inputs = tf.keras.Input((3, 4))
            model = tf.keras.Model(inputs, layers.RNN(cell)(inputs))
            model.set_weights([np.cos(np.arange(w.size) + 1.0).reshape(w.shape) * 0.3 for w in model.get_weights()])
            told = np.float64(model.predict(np.ones((1, 3, 4)))).round(4).tolist()
            print([w.name for w in model.weights], told)
        made = tf.layers.dense(tf.ones((1, 2)), 1, kernel_initializer=tf.ones_initializer())
        print(K.get_session().run(made))
        with tf.variable_scope("enc"):
            tf.nn.dynamic_rnn(layers.GRUCell(2, name="me"), tf.ones((1, 3, 4)), dtype=tf.float32)
        tf.cond(tf.constant(True), lambda: layers.Dense(1, name="in")(tf.ones((1, 1))), lambda: tf.ones((1, 1)))
        print([v.name for v in tf.trainable_variables()][-5:])
        """,
        tmp_path,
        "--keras",
        "2",
    )
    assert told.splitlines() == [
        "['basic_lstm_cell/kernel:0', 'basic_lstm_cell/bias:0'] [[-0.2203, -0.1614, 0.2138]]",
        "['gru_cell/gates/kernel:0', 'gru_cell/gates/bias:0', 'gru_cell/candidate/kernel:0', "
        "'gru_cell/candidate/bias:0'] [[0.1317, -0.1762, -0.1844]]",
        "[[2.]]",
        "['enc/rnn/while/me/kernel:0', 'enc/rnn/while/me/recurrent_kernel:0', 'enc/rnn/while/me/bias:0', "
        "'cond/in/kernel:0', 'cond/in/bias:0']",
    ]


def test_a_lambda_layer_of_a_public_function_comes_back(tmp_path):
    told = run(
        """
        import numpy as np
        import tensorflow as tf
        keras = tf.keras
        model = keras.Sequential([keras.layers.Lambda(f) for f in (tf.nn.relu, tf.math.cumsum, tf.reduce_sum)])
        given = np.float32([[-1, 2], [3, -4]])
        print(float(model(given)))
        for name in ("m.h5", "m.keras"):
            model.save(name)
            print(float(keras.models.load_model(name, safe_mode=False)(given)))
        """,
        tmp_path,
        "--keras",
        "2",
    )
    assert told.split() == ["7.0", "7.0", "7.0"]


def test_fit_with_parameter_servers(tmp_path):
    """Variables on a parameter server, steps on two workers; datasets made at each of them, or given."""
    told = run(
        """
        import os
        import numpy as np
        import tensorflow as tf
        from ebbflow.cluster.ports import free_ports
        ports = [f"localhost:{port}" for port in free_ports(3)]
        spec = {"ps": ports[:1], "worker": ports[1:]}
        servers = [tf.distribute.Server(spec, job, i) for job in spec for i in range(len(spec[job]))]
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(spec), rpc_layer="grpc")
        strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
            model.compile("sgd", "mse", steps_per_execution=2)
        print(model.layers[0].kernel.device.split("/")[1])
        x = np.random.RandomState(0).randn(64, 4).astype(np.float32)
        made = lambda context: tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).repeat().batch(16)
        creator = tf.keras.utils.experimental.DatasetCreator(made)
        losses = model.fit(creator, epochs=3, steps_per_epoch=20, verbose=0).history["loss"]
        losses += model.fit(made(None), epochs=1, steps_per_epoch=20, verbose=0).history["loss"]
        print(len(losses), losses[-1] < 0.1 * losses[0], model.evaluate(creator, steps=4, verbose=0) < losses[0])
        print(int(model.optimizer.iterations))
        os._exit(0)  # the servers are threads of this process
        """,
        tmp_path,
        "--tf",
        "2",
        TF_USE_LEGACY_KERAS="1",
    )
    assert told.splitlines() == ["job:ps", "4 True True", "80"]
