"""Record the pixels TensorFlow decodes JPEG files to: `python tools/record/jpeg.py` (tensorflow 2.21)."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import tensorflow as tf

WRITES = ("jpeg/*.json",)
CASES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "jpeg" / "jpeg_cases.py"
spec = importlib.util.spec_from_file_location("jpeg_cases", CASES)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
recorded = [cases.answer(tf, case) for case in cases.CASES]
CASES.with_suffix(".json").write_text("[\n" + ",\n".join(json.dumps(r) for r in recorded) + "\n]\n")
