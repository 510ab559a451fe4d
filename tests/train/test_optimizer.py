"""What programs do with optimizers besides training: subclass them, steer them, look into them, misuse them."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import context

v1 = tf.compat.v1
train = v1.train

KINDS = ["eager", "resource", "ref"]
START = np.float32([1.0, -2.0, 3.0])

OPTIMIZERS = {
    "sgd": lambda **o: train.GradientDescentOptimizer(0.1, **o),
    "momentum": lambda **o: train.MomentumOptimizer(0.1, 0.9, **o),
    "adagrad": lambda **o: train.AdagradOptimizer(0.1, **o),
    "adadelta": lambda **o: train.AdadeltaOptimizer(1.0, **o),
    "rmsprop": lambda **o: train.RMSPropOptimizer(0.1, **o),
    "centered": lambda **o: train.RMSPropOptimizer(0.1, centered=True, **o),
    "adam": lambda **o: train.AdamOptimizer(0.1, **o),
    "ftrl": lambda **o: train.FtrlOptimizer(0.1, **o),
    "proximal_sgd": lambda **o: train.ProximalGradientDescentOptimizer(0.1, **o),
    "proximal_adagrad": lambda **o: train.ProximalAdagradOptimizer(0.1, **o),
}


def variable(kind, name="w", start=START, **options):
    return v1.get_variable(name, initializer=tf.constant(start), use_resource=kind != "ref", **options)


def trained(kind, make, loss, steps=3, starts=(START,), **options):
    """Minimize `loss(*variables)` with `make(step)`; return the variables and the step counter afterwards."""
    if kind == "eager":
        variables = [variable(kind, f"v{i}", s) for i, s in enumerate(starts)]
        step = tf.Variable(0, dtype=tf.int64)
        optimizer = make(step)
        for _ in range(steps):
            optimizer.minimize(lambda: loss(*variables), global_step=step, **options)
        return [v.numpy() for v in variables], int(step)
    with tf.Graph().as_default(), v1.Session() as session:
        variables = [variable(kind, f"v{i}", s) for i, s in enumerate(starts)]
        step = v1.get_variable(
            "step", initializer=tf.constant(0, tf.int64), trainable=False, use_resource=kind != "ref"
        )
        update = make(step).minimize(loss(*variables), global_step=step, **options)
        session.run(v1.global_variables_initializer())
        for _ in range(steps):
            session.run(update)
        return session.run(variables), int(session.run(step))


def square(*variables):
    return tf.add_n([tf.reduce_sum(tf.square(v - 0.5)) for v in variables])


# --- learning rates ---------------------------------------------------------------------------------------------------

RATES = {
    "number": lambda step: 0.2,
    "int": lambda step: 1,
    "array": lambda step: np.float64(0.2),
    "tensor": lambda step: tf.constant(0.2),
    "double tensor": lambda step: tf.constant(0.2, tf.float64),
    "variable": lambda step: v1.get_variable("rate", initializer=0.2, trainable=False),
    "function": lambda step: lambda: 0.2,
    "schedule": lambda step: train.exponential_decay(0.4, step, 1, 0.5),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", RATES)
def test_rates(rate, kind):
    given, steps = trained(kind, lambda step: train.GradientDescentOptimizer(RATES[rate](step)), square)
    wanted = START - 0.5
    for step in range(3):
        wanted = wanted * (1 - 2 * {"int": 1.0, "schedule": 0.4 * 0.5**step}.get(rate, 0.2))
    np.testing.assert_allclose(given[0], wanted + 0.5, rtol=1e-6)
    assert steps == 3


def test_a_rate_that_changes_between_eager_steps():
    w, rate = tf.Variable(1.0), tf.Variable(0.5)
    optimizer = train.GradientDescentOptimizer(rate)
    optimizer.minimize(lambda: w * 2.0)
    rate.assign(0.25)
    optimizer.minimize(lambda: w * 2.0)
    assert w.numpy() == 1.0 - 1.0 - 0.5


def test_numbers_are_cast_once_a_step_for_all_variables(monkeypatch):
    asked = []
    number = train.AdamOptimizer._number
    monkeypatch.setattr(train.AdamOptimizer, "_number", lambda self, *what: asked.append(what) or number(self, *what))
    values = [np.array([1.0, 2.0]), np.array([0.5]), np.array(3.0)]
    together, alone = ([tf.Variable(v.astype(np.float32)) for v in values] for _ in range(2))
    rate = tf.Variable(0.1)
    one, many = train.AdamOptimizer(rate), [train.AdamOptimizer(rate) for _ in values]
    for step in range(3):
        asked.clear()
        one.apply_gradients([(tf.sin(v), v) for v in together])
        assert len(asked) == 6 and one._known is None
        for optimizer, v in zip(many, alone, strict=True):
            optimizer.apply_gradients([(tf.sin(v), v)])
        for v, w in zip(together, alone, strict=True):
            np.testing.assert_array_equal(v, w)
        rate.assign(0.1 / (2 + step))
    with pytest.raises(tf.errors.InvalidArgumentError):
        one.apply_gradients([(tf.zeros([7]), together[0])])
    assert one._known is None


# --- which variables --------------------------------------------------------------------------------------------------

VAR_LISTS = {
    "list": lambda a, b, c: [a, b],
    "tuple": lambda a, b, c: (a, b),
    "dict": lambda a, b, c: {"first": a, "second": b},
    "nested": lambda a, b, c: [[a], (b,)],
    "iterator": lambda a, b, c: iter([a, b]),
    "single": lambda a, b, c: a,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", VAR_LISTS)
def test_forms_of_var_list(form, kind):
    with context.eager_scope() if kind == "eager" else tf.Graph().as_default():
        a, b, c = (variable(kind, name) for name in "abc")
        optimizer = train.GradientDescentOptimizer(0.1)
        loss = (lambda: square(a, b, c)) if kind == "eager" else square(a, b, c)
        pairs = optimizer.compute_gradients(loss, var_list=VAR_LISTS[form](a, b, c))
        assert [v is w for (_, v), w in zip(pairs, [a, b])] == [True] * (1 if form == "single" else 2)
        assert all(g is not None for g, _ in pairs)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_that_are_none(kind):
    with context.eager_scope() if kind == "eager" else tf.Graph().as_default():
        a, b = variable(kind, "a"), variable(kind, "b")
        optimizer = train.AdamOptimizer(0.1)
        optimizer.apply_gradients([(tf.constant(START), a), (None, b)])
        assert optimizer.get_slot(a, "m") is not None and optimizer.get_slot(b, "m") is None


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_given_as_arrays(kind):
    with context.eager_scope() if kind == "eager" else tf.Graph().as_default():
        a = variable(kind)
        update = train.GradientDescentOptimizer(1.0).apply_gradients([(START, a)])
        value = a if kind == "eager" else _after(update, a)
        np.testing.assert_array_equal(np.asarray(value), [0.0, 0.0, 0.0])


def _after(update, value):
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        session.run(update)
        return session.run(value)


@pytest.mark.parametrize("gate", [train.Optimizer.GATE_NONE, train.Optimizer.GATE_OP, train.Optimizer.GATE_GRAPH])
def test_gates(gate):
    given, _ = trained("resource", lambda step: train.GradientDescentOptimizer(0.1), square, gate_gradients=gate)
    np.testing.assert_allclose(given[0], (START - 0.5) * 0.8**3 + 0.5, rtol=1e-6)


@pytest.mark.parametrize("kind", ["resource", "ref"])
def test_grad_loss_and_colocation(kind):
    given, _ = trained(
        kind,
        lambda step: train.GradientDescentOptimizer(0.1),
        lambda v: tf.square(v),
        steps=1,
        grad_loss=np.float32([1.0, 2.0, 3.0]),
        colocate_gradients_with_ops=True,
    )
    np.testing.assert_allclose(given[0], START - 0.1 * 2 * START * [1, 2, 3], rtol=1e-6)


# --- slots ------------------------------------------------------------------------------------------------------------

SLOTS = {
    "sgd": [],
    "momentum": ["momentum"],
    "adagrad": ["accumulator"],
    "adadelta": ["accum", "accum_update"],
    "rmsprop": ["momentum", "rms"],
    "centered": ["mg", "momentum", "rms"],
    "adam": ["m", "v"],
    "ftrl": ["accum", "linear"],
    "proximal_sgd": [],
    "proximal_adagrad": ["accumulator"],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_slots(name, kind):
    with context.eager_scope() if kind == "eager" else tf.Graph().as_default():
        w = variable(kind, f"{name}/w")
        optimizer = OPTIMIZERS[name](name="Opt")
        assert optimizer.variables() == [] and optimizer.get_name() == "Opt"
        optimizer.apply_gradients([(tf.constant(START), w)])
        assert optimizer.get_slot_names() == SLOTS[name]
        slots = [optimizer.get_slot(w, slot) for slot in SLOTS[name]]
        names = [f"{name}/w/Opt:0", f"{name}/w/Opt_1:0", f"{name}/w/Opt_2:0"]
        assert sorted(s.name for s in slots) == names[: len(slots)]
        assert all(s.shape == w.shape and s.dtype.base_dtype is tf.float32 and not s.trainable for s in slots)
        own = {v.name for v in optimizer.variables()} - {s.name for s in slots}
        assert own == ({"beta1_power:0", "beta2_power:0"} if name == "adam" else set())
        assert optimizer.get_slot(w, "nothing") is None
        assert optimizer.get_slot(variable(kind, "other"), "m") is None


def test_slots_of_two_graphs_are_kept_apart():
    optimizer = train.AdamOptimizer(0.1)
    names = []
    for _ in range(2):
        with tf.Graph().as_default() as graph:
            w = variable("ref")
            optimizer.minimize(square(w))
            names.append([v.name for v in optimizer.variables()])
            assert all(v.graph is graph for v in optimizer.variables())
    assert names[0] == names[1] == ["beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0"]


@pytest.mark.parametrize("kind", ["resource", "ref"])
def test_slots_of_parts_know_which_part_they_are(kind):
    with tf.Graph().as_default():
        parts = v1.get_variable(
            "w", [5, 2], initializer=v1.ones_initializer(), partitioner=v1.fixed_size_partitioner(2),
            use_resource=kind == "resource",
        )  # fmt: skip
        optimizer = train.MomentumOptimizer(0.1, 0.9)
        optimizer.minimize(tf.reduce_sum(tf.square(tf.convert_to_tensor(parts))))
        infos = [optimizer.get_slot(part, "momentum")._get_save_slice_info() for part in parts]
        assert [info.full_name for info in infos] == ["w/Momentum", "w/Momentum"]
        assert [info.spec for info in infos] == ["5 2 0,3:0,2", "5 2 3,2:0,2"]


@pytest.mark.parametrize("kind", ["resource", "ref"])
@pytest.mark.parametrize("name", ["adam", "adagrad", "rmsprop", "momentum", "adadelta"])
def test_variables_of_unknown_shape(name, kind):
    with tf.Graph().as_default(), v1.Session() as session:
        start = v1.placeholder_with_default(np.ones([2, 2], np.float32), [None, 2])
        w = v1.Variable(start, validate_shape=False, use_resource=kind == "resource")
        update = OPTIMIZERS[name]().apply_gradients([(tf.ones([2, 2]), w)])
        session.run(w.initializer)
        session.run(v1.global_variables_initializer())
        session.run(update)
        assert (session.run(w) < 1.0).all()


# --- subclasses -------------------------------------------------------------------------------------------------------


class Signs(train.Optimizer):
    """Steps by the sign of a decaying sum; counts its steps at the end of each."""

    def __init__(self, rate, name="Signs"):
        super().__init__(False, name)
        self._rate = rate

    def _prepare(self):
        self._rate_t = tf.convert_to_tensor(self._rate, name="rate")

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "sum", self._name)
        self._create_non_slot_variable(0.0, "count", var_list[0])

    def _apply_dense(self, grad, var):
        kept = self.get_slot(var, "sum")
        total = kept.assign(0.5 * kept + grad)
        return tf.group(var.assign_sub(self._rate_t * tf.sign(total)))

    def _resource_apply_dense(self, grad, var):
        return self._apply_dense(grad, var)

    def _apply_sparse(self, grad, var):
        return var.scatter_sub(tf.IndexedSlices(self._rate_t * tf.sign(grad.values), grad.indices))

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_sparse(tf.IndexedSlices(grad, indices), var)

    def _finish(self, update_ops, name_scope):
        with tf.control_dependencies([u for u in update_ops if u is not None]):
            graph = None if tf.executing_eagerly() else v1.get_default_graph()
            counted = self._get_non_slot_variable("count", graph).assign_add(1.0)
        return tf.group(*update_ops, counted, name=name_scope)


@pytest.mark.parametrize("kind", KINDS)
def test_an_optimizer_of_ones_own(kind):
    made = []
    given, steps = trained(kind, lambda step: made.append(Signs(0.25)) or made[0], square, steps=4)
    np.testing.assert_allclose(given[0], [0.5, -1.0, 2.0], atol=1e-6)
    assert steps == 4
    if kind == "eager":
        assert {v.name: v.numpy() for v in made[0].variables() if not v.shape.rank} == {"count:0": 4.0}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_reach_a_subclass_once_each(kind):
    def loss(table):
        return tf.reduce_sum(tf.gather(table, [0, 2, 2]) * tf.constant([[1.0], [3.0], [-1.0]]))

    start = np.zeros([4, 1], np.float32)
    given, _ = trained(kind, lambda step: Signs(0.25), loss, steps=1, starts=[start])
    np.testing.assert_array_equal(given[0], [[-0.25], [0.0], [-0.25], [0.0]])


class HalfRate(train.AdamOptimizer):
    def _prepare(self):
        super()._prepare()
        self._lr_t = self._lr_t * 0.5


class Doubled(train.MomentumOptimizer):
    def _apply_dense(self, grad, var):
        return super()._apply_dense(grad * 2.0, var)

    def _resource_apply_dense(self, grad, var):
        return super()._resource_apply_dense(grad * 2.0, var)


class RowsOnly(train.AdamOptimizer):
    def _apply_sparse_shared(self, grad, var, indices, scatter_add):
        return scatter_add(var, indices, -grad)


SUBCLASSES = {
    "rate changed in _prepare": (lambda: HalfRate(0.2), lambda: train.AdamOptimizer(0.1), square),
    "gradient changed": (
        lambda: Doubled(0.1, 0.9),
        lambda: train.MomentumOptimizer(0.1, 0.9),
        lambda v: 2.0 * square(v),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SUBCLASSES)
def test_subclasses_of_rules(name, kind):
    own, known, loss = SUBCLASSES[name]
    given, _ = trained(kind, lambda step: own(), square)
    wanted, _ = trained(kind, lambda step: known(), loss)
    np.testing.assert_allclose(given[0], wanted[0], rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_how_rows_are_applied_can_be_overridden(kind):
    start = np.zeros([3, 1], np.float32)
    given, _ = trained(kind, lambda step: RowsOnly(0.1), lambda t: tf.reduce_sum(tf.gather(t, [1])), 1, [start])
    np.testing.assert_array_equal(given[0], [[0.0], [-1.0], [0.0]])


@pytest.mark.parametrize("kind", KINDS)
def test_constraints(kind):
    with context.eager_scope() if kind == "eager" else tf.Graph().as_default():
        w = variable(kind, constraint=lambda v: tf.clip_by_value(v, -1.0, 1.0))
        optimizer = train.GradientDescentOptimizer(0.1)
        if kind == "eager":
            optimizer.minimize(lambda: square(w))
            given = w.numpy()
        else:
            given = _after(optimizer.minimize(square(w)), w)
        np.testing.assert_allclose(given, np.clip((START - 0.5) * 0.8 + 0.5, -1, 1), rtol=1e-6)
        rows = [(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])), w)]
        with pytest.raises(RuntimeError, match="Cannot use a constraint function on a sparse variable"):
            optimizer.apply_gradients(rows)


# --- loops ------------------------------------------------------------------------------------------------------------


def address(storage):
    return storage.read().__array_interface__["data"][0]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_eager_loop_updates_in_place(name):
    x, w = tf.constant(np.ones([2, 3], np.float32)), tf.Variable(np.ones([3, 3], np.float32))
    optimizer = OPTIMIZERS[name]()
    seen = set()
    for _ in range(4):
        optimizer.minimize(lambda: tf.reduce_sum(tf.square(tf.matmul(x, w) - 0.5)))
        seen.add(tuple(address(v._storage) for v in [w, *optimizer.variables()] if v.shape.rank))
    assert len(seen) == 1
    read = w.value()
    before = read.numpy().copy()
    optimizer.minimize(lambda: tf.reduce_sum(tf.square(tf.matmul(x, w) - 0.5)))
    np.testing.assert_array_equal(read.numpy(), before)
    assert not np.array_equal(w.numpy(), before)


@pytest.mark.parametrize("kind", ["resource", "ref"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_loop_in_a_session_updates_in_place(name, kind):
    with tf.Graph().as_default(), v1.Session() as session:
        x, w = tf.constant(np.ones([2, 3], np.float32)), variable(kind, start=np.ones([3, 3], np.float32))
        update = OPTIMIZERS[name]().minimize(tf.reduce_sum(tf.square(tf.matmul(x, w) - 0.5)))
        session.run(v1.global_variables_initializer())
        seen = set()
        for _ in range(4):
            session.run(update)
            storages = [s for s in session.resources.values() if getattr(s, "dims", None)]
            seen.add(tuple(address(s) for s in storages))
        assert storages and len(seen) == 1
        before = session.run(w)
        kept = before.copy()
        session.run(update)
        np.testing.assert_array_equal(before, kept)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_same_path_eagerly_and_in_graphs(name):
    paths = [trained(kind, lambda step: OPTIMIZERS[name](), square, steps=5)[0][0] for kind in KINDS]
    np.testing.assert_allclose(paths[1], paths[0], rtol=1e-6)
    np.testing.assert_allclose(paths[2], paths[0], rtol=1e-6)


# --- misuse -----------------------------------------------------------------------------------------------------------

W = tf.Variable
GD = train.GradientDescentOptimizer

# what: class, words
EAGER_REFUSALS = {
    "loss that is no function": (
        lambda: GD(0.1).minimize(tf.constant(1.0)),
        RuntimeError,
        "should be a function when eager",
    ),
    "loss of nothing": (lambda: GD(0.1).minimize(lambda: tf.constant(1.0)), ValueError, "No gradients provided"),
    "no pairs": (lambda: GD(0.1).apply_gradients([]), ValueError, "No variables provided."),
    "only None": (
        lambda: GD(0.1).apply_gradients([(None, W(1.0))]),
        ValueError,
        "No gradients provided for any variable",
    ),
    "a tensor to update": (
        lambda: GD(0.1).apply_gradients([(tf.constant(1.0), tf.constant(1.0))]),
        NotImplementedError,
        "Trying to update a Tensor",
    ),
    "a name to update": (
        lambda: GD(0.1).apply_gradients([(tf.constant(1.0), "w")]),
        NotImplementedError,
        "unsupported type",
    ),
    "a gradient that is none": (
        lambda: GD(0.1).apply_gradients([(object(), W(1.0))]),
        TypeError,
        "Gradient must be convertible to a Tensor or IndexedSlices, or None",
    ),
    "a gradient of another shape": (
        lambda: GD(0.1).apply_gradients([(tf.constant([1.0, 2.0]), W([1.0]))]),
        tf.errors.InvalidArgumentError,
        "var and delta do not have the same shape",
    ),
    "a gradient of another dtype": (
        lambda: GD(0.1).apply_gradients([(tf.constant([1.0], tf.float64), W([1.0]))]),
        tf.errors.InvalidArgumentError,
        "var has dtype float32, delta has dtype float64",
    ),
    "a rate that is no scalar": (
        lambda: GD([0.1]).apply_gradients([(tf.constant([1.0]), W([1.0]))]),
        tf.errors.InvalidArgumentError,
        "alpha is not a scalar",
    ),
    "a row that is not there": (
        lambda: train.MomentumOptimizer(0.1, 0.9).apply_gradients(
            [(tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([5])), W([[1.0], [2.0]]))]
        ),
        tf.errors.InvalidArgumentError,
        "Index 5 at offset 0 in indices is out of range",
    ),
    "the base class": (
        lambda: train.Optimizer(False, "base").apply_gradients([(tf.constant(1.0), W(1.0))]),
        NotImplementedError,
        "_resource_apply_dense",
    ),
    "no name": (lambda: GD(0.1, name=""), ValueError, "Must specify the optimizer name"),
    "adagrad from zero": (lambda: train.AdagradOptimizer(0.1, 0.0), ValueError, "must be positive: 0.0"),
    "proximal adagrad": (lambda: train.ProximalAdagradOptimizer(0.1, -1.0), ValueError, "must be positive: -1.0"),
    "adagrad da": (lambda: train.AdagradDAOptimizer(0.1, W(0), 0.0), ValueError, "must be positive: 0.0"),
    "ftrl power": (
        lambda: train.FtrlOptimizer(0.1, learning_rate_power=0.5),
        ValueError,
        "learning_rate_power 0.500000 needs to be negative or zero",
    ),
    "ftrl strength": (
        lambda: train.FtrlOptimizer(0.1, l2_regularization_strength=-0.5),
        ValueError,
        "l2_regularization_strength -0.500000 needs to be positive or zero",
    ),
}


@pytest.mark.parametrize("what, error, words", EAGER_REFUSALS.values(), ids=EAGER_REFUSALS)
def test_refused_eagerly(what, error, words):
    with pytest.raises(error) as refused:
        what()
    assert words in str(refused.value)


GRAPH_REFUSALS = {
    "nothing to train": (lambda w: GD(0.1).minimize(square(w), var_list=[]), ValueError, "No variables to optimize."),
    "integer loss": (lambda w: GD(0.1).minimize(tf.constant(1)), ValueError, "Invalid type tf.int32 for Const"),
    "unconnected": (
        lambda w: GD(0.1).minimize(tf.constant(1.0)),
        ValueError,
        "No gradients provided for any variable, check your graph",
    ),
    "gate": (lambda w: GD(0.1).minimize(square(w), gate_gradients=7), ValueError, "gate_gradients must be one of"),
    "a name": (lambda w: GD(0.1).minimize(square(w), var_list=["w"]), NotImplementedError, "unsupported type"),
    "shape": (lambda w: GD(0.1).apply_gradients([(tf.ones([2]), w)]), ValueError, "both shapes must be equal"),
    "rate": (lambda w: GD([0.1]).minimize(square(w)), ValueError, "Shape must be rank 0 but is rank 1"),
}


@pytest.mark.parametrize("kind", ["resource", "ref"])
@pytest.mark.parametrize("what, error, words", GRAPH_REFUSALS.values(), ids=GRAPH_REFUSALS)
def test_refused_in_a_graph(what, error, words, kind):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        what(variable(kind))


def test_gradients_for_a_tensor_can_be_computed():
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant([1.0, 2.0])
        ((grad, of),) = GD(0.1).compute_gradients(tf.reduce_sum(x * x), var_list=[x])
        assert of is x
        np.testing.assert_array_equal(session.run(grad), [2.0, 4.0])
