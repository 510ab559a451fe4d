"""What the fault tests train: weights on two parameter servers whose end is known exactly.

    ebbflow launch --ps 2 --workers 2 tests/cluster/fault_program.py FOLDER sync|async|backup STEPS FAULTS [WITHOUT]

The gradient of step s is s % 5 + 1 for one variable and 2 for the other, in sync times 1 at the first worker and times
3 at the second, and all numbers are small multiples of a power of two: after n steps in sync the weights are known to
the last bit, whatever was killed, redone or computed twice on the way. FAULTS is a list of `task:signal`; a task that
is named sends itself the signal, in its first generation, once half of the steps are done. `chief:between` kills it
when one parameter server was told to take the step and the other was not; `worker1:twice` kills the second worker when
it has given a gradient, and has the first wait until it is started again and has given the same once more. `ps0:full`
lets the first parameter server write no file from half of the steps on until three quarters are done. WITHOUT
takes a safeguard away, to see that it is missed: `one_each` or `adoption`. Each worker notes its steps, and the chief
prints what the checkpoint has.
"""

import json
import os
import resource
import signal
import sys
import threading
import time

import numpy as np
import tensorflow.compat.v1 as tf

from ebbflow.cluster import peers
from ebbflow.monitored import live_state
from ebbflow.ops.queues import givers

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.INFO)
folder, kind, last, faults = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
without = sys.argv[5] if len(sys.argv) > 5 else ""
config = json.loads(os.environ["TF_CONFIG"])
job, index = config["task"]["type"], config["task"]["index"]
cluster = tf.train.ClusterSpec(config["cluster"])
server = tf.train.Server(cluster, job_name=job, task_index=index)
RATE = 2.0**-6


def suffer(number: int) -> None:
    while not os.path.exists(f"{folder}/go"):
        time.sleep(0.005)
    os.kill(os.getpid(), number)


def half_done() -> bool:
    return os.path.exists(f"{folder}/go")


def die_between_two_servers() -> None:
    start, told = peers.RemotePeer.start, []

    def start_or_die(self, step, graph, fed, trace, done):
        if threading.current_thread().name.startswith("QueueRunner"):
            if told == [step.number] and half_done():  # the other server was told to take this very step
                threading.Thread(target=die_when_it_is_taken).start()
                threading.Event().wait()
            told[:] = [step.number]
        start(self, step, graph, fed, trace, done)

    peers.RemotePeer.start = start_or_die


def die_when_it_is_taken() -> None:
    done = [notes.read[1] for notes in optimizer._notes]
    wait_until(lambda looking: len(set(looking.run(done))) > 1)
    os.kill(os.getpid(), signal.SIGKILL)


def die_after_giving() -> None:
    while not half_done():
        time.sleep(0.005)
    counts = [count for notes in optimizer._notes for count in notes.counts]
    wait_until(lambda looking: min(looking.run(counts)) == 1)  # the first worker gives nothing meanwhile
    os.kill(os.getpid(), signal.SIGKILL)


def wait_until(seen) -> None:
    with tf.Session(server.target, graph=step.graph) as looking:
        while not seen(looking):
            time.sleep(0.05)


def write_nothing_for_a_while() -> None:
    while not half_done():
        time.sleep(0.005)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    open(f"{folder}/full", "a").close()
    while not os.path.exists(f"{folder}/space"):
        time.sleep(0.005)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def wait_for_the_other() -> None:
    with tf.Session(server.target, graph=step.graph) as looking:
        now = looking.run(step)
        while not os.path.exists(f"{folder}/again"):
            time.sleep(0.01)
        time.sleep(1.0)
        while without == "one_each" and looking.run(step) == now:  # it is taken with two gradients of the other
            time.sleep(0.05)


if without == "one_each":
    givers.giver = lambda run: None
if without == "adoption":
    live_state.LiveState.adopt = lambda self, ready: False
first = os.environ["EBBFLOW_GENERATION"] == "0"
if first and faults == "chief:between" and (job, index) == ("worker", 0):
    die_between_two_servers()
elif faults == "worker1:twice" and (job, index) == ("worker", 1):
    if first:
        threading.Thread(target=die_after_giving, daemon=True).start()
elif faults == "ps0:full" and (job, index) == ("ps", 0):
    threading.Thread(target=write_nothing_for_a_while, daemon=True).start()
elif first and ":SIG" in faults:
    for fault in filter(None, faults.split(",")):
        named, _, name = fault.partition(":")
        if named == f"{job}{index}":
            threading.Thread(target=suffer, args=(getattr(signal, name),), daemon=True).start()
if job == "ps":
    server.join()


def built():
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [6, 4], initializer=tf.zeros_initializer(), partitioner=tf.fixed_size_partitioner(2))
    b = tf.get_variable("b", [4], initializer=tf.zeros_initializer())
    factor = tf.cast(step % 5 + 1, tf.float32) if kind != "async" else 1.0
    loss = tf.reduce_sum(tf.convert_to_tensor(w)) * factor + 2.0 * tf.reduce_sum(b)
    if kind == "sync":
        loss *= 2.0 * index + 1.0
    optimizer, hooks = tf.train.GradientDescentOptimizer(RATE), [tf.train.StopAtStepHook(last_step=last)]
    workers = cluster.num_tasks("worker")
    if kind != "async":
        needed = workers - 1 if kind == "backup" else workers
        optimizer = tf.train.SyncReplicasOptimizer(optimizer, needed, workers)
    train = optimizer.minimize(loss, step)
    if kind != "async":
        hooks.append(optimizer.make_session_run_hook(index == 0))
    return step, train, hooks, optimizer


def note(step: int) -> None:
    if os.environ.get("EBBFLOW_EVENTS"):
        entry = {"time": time.time(), "task": f"{job} {index}", "event": "step", "step": step}
        with open(os.environ["EBBFLOW_EVENTS"], "a") as file:
            file.write(json.dumps(entry) + "\n")


with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}")):
    step, train, hooks, optimizer = built()
scaffold = tf.train.Scaffold(saver=tf.train.Saver(sharded=True, max_to_keep=3))
alone = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
with tf.train.MonitoredTrainingSession(
    server.target, is_chief=index == 0, hooks=hooks, config=alone, scaffold=scaffold, checkpoint_dir=f"{folder}/saved",
    save_checkpoint_steps=20, save_checkpoint_secs=None, save_summaries_steps=None, log_step_count_steps=None,
) as session:  # fmt: skip
    if not first:
        open(f"{folder}/again", "a").close()
    session.run(step)  # one that is started again after the last step stops here: the others may be gone
    while not session.should_stop():
        now, _ = session.run([step, train])
        note(int(now))
        if now >= last // 2 and not half_done() and (index == 0 or faults != "worker1:twice"):
            open(f"{folder}/go", "a").close()
            if faults == "worker1:twice":
                wait_for_the_other()
        if faults == "ps0:full" and last // 2 <= now < last // 2 + 3:
            while not os.path.exists(f"{folder}/full"):
                time.sleep(0.005)
        if now >= last * 3 // 4:
            open(f"{folder}/space", "a").close()
        if kind == "backup" and index == cluster.num_tasks("worker") - 1:
            time.sleep(0.2)  # the straggler
        time.sleep(0.004)
if index == 0:
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(f"{folder}/saved"))
    w, b = reader.get_tensor("w"), reader.get_tensor("b")
    done = int(reader.get_tensor("global_step"))
    alike = bool(np.all(w == w[0, 0]) and np.all(b == b[0]))
    print("RESULT", json.dumps([done, float(w[0, 0] / -RATE), float(b[0] / -RATE), alike]))
