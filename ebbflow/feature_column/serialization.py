"""Columns as plain dicts and back, as Keras writes them into a model's config."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from ebbflow.core.typing import Message
from ebbflow.feature_column.base import FeatureColumn
from ebbflow.state import initializers, tf2_initializers

COLUMN_CLASSES: dict[str, type] = {}
"""Classes of columns by their names."""


def register_column(cls: type) -> type:
    """Have columns of a class be read from configs: a decorator."""
    COLUMN_CLASSES[cls.__name__] = cls
    return cls


def check_keys(config: Mapping[str, Any], expected: Sequence[str]) -> None:
    """Raise ValueError unless a config has exactly these keys."""
    if set(config) != set(expected):
        raise ValueError(f"Invalid config: {config}, expected keys: {list(expected)}")


def serialize_object(value: Any) -> Any:
    """Return an initializer or function as Keras writes it: a class name with a config, or a function's name."""
    if value is None:
        return None
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if hasattr(value, "__name__"):
        return value.__name__
    raise ValueError(f"Cannot serialize {value}: it has neither get_config nor a name")


def deserialize_object(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return what `serialize_object` described, looked up among `custom_objects` and initializers."""
    if identifier is None or callable(identifier):
        return identifier
    known = dict(custom_objects or {})
    name = identifier["class_name"] if isinstance(identifier, Mapping) else identifier
    found = known.get(name)
    for room in (initializers, tf2_initializers):
        found = found if found is not None else getattr(room, name, None)
    if found is None:
        raise ValueError(f"Unknown object: {name}. Give it in custom_objects.")
    return found.from_config(dict(identifier["config"])) if isinstance(identifier, Mapping) else found


def serialize_column(fc: FeatureColumn) -> Any:
    """Return a column as {'class_name': …, 'config': …}; a key of a feature is itself."""
    if isinstance(fc, str):
        return fc
    if isinstance(fc, FeatureColumn):
        return {"class_name": type(fc).__name__, "config": fc.get_config()}
    raise ValueError(f"Instance: {fc} is not a FeatureColumn")


def deserialize_column(
    config: Message,
    custom_objects: Mapping[str, Any] | None = None,
    columns_by_name: MutableMapping[str, Any] | None = None,
) -> Any:
    """Return the column a config describes; equal ones become one object, by `columns_by_name`."""
    if isinstance(config, str):
        return config
    if not isinstance(config, Mapping) or not {"class_name", "config"} <= set(config):
        raise ValueError(f"Improper config format: {config}. Expecting class_name and config.")
    known = {**COLUMN_CLASSES, **(custom_objects or {})}
    cls = known.get(config["class_name"])
    if cls is None:
        raise ValueError(f"Unknown feature_column_v2: {config['class_name']}")
    if columns_by_name is None:
        columns_by_name = {}
    column = cls.from_config(config["config"], custom_objects=custom_objects, columns_by_name=columns_by_name)
    return columns_by_name.setdefault(name_with_class(column), column)


def name_with_class(fc: Any) -> str:
    """Return the key by which equal columns are known while a config is read."""
    return f"{type(fc).__name__}:{fc.name}"


def serialize_feature_columns(feature_columns: Sequence[Any]) -> list[Any]:
    """Return columns as dicts."""
    return [serialize_column(column) for column in feature_columns]


def deserialize_feature_columns(configs: Sequence[Any], custom_objects: Any = None) -> list[Any]:
    """Return the columns that dicts describe."""
    columns_by_name: dict[str, Any] = {}
    return [deserialize_column(config, custom_objects, columns_by_name) for config in configs]
