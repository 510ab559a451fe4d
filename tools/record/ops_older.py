"""Cases for ops that few programs name and exported graphs hold."""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import DT, D, L, V, bad, case, op

ANY = ("float32", "int32", "float64", "int64")


def cases() -> Iterator[dict]:
    for family in (arrays, nets, crosses):
        yield from family()


def arrays() -> Iterator[dict]:
    rows = [
        case(indices=V(i), dims=V(d)) for i, d in (([2, 5, 7], [3, 3]), (5, [2, 3]), ([0], [1]), ([11, 0], [2, 2, 3]))
    ]
    rows += [
        bad(indices=V([9]), dims=V([3, 3])),
        bad(indices=V([-1]), dims=V([3, 3])),
        bad(indices=V([1]), dims=V([0, 3])),
    ]
    yield from op("UnravelIndex", ("int32", "int64"), *rows)
    for name in ("InplaceUpdate", "InplaceAdd", "InplaceSub"):
        rows = [case(x=D("3 2"), i=L("int32", i), v=D(v), no_grad=True) for i, v in (([0, 2], "2 2"), ([1], "1 2"))]
        rows += [bad(x=D("3 2"), i=L("int32", [0]), v=D("2 2")), bad(x=D("3 2"), i=L("int32", [0]), v=D("1 3"))]
        yield from op(name, ANY, *rows)
    one = lambda n: L("int32", n)
    rows = [case(dim=one(d), num_results=one(n), skip=one(s), dtype=DT(t)) for d, n, s, t in (
        (1, 4, 0, "float32"), (3, 6, 0, "float64"), (5, 3, 7, "float32"), (20, 2, 1, "float32"))]  # fmt: skip
    rows += [bad(dim=one(0), num_results=one(2), skip=one(0)), bad(dim=one(2), num_results=one(0), skip=one(0))]
    rows += [bad(dim=one(2), num_results=one(2), skip=one(-1))]
    yield from op("SobolSample", ("float32",), *rows)
    rows = [case(points=D("4 2"), centers=D("3 2"), k=L("int64", k), no_grad=True) for k in (1, 2, 3)]
    rows += [
        bad(points=D("4 2"), centers=D("3 3"), k=L("int64", 1)),
        bad(points=D("4 2"), centers=D("3 2"), k=L("int64", 0)),
    ]
    yield from op("NearestNeighbors", ("float32",), *rows)


def nets() -> Iterator[dict]:
    windows = {"ksizes": [1, 2, 2, 1, 1], "strides": [1, 1, 2, 1, 1]}
    rows = [case(input=D("1 3 4 2 2"), padding=p, **windows) for p in ("SAME", "VALID")]
    rows += [case(input=D("2 2 2 2 1"), padding="SAME", ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1])]
    rows += [bad(input=D("3 4 2 2"), padding="SAME", **windows)]
    yield from op("ExtractVolumePatches", ("float32", "float64", "int32"), *rows)
    pads = {"paddings": L("int32", [[0, 0], [1, 1], [0, 1], [0, 0]]), "strides": [1, 1, 1, 1]}
    rows = [
        case(input=D("1 3 4 2"), filter=D("2 2 2 3"), mode=m, padding="VALID", no_grad=True, **pads)
        for m in ("REFLECT", "SYMMETRIC")
    ]
    rows += [bad(input=D("1 3 4 2"), filter=D("2 2 3 3"), mode="REFLECT", padding="VALID", **pads)]
    yield from op("FusedPadConv2D", ("float32", "float64"), *rows)
    given = {"input": D("1 3 4 2"), "filter": D("2 2 2 3"), **pads}
    rows = [
        case(size=L("int32", size), mode="REFLECT", padding=p, resize_align_corners=a, no_grad=True, **given)
        for size, p, a in (([5, 6], "VALID", False), ([5, 6], "SAME", True), ([2, 2], "VALID", False))
    ]
    rows += [bad(size=L("int32", size), mode="REFLECT", padding="VALID", **given) for size in ([0, 2], [2], [-1, 3])]
    yield from op("FusedResizeAndPadConv2D", ("float32", "float64"), *rows)


def crosses() -> Iterator[dict]:
    sparse = {"indices": [L("int64", [[0, 0], [0, 1], [1, 0]])], "shapes": [L("int64", [2, 2])]}
    hashed = {
        "hashed_output": True,
        "num_buckets": 100,
        "hash_key": 7,
        "out_type": DT("int64"),
        "internal_type": DT("string"),
    }
    values, dense = [L("string", ["a", "b", "c"])], [L("int64", [[1, 2], [3, 4]])]
    words = [L("string", [["u", "v"], ["w", "x"]])]
    rows = [case(values=values, dense_inputs=words, **sparse, **hashed)]
    whole = {**hashed, "num_buckets": 0, "internal_type": DT("int64")}
    rows += [case(values=[L("int64", [5, 6, 7])], dense_inputs=dense, **sparse, **whole)]
    texts = {**hashed, "hashed_output": False, "out_type": DT("string")}
    rows += [case(values=values, dense_inputs=words, **sparse, **texts)]
    rows += [bad(values=values, dense_inputs=[L("string", [["u"]])], **sparse, **hashed)]
    yield from op("SparseCross", ("string",), *rows)
    rows = [case(values=values, dense_inputs=dense, sep=L("string", s), **sparse) for s in ("_X_", "", "-")]
    rows += [bad(values=values, dense_inputs=[L("int64", [[1]])], sep=L("string", "-"), **sparse)]
    yield from op("SparseCrossV2", ("string",), *rows)
    rows = []
    for strong, buckets, salt in ((False, 0, [1, 1]), (True, 0, [3, -4]), (True, 100, [1, 2]), (False, 100, [1])):
        rules = {"num_buckets": L("int64", buckets), "strong_hash": L("bool", strong), "salt": L("int64", salt)}
        kind = case if len(salt) == 2 else bad
        rows += [kind(values=values, dense_inputs=words, **sparse, **rules)]
        rows += [kind(values=[L("int64", [5, -6, 2**40])], dense_inputs=words, **sparse, **rules)]
    rules = {"num_buckets": L("int64", 9), "strong_hash": L("bool", False), "salt": L("int64", [1, 1])}
    rows += [case(values=values, dense_inputs=dense, **sparse, **rules)]
    yield from op("SparseCrossHashed", ("string",), *rows)
