"""Python's functions on tensors and datasets, as `tensorflow.python.autograph` has them for programs to call."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.api import inner_builtins as py
from ebbflow.api import inner_lists as lists
from ebbflow.functions.autograph.transpiler import ConversionOptions


def elements(dataset):
    return [tf.nest.map_structure(lambda t: t.numpy().tolist(), e) for e in dataset]


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (py.abs_, (-1,), 1),
        (py.abs_, (tf.constant([-1, 2]),), [1, 2]),
        (py.float_, (tf.constant("1.5"),), 1.5),
        (py.int_, (tf.constant("12"), 10), 12),
        (py.int_, ("11", 2), 3),
        (py.int_, (tf.constant(2.5),), 2),
        (py.len_, (tf.constant([[1], [2]]),), 2),
        (py.len_, (tf.TensorArray(tf.int32, 5),), 5),
        (py.len_, ([1, 2],), 2),
        (py.max_, (tf.constant([1, 3, 2]),), 3),
        (py.max_, (1, tf.constant(4)), 4),
        (py.min_, (tf.constant(2),), 2),
        (py.min_, (2, 0, 1), 0),
        (py.range_, (tf.constant(-3),), []),
        (py.range_, (1, tf.constant(3)), [1, 2]),
        (py.sum_, (tf.constant([1, 2]), 5), 8),
        (py.any_, (tf.constant([False, True]),), True),
        (py.all_, ([True, False],), False),
        (py.sorted_, (tf.constant([2, 3, 1]), lambda x: -x), [3, 2, 1]),
        (py.sorted_, (tf.constant([2, 3, 1]), None, True), [3, 2, 1]),
        (py.sorted_, ([2, 3, 1],), [1, 2, 3]),
        (py.next_, (iter([]), 4), 4),
        (py.get_range_len, (-3, 3, 2), 3),
        (py.get_range_len, (3, -3, -1), 6),
        (py.get_range_len, (3, 3, 1), 0),
    ],
)
def test_functions_on_tensors_and_on_plain_values(function, args, expected):
    found = function(*args)
    assert (found.numpy().tolist() if hasattr(found, "numpy") else found) == expected


def test_functions_on_datasets():
    data = tf.data.Dataset.from_tensor_slices([-1, 2])
    assert elements(py.abs_(data)) == [1, 2]
    assert elements(py.enumerate_(data, 5)) == [(5, -1), (6, 2)]
    assert elements(py.zip_(data, data)) == [(-1, -1), (2, 2)]
    assert elements(py.map_(lambda a, b: a + b, data, data)) == [-2, 4]
    assert elements(py.filter_(lambda x: x > 0, data)) == [2]
    assert int(py.len_(data)) == 2
    truths = tf.data.Dataset.from_tensor_slices([True, False])
    assert bool(py.any_(truths)) and not bool(py.all_(truths))


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: py.len_(tf.constant(1)), ValueError, "non-scalar"),
        (lambda: py.len_(tf.data.Dataset.range(2).repeat()), tf.errors.InvalidArgumentError, "cardinality"),
        (lambda: py.int_(tf.constant(1.0), 2), NotImplementedError, "base 2"),
        (lambda: py.max_(tf.constant([[2]])), ValueError, "0-d or 1-d"),
        (lambda: py.min_(tf.constant([2]), 1), ValueError, "only scalar tensors"),
        (lambda: py.any_(tf.data.Dataset.range(2)), ValueError, "boolean"),
        (lambda: py.sorted_(tf.constant([[1]])), ValueError, "one axis"),
        (lambda: py.ld(py.Undefined("a")), UnboundLocalError, "'a' is used before assignment"),
        (lambda: py.assert_stmt(False, lambda: "words"), AssertionError, "words"),
        (lambda: py.assert_stmt(tf.constant(False), lambda: "words"), tf.errors.InvalidArgumentError, "words"),
    ],
)
def test_what_is_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_the_next_element_or_a_default_of_its_kind():
    @tf.function(autograph=False)
    def two(default):
        iterator = iter(tf.data.Dataset.range(1))
        return py.next_(iterator), py.next_(iterator, default)

    assert [int(x) for x in two(tf.constant(-3, tf.int64))] == [0, -3]
    with pytest.raises(TypeError, match="must be of dtype int64"):
        two(tf.constant(-3))


def test_print_in_a_graph_is_pythons(capsys):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(py.print_(tf.constant("message"), [1, 2], sep="-"))
    assert capsys.readouterr().out == "message-[1, 2]\n"


def test_a_length_that_is_known_when_the_graph_runs():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.int32)
        length = py.len_(x)
        assert session.run(length, {x: [1, 2, 3]}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="non-zero rank"):
            session.run(length, {x: 1})


def test_choices_say_which_branch_differs():
    choose = lambda test, no=2: py.if_exp(test, lambda: 1, lambda: no, "x if y else z")
    assert choose(True) == 1 and int(choose(tf.constant(False))) == 2

    @tf.function
    def graph():
        return choose(tf.constant(True), 2.0)

    with pytest.raises(TypeError, match=r"'x if y else z' has dtype int32 in the main.*float32 in the else"):
        graph()


class Base:
    def method(self, x):
        return x + 20


class Derived(Base):
    def method(self, x):
        raise AssertionError

    def call(self):
        with py.FunctionScope("f", "scope", ConversionOptions()) as scope:
            assert __class__ is Derived
            return (lambda: py.super_in_original_context(super, (), scope).method(scope and 1))()


def test_where_a_function_stands():
    inside = 7
    with py.FunctionScope("f", "scope", ConversionOptions()) as scope:
        assert py.locals_in_original_context(scope)["inside"] == inside
        assert py.globals_in_original_context(scope)["Base"] is Base
        assert py.eval_in_original_context(eval, ("inside + 1",), scope) == 8
    assert Derived().call() == 21


@pytest.mark.parametrize("make", [lists.tf_tensor_list_new, lists.tf_tensor_array_new])
def test_lists_of_one_kind(make):
    stack = lambda l: lists.list_stack(l, lists.ListStackOpts(tf.int32, None)).numpy().tolist()
    grown = lists.list_append(make([3, 4]), 5)
    assert stack(grown) == [3, 4, 5]
    assert int(lists.get_item(grown, 1, lists.GetItemOpts(tf.int32))) == 4
    assert stack(lists.set_item(make([3, 4]), 0, 9)) == [9, 4]
    for elements_, given in [([3, 4.0], {}), ([3], {"element_dtype": tf.float32}), ([3], {"element_shape": (2,)})]:
        with pytest.raises(ValueError, match="element"):
            make(elements_, **given)


def test_a_list_begun_before_its_elements_are_known():
    grown = lists.list_append(lists.new_list(), tf.constant([1, 2]))
    grown, last = lists.list_pop(lists.list_append(grown, [3, 4]), None, lists.ListPopOpts(tf.int32, (2,)))
    assert last.numpy().tolist() == [3, 4] and int(tf.raw_ops.TensorListLength(input_handle=grown)) == 1
    with pytest.raises(NotImplementedError, match="from the end"):
        lists.list_pop(grown, 0, lists.ListPopOpts(tf.int32, (2,)))
    assert lists.list_append([1], 2) == [1, 2] and lists.list_pop([1, 2], None, None) == ([1], 2)


def test_a_list_changed_in_place():
    held = lists.TensorList([], tf.float32)
    lists.dynamic_list_append(held, 1.0)
    held.append(2.0)
    held[0] = tf.constant(5.0)
    assert (int(held.count()), float(held[0]), float(held.pop())) == (2, 5.0, 2.0)
    held.clear()
    assert int(held.count()) == 0


@pytest.mark.parametrize(
    ("given", "says"), [(([],), "element_dtype and element_shape are required"), ((3,), "unknown type for elements")]
)
def test_lists_that_cannot_be_made(given, says):
    with pytest.raises(ValueError, match=says):
        lists.tensor_list(*given)
