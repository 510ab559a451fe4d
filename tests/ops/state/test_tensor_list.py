"""Lists of tensors as values: what ops on them give, what they refuse, their gradients, and that old lists stay as
they were.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ebbflow as tf
from ebbflow.core import dtypes
from ebbflow.ops.state.list_value import FAR, TensorList

r = tf.raw_ops
NO_LENGTHS = np.zeros([0], np.int64)


def empty(shape=-1, limit=-1, dtype=tf.float32):
    return r.EmptyTensorList(element_shape=shape, max_num_elements=limit, element_dtype=dtype)


def reserve(shape=-1, count=3, dtype=tf.float32):
    return r.TensorListReserve(element_shape=shape, num_elements=count, element_dtype=dtype)


def push(handle, x, dtype=tf.float32):
    return r.TensorListPushBack(input_handle=handle, tensor=tf.constant(x, dtype))


def pop(handle, shape=-1, dtype=tf.float32):
    return r.TensorListPopBack(input_handle=handle, element_shape=shape, element_dtype=dtype)


def stack(handle, shape=-1, count=-1, dtype=tf.float32):
    return r.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=dtype, num_elements=count)


def get(handle, i, shape=-1, dtype=tf.float32):
    return r.TensorListGetItem(input_handle=handle, index=i, element_shape=shape, element_dtype=dtype)


def put(handle, i, x, dtype=tf.float32, resize=False):
    item = tf.constant(x, dtype)
    return r.TensorListSetItem(input_handle=handle, index=i, item=item, resize_if_index_out_of_bounds=resize)


def gather(handle, indices, shape=-1):
    return r.TensorListGather(input_handle=handle, indices=indices, element_shape=shape, element_dtype=tf.float32)


def scatter(x, indices, shape=-1, count=-1):
    return r.TensorListScatterV2(tensor=x, indices=indices, element_shape=shape, num_elements=count)


def join(handle, shape=-1, lengths=NO_LENGTHS):
    lengths = np.array(lengths, np.int64)
    return r.TensorListConcatV2(
        input_handle=handle, element_shape=shape, leading_dims=lengths, element_dtype=tf.float32
    )


def split(x, lengths, shape=-1):
    return r.TensorListSplit(tensor=x, element_shape=shape, lengths=np.array(lengths, np.int64))


def two():
    return r.TensorListFromTensor(tensor=[[1.0], [2.0]], element_shape=[1])


def length(handle):
    return r.TensorListLength(input_handle=handle)


VALUES = {
    "pushed": (lambda: stack(push(push(empty(), [1.0, 2.0]), [3.0, 4.0])), [[1, 2], [3, 4]]),
    "popped": (lambda: pop(push(push(empty(), 1.0), 2.0))[1], 2),
    "rest of popped": (lambda: stack(pop(push(push(empty(), 1.0), 2.0))[0]), [1]),
    "zeros popped": (lambda: pop(reserve(count=1), [2])[1], [0, 0]),
    "zeros read": (lambda: get(reserve([2]), 0), [0, 0]),
    "zeros like another": (lambda: get(put(reserve(), 1, [1.0, 2.0]), 0), [0, 0]),
    "read": (lambda: get(put(reserve(), 1, [1.0, 2.0]), 1), [1, 2]),
    "grown": (lambda: length(put(reserve(), 7, 1.0, resize=True)), 8),
    "zeros stacked": (lambda: stack(reserve([2])), [[0, 0]] * 3),
    "nothing stacked": (lambda: stack(empty([2])), np.zeros([0, 2])),
    "one of three stacked": (lambda: stack(put(reserve(), 1, [1.0, 2.0])), [[0, 0], [1, 2], [0, 0]]),
    "from rows": (lambda: stack(two()), [[1], [2]]),
    "gathered": (lambda: gather(two(), [0, 1, 0]), [[1], [2], [1]]),
    "nothing gathered": (lambda: gather(two(), []), np.zeros([0, 1])),
    "scattered": (lambda: gather(scatter([[1.0], [2.0]], [2, 0]), [0, 1, 2]), [[2], [0], [1]]),
    "scattered into more": (lambda: length(scatter([[1.0], [2.0]], [2, 0], count=5)), 5),
    "scattered into a list": (
        lambda: stack(r.TensorListScatterIntoExistingList(input_handle=two(), tensor=[[5.0]], indices=[0])),
        [[5], [2]],
    ),
    "joined": (lambda: join(push(push(empty(), [1.0, 2.0]), [3.0])).tensor, [1, 2, 3]),
    "lengths of joined": (lambda: join(push(push(empty(), [1.0, 2.0]), [3.0])).lengths, [2, 1]),
    "nothing joined": (lambda: join(empty([-1, 2])).tensor, np.zeros([0, 2])),
    "zeros joined": (lambda: join(reserve([-1]), lengths=[1, 2, 3]).tensor, [0] * 6),
    "old join": (
        lambda: r.TensorListConcat(input_handle=push(push(empty(), [1.0]), [3.0]), element_dtype=tf.float32).tensor,
        [1, 3],
    ),
    "cut": (lambda: get(split([1.0, 2.0, 3.0], [2, 1]), 0), [1, 2]),
    "element shape": (lambda: r.TensorListElementShape(input_handle=empty([-1, 2]), shape_type=tf.int32), [-1, 2]),
    "no element shape": (lambda: r.TensorListElementShape(input_handle=empty(), shape_type=tf.int64), -1),
    "longer": (lambda: get(r.TensorListResize(input_handle=two(), size=5), 4), [0]),
    "shorter": (lambda: stack(r.TensorListResize(input_handle=two(), size=1)), [[1]]),
    "lists joined": (
        lambda: stack(r.TensorListConcatLists(input_a=two(), input_b=two(), element_dtype=tf.float32)),
        [[1], [2], [1], [2]],
    ),
    "batch pushed": (
        lambda: stack(r.TensorListPushBackBatch(input_handles=tf.stack([two(), two()]), tensor=[[7.0], [8.0]])[1]),
        [[1], [2], [8]],
    ),
    "zeros of a list": (lambda: stack(tf.zeros_like(two())), [[0], [0]]),
    "sum of lists": (lambda: stack(tf.add_n([two(), two(), scatter([[5.0]], [1], [1])])), [[2], [9]]),
    "strings": (lambda: stack(push(empty(dtype=tf.string), "a", tf.string), dtype=tf.string), [b"a"]),
    "unset string": (lambda: get(reserve(np.zeros(0, np.int32), dtype=tf.string), 1, dtype=tf.string), b""),
    "many": (lambda: length(reserve(count=2**31 - 1)), 2**31 - 1),
}


@pytest.mark.parametrize("name", VALUES)
def test_value(name):
    make, expected = VALUES[name]
    found = make().numpy()
    np.testing.assert_array_equal(found, expected)
    assert np.shape(found) == np.shape(expected)


REFUSED = [
    (lambda: push(empty([2]), [1.0, 2.0, 3.0]), "incompatible shape to a list. Op element shape: [3] list shape: [2]"),
    (lambda: push(empty(dtype=tf.int32), [1.0]), "Invalid data types; op elements float but list elements int32"),
    (lambda: push(push(empty(limit=1), 1.0), 1.0), "push item into a full list list size: 1 max_num_elements: 1"),
    (lambda: push(tf.zeros([]), 1.0), "variant"),
    (lambda: pop(empty()), "Trying to pop from an empty list."),
    (lambda: pop(reserve(count=1)), "read an uninitialized tensor but element_shape is not fully defined.<unknown>"),
    (lambda: get(reserve(), 5), "Trying to access element 5 in a list with 3 elements."),
    (lambda: get(reserve(), -1), "Trying to access element -1 in a list with 3 elements."),
    (lambda: get(reserve([-1, 2]), 0), "element_shape is not fully defined: [?,2] and no list element is set."),
    (lambda: put(reserve(), 7, 1.0), "Trying to modify element 7 in a list with 3 elements."),
    (lambda: put(reserve(), -1, 1.0, resize=True), "Trying to modify element -1"),
    (lambda: put(reserve([2]), 1, 1.0), "Item element shape: [] list shape: [2]"),
    (lambda: stack(reserve()), "only contains uninitialized tensors and has a non-fully-defined element_shape"),
    (lambda: stack(empty()), "stack elements of an empty list with non-fully-defined element_shape: <unknown>"),
    (lambda: stack(push(push(empty(), 1.0), [2.0])), "Incompatible ranks during merge: 0 vs. 1"),
    (lambda: stack(push(push(empty(), [1.0]), [1.0, 2.0])), "Incompatible shapes during merge: [1] vs. [2]"),
    (lambda: stack(push(empty(), 1.0), count=3), "expected a list with 3 elements but got a list with 1 elements."),
    (lambda: r.TensorListFromTensor(tensor=1.0, element_shape=-1), "Tensor must be at least a vector"),
    (lambda: r.TensorListFromTensor(tensor=[[1.0]], element_shape=[2]), "a list with shape [2] from a tensor with"),
    (lambda: gather(two(), [2]), "Trying to gather element 2 in a list with 2 elements."),
    (lambda: gather(reserve(), [0]), "gather uninitialized tensors from a list with non-fully-defined element_shape"),
    (lambda: scatter([[1.0], [2.0]], [2, 0], count=2), "scatter at index 2 in list with size 2"),
    (lambda: scatter([[1.0], [2.0]], [2]), "Invalid number of rows in input tensor. Expected: 1 Actual: 2"),
    (lambda: scatter([[1.0], [2.0]], [-2, 0]), "must all be non-negative"),
    (lambda: scatter([[1.0], [2.0]], [1, 0], count=-2), "expects num_elements >= -1, found: -2"),
    (lambda: r.TensorListResize(input_handle=two(), size=[2]), "size must be a scalar"),
    (
        lambda: join(empty(np.zeros([0], np.int32))),
        "Concat requires elements to be at least vectors, found scalars instead.",
    ),
    (lambda: join(reserve()), "only uninitialized tensors but element_shape_except_first_dim is not fully defined"),
    (lambda: r.TensorListSplit(tensor=[1.0], element_shape=np.zeros([0], np.int32), lengths=[1]), "at least of rank 1"),
    (lambda: join(push(empty(), 1.0)), "Concat saw a scalar shape at index 0 but requires at least vectors."),
    (lambda: join(empty()), "must be fully defined when concating an empty tensor list"),
    (lambda: join(reserve([-1])), "uninitialized tensor at index 0 but leading_dims has only 0 elements."),
    (lambda: split([1.0, 2.0, 3.0], [2, 2]), "Attempting to slice [2, 4] from tensor with length 3"),
    (lambda: split([1.0, 2.0, 3.0], [2]), "Unused values in tensor. Length of tensor: 3 Values used: 2"),
    (lambda: split([1.0, 2.0, 3.0], [-1, 4]), "Invalid value in lengths: -1"),
    (lambda: r.TensorListResize(input_handle=two(), size=-1), "expects size to be non-negative. Got: -1"),
    (lambda: tf.add_n([two(), empty()]), "different lengths. One is 2 and the other is 0"),
    (lambda: reserve(count=-1), "must be a non negative number, but got -1"),
    (lambda: empty([[1]]), "Shape must be at most rank 1 but is rank 2"),
    (lambda: empty([-2]), "Dimension -2 must be >= -1"),
    (lambda: empty(0), "The only valid scalar shape tensor is the fully unknown shape specified as -1."),
]


@pytest.mark.parametrize(("make", "says"), REFUSED, ids=[says[:40] for _, says in REFUSED])
def test_refusal(make, says):
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError)) as caught:
        make()
    assert says in str(caught.value)


X = tf.constant([[0.3, 0.4], [0.5, 0.6], [0.7, 0.8]])
PATHS = {
    "stack of rows": lambda x: stack(r.TensorListFromTensor(tensor=x, element_shape=[2])),
    "push and pop": lambda x: pop(r.TensorListPushBack(input_handle=empty(), tensor=x))[1],
    "what is left after a pop": lambda x: stack(pop(r.TensorListFromTensor(tensor=x, element_shape=[2]))[0]),
    "set and get": lambda x: get(r.TensorListSetItem(input_handle=reserve(), index=1, item=x), 1),
    "overwritten": lambda x: (
        get(put(r.TensorListSetItem(input_handle=reserve(), index=1, item=x), 1, tf.ones_like(X)), 1) + x
    ),
    "gather twice": lambda x: gather(r.TensorListFromTensor(tensor=x, element_shape=[2]), [2, 0, 2]),
    "scatter": lambda x: stack(scatter(x, [2, 0, 1], [2])),
    "scatter into": lambda x: stack(
        r.TensorListScatterIntoExistingList(
            input_handle=r.TensorListFromTensor(tensor=x, element_shape=[2]), tensor=x[:1] * 2.0, indices=[1]
        )
    ),
    "split and join": lambda x: join(split(x, [1, 2], [-1, 2])).tensor,
    "resize": lambda x: stack(
        r.TensorListResize(input_handle=r.TensorListFromTensor(tensor=x, element_shape=[2]), size=2)
    ),
}


@pytest.mark.parametrize("name", PATHS)
def test_gradients(name):
    path = PATHS[name]
    total = lambda x: tf.reduce_sum(tf.sin(path(x)) * tf.cos(path(x) * 3.0))
    with tf.GradientTape() as outer:
        outer.watch(X)
        with tf.GradientTape() as inner:
            inner.watch(X)
            y = total(X)
        first = tf.convert_to_tensor(inner.gradient(y, X))
        slope = tf.reduce_sum(first * first)
    second = tf.convert_to_tensor(outer.gradient(slope, X)).numpy()
    step = 1e-2
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            moved = np.zeros(X.shape, np.float32)
            moved[i, j] = step
            slope = (total(X + moved) - total(X - moved)).numpy() / (2 * step)
            assert abs(slope - first.numpy()[i, j]) < 5e-3
    assert np.isfinite(second).all() and np.abs(second).sum() > 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30), st.integers(0, 30)), max_size=60))
def test_every_version_stays_what_it_was(steps):
    versions = [(TensorList(dtypes.int32, ()), [])]
    for number, (what, which, where) in enumerate(steps):
        value, plain = versions[which % len(versions)]
        if what == 0 or not plain:
            versions.append((value.push(np.array(number)), [*plain, number]))
        elif what == 1:
            versions.append((value.pop()[0], plain[:-1]))
        elif what == 2:
            at = where % len(plain)
            versions.append((value.set(at, np.array(number)), [*plain[:at], number, *plain[at + 1 :]]))
        elif what == 3:
            size = where % (len(plain) + 1)
            versions.append((value.resize(size), plain[:size]))
        else:
            other, others = versions[where % len(versions)]
            if len(others) == len(plain):
                versions.append((value.plus(other), [a + b for a, b in zip(plain, others, strict=True)]))
    for value, plain in versions:
        assert [int(x) for x in value.elements()] == plain


def test_elements_are_not_copied():
    x = np.zeros(10)
    pushed = TensorList(dtypes.float64, None).push(x)
    assert pushed.get(0) is x and pushed.push(x).pop()[1] is x


def test_lists_that_began_as_one_do_not_pull_at_its_entries():
    x = np.zeros(1)
    for first in (TensorList(dtypes.float64, None), TensorList(dtypes.float64, None).push(x)):
        one = other = first
        for _ in range(2 * FAR):
            one, other = one.push(x), other.push(x)
        for _ in range(3):
            one, other = one.push(x), other.push(x)
            assert one._entries is not None and other._entries is not None
