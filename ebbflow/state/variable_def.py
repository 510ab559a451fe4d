"""Variables as messages: VariableDef and SaveSliceInfoDef, the forms they have in MetaGraphs and checkpoints.

Knows variables by their properties only, and the messages, which are loaded on first use.
"""

from __future__ import annotations

from typing import Any

from ebbflow import messages
from ebbflow.graph.scope_names import is_in_scope, prepend_name_scope, strip_name_scope


def _integer(text: str, wrong: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"Spec string's {wrong}") from None


class SaveSliceInfo:
    """Which part of a larger variable a variable is: what a checkpoint keeps of it."""

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Any = None,
        var_offset: Any = None,
        var_shape: Any = None,
        save_slice_info_def: Any = None,
        import_scope: str | None = None,
    ):
        if save_slice_info_def is not None:
            full_name = prepend_name_scope(save_slice_info_def.full_name, import_scope)
            full_shape = list(save_slice_info_def.full_shape)
            var_offset = list(save_slice_info_def.var_offset)
            var_shape = list(save_slice_info_def.var_shape)
        self.full_name = full_name
        self.full_shape = full_shape
        self.var_offset = var_offset
        self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """The part as checkpoints write it: the full shape, then offset,length for each axis.

        >>> SaveSliceInfo("w", [5, 2], [3, 0], [2, 2]).spec
        '5 2 3,2:0,2'
        """
        shape = "".join(f"{n} " for n in self.full_shape)
        return shape + ":".join(f"{o},{n}" for o, n in zip(self.var_offset, self.var_shape, strict=True))

    @classmethod
    def from_spec(cls, spec: str) -> SaveSliceInfo:
        """Return the part that a text as `spec` gives it describes."""
        *shape, part = spec.split(" ")
        if not shape or not part:
            raise ValueError(f"Spec string must contain space-separated full_shape info, got {spec!r}")
        full_shape = [_integer(n, f"full_shape must be a sequence of integers, got {spec!r}") for n in shape]
        offsets, lengths = [], []
        for pair in part.split(":"):
            offset, comma, length = pair.partition(",")
            if not comma:
                raise ValueError(f"Spec string must contain comma-separated pairs of offsets and shapes, got {spec!r}")
            offsets.append(_integer(offset, f"var_offset must be an integer, got {spec!r}"))
            lengths.append(_integer(length, f"var_shape must be an integer, got {spec!r}"))
        return cls(full_shape=full_shape, var_offset=offsets, var_shape=lengths)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return this as a SaveSliceInfoDef (None where it is not under `export_scope`)."""
        if not is_in_scope(str(self.full_name), export_scope):
            return None
        return messages.SaveSliceInfoDef(
            full_name=strip_name_scope(str(self.full_name), export_scope),
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )


def variable_def(variable: Any, export_scope: str | None = None) -> Any:
    """Return a graph's variable as a VariableDef (None where it is not under `export_scope`)."""
    if not is_in_scope(variable.name, export_scope):
        return None
    is_resource = hasattr(variable, "handle")
    elements = {
        "variable_name": variable.handle if is_resource else variable,
        "initializer_name": variable.initializer,
        "snapshot_name": variable.snapshot,
    }
    if variable._initial_value is not None:
        elements["initial_value_name"] = variable._initial_value
    definition = messages.VariableDef(
        **{field: strip_name_scope(element.name, export_scope) for field, element in elements.items()},
        is_resource=is_resource,
        trainable=variable.trainable,
        synchronization=variable.synchronization.value,
        aggregation=variable.aggregation.value,
    )
    info = variable._get_save_slice_info()
    if info is not None:
        definition.save_slice_info_def.MergeFrom(info.to_proto(export_scope))
    return definition


class Elements:
    """The nodes and tensors of a graph that a VariableDef names, and the rest of what it says."""

    def __init__(self, definition: Any, graph: Any, import_scope: str | None):
        def named(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope)) if name else None

        if not hasattr(definition, "variable_name"):
            raise TypeError(f"`variable_def` must be a `VariableDef` message, got {definition!r}")
        self.variable = named(definition.variable_name)
        self.initializer = named(definition.initializer_name)
        self.snapshot = named(definition.snapshot_name)
        self.initial_value = named(definition.initial_value_name)
        self.trainable = definition.trainable
        self.synchronization = definition.synchronization
        self.aggregation = definition.aggregation
        self.save_slice_info = None
        if definition.HasField("save_slice_info_def"):
            self.save_slice_info = SaveSliceInfo(
                save_slice_info_def=definition.save_slice_info_def, import_scope=import_scope
            )
