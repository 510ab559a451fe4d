"""Shapes: TensorFlow's recorded answers in three manners, then the helpers on plain dims."""

import copy
import pathlib
import pickle
import runpy

import numpy as np
import pytest

from ebbflow import messages
from ebbflow.core import shape
from ebbflow.core.shape import Dimension, TensorShape, as_dims

ROOT = pathlib.Path(__file__).resolve().parents[1]
ASK = runpy.run_path(str(ROOT / "golden" / "core" / "ask.py"))
NAMESPACE = {
    **{name: getattr(shape, name) for name in dir(shape) if not name.startswith("_")},
    "D": Dimension,
    "np": np,
    "proto": lambda **fields: messages.TensorShapeProto(**fields),
}


@pytest.fixture
def v1_manner():
    shape.disable_v2_tensorshape()
    yield
    shape.enable_v2_tensorshape()


@pytest.fixture
def tf1_manner(v1_manner):
    shape.use_tf1_manners()
    yield
    shape.use_tf1_manners(False)


@pytest.mark.parametrize(("question", "answer"), ASK["golden"]("shape_v2"))
def test_answers_as_tensorflow_2(question, answer):
    assert ASK["ask"](question, NAMESPACE) == answer


@pytest.mark.parametrize(("question", "answer"), ASK["golden"]("shape_v1"))
def test_answers_as_tensorflow_2_with_v1_shapes(v1_manner, question, answer):
    assert ASK["ask"](question, NAMESPACE) == answer


# Where Ebbflow answers something else than 1.15 did, in the manner of 1.15.
TF1_DIFFERENCES = {
    # Shapes can be keys, as ever since.
    "hash(TensorShape([1,2]))==hash((1,2))": ["is", "True"],
    "hash(TensorShape([1,None]))==hash(TensorShape([1,None]))": ["is", "True"],
}


@pytest.mark.parametrize(("question", "answer"), ASK["golden"]("shape_tf1"))
def test_answers_as_tensorflow_1(tf1_manner, question, answer):
    found = ASK["ask"](question, NAMESPACE)
    if answer[-1] is not None and answer[-1].startswith("int() argument must be"):  # Python's words change
        found, answer = found[:2], answer[:2]
    assert found == TF1_DIFFERENCES.get(question, answer)


def added(a, b):
    try:
        return shape.broadcast_dims(a, b)
    except ValueError:
        raise ValueError from None


@pytest.mark.parametrize(("question", "answer"), ASK["golden"]("broadcast"))
def test_broadcasts_as_tensorflow(question, answer):
    assert ASK["ask"](question, {"broadcast": shape.broadcast_dims, "added": added}) == answer


@pytest.mark.parametrize(
    ("given", "dims"),
    [
        (None, None),
        ((), ()),
        ([], ()),
        (3, (3,)),
        (0, (0,)),
        ((2, None), (2, None)),
        ([2, np.int64(3)], (2, 3)),
        ([True], (1,)),
        (TensorShape([2, None]), (2, None)),
        (TensorShape(None), None),
        (Dimension(4), (4,)),
        ([Dimension(4), Dimension(None)], (4, None)),
        (np.array([2, 3]), (2, 3)),
        (np.int32(5), (5,)),
        (range(1, 3), (1, 2)),
        (iter([1, 2]), (1, 2)),
        (messages.TensorShapeProto(unknown_rank=True), None),
        (messages.TensorShapeProto(), ()),
        (messages.TensorShapeProto(dim=[{"size": 2}, {"size": -1}, {"size": 0}]), (2, None, 0)),
    ],
)
def test_as_dims(given, dims):
    found = as_dims(given)
    assert found == dims
    assert found is None or all(d is None or type(d) is int for d in found)


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ([-1], ValueError, "Dimension -1 must be >= 0"),
        (-3, ValueError, "Dimension -3 must be >= 0"),
        ([2, "x"], TypeError, "got value ''x'' with type '<class 'str'>'"),
        ([1.5], TypeError, "got value '1.5'"),
        ("ab", TypeError, "Failed to convert ''ab'' to a shape"),
        ([[1]], TypeError, "got value"),
        (object(), TypeError, "got value"),
    ],
)
def test_as_dims_refuses(given, error, says):
    with pytest.raises(error) as caught:
        as_dims(given)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("a", "b", "merged"),
    [
        (None, None, None),
        (None, (2,), (2,)),
        ((2, None), None, (2, None)),
        ((2, None), (None, 3), (2, 3)),
        ((), (), ()),
        ((None,), (None,), (None,)),
        ((0, None), (0, 0), (0, 0)),
    ],
)
def test_merge_dims(a, b, merged):
    assert shape.merge_dims(a, b) == merged
    assert shape.merge_dims(b, a) == merged
    assert shape.is_compatible(a, b)


@pytest.mark.parametrize(("a", "b"), [((2,), (3,)), ((2,), (2, 2)), ((), (1,)), ((0,), (1,)), ((None, 2), (1, 3))])
def test_merge_dims_refuses(a, b):
    assert not shape.is_compatible(a, b)
    with pytest.raises(ValueError, match="are not compatible") as caught:
        shape.merge_dims(a, b)
    assert str(a) in str(caught.value)
    assert str(b) in str(caught.value)


@pytest.mark.parametrize(
    ("dims", "static", "count"),
    [
        (None, False, None),
        ((), True, 1),
        ((2, 3), True, 6),
        ((2, None), False, None),
        ((0, 5), True, 0),
        ((2**40, 2**40), True, 2**80),
    ],
)
def test_is_static_and_num_elements(dims, static, count):
    assert shape.is_static(dims) is static
    assert shape.num_elements(dims) == count


def test_broadcast_all():
    assert shape.broadcast_all([]) == ()
    assert shape.broadcast_all([(3, 1), (1, 4), ()]) == (3, 4)
    assert shape.broadcast_all([(3, 1), None]) is None
    with pytest.raises(ValueError, match=r"Received: \(3,\) and \(4,\)"):
        shape.broadcast_all([(3,), (4,)])


def test_broadcast_dims_agrees_with_numpy_on_static_shapes():
    sizes = [(), (1,), (2,), (3,), (0,), (2, 1), (1, 3), (2, 3), (4, 2, 1), (0, 1)]
    for a in sizes:
        for b in sizes:
            try:
                expected = np.broadcast_shapes(a, b)
            except ValueError:
                with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
                    shape.broadcast_dims(a, b)
            else:
                assert shape.broadcast_dims(a, b) == expected


@pytest.mark.parametrize("dims", [None, [], [1, None], [2, 3]])
def test_shapes_survive_pickling_copying_and_messages(dims):
    given = TensorShape(dims)
    for again in (
        pickle.loads(pickle.dumps(given)),
        copy.copy(given),
        copy.deepcopy(given),
        TensorShape(given.as_proto()),
        TensorShape.experimental_from_proto(given.experimental_as_proto()),
    ):
        assert type(again) is TensorShape
        assert again._dims == given._dims


@pytest.mark.parametrize("value", [None, 0, 7])
def test_dimensions_survive_pickling_and_copying(value):
    assert pickle.loads(pickle.dumps(Dimension(value))).value == value
    assert copy.deepcopy(Dimension(value)).value == value


def test_shapes_are_keys():
    assert {TensorShape([1, None]): "a"}[TensorShape([1, None])] == "a"
    assert {TensorShape([1, 2]): "a"}[TensorShape((1, 2))] == "a"


def test_vocabulary_of_tensorflow_1():
    assert shape.scalar() == TensorShape([])
    assert shape.vector(3) == TensorShape([3])
    assert shape.matrix(2, None) == TensorShape([2, None])


def test_the_switch_is_visible(v1_manner):
    assert TensorShape._v2_behavior is False
    assert isinstance(TensorShape([1])[0], Dimension)
    assert shape.dimension_value(TensorShape([1])[0]) == 1
    assert shape.dims_str((1, None)) == "(1, ?)"


def test_a_shape_is_its_own_type_to_the_tracer():
    given = TensorShape([2, None])
    assert given.flatten() == []
    assert given.to_tensors(given) == []
    assert given.cast(TensorShape([2, None])) == given
    with pytest.raises(AssertionError, match="Can not cast"):
        given.cast(TensorShape([3]))
