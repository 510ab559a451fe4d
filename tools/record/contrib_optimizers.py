"""Record how TensorFlow 1.15's `contrib.opt` moves variables (run by Python 3.7)."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import tensorflow as tf

WRITES = ("contrib/optimizers.json",)

CASES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "contrib" / "optimizers.py"
spec = importlib.util.spec_from_file_location("optimizer_cases", CASES)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
CASES.with_suffix(".json").write_text(json.dumps(cases.answers(tf, tf.contrib.opt)) + "\n")
