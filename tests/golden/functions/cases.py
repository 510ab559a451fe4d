"""Small programs with tf.function whose answers TensorFlow 2.21 gave (`tools/record/functions.py`) and Ebbflow repeats.

Each takes the module under test as `tf` and returns something that JSON can hold. Addresses, counters and object ids
are made the same by `plain`.
"""

import collections
import functools
import re

import numpy as np

Pair = collections.namedtuple("Pair", "first second")


def plain(text):
    """Return text without what changes from run to run."""
    text = re.sub(r"0x[0-9a-fA-F]+", "0x0", str(text))
    text = re.sub(r"(__\w+?_[\w<>]*?)_\d+(_\d+)?\b", r"\1_N", text)
    text = re.sub(r"(?m)^  \d{6,}: ", "  N: ", text)
    text = re.sub(r"\{\{function_node .*?\}\} |\[T=DT_\w+.*?\]\(.*?\)", "", text)
    return re.sub(r"<function .*? at 0x0>", "<function>", text)


# --- how often a function is traced -----------------------------------------------------------------------------------


def traced(tf, calls, **options):
    """Return how often a function had been traced after each call."""
    count = [0]

    def body(*args, **kwargs):
        count[0] += 1

    function = tf.function(body, autograph=False, **options)
    found = []
    for call in calls:
        try:
            call(function)
        except TypeError as error:
            found.append(type(error).__name__)
        else:
            found.append(count[0])
    return found


class Plain:
    """An object like any other."""


class Unhashable:
    """An object that cannot be a key."""

    __hash__ = None


def _in_graph(tf, f):
    with tf.Graph().as_default():
        f(tf.constant(1.0))


def trace_counts(tf):
    c = tf.constant
    v, w, u = tf.Variable(1.0), tf.Variable(2.0), tf.Variable([1.0])
    one, spec = Plain(), tf.TensorSpec
    shapes = [c([1.0]), c([1.0, 2.0]), c([1.0, 2.0, 3.0]), c([[1.0]]), c([[1.0, 2.0]]), c([1]), c([1, 2]), c([1, 2, 3])]
    sequences = {
        "python values": [1, 2, 1, "1", b"1", None, 2, "1", 2.5, 2.5, float("nan"), float("nan"), float("inf"), 2**40],
        "arrays": [np.ones(3), np.zeros(3), np.ones(4), c([1.0, 2.0, 3.0], tf.float64), np.float32(1), np.float32(2)],
        "containers": [[1, 2], (1, 2), [1, 3], [c(1), 2], [c(5), 2], {"a": c(1)}, {"a": c(2)}, {"b": c(2)}, [], ()],
        "named tuples": [Pair(1, 2), Pair(1, 2), Pair(c(1), 2), (c(1), 2), Pair(c(3), 2)],
        "dict order": [{"a": 1, "b": c(2)}, {"b": c(3), "a": 1}, {"a": 2, "b": c(3)}],
        "ordered dict": [collections.OrderedDict(a=c(1)), collections.OrderedDict(a=c(2)), {"a": c(1)}],
        "objects": [one, one, Plain(), len, len, frozenset([1]), frozenset([1]), range(3), range(3), range(4)],
        "unhashable": [Unhashable(), {1, 2}, bytearray(b"x"), [{1}], 1],
        "dtypes": [tf.float32, tf.float32, tf.int32],
        "shapes": shapes,
        "variables": [v, w, u, v],
        "slices of rows": [
            tf.IndexedSlices(c([1.0]), c([1])),
            tf.IndexedSlices(c([2.0]), c([2])),
            tf.IndexedSlices(c([2.0, 1.0]), c([2, 3])),
        ],
    }
    found = {name: traced(tf, [functools.partial(_give, x) for x in xs]) for name, xs in sequences.items()}
    found["relaxed shapes"] = traced(
        tf, [functools.partial(_give, x) for x in [*shapes, c([[[1.0]]]), c(1.0)]], reduce_retracing=True
    )
    found["relaxed with values"] = traced(
        tf, [lambda f, n=n, k=k: f(c([1.0] * n), k) for n, k in ((1, 1), (2, 2), (3, 1), (4, 2), (5, 3), (6, 1))],
        reduce_retracing=True,
    )  # fmt: skip
    found["two variables"] = traced(
        tf, [lambda f: f(v, w), lambda f: f(v, v), lambda f: f(w, v), lambda f: f(w, w), lambda f: f(w, u)]
    )
    found["keywords"] = traced(
        tf,
        [
            lambda f: f(c(1.0), a=c(2.0)),
            lambda f: f(c(1.0), a=c(3.0)),
            lambda f: f(c(1.0), b=c(3.0)),
            lambda f: f(a=c(1.0), b=c(3.0)),
            lambda f: f(b=c(1.0), a=c(3.0)),
            lambda f: f(c(1.0), c(1.0)),
        ],
    )
    found["spec, then tensors"] = traced(
        tf,
        [
            lambda f: f.get_concrete_function(spec([None])),
            lambda f: f(c([1.0])),
            lambda f: f(c([1.0, 2.0])),
            lambda f: f(c([[1.0]])),
            lambda f: f.get_concrete_function(spec([2])),
            lambda f: f.get_concrete_function(spec(None)),
            lambda f: f(c([[2.0, 3.0]])),
        ],
    )
    found["names of specs"] = traced(
        tf,
        [
            lambda f: f.get_concrete_function(spec([None], name="a")),
            lambda f: f.get_concrete_function(spec([None], name="b")),
            lambda f: f.get_concrete_function(spec([None])),
            lambda f: f(c([1.0])),
            lambda f: f.get_concrete_function(spec([None], name="a")),
        ],
    )
    sparse = tf.SparseTensor
    found["sparse"] = traced(
        tf,
        [
            lambda f: f(sparse([[0, 0]], [1.0], [2, 2])),
            lambda f: f(sparse([[0, 1], [1, 1]], [2.0, 3.0], [2, 2])),
            lambda f: f(sparse([[0, 1]], [2.0], [3, 2])),
            lambda f: f(sparse([[0, 1]], [2], [3, 2])),
            lambda f: f.get_concrete_function(tf.SparseTensorSpec([None, 2], tf.int64)),
            lambda f: f(sparse([[0, 1]], c([2], tf.int64), [3, 2])),
        ],
    )
    found["graphs"] = traced(tf, [lambda f: f(c(1.0)), *[functools.partial(_in_graph, tf)] * 2, lambda f: f(c(2.0))])
    found["input signature"] = traced(
        tf, [functools.partial(_give, x) for x in shapes[:4]], input_signature=[spec([None])]
    )
    return found


def _give(x, f):
    f(x)


# --- how traces describe themselves -----------------------------------------------------------------------------------


def described(tf, function, *args, **kwargs):
    """Return all that a concrete function says of itself."""
    concrete = tf.function(function, autograph=False).get_concrete_function(*args, **kwargs)
    return {
        "short": plain(concrete.pretty_printed_signature(verbose=False)),
        "long": plain(concrete.pretty_printed_signature()),
        "inputs": [t.name for t in concrete.inputs],
        "outputs": [t.name for t in concrete.outputs],
        "signature": plain(concrete.structured_input_signature),
        "structure": plain(concrete.structured_outputs),
        "name": plain(concrete.name),
        "graph": concrete.graph.name,
        "dtypes": plain(concrete.output_dtypes),
    }


def signatures(tf):
    c, spec = tf.constant, tf.TensorSpec
    v, k = tf.Variable(2.0, name="vv"), c(3.0)

    def stateful(x, y=2, *args, z, w="s", **kw):
        v.assign_add(1.0)
        return {"a": x * v + k, "b": [None, 3, y]}

    def add(x, y, n=3):
        return x + y * n

    return {
        "everything": described(tf, stateful, spec([None, 3]), z=spec([], tf.int32, name="zed"), q=c(1.0)),
        "varargs": described(tf, stateful, spec([None, 3], name="xx"), 5, c(1), c(2), z=1),
        "defaults": described(tf, add, c(1.0), spec([], name="named"), 7),
        "two of one name": described(tf, lambda x, y: x + y, spec([], name="a"), spec([], name="a")),
        "name of another": described(tf, lambda x, y: x + y, spec([], name="y"), spec([])),
        "list": described(tf, lambda x: x[0], [c(1.0), c(2.0)]),
        "dict": described(tf, lambda x: x["a"], {"b": c(1.0), "a": [c(2), 3]}),
        "named tuple": described(tf, lambda x, y: x.first, Pair(c(1.0), (c(2.0),)), (c(1.0),)),
        "spec in list": described(tf, lambda x: x[0], [spec([], name="q"), spec([])]),
        "array": described(tf, lambda x: x, np.ones(2)),
        "python": described(tf, lambda x, y=2, z=None: x, 3),
        "keyword only": described(tf, lambda *, b, a: b, b=c(1.0), a=c(2.0)),
        "keywords": described(tf, lambda **k: k["b"], b=c(1.0), a=c(2.0), c=1),
        "args": described(tf, lambda *args: args, c(1.0), [c(2.0)]),
        "variable": described(tf, lambda x: x * 2, tf.Variable(1.0)),
        "two variables": described(tf, lambda x, y: x * y, tf.Variable(1.0), tf.Variable(2.0)),
        "slices of rows": described(tf, lambda x: x, tf.IndexedSlices(c([1.0]), c([0]))),
        "sparse": described(tf, lambda x: x, tf.SparseTensorSpec([2, 2], tf.float32)),
        "nothing": described(tf, lambda: None),
        "bad name": described(tf, lambda x: x, spec([], name="a/b:0 c")),
        "method": _method(tf),
        "partial": described(tf, functools.partial(lambda x, y, z=1: x * y * z, y=c(2.0)), c(3.0)),
    }


def _method(tf):
    class Model:
        @tf.function(autograph=False)
        def call(self, x, y=None):
            return x * 2.0

    model = Model()
    concrete = model.call.get_concrete_function(tf.constant(1.0))
    return [plain(concrete.pretty_printed_signature()), plain(concrete.structured_input_signature)]


# --- what functions give back -----------------------------------------------------------------------------------------


def results(tf):
    c, v = tf.constant, tf.Variable([1.0, 2.0])
    values = {
        "none": None,
        "int": 3,
        "float": 2.5,
        "text": "abc",
        "bool": True,
        "complex": 1j,
        "array": np.ones(2),
        "nested": [1, [2.0, None]],
        "dict": {"b": 1, "a": 2},
        "empty": (),
        "variable": v,
        "pair": Pair(1, 2),
        "ordered": collections.OrderedDict(b=1, a=2),
        "number keys": {1: c(1), 2: c(2)},
        "object": Plain(),
        "set": {1},
        "function": len,
        "dtype": tf.float32,
        "shape": tf.TensorShape([2]),
        "eager": c(4.0),
    }
    found = {name: _result(tf, _constantly(value)) for name, value in values.items()}
    found["assign"] = _result(tf, lambda: v.assign([3.0, 4.0]))
    found["operation"] = _result(tf, lambda: tf.raw_ops.NoOp())
    return found


def _constantly(value):
    return lambda: value


def _result(tf, function):
    try:
        value = tf.function(function, autograph=False)()
        if isinstance(value, collections.OrderedDict):  # Python 3.12 writes it differently
            value = (type(value).__name__, list(value.items()))
        return plain(value)
    except TypeError as error:
        return plain(f"{type(error).__name__}: {error}").replace("<function>", "F")


# --- calling concrete functions ---------------------------------------------------------------------------------------


def concrete_calls(tf):
    c = tf.constant
    flat = tf.function(lambda x, y, n=3: x + y * n, autograph=False).get_concrete_function(c(1.0), c(2.0))
    named = tf.function(lambda x, y, n=3: x + y * n, autograph=False).get_concrete_function(
        c(1.0), tf.TensorSpec([], name="named"), 7
    )
    spec = tf.TensorSpec([])
    nested = tf.function(lambda x, y: x["a"] + y[0], autograph=False).get_concrete_function({"a": spec}, [spec, spec])
    vector = tf.function(lambda x: x * 2, autograph=False).get_concrete_function(tf.TensorSpec([None]))
    calls = {
        "by position": lambda: flat(c(1.0), c(2.0)),
        "by name": lambda: flat(x=c(1.0), y=c(2.0)),
        "mixed": lambda: flat(c(1.0), y=c(2.0)),
        "the value": lambda: flat(c(1.0), c(2.0), 3),
        "another value": lambda: flat(c(1.0), c(2.0), n=4),
        "too few": lambda: flat(c(1.0)),
        "too many": lambda: flat(c(1.0), c(2.0), c(2.0)),
        "unknown name": lambda: flat(c(1.0), c(2.0), q=4),
        "twice": lambda: flat(c(1.0), x=c(2.0)),
        "wrong dtype": lambda: flat(c(1), c(2)),
        "numbers": lambda: flat(1.0, 2.0),
        "spec's name": lambda: named(x=c(1.0), named=c(2.0)),
        "nested": lambda: nested({"a": c(1.0)}, [c(2.0), c(3.0)]),
        "nested flat": lambda: nested(c(1.0), c(2.0), c(3.0)),
        "nested by name": lambda: nested(x=c(1.0), y=c(2.0), y_1=c(3.0)),
        "nested numbers": lambda: nested({"a": 1.0}, [2.0, 3.0]),
        "other keys": lambda: nested({"b": 1.0}, [2.0, 3.0]),
        "array": lambda: vector(np.ones(2, np.float32)),
        "list": lambda: vector([1.0, 2.0]),
        "ints": lambda: vector([1, 2]),
        "wrong rank": lambda: vector([[1.0, 2.0]]),
        "variable": lambda: vector(tf.Variable([1.0, 2.0])),
    }
    return {name: _called(call) for name, call in calls.items()}


def _called(call):
    try:
        return plain(call())
    except Exception as error:
        return plain(f"{type(error).__name__}: {error}").replace("<lambda>", "f")


# --- refusals ---------------------------------------------------------------------------------------------------------


def refusals(tf):
    c, spec = tf.constant, tf.TensorSpec

    def fixed(function, *args, signature=(), **kwargs):
        return tf.function(function, input_signature=list(signature), autograph=False)(*args, **kwargs)

    vector, number = spec([None]), spec([], tf.int32)
    two = lambda a, b: (a, b)
    calls = {
        "no function": lambda: tf.function(3),
        "missing": lambda: tf.function(lambda x: x)(),
        "too many": lambda: tf.function(lambda x: x)(1, 2),
        "unknown": lambda: tf.function(lambda x: x)(y=1),
        "concrete missing": lambda: tf.function(lambda x: x).get_concrete_function(),
        "signature of an int": lambda: fixed(lambda x: x, signature=[1]),
        "signature too long": lambda: fixed(lambda x: x, signature=[spec([])] * 2),
        "signature too short": lambda: fixed(lambda x, y: x, 1.0, 2.0, signature=[spec([])]),
        "signature, keyword only": lambda: fixed(lambda x, *, y: x, 1.0, y=4, signature=[spec([])]),
        "signature, other dtype": lambda: fixed(two, c([1]), 2, signature=[vector, number]),
        "signature, other rank": lambda: fixed(two, c([[1.0]]), 2, signature=[vector, number]),
        "signature, missing": lambda: fixed(two, c([1.0]), signature=[vector, number]),
        "signature, too many": lambda: fixed(two, c([1.0]), 2, 3, signature=[vector, number]),
        "signature, fraction": lambda: fixed(two, c([1.0]), b=2.5, signature=[vector, number]),
        "signature, text": lambda: fixed(two, c([1.0]), "a", signature=[vector, number]),
        "signature, None": lambda: fixed(two, c([1.0]), None, signature=[vector, number]),
        "signature, keys": lambda: fixed(lambda d: d["a"], {"a": 1.0}, signature=[{"a": spec([]), "b": spec([])}]),
        "unhashable": lambda: tf.function(lambda x: 1)({1}),
        "bool of a tensor": lambda: tf.function(lambda x: 1 if x else 2, autograph=False)(c(1)),
        "loop over a tensor": lambda: tf.function(lambda x: [i for i in x], autograph=False)(c([1])),
        "len of a tensor": lambda: tf.function(lambda x: len(x), autograph=False)(c([1])),
        "array of a tensor": lambda: tf.function(lambda x: np.sum(x), autograph=False)(c([1])),
        "numpy of a tensor": lambda: tf.function(lambda x: x.numpy(), autograph=False)(c([1])),
        "error inside": lambda: tf.function(lambda x: 1 / 0, autograph=False)(c(1)),
        "shapes": lambda: tf.function(lambda x: tf.matmul(x, x), autograph=False)(c([[1.0, 2.0]])),
        "running": lambda: tf.function(lambda x: tf.gather(x, 7), autograph=False)(c([1.0, 2.0])),
        "variable each time": lambda: tf.function(lambda: tf.Variable(1.0) * 2, autograph=False)(),
        "variable later": lambda: _variable_later(tf),
        "leak, eagerly": lambda: _leaked(tf) + 1,
        "leak into a function": lambda: tf.function(lambda t: t + 1, autograph=False)(_leaked(tf)),
        "leak returned": lambda: _returned(tf),
        "graph's tensor": lambda: _graphs_tensor(tf) + 1,
        "graph's tensor in a function": lambda: _captured(tf, _graphs_tensor(tf)),
    }
    return {name: _refused(call) for name, call in calls.items()}


def _variable_later(tf):
    f = tf.function(lambda n: tf.Variable(3.0) + 1 if n == 2 else tf.constant(1.0), autograph=False)
    f(1)
    return f(2)


def _leaked(tf):
    found = []
    tf.function(lambda x: found.append(x + 1) or x, autograph=False)(tf.constant(1.0))
    return found[0]


def _returned(tf):
    leaked = _leaked(tf)
    return tf.function(lambda: leaked, autograph=False)()


def _graphs_tensor(tf):
    with tf.Graph().as_default():
        return tf.constant(1.0)


def _captured(tf, tensor):
    return tf.function(lambda: tensor + 1, autograph=False)()


def _refused(call):
    try:
        return f"no error: {plain(call())}"
    except Exception as error:
        names = [cls.__name__ for cls in type(error).__mro__ if cls.__name__ in _CLASSES]
        return [names, plain(str(error)).split("\n")[0]]


_CLASSES = {
    "OperatorNotAllowedInGraphError",
    "InvalidArgumentError",
    "NotImplementedError",
    "TypeError",
    "ValueError",
    "AttributeError",
    "ZeroDivisionError",
    "RecursionError",
    "KeyError",
}


# --- graphs -----------------------------------------------------------------------------------------------------------


def nodes(graph):
    """Return each node's type, inputs and control inputs, by name."""
    return {
        plain(n.name): [n.type, [t.name for t in n.inputs], sorted(f"^{other.name}" for other in n.control_inputs)]
        for n in graph.get_operations()
    }


def graphs(tf):
    c, v = tf.constant, tf.Variable(2.0)
    square = tf.function(lambda x: x * x, autograph=False)
    scale = tf.function(lambda x: x * v, autograph=False)

    def effects(x):
        v.assign(x)
        y = v.read_value()
        v.assign_add(1.0)
        z = v.read_value()
        v.assign_sub(y)
        return y + z

    def silent(x):
        v.assign(x)

    def nested(x):
        return square(square(x))

    def variables(x):
        with tf.name_scope("foo"):
            y = tf.add(x, 1, name="bar")
        return y * v

    def of(function):
        return nodes(tf.function(function, autograph=False).get_concrete_function(c(1.0)).graph)

    return {
        "effects in order": of(effects),
        "effects, no result": of(silent),
        "calls": of(nested),
        "names": of(variables),
        "in a graph": _in_a_graph(tf, square),
        "stateful call": {name: parts[0] for name, parts in of(lambda x: scale(x) + 1.0).items() if "Call" in parts[0]},
    }


def _in_a_graph(tf, function):
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [])
        tf.gradients(function(x), x)
    return {name: parts[0] for name, parts in nodes(graph).items()}


def seeds(tf):
    """Random numbers in functions, with seeds."""
    tf.random.set_seed(3)
    f = tf.function(lambda: tf.random.uniform([2]), autograph=False)
    first = [f().numpy().tolist() for _ in range(2)]
    tf.random.set_seed(3)
    again = f().numpy().tolist()
    g = tf.function(
        lambda: (tf.random.uniform([]), tf.random.uniform([], seed=1), tf.random.normal([])), autograph=False
    )
    return [*first, again, [[float(t) for t in g()] for _ in range(2)]]


# --- what a fixed signature takes -------------------------------------------------------------------------------------

GIVEN = """
True | False | 1 | 0 | -3 | 1.5 | 1.0 | float('nan') | 1j | 'a' | b'a' | None | [1, 2] | [1.0, 2.0] | [] | [[1.0]]
(1, 2) | [True] | [True, 2] | [1.5, True] | ['a'] | np.float32(1.5) | np.float64(1.5) | np.int32(1) | np.int64(1)
np.array([1, 2]) | np.array([1.0, 2.0]) | np.array([1.0], np.float32) | np.array(1) | np.array(1.5) | np.array([True])
tf.constant(1) | tf.constant(1.5) | tf.constant([1.5, 2.5]) | tf.constant(True) | tf.constant(1.5, tf.float64)
tf.Variable(1.5) | tf.Variable(1) | tf.constant('a') | tf.TensorShape([2]) | tf.float32 | object() | {'a': 1} | range(3)
tf.RaggedTensor.from_row_lengths([1.0], [1]) | np.array(['a']) | np.array([], np.float32) | tf.constant([[1.0]])
np.bool_(True)
"""
WANTED = """
[], tf.float32 | [], tf.float64 | [], tf.float16 | [], tf.int32 | [], tf.int64 | [], tf.uint8 | [], tf.int8 | [], tf.bool
[], tf.string | [], tf.complex64 | [], tf.complex128 | None, tf.float32 | None, tf.int32 | None, tf.bool | [None], tf.int32
[2], tf.float32
"""


def listed(text):
    """Return the parts of a table."""
    return text.strip().replace("\n", " | ").split(" | ")


def taken(tf):
    """What functions with a signature of one tensor make of all kinds of values: the tensor, or the error."""

    def given(spec, value):
        function = tf.function(lambda x: x, input_signature=[spec], autograph=False)
        try:
            found = function(value)
        except Exception as error:
            return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
        return f"{found.dtype.name} {np.asarray(found.numpy()).tolist()}"

    names = {"tf": tf, "np": np}
    return {
        f"{spec} <- {value}": given(tf.TensorSpec(*eval(f"({spec},)", names)), eval(value, names))
        for spec in listed(WANTED)
        for value in listed(GIVEN)
    }


# --- a variable that is an argument and used by itself ----------------------------------------------------------------


def given_and_used(tf):
    """Gradients inside and outside of functions that are given a variable which they also use by themselves."""
    v = tf.Variable(2.0)

    def inside(function):
        def body(u):
            with tf.GradientTape() as tape:
                y = function(u)
            return tape.gradient(y, [u, v])

        return [float(g) for g in tf.function(body, autograph=False)(v)]

    def outside(function):
        with tf.GradientTape() as tape:
            y = tf.function(function, autograph=False)(v)
        return float(tape.gradient(y, v))

    def assigned(u):
        u.assign_add(1.0)
        return u * v

    inner = tf.function(lambda u: u * v, autograph=False)
    functions = {
        "product": lambda u: u * v,
        "used": lambda u: 0.0 * u + 3.0 * v * v,
        "given": lambda u: 3.0 * u * u + 0.0 * v,
        "choice": lambda u: tf.cond(u > 0.0, lambda: u * v, lambda: u),
        "loop": lambda u: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * u * v), [0, 1.0])[1],
        "called": lambda u: inner(u) + inner(v) * u,
        "assigned": assigned,
    }
    found = {f"{name}, inside": inside(function) for name, function in functions.items()}
    v.assign(2.0)
    found.update({f"{name}, outside": outside(function) for name, function in functions.items()})
    by_gradients = tf.function(lambda u: tf.gradients(u * v, [u, v]), autograph=False)
    v.assign(2.0)
    found["tf.gradients"] = [float(g) for g in by_gradients(v)]
    return found


def unfelt_gradients(tf):
    """Gradients (None or numbers) of loops and choices for what their results do not depend on."""

    def slopes(function):
        body = tf.function(lambda x, y, z: tf.gradients(function(x, y, z), [x, y, z]), autograph=False)
        return [None if g is None else float(g) for g in body(tf.constant(3.0), tf.constant(2.0), tf.constant(0.5))]

    def loop(body):
        def run(x, y, z):
            return tf.while_loop(lambda i, x, y: i < 2, lambda i, x, y: (i + 1, *body(x, y, z)), [0, x, y])[1]

        return run

    stop = tf.stop_gradient
    functions = {
        "stopped in a loop": loop(lambda x, y, z: (x * x + stop(y * z), y)),
        "another variable of a loop": loop(lambda x, y, z: (x * x, y * z)),
        "all of a loop": loop(lambda x, y, z: (x * y * z, y)),
        "stopped in a choice": lambda x, y, z: tf.cond(x > 0.0, lambda: x * stop(y), lambda: z),
        "one branch of a choice": lambda x, y, z: tf.cond(x > 0.0, lambda: x * x, lambda: y),
    }
    return {name: slopes(function) for name, function in functions.items()}


PROGRAMS = {
    "taken": taken,
    "trace_counts": trace_counts,
    "signatures": signatures,
    "results": results,
    "concrete_calls": concrete_calls,
    "refusals": refusals,
    "graphs": graphs,
    "seeds": seeds,
    "given_and_used": given_and_used,
    "unfelt_gradients": unfelt_gradients,
}
