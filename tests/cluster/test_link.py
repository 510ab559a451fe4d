"""F13: links that drop, swallow, delay, break in the middle of a frame or crawl; training is exact when they heal.

A proxy stands between a worker in this process and a parameter server in another. A step pulls half a megabyte, and
pushes as much together with the count of steps; whatever the link does, the weights are the count in every element.
"""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.cluster.ports import free_ports
from tests.cluster.conftest import Processes

v1 = tf.compat.v1
SIZE, STEPS = 1 << 17, 14


class Proxy:
    """Carries bytes both ways, as well as its `mode` says."""

    def __init__(self, goal, seed):
        self.mode, self._goal, self._rng = "well", goal, random.Random(seed)
        self._pairs, self._stopped = [], False
        self._listener = socket.create_server(("localhost", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while not self._stopped:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(("localhost", self._goal))
            except OSError:
                continue
            self._pairs.append((near, far))
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one, other):
        try:
            while data := one.recv(65536):
                if self.mode == "reset" and len(data) > 1000:
                    other.sendall(data[: self._rng.randrange(1, len(data))])  # half of a frame, then nothing
                    self.cut()
                    return
                while self.mode == "swallowed" and not self._stopped:
                    time.sleep(0.01)
                if self.mode == "delayed":
                    time.sleep(0.2)
                elif self.mode == "slow":
                    time.sleep(len(data) / 1e6)
                other.sendall(data)
        except OSError:
            pass
        finally:
            for end in (one, other):
                end.close()

    def cut(self):
        """Break all connections."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def stop(self):
        self._stopped = True
        self._listener.close()
        self.cut()


@pytest.fixture(scope="module")
def proxied():
    running = Processes()
    ps, worker = free_ports(2)
    running.serve({"ps": [f"localhost:{ps}"], "worker": [f"localhost:{worker}"]}, "ps")
    proxy = Proxy(ps, 0)
    server = v1.train.Server({"ps": [f"localhost:{proxy.port}"], "worker": [f"localhost:{worker}"]}, "worker", 0)
    yield proxy, server.target
    server._stop()
    proxy.stop()
    running.end()


def built(name):
    graph = v1.Graph()
    with graph.as_default():
        with tf.device("/job:ps/task:0"):
            w = v1.get_variable(f"w_{name}", [SIZE], initializer=v1.zeros_initializer(), use_resource=True)
            count = v1.get_variable(f"count_{name}", [], initializer=v1.zeros_initializer(), use_resource=True)
        with tf.device("/job:worker/task:0"):
            pushed = w.read_value() * 0.0 + 1.0
        with tf.device("/job:ps/task:0"):
            added = w.assign_add(pushed, read_value=False)
            with tf.control_dependencies([added]):
                step = count.assign_add(1.0, read_value=False)
        return graph, step, count.read_value(), w.read_value(), v1.global_variables_initializer()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mode", ["dropped", "swallowed", "delayed", "reset", "slow"])
def test_f13_links(proxied, mode, seed):
    proxy, target = proxied
    proxy.mode = "well"
    graph, step, count, w, initialise = built(f"{mode}_{seed}")
    config = v1.ConfigProto(operation_timeout_in_ms=20000)
    session = v1.Session(target, graph, config)
    session.run(initialise)
    at, lost, begun = random.Random(seed).randrange(2, STEPS - 4), 0, time.monotonic()
    healer = threading.Timer(1.2, lambda: setattr(proxy, "mode", "well"))
    done = 0
    while done < STEPS:
        if done == at and healer.ident is None:
            proxy.mode = mode
            healer.start()
            if mode == "dropped":
                proxy.cut()
        try:
            session.run(step)
            done = int(session.run(count))
        except (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.DeadlineExceededError):
            lost += 1
            session.close()
            session = v1.Session(target, graph, config)
            done = int(session.run(count))
        assert time.monotonic() - begun < 60, f"{mode}: step {done} after a minute"
    healer.cancel()
    weights, counted = session.run([w, count])
    session.close()
    assert counted >= STEPS and np.all(weights == counted), (mode, lost, counted, np.unique(weights))
    if mode in ("dropped", "reset"):
        assert lost  # the link did break
