"""Processes that a program starts by a command: their TensorFlow is Ebbflow, of their own era."""

import os
import subprocess
import sys

PARENT = """
import subprocess, sys
import tensorflow as tf
def child(*words, **more):
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=100, **more)
    print(done.stdout.strip() or done.stderr.strip().splitlines()[-1])
child("first.py")
child("-c", "import tensorflow as tf; print(tf.__version__[0], tf.function(lambda: 1)().numpy())")
child("-c", "import sys; print('ebbflow' in sys.modules, any('followers' in place for place in sys.path))")
"""


def run(place, *words, **environment):
    command = [sys.executable, "-m", "ebbflow", "run", *words]
    whole = {**os.environ, **environment}
    return subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=240, env=whole)


def test_each_process_has_its_own_era(tmp_path):
    (tmp_path / "parent.py").write_text(PARENT)
    first = "import tensorflow as tf\nprint(tf.__version__[0], tf.Session().run(tf.ones(1)))"
    (tmp_path / "first.py").write_text(first)
    done = run(tmp_path, "parent.py")
    assert done.stdout.splitlines() == ["1 [1.]", "2 1", "False False"], done.stderr


def test_another_interpreter_and_another_sitecustomize(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.own = 'own'")
    (tmp_path / "parent.py").write_text(
        "import os, subprocess, sys\n"
        "show = 'import sys; print(sys.own, [f for f in sys.meta_path if type(f).__name__ == \"Waiting\"])'\n"
        "os.environ['EBBFLOW_FOLLOW'] = '/elsewhere|auto|'\n"
        "print(subprocess.run([sys.executable, '-c', show], capture_output=True, text=True).stdout)\n"
    )
    path = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(tmp_path)])
    done = run(tmp_path, "parent.py", PYTHONPATH=path)
    assert done.stdout.strip() == "own []", done.stderr
