"""Values that JSON does not know, in a form that it does: what configs of models are written with."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import numpy as np

from ebbflow.core.composite import TypeSpec
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import Dimension, TensorShape
from ebbflow.core.spec_registry import get_name
from ebbflow.trackable.proxy import ObjectProxy


def get_json_type(obj: Any) -> Any:
    """Return a value for JSON in place of one it cannot write; for `json.dumps(..., default=get_json_type)`.

    >>> get_json_type(TensorShape([None, 2]))
    [None, 2]
    """
    if hasattr(obj, "get_config"):
        return {"class_name": obj.__class__.__name__, "config": obj.get_config()}
    if isinstance(obj, np.ndarray):
        return obj.tolist()
    if isinstance(obj, np.generic):
        return obj.item()
    if isinstance(obj, ObjectProxy):
        return obj.__wrapped__
    for kind, form in _FORMS:
        if isinstance(obj, kind):
            return form(obj)
    if callable(obj):
        return obj.__name__
    raise TypeError(f"Unable to serialize {obj!r} to JSON: objects of {type(obj)} have no form in it.")


def _of_spec(spec: Any) -> dict[str, Any]:
    try:
        name = get_name(type(spec))
    except ValueError:
        raise ValueError(f"Unable to serialize {spec!r} to JSON: its class has no name in files.") from None
    return {"class_name": "TypeSpec", "type_spec": name, "serialized": spec._serialize()}


_FORMS: tuple[tuple[Any, Any], ...] = (
    (Dimension, lambda value: value.value),
    (TensorShape, lambda value: value.as_list()),
    (DType, lambda value: value.name),
    (Mapping, dict),
    (type(Ellipsis), lambda value: {"class_name": "__ellipsis__"}),
    (TypeSpec, _of_spec),
    (enum.Enum, lambda value: value.value),
)
