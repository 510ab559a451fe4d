"""Record what TensorFlow 1.15's feature columns answer: `python tools/record/feature_columns.py` (tensorflow 1.15)."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import tensorflow as tf

WRITES = ("feature_columns/*.json",)

CASES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "feature_columns" / "column_cases.py"
spec = importlib.util.spec_from_file_location("column_cases", CASES)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
lines = [f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in cases.answers(tf).items()]
CASES.with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
