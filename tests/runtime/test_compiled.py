"""When something that runs again and again is compiled, and what that loads."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np

import ebbflow as tf
import ebbflow.v1 as v1
from ebbflow.platform import config
from ebbflow.runtime.compiled import FEW_SHAPES, MAX_SHAPES, OFTEN, Runner

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


def test_shapes_that_keep_changing_have_a_program_that_is_open_where_they_change():
    with v1.Graph().as_default(), v1.Session() as session:
        x, y = v1.placeholder(tf.float32, [None, None]), v1.placeholder(tf.float32)
        total = v1.reduce_sum(v1.tanh(x) * 2.0, 1) + y

        def run(rows, columns, more=()):
            a, b = np.full([rows, columns], 0.5, "f"), np.ones(more, "f")
            wanted = np.tanh(a).sum(1) * 2 + b
            np.testing.assert_allclose(session.run(total, {x: a, y: b}), wanted, rtol=1e-5)
            found = [part for parts in session._runners.values() for part in parts]
            return next(part for part in found if isinstance(part, Runner))

        for n in range(FEW_SHAPES):
            assert run(4, n + 1)._open is None
        for n in range(FEW_SHAPES, 2 * MAX_SHAPES):
            runner = run(4, n + 1)
            assert runner._open == [(4, None), ()] and runner._programs["any"] is not None
        made = runner._programs["any"]
        assert run(4, 100)._programs["any"] is made
        assert run(3, 100)._open == [(None, None), ()]
        assert run(3, 100, [3])._open == [(None, None), None]
        assert run(9, 9)._programs["any"] is not made and len(runner._met) == MAX_SHAPES
        for _ in range(OFTEN - 1):
            assert run(4, 2)._programs.keys() == {"any"}
        assert run(4, 2)._programs.keys() == {"any", ((4, 2), ())}


# --- calls that go straight to their Program --------------------------------------------------------------------------


def settled(function, *args):
    f = tf.function(function)
    for _ in range(4):
        f(*args)
    assert f.get_concrete_function(*args).graph.straight is not None
    return f


def test_a_program_without_memory_of_its_own_serves_all_threads():
    f = settled(lambda x: x + x, tf.ones([3]))
    wrong = []

    def work(number):
        for i in range(300):
            if not (f(tf.fill([3], float(number + i))).numpy() == 2.0 * (number + i)).all():
                wrong.append((number, i))

    threads = [threading.Thread(target=work, args=(1000 * i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_straight_call_goes_on_where_warnings_are_errors():
    f = settled(lambda x: x * x, tf.ones([3]))
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(f(tf.constant([1e30, 2.0, -1e30])), [np.inf, 4.0, np.inf])


def test_a_straight_call_stops_when_its_body_changes():
    f = settled(lambda x: tf.identity(x * 2.0), tf.ones([3]))
    graph = f.get_concrete_function(tf.ones([3])).graph
    product = next(op for op in graph.get_operations() if op.type == "Mul")
    with graph.as_default():
        product._update_input(1, tf.constant(5.0))
    np.testing.assert_array_equal(f(tf.ones([3])), [5.0, 5.0, 5.0])


def test_several_arrays_and_results_go_straight():
    captured = tf.constant([1.0, 2.0])
    f = settled(lambda x, y: {"sum": x + y + captured, "difference": x - y}, tf.ones([2]), tf.ones([2]))
    found = f(tf.constant([3.0, 4.0]), tf.constant([1.0, 1.0]))
    np.testing.assert_array_equal(found["sum"], [5.0, 7.0])
    np.testing.assert_array_equal(found["difference"], [2.0, 3.0])
    with tf.GradientTape() as tape:
        x = tf.constant([3.0, 4.0])
        tape.watch(x)
        y = f(x, x)["sum"]
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 2.0])
