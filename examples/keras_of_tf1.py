"""Keras as programs of TensorFlow 1 used it: layers on placeholders, a session, old arguments, a function of layers.

ebbflow run examples/keras_of_tf1.py         (needs tf_keras)
"""

import warnings

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K

warnings.simplefilter("ignore")  # today's Keras 2 calls much of this old
layers = tf.keras.layers
points = np.random.RandomState(0).normal(size=(256, 2)).astype("float32")
inside = (np.sum(points**2, axis=1) < 1.2).astype("float32")[:, None]

with tf.Session() as sess:
    K.set_session(sess)

    x = tf.placeholder(tf.float32, [None, 2])
    doubled = layers.Dense(2, kernel_initializer=tf.initializers.identity(2.0))(x)
    sess.run(tf.global_variables_initializer())
    print("a layer on a placeholder:", sess.run(doubled, {x: [[1.0, 3.0]]}).tolist())

    model = tf.keras.Sequential([
        layers.Dense(16, activation="tanh", input_shape=(2,)),
        layers.Dropout(0.1),
        layers.Dense(1, activation="sigmoid"),
    ])  # fmt: skip
    model.compile(tf.keras.optimizers.Adam(lr=0.05, decay=1e-4), "binary_crossentropy", metrics=["accuracy"])
    batches = ((points[i : i + 64], inside[i : i + 64]) for _ in range(60) for i in range(0, 256, 64))
    model.fit_generator(batches, steps_per_epoch=4, epochs=60, verbose=0)
    print("learnt the circle:", model.evaluate(points, inside, verbose=0)[1] > 0.9)

    hidden = K.function([model.input, K.learning_phase()], [model.layers[1].output])
    print("dropout at test time does nothing:", np.array_equal(hidden([points, 0])[0], hidden([points, 0])[0]))
    print("the session is Keras's:", K.get_session() is sess)
