"""Which of a model's exports are kept: rules over folders whose names are numbers (`contrib.session_bundle.gc`).

A rule takes paths and returns those that it names, in the order of their numbers; rules are joined and turned round.
"""

from __future__ import annotations

import heapq
import math
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ebbflow.platform import files


class Path(NamedTuple):
    """A folder, and the number of its export."""

    path: Any
    export_version: Any


Rule = Callable[[Sequence[Path]], list[Path]]


def _number(path: Path) -> Any:
    return path.export_version


def largest_export_versions(n: int) -> Rule:
    """Return the rule that names the `n` newest."""
    return lambda paths: sorted(heapq.nlargest(n, paths, key=_number), key=_number)


def one_of_every_n_export_versions(n: int) -> Rule:
    """Return the rule that names the newest of each `n` numbers: of (0, n], with 0 in it, of (n, 2n], …."""

    def keep(paths: Sequence[Path]) -> list[Path]:
        newest: dict[int, Path] = {}
        for path in paths:
            span = max(0, math.ceil(path.export_version / n) - 1)
            newest[span] = max(newest.get(span, path), path, key=_number)
        return sorted(newest.values(), key=_number)

    return keep


def mod_export_version(n: int) -> Rule:
    """Return the rule that names those whose number is divisible by `n`."""
    return lambda paths: sorted((path for path in paths if path.export_version % n == 0), key=_number)


def union(lf: Rule, rf: Rule) -> Rule:
    """Return the rule that names what either of two does."""
    return lambda paths: sorted({*lf(paths), *rf(paths)}, key=_number)


def negation(f: Rule) -> Rule:
    """Return the rule that names what another one does not."""
    return lambda paths: sorted(set(paths) - set(f(paths)), key=_number)


def get_paths(base_dir: Any, parser: Callable[[Path], Path | None]) -> list[Path]:
    """Return the exports in a folder: those for which `parser` finds a number."""
    base = os.fsdecode(base_dir)
    found = [parser(Path(files.join(base, os.fsdecode(name).rstrip("/")), None)) for name in files.listdir(base)]
    return sorted((path for path in found if path), key=_number)


def numbered(base_dir: Any) -> list[Path]:
    """Return the exports in a folder that are called by their numbers."""

    def number(path: Path) -> Path | None:
        name = path.path.rpartition("/")[2]
        return path._replace(export_version=int(name)) if name.isdigit() else None

    return get_paths(base_dir, number)
