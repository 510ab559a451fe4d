"""`import_graph_def`: graphs written by this library and read again give the same numbers; bad ones are refused."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from google.protobuf import text_format

import ebbflow as tf
from ebbflow import messages
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.functions.wrap_function import function_from_graph_def

v1 = tf.compat.v1


def doubled(x):
    return tf.function(lambda v: v * 2.0 + 1.0, autograph=False)(x)


PROGRAMS = {
    "plain": lambda x: tf.tanh(x) * 2.0,
    "several outputs": lambda x: tf.split(x, 2)[1],
    "list input": lambda x: tf.concat([x, x * x, [1.0]], 0),
    "string constant": lambda x: tf.strings.join([tf.constant("a"), tf.strings.as_string(tf.size(x))]),
    "cond": lambda x: tf.cond(x[0] > 0, lambda: x * 3.0, lambda: -x),
    "while": lambda x: tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), (0, x))[1],
    "cond in while": lambda x: tf.while_loop(
        lambda i, y: i < 4, lambda i, y: (i + 1, tf.cond(i % 2 > 0, lambda: y * x, lambda: y + 1.0)), (0, x)
    )[1],
    "switch_case": lambda x: tf.switch_case(tf.size(x) - 1, [lambda: x, lambda: x * 5.0, lambda: -x]),
    "function": doubled,
    "function twice": lambda x: doubled(doubled(x)),
    "map_fn": lambda x: tf.map_fn(lambda v: v * v, x),
    "gradient": lambda x: tf.gradients(tf.scan(lambda a, v: a * v + tf.sin(a), x), x)[0],
}
X = np.array([0.5, -1.5], np.float32)


def written(program):
    """Return the GraphDef of a program of one argument `x`, its result (named `y`) and the name of it."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name="x")
        y = tf.identity(program(x), name="y")
        with v1.Session() as session:
            value = session.run(y, {x: X})
    return graph.as_graph_def(), value


@pytest.mark.parametrize("name", PROGRAMS)
def test_written_and_read_again(name):
    graph_def, value = written(PROGRAMS[name])
    again = messages.GraphDef.FromString(graph_def.SerializeToString())
    with tf.Graph().as_default() as graph:
        x, y, node = import_graph_def(again, return_elements=["x:0", "y:0", "y"])
        assert (x.name, y.name, node.type) == ("import/x:0", "import/y:0", "Identity")
        with v1.Session() as session:
            for _ in range(2):  # the second time by a Program
                found = session.run(y, {x: X})
    np.testing.assert_array_equal(found, value)
    assert len(graph.as_graph_def().node) == len(graph_def.node)


@pytest.mark.parametrize("name", ["plain", "cond", "while", "function", "map_fn"])
def test_gradient_through_what_was_read(name):
    graph_def, _ = written(PROGRAMS[name])
    with tf.Graph().as_default(), v1.Session() as session:
        mine = v1.placeholder(tf.float32, [2])
        y = import_graph_def(graph_def, {"x": mine}, ["y:0"])[0]
        wanted = tf.gradients(PROGRAMS[name](mine), mine)[0]
        found, expected = session.run([tf.gradients(y, mine)[0], wanted], {mine: X})
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_names_and_places():
    graph_def, _ = written(lambda x: x * 2.0)
    graph_def.node[0].device = "/device:CPU:0"
    with tf.Graph().as_default() as graph:
        import_graph_def(graph_def, name="a")
        import_graph_def(graph_def, name="a")
        import_graph_def(graph_def, name="")
        assert import_graph_def(graph_def, name="") is None
        names = {op.name for op in graph.get_operations()}
        assert {"a/x", "a/y", "a_1/y", "x", "y", "x_1", "y_1"} <= names
        assert graph.get_operation_by_name("a/x").device == "/device:CPU:0"


def test_function_from_graph_def():
    graph_def, value = written(lambda x: tf.cond(x[0] > 0, lambda: x * 3.0, lambda: -x))
    f = function_from_graph_def(graph_def, "x:0", {"y": "y:0"})
    np.testing.assert_array_equal(f(tf.constant(X))["y"], value)


def test_a_long_chain():
    def chain(x):
        for _ in range(3000):
            x = x + 1.0
        return x

    graph_def, value = written(chain)
    with tf.Graph().as_default(), v1.Session() as session:
        x, y = import_graph_def(graph_def, return_elements=["x:0", "y:0"])
        np.testing.assert_array_equal(session.run(y, {x: X}), value)


def node(graph_def, name):
    return next(n for n in graph_def.node if n.name == name)


def unknown_op(graph_def):
    node(graph_def, "y").op = "NoSuchOp"


def unknown_input(graph_def):
    node(graph_def, "y").input[0] = "nowhere"


def missing_attr(graph_def):
    del node(graph_def, "x").attr["dtype"]


def wrong_kind(graph_def):
    node(graph_def, "y").attr["T"].i = 1


def wrong_type(graph_def):
    node(graph_def, "y").attr["T"].type = 3


def too_many_inputs(graph_def):
    node(graph_def, "y").input.append("x")


def twice_the_name(graph_def):
    node(graph_def, "y").name = "x"


def cycle(graph_def):
    node(graph_def, "mul").input[0] = "y"


def unknown_function(graph_def):
    call = graph_def.node.add(name="call", op="PartitionedCall")
    call.attr["Tin"].list.SetInParent()
    call.attr["Tout"].list.SetInParent()
    call.attr["f"].func.name = "nobody"


def not_allowed(graph_def):
    node(graph_def, "mul").attr["T"].type = 7  # strings are not multiplied


def too_many_outputs(graph_def):
    parts = graph_def.node.add(name="parts", op="Unpack", input=["x"])
    parts.attr["T"].type = 1
    parts.attr["num"].i = 1 << 50


def no_such_output(graph_def):
    node(graph_def, "y").input[0] = "mul:3"


def another_type_of_value(graph_def):
    next(n for n in graph_def.node if n.op == "Const").attr["dtype"].type = 3


BROKEN = [
    (
        no_such_output,
        ValueError,
        "Node 'import/y': Connecting to invalid output 3 of source node import/mul which has 1",
    ),
    (another_type_of_value, ValueError, "Type mismatch between value (float32) and dtype (int32)"),
    (not_allowed, ValueError, "has DataType string not in list of allowed values.*NodeDef: 'mul'"),
    (too_many_outputs, ValueError, "passed 1125899906842624, but an op has at most 1048576 outputs"),
    (unknown_op, tf.errors.NotFoundError, "Op type not registered 'NoSuchOp'"),
    (unknown_input, ValueError, "Node 'y': Unknown input node 'nowhere'"),
    (missing_attr, ValueError, "NodeDef missing attr 'dtype' from Op<name=Placeholder>"),
    (wrong_kind, ValueError, "value with type 'int' when 'type' expected; attr 'T' of node 'y'"),
    (wrong_type, ValueError, "Input 0 of node import/y was passed float from import/mul:0 incompatible"),
    (too_many_inputs, ValueError, "NodeDef expected inputs 'float' do not match 2 inputs specified"),
    (twice_the_name, ValueError, "Node 'x' is not unique"),
    (cycle, tf.errors.InvalidArgumentError, "contains a cycle"),
    (unknown_function, tf.errors.NotFoundError, "Function 'nobody' is not in the library"),
]


@pytest.mark.parametrize(("broken", "error", "says"), BROKEN, ids=[b.__name__ for b, *_ in BROKEN])
def test_a_broken_graph_is_refused(broken, error, says):
    graph_def, _ = written(lambda x: x * 2.0)
    broken(graph_def)
    with tf.Graph().as_default(), pytest.raises(error, match="(?s).*" + says.replace("(", r"\(").replace(")", r"\)")):
        import_graph_def(graph_def)


ASKED = [
    ({"input_map": {"z": 1.0}}, ValueError, r"Attempted to map inputs that were not found in graph_def: \[z:0\]"),
    ({"return_elements": ["z:0"]}, ValueError, "Requested return tensor 'z:0' not found in graph def"),
    ({"return_elements": [3]}, TypeError, "return_elements"),
    ({"input_map": {3: 1.0}}, TypeError, "input_map"),
]


@pytest.mark.parametrize(("asked", "error", "says"), ASKED)
def test_a_wrong_request_is_refused(asked, error, says):
    graph_def, _ = written(lambda x: x * 2.0)
    with tf.Graph().as_default(), pytest.raises(error, match=says):
        import_graph_def(graph_def, **asked)


def test_calls_with_a_gradient_that_only_the_writer_knew():
    called = tf.function(lambda x: x * x, autograph=False)
    graph_def, _ = written(lambda x: called(x))
    calls = [node for node in graph_def.node if node.op == "PartitionedCall"]
    calls[0].attr["_gradient_op_type"].s = b"PartitionedCall-2649"  # as TensorFlow 1.15 writes it
    with tf.Graph().as_default() as graph:
        import_graph_def(graph_def, name="")
        x = graph.get_tensor_by_name("x:0")
        grad = tf.gradients(graph.get_tensor_by_name(f"{calls[0].name}:0"), x)[0]
        value = np.ones(x.shape, x.dtype.as_numpy_dtype) * 3
        with tf.compat.v1.Session() as session:
            np.testing.assert_allclose(session.run(grad, {x: value}), value * 2)


def test_what_is_no_graph_def():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="must be a GraphDef proto, got dict"):
        import_graph_def({})


OLD_GRAPHS = pathlib.Path(__file__).parents[2] / "golden" / "old_models" / "graphs"


@pytest.mark.parametrize("again", [False, True], ids=["as TensorFlow 1.15 wrote it", "written again here"])
def test_a_training_step_through_a_loop_is_read(again):
    """Gradients of what enters a loop leave it behind another node (tools/graph_exchange.py wrote the file)."""
    expected = np.load(OLD_GRAPHS / "training.npz")
    meta = messages.MetaGraphDef.FromString((OLD_GRAPHS / "training.meta").read_bytes())
    if again:
        with tf.Graph().as_default():
            v1.train.import_meta_graph(meta)
            meta = v1.train.export_meta_graph()
        known = {node.name for node in meta.graph_def.node}
        places = [p.decode() for node in meta.graph_def.node for p in node.attr["_class"].list.s]
        assert {p.removeprefix("loc:@") for p in places} <= known
    with tf.Graph().as_default(), v1.Session() as session:
        v1.train.import_meta_graph(meta)
        session.run("start")
        for i, feed in enumerate(([0.1, 0.2, 0.3], [-0.1, -0.2, 0.1], [2.0, 3.0, -9.0])):
            np.testing.assert_allclose(session.run("out:0", {"x:0": feed}), expected[f"arr_{i}"], rtol=1e-5)


def changed_in_choice(x, v):
    return tf.cond(x[0] > 0, lambda: v1.assign_add(v, x), lambda: v1.assign(v, x * 3.0))


def changed_in_loop(x, v):
    def step(i):
        with tf.control_dependencies([changed_in_choice(x + tf.cast(i, tf.float32), v)]):
            return i + 1

    with tf.control_dependencies([v1.while_loop(lambda i: i < 3, step, [tf.constant(0)])]):
        return tf.identity(v.read_value())


@pytest.mark.parametrize("program", [changed_in_choice, changed_in_loop])
def test_bodies_that_change_reference_variables_are_written_low_level(program):
    """A function's argument cannot be a reference in TensorFlow; the node's name still gives the values."""
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], name="x")
        v = v1.get_variable("v", initializer=[1.0, 2.0], use_resource=False)
        tf.identity(program(x, v), name="out")
        v1.global_variables_initializer()
        session.run("init")
        expected = [session.run("out:0", {"x:0": feed}) for feed in (X, -X, X)]
    written = graph.as_graph_def()
    kinds = {node.op for node in written.node}
    assert {"RefSwitch", "Merge"} <= kinds and not kinds & {"If", "While"} and not written.library.function
    with tf.Graph().as_default(), v1.Session() as session:
        import_graph_def(written, name="")
        session.run("init")
        for feed, value in zip((X, -X, X), expected, strict=True):
            np.testing.assert_allclose(session.run("out:0", {"x:0": feed}), value)


def parsed(text):
    return messages.parse_text(text, messages.GraphDef)


def test_colocated_nodes_go_where_their_companions_are():
    graph_def = parsed("""
        node { name: 'A' op: 'None' }
        node { name: 'B' op: 'None' attr { key: '_class' value { list { s: 'loc:@A' } } } }
    """)
    with tf.Graph().as_default(), v1.device(lambda op: "/device:CPU:1" if op.name.endswith("A") else "/device:CPU:0"):
        a, b = import_graph_def(graph_def, return_elements=["A", "B"])
    assert (a.device, b.device) == ("/device:CPU:1", "/device:CPU:1")
    assert b.colocation_groups() == [b"loc:@import/A"]
    del graph_def.node[0]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Node 'B' expects to be colocated with unknown node"):
        import_graph_def(graph_def)


def test_scopes_leave_the_device_that_a_node_comes_with():
    graph_def = parsed("node { name: 'A' op: 'IntOutput' device: '/device:CPU:0' } node { name: 'B' op: 'IntOutput' }")
    with tf.Graph().as_default(), v1.device("/job:ps/device:CPU:3"):
        a, b = import_graph_def(graph_def, return_elements=["A", "B"])
    assert (a.device, b.device) == ("/job:ps/device:CPU:0", "/job:ps/device:CPU:3")


def test_a_name_that_only_an_empty_scope_has_is_free():
    graph_def = parsed("node { name: 'foo' op: 'IntOutput' }")
    with tf.Graph().as_default():
        with v1.name_scope("foo"):
            pass
        names = [import_graph_def(graph_def, return_elements=["foo"], name="")[0].name for _ in range(2)]
        with v1.name_scope("bar"):
            tf.constant(1)
        graph_def.node[0].name = "bar"
        names += [import_graph_def(graph_def, return_elements=["bar"], name="")[0].name]
    assert names == ["foo", "foo_1", "bar_1"]


def test_an_op_without_a_kernel_is_imported_and_refused_when_it_runs():
    with tf.Graph().as_default(), v1.Session() as session:
        (out,) = import_graph_def(parsed("node { name: 'A' op: 'IntOutput' }"), return_elements=["A:0"])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"No OpKernel was registered .* 'IntOutput'"):
            session.run(out)


def test_an_output_that_is_mapped_need_not_be_used():
    with tf.Graph().as_default():
        import_graph_def(parsed("node { name: 'A' op: 'IntOutput' }"), input_map={"A:0": tf.constant(1)})
        with pytest.raises(ValueError, match=r"Attempted to map inputs that were not found in graph_def: \[A:2\]"):
            import_graph_def(parsed("node { name: 'A' op: 'IntOutput' }"), input_map={"A:2": tf.constant(1)})


# --- functions that are ops -------------------------------------------------------------------------------------------

FUNCTIONS_OF_TF1 = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "one" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 } } } }
node { name: "y" op: "Outer" input: "x" }
node { name: "z" op: "Own" input: "x" }
node { name: "slope" op: "SymbolicGradient" input: "x" input: "one"
       attr { key: "Tin" value { list { type: DT_FLOAT type: DT_FLOAT } } }
       attr { key: "Tout" value { list { type: DT_FLOAT } } } attr { key: "f" value { func { name: "Outer" } } } }
node { name: "own_slope" op: "SymbolicGradient" input: "x" input: "one"
       attr { key: "Tin" value { list { type: DT_FLOAT type: DT_FLOAT } } }
       attr { key: "Tout" value { list { type: DT_FLOAT } } } attr { key: "f" value { func { name: "Own" } } } }
library {
  function { signature { name: "Inner" input_arg { name: "v" type: DT_FLOAT }
                         output_arg { name: "first" type: DT_FLOAT } output_arg { name: "second" type: DT_FLOAT } }
    node_def { name: "sq" op: "Square" input: "v" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "first" value: "v" } ret { key: "second" value: "sq:y:0" } }
  function { signature { name: "Outer" input_arg { name: "v" type: DT_FLOAT } output_arg { name: "o" type: DT_FLOAT } }
    node_def { name: "call" op: "Inner" input: "v" }
    node_def { name: "sum" op: "AddV2" input: "call:first:0" input: "call:second:0"
               attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "o" value: "sum:z:0" } }
  function { signature { name: "Own" input_arg { name: "v" type: DT_FLOAT } output_arg { name: "o" type: DT_FLOAT } }
    node_def { name: "neg" op: "Neg" input: "v" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "o" value: "neg:y:0" } }
  function { signature { name: "Slope" input_arg { name: "v" type: DT_FLOAT } input_arg { name: "d" type: DT_FLOAT }
                         output_arg { name: "o" type: DT_FLOAT } }
    node_def { name: "mul" op: "Mul" input: "v" input: "d" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "o" value: "mul:z:0" } }
  gradient { function_name: "Own" gradient_func: "Slope" }
}
"""


def test_functions_of_tf1_are_called_by_name_and_have_gradients_of_their_own():
    written = text_format.Parse(FUNCTIONS_OF_TF1, v1.GraphDef())
    for _ in range(2):  # as TensorFlow wrote it, and as it is written again
        with tf.Graph().as_default() as graph, v1.Session() as session:
            x, y, z, slope, own = tf.import_graph_def(
                written, return_elements=["x:0", "y:0", "z:0", "slope:0", "own_slope:0"], name=""
            )
            fetches = [y, z, slope, own, *tf.gradients(y, x), *tf.gradients(z, x)]
            assert session.run(fetches, {x: 3.0}) == [12.0, -3.0, 7.0, 3.0, 7.0, 3.0]
            written = graph.as_graph_def()
        assert {node.name: node.op for node in written.node}["z"] == "Own"
        assert ("Own", "Slope") in {(pair.function_name, pair.gradient_func) for pair in written.library.gradient}
    gone = text_format.Parse(FUNCTIONS_OF_TF1, v1.GraphDef())
    gone.library.gradient[0].gradient_func = "Nobody"
    with tf.Graph().as_default(), pytest.raises(tf.errors.NotFoundError, match="'Nobody' is not in the library"):
        tf.import_graph_def(gone)
