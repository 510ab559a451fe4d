"""Misuse of eager tensors, variables and tapes: what is raised at once, saying what. Rows as in `errors_graph`."""

import numpy as np

from .book import Book

book = Book(judges=("2.21",))


def spent_tape(tf):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    return tape.gradient(y, x)


def open_tape(tf):
    with tf.GradientTape() as tape:
        return tape.gradient(tf.constant(1.0), tf.constant(1.0)) is None


def tape_twice(tf):
    with tf.GradientTape() as tape, tape:
        return 1


def no_tape(tf):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x) is None


def string_gradient(tf):
    with tf.GradientTape() as tape:
        tape.watch(tf.constant("word"))
    return 1


def in_place(tf):
    x = tf.constant([1.0, 2.0])
    x[0] = 5.0


def set_shape(tf):
    tf.constant([1.0, 2.0]).set_shape([3])


def bad_py_function(tf):
    def inside(x):
        raise ValueError("from inside")

    return tf.py_function(inside, [1.0], tf.float32)


def lost_variable(tf):
    v = tf.Variable([1.0, 2.0])
    v.assign([1.0, 2.0, 3.0])


DTYPES = {
    "int32 + float32": (
        lambda tf: tf.constant(1) + tf.constant(1.0),
        "cannot compute AddV2 as input #1(zero-based) was expected to be a int32 tensor but is a float tensor",
    ),
    "float32 * int32": (
        lambda tf: tf.constant(1.0) * tf.constant(1),
        "cannot compute Mul as input #1(zero-based) was expected to be a float tensor but is a int32 tensor",
    ),
    "float32 + float64": (lambda tf: tf.constant(1.0) + tf.constant(1.0, tf.float64), "is a double tensor"),
    "int64 + int32": (lambda tf: tf.constant(1, tf.int64) + tf.constant(1), "cannot compute AddV2"),
    "int32 + 1.5": (lambda tf: tf.constant(1) + 1.5, "cannot compute AddV2"),
    "1.5 + int32": (lambda tf: 1.5 + tf.constant(1), None),
    "int32 / 2.5": (lambda tf: tf.constant(1) / 2.5, None),
    "float32 + word": (lambda tf: tf.constant(1.0) + "a", None),
    "float32 + float64 array": (lambda tf: tf.constant([1.0]) + np.array([1.0]), None),
    "int32 + int64 array": (lambda tf: tf.constant([1]) + np.array([1]), None),
    "int32 + float array": (lambda tf: tf.constant([1]) + np.array([1.5]), None),
    "float32 + None": (lambda tf: tf.constant(1.0) + None, None),
    "exp of an integer": (lambda tf: tf.exp(1), None),
    "exp of an integer tensor": (lambda tf: tf.exp(tf.constant(1)), None),
    "sqrt of an integer tensor": (lambda tf: tf.sqrt(tf.constant([4])), None),
    "matmul of int and float": (lambda tf: tf.matmul(tf.ones([2, 2], tf.int32), tf.ones([2, 2])), None),
    "logical_and of ints": (lambda tf: tf.logical_and(tf.constant(1), tf.constant(1)), None),
    "not of a float": (lambda tf: ~tf.constant(1.0), None),
    "minus of a bool": (lambda tf: -tf.constant(True), None),
    "bool + bool": (lambda tf: tf.constant(True) + tf.constant(True), None),
    "string - string": (lambda tf: tf.constant("a") - tf.constant("b"), None),
    "reduce_sum of strings": (lambda tf: tf.reduce_sum(tf.constant(["a"])), None),
    "mean of bools": (lambda tf: tf.reduce_mean(tf.constant([True])), None),
    "concat of int and float": (lambda tf: tf.concat([tf.constant([1]), tf.constant([1.0])], 0), None),
    "stack of int and float": (lambda tf: tf.stack([tf.constant(1), tf.constant(1.0)]), None),
    "cast of a word": (lambda tf: tf.cast(tf.constant("1"), tf.int32), None),
    "cast to a word": (lambda tf: tf.cast(1, tf.string), None),
    "where with a float condition": (lambda tf: tf.where(tf.constant([1.0]), 1.0, 2.0), None),
}

CONSTANTS = {
    "constant of None": (lambda tf: tf.constant(None), "Attempt to convert a value (None) with an unsupported type"),
    "constant of an object": (lambda tf: tf.constant(object()), "with an unsupported type"),
    "constant of ragged lists": (lambda tf: tf.constant([[1, 2], [3]]), None),
    "constant of mixed": (lambda tf: tf.constant([1, "a"]), None),
    "constant of ints and floats": (lambda tf: tf.constant([1, 2.5]), None),
    "constant of floats and ints": (lambda tf: tf.constant([1.5, 2]), None),
    "constant of bools and ints": (lambda tf: tf.constant([True, 2]), None),
    "constant of too many": (lambda tf: tf.constant([1, 2, 3], shape=[2]), None),
    "constant of too few": (lambda tf: tf.constant([1, 2, 3], shape=[5]), None),
    "constant broadcast": (lambda tf: tf.constant(7, shape=[2, 2]), None),
    "constant of a word as int": (lambda tf: tf.constant("a", tf.int32), "Cannot convert"),
    "constant of a fraction as int": (
        lambda tf: tf.constant(1.5, tf.int32),
        "Cannot convert 1.5 to EagerTensor of dtype int32",
    ),
    "constant of an int as text": (
        lambda tf: tf.constant(1, tf.string),
        "Cannot convert 1 to EagerTensor of dtype string",
    ),
    "constant of an int as bool": (lambda tf: tf.constant(1, tf.bool), None),
    "constant of 2 ** 40": (lambda tf: tf.constant(2**40), None),
    "constant of 2 ** 70": (lambda tf: tf.constant(2**70), None),
    "constant of complex as float": (lambda tf: tf.constant(1j, tf.float32), None),
    "constant of an array of objects": (lambda tf: tf.constant(np.array([object()])), None),
    "constant of an array of words": (lambda tf: tf.constant(np.array(["a", "b"])), None),
    "constant of a dict": (lambda tf: tf.constant({"a": 1}), None),
    "constant of a set": (lambda tf: tf.constant({1}), None),
    "constant of a generator": (lambda tf: tf.constant(i for i in range(3)), None),
    "convert to another dtype": (
        lambda tf: tf.convert_to_tensor(tf.constant(1), tf.float32),
        "Tensor conversion requested dtype float32 for Tensor with dtype int32",
    ),
    "convert an array to another dtype": (lambda tf: tf.convert_to_tensor(np.array([1.5]), tf.int32), None),
    "convert a list with tensors": (lambda tf: tf.convert_to_tensor([tf.constant(1), 2.5]), None),
    "dtype that is not": (lambda tf: tf.as_dtype("float31"), None),
    "zeros of a negative size": (lambda tf: tf.zeros([-1]), None),
    "zeros of a fraction": (lambda tf: tf.zeros([1.5]), None),
    "fill of a negative size": (lambda tf: tf.fill([-2], 1.0), None),
    "range by zero": (lambda tf: tf.range(0, 5, 0), None),
    "range backwards": (lambda tf: tf.range(5, 0), None),
    "one_hot of a negative depth": (lambda tf: tf.one_hot([0], -1), None),
    "linspace of none": (lambda tf: tf.linspace(0.0, 1.0, 0), None),
    "eye of a negative size": (lambda tf: tf.eye(-1), None),
}

OPERATIONS = {
    "gather out of range": (lambda tf: tf.gather([0, 1, 2], 7), "indices = 7 is not in [0, 3)"),
    "gather of a negative": (lambda tf: tf.gather([0, 1, 2], [1, -1]), "indices[1] = -1 is not in [0, 3)"),
    "gather of an axis that is not": (lambda tf: tf.gather([0, 1, 2], 0, axis=3), None),
    "gather by floats": (lambda tf: tf.gather([0, 1, 2], 1.0), None),
    "gather_nd out of range": (lambda tf: tf.gather_nd([0, 1, 2], [[9]]), None),
    "add of unequal": (lambda tf: tf.ones([2]) + tf.ones([3]), "Incompatible shapes: [2] vs. [3]"),
    "multiply of unequal": (lambda tf: tf.ones([2, 2]) * tf.ones([3, 2]), "Incompatible shapes: [2,2] vs. [3,2]"),
    "matmul of unequal": (
        lambda tf: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
        "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]",
    ),
    "matmul of vectors": (lambda tf: tf.matmul(tf.ones([3]), tf.ones([3])), None),
    "matmul of unequal batches": (lambda tf: tf.matmul(tf.ones([2, 3, 3]), tf.ones([4, 3, 3])), None),
    "reshape of another size": (
        lambda tf: tf.reshape(tf.ones([6]), [4]),
        "Input to reshape is a tensor with 6 values, but the requested shape has 4",
    ),
    "reshape with two unknowns": (lambda tf: tf.reshape(tf.ones([6]), [-1, -1]), None),
    "reshape that does not divide": (lambda tf: tf.reshape(tf.ones([6]), [4, -1]), None),
    "concat of unequal": (lambda tf: tf.concat([tf.ones([2, 3]), tf.ones([2, 4])], 0), None),
    "concat out of range": (lambda tf: tf.concat([tf.ones([2]), tf.ones([2])], 3), None),
    "stack of unequal": (lambda tf: tf.stack([tf.ones([2]), tf.ones([3])]), None),
    "split that does not divide": (lambda tf: tf.split(tf.ones([5]), 2), None),
    "split by wrong sizes": (lambda tf: tf.split(tf.ones([5]), [2, 2]), None),
    "squeeze of a wide axis": (
        lambda tf: tf.squeeze(tf.ones([2, 1]), 0),
        "Can not squeeze dim[0], expected a dimension of 1, got 2",
    ),
    "expand_dims out of range": (lambda tf: tf.expand_dims(tf.ones([2]), 5), None),
    "transpose by a wrong rank": (lambda tf: tf.transpose(tf.ones([2, 3]), [0]), None),
    "transpose by a repeated axis": (lambda tf: tf.transpose(tf.ones([2, 3]), [0, 0]), None),
    "reduction out of range": (lambda tf: tf.reduce_sum(tf.ones([2, 3]), 5), "Invalid reduction dimension"),
    "argmax out of range": (lambda tf: tf.argmax(tf.ones([2]), 3), None),
    "tile by a wrong rank": (lambda tf: tf.tile(tf.ones([2, 3]), [2]), None),
    "pad by a wrong rank": (lambda tf: tf.pad(tf.ones([2, 3]), [[1, 1]]), None),
    "pad by a negative": (lambda tf: tf.pad(tf.ones([2]), [[-1, 0]]), None),
    "broadcast_to fewer": (lambda tf: tf.broadcast_to(tf.ones([3]), [2]), None),
    "top_k of too few": (lambda tf: tf.nn.top_k(tf.ones([2]), 3), None),
    "integer division by zero": (lambda tf: tf.constant([1]) // 0, "nteger division by zero"),
    "modulo by zero": (lambda tf: tf.constant([1]) % 0, None),
    "float division by zero": (lambda tf: tf.constant([1.0, -1.0, 0.0]) / 0.0, None),
    "integer to a negative power": (lambda tf: tf.constant([2]) ** -1, None),
    "conv2d of other channels": (
        lambda tf: tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 2, 5]), 1, "SAME"),
        None,
    ),
    "conv2d of rank 3": (lambda tf: tf.nn.conv2d(tf.ones([4, 4, 3]), tf.ones([2, 2, 3, 5]), 1, "SAME"), None),
    "conv2d with odd padding": (lambda tf: tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 5]), 1, "ODD"), None),
    "bias of another size": (lambda tf: tf.nn.bias_add(tf.ones([2, 3]), tf.ones([2])), None),
    "softmax of an axis that is not": (lambda tf: tf.nn.softmax(tf.ones([2, 3]), axis=4), None),
    "cross entropy of unequal": (
        lambda tf: tf.nn.softmax_cross_entropy_with_logits(tf.ones([2, 3]), tf.ones([2, 4])),
        None,
    ),
    "sparse cross entropy out of range": (
        lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits([9], tf.ones([1, 3])),
        None,
    ),
    "sigmoid cross entropy of unequal": (
        lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(tf.ones([3]), tf.ones([2])),
        "must have the same shape",
    ),
    "dropout of a rate too large": (lambda tf: tf.nn.dropout(tf.ones([3]), 1.5), None),
    "inverse of the singular": (lambda tf: tf.linalg.inv([[1.0, 1.0], [1.0, 1.0]]), "not invertible"),
    "check_numerics of nan": (
        lambda tf: tf.debugging.check_numerics(float("nan"), "checked"),
        "checked : Tensor had NaN values",
    ),
    "assert_equal that fails": (lambda tf: tf.debugging.assert_equal(1, 2, message="told so"), "told so"),
    "assert_shapes that fail": (
        lambda tf: tf.debugging.assert_shapes([(tf.ones([2]), ["N"]), (tf.ones([3]), ["N"])]),
        None,
    ),
    "assert_rank that fails": (lambda tf: tf.debugging.assert_rank(tf.ones([2]), 2), None),
    "Assert that fails": (lambda tf: tf.debugging.Assert(False, [1, "b"]), None),
    "py_function that raises": (bad_py_function, "ValueError: from inside"),
    "einsum of unequal": (lambda tf: tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([4, 2])), None),
    "boolean mask of another shape": (lambda tf: tf.boolean_mask([1, 2, 3], [True, False]), None),
    "segment_sum unsorted": (lambda tf: tf.math.segment_sum(tf.ones([2]), [1, 0]), None),
    "keyword that is not": (lambda tf: tf.reduce_sum(tf.ones([2]), nothing=1), None),
}

TENSORS = {
    "bool of a vector": (lambda tf: bool(tf.constant([True, False])), "truth value of an array"),
    "bool of a word": (lambda tf: bool(tf.constant("a")), None),
    "int of a vector": (lambda tf: int(tf.constant([1, 2])), None),
    "float of a word": (lambda tf: float(tf.constant("a")), None),
    "index by a vector": (lambda tf: [1, 2][tf.constant([1])], None),
    "len of a scalar": (lambda tf: len(tf.constant(1)), "Scalar tensor has no `len()`"),
    "iterating over a scalar": (lambda tf: list(tf.constant(1)), "Cannot iterate over a scalar tensor"),
    "unpacking too few": (lambda tf: unpack(tf), None),
    "index out of range": (lambda tf: tf.constant([1, 2])[5], "slice index 5 of dimension 0 out of bounds"),
    "negative index out of range": (lambda tf: tf.constant([1, 2])[-5], "out of bounds"),
    "too many indices": (lambda tf: tf.constant([1, 2])[0, 0], None),
    "index of a scalar": (lambda tf: tf.constant(1)[0], None),
    "index that is a word": (lambda tf: tf.constant([1, 2])["a"], "Only integers, slices"),
    "index that is a float": (lambda tf: tf.constant([1, 2])[1.0], None),
    "two ellipses": (lambda tf: tf.ones([2, 2])[..., ...], "ellipses"),
    "stride of zero": (lambda tf: tf.constant([1, 2])[::0], "must be non-zero"),
    "item assigned": (in_place, "does not support item assignment"),
    "hash": (lambda tf: hash(tf.constant(1)), "Tensor is unhashable"),
    "tensor as a key": (lambda tf: {tf.constant(1): 2}, "Tensor is unhashable"),
    "shape set to another": (set_shape, "is not compatible with"),
    "attribute that is not": (lambda tf: tf.constant(1).nothing, None),
    "op of an eager tensor": (lambda tf: tf.constant(1).op, None),
    "graph of an eager tensor": (lambda tf: tf.constant(1).graph, None),
    "name of an eager tensor": (lambda tf: tf.constant(1).name, None),
    "eval of an eager tensor": (lambda tf: tf.constant(1).eval(), None),
    "comparison of unequal shapes": (lambda tf: tf.ones([2]) == tf.ones([3]), None),
    "comparison with a word": (lambda tf: tf.constant(1) == "a", None),
    "comparison with None": (lambda tf: tf.constant(1) == None, None),  # noqa: E711
    "order of unequal dtypes": (lambda tf: tf.constant(1) < tf.constant(1.0), None),
    "in a tensor": (lambda tf: 1 in tf.constant([1, 2]), None),
    "matmul operator on scalars": (lambda tf: tf.constant(1.0) @ tf.constant(1.0), None),
    "shape as a list when unknown": (
        lambda tf: tf.TensorShape(None).as_list(),
        "as_list() is not defined on an unknown",
    ),
    "merge of shapes": (lambda tf: tf.TensorShape([2]).merge_with([3]), "are not compatible"),
    "rank asserted": (lambda tf: tf.TensorShape([2]).assert_has_rank(2), "must have rank 2"),
    "bool of a shape": (lambda tf: bool(tf.TensorShape([])), None),
    "len of an unknown shape": (lambda tf: len(tf.TensorShape(None)), None),
    "dimension that is a word": (lambda tf: tf.TensorShape(["a"]), None),
    "dimension that is negative": (lambda tf: tf.TensorShape([-1]), None),
}


def unpack(tf):
    a, b = tf.constant([1, 2, 3])
    return a, b


VARIABLES = {
    "variable without a value": (lambda tf: tf.Variable(), None),
    "variable of None": (lambda tf: tf.Variable(None), None),
    "variable of another dtype": (lambda tf: tf.Variable(tf.constant(1), dtype=tf.float32), None),
    "variable of another shape": (lambda tf: tf.Variable([1.0, 2.0], shape=[3]), None),
    "assign of another shape": (lost_variable, "Cannot assign value to variable"),
    "assign of another dtype": (lambda tf: tf.Variable(1.0).assign(tf.constant(1)), None),
    "assign of a fraction to an int": (lambda tf: tf.Variable(1).assign(1.5), None),
    "assign_add of another shape": (lambda tf: tf.Variable([1.0, 2.0]).assign_add([1.0, 2.0, 3.0]), None),
    "scatter out of range": (lambda tf: scatter(tf, [5], [1.0]), None),
    "scatter of another shape": (lambda tf: scatter(tf, [0, 1], [1.0]), None),
    "item of a variable assigned": (lambda tf: put(tf.Variable([1.0])), "does not support item assignment"),
    "hash of a variable": (lambda tf: hash(tf.Variable(1.0)), "Variable is unhashable"),
    "variable plus an int tensor": (lambda tf: tf.Variable(1.0) + tf.constant(1), None),
    "iterating over a scalar variable": (lambda tf: list(tf.Variable(1.0)), None),
    "augmented assignment": (lambda tf: augmented(tf), None),
    "name with a space": (lambda tf: tf.Variable(1.0, name="a b").name, None),
}


def scatter(tf, indices, values):
    v = tf.Variable([1.0, 2.0])
    return v.scatter_update(tf.IndexedSlices(tf.constant(values), tf.constant(indices)))


def put(v):
    v[0] = 1.0


def augmented(tf):
    v = tf.Variable(1.0)
    v += 1.0
    return type(v).__name__.endswith("Tensor")


TAPES = {
    "tape used twice": (spent_tape, "A non-persistent GradientTape can only be used to compute one set of gradients"),
    "tape used while open": (open_tape, None),
    "tape entered twice": (tape_twice, "Tape is still recording"),
    "gradient of the unwatched": (no_tape, None),
    "watching a number": (lambda tf: tf.GradientTape().watch(3.0), None),
    "watching words": (string_gradient, None),
    "stop_recording outside": (lambda tf: tf.GradientTape().stop_recording().__enter__(), None),
    "tf.gradients eagerly": (
        lambda tf: tf.gradients(tf.constant(1.0), tf.constant(1.0)),
        "tf.gradients is not supported when eager execution is enabled",
    ),
    "placeholder eagerly": (
        lambda tf: tf.compat.v1.placeholder(tf.float32),
        "tf.placeholder() is not compatible with eager execution",
    ),
    "session eagerly": (lambda tf: tf.compat.v1.Session().run(tf.constant(1)), None),
    "minimize of a tensor": (
        lambda tf: tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0)),
        "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled",
    ),
    "default graph eagerly": (lambda tf: tf.compat.v1.get_default_graph().get_operations(), None),
    "collections eagerly": (lambda tf: tf.compat.v1.get_collection("variables"), None),
    "custom gradient of a wrong count": (lambda tf: wrong_count(tf), None),
    "device that cannot be": (lambda tf: on_device(tf, "nonsense"), None),
}


def wrong_count(tf):
    @tf.custom_gradient
    def twice(x, y):
        return x * y, lambda dy: dy

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = twice(x, x)
    return tape.gradient(z, x)


def on_device(tf, name):
    with tf.device(name):
        return tf.constant(1.0) + 1.0


for _group, _rows in (
    ("dtypes", DTYPES),
    ("constants", CONSTANTS),
    ("operations", OPERATIONS),
    ("tensors", TENSORS),
    ("variables", VARIABLES),
    ("tapes", TAPES),
):
    for _name, (_function, _says) in _rows.items():
        book.add(f"eager {_group}: {_name}", _function, says=_says, eager=True)
