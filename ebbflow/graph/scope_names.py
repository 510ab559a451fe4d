"""Names on their way from scope to scope: of nodes, tensors (`a:0`), control edges (`^a`), places (`loc:@a`).

Plain text in, plain text out; used wherever a part of a graph is written or read under another scope.
"""

from __future__ import annotations

import re
from typing import Any

MARK = re.compile(r"^(\^|loc:@)?(.*)$", re.DOTALL)


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """Return a name without the scope it is exported from; a name outside of it stays as it is.

    >>> strip_name_scope("a/b/w:0", "a"), strip_name_scope("^a/b", "a/"), strip_name_scope("ab/w", "a")
    ('b/w:0', '^b', 'ab/w')
    """
    if not export_scope:
        return name
    mark, plain = _parted(name)
    scope = export_scope.rstrip("/") + "/"
    return mark + plain[len(scope) :].lstrip("/") if plain.startswith(scope) else name


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """Return a name under the scope it is imported into.

    >>> prepend_name_scope("b/w:0", "a"), prepend_name_scope("loc:@w", "a/"), prepend_name_scope("w", "")
    ('a/b/w:0', 'loc:@a/w', 'w')
    """
    if not import_scope:
        return name
    mark, plain = _parted(name)
    return f"{mark}{import_scope.rstrip('/')}/{plain}"


def is_in_scope(name: str, scope: str | None) -> bool:
    """Return whether a name stands under `scope`; under no scope everything does.

    >>> is_in_scope("a/b", "a"), is_in_scope("ab", "a"), is_in_scope("^a/b:1", "a"), is_in_scope("b", None)
    (True, False, True, True)
    """
    return not scope or _parted(name)[1].startswith(scope.rstrip("/") + "/")


def node_name(edge: str) -> str:
    """Return the name of the node that an input, a tensor's name or a place speaks of.

    >>> node_name("^a"), node_name("a/b:2"), node_name("loc:@c")
    ('a', 'a/b', 'c')
    """
    return _parted(edge)[1].partition(":")[0]


def _parted(name: str) -> tuple[str, str]:
    mark, plain = MARK.match(name).groups()  # type: ignore[union-attr]
    return mark or "", plain


def name_from_scope_name(name: str) -> str:
    """Return a scope's name without the slash behind it.

    >>> name_from_scope_name("a/b/")
    'a/b'
    """
    return name[:-1] if name and name[-1] == "/" else name


class NullContextmanager:
    """A block in which nothing is different."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        pass
