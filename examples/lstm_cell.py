"""An LSTM cell as plain Python and as graph functions: the same numbers, the same gradients.

ebbflow run examples/lstm_cell.py
"""

import numpy as np
import tensorflow as tf
import tensorflow.contrib.eager as tfe

tfe.enable_eager_execution()


def lstm_cell(x, w, h, c):
    xhw = tf.matmul(tf.concat([x, h], axis=1), w)
    y = tf.split(xhw, 4, axis=1)
    in_value = tf.tanh(y[0])
    in_gate, forget_gate, out_gate = [tf.sigmoid(x) for x in y[1:]]
    c = (forget_gate * c) + (in_gate * in_value)
    h = out_gate * tf.tanh(c)
    return h, c


def loss(cell):
    def total(x, w, h, c):
        for _ in range(5):
            h, c = cell(x, w, h, c)
        return tf.reduce_sum(h * h)

    return total


rng = np.random.RandomState(0)
x, w, h, c = [tf.constant(rng.randn(*shape), tf.float32) for shape in ([3, 4], [9, 20], [3, 5], [3, 5])]

compiled = {"graph_callable": tf.nn.graph_callable(lstm_cell), "defun": tfe.defun(lstm_cell)}
plain_h, plain_c = lstm_cell(x, w, h, c)
plain_gradients = tfe.gradients_function(loss(lstm_cell))(x, w, h, c)
print("h:", plain_h.numpy()[0].round(3))
for name, cell in compiled.items():
    new_h, new_c = cell(x, w, h, c)
    gradients = tfe.gradients_function(loss(cell))(x, w, h, c)
    same = np.allclose(new_h, plain_h) and np.allclose(new_c, plain_c)
    alike = all(np.allclose(a, b, atol=1e-5) for a, b in zip(gradients, plain_gradients))
    print(name, "gives the same:", same, "and the same gradients:", alike)
