"""Order and sets: top_k, sort, search, unique, differences; and numbers as text."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.arrays import creation, sets, sorting
from ebbflow.ops.strings import format_join
from tests.ops.cases import MODES, Case, Refusal, args


def run(make, mode):
    if mode == "eager":
        found = make()
        return [np.asarray(t.numpy()) for t in (found if isinstance(found, (tuple, list)) else [found])]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        found = make()
        return [np.asarray(a) for a in session.run(list(found) if isinstance(found, (tuple, list)) else [found])]


ANSWERS = {
    "top_k": (lambda: sorting.top_k([1, 3, 2, 3], 3), [[3, 3, 2], [1, 3, 2]]),
    "top_k of rows": (lambda: sorting.top_k([[1, 2], [4, 3]], 1), [[[2], [4]], [[1], [0]]]),
    "top_k of none": (lambda: sorting.top_k([1, 2], 0), [[], []]),
    "top_k of bytes": (lambda: sorting.top_k(creation.constant([0, 255, 7], tf.uint8), 2), [[255, 7], [1, 2]]),
    "sort": (lambda: sorting.sort([3, 1, 2]), [[1, 2, 3]]),
    "sort down": (lambda: sorting.sort([3.0, 1.0, 2.0], direction="DESCENDING"), [[3, 2, 1]]),
    "sort columns": (lambda: sorting.sort([[3, 1], [1, 2]], axis=0), [[[1, 1], [3, 2]]]),
    "sort extremes": (lambda: sorting.sort([-(2**31), 2**31 - 1, 0]), [[-(2**31), 0, 2**31 - 1]]),
    "sort bytes": (lambda: sorting.sort(creation.constant([200, 1, 2], tf.uint8)), [[1, 2, 200]]),
    "argsort": (lambda: sorting.argsort([3, 1, 2, 1]), [[1, 3, 2, 0]]),
    "argsort down": (lambda: sorting.argsort([3, 1, 2, 1], direction="DESCENDING"), [[0, 2, 1, 3]]),
    "argsort columns": (lambda: sorting.argsort([[3, 1], [1, 2]], axis=0), [[[1, 0], [0, 1]]]),
    "in_top_k": (lambda: sorting.in_top_k([1, 1], [[0.1, 0.9], [0.8, 0.2]], 1), [[True, False]]),
    "in_top_k of TF 1": (lambda: sorting.in_top_k_v1([[0.1, 0.9]], [1], 1), [[True]]),
    "in_top_k of NaN": (lambda: sorting.in_top_k([1], [[float("nan"), 0.2]], 1), [[False]]),
    "in_top_k of infinities": (
        lambda: sorting.in_top_k([0, 0, 3, -1], [[1e30, 0.2], [float("inf"), 0.1], [0.1, 0.2], [0.1, 0.2]], 1),
        [[True, False, False, False]],
    ),
    "in_top_k of ties": (lambda: sorting.in_top_k([0, 1, 2], [[0.5, 0.5, 0.1]] * 3, 1), [[True, True, False]]),
    "in_top_k of float64": (lambda: sorting.in_top_k_v1([[0.1, 0.9]], [0], 1), [[False]]),
    "in_top_k of no class": (lambda: sorting.in_top_k([5], [[0.1, 0.2]], 1), [[False]]),
    "nth_element": (lambda: sorting.nth_element([[3, 1, 2], [6, 5, 4]], 1), [[2, 5]]),
    "nth_element from above": (lambda: sorting.nth_element([3, 1, 2], 0, reverse=True), [3]),
    "searchsorted": (lambda: sorting.searchsorted([1, 3, 3, 5], [0, 3, 6]), [[0, 1, 4]]),
    "searchsorted, right": (lambda: sorting.searchsorted([1, 3, 3, 5], [0, 3, 6], side="right"), [[0, 3, 4]]),
    "searchsorted of rows": (lambda: sorting.searchsorted([[1, 3], [2, 4]], [[2], [5]]), [[[1], [2]]]),
    "bucketize": (lambda: sorting.Bucketize([-5.0, 2.5, 9.0], boundaries=[0.0, 2.5]), [[0, 2, 2]]),
    "unique": (lambda: sets.unique([3, 1, 3, 2]), [[3, 1, 2], [0, 1, 0, 2]]),
    "unique of nothing": (lambda: sets.unique(np.zeros(0, np.int32)), [[], []]),
    "unique words": (lambda: sets.unique(["b", "a", "b"]), [[b"b", b"a"], [0, 1, 0]]),
    "unique with counts": (lambda: sets.unique_with_counts([3, 1, 3]), [[3, 1], [0, 1, 0], [2, 1]]),
    "unique rows": (lambda: sets.UniqueV2([[1, 2], [3, 4], [1, 2]], [0]), [[[1, 2], [3, 4]], [0, 1, 0]]),
    "unique columns": (lambda: sets.UniqueV2([[1, 2, 1], [3, 4, 3]], [-1]), [[[1, 2], [3, 4]], [0, 1, 0]]),
    "setdiff1d": (lambda: sets.setdiff1d([1, 2, 3, 2, 5], [2]), [[1, 3, 5], [0, 2, 4]]),
    "setdiff1d of words": (lambda: sets.setdiff1d(["a", "b"], ["b"]), [[b"a"], [0]]),
    "as_string": (lambda: format_join.as_string([1.5, float("nan")]), [[b"1.500000", b"nan"]]),
    "as_string of ints": (lambda: format_join.as_string([1, 22], width=4, fill="0"), [[b"0001", b"0022"]]),
    "as_string of bools": (lambda: format_join.as_string([True, False]), [[b"true", b"false"]]),
    "as_string, scientific": (lambda: format_join.as_string([1.5], precision=2, scientific=True), [[b"1.50e+00"]]),
    "as_string, shortest": (lambda: format_join.as_string([2.25], shortest=True), [[b"2.25"]]),
    "as_string of complex": (lambda: format_join.as_string([1 + 2j]), [[b"(1.000000,2.000000)"]]),
    "join": (lambda: format_join.string_join([["a", "b"], "z"], "-"), [[b"a-z", b"b-z"]]),
    "join nothing": (lambda: format_join.string_join([]), [b""]),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name, mode):
    make, expected = ANSWERS[name]
    assert [array.tolist() for array in run(make, mode)] == expected


def test_many_columns_give_the_same_top_k_as_few():
    numbers = np.random.RandomState(3).randint(0, 50, (4, 1000)).astype(np.float32)
    values, indices = (t.numpy() for t in sorting.top_k(numbers, 20))
    order = np.argsort(-numbers, axis=1, kind="stable")[:, :20]
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(numbers, order, 1))


def test_nan_comes_first_from_the_top():
    assert sorting.top_k([1.0, float("nan"), float("inf")], 2).indices.numpy().tolist() == [1, 2]


GRADIENTS = [
    Case(
        lambda x: sorting.top_k(x, 2)[0] ** 2.0,
        args("2 4", low=0.5),
        numpy=lambda x: np.sort(x)[:, :-3:-1] ** 2,
        name="top_k",
    ),
    Case(lambda x: sorting.sort(x) ** 2.0, args("2 4", low=0.5), numpy=lambda x: np.sort(x) ** 2, name="sort"),
    Case(
        lambda x: sorting.nth_element(x, 1) ** 2.0,
        args("2 4", low=0.5),
        numpy=lambda x: np.sort(x)[:, 1] ** 2,
        name="nth_element",
    ),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", GRADIENTS, ids=lambda c: c.name)
def test_gradients(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


REFUSALS = [
    Refusal(
        lambda x: sorting.top_k(x, 5)[0],
        args("3"),
        says="input must have at least k columns. Had 3, needed 5",
        in_graph="input must have last dimension >= k = 5 but is 3",
    ),
    Refusal(lambda x: sorting.top_k(x, -1)[0], args("3"), says="Need k >= 0, got -1"),
    Refusal(lambda x: sorting.top_k(x, 1)[0], args(""), says="input must be >= 1-D, got shape []"),
    Refusal(lambda x: sorting.nth_element(x, 3), args("3"), says="Input must have last dimension > n = 3"),
    Refusal(lambda x: sorting.sort(x, direction="up"), args("3"), says="direction=up"),
    Refusal(lambda x: sorting.searchsorted(x, x, side="middle"), args("3"), says="`side` = 'middle'"),
    Refusal(lambda x: sorting.LowerBound(x, x), args("3"), says="rank 2 but is rank 1"),
    Refusal(
        lambda x: sorting.in_top_k([1], tf.cast(x, tf.float32), 1), args("2 2"), says="First dimension of predictions 2"
    ),
    Refusal(lambda x: sets.unique(x)[0], args("2 2"), says="unique expects a 1D vector."),
    Refusal(lambda x: sets.setdiff1d(x, [1.0])[0], args("2 2", dtype="float32"), says="x should be a 1D vector."),
    Refusal(
        lambda x: format_join.as_string(x, fill="ab"), args("2"), says="Fill string must be one or fewer characters"
    ),
    Refusal(
        lambda x: format_join.as_string(x, shortest=True, scientific=True),
        args("2"),
        says="Cannot select both scientific and shortest notation",
    ),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda r: r.says["eager"][:40])
def test_refusals(refusal, mode):
    refusal.check_value(mode)


def test_joined_shapes_must_agree():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Input shapes do not match: \[2\] vs. \[1\]"):
        format_join.string_join([["a", "c"], ["b"]])


@pytest.mark.parametrize("classes", [5, 255, 256, 600])
def test_in_top_k_counts_many_classes(classes):
    x = np.random.default_rng(1).normal(size=[40, classes]).astype("f")
    targets = np.arange(40) * 7 % classes
    places = (x > x[np.arange(40), targets][:, None]).sum(1)
    for k in (1, 3, classes - 1):
        assert sorting.in_top_k(targets, x, k).numpy().tolist() == (places < k).tolist()
