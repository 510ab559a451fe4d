"""Everything prints as it does in TensorFlow: tensors, variables, operations, shapes, dtypes; tf.print and tf.Print.

The text was recorded in TensorFlow 1.15 and 2.21 (tests/golden/programs/printing.py): [str, repr] of an object, or what
reached a stream.
"""

import pytest

from tests.golden.programs import replay

NOT_YET = {"sparse tensor"}  # SparseTensor comes with the sparse ops

CASES = [case for case in replay.cases("printing") if not any(case[1].endswith(name) for name in NOT_YET)]


@pytest.mark.parametrize("judge, name", CASES)
def test_text(judge, name):
    expected, given = replay.outcome("printing", judge, name)
    # Where nothing was recorded TensorFlow's repr is an address, or NumPy's and not the same in all its releases.
    compared = [text for text, wanted in zip(given, expected, strict=True) if wanted is not None]
    assert compared == [wanted for wanted in expected if wanted is not None]
