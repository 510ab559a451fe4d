"""Loops that are run turn by turn: the test and the body are Programs, made for the shapes that all turns have.

A function of its own would know no more than what the graph says of it and the arrays that come in: not of what shape
the elements of a list are, nor which numbers no turn changes. A flow around the loop knows both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.build import loop_function
from ebbflow.compiler.decisions import truth_of
from ebbflow.compiler.flow import Flow, Node
from ebbflow.compiler.native_region import in_background
from ebbflow.compiler.open_loops import OpenLoop
from ebbflow.compiler.options import from_the_first_run
from ebbflow.compiler.program import Program
from ebbflow.compiler.shapes_through import entering
from ebbflow.core import stopping
from ebbflow.engines import enabled
from ebbflow.engines.native import library

PATIENCE = 4
"""Runs before code is made."""

MOST_REFUSALS = 16
"""Runs that the code of a loop refuses before it is dropped."""


class TurnByTurn:
    """A loop without effects as a function of its variables; `make` gives the Program of a flow."""

    def __init__(self, node: Node, make: Callable[[Flow], Program], session: Any):
        self._node, self._make, self._session = node, make, session
        self._programs: tuple[Program, Program] | None = None
        self._runs = 0
        self._code: OpenLoop | None = None
        self.refusal: str | None = None

    def __call__(self, *values: Any) -> Sequence[Any]:
        """Return the variables after the last turn."""
        if self._code is not None:
            results = self._code(values)
            if results is not None:
                return results
            self._runs += 1
            if self._runs >= PATIENCE + MOST_REFUSALS:
                self._code, self.refusal = None, "what comes in is not what the code was made for"
        elif self._runs < PATIENCE:
            self._count_run()
        test, body = self._programs or self._made()
        stop = stopping.current(self._session)
        while truth_of(np.asarray(test.run(values)[0])):
            values = body.run(values)
            if stop.urgent:
                stop.check("Loop execution was cancelled.")
        return list(values)

    def _count_run(self) -> None:
        self._runs += 1
        if from_the_first_run(self._session):
            self._runs = PATIENCE
            self.compile()
        elif self._runs == PATIENCE:
            in_background(self.compile)

    def compile(self) -> None:
        """Make the code of the whole loop, if it can be."""
        if not (enabled.allowed("native") and library.available()):
            return
        try:
            self._code = OpenLoop(self._node, self._session)
        except Exception as reason:  # it goes on turn by turn
            self.refusal = f"{type(reason).__name__}: {reason}"

    def _made(self) -> tuple[Program, Program]:
        """Make the Programs: when the loop is first run, for many never are."""
        node = self._node
        always = entering(node)
        test, body = (self._make(loop_function(node.attrs, name, node.inputs, always)) for name in ("cond", "body"))
        self._programs = test, body
        return self._programs
