"""Extension types: declared, made, compared, taken apart; in functions, loops, choices, datasets and SavedModels."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import nest
from ebbflow.core.immutable_dict import ImmutableDict
from ebbflow.ops.extension.anonymous import AnonymousExtensionType, reinterpret
from ebbflow.ops.extension.packing import is_packed, pack, unpack


class Masked(tf.experimental.ExtensionType):
    __name__ = "ebbflow_tests.Masked"

    values: tf.Tensor
    mask: tf.Tensor

    def __validate__(self):
        self.values.shape.assert_is_compatible_with(self.mask.shape)

    def filled(self, default):
        return tf.where(self.mask, self.values, default)


class Tree(tf.experimental.ExtensionType):
    label: str
    weight: tf.Tensor = 1.0
    children: tuple[Tree, ...] = ()
    extra: typing.Mapping[str, tf.Tensor] = {}


class Rows(tf.experimental.BatchableExtensionType):
    x: tf.Tensor
    r: typing.Union[tf.Tensor, tf.RaggedTensor]  # noqa: UP007  (both spellings are read)
    scale: int = 3


class Shaped(tf.experimental.BatchableExtensionType):
    shape: tf.TensorShape
    x: tf.Tensor

    def __init__(self, x):
        self.x = tf.convert_to_tensor(x)
        self.shape = self.x.shape[:-1]


def masked(values=(1, 2, 3), mask=(True, False, True)):
    return Masked(list(values), list(mask))


def test_fields_are_converted_and_checked():
    tree = Tree("root", 2, [Tree("leaf")], {"b": [1, 2], "a": 0.5})
    assert tree.weight.numpy() == 2 and tree.children[0].label == "leaf" and isinstance(tree.extra, ImmutableDict)
    for bad, says in [
        (lambda: Tree(3), "label: expected 'str', got 'int'"),
        (lambda: Tree("x", None), "weight: expected a Tensor, got 'NoneType'"),
        (lambda: Tree("x", 1.0, [1]), r"children\[0\]: expected 'Tree', got 'int'"),
        (lambda: Tree("x", extra={1: 2}), r"extra\[<key>\]: expected 'str', got 'int'"),
        (lambda: Tree(), "missing a required argument: 'label'"),
        (lambda: Tree("x", nonsense=1), "unexpected keyword argument 'nonsense'"),
    ]:
        with pytest.raises(TypeError, match=says):
            bad()
    with pytest.raises(ValueError, match="incompatible"):
        Masked([1, 2, 3], [True])


def test_values_and_specs_do_not_change():
    for thing, kind in [(masked(), "ExtensionType"), (masked()._type_spec, "ExtensionTypeSpec")]:
        for change in (
            lambda x: setattr(x, "values", 1),
            lambda x: setattr(x, "other", 1),
            lambda x: delattr(x, "mask"),
        ):
            with pytest.raises(AttributeError, match=f"outside the custom constructor of {kind}"):
                change(thing)


def test_constructors_take_fields_by_position_until_one_without_default_follows():
    class Shape(tf.experimental.ExtensionType):
        sides: int = 4
        size: tf.Tensor

        class Spec:
            def __init__(self, size):
                self.sides, self.size = 4, tf.TensorSpec(size)

    kinds = {p.name: p.kind.name for p in inspect.signature(Shape.__init__).parameters.values()}
    assert kinds == {"self": "POSITIONAL_OR_KEYWORD", "sides": "POSITIONAL_OR_KEYWORD", "size": "KEYWORD_ONLY"}
    assert Shape.Spec([2]) == Shape(size=[1.0, 2.0])._type_spec

    class Own(tf.experimental.ExtensionType):
        total: tf.Tensor

        def __init__(self, parts):
            self.total = sum(parts)

    assert Own([1, 2]).total.numpy() == 3

    class Forgetful(tf.experimental.ExtensionType):
        total: tf.Tensor

        def __init__(self):
            pass

    with pytest.raises(ValueError, match=r"Missing required fields: \{'total'\}"):
        Forgetful()


@pytest.mark.parametrize(
    ("members", "error", "says"),
    [
        ({"__annotations__": {"x": list[tf.Tensor]}}, TypeError, "In field 'x': Unsupported type annotation"),
        ({"__annotations__": {"x": typing.Mapping[tf.Tensor, int]}}, TypeError, "Mapping had a key 'Tensor'"),
        ({"__annotations__": {"_to_components": int}}, ValueError, "Field '_to_components' is reserved"),
        ({"is_compatible_with": lambda self, x: False}, ValueError, "Field 'is_compatible_with' is reserved"),
        ({"Spec": 12}, ValueError, r"Broken\.Spec must be a nested class; got 12"),
        ({"__annotations__": {"x": int}, "x": "a"}, TypeError, "default value for x: expected 'int', got 'str'"),
    ],
)
def test_wrong_declarations_are_refused(members, error, says):
    with pytest.raises(error, match=says):
        type(tf.experimental.ExtensionType)("Broken", (tf.experimental.ExtensionType,), {**members})


def test_comparison_is_by_fields_shapes_and_elements():
    a = masked()
    assert bool(a == masked()) and not bool(a != masked())
    assert not bool(a == masked((1, 2, 4))) and a != masked((1, 2), (True, True)) and a != 3

    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32)] * 2)
    def same(x, y):
        return Masked(x, tf.ones_like(x, tf.bool)) == Masked(y, tf.ones_like(y, tf.bool))

    assert bool(same([1, 1], [1, 1])) and not bool(same([1, 1], [[1, 1]])) and not bool(same([1, 1], [1, 1, 1]))


def test_taken_apart_and_put_together():
    tree = Tree("root", extra={"b": [1, 2], "a": 0.5})
    parts = nest.flatten(tree, expand_composites=True)
    assert [p.numpy().tolist() for p in parts] == [1.0, 0.5, [1, 2]]
    again = nest.pack_sequence_as(tree._type_spec, parts, expand_composites=True)
    assert again.label == "root" and bool(again == tree)
    spec = masked()._type_spec
    assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    assert spec.is_compatible_with(Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec(None, tf.bool)))
    assert "Masked.Spec(values=TensorSpec(shape=(3,)" in repr(spec)


def test_in_functions_loops_and_choices():
    traces = []

    @tf.function
    def step(x, n):
        traces.append(1)
        for _ in tf.range(n):
            x = Masked(x.values * 2, x.mask)
        if tf.reduce_all(x.mask):
            return x
        return Masked(x.values + 1, tf.logical_not(x.mask))

    result = step(masked(), tf.constant(3))
    assert isinstance(result, Masked) and result.values.numpy().tolist() == [9, 17, 25]
    assert result.mask.numpy().tolist() == [False, True, False]
    step(masked((4, 5, 6)), tf.constant(1))
    assert len(traces) == 1
    _, end = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, Masked(x.values + i, x.mask)), [0, masked()])
    assert end.values.numpy().tolist() == [4, 5, 6]
    with tf.GradientTape() as tape:
        x = Masked([1.0, 2.0], [True, False])
        tape.watch(x)
        y = tf.reduce_sum(x.filled(0.0) ** 2)
    assert tape.gradient(y, x.values).numpy().tolist() == [2.0, 0.0]


def test_a_function_must_not_change_lists_it_is_given():
    @tf.function
    def appends(xs):
        xs.append(xs[0])
        return xs[0].values

    with pytest.raises(ValueError, match=r"appends\(\) should not modify its Python input arguments"):
        appends([masked()])


def test_in_datasets():
    rows = Rows([[1], [2], [3]], tf.ragged.constant([[1], [2, 3], []]))
    whole = tf.data.Dataset.from_tensors(rows)
    assert bool(next(iter(whole)) == rows)
    single = list(tf.data.Dataset.from_tensor_slices(rows))
    assert [x.r.numpy().tolist() for x in single] == [[1], [2, 3], []] and single[0].scale == 3
    assert [x.x.numpy().tolist() for x in whole.unbatch()] == [[1], [2], [3]]
    batches = list(tf.data.Dataset.from_tensor_slices(rows).batch(2))
    assert batches[0].x.numpy().tolist() == [[1], [2]] and batches[0].r.to_list() == [[1], [2, 3]]
    with pytest.raises(TypeError, match=r"Masked.Spec is no tf.BatchableTypeSpec"):
        tf.data.Dataset.from_tensors(masked()).batch(2)
    shaped = tf.map_fn(lambda s: Shaped(s.x * 2), Shaped([[1, 2], [3, 4]]))  # fields that are shapes are batched too
    assert shaped.shape == [2] and shaped.x.numpy().tolist() == [[2, 4], [6, 8]]
    assert tf.map_fn(lambda r: r.x + 1, rows, fn_output_signature=tf.int32).numpy().tolist() == [[2], [3], [4]]


def test_an_encoder_says_how_values_are_batched():
    class Encoder(tf.experimental.ExtensionTypeBatchEncoder):
        def batch(self, spec, batch_size):
            return Interval.Spec(spec.low._batch(batch_size), spec.high._batch(batch_size))

        def unbatch(self, spec):
            return Interval.Spec(spec.low._unbatch(), spec.high._unbatch())

        def encode(self, spec, value, minimum_rank=0):
            return tf.stack([value.low, value.high], -1)

        def decode(self, spec, encoded_value):
            return Interval(encoded_value[..., 0], encoded_value[..., 1])

        def encoding_specs(self, spec):
            return tf.TensorSpec([*spec.low.shape, 2], spec.low.dtype)

    class Interval(tf.experimental.BatchableExtensionType):
        low: tf.Tensor
        high: tf.Tensor
        __batch_encoder__ = Encoder()

    data = tf.data.Dataset.range(4).map(lambda i: Interval(i, i + 1))
    found = list(data.batch(2))
    assert found[1].low.numpy().tolist() == [2, 3] and found[1].high.numpy().tolist() == [3, 4]
    assert [int(x.high) for x in data.batch(2).unbatch()] == [1, 2, 3, 4]


def test_in_one_tensor():
    x = masked()
    packed = pack(x)
    assert is_packed(packed) and len(nest.flatten(packed, expand_composites=True)) == 1
    assert packed.values.numpy().tolist() == [1, 2, 3] and bool(unpack(packed) == x)
    back = tf.function(lambda p: pack(Masked(p.values + 1, p.mask)))(packed)
    assert is_packed(back) and back.values.numpy().tolist() == [2, 3, 4]
    with pytest.raises(ValueError, match="__name__"):
        pack(Tree("x"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="encoded"):
        tf.raw_ops.CompositeTensorVariantToComponents(
            encoded=tf.raw_ops.EmptyTensorList(
                element_shape=tf.constant([], tf.int32), max_num_elements=1, element_dtype=tf.int32
            ),
            metadata="",
            Tcomponents=[tf.int32],
        )
    with tf.GradientTape() as tape:
        v = tf.constant([1.0, 2.0])
        tape.watch(v)
        y = tf.reduce_sum(pack(Masked(v, [True, False])).filled(0.0) ** 2)
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 0.0]


def test_in_saved_models(tmp_path):
    class Model(tf.Module):
        @tf.function
        def fill(self, m):
            return Masked(m.filled(9), tf.logical_not(m.mask))

    model = Model()
    model.fill.get_concrete_function(Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool)))
    tf.saved_model.save(model, str(tmp_path / "m"))
    found = tf.saved_model.load(str(tmp_path / "m")).fill(masked())
    assert isinstance(found, Masked) and found.values.numpy().tolist() == [1, 9, 3]


def test_values_that_nobody_declared():
    x = AnonymousExtensionType(values=tf.constant([1, 2]), mask=tf.constant([True, False]), d={"a": 1})
    assert x.d["a"] == 1 and x._type_spec.values == tf.TensorSpec([2], tf.int32)
    y = reinterpret(masked(), AnonymousExtensionType)
    assert np.array_equal(y.values, [1, 2, 3]) and isinstance(reinterpret(y, Masked), Masked)
    with pytest.raises(ValueError, match="unsupported `value` argument"):
        AnonymousExtensionType(x=[1])
    with pytest.raises(ValueError, match=r"Got unexpected fields: \{'d'\}"):
        reinterpret(x, Masked)


def test_gradients_of_values_made_of_tensors():
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(ragged)
        square = ragged * ragged
        total = tf.reduce_sum(ragged.flat_values**3)
    assert tape.gradient(square, ragged).to_list() == [[2.0, 4.0], [6.0]]
    assert tape.gradient(total, {"r": ragged})["r"].to_list() == [[3.0, 12.0], [27.0]]
    x = Masked([1.0, 2.0], [True, False])
    with (
        tf.GradientTape() as tape,
        pytest.raises(ValueError, match="Type Masked is not supported as a gradient source"),
    ):
        tape.watch(x)
        tape.gradient(tf.reduce_sum(x.values), x)


def test_fields_that_are_variables():
    class Counter(tf.experimental.ExtensionType):
        count: tf.Variable
        step: int

    counter = Counter(tf.Variable(1), 2)

    @tf.function
    def up(c):
        c.count.assign_add(c.step)
        return c.count * 10

    assert up(counter).numpy() == 30 and counter.count.numpy() == 3
    again = nest.map_structure(tf.identity, counter, expand_composites=True)
    assert again.count.numpy() == 3 and again.step == 2
    with pytest.raises(TypeError, match="count: expected 'Variable', got 'int'"):
        Counter(1, 2)


def test_gradients_of_ragged_tensors_in_graphs():
    @tf.function
    def both():
        ragged = tf.RaggedTensor.from_row_lengths(tf.constant([1.0, 2.0, 3.0]), [2, 1])
        square = ragged * ragged
        return tf.gradients(square, ragged)[0], tf.gradients([square], [ragged.values], grad_ys=[ragged])[0]

    whole, weighted = both()
    assert whole.to_list() == [[2.0, 4.0], [6.0]] and weighted.numpy().tolist() == [2.0, 8.0, 18.0]
