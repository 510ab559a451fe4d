"""Recorded cases of ops, compiled: many in one executable, because compiling costs more than running.

`answers` runs the judge's own runner (`tests/ops/golden.py`) twice over a batch of cases, with a session that compiles
where a session would run: the first time it takes down what is fetched from what, then everything taken down is
compiled as one region, and the second time it hands out what came of it.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

import ebbflow as tf
from ebbflow.engines.xla.executable import compile_function
from ebbflow.engines.xla.lower import Trace, lower_node
from ebbflow.engines.xla.refusal import needed
from ebbflow.engines.xla.rules import everything
from tests.ops import golden


class _Compiled:
    """The names a runner uses, with a session of ours."""

    def __init__(self, session: Any):
        class Names:
            placeholder = staticmethod(tf.compat.v1.placeholder)
            Session = staticmethod(lambda: contextlib.nullcontext(session))

        class Compat:
            v1 = Names

        self.compat = Compat

    def __getattr__(self, name: str) -> Any:
        return getattr(tf, name)


class _TakingDown:
    """A session that notes what is asked of it, and answers nothing in particular."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[Any], list[Any], list[np.ndarray]]] = []

    def run(self, fetches: list[Any], feeds: dict[Any, np.ndarray]) -> list[np.ndarray]:
        self.asked.append((list(fetches), list(feeds), [np.asarray(v) for v in feeds.values()]))
        return [np.zeros(())] * len(fetches)


class _Answering:
    """A session that answers what was asked before, in the same order."""

    def __init__(self, answers: list[Any]):
        self.answers = iter(answers)

    def run(self, fetches: list[Any], feeds: Any) -> list[np.ndarray]:
        found = next(self.answers)
        if isinstance(found, Exception):
            raise found
        return found


def lowered(fetches: list[Any], feeds: list[Any], values: list[Any]) -> list[Any]:
    """Return what is fetched, in jax."""
    known = dict(zip(map(id, feeds), values, strict=True))
    trace = Trace()
    for node in needed(fetches, feeds):
        lower_node(node, known, trace)
    return [known[id(t)] for t in fetches]


def answers(cases: list[dict]) -> list[golden.Answer]:
    """Return the compiled answers to cases, as the judge takes them."""
    taking = _TakingDown()
    runner = golden.Runner(_Compiled(taking))
    for case in cases:
        runner.answer(case, "graph")
    results = _run_all(taking.asked)
    runner = golden.Runner(_Compiled(_Answering(results)))
    return [runner.answer(case, "graph") for case in cases]


def _run_all(asked: list[Any]) -> list[Any]:
    """Compile everything asked as one function; what cannot be lowered is answered by the refusal."""
    results: list[Any] = [None] * len(asked)

    def everything(*values: Any) -> list[Any]:
        rest, flat = iter(values), []
        for i, (fetches, feeds, arrays) in enumerate(asked):
            given = [next(rest) for _ in arrays]
            try:
                found = lowered(fetches, feeds, given)
            except Exception as error:
                results[i] = error
                continue
            flat += found
        return flat

    arrays = [a for _, _, values in asked for a in values]
    found = iter(compile_function(everything, arrays, quick=True)(*arrays))
    for i, (fetches, _, _) in enumerate(asked):
        if results[i] is None:
            results[i] = [next(found) for _ in fetches]
    return results


# ---------------------------------------------------------------------------------------------- one op, host and XLA


def host(op: str, arguments: dict[str, Any]) -> list[np.ndarray]:
    """Return what the op's kernel gives."""
    inputs = {name: _constant(value) for name, value in arguments.items()}
    return [np.asarray(t) for t in golden.call_raw_op(tf, op, inputs, {})]


def both(op: str, arguments: dict[str, Any]) -> tuple[list[Any], list[np.ndarray]]:
    """Return what an op gives compiled, with what it needs to know as constants, and what it gives on the host."""
    needs = everything()[op].needs
    feeds: dict[Any, np.ndarray] = {}

    def fed(name: str, value: Any) -> Any:
        if name in needs or not _is_array(value):
            return _constant(value)
        if isinstance(value, list):
            return [fed(name, v) for v in value]
        node = tf.compat.v1.placeholder(np.asarray(value).dtype, np.shape(value))
        feeds[node] = np.asarray(value)
        return node

    with tf.Graph().as_default():
        tensors = golden.call_raw_op(tf, op, {name: fed(name, value) for name, value in arguments.items()}, {})
    arrays = list(feeds.values())
    function = lambda *values: lowered(tensors, list(feeds), list(values))
    return compile_function(function, arrays, quick=True)(*arrays), host(op, arguments)


def _is_array(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _is_array(value[0])
    return isinstance(value, (np.ndarray, np.generic))


def _constant(value: Any) -> Any:
    if isinstance(value, list) and value and _is_array(value[0]):
        return [tf.constant(v) for v in value]
    return tf.constant(value) if _is_array(value) else value
