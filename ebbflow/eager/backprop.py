"""Backpropagation: walks calls backwards and adds up gradients.

The walk of the tape, over the calls it recorded; `tf.gradients` has its own over nodes (in `graph/`), with the same
sums and the same rules. Rules are asked through the op, or the rule that a call carries in `_gradient_op_type`. A
loop, not a recursion: depth is no limit.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.call import Call
from ebbflow.core.registry import registry
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor, wrap
from ebbflow.ops.declare import FLAT, LARGE, UNDEFINED, names_matter, raw

gradient_registry: dict[str, Any] = {}
"""Rules registered under a name by the user: `@tf.RegisterGradient("Name")`."""

local_rules: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""Rules of single nodes (custom gradients in graphs): they live as long as their graph, which holds them."""


FLOWING = frozenset(d for d in dtypes.ALL if d.is_floating or d.is_complex) | {dtypes.resource, dtypes.variant}
"""The dtypes through which gradients flow."""


def differentiable(dtype: Any) -> bool:
    """Return whether gradients flow through values of this dtype."""
    return dtype.base_dtype in FLOWING


def rule_of(call: Call) -> Any:
    """Return the gradient rule of a call: FLAT for none, or a function."""
    override = call.attrs.get("_gradient_op_type")
    if override is not None and override.startswith("PartitionedCall-") and override not in gradient_registry:
        override = None  # a name that only the process knew which wrote the graph: calls say themselves
    name = override if override is not None else call.op.name
    found = gradient_registry.get(name)
    if found is None:
        found = _own_rule(call.op) if override is None else local_rules.get(name)
    if found is None or found is UNDEFINED:
        raise LookupError(
            f"No gradient defined for operation '{call.name}' (op type: {name}). "
            "Register one with @tf.RegisterGradient, or say there is none with tf.no_gradient"
        )
    return found


def _own_rule(op: Any) -> Any:
    """Return the rule that was declared with an op; it may stand in a module of its own, not met yet.

    Where an op has a second rule, for graphs whose nodes programs look up by name, this decides between them.
    """
    if op.gradient_fn is None:
        registry.complete(op.name)
    by_name = op.gradient_by_name_fn
    return by_name if by_name is not None and names_matter() else op.gradient_fn


class Sums:
    """Gradients collected so far, by tensor; parts are added up when the sum is asked for."""

    def __init__(self) -> None:
        self._parts: dict[int, list[Any]] = {}
        self._keep: list[Any] = []

    def add(self, tensor: Any, part: Any) -> None:
        parts = self._parts.get(id(tensor))
        if parts is None:
            self._parts[id(tensor)] = [part]
            self._keep.append(tensor)  # ids stay valid as long as the tensors live
        else:
            parts.append(part)

    def get(self, tensor: Any) -> Any:
        parts = self._parts.get(id(tensor))
        if parts is None:
            return None
        if len(parts) > 1:
            parts[:] = [add_up(parts)]
        return parts[0]

    def parts(self, tensor: Any) -> list[Any]:
        """Return what has been added for a tensor so far."""
        return self._parts.get(id(tensor), [])

    def take(self, tensor: Any) -> Any:
        parts = self._parts.pop(id(tensor), None)
        if parts is None:
            return None
        return parts[0] if len(parts) == 1 else add_up(parts)


def add_up(parts: list[Any]) -> Any:
    """Return the sum of dense gradients and row gradients; rows stay rows when all are rows."""
    if len(parts) == 1:
        return parts[0]
    if not context.graph_scopes and not context.recorders and all(p.__class__ is EagerTensor for p in parts):
        return _added(parts)
    if all(isinstance(p, IndexedSlices) for p in parts):
        return IndexedSlices(
            raw.ConcatV2([p.values for p in parts], 0, name="concat"),
            raw.ConcatV2(_of_one_dtype([p.indices for p in parts]), 0, name="concat"),
            parts[0].dense_shape,
        )
    return raw.AddN(parts)


def _added(parts: list[Any]) -> Any:
    """Return the sum of eager tensors that nobody listens to: what AddN gives, without asking for it by name."""
    first, dtype = parts[0]._array, parts[0]._dtype
    if first.__class__ is not np.ndarray or first.size >= LARGE:  # spread over a mesh, or large
        return raw.AddN(parts)
    shape, total, so_far = first.shape, np.empty(first.shape, first.dtype), first
    for part in parts[1:]:
        array = part._array
        if array.__class__ is not np.ndarray or part._dtype is not dtype or array.shape != shape:
            return raw.AddN(parts)
        so_far = np.add(so_far, array, out=total)
    return wrap(total, dtype)


def _of_one_dtype(indices: list[Any]) -> list[Any]:
    """Return indices as they are, or where they are of different dtypes as int64."""
    if all(i.dtype is indices[0].dtype for i in indices):
        return indices
    return [raw.Cast(i, DstT=dtypes.int64) for i in indices]


def propagate(calls: Iterable[Call], sums: Sums, keep: set[int], needed: Container[int]) -> None:
    """Push the gradients in `sums` back through `calls`, which come last first.

    `keep` holds the ids of tensors whose sums must survive (the sources); `needed` those of the inputs whose gradients
    lead to any source.
    """
    take, get, add = sums.take, sums.get, sums.add
    rules: dict[Any, Any] = {}  # of the ops met
    for call in calls:
        found = [(get(o) if id(o) in keep else take(o)) for o in call.outputs]
        single = len(found) == 1
        if found[0] is None if single else all(g is None for g in found):
            continue
        if "_gradient_op_type" in call.attrs:
            rule = rule_of(call)
        else:
            rule = rules.get(call.op)
            if rule is None:
                rule = rules[call.op] = rule_of(call)
        if rule is FLAT:
            continue
        call.wanted = [id(x) in needed for x in call.inputs]
        if True not in call.wanted:
            continue
        grads = ask(rule, call, found if single or takes_none(rule) else _filled(found, call.outputs))
        for tensor, part, asked in zip(call.inputs, grads, call.wanted, strict=True):  # a loop may have got more
            if asked and part is not None:
                add(tensor, part)


def takes_none(rule: Any) -> bool:
    """Return whether a rule wants None for outputs without a gradient, and not zeros: `rule.takes_none` says so."""
    return getattr(rule, "takes_none", False)


def _filled(grads: list[Any], outputs: Sequence[Any]) -> list[Any]:
    """Give outputs that nobody used a zero gradient, where they could have had one."""
    return [
        raw.ZerosLike(o) if g is None and (o.dtype.is_floating or o.dtype.is_complex) else g
        for g, o in zip(grads, outputs, strict=True)
    ]


def ask(rule: Any, call: Call, grads: list[Any]) -> Sequence[Any]:
    """Return what a rule gives: a gradient, or None, for each input of the call."""
    given = rule(call, *grads)
    if not isinstance(given, (list, tuple)):
        given = [given]
    if len(given) != len(call.inputs):
        raise ValueError(
            f"Num gradients {len(given)} generated for op {call.name} ({call.op.name}) do not match num inputs "
            f"{len(call.inputs)}"
        )
    return given


class GradientFn:
    """Stands where an Op stands in a Call whose gradient is a given function (custom gradients)."""

    gradient_by_name_fn = None

    def __init__(self, name: str, gradient: Callable[..., Any]):
        self.name = name
        self.gradient_fn = lambda call, *grads: gradient(*grads)

    def __repr__(self) -> str:
        return f"<custom gradient of {self.name}>"


CAPTURED: Any = GradientFn("captured", lambda grad: grad)
"""Stands on a tape for the way from a tensor outside of a function to the argument that carries it in."""


def zeros_for(source: Any) -> Any:
    """Return zeros shaped like a source: a tensor, or a variable."""
    read = getattr(source, "read_value", None)
    return raw.ZerosLike(read() if read is not None else source)


def unconnected(tensor: Any, mode: Any) -> Any:
    """Return the gradient of a source that the target does not depend on."""
    if getattr(mode, "value", mode) == "zero":
        return zeros_for(tensor)
    if getattr(mode, "value", mode) != "none":
        raise ValueError(f"Unknown value for unconnected_gradients: '{mode}'; it is 'none' or 'zero'")
    return None
