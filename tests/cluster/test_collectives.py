"""Groups that form again and again in one process, with members that are killed and replaced."""

from __future__ import annotations

import gc
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.cluster.collectives import CollectiveGroup
from ebbflow.core import stopping

GENERATIONS = 10
DEATHS = (2, 5, 8)
MEMBER = """
import json, os, sys
import numpy as np
from ebbflow.cluster.collectives import CollectiveGroup
from ebbflow.cluster.server import Server
from ebbflow.core import stopping
addresses, first, last, deaths = json.loads(sys.argv[1])
server = Server({"worker": addresses}, "worker", 1)
for generation in range(first, last):
    group = CollectiveGroup(addresses, 1, f"generation {generation}", 60.0)
    if generation in deaths:
        group.all_reduce("formed", np.ones(1), "add", stopping.NEVER, 60.0)  # the other one has formed it, too
        os._exit(9)
    group.all_reduce("sum", np.full(100_000, 2.0), "add", stopping.NEVER, 60.0)
    group.leave()
os._exit(0)
"""


def belongings():
    """What this process has: open files, threads, and memory in pages."""
    gc.collect()
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return len(os.listdir("/proc/self/fd")), threading.active_count(), pages


@pytest.fixture
def member(ports):
    """Addresses of two members, and what starts the second from some generation on."""
    addresses = [f"localhost:{port}" for port in ports(2)]
    server = tf.compat.v1.train.Server({"worker": addresses}, "worker", 0)
    running = []

    def start(first):
        words = json.dumps([addresses, first, GENERATIONS, DEATHS])
        running.append(subprocess.Popen([sys.executable, "-c", MEMBER, words]))

    yield addresses, start
    server._stop()
    for process in running:
        process.kill()
        process.wait()


def test_c8_ten_generations_in_one_process_leave_nothing_behind(member):
    addresses, start = member
    start(0)
    before = None
    for generation in range(GENERATIONS):
        group = CollectiveGroup(addresses, 0, f"generation {generation}", 60.0)
        if generation in DEATHS:
            with pytest.raises(tf.errors.UnavailableError, match=r"worker 1 at .* is lost"):
                for name, size in (("formed", 1), ("sum", 100_000)):
                    group.all_reduce(name, np.ones(size), "add", stopping.NEVER, 60.0)
            start(generation + 1)
        else:
            total = group.all_reduce("sum", np.ones(100_000), "add", stopping.NEVER, 60.0)
            np.testing.assert_array_equal(total, 3.0)
        group.leave()
        if generation == DEATHS[1] + 1:  # allocators have grown to what they need
            before = belongings()
    files, count, pages = belongings()
    end = time.monotonic() + 10.0
    while (files > before[0] or count > before[1]) and time.monotonic() < end:  # gRPC's own let go a little later
        time.sleep(0.2)
        files, count, pages = belongings()
    assert files <= before[0] and count <= before[1] and pages <= before[2] * 1.05, (before, (files, count, pages))
    assert sum(isinstance(thing, CollectiveGroup) for thing in gc.get_objects()) <= 1
