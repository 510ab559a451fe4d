"""Backward passes that come by again, run as one Program.

A training loop that runs eagerly records the same calls at every step: the same ops with the same attrs, on arrays of
the same shapes, wired the same way. Walking them back costs several Python calls an op, most of which only find out
what was found out the step before. Here a tape's calls are read as a *signature*; when one has come by a few times, its
backward pass is traced (the same rules, on symbolic tensors) and compiled without any pass that rounds otherwise. What
the Program gives is compared with the plain walk, bit for bit and stride for stride, before it is believed; a
signature for which that fails is walked as ever. Nothing that keeps state or carries a rule of its own is replayed, and
nothing is while somebody listens, because a listener would miss the calls.

Knows tapes and how graphs run. `eager/` knows of it only as a hook; variables, which bring training, load it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from ebbflow.compiler.options import EXACT, checking
from ebbflow.core import context, dtypes, elsewhere, forks
from ebbflow.core.call import Call
from ebbflow.core.op import Op, eager_run
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor, _new
from ebbflow.eager import tape
from ebbflow.eager.backprop import Sums, differentiable, gradient_registry, propagate
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.ops.declare import raw
from ebbflow.runtime.compiled import Runner
from ebbflow.runtime.executor import needed_nodes

MEETINGS = 3
"""How often a signature comes by before it is worth a Program."""

TRIALS = 4
"""How often a Program's results are compared with the plain walk's before they take their place: the first run of a
Runner is interpreted, so three of them are compiled."""

LONGEST = 400
"""Calls beyond which a tape is not read: such programs are loops written out, and seldom the same twice."""

LARGEST = 1 << 22
"""Bytes of planned memory beyond which a Program is not kept: there the arithmetic costs more than the walk."""

KEPT = 64
"""Signatures that are remembered. The one that came by longest ago is forgotten, but no Program that is in use."""

STALE = 20 * KEPT
"""Tapes after which a Program that none of them used is not in use any more."""

PATIENCE = 256
"""Tapes read in vain after which only every sixteenth is read: where shapes never repeat that costs nearly nothing."""

SHORT = 32
"""Elements up to which an axis, a shape or the like is part of the signature, and known while the pass is traced."""

_INTEGERS = frozenset((dtypes.int32, dtypes.int64))
_HELD, _ALIKE = 256, 4096  # attrs that are known by identity, and by content


class Reading(NamedTuple):
    """A tape's calls, read: what tells them from others, and the tensors by number."""

    signature: tuple[Any, ...]
    arrays: list[Any]
    numbers: dict[int, int]  # of the tensors, by identity
    known: set[int]  # numbers of those whose values are part of the signature


class Replay:
    """What is known of one signature: how often it was met, and later what runs in its place."""

    __slots__ = ("fed", "last", "met", "places", "refused", "runner", "trials", "types")

    def __init__(self) -> None:
        self.met = 0
        self.last = 0  # the number of the tape that it came by with last
        self.trials = 0
        self.refused = False
        self.runner: Runner | None = None
        self.fed: list[int] = []  # numbers of the tensors that the backward pass takes
        self.places: list[Any] = []  # for each source: None, a result's number, or the three of an IndexedSlices
        self.types: list[Any] = []

    def results(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the gradients from the arrays of the tape's tensors, by number."""
        found = []
        runner: Any = self.runner
        for array, dtype in zip(runner.values([arrays[i] for i in self.fed]), self.types, strict=True):
            tensor = _new(EagerTensor)
            tensor._array = array
            tensor._dtype = dtype
            found.append(tensor)
        return [
            None if at is None else found[at] if at.__class__ is int else IndexedSlices(*[found[i] for i in at])
            for at in self.places
        ]


class Replays:
    """The signatures met by all tapes, and their Programs."""

    def __init__(self) -> None:
        self.by_signature: dict[Any, Replay] = {}
        self._lock = forks.rlock()
        self._in_vain = 0
        self._tapes = 0
        self._attrs: dict[int, tuple[Any, int]] = {}  # by identity: the attrs (held: it stays theirs), their number
        self._alike: dict[Any, int] = {}
        self._numbers = itertools.count()

    def backward(
        self, walk: Any, calls: Sequence[Any], watched: set[int], targets: Sequence[Any], sources: Sequence[Any]
    ) -> list[Any]:
        """Return the gradients of `targets` by `sources`, or None for one; `walk()` finds them the plain way."""
        if self._in_vain > PATIENCE and self._in_vain & 15:
            self._in_vain += 1
            return walk()
        reading = self._read(calls, watched, targets, sources)
        if reading is None:
            return walk()
        replay = self.by_signature.get(reading.signature)
        if replay is None:
            replay = self._remember(reading.signature)
        self._tapes = replay.last = self._tapes + 1
        if replay.trials >= TRIALS:
            self._in_vain = 0
            try:
                return replay.results(reading.arrays)
            except Exception:  # the plain walk says what is wrong
                return walk()
        self._in_vain += 1
        plain = walk()
        self._try(replay, reading, plain, calls, watched, targets, sources)
        return plain

    def _remember(self, signature: Any) -> Replay:
        """Return a replay for a new signature: one to keep, or one for now where all Programs kept are in use."""
        with self._lock:
            if len(self.by_signature) >= KEPT:
                oldest, replay = min(self.by_signature.items(), key=_age)
                if replay.runner is not None and self._tapes - replay.last < STALE:
                    return Replay()
                del self.by_signature[oldest]
            return self.by_signature.setdefault(signature, Replay())

    # --- reading a tape -----------------------------------------------------------------------------------------------

    def _read(self, calls: Any, watched: set[int], targets: Any, sources: Any) -> Reading | None:
        """Return what was recorded as a signature and arrays; None where it has none."""
        if len(calls) > LONGEST or elsewhere.bodies:
            return None
        key: list[Any] = [len(gradient_registry)]
        arrays: list[Any] = []
        numbers: dict[int, int] = {}
        known: set[int] = set()
        add, known_attrs = key.append, self._attrs
        for entry in calls:
            op, attrs = entry[0], entry[1]
            stable = known_attrs.get(id(attrs))
            number = stable[1] if stable is not None else self._number(op, attrs)
            if number is None or op.__class__ is not Op:
                return None
            key += (op, number)
            for x in entry[4:] if len(entry) == 7 else (*entry[4], None, *entry[5]):
                if x is None:
                    add(None)
                    continue
                number = numbers.get(id(x))
                if number is None:
                    if x.__class__ is not EagerTensor:
                        return None
                    number = numbers[id(x)] = len(arrays)
                    array, dtype = x._array, x._dtype
                    arrays.append(array)
                    key += (dtype, array.shape, array.strides, id(x) in watched)
                    if dtype in _INTEGERS and array.size <= SHORT and _is_known(op, x, entry):
                        known.add(number)
                        add(array.tobytes())
                add(number)
        for x in targets:
            if id(x) not in numbers:
                return None
            add(numbers[id(x)])
        key += (None, *[numbers.get(id(x)) for x in sources])
        return Reading(tuple(key), arrays, numbers, known)

    def _number(self, op: Any, attrs: dict[str, Any]) -> Any:
        """Return the number of an op's attrs: that of the same ones before, or a new one; None for what is unfit."""
        if op.__class__ is not Op or "_gradient_op_type" in attrs or any(map(_is_function, attrs.values())):
            return None
        try:
            alike = (op, *attrs.items())
            number = self._alike.get(alike)
        except TypeError:  # an attr that is no key
            return None
        with self._lock:
            if len(self._attrs) >= _HELD:  # some are made anew for every call: what they are is known by content
                self._attrs.clear()
            if number is None:
                if len(self._alike) >= _ALIKE:  # numbers are never used again: their replays are forgotten in time
                    self._attrs.clear()
                    self._alike.clear()
                number = self._alike.setdefault(alike, next(self._numbers))
            self._attrs[id(attrs)] = attrs, number
        return number

    # --- making and trying a replay -----------------------------------------------------------------------------------

    def _try(
        self, replay: Replay, reading: Reading, plain: Any, calls: Any, watched: Any, targets: Any, sources: Any
    ) -> None:
        """Compare what a Program gives with what the plain walk gave, where it is time for one."""
        replay.met += 1
        if replay.refused or (replay.met < MEETINGS and not checking()) or not self._lock.acquire(blocking=False):
            return
        try:
            if replay.runner is None:
                _trace(replay, reading, calls, watched, targets, sources)
            replay.refused = not all(map(_same, replay.results(reading.arrays), plain))
            if replay.trials == TRIALS - 1:
                replay.refused |= not _is_compiled(replay.runner)
        except Exception:  # a rule that wants values, a graph that cannot be made: the plain walk serves
            replay.refused = True
        finally:
            if replay.refused:
                replay.runner, replay.trials = None, 0
            else:
                replay.trials += 1
            self._lock.release()


def _is_function(value: Any) -> bool:
    """Return whether an attr is a function: a signature would keep it, and all that it holds, from dying."""
    if value.__class__ is tuple:
        return any(map(_is_function, value))
    return isinstance(value, FuncGraph) or callable(value)


def _age(item: tuple[Any, Replay]) -> tuple[bool, int]:
    """Return what replays are forgotten by: those without a Program first, then by when they came by last."""
    return item[1].runner is not None, item[1].last


def _is_known(op: Any, x: Any, entry: Any) -> bool:
    """Return whether a gradient rule may want to know this input's value: an axis, a shape, a number of rows."""
    facts = op.facts
    if not facts.known and not facts.sizes:
        return False
    inputs = entry[5:] if len(entry) == 7 else entry[5]
    names = [arg.name for arg in op.signature.each_input(entry[1])]
    return any(t is x and (name in facts.known or name in facts.sizes) for name, t in zip(names, inputs, strict=False))


def _trace(replay: Replay, reading: Reading, calls: Any, watched: set[int], targets: Any, sources: Any) -> None:
    """Trace the backward pass of recorded calls into a graph, and have a runner made of it."""
    graph = FuncGraph("backward")
    stands = _StandIns(graph, reading)
    with context.scope(graph), tape.stop_recording():
        sums = Sums()
        for target in targets:
            if differentiable(target.dtype.base_dtype):
                inside = stands.of(target)
                sums.add(inside, raw.OnesLike(inside))
        wanted: set[int] = set()
        symbolic = []
        for call in map(tape.call_of, calls):
            inputs, outputs = [stands.of(x) for x in call.inputs], [stands.of(y) for y in call.outputs]
            wanted |= {id(s) for s, x in zip(inputs, call.inputs, strict=True) if id(x) in watched}
            symbolic.append(Call(call.op, inputs, outputs, call.attrs, call.line))
        by = [stands.of(s) for s in sources]
        propagate(reversed(symbolic), sums, {id(s) for s in by}, wanted)
        outputs = _arranged(replay, [sums.get(s) for s in by], graph)
    if not outputs or graph.captures or any(n._op.keeps_state and not n._op.facts.reads for n in graph._nodes):
        raise ValueError("nothing to compute, or something that keeps state")
    replay.types = [t.dtype.base_dtype for t in outputs]
    taken = {id(t) for node in needed_nodes(outputs, set()) for t in node._outputs}
    fed = [(number, tensor) for number, tensor in stands.numbered.items() if id(tensor) in taken]
    replay.fed = [number for number, _ in fed]
    replay.runner = Runner(eager_run, outputs, [tensor for _, tensor in fed], EXACT, "backward")


def _arranged(replay: Replay, grads: Sequence[Any], graph: FuncGraph) -> list[Any]:
    """Return the tensors to compute; the replay is told where each gradient stands among them."""
    outputs: list[Any] = []
    replay.places = []
    for grad in grads:
        if grad is None:
            replay.places.append(None)
            continue
        rows = isinstance(grad, IndexedSlices)
        parts = [graph.take(p) for p in ((grad.values, grad.indices, grad.dense_shape) if rows else (grad,))]
        replay.places.append(tuple(range(len(outputs), len(outputs) + 3)) if rows else len(outputs))
        outputs += parts
    return outputs


class _StandIns:
    """Symbolic tensors in the place of those on a tape: constants for known ones, else arguments."""

    def __init__(self, graph: FuncGraph, reading: Reading):
        self.numbered: dict[int, Any] = {}  # arguments, by the number of the tensor on the tape
        self._graph = graph
        self._reading = reading
        self._made: dict[int, Any] = {}

    def of(self, tensor: Any) -> Any:
        made = self._made.get(id(tensor))
        if made is None:
            number = self._reading.numbers.get(id(tensor))
            if number in self._reading.known:
                made = self._graph.constant(tensor._array, tensor._dtype, "known")
            else:
                made = self._graph.argument(tensor._dtype, tensor._array.shape, "x")
                if number is not None:
                    self.numbered[number] = made
            self._made[id(tensor)] = made
        return made


def _is_compiled(runner: Any) -> bool:
    """Return whether a runner has its Program, and that is small enough to be kept."""
    program = runner._programs.get(None)
    return program is not None and program.memory <= LARGEST


def _same(a: Any, b: Any) -> bool:
    """Return whether two gradients are the same to the last bit, and lie in memory in the same way."""
    if a is None or b is None:
        return a is b
    if isinstance(a, IndexedSlices) or isinstance(b, IndexedSlices):
        return type(a) is type(b) and all(
            _same(getattr(a, part), getattr(b, part)) for part in ("values", "indices", "dense_shape")
        )
    x, y = a._array, b._array
    alike = a._dtype is b._dtype and x.shape == y.shape and x.strides == y.strides
    return alike and not x.dtype.hasobject and x.tobytes() == y.tobytes()


replays = Replays()
tape.provide_replay(replays.backward)
