"""Cases for the further ops of neural nets: morphology, fractional pools, sequence losses, samplers, layouts."""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import D, L, V, bad, case, op

IMAGE = [[[[1], [2], [3]], [[6], [5], [4]], [[7], [9], [8]], [[0], [1], [2]]]]
MAXIMA = [[[[6], [5]], [[7], [9]]]]
POOLED = ("float32", "float64", "int32", "int64")


def cases() -> Iterator[dict]:
    for family in (morphology, fractional, sequences, samplers, layouts, regression):
        yield from family()


def morphology() -> Iterator[dict]:
    same, valid = ({"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": p} for p in ("SAME", "VALID"))
    wide = {"strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1], "padding": "SAME"}
    shapes = [("1 4 4 2", "2 3 2", same), ("2 5 4 1", "2 2 1", valid), ("1 5 6 2", "3 2 2", wide)]
    shapes += [("1 3 3 1", "1 1 1", valid), ("0 4 4 2", "2 2 2", same)]
    wrong = [("1 4 4 2", "2 3 3", same), ("4 4 2", "2 3 2", same), ("1 4 4 2", "2 3", same)]
    types = ("float32", "float64", "float16", "bfloat16", "int32", "uint8")
    rows = [case(input=D(a, 0, 9), filter=D(b, 0, 3), **attrs) for a, b, attrs in shapes]
    rows += [bad(input=D(a), filter=D(b), **attrs) for a, b, attrs in wrong]
    rows += [bad(input=D("1 4 4 2"), filter=D("2 3 2"), **{**same, "strides": [2, 1, 1, 1]})]
    yield from op("Dilation2D", types, *rows)
    backward = [("1 4 4 2", "2 3 2", "1 4 4 2", same), ("2 5 4 1", "2 2 1", "2 4 3 1", valid)]
    for name in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter"):
        rows = [case(input=D(a), filter=D(b), out_backprop=D(c), no_grad=True, **attrs) for a, b, c, attrs in backward]
        rows += [bad(input=D("1 4 4 2"), filter=D("2 3 2"), out_backprop=D("1 3 4 2"), **same)]
        rows += [bad(input=D("1 4 4 2"), filter=D("2 3 3"), out_backprop=D("1 4 4 2"), **same)]
        yield from op(name, ("float32", "float64"), *rows)


def fractional() -> Iterator[dict]:
    seeds = {"deterministic": True, "seed": 3, "seed2": 7, "toward": (0,)}
    ratio = {"pooling_ratio": [1.0, 1.5, 1.7, 1.0]}
    for name in ("FractionalMaxPool", "FractionalAvgPool"):
        rows = [case(value=D("2 7 9 2", 0, 9), **ratio, **seeds)]
        rows += [
            case(value=D("1 10 8 1"), pseudo_random=a, overlapping=b, **ratio, **seeds)
            for a, b in ((False, True), (True, False), (True, True))
        ]
        rows += [case(value=D("1 6 4 2"), pooling_ratio=[1.0, 2.0, 1.0, 1.0], **seeds)]
        rows += [bad(value=D("1 6 4 2"), pooling_ratio=r) for r in ([2.0, 1.5, 1.5, 1.0], [1.0, 0.5, 1.5, 1.0])]
        rows += [bad(value=D("6 4 2"), **ratio), bad(value=D("1 6 4 2"), seed=3, **ratio)]
        yield from op(name, POOLED, *rows)
    regions = {"row_pooling_sequence": L("int64", [0, 2, 4]), "col_pooling_sequence": L("int64", [0, 1, 3])}
    crossed = {"row_pooling_sequence": L("int64", [0, 5, 4]), "col_pooling_sequence": L("int64", [0, 1, 3])}
    image, small = {"orig_input": V(IMAGE)}, {"orig_output": V(MAXIMA), "out_backprop": D("1 2 2 1")}
    rows = [case(**image, **small, **regions, no_grad=True)]
    rows += [bad(**image, **small, **crossed), bad(**image, **{**small, "out_backprop": D("1 2 3 1")}, **regions)]
    yield from op("FractionalMaxPoolGrad", POOLED, *rows)
    shape = {"orig_input_tensor_shape": L("int64", [1, 4, 3, 1]), "out_backprop": D("1 2 2 1", -9, 9)}
    rows = [case(**shape, **regions, overlapping=o, no_grad=True) for o in (False, True)]
    rows += [bad(**{**shape, "orig_input_tensor_shape": L("int64", [1, 4, 3])}, **regions)]
    yield from op("FractionalAvgPoolGrad", POOLED[:2], *rows)


def sequences() -> Iterator[dict]:
    places = {"labels_indices": L("int64", [[0, 0], [0, 1], [1, 0]]), "labels_values": L("int32", [1, 1, 0])}
    long = {"sequence_length": L("int32", [5, 4])}
    rounded = {"tol64": [1000, "probabilities are added up in another order"], "toward": (0,)}
    rows = [case(inputs=D("5 2 3"), **places, **long, **rounded)]
    rows += [case(inputs=D("5 2 3"), **places, **long, **{flag: value}, **rounded) for flag, value in (
        ("preprocess_collapse_repeated", True), ("ctc_merge_repeated", False))]  # fmt: skip
    short = {"sequence_length": L("int32", [2, 3])}
    rows += [case(inputs=D("5 2 3"), **places, **short, ignore_longer_outputs_than_inputs=True, **rounded)]
    rows += [case(inputs=D("5 2 3"), **places, **short, no_grad=True)]
    rows += [bad(inputs=D("5 2 3"), **places, sequence_length=L("int32", [1, 3]))]
    rows += [bad(inputs=D("5 2 3"), **places, sequence_length=L("int32", n)) for n in ([6, 4], [5], [[5, 4]])]
    rows += [bad(inputs=D("5 3"), **places, **long)]
    yield from op("CTCLoss", ("float32",), *rows)
    rows = [case(inputs=D("5 2 3"), **long, merge_repeated=m) for m in (True, False)]
    rows += [case(inputs=D("5 2 3"), **long, blank_index=0), case(inputs=D("4 1 4"), sequence_length=L("int32", [3]))]
    rows += [bad(inputs=D("5 2 3"), sequence_length=L("int32", n)) for n in ([6, 4], [5], [[5, 4]])]
    yield from op("CTCGreedyDecoder", ("float32", "float64"), *rows)
    beams = [(1, 1), (3, 2), (10, 3), (100, 1)]
    rows = [case(inputs=D("5 2 3"), **long, beam_width=w, top_paths=k) for w, k in beams]
    rows += [case(inputs=D("6 1 4"), sequence_length=L("int32", [6]), beam_width=4, top_paths=2, merge_repeated=False)]
    rows += [bad(inputs=D("5 2 3"), **long, beam_width=2, top_paths=3)]
    rows += [bad(inputs=D("5 2 3"), sequence_length=L("int32", [9, 4]), beam_width=2, top_paths=1)]
    yield from op("CTCBeamSearchDecoder", ("float32",), *rows)


def samplers() -> Iterator[dict]:
    true = {"true_classes": L("int64", [[1, 2], [3, 0]]), "num_true": 2}
    rows = [case(**true, num_sampled=4, unique=True), bad(**{**true, "num_true": 3}, num_sampled=4, unique=True)]
    rows += [case(**true, num_sampled=4, unique=False)]
    rows += [case(true_classes=L("int64", [[7]]), num_true=1, num_sampled=9, unique=True)]
    yield from op("AllCandidateSampler", ("int64",), *rows)
    drawn = [[7, 1, 0], [9, 8], [1, 1, 2]]
    rows = [case(**true, sampled_candidates=L("int64", d)) for d in drawn]
    rows += [bad(**{**true, "num_true": 3}, sampled_candidates=L("int64", drawn[0]))]
    rows += [bad(**true, sampled_candidates=L("int64", [[1]]))]
    yield from op("ComputeAccidentalHits", ("int64",), *rows)


def layouts() -> Iterator[dict]:
    ways = [("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NHWC", "HWNC"), ("NDHWC", "NCDHW")]
    rows = [case(x=V([0, 1, 2, 3, -1]), src_format=a, dst_format=b) for a, b in ways[:3]]
    rows += [case(x=V([[0, 4], [3, -2]]), src_format=ways[3][0], dst_format=ways[3][1])]
    yield from op("DataFormatDimMap", ("int32", "int64"), *rows)
    rows = [case(x=V([10, 20, 30, 40]), src_format=a, dst_format=b) for a, b in ways[:3]]
    rows += [case(x=V([[1, 2], [3, 4], [5, 6], [7, 8]])), case(x=V([1, 2]))]
    rows += [bad(x=V([1, 2, 3])), bad(x=V([[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 1, 1]]))]
    yield from op("DataFormatVecPermute", ("int32", "int64"), *rows)


def regression() -> Iterator[dict]:
    rows = [case(input=V(v), no_grad=True) for v in ([[3, 1, 2], [1, 2, 3]], [[2, 2, 5, 1]], [[4, 3, 2, 1]], [[1]])]
    yield from op("IsotonicRegression", ("float32",), *rows)
