"""Where compiled code is kept: in whose folder, and how much of it."""

from __future__ import annotations

import os

from ebbflow.engines import code_cache


def test_nothing_is_kept_where_that_is_not_wanted(monkeypatch):
    monkeypatch.setenv("EBBFLOW_CACHE", "")
    assert code_cache.folder("xla") is None


def test_the_folder_belongs_to_its_owner(monkeypatch, tmp_path):
    monkeypatch.setenv("EBBFLOW_CACHE", str(tmp_path / "new"))
    assert code_cache.folder("xla") == tmp_path / "new" / "xla"
    assert code_cache.folder("xla").stat().st_mode & 0o077 == 0
    code_cache.folder("xla").chmod(0o777)
    assert code_cache.folder("xla") is None  # anybody could put code there


def test_a_folder_that_cannot_be_made_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EBBFLOW_CACHE", str(tmp_path / "file"))
    assert code_cache.folder("xla") is None


def test_the_cache_is_bounded(tmp_path):
    for i in range(5):
        (tmp_path / f"{i}").write_bytes(bytes(100))
        os.utime(tmp_path / f"{i}", (i, i))
    code_cache.shrink(tmp_path, 250)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["3", "4"]
