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


def _both(x, way, other):
    false, true = switch_merge.switch(x, way)
    return switch_merge.merge([false * false * false, true * 5.0])[0]


def _after(x, way, other):
    false, true = switch_merge.switch(x, way)
    return switch_merge.merge([false, true * true])[0] * x


def _in_front_of_nothing(x, way, other):
    return switch_merge.switch(x, way)[1] ** 2.0


def _nested(x, way, other):
    false, true = switch_merge.switch(x, way)
    inner = switch_merge.switch(true, switch_merge.switch(other, way)[1])
    return switch_merge.merge([false * false, switch_merge.merge([inner[0] * 2.0, inner[1] ** 3.0])[0] * true])[0]


# what TensorFlow 2.21 gives at 3 for (way, other)
GRADIENTS = [
    (_both, {(True, True): 5.0, (False, True): 27.0}),
    (_after, {(True, True): 27.0, (False, True): 6.0}),
    (_in_front_of_nothing, {(True, True): 6.0, (False, True): 0.0}),
    (_nested, {(True, True): 108.0, (True, False): 12.0, (False, True): 6.0, (False, False): 6.0}),
]


@pytest.mark.parametrize("function, expected", GRADIENTS, ids=lambda x: getattr(x, "__name__", ""))
def test_gradients(session, function, expected):
    x, way, other = tf.constant(3.0), v1.placeholder(tf.bool, []), v1.placeholder(tf.bool, [])
    slope = v1.gradients(function(x, way, other), x)[0]
    assert {key: float(session.run(slope, {way: key[0], other: key[1]})) for key in expected} == expected


def test_gradients_of_gradients(session):
    x, way = tf.constant(3.0), v1.placeholder(tf.bool, [])
    slope = v1.gradients(v1.gradients(_after(x, way, None), x)[0], x)[0]
    assert [float(session.run(slope, {way: side})) for side in (True, False)] == [18.0, 2.0]


def test_the_gradient_of_a_loop_by_hand_is_refused(session):
    entered = switch_merge.enter(tf.constant(1.0), "frame")
    merged = switch_merge.merge([entered, entered])[0]
    with pytest.raises(LookupError, match="No gradient defined"):
        v1.gradients(merged, entered)


@pytest.mark.parametrize("taken", [False, True])
def test_the_way_that_is_not_taken_has_no_slope(session, taken):
    x = tf.constant(2.0)
    ways = switch_merge.switch(x, tf.constant(taken))
    slopes = [session.run(v1.gradients(way * 3, x))[0] for way in ways]
    assert slopes == [0.0, 3.0] if taken else [3.0, 0.0]
    merged = switch_merge.merge([ways[0] * 3, ways[1] ** 3])[0]
    first = v1.gradients(merged, x)
    assert session.run([first, v1.gradients(first, x)]) == ([[12.0], [12.0]] if taken else [[3.0], [0.0]])
