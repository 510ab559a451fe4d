"""What Python does first in a process that a program under `ebbflow run` has started: it waits for TensorFlow's import.

Python imports a module of this name by itself, and this one's directory is on such a process's PYTHONPATH
(`doors.following`). Nothing of Ebbflow is imported before the process asks for TensorFlow; one of another interpreter
is left alone. The module of this name that the process would have had is run, too.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

WAITED_FOR = ("tensorflow", "keras", "tf_keras")


class Waiting:
    """A finder that is asked first, and hands over to Ebbflow's when TensorFlow is wanted."""

    def __init__(self, tf: str, keras: str) -> None:
        self.tf, self.keras = tf, int(keras) if keras else None

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Let Ebbflow decide, if this is the import that was waited for."""
        if fullname.partition(".")[0] not in WAITED_FOR or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        try:
            run = importlib.import_module("ebbflow.doors.run")
        except ImportError:  # not to be had over here
            return None
        return run.follow(self.tf, self.keras).find_spec(fullname, path, target)


def begin() -> None:
    """Wait, if this is an interpreter of the parent's; give way to the next module of this name."""
    prefix, _, words = os.environ.get("EBBFLOW_FOLLOW", "").partition("|")
    if prefix == sys.prefix:
        sys.meta_path.insert(0, Waiting(*words.split("|")))
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [place for place in sys.path if os.path.abspath(place or os.curdir) != here]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        if ours is not None:
            sys.modules["sitecustomize"] = ours


begin()
