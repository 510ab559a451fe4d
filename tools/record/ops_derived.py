"""Answers that TensorFlow's CPU kernels do not give, from those they do.

Knows how to put transposes around one op of the image families, so that the recorder can ask for NCHW and NCDHW
cases all the same; that a dilated filter is a filter with zeros between its taps; and that TopK, which no longer runs,
is TopKV2 with a constant. Gradients and graph shapes follow by themselves, since all of it is made of ops.
"""

from __future__ import annotations

from typing import Any

from tests.ops.golden import call_raw_op

IMAGES = frozenset({"input", "out_backprop", "orig_input", "orig_output", "grad", "value", "x", "y_backprop"})
SIZES = frozenset({"input_sizes", "orig_input_shape", "ksize", "strides"})
PER_AXIS = ("strides", "ksize", "dilations")


def is_derivable(op: str, attrs: dict) -> bool:
    """Say whether `call_derived` knows a way round a refusal of this op."""
    first = str(attrs.get("data_format", "")).startswith("NC")
    return op == "TopK" or first or any(d != 1 for d in attrs.get("dilations", ()))


def call_derived(tf: Any, op: str, inputs: dict, attrs: dict) -> list:
    """Call an op in the form that TensorFlow's CPU takes."""
    if op == "TopK":
        rest = {name: value for name, value in attrs.items() if name != "k"}
        return call_raw_op(tf, "TopKV2", inputs | {"k": tf.constant(attrs["k"])}, rest)
    data_format = attrs.get("data_format", "")
    if not data_format.startswith("NC"):
        return _call_undilated(tf, op, inputs, attrs)
    rank = len(data_format)
    to_last = [0, *range(2, rank), 1]
    to_first = [0, rank - 1, *range(1, rank - 1)]
    moved = {name: _to_last(tf, name, t, to_last) for name, t in inputs.items()}
    outputs = _call_undilated(tf, op, moved, _attrs_to_last(attrs, to_last))
    if op.endswith(("BackpropFilter", "BackpropFilterV2")):
        return outputs
    return [tf.transpose(outputs[0], to_first), *outputs[1:]]


def _to_last(tf: Any, name: str, tensor: Any, perm: list[int]) -> Any:
    if name in SIZES:
        return tf.gather(tensor, perm)
    return tf.transpose(tensor, perm) if name in IMAGES else tensor


def _attrs_to_last(attrs: dict, perm: list[int]) -> dict:
    moved = dict(attrs, data_format={4: "NHWC", 5: "NDHWC"}[len(perm)])
    for name in PER_AXIS:
        if name in attrs:
            moved[name] = [attrs[name][axis] for axis in perm]
    if attrs.get("explicit_paddings"):
        moved["explicit_paddings"] = [attrs["explicit_paddings"][2 * axis + side] for axis in perm for side in (0, 1)]
    return moved


def _call_undilated(tf: Any, op: str, inputs: dict, attrs: dict) -> list:
    """Call a convolution, its dilation worked into the filter."""
    dilations = attrs.get("dilations", [1])[1:-1]
    if all(d == 1 for d in dilations):
        return call_raw_op(tf, op, inputs, attrs)
    plain = {name: value for name, value in attrs.items() if name != "dilations"}
    if "filter_sizes" in inputs:
        grown = (inputs["filter_sizes"] - 1) * tf.constant([*dilations, 1, 1]) + 1
        (whole,) = call_raw_op(tf, op, inputs | {"filter_sizes": grown}, plain)
        return [whole[tuple(slice(None, None, d) for d in dilations)]]
    return call_raw_op(tf, op, inputs | {"filter": _with_holes(tf, inputs["filter"], dilations)}, plain)


def _with_holes(tf: Any, taps: Any, dilations: list[int]) -> Any:
    """Return a filter with dilation - 1 zeros after each of its taps, but for the last."""
    for axis, dilation in enumerate(dilations):
        shape = tf.shape(taps)
        apart = tf.expand_dims(taps, axis + 1)
        pads = [[0, dilation - 1 if i == axis + 1 else 0] for i in range(len(dilations) + 3)]
        holed = tf.reshape(
            tf.pad(apart, pads), tf.concat([shape[:axis], [shape[axis] * dilation], shape[axis + 1 :]], 0)
        )
        taps = tf.gather(holed, tf.range((shape[axis] - 1) * dilation + 1), axis=axis)
    return taps
