"""What each door shows: the tables of all families, put together into one view for TF 2, TF 1 and `compat.v1`.

Knows the text form of the tables and which era sees which; knows nothing of modules or imports. A view is built the
first time a door is asked for a name; the tables are loaded then, not by `import ebbflow`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple


class View(NamedTuple):
    """The names one door shows.

    `names` maps `nn.bias_add` to `ops.nn.bias_softmax:bias_add`, `spaces` maps `nn` to what stands in it.
    """

    key: str
    door: str
    names: Mapping[str, str]
    spaces: Mapping[str, Mapping[str, str | None]]  # None: a namespace of its own


OTHER_PACKAGES = ("doors.keras_package:", "doors.slim_package:")
"""How targets begin that another package provides: importing it makes Ebbflow answer to `tensorflow`."""

DOORS = {
    "v2": "the TF 2 door (`import ebbflow as tf`, `ebbflow run --tf 2`)",
    "v1": "the TF 1 door (`import ebbflow.v1 as tf`, `ebbflow run --tf 1`)",
    "compat.v1": "tf.compat.v1",
}
"""Each view, as messages call it."""

SWITCHES = {
    "compat.v1": {"v2": "compat.v1", "v1": "v1", "compat.v1": "compat.v1"},
    "compat.v2": dict.fromkeys(DOORS, "v2"),
}
"""Namespaces that show another view, and which, at each door: at TF 1's, `tf.compat.v1` is TF 1."""


def parse(text: str) -> Iterator[tuple[str, str]]:
    """Yield (public name, target) for each row of a table; `tables` describes the form.

    >>> list(parse("[ops.clip]\\nadd_v1 as add math.add\\nabs"))
    [('add', 'ops.clip:add_v1'), ('math.add', 'ops.clip:add_v1'), ('abs', 'ops.clip:abs')]
    """
    room = ""
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0].startswith("["):
            room = words[0].strip("[]")
        elif words[0].endswith(".:"):
            prefix = words[0][:-1]
            yield from ((prefix + word, f"{room}:{word}") for word in words[1:])
        else:
            named = len(words) > 2 and words[1] == "as"
            target = f"{room}:{words[0] if named else words[0].rpartition('.')[2]}"
            yield from ((word, target) for word in (words[2:] if named else words))


def follow(paths: Mapping[str, str], first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, str]:
    """Return the targets of a table of paths, whose entries are public names: TF 1's, or TF 2's where marked @2.

    >>> follow({"ops": "abs ceil=math.ceil where_v2=where@2"}, {"abs": "a", "math.ceil": "c"}, {"where": "w"})
    {'ops.abs': 'a', 'ops.ceil': 'c', 'ops.where_v2': 'w'}
    """
    found = {}
    for path, words in paths.items():
        for word in words.split():
            here, _, there = word.partition("=")
            name, _, era = (there or here).partition("@")
            target = None if era else first.get(name)
            target = target or second.get(name)
            if target is not None:  # a test sees to it that none is missing
                found[f"{path}.{here}"] = target
    return found


def mirrored(spaces: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return a second path to every name of some namespaces.

    >>> mirrored({"app.flags": "flags"}, {"flags.FLAGS": "f", "app.run": "r"})
    {'app.flags.FLAGS': 'f'}
    """
    found: dict[str, str] = {}
    for copy, original in spaces.items():
        start = original + "."
        found.update((f"{copy}.{name[len(start) :]}", names[name]) for name in names if name.startswith(start))
    return found


def united(spaces: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return the names of some paths that show what paths beside them do, the first that has it.

    >>> united({"ops.all": "array math"}, {"ops.array.abs": "a", "ops.math.abs": "m", "ops.math.add": "+"})
    {'ops.all.abs': 'a', 'ops.all.add': '+'}
    """
    found: dict[str, str] = {}
    for union, parts in spaces.items():
        beside = union.rpartition(".")[0]
        for part in reversed(parts.split()):
            start = f"{beside}.{part}."
            shown = {name[len(start) :]: names[name] for name in names if name.startswith(start)}
            found.update((f"{union}.{name}", target) for name, target in shown.items() if "." not in name)
    return dict(sorted(found.items()))


@functools.cache
def tables_of(era: str) -> dict[str, str]:
    """Return the rows of one era ("BOTH", "V1" or "V2") of all families, or those of "INSIDE" or "CONTRIB"."""
    from ebbflow.api.tables import FAMILIES  # 4 ms, for whoever asks for a name

    found: dict[str, str] = {}
    for family in FAMILIES:
        found.update(parse(getattr(family, era, "")))
    return found


@functools.cache
def names_of(key: str) -> dict[str, str]:
    """Return all names of a view, without the ways through `compat`."""
    from ebbflow.api.tables import contrib, first_door, inside, message_paths, paths  # as above

    first, second = tables_of("BOTH") | tables_of("V1"), tables_of("V2")
    first |= mirrored(paths.MIRRORS, first)
    if key == "compat.v1":  # the manners of TF 1 in a package that is TF 2
        return first | {name: target for name, target in second.items() if "VERSION" in name.upper()}
    inner = mirrored(paths.INNER_MIRRORS, first) | follow(paths.PYTHON, first, second)
    inner |= dict(parse(inside.ROWS)) | dict(parse(message_paths.ROWS)) | tables_of("INSIDE")
    inner = united(paths.UNIONS, inner) | inner
    if key == "v2":
        return first | inner | second  # so a TF 1 name is there too where TF 2 has no other use for it
    added = follow(contrib.PATHS, first, second) | dict(parse(contrib.ROWS)) | tables_of("CONTRIB")
    added = mirrored(contrib.MIRRORS, first | inner | added) | added
    return first | inner | added | dict(parse(first_door.NAMES))


@functools.cache
def view(key: str) -> View:
    """Return the view called "v2", "v1" or "compat.v1"."""
    names = names_of(key)
    spaces: dict[str, dict[str, str | None]] = {"": {}}
    for name, target in names.items():
        space, _, leaf = name.rpartition(".")
        _add_space(spaces, space)
        spaces[space][leaf] = target
    for switch in SWITCHES:
        _add_space(spaces, switch)
    return View(key, DOORS[key], names, spaces)


def _add_space(spaces: dict[str, dict[str, str | None]], path: str) -> None:
    if path not in spaces:
        parent, _, leaf = path.rpartition(".")
        _add_space(spaces, parent)
        spaces[path] = {}
        spaces[parent].setdefault(leaf, None)


def locate(key: str, path: str) -> tuple[str, str]:
    """Return the view and the path in it that `path` means at a door: `compat.v1.nn` at "v2" is `nn` at "compat.v1".

    >>> locate("v2", "compat.v1.nn"), locate("v2", "nn")
    (('compat.v1', 'nn'), ('v2', 'nn'))
    """
    switch = ".".join(path.split(".", 2)[:2])
    while switch in SWITCHES:
        key, path = SWITCHES[switch][key], path[len(switch) + 1 :]
        switch = ".".join(path.split(".", 2)[:2])
    return key, path
