"""Which of the program's files are Python 2, and their code.

A file that Python 3 compiles stays Python 3's, unless a statement at its top can only fail there (`import urllib2`),
or the script itself is Python 2: then all of the program ran on it. Names that only Python 2 had are lent to other
files that use them. A file that Python 3 refuses is tried as Python 2. The code of such a file is a line that has
`execute` run it with the names of Python 2 built in, so whoever runs code (`import`, `runpy`, a pool's process) runs it
rightly, and none of it is ever written beside the source. The translation is loaded when it is needed.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from types import CodeType, FrameType, ModuleType
from typing import Any

from ebbflow.doors import watch
from ebbflow.doors.program import INSTALLED, PACKAGE, Program, library_places

_BUILT_IN = """
    xrange unicode raw_input basestring unichr reduce cmp execfile reload long file intern apply buffer coerce
    StandardError
"""
_MODULES = """
    urllib2 urlparse robotparser Queue ConfigParser SocketServer copy_reg httplib HTMLParser htmlentitydefs Cookie
    cookielib xmlrpclib BaseHTTPServer SimpleHTTPServer CGIHTTPServer SimpleXMLRPCServer Tkinter tkMessageBox
    tkFileDialog tkSimpleDialog cPickle StringIO cStringIO thread anydbm commands UserDict exceptions sets md5
    __builtin__
"""
_METHODS = "iteritems iterkeys itervalues viewitems viewkeys viewvalues has_key"
_LOST = """
    itertools.izip itertools.imap itertools.ifilter itertools.izip_longest itertools.ifilterfalse
    operator.div operator.isCallable operator.isSequenceType os.getcwdu
    string.letters string.lowercase string.uppercase string.maketrans string.join string.split string.replace
    string.atoi string.atof string.strip string.lower string.upper sys.maxint sys.setdefaultencoding
    types.StringType types.UnicodeType types.StringTypes types.ListType types.DictType types.TupleType types.IntType
    types.FloatType urllib.urlretrieve urllib.urlopen urllib.urlencode urllib.quote urllib.quote_plus urllib.unquote
    urllib.unquote_plus urllib.FancyURLopener
"""
BUILT_IN, MODULES = frozenset(_BUILT_IN.split()), frozenset(_MODULES.split())
METHODS, LOST = frozenset(_METHODS.split()), frozenset(_LOST.split())
"""What Python 2 had built in, its modules, methods, and names of modules of both, that are no more."""

_COMMON = frozenset(
    ("long", "file", "apply", "cmp", "buffer", "reduce", "reload", "intern", "coerce", "thread", "sets")
)
_ROOMS = {f"from {name.partition('.')[0]} import" for name in LOST}
_SIGNS = tuple(word.encode() for word in sorted((BUILT_IN | MODULES | METHODS | LOST | _ROOMS | {".next()"}) - _COMMON))
_PRINT = rb"(?:^|[:;])[ \t]*print[ \t]*(?:>>|[-+~\[]|\(.*\)[ \t]*%)"
_CALLED = rb"(?<![.\w])(?:long|file|apply|cmp|buffer|reduce|reload|intern|coerce)\b(?! *=[^=])|import (?:thread|sets)\b"
_KNOWS_BOTH = rb"\b(?:version_info|PY2|PY3|hexversion|NameError|python_2_unicode_compatible)\b"

main_is_old = False
"""Whether the script that was started is Python 2: then what it imports of its own ran on Python 2 too."""

read: dict[str, tuple[CodeType, ModuleType]] = {}
"""File of Python 2, or one that uses its names -> its code, and what is built in for it."""

told: dict[str, str] = {}
"""The same files -> what was seen in them."""


# --- deciding ---------------------------------------------------------------------------------------------------------


def compiled(data: bytes | str, file: str, main: bool = False) -> CodeType:
    """Return the code of a source; SyntaxError of Python 3 where it is no source in either language."""
    global main_is_old
    try:
        code, error = compile(data, file, "exec", dont_inherit=True), None
    except SyntaxError as caught:
        code, error = None, caught
    if code is not None and not main_is_old and not _shows_signs(data) and not _beside(data, file):
        return code
    found = _decided(data, file, error)
    if found is None and error is not None:
        raise error.with_traceback(None) from None
    if main and file in told and told[file] == "Python 2":
        main_is_old = True
    return found or code  # type: ignore[return-value]


def begin(script: list[str], stop: set[str], path: list[str]) -> None:
    """Decide of a script whether it ran on Python 2: it stops on Python 3, or imports at its top what does.

    `stop` are the files that do, of all that it may import; `path` is where modules are looked for.
    """
    global main_is_old
    waiting, seen = list(script) if stop else [], set[str]()
    while waiting and not main_is_old:
        file = waiting.pop()
        main_is_old = file in stop
        if not main_is_old and file not in seen:
            seen.add(file)
            waiting += _imported_files(file, path)


def _imported_files(file: str, path: list[str]) -> Iterator[str]:
    """Yield the files that a file imports whenever it is run, those of packages on the way too."""
    try:
        with open(file, "rb") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return
    for statement in tree.body:
        names: list[str] = []
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            names = [statement.module, *(f"{statement.module}.{alias.name}" for alias in statement.names)]
        for name in names:
            parts = name.split(".")
            if parts[0] in sys.modules or parts[0] in sys.stdlib_module_names:
                continue
            for count in range(1, len(parts) + 1):
                places = (os.path.join(place, *parts[:count]) for place in path)
                ways = (f"{place}{end}" for place in places for end in (".py", f"{os.sep}__init__.py"))
                yield from itertools.islice(filter(os.path.isfile, ways), 1)


def stops(data: bytes | str, file: str) -> bool:
    """Return whether Python 3, which can compile a file, must stop when it runs it."""
    beside = _beside(data, file)
    try:
        return bool(beside or _shows_signs(data)) and _fails_on_python3(ast.parse(data), beside)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def is_python2(source: bytes | str) -> bool:
    """Return whether a source that Python 3 does not compile is Python 2."""
    translation = _translation()
    try:
        return translation.translate(translation.text_of(source)).is_python2
    except (translation.RefusedError, SyntaxError, UnicodeDecodeError, RecursionError, MemoryError):
        return False


def parsed(source: bytes | str) -> ast.Module | None:
    """Return the tree of a source that Python 3 does not parse, if it is Python 2."""
    translation = _translation()
    try:
        return translation.translate(translation.text_of(source)).tree
    except (translation.RefusedError, SyntaxError, UnicodeDecodeError, RecursionError, MemoryError):
        return None


def refusal(source: bytes | str) -> tuple[int, str] | None:
    """Return the line at which a source stops being Python 2, and why."""
    translation = _translation()
    try:
        translation.translate(translation.text_of(source))
    except translation.RefusedError as error:
        return error.line, error.why
    except (SyntaxError, UnicodeDecodeError, RecursionError, MemoryError):
        pass
    return None


def code_of(source: Any, mode: str, frame: FrameType, file: str = "<string>") -> CodeType:
    """Return the code of a text that a file of Python 2 runs; `frame` is where it does."""
    divides = "division" not in frame.f_globals
    text = _translation().text_of(source)
    return _code_of(text, mode, file, divides)


@functools.lru_cache(maxsize=256)
def _code_of(text: str, mode: str, file: str, divides: bool) -> CodeType:
    translation = _translation()
    try:
        tree = translation.translate(text, True, divides).tree
    except translation.RefusedError:
        return compile(text, file, mode, dont_inherit=True)
    if mode == "eval":
        if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
            return compile(text, file, mode, dont_inherit=True)
        tree = ast.Expression(tree.body[0].value)
    return compile(tree, file, mode, dont_inherit=True)


def _shows_signs(data: bytes | str) -> bool:
    """Return whether a word of Python 2 stands anywhere in a source: then it is worth a look."""
    text = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    return any(sign in text for sign in _SIGNS) or any(re.search(sign, text, re.M) for sign in (_PRINT, _CALLED))


def _decided(data: bytes | str, file: str, error: SyntaxError | None) -> CodeType | None:
    """Return the code of a file that is Python 2, or uses its names; None where it is neither."""
    tree = ast.parse(data) if error is None else None
    if tree is None or main_is_old or _fails_on_python3(tree, _beside(data, file)):
        translation = _translation()
        try:
            found = translation.translate(translation.text_of(data), error is None)
        except (translation.RefusedError, SyntaxError, UnicodeDecodeError, RecursionError, MemoryError):
            return None
        return _kept(found.tree, file, "Python 2" if found.is_python2 else "an older Python 3")
    text = data if isinstance(data, bytes) else data.encode()
    names = [] if re.search(_KNOWS_BOTH, text) else sorted(set(_used(tree)))
    if not names:
        return None
    return _kept(_meaning().Meaning(whole=False).of(tree), file, ", ".join(names))


def _kept(tree: ast.Module, file: str, seen: str) -> CodeType:
    """Compile a tree, and return code that runs it with what its language has built in."""
    words = importlib.import_module("ebbflow.doors.python2.words")
    importlib.import_module("ebbflow.doors.python2.modules")  # gives them an `__import__`
    code = compile(tree, file, "exec", dont_inherit=True)
    importlib.import_module("ebbflow.functions.autograph.source").trees[file] = lambda lines: tree
    if seen == "an older Python 3":
        return code
    read[file] = (code, words.MODULE if seen == "Python 2" else words.LENDING)
    told[file] = seen
    call = f"__import__({__name__!r}, fromlist=['execute']).execute({file!r}, globals())"
    return compile(call, __file__, "exec", dont_inherit=True)


def execute(file: str, globals: dict[str, Any]) -> None:
    """Run the code of a file of Python 2 in a module."""
    code, built_in = read[file]
    globals["__builtins__"] = built_in
    exec(code, globals)


def _translation() -> Any:
    return importlib.import_module("ebbflow.doors.python2.translation")  # only who meets such a file needs it


def _meaning() -> Any:
    return importlib.import_module("ebbflow.doors.python2.meaning")


# --- signs in a file that Python 3 parses -----------------------------------------------------------------------------


_IMPORTS = rb"(?m)^(?:import|from)[ \t]+([A-Za-z_]\w*)"


def _beside(data: bytes | str, file: str) -> frozenset[str]:
    """Return which modules that a file imports lie in its own package, and nowhere else: Python 2 found them there."""
    place = os.path.dirname(file)
    text = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    if b"sys.path" in text or b"absolute_import" in text or not os.path.exists(os.path.join(place, "__init__.py")):
        return frozenset()
    names = {name.decode() for name in re.findall(_IMPORTS, text)} - sys.modules.keys()
    found = {name for name in names if own_source(os.path.join(place, name))}
    return frozenset(name for name in found if importlib.util.find_spec(name) is None)


def own_source(place: str) -> bool:
    """Return whether a module's source is at a place, its path without an ending."""
    return os.path.exists(f"{place}.py") or os.path.exists(os.path.join(place, "__init__.py"))


def _fails_on_python3(tree: ast.Module, beside: frozenset[str]) -> bool:
    """Return whether a file stops on Python 3 whenever it is run: a name of Python 2 alone is wanted at its top, or a
    module that only its own package has.
    """
    if any(_is_statement(node) for node in ast.walk(tree)):
        return True
    stars = any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in tree.body)
    bound = _bound(tree)
    for statement in tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            if any(name in MODULES | beside or name in LOST for name in _imported(statement)):
                return True
        elif isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign, ast.For)) and not stars:
            certain = statement.iter if isinstance(statement, ast.For) else statement.value
            if any(name in BUILT_IN and name not in bound for name in _certainly_read(certain)):
                return True
    return False


def _is_statement(node: ast.AST) -> bool:
    """Return whether something is a print statement that reads as an expression: `print -x`, `print (a) % b`."""
    if isinstance(node, ast.BinOp):
        printing = node.left.func if isinstance(node.left, ast.Call) else node.left
    elif isinstance(node, ast.Subscript):
        printing = node.value
    else:
        return False
    return isinstance(printing, ast.Name) and printing.id == "print"


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield what a statement imports: modules, and names with the module they are of."""
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif not node.level and node.module:
        yield node.module.partition(".")[0]
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _certainly_read(node: ast.AST) -> Iterator[str]:
    """Yield the names that are read whenever an expression is evaluated."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(
        node, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    ):
        first = {ast.BoolOp: lambda n: n.values[0], ast.IfExp: lambda n: n.test}.get(type(node))
        if first is not None:
            yield from _certainly_read(first(node))
        elif hasattr(node, "generators"):
            yield from _certainly_read(node.generators[0].iter)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _certainly_read(child)


def _bound(tree: ast.Module) -> set[str]:
    """Return the names that a file gives a value to, anywhere."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return found


def _used(tree: ast.Module) -> Iterator[str]:
    """Yield what a file uses of Python 2 without being prepared to find nothing there."""
    bound, guarded = _bound(tree), _guarded(tree)
    for node in ast.walk(tree):
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id in BUILT_IN and node.id not in bound:
                yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name) and f"{node.value.id}.{node.attr}" in LOST and node.value.id in bound:
                yield f"{node.value.id}.{node.attr}"
            elif node.attr in METHODS and not (isinstance(node.value, ast.Name) and node.value.id == "six"):
                yield node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "next":
            if not node.args and not node.keywords and not any(_is_method(one, "next") for one in ast.walk(tree)):
                yield "next"
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = _imported(node)
            yield from (name for name in names if name in MODULES or name in LOST)


def _is_method(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == name


def _guarded(tree: ast.Module) -> set[int]:
    """Return what lies in statements that catch an error and go on in another way."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and node.handlers:
            found |= {id(inside) for statement in node.body for inside in ast.walk(statement)}
    return found


# --- where Python asks for code ---------------------------------------------------------------------------------------


def install(program: Program) -> None:
    """Have the program's files be read in their language, however they are imported or run."""
    libraries = tuple(f"{os.path.abspath(place)}{os.sep}" for place in (*library_places(), PACKAGE) if place)
    python3 = SourceFileLoader.get_code

    def owns(path: Any) -> bool:
        if not isinstance(path, str) or path.startswith(libraries) or not program.owns(path):
            return False
        return not any(f"{os.sep}{place}{os.sep}" in path for place in INSTALLED)

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        if not owns(self.path):
            return python3(self, fullname)
        return _module_code(self.path, lambda: python3(self, fullname))

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    watch.after_import("runpy", functools.partial(_teach_runpy, owns))
    watch.after_import("_pytest.assertion.rewrite", functools.partial(_teach_pytest, owns))


def _module_code(path: str, python3: Callable[[], CodeType | None]) -> CodeType | None:
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError:
        return python3()
    error = None
    if not main_is_old and not _shows_signs(data) and not _beside(data, path):
        try:
            return python3()
        except SyntaxError as caught:
            error = caught
    try:
        return compiled(data, path)
    except SyntaxError:
        if error is not None:
            raise error from None
        return python3()


def _teach_runpy(owns: Callable[[Any], bool], runpy: ModuleType) -> None:
    """Have `run_path`, by which a pool's process runs the script, read the program's files in their language."""
    python3 = getattr(runpy, "_get_code_from_file", None)
    if python3 is None:
        return

    def get(*args: Any) -> Any:
        file = args[-1]
        if not owns(os.path.abspath(file)):
            return python3(*args)
        with open(file, "rb") as stream:
            code = compiled(stream.read(), os.path.abspath(file), main=True)
        return code if len(args) == 1 else (code, file)

    runpy._get_code_from_file = get  # type: ignore[attr-defined]


def _teach_pytest(owns: Callable[[Any], bool], rewrite: ModuleType) -> None:
    """Have tests that are Python 2 run as they are, without what pytest puts around their `assert`s."""
    python3 = getattr(rewrite, "_rewrite_test", None)
    if python3 is None:
        return

    def read_test(path: Any, config: Any) -> Any:
        if owns(str(path)):
            with open(path, "rb") as stream:
                data = stream.read()
            try:
                code = compiled(data, str(path))
            except SyntaxError:
                return python3(path, config)
            if str(path) in read:
                return os.stat(path), code
        return python3(path, config)

    rewrite._rewrite_test = read_test  # type: ignore[attr-defined]


def report() -> str:
    """Return one line that says which files were read as Python 2, or lent its names; or nothing."""
    old = [os.path.basename(file) for file, seen in told.items() if seen == "Python 2"]
    lent = sorted({name for seen in told.values() if seen != "Python 2" for name in seen.split(", ")})
    shown = ", ".join(old[:5]) + (f" and {len(old) - 5} more" if len(old) > 5 else "")
    lines = [f"ebbflow: read as Python 2: {shown}"] if old else []
    lines += [f"ebbflow: lent to this program, because only Python 2 has them: {', '.join(lent)}"] if lent else []
    return "\n".join(lines)
