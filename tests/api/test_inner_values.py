"""Small functions of TensorFlow's inside: what TensorFlow 2.21 answers."""

import threading
import typing

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.api import inner_values as inner
from ebbflow.api import namespace, views

SHAPE = tf.TensorShape


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (lambda: inner.is_broadcast_compatible(SHAPE([2, 1]), SHAPE([3])), True),
        (lambda: inner.is_broadcast_compatible(SHAPE([2]), SHAPE([3])), False),
        (lambda: inner.is_broadcast_compatible(SHAPE(None), SHAPE([3])), False),
        (lambda: inner.broadcast_shape(SHAPE([2, 1]), SHAPE([3])).as_list(), [2, 3]),
        (lambda: inner.reduced_shape([2, 3, 4], [1]).tolist(), [2, 1, 4]),
        (lambda: inner.reduced_shape(tf.constant([2, 3]), [0, -1]).tolist(), [1, 1]),
        (lambda: inner.shape_tensor([1, 2]).numpy().tolist(), [1, 2]),
        (lambda: inner.shape_tensor((tf.constant(1), 2)).dtype, tf.int32),
        (lambda: int(inner.rank_internal([[1]], optimize=False)), 2),
        (lambda: int(inner.size_internal([[1, 2]], optimize=False)), 2),
        (lambda: inner.compute_fans((3, 3, 4, 5)), (36, 45)),
        (lambda: inner.compute_fans(()), (1, 1)),
        (lambda: inner.conv_input_length(5, 3, "same", 2), 9),
        (lambda: inner.conv_input_length(5, 3, "full", 1), 3),
        (lambda: inner.convert_data_format("channels_first", 4), "NCHW"),
        (lambda: inner.canonical_name("/job:a/cpu:0"), "/job:a/device:CPU:0"),
        (lambda: inner.batch_sizes_for_worker(7, 2, 2, 1).numpy().tolist(), [2, 1, 2, 2]),
        (lambda: inner.batch_sizes_for_worker(8, 2, 2, 0).numpy().tolist(), [2, 2, 2, 2]),
        (lambda: inner.repeat_ranges([1, 2, 3, 4], [0, 1, 3], [2, 1]).numpy().tolist(), [1, 1, 2, 3]),
        (lambda: inner.repeat_ranges([1, 2, 3], [0, 2, 3], 2).numpy().tolist(), [1, 2, 1, 2, 3, 3]),
        (lambda: inner.is_generic_tuple(tuple[int, str]), True),
        (lambda: inner.is_generic_tuple(tuple), False),
        (lambda: inner.is_generic_mapping(typing.Mapping[int, str]), True),
        (lambda: inner.is_generic_union(typing.Union[int, str]), True),  # noqa: UP007
        (lambda: inner.NUMPY_TYPES[np.int8], tf.int8),
        (lambda: inner.PLACEMENT_SILENT.name, "SILENT"),
        (lambda: namespace.resolve(views.names_inside("v2")["python.util.nest.is_mapping"])({}), True),
        (lambda: inner.TYPE_TO_STRING[101], "float32_ref"),
    ],
)
def test_answers(found, said):
    assert found() == said


def test_refusals():
    with pytest.raises(ValueError, match="Input rank: 7 not supported"):
        inner.convert_data_format("channels_last", 7)
    with pytest.raises(ValueError, match="3 is not a function"):
        inner.validate_callable(3, "wrapped")
    with pytest.raises(ValueError, match="Unknown attribute"):
        inner.check_valid("/x:y")


def test_sparse_and_ragged_values():
    sparse = inner.dense_labels_to_sparse([[1, 2, 0], [3, 0, 0]], [2, 1])
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[1, 2], [3, 0]]
    filled, empty = inner.fill_empty_rows(tf.ragged.constant([[1], [], [2, 3]]), 9)
    assert filled.to_list() == [[1], [9], [2, 3]] and empty.numpy().tolist() == [False, True, False]
    assert inner.convert_variables_to_tensors({"a": tf.Variable(2.0)})["a"].numpy() == 2.0


def test_groups_hold_a_lock_one_after_the_other():
    lock, order = inner.GroupLock(2), []
    with lock.group(0), lock.group(0):
        other = threading.Thread(target=lambda: (lock.acquire(1), order.append("other"), lock.release(1)))
        other.start()
        order.append("first")
    other.join(30)
    assert order == ["first", "other"]
    with pytest.raises(ValueError, match="group_id must be in"):
        lock.acquire(2)


def test_containing_contexts_are_found_outwards():
    class Context:
        def __init__(self, is_loop, outer=None):
            self.IsWhileContext, self.outer_context = (lambda: is_loop), outer

    loop = Context(True)
    inside = Context(False, loop)
    assert inner.GetContainingWhileContext(Context(False, inside)) is loop
    assert inner.GetContainingWhileContext(Context(False, inside), stop_ctxt=inside) is inside
    assert inner.GetContainingXLAContext(None) is None


def test_switches_and_merges_of_loops_and_branches():
    class Node:
        def __init__(self, kind, *inputs):
            self.type, self.inputs, self.op = kind, inputs, self

    loop = Node("Merge", Node("Enter"), Node("NextIteration"))
    stays = Node("Switch", loop, Node("LoopCond"))
    branch = Node("Switch", stays, Node("Less"))
    both = Node("Merge", branch, Node("Identity"))
    kinds = (inner.IsLoopMerge, inner.IsLoopSwitch, inner.IsCondSwitch, inner.IsCondMerge)
    found = [[kind(node) for kind in kinds] for node in (loop, stays, branch, both)]
    assert found == np.eye(4, dtype=bool).tolist()
