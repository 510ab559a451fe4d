"""Nodes made by hand: the op by name, attrs as messages, inputs now or later."""

import copy
import gc
import weakref

import pytest

import ebbflow as tf
from ebbflow.graph.creation import set_shapes_for_outputs

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def values(*tensors):
    with v1.Session() as session:
        return [value.tolist() for value in session.run(list(tensors))]


def test_create_op_infers_what_its_inputs_tell(graph):
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    total = graph.create_op("Add", [a, b], [tf.float32], name="total")
    joined = graph.create_op("ConcatV2", [a, b, tf.constant(0)], [tf.float32])
    assert total.name == "total" and total.outputs[0].shape == [2]
    assert joined.outputs[0].shape == [4] and joined.get_attr("N") == 2
    assert values(total.outputs[0], joined.outputs[0]) == [[4.0, 6.0], [1.0, 2.0, 3.0, 4.0]]
    assert values(*v1.gradients(total.outputs[0], [a])) == [[1.0, 1.0]]


def test_create_op_takes_attrs_as_messages(graph):
    attrs = {"DstT": v1.AttrValue(type=tf.int32.as_datatype_enum), "_mark": v1.AttrValue(s=b"mine")}
    node = graph.create_op("Cast", [tf.constant([1.5])], [tf.int32], attrs=attrs, name="a/")
    assert node.name == "a" and node.get_attr("_mark") == b"mine"
    assert values(node.outputs[0]) == [[1]]


def test_create_op_says_what_is_wrong(graph):
    with pytest.raises(tf.errors.NotFoundError, match="Op type not registered 'Nonsense'"):
        graph.create_op("Nonsense", [], [])
    with pytest.raises(TypeError, match="Input #0 is not a tensor"):
        graph.create_op("Neg", [1.0], [tf.float32])
    with pytest.raises(ValueError, match="has 1 inputs, but Op<name=Add> takes 2"):
        graph.create_op("Add", [tf.constant(1.0)], [tf.float32])
    with pytest.raises(TypeError, match="not compatible with expected types"):
        graph.create_op("Neg", [tf.constant(1.0)], [tf.float32], input_types=[tf.int32])
    with pytest.raises(tf.errors.NotFoundError, match="calls 'f', which is no function"):
        attr = v1.AttrValue(func=v1.NameAttrList(name="f"))
        graph.create_op("PartitionedCall", [], [], attrs={"f": attr})
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        graph.create_op("NoOp", [], [])


def test_operation_from_its_node_def(graph):
    a = tf.constant([1.0, 2.0])
    b = tf.constant([3.0, 4.0])
    definition = copy.deepcopy((a + b).op.node_def)
    definition.name = "again"
    node = tf.Operation(definition, graph, [b, b], [tf.float32], [a.op])
    assert node.outputs[0].shape == [2] and node.control_inputs == [a.op]
    assert graph.get_operation_by_name("again") is node
    assert values(node.outputs[0]) == [[6.0, 8.0]]
    with pytest.raises(ValueError, match="Duplicate node name in graph: 'again'"):
        tf.Operation(definition, graph, [a, b])
    with pytest.raises(TypeError, match="needs to be a NodeDef"):
        tf.Operation("again", graph)
    with pytest.raises(TypeError, match="needs to be a Graph"):
        tf.Operation(definition, None)
    assert graph.unique_name("again") == "again_1"


def test_operation_that_is_given_its_inputs_later(graph):
    """As libraries of 2017 copy parts of graphs: the node first, then what it depends on."""
    old = tf.constant([1.0, 2.0]) * 2.0
    definition = copy.deepcopy(old.op.node_def)
    definition.name = "copied/mul"
    node = tf.Operation(definition, graph, [], old.op._output_types, [], [], None, old.op.op_def)
    assert node.outputs[0].shape.rank is None
    graph._add_op(node)
    late = tf.constant([5.0, 6.0, 7.0])
    node._add_input(late)
    node._add_input(late)
    set_shapes_for_outputs(node)
    assert node.outputs[0].shape == [3] and graph.get_operations()[-1] is node
    assert values(node.outputs[0], old) == [[25.0, 36.0, 49.0], [2.0, 4.0]]


def test_an_input_is_exchanged_only_for_one_that_fits():
    with tf.Graph().as_default():
        column, square = tf.zeros([3, 1]), tf.zeros([2, 2])
        total = column + tf.zeros([3, 1])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"incompatible shapes: \[2,2\] and \[3,1\]"):
            total.op._update_input(0, square)
        with pytest.raises(tf.errors.OutOfRangeError, match=r"Input index \[2\]"):
            total.op._update_input(2, column)
    with tf.Graph().as_default():
        elsewhere = tf.zeros([3, 1])
    with pytest.raises(ValueError, match="must be from the same graph"):
        total.op._update_input(0, elsewhere)
    assert total.op.inputs[0] is column


def test_the_first_lengths_that_clash_are_named():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be equal, but are 2 and 5 "):
        tf.zeros([1, 2, 3]) + tf.zeros([4, 5, 6])


def test_eagerly_what_must_come_first_is_called():
    calls = []
    with tf.control_dependencies([tf.constant(1.0), lambda: calls.append("first")]):
        pass
    assert calls == ["first"]


def test_ops_without_kernels_are_nodes_like_others():
    graph = tf.Graph()
    one = graph.create_op("FloatOutput", [], name="one")
    two = graph.create_op("FloatOutputStringOutput", [], name="two")
    made = graph.create_op("Foo2", [one.outputs[0], two.outputs[1], two.outputs[1]], name="made")
    assert [t.dtype for t in made.outputs] == [tf.float32, tf.int32]
    assert made.outputs[0].shape.rank is None
    node_def = tf.python.framework.ops._NodeDef("None", "op1")
    assert str(tf.Operation.from_node_def(node_def, graph).node_def) == str(node_def)
    for name in ("", "_x", "-x", "x:0"):
        with pytest.raises(ValueError, match="not a valid node name"):
            tf.Operation.from_node_def(tf.python.framework.ops._NodeDef("None", name), graph)


def test_attrs_may_be_set_as_messages():
    with tf.Graph().as_default():
        node = tf.python.framework.test_ops.int_attr().op
        node._set_attr("foo", tf.compat.v1.AttrValue(i=2))
        assert node.get_attr("foo") == 2


def test_sizes_that_are_computed_in_floats_are_known():
    """Half of a picture, as Keras 2's `CenterCrop` and `smart_resize` have it."""
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [8, 9, None])
        high, wide = tf.shape(x)[0], tf.shape(x)[1]
        for half, known in [
            (tf.cast(high / 2, tf.int32), 4),
            (tf.cast(tf.math.ceil(wide / 2), tf.int32), 5),
            (tf.cast(tf.math.floor(tf.cast(wide, tf.float32) / 2.0), tf.int32), 4),
            (tf.cast(tf.round(tf.cast(wide, tf.float32) * 0.6), tf.int32), 5),
        ]:
            assert tf.zeros([half, 2]).shape == [known, 2]
            assert tf.slice(x, [0, 0, 0], tf.stack([half, -1, -1])).shape.as_list() == [known, 9, None]


# --- attrs that were settled before -----------------------------------------------------------------------------------


def test_nodes_called_alike_share_their_attrs_and_no_others_do(graph):
    x, y = tf.zeros([2, 3]), tf.zeros([2, 3], tf.int32)
    sums = [
        tf.raw_ops.Sum(input=t, axis=tf.constant(0), keep_dims=keep) for t in (x, y) for keep in (True, False, True)
    ]
    attrs = [s.op._attrs for s in sums]
    assert attrs[0] is attrs[2] and attrs[3] is attrs[5]
    assert [(a["T"], a["keep_dims"]) for a in attrs[:4]] == [
        (tf.float32, True), (tf.float32, False), (tf.float32, True), (tf.int32, True),
    ]  # fmt: skip
    assert [tuple(s.shape) for s in sums[:2]] == [(1, 3), (3,)]


def test_an_attr_set_on_one_node_is_not_set_on_those_like_it(graph):
    x = tf.zeros([2, 3])
    one, other = (tf.raw_ops.MatMul(a=x, b=x, transpose_b=True).op for _ in range(2))
    one._set_attr("_mark", v1.AttrValue(i=3))
    assert one.get_attr("_mark") == 3 and "_mark" not in other._attrs


def test_lists_of_any_length_and_of_tensors_where_one_is_wanted(graph):
    x, n = tf.zeros([8]), tf.constant(2)
    for _ in range(2):  # the second time by what was remembered
        assert tf.reshape(x, tf.constant([2, 4])).shape == [2, 4]
        assert tf.reshape(x, [n, 4]).shape == [2, 4] and tf.reshape(x, [n, n, -1]).shape.rank == 3
        assert [tf.stack([x] * k).shape[0] for k in (1, 2, 17)] == [1, 2, 17]
        assert tf.concat([x, tf.ones([1])], 0).shape == [9]
        with pytest.raises(TypeError, match="Expected list"):
            tf.raw_ops.AddN(inputs=x)
        with pytest.raises((TypeError, ValueError)):
            tf.raw_ops.AddN(inputs=[x, tf.zeros([8], tf.int32)])


def test_no_function_is_kept_because_it_was_called(graph):
    x = tf.constant(1.0)
    body = weakref.ref(tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([])).graph)
    tf.function(lambda x: tf.cond(x > 0, lambda: x, lambda: -x))(x)
    gc.collect()
    assert body() is None
