"""What Python 2 had built in: the `__builtins__` of the program's files that are written in it.

Text is text here as it is in Python 3, and bytes are bytes: what a file holds is read as UTF-8, with what is none kept
as it is. `meaning` puts calls of the functions with `__py2_` names into a tree. Knows nothing of which file asks, but
by the frame that calls.
"""

from __future__ import annotations

import base64
import binascii
import builtins
import codecs
import collections.abc
import decimal
import functools
import importlib
import io
import itertools
import math
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, ModuleType
from typing import Any

import numpy as np

ESCAPE = "surrogateescape"

# --- statements -------------------------------------------------------------------------------------------------------


def print_to(file: Any, newline: bool, *items: Any) -> None:
    """Print as the statement did: a space between two items, also where the first one ended a statement in a comma."""
    file = sys.stdout if file is None else file
    if file is None:
        return
    pieces, space = [], bool(getattr(file, "softspace", False))
    for item in items:
        text = item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)
        pieces += [" ", text] if space else [text]
        space = not (text and text[-1].isspace() and text[-1] != " ")
    if newline:
        pieces.append("\n")
    text = "".join(pieces)
    try:
        file.write(text)
    except UnicodeEncodeError:
        file.write(text.encode("utf-8", ESCAPE).decode(file.encoding or "ascii", "replace"))
    if newline:
        space = False
    if space or getattr(file, "softspace", False):
        _remember_space(file, space)


def _remember_space(file: Any, space: bool) -> None:
    """Note that the next item wants a space first, unless something else is written before it."""
    try:
        if space and not hasattr(file, "softspace") and isinstance(file, io.TextIOBase):
            write = file.write

            def writes(text: str) -> int:
                file.softspace = False  # type: ignore[attr-defined]
                return write(text)

            file.write = writes  # type: ignore[method-assign]
        file.softspace = space
    except (AttributeError, TypeError):
        pass  # it takes no attributes


def raised(kind: Any, value: Any = None, trace: Any = None) -> BaseException:
    """Return what `raise kind, value, trace` raises."""
    if isinstance(kind, type) and issubclass(kind, BaseException):
        if value is None:
            kind = kind()
        elif isinstance(value, kind):
            kind = value
        else:
            kind = kind(*value) if isinstance(value, tuple) else kind(value)
    if not isinstance(kind, BaseException):
        raise TypeError(f"exceptions must be derived from BaseException, not {type(kind).__name__}")
    return kind.with_traceback(trace)


def run_code(code: Any, globals: Any = None, locals: Any = None) -> None:
    """`exec code in globals, locals`, or in the scope that it stands in."""
    if isinstance(code, tuple) and globals is None:
        code, globals, locals = (*code, None, None)[:3]
    frame = sys._getframe(1)
    code = _files().code_of(code, "exec", frame) if isinstance(code, (str, bytes)) else code
    if globals is not None:
        globals.setdefault("__builtins__", MODULE)
        exec(code, globals, globals if locals is None else locals)
        return
    scope = frame.f_locals
    known = set(scope)
    exec(code, frame.f_globals, scope)
    if scope is not frame.f_globals:  # a function reads names that it does not bind itself from its module
        for name in set(scope) - known:
            frame.f_globals.setdefault(name, scope[name])


def run_file(name: Any, globals: Any = None, locals: Any = None) -> None:
    """`execfile`."""
    frame = sys._getframe(1)
    with open(name, "rb") as file:
        code = _files().code_of(file.read(), "exec", frame, str(name))
    there = frame.f_globals if globals is None else globals
    there.setdefault("__builtins__", MODULE)
    exec(code, there, (frame.f_locals if globals is None else there) if locals is None else locals)


def evaluate(source: Any, globals: Any = None, locals: Any = None) -> Any:
    """`eval` of a text of Python 2."""
    return _evaluate(source, globals, locals, sys._getframe(1))


def _evaluate(source: Any, globals: Any, locals: Any, frame: FrameType) -> Any:
    if isinstance(source, (str, bytes)):
        source = _files().code_of(source.strip(), "eval", frame)
    if globals is None:
        return eval(source, frame.f_globals, frame.f_locals)
    globals.setdefault("__builtins__", MODULE)
    return eval(source, globals, globals if locals is None else locals)


def compiled(source: Any, filename: str, mode: str, *args: Any, **kwargs: Any) -> Any:
    """`compile` of a text of Python 2."""
    if isinstance(source, (str, bytes)) and mode in ("exec", "eval") and not args and not kwargs:
        return _files().code_of(source, mode, sys._getframe(1), filename)
    return compile(source, filename, mode, *args, **kwargs)


def _files() -> Any:
    return importlib.import_module("ebbflow.doors.python2.files")  # it imports this module when it needs it


def import_all(globals: dict[str, Any], name: str, level: int) -> None:
    """`from name import *` inside a function."""
    module = MODULE.__import__(name, globals, None, ("*",), level)
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    globals.update({one: getattr(module, one) for one in names})


# --- operators --------------------------------------------------------------------------------------------------------


def divide(a: Any, b: Any) -> Any:
    """`a / b`: of integers it is the integer below."""
    if type(a) is int and type(b) is int:
        return a // b
    if type(a) is float or type(b) is float:
        return a / b
    if _whole(a) and _whole(b):
        return a // b
    for here, there, name in ((a, b, "__div__"), (b, a, "__rdiv__")):
        method = getattr(type(here), name, None)
        found = NotImplemented if method is None else method(here, there)
        if found is not NotImplemented:
            return found
    return a / b


def try_to_divide(a: Any, b: Any) -> Any:
    """`a / b` as today; as Python 2 divided, where that fails."""
    try:
        return a / b
    except TypeError:
        return divide(a, b)


def divide_in_place(a: Any, b: Any) -> Any:
    """`a /= b`."""
    if isinstance(a, np.ndarray):
        return operator.ifloordiv(a, b) if _whole(a) and _whole(b) else operator.itruediv(a, b)
    method = getattr(type(a), "__idiv__", None)
    found = NotImplemented if method is None else method(a, b)
    if found is not NotImplemented:
        return found
    return operator.itruediv(a, b) if hasattr(type(a), "__itruediv__") else divide(a, b)


def _whole(value: Any) -> bool:
    """Return whether a value is an integer, or an array of integers."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "iub"
    return isinstance(value, int)


def compare(a: Any, b: Any) -> int:
    """`cmp`: what is of different kinds has an order too: None, numbers, and then by the name of the type."""
    if a is b or a == b:
        return 0
    try:
        return -1 if a < b else 1
    except TypeError:
        ranks = [(x is not None, "" if isinstance(x, (int, float)) else type(x).__name__) for x in (a, b)]
        if ranks[0] == ranks[1] and isinstance(a, dict):
            ranks = [(len(x), sorted(map(repr, x.items()))) for x in (a, b)]  # type: ignore[misc]
        return -1 if ranks[0] < ranks[1] else 1


def ordered(
    values: Iterable[Any], cmp: Callable[..., int] | None = None, key: Any = None, reverse: bool = False
) -> list[Any]:
    """`sorted`."""
    found = list(values)
    sort_list(found, cmp, key, reverse)
    return found


def sort_list(values: Any, *args: Any, **kwargs: Any) -> Any:
    """`values.sort(cmp, key, reverse)`."""
    if not isinstance(values, list):
        return values.sort(*args, **kwargs)
    given = {**dict(zip(("cmp", "key", "reverse"), args, strict=False)), **kwargs}
    cmp, key, reverse = given.get("cmp"), given.get("key"), bool(given.get("reverse"))
    if cmp is None:
        try:
            values.sort(key=key, reverse=reverse)
            return None
        except TypeError:
            cmp = compare
    by = functools.cmp_to_key(cmp)
    values.sort(key=by if key is None else lambda value: by(key(value)), reverse=reverse)
    return None


# --- methods ----------------------------------------------------------------------------------------------------------


def _iterating(what: str, owner: Any) -> Callable[[], Iterator[Any]]:
    return lambda: iter(getattr(owner, what)())


_OF_FUNCTIONS = ["name", "code", "defaults", "globals", "closure", "dict", "doc"]
ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    **{f"iter{what}": functools.partial(_iterating, what) for what in ("items", "keys", "values")},
    **{f"view{what}": operator.attrgetter(what) for what in ("items", "keys", "values")},
    **{f"func_{what}": operator.attrgetter(f"__{what}__") for what in _OF_FUNCTIONS},
    "has_key": lambda x: lambda key: key in x,
    "next": operator.attrgetter("__next__"),
    "message": lambda x: x.args[0] if len(x.args) == 1 else "",
    "im_func": operator.attrgetter("__func__"),
    "im_self": operator.attrgetter("__self__"),
    "im_class": lambda x: type(x.__self__),
}
"""What an object had under a name -> how it is had now."""


def attribute(owner: Any, name: str) -> Any:
    """Return an attribute that has another name now, if the object has none of this one."""
    try:
        return getattr(owner, name)
    except AttributeError as error:
        try:
            return ATTRIBUTES[name](owner)
        except AttributeError:
            raise error from None


_LISTED = (collections.abc.KeysView, collections.abc.ValuesView, collections.abc.ItemsView)


def listed(found: Any) -> Any:
    """Return a list where `keys`, `values` or `items` gave a view."""
    return list(found) if isinstance(found, _LISTED) else found


_SAME = frozenset(["utf_8", "utf8", "u8", "utf", "utf_8_sig"])
_PACKED = frozenset(["hex", "base64", "zlib", "bz2", "string_escape", "rot13", "rot_13"])


def encode(text: Any, *args: Any, **kwargs: Any) -> Any:
    """`text.encode(…)`: text in UTF-8 was a `str`, and that is what text is."""
    if not isinstance(text, str):
        return text.encode(*args, **kwargs)
    name, errors = _words(*args, **kwargs)
    if name in _SAME:
        return text
    if name in ("ascii", "us_ascii"):
        return text.encode("ascii", errors).decode("ascii")
    if name == "hex":
        return binascii.hexlify(_raw(text)).decode("ascii")
    if name == "base64":
        return base64.encodebytes(_raw(text)).decode("ascii")
    if name in ("string_escape", "unicode_escape"):
        return text.encode("unicode_escape").decode("ascii")
    data: Any = _raw(text) if name in ("zlib", "bz2") else text
    return codecs.encode(data, name, errors)


def decode(text: Any, *args: Any, **kwargs: Any) -> Any:
    """`text.decode(…)`: what has been read as UTF-8 is text already."""
    if not isinstance(text, str):
        name, errors = _words(*args, **kwargs)
        return codecs.decode(text, name, errors) if isinstance(text, bytes) else text.decode(*args, **kwargs)
    name, errors = _words(*args, **kwargs)
    if name in _PACKED:
        if name == "string_escape":
            return codecs.decode(_raw(text), "unicode_escape")
        data: Any = text if name.startswith("rot") else _raw(text)
        return codecs.decode(data, name, errors)
    if name == "unicode_escape":
        return codecs.decode(text.encode("latin-1", "backslashreplace"), "unicode_escape")
    strange = any("\ud800" <= character <= "\udfff" for character in text)
    if strange or name not in (*_SAME, "ascii", "us_ascii", "latin_1", "latin1", "iso_8859_1"):
        return text.encode("utf-8", ESCAPE).decode(name, errors)
    return text


def _words(encoding: str = "utf-8", errors: str = "strict") -> tuple[str, str]:
    return (encoding or "utf-8").lower().replace("-", "_"), errors


def _raw(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", ESCAPE)


def translate(text: Any, table: Any, delete: Any) -> Any:
    """`text.translate(table, characters to leave out)`."""
    if not isinstance(text, str):
        return text.translate(table, delete)
    kept = "".join(character for character in text if character not in delete)
    return kept if table is None else kept.translate(table)


def as_then(kind: Any) -> Any:
    """Give a class the methods that Python asks for today, where it has those that it was asked for then."""
    own = dict(vars(kind))
    new: dict[str, Any] = {}
    for old, now in (("__nonzero__", "__bool__"), ("__unicode__", "__str__"), ("__div__", "__truediv__"),
                     ("__rdiv__", "__rtruediv__"), ("__idiv__", "__itruediv__")):  # fmt: skip
        if old in own and now not in own:
            new[now] = own[old]
    if "next" in own and hasattr(kind, "__iter__") and "__next__" not in own:
        new["__next__"] = lambda self: self.next()
    if "__cmp__" in own:
        answers = {"lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__", "eq": "__eq__"}
        new |= {there: _by_cmp(getattr(operator, how)) for how, there in answers.items() if there not in own}
    if ("__eq__" in own or "__eq__" in new) and own.get("__hash__") is None:
        new["__hash__"] = next(vars(base)["__hash__"] for base in kind.__mro__[1:] if vars(base).get("__hash__"))
    if "__getslice__" in own:
        new["__getitem__"] = _with_slices(own.get("__getitem__"))
    for name, value in new.items():
        setattr(kind, name, value)
    return kind


def _by_cmp(how: Callable[[int, int], bool]) -> Callable[[Any, Any], Any]:
    def answer(self: Any, other: Any) -> Any:
        found = self.__cmp__(other)
        return found if found is NotImplemented else how(found, 0)

    return answer


def _with_slices(item: Any) -> Callable[[Any, Any], Any]:
    def get(self: Any, key: Any) -> Any:
        if isinstance(key, slice) and key.step is None:
            return self.__getslice__(key.start or 0, sys.maxsize if key.stop is None else key.stop)
        return item(self, key)

    return get


# --- built in ---------------------------------------------------------------------------------------------------------


class _Texts(type):
    """Of which texts are instances."""

    kinds: tuple[type, ...] = (str,)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.kinds) if cls.__module__ == __name__ else type.__instancecheck__(cls, value)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.kinds) if cls.__module__ == __name__ else type.__subclasscheck__(cls, kind)


class unicode(str, metaclass=_Texts):  # noqa: N801
    """Text; every `str` is one."""

    def __new__(cls, value: Any = "", encoding: str = "utf-8", errors: str = "strict") -> Any:
        text = value.decode(encoding, errors) if isinstance(value, (bytes, bytearray)) else str(value)
        return text if cls is unicode else str.__new__(cls, text)


class basestring(metaclass=_Texts):  # noqa: N801
    """What texts and bytes are instances of."""

    kinds = (str, bytes)


class _Files(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, io.IOBase)


class file(metaclass=_Files):  # noqa: N801
    """Makes what `open` does."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return open_file(*args, **kwargs)


class TextFile(io.TextIOWrapper):
    """A file of text that takes bytes as well, and keeps what is no UTF-8."""

    mode = "r"

    def write(self, text: Any) -> int:
        self.softspace = False
        return super().write(text.decode("utf-8", ESCAPE) if isinstance(text, bytes) else text)

    def xreadlines(self) -> TextFile:
        """Return itself: its lines, one after the other."""
        return self


class BinaryFile(io.BufferedWriter):
    """A file that is written; it takes text as well."""

    def write(self, data: Any) -> int:
        return super().write(data.encode("utf-8", ESCAPE) if isinstance(data, str) else data)


def open_file(name: Any, mode: str = "r", buffering: int = -1, *args: Any, **kwargs: Any) -> Any:
    """`open`; what it is given that Python 2's was not, is for today's."""
    if args or kwargs:
        return builtins.open(name, mode, buffering, *args, **kwargs)
    plain = mode.replace("U", "").replace("t", "") or "r"
    plain = plain if plain[0] in "rwax" else f"r{plain}"
    if "b" in plain:
        if plain.replace("b", "") in ("w", "a"):
            return BinaryFile(io.FileIO(name, plain.replace("b", "")))
        return builtins.open(name, plain)
    file = TextFile(
        builtins.open(name, f"{plain}b"),  # noqa: SIM115  # closed with the file around it
        "utf-8",
        ESCAPE,
        newline=None if "U" in mode else "\n",
        line_buffering=buffering in (0, 1),
    )
    file.mode = mode
    return file


def as_list(*args: Any) -> list[int]:
    """`range`."""
    return list(range(*args))


def whole_numbers(*args: Any) -> range:
    """`xrange` in a file that divides as today: Python 2 took no floats, so what is one was an integer then."""
    return range(*(math.floor(one) if isinstance(one, float) else one for one in args))


def mapped(function: Any, *values: Any) -> list[Any]:
    """`map`: shorter rows go on with None."""
    if len(values) == 1:
        return list(values[0]) if function is None else [function(value) for value in values[0]]
    rows = itertools.zip_longest(*values)
    return list(rows) if function is None else list(itertools.starmap(function, rows))


def filtered(function: Any, values: Any) -> Any:
    """`filter`: of a text a text, of a tuple a tuple."""
    found = filter(function, values)
    if isinstance(values, str):
        return "".join(found)
    return tuple(found) if isinstance(values, tuple) else list(found)


class Whole(float):
    """A float without a fraction, which is an index as well: NumPy took floats for indices until 1.12."""

    def __index__(self) -> int:
        return int(self)


def _whole_result(name: str) -> Callable[[Any, Any], Any]:
    plain = getattr(float, name)

    def compute(self: Any, other: Any) -> Any:
        found = plain(self, other)
        whole = isinstance(other, (int, Whole)) and isinstance(found, float) and math.isfinite(found)
        return Whole(found) if whole else found

    return compute


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul"):
    setattr(Whole, f"__{_name}__", _whole_result(f"__{_name}__"))


def floor(number: Any) -> Whole:
    """`math.floor`, which gave a float."""
    return Whole(math.floor(number))


def ceil(number: Any) -> Whole:
    """`math.ceil`, which gave a float."""
    return Whole(math.ceil(number))


def rounded(number: Any, ndigits: int = 0) -> float:
    """`round`: halves go away from zero, and it is a float."""
    value = float(number)
    if not math.isfinite(value):
        return value
    with decimal.localcontext() as context:
        context.prec = 400
        step = decimal.Decimal(1).scaleb(-ndigits)
        found = float(decimal.Decimal(value).quantize(step, decimal.ROUND_HALF_UP))
    return found if ndigits > 0 else Whole(found)


def reload(module: ModuleType) -> ModuleType:
    """`reload`; of `sys`, which was done to find `setdefaultencoding` in it, nothing."""
    return module if module.__name__ == "sys" else importlib.reload(sys.modules.get(module.__name__, module))


def asked(prompt: Any = "") -> Any:
    """`input`, which evaluates what it is given."""
    return _evaluate(input(prompt), None, None, sys._getframe(1))


def octal(number: Any) -> str:
    """`oct`, without its letter."""
    text = oct(number)
    return text.replace("0o", "0", 1) if number else "0"


def code_point(character: Any) -> int:
    """`ord`, which takes what an index finds in bytes."""
    return character if isinstance(character, int) else ord(character)


def interned(text: str) -> str:
    """`intern`."""
    return sys.intern(text)


LENT: dict[str, Any] = {
    "xrange": range, "unicode": unicode, "basestring": basestring, "long": int, "unichr": chr, "raw_input": input,
    "reduce": functools.reduce, "cmp": compare, "apply": lambda function, args=(), kwargs=None: function(
        *args, **(kwargs or {})
    ),
    "execfile": run_file, "reload": reload, "intern": interned, "file": file, "buffer": memoryview,
    "coerce": lambda a, b: ((a, b) if type(a) is type(b) else (a + 0 * b, b + 0 * a)), "StandardError": Exception,
    "__py2_attribute__": attribute,
}  # fmt: skip
"""Names that were built in, and are no more."""

CHANGED: dict[str, Any] = {
    "range": as_list, "map": mapped, "filter": filtered, "zip": lambda *rows: list(zip(*rows, strict=False)),
    "sorted": ordered, "round": rounded, "open": open_file, "input": asked, "eval": evaluate, "compile": compiled,
    "oct": octal, "ord": code_point,
    "__py2_print__": print_to, "__py2_exec__": run_code, "__py2_raised__": raised, "__py2_divide__": divide,
    "__py2_divide_in_place__": divide_in_place, "__py2_listed__": listed, "__py2_sort__": sort_list,
    "__py2_encode__": encode, "__py2_decode__": decode, "__py2_translate__": translate, "__py2_class__": as_then,
    "__py2_import_all__": import_all,
}  # fmt: skip
"""Names that mean something else today, and those that `meaning` uses."""


DIVIDING = {"__py2_try_to_divide__": try_to_divide, "__py2_listed__": listed}
"""What `meaning` uses in files that are lent names."""


def _module(name: str, names: dict[str, Any]) -> Any:
    module = ModuleType(name)
    vars(module).update({**vars(builtins), **names, "__name__": name})
    return module


MODULE: Any = _module("__builtin__", {**LENT, **CHANGED})
"""`__builtin__`, as the program's files of Python 2 have it."""

LENDING: Any = _module("builtins", {**LENT, "xrange": whole_numbers, **DIVIDING})
"""`builtins`, with what is lent to files of Python 3 that use names of Python 2."""
