"""A TypeSpec as the type of a function's argument: taken apart into tensors, put together again, cast to."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.functions.trace_type_api import InternalCastContext, from_value


def test_a_spec_takes_values_apart_and_puts_them_together():
    value = tf.ragged.constant([[1, 2], [3]], dtype=tf.int32)
    spec = tf.type_spec_from_value(value)
    parts = spec.to_tensors(value)
    assert [from_value(part).shape.as_list() for part in parts] == [[3], [3]]
    assert [part.dtype for part in spec.flatten()] == [tf.int32, tf.int64]
    again = spec.from_tensors(iter(parts))
    assert all(a is b for a, b in zip(spec.to_tensors(again), parts, strict=True))


def test_a_value_that_is_of_a_type_stays_itself():
    value = tf.ragged.constant([[1, 2], [3]])
    spec = tf.type_spec_from_value(value)
    assert spec.cast(value, InternalCastContext()) is value
    with pytest.raises(TypeError, match="Can not cast"):
        spec.cast(spec, InternalCastContext())
    assert spec.cast(spec, InternalCastContext(allow_specs=True)) is spec


def test_types_of_values_are_those_of_a_trace():
    x = tf.constant(1)
    kind = tf.function(lambda x: {"double": x + x}).get_concrete_function(x).function_type
    assert kind.output == from_value({"double": x})
