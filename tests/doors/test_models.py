"""Models at the command line: shown, run, converted."""

import pathlib

import numpy as np
import pytest

import ebbflow as tf
from ebbflow import cli
from ebbflow.graph.graph_util import graph_defs_equal
from ebbflow.io.array_files import read_arrays
from ebbflow.savedmodel.python_code import python_code
from ebbflow.savedmodel.show import read_graph

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "tf221"
TF2, TF1 = str(GOLDEN / "saved_model_tf2"), str(GOLDEN / "saved_model_tf1")


def command(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        cli.main(list(words))
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


def test_tag_sets_and_signatures(capsys):
    _, said, _ = command(capsys, "show", TF1)
    assert "The given SavedModel contains the following tag-sets:\n'extra', 'serve'\n'serve'" in said
    _, said, _ = command(capsys, "show", TF2, "--tag_set", "serve")
    assert 'SignatureDef key: "serving_default"' in said
    _, said, _ = command(capsys, "show", TF2, "--tag_set", "serve", "--signature_def", "iterate")
    assert "  inputs['x'] tensor_info:\n      dtype: DT_FLOAT\n      shape: (-1, 3)\n      name: iterate_x:0" in said
    _, said, _ = command(capsys, "show", TF2, "--all")
    assert (
        "Function Name: 'poly'" in said and "Option #3" in said and "Method name is: tensorflow/serving/predict" in said
    )


def test_a_signature_is_run(capsys, tmp_path):
    known = np.load(GOLDEN / "saved_model_tf2.expected.npz")
    np.save(tmp_path / "x.npy", known["x"])
    code, said, _ = command(
        capsys, "run", TF2, "--inputs", f"x={tmp_path / 'x.npy'}", "--outdir", str(tmp_path / "out")
    )
    assert code == 0 and "Output output_0 is saved" in said
    np.testing.assert_allclose(np.load(tmp_path / "out" / "output_0.npy"), known["y"], rtol=1e-5)
    code, _, said = command(
        capsys, "run", TF2, "--inputs", f"x={tmp_path / 'x.npy'}", "--outdir", str(tmp_path / "out")
    )
    assert code == 1 and "already exists" in said
    code, said, _ = command(
        capsys, "run", TF2, "--signature_def", "iterate", "--input_exprs", "x=np.ones((1, 3), 'f4');n=2"
    )
    assert code == 0 and "Result for output key count:\n2" in said
    code, _, said = command(capsys, "run", TF2, "--input_exprs", "wrong=1")
    assert code == 1 and "missing ['x'], unknown ['wrong']" in said


@pytest.mark.parametrize("value", ["__import__('os')", "[[1.", "np.nothing(3)"])
def test_an_expression_that_is_none_is_told_in_a_line(capsys, value):
    code, _, said = command(capsys, "run", TF2, "--input_exprs", f"x={value}")
    assert code == 1 and said.startswith(f"ebbflow run: input 'x': {value!r} is no literal") and said.count("\n") == 1


def test_a_model_is_frozen(capsys, tmp_path):
    known = np.load(GOLDEN / "saved_model_tf2.expected.npz")
    for out in ("frozen.pb", "frozen.pbtxt"):
        assert command(capsys, "convert", TF2, str(tmp_path / out))[0] == 0
        graph_def = read_graph(str(tmp_path / out))
        ops = {n.op for n in graph_def.node} | {n.op for f in graph_def.library.function for n in f.node_def}
        assert not ops & {"VarHandleOp", "ReadVariableOp"}
        with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
            end = [n.name for n in graph_def.node if n.op.endswith("PartitionedCall")][-1]
            tf.graph_util.import_graph_def(graph_def, name="")
            y = session.run(f"{end}:0", {"serving_default_x:0": known["x"]})
        np.testing.assert_allclose(y, known["y"], rtol=1e-5)
    code, said, _ = command(capsys, "show", str(tmp_path / "frozen.pb"))
    assert code == 0 and "serving_default_x: DT_FLOAT (None, 3)" in said


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_variables_as_arrays(capsys, tmp_path, kind):
    known = np.load(GOLDEN / "saved_model_tf1.expected.npz")
    assert command(capsys, "convert", TF1, str(tmp_path / f"w.{kind}"))[0] == 0
    found = read_arrays(str(tmp_path / f"w.{kind}"))
    np.testing.assert_array_equal(found["w"], known["var:w"])
    np.testing.assert_array_equal(found["b"], known["var:b"])


def test_checkpoints_are_listed(capsys):
    _, said, _ = command(capsys, "show", f"{TF2}/variables/variables")
    assert "layers/0/w/.ATTRIBUTES/VARIABLE_VALUE float32 [3, 5]" in said


@pytest.mark.parametrize(
    "words", [["show", "nowhere"], ["convert", TF2, "model.onnx"], ["show", TF2, "--tag_set", "no"]]
)
def test_what_cannot_be_done(capsys, words):
    code, _, said = command(capsys, *words)
    assert code == 1 and said.startswith(f"ebbflow {words[0]}: ")


def built(text):
    names = {}
    exec(compile(text, "printed", "exec"), names)
    graph = tf.Graph()
    with graph.as_default():
        names["build"]()
    return graph


def test_the_printed_program_builds_the_same_graph(capsys):
    path = str(GOLDEN / "frozen_conv" / "graph.pb")
    code, said, _ = command(capsys, "show", "--python", path)
    assert code == 0
    original = tf.Graph()
    with original.as_default():
        tf.graph_util.import_graph_def(read_graph(path), name="")
    assert graph_defs_equal(built(said).as_graph_def(), original.as_graph_def())


@pytest.mark.parametrize("name", ["v1", "v2"])
def test_printed_loops_compute_the_same(name):
    path = str(GOLDEN / "control_flow" / f"{name}.pb")
    graph_def = read_graph(path)
    other = built(python_code(graph_def, path))
    graph = tf.Graph()
    with graph.as_default():
        tf.graph_util.import_graph_def(graph_def, name="")
    feeds = [op for op in graph.get_operations() if op.type == "Placeholder"]
    plain = [op.name for op in other.get_operations() if op.type in ("Tanh", "Sum", "MatMul", "AddV2", "Identity")]
    common = [n + ":0" for n in plain if n in graph._by_name and _is_number(other.get_tensor_by_name(n + ":0"))]
    random = np.random.RandomState(0)
    values = {f.name + ":0": _value(f, random) for f in feeds}
    with tf.compat.v1.Session(graph=graph) as one, tf.compat.v1.Session(graph=other) as two:
        for ours, theirs in zip(two.run(common, values), one.run(common, values), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    assert common


def _is_number(tensor):
    return tensor.dtype in (tf.float32, tf.int32)


def _value(node, random):
    dims = [3 if d is None else d for d in node.outputs[0].shape.as_list() or ()]
    dtype = node.outputs[0].dtype.as_numpy_dtype
    return np.array(4, dtype) if np.dtype(dtype).kind == "i" else random.randn(*dims).astype(dtype)
