"""Rooms without the native engine, for tests of what is written for NumPy and its neighbours."""

import pytest


@pytest.fixture
def without_native(monkeypatch):
    monkeypatch.setenv("EBBFLOW_ENGINES", "host,onednn,xla")
