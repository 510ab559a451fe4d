"""What branches and loops of TF 1's graphs make and programs use outside of them. The numbers are TensorFlow 1.15's."""

import pytest

import ebbflow as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def session():
    was = v1.control_flow_v2_enabled()
    v1.disable_control_flow_v2()
    with tf.Graph().as_default(), v1.Session() as opened:
        yield opened
    if was:
        v1.enable_control_flow_v2()


def choose(condition, function, other=lambda: tf.constant(0.0)):
    """Return a choice, and what `function(keep)` kept."""
    kept = []
    return tf.cond(condition, lambda: function(kept.append), other), kept


def test_a_tensor_of_a_branch_is_used_outside(session):
    taken, x = v1.placeholder(tf.bool, []), tf.constant(3.0)

    def inside(keep):
        keep(x * 2)
        return x

    y, (kept,) = choose(taken, inside)
    z = kept + 1
    slope = tf.gradients(z, x)[0]
    assert session.run([y, z, slope], {taken: True}) == [3.0, 7.0, 2.0]
    assert session.run(y, {taken: False}) == 0.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
        session.run(z, {taken: False})


@pytest.mark.parametrize(
    ("way", "slope", "second"),
    [(True, [4.0, -32.0, 108.0], [96.0, -3072.0, 23328.0]), (False, [18.0, -1.44, 54.0], [648.0, -2.0736, 1944.0])],
)
def test_gradients_of_gradients_a_branch_states_itself_use_what_it_made(session, way, slope, second):
    def leaky(x):
        @tf.custom_gradient
        def function(x):
            y = tf.maximum(x, x * 0.2)

            @tf.custom_gradient
            def gradient(dy):
                return v1.where(y >= 0, dy, dy * 0.2), lambda ddx: v1.where(y >= 0, ddx, ddx * 0.2)

            return y, gradient

        return function(x)

    x, taken = v1.placeholder(tf.float32, [3]), v1.placeholder(tf.bool, [])
    y = tf.cond(taken, lambda: leaky(x * x), lambda: leaky(x * 3.0))
    first = tf.gradients(tf.reduce_sum(y * y), x)[0]
    found = [first, tf.gradients(tf.reduce_sum(first * first), x)[0]]
    for value, expected in zip(session.run(found, {x: [1.0, -2.0, 3.0], taken: way}), [slope, second], strict=True):
        assert value == pytest.approx(expected, rel=1e-5)


def test_what_is_random_is_drawn_once(session):
    def inside(keep):
        drawn = tf.random.uniform([])
        keep(drawn * 2)
        return drawn

    y, (kept,) = choose(v1.placeholder_with_default(True, []), inside)
    once, twice = session.run([y, kept + 0])
    assert twice == pytest.approx(2 * once)


def test_updates_of_a_branch_are_done_where_they_are_waited_for(session):
    count = v1.Variable(1.0)
    session.run(count.initializer)
    taken = v1.placeholder(tf.bool, [])

    def inside(keep):
        v1.add_to_collection("updates", v1.assign_add(count, 1.0))
        return tf.constant(5.0)

    y, _ = choose(taken, inside)
    with tf.control_dependencies(v1.get_collection("updates")):
        updated = tf.identity(y)
    assert session.run(y, {taken: True}) == 5.0
    assert session.run(count) == 1.0
    assert session.run(updated, {taken: True}) == 5.0
    assert session.run(count) == 2.0
    assert session.run(updated, {taken: False}) == 0.0
    assert session.run(count) == 2.0


def test_losses_and_summaries_of_a_branch_are_in_the_collections(session):
    x = tf.constant(2.0)

    def inside(keep):
        v1.losses.add_loss(x * x)
        v1.summary.scalar("inside", x)
        return x

    choose(tf.constant(True), inside)
    total = v1.losses.get_total_loss()
    assert session.run([total, tf.gradients(total, x)[0]]) == [4.0, 4.0]
    assert b"inside" in session.run(v1.summary.merge_all())
    exported = v1.train.export_meta_graph()
    assert not {"losses", "summaries"} & set(exported.collection_def)  # no name outside of the branch is theirs


def test_a_tensor_of_an_inner_branch_comes_through_both(session):
    always, kept = tf.constant(True), []

    def inner():
        kept.append(tf.constant(5.0))
        return tf.constant(1.0)

    y = tf.cond(always, lambda: tf.cond(always, inner, lambda: tf.constant(2.0)), lambda: tf.constant(3.0))
    assert session.run([y, kept[0] * 2]) == [1.0, 10.0]


def test_a_tensor_of_a_loop_is_refused_outside():
    kept = []
    tf.while_loop(lambda i: i < 3, lambda i: (kept.append(i * 2), i + 1)[1], [0])
    with pytest.raises(ValueError, match=r"Cannot use 'while/mul' as input to 'add' because .* is in a while loop"):
        kept[0] + 1


def test_what_no_result_waits_for_is_not_done_in_branches_and_turns(session):
    count = v1.Variable(0)
    session.run(count.initializer)

    def branch():
        v1.assign_add(count, 100)
        with tf.control_dependencies([v1.assign_add(count, 1)]):
            return tf.constant(10)

    def chosen():
        return tf.cond(v1.placeholder_with_default(True, []), branch, lambda: tf.constant(0))

    nested = tf.cond(v1.placeholder_with_default(True, []), chosen, lambda: tf.constant(0))
    idle = v1.while_loop(lambda i: i < 1, lambda i: (chosen(), i + 1)[1], [0])
    turning = v1.while_loop(lambda i: i < 1, lambda i: chosen(), [0])
    for fetch, value, expected in ((chosen(), 10, 1), (nested, 10, 2), (idle, 1, 2), (turning, 10, 3)):
        assert session.run(fetch) == value
        assert session.run(count) == expected
