"""Record what TensorFlow answers to small questions about dtypes, shapes, errors, nested structures and devices.

    /path/to/tf-2.21/python tools/record/core_vocabulary.py
    /path/to/tf-1.15/python tools/record/core_vocabulary.py

The questions stand in `core_expressions/*.txt`, one a line (`#` starts a comment line; `~` before a question: of an
error only the class counts, its words are Python's own). Answers go to `tests/golden/core/*.json`. TensorFlow 1.15
answers only for its own manners with shapes.
"""

import importlib.util
import itertools
import json
import pathlib
import types

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import composite_tensor, dtypes, errors_impl, tensor_shape, type_spec
from tensorflow.python.framework import device as device_lib
from tensorflow.python.util import nest

WRITES = ("core/*.json",)
HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent.parent / "tests" / "golden" / "core"

spec = importlib.util.spec_from_file_location("ask", str(GOLDEN / "ask.py"))
ask = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ask)

OPERATORS = ["+", "-", "*", "//", "/", "%", "<", "<=", ">", ">=", "==", "!="]
OPERANDS = [
    *[("D(7)", "2"), ("D(7)", "D(2)"), ("7", "D(2)"), ("D(2)", "7"), ("D(7)", "0"), ("D(7)", "True")],
    *[("D(None)", "2"), ("2", "D(None)"), ("D(None)", "D(None)"), ("D(7)", "None"), ("None", "D(7)")],
    *[("D(7)", "2.5"), ("D(7)", "2.0"), ("2.5", "D(7)"), ("D(7)", "'a'"), ("'a'", "D(7)"), ("D(7)", "[1]")],
    *[("D(7)", "np.int64(2)"), ("np.int64(2)", "D(7)")],
]


def main():
    """Write the golden files of the TensorFlow that runs this."""
    if tf.__version__.startswith("1."):
        write("shape_tf1", shape_questions(), shape_namespace())
        return
    write("dtypes", dtype_questions(), dtype_namespace())
    write("shape_v2", shape_questions(), shape_namespace())
    write("broadcast", broadcast_questions(), {"broadcast": broadcast, "added": added})
    tf.compat.v1.disable_v2_tensorshape()
    write("shape_v1", shape_questions(), shape_namespace())
    tf.compat.v1.enable_v2_tensorshape()
    write(
        "nest",
        questions("nest"),
        {"nest": nest, **ask.containers(composite_tensor.CompositeTensor, type_spec.TypeSpec)},
    )
    write("errors", questions("errors"), {"errors": errors_impl})
    write("device", questions("device"), device_namespace())


def questions(name):
    """The lines of one file of questions."""
    lines = (HERE / "core_expressions" / f"{name}.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def dtype_questions():
    """The written ones, and all facts of every dtype."""
    return questions("dtypes") + [f"facts(as_dtype({base + ref}))" for ref in (0, 100) for base in range(1, 34)]


def dtype_namespace():
    """What questions about dtypes are asked of."""
    import ml_dtypes  # 1.15's Python has none

    return {"as_dtype": dtypes.as_dtype, "tf": dtypes, "np": np, "ml_dtypes": ml_dtypes, "facts": ask.facts}


def shape_questions():
    """The written ones, and the arithmetic of dimensions with everything."""
    arithmetic = [f"~{a} {op} {b}" for op, (a, b) in itertools.product(OPERATORS, OPERANDS) if op != "/"]
    division = [f"{a} / {b}" for a, b in OPERANDS if not a.startswith("np.")]  # refused in TensorFlow's own words
    return questions("shape") + arithmetic + division


def shape_namespace():
    """What questions about shapes are asked of."""
    names = {name: getattr(tensor_shape, name) for name in dir(tensor_shape) if not name.startswith("_")}
    return {**names, "D": tensor_shape.Dimension, "np": np, "proto": proto}


def proto(**fields):
    """A `TensorShapeProto`."""
    return tf.compat.v1.TensorShape(None).as_proto().__class__(**fields)


def broadcast_questions():
    """Every pair out of the small shapes that tell the rules apart."""
    vectors = [(size,) for size in (None, 0, 1, 2, 3)]
    shapes = [None, (), *vectors, *itertools.product((None, 1, 3), repeat=2)]
    return [f"{how}({a}, {b})" for how in ("broadcast", "added") for a, b in itertools.product(shapes, repeat=2)]


def broadcast(a, b):
    """The static shape of a broadcast, as dims."""
    return dims(tf.broadcast_static_shape(tf.TensorShape(a), tf.TensorShape(b)))


def added(a, b):
    """The static shape that graph building gives a sum, as dims; any refusal is a ValueError without words."""
    with tf.Graph().as_default():
        try:
            result = tf.raw_ops.AddV2(x=tf.compat.v1.placeholder("float", a), y=tf.compat.v1.placeholder("float", b))
        except ValueError:
            raise ValueError from None
        return dims(result.shape)


def dims(shape):
    """A shape as a plain tuple, or None."""
    return None if shape.rank is None else tuple(shape.as_list())


def device_namespace():
    """What questions about devices are asked of."""
    specs = {"V1": tf.compat.v1.DeviceSpec, "V2": tf.DeviceSpec}
    return {**specs, "device": device_lib, "Node": types.SimpleNamespace}


def write(name, asked, namespace):
    """Write `tests/golden/core/NAME.json`: a row for each question, with its answer."""
    rows = [[question, *ask.ask(question, namespace)] for question in asked]
    rows = [row for row in rows if row[2] not in ("AttributeError", "NameError") or row[0].startswith("~")]
    body = ",\n".join(" " + json.dumps(row, ensure_ascii=False) for row in rows)
    head = json.dumps({"tensorflow": tf.__version__})[1:-1]
    (GOLDEN / f"{name}.json").write_text(f'{{{head}, "answers": [\n{body}\n]}}\n', encoding="utf-8")
    print(f"{name}: {len(rows)}")


if __name__ == "__main__":
    main()
