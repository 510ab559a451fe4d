"""What two workers find: run by TensorFlow to record its answers, and by the tests."""

import os, sys
import numpy as np
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank = strategy.cluster_resolver.task_id
facts = {}
facts["what"] = [
    strategy.num_replicas_in_sync,
    strategy.extended.should_checkpoint,
    strategy.extended._in_multi_worker_mode(),
]
for policy in ("AUTO", "DATA", "OFF"):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = getattr(tf.data.experimental.AutoShardPolicy, policy)
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(10).batch(4).with_options(options))
    facts[policy] = [strategy.experimental_local_results(x)[0].numpy().tolist() for x in dataset]
made = strategy.distribute_datasets_from_function(
    lambda c: tf.data.Dataset.range(c.input_pipeline_id, 10, c.num_input_pipelines).batch(2)
)
facts["function"] = [strategy.experimental_local_results(x)[0].numpy().tolist() for x in made]
with strategy.scope():
    v = tf.Variable(float(rank + 5))
    total = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    first = tf.Variable(1.0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
    mean = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)
    table = tf.Variable(np.zeros([3, 2], np.float32))
    flags = tf.Variable([rank == 0, True])
facts["initial"] = [float(v.numpy()), flags.numpy().tolist()]
facts["id"] = int(strategy.run(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group))
strategy.run(lambda: total.assign_add(rank + 1.0))
facts["sums"] = [
    float(total.read_value()),
    float(strategy.reduce("SUM", float(rank + 1), axis=None)),
    float(strategy.reduce("MEAN", tf.constant([1.0, 2.0 + rank]), axis=0)),
    float(strategy.reduce("MEAN", tf.constant(3.0 * rank), axis=None)),
]
facts["gather"] = strategy.gather(tf.constant([rank] * (rank + 1)), 0).numpy().tolist()


@tf.function
def step(x):
    def replica(x):
        with tf.GradientTape() as tape:
            rows = tf.gather(table, [rank, 2])
            loss = tf.reduce_sum((rows - x) ** 2) / 2
        (gradient,) = tape.gradient(loss, [table])
        context = tf.distribute.get_replica_context()
        gradient, twice = context.all_reduce("SUM", [tf.convert_to_tensor(gradient), 2.0 * x])
        one = context.all_reduce("SUM", tf.constant(1))
        first.assign(rank + 7.0)
        mean.assign(rank + 2.0)
        table.assign_sub(0.1 * gradient)
        both = context.all_gather(x[:1], 0)
        return loss, one + tf.cast(twice[0, 0], tf.int32), both

    loss, one, both = strategy.run(replica, (x,))
    return strategy.reduce("SUM", loss, axis=None), one, both


steps = [step(tf.constant([[1.0, 2.0], [3.0, 4.0]]) * (rank + 1)) for _ in range(3)]
facts["losses"] = [round(float(loss), 4) for loss, _, _ in steps]
facts["one"], facts["both"] = int(steps[0][1]), steps[0][2].numpy().tolist()
facts["written"] = [float(first.numpy()), float(mean.numpy())]
facts["table"] = np.round(table.numpy(), 4).tolist()
print("FACTS", facts)
