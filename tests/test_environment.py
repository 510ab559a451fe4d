"""The packages that the project declares for its tests are installed: without them tests fail, instead of skipping."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import pathlib

import pytest
from packaging.requirements import Requirement

from ebbflow.engines import enabled
from ebbflow.engines.native import threads
from ebbflow.engines.onednn import library
from tests.machine import HAS_ONEDNN

ROOT = pathlib.Path(__file__).parent.parent

MACHINES = {
    # of the standard library, where there are terminals; a package with wheels for most platforms, declared for those
    "importorskip": {"pty", "readline", "simplejpeg", "ray"},
    "skip": {
        "not with the instructions of this machine",
        "this processor has no AVX2 with fused multiply-add",
        "this jaxlib gives its threads no names",
        "newer setuptools have no pkg_resources",
        "no fork here",
        "nothing is forked there",
        "no processes are forked here",
        "counts threads in /proc",
        "sends signals to itself",
        "oneDNN has no wheel for this platform",
        "there is one core, or no libgomp",
        "no extra brings tf_keras, which asks for TensorFlow",
        "tensorflow_hub is an extra of its own",
    },
}
"""What a test may skip for: facts of machines and platforms, and of a package that no extra can bring."""

NOT_IN_ALL = {"ray"}
"""Extras that `all` leaves out: 240 MB, for those who have such a cluster. Their tests skip where they are missing."""

NOTHING_TO_TEST = {
    "there is no {} for {}",
    "the generator makes its values in the graph",
    "back_prop=False means nothing to a Python loop, in TensorFlow too",
    "TensorFlow 2.21 does not refuse it",
}
"""Rows of a table that one of several tests of the whole table has nothing to say about."""


def requirements() -> list[Requirement]:
    """What `pip install ebbflow[all,test]` installs here; `all` itself names the other extras."""
    declared = [Requirement(line) for line in importlib.metadata.requires("ebbflow") or ()]
    extras = set(importlib.metadata.metadata("ebbflow").get_all("Provides-Extra") or ()) - NOT_IN_ALL
    wanted = [r for r in declared if r.marker is None or any(r.marker.evaluate({"extra": e}) for e in ("", *extras))]
    return [needed for needed in wanted if needed.name != "ebbflow"]


@pytest.mark.parametrize("needed", requirements(), ids=str)
def test_what_is_declared_is_installed(needed):
    assert needed.specifier.contains(importlib.metadata.version(needed.name), prereleases=True)


def test_all_extras_are_looked_at():
    assert {"jax", "llvmlite", "pytest", "numpy"} <= {needed.name for needed in requirements()}


def test_onednn_serves_where_it_has_a_wheel():
    assert not HAS_ONEDNN or library.serves() or not enabled.allowed("onednn")


def test_threads_are_there_where_there_are_cores():
    assert not HAS_ONEDNN or len(os.sched_getaffinity(0)) == 1 or threads.count() > 1


def test_tests_skip_only_for_what_they_may():
    wrong = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                reason = _reason(node)
                if reason is not None and reason not in MACHINES["skip"] | MACHINES["importorskip"] | NOTHING_TO_TEST:
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: {reason}")
    assert not wrong, "\n".join(wrong)


def _reason(call: ast.Call) -> str | None:
    """What a call skips for: the reason of a skip, the module of an importorskip; None for any other call."""
    name = ast.unparse(call.func)
    if name not in ("pytest.skip", "pytest.importorskip", "pytest.mark.skipif", "pytest.mark.skip"):
        return None
    spoken = [keyword.value for keyword in call.keywords if keyword.arg == "reason"] or call.args
    text = spoken[-1] if spoken else ast.Constant("")
    if isinstance(text, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in text.values)
    return str(getattr(text, "value", ast.unparse(text)))


def test_skips_are_read_right():
    call = ast.parse('pytest.skip(f"there is no {name}")', mode="eval").body
    assert _reason(call) == "there is no {}"
