"""The tape: remembers which ops ran, and walks them backwards.

Knows ops and tensors. Knows nothing of graphs, sessions or XLA: `tf.gradients` has its own walk in `graph/`, over the
same gradient rules. A call is kept when one of its inputs is watched; its outputs are watched from then on. Imported
by `graph/`, `functions/` and `data/`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

from ebbflow.core import context, nest, source
from ebbflow.core.call import Call
from ebbflow.core.composite_gradient import flat_tensors, gradients_like, is_composite
from ebbflow.core.convert import convert
from ebbflow.core.op import record
from ebbflow.core.recorder import Recorder
from ebbflow.core.registry import registry
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.source import outside, user_codes
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.eager import explain
from ebbflow.eager import jacobian as jacobians
from ebbflow.eager.backprop import FLAT, FLOWING, Sums, differentiable, propagate, unconnected
from ebbflow.eager.entries import Entry, call_of, calls_left
from ebbflow.ops.declare import raw


class UnconnectedGradients(Enum):
    """What the gradient of a source is that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


_replay: Callable[..., list[Any]] | None = None


def provide_replay(replay: Callable[..., list[Any]]) -> None:
    """Let backward passes that were met before be run otherwise: `replay(walk, calls, watched, targets, sources)` gives
    what `walk()` gives. (`functions.replayed_tapes` does.)
    """
    global _replay
    _replay = replay


def handle_of(source: Any) -> Any:
    """Return the tensor that stands for `source` on a tape: itself, or a variable's handle."""
    return getattr(source, "_tape_handle", source)


class GradientTape(Recorder):
    """Records ops for differentiation.

    >>> x = raw.Fill([], 3.0)
    >>> with GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> float(tape.gradient(y, x))
    6.0
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True):
        self._persistent = persistent
        self._watch_accessed = watch_accessed_variables
        self._variables: dict[int, Any] = {}
        self._breaks: list[Entry] = []
        self._recording = False
        self._used = False
        self._begin()

    def _begin(self) -> None:
        """Start with nothing recorded and nothing watched."""
        self._calls: list[Entry] = []
        self._watched: set[int] = set()
        self._keep: list[Any] = []  # tensors watched by name: their ids stay their own while they live
        self._trail = explain.Trail()
        self.note = _notes(self._watched, self._calls, self._breaks, self._trail)  # type: ignore[method-assign]

    # --- recording --------------------------------------------------------------------------------------------------

    def record(self, op: Any, inputs: Sequence[Any], outputs: Sequence[Any], attrs: dict[str, Any]) -> None:
        """Note a call, when one of its inputs is watched. (Called by every op while the tape is open.)"""
        watched = self._watched
        for x in inputs:
            if id(x) in watched:
                break
        else:
            if self._trail.marks:
                self._trail.go_on(inputs, outputs)
            return
        frame = sys._getframe(2)  # the caller of a quick op: walking up to it frame by frame would cost 0.4 µs
        if id(frame.f_code) not in user_codes:
            frame = outside(frame)
        entry = (op, attrs, frame.f_code, frame.f_lasti, outputs, inputs)  # lists as they are: a loop may grow
        if op.gradient_fn is not FLAT:
            flows = False
            for y in outputs:
                if y._dtype in FLOWING:
                    watched.add(id(y))  # the entry keeps y alive, and so its id its own
                    flows = True
            if flows:
                self._calls.append(entry)
                return
        self._breaks.append(entry)
        self._trail.mark(outputs, (entry,))

    def watches(self, tensors: Sequence[Any]) -> list[bool]:
        """Return for each tensor whether a call that takes it would be noted."""
        watched = self._watched
        return [id(x) in watched for x in tensors]

    def watch_beside(self, known: Sequence[Any], added: Any) -> None:
        """A call that gave `known` was made to give one more tensor: watch it if they are watched."""
        if any(self.watches(known)):
            self._add(added)

    @property
    def asks_for_more(self) -> bool:  # type: ignore[override]
        """Whether gradients of gradients may be asked for, besides first ones."""
        return self._persistent

    def watch(self, tensor: TensorLike) -> None:
        """Have what is computed from `tensor` (or each tensor of a nested structure) recorded."""
        for item in nest.flatten(tensor, expand_composites=False):
            if isinstance(item, IndexedSlices):
                self._watch(item.values)
                continue
            if is_composite(item):
                parts = nest.flatten(item, expand_composites=True)
                self.watch([part for part in parts if differentiable(part.dtype.base_dtype)])
                continue
            if not (isinstance(item, Tensor) or hasattr(item, "_tape_handle")):
                raise ValueError(
                    f"Passed in object {item!r} of type {type(item).__name__}, not tf.Tensor or tf.Variable or "
                    f"ExtensionType."
                )
            self._watch(item)

    def _watch(self, item: Any) -> None:
        if not differentiable(item.dtype.base_dtype):
            explain.warn_not_differentiable(item)
        handle = handle_of(item)
        self._add(handle)
        if handle is not item:
            self._variables[id(handle)] = item

    def _add(self, tensor: Any) -> None:
        self._watched.add(id(tensor))
        self._keep.append(tensor)

    def variable_accessed(self, variable: Any) -> None:
        """A trainable variable is read: watch it, unless the user does the watching."""
        if self._watch_accessed:
            handle = variable._tape_handle
            if id(handle) not in self._watched:
                self._add(handle)
            self._variables.setdefault(id(handle), variable)

    def watched_variables(self) -> tuple[Any, ...]:
        """Return the variables watched so far, in the order in which they were made."""
        return tuple(sorted(self._variables.values(), key=lambda v: getattr(v, "_number", 0)))

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        self._recording = True
        self._listen()
        return self

    def __exit__(self, *exc: Any) -> None:
        if self._recording:
            self._pop()

    def _pop(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._recording = False
        self._leave()

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside the block."""
        if not self._recording:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pop()
        try:
            yield
        finally:
            self.__enter__()

    def reset(self) -> None:
        """Forget everything recorded and watched, as if the tape were new."""
        self._breaks, self._variables, self._used = [], {}, False
        self._begin()

    # --- gradients --------------------------------------------------------------------------------------------------

    def gradient(
        self,
        target: Nested,
        sources: Nested,
        output_gradients: Nested = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Nested:
        """Return the gradient of the (summed) target for each source, in the structure of `sources`."""
        if self._used and not self._persistent:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
            )
        if self._recording and not self._persistent:
            self._pop()
        try:
            grads = self._gradient(target, sources, output_gradients, unconnected_gradients)
        except Exception as error:
            raise source.short(error) from None
        if not self._persistent:
            self._used = True
            self._begin()
        return grads

    def _gradient(self, target: Any, sources: Any, output_gradients: Any, mode: Any) -> Any:
        targets = [self._target(t) for t in flat_tensors(nest.flatten(target)) if t is not None]
        values = nest.flatten(sources)
        flat_sources = flat_tensors(values)
        for item in flat_sources:
            if not isinstance(item, (Tensor, IndexedSlices)) and not hasattr(item, "_tape_handle"):
                raise ValueError(
                    f"{item!r} of type {type(item).__name__} is not a tf.Tensor or tf.Variable to differentiate by"
                )
        if output_gradients is not None:
            given = [None if g is None else convert(g) for g in flat_tensors(nest.flatten(output_gradients))]
            if len(given) != len(targets):
                raise ValueError(f"output_gradients has {len(given)} entries for {len(targets)} targets")
        else:
            given = [None] * len(targets)
        handles = [handle_of(s) for s in flat_sources]
        grads = self.backward(targets, handles, given)
        filled = [g if g is not None else unconnected(s, mode) for g, s in zip(grads, flat_sources, strict=True)]
        return nest.pack_sequence_as(sources, gradients_like(values, filled))

    def _target(self, target: Any) -> Any:
        """Return what is differentiated; a variable is read before the eyes of the tape."""
        if not hasattr(target, "_tape_handle") or self._recording:
            return _dense(target)
        with self:
            return convert(target)

    def backward(self, targets: Sequence[Any], sources: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """Return the gradient of `targets` for each source tensor, or None where there is none."""
        if _replay is None or context.graph_scopes or context.thread.recorders or given.count(None) != len(given):
            return self._walk(targets, sources, given)
        return _replay(lambda: self._walk(targets, sources, given), self._calls, self._watched, targets, sources)

    def _walk(self, targets: Sequence[Any], sources: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        sums = Sums()
        watched = self._watched
        for tensor, grad in zip(targets, given, strict=True):
            if differentiable(tensor.dtype.base_dtype):
                sums.add(tensor, grad if grad is not None else raw.OnesLike(tensor))
        keep = {id(s) for s in sources}
        calls = reversed(list(self._calls))  # a persistent tape may grow under our feet
        propagate(calls_left(calls, sums, keep, watched), sums, keep, watched)
        return [sums.get(s) for s in sources]

    def jacobian(
        self,
        target: Nested,
        sources: Nested,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor:
        """Return d target[i…] / d source[j…] for each source, shaped target.shape + source.shape."""
        return jacobians.jacobian(self, target, sources, unconnected_gradients)

    def batch_jacobian(
        self,
        target: Nested,
        source: Nested,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor:
        """Return, for each entry b of the batch, d target[b, i…] / d source[b, j…]."""
        if parallel_iterations is not None and not self._persistent and not context.executing_eagerly():
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the batch_jacobian in a graph with "
                "parallel_iterations"
            )
        return jacobians.batch_jacobian(self, target, source, unconnected_gradients)

    def explain(self, target: Nested, source: Nested) -> str:
        """Say why the gradient of `target` for `source` is None, or that it is not, with the line to look at."""
        if self._used and not self._persistent:
            return (
                "This tape forgot what it recorded when it gave its gradient; make it with "
                "tf.GradientTape(persistent=True) to ask."
            )
        calls, broken = ({id(entry): call_of(entry) for entry in kept} for kept in (self._calls, self._breaks))

        def behind(value: Any) -> list[Call]:
            return [broken[id(entry)] for entry in self._trail.behind(value)]

        return explain.explain(
            list(calls.values()), list(broken.values()), behind, self._watched, target, handle_of(source)
        )


def _notes(watched: set[int], calls: list[Entry], breaks: list[Entry], trail: explain.Trail) -> Callable[..., None]:
    """Return a tape's `note`: `record` for one or two inputs and one result, with no tuple or look-up to spare."""
    watch, keep, getframe, marks = watched.add, calls.append, sys._getframe, trail.marks

    def note(op, attrs, result, x, y=None):
        if id(x) in watched or id(y) in watched:
            frame = getframe(2)
            code = frame.f_code
            if id(code) not in user_codes:
                frame = outside(frame)
                code = frame.f_code
            entry = (op, attrs, code, frame.f_lasti, result, x, y)
            if op.gradient_fn is not FLAT and (result._dtype.is_floating or result._dtype in FLOWING):
                watch(id(result))
                keep(entry)
            else:
                breaks.append(entry)
                trail.mark((result,), (entry,))
        elif marks:
            trail.go_on((x, y), (result,))

    return note


def _dense(target: Any) -> Any:
    if isinstance(target, IndexedSlices):
        return target.values
    return target if isinstance(target, Tensor) else convert(target)


@contextmanager
def stop_recording() -> Iterator[None]:
    """Have no tape of this thread record what happens inside the block."""
    stack = context.thread.recorders
    held, stack[:] = list(stack), [r for r in stack if r.sees_all]
    try:
        yield
    finally:
        stack[:] = held


def record_call(op: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Tell this thread's tapes of a call that is no plain op (a custom gradient, a function)."""
    record(op, inputs, outputs, {})


def variable_accessed(variable: Any) -> None:
    """Tell this thread's tapes that a trainable variable is read."""
    if variable.trainable:
        for recorder in context.thread.recorders:
            recorder.variable_accessed(variable)


def should_record_backprop(tensors: Sequence[Any]) -> bool:
    """Return whether a tape of this thread would note an op that takes one of these tensors."""
    tapes = [r for r in context.thread.recorders if isinstance(r, GradientTape)]
    return any(any(tape.watches(tensors)) for tape in tapes)


def record_gradient(op_name: str, inputs: Nested, attrs: Any, outputs: Nested) -> None:
    """Tell the tapes of a call that was made without them: `attrs` has names and values by turns."""
    named = dict(zip(attrs[::2], attrs[1::2], strict=True))
    record(registry[op_name], list(inputs), list(outputs), named)
