"""Processes that a program starts by a command (`python worker.py`, workers of pytest): they get Ebbflow, too.

A directory in front of PYTHONPATH has a `sitecustomize` that waits for their import of TensorFlow. Processes of
`multiprocessing` are told in another way (`run.Child`).
"""

from __future__ import annotations

import os
import sys

VARIABLE = "EBBFLOW_FOLLOW"
PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "followers")


def lead(tf: str, keras: int | None) -> None:
    """Say in the environment what processes started from now on are to do."""
    os.environ[VARIABLE] = "|".join([sys.prefix, tf, str(keras or "")])
    others = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place and place != PLACE]
    os.environ["PYTHONPATH"] = os.pathsep.join([PLACE, *others])
