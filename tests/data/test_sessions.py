"""Datasets in TF 1 graphs: the four kinds of iterators, what they refuse, and graphs that are written and read."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow
from ebbflow.core import context

tf = ebbflow.compat.v1
Dataset = tf.data.Dataset


def drained(session, tensor, feed=None):
    found = []
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        while len(found) < 100:
            found.append(session.run(tensor, feed).tolist())
    return found


def test_one_shot():
    with tf.Graph().as_default():
        following = Dataset.range(3).map(lambda x: x * 2).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            assert drained(session, following) == [0, 2, 4]
            assert drained(session, following) == []
        with tf.Session() as session:
            assert drained(session, following) == [0, 2, 4]


def test_one_shot_keeps_no_state():
    with tf.Graph().as_default():
        start = tf.random_uniform([], maxval=5, dtype=tf.int64)
        with pytest.raises(ValueError, match=r"Cannot capture a stateful node .*make_initializable_iterator"):
            Dataset.range(start, 10).make_one_shot_iterator()
        with pytest.raises(ValueError, match=r"type:Placeholder"):
            Dataset.range(tf.placeholder(tf.int64, [])).make_one_shot_iterator()


def test_initializable():
    with tf.Graph().as_default():
        count = tf.placeholder(tf.int64, [])
        iterator = Dataset.range(count).make_initializable_iterator()
        following = iterator.get_next()
        with tf.Session() as session:
            with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
                session.run(following)
            for n in (2, 3):
                session.run(iterator.initializer, {count: n})
                assert drained(session, following) == list(range(n))


def test_two_sessions_have_two_iterators():
    with tf.Graph().as_default():
        iterator = Dataset.range(9).make_initializable_iterator()
        following = iterator.get_next()
        with tf.Session() as first, tf.Session() as second:
            first.run(iterator.initializer)
            second.run(iterator.initializer)
            assert [first.run(following), first.run(following), second.run(following)] == [0, 1, 0]


def test_reinitializable():
    with tf.Graph().as_default():
        train, test = Dataset.range(3), Dataset.range(10, 12)
        iterator = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
        following = iterator.get_next()
        starts = iterator.make_initializer(train), iterator.make_initializer(test, name="for_test")
        assert starts[1].name == "for_test"
        with tf.Session() as session:
            for start, wanted in [(starts[0], [0, 1, 2]), (starts[1], [10, 11]), (starts[0], [0, 1, 2])]:
                session.run(start)
                assert drained(session, following) == wanted
        with pytest.raises(ValueError, match="does not have an initializer"):
            _ = iterator.initializer
        with pytest.raises(TypeError, match="but got dataset with output types"):
            iterator.make_initializer(Dataset.from_tensors(1.5))
        with pytest.raises(ValueError, match="structure"):
            iterator.make_initializer(Dataset.zip((train, test)))


def test_feedable():
    with tf.Graph().as_default():
        handle = tf.placeholder(tf.string, [])
        first, second = Dataset.range(5).make_one_shot_iterator(), Dataset.range(50, 55).make_one_shot_iterator()
        following = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
        names = first.string_handle(), second.string_handle()
        with tf.Session() as session:
            a, b = session.run(names)
            assert [int(session.run(following, {handle: x})) for x in (a, b, a, b)] == [0, 50, 1, 51]
            with pytest.raises(tf.errors.InvalidArgumentError, match="no iterator is called"):
                session.run(following, {handle: "nothing"})


def test_types_shapes_and_classes():
    with tf.Graph().as_default():
        dataset = Dataset.from_tensor_slices({"x": np.zeros([4, 2], np.float32), "y": [1, 2, 3, 4]}).batch(2)
        assert dataset.output_types == {"x": tf.float32, "y": tf.int32}
        assert tf.data.get_output_types(dataset) == dataset.output_types
        assert {k: s.as_list() for k, s in dataset.output_shapes.items()} == {"x": [None, 2], "y": [None]}
        assert dataset.output_classes == {"x": tf.Tensor, "y": tf.Tensor}
        iterator = dataset.make_one_shot_iterator()
        assert iterator.output_types == dataset.output_types
        assert {k: t.shape.as_list() for k, t in iterator.get_next().items()} == {"x": [None, 2], "y": [None]}


def test_variables_are_read_when_an_element_is_made():
    with tf.Graph().as_default():
        scale = tf.get_variable("scale", initializer=np.int64(3), use_resource=True)
        iterator = Dataset.range(5).map(lambda x: x * scale).make_initializable_iterator()
        following = iterator.get_next()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(iterator.initializer)
            before = [session.run(following), session.run(following)]
            session.run(scale.assign(10))
            assert [*before, session.run(following)] == [0, 3, 20]


@pytest.mark.parametrize("make", [Dataset.from_tensor_slices, lambda x: Dataset.from_tensors(x).repeat(2)])
def test_what_was_fed_may_be_changed_afterwards(make):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 3])
        iterator = make(x).make_initializable_iterator()
        following = iterator.get_next()
        for k in range(3):
            fed = np.full((2, 3), k, "f")
            session.run(iterator.initializer, {x: fed})
            fed[:] = -1
            assert {float(session.run(following).max()) for _ in range(2)} == {k}


def test_sparse_rows():
    with tf.Graph().as_default():
        rows = Dataset.from_sparse_tensor_slices(tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2]))
        following = rows.make_one_shot_iterator().get_next()
        with tf.Session() as session:
            found = [[part.tolist() for part in session.run(following)] for _ in range(3)]
    assert found == [[[[1]], [5], [2]], [[], [], [2]], [[[0]], [6], [2]]]


def test_a_graph_is_written_and_read():
    with tf.Graph().as_default() as graph:
        dataset = Dataset.range(10).shuffle(4, seed=2).map(lambda x: x * 2 + 3).filter(lambda x: x > 5).batch(2)
        iterator = dataset.repeat(2).make_initializable_iterator()
        tf.identity(iterator.get_next(), name="following")
        tf.identity(dataset.make_one_shot_iterator().get_next(), name="other")
        written = graph.as_graph_def()
    types = {node.op for node in written.node}
    assert {"RangeDataset", "MapDataset", "FilterDataset", "BatchDatasetV2", "IteratorV2", "MakeIterator"} <= types
    assert {"OneShotIterator", "IteratorGetNext", "ShuffleDataset", "RepeatDataset"} <= types
    with tf.Graph().as_default():
        tf.import_graph_def(tf.GraphDef.FromString(written.SerializeToString()), name="")
        with tf.Session() as session:
            session.run("MakeIterator")
            both = drained(session, "following:0"), drained(session, "other:0")
    # what TensorFlow 2.21 gives for this graph
    assert both[1] == [[7, 11], [15, 9], [17, 13], [21, 19]]
    assert both[0] == [*both[1], [11, 9], [13, 7], [21, 17], [19, 15]]


def test_the_end_in_the_middle_of_other_work():
    with tf.Graph().as_default():
        following = Dataset.range(2).batch(3).make_one_shot_iterator().get_next()
        total = tf.reduce_sum(following)
        with tf.Session() as session:
            assert session.run([total, following])[0] == 1
            with pytest.raises(tf.errors.OutOfRangeError) as caught:
                session.run(total)
    assert caught.value.op.type == "IteratorGetNext"
    assert caught.value.message.startswith("End of sequence")


def test_at_the_tf1_door():
    context.enter_v1()
    from ebbflow.api import namespace, views

    names = views.view("v1").names
    contrib = {n.rpartition(".")[2]: namespace.resolve(t) for n, t in names.items() if n.startswith("contrib.data.")}
    with tf.Graph().as_default():
        dataset = contrib["Dataset"].from_tensor_slices([1, 2, 3, 4, 5])
        dataset = dataset.apply(contrib["map_and_batch"](lambda x: x * 2, 2))
        dataset = dataset.apply(contrib["unbatch"]()).apply(contrib["batch_and_drop_remainder"](2))
        following = dataset.make_one_shot_iterator().get_next()
        assert following.shape.as_list() == [2]
        with tf.Session() as session:
            assert drained(session, following) == [[2, 4], [6, 8]]


def test_eager_iterators_of_tf1():
    iterator = Dataset.range(3).make_one_shot_iterator()
    assert [int(iterator.get_next()), *map(int, iterator)] == [0, 1, 2]
    with pytest.raises(RuntimeError, match="not supported in eager mode"):
        Dataset.range(3).make_initializable_iterator()


@pytest.mark.parametrize("dataset, error, says", [
    (lambda: tf.data.Dataset.from_tensors([1]), TypeError, "Expected output shapes compatible with"),
    (lambda: tf.data.Dataset.from_tensors(1.0), TypeError, "Expected output types .*int32"),
    (lambda: tf.data.Dataset.from_tensors((1, 2)), ValueError, "same nested structure"),
])  # fmt: skip
def test_an_iterator_refuses_other_elements(dataset, error, says):
    with tf.Graph().as_default():
        iterator = tf.compat.v1.data.Iterator.from_structure(tf.int32, [])
        with pytest.raises(ValueError, match="The iterator does not have an initializer"):
            iterator.initializer  # noqa: B018
        with pytest.raises(error, match=says):
            iterator.make_initializer(dataset())
