"""How much of the TensorFlow that public programs use is here: the share of a census's symbols that resolve.

    python tools/api_coverage.py CENSUS.csv [--missing 40] [--area tf.image] [--outside tf.keras tf.estimator]

A census has a line a symbol: `symbol,repos,uses[,era]` (era: v1, v2 or both). A symbol of `v1` is looked for at the
TF 1 door, one of `v2` at the TF 2 door, one of `both` at each; `tf.compat.v1.…` at the TF 2 door. Shares are of
symbols, and weighted by the repositories that use them and by uses. A name counts as there when its table has it and
its room can be imported; whether it works is what the tests ask.
"""

from __future__ import annotations

import argparse
import collections
import csv
import importlib
from collections.abc import Iterable
from typing import Any, NamedTuple

DOORS = {"v1": ("ebbflow.v1",), "v2": ("ebbflow",), "both": ("ebbflow.v1", "ebbflow")}
LATER = ("tf.keras", "tf.estimator", "tf.distribute", "tf.saved_model", "tf.lite", "tf.tpu")
"""Areas with judges of their own; `--outside` leaves them out."""


class Symbol(NamedTuple):
    """One line of a census."""

    name: str
    repos: int
    uses: int
    era: str

    @property
    def area(self) -> str:
        """The namespace it stands in: `tf.image`, `tf.contrib.layers`, or `tf` itself."""
        parts = self.name.split(".")
        depth = 3 if len(parts) > 3 and parts[1] in ("contrib", "compat", "python") else 2
        return ".".join(parts[:depth]) if len(parts) > depth else ".".join(parts[: depth - 1])


def read(path: str) -> list[Symbol]:
    """Return a census's symbols."""
    with open(path, encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return [Symbol(r["symbol"], int(r["repos"]), int(r["uses"]), r.get("era") or "v2") for r in rows]


def resolves(symbol: Symbol) -> bool:
    """Return whether every door that should have the symbol has it."""
    return all(_found(importlib.import_module(door), symbol.name.split(".")[1:]) for door in DOORS[symbol.era])


def _found(value: Any, words: Iterable[str]) -> bool:
    for word in words:
        try:
            value = getattr(value, word)
        except AttributeError:
            return False
    return True


def shares(symbols: list[Symbol], here: dict[Symbol, bool]) -> str:
    """Return the three shares as text: of symbols, of repositories' and of all uses."""
    texts = []
    for weigh in (lambda s: 1, lambda s: s.repos, lambda s: s.uses):
        total = sum(weigh(s) for s in symbols)
        texts.append(f"{sum(weigh(s) for s in symbols if here[s]) / total:7.1%}" if total else "      –")
    return " ".join(texts)


def report(symbols: list[Symbol], most: int) -> None:
    """Print the shares, by area and in all, and the missing names that most repositories use."""
    here = {symbol: resolves(symbol) for symbol in symbols}
    areas = collections.defaultdict(list)
    for symbol in symbols:
        areas[symbol.area].append(symbol)
    print(f"{'area':32} {'symbols':>8} {'resolve':>7} {'by repo':>7} {'by use':>7}")
    for area, inside in sorted(areas.items(), key=lambda item: -sum(s.repos for s in item[1])):
        print(f"{area:32} {len(inside):8} {shares(inside, here)}")
    print(f"{'all':32} {len(symbols):8} {shares(symbols, here)}")
    for symbol in sorted((s for s in symbols if not here[s]), key=lambda s: -s.repos)[:most]:
        print(f"missing: {symbol.name} ({symbol.repos} repositories, {symbol.uses} uses, {symbol.era})")


def main() -> None:
    """Read the arguments and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("census")
    parser.add_argument("--missing", type=int, default=40, metavar="N", help="show at most N missing names")
    parser.add_argument("--area", nargs="*", default=[""], help="only names that begin like this")
    parser.add_argument(
        "--outside", nargs="*", default=None, help="leave these areas out; none named: those with judges"
    )
    given = parser.parse_args()
    outside = tuple(given.outside or LATER) if given.outside is not None else ()
    symbols = [s for s in read(given.census) if s.name.startswith(tuple(given.area))]
    report([s for s in symbols if not s.name.startswith(outside)] if outside else symbols, given.missing)


if __name__ == "__main__":
    main()
