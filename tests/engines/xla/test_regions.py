"""Regions with control flow, lists and variables, compiled, give what the plain executor gives."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.op import eager_run
from ebbflow.engines.xla import executable
from ebbflow.engines.xla.lowerings_state import FORMULAS
from ebbflow.engines.xla.refusal import Refusal, needed
from ebbflow.functions.func_graph import build
from ebbflow.ops.declare import raw

v1 = tf.compat.v1
X = np.arange(6, dtype=np.float32).reshape(2, 3) / 7


def region_of(function, feeds):
    """Return a function of placeholders as a region, and what the session says."""
    with tf.Graph().as_default():
        inputs = [v1.placeholder(a.dtype, a.shape) for a in feeds]
        outputs = function(*inputs)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        with v1.Session() as session:
            expected = session.run(outputs, dict(zip(inputs, feeds, strict=True)))
    return executable.Region(inputs, needed(outputs, inputs), outputs), expected


def loop(turns, body):
    return lambda x, *rest: tf.while_loop(lambda i, a: i < turns, lambda i, a: (i + 1, body(a)), (tf.constant(0), x))[1]


def writing(x):
    array = tf.TensorArray(tf.float32, size=5)
    step = lambda i, t: (i + 1, t.write(i, x * tf.cast(i, tf.float32)))
    return tf.while_loop(lambda i, t: i < 5, step, (tf.constant(0), array))[1].stack()


def nested(x):
    def body(i, a):
        inner = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * 1.1), (tf.constant(0), a))[1]
        return i + 1, tf.cond(tf.reduce_sum(inner) > 5.0, lambda: inner - 1, lambda: inner + 1)

    return tf.while_loop(lambda i, a: i < 6, body, (tf.constant(0), x))[1]


def until(x, n):
    return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 1.5 + 1), (tf.constant(0), x))


def slope(function):
    return lambda x, *rest: tf.gradients(tf.reduce_sum(tf.square(function(x, *rest))), [x])


def chosen(x, p):
    return tf.cond(p > 0, lambda: tf.sin(x) * 2, lambda: x * x)


ONE, MINUS = np.float32(1), np.float32(-1)
PROGRAMS = {
    "cond, taken": (chosen, X, ONE),
    "cond, not taken": (chosen, X, MINUS),
    "gradient of cond": (slope(chosen), X, ONE),
    "cond known beforehand": (lambda x: tf.cond(tf.rank(x) > 1, lambda: x * 2, lambda: x - 1), X),
    "case": (lambda x, i: tf.switch_case(i, [lambda: x, lambda: x * 2, lambda: x * 3]), X, np.int32(1)),
    "case outside": (lambda x, i: tf.switch_case(i, [lambda: x, lambda: x * 2, lambda: x * 3]), X, np.int32(7)),
    "loop": (loop(10, lambda a: tf.tanh(a * 1.5 + 1)), X),
    "loop of no turns": (loop(0, lambda a: a * 2), X),
    "loop of unknown length": (until, X, np.int32(7)),
    "gradient of loop": (slope(loop(10, lambda a: tf.tanh(a * 1.5 + 1))), X),
    "second gradient of loop": (slope(slope(loop(3, lambda a: tf.sin(a * 1.5)))), X),
    "loops and branches in loops": (nested, X),
    "array written in a loop": (writing, X),
    "gradient of an array written in a loop": (slope(writing), X),
    "map_fn": (lambda x: tf.map_fn(lambda row: row * 2 + 1, x), X),
    "gradient of map_fn": (slope(lambda x: tf.map_fn(lambda row: tf.sin(row), x)), X),
    "scan": (lambda x: tf.scan(lambda a, row: a * 0.5 + row, x), X),
    "gradient of scan": (slope(lambda x: tf.scan(lambda a, row: a * tf.sin(row), x)), X),
    "foldl": (lambda x: tf.foldl(lambda a, row: a + row, x), X),
    "shapes that are computed": (lambda x: tf.reshape(x, tf.concat([tf.shape(x)[1:], [-1]], 0)), X),
    "a row picked while running": (lambda x, i: x[i], X, np.int32(1)),
    "gradient of a row picked while running": (lambda x, i: tf.gradients(tf.square(x[i]), [x]), X, np.int32(-1)),
    "64-bit types": (lambda x: tf.cast(x, tf.float64) * tf.constant(1 / 3, tf.float64), X.astype(np.int64)),
    "no elements": (lambda x: [tf.reduce_sum(x, 1), tf.matmul(x, x, transpose_b=True)], np.zeros((0, 3), np.float32)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_as_executed(name):
    function, *feeds = PROGRAMS[name]
    region, expected = region_of(function, feeds)
    found = executable.compile(region)(*feeds)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def growing(x, n):
    return tf.while_loop(
        lambda i, a: i < n, lambda i, a: (i + 1, tf.concat([a, a], 0)), (tf.constant(0), x),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 3])),
    )[1]  # fmt: skip


def endless_gradient(x, n):
    return slope(lambda x: tf.while_loop(lambda a: tf.norm(a) < 9.0, lambda a: [a * tf.exp(a)], [x])[0])(x)


REFUSED = {
    "a shape that grows": (growing, "changes the shape of a loop variable", X, np.int32(2)),
    "a loop without a bound that remembers": (endless_gradient, "set maximum_iterations", X, np.int32(3)),
    "a shape that depends on values": (lambda x: tf.where(x > 0.3), "depends on the values", X),
    "a size known too late": (lambda x, n: tf.fill([n], 2.0), "dims is known only when it runs", X, np.int32(3)),
    "strings": (lambda x: tf.strings.as_string(x), "has no lowering", X),
    "what keeps state": (lambda x: x + tf.random.uniform([3]), "keeps state", X),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_node_at_fault(name):
    function, says, *feeds = REFUSED[name]
    region, _ = region_of(function, feeds)
    with pytest.raises(Refusal, match=says) as refusal:
        executable.compile(region)
    assert refusal.value.node is not None
    assert refusal.value.op


# ---------------------------------------------------------------------------------------------- variables

RANDOM = np.random.default_rng(3)
DATA = RANDOM.standard_normal((8, 4)).astype(np.float32), RANDOM.standard_normal((8, 3)).astype(np.float32)
W, B = RANDOM.standard_normal((4, 3)).astype(np.float32), np.zeros(3, np.float32)

RATES = dict(
    lr=0.1, alpha=0.1, momentum=0.9, epsilon=1e-3, rho=0.9, beta1=0.9, beta2=0.99, beta1_power=0.9, beta2_power=0.99,
    l1=0.01, l2=0.02, lr_power=-0.5, l2_shrinkage=0.01, global_step=np.int64(3), sign_decay=0.5, beta=0.9, logbase=2.0,
)  # fmt: skip


def update(rule):
    """Return a function that applies an optimizer's rule to a variable, given its slots and a gradient."""

    def apply(variable, slots, grad):
        op = getattr(raw, rule)
        states = iter([variable.handle, *[s.handle for s in slots]])
        given = {
            arg.name: next(states)
            if arg.type is tf.resource
            else grad
            if arg.name in ("grad", "delta")
            else RATES[arg.name]
            for arg in op.signature.inputs
        }
        op(**given)

    return apply


RULES = {name: update(f"ResourceApply{name}") for name in FORMULAS}
RULES["assign_sub"] = lambda variable, slots, grad: variable.assign_sub(0.1 * grad)
RULES["assign"] = lambda variable, slots, grad: variable.assign(variable - 0.1 * grad)


def trained(rule, compiled):
    """Return losses and all variables after a few steps."""
    variables = [tf.Variable(W), tf.Variable(B)]
    slots = [[tf.Variable(np.full_like(v.numpy(), 0.1)) for _ in range(3)] for v in variables]

    def step(x, y):
        w, b = variables
        error = x @ w + b - y
        grads = [tf.matmul(x, error, transpose_a=True) / 12, tf.reduce_sum(error, 0) / 12]
        for variable, own, grad in zip(variables, slots, grads, strict=True):
            RULES[rule](variable, own, grad)
        return tf.reduce_mean(tf.square(error))

    graph = build("step", step, None, [(tf.float32, (8, 4), "x"), (tf.float32, (8, 3), "y")])
    handles = [outside._array for outside, _ in graph.captures]
    if compiled:
        run = executable.compile(executable.function_region(graph), handles)
        losses = [run(*DATA, *handles)[0] for _ in range(3)]
    else:
        losses = [graph.run(eager_run, [*DATA, *handles])[0] for _ in range(3)]
    return [np.array(losses), *[v.numpy() for own in slots for v in own], *[v.numpy() for v in variables]]


@pytest.mark.parametrize("rule", RULES)
def test_variables_are_trained_alike(rule):
    for ours, theirs in zip(trained(rule, True), trained(rule, False), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-6)


def test_variables_change_in_loops_and_branches():
    value, count = tf.Variable(1.0), tf.Variable(0)

    def program(k):
        def body(i):
            value.assign(value * 1.5)
            tf.cond(i % 2 == 0, lambda: count.assign_add(1), lambda: count.assign_add(10))
            return i + 1

        tf.while_loop(lambda i: i < k, body, [tf.constant(0)])
        return value.read_value() + 1.0

    graph = build("program", program, None, [(tf.int32, (), "k")])
    handles = [outside._array for outside, _ in graph.captures]
    run = executable.compile(executable.function_region(graph), handles)
    assert run(np.int32(4), *handles) == [np.float32(1.5**4 + 1)]
    assert (float(value.numpy()), int(count.numpy())) == (1.5**4, 22)
    assert run(np.int32(1), *handles) == [np.float32(1.5**5 + 1)]
    assert int(count.numpy()) == 23


def test_what_was_read_before_stays():
    variable = tf.Variable([1.0, 2.0])
    graph = build("program", lambda: variable.assign_add([1.0, 1.0]).read_value(), None)
    handles = [outside._array for outside, _ in graph.captures]
    before = variable.read_value()
    run = executable.compile(executable.function_region(graph), handles)
    (after,) = run(*handles)
    variable.assign_add([5.0, 5.0])  # the host writes, but not into what XLA gave out
    assert before.numpy().tolist() == [1.0, 2.0]
    assert after.tolist() == [2.0, 3.0]
    assert variable.numpy().tolist() == [7.0, 8.0]


def test_rows_of_a_variable():
    variable = tf.Variable(np.zeros((4, 2), np.float32))

    def program(rows):
        variable.scatter_add(tf.IndexedSlices(rows, tf.constant([1, 3, 1])))
        return tf.gather(variable, [1, 0])

    graph = build("program", program, None, [(tf.float32, (3, 2), "rows")])
    handles = [outside._array for outside, _ in graph.captures]
    (found,) = executable.compile(executable.function_region(graph), handles)(np.ones((3, 2), np.float32), *handles)
    assert found.tolist() == [[2.0, 2.0], [0.0, 0.0]]
    assert variable.numpy().tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_random_numbers_are_drawn_on_the_host_before_each_call():
    def program(x):
        return x * tf.random.uniform([3], seed=5) + tf.random.normal([2, 3], seed=6)

    graph = build("program", program, None, [(tf.float32, (2, 3), "x")])
    again = build("program", program, None, [(tf.float32, (2, 3), "x")])
    runs = {}

    def host(node):
        run = runs.setdefault(node, type("Run", (), {"node": node, "session": eager_run, "resources": {}})())
        return lambda *values: node._op.run(list(values), node._attrs, run)

    compiled = executable.compile(executable.function_region(graph), host=host)
    found = [compiled(X)[0] for _ in range(3)]
    expected = [again.run(eager_run, [X])[0] for _ in range(3)]
    assert not np.allclose(found[0], found[1])
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape == (2, 3)
    with pytest.raises(Refusal, match="keeps state"):
        executable.compile(executable.function_region(again))
