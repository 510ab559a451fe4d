"""The global step: made once, found by name or collection, checked."""

import pytest

import ebbflow as tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_made_once_and_found(graph):
    assert v1.train.get_global_step() is None
    with v1.variable_scope("s"), v1.name_scope("n"):
        step = v1.train.create_global_step()
    assert step.name == "s/global_step:0" and step.dtype is tf.int64 and not step.trainable
    assert v1.train.get_global_step() is step and v1.train.get_or_create_global_step() is step
    assert graph.get_collection("global_step") == [step]
    with pytest.raises(ValueError, match='"global_step" already exists'):
        v1.train.create_global_step()


def test_of_another_graph(graph):
    other = tf.Graph()
    step = v1.train.get_or_create_global_step(other)
    assert step.graph is other and v1.train.get_global_step() is None and v1.train.get_global_step(other) is step


def test_its_value(graph):
    step = v1.train.get_or_create_global_step()
    with v1.Session() as session:
        session.run(step.initializer)
        session.run(step.assign_add(5))
        value = v1.train.global_step(session, step)
    assert value == 5 and type(value) is int


def test_a_tensor_by_its_name(graph):
    tensor = tf.constant(3, name="global_step")
    assert v1.train.get_global_step() is tensor


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: tf.constant(1.0, name="global_step"), "does not have integer type"),
        (lambda: tf.constant([1], name="global_step"), "is not scalar"),
        (lambda: v1.add_to_collection("global_step", 3), "must be a Variable or Tensor"),
    ],
)
def test_what_cannot_be_one(graph, make, words):
    make()
    with pytest.raises(TypeError, match=words):
        v1.train.get_or_create_global_step()


def test_two_are_none(graph):
    v1.add_to_collection("global_step", tf.constant(1))
    v1.add_to_collection("global_step", tf.constant(2))
    assert v1.train.get_global_step() is None
