"""The low-level functions of TensorFlow 1's control flow, on tensors, variables and what is made of several tensors."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.functions.dataflow_v1 import switch_merge

v1 = tf.compat.v1


@pytest.fixture
def session():
    with tf.Graph().as_default(), v1.Session() as opened:
        yield opened


def test_rows_and_sparse_tensors_go_through_switch_and_merge(session):
    rows = tf.IndexedSlices(tf.constant([1, 2]), tf.constant([0, 4]))
    merged = switch_merge.merge(switch_merge.switch(rows, tf.constant(True)))[0]
    assert [x.tolist() for x in session.run([merged.values, merged.indices])] == [[1, 2], [0, 4]]
    sparse = tf.SparseTensor([[0, 5]], ["x"], [10, 10])
    after = switch_merge.exit(switch_merge.enter(sparse, "frame"))
    np.testing.assert_array_equal(session.run(after).indices, [[0, 5]])
    assert session.run(switch_merge.identity_of_any(sparse)).values.tolist() == [b"x"]


def test_variables_stay_variables(session):
    v = v1.Variable(7, use_resource=False)
    taken = switch_merge.switch_ref_or_tensor(v, tf.constant(True))[1]
    again = switch_merge.identity_of_any(v)
    session.run(v.initializer)
    assert session.run(v1.assign(taken, 9)) == 9
    assert session.run(v1.assign(again, 11)) == 11
    entered = switch_merge.enter(v, "frame", is_constant=True)
    with tf.control_dependencies([v1.assign(entered, switch_merge.enter(tf.constant(13), "frame"))]):
        after = switch_merge.exit(tf.identity(entered))
    assert session.run(after) == 13
    other = v1.Variable([7], use_resource=False)
    assert v1.raw_ops.RefSelect(index=0, inputs=[v._ref(), v._ref()]).shape.rank == 0
    assert v1.raw_ops.RefSelect(index=0, inputs=[v._ref(), other._ref()]).shape.rank is None


def test_predicates_that_are_computed_alike_make_one_choice(session):
    """As a choice of preprocessing is written: every tensor of a tuple is switched on a comparison of its own."""
    number = v1.placeholder(tf.int32, [])
    given = (tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))
    found = [[], []]
    for case in range(3):
        a, b = (switch_merge.switch(t, tf.equal(number, case))[1] for t in given)
        found[0].append(a * b + float(case))
        found[1].append(v1.cond(b[0] > 2.0, lambda a=a, case=case: a[0] * case, lambda b=b: b[1]))
    merged = [switch_merge.merge(ways)[0] for ways in found]
    for case in range(3):
        assert [x.tolist() for x in session.run(merged, {number: case})] == [[3.0 + case, 8.0 + case], case]


def test_random_predicates_are_not_the_same_though_written_alike(session):
    tf.random.set_seed(1)
    ways = [switch_merge.switch(tf.constant(1), tf.random.uniform([], seed=None) < 0.5) for _ in range(2)]
    both = tf.stack([switch_merge.merge(way)[1] for way in ways])
    assert {len(set(session.run(both).tolist())) for _ in range(64)} == {1, 2}
