"""Shape invariants of loops in TF 1: a TensorShape may describe sparse and ragged tensors. In a process of its own."""

import subprocess
import sys
import textwrap

PROGRAM = """
    import ebbflow.v1 as tf

    i = tf.constant(0)
    x = tf.SparseTensor([[0], [3]], [2.0, 4.0], [10])
    less, keep = lambda i, _: i < 3, lambda i, x: [i + 1, x]

    def deeper(i, x):
        row = tf.cast(tf.fill([2, 1], i), tf.int64)
        shape = tf.concat([x.dense_shape, [10]], 0)
        return [i + 1, tf.SparseTensor(tf.concat([x.indices, row], 1), x.values * 2.0, shape)]

    _, r = tf.while_loop(less, deeper, [i, x], [i.shape, tf.TensorShape([None])])
    _, kept = tf.while_loop(less, keep, [i, x], [i.shape, tf.TensorShape([1])])
    ragged = tf.ragged.constant([[1, 2], [3]])
    _, longer = tf.while_loop(less, lambda i, x: [i + 1, tf.concat([x, x], 0)], [i, ragged],
                              [i.shape, tf.TensorShape([None, None])])
    with tf.Session() as session:
        print(session.run(r).dense_shape.tolist(), kept.indices.shape, session.run(longer).row_splits.shape)
    for wrong in (tf.TensorShape([5]), tf.SparseTensorSpec([None], tf.int32)):
        try:
            tf.while_loop(less, keep, [i, x], [i.shape, wrong])
        except (TypeError, ValueError) as error:
            print(type(error).__name__, "is not compatible with" in str(error))
    try:
        tf.assert_type(tf.constant(1.0, name="one"), tf.int32)
    except TypeError as error:
        print(error)
"""


def test_shapes_describe_sparse_and_ragged_tensors():
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)], capture_output=True, text=True, timeout=120, check=False
    )
    assert child.stdout.splitlines() == [
        "[10, 10, 10, 10] (?, 1) (17,)",
        "ValueError True",
        "TypeError True",
        "one:0 must be of type <dtype: 'int32'>",
    ], child.stderr
