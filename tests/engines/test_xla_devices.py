"""Devices under TensorFlow's names, and executables placed on them; several of them are made of one host."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

pytest.importorskip("jax")

from ebbflow.core import errors
from ebbflow.engines.xla import devices, executable

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def test_the_host_is_a_device():
    (host, *_) = devices.all_devices()
    assert devices.name_of(host) == "/device:CPU:0"
    for name in ("/device:CPU:0", "/cpu:0", "CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0"):
        assert devices.find(name) is host


def test_devices_that_are_not_there():
    assert devices.find("/gpu:7", soft=True) is devices.host_devices()[0]
    with pytest.raises(errors.InvalidArgumentError, match="Could not satisfy device specification '/gpu:7'"):
        devices.find("/gpu:7", soft=False)
    with pytest.raises(errors.InvalidArgumentError, match="not the name of a device"):
        devices.find("the big one")


def test_an_executable_runs_where_it_is_put():
    host = devices.host_devices()[0]
    x = np.arange(3, dtype=np.float32)
    run = executable.compile_function(lambda x: [x + 1], [x], device=host)
    (stays,) = run.on_device(x)
    assert stays.devices() == {host}
    assert run.device is host
    assert run(x)[0].tolist() == [1, 2, 3]


MANY = """
    import numpy as np
    from ebbflow.engines.xla import devices, executable
    found = devices.host_devices()
    assert [devices.name_of(d) for d in found] == [f"/device:CPU:{i}" for i in range(4)]
    x = np.arange(3.0)
    for i, device in enumerate(found):
        assert devices.find(f"/cpu:{i}") is device
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
