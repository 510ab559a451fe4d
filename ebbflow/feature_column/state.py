"""State managers: who makes and keeps the variables and tables of second-generation columns for a layer."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from ebbflow.core.typing import DTypeLike, InitializerLike, ShapeLike
from ebbflow.state.partitioners import PartitionedVariable
from ebbflow.state.variable_scope import get_variable
from ebbflow.trackable.base import Trackable, no_automatic_dependency_tracking_scope
from ebbflow.trackable.data_structures import Mapping as TrackedMapping

if TYPE_CHECKING:
    from ebbflow.feature_column.base import FeatureColumn
    from ebbflow.state.base import Variable


class StateManager:
    """What a column asks of the manager it is given; a layer's is `LayerState`."""

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Make a variable for a column."""
        raise NotImplementedError("StateManager.create_variable is for a subclass to write")

    def add_variable(self, feature_column: Any, var: Any) -> Any:
        """Keep a variable that a column has made itself."""
        raise NotImplementedError("StateManager.add_variable is for a subclass to write")

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """Return a column's variable."""
        raise NotImplementedError("StateManager.get_variable is for a subclass to write")

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Keep something else a column has made, such as a table."""
        raise NotImplementedError("StateManager.add_resource is for a subclass to write")

    def has_resource(self, feature_column: Any, name: str) -> bool:
        """Return whether there is such a thing already."""
        raise NotImplementedError("StateManager.has_resource is for a subclass to write")

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """Return what was kept."""
        raise NotImplementedError("StateManager.get_resource is for a subclass to write")


class LayerState(StateManager):
    """The state of a layer's columns: variables are weights of the layer, tables are its children."""

    def __init__(self, layer: Any, trainable: bool) -> None:
        self._trainable = trainable
        self._layer = layer
        if self._layer is not None and not hasattr(self._layer, "_resources"):
            self._layer._resources = TrackedMapping()
        self._cols_to_vars_map: dict[Any, dict[str, Any]] = collections.defaultdict(dict)
        self._cols_to_resources_map: dict[Any, dict[str, Any]] = collections.defaultdict(dict)

    def create_variable(
        self,
        feature_column: FeatureColumn,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: InitializerLike | None = None,
    ) -> Variable:
        """Make a weight of the layer, which a checkpoint finds under the column's name."""
        if name in self._cols_to_vars_map[feature_column]:
            raise ValueError(f"Variable already exists: {name} of column {feature_column.name}.")
        with no_automatic_dependency_tracking_scope(self._layer):
            variable = self._layer.add_weight(
                name=name,
                shape=shape,
                dtype=dtype,
                initializer=initializer,
                trainable=self._trainable and trainable,
                use_resource=use_resource,
                getter=get_variable,  # so that a partitioner of the variable scope is heeded
            )
        if isinstance(variable, PartitionedVariable):
            for part in variable:
                offset = part._get_save_slice_info().var_offset[0]
                self._layer._track_trackable(part, f"{feature_column.name}/{name}/{offset}")
        elif isinstance(variable, Trackable):
            self._layer._track_trackable(variable, f"{feature_column.name}/{name}")
        self._cols_to_vars_map[feature_column][name] = variable
        return variable

    def get_variable(self, feature_column: FeatureColumn, name: str) -> Variable:
        """Return a column's variable."""
        try:
            return self._cols_to_vars_map[feature_column][name]
        except KeyError:
            raise ValueError(f"Variable does not exist: {name} of column {feature_column.name}.") from None

    def add_resource(self, feature_column: FeatureColumn, resource_name: str, resource: object) -> None:
        """Keep a table, as a child of the layer where it is a trackable thing."""
        self._cols_to_resources_map[feature_column][resource_name] = resource
        if self._layer is None or not isinstance(resource, Trackable):
            return
        if feature_column.name not in self._layer._resources:
            self._layer._resources[feature_column.name] = TrackedMapping()
        children = self._layer._resources[feature_column.name]
        if resource_name not in children:
            children[resource_name] = resource

    def has_resource(self, feature_column: FeatureColumn, resource_name: str) -> bool:
        """Return whether there is such a table already."""
        return resource_name in self._cols_to_resources_map[feature_column]

    def get_resource(self, feature_column: FeatureColumn, resource_name: str) -> object:
        """Return a table of a column."""
        if not self.has_resource(feature_column, resource_name):
            raise ValueError(f"Resource does not exist: {resource_name} of column {feature_column.name}.")
        return self._cols_to_resources_map[feature_column][resource_name]
