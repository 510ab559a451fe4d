"""The update ops: TensorFlow's answers, in place, whole or not at all."""

import warnings

import ml_dtypes
import numpy as np
import pytest

import ebbflow as tf
from tests.golden.train import update_rules
from tests.golden.train.update_rules import ATTRS, CASES, STEPS, inputs, label, op_name, start

v1 = tf.compat.v1
ANSWERS = update_rules.answers()
RELATIVE = 5e-7  # of the largest number beside it
COMPLEX_CAN = ["GradientDescent", "Momentum", "Adagrad", "AdagradV2", "Adadelta", "RMSProp", "Adam"]


def assert_answers(played, case, relative=RELATIVE):
    for name, wanted in ANSWERS[label(case)].items():
        got = np.asarray(played[name], np.float64)
        np.testing.assert_allclose(got, wanted, rtol=relative, atol=relative * np.abs(wanted).max(), err_msg=name)


def in_session(case, resource, dtype=np.float32):
    """Take the steps in a session, on variables of one kind; return variable and slots afterwards."""
    with tf.Graph().as_default(), v1.Session() as session:
        variables = {
            n: v1.get_variable(n, initializer=a, use_resource=resource) for n, a in start(case[0], dtype).items()
        }
        state = [v.handle if resource else v._ref() for v in variables.values()]
        session.run(v1.global_variables_initializer())
        for step in range(STEPS):
            op = getattr(tf.raw_ops, op_name(case, "Resource" if resource else ""))
            session.run(op(**dict(zip(variables, state)), **inputs(case, step, dtype), **ATTRS[case[1]]))
        return session.run(variables)


@pytest.mark.parametrize("case", CASES, ids=label)
def test_answers_eagerly(case):
    assert_answers(update_rules.play(tf, case), case)


ON_REFERENCES = [case for case in CASES if case[0] not in ("KerasMomentum", "AdamWithAmsgrad")]


@pytest.mark.parametrize("case", ON_REFERENCES, ids=label)
def test_answers_on_references(case):
    assert_answers(in_session(case, False), case)


@pytest.mark.parametrize("case", CASES, ids=label)
def test_answers_on_resources_in_a_session(case):
    assert_answers(in_session(case, True), case)


@pytest.mark.parametrize(
    "dtype, relative",
    [(np.float64, 5e-7), (np.float16, 6e-3), (ml_dtypes.bfloat16, 6e-2)],  # two steps of rounding at each precision
    ids=["double", "half", "bfloat16"],
)
@pytest.mark.parametrize("case", CASES, ids=label)
def test_other_precisions(case, dtype, relative):
    played = update_rules.play(tf, case, dtype)
    assert all(array.dtype == dtype for array in played.values())
    assert_answers(played, case, relative)


@pytest.mark.parametrize("case", [c for c in CASES if c[0] in COMPLEX_CAN and not c[2]], ids=label)
def test_complex_variables_with_real_parts_only(case):
    played = update_rules.play(tf, case, np.complex64)
    assert all(array.dtype == np.complex64 and not array.imag.any() for array in played.values())
    assert_answers({name: array.real for name, array in played.items()}, case)


def test_a_wrong_answer_is_seen():
    played = update_rules.play(tf, CASES[0])
    with pytest.raises(AssertionError):
        assert_answers({"var": played["var"] * (1 + 1e-5)}, CASES[0])


# --- refusals ---------------------------------------------------------------------------------------------------------

MOMENTUM, ROWS, ADAM = ("Momentum", "", False), ("Momentum", "", True), ("Adam", "", False)
F = np.float32

# what is wrong: case, changed state, changed inputs, words; None instead of a session's words: refused when built
REFUSALS = {
    "grad of another shape": (MOMENTUM, {}, {"grad": F([1.0])}, "var and grad do not have the same shape[3,2] [1]"),
    "grad that would broadcast": (MOMENTUM, {}, {"grad": F(1.0)}, "var and grad do not have the same shape[3,2] []"),
    "empty grad": (MOMENTUM, {}, {"grad": np.zeros([0, 2], F)}, "do not have the same shape[3,2] [0,2]"),
    "slot of another shape": (MOMENTUM, {"accum": F([1.0])}, {}, "var and accum do not have the same shape[3,2] [1]"),
    "second slot": (ADAM, {"v": np.ones([3, 1], F)}, {}, "var and v do not have the same shape[3,2] [3,1]"),
    "rate that is no scalar": (MOMENTUM, {}, {"lr": F([0.1])}, "lr is not a scalar: [1]"),
    "power that is no scalar": (ADAM, {}, {"beta2_power": F([[0.1]])}, "beta2_power is not a scalar: [1,1]"),
    "row too far": (ROWS, {}, {"indices": np.int32([0, 3])}, "Index 3 at offset 1 in indices is out of range"),
    "negative row": (ROWS, {}, {"indices": np.int32([-1, 0])}, "Index -1 at offset 0 in indices is out of range"),
    "far row in int64": (ROWS, {}, {"indices": np.int64([2**40, 0])}, "Index 1099511627776 at offset 0"),
    "indices of rank 2": (ROWS, {}, {"indices": np.int32([[0, 1]])}, "indices must be one-dimensional"),
    "more indices than rows": (ROWS, {}, {"indices": np.int32([0, 1, 2])}, "grad must be the same size as indices"),
    "rows of another length": (ROWS, {}, {"grad": np.ones([2, 1], F)}, "var and grad must match in dimension 1"),
    "rows of another rank": (ROWS, {}, {"grad": F([1.0, 2.0])}, "var and grad must match in dimension 1"),
    "rows of a scalar": (
        ROWS,
        {"var": F(1.0), "accum": F(1.0)},
        {"grad": F([1.0, 2.0])},
        "var must be at least 1 dimensional",
    ),
    "slot of another dtype": (
        MOMENTUM,
        {"accum": np.ones([3, 2])},
        {},
        "accum has dtype float64, grad has dtype float32",
    ),
    "grad of another dtype": (
        MOMENTUM,
        {},
        {"grad": np.ones([3, 2]), "lr": np.float64(0.1), "momentum": np.float64(0.1)},
        "var has dtype float32, grad has dtype float64",
    ),
    "integers": (
        ("GradientDescent", "", False),
        {"var": np.int32([1, 2])},
        {"alpha": np.int32(1), "delta": np.int32([1, 2])},
        "var has dtype int32, which is not among",
    ),
    "complex numbers where numbers are compared": (
        ("AdaMax", "", False),
        {name: np.ones([2], np.complex64) for name in ("var", "m", "v")},
        {k: np.complex64(0.5) for k in ["beta1_power", "lr", "beta1", "beta2", "epsilon"]}
        | {"grad": np.ones([2], np.complex64)},
        "var has dtype complex64, which is not among",
    ),
}


@pytest.mark.parametrize("case, state, given, words", REFUSALS.values(), ids=REFUSALS)
def test_refused_eagerly_and_nothing_is_written(case, state, given, words):
    before = {**start(case[0], np.float32), **state}
    variables = {name: tf.Variable(value) for name, value in before.items()}
    arguments = {**inputs(case, 0, np.float32), **given}
    with pytest.raises(tf.errors.InvalidArgumentError) as refused:
        getattr(tf.raw_ops, op_name(case))(**{n: v.handle for n, v in variables.items()}, **arguments)
    assert words in str(refused.value) and f"[Op:{op_name(case)}]" in str(refused.value)
    for name, variable in variables.items():
        np.testing.assert_array_equal(variable.numpy(), before[name])


IN_GRAPHS = {k: v for k, v in REFUSALS.items() if ("dtype" not in k and v[0][0] == "Momentum") or k == "second slot"}


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("case, state, given, words", IN_GRAPHS.values(), ids=IN_GRAPHS)
def test_refused_in_a_session_and_nothing_is_written(case, state, given, words, resource):
    """Shapes are hidden from the graph, so that the op itself has to see them."""
    before = {**start(case[0], np.float32), **state}
    with tf.Graph().as_default(), v1.Session() as session:
        variables = {}
        for name, value in before.items():
            hidden = v1.placeholder_with_default(value, None)
            variables[name] = v1.Variable(hidden, validate_shape=False, use_resource=resource)
        held = {n: v.handle if resource else v._ref() for n, v in variables.items()}
        hidden = {n: v1.placeholder_with_default(a, None) for n, a in {**inputs(case, 0, np.float32), **given}.items()}
        update = getattr(tf.raw_ops, op_name(case, "Resource" if resource else ""))(**held, **hidden)
        session.run(v1.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError) as refused:
            session.run(update)
        assert words in str(refused.value)
        for name, value in session.run(variables).items():
            np.testing.assert_array_equal(value, before[name])


# what is wrong with known shapes: case, changed state, changed inputs, words
WHEN_BUILT = {
    "grad": (MOMENTUM, {}, {"grad": F([1.0])}, "Shapes must be equal rank, but are 2 and 1"),
    "length": (MOMENTUM, {}, {"grad": np.ones([3, 4], F)}, "Dimension 1 in both shapes must be equal, but are 2 and 4"),
    "slot": (MOMENTUM, {"accum": np.ones([2, 2], F)}, {}, "Dimension 0 in both shapes must be equal, but are 3 and 2"),
    "rate": (MOMENTUM, {}, {"lr": F([0.1])}, "Shape must be rank 0 but is rank 1"),
    "indices": (ROWS, {}, {"indices": np.int32([[0, 1]])}, "Shape must be rank 1 but is rank 2"),
    "rows": (ROWS, {}, {"indices": np.int32([0])}, "Dimensions must be equal, but are 1 and 2"),
}


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("case, state, given, words", WHEN_BUILT.values(), ids=WHEN_BUILT)
def test_refused_when_the_graph_is_built(case, state, given, words, resource):
    with tf.Graph().as_default():
        variables = {
            name: v1.get_variable(name, initializer=value, use_resource=resource)
            for name, value in {**start(case[0], np.float32), **state}.items()
        }
        held = {n: v.handle if resource else v._ref() for n, v in variables.items()}
        with pytest.raises(ValueError, match=words):
            getattr(tf.raw_ops, op_name(case, "Resource" if resource else ""))(
                **held, **{**inputs(case, 0, np.float32), **given}
            )


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_slot_without_a_value(resource):
    with tf.Graph().as_default(), v1.Session() as session:
        w, slot = (v1.get_variable(n, initializer=F([1.0, 2.0]), use_resource=resource) for n in ("w", "slot"))
        held = {"var": w, "accum": slot}
        held = {n: v.handle if resource else v._ref() for n, v in held.items()}
        op = getattr(tf.raw_ops, "ResourceApplyMomentum" if resource else "ApplyMomentum")
        update = op(**held, lr=F(0.1), grad=F([1.0, 1.0]), momentum=F(0.9))
        session.run(w.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match="slot"):
            session.run(update)
        np.testing.assert_array_equal(session.run(w), [1.0, 2.0])


# --- whole updates, in place ------------------------------------------------------------------------------------------


def test_a_row_named_twice_is_updated_twice():
    var, accum = tf.Variable(F([[1.0], [2.0]])), tf.Variable(F([[0.0], [0.0]]))
    tf.raw_ops.ResourceSparseApplyMomentum(
        var=var.handle, accum=accum.handle, lr=1.0, grad=F([[1.0], [10.0]]), indices=np.int32([1, 1]), momentum=0.5
    )
    np.testing.assert_array_equal(accum.numpy(), [[0.0], [10.5]])
    np.testing.assert_array_equal(var.numpy(), [[1.0], [2.0 - 1.0 - 10.5]])


def test_no_rows_change_nothing():
    var = tf.Variable(F([[1.0], [2.0]]))
    tf.raw_ops.ResourceSparseApplyProximalGradientDescent(
        var=var.handle, alpha=0.1, l1=0.1, l2=0.1, grad=np.zeros([0, 1], F), indices=np.zeros([0], np.int32)
    )
    np.testing.assert_array_equal(var.numpy(), [[1.0], [2.0]])


def test_warnings_made_errors_do_not_leave_half_an_update():
    var, accum = tf.Variable(F([1.0, 1.0])), tf.Variable(F([0.0, 0.0]))
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        tf.raw_ops.ResourceApplyAdagrad(var=var.handle, accum=accum.handle, lr=F(0.5), grad=F([0.0, 2.0]))
    np.testing.assert_array_equal(accum.numpy(), [0.0, 4.0])
    np.testing.assert_array_equal(var.numpy(), [np.nan, 0.5])


@pytest.mark.parametrize("case", CASES, ids=label)
def test_in_place_and_what_was_read_before_stays(case):
    variables = {name: tf.Variable(np.array(value)) for name, value in start(case[0], np.float32).items()}
    handles = {name: v.handle for name, v in variables.items()}

    def step():
        getattr(tf.raw_ops, op_name(case))(**handles, **inputs(case, 0, np.float32), **ATTRS[case[1]])

    def addresses():
        return [v._storage.read().__array_interface__["data"][0] for v in variables.values()]

    step()
    first = addresses()
    step()
    assert addresses() == first
    read = variables["var"].value()
    before = read.numpy().copy()
    step()
    np.testing.assert_array_equal(read.numpy(), before)
    assert not np.array_equal(variables["var"].numpy(), before)
