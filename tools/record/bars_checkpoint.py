"""Record the checkpoint that examples/line_search.py restores: a small net that TensorFlow trained to tell bars apart.

python tools/record/bars_checkpoint.py examples/bars.ckpt        (with TensorFlow 1.15)
"""

import os
import sys

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)


def make_images(labels):
    images = 0.2 * rng.rand(len(labels), 8, 8).astype(np.float32)
    for image, label in zip(images, labels):
        at = 1 + 3 * (label // 2)
        image[:, at : at + 2] += (label % 2 == 0) * 0.8
        image[at : at + 2, :] += (label % 2 == 1) * 0.8
    return images


def main(path):
    labels = rng.randint(0, 4, 200)
    images = make_images(labels)
    tf.set_random_seed(0)
    image_in = tf.placeholder(tf.float32, [None, 8, 8])
    label_in = tf.placeholder(tf.int64, [None])
    hidden = tf.layers.dense(tf.reshape(image_in, [-1, 64]), 16, activation=tf.nn.tanh, name="hidden")
    logits = tf.layers.dense(hidden, 4, name="logits")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label_in, logits=logits))
    train = tf.train.AdamOptimizer(0.02).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(100):
            sess.run(train, {image_in: images, label_in: labels})
        saver = tf.train.Saver(tf.trainable_variables())
        saver.save(sess, path, write_meta_graph=False, write_state=False)
        print("loss", sess.run(loss, {image_in: images, label_in: labels}), "in", os.path.abspath(path))


if __name__ == "__main__":
    main(sys.argv[1])
