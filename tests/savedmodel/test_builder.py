"""SavedModels in TF 1's manner: built from a session's graph, loaded again."""

import numpy as np
import pytest

import ebbflow.v1 as tf
from ebbflow.savedmodel import constants
from ebbflow.savedmodel.loader import SavedModelLoader, get_train_op
from ebbflow.savedmodel.predictor import from_saved_model

X = np.array([[1.0, 2.0]], np.float32)


def build(use_resource=True):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=np.array([[1.0], [3.0]], np.float32), use_resource=use_resource)
    return x, tf.matmul(x, w, name="y")


@pytest.mark.parametrize("use_resource", [True, False])
def test_simple_save(tmp_path, use_resource):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = build(use_resource)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "m"), {"x": x}, {"y": y})
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], str(tmp_path / "m"))
        signature = meta.signature_def[tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        assert signature.method_name == "tensorflow/serving/predict"
        assert session.run(signature.outputs["y"].name, {signature.inputs["x"].name: X}).tolist() == [[7.0]]
        assert [v.name for v in tf.trainable_variables()] == ["w:0"]


@pytest.mark.parametrize("as_text", [True, False])
def test_graphs_share_variables(tmp_path, as_text):
    folder = str(tmp_path / "m")
    builder = tf.saved_model.builder.SavedModelBuilder(folder)
    with tf.Graph().as_default(), tf.Session() as session:
        _, y = build()
        session.run(tf.global_variables_initializer())
        with pytest.raises(AssertionError, match="has not been saved"):
            builder.add_meta_graph(["early"])
        builder.add_meta_graph_and_variables(session, ["train"])
        with pytest.raises(AssertionError, match="has already been saved"):
            builder.add_meta_graph_and_variables(session, ["again"])
    with tf.Graph().as_default():
        x, y = build()
        twice = tf.multiply(y, 2.0, name="twice")
        signature = tf.saved_model.signature_def_utils.predict_signature_def({"x": x}, {"twice": twice})
        builder.add_meta_graph(["serve"], {"double": signature}, strip_default_attrs=True)
    path = builder.save(as_text=as_text)
    assert path.endswith(b"pbtxt" if as_text else b".pb")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["serve"], folder)
        assert session.run("twice:0", {"x:0": X}).tolist() == [[14.0]]
    assert from_saved_model(folder, "double")({"x": X})["twice"].tolist() == [[14.0]]


def test_assets_and_tables(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("red\nblue\n")
    with tf.Graph().as_default(), tf.Session() as session:
        path = tf.constant(str(words), name="path")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                path,
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            -1,
        )
        given = tf.placeholder(tf.string, [None], name="given")
        table.lookup(given, name="found")
        session.run(tf.tables_initializer())
        builder = tf.saved_model.Builder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
        )
        builder.save()
        name = next(op.name for op in tf.get_default_graph().get_operations() if op.type == "LookupTableFindV2")
    words.unlink()
    assert (tmp_path / "m" / "assets" / "words.txt").read_text() == "red\nblue\n"
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        assert session.run(name + ":0", {"given:0": [b"blue", b"green"]}).tolist() == [1, -1]


def test_steps_of_loading(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = build()
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "m"), {"x": x}, {"y": y})
    loader = SavedModelLoader(str(tmp_path / "m"))
    graph = tf.Graph()
    saver, elements = loader.load_graph(graph, ["serve"], return_elements=["y:0"])
    assert elements[0].name == "y:0"
    with tf.Session(graph=graph) as session:
        loader.restore_variables(session, saver)
        loader.run_init_ops(session, ["serve"])
        assert session.run(elements[0], {"x:0": X}).tolist() == [[7.0]]
    with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
        loader.get_meta_graph_def_from_tags(["other"])


def test_a_folder_in_use_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        tf.saved_model.Builder(str(tmp_path))


def test_forms_of_signatures():
    utils = tf.saved_model.signature_def_utils
    with tf.Graph().as_default():
        text = tf.placeholder(tf.string, [None])
        number = tf.placeholder(tf.float32, [None])
        good = [
            utils.regression_signature_def(text, number),
            utils.classification_signature_def(text, None, number),
            utils.predict_signature_def({"a": number}, {"b": number}),
        ]
        assert all(utils.is_valid_signature(one) for one in good)
        good[0].outputs["more"].CopyFrom(good[0].outputs["outputs"])
        assert not utils.is_valid_signature(good[0])
        assert not utils.is_valid_signature(utils.build_signature_def())
        for wrong in (
            lambda: utils.regression_signature_def(number, number),
            lambda: utils.regression_signature_def(text, None),
            lambda: utils.classification_signature_def(text, None, None),
            lambda: utils.classification_signature_def(text, number, None),
            lambda: utils.predict_signature_def({}, {"b": number}),
        ):
            with pytest.raises(ValueError):
                wrong()


def test_tensors_by_their_infos():
    with tf.Graph().as_default():
        dense = tf.placeholder(tf.float32, [2, None], name="dense")
        sparse = tf.sparse_placeholder(tf.int64, [None, 3], name="sparse")
        info = tf.saved_model.utils.build_tensor_info(dense)
        assert info.name == "dense:0" and [d.size for d in info.tensor_shape.dim] == [2, -1]
        assert tf.saved_model.utils.get_tensor_from_tensor_info(info) is dense
        info = tf.saved_model.utils.build_tensor_info(sparse)
        assert tf.saved_model.utils.get_tensor_from_tensor_info(info).values is sparse.values


def test_the_constants_are_tensorflows():
    assert constants.MAIN_OP_KEY == tf.saved_model.constants.MAIN_OP_KEY == "saved_model_main_op"
    assert tf.saved_model.tag_constants.TPU == "tpu" and tf.saved_model.SERVING == "serve"


def test_the_op_that_trains(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        count = v1.get_variable("count", initializer=1, use_resource=True)
        step = count.assign_add(1)
        session.run(count.initializer)
        builder = v1.saved_model.Builder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(session, ["train"], train_op=step.op)
        builder.save()
    with tf.Graph().as_default(), v1.Session() as session:
        meta = v1.saved_model.load(session, ["train"], str(tmp_path / "m"))
        session.run(get_train_op(meta))
        assert session.run("count/Read/ReadVariableOp:0") == 2
        with pytest.raises(ValueError, match=r"No tf\.train\.Saver object"):
            SavedModelLoader(tmp_path / "m").restore_variables(session, None)


def test_one_op_prepares_a_session(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v1.add_to_collection("legacy_init_op", tf.no_op())
        builder = v1.saved_model.Builder(str(tmp_path / "m"))
        with pytest.raises(ValueError, match="Graph already contains"):
            builder.add_meta_graph_and_variables(session, ["serve"], main_op=tf.no_op())


def test_files_of_one_name_and_content_are_one(tmp_path):
    for folder, text in (("1", "same"), ("2", "same"), ("3", "other")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "words.txt").write_text(text)
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        paths = [tf.constant(str(tmp_path / folder / "words.txt")) for folder in "123"]
        builder.add_meta_graph_and_variables(session, ["serve"], assets_collection=paths)
    builder.save()
    assert sorted(path.name for path in (tmp_path / "m" / "assets").iterdir()) == ["words.txt", "words.txt_1"]
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.load(session, ["serve"], str(tmp_path / "m"))
    assert [asset.filename for asset in meta.asset_file_def] == ["words.txt", "words.txt", "words.txt_1"]


def test_what_prepares_and_what_trains_a_loaded_graph(tmp_path):
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.0, name="v", use_resource=False)
        tf.complex(v, v, name="both")
        train = tf.assign_add(v, 1.0, name="train")
        session.run(v.initializer)
        builder.add_meta_graph_and_variables(
            session, ["serve"], main_op=tf.group(train), train_op=train, strip_default_attrs=True
        )
    builder.save()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        reader = SavedModelLoader(str(tmp_path / "m"))
        saver, _ = reader.load_graph(graph, ["serve"], import_scope="inside")
        reader.restore_variables(session, saver)
        reader.run_init_ops(session, ["serve"])  # found in the graph, wherever it was put
        meta = reader.get_meta_graph_def_from_tags(["serve"])
        assert session.run("inside/v:0") == 2.0
        assert get_train_op(meta, "inside").name == "inside/train:0"
    (node,) = [node for node in meta.graph_def.node if node.name == "both"]
    assert node.attr["Tout"].type == tf.complex64.as_datatype_enum, "left out in the file, said here"
