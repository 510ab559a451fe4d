"""Closures, globals, methods, `super()`, private names, nested functions, recursion: names mean what they meant."""

from __future__ import annotations

import functools

import pytest

import ebbflow as tf
from ebbflow.functions.autograph import convert
from tests.functions.autograph.programs import Table, check

table = Table()
program = table.program
SCALE = 3.0
counter = 0


def helper(x):
    if x > 0:
        return x * SCALE
    return x


def countdown(n, x):
    if n == 0:
        return x
    return countdown(n - 1, helper(x) + 1.0)


@program(1.0, -1.0)
def calls_another_function(x):
    return helper(x) + helper(-x)


@program(1.0, -1.0)
def recursion_on_a_python_number(x):
    return countdown(3, x)


@program(1.0, -1.0)
def default_and_keyword_arguments(x):
    def f(a, b=2.0, *rest, c, d=4.0, **more):
        if a > 0:
            return a + b + c + d + sum(rest) + more.get("e", 0.0)
        return a

    return f(x, c=3.0) + f(x, 1.0, 2.0, 3.0, c=1.0, d=0.0, e=5.0)


@program(1.0, -1.0)
def argument_lists(x):
    pair, words = (x, 2.0), {"c": 3.0}

    def f(a, b, c):
        return a + b if a > 0 else c

    return f(*pair, **words)


@program(1.0, -1.0)
def decorated_inside(x):
    def twice(f):
        @functools.wraps(f)
        def g(v):
            return f(f(v))

        return g

    @twice
    def step(v):
        if v > 0:
            return v * 2.0
        return v - 1.0

    return step(x)


@program(1.0, -1.0)
def lambdas(x):
    f = lambda v, k=2.0: v * k if v > 0 else v - k
    g = (lambda h: lambda v: h(v) + 1.0)(f)
    return f(x), g(x), (lambda: x)()


@program(1.0, -1.0)
def partials(x):
    return functools.partial(helper)(x) + functools.partial(lambda a, b: a if a > b else b, 0.5)(x)


@program(1.0, -1.0)
def functions_as_values(x):
    table = {"helper": helper, "other": lambda v: v if v > 0 else 0.0 * v}
    return [f(x) for f in table.values()]


@program(1.0, -1.0)
def builtins_under_other_names(x):
    size, biggest = len, max
    return biggest(x, 0.5) * float(size([1, 2, 3]))


@program(1.0, -1.0)
def nonlocal_through_two_functions(x):
    total = 0.0

    def outer(v):
        def inner():
            nonlocal total
            if v > 0:
                total = total + v
            else:
                total = total - 10.0 * v

        inner()
        inner()

    outer(x)
    return total


@program(1.0, -1.0)
def generator_is_left_alone(x):
    def items():
        yield x
        yield x * 2.0

    total = 0.0
    for v in items():
        total += v
    return total


@program(1.0, -1.0)
def class_inside(x):
    class Box:
        size = 2.0

        def __init__(self, v):
            self.v = v

        def grown(self):
            if self.v > 0:
                return self.v * self.size
            return self.v

    return Box(x).grown()


@program(1.0, -1.0)
def shadowed_builtins(x):
    len = lambda v: v + 1.0
    range = [1.0, 2.0]
    for k in range:
        x = x + k
    return len(x)


@program(1.0, -1.0)
def locals_and_eval(x):
    y = x + 1.0
    return eval("y * 2.0") + locals()["y"]


class Counter:
    """Methods with private names, properties, class and static methods."""

    scale = 2.0

    def __init__(self):
        self.__total = 0.0
        self.last = None

    def add(self, x):
        if x > 0:
            self.__total = self.__total + x
        else:
            self.__total = self.__total - x * self.scale
        self.last = x
        return self.__total

    @property
    def doubled(self):
        return self.__total * 2.0

    @classmethod
    def of_class(cls, x):
        return x * cls.scale if x > 0 else x

    @staticmethod
    def of_none(x):
        if x > 0:
            return x
        return -x

    def __call__(self, x):
        if x > 0:
            return x + 1.0
        return x - 1.0


class Child(Counter):
    """Calls the methods of its base by `super()`."""

    def add(self, x):
        if x > 5:
            return super().of_none(x) + 100.0
        for _ in tf.range(2):
            x = super().of_class(x) + 1.0
        return super(Child, self).add(x)  # noqa: UP008


@program(1.0, -1.0)
def methods(x):
    c = Counter()
    return c.add(x) + c.doubled + Counter.of_class(x) + c.of_none(x) + c(x)


@program(1.0, -1.0, 6.0)
def methods_of_the_base(x):
    return Child().add(x)


@program(1.0, -1.0)
def attributes_are_variables(x):
    c = Counter()
    c.value = x
    if x > 0:
        c.value = c.value * 2.0
    for _ in tf.range(3):
        c.value = c.value + 1.0
    return c.value


@pytest.mark.parametrize(("function", "arguments"), table, ids=table.ids())
def test_program(function, arguments):
    check(function, arguments)


def test_a_closure_sees_later_assignments_and_shares_its_cells():
    scale = 2.0

    def f(x):
        nonlocal scale
        if x > 0:
            y = x * scale
        else:
            y = x
        scale = 10.0
        return y

    converted = convert(f)
    assert converted is not f
    assert converted(1.0) == 2.0
    assert scale == 10.0
    scale = 5.0
    assert converted(1.0) == 5.0


def test_global_variables_are_the_modules_own():
    global counter

    def f(x):
        global counter
        if x > 0:
            counter = counter + 1
        return counter

    counter = 0
    assert convert(f)(1.0) == 1 and counter == 1
    graph_value = tf.function(lambda x: f(x) * 1)(tf.constant(-1.0))
    assert int(graph_value) == 1
    counter = 0


def test_methods_are_bound_and_defaults_are_kept():
    c = Counter()
    assert float(convert(c.add)(tf.constant(2.0))) == 2.0

    def f(a, b=3, *, k=4):
        return a if a > b else k

    assert convert(f)(5) == 5 and convert(f)(1) == 4
    f.__defaults__ = (0,)
    assert convert(f)(1) == 1
    assert convert(f).__name__ == "f" and convert(f).__qualname__ == f.__qualname__


def test_what_has_nothing_to_convert_is_returned_as_it_is():
    def f(x):
        return tf.tanh(x) + 1.0

    assert convert(f) is f
    assert convert(len) is len
    assert convert(tf.tanh) is tf.tanh
    assert convert(Counter) is Counter


def test_a_conversion_is_not_converted_again():
    def f(x):
        return 1 if x > 0 else 2

    once = convert(f)
    assert convert(once) is once


def test_methods_of_a_class_keep_their_object_in_tf_function():
    class Model:
        def __init__(self):
            self.steps = tf.Variable(0)

        @tf.function
        def step(self, x):
            for _ in tf.range(3):
                self.steps.assign_add(1)
                if x > 10.0:
                    break
                x = x * 2.0
            return x

    m = Model()
    assert float(m.step(tf.constant(1.0))) == 8.0
    assert float(m.step(tf.constant(20.0))) == 20.0
    assert int(m.steps) == 4


def test_do_not_convert():
    @tf.autograph.experimental.do_not_convert
    def plain(x):
        return 1.0 if x > 0 else 2.0

    @tf.function
    def f(x):
        return plain(x)

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        f(tf.constant(1.0))
    assert plain.__name__ == "plain"
    assert tf.autograph.experimental.do_not_convert()(plain)(3) == 1.0


def test_libraries_are_not_converted():
    import random
    import textwrap

    assert convert(random.random) is random.random

    def f(x):
        return textwrap.dedent("  a") if x > 0 else random.random()

    assert convert(f)(1) == "a"


def test_an_installed_package_written_for_tensorflow_is_converted(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages" / "made_for_tf"
    folder.mkdir(parents=True)
    body = "def sign(x):\n    if x > 0:\n        return 1.0\n    return -1.0\n"
    (folder / "__init__.py").write_text("import ebbflow as tf\n" + body)
    plain = tmp_path / "site-packages" / "made_for_numpy.py"
    plain.write_text("import numpy as np\n" + body)
    monkeypatch.syspath_prepend(str(folder.parent))
    import made_for_numpy
    import made_for_tf

    @tf.function
    def f(x):
        return made_for_tf.sign(x)

    @tf.function
    def g(x):
        return made_for_numpy.sign(x)

    assert float(f(tf.constant(2.0))) == 1.0
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        g(tf.constant(2.0))


def test_conversion_holds_code_weakly():
    import gc

    from ebbflow.functions.autograph.convert import _templates

    def make(k):
        source = f"def f(x):\n    return {k} if x > 0 else 0\n"
        import linecache

        name = f"<made {k}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        scope = {}
        exec(compile(source, name, "exec"), scope)
        return scope["f"]

    gc.collect()
    before = len(_templates)
    for k in range(20):
        assert convert(make(k))(1) == k
    gc.collect()
    assert len(_templates) <= before + 1


def test_closures_that_die_leave_nothing_behind():
    import gc
    import weakref

    class Thing:
        pass

    def make():
        thing = Thing()

        def f(x):
            return thing if x > 0 else f

        return f, weakref.ref(thing)

    f, ref = make()
    convert(f)(1)
    del f
    gc.collect()
    assert ref() is None
