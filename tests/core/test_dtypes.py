"""Dtypes: TensorFlow's recorded answers, then what is Ebbflow's own: one object each, fast look-up, groups."""

import copy
import pathlib
import pickle
import runpy
import weakref

import ml_dtypes
import numpy as np
import pytest

from ebbflow.core import dtypes
from ebbflow.core.dtypes import as_dtype, from_numpy

ROOT = pathlib.Path(__file__).resolve().parents[1]
ASK = runpy.run_path(str(ROOT / "golden" / "core" / "ask.py"))
NAMESPACE = {"as_dtype": as_dtype, "tf": dtypes, "np": np, "ml_dtypes": ml_dtypes, "facts": ASK["facts"]}
EVERY = [dtypes.DType(enum + ref) for enum in range(1, 34) for ref in (0, 100)]


@pytest.mark.parametrize(("question", "answer"), ASK["golden"]("dtypes"))
def test_answers_as_tensorflow(question, answer):
    assert ASK["ask"](question, NAMESPACE) == answer


def test_there_are_all_of_them_once():
    assert len(set(EVERY)) == 66
    assert tuple(d for d in EVERY if not d._is_ref_dtype) == dtypes.ALL


@pytest.mark.parametrize("dtype", EVERY, ids=repr)
def test_every_way_leads_to_the_same_object(dtype):
    assert dtypes.DType(int(dtype)) is dtype
    assert as_dtype(dtype.name) is dtype
    assert as_dtype(dtype) is dtype
    assert getattr(dtypes, dtype.name) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.copy(dtype) is dtype
    assert copy.deepcopy([dtype]) == [dtype]
    assert dtype.base_dtype._as_ref is dtype._as_ref
    assert dtype._as_ref.base_dtype is dtype.base_dtype


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
def test_arrays_of_each(dtype):
    array = np.zeros(3, dtype.np)
    if dtype in (dtypes.resource, dtypes.variant):
        assert array.dtype == object
        assert dtype.as_numpy_dtype is object
    else:
        assert from_numpy(array.dtype) is dtype
        assert as_dtype(dtype.as_numpy_dtype) is dtype
    if dtype.is_numeric or dtype.is_bool:
        assert dtype.size == array.itemsize


@pytest.mark.parametrize(
    ("np_dtype", "expected"),
    [
        (">f4", dtypes.float32),
        ("<i8", dtypes.int64),
        (">c16", dtypes.complex128),
        ("S5", dtypes.string),
        ("U5", dtypes.string),
        (object, dtypes.string),
        (np.longlong, dtypes.int64),
        (ml_dtypes.float8_e4m3fn, dtypes.float8_e4m3fn),
    ],
)
def test_from_numpy(np_dtype, expected):
    assert from_numpy(np.dtype(np_dtype)) is expected


@pytest.mark.parametrize("np_dtype", ["M8[s]", "m8[D]", [("a", "f4")], np.longdouble])
def test_from_numpy_refuses_what_no_tensor_holds(np_dtype):
    with pytest.raises(TypeError, match="Cannot convert the argument `type_value`"):
        from_numpy(np.dtype(np_dtype))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(int, dtypes.int32), (complex, dtypes.complex128), (str, dtypes.string), (bytes, dtypes.string)],
)
def test_python_types_that_tensorflow_refuses_are_understood_but_not_equal(kind, expected):
    assert as_dtype(kind) is expected
    assert expected != kind
    assert (expected == kind) is False


def test_resource_and_variant_have_no_limits():
    for dtype in (dtypes.resource, dtypes.variant):
        with pytest.raises(ValueError, match="does not have defined limits"):
            _ = dtype.limits


@pytest.mark.parametrize("dtype", (*dtypes.INTEGERS, dtypes.int4, dtypes.uint4, dtypes.int2, dtypes.uint2), ids=repr)
def test_integer_limits_are_exact(dtype):
    bits = int(dtype.name.lstrip("uint"))
    low, high = (0, 2**bits - 1) if dtype.is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    assert (dtype.min, dtype.max) == (low, high)
    assert type(dtype.max) is int


def test_groups_are_those_of_op_declarations():
    def names(group):
        return " ".join(d.name for d in group)

    assert names(dtypes.NUMERIC) == (
        "float32 float64 int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 qint16 quint16 uint16 "
        "complex128 float16 uint32 uint64"
    )
    assert names(dtypes.REALNUMBER) == (
        "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64"
    )
    assert names(dtypes.FLOATS) == "bfloat16 float16 float32 float64"
    assert names(dtypes.FLOATS_COMPLEX) == "bfloat16 float16 float32 float64 complex64 complex128"
    assert names(dtypes.INTEGERS) == "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
    assert names(dtypes.INDEX) == "int32 int64"
    assert names(dtypes.QUANTIZED) == "qint8 quint8 qint32 qint16 quint16"
    assert all(d.is_numeric for d in dtypes.NUMERIC)


def test_proto_round_trip():
    assert dtypes.DType.experimental_from_proto(dtypes.int8.experimental_as_proto()) is dtypes.int8
    assert dtypes.int8.experimental_as_proto().datatype == 6


def test_cast_keeps_only_itself():
    assert dtypes.int8.cast(dtypes.int8) is dtypes.int8
    with pytest.raises(AssertionError, match="Can not cast"):
        dtypes.int8.cast(dtypes.int16)


def test_weak_references_work():
    assert weakref.ref(dtypes.float32)() is dtypes.float32
