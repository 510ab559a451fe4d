"""`case` and `switch_case`: one of several functions, by the first condition that holds or by an index."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Nested
from ebbflow.functions.control_flow.cond import check_alike, chosen, cond_v1, handed_out, packed
from ebbflow.functions.control_flow.leaving import let_out
from ebbflow.functions.func_graph import build
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.declare import raw


def case(
    pred_fn_pairs: Sequence[Any] | Mapping[Any, Any],
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str | None = "case",
) -> Nested:
    """Return what the function of the first condition that holds gives, or `default` where none does.

    >>> x = convert(3)
    >>> int(case([(x < 2, lambda: convert(0)), (x < 4, lambda: convert(1))], default=lambda: convert(2)))
    1
    """
    conditions, functions = _pairs(pred_fn_pairs, exclusive)
    with name_scope(name, "case", conditions):
        if default is None:
            default, conditions, functions = _last_as_default(conditions, functions)
        chain = default
        for condition, function in zip(reversed(conditions), reversed(functions), strict=True):
            chain = functools.partial(cond_v1, condition, function, chain, strict=strict)
        if not exclusive or not conditions:
            return chain()
        with control_dependencies([_assert_few(conditions, 1, "Input error: exclusive=True")]):
            return chain()


def _pairs(given: Any, exclusive: bool) -> tuple[list[Any], list[Any]]:
    """Return the conditions and the functions that go with them."""
    if not isinstance(given, (list, tuple, dict)):
        raise TypeError(f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(given)}")
    pairs: Sequence[Any] = given  # type: ignore[assignment]
    if isinstance(given, OrderedDict):
        pairs = list(given.items())
    elif isinstance(given, dict):
        pairs = _of_dict(given, exclusive)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        condition, function = pair
        if hasattr(condition, "deref"):
            condition = condition.deref()
        if not isinstance(condition, Tensor):
            raise TypeError(f"pred must be a Tensor, got: {condition}")
        if condition.dtype is not dtypes.bool:
            raise TypeError(f"pred must be Tensor of type bool: {_name(condition)}")
        if not callable(function):
            raise TypeError(f"fn for pred {_name(condition)} must be callable.")
    if not pairs:
        raise ValueError("'pred_fn_pairs' holds no pairs: there is nothing to choose from")
    return [p.deref() if hasattr(p, "deref") else p for p, _ in pairs], [f for _, f in pairs]


def _of_dict(given: dict[Any, Any], exclusive: bool) -> list[Any]:
    if context.executing_eagerly():
        if not exclusive:
            raise ValueError(
                "Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when `exclusive=False` and "
                "eager mode is enabled."
            )
        return list(given.items())
    if not exclusive:
        warnings.warn(
            "case: a dictionary of conditions was given without exclusive=True: they are tested in the order of their "
            "names. Give a list of pairs to choose the order.",
            stacklevel=4,
        )
    return sorted(given.items(), key=lambda item: _name(item[0].deref() if hasattr(item[0], "deref") else item[0]))


def _name(condition: Any) -> str:
    return condition.name if hasattr(condition, "_op") else "?"


def _last_as_default(conditions: list[Any], functions: list[Any]) -> tuple[Any, list[Any], list[Any]]:
    """Have the last function run where no other condition holds, after a check that its own does."""
    *others, last = conditions

    def default() -> Any:
        data = ["Input error: None of conditions evaluated as True:", raw.Pack(conditions)]
        with control_dependencies([raw.Assert(last, [convert(d) for d in data])]):
            return functions[-1]()

    return default, others, functions[:-1]


def _assert_few(conditions: Sequence[Any], most: int, what: str) -> Any:
    held = raw.Pack(list(conditions))
    count = raw.Sum(raw.Cast(held, DstT=dtypes.int32), [0])
    names = ", ".join(_name(c) for c in conditions)
    message = f"{what}: more than {most} conditions ({names}) evaluated as True:"
    return raw.Assert(count <= most, [convert(message), held], summarize=len(conditions))


def switch_case(
    branch_index: AnyTensor,
    branch_fns: Sequence[Any] | Mapping[Any, Any],
    default: Callable[[], Any] | None = None,
    name: str | None = "switch_case",
) -> Nested:
    """Return what the function at `branch_index` gives; an index without a function gets `default`, or the last one.

    >>> int(switch_case(convert(1), [lambda: convert(10), lambda: convert(20)]))
    20
    """
    functions = _functions(branch_index, branch_fns, default)
    if context.executing_eagerly():
        number = int(branch_index)
        return functions[number if 0 <= number < len(functions) else -1]()
    graph = context.current_graph()
    with graph.name_scope(name or "switch_case"), graph.name_scope("indexed_case") as scope:
        index = convert(branch_index, name="branch_index")
        index = index if index.dtype is dtypes.int32 else raw.Cast(index, DstT=dtypes.int32)
        prefix = scope.replace("/", "_")
        bodies = [build(f"{prefix}branch{i}", fn, graph, control_flow=True) for i, fn in enumerate(functions)]
        check_alike(bodies, [f"branch {i}" for i in range(len(bodies))], "tf.switch_case")
        outputs = chosen(graph, index, bodies, scope, by_index=True)
        let_out(graph, index, bodies, outputs, by_index=True)
        outputs = handed_out(graph, outputs)
    return packed(bodies[0].structured_outputs, outputs)


def _functions(index: Any, given: Any, default: Any) -> list[Any]:
    """Return the functions in the order of their numbers, the default last."""
    if not isinstance(index, Tensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(index)}")
    if not index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {index.dtype!r}")
    if not given:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if not isinstance(given, (list, tuple, dict)):
        raise TypeError("'branch_fns' must be a list, tuple, or dict")
    pairs = list(given.items()) if isinstance(given, dict) else list(given)
    if all(callable(fn) for fn in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
        key, function = pair
        if not isinstance(key, int):
            raise TypeError(f"key must be a Python `int`, got {type(key)}")
        if not callable(function):
            raise TypeError(f"fn for key {key} must be callable.")
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(keys))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found "
            f"{{{','.join(map(str, keys))}}}"
        )
    functions = [fn for _, fn in sorted(pairs, key=lambda pair: pair[0])]
    return functions if default is None else [*functions, default]
