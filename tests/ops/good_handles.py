"""Good arguments for ops that take no plain arrays: CSR matrices, maps of tensors, quantized numbers.

A case writes them as arrays. `given` makes of an array what the op takes, and `plain` makes arrays of what it returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.registry import registry

MATRIX = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [1.0, 0.0, 4.0]], np.float32)
FLOAT = {"type": "DT:float32"}
BYTES = np.arange(1, 17, dtype=np.uint8)
LOW, HIGH = np.array(-1.0, np.float32), np.array(2.0, np.float32)
RANGE = [LOW, HIGH]
WIDE = np.array([-900, 5, 70000], np.int32)
SMALL, WORDS = {"out_type": "DT:quint8"}, {"Toutput": "DT:qint32"}
POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "VALID"}
KEY, VALUES = np.array(1, np.int64), np.array([0.5, 1.5], np.float32)
KEYS = {"key_dtype": "DT:int64"}
LOGITS = np.linspace(0.1, 1.8, 18, dtype=np.float32).reshape(3, 2, 3)
PLACES = np.array([[0, 0], [1, 1], [1, 2]])

# an op, its inputs in order, its attrs
ROWS: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("DenseToCSRSparseMatrix", [MATRIX, PLACES], {}),
    ("SparseTensorToCSRSparseMatrix", [PLACES, MATRIX[0], np.array([3, 3])], {}),
    ("CSRSparseMatrixComponents", [MATRIX, np.array(0, np.int32)], FLOAT),
    *((f"CSRSparseMatrixTo{form}", [MATRIX], FLOAT) for form in ("Dense", "SparseTensor")),
    ("SparseMatrixAdd", [MATRIX, MATRIX, LOW, HIGH], {}),
    ("SparseMatrixMatMul", [MATRIX, MATRIX], {}),
    ("SparseMatrixMul", [MATRIX, HIGH], {}),
    ("SparseMatrixNNZ", [MATRIX], {}),
    ("SparseMatrixOrderingAMD", [MATRIX], {}),
    ("SparseMatrixSoftmax", [MATRIX], FLOAT),
    ("SparseMatrixSparseCholesky", [MATRIX, np.array([0, 1, 2], np.int32)], FLOAT),
    ("SparseMatrixSparseMatMul", [MATRIX, MATRIX], FLOAT),
    ("SparseMatrixTranspose", [MATRIX], FLOAT),
    ("SparseMatrixZeros", [np.array([3, 3])], FLOAT),
    ("TensorMapInsert", [VALUES, KEY, VALUES], {}),
    ("TensorMapErase", [VALUES, KEY], {"value_dtype": "DT:float32"}),
    ("TensorMapHasKey", [VALUES, KEY], {}),
    ("TensorMapLookup", [VALUES, KEY], {"value_dtype": "DT:float32"}),
    ("TensorMapSize", [VALUES], {}),
    ("TensorMapStackKeys", [VALUES], KEYS),
    ("QuantizeV2", [MATRIX, *RANGE], {"T": "DT:quint8"}),
    ("Dequantize", [BYTES, *RANGE], {}),
    ("QuantizeDownAndShrinkRange", [WIDE, *RANGE], SMALL),
    ("RequantizationRange", [WIDE, *RANGE], {}),
    ("Requantize", [WIDE, *RANGE, *RANGE], SMALL),
    *((f"Quantized{name}", [BYTES, BYTES, *RANGE, *RANGE], WORDS) for name in ("Add", "Mul")),
    ("QuantizedMatMul", [BYTES.reshape(4, 4), BYTES.reshape(4, 4), *RANGE, *RANGE], WORDS),
    ("QuantizedBiasAdd", [BYTES.reshape(4, 4), BYTES[:4], *RANGE, *RANGE], {"out_type": "DT:qint32"}),
    *((f"Quantized{kind}Pool", [BYTES.reshape(1, 4, 4, 1), *RANGE], POOL) for kind in ("Avg", "Max")),
    (
        "QuantizedConv2D",
        [BYTES.reshape(1, 4, 4, 1), BYTES[:4].reshape(2, 2, 1, 1), *RANGE, *RANGE],
        {"strides": [1, 1, 1, 1], "padding": "VALID"},
    ),
    ("QuantizedConcat", [np.array(0, np.int32), [BYTES, BYTES], [LOW, LOW], [HIGH, HIGH]], {}),
    ("QuantizedConcatV2", [[BYTES, BYTES], np.array(0, np.int32), [LOW, LOW], [HIGH, HIGH]], {}),
    *((f"Quantized{name}", [BYTES, *RANGE], {}) for name in ("Relu", "Relu6")),
    ("QuantizedReluX", [BYTES, HIGH, *RANGE], {}),
    ("QuantizedReshape", [BYTES, np.array([4, 4], np.int32), *RANGE], {}),
    ("ShardedFilename", [np.array(b"a", object), np.array(1, np.int32), np.array(3, np.int32)], {}),
    ("ShardedFilespec", [np.array(b"a", object), np.array(3, np.int32)], {}),
    (
        "CTCLossV2",
        [LOGITS, np.array([[0, 0], [1, 0]]), np.array([0, 1], np.int32), np.array([3, 3], np.int32)],
        {},
    ),
]

QUANTIZED = {"uint8": dtypes.quint8, "int8": dtypes.qint8, "int32": dtypes.qint32}
NUMBERS = {kind: getattr(dtypes, name) for name, kind in QUANTIZED.items()}


def given(tf: Any, op: str, name: str, value: Any) -> Any:
    """Return what an op takes for an argument that a case writes as an array."""
    arg = next(arg for arg in registry[op].signature.inputs if arg.name == name)
    if isinstance(value, list):
        return [given_one(tf, op, arg, one) for one in value]
    return given_one(tf, op, arg, value)


def given_one(tf: Any, op: str, arg: Any, value: Any) -> Any:
    if arg.type is dtypes.variant and op.startswith("TensorMap"):
        return tf.raw_ops.TensorMapInsert(input_handle=tf.raw_ops.EmptyTensorMap(), key=KEY, value=value)
    if arg.type is dtypes.variant and "SparseMatrix" in op:
        places = tf.raw_ops.Where(condition=tf.not_equal(value, tf.zeros_like(value)))
        return tf.raw_ops.DenseToCSRSparseMatrix(dense_input=value, indices=places)
    if op.startswith(("Quantized", "Requant", "Dequantize", "QuantizeDown")) and _may_be_quantized(op, arg):
        return tf.bitcast(value, QUANTIZED[value.dtype.name])
    return value


def _may_be_quantized(op: str, arg: Any) -> bool:
    """Say whether an argument's type is one that a quantized op computes with: its ranges and places are not."""
    attr = registry[op].signature.attrs.get(arg.type_attr)
    return attr is not None and (not attr.allowed or dtypes.quint8 in attr.allowed)


def plain(tf: Any, op: str, output: Any) -> Any:
    """Return an output as numbers that can be compared."""
    if output.dtype in NUMBERS:
        return tf.bitcast(output, NUMBERS[output.dtype])
    if output.dtype == dtypes.variant and op.startswith("TensorMap"):
        return tf.raw_ops.TensorMapSize(input_handle=output)
    if output.dtype == dtypes.variant and "SparseMatrix" in op:
        return tf.raw_ops.CSRSparseMatrixToDense(sparse_input=output, type=tf.float32)
    return output


OPS = frozenset(row[0] for row in ROWS)
