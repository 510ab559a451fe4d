"""Functions of pandas, Matplotlib, librosa, PyYAML and Python as the program being run called them in its years.

A function is called as it is now; where that fails, and the program's own code called, it is called as it was then. A
few do not fail but give something else now: the program gets what they gave. Knows nothing of TensorFlow.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ebbflow.doors.old_manners import Keeper

Call = Callable[..., Any]


# --- how each was called; NotImplemented where that would have failed as well -----------------------------------------


def by_place(now: Call, *args: Any, **kwargs: Any) -> Any:
    """Call with arguments that are given by place and must be named today."""
    parameters = inspect.signature(now).parameters.values()
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return NotImplemented
    places = sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)
    names = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    extra = dict(zip(names, args[places:], strict=False))
    if not extra or len(args) > places + len(names) or extra.keys() & kwargs.keys():
        return NotImplemented
    return now(*args[:places], **extra, **kwargs)


def renamed(old: str, new: str) -> Call:
    """Return how a function is called whose argument `old` is `new` today."""

    def call(now: Call, *args: Any, **kwargs: Any) -> Any:
        return now(*args, **{new: kwargs.pop(old)}, **kwargs) if old in kwargs else NotImplemented

    return call


def _fillna(now: Call, self: Any, *args: Any, **kwargs: Any) -> Any:
    ways = {"ffill": "ffill", "pad": "ffill", "bfill": "bfill", "backfill": "bfill"}
    way = ways.get(kwargs.pop("method", None))
    return getattr(self, way)(*args, **kwargs) if way else NotImplemented


def _gca(now: Call, *args: Any, **kwargs: Any) -> Any:
    figure = args[0] if args else sys.modules["matplotlib.pyplot"].gcf()
    return figure.add_subplot(**kwargs) if kwargs else NotImplemented


def _style(now: Call, style: Any) -> Any:
    if not isinstance(style, str) or not style.startswith("seaborn") or "v0_8" in style:
        return NotImplemented
    return now(style.replace("seaborn", "seaborn-v0_8", 1))


def _turned(now: Call, *args: Any, **kwargs: Any) -> Any:
    """Turn a text by a number that is written as one (`rotation="40"`)."""
    try:
        return now(*args, **{**kwargs, "rotation": float(kwargs["rotation"])})
    except (KeyError, TypeError, ValueError):
        return NotImplemented


def _load_yaml(now: Call, stream: Any) -> Any:
    return now(stream, Loader=sys.modules["yaml"].FullLoader)


def _sample(now: Call, population: Any, k: int) -> Any:
    return now(tuple(population), k) if isinstance(population, (set, frozenset)) else NotImplemented


def _read_bytes(now: Call, self: Any, *args: Any) -> Any:
    error = sys.exc_info()[1]  # the file's bytes are in it, and they are what Python 2 gave
    return error.object if isinstance(error, UnicodeDecodeError) else NotImplemented


_HIST = renamed("normed", "density")
_GRID = renamed("b", "visible")
_BAR = renamed("left", "x")

THEN: dict[str, dict[str, Call]] = {
    "random": {"sample": _sample},
    "ebbflow.platform.files": {"GFile.read": _read_bytes},
    "yaml": {"load": _load_yaml},
    "pandas": {
        **dict.fromkeys(("concat", "merge", "read_csv", "read_table", "DataFrame.drop", "Series.drop"), by_place),
        **dict.fromkeys(("DataFrame.any", "DataFrame.all", "DataFrame.dropna", "DataFrame.sort_values"), by_place),
        **dict.fromkeys(("DataFrame.fillna", "Series.fillna"), _fillna),
    },
    "matplotlib.pyplot": {
        **{"hist": _HIST, "grid": _GRID, "bar": _BAR, "gca": _gca},
        **dict.fromkeys(("xticks", "yticks", "xlabel", "ylabel", "title", "text", "setp"), _turned),
    },
    "matplotlib.axes": {
        **{"Axes.hist": _HIST, "Axes.grid": _GRID, "Axes.bar": _BAR},
        **dict.fromkeys(("Axes.set_xticklabels", "Axes.set_yticklabels", "Axes.set_title", "Axes.text"), _turned),
    },
    "matplotlib.figure": {"Figure.gca": _gca},
    "matplotlib.style": {"use": _style},
    "librosa.core.audio": dict.fromkeys(("load", "resample", "to_mono", "tone"), by_place),
    "librosa.core.spectrum": dict.fromkeys(
        ("stft", "istft", "power_to_db", "amplitude_to_db", "griffinlim", "phase_vocoder"), by_place
    ),
    "librosa.feature.spectral": dict.fromkeys(("melspectrogram", "mfcc", "chroma_stft", "rms"), by_place),
    "librosa.filters": {"mel": by_place},
    "librosa.effects": dict.fromkeys(("trim", "split", "time_stretch", "pitch_shift"), by_place),
    "librosa.util.utils": dict.fromkeys(("fix_length", "pad_center", "normalize", "frame"), by_place),
}
"""Module -> function, or class and method -> how it was called where that fails today."""


def _split(now: Call, pattern: Any, string: Any, *args: Any, **kwargs: Any) -> Any:
    """Split where something stands, as until Python 3.7, and not between all characters as well."""
    found = re.compile(pattern, kwargs.pop("flags", 0))
    if kwargs or args or found.match(string[:0]) is None:
        return NotImplemented
    parts, begin = [], 0
    for match in found.finditer(string):
        if match.end() > match.start():
            parts += [string[begin : match.start()], *match.groups()]
            begin = match.end()
    return [*parts, string[begin:]]


GAVE: dict[str, dict[str, Call]] = {"re": {"split": _split}}
"""Module -> function -> what it gave; NotImplemented where that is what it gives today."""


# --- teaching ---------------------------------------------------------------------------------------------------------


def teach(keeper: Keeper, module: ModuleType) -> None:
    """Have a module's functions take from the program what they took then."""
    for path, then in THEN[module.__name__].items():
        _exchange(module, path, functools.partial(_forgiving, keeper, then))


def teach_results(keeper: Keeper, module: ModuleType) -> None:
    """Have a module's functions give the program what they gave then."""
    for path, then in GAVE[module.__name__].items():
        _exchange(module, path, functools.partial(_otherwise, keeper, then))


def _exchange(module: ModuleType, path: str, wrap: Callable[[str, Call], Call]) -> None:
    *kinds, name = path.split(".")
    owner: Any = module
    for kind in kinds:
        owner = getattr(owner, kind, None)
    now = getattr(owner, name, None)
    if now is not None:  # this release may not have it
        setattr(owner, name, wrap(f"{module.__name__}.{path} as it was", now))


def _forgiving(keeper: Keeper, then: Call, told: str, now: Call) -> Call:
    @functools.wraps(now)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return now(*args, **kwargs)
        except (TypeError, AttributeError, ValueError, OSError):
            if not keeper.program.asks(sys._getframe(1)):
                raise
            try:
                found = then(now, *args, **kwargs)
            except TypeError:
                found = NotImplemented
            if found is NotImplemented:
                raise
        keeper.lent[told] = None
        return found

    return call


def _otherwise(keeper: Keeper, then: Call, told: str, now: Call) -> Call:
    @functools.wraps(now)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = then(now, *args, **kwargs) if keeper.program.asks(sys._getframe(1)) else NotImplemented
        if found is NotImplemented:
            return now(*args, **kwargs)
        keeper.lent[told] = None
        return found

    return call
