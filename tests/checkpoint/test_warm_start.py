"""Warm starts: matrices read under another vocabulary, and variables that start from an old model's checkpoint."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import ebbflow as tf

v1 = tf.compat.v1
MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def old(tmp_path: pathlib.Path) -> pathlib.Path:
    """An old model: a matrix with a row a fruit, in two parts, and a vector."""
    (tmp_path / "old.txt").write_text("apple\nbanana\nguava\norange\n")
    (tmp_path / "new.txt").write_text("orange\nkiwi\napple\n")
    with tf.Graph().as_default(), v1.Session() as session:
        part = v1.fixed_size_partitioner(2)
        v1.get_variable("fruit", initializer=MATRIX, partitioner=part, shape=[4, 3])
        v1.get_variable("bias", initializer=[1.0, 2.0, 3.0])
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(tmp_path / "model"))
    return tmp_path


def test_words_that_are_in_both_vocabularies_are_found(old: pathlib.Path) -> None:
    files = {"new_vocab_file": str(old / "new.txt"), "old_vocab_file": str(old / "old.txt")}
    remapping, present = tf.raw_ops.GenerateVocabRemapping(**files, new_vocab_offset=0, num_new_vocab=3)
    assert remapping.numpy().tolist() == [3, -1, 0] and present.numpy() == 2
    remapping, present = tf.raw_ops.GenerateVocabRemapping(
        **files, new_vocab_offset=1, num_new_vocab=2, old_vocab_size=1
    )
    assert remapping.numpy().tolist() == [-1, 0] and present.numpy() == 1


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"num_rows": 3}, "Size of row_remapping is 2 instead of being equal to num_rows=3"),
    ({"num_cols": 2}, "instead of being equal to num_cols=2"),
    ({"row_remapping": [0, -1]}, "contained 0 elements, but more missing values remain"),
    ({"initializing_values": [1.0]}, "only 0 values are missing"),
    ({"row_remapping": [0, 9]}, "Row remapping index 9 is out of bounds"),
    ({"col_remapping": [0, 1, 7]}, "Col remapping index 7 is out of bounds"),
    ({"row_remapping": [1, 1]}, "Old ID 1 is mapped to both new ID 0 and 1"),
    ({"row_remapping": [[0, 1]]}, "must be 1-D"),
    ({"old_tensor_name": "bias"}, "invalid rank 1"),
    ({"old_tensor_name": ["fruit", "bias"]}, "`old_tensor_name` tensor must have exactly one element"),
    ({"old_tensor_name": "fruits"}, "near: fruit"),
]


@pytest.mark.parametrize(("change", "says"), REFUSED, ids=[says[:30] for _, says in REFUSED])
def test_a_remapping_that_does_not_fit_is_refused(old: pathlib.Path, change: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {
        "ckpt_path": str(old / "model"), "old_tensor_name": "fruit", "row_remapping": [0, 1], "col_remapping": [],
        "initializing_values": [], "num_rows": 2, "num_cols": 3,
    }  # fmt: skip
    with pytest.raises((tf.errors.OpError, ValueError), match=says):
        tf.raw_ops.LoadAndRemapMatrix(**(arguments | change))


@pytest.mark.parametrize("at_once", [-1, 1, 3])
def test_a_matrix_is_read_in_parts(old: pathlib.Path, at_once: int) -> None:
    found = tf.raw_ops.LoadAndRemapMatrix(
        ckpt_path=str(old / "model"), old_tensor_name="fruit", row_remapping=[3, -1, 0], col_remapping=[2, -1],
        initializing_values=[-1.0, -2.0, -3.0, -4.0], num_rows=3, num_cols=2, max_rows_in_memory=at_once,
    )  # fmt: skip
    assert found.numpy().tolist() == [[11, -1], [-2, -3], [2, -4]]


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("parts", [None, 2])
def test_warm_start_finds_rows_by_their_words(old: pathlib.Path, parts: int | None, resource: bool) -> None:
    info = v1.train.VocabInfo(
        str(old / "new.txt"), 3, 1, str(old / "old.txt"), backup_initializer=v1.ones_initializer()
    )
    with tf.Graph().as_default(), v1.Session() as session:
        divide = None if parts is None else v1.fixed_size_partitioner(parts)
        with v1.variable_scope("", partitioner=divide, use_resource=resource):
            fruit = v1.get_variable("fruit", shape=[4, 3], initializer=tf.zeros_initializer())
        other = v1.get_variable("other", initializer=[0.0, 0.0, 0.0])
        v1.train.warm_start(
            str(old), var_name_to_vocab_info={"fruit": info}, var_name_to_prev_var_name={"other": "bias"}
        )
        session.run(v1.global_variables_initializer())
        expected = [MATRIX[3], [1.0] * 3, MATRIX[0], [1.0] * 3]
        np.testing.assert_array_equal(session.run(tf.convert_to_tensor(fruit)), expected)
        np.testing.assert_array_equal(session.run(other), [1, 2, 3])


def test_warm_start_takes_what_is_asked_for(old: pathlib.Path) -> None:
    def started(**arguments: Any) -> list[Any]:
        with tf.Graph().as_default(), v1.Session() as session:
            fruit = v1.get_variable("fruit", shape=[4, 3], initializer=tf.zeros_initializer())
            bias = v1.get_variable("bias", shape=[3], initializer=tf.zeros_initializer(), trainable=False)
            arguments = {k: [bias] if v == "the variable" else v for k, v in arguments.items()}
            v1.train.warm_start(str(old), **arguments)
            session.run(v1.global_variables_initializer())
            return [bool(np.any(value)) for value in session.run([fruit, bias])]

    assert started() == [True, False]
    assert started(vars_to_warm_start=["f.*", "bias"]) == [True, True]
    assert started(vars_to_warm_start="the variable") == [False, True]
    assert started(vars_to_warm_start=None) == [False, False]
    with pytest.raises(ValueError, match=r"not used: frut.*viable variable names: fruit"):
        started(var_name_to_prev_var_name={"frut": "fruit"})
    with pytest.raises(ValueError, match="all `Variable` or all `str`"):
        started(vars_to_warm_start=[1])


def test_warm_start_reads_checkpoints_of_objects_by_the_names_of_variables(tmp_path: pathlib.Path) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        weights = v1.get_variable("weights", initializer=[1.0, 2.0])
        session.run(v1.global_variables_initializer())
        tf.train.Checkpoint(model=weights).save(str(tmp_path / "objects"))
    with tf.Graph().as_default(), v1.Session() as session:
        weights = v1.get_variable("weights", initializer=[0.0, 0.0])
        v1.train.warm_start(str(tmp_path))
        session.run(v1.global_variables_initializer())
        assert session.run(weights).tolist() == [1, 2]
