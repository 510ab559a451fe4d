"""Names that no longer exist: lent to the program's own code, and to no other."""

import builtins
import collections
import errno
import importlib
import inspect
import os
import platform
import sys
import time
import types

import numpy as np
import pytest
import scipy
from scipy.io import wavfile

from ebbflow.doors import gone_distutils, gone_imghdr, gone_imp, old_manners, replacements, vanished, watch
from ebbflow.doors.program import Program

OWN, FOREIGN = "/program/train.py", "/elsewhere/library.py"


@pytest.fixture
def lender(monkeypatch):
    """A lender to the program in /program, undone afterwards."""
    finders, waiting = list(sys.meta_path), dict(watch._finder.waiting)
    for name in vanished._asked_for():
        module = sys.modules.get(name)
        if module is not None:
            before = vars(module).get("__getattr__")
            monkeypatch.setitem(vars(module), "__getattr__", before)
            if before is None:
                monkeypatch.delitem(vars(module), "__getattr__")
    monkeypatch.setattr(builtins, "__import__", builtins.__import__)
    program = Program(["/program"])
    monkeypatch.setattr(program, "owns", lambda file: file == OWN)
    found = vanished.Lender(program)
    yield found
    old_manners.take_back(np)
    sys.meta_path[:], watch._finder.waiting = finders, waiting  # others may wait for modules as well


def ask(expression, file, **scope):
    return eval(compile(expression, file, "eval"), {"__file__": file, "__name__": "m", **scope})


NAMES = [
    ("np.int", int),
    ("np.float", float),
    ("np.object", object),
    ("np.str", str),
    ("np.complex", complex),
    ("np.float_", np.float64),
    ("np.unicode_", np.str_),
    ("np.product([2, 3])", 6),
    ("np.alltrue([1, 0])", False),
    ("np.asscalar(np.array([3]))", 3),
    ("np.in1d([[1], [2]], [2]).tolist()", [False, True]),
    ("np.Inf", np.inf),
    ("np.lib.pad([1], 1, 'minimum').tolist()", [1, 1, 1]),
    ("np.sctypes['float'][1]", np.float32),
    ("np.cast['int32'](2.7).item()", 2),
    ("np.cast[np.float32]([1]).dtype", np.float32),
    ("np.nbytes[np.int16]", 2),
    ("np.find_common_type([np.float32], [np.float64])", np.float32),
    ("np.find_common_type([np.int8], [np.float64])", np.float64),
    ("np.asfarray([1], dtype=np.int32).dtype", np.float64),
    ("np.issubclass_(np.int32, np.integer)", True),
    ("np.obj2sctype('f4')", np.float32),
    ("np.issctype(np.int32), np.issctype(list)", (True, False)),
    ("np.sctype2char(np.int32)", "i"),
    ("np.safe_eval('[1]')", [1]),
    ("np.VisibleDeprecationWarning", np.exceptions.VisibleDeprecationWarning),
    ("np.math.sqrt(4.0)", 2.0),
    ("np.infty", np.inf),
    ("collections.Iterable", collections.abc.Iterable),
    ("collections.Mapping", collections.abc.Mapping),
    ("time.clock() >= 0", True),
    ("scipy.sqrt(4.0)", 2.0),
    ("scipy.random.RandomState", np.random.RandomState),
    ("len(platform.dist())", 3),
    ("os.errno.EEXIST", errno.EEXIST),
    ("inspect.getargspec(lambda a, b=1, *c, **d: 0)", (["a", "b"], "c", "d", (1,))),
]


@pytest.mark.parametrize("expression, value", NAMES, ids=[name for name, _ in NAMES])
def test_the_program_gets_them(lender, expression, value):
    lender.open(set())
    scope = {"np": np, "collections": collections, "time": time, "inspect": inspect}
    scope |= {"scipy": scipy, "platform": platform, "os": os}
    assert ask(expression, OWN, **scope) == value


@pytest.mark.parametrize("expression", ["np.int", "np.asscalar", "collections.Iterable", "time.clock", "np.no_such"])
def test_libraries_do_not(lender, expression):
    lender.open(set())
    with pytest.raises(AttributeError):
        ask(expression, FOREIGN, np=np, collections=collections, time=time)
    module, _, name = expression.partition(".")
    assert not ask(f"hasattr({module}, {name!r})", FOREIGN, np=np, collections=collections, time=time)
    assert lender.report() == ""


def test_names_that_never_were_stay_errors(lender):
    lender.open(set())
    with pytest.raises(AttributeError, match="no_such"):
        ask("np.no_such", OWN, np=np)
    with pytest.raises(AttributeError, match="module 'time' has no attribute 'no_such'"):
        ask("time.no_such", OWN, time=time)


def test_from_import_works_for_the_program_only(lender):
    lender.open(set())
    exec(compile("from collections import Iterable", OWN, "exec"), {"__file__": OWN, "__name__": "m"})
    with pytest.raises(ImportError):
        exec(compile("from collections import Iterable", FOREIGN, "exec"), {"__file__": FOREIGN, "__name__": "m"})


def test_names_that_exist_are_left_alone(lender):
    lender.open(set())
    assert ask("np.float32", OWN, np=np) is np.float32
    assert lender.report() == ""


@pytest.mark.parametrize(
    ("package", "name"), [(package, name) for package, names in vanished.BESIDE.items() for name in names]
)
def test_modules_beside_an_imported_package_are_there_and_not_told(lender, monkeypatch, package, name):
    module = importlib.import_module(package)
    monkeypatch.delattr(module, name, raising=False)
    lender.open(set())
    assert ask(f"package.{name}", OWN, package=module) is importlib.import_module(f"{package}.{name}")
    assert lender.report() == ""


def test_what_was_lent_is_told_once_in_order(lender):
    lender.open(set())
    for expression in ("np.int", "time.clock", "np.int"):
        ask(expression, OWN, np=np, time=time)
    assert lender.report().endswith(": np.int, time.clock")


GONE = [
    "imp",
    "distutils.version",
    "imghdr",
    "xml.etree.cElementTree",
    "numpy.lib.function_base",
    "scipy.sparse.linalg.eigen.arpack",
]


@pytest.mark.parametrize("module", GONE)
def test_modules_that_are_gone(lender, monkeypatch, module):
    python_import = builtins.__import__

    def as_if_gone(name, *args, **kwargs):
        if name == module:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return python_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", as_if_gone)
    monkeypatch.delitem(sys.modules, "distutils", raising=False)
    lender.open({module})
    scope = {"__file__": OWN, "__name__": "m"}
    exec(compile(f"from {module} import *\nimport {module} as found", OWN, "exec"), scope)
    assert isinstance(scope["found"], types.ModuleType)
    with pytest.raises(ModuleNotFoundError):
        exec(compile(f"import {module}", FOREIGN, "exec"), {"__file__": FOREIGN, "__name__": "m"})
    assert module.removeprefix("numpy") in lender.report()


def test_import_is_not_touched_where_nothing_is_gone(lender):
    before = builtins.__import__
    lender.open({"numpy", "os"})
    assert builtins.__import__ is before


@pytest.mark.parametrize(
    "low, high",
    [("1.4", "1.15.5"), ("1.9", "1.10"), ("1.2", "1.2.1"), ("1.2.0", "1.2.0rc1"), ("2.0", "10")],
)
def test_loose_versions(low, high):
    Loose = gone_distutils.LooseVersion
    assert Loose(low) < Loose(high) and Loose(high) > low and Loose(low) == low and Loose(low) != Loose(high)


def test_strict_versions():
    Strict = gone_distutils.StrictVersion
    assert Strict("1.0") < Strict("1.0.1") and Strict("1.0a1") < Strict("1.0")
    with pytest.raises(ValueError, match="invalid version number"):
        Strict("1")


def test_imp_loads_source(tmp_path):
    (tmp_path / "part.py").write_text("value = 41 + 1\n")
    assert gone_imp.load_source("part_by_imp", str(tmp_path / "part.py")).value == 42
    file, path, kind = gone_imp.find_module("part", [str(tmp_path)])
    assert gone_imp.load_module("part_again", file, path, kind).value == 42
    file.close()
    with pytest.raises(ImportError):
        gone_imp.find_module("no_such_part", [str(tmp_path)])
    sys.modules.pop("part_by_imp"), sys.modules.pop("part_again")


@pytest.mark.parametrize(
    "head, kind", [(b"\x89PNG\r\n\x1a\n", "png"), (b"GIF87a", "gif"), (b"\xff\xd8\xff\xe0", "jpeg"), (b"", None)]
)
def test_image_kinds(head, kind):
    assert gone_imghdr.what(None, head) == kind


def test_formatargspec():
    assert replacements.formatargspec(["a", "b"], "c", "d", (1,)) == "(a, b=1, *c, **d)"


def test_waves_are_written(tmp_path):
    replacements.Waves.write_wav(str(tmp_path / "a.wav"), np.array([0.0, 0.25], np.float32), 8000, norm=True)
    rate, samples = wavfile.read(tmp_path / "a.wav")
    assert rate == 8000 and samples.tolist() == [0.0, 1.0]
