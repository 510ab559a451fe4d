"""Types of values have names in files."""

import pytest

import ebbflow as tf
from ebbflow.core import spec_registry

SPECS = {
    "tf.TensorSpec": tf.TensorSpec([None, 2], tf.int32, "x"),
    "tf.SparseTensorSpec": tf.SparseTensorSpec([3], tf.string),
    "tf.RaggedTensorSpec": tf.RaggedTensorSpec([2, None, 4], tf.float64, 1, tf.int32),
    "tf.TensorArraySpec": tf.TensorArraySpec([2], tf.int64, True),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_is_made_again_from_what_it_is_made_of(name):
    spec = SPECS[name]
    assert spec_registry.get_name(type(spec)) == name and spec_registry.lookup(name) is type(spec)
    again = type(spec)._deserialize(spec._serialize())
    assert again.is_compatible_with(spec) and again._serialize() == spec._serialize()


def test_names_are_given_once():
    class Mine(tf.TypeSpec):
        pass

    spec_registry.register("tests.Mine")(Mine)
    assert spec_registry.lookup("tests.Mine") is Mine
    for cls, name in ((Mine, "tests.Again"), (type("Other", (tf.TypeSpec,), {}), "tests.Mine")):
        with pytest.raises(ValueError, match="already been registered"):
            spec_registry.register(name)(cls)
    with pytest.raises(ValueError, match="must have the form"):
        spec_registry.register("no dot")
    with pytest.raises(TypeError):
        spec_registry.register("tests.Number")(int)
    with pytest.raises(ValueError, match="No TypeSpec"):
        spec_registry.lookup("tests.Nobody")
    with pytest.raises(ValueError, match="has not been registered"):
        spec_registry.get_name(tf.TypeSpec)


def test_compatible_part_by_part():
    spec = tf.OptionalSpec({"a": (tf.TensorSpec([None]), tf.TensorSpec([], tf.int32))})
    alike = tf.OptionalSpec({"a": (tf.TensorSpec([3]), tf.TensorSpec([], tf.int32))})
    assert spec.is_compatible_with(alike)
    assert not spec.is_compatible_with(tf.OptionalSpec({"b": (tf.TensorSpec([3]), tf.TensorSpec([], tf.int32))}))
    assert not spec.is_compatible_with(tf.TensorSpec([3]))
