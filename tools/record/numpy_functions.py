"""Record what TensorFlow 2.21's `tf.experimental.numpy` answers: `python tools/record/numpy_functions.py`."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import tensorflow as tf

WRITES = ("numpy/*.json",)

CASES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "numpy" / "cases.py"
spec = importlib.util.spec_from_file_location("numpy_cases", CASES)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
tf.experimental.numpy.experimental_enable_numpy_behavior()  # many of TensorFlow's own functions fail without
space = cases.names(tf.experimental.numpy, tf.constant)
answers = {e: cases.answer(e, space) for e in cases.expressions()}
lines = [f"{json.dumps(e)}: {json.dumps(a)}" for e, a in answers.items()]
(CASES.parent / "answers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
