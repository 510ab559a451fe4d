"""Name scopes that cost nothing where there are no names.

In a graph `name_scope` gives nodes their prefix; eagerly there is nothing to name and it does next to nothing.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import context


class name_scope:  # noqa: N801  (TensorFlow's name)
    """`with name_scope(name, default, values) as scope:` nodes made inside are named under `scope`."""

    __slots__ = ("_default", "_inner", "_name")

    def __init__(self, name: Any, default_name: str | None = None, values: Any = None):
        self._name = name
        self._default = default_name
        self._inner: Any = None

    def __enter__(self) -> Any:
        name = self._name if self._name is not None else self._default
        if context.graph_scopes:
            graph = context.current_graph()
            if graph is not None:
                self._inner = graph.name_scope(name)
                return self._inner.__enter__()
        return eager_scopes.enter(name)

    def __exit__(self, *exc: Any) -> Any:
        if self._inner is not None:
            inner, self._inner = self._inner, None
            return inner.__exit__(*exc)
        eager_scopes.leave()
        return None


class _EagerScopes:
    """The prefix for names of variables made eagerly."""

    def enter(self, name: Any) -> str:
        stack = context.thread.__dict__.setdefault("names", [""])
        stack.append("" if not name else name if name.endswith("/") else f"{stack[-1]}{name}/")
        return stack[-1]

    def leave(self) -> None:
        context.thread.names.pop()

    @property
    def current(self) -> str:
        return context.thread.__dict__.get("names", [""])[-1]


eager_scopes = _EagerScopes()
