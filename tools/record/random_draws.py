"""Record what TensorFlow draws, for tests/golden/random: `python tools/record/random_draws.py` under TensorFlow 1.15
and 2.21.

Plays every case of `tests/golden/random/cases.py` with one thread (some ops give other numbers with more) and writes a
line of JSON for each: the numbers to the bit, and for graphs their nodes with the seeds they were given.
"""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
WRITES = ("random/*.jsonl",)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from tests.golden.random import cases  # noqa: E402

FOLDER = os.path.join(ROOT, "tests", "golden", "random")
JUDGE = ".".join(tf.__version__.split(".")[:2])
v1 = tf.compat.v1

PATHS = {
    "stateless_random_normal": "random.stateless_normal",
    "stateless_random_uniform": "random.stateless_uniform",
    "stateless_random_gamma": "random.stateless_gamma",
    "stateless_random_poisson": "random.stateless_poisson",
    "stateless_random_binomial": "random.stateless_binomial",
    "stateless_truncated_normal": "random.stateless_truncated_normal",
    "stateless_multinomial": "random.stateless_multinomial",
    "stateless_parameterized_truncated_normal": "random.stateless_parameterized_truncated_normal",
    "stateless_shuffle": "random.experimental.stateless_shuffle",
    "split": "random.split",
    "fold_in": "random.fold_in",
}


def function(name):
    """Return the function a case calls: in `tf.compat.v1`, or an op by its own name."""
    if name[0].isupper():
        return getattr(tf.raw_ops, name)
    found = v1
    for part in PATHS.get(name, name).split("."):
        found = getattr(found, part)
    return found


def call(name, arguments):
    return function(name)(**cases.arguments_of(arguments, lambda data, dtype: tf.constant(data, dtype)))


def arrays(result):
    if result is None:
        return []
    return list(result) if isinstance(result, (tuple, list)) else [result]


def eagerly(case):
    v1.set_random_seed(case.seed)
    results = [array for name, arguments in case.calls for array in arrays(call(name, arguments))]
    return {"results": [cases.packed(np.asarray(r.numpy())) for r in results]}


def in_a_graph(case):
    with tf.Graph().as_default() as graph:
        if case.seed is not None:
            v1.set_random_seed(case.seed)
        tensors = [t for name, arguments in case.calls for t in arrays(call(name, arguments))]
        config = v1.ConfigProto(intra_op_parallelism_threads=1)
        with v1.Session(config=config) as session:
            results = [r for _ in range(case.runs) for r in session.run(tensors)]
    return {
        "results": [cases.packed(np.asarray(r)) for r in results],
        "nodes": [line(n) for n in graph.get_operations()],
    }


def line(node):
    inputs = ",".join(t.name[:-2] if t.name.endswith(":0") else t.name for t in node.inputs) or "-"
    seeds = [f"{key}={node.get_attr(key)}" for key in ("seed", "seed2") if key in node.node_def.attr]
    return " ".join([node.name, node.type, inputs, *seeds])


def by_a_generator(case):
    generator = tf.random.Generator.from_seed(case.seed)
    results = []
    for name, arguments in case.calls:
        given = cases.arguments_of(arguments, lambda data, dtype: tf.constant(data, dtype))
        results.append(np.asarray(getattr(generator, name)(**given).numpy()))
    return {"results": [cases.packed(r) for r in results]}


PLAYERS = {"eager": eagerly, "graph": in_a_graph, "generator": by_a_generator}


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    if JUDGE == "1.15":
        v1.enable_eager_execution()
    with open(os.path.join(FOLDER, f"drawn-{JUDGE}.jsonl"), "w") as file:
        for case in cases.CASES:
            if JUDGE in case.judges:
                file.write(json.dumps(dict(PLAYERS[case.where](case), name=case.name), sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
