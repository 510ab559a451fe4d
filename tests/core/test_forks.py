"""Forks: a lock that another thread held is free in the child, and a fork waits for what must not be divided."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

PROGRAM = """
import os, threading, time
from ebbflow.core import forks
plain, again = forks.lock(), forks.rlock()
inside, left = threading.Event(), []

def work():
    plain.acquire(), again.acquire()
    with forks.undivided(), forks.undivided():
        inside.set()
        time.sleep(0.2)
        left.append(1)
    threading.Event().wait(60)

threading.Thread(target=work, daemon=True).start()
inside.wait()
with forks.undivided():  # its own thread may fork
    child = os.fork()
if child == 0:
    with forks.undivided():
        os._exit(len(left) + 2 * plain.acquire(timeout=1) + 4 * again.acquire(timeout=1))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), plain.acquire(blocking=False))
"""


def test_a_child_has_what_it_needs():
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert found.stdout.split() == ["7", "False"], found.stderr
