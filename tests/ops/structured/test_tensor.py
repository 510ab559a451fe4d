"""Structured tensors: made of fields, asked, indexed, changed, through functions and datasets."""

import pytest

import ebbflow as tf

Structured = tf.experimental.StructuredTensor
Rows = tf.experimental.RowPartition

PEOPLE = [{"age": 3, "toys": [b"ball", b"car"]}, {"age": 5, "toys": []}]
NESTED = [{"docs": [{"tokens": [7, 17]}, {"tokens": [3, 13]}]}, {"docs": [{"tokens": [5, 15]}]}]


def test_of_fields():
    ragged = tf.ragged.constant([[1, 2], [3]])
    assert Structured.from_fields({"a": 5, "r": ragged}).shape == []
    assert Structured.from_fields({"a": [1, 2], "r": ragged}, [None]).shape == [2]
    assert Structured.from_fields({"r": ragged}, [2, None])._ragged_shape.static_lengths() == [2, (2, 1)]
    assert Structured.from_fields_and_rank({"x": [[1, 2, 3], [4, 5, 6]]}, 2).shape == [2, 3]
    empty = Structured.from_fields({}, [2, None], row_partitions=[Rows.from_row_lengths([3, 1])])
    assert empty.to_pyval() == [[{}, {}, {}], [{}]]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: Structured.from_fields({"f": 5}, [5]), ValueError, r"Field f has shape \(\)"),
        (lambda: Structured.from_fields({"x": [1], "y": []}, [None]), ValueError, "Error in shape of y"),
        (lambda: Structured.from_fields({"x": object()}), TypeError, "Unexpected type for value"),
        (lambda: Structured.from_fields({1: 2}), TypeError, "Unexpected type for key"),
        (lambda: Structured.from_fields({"_": 2}), ValueError, "not currently allowed"),
        (lambda: Structured.from_fields({}, None), ValueError, "known rank"),
        (lambda: Structured.from_fields({}, [None]), ValueError, "Must specify `nrows`"),
        (lambda: Structured.from_fields({}, [None, None]), ValueError, "Must specify row_partitions"),
        (lambda: Structured.from_fields({}, (), nrows=5), ValueError, "nrows must be None"),
        (lambda: Structured.from_fields_and_rank({}, 1), ValueError, "at least one field"),
        (lambda: Structured.from_pyval(PEOPLE).field_value(("age", "x")), KeyError, "not found"),
        (lambda: Structured.from_pyval(PEOPLE)[None], ValueError, "newaxis"),
        (lambda: Structured.from_pyval(PEOPLE)[0, 0], ValueError, "must be a string"),
        (lambda: Structured.from_pyval(PEOPLE).merge_dims(0, 1), ValueError, "inner_axis=1 out of bounds"),
        (lambda: Structured.from_pyval(PEOPLE).with_updates({("age", "x"): 1}), ValueError, "is not a `Struct"),
        (lambda: Structured.from_pyval(PEOPLE).with_updates({"age": [1]}), ValueError, "with_updates` failed"),
        (lambda: Structured.from_pyval(PEOPLE).with_updates({"x": None}), ValueError, "cannot delete"),
        (
            lambda: Structured.from_pyval({"a": 1}).partition_outer_dimension(Rows.from_row_lengths([1])),
            ValueError,
            "1",
        ),
    ],
)
def test_what_is_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_indices():
    people = Structured.from_pyval(PEOPLE)
    assert people[0].to_pyval() == PEOPLE[0]
    assert people[-1:].to_pyval() == PEOPLE[-1:]
    assert people[:, "age"].numpy().tolist() == [3, 5]
    assert people[0, "toys", 1].numpy() == b"car"
    assert people[..., "age"].numpy().tolist() == [3, 5]
    assert Structured.from_pyval(NESTED)[:, "docs", 0:1, "tokens"].to_list() == [[[7, 17]], [[5, 15]]]
    assert Structured.from_pyval({"a": [1, 2]})["a", 1].numpy() == 2


def test_changes():
    nested = Structured.from_pyval(NESTED)
    assert nested.promote(("docs", "tokens"), "all").field_value("all").to_list() == [[7, 17, 3, 13], [5, 15]]
    people = Structured.from_pyval(PEOPLE)
    older = people.with_updates({"age": lambda age: age + 1, "size": [1.5, 2.5], "toys": None})
    assert older.to_pyval() == [{"age": 4, "size": 1.5}, {"age": 6, "size": 2.5}]
    pairs = people.partition_outer_dimension(Rows.from_row_lengths([0, 2]))
    assert pairs.to_pyval() == [[], PEOPLE]
    assert pairs.merge_dims(0, 1).to_pyval() == PEOPLE
    assert people.partition_outer_dimension(Rows.from_uniform_row_length(2, 2)).shape == [1, 2]
    assert people.with_shape_dtype(tf.int32).field_value("toys").row_splits.dtype is tf.int32


def test_shown():
    assert repr(Structured.from_pyval({"a": 5, "b": {"c": [1, 2]}})).split("\n") == [
        "<StructuredTensor(",
        "    fields={",
        '        "a": tf.Tensor(5, shape=(), dtype=int32),',
        '        "b": <StructuredTensor(',
        "                fields={",
        '                    "c": tf.Tensor([1 2], shape=(2,), dtype=int32)},',
        "                shape=())>},",
        "    shape=())>",
    ]


def test_through_functions_and_datasets():
    people = Structured.from_pyval(PEOPLE)
    assert tf.function(lambda x: x)(people).to_pyval() == PEOPLE
    data = tf.data.Dataset.from_tensor_slices(people)
    assert [each.to_pyval() for each in data] == PEOPLE
    assert [each.to_pyval() for each in data.batch(2)] == [PEOPLE]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="only supported in eager mode"):
        Structured.from_pyval(PEOPLE).to_pyval()
