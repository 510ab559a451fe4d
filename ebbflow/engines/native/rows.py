"""All that declares rows of `OPS`: who imports this has them."""

from ebbflow.engines.native import arrangement, division, loops, matmul, reductions, scans, structure, updates

__all__ = ["arrangement", "division", "loops", "matmul", "reductions", "scans", "structure", "updates"]
