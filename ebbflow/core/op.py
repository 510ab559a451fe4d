"""Ops: declared once, called in every mode.

An `Op` carries all that is known about an operation: interface, shape rule, kernel, gradient, properties. Calling it
converts the arguments, decides the attributes, and then either runs the kernel (eager) or hands the call to the graph
being built. On the eager path the kernel runs first; only when it fails is the shape rule asked, and its words become
the error. Knows nothing of NumPy kernels themselves, tapes or graphs: recorders and graphs are reached through
`core.context`.

    BiasAdd = op("BiasAdd(value:T, bias:T) -> (output:T) | T: numbers; data_format: string in [NHWC,NCHW] = NHWC",
                 facts="cheap folds finishes=add portable")                  (words of `core.facts`)

    @BiasAdd.shape         def _(value, bias, *, data_format) -> dims        (arguments are `Known`s)
    @BiasAdd.kernel        def _(xp, value, bias, *, data_format) -> array   (arguments are arrays)
    @BiasAdd.gradient      def _(call, grad) -> one gradient per input       (in terms of public ops)
"""

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors, source
from ebbflow.core.attrs import normalise
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType
from ebbflow.core.elsewhere import RunElsewhere, as_array
from ebbflow.core.facts import Facts
from ebbflow.core.facts import parse as parse_facts
from ebbflow.core.registry import registry
from ebbflow.core.rule_names import named
from ebbflow.core.settle import settle
from ebbflow.core.shape import Dims
from ebbflow.core.signature import Signature, parse
from ebbflow.core.tensor import EagerTensor, Tensor, _new, ndarray

MAX_SETTLED = 500
LONGEST_LIST = 16
"""An op remembers how it was called for this many kinds of arguments; more are settled each time."""


COMPLAINTS = (RuntimeWarning, FloatingPointError)
"""What NumPy raises for numbers out of range where the user made its warnings errors."""


class Known:
    """What a shape rule may know of one input: its dims and dtype, and its value where that is known already."""

    __slots__ = ("_source", "dims", "dtype")

    def __init__(self, dims: Dims, dtype: Any, source: Any = None):
        self.dims = dims
        self.dtype = dtype
        self._source = source

    @property
    def rank(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    @property
    def value(self) -> np.ndarray | None:
        """The input's value, or None where it is not known before running."""
        found = self._source
        return found if found is None or found.__class__ is ndarray else found.constant_value()

    @property
    def as_dims(self) -> Dims:
        """The value of an integer vector read as a shape, as far as it is known (-1 counts as unknown)."""
        found = self._source
        if found is not None and found.__class__ is not ndarray:
            return found.constant_dims()
        if found is None:
            return None if self.dims is None or self.dims[0] is None else (None,) * self.dims[0]
        return tuple(None if n < 0 else int(n) for n in found.reshape(-1))

    def __repr__(self) -> str:
        return f"{self.dtype.name}{'[?]' if self.dims is None else list(self.dims)}"


class Op:
    """One operation."""

    # Forms of its own that an op may have, set beside its declaration: an optimizer's step as a formula, and bound to
    # its variables; a call of functions without the results that nobody takes, and with values in the place of
    # variables; a result from the input's shape alone; a kernel of one array that does large ones better.
    formula: Any = None
    update: Any = None
    narrow: Any = None
    with_values: Any = None
    with_draws: Any = None
    from_dims_fn: Any = None
    large_fn: Any = None

    def __init__(self, text: str, facts: str = "", checks_first: bool = False, internal: bool = False):
        self.text = text
        self.facts_text = facts
        self.name = text[: text.index("(")].strip()
        self._signature: Signature | None = None
        self._unnamed: list[tuple[str, Any]] = []
        self._settled: dict[Any, tuple[dict[str, Any], Any, Any]] = {}
        self._results: Any = None
        self.kernel_fn: Any = None
        self.kernel_attrs: tuple[str, ...] = ()
        self.shape_fn: Any = None
        self.shape_attrs: tuple[str, ...] = ()
        self.gradient_fn: Any = None
        self.gradient_by_name_fn: Any = None
        self.engines: list[tuple[Callable[..., bool], Callable[..., Any]]] = []
        self.preparers: list[Callable[..., Any]] = []
        self.open_preparers: list[Callable[..., Any]] = []  # for open shapes: of inputs to outputs
        self.lowering_fn: Any = None
        self.lowering_attrs: tuple[str, ...] = ()
        self.checks_first = checks_first
        self.needs_run = False
        if internal:  # the compiler's own: no graph can name it
            registry.internal[self.name] = self
        else:
            registry.declare(self)

    # --- declaring --------------------------------------------------------------------------------------------------

    @property
    def signature(self) -> Signature:
        signature = self._signature
        if signature is None:
            signature = self._signature = parse(self.text)
            for role, rule in self._unnamed:
                named(rule, f"{self.name}.{role}")
            self._unnamed.clear()
        return signature

    def _name(self, rule: Any, role: str) -> None:
        """Have tracebacks call a rule declared as `def _` by the op and its role, from the op's first use on."""
        if self._signature is None:
            self._unnamed.append((role, rule))
        else:
            named(rule, f"{self.name}.{role}")

    @functools.cached_property
    def facts(self) -> Facts:
        """What is known of the op beyond its interface."""
        return parse_facts(self.facts_text)

    def kernel(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Declare how the op computes: `fn(xp, *arrays, **attrs it names)`."""
        self.kernel_fn = fn
        self._name(fn, "kernel")
        names = _keywords(fn)
        self.needs_run = "run" in names
        self.kernel_attrs = tuple(n for n in names if n != "run")
        return fn

    def shape(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Declare the shape rule: `fn(*knowns, **attrs it names)` gives dims, or a list of them for several outputs."""
        self.shape_fn = fn
        self._name(fn, "shape")
        self.shape_attrs = _keywords(fn)
        return fn

    def gradient(self, fn: Any) -> Any:
        """Declare the gradient: `fn(call, *grads of outputs)` gives a gradient (or None) per input tensor.

        A rule that is made for many ops brings its second form, by name, along as `fn.by_name`.
        """
        self.gradient_by_name_fn = getattr(fn, "by_name", self.gradient_by_name_fn)
        self.gradient_fn = fn
        self._name(fn, "gradient")
        return fn

    def from_dims(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Declare that a result follows from its input's shape alone: `fn(dims, NumPy's dtype)` gives the array, or
        None where too little of the shape is known.
        """
        self.from_dims_fn = fn
        self._name(fn, "from_dims")
        return fn

    def gradient_by_name(self, fn: Any) -> Any:
        """Declare the gradient node by node as TensorFlow 1 makes it, for graphs whose nodes programs look up by name.

        An op whose one rule makes those nodes anyway needs none. Which of the two is used is decided in one place:
        `eager.backprop.rule_of`.
        """
        self.gradient_by_name_fn = fn
        self._name(fn, "gradient_by_name")
        return fn

    def add_engine(self, wins: Callable[..., bool], kernel: Callable[..., Any]) -> None:
        """Offer a better kernel, used when `wins(arrays, attrs)` says so."""
        self.engines.append((wins, kernel))

    def prepare(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Offer a kernel made for given shapes: `fn(knowns, attrs, output dims)` (all flat, dims fully known) gives a
        function of the input arrays followed by the arrays to write the outputs into, or None where it would not pay.
        """
        self.preparers.append(fn)
        self._name(fn, "prepare")
        return fn

    def xla(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Declare how XLA computes the op, where its kernel cannot serve jax: `fn(jnp, *arrays, **attrs named)`."""
        self.lowering_fn = fn
        self._name(fn, "xla")
        self.lowering_attrs = _keywords(fn)
        return fn

    @functools.cached_property
    def stateful(self) -> bool:
        return "stateful" in self.signature.flags

    @functools.cached_property
    def keeps_state(self) -> bool:
        """Whether it matters when the op runs, and how often: it is stateful, or touches reference variables."""
        signature = self.signature
        return self.stateful or any(a.is_ref for a in (*signature.inputs, *signature.outputs))

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    # --- calling ----------------------------------------------------------------------------------------------------

    def __call__(self, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
        signature = self._signature or self.signature
        if len(inputs) != len(signature.inputs):
            inputs, attrs = self._bind(inputs, attrs)
        if context.graph_scopes:
            graph = context.current_graph()
            if graph is not None:
                return graph.call(self, inputs, attrs, name)
            if context.thread.devices and context.thread.devices[-1].task is not None:
                return self._call_at(context.thread.devices[-1].task, inputs, attrs)
        if signature.takes_lists:
            return self._call_with_lists(inputs, attrs)
        kinds = tuple([x._dtype if x.__class__ is EagerTensor else x.__class__ for x in inputs])
        key = (kinds, *attrs.items()) if attrs else kinds
        try:
            remembered = self._settled.get(key)
        except TypeError:  # an attr given as a list
            key = (kinds, *[(k, tuple(v) if v.__class__ is list else v) for k, v in attrs.items()])
            remembered = self._settled_or_none(key)
        if remembered is None:
            return self._call_converted(inputs, attrs, key)
        settled, outputs, numbers = remembered
        if numbers:
            inputs = tuple(_with_numbers(inputs, numbers))
        return self._execute(inputs, [x._array for x in inputs], settled, outputs)

    def _call_at(self, task: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Call at another task; what works on resources goes where they are."""
        tensors, settled = self.settle(inputs, attrs)
        flat = [t for group in tensors for t in (group if group.__class__ is list else (group,))]
        arrays = [[t._array for t in g] if g.__class__ is list else g._array for g in tensors]
        types = self.flat_output_types(settled)
        kinds = {t._dtype for t in flat} | set(types)
        if dtypes.resource in kinds or dtypes.variant in kinds or self.signature.functions:
            return self._execute(flat, arrays, settled, None)
        results = task.run(self, arrays, settled)
        given = [results] if self.signature.gives_one else results
        outputs = tuple(EagerTensor(as_array(r, t.np), t) for r, t in zip(given, types, strict=True))
        record(self, flat, outputs, settled)
        return outputs[0] if self.signature.gives_one else self.pack_outputs(outputs, settled)

    def _call_with_lists(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Call an op that takes lists; the settled attrs of an earlier call serve where all is tensors.

        Functions among the attrs are no part of what is remembered: it would keep them, and what they hold, for ever.
        """
        kinds: list[Any] = []
        for value in inputs:
            if value.__class__ is EagerTensor:
                kinds.append(value._dtype)
            elif value.__class__ is list and len(value) <= LONGEST_LIST:
                kinds.append(tuple([t._dtype if t.__class__ is EagerTensor else None for t in value]))
                if None in kinds[-1]:
                    return self._call_converted(inputs, attrs, None)
            else:
                return self._call_converted(inputs, attrs, None)
        functions = self.signature.functions
        bodies = {k: v for k, v in attrs.items() if k in functions and v is not None} if functions else {}
        rest = [(k, tuple(v) if v.__class__ is list else v) for k, v in attrs.items() if k not in functions]
        key = (tuple(kinds), *rest)
        remembered = self._settled_or_none(key)
        if remembered is None or len(bodies) != len(functions):
            return self._call_converted(inputs, attrs, key)
        settled, outputs, _ = remembered
        flat = [t for group in inputs for t in (group if group.__class__ is list else (group,))]
        arrays = [[t._array for t in g] if g.__class__ is list else g._array for g in inputs]
        return self._execute(flat, arrays, {**settled, **bodies} if bodies else settled, outputs)

    def _settled_or_none(self, key: Any) -> Any:
        try:
            return self._settled.get(key)
        except TypeError:
            return None

    def _bind(self, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Sort keyword arguments into inputs and attrs."""
        names = [arg.name for arg in self.signature.inputs]
        if len(inputs) > len(names):
            spare = [a for a in self.signature.attrs if a not in self.signature.inferred]
            extra = inputs[len(names) :]
            if len(extra) > len(spare):
                raise TypeError(f"{self.name} takes {len(names)} inputs ({', '.join(names)}), got {len(inputs)}")
            return inputs[: len(names)], {**dict(zip(spare, extra, strict=False)), **attrs}
        attrs = dict(attrs)
        bound = list(inputs)
        for arg in names[len(inputs) :]:
            if arg not in attrs:
                raise TypeError(f"{self.name} missing required argument: '{arg}'")
            bound.append(attrs.pop(arg))
        return tuple(bound), attrs

    def _call_converted(self, inputs: Sequence[Any], attrs: dict[str, Any], key: Any) -> Any:
        """Call the long way: convert and settle everything, and remember how for calls of the same kind."""
        try:
            tensors, settled = self.settle(inputs, attrs)
        except Exception as error:
            answer = self.form_for(inputs, attrs)
            if answer is not NotImplemented:
                return answer
            raise source.short(error) from None
        flat = [t for group in tensors for t in (group if group.__class__ is list else (group,))]
        if self.signature.takes_lists:
            if key is not None:
                self._keep(key, {k: v for k, v in settled.items() if k not in self.signature.functions}, ())
        else:
            self._remember(key, inputs, tensors, settled)
        arrays = [[t._array for t in g] if g.__class__ is list else g._array for g in tensors]
        return self._execute(flat, arrays, settled, None)

    def form_for(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Return what one of the inputs that is no tensor (a ragged one) says the op gives, or NotImplemented."""
        for value in inputs:
            for item in value if isinstance(value, (list, tuple)) else (value,):
                form = getattr(type(item), "_op_form", None)
                if form is not None:
                    return form(self, inputs, attrs)
        return NotImplemented

    def _remember(self, key: Any, inputs: Sequence[Any], tensors: list[Any], settled: dict[str, Any]) -> None:
        """Keep the settled attrs for later calls with tensors (and Python numbers) of the same kinds in the same
        places.
        """
        numbers = []
        for i, (given, tensor) in enumerate(zip(inputs, tensors, strict=True)):
            if given.__class__ is int or given.__class__ is float or given.__class__ is bool:
                if (
                    tensor._dtype is dtypes.int64
                    and self.signature.inputs[i].type is None
                    and not _decided(self, i, inputs)
                ):
                    return  # an int too large for int32: the next one may not be
                numbers.append((i, tensor._dtype))
            elif given.__class__ is not EagerTensor:
                return
        self._keep(key, settled, tuple(numbers))

    def _keep(self, key: Any, settled: dict[str, Any], numbers: tuple[Any, ...]) -> None:
        if len(self._settled) < MAX_SETTLED:
            try:
                self._settled[key] = (settled, self._output_types(settled), numbers)
            except TypeError:  # an attr that cannot be a key
                return

    def _execute(self, tensors: Sequence[Any], arrays: list[Any], attrs: dict[str, Any], types: Any) -> Any:
        """Run the kernel, wrap what it gives, and tell the recorders."""
        try:
            if self.checks_first:
                self.check(arrays, attrs)
            results = self.run(arrays, attrs)
        except Exception as error:
            try:
                results = self.retry(error, arrays, attrs)
            except Exception as explained:
                raise source.short(explained) from None
        if types is None:
            types = self._output_types(attrs)
        if types.__class__ is DType:
            result = _new(EagerTensor)
            result._array = (
                results if results.__class__ is ndarray and results.dtype is types.np else as_array(results, types.np)
            )
            result._dtype = types
            if context.recorders:
                record(self, tensors, (result,), attrs)
            return result
        outputs = self._wrap(results, types)
        if context.recorders:
            record(self, tensors, outputs, attrs)
        return self.pack_outputs(outputs, attrs)

    def run(self, arrays: list[Any], attrs: dict[str, Any], run: Any = None) -> Any:
        """Compute from arrays to an array, or a sequence of them for several outputs."""
        for wins, kernel in self.engines:
            if wins(arrays, attrs):
                return kernel(arrays, attrs)
        if self.kernel_attrs or self.needs_run:
            named = {key: attrs[key] for key in self.kernel_attrs}
            if self.needs_run:
                named["run"] = run if run is not None else eager_run
            return self.kernel_fn(np, *arrays, **named)
        return self.kernel_fn(np, *arrays)

    def bound(self, attrs: dict[str, Any], run: Any = None) -> Callable[..., Any]:
        """Return the op, with these attrs, as a function from one array per input tensor to what its kernel gives."""
        signature = self.signature
        if self.engines or self.checks_first or signature.takes_lists:

            def call(*arrays: Any) -> Any:
                grouped = signature.group_inputs(arrays, attrs)
                if self.checks_first:
                    self.check(grouped, attrs)
                return self.run(grouped, attrs, run)

            return call
        ufunc = getattr(self.kernel_fn, "ufunc", None)
        if ufunc is not None:
            return ufunc
        named = {key: attrs[key] for key in self.kernel_attrs}
        if self.needs_run:
            named["run"] = run
        return functools.partial(self.kernel_fn, np, **named)

    def retry(self, error: Exception, arrays: list[Any], attrs: dict[str, Any], run: Any = None) -> Any:
        """Answer a kernel's failure: run again where only a warning stood in the way, else raise what explains it."""
        if isinstance(error, COMPLAINTS):
            with np.errstate(all="ignore"):
                return self.run(arrays, attrs, run)
        if isinstance(error, RunElsewhere):
            return error.run(self, arrays, attrs)
        raise self.explain(error, arrays, attrs)

    def explain(self, error: Exception, arrays: list[Any], attrs: dict[str, Any]) -> Exception:
        """Return the error to show for a kernel's failure."""
        if isinstance(error, errors.OpError):
            return error if error.op is not None else tagged(error, self)
        if isinstance(error, MemoryError):
            return errors.ResourceExhaustedError(None, None, f"out of memory: {error} [Op:{self.name}]")
        if self.shape_fn is not None:
            try:
                self.infer(known_arrays(self, arrays, attrs), attrs)
            except errors.OpError as explained:
                return tagged(explained, self)
            except (ValueError, TypeError) as explained:
                error = explained
        return errors.InvalidArgumentError(None, None, f"{error} [Op:{self.name}]")

    def check(self, arrays: list[Any], attrs: dict[str, Any]) -> None:
        """Ask the shape rule before running."""
        if self.shape_fn is not None:
            self.infer(known_arrays(self, arrays, attrs), attrs)

    def infer(self, knowns: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Return what the shape rule says: dims, or a list of dims for an op with several outputs."""
        if self.shape_attrs:
            return self.shape_fn(*knowns, **{key: attrs[key] for key in self.shape_attrs})
        return self.shape_fn(*knowns)

    # --- types and structure ----------------------------------------------------------------------------------------

    def settle(
        self, inputs: Sequence[Any], attrs: dict[str, Any], convert: Callable[..., Tensor] = convert
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return the inputs as tensors (a list where the op takes one) and every attr's value."""
        return settle(self.name, self.signature, inputs, normalise(self, attrs) if attrs else {}, convert)

    def _output_types(self, attrs: dict[str, Any]) -> Any:
        """Return the one output's DType, or a list with a DType (or list of them) per declared output."""
        args = self.signature.outputs
        if self.signature.gives_one:
            return args[0].types(attrs)[0]
        return [arg.types(attrs) if arg.is_list else arg.types(attrs)[0] for arg in args]

    def flat_output_types(self, attrs: dict[str, Any]) -> list[DType]:
        """Return a DType per output tensor; a reference output has the reference type."""
        return [t._as_ref if arg.is_ref else t for arg in self.signature.outputs for t in arg.types(attrs)]

    def _wrap(self, results: Any, types: list[Any]) -> tuple[EagerTensor, ...]:
        if not types:
            return ()
        flat_types = [t for group in types for t in (group if group.__class__ is list else (group,))]
        arrays = list(self.signature.flat_results(results))
        outputs = []
        for array, dtype in zip(arrays, flat_types, strict=True):
            tensor = _new(EagerTensor)
            tensor._array = (
                array if array.__class__ is ndarray and array.dtype is dtype.np else as_array(array, dtype.np)
            )
            tensor._dtype = dtype
            outputs.append(tensor)
        return tuple(outputs)

    def pack_outputs(self, outputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Arrange flat outputs as the caller sees them: one tensor, a list, a named tuple, or None."""
        args = self.signature.outputs
        if len(args) == 1:
            return list(outputs) if args[0].is_list else outputs[0]
        if not args:
            return None
        if self._results is None:
            self._results = namedtuple(self.name, [a.name for a in args], rename=True)  # type: ignore[misc]
        if not self.signature.gives_lists_among:
            return self._results(*outputs)
        return self._results(*self.signature.group_outputs(outputs, attrs))


def op(
    text: str,
    facts: str = "",
    *,
    shape: Any = None,
    kernel: Any = None,
    gradient: Any = None,
    checks_first: bool = False,
    internal: bool = False,
) -> Op:
    """Declare an op by its interface line and its facts; shape rule, kernel and gradient follow as decorators."""
    declared = Op(text, facts, checks_first, internal)
    if shape is not None:
        declared.shape(shape)
    if kernel is not None:
        declared.kernel(kernel)
    if gradient is not None:
        declared.gradient(gradient)
    return declared


def _with_numbers(inputs: Sequence[Any], numbers: Sequence[tuple[int, DType]]) -> list[Any]:
    """Return the inputs with Python numbers made tensors of the dtypes they had before."""
    made = list(inputs)
    for i, dtype in numbers:
        made[i] = convert(made[i], dtype)
    return made


def _decided(op: Op, index: int, inputs: Sequence[Any]) -> bool:
    """Return whether a tensor among the inputs decides the type of input `index`."""
    attr = op.signature.inputs[index].type_attr
    return any(
        a.type_attr == attr and x.__class__ is EagerTensor for a, x in zip(op.signature.inputs, inputs, strict=True)
    )


def known_arrays(op: Op, arrays: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    """Return `Known`s for arrays that are at hand."""
    return [
        [Known(a.shape, None, a) for a in group] if group.__class__ is list else Known(group.shape, None, group)
        for group in arrays
    ]


_thread = context.thread

TYPED: dict[DType, dict[str, Any]] = {dtype: {"T": dtype} for dtype in dtypes.ALL}
"""The attrs of a call that has only its type: made once, shared by all that quick paths record."""


def record(op: Op, inputs: Sequence[Any], outputs: Sequence[Any], attrs: dict[str, Any]) -> None:
    """Tell this thread's recorders of a call."""
    for recorder in _thread.recorders:
        recorder.record(op, inputs, outputs, attrs)


def tagged(error: errors.OpError, op: Op) -> errors.OpError:
    """Return `error` with the op's name at the end of its message, once."""
    tag = f"[Op:{op.name}]"
    message = error.message if tag in error.message else f"{error.message} {tag}"
    if isinstance(error, errors.StaticShapeError):  # nothing static about it here: a value was there
        return errors.InvalidArgumentError(None, None, message)
    error._message = message
    return error


def _keywords(fn: Callable[..., Any]) -> tuple[str, ...]:
    if isinstance(fn, np.ufunc):
        return ()
    fn = getattr(fn, "__wrapped__", fn)
    code = getattr(fn, "__code__", None)
    if code is not None:
        start = code.co_argcount
        return code.co_varnames[start : start + code.co_kwonlyargcount]
    return tuple(p.name for p in inspect.signature(fn).parameters.values() if p.kind is p.KEYWORD_ONLY)


class EagerRun:
    """What a kernel that keeps state may ask of its surroundings when ops run at once."""

    node = None

    def __init__(self) -> None:
        self.resources: dict[Any, Any] = {}
        self.session = self


eager_run = EagerRun()
