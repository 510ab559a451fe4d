"""A function compiled with `defun`, as in the first releases with eager execution.

ebbflow run examples/square_sum.py
"""

import tensorflow as tf

tf.enable_eager_execution()


@tf.contrib.eager.defun
def square_sum(x, y):
    return tf.square(x + y)


result = square_sum(2.0, 3.0)
print(result.numpy())  # 25
