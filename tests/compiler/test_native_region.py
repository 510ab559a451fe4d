"""Regions of small work in Programs: what becomes one, that its answers are NumPy's, and what happens to variables."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.compiler import native_region
from ebbflow.core.registry import registry
from ebbflow.ops.declare import raw
from ebbflow.ops.state import optimizer_updates
from ebbflow.platform import config
from ebbflow.runtime import programs
from tests.compiler.native_runs import both_ways, close, only_numpy
from tests.compiler.programs import graph_of

tf1 = tf.compat.v1


# --- small programs ---------------------------------------------------------------------------------------------------


def data(*dims, seed=0):
    return np.random.default_rng([seed, *dims]).normal(size=dims).astype(np.float32)


def perceptron():
    weights = [tf.Variable(data(7, 5)), tf.Variable(data(5)), tf.Variable(data(5, 3)), tf.Variable(data(3))]
    labels = np.array([0, 2, 1, 1], np.int64)

    def step(x):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ weights[0] + weights[1])
            logits = hidden @ weights[2] + weights[3]
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        grads = tape.gradient(loss, weights)
        for w, g in zip(weights, grads, strict=True):
            w.assign_sub(0.1 * g)
        return [loss, logits, *grads]

    return step, [data(4, 7)]


def lstm():
    kernel, bias = tf.Variable(data(8, 20)), tf.Variable(data(20))

    def step(x):
        c = h = tf.zeros([2, 5])
        with tf.GradientTape() as tape:
            for t in range(3):
                i, j, f, o = tf.split(tf.concat([x[:, t], h], 1) @ kernel + bias, 4, 1)
                c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
                h = tf.tanh(c) * tf.sigmoid(o)
            loss = tf.reduce_sum(tf.square(h))
        return [h, c, *tape.gradient(loss, [kernel, bias])]

    return step, [data(2, 3, 3)]


def attention():
    w = tf.Variable(data(4, 12))

    def step(x):
        with tf.GradientTape() as tape:
            q, k, v = tf.split(x @ w, 3, -1)
            scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 2.0)
            mixed = tf.matmul(scores, v)
            mean = tf.reduce_mean(mixed, -1, keepdims=True)
            normal = (mixed - mean) * tf.math.rsqrt(tf.math.reduce_variance(mixed, -1, keepdims=True) + 1e-3)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x), normal))
        return [scores, normal, loss, tape.gradient(loss, w)]

    return step, [data(6, 4)]


def assigned():
    v, w = tf.Variable(data(3, 4)), tf.Variable(data(3, 4, seed=1))

    def step(x):
        before = v.read_value()
        v.assign_add(x * 0.1)
        between = v * w
        w.assign(tf.tanh(between))
        v.assign_sub(tf.exp(-tf.abs(before)))
        return [before, between, v + w, w.read_value()]

    return step, [data(3, 4, seed=2)]


def turned():
    """Updates that look all over the variable they change."""
    v, w = tf.Variable(data(3, 3)), tf.Variable(data(3, 3, seed=1))
    optimizer = tf1.train.GradientDescentOptimizer(0.5)

    def step(x):
        v.assign(tf.transpose(v) + x[0])
        w.assign_add(w[::-1] * x)
        optimizer.apply_gradients([(tf.transpose(v) * 0.1, v), (w[1:2] * 0.1 + w, w)])
        w.assign(w[::-1, ::-1])
        return [tf.reduce_sum(v * w), v * 1.0]

    return step, [data(3, 3, seed=2)]


def nothing():
    """A variable without elements, one of a single number, one of a single column."""
    empty, number, column = tf.Variable(np.zeros([0, 3], np.float32)), tf.Variable(2.0), tf.Variable(data(4, 1))
    optimizer = tf1.train.AdamOptimizer(0.1)

    def step(x):
        slopes = [(empty * 2.0, empty), (number * tf.reduce_sum(x), number), (column * x, column)]
        optimizer.apply_gradients(slopes)
        number.assign_add(number * 0.5)
        return [empty + 1.0, number * 2.0, column * x]

    return step, [data(4, 1)]


def of_all_kinds():
    flags, counts, wide = tf.Variable([True, False]), tf.Variable([[3], [4]], dtype=tf.int64), tf.Variable(np.ones([2]))

    def step(x):
        flags.assign(tf.logical_xor(flags, x[:, 0] > 0.0))
        counts.assign_add(tf.cast(flags, tf.int64)[:, None] * 2)
        wide.assign_sub(tf.cast(counts[:, 0], tf.float64) / 3.0)
        return [tf.cast(flags, tf.float32), counts * 2, wide + 1.0, tf.reduce_any(flags), tf.reduce_max(counts)]

    return step, [data(2, 3)]


def many_slopes():
    """Activations and shapes that small programs use, and their gradients."""
    w = tf.Variable(data(6, 6))

    def step(x):
        with tf.GradientTape() as tape:
            parts = [
                tf.nn.elu(w),
                tf.nn.selu(w),
                tf.nn.softplus(w),
                tf.nn.softsign(w),
                tf.nn.leaky_relu(w),
                tf.nn.relu6(w),
            ]
            parts += [
                tf.atan2(w, x),
                tf.sinh(w),
                tf.asinh(w),
                tf.math.xlogy(w * w, 2.0 + w * w),
                tf.clip_by_value(w, -1, 1),
            ]
            parts += [tf.pad(w, [[1, 0], [0, 1]], "SYMMETRIC")[1:, :6], tf.tile(w[:2], [3, 1]), tf.reverse(w, [1])]
            parts += [
                tf.cumsum(w, 1),
                tf.math.cumprod(w, 0),
                tf.linalg.band_part(w, 1, 1),
                tf.gather(w, [3, 1, 1], axis=1),
            ]
            parts += [tf.linalg.diag_part(w), tf.norm(w, axis=0), tf.reduce_prod(w, 1), w % 0.7, tf.sqrt(tf.nn.relu(w))]
            parts += [tf.gather_nd(w, [[1, 2], [3, 4]]), tf.gather(w, [[0], [1], [2], [3], [4], [5]], batch_dims=1)]
            loss = tf.add_n([tf.reduce_sum(tf.square(p)) for p in parts])
        return [loss, tape.gradient(loss, w)]

    return step, [data(6, 6, seed=1)]


PROGRAMS = [perceptron, lstm, attention, assigned, turned, nothing, of_all_kinds, many_slopes]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs(program, made, monkeypatch):
    def run():
        step, given = program()
        step = tf.function(step, autograph=False)
        return [[np.array(r) for r in step(*map(tf.constant, given))] for _ in range(5)]

    close(*both_ways(monkeypatch, made, run))


@pytest.mark.parametrize("program", [perceptron, lstm], ids=lambda p: p.__name__)
def test_code_comes_while_a_program_runs(program):
    step, given = program()
    step, plain = tf.function(step, autograph=False), program()[0]
    for turn in range(native_region.PATIENCE + 6):
        if turn == native_region.PATIENCE + 3:
            native_region.settle()
        close(step(*map(tf.constant, given)), plain(*map(tf.constant, given)), rtol=1e-4)


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs(seed, made, monkeypatch):
    def run():
        graph, feeds, fetches = graph_of(seed)
        with graph.as_default(), tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            fed = {f: data(3, 3, seed=i) for i, f in enumerate(feeds)}
            return [session.run(fetches, fed) for _ in range(3)]

    by_code = run()
    assert not [m.refusal for m in made if m.kernel is None]
    only_numpy(monkeypatch)
    close(by_code, run(), rtol=1e-4)


def test_without_llvm_the_answers_are_the_same(made, monkeypatch):
    def run():
        step, given = perceptron()
        step = tf.function(step, autograph=False)
        return [[np.array(r) for r in step(*map(tf.constant, given))] for _ in range(3)]

    by_code = run()
    count = len(made)
    monkeypatch.setattr("ebbflow.compiler.passes.native.library.available", lambda: False)
    close(by_code, run())
    assert count and len(made) == count


# --- optimizers -------------------------------------------------------------------------------------------------------

RULES = [name for name, op in registry.declare_all().items() if op.formula]
BY_NUMPY = {"AdagradDA", "Ftrl", "FtrlV2", "ProximalGradientDescent", "ProximalAdagrad"}
"""Rules whose formulas ask what a number is, or use functions that have no native form."""


def steps_of(name, count=5):
    """Run a rule by its op, in a session for references and in a function for resources; return all state."""
    form, _ = registry[name].formula
    slots = {s: np.abs(data(3, 4, seed=i)) + 0.5 for i, s in enumerate(form.state)}

    def numbers(grad):
        known = {form.grad: grad, "global_step": tf.constant(3, tf.int64), "lr_power": -0.5}
        return [known.get(n, 0.1) for n in form.numbers]

    if form.resource:
        variables = [tf.Variable(s) for s in slots.values()]

        @tf.function(autograph=False)
        def step(x):
            getattr(raw, name)(*[v.handle for v in variables], *numbers(tf.tanh(variables[0] * x)))

        for _ in range(count):
            step(tf.constant(data(3, 4)))
        return [v.numpy() for v in variables]
    with tf1.Graph().as_default(), tf1.Session() as session:
        variables = [tf1.get_variable(s, initializer=a, use_resource=False) for s, a in slots.items()]
        x = tf1.placeholder(tf.float32, [3, 4])
        update = getattr(raw, name)(*[v._ref() for v in variables], *numbers(tf.tanh(variables[0] * x)))
        session.run(tf1.global_variables_initializer())
        for _ in range(count):
            session.run(update.op, {x: data(3, 4)})
        return session.run(variables)


@pytest.mark.parametrize("name", RULES)
def test_rules(name, made, monkeypatch):
    by_code = steps_of(name)
    updates = [m for m in made if any(n.op.name == name for n in m.region.nodes)]
    assert bool(updates) == (name.removeprefix("Resource").removeprefix("Apply") not in BY_NUMPY)
    assert not [m.refusal for m in made if m.kernel is None]
    only_numpy(monkeypatch)
    close(by_code, steps_of(name), rtol=1e-5)


def test_there_are_rules():
    assert len(RULES) > 30 and registry["ApplyAdam"].formula[1] is optimizer_updates.adam


# --- variables --------------------------------------------------------------------------------------------------------


def test_who_read_before_keeps_what_was_read(made):
    v = tf.Variable(data(3, 4))

    @tf.function(autograph=False)
    def step(x):
        v.assign_add(tf.tanh(v) * x)

    x = tf.constant(data(3, 4, seed=1))
    step(x)
    held, copy = v.read_value(), v.numpy()
    step(x)
    assert made[-1].kernel is not None
    np.testing.assert_array_equal(held.numpy(), copy)
    assert not np.array_equal(v.numpy(), copy)


def test_results_stay_what_they_were(made):
    v = tf.Variable(data(3, 4))

    @tf.function(autograph=False)
    def step(x):
        old = v.read_value()
        v.assign(tf.tanh(v) + x)
        return old, v.read_value(), v * 2.0, x

    x = tf.constant(data(3, 4, seed=1))
    kept, copies = [], []
    for _ in range(4):
        kept.append(step(x))
        copies.append([r.numpy().copy() for r in kept[-1]])
    assert made[-1].kernel is not None
    for results, before in zip(kept, copies, strict=True):
        for result, copy in zip(results, before, strict=True):
            np.testing.assert_array_equal(result.numpy(), copy)
    np.testing.assert_array_equal(copies[0][1], copies[1][0])


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_sessions_change_variables_in_order(resource, made, monkeypatch):
    def run():
        with tf1.Graph().as_default(), tf1.Session() as session:
            v = tf1.get_variable("v", initializer=data(3, 4), use_resource=resource)
            before = tf.tanh(v) * 2.0
            with tf.control_dependencies([before]):
                add = tf1.assign_add(v, before * 0.5)
            with tf.control_dependencies([add]):
                after = tf.exp(tf.identity(v)) - before
            session.run(tf1.global_variables_initializer())
            return [session.run([before, after]) for _ in range(4)] + [session.run(v)]

    close(*both_ways(monkeypatch, made, run))


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_a_variable_that_was_never_set(resource, made, monkeypatch):
    def run():
        with tf1.Graph().as_default(), tf1.Session() as session:
            v = tf1.get_variable("v", initializer=data(3, 4), use_resource=resource)
            step = tf1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(tf.tanh(v))))
            with pytest.raises(tf.errors.FailedPreconditionError) as caught:
                session.run(step)
            session.run(tf1.global_variables_initializer())
            session.run(step)
            return str(caught.value).splitlines()[0], session.run(v)

    by_code = run()
    assert made
    only_numpy(monkeypatch)
    by_numpy = run()
    assert by_code[0] == by_numpy[0]
    close(by_code[1], by_numpy[1])


def test_a_label_that_is_no_class(made):
    w = tf.Variable(data(4, 3))

    @tf.function(autograph=False)
    def step(x, labels):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x @ w)
        w.assign_sub(0.1 * tape.gradient(losses, w))
        return losses

    x = tf.constant(data(2, 4))
    step(x, tf.constant([0, 2]))
    assert made[-1].kernel is not None
    before = w.numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="label value of 3") as caught:
        step(x, tf.constant([0, 3]))
    np.testing.assert_array_equal(w.numpy(), before)
    assert __file__.rsplit("/", 1)[-1] in str(caught.value) and "SparseSoftmaxCrossEntropyWithLogits" in str(
        caught.value
    )
    step(x, tf.constant([1, 1]))
    assert not np.array_equal(w.numpy(), before)


def test_threads_share_a_function(made):
    v = tf.Variable(np.zeros([4, 4], np.float32))

    @tf.function(autograph=False)
    def step(x):
        v.assign_add(tf.ones_like(x) * tf.reduce_max(x))
        return tf.tanh(x) * 2.0 + tf.exp(x)

    step(tf.ones([4, 4]))
    wrong = []

    def work(number):
        x = np.full([4, 4], number, np.float32)
        for _ in range(200):
            found = step(tf.constant(x)).numpy()
            if not np.allclose(found, np.tanh(x) * 2 + np.exp(x), rtol=1e-5):
                wrong.append(found)

    threads = [threading.Thread(target=work, args=[n]) for n in (1, 2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert made[-1].kernel is not None and not wrong
    np.testing.assert_array_equal(v.numpy(), np.full([4, 4], 1 + 200 * 3))


def test_one_variable_through_two_handles(made, monkeypatch):
    def run():
        with tf1.Graph().as_default(), tf1.Session() as session:
            handles = [raw.VarHandleOp(dtype=tf.float32, shape=[3, 4], shared_name="same", name=n) for n in "ab"]
            start = raw.AssignVariableOp(handles[0], data(3, 4))
            old = raw.ReadVariableOp(handles[0], dtype=tf.float32)
            with tf.control_dependencies([old]):
                change = raw.AssignVariableOp(handles[1], tf.tanh(old) + 1.0)
            with tf.control_dependencies([change]):
                new = raw.ReadVariableOp(handles[0], dtype=tf.float32) * 2.0
                more = raw.AssignAddVariableOp(handles[0], new)
            with tf.control_dependencies([more]):
                last = raw.ReadVariableOp(handles[1], dtype=tf.float32) - old
            session.run(start)
            return [session.run([new, last]) for _ in range(3)]

    close(*both_ways(monkeypatch, made, run))


# --- the pass ---------------------------------------------------------------------------------------------------------


def run_twice(fn, *given):
    """Run a function, so that its regions come about."""
    function = tf.function(fn, autograph=False)
    for _ in range(2):
        function(*given)


def test_large_products_stay_outside(made):
    big = tf.ones([512, 512])
    run_twice(lambda x: tf.matmul(tf.tanh(x), x) * 2.0 + 1.0, big)
    assert "MatMul" not in [n.op.name for region in made for n in region.region.nodes]
    run_twice(lambda x: tf.tanh(x[:4]) * 2.0 + 1.0, big)
    found = [n.op.name for n in made[-1].region.nodes if n.op.name != "Const"]
    assert found == ["StridedSlice", "Tanh", "Mul", "AddV2"]


def test_one_op_alone_is_no_region(made):
    run_twice(lambda x: tf.reshape(tf.tanh(x), [-1]), tf.ones([4, 4]))
    assert not made


@pytest.mark.parametrize("engines", ["host", "host,onednn,xla"])
def test_the_environment_switches_it_off(engines, made, monkeypatch):
    monkeypatch.setenv("EBBFLOW_ENGINES", engines)
    run_twice(lambda x: tf.tanh(x) * 2.0, tf.ones([4, 4]))
    assert not made


def test_a_refusal_is_kept(made, monkeypatch):
    monkeypatch.setattr("ebbflow.engines.native.kernel.Kernel.__init__", lambda self, region: 1 / 0)
    function = tf.function(lambda x: tf.tanh(x) * 2.0, autograph=False)
    for _ in range(3):
        close(function(tf.ones([4, 4])), np.tanh(np.ones([4, 4])) * 2)
    assert made[-1].kernel is None and "ZeroDivisionError" in made[-1].refusal


def test_errors_name_the_node_and_the_line(made):
    def fn(x, i):
        y = tf.tanh(x) * 2.0
        return tf.gather(y, i, name="taken") + 1.0

    function = tf.function(fn, autograph=False)
    function(tf.ones([4, 4]), tf.constant([1]))
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        function(tf.ones([4, 4]), tf.constant([9]))
    assert made
    assert "taken" in str(caught.value) and __file__.rsplit("/", 1)[-1] in str(caught.value)


def test_what_lies_between_parts_regions(made):
    run_twice(lambda x: tf.nn.top_k(tf.tanh(x) * 2.0, 20).values * 3.0 + tf.exp(x[:, :20]), tf.ones([4, 40]))
    assert len(made) == 2


def test_a_trace_tells_of_nodes_inside(made):
    with tf1.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [4, 4])
        y = tf.multiply(tf.tanh(x, name="inside"), 2.0, name="outside")
        session.run(y, {x: data(4, 4)})
        told = tf1.RunMetadata()
        session.run(
            y, {x: data(4, 4)}, options=tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE), run_metadata=told
        )
    names = {node.node_name for device in told.step_stats.dev_stats for node in device.node_stats}
    assert made and {"inside", "outside"} <= names


UNSERVED = {
    "products of integers": lambda x, n: tf.matmul(n, n) + tf.cast(tf.tanh(x) * 3.0, tf.int32),
    "means of integers": lambda x, n: tf.reduce_mean(n, 0) + 1 + n * 2,
    "a slice that begins anywhere": lambda x, n: tf.slice(tf.tanh(x), [tf.abs(n[0, 0]) % 3, 0], [1, 4]) * 2.0 + 1.0,
    "division by what comes": lambda x, n: tf.abs(n) * 3 // (tf.abs(n) + 1) * 2,
    "remainders of what comes": lambda x, n: (n * 3) % (tf.abs(n) + 2) - 1,
    "channels first": lambda x, n: tf.nn.bias_add(tf.exp(x)[None, :, :, None], x[0], "NCHW") * 2.0 + 1.0,
    "another diagonal": lambda x, n: tf.linalg.diag_part(tf.exp(x) * 2.0, k=1) * 3.0,
    "rows that are found": lambda x, n: tf.gather(tf.exp(x), tf.argmax(x, 1)) * 2.0,
    "rows that are nearly given": lambda x, n: tf.gather(tf.exp(x), tf.abs(n[:, 0]) % 4) * 2.0,
    "labels that are found": lambda x, n: tf.nn.sparse_softmax_cross_entropy_with_logits(tf.argmax(x, 1), x * 2.0) + 1,
    "labels that are looked at": lambda x, n: [
        tf.nn.sparse_softmax_cross_entropy_with_logits(tf.abs(n[0]) % 4, x * 2.0) + 1,
        tf.sort(tf.abs(n[0]) % 4),
    ],
    "products of many with one": lambda x, n: tf.matmul(tf.stack([x, x * 2.0]), x[None]) * 2.0,
    "nothing to be a softmax of": lambda x, n: tf.nn.softmax(x[:0] * 2.0) + 1.0,
    "a product over nothing": lambda x, n: tf.matmul(x[:, :0] * 2.0, x[:0]) + 1.0,
    "half floats": lambda x, n: tf.cast(tf.cast(x * 2.0, tf.float16) * 2, tf.float32) + 1.0,
}


@pytest.mark.parametrize("name", UNSERVED)
def test_what_has_no_row_spoils_no_region(name, made, monkeypatch):
    def run():
        function = tf.function(UNSERVED[name], autograph=False)
        return [function(tf.constant(data(4, 4)), tf.constant(np.arange(16, dtype=np.int32).reshape(4, 4)))]

    by_code = run()
    assert not [m.refusal for m in made if m.kernel is None]
    only_numpy(monkeypatch)
    close(by_code, run())


SERVED = {
    "accuracy": lambda x, n: tf.reduce_mean(tf.cast(tf.equal(tf.argmax(x, 1), tf.cast(n[0], tf.int64)), tf.float32)),
    "labels of another kind": lambda x, n: tf.nn.sparse_softmax_cross_entropy_with_logits(
        tf.cast(n[0], tf.int64), x @ x
    ),
    "rows of many": lambda x, n: tf.gather(tf.exp(x), n[0], axis=1, batch_dims=1) * 2.0,
    "sums that run backwards": lambda x, n: tf.cumsum(tf.pad(tf.nn.elu(x), [[0, 1], [1, 0]]), reverse=True),
    "rows and their likes turned round": lambda x, n: [y := tf.sin(x), tf.reverse(x - y, [1]), tf.reverse(x * y, [0])],
    "backwards from what is kept": lambda x, n: [y := tf.exp(x), (y * x)[:, ::-1] + y, (y + x)[::-1] * y],
}


@pytest.mark.parametrize("name", SERVED)
def test_what_small_programs_do_is_one_region(name, made, monkeypatch):
    def run():
        function = tf.function(SERVED[name], autograph=False)
        return [function(tf.constant(data(4, 4)), tf.constant(np.arange(16, dtype=np.int32).reshape(4, 4)))]

    by_code, by_numpy = both_ways(monkeypatch, made, run)
    assert len(made) == 1
    close(by_code, by_numpy)


def test_what_a_product_is_added_to_later_is_no_part_of_it(made, monkeypatch):
    """A large product takes its bias along; the curve behind it is one region though it adds the product again."""
    w = tf.constant(data(256, 128))

    def run():
        gelu = tf.function(lambda x: tf.nn.gelu(tf.matmul(x, w) + w[0], approximate=True), autograph=False)
        return [gelu(tf.constant(data(128, 256)))]

    by_code, by_numpy = both_ways(monkeypatch, made, run)
    assert [sorted({n.op.name for n in m.region.nodes} & {"MatMul", "Tanh", "AddV2"}) for m in made] == [
        ["AddV2", "Tanh"]
    ]
    close(by_code, by_numpy)


def test_the_gradient_of_a_table_is_part_of_its_step(made, monkeypatch):
    """How many rows a variable has is known before it runs."""

    def run():
        table = tf.Variable(data(50, 8))

        @tf.function(autograph=False)
        def step(ids):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(tf.gather(table, ids)))
            table.assign_sub(0.1 * tf.convert_to_tensor(tape.gradient(loss, table)))

        for _ in range(3):
            step(tf.constant([3, 1, 3, 49]))
        return [table.numpy()]

    by_code, by_numpy = both_ways(monkeypatch, made, run)
    assert any(n.op.name == "UnsortedSegmentSum" for m in made for n in m.region.nodes)
    close(by_code, by_numpy)


def test_a_step_in_a_session_is_one_region(made, monkeypatch):
    def run():
        with tf1.Graph().as_default(), tf1.Session() as session:
            x, y = tf1.placeholder(tf.float32, [None, 7]), tf1.placeholder(tf.float32, [None, 3])
            logits = tf1.layers.dense(x, 3, kernel_initializer=tf1.ones_initializer())
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y, logits))
            at = tf1.train.get_or_create_global_step()
            rate = tf1.train.exponential_decay(0.1, at, 2, 0.5, staircase=True)
            step = tf1.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=at)
            right = tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1))
            session.run(tf1.global_variables_initializer())
            made.clear()
            fed = {x: data(5, 7), y: np.eye(3, dtype=np.float32)[[0, 2, 1, 1, 0]]}
            return [session.run([loss, right, step, at], fed)[:2] for _ in range(5)]

    by_code = run()
    assert [m.refusal for m in made] == [None]
    only_numpy(monkeypatch)
    close(by_code, run())


def test_determinism_keeps_the_engine(monkeypatch):
    monkeypatch.setattr(config.wishes, "deterministic", True)
    step = tf.function(lambda x: tf.reduce_sum(tf.exp(x) * tf.tanh(x), 0), autograph=False)
    x = tf.constant(np.random.RandomState(0).randn(30, 7).astype("f"))
    step(x)  # by the plain executor
    found = [step(x).numpy().tobytes() for _ in range(30)]
    assert len(set(found)) == 1


def test_views_are_laid_out_anew_rather_than_left_to_numpy(made):
    f = tf.function(lambda x, y: tf.tanh(x * y) + x, autograph=False)
    x, y = data(4, 6), data(4, 6, seed=1)
    wanted = f(tf.constant(x), tf.constant(y)).numpy()
    (region,) = made
    region._host = None  # NumPy's lines: nobody asks for them
    found = np.empty((4, 6), np.float32)
    assert region.by_numpy(np.asfortranarray(x), y, found)
    np.testing.assert_array_equal(found, wanted)


def test_what_numpy_needs_is_let_go_of_while_code_is_made(monkeypatch):
    monkeypatch.setattr(native_region._worker, "add", lambda job: None)  # it never comes
    found = []
    monkeypatch.setattr(programs, "Native", lambda *args: found.append(native_region.Native(*args)) or found[-1])

    @tf.function
    def step(x):
        return tf.tanh(tf.reduce_sum(tf.exp(x) * x, 1, keepdims=True) - x)

    x = data(600, 600)
    for _ in range(3):
        y = step(tf.constant(x))
    (region,) = found
    assert region.kernel is None and region._host.memory >= 600 * 600 * 4 and not region._host._idle
    np.testing.assert_allclose(y, np.tanh((np.exp(x) * x).sum(1, keepdims=True) - x), rtol=1e-3, atol=1e-4)
