"""A classifier of two layers, trained by two workers that share their variables on a parameter server.

    ebbflow launch --ps 1 --workers 2 examples/parameter_server.py

starts three processes, each with this script, and tells each by TF_CONFIG which task it is. The variables lie on the
ps; every worker computes gradients of its own batches and applies them at once, without waiting for the other.
"""

import json
import os

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
STEPS = 200


def main():
    config = json.loads(os.environ["TF_CONFIG"])
    job, index = config["task"]["type"], config["task"]["index"]
    cluster = tf.train.ClusterSpec(config["cluster"])
    server = tf.train.Server(cluster, job_name=job, task_index=index)
    if job == "ps":
        server.join()

    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}")):
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.placeholder(tf.int64, [None])
        hidden = tf.layers.dense(x, 16, tf.nn.relu, name="hidden")
        logits = tf.layers.dense(hidden, 2, name="logits")
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, step)

    random = np.random.RandomState(index)
    hooks = [tf.train.StopAtStepHook(last_step=STEPS)]
    alone = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])  # no need to see the other worker
    with tf.train.MonitoredTrainingSession(server.target, is_chief=index == 0, hooks=hooks, config=alone) as session:
        while not session.should_stop():
            points = random.uniform(-1, 1, [64, 2]).astype(np.float32)
            inside = (np.hypot(*points.T) < 0.7).astype(np.int64)
            value, reached, _ = session.run([loss, step, train], {x: points, y: inside})
    print(f"worker {index} of {cluster.num_tasks('worker')}: step {reached}, loss {value:.3f}")


main()
