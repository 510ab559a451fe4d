"""Record what TensorFlow's summary kernels make of many arrays, into `tests/golden/summary/kernels.json`.

Runs under a Python that has TensorFlow 2.21. A case is a call of one of the functions of `ebbflow.summary.encode`, as
Python text; here the same names run TensorFlow's ops in a session.

    python tools/record/summaries.py
"""

from __future__ import annotations

import json
import pathlib
import re

import numpy as np
import tensorflow as tf

WRITES = ("summary/*.json",)
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "summary" / "kernels.json"
tf1 = tf.compat.v1

NUMBERS = [
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bfloat16",
]
CASES = [
    *(f"scalar_summary('a', of({d!r}, 3))" for d in NUMBERS),
    "scalar_summary('', f(1))",
    "scalar_summary('é', f(-0.0))",
    "scalar_summary('a', f('nan'))",
    "scalar_summary('a', np.float64(1e300))",
    "scalar_summary('a', np.int64(2**62 + 1))",
    "scalar_summary(['a', 'b'], f([1, 2]))",
    "scalar_summary(['a', 'a'], f([1, 2]))",
    "scalar_summary([['a', 'b']], f([[1, 2]]))",
    "scalar_summary(strings(0), np.zeros(0))",
    "scalar_summary(['a', 'b'], f([1]))",
    "scalar_summary('a', f([1]))",
    "scalar_summary(['a'], f(1))",
    *(f"histogram_summary('h', of({d!r}, [1, 2, 3, 0, 100]))" for d in NUMBERS),
    "histogram_summary('h', f(3))",
    "histogram_summary('h', f([[1, -2.5], [0, 1e-13]]))",
    "histogram_summary('h', np.zeros((0, 2), 'f'))",
    "histogram_summary('h', np.zeros(7, 'f'))",
    "histogram_summary('h', np.array([-0.0, 0.0, 1e-12, -1e-12, 1e-30]))",
    "histogram_summary('h', np.array([1e300, -1e300]))",
    "histogram_summary('h', f([1e19, 1e20, 1e21, -1e20]))",
    "histogram_summary('h', 1.1 ** np.arange(-300, 400, 7.0))",
    "histogram_summary('h', random(1000).astype('f'))",
    "histogram_summary('h', random(1000))",
    "histogram_summary('h', -abs(random(50)))",
    "histogram_summary('h', (random(500) * 100).astype('i8'))",
    "histogram_summary('h', random(40, 5, 3) * 1e-6)",
    "histogram_summary('h', f([1, 'nan']))",
    "histogram_summary('h', f(['inf', 'nan']))",
    "histogram_summary('h', f([1, '-inf']))",
    "histogram_summary(['h'], f([1]))",
    *(f"image_summary('i', bytes_({n}, {h}, {w}, {c}))" for n, h, w, c in [(1, 4, 5, 3), (2, 3, 2, 1), (5, 2, 2, 4)]),
    *(
        f"image_summary('i', smooth(1, {h}, {w}, {c}))"
        for h, w, c in [(20, 30, 1), (40, 25, 3), (64, 64, 4), (90, 90, 3)]
    ),
    *(
        f"image_summary('i', bytes_(1, {h}, {w}, {c}))"
        for h, w, c in [(1, 9, 3), (9, 1, 3), (1, 1, 1), (1, 1, 4), (1, 300, 1)]
    ),
    "image_summary('i', bytes_(2, 2, 2, 3), max_images=1)",
    "image_summary('i', bytes_(0, 2, 2, 3))",
    "image_summary('i', np.zeros((1, 3, 3, 1), 'u1'))",
    *(
        f"image_summary('i', ({what}).astype({d!r}))"
        for d in ("f2", "f4", "f8")
        for what in (
            "random(2, 5, 6, 3)",
            "abs(random(2, 5, 6, 1))",
            "abs(random(1, 5, 6, 4)) * 1e-3",
            "abs(random(1, 5, 6, 4)) * 1e-7",
            "random(1, 5, 6, 4) * 1e-7",
            "random(1, 5, 6, 3) * 300 + 500",
            "-abs(random(1, 5, 6, 3))",
            "np.zeros((1, 2, 2, 3))",
            "holes(random(2, 5, 6, 3))",
            "holes(abs(random(1, 4, 4, 1)))",
            "np.full((1, 2, 2, 3), np.nan)",
            "np.full((1, 2, 2, 4), np.inf)",
            "np.linspace(0, 1, 256).reshape(1, 16, 16, 1)",
            "np.linspace(-1, 1, 256).reshape(1, 16, 16, 1)",
        )
    ),
    "image_summary('i', holes(random(1, 4, 4, 3)), bad_color=color([1, 2, 3]))",
    "image_summary('i', holes(random(1, 4, 4, 1)), bad_color=color([7, 8, 9, 10, 11]))",
    "image_summary('i', holes(random(1, 4, 4, 3)), bad_color=color([1, 2]))",
    "image_summary('i', holes(random(1, 4, 4, 3)), bad_color=color(1))",
    "image_summary('i', holes(random(1, 4, 4, 3)), bad_color=color([[1, 2, 3]]))",
    "image_summary('i', holes(random(1, 4, 4, 3)), bad_color=np.array([1, 2, 3], 'f'))",
    "image_summary(['i'], bytes_(1, 2, 2, 3))",
    "image_summary('i', bytes_(2, 2, 3))",
    "image_summary('i', bytes_(1, 2, 2, 2))",
    "image_summary('i', bytes_(1, 0, 2, 3))",
    "image_summary('i', np.zeros((1, 2, 0, 3), 'f'))",
    "audio_summary('a', random(2, 50, 2) / 3, 44100.0)",
    "audio_summary('a', random(5, 20), 8000.0)",
    "audio_summary('a', random(2, 20), 8000.0, max_outputs=1)",
    "audio_summary('a', [[-1.0, 1.0, -2.0, 2.0, 0.5, 0.49999, 1.5 / 32768, -1.5 / 32768, 0.5 / 32768]], 16000.0)",
    "audio_summary('a', f([['inf', '-inf', 'nan']]), 16000.0)",
    *(f"audio_summary('a', random(1, 4), {rate})" for rate in (0.4, 1.5, 2.5, 11025.7, 0.0, -1.0, [22050.0])),
    "audio_summary('a', np.zeros((1, 0, 2)), 8.0)",
    "audio_summary('a', np.zeros((0, 3, 2)), 8.0)",
    "audio_summary('a', np.zeros((1, 4, 0)), 8.0)",
    "audio_summary('a', np.zeros((1, 1, 70000)), 8.0)",
    "audio_summary('a', np.zeros(3), 8.0)",
    "audio_summary(['a'], np.zeros((1, 3)), 8.0)",
    *(f"tensor_summary_v2('t', of({d!r}, [[1, 0], [1, 1]]))" for d in [*NUMBERS, "bool", "complex64", "string"]),
    "tensor_summary_v2('t', f(1.5), b'\\n\\x06\\n\\x04text')",
    "tensor_summary_v2('t', np.zeros((0, 3), 'f'), b'\\xff')",
    "tensor_summary_v2(['t'], f(1.5))",
    "tensor_summary_v2('t', f(1.5), [b''])",
    "tensor_summary_v1(of('float32', [1, 2]))",
    "tensor_summary_v1(of('string', [b'a', b'\\xff']))",
    "text_summary('t', 'hello')",
    "text_summary('t', ['a', 'b'])",
    "merge_summaries([scalars('a'), scalars('b', 'c')])",
    "merge_summaries([[scalars('a'), scalars('b')], scalars('c')])",
    "merge_summaries([scalars('a'), scalars('b', 'a')])",
    "merge_summaries([scalars('a', 'a')])",
    "merge_summaries([b'', scalars('a')])",
    "merge_summaries([scalars(''), scalars('')])",
    "merge_summaries([b'\\xff\\xff'])",
]


def random(*shape):
    return np.random.RandomState(7).normal(size=shape)


def bytes_(*shape):
    return np.random.RandomState(7).randint(0, 256, shape).astype(np.uint8)


def smooth(*shape):
    return (np.cumsum(np.random.RandomState(7).randint(0, 5, shape), 2) % 256).astype(np.uint8)


def holes(array):
    array = array.copy()
    array.reshape(-1)[[0, 5, 9]] = [np.nan, np.inf, -np.inf]
    return array


def f(values):
    return np.array(values, np.float32)


def color(values):
    return np.array(values, np.uint8)


def strings(*shape):
    return np.empty(shape, object)


def scalars(*tags):
    """A serialised Summary, written by hand: field 1 = Value {1: tag, 2: simple_value 1.0}."""
    values = [(b"\n" + bytes([len(t)]) + t.encode() if t else b"") + b"\x15\x00\x00\x80\x3f" for t in tags]
    return b"".join(b"\n" + bytes([len(v)]) + v for v in values)


MAKERS = {f.__name__: f for f in (random, bytes_, smooth, holes, f, color, strings, scalars)} | {"np": np}


def of(dtype, values):
    return tf.constant(values) if dtype == "string" else tf.cast(tf.constant(values), dtype)


def constant(array):
    """A tensor of an array or of strings; a tensor itself."""
    strings = isinstance(array, np.ndarray) and array.dtype == object
    return array if tf.is_tensor(array) else tf.constant(array, tf.string if strings else None)


def images(tag, tensor, max_images=3, bad_color=None):
    color = {} if bad_color is None else {"bad_color": tf.make_tensor_proto(bad_color)}
    return tf.raw_ops.ImageSummary(tag=tag, tensor=constant(tensor), max_images=max_images, **color)


OPS = {
    "of": of,
    "scalar_summary": lambda tags, values: tf.raw_ops.ScalarSummary(tags=constant(tags), values=constant(values)),
    "histogram_summary": lambda tag, values: tf.raw_ops.HistogramSummary(tag=tag, values=constant(values)),
    "image_summary": images,
    "audio_summary": lambda tag, tensor, rate, max_outputs=3: tf.raw_ops.AudioSummaryV2(
        tag=tag, tensor=tf.constant(tensor, tf.float32), sample_rate=rate, max_outputs=max_outputs
    ),
    "tensor_summary_v1": lambda tensor: tf.raw_ops.TensorSummary(tensor=tensor),
    "tensor_summary_v2": lambda tag, tensor, metadata=b"": tf.raw_ops.TensorSummaryV2(
        tag=tag, tensor=constant(tensor), serialized_summary_metadata=metadata
    ),
    "text_summary": lambda tag, tensor: tf1.summary.text(tag, tf.constant(tensor)),
    "merge_summaries": lambda inputs: tf.raw_ops.MergeSummary(inputs=[tf.constant(i) for i in inputs]),
}


CODE = {case: compile(case, __file__, "eval") for case in CASES}  # kept: TensorFlow's error texts point into it


def answer(case: str) -> dict[str, str]:
    with tf.Graph().as_default(), tf1.Session() as session:
        try:
            data = session.run(eval(CODE[case], MAKERS | OPS))
        except tf.errors.OpError as e:
            says = re.findall(r"\n(.*)\n\t \[\[", e.message)[0].strip()
            return {"case": case, "error": type(e).__name__, "says": says}
    return {"case": case, "hex": data.hex()}


if __name__ == "__main__":
    answers = [answer(case) for case in CASES]
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    GOLDEN.write_text("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")
    print(len(answers), "cases,", sum("error" in a for a in answers), "of them errors")
