"""Running a part of a graph again and again: by the interpreter at first, then compiled.

A `Runner` stands for one set of fetches and feeds. The first run with shapes not met before goes through the plain
executor, so nothing waits for a compiler; the second makes a Program for these shapes. When the shapes keep changing,
one Program takes over that leaves open what has changed of them (the length of sequences), and nothing else; where a
Program cannot be made the executor goes on. Both give the same answers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ebbflow.compiler.flow import Failed
from ebbflow.compiler.options import from_the_first_run
from ebbflow.core import forks, garbage
from ebbflow.core.common_dims import common_dims
from ebbflow.core.tensor import HOST_DEVICE
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.control.script import IN_PYTHON
from ebbflow.runtime.executor import Executor

if TYPE_CHECKING:
    from ebbflow.compiler.program import Program

MAX_SHAPES = 16
"""At most this many sets of shapes get a Program of their own; then one serves all."""

FEW_SHAPES = 4
"""Shapes that are met for the first time go through the executor, up to so many of them."""

MANY_SHAPES = 8
"""Where more are met, a Program of its own is for shapes that come often."""

OFTEN, OFTEN_WITH_LOOPS = 16, 256
"""How often that is: code of whole loops takes seconds to make."""

_ANY = "any"

before_running: list[Callable[[Sequence[Any], Sequence[Any]], tuple[Sequence[Any], Sequence[Any]]]] = []
"""What higher rooms do to the graph between fetches and feeds before it is run: give others in their place."""


class Runner:
    """The fetched values from the fed ones, time and again."""

    def __init__(
        self, session: Any, fetches: Sequence[Any], feeds: Sequence[Any], jit: Any = None, name: str = "graph",
        done: Sequence[Any] = (),
    ):  # fmt: skip
        self.jit = jit
        self.name = name
        for rewrite in before_running:
            fetches, feeds = rewrite(fetches, feeds)
        self.executor = Executor(session, fetches, feeds, done)
        self.done = done  # nodes that have been run before this is
        self.device = HOST_DEVICE
        self.jit_device: Any = None  # where XLA runs what it compiles whole, if not on the host
        self.session = session
        self.fetches = list(fetches)
        self.when_settled: Callable[[Any], None] | None = None  # is told which Program to call instead of this
        self.feeds = list(feeds)
        self._met: dict[Any, int] = {}  # how often
        self._open: list[Any] | None = None  # the shapes of the Program for many: what has changed is None
        self._programs: dict[Any, Program | None] = {}
        self._lock = forks.lock()
        self._nodes = [type(f) is SymbolicTensor for f in fetches]
        self._all_tensors = all(self._nodes)
        self._static = all(t._dims is not None and None not in t._dims for t in feeds)
        self._unowned = tuple(i for i, is_tensor in enumerate(self._nodes) if is_tensor)

    @property
    def keeps_feeds(self) -> bool:
        """Whether a node holds on, after the run, to what it is given: who feeds it may change it then."""
        return any(bound.node._op.facts.keeps for bound in self.executor.bound)

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
            return self.executor.run(fed, trace), self._unowned
        try:
            results = program.run(fed) if trace is None else program.traced(fed, trace)
        except Failed as failed:
            raise _programs().explained(failed) from None
        if self._all_tensors:
            return list(results), program.shared
        given = iter(results)
        return [next(given) if is_tensor else None for is_tensor in self._nodes], self._unowned

    def run_stoppable(self, fed: Sequence[Any], trace: list[Any] | None = None) -> tuple[list[Any], Sequence[int]]:
        """`run` for a limited time: what is compiled does not look at the clock, so loops are not."""
        if self._has_loops:
            return self.executor.run(fed, trace), self._unowned
        return self.run(fed, trace)

    def values(self, fed: Sequence[Any]) -> Sequence[Any]:
        """Return the fetched values: `run` for those who do not ask who holds them, and fetch operations last."""
        program = self._programs.get(None if self._static else tuple([a.shape for a in fed]))
        if program is None or program.handles:
            return self.run(fed)[0]
        if self.when_settled is not None and self._static:
            self._settle(program)
        try:
            return program.run(fed)
        except Failed as failed:
            raise _programs().explained(failed) from None

    def _settle(self, program: Any) -> None:
        """Have all further calls go straight to a Program that serves any of them."""
        if hasattr(program, "in_words"):
            program.in_words = _programs().explained
            self.when_settled(program)  # type: ignore[misc]
        self.when_settled = None

    def _key(self, fed: Sequence[Any]) -> Any:
        """Return what Programs are told apart by: the shapes that are fed, where they can differ."""
        return None if self._static else tuple([a.shape for a in fed])

    def _next(self, fed: Sequence[Any]) -> Program | None:
        """Return the Program for these shapes if it is time for one."""
        key = self._key(fed)
        with self._lock:
            if key in self._programs:
                return self._programs[key]
            at_once = self.jit is True or from_the_first_run(self.session)
            if not at_once and self._all_in_python:
                return None
            if at_once or (key in self._met and len(self._programs) < MAX_SHAPES and self._comes_often(key)):
                if len(self._programs) >= MAX_SHAPES:
                    del self._programs[next(iter(self._programs))]
                self._programs[key] = self.compile([a.shape for a in fed], fed)
                return self._programs[key]
            if key not in self._met and len(self._met) < MAX_SHAPES:
                self._met[key] = 1
                if len(self._met) <= FEW_SHAPES:
                    return None
            return self._for_many(key)

    def _comes_often(self, key: Any) -> bool:
        """Return whether shapes that were met before are to have a Program of their own."""
        self._met[key] += 1
        return len(self._met) <= MANY_SHAPES or self._met[key] > (OFTEN_WITH_LOOPS if self._has_loops else OFTEN)

    @functools.cached_property
    def _has_loops(self) -> bool:
        return any(bound.node._op.facts.loop for bound in self.executor.bound)

    def _for_many(self, shapes: Sequence[Any]) -> Program | None:
        """Return the Program for shapes that keep changing: open where they have."""
        others = [*self._met] if self._open is None else [self._open]
        wider = [functools.reduce(common_dims, dims) for dims in zip(shapes, *others, strict=True)]
        if wider != self._open:
            self._open = wider
            self._programs[_ANY] = self.compile(wider)
        return self._programs[_ANY]

    @functools.cached_property
    def _all_in_python(self) -> bool:
        """Whether all that computes here are functions in Python: to load a compiler for them would be waiting."""
        nodes = [bound.node for bound in self.executor.bound]
        in_python = [node for node in nodes if node._op in IN_PYTHON]
        return bool(in_python) and all(node in in_python or not node._inputs for node in nodes)

    def _for_other_variables(self, fed: Sequence[Any]) -> Program | None:
        """Return a Program for these shapes that takes any variables: others than the first ones were given."""
        key = self._key(fed)
        with self._lock:
            self._programs[key] = self.compile([a.shape for a in fed], fed if self.jit is True else None)
        return self._programs[key]

    def compile(self, shapes: Sequence[Any], fed: Sequence[Any] | None = None) -> Any:
        """Return a Program for fed values of these shapes, or None where none can be made.

        A variable is fed as what holds it, which has no shape; it has that of the tensor that stands for it.
        """
        shapes = [t._dims if t._dtype._is_ref_dtype else dims for t, dims in zip(self.feeds, shapes, strict=True)]
        with forks.undivided(), garbage.seldom():
            return _programs().program_for(self, shapes, fed)

    def explain(self) -> str:
        """Return what runs, as text: the source of each Program made so far, and the memory it works in."""
        parts = []
        for key, program in self._programs.items():
            if program is not None:
                shapes = "" if key is None else f" for {', '.join(map(str, key))}" if key != _ANY else " for any shapes"
                parts.append(f"# Program{shapes}: {program.memory} bytes of planned memory\n{program.source}")
                if self.jit == "auto":
                    parts += _programs().outside_xla(program.flow)
        if not parts:
            program = self.compile([t._dims for t in self.feeds])
            return program.source if program is not None else "# runs node by node: it cannot be compiled\n"
        return "\n".join(parts)


def _programs() -> ModuleType:
    # The compiler with its engines takes 35 ms to load: paid by those who run something twice, not by the first tape.
    from ebbflow.runtime import programs

    return programs
