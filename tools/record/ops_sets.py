"""Cases for sets, counts of sparse and ragged integers, edit distances, and the ops that ragged tensors are made of."""

from __future__ import annotations

from collections.abc import Iterator

from ops_rows import D, L, V, bad, case, op

ELEMENTS = ("int32", "int64", "int8", "int16", "uint8", "uint16")
PLACES = [[0, 0], [0, 1], [1, 0], [1, 2]]


def cases() -> Iterator[dict]:
    for family in (sets, counts, distances, ragged):
        yield from family()


def sets() -> Iterator[dict]:
    one, two = V([[1, 2, 2], [3, 4, 5]]), V([[2, 9], [5, 3]])
    sparse = lambda n, values=(2, 1, 5, 5), places=PLACES, shape=(2, 3): {
        f"set{n}_indices": L("int64", list(places)), f"set{n}_values": V(list(values)),
        f"set{n}_shape": L("int64", list(shape)),
    }  # fmt: skip
    ways = ("a-b", "b-a", "intersection", "union")
    rows = [case(set1=one, set2=two, set_operation=w) for w in ways]
    rows += [case(set1=V([[[1], [2]]]), set2=V([[[2], [2]]]), set_operation="union")]
    rows += [bad(set1=one, set2=V([[1, 2]]), set_operation="union"), bad(set1=one, set2=two, set_operation="xor")]
    rows += [bad(set1=V([1, 2]), set2=V([1]), set_operation="union")]
    yield from op("DenseToDenseSetOperation", ELEMENTS, *rows)
    rows = [case(set1=one, **sparse(2), set_operation=w) for w in ways]
    rows += [bad(set1=one, **sparse(2, places=[[0, 1], [0, 0], [1, 0], [1, 2]]), set_operation="union")]
    rows += [bad(set1=one, **sparse(2, shape=(3, 3)), set_operation="union")]
    yield from op("DenseToSparseSetOperation", ELEMENTS, *rows)
    rows = [case(**sparse(1), **sparse(2, values=(5, 1, 5, 7)), set_operation=w) for w in ways]
    rows += [bad(**sparse(1), **sparse(2, shape=(3, 3)), set_operation="union")]
    rows += [bad(**sparse(1), **sparse(2, shape=(2, 2)), set_operation="union")]
    yield from op("SparseToSparseSetOperation", ELEMENTS, *rows)
    whole = {"set_indices": L("int64", PLACES), "set_shape": L("int64", [3, 3])}
    rows = [case(set_values=V(v), **whole) for v in ([2, 2, 5, 6], [1, 2, 3, 4])]
    rows += [
        bad(set_values=V([1, 2, 3]), **whole),
        bad(set_values=V([1, 2, 3, 4]), **{**whole, "set_shape": L("int64", [3])}),
    ]
    yield from op("SetSize", ELEMENTS, *rows)


def counts() -> Iterator[dict]:
    sparse = {"indices": L("int64", PLACES), "dense_shape": L("int64", [2, 3])}
    some, none = L("float32", [0.5, 1.0, 2.0, 4.0]), L("float32", [])
    rows = [case(values=V([1, 1, 0, 7]), size=V(4), weights=w, **sparse) for w in (some, none)]
    rows += [case(values=V([1, 1, 0, 7]), size=V(8), weights=none, binary_output=True, **sparse)]
    rows += [
        case(values=V([1, 1]), size=V(3), weights=none, indices=L("int64", [[0], [2]]), dense_shape=L("int64", [4]))
    ]
    rows += [bad(values=V([1, -1, 0, 2]), size=V(4), weights=none, **sparse)]
    rows += [bad(values=V([1, 1, 0, 2]), size=V(-1), weights=none, **sparse)]
    rows += [bad(values=V([1, 1, 0, 2]), size=V(4), weights=L("float32", [1.0]), **sparse)]
    yield from op("SparseBincount", ("int32", "int64"), *rows)
    splits = {"splits": L("int64", [0, 3, 3, 4])}
    rows = [case(values=V([1, 1, 0, 7]), size=V(4), weights=w, **splits) for w in (some, none)]
    rows += [case(values=V([1, 1, 0, 7]), size=V(8), weights=none, binary_output=True, **splits)]
    rows += [bad(values=V([1, -1, 0, 2]), size=V(4), weights=none, **splits)]
    rows += [bad(values=V([1, 1, 0, 2]), size=V(4), weights=none, splits=L("int64", [0, 3, 9]))]
    yield from op("RaggedBincount", ("int32", "int64"), *rows)
    out = {"binary_output": False}
    rows = [case(values=V(v), weights=L("int64", []), **out) for v in ([[1, 1, 4], [0, 2, 2]], [3, 3, 1])]
    rows += [case(values=V([[1, 1, 4], [0, 2, 2]]), weights=L("int64", []), **out, **more) for more in (
        {"minlength": 7}, {"maxlength": 2})]  # fmt: skip
    rows += [case(values=V([3, 3, 1]), weights=L("int64", []), binary_output=True)]
    rows += [case(values=V([3, 3, 1]), weights=L("float32", [0.5, 1.0, 2.0]), **out)]
    rows += [
        bad(values=V([3, -3, 1]), weights=L("int64", []), **out),
        bad(values=V([3]), weights=L("int64", [1, 2]), **out),
    ]
    yield from op("DenseCountSparseOutput", ("int32", "int64"), *rows)
    rows = [case(values=V([1, 1, 0, 7]), weights=w, **sparse, **out) for w in (some, none)]
    rows += [case(values=V([1, 1, 0, 7]), weights=none, **sparse, **out, maxlength=3)]
    rows += [bad(values=V([1, 1, 0]), weights=none, **sparse, **out)]
    yield from op("SparseCountSparseOutput", ("int32", "int64"), *rows)
    rows = [case(values=V([1, 1, 0, 7]), weights=w, **splits, **out) for w in (some, none)]
    rows += [bad(values=V([1, 1, 0, 7]), weights=none, splits=L("int64", [0, 3, 9]), **out)]
    yield from op("RaggedCountSparseOutput", ("int32", "int64"), *rows)


def distances() -> Iterator[dict]:
    def pair(a: list, b: list, shapes: tuple = ((2, 3), (2, 3)), **more: bool):
        return {
            "hypothesis_indices": L("int64", PLACES), "hypothesis_values": V(a),
            "hypothesis_shape": L("int64", list(shapes[0])), "truth_indices": L("int64", PLACES[:3]),
            "truth_values": V(b), "truth_shape": L("int64", list(shapes[1])), **more,
        }  # fmt: skip

    rows = [case(**pair([1, 2, 3, 4], [1, 3, 3])), case(**pair([1, 2, 3, 4], [1, 3, 3], normalize=False))]
    rows += [case(**pair([1, 2, 3, 4], [1, 3, 3], ((2, 3), (4, 3)))), bad(**pair([1, 2, 3], [1, 3, 3]))]
    rows += [bad(**pair([1, 2, 3, 4], [1, 3, 3], ((2, 3), (2,))))]
    yield from op("EditDistance", ("int32", "int64", "float32"), *rows)


def ragged() -> Iterator[dict]:
    rows = [
        case(starts=V([0, 5]), limits=V([3, 8]), deltas=V([1, 2])),
        case(starts=V(0), limits=V([3, 1]), deltas=V(1)),
    ]
    rows += [
        case(starts=V([5, 0]), limits=V([0, 0]), deltas=V([-2, 1])),
        case(starts=V([]), limits=V([]), deltas=V([])),
    ]
    rows += [bad(starts=V([0, 1]), limits=V([3]), deltas=V([1, 1])), bad(starts=V([0]), limits=V([3]), deltas=V([0]))]
    yield from op("RaggedRange", ("int32", "int64", "float32", "float64"), *rows)
    splits = [L("int64", [0, 2, 2, 3])]
    two = [L("int64", [0, 2, 2]), L("int64", [0, 1, 3])]
    rows = [case(rt_nested_splits=splits, rt_dense_values=D("3")), case(rt_nested_splits=two, rt_dense_values=D("3 2"))]
    rows += [bad(rt_nested_splits=[L("int64", [0, 2, 9])], rt_dense_values=D("3"))]
    yield from op("RaggedTensorToSparse", ("float32", "int32", "float64"), *rows)
    at = lambda *places: L("int64", list(places))
    one = {"params_nested_splits": splits, "params_dense_values": D("3 2"), "OUTPUT_RAGGED_RANK": 1}
    rows = [case(indices=at(2, 0, 0), **one), case(indices=at(), **one)]
    rows += [case(params_nested_splits=two, params_dense_values=D("3"), indices=at(0, 1), OUTPUT_RAGGED_RANK=2)]
    rows += [bad(indices=at(3), **one), bad(indices=at(-1), **one)]
    yield from op("RaggedGather", ("float32", "int32"), *rows)
    filled = {"value_rowids": L("int64", [0, 0, 3]), "nrows": L("int64", 4)}
    rows = [
        case(values=D("3"), default_value=V(9), **filled),
        case(values=D("3"), default_value=V(9), value_rowids=at(0, 1, 2), nrows=L("int64", 3)),
    ]
    rows += [
        bad(values=D("3"), default_value=V([9]), **filled),
        bad(values=D("3"), default_value=V(9), value_rowids=at(0, 1, 4), nrows=L("int64", 3)),
    ]
    yield from op("RaggedFillEmptyRows", ("float32", "int32", "float64"), *rows)
    rows = [
        case(reverse_index_map=at(0, 2), grad_values=D("4"), no_grad=True),
        bad(reverse_index_map=at(0, 9), grad_values=D("4")),
    ]
    yield from op("RaggedFillEmptyRowsGrad", ("float32", "float64"), *rows)
    kinds = {"row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]}
    first = [L("int64", 3), L("int64", [0, 0, 2])]
    rows = [
        case(shape=L("int64", s), values=D("3"), default_value=V(7), row_partition_tensors=first, **kinds)
        for s in ([-1, -1], [3, 1], [4, 4], [2, -1])
    ]
    by = {"row_partition_types": ["ROW_SPLITS"]}
    rows += [
        case(shape=L("int64", s), values=D("3"), default_value=V(0), row_partition_tensors=splits, **by)
        for s in ([-1, -1], [2, 2])
    ]
    rows += [
        case(
            shape=L("int64", [-1, -1, 2]), values=D("3 2"), default_value=V([0, 1]), row_partition_tensors=splits, **by
        )
    ]
    rows += [
        case(
            shape=L("int64", [-1, -1, -1]),
            values=D("3"),
            default_value=V(0),
            row_partition_tensors=two,
            row_partition_types=["ROW_SPLITS"] * 2,
        )
    ]
    rows += [bad(shape=L("int64", [-1]), values=D("3"), default_value=V(0), row_partition_tensors=splits, **by)]
    rows += [
        bad(shape=L("int64", [-1, -1]), values=D("3"), default_value=V([0, 1]), row_partition_tensors=splits, **by)
    ]
    yield from op("RaggedTensorToTensor", ("float32", "int32", "float64"), *rows)
