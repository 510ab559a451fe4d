"""What the kernels of portable ops complain of on the host, and nobody looks for once they are compiled.

Which kernels serve jax.numpy too is a fact of the op (`portable`; those of element-wise ops do, unless they are for the
`host`): `tests/engines/xla/test_ops.py` compiles the recorded cases of all of them and compares with TensorFlow's
answers. That values are in range is a fact as well (`in_range`); here is what remains.
"""

from __future__ import annotations

from ebbflow.engines.xla.rules import portable

portable("InvertPermutation", loses="whether it is a permutation")
portable("MatrixInverse", "MatrixSolve", loses="whether the matrix can be inverted")
portable("ReverseSequence", loses="whether the lengths fit")
