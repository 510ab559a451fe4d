"""When something that runs again and again is compiled, and what that loads."""

from __future__ import annotations

import subprocess
import sys

import ebbflow as tf
import ebbflow.v1 as v1
from ebbflow.platform import config

LOADED = """
import sys
import ebbflow as tf
from ebbflow.platform import config

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


def test_asked_for_determinism_the_first_run_is_compiled_too(monkeypatch):
    monkeypatch.setattr(config.wishes, "deterministic", True)
    power = tf.function(lambda x, y: x**y * 0.5 + x)
    base, exponents = tf.constant([0.9, 0.999]), tf.range(40.0, 140.0)[:, None]
    first = power(base, exponents).numpy()
    assert all((power(base, exponents).numpy() == first).all() for _ in range(3))


def test_a_variable_in_a_branch_has_its_shape():
    with v1.Graph().as_default(), v1.Session() as session:
        scalar, vector = v1.get_variable("s", initializer=1.0), v1.get_variable("v", initializer=[1.0, 2.0])
        count = v1.get_variable("count", initializer=0)

        def halve():
            return v1.group(*[v1.assign(v, v / 2) for v in (scalar, vector)])

        halved = v1.cond(v1.equal(v1.identity(count), 0), halve, v1.no_op)
        session.run(v1.global_variables_initializer())
        for _ in range(3):
            session.run(halved)
        assert session.run(vector).tolist() == [0.125, 0.25]
