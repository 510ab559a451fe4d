"""Graphs written by hand with Switch, Merge, Enter, Exit and NextIteration: made functional, run, differentiated."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow import messages
from ebbflow.messages.tensors import make_tensor_proto

v1 = tf.compat.v1
FLOAT, BOOL, INT = 1, 10, 3


def graph_def(text):
    """Return the GraphDef of lines such as `y = Mul x two`, `i = Const 0`, `x = Placeholder`, `c = Const 3 ^y`."""
    found = messages.GraphDef()
    for line in text.strip().splitlines():
        name, _, rest = line.partition("=")
        op, *inputs = rest.split()
        frame = next((i[1:] for i in inputs if i.startswith("@")), None)
        value = next((i for i in inputs if i.lstrip("-").replace(".", "").isdigit()), None)
        node = found.node.add(name=name.strip(), op=op)
        node.input.extend(i for i in inputs if not i.startswith("@") and i != value)
        if value is not None:
            whole = "." not in value
            node.attr["dtype"].type = INT if whole else FLOAT
            node.attr["value"].tensor.CopyFrom(make_tensor_proto(np.array(value, np.int32 if whole else np.float32)))
        elif op == "Placeholder":
            node.attr["dtype"].type = BOOL if name.startswith("p") else FLOAT
        elif op not in ("LoopCond", "LogicalAnd"):
            node.attr["T"].type = INT if name.startswith("i") or (op == "Less" and "il" in inputs) else FLOAT
        if op == "Merge":
            node.attr["N"].i = len(inputs)
        if frame is not None:
            node.attr["frame_name"].s = frame.encode()
            node.attr["is_constant"].b = frame.startswith("const:")
            node.attr["frame_name"].s = frame.removeprefix("const:").encode()
    return found


CHOICE = """
x = Placeholder
p = Placeholder
s = Switch x p
one = Const 1.0 ^s
up = Mul s:1 s:1
down = Neg s:0
y = Merge down up
"""

ONE_SIDED = """
x = Placeholder
p = Placeholder
s = Switch x p
up = Exp s:1
y = Merge s:0 up
"""

NESTED_CHOICE = """
x = Placeholder
p = Placeholder
p2 = Placeholder
s = Switch x p
q = Switch p2 p
t = Switch s:1 q:1
a = Mul t:1 t:1
inner = Merge t:0 a
down = Neg s:0
y = Merge down inner
"""

LOOP = """
x = Placeholder
izero = Const 0
ien = Enter izero @loop
en = Enter x @loop
xin = Enter x @const:loop
ifive = Const 3 ^il
il = Merge ien inext
ym = Merge en next
less = Less il ifive
go = LoopCond less
is = Switch il go
ys = Switch ym go
ione = Const 1 ^is2
is2 = Identity is:1
iplus = Add is2 ione
body = Mul ys:1 xin
next = NextIteration body
inext = NextIteration iplus
y = Exit ys:0
"""

CHOICE_IN_LOOP = """
x = Placeholder
p = Placeholder
izero = Const 0
ien = Enter izero @loop
en = Enter x @loop
pin = Enter p @const:loop
ifive = Const 3 ^il
il = Merge ien inext
ym = Merge en next
less = Less il ifive
go = LoopCond less
is = Switch il go
ys = Switch ym go
ione = Const 1 ^is2
is2 = Identity is:1
iplus = Add is2 ione
s = Switch ys:1 pin
up = Mul s:1 s:1
down = Neg s:0
m = Merge down up
next = NextIteration m
inext = NextIteration iplus
y = Exit ys:0
"""


def with_types(found):
    """Give the nodes whose type their names do not tell the type they have."""
    for node in found.node:
        if node.name in ("q", "pin"):
            node.attr["T"].type = BOOL
        if node.name == "less":
            node.attr["T"].type = INT
    return found


SEVERAL = """
x = Placeholder
p = Placeholder
p2 = Placeholder
s = Switch x p
t = Switch x p2
up = Mul s:1 s:1
down = Neg t:1
else = Exp t:0
y = Merge up down else
"""

CASES = {
    "several predicates": (SEVERAL, {"p": True, "p2": True}, lambda x: x * x),
    "several predicates, the second": (SEVERAL, {"p": False, "p2": True}, lambda x: -x),
    "several predicates, the last": (SEVERAL, {"p": False, "p2": False}, np.exp),
    "choice": (CHOICE, {"p": True}, lambda x: x * x),
    "choice, the other way": (CHOICE, {"p": False}, lambda x: -x),
    "one-sided": (ONE_SIDED, {"p": True}, np.exp),
    "one-sided, the other way": (ONE_SIDED, {"p": False}, lambda x: x),
    "nested": (NESTED_CHOICE, {"p": True, "p2": True}, lambda x: x * x),
    "nested, one way": (NESTED_CHOICE, {"p": True, "p2": False}, lambda x: x),
    "nested, another": (NESTED_CHOICE, {"p": False, "p2": True}, lambda x: -x),
    "loop": (LOOP, {}, lambda x: x**4),
    "choice in loop": (CHOICE_IN_LOOP, {"p": True}, lambda x: x**8),
    "choice in loop, the other way": (CHOICE_IN_LOOP, {"p": False}, lambda x: -x),
}


def loaded(text, feeds):
    names = ["x:0", "y:0", *[f"{p}:0" for p in feeds]]
    x, y, *predicates = tf.import_graph_def(with_types(graph_def(text)), return_elements=names, name="")
    return x, y, dict(zip(predicates, feeds.values(), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradients(name):
    text, feeds, expected = CASES[name]
    value = 0.7
    with tf.Graph().as_default(), v1.Session() as session:
        x, y, given = loaded(text, feeds)
        first = tf.gradients(y, x)[0]
        found = [session.run([y, first], {**given, x: value}) for _ in range(2)][-1]
    step = 1e-4
    slope = (expected(value + step) - expected(value - step)) / (2 * step)
    np.testing.assert_allclose(found, [expected(value), slope], rtol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_nothing_low_level_is_left(name):
    text, feeds, _ = CASES[name]
    with tf.Graph().as_default() as graph:
        loaded(text, feeds)
        kinds = {op.type for op in graph.get_operations()}
    assert not kinds & {"Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond"}
    assert kinds & {"If", "StatelessIf", "While", "StatelessWhile"}


def test_written_by_calls():
    """Nodes made by calling the ops: a session makes them functional when it runs them."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        down, up = tf.raw_ops.Switch(data=x, pred=tf.constant(True))
        y = tf.raw_ops.Merge(inputs=[-down, up * up]).output
        assert session.run(y, {x: 3.0}) == 9.0


@pytest.mark.parametrize("chosen", [0, 1, 2, 3])
def test_merges_of_several_predicates_take_the_input_that_is_there(chosen):
    """As pictures are distorted by one of several ways; none of them is an error."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        number = v1.placeholder(tf.int32, [])
        ways = [tf.raw_ops.Switch(data=x, pred=tf.equal(number, way)).output_true * (way + 1.0) for way in range(3)]
        y, index = tf.raw_ops.Merge(inputs=ways)
        given = {x: [1.0, 3.0], number: chosen}
        if chosen == 3:
            with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
                session.run(y, given)
            return
        value, which = session.run([y * 2.0, index], given)
    np.testing.assert_allclose(value, np.array([2.0, 6.0]) * (chosen + 1))
    assert which == chosen


def test_what_does_not_run_has_no_value():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        down, up = tf.raw_ops.Switch(data=x, pred=tf.constant(True))
        assert session.run(up, {x: 3.0}) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            session.run(down, {x: 3.0})


BROKEN = {
    "inside of a loop": (LOOP, "body:0", "is inside the loop 'loop' and has no one value"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_refusals(name):
    text, wanted, says = BROKEN[name]
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError, match=says):
        tf.import_graph_def(with_types(graph_def(text)), return_elements=[wanted], name="")
