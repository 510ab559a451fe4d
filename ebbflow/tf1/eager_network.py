"""`tfe.Network` and `tfe.Sequential`: layers under one name, before there were Keras models without a session.

A network gives the layers it tracks names of their own inside it, once it is first called, so that the names of
variables do not depend on what else a program makes. It is saved and restored by those names; a checkpoint restored
into a network whose variables are not there yet is kept, and read when they are made.
"""

from __future__ import annotations

import inspect
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ebbflow.checkpoint.management import latest_checkpoint
from ebbflow.checkpoint.reader import CheckpointReader
from ebbflow.checkpoint.saver import Saver
from ebbflow.core import context, errors
from ebbflow.core.scopes import name_scope
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.layers.base import Layer, snake_case
from ebbflow.runtime.session import get_default_session
from ebbflow.state.variable_scope import (
    VariableScope,
    get_variable_scope,
    pure_variable_scope,
    scope_store,
    variable_scope,
)
from ebbflow.state.variable_store import home_graph
from ebbflow.train.step_counter import get_global_step

if TYPE_CHECKING:
    from ebbflow.state.base import Variable


NETWORKS = "_tfe_networks"
"""The collection of the names of networks."""

GONE = "A layer's Network was garbage collected before the layer was built, so its variables have no names"


class _Calls(threading.local):
    """The networks that are being called, the outermost first."""

    def __init__(self) -> None:
        self.open: list[Network] = []


_calls = _Calls()
_order = itertools.count()


class Network(Layer):
    """Layers that are called, saved and listed as one. Subclasses track their layers, and say how to call them."""

    def __init__(self, name: str | None = None):
        if isinstance(name, VariableScope):
            raise ValueError("VariableScopes are not valid Network names.")
        if name is not None and "/" in name:
            raise ValueError(f"Forward slashes ('/') are not allowed in Network names, got {name!r}")
        self._constructed = False
        super().__init__(name=name)
        self._constructed = True
        self._own_name: str | None = name
        self._full_name: str | None = None
        self._owner: weakref.ref[Network] | None = None
        self._outer = get_variable_scope()
        self._layers: list[Any] = []
        self._owned: dict[str, Any] = {}
        self._restores: list[_Restore] = []

    # --- names --------------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name: with the scope around it, or inside the network that owns this one."""
        name = self._full_name or self._own_name
        if name is None:
            raise ValueError(
                "The network does not yet have a final name, because it was not named when it was made. "
                "It has one once it is called, or tracked by another."
            )
        return name

    def _settle(self) -> None:
        """Decide, once, what this network and what it owns are called."""
        if self._scope is None:
            if self._owner is None:
                scope = self._settle_in(self._outer, self._root_name())
                self._full_name = scope.name
                home_graph().get_collection_ref(NETWORKS).append(scope.name)
            else:
                owner = self._owner()
                if owner is None:
                    raise ValueError(GONE)
                owner._settle()
        for layer in self._layers:
            _settle_layer(layer)

    def _root_name(self) -> str:
        """Return a name that no network and no variable scope has in the scope this one was made in."""
        counts, outer = scope_store().counts, self._outer.name
        networks = home_graph().get_collection_ref(NETWORKS)
        base = self._own_name or snake_case(type(self).__name__)
        for number in itertools.count():
            name = f"{base}_{number}" if number else base
            full = f"{outer}/{name}" if outer else name
            if not counts.get(full) and full not in networks:
                return name
            if self._own_name is not None:
                break
        raise ValueError(
            f"A Network named '{base}' already exists (or a variable_scope was created with this name). "
            "Names must be unique."
        )

    def _settle_in(self, outer: VariableScope, name: str) -> VariableScope:
        with pure_variable_scope(outer), variable_scope(name, use_resource=True, custom_getter=_restored) as scope:
            self._scope, self._own_name = scope, name
        for name, layer in self._owned.items():
            _settle_in(layer, scope, name)
        return scope

    def track_layer(self, layer: object) -> Layer:
        """Return a layer, which from now on is one of the network's; its variables are saved with the others."""
        if not isinstance(layer, Layer):
            raise TypeError(f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer")
        if not layer.built and layer._scope is None and getattr(layer, "_owner", None) is None:
            name = self._name_inside(layer)
            vars(layer)["_owner"] = weakref.ref(self)
            self._owned[name] = layer
            _rename(layer, name)
            if self._scope is not None:
                _settle_in(layer, self._scope, name)
        self._layers.append(layer)
        return layer

    def _name_inside(self, layer: Any) -> str:
        base = snake_case(type(layer).__name__)
        asked = layer._own_name if isinstance(layer, Network) else layer._base_name
        if asked is not None and asked != base:
            if asked in self._owned:
                raise ValueError(f"Attempt to add two Layers with the name '{asked}' to the same Network.")
            return asked
        names = (f"{base}_{number}" if number else base for number in itertools.count())
        return next(name for name in names if name not in self._owned)

    # --- what it has --------------------------------------------------------------------------------------------------

    @property
    def layers(self) -> list[Any]:
        """The layers that it tracks."""
        return self._layers

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Return a layer by its name or its place."""
        if (name is None) == (index is None):
            raise ValueError("Provide either a layer name or a layer index")
        if index is not None:
            if not -len(self._layers) <= index < len(self._layers):
                raise ValueError(f"There is no layer {index}: the network has {len(self._layers)} layers")
            return self._layers[index]
        for layer in self._layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def trainable(self) -> bool:
        """Whether variables are trained; each layer says so for itself."""
        return True

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if self._constructed:
            raise AttributeError("Network.trainable cannot be set: set it on layers")

    def _gathered(self, what: str) -> list[Any]:
        values = (value for layer in self._layers for value in getattr(layer, what))
        return list({id(value): value for value in values}.values())

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that are trained."""
        return self._gathered("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables."""
        return self._gathered("non_trainable_weights")

    @property
    def weights(self) -> list[Any]:
        """All variables, layer by layer."""
        return self._gathered("weights")

    variables = weights
    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    @property
    def losses(self) -> list[Any]:
        """The layers' regularization losses."""
        return self._gathered("losses")

    @property
    def updates(self) -> list[Any]:
        """What the layers want run with each step."""
        return self._gathered("updates")

    # --- calling ------------------------------------------------------------------------------------------------------

    def __call__(self, inputs: Nested, *args: Any, **kwargs: Any) -> Nested:
        self._settle()
        _calls.open.append(self)
        try:
            with name_scope(self._scope.original_name_scope):
                outputs = self.call(inputs, *args, **kwargs)
        finally:
            _calls.open.pop()
        self.built = True
        return outputs

    def _gather_saveables_for_checkpoint(self) -> Any:
        raise NotImplementedError("A Network is saved by tfe.save_network_checkpoint, not by tf.train.Checkpoint")


def _rename(layer: Any, name: str) -> None:
    if isinstance(layer, Network):
        layer._own_name = name
    layer._name = layer._base_name = name


def _settle_in(layer: Any, outer: VariableScope, name: str) -> None:
    if isinstance(layer, Network):
        layer._settle_in(outer, name)
        return
    with pure_variable_scope(outer), variable_scope(name) as scope:
        layer._scope = scope


def _settle_layer(layer: Any) -> None:
    """Have the owner of a layer that is shared decide the layer's name, before somebody else builds it."""
    if isinstance(layer, Network):
        layer._settle()
    elif layer._scope is None and getattr(layer, "_owner", None) is not None:
        owner = layer._owner()
        if owner is None:
            raise ValueError(GONE)
        owner._settle()


class Sequential(Network):
    """A network that calls layers, or functions, one after the other."""

    def __init__(self, layers_funcs: Iterable[Any] | None = None, name: str | None = None):
        super().__init__(name)
        self._functions: list[Any] = []
        for each in layers_funcs or ():
            self.add(each)

    def add(self, layer_func: Callable[..., Any]) -> None:
        """Append a layer, or a function of one tensor."""
        if isinstance(layer_func, Layer):
            self.track_layer(layer_func)
        elif not callable(layer_func):
            raise TypeError(f"Sequential.add() takes only tf.layers.Layer objects or callables, not '{layer_func}'")
        self._functions.append(layer_func)

    def call(self, inputs: Nested, mask: TensorLike | None = None, training: TensorLike | None = None) -> Nested:
        """Return what the last of them gives."""
        given = {"mask": mask, "training": training}
        for each in self._functions:
            taken = inspect.signature(each.call if isinstance(each, Layer) else each).parameters
            inputs = each(inputs, **{key: value for key, value in given.items() if key in taken})
        return inputs


# --- checkpoints ------------------------------------------------------------------------------------------------------

MapFunc = Callable[[str], str]


class _Names:
    """The names in a checkpoint of a network's variables, no two of them equal."""

    def __init__(self, network: Network, map_func: MapFunc | None, caller: str):
        self.network = weakref.ref(network)
        self.map_func = map_func
        self.caller = caller
        self.taken: dict[str, str] = {}

    def of(self, variable: Any) -> str:
        """Return the name of a variable. ValueError where another variable has it."""
        network, full = self.network(), variable.name.partition(":")[0]
        assert network is not None, "a network that is called is there"
        name = full.removeprefix(f"{network._scope.name}/") if self.map_func is None else self.map_func(full)
        if self.taken.setdefault(name, full) == full:
            return name
        if self.map_func is None:
            raise ValueError(
                "The default checkpoint variable name mapping strategy for Network "
                f"'{network.name}' resulted in a naming conflict. Both '{self.taken[name]}' and '{full}' are called "
                f"'{name}': pass a map_func to {self.caller}"
            )
        raise ValueError(
            f"The map_func passed to {self.caller} for the Network '{network.name}' resulted in two variables named "
            f"'{name}' ('{self.taken[name]}' and '{full}')"
        )


class _Restore:
    """A checkpoint whose values are for variables that are still to be made."""

    def __init__(self, names: _Names, reader: CheckpointReader):
        self.names = names
        self.reader = reader
        self.order = next(_order)

    def value(self, variable: Any) -> Any:
        """Return what the checkpoint has for a variable, or None."""
        name = self.names.of(variable)
        return self.reader.get_tensor(name) if self.reader.has_tensor(name) else None


def _restored(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Make a variable, with the value that the last of the restored checkpoints has for it."""
    variable = getter(*args, **kwargs)
    restores = {id(r): r for network in _calls.open for r in network._restores}
    values = [r.value(variable) for r in sorted(restores.values(), key=lambda r: r.order)]
    values = [value for value in values if value is not None]
    if values:
        if context.executing_eagerly():
            variable.assign(values[-1])
        else:
            variable.load(values[-1], _session("restored"))
    return variable


def _session(done: str) -> Any:
    if context.executing_eagerly():
        return None
    session = get_default_session()
    if session is None:
        raise ValueError(f"A Network is {done} in a graph with a session that is the default: use `with session:`")
    return session


def save_network_checkpoint(
    network: Network, save_path: str, global_step: Variable | TensorLike | None = None, map_func: MapFunc | None = None
) -> str | None:
    """Write a network's variables into a checkpoint, and return its path; into a folder under the network's name."""
    if not network.built:
        raise ValueError("Attempt to save the Network before it was first called. Its variables are not made yet.")
    names = _Names(network, map_func, "save_network_checkpoint")
    saver = Saver({names.of(variable): variable for variable in network.variables})
    if os.path.isdir(save_path):
        save_path = os.path.join(save_path, network.name.replace("/", "_"))
    step = get_global_step() if global_step is None else global_step
    return saver.save(_session("saved"), save_path, global_step=step, write_meta_graph=False)


def restore_network_checkpoint(network: Network, save_path: str, map_func: MapFunc | None = None) -> None:
    """Give a network's variables a checkpoint's values: those that are there now, the others when they are made."""
    network._settle()
    path = latest_checkpoint(save_path) if os.path.isdir(save_path) else save_path
    if path is None:
        raise errors.NotFoundError(None, None, f"There is no checkpoint in {save_path}")
    names, reader = _Names(network, map_func, "restore_network_checkpoint"), CheckpointReader(path)
    there = {names.of(variable): variable for variable in network.variables}
    missing = [name for name in there if not reader.has_tensor(name)]
    if missing:
        raise errors.NotFoundError(None, None, f"Key {missing[0]} not found in checkpoint {path}")
    if there:
        Saver(there).restore(_session("restored"), path)
    network._restores.append(_Restore(names, reader))
