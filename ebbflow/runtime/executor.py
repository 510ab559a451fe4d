"""The plain executor: a graph's nodes, one after the other.

An `Executor` is made once for a set of fetches and feeds: the nodes that are needed, in order, each with its kernel
bound to its attrs and the slots its arguments come from. Running it is one loop. It is the reference that compiled
Programs are compared with. Knows kernels and nodes; knows nothing of fetch structures or feed conversion.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors, memory
from ebbflow.core.dtypes import c_name
from ebbflow.core.elsewhere import RunElsewhere, as_array
from ebbflow.core.op import COMPLAINTS
from ebbflow.eager.check_numerics import complaint
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.ops.state.storage import is_reference
from ebbflow.runtime import concurrent_nodes

ndarray = np.ndarray
PLACEHOLDERS = ("Placeholder", "PlaceholderV2")
"""Ops whose value is fed, or there is none."""


class NodeRun:
    """What a kernel that keeps state may ask of its surroundings: the session's resources, and its own node."""

    __slots__ = ("node", "resources", "session")

    def __init__(self, session: Any, node: Operation):
        self.session = session
        self.resources = session.resources
        self.node = node.original


class BoundNode:
    """One node, ready to run: `values[outs] = call(*values[ins])`."""

    __slots__ = ("call", "ins", "last", "node", "outs", "types")

    def __init__(self, node: Operation, call: Callable[..., Any], ins: tuple[int, ...], outs: Any, types: Any):
        self.node = node
        self.call = call
        self.ins = ins
        self.outs = outs
        self.types = types
        self.last: tuple[int, ...] = ()  # slots that nobody needs after this node


class Executor:
    """The nodes that give the fetched tensors from the fed ones."""

    def __init__(
        self, session: Any, fetches: Sequence[Any], feeds: Sequence[SymbolicTensor], done: Sequence[Operation] = ()
    ):
        self._slots: dict[int, int] = {}
        self._keep = (list(fetches), list(feeds))  # ids stay valid
        self._session = session
        for tensor in feeds:
            self._slot(tensor)
        fed = {id(x) for x in (*feeds, *done)}
        self.bound: list[BoundNode] = []
        nodes = needed_nodes(fetches, fed)
        self._less = _doing_less(nodes, fetches)
        for node in nodes:
            self._add(node, fed)
        self.fetched: list[int | None] = [self._slot(f) if type(f) is SymbolicTensor else None for f in fetches]
        self.dereferenced = [type(f) is SymbolicTensor and by_reference(f) for f in fetches]
        self.count = len(self._slots)
        self.feeds = len(feeds)
        self.concurrent = concurrent_nodes.may_meet(self.bound)
        self._note_last_uses()

    def _note_last_uses(self) -> None:
        """A value is let go of after its last use: a variable that was read may then be updated in place."""
        seen = {slot for slot in self.fetched if slot is not None} | {-1}
        for bound in reversed(self.bound):
            used = {*bound.ins, *((bound.outs,) if bound.outs.__class__ is int else bound.outs)}
            bound.last = tuple(used - seen)
            seen |= used

    def _slot(self, tensor: SymbolicTensor) -> int:
        return self._slots.setdefault(id(tensor), len(self._slots))

    def _add(self, node: Operation, fed: set[int]) -> None:
        if node.type in PLACEHOLDERS:
            raise unfed(node)
        ins = tuple(self._slot(t) for t in node._inputs)
        outs = tuple(self._slot(t) if id(t) not in fed else -1 for t in node._outputs)
        types = tuple(None if by_reference(t) else t.dtype.np for t in node._outputs)
        call = bind(node, NodeRun(self._session, node), self._less.get(node))
        if node._op.signature.gives_one:
            self.bound.append(BoundNode(node, call, ins, outs[0], types[0]))
        else:
            self.bound.append(BoundNode(node, call, ins, outs, types))

    def run(self, fed: Sequence[Any], trace: list[Any] | None = None) -> list[Any]:
        """Return the fetched values (None for operations), given the fed ones in order."""
        values: list[Any] = [None] * (self.count + 1)  # the last slot takes what is fed anyway
        values[: self.feeds] = fed
        try:
            if self.concurrent:
                concurrent_nodes.run(self.bound, values, run_node, self._session)
                return self.results(values)
            for bound in self.bound if trace is None else timed(self.bound, trace):
                run_node(bound, values)
                for slot in bound.last:
                    values[slot] = None
        except BaseException:
            values.clear()  # an error's traceback must not keep arrays, or locks, alive
            raise
        return self.results(values)

    def results(self, values: Sequence[Any]) -> list[Any]:
        """Return the fetched values among all, references read."""
        results: list[Any] = []
        for slot, reference, fetch in zip(self.fetched, self.dereferenced, self._keep[0], strict=True):
            if slot is None:
                results.append(None)
                continue
            value = values[slot]
            results.append(_read(value, fetch.op) if reference and is_reference(value) else value)
        return results


def _read(value: Any, node: Operation) -> Any:
    """Return the value of a fetched reference variable."""
    try:
        return value.item().read()
    except errors.OpError as error:
        raise (error if node._inputs else located(error, node, [])) from None


def run_node(bound: BoundNode, values: list[Any]) -> None:
    """Run one node."""
    try:
        result = bound.call(*[values[i] for i in bound.ins])
    except Exception as error:
        result = _recover(error, bound, [values[i] for i in bound.ins])
    outs, types = bound.outs, bound.types
    if outs.__class__ is int:
        values[outs] = (
            result
            if types is None or (result.__class__ is ndarray and result.dtype is types)
            else as_array(result, types)
        )
        return
    if outs:
        flat = bound.node._op.signature.flat_results(result)
        for out, value, dtype in zip(outs, flat, types, strict=True):
            values[out] = (
                value
                if dtype is None or (value.__class__ is ndarray and value.dtype is dtype)
                else as_array(value, dtype)
            )


def _recover(error: Exception, bound: BoundNode, inputs: list[Any]) -> Any:
    """Answer a failure: run again where the user made floating-point warnings errors, else say what went wrong."""
    if isinstance(error, COMPLAINTS):
        with np.errstate(all="ignore"):
            return bound.call(*inputs)
    node = bound.node
    if isinstance(error, RunElsewhere):
        try:
            return error.run(node._op, node._op.signature.group_inputs(inputs, node._attrs), node._attrs)
        except Exception as failed:
            error = failed
    raise located(error, node, inputs) from None


def timed(bound_nodes: Sequence[Any], trace: list[Any]) -> Any:
    """Give nodes to be run, one by one, and note when each began and ended."""
    for bound in bound_nodes:
        start = time.time_ns()
        yield bound
        trace.append((bound.node, start, time.time_ns()))


def by_reference(tensor: SymbolicTensor) -> bool:
    """Return whether a tensor's value is a variable, to be read where it is used: a reference, or the `v/read` of one.

    What reads `v/read` under control dependencies sees the updates it waited for, as in TensorFlow, where it shares
    memory with `v`.
    """
    if tensor.dtype._is_ref_dtype:
        return True
    return tensor.op.type == "Identity" and tensor.op._inputs[0].dtype._is_ref_dtype


def _read_later(value: Any) -> Any:
    """The kernel of `v/read`: see that there is a value, and leave reading it to whoever uses it."""
    if is_reference(value):
        value.item().read()
    return value


def _doing_less(nodes: Sequence[Operation], fetches: Sequence[Any]) -> dict[Operation, Any]:
    """Return how nodes of a session's graph do without results, and the effects for them, that this run does not need.

    Only those with bodies that leave out what they are not asked for: what each does then is its op's `narrow` to say.
    """
    found = [n for n in nodes if n._op.narrow is not None and _leaves_out(n._attrs)]
    if not found:
        return {}
    taken = {id(t) for node in nodes for t in node._inputs} | {id(f) for f in fetches}
    less = {}
    for node in found:
        used = [i for i, t in enumerate(node._outputs) if id(t) in taken]
        narrowed = node._op.narrow(node._attrs, used) if 0 < len(used) < len(node._outputs) else None
        if narrowed is not None:
            less[node] = narrowed
    return less


def _leaves_out(attrs: dict[str, Any]) -> bool:
    bodies = [b for value in attrs.values() for b in (value if isinstance(value, (list, tuple)) else [value])]
    return any(getattr(body, "effects", None) for body in bodies)


def _narrowed(node: Operation, run: Any, less: Any) -> Callable[..., Any]:
    """Return the call of a node that does less; results that nobody asks for are zeros of no meaning."""
    ins, outs, attrs = less
    call = node._op.bound(attrs, run)
    blanks = [np.zeros((), t.dtype.np) for t in node._outputs]

    def do_less(*values: Any) -> Any:
        results = list(blanks)
        given = call(*[values[i] for i in ins])
        for i, value in zip(outs, given if isinstance(given, (list, tuple)) else [given], strict=True):
            results[i] = value
        return results

    return do_less


def bind(node: Operation, run: Any, less: Any = None) -> Callable[..., Any]:
    """Return a function from the node's input values to its results; `less` says how it does without some of them."""
    op, attrs = node._op, node._attrs
    if op.kernel_fn is None:
        raise errors.UnimplementedError(None, node, f"op {op.name} (node '{node.name}') has no kernel")
    if op.name == "Identity" and by_reference(node._outputs[0]):
        return _read_later
    call = op.bound(attrs, run) if less is None else _narrowed(node, run, less)
    has_body = any(
        "func" in attr.kind for attr in op.signature.attrs.values()
    )  # a body may assign to a reference it is given
    reads = [
        i
        for i, (tensor, arg) in enumerate(zip(node._inputs, op.signature.each_input(attrs), strict=True))
        if by_reference(tensor) and not arg.is_ref and not (has_body and tensor.dtype._is_ref_dtype)
    ]
    if node in node._graph.checked_nodes:
        call = _finite(call, node)
    return _dereferencing(call, reads) if reads else call


def _finite(call: Callable[..., Any], node: Operation) -> Callable[..., Any]:
    """Return the call with a look at what it gives."""

    def checked(*values: Any) -> Any:
        result = call(*values)
        arrays = result if isinstance(result, (list, tuple)) else [result]
        found = complaint(arrays, f'graph op "{node.type}"', node._inputs)
        if found is not None:
            raise errors.InvalidArgumentError(None, None, found)
        return result

    return checked


def _dereferencing(call: Callable[..., Any], reads: list[int]) -> Callable[..., Any]:
    """Read reference variables at the moment the node that uses their value runs."""

    def read_first(*values: Any) -> Any:
        taken = list(values)
        for i in reads:
            if is_reference(taken[i]):
                taken[i] = taken[i].item().read()
        return call(*taken)

    return read_first


def needed_nodes(fetches: Sequence[Any], fed: set[int]) -> list[Operation]:
    """Return the nodes that the fetches need, each after those it depends on; `fed` has ids of tensors, and of nodes
    that have been run.
    """
    found: dict[int, Operation] = {}
    stack = [f.op if type(f) is SymbolicTensor else f for f in fetches if id(f) not in fed]
    ordered = True
    while stack:
        node = stack.pop()
        if node._id in found:
            continue
        found[node._id] = node
        for before in _before(node, fed):
            ordered = ordered and before._id < node._id
            if before._id not in found:
                stack.append(before)
    if ordered:
        return _waiting_last([found[number] for number in sorted(found)], fed)
    return _sorted(found, fed)


def _waiting_last(nodes: list[Operation], fed: set[int]) -> list[Operation]:
    """Return nodes with those that may wait behind others, where one of these may end the run.

    A counter may be at its limit, while a queue will never have more.
    """
    behind = to_run_last(nodes, fed)
    return sorted(nodes, key=lambda node: node._id in behind) if behind else nodes


def to_run_last(nodes: list[Operation], fed: set[int]) -> set[int]:
    """Return the ids of the nodes that may wait, and of those that follow from them, where another may end the run."""
    behind: set[int] = set()
    for node in nodes:
        if node._op.facts.waits or (behind and any(before._id in behind for before in _before(node, fed))):
            behind.add(node._id)
    return behind if behind and any(_may_end(node) for node in nodes if node._id not in behind) else set()


def _may_end(node: Operation) -> bool:
    """Return whether a node may end a run, other than by having nothing more to bring."""
    return node._op.facts.ends and not node._op.facts.brings


def _before(node: Operation, fed: set[int]) -> list[Operation]:
    before = [t.op for t in node._inputs if id(t) not in fed]
    for other in node.waits_for:  # waiting for a placeholder that is fed is waiting for nothing
        if id(other) not in fed and (other.type not in PLACEHOLDERS or id(other._outputs[0]) not in fed):
            before.append(other)
    return before


def _sorted(nodes: dict[int, Operation], fed: set[int]) -> list[Operation]:
    """Order nodes of a graph that was changed after the fact; a cycle is an error."""
    waiting = {number: {b._id for b in _before(node, fed)} for number, node in nodes.items()}
    users: dict[int, list[int]] = {}
    for number, before in waiting.items():
        for other in before:
            users.setdefault(other, []).append(number)
    # What may wait for others (a lock) comes when nothing else can run: whoever holds the lock is done by then.
    ready: list[int] = []
    later: list[int] = []
    for number in sorted((n for n, before in waiting.items() if not before), reverse=True):
        (later if nodes[number]._op.facts.waits else ready).append(number)
    order = []
    while ready or later:
        number = ready.pop() if ready else later.pop()
        order.append(nodes[number])
        for user in users.get(number, ()):
            waiting[user].discard(number)
            if not waiting[user]:
                (later if nodes[user]._op.facts.waits else ready).append(user)
    if len(order) != len(nodes):
        raise _cyclic([nodes[n] for n in _cycle({n: before for n, before in waiting.items() if before})])
    return order


def _cycle(waiting: dict[int, set[int]]) -> list[int]:
    """Return a cycle among nodes each of which waits for some of the others, in the order they were made."""
    path: dict[int, None] = {}
    number = next(iter(waiting))
    while number not in path:
        path[number] = None
        number = next(n for n in waiting[number] if n in waiting)
    walked = list(path)
    return sorted(walked[walked.index(number) :])


def _cyclic(cycle: Sequence[Operation]) -> errors.InvalidArgumentError:
    names = ", ".join(node.name for node in cycle[:10])
    return errors.InvalidArgumentError(
        None, None, f"Graph is invalid, contains a cycle with {len(cycle)} nodes, including: {names}"
    )


# --- errors
# -------------------------------------------------------------------------------------------------------------


def unfed(node: Operation) -> errors.InvalidArgumentError:
    """Return the error for a placeholder that nobody fed."""
    node = node.original
    dims = node._outputs[0]._dims
    shape = "" if dims is None else f" and shape [{','.join('?' if n is None else str(n) for n in dims)}]"
    name = c_name(node._outputs[0].dtype)
    return errors.InvalidArgumentError(
        node.node_def,
        node,
        f"You must feed a value for placeholder tensor '{node.name}' with dtype {name}{shape}{place(node)}",
    )


def place(node: Operation) -> str:
    """Return the second line of an error: the node, and the user's line that made it."""
    defined = f" (defined at {node.line})" if node.line is not None else ""
    return f"\n\t [[{{{{node {node.name}}}}}]]{defined}"


def located(error: Exception, node: Operation, values: list[Any]) -> Exception:
    """Return the error to show for a failure of `node`: explained, with the node and the user's line."""
    if isinstance(error, errors.OpError) and error.op is not None:
        return error
    node = node.original
    try:
        arrays = [v.item().read() if is_reference_arg(v, t) else v for v, t in _paired(values, node)]
        grouped = node._op.signature.group_inputs(arrays, node._attrs)
        explained = node._op.explain(error, grouped, node._attrs)
    except Exception as failed:  # explaining must not hide the failure itself
        explained = failed if isinstance(failed, errors.OpError) else error
    if not isinstance(explained, errors.OpError):
        return explained
    tag = f" [Op:{node.type}]"
    message = explained.message.replace(tag, "") + place(node) + _operands(node, values)
    cls: Any = (
        type(explained)
        if not isinstance(explained, (errors.StaticShapeError, errors.WrongTypeError))
        else errors.InvalidArgumentError
    )
    return cls(node.node_def, node, message)


def _paired(values: list[Any], node: Operation) -> Any:
    """Return values beside the inputs they are for; a node that never got them has none."""
    return zip(values, node._inputs, strict=True) if values else ()


def is_reference_arg(value: Any, tensor: Any) -> bool:
    return by_reference(tensor) and is_reference(value) and value.item().is_set()


def _operands(node: Operation, values: list[Any]) -> str:
    """Return a line for each input: what it was, which node or variable it came from, and the user's line for that."""
    lines = []
    for value, tensor in _paired(values, node):
        line = tensor.op.line
        where = f"   {line}" if line is not None else ""
        lines.append(f"\n  {tensor.name}: {_described(value, tensor)}{where}")
    return "".join(lines)


def _described(value: Any, tensor: SymbolicTensor) -> str:
    kind = tensor.dtype.base_dtype.name
    held: Any = value.item() if value is not None and value.dtype == object and value.ndim == 0 else None
    if hasattr(held, "is_set"):  # a variable, by reference or by handle
        shape = list(held.read().shape) if held.is_set() else " not initialized"
        return f"{held.dtype.name}{shape}   variable '{held.name}'"
    shape = "" if value is None else f"{kind}{list(value.shape)}"
    return f"{shape}   made by {tensor.op.type}"


def exclusive(values: list[Any], i: int) -> Any:
    """Return the fetched array `values[i]`, or a copy where somebody else holds it or it is part of something
    that lives on.
    """
    if _references(values, i) > _REFERENCES_ALONE:
        return values[i].copy()
    value = values[i]
    if value.__class__ is not ndarray or not value.flags.writeable:
        return value.copy()
    if value.base is None or (value.base.__class__ is ndarray and _base_references(value) <= _BASE_REFERENCES_ALONE):
        return value
    return value.copy()


def _references(values: list[Any], i: int) -> int:
    return sys.getrefcount(values[i])


def _base_references(value: Any) -> int:
    return sys.getrefcount(value.base)


# How many references an array has that only its list holds differs between interpreters: it is measured. Where
# threads run
# without a global lock, counts say nothing and every fetched array is copied.
_REFERENCES_ALONE = _references([np.empty(1)], 0) if getattr(sys, "_is_gil_enabled", lambda: True)() else 0
_BASE_REFERENCES_ALONE = _base_references(memory.empty([1])) if _REFERENCES_ALONE else 0
