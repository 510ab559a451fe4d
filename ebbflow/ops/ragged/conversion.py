"""Values that may be ragged, made tensors: functions that take both kinds begin here."""

from __future__ import annotations

from typing import Any

from ebbflow.core.convert import convert
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.ragged.value import RaggedTensorValue


def ragged_or_tensor(value: Any, dtype: Any = None, hint: Any = None, name: str | None = None) -> Any:
    """Return a ragged tensor (or what was fetched of one) as a ragged tensor, anything else as a tensor."""
    if isinstance(value, RaggedTensorValue):
        flat = convert(value.flat_values, dtype, hint, name)
        return RaggedTensor.from_nested_row_splits(flat, value.nested_row_splits, validate=False)
    if not isinstance(value, RaggedTensor):
        return convert(value, dtype, hint, name)
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        kinds = f"{dtype.name} for RaggedTensor with dtype {value.dtype.name}"
        raise ValueError(f"Tensor conversion requested dtype {kinds}: {value!r}")
    return value
