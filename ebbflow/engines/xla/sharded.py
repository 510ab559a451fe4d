"""Arrays that lie in parts on the devices of a mesh, and ops and bodies that run on all of them at once.

A `ShardedArray` stands where an array stands: it has a shape and a dtype, and sends every kernel that touches it here.
One op, or a whole body with its variables, is compiled for the layouts it is given; XLA divides the work and adds what
must be exchanged, and what comes out lies as it found best. Variables keep their layout. Knows jax's meshes and
shardings; what people call meshes and layouts is in `distribute`.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import elsewhere, errors
from ebbflow.core.elsewhere import RunElsewhere
from ebbflow.engines.xla import library
from ebbflow.engines.xla.executable import Executable, compile_function, function_region
from ebbflow.engines.xla.lower import Trace, lower_call, lower_node
from ebbflow.engines.xla.refusal import Refusal, unsupported
from ebbflow.engines.xla.rules import lowering
from ebbflow.engines.xla.state import TracedStorage
from ebbflow.ops.state.storage import Storage, boxed

KNOWN = 256
"""Whole arrays of integers with at most this many elements are part of the code: axes, shapes, permutations."""


class ShardedArray:
    """An array in parts on the devices of a mesh. `home` is the mesh, and has jax's as `home.jax_mesh()`."""

    __slots__ = ("home", "value")

    def __init__(self, value: Any, home: Any):
        self.value, self.home = value, home
        if not elsewhere.bodies:  # programs without such arrays do not look for them
            elsewhere.bodies.append(run_body)

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: len(self.value.shape))
    size = property(lambda self: math.prod(self.value.shape))
    dtype = property(lambda self: np.dtype(self.value.dtype))

    def whole(self) -> np.ndarray:
        """Return the whole as an array of the host."""
        return np.array(self.value)

    copy = view = whole  # what a tensor asks for to show its value

    def any(self) -> bool:
        """Return whether any element is not zero."""
        return bool(self.whole().any())

    def all(self) -> bool:
        """Return whether no element is zero."""
        return bool(self.whole().all())

    def run_op(self, op: Any, arrays: list[Any], attrs: dict[str, Any]) -> Any:
        """Run an op on arrays of which some lie on a mesh."""
        return run_op(op, arrays, attrs)

    def reshape(self, shape: Any) -> np.ndarray:
        """Return one element; more is for an op to do."""
        if self.size != 1 or shape != ():
            self._elsewhere()
        return self.whole().reshape(())

    def __getitem__(self, key: Any) -> Any:
        return self.whole()[()] if key == () else self._elsewhere()

    def __float__(self) -> float:
        return float(self.whole())

    def __bool__(self) -> bool:
        return bool(self.whole())

    def _elsewhere(self, *args: Any, **kwargs: Any) -> Any:
        raise RunElsewhere(run_op, "spread over a mesh")

    __array__ = __array_ufunc__ = __array_function__ = __len__ = __iter__ = _elsewhere

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._elsewhere()

    def __repr__(self) -> str:
        return f"<ShardedArray {self.shape} {self.dtype} on {self.home!r}>"


for _name in "add sub mul truediv floordiv mod pow matmul and or xor".split():  # noqa: SIM905
    setattr(ShardedArray, f"__{_name}__", ShardedArray._elsewhere)
    setattr(ShardedArray, f"__r{_name}__", ShardedArray._elsewhere)
for _name in "lt le gt ge eq ne neg abs invert pos".split():  # noqa: SIM905
    setattr(ShardedArray, f"__{_name}__", ShardedArray._elsewhere)


def laid_out(array: Any, home: Any, axes: Sequence[str | None]) -> ShardedArray:
    """Return an array in parts: `axes` names the side of the mesh that each axis is divided along, or None."""
    sharding = sharding_of(home, axes)
    for n, axis in zip(array.shape, axes, strict=True):
        if axis is not None and n % home.dim_size(axis):
            raise errors.InvalidArgumentError(
                None, None, f"an axis of {n} elements cannot be divided along {axis!r}, which has {home.dim_size(axis)}"
            )
    with library.wide():
        value = array.value if array.__class__ is ShardedArray else np.asarray(array)
        return ShardedArray(library.jax().device_put(value, sharding), home)


def sharding_of(home: Any, axes: Sequence[str | None]) -> Any:
    """Return jax's word for a layout."""
    sharding = library.jax().sharding
    return sharding.NamedSharding(home.jax_mesh(), sharding.PartitionSpec(*axes))


def axes_of(array: ShardedArray) -> list[list[str]]:
    """Return which sides of its mesh each axis of an array is divided along, whatever words jax has for it."""
    jax_mesh = array.home.jax_mesh()
    spec = getattr(array.value.sharding, "spec", None)
    if spec is not None:  # jax's own words, which know sides of length one, too
        said = [() if s is None else (s,) if isinstance(s, str) else tuple(s) for s in spec]
        return [list(s) for s in (*said, *[()] * (array.ndim - len(said)))]
    places = array.value.sharding.devices_indices_map(array.shape)
    grid = jax_mesh.devices
    found: list[list[str]] = [[] for _ in array.shape]
    for side, name in enumerate(jax_mesh.axis_names):
        if grid.shape[side] == 1:
            continue
        origin = (0,) * grid.ndim
        beside = tuple(int(i == side) for i in range(grid.ndim))
        here, there = places[grid[origin]], places[grid[beside]]
        for axis in range(array.ndim):
            if here[axis].indices(array.shape[axis]) != there[axis].indices(array.shape[axis]):
                found[axis].append(name)
    return found


# --- running ----------------------------------------------------------------------------------------------------------

_lock = threading.RLock()
_ops: dict[Any, Executable] = {}
_bodies: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


def _storage_of(value: Any) -> Any:
    held = value.item() if isinstance(value, np.ndarray) and value.dtype == object and not value.ndim else None
    return held if isinstance(held, Storage) else None


def _home_among(values: Sequence[Any]) -> Any:
    for value in values:
        storage = _storage_of(value)
        array = value if storage is None else storage.value
        if array.__class__ is ShardedArray:
            return array.home
    return None


def run_op(op: Any, arrays: list[Any], attrs: dict[str, Any]) -> Any:
    """Run an op on arrays, and variables, of which some lie on a mesh."""
    flat = [item for group in arrays for item in (group if group.__class__ in (list, tuple) else (group,))]
    call = _Call(flat, _home_among(flat), constants=True)
    key = (op.name, tuple(sorted((n, repr(v)) for n, v in attrs.items())), call.key)
    with _lock:
        if key not in _ops:
            try:
                _ops[key] = call.compiled(lambda values, trace: lower_call(op, attrs, values, trace))
            except Refusal as refusal:
                raise errors.UnimplementedError(
                    None, None, f"{op.name} cannot run on a mesh: {refusal}. Gather the tensor with relayout first"
                ) from None
        results = call.run(_ops[key])
    return results[0] if op.signature.gives_one else results


def run_body(graph: Any, values: Sequence[Any]) -> list[Any] | None:
    """Run a function's body on a mesh, if any of its values lies on one."""
    home = _home_among(values)
    if home is None:
        return None
    call = _Call(list(values), home, constants=False)
    with _lock:
        known = _bodies.setdefault(graph.base, {})
        key = (tuple(map(id, graph.outputs)), graph.base._mutations, call.key)
        if key not in known:
            region = function_region(graph)

            def lower(given: Sequence[Any], trace: Trace) -> list[Any]:
                inside = {id(t): value for t, value in zip(region.inputs, given, strict=True)}
                for node in region.nodes:
                    lower_node(node, inside, trace)
                return [inside[id(t)] for t in region.outputs]

            try:
                known[key] = (call.compiled(lower), region)
            except Refusal as refusal:
                raise unsupported([refusal], graph.name) from None
        return call.run(known[key][0])


class _Call:
    """Values that are given to something that runs on a mesh: what of them is known, and how the rest lies."""

    def __init__(self, values: Sequence[Any], home: Any, constants: bool):
        self.home, self.values = home, values
        whole = sharding_of(home, ())
        self.storages: dict[int, Any] = {}
        self.given: list[tuple[int, Any, Any]] = []  # place, array, sharding
        key: list[Any] = []
        for i, value in enumerate(values):
            storage = _storage_of(value)
            array = value if storage is None else storage.read()
            if storage is not None:
                self.storages[i] = storage
                key.append(id(storage))
            if array.__class__ is ShardedArray:
                self.given.append((i, array.value, array.value.sharding))
                key.append((array.shape, array.dtype, array.value.sharding))
            elif storage is None and constants and array.size <= KNOWN and array.dtype.kind in "iub":
                key.append((array.shape, array.dtype, array.tobytes()))
            else:
                self.given.append((i, array, whole))
                key.append((array.shape, array.dtype))
        self.key = tuple(key)

    def compiled(self, lower: Callable[[Sequence[Any], Trace], list[Any]]) -> Executable:
        """Return what `lower` says in jax, compiled for values that lie as these do."""
        shardings = [sharding for _, _, sharding in self.given]
        self.changed: list[Any] = []

        def traced(*arguments: Any) -> list[Any]:
            values = [np.asarray(v) if v.__class__ is not ShardedArray else v for v in self.values]
            trace = Trace()
            mine: dict[int, tuple[TracedStorage, Any]] = {}
            for (i, _, sharding), argument in zip(self.given, arguments, strict=True):
                values[i] = argument
                if i in self.storages:
                    storage = self.storages[i]
                    traced_storage, _ = mine.setdefault(id(storage), (TracedStorage(storage, argument), sharding))
                    values[i] = boxed(traced_storage)
            trace.storages = [storage for storage, _ in mine.values()]
            results = list(lower(values, trace))
            self.changed[:] = [key for key, (storage, _) in mine.items() if storage.changed]
            keep = library.jax().lax.with_sharding_constraint
            return [*results, *(keep(mine[key][0].value, mine[key][1]) for key in self.changed)]

        made = compile_function(traced, [array for _, array, _ in self.given], shardings=shardings)
        made.changed = list(self.changed)  # type: ignore[attr-defined]
        return made

    def run(self, made: Any) -> list[Any]:
        """Return the results, and set the variables that change."""
        put = library.jax().device_put
        with library.wide():
            arguments = [a if getattr(a, "sharding", None) == s else put(a, s) for _, a, s in self.given]
        found = made.on_device(*arguments)
        whole = sharding_of(self.home, ())
        with library.wide():  # what follows from nothing that lies on the mesh is made on one device
            results = [r if r.__class__ is np.ndarray else self._on_mesh(r, whole) for r in found]
        storages = {id(storage): storage for storage in self.storages.values()}
        count = len(results) - len(made.changed)
        for key, value in zip(made.changed, results[count:], strict=True):
            storages[key].value = value
        return results[:count]

    def _on_mesh(self, value: Any, whole: Any) -> ShardedArray:
        everywhere = len(value.sharding.device_set) == whole.num_devices
        return ShardedArray(value if everywhere else library.jax().device_put(value, whole), self.home)


layouts: dict[str, tuple[Any, Sequence[str | None]]] = {}
"""By its text: the mesh of a layout, and the side of it that each axis is divided along."""


@lowering("Relayout")
def _(jnp: Any, input: Any, *, layout: Any) -> Any:
    home, axes = layouts[layout if isinstance(layout, str) else layout.decode()]
    return library.jax().lax.with_sharding_constraint(input, sharding_of(home, axes))


def _relaid(array: Any, layout: str) -> ShardedArray:
    return laid_out(array, *layouts[layout])


elsewhere.array_kinds.add(ShardedArray)
elsewhere.relayouts[:] = [_relaid]
