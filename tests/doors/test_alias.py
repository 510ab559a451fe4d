"""`tensorflow` answered by Ebbflow in a process that `ebbflow run` did not start, and `tf.keras` behind it."""

import os
import subprocess
import sys
import textwrap

import pytest

import ebbflow as package

HERE = os.path.dirname(os.path.dirname(package.__file__))


def python(code, *paths, args=("-c",), **env):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([HERE, *map(str, paths)]), **env}
    command = [sys.executable, *args, textwrap.dedent(code)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=paths[0] if paths else None)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


@pytest.fixture
def another_tensorflow(tmp_path):
    """A directory with a package called tensorflow that is not ours."""
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text("__version__ = 'theirs'\n")
    return tmp_path


def test_install_and_uninstall(another_tensorflow):
    told = python(
        """
        from ebbflow.compat import alias
        alias.install()
        alias.install()
        import tensorflow as tf, tensorflow.io.gfile, importlib.metadata
        from tensorflow.python.framework import ops
        print(tf.__version__, tf.constant(2).dtype.name, importlib.metadata.version("tensorflow"), alias.installed())
        alias.uninstall()
        alias.uninstall()
        import tensorflow
        print(tensorflow.__version__, alias.installed(), float(tf.add(1.0, 2.0)))
        """,
        another_tensorflow,
    )
    assert told == ["2.21.0", "int32", "2.21.0", "True", "theirs", "False", "3.0"]


def test_a_tensorflow_that_is_imported_is_not_hidden(another_tensorflow):
    told = python(
        """
        import tensorflow, sys
        import ebbflow as tf
        from ebbflow.compat import alias
        for what in alias.install, lambda: tf.keras:
            try:
                what()
            except ImportError as error:
                print("refused:" + ("imported already" in str(error) and "yes" or str(error)))
        print(sys.modules["tensorflow"].__version__, tf.__version__)
        """,
        another_tensorflow,
    )
    assert told == ["refused:yes", "refused:yes", "theirs", "2.21.0"]


def test_children_of_multiprocessing_have_it_too(tmp_path):
    (tmp_path / "work.py").write_text("import tensorflow as tf\ndef double(x):\n    return float(tf.add(x, x))\n")
    (tmp_path / "prog.py").write_text(
        "from ebbflow.compat import alias\nalias.install()\nimport multiprocessing\nimport work\n"
        "if __name__ == '__main__':\n    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(work.double, [1.0, 2.0]))\n"
    )
    assert python(str(tmp_path / "prog.py"), tmp_path, args=()) == ["[2.0,", "4.0]"]


def test_pytest_plugin(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import tensorflow as tf\ndef test_it():\n    assert tf.constant(1) + 1 == 2 and 'ebbflow' in tf.__file__\n"
    )
    told = python("test_it.py", tmp_path, args=("-m", "pytest", "-q", "-p", "ebbflow.pytest"))
    assert "1" in told and "passed" in told


def test_keras_behind_every_path(tmp_path):
    told = python(
        """
        import ebbflow as tf
        from ebbflow.keras.layers import Dense
        import tensorflow.keras.models as models
        import keras
        print(tf.keras.layers.Dense is Dense is keras.layers.Dense, models.Sequential is keras.Sequential)
        print(keras.backend.backend(), isinstance(keras.Variable(1.0).value, tf.Variable))
        import sys
        print("sklearn" in sys.modules, "jax" in sys.modules, keras.callbacks.OrbaxCheckpoint.__name__)
        print(keras.wrappers.SKLearnRegressor is tf.keras.wrappers.SKLearnRegressor)
        """,
        KERAS_HOME=str(tmp_path),
        KERAS_BACKEND="tensorflow",
    )
    assert told == ["True", "True", "tensorflow", "True", "False", "False", "OrbaxCheckpoint", "True"]


def test_a_program_run_by_ebbflow_finds_it_behind_keras(tmp_path):
    (tmp_path / "prog.py").write_text(
        "import keras\nimport tensorflow as tf\nprint(tf.keras.Model is keras.Model, 'ebbflow' in tf.__file__)\n"
    )
    told = python(str(tmp_path / "prog.py"), args=("-m", "ebbflow", "run"), KERAS_HOME=str(tmp_path))
    assert told == ["True", "True"]


def test_without_keras_the_message_names_the_extra(tmp_path):
    told = python(
        """
        import sys
        sys.modules["keras"] = None
        import ebbflow as tf
        try:
            tf.keras
        except ModuleNotFoundError as error:
            print("ebbflow[keras]" in str(error))
        """
    )
    assert told == ["True"]
