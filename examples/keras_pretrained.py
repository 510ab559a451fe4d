"""Models that others have trained: features of images from weights in a file, embeddings of texts from a SavedModel.

ebbflow run examples/keras_pretrained.py         (needs keras)

Weights of VGG16 are usually downloaded; here the file is written first, so that the program needs no network. A layer
of one's own around `tf.saved_model.load` is what `tensorflow_hub.KerasLayer` is; that works too where it is installed.
"""

import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, Sequential, layers
from tensorflow.keras.applications.vgg16 import VGG16, preprocess_input

temporary = tempfile.TemporaryDirectory()
folder = pathlib.Path(temporary.name)

# --- images -----------------------------------------------------------------------------------------------------------

weights = folder / "vgg16.weights.h5"
before = VGG16(weights=None, include_top=False, input_shape=(32, 32, 3))
before.save_weights(weights)

vgg16 = VGG16(weights=str(weights), include_top=False, input_shape=(32, 32, 3))
image = np.random.RandomState(0).rand(1, 32, 32, 3) * 255
x = preprocess_input(image.astype("float32"))
features = vgg16.predict(x, verbose=0)
print("features:", features.shape, "the same as before:", np.array_equal(features, before.predict(x, verbose=0)))
early = Model(vgg16.input, vgg16.get_layer("block2_pool").output)
print("after two blocks:", early.predict(x, verbose=0).shape)

# --- texts ------------------------------------------------------------------------------------------------------------


class Embeddings(tf.Module):
    """What a hub has: words to vectors, and the sum of a text's."""

    def __init__(self, words, vectors):
        super().__init__()
        numbers = tf.lookup.KeyValueTensorInitializer(words, tf.range(1, len(words) + 1))
        self.table = tf.lookup.StaticHashTable(numbers, default_value=0)
        self.vectors = tf.Variable(np.vstack([np.zeros_like(vectors[:1]), vectors]), name="vectors")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def __call__(self, texts):
        numbers = self.table.lookup(tf.strings.split(texts).to_tensor(""))
        return tf.reduce_sum(tf.gather(self.vectors, numbers), 1)


tf.saved_model.save(Embeddings(["good", "bad", "film"], np.float32([[2, 0], [-2, 0], [0, 1]])), str(folder / "nnlm"))


class Pretrained(layers.Layer):
    def __init__(self, path, **kwargs):
        super().__init__(**kwargs)
        self.loaded = tf.saved_model.load(path)

    def call(self, texts):
        return self.loaded(texts)


embed = Pretrained(str(folder / "nnlm"))
print(embed(tf.constant(["good film", "a bad bad film"])).numpy().tolist())

texts = np.array(["good film", "bad film", "good", "bad", "good good film", "film bad"])
labels = np.array([1, 0, 1, 0, 1, 0])
judge = Sequential([layers.Dense(1, activation="sigmoid")])
judge.compile("adam", "binary_crossentropy")
judge.optimizer.learning_rate = 0.1
judge.fit(embed(tf.constant(texts)), labels, epochs=30, verbose=0)
answers = judge.predict(embed(tf.constant(["a good film", "the bad one"])), verbose=0)
print("a good film is good:", bool(answers[0, 0] > 0.5), "a bad one is not:", bool(answers[1, 0] < 0.5))

temporary.cleanup()
