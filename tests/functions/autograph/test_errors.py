"""What is refused, in which words, and where: the variable, both types, and the user's line."""

from __future__ import annotations

import traceback

import pytest

import ebbflow as tf

REFUSALS = []


def refuses(error, *says):
    """Put a function into the table: called with a number it must raise `error`, saying all of `says`.

    The line marked `# here` must be named in the traceback, among the user's lines.
    """

    def add(function):
        REFUSALS.append((function, error, says))
        return function

    return add


@refuses(ValueError, "'y' must also be initialized in the else branch")
def undefined_in_else(x):
    if x > 0:  # here
        y = x
    return y


@refuses(ValueError, "'y' must also be initialized in the main branch")
def undefined_in_main(x):
    if x > 0:  # here
        pass
    else:
        y = x
    return y


@refuses(TypeError, "'y' has dtype float32 in the main branch, but dtype int32 in the else branch")
def dtype_of_branches(x):
    if x > 0:  # here
        y = x
    else:
        y = 1
    return y


@refuses(ValueError, "'y' is None at the end of the else branch.")
def none_in_one_branch(x):
    y = None
    if x > 0:  # here
        y = x
    return y


@refuses(TypeError, "'y' must be tensors", "object in the else branch", "float32 of shape () in the main branch")
def object_in_one_branch(x):
    y = object()
    if x > 0:  # here
        y = x
    return y


@refuses(TypeError, "'y' must have the same nested structure in the main and else branches")
def structures_of_branches(x):
    if x > 0:  # here
        y = (x, x)
    else:
        y = x
    return y


@refuses(TypeError, "'d' must have the same nested structure in the main and else branches")
def keys_of_branches(x):
    d = {}
    if x > 0:  # here
        d["a"] = x
    return d


@refuses(ValueError, "the else branch must also have a return statement")
def no_return_in_else(x):
    if x > 0:  # here
        return x


@refuses(ValueError, "the main branch must also have a return statement")
def no_return_in_main(x):
    if x > 0:  # here
        x = x + 1.0
    else:
        return x


@refuses(TypeError, "the return value has dtype float32 in the main branch, but dtype int32 in the else branch")
def dtype_of_returns(x):
    if x > 0:  # here
        return x
    return 1


@refuses(ValueError, "the else branch must also have a return statement")
def no_return_behind_a_loop(x):
    for _ in tf.range(10):
        if x > 3:
            return x
        x = x + 1.0


@refuses(TypeError, "the conditional expression has dtype float32 in the main branch, but dtype int32 in the else")
def dtype_of_an_expression(x):
    return x if x > 0 else 1  # here


@refuses(ValueError, "'thing.v' must also be initialized in the else branch")
def undefined_attribute(x):
    class Thing:
        pass

    thing = Thing()
    if x > 0:  # here
        thing.v = x
    return x


@refuses(TypeError, "'s' has dtype int32 before the loop, but dtype float32 after one iteration")
def dtype_of_a_loop_variable(x):
    s = 0
    for _ in tf.range(3):  # here
        s = tf.constant(1.0) * x
    return s


@refuses(ValueError, "'s' has shape (1,) before the loop, but shape (2,) after one iteration", "set_loop_options")
def shape_of_a_loop_variable(x):
    s = tf.zeros([1])
    while x > 0:  # here
        s = tf.concat([s, s], 0)
        x = x - 1.0
    return s


@refuses(
    ValueError, "'s' has shape (2, None) after one iteration, which does not conform with the shape invariant (None,)"
)
def shape_of_a_loop_variable_against_its_invariant(x):
    s = tf.zeros([1])
    while x > 0:  # here
        tf.autograph.experimental.set_loop_options(shape_invariants=[(s, tf.TensorShape([None]))])
        s = tf.stack([s, s])
        x = x - 1.0
    return s


@refuses(TypeError, "'s' does not have the same nested structure after one iteration.")
def structure_of_a_loop_variable(x):
    s = (1, 2)
    for _ in tf.range(3):  # here
        s = (s, s)
    return s


@refuses(ValueError, "'s' is None at the end of the iteration.")
def none_after_an_iteration(x):
    s = 1
    for _ in tf.range(3):  # here
        s = None
    return s


@refuses(TypeError, "'s' is object before the loop, but object after one iteration", "only tensors can change")
def object_in_a_loop(x):
    s = object()
    for _ in tf.range(3):  # here
        s = object()
    return s


@refuses(ValueError, "'y' must be defined before the loop")
def read_before_it_is_set(x):
    i = 0.0
    while i < x:  # here
        if i > 0:
            z = y  # noqa: F821
        else:
            z = 1.0
        y = i * 2.0  # noqa: F841
        i += z
    return i


@refuses(TypeError, "the list 'items' grows in a loop on tensors", "it holds several")
def list_of_two_dtypes(x):
    items = [tf.constant(1)]
    for _ in tf.range(3):  # here
        items.append(x)
    return items


@refuses(TypeError, "the list 'items' grows in a loop on tensors", "it holds a tuple")
def list_of_pairs(x):
    items = [(x, x)]
    for _ in tf.range(3):  # here
        items.append(x)
    return items


@refuses(ValueError, "condition of if statement expected to be `tf.bool` scalar", "use `is not None`")
def number_as_a_condition(x):
    if x:  # here
        return x
    return -x


@refuses(ValueError, "condition of if statement expected to be `tf.bool` scalar", "shape=(2,)")
def vector_as_a_condition(x):
    if tf.stack([x, x]) > 0:  # here
        return x
    return -x


@refuses(ValueError, "condition of while loop expected to be `tf.bool` scalar")
def number_as_a_condition_of_a_loop(x):
    while x:  # here
        x = x - 1.0
    return x


@refuses(ValueError, "len requires a non-scalar tensor")
def loop_over_a_scalar(x):
    for v in x:  # here
        x = v
    return x


@refuses(ValueError, "len requires a non-scalar tensor")
def length_of_a_scalar(x):
    return len(x)  # here


@refuses(TypeError, "Iterating over a symbolic `tf.Tensor` is not allowed")
def comprehension_over_a_tensor(x):
    v = tf.stack([x, x])
    return [a + 1.0 for a in v]  # here


@refuses(ValueError, "no!")
def raise_in_a_branch(x):
    if x > 0:
        raise ValueError("no!")  # here
    return x


@refuses(ZeroDivisionError, "division by zero")
def error_inside_a_loop_body(x):
    for _ in tf.range(3):
        if x > 0:
            y = 1 / 0  # here
            x = x + y
    return x


@refuses(RecursionError, "tracing never ends", "`endless`", "Write the recursion as a loop")
def endless(x):
    if x > 0:  # here
        return endless(x - 1.0)
    return x


@refuses(UnboundLocalError, "y")
def unbound_in_python(x):
    flag = None
    if flag is not None:
        y = x
    return y  # here


def line_of(function, mark="# here"):
    import inspect

    lines, first = inspect.getsourcelines(function)
    found = [first + i for i, line in enumerate(lines) if mark in line]
    return found[0] if found else None


@pytest.mark.parametrize(("function", "error", "says"), REFUSALS, ids=[f.__name__ for f, _, _ in REFUSALS])
def test_refusal(function, error, says):
    with pytest.raises(error) as caught:
        tf.function(function)(tf.constant(1.0))
    for words in says:
        assert words in str(caught.value)
    line = line_of(function)
    if line is not None:
        mine = [f.lineno for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__]
        assert line in mine, f"line {line} is not among {mine}"


@pytest.mark.parametrize(
    "function", [dtype_of_branches, dtype_of_a_loop_variable, shape_of_a_loop_variable, undefined_in_else]
)
def test_the_message_names_the_line(function):
    with pytest.raises((TypeError, ValueError), match=f"{__file__}:{line_of(function)}"):
        tf.function(function)(tf.constant(1.0))


def test_the_message_names_the_line_that_made_the_odd_value():
    line = dtype_of_a_loop_variable.__code__.co_firstlineno + 4
    with pytest.raises(TypeError, match=f"'s' was made by Mul at {__file__}:{line}"):
        tf.function(dtype_of_a_loop_variable)(tf.constant(1.0))


def test_tracebacks_show_the_users_function_by_its_name():
    with pytest.raises(ZeroDivisionError) as caught:
        tf.function(error_inside_a_loop_body)(tf.constant(1.0))
    frames = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__]
    assert {f.name for f in frames[1:]} == {"error_inside_a_loop_body"}
    assert frames[-1].line == "y = 1 / 0  # here"


def test_variables_are_put_back_after_an_error():
    class Thing:
        v = 1.0

    thing = Thing()

    @tf.function
    def f(x):
        if x > 0:
            thing.v = x * 2.0
            raise KeyError("stop")
        return x

    with pytest.raises(KeyError):
        f(tf.constant(1.0))
    assert thing.v == 1.0


def test_a_failed_assertion_of_python():
    @tf.function
    def f(x):
        assert False, "never"  # noqa: B011
        return x

    with pytest.raises(AssertionError, match="never"):
        f(tf.constant(1.0))


def test_nodes_know_the_users_line():
    def f(x):
        while x < 10.0:
            x = x * 2.0
        return x

    graph = tf.function(f).get_concrete_function(tf.constant(1.0)).graph
    loop = next(op for op in graph.get_operations() if op.type == "StatelessWhile")
    assert loop.line.file == __file__ and loop.line.number == f.__code__.co_firstlineno + 1
    product = next(op for op in loop.attrs["body"].get_operations() if op.type == "Mul")
    assert product.line.number == f.__code__.co_firstlineno + 2
