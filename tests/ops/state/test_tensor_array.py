"""TensorFlow 1's arrays of tensors: written once, read once; every error as TensorFlow words it."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf

v1, r = tf.compat.v1, tf.raw_ops


def made(size=3, **options):
    defaults = {"dtype": tf.float32, "tensor_array_name": "ta"}
    return r.TensorArrayV3(size=size, **{**defaults, **options})


def write(t, i, value, flow=None):
    return r.TensorArrayWriteV3(handle=t[0], index=i, value=value, flow_in=t[1] if flow is None else flow)


def read(t, i, flow, dtype=tf.float32):
    return r.TensorArrayReadV3(handle=t[0], index=i, flow_in=flow, dtype=dtype)


def gather(t, indices, flow, shape=None):
    return r.TensorArrayGatherV3(handle=t[0], indices=indices, flow_in=flow, dtype=tf.float32, element_shape=shape)


def concat(t, flow, shape=None):
    return r.TensorArrayConcatV3(handle=t[0], flow_in=flow, dtype=tf.float32, element_shape_except0=shape).value


def scatter(t, indices, value, flow):
    return r.TensorArrayScatterV3(handle=t[0], indices=indices, value=value, flow_in=flow)


def split(t, value, lengths, flow):
    return r.TensorArraySplitV3(handle=t[0], value=value, lengths=np.array(lengths, np.int64), flow_in=flow)


def size(t, flow):
    return r.TensorArraySizeV3(handle=t[0], flow_in=flow)


def grad(t, flow):
    return r.TensorArrayGradV3(handle=t[0], flow_in=flow, source="g")


def closed(t):
    with tf.control_dependencies([r.TensorArrayCloseV3(handle=t[0])]):
        return write(t, 0, 1.0)


def read_and(then):
    def run(t):
        flow = write(t, 0, 1.0)
        with tf.control_dependencies([read(t, 0, flow)]):
            return then(t, flow)

    return run


def summed(t):
    array = grad(t, write(t, 0, [1.0, 2.0]))
    return read(array, 0, write(array, 0, [5.0, 6.0], write(array, 0, [3.0, 4.0])))


VALUES = {
    "written and read": ({}, lambda t: read(t, 0, write(t, 0, 1.0)), 1),
    "read twice": ({"clear_after_read": False}, read_and(lambda t, flow: read(t, 0, flow)), 1),
    "grown": ({"dynamic_size": True}, lambda t: size(t, write(t, 5, 1.0)), 6),
    "zeros": ({"element_shape": [2]}, lambda t: read(t, 0, t[1]), [0, 0]),
    "gathered": ({}, lambda t: gather(t, [0, 1], write(t, 1, [2.0], write(t, 0, [1.0]))), [[1], [2]]),
    "joined": ({"size": 2}, lambda t: concat(t, write(t, 1, [2.0, 3.0], write(t, 0, [1.0]))), [1, 2, 3]),
    "nothing joined": ({"size": 0}, lambda t: concat(t, t[1], []), np.zeros([0])),
    "scattered": (
        {},
        lambda t: gather(t, [0, 1, 2], scatter(t, [2, 0, 1], [[1.0], [2.0], [3.0]], t[1])),
        [[2], [3], [1]],
    ),
    "cut": ({}, lambda t: read(t, 1, split(t, [1.0, 2.0, 3.0], [1, 2, 0], t[1])), [2, 3]),
    "gradients are summed": ({}, summed, [8, 10]),
    "a gradient never written": ({}, lambda t: read(grad(t, write(t, 0, [1.0, 2.0])), 0, 0.0), [0, 0]),
}


@pytest.mark.parametrize("name", VALUES)
def test_value(name):
    options, run, expected = VALUES[name]
    with tf.Graph().as_default(), v1.Session() as session:
        found = session.run(run(made(**options)))
    np.testing.assert_array_equal(found, expected)


MAY = "It is possible you are working with a resizeable TensorArray"
REFUSED = [
    ({}, lambda t: write(t, 0, 1.0, write(t, 0, 2.0)), "ta: Could not write to TensorArray index 0 because it has already been written to."),  # noqa: E501
    ({}, read_and(lambda t, flow: write(t, 0, 2.0, flow)), "because it has already been read."),
    ({}, read_and(lambda t, flow: read(t, 0, flow)), "Could not read index 0 twice because it was cleared"),
    ({}, lambda t: write(t, 5, 1.0), "Tried to write to index 5 but array is not resizeable and size is: 3"),
    ({}, lambda t: write(t, -1, 1.0), "Tried to write to index -1 but"),
    ({}, lambda t: read(t, 5, t[1]), "Tried to read from index 5 but array size is: 3"),
    ({}, lambda t: read(t, 0, t[1]), f"the element shape is not fully defined: <unknown>.  {MAY}"),
    ({}, lambda t: read(t, 0, write(t, 0, 1.0), tf.int32), "TensorArray dtype is float but Op requested dtype int32."),
    ({}, lambda t: write(t, 0, 1), "TensorArray dtype is float but Op is trying to write dtype int32."),
    ({"identical_element_shapes": True}, lambda t: write(t, 1, [1.0, 2.0], write(t, 0, [1.0])), "the value shape is [2] which is incompatible with the TensorArray's inferred element shape: [1]"),  # noqa: E501
    ({}, lambda t: gather(t, [0, 1], write(t, 1, [2.0, 3.0], write(t, 0, [1.0]))), "Index 0 has shape: [1] but index 1 has shape: [2]"),  # noqa: E501
    ({}, lambda t: gather(t, [], t[1]), "TensorArray has size zero, but element shape <unknown> is not fully defined"),
    ({"size": 2}, lambda t: concat(t, write(t, 1, [[2.0, 3.0]], write(t, 0, [1.0]))), "(excepting dimension 0) shape: [] but index 1"),  # noqa: E501
    ({"size": 1}, lambda t: concat(t, write(t, 0, 1.0)), "Did you mean to call pack?"),
    ({}, lambda t: scatter(t, [5], [[1.0]], t[1]), "Max scatter index must be < array size (5 vs. 3)"),
    ({}, lambda t: split(t, [1.0, 2.0, 3.0], [1, 2], t[1]), "not equal to the size of lengths (3 vs. 2)"),
    ({}, lambda t: split(t, [1.0, 2.0, 3.0], [1, 1, 0], t[1]), "sum of lengths is 2 and value's shape is: [3]"),
    ({}, closed, "TensorArray ta has already been closed."),
    ({"size": -1}, lambda t: size(t, t[1]), "Size should be >= 0."),
]  # fmt: skip


@pytest.mark.parametrize(("options", "run", "says"), REFUSED, ids=[says[:40] for *_, says in REFUSED])
def test_refusal(options, run, says):
    with tf.Graph().as_default(), v1.Session() as session, pytest.raises(tf.errors.OpError) as caught:
        session.run(run(made(**options)))
    assert says in str(caught.value)


@pytest.mark.parametrize("suffix", ["", "V2", "V3"])
def test_gradients_through_every_generation(suffix):
    named = {name: getattr(r, f"TensorArray{name}{suffix}") for name in ("", "Write", "Read", "Scatter", "Gather")}
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant([2.0, 3.0, 4.0])
        array = named[""](size=4, dtype=tf.float32, clear_after_read=False)
        handle, flow = array if suffix == "V3" else (array, tf.constant(0.0))
        flow = named["Scatter"](handle=handle, indices=[2, 0, 1], value=x, flow_in=flow)
        flow = named["Write"](handle=handle, index=3, value=x[0] * x[1], flow_in=flow)
        y = named["Read"](handle=handle, index=3, flow_in=flow, dtype=tf.float32) ** 2.0
        z = named["Gather"](handle=handle, indices=[0, 1], flow_in=flow, dtype=tf.float32)
        (found,) = tf.gradients([y, z * z], [x])
        np.testing.assert_allclose(session.run(found), [36.0, 24.0 + 6.0, 8.0])
