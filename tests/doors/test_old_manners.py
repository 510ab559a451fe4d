"""NumPy and pandas as programs knew them: for the program's own code, and only where today's manners fail."""

import types

import numpy as np
import pytest

from ebbflow import messages
from ebbflow.doors import old_manners

OWN, FOREIGN = "/program/train.py", "/elsewhere/library.py"


class Keeper:
    def __init__(self):
        self.lent = {}
        self.program = types.SimpleNamespace(asks=lambda frame: frame.f_code.co_filename == OWN)


@pytest.fixture
def keeper(monkeypatch):
    for name in (*old_manners.FUNCTIONS, *old_manners.LISTS):
        monkeypatch.setattr(np, name, getattr(np, name))
    keeper = Keeper()
    old_manners.teach_functions(keeper, np)
    old_manners.teach_methods(keeper, np)
    yield keeper
    old_manners.take_back(np)
    assert not hasattr(np.ndarray, "tostring")


def ask(expression, file):
    return eval(compile(expression, file, "eval"), {"np": np})


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("np.array([1.0, 2.0], copy=False).tolist()", [1.0, 2.0]),
        ("np.array([[1], [1, 2]]).tolist()", [[1], [1, 2]]),
        ("np.asarray([[1], [1, 2]]).dtype", object),
        ("np.fromstring(b'ab', dtype=np.uint8).tolist()", [97, 98]),
        ("np.fromstring(b'ab', np.uint8).flags.writeable", True),
        ("np.reshape([1, 2], newshape=(2, 1)).shape", (2, 1)),
        ("np.histogram([1, 2], bins=1, normed=True)[0].tolist()", [1.0]),
        ("np.vstack(x for x in [[1], [2]]).tolist()", [[1], [2]]),
        ("np.sum(x for x in [1, 2])", 3),
        ("np.uint8([97]).tostring()", b"a"),
        ("np.uint8(97).tostring()", b"a"),
        ("np.array([3, 5]).ptp()", 2),
        ("[a.tolist() for a in np.meshgrid([1, 2], [3]) + []]", [[[1, 2]], [[3, 3]]]),
        ("[a.tolist() for a in np.broadcast_arrays([1, 2], 3) + []]", [[1, 2], [3, 3]]),
        ("[a.tolist() for a in np.atleast_2d(1, 2) + []]", [[[1]], [[2]]]),
        ("np.array([1], '<i2').newbyteorder().tolist()", [256]),
    ],
)
def test_the_program_gets_what_it_knew_and_libraries_do_not(keeper, expression, value):
    assert ask(expression, OWN) == value
    assert keeper.lent
    with pytest.raises((ValueError, TypeError, AttributeError)):
        ask(expression, FOREIGN)


@pytest.mark.parametrize(
    ("value", "numbers"), [([True, 2], [1, 2]), (np.array([True, False]), [1, 0]), ((np.True_,), [1]), ([3], [3])]
)
def test_lists_of_integers_take_truth_values(keeper, monkeypatch, value, numbers):
    kind = messages.message("tensorflow.Int64List")
    monkeypatch.setattr(kind, "__init__", kind.__init__)
    old_manners.teach_integers(keeper, kind)
    scope = {"make": kind, "value": value}
    assert list(eval(compile("make(value=value)", OWN, "eval"), scope).value) == numbers
    with pytest.raises(TypeError):
        eval(compile("make(value=[1.5])", OWN, "eval"), scope)


def test_what_was_always_wrong_stays_so(keeper):
    for expression in ("np.array([[1], [1, 2]], dtype=np.float32)", "np.reshape([1], (2,))", "np.vstack(3)"):
        with pytest.raises((ValueError, TypeError), match=r"inhomogeneous|reshape|iterable|sequence"):
            ask(expression, OWN)
    assert not keeper.lent and np.array([1, 2]).tolist() == [1, 2]


def test_elements_are_set_by_a_method(keeper):
    a = np.zeros((2, 2))
    eval(compile("a.itemset((1, 0), 5)", OWN, "eval"), {"a": a})
    assert a.tolist() == [[0, 0], [5, 0]]


def test_classes_of_python_are_taught_and_untaught(keeper, monkeypatch):
    frame = type("DataFrame", (), {"to_numpy": lambda self: "rows", "items": lambda self: "columns"})
    pandas = types.ModuleType("pandas")
    pandas.DataFrame, pandas.Series = frame, type("Series", (), {})
    old_manners.teach_methods(keeper, pandas)
    scope = {"frame": frame()}
    assert eval(compile("frame.as_matrix(), frame.iteritems()", OWN, "eval"), scope) == ("rows", "columns")
    with pytest.raises(AttributeError, match="no attribute 'as_matrix'"):
        eval(compile("frame.as_matrix()", FOREIGN, "eval"), scope)
    old_manners.take_back(pandas)
    assert not vars(frame).get("as_matrix")
