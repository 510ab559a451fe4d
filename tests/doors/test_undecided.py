"""The era of a program that something else starts: that of the file which first imports TensorFlow."""

import subprocess
import sys
import textwrap

FIRST = """
    import tensorflow as tf
    from lib.net import layer


    class Net(tf.test.TestCase):
        def test_it(self):
            x = tf.placeholder(tf.float32, [None, 3])
            y = layer(x)
            with self.test_session() as session:
                session.run(tf.global_variables_initializer())
                self.assertEqual(session.run(y, {x: [[1.0, 2.0, 3.0]]}).shape, (1, 2))
            assert tf.__version__.startswith("1.")
"""
LAYER = """
    import tensorflow as tf


    def layer(x):
        return tf.matmul(x, tf.get_variable("w", [3, 2]))
"""
SECOND = """
    def test_it():
        import tensorflow as tf

        assert tf.__version__.startswith("2.") and tf.executing_eagerly()
        assert int(tf.function(lambda: tf.constant(1))()) == 1
"""


def run(place, *args, **files):
    for name, text in files.items():
        file = place.joinpath(*name.split("__")).with_suffix(".py")
        file.parent.mkdir(exist_ok=True)
        file.write_text(textwrap.dedent(text))
    command = [sys.executable, "-m", "ebbflow", "run", *args]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=120)


def test_a_suite_of_tf_1_under_a_test_runner(tmp_path):
    done = run(tmp_path, "-m", "unittest", "tests/test_net.py", tests__test_net=FIRST, lib__net=LAYER)
    assert done.returncode == 0, done.stderr


def test_the_module_that_needs_it_speaks_though_the_test_does_not(tmp_path):
    test = """
        import unittest
        from lib.net import layer


        class Net(unittest.TestCase):
            def test_it(self):
                import tensorflow as tf
                assert tf.__version__.startswith("1.") and layer(tf.zeros([1, 3])).shape.as_list() == [1, 2]
    """
    done = run(tmp_path, "-m", "unittest", "tests/test_net.py", tests__test_net=test, lib__net=LAYER)
    assert done.returncode == 0, done.stderr


def test_a_suite_of_tf_2_under_pytest(tmp_path):
    words = ("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "tests")
    done = run(tmp_path, *words, tests__test_net=SECOND)
    assert done.returncode == 0, done.stdout + done.stderr
    told = run(tmp_path, "--verbose", "--tf", "1", *words)
    assert told.returncode == 1 and "TF 1 (asked for)" in told.stderr


def test_code_that_only_imports_what_needs_it(tmp_path):
    code = "from lib.net import layer, tf; print(tf.__version__[:2], layer(tf.zeros([1, 3])).shape)"
    done = run(tmp_path, "-c", code, lib__net=LAYER)
    assert done.stdout == "1. (1, 2)\n", done.stderr


def test_all_files_that_an_import_goes_through_speak(tmp_path):
    net = "import tensorflow.compat.v1 as tf\n\ndef layer(x):\n    return tf.matmul(x, tf.ones([3, 2]))\n"
    test = "from lib.net import layer, tf\n\ndef test_it():\n    assert layer(tf.placeholder('float', [1, 3])).graph\n"
    test += "import tensorflow.compat.v1 as tf"
    words = ("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "tests", "lib")
    assert run(tmp_path, *words, tests__test_net=test, lib__net=net, lib__test_it=test).returncode == 0
    (tmp_path / "lib" / "__init__.py").write_text("from lib.net import layer")  # it is imported before its test
    assert run(tmp_path, *words[:-2], "lib").returncode == 0
