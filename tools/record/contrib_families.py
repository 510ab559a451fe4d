"""Record what TensorFlow 1.15's families of `tf.contrib`, and names that programs use, answer:
`python tools/record/contrib_families.py families|census|rare_families|later_families [CASE …]` (Python 3.7, tensorflow
1.15). Named cases are recorded anew, others are left as they are.
"""

from __future__ import annotations

import importlib.util
import json
import pathlib
import sys

import tensorflow as tf

WRITES = ("contrib/families.json", "contrib/census.json", "contrib/rare_families.json", "contrib/later_families.json")
CASES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "contrib" / (sys.argv[1] + ".py")
spec = importlib.util.spec_from_file_location(sys.argv[1], CASES)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
file = CASES.with_suffix(".json")
recorded = json.loads(file.read_text()) if file.exists() and sys.argv[2:] else {}
recorded.update(cases.answers(tf, sys.argv[2:]))
lines = (f"{json.dumps(name)}: {json.dumps(recorded[name])}" for name in cases.CASES if name in recorded)
file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
