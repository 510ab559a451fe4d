"""What happens to modules while they are imported: afterwards, later, or with less than there is."""

import contextlib
import importlib
import sys

import pytest

from ebbflow.doors import watch


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that notes its loading, and whether it found another one."""
    (tmp_path / "watched_other.py").write_text("")
    (tmp_path / "watched.py").write_text(
        "import sys\nsys.watched_loads.append(1)\ntry:\n    import watched_other\n    found = True\n"
        "except ImportError:\n    found = False\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "watched_loads", [], raising=False)
    yield "watched"
    watch._finder.waiting.pop("watched", None)
    for name in ("watched", "watched_other"):
        sys.modules.pop(name, None)


def test_after_import(module):
    seen = []
    watch.after_import(module, seen.append)
    watch.after_import(module, seen.append)
    assert not seen
    made = importlib.import_module(module)
    assert seen == [made, made] and made.found
    assert made.__loader__ is made.__spec__.loader and type(made.__loader__).__name__ == "SourceFileLoader"
    watch.after_import(module, seen.append)
    assert len(seen) == 3


def test_load_when_used(module):
    watch.load_when_used(module)
    made = importlib.import_module(module)
    assert not sys.watched_loads
    assert made.found and sys.watched_loads == [1] and importlib.import_module(module) is made


@pytest.mark.parametrize("before", [False, True])
def test_load_without(module, before):
    if before:
        importlib.import_module("watched_other")
    watch.load_without(module, "watched_other")
    assert importlib.import_module(module).found is before
    assert ("watched_other" in sys.modules) is before
    assert importlib.import_module("watched_other").__name__ == "watched_other"


def test_load_within(module):
    seen = []

    @contextlib.contextmanager
    def around():
        seen.append("begins")
        yield
        seen.append(len(sys.watched_loads))

    watch.load_within(module, around)
    assert not seen
    importlib.import_module(module)
    assert seen == ["begins", 1]
