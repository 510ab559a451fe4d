"""Functions chosen by the types of arguments, and functions whose calls are looked at for a while."""

from __future__ import annotations

import inspect

import pytest

import ebbflow as tf
from ebbflow.core import interception
from ebbflow.core.type_dispatch import dispatcher_of, type_based_dispatch_signatures_for


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


def masked(values, mask):
    return Masked(values, mask)


@pytest.fixture
def registered():
    """Registers functions for the length of a test."""
    targets = []

    def register(decorator, target):
        targets.append(decorator(target))
        return target

    yield register
    for target in targets:
        tf.experimental.unregister_dispatch_for(target)


def test_calls_of_a_function_are_looked_at_only_while_something_is_registered(registered):
    add, code, signature = tf.add, tf.add.__code__, inspect.signature(tf.add)
    x = masked([1, 2], [True, True])

    @tf.experimental.dispatch_for_api(tf.add, {"x": Masked}, {"y": Masked})
    def masked_add(x, y):
        return "added"

    assert tf.add is add and inspect.signature(add) == signature and add.__code__ is not code
    assert add(x, 1) == add(1, y=x) == tf.math.add(x, x, name="n") == "added"
    assert add(1, 2).numpy() == 3 and tf.function(lambda v: add(v, v))(tf.constant(2)).numpy() == 4
    assert type_based_dispatch_signatures_for(Masked) == {add: [{"x": Masked}, {"y": Masked}]}
    tf.experimental.unregister_dispatch_for(masked_add)
    assert add.__code__ is code and "__signature__" not in add.__dict__
    with pytest.raises((TypeError, ValueError)):
        add(x, 1)
    with pytest.raises(ValueError, match="was not registered"):
        tf.experimental.unregister_dispatch_for(masked_add)


def test_annotations_lists_and_unions_say_which_calls(registered):
    def concat(values: list[Masked | tf.Tensor], axis, name=None):
        return Masked(tf.concat([getattr(v, "values", v) for v in values], axis), [True])

    registered(tf.experimental.dispatch_for_api(tf.concat), concat)
    x = masked([1, 2], [True, True])
    assert tf.concat([x, tf.constant([3])], 0).values.numpy().tolist() == [1, 2, 3]
    assert tf.concat([[1], [2]], 0).numpy().tolist() == [1, 2]

    def add_n(inputs: list[Masked]):
        return len(inputs)

    registered(tf.experimental.dispatch_for_api(tf.add_n), add_n)
    assert tf.add_n(x for _ in range(3)) == 3


def test_a_target_may_pass(registered):
    registered(tf.experimental.dispatch_for_api(tf.abs, {"x": Masked}), lambda x: NotImplemented)
    registered(tf.experimental.dispatch_for_api(tf.abs, {0: Masked}), lambda x, name=None: "second")
    assert tf.abs(masked([1], [True])) == "second"


def test_elementwise_functions_at_once(registered):
    def unary(api, x):
        return Masked(api(x.values), x.mask)

    def binary(api, x, y):
        return Masked(api(x.values, y.values), x.mask & y.mask)

    registered(tf.experimental.dispatch_for_unary_elementwise_apis(Masked), unary)
    registered(tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked), binary)
    x = masked([1.0, -4.0], [True, False])
    assert tf.abs(x).values.numpy().tolist() == [1, 4] and tf.square(x=x).values.numpy().tolist() == [1, 16]
    assert tf.cast(x, tf.int32, name="c").values.numpy().tolist() == [1, -4]
    assert tf.clip_by_value(x, -1.0, 0.5).values.numpy().tolist() == [0.5, -1.0]
    assert tf.multiply(x, y=x).values.numpy().tolist() == [1, 16]
    with tf.Graph().as_default():
        named = tf.math.negative(masked([1.0], [True]), name="down")
        assert named.values.name.startswith("down/Neg")
    with pytest.raises(ValueError, match=r"unary elementwise dispatch handler .* has already been registered"):
        tf.experimental.dispatch_for_unary_elementwise_apis(Masked)(lambda api, x: x)


@pytest.mark.parametrize(
    ("signatures", "target", "error", "says"),
    [
        ([], lambda x, y, name=None: 0, ValueError, "must be called with at least one signature"),
        ([{"x": Masked}], lambda x, why, name=None: 0, ValueError, r"\(x, why, name=None\) does not match"),
        ([{"z": Masked}], lambda x, y, name=None: 0, ValueError, "unknown parameter 'z'"),
        ([{"x": tuple[Masked]}], lambda x, y, name=None: 0, ValueError, "not currently supported by dispatch"),
        ([[Masked]], lambda x, y, name=None: 0, TypeError, "signatures must be dictionaries"),
        ([{"x": Masked}], "no function", TypeError, "Expected dispatch_target to be callable"),
    ],
)
def test_wrong_registrations_are_refused(signatures, target, error, says):
    code = tf.add.__code__
    with pytest.raises(error, match=says):
        tf.experimental.dispatch_for_api(tf.add, *signatures)(target)
    assert tf.add.__code__ is code


def test_a_function_of_a_program_does_not_support_dispatch():
    with pytest.raises(ValueError, match="does not support dispatch"):
        dispatcher_of(lambda x: x)


def test_interception_keeps_closures_defaults_and_signatures():
    free = 10

    def function(a, b=2, *, c=3):
        return a + b + c + free

    class Doubles:
        def call(self, args, kwargs):
            return 2 * before(*args, **kwargs)

    before = interception.intercept(function, Doubles())
    assert (
        function(1) == 32 and function(1, c=0) == 26 and list(inspect.signature(function).parameters) == ["a", "b", "c"]
    )
    interception.release(function)
    assert function(1) == 16 and function(1, 1, c=1) == 13
