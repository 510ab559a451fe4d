"""When something that runs again and again is compiled, and what that loads."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
import ebbflow as tf

numbers = tf.data.Dataset.range(9)
{program}
print(sorted({{"ebbflow.compiler.program", "numpy.f2py"}} & set(sys.modules)))
"""


def loaded(program: str) -> str:
    """Which of two large modules a program loads."""
    text = LOADED.format(program=program)
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True)
    return found.stdout.strip()


def test_functions_in_python_need_no_compiler():
    assert loaded("list(numbers.map(lambda x: tf.py_function(lambda y: y, [x], tf.int64)))") == "[]"


def test_a_compiler_loads_no_more_than_it_needs():
    assert loaded(
        "f = tf.function(lambda x: x * 2 + 1); [f(x) for x in (1., 2., 3.)]; [f(tf.ones([3])) for _ in '123']"
    ) == ("['ebbflow.compiler.program']")
