"""Running a program as python would, with `tensorflow` answered by Ebbflow.

Sets `sys.argv`, `sys.path[0]` and `__main__` like the interpreter does for a script, `-m module`, `-c code` or `-`,
opens the `tensorflow` door of the right era, and lets the program's own exit, result and errors pass. Knows the other
modules of this room and `api`.
"""

from __future__ import annotations

import atexit
import functools
import glob
import importlib.util
import linecache
import os
import sys
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from ebbflow import messages
from ebbflow.api import versions
from ebbflow.api.namespace import finder, open_door
from ebbflow.core.context import enter_v1
from ebbflow.doors import (
    alias,
    era,
    following,
    keras_alias,
    keras_package,
    metadata,
    old_calls,
    old_flags,
    old_manners,
    old_numbers,
    tracebacks,
    watch,
)
from ebbflow.doors.keras_package import KerasChoice
from ebbflow.doors.program import Program, within
from ebbflow.doors.python2 import files
from ebbflow.doors.undecided import Undecided
from ebbflow.doors.vanished import Lender

TENSORFLOW = "tensorflow"


@dataclass(frozen=True)
class Source:
    """A program to run: its code, the names it goes by, and where its own modules lie."""

    code: CodeType
    argv0: str
    directory: str  # what sys.path[0] is to be
    file: str | None = None
    spec: Any = None


class StartError(Exception):
    """There is no such program; said in python's words, without a traceback."""


def run(
    kind: str, name: str, args: list[str], tf: str = "auto", verbose: bool = False, keras: int | None = None
) -> None:
    """Run a program to its end. `kind` is "script", "module", "code" or "stdin"; `tf` is "1", "2" or "auto"; `keras`
    is 2 or 3 where the command line says so.
    """
    directory = {"script": _script_directory(name), "module": os.getcwd()}.get(kind, "")
    _set_path(directory)
    sys.argv = [{"script": name, "code": "-c", "stdin": "-"}.get(kind, "-m"), *args]
    found, source_text = _evidence(kind, name, directory)
    files.begin(found.files[:1], found.stops, [directory, *_own_places()])
    program = Program(_homes(directory), sources=() if directory else ("<string>", "<stdin>"))
    lender = Lender(program)
    files.install(program)
    start = functools.partial(_start, program, lender, tf=tf, verbose=verbose, keras=keras)
    if tf == "auto" and not found.files and "tensorflow" not in source_text:  # what it imports will tell
        Undecided(program, [directory or os.getcwd(), *_own_places()], start)
    else:
        start(found)
    atexit.register(_tell, lender, os.getpid())
    following.lead(tf, keras)
    _execute(_load(kind, name, directory, source_text))


def follow(tf: str, keras: int | None) -> Undecided:
    """Return what finds TensorFlow in a process that a program has started, whose program is another."""
    directory = sys.path[0] if sys.path and sys.argv[:1] != ["-c"] else ""
    program = Program(_homes(directory), sources=() if directory else ("<string>", "<stdin>"))
    files.install(program)
    start = functools.partial(_start, program, Lender(program), tf=tf, verbose=False, keras=keras)
    return Undecided(program, [directory or os.getcwd(), *_own_places()], start)


def _start(program: Program, lender: Lender, found: era.Era, tf: str, verbose: bool, keras: int | None) -> None:
    """Open the doors of a program's era, and say so where that is asked for."""
    number = found.number if tf == "auto" else int(tf)
    choice = KerasChoice(keras, found.keras, found.old_optimizers)
    misled = found.misled(versions.V1 if number == 1 else versions.V2)
    open_doors(number, lender, found.modules, choice, misled)
    if verbose:
        print(f"ebbflow: {found if tf == 'auto' else f'TF {number} (asked for)'}", file=sys.stderr)
        if found.keras_2 or keras:
            why = "asked for" if keras else ", ".join(sorted(found.keras_2)[:5])
            print(f"ebbflow: Keras {keras_package.number(number)} ({why})", file=sys.stderr)
    tracebacks.install("v1" if number == 1 else "v2")


def _set_path(directory: str) -> None:
    """Put the program's directory where python puts it: in place of the one `ebbflow` itself was started from."""
    if getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, directory)
    else:
        sys.path[0] = directory


def _homes(directory: str) -> list[str]:
    """Return the directories whose files are the program's own; where it was started counts if it is a project's."""
    here = os.getcwd()
    shared = here in ("/", os.path.expanduser("~"))
    return [directory or here, *([here] if within(os.path.realpath(directory), here) and not shared else [])]


def open_doors(number: int, lender: Lender, imports: set[str], keras: KerasChoice, one_digit: bool = False) -> None:
    """Make `import tensorflow` answer, lend what has vanished, and do the same in processes the program starts.

    A program that compares versions as text (`one_digit`) is shown one of those with which that is right.
    """
    keras_package.choose(keras)
    if keras_package.number(number) == 2:
        keras_alias.install(number)
    if number == 1 or keras_package.number(number) == 2:
        watch.after_import("numpy", _print_as_then)
        for teach in (old_manners.teach_functions, old_numbers.teach):
            watch.after_import("numpy", functools.partial(teach, lender))
        for module in old_calls.GAVE:
            watch.after_import(module, functools.partial(old_calls.teach_results, lender))
        messages.when_made["tensorflow.Int64List"] = functools.partial(old_manners.teach_integers, lender)
        if one_digit:
            versions.V1, versions.V2 = versions.V1_OF_ONE_DIGIT, versions.V2_OF_ONE_DIGIT
    if number == 1:
        watch.after_import("ebbflow.platform.flags", functools.partial(old_flags.teach, lender))
    if not _has_its_own_tensorflow():
        sys.modules.pop(TENSORFLOW, None)
        open_door(TENSORFLOW, "v1" if number == 1 else "v2", enter_v1 if number == 1 else None)
        metadata.announce(TENSORFLOW, number)
        setuptools = functools.partial(metadata.announce_to_setuptools, TENSORFLOW, number)
        watch.after_import("pkg_resources", setuptools)
        alias.name_modules()
    lender.open(imports)
    program = lender.program
    child = Child(
        number, sorted(program.directories), sorted(program.sources), sorted(imports), tuple(keras), one_digit
    )
    watch.after_import("multiprocessing.spawn", child.follow)


def _print_as_then(numpy: ModuleType) -> None:
    """Have NumPy's scalars print as numbers, as they did until NumPy 2: programs wrote them to files like that."""
    if int(numpy.__version__.split(".")[0]) >= 2:
        numpy.set_printoptions(legacy="1.25")


def _has_its_own_tensorflow() -> bool:
    """Return whether the program's directory has a module of that name, which python would prefer as well."""
    place = os.path.join(sys.path[0] or os.getcwd(), TENSORFLOW)
    if os.path.isfile(os.path.join(place, "__init__.py")):
        return True
    return os.path.isfile(place + ".py") and place + ".py" != os.path.abspath(sys.argv[0])


def _script_directory(script: str) -> str:
    real = os.path.realpath(script)
    return real if os.path.isdir(real) else os.path.dirname(real)


def _main_file(script: str) -> str:
    return os.path.join(script, "__main__.py") if os.path.isdir(script) else script


def _own_places() -> list[str]:
    """Return the places of PYTHONPATH that may hold modules of the program's own, and not installed packages."""
    places = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    installed = ("*.dist-info", "*.egg-info", os.path.join("ebbflow", "__init__.py"))
    return [place for place in places if not any(glob.glob(os.path.join(glob.escape(place), i)) for i in installed)]


def _evidence(kind: str, name: str, directory: str) -> tuple[era.Era, str]:
    """Return what a program's source says about its era, and the source itself where it has no file."""
    path = [directory, *_own_places()]
    if kind == "script":
        return era.of_program(_main_file(name), path), ""
    if kind == "module":
        place = os.path.join(directory, *name.split("."))
        files = [os.path.join(place, "__main__.py"), place + ".py"]
        file = next((file for file in files if os.path.isfile(file)), None)
        return (era.of_program(file, path) if file else era.Era()), ""
    text = name if kind == "code" else sys.stdin.read()
    found = era.of_source(text)
    return found, text


def _load(kind: str, name: str, directory: str, text: str) -> Source:
    if kind == "script":
        return _load_script(name, directory)
    if kind == "module":
        return _load_module(name, directory)
    file, argv0 = ("<string>", "-c") if kind == "code" else ("<stdin>", "-")
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return Source(files.compiled(text, file, main=True), argv0, directory)


def _load_script(script: str, directory: str) -> Source:
    file = _main_file(script)
    try:
        with open(file, "rb") as stream:
            text = stream.read()
    except OSError as error:
        raise StartError(
            f"{sys.executable}: can't open file {os.path.abspath(file)!r}: [Errno {error.errno}] {error.strerror}"
        ) from None
    full = os.path.abspath(file)
    return Source(files.compiled(text, full, main=True), script, directory, full)


def _load_module(name: str, directory: str) -> Source:
    spec = _find_module(name)
    if spec is None:
        raise StartError(f"{sys.executable}: No module named {name}")
    if spec.submodule_search_locations is not None:
        spec = _find_module(f"{name}.__main__")
        if spec is None:
            words = f"No module named {name}.__main__; {name!r} is a package and cannot be directly executed"
            raise StartError(f"{sys.executable}: {words}")
    code = spec.loader.get_code(spec.name) if spec.loader is not None and hasattr(spec.loader, "get_code") else None
    if code is None:
        raise StartError(f"{sys.executable}: No code object available for {name}")
    files.main_is_old = files.told.get(spec.origin or "") == "Python 2"
    return Source(code, spec.origin or name, directory, spec.origin, spec)


def _find_module(name: str) -> Any:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            return None
        raise


def _execute(source: Source) -> None:
    """Run code in a new `__main__`, which stays it until the process ends."""
    main = ModuleType("__main__")
    here = vars(main)
    package = source.spec.parent if source.spec else None
    here.update(__builtins__=__builtins__, __spec__=source.spec, __package__=package)
    if source.file is not None:
        here.update(__file__=source.file, __cached__=source.spec.cached if source.spec else None)
        here["__loader__"] = source.spec.loader if source.spec else SourceFileLoader("__main__", source.file)
    sys.argv[0] = source.argv0
    _kept.append(sys.modules.get("__main__"))
    sys.modules["__main__"] = main
    exec(source.code, here)


_kept: list[Any] = []  # the `__main__` that called us: its globals must outlive this


def _tell(lender: Lender, process: int) -> None:
    lines = [line for line in (files.report(), lender.report()) if line]
    if lines and os.getpid() == process:
        print(*lines, sep="\n", file=sys.stderr)


class Child:
    """What a process started by `multiprocessing` must do before it runs the program's main module."""

    def __init__(
        self, number: int, directories: list[str], sources: list[str], imports: list[str], keras: tuple[Any, ...],
        one_digit: bool,
    ) -> None:  # fmt: skip
        self.arguments = (number, directories, sources, imports, keras, one_digit)

    def follow(self, spawn: Any) -> None:
        """Send ourselves along whenever a child is prepared: unpickling opens the doors over there."""
        prepare = spawn.get_preparation_data

        def get_preparation_data(name: str) -> dict[str, Any]:
            return {**prepare(name), "ebbflow": self}

        spawn.get_preparation_data = get_preparation_data

    def __reduce__(self) -> tuple[Any, ...]:
        return _begin_child, self.arguments


def _begin_child(
    number: int, directories: list[str], sources: list[str], imports: list[str], keras: tuple[Any, ...], one_digit: bool
) -> None:
    if TENSORFLOW not in finder.doors:
        lender = Lender(Program(directories, sources))
        files.install(lender.program)
        open_doors(number, lender, set(imports), KerasChoice(*keras), one_digit)
        tracebacks.install("v1" if number == 1 else "v2")
