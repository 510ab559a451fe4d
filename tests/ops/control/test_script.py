"""Python functions in programs: what they are given, what they may give, what their errors become, their gradients."""

import gc
import threading
import weakref

import numpy as np
import pytest

import ebbflow.ops.foundation  # noqa: F401  (operators)
from ebbflow.core import dtypes, errors
from ebbflow.eager.py_function import py_function
from ebbflow.eager.tape import GradientTape
from ebbflow.functions.control_flow.cond import cond
from ebbflow.graph.gradients import gradients
from ebbflow.graph.graph import Graph
from ebbflow.graph.placeholders import placeholder, placeholder_with_default
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.control import script
from ebbflow.runtime.session import Session


def ran(make):
    """Build something on the placeholder [1, 2] of floats and run it."""
    with Graph().as_default(), Session() as session:
        return session.run(make(placeholder_with_default(np.float32([1.0, 2.0]), [2])))


@pytest.mark.parametrize(
    "function, types, value",
    [
        (lambda x: x * 2, dtypes.float32, [2.0, 4.0]),
        (lambda x: (x, x + 1), [dtypes.float32] * 2, [[1.0, 2.0], [2.0, 3.0]]),
        (lambda x: [x], dtypes.float32, [1.0, 2.0]),
        (lambda x: x, [dtypes.float32], [[1.0, 2.0]]),
        (lambda x: 1.5, dtypes.float64, 1.5),
        (lambda x: 7, "int64", 7),
        (lambda x: True, dtypes.bool, True),
        (lambda x: ([1.0, 2.0],), dtypes.float64, [1.0, 2.0]),
        (lambda x: "abc", dtypes.string, b"abc"),
        (lambda x: b"a\x00", dtypes.string, b"a\x00"),
        (lambda x: np.array(["ab", "c"]), dtypes.string, [b"ab", b"c"]),
        (lambda x: np.asfortranarray(np.ones((2, 3), np.float32)), dtypes.float32, np.ones((2, 3)).tolist()),
        (lambda x: x[::-1], dtypes.float32, [2.0, 1.0]),
    ],
)
def test_what_a_function_may_give(function, types, value):
    given = ran(lambda x: script.py_func(function, [x], types))
    plain = [v.tolist() for v in given] if isinstance(given, list) else np.asarray(given).tolist()
    assert plain == value or given == value


def test_what_a_function_is_given():
    seen = []

    def look(*args):
        seen.extend((type(a), getattr(a, "dtype", None)) for a in args)
        return np.float32(0)

    ran(lambda x: script.py_func(look, [x, x[0], constant(["a"]), constant("a"), 3], dtypes.float32))
    assert seen == [
        (np.ndarray, np.float32),
        (np.float32, np.float32),
        (np.ndarray, np.dtype(object)),
        (bytes, None),
        (np.int32, np.int32),
    ]


def test_a_function_may_write_to_what_it_is_given():
    def overwrite(x):
        x[0] = 9
        return x

    changed, kept = ran(lambda x: [script.py_func(overwrite, [x], dtypes.float32), x])
    assert changed.tolist() == [9.0, 2.0] and kept.tolist() == [1.0, 2.0]


def test_a_function_may_go_on_changing_what_it_gave():
    buffer = np.zeros(1, np.float32)

    def count():
        buffer[0] += 1
        return buffer

    with Graph().as_default(), Session() as session:
        y = script.py_func(count, [], dtypes.float32)
        first, second = session.run(y), session.run(y)
    assert first.tolist() == [1.0] and second.tolist() == [2.0]


WRONG = {
    "another dtype": (lambda x: 1.5, dtypes.float32, errors.InvalidArgumentError, "is double, but expects float"),
    "too many": (
        lambda x: [x, x],
        dtypes.float32,
        errors.InvalidArgumentError,
        "returns 2 values, but expects to see 1",
    ),
    "none": (
        lambda x: None,
        dtypes.float32,
        errors.InvalidArgumentError,
        "returns 0 values, but expects to see 1 values.",
    ),
    "no value": (lambda x: object(), dtypes.string, errors.InternalError, "Unsupported object type object"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_function_may_not_give(name):
    function, types, kind, words = WRONG[name]
    with pytest.raises(kind) as raised:
        ran(lambda x: script.py_func(function, [x], types))
    assert words in raised.value.message


RAISED = [
    (ValueError, errors.InvalidArgumentError),
    (TypeError, errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    (KeyError, errors.UnknownError),
    (OSError, errors.UnknownError),
]


@pytest.mark.parametrize("inside, outside", RAISED)
@pytest.mark.parametrize("call", [script.py_func, py_function])
def test_errors_inside(call, inside, outside):
    def fail(x):
        raise inside("from inside")

    with pytest.raises(outside) as raised:
        ran(lambda x: call(fail, [x], dtypes.float32))
    assert f"{inside.__name__}: " in raised.value.message and "from inside" in raised.value.message
    assert f'File "{__file__}"' in raised.value.message, "the function's own line is told"
    assert raised.value.op.type in ("PyFunc", "EagerPyFunc")


def test_an_error_of_ours_inside_is_told_as_unknown():
    def fail():
        raise errors.NotFoundError(None, None, "nothing there")

    with pytest.raises(errors.UnknownError, match="NotFoundError: nothing there"):
        ran(lambda x: script.py_func(fail, [], dtypes.float32))


def test_eagerly_an_error_is_the_functions_own():
    with pytest.raises(ZeroDivisionError):
        script.numpy_function(lambda: 1 / 0, [], dtypes.float32)
    with pytest.raises(errors.UnknownError, match="ZeroDivisionError: division by zero") as raised:
        py_function(lambda: 1 / 0, [], dtypes.float32)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_eagerly():
    x = constant([1.0, 2.0])
    assert script.numpy_function(lambda a: a + 1, [x], dtypes.float32).numpy().tolist() == [2.0, 3.0]
    one, two = script.py_func(lambda a: (a, 5), [x], [dtypes.float32, dtypes.int32])
    assert two.dtype is dtypes.int32 and one.numpy().tolist() == [1.0, 2.0]
    assert script.numpy_function(lambda a: None, [x], []) is None
    assert py_function(lambda a: None, [x], []) == []
    assert py_function(lambda a: [a * a, 1.5], [x], [dtypes.float32] * 2)[1].numpy() == 1.5
    with pytest.raises(ValueError, match="Expected func to be callable"):
        py_function(5, [x], dtypes.float32)


@pytest.mark.parametrize("call", [script.numpy_function, py_function])
def test_as_a_decorator(call):
    @call(Tout=dtypes.float32)
    def double(x):
        return x + x

    assert double(constant([1.0])).numpy().tolist() == [2.0]
    assert ran(double).tolist() == [2.0, 4.0]


def test_nodes():
    with Graph().as_default() as graph:
        x = placeholder(dtypes.float32, [2], name="x")
        one = script.py_func(lambda a: a, [x], dtypes.float32)
        two = script.py_func(lambda a: (a, a), [x], [dtypes.float32] * 2, stateful=False, name="pair")
        done = script.py_func(lambda a: None, [x], [])
        done_too = py_function(lambda a: None, [x], [])
        assert one.name == "PyFunc:0" and one.shape.rank is None and two[1].name == "pair:1"
        assert [node.type for node in graph.get_operations()] == [
            "Placeholder",
            "PyFunc",
            "PyFuncStateless",
            "PyFunc",
            "EagerPyFunc",
        ]
        assert isinstance(done, Operation) and isinstance(done_too, Operation)
        assert gradients(one, x) == [None]
        with Session() as session:
            session.run([done, done_too], {x: [1.0, 2.0]})


def test_functions_live_as_long_as_their_graph():
    class Callable:
        def __call__(self, x):
            return x

    function = Callable()
    alive = weakref.ref(function)
    with Graph().as_default() as graph:
        x = placeholder_with_default(np.float32([1.0]), [1])
        y = script.py_func(function, [x], dtypes.float32)
        token = y.op.get_attr("token").decode()
        del function
        gc.collect()
        with Session() as session:
            assert session.run(y).tolist() == [1.0]
    assert alive() is not None and script.find(token) is not None
    del graph, x, y, session
    gc.collect()
    assert alive() is None
    with pytest.raises(errors.InvalidArgumentError, match=f"callback {token} is not found"):
        script.find(token)


# --- gradients of py_function -----------------------------------------------------------------------------------------


def test_gradients_eagerly():
    x = constant([1.0, 2.0])
    with GradientTape() as outer:
        outer.watch(x)
        with GradientTape() as tape:
            tape.watch(x)
            y = py_function(lambda a: a * a * a, [x], dtypes.float32)
        slope = tape.gradient(y, x)
    assert slope.numpy().tolist() == [3.0, 12.0]
    assert outer.gradient(slope, x).numpy().tolist() == [6.0, 12.0]


GRADIENTS = {
    "one": (lambda x, s: py_function(lambda a: a * a, [x], dtypes.float32), [[2.0, 4.0], None]),
    "two": (
        lambda x, s: py_function(lambda a, b: [a * a * b, b], [x, s], [dtypes.float32] * 2),
        [[3.0, 6.0], 5.0 + 1.0],
    ),
    "one of two results": (
        lambda x, s: py_function(lambda a, b: [a * a, b], [x, s], [dtypes.float32] * 2)[0],
        [[2.0, 4.0], 0.0],
    ),
    "through NumPy": (lambda x, s: py_function(lambda a: a.numpy() * 2, [x], dtypes.float32), [[0.0, 0.0], None]),
    "beside integers": (
        lambda x, s: py_function(lambda a, i: a * float(i), [x, 3], dtypes.float32),
        [[3.0, 3.0], None],
    ),
    "composed": (lambda x, s: py_function(lambda a: a * a, [x * s], dtypes.float32) * 2.0, [[9.0, 18.0], 30.0]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_in_a_graph(name):
    make, expected = GRADIENTS[name]
    with Graph().as_default(), Session() as session:
        x = placeholder_with_default(np.float32([1.0, 2.0]), [2])
        s = placeholder_with_default(np.float32(1.5), [])
        for slope, wanted in zip(gradients(make(x, s), [x, s]), expected, strict=True):
            if wanted is None:
                assert slope is None
            else:
                assert slope.shape.as_list() == list(np.shape(wanted))
                assert session.run(slope).tolist() == wanted


def test_higher_gradients_in_a_graph():
    def slopes(x):
        first = gradients(py_function(lambda a: a * a * a * a, [x], dtypes.float32), x)[0]
        second = gradients(first, x)[0]
        return [first, second, gradients(second, x)[0]]

    assert [v.tolist() for v in ran(slopes)] == [[4.0, 32.0], [12.0, 48.0], [24.0, 48.0]]


def test_the_function_runs_once_for_value_and_gradient():
    calls = []

    def square(a):
        calls.append(1)
        return a * a

    def both(x):
        y = py_function(square, [x], dtypes.float32)
        return [y, gradients(y, x)[0], gradients(y * 2.0, x)[0]]

    assert [v.tolist() for v in ran(both)] == [[1.0, 4.0], [2.0, 4.0], [4.0, 8.0]]
    assert len(calls) == 1


def test_gradients_inside_a_branch():
    with Graph().as_default(), Session() as session:
        x = placeholder(dtypes.float32, [])
        y = cond(x > 0.0, lambda: py_function(lambda a: a * a, [x], dtypes.float32), lambda: -x)
        slope = gradients(y, x)[0]
        assert [session.run(slope, {x: v}).tolist() for v in (3.0, -1.0)] == [6.0, -1.0]


def test_runs_that_overlap_do_not_mix():
    meet = threading.Barrier(2)

    def square(a):
        meet.wait(timeout=60)  # both runs are inside the function before either goes on
        return a * a

    with Graph().as_default() as graph:
        x = placeholder(dtypes.float32, [])
        slope = gradients(py_function(square, [x], dtypes.float32), x)[0]
    session, found = Session(graph=graph), {}
    threads = [
        threading.Thread(target=lambda v=v: found.update({v: float(session.run(slope, {x: v}))})) for v in (3.0, 5.0)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {3.0: 6.0, 5.0: 10.0}
