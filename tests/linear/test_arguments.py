"""Arguments of operators: in blocks or not, fitting or not, and hints that say the same."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.linear import arguments

L = tf.linalg
SIZE = tf.compat.v1.Dimension
BLOCKS = [SIZE(2), SIZE(3)]


@pytest.mark.parametrize(
    ("sizes", "argument", "axis", "said"),
    [
        (BLOCKS, [np.ones([2, 1]), np.ones([3, 1])], -2, True),
        (BLOCKS, [np.ones([2, 1]).tolist(), np.ones([3, 1]).tolist()], -2, True),
        (BLOCKS, np.ones([5, 1]), -2, False),
        (BLOCKS, np.ones([2, 4, 5]).tolist(), -1, False),
        (BLOCKS, [np.ones([2, 1])], -2, False),
        ([SIZE(None)] * 2, np.ones([2, 4, 5]).tolist(), -1, "ambiguous"),
        ([SIZE(4), SIZE(3)], np.ones([2, 4, 6]).tolist(), -1, "does not match"),
    ],
)
def test_blocks_are_told_from_rows(sizes, argument, axis, said):
    if isinstance(said, str):
        with pytest.raises(ValueError, match=said):
            arguments.arg_is_blockwise(sizes, argument, axis)
    else:
        assert arguments.arg_is_blockwise(sizes, argument, axis) is said


def test_arguments_are_parted_as_blocks_are():
    first, second = L.LinearOperatorDiag([1.0, 2.0]), L.LinearOperatorFullMatrix([[3.0]], is_self_adjoint=True)
    blocks = L.LinearOperatorBlockDiag([first, second])
    sizes = blocks._block_domain_dimensions(), blocks._block_domain_dimension_tensors
    for known in (sizes[0], [SIZE(None), SIZE(None)]):
        parts = arguments.split_arg_into_blocks(known, sizes[1], tf.reshape(tf.range(3.0), [3, 1]), axis=-2)
        assert [part.numpy().tolist() for part in parts] == [[[0.0], [1.0]], [[2.0]]]
    assert blocks.is_self_adjoint and blocks.is_positive_definite is None
    with pytest.raises(ValueError, match="is_self_adjoint is False"):
        L.LinearOperatorBlockDiag([first, second], is_self_adjoint=False)


def test_checks():
    with pytest.raises(tf.errors.InvalidArgumentError, match="nought"):
        arguments.assert_no_entries_with_modulus_zero([1.0, 0.0], message="nought")
    with pytest.raises(tf.errors.InvalidArgumentError, match="not real"):
        arguments.assert_zero_imag_part([1 + 1j], message="not real")
    arguments.assert_zero_imag_part([1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Dimensions are not compatible"):
        arguments.assert_compatible_matrix_dimensions(L.LinearOperatorIdentity(2), tf.ones([3, 2]))


def test_pairs_and_hints():
    a, d = L.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]]), L.LinearOperatorDiag([1.0, 2.0])
    assert arguments.is_adjoint_pair(a, a.adjoint()) and not arguments.is_adjoint_pair(a, d)
    assert arguments.is_aat_form([a, d, d, a.adjoint()]) and not arguments.is_aat_form([a, d, a.adjoint()])
    with pytest.raises(ValueError, match="empty"):
        arguments.is_aat_form([])
    told = arguments.use_operator_or_provided_hint_unless_contradicting
    assert told(d, "is_square", None, "no") is True and told(a, "is_self_adjoint", False, "no") is False
    with pytest.raises(ValueError, match="no"):
        told(d, "is_square", False, "no")
