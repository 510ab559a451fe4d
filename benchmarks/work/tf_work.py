"""The problems on Ebbflow and on TensorFlow: as functions, as functions compiled by XLA, in sessions.

A form of a problem is one way a user could write it; the table shows the quickest.
"""

from __future__ import annotations

from benchmarks.problems import ADAM, PROBLEMS, RATE
from benchmarks.work import Work, keras_work, tf_data, tf_eager, tf_sequences
from benchmarks.work.tf_models import MODELS, lstm_steps_unrolled, two_layer_net
from benchmarks.work.tf_module import NAME, tf

VERSION = tf.version.EBBFLOW if NAME == "ebbflow" else tf.__version__
WORKLOADS = {**tf_eager.WORKLOADS, **tf_sequences.WORKLOADS, **tf_data.WORKLOADS, **keras_work.WORKLOADS}
v1 = tf.compat.v1


def configure(threads: int) -> None:
    """Use this many threads."""
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)


def settle() -> None:
    """Wait for what is compiled in the background."""
    if NAME == "ebbflow":
        from ebbflow.compiler import clusters, native_region

        native_region.settle()
        clusters.settle()


def forms(name: str) -> list[str]:
    """Return the ways to run a problem; the first is the usual one."""
    if name == "two_layer_net":
        return ["session", "function"]
    found = ["function", "xla"]
    if name == "lstm_64_steps":
        found.append("unrolled")
    # TensorFlow's sessions never beat its functions; they are timed where the problem is about sessions.
    if PROBLEMS[name].kind not in ("gradients", "fed_back") and (NAME == "ebbflow" or name == "fused"):
        found.append("session")
    return found


def build(name: str, form: str, tiny: bool = False) -> Work:
    """Return the problem, ready to run in that form."""
    problem = PROBLEMS[name]
    parameters, inputs = problem.arrays(tiny)
    if name == "two_layer_net":
        return (_net_in_session if form == "session" else _net_as_function)(inputs)
    model = lstm_steps_unrolled if form == "unrolled" else MODELS[name]
    if form == "session":
        prepare = _call_in_session if problem.kind == "call" else _step_in_session
        return prepare(model, parameters, inputs, problem.kind)
    prepare = {"call": _call, "gradients": _gradients, "fed_back": _fed_back}.get(problem.kind, _step)
    return prepare(model, parameters, inputs, problem.kind, form == "xla" or None)


def _call(model, parameters, inputs, kind, xla):
    tensors = [tf.constant(x) for x in inputs.values()]
    function = tf.function(lambda *tensors: model({}, *tensors), jit_compile=xla)
    if len(tensors) == 1:
        (x,) = tensors
        return Work(lambda: function(x))
    return Work(lambda: function(*tensors))


def _fed_back(model, parameters, inputs, kind, xla):
    """Prepare a function whose result is what it is given first the next time."""
    first, *others = [tf.constant(x) for x in inputs.values()]
    function = tf.function(lambda *tensors: model({}, *tensors), jit_compile=xla)
    held = [first]
    del first

    def run():
        held[0] = function(held[0], *others)
        return held[0]

    return Work(run)


def _gradients(model, parameters, inputs, kind, xla):
    names = list(parameters)

    @tf.function(jit_compile=xla)
    def function(values, tensors):
        with tf.GradientTape() as tape:
            for value in values:
                tape.watch(value)
            loss = model(dict(zip(names, values)), **tensors)
        return loss, tape.gradient(loss, values)

    values = [tf.constant(x) for x in parameters.values()]
    tensors = {key: tf.constant(x) for key, x in inputs.items()}
    return Work(lambda: function(values, tensors))


def _optimizer(kind):
    if kind == "sgd":
        return v1.train.GradientDescentOptimizer(RATE)
    return v1.train.AdamOptimizer(ADAM["rate"], ADAM["beta1"], ADAM["beta2"], ADAM["epsilon"])


def _step(model, parameters, inputs, kind, xla):
    variables = {key: tf.Variable(x) for key, x in parameters.items()}
    optimizer = _optimizer(kind)

    @tf.function(jit_compile=xla)
    def step(*tensors):
        with tf.GradientTape() as tape:
            loss = model(variables, *tensors)
        gradients = tape.gradient(loss, list(variables.values()))
        optimizer.apply_gradients((tf.convert_to_tensor(g), v) for g, v in zip(gradients, variables.values()))
        return loss

    tensors = [tf.constant(x) for x in inputs.values()]
    return Work(lambda: step(*tensors), parameters=lambda: {key: v.numpy() for key, v in variables.items()})


def _session():
    """Return a session over the graph just built, its variables initialised."""
    session = v1.Session()
    session.run(v1.global_variables_initializer())
    return session


def _call_in_session(model, parameters, inputs, kind):
    with tf.Graph().as_default():
        places = {key: v1.placeholder(x.dtype, x.shape) for key, x in inputs.items()}
        outputs = model({}, **places)
        session = _session()
    feeds = {places[key]: x for key, x in inputs.items()}
    return Work(lambda: session.run(outputs, feeds))


def _step_in_session(model, parameters, inputs, kind):
    with tf.Graph().as_default():
        places = {key: v1.placeholder(x.dtype, x.shape) for key, x in inputs.items()}
        variables = {key: v1.Variable(x, use_resource=True) for key, x in parameters.items()}
        loss = model(variables, **places)
        gradients = tf.gradients(loss, list(variables.values()))
        train = _optimizer(kind).apply_gradients(
            [(tf.convert_to_tensor(g), v) for g, v in zip(gradients, variables.values())]
        )
        session = _session()
    feeds = {places[key]: x for key, x in inputs.items()}
    return Work(
        lambda: session.run([loss, train], feeds)[0],
        parameters=lambda: session.run(variables),
    )


def _net_in_session(inputs):
    """Prepare the two-layer net as the talks have it: a graph, NumPy arrays fed and fetched."""
    with tf.Graph().as_default():
        places = {key: v1.placeholder(tf.float32, x.shape) for key, x in inputs.items()}
        loss = two_layer_net(**places)
        fetches = [loss, *tf.gradients(loss, [places["w1"], places["w2"]])]
        session = _session()
    feeds = {places[key]: x for key, x in inputs.items()}
    return Work(lambda: session.run(fetches, feeds))


def _net_as_function(inputs):
    @tf.function
    def net(x, y, w1, w2):
        with tf.GradientTape() as tape:
            tape.watch([w1, w2])
            loss = two_layer_net(x, y, w1, w2)
        return [loss, *tape.gradient(loss, [w1, w2])]

    arrays = list(inputs.values())
    return Work(lambda: [t.numpy() for t in net(*[tf.convert_to_tensor(x) for x in arrays])])
