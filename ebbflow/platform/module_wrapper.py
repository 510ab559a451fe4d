"""`TFModuleWrapper`: a module that another stands in for, so that the use of its names can be remarked upon.

Packages of TensorFlow's family wrap their own modules in it. Here it passes everything through.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

ESTIMATOR_API_NAME = "estimator"
"""What the names are said to be of that a package of Estimators exports."""


class TFModuleWrapper(ModuleType):
    """Passes every use of a name on to the module inside."""

    def __init__(
        self,
        wrapped: ModuleType,
        module_name: str,
        public_apis: Any = None,
        deprecation: bool = True,
        has_lite: bool = False,
    ) -> None:
        super().__init__(wrapped.__name__)
        vars(self).update(vars(wrapped))
        self._tfmw_wrapped_module = wrapped

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_tfmw_wrapped_module"], name)

    def __reduce__(self) -> Any:
        return __import__, (self.__name__,)


def inheritable_header(text: str) -> Any:
    """Return a decorator that gives a class a sentence to stand above its documentation, and above its heirs'."""

    def mark(cls: Any) -> Any:
        cls._tf_docs_tools_header = text
        return cls

    return mark


def legacy_saveable_name(name: str) -> Any:
    """Return a decorator that says under which name a class's state stands in older checkpoints."""

    def mark(cls: Any) -> Any:
        cls._LEGACY_SAVEABLE_NAME = name
        return cls

    return mark
