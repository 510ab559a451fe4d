"""Existing graph code, used as a function: restored from a checkpoint, and differentiated by the pixels of an image.

The line search nudges an image towards a class. It is plain Python around a graph. The checkpoint is TensorFlow's: a
small net that tells four kinds of bars apart.

ebbflow run examples/line_search.py
"""

import os

import numpy as np
import tensorflow as tf
import tensorflow.contrib.eager as tfe

tfe.enable_eager_execution()


def small_net(image, num_classes):
    """Graph code as it was written before there was eager execution: variables are asked for by name."""
    hidden = tf.layers.dense(tf.reshape(image, [-1, 64]), 16, activation=tf.nn.tanh, name="hidden")
    return tf.layers.dense(hidden, num_classes, name="logits")


@tf.nn.graph_callable
def classify(image):
    return tf.nn.softmax(small_net(image, 4))


classify.restore(os.path.join(os.path.dirname(os.path.abspath(__file__)), "bars.ckpt"))
print("variables:", len(classify.variables))


def make_image(label):
    """An upright (0, 2) or level (1, 3) bar, with noise."""
    image = 0.2 * np.random.RandomState(1).rand(1, 8, 8).astype(np.float32)
    at = 1 + 3 * (label // 2)
    image[(0, slice(None), slice(at, at + 2)) if label % 2 == 0 else (0, slice(at, at + 2))] += 0.8
    return tf.constant(image)


for label in range(4):
    print("a bar of kind", label, "is seen as", int(tf.argmax(classify(make_image(label))[0])))


def objective(x):
    log_p = tf.log(classify(x)[0, 3])
    return -tf.reshape(log_p, [])  # scalar


# Gradient with respect to the image: differentiating through the graph.
grad_fn = tfe.gradients_function(objective)

image = make_image(0)
print("-log(p) of kind 3 at first is above 1:", bool(objective(image) > 1))
for _ in range(10):
    val, grad = objective(image), grad_fn(image)[0]
    g_norm = tf.reduce_sum(grad * grad)
    (init_val, init_image, rate) = (val, image, 1.0)
    while val > init_val - rate * g_norm and rate > 1e-4:
        image, rate = init_image - rate * grad, rate / 2.0
        val = objective(image)
print("in the end the image is seen as", int(tf.argmax(classify(image)[0])), "with -log(p) below 0.1:", bool(val < 0.1))
