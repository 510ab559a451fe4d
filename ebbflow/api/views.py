"""What each door shows: the tables of all families, put together into one view for TF 2, TF 1 and `compat.v1`.

Knows the text form of the tables and which era sees which; knows nothing of modules or imports. A view is built the
first time a door is asked for a name; the tables are loaded then, not by `import ebbflow`.
"""

from __future__ import annotations

import functools
import pathlib
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


INSIDE = "/inside"
"""What the key of a door has behind it for the view of TensorFlow's inner modules there, which few programs look at."""

GENERATED = "*"
"""Stands in a namespace of inner modules for the generated functions of all ops, where TensorFlow took them over."""

OFTEN_IMPORTED = ("framework", "ops", "util", "platform", "eager", "training", "client")
"""The packages below `tensorflow.python` whose modules its other modules import most, first those that win a name."""

RECORDED = pathlib.Path(__file__).with_name("tables") / "inner_paths.txt"

OTHER_PACKAGES = (
    "doors.column_layers:",
    "doors.contrib_estimator.",
    "doors.decoder_layers:",
    "doors.estimator_package:",
    "doors.keras_package:",
    "doors.learn.",
    "doors.predictors:",
    "doors.slim_package:",
    "doors.tpu_estimator:",
)
"""How targets begin that another package provides: importing it makes Ebbflow answer to `tensorflow`."""

BRANCHES = {
    "contrib.gan": "doors.gan_package:inside",
    "python.estimator": "doors.estimator_package:inside",
    "python.keras": "doors.keras_package:inside",
}
"""Paths below which a function of another package's says what there is, beside what the tables say."""

KERAS_SPACES = ("initializers",)
"""Namespaces of TF 2 that are Keras's: what our tables do not have there, it has."""

DOORS = {
    "v2": "the TF 2 door (`import ebbflow as tf`, `ebbflow run --tf 2`)",
    "v1": "the TF 1 door (`import ebbflow.v1 as tf`, `ebbflow run --tf 1`)",
    "compat.v1": "tf.compat.v1",
    "compat.v2": "tf.compat.v2 of the TF 1 door",
}
"""Each view, as messages call it."""

SWITCHES = {
    "compat.v1": {"v2": "compat.v1", "v1": "v1", "compat.v1": "compat.v1", "compat.v2": "v1"},
    "compat.v2": {"v2": "v2", "v1": "compat.v2", "compat.v1": "v2", "compat.v2": "compat.v2"},
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


def follow(
    paths: Mapping[str, str], first: Mapping[str, str], second: Mapping[str, str], own: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the targets of a table of paths, whose entries are public names: TF 1's, or TF 2's where marked @2.

    Where `own` is given, it has the meaning of names without a mark, and TF 1's are marked @1.

    >>> follow({"ops": "abs ceil=math.ceil where_v2=where@2"}, {"abs": "a", "math.ceil": "c"}, {"where": "w"})
    {'ops.abs': 'a', 'ops.ceil': 'c', 'ops.where_v2': 'w'}
    """
    found = {}
    for path, words in paths.items():
        for word in words.split():
            here, _, there = word.partition("=")
            name, _, era = (there or here).partition("@")
            target = second.get(name) if era == "2" else (own or first).get(name) if not era else first.get(name)
            target = target or second.get(name) or first.get(name)
            if target is not None:  # a test sees to it that none is missing
                found[f"{path}.{here}"] = target
    return found


def mirrored(spaces: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return a second path to every name of some namespaces, but for those of their insides.

    >>> mirrored({"app.flags": "flags"}, {"flags.FLAGS": "f", "flags.python.x": "x", "app.run": "r"})
    {'app.flags.FLAGS': 'f'}
    """
    found: dict[str, str] = {}
    for copy, original in spaces.items():
        start = original + "."
        shown = [name[len(start) :] for name in names if name.startswith(start)]
        found.update((f"{copy}.{name}", names[start + name]) for name in shown if not name.startswith("python."))
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


def is_inner(path: str) -> bool:
    """Return whether a path is of TensorFlow's inside: `python.ops.math_ops`, `contrib.crf.python.ops.crf`."""
    return f"{path}.".startswith("python.") or (path.startswith("contrib.") and ".python." in f"{path}.")


@functools.cache
def names_of(key: str) -> dict[str, str]:
    """Return the names of a view that are not of the inside, without the ways through `compat`."""
    from ebbflow.api.tables import first_door, paths  # as above

    first, second = tables_of("BOTH") | tables_of("V1"), tables_of("V2")
    first |= mirrored(paths.MIRRORS, first)
    if key == "compat.v1":  # the manners of TF 1 in a package that is TF 2
        return first | {name: target for name, target in second.items() if "VERSION" in name.upper()}
    beside = {name: target for name, target in _by_hand().items() if not is_inner(name)}
    if key == "v2":
        packages = tuple(f"{name}." for name, target in second.items() if target.startswith(OTHER_PACKAGES))
        kept = {name: target for name, target in first.items() if not name.startswith(packages)}
        return kept | beside | second  # so a TF 1 name is there too where TF 2 has no other use for it
    if key == "compat.v2":  # TF 2 as 1.15 had it
        return names_of("v2") | dict(parse(first_door.SECOND))
    beside |= {name: target for name, target in _contrib().items() if not is_inner(name)}
    return first | beside | dict(parse(first_door.NAMES))


@functools.cache
def _contrib() -> dict[str, str]:
    from ebbflow.api.tables import contrib  # as above

    first, second = tables_of("BOTH") | tables_of("V1"), tables_of("V2")
    rows = follow(contrib.PATHS, first, second) | dict(parse(contrib.ROWS)) | tables_of("CONTRIB")
    return mirrored(contrib.MIRRORS, first | _by_hand() | rows) | rows


@functools.cache
def _by_hand() -> dict[str, str]:
    """Return what tables say of inner names, and of messages, which stand beside the public ones (`core`)."""
    from ebbflow.api.tables import inside, inside_functions, message_paths, paths  # as above

    first, second = tables_of("BOTH") | tables_of("V1"), tables_of("V2")
    inner = follow(paths.PYTHON, first, second)
    rows = (inside.ROWS, inside_functions.ROWS, message_paths.ROWS)
    return inner | {name: target for text in rows for name, target in parse(text)} | tables_of("INSIDE")


@functools.cache
def recorded() -> dict[str, str]:
    """Return the words of each inner module of TensorFlow, by its path."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    parts = (line.partition(" ") for line in lines if not line.startswith("#"))
    return {path: words for path, _, words in parts}


def words_of_era(words: str, era: str) -> str:
    """Return the words of a recorded line as one era has them, after those that only the other one has.

    >>> words_of_era("abs 1:log 1:trace 2:trace=linalg.trace", "2")
    'log trace abs trace=linalg.trace'
    """
    other: list[str] = []
    own: list[str] = []
    for word in words.split():
        mark = word[:2] if word[1:2] == ":" else ""
        (other if mark and mark[0] != era else own).append(word[len(mark) :])
    return " ".join(other + own)


@functools.cache
def names_inside(key: str) -> dict[str, str]:
    """Return the names of TensorFlow's inner modules at a door: what tables say, then what was recorded."""
    from ebbflow.api.tables import paths  # as above

    era = "2" if key in ("v2", "compat.v2") else "1"
    first, second = names_of("v1"), names_of("v2")
    lines = {path: words_of_era(words, era) for path, words in recorded().items()}
    found = mirrored(paths.INNER_MIRRORS, first) | follow(lines, first, second, names_of(key))
    for path in lines:
        if found.pop(f"{path}.gen", None) is not None or " gen " in f" {lines[path]} ":
            found[f"{path}.{GENERATED}"] = "api.gen_ops:gen_ops"
    named = {name: target for name, target in (_by_hand() | _contrib()).items() if is_inner(name)}
    things = {name for name in named if name in lines}  # a whole module that tables give as an object
    kept = {name: target for name, target in found.items() if name.rpartition(".")[0] not in things}
    inner = kept | named
    return united(paths.UNIONS, inner) | inner


@functools.cache
def _modules_by_name(key: str) -> dict[str, str]:
    rank = {f"python.{package}": place for place, package in enumerate(OFTEN_IMPORTED)}
    generated = [path for path, target in view(key).names.items() if target.endswith(":gen_ops") and "*" not in path]
    spaces = [path for path in [*view(key).spaces, *generated] if path.startswith("python.") and path.count(".") > 1]
    spaces.sort(key=lambda path: (rank.get(path.rpartition(".")[0], len(rank)), path.count("."), path))
    return {path.rpartition(".")[2]: path for path in reversed(spaces)}


def module_beside(key: str, name: str) -> str | None:
    """Return the path of the inner module that another inner module has under this name because it imports it.

    >>> module_beside("v1/inside", "array_ops"), module_beside("v1/inside", "ops")
    ('python.ops.array_ops', 'python.framework.ops')
    """
    return _modules_by_name(key).get(name)


@functools.cache
def view(key: str) -> View:
    """Return the view called "v2", "v1" or "compat.v1", or what one of them has inside ("v2/inside")."""
    door, inner, _ = key.partition(INSIDE)
    names = names_inside(door) if inner else names_of(door)
    spaces: dict[str, dict[str, str | None]] = {"": {}}
    for name, target in names.items():
        space, _, leaf = name.rpartition(".")
        _add_space(spaces, space)
        spaces[space][leaf] = target
    if inner:
        for path in (*recorded(), *(module for module in empty_modules() if is_inner(module))):
            if path not in names:
                _add_space(spaces, path)
    else:
        for switch in SWITCHES:
            _add_space(spaces, switch)
        if door != "compat.v1":
            spaces[""]["python"] = None
            for path in empty_modules():
                if not is_inner(path) and (door == "v1" or not path.startswith("contrib.")):
                    _add_space(spaces, path)
    return View(key, DOORS[door], names, spaces)


@functools.cache
def empty_modules() -> list[str]:
    """Return the modules that tables name though nothing stands in them here: they can be imported."""
    from ebbflow.api.tables import FAMILIES  # as above

    return [path for family in FAMILIES for path in getattr(family, "MODULES", "").split()]


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
    if is_inner(path) and not key.endswith(INSIDE) and key != "compat.v1":
        key += INSIDE
    return key, path
