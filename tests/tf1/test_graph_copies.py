"""Parts of graphs copied, replaced and connected anew, as tf.contrib.graph_editor does it."""

import pytest

import ebbflow as tf
from ebbflow.tf1 import graph_copies, graph_views

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(*tensors):
    with v1.Session(graph=tensors[0].graph) as session:
        session.run(v1.global_variables_initializer())
        return [v.tolist() for v in session.run(list(tensors))]


def test_what_lies_between_is_copied(graph):
    a = tf.constant(1.0, name="a")
    b = v1.get_variable("b", initializer=2.0)
    side = b * 10.0
    c = tf.identity(a * 3.0 + side, name="c")
    new = graph_copies.graph_replace({"c": c, "side": side}, {a: tf.constant(5.0)}, dst_scope="again")
    assert new["c"].name == "again/c:0" and new["side"] is side
    assert value(c, new["c"]) == [23.0, 35.0]
    with pytest.raises(ValueError, match="Targets and replacements are not connected!"):
        graph_copies.graph_replace(a, {side: a})


def test_a_graph_is_copied_whole_with_its_loops_and_choices(graph):
    n = v1.placeholder(tf.int32, [], name="n")
    _, total = tf.while_loop(lambda i, s: i <= n, lambda i, s: (i + 1, s + i), [1, 0])
    chosen = v1.cond(n > 3, lambda: total, lambda: -total)
    with tf.control_dependencies([total.op]):
        last = tf.identity(chosen, name="last")
    v1.add_to_collection("results", last)
    other = tf.Graph()
    view, info = graph_copies.copy(graph, other, dst_scope="there")
    result, fed = info.transformed([last, n])
    assert result.name == "there/last:0" and info.original(result) is last and result.graph is other
    assert result.op.control_inputs == [info.transformed(total.op)] and len(view.ops) == len(graph.get_operations())
    assert other.get_collection("there/results") == [result]
    with v1.Session(graph=other) as session:
        assert session.run(result, {fed: 10}) == 55 and session.run(result, {fed: 2}) == -3


def test_a_part_in_another_graph_takes_placeholders(graph):
    x = tf.constant([1.0, 2.0], name="x")
    y = tf.exp(x, name="y") + 1.0
    view, _ = graph_copies.copy([y.op, y.op.inputs[0].op, y.op.inputs[1].op], tf.Graph())
    (entering,) = view.inputs
    assert entering.op.type == "Placeholder" and entering.name == "geph__x_0:0" and entering.shape == [2]
    with v1.Session(graph=view.graph) as session:
        assert session.run(view.outputs[0], {entering: [0.0, 0.0]}).tolist() == [2.0, 2.0]


def test_handlers_make_other_nodes(graph):
    y = tf.negative(tf.constant(2.0), name="y")
    transformer = graph_copies.Transformer()

    def doubled(info, op, inputs):
        node, outputs = graph_copies.copy_op_handler(info, op, inputs, nodedef_fn=mark)
        return node, [t * 2.0 for t in outputs] if op.type == "Neg" else outputs

    def mark(definition):
        definition.attr["_mark"].s = b"seen"
        return definition

    transformer.transform_op_handler = doubled
    _, info = transformer(graph, graph, "new")
    assert value(info.transformed(y)) == [-4.0] and info.transformed(y.op).get_attr("_mark") == b"seen"


def test_edges_are_laid_anew(graph):
    a, b = tf.constant(1.0), tf.constant(10.0)
    c, d = tf.negative(a), tf.negative(b)
    late = tf.constant(100.0)
    assert graph_copies.swap_ts([a], [b]) == 2 and value(c, d) == [-10.0, -1.0]
    e = c + 0.0
    assert graph_copies.reroute_ts(late, b, can_modify=c.op) == 1 and value(c, d, e) == [-100.0, -1.0, -100.0]
    with pytest.raises(ValueError, match="would depend on itself"):
        graph_copies.reroute_ts(e, late, can_modify=c.op)


def test_parts_are_chosen_by_name_and_by_edges(graph):
    with tf.name_scope("first"):
        a = tf.constant(1.0, name="a")
        b = tf.negative(a, name="b")
    c = tf.negative(b, name="c")
    names = lambda ops: [op.name for op in ops]
    assert names(graph_views.select_ops("^first/", graph=graph)) == ["first/a", "first/b"]
    assert names(graph_views.make_view_from_scope("first", graph).ops) == ["first/a", "first/b"]
    assert names(graph_views.get_forward_walk_ops(a.op, inclusive=False)) == ["first/b", "c"]
    assert names(graph_views.get_backward_walk_ops(c)) == ["c", "first/b", "first/a"]
    view = graph_views.make_view(b.op)
    assert (view.inputs, view.outputs, len(view)) == ([a], [b], 1) and view.consumers() == [c.op]
    with pytest.raises(ValueError, match="Use the keyword argument 'graph' to use regex"):
        graph_views.select_ops("a")
    graph_copies.add_control_inputs(c.op, a.op)
    assert c.op.control_inputs == [a.op]
    graph_copies.remove_control_inputs(c.op, a.op)
    with pytest.raises(ValueError, match="is not a control_input of c"):
        graph_copies.remove_control_inputs(c.op, a.op)
