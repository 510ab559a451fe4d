"""TensorFlow's own answers for datasets: eagerly, in a session, and in functions."""

from __future__ import annotations

import base64
import collections
import importlib.util
import json
import pathlib
import re
import zlib

import pytest

import ebbflow as tf
from ebbflow.core import context

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "data"


def _module(name: str):
    spec = importlib.util.spec_from_file_location(f"data_{name}", GOLDEN / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cases, elements = _module("cases"), _module("elements")
NEW = json.loads((GOLDEN / "tf-2.21.json").read_text())
OLD = json.loads((GOLDEN / "tf-1.15.json").read_text())
v1 = tf.compat.v1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = str(tmp_path_factory.mktemp("files"))
    cases.write_files(tf, found)
    return found


def listed(tensor):
    return tensor.numpy().tolist() if tensor.shape.rank else tensor.numpy()


def at_home(kept, folder):
    """What was recorded, with the names of files as they are here."""
    return json.loads(json.dumps(kept).replace("FOLDER", folder))


def written(value):
    return json.loads(json.dumps(elements.plain(value)))


class Shown(collections.OrderedDict):
    """As Python 3.11 and earlier show it: the recorded answers come from there."""

    def __repr__(self):
        return f"OrderedDict({list(self.items())})"


def as_before(spec):
    if isinstance(spec, collections.OrderedDict):
        return Shown((key, as_before(value)) for key, value in spec.items())
    return tuple(map(as_before, spec)) if type(spec) is tuple else spec


@pytest.mark.parametrize("name", cases.DATASETS)
def test_eagerly(name, folder):
    dataset = cases.DATASETS[name](tf, folder)
    kept = at_home(NEW["datasets"][name], folder)
    assert [written(x) for x in dataset] == kept["elements"]
    assert [written(x) for x in dataset] == kept["again"]
    assert str(as_before(dataset.element_spec)) == kept["spec"]
    assert int(dataset.cardinality()) == kept["cardinality"]


NOT_IN_GRAPHS = {"generator_ragged"}  # the generator makes its values in the graph
BY_IDENTITY = {"filter", "map_with_if"}  # there `==` asks whether two tensors are one, as in TF 1
NOT_FETCHED = {"ragged_batch", "ragged_map", "to_ragged_batch", "none"}  # what a session does not fetch


def in_session(tf, make):
    with tf.Graph().as_default():
        following = tf.compat.v1.data.make_one_shot_iterator(make()).get_next()
        with tf.compat.v1.Session() as session:
            found = []
            while len(found) < 1000:
                try:
                    found.append(written(session.run(following)))
                except tf.errors.OutOfRangeError as error:
                    assert "End of sequence" in error.message
                    return found
    return found


@pytest.mark.parametrize("name", [n for n in cases.DATASETS if n not in NOT_IN_GRAPHS | NOT_FETCHED])
def test_in_a_session(name, folder):
    wanted = at_home((OLD if name in BY_IDENTITY else NEW)["datasets"][name]["elements"], folder)
    assert in_session(tf, lambda: cases.DATASETS[name](tf, folder)) == wanted


@pytest.mark.parametrize("name", [n for n in OLD["datasets"] if n not in NOT_FETCHED])
def test_as_in_tf1(name, folder):
    context.enter_v1()
    assert in_session(v1, lambda: cases.DATASETS[name](v1, folder)) == at_home(
        OLD["datasets"][name]["elements"], folder
    )


@pytest.mark.parametrize("name", cases.DATASETS)
def test_in_a_function(name, folder):
    found = []

    @tf.function
    def go_through():
        for element in cases.DATASETS[name](tf, folder):
            flat = [p for p in tf.nest.flatten(element, expand_composites=True) if p is not None]
            tf.py_function(lambda *parts: found.append([listed(p) for p in parts]), flat, [])

    if name in NOT_IN_GRAPHS:
        pytest.skip("the generator makes its values in the graph")
    for _ in range(3):  # the third time it runs compiled
        go_through()
    eager = [
        [listed(p) for p in tf.nest.flatten(element, expand_composites=True) if p is not None]
        for element in cases.DATASETS[name](tf, folder)
    ]
    assert found == eager * 3


@pytest.mark.parametrize("name", {**cases.LOOPS, **cases.ITERATED})
def test_loops(name):
    function, count = {**cases.LOOPS, **cases.ITERATED}[name]
    dataset = tf.data.Dataset.range(count)
    given = iter(dataset) if name in cases.ITERATED else dataset
    kept = NEW["loops"][name]
    assert written(tf.function(lambda x: function(tf, x))(given)) == kept["result"]
    if name in cases.ITERATED:
        assert [written(x) for x in given] == kept["left"]


def test_a_graph_of_tf1():
    kept = OLD["graph"]
    written = v1.GraphDef.FromString(zlib.decompress(base64.b64decode(kept["graph"])))
    types = {node.op for node in written.node}
    assert {"ParallelMapDataset", "MapAndBatchDataset", "OptimizeDataset", "ModelDataset"} <= types
    context.enter_v1()
    with tf.Graph().as_default():
        v1.import_graph_def(written, name="")
        with v1.Session() as session:
            session.run(kept["starts"])
            for fetch, wanted in zip(kept["fetches"], kept["elements"], strict=True):
                assert [session.run(fetch).tolist() for _ in wanted] == wanted
                with pytest.raises(tf.errors.OutOfRangeError):
                    session.run(fetch)


# Where the class of an error is another than TensorFlow's, and why.
OTHER_CLASS = {
    "flat_map_no_dataset": "TypeError",  # 2.21 stumbles while it says so
    "interleave_no_dataset": "TypeError",  # as above
    "reduce_structures": "TypeError",  # as other states of another structure
}


@pytest.mark.parametrize("name", cases.REFUSED)
def test_refused(name, folder):
    kept = NEW["refused"][name]
    if kept is None:
        cases.REFUSED[name](tf, folder)
        return
    with pytest.raises(Exception) as caught:
        cases.REFUSED[name](tf, folder)
    names = [cls.__name__ for cls in type(caught.value).__mro__]
    assert OTHER_CLASS.get(name, kept["class"]) in names, f"{caught.value!r} where TensorFlow has {kept}"
    assert re.search(r"[A-Za-z]{3}", str(caught.value))
