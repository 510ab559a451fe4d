"""What the rows of the native engine's `OPS` are tried on: name, function of tensors, shapes of what it takes.

Each case is a region of its own with many results, since making code takes longer than running it. Read by
`test_native.py`, which also sees to it that every row is in some case.
"""

from __future__ import annotations

import numpy as np

import ebbflow as tf
from ebbflow.ops.declare import raw

EVERY = ("float32", "float64", "int32", "int64", "bool")
NUMBERS = EVERY[:4]
REALS = EVERY[:2]


def pieces(x):
    """Slices of a (5, 6) matrix, forwards, backwards, with steps, of one element, of none."""
    return [
        x[1:4], x[:, 2:], x[::2, ::3], x[::-1], x[:, ::-2], x[2], x[-1, 1:3], x[:, 3], x[None, 1:2], x[..., None, 0],
        x[3:3], x[4:1], x[1, 2], tf.slice(x, [1, 2], [3, -1]), tf.slice(x, [5, 0], [0, 6]), x[4:1:-1, 5:0:-2],
        raw.StridedSliceGrad([7, 9], [1, 8], [6, 2], [1, -1], x), raw.StridedSliceGrad([9, 2], [0], [9], [2], x[:, :2]),
        raw.StridedSliceGrad([3, 6], [2], [3], [1], x[0], shrink_axis_mask=1),
        raw.StridedSliceGrad([8, 6], [3], [3], [1], x[:0]),
    ]  # fmt: skip


def shapes(x):
    """The same elements, arranged otherwise."""
    turned = tf.transpose(x)
    return [
        tf.reshape(x, [30]), tf.reshape(turned, [5, 6]), tf.expand_dims(x, 1), tf.squeeze(tf.expand_dims(turned, 0)),
        tf.transpose(tf.reshape(x, [5, 2, 3]), [2, 0, 1]), tf.reshape(x[1:3], [3, 4]), tf.reshape(turned[:, 1:], [-1]),
        tf.reshape(x, [5, 1, 6, 1]), tf.transpose(tf.reshape(x, [1, 30])), tf.reshape(x[:, 1:2], [1, 5]),
        tf.identity(x), tf.stop_gradient(x), raw.PreventGradient(x, message=""), raw.Snapshot(x),
        *tf.identity_n([x, turned]), tf.ensure_shape(x, [5, None]), raw.ZerosLike(x), raw.OnesLike(x),
    ]  # fmt: skip


def parts(x, y):
    """Parts taken apart and put together again."""
    return [
        *tf.split(x, 3, 1), *tf.split(x, [1, 0, 4], 0), *tf.unstack(x), *tf.unstack(x, axis=1)[:2],
        tf.concat([x, y], 0), tf.concat([y, x, x], 1), tf.concat([x[:, :0], y], 1), tf.stack([x, y]),
        tf.stack([x, y], axis=-1), tf.concat([tf.transpose(x), tf.transpose(y)], -1),
        tf.concat([x[1:2], y[:, ::-1]], 0),
        tf.broadcast_to(x[:1], [5, 6]), tf.broadcast_to(x[:, :1], [2, 5, 6]), tf.fill([2, 3], x[0, 0]),
        tf.broadcast_to(x[0, 0], [4]), tf.stack([x[0, 0], y[1, 1]]),
    ]  # fmt: skip


def casts(x):
    return [tf.cast(x, dtype) for dtype in EVERY]


def more_pieces(x, y):
    """Repeated, padded, mirrored, turned round, picked."""
    turned = tf.transpose(x)
    return [
        tf.tile(x, [2, 3]), tf.tile(turned, [1, 2]), tf.tile(x[:1], [3, 1]), tf.tile(x, [0, 1]), tf.tile(x[0, 0], []),
        tf.pad(x, [[1, 2], [0, 3]]), tf.pad(turned, [[0, 0], [1, 0]]), tf.pad(x[:0], [[1, 1], [0, 1]]),
        tf.pad(x, [[1, 1], [2, 2]], "REFLECT"), tf.pad(turned, [[2, 0], [0, 5]], "SYMMETRIC"),
        tf.pad(x, [[0, 0], [0, 0]], "REFLECT"), tf.pad(x[0], [[5, 5]], "REFLECT"),
        tf.reverse(x, [0]), tf.reverse(turned, [-1, 0]), tf.reverse(tf.where(x == y, x, y), [1]),
        tf.reverse(x[:0], [0]),
        raw.Select(x == y, x, y), raw.Select(x[:, 0] == y[:, 1], x, y), raw.Select(x[0, 0] == y[0, 0], x, y),
        tf.linalg.band_part(x, 1, 2), tf.linalg.band_part(turned, 0, -1), tf.linalg.band_part(tf.stack([x, y]), -1, 0),
        raw.MatrixDiagPart(x), tf.linalg.diag_part(tf.stack([x, y])), tf.linalg.diag_part(tf.where(x == y, x, y)),
        raw.MatrixDiag(x), tf.linalg.diag(x[0]), tf.linalg.diag(turned),
        raw.PadV2(x, [[1, 0], [0, 1]], y[1, 1]), tf.tile(tf.reshape(x, [5, 1, 6]), [1, 4, 1]),
    ]  # fmt: skip


def gathered(x, ids, id_rows, number):
    """Rows and columns by number; numbers that come from outside, or nearly so."""
    return [
        tf.gather(x, ids), tf.gather(x, id_rows, axis=1), tf.gather(x, number), tf.gather(tf.transpose(x), [2, 0]),
        tf.gather(x, tf.cast(ids, tf.int64), axis=1), raw.Gather(x, id_rows), tf.gather(x, id_rows[:, 0]),
        tf.gather(x, tf.reshape(ids, [3, 1])), tf.gather(x[:, :3], ids), tf.gather(x, ids[:0]),
        tf.reverse_sequence(x[:3], ids, 1, 0), tf.reverse_sequence(tf.transpose(x[:3]), ids, 0, 1),
        tf.reverse_sequence(tf.reshape(x, [2, 5, 3]), tf.cast(ids, tf.int64), 1, 2),
        tf.reverse_sequence(x[:0], ids[:0], 1),
        raw.UnsortedSegmentSum(x[:3], ids, 5), raw.UnsortedSegmentSum(x[:2, :2], id_rows, 4),
        raw.UnsortedSegmentSum(x[0, :1], [0], 1), tf.gather(x[:3], ids, axis=1, batch_dims=1),
        tf.gather(tf.reshape(x, [2, 3, 5]), id_rows, axis=2, batch_dims=1), tf.gather_nd(x, id_rows),
        tf.gather_nd(x, ids[:, None]), tf.gather_nd(x, [[1, 2], [0, 0]]), tf.gather_nd(tf.exp(x) if x.dtype.is_floating
        else x * 2, tf.stack([[0, 1], [2, 3]])), raw.ScatterNd(id_rows, x[0, :2], [4, 7]),
        raw.ScatterNd(ids[:, None], x[:3], [5, 6]), raw.ScatterNd(id_rows[:, :, None], x[:4, :2][::2], [4]),
        raw.UnsortedSegmentSum(x[:3], tf.add(ids, [0, 1, 0]), 5),
    ]  # fmt: skip


def marched(x):
    """Along an axis, step by step."""
    found = []
    for scan in (tf.cumsum, tf.math.cumprod):
        found += [scan(x, 0), scan(x, -1), scan(x, 1, exclusive=True), scan(x, 1, reverse=True), scan(tf.transpose(x))]
        found += [scan(x, 0, exclusive=True, reverse=True), scan(x[:0]), scan(x[0, 0, :1]), scan(x[:1, :, :1] * 2, 1)]
    for which in (tf.argmax, tf.argmin):
        found += [which(x, 0), which(x, -1), which(x, 1, tf.int32), which(tf.transpose(x), 0), which(x[0, 0])]
        found += [which(x * 0, 1), which(x[:, :, :1], 2), which(x[:0], 1)]
    return found


def largest(x):
    """The largest of each row, and where they stand: equal ones by their place, none of them a number first."""
    found = []
    for k in (0, 1, 2, 6):
        found += [*tf.math.top_k(x, k), *tf.math.top_k(x * 0, k, index_type=tf.int64), *tf.math.top_k(x[:0], k)]
    signed = tf.where(x > 0, tf.zeros_like(x), -tf.zeros_like(x))
    found += [*tf.math.top_k(tf.transpose(x), 3), *tf.math.top_k(x + x, 4, sorted=False), *tf.math.top_k(signed, 5)]
    if x.dtype.is_floating:
        odd = tf.where(x > 1, x / tf.zeros_like(x), tf.where(x < -1, tf.sqrt(x), x))  # infinities, and no numbers
        found += [*tf.math.top_k(odd, 6), *tf.math.top_k(-odd, 2)]
    wide = tf.concat([x, x * 2, x - 1], -1)
    return [*found, *tf.math.top_k(wide, 16), *tf.math.top_k(x[0, 0], 1)]


def truths(x):
    found = []
    for fold in (tf.reduce_all, tf.reduce_any):
        found += [fold(x), fold(x, 0), fold(x, [1], keepdims=True), fold(x, []), fold(x[:0]), fold(x[:, :0], 1)]
        found += [fold(tf.transpose(x), 0), fold(x[0, 0]), fold(tf.logical_not(x), 1)]
    return found


def lengths(x):
    norm = tf.math.reduce_euclidean_norm
    return [norm(x), norm(x, 0), norm(x, 1, keepdims=True), norm(x, []), norm(x[0, 0]), norm(x[:0], 0)]


def divided(x):
    by = tf.constant([3, -4, 7, 1, -2, 5], x.dtype)
    ops = (raw.FloorDiv, raw.FloorMod, raw.TruncateDiv, raw.TruncateMod, raw.Mod, raw.Div)
    return [op(x, by) for op in ops] + [op(x, tf.constant(-3, x.dtype)) for op in ops]


def folds(x):
    """Sums and their like, along every axis, of arrays that lie this way and that."""
    turned = tf.transpose(x, [2, 0, 1])
    found = []
    for fold in (tf.reduce_sum, tf.reduce_max, tf.reduce_min, tf.reduce_prod, tf.reduce_mean):
        if fold is tf.reduce_mean and not x.dtype.is_floating:
            continue
        found += [fold(x), fold(x, 0), fold(x, 1), fold(x, -1, keepdims=True), fold(x, [0, 2]), fold(x, [])]
        found += [fold(turned, [0, 1]), fold(turned, 2), fold(x[:, :1], 1), fold(x[0, 0, 0]), fold(x + 1, [1, 2])]
    return found


def nothings(x):
    """Arrays without elements: (0, 3)."""
    found = [x + 1, tf.transpose(x), tf.reshape(x, [3, 0]), tf.concat([x, x], 0), tf.concat([x, tf.ones([2, 3])], 0)]
    found += [tf.reduce_sum(x, 0), tf.reduce_sum(x, 1), tf.reduce_max(x, 0), tf.reduce_prod(x), tf.reduce_mean(x, 0)]
    found += [tf.matmul(x, tf.ones([3, 4])), tf.matmul(tf.reshape(x, [0, 2, 3]), tf.ones([0, 3, 2]))]
    return [*found, *tf.split(x, 3, 1), tf.nn.l2_loss(x), tf.exp(x), tf.where(x > 0, x, 1.0)]


def products(x, y):
    """Products of (m, k) and (k, n), each matrix lying either way."""
    x_t, y_t = tf.transpose(x), tf.transpose(y)
    found = [tf.matmul(x, y), tf.matmul(x_t, y, transpose_a=True), tf.matmul(x, y_t, transpose_b=True)]
    found += [tf.matmul(x_t, y_t, True, True), tf.matmul(y, x, True, True), tf.matmul(x * 2, y + 1)]
    # each way round without its being a matter of the op
    tall = tf.concat([x, x], 0)
    return [*found, tf.matmul(tall[::2], y), tf.matmul(tf.reshape(x, y_t.shape) if x.shape == y_t.shape else x, y)]


def many_products(x, y):
    return [
        tf.matmul(x, y), tf.matmul(tf.transpose(x, [0, 2, 1]), y, transpose_a=True),
        tf.matmul(x, tf.transpose(y, [0, 2, 1]), transpose_b=True), raw.BatchMatMul(x, y),
    ]  # fmt: skip


def softmaxes(x, labels, classes, more):
    rows = tf.reshape(more, [2, -1, more.shape[-1]])
    return [
        tf.nn.softmax(x), tf.nn.log_softmax(x), tf.nn.softmax(rows), tf.nn.softmax(tf.transpose(x)),
        tf.nn.softmax(x[0]),
        *raw.SoftmaxCrossEntropyWithLogits(x, labels), *raw.SparseSoftmaxCrossEntropyWithLogits(x, classes),
        tf.nn.softmax(x * 2 + 1), tf.nn.l2_loss(x), tf.nn.bias_add(x, x[0]), raw.BiasAddGrad(x),
        raw.BiasAddGrad(tf.reshape(x, [1, *x.shape])), tf.nn.bias_add(tf.reshape(x, [1, *x.shape]), x[1]),
        *raw.SparseSoftmaxCrossEntropyWithLogits(x * 3, tf.reshape(tf.reshape(classes, [-1, 1])[::-1], [-1])),
    ]  # fmt: skip


def one_hots(indices):
    return [
        tf.one_hot(indices, 4), tf.one_hot(indices, 3, on_value=2.5, off_value=-1.0, axis=0), tf.one_hot(indices, 1),
        tf.one_hot(indices, 4, on_value=True, off_value=False, dtype=tf.bool),
    ]  # fmt: skip


#          function  shapes         dtypes    how exactly (0: to the bit; else a share of the largest number)
CASES = {
    "pieces": (pieces, [(5, 6)], EVERY, 0),
    "shapes": (shapes, [(5, 6)], EVERY, 0),
    "parts": (parts, [(5, 6), (5, 6)], EVERY, 0),
    "casts": (casts, [(5, 7)], EVERY, 0),
    "folds": (folds, [(3, 4, 5)], ("float32", "float64", "int64"), 1e-5),
    "folds of odd shapes": (folds, [(1, 37, 1)], ("float32",), 1e-5),
    "nothings": (nothings, [(0, 3)], ("float32",), 1e-6),
    "one hot": (one_hots, [(3, 2)], ("int32", "int64"), 0),
    "more pieces": (more_pieces, [(5, 6), (5, 6)], ("float32", "int64", "bool"), 0),
    "marched": (marched, [(3, 4, 5)], ("float32", "int32"), 1e-5),
    "largest": (largest, [(3, 4, 6)], NUMBERS, 0),
    "truths": (truths, [(5, 6)], ("bool",), 0),
    "lengths": (lengths, [(5, 6)], REALS, 1e-6),
    "divided": (divided, [(5, 6)], NUMBERS, 0),
    "many products": (many_products, [(3, 4, 5), (3, 5, 2)], REALS, 1e-5),
    "many products of more": (many_products, [(2, 17, 3), (2, 3, 33)], REALS, 1e-5),
}  # fmt: skip

PRODUCTS = [(1, 1, 1), (1, 5, 40), (3, 1, 7), (8, 16, 16), (9, 17, 33), (5, 3, 1), (33, 2, 20), (2, 40, 70)]
COLUMNS = [1, 2, 7, 9, 16, 33]


def softmax_case(rows, columns, dtype):
    rng = np.random.default_rng(columns)
    labels = rng.random((rows, columns)).astype(dtype)
    labels[0, 0] = 0
    logits = rng.normal(size=(rows, columns)).astype(dtype) * 3
    classes = rng.integers(0, columns, rows).astype("int64" if columns % 2 else "int32")
    return [logits, labels, classes, rng.normal(size=(4, columns)).astype(dtype)]
