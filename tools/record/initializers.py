"""Write down the numbers that TensorFlow's initializers give for seeds, into tests/golden/state/.

    python tools/record/initializers.py           # with a Python that has TensorFlow 1.15, and with one that has 2.21

The rows are those of tests/state/initializer_cases.py; which of them are asked for goes by the TensorFlow that is
installed.
"""

import importlib.util
import json
import os

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
WRITES = ("state/*.json",)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def rows():
    path = os.path.join(ROOT, "tests", "state", "initializer_cases.py")
    spec = importlib.util.spec_from_file_location("initializer_cases", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ROWS


def main():
    import tensorflow as tf  # after the environment above is set

    judge = "1.15" if tf.__version__.startswith("1.15") else "2.21"
    names = initializers(judge)
    lines = []
    for text, shape, *dtype in rows()[judge]:
        value = asked(tf, judge, eval(text, dict(names)), shape, dtype)
        flat = [v.decode() if isinstance(v, bytes) else v for v in value.ravel().tolist()]
        recorded = {"dtype": "string" if value.dtype.kind in "OS" else value.dtype.name, "values": flat}
        lines.append(json.dumps([[text, shape, *dtype], recorded]))
    with open(os.path.join(ROOT, "tests", "golden", "state", "initializers-" + judge + ".json"), "w") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n")


def initializers(judge):
    """The names that rows are written in."""
    if judge == "2.21":
        from tensorflow.python.ops import init_ops_v2

        return vars(init_ops_v2)
    from tensorflow.contrib.layers import variance_scaling_initializer, xavier_initializer
    from tensorflow.python.ops import init_ops

    contrib = {
        "xavier_initializer": xavier_initializer,
        "variance_scaling_initializer": variance_scaling_initializer,
    }
    return dict(vars(init_ops), **contrib)


def asked(tf, judge, initializer, shape, dtype):
    if judge == "2.21":
        return initializer(shape, *dtype).numpy()
    with tf.Graph().as_default(), tf.Session() as session:
        value = session.run(initializer(shape, *[tf.as_dtype(name) for name in dtype]))
        return np.asarray(value)


if __name__ == "__main__":
    main()
