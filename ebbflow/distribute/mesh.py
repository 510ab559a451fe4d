"""`tf.experimental.dtensor`: meshes of devices, and layouts that say how a tensor lies on one.

A mesh is devices in a rectangle with named sides; a layout says which side each axis of a tensor is divided along. They
describe: how tensors come to lie so is in `dtensor`.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.device import DeviceSpec
from ebbflow.engines import devices
from ebbflow.engines.xla import devices as xla_devices
from ebbflow.engines.xla import library, sharded

UNSHARDED = "unsharded"
MATCH = "match"


def local_devices(device_type: str, for_client_id: int | None = None) -> list[DeviceSpec]:
    """Return the devices of a type that this process has."""
    kind = device_type.upper()
    return [DeviceSpec.from_string(device.name) for device in devices.list_logical_devices(kind)]


def num_local_devices(device_type: str) -> int:
    """Return how many devices of a type this process has."""
    return len(local_devices(device_type))


num_global_devices = num_local_devices


def num_clients() -> int:
    """Return how many processes a mesh goes over: this one."""
    return 1


def client_id() -> int:
    """Return which of them this is."""
    return 0


def preferred_device_type() -> str:
    """Return the type of device that is taken where none is named."""
    return next((kind for kind in ("TPU", "GPU") if devices.list_logical_devices(kind)), "CPU")


class Mesh:
    """Devices in a rectangle with named sides."""

    def __init__(
        self,
        dim_names: Sequence[str],
        global_device_ids: np.ndarray,
        local_device_ids: Sequence[int],
        local_devices: Sequence[Any],
        mesh_name: str = "",
        global_devices: Sequence[Any] | None = None,
        use_xla_spmd: bool = False,
    ):
        ids = np.asarray(global_device_ids)
        if len(set(dim_names)) != len(dim_names):
            raise ValueError(f"Duplicate mesh dimension names in {list(dim_names)}")
        if ids.ndim != len(dim_names):
            raise ValueError(f"{len(dim_names)} dimension names for global_device_ids of rank {ids.ndim}")
        self.dim_names, self.name = list(dim_names), mesh_name
        self._jax_mesh: Any = None
        self._ids, self._local_ids = ids, list(local_device_ids)
        self._devices = [d if isinstance(d, DeviceSpec) else DeviceSpec.from_string(d) for d in local_devices]

    def shape(self) -> list[int]:
        """Return the length of each side."""
        return list(self._ids.shape)

    def dim_size(self, dim_name: str) -> int:
        """Return the length of a side."""
        if dim_name not in self.dim_names:
            raise ValueError(f'"{dim_name}" not a dimension name in current mesh. Dimension names: {self.dim_names}.')
        return self._ids.shape[self.dim_names.index(dim_name)]

    def __getitem__(self, dim_name: str) -> int:
        return self.dim_size(dim_name)

    def __contains__(self, dim_name: object) -> bool:
        return dim_name in self.dim_names

    @property
    def size(self) -> int:
        return self._ids.size

    def num_local_devices(self) -> int:
        """Return how many devices this process has of it."""
        return len(self._devices)

    def local_devices(self) -> list[str]:
        """Return the names of those."""
        return [d.to_string() for d in self._devices]

    def local_device_ids(self) -> list[int]:
        """Return the numbers of those."""
        return self._local_ids

    def device_type(self) -> str:
        """Return the type of the devices."""
        return self._devices[0].device_type or "CPU"

    def coords(self, device_idx: int) -> tuple[int, ...]:
        """Return where a device is."""
        return tuple(int(i) for i in np.argwhere(self._ids == device_idx)[0])

    def unravel_index(self) -> list[dict[str, int]]:
        """Return where each device is, by the names of the sides."""
        places = itertools.product(*(range(n) for n in self._ids.shape))
        return [dict(zip(self.dim_names, place, strict=True)) for place in places]

    @property
    def mesh_name(self) -> str:
        return self.name

    def is_remote(self) -> bool:
        """Return whether another process has its devices: none has."""
        return False

    def contains_dim(self, dim_name: str) -> bool:
        """Return whether a side has this name."""
        return dim_name in self.dim_names

    def global_device_ids(self) -> np.ndarray:
        """Return the numbers of all devices, in their rectangle."""
        return self._ids

    def jax_mesh(self) -> Any:
        """Return the mesh of jax's devices that this one means."""
        if self._jax_mesh is None:
            found = _jax_devices(self.device_type(), len(self._devices))
            numbers = [d.device_index or 0 for d in self._devices]
            grid = np.array([found[n] for n in numbers], object)[self._ids.reshape(-1)].reshape(self._ids.shape)
            self._jax_mesh = library.jax().sharding.Mesh(grid, tuple(self.dim_names))
        return self._jax_mesh

    def to_string(self) -> str:
        """Return the mesh as text, in TensorFlow's form."""
        sides = ",".join(f"{name}={n}" for name, n in zip(self.dim_names, self._ids.shape, strict=True))
        numbers = ",".join(map(str, self._ids.reshape(-1).tolist()))
        return f"{self.name}|{sides}|{numbers}|{','.join(map(str, self._local_ids))}|{','.join(self.local_devices())}"

    @classmethod
    def from_string(cls, mesh_str: str) -> Mesh:
        """Return the mesh that a text means."""
        parts = mesh_str.split("|")
        if len(parts) < 5:
            raise ValueError(f"Invalid mesh string: {mesh_str!r}")
        name, sides, numbers, own, names = parts[:5]
        pairs = [side.split("=") for side in sides.split(",")]
        shape = [int(n) for _, n in pairs]
        ids = np.array([int(n) for n in numbers.split(",")]).reshape(shape)
        return cls([side for side, _ in pairs], ids, [int(n) for n in own.split(",")], names.split(","), name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.name, tuple(self.dim_names), self._ids.shape, tuple(self._ids.flat), tuple(self.local_devices())

    def __repr__(self) -> str:
        sides = ", ".join(f"{name}={n}" for name, n in zip(self.dim_names, self._ids.shape, strict=True))
        return f"Mesh({sides}; {', '.join(self.local_devices())})"


class Layout:
    """Which side of a mesh each axis of a tensor is divided along, or that it is not divided."""

    def __init__(self, sharding_specs: Sequence[str], mesh: Mesh):
        for spec in sharding_specs:
            if spec not in (UNSHARDED, MATCH) and spec not in mesh:
                raise ValueError(f'Invalid sharding spec "{spec}": the mesh has the dimensions {mesh.dim_names}')
        used = [spec for spec in sharding_specs if spec not in (UNSHARDED, MATCH)]
        if len(set(used)) != len(used):
            raise ValueError(f"A mesh dimension may divide one axis only: {list(sharding_specs)}")
        self.sharding_specs, self.mesh = list(sharding_specs), mesh

    @classmethod
    def replicated(cls, mesh: Mesh, rank: int) -> Layout:
        """Return the layout of a tensor that is whole on every device."""
        return cls([UNSHARDED] * rank, mesh)

    @classmethod
    def batch_sharded(cls, mesh: Mesh, batch_dim: str, rank: int, axis: int = 0) -> Layout:
        """Return the layout of a tensor that is divided along one axis."""
        return cls([batch_dim if i == axis else UNSHARDED for i in range(rank)], mesh)

    @classmethod
    def inner_sharded(cls, mesh: Mesh, inner_dim: str, rank: int) -> Layout:
        """Return the layout of a tensor that is divided along its last axis."""
        return cls.batch_sharded(mesh, inner_dim, rank, axis=rank - 1)

    @property
    def rank(self) -> int:
        return len(self.sharding_specs)

    @property
    def axes(self) -> list[str | None]:
        """The side of the mesh that each axis is divided along, or None."""
        return [None if spec in (UNSHARDED, MATCH) else spec for spec in self.sharding_specs]

    def to_string(self) -> str:
        """Return the layout as text, in TensorFlow's form."""
        return f"sharding_specs:{','.join(self.sharding_specs)}, mesh:{self.mesh.to_string()}"

    @classmethod
    def from_string(cls, layout_str: str) -> Layout:
        """Return the layout that a text means."""
        head, found, mesh = layout_str.partition(", mesh:")
        if not found or not head.startswith("sharding_specs:"):
            raise ValueError(f"Invalid layout string: {layout_str!r}")
        specs = [spec for spec in head.removeprefix("sharding_specs:").split(",") if spec]
        return cls(specs, Mesh.from_string(mesh))

    @classmethod
    def of(cls, array: sharded.ShardedArray) -> Layout:
        """Return how an array lies; an axis that XLA divided along several sides counts as along the first."""
        return cls([sides[0] if sides else UNSHARDED for sides in sharded.axes_of(array)], array.home)

    def key(self) -> str:
        """Return the text by which engines find this layout again."""
        text = self.to_string()
        sharded.layouts.setdefault(text, (self.mesh, self.axes))
        return text

    def offset_to_shard(self) -> list[int]:
        """Return which part each device has, counted over the parts."""
        places = self.mesh.unravel_index()
        counts = [self.num_shards(i) for i in range(self.rank)]
        found = []
        for place in places:
            number = 0
            for count, axis in zip(counts, self.axes, strict=True):
                number = number * count + (0 if axis is None else place[axis])
            found.append(number)
        return found

    def offset_tuple_to_global_index(self, offset_tuple: Sequence[int]) -> int:
        """Return the number of the part at these offsets, counted over the parts."""
        number = 0
        for i, offset in enumerate(offset_tuple):
            number = number * self.num_shards(i) + offset
        return number

    @property
    def shape(self) -> list[int]:
        return self.mesh.shape()

    def is_fully_replicated(self) -> bool:
        """Return whether every device has the whole tensor."""
        return all(self.num_shards(i) == 1 for i in range(self.rank))

    def num_shards(self, idx: int) -> int:
        """Return into how many parts an axis is divided."""
        spec = self.sharding_specs[idx]
        return 1 if spec in (UNSHARDED, MATCH) else self.mesh.dim_size(spec)

    def delete(self, dims: Sequence[int]) -> Layout:
        """Return the layout without some axes."""
        return Layout([spec for i, spec in enumerate(self.sharding_specs) if i not in dims], self.mesh)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and (self.sharding_specs, self.mesh) == (other.sharding_specs, other.mesh)

    def __hash__(self) -> int:
        return hash((tuple(self.sharding_specs), self.mesh))

    def __repr__(self) -> str:
        return f"Layout(sharding_specs={self.sharding_specs}, mesh={self.mesh})"


def _jax_devices(kind: str, count: int) -> list[Any]:
    """Return jax's devices of a kind; of the host as many as are asked for, if jax has not begun yet."""
    if kind != "CPU":
        return [d for d in xla_devices.accelerators() if xla_devices.device_type(d) == kind]
    jax = library.jax()
    if not xla_devices.forced_hosts():
        with contextlib.suppress(RuntimeError, AttributeError):  # it has begun: are there enough, is seen below
            jax.config.update("jax_num_cpu_devices", max(num_local_devices("CPU"), count))
    found = xla_devices.host_devices()
    if len(found) < count:
        raise errors.FailedPreconditionError(
            None, None, f"a mesh of {count} CPUs: XLA was started with {len(found)}. Make the mesh before anything is "
            f"compiled, or set XLA_FLAGS=--xla_force_host_platform_device_count={count}",
        )  # fmt: skip
    return found


def create_mesh(
    mesh_dims: Sequence[tuple[str, int]] | Mapping[str, int] | None = None,
    mesh_name: str = "",
    devices: Sequence[str] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """Return a mesh of this process's devices: `mesh_dims` are the names of its sides with their lengths."""
    if devices is None:
        found = [d.to_string() for d in local_devices(device_type or preferred_device_type())]
    else:
        found = list(devices)
    pairs = [(f"d{i}", n) if isinstance(n, int) else tuple(n) for i, n in enumerate(_pairs(mesh_dims, len(found)))]
    names, shape = [name for name, _ in pairs], [n for _, n in pairs]
    if int(np.prod(shape)) != len(found):
        raise ValueError(f"length of devices ({len(found)}) must be equal to total size of the mesh of shape {shape}")
    ids = np.arange(len(found)).reshape(shape)
    return Mesh(names, ids, list(range(len(found))), found, mesh_name)


def _pairs(mesh_dims: Any, count: int) -> list[Any]:
    if mesh_dims is None:
        return [("x", count)]
    return list(mesh_dims.items()) if isinstance(mesh_dims, dict) else list(mesh_dims)


def create_distributed_mesh(
    mesh_dims: Sequence[tuple[str, int]] | Mapping[str, int],
    mesh_name: str = "",
    local_devices: Sequence[str] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """Return a mesh of the devices of all processes: of this one."""
    return create_mesh(mesh_dims, mesh_name, local_devices, device_type, use_xla_spmd)
