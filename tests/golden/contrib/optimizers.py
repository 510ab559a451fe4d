"""Trajectories of `tf.contrib.opt`: some steps of each, of dense and sparse gradients and both kinds of variables."""

import numpy as np

OPTIMIZERS = {
    "LazyAdam": lambda opt, tf: opt.LazyAdamOptimizer(0.1),
    "LazyAdam betas": lambda opt, tf: opt.LazyAdamOptimizer(0.05, 0.8, 0.9, 1e-3),
    "AdamGS": lambda opt, tf: opt.AdamGSOptimizer(tf.train.get_or_create_global_step(), 0.1),
    "LazyAdamGS": lambda opt, tf: opt.LazyAdamGSOptimizer(tf.train.get_or_create_global_step(), 0.1),
    "AdaMax": lambda opt, tf: opt.AdaMaxOptimizer(0.1),
    "Nadam": lambda opt, tf: opt.NadamOptimizer(0.1),
    "AdamW": lambda opt, tf: opt.AdamWOptimizer(0.01, 0.1),
    "MomentumW": lambda opt, tf: opt.MomentumWOptimizer(0.01, 0.1, 0.9),
    "MomentumW nesterov": lambda opt, tf: opt.MomentumWOptimizer(0.01, 0.1, 0.9, use_nesterov=True),
    "extended": lambda opt, tf: opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)(
        weight_decay=0.02, learning_rate=0.1
    ),
    "LARS": lambda opt, tf: opt.LARSOptimizer(0.1),
    "LARS skips": lambda opt, tf: opt.LARSOptimizer(0.1, skip_list=["table"]),
    "RegAdagrad": lambda opt, tf: opt.RegAdagradOptimizer(0.1),
    "AddSign": lambda opt, tf: opt.AddSignOptimizer(0.1),
    "PowerSign": lambda opt, tf: opt.PowerSignOptimizer(0.1),
    "MovingAverage": lambda opt, tf: opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 0.8),
}
# TensorFlow does not say whether weights decay before or after gradients read them: slopes that do not depend on them
DECAYING = ("LARS skips", "AdamW", "MomentumW", "MomentumW nesterov", "extended")
DENSE_ONLY = ("LARS", "LARS skips", "AddSign", "PowerSign")


def trajectory(tf, opt, name, resource):
    """Return the variables after each of four steps."""
    graph = tf.Graph()
    with graph.as_default(), tf.Session(graph=graph) as session:
        weights = tf.get_variable("weights", initializer=np.float32([[1.0, -2.0], [0.5, 3.0]]), use_resource=resource)
        table = tf.get_variable(
            "table", initializer=np.arange(8, dtype=np.float32).reshape(4, 2) / 4, use_resource=resource
        )
        rows = table if name in DENSE_ONLY else tf.gather(table, [0, 2, 2])
        loss = tf.reduce_sum(tf.square(tf.matmul(rows, weights) - 1.0))
        if name in DECAYING:
            loss = tf.reduce_sum(weights * [[0.5, -1.0], [2.0, 0.1]]) + tf.reduce_sum(rows * [0.3, -0.7])
        optimizer = OPTIMIZERS[name](opt, tf)
        step = optimizer.minimize(loss, global_step=tf.train.get_global_step() if name.endswith("GS") else None)
        session.run(tf.global_variables_initializer())
        values = []
        for _ in range(4):
            session.run(step)
            values.append([v.tolist() for v in session.run([weights, table])])
        return values


def answers(tf, opt):
    """Return all trajectories by name and kind of variable."""
    return {f"{name}{kind}": trajectory(tf, opt, name, bool(kind)) for name in OPTIMIZERS for kind in ("", " resource")}
