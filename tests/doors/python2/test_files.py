"""Which files are read as Python 2, and what the program and its errors show of it."""

import linecache
import os
import subprocess
import sys
import textwrap

import pytest

import ebbflow as package
from ebbflow.doors.python2 import files, translation, words


def ebbflow(*args, cwd=None, stdin=None, **env):
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(package.__file__)), **env}
    command = [sys.executable, "-m", "ebbflow", *args]
    return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, text=True, env=environment)


def write(place, **sources):
    for name, text in sources.items():
        path = place / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """Nothing of a file that is decided here stays."""
    monkeypatch.setattr(files, "read", {})
    monkeypatch.setattr(files, "told", {})
    monkeypatch.setattr(files, "main_is_old", False)


WHOLE = [
    ("print 'a'", "a print statement"),
    ("def f(x):\n\tif x:\n\t        return 1\n        return 2", "tabs and spaces"),
    ("import urllib2", "a module that is gone, at the top"),
    ("from itertools import izip", "a name that is gone, at the top"),
    ("for i in xrange(3): pass", "a name that is gone is read at the top"),
    ("def f(): print >>log, 'x'", "a print statement that reads as an expression"),
    ("def f(): print [1]", "another"),
    ("def f(x): print ('%d') % x", "a third"),
    ("x = 'C:\\Users'", "an escape that is none"),
]


@pytest.mark.parametrize("source, why", WHOLE)
def test_files_that_are_python_2(source, why):
    files.compiled(source + "\n", "/program/a.py")
    assert files.told == {"/program/a.py": "Python 2"}, why


LENT = [
    ("def f(): return xrange(3)", "xrange"),
    ("def f(d): return d.iteritems()", "iteritems"),
    ("import urllib\ndef f(): urllib.urlretrieve('a')", "urllib.urlretrieve"),
    ("def f():\n    import cPickle", "cPickle"),
    ("if 0:\n    from itertools import izip", "itertools.izip"),
    ("def f(x): return isinstance(x, unicode)", "unicode"),
    ("x = 1 and reduce", "reduce"),
]


@pytest.mark.parametrize("source, name", LENT)
def test_files_that_are_lent_names_and_divide_as_today(source, name):
    code = files.compiled(f"{source}\nhalf = 7 / 2\n", "/program/a.py")
    assert files.told == {"/program/a.py": name}
    scope = {}
    exec(code, scope)
    assert scope["half"] == 3.5 and scope["__builtins__"] is words.LENDING


NEITHER = [
    "x = 7 / 2",
    "print('a')",
    "try:\n    xrange\nexcept NameError:\n    xrange = range",
    "try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle",
    "import sys\nif sys.version_info[0] == 2:\n    range = xrange",
    "def reduce(x): return x\nreduce(1)",
    "unicode = str\nx = unicode(3)",
    "import six\nfor k in six.iteritems({}): pass",
    "import numpy as np\nnp.add.reduce([1])",
    "# xrange, unicode and print 'a'\nx = 'import urllib2'",
    "def f(file, long): return file, long",
]


@pytest.mark.parametrize("source", NEITHER)
def test_other_files_are_left_alone(source):
    code = files.compiled(source, "/program/a.py")
    assert code == compile(source, "/program/a.py", "exec", dont_inherit=True) and not files.told


def test_a_file_that_only_uses_later_words_as_names_is_python_3():
    scope = {}
    exec(files.compiled("def f(async=7):\n    return async / 2\nhalf = f(async=5)\n", "/program/a.py"), scope)
    assert scope["half"] == 2.5 and not files.told


BROKEN = [
    ("x = (\n", 1),
    ("def f(x: int):\n    print 'a'\n", 2),
    ("x = 1\nprint f'{x}' 'a'\nprint 'b'\n", 2),
    ("x = 1\nprint 'a', 'b' 3\n", 2),
    ("print 'a'\nclass A(metaclass=type): pass\n", 1),
    ("print 'a'\nx = ?\n", 1),
    ("print a=1\n", 1),
]


@pytest.mark.parametrize("source, line", BROKEN)
def test_files_of_neither_language_say_what_python_3_says(source, line):
    with pytest.raises(SyntaxError) as ours:
        files.compiled(source, "a.py")
    with pytest.raises(SyntaxError) as pythons:
        compile(source, "a.py", "exec")
    assert (ours.value.msg, ours.value.lineno) == (pythons.value.msg, pythons.value.lineno)
    assert ours.value.lineno >= line and not files.told


def test_lines_and_columns_are_the_files_own():
    source = "# -*- coding: utf-8 -*-\nif True:\n\tx = 'é'; print x, 0777, `x`, 10L / 0L, \\\n\t    'end'\n"
    with pytest.raises(ZeroDivisionError) as caught:
        exec(files.compiled(source, "/program/a.py"), {})
    frame = caught.tb.tb_next
    while frame.tb_next is not None and frame.tb_next.tb_frame.f_code.co_filename == "/program/a.py":
        frame = frame.tb_next
    while frame.tb_frame.f_code.co_filename != "/program/a.py":
        frame = frame.tb_next
    assert frame.tb_lineno == 3
    tree = translation.translate(source).tree
    call = next(one for one in tree.body[0].body[1].value.args if getattr(one, "func", None) is not None)
    assert source.split("\n")[2].encode()[call.col_offset : call.end_col_offset].decode() == "`x`"


def test_every_line_of_the_translation_is_where_it_was():
    source = "def f(a, (b,\n          c)):\n    print a, \\\n        b, c\n    raise ValueError, \\\n        'x'\n"
    source += "f(1, (2, 3))\n"
    with pytest.raises(ValueError, match="x") as caught:
        exec(compile(translation.translate(source).tree, "a.py", "exec"), {"__builtins__": words.MODULE})
    lines = [step.lineno + 1 for step in caught.traceback if step.frame.code.raw.co_filename == "a.py"]
    assert lines == [7, 5]


def test_a_program_of_python_2(tmp_path):
    write(
        tmp_path,
        prog="""
        import tensorflow as tf
        from pkg import model, config
        import json

        def main(_):
            print "half", 7 / 2, model.half(9), config.HALF
            with tf.Session() as sess:
                print sess.run(tf.constant(7) / 2), type(sess).__name__
            print sorted({'a': 1}.keys() + ['b']),
            model.fail()

        if __name__ == '__main__':
            tf.app.run()
        """,
    )
    write(
        tmp_path / "pkg",
        **{"__init__": "", "other": "N = 1\n", "config": "HALF = 9 / 2\n"},
        model="""
        import other
        from other import N
        def half(x): return x / 2 + N * 0
        def fail():
            for i in xrange(2): print i,
            raise RuntimeError, "half %d" % other.N
        """,
    )
    run = ebbflow("run", "prog.py", cwd=tmp_path)
    assert run.stdout == "half 3 4 4\n3 Session\n['a', 'b'] 0 1"
    lines = run.stderr.splitlines()
    assert '    raise RuntimeError, "half %d" % other.N' in lines and "RuntimeError: half 1" in lines
    assert f'  File "{tmp_path}/pkg/model.py", line 7, in fail' in lines
    assert not [line for line in lines if "python2" in line and "File" in line]
    assert lines[-1].startswith("ebbflow: read as Python 2: prog.py, ")
    assert not list(tmp_path.glob("**/__pycache__/model*"))


def test_files_of_a_python_3_program_are_decided_one_by_one(tmp_path):
    write(
        tmp_path,
        prog="import new\nif 1: import old\nprint(old.half, new.half, new.total({1: 2}), 7 / 2)\n",
        old="print 'old'\nhalf = 7 / 2\n",
        new="half = 7 / 2\ndef total(d): return sum(v for k, v in d.iteritems())\n",
    )
    run = ebbflow("run", "prog.py", cwd=tmp_path)
    assert run.stdout == "old\n3 3.5 2 3.5\n"
    assert run.stderr == (
        "ebbflow: read as Python 2: old.py\nebbflow: lent to this program, because only Python 2 has them: iteritems\n"
    )


def test_a_script_that_imports_python_2_at_its_top_ran_on_it(tmp_path):
    write(tmp_path / "models", **{"__init__": "from net import HALF\n", "net": "HALF = 7 / 2\n"})
    write(tmp_path, middle="import models\nhalf = models.HALF\n")
    write(tmp_path, prog="import middle\nprint(middle.half, 9 / 2)\n")
    assert ebbflow("run", "prog.py", cwd=tmp_path).stdout == "(3, 4)\n"
    write(tmp_path, maybe="try:\n    import models\nexcept ImportError:\n    pass\nprint(9 / 2)\n")
    assert ebbflow("run", "maybe.py", cwd=tmp_path).stdout == "4.5\n"


def test_where_today_fails_files_that_are_lent_names_divide_as_then():
    class Old:
        def __div__(self, other):
            return f"div {other}"

    scope = {"Old": Old}
    source = "def f(x): return isinstance(x, unicode)\nfound = Old() / 2, 7 / 2, list(xrange(7 / 2))"
    source += ", {1: 2}.keys()[0], [0] + {1: 2}.values()\n"
    exec(files.compiled(f"if 1:\n    {source.replace(chr(10), chr(10) + '    ')}\n", "/program/a.py"), scope)
    assert scope["found"] == ("div 2", 3.5, [0, 1, 2], 1, [0, 2]) and files.told == {"/program/a.py": "unicode, xrange"}


def test_modules_code_standard_input_and_processes(tmp_path):
    write(tmp_path / "pkg", **{"__init__": "", "__main__": "import part\nprint part.half\n", "part": "half = 7 / 2\n"})
    assert ebbflow("run", "-m", "pkg", cwd=tmp_path).stdout == "3\n"
    assert ebbflow("run", "-c", "print 7 / 2", cwd=tmp_path).stdout == "3\n"
    assert ebbflow("run", "-", cwd=tmp_path, stdin="print 7 / 2\n").stdout == "3\n"
    write(
        tmp_path,
        pool="""
        import multiprocessing
        import tensorflow as tf
        def work(x): return 7 / x
        if __name__ == '__main__':
            print multiprocessing.get_context('spawn').Pool(1).map(work, [2]), tf.__version__
        """,
    )
    run = ebbflow("run", "--tf", "2", "pool.py", cwd=tmp_path)
    assert run.stdout.startswith("[3] 2."), run.stderr


def test_functions_of_such_files_are_traced_and_show_their_source(tmp_path):
    write(
        tmp_path,
        prog="""
        import inspect
        import tensorflow as tf
        @tf.function
        def f(x, (a, b)):
            if x > 0:
                y = a / 2
            else:
                y = b / 2
            return y
        pair = tf.constant(7), tf.constant(9)
        print f(tf.constant(1), pair).numpy(), f(tf.constant(-1), pair).numpy()
        print inspect.getsource(f.python_function).splitlines()[1]
        """,
    )
    run = ebbflow("run", "prog.py", cwd=tmp_path)
    assert run.stdout == "3 4\ndef f(x, (a, b)):\n", run.stderr


def test_a_file_that_is_neither_says_where(tmp_path):
    write(tmp_path, prog="x = 1\nprint 'a'\nx = = 2\n")
    run = ebbflow("run", "prog.py", cwd=tmp_path)
    assert run.returncode == 1 and "SyntaxError: Missing parentheses" in run.stderr
    assert "line 2, is Python 2: a print statement" in run.stderr and "But the file is not: line 3, " in run.stderr


def test_source_is_not_translated_in_the_cache_of_lines(tmp_path):
    write(tmp_path, a="print 'a'\n")
    files.compiled((tmp_path / "a.py").read_bytes(), str(tmp_path / "a.py"))
    assert linecache.getline(str(tmp_path / "a.py"), 1) == "print 'a'\n"


def test_nothing_of_the_translation_is_loaded_for_a_program_of_today(tmp_path):
    write(tmp_path, prog="import sys\nprint([n for n in sys.modules if n.startswith('ebbflow.doors.python2')])\n")
    run = ebbflow("run", "prog.py", cwd=tmp_path)
    loaded = ["ebbflow.doors.python2", "ebbflow.doors.python2.files", "ebbflow.doors.python2.constructs"]
    assert sorted(eval(run.stdout)) == sorted(loaded)


@pytest.mark.parametrize("text, protocol", [(True, 0), (False, 0), (False, 2)])
def test_pickles_of_python_2(tmp_path, text, protocol):
    pickled = {
        0: b"(dp0\nS'data'\np1\nS'\\xc3\\xa9'\np2\nsS'n'\np3\nI3\ns.",
        2: b"\x80\x02}q\x00(U\x04dataq\x01U\x02\xc3\xa9q\x02U\x01nq\x03K\x03u.",
    }[protocol]
    (tmp_path / "old.pkl").write_bytes(pickled)
    mode = "r" if text else "rb"
    source = f"import cPickle\nfound = cPickle.load(open({str(tmp_path / 'old.pkl')!r}, {mode!r}))\n"
    source += "print found == {'data': u'\\xe9', 'n': 3}\n"
    assert ebbflow("run", "-c", source).stdout == "True\n"
