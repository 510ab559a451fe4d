"""Run the golden programs in a real TensorFlow and write down what it did.

    python tools/record/programs.py --tf 1.15               # with a Python that has TensorFlow 1.15
    python tools/record/programs.py --tf 2.21               # with a Python that has TensorFlow 2.21
    python tools/record/programs.py --tf 2.21-v1            # the same, after tf.compat.v1.disable_v2_behavior()
    python tools/record/programs.py --tf 1.15 --only graphs --show slicing

The programs live in tests/golden/programs, the recordings in its `recorded` folder. Needs TensorFlow and NumPy; the
replays (tests/*/test_golden_*.py) need neither this file nor TensorFlow.
"""

import argparse
import importlib
import json
import os
import sys
import traceback
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
WRITES = ("programs/recorded/*",)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)
SUBJECTS = (
    "graphs", "gradients", "sparse", "optimizers", "schedules", "printing", "errors", "variables", "layers", "rnn",
    "seq2seq",
    "writers", "metrics",
)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tf", required=True, choices=["1.15", "2.21", "2.21-v1"], help="the judge to ask")
    parser.add_argument("--only", choices=SUBJECTS, action="append", help="record only these subjects")
    parser.add_argument("--show", help="print what this one program gives, and write nothing")
    arguments = parser.parse_args()
    tf = load(arguments.tf)
    failures = []
    for subject in arguments.only or SUBJECTS:
        module = importlib.import_module("tests.golden.programs." + subject)
        programs = module.book.heard_by(arguments.tf)
        if arguments.show:
            programs = [program for program in programs if program.name == arguments.show]
        recording, failed = record(tf, arguments.tf, module, programs)
        failures += failed
        if arguments.show:
            print(json.dumps(recording, indent=1))
        elif programs:
            module.write(arguments.tf, recording)
            print(f"{subject}: {len(recording)} programs")
    if failures:
        sys.exit("these failed and were not recorded: " + ", ".join(failures))


def load(judge):
    """Import TensorFlow, make sure it is the judge that was asked for, and keep it quiet."""
    warnings.simplefilter("ignore")
    import tensorflow as tf  # after the environment above is set

    if not tf.__version__.startswith(judge.split("-")[0] + "."):
        sys.exit(f"asked for {judge}, but this is TensorFlow {tf.__version__}")
    tf.get_logger().setLevel("ERROR")
    if judge.endswith("-v1"):
        tf.compat.v1.disable_v2_behavior()
    return tf


def record(tf, judge, module, programs):
    recording, failed = {}, []
    for program in programs:
        try:
            recording[program.name] = module.play(tf, judge, program)
        except Exception:
            traceback.print_exc()
            failed.append(program.name)
    return recording, failed


if __name__ == "__main__":
    main()
