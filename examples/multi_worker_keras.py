"""A Keras model trained by several workers that keep their weights alike, and the same again as a loop of one's own.

    ebbflow launch -n 2 examples/multi_worker_keras.py

starts two processes with this script; TF_CONFIG tells each which worker it is. A batch of 64 is divided among the
workers, gradients are summed over them, and all have the same weights after every step. A worker that fails ends the
others; all start again and go on where the last finished epoch was saved (BackupAndRestore).
"""

import os
import sys
import tempfile
import warnings
import zlib

import numpy as np
import tensorflow as tf

warnings.simplefilter("ignore", UserWarning)
strategy = tf.distribute.MultiWorkerMirroredStrategy()
worker = strategy.cluster_resolver.task_id or 0
backup = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
random = np.random.RandomState(0)
points = random.uniform(-1, 1, [1024, 2]).astype("float32")
inside = (np.hypot(*points.T) < 0.7).astype("int64")
dataset = tf.data.Dataset.from_tensor_slices((points, inside)).batch(64)


def crc(weights):
    return zlib.crc32(b"".join(np.ascontiguousarray(w).tobytes() for w in weights))


class FailOnce(tf.keras.callbacks.Callback):
    """Ends the last worker in the middle of an epoch, when asked to by FAIL_AT_EPOCH, in the first generation only."""

    def on_epoch_begin(self, epoch, logs=None):
        first = os.environ.get("EBBFLOW_GENERATION", "0") == "0"
        last = worker == strategy.num_replicas_in_sync - 1
        if first and last and str(epoch) == os.environ.get("FAIL_AT_EPOCH"):
            os._exit(9)


def with_fit():
    tf.keras.utils.set_random_seed(1)
    with strategy.scope():
        model = tf.keras.Sequential(
            [tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(2, activation="softmax")]
        )
        model.compile(tf.keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy", metrics=["accuracy"])
    keep = tf.keras.callbacks.BackupAndRestore(os.path.join(backup, f"worker-{worker}"))
    history = model.fit(dataset, epochs=6, verbose=0, callbacks=[keep, FailOnce()]).history
    print(f"fit: accuracy above 0.85: {history['accuracy'][-1] > 0.85}; weights {crc(model.get_weights()):08x}")


def with_a_loop():
    with strategy.scope():
        kernel = tf.Variable(tf.random.stateless_normal([2, 16], [1, 2]))
        bias = tf.Variable(tf.zeros([16]))
        out = tf.Variable(tf.random.stateless_normal([16, 2], [3, 4]))
    variables = [kernel, bias, out]

    def replica(x, y):
        with tf.GradientTape() as tape:
            logits = tf.nn.relu(x @ kernel + bias) @ out
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
            loss = tf.nn.compute_average_loss(losses, global_batch_size=64)
        gradients = tape.gradient(loss, variables)
        for v, g in zip(variables, tf.distribute.get_replica_context().all_reduce("SUM", gradients)):
            v.assign_sub(0.5 * g)
        return loss

    @tf.function
    def step(x, y):
        return strategy.reduce("SUM", strategy.run(replica, (x, y)), axis=None)

    for _ in range(4):
        losses = [float(step(x, y)) for x, y in strategy.experimental_distribute_dataset(dataset)]
    print(f"loop: loss below 0.45: {np.mean(losses) < 0.45}; weights {crc([v.numpy() for v in variables]):08x}")


print(f"worker {worker}: {strategy.num_replicas_in_sync} replicas")
with_fit()
with_a_loop()
