"""Record what TensorFlow's `make_tensor_proto` makes of many values, into `tests/golden/messages/tensor_protos.json`.

Runs under a Python that has TensorFlow 2.21. A case is the argument list of one call, as Python text; the test
evaluates the same text for our function.

    python tools/record/tensor_protos.py
"""

from __future__ import annotations

import json
import pathlib

import numpy as np
import tensorflow as tf

WRITES = ("messages/*.json",)
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "messages" / "tensor_protos.json"

NUMBERS = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
NUMBERS += (
    "uint64",
    "complex64",
    "complex128",
    "int4",
    "uint4",
    "int2",
    "uint2",
    "float4_e2m1fn",
    "float8_e5m2",
    "float8_e4m3fn",
)
FNUZ = ("float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz")  # TensorFlow cannot write one alone; we can
VALUES = (
    "1",
    "[]",
    "[1]",
    "[1, 0]",
    "[[1, 0, 1], [0, 1, 1]]",
    "1, shape=[2, 2]",
    "[1, 0], shape=[3]",
    "1, shape=[0, 2]",
)

PYTHON = """
True / False / [True, False] / [1, True] / [True, 1], 'bool' / 7 / -7 / 2**31 - 1 / 2**31 / -2**31 - 1 / 2**40
2**63 / 2**64
[1, 2**40] / [1, 2.5] / [1, 2.5], 'int32' / 3.7, 'int32' / 2.0, 'int32' / 1.5 / -0.0 / 1e300 / 1e300, 'half'
[0.1, 0.2, 0.3]
float('inf') / [] / [[]] / [[], []] / [[[1.0]]] / (1, 2) / (1, 2), 'int64' / ((1, 2), (3, 4)) / range(3)
[range(2), range(2)]
[[1, 2], [3]] / [[1], 2] / None / [None, 1] / [None] / 1 + 2j / [1 + 2j, 3] / 1j, 'complex64' / 1, 'complex64'
1j, 'float32'
'a' / b'a' / 'é' / '' / b'\\x00\\xff' / ['a', b'b\\x00'] / [['a', 'b'], ['c', 'd']]
[['a', 'b'], ['c', 'd']], None, [4]
[['a', 'b'], ['c']] / ['a', 1] / ['a', None] / [], 'string' / 'a', None, [3] / 'a', None, [0] / 1, 'string'
'a', 'float32'
b'', None, [2] / [b'', b'x'], None, [5] / bytearray(b'ab') / memoryview(b'ab') / object / {'a': 1} / [{}]
300, 'uint8' / -1, 'uint8' / 128, 'int8' / 2**31, 'int32' / -1, 'uint64' / 1, 'variant' / 1, 'resource'
[(1,), (2,)], 'qint8' / (1,), 'qint8' / [[(1,)], [(200,)]], 'quint8' / (-5,), 'qint32'
[(1,), (-2,), (3,)], 'qint16'
1, 'qint8' / (65535,), 'quint16'
7, None, [2, 3] / [1, 2], None, [2, 3] / [1, 2, 3, 4], None, [2, 2] / [1, 2, 3], None, [2] / 7, None, []
[7], None, []
[7], None, [1, 1] / 0, None, [3] / 5, None, [0] / 5.0, 'float32', [0, 3] / [1, 2], None, [2], True
[1, 2], None, [1, 2], True
1, None, [2, 2], False, True / [1], None, [2, 2], False, True / [1, 2], None, [2, 2], False, True
[[1]], None, [2], False, True / 1, None, None, True, True / [1, 2], None, [], False, True / 1, None, 5
7, None, Shape([2])
[1.0, 2.0], None, [-1] / True, None, [3] / [True, False], None, [3] / [1 + 1j], None, [2]
Shape([1, 2]) / [Dim(3), 4] / [Dim(3), 4], 'int32' / Dim(3) / 1, 'not a type' / 5, np.int64 / 5, float
"""
NUMPY = """
np.float64(3) / np.float32(3) / np.int64(3) / np.int8(3) / np.bool_(True) / np.str_('x') / np.bytes_(b'x')
np.complex64(1j)
np.array(3) / np.array([1, 2]) / np.array([1.5, 2]) / np.array([[1, 2], [3, 4]]).T / np.zeros((2, 0), 'f')
np.array(['a', 'bcd']) / np.array([b'a\\x00', b'b']) / np.array(['x', b'y\\x00'], object)
np.array([1, None], object)
np.array([1, 2], object) / np.array([True, False]) / np.array([[1j, 2]]) / np.array([1j], 'F')
np.array(3.7), 'int32'
np.array(300), 'uint8' / np.array([2**40]), 'int32' / np.array(1.5), 'half' / np.array([1.5, -2]), 'bfloat16'
np.array(1), 'string'
np.array([1, 2], 'i1'), 'qint8' / np.array([1, 2], 'u1'), 'quint8' / np.array(5, 'i4'), 'qint32'
np.array('a'), 'float32'
[np.float32(1.5)] / [np.float64(1.5)] / [np.int8(1), 2] / [np.float32(1.5)], 'float64' / [np.int64(2)], 'int32'
[np.bool_(True)]
[np.bool_(True)], 'bool' / [np.float32(1.5)], 'int32' / [np.array([1, 2]), np.array([3, 4])]
[np.array([1.0, 2.0])], 'float32'
np.array([1, 2]), None, [2, 2] / np.array(['a', 'b']), None, [2, 2] / np.array(7), None, [3]
np.array([1, 2, 3]), None, [2]
np.datetime64('2020-01-01') / np.array([(1, 2)], 'i4,i4') / np.float16(2) / np.array([1, 2], 'f2')
np.array([1], np.longdouble)
np.array([1, 2], 'u2') / np.array([1, 2], 'u4') / np.array([1, 2], 'u8') / np.array([2**64 - 1], 'u8')
np.uint32(2**32 - 1)
"""


def cases() -> list[str]:
    lines = [f"{v.split(', shape=')[0]}, {d!r}" + shape_of(v) for d in NUMBERS for v in VALUES]
    lines += [f"np.array([3, -2]).astype(type_of({d!r}))" for d in NUMBERS + FNUZ if not d.startswith("u")]
    for text in (PYTHON, NUMPY):
        lines += [case for line in text.strip().splitlines() for case in line.split(" / ")]
    return lines


def shape_of(value: str) -> str:
    return ", " + value.split(", shape=")[1] if "shape=" in value else ""


def answer(case: str) -> dict[str, str]:
    names = {"np": np, "Shape": tf.TensorShape, "Dim": tf.compat.v1.Dimension}
    names["type_of"] = lambda name: tf.dtypes.as_dtype(name).as_numpy_dtype
    try:
        proto = eval(f"make({case})", names | {"make": tf.make_tensor_proto})
    except Exception as e:
        return {"case": case, "error": type(e).__name__, "says": str(e)}
    return {"case": case, "hex": proto.SerializeToString(deterministic=True).hex()}


if __name__ == "__main__":
    answers = [answer(case) for case in cases()]
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    GOLDEN.write_text("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")
    print(len(answers), "cases,", sum("error" in a for a in answers), "of them errors")
