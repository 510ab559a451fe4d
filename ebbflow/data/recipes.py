"""Recipes: how a dataset is made, apart from the values in it.

Programs make the same pipelines over and over, of other arrays and with functions that the same lines define anew:
Keras one for each `predict`. A recipe is a stage of such a pipeline with places for what differs (the loose values). A
stage that follows a known recipe has been made before without an error, so it is made again only when somebody asks for
its elements; one without arrays of its own is made once, and if its elements are few, small, and not by chance, so are
they. Knows pipes, ops and traced functions; knows nothing of datasets as users have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context
from ebbflow.core.op import eager_run
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, ndarray
from ebbflow.data import structure
from ebbflow.data.calls import draws
from ebbflow.data.options import Options
from ebbflow.data.pipe import GATHERS, DatasetOp, Element, Loose, Pipe, mixing, pipe_of, pipes_in
from ebbflow.data.running import USUAL, current
from ebbflow.data.traced import Traced
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.ops.state.storage import boxed

REMEMBERED = 256
MOST_KEPT, MOST_BYTES = 64, 1 << 16
"""How many elements of a stage are kept at most, and how large they may be together."""

_known: dict[Any, Recipe] = {}


class Recipe:
    """One stage: the op that makes it, what it is made of, and what is known of the dataset."""

    __slots__ = (
        "_attrs",
        "_functions",
        "_named",
        "_op",
        "_parts",
        "_shared",
        "arrays",
        "draws",
        "loose",
        "manner",
        "options",
    )

    def __init__(self, op: DatasetOp, attrs: dict[str, Any], parts: Sequence[Any], options: Options | None):
        self._op, self._attrs, self._parts = op, attrs, parts
        self._functions = [name for name, value in attrs.items() if isinstance(value, FuncGraph)]
        self._named = {key: attrs[key] for key in op.kernel_attrs} | ({"run": eager_run} if op.needs_run else {})
        inside = [part for group in parts for part in (group if group.__class__ is list else (group,))]
        recipes = [part for part in inside if part.__class__ is Recipe]
        bodies = [attrs[name] for name in self._functions]
        self.draws: bool = any(draws(body) for body in bodies) or any(recipe.draws for recipe in recipes)
        functions = len(self._functions) + sum(recipe.loose - recipe.arrays for recipe in recipes)
        self.arrays: int = sum(recipe.arrays for recipe in recipes) + sum(n for n in inside if n.__class__ is int)
        self.loose: int = self.arrays + functions
        self.options = options
        self.manner: tuple[Any, ...] | None = None  # how elements are opened, for iterators
        self._shared: Pipe | None = None

    def pipe(self, loose: Sequence[Any]) -> Pipe:
        """Return the stage with some values in it, to be run as planned: functions need no Python of their own."""
        if self._shared is not None:
            return self._shared
        pipe = self._quickly_made(loose)
        if not self.arrays:
            self._shared = pipe if self.draws else _keeping(pipe)
        return pipe

    def whole_pipe(self, loose: Sequence[Any]) -> Pipe:
        """Return the stage with all that one may ask of it, made for this dataset alone."""
        given, rest = self._inputs(loose, Recipe.whole_pipe)
        attrs = self._attrs
        if self._functions:
            bodies = zip(self._functions, rest, strict=True)
            attrs = {**attrs, **{name: attrs[name].shared(in_python) for name, in_python in bodies}}
        return pipe_of(self._op.run(given, attrs))

    def _quickly_made(self, loose: Sequence[Any]) -> Pipe:
        given, _ = self._inputs(loose, Recipe.pipe)
        pipe: Pipe = self._op.bare_kernel(np, *given, **self._named).item()
        pipe.name, pipe.options = self._op.name, self.options
        if pipe.role == GATHERS:
            pipe.given = given, self._named
        boxes = [box for value in given for box in (value if value.__class__ is list else (value,))]
        pipe.inputs = tuple([p for box in boxes for p in pipes_in(box)])
        pipe.without_order = Loose(mixing=mixing(pipe, pipe.inputs))
        return pipe

    def _inputs(self, loose: Sequence[Any], make: Callable[..., Pipe]) -> tuple[list[Any], Sequence[Any]]:
        """Return the arguments of the op, and the loose values that are of none of them."""
        at = 0
        given: list[Any] = []
        for part in self._parts:
            kind = part.__class__
            if kind is Recipe:
                given.append(boxed(make(part, loose[at : at + part.loose])))
                at += part.loose
            elif kind is int:
                given.append(list(loose[at : at + part]))
                at += part
            elif kind is list:
                inside = []
                for recipe in part:
                    inside.append(boxed(make(recipe, loose[at : at + recipe.loose])))
                    at += recipe.loose
                given.append(inside)
            else:
                given.append(part)
        return given, loose[at:]


# --- from calls to recipes --------------------------------------------------------------------------------------------


def described(
    op: DatasetOp, inputs: Sequence[Any], attrs: dict[str, Any], family: type, spec: Any
) -> tuple[tuple[Any, ...], list[Any]] | None:
    """Return the key of what a call would make, and its loose values; None where it may be another each time."""
    if not op.lasting or context.graph_scopes or context.recorders or current.run is not USUAL:
        return None
    key: list[Any] = [op, family]
    loose: list[Any] = []
    for value in inputs:
        if not (_add_list(value, spec, key, loose) if value.__class__ is list else _add(value, key, loose)):
            return None
    for name, value in attrs.items():
        if value.__class__ is Traced:
            if value.kept is None:
                return None
            key.append(value.kept)
            loose.append(value.in_python)
        elif name != "name":
            key.append(value)
    return tuple(key), loose


def known(key: tuple[Any, ...]) -> Recipe | None:
    """Return a recipe that has been followed before."""
    try:
        return _known.get(key)
    except TypeError:  # an attr that is a list
        return None


def learn(key: tuple[Any, ...], inputs: Sequence[Any], attrs: dict[str, Any], pipe: Pipe) -> Recipe | None:
    """Remember how a pipe was made; None where that cannot be told, or the op gave one that had been there before."""
    if pipe.made_by is None or pipe.made_by[0] is not key[0] or pipe.seeds is not None:
        return None
    op, _, settled = pipe.made_by
    bodies = {name: value.kept for name, value in attrs.items() if value.__class__ is Traced}
    recipe = Recipe(op, {**settled, **bodies}, [_part(value) for value in inputs], pipe.options)  # type: ignore[arg-type]
    while len(_known) >= REMEMBERED:
        _known.pop(next(iter(_known)), None)
    try:
        _known[key] = recipe
    except TypeError:
        return None
    return recipe


def _part(value: Any) -> Any:
    if value.__class__ is list:
        arrays = not value or value[0].__class__ is EagerTensor
        return len(value) if arrays else [item._recipe for item in value]
    return value._array if value.__class__ is EagerTensor else value._recipe


def _add(value: Any, key: list[Any], loose: list[Any]) -> bool:
    """Add what one input is; return whether that can be told."""
    if value.__class__ is EagerTensor:
        array = value._array
        if array.ndim or array.dtype.char not in "lqi?":
            return False
        key.append((value._dtype, array.item()))
        return True
    recipe = getattr(value, "_recipe", None)
    if recipe is None:
        return False
    key.append(recipe)
    loose += value._loose
    return True


def _add_list(values: list[Any], spec: Any, key: list[Any], loose: list[Any]) -> bool:
    if values and values[0].__class__ is not EagerTensor:
        return all([_add(value, key, loose) for value in values])
    for value in values:
        if value.__class__ is not EagerTensor or value._array.dtype.char == "O":
            return False
        loose.append(value._array)
    if values:  # the beginning of a pipeline
        leaves = structure.flatten(spec)
        if not all([leaf.__class__ is TensorSpec for leaf in leaves]):
            return False
        key.append(structure.form_of(spec))
        key += leaves
    return True


# --- elements that are kept -------------------------------------------------------------------------------------------


def _keeping(pipe: Pipe) -> Pipe:
    """Have a pipe keep its elements once somebody has gone through them, if they are few and small."""
    begin = pipe.elements
    kept: list[list[Element] | None] = []

    def elements() -> Iterator[Element]:
        if not kept:
            found = begin()
            return found if hasattr(found, "bunch") else _Noting(found, kept, pipe)
        return begin() if kept[0] is None else iter(kept[0])

    pipe.elements = elements
    return pipe


class _Noting:
    """The elements of a stage, which are noted down: `kept` gets the list of them, or None where they are no use."""

    __slots__ = ("_bytes", "_elements", "_found", "_kept", "_pipe")

    def __init__(self, elements: Iterator[Element], kept: list[list[Element] | None], pipe: Pipe):
        self._elements, self._kept, self._pipe = elements, kept, pipe
        self._found: list[Element] | None = []
        self._bytes = 0

    def __iter__(self) -> _Noting:
        return self

    def __next__(self) -> Element:
        found = self._found
        try:
            element = next(self._elements)
        except StopIteration:
            if found is not None and not self._kept:
                self._kept.append(found)
                self._pipe.size = len(found)
            raise
        except Exception:
            self._give_up()
            raise
        if found is not None:
            self._note(element, found)
        return element

    def _note(self, element: Element, found: list[Element]) -> None:
        plain = all([array.__class__ is ndarray and array.dtype.char != "O" for array in element])
        self._bytes += sum([array.nbytes for array in element]) if plain else MOST_BYTES + 1
        if self._bytes > MOST_BYTES or len(found) >= MOST_KEPT:
            self._give_up()
            return
        copies = [np.array(array) for array in element]
        for copy in copies:
            copy.flags.writeable = False
        found.append(tuple(copies))

    def _give_up(self) -> None:
        self._found = None
        if not self._kept:
            self._kept.append(None)
