"""Bad input for every op: a right value or a typed error, never a crash, a hang or an unbounded allocation."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from tests.ops.fuzz import fault

ROOT = pathlib.Path(__file__).parent.parent.parent


@pytest.mark.parametrize("seed", range(4))
def test_odd_arguments_are_answered_or_refused(seed):
    code = f"import sys; sys.path.append({str(ROOT)!r}); sys.argv[1:] = ['{seed}']\n"
    code += "from tests.ops import fuzz; fuzz.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (
        f"the process died ({done.returncode}) at {done.stderr.splitlines()[-1:]}\n{done.stderr[-2000:]}"
    )
    lines = done.stdout.splitlines()
    assert lines[-1].endswith("calls made") and int(lines[-1].split()[0]) > 5000, lines[-1]
    assert len(lines) == 1, done.stdout


def test_faults_are_noticed():
    class Wrong:
        def __call__(self, **given):
            raise IndexError("out of bounds")

    assert fault(Wrong(), {}, graph=False) == "IndexError: out of bounds"
