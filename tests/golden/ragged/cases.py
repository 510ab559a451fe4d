"""What is written on ragged tensors: expressions, for any module that is `tf`. Recorded by `tools/record/ragged.py`."""

from __future__ import annotations

import numpy as np

VALUES = {  # name: how it is made
    "r": "tf.ragged.constant([[1.0, 2.0, 3.0], [], [4.0], [5.0, 6.0]])",
    "q": "tf.ragged.constant([[9.0, 7.0, 8.0], [], [1.0], [0.0, 2.0]])",
    "i": "tf.ragged.constant([[3, 1, 4], [1], [], [5, 9]])",
    "n": "tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6], [], [7]]])",
    "m": "tf.RaggedTensor.from_row_lengths(tf.reshape(tf.range(12.0), [6, 2]), [3, 1, 0, 2])",
    "s": "tf.ragged.constant([['a', 'bc'], [], ['d']])",
    "b": "tf.ragged.constant([[True, False, True], [], [False], [True, True]])",
    "u": "tf.RaggedTensor.from_uniform_row_length(tf.range(6), 2)",
    "x": "tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])",
}

SLICES = (
    """
r[0] r[-1] r[1] r[0, 1] r[0, -1] r[1:] r[:2] r[1:3] r[-2:] r[:-1] r[::2] r[::-1] r[3:1] r[1:100] r[:, 0:1] r[:, 1:]
r[:, :2] r[:, -1:] r[:, :-1] r[:, ::2] r[:, ::-1] r[1:, 1:] r[..., 0:1] r[..., :2] r[...] r[:] r[tf.newaxis]
r[:, tf.newaxis] r[..., tf.newaxis] r[0, tf.newaxis] r[tf.newaxis, 1:] r[2:, tf.newaxis, :1] r[0:1, 0:1]
n[0] n[2, 0] n[2, 0, 1] n[:, 0:1] n[:, :, 0:1] n[:, :, 1:] n[..., 1:] n[0, :, 0:1] n[2, :, :1] n[2, 1:] n[1:, 1:, 1:]
n[..., tf.newaxis] n[:, tf.newaxis] n[2, 0, ...] n[::2, ::-1] n[2, :, tf.newaxis] n[0:1, ..., 0:1]
m[0] m[0, 1] m[0, 1, 1] m[:, :, 0] m[..., 0] m[..., 1] m[..., 0:1] m[:, 1:] m[:, 1:, 0] m[1:, :, 1] m[..., ::-1] m[3, :, 0]
m[..., tf.newaxis] m[:, :, tf.newaxis] m[0, ..., 1] u[1] u[:, 0] u[:, 1:] r[tf.constant(2)] r[tf.constant(1):] m[:, :1, 1]
""".replace("tf.newaxis, ", "tf.newaxis,")
    .replace(", ", ",")
    .split()
)

COMPUTED = (
    """
tf.abs(-r) | tf.square(r) | tf.sqrt(r) | tf.exp(r) | tf.negative(r) | tf.math.floor(r / 2.0) | tf.sign(r) | tf.sin(r)
tf.math.log(r) | tf.sigmoid(r) | tf.tanh(r) | tf.nn.relu(r - 3.0) | tf.math.is_nan(r) | tf.round(r) | tf.identity(r)
tf.logical_not(b) | tf.zeros_like(r) | tf.ones_like(i) | tf.cast(i, tf.float32) | tf.clip_by_value(r, 2.0, 5.0)
tf.add(r, q) | tf.add(r, 1.0) | tf.add(1.0, r) | tf.subtract(r, q) | tf.multiply(r, 2.0) | tf.divide(r, 2.0) | r + q
r * 2.0 | 2.0 - r | r / q | r // 2.0 | r % 2.0 | r ** 2.0 | -r | tf.maximum(r, q) | tf.minimum(r, 3.0) | r > 2.0 | r <= q
tf.equal(i, 1) | tf.not_equal(i, 1) | tf.less(r, q) | tf.logical_and(b, b) | b & b | ~b | tf.pow(r, 2.0) | r == q | i != 1
tf.math.squared_difference(r, q) | tf.math.floordiv(i, 2) | tf.math.mod(i, 2) | tf.bitwise.bitwise_and(i, 1) | tf.add_n([r, q])
r + tf.constant([[10.0], [20.0], [30.0], [40.0]]) | tf.constant([[10.0], [20.0], [30.0], [40.0]]) * r | m + 1.0
m + tf.constant([100.0, 200.0]) | n + 1 | n * n | n + tf.constant([[[10]], [[20]], [[30]]]) | m * tf.constant([[[2.0]]])
r + tf.constant([[5.0]]) | r + tf.constant([5.0])
tf.where(b, r, q) | tf.where(b, r, -r) | tf.where(r > 2.0, r, tf.zeros_like(r)) | tf.where(b) | tf.where(n > 3)
tf.math.multiply_no_nan(r, q) | tf.nn.leaky_relu(-r)
""".replace("\n", " | ")
    .strip(" |")
    .split(" | ")
)

REDUCED = (
    [
        f"tf.reduce_{kind}({x}{axis}{keep})"
        for kind, x in (
            ("sum", "r"),
            ("mean", "r"),
            ("max", "r"),
            ("min", "r"),
            ("prod", "r"),
            ("any", "b"),
            ("all", "b"),
        )
        for axis in ("", ", axis=0", ", axis=1", ", axis=-1")
        for keep in ("", ", keepdims=True")
        if not (keep and not axis)
    ]
    + """
tf.reduce_sum(n, axis=0) | tf.reduce_sum(n, axis=1) | tf.reduce_sum(n, axis=2) | tf.reduce_max(n, axis=-1)
tf.reduce_sum(n) | tf.reduce_sum(n, axis=[0, 1]) | tf.reduce_sum(n, axis=[1, 2]) | tf.reduce_sum(n, axis=[0, 1, 2])
tf.reduce_sum(m, axis=0) | tf.reduce_sum(m, axis=1) | tf.reduce_sum(m, axis=2) | tf.reduce_mean(m, axis=1)
tf.math.reduce_std(r, axis=1) | tf.math.reduce_variance(r) | tf.reduce_sum(m, axis=[1, 2])
tf.reduce_sum(n, axis=1, keepdims=True) | tf.reduce_mean(n, axis=2) | tf.math.reduce_variance(r, axis=0)
tf.reduce_sum(u, axis=1)
""".replace("\n", " | ")
    .strip(" |")
    .split(" | ")
)

ARRANGED = (
    """
tf.concat([r, q], 0) | tf.concat([r, q], axis=1) | tf.concat([r, q], -1) | tf.concat([n, n], 0) | tf.concat([n, n], 1)
tf.concat([n, n], 2) | tf.concat([r, x], 0) | tf.concat([x, r], 1) | tf.concat([r], 0) | tf.concat([m, m], 1) | tf.concat([m, m], 2)
tf.stack([r, q]) | tf.stack([r, q], axis=1) | tf.stack([r, q], axis=2) | tf.stack([i, i, i], 0) | tf.ragged.stack([r, q])
tf.ragged.stack([[1, 2], [3]]) | tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])]) | tf.stack([r]) | tf.ragged.stack([r, x])
tf.ragged.stack([tf.constant([1, 2]), tf.constant([3, 4])], axis=1) | tf.stack([n, n], axis=1)
tf.gather(r, [2, 0]) | tf.gather(r, 3) | tf.gather(r, [[0, 2], [3, 1]]) | tf.gather(n, [2, 0]) | tf.gather(m, [3, 0])
tf.gather(x, tf.ragged.constant([[3], [], [1, 0]])) | tf.gather(r, tf.ragged.constant([[3], [], [0]])) | tf.gather(n, 0)
tf.gather(r, tf.ragged.constant([[2, 0], [], [0], [1]]), batch_dims=1) | tf.gather(r, tf.ragged.constant([[0, 1], [], [0], [1, 0]]), axis=1, batch_dims=1)
tf.gather_nd(r, [[0, 1], [3, 0]]) | tf.gather_nd(n, [[2, 0], [0, 1]]) | tf.gather_nd(n, [[2, 0, 2]]) | tf.gather_nd(r, [[0], [3]])
tf.ragged.boolean_mask(r, b) | tf.ragged.boolean_mask(r, [True, False, True, True])
tf.ragged.boolean_mask(x, [[True, False], [True, True], [False, False], [False, True]]) | tf.ragged.boolean_mask(n, n > 2)
tf.ragged.boolean_mask(n, tf.ragged.constant([[True, False], [], [False, True, True]])) | tf.ragged.boolean_mask(x, [True, False, True, True])
tf.expand_dims(r, 0) | tf.expand_dims(r, 1) | tf.expand_dims(r, 2) | tf.expand_dims(r, -1) | tf.expand_dims(n, 1) | tf.expand_dims(m, -1)
tf.squeeze(tf.expand_dims(r, 0), 0) | tf.squeeze(tf.expand_dims(r, 2), 2) | tf.size(r) | tf.size(n) | tf.rank(r) | tf.rank(n)
tf.tile(r, [2, 1]) | tf.tile(r, [1, 2]) | tf.tile(r, [2, 2]) | tf.tile(n, [1, 2, 1]) | tf.tile(n, [2, 1, 2]) | tf.reverse(r, [0]) | tf.reverse(r, [1])
tf.reverse(n, [0, 2]) | tf.one_hot(i, 3) | tf.split(r, 2) | tf.split(r, [1, 3]) | tf.split(r, [3, 1], axis=0)
tf.ragged.range(3) | tf.ragged.range([3, 5, 2]) | tf.ragged.range([0, 5], [3, 1], [1, -2]) | tf.ragged.range([1.0, 2.0], [2.0, 4.0], 0.5)
tf.ragged.range([0, 5, 8], [3, 3, 12]) | tf.ragged.range([2, 3], dtype=tf.float32) | tf.ragged.range([3, 2], row_splits_dtype=tf.int32)
tf.ragged.map_flat_values(tf.square, r) | tf.ragged.map_flat_values(tf.add, r, q) | tf.ragged.map_flat_values(lambda a: a + 1, n)
tf.ragged.map_flat_values(tf.ones_like, m) | tf.ragged.map_flat_values(tf.multiply, r, 2.0) | tf.ragged.map_flat_values(lambda a: a[:, 0], m)
tf.ragged.constant([]) | tf.ragged.constant([[]]) | tf.ragged.constant([[], [[]]]) | tf.ragged.constant([[1], [2, 3]], dtype=tf.int64) | tf.ragged.constant(5)
tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,)) | tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
tf.ragged.constant([[1], [2, 3]], row_splits_dtype=tf.int32) | tf.ragged.constant([[1.5], []], ragged_rank=1) | tf.ragged.constant([['a'], ['b', 'c']])
tf.ragged.constant([[], []], ragged_rank=1, inner_shape=(2,)) | tf.ragged.constant([1, 2]) | tf.ragged.constant([[[], []], []])
r.to_sparse() | n.to_sparse() | m.to_sparse() | tf.RaggedTensor.from_sparse(tf.sparse.from_dense([[1, 2], [0, 0], [3, 0]])) | r.to_tensor()
tf.RaggedTensor.from_sparse(r.to_sparse()) | n.to_tensor() | n.to_tensor(-1) | m.to_tensor(-1.0) | r.to_tensor(shape=[2, 2]) | r.to_tensor(9.0, shape=[5, None])
n.to_tensor(shape=[None, None, 2]) | n.to_tensor(shape=[4, 2, 1]) | tf.RaggedTensor.from_tensor(x) | tf.RaggedTensor.from_tensor(x, lengths=[1, 0, 2, 1])
tf.RaggedTensor.from_tensor([[1, 0, 0], [2, 3, 0]], padding=0) | tf.RaggedTensor.from_tensor([[[1, 2], [3, 4]]], ragged_rank=2) | tf.RaggedTensor.from_tensor([[[1, 0], [0, 0]]], padding=0, ragged_rank=2)
tf.RaggedTensor.from_tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], lengths=([1, 2], [2, 1, 0])) | tf.RaggedTensor.from_tensor([[[1, 2], [3, 4]]], lengths=[1])
n.merge_dims(0, 1) | n.merge_dims(1, 2) | n.merge_dims(0, 2) | m.merge_dims(0, 1) | m.merge_dims(1, 2) | n.bounding_shape() | r.bounding_shape(axis=1)
n.row_lengths() | n.row_lengths(axis=2) | n.nested_row_lengths()[1] | r.row_starts() | r.row_limits() | r.value_rowids() | r.nrows() | n.nested_value_rowids()[1]
r.with_values(tf.range(6)) | n.with_flat_values(tf.range(7.0)) | r.with_row_splits_dtype(tf.int32) | r.row_splits | n.flat_values | n.values | u.uniform_row_length
tf.RaggedTensor.from_uniform_row_length(tf.range(6), 3) | tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[1, 2], [1, 1, 1]]) | r.nrows(out_type=tf.int32)
tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 0, 1], [0, 1, 2]]) | tf.reshape(m.flat_values, [-1]) | tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3])
tf.ragged.segment_ids_to_row_splits([0, 0, 2])
tf.nn.softmax(r) | tf.nn.embedding_lookup(x, i[0:1] - 1)
tf.math.unsorted_segment_sum(r, [0, 1, 0, 1], 2) | tf.sort(r.flat_values) | tf.dynamic_partition(r, [0, 1, 0, 1], 2)
tf.convert_to_tensor(r.to_tensor()) | tf.sparse.to_dense(r.to_sparse())
""".replace("\n", " | ")
    .strip(" |")
    .split(" | ")
)

MAPPED = (
    """
tf.map_fn(tf.reduce_sum, r, fn_output_signature=tf.float32) | tf.map_fn(lambda a: a * 2.0, r)
tf.map_fn(lambda a: a + 1, n) | tf.map_fn(lambda a: tf.reduce_sum(a, axis=1), n, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
tf.map_fn(lambda k: tf.range(k), tf.constant([2, 0, 3]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
tf.map_fn(lambda a: a[:1], r, fn_output_signature=tf.RaggedTensorSpec([None], tf.float32)) | tf.map_fn(lambda a: a, m)
tf.map_fn(tf.size, r, fn_output_signature=tf.int32) | tf.map_fn(lambda ab: ab[0] + ab[1], (r, q), fn_output_signature=tf.RaggedTensorSpec([None], tf.float32))
tf.map_fn(lambda ab: (tf.reduce_sum(ab[0]), ab[1]), (r, x), fn_output_signature=(tf.float32, tf.float32))
tf.map_fn(lambda k: tf.ragged.range(tf.fill([k], k)), tf.constant([2, 0, 1]), fn_output_signature=tf.RaggedTensorSpec([None, None], tf.int32))
tf.map_fn(lambda z: tf.sparse.reduce_sum(z), r.to_sparse(), fn_output_signature=tf.float32)
tf.map_fn(lambda z: z, r.to_sparse(), fn_output_signature=tf.SparseTensorSpec([None], tf.float32))
tf.map_fn(lambda z: tf.sparse.to_dense(z), tf.sparse.from_dense([[1, 0], [2, 3]]), fn_output_signature=tf.int32)
tf.map_fn(lambda k: tf.sparse.from_dense(tf.one_hot(k, 3)), tf.constant([2, 0]), fn_output_signature=tf.SparseTensorSpec([None], tf.float32))
tf.map_fn(lambda a: tf.RaggedTensor.from_tensor(a[tf.newaxis]), x, fn_output_signature=tf.RaggedTensorSpec([None, None], tf.float32))
tf.map_fn(lambda a: tf.ragged.constant([[1], [2, 3]]), tf.range(2), fn_output_signature=tf.RaggedTensorSpec([None, None], tf.int32))
tf.foldl(lambda a, k: a + k, tf.constant([1.0, 2.0])) | tf.map_fn(lambda a: a, r, fn_output_signature=tf.RaggedTensorSpec([None], tf.float32))
tf.map_fn(lambda a: a, s)
""".replace("\n", " | ")
    .strip(" |")
    .split(" | ")
)

EDGES = (
    """
tf.ragged.constant([1, 2, 3, 4], inner_shape=(2, 2)) | tf.ragged.constant([1, 2, 3], inner_shape=(1, 1)) | tf.ragged.constant(12, ragged_rank=1)
tf.ragged.constant([[[1]], [[[2]]]]) | tf.ragged.constant([[1], [[]]]) | tf.ragged.constant([[[1, 2], [3]]], ragged_rank=0) | tf.ragged.constant([[]], inner_shape=(1, 0))
tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6], [7, 8, 9]]], ragged_rank=1) | tf.ragged.constant([[1, 2], [3]], ragged_rank=3) | tf.ragged.constant([[], []], ragged_rank=3)
tf.ragged.constant([[[1, 2]], np.array([])]) | tf.ragged.constant(r) | tf.ragged.constant([], inner_shape=(0, 3))
r.to_tensor(9.0, shape=[2, tf.constant(2)]) | r.to_tensor(shape=tf.constant([5, 1])) | m.to_tensor([7.0, 8.0])
m.to_tensor([9.0], shape=[None, 2, None]) | n.to_tensor(-1, shape=[None, 1, None]) | r.to_tensor('a')
r[:, ::tf.constant(2)] | r[:, ::tf.constant(-1)] | r[:, tf.constant(1)::tf.constant(1)] | n[:, :, :tf.constant(-1)] | u[:, tf.constant(-1)] | u[:, -2] | u[:, 2] | u[:, tf.constant(0):] | r[[]]
tf.split(r, 1, axis=1) | tf.split(r, 3) | tf.split(r, 0) | tf.split(r, [1, 2]) | tf.split(r, tf.constant([2, 2])) | tf.split(r, [1, -1, 4]) | tf.split(u, 2, axis=1) | tf.split(u, [2, 0], axis=1) | tf.split(r, [1.0, 3.0])
tf.cumsum(r, axis=0) | tf.cumsum(n, axis=1) | tf.cumsum(n, axis=2, reverse=True) | tf.cumsum(m, axis=0, exclusive=True) | tf.cumsum(r, 5) | tf.repeat(3, 4, axis=0)
tf.compat.v1.where([True, False, True, False], r, q) | tf.compat.v1.where([True, False, True, True], r, x) | n.row_lengths(-1) | n.row_lengths(-3) | r.row_lengths(2)
tf.gather_nd(r, tf.zeros([2, 0], tf.int32)) | tf.gather_nd(r, 0) | tf.gather_nd(tf.constant([1, 2]), tf.ragged.constant([[0]])) | tf.ragged.stack([[1, 2]]) | tf.ragged.stack(r)
tf.ragged.stack_dynamic_partitions(r, tf.ragged.constant([[0, 1, 0], [], [2], [1, 1]]), 3) | tf.ragged.stack_dynamic_partitions(r, 1, 2) | tf.ragged.stack_dynamic_partitions(['a'], [3], 2)
tf.ragged.stack_dynamic_partitions(['a', 'b'], [-1, 0], 2) | tf.ragged.stack_dynamic_partitions(r, tf.ragged.constant([[0], [], [2], [1, 1]]), 3) | tf.ragged.stack_dynamic_partitions(['a', 'b'], [1], 2)
n.merge_dims(1, 3) | n.merge_dims(2, 1) | n.merge_dims(-2, -1) | tf.concat([r, q], 2) | tf.stack([r, q], axis=3) | tf.ragged.cross([r])
tf.map_fn(lambda k: tf.range(k), tf.constant([], tf.int32), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
""".replace("\n", " | ")
    .strip(" |")
    .split(" | ")
)

FAMILIES = {"slices": SLICES, "computed": COMPUTED, "reduced": REDUCED, "arranged": ARRANGED, "mapped": MAPPED, "edges": EDGES}


def evaluate(tf, expression, in_function=False):
    """Return what an expression gives as plain values, or the classes of the error it raises."""
    code = compile(expression, "<case>", "eval")
    named = {name: eval(text, {"tf": tf}) for name, text in VALUES.items() if name in code_names(code)}

    def run(**given):
        return eval(code, {"tf": tf, "np": np, **given})

    try:
        found = tf.function(run, autograph=False)(**named) if in_function else run(**named)
    except Exception as error:
        return {"error": [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"][0]}
    return plain(tf, found)


def code_names(code):
    """Return the names that code, and the lambdas in it, refer to."""
    inner = [c for c in code.co_consts if hasattr(c, "co_names")]
    return {*code.co_names, *(name for c in inner for name in code_names(c))}


def plain(tf, value):
    """Return a result as JSON has it: values, kind, dtype and static shape."""
    if isinstance(value, (list, tuple)):
        return [plain(tf, item) for item in value]
    if isinstance(value, tf.RaggedTensor):
        kind = [value.ragged_rank, value.dtype.name, value.row_splits.dtype.name]
        return {"ragged": shown(value.to_list()), "kind": kind, "shape": static(value.shape)}
    if isinstance(value, tf.SparseTensor):
        return {"sparse": [shown(part.numpy().tolist()) for part in (value.indices, value.values, value.dense_shape)]}
    if isinstance(value, tf.Tensor):
        return {"tensor": shown(value.numpy().tolist()), "kind": value.dtype.name}
    return shown(static(value) if isinstance(value, tf.TensorShape) else value)


def static(shape):
    return None if shape.rank is None else shape.as_list()


def shown(value):
    """Return numbers rounded to what a float32 holds, bytes as text."""
    if isinstance(value, (list, tuple)):
        return [shown(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, float):
        return repr(value) if value != value or abs(value) == float("inf") else float(f"{value:.5g}")
    return value
