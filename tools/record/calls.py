"""Records TensorFlow 2.21's answers to calls of public functions: tests/golden/calls/<family>.json.

    python tools/record/calls.py [family ...]

Run it in an environment that has TensorFlow 2.21 (CPU). The cases are `tests/golden/calls/<family>.py`; how they are
run and written is `tests/ops/calls.py`. Ebbflow is not needed and not imported.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow as tf

from tests.ops import calls

WRITES = ("calls/*.json",)


def record(family: str) -> None:
    answers = {}
    for name, function, _ in calls.cases(family, tf):
        answer = calls.run(tf, function)
        answers[name] = {"error": answer["error"]} if isinstance(answer, dict) and "error" in answer else answer
    rows = [f"{json.dumps(name)}: {json.dumps(answer, separators=(',', ':'))}" for name, answer in answers.items()]
    path = calls.FOLDER / f"{family}.json"
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    refused = [name for name, answer in answers.items() if isinstance(answer, dict) and "error" in answer]
    print(
        f"{family}: {len(rows)} cases, {path.stat().st_size} bytes, {len(refused)} refused: {' '.join(refused)[:2000]}"
    )


def main() -> None:
    for family in sys.argv[1:] or calls.families():
        record(family)


if __name__ == "__main__":
    main()
