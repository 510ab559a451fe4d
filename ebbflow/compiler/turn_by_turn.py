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
from ebbflow.compiler.program import Program
from ebbflow.compiler.shapes_through import entering
from ebbflow.core import stopping


class TurnByTurn:
    """A loop without effects as a function of its variables; `make` gives the Program of a flow."""

    def __init__(self, node: Node, make: Callable[[Flow], Program], session: Any):
        self._node, self._make, self._session = node, make, session
        self._programs: tuple[Program, Program] | None = None

    def __call__(self, *values: Any) -> Sequence[Any]:
        """Return the variables after the last turn."""
        test, body = self._programs or self._made()
        stop = stopping.current(self._session)
        while truth_of(np.asarray(test.run(values)[0])):
            values = body.run(values)
            if stop.urgent:
                stop.check("Loop execution was cancelled.")
        return list(values)

    def _made(self) -> tuple[Program, Program]:
        """Make the Programs: when the loop is first run, for many never are."""
        node = self._node
        always = entering(node)
        test, body = (self._make(loop_function(node.attrs, name, node.inputs, always)) for name in ("cond", "body"))
        self._programs = test, body
        return self._programs
