"""Record what TensorFlow 1.15's `contrib.distributions` answers: run by Python 3.7."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import tensorflow as tf

WRITES = ("contrib/distributions.json",)

tf.enable_eager_execution()
CASES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "contrib" / "distributions.py"
spec = importlib.util.spec_from_file_location("distribution_cases", CASES)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)


def plain(value):
    answer, nan, infinite = cases.numbers(value)
    rounded = (
        cases.np.vectorize(lambda x: float(f"{x:.7g}"))(answer) if cases.np.size(answer) else cases.np.array(answer)
    )
    return [rounded.tolist(), nan if cases.np.any(nan) else 0, infinite if cases.np.any(infinite) else 0]


CASES.with_suffix(".json").write_text(json.dumps(cases.answers(tf, tf.contrib.distributions, plain)) + "\n")
