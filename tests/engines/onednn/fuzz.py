"""Random convolutions and poolings, to compare oneDNN with the reference: `python -m tests.engines.onednn.fuzz 3000`.

A case is a name, arrays and attrs, all drawn from a seed: a failure is repeated by its number.
"""

from __future__ import annotations

import sys

import numpy as np

from ebbflow.core.registry import registry
from tests.engines.onednn.test_ops import check, floats, ints, reference, settled


def conv_case(seed):
    """Return (name, x dims, filter dims, attrs) of a convolution that has a result."""
    rng = np.random.default_rng(seed)
    name = rng.choice(["Conv2D", "Conv2D", "Conv3D", "DepthwiseConv2dNative"])
    space = 3 if name == "Conv3D" else 2
    windows = rng.integers(1, 5, space)
    strides = rng.integers(1, 4, space)
    dilations = rng.integers(1, 4, space) if rng.random() < 0.3 else np.ones(space, int)
    if name == "DepthwiseConv2dNative" and (dilations > 1).any():
        strides = np.ones(space, int)
    reach = (windows - 1) * dilations + 1
    sizes = reach + rng.integers(0, 9, space)
    batch, groups = rng.integers(1, 4), rng.choice([1, 1, 1, 2, 3])
    ins, outs = rng.choice([1, 2, 3, 8, 16, 17, 32]), rng.choice([1, 3, 8, 16, 20])
    if name == "DepthwiseConv2dNative":
        channels, last = ins, (ins, rng.integers(1, 4))
    else:
        channels, last = ins * groups, (ins, outs * groups)
    first = rng.random() < 0.3
    attrs = {"padding": str(rng.choice(["SAME", "VALID"]))}
    attrs["data_format"] = {(2, 0): "NHWC", (2, 1): "NCHW", (3, 0): "NDHWC", (3, 1): "NCDHW"}[space, int(first)]

    def per_axis(values):
        return tuple(map(int, (1, 1, *values) if first else (1, *values, 1)))

    if name != "Conv3D" and rng.random() < 0.25:
        pads = [tuple(map(int, rng.integers(0, 4, 2))) for _ in range(space)]
        pairs = [(0, 0), (0, 0), *pads] if first else [(0, 0), *pads, (0, 0)]
        attrs |= {"padding": "EXPLICIT", "explicit_paddings": tuple(n for pair in pairs for n in pair)}
    attrs |= {"strides": per_axis(strides), "dilations": per_axis(dilations)}
    x = (batch, channels, *sizes) if first else (batch, *sizes, channels)
    return str(name), tuple(map(int, x)), tuple(map(int, (*windows, *last))), attrs


def check_conv(seed):
    """Compare a random convolution and its two gradients."""
    name, x_dims, f_dims, attrs = conv_case(seed)
    op = registry[name]
    x, f = floats(*x_dims, seed=seed), floats(*f_dims, seed=seed)
    dy = floats(*reference(op, [x, f], settled(op, attrs))[0].shape, seed=seed + 1)
    version = "V2" if name == "Conv3D" else ""
    check(name, [x, f], None, **attrs)
    check(f"{name}BackpropInput{version}", [ints(*x_dims), f, dy], None, **attrs)
    check(f"{name}BackpropFilter{version}", [x, ints(*f_dims), dy], None, **attrs)


def check_pool(seed):
    """Compare a random pooling and its gradient."""
    rng = np.random.default_rng(seed)
    space = int(rng.choice([2, 2, 3]))
    windows, strides = rng.integers(1, 5, space), rng.integers(1, 4, space)
    sizes = windows + rng.integers(0, 9, space)
    first, channels, batch = rng.random() < 0.3, int(rng.choice([1, 3, 8, 16, 17, 64])), int(rng.integers(1, 4))

    def per_axis(values, batch=1, channels=1):
        return tuple(map(int, (batch, channels, *values) if first else (batch, *values, channels)))

    attrs = {"ksize": per_axis(windows), "strides": per_axis(strides), "padding": str(rng.choice(["SAME", "VALID"]))}
    attrs["data_format"] = {(2, 0): "NHWC", (2, 1): "NCHW", (3, 0): "NDHWC", (3, 1): "NCDHW"}[space, int(first)]
    dims = per_axis(sizes, batch, channels)
    x = np.round(floats(*dims, seed=seed) * 2)  # many are equal
    suffix = "3D" if space == 3 else ""
    op = registry[f"MaxPool{suffix}"]
    y = reference(op, [x], settled(op, attrs))[0]
    dy = floats(*y.shape, seed=seed + 1)
    check(f"MaxPool{suffix}", [x], None, **attrs)
    check(f"AvgPool{suffix}", [x], None, **attrs)
    check(f"AvgPool{suffix}Grad", [ints(*dims), dy], None, **attrs)
    if space == 2:
        check("MaxPoolGrad", [x, y, dy], None, **attrs)


if __name__ == "__main__":
    for number in range(int(sys.argv[1])):
        try:
            (check_conv if number % 3 else check_pool)(number)
        except BaseException:
            print(f"case {number}")
            raise
    print("all equal")
