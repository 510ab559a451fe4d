"""Misuse of graphs and sessions: what is raised, by whom, saying what.

A row is a function of `tf` and the words its message must hold (None: the class alone is compared). A dict gives each
judge its own words. Every row runs in a fresh default graph.
"""

import numpy as np

from .book import Book

book = Book(judges=("1.15", "2.21"))


def enter(rows, judges=None):
    for name, (function, says) in rows.items():
        book.add(name, function, judges, says=says)


def run(tf, fetches, feed=None, initialize=False):
    with tf.Session() as session:
        if initialize:
            session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def x_of(tf, *shape):
    return tf.placeholder(tf.float32, list(shape) or None, name="x")


def elsewhere(tf, name="foreign"):
    with tf.Graph().as_default():
        return tf.constant(1.0, name=name)


def closed(tf):
    tf.constant(1)
    session = tf.Session()
    session.close()
    return session


def finalized(tf):
    tf.constant(1)
    graph = tf.get_default_graph()
    graph.finalize()
    return graph


def prevented(tf, how):
    x = tf.placeholder(tf.float32, [], name="x")
    getattr(tf.get_default_graph(), how)(x if how == "prevent_feeding" else x.op)
    return x


NOT_ELEMENT = "is not an element of this graph"

SESSIONS = {
    "unfed placeholder": (
        lambda tf: run(tf, x_of(tf, 2) * 2.0),
        "You must feed a value for placeholder tensor 'x' with dtype float and shape [2]",
    ),
    "unfed placeholder of any shape": (
        lambda tf: run(tf, tf.placeholder(tf.int32, name="n") + 1),
        "You must feed a value for placeholder tensor 'n' with dtype int32",
    ),
    "fetch of another graph": (lambda tf: (tf.constant(1), run(tf, elsewhere(tf))), NOT_ELEMENT),
    "fetch of None": (lambda tf: (tf.constant(1), run(tf, None)), "has invalid type"),
    "fetch of None in a list": (lambda tf: run(tf, [tf.constant(1), None]), "has invalid type"),
    "fetch of a number": (lambda tf: (tf.constant(1), run(tf, 7)), "has invalid type"),
    "fetch of an unknown name": (
        lambda tf: (tf.constant(1), run(tf, "nope:0")),
        "cannot be interpreted as a Tensor",
    ),
    "fetch of an unknown operation": (
        lambda tf: (tf.constant(1), run(tf, "nope")),
        "cannot be interpreted as a Tensor",
    ),
    "fetch of a name with two colons": (lambda tf: (tf.constant(1), run(tf, "a:0:1")), None),
    "fetch of an output that is not": (
        lambda tf: (tf.constant(1, name="c"), run(tf, "c:3")),
        "cannot be interpreted as a Tensor",
    ),
    "fetch prevented": (lambda tf: run(tf, prevented(tf, "prevent_fetching")), "has been marked as not fetchable"),
    "run of an empty graph": (lambda tf: run(tf, []), "The Session graph is empty"),
    "feed of the wrong shape": (
        lambda tf: run(tf, *fed(x_of(tf, 2), [1.0, 2.0, 3.0])),
        "Cannot feed value of shape (3,) for Tensor",
    ),
    "feed of the wrong rank": (
        lambda tf: run(tf, *fed(x_of(tf, None, 3), [1.0, 2.0, 3.0])),
        "Cannot feed value of shape (3,) for Tensor",
    ),
    "feed of words": (lambda tf: run(tf, *fed(x_of(tf, 1), ["word"])), "could not convert string to float"),
    "feed of a fraction for an integer": (lambda tf: run(tf, *fed(tf.placeholder(tf.int32, []), 1.5)), None),
    "feed of an integer too large": (lambda tf: run(tf, *fed(tf.placeholder(tf.int32, []), 2**40)), None),
    "feed of ragged lists": (lambda tf: run(tf, *fed(x_of(tf), [[1.0], [1.0, 2.0]])), None),
    "feed of a tensor": (
        lambda tf: run(tf, *fed(x_of(tf), tf.constant(1.0))),
        "The value of a feed cannot be a tf.Tensor object",
    ),
    "feed for a number": (lambda tf: run(tf, tf.constant(1), {3: 1}), "Cannot interpret feed_dict key as Tensor"),
    "feed for None": (lambda tf: run(tf, tf.constant(1), {None: 1}), "Cannot interpret feed_dict key as Tensor"),
    "feed for an unknown name": (
        lambda tf: run(tf, tf.constant(1), {"nope:0": 1}),
        "Cannot interpret feed_dict key as Tensor",
    ),
    "feed for an operation": (
        lambda tf: run(tf, tf.constant(1), {x_of(tf).op: 1}),
        "Cannot interpret feed_dict key as Tensor",
    ),
    "feed for another graph": (lambda tf: run(tf, tf.constant(1), {elsewhere(tf): 1}), NOT_ELEMENT),
    "feed prevented": (lambda tf: run(tf, *fed(prevented(tf, "prevent_feeding"), 1.0)), "may not be fed"),
    "feed that is not a dict": (lambda tf: run(tf, tf.constant(1), [1, 2]), None),
    "session that is closed": (lambda tf: closed(tf).run("Const:0"), "Attempted to use a closed Session."),
    "session of a wrong graph": (lambda tf: tf.Session(graph="graph"), "must be a tf.Graph"),
    "session with a wrong config": (lambda tf: tf.Session(config="config"), "must be a tf.ConfigProto"),
    "session with a wrong target": (lambda tf: tf.Session(target=3), "must be a string"),
    "eval without a session": (
        lambda tf: tf.constant(1).eval(),
        "Cannot evaluate tensor using `eval()`: No default session is registered",
    ),
    "run of an op without a session": (
        lambda tf: tf.no_op().run(),
        "Cannot execute operation using `run()`: No default session is registered",
    ),
    "eval in a session of another graph": (
        lambda tf: eval_elsewhere(tf),
        "the tensor's graph is different from the session's graph",
    ),
}


def fed(x, value):
    return x, {x: value}


def eval_elsewhere(tf):
    foreign = elsewhere(tf)
    tf.constant(1)
    with tf.Session():
        return foreign.eval()


GRAPHS = {
    "finalized graph": (lambda tf: (finalized(tf), tf.constant(2)), "Graph is finalized and cannot be modified"),
    "name of an operation as a tensor": (
        lambda tf: (tf.constant(1, name="c"), tf.get_default_graph().get_tensor_by_name("c")),
        None,
    ),
    "name of a tensor as an operation": (
        lambda tf: (tf.constant(1, name="c"), tf.get_default_graph().get_operation_by_name("c:0")),
        "appears to refer to a Tensor, not a Operation",
    ),
    "tensor by an unknown name": (
        lambda tf: tf.get_default_graph().get_tensor_by_name("nope:0"),
        "The name 'nope:0' refers to a Tensor which does not exist",
    ),
    "tensor by an unknown output": (
        lambda tf: (tf.constant(1, name="c"), tf.get_default_graph().get_tensor_by_name("c:5")),
        "The name 'c:5' refers to a Tensor which does not exist",
    ),
    "operation by an unknown name": (
        lambda tf: tf.get_default_graph().get_operation_by_name("nope"),
        "The name 'nope' refers to an Operation not in the graph",
    ),
    "tensor by a number": (lambda tf: tf.get_default_graph().get_tensor_by_name(3), None),
    "element of a number": (lambda tf: tf.get_default_graph().as_graph_element(3), "Can not convert a int into a"),
    "element of another graph": (lambda tf: tf.get_default_graph().as_graph_element(elsewhere(tf)), NOT_ELEMENT),
    "name with a space": (lambda tf: tf.constant(1, name="a b"), "not a valid"),
    "name with a hash": (lambda tf: tf.no_op(name="a#b"), "not a valid"),
    "scope with a space": (lambda tf: tf.name_scope("a b").__enter__(), "'a b' is not a valid"),
    "scope beginning with an underscore": (lambda tf: tf.name_scope("_a").__enter__(), "'_a' is not a valid"),
    "inputs of two graphs": (lambda tf: tf.constant(1.0) + elsewhere(tf), "must be from the same graph"),
    "control input that is a number": (lambda tf: tf.control_dependencies([3]).__enter__(), None),
    "control input of another graph": (lambda tf: wait_for_elsewhere(tf), None),
    "device that is not": (lambda tf: on(tf, "/nonsense:0"), None),
    "bool of a tensor": (lambda tf: bool(x_of(tf)), "as a Python `bool` is not allowed"),
    "if on a comparison": (lambda tf: 1 if x_of(tf) > 0 else 2, "as a Python `bool` is not allowed"),
    "iterating over a tensor": (lambda tf: list(x_of(tf, 2)), None),
    "iterating over an unknown shape": (lambda tf: list(x_of(tf)), None),
    "len of a tensor": (lambda tf: len(x_of(tf, 2)), None),
    "int of a tensor": (lambda tf: int(x_of(tf)), None),
    "float of a tensor": (lambda tf: float(x_of(tf)), None),
    "tensor as an array": (lambda tf: np.asarray(x_of(tf)), "Cannot convert a symbolic"),
    "tensor as an index of a list": (lambda tf: [1, 2][tf.constant(1)], None),
    "numpy of a tensor": (lambda tf: x_of(tf).numpy(), None),
    "attribute that is not": (lambda tf: x_of(tf).nothing, None),
    "attr that is not": (lambda tf: x_of(tf).op.get_attr("nothing"), "has no attr named 'nothing'"),
    "assigning to an item": (lambda tf: put(x_of(tf, 2)), "does not support item assignment"),
    "index that is a word": (lambda tf: x_of(tf, 2)["a"], "Only integers, slices"),
    "index that is a float": (lambda tf: x_of(tf, 2)[1.5], "Only integers, slices"),
    "shape that contradicts": (lambda tf: x_of(tf, 2).set_shape([3]), "Dimension 0 in both shapes must be equal"),
    "shape as a list when unknown": (lambda tf: x_of(tf).shape.as_list(), "as_list() is not defined on an unknown"),
    "merge of shapes": (lambda tf: tf.TensorShape([2]).merge_with([3]), "are not compatible"),
    "placeholder without a dtype": (lambda tf: tf.placeholder(None), None),
    "default graph reset within another": (lambda tf: tf.reset_default_graph(), None),
    "collection of a number": (lambda tf: tf.get_collection(3), None),
}


def wait_for_elsewhere(tf):
    with tf.control_dependencies([elsewhere(tf)]):
        return tf.no_op()


def on(tf, device):
    with tf.device(device):
        return tf.constant(1)


def two(tf, a, b):
    return tf.placeholder(tf.float32, a, name="a"), tf.placeholder(tf.float32, b, name="b")


EQUAL = "Dimensions must be equal, but are {} and {}"

SHAPES = {
    "add of unequal": (lambda tf: tf.add(*two(tf, [2], [3])), EQUAL.format(2, 3)),
    "operator on unequal": (lambda tf: two(tf, [4, 2], [4, 3])[0] + tf.ones([4, 3]), EQUAL.format(2, 3)),
    "matmul of unequal": (lambda tf: tf.matmul(*two(tf, [2, 3], [2, 3])), EQUAL.format(3, 2)),
    "matmul of a vector": (lambda tf: tf.matmul(*two(tf, [3], [3, 2])), None),
    "concat of unequal": (lambda tf: tf.concat(two(tf, [2, 3], [2, 4]), 0), None),
    "concat of unequal ranks": (lambda tf: tf.concat(two(tf, [2], [2, 4]), 0), "must"),
    "concat of scalars": (lambda tf: tf.concat([tf.constant(1), tf.constant(2)], 0), None),
    "concat of nothing": (lambda tf: tf.concat([], 0), None),
    "stack of unequal": (lambda tf: tf.stack(two(tf, [2], [3])), None),
    "stack out of range": (lambda tf: tf.stack(two(tf, [2], [2]), axis=5), None),
    "reshape of another size": (lambda tf: tf.reshape(tf.ones([6]), [4]), "Cannot reshape a tensor with 6 elements"),
    "reshape that does not divide": (lambda tf: tf.reshape(tf.ones([6]), [4, -1]), None),
    "reshape with two unknowns": (lambda tf: run(tf, tf.reshape(tf.ones([6]), [-1, -1])), None),
    "squeeze of a wide axis": (lambda tf: tf.squeeze(tf.ones([2, 1]), [0]), "Can not squeeze dim[0]"),
    "expand_dims out of range": (lambda tf: tf.expand_dims(tf.ones([2]), 5), None),
    "transpose by a wrong rank": (lambda tf: tf.transpose(tf.ones([2, 3]), [0, 1, 2]), None),
    "transpose by a repeated axis": (lambda tf: run(tf, tf.transpose(tf.ones([2, 3]), [0, 0])), None),
    "reduction out of range": (lambda tf: tf.reduce_sum(tf.ones([2, 3]), 5), "Invalid reduction dimension"),
    "split that does not divide": (lambda tf: tf.split(tf.ones([5]), 2), None),
    "split by wrong sizes": (lambda tf: run(tf, tf.split(tf.ones([5]), [2, 2])), None),
    "unstack of the unknown": (lambda tf: tf.unstack(tf.placeholder(tf.float32, [None])), "Cannot infer"),
    "unstack of a wrong number": (lambda tf: tf.unstack(tf.ones([3]), num=2), None),
    "index out of range": (lambda tf: tf.ones([3])[5], "slice index 5 of dimension 0 out of bounds"),
    "too many indices": (lambda tf: tf.ones([3])[0, 0], None),
    "slice out of range": (lambda tf: tf.slice(tf.ones([3]), [1], [5]), None),
    "stride of zero": (lambda tf: tf.ones([3])[::0], "must be non-zero"),
    "gather out of range": (lambda tf: run(tf, tf.gather([0, 1, 2], 7)), "indices = 7 is not in [0, 3)"),
    "gather in a list out of range": (
        lambda tf: run(tf, tf.gather([0, 1, 2], [0, -1])),
        "indices[1] = -1 is not in [0, 3)",
    ),
    "gather by floats": (lambda tf: tf.gather([0, 1, 2], 1.0), None),
    "conv2d of other channels": (
        lambda tf: tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 2, 5]), [1, 1, 1, 1], "SAME"),
        None,
    ),
    "conv2d of rank 3": (
        lambda tf: tf.nn.conv2d(tf.ones([4, 4, 3]), tf.ones([2, 2, 3, 5]), [1, 1, 1, 1], "SAME"),
        "Shape must be rank 4",
    ),
    "conv2d with odd padding": (
        lambda tf: tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 5]), [1, 1, 1, 1], "ODD"),
        None,
    ),
    "conv2d with a filter too large": (
        lambda tf: tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([5, 5, 1, 1]), [1, 1, 1, 1], "VALID"),
        "Negative dimension size",
    ),
    "max_pool of rank 2": (lambda tf: tf.nn.max_pool(tf.ones([4, 4]), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), None),
    "bias of another size": (lambda tf: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([2])), None),
    "softmax cross entropy of unequal": (
        lambda tf: run(tf, tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.ones([2, 3]), logits=tf.ones([2, 4]))),
        None,
    ),
    "sparse cross entropy of wrong rank": (
        lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.ones([2, 3], tf.int32), logits=tf.ones([2, 3])
        ),
        None,
    ),
    "sigmoid cross entropy of unequal": (
        lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones([3]), logits=tf.ones([2])),
        "must have the same shape",
    ),
    "cross entropy by position": (lambda tf: tf.nn.softmax_cross_entropy_with_logits(tf.ones([2]), tf.ones([2])), None),
    "tile by a wrong rank": (lambda tf: tf.tile(tf.ones([2, 3]), [2]), None),
    "pad by a wrong rank": (lambda tf: tf.pad(tf.ones([2, 3]), [[1, 1]]), None),
    "where of unequal": (lambda tf: tf.where([True, False], tf.ones([2]), tf.ones([3])), None),
    "argmax out of range": (lambda tf: run(tf, tf.argmax(tf.ones([2]), 3)), None),
    "top_k of too few": (lambda tf: tf.nn.top_k(tf.ones([2]), 3), "input must have last dimension >= k = 3"),
    "one_hot of a negative depth": (lambda tf: run(tf, tf.one_hot([0], -1)), None),
    "range by zero": (lambda tf: run(tf, tf.range(0, 5, 0)), None),
    "fill of a negative size": (lambda tf: run(tf, tf.fill([-1], 1.0)), None),
    "diag of a matrix": (lambda tf: tf.matrix_diag_part(tf.ones([3])), None),
    "add_n of unequal": (lambda tf: tf.add_n(list(two(tf, [2], [3]))), None),
    "add_n of nothing": (lambda tf: tf.add_n([]), "must be a"),
    "broadcast_to fewer": (lambda tf: run(tf, tf.broadcast_to(tf.ones([3]), [2])), None),
    "dropout of a rate too large": (lambda tf: tf.nn.dropout(tf.ones([3]), rate=1.5), None),
    "embedding of nothing": (lambda tf: tf.nn.embedding_lookup([], [1]), None),
}

DTYPES = {
    "int plus float tensor": (
        lambda tf: tf.constant(1) + tf.constant(1.0),
        "type float32 that does not match type int32 of argument 'x'",
    ),
    "add of int and float": (
        lambda tf: tf.add(tf.constant(1), tf.constant(1.0)),
        "type float32 that does not match type int32 of argument 'x'",
    ),
    "float plus double": (lambda tf: tf.constant(1.0) + tf.constant(1.0, tf.float64), None),
    "int tensor plus a fraction": (lambda tf: tf.constant(1) + 1.5, None),
    "int divided by a fraction": (lambda tf: tf.constant(1) / 2.5, None),
    "fraction plus int tensor": (lambda tf: 1.5 + tf.constant(1), None),
    "float plus a word": (lambda tf: tf.constant(1.0) + "word", None),
    "matmul of int and float": (lambda tf: tf.matmul(tf.ones([2, 2], tf.int32), tf.ones([2, 2])), None),
    "exp of an integer": (lambda tf: tf.exp(tf.constant(1)), "not in list of allowed values"),
    "sqrt of an integer": (lambda tf: tf.sqrt(tf.constant(1)), None),
    "logical_and of integers": (lambda tf: tf.logical_and(1, 0), None),
    "not of a float": (lambda tf: ~tf.constant(1.0), None),
    "and of floats": (lambda tf: tf.constant(1.0) & tf.constant(1.0), None),
    "reduce_all of integers": (lambda tf: tf.reduce_all(tf.constant([1])), None),
    "mean of integers": (lambda tf: run(tf, tf.reduce_mean(tf.constant([1, 2]))), None),
    "concat of int and float": (lambda tf: tf.concat([tf.constant([1]), tf.constant([1.0])], 0), None),
    "stack of int and float": (lambda tf: tf.stack([tf.constant(1), tf.constant(1.0)]), None),
    "where with floats as the condition": (lambda tf: tf.where(tf.constant([1.0]), [1.0], [2.0]), None),
    "convert to another dtype": (
        lambda tf: tf.convert_to_tensor(tf.constant(1), tf.float32),
        "Tensor conversion requested dtype float32 for Tensor with dtype int32",
    ),
    "convert None": (lambda tf: tf.convert_to_tensor(None), None),
    "convert an object": (lambda tf: tf.convert_to_tensor(object()), None),
    "constant of None": (lambda tf: tf.constant(None), None),
    "constant of ragged lists": (lambda tf: tf.constant([[1, 2], [3]]), None),
    "constant of too many": (lambda tf: tf.constant([1, 2, 3], shape=[2]), None),
    "constant of too few": (lambda tf: tf.constant([1, 2, 3], shape=[5]), None),
    "constant of a word as int": (lambda tf: tf.constant("a", tf.int32), None),
    "constant of a fraction as int": (lambda tf: tf.constant(1.5, tf.int32), None),
    "constant of an int as text": (lambda tf: tf.constant(1, tf.string), None),
    "constant of a fraction as bool": (lambda tf: tf.constant(1.5, tf.bool), None),
    "constant of mixed": (lambda tf: tf.constant([1, "a"]), None),
    "cast of a word": (lambda tf: run(tf, tf.cast(tf.constant("1"), tf.int32)), None),
    "dtype that is not": (lambda tf: tf.as_dtype("float31"), None),
    "dtype of a number": (lambda tf: tf.as_dtype(-5), None),
}

RUNNING = {
    "assert that fails": (
        lambda tf: run(tf, tf.Assert(tf.constant(False), ["because", tf.constant(3)])),
        "assertion failed: [because] [3]",
    ),
    "assert_equal that fails": (
        lambda tf: run(tf, tf.assert_equal(tf.placeholder_with_default(1, []), 2, message="m")),
        None,
    ),
    "assert_equal that cannot hold": (lambda tf: tf.assert_equal(tf.constant(1), 2), None),
    "assert_rank that cannot hold": (lambda tf: tf.assert_rank(tf.ones([2]), 2), None),
    "check_numerics of nan": (
        lambda tf: run(tf, tf.check_numerics(tf.constant([float("nan")]), "checked")),
        "checked : Tensor had NaN values",
    ),
    "check_numerics of infinity": (
        lambda tf: run(tf, tf.check_numerics(tf.constant([float("inf")]), "checked")),
        "Tensor had",
    ),
    "integer division by zero": (
        lambda tf: run(tf, tf.constant([1]) // tf.placeholder_with_default([0], [1])),
        "nteger division by zero",
    ),
    "modulo by zero": (lambda tf: run(tf, tf.constant([1]) % tf.placeholder_with_default([0], [1])), None),
    "add of unequal at run time": (
        lambda tf: run(tf, loose(tf, [1.0, 2.0]) + loose(tf, [1.0, 2.0, 3.0])),
        "Incompatible shapes: [2] vs. [3]",
    ),
    "matmul of unequal at run time": (
        lambda tf: run(tf, tf.matmul(loose(tf, [[1.0]], 2), loose(tf, [[1.0], [2.0]], 2))),
        "Matrix size-incompatible: In[0]: [1,1], In[1]: [2,1]",
    ),
    "reshape at run time": (
        lambda tf: run(tf, tf.reshape(loose(tf, [1.0, 2.0, 3.0]), [2])),
        "Input to reshape is a tensor with 3 values, but the requested shape has 2",
    ),
    "concat at run time": (lambda tf: run(tf, tf.concat([loose(tf, [[1.0]], 2), loose(tf, [[1.0, 2.0]], 2)], 0)), None),
    "index at run time": (
        lambda tf: run(tf, loose(tf, [1.0])[tf.placeholder_with_default(4, [])]),
        "slice index 4 of dimension 0 out of bounds",
    ),
    "inverse of the singular": (lambda tf: run(tf, tf.matrix_inverse([[1.0, 1.0], [1.0, 1.0]])), "not invertible"),
    "py_func that raises ValueError": (lambda tf: run(tf, raising(tf, ValueError)), "ValueError: from inside"),
    "py_func that raises TypeError": (lambda tf: run(tf, raising(tf, TypeError)), "TypeError: from inside"),
    "py_func that raises StopIteration": (lambda tf: run(tf, raising(tf, StopIteration)), None),
    "py_func that raises NotImplementedError": (lambda tf: run(tf, raising(tf, NotImplementedError)), None),
    "py_func that raises KeyError": (lambda tf: run(tf, raising(tf, KeyError)), None),
    "py_func of another dtype": (lambda tf: run(tf, tf.py_func(lambda: np.float64(1), [], tf.int32)), None),
    "py_func of another count": (lambda tf: run(tf, tf.py_func(lambda: (1, 2), [], [tf.int64])), None),
}


def loose(tf, value, rank=1):
    """A constant whose static shape is forgotten, so that only the kernel can see what is wrong."""
    return tf.placeholder_with_default(np.float32(value), [None] * rank)


def raising(tf, kind):
    def inside():
        raise kind("from inside")

    return tf.py_func(inside, [], tf.float32)


GRADIENTS = {
    "gradient of the unconnected": (lambda tf: tf.gradients(tf.constant(1.0), x_of(tf))[0], None),
    "gradient through an op without": (lambda tf: no_gradient(tf), "No gradient defined for operation"),
    "gradient of integers": (lambda tf: int_gradient(tf), None),
    "gradient with too few grad_ys": (lambda tf: square_gradient(tf, grad_ys=[]), None),
    "gradient with grad_ys of another dtype": (lambda tf: square_gradient(tf, grad_ys=[tf.constant([1])]), None),
    "gradient with an unknown aggregation": (lambda tf: square_gradient(tf, aggregation_method=99), None),
    "gradient that is unconnected, oddly": (lambda tf: square_gradient(tf, unconnected_gradients="odd"), None),
    "minimize of nothing trainable": (
        lambda tf: tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0)),
        "No variables to optimize",
    ),
    "minimize of the unconnected": (
        lambda tf: (tf.Variable(1.0), tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))),
        "No gradients provided for any variable",
    ),
    "minimize of a callable in a graph": (
        lambda tf: tf.train.GradientDescentOptimizer(0.1).minimize(lambda: 1.0, var_list=[]),
        None,
    ),
    "apply of no gradients": (lambda tf: tf.train.AdamOptimizer().apply_gradients([]), "No variables provided"),
    "apply of None": (
        lambda tf: tf.train.AdamOptimizer().apply_gradients([(None, tf.Variable(1.0))]),
        "No gradients provided for any variable",
    ),
    "apply to a tensor": (
        lambda tf: tf.train.AdamOptimizer().apply_gradients([(tf.constant(1.0), tf.constant(1.0))]),
        None,
    ),
    "optimizer without a name": (lambda tf: tf.train.GradientDescentOptimizer(0.1, name=""), "name"),
    "adagrad from nothing": (lambda tf: tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.0), "positive"),
    "ftrl of a positive power": (lambda tf: tf.train.FtrlOptimizer(0.1, learning_rate_power=0.5), None),
    "global norm of a tensor": (lambda tf: tf.global_norm(tf.constant(1.0)), None),
    "clip_by_global_norm of a tensor": (lambda tf: tf.clip_by_global_norm(tf.constant(1.0), 1.0), None),
    "average before apply": (lambda tf: tf.train.ExponentialMovingAverage(0.9).average(tf.Variable(1.0)), None),
    "average of integers": (lambda tf: tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1)]), None),
    "piecewise of wrong counts": (lambda tf: tf.train.piecewise_constant(tf.constant(1), [1, 2], [1.0]), None),
    "decay without a step": (lambda tf: tf.train.exponential_decay(0.1, None, 10, 0.9), None),
}


def square_gradient(tf, **options):
    x = x_of(tf, 1)
    return tf.gradients(tf.square(x), x, **options)[0].name


def int_gradient(tf):
    x = tf.placeholder(tf.int32, [], name="x")
    return tf.gradients(x * 2, x)[0] is None


def no_gradient(tf):
    x = tf.placeholder(tf.float32, [4], name="x")
    return tf.gradients(tf.unique(x)[0], x)


def put(x):
    x[0] = 1.0


# Where the two releases part: 2.21 gives back nonsense for a matrix that has no Cholesky factor.
ONLY_OLD = {
    "cholesky of the indefinite": (
        lambda tf: run(tf, tf.cholesky([[1.0, 2.0], [2.0, 1.0]])),
        "Cholesky decomposition was not successful",
    ),
}

for _rows in (SESSIONS, GRAPHS, SHAPES, DTYPES, RUNNING, GRADIENTS):
    enter(_rows)
enter(ONLY_OLD, ("1.15",))
