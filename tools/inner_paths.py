"""Write `ebbflow/api/tables/inner_paths.txt` from what `tools/record/inner_paths.py` recorded in both TensorFlows.

    python tools/inner_paths.py one.json two.json

A line a module: its path, then its names in the words of `ebbflow/api/tables/paths.py` (`here=public.name`, `@2` for
TF 2's meaning, `@1` for TF 1's, no mark for the door's own). A word of TF 1.15 alone has `1:` in front, one of TF 2
alone `2:`; where the two disagree both stand.
Of several public names of one object the first is taken that Ebbflow has.
"""

from __future__ import annotations

import json
import pathlib
import sys

from ebbflow.api import views

TABLE = pathlib.Path(__file__).resolve().parents[1] / "ebbflow" / "api" / "tables" / "inner_paths.txt"
HEAD = """\
# TensorFlow's inner modules and the public objects that stand in them. tools/inner_paths.py writes this file.
"""


Modules = dict[str, dict[str, list[str]]]


def target(public: str) -> tuple[str | None, str | None]:
    """Return what a public name of either TensorFlow is in Ebbflow, at the first and at the second door."""
    name, _, era = public.partition("@")
    first, second = views.names_of("v1").get(name), views.names_of("v2").get(name)
    return (second, second) if era == "2" else (first, first) if era == "1" else (first, second)


def word(name: str, candidates: list[str]) -> str:
    """Return one name of a module as the table has it: by the first public name that is here.

    A name that means the same object in both TensorFlows has no mark, one of TF 1 alone `@1`, one of TF 2 alone `@2`.
    """
    if candidates == ["gen"]:
        return "gen"
    known = set(candidates)
    marked = [c if f"{c}@2" in known else f"{c}@1" for c in candidates if "@" not in c]
    marked += [c for c in candidates if "@" in c and c.partition("@")[0] not in known]
    ordered = sorted(marked, key=lambda public: ("@" in public, public.partition("@")[0] != name))
    public = next((c for c in ordered if all(target(c))), ordered[0])
    return name if public == name else f"{name}={public}"


def meaning(text: str) -> tuple[str, object]:
    """Return a word's name and what it stands for, by which words of two TensorFlows are compared."""
    here, _, there = text.partition("=")
    found = target(there or here)
    return here, found if all(found) else there or here


def line(module: str, first: Modules, second: Modules) -> str:
    """Return the line of one module."""
    one, two = ({meaning(w): w for w in (word(*row) for row in era.get(module, {}).items())} for era in (first, second))
    if module not in first or module not in second:
        words = sorted([*one.values(), *two.values()])
    else:
        both = {key: min(one[key], two[key], key=len) for key in one.keys() & two.keys()}
        words = sorted([*both.values(), *(f"1:{one[key]}" for key in one.keys() - both.keys())])
        words += sorted(f"2:{two[key]}" for key in two.keys() - both.keys())
    return " ".join([module, *words])


def main(first: str, second: str) -> None:
    recorded = []
    for path in (first, second):
        with open(path, encoding="utf-8") as file:
            recorded.append(json.load(file))
    lines = [line(module, *recorded) for module in sorted({*recorded[0], *recorded[1]})]
    TABLE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
