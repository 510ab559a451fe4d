"""Graphs: names, scopes, look-ups, collections, control dependencies, errors while building."""

from __future__ import annotations

import threading

import pytest

import ebbflow as tf
from ebbflow.api.adapters import constant_value_as_shape, try_evaluate_constant
from ebbflow.platform.early_eager import graph_mode

v1 = tf.compat.v1


def names(graph):
    return [op.name for op in graph.get_operations()]


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_names_are_made_unique(graph):
    for _ in range(3):
        tf.constant(1.0, name="c")
    tf.constant(1.0, name="C")
    tf.constant(1.0, name="c_1")
    assert names(graph) == ["c", "c_1", "c_2", "C_3", "c_1_1"]


def test_name_scopes(graph):
    with tf.name_scope("a") as scope:
        assert scope == "a/"
        tf.constant(1.0, name="x")
        with tf.name_scope("b"):
            tf.constant(1.0, name="x")
        with tf.name_scope("b"):
            tf.constant(1.0, name="x")
    with tf.name_scope("a"):
        tf.constant(1.0, name="x")
    with tf.name_scope(scope):
        tf.constant(1.0, name="y")
    assert names(graph) == ["a/x", "a/b/x", "a/b_1/x", "a_1/x", "a/y"]


# what, error, words
LOOKUPS = [
    (lambda g: g.get_tensor_by_name("x"), ValueError, "refers to an Operation, not a Tensor"),
    (lambda g: g.get_tensor_by_name("x:3"), KeyError, "only has 1 outputs"),
    (lambda g: g.get_tensor_by_name("y:0"), KeyError, "does not exist in the graph"),
    (lambda g: g.get_tensor_by_name("x:a"), ValueError, "not a valid one"),
    (lambda g: g.get_operation_by_name("x:0"), ValueError, "appears to refer to a Tensor"),
    (lambda g: g.get_operation_by_name("nope"), KeyError, "not in the graph"),
    (lambda g: g.get_operation_by_name(3), TypeError, "strings"),
    (lambda g: g.as_graph_element(3.0), TypeError, "Can not convert a float"),
    (lambda g: g.as_graph_element(tf.Graph().unique_name), TypeError, "Can not convert"),
    (lambda g: tf.constant(1.0, name="bad name"), ValueError, "valid"),
    (lambda g: g.name_scope("*").__enter__(), ValueError, "not a valid scope name"),
    (lambda g: g.device("/nope:wrong").__enter__(), ValueError, "nope"),
]


@pytest.mark.parametrize(("what", "error", "words"), LOOKUPS)
def test_refusals(graph, what, error, words):
    tf.constant(1.0, name="x")
    with pytest.raises(error, match=words):
        what(graph)


def test_look_ups(graph):
    x = tf.constant(1.0, name="x")
    assert graph.get_tensor_by_name("x:0") is x
    assert graph.get_operation_by_name("x") is x.op
    assert graph.as_graph_element("x") is x.op and graph.as_graph_element(x) is x
    assert x.op.outputs == [x] and x.op.type == "Const" and x.op.graph is graph


def test_consumers_and_inputs(graph):
    x = tf.constant(1.0)
    y = x + x
    assert x.consumers() == [y.op, y.op] and y.op.inputs == (x, x)


def test_control_dependencies(graph):
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    with tf.control_dependencies([a, b.op]):
        c = tf.identity(a, name="c")
        with tf.control_dependencies([c]):
            d = tf.constant(3.0, name="d")
        with tf.control_dependencies(None):
            e = tf.constant(3.0, name="e")
    assert [[n.name for n in t.op.control_inputs] for t in (c, d, e)] == [["b"], ["a", "b", "c"], []] or (
        [n.name for n in c.op.control_inputs],
        [n.name for n in d.op.control_inputs],
        [n.name for n in e.op.control_inputs],
    ) == (["b"], ["c"], [])


def test_control_inputs_come_in_whatever_can_be_gone_over(graph):
    named = {"a": tf.constant(1.0, name="a"), "b": tf.constant(2.0, name="b")}
    for given in ((t for t in named.values()), named.values(), frozenset(named.values())):
        with tf.control_dependencies(given):
            assert {n.name for n in tf.constant(3.0).op.control_inputs} == {"a", "b"}


def test_devices(graph):
    with tf.device("/job:worker/task:1"):
        with tf.device("/cpu:0"):
            a = tf.constant(1.0)
        with tf.device(None):
            b = tf.constant(1.0)
    with graph.device(lambda node: "/gpu:0" if node.type == "Const" else None):
        c = tf.constant(1.0)
    assert a.device == "/job:worker/task:1/device:CPU:0" and b.device == "" and c.device in ("/gpu:0", "/device:GPU:0")


def test_colocation(graph):
    a = tf.constant(1.0, name="a")
    with graph.colocate_with(a.op):
        b = tf.constant(1.0, name="b")
    assert b.op.get_attr("_class") == [b"loc:@a"]


def test_collections(graph):
    graph.add_to_collection("things", 1)
    graph.add_to_collections(["things", "others"], 2)
    assert graph.get_collection("things") == [1, 2] and graph.get_collection("nothing") == []
    graph.get_collection_ref("others").append(3)
    assert graph.get_collection("others") == [2, 3]
    x = tf.constant(1.0, name="scope/x")
    graph.add_to_collection("named", x)
    assert graph.get_collection("named", "scope") == [x] and graph.get_collection("named", "other") == []


def test_finalized(graph):
    graph.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.constant(1.0)


def test_static_shapes(graph):
    x = v1.placeholder(tf.float32, [None, 3])
    assert tf.matmul(x, tf.zeros([3, 5])).shape.as_list() == [None, 5]
    assert tf.reshape(x, [-1, 3, 1]).shape.as_list() == [None, 3, 1]
    assert tf.reshape(x, tf.stack([tf.shape(x)[0], 3])).shape.as_list() == [None, 3]
    assert tf.zeros(tf.shape(tf.zeros([2, 4]))).shape.as_list() == [2, 4]
    x.set_shape([7, None])
    assert x.shape.as_list() == [7, 3]
    with pytest.raises(ValueError, match="not compatible"):
        x.set_shape([8, 3])


# building, words: both a ValueError and an InvalidArgumentError
WRONG_SHAPES = [
    (lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([4, 5])), "3 and 4"),
    (lambda: tf.zeros([2, 3]) + tf.zeros([2, 4]), "3 and 4|Incompatible shapes"),
    (lambda: tf.concat([tf.zeros([2, 3]), tf.zeros([3, 4])], 0), "3"),
    (lambda: tf.reshape(tf.zeros([6]), [4, 2]), "6"),
    (lambda: tf.transpose(tf.zeros([2, 3]), [0, 1, 2]), "3"),
]


@pytest.mark.parametrize(("make", "words"), WRONG_SHAPES)
def test_wrong_shapes_are_refused_when_the_graph_is_built(graph, make, words):
    with pytest.raises(ValueError, match=words) as caught:
        make()
    assert isinstance(caught.value, tf.errors.InvalidArgumentError)


def test_symbolic_tensors_have_no_value(graph):
    x = v1.placeholder(tf.float32, [2])
    for use, error in ((bool, TypeError), (iter, TypeError), (len, TypeError), (float, TypeError)):
        with pytest.raises(error):
            use(x)
    with pytest.raises(NotImplementedError, match="numpy array"):
        __import__("numpy").asarray(x)


def test_a_node_knows_the_line_that_made_it(graph):
    x = tf.constant(1.0)
    assert x.op.line.file.endswith("test_graph.py") and x.op.line.function == "test_a_node_knows_the_line_that_made_it"


def test_ops_go_to_their_inputs_graph():
    with tf.Graph().as_default() as one:
        x = v1.placeholder(tf.float32, [])
    with tf.Graph().as_default() as other:
        y = x + 1.0
        assert y.graph is one and not other.get_operations()
        with pytest.raises(ValueError, match="graph"):
            tf.add(x, tf.constant(1.0))


def test_threads_have_their_own_scopes():
    graph = tf.Graph()
    ready, go = threading.Barrier(2), []

    def work(name):
        with graph.as_default(), tf.name_scope(name):
            ready.wait(10)
            for _ in range(50):
                go.append(tf.constant(1.0, name="x").op.name.split("/")[0] == name)

    threads = [threading.Thread(target=work, args=(n,)) for n in ("one", "two")]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(go) == 100 and all(go)


def test_graphs_inside_eager_and_back():
    assert tf.executing_eagerly()
    with tf.Graph().as_default():
        assert not tf.executing_eagerly()
        with tf.init_scope():
            assert not tf.executing_eagerly()
        assert tf.constant(1.0).graph is v1.get_default_graph()
    assert tf.constant(1.0).numpy() == 1.0


def test_a_symbolic_tensor_is_refused_where_ops_run():
    with tf.Graph().as_default():
        x = tf.constant(1.0)
    with pytest.raises(TypeError, match="symbolic"):
        x + 1.0


# ys of x, gradient at 3
GRADIENTS = [
    (lambda x: x * x, {}, 6.0),
    (lambda x: [x * x, 2.0 * x], {}, 8.0),
    (lambda x: x * x, {"grad_ys": [tf.constant(10.0)]}, 60.0),
    (lambda x: x * tf.identity(x, name="stop"), {"stop": "stop:0"}, 3.0),
    (lambda x: tf.constant(1.0), {"unconnected_gradients": tf.UnconnectedGradients.ZERO}, 0.0),
]


@pytest.mark.parametrize(("f", "options", "expected"), GRADIENTS)
def test_gradients(f, options, expected):
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [])
        options = dict(options)
        y = f(x)
        if "grad_ys" in options:
            options["grad_ys"] = [10.0]
        if "stop" in options:
            options["stop_gradients"] = [graph.get_tensor_by_name(options.pop("stop"))]
        (found,) = tf.gradients(y, [x], **options)
        assert v1.Session().run(found, {x: 3.0}) == expected


def test_gradients_of_the_unconnected_and_the_undifferentiable():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        assert tf.gradients(tf.constant(1.0), [x]) == [None]
        assert tf.gradients(tf.cast(x, tf.int32), [x]) == [None]
        with pytest.raises(TypeError, match="floating or complex"):
            tf.gradients(x > 0, [x])


def test_hessians():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2])
        (h,) = tf.hessians(tf.reduce_sum(x**3) + x[0] * x[1], [x])
        assert v1.Session().run(h, {x: [1.0, 2.0]}).tolist() == [[6.0, 1.0], [1.0, 12.0]]


def test_a_chain_of_ten_thousand_nodes():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        y = x
        for _ in range(10_000):
            y = y + x
        (g,) = tf.gradients(y, [x])
        assert v1.Session().run([y, g], {x: 1.0}) == [10_001.0, 10_001.0]


def test_nothing_is_beside_what_lives_outside_of_graphs():
    v = tf.Variable(1.0)

    @tf.function
    def step():
        with tf.compat.v1.colocate_with(v), tf.compat.v1.colocate_with(tf.executing_eagerly() or v):
            return v + 1.0

    assert float(step()) == 2.0


def test_the_device_asked_for_here(graph):
    class Asks:
        device = None

        def _set_device(self, device):
            self.device = device

    asks, nowhere = Asks(), Asks()
    graph._apply_device_functions(nowhere)
    with graph.device("/cpu:1"), graph.device("/job:worker"):
        graph._apply_device_functions(asks)
    assert (asks.device, nowhere.device) == ("/job:worker/device:CPU:1", None)


def test_a_block_that_builds_the_default_graph_goes_on_after_a_reset():
    with graph_mode():
        before = v1.get_default_graph()
        v1.reset_default_graph()
        v1.reset_default_graph()
        assert v1.get_default_graph() is not before and not tf.executing_eagerly()
    with graph_mode():  # of the graph that came in the place of another
        v1.reset_default_graph()
    with tf.Graph().as_default(), pytest.raises(AssertionError, match="clear nested graphs"):
        v1.reset_default_graph()


def test_values_that_follow_from_constants():
    with tf.Graph().as_default():
        x, a = v1.placeholder(tf.float32, [3]), tf.constant([1.0, 4.0])
        assert try_evaluate_constant(tf.sqrt(a) * 2).tolist() == [2, 4]
        assert try_evaluate_constant(tf.reduce_any(tf.equal(a, 4.0))) and try_evaluate_constant(tf.shape(x)[0] + 1) == 4
        unknown = [x, tf.sqrt(x), tf.random.uniform([2]), v1.get_variable("v", [], use_resource=True).read_value()]
        assert [try_evaluate_constant(t) for t in unknown] == [None] * 4
    with pytest.raises(AttributeError, match="graph is undefined"):
        try_evaluate_constant(tf.constant(1.0))


def test_sizes_that_a_vector_spells():
    with tf.Graph().as_default():
        parts = tf.concat([[1, 16], v1.placeholder(tf.int32, [1]), [48]], 0)
        assert constant_value_as_shape(parts).as_list() == [1, 16, None, 48]
        assert constant_value_as_shape(parts[-3::-1]).as_list() == [16, 1]
        assert constant_value_as_shape(tf.constant([3, -1])).as_list() == [3, None]
        assert constant_value_as_shape(v1.placeholder(tf.int32)).rank is None
        with pytest.raises(ValueError, match="it must be a vector of sizes"):
            constant_value_as_shape(tf.constant([[1], [2]]))
    assert constant_value_as_shape(tf.constant([3, -1])).as_list() == [3, None]


def test_values_known_in_part():
    with tf.Graph().as_default():
        pair = tf.stack([tf.constant([1, 2]), v1.placeholder(tf.int32, [2])])
        known = tf.get_static_value(pair, partial=True)
        assert known[0].tolist() == [1, 2] and known[1] is None and tf.get_static_value(pair) is None
        first, second = tf.unstack(pair)
        assert tf.get_static_value(first, partial=True).tolist() == [1, 2]
        assert tf.get_static_value(second, partial=True) is None
        halves = [tf.get_static_value(half, partial=True) for half in tf.split(pair, 2)]
        assert halves[0][0].tolist() == [1, 2] and halves[1] == [None]


def test_a_scope_of_values_from_two_graphs_is_refused():
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0)
    with tf.Graph().as_default():
        b = tf.constant(1.0)
        with (
            pytest.raises(ValueError, match="must be from the same graph"),
            tf.compat.v1.name_scope("s", values=[a, b]),
        ):
            pass
        with tf.compat.v1.name_scope("s", values=[a]):
            assert tf.compat.v1.get_default_graph() is graph


class Held:
    """Stands for a tensor, which is made when it is asked for."""

    def __init__(self, value):
        self.value = value


def test_what_stands_for_a_tensor_has_a_place():
    tf.register_tensor_conversion_function(Held, lambda held, *args, **kwargs: tf.convert_to_tensor(held.value))
    with tf.Graph().as_default() as graph:
        table = tf.ones([3, 2])
        with graph.colocate_with(Held(table)):
            beside = tf.constant(1)
        assert beside.op.colocation_groups() == table.op.colocation_groups()
        assert tf.nn.embedding_lookup(Held(table), [0, 2]).shape == [2, 2]
        refused = pytest.raises(TypeError, match="expected a node, tensor or variable of a graph, got <object")
        with refused, graph.colocate_with(object()):
            pass
