"""The public scopes: names, devices, control dependencies, colocation, and what belongs to them.

Each asks the current mode: in a graph they are the graph's scopes; eagerly a name scope only prefixes the names of
variables, and order is program order.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from ebbflow.core import context, errors, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import eager_scopes
from ebbflow.core.scopes import name_scope as quick_scope
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, Nested, TensorLike
from ebbflow.eager.placing import Placing
from ebbflow.eager.tape import stop_recording
from ebbflow.graph.graph import get_default_graph
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.ops.declare import raw


class name_scope:  # noqa: N801  (TensorFlow's name)
    """Name what is made inside the block under `name` (TF 2: a name is required).

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default(), name_scope("layer"):
    ...     tf.constant(1.0, name="one").name
    'layer/one:0'
    """

    def __init__(self, name: str):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._exit_fns: list[Any] = []

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        scope = quick_scope(self._name)
        entered = scope.__enter__()
        self._exit_fns.append(scope)
        return entered

    def __exit__(self, *exc: Any) -> Any:
        return self._exit_fns.pop().__exit__(*exc)


class name_scope_v1:  # noqa: N801
    """TF 1's name scope: `name`, or `default_name` when that is None; `values` say which graph is meant."""

    def __init__(
        self,
        name: str | None = None,
        default_name: str | None = None,
        values: TensorLike | None = None,
        skip_on_eager: bool = True,
    ):
        if not (name is None or isinstance(name, str)):
            raise TypeError("`name` must be a string or None.")
        if default_name is not None and not isinstance(default_name, str):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass this "
                f"into the `values` kwarg."
            )
        if name is None and default_name is None and values is not None:
            raise ValueError(f"At least one of name ({name}) and default_name ({default_name}) must be provided.")
        self._name = name if name is not None else default_name
        self._values: Any = values
        self._stack: Any = None

    @property
    def name(self) -> str | None:
        return self._name

    def __enter__(self) -> Any:
        self._stack = contextlib.ExitStack()
        graph = None
        if self._values and not context.executing_eagerly() and not context.current_graph().building_function:
            graph = graph_from_inputs([v for v in self._values if _is_of_graph(v)])
        if graph is not None and graph is not context.current_graph():
            self._stack.enter_context(graph.as_default())
        return self._stack.enter_context(quick_scope(self._name))

    def __exit__(self, *exc: Any) -> Any:
        return self._stack.__exit__(*exc)


def op_scope(values: TensorLike, name: str | None, default_name: str | None = None) -> name_scope_v1:
    """`name_scope` with the arguments in the order they had before 1.0."""
    return name_scope_v1(name, default_name=default_name, values=values)


def _is_of_graph(value: Any) -> bool:
    return type(value) is SymbolicTensor or isinstance(value, Operation)


def device_scope(device_name: Any) -> AbstractContextManager[None]:
    """Ask for a device. Where it is not there the work is done on a device that is (soft placement)."""
    return _DeviceScope(device_name)


class _DeviceScope(contextlib.ContextDecorator, AbstractContextManager[None]):
    """May be entered again, also inside itself: programs keep one and enter it wherever they compute, in any thread."""

    def __init__(self, device_name: Any) -> None:
        self._device_name = device_name
        self._entered: dict[int, list[AbstractContextManager[Any]]] = {}  # by thread

    def __enter__(self) -> None:
        if not context.executing_eagerly():
            scope: AbstractContextManager[Any] = get_default_graph().device(self._device_name)
        elif callable(self._device_name):
            raise RuntimeError("tf.device does not support functions when eager execution is enabled.")
        else:
            scope = Placing(self._device_name)
        scope.__enter__()
        self._entered.setdefault(threading.get_ident(), []).append(scope)

    def __exit__(self, *exc: Any) -> None:
        self._entered[threading.get_ident()].pop().__exit__(*exc)


def control_dependencies(control_inputs: Nested) -> Any:
    """Have ops called inside the block run after `control_inputs`. (Eagerly they do anyway.)

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default():
    ...     first = tf.no_op("first")
    ...     with control_dependencies([first]):
    ...         [op.name for op in tf.constant(1).op.control_inputs]
    ['first']
    """
    if context.executing_eagerly():
        for later in (control_inputs,) if callable(control_inputs) else control_inputs or ():
            if callable(later):
                later()
        return contextlib.nullcontext()
    return get_default_graph().control_dependencies(control_inputs)


@contextlib.contextmanager
def colocate_with(op: object, ignore_existing: bool = False) -> Iterator[None]:
    """Place ops called inside the block with `op`."""
    if context.executing_eagerly():
        yield
        return
    with get_default_graph().colocate_with(op, ignore_existing):
        yield


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Lift what is called inside out of control dependencies and function bodies."""
    graph = context.current_graph()
    if graph is None:
        yield
        return
    if graph.building_function:
        outer = next((s for s in reversed(context.thread.scopes) if s is None or not s.building_function), None)
        if outer is None and not context.switches.eager_by_default:
            outer = next((s for s in reversed(context.thread.scopes) if s is not None), graph)
            while outer is not None and outer.building_function:
                outer = outer._around
        names, devices = _names_around(graph), _innermost_devices()
        with context.scope(outer), _on(devices, outer), quick_scope(names + "/" if names else None), stop_recording():  # noqa: SIM117
            with contextlib.nullcontext() if outer is None else outer.control_dependencies(None):
                yield
        return
    scope = graph.get_name_scope()
    with graph.control_dependencies(None), graph.name_scope(scope + "/" if scope else None):
        yield


def _names_around(graph: Any) -> str:
    """Return the name scope of a graph, in TF 1 with those of the loops and choices around it, as in one graph."""
    found, around = [graph.get_name_scope()], graph
    while around.building_function and around.is_control_flow_graph and not context.switches.control_flow_v2:
        around = around._around
        found.append(around.get_name_scope())
    if not found[0] or around.building_function:  # scopes were left (variables have names of their own), or a function
        return found[0]
    return "/".join(name for name in reversed(found) if name)


def _innermost_devices() -> list[Any]:
    """Return the devices that the innermost graph with any asks for: what leaves a function takes them along."""
    open_graphs = (graph for graph in reversed(context.thread.scopes) if graph is not None)
    return next((list(found) for found in (g._stack("devices") for g in open_graphs) if found), [])


@contextlib.contextmanager
def _on(devices: list[Any], graph: Any) -> Iterator[None]:
    """Ask for just these devices inside the block, in a graph or where ops run at once."""
    if graph is None:
        with contextlib.ExitStack() as placed:
            for entry in devices if not any(callable(d) for d in devices) else []:
                with contextlib.suppress(errors.InvalidArgumentError):  # of a task that is not here
                    placed.enter_context(Placing(entry))
            yield
        return
    stack = graph._stack("devices")
    held, stack[:] = list(stack), devices
    try:
        yield
    finally:
        stack[:] = held


def container(container_name: str) -> AbstractContextManager[Any]:
    """Keep resources made inside the block in the container of this name."""
    return get_default_graph().container(container_name)


def get_name_scope() -> str:
    """Return the name of the innermost name scope, without a slash behind it."""
    if context.executing_eagerly():
        return eager_scopes.current.rstrip("/")
    return get_default_graph().get_name_scope()


# --- putting things in order
# --------------------------------------------------------------------------------------------


def no_op(name: str | None = None) -> Effect:
    """Return a node that does nothing, to hang dependencies on. (Eagerly: None.)

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default():
    ...     no_op("done").type
    'NoOp'
    """
    return raw.NoOp(name=name)


def group(*inputs: Any, **kwargs: Any) -> Effect:
    """Return one operation that is done when all `inputs` are. (Eagerly: None.)

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default():
    ...     group(tf.no_op("a"), tf.no_op("b"), name="both").type
    'NoOp'
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}.")
    if context.executing_eagerly():
        return None
    graph = get_default_graph()
    with graph.name_scope(name or "group_deps") as scope:
        nodes = []
        for item in nest.flatten(list(inputs), expand_composites=True):
            if item is None or not getattr(item, "_waited_for", True):  # an eager variable has its value already
                continue
            if (
                not hasattr(item, "op")
                and not isinstance(item, (Operation, Tensor))
                and not hasattr(item, "_as_graph_element")
            ):
                raise TypeError(
                    f"'inputs' should be zero or more (nested) Tensors. Received '{item}' with type '{type(item)}'."
                )
            nodes.append(graph._control_input(item))
        return _wait_for(graph, nodes, scope)


def _wait_for(graph: Any, nodes: list[Any], scope: str) -> Any:
    """Return a node that waits for `nodes`; where they are on several devices, through one node on each."""
    by_device: dict[str, list[Any]] = {}
    for node in nodes:
        by_device.setdefault(node.device, []).append(node)
    if len(by_device) <= 1:
        return _no_op_on(graph, next(iter(by_device), ""), nodes, scope)
    gathered = [_no_op_on(graph, name, by_device[name], None) for name in sorted(by_device)]
    return _no_op_on(graph, "", gathered, scope)


def _no_op_on(graph: Any, device_name: str, nodes: list[Any], name: str | None) -> Any:
    placed = graph.device(device_name) if device_name else contextlib.nullcontext()
    with placed, graph.control_dependencies(nodes):
        return raw.NoOp(name=name)


def tuple(tensors: Nested, name: str | None = None, control_inputs: Nested = None) -> list[Any]:
    """Return `tensors`, none of which is there before all of them are."""
    if context.executing_eagerly():
        return tensors
    graph = get_default_graph()
    with graph.name_scope(name or "tuple") as scope:
        tensors = [t if t is None or isinstance(t, Operation) or hasattr(t, "op") else _single(t) for t in tensors]
        waits = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for item in control_inputs or ():
            waits.append(item if isinstance(item, Operation) else item.op)
        if not waits:
            raise ValueError(f"`tensors` must have at least one Tensor. Received: {tensors}.")
        gate = group(*waits)
        results: list[Any] = []
        for item in tensors:
            if item is None:
                results.append(None)
            elif isinstance(item, Operation):
                results.append(group(gate, item))
            else:
                results.append(with_dependencies([gate], item))
        del scope
        return results


def _single(item: Any) -> Any:
    """Return what is no tensor as one."""
    if isinstance(item, dict):
        raise TypeError(f"`tensors` must be a list of tensors, operations or None. Received in it: {item}.")
    return convert(item)


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """Return `output_tensor` once `dependencies` have run."""
    if context.executing_eagerly():
        return output_tensor
    graph = get_default_graph()
    with graph.name_scope(name or "control_dependency") as scope:
        if isinstance(output_tensor, IndexedSlices):
            with graph.colocate_with(output_tensor), graph.control_dependencies(dependencies):
                return IndexedSlices(
                    raw.Identity(output_tensor.values), output_tensor.indices, output_tensor.dense_shape
                )
        if hasattr(output_tensor, "_type_spec") and not isinstance(output_tensor, Tensor):
            with graph.control_dependencies(dependencies):
                return nest.map_structure(raw.Identity, output_tensor, expand_composites=True)
        tensor = output_tensor if isinstance(output_tensor, Tensor) else convert(output_tensor)
        with graph.colocate_with(tensor), graph.control_dependencies(dependencies):
            return raw.Identity(tensor, name=scope)


def is_symbolic_tensor(tensor: TensorLike) -> bool:
    """Return whether `tensor` is a symbolic tensor."""
    return type(tensor) is SymbolicTensor


def graph_from_inputs(op_input_list: Any, graph: Any = None) -> Any:
    """Return the one graph that inputs come from (the default one, where none says): `ops._get_graph_from_inputs`."""
    first = None
    for item in op_input_list:
        theirs = None if getattr(item, "_array", None) is not None else getattr(item, "graph", None)
        if theirs is None:
            continue
        if graph is None:
            first, graph = item, theirs
        elif theirs is not graph:
            if first is None:
                raise ValueError(f"{item} is not from the passed-in graph.")
            raise ValueError(f"{item} must be from the same graph as {first} (graphs are {theirs} and {graph}).")
    return context.default_graph() if graph is None else graph
