"""Graph programs about names: constants, operators, uniquifying, scopes, devices and control dependencies.

Each builds nodes in the default graph and may return facts (names it looked up) to be compared as well.
"""

import numpy as np

from .book import FACTS_ONLY, OUTSIDE_CONDITIONALS, Book

book = Book()


def floats(tf, *names):
    return [tf.placeholder(tf.float32, [2, 3], name=name) for name in names]


def ints(tf, *names):
    return [tf.placeholder(tf.int32, [4], name=name) for name in names]


@book.program(graph_def=True)
def constants(tf):
    tf.constant(1)
    tf.constant(2.5)
    tf.constant([1, 2, 3], name="list")
    tf.constant([[1.0, 2.0], [3.0, 4.0]], name="matrix")
    tf.constant(0.5, shape=[2, 3], name="filled")
    tf.constant(7, dtype=tf.int64, name="long")
    tf.constant("word")
    tf.constant(["two", b"words"], name="words")
    tf.constant(True)
    tf.constant(np.arange(3.0), name="array")
    tf.constant([], name="empty")
    tf.constant(1 + 2j, name="complex")
    tf.constant([1, 2], tf.float16, name="half")
    tf.convert_to_tensor(3, name="converted")
    tf.convert_to_tensor([4.0])


@book.program()
def filled(tf):
    (a,) = floats(tf, "a")
    u = tf.placeholder(tf.float32, name="u")
    n = tf.placeholder(tf.int32, [], name="n")
    tf.zeros([2, 2])
    tf.zeros([], tf.int32)
    tf.ones([3])
    tf.ones([n, 2])
    tf.zeros(tf.stack([n, 3]))
    tf.fill([2], 9)
    tf.zeros_like(a)
    tf.ones_like(a)
    tf.zeros_like(u)
    tf.ones_like(u, dtype=tf.int32)


@book.program()
def filled_largely(tf):
    tf.zeros([2000, 2000], name="large")
    tf.ones([500, 4])


@book.program()
def identities(tf):
    tf.eye(3)
    tf.eye(2, num_columns=3, name="rectangle")


@book.program(graph_def=True)
def operators(tf):
    a, b = floats(tf, "a", "b")
    _ = a + b, a - b, a * b, a / b, a // b, a % b, a**b
    _ = -a, abs(a), a < b, a <= b, a > b, a >= b
    _ = a + b, a * b


@book.program(graph_def=True)
def operators_with_numbers(tf):
    (a,) = floats(tf, "a")
    _ = a + 1, a - 1.0, a * 2, a / 2, a // 2, a % 2, a**2, a < 0
    _ = 1 + a, 1 - a, 2 * a, 1 / a, 7 // a, 7 % a, 2**a, 0 < a
    _ = a + [1.0, 2.0, 3.0], np.float32(3) + a.op.outputs[0]


@book.program()
def operators_on_integers(tf):
    a, b = ints(tf, "a", "b")
    _ = a + b, a / b, a // b, a % b, a**b, -a, abs(a)
    _ = 1 / a, 7 // a, 7 % a, a / 2
    tf.div(a, b)
    tf.truediv(a, b)
    tf.floordiv(a, b)
    tf.truncatediv(a, b)
    tf.truncatemod(a, b)
    tf.mod(a, b)
    tf.floormod(a, b)


@book.program()
def operators_on_booleans(tf):
    p = tf.placeholder(tf.bool, [3], name="p")
    q = tf.placeholder(tf.bool, [3], name="q")
    _ = p & q, p | q, p ^ q, ~p
    _ = True & p, False | p, True ^ p, p & True
    tf.logical_and(p, q)
    tf.logical_or(p, q)
    tf.logical_xor(p, q)
    tf.logical_not(p)


@book.program()
def operator_matmul(tf):
    a = tf.placeholder(tf.float32, [2, 3], name="a")
    b = tf.placeholder(tf.float32, [3, 4], name="b")
    c = tf.placeholder(tf.float32, [5, 2, 3], name="c")
    d = tf.placeholder(tf.float32, [5, 3, 4], name="d")
    _ = a @ b, c @ d
    tf.matmul(a, b)
    tf.matmul(c, d)
    tf.matmul(a, a, transpose_b=True, name="square")
    tf.matmul(c, c, transpose_a=True)
    _ = np.ones([4, 2], np.float32) @ a


@book.program()
def equality(tf):
    a, b = floats(tf, "a", "b")
    tf.equal(a, b)
    tf.not_equal(a, b)
    tf.equal(a, 0.0)
    tf.less(a, b)
    tf.less_equal(a, b)
    tf.greater(a, b)
    tf.greater_equal(a, b, name="ge")
    return {"a is in a list": any(a is x for x in [b, a])}


@book.program()
def named_arithmetic(tf):
    a, b = floats(tf, "a", "b")
    for f in (tf.add, tf.subtract, tf.multiply, tf.divide, tf.div, tf.truediv, tf.floordiv, tf.floormod, tf.pow):
        f(a, b)
    for f in (tf.realdiv, tf.maximum, tf.minimum, tf.squared_difference, tf.atan2, tf.div_no_nan):
        f(a, b)
    tf.add_n([a, b])
    tf.add_n([a])
    tf.accumulate_n([a, b])
    tf.scalar_mul(2.0, a)
    tf.negative(a)
    tf.add(a, 1)
    tf.add(a, b, name="sum")
    tf.multiply(2.0, a, name="twice")


@book.program()
def elementwise(tf):
    (a,) = floats(tf, "a")
    unary = "abs sign square sqrt rsqrt exp expm1 log log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"
    for name in unary.split():
        getattr(tf, name)(a)
    for name in "floor ceil round rint reciprocal sigmoid erf erfc lgamma digamma is_nan is_inf is_finite".split():
        getattr(tf, name)(a)
    tf.identity(a)
    tf.stop_gradient(a)
    tf.bitcast(a, tf.int32)
    tf.check_numerics(a, "bad")


@book.program()
def composed_elementwise(tf):
    (a,) = floats(tf, "a")
    tf.log_sigmoid(a)
    tf.clip_by_value(a, 0.0, 1.0)
    tf.saturate_cast(a, tf.uint8)


@book.program()
def complex_numbers(tf):
    (a,) = floats(tf, "a")
    c = tf.complex(a, a)
    tf.real(c)
    tf.imag(c)
    tf.conj(c)
    tf.angle(c)
    tf.abs(c)
    tf.real(a)
    tf.conj(a)
    tf.cast(a, tf.complex64)


@book.program()
def placeholders(tf):
    tf.placeholder(tf.float32)
    tf.placeholder(tf.int32, [])
    tf.placeholder(tf.float64, [None, 3])
    tf.placeholder(tf.string, (None,), name="words")
    tf.placeholder(tf.bool, shape=None, name="flag")
    tf.placeholder_with_default(1.0, [])
    tf.placeholder_with_default([1, 2, 3], [None], name="default")
    tf.placeholder_with_default(tf.constant([[1.0]]), [None, None])


@book.program(graph_def=True)
def uniquifying(tf):
    tf.constant(1, name="x")
    tf.constant(1, name="x")
    tf.constant(1, name="X")
    tf.constant(1, name="x_1")
    tf.constant(1, name="x")
    tf.constant(1, name="y_1")
    tf.constant(1, name="y")
    tf.constant(1, name="y")
    tf.constant(1, name="y")
    tf.constant(1, name="Const")
    tf.constant(1)
    tf.constant(1, name="const")
    tf.constant(1, name="x_1_1")
    tf.constant(1, name="x_1")
    with tf.name_scope("x"):
        tf.constant(1, name="x")
    with tf.name_scope("Scope"):
        tf.constant(1, name="inside")
    with tf.name_scope("scope"):
        tf.constant(1, name="inside")
    graph = tf.get_default_graph()
    return {
        "unique": [graph.unique_name("x"), graph.unique_name("fresh"), graph.unique_name("fresh")],
        "unmarked": [graph.unique_name("peek", mark_as_used=False), graph.unique_name("peek", mark_as_used=False)],
    }


@book.program()
def name_scopes(tf):
    a = tf.constant(1, name="a")
    seen = []
    with tf.name_scope("outer") as outer:
        seen.append(outer)
        tf.add(a, a)
        with tf.name_scope("inner") as inner:
            seen.append(inner)
            tf.add(a, a)
        with tf.name_scope("inner") as again:
            seen.append(again)
            tf.add(a, a)
        with tf.name_scope(None) as root:
            seen.append(root)
            tf.add(a, a)
        with tf.name_scope(outer) as reentered:
            seen.append(reentered)
            tf.add(a, a)
    with tf.name_scope("outer") as second:
        seen.append(second)
        tf.add(a, a)
    with tf.name_scope(outer):
        tf.add(a, a, name="late")
    with tf.name_scope(inner):
        tf.add(a, a)
        with tf.name_scope("deep"):
            tf.add(a, a)
    with tf.name_scope("a/b/c") as slashes:
        seen.append(slashes)
        tf.add(a, a)
    tf.add(a, a, name="outer/plain")
    tf.add(a, a, name="absolute/")
    seen.append(tf.get_default_graph().get_name_scope())
    return {"scopes": [str(s) for s in seen]}


@book.program()
def name_scopes_of_the_graph(tf):
    graph = tf.get_default_graph()
    seen = []
    with graph.name_scope("one") as one:
        seen.append(graph.get_name_scope())
        tf.constant(1)
        with graph.name_scope("two/") as two:
            seen.append(graph.get_name_scope())
            tf.constant(1)
        with graph.name_scope(""):
            seen.append(graph.get_name_scope() or "")
            tf.constant(1)
        with graph.name_scope(None):
            seen.append(graph.get_name_scope() or "")
            tf.constant(1)
    seen += [one, two]
    return {"scopes": seen}


@book.program()
def name_scope_with_default(tf):
    a = tf.constant(1.0, name="a")

    def layer(x, name=None):
        with tf.name_scope(name, "layer", [x]) as scope:
            return tf.identity(tf.square(x), name=scope)

    layer(a)
    layer(a)
    layer(a, name="mine")
    with tf.name_scope("wrap"):
        layer(a)
    with tf.op_scope([a], None, "older"):
        tf.square(a)


@book.program()
def names_and_lookups(tf):
    graph = tf.get_default_graph()
    with tf.name_scope("s"):
        a = tf.constant([1.0, 2.0], name="a")
        first, second = tf.split(a, 2, name="halves")
    return {
        "tensor": graph.get_tensor_by_name("s/halves:1").name,
        "operation": graph.get_operation_by_name("s/a").name,
        "element": [graph.as_graph_element("s/a:0").name, graph.as_graph_element("s/a").name],
        "consumers": [op.name for op in a.consumers()],
        "value indexes": [first.value_index, second.value_index],
        "node def": [a.op.node_def.name, a.op.node_def.op, second.op.node_def.input[1]],
        "attrs": [str(a.op.get_attr("dtype")), second.op.get_attr("num_split")],
        "count": len(graph.get_operations()),
    }


@book.program(graph_def=True)
def control_dependencies(tf):
    a, b = floats(tf, "a", "b")
    with tf.control_dependencies([a.op]):
        c = tf.identity(b, name="after_a")
        with tf.control_dependencies([c]):
            tf.constant(1, name="after_both")
            tf.add(c, a, name="already_waits")
        with tf.control_dependencies(None):
            tf.constant(1, name="free")
    tf.constant(1, name="outside")
    with tf.control_dependencies([a, b, c]):
        tf.no_op()
    with tf.control_dependencies([]):
        tf.no_op(name="nothing")


@book.program()
def grouping(tf):
    a, b = floats(tf, "a", "b")
    n = tf.no_op()
    tf.group()
    tf.group(a, b)
    tf.group(a.op, n, name="named")
    tf.group([a, [b]], n)
    tf.tuple([a, b])
    tf.tuple([a, None], name="pair", control_inputs=[n])
    tf.no_op(name="end")
    with tf.device("/cpu:0"):
        c = tf.identity(a, name="c")
    with tf.device("/gpu:0"):
        d = tf.identity(a, name="d")
    tf.group(c, d, name="two_devices")


@book.program(graph_def=True)
def devices(tf):
    tf.constant(1, name="nowhere")
    with tf.device("/cpu:0"):
        tf.constant(1, name="cpu")
        with tf.device("/job:worker/task:1"):
            tf.constant(1, name="merged")
            with tf.device(None):
                tf.constant(1, name="reset")
        with tf.device("/device:GPU:2"):
            tf.constant(1, name="gpu")
    with tf.device("/job:ps"), tf.device("/gpu:1"):
        tf.constant(1, name="long_form")
    with tf.device("gpu:0"):
        tf.constant(1, name="short_form")


@book.program()
def device_functions(tf):
    def by_type(op):
        return "/cpu:0" if op.type == "Const" else "/job:worker/device:GPU:0"

    with tf.device(by_type):
        a = tf.constant(1.0, name="a")
        tf.square(a, name="b")
        with tf.device("/task:3"):
            tf.square(a, name="c")
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        tf.constant(1.0, name="worker_side")


@book.program()
def colocation(tf):
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
    b = tf.constant(1.0, name="b")
    with tf.colocate_with(a.op):
        tf.square(b, name="with_a")
        with tf.colocate_with(b.op):
            c = tf.square(b, name="with_both")
        with tf.colocate_with(None, ignore_existing=True):
            tf.square(b, name="alone")
    return {"groups": [g.decode() for g in c.op.colocation_groups()] + [g.decode() for g in b.op.colocation_groups()]}


@book.program(compare=OUTSIDE_CONDITIONALS)
def assertions(tf):
    (a,) = floats(tf, "a")
    ok = tf.reduce_all(a > 0)
    tf.Assert(ok, [a])
    tf.Assert(ok, [a, "is bad"], summarize=5, name="named")
    tf.check_numerics(a, "not a number")
    tf.verify_tensor_all_finite(a, "not finite")


@book.program(compare=FACTS_ONLY)
def composed_assertions(tf):
    (a,) = floats(tf, "a")
    n = tf.placeholder(tf.int32, [None], name="n")
    made = [
        tf.assert_equal(n, 3, name="equal"),
        tf.assert_positive(a, name="positive"),
        tf.assert_less(a, 1.0, message="too large", name="less"),
        tf.assert_rank(a, 2, name="rank"),
        tf.assert_type(a, tf.float32, name="type"),
    ]
    return {"ops": [op.name.split("/")[0] for op in made], "kinds": [isinstance(op, tf.Operation) for op in made]}


@book.program()
def printing_nodes(tf):
    a, b = floats(tf, "a", "b")
    tf.Print(a, [a, b])
    tf.Print(a, [b], message="b: ", first_n=3, summarize=10, name="show")
    tf.print("a is", a)


@book.program()
def python_functions(tf):
    (a,) = floats(tf, "a")
    one = tf.py_func(lambda x: x, [a], tf.float32)
    two = tf.py_func(lambda x: (x, x), [a], [tf.float32, tf.float32], stateful=False, name="pair")
    three = tf.numpy_function(lambda x: x, [a], tf.float32)
    return {"names": [one.name, two[1].name, three.name]}


@book.program()
def random_nodes(tf):
    tf.set_random_seed(7)
    n = tf.placeholder(tf.int32, [], name="n")
    tf.random_normal([2, 3])
    tf.random_uniform([2, 3])
    tf.random_uniform([n], 0, 10, tf.int32, seed=3)
    tf.random_uniform([4], -1.0, 1.0, name="symmetric")
    tf.truncated_normal([5], stddev=0.1)


@book.program()
def more_random_nodes(tf):
    tf.set_random_seed(7)
    tf.random_shuffle(tf.constant([1, 2, 3]))
    tf.multinomial(tf.constant([[0.5, 0.5]]), 3)
    tf.random_gamma([2], 1.0)
