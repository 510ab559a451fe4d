"""Record what TensorFlow 1.15's boosted trees answer, ops and Estimators: `python tools/record/boosted_trees.py`
(Python 3.7, tensorflow 1.15).
"""

from __future__ import annotations

import importlib.util
import json
import pathlib

import tensorflow as tf

WRITES = ("contrib/trees.json", "contrib/tree_models.json")
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
tf.logging.set_verbosity("ERROR")
for written in WRITES:
    file = GOLDEN / written
    spec = importlib.util.spec_from_file_location(file.stem, file.with_suffix(".py"))
    cases = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cases)
    recorded = cases.answers(tf)
    lines = (f"{json.dumps(name)}: {json.dumps(recorded[name])}" for name in cases.CASES)
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
