"""Seeds: which two an op gets, and which stream of numbers it reads.

An op has two seeds, one from the program or graph and one of its own; with neither its numbers cannot be predicted. In
a graph each node has a stream to a session, which goes on from run to run. Eagerly a stream belongs to the op, its
attrs and its seeds, goes on from call to call, and starts afresh at `set_seed`. Knows seeds and streams; not what is
drawn.
"""

from __future__ import annotations

import os
import random
import threading
import weakref
from typing import Any

import numpy as np

from ebbflow.core import context, forks
from ebbflow.core.op import eager_run
from ebbflow.ops.random.philox import Stream
from ebbflow.platform import config

DEFAULT_GRAPH_SEED = 87654321
_MAXINT32 = 2**31 - 1
_KEPT = 1 << 14
"""Streams kept for seeds drawn here. A program's own seeds are kept as long as it runs: it may come back to them."""


class _Program:
    """The seed of all that runs eagerly."""

    def __init__(self) -> None:
        self.lock = forks.lock()
        self.seed: Any = None
        self.op_seeds = random.Random()
        self.drawn: dict[tuple[int, int], dict[Any, Stream]] = {}
        self.streams: dict[Any, Stream] = {}
        self.nodes: weakref.WeakKeyDictionary[Any, Stream] = weakref.WeakKeyDictionary()


_program = _Program()
_random_nodes: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_taken_inside: weakref.WeakKeyDictionary[Any, set[int]] = weakref.WeakKeyDictionary()
"""For each graph of TF 1, the seeds that ops in its branches and loops have."""


# --- public -----------------------------------------------------------------------------------------------------------


def set_random_seed(seed: int | None) -> None:
    """Set the seed of the default graph or, where ops run at once, of the program; None takes it away.

    >>> import ebbflow as tf
    >>> set_random_seed(7)
    >>> first = tf.random.uniform([2]).numpy().tolist()
    >>> set_random_seed(7)
    >>> first == tf.random.uniform([2]).numpy().tolist()
    True
    >>> set_random_seed(None)
    """
    if not context.executing_eagerly():
        context.current_graph().seed = seed
        return
    if seed is not None and not isinstance(seed, (int, float, str, bytes)):
        seed = int(np.asarray(seed))
    with _program.lock:
        _program.seed = seed
        _program.op_seeds = random.Random(seed)
        _program.drawn.clear()
        _program.streams.clear()
        _program.nodes.clear()


set_seed = set_random_seed


def global_seed() -> Any:
    """Return the seed of what runs here: the program's, or that of the graph being built. None: there is none."""
    return _program.seed if context.executing_eagerly() else context.current_graph().seed


def get_seed(op_seed: int | None) -> tuple[Any, Any]:
    """Return the two seeds for an op that was asked for with `op_seed` (or None); (None, None): it is not seeded.

    >>> get_seed(3)
    (87654321, 3)
    """
    graph = None if context.executing_eagerly() else context.current_graph()
    first = _program.seed if graph is None else graph.seed
    if first is None:
        if op_seed is None:
            if config.wishes.seeds_needed:
                raise RuntimeError(
                    "Random ops require a seed to be set when determinism is enabled. Please set a seed before running "
                    "the op, e.g. by calling tf.random.set_seed(1)."
                )
            return None, None
        first = DEFAULT_GRAPH_SEED
        return first, _shortened(op_seed)
    if op_seed is None:
        op_seed = _own_seed(graph)
    seeds = _shortened(first), _shortened(op_seed)
    return (0, _MAXINT32) if seeds == (0, 0) else seeds  # two zeros would mean: not seeded


def is_seeded() -> bool:
    """Return whether an op that is asked for without a seed has one all the same."""
    graph = None if context.executing_eagerly() else context.current_graph()
    return (_program.seed if graph is None else graph.seed) is not None


def seed_attrs(op_seed: int | None) -> dict[str, Any]:
    """Return the attrs `seed` and `seed2` for an op asked for with `op_seed`."""
    first, second = get_seed(op_seed)
    return {} if first is None else {"seed": int(first), "seed2": int(second)}


def _shortened(seed: Any) -> Any:
    if isinstance(seed, (str, bytes)):
        raise TypeError(f"a seed is an integer, got {seed!r}")
    return seed % _MAXINT32


def _own_seed(graph: Any) -> int:
    """Return the second seed of an op that has none, where the first is set."""
    if graph is None:
        with _program.lock:
            drawn = _program.op_seeds.randint(0, _MAXINT32)
            _program.drawn[_shortened(_program.seed), _shortened(drawn)] = {}
            if len(_program.drawn) > _KEPT:
                _program.drawn.pop(next(iter(_program.drawn)))
        return drawn
    if hasattr(graph, "_seed_used"):
        graph._seed_used = True
    if context.switches.tf1:
        return _nodes_before(graph)
    count = _random_nodes.get(graph, 0)
    _random_nodes[graph] = count + 1
    return count


def _nodes_before(graph: Any) -> int:
    """Return by how many nodes before it TF 1 seeds an op. Branches and turns of loops stood in the graph around them:
    each op there has a number of its own, though not the same one, since Switch and Merge are not counted.
    """
    outermost, count = graph, len(graph._nodes)
    while outermost.building_function and outermost.is_control_flow_graph:
        outermost = outermost._around
        count += len(outermost._nodes)
    if outermost.building_function or context.switches.control_flow_v2:
        return len(graph._nodes)
    taken = _taken_inside.setdefault(outermost, set())
    while count in taken:
        count += 1
    if outermost is not graph:
        taken.add(count)
    return count


# --- streams ----------------------------------------------------------------------------------------------------------


class _Iteration(threading.local):
    streams: dict[Any, Any] | None = None


iteration = _Iteration()
"""The streams of the iteration over a dataset that this thread works for: its functions' nodes begin anew with it."""

OWN = "own"


def by_chance() -> tuple[int, int]:
    """Return two seeds that nobody can predict."""
    return int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little")


def own_seeds(streams: dict[Any, Any]) -> tuple[int, int]:
    """Return the seeds of an iteration for what has none of its own: with them it can be gone through again."""
    own = streams.get(OWN)
    return own if own is not None else streams.setdefault(OWN, by_chance())


def stream_of(run: Any, op: str, seed: int, seed2: int, *attrs: Any) -> Stream | None:
    """Return the stream a run of an op reads, or None where it is not seeded."""
    if not seed and not seed2:
        return None
    if run.node is not None and iteration.streams is not None:
        return iteration.streams.setdefault(run.node, Stream(seed, seed2))
    if run.node is not None and run.session is eager_run:  # a node of a function: its stream goes when it goes
        found = _program.nodes.get(run.node)
        return found if found is not None else _program.nodes.setdefault(run.node, Stream(seed, seed2))
    if run.node is not None:
        key = (run.node, "stream")
        found = run.resources.get(key)
        return found if found is not None else run.resources.setdefault(key, Stream(seed, seed2))
    streams = _program.drawn.get((seed, seed2), _program.streams) if run is eager_run else run.resources
    key = (op, seed, seed2, *attrs)
    found = streams.get(key)
    return found if found is not None else streams.setdefault(key, Stream(seed, seed2))
