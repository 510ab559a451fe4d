"""`tf.contrib.framework`'s tools for finding variables and filling them from checkpoints and arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.checkpoint.reader import CheckpointReader
from ebbflow.checkpoint.saver import Saver
from ebbflow.core import context
from ebbflow.core.typing import PathLike
from ebbflow.graph.collections import GraphKeys, get_collection
from ebbflow.graph.placeholders import placeholder
from ebbflow.graph.scopes import group
from ebbflow.platform import logging

if TYPE_CHECKING:
    from ebbflow.state.base import Variable
    from ebbflow.state.variable_scope import VariableScope


V1 = 1  # SaverDef.CheckpointFormatVersion


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """Return the variables of a collection under a scope whose names end so."""
    if hasattr(scope, "name"):
        scope = scope.name
    if suffix is not None:
        if ":" not in suffix:
            suffix += ":"
        scope = (scope or "") + ".*" + suffix
    return get_collection(collection, scope)


def get_variables_to_restore(include: Sequence[str] | None = None, exclude: Sequence[str] | None = None) -> list[Any]:
    """Return the variables under the scopes `include` (all where it is None) that are not under those of `exclude`."""
    for name, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{name} is provided but is not a list or a tuple.")
    included = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    excluded = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in included if id(v) not in excluded]


def get_variables_by_suffix(suffix: str, scope: str | VariableScope | None = None) -> list[Any]:
    """Return the variables whose names end so."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: str | VariableScope | None = None) -> list[Any]:
    """Return the variables whose last name is this."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> Variable:
    """Return the one variable of that name."""
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def get_variable_full_name(var: Variable) -> str:
    """Return the name a checkpoint has for a variable: that of the whole, where it is a part."""
    info = var._get_save_slice_info()
    return info.full_name if info is not None else var.op.name


# --- filling them -----------------------------------------------------------------------------------------------------


def assign_from_values(var_names_to_values: dict[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """Return the operation that assigns arrays to variables by name, and what to feed it."""
    feed_dict, assigned = {}, []
    for name, value in var_names_to_values.items():
        variable = _variable_named(name)
        feed = _placeholder_for(variable)
        assigned.append(variable.assign(feed))
        feed_dict[feed] = np.asarray(value).reshape(variable.get_shape().as_list())
    return group(*assigned), feed_dict


def _variable_named(name: str) -> Any:
    candidates = get_collection(GraphKeys.GLOBAL_VARIABLES, name)
    if not candidates:
        raise ValueError(f"Variable {name} wasn't found")
    if len(candidates) == 1:
        return candidates[0]
    for candidate in candidates:
        if candidate.op.name == name:
            return candidate
    raise ValueError(f"Variable {name} doesn't uniquely identify a variable")


def _placeholder_for(variable: Any) -> Any:
    return placeholder(variable.dtype.base_dtype, variable.get_shape(), name=f"placeholder/{variable.op.name}")


def assign_from_values_fn(var_names_to_values: dict[str, Any]) -> Callable[[Any], Any]:
    """Return a function of a session that assigns arrays to variables by name."""
    assign_op, feed_dict = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign_op, feed_dict)


def assign_from_checkpoint(
    model_path: PathLike, var_list: Iterable[Any], ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """Return the operation that assigns a checkpoint's values to variables, and what to feed it."""
    reader = CheckpointReader(model_path)
    feed_dict: dict[Any, Any] = {}
    assigned = []
    for name, variables in _by_checkpoint_name(var_list).items():
        if not reader.has_tensor(name):
            if not ignore_missing_vars:
                raise ValueError(f"Checkpoint is missing variable [{name}]")
            logging.warning("Checkpoint is missing variable [%s]", name)
            continue
        value = np.asarray(reader.get_tensor(name))
        for variable in variables:
            feed = _placeholder_for(variable)
            assigned.append(variable.assign(feed))
            feed_dict[feed] = _part_for(variable, value, name)
    return group(*assigned), feed_dict


def _by_checkpoint_name(var_list: Any) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = {}
    if isinstance(var_list, (tuple, list)):
        for variable in var_list:
            grouped.setdefault(get_variable_full_name(variable), []).append(variable)
        return grouped
    return {name: list(v) if isinstance(v, (tuple, list)) else [v] for name, v in var_list.items()}


def _part_for(variable: Any, value: np.ndarray, name: str) -> np.ndarray:
    info = variable._get_save_slice_info()
    if info is not None:
        places = tuple(slice(start, start + n) for start, n in zip(info.var_offset, info.var_shape, strict=True))
        return value[places]
    if variable.get_shape().as_list() != list(value.shape):
        raise ValueError(
            f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], rh_shape: "
            f"[{variable.get_shape()}]"
        )
    return value


def assign_from_checkpoint_fn(
    model_path: PathLike, var_list: Iterable[Any], ignore_missing_vars: bool = False, reshape_variables: bool = False
) -> Callable[[Any], Any] | None:
    """Return a function of a session that restores variables; None where the checkpoint has none of them."""
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = CheckpointReader(model_path)
        by_name = var_list if isinstance(var_list, dict) else {v.op.name: v for v in var_list}
        for name in by_name:
            if not reader.has_tensor(name):
                logging.warning("Variable %s missing in checkpoint %s", name, model_path)
        var_list = {name: v for name, v in by_name.items() if reader.has_tensor(name)}
    if not var_list:
        logging.warning("No Variables to restore")
        return None
    with context.default_graph().as_default():
        saver = Saver(var_list, reshape=reshape_variables, write_version=V1)
    return lambda session: saver.restore(session, model_path)
