"""Cases for the layers' ops that are neither convolutions nor pools: softmax, losses, biases, normalisations."""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import FLOAT, NUMBER, D, I, L, V, bad, case, inf, nan, op

DOUBLES = ("float32", "float64")


def cases() -> Iterator[dict]:
    for family in (softmaxes, cross_entropies, biases, batch_norms, batch_norm_gradients, response_norms):
        yield from family()


def softmaxes() -> Iterator[dict]:
    for name in ("Softmax", "LogSoftmax"):
        rows = [case(logits=D(d)) for d in ("2 3", "4", "2 1", "2 2 3", "1 2 1 3", "0 3", "2 0", "2 0 3")]
        rows += [
            case(logits=D("2 3"), second=True, dtypes=DOUBLES),
            case(logits=V([[1000.0, 0.0, -1000.0], [100.0, 100.0, 100.0]]), wide=True),
        ]
        rows += [
            case(logits=V([[inf, 0.0], [-inf, 0.0], [nan, 0.0], [-inf, -inf]]), dtypes=DOUBLES),
            bad(logits=D("")),
            bad(logits=D("2", dtype="int32")),
        ]
        yield from op(name, FLOAT, *rows)


def cross_entropies() -> Iterator[dict]:
    labels = V([[0.25, 0.5, 0.25], [0.0, 1.0, 0.0]])
    rows = [
        case(features=D("2 3"), labels=labels),
        case(features=D("1 3"), labels=labels, no_grad=True),
        case(features=D("2 1"), labels=labels, no_grad=True),
        case(features=D("2 3"), labels=V([[0.5, 0.25, 0.25]]), no_grad=True),
    ]
    rows += [case(features=D(d), labels=D(d, 0.0, 1.0)) for d in ("1 1", "0 3", "2 0", "3 5")] + [
        case(features=D("2 3"), labels=labels, second=True, toward=(0,), dtypes=DOUBLES),
        case(features=D("2 3"), labels=labels, toward=(0,), wide=True),
    ]
    rows += [
        case(
            features=V([[1000.0, 0.0, -1000.0], [inf, 0.0, 1.0], [nan, 0.0, 0.0]]),
            labels=V([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
            toward=(0,),
        )
    ]
    rows += [
        bad(features=D(a), labels=D(b, 0.0, 1.0))
        for a, b in (("2 3", "2 2"), ("2 3", "3 3"), ("3", "3"), ("1 2 3", "1 2 3"), ("", ""))
    ] + [bad(features=D("2 3"), labels=D("2 3", dtype="int32"))]
    yield from op("SoftmaxCrossEntropyWithLogits", FLOAT, *rows)
    loss = {"toward": (0,)}
    rows = [
        case(features=D("2 3"), labels=I([0, 2]), **loss),
        case(features=D("3 2"), labels=I([1, 1, 0]), **loss),
        case(features=D("1 1"), labels=I([0]), **loss),
        case(features=D("0 3"), labels=I([]), **loss),
    ]
    rows += [
        case(features=D("2 3"), labels=I([0, 2]), second=True, dtypes=DOUBLES, **loss),
        case(features=V([[1000.0, 0.0, -1000.0], [inf, 0.0, 1.0], [nan, 0.0, 0.0]]), labels=I([2, 0, 1]), **loss),
    ]
    rows += [bad(features=D("2 3"), labels=I(v)) for v in ([0, 3], [-1, 0], [0], [0, 1, 2], [[0], [1]])] + [
        bad(features=D("3"), labels=I([0, 1, 2])),
        bad(features=D("2 0"), labels=I([0, 0])),
        bad(features=D("2 3"), labels=L("float32", [0, 1])),
    ]
    yield from op("SparseSoftmaxCrossEntropyWithLogits", FLOAT, *rows, index=("int64", "int32"))


def biases() -> Iterator[dict]:
    shapes = [
        ("2 3", "3"),
        ("2 2 3", "3"),
        ("1 2 2 3", "3"),
        ("1 1 2 1 2", "2"),
        ("0 3", "3"),
        ("2 0 3", "3"),
        ("2 0", "0"),
    ]
    wrong = [("2 3", "2"), ("2 3", "1"), ("3", "3"), ("2 3", "1 3"), ("2 3", "")]
    first = [("2 3 2", "3"), ("1 3 2 2", "3"), ("1 2 1 1 2", "2"), ("0 3 2", "3"), ("2 3 0", "3")]
    rows = [case(value=D(a), bias=D(b)) for a, b in shapes] + [bad(value=D(a), bias=D(b)) for a, b in wrong]
    attrs = [case(value=D(a), bias=D(b), data_format="NCHW") for a, b in first] + [
        bad(value=D("1 3 2 2"), bias=D("2"), data_format="NCHW"),
        bad(value=D("2 3"), bias=D("3"), data_format="NWHC"),
    ]
    more = [
        case(value=D("2 3"), bias=D("3"), second=True, dtypes=["float64"]),
        bad(value=D("2 3"), bias=D("3", dtype="int32")),
    ]
    yield from op("BiasAdd", NUMBER, *rows, *attrs, *more)
    yield from op("BiasAddV1", NUMBER, *rows, *more)
    rows = (
        [case(out_backprop=D(a)) for a, _ in shapes]
        + [case(out_backprop=D(a), data_format="NCHW") for a, _ in first]
        + [bad(out_backprop=D("3")), bad(out_backprop=D("")), bad(out_backprop=D("2", dtype="bool"))]
    )
    yield from op("BiasAddGrad", NUMBER, *rows)


def _moments(channels: int, dtype: str = "float32") -> dict:
    n = str(channels)
    return {
        "scale": D(n, 0.5, 1.5, dtype),
        "offset": D(n, -1.0, 1.0, dtype),
        "mean": D(n, -0.5, 0.5, dtype),
        "variance": D(n, 0.5, 2.0, dtype),
    }


def batch_norms() -> Iterator[dict]:
    for name in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
        dtypes = ("float32",) if name == "FusedBatchNorm" else ("float32", "float16", "bfloat16")
        unset = {"mean": L("float32", []), "variance": L("float32", [])}
        y = {"toward": (0,)}
        fixed = {"is_training": False, "free": (3, 4), **y}  # reserve spaces are left uninitialised
        rows = [
            case(x=D("2 2 2 2"), **_moments(2) | unset, **y),
            case(x=D("2 2 2 2"), **_moments(2), wide=True, **fixed),
        ]
        rows += [case(x=D("2 3 1 2"), **_moments(2) | unset, epsilon=e, **y) for e in (0.0, 0.001, 0.5)] + [
            case(x=D("2 3 1 2"), **_moments(2), epsilon=0.25, **fixed)
        ]
        rows += [
            case(x=D("2 1 2 2"), **_moments(2), exponential_avg_factor=0.25, **y),
            case(x=D("1 1 1 2"), **_moments(2) | unset, **y),
            case(x=D("1 3 2 1"), **_moments(1) | unset, **y),
        ]
        rows += [
            case(x=D("2 3 2 1"), **_moments(3) | unset, data_format="NCHW", **y),
            case(x=D("2 3 2 1"), **_moments(3), data_format="NCHW", **fixed),
            case(x=D("0 2 2 2"), **_moments(2), no_grad=True, **fixed),
        ]
        rows += (
            [
                case(x=D("2 2 1 2 2"), **_moments(2) | unset, data_format="NDHWC", **y),
                case(x=D("1 2 2 2 2"), **_moments(2) | unset, data_format="NCDHW", **y),
            ]
            if name.endswith("V3")
            else []
        )
        rows += [case(x=D("2 2 2 2"), **_moments(2) | unset, second=True, **y)] if name.endswith("V3") else []
        rows += [
            bad(x=D("2 2 2 2"), **_moments(3) | unset),
            bad(x=D("2 2"), **_moments(2) | unset),
            bad(x=D("2 2 2 2"), **_moments(2) | {"mean": D("3")}, is_training=False),
            bad(x=D("2 2 2 2"), **_moments(2) | unset | {"scale": D("1 2")}),
            bad(x=D("2 2 2 2", dtype="int32"), **_moments(2) | unset),
            bad(x=D("2 2 2 2"), **_moments(2) | unset, data_format="NWHC"),
        ]
        yield from op(name, dtypes, *rows)


def batch_norm_gradients() -> Iterator[dict]:
    def saved(channels: int) -> dict:
        n = str(channels)
        return {
            "scale": D(n, 0.5, 1.5, "float32"),
            "reserve_space_1": D(n, -0.5, 0.5, "float32"),
            "reserve_space_2": D(n, 0.5, 2.0, "float32"),
            "reserve_space_3": L("float32", []),
        }

    def pair(dims: str) -> dict:
        return {"y_backprop": D(dims), "x": D(dims)}

    rows = [
        case(**pair("2 2 2 2"), **saved(2), no_grad=True),
        case(**pair("2 2 2 2"), **saved(2), is_training=False, no_grad=True, wide=True),
    ]
    rows += [
        case(**pair("2 3 1 2"), **saved(2), epsilon=e, is_training=t, no_grad=True)
        for e in (0.001, 0.5)
        for t in (True, False)
    ]
    rows += [
        case(**pair("1 1 1 2"), **saved(2), no_grad=True),
        case(**pair("2 3 2 1"), **saved(3), data_format="NCHW", no_grad=True),
        case(**pair("2 3 2 1"), **saved(3), data_format="NCHW", is_training=False, no_grad=True),
    ]
    rows += [
        case(**pair("2 2 1 2 2"), **saved(2), data_format="NDHWC", no_grad=True),
        case(**pair("1 2 2 2 2"), **saved(2), data_format="NCDHW", no_grad=True),
        case(**pair("2 2 2 2"), **saved(2), toward=(0, 1, 2), dtypes=("float32",)),
    ]
    rows += [
        bad(**pair("2 2 2 2"), **saved(3)),
        bad(y_backprop=D("2 2 2 2"), x=D("2 2 2 1"), **saved(2)),
        bad(**pair("2 2"), **saved(2)),
    ]
    yield from op("FusedBatchNormGradV3", ("float32", "float16", "bfloat16"), *rows)


def response_norms() -> Iterator[dict]:
    settings = [
        {},
        {"depth_radius": 1},
        {"depth_radius": 0},
        {"depth_radius": 2, "bias": 2.0, "alpha": 0.5, "beta": 0.75},
        {"depth_radius": 1, "bias": 1.0, "alpha": 0.001, "beta": 1.0},
        {"depth_radius": 1, "beta": 2.0},
    ]
    dtypes = ("float32", "float16", "bfloat16")
    rows = [case(input=D("1 2 1 5"), **s) for s in settings] + [
        case(input=D("1 2 1 4"), depth_radius=1, wide=True),
        case(input=D("2 1 1 1")),
        case(input=D("0 2 1 3")),
        case(input=D("1 0 1 3")),
    ]
    rows += [bad(input=D("2 3")), bad(input=D("2 2 2")), bad(input=D("1 1 1 2", dtype="int32"))]
    yield from op("LRN", dtypes, *rows)
    same = {"input_grads": D("1 2 1 5"), "input_image": D("1 2 1 5", 0.5, 1.5), "output_image": D("1 2 1 5", 0.3, 0.9)}
    rows = [case(**same, **s) for s in settings] + [
        case(input_grads=D("0 2 1 3"), input_image=D("0 2 1 3"), output_image=D("0 2 1 3"))
    ]
    rows += [
        bad(**same | {"input_image": D("1 2 1 4")}),
        bad(**same | {"output_image": D("2 5")}),
        bad(**same | {"input_grads": D("1 2 1 5", dtype="int32")}),
    ]
    yield from op("LRNGrad", dtypes, *rows)
