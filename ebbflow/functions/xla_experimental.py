"""`tf.xla.experimental`: parts of a graph that XLA compiles, by function (`compile`) or by scope (`jit_scope`).

`jit_compile` of `tf.function` does the work; scopes mark nodes as TensorFlow marks them, and files carry the marks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.typing import Nested
from ebbflow.functions.function import function
from ebbflow.graph.scopes import group, no_op
from ebbflow.graph.symbolic import Operation


def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Nested:
    """Return what `computation(*inputs)` gives, compiled by XLA: its structure, one value as a list of one.

    >>> from ebbflow.core.convert import convert
    >>> [float(y) for y in compile(lambda x: x + 1.0, [convert(1.0)])]
    [2.0]
    """
    if inputs is not None and not isinstance(inputs, (list, tuple)):
        raise TypeError(f"inputs must be a list or a tuple of what computation takes, got {type(inputs).__name__}")
    effects: list[bool] = []

    def traced(*arguments: Any) -> Any:
        found = computation(*arguments)
        leaves = nest.flatten(found)
        effects[:] = [found is None or all(isinstance(leaf, Operation) for leaf in leaves)]
        return None if effects[0] else found

    found = function(traced, autograph=False, jit_compile=True)(*(inputs or ()))
    if effects[0]:
        return group(found) if isinstance(found, Operation) else no_op()
    return found if nest.is_nested(found) else [found]


_numbers: list[int] = [0]


@contextlib.contextmanager
def jit_scope(
    compile_ops: bool | Callable[..., Any] = True, separate_compiled_gradients: bool = False
) -> Iterator[None]:
    """Mark nodes made inside the block as ones to compile (or as `compile_ops(node)` says, asked for each)."""
    if context.executing_eagerly():
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled. Try use it inside "
            "tf.function."
        )
    graph = context.current_graph()
    name = f"jit_scope_{_numbers[0]}"
    _numbers[0] += 1
    attrs = {"_XlaSeparateCompiledGradients": separate_compiled_gradients, "_XlaScope": name}
    before = len(graph._nodes)
    with graph._attr_scope(attrs if callable(compile_ops) else {**attrs, "_XlaCompile": bool(compile_ops)}):
        yield
    if callable(compile_ops):
        for node in graph._nodes[before:]:
            node._attrs = {**node._attrs, "_XlaCompile": bool(compile_ops(node.node_def))}
