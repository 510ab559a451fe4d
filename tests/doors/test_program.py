"""Which files are a program's own."""

import os
import sys
import sysconfig

import pytest

from ebbflow.doors.program import Program


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "given"))
    (tmp_path / "proj").mkdir()
    return Program([str(tmp_path / "proj")], sources=["<stdin>"])


@pytest.mark.parametrize(
    "file, own",
    [
        ("proj/train.py", True),
        ("proj/models/net.py", True),
        ("project/train.py", False),
        ("given/slim/nets.py", True),
        ("elsewhere/lib.py", False),
        ("proj/venv/lib/python3.11/site-packages/six.py", False),
        ("proj/dist-packages/x.py", False),
        ("proj/venv/lib/site-packages/sonnet/base.py", True),
        ("<stdin>", True),
        ("<string>", False),
        ("<frozen importlib._bootstrap>", False),
    ],
)
def test_owns(program, tmp_path, file, own):
    assert program.owns(file if file.startswith("<") else str(tmp_path / file)) is own


def test_python_and_ebbflow_are_never_own(tmp_path):
    everything = Program(["/"])
    assert not everything.owns(os.path.join(sysconfig.get_path("stdlib"), "json", "__init__.py"))
    assert not everything.owns(sys.modules["ebbflow"].__file__)
    assert everything.owns(str(tmp_path / "x.py"))


def test_what_the_program_puts_on_its_path_is_its_own(program, tmp_path, monkeypatch):
    late = str(tmp_path / "late")
    monkeypatch.syspath_prepend(late)
    assert program.owns(os.path.join(late, "mod.py"))
