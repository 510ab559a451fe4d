"""Optimizers in replicas: gradients are summed, and every copy changes as the variable of one replica does."""

import pytest

import ebbflow as tf

pytestmark = pytest.mark.usefixtures("two_cpus")

v1 = tf.compat.v1.train
OPTIMIZERS = {
    "GradientDescent": lambda: v1.GradientDescentOptimizer(0.1),
    "Momentum": lambda: v1.MomentumOptimizer(0.1, 0.9),
    "Adam": lambda: v1.AdamOptimizer(0.1),
}


def trained(strategy, optimizer, wrap):
    x, y = tf.reshape(tf.range(8.0), [4, 2]) / 8, tf.constant([[1.0], [2.0], [3.0], [4.0]])
    with strategy.scope():
        w = tf.Variable([[0.5], [-0.5]])
        optimizer = OPTIMIZERS[optimizer]()
        steps = tf.Variable(0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
    size = 4 // strategy.num_replicas_in_sync

    def rows(context):
        start = context.replica_id_in_sync_group * size
        return x[start : start + size], y[start : start + size]

    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.matmul(x, w) - y) ** 2) / 4
        optimizer.apply_gradients([(tape.gradient(loss, w), w)], steps)
        return loss

    step = wrap(lambda rows: strategy.reduce("SUM", strategy.run(replica, rows), None))
    rows = strategy.experimental_distribute_values_from_function(rows)
    losses = [float(step(rows)) for _ in range(3)]
    assert int(steps) == 3
    return losses, w.numpy(), {s: optimizer.get_slot(w, s).numpy() for s in optimizer.get_slot_names()}


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("kind", ["Mirrored", "CentralStorage"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_replicas_train_as_one(optimizer, kind, wrap):
    if kind == "Mirrored":
        strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    else:
        strategy = tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"], "CPU:0")
    losses, w, slots = trained(strategy, optimizer, wrap)
    alone, w_alone, slots_alone = trained(tf.distribute.OneDeviceStrategy("/cpu:0"), optimizer, wrap)
    assert losses == pytest.approx(alone) and w == pytest.approx(w_alone)
    assert sorted(slots) == sorted(slots_alone)
    for name, slot in slots.items():
        assert slot == pytest.approx(slots_alone[name])
