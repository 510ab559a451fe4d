"""The type of a variable as an argument of a traced function.

Variables of one dtype and shape share a trace: inside, a variable stands that reads and writes through the handle it is
called with. The same variable given twice is one variable inside, too (`alias_id`). A trace that asks for the name of
that variable, because the program keeps something beside each, serves one variable only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.composite import TypeSpec
from ebbflow.core.shape import TensorShape, is_compatible
from ebbflow.core.spec import TensorSpec


class VariableSpec(TypeSpec):
    """dtype, shape, whether it is trained, and which of the variables of a call it is."""

    _is_dense = True  # one handle: nothing to be taken apart
    value_type: Any = None  # the class of variables, which says so itself

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, trainable: bool = True, alias_id: Any = None):
        self.shape = TensorShape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.trainable = trainable
        self.alias_id = alias_id
        self.first: Any = None  # a weak reference to the variable that the type was asked of; no part of the type

    @classmethod
    def from_value(cls, value: Any) -> VariableSpec:
        """Return the type of a variable."""
        return cls(value.shape, value.dtype, value.trainable)

    def _fields(self) -> tuple[Any, ...]:
        return self.shape._dims, self.dtype, self.trainable, self.alias_id

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a variable (or another spec) fits this type, whichever alias it is."""
        return (
            hasattr(spec_or_value, "trainable")
            and self.dtype is spec_or_value.dtype
            and self.trainable == spec_or_value.trainable
            and is_compatible(self.shape._dims, spec_or_value.shape._dims)
        )

    # --- what the tracer asks -----------------------------------------------------------------------------------------

    def is_subtype_of(self, other: Any) -> bool:
        """Return whether a trace for `other` serves."""
        return isinstance(other, VariableSpec) and self._fields()[1:] == other._fields()[1:] and bool(
            self.shape.is_subtype_of(other.shape)
        )  # fmt: skip

    def most_specific_common_supertype(self, others: Sequence[Any]) -> VariableSpec | None:
        """Return the narrowest type that serves all, or None."""
        if any(not isinstance(o, VariableSpec) or o._fields()[1:] != self._fields()[1:] for o in others):
            return None
        shape = self.shape.most_specific_common_supertype([o.shape for o in others])
        return None if shape is None else VariableSpec(shape, *self._fields()[1:])

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """Return the variable that stands for this one while a function is traced."""
        handle = placeholder_context.argument(
            TensorSpec([], dtypes.resource), _handle_dtypes=(self.dtype,), _handle_shapes=(self.shape._dims,)
        )
        made = _stand_ins[0](handle, self)
        first = placeholder_context.by_alias.setdefault(self.alias_id, made)
        first._also.append(handle)
        variable = None if self.first is None else self.first()
        if variable is not None:
            placeholder_context.variables[id(variable._handle)] = variable._handle, first._handle
        return first

    def flatten(self) -> list[Any]:
        return [TensorSpec([], dtypes.resource)]

    def to_tensors(self, value: Any) -> list[Any]:
        """Return the handle of a variable; of one that stands for it, the next of its handles."""
        also = value.__dict__.get("_also")
        return [also.pop(0) if also else value.handle]

    def from_tensors(self, tensors: Any) -> Any:
        return _stand_ins[0](next(tensors), self)

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """Return the variable, if it is of this type."""
        if not self.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        return value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VariableSpec) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return (
            f"VariableSpec(shape={self.shape}, dtype={self.dtype!r}, trainable={self.trainable}, "
            f"alias_id={self.alias_id})"
        )


_stand_ins: list[Any] = []


def provide_stand_in(make: Any) -> None:
    """Let the file that knows the variables say how one is made around a handle."""
    _stand_ins[:] = [make]
