"""Variable scopes and `get_variable`: names, sharing, defaults, getters, parts, threads, templates, and the same
eagerly.

The expected names and words are TensorFlow's (1.15, and 2.21 where it differs).
"""

import threading

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.state.variable_scope import EagerVariableStore

v1 = tf.compat.v1
ZEROS = v1.zeros_initializer()


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def names(variables):
    return [v.name for v in variables]


def get(name, shape=(1,), **options):
    return v1.get_variable(name, list(shape), initializer=ZEROS, **options)


# --- names ------------------------------------------------------------------------------------------------------------


def scoped(*args, **kwargs):
    with v1.variable_scope(*args, **kwargs) as scope:
        return scope.name, scope.original_name_scope


def test_default_names_are_made_unique_where_they_stand(graph):
    assert [scoped(None, "d") for _ in range(2)] == [("d", "d/"), ("d_1", "d_1/")]
    with v1.variable_scope("o"):
        assert [scoped(None, "i")[0] for _ in range(2)] == ["o/i", "o/i_1"]
    with v1.variable_scope("o"):  # the names inside are given again, the name scopes are not
        assert scoped(None, "i") == ("o/i", "o_1/i/")
    assert scoped("given", "ignored") == ("given", "given/")


def test_values_of_other_systems_graphs_name_none(graph):
    class Theirs:
        graph = object()

    with v1.variable_scope(None, "layer", values=[Theirs(), tf.constant(1.0)]) as scope:
        assert scope.name == "layer" and v1.get_variable("w", []).graph is graph


def test_a_scope_entered_again(graph):
    with v1.variable_scope("a") as a, v1.variable_scope(None, "b") as b:
        pass
    with v1.variable_scope(b) as again:
        assert (again.name, again.original_name_scope, tf.constant(1).name) == ("a/b", "a/b/", "b/Const:0")
        assert scoped(None, "k") == ("a/b/k", "b/k/")
    with v1.variable_scope(b):
        assert scoped(None, "k")[0] == "a/b/k"
    with v1.variable_scope("c"), v1.variable_scope(a):
        assert get("v").name == "a/v:0"


def test_one_object_entered_twice(graph):
    once = v1.variable_scope("s")
    with once as first:
        get("v")
    with once as second:
        assert (second.name, second.original_name_scope, tf.constant(1).name) == ("s", "s/", "s_1/Const:0")
    assert first is not second
    unnamed = v1.variable_scope(None, "u")
    seen = []
    for _ in range(2):
        with unnamed as scope:
            seen.append((scope.name, scope.original_name_scope))
    assert seen == [("u", "u/")] * 2 and scoped(None, "u")[0] == "u_1"


def test_names_of_variables_go_by_variable_scopes_alone(graph):
    with v1.name_scope("n"), v1.variable_scope("s"):
        assert get("v").name == "s/v:0" and v1.Variable(1.0).name == "n/s/Variable:0"
    with v1.variable_scope("a/b"):
        assert get("v").name == "a/b/v:0"
    with v1.variable_scope("q", auxiliary_name_scope=False):
        assert tf.constant(1).name == "Const:0" and get("v").name == "q/v:0"


def test_the_graph_of_the_values_is_meant(graph):
    other = tf.Graph()
    with other.as_default():
        value = tf.constant(1.0)
    with v1.variable_scope("s", values=[value]):
        assert v1.get_default_graph() is other and get("v").graph is other
    assert v1.get_default_graph() is graph


@pytest.mark.parametrize(
    "arguments, kind, words",
    [
        (((None,), {}), TypeError, "name_or_scope is required"),
        (((3,), {}), TypeError, "must be a string or VariableScope"),
        ((("s",), {"reuse": "yes"}), ValueError, "must be True or False or None"),
        (((None, "d"), {"reuse": True}), ValueError, "without a name_or_scope"),
        ((("s",), {"auxiliary_name_scope": 1}), TypeError, "auxiliary_name_scope"),
        ((("a b",), {}), ValueError, "not a valid scope name"),
    ],
)
def test_scopes_that_are_refused(graph, arguments, kind, words):
    with pytest.raises(kind, match=words):
        scoped(*arguments[0], **arguments[1])
    assert v1.get_variable_scope().name == "" and graph.get_name_scope() == ""


def test_scopes_are_closed_in_order(graph):
    outer, inner = v1.variable_scope("a"), v1.variable_scope("b")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="Improper nesting"):
        outer.__exit__(None, None, None)


# --- sharing ----------------------------------------------------------------------------------------------------------


def test_sharing_and_its_errors(graph):
    v = get("v", [2])
    with pytest.raises(
        ValueError, match=r"Variable v already exists, disallowed.*reuse=True or reuse=tf.AUTO_REUSE"
    ) as twice:
        get("v", [2])
    assert __file__ in str(twice.value)  # where the first was made
    with v1.variable_scope(v1.get_variable_scope(), reuse=True):
        assert v1.get_variable("v") is v and v1.get_variable("v", [2]) is v
        with pytest.raises(ValueError, match="Variable w does not exist, or was not created with"):
            v1.get_variable("w", [2])
        with pytest.raises(
            ValueError, match=r"Trying to share variable v, but specified shape \(3,\) and found shape \(2,\)."
        ):
            v1.get_variable("v", [3])
        with pytest.raises(
            ValueError, match="Trying to share variable v, but specified dtype int32 and found dtype float32"
        ):
            v1.get_variable("v", [2], tf.int32)
    with v1.variable_scope("", reuse=v1.AUTO_REUSE):
        assert v1.get_variable("v", [2]) is v and get("new") is get("new")
    assert v1.get_variable_scope().reuse is False


def test_variables_not_got_by_name_are_not_shared(graph):
    v1.Variable(1.0, name="v")
    assert get("v").name == "v_1:0"


@pytest.mark.parametrize(
    "outer, inner, expected",
    [
        (None, None, False),
        (None, True, True),
        (True, None, True),
        (True, False, True),
        (v1.AUTO_REUSE, None, v1.AUTO_REUSE),
    ],
)
def test_sharing_is_inherited(graph, outer, inner, expected):
    with v1.variable_scope("a", reuse=outer), v1.variable_scope("b", reuse=inner) as scope:
        assert scope.reuse is expected


# --- what variables start with ----------------------------------------------------------------------------------------

STARTS = [
    (lambda: v1.get_variable("v", initializer=3), tf.int32, []),
    (lambda: v1.get_variable("v", initializer=[1.0, 2.0]), tf.float32, [2]),
    (lambda: v1.get_variable("v", initializer=np.zeros(2)), tf.float64, [2]),
    (lambda: v1.get_variable("v", initializer=lambda: tf.ones([2])), tf.float32, [2]),
    (lambda: v1.get_variable("v", [2], initializer=v1.zeros_initializer), tf.float32, [2]),
    (lambda: v1.get_variable("v", [2], initializer=lambda shape, dtype=None: tf.ones(shape, dtype)), tf.float32, [2]),
    (lambda: v1.get_variable("v", [2], initializer=tf.zeros_initializer()), tf.float32, [2]),
    (lambda: v1.get_variable("v", [2], tf.int64), tf.int64, [2]),
    (lambda: v1.get_variable("v", [2], tf.bool), tf.bool, [2]),
    (lambda: v1.get_variable("v", [2], tf.string), tf.string, [2]),
    (lambda: v1.get_variable("v", 3, "float64"), tf.float64, [3]),
    (lambda: v1.get_variable("v", (), np.float32), tf.float32, []),
    (lambda: v1.get_variable("v", tf.TensorShape([2, 3])), tf.float32, [2, 3]),
]


@pytest.mark.parametrize("make, dtype, dims", STARTS)
def test_initial_values(graph, make, dtype, dims):
    v = make()
    assert (v.name, v.dtype, v.shape.as_list()) == ("v:0", dtype, dims)
    session = v1.Session()
    session.run(v.initializer)
    assert np.shape(session.run(v)) == tuple(dims)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (({"shape": [2, None]}), "shape"),
        (({}), "shape"),
        ({"shape": [2], "initializer": [1.0, 2.0]}, "do not specify shape"),
        (
            {"dtype": tf.int32, "initializer": [1.0]},
            r"Initializer type '<dtype: 'float32'>' and explicit dtype '<dtype: 'int32'>'",
        ),
        ({"shape": [2], "dtype": tf.complex64}, "An initializer for variable v of .* is required"),
        ({"shape": [2], "custom_getter": 3}, "custom_getter which is not callable"),
        ({"shape": [2], "partitioner": 3}, "Partitioner must be callable"),
    ],
)
def test_variables_that_are_refused(graph, arguments, words):
    with pytest.raises(ValueError, match=words):
        v1.get_variable("v", **arguments)


# --- defaults of scopes -----------------------------------------------------------------------------------------------


def test_defaults_are_inherited(graph):
    def penalty(v):
        return tf.reduce_sum(v)

    with v1.variable_scope(
        "s", initializer=v1.ones_initializer(), regularizer=penalty, dtype=tf.float64, use_resource=False
    ) as s:
        with v1.variable_scope("in") as inner:
            assert inner.regularizer is penalty and inner.dtype is tf.float64 and inner.use_resource is False
            v = v1.get_variable("v", [2])
        s.set_regularizer(None)
        s.set_dtype(tf.float32)
        s.set_initializer(ZEROS)
        s.set_use_resource(True)
        w = v1.get_variable("w", [2])
    assert v.dtype.base_dtype is tf.float64 and w.dtype is tf.float32
    assert [t.name for t in v1.get_collection("regularization_losses")] == ["s/in/v/Regularizer/Sum:0"]
    session = v1.Session()
    session.run([v.initializer, w.initializer])
    assert session.run([v, w])[0].tolist() == [1.0, 1.0] and session.run(w).tolist() == [0.0, 0.0]


def test_constraints_are_for_one_scope(graph):
    with v1.variable_scope("s", constraint=abs) as scope:
        assert get("v").constraint is abs
        with v1.variable_scope("in"):
            assert get("v").constraint is None
    with v1.variable_scope(scope):
        assert get("w").constraint is None


def test_regularizers_of_shared_variables_count_once(graph):
    with v1.variable_scope("s", regularizer=lambda v: tf.reduce_sum(v), reuse=v1.AUTO_REUSE):
        for _ in range(2):
            get("v")
        get("free", regularizer=v1.no_regularizer)
    assert len(v1.get_collection("regularization_losses")) == 1


def test_custom_getters_are_called_from_the_inside_out(graph):
    calls = []

    def marking(mark):
        def getter(getter, name, *args, **kwargs):
            calls.append((mark, name))
            return getter(f"{name}_{mark}", *args, **kwargs)

        return getter

    with v1.variable_scope("s", custom_getter=marking("o")), v1.variable_scope("t", custom_getter=marking("i")):
        v = get("v")
    assert v.name == "s/t/v_i_o:0" and calls == [("i", "s/t/v"), ("o", "s/t/v_i")]
    with v1.variable_scope("s", custom_getter=marking("o")):
        assert get("w", custom_getter=marking("own")).name == "s/w_own:0"


def test_a_custom_getter_of_before_constraints(graph):
    def old(getter, name, shape, dtype, initializer, regularizer, reuse, trainable, collections, caching_device,
            partitioner, validate_shape, use_resource, synchronization, aggregation):  # fmt: skip
        return getter(name, shape, dtype, initializer)

    assert get("v", custom_getter=old).name == "v:0"


def test_members_of_a_scope(graph):
    with v1.variable_scope("a") as scope:
        get("v")
        get("fixed", trainable=False)
        v1.get_local_variable("local", [1], initializer=ZEROS, collections=["mine"])
    with v1.variable_scope("ab"):
        get("v")
    assert names(scope.global_variables()) == ["a/v:0", "a/fixed:0"]
    assert names(scope.trainable_variables()) == ["a/v:0"]
    assert names(scope.local_variables()) == names(scope.get_collection("mine")) == ["a/local:0"]


# --- threads ----------------------------------------------------------------------------------------------------------


def test_a_thread_begins_outside_all_scopes(graph):
    seen = []

    def work(scope):
        with graph.as_default():
            seen.append((v1.get_variable_scope().name, scoped(None, "d")[0]))
            with v1.variable_scope(scope):
                seen.append(get("v").name)

    with v1.variable_scope("main") as main:
        scoped(None, "d")
        thread = threading.Thread(target=work, args=(main,))
        thread.start()
        thread.join()
        assert seen == [("", "d"), "main/v:0"]
        with pytest.raises(ValueError, match="already exists"):
            get("v")


# --- parts ------------------------------------------------------------------------------------------------------------


def test_partitioned_variables_are_shared_as_a_whole(graph):
    half = v1.fixed_size_partitioner(2)
    v = get("v", [5, 2], partitioner=half)
    with pytest.raises(ValueError, match="No partitioner was provided, but a partitioned version"):
        get("v", [5, 2])
    with pytest.raises(ValueError, match="Partitioned variable with name v already exists"):
        get("v", [5, 2], partitioner=half)
    get("plain", [4])
    with v1.variable_scope(v1.get_variable_scope(), reuse=True):
        assert v1.get_variable("v", [5, 2]) is v and v1.get_variable("v", [5, 2], partitioner=half) is v
        refused = [
            (("v", [5, 3], half), r"specified shape \(5, 3\) and found shape \(5, 2\)"),
            (
                ("v", [5, 2], v1.fixed_size_partitioner(5)),
                r"specified partitions \[5, 1\] and found partitions \[2, 1\]",
            ),
            (("w", [5, 2], half), "PartitionedVariable w does not exist"),
            (("plain", [4], half), "an unpartitioned version of the variable was found"),
        ]
        for (name, shape, partitioner), words in refused:
            with pytest.raises(ValueError, match=words):
                v1.get_variable(name, shape, partitioner=partitioner)


def test_a_scalar_is_not_divided(graph):
    with v1.variable_scope("s", partitioner=v1.fixed_size_partitioner(2)):
        assert v1.get_variable("v", [], initializer=ZEROS).name == "s/v:0"


def test_parts_by_hand(graph):
    parts = v1.create_partitioned_variables([4, 2], [2, 1], ZEROS, name="p")
    assert names(parts) == ["p/part_0:0", "p/part_1:0"]
    assert names(v1.create_partitioned_variables([4, 2], [1, 2], ZEROS)) == [
        "PartitionedVariable/part_0:0",
        "PartitionedVariable/part_1:0",
    ]
    assert names(v1.create_partitioned_variables([4], [1], ZEROS)) == ["PartitionedVariable_1/part_0:0"]
    with pytest.raises(ValueError, match="must have the length"):
        v1.create_partitioned_variables([4, 2], [2], ZEROS)


# --- eagerly ----------------------------------------------------------------------------------------------------------


def test_eager_variables_are_not_shared_without_a_store():
    with v1.variable_scope("e") as scope:
        a, b = get("v"), get("v")
        assert a is not b and a.name == b.name == "e/v:0"
        assert scope.reuse is v1.AUTO_REUSE and scope.use_resource is True and scope.original_name_scope == "e/"
        assert tf.Variable(1.0).name == "e/Variable:0"
        with pytest.raises(ValueError, match="use_resource cannot be set to false"):
            scope.set_use_resource(False)
        with pytest.raises(NotImplementedError, match="Caching devices"):
            scope.set_caching_device("/cpu:0")


def test_a_store_shares_eager_variables():
    store = EagerVariableStore()
    for _ in range(2):
        with store.as_default(), v1.variable_scope("s"):
            v = get("v", [2])
            get("w", trainable=False)
            v.assign_add([1.0, 1.0])
    assert names(store.variables()) == ["s/v:0", "s/w:0"] and v.numpy().tolist() == [2.0, 2.0]
    assert names(store.trainable_variables()) == ["s/v:0"] and names(store.non_trainable_variables()) == ["s/w:0"]
    copied = store.copy()
    copied.variables()[0].assign([7.0, 7.0])
    assert v.numpy().tolist() == [2.0, 2.0] and copied.variables()[0].name == "s/v:0"
    assert get("v", [2]) is not v


def test_the_global_step_is_found_again_eagerly():
    step = v1.train.get_or_create_global_step()
    try:
        assert v1.train.get_or_create_global_step() is step and v1.train.get_global_step() is step
        step.assign_add(3)
        assert v1.train.global_step(None, step) == 3
    finally:
        v1.get_default_graph().clear_collection("global_step")


# --- templates --------------------------------------------------------------------------------------------------------


def scaled(x, by=1.0):
    return x * by * v1.get_variable("s", [], initializer=v1.constant_initializer(2.0))


def test_templates_share_their_variables(graph):
    one, other = v1.make_template("t", scaled), v1.make_template("t", scaled, by=3.0)
    kept, now = v1.make_template("t", scaled, unique_name_="u"), v1.make_template("n", scaled, create_scope_now_=True)
    made = [one(1.0), one(5.0), other(1.0), kept(1.0), kept(2.0), now(1.0)]
    assert names(v1.global_variables()) == ["t/s:0", "t_1/s:0", "u/s:0", "n/s:0"]
    assert [t.variable_scope_name for t in (one, other, kept, now)] == ["t/", "t_1/", "u/", "n/"]
    assert names(one.variables) == names(one.trainable_variables) == ["t/s:0"] and one.non_trainable_variables == []
    session = v1.Session()
    session.run(v1.global_variables_initializer())
    assert session.run(made) == [2.0, 10.0, 6.0, 2.0, 4.0, 2.0]


def test_templates_refuse_new_variables_after_the_first_call_eagerly():
    names = iter("ba")
    bad = v1.make_template("bad", lambda: v1.get_variable(next(names), []))
    bad()
    with pytest.raises(ValueError, match=r"after the first time.*bad/a"):
        bad()


def test_templates_refuse_new_variables_after_the_first_call(graph):
    bad = v1.make_template("bad", lambda: v1.Variable(1.0))
    bad()
    with pytest.raises(
        ValueError, match=r"after the first time, perhaps you used tf\.Variable when you meant tf\.get_variable"
    ):
        bad()
    with pytest.raises(ValueError, match="name cannot be None"):
        v1.make_template(None, scaled)
    v1.make_template("w", scaled, unique_name_="u")(1.0)
    with pytest.raises(ValueError, match="Variable u/s already exists"):
        v1.make_template("w", scaled, unique_name_="u")(1.0)


def test_eager_templates():
    one, other = v1.make_template("tt", scaled), v1.make_template("tt", scaled)
    assert [float(one(1.0)), float(one(3.0)), float(other(1.0))] == [2.0, 6.0, 2.0]
    one.variables[0].assign(5.0)
    assert float(one(1.0)) == 5.0 and float(other(1.0)) == 2.0
    with pytest.raises(ValueError, match="unique_name_"):
        v1.make_template("x", scaled, unique_name_="u")
