"""Tasks that have done their work: a supervisor says which, and sessions do without them."""

from __future__ import annotations

import os
import tempfile

import pytest

import ebbflow as tf
from ebbflow.cluster import departed, remote

v1 = tf.compat.v1


@pytest.fixture
def file(monkeypatch):
    with tempfile.TemporaryFile() as alive:
        monkeypatch.setenv(departed.ALIVE, str(alive.fileno()))
        yield alive.fileno()


def test_what_a_supervisor_tells(file, monkeypatch):
    assert departed.departed() == frozenset()
    os.utime(file, (1000.0, 1000.0))
    departed.tell(file, ["worker 1", "worker 0"])
    departed.tell(file, ["worker 1", "worker 0", "worker 12"])
    assert departed.departed() == {f"/job:worker/replica:0/task:{i}" for i in (0, 1, 12)}
    assert os.fstat(file).st_mtime == 1000.0  # no sign of life
    for other in ("", "none", "99999"):
        monkeypatch.setenv(departed.ALIVE, other)
        assert departed.departed() == frozenset()


def test_a_file_with_a_name_is_another(monkeypatch, tmp_path):
    with open(tmp_path / "own", "wb+") as own:
        departed.tell(own.fileno(), ["worker 1"])
        monkeypatch.setenv(departed.ALIVE, str(own.fileno()))
        assert departed.departed() == frozenset()


def test_a_session_does_without_tasks_that_are_done(file, ports, monkeypatch):
    monkeypatch.setattr(remote, "WAIT_SECONDS", 0.3)
    own, gone = ports(2)
    server = v1.train.Server({"worker": [f"localhost:{own}", f"localhost:{gone}"]}, "worker", 0)
    with tf.Graph().as_default():
        with pytest.raises(tf.errors.UnavailableError, match=f"task:1 does not answer at localhost:{gone}"):
            v1.Session(server.target)
        departed.tell(file, ["worker 1"])
        with v1.Session(server.target) as session:
            assert session.run(tf.constant(1) + 1) == 2 and len(session.list_devices()) == 1
        v1.Session.reset(server.target)
        with tf.device("/job:worker/task:1"):
            there = tf.constant(1) + 1
        with v1.Session(server.target) as session, pytest.raises(tf.errors.InvalidArgumentError, match="task:1"):
            session.run(there)
    server._stop()
