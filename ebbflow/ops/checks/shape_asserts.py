"""Assertions about shapes: ranks, scalars, and dimensions named by symbols that must agree (`assert_shapes`).

What the static shapes decide is decided where the assertion is written, with a ValueError; the rest waits, in a graph,
for the shapes of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dimension, dims_str
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Reference, Tensor
from ebbflow.core.typing import Effect, TensorLike
from ebbflow.ops.arrays.shaping import rank as rank_of
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.checks.asserts import Assert, label, prefix
from ebbflow.ops.checks.type_asserts import assert_type, is_nameless
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.compare import equal, greater_equal, logical_or

# --- ranks ------------------------------------------------------------------------------------------------------------


class _Claim(NamedTuple):
    """What is asked of a rank: in words, of numbers, and of tensors."""

    words: str
    static: Callable[[int, list[int]], bool]
    dynamic: Callable[[Any, list[Any]], Any]


_EXACTLY = _Claim("must have rank", lambda n, ranks: n == ranks[0], lambda n, ranks: equal(n, ranks[0]))
_AT_LEAST = _Claim(
    "must have rank at least", lambda n, ranks: n >= ranks[0], lambda n, ranks: greater_equal(n, ranks[0])
)
_ONE_OF = _Claim("must have rank in", lambda n, ranks: n in ranks, lambda n, ranks: _any_equal(n, ranks))


def _any_equal(n: Any, ranks: list[Any]) -> Any:
    found = [equal(one, n) for one in ranks]
    result = found[0]
    for other in found[1:]:
        result = logical_or(result, other)
    return result


def _check_rank(
    rule: _Claim, scope: str, x: Any, ranks: Any, data: Any, summarize: Any, message: Any, name: Any
) -> Any:
    """Assert that the rank of `x` is as `rule` asks for `ranks`."""
    with name_scope(name, scope, [x, *ranks, *(data or [])]):
        x = x if isinstance(x, SparseTensor) else convert(x, name="x")
        dims = x.shape._dims
        ranks = [convert(one, name="rank") for one in ranks]
        called = "" if is_nameless(x) else x.name
        if data is None:
            told = f"Tensor {called} {rule.words}"
            data = [prefix(message), told, *ranks, "Received shape: ", shape_of(x)]
        for one in ranks:
            assert_type(one, dtypes.int32)
        values = [one.constant_value() for one in ranks]
        if any(value is not None and value.ndim for value in values):
            raise ValueError("Rank must be a scalar.")
        if dims is not None and all(value is not None for value in values):
            wanted = [int(value) for value in values]
            if not rule.static(len(dims), wanted):
                shown = f"({', '.join(map(str, wanted))})" if rule is _ONE_OF else str(wanted[0])
                received = f"Received rank {len(dims)}, shape {dims_str(dims)}"
                raise ValueError(f"{prefix(message)}Tensor {called} {rule.words} {shown}.  {received}")
            return raw.NoOp(name="static_checks_determined_all_ok")
        condition = rule.dynamic(rank_of(x), ranks)
        unknown = [one for one, value in zip(ranks, values, strict=True) if value is None]
        waits = [assert_rank_v1(one, 0, data=["Rank must be a scalar", *data]) for one in unknown]
        return Assert(_after(waits, condition) if waits else condition, data, summarize=summarize)


def _after(operations: list[Any], tensor: Any) -> Any:
    with context.default_graph().control_dependencies(operations):
        return raw.Identity(tensor, name="control_dependency")


def assert_rank_v1(
    x: TensorLike,
    rank: TensorLike,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Effect:
    """Assert that `x` has rank `rank`."""
    return _check_rank(_EXACTLY, "assert_rank", x, [rank], data, summarize, message, name)


def assert_rank(x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None) -> Effect:
    """Assert that `x` has rank `rank`.

    >>> assert_rank([[1, 2]], 2)
    """
    return assert_rank_v1(x, rank, message=message, name=name)


def assert_rank_at_least_v1(
    x: TensorLike,
    rank: TensorLike,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Effect:
    """Assert that `x` has rank `rank` or a larger one."""
    return _check_rank(_AT_LEAST, "assert_rank_at_least", x, [rank], data, summarize, message, name)


def assert_rank_at_least(
    x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None
) -> Effect:
    """Assert that `x` has rank `rank` or a larger one.

    >>> assert_rank_at_least([[1, 2]], 1)
    """
    return assert_rank_at_least_v1(x, rank, message=message, name=name)


def assert_rank_in_v1(
    x: TensorLike,
    ranks: Sequence[TensorLike],
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Effect:
    """Assert that the rank of `x` is one of `ranks`."""
    return _check_rank(_ONE_OF, "assert_rank_in", x, list(ranks), data, summarize, message, name)


def assert_rank_in(
    x: TensorLike, ranks: Sequence[TensorLike], message: str | None = None, name: str | None = None
) -> Effect:
    """Assert that the rank of `x` is one of `ranks`.

    >>> assert_rank_in([[1, 2]], (1, 2))
    """
    return assert_rank_in_v1(x, ranks, message=message, name=name)


def assert_scalar_v1(tensor: TensorLike, name: str | None = None, message: str | None = None) -> Tensor:
    """Return `tensor`, which must be a scalar.

    >>> int(assert_scalar_v1(3))
    3
    """
    with name_scope(name, "assert_scalar", [tensor]):
        tensor = convert(tensor, name="tensor")
        if tensor._dims != ():
            called = "" if is_nameless(tensor) else f" for {tensor.name}"
            shown = dims_str(tensor._dims)
            raise ValueError(f"{prefix(message)}Expected scalar shape{called}, saw shape: {shown}.")
        return tensor


def assert_scalar(tensor: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Assert that `tensor` is a scalar.

    >>> assert_scalar(3)
    """
    assert_scalar_v1(tensor, name=name, message=message)


# --- named dimensions -------------------------------------------------------------------------------------------------

REST = (..., "*")
"""Entries that stand for any number of dimensions; they may only be the first."""

ANY = (None, ".")
"""Entries that stand for one dimension of any size."""


class _Size(NamedTuple):
    """The size of a symbol, or of a number: a number or a tensor, and where it came from."""

    size: Any
    origin: str


class _Spec(NamedTuple):
    """A tensor and the entries its shape must match, counted from the end if `open_start`."""

    tensor: Any
    entries: list[Any]
    open_start: bool

    def axis(self, i: int) -> int:
        return i - len(self.entries) if self.open_start else i


def assert_shapes(
    shapes: Mapping[Any, Any] | Sequence[Any],
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Effect:
    """Assert that tensors have the shapes given for them, in which a symbol stands for the same size everywhere.

    `shapes` is a list of pairs (or a dictionary) of a tensor and its shape: numbers, symbols, None for any size; `...`
    as the first entry for any number of dimensions. A scalar counts as a vector of one element.

    >>> assert_shapes([([[1, 2, 3]], ("N", "D")), ([4, 5, 6], ("D",))])
    """
    pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    with name_scope(name, "assert_shapes", [shapes, data]):
        specs = [_spec(_tensor(x), entries, message) for x, entries in pairs if entries is not None]
        checks = [_check_spec_rank(spec, data, summarize, message) for spec in specs]
        sizes: dict[Any, _Size] = {}
        for spec in specs:
            for i, entry in enumerate(spec.entries):
                if entry not in ANY:
                    checks.append(_check_size(spec, i, entry, sizes, data, summarize, message))
    if context.executing_eagerly():
        return None
    with context.default_graph().control_dependencies([check for check in checks if check is not None]):
        return raw.NoOp(name="group_deps")


assert_shapes_v1 = assert_shapes


def _tensor(x: Any) -> Any:
    x = x.deref() if isinstance(x, Reference) else x
    return x if isinstance(x, SparseTensor) else convert(x)


def _spec(tensor: Any, entries: Any, message: Any) -> _Spec:
    if not isinstance(entries, Iterable) and not hasattr(entries, "__getitem__"):
        raise ValueError(
            f"{prefix(message)}Tensor {label(tensor)}.  Specified shape must be an iterable.  An iterable has the "
            f"attribute `__iter__` or `__getitem__`.  Received specified shape: {entries}"
        )
    listed = [_entry(entry) for entry in entries] or [1]
    for i, entry in enumerate(listed):
        if i and entry in REST:
            raise ValueError(
                f"{prefix(message)}Tensor {label(tensor)} specified shape index {i}.  Symbol `...` or `*` for a "
                "variable number of unspecified dimensions is only allowed as the first entry"
            )
    open_start = bool(listed) and listed[0] in REST
    return _Spec(tensor, listed[1:] if open_start else listed, open_start)


def _entry(entry: Any) -> Any:
    if isinstance(entry, Dimension):
        return entry.value
    if isinstance(entry, str) and entry.isdecimal():
        return int(entry)
    return int(entry) if hasattr(entry, "__index__") or isinstance(entry, float) else entry


def _check_spec_rank(spec: _Spec, data: Any, summarize: Any, message: Any) -> Any:
    length = len(spec.entries)
    if spec.open_start:
        return assert_rank_at_least_v1(spec.tensor, length, data, summarize, message)
    if length < 2:
        return assert_rank_in_v1(spec.tensor, [0, 1], data, summarize, message)
    return assert_rank_v1(spec.tensor, length, data, summarize, message)


def _check_size(
    spec: _Spec, i: int, entry: Any, sizes: dict[Any, _Size], data: Any, summarize: Any, message: Any
) -> Any:
    """Assert that a dimension has the size of its entry; the first use of a symbol says what that is."""
    found = _size(spec, i)
    if isinstance(entry, int):
        wanted = _Size(entry, "Specified explicitly")
    else:
        mine = _Size(found, f"Specified by tensor {label(spec.tensor)} dimension {spec.axis(i)}")
        wanted = sizes.setdefault(entry, mine)
        if wanted is mine:
            return None
    if isinstance(found, int) and isinstance(wanted.size, int):
        if found != wanted.size:
            raise ValueError(
                f"{prefix(message)}{wanted.origin}.  Tensor {label(spec.tensor)} dimension {spec.axis(i)} must have "
                f"size {wanted.size}.  Received size {found}, shape {dims_str(spec.tensor.shape._dims)}"
            )
        return None
    if data is None:
        told = [f"Tensor {label(spec.tensor)} dimension", spec.axis(i), "must have size", wanted.size]
        data = [prefix(message), wanted.origin, *told, "Received shape: ", shape_of(spec.tensor)]
    return Assert(equal(found, wanted.size), data, summarize=summarize)


def _size(spec: _Spec, i: int) -> Any:
    """Return the size of the dimension that entry `i` is about: a number, or a tensor where only the run knows it."""
    dims = spec.tensor.shape._dims
    if dims is not None:
        dims = dims or (1,)
        if dims[spec.axis(i)] is not None:
            return dims[spec.axis(i)]
    sizes = shape_of(spec.tensor)
    if dims is None and len(spec.entries) == 1:
        sizes = raw.ConcatV2([[1], sizes], 0)  # a scalar counts as a vector of one element: look from the end
        return sizes[-1]
    return sizes[spec.axis(i)]
