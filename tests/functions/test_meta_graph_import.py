"""MetaGraphDefs: graphs with their collections, whole or by scope, written and read."""

import numpy as np
import pytest

import ebbflow.v1 as tf
from ebbflow import messages
from ebbflow.functions.meta_graph_import import copy_scoped_meta_graph, import_scoped_meta_graph
from ebbflow.graph.meta_graph import export_scoped_meta_graph, read_meta_graph_file
from ebbflow.graph.proto_functions import register_proto_function


def layer(x, name, use_resource=True):
    with tf.variable_scope(name, use_resource=use_resource):
        w = tf.get_variable("w", [3, 3], initializer=tf.ones_initializer())
        return tf.nn.relu(tf.matmul(x, w), name="out")


def model(use_resource=True):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        y = layer(layer(x, "first", use_resource), "second", use_resource)
        tf.add_to_collection("ends", y)
        tf.add_to_collection("numbers", 3)
        tf.add_to_collection("words", "hello")
        tf.add_to_collection("parts", 0.5)
    return graph


def value(graph, fetch, feed, **fed):
    with tf.Session(graph=graph) as session, graph.as_default():
        session.run(tf.global_variables_initializer())
        return session.run(fetch, {feed: np.ones((2, 3), np.float32)})


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize("as_text", [True, False])
def test_there_and_back(tmp_path, use_resource, as_text):
    path = tmp_path / "model.meta"
    export_scoped_meta_graph(str(path), graph=model(use_resource), as_text=as_text)
    graph = tf.Graph()
    with graph.as_default():
        variables = import_scoped_meta_graph(str(path))
        assert sorted(variables) == ["first/w:0", "second/w:0"]
        assert [v.name for v in tf.trainable_variables()] == ["first/w:0", "second/w:0"]
        assert tf.trainable_variables()[0] is tf.global_variables()[0]
        assert tf.get_collection("numbers") == [3] and tf.get_collection("words") == [b"hello"]
        assert tf.get_collection("parts") == [0.5]
        (end,) = tf.get_collection("ends")
        slope = tf.gradients(end, tf.trainable_variables())
        assert slope[0].shape == (3, 3)
    np.testing.assert_array_equal(value(graph, end, "x:0"), np.full((2, 3), 9.0))


def test_what_is_written_again_is_the_same():
    first, _ = export_scoped_meta_graph(graph=model())
    with tf.Graph().as_default() as graph:
        import_scoped_meta_graph(first)
    second, _ = export_scoped_meta_graph(graph=graph)
    assert messages.to_text(second) == messages.to_text(first)


def test_a_scope_is_taken_elsewhere():
    meta, variables = export_scoped_meta_graph(graph=model(), export_scope="second")
    assert sorted(variables) == ["w:0"]
    assert all(not node.name.startswith("second") for node in meta.graph_def.node)
    graph = tf.Graph()
    with graph.as_default():
        tf.placeholder(tf.float32, [None, 3], name="given")
        with pytest.raises(ValueError, match=r"unbound inputs: .unbound_inputs_first/out"):
            import_scoped_meta_graph(meta, import_scope="new")
        given = {"$unbound_inputs_first/out": graph.get_tensor_by_name("given:0")}
        new = import_scoped_meta_graph(meta, import_scope="new", input_map=given)
        assert sorted(new) == ["w:0"] and new["w:0"].name == "new/w:0"
    np.testing.assert_array_equal(value(graph, "new/out:0", "given:0"), np.full((2, 3), 3.0))


def test_scopes_are_copied():
    graph = tf.Graph()
    with graph.as_default():
        with tf.name_scope("a"):
            tf.Variable(2.0, name="v")
        copied = copy_scoped_meta_graph("a", "b")
        assert [v.name for v in copied.values()] == ["b/v:0"]
        with pytest.raises(ValueError, match="need to be different"):
            copy_scoped_meta_graph("a", "a")


def test_defaults_can_be_left_out():
    meta, _ = export_scoped_meta_graph(graph=model(), strip_default_attrs=True)
    node = next(n for n in meta.graph_def.node if n.op == "MatMul")
    assert sorted(k for k in node.attr if not k.startswith("_")) == ["T"]
    assert meta.meta_info_def.stripped_default_attrs
    with tf.Graph().as_default() as graph:
        import_scoped_meta_graph(meta)
    again = next(op for op in graph.get_operations() if op.type == "MatMul")
    assert again.get_attr("transpose_a") is False


def test_devices_can_be_forgotten():
    with tf.Graph().as_default() as graph, tf.device("/job:ps/cpu:0"):
        tf.constant(1.0, name="c")
    meta, _ = export_scoped_meta_graph(graph=graph)
    assert meta.graph_def.node[0].device
    assert not export_scoped_meta_graph(graph=graph, clear_devices=True)[0].graph_def.node[0].device
    with tf.Graph().as_default() as other:
        import_scoped_meta_graph(meta, clear_devices=True)
    assert other.get_operation_by_name("c").device == ""


def test_some_collections_only():
    meta, _ = export_scoped_meta_graph(graph=model())
    with tf.Graph().as_default():
        import_scoped_meta_graph(meta, restore_collections_predicate=lambda key: key == "numbers")
        assert tf.get_collection("numbers") == [3]
        assert tf.global_variables() == []


def test_the_interfaces_of_ops_go_along():
    meta, _ = export_scoped_meta_graph(graph=model())
    listed = {op.name for op in meta.meta_info_def.stripped_op_list.op}
    assert listed == {node.op for node in meta.graph_def.node}


def test_what_has_no_form_is_left_out():
    with tf.Graph().as_default() as graph:
        tf.add_to_collection("odd", object())
    meta, _ = export_scoped_meta_graph(graph=graph)
    assert "odd" not in meta.collection_def


def test_own_messages():
    class Named:
        def __init__(self, name):
            self.name = name

    register_proto_function(
        "tests_own",
        proto_type=messages.NodeDef,
        to_proto=lambda item, export_scope=None: messages.NodeDef(name=item.name),
        from_proto=lambda proto, import_scope=None: Named(proto.name),
    )
    with pytest.raises(KeyError, match="two proto_functions"):
        register_proto_function("tests_own")
    with tf.Graph().as_default() as graph:
        tf.add_to_collection("tests_own", Named("me"))
    meta, _ = export_scoped_meta_graph(graph=graph)
    meta.collection_def["tests_own"].bytes_list.value.append(b"\xff\xff")
    with tf.Graph().as_default(), pytest.raises(tf.errors.DataLossError, match="collection 'tests_own'"):
        import_scoped_meta_graph(meta)
    del meta.collection_def["tests_own"].bytes_list.value[1]
    with tf.Graph().as_default():
        import_scoped_meta_graph(meta)
        assert [item.name for item in tf.get_collection("tests_own")] == ["me"]


def test_files_that_are_none(tmp_path):
    with pytest.raises(OSError, match="does not exist"):
        read_meta_graph_file(tmp_path / "nowhere.meta")
    (tmp_path / "bad.meta").write_bytes(b"\xff\x00 no message")
    with pytest.raises(OSError, match="Cannot parse file"):
        read_meta_graph_file(tmp_path / "bad.meta")
