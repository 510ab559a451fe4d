"""Functions of the entries of sparse tensors, which stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.ops.checks.asserts import assert_equal
from ebbflow.ops.declare import raw

OF_ENTRIES = frozenset(
    """
    Abs ComplexAbs Asin Asinh Atan Atanh BesselI0e BesselI1e Erf Neg Sign Sin Sqrt Square Tan Tanh
    """.split()  # noqa: SIM905
)
"""The ops that TensorFlow takes sparse tensors for (BesselI0e among them, though it makes 1 of 0)."""


def form(op: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Return what an op gives for a sparse tensor, or NotImplemented."""
    if op.name not in OF_ENTRIES:
        return NotImplemented
    (given,) = inputs
    return _with(given, given.indices, op(given.values, **attrs))


SparseTensor._op_form = staticmethod(form)  # type: ignore[attr-defined]


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """Return what `op` gives for the values of sparse tensors that have the same places.

    >>> map_values(lambda x: x + 1, SparseTensor([[0]], [7], [2])).values.numpy().tolist()
    [8]
    """
    found = [x for x in nest.flatten([args, kwargs]) if isinstance(x, SparseTensor)]
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    inner = [x.values if isinstance(x, SparseTensor) else x for x in nest.flatten([args, kwargs])]
    plain_args, plain_kwargs = nest.pack_sequence_as([args, kwargs], inner)
    return _with(found[0], _same_places(found), op(*plain_args, **plain_kwargs))


def _with(given: SparseTensor, places: Any, values: Any) -> SparseTensor:
    """Return a sparse tensor of the same shape, as far as it is known."""
    made = SparseTensor(places, values, given.dense_shape)
    made.set_shape(given.shape)
    return made


def _same_places(values: Sequence[SparseTensor]) -> Tensor:
    """Return where the entries are, once they are known to be at the same places in all of the values."""
    first, *others = (x.indices for x in values)
    words = "the sparse tensors of map_values must have the same indices"
    checks = [assert_equal(first, other, message=words) for other in others if other is not first]
    if not checks or isinstance(first, EagerTensor):
        return first
    with context.current_graph().control_dependencies([check for check in checks if check is not None]):
        return raw.Identity(first)
