"""Which TensorFlow a program was written for, read from its source."""

import pytest

from ebbflow.doors import era

SESSION = "import tensorflow as tf\nsess = tf.Session()\n"

CASES = [
    ("", 2),
    ("import numpy", 2),
    ("import tensorflow as tf\nprint(tf.add(1, 2))", 2),
    (SESSION, 1),
    ("import tensorflow\nx = tensorflow.placeholder(tensorflow.float32)", 1),
    ("import tensorflow as tf\ntf.app.run()", 1),
    ("import tensorflow as tf\nflags = tf.app.flags", 1),
    ("import tensorflow.contrib.eager as tfe\ntfe.enable_eager_execution()", 1),
    ("import tensorflow as tf\ntf.enable_eager_execution()\nwith tf.GradientTape() as t: pass", 2),
    ("import tensorflow as tf\ntf.enable_eager_execution()\ntfe = tf.contrib.eager\ntf.function; tf.Module", 1),
    ("from tensorflow.examples.tutorials.mnist import input_data", 1),
    ("from tensorflow.contrib import slim", 1),
    ("import tensorflow as tf\nw = tf.get_variable('w', [1])\nopt = tf.train.AdamOptimizer()", 1),
    ("import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\nsess = tf.Session()", 2),
    ("import tensorflow as tf\nsess = tf.compat.v1.Session()", 2),
    ("import tensorflow.compat.v1 as tf\nx = tf.placeholder(tf.float32)", 1),
    ("from tensorflow.compat import v1 as tf\nwith tf.Session() as s: pass", 1),
    ("import tensorflow.compat.v1 as tf\nwith tf.Graph().as_default(): x = tf.placeholder(tf.float32)", 2),
    ("import tensorflow.compat.v1 as tf\nimport tensorflow.compat.v2 as tf2\nx = tf.placeholder(tf.float32)", 2),
    ("import tensorflow.compat.v1 as tf\nimport tensorflow\nx = tf.placeholder(tf.float32)", 2),
    ("import tensorflow as tf\n@tf.function\ndef f(x): return x", 2),
    ("from tensorflow import keras\nm = keras.Model()", 2),
    ("import tensorflow as tf\nx = tf.random.normal([2])", 2),
    ("import tensorflow as tf\ntf.Session; tf.compat.v1.Session", 2),
    ("# tf.Session in a comment\ns = 'tf.placeholder'\nimport tensorflow as tf\ntf.add(1, 2)", 2),
    ("import tensorflow as tf\nprint 'Python 2', tf.Session()", 1),
    ("import tensorflow as tf\nprint 'Python 2', tf.random.normal([1]), tf.function", 2),
    ("import tensorflow.compat.v1 as tf\nprint 'Python 2', tf.Session()", 1),
    ("import tensorflow.compat.v1 as tf\nprint 'Python 2', tf.Graph(), tf.Session()", 2),
    ("from tensorflow.contrib import learn\nprint 'x'", 1),
    ("not python at all ((", 2),
    ("\x00", 2),
]


@pytest.mark.parametrize("source, number", CASES, ids=range(len(CASES)))
def test_era_of_source(source, number):
    assert era.of_source(source).number == number
    assert era.of_source(source.encode()).number == number


def test_the_modules_a_script_imports_count_too(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "__init__.py").write_text("from . import net\n")
    (tmp_path / "models" / "net.py").write_text(SESSION)
    script = tmp_path / "train.py"
    script.write_text("import models\nimport train\nimport no_such_module\n")
    found = era.of_program(str(script))
    assert found.number == 1
    assert sorted(file.rpartition("/")[2] for file in found.files) == ["__init__.py", "net.py", "train.py"]
    assert "tf.Session" in str(found)


def test_modules_elsewhere_do_not_count(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "helper.py").write_text(SESSION)
    (tmp_path / "app").mkdir()
    script = tmp_path / "app" / "train.py"
    script.write_text("import helper\n")
    assert era.of_program(str(script)).number == 2
    assert era.of_program(str(script), [str(tmp_path / "lib")]).number == 1


def test_an_unreadable_program_is_of_the_second_era(tmp_path):
    assert era.of_program(str(tmp_path / "nothing.py")).number == 2


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("import tensorflow as tf; tf.keras.layers.Dense(1)", None),
        ("from tensorflow.keras.optimizers import Adam; Adam(learning_rate=0.1)", None),
        ("from tensorflow.keras.optimizers import Adam; Adam(lr=0.1)", 2),
        ("import tensorflow as tf; tf.keras.layers.experimental.preprocessing.Normalization()", 2),
        ("import tensorflow as tf; tf.keras.optimizers.legacy.Adam()", 2),
        ("from tensorflow.keras.mixed_precision import experimental as prec; prec.global_policy()", 2),
        ("import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()", 2),
        ("import tensorflow as tf; tf.compat.v1.logging.info(1)", None),
        ("from tensorflow.python.keras import backend", 2),
        ("from keras.layers.core import Dense", 2),
        ("import keras; model.fit_generator(batches)", 2),
        ("import torch; model.fit_generator(batches); Adam(lr=1)", None),
        ("from tensorflow import keras; keras.losses.mean_squared_error(a, b)", 2),
        ("import keras; keras.layers.LocallyConnected1D(1, 2)", 2),
        ("import tensorflow as tf; loss = tf.keras.metrics.Mean(); loss.reset_states()", 2),
        ("from tensorflow import keras\nfor m in model.metrics:\n    m.reset_states()", 2),
        ("from tensorflow import keras; rnn = keras.layers.LSTM(1, stateful=True); rnn.reset_states()", None),
        ("from keras.layers import Input; Input(shape=1)", 2),
        ("from keras.layers import Input; Input(shape=(1,))", None),
        ("import tensorflow as tf; assert tf.__version__ >= '2.4'", 2),
        ("import tensorflow as tf; assert tf.__version__ >= '2.16'", None),
    ],
)
def test_what_speaks_for_keras_2(source, number):
    assert era.of_source(source).keras == number


@pytest.mark.parametrize(
    ("source", "misled"),
    [
        ("import tensorflow as tf; assert tf.__version__ >= '1.4'", True),
        ("import tensorflow as tf\nif '1.2.0' < tf.__version__: pass", True),
        ("import tensorflow as tf; x = float(tf.__version__[:3]) > 1.3", True),
        ("import tensorflow as tf\nv = tf.__version__\nassert '1.5' <= v", True),
        ("import tensorflow as tf\nv = tf.__version__\nassert '1.0' <= v", False),
        ("import tensorflow as tf; tf.__version__ >= '1.0'", False),
        ("import tensorflow as tf; tf.__version__ == '1.4'", False),
        ("import tensorflow as tf; LooseVersion(tf.__version__) >= LooseVersion('1.4')", False),
        ("import numpy as np; np.__version__ >= '1.4'", False),
    ],
)
def test_versions_compared_as_text(source, misled):
    assert era.of_source(source).misled("1.15.5") is misled


def test_sessions_of_keras_speak_for_tf_1():
    source = "import tensorflow as tf\nimport {0} as K\nK.get_session().run(tf.nn.softmax([1.0]))"
    assert era.of_source(source.format("keras.backend")).number == 1
    assert era.of_source(source.format("tensorflow.compat.v1.keras.backend")).number == 2


OWN = "from tensorflow import keras\nclass My(keras.optimizers{}.Optimizer):\n    def f(self): self._set_hyper('a', 1)"


def test_a_programs_own_optimizer_tells_of_which_it_is_one():
    assert era.of_source(OWN.format("")).old_optimizers and era.of_source(OWN.format("")).keras == 2
    assert not era.of_source(OWN.format(".legacy")).old_optimizers
