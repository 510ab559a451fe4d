"""A small convolutional net on handwritten digits, as tf.keras programs are written: alone, and in a strategy's scope.

ebbflow run examples/keras_digits.py         (needs keras and scikit-learn, which has the digits)
"""

import warnings

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

warnings.simplefilter("ignore", UserWarning)  # Keras 3 advises programs that were written for Keras 2
tf.keras.utils.set_random_seed(1)
images, labels = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8, 1).astype("float32") / 16
train, test = slice(0, 1500), slice(1500, None)
dataset = tf.data.Dataset.from_tensor_slices((images[train], labels[train])).shuffle(1500, seed=1).batch(64)


def build():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(32, 3, activation="relu", input_shape=(8, 8, 1)),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(
        loss="sparse_categorical_crossentropy", optimizer=tf.keras.optimizers.Adam(0.01), metrics=["accuracy"]
    )
    return model


model = build()
model.fit(dataset, epochs=5, verbose=0)
loss, accuracy = model.evaluate(images[test], labels[test], verbose=0)
print("right on more than 85 of 100 digits it has not seen:", accuracy > 0.85)
print(
    "as predicted one by one:",
    np.isclose(np.mean(model.predict(images[test], verbose=0).argmax(1) == labels[test]), accuracy),
)

strategy = tf.distribute.MirroredStrategy()
print("replicas:", strategy.num_replicas_in_sync)
with strategy.scope():
    mirrored = build()
history = mirrored.fit(dataset, epochs=2, verbose=0).history
print("the loss falls there, too:", history["loss"][1] < history["loss"][0])
