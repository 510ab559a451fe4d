"""The user's functions of elements, traced: flat tensors in, flat tensors out.

Each is traced once, where the dataset is made, with AutoGraph. What it captures becomes further arguments of the op, so
that a variable it reads is read when an element is made. Traces that would surely come out the same are remembered.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.compiler.options import EXACT
from ebbflow.core import context
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.data import structure
from ebbflow.data.pipe import DatasetOp
from ebbflow.eager.py_function import py_function
from ebbflow.eager.tape import stop_recording
from ebbflow.functions.autograph.convert import converted
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.functions.outside import outside
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.control.script import IN_PYTHON
from ebbflow.ops.random.seeds import is_seeded
from ebbflow.platform import config


class Traced:
    """A traced function: its body, and the spec of what it gives."""

    __slots__ = ("_body", "in_python", "kept", "spec")

    def __init__(self, body: FuncGraph | None, spec: Any, kept: FuncGraph | None = None, in_python: Any = None):
        self._body, self.spec = body, spec
        self.kept = kept  # the body that functions of this kind have in common, if it is one
        self.in_python = in_python  # of those: this very function

    @property
    def body(self) -> FuncGraph:
        """The function as a graph."""
        if self._body is None:
            self._body = self.kept.shared(self.in_python)  # type: ignore[union-attr]
        return self._body

    @property
    def captured(self) -> list[Any]:
        """The tensors outside that the body uses."""
        return [] if self.kept is not None else self.body.external_captures


def trace(
    function: Callable[..., Any], specs: Sequence[Any], name: str, arrange: Callable[[Any], Any] | None = None,
    recipe: Any = None,
) -> Traced:  # fmt: skip
    """Trace a function of elements: of one for each spec, or of the parts of the only one if that is a tuple.

    `arrange` turns what the function gives into an element; lists at the top are taken for tuples. A function that
    would surely be traced to the same again (`functions.outside`) gets the body of the one before it, with all that is
    known of how it runs: pipelines over other arrays that are built by the same lines are there at once. Elements that
    were made by one `recipe` have one spec.
    """
    if not callable(function):
        raise TypeError(f"`{name}` must be a function of the elements of the dataset, got {function!r}")
    around = _around(function, name, arrange)
    traced = None if around is None or recipe is None else _known(_by_recipe, (around, recipe))
    if traced is None:
        key = None if around is None else _with_specs(around, specs)
        traced = None if key is None else _known(_remembered, key)
        if traced is None:
            traced = _trace(function, specs, name, arrange)
            if key is None or not _is_repeatable(traced.body):
                return traced
            traced.body.in_python = None  # the body that is kept holds nothing of the program's
            _remember(_remembered, key, traced)
        if recipe is not None:
            _remember(_by_recipe, (around, recipe), traced)
    in_python = functools.partial(_flat, specs, name, arrange, [], function)
    return Traced(None, traced.spec, traced.body, in_python)


REMEMBERED = 64
_remembered: dict[Any, Traced] = {}
_by_recipe: dict[Any, Traced] = {}
"""The same ones, where what the elements are need not be asked."""


def forget() -> None:
    """Have all functions traced anew."""
    _remembered.clear()
    _by_recipe.clear()


def _known(kept: dict[Any, Traced], key: Any) -> Traced | None:
    try:
        return kept.get(key)
    except TypeError:  # an attribute of the function, or a spec, that cannot be part of a key
        return None


def _remember(kept: dict[Any, Traced], key: Any, traced: Traced) -> None:
    while len(kept) >= REMEMBERED:
        kept.pop(next(iter(kept)), None)
    kept[key] = traced


def _around(function: Any, name: str, arrange: Any) -> Any:
    """Return what decides the outcome of a trace besides the specs; None where it may be another each time."""
    if context.graph_scopes or context.recorders or _debugging:
        return None
    around = outside(function)
    if around is None or (arrange is not None and arrange.__closure__ is not None):
        return None
    chance = is_seeded(), config.wishes.seeds_needed  # what an op that names no seed goes by
    return (name, arrange, *vars(context.switches).values(), chance, SymbolicTensor.__add__, around)


def _with_specs(around: Any, specs: Sequence[Any]) -> Any:
    key = (around, *[(structure.form_of(s), *structure.flatten(s)) for s in specs])
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _is_repeatable(body: FuncGraph) -> bool:
    """Return whether running a body in the place of one that is just like it cannot be noticed."""
    return not body._captures and _depends_on_arguments(body)


def _depends_on_arguments(body: FuncGraph) -> bool:
    for node in body._nodes:
        op = node._op
        keeps_state = op.keeps_state and not isinstance(op, DatasetOp)  # datasets are stateful by their interface only
        if (keeps_state or op.facts.random) and not _draws_by_chance(node):
            return False
        if op in IN_PYTHON or any("seed" in arg.name for arg in op.signature.inputs):
            return False
        for value in node._attrs.values():
            for part in value if value.__class__ is list else (value,):
                if hasattr(part, "graph") or (isinstance(part, FuncGraph) and not _depends_on_arguments(part)):
                    return False
    return True


def _draws_by_chance(node: Any) -> bool:
    """Return whether a random op has no seed: it draws from the iteration that it runs for, whatever body it is in."""
    attrs = node._attrs
    return node._op.facts.random and attrs.get("seed") == 0 == attrs.get("seed2")


def _trace(function: Callable[..., Any], specs: Sequence[Any], name: str, arrange: Any) -> Traced:
    found: list[Any] = []
    flat = functools.partial(_flat, specs, name, arrange, found)
    arguments = [
        (dtype, dims, f"args_{i}")
        for i, (dtype, dims) in enumerate(
            (dtype, dims)
            for spec in specs
            for dtype, dims in zip(structure.flat_types(spec), structure.flat_dims(spec), strict=True)
        )
    ]
    with stop_recording():
        body = build(
            f"Dataset_{name}", functools.partial(flat, converted(function)), context.current_graph(), arguments
        )
        in_python = functools.partial(flat, function) if context.executing_eagerly() else None
        if _debugging and context.executing_eagerly():
            body = build(f"Dataset_{name}", _in_python(in_python, body.outputs), None, arguments)  # type: ignore[arg-type]
    body.structured_outputs = None
    body.closed = True
    body.in_python = in_python
    body.jit_compile = EXACT  # elements must not depend on when and for how many at a time they are computed
    return Traced(body, found[0])


def _flat(
    specs: Sequence[Any], name: str, arrange: Any, found: list[Any], function: Callable[..., Any], *tensors: Any
) -> list[Any]:
    """Call a function of elements with flat tensors, and return flat tensors; `found` is told the spec of these."""
    result = function(*_arguments(specs, tensors))
    element = _element(result, name) if arrange is None else arrange(result)
    found[:] = [structure.spec_of(element)]
    return structure.to_tensors(found[0], element)


def _arguments(specs: Sequence[Any], tensors: Sequence[Any]) -> list[Any]:
    """Return what a function is called with for flat tensors."""
    given, at = [], 0
    for spec in specs:
        count = len(structure.flat_specs(spec))
        given.append(structure.from_tensors(spec, tensors[at : at + count]))
        at += count
    return list(given[0]) if len(given) == 1 and type(given[0]) is tuple else given


_debugging: list[bool] = []


def enable_debug_mode() -> None:
    """Run functions of elements as Python from now on, element by element, so that one can print and step in them."""
    if not context.executing_eagerly():
        raise ValueError("`enable_debug_mode() is only supported in eager mode.`")
    _debugging[:] = [True]


def toggle_debug_mode(debug_mode: bool) -> None:
    """Say whether functions of elements are run as Python from now on."""
    _debugging[:] = [True] if debug_mode else []


def _in_python(step: Callable[..., list[Any]], like: Sequence[Any]) -> Callable[..., Any]:
    """Return a function that calls another in Python; what it gives is like the tensors of the traced one."""

    def call(*tensors: Any) -> Any:
        outputs = py_function(step, list(tensors), [t.dtype for t in like])
        for output, traced in zip(outputs, like, strict=True):
            output.set_shape(traced._dims)
        return outputs

    return call


def _element(result: Any, name: str) -> Any:
    """Return what a function gave, with every leaf a tensor."""
    if isinstance(result, list):
        result = tuple(result)
    try:
        return structure.normalised(result)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"Unsupported return value from function passed to Dataset.{name}(): {result}. {error}"
        ) from None


def as_condition(result: Any) -> Any:
    """Return a predicate's result, which must be a scalar of dtype bool."""
    if isinstance(result, (CompositeTensor, tuple, dict)):
        raise ValueError(f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, got {result}")
    found = convert(result)
    if found.dtype.base_dtype.name != "bool" or found._dims not in (None, ()):
        raise ValueError(
            "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
            f"{structure.spec_of(found)}."
        )
    return found


def traced_scan(
    function: Callable[..., Any], state: Any, spec: Any, name: str, split: Callable[[Any], Sequence[Any]]
) -> tuple[Traced, Any, Any]:
    """Trace a function of a state and an element; return it, the spec of the state, and of what it gives besides.

    `split(result)` gives the new state and the rest. Shapes of the state that do not last are forgotten.
    """
    state_spec = structure.spec_of(state)
    while True:
        seen: list[Any] = []

        def arrange(result: Any, seen: list[Any] = seen, state_spec: Any = state_spec) -> Any:
            after, *rest = split(result)
            after = _like(state_spec, after, name)
            seen[:] = [structure.spec_of(after)]
            return (after, *[_element(part, name) for part in rest])

        made = trace(function, [state_spec, spec], name, arrange)
        wider = structure.map_structure(lambda a, b: _wider(a, b, name), state_spec, seen[0])
        if wider == state_spec:
            return made, state_spec, made.spec[1:]
        state_spec = wider


def _like(state_spec: Any, after: Any, name: str) -> Any:
    """Return a new state with every leaf a tensor, of the initial one's dtype where it is none yet."""
    try:
        structure.assert_same(state_spec, structure.map_structure(lambda _: None, after))
    except TypeError as error:
        raise TypeError(f"The new state of `{name}` does not have the structure of the initial one: {error}") from None
    flat = zip(structure.flatten(after), structure.flatten(state_spec), strict=True)
    return structure.pack_as(after, [x if isinstance(x, Tensor) else structure.normalised(x, s) for x, s in flat])


def _wider(before: Any, after: Any, name: str) -> Any:
    found = before.most_specific_common_supertype([after])
    if found is None:
        raise TypeError(
            f"Invalid `{name}`. The element types for the new state must match the initial state. Expected {before}; "
            f"got {after}. Cast the new state, or begin with one of that type."
        )
    return found
