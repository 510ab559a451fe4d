"""How long until a model is ready: a GraphDef of 20,000 nodes imported, a SavedModel of 100 MB loaded and called once.

    python -m benchmarks.models [--tensorflow PYTHON] [--rounds 3]

Each measurement is a process of its own, the library imported before the clock starts; wall time and CPU time, best of
the rounds. With `--tensorflow` a Python that has it measures the same files.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

NODES = 20_000
VARIABLES, SIDE = 26, 1000  # 26 × 1000 × 1000 floats: 104 MB


def write(folder: str) -> None:
    """Write both models with Ebbflow."""
    import ebbflow as tf  # the writer's side only: what measures imports its own

    graph = tf.Graph()
    with graph.as_default():
        y = tf.compat.v1.placeholder(tf.float32, [None, 4], name="x")
        for i in range(NODES // 5):  # five nodes each: two of them constants
            y = tf.nn.relu((y + float(i)) * tf.constant(1.0))
    pathlib.Path(folder, "graph.pb").write_bytes(graph.as_graph_def().SerializeToString())
    model = tf.Module()
    random = np.random.RandomState(0)
    model.weights = [tf.Variable(random.rand(SIDE, SIDE).astype(np.float32)) for _ in range(VARIABLES)]

    @tf.function(input_signature=[tf.TensorSpec([None, SIDE], tf.float32, name="x")])
    def call(x: Any) -> Any:
        for w in model.weights:
            x = tf.tanh(x @ w)
        return x

    model.call = call
    tf.saved_model.save(model, f"{folder}/model")


def import_graph(tf: Any, folder: str) -> None:
    """Parse and import the GraphDef."""
    graph_def = tf.compat.v1.GraphDef.FromString(pathlib.Path(folder, "graph.pb").read_bytes())
    with tf.Graph().as_default():
        tf.graph_util.import_graph_def(graph_def, name="")


def load_model(tf: Any, folder: str) -> None:
    """Load the SavedModel, and call its signature."""
    model = tf.saved_model.load(f"{folder}/model")
    model.signatures["serving_default"](x=tf.zeros([1, SIDE]))


WORK = {"import_20000_nodes": import_graph, "saved_model_100mb_ready": load_model}


def measure(library: str, work: str, folder: str) -> None:
    """Measure one piece of work in this process, and print the seconds."""
    tf = importlib.import_module(library)
    with tf.Graph().as_default():  # what is loaded with the first graph is part of the library
        tf.graph_util.import_graph_def(tf.compat.v1.GraphDef(), name="")
    wall, cpu = time.perf_counter(), time.process_time()
    WORK[work](tf, folder)
    print(json.dumps({"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}))


def main() -> None:
    """Measure here, or have processes measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", nargs=3, metavar=("LIBRARY", "WORK", "FOLDER"))
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure)
        return
    pythons = {"ebbflow": sys.executable} | ({"tensorflow": arguments.tensorflow} if arguments.tensorflow else {})
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
        for work in WORK:
            for library, python in pythons.items():
                found = []
                for _ in range(arguments.rounds):
                    command = [python, __file__, "--measure", library, work, folder]
                    done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
                    found.append(json.loads(done.stdout.splitlines()[-1]))
                best = {key: min(one[key] for one in found) for key in ("seconds", "cpu")}
                print(f"{work:26} {library:12} {best['seconds']:7.3f} s   {best['cpu']:7.3f} s of CPU", flush=True)


if __name__ == "__main__":
    main()
