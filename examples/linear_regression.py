"""A line through four points, as a TensorFlow 1 graph: y = W x + b ends at W = -1, b = 1.

ebbflow run examples/linear_regression.py
"""

import tensorflow as tf

slope = tf.Variable([0.3], dtype=tf.float32, name="W")
offset = tf.Variable([-0.3], dtype=tf.float32, name="b")
x = tf.placeholder(tf.float32)
y = tf.placeholder(tf.float32)
loss = tf.reduce_sum(tf.square(slope * x + offset - y))
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

data = {x: [1, 2, 3, 4], y: [0, -1, -2, -3]}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(1000):
        sess.run(train, data)
    w, b, final = sess.run([slope, offset, loss], data)

print(f"W: {w} b: {b} loss: {final}")
assert abs(w[0] + 1) < 1e-4 and abs(b[0] - 1) < 1e-4 and final < 1e-9
