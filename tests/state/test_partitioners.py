"""Partitioners and partitioned variables: how shapes are divided, what the parts and the whole are, what is refused."""

import itertools

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.shape import TensorShape
from ebbflow.state.partitioners import PartitionedVariable, PartitionInfo, slices_of
from ebbflow.state.variables import SaveSliceInfo

v1 = tf.compat.v1
ZEROS = v1.zeros_initializer()


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


DIVIDED = [
    (v1.fixed_size_partitioner(3), [7, 2], tf.float32, [3, 1]),
    (v1.fixed_size_partitioner(3, axis=1), [7, 2], tf.float32, [1, 2]),
    (v1.variable_axis_size_partitioner(64), [16, 4], tf.float32, [4, 1]),
    (v1.variable_axis_size_partitioner(64), [16, 4], tf.float64, [8, 1]),
    (v1.variable_axis_size_partitioner(1), [5, 4], tf.float32, [5, 1]),
    (v1.variable_axis_size_partitioner(64, axis=1, max_shards=2), [16, 4], tf.float32, [1, 2]),
    (v1.variable_axis_size_partitioner(32, bytes_per_string_element=8), [16], tf.string, [4]),
    (v1.min_max_variable_partitioner(4), [1024, 1024], tf.float32, [4, 1]),
    (v1.min_max_variable_partitioner(100), [1024, 1024], tf.float32, [16, 1]),
    (v1.min_max_variable_partitioner(100, min_slice_size=1), [3], tf.float32, [3]),
    (v1.min_max_variable_partitioner(8), [4], tf.float32, [1]),
]


@pytest.mark.parametrize("partitioner, shape, dtype, expected", DIVIDED)
def test_how_shapes_are_divided(partitioner, shape, dtype, expected):
    assert partitioner(shape=TensorShape(shape), dtype=dtype) == expected


@pytest.mark.parametrize("length", range(1, 12))
def test_parts_cover_the_whole(length):
    for count in range(1, length + 1):
        parts = list(slices_of([2, length], count, 1))
        covered = [list(range(offset[1], offset[1] + shape[1])) for offset, shape in parts]
        assert list(itertools.chain(*covered)) == list(range(length)) and len(parts) == count
        assert {len(c) for c in covered} <= {length // count, length // count + 1}


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda: v1.variable_axis_size_partitioner(0), ValueError, "must be positive"),
        (lambda: v1.variable_axis_size_partitioner(4, max_shards=-1), ValueError, "max_shards must be positive"),
        (lambda: v1.variable_axis_size_partitioner(4)([2], tf.int32), ValueError, "not a TensorShape"),
        (lambda: v1.variable_axis_size_partitioner(4)(TensorShape([None]), tf.int32), ValueError, "not fully defined"),
        (lambda: v1.min_max_variable_partitioner(axis=2)(TensorShape([2]), tf.int32), ValueError, "along axis 2"),
        (lambda: PartitionInfo([2, 2], [0]), ValueError, "equal length"),
        (lambda: PartitionInfo([2], [2]), ValueError, "0 <= offset < shape"),
        (lambda: PartitionInfo(2, [2]), TypeError, "must be a sequence"),
        (lambda: PartitionInfo([4, 4], [2, 0]).single_offset([4, 4]), ValueError, "would exceed"),
        (lambda: PartitionInfo([4, 4], [2, 0]).single_offset([2, 2]), ValueError, "could be either dimension"),
    ],
)
def test_what_is_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_which_part_an_initializer_is_asked_for():
    info = PartitionInfo([4, 6], [0, 3])
    assert (info.single_slice_dim([4, 3]), info.single_offset([4, 3])) == (1, 3)
    assert PartitionInfo([4], [0]).single_slice_dim([4]) is None
    assert PartitionInfo([4], [0]).single_offset([4]) == 0


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("use_resource", [True, False])
def test_the_whole_and_its_parts(graph, axis, use_resource):
    start = np.arange(30, dtype=np.float32).reshape(5, 6)
    v = v1.get_variable(
        "v", initializer=tf.constant(start), partitioner=v1.fixed_size_partitioner(4, axis), use_resource=use_resource
    )
    assert isinstance(v, PartitionedVariable) and v.name == "v" and v.shape.as_list() == [5, 6] and len(v) == 4
    assert v.dtype is tf.float32 and [p.name for p in v] == [f"v/part_{i}:0" for i in range(4)]
    session = v1.Session()
    session.run(v1.global_variables_initializer())
    np.testing.assert_array_equal(np.concatenate(session.run(list(v)), axis), start)
    np.testing.assert_array_equal(session.run(v.as_tensor()), start)
    np.testing.assert_array_equal(session.run(tf.matmul(v, tf.transpose(v))), start @ start.T)
    np.testing.assert_array_equal(session.run(v + 1.0), start + 1)
    np.testing.assert_array_equal(session.run(v[1:, 2]), start[1:, 2])
    for change, expected in [
        (v.assign(start * 2), start * 2),
        (v.assign_add(np.ones_like(start)), start * 2 + 1),
        (v.assign_sub([tf.ones(p.shape) for p in v]), start * 2),
        (v.assign(v), start * 2),
    ]:
        session.run(change)
        np.testing.assert_array_equal(session.run(v.as_tensor()), expected)
    with pytest.raises(ValueError, match="4 parts, 1 values"):
        v.assign([start])


def test_parts_say_where_they_belong(graph):
    v = v1.get_variable("s/v", [5, 2], initializer=ZEROS, partitioner=v1.fixed_size_partitioner(2))
    infos = [p._get_save_slice_info() for p in v]
    assert [info.spec for info in infos] == ["5 2 0,3:0,2", "5 2 3,2:0,2"]
    assert {info.full_name for info in infos} == {"s/v"}
    message = infos[1].to_proto(export_scope="s")
    assert message.full_name == "v" and list(message.var_offset) == [3, 0] and infos[1].to_proto("other") is None
    back = SaveSliceInfo(save_slice_info_def=message, import_scope="s")
    assert back.spec == infos[1].spec and back.full_name == "s/v"
    assert list(list(v)[1].to_proto().save_slice_info_def.var_shape) == [2, 2]


def test_one_part_is_the_whole(graph):
    v = v1.get_variable("v", [4], initializer=ZEROS, partitioner=v1.fixed_size_partitioner(1))
    assert [p.name for p in v] == ["v/part_0:0"] and v.as_tensor().name == "v:0"


@pytest.mark.parametrize(
    "arguments, kind, words",
    [
        ({"variable_list": 3}, TypeError, "variable_list is not a list"),
        ({"partitions": 3}, TypeError, "partitions is not a list"),
        ({"partitions": [0, 1]}, ValueError, "must be positive"),
        ({"variable_list": []}, ValueError, "may not be empty"),
        ({"partitions": [2]}, ValueError, r"len\(shape\) != len\(partitions\)"),
        ({"shape": [9, 9]}, ValueError, "full shapes must match"),
    ],
)
def test_parts_that_do_not_make_a_whole(graph, arguments, kind, words):
    v = v1.get_variable("v", [4, 2], initializer=ZEROS, partitioner=v1.fixed_size_partitioner(2))
    usual = {"name": "v", "shape": [4, 2], "dtype": tf.float32, "variable_list": list(v), "partitions": [2, 1]}
    with pytest.raises(kind, match=words):
        PartitionedVariable(**{**usual, **arguments})
    with pytest.raises(ValueError, match="save_slice_info"):
        PartitionedVariable(**{**usual, "variable_list": [tf.Variable([[1.0]])]})


def test_the_last_offset_decides_the_order(graph):
    v = v1.get_variable("v", [4], initializer=ZEROS, partitioner=v1.fixed_size_partitioner(2))
    turned = PartitionedVariable("v", [4], tf.float32, list(v)[::-1], [2])
    assert [p.name for p in turned] == ["v/part_0:0", "v/part_1:0"]


def test_eager_parts():
    v = v1.get_variable("v", [4, 2], initializer=v1.ones_initializer(), partitioner=v1.fixed_size_partitioner(2))
    v.assign_add(np.ones((4, 2), np.float32))
    assert v.as_tensor().numpy().tolist() == [[2.0, 2.0]] * 4
