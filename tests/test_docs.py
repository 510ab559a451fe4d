"""Everything the documents show is run: code blocks of README and docs, and the examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import pathlib
import pkgutil
import re
import subprocess
import sys

import pytest

import ebbflow
from ebbflow.api import views
from ebbflow.api.namespace import resolve

ROOT = pathlib.Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)
PROMISE = re.compile(r"#\s(.*)$")

README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{path.name}-{i}")
    for path in DOCUMENTS
    for i, block in enumerate(BLOCK.findall(path.read_text()))
    if "import" in block
]
SKIPPED = {"ebbflow.__main__", "ebbflow.v1"}  # importing these starts a program, or changes the era


@pytest.mark.parametrize("block", BLOCKS)
def test_block_runs_and_prints_what_it_promises(block, tmp_path):
    script = tmp_path / "shown.py"
    script.write_text(block)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for line in block.splitlines():
        promise = PROMISE.search(line) if "print(" in line else None
        if promise:
            for part in promise[1].split("…"):
                assert part.strip() in done.stdout


def modules() -> list[str]:
    return [m.name for m in pkgutil.walk_packages(ebbflow.__path__, "ebbflow.") if m.name not in SKIPPED]


OF_KERAS_2 = tuple(
    f"ebbflow.doors.{name}"
    for name in ("learn.", "boosted_trees.", "contrib_estimator.", "decoder_layers", "predictors")
)


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name):
    if name.startswith(OF_KERAS_2) and importlib.util.find_spec("tf_keras") is None:
        pytest.skip("no extra brings tf_keras, which asks for TensorFlow")
    module = importlib.import_module(name)
    ebbflow.random.set_seed(None)  # a test before may have left one
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_the_size_that_the_readme_tells_is_true():
    told = re.search(r"\(`core`, `eager`, `graph`, `compiler`, `runtime`\) are ([\d,]+) lines", README.read_text())
    home = pathlib.Path(ebbflow.__file__).parent
    files = [file for room in ("core", "eager", "graph", "compiler", "runtime") for file in (home / room).rglob("*.py")]
    lines = sum(len(file.read_text().splitlines()) for file in files)
    assert abs(int(told[1].replace(",", "")) - lines) < 2000, f"they are {lines} lines now"


def test_links_between_documents_lead_somewhere():
    for path in [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / link).exists(), f"{path.name}: {link}"


def test_every_guide_is_linked_from_the_readme():
    guides = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert [guide for guide in guides if f"({guide})" not in README.read_text()] == []


DIFFS = re.findall(r"^```diff\n(.*?)^```", (ROOT / "docs" / "guides" / "contributing.md").read_text(), re.S | re.M)


def test_the_worked_diffs_apply_to_the_tree_as_it_is():
    """The files that the diffs change are there, and so are the lines they show around a change or take away."""
    assert len(DIFFS) == 3
    for line in "".join(DIFFS).splitlines():
        if line.startswith("--- a/"):
            lines = (ROOT / line.removeprefix("--- a/")).read_text().splitlines()
        elif line.startswith((" ", "-")) and not line.startswith("---"):
            assert line[1:] in lines, line


def made_by_factories() -> dict[str, object]:
    """Return the public functions with examples that doctest does not find: their code belongs to another module."""
    targets = {target for key in views.DOORS for target in views.names_of(key).values()}
    values = {target: resolve(target) for target in sorted(targets) if not target.startswith(views.OTHER_PACKAGES)}
    ours = {
        target: value for target, value in values.items() if str(getattr(value, "__module__", "")).startswith("ebb")
    }
    functions = {target: value for target, value in ours.items() if inspect.isfunction(value)}
    return {
        target: function
        for target, function in functions.items()
        if ">>>" in (function.__doc__ or "") and function.__globals__["__name__"] != function.__module__
    }


def test_examples_of_functions_that_factories_make():
    functions = made_by_factories()
    assert len(functions) >= 30
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    for target, function in functions.items():
        names = vars(importlib.import_module(function.__module__))
        for example in finder.find(function, target, module=False, globs=dict(names)):
            assert runner.run(example).failed == 0, target
