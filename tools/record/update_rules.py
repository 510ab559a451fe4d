"""Record what TensorFlow's update rules give for the cases of `tests/golden/train/update_rules.py`.

    python tools/record/update_rules.py

Run it in an environment that has TensorFlow 2.21 (CPU).
"""

import json
import pathlib
import sys

import tensorflow as tf

WRITES = ("train/*.json",)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.golden.train import update_rules  # noqa: E402  (found behind the line above)

lines = []
for case in update_rules.CASES:
    played = {name: array.astype(float).tolist() for name, array in update_rules.play(tf, case).items()}
    lines.append(f"{json.dumps(update_rules.label(case))}: {json.dumps(played, separators=(',', ':'))}")
update_rules.ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
