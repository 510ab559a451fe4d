"""Effects in the order they were written: in blocks of a session's graph, and in functions that read in bodies."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.functions.auto_control_deps import (
    AutomaticControlDependencies,
    automatic_control_dependencies,
    get_read_write_resource_inputs,
)

v1 = tf.compat.v1


@pytest.fixture
def session():
    with tf.Graph().as_default(), v1.Session() as session:
        yield session


def variable(session):
    made = v1.get_variable("v", initializer=1.0, use_resource=True)
    session.run(made.initializer)
    return made


def test_a_block_runs_its_effects_in_order(session):
    v = variable(session)
    with AutomaticControlDependencies() as block:
        v.assign(v + 1)
        v.assign(2 * v)
        value = block.mark_as_return(v.read_value())
    assert session.run(value) == 4.0


def test_reads_wait_for_the_last_write_and_writes_for_all(session):
    v = variable(session)
    with AutomaticControlDependencies() as block:
        reads = [tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=tf.float32).op for _ in range(2)]
        write = tf.raw_ops.AssignVariableOp(resource=v.handle, value=tf.constant(2.0))
        late = tf.raw_ops.ReadVariableOp(resource=tf.raw_ops.Identity(input=v.handle), dtype=tf.float32).op
        block.mark_as_return(late.outputs[0])
    assert set(reads) <= set(write.control_inputs) and write in late.control_inputs
    assert not set(reads) & {n for read in reads for n in read.control_inputs}
    assert {write, late} <= block.ops_which_must_run
    assert [len(found) for found in get_read_write_resource_inputs(write)] == [0, 1]
    assert [len(found) for found in get_read_write_resource_inputs(late)] == [1, 0]


def test_a_function_whose_result_waits(session):
    v = variable(session)

    @automatic_control_dependencies
    def twice():
        v.assign(v + 1)
        return tf.constant(7.0)

    assert session.run(twice()) == 7.0 and session.run(v) == 2.0


@pytest.mark.parametrize("kind", ["If", "While", "StatefulPartitionedCall"])
def test_bodies_that_only_read_are_readers(kind):
    v = tf.Variable(1.0)
    inner = tf.function(lambda: v.read_value())
    bodies = {
        "If": lambda: tf.cond(v > 0, v.read_value, lambda: tf.zeros([])),
        "While": lambda: tf.while_loop(lambda x: x < 1, lambda x: [x + v], [0.0]),
        "StatefulPartitionedCall": inner,
    }

    @tf.function
    def function():
        tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=tf.float32, name="before")
        bodies[kind]()
        v.assign(2.0)

    nodes = function.get_concrete_function().graph.get_operations()
    reader = next(node for node in nodes if node.type == kind)
    write = next(node for node in nodes if node.type == "AssignVariableOp")
    assert not reader.control_inputs and reader in write.control_inputs


def test_an_effect_that_keeps_no_order():
    v = tf.Variable(1)

    @tf.function
    def function():
        manager = v1.get_default_graph().experimental_acd_manager
        first = tf.raw_ops.AssignVariableOp(resource=v.handle, value=1)
        manager.run_independently(tf.raw_ops.AssignVariableOp(resource=v.handle, value=2))
        return first

    graph = tf.function(lambda: function.python_function() and None).get_concrete_function().graph
    assert all(not node.control_inputs for node in graph.get_operations() if node.type == "AssignVariableOp")
