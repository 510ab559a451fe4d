"""Processes that serve tasks, for tests that need real ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ebbflow.cluster.ports import free_ports

SERVE = """
import json, os, sys, threading
from ebbflow.cluster.server import Server
cluster, job, index = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = Server(cluster, job, index)
print("serving", flush=True)
sys.stdin.read()  # ends with the test
os._exit(0)
"""


class Processes:
    """Tasks in processes of their own."""

    def __init__(self):
        self._running = []

    def serve(self, cluster, job, index=0, folder=None, **environment):
        """Start a task, and return its process once it serves."""
        import json
        import os

        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, json.dumps(cluster), job, str(index)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment},
            cwd=folder,
        )  # fmt: skip
        self._running.append(process)
        assert process.stdout.readline() == "serving\n"
        return process

    def end(self):
        for process in self._running:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


@pytest.fixture
def processes():
    running = Processes()
    yield running
    running.end()


@pytest.fixture
def ports():
    return free_ports
