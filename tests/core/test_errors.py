"""Errors: TensorFlow's recorded answers, then origin, pickling and the classes of Ebbflow's own."""

import copy
import pathlib
import pickle
import runpy
import traceback
import types

import pytest

from ebbflow import messages
from ebbflow.core import errors

ROOT = pathlib.Path(__file__).resolve().parents[1]
ASK = runpy.run_path(str(ROOT / "golden" / "core" / "ask.py"))
CLASSES = [errors.exception_type_from_error_code(code) for code in range(1, 17)]


@pytest.mark.filterwarnings("ignore:Unknown")
@pytest.mark.parametrize(("question", "answer"), ASK["golden"]("errors"))
def test_answers_as_tensorflow(question, answer):
    assert ASK["ask"](question, {"errors": errors}) == answer


def node(name, line, original=None):
    frames = [traceback.FrameSummary("train.py", line, "build", line="x = tf.matmul(a, b)")]
    return types.SimpleNamespace(name=name, traceback=frames, _original_op=original)


def test_the_text_says_where_the_node_was_made():
    error = errors.InvalidArgumentError(None, node("dense/MatMul", 41), "boo")
    assert error.message == "boo"
    assert str(error) == (
        "boo\n\nOriginal stack trace for 'dense/MatMul':\n"
        '  File "train.py", line 41, in build\n    x = tf.matmul(a, b)\n'
    )


def test_the_text_follows_a_gradient_back_to_its_op():
    error = errors.InternalError(None, node("grad/MatMul", 50, original=node("MatMul", 41)), "boo")
    assert "Original stack trace for 'grad/MatMul':" in str(error)
    assert "...which was originally created as op 'MatMul', defined at:\n  File \"train.py\", line 41" in str(error)


def test_an_op_without_a_trace_is_still_named():
    op = types.SimpleNamespace(name="x")
    assert str(errors.InternalError(None, op, "boo")) == "boo\n\nOriginal stack trace for 'x':\n"


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_errors_survive_pickling(cls):
    error = cls(None, node("x", 1), "boo", {"key": b"value"})
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is cls
    assert (again.message, again.error_code, again.experimental_payloads) == ("boo", cls._code, {"key": b"value"})
    assert again.op is None
    assert str(again) == "boo"


def test_a_node_def_travels_or_is_left_behind():
    error = errors.NotFoundError(messages.NodeDef(name="n"), None, "boo")
    again = pickle.loads(pickle.dumps(error))
    assert again.node_def is None or again.node_def.name == "n"
    assert again.message == "boo"


def test_copies_keep_the_op():
    error = errors.NotFoundError("node", node("x", 1), "boo")
    assert copy.copy(error).op is error.op
    assert copy.copy(error).node_def == "node"


@pytest.mark.parametrize(
    ("cls", "python_error"), [(errors.StaticShapeError, ValueError), (errors.WrongTypeError, TypeError)]
)
def test_early_errors_are_caught_as_either(cls, python_error):
    for expected in (python_error, errors.InvalidArgumentError, errors.OpError):
        with pytest.raises(expected, match="boo"):
            raise cls("boo")
    again = pickle.loads(pickle.dumps(cls("boo")))
    assert type(again) is cls
    assert (str(again), again.error_code) == ("boo", errors.INVALID_ARGUMENT)
    assert cls("boo", "node", "op").op == "op"


def test_a_tensor_out_of_scope_is_caught_as_either():
    for expected in (TypeError, ValueError):
        with pytest.raises(expected, match="boo"):
            raise errors.InaccessibleTensorError("boo")


def test_repr_shows_the_message():
    assert repr(errors.NotFoundError(None, None, "no file")) == "NotFoundError('no file')"


def test_status_raises_at_the_end_of_the_block():
    with errors.raise_exception_on_not_ok_status() as status:
        assert status.code == errors.OK
    with pytest.raises(errors.NotFoundError, match="gone"), errors.raise_exception_on_not_ok_status() as status:
        status.set(errors.NOT_FOUND, "gone")
    with pytest.raises(KeyError), errors.raise_exception_on_not_ok_status() as status:
        status.set(errors.NOT_FOUND, "gone")
        raise KeyError("the block's own error comes first")


def test_unknown_codes_and_classes_warn():
    with pytest.warns(UserWarning, match="Unknown error code: 99"):
        assert type(errors.make_specific_exception(None, None, "boo", 99)) is errors.UnknownError
    with pytest.warns(UserWarning, match="Unknown class exception"):
        assert type(errors.error_code_from_exception_type(KeyError)) is errors.UnknownError


def test_names_that_are_no_text_are_written_so_that_every_file_takes_them():
    error = errors.NotFoundError(None, None, "caf\u00e9 \udcff")
    assert error.message == "café \\udcff"
    error.message.encode()
