"""`AutoGraphTestCase`: tests of staged code, each of which runs as the body of a `tf.function`.

What a test asserts of values is checked after the function has run, with the values that it computed; what it asserts
of nodes is checked where it stands, against the graph that has been built so far.
"""

from __future__ import annotations

import functools
import re
import sys
import unittest
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.function import function
from ebbflow.graph.scopes import init_scope
from ebbflow.state.base import Variable
from ebbflow.testing.test_case import TestCase


class AutoGraphTestCase(TestCase):
    """A test case whose tests are traced and run as functions."""

    def __new__(cls, *args: Any) -> AutoGraphTestCase:
        case = super().__new__(cls)
        for name in vars(cls):
            method = getattr(case, name)
            if name.startswith(unittest.TestLoader.testMethodPrefix) and callable(method):
                setattr(case, name, functools.partial(case._staged, method))
        return case

    def setUp(self) -> None:
        super().setUp()
        self.variables: dict[str, Any] = {}
        self._start()

    def _start(self) -> None:
        self._deferred: list[tuple[Callable[..., Any], list[Any]]] = []
        self._of_graph: list[Callable[[Any], None]] = []
        self._expected: Any = None

    def _staged(self, method: Callable[[], Any]) -> None:
        """Run a test as a function, then check what it asserted of its values."""

        def body() -> list[Any]:
            self._start()
            method()
            return [values for _, values in self._deferred]

        traced: Any = function(body, autograph=False)
        try:
            concrete = traced.get_concrete_function()
            for check in self._of_graph:
                check(concrete.graph)
            found = self.evaluate(concrete())
        except Exception:
            if self._expected is None:
                raise
            self._expected.__exit__(*sys.exc_info())
            return
        if self._expected is not None:
            self._expected.__exit__(None, None, None)
        for (check, _), values in zip(self._deferred, found, strict=True):
            check(*values)

    def variable(self, name: str, value: TensorLike, dtype: DTypeLike) -> Any:
        """Return the variable of this name, made outside of the test's function when it is first asked for."""
        with init_scope():
            if name not in self.variables:
                self.variables[name] = Variable(value, dtype=dtype)
                self.evaluate(self.variables[name].initializer)
        return self.variables[name]

    # --- of nodes -----------------------------------------------------------------------------------------------------

    def assertOpCreated(self, op_type: str) -> None:
        """Check that the graph has a node of this type by now, in a body of another one or by itself."""
        self.assertIn(op_type, _types(context.current_graph()))

    def assertOpsNotCreated(self, op_types: Sequence[str]) -> None:
        """Check that the graph has no node of these types yet."""
        self.assertEmpty(set(op_types) & _types(context.current_graph()))

    def assertNoOpsCreated(self) -> None:
        """Check that the graph has no nodes yet."""
        self.assertEmpty(_types(context.current_graph()))

    def assertGraphContains(self, op_regex: str, n: int) -> None:
        """Check how many nodes of the finished graph, and of functions in it, have names like this."""

        def check(graph: Any) -> None:
            message = graph.as_graph_def()
            nodes = [*message.node, *(node for body in message.library.function for node in body.node_def)]
            self.assertLen([node for node in nodes if re.match(op_regex, node.name)], n)

        self._of_graph.append(check)

    # --- of values ----------------------------------------------------------------------------------------------------

    def assertEqual(self, *args: Any) -> None:
        self._deferred.append((super().assertEqual, list(args)))

    def assertAllEqual(self, *args: Any) -> None:
        self._deferred.append((super().assertAllEqual, list(args)))

    def assertLess(self, *args: Any) -> None:
        self._deferred.append((super().assertLess, list(args)))

    def assertGreaterEqual(self, *args: Any) -> None:
        self._deferred.append((super().assertGreaterEqual, list(args)))

    def assertDictEqual(self, *args: Any) -> None:
        self._deferred.append((super().assertDictEqual, list(args)))

    def assertRaisesRuntime(self, *args: Any) -> None:
        """Expect that running the function fails in this way."""
        if self._expected is not None:
            raise ValueError("assertRaisesRuntime() may be called once in a test")
        self._expected = self.assertRaisesRegex(*args)
        self._expected.__enter__()


def _types(graph: Any) -> set[str]:
    """Return the types of the nodes of a graph and of the bodies inside them."""
    found: set[str] = set()
    for node in graph._nodes:
        found.add(node.type)
        for value in nest.flatten(list(node._attrs.values())):
            if isinstance(value, FuncGraph):
                found |= _types(value)
    return found
