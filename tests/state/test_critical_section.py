"""Critical sections and the mutex ops under them: one at a time, in graphs, eagerly and across threads; errors let
go.
"""

import threading
import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.declare import raw
from ebbflow.state.critical_section import CriticalSection

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def slowly_added(v, amount):
    """A read, some work and a write, which loses updates where two run at a time."""

    def body():
        x = v.read_value()
        for _ in range(4):
            x = x + amount / 4.0
        with tf.control_dependencies([v.assign(x)]):
            return v.read_value()

    return body


def in_threads(work, count=4):
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_sections_of_one_run_come_one_after_the_other(graph):
    v = tf.Variable(0.0)
    section = CriticalSection(name="cs")
    results = [section.execute(slowly_added(v, float(n))) for n in (1, 2, 4)]
    with v1.Session() as session:
        session.run(v.initializer)
        values = session.run(results)
        assert max(values) == 7.0 and session.run(v) == 7.0
        session.run(results[::-1])
        assert session.run(v) == 14.0


def test_sections_of_concurrent_runs(graph):
    v = tf.Variable(np.zeros(100, np.float32))
    added = CriticalSection().execute(slowly_added(v, 1.0))
    with v1.Session() as session:
        session.run(v.initializer)
        in_threads(lambda: [session.run(added) for _ in range(10)])
        assert set(session.run(v)) == {40.0}


def test_eager_sections():
    total = [0]
    section = CriticalSection()

    def body():
        seen = total[0]
        time.sleep(0)
        total[0] = seen + 1
        return tf.constant(total[0])

    in_threads(lambda: [section.execute(body) for _ in range(50)])
    assert total == [200]
    assert section.execute(lambda: {"a": 1.0, "b": None})["a"].numpy() == 1.0


def test_an_error_lets_go_of_the_lock(graph):
    x = v1.placeholder(tf.float32, [])
    section = CriticalSection()
    checked = section.execute(lambda: tf.debugging.check_numerics(x, "bad"))
    with v1.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(checked, {x: np.nan})
        assert session.run(checked, {x: 1.0}) == 1.0


def test_an_eager_error_lets_go_of_the_lock():
    section = CriticalSection()
    with pytest.raises(ZeroDivisionError):
        section.execute(lambda: 1 / 0)
    assert section.execute(lambda: 2.0).numpy() == 2.0


def test_what_a_section_gives_has_the_form_of_what_the_function_gave(graph):
    section = CriticalSection()
    given = section.execute(lambda: {"a": (tf.constant(1.0), 2.0), "b": tf.constant([3])})
    done = section.execute(lambda: tf.no_op())
    with v1.Session() as session:
        values = session.run(given)
        assert values["a"] == (1.0, 2.0) and values["b"].tolist() == [3] and session.run(done) is None


def test_sections_inside_themselves_are_refused(graph):
    section = CriticalSection(name="cs")
    with pytest.raises(ValueError, match="already running"):
        section.execute(lambda: section.execute(lambda: tf.constant(1.0)))
    with v1.Session() as session:
        assert session.run(section.execute(lambda: tf.constant(1.0))) == 1.0


def test_a_resource_belongs_to_one_section(graph):
    v = tf.Variable(0.0)
    CriticalSection(name="one").execute(slowly_added(v, 1.0))
    for exclusive in (True, False):
        with pytest.raises(ValueError, match="requested exclusive resource access"):
            CriticalSection(name="two").execute(slowly_added(v, 1.0), exclusive_resource_access=exclusive)
    w = tf.Variable(0.0)
    for name in ("three", "four"):
        CriticalSection(name=name).execute(slowly_added(w, 1.0), exclusive_resource_access=False)


def test_mutexes_share_by_name(graph):
    same = [raw.MutexV2(shared_name="m") for _ in range(2)]
    lock = raw.MutexLock(same[0])
    with graph.control_dependencies([raw.ConsumeMutexLock(lock)]):
        again = raw.MutexLock(same[1])
    with v1.Session() as session:
        session.run(raw.ConsumeMutexLock(again))


def test_a_forgotten_lock_is_free():
    mutex = raw.MutexV2()
    lock = raw.MutexLock(mutex)
    del lock
    lock = raw.MutexLock(mutex)
    raw.ConsumeMutexLock(lock)
    raw.ConsumeMutexLock(lock)  # twice does no harm
    raw.ConsumeMutexLock(raw.MutexLock(mutex))


@pytest.mark.parametrize("shared", [None, "one"])
def test_a_section_does_not_wait_for_itself(shared):
    outer = CriticalSection(shared_name=shared)
    inner = outer if shared is None else CriticalSection(shared_name=shared)
    with pytest.raises(ValueError, match="in which we are already running"):
        outer.execute(lambda: inner.execute(lambda: tf.constant(1.0)))
    assert inner.execute(lambda: tf.constant(2.0)).numpy() == 2.0
