"""Models as programs of the first TensorFlow left them: made with 1.15, read by the tests.

    python tools/record/old_models.py tests/golden/old_models        (in an environment with TensorFlow 1.15)

A frozen graph with inception blocks, an estimator's export, and a module in the manner of TensorFlow Hub (no tags,
several signatures, a table with an asset). Each is small; its inputs and answers are kept beside it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

import numpy as np
import tensorflow as tf

WRITES = ("old_models/*",)


def inception(folder):
    """Write a frozen graph: convolutions of several sizes side by side, batch norm, dropout switched off."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        image = tf.placeholder(tf.float32, [None, 16, 16, 3], name="input")
        x = tf.layers.conv2d(image, 6, 3, strides=2, padding="same", use_bias=False, name="stem")
        x = tf.nn.relu(tf.layers.batch_normalization(x, training=False, name="norm"))
        parts = [
            tf.layers.conv2d(x, 4, 1, activation=tf.nn.relu, name="mixed/one"),
            tf.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu, name="mixed/three"),
            tf.layers.conv2d(tf.layers.max_pooling2d(x, 3, 1, "same"), 4, 1, name="mixed/pool"),
        ]
        x = tf.concat(parts, 3, name="mixed/concat")
        x = tf.nn.lrn(x, 2, name="lrn")
        x = tf.reduce_mean(x, [1, 2], name="global_pool")
        x = tf.layers.dropout(x, training=False)
        tf.nn.softmax(tf.layers.dense(x, 5, name="logits"), name="softmax")
        session.run(tf.global_variables_initializer())
        given = np.random.RandomState(0).rand(2, 16, 16, 3).astype(np.float32)
        answer = session.run("softmax:0", {"input:0": given})
        frozen = tf.graph_util.convert_variables_to_constants(session, session.graph_def, ["softmax"])
    tf.train.write_graph(frozen, folder, "inception.pb", as_text=False)
    np.savez(os.path.join(folder, "inception.npz"), input=given, output=answer)


def estimator(folder):
    """Write the export of an estimator: features parsed from Examples or given as tensors."""

    def model(features, labels, mode):
        x = tf.stack([features["a"], features["b"]], 1)
        logits = tf.layers.dense(tf.layers.dense(x, 4, tf.nn.tanh), 1)[:, 0]
        predictions = {"logit": logits, "probability": tf.sigmoid(logits)}
        loss = None
        train = None
        if mode != tf.estimator.ModeKeys.PREDICT:
            loss = tf.losses.sigmoid_cross_entropy(labels, logits)
            train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        exports = {"serving_default": tf.estimator.export.PredictOutput(predictions)}
        return tf.estimator.EstimatorSpec(mode, predictions, loss, train, export_outputs=exports)

    def data():
        random = np.random.RandomState(0)
        a, b = random.randn(2, 64).astype(np.float32)
        labels = (a + b > 0).astype(np.float32)
        return tf.data.Dataset.from_tensor_slices(({"a": a, "b": b}, labels)).repeat().batch(16)

    work = tempfile.mkdtemp()
    config = tf.estimator.RunConfig(work, tf_random_seed=1)
    trained = tf.estimator.Estimator(model, config=config)
    trained.train(data, steps=30)
    features = {"a": tf.FixedLenFeature([], tf.float32), "b": tf.FixedLenFeature([], tf.float32)}
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(features)
    made = trained.export_saved_model(work + "/export", receiver).decode()
    shutil.copytree(made, os.path.join(folder, "estimator"))
    rows = [(1.0, 0.5), (-2.0, 0.25), (0.0, 0.0)]
    examples = []
    for a, b in rows:
        feature = {
            "a": tf.train.Feature(float_list=tf.train.FloatList(value=[a])),
            "b": tf.train.Feature(float_list=tf.train.FloatList(value=[b])),
        }
        examples.append(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.load(session, ["serve"], made)
        signature = meta.signature_def["serving_default"]
        names = {key: info.name for key, info in signature.outputs.items()}
        answers = session.run(names, {signature.inputs["examples"].name: examples})
    lengths = np.array([len(e) for e in examples])
    joined = np.frombuffer(b"".join(examples), np.uint8)
    np.savez(os.path.join(folder, "estimator.npz"), lengths=lengths, examples=joined, **answers)


def hub_module(folder):
    """Write a module in the manner of TensorFlow Hub: an embedding of words behind a table, and a plain signature."""
    folder = os.path.abspath(folder)
    os.chdir(tempfile.mkdtemp())
    words = "tokens.txt"  # no path of this machine goes into the file
    with open(words, "w") as file:
        file.write("the\ncat\nsat\n")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        text = tf.placeholder(tf.string, [None], name="text")
        table = tf.contrib.lookup.index_table_from_file(words, num_oov_buckets=1)
        embedding = tf.get_variable("embedding", [4, 3], initializer=tf.random_normal_initializer())
        found = tf.nn.embedding_lookup(embedding, table.lookup(text), name="found")
        ids = tf.placeholder(tf.int64, [None], name="ids")
        by_id = tf.nn.l2_normalize(tf.gather(embedding, ids), 1)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        builder = tf.saved_model.builder.SavedModelBuilder(os.path.join(folder, "hub_module"))
        signature = tf.saved_model.signature_def_utils.predict_signature_def
        builder.add_meta_graph_and_variables(
            session, [], {"default": signature({"text": text}, {"default": found}),
                          "by_id": signature({"ids": ids}, {"default": by_id})},
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
        )  # fmt: skip
        builder.save()
        given = ["cat", "dog", "the"]
        answers = session.run([found, by_id], {text: given, ids: [0, 3]})
    np.savez(os.path.join(folder, "hub_module.npz"), text=np.array(given), found=answers[0], by_id=answers[1])


if __name__ == "__main__":
    target = sys.argv[1]
    if os.path.exists(target):
        shutil.rmtree(target)
    os.makedirs(target)
    for write in (inception, estimator, hub_module):
        write(target)
