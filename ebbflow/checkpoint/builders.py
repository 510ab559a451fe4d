"""The nodes of a saver: `save/Const`, `save/SaveV2`, `save/RestoreV2`, `save/Assign`, `save/restore_all`, …

MetaGraphs name them, so their names and kinds are TensorFlow's. `BaseSaverBuilder` has the methods that programs
override to save and restore their own way.
"""

from __future__ import annotations

import collections
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.checkpoint import saveables as saving
from ebbflow.core import context, device, dtypes
from ebbflow.core.scopes import name_scope
from ebbflow.graph.placeholders import placeholder_with_default
from ebbflow.graph.scopes import control_dependencies, device_scope, group, with_dependencies
from ebbflow.ops.declare import raw
from ebbflow.ops.strings.format_join import string_join
from ebbflow.state.partitioners import PartitionedVariable

V1, V2 = 1, 2  # SaverDef.CheckpointFormatVersion


class BaseSaverBuilder:
    """Makes the nodes that save and restore; one node restores each tensor."""

    SaveSpec = saving.SaveSpec
    SaveableObject = saving.SaveableObject
    VariableSaveable = saving.ReferenceVariableSaveable
    ResourceVariableSaveable = saving.ResourceVariableSaveable

    def __init__(self, write_version: int = V2):
        self._write_version = write_version

    # --- what programs override ---------------------------------------------------------------------------------------

    def save_op(self, filename_tensor: Any, saveables: Sequence[Any]) -> Any:
        """Return the operation that saves these to a file."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names = [spec.name for spec in specs]
        slices = [spec.slice_spec for spec in specs]
        tensors = [spec.tensor for spec in specs]
        if self._write_version == V1:
            if any(slices):
                return raw.SaveSlices(filename_tensor, names, slices, tensors, name="save")
            return raw.Save(filename_tensor, names, tensors, name="save")
        if self._write_version == V2:
            return raw.SaveV2(filename_tensor, names, slices, tensors)
        raise RuntimeError(f"Unexpected write_version: {self._write_version}")

    def restore_op(self, filename_tensor: Any, saveable: Any, preferred_shard: int) -> list[Any]:
        """Return the tensors that restore one saveable."""
        return [
            raw.RestoreV2(filename_tensor, [spec.name], [spec.slice_spec], dtypes=[spec.dtype.base_dtype])[0]
            for spec in saveable.specs
        ]

    def bulk_restore(
        self, filename_tensor: Any, saveables: Sequence[Any], preferred_shard: int, restore_sequentially: bool
    ) -> list[Any]:
        """Return the tensors that restore all of these."""
        tensors: list[Any] = []
        for saveable in saveables:
            place = saving.on_host(saveable.device) if saveable.device else None
            with device_scope(place):
                tensors += self.restore_op(filename_tensor, saveable, preferred_shard)
        return tensors

    def sharded_filename(self, filename_tensor: Any, shard: int, num_shards: Any) -> Any:
        """Return the name of one shard's file."""
        return raw.ShardedFilename(filename_tensor, shard, num_shards)

    # --- saving -------------------------------------------------------------------------------------------------------

    def _AddSaveOps(self, filename_tensor: Any, saveables: Sequence[Any]) -> Any:
        save = self.save_op(filename_tensor, saveables)
        if context.executing_eagerly():
            return filename_tensor
        return with_dependencies([save], filename_tensor)

    def _AddShardedSaveOps(self, filename_tensor: Any, per_device: Sequence[Any]) -> Any:
        if self._write_version == V2:
            return self._AddShardedSaveOpsForV2(filename_tensor, per_device)
        count = _number(len(per_device), "num_shards")
        saves = []
        for shard, (place, saveables) in enumerate(per_device):
            with device_scope(place):
                saves.append(self._AddSaveOps(self.sharded_filename(filename_tensor, shard, count), saveables))
        with _after(saves):
            return raw.ShardedFilespec(filename_tensor, count)

    def _AddShardedSaveOpsForV2(self, checkpoint_prefix: Any, per_device: Sequence[Any]) -> Any:
        parts = string_join([checkpoint_prefix, f"_temp_{uuid.uuid4().hex}/part"])
        count = _number(len(per_device), "num_shards")
        saves, prefixes = [], []
        for shard, (place, saveables) in enumerate(per_device):
            with device_scope(saving.on_host(place)):
                prefix = self.sharded_filename(parts, shard, count)
                prefixes.append(prefix)
                saves.append(self._AddSaveOps(prefix, saveables))
        with _after(saves), device_scope(saving.on_host(per_device[-1][0])):
            merged = raw.MergeV2Checkpoints(prefixes, checkpoint_prefix, delete_old_dirs=True)
            with _after([merged]):
                return raw.Identity(checkpoint_prefix)

    # --- restoring ----------------------------------------------------------------------------------------------------

    def _AddRestoreOps(
        self, filename_tensor: Any, saveables: Sequence[Any], restore_sequentially: bool, reshape: bool,
        preferred_shard: int = -1, name: str = "restore_all",
    ) -> Any:  # fmt: skip
        tensors = self.bulk_restore(filename_tensor, saveables, preferred_shard, restore_sequentially)
        assigned, at = [], 0
        for saveable in saveables:
            shapes = [_known_shape(spec.tensor) for spec in saveable.specs] if reshape else None
            count = len(saveable.specs)
            assigned.append(saveable.restore(tensors[at : at + count], shapes))
            at += count
        return group(*assigned, name=name)

    def _AddShardedRestoreOps(
        self, filename_tensor: Any, per_device: Sequence[Any], restore_sequentially: bool, reshape: bool
    ) -> Any:
        restores = []
        for shard, (place, saveables) in enumerate(per_device):
            with device_scope(place):
                part = (filename_tensor, saveables, restore_sequentially, reshape)
                restores.append(self._AddRestoreOps(*part, preferred_shard=shard, name="restore_shard"))
        return group(*restores, name="restore_all")

    def _GroupByDevices(self, saveables: Sequence[Any]) -> list[tuple[str, list[Any]]]:
        per_device: dict[str, list[Any]] = collections.defaultdict(list)
        for saveable in saveables:
            # TensorFlow 1 looked at the tensors, and made the nodes that read variables for it.
            tf1 = context.switches.tf1
            places = {device.canonical_name(s.tensor.device if tf1 else s.device) for s in saveable.specs}
            if len(places) != 1:
                raise ValueError(f"All tensors of a saveable object must be on the same device: {saveable.name}")
            per_device[places.pop()].append(saveable)
        return sorted(per_device.items(), key=lambda item: item[0])

    # --- all of it ----------------------------------------------------------------------------------------------------

    def build(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
    ) -> Any:
        """Make the nodes that save and restore, and return the SaverDef that names them."""
        return self._build_internal(
            names_to_saveables, reshape, sharded, max_to_keep, keep_checkpoint_every_n_hours, name,
            restore_sequentially, filename,
        )  # fmt: skip

    def _build_internal(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
        build_save: bool = True,
        build_restore: bool = True,
    ) -> Any:
        if not context.executing_eagerly() and not (build_save and build_restore):
            raise ValueError(
                "save and restore operations need to be built together when eager execution is not enabled."
            )
        if not isinstance(names_to_saveables, dict):
            names_to_saveables = saving.op_list_to_dict(names_to_saveables)
        saveables = saving.validate_and_slice_inputs(names_to_saveables)
        save_tensor = restore_op = None
        with name_scope(name, "save"):
            path = placeholder_with_default(filename or "model", shape=(), name="filename")
            path = placeholder_with_default(path, shape=(), name="Const")
            groups = self._GroupByDevices(saveables) if sharded else []
            if build_save:
                save_tensor = self._AddShardedSaveOps(path, groups) if sharded else self._AddSaveOps(path, saveables)
            if build_restore:
                restore_op = (
                    self._AddShardedRestoreOps(path, groups, restore_sequentially, reshape)
                    if sharded
                    else self._AddRestoreOps(path, saveables, restore_sequentially, reshape)
                )
        definition = messages.SaverDef(
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )
        _name_nodes(definition, path, save_tensor, restore_op)
        return definition


class BulkSaverBuilder(BaseSaverBuilder):
    """Makes the nodes that save and restore; one node restores all tensors."""

    def bulk_restore(
        self, filename_tensor: Any, saveables: Sequence[Any], preferred_shard: int, restore_sequentially: bool
    ) -> list[Any]:
        """Return the tensors that restore all of these."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        with device_scope("cpu:0"):
            return raw.RestoreV2(
                filename_tensor,
                [spec.name for spec in specs],
                [spec.slice_spec for spec in specs],
                dtypes=[spec.dtype.base_dtype for spec in specs],
            )


def _name_nodes(definition: Any, path: Any, save_tensor: Any, restore_op: Any) -> None:
    """Put the names of a saver's nodes into its message; eagerly there are paths in their place."""
    if context.executing_eagerly():
        definition.filename_tensor_name = path.numpy()
        definition.save_tensor_name = b"" if save_tensor is None else save_tensor.numpy()
        return
    graph = context.default_graph()
    for key in graph.get_all_collection_keys():
        for element in graph.get_collection(key):
            # A MetaGraph names a partitioned variable by its concatenation, so there must be one.
            if isinstance(element, PartitionedVariable) and element.name not in graph._by_name:
                element.as_tensor()
    definition.filename_tensor_name = path.name
    definition.save_tensor_name = save_tensor.name
    definition.restore_op_name = restore_op.name


def _number(value: int, name: str) -> Any:
    if context.executing_eagerly():
        return value
    return context.current_graph().constant(np.array(value, np.int32), dtypes.int32, name)


def _after(tensors: Sequence[Any]) -> Any:
    return control_dependencies([] if context.executing_eagerly() else [getattr(t, "op", t) for t in tensors])


def _known_shape(tensor: Any) -> Any:
    shape = tensor.get_shape()
    return shape if shape.is_fully_defined() else raw.Shape(tensor)
