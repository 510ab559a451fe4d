"""Options of datasets: typed settings, joined along a chain, carried as TensorFlow's message."""

from __future__ import annotations

import copy

import pytest

import ebbflow as tf
from ebbflow.data.options import OptionsBase, ThreadingOptions, create_option, merge_options

Dataset = tf.data.Dataset
Options = tf.data.Options


def options(**settings):
    made = Options()
    for name, value in settings.items():
        group, _, inner = name.partition("__")
        setattr(getattr(made, group) if inner else made, inner or group, value)
    return made


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("deterministic", 1), ("deterministic", None), ("threading__private_threadpool_size", "3"),
        ("autotune__enabled", 3), ("experimental_external_state_policy", 1), ("framework_type", "a"),
        ("experimental_distribute__auto_shard_policy", 2), ("threading", 3), ("autotune__autotune_algorithm", 1),
    ],
)  # fmt: skip
def test_a_setting_has_a_type(name, value):
    with pytest.raises(TypeError, match=f'Property "{name.rpartition("__")[2]}" must be of type'):
        options(**{name: value})


def test_settings_have_the_names_they_had_before():
    old = options(experimental_deterministic=False, experimental_threading__private_threadpool_size=3)
    assert old == options(deterministic=False, threading__private_threadpool_size=3)
    assert old.experimental_deterministic is False and old.threading.private_threadpool_size == 3
    assert Options().experimental_distribute.auto_shard_policy is tf.data.experimental.AutoShardPolicy.AUTO


def test_options_of_a_dataset_cannot_be_changed_and_those_given_can():
    given = options(deterministic=True)
    dataset = Dataset.range(2).with_options(given)
    for known in (dataset.options(), Dataset.range(2).options()):
        with pytest.raises(ValueError, match="with_options"):
            known.deterministic = False
        with pytest.raises(ValueError, match="with_options"):
            known.threading.private_threadpool_size = 2
    given.deterministic = False
    assert dataset.options().deterministic is True


def test_options_are_joined_along_a_chain_and_where_chains_meet():
    first = Dataset.range(2).with_options(options(framework_type=["a"], deterministic=True)).map(lambda x: x)
    second = Dataset.range(2).with_options(options(framework_type=["b"], autotune__enabled=False))
    whole = options(framework_type=["a", "b"], deterministic=True, autotune__enabled=False)
    for joined in (Dataset.zip(first, second), first.concatenate(second)):
        assert joined.options() == whole == Dataset._options_tensor_to_options(joined._options())
        assert joined._inputs() == [first, second]
    assert first.with_options(options(deterministic=False)).options().deterministic is False


def test_options_go_through_functions():
    @tf.function
    def inside(dataset):
        return dataset.with_options(options(experimental_slack=True)).map(lambda x: x + 1)

    dataset = inside(Dataset.range(3).with_options(options(deterministic=False)))
    assert dataset.options() == options(experimental_slack=True, deterministic=False)


MESSAGE = (  # as TensorFlow 2.21 writes it
    b"\x08\x00\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x1a\x00*\x00:\x00H\x00Z\x01ab\x00"
)


def test_options_are_written_as_tensorflow_writes_them():
    given = options(
        deterministic=False, experimental_warm_start=False, framework_type=["a"],
        experimental_distribute__auto_shard_policy=tf.data.experimental.AutoShardPolicy.OFF,
    )  # fmt: skip
    assert given.serialized() == MESSAGE
    assert Options.parsed(MESSAGE) == given == copy.deepcopy(given)


def test_what_is_no_message_of_options_is_refused():
    variant = Dataset.range(2)._variant_tensor
    with pytest.raises(tf.errors.InvalidArgumentError, match="serialized_options"):
        tf.raw_ops.OptionsDataset(
            input_dataset=variant, serialized_options=b"\xff\xff", output_types=[tf.int64], output_shapes=[[]]
        )


def test_types_of_elements_by_their_old_names():
    names = tf.compat.v1.data.experimental
    assert names.TensorStructure(tf.int32, [2]) == tf.TensorSpec([2], tf.int32)
    assert names.SparseTensorStructure(tf.int32, [2]) == tf.SparseTensorSpec([2], tf.int32)
    assert names.RaggedTensorStructure(tf.int32, [2, None], 1) == tf.RaggedTensorSpec([2, None], tf.int32, 1)
    assert names.TensorArrayStructure(tf.int32, [2], True, False) == tf.TensorArraySpec([2], tf.int32, True, False)


class Own(OptionsBase):
    """Options of a program's own."""

    x = create_option("x", int, "the answer", lambda: 42)
    inner = create_option("inner", ThreadingOptions, "threads")


def test_a_program_has_options_of_its_own():
    first, second = Own(), Own()
    assert Own.x.__doc__ == "the answer" and (first.x, first.inner) == (42, None)
    second.x, second.inner = 7, ThreadingOptions()
    merged = merge_options(first, second)
    assert merged.x == 7 and merged.inner == ThreadingOptions()
    with pytest.raises(TypeError, match="must be of type"):
        first.x = 0.5
    with pytest.raises(TypeError, match="inherit from `OptionsBase` but found option of type <class 'int'>"):
        merge_options(1, 2)
    first._set_mutable(False)
    with pytest.raises(ValueError, match="has no effect"):
        first.anything = 1
