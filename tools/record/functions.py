"""Record what TensorFlow answers to the programs with tf.function in `tests/golden/functions/cases.py`.

    /path/to/tf-2.21/python tools/record/functions.py

Answers go to `tests/golden/functions/*.json`.
"""

import importlib.util
import json
import logging
import pathlib

import numpy as np
import tensorflow as tf

WRITES = ("functions/*.json", "functions/checkpoint/*")
GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "functions"


def main():
    """Write the golden files."""
    spec = importlib.util.spec_from_file_location("cases", str(GOLDEN / "cases.py"))
    cases = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cases)
    tf.get_logger().setLevel(logging.ERROR)
    for name, program in cases.PROGRAMS.items():
        text = json.dumps(program(tf), indent=1, sort_keys=True, ensure_ascii=False)
        (GOLDEN / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    record_checkpoint()


def record_checkpoint():
    """Write a small checkpoint, and what is in it."""
    values = {
        "net/w": np.arange(6, dtype=np.float32).reshape(3, 2) / 4.0,
        "net/b": np.array([0.5, -0.5], np.float32),
        "steps": np.int64(12),
        "words": np.array([b"one", b"", b"three"], object),
        "flags": np.array([True, False]),
        "half": np.array([1.5, -2.0], np.float16),
    }
    table = np.arange(14, dtype=np.float64).reshape(7, 2)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for name, value in values.items():
            tf.compat.v1.get_variable(name, initializer=value)
        split = tf.compat.v1.fixed_size_partitioner(3)
        tf.compat.v1.get_variable("table", initializer=tf.constant(table), partitioner=split)
        session.run(tf.compat.v1.global_variables_initializer())
        folder = GOLDEN / "checkpoint"
        folder.mkdir(exist_ok=True)
        saver = tf.compat.v1.train.Saver()
        saver.save(session, str(folder / "model"), write_meta_graph=False, write_state=False)
    told = {name: _listed(value) for name, value in {**values, "table": table}.items()}
    (GOLDEN / "checkpoint.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _listed(value):
    value = np.asarray(value)
    return [v.decode() for v in value] if value.dtype == object else value.tolist()


if __name__ == "__main__":
    main()
