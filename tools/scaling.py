"""What 1 to 4 processes of this machine do together, beside what `ebbflow simulate` says of them and of larger jobs.

    python tools/scaling.py docs/guides          # measures, and writes the plots of docs/guides/scaling.md

The net is one layer of 512 x 512 with a batch of 1,024 rows, 1 MB of weights. What a step costs, what a message costs
and how many bytes a second go from process to process are measured first; the simulator is told these and how many
cores there are, and nothing of the jobs that are then measured.
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

SIZE, ROWS, SECONDS = 512, 1024, 2.5


def step_of(tf: Any) -> Any:
    """Return a function that computes a gradient of the weights that it is given."""
    x = tf.constant([[(i * 7 + j * 3) % 11 / 11 for j in range(SIZE)] for i in range(ROWS)], tf.float32)
    return lambda w: tf.matmul(x, tf.tanh(tf.matmul(x, w)), transpose_a=True) / ROWS


def servers() -> None:
    """Be a task of a job with parameter servers."""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    config = json.loads(os.environ["TF_CONFIG"])
    job, index = config["task"]["type"], config["task"]["index"]
    cluster = tf.train.ClusterSpec(config["cluster"])
    server = tf.train.Server(cluster, job, index)
    if job == "ps":
        server.join()
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}")):
        w = tf.get_variable("w", [SIZE, SIZE], initializer=tf.zeros_initializer(), use_resource=True)
        count = tf.train.get_or_create_global_step()
        train = tf.group(w.assign_sub(step_of(tf)(w.read_value())), count.assign_add(1, use_locking=True))
    alone = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
    with tf.train.MonitoredTrainingSession(server.target, is_chief=index == 0, config=alone) as session:
        timed(lambda: session.run(train), lambda: int(session.run(count)), index)


def replicas() -> None:
    """Be a worker of a job that sums gradients round a ring."""
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    gradient = step_of(tf)
    with strategy.scope():
        w = tf.Variable(tf.zeros([SIZE, SIZE]))

    @tf.function
    def step() -> Any:
        def one() -> None:
            total = tf.distribute.get_replica_context().all_reduce("MEAN", gradient(w.read_value()))
            w.assign_sub(total)

        strategy.run(one)

    done = [0]

    def run() -> None:
        step()
        done[0] += 1

    for _ in range(4):
        run()
    begun, first = time.perf_counter(), done[0]
    for _ in range(20):  # as often in all workers
        run()
    index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    if index == 0:
        print("RATE", (done[0] - first) / (time.perf_counter() - begun), flush=True)


def timed(run: Any, count: Any, index: int) -> None:
    """Run for some seconds, and say how much all workers did meanwhile."""
    for _ in range(4):
        run()
    begun, first = time.perf_counter(), count()
    while time.perf_counter() - begun < SECONDS:
        run()
    if index == 0:
        print("RATE", (count() - first) / (time.perf_counter() - begun), flush=True)
    while time.perf_counter() - begun < SECONDS + 1.0:  # the others are measured yet
        run()


def launched(*words: str) -> float:
    """Run a job of this file, and return what its first worker found."""
    here = str(pathlib.Path(__file__).resolve())
    command = [sys.executable, "-m", "ebbflow", "launch", "--tf", "2", *words[:-1], here]
    done = subprocess.run(
        [*command, "--role", words[-1]], capture_output=True, text=True, timeout=240,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if "RATE" in line]
    if not lines:
        raise SystemExit(f"{words}: {done.stdout}{done.stderr}")
    return float(lines[0].partition("RATE ")[2])


def compute_seconds() -> float:
    """Return what one step costs a process that speaks to nobody."""
    program = (
        f"import time, runpy; g = runpy.run_path({str(pathlib.Path(__file__).resolve())!r}); import ebbflow as tf\n"
        "f = g['step_of'](tf); w = tf.Variable(tf.zeros([g['SIZE']] * 2))\n"
        "step = tf.function(lambda: w.assign_sub(f(w)))\n"
        "[step() for _ in range(5)]; times = []\n"
        "for _ in range(30):\n    t = time.perf_counter(); step(); times.append(time.perf_counter() - t)\n"
        "print(sorted(times)[10])"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=environment)
    return float(done.stdout)


def message_costs() -> tuple[float, float]:
    """Return what a message costs, and how many bytes a second go from process to process."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import cluster_speed

    found = cluster_speed.measured("ps", [sys.executable, "-m", "ebbflow", "run", "--tf", "2"])
    small, large = 1 / found["4 KB"], 1 / found["4 MB"]
    return small / 3, 2 * 4 * 2**20 / (large - small)


def main() -> None:
    """Measure, simulate, and write what is shown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", help="where the plots go")
    parser.add_argument("--role", choices=("servers", "replicas"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role:
        return {"servers": servers, "replicas": replicas}[options.role]()
    from ebbflow.doors.simulate import Costs, svg, table

    latency, bandwidth = message_costs()
    here = Costs(compute_seconds(), SIZE * SIZE * 4.0, bandwidth, latency, servers=1, cores=os.cpu_count() or 1)
    print(f"measured: step {here.compute * 1e3:.1f} ms, message {latency * 1e6:.0f} us, {bandwidth / 1e9:.2f} GB/s")
    counts = [1, 2, 3, 4]
    measured = {
        "ps": [launched("--ps", "1", "--workers", str(n), "servers") for n in counts],
        "ring": [launched("-n", str(n), "replicas") * n for n in counts],
    }
    lines: dict[str, Any] = {}
    for kind, rates in measured.items():
        found = [o.steps_per_second * (1 if kind == "ps" else o.workers) for o in table(kind, counts, here)]
        lines[f"{kind} simulated"] = list(zip(counts, found, strict=True))
        lines[f"{kind} measured"] = list(zip(counts, rates, strict=True))
        for n, told, seen in zip(counts, found, rates, strict=True):
            print(f"{kind:5s} {n} workers: simulated {told:6.1f} batches/s, measured {seen:6.1f} ({told / seen:.2f})")
    folder = pathlib.Path(options.folder or ".")
    title = f"one machine, {here.cores} cores: batches a second"
    dots = [name for name in lines if "measured" in name]
    (folder / "scaling_measured.svg").write_text(svg(title, lines, "workers", "batches/s", dots))
    return write_plots(folder)


def write_plots(folder: pathlib.Path) -> None:
    """Write what larger jobs would do: by kind, by size of the model, by bandwidth, and with stragglers."""
    from ebbflow.doors.simulate import KINDS, Costs, svg, table

    def line(kind: str, **changes: float) -> list[tuple[float, float]]:
        counts = [1, 8, 64, 512, 2048] if changes else [1, 8, 64, 512, 4096, 10000]
        found = table(kind, counts, Costs()._replace(**changes), seeds=1)
        return [(o.workers, o.steps_per_second * (1 if kind == "ps" else o.workers)) for o in found]

    both = ("ring", "ps")
    plots = {
        "kinds": {kind: line(kind) for kind in KINDS},
        "models": {f"{kind}, {mb} MB": line(kind, model=mb * 1e6) for kind in both for mb in (10, 100, 1000)},
        "bandwidth": {f"{kind}, {g} Gb/s": line(kind, bandwidth=g / 8 * 1e9) for kind in both for g in (1, 10, 100)},
        "stragglers": {
            f"{kind}, {s:.0%} slow": line(kind, stragglers=s) for kind in (*both, "ps-sync") for s in (0, 0.01)
        },
    }
    for name, lines in plots.items():
        (folder / f"scaling_{name}.svg").write_text(svg(f"batches a second: {name}", lines, "workers", "batches/s"))


if __name__ == "__main__":
    main()
