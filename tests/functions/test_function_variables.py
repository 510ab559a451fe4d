"""Variables that functions make: on the first call only, outside of the function, with what they start from."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf


def traced(function=None, **options):
    return tf.function(function, autograph=False, **options)


class Made:
    """A function that makes its variable in its first call."""

    def __init__(self, initial):
        self.v = None
        self.traces = 0
        self.initial = initial

    @tf.function(autograph=False)
    def __call__(self, x):
        self.traces += 1
        if self.v is None:
            self.v = tf.Variable(self.initial(x))
        return self.v * x


INITIAL = {
    "number": (lambda x: 3.0, 3.0),
    "tensor": (lambda x: tf.fill([], 3.0), 3.0),
    "computed": (lambda x: tf.reduce_sum(tf.ones([3])), 3.0),
    "callable": (lambda x: lambda: tf.fill([], 3.0), 3.0),
    "from an argument": (lambda x: x * 2.0 - 1.0, 3.0),
}


@pytest.mark.parametrize("kind", INITIAL)
def test_made_once(kind):
    initial, value = INITIAL[kind]
    f = Made(initial)
    for _ in range(2):
        assert float(f(tf.constant(2.0))) == 2 * value
    assert float(f.v) == value
    assert f.traces == 2  # once with the variable, once without what made it
    f.v.assign(7.0)
    assert float(f(tf.constant(1.0))) == 7.0
    np.testing.assert_allclose(f(tf.constant([1.0, 2.0])), [7.0, 14.0])
    assert f.traces == 3


def test_concrete_functions_make_them_too():
    f = Made(lambda x: 3.0)
    concrete = f.__call__.get_concrete_function(tf.TensorSpec([]))
    assert float(concrete(tf.constant(2.0))) == 6.0
    assert concrete.variables == (f.v,)


def test_initial_value_from_an_argument_without_value():
    f = Made(lambda x: x * 2.0)
    with pytest.raises(ValueError, match=r"Unable to lift tensor .* depends transitively on placeholder"):
        f.__call__.get_concrete_function(tf.TensorSpec([]))


def test_made_by_a_function_inside():
    class Layer:
        w = None

        @tf.function(autograph=False)
        def __call__(self, x):
            if self.w is None:
                with tf.name_scope("layer"):
                    self.w = tf.Variable(tf.ones([2]), name="w")
            return self.w * x

    layer = Layer()
    outer = traced(lambda x: layer(x) + layer(x * 2.0))
    for _ in range(2):
        np.testing.assert_allclose(outer(tf.constant(3.0)), [9.0, 9.0])
    assert layer.w.name == "layer/w:0"
    with tf.GradientTape() as tape:
        y = outer(tf.constant(3.0))
    np.testing.assert_allclose(tape.gradient(y, layer.w), [9.0, 9.0])


def test_refused_on_each_trace():
    with pytest.raises(
        ValueError, match=r"tf\.function only supports singleton tf\.Variables created on the first call"
    ):
        traced(lambda: tf.Variable(1.0) + 1.0)()


def test_refused_on_a_later_call():
    f = traced(lambda n: tf.Variable(3.0) + 1.0 if n == 2 else tf.constant(1.0))
    assert float(f(1)) == 1.0
    with pytest.raises(ValueError, match="Creating variables on a non-first call to a function decorated with"):
        f(2)
    assert float(f(3)) == 1.0


def test_not_made_while_a_graph_is_run_eagerly():
    with tf.Graph().as_default():
        f = Made(lambda x: 3.0)
        y = f(tf.constant(2.0))
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            assert session.run(y) == 6.0
            session.run(f.v.assign(5.0))
            assert session.run(y) == 10.0
        assert tf.compat.v1.global_variables() == [f.v]


def test_a_creator_outside_is_asked():
    asked = []

    def creator(make, **given):
        asked.append(given["name"])
        return make(**given)

    class F:
        v = None

        @tf.function(autograph=False)
        def __call__(self):
            if self.v is None:
                self.v = tf.Variable(1.0, name="mine")
            return self.v + 1.0

    with tf.variable_creator_scope(creator):
        assert float(F()()) == 2.0
    assert asked == ["mine"]


def test_recording_stops_where_variables_are_made():
    f = Made(lambda x: tf.ones([]) * 3.0)
    with tf.GradientTape() as tape:
        y = f(tf.constant(2.0))
    assert float(tape.gradient(y, f.v)) == 2.0


def test_optimizer_step_in_a_function():
    w = tf.Variable([1.0, 2.0])
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)

    @traced
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w * x) ** 2.0)
        grads = tape.gradient(loss, [w])
        optimizer.apply_gradients(zip(grads, [w], strict=True))
        return loss

    losses = [float(step(tf.constant([1.0, 1.0]))) for _ in range(3)]
    assert losses[0] > losses[1] > losses[2]
    np.testing.assert_allclose(w, [1.0 * 0.8**3, 2.0 * 0.8**3], rtol=1e-5)


# --- the type of a variable -------------------------------------------------------------------------------------------

SPECS = [  # how the variable is made, its type
    (lambda: tf.Variable([1.0, 2.0]), "VariableSpec(shape=(2,), dtype=tf.float32, trainable=True, alias_id=None)"),
    (lambda: tf.Variable(1, trainable=False), "VariableSpec(shape=(), dtype=tf.int32, trainable=False, alias_id=None)"),
    (
        lambda: tf.Variable([1.0], shape=tf.TensorShape([None])),
        "VariableSpec(shape=(None,), dtype=tf.float32, trainable=True, alias_id=None)",
    ),
]


@pytest.mark.parametrize(("make", "text"), SPECS)
def test_the_type_of_a_variable(make, text):
    variable = make()
    spec = tf.type_spec_from_value(variable)
    assert repr(spec) == text and isinstance(spec, tf.TypeSpec) and spec.value_type is type(variable)
    assert spec.is_compatible_with(variable) and spec == tf.type_spec_from_value(make())
    assert tf.nest.flatten(spec, expand_composites=True) == [spec]


def test_variables_of_one_type_share_a_trace_and_one_given_twice_is_one():
    traces = []

    @tf.function(autograph=False)
    def step(a, b):
        traces.append(a is b)
        a.assign(b + 1.0)
        return a + b

    v, w = tf.Variable([1.0]), tf.Variable([10.0])
    assert [step(v, w).numpy()[0], step(w, v).numpy()[0]] == [21.0, 23.0] and traces == [False]
    assert [step(v, v).numpy()[0], step(w, w).numpy()[0]] == [24.0, 26.0] and traces == [False, True]
    specs, _ = step.get_concrete_function(v, v).structured_input_signature
    assert [s.alias_id for s in specs] == [0, 0]


def test_a_signature_takes_no_variable_types():
    with pytest.raises(TypeError, match="input_signature doesn't support VariableSpec"):
        tf.function(lambda v: v, input_signature=[tf.type_spec_from_value(tf.Variable(1.0))])


def test_a_trace_that_asks_which_variable_it_has_serves_that_one_only():
    v, u = tf.Variable(1.0, name="same"), tf.Variable(5.0, name="same")
    beside = {v._unique_id: tf.Variable(10.0), u._unique_id: tf.Variable(20.0)}

    @traced
    def add(x, w):
        w.assign_add(x)
        return w + beside[w._unique_id]

    assert [float(add(1.0, w)) for w in (v, u, v, u)] == [12.0, 26.0, 13.0, 27.0]
    count = add.experimental_get_tracing_count()
    assert [float(add(1.0, w)) for w in (v, u)] == [14.0, 28.0]
    assert add.experimental_get_tracing_count() == count

    @traced
    def names(w):
        assert (w.name, w._in_graph_mode) == ("same:0", False)
        return w - v

    assert [float(names(w)) for w in (v, u)] == [0.0, 4.0]


def test_a_form_for_another_device_is_traced_when_it_is_called():
    traces = []

    def body(x):
        traces.append(1)
        return x + 1.0

    form = traced(body, experimental_attributes={"api_implements": "f", "api_preferred_device": "GPU"})
    concrete = form.get_concrete_function(tf.TensorSpec([], tf.float32))
    concrete.add_to_graph()
    concrete.add_gradient_functions_to_graph()
    assert not traces
    assert float(concrete(tf.constant(1.0))) == 2.0 and concrete.structured_outputs is not None and len(traces) == 1


def test_a_trace_for_a_variable_that_the_function_uses_by_itself_serves_no_other():
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    @traced
    def slopes(u):
        with tf.GradientTape() as tape:
            y = u * v
        return tape.gradient(y, [u, v])

    def of(variable):
        return [float(g) for g in slopes(variable)]

    assert [of(w), of(v), of(w), of(v)] == [[2.0, 3.0], [4.0, 4.0], [2.0, 3.0], [4.0, 4.0]]
    assert slopes.experimental_get_tracing_count() == 2
    assert v.ref() in [u.ref() for u in slopes.get_concrete_function(v).variables]


def test_an_eager_variable_is_not_waited_for():
    v = tf.Variable(1.0)

    @tf.function
    def after():
        with tf.control_dependencies([v]), tf.control_dependencies([tf.group(v, v.assign_add(1.0))]):
            return v.read_value()

    assert float(after()) == 2.0
