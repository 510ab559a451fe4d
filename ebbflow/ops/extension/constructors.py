"""The constructors of extension types and of their specs: made from the fields, or a program's own with a frame around.

A constructor that a program wrote may set fields; what it left is converted and checked after it. One that it did not
write takes the fields in order: by position up to the first that has no default though one before it has, by name from
there on. Knows fields; is given the classes.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ebbflow.ops.extension import fields as fields_of
from ebbflow.ops.extension.fields import ExtensionTypeField

IN_CONSTRUCTOR = "_tf_extension_type_in_constructor"


def fields_constructor(cls: type, declared: tuple[ExtensionTypeField, ...]) -> Callable[..., None]:
    """Return the constructor of a type that has none of its own."""
    signature = inspect.Signature(_parameters(declared), return_annotation=cls)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807  (a method, made here)
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        values.pop("self")
        fields_of.convert_fields(self._tf_extension_type_fields(), values)
        self.__dict__.update(values)
        self.__validate__()

    return _named(__init__, cls, signature)


def spec_constructor(cls: type, names: list[str]) -> Callable[..., None]:
    """Return the constructor of a spec that has none of its own: what stands for each field, none with a default."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in ("self", *names)], return_annotation=cls)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        values = signature.bind(self, *args, **kwargs).arguments
        values.pop("self")
        fields_of.convert_fields_for_spec(self.value_type._tf_extension_type_fields(), values)
        self.__dict__.update(values)
        self.__validate__()

    return _named(__init__, cls, signature)


def framed_constructor(cls: Any, own: Callable[..., None], convert: Callable[[Any, dict[str, Any]], None]) -> Any:
    """Return a program's own constructor, which may set fields, followed by their conversion and check."""

    @functools.wraps(own)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if self.__class__ is not cls:  # a subclass's constructor calls this one, and looks at the fields afterwards
            own(self, *args, **kwargs)
            return
        self.__dict__[IN_CONSTRUCTOR] = True
        own(self, *args, **kwargs)
        self.__dict__.pop(IN_CONSTRUCTOR, None)
        convert(self, self.__dict__)
        self.__validate__()

    return __init__


def _named(constructor: Any, cls: type, signature: inspect.Signature) -> Callable[..., None]:
    constructor.__signature__ = signature
    constructor.__qualname__, constructor.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return constructor


def _parameters(declared: tuple[ExtensionTypeField, ...]) -> list[inspect.Parameter]:
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    found, optional = [inspect.Parameter("self", kind)], False
    for field in declared:
        default = field.default
        if default is ExtensionTypeField.NO_DEFAULT:
            default = inspect.Parameter.empty
            if optional:
                kind = inspect.Parameter.KEYWORD_ONLY
        else:
            optional = True
        found.append(inspect.Parameter(field.name, kind, default=default, annotation=field.value_type))
    return found
