"""Executables: a region of nodes, compiled once and called on NumPy arrays.

A region is anything with `inputs`, `nodes` and `outputs`: its values have `dtype` and `dims` (all known for inputs) and
may have `known`, its nodes have `op`, `attrs`, `inputs`, `outputs`. Arrays that begin at a multiple of 64 bytes go in
without a copy, and what comes out is a read-only view of XLA's own memory. An input may be a handle on a variable: its
value goes in, and comes back into it where the region changes it. Nothing comes in or goes out that need not: results
that are known, or are inputs, never meet XLA. Knows lowering and storages; knows nothing of passes or sessions.

Measured (2 cores, jax 0.10.2, `python -m tests.engines.xla.measure`): a call costs 7 µs, 2.2 µs per array that goes in
and 2.6 µs per array that comes out; calling XLA below jax's own call (`execute_sharded`) costs more than that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.shape import Dims, is_static
from ebbflow.engines.xla import cache, library
from ebbflow.engines.xla.ending import at_work, go_on
from ebbflow.engines.xla.lower import Trace, is_known, lower_node
from ebbflow.engines.xla.refusal import LOWERED_TYPES, Refusal, body_nodes, is_drawn
from ebbflow.engines.xla.state import TracedStorage
from ebbflow.ops.state.storage import boxed, held
from ebbflow.platform import config

_QUICK = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}
"""A sixth of the time to compile; what comes of it may be several times as slow."""
_WIDE = frozenset(["int64", "uint64", "float64", "complex128"])


class Executable:
    """A compiled function of arrays: call it with one array per input, and get a list of arrays.

    `device` is where it runs; `on_device` gives jax arrays that stay there.
    """

    def __init__(self, compiled: Any, sources: Sequence[tuple[str, Any]], wide: bool, device: Any):
        self.compiled = compiled
        self.device = device
        self._sources = tuple(sources)
        self._wide = wide
        self._count = sum(kind == "made" for kind, _ in sources)
        self._plain = (
            [value for _, value in sources] == list(range(len(sources))) if self._count == len(sources) else False
        )

    def __call__(self, *arrays: Any) -> list[Any]:
        """Return the results for these arrays."""
        asarray = np.asarray
        library.need_threads()
        try:
            if self._wide:
                with library.wide():  # jax would narrow what it is given
                    made = self.compiled(*arrays)
            else:
                made = self.compiled(*arrays)
            found = [asarray(x) for x in made]  # waits
        except Exception as error:
            raise _explained(error) from error
        return found if self._plain else self._arranged(found, arrays)

    def on_device(self, *arrays: Any) -> list[Any]:
        """Return the results as jax arrays, which may not be ready yet; arguments may be jax arrays too."""
        library.need_threads()
        try:
            with library.wide():
                return self._arranged(list(self.compiled(*arrays)), arrays)
        except Exception as error:
            raise _explained(error) from error

    def _arranged(self, made: list[Any], given: Sequence[Any]) -> list[Any]:
        sources = {"made": made, "given": given}
        return [value if kind == "known" else sources[kind][value] for kind, value in self._sources]

    @property
    def text(self) -> str:
        """What XLA made of it."""
        return self.compiled.as_text()


class SurroundedExecutable:
    """An executable for which something is done on the host at every call: random numbers are drawn, the variables
    behind handles are read, and those that change are set.
    """

    def __init__(self, inner: Executable, handles: Sequence[int], changed: Sequence[int], draws: Sequence[Any]):
        self.inner = inner
        self._handles = tuple(handles)
        self._changed = tuple(changed)  # which inputs' variables have new values behind the results
        self._draws = tuple(draws)

    def __call__(self, *arrays: Any) -> list[Any]:
        """Return the results for these arrays and handles; set the variables that change."""
        given = [*arrays, *[array for draw in self._draws for array in draw()]]
        storages = [held(arrays[i]) for i in self._changed]
        locked = sorted(storages, key=id)  # one order for all, so that no two updates wait for each other
        for storage in locked:
            storage.__enter__()
        try:
            for i in self._handles:
                given[i] = held(arrays[i]).read()
            results = self.inner(*given)
            count = len(results) - len(storages)
            for storage, value in zip(storages, results[count:], strict=True):
                storage.value, storage._being_written = value, None
        finally:
            for storage in reversed(locked):
                storage.__exit__()
        return results[:count]

    @property
    def device(self) -> Any:
        return self.inner.device

    @property
    def text(self) -> str:
        return self.inner.text


@dataclass(frozen=True)
class Region:
    """What is to be compiled, where there is no such thing yet: values, nodes in order, values."""

    inputs: Sequence[Any]
    nodes: Sequence[Any]
    outputs: Sequence[Any]


def function_region(graph: Any) -> Region:
    """Return the region that is a function's whole body; its values are the graph's tensors."""
    return Region(graph.inputs, body_nodes(graph), graph.outputs)


def compile(
    region: Any,
    handles: Sequence[Any] = (),
    dims: Sequence[Dims] | None = None,
    device: Any = None,
    host: Callable[[Any], Callable[..., Any]] | None = None,
    decided: Mapping[int, np.ndarray] = MappingProxyType({}),
) -> Executable | SurroundedExecutable:
    """Return the executable of a region; raise a Refusal where it cannot be compiled.

    `handles` are the variables behind inputs of dtype resource, in order: they say which shapes the values have. `dims`
    are the shapes of the inputs where the region's own values do not say them. `host(node)` gives a function from a
    node's input arrays to what it gives: with it, nodes that draw random numbers (`refusal.is_drawn`) run on the host
    before each call. `decided` are the values of inputs, by their number, which it is to be compiled for.
    """
    return _Compilation(region, handles, dims, host, decided).executable(device)


class _Compilation:
    """A region on its way to an executable."""

    def __init__(self, region: Any, handles: Sequence[Any], dims: Sequence[Dims] | None, host: Any, decided: Any):
        self.region, self.decided = region, decided
        storages = iter(handles)
        self.behind = {i: held(next(storages)) for i, v in enumerate(region.inputs) if v.dtype is dtypes.resource}
        self.drawn = [] if host is None else [node for node in region.nodes if is_drawn(node)]
        self.draws = [_draw(node, host) for node in self.drawn]
        self.specs = [
            _spec(self.behind[i].read()) if i in self.behind else _spec_of(v, None if dims is None else dims[i])
            for i, v in enumerate(region.inputs)
        ]
        self.specs += [_spec_of(v, None) for node in self.drawn for v in node.outputs]
        self.changed: list[int] = []

    def executable(self, device: Any) -> Executable | SurroundedExecutable:
        inner = compile_function(self._traced, self.specs, device=device)
        if not self.behind and not self.draws:
            return inner
        return SurroundedExecutable(inner, list(self.behind), self.changed, self.draws)

    def _traced(self, *arguments: Any) -> list[Any]:
        """Return the results, and behind them the new values of the variables that change."""
        region, trace = self.region, Trace()
        values: dict[int, Any] = {}
        storages: dict[int, tuple[int, TracedStorage]] = {}
        fed = [*region.inputs, *(v for node in self.drawn for v in node.outputs)]
        for i, (value, argument) in enumerate(zip(fed, arguments, strict=True)):
            known = self.decided[i] if i in self.decided else getattr(value, "known", None)
            values[id(value)] = argument if known is None else known
            if i in self.behind:
                like = self.behind[i]
                values[id(value)] = boxed(storages.setdefault(id(like), (i, TracedStorage(like, argument)))[1])
        trace.storages = [storage for _, storage in storages.values()]
        for node in region.nodes:
            if node not in self.drawn:
                lower_node(node, values, trace)
        written = [(i, storage.value) for i, storage in storages.values() if storage.changed]
        self.changed[:] = [i for i, _ in written]
        return [*(values[id(v)] for v in region.outputs), *(value for _, value in written)]


def _draw(node: Any, host: Callable[[Any], Callable[..., Any]]) -> Callable[[], Sequence[Any]]:
    """Return a function without arguments that gives what a node gives."""
    call, given = host(node), [v.constant_value() for v in node.inputs]
    kinds = [v.dtype.base_dtype.np for v in node.outputs]
    return lambda: [np.asarray(call(*given), kinds[0])]


def compile_function(
    function: Callable[..., Sequence[Any]],
    inputs: Sequence[Any],
    device: Any = None,
    quick: bool = False,
    shardings: Sequence[Any] | None = None,
) -> Executable:
    """Return the executable of a function of jax arrays that gives a list of jax or known values.

    `inputs` have shape and dtype; `quick` saves on compiling at the cost of running. `shardings` are jax's words for
    how each input lies on several devices.
    """
    sources: list[tuple[str, Any]] = []

    def ebbflow(*arguments: Any) -> tuple[Any, ...]:  # the name stands in profiles, and in the key of the cache
        results = function(*arguments)
        made: dict[int, tuple[int, Any]] = {}
        given = {id(a): i for i, a in enumerate(arguments)}
        sources.clear()
        for result in results:
            if is_known(result) or _is_text(result):
                sources.append(("known", result))
            elif result.__class__ is np.ndarray:
                raise Refusal("what is given is no array of numbers")
            elif id(result) in given:
                sources.append(("given", given[id(result)]))
            else:
                made.setdefault(id(result), (len(made), result))
                sources.append(("made", made[id(result)][0]))
        return tuple(result for _, result in made.values())

    with at_work(), library.wide():
        jax = library.jax()
        cache.use()
        shard = None if device is None else jax.sharding.SingleDeviceSharding(device)
        lies = [shard] * len(inputs) if shardings is None else shardings
        specs = [jax.ShapeDtypeStruct(tuple(x.shape), x.dtype, sharding=s) for x, s in zip(inputs, lies, strict=True)]
        with jax.default_device(device or jax.local_devices(backend="cpu")[0]):  # the host, whatever else there is
            lowered = jax.jit(ebbflow).lower(*specs)
            go_on()
            compiled = _compiled(lowered, _options(quick))
    wide = any(np.dtype(x.dtype).name in _WIDE for x in inputs)
    return Executable(compiled, sources, wide, device)


def _is_text(value: Any) -> bool:
    """Return whether a value is an array of constant strings: XLA has none, and need not see them."""
    return value.__class__ is np.ndarray and all(isinstance(item, bytes) for item in value.flat)


def _compiled(lowered: Any, options: dict[str, Any]) -> Any:
    """Compile with those of the options that this XLA has: they come and go with its versions."""
    while True:
        try:
            return lowered.compile(compiler_options=options)
        except Exception as error:
            unknown = [name for name in options if f"'{name}'" in str(error) and "compile option" in str(error)]
            if not unknown:
                raise
            options = {name: value for name, value in options.items() if name not in unknown}


def _options(quick: bool) -> dict[str, Any]:
    options: dict[str, Any] = dict(_QUICK) if quick else {}
    if config.get_intra_op_parallelism_threads() == 1:
        options["xla_cpu_multi_thread_eigen"] = False
    return options


class _Spec:
    """Shape and dtype of an input."""

    def __init__(self, shape: Any, dtype: Any):
        self.shape, self.dtype = shape, dtype


def _spec(array: np.ndarray) -> _Spec:
    return _Spec(array.shape, array.dtype)


def _spec_of(value: Any, dims: Dims) -> _Spec:
    if dims is None:
        dims = value.dims if hasattr(value, "dims") else value._dims
    if not is_static(dims):
        raise Refusal(f"an input may have any shape: {value!r}")
    if value.dtype.base_dtype not in LOWERED_TYPES:
        raise Refusal(f"an input is of type {value.dtype.base_dtype.name}: {value!r}")
    return _Spec(dims, value.dtype.base_dtype.np)


def _explained(error: Exception) -> Exception:
    """Return the error to show for a failure of XLA."""
    text = str(error)
    if "RESOURCE_EXHAUSTED" in text or isinstance(error, MemoryError):
        return errors.ResourceExhaustedError(None, None, text)
    if isinstance(error, (TypeError, ValueError)):
        return errors.InvalidArgumentError(None, None, text)
    return errors.InternalError(None, None, text)
