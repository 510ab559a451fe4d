"""Numbers of arrays of one element: for the program's own code, where NumPy refuses."""

import io
import math
import types

import numpy as np
import pytest

from ebbflow.doors import old_numbers

OWN, FOREIGN = "/program/train.py", "/elsewhere/library.py"


class Keeper:
    def __init__(self):
        self.lent = {}
        self.program = types.SimpleNamespace(asks=lambda frame: frame.f_code.co_filename == OWN)


def _refused() -> bool:
    try:
        float(np.ones(1))
    except TypeError:
        return True
    return False


REFUSED = _refused()


@pytest.fixture
def keeper():
    keeper = Keeper()
    old_numbers.teach(keeper, np)
    yield keeper
    old_numbers.take_back(np)
    assert _refused() == REFUSED


def ask(expression, file, **scope):
    return eval(compile(expression, file, "eval"), {"np": np, "math": math, **scope})


NUMBERS = [
    ("float(np.array([1.5]))", 1.5),
    ("int(np.array([[4.7]]))", 4),
    ("'%d %.1f' % (np.array([3]), np.array([2.0]))", "3 2.0"),
    ("math.sqrt(np.array([4.0]))", 2.0),
    ("np.zeros(2).__setitem__(0, np.array([1.0]))", None),
    ("np.zeros(2, int).__setitem__(0, np.array([[1]]))", None),
    ("np.array([float(np.array([2.0])), 1.0]).tolist()", [2.0, 1.0]),
]


@pytest.mark.filterwarnings("ignore:Conversion of an array")
@pytest.mark.parametrize(("expression", "value"), NUMBERS, ids=[one for one, _ in NUMBERS])
def test_the_program_gets_them_and_libraries_do_not(keeper, expression, value):
    assert ask(expression, OWN) == value
    assert bool(keeper.lent) == REFUSED
    if REFUSED:
        with pytest.raises((TypeError, ValueError)):
            ask(expression, FOREIGN)


@pytest.mark.parametrize("expression", ["float(np.ones(2))", "int(np.ones(0))", "float(np.array(['a']))"])
def test_what_was_always_wrong_stays_so(keeper, expression):
    with pytest.raises((TypeError, ValueError)):
        ask(expression, OWN)
    assert not keeper.lent


def test_elements_are_set(keeper):
    if REFUSED:
        values = np.zeros(2)
        ask("values.__setitem__(1, np.array([5.0]))", OWN, values=values)
        assert values.tolist() == [0.0, 5.0]


def test_arrays_without_axes_convert_as_ever(keeper):
    assert ask("float(np.array(2.5)), int(np.array(7))", FOREIGN) == (2.5, 7)
    assert not keeper.lent


def test_it_can_be_done_here():
    assert old_numbers.possible()


def test_arrays_of_one_element_are_sizes(keeper):
    if not REFUSED:
        return
    assert ask("bytes(3).__len__() + list(range(9))[np.array([2])]", OWN) == 5
    assert ask("io.BytesIO(b'abc').read(np.array([2]))", OWN, io=io) == b"ab"
    with pytest.raises(TypeError):
        ask("list(range(9))[np.array([2])]", FOREIGN)
    with pytest.raises(TypeError):
        ask("list(range(9))[np.array([2, 3])]", OWN)
