"""NumPy and pandas as programs knew them: for the program's own code, and only where today's manners fail."""

import threading
import types
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from ebbflow import messages
from ebbflow.doors import old_manners, old_pandas

OWN, FOREIGN = "/program/train.py", "/elsewhere/library.py"


class Keeper:
    def __init__(self):
        self.lent = {}
        self.program = types.SimpleNamespace(asks=lambda frame: frame.f_code.co_filename == OWN)


@pytest.fixture
def keeper(monkeypatch):
    for name in (*old_manners.FUNCTIONS, *old_manners.LISTS, "load"):
        monkeypatch.setattr(np, name, getattr(np, name))
    keeper = Keeper()
    old_manners.teach_functions(keeper, np)
    old_manners.teach_methods(keeper, np)
    yield keeper
    old_manners.take_back(np)
    assert not hasattr(np.ndarray, "tostring")


def test_rows_of_different_lengths_are_saved(keeper, tmp_path):
    file = str(tmp_path / "rows.npy")
    ask(f"np.save({file!r}, [[1], [1, 2]])", OWN)
    assert np.load(file, allow_pickle=True).tolist() == [[1], [1, 2]]
    with pytest.raises(ValueError, match="inhomogeneous"):
        ask(f"np.save({file!r}, [[1], [1, 2]])", FOREIGN)


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
        ("[float(x) for x in np.nan_to_num([np.array([1.0, 2.0]), 3.0, 4.0])[1:]]", [3.0, 4.0]),
        ("np.shape([[1], [1, 2]])", (2,)),
        ("np.size([[1], [1, 2]])", 2),
        ("np.ndim([[1], [1, 2]])", 1),
        ("np.sum([[1], [1, 2]])", [1, 1, 2]),
        ("np.mean([np.array([1.0, 2.0, 3.0]), 3.0]).tolist()", [2.0, 2.5, 3.0]),
        ("[a.tolist() for a in np.array_split([[1], [1, 2]], 2)]", [[[1]], [[1, 2]]]),
        ("np.squeeze([[1], [1, 2]]).tolist()", [[1], [1, 2]]),
        ("np.uint8([97]).tostring()", b"a"),
        ("np.uint8(97).tostring()", b"a"),
        ("np.array([3, 5]).ptp()", 2),
        ("[a.tolist() for a in np.meshgrid([1, 2], [3]) + []]", [[[1, 2]], [[3, 3]]]),
        ("[a.tolist() for a in np.broadcast_arrays([1, 2], 3) + []]", [[1, 2], [3, 3]]),
        ("[a.tolist() for a in np.atleast_2d(1, 2) + []]", [[[1]], [[2]]]),
        ("np.array([1], '<i2').newbyteorder().tolist()", [256]),
        ("np.empty(2, dtype=np.integer).dtype", np.int_),
        ("np.zeros(1, np.floating).tolist()", [0.0]),
        ("np.array([1], dtype=np.integer).dtype", np.int_),
        ("np.array([300, -1], np.uint8).tolist()", [44, 255]),
        ("np.asarray([300], dtype=np.uint8).tolist()", [44]),
    ],
)
def test_the_program_gets_what_it_knew_and_libraries_do_not(keeper, expression, value):
    assert ask(expression, OWN) == value
    assert keeper.lent
    with pytest.raises((ValueError, TypeError, AttributeError, OverflowError)):
        ask(expression, FOREIGN)


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_files_of_objects_are_read(keeper, tmp_path, name):
    file = str(tmp_path / name)
    (np.save if name.endswith("npy") else np.savez)(file, np.array([{1: 2}]))
    expression = f"np.load({file!r})" + ("['arr_0']" if name.endswith("npz") else "")
    assert ask(expression, OWN)[0] == {1: 2}
    assert keeper.lent == ({"numpy.load as it was": None} if name.endswith("npy") else {})
    for refused, asker in ((expression, FOREIGN), (expression.replace(")", ", allow_pickle=False)"), OWN)):
        with pytest.raises(ValueError, match="allow_pickle=False"):
            ask(refused, asker)


def test_files_of_numbers_are_read_and_not_told(keeper, tmp_path):
    np.savez(tmp_path / "a.npz", a=[1, 2])
    with open(tmp_path / "a.npz", "rb") as file:
        found = eval(compile("np.load(file)['a']", OWN, "eval"), {"np": np, "file": file})
    assert found.tolist() == [1, 2] and not keeper.lent


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


class Table:
    """As much of a table as `ix` needs."""

    axes = (np.array(["x", "y"]), np.array([5, 6]))

    def __init__(self):
        self.loc = {}


KEYS = [
    ("x", "x"),
    (0, "x"),
    ([1, 0], ["y", "x"]),
    (["x"], ["x"]),
    (slice(0, 1), ["x"]),
    (slice("x", "y"), slice("x", "y")),
    ((0, 5), ("x", 5)),
    ((slice(None), 6), (slice(None), 6)),
]


@pytest.mark.parametrize(("key", "labels"), KEYS, ids=[str(key) for key, _ in KEYS])
def test_ix_takes_labels_and_places(key, labels):
    plain = lambda one: one.tolist() if isinstance(one, np.ndarray) else one
    found = old_pandas.Index(Table())._labels(key)
    assert (tuple(map(plain, found)) if isinstance(found, tuple) else plain(found)) == labels


def test_properties_are_lent(keeper):
    series = type("Series", (), {"is_monotonic_increasing": True})
    pandas = types.ModuleType("pandas")
    pandas.DataFrame, pandas.Series = type("DataFrame", (), {}), series
    old_manners.teach_methods(keeper, pandas)
    assert eval(compile("s.is_monotonic", OWN, "eval"), {"s": series()}) is True
    with pytest.raises(AttributeError):
        eval(compile("s.is_monotonic", FOREIGN, "eval"), {"s": series()})
    old_manners.take_back(pandas)


@pytest.mark.parametrize(
    ("module", "expression", "value"),
    [
        (threading, "one.isAlive()", False),
        (ElementTree, "[child.tag for child in one.getchildren()]", ["b"]),
        (ElementTree, "[child.tag for child in one.getiterator()]", ["a", "b"]),
    ],
)
def test_methods_of_python_are_lent(keeper, module, expression, value):
    one = threading.Thread() if module is threading else ElementTree.fromstring("<a><b/></a>")
    old_manners.teach_methods(keeper, module)
    try:
        assert eval(compile(expression, OWN, "eval"), {"one": one}) == value
        with pytest.raises(AttributeError):
            eval(compile(expression, FOREIGN, "eval"), {"one": one})
    finally:
        old_manners.take_back(module)


def test_methods_of_pillow_are_lent(keeper):
    draw, font = ImageDraw.Draw(Image.new("L", (9, 9))), ImageFont.load_default()
    for module in (ImageDraw, ImageFont):
        old_manners.teach_methods(keeper, module)
    try:
        assert min(eval(compile("draw.textsize('ab')", OWN, "eval"), {"draw": draw})) > 0
        assert min(eval(compile("font.getsize('ab')", OWN, "eval"), {"font": font})) > 0
    finally:
        for module in (ImageDraw, ImageFont):
            old_manners.take_back(module)


def test_pictures_of_canvases_are_bytes(keeper):
    canvas = type("FigureCanvasAgg", (), {"buffer_rgba": lambda self: np.arange(8, dtype=np.uint8).reshape(1, 2, 4)})
    module = types.ModuleType("matplotlib.backends.backend_agg")
    module.FigureCanvasAgg = canvas
    old_manners.teach_methods(keeper, module)
    assert eval(compile("canvas.tostring_rgb()", OWN, "eval"), {"canvas": canvas()}) == bytes([0, 1, 2, 4, 5, 6])
    old_manners.take_back(module)
