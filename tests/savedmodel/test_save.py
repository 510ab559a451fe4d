"""`tf.saved_model.save`: what is written loads again, here and (see tools/saved_model_exchange.py) in TensorFlow."""

import importlib.util
import pathlib

import numpy as np
import pytest

import ebbflow as tf
from ebbflow import messages
from ebbflow.savedmodel import flags, reading
from ebbflow.savedmodel.reading import parse_saved_model
from ebbflow.savedmodel.save import save_and_return_nodes

v1 = tf.compat.v1

TOOL = pathlib.Path(__file__).parent.parent.parent / "tools" / "saved_model_exchange.py"


def exchange():
    spec = importlib.util.spec_from_file_location("saved_model_exchange", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_exchanged_models_here_alone(tmp_path):
    tool = exchange()
    tool.write(tf, str(tmp_path))
    tool.read(tf, str(tmp_path), lite=False)


class Adder(tf.Module):
    def __init__(self):
        self.v = tf.Variable(2.0, name="v")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def add(self, x):
        return x + self.v


def back(obj, tmp_path, **arguments):
    tf.saved_model.save(obj, str(tmp_path / "m"), **arguments)
    return tf.saved_model.load(str(tmp_path / "m"))


def test_the_only_function_is_the_default_signature(tmp_path):
    loaded = back(Adder(), tmp_path)
    assert list(loaded.signatures) == ["serving_default"]
    assert loaded.signatures["serving_default"](x=tf.constant([1.0]))["output_0"].numpy().tolist() == [3.0]


def test_no_signatures_no_functions(tmp_path):
    root = tf.Module()
    root.v = tf.Variable([1.0, 2.0])
    root.parts = [tf.Variable(1), {"deep": tf.Variable("text")}]
    loaded = back(root, tmp_path)
    assert len(loaded.signatures) == 0
    assert loaded.parts[1]["deep"].numpy() == b"text"
    loaded.v.assign([5.0, 6.0])


@pytest.mark.parametrize(
    ("result", "names"),
    [
        (lambda x: x, ["output_0"]),
        (lambda x: (x, x + 1), ["output_0", "output_1"]),
        (lambda x: {"b": x, "a": x + 1}, ["a", "b"]),
    ],
)
def test_results_of_signatures(tmp_path, result, names):
    root = tf.Module()
    root.f = tf.function(result, input_signature=[tf.TensorSpec([], tf.float32, name="x")])
    loaded = back(root, tmp_path, signatures={"s": root.f})
    outputs = loaded.signatures["s"](x=tf.constant(1.0))
    assert sorted(outputs) == names
    if names == ["a", "b"]:
        assert float(outputs["a"]) == 2.0 and float(outputs["b"]) == 1.0


def test_shared_objects_stay_shared(tmp_path):
    root = tf.Module()
    root.first = root.second = tf.Variable(1.0)
    loaded = back(root, tmp_path)
    assert loaded.first is loaded.second


def test_structures_and_composites(tmp_path):
    root = tf.Module()

    @tf.function
    def f(a, b):
        return {"sum": a["x"] + a["y"][0], "rows": b.row_lengths(), "ragged": b}

    root.f = f
    ragged = tf.ragged.constant([[1, 2], [3]])
    given = {"x": tf.constant(1.0), "y": [tf.constant(2.0)]}
    f(given, ragged)
    loaded = back(root, tmp_path)
    result = loaded.f(given, ragged)
    assert float(result["sum"]) == 3.0 and result["rows"].numpy().tolist() == [2, 1]
    assert result["ragged"].to_list() == [[1, 2], [3]]


def test_trained_after_loading_and_saved_again(tmp_path):
    loaded = back(Adder(), tmp_path)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(loaded.add(tf.constant([1.0])) ** 2)
    loaded.v.assign_sub(tape.gradient(loss, loaded.v))
    tf.saved_model.save(loaded, str(tmp_path / "again"))
    assert float(tf.saved_model.load(str(tmp_path / "again")).v) == -4.0


def test_an_untracked_variable_is_refused(tmp_path):
    root = tf.Module()
    hidden = tf.Variable(1.0, name="hidden")
    root.f = tf.function(lambda x: x + hidden, input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(AssertionError, match=r"(?s)untracked.*hidden"):
        tf.saved_model.save(root, str(tmp_path / "m"))
    assert not (tmp_path / "m").exists()


def test_what_cannot_be_a_signature(tmp_path):
    root = tf.Module()
    root.f = tf.function(lambda x: [x, [x]], input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(ValueError, match="must be a single Tensor, a sequence of Tensors"):
        tf.saved_model.save(root, str(tmp_path / "m"), signatures=root.f)
    with pytest.raises(ValueError, match=r"Only `tf.functions` with an input signature"):
        tf.saved_model.save(root, str(tmp_path / "m"), signatures=lambda x: x)
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save(3, str(tmp_path / "m"))


def test_the_form_of_the_message(tmp_path):
    tf.saved_model.save(Adder(), str(tmp_path), options=tf.saved_model.SaveOptions(extra_tags=["mine"]))
    meta = reading.parse_saved_model(tmp_path).meta_graphs[0]
    assert list(meta.meta_info_def.tags) == ["serve", "mine"]
    assert meta.meta_info_def.stripped_default_attrs
    kinds = [node.WhichOneof("kind") for node in meta.object_graph_def.nodes]
    assert kinds == ["user_object", "variable", "function", "user_object", "bare_concrete_function"]
    assert meta.object_graph_def.nodes[3].user_object.identifier == "signature_map"
    assert meta.saver_def.restore_op_name == "save/restore_all"
    assert (tmp_path / "variables" / "variables.index").exists()
    saved = messages.SavedModel.FromString((tmp_path / "saved_model.pb").read_bytes())
    assert messages.serialize(saved) == (tmp_path / "saved_model.pb").read_bytes()


def test_options():
    policy = tf.saved_model.experimental.VariablePolicy
    assert policy.from_obj("SAVE_VARIABLE_DEVICES") is policy.SAVE_VARIABLE_DEVICES
    with pytest.raises(ValueError, match="invalid VariablePolicy"):
        tf.saved_model.SaveOptions(experimental_variable_policy="nonsense")
    with pytest.raises(TypeError, match="must be a list of strings"):
        tf.saved_model.SaveOptions(namespace_whitelist="text")


def test_a_function_of_a_session_is_no_place_to_save(tmp_path):
    @tf.function
    def f():
        tf.saved_model.save(Adder(), str(tmp_path))

    with pytest.raises(AssertionError, match="not supported inside a traced"):
        f()


def test_values_survive_exactly(tmp_path):
    root = tf.Module()
    kinds = [np.float16, np.float64, np.int8, np.uint16, np.complex64, np.bool_]
    root.all = [tf.Variable(np.array([0, 1, 1]).astype(kind)) for kind in kinds]
    root.bf = tf.Variable(tf.cast([1.5, -2.0], tf.bfloat16))
    loaded = back(root, tmp_path)
    for ours, theirs in zip(loaded.all, root.all, strict=True):
        assert ours.dtype == theirs.dtype and np.array_equal(ours.numpy(), theirs.numpy())
    assert loaded.bf.dtype == tf.bfloat16


def test_a_fingerprint_is_written_and_read(tmp_path):
    def saved(name, value):
        model = tf.Module()
        model.v = tf.Variable(value, name="v")
        model.f = tf.function(lambda x: x * model.v, input_signature=[tf.TensorSpec([], tf.float32, name="x")])
        tf.saved_model.save(model, str(tmp_path / name), signatures=model.f)
        return tf.saved_model.experimental.read_fingerprint(str(tmp_path / name))

    first, same, other = saved("a", 1.0), saved("b", 1.0), saved("c", 2.0)
    assert first.singleprint() == same.singleprint()
    assert first.checkpoint_hash != other.checkpoint_hash and first.signature_def_hash == other.signature_def_hash
    assert first.version.producer == 4 and first.singleprint().count("/") == 3
    with pytest.raises(FileNotFoundError, match="SavedModel Fingerprint Error"):
        tf.saved_model.experimental.read_fingerprint(str(tmp_path))
    with pytest.raises(ValueError, match="could not be deserialized"):
        tf.saved_model.experimental.Fingerprint.from_proto(b"\x0a")


def test_the_fingerprint_of_tensorflow_is_read_and_its_checkpoint_is_known_by_the_same_number():
    from ebbflow.savedmodel.fingerprint import _hash

    folder = pathlib.Path(__file__).parent.parent / "golden" / "tf221" / "saved_model_tf2"
    found = tf.saved_model.experimental.read_fingerprint(str(folder))
    assert found.checkpoint_hash == _hash((folder / "variables" / "variables.index").read_bytes())


def test_inputs_with_defaults_need_not_be_fed(tmp_path):
    usual = {"k": tf.constant([3, 4])}

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32), {"k": tf.TensorSpec([2], tf.int32, name="k")}])
    def f(x, more=usual):
        return x + tf.cast(tf.reduce_sum(more["k"]), tf.float32)

    model = tf.Module()
    model.f = f
    tf.saved_model.save(model, str(tmp_path / "m"), {"f": model.f})
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        signature = v1.saved_model.load(session, ["serve"], str(tmp_path / "m")).signature_def["f"]
        assert list(signature.defaults) == ["k"]
        output, x = signature.outputs["output_0"].name, signature.inputs["x"].name
        assert session.run(output, {x: 1.0}) == 8.0
        assert session.run(output, {x: 1.0, signature.inputs["k"].name: [0, 1]}) == 2.0


def test_a_model_without_a_saver(tmp_path):
    model = tf.Module()
    model.v = tf.Variable(1.0)
    options = tf.saved_model.SaveOptions(experimental_skip_saver=True)
    tf.saved_model.save(model, str(tmp_path / "m"), options=options)
    assert float(tf.saved_model.load(str(tmp_path / "m")).v) == 1.0
    assert not parse_saved_model(str(tmp_path / "m")).meta_graphs[0].HasField("saver_def")


def test_signatures_get_other_method_names(tmp_path):
    model = tf.Module()
    model.f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(model, str(tmp_path / "m"), model.f)
    updater = tf.compat.v1.saved_model.signature_def_utils.MethodNameUpdater(str(tmp_path / "m"))
    updater.replace_method_name("serving_default", "another", tags="serve")
    updater.save()
    found = parse_saved_model(str(tmp_path / "m")).meta_graphs[0].signature_def
    assert found["serving_default"].method_name == "another"
    with pytest.raises(ValueError, match="does not have a signature_def with key: 'nope'"):
        updater.replace_method_name("nope", "another", tags="serve")
    with pytest.raises(ValueError, match="could not be found in SavedModel"):
        updater.replace_method_name("serving_default", "another", tags="other")
    with pytest.raises(ValueError, match="already exists"):
        updater.save(str(tmp_path / "m"))
    updater.save(str(tmp_path / "new"))
    assert (
        parse_saved_model(str(tmp_path / "new")).meta_graphs[0].signature_def["serving_default"].method_name
        == "another"
    )


def test_a_model_without_values_and_without_a_fingerprint(tmp_path):
    model = tf.Module()
    model.v = tf.Variable([1.0, 2.0])
    nodes, _ = save_and_return_nodes(model, str(tmp_path / "m"), experimental_skip_checkpoint=True)
    assert nodes[0] is model and not list((tmp_path / "m" / "variables").iterdir())
    assert (tmp_path / "m" / "fingerprint.pb").exists()
    flags.config().saved_model_fingerprinting.reset(False)
    try:
        tf.saved_model.save(model, str(tmp_path / "n"))
    finally:
        flags.config().saved_model_fingerprinting.reset(True)
    assert not (tmp_path / "n" / "fingerprint.pb").exists()


def test_a_loaded_function_knows_the_shapes_of_its_results(tmp_path):
    """Also where they follow from variables, which a function's body in a file does not describe."""

    class Project(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(tf.ones([3, 2]))

        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def __call__(self, x):
            return x @ self.w

    tf.saved_model.save(Project(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    traced = tf.function(lambda x: loaded(x)).get_concrete_function(tf.TensorSpec([None, 3]))
    assert traced.output_shapes.as_list() == [None, 2]
    assert loaded(tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]


# --- what functions capture, and their gradients ----------------------------------------------------------------------


class WithDatasets(tf.Module):
    def __init__(self):
        self.scale = tf.Variable(2, dtype=tf.int64)
        offset = tf.constant(10, tf.int64)
        numbers = tf.data.Dataset.range(5).map(lambda x: x * self.scale + offset)
        self.numbers = numbers.shuffle(3, seed=1).batch(2).prefetch(1)
        rows = tf.data.Dataset.from_tensor_slices({"text": ["a", "bb"], "n": np.arange(2)})
        self.rows = rows.filter(lambda row: row["n"] < 10).cache().repeat(2)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
    def total(self, x):
        total = tf.zeros([], tf.int64)
        for batch in self.numbers:
            total += x * tf.reduce_sum(batch)
        for row in self.rows:
            total += row["n"] + tf.cast(tf.strings.length(row["text"]), tf.int64)
        return total


def test_captured_datasets(tmp_path):
    model = WithDatasets()
    known = model.total(3).numpy()
    for turn in ("first", "second"):
        tf.saved_model.save(model, tmp_path / turn)
        model = tf.saved_model.load(tmp_path / turn)
        assert model.total(tf.constant(3, tf.int64)).numpy() == known
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], str(tmp_path / "first"))
        signature = meta.signature_def["serving_default"]
        assert session.run(signature.outputs["output_0"].name, {signature.inputs["x"].name: 3}) == known
    model.scale.assign(100)
    assert model.total(tf.constant(3, tf.int64)).numpy() == known + 3 * 98 * 10


@tf.custom_gradient
def hundredfold(x):
    power = tf.exp(x)
    return tf.math.log(1 + power), lambda dy: dy * power * 100.0


class WithGradients(tf.Module):
    def __init__(self):
        self.w = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def f(self, x):
        @tf.custom_gradient
        def weighted(z):
            return z * self.w, lambda dy, variables=None: (dy * self.w * z, [dy * 7.0 for _ in variables])

        @tf.function
        def nested():
            return hundredfold(x)

        return hundredfold(nested()) + weighted(x)


def slopes(model):
    x = tf.constant(1.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = model.f(x)
        slope = tape.gradient(y, x)
    return [y.numpy(), slope.numpy(), outer.gradient(slope, x).numpy(), tape.gradient(y, model.w).numpy()]


@pytest.mark.parametrize("differentiated", [False, True])
def test_custom_gradients(tmp_path, differentiated):
    model = WithGradients()
    known = slopes(WithGradients())
    assert known[3] == 7.0
    if differentiated:
        slopes(model)
    for turn in ("first", "second"):
        tf.saved_model.save(model, tmp_path / turn)
        model = tf.saved_model.load(tmp_path / turn)
        np.testing.assert_allclose(slopes(model), known, rtol=1e-6)
    tf.saved_model.save(
        model, tmp_path / "bare", options=tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    )
    bare = tf.saved_model.load(tmp_path / "bare")
    assert bare.f(1.0).numpy() == known[0]
    with pytest.raises(LookupError, match="No gradient defined"):  # and never that of another function of the process
        slopes(bare)


def test_ragged_signatures(tmp_path):
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    def doubled(x):
        return {"twice": x * 2.0, "rows": x.nrows()}

    tf.saved_model.save(tf.Module(), tmp_path, signatures=doubled.get_concrete_function())
    parts = {"x": tf.constant([1.0, 2.0, 3.0]), "x_1": tf.constant([0, 1, 3], tf.int64)}
    results = tf.saved_model.load(tmp_path).signatures["serving_default"](**parts)
    assert results["twice"].to_list() == [[2.0], [4.0, 6.0]] and results["rows"].numpy() == 2
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        signature = tf.compat.v1.saved_model.load(session, ["serve"], str(tmp_path)).signature_def["serving_default"]
        feeds = {signature.inputs[name].name: value.numpy() for name, value in parts.items()}
        names = [part.name for part in signature.outputs["twice"].composite_tensor.components]
        assert [value.tolist() for value in session.run(names, feeds)] == [[2.0, 4.0, 6.0], [0, 1, 3]]


def test_assets_are_read_by_themselves(tmp_path):
    (tmp_path / "words.txt").write_text("hello")
    model = tf.Module()
    model.words = tf.saved_model.Asset(tmp_path / "words.txt")
    model.read = tf.function(lambda: tf.io.read_file(model.words), input_signature=[])
    tf.saved_model.save(model, tmp_path / "model")
    (tmp_path / "words.txt").unlink()
    assert tf.saved_model.load(tmp_path / "model").read().numpy() == b"hello"


def test_a_model_of_a_graph_is_written_with_the_values_of_its_session(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        model = tf.Module()
        model.v = tf.compat.v1.Variable([1.0, 2.0], use_resource=True, name="v")
        model.times = tf.function(lambda x: model.v * x, input_signature=[tf.TensorSpec([])])
        session.run(tf.compat.v1.global_variables_initializer())
        session.run(model.v.assign([3.0, 4.0]))
        tf.saved_model.save(model, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert loaded.times(2.0).numpy().tolist() == [6.0, 8.0]
    assert loaded.v.numpy().tolist() == [3.0, 4.0]


def test_a_model_made_in_a_graph(tmp_path):
    with tf.Graph().as_default():
        factor = tf.constant(2.0)
        model = tf.Module()
        model.f = tf.function(lambda x: x * factor, input_signature=[tf.TensorSpec([], tf.float32)])
        tf.saved_model.save(model, tmp_path)
    assert tf.saved_model.load(tmp_path).f(3.0).numpy() == 6.0


@pytest.mark.parametrize("error", [AssertionError, KeyError])
def test_untracked_variables(tmp_path, error):
    model, lost = tf.Module(), tf.Variable(1.0, name="lost")
    model.f = tf.function(lambda x: x * lost, input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(error, match=r"'untracked' resource.*not reachable from root.*lost"):
        tf.saved_model.save(model, tmp_path)


class Needing(tf.Module):
    needed = None

    def _deserialization_dependencies(self, children):
        return {"needed": self.needed}


def test_what_an_object_needs_to_be_made_again(tmp_path):
    one, other = Needing(), Needing()
    one.needed, other.needed = other, one
    with pytest.raises(ValueError, match="dependency cycle in the saved Trackable"):
        tf.saved_model.save(one, tmp_path)
    alone = Needing()
    object.__setattr__(alone, "needed", tf.Variable(1.0))
    with pytest.raises(ValueError, match="Found an untracked dependency"):
        tf.saved_model.save(alone, tmp_path)


def test_a_variable_that_the_first_trace_makes_is_saved(tmp_path):
    class Model(tf.Module):
        weight = None

        @tf.function(input_signature=[])
        def count(self):
            if self.weight is None:
                self.weight = tf.Variable(1.0)
            return self.weight.assign_add(1.0)

    tf.saved_model.save(Model(), tmp_path)
    assert tf.saved_model.load(tmp_path).count().numpy() == 2.0


def test_a_signature_keeps_the_shapes_that_were_asked_for(tmp_path):
    @tf.function
    def narrow(x):
        x.set_shape((5, 1))
        return x

    spec = tf.TensorSpec((None, 1), tf.float32, "x")
    tf.saved_model.save(tf.Module(), tmp_path, signatures={"narrow": narrow.get_concrete_function(spec)})
    assert tf.saved_model.load(tmp_path).signatures["narrow"].structured_input_signature[1] == {"x": spec}


def test_a_function_that_may_not_be_saved(tmp_path):
    @tf.function(input_signature=[])
    def inner():
        tf.compat.v1.get_default_graph().mark_as_unsaveable("it is of this machine only")
        return 1

    model = tf.Module()
    model.outer = tf.function(inner, input_signature=[])
    with pytest.raises(ValueError, match="of this machine only"):
        tf.saved_model.save(model, tmp_path)


def test_sessions_read_the_path_of_an_asset(tmp_path):
    v1 = tf.compat.v1
    (tmp_path / "words.txt").write_text("one")
    model = tf.Module()
    model.file = tf.saved_model.Asset(str(tmp_path / "words.txt"))
    model.path = tf.function(lambda: model.file.asset_path, input_signature=[])
    tf.saved_model.save(model, tmp_path / "m", signatures=model.path)
    with tf.Graph().as_default(), v1.Session() as session:
        meta = v1.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        found = session.run(meta.signature_def["serving_default"].outputs["output_0"].name)
    assert found.decode() == str(tmp_path / "m" / "assets" / "words.txt")


@pytest.mark.parametrize("policy", [None, "save_variable_devices"])
def test_a_variable_of_two_replicas_is_one_in_the_file(tmp_path, policy):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    model = tf.Module()
    with strategy.scope():
        model.total = tf.Variable(1.0)
        model.add = tf.function(lambda: model.total.assign_add(2.0), input_signature=[])
        model.twice = tf.function(lambda x: model.add() * x)
        assert model.twice(1.0).numpy() == 3.0
        options = tf.saved_model.SaveOptions(experimental_variable_policy=policy)
        tf.saved_model.save(model, tmp_path, signatures=model.add, options=options)
        assert model.twice(1.0).numpy() == 5.0, "and here it is two, still"
        assert [copy.numpy() for copy in model.total.values] == [5.0, 5.0]
    loaded = tf.saved_model.load(tmp_path)
    assert loaded.twice(1.0).numpy() == 5.0
    assert loaded.signatures["serving_default"]()["output_0"].numpy() == 7.0
    meta = parse_saved_model(str(tmp_path)).meta_graphs[0]
    devices = [node.variable.device for node in meta.object_graph_def.nodes if node.HasField("variable")]
    assert ["CPU:0" in device for device in devices] == [policy is not None]


def test_the_copies_of_a_variable_can_be_told_of_in_the_file(tmp_path):
    model = tf.Module()
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        model.total = tf.Variable(1.0, name="total")
    options = tf.saved_model.SaveOptions(experimental_variable_policy="expand_distributed_variables")
    tf.saved_model.save(model, tmp_path, options=options)
    nodes = parse_saved_model(str(tmp_path)).meta_graphs[0].object_graph_def.nodes
    (variable,) = [node.variable for node in nodes if node.HasField("variable")]
    names = [copy.name for copy in variable.experimental_distributed_variable_components]
    assert names == ["total", "total/replica_1"]


def test_a_function_reads_a_cached_variable_itself(tmp_path):
    with v1.Graph().as_default(), v1.Session() as session:
        model = tf.Module()
        model.v = tf.Variable(3.0, caching_device="/cpu:0")
        model.f = tf.function(lambda x: model.v * x, input_signature=[tf.TensorSpec([], tf.float32)])
        session.run(v1.global_variables_initializer())
        tf.saved_model.save(model, tmp_path / "m", signatures=model.f)
    assert tf.saved_model.load(tmp_path / "m").f(2.0).numpy() == 6.0


def test_results_of_loaded_functions_are_specs_with_names(tmp_path):
    class Model(tf.Module):
        @tf.function
        def f(self, x, k=2):
            return {"y": x * k, "t": (x, x + 1)}

    model = Model()
    model.f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    model.g = tf.function(lambda q: q + 1).get_concrete_function(tf.TensorSpec([2], tf.float32, name="qq"))
    tf.saved_model.save(model, tmp_path / "m", signatures=model.g)
    loaded = tf.saved_model.load(tmp_path / "m")
    tf.saved_model.save(loaded, tmp_path / "again", signatures=loaded.signatures)

    def spec(name, size=None):
        return tf.TensorSpec([size], tf.float32, name)

    for each in (loaded, tf.saved_model.load(tmp_path / "again")):
        assert each.signatures["serving_default"].structured_outputs == {"output_0": spec("output_0", 2)}
        assert each.g.structured_outputs == spec("unknown", 2)
        (trace,) = each.f.concrete_functions
        assert trace.structured_outputs == {"y": spec("y"), "t": (spec("t_0"), spec("t_1"))}
        assert str(trace.function_type).startswith("(x: TensorSpec(shape=(None,), dtype=tf.float32, name='x'), k: Lit")
        assert trace(tf.constant([1.0]))["t"][1].numpy() == [2.0]
        assert trace.function_type.output.mapping["t"].components == (spec("t_0"), spec("t_1"))


def test_a_function_without_results_is_no_signature_and_one_without_traces_says_so(tmp_path):
    class Model(tf.Module):
        def __init__(self):
            self.v = tf.Variable(1.0)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def mutate(self, to):
            self.v.assign(to)

        @tf.function
        def untraced(self, x):
            return x

    tf.saved_model.save(Model(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert list(loaded.signatures) == []
    with pytest.raises(ValueError, match="zero restored functions"):
        loaded.untraced(1)
