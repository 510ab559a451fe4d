"""How much memory the process uses (`tf.contrib.memory_stats`), as tensors that are looked up when they run."""

from __future__ import annotations

import resource
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.ops.control.script import py_func
from ebbflow.ops.sizes import memory

_PAGE = resource.getpagesize()


def _tensor(look: Callable[[], int]) -> Any:
    answer = py_func(lambda: np.int64(look()), [], dtypes.int64)
    answer.set_shape([])
    return answer


def _in_use() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * _PAGE


def _most() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def BytesInUse() -> Tensor:
    """Return how many bytes of memory the process has now."""
    return _tensor(_in_use)


def MaxBytesInUse() -> Tensor:
    """Return how many bytes of memory the process had at most."""
    return _tensor(_most)


def BytesLimit() -> Tensor:
    """Return how many bytes of memory there are."""
    return _tensor(memory)
