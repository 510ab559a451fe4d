"""The registry: every op by name, declared already or not.

`op_homes.txt` says which module declares each op (written by `tools/op_homes.py`, kept fresh by a test), so that an op
is found by name without importing every family: `registry["Conv2D"]` imports the one module it needs. Knows modules by
name only, of whichever room; imported by `core.op`.
"""

from __future__ import annotations

import functools
import importlib
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebbflow.core.op import Op

HOMES_FILE = pathlib.Path(__file__).with_name("op_homes.txt")


@functools.cache
def homes() -> dict[str, str]:
    """Return the module (below `ebbflow`) of each op: the one after whose import the op is complete."""
    found = {}
    for line in HOMES_FILE.read_text().splitlines():
        module, _, names = line.partition(":")
        found.update(dict.fromkeys(names.split(), module))
    return found


class Registry(dict[str, "Op"]):
    """Declared ops by name. An op that is not declared yet is declared when it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[str, list[Callable[[Op], Any]]] = {}
        self.internal: dict[str, Op] = {}
        """The compiler's own ops: flows name them, graphs cannot."""

    def __missing__(self, name: str) -> Op:
        home = homes().get(name)
        if home is None:
            raise KeyError(name)
        importlib.import_module(f"ebbflow.{home}")
        return super().__getitem__(name) if name in self else self._stale(name, home)

    def _stale(self, name: str, home: str) -> Op:
        where = f"{HOMES_FILE.name} says that {home} declares {name}, which it does not"
        raise RuntimeError(f"{where}: run tools/op_homes.py")

    def complete(self, name: str) -> None:
        """Import the module that declares the last of an op's rules, where that is not the one that declares the op."""
        home = homes().get(name)
        if home is not None:
            importlib.import_module(f"ebbflow.{home}")

    def find(self, name: str) -> Op | None:
        """Return the op of a name, of whichever room, or None where there is none."""
        try:
            return self[name]
        except KeyError:
            return None

    def names(self) -> list[str]:
        """Return the names of all ops there are, sorted; none is declared for it."""
        return sorted({*self, *homes()})

    def declare_all(self) -> Registry:
        """Declare every op there is, with all its rules: for those that go through them all."""
        for name in self.names():
            self.complete(name)
        return self

    def declare(self, op: Op) -> None:
        """Enter an op, and let those serve it who have waited for it."""
        if op.name in self:
            raise ValueError(f"op {op.name!r} is declared twice")
        self[op.name] = op
        for serve in self._waiting.pop(op.name, ()):
            serve(op)

    def when_declared(self, name: str, serve: Callable[[Op], Any]) -> None:
        """Call `serve(op)` as soon as the op of that name is declared: at once where it is."""
        if name in self:
            serve(self[name])
        else:
            self._waiting.setdefault(name, []).append(serve)


registry = Registry()
