"""Functions that are made again with another body, as libraries around TensorFlow do."""

import pickle

import pytest

import ebbflow as tf


@pytest.mark.parametrize("signature", [None, [tf.TensorSpec([], tf.float32)]])
def test_a_clone_has_the_same_wishes_and_its_own_traces(signature):
    double = tf.function(lambda x: x + x, input_signature=signature, autograph=False, experimental_implements="double")
    assert float(double(tf.constant(3.0))) == 6.0
    clone = double._clone(lambda x: x * x)
    assert clone.input_signature == double.input_signature
    assert (clone._attributes, clone._autograph) == ({"_implements": "double"}, False)
    assert float(clone(tf.constant(3.0))) == 9.0
    assert clone.experimental_get_tracing_count() == 1
    assert float(double._clone(None)(tf.constant(3.0))) == 6.0


def test_decorating_comes_before_tracing():
    function = tf.function(lambda x: x + 1)
    function._decorate(lambda inner: lambda x: inner(x) * 10)
    assert int(function(tf.constant(1))) == 20
    with pytest.raises(ValueError, match="cannot be decorated after they have been traced"):
        function._decorate(lambda inner: inner)


def twice(x):
    return 2 * x


def test_a_pickled_function_keeps_its_wishes():
    made = tf.function(twice, input_signature=[tf.TensorSpec([], tf.float32)], autograph=False, reduce_retracing=True)
    assert float(made(tf.constant(2.0))) == 4.0
    again = pickle.loads(pickle.dumps(made))
    assert again is not made and float(again(tf.constant(3.0))) == 6.0
    assert again.input_signature == made.input_signature and (again._autograph, again._reduce_retracing) == (
        False,
        True,
    )
