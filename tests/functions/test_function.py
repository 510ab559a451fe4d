"""tf.function: tracing, calling, capturing, nesting, names, methods, options."""

from __future__ import annotations

import collections
import functools
import gc
import inspect
import sys
import threading

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.composite import CompositeTensor, TypeSpec


def constant(value, dtype=tf.float32):
    return tf.constant(value, dtype)


def traced(function=None, **options):
    return tf.function(function, autograph=False, **options)


# --- calling ----------------------------------------------------------------------------------------------------------

CALLS = {
    "position": lambda f: f(constant(2.0), constant(3.0)),
    "name": lambda f: f(y=constant(3.0), x=constant(2.0)),
    "numbers": lambda f: f(2.0, 3.0),
    "arrays": lambda f: f(np.float32(2.0), np.array(3.0, np.float32)),
    "variables": lambda f: f(tf.Variable(2.0), tf.Variable(3.0)),
    "mixed": lambda f: f(constant(2.0), y=3.0),
    "specs first": lambda f: f.get_concrete_function(tf.TensorSpec([]), tf.TensorSpec([]))(2.0, 3.0),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("signature", [None, [tf.TensorSpec([]), tf.TensorSpec([])]], ids=["free", "fixed"])
def test_ways_to_call(call, signature):
    f = traced(lambda x, y: x * 10.0 + y, input_signature=signature)
    for _ in range(2):
        assert float(CALLS[call](f)) == 23.0


def test_python_runs_only_while_tracing():
    seen = []

    @traced
    def f(x):
        seen.append(x)
        return x + 1.0

    for value in (1.0, 2.0, 3.0):
        assert float(f(constant(value))) == value + 1.0
    assert len(seen) == 1


def test_inside_is_not_eager_and_init_scope_is():
    modes = []

    @traced
    def f():
        modes.append(tf.executing_eagerly())
        with tf.init_scope():
            modes.append(tf.executing_eagerly())

    f()
    assert modes == [False, True]


def test_polymorphic_over_ints_floats_and_strings():
    add = traced(lambda a, b: a + b)
    assert int(add(1, 2)) == 3
    assert float(add(1.5, 2.0)) == 3.5
    assert add(tf.constant("a"), tf.constant("b")).numpy() == b"ab"
    assert add(1.0, 2.0).dtype == tf.float32  # not the trace for 1 and 2
    np.testing.assert_allclose(add(tf.ones([2, 2]), tf.ones([2, 2])), 2 * np.ones((2, 2)))


def test_structures_come_back_as_they_were():
    Pair = collections.namedtuple("Pair", "a b")

    @traced
    def f(x):
        return {"z": [x, None], "a": (x + 1.0, Pair(x, {"k": 2}))}

    got = f(constant(1.0))
    assert list(got) == ["z", "a"]
    assert got["z"][1] is None
    assert isinstance(got["a"][1], Pair)
    assert int(got["a"][1].b["k"]) == 2


class Halves(CompositeTensor):
    """Two tensors that belong together."""

    def __init__(self, left, right):
        self.left, self.right = left, right

    @property
    def _type_spec(self):
        return HalvesSpec(self.left.shape)


class HalvesSpec(TypeSpec):
    def __init__(self, shape):
        self._shape = tf.TensorShape(shape)

    value_type = Halves

    @property
    def _component_specs(self):
        return [tf.TensorSpec(self._shape), tf.TensorSpec(self._shape)]

    def _to_components(self, value):
        return [value.left, value.right]

    def _from_components(self, components):
        return Halves(*components)

    def is_compatible_with(self, other):
        return isinstance(other, (Halves, HalvesSpec))

    def __eq__(self, other):
        return isinstance(other, HalvesSpec) and self._shape.as_list() == other._shape.as_list()

    def __hash__(self):
        return hash(tuple(self._shape.as_list()))


def test_composites_in_and_out():
    f = traced(lambda h: Halves(h.right, h.left * 2.0))
    for _ in range(2):
        got = f(Halves(constant([1.0]), constant([2.0])))
        assert isinstance(got, Halves)
        assert [float(got.left[0]), float(got.right[0])] == [2.0, 2.0]
    assert f.experimental_get_tracing_count() == 1
    f(Halves(constant([1.0, 1.0]), constant([2.0, 2.0])))
    assert f.experimental_get_tracing_count() == 2
    fixed = traced(lambda h: h.left + h.right, input_signature=[HalvesSpec([None])])
    np.testing.assert_allclose(fixed(Halves(constant([1.0, 1.0]), constant([2.0, 2.0]))), [3.0, 3.0])


def test_input_signature_traces_once_for_all_sizes():
    f = traced(lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec([None])])
    assert [float(f(constant([1.0] * n))) for n in (1, 2, 3)] == [1.0, 2.0, 3.0]
    assert f.experimental_get_tracing_count() == 1
    assert f.input_signature == (tf.TensorSpec([None]),)
    assert f.get_concrete_function() is f.get_concrete_function(constant([1.0]))


def test_widened_traces_serve_all_sizes():
    f = traced(lambda x: tf.shape(x)[0], reduce_retracing=True)
    assert [int(f(constant([1.0] * n))) for n in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert f.experimental_get_tracing_count() == 2


# --- captures ---------------------------------------------------------------------------------------------------------


def test_captured_tensors_and_variables():
    k, v = constant(3.0), tf.Variable(2.0)
    f = traced(lambda x: x * k * v)
    assert float(f(constant(1.0))) == 6.0
    v.assign(10.0)
    assert float(f(constant(1.0))) == 30.0
    concrete = f.get_concrete_function(constant(1.0))
    assert concrete.captured_inputs[0] is k
    assert concrete.captured_inputs[1] is v.handle
    assert concrete.variables == (v,)
    assert [t.dtype for t in concrete.inputs] == [tf.float32, tf.float32, tf.resource]


def test_effects_in_program_order():
    v, log = tf.Variable(1.0), tf.Variable(0.0)

    @traced
    def f(x):
        before = v.read_value()
        v.assign(before * x)
        log.assign_add(v)
        v.assign_add(1.0)
        return before, v.read_value()

    assert [float(t) for t in f(constant(3.0))] == [1.0, 4.0]
    assert [float(t) for t in f(constant(3.0))] == [4.0, 13.0]
    assert float(log) == 15.0


def test_nested_functions_capture_from_around():
    v = tf.Variable(2.0)

    @traced
    def outer(x):
        y = x + 1.0

        @traced
        def inner(z):
            v.assign_add(z)
            return y * z * v

        return inner(x), inner(x)

    assert [float(t) for t in outer(constant(3.0))] == [4 * 3 * 5.0, 4 * 3 * 8.0]
    types = [n.type for n in outer.get_concrete_function(constant(3.0)).graph.get_operations()]
    assert types.count("StatefulPartitionedCall") == 2


def test_global_function_is_traced_once_for_many_callers():
    count = []

    @traced
    def inner(x):
        count.append(1)
        return x * x

    for _ in range(3):
        assert float(traced(lambda x: inner(x) + inner(x + 1.0))(constant(2.0))) == 13.0
    assert float(inner(constant(4.0))) == 16.0
    assert len(count) == 1


def test_recursion_by_python_values_ends():
    @traced
    def factorial(n, x):
        return x if n == 0 else factorial(n - 1, x) * float(n)

    assert float(factorial(5, constant(1.0))) == 120.0


def test_endless_recursion_is_refused():
    @traced
    def same(x):
        return same(x)

    @traced
    def growing(n):
        return growing(n + 1)

    for call in (lambda: same(constant(1.0)), lambda: growing(1)):
        with pytest.raises(RecursionError, match=r"test_function\.py:\d+.* calls itself without end"):
            call()


def test_recursion_error_of_the_users_own_is_left_alone():
    def deep(n):
        return deep(n + 1)

    with pytest.raises(RecursionError, match="maximum recursion depth"):
        traced(lambda: deep(0))()


# --- what can be a function -------------------------------------------------------------------------------------------


class Model:
    def __init__(self, factor):
        self.factor = factor
        self.calls = 0

    @tf.function(autograph=False)
    def scaled(self, x, power=1):
        """Return x scaled."""
        self.calls += 1
        return self.factor * x**power

    @staticmethod
    @tf.function(autograph=False)
    def fixed(x):
        return x + 1.0

    @classmethod
    @tf.function(autograph=False)
    def made(cls, x):
        return x + float(len(cls.__name__))

    @property
    @tf.function(autograph=False)
    def constant(self):
        return tf.constant(self.factor)


def test_methods():
    a, b = Model(2.0), Model(3.0)
    x = constant(5.0)
    for _ in range(2):
        assert [float(a.scaled(x)), float(b.scaled(x)), float(a.scaled(x, power=2))] == [10.0, 15.0, 50.0]
    assert (a.calls, b.calls) == (2, 1)
    assert a.scaled == a.scaled
    assert a.scaled != b.scaled
    assert float(Model(4.0).scaled(x)) == 20.0  # nobody else holds the instance
    assert float(Model.scaled(a, x)) == 10.0
    assert [float(Model.fixed(x)), float(a.fixed(x)), float(Model.made(x)), float(a.constant)] == [6.0, 6.0, 10.0, 2.0]
    assert Model.scaled.__name__ == "scaled"
    assert Model.scaled.__doc__ == "Return x scaled."
    assert list(inspect.signature(Model.scaled).parameters) == ["self", "x", "power"]


def test_methods_of_instances_that_take_no_weak_references():
    class Slotted:
        __slots__ = ("k",)

        @tf.function(autograph=False)
        def f(self, x):
            return x * self.k

    s = Slotted()
    s.k = 3.0
    assert [float(s.f(constant(2.0))) for _ in range(2)] == [6.0, 6.0]


class Serving:
    def __init__(self, factor):
        self.factor = factor
        self.traced = 0

    @tf.function(input_signature=[tf.TensorSpec([None])], autograph=False)
    def total(self, x, power=1):
        self.traced += 1
        return self.factor * tf.reduce_sum(x**power)


class ServingTuple(collections.namedtuple("ServingTuple", "factor")):
    @tf.function(input_signature=[tf.TensorSpec([None])], autograph=False)
    def total(self, x):
        return self.factor * tf.reduce_sum(x)


def test_input_signature_of_a_method_does_not_speak_of_self():
    a, b = Serving(2.0), Serving(3.0)
    assert [float(f([1.0, 2.0])) for f in (a.total, b.total, a.total)] == [6.0, 9.0, 6.0]
    assert [float(Serving.total(a, [1.0])), float(a.total([1.0, 2.0, 3.0]))] == [2.0, 12.0]
    assert (a.traced, b.traced) == (1, 1)
    assert list(a.total.get_concrete_function().structured_input_signature[0]) == [tf.TensorSpec([None], name="x"), 1]
    assert float(ServingTuple(5.0).total([1.0])) == float(ServingTuple.total(ServingTuple(5.0), [1.0])) == 5.0
    for wrong, says in [((a,), "'x'"), ((), "'self'"), ((a, [[1.0]]), "Can not cast")]:
        with pytest.raises(TypeError, match=says):
            Serving.total(*wrong)
    with pytest.raises(TypeError, match="'self'"):
        Serving.total.get_concrete_function()


class Adder:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x + self.k


CALLABLES = {
    "lambda": lambda x: x + 2.0,
    "partial": functools.partial(lambda k, x: x + k, 2.0),
    "partial by name": functools.partial(lambda x, k=1.0: x + k, k=2.0),
    "object": Adder(2.0),
    "bound method": Adder(2.0).__call__,
    "function": traced(lambda x: x + 2.0),
}


@pytest.mark.parametrize("name", CALLABLES)
def test_callables(name):
    f = traced(CALLABLES[name])
    assert [float(f(constant(v))) for v in (1.0, 5.0)] == [3.0, 7.0]
    assert f.python_function is CALLABLES[name]


def test_the_python_function_of_a_method_is_the_method():
    class Scale:
        factor = 3.0

        @traced
        def __call__(self, x):
            return x * self.factor

    scale = Scale()
    bound = scale.__call__
    assert float(bound(constant(2.0))) == 6.0
    assert bound.python_function(2.0) == 6.0 and bound.function_spec.arg_names == ["x"]


def test_decorator_with_options():
    @tf.function(
        autograph=False,
        jit_compile=False,
        reduce_retracing=True,
        experimental_implements="mine",
        experimental_autograph_options=None,
        experimental_relax_shapes=None,
        experimental_compile=None,
        experimental_follow_type_hints=None,
    )
    def f(x):
        return x * 2.0

    assert float(f(constant(2.0))) == 4.0


@pytest.mark.parametrize("wish", ["sometimes", 2, "True"])
def test_what_cannot_be_asked_of_xla(wish):
    with pytest.raises(ValueError, match=f"jit_compile must be True, False, None or 'auto', got {wish!r}"):
        tf.function(lambda x: x, jit_compile=wish)


def test_run_functions_eagerly():
    seen = []
    f = traced(lambda x: seen.append(tf.executing_eagerly()) or x + 1.0)
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        assert [float(f(constant(1.0))) for _ in range(2)] == [2.0, 2.0]
    finally:
        tf.config.run_functions_eagerly(False)
    f(constant(1.0))
    assert seen == [True, True, False]


# --- protocol ---------------------------------------------------------------------------------------------------------


class Scale(tf.types.experimental.TraceType):
    """The type of a factor: all factors of one unit share a trace, with the factor as a tensor."""

    def __init__(self, unit):
        self.unit = unit

    def is_subtype_of(self, other):
        return self == other

    def most_specific_common_supertype(self, others):
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context):
        return Factor(placeholder_context.argument(tf.TensorSpec([])), self.unit)

    def flatten(self):
        return [tf.TensorSpec([])]

    def to_tensors(self, value):
        return [value.value]

    def __eq__(self, other):
        return isinstance(other, Scale) and other.unit == self.unit

    def __hash__(self):
        return hash(self.unit)


class Factor:
    def __init__(self, value, unit):
        self.value, self.unit = value, unit

    def __tf_tracing_type__(self, context):
        return Scale(self.unit)


def test_types_of_the_users_own():
    f = traced(lambda x, k: x * k.value)
    assert [float(f(constant(2.0), Factor(constant(k), "m"))) for k in (3.0, 4.0)] == [6.0, 8.0]
    assert f.experimental_get_tracing_count() == 1
    f(constant(2.0), Factor(constant(1.0), "s"))
    assert f.experimental_get_tracing_count() == 2
    assert issubclass(Factor, tf.types.experimental.SupportsTracingProtocol)
    assert isinstance(f, tf.types.experimental.GenericFunction)
    concrete = f.get_concrete_function(constant(1.0), Factor(constant(1.0), "m"))
    assert isinstance(concrete, tf.types.experimental.ConcreteFunction)
    assert isinstance(f, tf.types.experimental.Callable)
    assert isinstance(concrete, tf.types.experimental.Callable)


# --- threads ----------------------------------------------------------------------------------------------------------


def test_one_trace_for_many_threads():
    count = []

    @traced
    def f(x):
        count.append(threading.get_ident())
        return x * 2.0 + float(len(count))

    gate, results = threading.Barrier(8), []

    def run():
        gate.wait()
        results.extend(float(f(constant(i))) for i in range(20))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(count) == 1
    assert sorted(results) == sorted([i * 2.0 + 1.0 for i in range(20)] * 8)


def test_threads_run_and_differentiate_one_function_at_once():
    @tf.function
    def turned(x):
        for _ in tf.range(3):
            if tf.reduce_sum(x) > 0.0:
                x = x * x + tf.sin(x)
        return x

    @tf.function
    def f(x):
        y = x
        while tf.reduce_sum(y) < 9.0:
            y = y + turned(x)
        return tf.reduce_sum(y)

    def work(order, x):
        if order == 0:
            return f(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = work(order - 1, x)
        return tf.reduce_sum(tape.gradient(y, x))

    found = [[] for _ in range(8)]
    together = threading.Barrier(len(found))

    def several(number):
        x = constant([0.3, 0.5])
        together.wait()
        for _ in range(3):
            found[number].append(work(number % 3, x).numpy())

    threads = [threading.Thread(target=several, args=(i,)) for i in range(len(found))]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-3)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    for number, results in enumerate(found):
        np.testing.assert_allclose(results, [work(number % 3, constant([0.3, 0.5]))] * 3, rtol=1e-5)


def test_eager_work_goes_on_beside_a_trace():
    started, go_on, seen = threading.Event(), threading.Event(), []

    @traced
    def slow(x):
        started.set()
        go_on.wait(10)
        return x + 1.0

    worker = threading.Thread(target=lambda: seen.append(float(slow(constant(1.0)))))
    worker.start()
    started.wait(10)
    assert tf.executing_eagerly()
    assert float(constant(2.0) * 3.0) == 6.0
    go_on.set()
    worker.join()
    assert seen == [2.0]


# --- describing -------------------------------------------------------------------------------------------------------


def test_source_shows_what_runs():
    f = traced(lambda x: tf.tanh(x) + 1.0)
    f(constant(1.0))
    text = f.get_concrete_function(constant(1.0)).source()
    assert "tanh(x, Tanh)" in text
    assert "test_function.py" in text
    assert f.source() == text
    for _ in range(4):  # calls of one shape have come to go straight to their Program
        f(constant(1.0))
    assert "tanh(x, Tanh)" in f.source()
    with pytest.raises(NotImplementedError, match="source"):
        f.experimental_get_compiler_ir(constant(1.0))


def test_a_settled_call_tells_which_node_failed():
    f = traced(lambda x, i: tf.gather(x, i) * 2.0)
    for _ in range(4):
        f(tf.constant([1.0, 2.0]), tf.constant(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices = 7 is not in \[0, 2\)") as caught:
        f(tf.constant([1.0, 2.0]), tf.constant(7))
    assert caught.value.op.type == "GatherV2"


def test_pretty_printed_concrete_signatures():
    f = traced(lambda x: x)
    assert f.pretty_printed_concrete_signatures() == ""
    f(constant(1.0))
    f(constant([1.0]))
    assert f.pretty_printed_concrete_signatures().count("Input Parameters:") == 2
    assert repr(f) == "<tf.function <lambda> with 2 traces>"


def test_function_def_has_nodes_and_signature():
    v = tf.Variable(1.0)
    concrete = traced(lambda x: x * v.assign_add(1.0)).get_concrete_function(constant(1.0))
    message = concrete.function_def
    assert message.signature.name == concrete.name.decode()
    assert message.signature.input_arg[0].name == "x"
    assert message.signature.is_stateful
    assert "AssignAddVariableOp" in message.control_ret


def test_the_type_of_a_trace_tells_its_parameters_and_captures():
    outside = tf.constant(1)
    concrete = tf.function(lambda x: x + outside).get_concrete_function(tf.TensorSpec([], tf.int32))
    (parameter,) = concrete.function_type.parameters.values()
    assert (parameter.name, parameter.type_constraint, parameter.optional) == ("x", tf.TensorSpec([], tf.int32), False)
    assert list(concrete.function_type.captures.values()) == [tf.TensorSpec([], tf.int32)]


def test_flat_calls_of_a_trace_are_bound_by_name():
    concrete = tf.function(lambda x, y: x - y, autograph=False).get_concrete_function(tf.constant(1), tf.constant(2))
    assert int(concrete._call_with_flat_signature([tf.constant(5)], {"y": tf.constant(2)})) == 3
    with pytest.raises(TypeError, match="got two values for 'x'"):
        concrete._call_with_flat_signature([tf.constant(5)], {"x": tf.constant(2), "y": tf.constant(2)})


def test_a_composite_of_another_kind_is_refused_with_what_differs():
    concrete = tf.function(lambda x: x.values, autograph=False).get_concrete_function(tf.ragged.constant([[1]]))
    with pytest.raises(TypeError, match="don't have the same nested structure"):
        concrete(tf.ragged.constant([[[1]]]))
    with pytest.raises(TypeError, match=r"dtype=tf\.float32.* to .*dtype=tf\.int32"):
        concrete(tf.ragged.constant([[1.0]]))


def test_what_a_function_was_called_with_may_die_while_python_ends(monkeypatch):
    class Thing:
        n = 2.0

    thing, told = Thing(), []
    f = tf.function(lambda thing, x: x * thing.n)
    assert f(thing, tf.constant(1.0)).numpy() == 2
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    monkeypatch.setattr("ebbflow.functions.function.call_if_alive", None)  # as the interpreter does to modules
    del thing
    gc.collect()
    assert told == []
    assert f.experimental_get_tracing_count() == 1
