"""Record what TensorFlow 1.15's families of `tf.contrib`, and names that programs use, answer:
`python tools/record/contrib_families.py families|census|rare_families|later_families [CASE …]` (Python 3.7, tensorflow
1.15). Named cases are recorded anew, others are left as they are.
"""

from __future__ import annotations

import importlib
import json
import pathlib
import sys

import tensorflow as tf

WRITES = ("contrib/families.json", "contrib/census.json", "contrib/rare_families.json", "contrib/later_families.json")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
cases = importlib.import_module("tests.golden.contrib." + sys.argv[1]).CASES
file = ROOT / "tests" / "golden" / "contrib" / (sys.argv[1] + ".json")
recorded = json.loads(file.read_text()) if file.exists() and sys.argv[2:] else {}
recorded.update(cases.answers(tf, sys.argv[2:]))
lines = (f"{json.dumps(name)}: {json.dumps(recorded[name])}" for name in cases if name in recorded)
file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
