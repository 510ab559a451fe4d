"""TensorFlow's own answers for programs of loops, choices and arrays of tensors, in every way they can be run."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import re

import numpy as np
import pytest

import ebbflow as tf
from tests.functions.graph_defs import decoded, imported

GOLDEN = pathlib.Path(__file__).parent.parent.parent / "golden" / "control_flow"
_spec = importlib.util.spec_from_file_location("control_flow_programs", GOLDEN / "programs.py")
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)
NEW = json.loads((GOLDEN / "tf-2.21.json").read_text())
OLD = json.loads((GOLDEN / "tf-1.15.json").read_text())

v1 = tf.compat.v1


def array(kept):
    return np.array(kept["numbers"], kept["dtype"]).reshape(kept["shape"])


def dense(gradients, xs):
    return [tf.zeros_like(x) if g is None else tf.convert_to_tensor(g) for g, x in zip(gradients, xs, strict=True)]


def loss_of(ys):
    return tf.add_n([tf.reduce_sum(tf.sin(y)) for y in ys if y.dtype == tf.float32])


def slope_of(gradients):
    return tf.add_n([tf.reduce_sum(g * g) for g in gradients])


def eagerly(function, inputs):
    xs = [tf.constant(x) for x in inputs]
    return [[y.numpy() for y in part] for part in with_tapes(function, xs)], None


def with_tapes(function, xs):
    with tf.GradientTape() as outer:
        outer.watch(xs)
        with tf.GradientTape() as inner:
            inner.watch(xs)
            ys = tf.nest.flatten(function(tf, *xs))
            loss = loss_of(ys)
        first = dense(inner.gradient(loss, xs), xs)
        slope = slope_of(first)
    return ys, first, dense(outer.gradient(slope, xs), xs)


def in_session(function, inputs):
    with tf.Graph().as_default():
        xs = [v1.placeholder(tf.float32, np.shape(x)) for x in inputs]
        ys = tf.nest.flatten(function(tf, *xs))
        first = dense(tf.gradients(loss_of(ys), xs), xs)
        second = dense(tf.gradients(slope_of(first), xs), xs)
        with v1.Session() as session:
            for _ in range(2):  # the second time by a Program
                found = session.run([ys, first, second], dict(zip(xs, inputs, strict=True)))
        return found, [y.shape for y in ys]


def in_function(function, inputs):
    shapes = []

    @tf.function(autograph=False)
    def run(*xs):
        found = with_tapes(function, list(xs))
        shapes[:] = [y.shape for y in found[0]]
        return found

    for _ in range(2):
        found = run(*[tf.constant(x) for x in inputs])
    return [[y.numpy() for y in part] for part in found], shapes


WAYS = {"eager": eagerly, "session": in_session, "function": in_function}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NEW["programs"])
def test_program(name, way):
    if (name, way) == ("while_no_back_prop", "eager"):
        pytest.skip("back_prop=False means nothing to a Python loop, in TensorFlow too")
    kept = NEW["programs"][name]
    (values, first, second), shapes = WAYS[way](*programs.PROGRAMS[name])
    for what, found in (("values", values), ("first", first), ("second", second)):
        for mine, theirs in zip(found, kept[what], strict=True):
            theirs = array(theirs)
            assert np.asarray(mine).dtype == theirs.dtype
            np.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=2e-5, err_msg=what)
    if shapes is not None:
        for mine, theirs in zip(shapes, kept["shapes"], strict=True):
            assert mine.rank is not None or theirs is None
            assert mine.is_subtype_of(tf.TensorShape(theirs)), f"{mine} says less than {theirs}"


# TensorFlow stumbles over these by accident: its error is not one that anybody could mean.
ACCIDENTS = {"AttributeError", "AssertionError"}
# Where the error comes from a check that TensorFlow makes and words otherwise in each mode.
OWN_WORDS = {"map_not_callable", "cond_dtypes_differ", "cond_structures_differ", "case_none_holds"}


def words(text):
    text = re.sub(r"^\{\{function_node [^}]*\}\} ", "", text).split("\n")[0]
    text = re.sub(r"<dtype: '(\w+)'>", r"tf.\1", text)
    return re.sub(r"[\w/]+:0", "NAME", text).strip()


@pytest.mark.parametrize("way", ["eager", "graph"])
@pytest.mark.parametrize("name", NEW["refused"])
def test_refusal(name, way):
    kept = NEW["refused"][name][way]
    if kept is None or kept["error"] in ACCIDENTS:
        pytest.skip("TensorFlow 2.21 does not refuse it")
    function, inputs = programs.REFUSED[name]
    xs = [tf.constant(x) for x in inputs]
    with pytest.raises(Exception) as caught:
        if way == "eager":
            function(tf, *xs)
        else:
            tf.function(lambda *xs: function(tf, *xs), autograph=False)(*xs)
    assert kept["error"] in [cls.__name__ for cls in type(caught.value).__mro__]
    if name in OWN_WORDS or "Tensor(" in kept["says"]:
        return
    assert words(kept["says"])[:80] in re.sub(r"[\w/]+:0", "NAME", str(caught.value))


@pytest.mark.parametrize("which", ["forward", "gradient"])
@pytest.mark.parametrize("name", OLD["programs"])
def test_graph_of_switches_and_merges(name, which):
    kept = OLD["programs"][name]
    graph, graph_def = tf.Graph(), decoded(kept["graph" if which == "forward" else "gradient_graph"])
    inputs = programs.PROGRAMS[name][1]
    wanted = kept["fetches" if which == "forward" else "gradient_fetches"]
    find = imported(graph_def, graph, [*wanted, *[f"input_{i}:0" for i in range(len(inputs))]])
    fetches = [find(n) for n in wanted]
    feeds = {find(f"input_{i}:0"): x for i, x in enumerate(inputs)}
    with v1.Session(graph=graph) as session:
        found = session.run(fetches, feeds)
    for mine, theirs in zip(found, kept["values" if which == "forward" else "first"], strict=True):
        np.testing.assert_allclose(mine, array(theirs), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", ["while_scalar", "cond_in_while", "while_in_while", "while_matmul", "case_second"])
def test_gradient_of_what_was_made_functional(name):
    kept = NEW["programs"][name]
    graph = tf.Graph()
    inputs = programs.PROGRAMS[name][1]
    arguments, results = [f"input_{i}:0" for i in range(len(inputs))], OLD["programs"][name]["fetches"]
    find = imported(decoded(OLD["programs"][name]["graph"]), graph, [*arguments, *results])
    with graph.as_default():
        xs, ys = [find(n) for n in arguments], [find(n) for n in results]
        first = dense(tf.gradients(loss_of(ys), xs), xs)
        second = dense(tf.gradients(slope_of(first), xs), xs)
        with v1.Session() as session:
            found = session.run([first, second], dict(zip(xs, inputs, strict=True)))
    for mine, theirs in zip(found, (kept["first"], kept["second"]), strict=True):
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(a, array(b), rtol=2e-4, atol=2e-5)
