"""Values as text and printing: what is shown, how much of it, and where it goes.

The text forms were compared with TensorFlow 2.21's; the recorded prints are replayed in tests/eager.
"""

import collections
import sys

import ml_dtypes
import numpy as np
import pytest

import ebbflow.ops.foundation  # noqa: F401  (operators)
from ebbflow.core import context, dtypes, errors
from ebbflow.eager.tape import GradientTape
from ebbflow.graph.graph import Graph
from ebbflow.graph.placeholders import placeholder
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.checks import printing
from ebbflow.ops.checks.value_text import edges, opening
from ebbflow.ops.control.barriers import timestamp
from ebbflow.platform import logging
from ebbflow.runtime.session import Session

COUNT = np.arange(120).reshape(4, 5, 6)


@pytest.mark.parametrize(
    "array, limit, text",
    [
        (np.arange(8), -1, "0 1 2 3 4 5 6 7"),
        (np.arange(8), 3, "0 1 2..."),
        (np.arange(8), 0, "..."),
        (np.float32(1.5), 3, "1.5"),
        (np.zeros((2, 0)), 3, ""),
        (np.arange(6).reshape(2, 3), 2, "[0 1...]..."),
        (np.arange(6).reshape(2, 3), 3, "[0 1 2]..."),
        (np.arange(6).reshape(2, 3), 4, "[0 1 2][3...]..."),
        (np.arange(8).reshape(2, 2, 2), 7, "[[0 1][2 3]][[4 5][6...]]..."),
        (np.arange(8).reshape(2, 2, 2), 8, "[[0 1][2 3]][[4 5][6 7]]"),
        (np.array([b"it's", b"\n\x01"], object), -1, "it\\'s \\n\\001"),
    ],
)
def test_opening(array, limit, text):
    assert opening(np.asarray(array), limit) == text


@pytest.mark.parametrize(
    "array, summarize, text",
    [
        (np.arange(8), 3, "[0 1 2 ... 5 6 7]"),
        (np.arange(8), 4, "[0 1 2 3 4 5 6 7]"),
        (np.arange(8), 0, "[ ...]"),
        (np.float32(1.5), 3, "1.5"),
        (np.zeros(0), 3, "[]"),
        (np.zeros((2, 0)), 3, "[\n ...]"),
        (np.arange(6).reshape(2, 3), 1, "[[0 ... 2]\n [3 ... 5]]"),
        (np.arange(8).reshape(2, 2, 2), 3, "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"),
        (COUNT, 1, "[[[0 ... 5]\n  ...\n  [24 ... 29]]\n\n ...\n\n [[90 ... 95]\n  ...\n  [114 ... 119]]]"),
        (np.array([b'say "a"', b"\x00\xff"], object), 3, '["say \\"a\\"" "\\000\udcff"]'),
    ],
)
def test_edges(array, summarize, text):
    assert edges(np.asarray(array), summarize) == text


@pytest.mark.parametrize(
    "array, text",
    [
        (
            np.float32([0.1, 1 / 3, 16777216, 1e6, 1e5, 1234567, -0.0]),
            "0.1 0.333333343 16777216 1e+06 100000 1234567 -0",
        ),
        (np.float64([0.1, 1 / 3, 1e22, 123456789.123]), "0.1 0.33333333333333331 1e+22 123456789.123"),
        (np.float16([0.1, 65504]), "0.0999755859 65504"),
        (np.array([0.1, 1e30], ml_dtypes.bfloat16), "0.100097656 1.00025555e+30"),
        (np.array([1.5, 0.1], ml_dtypes.float8_e5m2), "1.5 0.09375"),
        (np.array([3, -2], ml_dtypes.int4), "3 -2"),
        (np.float32([np.nan, -np.nan, np.inf, -np.inf]), "nan -nan inf -inf"),
        (np.array([2**63 + 5], np.uint64), "9223372036854775813"),
        (np.array([200, 65], np.uint8), "200 65"),
        (np.array([True, False]), "1 0"),
        (np.array([1 + 2j, 0.1], np.complex64), "(1,2) (0.1,0)"),
    ],
)
def test_elements(array, text):
    assert opening(array, -1) == text


def test_string_format():
    assert printing.string_format("{} of {}", (constant(1), constant([2.0]))).numpy() == b"1 of [2]"
    assert printing.string_format("%d {}", constant(1), placeholder="%d").numpy() == b"1 {}"
    assert printing.string_format("{}", constant(np.arange(9)), summarize=1).numpy() == b"[0 ... 8]"
    assert printing.string_format("no value", []).numpy() == b"no value"
    assert printing.string_format("{}", constant(b"\xff\x00")).numpy() == b'"\xff\\000"'
    with pytest.raises(ValueError, match="The template expects 2 tensors, but the inputs only has 1"):
        printing.string_format("{} {}", constant(1))
    with pytest.raises(errors.InvalidArgumentError, match=r"must match: 1 vs\. 2"):
        printing.StringFormat([constant(1), constant(2)], template="%s")


Point = collections.namedtuple("Point", "x y")

PRINTED = {
    "a string alone": (lambda p: p(constant('say "a"\n')), 'say "a"\n\n'),
    "strings with others": (lambda p: p(constant("a"), "b"), '"a" b\n'),
    "arrays of NumPy": (lambda p: p(np.arange(3)), "array([0, 1, 2])\n"),
    "placeholders in text": (lambda p: p("{} {}0", constant(1), "{"), "{} {}0 1 {\n"),
    "a named tuple": (lambda p: p(Point(1, constant(2))), "Point(x=1, y=2)\n"),
    "an ordered dictionary": (
        lambda p: p(collections.OrderedDict([("b", 1), ("a", constant(1))])),
        f"{collections.OrderedDict([('b', 1), ('a', 1)])!r}\n",  # Python's own form, which 3.12 changed
    ),
    "text in a list": (lambda p: p(["a", constant("b")]), "['a', \"b\"]\n"),
    "no separator": (lambda p: p("a", constant(1), sep=""), "a1\n"),
    "no end": (lambda p: p("a", end=None), "a\n"),
    "all": (lambda p: p(constant(np.arange(9)), summarize=None), "[0 1 2 3 4 5 6 7 8]\n"),
    "nothing": (lambda p: p([], {}, None), "[] {} None\n"),
}


@pytest.mark.parametrize("name", PRINTED)
def test_print(name, capsys):
    write, text = PRINTED[name]
    assert write(printing.print) is None
    assert capsys.readouterr().err == text


@pytest.mark.parametrize("name", PRINTED)
def test_print_in_a_graph(name, capsys):
    write, text = PRINTED[name]
    with Graph().as_default(), Session() as session:
        made = write(printing.print)
        assert isinstance(made, Operation) and not capsys.readouterr().err
        session.run(made)
    assert capsys.readouterr().err == text


def test_streams(tmp_path, capsys):
    printing.print("out", output_stream=sys.stdout)
    assert capsys.readouterr() == ("out\n", "")
    path = tmp_path / "log.txt"
    for text in ("first", "second"):
        printing.print(text, output_stream=f"file://{path}")
    assert path.read_text() == "first\nsecond\n"
    with pytest.raises(errors.NotFoundError):
        printing.print("lost", output_stream=f"file://{tmp_path}/missing/log.txt")


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_levels(level, monkeypatch):
    seen = []
    monkeypatch.setattr(logging.get_logger(), "handle", seen.append)
    printing.print("logged", constant(1), output_stream=getattr(logging, level))
    assert [(record.levelname, record.getMessage()) for record in seen] == [(level.upper(), "logged 1")]


@pytest.mark.parametrize(
    "wrong, kind, words",
    [
        ({"output_stream": 5}, ValueError, "Unsupported output stream, logging level, or file.5"),
        ({"output_stream": "stdout"}, ValueError, "Supported streams are sys.stdout, sys.stderr"),
        ({"file": 1}, ValueError, "Unrecognized keyword arguments for tf.print: {'file': 1}"),
        ({"end": 5}, TypeError, "Expected string"),
        ({"summarize": "5"}, TypeError, "Expected int"),
    ],
)
def test_print_refuses(wrong, kind, words):
    with pytest.raises(kind) as raised:
        printing.print("x", **wrong)
    assert words in str(raised.value)


def test_old_print(capsys):
    with Graph().as_default(), Session() as session:
        x = placeholder(dtypes.float32, [None])
        y = printing.Print(x, [x, "s"], message="now: ", first_n=2, summarize=1)
        for _ in range(4):
            assert session.run(y, {x: [1.0, 2.0]}).tolist() == [1.0, 2.0]
        assert capsys.readouterr().err == "now: [1...][s]\n" * 2
        assert y.op.type == "Print" and y.shape.as_list() == [None]


def test_the_gradient_goes_through_old_print(capsys):
    x = constant([1.0, 2.0])
    with GradientTape() as tape:
        tape.watch(x)
        y = printing.Print(x * x, [x]) * 3.0
    assert tape.gradient(y, x).numpy().tolist() == [6.0, 12.0]
    assert capsys.readouterr().err == "[1 2]\n"


def test_node_names():
    with Graph().as_default() as graph:
        x = placeholder(dtypes.string, [], name="x")
        printing.print("x is", x, name="show")
        printing.print(x)
        assert [node.name for node in graph.get_operations()] == ["x", "show_format", "show", "PrintV2"]


def test_timestamp():
    first = timestamp()
    assert first.dtype is dtypes.float64 and float(timestamp()) >= float(first)


def test_the_words_of_tf_1_for_a_wrong_number_of_inputs(monkeypatch):
    monkeypatch.setattr(context.switches, "tf1", True)
    with pytest.raises(ValueError, match=r"2 placeholder\(s\) in template does not match 1 tensor\(s\)"):
        printing.string_format("{} {}", [constant(1)])
