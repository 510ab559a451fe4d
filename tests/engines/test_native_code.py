"""Machine code apart from what it computes: the same text in every process, one code for regions that are alike."""

from __future__ import annotations

import gc
import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import ebbflow as tf
from ebbflow.engines.native import kernel as kernels
from ebbflow.engines.native.kernel import Kernel
from tests.engines.native_regions import array, region, same

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


# --- one process ------------------------------------------------------------------------------------------------------

X = array((3, 4))


def kernel_of(numbers, dims=(3, 4)):
    return Kernel(region(lambda x: tf.tanh(x) * tf.constant(numbers, tf.float32), array(dims)))


def result_of(kernel, x=X):
    out = np.zeros_like(x)
    assert kernel.call(x, out)
    return out


def test_regions_that_are_alike_share_their_code():
    one, other = kernel_of([1, 2, 3, 4]), kernel_of([1, 2, 3, 4])
    assert one.call is other.call
    same(result_of(one), result_of(other))


def test_other_constants_or_shapes_are_other_code():
    one, other, larger = kernel_of([1, 2, 3, 4]), kernel_of([1, 2, 3, 5]), kernel_of([1, 2, 3, 4], (5, 4))
    assert one.text == other.text and one.call is not other.call and one.call is not larger.call
    same(result_of(other)[:, 3] * 4, result_of(one)[:, 3] * 5, ulps=2)
    same(result_of(larger, array((5, 4))), np.tanh(array((5, 4))) * np.float32([1, 2, 3, 4]), ulps=4)


def test_code_goes_when_nobody_has_it():
    kernel = kernel_of([7, 8, 9, 10])
    before = len(kernels._calls)
    del kernel
    gc.collect()
    assert len(kernels._calls) < before
