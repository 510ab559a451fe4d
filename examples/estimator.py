"""An Estimator of TensorFlow 1: train on a table, stop when it no longer gets better, export, and ask the export.

    ebbflow run examples/estimator.py

Needs the package tensorflow_estimator (extra `estimator`) and tf_keras (pip install --no-deps tf_keras).
"""

import tempfile

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(0)
size, colour = rng.rand(600, 1).astype(np.float32), np.array(["red", "green", "blue"])[rng.randint(0, 3, 600)]
ripe = ((size[:, 0] > 0.5) & (colour != "green")).astype(np.int32)


def rows(first, last, epochs):
    """An input function for some rows of the table."""

    def feed():
        some = slice(first, last)
        table = tf.data.Dataset.from_tensor_slices(({"size": size[some], "colour": colour[some]}, ripe[some]))
        return table.shuffle(600, seed=1).repeat(epochs).batch(32)

    return feed


colours = tf.feature_column.categorical_column_with_vocabulary_list("colour", ["red", "green", "blue"])
columns = [tf.feature_column.numeric_column("size"), tf.feature_column.indicator_column(colours)]
model = tf.estimator.DNNClassifier(
    [16, 8],
    columns,
    model_dir=tempfile.mkdtemp(),
    optimizer=tf.train.AdamOptimizer(0.02),
    config=tf.estimator.RunConfig(tf_random_seed=1, save_checkpoints_steps=100),
)

stop = tf.estimator.experimental.stop_if_no_decrease_hook(model, "loss", 400, run_every_secs=None, run_every_steps=100)
serve = tf.estimator.export.build_parsing_serving_input_receiver_fn(tf.feature_column.make_parse_example_spec(columns))
told, exported = tf.estimator.train_and_evaluate(
    model,
    tf.estimator.TrainSpec(rows(0, 500, None), max_steps=300, hooks=[stop]),
    tf.estimator.EvalSpec(rows(500, 600, 1), None, exporters=[tf.estimator.FinalExporter("ripe", serve)]),
)
print("accuracy on rows it has not seen is above 0.9:", told["accuracy"] > 0.9, "after", told["global_step"], "steps")

features = {
    "size": tf.train.Feature(float_list=tf.train.FloatList(value=[0.9])),
    "colour": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"red"])),
}
apple = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
ask = tf.contrib.predictor.from_saved_model(exported[0].decode())
print("a large red apple is ripe:", ask({"inputs": [apple]})["scores"][0, 1] > 0.5)
