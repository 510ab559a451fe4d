"""Ops said in jax: one call, the nodes of a region, the body of a function.

While something is traced, a value is one of four things: a NumPy array, where it is known already (shapes, axes, small
constants: nodes whose inputs are all known are computed on the spot); a jax array, which stands for what will come; a
handle on a variable whose value is being traced (`state`); a list of tensors (`lowerings_lists`). An op whose inputs
must be known, but are not, is refused. What a node gives has the declared dtype, whatever the function that made it
thought.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.op import Known
from ebbflow.engines.xla import library
from ebbflow.engines.xla.refusal import Refusal, UnknownValueError, body_nodes
from ebbflow.engines.xla.rules import Rule, rule_for

SMALL = 4096
"""Values with at most this many elements are computed while tracing, where their inputs are known."""


class Trace:
    """What lowerings of ops with bodies need: the variables that the trace carries, and how to lower a body."""

    def __init__(self) -> None:
        self.storages: list[Any] = []

    def body(self, graph: Any, values: Sequence[Any]) -> list[Any]:
        """Return the results of a function's graph for these arguments."""
        known = dict(zip(map(id, graph.inputs), values, strict=True))
        for node in body_nodes(graph):
            lower_node(node, known, self)
        return [known[id(t)] for t in graph.outputs]


def is_known(value: Any) -> bool:
    """Return whether a value is known while tracing."""
    return value.__class__ is np.ndarray and not value.dtype.hasobject


def lower_node(node: Any, values: dict[int, Any], trace: Trace) -> None:
    """Lower a node, taking its inputs from `values` (by the identity of the region's values) and adding its outputs."""
    op = getattr(node, "_op", None) or node.op
    outputs = node.outputs
    decided = [getattr(v, "known", None) for v in outputs]
    if outputs and all(d is not None for d in decided):
        results: Sequence[Any] = [_as_value(d) for d in decided if d is not None]
    else:
        try:
            results = lower_call(op, node.attrs, [values[id(v)] for v in node.inputs], trace)
        except Refusal as refusal:
            if refusal.node is None:
                refusal.node, refusal.op = node, op.name
            raise
    for value, result in zip(outputs, results, strict=False):
        values.setdefault(id(value), result)


def lower_call(op: Any, attrs: dict[str, Any], values: Sequence[Any], trace: Trace | None = None) -> list[Any]:
    """Return what an op gives for flat input values; raise a Refusal where it cannot be said in jax."""
    if op.name == "Const":
        return [_as_value(np.asarray(attrs["value"]))]
    groups = op.signature.group_inputs(values, attrs)
    types = op.flat_output_types(attrs)
    dims = _inferred(op, attrs, groups)
    if values and _foldable(op, values, types) and _small(dims):
        return _typed(op.signature.flat_results(_on_host(op, groups, attrs)), types)
    rule = rule_for(op)
    if rule is None:
        if op.facts.data_dependent:
            raise Refusal("the shape of what it gives depends on the values it takes", op.name)
        raise Refusal("keeps state" if op.stateful else "has no lowering to XLA", op.name)
    inputs = _prepared(op, rule, groups)
    return _typed(op.signature.flat_results(_called(op, rule, attrs, inputs, trace)), types)


# --- what is known already --------------------------------------------------------------------------------------------


def _as_value(array: np.ndarray) -> Any:
    return array if array.size <= SMALL or array.dtype.hasobject else library.numpy().asarray(array)


def _knowns(op: Any, attrs: dict[str, Any], groups: Sequence[Any]) -> list[Any]:
    def known(value: Any) -> Known:
        array = value if value.__class__ is np.ndarray else None
        return Known(getattr(value, "shape", None), getattr(value, "dtype", None), array)

    return [[known(v) for v in g] if g.__class__ is list else known(g) for g in groups]


def _inferred(op: Any, attrs: dict[str, Any], groups: Sequence[Any]) -> Any:
    """Return what the shape rule says, one dims or a list; raise what it complains of."""
    if op.shape_fn is None:
        return None
    try:
        return op.infer(_knowns(op, attrs, groups), attrs)
    except errors.OpError:
        raise
    except Exception:  # a rule that wants more than there is while tracing
        return None


def _foldable(op: Any, values: Sequence[Any], types: Sequence[Any]) -> bool:
    if op.stateful or op.needs_run or op.kernel_fn is None or not all(is_known(v) for v in values):
        return False
    if any(dtype.np.hasobject for dtype in types):
        return False
    return not any("func" in attr.kind for attr in op.signature.attrs.values())


def _small(dims: Any) -> bool:
    if dims is None:
        return False
    for each in dims if isinstance(dims, list) else [dims]:
        if each is not None and None not in each and math.prod(each) > SMALL:
            return False
    return True


def _on_host(op: Any, groups: list[Any], attrs: dict[str, Any]) -> Any:
    try:
        with np.errstate(all="ignore"):
            return op.run(groups, attrs)
    except Exception as error:
        raise op.explain(error, groups, attrs) from None


# --- calling ----------------------------------------------------------------------------------------------------------


def _prepared(op: Any, rule: Rule, groups: list[Any]) -> list[Any]:
    """Return the inputs as the rule wants them: known ones as NumPy arrays where it can use that, all else for jax."""
    if op.lowering_fn is not None:
        return groups
    asarray = library.numpy().asarray
    prepared: list[Any] = []
    for arg, group in zip(op.signature.inputs, groups, strict=True):
        if arg.name in rule.keeps:
            for value in group if group.__class__ is list else (group,):
                if arg.name in rule.needs and not is_known(value):
                    raise UnknownValueError(f"the value of {arg.name} is known only when it runs", op.name, arg.name)
            prepared.append(group)
        elif group.__class__ is list:
            prepared.append([asarray(v) if is_known(v) else v for v in group])
        else:
            prepared.append(asarray(group) if is_known(group) else group)
    return prepared


def _called(op: Any, rule: Rule, attrs: dict[str, Any], inputs: list[Any], trace: Trace | None) -> Any:
    try:
        if rule.fn is None:
            return op.kernel_fn(library.numpy(), *inputs, **{name: attrs[name] for name in op.kernel_attrs})
        special = {"attrs": attrs, "trace": trace or Trace(), "op": op}
        named = {name: special[name] if name in special else attrs[name] for name in rule.takes}
        return rule.fn(library.numpy(), *inputs, **named)
    except (Refusal, errors.OpError):
        raise
    except Exception as error:
        if library.is_narrowed(error):
            words = "what it does depends on values that are known only when it runs"
            raise UnknownValueError(words, op.name) from error
        if isinstance(error, (TypeError, ValueError)):
            raise errors.InvalidArgumentError(None, None, f"{error} [Op:{op.name}]") from error
        raise


def _typed(results: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """Return results in the declared dtypes; handles and lists as they are."""
    typed: list[Any] = []
    for result, dtype in zip(results, types, strict=True):
        base = dtype.base_dtype
        if base in (dtypes.resource, dtypes.variant):
            typed.append(result)
        elif isinstance(result, (np.ndarray, np.generic)):
            typed.append(_as_value(np.asarray(result, base.np)))
        elif hasattr(result, "dtype") and result.dtype == base.np:
            typed.append(result)
        else:
            typed.append(library.numpy().asarray(result, base.np))
    return typed
