"""Tensors and NumPy arrays, each where the other is expected; and a device that is not there.

ebbflow run examples/numpy_both_ways.py
"""

import numpy as np
import tensorflow as tf

t = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(type(np.dot(t, t)).__name__, np.dot(t, t).tolist())  # ndarray [[7.0, 10.0], [15.0, 22.0]]
print(tf.add(np.ones(2, np.float32), t).numpy().tolist())  # [[2.0, 3.0], [4.0, 5.0]]

with tf.device("/gpu:0"):  # no GPU here: the work is done where there is a device, and `ebbflow doctor` says so
    x = tf.random.uniform([10, 10])
    y = tf.matmul(x, x)
print(y.shape, y.device)

W, b = tf.constant([[1.0, -1.0], [2.0, 0.5]]), tf.constant([0.5, -2.0])
print(tf.nn.relu(tf.linalg.matvec(W, [1.0, 2.0]) + b).numpy())  # ReLU(Wx + b)
