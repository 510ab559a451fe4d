"""`WeakTensor`: a tensor whose dtype gives way to the dtypes of others.

It is an extension type around a tensor, so functions, tapes and datasets take it; whatever else asks for a tensor gets
the one inside. Its operators and NumPy's methods are put on it by `functions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.composite_gradient import CompositeTensorGradient
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import EagerTensor, Tensor, TensorBase
from ebbflow.core.typing import DTypeLike
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.extension.batching import BatchableExtensionType
from ebbflow.ops.extension.types import new_of

ALLOWED = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.complex128)
"""The dtypes that can be weak."""


class WeakTensorGradient(CompositeTensorGradient):
    """The gradient of a weak tensor is weak."""

    def get_gradient_components(self, value: Any) -> Any:
        """Return the tensor inside."""
        return value.tensor

    def replace_gradient_components(self, value: Any, component_grads: Any) -> Any:
        """Return the gradient of the tensor inside, weak."""
        return value._type_spec._from_components([component_grads])


class WeakTensor(BatchableExtensionType, TensorBase):
    """A tensor with a weak dtype: with tensors of other dtypes it takes theirs."""

    __name__ = "tf.WeakTensor"
    tensor: Tensor

    is_weak = True
    __array_priority__ = 200

    def __validate__(self) -> None:
        if self.tensor.dtype not in ALLOWED:
            raise TypeError(f"{self.tensor.dtype} not allowed as a weak type. The allowed types are {ALLOWED}.")

    @classmethod
    def from_tensor(cls, tensor: Tensor) -> WeakTensor:
        """Return a tensor as a weak one."""
        if isinstance(tensor, WeakTensor):
            tensor = tensor.tensor
        if not isinstance(tensor, Tensor):
            raise errors.InvalidArgumentError(
                None, None, f"WeakTensor can only be constructed from tf.Tensor or tf.WeakTensor, not {type(tensor)}."
            )
        return (EagerWeakTensor if isinstance(tensor, EagerTensor) else GraphWeakTensor)(tensor)

    def to_tensor(self) -> Tensor:
        """Return the tensor inside, whose dtype stays."""
        return self.tensor

    def __tf_tensor__(self, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        if wanted is not None and wanted.base_dtype != self.tensor.dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {self.tensor.dtype.name}: "
                f"{self!r}"
            )
        return self.tensor

    def _as_graph_element(self) -> Tensor:
        return self.tensor

    @property
    def dtype(self) -> DType:
        """The dtype, which gives way."""
        return self.tensor.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return self.tensor.shape

    def __getattr__(self, name: str) -> Any:
        if name == "tensor":  # it is not set yet
            raise AttributeError(name)
        return getattr(self.tensor, name)

    def __iter__(self) -> Iterator[Any]:
        if not context.executing_eagerly():
            raise errors.OperatorNotAllowedInGraphError(
                "Iterating over a symbolic `tf.WeakTensor` is not allowed. You can attempt the following resolutions "
                "to the problem: If you are running in Graph mode, use Eager execution mode or decorate this function "
                "with @tf.function."
            )
        return (WeakTensor.from_tensor(row) for row in self.tensor)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.tensor)

    def __len__(self) -> int:
        return len(self.tensor)

    def __bool__(self) -> bool:
        return bool(self.tensor)

    def __copy__(self) -> WeakTensor:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> WeakTensor:
        return self

    def __repr__(self) -> str:
        return _with_weakness(repr(self.tensor))

    def __str__(self) -> str:
        return _with_weakness(str(self.tensor))

    def __reduce__(self) -> Any:
        return WeakTensor.from_tensor, (self.tensor,)

    class Spec:
        """The type of weak tensors, eager or of a graph."""

        def _from_components(self, components: Any) -> WeakTensor:
            (tensor,) = components
            known = isinstance(tensor, Tensor)
            return WeakTensor.from_tensor(tensor) if known else new_of(WeakTensor, {"tensor": tensor})

    __composite_gradient__ = WeakTensorGradient()


# Eager or of a graph, the type is one: a function takes both. (The name is not for fields, hence not in the class.)
WeakTensor._type_spec = property(lambda self: WeakTensor.Spec.from_value(self))  # type: ignore[assignment,attr-defined]


class EagerWeakTensor(WeakTensor):
    """A weak tensor with a value."""

    __name__ = "tf.EagerWeakTensor"

    def numpy(self) -> Any:
        """Return the value."""
        if not isinstance(self.tensor, EagerTensor):
            raise ValueError("WeakTensor.numpy() is only supported in eager mode.")
        return self.tensor.numpy()

    def __complex__(self) -> complex:
        return complex(self.tensor)

    def __int__(self) -> int:
        return int(self.tensor)

    def __float__(self) -> float:
        return float(self.tensor)

    def __index__(self) -> int:
        return self.tensor.__index__()

    def __format__(self, spec: str) -> str:
        return f"{format(self.tensor, spec)} weakly typed"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(np.asarray(self.tensor), dtype)


class GraphWeakTensor(WeakTensor):
    """A weak tensor of a graph."""

    __name__ = "tf.GraphWeakTensor"


def _with_weakness(text: str) -> str:
    return f"{text[:-1]}, weak=True{text[-1]}"


def weak_or_plain(value: Any, weak: bool) -> Any:
    """Return a tensor as a weak one, or a weak one as a tensor."""
    if weak:
        return WeakTensor.from_tensor(value)
    return value.tensor if isinstance(value, WeakTensor) else value


def as_dtype_of(value: Any, dtype: DType, converted: Any) -> Any:
    """Return a value in a dtype: tensors are cast, all else is converted by `converted`."""
    if isinstance(value, WeakTensor):
        value = value.tensor
    if isinstance(value, Tensor) and value.dtype == dtype:
        return value
    keeps_form = isinstance(value, (TensorBase, CompositeTensor))
    return (cast if keeps_form else converted)(value, dtype)


class _Kinds(type):
    def __instancecheck__(cls, value: Any) -> bool:
        inside = value.tensor if isinstance(value, WeakTensor) else value
        return isinstance(inside, Tensor) and isinstance(inside, EagerTensor) is cls.eager  # type: ignore[attr-defined]


class Value(metaclass=_Kinds):
    """What has a value: eager tensors, weak or not."""

    eager = True


class Symbol(metaclass=_Kinds):
    """What stands for a value: tensors of graphs, weak or not."""

    eager = False
