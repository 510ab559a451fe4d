"""Telling the user's code from libraries': what is called is converted only when it is the user's.

Python's own modules, Ebbflow and what is installed are libraries. An installed package that is itself written for
TensorFlow counts as the user's (its functions have conditions on tensors, too), unless it is one that does without.
Knows files and modules, nothing of syntax trees.
"""

from __future__ import annotations

import functools
import os
import sysconfig
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ebbflow.core.source import PACKAGE

STANDARD = tuple({os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")})
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
FROZEN = ("<frozen", "<__array_function__")
NOT_FOR_TENSORFLOW = frozenset(
    """
    numpy scipy jax jaxlib torch pandas matplotlib sklearn PIL pytest _pytest pluggy hypothesis absl wrapt six psutil
    keras ml_dtypes google IPython ipykernel ipdb mock coverage tqdm yaml h5py tensorboard ray grpc tensorflow
    tensorflow_probability ebbflow
    """.split()  # noqa: SIM905
)

_NAMED = (type, FunctionType)


@functools.lru_cache(maxsize=4096)
def place(filename: str) -> str:
    """Return where a file lies: "ours", "python", "installed" or "user"."""
    if filename.startswith(FROZEN):
        return "python"
    if filename.startswith(PACKAGE):
        return "ours"
    if filename.startswith("<"):
        return "user"
    if any(part in filename for part in INSTALLED):
        return "installed"
    return "python" if os.path.realpath(filename).startswith(STANDARD) else "user"


def is_library_code(code: CodeType, namespace: dict[str, Any]) -> bool:
    """Return whether a function with this code and these globals is a library's."""
    where = place(code.co_filename)
    if where == "user":
        return False
    return where != "installed" or not _written_for_tensorflow(namespace)


def is_library_module(module: ModuleType) -> bool:
    """Return whether a module is a library's; one without a file is built into Python, or a namespace of ours."""
    top = module.__name__.partition(".")[0]
    if top in NOT_FOR_TENSORFLOW:
        return True
    filename = getattr(module, "__file__", None)
    if filename is None:
        return top != "__main__"
    where = place(filename)
    return where in ("python", "ours") or (where == "installed" and not _written_for_tensorflow(vars(module)))


def _written_for_tensorflow(namespace: dict[str, Any]) -> bool:
    """Return whether an installed module works with TensorFlow's names, which here are Ebbflow's."""
    top = str(namespace.get("__name__", "")).partition(".")[0]
    if top in NOT_FOR_TENSORFLOW:
        return False
    for value in list(namespace.values()):
        name = value.__name__ if isinstance(value, ModuleType) else value.__module__ if type(value) in _NAMED else None
        if isinstance(name, str) and name.partition(".")[0] in ("ebbflow", "tensorflow"):
            return True
    return False
