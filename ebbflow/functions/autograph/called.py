"""`ag.convert`: what a call inside a converted function calls.

Functions of the user's are converted as they are called, so conversion follows the program wherever it goes and stops
at the doors of libraries. Built-in functions that come in by another name (`size = len`) are met here.
"""

from __future__ import annotations

import builtins
from types import BuiltinFunctionType
from typing import Any

from ebbflow.functions.autograph import python_functions
from ebbflow.functions.autograph.convert import converted
from ebbflow.functions.autograph.expressions import OVERLOADED

_OWN = {getattr(builtins, name): getattr(python_functions, name) for name in OVERLOADED}


def convert(function: Any) -> Any:
    """Return what is called in place of `function`.

    >>> convert(abs) is abs
    True
    """
    kind = type(function)
    if kind is BuiltinFunctionType or kind is type:
        return _OWN.get(function, function)
    return converted(function)
