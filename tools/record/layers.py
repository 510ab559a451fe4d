"""Record what TensorFlow 1.15's layers give for the rows of `tests/golden/layers/layer_cases.py`.

    python tools/record/layers.py

Run it in an environment that has TensorFlow 1.15.
"""

import json
import os
import sys

import tensorflow as tf

WRITES = ("layers/*.json",)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden", "layers"))

import layer_cases  # noqa: E402  (lies beside the answers)

lines = []
for name in layer_cases.CASES:
    played = layer_cases.play_in_a_graph(tf, tf.compat.v1, tf.layers, name)
    lines.append(json.dumps(name) + ": " + json.dumps(played, separators=(",", ":")))
with open(layer_cases.ANSWERS, "w") as file:
    file.write("{\n" + ",\n".join(lines) + "\n}\n")
