"""`tf.Tensor` of a TF 1 program is the class of the tensors in graphs; elsewhere nothing changes."""

import pathlib
import re
import subprocess
import sys

import ebbflow as tf
from ebbflow.graph.symbolic import SymbolicTensor

PROGRAM = """
import tensorflow as tf
from tensorflow.python.framework import ops
x = tf.placeholder(tf.float32)
assert type(x) is tf.Tensor and type(tf.nn.relu(x)) == ops.Tensor
assert not isinstance(tf.Variable(1.0), tf.Tensor) and not isinstance(3.0, tf.Tensor)
"""

EAGER = """
import tensorflow as tf
tf.enable_eager_execution()
x = tf.constant(1.0)
assert type(x) is not tf.Tensor and isinstance(x, tf.Tensor) and issubclass(type(x), tf.Tensor)
f = tf.contrib.eager.defun(lambda a: a * 2 if type(a) is tf.Tensor else None)
assert float(f(x)) == 2.0
"""


def test_of_a_program_of_tf_1(tmp_path):
    for text in PROGRAM, EAGER:
        (tmp_path / "program.py").write_text(text)
        command = [sys.executable, "-m", "ebbflow", "run", "program.py"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert ran.returncode == 0, ran.stderr


def test_elsewhere_eager_tensors_are_not_of_graphs():
    assert not isinstance(tf.constant(1.0), SymbolicTensor)
    assert tf.compat.v1.Tensor is tf.Tensor is not SymbolicTensor


def test_the_package_asks_for_the_exact_class():
    files = pathlib.Path(tf.__file__).parent.rglob("*.py")
    asked = [f.name for f in files if re.search(r"isinstance\([^)]*\bSymbolicTensor\b", f.read_text())]
    assert asked == [], "type(x) is SymbolicTensor: isinstance means all tensors in a TF 1 program"
