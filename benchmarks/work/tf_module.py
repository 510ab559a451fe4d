"""Which TensorFlow: Ebbflow, or the one that the environment names."""

import importlib
import os

NAME = os.environ.get("BENCHMARKS_TF", "ebbflow")
tf = importlib.import_module(NAME)
