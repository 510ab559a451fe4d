"""Machine code apart from what it computes: the same text in every process."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("llvmlite")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def printed_by(code, **environment):
    """Return the words that a process prints."""
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.split()


# Constants, a library's function, threads, and memory of its own.
TEXT = """
    import sys
    sys.path.append(".")  # behind what is installed
    import hashlib
    import numpy as np
    import ebbflow as tf
    from ebbflow.engines.native.kernel import Kernel
    from tests.engines.native_regions import region
    small, large = np.ones([3, 4], "f"), np.ones([700, 900], "f")
    def fn(x, w):
        return tf.nn.softmax(x @ w) % tf.constant([0.5, 0.1, 0.2, 0.3])
    for kernel in (Kernel(region(fn, small, np.ones([4, 4], "f"))), Kernel(region(lambda x: tf.nn.softmax(x), large))):
        assert "inttoptr" not in kernel.text
        print(hashlib.sha256(kernel.text.encode()).hexdigest())
"""


def test_the_text_is_the_same_in_every_process():
    assert printed_by(TEXT, PYTHONHASHSEED="1") == printed_by(TEXT, PYTHONHASHSEED="2")
