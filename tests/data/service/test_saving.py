"""Datasets that a data service computes and writes to a directory."""

from __future__ import annotations

import pytest

import ebbflow as tf

service = tf.data.experimental.service
Dataset = tf.data.Dataset


@pytest.fixture
def dispatcher():
    made = service.DispatchServer()
    workers = [service.WorkerServer(service.WorkerConfig(made.target.removeprefix("grpc://"))) for _ in range(2)]
    yield made
    for server in (*workers, made):
        server._stop()


def test_what_workers_compute_is_saved_and_loaded(dispatcher, tmp_path):
    path, save = str(tmp_path / "saved"), tf.data.experimental.distributed_save
    assert save(Dataset.range(50).map(lambda x: {"a": x + 1}), path, dispatcher.target) is None
    loaded = Dataset.load(path, wait=True)
    assert sorted(int(x["a"]) for x in loaded) == [*range(1, 51)]
    with pytest.raises(tf.errors.AlreadyExistsError, match="already started or completed"):
        save(Dataset.range(3), path, dispatcher.target)


def test_what_fails_is_told_to_whoever_waits(dispatcher, tmp_path):
    bad = Dataset.range(5).map(lambda x: tf.debugging.check_numerics(1 / tf.cast(x - 2, tf.float32), "bad value"))
    tf.data.experimental.distributed_save(bad, str(tmp_path), dispatcher.target)
    with pytest.raises(tf.errors.FailedPreconditionError, match="bad value"):
        Dataset.load(str(tmp_path), wait=True)
    with pytest.raises(ValueError, match="must be a string that is not empty"):
        tf.data.experimental.distributed_save(bad, str(tmp_path), "")
