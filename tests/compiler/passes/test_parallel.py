"""Heavy work side by side: what is put together, what is not, and the same results and errors."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow.compiler import parallel_regions
from ebbflow.compiler.passes import optimise, parallel
from ebbflow.compiler.passes.verify import verify
from ebbflow.core import errors
from ebbflow.platform import config, threads
from tests.compiler.passes.test_passes import flow_of

tf = tf2.compat.v1
BIG, SMALL = (200, 1000), (10, 10)


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    monkeypatch.setattr(config, "wishes", config.Wishes())
    config.set_inter_op_parallelism_threads(2)
    with tf.Graph().as_default():
        yield


def inputs(dims=BIG):
    return tf.placeholder(tf.float32, dims), tf.placeholder(tf.float32, dims)


def chains(x, y):
    return tf.cumsum(tf.nn.top_k(x, 1000)[0], 1), tf.cumsum(y, 1)


TEAMS = {  # what is written: (of what size, results, how many run side by side)
    "two scans": (BIG, lambda x, y: [tf.cumsum(x), tf.cumsum(y)], 2),
    "of the same": (BIG, lambda x, y: [tf.cumsum(x), tf.cumsum(x, 1)], 2),
    "chains": (BIG, lambda x, y: list(chains(x, y)), 2),
    "three": (BIG, lambda x, y: [tf.cumsum(x), tf.cumsum(y), tf.nn.top_k(x)[0]], 3),
    "one depends on the other": (BIG, lambda x, y: [tf.cumsum(tf.cumsum(x) + y)], 0),
    "one alone": (BIG, lambda x, y: [tf.cumsum(x), x + y], 0),
    "small": (SMALL, lambda x, y: [tf.cumsum(x), tf.cumsum(y)], 0),
    "products use all cores": (BIG, lambda x, y: [tf.matmul(x, x, transpose_b=True), tf.matmul(y, y, True)], 0),
    "small matrices": ((64, 32, 32), lambda x, y: [tf.linalg.svd(x, compute_uv=False), tf.linalg.inv(y)], 2),
    "large matrices use all cores": ((200, 200), lambda x, y: [tf.linalg.svd(x, compute_uv=False)], 0),
    "what comes after joins": (BIG, lambda x, y: [tf.add(*chains(x, y))], 2),
}


@pytest.mark.parametrize("name", TEAMS)
def test_what_runs_side_by_side(name, monkeypatch):
    monkeypatch.setenv("EBBFLOW_CHECK", "1")
    dims, write, count = TEAMS[name]
    x, y = inputs(dims)
    fetches = write(x, y)
    after = optimise(flow_of(fetches, [x, y]), ["cluster"])
    verify(after, "parallel")
    teams = [node for node in after.nodes if node.op is parallel.TOGETHER]
    assert sum(len(node.attrs["regions"]) for node in teams) == count
    rng = np.random.RandomState(0)
    fed = {x: rng.rand(*dims) + 4 * np.eye(*dims[-2:]), y: rng.rand(*dims) + 4 * np.eye(*dims[-2:])}
    off = tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))
    with tf.Session() as session, tf.Session(config=tf.ConfigProto(graph_options=off)) as plain:
        for _ in range(3):
            for one, other in zip(session.run(fetches, fed), plain.run(fetches, fed), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_it_can_be_switched_off():
    x, y = inputs()
    assert not any(n.op is parallel.TOGETHER for n in optimise(flow_of(list(chains(x, y)), [x, y]), ["parallel"]).nodes)
    config.set_inter_op_parallelism_threads(1)
    assert not any(n.op is parallel.TOGETHER for n in optimise(flow_of(list(chains(x, y)), [x, y])).nodes)


def test_threads_are_used(monkeypatch):
    seen, both = set(), threading.Barrier(2, timeout=30)
    run = parallel_regions.Together._run

    def watched(self, number, arrays, results):
        both.wait()  # passes only if two run at once
        seen.add(threading.current_thread().name)
        run(self, number, arrays, results)

    monkeypatch.setattr(parallel_regions.Together, "_run", watched)
    x, y = inputs()
    fetches = list(chains(x, y))
    with tf.Session() as session:
        for _ in range(2):
            session.run(fetches, {x: np.ones(BIG), y: np.ones(BIG)})
    assert len(seen) == 2


def test_state_stays_in_order(monkeypatch):
    monkeypatch.setenv("EBBFLOW_CHECK", "1")
    x, y = inputs()
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
    first = tf.cumsum(x + v.read_value())
    with tf.control_dependencies([v.assign_add(1.0)]):
        second = tf.cumsum(y + v.read_value())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for count in range(3):
            a, b = session.run([first[0, 0], second[0, 0]], {x: np.zeros(BIG), y: np.zeros(BIG)})
            assert (a, b) == (count, count + 1)


def test_an_error_names_its_node():
    x = tf.placeholder(tf.float32, BIG)
    i = tf.placeholder(tf.int32, [200_000])
    fetches = [tf.cumsum(x), tf.gather(tf.zeros([10]), i, name="picked")]
    with tf.Session() as session:
        session.run(fetches, {x: np.ones(BIG), i: np.zeros(200_000)})
        for _ in range(2):
            with pytest.raises(errors.InvalidArgumentError, match=r"is not in \[0, 10\)[\s\S]*node picked"):
                session.run(fetches, {x: np.ones(BIG), i: np.full(200_000, 10)})


def test_a_session_says_how_many():
    with tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=5)):
        assert threads.between_ops() == 5 == tf2.config.threading.get_inter_op_parallelism_threads()


# --- forked processes ------------------------------------------------------------------------------------------------

FORKED = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")  # jax warns of what is tried here
import numpy as np
import ebbflow as tf
from ebbflow.compiler import clusters
from ebbflow.platform import threads

threads.config.set_inter_op_parallelism_threads(2)
x = np.random.RandomState(0).rand(600, 1000).astype("f")

@tf.function
def side_by_side(x):
    return tf.reduce_sum(tf.sort(x, 0)[0]) + tf.reduce_sum(tf.sort(x * 2.0, 1)[0])

@tf.function
def clustered(x):
    return tf.reduce_sum(tf.tanh(x + 1.0) * x)

def answers():
    for _ in range(3):
        given = [float(side_by_side(x)), float(clustered(x))]
    return given

expected = answers()
if sys.argv[1] == "xla":
    compiled = tf.function(lambda x: tf.tanh(x) + 1.0, jit_compile=True)
    compiled(x)
    clusters.settle()
    for _ in range(2 * clusters.TRIALS):
        clustered(x)
child = os.fork()
if not child:
    signal.alarm(60)
    right = bool(np.allclose(answers(), expected, rtol=1e-4))
    if sys.argv[1] == "xla":
        for function in (compiled, tf.function(lambda x: tf.exp(x), jit_compile=True)):
            try:
                function(x)
                right = False
            except tf.errors.FailedPreconditionError as error:
                right = right and "forked" in str(error)
    os._exit(int(not right))
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.parametrize("engine", ["host", "xla"])
def test_a_forked_process_does_without_the_threads(engine):
    env = {**os.environ, "EBBFLOW_ENGINES": "host,onednn,xla"}
    root = pathlib.Path(__file__).resolve().parent.parent.parent.parent
    ran = subprocess.run([sys.executable, "-c", FORKED, engine], capture_output=True, text=True, env=env, cwd=root)
    assert ran.stdout.split() == ["0"], ran.stderr
