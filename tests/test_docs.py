"""Everything the documents show is run: code blocks of README and docs, and the examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pathlib
import pkgutil
import re
import subprocess
import sys

import pytest

import ebbflow

ROOT = pathlib.Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)
PROMISE = re.compile(r"#\s(.*)$")

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
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


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    ebbflow.random.set_seed(None)  # a test before may have left one
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
