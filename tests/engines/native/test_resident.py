"""Pages of LLVM's code: which they are, and that code is made and runs when they have been let go of."""

from __future__ import annotations

import sys

import numpy as np

import ebbflow as tf
from ebbflow.compiler import native_region
from ebbflow.engines.native import library, resident

MAPS = """\
1000-3000 r--p 00000000 fe:00 77 /site packages/libllvmlite.so
3000-9000 r-xp 00002000 fe:00 77 /site packages/libllvmlite.so
9000-a000 r--p 00008000 fe:00 77 /site packages/libllvmlite.so
a000-b000 rw-p 00009000 fe:00 77 /site packages/libllvmlite.so
b000-c000 rwxp 00000000 fe:00 77 /site packages/libllvmlite.so
c000-d000 r-xp 00000000 00:00 0
d000-e000 r-xp 00000000 fe:00 78 /libllvmlite/libc.so.6
"""


def test_only_code_that_nobody_writes_is_let_go_of():
    assert resident.code_of("libllvmlite", MAPS) == [(0x3000, 0x6000)]
    assert resident.code_of("libother", MAPS) == []


def test_code_is_made_and_runs_behind_it(monkeypatch):
    monkeypatch.setenv("EBBFLOW_CHECK", "1")  # code is there from the first run on

    @tf.function
    def step(x, y):
        return tf.tanh(x * y) + tf.exp(x) / 2.0

    @tf.function
    def another(x, y):
        return tf.sin(x - y) * tf.cos(y)

    x, y = np.linspace(0.1, 1.0, 10, dtype=np.float32), np.float32(0.5)
    for _ in range(3):
        first = step(x, y)
    resident.let_go_of_code()
    for _ in range(3):
        second = another(x, y)
    native_region.settle()
    resident.let_go_of_code()
    np.testing.assert_allclose(first, np.tanh(x * y) + np.exp(x) / 2, rtol=1e-5)
    np.testing.assert_allclose(second, np.sin(x - y) * np.cos(y), rtol=1e-5)
    np.testing.assert_array_equal(step(x, y), first)


def test_the_library_is_found():
    library.features()
    assert bool([size for _, size in resident._code_of("libllvmlite") if size > 1 << 20]) == (sys.platform == "linux")
