"""`ebbflow run`: programs in processes of their own, as python would run them."""

import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec

import pytest

import ebbflow as package


def ebbflow(*args, cwd=None, stdin=None, **env):
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(package.__file__))}
    environment.pop("EBBFLOW_FULL_TRACEBACK", None)
    environment.update(env)
    command = [sys.executable, "-m", "ebbflow", *args]
    return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, text=True, env=environment)


def write(place, **files):
    for name, text in files.items():
        path = place / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))


def test_a_script_sees_what_python_would_show_it(tmp_path):
    write(
        tmp_path,
        prog="""
        '''what it does'''
        import os, sys
        import tensorflow as tf
        import beside
        print(sys.argv, os.path.basename(sys.path[0]), os.path.basename(__file__), os.path.isabs(__file__))
        print(__name__, __doc__, __spec__, beside.VERSION, tf.__version__, sys.modules['__main__'].tf is tf)
        sys.exit(7)
        """,
        beside="import tensorflow as tf\nVERSION = tf.__version__\n",
    )
    run = ebbflow("run", "prog.py", "--flag", "-m", "x", cwd=tmp_path)
    assert run.stdout.splitlines() == [
        f"['prog.py', '--flag', '-m', 'x'] {tmp_path.name} prog.py True",
        "__main__ what it does None 2.21.0 2.21.0 True",
    ]
    assert (run.returncode, run.stderr) == (7, "")


def test_packages_on_pythonpath_speak_for_an_era_too(tmp_path):
    write(tmp_path / "code", prog="import tensorflow as tf\nimport nets\nprint(tf.__version__)\n")
    write(tmp_path / "lib", nets="import tensorflow as tf\nx = tf.placeholder(tf.float32)\n")
    path = os.pathsep.join([str(tmp_path / "lib"), os.path.dirname(os.path.dirname(package.__file__))])
    assert ebbflow("run", "prog.py", cwd=tmp_path / "code", PYTHONPATH=path).stdout.startswith("1.15")


def test_packages_installed_into_a_place_of_pythonpath_do_not(tmp_path):
    write(tmp_path / "code", prog="import tensorflow as tf\nimport nets\nprint(tf.__version__)\n")
    write(tmp_path / "site", nets="import tensorflow as tf\ndef f():\n    return tf.placeholder(tf.float32)\n")
    (tmp_path / "site" / "nets-1.0.dist-info").mkdir()
    path = os.pathsep.join([str(tmp_path / "site"), os.path.dirname(os.path.dirname(package.__file__))])
    assert ebbflow("run", "prog.py", cwd=tmp_path / "code", PYTHONPATH=path).stdout.startswith("2.21")


def test_the_first_era_is_detected_and_can_be_overruled(tmp_path):
    write(tmp_path, prog="import tensorflow as tf\ntf.Session\nprint(tf.__version__, tf.executing_eagerly())\n")
    assert ebbflow("run", "prog.py", cwd=tmp_path).stdout == "1.15.5 False\n"
    loud = ebbflow("run", "--tf", "2", "-v", "prog.py", cwd=tmp_path)
    assert (loud.stdout, loud.stderr) == ("2.21.0 True\n", "ebbflow: TF 2 (asked for)\n")


def test_versions_and_numbers_are_written_as_then(tmp_path):
    check = "import numpy as np, tensorflow as tf\nassert tf.__version__ >= '1.4'\n"
    write(tmp_path, prog=check + "print(tf.__version__, [np.float32(2)]); tf.Session()\n")
    assert ebbflow("run", "prog.py", cwd=tmp_path).stdout == "1.9.0 [2.0]\n"


def test_paths_of_tensorflow_import(tmp_path):
    write(
        tmp_path,
        prog="""
        import tensorflow as tf
        import tensorflow.compat.v1 as tf1
        from tensorflow.python.framework import ops, errors_impl
        from tensorflow.python.ops import array_ops
        from tensorflow.python.util import nest, deprecation
        from tensorflow.core.framework import graph_pb2
        from tensorflow.examples.tutorials.mnist import input_data
        import tensorflow.python.ops.math_ops
        import tensorflow.core.framework.types_pb2 as types_pb2
        import importlib.metadata
        mnist = input_data.read_data_sets('nowhere', fake_data=True, one_hot=True)
        images, labels = mnist.train.next_batch(2)
        print(array_ops.reshape is tf.reshape, errors_impl.OpError is tf.errors.OpError, nest.flatten([[1], 2]))
        print(len(images[0]), labels[0][:2], types_pb2.DT_FLOAT, graph_pb2.GraphDef().node)
        print(importlib.metadata.version('tensorflow'))
        """,
    )
    run = ebbflow("run", "--tf=1", "prog.py", cwd=tmp_path)
    assert run.stderr == ""
    assert run.stdout.splitlines() == ["True True [1, 2]", "784 [1, 0] 1 []", "1.15.5"]


@pytest.mark.skipif(find_spec("pkg_resources") is None, reason="newer setuptools have no pkg_resources")
def test_setuptools_know_the_version_of_the_door(tmp_path):
    write(
        tmp_path,
        prog="""
        import pkg_resources
        print(pkg_resources.get_distribution('tensorflow').version)
        pkg_resources.require('tensorflow>=1.3')
        """,
    )
    assert ebbflow("run", "--tf=1", "prog.py", cwd=tmp_path).stdout == "1.15.5\n"


def test_errors_show_the_programs_lines_only(tmp_path):
    write(
        tmp_path,
        prog="""
        import tensorflow as tf
        def read():
            return tf.io.gfile.GFile('/no/such/file').read()
        read()
        """,
    )
    run = ebbflow("run", "prog.py", cwd=tmp_path)
    assert run.returncode == 1
    lines = run.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    files = [line for line in lines if line.strip().startswith("File ")]
    assert [line.rpartition(", in ")[2] for line in files] == ["<module>", "read"]
    assert all(str(tmp_path) in line for line in files)
    assert lines[-1].endswith("NotFoundError: /no/such/file; No such file or directory")
    full = ebbflow("run", "prog.py", cwd=tmp_path, EBBFLOW_FULL_TRACEBACK="1")
    assert "doors/run.py" in full.stderr


@pytest.mark.parametrize(
    "line, says",
    [
        ("tf.reshap", "AttributeError: module 'tensorflow' has no attribute 'reshap'; did you mean tf.reshape?"),
        ("from tensorflow.errors import NotFondError", "ebbflow: did you mean tf.errors.NotFoundError?"),
        ("import tensorflow.contrib", "ebbflow: tf.contrib exists only at the TF 1 door"),
        ("print 'old' 3", "is Python 2: a print statement"),
    ],
)
def test_hints(tmp_path, line, says):
    write(tmp_path, prog=f"import tensorflow as tf\n{line}\n")
    run = ebbflow("run", "--tf", "2", "prog.py", cwd=tmp_path)
    assert run.returncode == 1
    assert says in run.stderr.splitlines()[-1]


def test_vanished_names_are_lent_and_told(tmp_path):
    write(
        tmp_path,
        prog="""
        import collections, time
        import numpy as np
        import tensorflow as tf
        import json.decoder
        print(np.int(3.7), issubclass(list, collections.Iterable), time.clock() >= 0)
        exec("try:\\n    np.int\\nexcept AttributeError:\\n    print('not for others')", {"np": np})
        """,
    )
    run = ebbflow("run", "prog.py", cwd=tmp_path)
    assert run.stdout.splitlines() == ["3 True True", "not for others"]
    assert run.stderr.splitlines() == [
        "ebbflow: lent to this program, because they no longer exist: np.int, collections.Iterable, time.clock"
    ]


def test_processes_started_by_the_program_go_through_the_same_door(tmp_path):
    write(
        tmp_path,
        prog="""
        import multiprocessing
        import numpy as np
        import tensorflow as tf
        def work(n):
            return np.int(n), tf.__version__, tf.Session.__name__, tf.executing_eagerly()
        if __name__ == '__main__':
            with multiprocessing.get_context('spawn').Pool(1) as pool:
                print(pool.map(work, [1]))
        """,
    )
    run = ebbflow("run", "prog.py", cwd=tmp_path)
    assert run.stdout == "[(1, '1.15.5', 'Session', False)]\n", run.stderr


def test_modules_code_and_standard_input(tmp_path):
    main = "import sys, tensorflow as tf\nprint(__name__, __package__, len(sys.argv))\n"
    write(tmp_path, **{"pkg/__init__": "", "pkg/__main__": main})
    assert ebbflow("run", "-m", "pkg", "a", cwd=tmp_path).stdout == "__main__ pkg 2\n"
    code = "import sys, tensorflow as tf; print(sys.argv, __name__, tf.__version__, repr(sys.path[0]))"
    assert ebbflow("run", "-c", code, "a", cwd=tmp_path).stdout == "['-c', 'a'] __main__ 2.21.0 ''\n"
    assert ebbflow("run", "-", "a", cwd=tmp_path, stdin=code).stdout == "['-', 'a'] __main__ 2.21.0 ''\n"


@pytest.mark.parametrize(
    "args, code, says",
    [
        (["nothing.py"], 2, "can't open file"),
        (["-m", "no_such_module"], 1, "No module named no_such_module"),
        (["-m"], 2, "-m needs an argument"),
        (["--tf", "3", "x.py"], 2, "--tf is auto, 1 or 2, not '3'"),
        (["--what", "x.py"], 2, "unknown option --what"),
        ([], 2, "nothing to run: give a script"),
    ],
)
def test_what_cannot_be_run(tmp_path, args, code, says):
    run = ebbflow("run", *args, cwd=tmp_path)
    assert run.returncode == code and says in run.stderr and "Traceback" not in run.stderr


def test_interrupts_and_messages_end_a_program_as_python_ends_it(tmp_path):
    write(tmp_path, prog="raise KeyboardInterrupt\n", bye="import sys; sys.exit('bye')\n")
    assert ebbflow("run", "prog.py", cwd=tmp_path).returncode in (-2, 130)
    run = ebbflow("run", "bye.py", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (1, "bye\n")


def test_a_tensorflow_of_the_programs_own_is_kept(tmp_path):
    write(tmp_path, prog="import tensorflow as tf\nprint(tf.WHOSE)\n", tensorflow="WHOSE = 'mine'\n")
    assert ebbflow("run", "prog.py", cwd=tmp_path).stdout == "mine\n"


def test_other_commands():
    assert ebbflow("version").stdout.startswith("ebbflow 0.")
    assert ebbflow().returncode == 2
    assert "usage: ebbflow run" in ebbflow("run", "--help").stdout
    doctor = ebbflow("doctor")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    for word in ("engines", "host       serves", "/device:CPU:0", "numpy", "soft placement"):
        assert word in doctor.stdout
