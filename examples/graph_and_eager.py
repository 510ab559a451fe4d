"""The same multiplication twice: as a graph that a session runs, and eagerly.

ebbflow run examples/graph_and_eager.py
"""

import tensorflow as tf

with tf.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.float32, shape=[1, 1])
    m = tf.matmul(x, x)
    print(m)  # Tensor("MatMul:0", shape=(1, 1), dtype=float32)
    with tf.compat.v1.Session() as sess:
        print(sess.run(m, feed_dict={x: [[2.0]]}))  # [[4.]]

x = [[2.0]]
print(tf.matmul(x, x))  # tf.Tensor([[4.]], shape=(1, 1), dtype=float32)

try:
    tf.gather([0, 1, 2], 7)
except tf.errors.InvalidArgumentError as error:
    print("InvalidArgumentError:", error)  # indices = 7 is not in [0, 3) [Op:Gather]
