"""TensorFlow's inner paths with a little code of their own: device_lib, timeline, generated functions."""

import importlib
import json

import pytest

import ebbflow as tf
from ebbflow import messages
from ebbflow.api import device_lib, libraries
from ebbflow.runtime import timeline


def test_devices_as_messages():
    first = device_lib.list_local_devices()[0]
    assert isinstance(first, messages.DeviceAttributes)
    assert (first.name, first.device_type) == ("/device:CPU:0", "CPU")


def test_timeline():
    stats = messages.StepStats()
    device = stats.dev_stats.add(device="/device:CPU:0")
    for name, start, length in (("a", 100, 50), ("b", 120, 10), ("c", 160, 5)):
        device.node_stats.add(
            node_name=name, all_start_micros=start, all_end_rel_micros=length, timeline_label=f"{name} = Add(x, y)"
        )
    events = json.loads(timeline.Timeline(stats).generate_chrome_trace_format())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert [(e["args"]["name"], e["ts"], e["dur"], e["tid"]) for e in spans] == [
        ("a", 100, 50, 0),
        ("b", 120, 10, 1),
        ("c", 160, 5, 0),
    ]
    assert spans[0]["name"] == "Add" and spans[0]["args"]["input1"] == "y"


def test_compiled_ops_are_refused(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="cannot open shared object file"):
        libraries.load_op_library(str(tmp_path / "no.so"))
    (tmp_path / "op.so").write_bytes(b"")
    with pytest.raises(tf.errors.UnimplementedError, match="write the op in Python"):
        libraries.load_op_library(str(tmp_path / "op.so"))


GENERATED = [
    (lambda g: g.gen_array_ops.fill([2], 7), [7, 7]),
    (lambda g: g.gen_nn_ops.relu_grad([5.0, 5.0], [-1.0, 1.0]), [0.0, 5.0]),
    (lambda g: g.gen_nn_ops._relu_grad(gradients=[5.0, 5.0], features=[-1.0, 1.0]), [0.0, 5.0]),
    (lambda g: g.gen_math_ops._sum([[1, 2], [3, 4]], 0, keep_dims=True), [[4, 6]]),
    (lambda g: g.gen_math_ops._sum([[1, 2], [3, 4]], axis=1), [3, 7]),
]


@pytest.mark.parametrize("call, expected", GENERATED)
def test_ops_as_generated_functions(call, expected):
    assert call(importlib.import_module("ebbflow.python.ops")).numpy().tolist() == expected


def test_a_generated_function_that_is_missing():
    module = importlib.import_module("ebbflow.python.training.training_ops")
    assert "resource_apply_adam" in dir(module) and callable(module.apply_adam)
    with pytest.raises(AttributeError, match="did you mean relu_grad"):
        _ = module.relu_gard
    with pytest.raises(AttributeError):
        _ = module.__wrapped__


def test_shared_resources(tmp_path):
    resources = importlib.import_module("ebbflow.python.ops.resources")
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        assert session.run(resources.report_uninitialized_resources()).tolist() == []
        session.run(resources.initialize_resources(resources.shared_resources()))
        variable = tf.Variable(1.0, name="thing")
        resources.register_resource(variable.handle, variable.initializer, variable.is_initialized())
        missing = resources.report_uninitialized_resources()
        assert session.run(missing).tolist() == [variable.handle.name.encode()]
        session.run(resources.initialize_resources(resources.shared_resources()))
        assert session.run(missing).tolist() == [] and resources.local_resources() == []
        for as_text in (True, False):
            path = tf.io.write_graph(graph, tmp_path / "deep", "graph", as_text)
            with open(path, "rb") as file:
                assert (b'name: "thing"' in file.read()) == as_text


def test_interfaces_by_name():
    ops = importlib.import_module("ebbflow.python.framework.op_def_registry")
    assert [arg.name for arg in ops.get("MatMul").input_arg] == ["a", "b"]
    assert ops.get("NoSuchOp") is None and "MatMul" in ops.get_registered_ops()


SPECS = [
    (lambda: [1.0, 2.0], "TensorSpec(shape=(2,), dtype=tf.float32, name=None)"),
    (lambda: "a", "TensorSpec(shape=(), dtype=tf.string, name=None)"),
    (lambda: tf.sparse.from_dense([1, 0]), "SparseTensorSpec(TensorShape([2]), tf.int32)"),
]


@pytest.mark.parametrize("value, shown", SPECS)
def test_types_of_values(value, shown):
    assert repr(tf.type_spec_from_value(value())) == shown


def test_values_without_a_type():
    with pytest.raises(TypeError, match="Could not build a TypeSpec for"):
        tf.type_spec_from_value(object())


def test_how_ops_run():
    context = importlib.import_module("ebbflow.python.eager.context").context()
    assert context.executing_eagerly() and len(context.devices()) == len(context.list_logical_devices())
    with tf.Graph().as_default():
        assert not context.executing_eagerly()


@pytest.mark.parametrize(
    "path, public",
    [
        ("ops.gradient_checker_v2.compute_gradient", "test.compute_gradient"),
        ("ops.bincount_ops.bincount", "math.bincount"),
        ("ops.linalg.linalg.LinearOperatorDiag", "linalg.LinearOperatorDiag"),
        ("ops.ragged.ragged_factory_ops.constant", "ragged.constant"),
        ("ops.ragged.ragged_tensor.RaggedTensor", "RaggedTensor"),
        ("ops.array_ops.where", "compat.v1.where"),
        ("ops.array_ops.where_v2", "where"),
        ("data.ops.dataset_ops.Dataset", "data.Dataset"),
        ("framework.errors.OK", "errors.OK"),
    ],
)
def test_inner_modules_hold_the_public_objects(path, public):
    module, _, name = path.rpartition(".")
    value = tf
    for word in public.split("."):
        value = getattr(value, word)
    assert getattr(importlib.import_module(f"ebbflow.python.{module}"), name) is value


def test_inner_modules_without_public_names_can_be_imported():
    module = importlib.import_module("ebbflow.python.ops.sparse_grad")
    with pytest.raises(AttributeError, match=r"no attribute 'python\.ops\.sparse_grad\.gradient'"):
        _ = module.gradient
    with pytest.raises(ImportError):
        importlib.import_module("ebbflow.python.ops.no_such_grad")


def test_modules_that_took_over_generated_functions_have_them():
    math_ops = importlib.import_module("ebbflow.python.ops.math_ops")
    assert math_ops.mat_mul([[1.0]], [[2.0]]).numpy().tolist() == [[2.0]]
    assert "python" in dir(tf)


def test_an_inner_module_has_the_modules_it_imports():
    rnn = importlib.import_module("ebbflow.python.ops.rnn")
    assert rnn.array_ops is importlib.import_module("ebbflow.python.ops.array_ops")
    assert rnn.ops is importlib.import_module("ebbflow.python.framework.ops")
    with pytest.raises(AttributeError, match="nothing_ops"):
        _ = rnn.nothing_ops


def test_lists_of_tensors():
    lists = importlib.import_module("ebbflow.python.ops.list_ops")
    handle = lists.tensor_list_reserve([2, None], 2, tf.float32)
    handle = lists.tensor_list_set_item(handle, 1, [[1.0], [2.0]])
    assert lists.tensor_list_get_item(handle, 1, tf.float32).numpy().tolist() == [[1.0], [2.0]]
    assert lists.tensor_list_get_item(handle, 0, tf.float32, [2, 1]).numpy().tolist() == [[0.0], [0.0]]
    handle = lists.tensor_list_from_tensor([1.0, 2.0, 3.0], [])
    handle, last = lists.tensor_list_pop_back(handle, tf.float32)
    assert last.numpy() == 3.0 and lists.tensor_list_stack(handle, tf.float32).numpy().tolist() == [1.0, 2.0]
    parts = lists.tensor_list_split([1.0, 2.0, 3.0], [None], [1, 2])
    assert lists.tensor_list_concat(parts, tf.float32).numpy().tolist() == [1.0, 2.0, 3.0]
    assert lists.tensor_list_gather(lists.tensor_list_scatter([7.0, 8.0], [1, 0]), [0], tf.float32).numpy() == [8.0]
    assert lists.empty_tensor_list(None, tf.float32).dtype == tf.variant


def test_small_helpers():
    checker = importlib.import_module("ebbflow.python.ops.gradient_checker_v2")
    with tf.Graph().as_default(), tf.compat.v1.Session():
        slopes = checker.compute_gradient(lambda x: x * x, [tf.constant([1.0, 2.0], tf.float64)])
        assert checker.max_error(*slopes) < 1e-6 and slopes[0][0].tolist() == [[2.0, 0.0], [0.0, 4.0]]
    array_ops = importlib.import_module("ebbflow.python.ops.array_ops")
    assert array_ops.newaxis is None
    assert array_ops.batch_gather_nd([[1, 2], [3, 4]], [[1], [0]], 1).numpy().tolist() == [2, 3]
    math_ops = importlib.import_module("ebbflow.python.ops.math_ops")
    assert math_ops.tensor_equals(tf.constant(1), 1).numpy() and math_ops.tensor_not_equals(tf.constant(1), None)
    ragged = importlib.import_module("ebbflow.python.ops.ragged.ragged_concat_ops")
    assert ragged.concat([tf.ragged.constant([[1], []]), tf.ragged.constant([[2]])], 0).to_list() == [[1], [], [2]]


def test_what_changes_is_asked_for_anew():
    util = importlib.import_module("ebbflow.python.ops.control_flow_util")
    before = tf.compat.v1.control_flow_v2_enabled()
    try:
        tf.compat.v1.disable_control_flow_v2()
        assert util.ENABLE_CONTROL_FLOW_V2 is False
        tf.compat.v1.enable_control_flow_v2()
        assert util.ENABLE_CONTROL_FLOW_V2 is True
    finally:
        (tf.compat.v1.enable_control_flow_v2 if before else tf.compat.v1.disable_control_flow_v2)()


def test_packages_have_no_modules_of_others():
    assert not hasattr(importlib.import_module("ebbflow.python.ops"), "training")
    array_ops = importlib.import_module("ebbflow.python.ops.array_ops")
    assert array_ops.gen_array_ops.fill([1], 2).numpy().tolist() == [2]
    assert importlib.import_module("ebbflow.python.framework.random_seed").DEFAULT_GRAPH_SEED == 87654321


def test_batches_of_matrices():
    util = importlib.import_module("ebbflow.python.ops.linalg.linear_operator_util")
    solved = util.matrix_solve_with_broadcast([[2.0]], [[[4.0]], [[6.0]]])
    assert solved.numpy().tolist() == [[[2.0]], [[3.0]]]
    with pytest.raises(ValueError, match="at least two axes"):
        util.broadcast_matrix_batch_dims([[1.0], [[1.0]]])
    operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0]])
    assert (operator.range_dimension.value, operator.domain_dimension.value) == (1, 2)


def test_weights_that_do_not_spread():
    weights = importlib.import_module("ebbflow.python.ops.weights_broadcast_ops")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        given, values = tf.compat.v1.placeholder(tf.float32), tf.compat.v1.placeholder(tf.float32)
        check = weights.assert_broadcastable(given, values)
        session.run(check, {given: [[1.0]], values: [[1.0, 2.0]]})
        for wrong in ([1.0, 2.0, 3.0], [[1.0, 2.0, 3.0]]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
                session.run(check, {given: wrong, values: [[1.0, 2.0]]})


def test_ops_called_by_their_names():
    execute = importlib.import_module("ebbflow.python.eager.execute").execute
    (total,) = execute(b"Add", 1, [tf.constant(1), tf.constant(2)], ("T", tf.int32.as_datatype_enum))
    assert int(total) == 3
    assert [part.numpy().tolist() for part in execute("Split", 2, [0, [1, 2]], ("num_split", 2))] == [[1], [2]]
    with pytest.raises(tf.errors.NotFoundError, match="'NoSuchOp'"):
        execute("NoSuchOp", 1, [])


def test_the_context_is_there_after_it_was_dropped():
    module = importlib.import_module("ebbflow.python.eager.context")
    module._context = None
    assert module._context is module.context()


def test_calls_by_name_that_are_wrong():
    execute = importlib.import_module("ebbflow.python.eager.execute").execute
    assert int(execute("AddN", 1, [1, 2, 3])[0]) == 6
    for attrs, outputs in ((("num_split", "two"), 2), (("num_split", 2), 1)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            execute("Split", outputs, [0, [1, 2]], attrs)
    with pytest.raises(TypeError, match="number of outputs"):
        execute("Neg", "one", [1])
