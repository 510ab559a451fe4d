"""With the native engine at once, or without it, for tests of what is written for NumPy and its neighbours."""

import pytest

from ebbflow.compiler import native_region
from ebbflow.runtime import programs


@pytest.fixture
def without_native(monkeypatch):
    monkeypatch.setenv("EBBFLOW_ENGINES", "host,onednn,xla")


@pytest.fixture
def made(monkeypatch):
    """The regions that come about, each with code from its first run on."""
    found = []

    class Noted(native_region.Native):
        def __init__(self, *args):
            super().__init__(*args)
            found.append(self)

    monkeypatch.setenv("EBBFLOW_CHECK", "1")
    monkeypatch.setattr(programs, "Native", Noted)
    return found
