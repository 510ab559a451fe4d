"""Embeddings, dropout and an LSTM cell: what summary() counts, and what `training=` changes.

ebbflow run examples/keras_layers.py         (needs keras)
"""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers
from tensorflow.keras.layers import Embedding

vocab_size, embed_dim = 1000, 64
model = Sequential()
model.add(layers.Input((None,)))
model.add(Embedding(vocab_size, embed_dim))
model.summary(line_length=80)

dropping = Sequential([layers.Dense(100, activation="relu"), layers.Dropout(0.2), layers.Dense(1)])
data = np.ones((4, 3), "float32")
print("at test time always the same:", np.array_equal(dropping(data, training=False), dropping(data, training=False)))


class MyModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense1 = layers.Dense(100)
        self.dropout = layers.Dropout(0.2)

    def call(self, x, training=True):
        x = self.dense1(x)
        return self.dropout(x, training=training)


mine = MyModel()
kept = np.asarray(mine(data, training=False))
dropped = np.asarray(mine(data, training=True))
print("in training some are dropped:", bool((dropped == 0).any()), "and the others are larger:",
      np.allclose(dropped[dropped != 0], kept[dropped != 0] / 0.8, rtol=1e-5))  # fmt: skip

cell = layers.LSTMCell(10)
function = tf.function(cell)
inputs, state = tf.zeros([10, 10]), [tf.zeros([10, 10])] * 2
eager, traced = cell(inputs, state), function(inputs, state)
print("an LSTM cell as a function gives the same:", np.allclose(eager[0], traced[0]), "shape", tuple(traced[0].shape))
