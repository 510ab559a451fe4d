"""A two-layer net whose weights are fed: tf.gradients builds the backward pass, NumPy takes the steps.

ebbflow run examples/two_layer_net.py
"""

import numpy as np
import tensorflow as tf

N, D, H = 64, 100, 20
x = tf.placeholder(tf.float32, shape=(N, D))
y = tf.placeholder(tf.float32, shape=(N, D))
w1 = tf.placeholder(tf.float32, shape=(D, H))
w2 = tf.placeholder(tf.float32, shape=(H, D))

h = tf.maximum(tf.matmul(x, w1), 0)
y_pred = tf.matmul(h, w2)
diff = y_pred - y
loss = tf.reduce_mean(tf.reduce_sum(diff**2, axis=1))
grad_w1, grad_w2 = tf.gradients(loss, [w1, w2])

rng = np.random.RandomState(0)
values = {x: rng.randn(N, D), y: rng.randn(N, D), w1: 0.1 * rng.randn(D, H), w2: 0.1 * rng.randn(H, D)}
losses = []
with tf.Session() as sess:
    for _ in range(100):
        loss_val, g1, g2 = sess.run([loss, grad_w1, grad_w2], feed_dict=values)
        losses.append(loss_val)
        values[w1] = values[w1] - 1e-2 * g1
        values[w2] = values[w2] - 1e-2 * g2

print(f"first loss {losses[0]:.2f}, last loss {losses[-1]:.2f}")
assert losses[-1] < losses[0] / 1.5
