"""Small things of TensorFlow's inside: a registry, subscriptions, timers, watchers."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.api import inner_plumbing as inner
from ebbflow.platform.gauges import Counter

v1 = tf.compat.v1


def test_a_registry_keeps_each_name_once():
    registry = inner.Registry("things")
    registry.register(len, "size")
    registry.register(len)
    assert registry.lookup("size") is len and sorted(registry.list()) == ["len", "size"]
    with pytest.raises(
        KeyError, match=r"Registering two things with name 'size'! \(Previous registration was in .*\.py:"
    ):
        registry.register(len, "size")
    with pytest.raises(LookupError, match="things registry has no entry for: other"):
        registry.lookup("other")


@pytest.mark.parametrize(
    ("x", "y", "axes"),
    [
        ([3, 1], [2], ([1], [0])),
        ([2, 3], [2, 3], ([], [])),
        ([1, 3], [1, 3], ([0], [0])),
        ([None, 3], [1], ([], [0, 1])),
        ([None], [None], (None, None)),
        (None, [2], (None, None)),
    ],
)
def test_axes_over_which_gradients_are_summed(x, y, axes):
    assert inner.reduction_axes(tf.TensorShape(x), tf.TensorShape(y)) == axes
    assert inner.reduction_axes(tf.TensorShape(y), tf.TensorShape(x)) == axes[::-1]


def test_a_timer_counts_a_section_inside_itself_once():
    inside = Counter("inside").get_cell()
    with inner.MonitoredTimer(Counter("around").get_cell(), "section", True):
        assert inner.MonitoredTimerSections == ["section"]
        with inner.MonitoredTimer(inside, "section", True):
            pass
    assert inside.value() == 0 and inner.MonitoredTimerSections == []
    assert inner.monitored_timer(inside)(lambda x: x + 1)(2) == 3 and inside.value() > 0


def test_limits_that_grow_by_a_factor():
    buckets = inner.ExponentialBuckets(1.0, 2.0, 3)
    assert [buckets.number_of(x) for x in (0.5, 1.0, 3.0, 9.0)] == [0, 1, 2, 3]


@pytest.mark.parametrize("watcher", [inner.VariableWatcher, tf.GradientTape])
def test_a_variable_that_is_changed_is_seen(watcher):
    changed, read, fixed, replaced = (tf.Variable([1.0]) for _ in range(4))
    with watcher() as seen:
        changed.assign_add([1.0])
        tf.identity(read)
        tf.Variable(2.0, trainable=False).assign(3.0)
        replaced.assign([2.0], read_value=False)
    assert [v is w for v, w in zip(seen.watched_variables(), (changed, read), strict=True)] == [True, True]
    assert fixed is not None


def test_subscribers_run_whenever_a_tensor_is_computed():
    with tf.Graph().as_default(), v1.Session() as session:
        a = tf.constant(2) + 1
        b = a * 10
        with tf.control_dependencies([a]):
            waiting = tf.constant(7)
        seen = []
        effect = lambda tensor: v1.py_func(lambda x: seen.append(int(x)) or x, [tensor], tensor.dtype)
        found = inner.subscribe([a], effect)
        assert inner.is_subscribed_identity(found[0]) and not inner.is_subscribed_identity(a)
        assert inner.subscribe(a, effect) is found[0]
        assert session.run(b) == 30 and seen == [3, 3]
        assert session.run(waiting) == 7 and len(seen) == 4
        with pytest.raises(TypeError, match="has invalid type str"):
            inner.subscribe("add:0", effect)
