"""Record what TensorFlow 1.15's queues answer: `python tools/record/queues.py` (Python 3.7, tensorflow 1.15)."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import tensorflow as tf

WRITES = ("queues/*.json",)
CASES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "queues" / "queue_cases.py"
spec = importlib.util.spec_from_file_location("queue_cases", CASES)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
recorded = [cases.answers(tf, i) for i in range(len(cases.PROGRAMS))]
CASES.with_suffix(".json").write_text("[\n" + ",\n".join(json.dumps(r) for r in recorded) + "\n]\n")
