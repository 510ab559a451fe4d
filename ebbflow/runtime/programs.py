"""From a Runner's part of a graph to a Program: what is needed, as a flow; the passes; the engines that nodes go to.

Knows the compiler and everything that it loads, so only `runtime.compiled` imports it, when a Program is first made. A
Program that fails says so in words of the graph's node here, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ebbflow.compiler import lstm_steps  # noqa: F401 (ops are prepared there)
from ebbflow.compiler.build import build
from ebbflow.compiler.clusters import Cluster
from ebbflow.compiler.decisions import Decisions
from ebbflow.compiler.flow import READ, Failed, Flow, Node, Value
from ebbflow.compiler.jit import outside, whole
from ebbflow.compiler.native_region import PATIENCE, Native, storage_of
from ebbflow.compiler.options import ALL, EXACT, NOT_FOR_XLA, ROUNDING, jit_level, memory_limit, switched_off
from ebbflow.compiler.parallel_regions import Together
from ebbflow.compiler.passes import optimise
from ebbflow.compiler.passes.cluster import CLUSTER
from ebbflow.compiler.passes.native import BOTH
from ebbflow.compiler.passes.parallel import TOGETHER
from ebbflow.compiler.program import Program
from ebbflow.compiler.turn_by_turn import TurnByTurn
from ebbflow.core import dtypes, errors
from ebbflow.ops.state.storage import ELSEWHERE, Storage
from ebbflow.runtime.decided_programs import Decided
from ebbflow.runtime.executor import NodeRun, located, needed_nodes

if TYPE_CHECKING:
    from ebbflow.runtime.compiled import Runner

SURE = 2
"""Runs by NumPy before code is made for a way that is gone again."""


def program_for(runner: Runner, shapes: Sequence[Any], fed: Sequence[Any] | None = None) -> Any:
    """Return a Program for fed values of these shapes, or None where none can be made."""
    if runner.jit is True and fed is not None:
        flow = _flow(runner, shapes)
        program: Any = whole(optimise(flow, NOT_FOR_XLA), fed, runner.name, runner.jit_device)
        if program is not None:
            program.handles = _handles(flow, fed)
            return program
    proto = getattr(runner.session, "_config", None)
    off = switched_off(proto) | (frozenset(ROUNDING) if runner.jit == EXACT else frozenset())
    if (
        runner.executor.concurrent
        or ALL in off
        or any(bound.node in bound.node._graph.checked_nodes for bound in runner.executor.bound)
    ):
        return None
    try:
        flow = _flow(runner, shapes)
    except Exception:  # the executor says what is wrong, when it gets there
        return None
    greedy = runner.jit in ("auto", True) or (jit_level(proto) > 0 and runner.jit != EXACT)
    handles = _handles(flow, fed)
    if any(array.item().is_elsewhere for _, array in handles) or any(map(_names_elsewhere, flow.nodes)):
        return None  # each op on such a variable is run where it is kept: the executor sees to that
    limit = memory_limit(proto)
    best = optimise(flow, off, greedy, limit)
    plain = not greedy and limit is None and runner.jit != EXACT
    within = partial(bind, session=runner.session, off=off if plain else None)
    program = Program(best, within, runner.jit == EXACT)
    program.handles = handles
    if fed is not None and not greedy and limit is None and any(node.op.facts.loop for node in best.nodes):
        return Decided(program, _Ways(runner, shapes, off))
    return program


class _Ways:
    """How Programs are made for the ways that a graph with loops may go."""

    def __init__(self, runner: Runner, shapes: Sequence[Any], off: frozenset[str]):
        self._runner, self._shapes, self._off = runner, shapes, off

    def decided(self, fed: Sequence[Any]) -> tuple[Flow, Decisions]:
        """Return the flow of the way that these values go."""
        decisions = Decisions(fed)
        return _flow(self._runner, self._shapes, decisions), decisions

    def program(self, flow: Flow, fed: Sequence[Any]) -> Program:
        """Return the Program of one way."""
        _handles(flow, fed)
        bound = partial(bind, session=self._runner.session, patience=SURE, off=self._off)
        return Program(optimise(flow, self._off), bound, self._runner.jit == EXACT)


def _flow(runner: Runner, shapes: Sequence[Any], decisions: Decisions | None = None) -> Flow:
    with runner.fetches[0].graph.changing if runner.fetches else contextlib.nullcontext():
        nodes = needed_nodes(runner.fetches, {id(x) for x in (*runner.feeds, *runner.done)})
        return build(nodes, runner.feeds, shapes, runner.fetches, decisions)


def _handles(flow: Flow, fed: Sequence[Any] | None) -> tuple[tuple[int, Any], ...]:
    """Note which variables are fed: a Program for these very ones reads and updates them without asking."""
    found = []
    for i, value in enumerate(flow.inputs if fed is not None else ()):
        if value.dtype is dtypes.resource and fed[i].ndim == 0 and isinstance(fed[i].item(), Storage):  # type: ignore[index]
            value.storage = fed[i].item()  # type: ignore[index]
            found.append((i, fed[i]))  # type: ignore[index]
    return tuple(found)


def _names_elsewhere(node: Node) -> bool:
    return node.op.name == "VarHandleOp" and node.attrs["container"].startswith(ELSEWHERE)


def explained(failed: Failed) -> Exception:
    """Return the error to show: of the graph's node that the failed one stands for."""
    node, origin = failed.node, failed.node.origin
    if node.op is origin._op and len(node.inputs) == len(origin._inputs):
        return located(failed.error, origin, failed.values)  # type: ignore[arg-type]
    if isinstance(failed.error, errors.OpError) and (failed.error.op is not None or node.op is READ):
        return located(failed.error, origin, [])
    explained = node.op.explain(failed.error, node.grouped(failed.values), node.attrs)
    return located(explained, origin, [])


def _refers(value: Value) -> bool:
    return value.dtype._is_ref_dtype


def outside_xla(flow: Flow) -> Iterator[str]:
    """Yield a line for each node that XLA was not given, and why."""
    for node, why in outside(flow):
        yield f"# outside XLA: {node.name} ({node.op.name}) {why}\n"


def bind(node: Node, session: Any, patience: int = PATIENCE, off: frozenset[str] | None = None) -> Callable[..., Any]:
    """Return a function from a node's flat input values to its results, flat where it has several.

    After `patience` runs by NumPy machine code is made for it. `off` are the passes that what is inside of it is made
    without; None leaves that to its functions themselves.
    """
    within = partial(bind, session=session, patience=patience, off=off)
    if node.op is CLUSTER:
        return Cluster(node.attrs["region"], within, session)
    if node.op in BOTH:
        return Native(node.attrs["region"], [storage_of(v, within) for v in node.inputs], within, session, patience)
    if node.op is TOGETHER:
        return Together(node.attrs["regions"], within)
    if node.op.facts.loop and off is not None and not node.stateful and not any(map(_refers, node.inputs)):
        return TurnByTurn(node, lambda flow: Program(optimise(flow, off), within), session)
    call = node.op.bound(node.attrs, NodeRun(session, node.origin))
    signature = node.op.signature
    return (lambda *values: signature.flat_results(call(*values))) if signature.gives_lists_among else call
