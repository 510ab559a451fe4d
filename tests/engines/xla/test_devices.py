"""Devices that jax brings, and executables placed on them; several of them are made of one host."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from ebbflow.engines.xla import devices, executable

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent


def test_the_host_is_a_device():
    (host, *_) = devices.host_devices()
    assert devices.device_type(host) == devices.HOST
    assert devices.numbered(devices.HOST, 0) is host


@pytest.mark.parametrize(
    ("flags", "count"), [("", 0), ("--xla_force_host_platform_device_count=3", 3), ("--other=1", 0)]
)
def test_how_many_devices_xla_was_told_to_make(monkeypatch, flags, count):
    monkeypatch.setenv("XLA_FLAGS", flags)
    assert devices.forced_hosts() == count
    monkeypatch.setenv("EBBFLOW_ENGINES", "host")
    assert devices.forced_hosts() == 0


def test_an_executable_runs_where_it_is_put():
    host = devices.host_devices()[0]
    x = np.arange(3, dtype=np.float32)
    run = executable.compile_function(lambda x: [x + 1], [x], device=host)
    (stays,) = run.on_device(x)
    assert stays.devices() == {host}
    assert run.device is host
    assert run(x)[0].tolist() == [1, 2, 3]


MANY = """
    import sys
    import numpy as np
    import ebbflow as tf
    names = [d.name for d in tf.config.list_logical_devices()]
    assert names == ["/device:CPU:0", *[f"/device:XLA_CPU:{i}" for i in range(4)]], names
    assert "jax" not in sys.modules
    from ebbflow.engines.xla import devices, executable
    found = devices.host_devices()
    assert len(found) == 4
    x = np.arange(3.0)
    for i, device in enumerate(found):
        assert devices.numbered("XLA_CPU", i) is device
        run = executable.compile_function(lambda x: [x * (i + 1)], [x], device=device)
        (stays,) = run.on_device(x)
        assert stays.devices() == {device} and stays.dtype == np.float64
        assert run.on_device(stays)[0].devices() == {device}
        assert run(x)[0].tolist() == (x * (i + 1)).tolist()
    print("done")
"""


def test_several_devices_of_one_host():
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MANY)], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "done\n", done.stderr
