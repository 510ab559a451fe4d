"""The ops `While` and `StatelessWhile`: a node that runs one function for as long as another says so.

What condition and body use from outside are loop invariants: inputs of the node that every iteration hands on
unchanged. How a loop is differentiated is the business of `while_gradient`; what users write is `while_loop`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from ebbflow.core import context, stopping
from ebbflow.core.op import op
from ebbflow.core.shape import Dims
from ebbflow.functions.control_flow.branch_op import truth
from ebbflow.functions.control_flow.references import read_inside
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.side_effects import must_run, waited_for
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.declare import raw
from ebbflow.ops.state.storage import is_reference

_TEXT = (
    "{}(input:list(T)) -> (output:list(T)) | T: list(type) >= 0; cond: func; body: func; "
    "output_shapes: list(shape) = []; parallel_iterations: int = 10{}"
)
While = op(_TEXT.format("While", " | stateful"), "loop")
StatelessWhile = op(_TEXT.format("StatelessWhile", ""), "loop")


def _shape(input: Any, *, output_shapes: Any) -> list[Dims]:
    return list(output_shapes) if len(output_shapes) == len(input) else [None] * len(input)


def _kernel(xp: Any, input: Any, *, cond: Any, body: Any, run: Any) -> list[Any]:
    values = list(input)
    body, cond = body.with_first(len(values), len(values)), cond.with_first(len(values), 1)
    session, test, step = run.session, cond.run, body.run
    stop = stopping.current(session)
    references = [i for i, t in enumerate(body.inputs) if t._dtype._is_ref_dtype and is_reference(values[i])]
    while truth(test(session, values)[0]):
        before, values = values, step(session, values)
        if references:  # the body may assign to them: hand on the variables, not what was read from them
            values = list(values)
            for i in references:
                values[i] = before[i]
        if stop.urgent:
            stop.check("Loop execution was cancelled.")
    for i in references:
        values[i] = values[i].item().read()
    return values


def _narrow(attrs: dict[str, Any], used: Sequence[int]) -> tuple[list[int], list[int], dict[str, Any]] | None:
    """Return the loop without the variables that neither the used ones nor its condition nor its effects need."""
    test, body = attrs["cond"], attrs["body"]
    if len(used) == len(body.outputs):
        return None
    keep = _needed_variables(test, body, used)
    if len(keep) == len(body.inputs):
        return None
    shapes = attrs["output_shapes"]
    slim = {
        **attrs,
        "T": tuple(attrs["T"][i] for i in keep),
        "output_shapes": tuple(shapes[i] for i in keep) if shapes else (),
        "cond": test.with_outputs(test.outputs),
        "body": body.with_outputs([body.outputs[i] for i in keep]),
    }
    for name in ("cond", "body"):
        slim[name].inputs = [slim[name].inputs[i] for i in keep]
    if used:
        slim["body"].effects = waited_for(slim["body"])
    return keep, keep, slim


def _needed_variables(test: FuncGraph, body: FuncGraph, used: Sequence[int]) -> list[int]:
    keep = set(used) | _arguments_of(test, [*test.outputs, *_effects(test)])
    if body.effects is None or not used:
        keep |= _arguments_of(body, _effects(body))
    stack = list(keep)
    while stack:
        more = _arguments_of(body, [body.outputs[stack.pop()]]) - keep
        keep |= more
        stack.extend(more)
    return sorted(keep)


def _effects(graph: FuncGraph) -> list[Any]:
    return graph.effects if graph.effects is not None else [node for node in graph._nodes if must_run(node)]


def _arguments_of(graph: FuncGraph, targets: Sequence[Any]) -> set[int]:
    """Return the numbers of the arguments that some tensors (or nodes) of a function depend on."""
    numbers = {id(t): i for i, t in enumerate(graph.inputs)}
    found: set[int] = set()
    seen: set[Any] = set()
    stack = [t for t in targets if t.graph is graph.base]
    while stack:
        target = stack.pop()
        if id(target) in numbers:
            found.add(numbers[id(target)])
            continue
        node = getattr(target, "_op", target) if type(target) is SymbolicTensor else target
        if node not in seen:
            seen.add(node)
            stack.extend(node._inputs)
            stack.extend(node.waits_for)
    return found


def _with_values(attrs: dict[str, Any]) -> tuple[list[tuple[int, Any]], Any, dict[str, Any]] | None:
    """Return the loop that takes the values of variables in their place; None where it does more than read them.

    Instead of each variable comes a value for each place where it is read: pairs of its number and the dtype (None for
    what is taken as it is), and the op and attrs for them.
    """
    bodies = {name: attrs[name] for name in ("cond", "body")}
    places = _places_of_reading(bodies["cond"], bodies["body"])
    if places is None:  # perhaps rows are looked up, or a choice reads: that module knows this one
        return importlib.import_module("ebbflow.functions.control_flow.value_loops").with_values(attrs)
    scrap, shapes = FuncGraph("values"), attrs["output_shapes"]
    taken, types, dims, outputs = [], [], [], []
    inputs: dict[str, list[Any]] = {"cond": [], "body": []}
    for i, tensor in enumerate(bodies["body"].inputs):
        for value in places.get(i, [None]):
            for name, graph in bodies.items():
                if value is None or value.graph is graph.base:
                    inputs[name].append(graph.inputs[i] if value is None else value)
                else:  # read by the other one: nobody takes it here
                    inputs[name].append(scrap.argument(value._dtype, value._dims, "value"))
            taken.append((i, None if value is None else value._dtype))
            types.append(attrs["T"][i] if value is None else value._dtype)
            dims.append((shapes[i] if shapes else tensor._dims) if value is None else value._dims)
            outputs.append(bodies["body"].outputs[i] if value is None else inputs["body"][-1])
    found = {**attrs, "T": tuple(types), "output_shapes": tuple(dims)}
    for name, graph, results in (("cond", bodies["cond"], bodies["cond"].outputs), ("body", bodies["body"], outputs)):
        found[name] = graph.with_outputs(results)
        found[name].inputs, found[name].effects = inputs[name], []  # it did nothing but read
    return taken, StatelessWhile, found


def _places_of_reading(test: FuncGraph, body: FuncGraph) -> dict[int, list[SymbolicTensor]] | None:
    """Return what the loop reads from which of its arguments, if it does nothing else that has to do with state."""
    numbers = {id(t): i for graph in (test, body) for i, t in enumerate(graph.inputs)}
    places: dict[int, list[SymbolicTensor]] = {}
    for node in (*test._nodes, *body._nodes):
        if node._op.keeps_state:
            number = numbers.get(id(node._inputs[0])) if node._op.facts.reads == "whole" else None
            if number is None or body.outputs[number] is not body.inputs[number]:
                return None
            places.setdefault(number, []).append(node._outputs[0])
    reads = {value._op for values in places.values() for value in values}
    if any(before in reads for node in (*test._nodes, *body._nodes) for before in node.waits_for):
        return None  # the read itself is waited for, as in loops that TensorFlow wrote
    return places or None


for _op in (While, StatelessWhile):
    _op.shape(_shape)
    _op.kernel(_kernel)
    _op.narrow = _narrow


def _with_draws(attrs: dict[str, Any], drawn: Any) -> tuple[Any, dict[str, Any]]:
    """Return the loop that takes what its nodes draw; that module knows this one."""
    return importlib.import_module("ebbflow.functions.control_flow.drawn_loops").with_draws(attrs, drawn)


While.with_values, While.with_draws = _with_values, _with_draws


def loop_node(
    given: Sequence[Any],
    dims: Sequence[Dims],
    test: FuncGraph,
    step: FuncGraph,
    parallel_iterations: int = 10,
    name: str | None = None,
) -> list[Any]:
    """Add the node that runs `step` while `test` holds; return its outputs, those of the captured invariants last.

    The functions' first arguments are the `given` loop variables; what either captures becomes an invariant of both.
    """
    read_inside([test, step])
    captured = unite(len(given), test, step)
    step.outputs = [*step.outputs, *step.inputs[len(given) :]]
    stateful = any(n._op.keeps_state for body in (test, step) for n in body._nodes)
    with context.current_graph().control_dependencies([*test.outer_controls, *step.outer_controls]):
        return (raw.While if stateful else raw.StatelessWhile)(
            [*given, *captured],
            cond=test,
            body=step,
            output_shapes=[*dims, *[t._dims for t in captured]],
            parallel_iterations=parallel_iterations,
            name=name,
        )


def unite(count: int, *bodies: FuncGraph) -> list[Any]:
    """Give bodies that share their first `count` arguments one list of captures behind them."""
    captured = list({id(t): t for body in bodies for t in body.external_captures}.values())
    for body in bodies:
        body.inputs = [*body.inputs[:count], *[body.capture(t) for t in captured]]
    return captured
