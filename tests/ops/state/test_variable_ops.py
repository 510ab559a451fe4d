"""Storage of variables and the ops on it: snapshots, updates in place, rows and elements, what is refused, threads."""

import gc
import itertools
import threading

import ml_dtypes
import numpy as np
import pytest

import ebbflow as tf
import ebbflow.ops.elementwise.binary  # (installs operators)
from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.tensor import EagerTensor
from ebbflow.eager.tape import GradientTape
from ebbflow.graph.graph import Graph
from ebbflow.ops.arrays.slicing import Spec
from ebbflow.ops.declare import raw
from ebbflow.ops.state import partial_updates
from ebbflow.ops.state.storage import Storage
from ebbflow.runtime.session import Session


def storage_of(value, dims=..., is_resource=True):
    value = np.asarray(value)
    made = Storage("v", dtypes.from_numpy(value.dtype), value.shape if dims is ... else dims, is_resource)
    made.assign(value)
    return made


def handle_of(storage):
    return EagerTensor(storage.handle(), dtypes.resource)


def address(storage):
    return storage.read().__array_interface__["data"][0]


# --- updates in place, snapshots --------------------------------------------------------------------------------------

ONES = np.ones((3, 2), np.float32)

UPDATES = {
    "update": lambda s: s.update(np.add, ONES),
    "assign": lambda s: s.assign(ONES * 5),
    "assign_add": lambda s: raw.AssignAddVariableOp(handle_of(s), ONES),
    "assign op": lambda s: raw.AssignVariableOp(handle_of(s), ONES * 4),
    "scatter": lambda s: raw.ResourceScatterAdd(handle_of(s), [0, 2], ONES[:2]),
    "scatter_nd": lambda s: raw.ResourceScatterNdUpdate(handle_of(s), [[0, 1]], np.float32([9])),
    "slice": lambda s: raw.ResourceStridedSliceAssign(handle_of(s), [0], [2], [1], ONES[:2] * 7),
    "training": lambda s: raw.ResourceApplyGradientDescent(handle_of(s), np.float32(0.1), ONES),
}

HOLDERS = {
    "the array": lambda s: s.read(),
    "a view": lambda s: s.read()[1:],
    "a view of a view": lambda s: s.read().reshape(-1)[2:],
    "a tensor": lambda s: raw.ReadVariableOp(handle_of(s), dtype=dtypes.float32),
    "NumPy's sight of a tensor": lambda s: np.asarray(raw.ReadVariableOp(handle_of(s), dtype=dtypes.float32)),
    "a slice of a tensor": lambda s: raw.ReadVariableOp(handle_of(s), dtype=dtypes.float32)[0:1],
    "a memory view": lambda s: memoryview(s.read()),
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_an_update_is_in_place_when_nobody_holds_the_value(update):
    storage = storage_of(ONES)
    before = address(storage)
    update(storage)
    assert address(storage) == before
    assert not np.array_equal(storage.read(), ONES)


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_what_was_read_never_changes(hold, update):
    storage = storage_of(ONES)
    read = hold(storage)
    kept = np.array(read)
    update(storage)
    np.testing.assert_array_equal(np.array(read), kept)
    assert not np.array_equal(storage.read(), ONES)
    del read
    gc.collect()
    before = address(storage)
    storage.update(np.add, ONES)
    assert address(storage) == before


def test_assigning_copies_and_taking_does_not():
    mine = np.ones(3, np.float32)
    storage = storage_of(np.zeros(3, np.float32))
    storage.assign(mine)
    mine[:] = 9
    np.testing.assert_array_equal(storage.read(), [1, 1, 1])
    taken = np.ones(3, np.float32)
    storage.take(taken)
    assert storage.read() is taken
    storage.update(np.add, np.ones(3, np.float32))
    np.testing.assert_array_equal(taken, [1, 1, 1])
    storage.take(np.broadcast_to(np.float32(2), (3,)))
    assert storage.read().flags.owndata


def test_a_value_that_may_not_be_written_to_is_copied_first():
    storage = storage_of(np.zeros(3, np.float32))
    fixed = np.zeros(3, np.float32)
    fixed.flags.writeable = False
    storage.take(fixed)
    storage.update(np.add, np.ones(3, np.float32))
    np.testing.assert_array_equal(storage.read(), [1, 1, 1])
    np.testing.assert_array_equal(fixed, [0, 0, 0])


def test_a_failed_update_leaves_the_value():
    storage = storage_of(np.zeros(3, np.float32))
    with pytest.raises(
        errors.InvalidArgumentError, match=r"Cannot update variable with shape \[3\] using a Tensor with shape \[2\]"
    ):
        storage.update(np.add, np.ones(2, np.float32))
    np.testing.assert_array_equal(storage.read(), [0, 0, 0])
    assert storage.value is not None


def test_readers_see_whole_updates_only():
    """One thread changes all elements at once, again and again; nobody ever sees two different ones."""
    storage = storage_of(np.zeros(200_000))
    stop, seen = threading.Event(), []

    def read():
        while not stop.is_set():
            value = storage.read()
            low, high = value.min(), value.max()
            if low != high:
                seen.append((low, high))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    for _ in range(100):
        storage.update(np.add, np.ones(200_000))
    stop.set()
    for thread in readers:
        thread.join()
    assert not seen
    assert storage.read()[0] == 100


def test_updates_of_several_threads_all_count():
    storage = storage_of(np.zeros(1000, np.int64))
    one = np.ones(1000, np.int64)
    threads = [threading.Thread(target=lambda: [storage.update(np.add, one) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(storage.read()) == {200}


# --- rows -------------------------------------------------------------------------------------------------------------


def plainly(kind, target, rows, updates):
    """What a scatter means, one row after the other."""
    result = target.copy()
    for row, update in zip(rows, updates, strict=True):
        if kind == "Div" and result.dtype.kind == "i":
            result[row] = np.trunc(result[row] / update).astype(result.dtype)
        else:
            result[row] = {
                "Update": lambda x, y: y,
                "Add": np.add,
                "Sub": np.subtract,
                "Mul": np.multiply,
                "Div": np.divide,
                "Min": np.minimum,
                "Max": np.maximum,
            }[kind](result[row], update)
    return result


KINDS = list(partial_updates.UPDATES)
INDICES = {"each once": [3, 0], "some twice": [1, 3, 1, 0, 1], "one very often": [2] * 20 + [1], "none": []}
TYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int32, np.int64]


@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: np.dtype(t).name)
@pytest.mark.parametrize("rows", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_updated_one_after_the_other(kind, rows, dtype):
    draw = np.random.default_rng(1)
    target = draw.integers(-20, 20, (4, 3)).astype(dtype)
    updates = draw.integers(1, 3, (len(rows), 3)).astype(dtype)
    if kind == "Mul":
        updates[3:] = 1  # no overflow
    storage = storage_of(target)
    getattr(raw, f"ResourceScatter{kind}")(handle_of(storage), np.array(rows, np.int32), convert(updates))
    np.testing.assert_array_equal(storage.read(), plainly(kind, target, rows, updates))
    assert storage.read().dtype == target.dtype


@pytest.mark.parametrize("kind", ["Update", "Add", "Sub", "Min", "Max"])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_elements_at_nd_indices(kind, depth):
    draw = np.random.default_rng(2)
    target = draw.normal(size=(3, 2, 4)).astype(np.float32)
    shape = target.shape[depth:]
    indices = (
        np.stack([draw.integers(0, n, (2, 3)) for n in target.shape[:depth]], -1)
        if depth
        else np.zeros((2, 3, 0), np.int64)
    )
    updates = draw.normal(size=(2, 3, *shape)).astype(np.float32)
    storage = storage_of(target)
    getattr(raw, f"ResourceScatterNd{kind}")(handle_of(storage), indices, updates)
    flat = target.reshape(-1, *shape).copy()
    rows = np.ravel_multi_index(tuple(np.moveaxis(indices, -1, 0)), target.shape[:depth]).ravel() if depth else [0] * 6
    expected = plainly(kind, flat, rows, updates.reshape(6, *shape)).reshape(target.shape)
    np.testing.assert_allclose(storage.read(), expected, rtol=1e-6)


def test_bad_indices_can_be_passed_over():
    storage = storage_of(np.zeros(3, np.float32))
    raw.ResourceScatterNdAdd(handle_of(storage), [[0], [7]], np.float32([1, 2]), bad_indices_policy="IGNORE")
    np.testing.assert_array_equal(storage.read(), [1, 0, 0])


SLICES = list(
    itertools.product(
        [slice(None), slice(1, None), slice(None, None, -1), slice(5, 0, -2), 1, -1, Ellipsis],
        [slice(0, 2), 0, slice(None, None, 2)],
    )
)


@pytest.mark.parametrize("key", SLICES, ids=str)
def test_slices_are_set_where_numpy_would(key):
    target = np.arange(24, dtype=np.float32).reshape(4, 6)
    expected = target.copy()
    expected[key] = -1
    storage = storage_of(target)
    spec = Spec(key)
    raw.ResourceStridedSliceAssign(
        handle_of(storage),
        np.array(spec.begin),
        np.array(spec.end),
        np.array(spec.strides),
        np.float32(-1),
        **spec.masks,
    )
    np.testing.assert_array_equal(storage.read(), expected)


def test_counting_up():
    storage = storage_of(np.int32(1))
    handle = handle_of(storage)
    assert [int(raw.ResourceCountUpTo(handle, limit=3, T=dtypes.int32)) for _ in range(2)] == [1, 2]
    with pytest.raises(errors.OutOfRangeError, match="Reached limit of 3"):
        raw.ResourceCountUpTo(handle, limit=3, T=dtypes.int32)
    assert storage.read() == 3


# --- what is refused --------------------------------------------------------------------------------------------------

V = np.zeros((3, 2), np.float32)

REFUSED = [
    (lambda h: raw.ResourceScatterAdd(h, [3], V[:1]), r"indices\[0\] = 3 is not in \[0, 3\)"),
    (lambda h: raw.ResourceScatterAdd(h, [0, -1], V[:2]), r"indices\[1\] = -1 is not in \[0, 3\)"),
    (lambda h: raw.ResourceScatterAdd(h, [0], V[:2]), "updates.shape"),
    (lambda h: raw.ResourceScatterAdd(h, [[0]], V[:1]), "updates.shape"),
    (
        lambda h: raw.ResourceScatterNdAdd(h, [[3, 0]], V[0, :1]),
        r"indices\[0\] = \[3, 0\] does not index into shape \[3,2\]",
    ),
    (lambda h: raw.ResourceScatterNdAdd(h, [[0, 0, 0]], V[0, :1]), "updates.shape"),
    (lambda h: raw.ResourceScatterNdAdd(h, [[0]], V[0, :1]), "updates.shape"),
    (lambda h: raw.ResourceScatterNdAdd(h, [[0, 5]], V[0, :1], bad_indices_policy="odd"), "bad_indices_policy"),
    (
        lambda h: raw.ResourceStridedSliceAssign(h, [0], [2], [1], V),
        r"Cannot broadcast input shape \[3,2\] into final shape \[2,2\]",
    ),
    (lambda h: raw.ResourceStridedSliceAssign(h, [5], [6], [1], V[0], shrink_axis_mask=1), "out of bounds"),
    (lambda h: raw.ResourceStridedSliceAssign(h, [0], [2], [0], V[0]), "must be non-zero"),
    (lambda h: raw.ResourceGather(h, [7], dtype=dtypes.float32), r"= 7 is not in \[0, 3\)"),
    (lambda h: raw.ResourceGatherNd(h, [[0, 9]], dtype=dtypes.float32), "does not index into param shape"),
    (lambda h: raw.ReadVariableOp(h, dtype=dtypes.int32), "wrong dtype. Expected float got int32"),
    (lambda h: raw.AssignVariableOp(h, np.int32([1])), "wrong dtype"),
    (lambda h: raw.AssignVariableOp(h, V[0]), r"Expected \[3,2\] got \[2\]"),
    (lambda h: raw.AssignAddVariableOp(h, V[0]), "shapes must be equal"),
    (lambda h: raw.ResourceCountUpTo(h, limit=1, T=dtypes.int32), "scalar"),
]


@pytest.mark.parametrize("call, words", REFUSED)
def test_what_is_refused_changes_nothing(call, words):
    storage = storage_of(V)
    with pytest.raises(errors.InvalidArgumentError, match=words):
        call(handle_of(storage))
    np.testing.assert_array_equal(storage.read(), V)
    assert storage.value is not None


def test_integers_are_not_divided_by_zero():
    storage = storage_of(np.int32([4, 5]))
    with pytest.raises(errors.InvalidArgumentError, match="division by zero"):
        raw.ResourceScatterDiv(handle_of(storage), [0], np.int32([0]))


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda h: raw.ReadVariableOp(h, dtype=dtypes.float32), errors.FailedPreconditionError),
        (lambda h: raw.AssignAddVariableOp(h, V), errors.NotFoundError),
        (lambda h: raw.ResourceScatterAdd(h, [0], V[:1]), errors.NotFoundError),
        (lambda h: raw.ResourceGather(h, [0], dtype=dtypes.float32), errors.NotFoundError),
        (lambda h: raw.VariableShape(h), errors.NotFoundError),
        (lambda h: raw.DestroyResourceOp(h, ignore_lookup_error=False), errors.NotFoundError),
    ],
)
def test_a_variable_without_a_value_is_named(call, kind):
    storage = Storage("weights", dtypes.float32, (3, 2))
    with pytest.raises(kind, match=r"weights.*uninitialized"):
        call(handle_of(storage))
    assert not bool(raw.VarIsInitializedOp(handle_of(storage)))


def test_a_destroyed_variable_is_gone():
    handle = raw.VarHandleOp(dtype=dtypes.float32, shape=[2])
    raw.AssignVariableOp(handle, np.float32([1, 2]))
    assert bool(raw.VarIsInitializedOp(handle))
    raw.DestroyResourceOp(handle)
    assert not bool(raw.VarIsInitializedOp(handle))


# --- in graphs --------------------------------------------------------------------------------------------------------


@pytest.fixture
def graph():
    with Graph().as_default() as made:
        yield made


def test_static_shapes_are_checked_when_the_graph_is_built(graph):
    ref = raw.VariableV2(shape=[3, 2], dtype=dtypes.float32)
    handle = raw.VarHandleOp(shape=[3, 2], dtype=dtypes.float32)
    refused = [
        lambda: raw.Assign(ref, V[0]),
        lambda: raw.AssignAdd(ref, V[:2]),
        lambda: raw.AssignVariableOp(handle, V[0]),
        lambda: raw.AssignSubVariableOp(handle, V[:1]),
        lambda: raw.ScatterAdd(ref, [0], V[:2]),
        lambda: raw.ResourceScatterAdd(handle, [0], V[:2]),
        lambda: raw.ScatterNdAdd(ref, [[0]], V[0, :1]),
        lambda: raw.ResourceScatterNdAdd(handle, [[0, 0, 0]], V[0, :1]),
        lambda: raw.ResourceGatherNd(handle, [[0, 0, 0]], dtype=dtypes.float32),
    ]
    for call in refused:
        with pytest.raises(ValueError):
            call()


def test_static_shapes_of_reads(graph):
    handle = raw.VarHandleOp(shape=[3, 2], dtype=dtypes.float32)
    open_handle = raw.VarHandleOp(shape=None, dtype=dtypes.float32)
    assert raw.ReadVariableOp(raw.Identity(handle), dtype=dtypes.float32).shape.as_list() == [3, 2]
    assert raw.ReadVariableOp(open_handle, dtype=dtypes.float32).shape.rank is None
    assert raw.ResourceGather(handle, [[0, 1]], dtype=dtypes.float32).shape.as_list() == [1, 2, 2]
    assert raw.ResourceGatherNd(handle, [[0, 1]], dtype=dtypes.float32).shape.as_list() == [1]
    assert raw.VariableShape(handle).shape.as_list() == [2]
    assert raw.VariableShape(open_handle).shape.as_list() == [None]


def test_handles_share_by_name_and_container(graph):
    same = [raw.VarHandleOp(shape=[], dtype=dtypes.float32, shared_name="x") for _ in range(2)]
    other = raw.VarHandleOp(shape=[], dtype=dtypes.float32, shared_name="x", container="c")
    write = raw.AssignVariableOp(same[0], np.float32(4))
    reads = [raw.VarIsInitializedOp(h) for h in (*same, other)]
    session = Session(graph=graph)
    session.run(write)
    assert session.run(reads) == [True, True, False]


def test_the_oldest_kind_of_variable_and_temporary_ones(graph):
    oldest = raw.Variable(shape=[2], dtype=dtypes.float32)
    first = raw.Assign(oldest, np.float32([1, 2]))
    temporary = raw.TemporaryVariable(shape=[2], dtype=dtypes.float32, var_name="t")
    filled = raw.Assign(temporary, np.float32([3, 4]))
    gone = raw.DestroyTemporaryVariable(raw.AssignAdd(filled, np.float32([1, 1])), var_name="t")
    session = Session(graph=graph)
    np.testing.assert_array_equal(session.run(first), [1, 2])
    np.testing.assert_array_equal(session.run(raw.Identity(oldest)), [1, 2])
    np.testing.assert_array_equal(session.run(gone), [4, 5])


def test_gathers_have_gradients_for_rows_and_batches():
    values = np.random.default_rng(0).normal(size=(3, 4, 2)).astype(np.float32)
    handle = raw.VarHandleOp(dtype=dtypes.float32, shape=values.shape)
    raw.AssignVariableOp(handle, values)
    for indices, batch_dims in (([2, 0, 2], 0), ([[0, 3], [1, 1], [2, 0]], 1)):
        with GradientTape() as tape:
            tape.watch(handle)
            out = raw.ResourceGather(handle, np.int32(indices), dtype=dtypes.float32, batch_dims=batch_dims)
            loss = out * out
        grad = np.asarray(convert(tape.gradient(loss, handle)))
        expected = np.zeros_like(values)
        if batch_dims:
            for b, row in enumerate(indices):
                for i in row:
                    expected[b, i] += 2 * values[b, i]
        else:
            for i in indices:
                expected[i] += 2 * values[i]
        np.testing.assert_allclose(grad, expected, rtol=1e-5)


def test_a_session_updates_in_place(graph):
    handle = raw.VarHandleOp(shape=[1000], dtype=dtypes.float32, shared_name="x")
    start = raw.AssignVariableOp(handle, np.zeros(1000, np.float32))
    value = raw.ReadVariableOp(handle, dtype=dtypes.float32)
    with graph.control_dependencies([value * value]):  # read, used, and not needed any more
        step = raw.AssignAddVariableOp(handle, np.ones(1000, np.float32))
    session = Session(graph=graph)
    session.run(start)
    storage = next(s for s in session.resources.values() if isinstance(s, Storage))
    before = address(storage)
    for _ in range(3):
        session.run(step)
    assert address(storage) == before
    fetched = session.run(value)
    kept = fetched.copy()
    session.run(step)
    np.testing.assert_array_equal(fetched, kept)
    fetched[:] = -1
    assert session.run(value)[0] == 4


def test_slopes_of_rows_have_the_shape_of_the_variable():
    table = tf.Variable(tf.ones([50, 16]))
    found = []

    @tf.function
    def slopes(rows):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(tf.nn.embedding_lookup(table, rows))
        found.append(tape.gradient(total, table))
        return tf.convert_to_tensor(found[-1])

    total = slopes(tf.constant([1, 1, 3]))
    assert found[0].shape == [50, 16]
    assert total.numpy()[:4, 0].tolist() == [0.0, 2.0, 0.0, 1.0]
