"""A chief that goes back to a checkpoint, and a worker that slept through it: with a real server."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.cluster.task import Task
from ebbflow.doors.launch import free_ports
from ebbflow.monitored.live_state import LiveState

v1 = tf.compat.v1


@pytest.fixture
def target():
    address = f"localhost:{free_ports(1)[0]}"
    server = v1.train.Server({"ps": [address]}, "ps", 0)
    yield server.target
    server._stop()


def training(target, folder):
    """Return a chief's session, a worker's, and the operation that counts a step."""
    step = v1.train.get_or_create_global_step()
    count = v1.assign_add(step, 1)
    scaffold = v1.train.Scaffold().finalize()
    manager = v1.train.SessionManager(
        scaffold.local_init_op, scaffold.ready_op, scaffold.ready_for_local_init_op, recovery_wait_secs=0.1
    )

    def chief():
        return manager.prepare_session(target, scaffold.init_op, scaffold.saver, folder)

    return scaffold.saver, chief, lambda: manager.wait_for_session(target, max_wait_secs=20), count


def test_a_chief_that_starts_again_goes_on_with_what_there_is(target, tmp_path):
    with tf.Graph().as_default():
        saver, chief, _, count = training(target, str(tmp_path))
        with chief() as session:
            session.run(count)
            saver.save(session, str(tmp_path / "model"))
            session.run(count)
        with chief() as session:
            assert session.run(count) == 3
        (tmp_path / "checkpoint").unlink()  # who takes the checkpoints away begins anew
        with chief() as session:
            assert session.run(count) == 1


def test_other_folders_are_other_trainings(target, tmp_path):
    with tf.Graph().as_default():
        (tmp_path / "one").mkdir()
        saver, chief, _, count = training(target, str(tmp_path / "one"))
        with chief() as session:
            saver.save(session, str(tmp_path / "one" / "model"))
            session.run(count)
    with tf.Graph().as_default():
        saver, chief, _, count = training(target, str(tmp_path / "other"))
        with chief() as session:
            assert session.run(count) == 1


@pytest.mark.parametrize("known_bad", [False, True], ids=["checked", "not checked"])
def test_f10_a_worker_that_slept_through_a_restore_is_refused(target, tmp_path, monkeypatch, known_bad):
    """With the epoch not looked at, the worker's step goes into weights that it knows nothing of."""
    monkeypatch.setattr(LiveState, "adopt", lambda self, ready: False)
    if known_bad:
        monkeypatch.setattr(Task, "check_epoch", lambda self, epoch: None)
    with tf.Graph().as_default():
        saver, chief, worker, count = training(target, str(tmp_path))
        with chief() as session, worker() as sleeper:
            saver.save(session, str(tmp_path / "model"))
            assert sleeper.run(count) == 1
            with chief() as again:  # back to 0
                if known_bad:
                    assert sleeper.run(count) == 1
                    return
                with pytest.raises(tf.errors.AbortedError, match="was restored or initialized again"):
                    sleeper.run(count)
                assert again.run(count) == 1
        with worker() as session:
            assert session.run(count) == 2


def test_a_worker_waits_while_the_state_is_replaced(target, tmp_path):
    with tf.Graph().as_default():
        _, chief, worker, count = training(target, str(tmp_path))
        with chief() as session:
            state = LiveState(session, str(tmp_path))
            state.replace()
            waiting = LiveState(session, None)
            assert not waiting.heed()
            state.begin()
            assert waiting.heed()
        with worker() as session:
            assert session.run(count) == 1
