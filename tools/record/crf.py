"""Record what TensorFlow 1.15's `contrib.crf` answers: `python tools/record/crf.py` (Python 3.7, tensorflow 1.15)."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import tensorflow as tf

WRITES = ("contrib/crf.json",)
CASES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "contrib" / "crf.py"
spec = importlib.util.spec_from_file_location("crf_cases", CASES)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
CASES.with_suffix(".json").write_text(json.dumps(cases.answers(tf, tf.contrib.crf)) + "\n")
