"""Arrays as TensorProto and back: TensorFlow's own bytes for many values, every stored form, and hostile protos."""

import json
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.shape import Dimension, TensorShape
from ebbflow.messages.tensors import content_proto, make_ndarray, make_tensor_proto, shape_dims, shape_proto

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
WRITTEN = json.loads((GOLDEN / "messages" / "tensor_protos.json").read_text())
STORED = json.loads((GOLDEN / "tf221" / "tensor_proto" / "tensors.json").read_text())


def call(case):
    names = {"np": np, "Shape": TensorShape, "Dim": Dimension, "make": make_tensor_proto}
    names["type_of"] = lambda name: dtypes.as_dtype(name).as_numpy_dtype
    return eval(f"make({case})", names)


@pytest.mark.parametrize("golden", [g for g in WRITTEN if "hex" in g], ids=lambda g: g["case"])
def test_bytes_are_tensorflows(golden):
    assert messages.serialize(call(golden["case"])).hex() == golden["hex"]


@pytest.mark.parametrize("golden", [g for g in WRITTEN if "error" in g], ids=lambda g: g["case"])
def test_refusals_are_tensorflows(golden):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(golden["case"])
    assert type(caught.value).__name__ == golden["error"]
    if "inhomogeneous" not in golden["says"] and "could not convert" not in golden["says"]:  # NumPy's words
        assert str(caught.value) == golden["says"]


def expected_of_stored(number, case):
    with np.load(GOLDEN / "tf221" / "tensor_proto" / "expected.npz") as arrays:
        if "strings_hex" in case:
            return np.array([bytes.fromhex(h) for h in case["strings_hex"]], object)
        if f"t{number:02}:as_uint16" in arrays:
            return arrays[f"t{number:02}:as_uint16"].view(dtypes.bfloat16.np)
        return arrays[f"t{number:02}"]


@pytest.mark.parametrize("number, case", list(enumerate(STORED)), ids=[c["note"] for c in STORED])
def test_every_stored_form_is_read(number, case):
    array = make_ndarray(messages.TensorProto.FromString(bytes.fromhex(case["hex"])))
    expected = expected_of_stored(number, case)
    assert array.dtype == expected.dtype == dtypes.as_dtype(case["dtype"]).np
    assert list(array.shape) == case["shape"]
    assert array.tolist() == expected.tolist()
    assert array.flags.writeable


ALL_TYPES = [d for d in map(dtypes.as_dtype, range(1, 34)) if d.is_numpy_compatible]


def sample(dtype, shape):
    ones = np.arange(int(np.prod(shape))).reshape(shape) % 2
    if dtype is dtypes.string:
        return np.asarray(np.array([b"\x00\xff", b""], object)[ones], object)
    return ones.astype(dtype.np[0]).view(dtype.np) if dtype.is_quantized else ones.astype(dtype.np)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (0,), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("write", [make_tensor_proto, content_proto])
@pytest.mark.parametrize("dtype", ALL_TYPES, ids=lambda d: d.name)
def test_every_dtype_comes_back(dtype, write, shape):
    array = sample(dtype, shape)
    proto = write(array, dtype)
    assert proto.dtype == dtype.as_datatype_enum
    back = make_ndarray(proto)
    assert back.dtype == array.dtype
    assert back.shape == shape
    assert back.tolist() == array.tolist()


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", "c16"]).flatmap(
        lambda t: hnp.arrays(np.dtype(t), hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
    )
)
def test_any_array_comes_back_bit_for_bit(array):
    for write in (make_tensor_proto, content_proto):
        back = make_ndarray(messages.TensorProto.FromString(messages.serialize(write(array))))
        assert (back.dtype, back.shape) == (array.dtype, array.shape)
        assert np.array_equal(back, array, equal_nan=array.dtype.kind in "fc")


def test_other_byte_order_is_turned_around():
    assert make_ndarray(make_tensor_proto(np.array([1, 2], ">i4"))).tolist() == [1, 2]


def test_a_proto_is_returned_as_it_is():
    proto = make_tensor_proto(3)
    assert make_tensor_proto(proto, dtype="float32") is proto


def test_content_of_bool_is_clean():
    proto = messages.TensorProto(dtype=10, tensor_shape=shape_proto([2]), tensor_content=b"\x00\x07")
    assert make_ndarray(proto).view(np.uint8).tolist() == [0, 1]


def test_more_values_than_elements_are_ignored():
    proto = messages.TensorProto(dtype=3, tensor_shape=shape_proto([2]), int_val=[1, 2, 3])
    assert make_ndarray(proto).tolist() == [1, 2]


def hostile(dtype=1, dims=(), **fields):
    Dim = messages.TensorShapeProto.Dim
    shape = messages.TensorShapeProto(dim=[Dim(size=d) for d in dims])
    return messages.TensorProto(dtype=dtype, tensor_shape=shape, **fields)


REFUSED = [
    ("a fill of 2**60 floats", dict(dims=[2**60], float_val=[1]), "would fill more than"),
    ("zeros of 2**60 floats", dict(dims=[2**30, 2**30]), "would fill more than"),
    ("2**50 strings", dict(dtype=7, dims=[2**50], string_val=[b"x"]), "would fill more than"),
    ("just above the cap", dict(dtype=4, dims=[2**31 + 1], int_val=[1]), "would fill more than"),
    ("a product that overflows", dict(dims=[2**40, 2**40]), "more than memory can address"),
    ("an overflow hidden by a zero", dict(dims=[0, 2**62, 2**62]), "more than memory can address"),
    ("a negative dimension", dict(dims=[-5]), "dimensions below -1"),
    ("an unknown dimension", dict(dims=[-1]), "fully defined shape"),
    ("too many dimensions", dict(dims=[1] * 300, float_val=[1]), "300 dimensions"),
    ("too little content", dict(dims=[3], tensor_content=b"1234"), "4 bytes of tensor_content, but float32 .* has 12"),
    ("too much content", dict(dims=[], tensor_content=b"12345678"), "8 bytes of tensor_content"),
    ("strings in content", dict(dtype=7, dims=[2], tensor_content=b"\x01"), "too few for 2 strings"),
    ("lengths of strings", dict(dtype=7, dims=[1], tensor_content=b"\x03a"), "their lengths sum to 3"),
    ("half a complex number", dict(dtype=8, dims=[1], scomplex_val=[1]), "take two each"),
    ("no dtype", dict(dtype=0), "unknown dtype 0"),
    ("a dtype of the future", dict(dtype=77), "unknown dtype 77"),
]


@pytest.mark.parametrize("fields, says", [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_hostile_protos_are_refused(fields, says):
    with pytest.raises(errors.InvalidArgumentError, match=says):
        make_ndarray(hostile(**fields))


def test_unknown_rank_is_refused():
    with pytest.raises(errors.InvalidArgumentError, match="fully defined shape"):
        make_ndarray(messages.TensorProto(dtype=1, tensor_shape=messages.TensorShapeProto(unknown_rank=True)))


@pytest.mark.parametrize("dtype", [dtypes.resource, dtypes.variant], ids=lambda d: d.name)
def test_handles_have_no_array(dtype):
    with pytest.raises(TypeError, match="Unsupported tensor type"):
        make_ndarray(messages.TensorProto(dtype=dtype.as_datatype_enum))


def test_the_cap_can_be_lowered():
    proto = hostile(dims=[100], float_val=[1])
    assert make_ndarray(proto).sum() == 100
    with pytest.raises(errors.InvalidArgumentError, match="more than 399 bytes"):
        make_ndarray(proto, limit=399)


SHAPES = [
    (None, b"\x18\x01"),
    ((), b""),
    ((2, 3), b"\x12\x02\x08\x02\x12\x02\x08\x03"),
    ((None, 0), b"\x12\x0b\x08" + b"\xff" * 9 + b"\x01" + b"\x12\x00"),
]


@pytest.mark.parametrize("dims, data", SHAPES, ids=str)
def test_shapes(dims, data):
    assert messages.serialize(shape_proto(dims)) == data
    assert shape_dims(messages.TensorShapeProto.FromString(data)) == dims
