"""AutoGraph's operators called by hand, told how to read and set the variables they change."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.functions.autograph import operators
from ebbflow.testing.autograph_case import AutoGraphTestCase


class Held:
    """Variables by name, and the two functions that operators want."""

    def __init__(self, **values):
        self.__dict__.update(values)
        self._names = tuple(values)

    def arguments(self):
        return {
            "get_state": lambda: tuple(getattr(self, name) for name in self._names),
            "set_state": lambda values: self.__dict__.update(zip(self._names, values, strict=True)),
            "symbol_names": self._names,
        }


def digits(held):
    def body(i):
        held.s = held.s * 10 + i

    return body


@pytest.mark.parametrize("items", [lambda: range(5), lambda: tf.range(5), lambda: tf.constant([0, 1, 2, 3, 4])])
@pytest.mark.parametrize(("limit", "want"), [(1000000, 1234), (12, 12)])
def test_for(items, limit, want):
    @tf.function(autograph=False)
    def run():
        held = Held(s=0)
        operators.for_stmt(items(), lambda: held.s < limit, digits(held), opts={}, **held.arguments())
        return held.s

    assert int(run()) == want


def test_while_gives_variables_their_first_value():
    @tf.function(autograph=False)
    def run():
        held = Held(i=tf.constant(0), y=operators.Undefined("y"))

        def body():
            held.i, held.y = held.i + 1, {"double": held.i * 2}

        operators.while_stmt(lambda: held.i < 3, body, opts={}, **held.arguments())
        return held.i, held.y["double"]

    assert [int(x) for x in run()] == [3, 4]


def test_if_hands_on_only_as_many_as_asked():
    @tf.function(autograph=False)
    def run(c, nouts):
        held = Held(a=0, b=None)

        def body():
            held.a, held.b = 1, 1.0

        def orelse():
            held.a, held.b = 2, 2

        operators.if_stmt(c, body, orelse, nouts=nouts, **held.arguments())
        return held.a, held.b

    assert int(run(tf.constant(False), 1)[0]) == 2 and run(tf.constant(True), 1)[1] is None
    with pytest.raises(TypeError, match="'b' has dtype float32 in the main branch, but dtype int32 in the else branch"):
        run(tf.constant(True), 2)


@pytest.mark.parametrize(
    ("first", "after", "says"),
    [
        (None, lambda s: s, "'s' is not allowed to be None before the loop"),
        (operators.Undefined("s"), lambda s: s, "'s' must be defined before the loop"),
        (operators.Undefined("s"), lambda s: object(), "(?s)'s' must be defined.*tried to define.*unsupported type"),
        (0, lambda s: None, "'s' is None at the end"),
        (0, lambda s: tf.constant([1]), r"'s' has shape \(\) before the loop, but shape \(1,\) after"),
    ],
)
def test_refused_loops(first, after, says):
    def run():
        held = Held(s=first)

        def body(i):
            held.s = after(held.s)

        operators.for_stmt(tf.range(3), None, body, opts={}, **held.arguments())

    with pytest.raises(ValueError, match=says):
        tf.function(run, autograph=False)()


def test_logic_calls_what_it_needs():
    assert operators.and_(lambda: [1], lambda: 2) == 2 and operators.or_(lambda: 0, lambda: [3]) == [3]
    both = tf.function(lambda a, b: operators.and_(lambda: a, lambda: b), autograph=False)
    assert [bool(both(tf.constant(x), tf.constant(y))) for x, y in ((True, True), (True, False))] == [True, False]
    assert operators.not_eq(1, 2) and not operators.eq(1, 2)


@pytest.mark.parametrize("test", [[[True]], [[False]]])
def test_a_condition_of_one_element_is_that_element(test):
    @tf.function
    def run(c):
        return 1 if c else 2

    @tf.function(input_signature=[tf.TensorSpec(None, tf.bool)])
    def unknown(c):
        return 1 if c else 2

    want = 1 if test == [[True]] else 2
    assert int(run(tf.constant(test))) == int(unknown(tf.constant(test))) == want
    with pytest.raises(tf.errors.InvalidArgumentError, match="requested shape"):
        unknown(tf.constant([True, False]))


def case():
    """A class of such tests, made here so that pytest does not collect it."""

    class Case(AutoGraphTestCase):
        def test_right(self):
            x = tf.constant(2) * 3
            self.assertOpCreated("Mul")
            self.assertOpsNotCreated(["While"])
            self.assertGraphContains("mul$", 1)
            self.assertEqual(x, 6)
            self.assertLess(self.variable("v", 1, tf.int32) + 0, 2)

        def test_wrong(self):
            self.assertEqual(tf.constant(2) * 3, 7)

        def test_no_nodes(self):
            tf.constant(1)
            self.assertNoOpsCreated()

        def test_fails_running(self):
            self.assertEqual(tf.reshape(tf.range(tf.random.uniform([], 2, 3, tf.int32)), []), 0)
            self.assertRaisesRuntime(tf.errors.InvalidArgumentError, "requested shape")

    return Case


@pytest.mark.parametrize(("name", "passes"), [("right", 1), ("wrong", 0), ("no_nodes", 0), ("fails_running", 1)])
def test_staged_tests_check_the_values_of_a_run(name, passes):
    result = case()(f"test_{name}").run()
    assert result.wasSuccessful() == bool(passes), result.failures + result.errors
