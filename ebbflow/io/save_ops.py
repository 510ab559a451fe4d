"""Saving and restoring tensors, as ops: SaveV2, RestoreV2, MergeV2Checkpoints, those of the first format, file names.

Names and slices are tensors of strings. What the files look like is the affair of `bundle`, `bundle_writer` and
`checkpoint_v1`. A restore that asks for what is not there says so of every name, with the nearest that is.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.dtypes import DType
from ebbflow.core.op import Known, op
from ebbflow.core.shape import dims_str, is_compatible
from ebbflow.io import tensor_slices
from ebbflow.io.bundle import BundleReader, bundle_exists, nearest
from ebbflow.io.bundle_writer import BundleWriter, merge
from ebbflow.io.checkpoint_v1 import OldReader, OldWriter
from ebbflow.io.records import file_errors
from ebbflow.io.tensor_slices import Slice
from ebbflow.ops.declare import FLAT, scalar, show, with_rank
from ebbflow.ops.sizes import invalid
from ebbflow.platform.file_systems import system_of


def open_checkpoint(prefix: str) -> BundleReader | OldReader:
    """Return a reader of a checkpoint of either format."""
    return BundleReader(prefix) if bundle_exists(prefix) else OldReader(prefix)


# --- interfaces -------------------------------------------------------------------------------------------------------


def _nothing(*inputs: Known, **attrs: Any) -> list[Any]:
    """There are no outputs; the names come as a vector, the path as a scalar."""
    with_rank(inputs[0], 0, "prefix")
    for known in inputs[1:2]:
        with_rank(known, 1, "tensor_names")
    return []


SaveV2 = op(
    "SaveV2(prefix:string, tensor_names:string, shape_and_slices:string, tensors:list(dtypes)) -> () | "
    "dtypes: list(type) >= 1 | stateful",
    shape=_nothing,
    gradient=FLAT,
)
RestoreV2 = op(
    "RestoreV2(prefix:string, tensor_names:string, shape_and_slices:string) -> (tensors:list(dtypes)) | "
    "dtypes: list(type) >= 1 | stateful",
    gradient=FLAT,
)
MergeV2Checkpoints = op(
    "MergeV2Checkpoints(checkpoint_prefixes:string, destination_prefix:string) -> () | "
    "delete_old_dirs: bool = true; allow_missing_files: bool = false | stateful",
    shape=lambda *inputs, **attrs: [],
    gradient=FLAT,
)
Save = op(
    "Save(filename:string, tensor_names:string, data:list(T)) -> () | T: list(type) >= 1 | stateful",
    shape=_nothing,
    gradient=FLAT,
)
SaveSlices = op(
    "SaveSlices(filename:string, tensor_names:string, shapes_and_slices:string, data:list(T)) -> () | "
    "T: list(type) >= 1 | stateful",
    shape=_nothing,
    gradient=FLAT,
)
Restore = op(
    "Restore(file_pattern:string, tensor_name:string) -> (tensor:dt) | dt: type; preferred_shard: int = -1 | stateful",
    gradient=FLAT,
)
RestoreSlice = op(
    "RestoreSlice(file_pattern:string, tensor_name:string, shape_and_slice:string) -> (tensor:dt) | "
    "dt: type; preferred_shard: int = -1 | stateful",
    gradient=FLAT,
)
ShardedFilename = op(
    "ShardedFilename(basename:string, shard:int32, num_shards:int32) -> (filename:string)", shape=scalar, gradient=FLAT
)
ShardedFilespec = op(
    "ShardedFilespec(basename:string, num_shards:int32) -> (filename:string)", shape=scalar, gradient=FLAT
)


# --- shapes -----------------------------------------------------------------------------------------------------------


@RestoreV2.shape
def _(prefix, tensor_names, shape_and_slices, *, dtypes):
    with_rank(prefix, 0, "prefix")
    with_rank(tensor_names, 1, "tensor_names")
    with_rank(shape_and_slices, 1, "shape_and_slices")
    if not is_compatible(tensor_names.dims, shape_and_slices.dims):
        raise errors.StaticShapeError(
            f"tensor_names and shape_and_slices must have the same length, got {dims_str(tensor_names.dims)} and "
            f"{dims_str(shape_and_slices.dims)}"
        )
    specs = shape_and_slices.value
    if specs is None:
        return [None] * len(dtypes)
    return [_dims_of(spec) for spec in _texts(specs)]


def _dims_of(spec: str) -> tuple[int, ...] | None:
    if not spec:
        return None
    shape, part = tensor_slices.parse_shape_and_slice(spec)
    return tensor_slices.shape_of(part, shape)


@Restore.shape
def _(file_pattern, tensor_name, *, dt, preferred_shard):
    return None


@RestoreSlice.shape
def _(file_pattern, tensor_name, shape_and_slice, *, dt, preferred_shard):
    return None if shape_and_slice.value is None else _dims_of(_text(shape_and_slice.value))


# --- saving -----------------------------------------------------------------------------------------------------------


def _texts(array: np.ndarray) -> list[str]:
    return [s.decode() if isinstance(s, bytes) else s for s in np.asarray(array).reshape(-1).tolist()]


def _text(array: np.ndarray) -> str:
    item = np.asarray(array).item()
    return item.decode() if isinstance(item, bytes) else item


def _check_counts(names: Sequence[str], others: Iterable[tuple[str, int]]) -> None:
    for what, count in others:
        if count != len(names):
            raise invalid(f"Got {len(names)} tensor_names but {count} {what}.")


def save_bundle(prefix: str, names: list[str], specs: list[str], arrays: list[Any], kinds: Sequence[DType]) -> None:
    """Write arrays under their names; a spec that is not empty says which part of a larger tensor one is."""
    _check_counts(names, [("shape_and_slices", len(specs)), ("tensors", len(arrays))])
    _make_folder(prefix)
    with BundleWriter(prefix) as writer:
        for name, spec, array, dtype in zip(names, specs, arrays, kinds, strict=True):
            if not spec:
                writer.add(name, array, dtype.base_dtype)
                continue
            shape, part = _checked_part(name, spec, array)
            writer.add_slice(name, shape, part, array, dtype.base_dtype)


def _checked_part(name: str, spec: str, array: np.ndarray) -> tuple[tuple[int, ...], Slice]:
    shape, part = tensor_slices.parse_shape_and_slice(spec)
    if tensor_slices.shape_of(part, shape) != array.shape:
        raise invalid(
            f"Slice in shape_and_slice specification {spec!r} does not match the shape of the tensor to save: "
            f"{name} has shape {list(array.shape)}"
        )
    return shape, part


def _make_folder(path: str) -> None:
    """Make the folder of a file, where the folder above is there."""
    folder = os.path.dirname(path)
    if folder:
        system, name = system_of(folder)
        with file_errors(folder):
            system.mkdir(name)


@SaveV2.kernel
def _(xp, prefix, tensor_names, shape_and_slices, tensors, *, dtypes):
    save_bundle(_text(prefix), _texts(tensor_names), _texts(shape_and_slices), list(tensors), dtypes)
    return ()


def _save_old(path: str, names: list[str], specs: list[str], arrays: Sequence[Any], kinds: Sequence[DType]) -> None:
    _check_counts(names, [("shapes_and_slices", len(specs)), ("tensors", len(arrays))])
    _make_folder(path)
    writer = OldWriter(path)
    for name, spec, array, dtype in zip(names, specs, arrays, kinds, strict=True):
        if spec:
            shape, part = _checked_part(name, spec, array)
        else:
            shape, part = array.shape, tuple((0, tensor_slices.WHOLE) for _ in array.shape)
        writer.add(name, shape, part, array, dtype.base_dtype)
    writer.finish()


@Save.kernel
def _(xp, filename, tensor_names, data, *, T):
    names = _texts(tensor_names)
    _save_old(_text(filename), names, [""] * len(names), data, T)
    return ()


@SaveSlices.kernel
def _(xp, filename, tensor_names, shapes_and_slices, data, *, T):
    _save_old(_text(filename), _texts(tensor_names), _texts(shapes_and_slices), data, T)
    return ()


# --- restoring --------------------------------------------------------------------------------------------------------


def restore(prefix: str, names: list[str], specs: list[str], kinds: Sequence[DType]) -> list[np.ndarray]:
    """Return tensors of a checkpoint by name, or the parts of them that the specs name."""
    _check_counts(names, [("shape_and_slices", len(specs)), ("dtypes", len(kinds))])
    reader = open_checkpoint(prefix)
    check_names(reader, names)
    wanted = [_wanted_part(reader, *item) for item in zip(names, specs, kinds, strict=True)]
    _check_parts([(name, rule) for name, (_, rule) in zip(names, wanted, strict=True) if rule], len(names))
    parts = [part for part, _ in wanted]
    return [reader.read(name, part) for name, part in zip(names, parts, strict=True)]


def check_names(reader: Any, names: Sequence[str]) -> None:
    """See that a checkpoint has all of these names; the error tells every one that is missing."""
    missing = [name for name in names if name not in reader]
    if not missing:
        return
    text = f"Key {missing[0]} not found in checkpoint"
    lines = [f"  {name}{nearest(name, reader.names)}" for name in missing[:_TOLD]]
    if len(missing) > _TOLD:
        lines.append(f"  … and {len(missing) - _TOLD} more")
    unexpected = sorted(set(reader.names) - set(names))
    asked = "\n".join(lines)
    raise errors.NotFoundError(
        None, None, f"{text} {reader.prefix}\n{len(missing)} of {len(names)} keys asked for are missing:\n{asked}\n"
        f"{len(unexpected)} keys are there that were not asked for{_some(unexpected)}",
    )  # fmt: skip


_TOLD = 200


def _some(names: Sequence[str]) -> str:
    if not names:
        return ""
    return ": " + ", ".join(names[:20]) + (", …" if len(names) > 20 else "")


def _wanted_part(reader: Any, name: str, spec: str, dtype: DType) -> tuple[Slice | None, str]:
    """Return the part of a tensor that a spec names, and what is against it ("" for nothing)."""
    stored, kind = reader.shape_of(name), reader.dtype_of(name)
    if kind is not dtype.base_dtype:
        return None, f"expected dtype {dtype.base_dtype.name} does not equal original dtype {kind.name}"
    if not spec:
        return None, ""
    shape, part = tensor_slices.parse_shape_and_slice(spec)
    if shape == stored:
        return part, ""
    rule = f"shape in shape_and_slice spec {list(shape)} does not match the shape stored in checkpoint: {list(stored)}"
    return None, rule


def _check_parts(differing: Sequence[tuple[str, str]], asked: int) -> None:
    """See that nothing is against the parts of a checkpoint that are asked for; the error tells all that differ."""
    if not differing:
        return
    text = f"tensor_name = {differing[0][0]}; {differing[0][1]}"
    if len(differing) > 1:
        lines = [f"  {name}: {rule}" for name, rule in differing[:_TOLD]]
        if len(differing) > _TOLD:
            lines.append(f"  … and {len(differing) - _TOLD} more")
        text += f"\n{len(differing)} of {asked} tensors asked for differ:\n" + "\n".join(lines)
    raise invalid(text)


@RestoreV2.kernel
def _(xp, prefix, tensor_names, shape_and_slices, *, dtypes):
    return tuple(restore(_text(prefix), _texts(tensor_names), _texts(shape_and_slices), dtypes))


@Restore.kernel
def _(xp, file_pattern, tensor_name, *, dt, preferred_shard):
    return restore(_text(file_pattern), [_text(tensor_name)], [""], [dt])[0]


@RestoreSlice.kernel
def _(xp, file_pattern, tensor_name, shape_and_slice, *, dt, preferred_shard):
    return restore(_text(file_pattern), [_text(tensor_name)], [_text(shape_and_slice)], [dt])[0]


# --- names and merging ------------------------------------------------------------------------------------------------


@MergeV2Checkpoints.kernel
def _(xp, checkpoint_prefixes, destination_prefix, *, delete_old_dirs, allow_missing_files):
    prefixes = _texts(checkpoint_prefixes)
    destination = _text(destination_prefix)
    merge(prefixes, destination, allow_missing_files)
    if delete_old_dirs:
        for folder in sorted({os.path.dirname(p) for p in prefixes}):
            system, name = system_of(folder)
            if name and name != os.path.dirname(destination) and system.isdir(name) and not system.listdir(name):
                with contextlib.suppress(OSError):
                    system.rmtree(name)
    return ()


def _single(**given: Any) -> None:
    for name, value in given.items():
        if value.ndim:
            raise invalid(f"{name} must be a scalar, got shape {show(value.shape)}")


@ShardedFilename.kernel
def _(xp, basename, shard, num_shards):
    _single(basename=basename, shard=shard, num_shards=num_shards)
    return np.array(f"{_text(basename)}-{int(shard):05d}-of-{int(num_shards):05d}".encode(), object)


@ShardedFilespec.kernel
def _(xp, basename, num_shards):
    _single(basename=basename, num_shards=num_shards)
    return np.array(f"{_text(basename)}-?????-of-{int(num_shards):05d}".encode(), object)
