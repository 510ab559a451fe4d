"""Record what TensorFlow 2.21's ops of SDCA answer: `python tools/record/sdca.py`."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import tensorflow as tf

WRITES = ("contrib/sdca.json",)
CASES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "contrib" / "sdca.py"
spec = importlib.util.spec_from_file_location("sdca", CASES)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
recorded = cases.answers(tf)
lines = (f"{json.dumps(name)}: {json.dumps(recorded[name])}" for name in cases.CASES)
CASES.with_suffix(".json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
