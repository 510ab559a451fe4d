"""Write `ebbflow/core/op_homes.txt`: which module declares each op.

    python tools/op_homes.py            # write it
    python tools/op_homes.py --check    # say whether it is fresh

Imports every module of the package and notes, for each op, the last one that adds a kernel, shape rule or gradient to
it: after importing that one the op is complete.
"""

from __future__ import annotations

import collections
import importlib
import pkgutil
import sys
from typing import Any

import ebbflow
from ebbflow.core import op as ops
from ebbflow.core.registry import HOMES_FILE

ROOT = "ebbflow."
DECLARING = ("__init__", "kernel", "shape", "gradient")


def module_running() -> str:
    """Return the module whose top level is being run, however deep in calls."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>":
        assert frame.f_back is not None
        frame = frame.f_back
    return str(frame.f_globals["__name__"])


def watched(method: Any, homes: dict[str, str]) -> Any:
    """Return a method of `Op` that notes which module called it."""

    def note(self: Any, *args: Any, **facts: Any) -> Any:
        result = method(self, *args, **facts)
        if not facts.get("internal"):
            homes[self.name] = module_running()
        return result

    return note


def find_homes() -> dict[str, str]:
    """Import everything and return the module of each op."""
    homes: dict[str, str] = {}
    for name in DECLARING:
        setattr(ops.Op, name, watched(getattr(ops.Op, name), homes))
    for module in pkgutil.walk_packages(ebbflow.__path__, ROOT):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {name: home for name, home in homes.items() if name in ops.registry}


def text() -> str:
    """Return the file's text: a line a module, ops in order of name."""
    families = collections.defaultdict(list)
    for name, home in find_homes().items():
        families[home.removeprefix(ROOT)].append(name)
    return "".join(f"{home}: {' '.join(sorted(names))}\n" for home, names in sorted(families.items()))


def main() -> int:
    """Write the file, or compare it."""
    fresh = text()
    if "--check" in sys.argv[1:]:
        stale = HOMES_FILE.read_text() != fresh
        print(f"{HOMES_FILE.name} is {'stale: run tools/op_homes.py' if stale else 'fresh'}")
        return int(stale)
    HOMES_FILE.write_text(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
