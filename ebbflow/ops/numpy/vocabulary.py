"""NumPy's types and constants under their names."""

from __future__ import annotations

import math

import numpy as np
from numpy import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    inexact,
    int8,
    int16,
    int32,
    int64,
    int_,
    issubdtype,
    object_,
    uint8,
    uint16,
    uint32,
    uint64,
)

from ebbflow.core.tensor import Tensor

ndarray = Tensor
complex_ = complex128
float_ = float64
string_ = np.bytes_
unicode_ = np.str_
e, inf, pi, newaxis = math.e, math.inf, math.pi, None

__all__ = [
    "bool_", "complex64", "complex128", "complex_", "e", "float16", "float32", "float64", "float_", "inexact", "inf",
    "int8", "int16", "int32", "int64", "int_", "issubdtype", "ndarray", "newaxis", "object_", "pi", "string_", "uint8",
    "uint16", "uint32", "uint64", "unicode_",
]  # fmt: skip
