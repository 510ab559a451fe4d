"""Record what TensorFlow 1.15's `HParams` answers: `python tools/record/hparams.py` (Python 3.7, tensorflow 1.15)."""

from __future__ import annotations

import json
import pathlib
import sys

import tensorflow as tf

WRITES = ("contrib/hparams.json",)
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "contrib"
sys.path.insert(0, str(FOLDER))

import hparams  # noqa: E402  (lies beside the answers)

(FOLDER / "hparams.json").write_text(json.dumps(hparams.answers(tf.contrib.training.HParams), indent=0) + "\n")
