"""Record the nodes that tf.train.Saver makes in TensorFlow 1.15, for `tests/checkpoint/test_saver.py`.

python tools/record/saver_nodes.py        # in an environment with TensorFlow 1.15
"""

import json
import pathlib

import numpy as np
import tensorflow as tf
from tensorflow.python.training.saver import BaseSaverBuilder

WRITES = ("checkpoint/saver_nodes.json",)
TARGET = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "checkpoint" / "saver_nodes.json"
PREFIXES = ("save/", "shards/", "reshaped/")


def rows(resource):
    """Return the nodes of three savers over a whole and a partitioned variable."""
    with tf.Graph().as_default() as graph:
        with tf.variable_scope("m", use_resource=resource):
            tf.get_variable("v", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
            start = tf.random_uniform_initializer(seed=1)
            w = tf.get_variable("w", [5, 2], initializer=start, partitioner=tf.fixed_size_partitioner(2))
        tf.convert_to_tensor(w)
        tf.train.Saver()
        tf.train.Saver(sharded=True, name="shards")
        tf.train.Saver(reshape=True, name="reshaped", builder=BaseSaverBuilder(), restore_sequentially=True)
        nodes = [n for n in graph.as_graph_def().node if n.name.startswith(PREFIXES)]
        return [[n.name, n.op, sorted(n.input)] for n in nodes]


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps({str(flag): rows(flag) for flag in (False, True)}, indent=0) + "\n")
