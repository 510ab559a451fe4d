"""`ebbflow doctor`: what is installed, which engines serve, where ops run, and what is missing and how to get it.

Asks the package metadata, the table of devices and `platform.config`; imports no heavy library to do so.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import sys
from typing import NamedTuple

import numpy as np

from ebbflow.api import versions
from ebbflow.engines import devices
from ebbflow.platform import config


class Need(NamedTuple):
    """A package: what it is for, and whether Ebbflow cannot do without it."""

    package: str
    gives: str
    core: bool = False


NEEDS = (
    Need("numpy", "arrays, and the host engine", core=True),
    Need("ml_dtypes", "bfloat16, float8, int4", core=True),
    Need("protobuf", "GraphDef, Summary and the other messages", core=True),
    Need("google-crc32c", "checksums of records and checkpoints", core=True),
    Need("scipy", "special functions and decompositions", core=True),
    Need("onednn-cpu-gomp", "the oneDNN engine: fast convolution and large matmuls"),
    Need("grpcio", "programs of several processes: tf.train.Server, sessions of a cluster"),
    Need("llvmlite", "the native engine: machine code for functions and graphs that run often"),
    Need("jax", "the XLA engine: compiled clusters, GPUs and TPUs"),
    Need("keras", "tf.keras"),
    Need("tensorboard", "looking at event files"),
    Need("pillow", "image files, and scipy.misc for old programs"),
    Need("fsspec", "files on other machines"),
    Need("absl-py", "absl flags and logging, for programs that import absl"),
)

ENGINES = (("host", "numpy"), ("onednn", "onednn-cpu-gomp"), ("native", "llvmlite"), ("xla", "jax"))
"""The engines, and the package each stands on."""


def installed(package: str) -> str | None:
    """Return the version of a package, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def engine_state(engine: str, package: str) -> str:
    """Return whether an engine serves, in words."""
    version = installed(package)
    if engine == "host":
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"serves     NumPy {version}, BLAS {blas.get('name', 'unknown')} {blas.get('version', '')}".rstrip()
    if not _has(f"ebbflow.engines.{engine}"):
        return f"not used   not part of this version of Ebbflow ({package} {version or 'is not installed'})"
    return f"serves     {package} {version}" if version else f"missing    pip install {package}"


def _has(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package it would be in is not there either
        return False


def where_gpus_go() -> str:
    """Return where an op goes that asks for /gpu:0."""
    gpus = devices.list_logical_devices("GPU")
    if gpus:
        return f"/gpu:0 is {gpus[0].name}"
    if config.get_soft_device_placement():
        return "/gpu:0 is not here: ops that ask for it run on /device:CPU:0 (soft placement)"
    return "/gpu:0 is not here, and soft placement is off: ops that ask for it are refused"


def examine() -> int:
    """Print the examination; return 0 if Ebbflow has all it cannot do without."""
    print(f"Ebbflow {versions.EBBFLOW} on Python {platform.python_version()} ({sys.executable})")
    print(f"{platform.system()} {platform.machine()}, {_cpus()}")
    print("\nengines")
    for engine, package in ENGINES:
        print(f"  {engine:<10} {engine_state(engine, package)}")
    print("\ndevices")
    for device in devices.list_logical_devices():
        print(f"  {device.name}")
    print(f"  {where_gpus_go()}")
    found = {need: installed(need.package) for need in NEEDS}
    print("\npackages")
    for need, version in found.items():
        if version:
            print(f"  {need.package:<16} {version:<12} {need.gives}")
    missing = [need for need, version in found.items() if not version]
    if missing:
        print("\nmissing")
    for need in missing:
        kind = "NEEDED    " if need.core else "optional  "
        print(f"  {need.package:<16} {kind} {need.gives}: pip install {need.package}")
    return int(any(need.core for need in missing))


def _cpus() -> str:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    total = os.cpu_count() or usable
    return f"{usable} CPUs" if usable == total else f"{usable} of {total} CPUs"
