"""`tf.function`: a Python function that is traced once for each kind of arguments, and then runs as a graph.

A call with eager tensors whose trace exists is a dictionary look-up and a run of the body; anything else takes the long
way through `signature`. Traces are kept as long as the function lives, those made for objects as long as these live.
Safe to call from several threads: a trace is made once.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, elsewhere, forks, source
from ebbflow.core.composite import TypeSpec
from ebbflow.core.source import Line
from ebbflow.core.tensor import EagerTensor, _new, ndarray
from ebbflow.core.typing import Nested
from ebbflow.functions import implementing, retracing, trace_types
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.device_choice import PREFERRED_DEVICE, DeferredForm
from ebbflow.functions.signature import PLAIN_VALUES, FunctionSignature, FunctionType, Given
from ebbflow.functions.told_apart import ToldApart
from ebbflow.functions.trace_places import FOR_A_FILE, place_of
from ebbflow.functions.tracing import lifted, refuse_variable, trace
from ebbflow.functions.weak_method import WeakMethod, call_if_alive, drop
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.platform.config import wishes
from ebbflow.trackable.auto import provide_function_kinds
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import SaveType

MAX_KEYS = 4096
"""At most this many kinds of arguments are remembered with their trace; then they are looked up by type again."""

LOOKED_AT = 20
"""A new trace is compared with at most this many others to say what changed."""

_thread = context.thread


class Function(Trackable):
    """A function that runs as a graph."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str | None = None,
        input_signature: Nested = None,
        autograph: bool = True,
        jit_compile: bool | None = None,
        reduce_retracing: bool | None = False,
        max_traces: int | None = None,
        options: dict[str, Any] | None = None,
    ):
        functools.update_wrapper(self, python_function)
        self._python_function = python_function
        self.__name__ = self._name = name or getattr(python_function, "__name__", None) or "function"
        self._signature = FunctionSignature(python_function, input_signature)
        self._autograph = autograph
        if autograph and _made_by_exec(python_function):
            _autograph().note(python_function)
        self._jit_compile = _checked_wish(jit_compile)
        self._reduce_retracing = reduce_retracing
        self._max_traces = max_traces
        self._options = options or {}
        self._lock = forks.rlock()
        self._quick: dict[Any, ConcreteFunction] = {}  # for eager tensors alone, given by position
        self._by_key: dict[Any, ConcreteFunction] = {}
        self._entries: list[_Entry] = []
        self._keys_of: dict[int, Any] = {}  # by a weak reference's id: the key it is part of
        self._in_progress: list[Any] = []
        self._bound: dict[int, tuple[Any, Function]] = {}
        self._count = 0
        self._makes_variables: bool | None = None  # known after the first call
        self._apart = ToldApart()
        self._reported = False
        # no lambda: what it names is gone when the interpreter ends, where references die too
        self._forget_ref = functools.partial(call_if_alive, weakref.WeakMethod(self._forget))

    @property
    def _attributes(self) -> dict[str, Any]:
        """What a function says of itself in files: which op it implements, and attrs of its own."""
        implements, own = self._options.get("experimental_implements"), self._options.get("experimental_attributes")
        return {**({} if implements is None else {"_implements": implements}), **(own or {})}

    @property
    def _experimental_autograph_options(self) -> Any:
        return self._options.get("experimental_autograph_options")

    def _made_of(self, python_function: Callable[..., Any] | None = None) -> tuple[Any, ...]:
        """Return what makes a function with the same wishes, which runs another Python function, or the same."""
        function = self._python_function if python_function is None else python_function
        wishes = self._autograph, self._jit_compile, self._reduce_retracing, self._max_traces, dict(self._options)
        return (function, self._name, self._signature.input_signature, *wishes)

    def _clone(self, python_function: Callable[..., Any] | None) -> Function:
        return Function(*self._made_of(python_function))

    def __reduce__(self) -> tuple[Any, ...]:  # in a pickle it has no traces
        return Function, self._made_of()

    def _decorate(self, decorator: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Let a decorator have the Python function, before anything was traced."""
        if self._entries:
            raise ValueError(
                "Functions cannot be decorated after they have been traced. "
                f"{self._name} has {len(self._entries)} traces."
            )
        self._python_function = decorator(self._python_function)
        self._signature = FunctionSignature(self._python_function, self._signature.input_signature)

    # --- calling ------------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Nested:
        if kwargs or context.graph_scopes or wishes.functions_run_eagerly:
            return self._call(args, kwargs)
        # The usual call: eager tensors by position, met before. It is in one piece, and one tensor goes by itself,
        # because each part counts beside a small body: adding two arrays takes 250 ns and what is around it took 830
        # when it was spread over four functions, and takes 660 so.
        if len(args) == 1 and args[0].__class__ is EagerTensor:
            x = args[0]
            value = x._array
            values = [value]
            found = self._quick.get((x._dtype, value.shape))
        else:
            found, values = self._met(args)
        if found is None:
            return self._call(args, kwargs)
        try:
            graph = found._graph
            straight = graph.straight
            changed = graph.straight_since != graph.base._mutations
            if straight is None or changed or context.recorders or elsewhere.bodies:
                return found.call_flat(args) if context.recorders and _thread.recorders else found.run_values(values)
            values += found.values  # type: ignore[arg-type]
            try:
                results = straight(*values)
            except Exception as error:
                results = graph.rescued(values, error)
            dtype = found.single
            if dtype is None:
                return found.wrapped(results)
            tensor = _new(EagerTensor)
            value = results[0]
            tensor._array = value if value.__class__ is ndarray else elsewhere.as_array(value, dtype.np)
            tensor._dtype = dtype
            return tensor
        except Exception as error:
            raise source.trimmed(error) from error.__cause__

    def _met(self, args: tuple[Any, ...]) -> tuple[ConcreteFunction | None, list[Any]]:
        """Return the trace for eager tensors like these, if it was met before, and their arrays."""
        kinds: list[Any] = []
        values: list[Any] = []
        for x in args:
            if x.__class__ is not EagerTensor:
                return None, values
            value = x._array
            values.append(value)
            kinds.append(x._dtype)
            kinds.append(value.shape)
        return self._quick.get(tuple(kinds)), values

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if wishes.functions_run_eagerly:
            return self._python_function(*args, **kwargs)
        try:
            concrete, tensors = self._find(args, kwargs)
            if concrete.values is None or context.graph_scopes or context.recorders:
                return concrete.call_flat(tensors)
            return concrete.run_now(tensors)
        except Exception as error:
            raise source.trimmed(error) from error.__cause__

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the trace for arguments like these; specs may stand for tensors."""
        try:
            if self._signature.fixed is not None and not args and not kwargs and not self._signature.awaits_self:
                return self._find_fixed(None)
            if self._is_for_another_device():
                return DeferredForm(lambda: self._find(args, kwargs)[0])  # type: ignore[return-value]
            return self._find(args, kwargs)[0]
        except Exception as error:
            raise source.trimmed(error) from error.__cause__

    def _is_for_another_device(self) -> bool:
        attributes = self._options.get("experimental_attributes") or {}
        return attributes.get(PREFERRED_DEVICE, "CPU") != "CPU"

    # --- finding the trace --------------------------------------------------------------------------------------------

    def _find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[ConcreteFunction, Sequence[Any]]:
        """Return the trace for a call, made if need be, and the tensors to call it with."""
        if self._options.get("experimental_implements"):
            args, kwargs = implementing.as_tensors(args, kwargs)
        positional, named = self._signature.bind(args, kwargs)
        if self._signature.awaits_self:  # called through its class: `Model.serve(model, x)`
            return self._method_of(positional[0])._find(tuple(positional[1:]), named)
        fixed = self._signature.fixed
        if fixed is not None:
            try:
                if len(positional) != fixed.positional:
                    raise TypeError("too many positional arguments")
                positional, named = fixed.cast(positional, named)
            except (TypeError, ValueError) as error:
                raise self._signature.refusal(error, args, kwargs) from None
            tensors = fixed.tensors_of(positional, named)
            return self._find_fixed(tensors), tensors
        given = Given(self._forget_ref, self._apart)
        place = place_of(given)
        key = (place, self._signature.key(positional, named, given))
        found = self._by_key.get(key)
        if found is None:
            found = self._make(key, given, place, lambda: self._signature.type_of(positional, named, self._apart))
            if place is None and not kwargs and len(given.tensors) == len(args):
                self._learn(args, positional, found)
        return found, given.tensors

    def _find_fixed(self, tensors: Sequence[Any] | None) -> ConcreteFunction:
        given = Given(self._forget_ref)
        place = place_of(given)
        found = self._by_key.get((place, None))
        if found is None:
            if tensors is not None and not any(isinstance(t, TypeSpec) for t in tensors):
                given.tensors = list(tensors)
            found = self._make((place, None), given, place, lambda: self._signature.fixed)
        return found

    def _learn(self, args: Sequence[Any], positional: Sequence[Any], found: ConcreteFunction) -> None:
        """Remember the trace for eager tensors like these, given by position; the rest are defaults that stay."""
        if found.values is None or any(x.__class__ is not EagerTensor for x in args):
            return
        if any(x.__class__ not in PLAIN_VALUES for x in positional[len(args) :]):
            return
        if len(self._quick) >= MAX_KEYS:
            self._quick.clear()
        self._quick[tuple([part for x in args for part in (x._dtype, x._array.shape)])] = found

    def _make(self, key: Any, given: Given, place: Any, kind_of: Callable[[], Any]) -> ConcreteFunction:
        """Return the trace for a key not met before: one that serves wider types, or a new one."""
        with self._lock:
            found = self._by_key.get(key)
            if found is None:
                kind = kind_of()
                found = self._serving(kind, place) or self._traced(kind, key, given, place)
                if self._apart.note(found.graph) and kind_of() != kind:  # it serves the very variables it was made for
                    self._entries[-1].kind = kind_of()
                else:
                    self._learn_key(key, found)
                for ref in given.refs:
                    self._keys_of[id(ref)] = key
            return found

    def _learn_key(self, key: Any, found: ConcreteFunction) -> None:
        if len(self._by_key) >= MAX_KEYS:
            self._by_key.clear()
        self._by_key[key] = found

    def _serving(self, kind: FunctionType, place: Any) -> ConcreteFunction | None:
        """Return the narrowest trace made for wider types."""
        found = [e for e in self._entries if e.place == place and kind.is_subtype_of(e.kind)]
        for entry in found:
            if all(entry.kind.is_subtype_of(other.kind) for other in found):
                return entry.concrete
        return found[0].concrete if found else None

    def _traced(self, kind: FunctionType, key: Any, given: Given, place: Any) -> ConcreteFunction:
        here = (threading.get_ident(), key)
        if here in self._in_progress:
            raise RecursionError(self._endless())
        beside = [e.kind for e in self._entries if e.place == place]
        known = beside[-LOOKED_AT:]
        if self._reduce_retracing:
            kind = _widened(kind, beside)
        if self._max_traces is not None and len(beside) >= self._max_traces:
            raise retracing.too_many(self._name, self._max_traces, known, kind)
        because = ", ".join(map(str, retracing.find_changes(known, kind))) if known else "it was called"
        expected = 2 if self._reduce_retracing else 1  # the second trace is the wider one that was asked for
        if len(beside) >= expected and not self._reported:
            self._reported = True
            retracing.report(self._name, _line_of(self._python_function), known, kind)
        start = time.perf_counter()
        self._in_progress.append(here)
        try:
            graph = self._trace(kind, given.tensors)
        except RecursionError as error:
            if sum(thread == here[0] for thread, _ in self._in_progress) > 1:
                raise RecursionError(self._endless()) from None
            raise error
        finally:
            self._in_progress.remove(here)
        implementing.note_attributes(graph, self._attributes)
        concrete = ConcreteFunction(graph, kind)
        concrete._maker = weakref.ref(self)
        seconds = time.perf_counter() - start
        self._entries.append(_Entry(concrete, kind, place, key, because, seconds))
        return concrete

    def _endless(self) -> str:
        where = _line_of(self._python_function)
        return (
            f"tf.function {self._name}{f' ({where})' if where else ''} calls itself without end while it is traced: "
            "each call inside needs a trace of its own, which calls again. Recursion must end by a Python value that "
            "changes (an int that counts down, say), or be written as a loop: tf.while_loop, or `while` in a converted "
            "function."
        )

    # --- tracing ------------------------------------------------------------------------------------------------------

    def _trace(self, kind: FunctionType, tensors: Sequence[Any] | None) -> Any:
        """Trace; where that made variables, trace once more without: what made them is no part of the function."""
        first = self._makes_variables is None
        made: list[Any] = []

        def create(graph: Any, make: Callable[..., Any], given: dict[str, Any]) -> Any:
            if not first:
                raise refuse_variable(bool(self._makes_variables))
            value = given.get("initial_value")
            if type(value) is SymbolicTensor and value.graph is graph:
                given["initial_value"] = lifted(graph, value, tensors)
            variable = make(**given)
            made.append(variable)
            return variable

        graph = self._trace_once(kind, create)
        if first:
            self._makes_variables = bool(made)
        if made:
            graph = self._trace_once(kind, _refuse)
        return graph

    def _trace_once(self, kind: FunctionType, create: Callable[..., Any]) -> Any:
        function = self._python_function
        if self._autograph:
            function = _converted(function)
        self._count += 1
        shown, outer = self.python_function, context.current_graph()
        graph = trace(self._name, function, kind, outer, create, shown, self._jit_compile)
        if not any(type(t) is SymbolicTensor for t in graph.external_captures):
            graph._around = None  # nothing of it is needed: let it go when everybody else does
        return graph

    # --- letting go ---------------------------------------------------------------------------------------------------

    def _forget(self, ref: Any) -> None:
        """An object (or graph) that traces were made for is gone: so are they."""
        key = self._keys_of.pop(id(ref), None)
        if key is None:
            return
        self._by_key.pop(key, None)
        self._entries = [e for e in self._entries if e.key is not key]

    def forget_traces(self) -> None:
        """Let go of all traces, as if the function had not been called yet; what it made stays made."""
        with self._lock:
            self._quick.clear()
            self._by_key.clear()
            self._keys_of.clear()
            self._entries = []

    # --- as a method --------------------------------------------------------------------------------------------------

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else self._method_of(instance)

    def _method_of(self, instance: Any) -> Any:
        found = self._bound.get(id(instance))
        if found is None or found[0]() is not instance:
            try:
                ref = weakref.ref(instance, functools.partial(drop, self._bound, id(instance)))
            except TypeError:  # no weak references to it: it is an argument like any other, where there can be others
                bound = functools.partial(self._python_function, instance)
                return self._with(bound) if self._signature.awaits_self else functools.partial(self, instance)
            found = self._bound[id(instance)] = (ref, self._for_instance(ref))
        method = object.__new__(BoundFunction)
        method.__dict__ = found[1].__dict__
        method._instance = instance  # type: ignore[attr-defined]
        return method

    def _for_instance(self, ref: weakref.ref[Any]) -> Function:
        """Return this function with its first argument given, which is held weakly."""
        function = self._python_function
        method = function.__get__(ref()) if hasattr(function, "__get__") else functools.partial(function, ref())
        return self._with(WeakMethod(function, ref, FunctionSignature(method)))

    def _with(self, python_function: Callable[..., Any]) -> Function:
        return Function(
            python_function, self._name, self._signature.input_signature, self._autograph, self._jit_compile,
            self._reduce_retracing, self._max_traces, self._options,
        )  # fmt: skip

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._name

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function that is traced; of a method, the method."""
        function = self._python_function
        return function.method() if isinstance(function, WeakMethod) else function

    @property
    def input_signature(self) -> Sequence[Any] | None:
        return self._signature.input_signature

    @property
    def function_type(self) -> Any:
        return self._signature.fixed

    @property
    def function_spec(self) -> FunctionSignature:
        return self._signature

    def __deepcopy__(self, memo: Any) -> Function:
        return self._with(self._python_function)

    def experimental_get_tracing_count(self) -> int:
        """Return how often the Python function has been run to trace it."""
        return self._count

    def traces(self) -> retracing.Traces:
        """Return the traces made so far, oldest first: arguments, why, nodes, seconds. Prints as a table."""
        return retracing.Traces(
            retracing.Trace(i + 1, str(e.kind), e.because, len(e.concrete.graph._nodes), e.seconds)
            for i, e in enumerate(self._entries)
        )

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """Return the signatures of all traces, as text."""
        return "\n\n".join(e.concrete.pretty_printed_signature(verbose) for e in self._entries)

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        return [e.concrete for e in self._entries if e.place is not FOR_A_FILE]

    _concrete_variable_creation_fn = property(lambda self: next(iter(self._list_all_concrete_functions()), None))

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        """Return the traces; where the types are fixed, there is one."""
        if self._signature.fixed is not None and not self._entries and not self._signature.awaits_self:
            self._find_fixed(None)
        return self._list_all_concrete_functions()

    def _traced_for_a_file(self, concrete: ConcreteFunction) -> ConcreteFunction:
        """Return another trace for the types of one, made as the block around wants it, which nobody else uses."""
        return ConcreteFunction(self._trace_once(concrete.function_type, _refuse), concrete.function_type)

    def _trackable_children(self, save_type: Any = SaveType.CHECKPOINT, cache: Any = None, **kwargs: Any) -> Any:
        """Return the traces by name, for what keeps functions; a checkpoint keeps none."""
        traces = () if save_type == SaveType.CHECKPOINT else self._list_all_concrete_functions()
        return {f"trace_{number}": trace for number, trace in enumerate(traces)}

    def source(self) -> str:
        """Return what runs, as text, trace by trace."""
        return "\n\n".join(e.concrete.source() for e in self._entries)

    def experimental_get_compiler_ir(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """Refuse: what runs is shown by `source()`."""
        raise NotImplementedError("there is no HLO of a function that runs on the host: f.source() shows what runs")

    def __repr__(self) -> str:
        return f"<tf.function {self._name} with {len(self._entries)} traces>"


class BoundFunction(Function):
    """A function as a method of an instance: shares all with others of the same instance, and keeps it alive."""

    __slots__ = ("_instance",)

    def __init__(self) -> None:
        raise TypeError("bound functions are made by attribute access")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundFunction) and self.__dict__ is other.__dict__

    def __hash__(self) -> int:
        return id(self.__dict__)


trace_types.Callable.register(Function)
provide_function_kinds(Function, ConcreteFunction)


class _Entry:
    """A trace and what it was made for."""

    __slots__ = ("because", "concrete", "key", "kind", "place", "seconds")

    def __init__(
        self, concrete: ConcreteFunction, kind: FunctionType, place: Any, key: Any, because: str, seconds: Any
    ):
        self.concrete, self.kind, self.place, self.key = concrete, kind, place, key
        self.because, self.seconds = because, seconds


def _refuse(graph: Any, make: Callable[..., Any], given: dict[str, Any]) -> Any:
    raise refuse_variable(True)


def _widened(kind: FunctionType, known: Sequence[FunctionType]) -> FunctionType:
    """Return the narrowest types that serve this call and all traces they have something in common with."""
    for other in known:
        kind = kind.common_with(other) or kind
    return kind


def _line_of(function: Any) -> Line | None:
    function = inspect.unwrap(function)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    code = code or getattr(getattr(function, "function", None), "__code__", None)
    return None if code is None else Line(code.co_filename, code.co_firstlineno, code.co_name)


def _converted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with its Python control flow converted, where the converter is there."""
    convert = _converter()
    if convert is None:
        return function
    return function.converted(convert) if isinstance(function, WeakMethod) else convert(function)


def _made_by_exec(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename[:1] == "<"


@functools.cache
def _autograph() -> Any:
    # Loaded with the first trace: a program that traces nothing needs no parser.
    return importlib.import_module("ebbflow.functions.autograph")


def _converter() -> Callable[..., Any] | None:
    return getattr(_autograph(), "convert", None)


def _checked_wish(jit_compile: Any) -> Any:
    """Return what is asked for of XLA: nothing, all or none, or what can be compiled ("auto")."""
    if jit_compile is None or (isinstance(jit_compile, str) and jit_compile == "auto"):
        return jit_compile
    if isinstance(jit_compile, str) or jit_compile not in (True, False):
        raise ValueError(f"jit_compile must be True, False, None or 'auto', got {jit_compile!r}")
    return bool(jit_compile)


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Nested = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: object = None,
    experimental_attributes: dict[str, Any] | None = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    max_traces: int | None = None,
) -> Callable[..., Any]:
    """Return `func` as a function that is traced once for each kind of arguments and then runs as a graph.

    `max_traces` bounds how often: one more is an error that says what changed.

    >>> import ebbflow as tf
    >>> @function
    ... def double(x):
    ...     return x + x
    >>> double(tf.constant([1, 2])).numpy().tolist()
    [2, 4]
    """
    if not isinstance(input_signature, (list, tuple, type(None))):
        raise TypeError(f"input_signature must be either a tuple or a list, got {type(input_signature)}.")
    options = {
        "experimental_implements": experimental_implements,
        "experimental_autograph_options": experimental_autograph_options,
        "experimental_attributes": experimental_attributes,
    }

    def decorated(inner: Callable[..., Any]) -> Function:
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        return Function(
            inner,
            None,
            input_signature,
            autograph,
            experimental_compile if jit_compile is None else jit_compile,
            experimental_relax_shapes or reduce_retracing,
            max_traces,
            options,
        )

    return decorated if func is None else decorated(func)
