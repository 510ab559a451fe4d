"""Profiles of models: options, views, and where the report goes. (Numbers are TensorFlow's, in the recorded cases.)"""

import pytest

import ebbflow as tf
from ebbflow.tf1 import model_profile
from ebbflow.tf1.model_profile import ProfileOptionBuilder

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        with v1.variable_scope("layer"):
            w = v1.get_variable("w", [3, 5])
        tf.matmul(tf.ones([2, 3]), w, name="product")
        yield graph


def test_a_report_on_the_screen(graph, capsys):
    model_profile.profile(graph, options=ProfileOptionBuilder.trainable_variables_parameter())
    told = capsys.readouterr().out
    assert "_TFProfRoot (--/15 params)\n  layer (--/15 params)\n    layer/w (3x5, 15/15 params)\n" in told
    model_profile.profile(graph, cmd="op", options=ProfileOptionBuilder.float_operation())
    assert "MatMul                    60 float_ops" in capsys.readouterr().out


def test_a_report_in_a_file(graph, tmp_path, capsys):
    path = tmp_path / "report.txt"
    options = ProfileOptionBuilder(ProfileOptionBuilder.float_operation()).with_file_output(str(path)).build()
    assert model_profile.profile(graph, cmd="graph", options=options).total_float_ops > 60
    assert "product (60/60 flops)" in path.read_text() and capsys.readouterr().out == ""


def test_lines_of_python(graph):
    options = ProfileOptionBuilder(ProfileOptionBuilder.float_operation()).with_empty_output().build()
    found = model_profile.profile(graph, cmd="code", options=options)
    assert "test_model_profile.py" in found.children[0].name and found.children[0].float_ops >= 60


def test_times_of_a_run(graph):
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        metadata = v1.RunMetadata()
        session.run("product:0", options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), run_metadata=metadata)
    options = ProfileOptionBuilder(ProfileOptionBuilder.time_and_memory(min_bytes=0)).with_empty_output().build()
    profiler = model_profile.Profiler(graph)
    profiler.add_step(1, metadata)
    assert profiler.profile_operations(options).total_exec_micros > 0
    with pytest.raises(ValueError, match=r"no step 7 was added; there are \[1\]"):
        profiler.profile_name_scope({**options, "step": 7})


def test_names_are_chosen_by_expressions(graph):
    base = ProfileOptionBuilder(ProfileOptionBuilder.float_operation()).with_empty_output()
    hidden = base.with_node_names(hide_name_regexes=["product"]).build()
    assert "product" not in str(model_profile.profile(graph, options=hidden))
    with pytest.raises(ValueError, match="cmd must be 'scope', 'graph', 'op' or 'code', got 'nodes'"):
        model_profile.profile(graph, cmd="nodes")
    with pytest.raises(ValueError, match="writes no timelines here"):
        base.with_timeline_output("x")
