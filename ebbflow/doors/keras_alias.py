"""`import keras` in a program of Keras 2's years: answered by `tf_keras`, whatever is installed as `keras`.

Knows where Keras 2 has what (`keras_package`), and Python's import system. Only the program that is run sees it: a
library that imports `keras` in the same process does too, as it did then.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from ebbflow.api.namespace import Alias
from ebbflow.doors import keras_package

NAME = "keras"


def install(door: int) -> None:
    """Have `import keras` mean Keras 2 from now on, with the names it had in TF 1 or TF 2."""
    _finder.door = door
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


class _Finder:
    door = 2

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != NAME and not fullname.startswith(NAME + "."):
            return None
        inner = fullname[len(NAME) + 1 :]
        module = keras_package.keras_2(self.door) if not inner else keras_package.inside(inner)
        if not isinstance(module, ModuleType):
            return None
        return ModuleSpec(fullname, Alias(module), origin=module.__file__, is_package=hasattr(module, "__path__"))  # type: ignore[arg-type]


_finder = _Finder()
