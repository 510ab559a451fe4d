"""Names that NumPy, SciPy, Pillow and Python have dropped, lent to the program being run and to nobody else.

A module that lost a name gets a `__getattr__` that answers for it when the program's own code asks; code of any
library gets the AttributeError it would get anyway. Modules that are gone altogether are lent the same way, through
`import`. What was lent is remembered, to be told at the end.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import math
import os
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ebbflow.doors import old_calls, old_manners, replacements
from ebbflow.doors.program import Program
from ebbflow.doors.watch import after_import

_ABSTRACT = """
    Awaitable Coroutine AsyncIterable AsyncIterator AsyncGenerator Hashable Iterable Iterator Generator Reversible
    Sized Container Callable Collection Set MutableSet Mapping MutableMapping MappingView KeysView ItemsView
    ValuesView Sequence MutableSequence ByteString
"""

_ARRAYS = """
    pad tile split array_split hsplit vsplit dstack column_stack expand_dims kron flip fliplr flipud rot90 diag eye tri
    tril triu meshgrid average median percentile quantile histogram bincount digitize cov diff gradient interp unique
    union1d intersect1d setdiff1d nan_to_num load save savez savetxt loadtxt genfromtxt
"""

_PICTURES = """
    bytescale comb derivative factorial fromimage imread imresize imrotate imsave imshow logsumexp toimage
"""

_WINDOWS = """
    barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine exponential flattop gaussian
    general_gaussian hamming hann kaiser nuttall parzen slepian triang tukey
"""

_LIBRARY = "arraysetops function_base shape_base index_tricks twodim_base type_check polynomial utils npyio"

_ESTIMATORS = {
    "cluster": "k_means_ dbscan_ hierarchical",
    "datasets": "base samples_generator",
    "decomposition": "pca nmf",
    "ensemble": "forest gradient_boosting",
    "linear_model": "base logistic",
    "manifold": "t_sne",
    "metrics": "classification ranking regression scorer",
    "neighbors": "base classification",
    "preprocessing": "data imputation label",
    "svm": "classes",
    "tree": "tree",
}
"""Rooms of scikit-learn -> modules whose names are the room's own now."""

MOVED: dict[str, dict[str, Any]] = {
    "numpy": {
        **{name: getattr(builtins, name) for name in ("bool", "int", "float", "complex", "object", "str")},
        **{"long": int, "unicode": str, "math": math},
        **{"float_": "float64", "complex_": "complex128", "unicode_": "str_", "string_": "bytes_", "bool8": "bool_"},
        **{"int0": "intp", "uint0": "uintp", "longfloat": "longdouble", "singlecomplex": "complex64"},
        **{"cfloat": "complex128", "clongfloat": "clongdouble", "longcomplex": "clongdouble"},
        **dict.fromkeys(("NaN", "NAN"), math.nan),
        **dict.fromkeys(("Inf", "Infinity", "infty", "PINF"), math.inf),
        **{"NINF": -math.inf, "PZERO": 0.0, "NZERO": -0.0},
        **{"product": "prod", "cumproduct": "cumprod", "alltrue": "all", "sometrue": "any", "round_": "round"},
        **{"row_stack": "vstack", "trapz": "trapezoid", "rank": "ndim", "mat": "asmatrix", "typeDict": "sctypeDict"},
        **dict.fromkeys(("AxisError", "ComplexWarning", "RankWarning"), "numpy.exceptions"),
        "VisibleDeprecationWarning": "numpy.exceptions",
        **{"sctypes": replacements.SCTYPES, "cast": replacements.CAST, "nbytes": replacements.NBYTES},
        **{"issctype": replacements.issctype, "issubclass_": replacements.issubclass_, "safe_eval": ast.literal_eval},
        **{"obj2sctype": replacements.obj2sctype, "sctype2char": replacements.sctype2char, "disp": replacements.disp},
        **{"find_common_type": replacements.find_common_type, "asfarray": replacements.asfarray},
        **{"asscalar": replacements.asscalar, "in1d": replacements.in1d, "msort": replacements.msort},
    },
    "numpy.lib": dict.fromkeys(_ARRAYS.split(), "numpy"),
    "collections": dict.fromkeys(_ABSTRACT.split(), "collections.abc"),
    "time": {"clock": time.process_time if os.name == "posix" else time.perf_counter},
    "inspect": {"getargspec": replacements.getargspec, "formatargspec": replacements.formatargspec},
    "fractions": {"gcd": math.gcd},
    "base64": {"encodestring": "encodebytes", "decodestring": "decodebytes"},
    "locale": {"format": "format_string"},
    "sys": {"setcheckinterval": replacements.nothing, "getcheckinterval": replacements.check_interval},
    "importlib": {"find_loader": replacements.find_loader},
    "pkgutil": {"find_loader": replacements.find_loader, "get_loader": replacements.find_loader},
    "PIL.Image": {"ANTIALIAS": "LANCZOS", "LINEAR": "BILINEAR", "CUBIC": "BICUBIC"},
    "scipy": {
        **{name: "numpy" for name in np.__all__ if not isinstance(getattr(np, name), ModuleType)},
        **{
            "misc": "ebbflow.doors.scipy_misc",
            "random": np.random,
            "rand": "numpy.random",
            "randn": "numpy.random",
        },
    },
    "scipy.stats": dict.fromkeys(("nanmean", "nanmedian", "nanstd"), "numpy"),
    "scipy.sparse.linalg.eigen": {"arpack": "scipy.sparse.linalg"},
    "scipy.misc": dict.fromkeys(_PICTURES.split(), "ebbflow.doors.scipy_misc"),
    "scipy.integrate": {"simps": "simpson", "trapz": "trapezoid", "cumtrapz": "cumulative_trapezoid"},
    "scipy.signal": dict.fromkeys(_WINDOWS.split(), "scipy.signal.windows"),
    "sklearn": dict.fromkeys(("cross_validation", "grid_search"), "sklearn.model_selection"),
    "sklearn.externals": {"joblib": "joblib", "six": "six"},
    "pandas": {"scatter_matrix": "pandas.plotting", **dict.fromkeys(("Int64Index", "Float64Index"), "Index")},
    "pandas.util": {"testing": "pandas.testing"},
    "os": {"errno": "errno"},
    "cgi": {"escape": "html"},
    "platform": {"linux_distribution": replacements.distribution, "dist": replacements.distribution},
    "librosa": {"output": replacements.Waves},
    "xml.etree": {"cElementTree": "xml.etree.ElementTree"},
    "matplotlib.cm": {"get_cmap": "matplotlib.pyplot"},
    "matplotlib.pyplot": {"hold": replacements.nothing, "spectral": "nipy_spectral"},
}
"""Module -> name -> what it was: a value, another name of the same module, or a module that has (or is) it now."""

BESIDE = {
    "importlib": ("abc", "util", "machinery"),
    "multiprocessing": ("context", "pool", "process", "util"),
    "unittest": ("mock",),
    "urllib": ("error", "parse", "request", "response"),
    "xml": ("dom",),
    "xml.dom": ("minidom",),
    "http": ("client",),
    "concurrent": ("futures",),
    "email": ("errors", "message", "parser", "utils"),
}
"""Package -> modules in it that `import tensorflow` loads for itself: programs that import the package alone use
them. Here they are loaded when they are asked for.
"""

GONE = {
    "imp": "ebbflow.doors.gone_imp",
    "distutils": "ebbflow.doors.gone_distutils",
    "distutils.version": "ebbflow.doors.gone_distutils",
    "distutils.util": "ebbflow.doors.gone_distutils",
    "distutils.dir_util": "ebbflow.doors.gone_distutils",
    "distutils.spawn": "ebbflow.doors.gone_distutils",
    "imghdr": "ebbflow.doors.gone_imghdr",
    "pipes": "shlex",
    "xml.etree.cElementTree": "xml.etree.ElementTree",
    "scipy.misc": "ebbflow.doors.scipy_misc",
    "scipy.sparse.linalg.eigen.arpack": "scipy.sparse.linalg",
    **dict.fromkeys(
        ("sklearn.cross_validation", "sklearn.grid_search", "sklearn.learning_curve"), "sklearn.model_selection"
    ),
    "sklearn.feature_extraction.stop_words": "sklearn.feature_extraction.text",
    "sklearn.utils.testing": "sklearn.utils._testing",
    "sklearn.externals.six": "six",
    **{f"sklearn.{room}.{name}": f"sklearn.{room}" for room, names in _ESTIMATORS.items() for name in names.split()},
    **dict.fromkeys(("numpy.testing.utils", "numpy.testing.decorators"), "numpy.testing"),
    **{f"numpy.lib.{name}": "numpy" for name in _LIBRARY.split()},
    "numpy.linalg.linalg": "numpy.linalg",
    "numpy.fft.fftpack": "numpy.fft",
    "pandas.util.testing": "pandas.testing",
    "pandas.tools.plotting": "pandas.plotting",
    "pandas.core.index": "pandas",
    "sklearn.externals.joblib": "joblib",
}
"""Modules that are no more -> what stands in for them."""


class Lender:
    """Lends vanished names to one program, and keeps the list."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lent: dict[str, None] = {}  # in the order of first use

    def open(self, imports: set[str]) -> None:
        """Begin lending; `imports` are the modules the program is known to import."""
        for module, names in _asked_for().items():
            after_import(module, functools.partial(self._teach, names))
        for module in old_manners.METHODS:
            after_import(module, functools.partial(old_manners.teach_methods, self))
        for module in old_calls.THEN:
            after_import(module, functools.partial(old_calls.teach, self))
        if any(module in GONE or module.rpartition(".")[0] in GONE for module in imports):
            builtins.__import__ = self._importer(builtins.__import__)

    def report(self) -> str:
        """Return one line that says what was lent, or nothing."""
        shown = ", ".join(name.replace("numpy.", "np.", 1) for name in self.lent)
        return f"ebbflow: lent to this program, because they no longer exist: {shown}" if shown else ""

    def _teach(self, names: dict[str, Any], module: ModuleType) -> None:
        """Let a module answer for the names it has lost, if the program's own code asks."""
        ask_module = vars(module).get("__getattr__")

        def answer(name: str) -> Any:
            if name in names and self.program.asks(sys._getframe(1)):
                full = f"{module.__name__}.{name}"
                if names[name] == full:  # a module of this package, which has not vanished
                    return importlib.import_module(full)
                value = _replacement(module, name, names[name])
                self.lent[full] = None
                return value
            if ask_module is not None:
                return ask_module(name)
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module)

        vars(module)["__getattr__"] = answer

    def _importer(self, python_import: Callable[..., Any]) -> Callable[..., Any]:
        """Return an `__import__` that finds modules that are gone, for the program's own code."""

        def lend(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
            try:
                return python_import(name, globals, locals, fromlist, level)
            except ModuleNotFoundError as error:
                own = globals is not None and self.program.owns(globals.get("__file__") or "<string>")
                if level or not own or name not in GONE or not f"{name}.".startswith(f"{error.name}."):
                    raise
            self.lent[name] = None
            found = importlib.import_module(GONE[name])
            return found if fromlist or "." not in name else chain(name, found)

        return lend


def _asked_for() -> dict[str, dict[str, Any]]:
    """Return what modules are asked for: what moved, modules beside them, and those that are gone from within them."""
    found: dict[str, dict[str, Any]] = {}
    for module, stands_in in GONE.items():
        parent, _, name = module.rpartition(".")
        if parent:  # `import a.b.c as d` asks `a.b` for `c`
            found.setdefault(parent, {})[name] = stands_in
    for package, modules in BESIDE.items():
        found.setdefault(package, {}).update({name: f"{package}.{name}" for name in modules})
    for module, names in MOVED.items():
        found.setdefault(module, {}).update(names)
    return found


def _replacement(module: ModuleType, name: str, what: Any) -> Any:
    if not isinstance(what, str):
        return what
    if "." not in what and hasattr(module, what):
        return getattr(module, what)
    elsewhere = importlib.import_module(what)
    return getattr(elsewhere, name, elsewhere)


def chain(name: str, module: ModuleType) -> ModuleType:
    """Return what `import a.b` binds: `a`, with `b` in it, without touching `sys.modules`."""
    first, _, rest = name.partition(".")
    top = sys.modules.get(first) or ModuleType(first)
    if first not in sys.modules:
        setattr(top, rest, module)
    return top
