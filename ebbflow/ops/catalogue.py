"""Every family of ops, imported: whoever needs the whole registry imports this. A new file in this room needs no
entry.
"""

from __future__ import annotations

import importlib
import pkgutil

from ebbflow import ops

FAMILIES = tuple(
    importlib.import_module(f"ebbflow.ops.{found.name}")
    for found in pkgutil.iter_modules(ops.__path__)
    if found.name not in ("catalogue", "raw_ops")
)
