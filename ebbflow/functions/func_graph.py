"""The graph of a function: arguments, results, and what it captures from outside.

A tensor of another graph (or an eager one) that is used inside becomes an argument of its own: a capture, held by
reference. `FuncGraph.run` runs such a graph on values, and is the only way bodies are run. `with_outputs` gives the
same body with other results, which is what differentiation asks for. Knows graphs and how they run; knows nothing of
how functions are traced or differentiated.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ebbflow.core import context, dtypes, elsewhere, errors, forks, nest
from ebbflow.core.convert import convert
from ebbflow.core.op import eager_run, record
from ebbflow.core.tensor import EagerTensor
from ebbflow.core.typing import AnyTensor, DTypeLike, Nested, ShapeLike, TensorLike
from ebbflow.eager.backprop import CAPTURED
from ebbflow.eager.custom_gradient import stop_recording_ops
from ebbflow.eager.placing import default_device
from ebbflow.engines import devices
from ebbflow.functions import side_effects
from ebbflow.functions.derived import Derived
from ebbflow.functions.side_effects import Manager
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.graph import Graph, process_default
from ebbflow.graph.graph_scopes import VALID_NAME
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.ops.declare import raw
from ebbflow.ops.random.seeds import global_seed
from ebbflow.ops.state.storage import held
from ebbflow.runtime.run_on_devices import runner_for


class FuncGraph(Graph):
    """A graph that is the body of a function."""

    building_function = True

    @property
    def outer_graph(self) -> Graph:
        """The graph around this one; where ops run at once there, the graph of the process."""
        return self._around if self._around is not None else process_default()

    def __init__(self, name: str, outer: Graph | None = None):
        super().__init__()
        self.name = name
        self.function_name: str | None = None  # the name it is written under
        self._around = outer
        self.inputs: list[SymbolicTensor] = []
        self.outputs: list[SymbolicTensor] = []
        self.structured_outputs: Any = None
        self.control_outputs: list[Operation] = []
        self.effects: list[Operation] | None = None  # what runs besides the results; None: all that must
        self.description = ""  # what it does, in words, where it is written
        self.attributes: dict[str, Any] = {}  # what it says of itself where it is written
        self.exit_callbacks: list[Callable[[], Any]] = []  # called when it has been traced
        self.prunes = False  # like a session's graph it does what it is asked for, and no more
        self.first_values: Sequence[Any] = ()  # of the turn of a TF 1 loop: what its variables start with
        self.outer_controls: list[Operation] = []  # nodes outside that something inside waits for: so does the caller
        self.base = self  # of a body with other results: the one it was made from
        self.jit_compile: bool | str | None = None
        self.called_by_name = False  # a call of it is a node whose op is the function itself, as TF 1 writes them
        self.gradient_body: Callable[[], FuncGraph] | None = None  # what computes its gradient, if the program says so
        self.gradient_rule: Callable[..., list[Any]] | None = None  # that, as the rule that calls of it name
        self.forms: dict[Any, FuncGraph] = {}  # for the CPU, of functions that it calls, by what they implement
        self.output_names: list[str] = []  # what its results were called in a file
        self.tells_variables_apart = False  # its trace depends on which variable an argument is
        self.independent: set[Operation] = set()  # effects that keep no order, as the program says
        self.saving_errors: set[str] = set()  # why a SavedModel may not hold it
        self.closed = False  # traced to the end: its tensors may not be used elsewhere any more
        self.in_python: Callable[..., list[Any]] | None = None  # the function it was traced from, of flat tensors
        self._captures: dict[int, tuple[Any, SymbolicTensor]] = {}
        self.stand_ins: dict[int, tuple[Any, Any]] = {}  # while it is traced: what a given variable's handle is inside
        self.stood_for: dict[int, Any] = {}  # by id, the handles that were asked for, and are arguments
        self._runners: dict[Any, tuple[Any, ...]] = {}
        self.straight: Callable[..., Sequence[Any]] | None = None  # what any call on the host comes to, array by array
        self.rescued: Callable[[list[Any], Exception], Sequence[Any]]  # what comes of an error in it
        self.straight_since = 0  # after how many changes of the body it was found
        self.derived = Derived()  # what has been worked out about this body: gradients, among others
        self.changing = outer.changing if isinstance(outer, FuncGraph) else forks.rlock()
        around = context.default_graph() if outer is None and not context.executing_eagerly() else outer
        self._seed = global_seed() if around is None else around.seed

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Any]:
        """Make this the graph that ops are added to inside the block; creators of variables that are open stay so."""
        around, stack = context.default_graph(), self._stack("variable_creators")
        opened = [] if around is self or around is self._around else list(around._stack("variable_creators"))
        stack[:0] = opened
        try:
            with context.scope(self):
                yield self
        finally:
            del stack[: len(opened)]

    def mark_as_unsaveable(self, error_message: str | Iterable[str]) -> None:
        """Have models that hold this function refuse to be saved, for the reasons given."""
        self.saving_errors |= {error_message} if isinstance(error_message, str) else set(error_message)

    @property
    def experimental_acd_manager(self) -> Manager:
        """What says of effects that they keep no order."""
        return Manager(self)

    @property
    def saveable(self) -> bool:
        """Whether a SavedModel may hold this function."""
        return not self.saving_errors

    # --- what comes from outside --------------------------------------------------------------------------------------

    def take(self, tensor: TensorLike, name: str | None = None) -> SymbolicTensor:
        """Return the tensor inside that stands for `tensor`."""
        if type(tensor) is SymbolicTensor and tensor.graph is self:
            return tensor
        return self.capture(tensor, name)

    def capture(self, tensor: AnyTensor, name: str | None = None) -> SymbolicTensor:
        """Return the argument that carries `tensor` in."""
        found = self._captures.get(id(tensor))
        if found is None:
            if id(tensor) in self.stand_ins:
                self.stood_for[id(tensor)] = tensor
                return self.take(self.stand_in(tensor), name)
            if type(tensor) is SymbolicTensor:
                outer = self.from_branches(tensor)
                if outer is not tensor:
                    return self.take(outer, name)
                self._check_in_reach(tensor)
            inside = self.argument(tensor.dtype.base_dtype, tensor._dims, name or _own_name(tensor))
            inside._dtype = tensor.dtype  # a reference stays one: the body may assign to it
            if tensor.dtype is not dtypes.resource and tensor.dtype is not dtypes.variant:
                inside._known = tensor.constant_value()
            found = self._captures[id(tensor)] = (tensor, inside)
            self.derived.carried[id(inside)] = tensor
            self.inputs.append(inside)
        if context.recorders:  # a tape in this body that watches what is outside goes on with what is inside
            record(CAPTURED, (tensor,), (found[1],), {})
        return found[1]

    def stand_in(self, handle: Any) -> Any:
        """Return the argument that carries a variable in which the function is being traced for, or what is given."""
        found = self.stand_ins.get(id(handle))
        return handle if found is None else found[1]

    def stand_for(self, handles: dict[int, tuple[Any, Any]]) -> None:
        """Have arguments stand for variables that are used by themselves, too; those of the function around, which are
        given on, among them.
        """
        around = self._around.stand_ins if isinstance(self._around, FuncGraph) else {}
        given_on = {key: pair for key, pair in around.items() if id(pair[1]) in handles}
        self.stand_ins = {key: (handle, handles[id(inside)][1]) for key, (handle, inside) in given_on.items()} | handles

    def control_dependencies(self, control_inputs: Nested) -> Any:
        """Have nodes made inside the block run after `control_inputs`; for those outside, the whole function waits."""
        if control_inputs is None:
            return super().control_dependencies(None)
        given = control_inputs if isinstance(control_inputs, (list, tuple, set)) else [control_inputs]
        inside = []  # what has its value already, a variable too, is not waited for
        for item in given:
            element = getattr(item, "_as_graph_element", lambda item=item: item)()
            in_graph = type(element) is SymbolicTensor or isinstance(element, Operation)
            element = self.from_branches(element) if in_graph else element
            graph = getattr(element, "graph", None) if in_graph else self
            if graph is not self:
                self.outer_controls.append(element if isinstance(element, Operation) else element.op)
            elif not isinstance(element, (EagerTensor, int, float)) and getattr(item, "_waited_for", True):
                inside.append(item)
        return super().control_dependencies(inside)

    def argument(self, dtype: DTypeLike, dims: ShapeLike, name: str) -> SymbolicTensor:
        """Add a placeholder for a value that comes in; it is for the caller to put it among the inputs."""
        name = name if VALID_NAME.match(name) else "Placeholder"
        with context.scope(self), self.control_dependencies(None):
            return raw.Placeholder(dtype=dtype, shape=dims, name=name)

    def _check_in_reach(self, tensor: SymbolicTensor) -> None:
        """Refuse tensors of a function that has been left, or of a graph that is not around this one."""
        graph = tensor.graph
        if graph.building_function and not graph.closed:
            return
        outer: Any = self._around
        while outer is not None:
            if outer is graph:
                return
            outer = getattr(outer, "_around", None)
        raise tensor.out_of_scope()

    def _is_inside(self, graph: Any) -> bool:
        outer: Any = self
        while outer is not None:
            if outer is graph or outer.forward_graph is graph:
                return True
            outer = getattr(outer, "_around", None)
        return False

    @contextlib.contextmanager
    def reopened(self) -> Iterator[None]:
        """Let other graphs use tensors of this one inside the block: its gradient is being built."""
        was, self.base.closed = self.base.closed, False
        try:
            yield
        finally:
            self.base.closed = was

    @property
    def captures(self) -> list[tuple[Any, SymbolicTensor]]:
        """What is captured: pairs of the tensor outside and the argument inside."""
        return list(self._captures.values())

    def carried_by(self, argument: Any) -> Any:
        """Return the tensor outside that an argument carries in, or None."""
        carried = self.derived.carried
        if len(carried) != len(self._captures):
            carried = self.derived.carried = {id(inside): outside for outside, inside in self._captures.values()}
        return carried.get(id(argument))

    @property
    def external_captures(self) -> list[Any]:
        return [outside for outside, _ in self._captures.values()]

    @property
    def internal_captures(self) -> list[Any]:
        return [inside for _, inside in self._captures.values()]

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that are captured, as far as they live, in the order of their first use."""
        found = (variable_of(outside) for outside in [*self.external_captures, *self.stood_for.values()])
        return tuple(v for v in found if v is not None)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple(v for v in self.variables if v.trainable)

    def _home(self, inputs: Sequence[Any]) -> Graph:
        return self  # what comes from elsewhere is captured

    # --- running ------------------------------------------------------------------------------------------------------

    def run(self, session: Any, values: Sequence[Any]) -> list[Any]:
        """Return the results for these argument values, with `session`'s resources."""
        if session is eager_run:
            if elsewhere.bodies:
                results = elsewhere.bodies[0](self, values)
                if results is not None:
                    return results
            device = default_device() if context.recorders else None
            found = self._runners.get(device)
        else:
            device, found = None, session.bodies.get(self)
        if found is None or found[1] != self.base._mutations or found[2] != len(self.outputs):
            found = self._make_runner(session, device)
        results = found[0](values)
        return results if len(results) == found[2] else results[: found[2]]

    def _make_runner(self, session: Any, device: Any = None) -> tuple[Any, ...]:
        """Find out how to run this, and keep it as long as neither the body nor its results change."""
        with self.changing:
            effects = self.effects
            if effects is None:
                effects = [node for node in self._nodes if side_effects.must_run(node)]
            run = runner = None
            if session is eager_run and elsewhere.body_runners:
                run = elsewhere.body_runners[0](self, device)
            if run is None:
                wanted = [*self.outputs, *effects]
                runner = runner_for(session, wanted, self.inputs, self.jit_compile, self.name, device)
                run = runner.values
            found = (run, self.base._mutations, len(self.outputs), runner)
        if session is eager_run:
            self._runners[device] = found
            if runner is not None:
                runner.when_settled = functools.partial(self._settle, device, found)
        else:
            session.bodies[self] = found
        return found

    def _settle(self, device: Any, found: tuple[Any, ...], program: Any) -> None:
        """Call the one Program that there will be, and no longer what found it."""
        if self._runners.get(device) is found:
            self._runners[device] = (program.run, *found[1:])
            if device is None:
                self.rescued = program.rescued
                self.straight_since, self.straight = found[1], program.straight()

    @property
    def stateful(self) -> bool:
        """Whether running it can be noticed otherwise than by its results."""
        return any(node._op.keeps_state for node in self._nodes)

    def is_spread(self) -> bool:
        """Return whether its nodes may belong on several devices: such a body is run by itself."""
        return devices.several() and any(node._device for node in self._nodes)

    def with_outputs(self, outputs: Sequence[SymbolicTensor], name: str | None = None) -> FuncGraph:
        """Return a function with the same arguments and the same nodes that gives other tensors of the body."""
        other = object.__new__(type(self))
        other.__dict__ = {**self.__dict__, "outputs": list(outputs), "name": name or self.name}
        other._runners, other.straight = {}, None
        other.function_name, other.derived, other.gradient_body = name, Derived(), None
        other.attributes = {}
        return other

    def shared(self, in_python: Callable[..., list[Any]] | None) -> FuncGraph:
        """Return this very body, with all that is known of it, as traced from another function of the same kind."""
        other = object.__new__(type(self))
        other.__dict__ = {**self.__dict__, "in_python": in_python}
        return other

    def with_first(self, inputs: int, outputs: int) -> FuncGraph:
        """Return the function of the first arguments that gives the first results: a loop may get more as it runs."""
        shortened = self.derived.shortened
        if inputs not in shortened:
            shorter = self.with_outputs(self.outputs[:outputs])
            shorter.inputs = self.inputs[:inputs]
            shortened[inputs] = shorter
        return shortened[inputs]

    def source(self) -> str:
        """Return what runs, as text: the compiled Program, with the user's lines behind its own."""
        found = self._runners.get(None)
        if found is None or found[1] != self.base._mutations or found[2] != len(self.outputs):
            found = self._make_runner(eager_run)
        runner = found[3]
        return f"# {self.name}\n{'# runs at a task' if runner is None else runner.explain()}"

    def __repr__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"

    __str__ = __repr__


def _own_name(tensor: Any) -> str:
    return tensor.op.name if type(tensor) is SymbolicTensor else "capture"


def variable_of(tensor: Any) -> Any:
    """Return the variable whose handle (or reference) a tensor is, or None."""
    if isinstance(tensor, EagerTensor):
        if tensor._dtype is not dtypes.resource:
            return None
        owner = getattr(held(tensor._array), "owner", None)
        return None if owner is None else owner()
    if tensor.dtype is not dtypes.resource and not tensor.dtype._is_ref_dtype:
        return None
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in tensor.graph.get_collection(key):
            if getattr(variable, "_tape_handle", None) is tensor:
                return variable
    return None


def inside_function() -> bool:
    """Return whether a function is being traced here."""
    return isinstance(context.current_graph(), FuncGraph)


def add_exit_callback(callback: Callable[[], Any]) -> None:
    """Have a function called when that which is being traced here has been traced to its end."""
    graph = context.current_graph()
    if not isinstance(graph, FuncGraph):
        raise RuntimeError(f"Cannot add scope exit callbacks when not building a function. Default graph: {graph}")
    if not callable(callback):
        raise TypeError(f"an exit callback must be callable, got {callback!r}")
    graph.exit_callbacks.append(callback)


def prunes(graph: Any) -> bool:
    """Return whether only what is asked for is done in a graph: a session's, or a branch or a turn of a loop there."""
    while graph.building_function and graph.is_control_flow_graph:
        graph = graph._around
    return not graph.building_function or graph.prunes


def of_tf1(graph: Any) -> bool:
    """Return whether choices and loops of a graph are TF 1's: no worlds of their own, with the refusals of then."""
    while graph.building_function and graph.is_control_flow_graph:
        graph = graph._around
    return not (graph.building_function or context.switches.control_flow_v2)


def build(
    name: str,
    function: Callable[..., Any],
    outer: Graph | None,
    arguments: Sequence[tuple[Any, Any, str]] = (),
    control_flow: bool = False,
    kind: type[FuncGraph] | None = None,
    devices: Sequence[Any] = (),
) -> FuncGraph:
    """Return the graph of a function of tensors, each given as (dtype, dims, name); `structured_outputs` keeps the form
    of its result. A branch or a turn of a loop knows that it is one (`control_flow`).
    """
    graph = (kind or FuncGraph)(name, outer)
    graph.is_control_flow_graph = control_flow
    graph._stack("devices").extend(devices)
    if isinstance(outer, FuncGraph):
        graph.stand_ins, graph.stood_for = outer.stand_ins, outer.stood_for
    names = ""
    if control_flow and outer is not None:  # a branch or a turn has no collections of its own, and is where it stands
        graph._collections, graph._collections_lock = outer._collections, outer._collections_lock
        graph._stack("devices").extend(outer._stack("devices"))
        names = outer.get_name_scope() if outer.building_function and context.switches.eager_by_default else ""
    with context.scope(graph), stop_recording_ops(), graph.name_scope(names + "/" if names else None):
        graph.inputs = [raw.Placeholder(dtype=dtype, shape=dims, name=arg) for dtype, dims, arg in arguments]
        known = len(graph.get_collection(GraphKeys._SUMMARY_COLLECTION))
        result = function(*graph.inputs)
        graph.structured_outputs = result
        graph.outputs = [_inside(graph, r) for r in nest.flatten(result, expand_composites=True) if r is not None]
        if control_flow and outer is not None and of_tf1(outer):  # in TF 1 results wait for what writes summaries
            written = graph.get_collection(GraphKeys._SUMMARY_COLLECTION)[known:]
            if written:
                with graph.control_dependencies(written):
                    graph.outputs = [raw.Identity(t) for t in graph.outputs]
    if outer is not None and outer.building_function and not prunes(outer):
        side_effects.put_in_order(graph)
    return graph


def _inside(graph: FuncGraph, value: Any) -> SymbolicTensor:
    if isinstance(value, Operation):  # of an operation that it is done is all there is to give
        with graph.control_dependencies([value]):
            return convert(True)  # type: ignore[return-value]
    if hasattr(value, "op") and type(value) is not SymbolicTensor and not hasattr(value, "value"):
        raise errors.InvalidArgumentError(None, None, f"a function of a graph must return tensors, got {value!r}")
    tensor = convert(value)
    if isinstance(tensor, EagerTensor):
        tensor = graph.take(tensor)
    return raw.Identity(tensor) if tensor.dtype._is_ref_dtype else tensor  # type: ignore[return-value]
