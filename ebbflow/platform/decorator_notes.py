"""What decorators of TensorFlow's inside do with docstrings and names (`tensorflow.python.util.decorator_utils`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def get_qualified_name(function: Callable[..., Any]) -> str:
    """Return a function's name with that of its class.

    >>> get_qualified_name(str.upper)
    'str.upper'
    """
    return getattr(function, "__qualname__", function.__name__)


def normalize_docstring(docstring: str | None) -> str:
    """Return a docstring without the indentation and the empty lines around it."""
    return inspect.cleandoc(docstring) if docstring else ""


def add_notice_to_docstring(
    doc: str | None,
    instructions: str,
    no_doc_str: str,
    suffix_str: str,
    notice: list[str],
    notice_type: str = "Warning",
) -> str:
    """Return a docstring with a suffix to its first line and a notice below that, or the notice of a missing one."""
    if not notice:
        raise ValueError("The `notice` arg must not be empty.")
    notice[0] = f"{notice_type}: {notice[0]}"
    said = ["", *notice, *([instructions] if instructions else [])]
    if not doc:
        return "\n".join([no_doc_str, *said])
    first, *others = normalize_docstring(doc).splitlines()
    if others and others[0].strip():
        said.append("")
    return "\n".join([f"{first} {suffix_str}", *said, *others])


def validate_callable(func: object, decorator_name: str) -> None:
    """Raise ValueError unless a decorator was given something that can be called."""
    if not callable(func):
        raise ValueError(
            f"{func} is not a function. If this is a property, make sure @property appears before @{decorator_name} in "
            f"your source code:\n\n@property\n@{decorator_name}\ndef method(...)"
        )
