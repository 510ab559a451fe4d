"""Write `ebbflow-stubs/`: what editors and type checkers read to know the public names.

    python tools/stubs.py             # write ebbflow-stubs/ beside the package, for work on a checkout
    python tools/stubs.py FOLDER      # write it elsewhere

The names of `ebbflow` come into being when they are used, so an editor that only reads files sees none. Here each
namespace of each door becomes a stub that imports its names from their rooms, one line a name. The sources are parsed,
never run: building a wheel (`hatch_build.py`) needs none of the libraries that ops need. Functions that a factory
makes (`exp = quick_unary(...)`) have no `def` of their own; they get one in `_functions/`, with the signature of the
function that the factory returns and the docstring that it is given. Messages are made from descriptors; they are
plain classes in `_messages.pyi`.
"""

from __future__ import annotations

import ast
import builtins
import functools
import pathlib
import shutil
import sys
from collections.abc import Iterator
from typing import NamedTuple

ROOT = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from ebbflow.api import views  # noqa: E402  (a script finds the package beside it)

DOORS = {"v2": "ebbflow", "v1": "ebbflow.v1", "compat.v1": "ebbflow.compat.v1"}
"""The module of each door."""

ELSEWHERE = {"doors.keras_package:keras": "import keras as keras"}
"""What another package provides."""

HEAD = '"""{0}"""\n\nfrom typing import Any\n\n'
MESSAGE = """
class {0}(Message):
    def __init__(self, **fields: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
"""

# --- what a module binds ----------------------------------------------------------------------------------------------


class Source(NamedTuple):
    """A module of the package, parsed: what binds each of its names."""

    room: str
    bound: dict[str, ast.AST]
    imports: dict[str, str]  # name: "from module import name as name"


@functools.cache
def source(room: str) -> Source:
    """Return what the module of that name (below `ebbflow`) binds."""
    path = ROOT / "ebbflow" / room.replace(".", "/")
    file = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
    bound: dict[str, ast.AST] = {}
    imports: dict[str, str] = {}
    for node in _statements(ast.parse(file.read_text()).body):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound[node.name] = node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound.update((name, node) for target in targets for name in _names(target))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name
                bound[name] = node
                imports[name] = f"from {node.module} import {alias.name} as {name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                imports[name] = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
    return Source(room, bound, imports)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from _statements([*node.body, *(s for handler in node.handlers for s in handler.body)])
        else:
            yield node


def _names(target: ast.AST) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


# --- functions that factories make ------------------------------------------------------------------------------------


def made_function(room: str, name: str) -> tuple[str, set[str]] | None:
    """Return the text of a function bound by `name = factory(...)`, and the imports that it needs; None for others."""
    node = source(room).bound[name]
    if not isinstance(node, (ast.Assign, ast.AnnAssign)):
        return None
    call, place = node.value, _place(node, name)
    if isinstance(call, ast.Tuple) and place is not None:
        call, place = call.elts[place], None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    home, factory = _definition(room, call.func.id)
    if not isinstance(factory, ast.FunctionDef):
        return None
    function = _returned(factory, place)
    if function is None:
        return None
    arguments = _renamed(function, call, factory)
    result = "Any" if function.returns is None else ast.unparse(function.returns)
    doc = _doc(room, call)
    body = f"\n    {doc!r}\n" if doc else " ...\n"
    return f"def {name}({ast.unparse(arguments)}) -> {result}:{body}", _imports(home, function)


def _doc(room: str, call: ast.Call) -> str:
    """Return the docstring that a factory is given, or that of the function it is given."""
    texts = [n.value for n in ast.walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    doc = max(texts, key=len, default="")
    if " " in doc:
        return doc
    for name in [arg.id for arg in call.args if isinstance(arg, ast.Name)]:
        _, node = _definition(room, name)
        if isinstance(node, ast.FunctionDef):
            return ast.get_docstring(node) or ""
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            return _doc(room, node.value)
    return ""


def _definition(room: str, name: str) -> tuple[Source, ast.AST | None]:
    """Return the module that defines a name, and the definition, though `room` may import it from there."""
    here = source(room)
    node = here.bound.get(name)
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ebbflow."):
        return _definition((node.module or "").removeprefix("ebbflow."), name)
    return here, node


def _place(node: ast.Assign | ast.AnnAssign, name: str) -> int | None:
    """Return which of several a name is bound to: 1 for the second of `a, b = factory()`."""
    for target in node.targets if isinstance(node, ast.Assign) else []:
        if isinstance(target, ast.Tuple) and name in _names(target):
            return _names(target).index(name)
    return None


def _returned(factory: ast.FunctionDef, place: int | None) -> ast.FunctionDef | None:
    """Return the function inside a factory that it returns (or passes to what it returns)."""
    inner = {node.name: node for node in ast.walk(factory) if isinstance(node, ast.FunctionDef) and node is not factory}
    for node in ast.walk(factory):
        if isinstance(node, ast.Return) and node.value is not None and node in factory.body:
            value = node.value
            if place is not None and isinstance(value, ast.Tuple):
                value = value.elts[place]
            for name in _names(value):
                if name in inner:
                    return inner[name]
    return None


def _renamed(function: ast.FunctionDef, call: ast.Call, factory: ast.FunctionDef) -> ast.arguments:
    """Return the arguments, by the names that the factory is told: quick_unary(..., arg="features")."""
    given = dict(zip([argument.arg for argument in factory.args.args], call.args))
    given.update((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None)
    names = given.get("arg") or given.get("args")
    told = str(names.value).split() if isinstance(names, ast.Constant) else []
    arguments = ast.parse(ast.unparse(function)).body[0].args  # type: ignore[attr-defined]  # a copy
    for argument, name in zip(arguments.args, told):
        argument.arg = name
    for argument in [*arguments.args, *arguments.kwonlyargs]:
        argument.annotation = argument.annotation or ast.Name("Any")
    arguments.defaults = [_shown_default(d) for d in arguments.defaults]
    arguments.kw_defaults = [d and _shown_default(d) for d in arguments.kw_defaults]
    return arguments


def _shown_default(default: ast.expr) -> ast.expr:
    return default if isinstance(default, ast.Constant) else ast.Constant(...)


def _imports(home: Source, function: ast.FunctionDef) -> set[str]:
    annotations = [a.annotation for a in ast.walk(function.args) if isinstance(a, ast.arg) and a.annotation]
    needed = set()
    for name in {n for part in [*annotations, function.returns] if part is not None for n in _names(part)}:
        if name in home.imports:
            needed.add(home.imports[name])
        elif name in home.bound:
            needed.add(f"from ebbflow.{home.room} import {name} as {name}")
        elif not hasattr(builtins, name):
            raise NameError(f"ebbflow.{home.room}: {function.name} is annotated with {name}, which is not imported")
    return needed


# --- the stubs --------------------------------------------------------------------------------------------------------


class Writer:
    """Collects the text of all stubs by path."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.functions: dict[str, dict[str, tuple[str, set[str]]]] = {}  # room: name: text, imports
        self.messages: set[str] = set()

    def write(self) -> dict[str, str]:
        """Return all stubs: the doors, the functions that factories make, the messages."""
        for key, module in DOORS.items():
            for path in views.view(key).spaces:
                self._space(key, module, path)
        for room, functions in self.functions.items():
            imports = sorted({line for _, needed in functions.values() for line in needed})
            texts = [text for _, (text, _) in sorted(functions.items())]
            head = HEAD.format(f"Functions that ebbflow.{room} makes.")
            self.files[f"_functions/{room.replace('.', '_')}.pyi"] = head + "\n".join([*imports, "", *texts])
        self.files["_functions/__init__.pyi"] = '"""Functions that factories make, one file a module."""\n'
        head = HEAD.format("TensorFlow's messages.") + "from google.protobuf.message import Message\n"
        self.files["_messages.pyi"] = head + "".join(MESSAGE.format(name) for name in sorted(self.messages))
        self.files["py.typed"] = "partial\n"  # what is not here is in the package itself
        return self.files

    def _space(self, key: str, module: str, path: str) -> None:
        shown = f"tf.{path}" if path else "tf"
        full = f"{module}.{path}" if path else module
        file = "/".join([*full.split(".")[1:], "__init__.pyi"])
        if path in views.SWITCHES and views.locate(key, path)[0] != key + path:
            other = DOORS.get(views.locate(key, path)[0], "ebbflow")
            if other != full:
                self.files[file] = f'"""The names of `{other}`."""\n\nfrom {other} import *\n'
            return
        names = sorted(views.view(key).spaces[path].items())
        if names and module == "ebbflow" and all((target or "").partition(":")[0] == path for _, target in names):
            return  # a room that is a namespace itself: its own file says all
        lines = [self._line(name, target) for name, target in names]
        listed = "".join(f"    {name!r},\n" for name, _ in names)
        head = HEAD.format(f"The names of {shown}, at {views.DOORS[key]}.")
        self.files[file] = head + "\n".join(lines) + f"\n\n__all__ = [\n{listed}]\n"

    def _line(self, name: str, target: str | None) -> str:
        if name == "python" and target is None:  # TensorFlow's inner modules have no stubs
            return "python: Any"
        if target is None:
            return f"from . import {name} as {name}"
        if target in ELSEWHERE:
            return ELSEWHERE[target]
        room, _, attribute = target.partition(":")
        if room == "platform.flags" and attribute not in source(room).bound:
            room = "platform.own_flags"  # `flags` hands on what is there
        if room == "messages" and attribute not in source(room).bound and "." not in attribute:
            self.messages.add(attribute)
            return f"from ebbflow._messages import {attribute} as {name}"
        if attribute not in source(room).bound:
            return f"{name}: {'int' if room == 'messages.enums' else 'Any'}"
        function = made_function(room, attribute)
        if function is None:
            return f"from ebbflow.{room} import {attribute} as {name}"
        self.functions.setdefault(room, {})[attribute] = function
        return f"from ebbflow._functions.{room.replace('.', '_')} import {attribute} as {name}"


def main(folder: pathlib.Path) -> None:
    """Write the stubs into a folder, which is theirs alone."""
    if folder.exists():
        mark = folder / "py.typed"
        if not mark.exists() or mark.read_text() != "partial\n":
            raise SystemExit(f"{folder} does not hold stubs: name a folder that does not exist yet")
        shutil.rmtree(folder)
    for path, text in Writer().write().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "ebbflow-stubs")
