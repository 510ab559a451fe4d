"""How things print: str() and repr() of tensors, variables, operations, shapes, dtypes; tf.print and tf.Print.

Objects are made by small functions entered in tables; a program's result is [str, repr], or the text that reached a
stream. Node definitions are shown only without numbers, whose text form depends on the release of protobuf.
"""

import contextlib
import os
import sys
import tempfile

import numpy as np

from .book import Book, graph_module, read_recording, write_recording

book = Book()

EAGER = {
    # scalars of every dtype
    "bool": lambda tf: tf.constant(True),
    "int8": lambda tf: tf.constant(-7, tf.int8),
    "int16": lambda tf: tf.constant(-7, tf.int16),
    "int32": lambda tf: tf.constant(7),
    "int64": lambda tf: tf.constant(7, tf.int64),
    "uint8": lambda tf: tf.constant(7, tf.uint8),
    "uint16": lambda tf: tf.constant(7, tf.uint16),
    "uint32": lambda tf: tf.constant(7, tf.uint32),
    "uint64": lambda tf: tf.constant(7, tf.uint64),
    "float16": lambda tf: tf.constant(0.1, tf.float16),
    "bfloat16": lambda tf: tf.constant(0.1, tf.bfloat16),
    "float32": lambda tf: tf.constant(0.1),
    "float32 whole": lambda tf: tf.constant(4.0),
    "float32 large": lambda tf: tf.constant(1e20),
    "float32 small": lambda tf: tf.constant(1e-20),
    "float64": lambda tf: tf.constant(0.1, tf.float64),
    "nan": lambda tf: tf.constant(float("nan")),
    "infinity": lambda tf: tf.constant(-float("inf")),
    "complex64": lambda tf: tf.constant(1 + 2j, tf.complex64),
    "complex128": lambda tf: tf.constant(1 - 2.5j),
    "float8": lambda tf: tf.cast(tf.constant(1.5), tf.dtypes.experimental.float8_e5m2),
    "int4": lambda tf: tf.cast(tf.constant(3), tf.dtypes.experimental.int4),
    # strings
    "string": lambda tf: tf.constant("word"),
    "string empty": lambda tf: tf.constant(""),
    "string odd bytes": lambda tf: tf.constant(b"\x00\xff'\"\n"),
    "string unicode": lambda tf: tf.constant("caf\u00e9"),
    "strings": lambda tf: tf.constant(["a", "bc"]),
    "strings matrix": lambda tf: tf.constant([["a", "b'"], ["", "\u00e9"]]),
    # vectors
    "vector int": lambda tf: tf.constant([1, 2, 3]),
    "vector float": lambda tf: tf.constant([1.0, 2.5, -3.0]),
    "vector mixed": lambda tf: tf.constant([1e-8, 1.0, 12345.678]),
    "vector odd": lambda tf: tf.constant([float("nan"), float("inf"), -0.0]),
    "vector bool": lambda tf: tf.constant([True, False]),
    "vector half": lambda tf: tf.constant([0.1, 2.0], tf.float16),
    "vector bfloat16": lambda tf: tf.constant([0.1, 2.0, 1000.0], tf.bfloat16),
    "vector complex": lambda tf: tf.constant([1 + 1j, 2.5]),
    "vector uint8": lambda tf: tf.constant([1, 200], tf.uint8),
    "vector one": lambda tf: tf.constant([4.0]),
    # larger ranks
    "matrix one": lambda tf: tf.constant([[4.0]]),
    "matrix": lambda tf: tf.constant([[1.0, 2.0], [3.0, 4.0]]),
    "matrix int64": lambda tf: tf.constant([[1, 20], [300, 4]], tf.int64),
    "matrix bool": lambda tf: tf.constant([[True], [False]]),
    "rank 3": lambda tf: tf.reshape(tf.range(8), [2, 2, 2]),
    "rank 5": lambda tf: tf.zeros([1, 2, 1, 2, 1]),
    "rank 8": lambda tf: tf.ones([1] * 8),
    # empty
    "empty": lambda tf: tf.constant([]),
    "empty int": lambda tf: tf.zeros([0], tf.int32),
    "empty rows": lambda tf: tf.zeros([0, 3]),
    "empty columns": lambda tf: tf.zeros([2, 0]),
    "empty strings": lambda tf: tf.constant([], tf.string),
    # long
    "long 1000": lambda tf: tf.range(1000),
    "long 1001": lambda tf: tf.range(1001),
    "long floats": lambda tf: tf.cast(tf.range(5000), tf.float32) / 7.0,
    "long matrix": lambda tf: tf.reshape(tf.range(2000), [40, 50]),
    "long rank 3": lambda tf: tf.zeros([20, 20, 20]),
    "wide line": lambda tf: tf.range(30) * 100000,
    # variables
    "variable": lambda tf: tf.Variable(1.0),
    "variable named": lambda tf: tf.Variable([[1, 2], [3, 4]], name="w"),
    "variable string": lambda tf: tf.Variable("s"),
    "variable open shape": lambda tf: tf.Variable([1.0, 2.0], shape=tf.TensorShape([None])),
    "variable bfloat16": lambda tf: tf.Variable([1.0], dtype=tf.bfloat16),
    "variable read": lambda tf: tf.Variable([1, 2]) + 1,
    # vocabulary
    "dtype": lambda tf: tf.float32,
    "dtype string": lambda tf: tf.string,
    "dtype bfloat16": lambda tf: tf.bfloat16,
    "dtype resource": lambda tf: tf.resource,
    "shape": lambda tf: tf.TensorShape([2, None, 3]),
    "shape one": lambda tf: tf.TensorShape([2]),
    "shape scalar": lambda tf: tf.TensorShape([]),
    "shape unknown": lambda tf: tf.TensorShape(None),
    "shape of a tensor": lambda tf: tf.zeros([2, 3]).shape,
    "tensor spec": lambda tf: tf.TensorSpec([None, 2], tf.float32),
    "tensor spec named": lambda tf: tf.TensorSpec([], tf.int32, name="n"),
    "tensor spec open": lambda tf: tf.TensorSpec(None, tf.string),
    "tensor spec of": lambda tf: tf.TensorSpec.from_tensor(tf.zeros([2])),
    "indexed slices spec": lambda tf: tf.IndexedSlicesSpec([4, 2], tf.float32),
    "indexed slices": lambda tf: tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([3, 1])),
    "sparse tensor": lambda tf: tf.SparseTensor([[0, 1]], [1.0], [2, 2]),
    "list of tensors": lambda tf: [tf.constant(1), tf.constant([2.0])],
    "dict of tensors": lambda tf: {"a": tf.constant(1), "b": (tf.constant("x"),)},
    "device spec": lambda tf: tf.DeviceSpec(job="worker", task=1, device_type="GPU", device_index=0).to_string(),
}

FORMATS = {
    "plain": lambda tf: f"{tf.constant(1.5)}",
    "digits": lambda tf: f"{tf.constant(1.5):.3f}",
    "integer": lambda tf: f"{tf.constant(7):04d}",
    "percent": lambda tf: "%d %s %.2f" % (tf.constant(7), tf.constant(7), tf.constant(0.5)),
    "matrix": lambda tf: f"{tf.constant([[1, 2], [3, 4]])}",
    "f-string": lambda tf: f"{tf.constant(True)} {tf.constant('s')}",
    "r": lambda tf: f"{tf.constant(1)!r}",
}

GRAPH = {
    "constant": lambda tf: tf.constant(1.0),
    "vector": lambda tf: tf.constant([1, 2], name="v"),
    "placeholder": lambda tf: tf.placeholder(tf.float32, [None, 3]),
    "placeholder open": lambda tf: tf.placeholder(tf.string),
    "scoped": lambda tf: in_scope(tf),
    "second output": lambda tf: tf.unstack(tf.constant([1, 2]))[1],
    "operation repr": lambda tf: repr(tf.constant(1, name="c").op),
    "operation": lambda tf: tf.no_op(),
    "operation with control": lambda tf: after(tf),
    "variable": lambda tf: tf.Variable(1, name="v"),
    "variable float": lambda tf: tf.Variable([1.0, 2.0]),
    "variable resource": lambda tf: tf.Variable([1.0], name="r", use_resource=True),
    "variable got": lambda tf: tf.get_variable("g", [2, 3], initializer=tf.zeros_initializer()),
    "variable read": lambda tf: tf.Variable(1, name="v") + 1,
    "variable shapeless": lambda tf: tf.Variable([1.0], validate_shape=False, name="s"),
    "variable assigned": lambda tf: tf.assign(tf.Variable(1, name="v"), 2),
    "indexed slices": lambda tf: tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0])),
    "indexed slices shaped": lambda tf: tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([3, 1])),
    "sparse tensor": lambda tf: tf.SparseTensor([[0, 1]], [1.0], [2, 2]),
    "dtype": lambda tf: tf.float32,
    "dtype ref": lambda tf: tf.Variable(1, name="v").dtype,
    "shape": lambda tf: tf.TensorShape([2, None, 3]),
    "shape scalar": lambda tf: tf.TensorShape([]),
    "shape one": lambda tf: tf.TensorShape([2]),
    "shape unknown": lambda tf: tf.TensorShape(None),
    "dimension": lambda tf: tf.Dimension(3),
    "dimension unknown": lambda tf: tf.Dimension(None),
    "tensor spec": lambda tf: tf.TensorSpec([None, 2], tf.float32),
    "device": lambda tf: on_device(tf).device,
    "graph keys": lambda tf: [tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.TRAINABLE_VARIABLES, tf.GraphKeys.UPDATE_OPS],
}


def in_scope(tf):
    with tf.name_scope("outer"):
        return tf.add(1.0, 2.0, name="sum")


def after(tf):
    with tf.control_dependencies([tf.no_op(name="first")]):
        return tf.no_op(name="second")


def on_device(tf):
    with tf.device("/job:ps/task:1/cpu:0"):
        return tf.constant(1)


# What tf.print is called with, eagerly and in a graph; compared by the text on stderr.
PRINTED = {
    "nothing": lambda tf: tf.print(),
    "text": lambda tf: tf.print("plain text"),
    "scalar": lambda tf: tf.print(tf.constant(1)),
    "float": lambda tf: tf.print(tf.constant([0.1, 1.0, 1e10, 1e-7])),
    "double": lambda tf: tf.print(tf.constant([0.1, 1.0 / 3.0], tf.float64)),
    "half": lambda tf: tf.print(tf.constant([0.1, 2.0], tf.float16)),
    "bool": lambda tf: tf.print(tf.constant([True, False])),
    "string": lambda tf: tf.print(tf.constant("word"), tf.constant(["two", "words"])),
    "odd floats": lambda tf: tf.print(tf.constant([float("nan"), float("inf"), -float("inf"), -0.0])),
    "matrix": lambda tf: tf.print(tf.constant([[1, 2], [3, 4]])),
    "long": lambda tf: tf.print(tf.range(10)),
    "long matrix": lambda tf: tf.print(tf.reshape(tf.range(100), [10, 10])),
    "rank 3": lambda tf: tf.print(tf.reshape(tf.range(8), [2, 2, 2])),
    "summarize": lambda tf: tf.print(tf.range(10), summarize=1),
    "summarize all": lambda tf: tf.print(tf.range(10), summarize=-1),
    "empty": lambda tf: tf.print(tf.zeros([0]), tf.zeros([0, 3])),
    "mixed": lambda tf: tf.print("x =", tf.constant(1.5), "and", 3, None, [1, 2]),
    "nested": lambda tf: tf.print({"b": tf.constant(1), "a": [tf.constant([2.0]), ("t", 3)]}),
    "separator": lambda tf: tf.print(tf.constant(1), tf.constant(2), sep=", "),
    "end": lambda tf: tf.print("no newline", end=""),
    "computed": lambda tf: tf.print(tf.constant([1, 2]) * 2, "next"),
    "braces": lambda tf: tf.print("{}", tf.constant(1), "%d"),
}

# What tf.Print is called with; the tensor returned is run.
OLD_PRINT = {
    "vector": lambda tf: tf.Print(tf.constant(1), [tf.constant([1, 2, 3])]),
    "message": lambda tf: tf.Print(tf.constant(1), [tf.constant([1.5, 2.5])], message="values: "),
    "several": lambda tf: tf.Print(tf.constant(1), [tf.constant(1), tf.constant("s"), tf.constant([[True]])], "all "),
    "long": lambda tf: tf.Print(tf.constant(1), [tf.range(10)]),
    "summarize": lambda tf: tf.Print(tf.constant(1), [tf.range(10)], summarize=5),
    "matrix": lambda tf: tf.Print(tf.constant(1), [tf.reshape(tf.range(8), [2, 2, 2])], summarize=20),
    "floats": lambda tf: tf.Print(tf.constant(1), [tf.constant([0.1, 1e10, 1.0 / 3.0])]),
}


@contextlib.contextmanager
def stream_captured(descriptor):
    """Collect what reaches a standard stream, through Python or beneath it; yields a list that gets the text."""
    name = {1: "stdout", 2: "stderr"}[descriptor]
    caught, stream = [], getattr(sys, name)
    stream.flush()
    with tempfile.TemporaryFile() as file:
        kept = os.dup(descriptor)
        os.dup2(file.fileno(), descriptor)
        setattr(sys, name, os.fdopen(os.dup(descriptor), "w", encoding="utf-8"))
        try:
            yield caught
        finally:
            getattr(sys, name).close()
            setattr(sys, name, stream)
            os.dup2(kept, descriptor)
            os.close(kept)
            file.seek(0)
            caught.append(file.read().decode("utf-8", "backslashreplace"))


def shown(made):
    """[str, repr]; a repr that tells an address tells nothing, and NumPy's of a cut array changed with its releases."""
    text = repr(made)
    return [str(made), None if " object at 0x" in text or "..." in text else text]


def shown_eagerly(make):
    return lambda tf: shown(make(tf))


def shown_in_graph(make):
    def program(tf):
        with tf.Graph().as_default():
            return shown(make(tf))

    return program


def printed_eagerly(write):
    def program(tf):
        with stream_captured(2) as caught:
            write(tf)
        return caught

    return program


def printed_by_session(write, times=1):
    def program(tf):
        with tf.Graph().as_default(), tf.Session() as session:
            fetch = write(tf)
            with stream_captured(2) as caught:
                for _ in range(times):
                    session.run(fetch)
        return caught

    return program


def printed_to_stdout(tf):
    with stream_captured(1) as caught:
        tf.print("to stdout", tf.constant([1, 2]), output_stream=sys.stdout)
    return caught


def printed_to_a_file(tf):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.txt")
        tf.print("first", tf.constant(1), output_stream="file://" + path)
        tf.print("second", output_stream="file://" + path)
        with open(path) as file:
            return [file.read()]


V2 = ("2.21",)
for _name, _make in EAGER.items():
    book.add("eager " + _name, shown_eagerly(_make), V2, eager=True)
for _name, _make in FORMATS.items():
    book.add("format " + _name, shown_eagerly(_make), V2, eager=True)
for _name, _make in PRINTED.items():
    book.add("tf.print " + _name, printed_eagerly(_make), V2, eager=True)
    book.add("tf.print in a graph " + _name, printed_by_session(_make), ("1.15", "2.21"))
book.add("tf.print a variable", printed_eagerly(lambda tf: tf.print(tf.Variable([1.5]), "v")), V2, eager=True)
book.add("tf.print to stdout", printed_to_stdout, V2, eager=True)
book.add("tf.print to a file", printed_to_a_file, V2, eager=True)
for _name, _make in GRAPH.items():
    book.add("graph " + _name, shown_in_graph(_make))
for _name, _make in OLD_PRINT.items():
    book.add("tf.Print " + _name, printed_by_session(_make), ("1.15", "2.21"))
book.add(
    "tf.Print first_n",
    printed_by_session(lambda tf: tf.Print(tf.constant(1), [tf.constant(5)], "n ", first_n=2), times=4),
    ("1.15", "2.21"),
)


def play(tf, judge, program):
    """Shown text must not depend on what ran before, so default names start afresh and NumPy prints its own way."""
    with np.printoptions(precision=8, threshold=1000, linewidth=75, edgeitems=3):
        return program(tf if program.facts.get("eager") else graph_module(tf, judge))


def write(judge, recording):
    write_recording("printing", judge, recording)


def read(judge):
    return read_recording("printing", judge)
