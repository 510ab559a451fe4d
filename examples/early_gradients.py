"""Gradients in the manner of early eager execution, to any order, and one of your own.

ebbflow run examples/early_gradients.py
"""

import tensorflow as tf
import tensorflow.contrib.eager as tfe

tfe.enable()  # as it was first called; now tf.enable_eager_execution()


def square(x):
    return tf.multiply(x, x)


grad = tfe.gradients_function(square)
gradgrad = tfe.gradients_function(lambda x: grad(x)[0])
print(square(3.0).numpy(), grad(3.0)[0].numpy(), gradgrad(3.0)[0].numpy())  # 9.0 6.0 2.0


def log1pexp(x):
    return tf.log(1 + tf.exp(x))


@tfe.custom_gradient
def stable_log1pexp(x):
    e = tf.exp(x)

    def grad(dy):
        return dy * (1 - 1 / (1 + e))

    return tf.log(1 + e), grad


for f in (log1pexp, stable_log1pexp):
    slope = tfe.gradients_function(f)
    print(f.__name__, slope(0.0)[0].numpy(), slope(100.0)[0].numpy())  # 0.5 nan, then 0.5 1.0
