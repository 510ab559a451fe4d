"""Compiled code on disk, so that the next process need not compile again: jax's cache, in a folder of ours.

The folder (see `kept`) stays below `MOST_BYTES` by dropping what was used longest ago. A program that has set up jax's
cache itself keeps its own.
"""

from __future__ import annotations

import functools
import pathlib
from typing import Any

from ebbflow.engines import code_cache
from ebbflow.engines.xla import library

MOST_BYTES = 1 << 29
SLOW = 0.2
"""Seconds of compiling from which on code is kept."""


@functools.cache
def use() -> pathlib.Path | None:
    """Have jax keep compiled code in our folder, unless the program has chosen one; return the folder in use."""
    config: Any = library.jax().config
    if config.jax_compilation_cache_dir is not None:
        return pathlib.Path(config.jax_compilation_cache_dir)
    found = code_cache.folder("xla")
    if found is None:
        return None
    code_cache.shrink(found, MOST_BYTES)
    config.update("jax_compilation_cache_dir", str(found))
    config.update("jax_persistent_cache_min_compile_time_secs", SLOW)
    return found
