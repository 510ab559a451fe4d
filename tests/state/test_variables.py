"""Variables of all kinds: what they are, how they are made, read, changed; identity; graphs, sessions and threads.

What TensorFlow gives for whole programs is compared in test_golden_variables.py; here stands what those do not show.
"""

import copy
import functools
import pickle
import threading

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import context
from ebbflow.state.uninitialized_variable import UninitializedVariable
from ebbflow.state.variables import RefVariable, ResourceVariable, Variable, VariableV1

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.fixture(params=["resource", "reference"])
def make(request, graph):
    """Makes variables of one kind in a graph."""
    return functools.partial(v1.Variable, use_resource=request.param == "resource")


def started(graph):
    session = v1.Session(graph=graph)
    session.run(v1.global_variables_initializer())
    return session


def storage_in(session, name):
    return next(s for key, s in session.resources.items() if key[1] == name)


def address(array):
    return array.__array_interface__["data"][0]


# --- kinds ------------------------------------------------------------------------------------------------------------


def test_all_kinds_are_variables(graph):
    resource, reference = v1.Variable(1.0, use_resource=True), v1.Variable(1.0, use_resource=False)
    assert type(resource) is ResourceVariable and type(reference) is RefVariable
    for v in (resource, reference, resource.assign(2.0)):
        assert isinstance(v, tf.Variable) and isinstance(v, v1.Variable)
    assert not isinstance(reference.assign(2.0), tf.Variable)
    assert tf.Variable is Variable and v1.Variable is VariableV1


def test_the_mode_decides_the_kind(graph):
    assert type(v1.Variable(1.0)) is ResourceVariable
    v1.disable_resource_variables()
    try:
        assert type(v1.Variable(1.0)) is RefVariable
        assert type(tf.Variable(1.0)) is ResourceVariable
        with v1.variable_scope("s", use_resource=True):
            assert type(v1.Variable(1.0)) is ResourceVariable
        with context.eager_scope():
            assert type(v1.Variable(1.0)) is ResourceVariable
    finally:
        v1.enable_resource_variables()


def test_a_dtype_in_the_place_of_trainable():
    v = v1.Variable([0.3], tf.float32)
    assert v.trainable is True and v.dtype is tf.float32


def test_subclasses_make_themselves():
    class Mine(ResourceVariable):
        """A variable of a program's own class."""

    assert type(Mine(2.0)) is Mine and float(Mine(2.0) * 2.0) == 4.0


MADE = [
    (lambda: tf.Variable(3), tf.int32, []),
    (lambda: tf.Variable([1.0, 2.0], dtype=tf.float64), tf.float64, [2]),
    (lambda: tf.Variable(np.zeros((2, 3))), tf.float64, [2, 3]),
    (lambda: tf.Variable(lambda: tf.ones([2])), tf.float32, [2]),
    (lambda: tf.Variable(tf.Variable([1, 2])), tf.int32, [2]),
    (lambda: tf.Variable(["a", "b"]), tf.string, [2]),
    (lambda: tf.Variable([1.0], dtype=tf.bfloat16), tf.bfloat16, [1]),
    (lambda: tf.Variable([1.0, 2.0], shape=tf.TensorShape([None])), tf.float32, [None]),
]


@pytest.mark.parametrize("make_one, dtype, dims", MADE)
def test_what_variables_are_made_of(make_one, dtype, dims):
    v = make_one()
    assert v.dtype is dtype and v.shape.as_list() == dims
    assert v.value().dtype is dtype


REFUSED = [
    (lambda: tf.Variable(), ValueError, "initial_value"),
    (lambda: tf.Variable(None), ValueError, "initial_value"),
    (lambda: tf.Variable(1.0, constraint=3), ValueError, "constraint"),
    (lambda: tf.Variable([1.0, 2.0], shape=[3]), ValueError, "not compatible with the explicitly supplied"),
    (lambda: tf.Variable(tf.constant(1), dtype=tf.float32), ValueError, "float32"),
    (lambda: tf.Variable(1.0, synchronization="odd"), ValueError, "synchronization"),
    (lambda: tf.Variable(1.0, aggregation="odd"), ValueError, "aggregation"),
    (
        lambda: tf.Variable([1.0, 2.0]).assign([1.0]),
        ValueError,
        r"The variable shape \(2,\), and the assigned value shape \(1,\)",
    ),
    (lambda: tf.Variable([1.0, 2.0]).assign_add(1.0), tf.errors.InvalidArgumentError, "shapes must be equal"),
    (lambda: tf.Variable(1.0).assign(tf.constant(1)), ValueError, "float32"),
    (
        lambda: tf.Variable("a").assign_add("b"),
        tf.errors.InvalidArgumentError,
        "not defined for variables of dtype string",
    ),
    (lambda: tf.Variable([1.0]).scatter_add(3), TypeError, "must be a `tf.IndexedSlices`"),
    (lambda: tf.Variable(1.0).initial_value, RuntimeError, "eager"),
    (lambda: tf.Variable(1.0).op, AttributeError, "op"),
    (lambda: tf.Variable(1.0).eval(), RuntimeError, "eager"),
    (lambda: tf.Variable(1.0).to_proto(), RuntimeError, "eager"),
    (lambda: len(tf.Variable([1.0])), TypeError, "len"),
    (lambda: hash(tf.Variable(1.0)), TypeError, r"variable.ref\(\)"),
    (lambda: tf.Variable([1.0]).set_shape([2]), ValueError, "not compatible"),
    (lambda: setattr(tf.Variable([1.0, 2.0]), "shape", 3), AttributeError, "shape"),
    (lambda: tf.Variable(1.0).__iadd__(1.0), RuntimeError, "assign_add"),
]


@pytest.mark.parametrize("call, kind, words", REFUSED)
def test_what_is_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


# --- eager ------------------------------------------------------------------------------------------------------------


def test_an_eager_value_is_updated_in_place_when_nobody_holds_it():
    v = tf.Variable(np.zeros(1000))
    here = address(v._storage.read())
    v.assign_add(np.ones(1000))
    v[0].assign(5.0)
    v.scatter_add(tf.IndexedSlices(tf.constant([1.0], tf.float64), tf.constant([3])))
    assert address(v._storage.read()) == here
    x = v.value()
    v.assign_add(np.ones(1000))
    assert address(v._storage.read()) != here
    assert x.numpy()[0] == 5.0 and v.numpy()[0] == 6.0


@pytest.mark.parametrize(
    "hold", [lambda v: v.value(), lambda v: v.numpy(), lambda v: v[1:], lambda v: np.asarray(v.value())]
)
def test_what_was_read_stays(hold):
    v = tf.Variable([1.0, 2.0, 3.0])
    read = hold(v)
    before = np.array(read)
    for change in (lambda: v.assign_add([1.0] * 3), lambda: v.assign([9.0] * 3), lambda: v[0:2].assign([7.0, 7.0])):
        change()
        np.testing.assert_array_equal(np.array(read), before)


def test_a_variable_does_not_share_memory_with_what_the_program_holds():
    mine = np.ones(3, np.float32)
    v = tf.Variable(mine)
    mine[:] = 5
    other = np.zeros(3, np.float32)
    assert v.numpy().tolist() == [1, 1, 1]
    v.assign(other)
    other[:] = 7
    given = v.numpy()
    given[:] = 8
    assert v.numpy().tolist() == [0, 0, 0]


def test_what_an_assignment_gives_is_the_variable():
    v = tf.Variable(1.0)
    result = v.assign(2.0).assign_add(3.0)
    assert float(v) == float(result) == 5.0
    v.assign(9.0)
    assert float(result) == 9.0
    assert repr(result).startswith("<tf.Variable 'UnreadVariable' shape=() dtype=float32")
    assert v.assign(1.0, read_value=False) is None


def test_identity_and_equality():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 3.0])
    assert (v == w).numpy().tolist() == [True, False] and (v != w).numpy().tolist() == [False, True]
    assert len({v.ref(), v.ref(), w.ref()}) == 2 and v.ref().deref() is v
    assert sorted([v.ref(), w.ref()]) == sorted([w.ref(), v.ref()])  # as structures with such keys are flattened
    with pytest.raises(TypeError, match="Cannot compare"):
        v.ref() < 3  # noqa: B015
    with tf.Graph().as_default():
        a, b = v1.Variable(1.0), v1.Variable(1.0)
        assert a == a and a != b and len({a, b, a}) == 2
    context.switches.tensor_equality = False
    try:
        assert v == v and v != w and len({v, w}) == 2
    finally:
        context.switches.tensor_equality = True


def test_copies_are_variables_of_their_own():
    v = tf.Variable([1.0, 2.0], name="v", trainable=False)
    for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        assert other.name == "v:0" and not other.trainable
        other.assign([5.0, 5.0])
    assert v.numpy().tolist() == [1.0, 2.0]


def test_names_go_by_name_scopes():
    with tf.name_scope("a"), tf.name_scope("b"):
        assert tf.Variable(1.0, name="v").name == "a/b/v:0"
        assert tf.Variable(1.0).name == "a/b/Variable:0"
    assert tf.Variable(1.0, name="v").name == "v:0"


def test_numbers_from_variables():
    assert float(tf.Variable(2.5)) == 2.5 and int(tf.Variable(3)) == 3 and complex(tf.Variable(1.0)) == 1 + 0j
    assert bool(tf.Variable(True)) and not tf.Variable(0)
    assert [float(x) for x in tf.Variable([1.0, 2.0])] == [1.0, 2.0]
    assert np.asarray(tf.Variable([1, 2]), dtype=np.float64).tolist() == [1.0, 2.0]
    assert (np.ones(2, np.float32) + tf.Variable([1.0, 2.0])).numpy().tolist() == [2.0, 3.0]


def test_batches_of_rows():
    v = tf.Variable(np.zeros((2, 3, 2), np.float32))
    v.batch_scatter_update(tf.IndexedSlices(tf.ones([2, 2, 2]), tf.constant([[0, 2], [1, 0]])))
    expected = np.zeros((2, 3, 2))
    expected[0, [0, 2]] = expected[1, [1, 0]] = 1
    np.testing.assert_array_equal(v.numpy(), expected)
    assert v1.batch_scatter_update(v, tf.constant([[1], [1]]), tf.ones([2, 1, 2]) * 2.0).numpy()[0, 1, 0] == 2.0
    w = tf.Variable([1.0, 2.0, 3.0])
    assert w.batch_scatter_update(tf.IndexedSlices([9.0], [1])).numpy().tolist() == [1.0, 9.0, 3.0]


def test_gradients_touch_only_the_rows_read():
    table = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(table.sparse_read([2, 0, 2]) ** 2.0)
    grad = tape.gradient(loss, table)
    assert isinstance(grad, tf.IndexedSlices) and grad.indices.numpy().tolist() == [2, 0, 2]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(table.gather_nd([[0, 1], [0, 1]]))
    assert np.asarray(tape.gradient(loss, table))[0].tolist() == [0.0, 2.0]


def test_variables_are_watched_when_read():
    v, w, fixed = tf.Variable(3.0), tf.Variable(2.0), tf.Variable(5.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * w + fixed * v.read_value()
    assert [x is y_ for x, y_ in zip(tape.watched_variables(), (v, w), strict=True)] == [True, True]
    grads = tape.gradient(y, [v, w, fixed])
    assert [None if g is None else float(g) for g in grads] == [7.0, 3.0, None]


# --- graphs -----------------------------------------------------------------------------------------------------------


def test_changes_in_a_session(make, graph):
    v = make([1.0, 2.0])
    with started(graph) as session:
        assert session.run(v.assign([3.0, 4.0])).tolist() == [3.0, 4.0]
        assert session.run(v.assign_add([1.0, 1.0])).tolist() == [4.0, 5.0]
        assert session.run(v.assign_sub([1.0, 1.0], read_value=False)) is None
        assert session.run(v[1].assign(9.0)).tolist() == [3.0, 9.0]
        v.load([5.0, 6.0], session)
        assert v.eval(session).tolist() == v.eval().tolist() == [5.0, 6.0]
        assert session.run(v.initializer) is None and session.run(v).tolist() == [1.0, 2.0]
        assert session.run(v.initial_value).tolist() == [1.0, 2.0]
        assert session.run(v.is_initialized())


def test_a_session_updates_in_place(make, graph):
    v = make(np.zeros(1000, np.float32), name="v")
    w = make(np.zeros(1000, np.float32), name="w")
    used = tf.reduce_sum(v * v)
    with tf.control_dependencies([used]):
        step = tf.group(
            v.assign_add(np.ones(1000)), w.assign(v1.placeholder_with_default(np.ones(1000, np.float32), [1000]))
        )
    with started(graph) as session:
        here = [address(storage_in(session, n).read()) for n in "vw"]
        for _ in range(3):
            session.run(step)
        assert [address(storage_in(session, n).read()) for n in "vw"] == here
        assert session.run(v)[0] == 3.0


def test_what_was_fetched_stays_and_is_the_programs_own(make, graph):
    v = make([1.0, 2.0])
    step = v.assign_add([1.0, 1.0])
    with started(graph) as session:
        for fetch in (v, v.value(), v.read_value(), v[0:2], tf.identity(v)):
            session.run(v.initializer)
            got = session.run(fetch)
            session.run(step)
            assert got.tolist() == [1.0, 2.0]
            got[:] = -1
            assert session.run(v).tolist() == [2.0, 3.0]


def test_a_fed_array_may_change_after_it_was_assigned(make, graph):
    v, x = make([0.0, 0.0]), v1.placeholder(tf.float32, [2])
    change = v.assign(x)
    with started(graph) as session:
        mine = np.array([1.0, 2.0], np.float32)
        session.run(change, {x: mine})
        mine[:] = 9
        assert session.run(v).tolist() == [1.0, 2.0]
        session.run(v.assign_add([1.0, 1.0]))
        assert mine.tolist() == [9.0, 9.0]


def test_what_waits_for_an_update_sees_it(make, graph):
    v = make(1.0)
    with tf.control_dependencies([v.assign_add(10.0)]):
        after = v + 0.0
        again = tf.identity(v)
    with started(graph) as session:
        assert session.run(after) == 11.0
        assert session.run(again) == 21.0


def test_concurrent_runs_all_count(make, graph):
    v = make(np.zeros(2000, np.float32))
    step, read = v.assign_add(np.ones(2000, np.float32)), v.read_value()
    torn = []
    with started(graph) as session:

        def work():
            for _ in range(25):
                session.run(step.op)
                got = session.run(read)
                if got.min() != got.max():
                    torn.append(got)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not torn
        assert session.run(v).tolist() == [100.0] * 2000


def test_sessions_have_values_of_their_own(make, graph):
    v = make(1.0)
    with started(graph) as one, started(graph) as two:
        one.run(v.assign(5.0))
        assert (one.run(v), two.run(v)) == (5.0, 1.0)
    with v1.Session(graph=graph) as three:
        assert not three.run(v.is_initialized())


def test_an_uninitialised_variable_is_named_with_the_line_that_made_it(make, graph):
    weights = make([1.0], name="weights")
    line = weights.op.line
    for fetch in (weights, weights + 1.0, weights.read_value()):
        with pytest.raises(tf.errors.FailedPreconditionError) as caught:
            v1.Session(graph=graph).run(fetch)
        assert "weights" in str(caught.value) and "uninitialized" in str(caught.value)
        assert str(line) in str(caught.value)


def test_initial_values_that_depend_on_others(make, graph):
    v = make([1.0, 2.0], name="v")
    w = make(v.initialized_value() * 3.0, name="w")
    session = v1.Session(graph=graph)
    session.run(w.initializer)
    assert session.run(w).tolist() == [3.0, 6.0]
    assert not session.run(v.is_initialized())
    session.run(v.initializer)
    session.run(v.assign([5.0, 5.0]))
    session.run(w.initializer)
    assert session.run(w).tolist() == [15.0, 15.0]


def test_a_reference_variable_as_initial_value_is_guarded(graph):
    v = v1.Variable(2.0, name="v", use_resource=False)
    w = v1.Variable(tf.square(v) + 1.0, name="w", use_resource=False)
    session = v1.Session(graph=graph)
    session.run(w.initializer)
    assert session.run(w) == 5.0


def test_many_nodes_between_do_not_matter(graph):
    x = v1.Variable(1.0, use_resource=False) + 0.0
    for _ in range(2000):
        x = x + 1.0
    w = v1.Variable(x, use_resource=False)
    session = v1.Session(graph=graph)
    session.run(w.initializer)
    assert session.run(w) == 2001.0


def test_changing_variables_in_branches(make, graph):
    v, yes = make(1.0), v1.placeholder(tf.bool, [])
    chosen = v1.cond(yes, lambda: tf.identity(v.assign(5.0)), lambda: tf.identity(v))
    with started(graph) as session:
        assert session.run(chosen, {yes: False}) == 1.0 and session.run(v) == 1.0
        assert session.run(chosen, {yes: True}) == 5.0 and session.run(v) == 5.0


def test_a_variable_as_a_message_and_back(make, graph):
    v = make([1.0, 2.0], name="scope/v", trainable=False)
    definition = v.to_proto()
    assert definition.variable_name == "scope/v:0" and definition.is_resource == isinstance(v, ResourceVariable)
    assert v.to_proto(export_scope="other") is None
    assert v.to_proto(export_scope="scope").variable_name == "v:0"
    back = v1.Variable.from_proto(v.to_proto(export_scope="scope"), import_scope="scope")
    assert type(back) is type(v) and back.op is v.op and back.name == v.name and not back.trainable
    with started(graph) as session:
        session.run(back.assign_add([1.0, 1.0]))
        assert session.run([v, back + 0.0])[1].tolist() == [2.0, 3.0]
        assert back.initializer is v.initializer and back.initial_value is v.initial_value


def test_an_eager_variable_is_no_part_of_a_graph():
    v = tf.Variable(1.0)
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="EagerTensor without building a function"):
        v + 1.0


def test_collections(make, graph):
    a = make(1.0)
    b = make(1.0, trainable=False)
    c = make(1.0, collections=[v1.GraphKeys.LOCAL_VARIABLES])
    d = make(1.0, synchronization=tf.VariableSynchronization.ON_READ)
    assert v1.global_variables() == [a, b, d] and v1.trainable_variables() == [a, c] and v1.local_variables() == [c]


def test_who_stands_between_is_asked_last_first(graph):
    seen = []

    def creator(mark):
        def create(next_creator, **arguments):
            seen.append((mark, arguments["name"]))
            return next_creator(**{**arguments, "trainable": False})

        return create

    with tf.variable_creator_scope(creator("outer")), tf.variable_creator_scope(creator("inner")):
        v = tf.Variable(1.0, name="v")
        w = v1.Variable(1.0, name="w", use_resource=False)
        assert len(v1.get_default_graph()._variable_creator_stack) == 2
    assert seen == [("inner", "v"), ("outer", "v"), ("inner", "w"), ("outer", "w")]
    assert not v.trainable and not w.trainable and tf.Variable(1.0).trainable


def test_constraints_are_kept(make, graph):
    clip = tf.abs
    assert make(1.0, constraint=clip).constraint is clip


def test_nothing_to_initialise(graph):
    tf.constant(1.0)
    session = v1.Session(graph=graph)
    assert session.run(v1.global_variables_initializer()) is None
    assert session.run(v1.report_uninitialized_variables()).tolist() == []
    assert v1.assert_variables_initialized() is None


def test_asking_that_all_are_initialised(make, graph):
    a, b = make([1.0]), make([[1.0]])
    check = v1.assert_variables_initialized([a, b])
    session = v1.Session(graph=graph)
    session.run(a.initializer)
    with pytest.raises(tf.errors.FailedPreconditionError):
        session.run(check)
    session.run(b.initializer)
    session.run(check)


def test_shapes_are_known_in_the_bodies_of_branches(graph):
    v = tf.Variable([[1.0, 2.0]])
    seen = []

    def body():
        inside = v.read_value()
        seen.append(inside.shape.as_list())
        return inside

    chosen = v1.cond(v1.placeholder(tf.bool, []), body, body)
    assert seen == [[1, 2], [1, 2]] and chosen.shape.as_list() == [1, 2]


def test_what_an_assignment_gives_waits_for_it(graph):
    v = tf.Variable([1.0, 2.0])
    after = v.assign([5.0, 6.0])
    reads = [after.value(), after.read_value(), after.sparse_read([1]), after.gather_nd([[0]]), after + 1.0, after[0]]
    chained = after.assign_add([1.0, 1.0]).assign_sub([0.0, 3.0])
    with started(graph) as session:
        for fetch, expected in zip(reads, [[5, 6], [5, 6], [6], [5], [6, 7], 5], strict=True):
            session.run(v.initializer)
            assert np.array_equal(session.run(fetch), expected)
        assert session.run(chained).tolist() == [6.0, 4.0]
        assert after.op.type == "AssignVariableOp" and after.name == after.op.name


@pytest.mark.parametrize("asked", ["", "/device:CPU:1"])
def test_an_assignment_and_its_read_stand_where_they_are_written(graph, asked):
    with tf.device("/cpu:0"):
        variable = v1.get_variable("v", [2], use_resource=True)
    with tf.device(asked or None):
        assigned = variable.assign([1.0, 2.0])
    assert (variable.op.device, assigned.op.device) == ("/device:CPU:0", asked)
    assert graph.get_operation_by_name("ReadVariableOp").device == asked


def test_a_variable_without_an_initial_value(tmp_path):
    variable = UninitializedVariable(name="later", shape=[2], dtype=tf.float32)
    assert not variable.is_initialized() and variable.shape == (2,) and variable.trainable
    with pytest.raises(tf.errors.FailedPreconditionError, match="later"):
        variable.numpy()
    checkpoint = tf.train.Checkpoint(later=variable, known=tf.Variable(1.0))
    path = checkpoint.write(str(tmp_path / "c"))
    assert [name for name, _ in tf.train.list_variables(path)] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH", "known/.ATTRIBUTES/VARIABLE_VALUE"
    ]  # fmt: skip
    with pytest.raises(tf.errors.NotFoundError, match=r"Key later/.ATTRIBUTES/VARIABLE_VALUE not found"):
        checkpoint.read(path)
    variable.assign([1.0, 2.0])
    assert checkpoint.write(path) and (variable * 2).numpy().tolist() == [2.0, 4.0]
    checkpoint.read(path).assert_consumed()
    with pytest.raises(ValueError, match="needs a dtype"):
        UninitializedVariable(shape=[])
    with tf.Graph().as_default() as graph, v1.Session() as session:
        variable = UninitializedVariable(name="later", shape=[], dtype=tf.int32)
        session.run(variable.assign(3))
        assert session.run(variable) == 3 and v1.global_variables() == [variable]
        assert [node.name for node in graph.get_operations()][:2] == ["later", "later/Read/ReadVariableOp"]


def test_a_number_is_assigned_in_the_graph_of_the_variable():
    with tf.Graph().as_default() as graph:
        v = tf.compat.v1.get_variable("v", initializer=1.0, use_resource=True)
    with tf.Graph().as_default():
        assigned = v.assign(2.0)
    with tf.compat.v1.Session(graph=graph) as session:
        assert session.run(assigned) == 2.0


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_device_function_is_asked_once_for_a_variable(use_resource):
    """What sets a variable is where the variable is: a function that counts must not count it too."""
    asked = []

    def count(node):
        asked.append(node.name)
        return f"/device:CPU:{len(asked) - 1}"

    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        with graph.device(count):
            variables = [v1.get_variable(name, [], use_resource=use_resource) for name in "ab"]
        assert [name for name in asked if name.endswith("Assign")] == []
        assert all(v.initializer.device == v.device for v in variables)


@pytest.mark.parametrize(
    "name", ["assign", "assign_add", "assign_sub", "value", "read_value", "sparse_read", "gather_nd", "count_up_to"]
)
def test_methods_of_variables_are_those_of_the_class(name):
    assert name in getattr(Variable, name).__qualname__
    assert getattr(ResourceVariable, name) is not getattr(Variable, name)
