"""Modules made of tables: a public namespace whose names are fetched from their rooms when first used.

Knows views and Python's import system; knows nothing of what the names mean. `open_door` turns a real module into the
root of a view, and one finder on `sys.meta_path` makes `ebbflow.nn`, `ebbflow.compat.v1.train` or `tensorflow.nn`
importable as modules. Where a namespace and a room share a path (`ebbflow.train`), one module serves as both: the
room's own names first, then the table's.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

from ebbflow.api import suggest, views
from ebbflow.api.whole_names import OFTEN, WholeNamespace, own_dictionary

PACKAGE = __name__.partition(".")[0]
TABLES = f"{PACKAGE}.api.tables"


def open_door(module_name: str, key: str, on_entry: Callable[[], None] | None = None) -> None:
    """Make the module of that name the root of a view, importing or not yet imported.

    `on_entry` is called when the door is first gone through, before any name is.
    """
    finder.doors[module_name] = key
    if not module_name.startswith(PACKAGE):  # under another's name
        importlib.import_module(f"{PACKAGE}.messages").stand_in()
    if on_entry is not None:
        finder.on_entry[module_name] = on_entry
    if finder not in sys.meta_path:
        sys.meta_path.insert(0, finder)
    module = sys.modules.get(module_name)
    if module is not None:
        finder.enter(module_name)
        furnish(module, module_name, key, "")


furnished: list[Callable[[], None]] = []
"""For each module that has names of a table, what gives those it has fetched support for dispatch."""


def public(target: str) -> Any:
    """Return the object a table's target names, as `api.public_functions` shows it."""
    return importlib.import_module(f"{PACKAGE}.api.public_functions").public(target)


def furnish(module: ModuleType, root: str, key: str, path: str) -> None:
    """Give `module` the names that view `key` has at `path`, each fetched on first use and then kept."""
    here = own_dictionary(module)
    own_getattr = here.get("__getattr__")
    if hasattr(own_getattr, "fetches"):  # ours, from before a reload
        own_getattr = None
    key, path = views.locate(key, path)

    def fetch(name: str) -> Any:
        if own_getattr is not None:
            try:
                return own_getattr(name)
            except AttributeError:
                pass
        space = views.view(key).spaces[path]
        if name not in space:
            return _not_in_table(module, root, key, path, name)
        target = space[name]
        value = importlib.import_module(f"{module.__name__}.{name}") if target is None else public(target)
        return value if target is not None and target.startswith(LIVE) else here.setdefault(name, value)

    def listing() -> list[str]:
        return sorted({*views.view(key).spaces[path], *(word for word in here if word.startswith("__"))})

    def support_dispatch() -> None:
        for name, target in views.view(key).spaces[path].items():
            if target is not None and name in here and here[name] is resolve(target):
                here[name] = public(target)

    live = _live_names(key, path) if path.startswith("python.") else frozenset()
    if live:
        importlib.import_module(f"{PACKAGE}.api.live").enliven(module, live)
    furnished.append(support_dispatch)
    fetch.fetches = f"{root}.{path}"  # type: ignore[attr-defined]
    here.update(__getattr__=fetch, __dir__=listing)
    here.setdefault("__path__", [])


def _live_names(key: str, path: str) -> frozenset[str]:
    """Return which names of a namespace have values that change; assigning to them changes those."""
    targets = views.view(key).spaces.get(path, {})
    return frozenset(name for name, target in targets.items() if target is not None and target.startswith(LIVE))


def _not_in_table(module: ModuleType, root: str, key: str, path: str, name: str) -> Any:
    """Return what a namespace has besides the names of its table: inner modules, generated ops, parts of packages."""
    space = views.view(key).spaces[path]
    if name == "__all__":
        return [word for word in space if word.isidentifier() and not word.startswith("_")]
    if name == "python" and f"{path}.{name}" in views.view(views.locate(key, f"{path}.{name}")[0]).spaces:
        return importlib.import_module(f"{module.__name__}.{name}")
    generated = space.get(views.GENERATED)
    if generated is not None and hasattr(resolve(generated), name):
        return getattr(resolve(generated), name)
    beside = views.module_beside(key, name) if path in views.recorded() and None not in space.values() else None
    if beside is not None and beside != path:
        return importlib.import_module(f"{root}.{beside}")
    grown = None if name.startswith("__") else _on_a_branch(f"{path}.{name}", key)
    if grown is not None:
        return grown
    raise suggest.MissingNameError(root, key, f"{path}.{name}" if path else name)


def resolve(target: str) -> Any:
    """Return the object a table's target names.

    >>> resolve("api.views:DOORS")["v1"].split(" (")[0]
    'the TF 1 door'
    """
    room, _, attribute = target.partition(":")
    if not room.startswith(STANDS_ALONE):
        lay_foundation()
    value: Any = importlib.import_module(f"{PACKAGE}.{room}")
    for part in attribute.split("."):
        value = getattr(value, part)
    return value


FOUNDATION = ("ops.foundation", "engines.onednn.register", "engines.large_calls", "graph.graph")
"""What any op may need though its own room does not import it: tensors' operators, gradients, the default graph."""

STANDS_ALONE = (
    "api.libraries", "api.versions", "api.views", "platform.", "messages", "core.dtypes", "core.errors", "core.nest",
    "core.shape",
)  # fmt: skip
"""Rooms whose names are of use without any op, so that `tf.flags` or `tf.float32` loads no more than itself."""


LIVE = "api.live:"
"""How targets begin whose value may be another one the next time."""


@functools.cache
def lay_foundation() -> None:
    """Load what ops rely on, the first time a name is used that makes or runs them."""
    for room in FOUNDATION:
        importlib.import_module(f"{PACKAGE}.{room}")


class Namespace:
    """Loads a module that exists only as a table."""

    def __init__(self, root: str, key: str, path: str) -> None:
        self.root, self.key, self.path = root, key, path

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave making the module to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its names; going through a door for the first time has its effect before that."""
        if not self.path:
            module.__file__ = sys.modules[PACKAGE].__file__
            finder.enter(self.root)
        module.__doc__ = f"The names of tf{self.path and '.' + self.path}, at {views.DOORS[self.key]}."
        if self.path.endswith("_pb2") and not self.root.startswith(PACKAGE):
            importlib.import_module(f"{PACKAGE}.messages").publish()
        furnish(module, self.root, self.key, self.path)
        if type(module) is ModuleType and self.path not in OFTEN:
            module.__class__ = WholeNamespace

    def get_code(self, fullname: str) -> None:
        """Say that there is no code, only names."""

    get_source = get_code


class Alias:
    """Loads a module that is there already under another name."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave making a module to Python; it is put aside at once."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the other module in its place."""
        sys.modules[module.__name__] = self.module


def _module_at(names: Mapping[str, str], public: str) -> Any:
    """Return what a path names: an object of a table (`raw_ops`), or a module of a package there (`keras.layers`)."""
    if public in names:
        return resolve(names[public])
    outer, dot, inner = public.rpartition(".")
    package = _module_at(names, outer) if dot else None
    if not isinstance(package, ModuleType) or not hasattr(package, "__path__"):
        return None
    return module_or_none(f"{package.__name__}.{inner}")


def module_or_none(name: str) -> ModuleType | None:
    """Return a module, or None where there is none of that name; what it imports itself must be there."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not (error.name and f"{name}.".startswith(f"{error.name}.")):
            raise
        return None


def _on_a_branch(path: str, key: str = "") -> Any:
    """Return what another package has at a path that the tables leave to it, or None."""
    if key == "v2" and path.startswith(tuple(f"{space}." for space in views.KERAS_SPACES)):
        return resolve("doors.keras_package:public")(path)
    for branch, target in views.BRANCHES.items():
        if f"{path}.".startswith(f"{branch}."):
            return resolve(target)(path[len(branch) + 1 :])
    return None


def _alias(fullname: str, value: Any) -> ModuleSpec | None:
    """Return how to load a name of a table as a module, if what it names is one: `import tensorflow.raw_ops`."""
    return ModuleSpec(fullname, Alias(value), origin=PACKAGE) if isinstance(value, ModuleType) else None  # type: ignore[arg-type]


class SharedRoom(SourceFileLoader):
    """Loads a room of Ebbflow that has the path of a public namespace too."""

    def __init__(self, fullname: str, file: str, names: Namespace) -> None:
        super().__init__(fullname, file)
        self.names = names

    def exec_module(self, module: ModuleType) -> None:
        """Run the room's own code, then add the names of the table."""
        super().exec_module(module)
        furnish(module, self.names.root, self.names.key, self.names.path)


class DoorFinder:
    """Finds the modules behind every open door."""

    def __init__(self) -> None:
        self.doors: dict[str, str] = {}
        self.on_entry: dict[str, Callable[[], None]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load `fullname` if it is a namespace behind one of the doors."""
        root = fullname
        while root not in self.doors:
            root, dot, _ = root.rpartition(".")
            if not dot:
                return None
        inner = fullname[len(root) + 1 :]
        if not inner and root.startswith(PACKAGE):
            return None  # a door of the package is a file of its own
        if fullname.startswith(TABLES):
            return None  # what views are made of is found without them
        key, public = views.locate(self.doors[root], inner)
        shown = views.view(key)
        if public not in shown.spaces:
            return _alias(fullname, _module_at(shown.names, public) or _on_a_branch(public))
        names = Namespace(root, self.doors[root], inner)
        room = PathFinder.find_spec(fullname, path) if path else None
        if room is not None and isinstance(room.loader, SourceFileLoader):
            room.loader = SharedRoom(fullname, room.loader.path, names)
            return room
        return ModuleSpec(fullname, names, origin=PACKAGE, is_package=True)  # type: ignore[arg-type]

    def enter(self, root: str) -> None:
        """Let a door have its effect on the process, the first time it is gone through."""
        self.on_entry.pop(root, _nothing)()


def _nothing() -> None:
    pass


finder = DoorFinder()
