"""`tf.sysconfig`: what a build system asks. Ebbflow is Python: it has neither headers nor a library to link with.

Knows only where it is installed.
"""

from __future__ import annotations

import os
from typing import Any

from ebbflow.platform.resources import PACKAGE

CXX11_ABI_FLAG = 1
CXX_VERSION = 201703
MONOLITHIC_BUILD = 0


def get_include() -> str:
    """Return where headers would be. Ops of one's own are declared in Python instead."""
    return os.path.join(PACKAGE, "include")


def get_lib() -> str:
    """Return the directory Ebbflow is installed in."""
    return PACKAGE


def get_compile_flags() -> list[str]:
    """Return what a C++ compiler would need to know."""
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}", "--std=c++17"]


def get_link_flags() -> list[str]:
    """Return what a linker would need to know: nothing, for there is nothing to link with."""
    return []


def get_build_info() -> dict[str, Any]:
    """Return how Ebbflow was built: for no accelerator in particular, because it was not compiled."""
    return {
        "is_cuda_build": False,
        "is_rocm_build": False,
        "is_tensorrt_build": False,
        "cpu_compiler": "none",
        "is_python": True,
    }
