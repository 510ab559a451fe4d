"""tf.Module: an object with a name whose variables and submodules are found among its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from ebbflow.core import nest
from ebbflow.graph.scopes import name_scope
from ebbflow.state.base import Variable
from ebbflow.trackable.auto import AutoTrackable


def camel_to_snake(value: str) -> str:
    """Return a class's name as a module is called.

    >>> camel_to_snake("BatchNorm2d"), camel_to_snake("MLP")
    ('batch_norm2d', 'mlp')
    """
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", value).lower()


def valid_identifier(name: str) -> bool:
    """Return whether a module may be called so."""
    return re.match(r"^[a-zA-Z_]([a-zA-Z0-9_])*$", name) is not None


class Module(AutoTrackable):
    """A base class for parts of a model: keeps track of variables and of modules inside it.

    >>> class Scale(Module):
    ...     def __init__(self, factor):
    ...         super().__init__()
    ...         self.factor = Variable(factor)
    >>> model = Module(name="model")
    >>> model.parts = [Scale(2.0), Scale(3.0)]
    >>> [float(v) for v in model.trainable_variables], len(model.submodules)
    ([2.0, 3.0], 2)
    """

    def __init__(self, name: str | None = None):
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not valid_identifier(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid "
                "class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._name_scope = name_scope(scope)

    @property
    def name(self) -> str:
        """The name, as it was given or follows from the class."""
        return self._name

    @property
    def name_scope(self) -> AbstractContextManager[str]:
        """The name scope of the module."""
        return self._name_scope

    @property
    def variables(self) -> Sequence[Any]:
        """The variables of this module and the modules in it."""
        return tuple(self._flatten(predicate=_is_variable, expand_composites=True))

    @property
    def trainable_variables(self) -> Sequence[Any]:
        """Those variables that are trained."""
        return tuple(self._flatten(predicate=_is_trainable_variable, expand_composites=True))

    @property
    def non_trainable_variables(self) -> Sequence[Any]:
        """Those variables that are not trained."""
        return tuple(self._flatten(predicate=_is_non_trainable_variable, expand_composites=True))

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules in this module, and in those."""
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(
        self, recursive: bool = True, predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Any = None, with_path: bool = False, expand_composites: bool = False,
    ) -> Iterator[Any]:  # fmt: skip
        """Yield the values among this module's attributes, and those of modules in it, that pass `predicate`."""
        walk = _Walk(recursive, predicate or (lambda _: True), attribute_traversal_key, with_path, expand_composites)
        return walk.values(self, self._TF_MODULE_IGNORED_PROPERTIES, (), None)

    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset(
        ("_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names")
    )

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method that runs in the module's name scope."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _is_variable(obj: Any) -> bool:
    """Return whether an attribute counts as a variable."""
    return isinstance(obj, Variable) or hasattr(obj, "_should_act_as_resource_variable")


def _is_trainable_variable(obj: Any) -> bool:
    return _is_variable(obj) and getattr(obj, "trainable", False)


def _is_non_trainable_variable(obj: Any) -> bool:
    return _is_variable(obj) and not getattr(obj, "trainable", False)


def _is_module(obj: Any) -> bool:
    """Return whether an attribute is a module itself."""
    return isinstance(obj, Module)


class _Walk:
    """One walk over the attributes of modules; every value is met once, with paths by each way without a circle."""

    def __init__(self, recursive: bool, predicate: Callable[[Any], bool], key: Any, with_path: bool, expand: bool):
        self.recursive, self.predicate, self.key = recursive, predicate, key
        self.with_path, self.expand = with_path, expand

    def values(self, module: Any, ignored: Any, path: tuple[Any, ...], seen: set[int] | None) -> Iterator[Any]:
        """Yield the values of one module, then those of the modules in it."""
        if seen is None:
            seen = set() if self.with_path else {id(module)}
        inner: list[tuple[tuple[Any, ...], Any]] = []
        for leaf_path, leaf in self._leaves(module, ignored):
            if id(leaf) in seen:
                continue
            if not self.with_path:
                seen.add(id(leaf))
            leaf_path = path + leaf_path
            if self.predicate(leaf):
                yield (leaf_path, leaf) if self.with_path else leaf
            if self.recursive and _is_module(leaf):
                inner.append((leaf_path, leaf))
        for inner_path, submodule in inner:
            met = {*seen, id(submodule)} if self.with_path else seen
            yield from self.values(submodule, submodule._TF_MODULE_IGNORED_PROPERTIES, inner_path, met)

    def _leaves(self, module: Any, ignored: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
        attributes = vars(module)
        for name in sorted(attributes, key=self.key):
            if name in ignored:
                continue
            try:
                pairs = self._flat(attributes[name])
            except Exception as error:
                raise ValueError(f"Error processing property {name!r} of {attributes[name]!r}") from error
            yield from (((name, *path), leaf) for path, leaf in pairs)

    def _flat(self, value: Any) -> list[tuple[tuple[Any, ...], Any]]:
        pairs = nest.flatten_with_tuple_paths(value)
        if not self.expand:
            return pairs
        expanded = []
        for path, leaf in pairs:
            whole = _is_variable(leaf) or _is_module(leaf)  # a linear operator is both a module and made of tensors
            inside = [((), leaf)] if whole else nest.flatten_with_tuple_paths(leaf, expand_composites=True)
            expanded += [(path + more, each) for more, each in inside]
        return expanded
