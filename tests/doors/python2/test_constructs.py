"""Python 2 is recognised, and nothing else is taken for it."""

import pytest

from ebbflow.doors.python2 import constructs as python2

OLD = [
    ("print 'loss'", "a print statement"),
    ("  print loss, acc", "a print statement"),
    ("print", "a print statement"),
    ("print >>sys.stderr, x", "a print statement"),
    ("exec code in scope", "an exec statement"),
    ("except ValueError, e:", "`except Error, name`"),
    ("raise ValueError, 'no'", "`raise Error, text`"),
    ("if a <> b:", "the operator <>"),
    ("x = `y`", "backquotes"),
    ("os.chmod(f, 0755)", "an octal number such as 0777"),
    ("n = 10L", "a long number such as 10L"),
    ("s = ur'x'", "a ur'' string"),
]


@pytest.mark.parametrize("line, name", OLD)
def test_old_constructs(line, name):
    assert python2.construct(line)[0] == name


@pytest.mark.parametrize(
    "line",
    [
        "print('loss')",
        "printer = 3",
        "x = 'print this'",
        "# print old",
        "except (A, B) as e:",
        "raise ValueError('a, b')",
        "x = 0",
        "x = 0o755",
        "x = 100",
        "f(1, 2)",
    ],
)
def test_new_constructs(line):
    assert python2.construct(line) is None


def test_hint_names_line_and_cure():
    with pytest.raises(SyntaxError) as caught:
        compile("x = 1\nprint 'a'\n", "old.py", "exec")
    hint = python2.hint_for(caught.value)
    assert "old.py, line 2" in hint and "a print statement" in hint and "print(...)" in hint


def test_other_syntax_errors_get_no_hint():
    with pytest.raises(SyntaxError) as caught:
        compile("x = (", "new.py", "exec")
    assert python2.hint_for(caught.value) == ""
