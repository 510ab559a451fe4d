"""How quick processes are together: pull and push of a variable on a parameter server, sums over two workers, a net.

    python tools/cluster_speed.py                          # Ebbflow
    python tools/cluster_speed.py --reference PYTHON       # and TensorFlow, in an environment that has it, by turns

The same program runs on both. Pull and push (P1) is one session run: the worker reads a variable, and what it computes
from it is subtracted at the ps; P4 is a hundred variables of 4 KB against one of 400 KB, and `monitored` (P3) the step
of 4 KB in a MonitoredTrainingSession, whose difference to a plain session is what tolerance of faults costs. Sums (P2)
are of MultiWorkerMirroredStrategy, in a function. `net` is what two workers do together that train a net of two layers
(784, 100, 10; batches of 100) with one ps and wait for nobody. Each figure is the best of a few turns, because machines
are never quiet.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

SIZES = {"4 KB": 1 << 10, "1 MB": 1 << 18, "4 MB": 1 << 20, "64 MB": 1 << 24}
SUMS = {"1 MB": 1 << 18, "16 MB": 1 << 22, "64 MB": 1 << 24}
SECONDS = 0.7


def rate(run: Any) -> float:
    """Return how often a second something runs: the best of three spells."""
    for _ in range(4):
        run()
    best = 0.0
    for _ in range(3):
        count, begun = 0, time.perf_counter()
        while time.perf_counter() - begun < SECONDS:
            run()
            count += 1
        best = max(best, count / (time.perf_counter() - begun))
    return best


def parameter_server() -> None:
    """Be the ps, or the worker that measures."""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    config = json.loads(os.environ["TF_CONFIG"])
    task = config["task"]["type"]
    server = tf.train.Server(tf.train.ClusterSpec(config["cluster"]), task, 0)
    if task == "ps":
        server.join()
    found = {}
    cases = {**{name: [size] for name, size in SIZES.items()}, "100 x 4 KB": [1 << 10] * 100, "400 KB": [100 << 10]}
    for number, (name, sizes) in enumerate(cases.items()):
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                variables = [tf.get_variable(f"v{number}_{i}", [n], use_resource=True) for i, n in enumerate(sizes)]
            with tf.device("/job:worker/task:0"):
                pushed = [v.read_value() * 0.5 for v in variables]
            with tf.device("/job:ps/task:0"):
                step = tf.group(*[v.assign_sub(p, read_value=False) for v, p in zip(variables, pushed)])
            with tf.Session(server.target) as session:
                session.run(tf.global_variables_initializer())
                found[name] = rate(session.make_callable(step))
                if len(found) == 1:
                    found["monitored"] = monitored(server.target, step)
    print("FOUND", json.dumps(found), flush=True)
    os._exit(0)


def monitored(target: str, step: Any) -> float:
    """Return how often a second the step runs in a session that recovers from faults."""
    import tensorflow.compat.v1 as tf

    with tf.device("/job:ps/task:0"):
        tf.train.get_or_create_global_step()
    with tf.train.MonitoredTrainingSession(target, log_step_count_steps=None) as session:
        return rate(lambda: session.run(step))


def net() -> None:
    """Be the ps, or one of two workers that train out of step; the first measures."""
    import numpy as np
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    config = json.loads(os.environ["TF_CONFIG"])
    cluster, task = tf.train.ClusterSpec(config["cluster"]), config["task"]
    server = tf.train.Server(cluster, task["type"], task["index"])
    if task["type"] == "ps":
        server.join()
    chance = np.random.RandomState(task["index"])
    rows, labels = chance.rand(100, 784).astype("f"), chance.randint(10, size=100)
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{task['index']}")):
        x, y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
        count = tf.train.get_or_create_global_step()
        hidden = tf.nn.relu(tf.matmul(x, tf.get_variable("w", [784, 100])) + tf.get_variable("b", [100]))
        logits = tf.matmul(hidden, tf.get_variable("v", [100, 10])) + tf.get_variable("c", [10])
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, count)
    best = 0.0
    with tf.train.MonitoredTrainingSession(server.target, task["index"] == 0, log_step_count_steps=None) as session:
        for _ in range(3 if task["index"] == 0 else 10**9):  # the second goes on until it is ended
            begun, first = time.perf_counter(), session.run(count)
            while time.perf_counter() - begun < 3 * SECONDS:
                session.run(train, {x: rows, y: labels})
            best = max(best, (session.run(count) - first) / (time.perf_counter() - begun))
        print("FOUND", json.dumps({"1 + 2": best}), flush=True)
        os._exit(0)


def sums() -> None:
    """Be one of two workers."""
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    found = {}
    for name, size in SUMS.items():
        values = tf.ones([size])

        @tf.function
        def total(values: Any) -> Any:
            return strategy.run(
                lambda x: tf.distribute.get_replica_context().all_reduce("SUM", tf.identity(x)), (values,)
            )

        times = []
        for _ in range(12):  # as often in both workers
            begun = time.perf_counter()
            total(values)
            times.append(time.perf_counter() - begun)
        found[name] = size * 4 / min(times) / 1e9
    print("FOUND", json.dumps(found), flush=True)


def measured(what: str, command: list[str]) -> dict[str, float]:
    """Run processes of this file, and return what the one that measures found: the last."""
    from ebbflow.doors.launch import free_ports  # the processes measured may have TensorFlow alone

    tasks = {
        "ps": [("ps", 0), ("worker", 0)], "sums": [("worker", 1), ("worker", 0)],
        "net": [("ps", 0), ("worker", 1), ("worker", 0)],
    }[what]  # fmt: skip
    jobs: dict[str, list[str]] = {}
    for (job, _), port in zip(tasks, free_ports(len(tasks)), strict=True):
        jobs.setdefault(job, []).append(f"localhost:{port}")
    running = []
    for job, index in tasks:
        config = json.dumps({"cluster": jobs, "task": {"type": job, "index": index}})
        environment = {**os.environ, "TF_CONFIG": config, "TF_CPP_MIN_LOG_LEVEL": "3"}
        words = [*command, str(pathlib.Path(__file__).resolve()), "--role", what]
        running.append(
            subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        )
    try:
        text, _ = running[-1].communicate(timeout=240)
        return json.loads(text.partition("FOUND ")[2].splitlines()[0])
    finally:
        for process in running:
            process.kill()
            process.communicate()


def print_tolerance(best: dict[str, dict[str, float]]) -> None:
    """Say what a step costs more in a session that recovers, as a share of a step of 10 ms."""
    for name, values in best.items():
        more = 1000 / values["monitored"] - 1000 / values["4 KB"]
        print(f"tolerance of faults  {name}: {more:.3f} ms a step, {more / 10:.2%} of a step of 10 ms", flush=True)


def main() -> None:
    """Measure by turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", metavar="PYTHON", help="a python that has TensorFlow")
    parser.add_argument("--turns", type=int, default=2, help="how often each is measured")
    parser.add_argument("--role", choices=("ps", "sums", "net"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role:
        return {"ps": parameter_server, "sums": sums, "net": net}[options.role]()
    commands = {"Ebbflow": [sys.executable, "-m", "ebbflow", "run", "--tf", "2"]}
    if options.reference:
        commands["TensorFlow"] = [options.reference]
    for what, unit in (("ps", "updates/s"), ("sums", "GB/s"), ("net", "steps/s")):
        best: dict[str, dict[str, float]] = {name: {} for name in commands}
        for _ in range(options.turns):
            for name, command in commands.items():
                for case, value in measured(what, command).items():
                    best[name][case] = max(best[name].get(case, 0.0), value)
        for case in best["Ebbflow"]:
            line = "  ".join(f"{name} {values[case]:9.2f}" for name, values in best.items())
            ratio = best["Ebbflow"][case] / best["TensorFlow"][case] if options.reference else None
            print(f"{what:4s} {case:>10s}  {line} {unit}" + (f"  ratio {ratio:.2f}" if ratio else ""), flush=True)
        if what == "ps":
            print_tolerance(best)
    return None


if __name__ == "__main__":
    main()
