"""Cases for ops on sparse tensors: indices [n, rank], values [n], and the shape of the whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from ops_rows import ANY, COMPLEX, D, I, L, V, bad, case, op

WIDE = ("float32", "float64", "int32", "int64", "complex64")
PLACES = [[0, 1], [1, 0], [1, 3], [2, 2]]
SHAPE = [3, 4]


def P(values: object) -> V:
    """Return places, axes or lengths as sparse ops mostly take them."""
    return L("int64", values)


def cases() -> Iterator[dict]:
    for family in (dense, orders, reshapes, products, sums, reductions, slices, joins, filled, cells, both):
        yield from family()


def NONE(rank: int = 2) -> V:
    """Return no places at all."""
    return P(np.zeros((0, rank), np.int64))


def dense() -> Iterator[dict]:
    zero = V(0)
    rows = [
        case(sparse_indices=I(PLACES), output_shape=I(SHAPE), sparse_values=D("4"), default_value=zero, second=1),
        case(sparse_indices=I(PLACES), output_shape=I(SHAPE), sparse_values=D(""), default_value=V(7)),
        case(sparse_indices=I([1, 3]), output_shape=I([5]), sparse_values=D("2"), default_value=zero),
        case(sparse_indices=I(2), output_shape=I([5]), sparse_values=D(""), default_value=zero),
        case(sparse_indices=I([[3], [1]]), output_shape=I([5]), sparse_values=D("2"), default_value=zero,
             validate_indices=False),
        case(sparse_indices=I([[1], [1]]), output_shape=I([3]), sparse_values=V([5, 6]), default_value=zero,
             validate_indices=False, no_grad=1),
        case(sparse_indices=I([[0, 0, 1]]), output_shape=I([1, 2, 2]), sparse_values=D("1"), default_value=zero),
        bad(sparse_indices=I([[3], [1]]), output_shape=I([5]), sparse_values=D("2"), default_value=zero),
        bad(sparse_indices=I([[1], [1]]), output_shape=I([5]), sparse_values=D("2"), default_value=zero),
        bad(sparse_indices=I([[1], [5]]), output_shape=I([5]), sparse_values=D("2"), default_value=zero),
        bad(sparse_indices=I([[-1], [1]]), output_shape=I([5]), sparse_values=D("2"), default_value=zero),
        bad(sparse_indices=I(PLACES), output_shape=I([5]), sparse_values=D("4"), default_value=zero),
        bad(sparse_indices=I(PLACES), output_shape=I(SHAPE), sparse_values=D("3"), default_value=zero),
        bad(sparse_indices=I(PLACES), output_shape=I(SHAPE), sparse_values=D("4"), default_value=V([0, 1])),
    ]  # fmt: skip
    yield from op("SparseToDense", ANY, *rows)


def orders() -> Iterator[dict]:
    mixed = [[2, 2], [0, 1], [1, 3], [1, 0]]
    rows = [
        case(input_indices=P(mixed), input_values=D("4"), input_shape=P(SHAPE), second=1),
        case(input_indices=P(PLACES), input_values=D("4"), input_shape=P(SHAPE)),
        case(input_indices=P([[1, 1], [1, 1], [0, 0]]), input_values=D("3"), input_shape=P([2, 2])),
        case(input_indices=NONE(), input_values=D("0"), input_shape=P([2, 2])),
        case(input_indices=P([[3], [0], [2]]), input_values=D("3"), input_shape=P([4])),
        bad(input_indices=P(mixed), input_values=D("3"), input_shape=P(SHAPE)),
        bad(input_indices=P([0, 1]), input_values=D("2"), input_shape=P([2])),
    ]
    yield from op("SparseReorder", ("float32", "float64", "int32", "string", "bool"), *rows)


def reshapes() -> Iterator[dict]:
    rows = [
        case(input_indices=P(PLACES), input_shape=P(SHAPE), new_shape=P([4, 3])),
        case(input_indices=P(PLACES), input_shape=P(SHAPE), new_shape=P([-1])),
        case(input_indices=P(PLACES), input_shape=P(SHAPE), new_shape=P([2, -1, 2])),
        case(input_indices=P(PLACES), input_shape=P(SHAPE), new_shape=P([3, 4])),
        case(input_indices=NONE(), input_shape=P([2, 3]), new_shape=P([6])),
        bad(input_indices=P(PLACES), input_shape=P(SHAPE), new_shape=P([5, 2])),
        bad(input_indices=P(PLACES), input_shape=P(SHAPE), new_shape=P([-1, -1])),
        bad(input_indices=P(PLACES), input_shape=P(SHAPE), new_shape=P([-1, 5])),
        bad(input_indices=P([0]), input_shape=P([3]), new_shape=P([3])),
    ]
    yield from op("SparseReshape", ("float32",), *rows)


def products() -> Iterator[dict]:
    a = {"a_indices": P(PLACES), "a_shape": P(SHAPE)}
    rows = [
        case(**a, a_values=D("4"), b=D("4 2")),
        case(**a, a_values=D("4"), b=D("3 2"), adjoint_a=True),
        case(**a, a_values=D("4"), b=D("2 4"), adjoint_b=True),
        case(**a, a_values=D("4"), b=D("2 3"), adjoint_a=True, adjoint_b=True),
        case(a_indices=P([[0, 0], [0, 0]]), a_shape=P([2, 1]), a_values=D("2"), b=D("1 3")),
        case(a_indices=NONE(), a_shape=P(SHAPE), a_values=D("0"), b=D("4 2")),
        case(**a, a_values=D("4"), b=D("4 0")),
        case(**a, a_values=D("4"), b=D("4 2"), adjoint_a=False, dtypes=COMPLEX),
        case(**a, a_values=D("4"), b=D("3 2"), adjoint_a=True, dtypes=COMPLEX[:1]),
        bad(**a, a_values=D("4"), b=D("3 2")),
        bad(**a, a_values=D("4"), b=D("4")),
        bad(a_indices=P([[3, 0]]), a_shape=P(SHAPE), a_values=D("1"), b=D("4 2")),
        bad(a_indices=P([[0, 4]]), a_shape=P(SHAPE), a_values=D("1"), b=D("4 2")),
    ]
    yield from op("SparseTensorDenseMatMul", ("float32", "float64", "int32", "bfloat16"), *rows)


def sums() -> Iterator[dict]:
    other = [[0, 1], [1, 1], [2, 3]]
    a, b = {"a_indices": P(PLACES), "a_shape": P(SHAPE)}, {"b_indices": P(other), "b_shape": P(SHAPE)}
    thresh = L("float32", 0)
    rows = [
        case(**a, a_values=D("4"), **b, b_values=D("3"), thresh=thresh),
        case(**a, a_values=V([1, -2, 3, 0.5]), **b, b_values=V([-1, 2, 0.25]), thresh=L("float32", 0.1)),
        case(**a, a_values=V([1, -2, 3, 0.5]), **b, b_values=V([1, 2, 0.25]), thresh=L("float32", 2.5)),
        case(a_indices=NONE(), a_shape=P(SHAPE), a_values=D("0"), **b, b_values=D("3"), thresh=thresh),
        bad(**a, a_values=D("3"), **b, b_values=D("3"), thresh=thresh),
        bad(**a, a_values=D("4"), b_indices=P(other), b_values=D("3"), b_shape=P([3, 5]), thresh=thresh),
        bad(**a, a_values=D("4"), b_indices=P([[1]]), b_values=D("1"), b_shape=P([3]), thresh=thresh),
    ]
    yield from op("SparseAdd", ("float32",), *rows)
    for dtype in ("float64", "int32"):
        yield from op("SparseAdd", (dtype,), case(**a, a_values=D("4"), **b, b_values=D("3"), thresh=L(dtype, 0)))
    rows = [
        case(a_indices=I(PLACES), a_shape=I(SHAPE), a_values=D("4"), b=D("3 4"), second=1),
        case(a_indices=I([[1], [3]]), a_shape=I([4]), a_values=D("2"), b=D("4")),
        case(a_indices=I([[0, 0, 1]]), a_shape=I([1, 2, 2]), a_values=D("1"), b=D("1 2 2")),
        bad(a_indices=I(PLACES), a_shape=I(SHAPE), a_values=D("4"), b=D("4 3")),
        bad(a_indices=I(PLACES), a_shape=I(SHAPE), a_values=D("3"), b=D("3 4")),
        bad(a_indices=I([[5], [3]]), a_shape=I([4]), a_values=D("2"), b=D("4")),
    ]
    yield from op("SparseTensorDenseAdd", WIDE, *rows, index=("int64", "int32"))


def reductions() -> Iterator[dict]:
    a = {"input_indices": P(PLACES), "input_shape": P(SHAPE)}

    def axes(values: object) -> V:
        return L("int32", values)

    rows = [
        case(**a, input_values=D("4"), reduction_axes=axes([1])),
        case(**a, input_values=D("4"), reduction_axes=axes([0])),
        case(**a, input_values=D("4"), reduction_axes=axes([0, 1])),
        case(**a, input_values=D("4"), reduction_axes=axes([-1]), keep_dims=True),
        case(**a, input_values=D("4"), reduction_axes=axes([0, 1]), keep_dims=True),
        case(**a, input_values=D("4"), reduction_axes=axes(1)),
        case(**a, input_values=D("4"), reduction_axes=axes([])),
        case(
            input_indices=P([[0, 0, 1], [0, 1, 1], [1, 0, 0]]),
            input_shape=P([2, 2, 2]),
            input_values=D("3"),
            reduction_axes=axes([0, 2]),
        ),
        bad(**a, input_values=D("4"), reduction_axes=axes([2])),
        bad(**a, input_values=D("4"), reduction_axes=axes([-3])),
    ]
    yield from op("SparseReduceSum", WIDE, *rows)
    yield from op("SparseReduceMax", ("float32", "float64", "int32"), *rows)
    yield from op("SparseReduceSumSparse", ("float32", "float64", "int32"), *rows)
    yield from op("SparseReduceMaxSparse", ("float32", "int32"), *rows)


def slices() -> Iterator[dict]:
    a = {"indices": P(PLACES), "shape": P(SHAPE)}
    rows = [
        case(**a, values=D("4"), start=P([1, 0]), size=P([2, 3])),
        case(**a, values=D("4"), start=P([0, 0]), size=P([3, 4])),
        case(**a, values=D("4"), start=P([0, 2]), size=P([1, 2])),
        case(**a, values=D("4"), start=P([2, 2]), size=P([9, 9])),
        case(**a, values=D("4"), start=P([1, 1]), size=P([0, 2])),
        bad(**a, values=D("4"), start=P([1]), size=P([2])),
        bad(**a, values=D("4"), start=P([0, 0]), size=P([-1, 2])),
    ]
    yield from op("SparseSlice", ("float32", "float64", "int32", "string"), *rows)
    yield from op(
        "SparseSliceGrad", ("float32", "float64", "int32"),
        case(backprop_val_grad=D("2"), input_indices=P(PLACES), input_start=P([1, 0]),
             output_indices=P([[0, 0], [1, 2]]), no_grad=1),
        case(backprop_val_grad=D("0"), input_indices=P(PLACES), input_start=P([1, 0]), output_indices=NONE(),
             no_grad=1),
        case(backprop_val_grad=D("4"), input_indices=P(PLACES), input_start=P([0, 0]), output_indices=P(PLACES),
             no_grad=1),
        bad(backprop_val_grad=D("3"), input_indices=P(PLACES), input_start=P([1, 0]), output_indices=P([[0, 0]])),
        bad(backprop_val_grad=D("1"), input_indices=P(PLACES), input_start=P([1]), output_indices=P([[0, 0]])),
    )  # fmt: skip


def joins() -> Iterator[dict]:
    two = {"indices": [P(PLACES), P([[0, 0], [2, 1]])], "values": [D("4"), D("2")]}
    rows = [
        case(**two, shapes=[P(SHAPE), P([3, 2])], concat_dim=1),
        case(**two, shapes=[P(SHAPE), P([3, 2])], concat_dim=-1),
        case(**two, shapes=[P(SHAPE), P([3, 4])], concat_dim=0),
        case(
            indices=[P([[0]]), NONE(1), P([[1]])],
            values=[D("1"), D("0"), D("1")],
            shapes=[P([2]), P([1]), P([3])],
            concat_dim=0,
        ),
        bad(**two, shapes=[P(SHAPE), P([2, 2])], concat_dim=1),
        bad(**two, shapes=[P(SHAPE), P([3, 2])], concat_dim=2),
        bad(indices=[P(PLACES), P([[0]])], values=[D("4"), D("1")], shapes=[P(SHAPE), P([3])], concat_dim=0),
    ]
    yield from op("SparseConcat", ("float32", "float64", "int32", "string"), *rows)
    a = {"indices": P(PLACES), "shape": P(SHAPE)}
    rows = [
        case(split_dim=P(1), **a, values=D("4"), num_split=2),
        case(split_dim=P(0), **a, values=D("4"), num_split=3),
        case(split_dim=P(0), **a, values=D("4"), num_split=2),
        case(split_dim=P(1), **a, values=D("4"), num_split=1),
        bad(split_dim=P(2), **a, values=D("4"), num_split=2),
        bad(split_dim=P(0), **a, values=D("4"), num_split=4),
    ]
    yield from op("SparseSplit", ("float32", "float64", "int32", "string"), *rows)


def filled() -> Iterator[dict]:
    rows = [
        case(indices=P([[0, 1], [3, 0], [3, 1]]), values=D("3"), dense_shape=P([5, 4]), default_value=V(9), toward=[1]),
        case(indices=P([[0, 1], [1, 0]]), values=D("2"), dense_shape=P([2, 4]), default_value=V(9), toward=[1]),
        case(indices=NONE(), values=D("0"), dense_shape=P([2, 4]), default_value=V(9), toward=[1]),
        case(indices=P([[3, 0], [0, 1]]), values=D("2"), dense_shape=P([4, 4]), default_value=V(9), no_grad=1),
        case(indices=NONE(), values=D("0"), dense_shape=P([0, 4]), default_value=V(9), toward=[1]),
        bad(indices=P([[5, 1]]), values=D("1"), dense_shape=P([2, 4]), default_value=V(9)),
        bad(indices=P([[0, 1]]), values=D("2"), dense_shape=P([2, 4]), default_value=V(9)),
        bad(indices=P([[0, 1]]), values=D("1"), dense_shape=P([2, 4]), default_value=V([9])),
    ]
    yield from op("SparseFillEmptyRows", ("float32", "float64", "int32", "string"), *rows)
    rows = [
        case(reverse_index_map=P([0, 3, 4]), grad_values=D("6"), no_grad=1),
        case(reverse_index_map=P([]), grad_values=D("2"), no_grad=1),
        case(reverse_index_map=P([1, 0]), grad_values=D("2"), no_grad=1),
        bad(reverse_index_map=P([7]), grad_values=D("2")),
        bad(reverse_index_map=P([[0]]), grad_values=D("2")),
    ]
    yield from op("SparseFillEmptyRowsGrad", ("float32", "float64", "int32"), *rows)


def cells() -> Iterator[dict]:
    a = {"sp_indices": P(PLACES), "sp_shape": P(SHAPE)}
    for name in ("SparseDenseCwiseMul", "SparseDenseCwiseDiv", "SparseDenseCwiseAdd"):
        options = {"no_grad": 1} if name.endswith("Add") else {}
        rows = [
            case(**a, sp_values=D("4"), dense=D("3 4", 0.5, 3), **options),
            case(**a, sp_values=D("4"), dense=D("4", 0.5, 3), no_grad=1),
            case(**a, sp_values=D("4"), dense=D("3 1", 0.5, 3), no_grad=1),
            case(**a, sp_values=D("4"), dense=D("", 0.5, 3), no_grad=1),
            bad(**a, sp_values=D("4"), dense=D("2 3 4")),
            bad(**a, sp_values=D("4"), dense=D("3 3")),
            bad(**a, sp_values=D("3"), dense=D("3 4")),
        ]
        yield from op(name, ("float32", "float64", "int32"), *rows)
    rows = [
        case(**a, sp_values=D("4")),
        case(sp_indices=P([[0, 0], [0, 2], [0, 3], [1, 1]]), sp_shape=P([2, 4]), sp_values=D("4")),
        case(sp_indices=P([[0, 0, 0], [0, 1, 0], [0, 1, 1]]), sp_shape=P([1, 2, 2]), sp_values=D("3")),
        case(sp_indices=NONE(), sp_shape=P([2, 4]), sp_values=D("0")),
        bad(sp_indices=P([[0], [1]]), sp_shape=P([2]), sp_values=D("2")),
        bad(**a, sp_values=D("3")),
    ]
    yield from op("SparseSoftmax", ("float32", "float64", "float16"), *rows)


def both() -> Iterator[dict]:
    other = [[0, 1], [1, 1], [2, 3]]
    a, b = {"a_indices": P(PLACES), "a_shape": P(SHAPE)}, {"b_indices": P(other), "b_shape": P(SHAPE)}
    for name in ("SparseSparseMaximum", "SparseSparseMinimum"):
        rows = [
            case(**a, a_values=D("4"), **b, b_values=D("3")),
            case(a_indices=NONE(), a_shape=P(SHAPE), a_values=D("0"), **b, b_values=D("3")),
            case(**a, a_values=V([-1, -2, 3, 4]), **b, b_values=V([1, -2, 5])),
            bad(**a, a_values=D("4"), b_indices=P(other), b_values=D("3"), b_shape=P([3, 5])),
            bad(**a, a_values=D("3"), **b, b_values=D("3")),
        ]
        yield from op(name, ("float32", "float64", "int32"), *rows)
    yield from op(
        "SparseAddGrad", ("float32", "float64", "int32"),
        case(backprop_val_grad=D("5"), a_indices=P(PLACES), b_indices=P(other),
             sum_indices=P([[0, 1], [1, 0], [1, 1], [1, 3], [2, 3]]), no_grad=1),
        case(backprop_val_grad=D("4"), a_indices=P(PLACES), b_indices=NONE(), sum_indices=P(PLACES), no_grad=1),
        case(backprop_val_grad=D("3"), a_indices=NONE(), b_indices=P(other), sum_indices=P(other), no_grad=1),
        bad(backprop_val_grad=D("2"), a_indices=P(PLACES), b_indices=P(other), sum_indices=P(other)),
    )  # fmt: skip
