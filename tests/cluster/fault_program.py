"""What the fault tests train: weights on two parameter servers whose end is known exactly.

    ebbflow launch --ps 2 --workers 2 tests/cluster/fault_program.py FOLDER sync|async|backup STEPS FAULTS

The gradient of step s is s % 5 + 1 for one variable and 2 for the other, whoever computes it, and all numbers are small
multiples of a power of two: after n steps in sync the weights are known to the last bit, whatever was killed, redone or
computed twice on the way. FAULTS is a list of `task:signal`; a task that is named sends itself the signal, in its first
generation, once half of the steps are done. Each worker notes its steps, and the chief prints what the checkpoint has.
"""

import json
import os
import signal
import sys
import threading
import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
folder, kind, last, faults = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
config = json.loads(os.environ["TF_CONFIG"])
job, index = config["task"]["type"], config["task"]["index"]
cluster = tf.train.ClusterSpec(config["cluster"])
server = tf.train.Server(cluster, job_name=job, task_index=index)
RATE = 2.0**-6


def suffer(number: int) -> None:
    while not os.path.exists(f"{folder}/go"):
        time.sleep(0.005)
    os.kill(os.getpid(), number)


if os.environ["EBBFLOW_GENERATION"] == "0":
    for fault in filter(None, faults.split(",")):
        task, _, name = fault.partition(":")
        if task == f"{job}{index}":
            threading.Thread(target=suffer, args=(getattr(signal, name),), daemon=True).start()
if job == "ps":
    server.join()


def built():
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [6, 4], initializer=tf.zeros_initializer(), partitioner=tf.fixed_size_partitioner(2))
    b = tf.get_variable("b", [4], initializer=tf.zeros_initializer())
    factor = tf.cast(step % 5 + 1, tf.float32) if kind != "async" else 1.0
    loss = tf.reduce_sum(tf.convert_to_tensor(w)) * factor + 2.0 * tf.reduce_sum(b)
    optimizer, hooks = tf.train.GradientDescentOptimizer(RATE), [tf.train.StopAtStepHook(last_step=last)]
    workers = cluster.num_tasks("worker")
    if kind != "async":
        needed = workers - 1 if kind == "backup" else workers
        optimizer = tf.train.SyncReplicasOptimizer(optimizer, needed, workers)
    train = optimizer.minimize(loss, step)
    if kind != "async":
        hooks.append(optimizer.make_session_run_hook(index == 0))
    return step, train, hooks


def note(step: int) -> None:
    if os.environ.get("EBBFLOW_EVENTS"):
        entry = {"time": time.time(), "task": f"{job} {index}", "event": "step", "step": step}
        with open(os.environ["EBBFLOW_EVENTS"], "a") as file:
            file.write(json.dumps(entry) + "\n")


with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}")):
    step, train, hooks = built()
scaffold = tf.train.Scaffold(saver=tf.train.Saver(sharded=True, max_to_keep=3))
alone = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
with tf.train.MonitoredTrainingSession(
    server.target, is_chief=index == 0, hooks=hooks, config=alone, scaffold=scaffold, checkpoint_dir=f"{folder}/saved",
    save_checkpoint_steps=20, save_checkpoint_secs=None, save_summaries_steps=None, log_step_count_steps=None,
) as session:  # fmt: skip
    while not session.should_stop():
        now, _ = session.run([step, train])
        note(int(now))
        if now >= last // 2:
            open(f"{folder}/go", "a").close()
        if kind == "backup" and index == cluster.num_tasks("worker") - 1:
            time.sleep(0.2)  # the straggler
        time.sleep(0.004)
if index == 0:
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(f"{folder}/saved"))
    w, b = reader.get_tensor("w"), reader.get_tensor("b")
    done = int(reader.get_tensor("global_step"))
    alike = bool(np.all(w == w[0, 0]) and np.all(b == b[0]))
    print("RESULT", json.dumps([done, float(w[0, 0] / -RATE), float(b[0] / -RATE), alike]))
