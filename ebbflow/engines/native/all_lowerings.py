"""All that declares rows of `OPS`: who imports this has them."""

from ebbflow.engines.native.arithmetic import division
from ebbflow.engines.native.lowerings import (
    arrangement,
    convolution,
    loops,
    matmul,
    open_loops,
    reductions,
    scans,
    structure,
    updates,
)

__all__ = [
    "arrangement",
    "convolution",
    "division",
    "loops",
    "matmul",
    "open_loops",
    "reductions",
    "scans",
    "structure",
    "updates",
]
