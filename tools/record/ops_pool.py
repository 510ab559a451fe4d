"""Cases for pooling of images and volumes and for the ops that are its gradients."""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import FLOAT, REAL, D, L, V, bad, case, nan, op


def window(k: tuple, s: tuple, padding: str, first: bool = False) -> dict:
    """Return the attrs of a pooling window over the spatial axes."""
    spread = (lambda v: [1, 1, *v]) if first else (lambda v: [1, *v, 1])
    layout = {"data_format": {2: "NCHW", 3: "NCDHW"}[len(k)]} if first else {}
    return {"ksize": spread(k), "strides": spread(s), "padding": padding, **layout}


#   image, window, strides, padding, channels first: and the shape that comes out
PLANE = [
    ("1 4 4 1", (2, 2), (2, 2), "VALID", False, "1 2 2 1"),
    ("1 3 3 2", (2, 2), (1, 1), "SAME", False, "1 3 3 2"),
    ("2 3 3 1", (2, 2), (1, 1), "VALID", False, "2 2 2 1"),
    ("1 5 4 1", (3, 2), (2, 1), "VALID", False, "1 2 3 1"),
    ("1 5 5 1", (3, 3), (2, 2), "SAME", False, "1 3 3 1"),
    ("1 3 3 1", (1, 1), (2, 2), "SAME", False, "1 2 2 1"),
    ("1 2 2 1", (3, 3), (1, 1), "SAME", False, "1 2 2 1"),
    ("1 3 3 1", (3, 3), (3, 3), "VALID", False, "1 1 1 1"),
    ("1 1 4 4", (2, 2), (2, 2), "VALID", True, "1 1 2 2"),
    ("1 2 3 3", (2, 2), (1, 1), "SAME", True, "1 2 3 3"),
    ("0 4 4 1", (2, 2), (2, 2), "VALID", False, "0 2 2 1"),
]
VOLUME = [
    ("1 2 2 2 1", (2, 2, 2), (2, 2, 2), "VALID", False, "1 1 1 1 1"),
    ("1 3 2 2 1", (2, 1, 2), (1, 1, 1), "SAME", False, "1 3 2 2 1"),
    ("1 3 3 2 2", (2, 2, 1), (2, 1, 1), "VALID", False, "1 1 2 2 2"),
    ("1 3 3 3 1", (2, 2, 2), (2, 2, 2), "SAME", False, "1 2 2 2 1"),
    ("2 1 2 2 1", (1, 2, 2), (1, 1, 1), "VALID", False, "2 1 1 1 1"),
    ("1 1 2 2 2", (2, 2, 2), (1, 1, 1), "VALID", True, "1 1 1 1 1"),
    ("1 2 2 2 3", (1, 2, 2), (1, 1, 2), "SAME", True, "1 2 2 2 2"),
    ("0 2 2 2 1", (2, 2, 2), (1, 1, 1), "VALID", False, "0 1 1 1 1"),
]
TIES = [[[[1.0], [1.0], [0.0]], [[1.0], [1.0], [2.0]], [[2.0], [2.0], [2.0]]]]


def cases() -> Iterator[dict]:
    for family in (maxima, maximum_gradients, with_argmax, averages, volumes):
        yield from family()


def _wrong(argument: str, image: str) -> list:
    rank = len(image.split())
    ones, twos = [1] * rank, [1, *[2] * (rank - 2), 1]
    good = {"ksize": twos, "strides": ones, "padding": "VALID"}
    return [
        bad(**{argument: D(image.partition(" ")[2])}, **good),
        bad(**{argument: D(image)}, **good | {"ksize": [2, *twos[1:]]}),
        bad(**{argument: D(image)}, **good | {"ksize": [0, *twos[1:]]}),
        bad(**{argument: D(image)}, **good | {"strides": [1, 0, *ones[2:]]}),
        bad(**{argument: D(image)}, **good | {"ksize": twos[:-1]}),
        bad(**{argument: D(image)}, **good | {"padding": "FULL"}),
        bad(**{argument: D(image, dtype="string")}, **good),
        bad(**{argument: D(image)}, data_format="NWHC", **good),
    ]


def maxima() -> Iterator[dict]:
    numbers = tuple(t for t in REAL if t not in ("uint32", "uint64"))
    explicit = {
        "ksize": [1, 2, 2, 1],
        "strides": [1, 1, 1, 1],
        "padding": "EXPLICIT",
        "explicit_paddings": [0, 0, 1, 0, 0, 1, 0, 0],
    }
    rows = [case(input=D(d), **window(k, s, p, first)) for d, k, s, p, first, _ in PLANE]
    rows += [
        case(input=V(TIES), **window((2, 2), (1, 1), "VALID")),
        case(input=V([[[[nan], [1.0]], [[2.0], [0.0]]]]), **window((2, 2), (1, 1), "SAME"), no_grad=True),
    ]
    rows += [
        case(input=D("1 3 3 1"), **explicit),
        case(input=D("1 4 4 1"), second=True, **window((2, 2), (2, 2), "VALID")),
    ]
    rows += [
        case(input=D("1 1 2 4"), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="VALID", no_grad=True),
        *_wrong("input", "1 3 3 1"),
        bad(input=D("1 2 2 1"), **window((3, 3), (1, 1), "VALID")),
    ]
    yield from op("MaxPool", numbers, *rows)
    rows = []
    for d, k, s, p, first, _ in PLANE:
        attrs = window(k, s, p, first)
        sizes = {name: L("int32", attrs.pop(name)) for name in ("ksize", "strides")}
        rows.append(case(input=D(d), **sizes, **attrs))
    two, one = L("int32", [1, 2, 2, 1]), L("int32", [1, 1, 1, 1])
    rows += [
        bad(input=D("3 3 1"), ksize=two, strides=one, padding="VALID"),
        bad(input=D("1 3 3 1"), ksize=L("int32", [1, 2, 2]), strides=one, padding="VALID"),
        bad(input=D("1 3 3 1"), ksize=two, strides=L("int32", [1, 0, 1, 1]), padding="VALID"),
    ]
    rows += [
        bad(input=D("1 3 3 1"), ksize=two, strides=one, padding="EXPLICIT"),
        bad(input=D("1 3 3 1"), ksize=two, strides=L("float32", [1, 1, 1, 1]), padding="VALID"),
        bad(input=D("1 3 3 1"), ksize=L("int32", [2, 2, 2, 1]), strides=one, padding="VALID"),
    ]
    yield from op("MaxPoolV2", numbers, *rows)


#   input, the output that belongs to it, the gradient: for a 2x2 window moved by 2 over 4x4, and by 1 over 3x3
LOOKED_AT = [
    [
        [[1.0], [5.0], [2.0], [0.0]],
        [[3.0], [4.0], [7.0], [6.0]],
        [[9.0], [8.0], [1.0], [1.0]],
        [[0.0], [2.0], [1.0], [1.0]],
    ]
]
FOUND = [[[[5.0], [7.0]], [[9.0], [1.0]]]]
TIED_OUT = [[[[1.0], [2.0]], [[2.0], [2.0]]]]


def maximum_gradients() -> Iterator[dict]:
    numbers = tuple(t for t in REAL if t not in ("uint32", "uint64"))
    two = window((2, 2), (2, 2), "VALID")
    one = window((2, 2), (1, 1), "VALID")
    first = window((2, 2), (2, 2), "VALID", True)
    turned = [[[[[x[0] for x in line] for line in plane] for plane in image]] for image in (LOOKED_AT, FOUND)]
    for name, grads in (
        ("MaxPoolGrad", ("1 2 2 1", "1 2 2 1", "1 1 2 2")),
        ("MaxPoolGradGrad", ("1 4 4 1", "1 3 3 1", "1 1 4 4")),
    ):
        rows = [case(orig_input=V(LOOKED_AT), orig_output=V(FOUND), grad=D(grads[0]), **two)]
        rows += [case(orig_input=V(TIES), orig_output=V(TIED_OUT), grad=D(grads[1]), **one)]
        rows += [case(orig_input=V(turned[0]), orig_output=V(turned[1]), grad=D(grads[2]), **first)]
        rows += [
            case(
                orig_input=V(LOOKED_AT), orig_output=V(FOUND), grad=D(grads[0]), second=True, dtypes=["float64"], **two
            )
        ]
        rows += [case(orig_input=D("0 4 4 1"), orig_output=D("0 2 2 1"), grad=D("0" + grads[0][1:]), **two)]
        same = window((2, 2), (2, 2), "SAME")
        rows += [case(orig_input=V(LOOKED_AT), orig_output=V(FOUND), grad=D(grads[0]), **same)]
        rows += [
            bad(orig_input=V(LOOKED_AT), orig_output=V(FOUND), grad=D("1 3 2 1"), **two),
            bad(orig_input=V(LOOKED_AT), orig_output=D("1 3 2 1"), grad=D(grads[0]), **two),
        ]
        rows += [
            bad(orig_input=D("4 4 1"), orig_output=V(FOUND), grad=D(grads[0]), **two),
            bad(orig_input=V(LOOKED_AT), orig_output=V(FOUND), grad=D(grads[0], dtype="float64"), **two),
        ]
        yield from op(name, numbers, *rows)


def with_argmax() -> Iterator[dict]:
    numbers = tuple(t for t in REAL if t not in ("uint32", "uint64"))
    rows = [case(input=D(d), **window(k, s, p)) for d, k, s, p, first, _ in PLANE if not first and d[0] != "0"]
    rows += [
        case(input=D("2 3 3 2"), include_batch_in_index=b, Targmax=t, **window((2, 2), (1, 1), "VALID"))
        for b in (False, True)
        for t in ("DT:int32", "DT:int64")
    ]
    rows += [
        case(input=V(TIES), **window((2, 2), (1, 1), "VALID")),
        *[row for row in _wrong("input", "1 3 3 1") if "data_format" not in row.args],
    ]
    yield from op("MaxPoolWithArgmax", numbers, *rows)


def averages() -> Iterator[dict]:
    rows = [case(value=D(d), **window(k, s, p, first)) for d, k, s, p, first, _ in PLANE]
    rows += [
        case(value=D("1 3 3 2"), second=True, dtypes=["float64"], **window((2, 2), (1, 1), "SAME")),
        *_wrong("value", "1 3 3 1"),
    ]
    yield from op("AvgPool", FLOAT, *rows)
    shape = lambda dims: L("int32", [int(n) for n in dims.split()])
    rows = [case(orig_input_shape=shape(d), grad=D(out), **window(k, s, p, first)) for d, k, s, p, first, out in PLANE]
    two = window((2, 2), (1, 1), "VALID")
    rows += [
        bad(orig_input_shape=shape("1 3 3"), grad=D("1 2 2 1"), **two),
        bad(orig_input_shape=shape("1 3 3 1"), grad=D("2 2 1"), **two),
        bad(orig_input_shape=L("int32", [[1, 3, 3, 1]]), grad=D("1 2 2 1"), **two),
    ]
    yield from op("AvgPoolGrad", FLOAT, *rows)


def volumes() -> Iterator[dict]:
    narrow = ("float32", "float16", "bfloat16")
    rows = [case(input=D(d), **window(k, s, p, first)) for d, k, s, p, first, _ in VOLUME]
    wrong = _wrong("input", "1 3 3 2 1")
    yield from op(
        "MaxPool3D",
        narrow,
        *rows,
        case(input=D("1 2 2 2 1"), second=True, **window((2, 2, 1), (1, 1, 1), "VALID")),
        *wrong,
    )
    yield from op(
        "AvgPool3D",
        FLOAT,
        *rows,
        case(input=D("1 2 2 2 1"), second=True, **window((2, 2, 1), (1, 1, 1), "SAME")),
        *wrong,
    )
    shape = lambda dims: L("int32", [int(n) for n in dims.split()])
    two = window((2, 2, 2), (1, 1, 1), "VALID")
    rows = [case(orig_input_shape=shape(d), grad=D(out), **window(k, s, p, first)) for d, k, s, p, first, out in VOLUME]
    rows += [
        bad(orig_input_shape=shape("1 3 3 3"), grad=D("1 2 2 2 1"), **two),
        bad(orig_input_shape=shape("1 3 3 3 1"), grad=D("2 2 2 1"), **two),
    ]
    yield from op("AvgPool3DGrad", FLOAT, *rows)
    cube = [[[[[1.0], [5.0]], [[3.0], [4.0]]], [[[9.0], [8.0]], [[0.0], [2.0]]]]]
    halves = [[[[[5.0]]], [[[9.0]]]]]
    flat = window((1, 2, 2), (1, 1, 1), "VALID")
    rows = [
        case(orig_input=V(cube), orig_output=V(halves), grad=D("1 2 1 1 1"), **flat),
        case(orig_input=V(cube), orig_output=V([[[[[9.0]]]]]), grad=D("1 1 1 1 1"), **two),
    ]
    rows += [
        case(orig_input=V(cube), orig_output=V(cube), grad=D("1 2 2 2 1"), **window((1, 1, 1), (1, 1, 1), "SAME")),
        case(orig_input=D("0 2 2 2 1"), orig_output=D("0 1 1 1 1"), grad=D("0 1 1 1 1"), **two),
    ]
    rows += [
        bad(orig_input=D("2 2 2 1"), orig_output=V(halves), grad=D("1 2 1 1 1"), **flat),
        bad(orig_input=V(cube), orig_output=V(halves), grad=D("1 3 1 1 1"), **flat),
    ]
    yield from op("MaxPool3DGrad", narrow, *rows)
