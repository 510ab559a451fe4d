"""The thread that compiles while others go on: its order, its errors, the end of a process, a forked one."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import textwrap
import threading

import pytest

from ebbflow.engines import background

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def worker():
    made = background.Worker("tests")
    yield made
    background._workers.remove(made)


def test_jobs_are_done_in_order_by_one_thread(worker):
    found = []
    for i in range(20):
        worker.add(lambda i=i: found.append((i, threading.current_thread())))
    worker.settle()
    assert [i for i, _ in found] == list(range(20))
    (thread,) = {thread for _, thread in found}
    assert thread is not threading.main_thread() and thread.daemon


def test_something_is_done_behind_the_last_job():
    found = []
    gate = threading.Event()
    worker = background.Worker("tests", when_done=lambda: found.append("done"))
    try:
        worker.add(gate.wait)
        for i in range(3):
            worker.add(lambda i=i: found.append(i))
        gate.set()
        worker.settle()
    finally:
        background._workers.remove(worker)
    assert found == [0, 1, 2, "done"]


def test_nobody_waits_where_nothing_is_to_be_done(worker):
    worker.settle()


def test_an_error_is_told_and_the_next_job_done(worker, monkeypatch):
    told, done = [], []
    monkeypatch.setattr(threading, "excepthook", told.append)
    worker.add(lambda: 1 / 0)
    worker.add(lambda: done.append(1))
    worker.settle()
    assert done == [1]
    assert [t.exc_type for t in told] == [ZeroDivisionError]


def test_nothing_more_is_begun_when_it_closes(worker):
    begun, go, done = threading.Event(), threading.Event(), []
    worker.add(lambda: (begun.set(), go.wait(60), done.append("first")))
    worker.add(lambda: done.append("second"))
    begun.wait(60)
    threading.Timer(0.1, go.set).start()
    worker.close()
    assert done == ["first"]


def test_a_process_ends_with_what_is_being_made():
    code = """
        import time
        from ebbflow.engines.background import Worker
        worker = Worker("tests")
        worker.add(lambda: (time.sleep(0.3), print("first", flush=True)))
        worker.add(lambda: (time.sleep(60), print("second", flush=True)))
        time.sleep(0.1)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, capture_output=True, text=True, timeout=50
    )
    assert (done.returncode, done.stdout.split()) == (0, ["first"]), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked there")
def test_a_forked_process_goes_on_with_what_is_left(worker):
    begun, go, done = threading.Event(), threading.Event(), []
    worker.add(lambda: (begun.set(), go.wait(60)))
    begun.wait(60)
    worker.add(lambda: done.append("left"))
    child = os.fork()
    if child == 0:
        worker.add(lambda: done.append("new"))
        worker.settle()
        os._exit(0 if done == ["left", "new"] else 1)
    go.set()
    worker.settle()
    assert os.waitpid(child, 0)[1] == 0 and done == ["left"]
