"""Finding the source: files, lambdas, cells of a notebook, `exec`, the prompt, the command line, and nowhere."""

from __future__ import annotations

import linecache
import logging
import os
import subprocess
import sys
import textwrap

import pytest

import ebbflow as tf
from ebbflow.functions.autograph import convert, log

pty = pytest.importorskip("pty")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))


def run_in_graph(function, *values):
    return [float(tf.function(function)(tf.constant(v))) for v in values]


# --- lambdas ----------------------------------------------------------------------------------------------------------

two_on_a_line = (lambda x: x if x > 0 else -x), (lambda x: 2.0 if x > 0 else 3.0)
same_arguments = [lambda a: 1.0 if a > 0 else 2.0, lambda a: 1.0 if a > 5 else 2.0, lambda a: 1.0 if a < 0 else 2.0]
over_lines = (
    lambda x:
    x * 2.0 if x > 0
    else x
)  # fmt: skip
inside_another = lambda: lambda x: x if x > 0 else -x
nested_lambdas = lambda x: (lambda y: y if y > 1 else 1.0)(x) if x > 0 else 0.0 * x


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (two_on_a_line[0], [1.5, 1.5]),
        (two_on_a_line[1], [2.0, 3.0]),
        (same_arguments[0], [1.0, 2.0]),
        (same_arguments[1], [2.0, 2.0]),
        (same_arguments[2], [2.0, 1.0]),
        (over_lines, [3.0, -1.5]),
        (nested_lambdas, [1.5, 0.0]),
        (lambda x, _=0, __=0: x if x > 0 else -x, [1.5, 1.5]),  # names that differ in underscores alone
    ],
)
def test_lambdas(function, expected):
    assert run_in_graph(function, 1.5, -1.5) == expected


def test_a_lambda_in_a_lambda_is_told_from_the_one_around_it():
    doubled = lambda: [tf.function(lambda: tf.add(1.0, 2.0))()] * 2  # neither takes anything
    assert [float(value) for value in doubled()] == [3.0, 3.0]
    assert run_in_graph(inside_another(), 1.5, -1.5) == [1.5, 1.5]


def test_lambda_as_an_argument_over_several_lines():
    def give(f, *rest):
        return f

    f = give(
        lambda x: x if x > 0 else -x,
        lambda x: None,
    )
    assert run_in_graph(f, -2.0) == [2.0]


# --- functions in odd places ------------------------------------------------------------------------------------------


def decorator(*options):
    return lambda f: f


@decorator(
    1,
    2,
)
@decorator()
def decorated(
    x,
    y=1.0,
):
    """A docstring
        with less indentation
    than the rest."""
    if x > 0:
        return x + y
    text = """
not indented
"""
    return x - len(text)  # fmt: skip


def test_decorated_and_oddly_laid_out():
    assert run_in_graph(decorated, 1.0, -1.0) == [2.0, -15.0]
    assert convert(decorated).__doc__ == decorated.__doc__


if True:

    def conditional(x):
        if x > 0:
            return x
        return -x

else:

    def conditional(x):
        return x


def test_function_under_a_condition():
    assert run_in_graph(conditional, -1.0) == [1.0]


# --- text that is no file ---------------------------------------------------------------------------------------------

TEXT = "def f(x):\n    if x > 0:\n        return x\n    return -x\n"


def made_of(text, name, keep):
    if keep:
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"tf": tf}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


def test_exec_with_its_source_kept():
    assert run_in_graph(made_of(TEXT, "<my cell 1>", keep=True), 1.0, -1.0) == [1.0, 1.0]


def test_a_cell_run_again_has_its_new_source():
    name = "<my cell 2>"
    assert run_in_graph(made_of(TEXT, name, keep=True), -1.0) == [1.0]
    assert run_in_graph(made_of(TEXT.replace("-x", "x * 5.0"), name, keep=True), -1.0) == [-5.0]


def test_source_that_has_changed_since_is_not_used(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text(TEXT)
    f = made_of(TEXT, str(path), keep=False)
    path.write_text("# a new first line\n" * 3 + TEXT)
    linecache.checkcache(str(path))
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="was the file edited"):
        run_in_graph(f, 1.0)


def test_another_text_of_that_name_is_not_used(monkeypatch):
    """From Python 3.13 on, the text on the command line is kept as "<string>"."""
    other = TEXT.replace("-x", "x * 5.0")
    monkeypatch.setitem(linecache.cache, "<string>", (len(other), None, other.splitlines(True), "<string>"))
    f = tf.function(made_of(TEXT, "<string>", keep=False))
    assert f(tf.constant(-1.0)) == 1.0
    assert run_in_graph(made_of(other, "<string>", keep=False), -1.0) == [-5.0]


# --- exec, and nothing kept -------------------------------------------------------------------------------------------


def executed(text, name="f"):
    scope = {"tf": tf}
    exec(text, scope)
    return scope[name]


def a_literal():
    scope = {"tf": tf}
    exec("@tf.function\ndef f(x):\n    if x > 0:\n        return x\n    return -x", scope)
    return scope["f"]


def in_a_variable():
    text = "def f(x):\n    while x < 0:\n        x = x + 3.0\n    return x"
    return tf.function(executed(text))


def dedented():
    text = """
        def f(x):
            if x > 0:
                x = x * 2.0
            return x
    """
    return tf.function(executed(textwrap.dedent(text)))


def in_a_list():
    texts = ["a = 1", "def f(x):\n    return x if x > 0 else 0.5 * x"]
    return tf.function(executed(texts[1]))


def with_another():
    text = (
        "def f(x):\n    return g(x) + 1.0\n\n"
        "def g(x):\n    if x > 0:\n        return x\n    else:\n        return x * x\n"
    )
    return tf.function(executed(text))


def with_one_inside():
    text = "def f(x):\n    def g(y):\n        return y if y > 0 else 7.0\n    return g(x)"
    return tf.function(executed(text))


def a_lambda():
    text = "lambda x: x if x > 0 else 4.0 * x"
    return tf.function(eval(text))


class Keeper:
    """Knows a text as an attribute."""

    def __init__(self):
        self.text = "def f(x):\n    return x if x > 0 else -3.0 * x"

    def make(self):
        return tf.function(executed(self.text))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (a_literal, [2.0, 2.0]),
        (in_a_variable, [2.0, 1.0]),
        (dedented, [4.0, -2.0]),
        (in_a_list, [2.0, -1.0]),
        (with_another, [3.0, 5.0]),
        (with_one_inside, [2.0, 7.0]),
        (a_lambda, [2.0, -8.0]),
        (Keeper().make, [2.0, 6.0]),
    ],
)
def test_exec(make, expected):
    f = make()  # whoever knows the text is gone when the function is traced
    assert [float(f(tf.constant(x))) for x in (2.0, -2.0)] == expected


def test_exec_of_a_file(tmp_path):
    path = tmp_path / "settings.py"
    path.write_text(TEXT.replace("-x", "x * 9.0"))
    f = tf.function(executed(path.read_text()))
    assert float(f(tf.constant(-1.0))) == -9.0


def test_a_text_with_other_code_is_not_used():
    """One constant is different: the text is like the function's, and not it."""
    text = "def f(x):\n    return x if x > 0 else 11.0 * x"
    f = executed(text.replace("11.0", "12.0"))
    assert "def f(x)" in text
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="Unable to locate the source code"):
        tf.function(f)(tf.constant(-1.0))


@pytest.fixture
def warnings_heard(monkeypatch):
    """What AutoGraph warns of, each thing once."""
    heard = []

    class Ear(logging.Handler):
        def emit(self, record):
            heard.append(record.getMessage())

    monkeypatch.setattr(log, "_warned", set())
    ear = Ear()
    logging.getLogger("tensorflow").addHandler(ear)
    yield heard
    logging.getLogger("tensorflow").removeHandler(ear)


def test_without_source_there_is_one_warning_and_a_clear_error(warnings_heard):
    f = made_of(TEXT.replace("-x", f"x * {len(TEXT)}"), "<nowhere>", keep=False)
    for _ in range(2):
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError) as caught:
            run_in_graph(f, 1.0)
        assert "Unable to locate the source code of <function f" in str(caught.value)
        assert "do_not_convert" in str(caught.value) and "linecache" in str(caught.value)
    assert len(warnings_heard) == 1
    assert warnings_heard[0].startswith("AutoGraph could not transform <function f at ")
    assert "and will run it as-is.\nCause: Unable to locate the source code" in warnings_heard[0]


def test_without_source_python_values_still_work(warnings_heard):
    f = made_of(TEXT.replace("-x", "x * 1 * -1"), "<nowhere else>", keep=False)
    assert convert(f)(3) == 3 and convert(f)(-3) == 3


def test_without_source_and_without_conditions_nobody_is_warned(warnings_heard):
    f = made_of("def f(x):\n    return x * 2.0 + tf.tanh(x)\n", "<nowhere at all>", keep=False)
    assert convert(f) is f
    assert run_in_graph(f, 0.0) == [0.0]
    assert not warnings_heard


PROGRAM = """
import ebbflow as tf
@tf.function
def f(x):
    if x > 0:
        return x
    return -x

print("answer", float(f(tf.constant(-4.0))))
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": ROOT, "PYTHON_HISTORY": os.devnull}


def test_the_command_line():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=ENVIRONMENT)
    assert "answer 4.0" in done.stdout, done.stderr


def test_a_program_on_standard_input(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    with path.open() as given:
        done = subprocess.run([sys.executable, "-"], stdin=given, capture_output=True, text=True, env=ENVIRONMENT)
    assert "answer 4.0" in done.stdout, done.stderr


def test_the_interactive_prompt():
    pytest.importorskip("readline")
    master, slave = pty.openpty()
    env = {**ENVIRONMENT, "TERM": "dumb", "PYTHON_BASIC_REPL": "1"}
    process = subprocess.Popen(
        [sys.executable, "-i", "-q"], stdin=slave, stdout=slave, stderr=slave, env=env, close_fds=True
    )
    os.close(slave)
    os.write(master, PROGRAM.lstrip().replace("import ebbflow", "import readline; import ebbflow").encode())
    os.write(master, b"exit()\n")
    seen = b""
    try:
        while True:
            seen += os.read(master, 4096)
    except OSError:  # the other end is closed
        pass
    process.wait(timeout=30)
    os.close(master)
    assert b"answer 4.0" in seen, seen.decode(errors="replace")
