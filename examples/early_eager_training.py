"""A dense layer trained with implicit gradients, as the first eager programs did it.

ebbflow run examples/early_eager_training.py
"""

import numpy as np
import tensorflow as tf
import tensorflow.contrib.eager as tfe

tfe.enable_eager_execution()

model = tf.layers.Dense(units=1, use_bias=True)
optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)


def loss(x, y):
    return tf.reduce_mean(tf.square(y - model(x)))


grad_fn = tfe.implicit_gradients(loss)
rng = np.random.RandomState(0)
for _ in range(200):
    x = rng.randn(32, 2).astype(np.float32)
    y = x @ np.array([[2.0], [-3.0]], np.float32) + 0.5
    optimizer.apply_gradients(grad_fn(x, y))

kernel, bias = [v.numpy() for v in model.variables]
print("kernel:", kernel.ravel().round(3), "bias:", bias.round(3))
assert np.allclose(kernel.ravel(), [2, -3], atol=1e-2) and np.allclose(bias, 0.5, atol=1e-2)
