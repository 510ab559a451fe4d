"""Python's own control flow on tensors: the Collatz sequence from 6.

ebbflow run examples/collatz.py
"""

import tensorflow as tf

a = tf.constant(6)
while not tf.equal(a, 1):
    if tf.equal(a % 2, 0):
        a = a // 2
    else:
        a = 3 * a + 1
    print(a)
