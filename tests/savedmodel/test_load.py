"""SavedModels that TensorFlow 2.21 wrote, of both eras: they load, compute what they computed, and train again."""

import contextlib
import gc
import pathlib
import shutil
from typing import ClassVar

import numpy as np
import pytest

import ebbflow as tf
from ebbflow import messages

v1 = tf.compat.v1
GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "tf221"


def expected(name):
    return dict(np.load(GOLDEN / f"{name}.expected.npz", allow_pickle=True))


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.fixture(scope="module")
def known():
    return expected("saved_model_tf2")


@pytest.fixture
def model():
    return tf.saved_model.load(str(GOLDEN / "saved_model_tf2"))


def test_objects_and_values(model, known):
    close(model.layers[0].w, known["ckpt:layers/0/w/.ATTRIBUTES/VARIABLE_VALUE"])
    close(model.extra["scale"], known["ckpt:extra/scale/.ATTRIBUTES/VARIABLE_VALUE"])
    assert model.steps.dtype == tf.int64 and not model.steps.trainable and model.layers[1].b.trainable
    assert model.tensorflow_version == "2.21.0"


def test_signatures(model, known):
    assert sorted(model.signatures) == ["bump", "iterate", "lookup", "serving_default"]
    close(model.signatures["serving_default"](x=tf.constant(known["x"]))["output_0"], known["y"])
    for k in range(3):
        given = {name: tf.constant(known[f"iterate{k}/{name}"]) for name in ("x", "n")}
        result = model.signatures["iterate"](**given)
        close(result["z"], known[f"iterate{k}/z"])
        assert int(result["count"]) == int(known[f"iterate{k}/count"])
    found = model.signatures["lookup"](words=tf.constant(known["lookup/words"].tolist()))
    assert found["index"].numpy().tolist() == known["lookup/index"].tolist()
    assert found["m"].numpy().tolist() == known["lookup/m"].tolist()
    spec = model.signatures["serving_default"].structured_input_signature
    assert spec == ((), {"x": tf.TensorSpec([None, 3], tf.float32, name="x")})


def test_tables_that_nobody_needs_leave_no_nodes_behind(known):
    loaded = [tf.saved_model.load(str(GOLDEN / "saved_model_tf2"))]
    assert loaded[0].signatures["lookup"](words=tf.constant(["red"]))["index"].numpy() == [0]
    with tf.Graph().as_default() as graph:
        loaded.clear()
        gc.collect()
        assert graph.get_operations() == []


def test_functions_change_state(model, known):
    model.bump(tf.constant(3, tf.int64))
    assert int(model.steps) == int(known["bump/steps_after_k3"])


def test_the_object_is_called_and_trained(model, known):
    x = tf.constant(known["x"])
    close(model(x), known["y"])
    variables = [model.layers[0].w, model.layers[0].b, model.layers[1].w, model.layers[1].b]
    losses = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - 1.0))
        losses.append(float(loss))
        for variable, grad in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.05 * grad)
    assert losses[-1] < losses[0] * 0.9


def test_a_loop_is_differentiated(model, known):
    x = tf.constant(known["iterate2/x"])
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = model.iterate(x, tf.constant(2))["z"]
    grad = tape.gradient(z, x)
    assert grad.shape == x.shape and float(tf.reduce_sum(tf.abs(grad))) > 0


def test_traces_are_chosen_by_arguments(model):
    a = tf.constant([1.0, 2.0])
    assert len(model.poly.concrete_functions) == 3
    first = model.poly(a)
    close(model.poly(np.array([1.0, 2.0], np.float32)), first)
    close(model.poly(a, 2.0, False), first)
    assert not np.allclose(model.poly(a, training=True), first)
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        model.poly(a, b=99.0)
    with pytest.raises(TypeError, match="nonsense"):
        model.poly(a, nonsense=1)


def test_inside_a_function(model, known):
    @tf.function
    def twice(x):
        return model(x) * 2.0

    close(twice(tf.constant(known["x"])), known["y"] * 2)


def test_a_keras_export():
    known = expected("keras_export")
    model = tf.saved_model.load(str(GOLDEN / "keras_export"))
    name, result = str(known["input_name"]), str(known["output_name"])
    close(model.signatures["serving_default"](**{name: tf.constant(known["input"])})[result], known["output"])
    close(model.serve(tf.constant(known["input"])), known["output"])


# --- TF 1 -------------------------------------------------------------------------------------------------------------


def test_a_tf1_model_as_objects():
    known = expected("saved_model_tf1")
    model = tf.saved_model.load(str(GOLDEN / "saved_model_tf1"), tags=["serve"])
    close(model.signatures["serving_default"](x=tf.constant(known["x"]))["y"], known["y"])
    words = tf.constant(known["words"].tolist())
    assert model.signatures["lookup"](words=words)["index"].numpy().tolist() == known["index"].tolist()
    by_name = {v.name: v for v in model.variables}
    close(by_name["w:0"], known["var:w"])
    with tf.GradientTape() as tape:
        y = model.signatures["serving_default"](x=tf.constant(known["x"]))["y"]
    assert all(g is not None for g in tape.gradient(y, [by_name["w:0"], by_name["b:0"]]))


def tf1_model(folder, build, **more):
    """Write a TF 1 model: `build` gives the inputs and outputs of its signature."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        inputs, outputs = build(v1)
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(folder), inputs, outputs)
        if "checkpoint" in more:
            v1.train.Saver().save(session, more["checkpoint"])
    return str(folder)


def test_a_tf1_signature_takes_its_arguments_by_name_or_in_the_order_of_names(tmp_path):
    def build(v1):
        named = {name: v1.placeholder(tf.float32, [], name=f"p{i}") for i, name in enumerate(["b", "a./-"])}
        return named, {"y": named["b"] - 2.0 * named["a./-"]}

    signature = tf.saved_model.load(tf1_model(tmp_path / "m", build)).signatures["serving_default"]
    assert float(signature(**{"b": tf.constant(1.0), "a./-": tf.constant(3.0)})["y"]) == -5.0
    assert float(signature(3.0, 1.0)["y"]) == -5.0
    assert sorted(signature.structured_input_signature[1]) == ["a./-", "b"]


def test_sparse_and_ragged_inputs_of_a_tf1_signature_are_given_in_parts(tmp_path):
    def build(v1):
        sparse = v1.sparse_placeholder(tf.int64, [2, 2])
        ragged = v1.ragged.placeholder(tf.float32, 1, [])
        return {"s": sparse, "r": ragged}, {"s": sparse * tf.constant(2, tf.int64), "r": ragged * 2.0}

    signature = tf.saved_model.load(tf1_model(tmp_path / "m", build)).signatures["serving_default"]
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    found = signature(
        s_indices=tf.constant([[0, 1]], tf.int64), s_values=tf.constant([21], tf.int64),
        s_dense_shape=tf.constant([2, 2], tf.int64), r_component_0=ragged.values, r_component_1=ragged.row_splits,
    )  # fmt: skip
    assert found["s"].values.numpy().tolist() == [42] and found["r"].to_list() == [[2.0, 4.0], [6.0]]


def test_a_tf1_signature_that_needs_more_than_its_inputs_is_refused(tmp_path):
    def build(v1):
        x = v1.placeholder(tf.float32, [])
        return {"x": x}, {"y": v1.placeholder(tf.float32, [], name="forgotten") * x}

    with pytest.raises(Exception, match=r"(?s)needs an input for each placeholder.*Unable to lift.*'forgotten'"):
        tf.saved_model.load(tf1_model(tmp_path / "m", build))


def test_a_tf1_model_takes_values_from_another_checkpoint(tmp_path):
    path = str(tmp_path / "other")

    def build(v1):
        v = v1.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        x = v1.placeholder(tf.float32, [], name="x")
        return {"x": x}, {"y": x * v}

    model = tf.saved_model.load(tf1_model(tmp_path / "m", build, checkpoint=path))
    model.variables[0].assign([7.0, 7.0])
    model.restore(path)
    assert model.signatures["serving_default"](tf.constant(3.0))["y"].numpy().tolist() == [3.0, 6.0]
    assert float(model.prune("x:0", "mul:0")(tf.constant(2.0))[1]) == 4.0


def test_several_graphs_need_tags():
    with pytest.raises(ValueError, match="requires a `tags=` argument"):
        tf.saved_model.load(str(GOLDEN / "saved_model_tf1"))
    with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
        tf.saved_model.load(str(GOLDEN / "saved_model_tf1"), tags=["nope"])


def test_tags_of_a_model_of_objects_are_its_own(tmp_path):
    tf.saved_model.save(tf.Module(), str(tmp_path))
    with pytest.raises(
        ValueError, match=r"`tags`: \['train'\]\. The SavedModel at .* has one MetaGraph with tags \['serve'\]"
    ):
        tf.saved_model.load(str(tmp_path), tags="train")
    assert tf.saved_model.load(str(tmp_path), tags=["serve"])


@pytest.mark.parametrize("scope", [None, "inner"])
def test_a_tf1_model_in_a_session(scope):
    known = expected("saved_model_tf1")
    prefix = f"{scope}/" if scope else ""
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], str(GOLDEN / "saved_model_tf1"), import_scope=scope)
        signature = meta.signature_def["serving_default"]
        y = session.run(prefix + signature.outputs["y"].name, {prefix + signature.inputs["x"].name: known["x"]})
        close(y, known["y"])
        signature = meta.signature_def["lookup"]
        index = session.run(
            prefix + signature.outputs["index"].name, {prefix + signature.inputs["words"].name: known["words"].tolist()}
        )
        assert index.tolist() == known["index"].tolist()


@pytest.mark.parametrize("name", ["saved_model_tf2", "keras_export"])
def test_tf2_models_in_a_session(name):
    known = expected(name)
    x, y = ("x", "y") if "x" in known else ("input", "output")
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], str(GOLDEN / name))
        signature = meta.signature_def["serving_default"]
        given, gives = str(known.get("input_name", "x")), str(known.get("output_name", "output_0"))
        close(session.run(signature.outputs[gives].name, {signature.inputs[given].name: known[x]}), known[y])


# --- files that are not what they should be ---------------------------------------------------------------------------


def changed(tmp_path, change, name="saved_model_tf2"):
    """Return a copy of a model with a change made to its message."""
    folder = tmp_path / "model"
    shutil.copytree(GOLDEN / name, folder)
    path = folder / "saved_model.pb"
    saved = messages.SavedModel.FromString(path.read_bytes())
    change(saved.meta_graphs[0], folder)
    path.write_bytes(saved.SerializeToString())
    return str(folder)


def out_of_the_folder(meta, folder):
    meta.asset_file_def[0].filename = "../../secret.txt"


def absolute(meta, folder):
    meta.asset_file_def[0].filename = "/etc/passwd"


def unknown_child(meta, folder):
    meta.object_graph_def.nodes[0].children[0].node_id = 999


def unknown_capture(meta, folder):
    next(iter(meta.object_graph_def.concrete_functions.values())).bound_inputs.append(-1)


def missing_function(meta, folder):
    meta.object_graph_def.nodes[6].function.concrete_functions[0] = "nowhere"


def made_by_nothing(meta, folder):
    node = meta.object_graph_def.nodes[4]
    kept = [child for child in node.children if child.local_name != "_create_resource"]
    del node.children[:]
    node.children.extend(kept)


def parameters_half_described(meta, folder):
    values = meta.object_graph_def.nodes[10].function.function_spec.fullargspec.named_tuple_value.values
    del values[5]


def no_values(meta, folder):
    shutil.rmtree(folder / "variables")


def other_shape(meta, folder):
    meta.object_graph_def.nodes[33].variable.shape.dim[0].size = 7


def unknown_ops(meta, folder):
    for i, function in enumerate(f for f in meta.graph_def.library.function if "poly" in f.signature.name):
        function.node_def[0].op = f"NoSuchOp{i}"


def huge_constant(meta, folder):
    node = next(n for n in meta.graph_def.node if n.name == "Const_2")
    tensor = node.attr["value"].tensor
    tensor.Clear()
    tensor.dtype = 1
    tensor.tensor_shape.dim.add(size=10**12)
    tensor.float_val.append(1.0)


def calls_itself(meta, folder):
    for function in meta.graph_def.library.function:
        if "signature_wrapper___call__" in function.signature.name:
            call = next(n for n in function.node_def if n.op == "StatefulPartitionedCall")
            call.attr["f"].func.name = function.signature.name


def writes_a_file(meta, folder):
    function = next(f for f in meta.graph_def.library.function if "poly" in f.signature.name)
    node = function.node_def.add(name="steal", op="WriteFile")
    node.input.extend(["name:output:0", "name:output:0"])


def calls_python(meta, folder):
    node = meta.graph_def.node.add(name="run", op="PyFunc")
    node.attr["token"].s = b"pyfunc_0"


BROKEN = [
    (out_of_the_folder, tf.errors.InvalidArgumentError, "does not stay inside its folder"),
    (absolute, tf.errors.InvalidArgumentError, "does not stay inside its folder"),
    (unknown_child, tf.errors.DataLossError, "object 0 refers to object 999 of 49"),
    (unknown_capture, tf.errors.DataLossError, "captures an object that there is not"),
    (missing_function, tf.errors.DataLossError, "has the trace 'nowhere', which is not described"),
    (made_by_nothing, tf.errors.DataLossError, "object 4 is a resource that nothing makes"),
    (parameters_half_described, tf.errors.DataLossError, "described without .'kwonlydefaults'."),
    (no_values, tf.errors.NotFoundError, "has no variables/variables.index"),
    (other_shape, tf.errors.DataLossError, r"variable 'w' is float32 \(7, 5\) in the object graph"),
    (unknown_ops, tf.errors.NotFoundError, "'NoSuchOp0'.*'NoSuchOp1'.*'NoSuchOp2'"),
    (huge_constant, tf.errors.InvalidArgumentError, "1000000000000 elements"),
    (calls_itself, tf.errors.InvalidArgumentError, "calls itself"),
    (writes_a_file, tf.errors.PermissionDeniedError, r"WriteFile .*allow=\['WriteFile'\]"),
    (calls_python, tf.errors.PermissionDeniedError, "PyFunc .*calls Python"),
]


@pytest.mark.parametrize(("change", "error", "says"), BROKEN, ids=[change.__name__ for change, *_ in BROKEN])
def test_broken_and_hostile_models(tmp_path, change, error, says):
    folder = changed(tmp_path, change)
    with pytest.raises(error, match=says):
        model = tf.saved_model.load(folder)
        model.signatures["serving_default"](x=tf.zeros([1, 3]))


def test_what_is_allowed_is_loaded(tmp_path):
    model = tf.saved_model.load(changed(tmp_path, calls_python), allow=["PyFunc"])
    assert "serving_default" in model.signatures


def test_functions_that_call_python_are_refused_when_they_are_called(tmp_path):
    class Adapting(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def adapt(self, x):
            return tf.numpy_function(np.sort, [x], tf.float32)

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def double(self, x):
            return 2 * x

    adapting = Adapting()
    tf.saved_model.save(adapting, str(tmp_path), signatures=adapting.double)
    model = tf.saved_model.load(str(tmp_path))
    assert model.double(tf.ones([1])).numpy().tolist() == [2.0]
    with pytest.raises(tf.errors.PermissionDeniedError, match=r"calls Python.*allow=\['PyFunc'\]"):
        model.adapt(tf.ones([1]))
    trusted = tf.saved_model.load(str(tmp_path), allow=["PyFunc"])
    assert trusted.adapt(tf.constant([2.0, 1.0])).numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("data", [b"", b"\xff\xff\xff", b"\x0a\xff\xff\xff\xff\x0f"])
def test_files_that_are_no_models(tmp_path, data):
    (tmp_path / "saved_model.pb").write_bytes(data)
    with pytest.raises((tf.errors.DataLossError, ValueError)):
        tf.saved_model.load(str(tmp_path))


def test_folders_without_a_model(tmp_path):
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        tf.saved_model.load(str(tmp_path))
    assert not tf.saved_model.contains_saved_model(str(tmp_path))
    assert tf.saved_model.contains_saved_model(GOLDEN / "keras_export")


def old_model_with_a_table(folder):
    """Save a graph in TF 1's manner: a vocabulary in a file, looked up."""
    words = folder.parent / "words.txt"
    words.write_text("alpha\nbeta\ngamma\n")
    index = tf.lookup.TextFileIndex
    with tf.Graph().as_default(), v1.Session() as session:
        reader = tf.lookup.TextFileInitializer(str(words), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
        table = v1.lookup.StaticHashTable(reader, -1)
        text = v1.placeholder(tf.string, name="in")
        session.run(table.initializer)
        v1.saved_model.simple_save(
            session, str(folder), {"text": text}, {"number": table.lookup(text)}, legacy_init_op=table.initializer
        )
    words.unlink()
    return folder


@pytest.mark.parametrize("in_graph", [False, True])
def test_an_old_model_with_a_table_can_be_saved_and_loaded_again_and_again(tmp_path, in_graph):
    folder = old_model_with_a_table(tmp_path / "0")
    graph = tf.Graph()
    with graph.as_default() if in_graph else contextlib.nullcontext():
        for number in (1, 2, 3):
            model = tf.saved_model.load(folder)
            result = model.signatures["serving_default"](text=tf.constant(["gamma", "alpha", "?"]))["number"]
            if in_graph:
                with v1.Session(graph=graph) as session:
                    session.run(v1.tables_initializer())
                    assert session.run(result).tolist() == [2, 0, -1]
                v1.get_collection_ref(v1.GraphKeys.TABLE_INITIALIZERS).clear()
            else:
                assert result.numpy().tolist() == [2, 0, -1]
            tf.saved_model.save(model, tmp_path / str(number), signatures=model.signatures)
            shutil.rmtree(folder)
            folder = tmp_path / str(number)


def test_a_model_loaded_into_a_graph_leaves_its_initializers_in_collections(tmp_path):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, -100, -200)
            self.weight = tf.Variable(2)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
        def __call__(self, keys):
            return self.table.lookup(keys) * tf.cast(self.weight, tf.int64)

    model = Model()
    model.table.insert([1, 2], [10, 20])
    tf.saved_model.save(model, tmp_path)
    with tf.Graph().as_default(), v1.Session() as session:
        loaded = tf.saved_model.load(tmp_path)
        result = loaded(tf.constant([1, 2, 3], tf.int64))
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        assert session.run(result).tolist() == [20, 40, -2]


def test_variables_that_no_signature_needs_are_not_watched(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        start = v1.placeholder(tf.float32, name="start")
        weight = v1.Variable(3.0, name="weight", use_resource=True)
        v1.Variable(-1.0, name="other", use_resource=True)
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(tmp_path / "m"), {"start": start}, {"end": start * weight})
    model = tf.saved_model.load(tmp_path / "m")
    with tf.GradientTape() as tape:
        end = model.signatures["serving_default"](start=tf.constant(4.0))["end"]
    assert [v.name for v in tape.watched_variables()] == ["weight:0"]
    assert tape.gradient(end, tape.watched_variables())[0].numpy() == 4.0


def test_inputs_keep_their_names_when_a_loaded_model_is_saved_again(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        x, z = v1.placeholder(tf.float32, [], name="x"), v1.placeholder(tf.float32, [], name="z")
        inputs, outputs = {"in./-": x, "in1": z}, {"out put": x - z}
        v1.saved_model.simple_save(session, str(tmp_path / "a"), inputs, outputs)
    loaded = tf.saved_model.load(tmp_path / "a")
    tf.saved_model.save(loaded, tmp_path / "b", signatures=loaded.signatures)
    signature = tf.saved_model.load(tmp_path / "b").signatures["serving_default"]
    assert signature(**{"in./-": tf.constant(3.0), "in1": tf.constant(1.0)})["out put"].numpy() == 2.0
    assert list(signature.structured_outputs) == ["out put"]
    with tf.Graph().as_default(), v1.Session() as session:
        written = v1.saved_model.load(session, ["serve"], str(tmp_path / "b")).signature_def["serving_default"]
    names = {key: info.name for key, info in written.inputs.items()}
    assert names == {"in./-": "serving_default_in._-:0", "in1": "serving_default_in1:0"}


class Slots(tf.Module):
    """An optimizer as Keras 2 has them: its slots are nobody's children."""

    made: ClassVar[dict] = {}

    def add_slot(self, var, slot_name):
        self.made[id(var), slot_name] = tf.Variable([5.0, 6.0])

    def get_slot_names(self):
        return ["m"]

    def get_slot(self, var, slot_name):
        return self.made.get((id(var), slot_name))


def test_slots_of_optimizers_are_written_and_read(tmp_path):
    root = tf.Module()
    root.v, root.optimizer = tf.Variable([1.0, 2.0]), Slots()
    root.optimizer.add_slot(root.v, "m")
    tf.saved_model.save(root, str(tmp_path / "m"))
    key = "v/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE"
    assert tf.train.load_variable(str(tmp_path / "m/variables/variables"), key).tolist() == [5.0, 6.0]
    assert tf.saved_model.load(str(tmp_path / "m")).v.numpy().tolist() == [1.0, 2.0]


def test_functions_have_the_seed_of_the_graph_they_are_loaded_into(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, str(tmp_path))
    with tf.Graph().as_default() as graph:
        tf.compat.v1.set_random_seed(12)
        loaded = tf.saved_model.load(str(tmp_path))
        assert loaded.f.concrete_functions[0].graph.seed == graph.seed == 12
        assert loaded.signatures["serving_default"].graph.seed == 12
