"""`vectorized_map` gives what the function gives row by row, gradients included, and mostly without a loop."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.functions.vectorize.vectorized_map import batch_jacobian, for_loop, jacobian, pfor

v1 = tf.compat.v1
RANDOM = np.random.RandomState(0)
K = tf.constant(RANDOM.randn(3, 3), tf.float32)
FILTER = tf.constant(RANDOM.randn(2, 2, 2, 3), tf.float32)
SCALE = tf.constant([0.5, 2.0])


def image_gradient(x, f):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(f(x) ** 2)
    return tape.gradient(y, x)


def spd(x):
    return tf.matmul(x, x, transpose_b=True) + 3.0 * tf.eye(3)


def steps(x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x + tf.sin(y)), (0, x))[1]


def until(x):
    return tf.while_loop(lambda y: tf.reduce_sum(y) < 3.0, lambda y: y * 1.5 + 0.25, [tf.abs(x)])[0]


# what is done with a row of shape [3, 3], without a loop over rows
MATRIX = {
    "arithmetic": lambda x: x * 2.0 + K - x / (1.0 + x * x),
    "broadcast": lambda x: x[0] * x + x[:, :1],
    "clip": lambda x: tf.clip_by_value(x, -0.5, 0.5),
    "where": lambda x: tf.where(x > 0.0, x, x * x),
    "add_n": lambda x: tf.add_n([x, K, x]),
    "cast": lambda x: tf.cast(tf.cast(x, tf.float64) * 2.0, tf.float32),
    "reduce_sum": lambda x: tf.reduce_sum(x, axis=0),
    "reduce_all": lambda x: tf.reduce_mean(x),
    "reduce_keep": lambda x: x - tf.reduce_max(x, axis=-1, keepdims=True),
    "logsumexp": lambda x: tf.reduce_logsumexp(x, axis=1),
    "norm": lambda x: tf.norm(x, axis=0),
    "cumsum": lambda x: tf.cumsum(x, axis=-1, reverse=True),
    "matmul": lambda x: x @ K,
    "matmul_left": lambda x: tf.matmul(K, x, transpose_a=True),
    "matmul_own": lambda x: tf.matmul(x, x, transpose_a=True),
    "matmul_turned": lambda x: tf.matmul(x, K, transpose_a=True),
    "batch_matmul": lambda x: tf.matmul(tf.stack([x, x + 1.0]), K),
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, K),
    "tensordot": lambda x: tf.tensordot(x, K, 1),
    "linear": lambda x: tf.nn.bias_add(x @ K, K[0]),
    "softmax": lambda x: tf.nn.softmax(x) + tf.nn.log_softmax(x),
    "cross_entropy": lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(K), x),
    "sparse_cross_entropy": lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 2, 1], x),
    "l2_loss": lambda x: tf.nn.l2_loss(x),
    "l2_normalize": lambda x: tf.nn.l2_normalize(x, axis=1),
    "moments": lambda x: tf.nn.moments(x, [0]),
    "reshape": lambda x: tf.reshape(x, [-1]),
    "transpose": lambda x: tf.transpose(x),
    "expand": lambda x: tf.squeeze(tf.expand_dims(x, 1) * 2.0, 1),
    "concat": lambda x: tf.concat([x, K], axis=1),
    "stack": lambda x: tf.stack([x, K, x * x], axis=-1),
    "unstack": lambda x: tf.unstack(x, axis=1)[2],
    "split": lambda x: tf.split(x, 3, axis=-1)[1] + tf.split(x, [1, 2], axis=0)[0],
    "tile": lambda x: tf.tile(x, [2, 1]),
    "pad": lambda x: tf.pad(x, [[1, 0], [0, 2]]) + tf.pad(x, [[1, 0], [2, 0]], "REFLECT"),
    "reverse": lambda x: tf.reverse(x, [0]),
    "roll": lambda x: tf.roll(x, [1, 1], [0, -1]),
    "slice": lambda x: x[1:, ::-1][0] + tf.slice(x, [0, 1], [1, 2])[0, 0],
    "index": lambda x: x[1, 2] * x[-1],
    "ellipsis": lambda x: x[..., tf.newaxis, 0],
    "gather": lambda x: tf.gather(x, [2, 0], axis=1),
    "gather_batched": lambda x: tf.gather(x, [[2], [0], [0]], batch_dims=1),
    "gather_nd": lambda x: tf.gather_nd(x, [[0, 1], [2, 2]]),
    "scatter": lambda x: tf.scatter_nd([[1], [4]], x[:2], [5, 3]),
    "tensor_scatter": lambda x: tf.tensor_scatter_nd_add(x, [[0, 0], [2, 1]], [1.0, 2.0]) * x,
    "segments": lambda x: tf.math.unsorted_segment_sum(x, [1, -1, 0], 4),
    "one_hot": lambda x: tf.one_hot(tf.argmax(x, axis=1), 3) * x,
    "band": lambda x: tf.linalg.band_part(x, 1, 0),
    "diag": lambda x: tf.linalg.diag(x[0]) + tf.linalg.diag_part(x) + tf.linalg.set_diag(x, K[0]),
    "cholesky": lambda x: tf.linalg.cholesky(spd(x)),
    "inverse": lambda x: tf.linalg.inv(spd(x)),
    "determinant": lambda x: tf.linalg.det(spd(x)),
    "solve": lambda x: tf.linalg.solve(spd(x), K),
    "triangular": lambda x: tf.linalg.triangular_solve(tf.linalg.cholesky(spd(x)), x),
    "trace": lambda x: tf.linalg.trace(x),
    "top_k": lambda x: tf.math.top_k(x, 2)[0],
    "several results": lambda x: (x * 2.0, {"sum": tf.reduce_sum(x)}),
    "constant": lambda x: K * 2.0,
    "shape": lambda x: tf.cast(tf.shape(x), tf.float32) * tf.cast(tf.size(x), tf.float32) * x[0, 0],
    "inner gradient": lambda x: image_gradient(x, lambda v: tf.tanh(v @ K)),
    "function": lambda x: tf.function(lambda v: v * v + 1.0, autograph=False)(x),
    "cond": lambda x: tf.cond(x[0, 0] > 0, lambda: tf.sqrt(x[0, 0]) * x, lambda: -x @ K),
    "cond of all": lambda x: tf.cond(K[0, 0] > 0, lambda: x * 3.0, lambda: -x),
    "switch_case": lambda x: tf.switch_case(tf.cast(x[0, 0] * 2.0, tf.int32), [lambda: x, lambda: -x, lambda: x * x]),
    "while": steps,
    "while by row": until,
}
IMAGE = {
    "conv": lambda x: tf.nn.conv2d(x, FILTER, 1, "SAME"),
    "conv gradient": lambda x: image_gradient(x, lambda v: tf.nn.conv2d(v, FILTER, 2, "VALID")),
    "depthwise": lambda x: tf.nn.depthwise_conv2d(x, FILTER, [1, 1, 1, 1], "SAME"),
    "pools": lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID") + tf.nn.avg_pool2d(x, 2, 2, "VALID"),
    "pool gradient": lambda x: image_gradient(x, lambda v: tf.nn.avg_pool2d(v, 2, 2, "VALID")),
    "max pool gradient": lambda x: image_gradient(x, lambda v: tf.nn.max_pool2d(v, 2, 2, "VALID")),
    "batch norm": lambda x: v1.nn.fused_batch_norm(x, SCALE, SCALE, SCALE, SCALE, is_training=False)[0],
    "space": lambda x: tf.nn.space_to_depth(x, 2),
    "patches": lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
}
# what has no rule of its own, and is done row by row
LOOPED = {
    "unique": lambda x: tf.cast(tf.unique(tf.reshape(tf.cast(x * 0.0, tf.int32), [-1]))[0], tf.float32),
    "sort": lambda x: tf.math.segment_sum(x, [0, 0, 1]),
    "own filter": lambda x: tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.reshape(x, [3, 3, 1, 1]), 1, "SAME"),
    "batch norm in training": lambda x: v1.nn.fused_batch_norm(tf.reshape(x, [1, 3, 3, 1]), [1.0], [0.0])[0],
    "own bounds": lambda x: K[: tf.cast(x[0, 0] * 0.0, tf.int32) + 2],
    "py_function": lambda x: tf.numpy_function(np.fliplr, [x], tf.float32),
    "map_fn": lambda x: tf.map_fn(lambda r: r * r, x),
    "list": lambda x: tf.TensorArray(tf.float32, 2).write(0, x).write(1, K).stack(),
}
CASES = [
    *[pytest.param(f, [4, 3, 3], True, id=name) for name, f in MATRIX.items()],
    *[pytest.param(f, [3, 2, 4, 4, 2], True, id=name) for name, f in IMAGE.items()],
    *[pytest.param(f, [4, 3, 3], False, id=name) for name, f in LOOPED.items()],
]


def rows(shape):
    return np.random.RandomState(1).randn(*shape).astype(np.float32)


def total(result):
    return tf.add_n([tf.reduce_sum(tf.sin(y)) for y in tf.nest.flatten(result)])


def with_gradient(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = f(x)
        loss = total(result)
    found = tape.gradient(loss, x)
    return tf.nest.flatten(result), tf.zeros_like(x) if found is None else tf.convert_to_tensor(found)


def one_by_one(f, x):
    results = [tf.nest.flatten(f(x[i])) for i in range(x.shape[0])]
    return [tf.stack(parts) for parts in zip(*results, strict=True)]


@pytest.mark.parametrize("mode", ["eager", "function"])
@pytest.mark.parametrize(("f", "shape", "at_once"), CASES)
def test_as_row_by_row(f, shape, at_once, mode):
    x = tf.constant(rows(shape))
    wanted, wanted_gradient = with_gradient(lambda v: one_by_one(f, v), x)

    def mapped(v):
        return tf.vectorized_map(f, v, fallback_to_while_loop=not at_once, warn=False)

    run = lambda v: with_gradient(mapped, v)
    found, gradient = run(x) if mode == "eager" else tf.function(run, autograph=False)(x)
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(gradient, wanted_gradient, rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["arithmetic", "reshape", "conv", "gather_nd", "cond", "while", "segments", "concat"])
def test_an_unknown_number_of_rows(name):
    f, shape = (MATRIX[name], [4, 3, 3]) if name in MATRIX else (IMAGE[name], [3, 2, 4, 4, 2])
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, *shape[1:]])
        y = tf.vectorized_map(f, x, warn=False)
        found = session.run(y, {x: rows(shape)})
    np.testing.assert_allclose(found, one_by_one(f, tf.constant(rows(shape)))[0], rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["arithmetic", "matmul", "softmax", "reduce_sum", "gather", "cholesky", "while"])
def test_compiled(name):
    x = tf.constant(rows([4, 3, 3]))
    run = tf.function(lambda v: tf.vectorized_map(MATRIX[name], v), autograph=False, jit_compile=True)
    np.testing.assert_allclose(run(x), one_by_one(MATRIX[name], x)[0], rtol=1e-3, atol=1e-4)


def test_second_order():
    x = tf.constant(rows([4, 3, 3]))

    def slope(mapped):
        with tf.GradientTape() as tape:
            tape.watch(x)
            gradient = with_gradient(mapped, x)[1]
            loss = tf.reduce_sum(gradient * gradient)
        return tape.gradient(loss, x)

    f = lambda v: tf.tanh(v @ K) * tf.reduce_sum(v)
    found, wanted = slope(lambda v: tf.vectorized_map(f, v)), slope(lambda v: one_by_one(f, v))
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=1e-3)


def test_variables_are_seen():
    v = tf.Variable(K)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.vectorized_map(lambda x: x @ v, tf.ones([2, 3, 3])))
    np.testing.assert_allclose(tape.gradient(y, v), np.full([3, 3], 6.0))


def test_effects_come_in_their_order():
    v = tf.Variable(1.0)

    def f(x):
        v.assign(v * x)
        return v.read_value()

    with pytest.warns(UserWarning, match="row by row, for want of a rule: AssignVariableOp"):
        found = tf.vectorized_map(f, tf.constant([2.0, 3.0, 4.0]))
    assert found.numpy().tolist() == [2.0, 6.0, 24.0]


def test_draws_differ():
    drawn = tf.vectorized_map(lambda x: tf.random.uniform([3]) + 0.0 * x[0], tf.zeros([4, 2])).numpy()
    assert drawn.shape == (4, 3)
    assert len({tuple(row) for row in drawn}) == 4


ROWS = {
    "broadcast": (lambda t: t[0] * t[1], (np.ones([3, 2], np.float32), np.ones([1, 2], np.float32)), [3, 2]),
    "nested": (lambda d: d["a"] + d["b"][0], {"a": np.ones([3]), "b": (np.ones([3]),)}, [3]),
    "no rows": (lambda x: tf.reshape(x, [-1]) * 2.0, np.zeros([0, 2, 2], np.float32), [0, 4]),
    "one row": (lambda x: x * 2.0, np.zeros([1, 2], np.float32), [1, 2]),
    "scalars": (lambda x: x * 2.0, np.zeros([5], np.float32), [5]),
}


@pytest.mark.parametrize("name", ROWS)
def test_kinds_of_rows(name):
    f, elems, shape = ROWS[name]
    assert tf.vectorized_map(f, elems).shape == shape


REFUSED = [
    (
        lambda: tf.vectorized_map(lambda x: x, (tf.ones([2]), tf.ones([3, 2]))),
        ValueError,
        r"as many rows, or one: got shapes \(2,\), \(3, 2\)",
    ),
    (lambda: tf.vectorized_map(lambda x: x, tf.constant(1.0)), ValueError, "1\\+ dimensional"),
    (lambda: tf.vectorized_map(lambda x: x, []), ValueError, "at least one tensor"),
    (
        lambda: tf.vectorized_map(lambda x: tf.unique(x)[0], tf.ones([2, 3]), fallback_to_while_loop=False),
        ValueError,
        "No pfor vectorization defined for Unique",
    ),
]


@pytest.mark.parametrize(("call", "error", "says"), REFUSED)
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call()


PFOR = {
    "pick": lambda i: K[i],
    "pick negative": lambda i: K[i - 3],
    "pick two": lambda i: K[i, 2 - i],
    "gather": lambda i: tf.gather(K, i, axis=1),
    "embed": lambda i: tf.nn.embedding_lookup(K, [i, i]),
    "number": lambda i: tf.cast(i * i, tf.float32),
}


@pytest.mark.parametrize("name", PFOR)
def test_pfor_and_for_loop(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = pfor(PFOR[name], 3, fallback_to_while_loop=False, warn=True)
    np.testing.assert_allclose(found, for_loop(PFOR[name], tf.float32, 3), rtol=1e-6)


@pytest.mark.parametrize("use_pfor", [True, False])
def test_jacobians(use_pfor):
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant(rows([2, 3]))
        w = tf.constant(K.numpy())
        y = tf.tanh(x @ w)
        full = jacobian(y, {"x": x, "w": w}, use_pfor=use_pfor)
        batch = batch_jacobian(y, x, use_pfor=use_pfor)
        assert full["x"].shape == [2, 3, 2, 3]
        assert batch.shape == [2, 3, 3]
        full, batch = session.run([full, batch])
    xs = tf.constant(rows([2, 3]))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([xs, K])
        ys = tf.tanh(xs @ K)
    np.testing.assert_allclose(full["x"], tape.jacobian(ys, xs), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(full["w"], tape.jacobian(ys, K), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(batch, tape.batch_jacobian(ys, xs), rtol=1e-5, atol=1e-6)


def test_a_loop_takes_its_dtypes_in_order():
    found = for_loop(lambda i: (i * 2, None, (tf.cast(i, tf.float32),)), [tf.int32, tf.int32, tf.float32], 3)
    assert [None if x is None else x.numpy().tolist() for x in found] == [[0, 2, 4], None, [0.0, 1.0, 2.0]]


X = np.arange(12.0, dtype=np.float32).reshape(4, 3)


def _row(i):
    return tf.gather(X, i)


def _greatest(a, b):
    return tf.reduce_max(a * b, 0)


def _less(i, pfor_config, by):
    return _row(i) - pfor_config.reduce_mean(_row(i)) * by


REDUCED = {
    "concat": (lambda i, pfor_config: _row(i) - tf.reduce_mean(pfor_config.reduce_concat(_row(i)), 0), X - X.mean(0)),
    "mean": (lambda i, pfor_config: _row(i) - pfor_config.reduce_mean(_row(i)), X - X.mean(0)),
    "sum": (lambda i, pfor_config: pfor_config.reduce_sum(_row(i) * _row(i)), np.tile((X * X).sum(0), [4, 1])),
    "own": (
        lambda i, pfor_config: pfor_config.reduce(_greatest, _row(i), tf.cast(i, tf.float32)[None]),
        np.tile(X[3] * 3, [4, 1]),
    ),
    "of what is the same": (lambda i, pfor_config: _row(i) + pfor_config.reduce_sum(tf.constant(2.0)), X + 8),
    "partial": (functools.partial(_less, by=2.0), X - 2 * X.mean(0)),
}


@pytest.mark.parametrize("case", REDUCED)
@pytest.mark.parametrize("count", [4, None])
def test_rows_see_all_rows(case, count):
    row, wanted = REDUCED[case]
    np.testing.assert_allclose(pfor(row, 4), wanted, rtol=1e-6)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        given = 4 if count else tf.compat.v1.placeholder_with_default(4, [])
        np.testing.assert_allclose(session.run(pfor(row, given)), wanted, rtol=1e-6)


def test_rows_that_cannot_see_all_rows():
    with pytest.raises(ValueError, match="parallel_iterations currently unsupported"):
        pfor(REDUCED["sum"][0], 4, parallel_iterations=2)

    def inside(i, pfor_config):
        return tf.cond(i > 1, lambda: pfor_config.reduce_sum(_row(i)), lambda: _row(i))

    with tf.Graph().as_default(), pytest.raises(ValueError, match="inside a choice or a loop"):
        pfor(inside, 4)


SPARSE = {
    "all differ": (lambda n: ([[n]], [n], [n + 1]), np.diag(np.arange(5))),
    "places": (lambda n: ([[n]], [1], [5]), np.eye(5)),
    "values": (lambda n: ([[0]], [n], [5]), np.arange(5)[:, None] * np.eye(5)[:1]),
    "nothing": (lambda n: ([[0], [2]], [4, 6], [5]), np.tile([4, 0, 6, 0, 0], [5, 1])),
    "two axes": (lambda n: ([[0, 0]], [1], [n + 1, n + 1]), np.tile(np.eye(5)[:1].T * np.eye(5)[:1], [5, 1, 1])),
}


@pytest.mark.parametrize("case", SPARSE)
def test_sparse_tensors_of_rows_become_one(case):
    made, wanted = SPARSE[case]

    def row(i):
        indices, values, shape = made(tf.cast(i, tf.int64))
        return tf.SparseTensor(tf.cast(indices, tf.int64), values, tf.cast(shape, tf.int64))

    np.testing.assert_array_equal(tf.sparse.to_dense(pfor(row, 5)), wanted)


@pytest.mark.parametrize("many, says", [(0, "must be None or a positive integer"), (1, "Use for_loop instead")])
def test_how_many_at_a_time(many, says):
    with pytest.raises(ValueError, match=says):
        pfor(lambda i: i, 3, parallel_iterations=many)
    with pytest.raises(TypeError, match="must be a positive integer"):
        for_loop(lambda i: i, tf.int32, 3, parallel_iterations=0)
