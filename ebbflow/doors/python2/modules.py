"""What `import` finds in a file of Python 2: modules of its own package first, and the names that modules had.

A module that was renamed, or has lost names, or takes no text where it took `str`, is seen through a view: what the
view does not know itself it asks the modules of today for, and what is set on it is set on them. Only the file that
imports it sees it. Knows nothing of who asks, but by the `globals` that `__import__` is given.
"""

from __future__ import annotations
import __future__

import base64
import builtins
import csv
import functools
import hashlib
import importlib
import importlib.util
import io
import itertools
import json
import operator
import os
import pickle
import string
import subprocess
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from ebbflow.doors import vanished
from ebbflow.doors.python2 import words


class View(ModuleType):
    """A module as Python 2 had it: names of its own, and those of modules of today."""

    def __init__(self, name: str, sources: tuple[str, ...], names: dict[str, Any]) -> None:
        super().__init__(name, f"`{name}` as Python 2 had it.")
        vars(self).update(names)
        vars(self)["_sources"], vars(self)["_names"] = sources, tuple(names)

    def __getattr__(self, name: str) -> Any:
        for source in vars(self)["_sources"]:
            found = getattr(importlib.import_module(source), name, self)
            if found is not self:
                return found
        if name == "__all__":
            return dir(self)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self).pop(name, None)
        sources = vars(self)["_sources"]
        setattr(importlib.import_module(sources[0]), name, value) if sources else vars(self).update({name: value})

    def __dir__(self) -> list[str]:
        found = set(vars(self)["_names"])
        for source in vars(self)["_sources"]:
            module = importlib.import_module(source)
            found |= set(getattr(module, "__all__", None) or (n for n in dir(module) if not n.startswith("_")))
        return sorted(found)


# --- pickles ----------------------------------------------------------------------------------------------------------

ENCODINGS = ("ASCII", "utf-8", "latin1")
"""What texts in a pickle of Python 2 are tried as; arrays in it want the last."""


def load(file: Any) -> Any:
    """Read a pickle of Python 2, or of today, from a file that may have been opened as text."""
    source = getattr(file, "buffer", file)
    begin = source.tell() if source.seekable() else None
    for encoding in ENCODINGS if begin is not None else ENCODINGS[-1:]:
        try:
            return pickle.load(source, encoding=encoding)
        except (UnicodeDecodeError, ValueError, TypeError):
            if encoding == ENCODINGS[-1] or begin is None:
                raise
            source.seek(begin)
    return None


def loads(text: Any) -> Any:
    """Read a pickle from a text or bytes."""
    return load(io.BytesIO(text.encode("latin-1") if isinstance(text, str) else text))


def dump(value: Any, file: Any, protocol: int | None = None, **kwargs: Any) -> None:
    """Write a pickle to a file that may have been opened as text."""
    pickle.dump(value, getattr(file, "buffer", file), protocol, **kwargs)


# --- text where bytes are wanted --------------------------------------------------------------------------------------


class StringIO:
    """A file in memory: of text or of bytes, as it is given or as is first written."""

    def __init__(self, buf: Any = "") -> None:
        self._file: Any = io.BytesIO(buf) if isinstance(buf, (bytes, bytearray)) else io.StringIO(buf)

    def write(self, data: Any) -> Any:
        """Write; bytes into a file that was empty make it one of bytes."""
        if isinstance(data, bytes) and isinstance(self._file, io.StringIO):
            if self._file.getvalue():
                data = data.decode("utf-8", words.ESCAPE)
            else:
                self._file = io.BytesIO()
        elif isinstance(data, str) and isinstance(self._file, io.BytesIO):
            data = data.encode("utf-8", words.ESCAPE)
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)

    def __enter__(self) -> StringIO:
        return self

    def __exit__(self, *error: Any) -> None:
        self._file.close()


def _data(text: Any) -> Any:
    return text.encode("utf-8", words.ESCAPE) if isinstance(text, str) else text


class Digest:
    """A digest that takes text."""

    def __init__(self, made: Any) -> None:
        self._made = made

    def update(self, data: Any) -> None:
        """Go on with more data."""
        self._made.update(_data(data))

    def copy(self) -> Digest:
        """Return one that goes on from here."""
        return Digest(self._made.copy())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)


def _digest(make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda data=b"", *args, **kwargs: Digest(make(_data(data), *args, **kwargs))


def _new_digest(name: str, data: Any = b"") -> Digest:
    return Digest(hashlib.new(name, _data(data)))


def _to_text(function: Callable[..., bytes]) -> Callable[..., str]:
    return lambda data, *args: function(_data(data), *args).decode("ascii")


def _lines(rows: Iterable[Any]) -> Iterator[str]:
    return (row.decode("utf-8", words.ESCAPE) if isinstance(row, bytes) else row for row in rows)


def _reading(make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda rows, *args, **kwargs: make(_lines(rows), *args, **kwargs)


def check_output(*args: Any, **kwargs: Any) -> Any:
    """Return what a command prints: text where it is text."""
    found = subprocess.check_output(*args, **kwargs)
    try:
        return found.decode("utf-8") if isinstance(found, bytes) else found
    except UnicodeDecodeError:
        return found


def _without_encoding(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of `json` that may be told an encoding."""

    @functools.wraps(function)
    def call(*args: Any, encoding: Any = None, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


# --- names ------------------------------------------------------------------------------------------------------------


def _joined(rows: Iterable[str], between: str = " ") -> str:
    return between.join(rows)


def _table(before: str, after: str) -> str:
    """`string.maketrans`: a text of 256 characters."""
    found = [chr(number) for number in range(256)]
    for old, new in zip(before, after, strict=True):
        found[ord(old)] = new
    return "".join(found)


_METHODS = """
    split rsplit replace strip lstrip rstrip lower upper find rfind index rindex count zfill ljust rjust center
    capitalize swapcase expandtabs
"""
STRING = {
    "letters": string.ascii_letters, "lowercase": string.ascii_lowercase, "uppercase": string.ascii_uppercase,
    "join": _joined, "joinfields": _joined, "maketrans": _table, "atoi": int, "atol": int, "atof": float,
    **{name: getattr(str, name) for name in _METHODS.split()},
}  # fmt: skip
ITERTOOLS = {
    "izip": zip, "imap": map, "ifilter": filter,
    "izip_longest": itertools.zip_longest, "ifilterfalse": itertools.filterfalse,
}  # fmt: skip
TYPES = {
    "BooleanType": bool, "IntType": int, "LongType": int, "FloatType": float, "ComplexType": complex,
    "StringType": str, "UnicodeType": str, "StringTypes": (str,), "TupleType": tuple, "ListType": list,
    "DictType": dict, "DictionaryType": dict, "FileType": io.IOBase, "ObjectType": object, "TypeType": type,
    "ClassType": type, "InstanceType": object, "NoneType": type(None), "UnboundMethodType": types.FunctionType,
    "SliceType": slice, "XRangeType": range, "BufferType": memoryview,
}  # fmt: skip
OPERATOR = {
    "div": words.divide, "idiv": words.divide_in_place, "isCallable": callable,
    "isSequenceType": lambda x: hasattr(x, "__getitem__") and not isinstance(x, dict),
    "isMappingType": lambda x: isinstance(x, dict), "isNumberType": lambda x: isinstance(x, (int, float, complex)),
    "sequenceIncludes": operator.contains, "repeat": operator.mul,
}  # fmt: skip
SYS = {"maxint": sys.maxsize, "setdefaultencoding": lambda name: None, "exc_clear": lambda: None, "py3kwarning": False}
HASHES = {name: _digest(getattr(hashlib, name)) for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")}

ADDED: dict[str, dict[str, Any]] = {
    "string": STRING, "itertools": ITERTOOLS, "types": TYPES, "operator": OPERATOR, "sys": SYS,
    "os": {"getcwdu": os.getcwd},
}  # fmt: skip
"""Modules of today -> names that they had besides."""

SOURCES: dict[str, str] = {
    "urllib": "urllib.request urllib.parse urllib.error urllib.response urllib",
    "urllib2": "urllib.request urllib.error urllib.parse http.client",
    "urlparse": "urllib.parse", "robotparser": "urllib.robotparser",
    "Queue": "queue", "ConfigParser": "configparser", "SocketServer": "socketserver", "copy_reg": "copyreg",
    "httplib": "http.client", "HTMLParser": "html.parser", "htmlentitydefs": "html.entities",
    "Cookie": "http.cookies", "cookielib": "http.cookiejar", "xmlrpclib": "xmlrpc.client",
    **dict.fromkeys(("BaseHTTPServer", "SimpleHTTPServer", "CGIHTTPServer"), "http.server"),
    "SimpleXMLRPCServer": "xmlrpc.server", "DocXMLRPCServer": "xmlrpc.server",
    "Tkinter": "tkinter", "tkMessageBox": "tkinter.messagebox", "tkFileDialog": "tkinter.filedialog",
    "tkSimpleDialog": "tkinter.simpledialog", "tkFont": "tkinter.font", "ttk": "tkinter.ttk",
    "ScrolledText": "tkinter.scrolledtext", "thread": "_thread", "dummy_thread": "_thread",
    "dummy_threading": "threading", "anydbm": "dbm", "whichdb": "dbm", "dumbdbm": "dbm.dumb", "repr": "reprlib",
    "commands": "subprocess", "UserDict": "collections", "UserList": "collections", "UserString": "collections",
    "cPickle": "pickle", "pickle": "pickle", "exceptions": "builtins", "sets": "", "md5": "", "sha": "", "new": "",
    "StringIO": "", "cStringIO": "", "csv": "csv", "hashlib": "hashlib", "base64": "base64", "json": "json",
    "math": "math", "subprocess": "subprocess", "future_builtins": "builtins",
    "email.MIMEText": "email.mime.text", "email.MIMEMultipart": "email.mime.multipart",
    "email.MIMEBase": "email.mime.base", "email.MIMEImage": "email.mime.image", "email.Encoders": "email.encoders",
    "email.Utils": "email.utils", "email.Header": "email.header",
    **{name: name for name in ADDED},
}  # fmt: skip
"""Modules that Python 2 had -> the modules of today that have their names."""

NAMES: dict[str, dict[str, Any]] = {
    **ADDED,
    **{name: {"load": load, "loads": loads, "dump": dump} for name in ("pickle", "cPickle")},
    **{name: {"StringIO": StringIO} for name in ("StringIO", "cStringIO")},
    "exceptions": {"StandardError": Exception},
    "sets": {"Set": set, "ImmutableSet": frozenset},
    "md5": {"new": HASHES["md5"], "md5": HASHES["md5"]},
    "sha": {"new": HASHES["sha1"], "sha": HASHES["sha1"]},
    "hashlib": {**HASHES, "new": _new_digest},
    "new": {"instancemethod": types.MethodType, "function": types.FunctionType, "classobj": type, "module": ModuleType},
    "csv": {"reader": _reading(csv.reader), "DictReader": _reading(csv.DictReader)},
    "json": {name: _without_encoding(getattr(json, name)) for name in ("load", "loads", "dump", "dumps")},
    "base64": {
        **{name: _to_text(getattr(base64, name)) for name in ("b64encode", "standard_b64encode", "urlsafe_b64encode")},
        "encodestring": _to_text(base64.encodebytes), "decodestring": lambda data: base64.decodebytes(_data(data)),
    },
    "math": {"floor": words.floor, "ceil": words.ceil},
    "subprocess": {"check_output": check_output},
}  # fmt: skip
"""Modules that Python 2 had -> names of theirs that today's have not, or take no text for."""

LATE = {
    "UserDict": {"IterableUserDict": ("collections", "UserDict"), "DictMixin": ("collections.abc", "MutableMapping")},
    "ConfigParser": {"SafeConfigParser": ("configparser", "ConfigParser")},
}
"""Names that are others' now, in modules that are not worth importing before they are asked for."""


@functools.cache
def view(name: str) -> Any:
    """Return a module as Python 2 had it."""
    if name == "__builtin__":
        return words.MODULE
    late = {old: getattr(importlib.import_module(at), new) for old, (at, new) in LATE.get(name, {}).items()}
    return View(name, tuple(SOURCES[name].split()), {**NAMES.get(name, {}), **late})


def has_view(name: str) -> bool:
    """Return whether a module is seen through a view."""
    return name in SOURCES or name == "__builtin__"


def importing(then: bool) -> Callable[..., Any]:
    """Return the `__import__` of files of Python 2, or (`then` false) of others that use its names."""

    def find(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        python = builtins.__import__
        if then and level <= 0 and _beside(name, globals):
            return python(name, globals, locals, fromlist, 1)
        level = max(level, 0)
        first = name.partition(".")[0]
        if level or not (has_view(name) or has_view(first)):
            return _or_gone(python, name, globals, locals, fromlist, level)
        of_today = (then or name in ADDED or name == "urllib") and first in sys.stdlib_module_names
        if has_view(name) and (fromlist or "." not in name) and (of_today or not _exists(name)):
            return view(name)  # a `new.py` of the program's own comes before what Python 2 had
        found = python(name, globals, locals, fromlist, level)
        return view(first) if not fromlist and (then or first in ADDED) and has_view(first) and of_today else found

    return find


def _or_gone(python: Callable[..., Any], name: str, globals: Any, locals: Any, fromlist: Any, level: int) -> Any:
    try:
        return python(name, globals, locals, fromlist, level)
    except ModuleNotFoundError as error:
        if level or name not in vanished.GONE or not f"{name}.".startswith(f"{error.name}."):
            raise
    found = importlib.import_module(vanished.GONE[name])
    return found if fromlist or "." not in name else vanished.chain(name, found)


def _exists(name: str) -> bool:
    return name in sys.modules or importlib.util.find_spec(name) is not None


def _beside(name: str, globals: Any) -> bool:
    """Return whether a name is first of all a module of the package that imports it."""
    package = (globals or {}).get("__package__")
    if not package or not name or isinstance(globals.get("absolute_import"), __future__._Feature):
        return False
    return _in_package(package, name.partition(".")[0])


@functools.cache
def _in_package(package: str, name: str) -> bool:
    full = f"{package}.{name}"
    if full in sys.modules:
        return True
    try:
        return importlib.util.find_spec(full) is not None
    except (ImportError, AttributeError, ValueError):
        return False


vars(words.MODULE)["__import__"] = importing(then=True)
vars(words.LENDING)["__import__"] = importing(then=False)
