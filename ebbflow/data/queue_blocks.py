"""Records into a queue by the block: what a queue runner does again and again, for many records at once.

A runner's operation reads a record, computes with it and puts the result into a queue. Where all of the computing may
be done for many rows together with the same bits (`calls`), a thread reads as many records as the queue has room for
and puts all their rows at once. Everybody else sees the same: rows in the same order, an error behind the rows before
it, and a reader that has not read further than to it. Blocks grow as long as they take next to no time, so that a slow
source holds nothing back. Knows readers, queues and nodes of graphs; threads are its caller's.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ebbflow.compiler.options import EXACT
from ebbflow.core import dtypes, errors, stopping
from ebbflow.data.calls import Call
from ebbflow.data.columns import Block
from ebbflow.data.queue_readers import Record
from ebbflow.functions.control_flow.loop_edits import copy_node
from ebbflow.functions.func_graph import FuncGraph, build
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.queues.queue import Queue, rows_of
from ebbflow.ops.state.storage import held
from ebbflow.runtime.compiled import Runner
from ebbflow.runtime.run_on_devices import runner_for
from ebbflow.runtime.session import BaseSession

MOST = 64
"""Records of a block: by then the cost of a call is spread."""

SHORT = 0.05
"""Seconds that a block may take for the next one to be larger."""

ENQUEUES, READS = ("QueueEnqueue", "QueueEnqueueV2"), ("ReaderRead", "ReaderReadV2")


class Blocks:
    """The rows that an operation would put into its queue, put by the block."""

    def __init__(self, session: BaseSession, enqueue: Operation, read: Operation, call: Call, held: Sequence[Any]):
        self._session, self._call = session, call
        self._reader, self._files, self._queue = held
        self._put_one = session.make_callable(enqueue, read._outputs)
        self._want = 1

    def put(self) -> None:
        """Put the next rows: as many as there is room for, and at least one, for which to wait."""
        queue, began = self._queue, time.perf_counter()
        room = queue.capacity - queue.size()
        stop = stopping.current(self._session)
        stop.check("Session has been closed.")
        records = self._reader.read_up_to(self._files, int(max(1, min(room, self._want))), stop)
        rows = self._computed(records)
        self._want = min(2 * self._want, MOST) if time.perf_counter() - began < SHORT else max(self._want // 2, 1)
        if rows is None:
            self._put_each(records)
        else:
            queue.check(rows, many=True)
            queue.put(rows_of(rows), stop)

    def _computed(self, records: list[Record]) -> Block | None:
        """Return the rows of records; None where they must be computed one by one, or one of them cannot be."""
        columns = np.empty((2, len(records)), object)
        columns[0], columns[1] = zip(*records, strict=True)
        try:
            return self._call.on_block((columns[0], columns[1]))
        except (errors.OpError, ArithmeticError, MemoryError):
            return None

    def _put_each(self, records: list[Record]) -> None:
        """Run the operation itself for each record; those behind one that fails have not been read."""
        for i, record in enumerate(records):
            try:
                self._put_one(*record)
            except BaseException:
                self._reader.give_back(records[i + 1 :])
                raise


def blocks_of(session: Any, enqueue: Any) -> Blocks | None:
    """Return what puts the rows of a runner's operation by the block; None where they must come one by one.

    What a runner runs may be anything that `session` runs: a choice between putting and not putting is a tensor.
    """
    if not isinstance(session, BaseSession) or not isinstance(enqueue, Operation):
        return None
    if session.limits_time or enqueue.type not in ENQUEUES:
        return None
    handle, *components = enqueue._inputs
    nodes = None if enqueue._control_inputs else _computing(components)
    if nodes is None:
        return None
    read = nodes[0]
    call = Call(_body(read, nodes[1:], components), (), SimpleNamespace(session=session))
    if call.obstacle(surely=True):
        return None
    runner = runner_for(session, [*read._inputs, handle], [])
    if type(runner) is not Runner:  # on several devices, or in several processes
        return None
    things = [held(value) for value in runner.run([])[0]]
    return None if things[0].single else Blocks(session, enqueue, read, call, things)


def queue_of(session: Any, handle: Any) -> Queue | None:
    """Return the queue that a handle stands for in a session, where it is in this process."""
    if not isinstance(session, BaseSession) or session._closed:
        return None
    runner = runner_for(session, [handle], [])
    value = held(runner.run([])[0][0]) if type(runner) is Runner else None
    return value if isinstance(value, Queue) else None


def _computing(components: list[Any]) -> list[Operation] | None:
    """Return the node that reads a record, then those that compute components from it, in the order they run; None
    where there are several, or where a node does anything else.
    """
    reads: list[Operation] = []
    nodes: set[Operation] = set()
    stack = [t.op for t in components]
    while stack:
        node = stack.pop()
        if node in nodes or node in reads:
            continue
        if node._control_inputs or (node.type not in READS and node._op.keeps_state):
            return None
        if node.type in READS:
            reads.append(node)
        else:
            nodes.add(node)
            stack += [t.op for t in node._inputs]
    if len(reads) != 1:
        return None
    return [*reads, *[node for node in reads[0].graph._nodes if node in nodes]]


def _body(read: Operation, nodes: list[Operation], components: list[Any]) -> FuncGraph:
    """Return the function from a record's key and value to the components of its row."""

    def row(key: Any, value: Any) -> list[Any]:
        known = {id(read._outputs[0]): key, id(read._outputs[1]): value}
        for node in nodes:
            outputs = copy_node(node, [known[id(t)] for t in node._inputs])
            for tensor, copy in zip(node._outputs, outputs, strict=True):
                copy.set_shape(tensor._dims)  # the user may know more than the op does
                known[id(tensor)] = copy
        return [known[id(t)] for t in components]

    body = build("queue_row", row, None, [(dtypes.string, (), "key"), (dtypes.string, (), "value")])
    body.jit_compile = EXACT
    return body
