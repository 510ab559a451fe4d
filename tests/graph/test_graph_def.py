"""Graphs as messages: the very ones TensorFlow writes, for nodes, function bodies, interfaces and collections."""

import pathlib

import ebbflow.functions.control_flow.cond
import ebbflow.ops.foundation
import ebbflow.runtime.handles  # noqa: F401  (declares ops)
from ebbflow import messages
from ebbflow.core import context, dtypes
from ebbflow.core.registry import registry
from ebbflow.functions.control_flow.cond import cond
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.graph.gradients import gradients
from ebbflow.graph.graph import Graph
from ebbflow.graph.graph_def import op_def
from ebbflow.graph.meta_graph import create_meta_graph_def
from ebbflow.graph.placeholders import placeholder
from ebbflow.io.events import read_events
from ebbflow.messages.tensors import make_ndarray
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.summary import ops as summary

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "tf221"


def recorded_events():
    path = next((GOLDEN / "events" / "tf1").iterdir())
    return {event.WhichOneof("what"): event for event in read_events(path)}


def same_graph_as(message):
    """The graph of the recorded message, built again; the numbers of its constant are taken from there."""
    weights = next(node for node in message.node if node.name == "Const").attr["value"].tensor
    with Graph().as_default() as graph:
        summary.scalar("loss", placeholder(dtypes.float32, [], name="a"))
        summary.histogram("h", constant(make_ndarray(weights)))
        summary.merge_all()
    return graph


def test_the_very_messages_of_tensorflow():
    events = recorded_events()
    recorded = messages.GraphDef.FromString(events["graph_def"].graph_def)
    given = same_graph_as(recorded)
    assert given.as_graph_def(add_shapes=True) == recorded
    meta = messages.MetaGraphDef.FromString(events["meta_graph_def"].meta_graph_def)
    ours = create_meta_graph_def(graph=given)
    assert ours.graph_def == meta.graph_def and ours.collection_def == meta.collection_def
    interfaces = zip(ours.meta_info_def.stripped_op_list.op, meta.meta_info_def.stripped_op_list.op, strict=True)
    assert all(comparable(one) == comparable(other) for one, other in interfaces)


def recorded_interfaces():
    found = {}
    for path in sorted(GOLDEN.glob("**/*.meta")):
        found.update(_interfaces(messages.MetaGraphDef.FromString(path.read_bytes())))
    for path in sorted(GOLDEN.glob("*/saved_model.pb")):
        for meta in messages.SavedModel.FromString(path.read_bytes()).meta_graphs:
            found.update(_interfaces(meta))
    found.update(_interfaces(messages.MetaGraphDef.FromString(recorded_events()["meta_graph_def"].meta_graph_def)))
    return {name: op for name, op in found.items() if name in registry.names()}


def _interfaces(meta):
    return {op.name: op for op in meta.meta_info_def.stripped_op_list.op}


def comparable(op):
    """An OpDef without the order of allowed types, and without the types of types that only compilers read."""
    op = messages.OpDef.FromString(op.SerializeToString())
    for attr in op.attr:
        allowed = sorted(attr.allowed_values.list.type)
        del attr.allowed_values.list.type[:]
        attr.allowed_values.list.type.extend(allowed)
    for arg in (*op.input_arg, *op.output_arg):
        arg.ClearField("experimental_full_type")
    return op


def test_interfaces():
    recorded = recorded_interfaces()
    assert len(recorded) > 50
    for name, op in recorded.items():
        assert comparable(op_def(registry[name])) == comparable(op), name


def test_defaults_of_every_kind():
    image = op_def(registry["ImageSummary"])
    color = next(attr for attr in image.attr if attr.name == "bad_color").default_value.tensor
    assert list(color.int_val) == [255, 0, 0, 255]
    assert op_def(registry["AudioSummary"]).deprecation.version == 15
    assert op_def(registry["PyFunc"]).is_stateful


def test_every_declared_op_has_an_interface():
    for name, op in registry.declare_all().items():
        assert op_def(op).name == name


def test_attrs_younger_than_tf_1_are_left_out_in_its_manners(monkeypatch):
    with Graph().as_default():
        x = placeholder(dtypes.float32, [1, 4, 4, 1], name="x")
        plain = raw.MaxPool(x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID").op
        padded = raw.MaxPool(
            x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 1, 1, 0, 0]
        ).op
        halves = constant([1.0, 2.0], dtypes.float16).op
    assert "explicit_paddings" in plain.node_def.attr and halves.node_def.attr["value"].tensor.tensor_content
    monkeypatch.setattr(context.switches, "v2_behavior", False)
    assert "explicit_paddings" not in plain.node_def.attr and "ksize" in plain.node_def.attr
    assert "explicit_paddings" in padded.node_def.attr, "what says something stays"
    assert list(halves.node_def.attr["value"].tensor.half_val) == [0x3C00, 0x4000]


# --- function bodies --------------------------------------------------------------------------------------------------


def branching():
    with Graph().as_default() as graph:
        x = placeholder(dtypes.float32, [], name="x")

        def inner():
            return cond(x > 5.0, lambda: x * x * x, lambda: x * 2.0)

        y = cond(x > 0.0, inner, lambda: x + 1.0)
        gradients(y, x)
    return graph.as_graph_def()


def test_bodies_are_in_the_library_once_each():
    message = branching()
    bodies = {function.signature.name: function for function in message.library.function}
    assert len(bodies) == len(message.library.function) and message.versions.min_consumer == 12
    called = [node for node in message.node if node.op == "StatelessIf"]
    for function in bodies.values():
        called += [node for node in function.node_def if node.op == "StatelessIf"]
    names = [node.attr[which].func.name for node in called for which in ("then_branch", "else_branch")]
    assert sorted(names) == sorted(bodies)


def test_edges_in_bodies_name_outputs():
    for function in branching().library.function:
        arguments = {arg.name for arg in function.signature.input_arg}
        nodes = {node.name: registry[node.op] for node in function.node_def}
        edges = [edge for node in function.node_def for edge in node.input] + list(function.ret.values())
        for edge in edges:
            name, *rest = edge.split(":")
            if not rest:
                assert edge in arguments
            else:
                assert rest[0] in [arg.name for arg in nodes[name].signature.outputs] and rest[1].isdigit()
        assert set(function.ret) == {arg.name for arg in function.signature.output_arg}
        assert not arguments & set(nodes)


def test_side_effects_in_bodies_are_named():
    def checked():
        Assert(x < 10.0, [x])
        return x

    graph = FuncGraph("f")  # a function does all that has effects, a session's graph what is asked for
    with context.scope(graph):
        x = placeholder(dtypes.float32, [], name="x")
        cond(x > 0.0, checked, lambda: x)
    stateful = [f for f in graph.as_graph_def().library.function if f.signature.is_stateful]
    assert len(stateful) == 1
    (node,) = [node.name for node in stateful[0].node_def if node.op == "Assert"]
    assert list(stateful[0].signature.control_output) == [node] and dict(stateful[0].control_ret) == {node: node}


def test_one_node_by_itself():
    with Graph().as_default():
        x = placeholder(dtypes.float32, [], name="x")
        y = cond(x > 0.0, lambda: x, lambda: constant(1.0))
        assert y.op.inputs[0].op.node_def.attr["then_branch"].func.name
