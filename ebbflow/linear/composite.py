"""Linear operators as values made of tensors: their types, their parts, and rows of a batch of them.

An operator is known by the arguments it was made with. A class says which of these are tensors, or operators again, and
how many of a tensor's last axes belong to the matrix (`_matrix_axes`); all others are part of the type. So an operator
goes through functions, structures, SavedModels and gradients like any value made of tensors. Knows no kind of operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import nest
from ebbflow.core.composite import BatchableTypeSpec
from ebbflow.core.composite_gradient import CompositeTensorGradient
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.core.spec_registry import register
from ebbflow.core.tensor import Tensor
from ebbflow.ops.declare import raw

HINTS = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


class LinearOperatorSpec(BatchableTypeSpec):
    """The type of an operator: the types of its tensors, and its other arguments."""

    __slots__ = ("_non_tensor_params", "_param_specs", "_prefer_static_fields")

    kind: type

    def __init__(
        self, param_specs: dict[str, Any], non_tensor_params: dict[str, Any], prefer_static_fields: Sequence[str] = ()
    ):
        self._param_specs = dict(param_specs)
        self._non_tensor_params = dict(non_tensor_params)
        self._prefer_static_fields = tuple(prefer_static_fields)

    value_type = property(lambda self: self.kind)

    def _serialize(self) -> Any:
        return self._param_specs, self._non_tensor_params, self._prefer_static_fields

    @property
    def _component_specs(self) -> Any:
        return self._param_specs

    def _to_components(self, value: Any) -> Any:
        return {name: part for name, part in tensor_parts(value).items() if name in self._param_specs}

    def _from_components(self, components: Any) -> Any:
        return self.kind(**components, **self._non_tensor_params)

    def _batch(self, batch_size: int | None) -> LinearOperatorSpec:
        return self._each(lambda spec: spec._batch(batch_size))

    def _unbatch(self) -> LinearOperatorSpec:
        return self._each(lambda spec: spec._unbatch())

    def _each(self, change: Any) -> LinearOperatorSpec:
        specs = {name: nest.map_structure(change, spec) for name, spec in self._param_specs.items()}
        return type(self)(specs, self._non_tensor_params, self._prefer_static_fields)


def spec_class(kind: type) -> type[LinearOperatorSpec]:
    """Return the class of the types of a kind of operator; kinds of this package have a name in files."""
    made = type(f"{kind.__name__}Spec", (LinearOperatorSpec,), {"__slots__": (), "kind": kind})
    if kind.__module__.startswith("ebbflow.") and not kind.__name__.startswith("_"):
        made = register(f"tf.linalg.{kind.__name__}Spec")(made)
    return made


def make_composite_tensor(cls: type, module_name: str = "tf.linalg") -> type:
    """Return a kind of operator as it is: each kind has a class of types from when it is defined."""
    return cls


def spec_of_operator(operator: Any) -> LinearOperatorSpec:
    """Return the type of an operator."""
    specs = {name: nest.map_structure(_spec, part) for name, part in tensor_parts(operator).items()}
    others = {
        name: value for name, value in operator.parameters.items()
        if name not in specs and name not in HINTS and name != "name"
    }  # fmt: skip
    hints = {name: getattr(operator, name) for name in HINTS}
    static = getattr(operator, "_composite_tensor_prefer_static_fields", ())
    return type(operator)._spec_class(specs, others | hints, static)


def _spec(part: Any) -> Any:
    own = getattr(part, "_type_spec", None)
    return own if own is not None else TensorSpec(part.shape, part.dtype.base_dtype)


def tensor_parts(operator: Any) -> dict[str, Any]:
    """Return the tensors and operators that an operator is made of, by the names of its arguments."""
    return {name: nest.map_structure(_as_tensor, operator._part(name)) for name in _named_parts(operator)}


def _as_tensor(value: Any) -> Any:
    if isinstance(value, Tensor) or hasattr(value, "_composite_tensor_fields"):
        return value  # a tensor of a function's body, too, whose type is asked for outside
    return convert(value)


class OperatorGradient(CompositeTensorGradient):
    """The gradient of an operator is an operator made of the gradients of its tensors."""

    def get_gradient_components(self, value: Any) -> Any:
        """Return its tensors, variables and operators."""
        return [value._part(name) for name in sorted(_named_parts(value))]

    def replace_gradient_components(self, value: Any, component_grads: Any) -> Any:
        """Return the operator of the gradients; what has none counts as zeros."""
        names = sorted(_named_parts(value))
        parts = {name: _grads(value._part(name), g) for name, g in zip(names, component_grads, strict=True)}
        return spec_of_operator(value)._from_components(parts)


def _grads(part: Any, grad: Any) -> Any:
    if isinstance(part, list):
        given = [None] * len(part) if grad is None else grad
        return [_grads(item, g) for item, g in zip(part, given, strict=True)]
    if hasattr(part, "_composite_tensor_fields"):
        parts = {name: _grads(part._part(name), None) for name in _named_parts(part)}
        return spec_of_operator(part)._from_components(parts) if grad is None else grad
    return raw.ZerosLike(convert(part)) if grad is None else grad


def _named_parts(operator: Any) -> list[str]:
    """Return which arguments of an operator are tensors or operators, and were given."""
    return [name for name in operator._composite_tensor_fields if operator._part(name) is not None]


# --- rows of a batch --------------------------------------------------------------------------------------------------


def sliced(operator: Any, slices: Any) -> Any:
    """Return the operator of some of a batch: slices as a tensor of the batch's shape takes them."""
    items = list(slices) if isinstance(slices, (list, tuple)) else [slices]
    rank = operator.batch_shape.rank
    parts = {
        name: nest.map_structure(lambda part, axes=axes: _rows(part, axes, items, rank), operator._part(name))
        for name, axes in operator._matrix_axes.items() if operator._part(name) is not None
    }  # fmt: skip
    others = {name: value for name, value in operator.parameters.items() if name not in parts}
    batch = others.get("batch_shape")
    if batch is not None:
        others["batch_shape"] = _rows_of_shape(batch, items)
    return type(operator)(**(others | parts))


def _rows(part: Any, axes: Any, items: list[Any], rank: int | None) -> Any:
    """Return a part's rows; a part that lacks batch axes, or has one row along them, stands for all rows."""
    if hasattr(part, "_composite_tensor_fields"):
        own = part.batch_shape
        return part[_fitted(items, own, rank)] if own.rank is None or own.rank else part
    tensor = convert(part)
    own = None if tensor.shape.rank is None else tensor.shape[: tensor.shape.rank - axes]
    wanted = items if own is None else _fitted(items, own, rank)
    return tensor[(*_open(wanted), *[slice(None)] * axes)]


def _open(items: list[Any]) -> list[Any]:
    return list(items) if any(item is Ellipsis for item in items) else [*items, Ellipsis]


def _fitted(items: list[Any], own: Any, rank: int | None) -> list[Any]:
    """Return slices of the whole batch as those of a part of it, whose batch axes are its last ones."""
    if own.rank is None or rank is None:
        return items
    spread = _open(items)
    at = spread.index(Ellipsis)
    taken = sum(item is not None for item in spread) - 1
    spread[at : at + 1] = [slice(None)] * (rank - taken)
    fitted: list[Any] = []
    axis = own.rank - rank
    for item in spread:
        if item is None:
            fitted.append(item)
            continue
        if axis >= 0:
            single = own[axis] == 1
            fitted.append(item if not single else slice(None) if isinstance(item, slice) else 0)
        axis += 1
    return fitted


def _rows_of_shape(batch: Any, items: list[Any]) -> list[int]:
    sizes = [int(n) for n in np.asarray(batch).reshape(-1)]
    return list(np.broadcast_to(np.int8(0), sizes)[tuple(items)].shape)
