"""`tf.autograph`: the code that conversion makes, converting by hand, keeping out of it, and what debuggers see."""

from __future__ import annotations

import ast
import inspect
import sys

import pytest

import ebbflow as tf
from ebbflow.functions.autograph import convert, log, status
from ebbflow.functions.autograph.errors import ConversionError
from ebbflow.functions.autograph.public import convert_v1, tf_convert


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


COLLATZ = """\
def collatz(n):
    steps = 0

    def loop_test():
        return n != 1

    def loop_body():
        nonlocal n, steps

        def if_body():
            nonlocal n
            n = n // 2

        def else_body():
            nonlocal n
            n = 3 * n + 1
        ag.if_stmt(n % 2 == 0, if_body, else_body, changes='n')
        steps += 1
    ag.while_stmt(loop_test, loop_body, changes='n, steps')
    return steps
"""


def search(x, wanted):
    for i, v in enumerate(x):
        if v == wanted:
            return i
    return -1


SEARCH = """\
def search(x, wanted):
    do_return = False
    do_break = False
    retval: ...

    def loop_body(item):
        nonlocal do_break, do_return, retval
        i, v = item

        def if_body():
            nonlocal do_break, do_return, retval
            retval = i
            do_return = True
            do_break = True
        ag.if_stmt(v == wanted, if_body, changes='do_break, do_return', fill='retval')
    ag.for_stmt(ag.enumerate(x), loop_body, changes='do_break, do_return', fill='retval', until='do_break')

    def if_body():
        return retval

    def else_body():
        return -1
    return ag.if_stmt(do_return, if_body, else_body)
"""


def choose(x, y):
    z: float
    if x > 0 and y > 0:
        z = tf.tanh(x)
    else:
        z = collatz(y) if x < y else -x
    return z


CHOOSE = """\
def choose(x, y):
    z: float

    def if_body():
        nonlocal z
        z = tf.tanh(x)

    def else_body():
        nonlocal z
        z = ag.if_exp(x < y, lambda: ag.convert(collatz)(y), lambda: -x)
    ag.if_stmt(ag.and_(x > 0, lambda: y > 0), if_body, else_body, changes='z')
    return z
"""


def spelled(code):
    """Code as this Python spells it: `lambda :` and `(a, b) = c` in some versions."""
    return ast.unparse(ast.parse(code))


@pytest.mark.parametrize(("function", "code"), [(collatz, COLLATZ), (search, SEARCH), (choose, CHOOSE)])
def test_the_code_is_readable(function, code):
    assert spelled(tf.autograph.to_code(function)) == spelled(code)


def test_code_of_methods_lambdas_and_functions_of_graphs():
    class Thing:
        def method(self, x):
            return x if x > 0 else -x

    assert "ag.if_exp(x > 0" in tf.autograph.to_code(Thing().method)
    assert tf.autograph.to_code(lambda x: not x) == "lambda x: ag.not_(x)\n"
    assert tf.autograph.to_code(tf.function(collatz).python_function) == COLLATZ
    plain = tf.autograph.to_code(inspect.unwrap)
    assert plain.startswith("def unwrap(")


def test_to_graph():
    converted = tf.autograph.to_graph(collatz)
    assert converted(27) == 111
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        n = tf.compat.v1.placeholder(tf.int32, [])

        def countdown(n):
            steps = 0
            while n > 0:
                n, steps = n // 2, steps + 1
            return steps

        assert session.run(tf.autograph.to_graph(countdown)(n), {n: 9}) == 4
    assert inspect.signature(tf.autograph.to_graph(search)) == inspect.signature(search)


@pytest.mark.parametrize("entity", [3, len, tf.function(collatz)])
@pytest.mark.parametrize("use", [tf.autograph.to_code, tf.autograph.to_graph])
def test_what_is_no_python_function_is_refused(use, entity):
    with pytest.raises(ConversionError, match=r"doesn't expose a __code__ object.*try passing f.python_function"):
        use(entity)


def test_without_source_conversion_by_hand_fails():
    scope = {}
    exec("\n".join(["def f(x):", "    return 1 if x else 2"]), scope)  # nobody knows the text any more
    with pytest.raises(ConversionError, match="InaccessibleSourceCodeError: Unable to locate the source code of"):
        tf.autograph.to_code(scope["f"])


def test_features():
    feature = tf.autograph.experimental.Feature
    assert [f.name for f in feature] == [
        "ALL",
        "AUTO_CONTROL_DEPS",
        "ASSERT_STATEMENTS",
        "BUILTIN_FUNCTIONS",
        "EQUALITY_OPERATORS",
        "LISTS",
        "NAME_SCOPES",
    ]
    assert feature.ALL in feature.all() and feature.LISTS not in feature.all_but(feature.LISTS)
    tf.autograph.to_code(collatz, experimental_optional_features=feature.all())


def test_verbosity(monkeypatch, capsys):
    monkeypatch.setattr(log, "_level", [None])
    monkeypatch.setenv("AUTOGRAPH_VERBOSITY", "2")
    assert log.verbosity() == 2
    tf.autograph.set_verbosity(3, True)
    convert(lambda x: x if x else 1)
    assert "lambda x: ag.if_exp(x, " in capsys.readouterr().out
    tf.autograph.set_verbosity(0)


def test_trace_prints_while_tracing(capsys):
    @tf.function
    def f(x):
        tf.autograph.trace("x is", x)
        return x

    f(tf.constant(1))
    f(tf.constant(2))
    assert capsys.readouterr().out.count("x is") == 1


def test_names_at_the_doors():
    import ebbflow.v1 as tf1  # changes the manners of the process, which are put back after each test

    assert tf.autograph.do_not_convert is tf.autograph.experimental.do_not_convert
    assert tf1.autograph.to_graph(collatz, arg_values=None)(6) == 8
    assert tf1.autograph.to_code(collatz, indentation="    ") == COLLATZ
    assert tf1.contrib.autograph.to_graph(collatz)(6) == 8
    assert tf1.contrib.autograph.convert()(collatz)(6) == 8
    assert convert_v1()(collatz)(6) == 8


def test_what_the_library_does_with_functions_it_is_given():
    def choice(x):
        return 1 if x else 2

    assert status.control_status_ctx().status is status.Status.UNSPECIFIED
    assert status.converted_where_on(choice) is choice
    with status.conversion(True):
        assert status.converted_where_on(choice) is not choice
        assert tf_convert(choice, status.control_status_ctx()) is not choice

        @tf.autograph.experimental.do_not_convert
        def inside():
            return tf_convert(choice)

        assert inside() is choice


# --- what debuggers and coverage see ----------------------------------------------------------------------------------


def traced_lines(function, *arguments):
    """The lines of this file that run while a function is called, counted from the function's first."""
    seen = set()

    def step(frame, event, argument):
        if frame.f_code.co_filename != __file__:
            return None
        if event == "line":
            seen.add(frame.f_lineno - function.__code__.co_firstlineno)
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        convert(function)(*arguments)
    finally:
        sys.settrace(before)
    return seen


def visited(x):
    total = 0
    for i in (1, 2, 3, x):
        if i > 2:
            total += i
            continue
        total -= 1
    if total > 100:
        total = 0
    return total


def test_lines_that_run_are_the_users_lines():
    assert traced_lines(visited, 3) >= {1, 2, 3, 4, 5, 6, 7, 9}
    assert 8 not in traced_lines(visited, 3)
    assert 8 in traced_lines(visited, 300)


def test_a_breakpoint_stops_in_the_users_line(monkeypatch):
    stopped = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stopped.append(sys._getframe(1)))

    def f(x):
        while x < 3:
            x += 1
            breakpoint()
        return x

    convert(f)(2)
    (frame,) = stopped
    assert frame.f_code.co_filename == __file__ and frame.f_lineno == f.__code__.co_firstlineno + 3
    assert frame.f_code.co_name == "f" and frame.f_locals["x"] == 3


def test_inspect_shows_the_users_source():
    assert inspect.getsource(convert(collatz)) == inspect.getsource(collatz)
