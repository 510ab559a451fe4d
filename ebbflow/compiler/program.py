"""Programs: the compiled form of a graph's part, for one set of shapes.

A `Program` holds generated source and the memory it works in. It may run in several threads at once: each run takes an
instance (the function with its own block of memory) and puts it back. Errors are told with the node they happened in,
and the values it was given, which are still in the frame. Knows flows and source; knows nothing of sessions.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import time
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ebbflow.compiler import numpy_lines
from ebbflow.compiler.emit import Source, Writer
from ebbflow.compiler.flow import Failed, Flow, Node
from ebbflow.compiler.passes.native import BOTH
from ebbflow.core import memory
from ebbflow.core.op import COMPLAINTS

_numbers = itertools.count(1)
_gone: list[str] = []  # files of Programs that are gone, whose text is dropped with the next that comes


def _put(function: Any, name: str, thing: Any) -> None:
    """Give a name of a function's module another meaning, if the function is still there."""
    if (alive := function()) is not None:
        alive.__globals__[name] = thing


class Program:
    """A function from fed arrays to fetched ones."""

    in_words: Callable[[Failed], Exception] | None = None
    """What to make of a failure, for who calls this one and no other around it."""

    def __init__(self, flow: Flow, bind: Callable[[Node], Callable[..., Any]], exact: bool = False):
        self._source: Source = Writer(flow, bind, exact).write()
        self.flow = flow
        self.handles: tuple[tuple[int, Any], ...] = ()  # fed values that must be these very arrays
        self.shared = tuple(i for i, owned in enumerate(self._source.owned) if not owned)
        self.file = f"<ebbflow program {next(_numbers)}>"
        self._code = compile(self._source.text, self.file, "exec")
        # What changes state cannot be run again when a warning that was made an error stops it half way.
        self._quiet = self._source.changes and self._source.complains
        self._idle: list[Callable[..., Any]] = []
        with contextlib.suppress(IndexError):  # not when they go: whoever walks over the cache may collect garbage
            while True:  # until none is left: other threads take them, too
                linecache.cache.pop(_gone.pop(), None)
        linecache.cache[self.file] = (len(self._source.text), None, self._source.text.splitlines(True), self.file)
        weakref.finalize(self, _gone.append, self.file)

    @property
    def source(self) -> str:
        """The text, with the user's line behind each line that has one."""
        lines, last = [f"{name} = {text}" for name, text in self._source.views.items()], None
        for text, node in zip(self._source.lines, self._source.nodes, strict=True):
            line = str(node.origin.line) if node is not None and getattr(node.origin, "line", None) else ""
            lines.append(f"{text:<80}  # {line}" if line and line != last else text)
            last = line or last
        for name in self._source.natives:
            inside = self._source.names[name]._host.source.replace("def program(", f"def {name}_by_numpy(", 1)
            lines += ["", *inside.splitlines()]
        return "\n".join(lines) + "\n"

    @property
    def memory(self) -> int:
        """The bytes that intermediate values take."""
        return self._source.size

    def traced(self, fed: Sequence[Any], trace: list[Any]) -> tuple[Any, ...]:
        """Return the fetched values; add (node, start, end) in nanoseconds to `trace` for each graph node that ran."""
        ticks: list[tuple[Any, int]] = []
        lines, last = [], None
        for number, (text, node) in enumerate(zip(self._source.lines, self._source.nodes, strict=True)):
            starts = node is not last if node is not None else text.lstrip().startswith("return")
            lines.append(
                f"    tick({number}); {text.lstrip()}" if starts else text
            )  # errors find their node by the line
            last = node
        code = compile("\n".join(lines), self.file, "exec")
        more = {name: partial(self._source.names[name].traced, trace) for name in self._source.natives}
        more["tick"] = lambda number: ticks.append((self._source.nodes[number], time.time_ns()))  # type: ignore[assignment]
        function = self._instance(code, **more)
        try:
            with np.errstate(all="ignore"):
                results = function(*fed)
        except Exception as error:
            raise self._failure(error) from None
        self._note({node: (start, end) for (node, start), (_, end) in itertools.pairwise(ticks)}, ticks[0][1], trace)
        return results

    def _note(self, spans: dict[Any, tuple[int, int]], now: int, trace: list[Any]) -> None:
        """Add what ran to a trace. What is there before a run (constants, variables, views) takes no time, and is told
        of once; nodes in a row that stand for one of the graph's are one.
        """
        told = {entry[0] for entry in trace}
        for node in self.flow.nodes:
            start, now = spans.get(node, (now, now))
            origin = node.origin
            if origin is None or node.op in BOTH or (node not in spans and origin in told):
                continue
            if trace and trace[-1][0] is origin:
                start = trace.pop()[1]
            trace.append((origin, start, now))
            told.add(origin)
        trace.sort(key=lambda entry: entry[1])

    def _instance(self, code: Any = None, **more: Any) -> Callable[..., Any]:
        names = {**numpy_lines.namespace(), **self._source.names, "__name__": "ebbflow.program", **more}
        block = memory.empty([self._source.size], np.uint8, pooled=False)
        for name, (offset, value) in self._source.places.items():
            names[name] = block[offset : offset + value.nbytes].view(value.dtype.np).reshape(value.dims)
        for name, expression in self._source.views.items():
            names[name] = eval(expression, names)
        exec(code or self._code, names)
        for name in self._source.natives if code is None else ():
            names[name].when_ready(partial(_put, weakref.ref(names["program"]), name))
        return names["program"]

    def run(self, fed: Sequence[Any]) -> tuple[Any, ...]:
        """Return the fetched values."""
        try:
            return self._serve(*fed)
        except Exception as error:
            return self.rescued(fed, error)

    def straight(self) -> Callable[..., tuple[Any, ...]]:
        """Return what computes this from arrays given one by one. Who calls it turns to `rescued` with an error.

        Where there is no block to work in, one function serves all threads: taking an instance and putting it back
        would be a quarter of the time of a call that adds two small arrays.
        """
        if self._quiet or self._source.places:
            return self._serve
        return self._instance()

    def _serve(self, *fed: Any) -> tuple[Any, ...]:
        try:
            function = self._idle.pop()
        except IndexError:
            function = self._instance()
        try:
            if self._quiet:
                with np.errstate(all="ignore"):
                    return function(*fed)
            return function(*fed)
        finally:
            self._idle.append(function)

    def let_go(self) -> None:
        """Have no memory of one's own until the next run."""
        self._idle.clear()

    def rescued(self, fed: Sequence[Any], error: Exception) -> tuple[Any, ...]:
        """Return what comes of a run that met an error: a word on numbers out of range is all that stood in the way."""
        if self._quiet or not isinstance(error, COMPLAINTS):
            raise self._failure(error) from None
        try:
            with np.errstate(all="ignore"):
                return self._serve(*fed)
        except Exception as again:
            raise self._failure(again) from None

    def _failure(self, error: Exception) -> Exception:
        failed = self._located(error)
        return failed if self.in_words is None or not isinstance(failed, Failed) else self.in_words(failed)

    def _located(self, error: Exception) -> Exception:
        if isinstance(error, Failed):  # of a Program inside: it knows the node
            return error
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != self.file:
            trace = trace.tb_next
        if trace is None:
            return error
        node = self._source.nodes[trace.tb_lineno - 1]
        if node is None:
            return error
        frame = trace.tb_frame
        names = {**frame.f_globals, **frame.f_locals}
        values = [names.get(name) for name in self._source.operands[node]]
        return Failed(node, error, values)
