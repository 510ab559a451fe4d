"""Variables that start from a checkpoint: `tf.train.init_from_checkpoint`.

Changes the initializers of variables in a graph, so that initialising reads the file; eager variables are assigned.
Knows variables, and the scopes of `get_variable` through its store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbflow.checkpoint import saveables
from ebbflow.checkpoint.reader import checkpoint_filename, load_checkpoint
from ebbflow.core import context
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import PathLike
from ebbflow.graph.scopes import device_scope
from ebbflow.ops.declare import raw
from ebbflow.platform import logging
from ebbflow.state.partitioners import PartitionedVariable
from ebbflow.state.variable_store import default_store
from ebbflow.state.variables import Variable


def is_variable(x: Any) -> bool:
    """Return whether this is a variable, or the tensor of one."""
    if isinstance(x, Variable) or not isinstance(x, Tensor) or not hasattr(x, "op"):
        return isinstance(x, Variable)
    facts = x.op._op.facts
    return facts.variable or facts.reads == "whole"


def init_from_checkpoint(ckpt_dir_or_file: PathLike, assignment_map: Mapping[str, Any] | Sequence[Any]) -> None:
    """Have variables start with values of a checkpoint.

    The map goes from names in the checkpoint (or scopes, `a/`) to variables, their names, parts of one, or scopes.
    """
    pairs = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    source = _Source(ckpt_dir_or_file)
    for name_in_checkpoint, target in sorted(pairs, key=lambda pair: pair[0]):
        variable = source.variable(target)
        if variable is not None:
            source.assign(name_in_checkpoint, variable)
        else:
            source.assign_scope(name_in_checkpoint, target)


class _Source:
    """A checkpoint, and the variables it is for."""

    def __init__(self, ckpt_dir_or_file: Any):
        self.where = ckpt_dir_or_file
        self.path = checkpoint_filename(ckpt_dir_or_file)
        self.shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
        self.store: dict[str, Any] = default_store()._vars

    def variable(self, target: Any) -> Any:
        """Return the variable (or the parts of one) that a value of the map means, or None where it is a scope."""
        if is_variable(target) or (isinstance(target, (list, tuple)) and all(is_variable(v) for v in target)):
            return target
        if isinstance(target, PartitionedVariable):
            return target._get_variable_list()
        return self.named(target)

    def named(self, name: str) -> Any:
        """Return the variable of that name, or its parts, or None."""
        variable = self.store.get(name)
        return self.parts(name) if variable is None else variable

    def parts(self, name: str) -> list[Any] | None:
        """Return the parts of the variable called `name`, where it is partitioned."""
        parts: list[Any] = []
        while f"{name}/part_{len(parts)}" in self.store:
            parts.append(self.store[f"{name}/part_{len(parts)}"])
        return parts or None

    def assign(self, name: str, variable: Any) -> None:
        if name not in self.shapes:
            raise ValueError(f"Tensor {name} is not found in {self.where} checkpoint {self.shapes}")
        if is_variable(variable) and not variable.get_shape().is_compatible_with(self.shapes[name]):
            raise ValueError(
                f"Shape of variable {variable.name} ({variable.get_shape()}) doesn't match with shape of tensor {name} "
                f"({self.shapes[name]}) from checkpoint reader."
            )
        self._start_from(name, variable)

    def assign_scope(self, scope_in_checkpoint: str, target: str) -> None:
        """Have all variables under a scope start with what stands under another in the checkpoint."""
        scope = target.rpartition("/")[0]
        if not scope_in_checkpoint.endswith("/"):
            raise ValueError(
                f"Assignment map with scope only name {scope} should map to scope only {scope_in_checkpoint}. "
                "Should be 'scope/': 'other_scope/'."
            )
        names = {n.partition("/part_")[0] for n in self.store if not scope or n.startswith(scope + "/")}
        for name in sorted(names):
            own = name[len(scope) :]
            full = own if target == "/" else own[1:]
            full = (full if scope_in_checkpoint == "/" else scope_in_checkpoint + full).rstrip("/")
            if full not in self.shapes:
                raise ValueError(
                    f"Tensor {full} ({name[len(scope) + 1 :]} in {scope_in_checkpoint}) is not found in {self.where} "
                    "checkpoint"
                )
            self._start_from(full, self.named(name))

    def _start_from(self, name: str, variable: Any) -> None:
        if not isinstance(variable, (list, tuple)):
            _set_initializer(variable, self.path, name, "")
        else:
            infos = [v._get_save_slice_info() for v in variable]
            if len({info.full_name for info in infos}) > 1:
                raise ValueError(
                    f"Slices must all be from the same tensor: {' != '.join(sorted({i.full_name for i in infos}))}"
                )
            for part, info in zip(variable, infos, strict=True):
                _set_initializer(part, self.path, name, info.spec)
        logging.debug("Initialize variable %s from checkpoint %s with %s", variable, self.where, name)


def _set_initializer(variable: Any, path: Any, tensor_name: str, slice_spec: str) -> None:
    """Have a variable be initialised with a tensor of a checkpoint (eagerly: at once)."""
    with device_scope(variable.device), device_scope("/cpu:0"):
        value = raw.RestoreV2(
            path, [tensor_name], [slice_spec], dtypes=[variable.dtype.base_dtype], name="checkpoint_initializer"
        )[0]
    ((name, op),) = saveables.op_list_to_dict([variable]).items()
    (saveable,) = saveables.saveable_objects_for_op(op, name)
    assign = saveable.restore([value], None)
    if context.executing_eagerly():
        return
    value.set_shape(variable.shape)
    variable._initializer = getattr(assign, "op", assign)
    variable._initial_value = value
