"""`tf.experimental.dtensor`: tensors and variables in parts on a mesh of devices.

A tensor on a mesh is an eager tensor whose array lies there (`engines.xla.sharded`): ops and functions take it like any
other and run on all devices, each on its parts; numbers are those of one device. Layouts go in where tensors are made
(`call_with_layout`, `copy_to_mesh`, `relayout`, `DVariable`) and come out by what XLA finds. A function is compiled for
the layouts it is called with.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.checkpoint.checkpoint import Checkpoint
from ebbflow.core import context, dtypes, errors, nest
from ebbflow.core.convert import convert, instant
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.distribute.mesh import UNSHARDED, Layout, Mesh, create_mesh
from ebbflow.engines import devices
from ebbflow.engines.xla import library
from ebbflow.engines.xla.sharded import ShardedArray, sharding_of
from ebbflow.ops.arrays.relayout import Relayout
from ebbflow.ops.declare import raw
from ebbflow.state.resource import ResourceVariable

DEVICE = "/job:localhost/replica:0/task:0/device:CUSTOM:0"


class _Thread(threading.local):
    mesh: Mesh | None = None


_thread = _Thread()


def device_name() -> str:
    """Return the name of the device that stands for all meshes."""
    return DEVICE


def get_default_mesh() -> Mesh | None:
    """Return the mesh that results go to which nothing else says a place for."""
    return _thread.mesh


@contextlib.contextmanager
def default_mesh(mesh: Mesh) -> Iterator[None]:
    """Let ops inside the block work on a mesh: tensors that lie on none are whole on each of its devices."""
    if not isinstance(mesh, Mesh):
        raise ValueError(f"Expect `mesh` to be `Mesh`, got {type(mesh)}")
    before, _thread.mesh = _thread.mesh, mesh
    try:
        yield
    finally:
        _thread.mesh = before


run_on = default_mesh


def call_with_layout(fn: Callable[..., Any], layout: Layout | None, *args: Any, **kwargs: Any) -> Any:
    """Call a function, and return what it gives in a layout."""
    result = fn(*args, **kwargs)
    return result if layout is None else nest.map_structure(lambda t: relayout(t, layout), result)


def relayout(tensor: TensorLike, layout: Layout, name: str | None = None) -> Tensor:
    """Return the same tensor in another layout."""
    if "match" in layout.sharding_specs:
        pairs = zip(fetch_layout(tensor).sharding_specs, layout.sharding_specs, strict=True)
        layout = Layout([own if spec == "match" else spec for own, spec in pairs], layout.mesh)
    tensor = convert(tensor)
    if tensor.shape.rank is not None and tensor.shape.rank != layout.rank:
        raise ValueError(f"relayout: a tensor of shape {tensor.shape} cannot have a layout of rank {layout.rank}")
    return Relayout(tensor, layout=layout.key(), name=name)


def relayout_like(tensor: TensorLike, layout_tensor: TensorLike, name: str | None = None) -> Tensor:
    """Return the same tensor in the layout that another one has."""
    return relayout(tensor, fetch_layout(layout_tensor), name)


def copy_to_mesh(tensor: TensorLike, layout: Layout, source_layout: Any = None) -> Tensor:
    """Return a tensor on a mesh."""
    return relayout(tensor, layout)


def is_dtensor(tensor: Any) -> bool:
    """Return whether a tensor (or a variable's value) lies on a mesh."""
    return _array(tensor).__class__ is ShardedArray


def _array(tensor: Any) -> Any:
    if isinstance(tensor, ResourceVariable) and not tensor._in_graph:
        return tensor._storage.read()
    return tensor._array if isinstance(tensor, EagerTensor) else None


def fetch_layout(tensor: Any) -> Layout:
    """Return the layout of a tensor on a mesh."""
    if isinstance(tensor, DVariable):
        return tensor.layout
    array = _array(tensor)
    if array.__class__ is not ShardedArray:
        raise ValueError(f"fetch_layout: {tensor!r} is not on a mesh")
    return Layout.of(array)


def check_layout(tensor: Any, layout: Layout) -> None:
    """Raise ValueError if a tensor has another layout."""
    found = fetch_layout(tensor)
    if found != layout:
        raise ValueError(f"Layout of tensor: {found}, did not match expected layout: {layout}")


def unpack(tensor: Any) -> list[Tensor]:
    """Return the parts of a tensor, one for each device of its mesh in order."""
    array = _array(tensor)
    if array.__class__ is not ShardedArray:
        raise ValueError(f"unpack: {tensor!r} is not on a mesh")
    by_device = {part.device: part.data for part in array.value.addressable_shards}
    dtype = convert(tensor).dtype
    return [EagerTensor(np.asarray(by_device[d], dtype.np), dtype) for d in array.home.jax_mesh().devices.reshape(-1)]


def pack(tensors: Sequence[TensorLike], layout: Layout) -> Tensor:
    """Return the tensor on a mesh that has these parts, one for each device in order."""
    parts = [convert(t) for t in tensors]
    places = layout.mesh.jax_mesh().devices.reshape(-1)
    if len(parts) != len(places):
        raise ValueError(f"pack: {len(parts)} tensors for a mesh of {len(places)} devices")
    first = parts[0]
    if any(p.shape != first.shape or p.dtype != first.dtype for p in parts):
        raise ValueError(f"pack: parts must be alike; got shapes {[tuple(p.shape) for p in parts]}")
    shape = tuple(n * layout.num_shards(i) for i, n in enumerate(first.shape.as_list()))
    with library.wide():
        jax = library.jax()
        arrays = [jax.device_put(p.numpy(), d) for p, d in zip(parts, places, strict=True)]
        value = jax.make_array_from_single_device_arrays(shape, sharding_of(layout.mesh, layout.axes), arrays)
    return _tensor(ShardedArray(value, layout.mesh), first.dtype)


def _tensor(array: ShardedArray, dtype: Any) -> EagerTensor:
    tensor = object.__new__(EagerTensor)
    tensor._array, tensor._dtype = array, dtype  # type: ignore[assignment]
    return tensor


class DTensorCheckpoint(Checkpoint):
    """A checkpoint of variables on a mesh. Files hold them whole, so a mesh of any other shape can take them."""

    def __init__(self, mesh: Mesh, root: Any = None, **kwargs: Any):
        if not isinstance(mesh, Mesh):
            raise ValueError(f"DTensorCheckpoint: mesh must be a dtensor.Mesh, got {type(mesh).__name__}")
        super().__init__(root=root, **kwargs)


class DVariable(ResourceVariable):
    """A variable on a mesh. It has the layout of its first value, and keeps it."""

    def __init__(self, initial_value: Any, *args: Any, dtype: Any = None, layout: Layout | None = None, **kwargs: Any):
        if callable(initial_value):
            initial_value = initial_value()
        value = convert(initial_value, dtype)
        if layout is not None:
            value = relayout(value, layout)
        elif not is_dtensor(value):
            if _thread.mesh is None:
                raise ValueError("DVariable: the initial value is not on a mesh; give a `layout` or a `default_mesh`")
            value = relayout(value, Layout.replicated(_thread.mesh, value.shape.rank))
        self._layout = fetch_layout(value)
        self.save_as_bf16 = False
        super().__init__(value, *args, **kwargs)

    @property
    def layout(self) -> Layout:
        """How the variable lies on its mesh."""
        return self._layout

    def assign(
        self, value: Any, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Set the value, in the variable's layout."""
        if context.current_graph() is None:
            value = relayout(convert(value, self._dtype), self._layout)
        return super().assign(value, use_locking, name, read_value)

    @property
    def _saved_dtype(self) -> dtypes.DType:
        return dtypes.bfloat16 if self.save_as_bf16 and self._dtype is dtypes.float32 else self._dtype

    def _serialize_to_tensors(self) -> dict[str, Any]:
        saved = super()._serialize_to_tensors()
        if self._saved_dtype is self._dtype:
            return saved
        return {key: convert(value.numpy().astype(self._saved_dtype.np)) for key, value in saved.items()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        cast = {key: raw.Cast(x=value, DstT=self._dtype) for key, value in restored_tensors.items()}
        return super()._restore_from_tensors(cast)

    def __repr__(self) -> str:
        return f"<tf.DVariable '{self.name}' shape={self.shape} dtype={self._dtype.name} layout={self._layout}>"

    __str__ = __repr__


instant[DVariable] = lambda variable: None if variable._in_graph else variable.value()


class DTensorDataset:
    """A dataset whose batches lie on a mesh."""

    def __init__(
        self,
        dataset: Any,
        *,
        mesh: Mesh,
        layouts: Any,
        global_batch_size: int,
        dataset_already_batched: bool = False,
        batch_dim: str | None = None,
        prefetch: int | None = None,
        tf_data_service_config: Any = None,
    ):
        for layout in nest.flatten(layouts):
            if layout.mesh != mesh:
                raise ValueError(f"All layouts must be on the mesh of the dataset; got {layout}")
        if batch_dim is not None and batch_dim not in mesh:
            raise ValueError(f'batch_dim = "{batch_dim}" is no dimension of the mesh: {mesh.dim_names}')
        if tf_data_service_config is not None:
            raise errors.UnimplementedError(
                None, None, "DTensorDataset: tf_data_service_config needs a tf.data service, of which there is none; "
                "leave it out",
            )  # fmt: skip
        if dataset_already_batched:
            dataset = dataset.unbatch()
        self._dataset = dataset.batch(global_batch_size, drop_remainder=True)
        if prefetch is not None:
            self._dataset = self._dataset.prefetch(prefetch)
        self._layouts = layouts

    @property
    def element_spec(self) -> Any:
        """The type of a batch."""
        return self._dataset.element_spec

    def __iter__(self) -> Iterator[Any]:
        for batch in self._dataset:
            yield nest.map_structure(relayout, batch, self._layouts)

    def __len__(self) -> int:
        return len(self._dataset)


def barrier(mesh: Mesh, barrier_name: str | None = None, timeout_in_ms: int | None = None) -> None:
    """Wait until all devices of a mesh are here: they are parts of this process."""
    total = convert(np.ones(mesh.size, np.float32))
    flat = relayout(total, Layout([UNSHARDED], mesh))
    if float(flat.numpy().sum()) != mesh.size:
        raise errors.InternalError(None, None, f"barrier {barrier_name}: not all devices answered")


def initialize_accelerator_system(
    device_type: str | None = None, enable_coordination_service: bool | None = True,
    num_logical_cpu_devices: int | None = None, experimental_reset_context: bool | None = False,
    experimental_enable_megcore: bool | None = False,
) -> str:  # fmt: skip
    """Make ready the devices of a type, and return the type."""
    kind = (device_type or "CPU").upper()
    if num_logical_cpu_devices is not None:
        if experimental_reset_context:
            devices.reset()
        host = devices.list_physical_devices("CPU")[0]
        parts = [devices.LogicalDeviceConfiguration() for _ in range(num_logical_cpu_devices)]
        devices.set_logical_device_configuration(host, parts)
    if not devices.list_logical_devices(kind):
        raise ValueError(f"initialize_accelerator_system: there is no device of type {kind!r}")
    return kind


initialize_multi_client = initialize_tpu_system = initialize_accelerator_system  # there is one client


def shutdown_accelerator_system() -> None:
    """Forget which mesh is the default one; devices stay as long as the process."""
    _thread.mesh = None


shutdown_tpu_system = shutdown_accelerator_system


def create_tpu_mesh(
    mesh_dim_names: Sequence[str], mesh_shape: Sequence[int], mesh_name: str, ring_dims: int | None = None,
    ring_axes: Sequence[str] | None = None, ring_bounds: Sequence[int] | None = None,
    can_split_host_across_rings: bool = True, build_ring_across_rings: bool = False,
    rotate_ring_across_rings: bool = False, use_xla_spmd: bool = False,
) -> Mesh:  # fmt: skip
    """Return a mesh of TPUs; how rings of them lie is XLA's to say."""
    if not devices.list_logical_devices("TPU"):
        raise ValueError(
            "Invalid TPU topology, run dtensor.initialize_tpu_system() first: create_tpu_mesh finds no TPU here"
        )
    return create_mesh(list(zip(mesh_dim_names, mesh_shape, strict=True)), mesh_name, device_type="TPU")
