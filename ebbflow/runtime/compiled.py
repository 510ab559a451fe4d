"""Running a part of a graph again and again: by the interpreter at first, then compiled.

A `Runner` stands for one set of fetches and feeds. The first run with shapes not met before goes through the plain
executor, so nothing waits for a compiler; the second makes a Program for these shapes. When the shapes keep changing,
one Program for all of them takes over, and where a Program cannot be made the executor goes on. Both give the same
answers.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ebbflow.compiler.build import build
from ebbflow.compiler.clusters import Cluster
from ebbflow.compiler.flow import READ, Flow, Node
from ebbflow.compiler.jit import Jitted, outside
from ebbflow.compiler.native_region import Native, storage_of
from ebbflow.compiler.options import ALL, jit_level, memory_limit, switched_off
from ebbflow.compiler.parallel_regions import Together
from ebbflow.compiler.passes import FOR_THE_HOST, checking, optimise
from ebbflow.compiler.passes.cluster import CLUSTER
from ebbflow.compiler.passes.native import BOTH
from ebbflow.compiler.passes.parallel import TOGETHER
from ebbflow.compiler.program import Failed, Program
from ebbflow.core import dtypes, errors
from ebbflow.core.tensor import HOST_DEVICE
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.state.storage import Storage
from ebbflow.runtime.executor import NodeRun, Plan, located, needed_nodes

MAX_SHAPES = 16
"""At most this many sets of shapes get a Program of their own; then one serves all."""

NOT_FOR_XLA = ("cluster", *FOR_THE_HOST)
"""Passes that are of no use to what XLA compiles whole."""

_ANY = "any"

before_planning: list[Callable[[Sequence[Any], Sequence[Any]], tuple[Sequence[Any], Sequence[Any]]]] = []
"""What higher rooms do to the graph between fetches and feeds before it is run: give others in their place."""


class Runner:
    """The fetched values from the fed ones, time and again."""

    def __init__(
        self, session: Any, fetches: Sequence[Any], feeds: Sequence[Any], jit: Any = None, name: str = "graph"
    ):
        self._jit = jit
        self._name = name
        for rewrite in before_planning:
            fetches, feeds = rewrite(fetches, feeds)
        self.plan = Plan(session, fetches, feeds)
        self.device = HOST_DEVICE
        self.jit_device: Any = None  # where XLA runs what it compiles whole, if not on the host
        self._session = session
        self.fetches = list(fetches)
        self.feeds = list(feeds)
        self._met: set[Any] = set()
        self._programs: dict[Any, Program | None] = {}
        self._lock = threading.Lock()
        self._nodes = [isinstance(f, SymbolicTensor) for f in fetches]
        self._all_tensors = all(self._nodes)
        self._static = all(t._dims is not None and None not in t._dims for t in feeds)
        self._unowned = tuple(i for i, is_tensor in enumerate(self._nodes) if is_tensor)

    @property
    def keeps_feeds(self) -> bool:
        """Whether a node holds on, after the run, to what it is given: who feeds it may change it then."""
        return any(step.node._op.facts.keeps for step in self.plan.steps)

    def run(self, fed: Sequence[Any], trace: list[Any] | None = None) -> tuple[list[Any], Sequence[int]]:
        """Return the fetched values (None for operations), and which of them somebody else may hold."""
        program = self._programs.get(self._key(fed))
        if program is not None:
            for i, handle in program.handles:
                if fed[i] is not handle:
                    program = self._for_other_variables(fed)
                    break
        else:
            program = self._next(fed)
        if program is None:
            return self.plan.run(fed, trace), self._unowned
        try:
            results = program.run(fed) if trace is None else program.traced(fed, trace)
        except Failed as failed:
            raise _told(failed) from None
        if self._all_tensors:
            return list(results), program.shared
        given = iter(results)
        return [next(given) if is_tensor else None for is_tensor in self._nodes], self._unowned

    def run_stoppable(self, fed: Sequence[Any], trace: list[Any] | None = None) -> tuple[list[Any], Sequence[int]]:
        """`run` for a limited time: what is compiled does not look at the clock, so loops are not."""
        if any(step.node._op.facts.loop for step in self.plan.steps):
            return self.plan.run(fed, trace), self._unowned
        return self.run(fed, trace)

    def values(self, fed: Sequence[Any]) -> Sequence[Any]:
        """Return the fetched values: `run` for those who do not ask who holds them, and fetch operations last."""
        program = self._programs.get(None if self._static else tuple([a.shape for a in fed]))
        if program is None or program.handles:
            return self.run(fed)[0]
        try:
            return program.run(fed)
        except Failed as failed:
            raise _told(failed) from None

    def _key(self, fed: Sequence[Any]) -> Any:
        """Return what Programs are told apart by: the shapes that are fed, where they can differ."""
        return None if self._static else tuple([a.shape for a in fed])

    def _next(self, fed: Sequence[Any]) -> Program | None:
        """Return the Program for these shapes if it is time for one."""
        key = self._key(fed)
        with self._lock:
            if key in self._programs:
                return self._programs[key]
            if self._jit is True or checking() or (key in self._met and len(self._programs) < MAX_SHAPES):
                if len(self._programs) >= MAX_SHAPES:
                    del self._programs[next(iter(self._programs))]
                self._programs[key] = self.compile([a.shape for a in fed], fed)
                return self._programs[key]
            if len(self._met) < MAX_SHAPES:
                self._met.add(key)
                return None
            if _ANY not in self._programs:
                self._programs[_ANY] = self.compile([t._dims for t in self.feeds])
            return self._programs[_ANY]

    def _for_other_variables(self, fed: Sequence[Any]) -> Program | None:
        """Return a Program for these shapes that takes any variables: others than the first ones were given."""
        key = self._key(fed)
        with self._lock:
            self._programs[key] = self.compile([a.shape for a in fed], fed if self._jit is True else None)
        return self._programs[key]

    def compile(self, shapes: Sequence[Any], fed: Sequence[Any] | None = None) -> Any:
        """Return a Program for fed values of these shapes, or None where none can be made."""
        if self._jit is True and fed is not None:
            flow = self._flow(shapes)
            program: Any = Jitted(optimise(flow, NOT_FOR_XLA), fed, self._name, self.jit_device)
            program.handles = _handles(flow, fed)
            return program
        proto = getattr(self._session, "_config", None)
        off = switched_off(proto)
        if (
            self.plan.concurrent
            or ALL in off
            or any(step.node in step.node._graph.checked_nodes for step in self.plan.steps)
        ):
            return None
        try:
            flow = self._flow(shapes)
        except Exception:  # the executor says what is wrong, when it gets there
            return None
        greedy = self._jit == "auto" or jit_level(proto) > 0
        handles = _handles(flow, fed)
        best = optimise(flow, off, greedy, memory_limit(proto))
        program = Program(best, partial(bind, session=self._session))
        program.handles = handles
        return program

    def _flow(self, shapes: Sequence[Any]) -> Flow:
        with self.fetches[0].graph.changing if self.fetches else contextlib.nullcontext():
            nodes = needed_nodes(self.fetches, {id(t) for t in self.feeds})
            return build(nodes, self.feeds, shapes, self.fetches)

    def explain(self) -> str:
        """Return what runs, as text: the source of each Program made so far, and the memory it works in."""
        parts = []
        for key, program in self._programs.items():
            if program is not None:
                shapes = "" if key is None else f" for {', '.join(map(str, key))}" if key != _ANY else " for any shapes"
                parts.append(f"# Program{shapes}: {program.memory} bytes of planned memory\n{program.source}")
                if self._jit == "auto":
                    parts += [f"# outside XLA: {n.name} ({n.op.name}) {why}\n" for n, why in outside(program.flow)]
        if not parts:
            program = self.compile([t._dims for t in self.feeds])
            return program.source if program is not None else "# runs node by node: it cannot be compiled\n"
        return "\n".join(parts)


def _handles(flow: Flow, fed: Sequence[Any] | None) -> tuple[tuple[int, Any], ...]:
    """Note which variables are fed: a Program for these very ones reads and updates them without asking."""
    found = []
    for i, value in enumerate(flow.inputs if fed is not None else ()):
        if value.dtype is dtypes.resource and fed[i].ndim == 0 and isinstance(fed[i].item(), Storage):  # type: ignore[index]
            value.storage = fed[i].item()  # type: ignore[index]
            found.append((i, fed[i]))  # type: ignore[index]
    return tuple(found)


def _told(failed: Failed) -> Exception:
    """Return the error to show: of the graph's node that the failed one stands for."""
    node, origin = failed.node, failed.node.origin
    if node.op is origin._op and len(node.inputs) == len(origin._inputs):
        return located(failed.error, origin, failed.values)  # type: ignore[arg-type]
    if isinstance(failed.error, errors.OpError) and (failed.error.op is not None or node.op is READ):
        return located(failed.error, origin, [])
    explained = node.op.explain(failed.error, node.grouped(failed.values), node.attrs)
    return located(explained, origin, [])


def bind(node: Node, session: Any) -> Callable[..., Any]:
    """Return a function from a node's flat input values to its results, flat where it has several."""
    if node.op is CLUSTER:
        return Cluster(node.attrs["region"], partial(bind, session=session))
    if node.op in BOTH:
        within = partial(bind, session=session)
        return Native(node.attrs["region"], [storage_of(v, within) for v in node.inputs], within, session)
    if node.op is TOGETHER:
        return Together(node.attrs["regions"], partial(bind, session=session))
    call = node.op.bound(node.attrs, NodeRun(session, node.origin))
    signature = node.op.signature
    return (lambda *values: signature.flat_results(call(*values))) if signature.gives_lists_among else call
