"""Graph programs about state: variables, scopes of variables, initializers, partitions, moving averages, summaries."""

import numpy as np

from .book import FACTS_ONLY, OUTSIDE_CONDITIONALS, Book

book = Book()


def describe(variables):
    return [[v.name, v.op.name, v.op.type] for v in variables]


@book.program(graph_def=True)
def variables(tf):
    v = tf.Variable(1)
    w = tf.Variable([1.0, 2.0], name="w")
    tf.Variable(tf.zeros([2, 3]), name="w")
    tf.Variable(tf.random_normal([3], seed=1), name="noise")
    tf.Variable(lambda: tf.ones([2]), name="made", dtype=tf.float32)
    tf.Variable(0, trainable=False, name="step", dtype=tf.int64)
    tf.Variable([1.0], collections=["mine"], name="kept")
    tf.Variable([[1.0]], validate_shape=False, name="shapeless")
    _ = v + 1, w * 2.0, w[0]
    tf.global_variables_initializer()
    return {"initializer": v.initializer.name, "initial": w.initial_value.name}


@book.program(graph_def=True)
def resource_variables(tf):
    v = tf.Variable(1, use_resource=True)
    w = tf.Variable([1.0, 2.0], name="w", use_resource=True)
    _ = v + 1, w * 2.0, w[0]
    tf.identity(w)
    w.read_value()
    w.value()
    w.assign([3.0, 4.0])
    w.assign_add([1.0, 1.0])
    v.assign_sub(1)
    tf.assign(w, [5.0, 6.0])
    tf.get_variable("g", [2, 2], use_resource=True, initializer=tf.zeros_initializer())
    tf.global_variables_initializer()
    return {"handle": [w.handle.name, w.handle.dtype.name], "initializer": w.initializer.name}


@book.program()
def assigning(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    n = tf.Variable(0, name="n")
    tf.assign(v, [3.0, 4.0])
    tf.assign_add(n, 1)
    tf.assign_sub(n, 1, name="down")
    v.assign([5.0, 6.0])
    v.assign_add([1.0, 1.0])
    n.assign_sub(2)
    tf.scatter_update(v, [0], [9.0])
    tf.scatter_add(v, [0, 0], [1.0, 2.0])
    tf.scatter_sub(v, [1], [1.0], name="less")
    tf.is_variable_initialized(v)
    tf.report_uninitialized_variables()
    tf.variables_initializer([n], name="only_n")
    tf.local_variables_initializer()


@book.program(judges=("1.15", "2.21-v1"), compare=OUTSIDE_CONDITIONALS)
def initialized_values(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(v.initialized_value() * 2.0, name="w")
    return {"initial": w.initial_value.name}


@book.program()
def assigning_to_slices(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    tf.assign(v[0], [9.0, 9.0])
    v[:, 1].assign([7.0, 7.0])
    v[0, 0].assign(1.0)


@book.program()
def initializers(tf):
    make = {
        "zeros": tf.zeros_initializer(),
        "ones": tf.ones_initializer(),
        "constant": tf.constant_initializer(0.1),
        "array": tf.constant_initializer([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        "uniform": tf.random_uniform_initializer(-1, 1, seed=1),
        "normal": tf.random_normal_initializer(stddev=0.1, seed=1),
        "truncated": tf.truncated_normal_initializer(stddev=0.1, seed=1),
        "glorot": tf.glorot_uniform_initializer(seed=1),
        "glorot_normal": tf.glorot_normal_initializer(seed=1),
        "scaling": tf.variance_scaling_initializer(2.0, "fan_out", "uniform", seed=1),
        "unit": tf.uniform_unit_scaling_initializer(seed=1),
        "identity": tf.initializers.identity(),
        "orthogonal": tf.orthogonal_initializer(seed=1),
        "lecun": tf.initializers.lecun_normal(seed=1),
        "he": tf.initializers.he_uniform(seed=1),
    }
    for name, initializer in make.items():
        tf.get_variable(name, [2, 3], initializer=initializer)
    tf.get_variable("default", [2, 3])
    tf.get_variable("integers", [2], tf.int32)
    tf.get_variable("given", initializer=np.float32([1, 2]))
    tf.get_variable("tensor", initializer=tf.constant([1.0, 2.0]))


@book.program()
def getting_variables(tf):
    seen = []
    with tf.variable_scope("layer"):
        w = tf.get_variable("w", [2, 3], initializer=tf.zeros_initializer())
        seen.append(tf.get_variable_scope().name)
        with tf.variable_scope("inner"):
            b = tf.get_variable("b", [3], initializer=tf.zeros_initializer(), trainable=False)
    with tf.variable_scope("layer", reuse=True):
        again = tf.get_variable("w", [2, 3])
        tf.identity(again, name="used")
    with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
        third = tf.get_variable("w")
        tf.get_variable("new", [1], initializer=tf.ones_initializer())
    with tf.variable_scope("other") as scope:
        tf.get_variable("w", [1], initializer=tf.zeros_initializer())
        scope.reuse_variables()
        tf.get_variable("w", [1])
    tf.get_variable("top", [], initializer=tf.zeros_initializer())
    return {"scopes": seen, "same": [again is w, third is w], "b": b.name}


@book.program()
def variable_scopes_and_name_scopes(tf):
    seen = []
    with tf.variable_scope("vs") as scope:
        seen += [scope.name, scope.original_name_scope]
        tf.constant(1, name="c")
        with tf.name_scope("ns"):
            tf.get_variable("v", [1], initializer=tf.zeros_initializer())
            tf.Variable(1.0, name="plain")
            tf.constant(1, name="c")
    with tf.name_scope("outer"), tf.variable_scope("vs2"):
        tf.get_variable("v", [1], initializer=tf.zeros_initializer())
        tf.constant(1, name="c")
    with tf.variable_scope("vs"):
        tf.constant(1, name="c")
    with tf.variable_scope(scope):
        tf.constant(1, name="c")
        seen.append(tf.get_variable_scope().original_name_scope)
    with tf.variable_scope(scope, auxiliary_name_scope=False) as quiet, tf.name_scope(quiet.original_name_scope):
        tf.constant(1, name="d")
    with tf.variable_scope("quiet", auxiliary_name_scope=False):
        tf.get_variable("v", [1], initializer=tf.zeros_initializer())
        tf.constant(1, name="c")
    return {"scopes": seen, "variables": describe(tf.global_variables())}


@book.program()
def default_named_variable_scopes(tf):
    def layer():
        with tf.variable_scope(None, "layer") as scope:
            tf.get_variable("w", [1], initializer=tf.zeros_initializer())
            tf.constant(1.0, name="c")
            return scope.name

    seen = [layer(), layer()]
    with tf.variable_scope("model"):
        seen += [layer(), layer()]
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        seen += [layer()]
    with tf.variable_op_scope([], None, "older"):
        seen.append(tf.get_variable_scope().name)
    return {"scopes": seen}


@book.program()
def regularized_variables(tf):
    def penalty(v):
        return 0.5 * tf.reduce_sum(tf.square(v))

    with tf.variable_scope("net", regularizer=penalty):
        tf.get_variable("w", [2], initializer=tf.ones_initializer())
        tf.get_variable("b", [2], initializer=tf.zeros_initializer(), regularizer=tf.no_regularizer)
    with tf.variable_scope("net", reuse=True):
        tf.get_variable("w", [2])
    return {"losses": [t.name for t in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)]}


@book.program()
def custom_getters(tf):
    def tripled(getter, name, *args, **kwargs):
        v = getter(name + "_raw", *args, **kwargs)
        return tf.identity(v * 3.0, name=name)

    with tf.variable_scope("scope", custom_getter=tripled):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    return {"v": v.name}


@book.program()
def partitioned_variables(tf):
    split = tf.fixed_size_partitioner(3)
    with tf.variable_scope("big", partitioner=split):
        v = tf.get_variable("v", [7, 2], initializer=tf.zeros_initializer())
    w = tf.get_variable(
        "w", [2, 4], partitioner=tf.fixed_size_partitioner(2, axis=1), initializer=tf.ones_initializer()
    )
    tf.convert_to_tensor(v)
    tf.identity(w)
    tf.nn.embedding_lookup(v, [0, 1])
    return {"parts": [p.name for p in v], "name": v.name, "shape": v.shape.as_list(), "w": [p.name for p in w]}


@book.program()
def variables_on_devices(tf):
    with tf.device("/cpu:0"):
        v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer(), caching_device="/gpu:1")
    with tf.device("/job:worker"), tf.colocate_with(v.op):
        tf.identity(w, name="beside")
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        tf.get_variable("p", [2], initializer=tf.zeros_initializer())
        tf.get_variable("q", [2], initializer=tf.zeros_initializer())
        tf.constant(1.0, name="c")
    return {"devices": [v.device, w.device]}


@book.program()
def collections(tf):
    a = tf.Variable(1.0, name="a")
    b = tf.get_variable("b", [], initializer=tf.zeros_initializer(), trainable=False)
    c = tf.get_variable("c", [], initializer=tf.zeros_initializer(), collections=[tf.GraphKeys.LOCAL_VARIABLES])
    with tf.variable_scope("s"):
        d = tf.get_variable("d", [], initializer=tf.zeros_initializer())
    e = tf.get_local_variable("e", [], initializer=tf.zeros_initializer())
    tf.add_to_collection("things", a)
    tf.add_to_collection("things", a.op)
    tf.add_to_collections(["things", "more"], d)
    graph = tf.get_default_graph()
    return {
        "global": describe(tf.global_variables()),
        "local": describe(tf.local_variables()),
        "trainable": describe(tf.trainable_variables()),
        "in s": describe(tf.trainable_variables("s")),
        "things": [t.name for t in tf.get_collection("things")],
        "things in s": [t.name for t in tf.get_collection("things", scope="s")],
        "moving": describe(tf.moving_average_variables()),
        "keys": sorted(graph.get_all_collection_keys()),
        "names": [v.name for v in (a, b, c, d, e)],
    }


@book.program()
def global_steps(tf):
    step = tf.train.get_or_create_global_step()
    same = tf.train.get_global_step()
    with tf.name_scope("later"):
        tf.train.get_or_create_global_step()
    tf.assign_add(step, 1)
    return {"name": step.name, "dtype": step.dtype.base_dtype.name, "same": same is step}


@book.program()
def moving_averages(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    ema = tf.train.ExponentialMovingAverage(0.9)
    apply = ema.apply([v])
    shadow = ema.average(v)
    return {"apply": apply.name, "shadow": shadow.name, "average name": ema.average_name(v)}


@book.program()
def moving_averages_with_updates(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    t = tf.square(v, name="t")
    step = tf.train.get_or_create_global_step()
    with tf.name_scope("train"):
        ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step, zero_debias=True)
        apply = ema.apply([v, t])
    restored = ema.variables_to_restore()
    return {
        "apply": apply.name,
        "average names": [ema.average_name(v), ema.average_name(t)],
        "restore": sorted([key, value.name] for key, value in restored.items()),
    }


@book.program(graph_def=True)
def summaries(tf):
    x = tf.placeholder(tf.float32, [], name="x")
    h = tf.placeholder(tf.float32, [None], name="h")
    images = tf.placeholder(tf.float32, [None, 4, 4, 3], name="images")
    tf.summary.scalar("loss", x)
    tf.summary.scalar("loss", x)
    with tf.name_scope("scope"):
        tf.summary.scalar("inner loss", x)
        tf.summary.histogram("weights", h)
    tf.summary.image("pictures", images, max_outputs=2)
    tf.summary.text("words", tf.constant("hello"))
    merged = tf.summary.merge_all()
    tf.summary.merge([merged], name="again")
    tf.summary.scalar("elsewhere", x, collections=["mine"], family="fam")
    return {"merged": merged.name}


@book.program(compare=FACTS_ONLY)
def local_and_metric_variables(tf):
    labels = tf.placeholder(tf.int32, [None], name="labels")
    predictions = tf.placeholder(tf.int32, [None], name="predictions")
    value, update = tf.metrics.accuracy(labels, predictions)
    return {"value": value.name, "update": update.name, "local": describe(tf.local_variables())}


@book.program()
def two_graphs(tf):
    a = tf.placeholder(tf.float32, [2], name="a")
    with tf.control_dependencies([tf.no_op(name="first")]):
        b = tf.identity(a)
    graph = tf.get_default_graph()
    graph.add_to_collection("outputs", b)
    sub = tf.Graph()
    with sub.as_default():
        c = tf.constant(1.0, name="elsewhere")
    return {"graphs": [a.graph is graph, c.graph is sub, b.graph is c.graph], "count": len(sub.get_operations())}
