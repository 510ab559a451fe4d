"""Programs about sparse tensors: what `tf.sparse` gives, as dense numbers, in TensorFlow 2.21 (eagerly) and 1.15.

A row is a name and a function of `tf`; sparse results are written down part by part.
"""

import numpy as np

from .book import Book, plain, read_recording, write_recording

book = Book(judges=("1.15", "2.21"))
V2_ONLY = ("2.21",)


def small(tf):
    return tf.SparseTensor([[0, 1], [1, 0], [1, 3]], [1.0, -2.0, 3.0], [3, 4])


def words(tf):
    return tf.SparseTensor([[0, 0], [1, 2]], ["a", "bc"], [2, 3])


def mixed(tf):
    return tf.SparseTensor([[2, 2], [0, 1]], [5, 7], [3, 4])


TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


def ids(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 2])


def doubtful_ids(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, -1, 3], [4, 2])


def weights(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 2.0, 1.5], [4, 2])


ROWS = {
    "parts": small,
    "strings": words,
    "to_dense": lambda tf: tf.sparse.to_dense(small(tf)),
    "to_dense_default": lambda tf: tf.sparse.to_dense(small(tf), default_value=9.0),
    "to_dense_strings": lambda tf: tf.sparse.to_dense(words(tf), default_value="?"),
    "reorder": lambda tf: tf.sparse.reorder(mixed(tf)),
    "reshape": lambda tf: tf.sparse.reshape(small(tf), [4, -1]),
    "transpose": lambda tf: tf.sparse.transpose(small(tf)),
    "transpose_by": lambda tf: tf.sparse.transpose(small(tf), [1, 0]),
    "expand_dims_front": lambda tf: tf.sparse.expand_dims(small(tf), 0),
    "expand_dims_back": lambda tf: tf.sparse.expand_dims(small(tf), -1),
    "slice": lambda tf: tf.sparse.slice(small(tf), [1, 0], [2, 3]),
    "concat": lambda tf: tf.sparse.concat(1, [small(tf), small(tf)]),
    "split": lambda tf: tf.sparse.split(sp_input=small(tf), num_split=2, axis=1),
    "retain": lambda tf: tf.sparse.retain(small(tf), [True, False, True]),
    "reset_shape": lambda tf: tf.sparse.reset_shape(small(tf)),
    "reset_shape_to": lambda tf: tf.sparse.reset_shape(small(tf), [4, 5]),
    "fill_empty_rows": lambda tf: tf.sparse.fill_empty_rows(small(tf), 0.0),
    "to_indicator": lambda tf: tf.sparse.to_indicator(ids(tf), 5),
    "matmul": lambda tf: tf.sparse.sparse_dense_matmul(small(tf), TABLE),
    "matmul_adjoint": lambda tf: tf.sparse.sparse_dense_matmul(small(tf), TABLE[:3], adjoint_a=True),
    "add": lambda tf: tf.sparse.add(small(tf), small(tf)),
    "add_threshold": lambda tf: tf.sparse.add(small(tf), small(tf) * [[-0.9]], threshold=0.15),
    "add_dense": lambda tf: tf.sparse.add(small(tf), np.ones((3, 4), np.float32)),
    "maximum": lambda tf: tf.sparse.maximum(small(tf), small(tf) * [[-1.0]]),
    "minimum": lambda tf: tf.sparse.minimum(small(tf), small(tf) * [[-1.0]]),
    "softmax": lambda tf: tf.sparse.softmax(small(tf)),
    "reduce_sum": lambda tf: tf.sparse.reduce_sum(small(tf)),
    "reduce_sum_axis": lambda tf: tf.sparse.reduce_sum(small(tf), axis=1, keepdims=True),
    "reduce_max": lambda tf: tf.sparse.reduce_max(small(tf), axis=0),
    "times": lambda tf: small(tf) * np.full((3, 4), 2.0, np.float32),
    "divided": lambda tf: small(tf) / np.full((4,), 2.0, np.float32),
    "cast": lambda tf: tf.cast(small(tf), tf.int32),
    "shape": lambda tf: tf.shape(small(tf)),
    "size": lambda tf: tf.size(small(tf)),
    "rank": lambda tf: tf.rank(small(tf)),
    "lookup_sum": lambda tf: tf.nn.embedding_lookup_sparse(TABLE, ids(tf), None, combiner="sum"),
    "lookup_mean": lambda tf: tf.nn.embedding_lookup_sparse(TABLE, ids(tf), None, combiner="mean"),
    "lookup_sqrtn": lambda tf: tf.nn.embedding_lookup_sparse(TABLE, ids(tf), None, combiner="sqrtn"),
    "lookup_weighted_sum": lambda tf: tf.nn.embedding_lookup_sparse(TABLE, ids(tf), weights(tf), combiner="sum"),
    "lookup_weighted_mean": lambda tf: tf.nn.embedding_lookup_sparse(TABLE, ids(tf), weights(tf), combiner="mean"),
    "lookup_weighted_sqrtn": lambda tf: tf.nn.embedding_lookup_sparse(TABLE, ids(tf), weights(tf), combiner="sqrtn"),
    "safe_lookup": lambda tf: tf.nn.safe_embedding_lookup_sparse([tf.constant(TABLE)], doubtful_ids(tf)),
    "safe_lookup_default": lambda tf: tf.nn.safe_embedding_lookup_sparse(
        [tf.constant(TABLE)], doubtful_ids(tf), weights(tf), default_id=2
    ),
}
for _name, _function in ROWS.items():
    book.add(_name, _function)
ROWS_OF_2 = {
    "concat_expanding": lambda tf: tf.sparse.concat(
        0, [small(tf), tf.SparseTensor([[0, 4]], [8.0], [1, 5])], expand_nonconcat_dims=True
    ),
    "from_dense": lambda tf: tf.sparse.from_dense([[0, 5], [6, 0]]),
    "from_dense_strings": lambda tf: tf.sparse.from_dense([["", "x"]]),
    "eye": lambda tf: tf.sparse.eye(2, 3),
    "map_values": lambda tf: tf.sparse.map_values(tf.square, small(tf)),
    "reduce_sum_sparse": lambda tf: tf.sparse.reduce_sum(small(tf), axis=1, output_is_sparse=True),
    "matmul_reversed": lambda tf: tf.sparse.sparse_dense_matmul(TABLE.T[:, :3], small(tf)),
}
for _name, _function in ROWS_OF_2.items():
    book.add(_name, _function, V2_ONLY)
ROWS_OF_1 = {
    "old_concat_expanding": lambda tf: tf.sparse_concat(
        0, [small(tf), tf.SparseTensor([[0, 4]], [8.0], [1, 5])], expand_nonconcat_dim=True
    ),
    "old_sparse_to_dense": lambda tf: tf.sparse_to_dense([[0, 1], [1, 0]], [2, 2], [3, 4]),
    "old_tensor_to_dense": lambda tf: tf.sparse_tensor_to_dense(small(tf)),
    "old_tensor_dense_matmul": lambda tf: tf.sparse_tensor_dense_matmul(small(tf), TABLE),
    "old_concat": lambda tf: tf.sparse_concat(0, [small(tf), small(tf)]),
    "old_reduce_sum": lambda tf: tf.sparse_reduce_sum(small(tf), reduction_axes=[0], keep_dims=True),
    "old_reduce_sum_sparse": lambda tf: tf.sparse_reduce_sum_sparse(small(tf), 1),
    "old_add": lambda tf: tf.sparse_add(small(tf), small(tf), thresh=0.0),
    "old_merge": lambda tf: tf.sparse_merge(ids(tf), weights(tf), 5),
    "old_lookup": lambda tf: tf.nn.embedding_lookup_sparse(
        [tf.constant(TABLE[:2]), tf.constant(TABLE[2:])], ids(tf), None, "div", combiner="sum"
    ),
}
for _name, _function in ROWS_OF_1.items():
    book.add(_name, _function, ("1.15",))


def told(value):
    """A value as JSON holds it: the three parts of a sparse one by name."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "dense_shape"):
        return [told(item) for item in value]
    if hasattr(value, "dense_shape"):
        return {part: plain(getattr(value, part)) for part in ("indices", "values", "dense_shape")}
    return plain(value)


def play(tf, judge, program):
    if judge == "2.21":
        return told(program(tf))
    with tf.Graph().as_default(), tf.Session() as session:
        return told(session.run(program(tf)))


def write(judge, recording):
    write_recording("sparse", judge, recording)


def read(judge):
    return read_recording("sparse", judge)
