"""Record what TensorFlow gives for the programs of `tests/golden/control_flow`.

    /path/to/tf-2.21/python tools/record/control_flow.py
    /path/to/tf-1.15/python tools/record/control_flow.py

Values, static shapes in a graph, gradients of first and second order; of programs that are refused, the class and the
words of the error, eagerly and in a graph. 2.21 runs its functional loops, 1.15 its loops of Switch and Merge, whose
graphs are kept too: they are what older programs saved.
"""

import base64
import importlib.util
import json
import pathlib
import zlib

import numpy as np
import tensorflow as tf

WRITES = ("control_flow/*.json",)
GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "control_flow"


def loaded(name):
    """A module beside the golden files."""
    spec = importlib.util.spec_from_file_location(name, str(GOLDEN / f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs = loaded("programs")

v1 = tf.compat.v1
OLD = tf.__version__.startswith("1.")
VERSION = "1.15" if OLD else "2.21"


def main():
    """Write the golden files of the TensorFlow that runs this."""
    found = {"programs": {}, "refused": {}}
    for name, (function, inputs) in programs.PROGRAMS.items():
        found["programs"][name] = play(function, inputs)
    for name, (function, inputs) in programs.REFUSED.items():
        found["refused"][name] = {"graph": refusal_in_graph(function, inputs)}
        if not OLD:
            found["refused"][name]["eager"] = refusal(lambda f=function, i=inputs: f(tf, *map(tf.constant, i)))
    (GOLDEN / f"tf-{VERSION}.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    if OLD:
        for name in ("references", "pruned"):
            (GOLDEN / f"{name}.json").write_text(json.dumps(loaded(name).answers(tf), indent=1) + "\n")


def play(function, inputs):
    """Run a program in a graph."""
    if not OLD:
        return play_function(function, inputs)
    with tf.Graph().as_default() as graph:
        xs = [v1.placeholder(tf.float32, np.shape(x), name=f"input_{i}") for i, x in enumerate(inputs)]
        ys = flat(function(tf, *xs))
        kept = {"shapes": [static(y) for y in ys]}
        forward = graph.as_graph_def()
        fetched = {"values": ys}
        loss = loss_of(ys)
        first = tf.gradients(loss, xs) if loss is not None else [None] * len(xs)
        fetched["first"] = dense(first, xs)
        with v1.Session() as session:
            values = session.run(fetched, dict(zip(xs, inputs)))
        kept.update({key: [numbers(v) for v in value] for key, value in values.items()})
        kept["graph"] = encoded(forward)
        kept["fetches"] = [y.name for y in ys]
        kept["gradient_graph"] = encoded(graph.as_graph_def())
        kept["gradient_fetches"] = [g.name for g in fetched["first"]]
        return kept


def play_function(function, inputs):
    """Run a program as a function, whose loops are functional."""
    shapes = []

    @tf.function(autograph=False)
    def run(*xs):
        ys = flat(function(tf, *xs))
        shapes[:] = [static(y) for y in ys]
        loss = loss_of(ys)
        first = dense(tf.gradients(loss, xs) if loss is not None else [None] * len(xs), xs)
        slope = tf.add_n([tf.reduce_sum(g * g) for g in first])
        second = dense(tf.gradients(slope, xs), xs)
        return ys, first, second

    ys, first, second = run(*[tf.constant(x) for x in inputs])
    return {
        "shapes": shapes,
        "values": [numbers(v.numpy()) for v in ys],
        "first": [numbers(v.numpy()) for v in first],
        "second": [numbers(v.numpy()) for v in second],
    }


def flat(result):
    """The tensors of a result."""
    return [y for y in tf.nest.flatten(result)]


def loss_of(ys):
    """A number that depends on all results that are floats."""
    parts = [tf.reduce_sum(tf.sin(y)) for y in ys if y.dtype == tf.float32]
    return tf.add_n(parts) if parts else None


def dense(gradients, xs):
    """Gradients as tensors, zeros where there is none."""
    return [tf.zeros_like(x) if g is None else tf.convert_to_tensor(g) for g, x in zip(gradients, xs)]


def static(y):
    """A shape as far as it is known."""
    return None if y.shape.ndims is None else [None if n is None else int(n) for n in y.shape.as_list()]


def numbers(value):
    """A value that JSON can keep."""
    value = np.asarray(value)
    return {"dtype": value.dtype.name, "shape": list(value.shape), "numbers": value.ravel().tolist()}


def encoded(graph_def):
    """A GraphDef as text, squeezed."""
    return base64.b64encode(zlib.compress(graph_def.SerializeToString(), 9)).decode()


def refusal_in_graph(function, inputs):
    """How a program fails when it is built, or run."""

    def run():
        if not OLD:
            tf.function(lambda *xs: function(tf, *xs), autograph=False)(*map(tf.constant, inputs))
            return
        with tf.Graph().as_default():
            result = function(tf, *[tf.constant(x) for x in inputs])
            with v1.Session() as session:
                session.run(result)

    return refusal(run)


def refusal(run):
    """The class and the words of the error that something raises."""
    try:
        run()
    except Exception as error:  # whatever it is, it is what is recorded
        return {"error": type(error).__name__, "says": str(error)}
    return None


if __name__ == "__main__":
    main()
