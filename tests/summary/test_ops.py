"""Summaries in graphs: tags, scopes, families, collections, and what the ops give."""

import numpy as np
import pytest

import ebbflow as tf
import ebbflow.ops.foundation
from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.graph import Graph
from ebbflow.graph.placeholders import placeholder
from ebbflow.ops.arrays.creation import constant
from ebbflow.runtime.session import Session
from ebbflow.summary import ops as summary

IMAGES = np.linspace(0, 1, 2 * 4 * 4 * 3, dtype=np.float32).reshape(2, 4, 4, 3)
CLIPS = np.sin(np.arange(32, dtype=np.float32)).reshape(2, 16)


def values_of(serialized):
    return messages.Summary.FromString(serialized).value


KINDS = {
    "scalar": (lambda **more: summary.scalar("x", constant(0.5), **more), "simple_value", ["x"]),
    "histogram": (lambda **more: summary.histogram("x", constant([1.0, 2.0]), **more), "histo", ["x"]),
    "image": (lambda **more: summary.image("x", constant(IMAGES), **more), "image", ["x/image/0", "x/image/1"]),
    "audio": (lambda **more: summary.audio("x", constant(CLIPS), 8e3, **more), "audio", ["x/audio/0", "x/audio/1"]),
    "tensor": (lambda **more: summary.tensor_summary("x", constant([[1, 2]]), **more), "tensor", ["x"]),
    "text": (lambda **more: summary.text("x", constant(["a", "b"]), **more), "tensor", ["x"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind(kind):
    make, field, tags = KINDS[kind]
    with Graph().as_default() as graph, Session() as session:
        tensor = make()
        assert tensor.name == "x:0" and tensor.dtype is dtypes.string and tensor.shape.as_list() == []
        assert graph.get_collection(GraphKeys.SUMMARIES) == [tensor]
        values = values_of(session.run(tensor))
    assert [value.tag for value in values] == tags
    assert {value.WhichOneof("value") for value in values} == {field}


@pytest.mark.parametrize("kind", KINDS)
def test_eagerly_the_message_is_given_back(kind):
    make, _, tags = KINDS[kind]
    assert [value.tag for value in values_of(make().numpy())] == tags


@pytest.mark.parametrize("kind", KINDS)
def test_collections(kind):
    make, _, _ = KINDS[kind]
    with Graph().as_default() as graph:
        tensor = make(collections=["mine", "yours"])
        assert graph.get_collection("mine") == graph.get_collection("yours") == [tensor]
        assert not graph.get_collection(GraphKeys.SUMMARIES)
        assert make(collections=[]).name == "x_1:0"


def test_names_and_tags():
    def tag(tensor):
        return values_of(session.run(tensor))[0].tag

    with Graph().as_default() as graph, Session() as session:
        x = constant(1.0)
        with graph.name_scope("outer"):
            inner = summary.scalar("inner loss", x)
        assert inner.name == "outer/inner_loss:0" and tag(inner) == "outer/inner_loss"
        again = summary.scalar("inner loss", x), summary.scalar("inner loss", x)
        assert [tag(one) for one in again] == ["inner_loss", "inner_loss_1"]
        family = summary.scalar("loss", x, family="fam")
        assert family.name == "fam/loss:0" and tag(family) == "fam/fam/loss"
        with graph.name_scope("outer"):
            assert tag(summary.histogram("h", x, family="fam")) == "fam/outer_1/fam/h"
        assert tag(summary.scalar("/a:b", x)) == "a_b"


def test_metadata():
    with Graph().as_default(), Session() as session:
        words = values_of(session.run(summary.text("words", constant("hello"))))[0]
        assert words.metadata.plugin_data.plugin_name == "text" and words.tensor.string_val == [b"hello"]
        foreign = messages.SummaryMetadata(display_name="theirs")
        shown = summary.tensor_summary("t", constant(1), "described", summary_metadata=foreign, display_name="mine")
        metadata = values_of(session.run(shown))[0].metadata
        assert (metadata.display_name, metadata.summary_description) == ("mine", "described")
        assert foreign.display_name == "theirs"
    with pytest.raises(ValueError, match="to have dtype string, got int32"):
        summary.text("t", constant(1))


def test_merging():
    with Graph().as_default() as graph, Session() as session:
        assert summary.merge_all() is None
        x = placeholder(dtypes.float32, [2], name="x")
        first = summary.scalar("first", x[0])
        with graph.name_scope("deep"):
            summary.histogram("second", x)
        merged = summary.merge_all()
        assert merged.name == "Merge/MergeSummary:0"
        assert [v.tag for v in values_of(session.run(merged, {x: [1, 2]}))] == ["first", "deep/second"]
        assert [v.tag for v in values_of(session.run(summary.merge_all(scope="deep"), {x: [1, 2]}))] == ["deep/second"]
        named = summary.merge([first], collections=["merged"], name="again")
        assert named.name == "again/again:0" and graph.get_collection("merged") == [named]
        with pytest.raises(errors.InvalidArgumentError, match="Duplicate tag first found in summary inputs"):
            session.run(summary.merge([first, first]), {x: [1, 2]})
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        summary.merge_all()
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        summary.merge([])


def test_the_node_is_named_where_a_histogram_fails():
    with Graph().as_default(), Session() as session:
        x = placeholder(dtypes.float32, [None])
        histogram = summary.histogram("weights", x)
        with pytest.raises(errors.InvalidArgumentError, match="Nan in summary histogram for: weights"):
            session.run(histogram, {x: [np.nan]})


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: summary.scalar("s", constant([1.0, 2.0])), "tags and values are not the same shape: [] != [2]"),
        (
            lambda: summary.image("i", constant(np.zeros((2, 2), np.float32))),
            "Tensor must be 4-D with last dim 1, 3, or 4",
        ),
        (lambda: summary.audio("a", constant(np.zeros(3, np.float32)), 8e3), "Tensor must be 3-D or 2-D, got: [3]"),
    ],
)
def test_wrong_shapes(make, words):
    with pytest.raises(errors.InvalidArgumentError) as raised:
        make()
    assert words in raised.value.message


def test_bad_color_is_red_by_default_and_in_the_graph():
    picture = np.full((1, 1, 1, 3), np.nan, np.float32)
    with Graph().as_default() as graph:
        summary.image("im", constant(picture))
    color = graph.as_graph_def().node[-1].attr["bad_color"].tensor
    assert list(color.int_val) == [255, 0, 0, 255] and color.dtype == dtypes.uint8.as_datatype_enum
    green = summary.ImageSummary("im", picture, bad_color=np.uint8([0, 255, 0, 255])).numpy()
    assert green != summary.ImageSummary("im", picture).numpy()


def test_old_ops():
    value = values_of(summary.AudioSummary("a", CLIPS, sample_rate=8e3).numpy())[0]
    assert value.audio.sample_rate == 8000.0
    with Graph().as_default(), Session() as session:
        node = summary.TensorSummary(constant([1.0]), description='{"type_hint": "vector"}', name="whole")
        assert values_of(session.run(node))[0].node_name == "whole"
        assert summary.get_summary_description(node.op.node_def).type_hint == "vector"
        with pytest.raises(ValueError, match="Can't get_summary_description on Const"):
            summary.get_summary_description(node.op.inputs[0].op.node_def)


def test_a_sound_has_one_sample_rate():
    with pytest.raises(tf.errors.InvalidArgumentError, match="sample_rate must be rank-0 or contain a single value"):
        tf.raw_ops.AudioSummaryV2(tag="x", tensor=[[1.0]], sample_rate=[2.0, 2.0])
