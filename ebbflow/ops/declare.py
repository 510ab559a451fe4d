"""How op families are declared: rows for element-wise ops, shape rules that many ops share, quick public functions.

A row is one statement: name, array function, slope, and the types where they are not the usual ones. `FLAT` says that
no gradient flows; silence would mean that somebody forgot. Gradients of broadcasting ops are summed down to the inputs'
shapes by `reduce_to`. Knows no single op; reaches them by name through `raw`. Imported by the files of this room.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.context import thread
from ebbflow.core.convert import at_hand, convert, instant
from ebbflow.core.dtypes import DType
from ebbflow.core.op import TYPED, Known, Op, op
from ebbflow.core.registry import registry
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims, broadcast_dims, merge_dims
from ebbflow.core.signature import GROUPS
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor, Tensor, _new, ndarray, wrap
from ebbflow.core.typing import TensorLike
from ebbflow.ops.parts import in_parts

# An infinity or a NaN is an answer, not an event: NumPy's remarks about them stay inside the kernels.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"ebbflow\.")


class _Flat:
    def __repr__(self) -> str:
        return "FLAT"


FLAT: Any = _Flat()
"""The gradient of an op through which none flows."""


class _Undefined:
    def __repr__(self) -> str:
        return "UNDEFINED"


UNDEFINED: Any = _Undefined()
"""The gradient of an op that has none though its values are differentiable: asking for it is an error."""


class _Raw:
    """All declared ops by name: `raw.Sum(x, axes, keep_dims=True)`.

    Gradient rules and compositions reach ops of other families through it, so that the families need not import each
    other in a circle. An op not met yet is declared then.
    """

    def __getattr__(self, name: str) -> Op:
        try:
            found = registry[name]
        except KeyError:
            raise AttributeError(f"no op named {name!r} is declared") from None
        self.__dict__[name] = found
        return found


raw: Any = _Raw()


# --- shape rules ------------------------------------------------------------------------------------------------------


def mismatch(message: str, **args: Known) -> errors.StaticShapeError:
    """Return the error for inputs that do not match; the arguments named are shown with their shapes."""
    shown = "".join(f"\n  {name}: {arg!r}" for name, arg in args.items())
    return errors.StaticShapeError(message + shown)


def show(dims: Dims) -> str:
    """Return dims as TensorFlow's messages write them: [2,3], or <unknown>."""
    return "<unknown>" if dims is None else "[" + ",".join("?" if n is None else str(n) for n in dims) + "]"


def same(x: Known, *others: Known) -> Dims:
    """The output has the shape of the first input."""
    return x.dims


def merged(x: Known, *others: Known) -> Dims:
    """All inputs have one shape, and so has the output."""
    dims = x.dims
    for other in others:
        try:
            dims = merge_dims(dims, other.dims)
        except ValueError:
            raise errors.StaticShapeError(f"Dimensions must be equal: {show(x.dims)} and {show(other.dims)}") from None
    return dims


def broadcast(x: Known, y: Known) -> Dims:
    """The output has the shape that the two inputs broadcast to."""
    try:
        return broadcast_dims(x.dims, y.dims)
    except ValueError:
        error = errors.StaticShapeError(f"Incompatible shapes: {show(x.dims)} vs. {show(y.dims)}")
        error.when_building = f"Dimensions must be equal, but are {_first_clash(x.dims, y.dims)}"
        raise error from None


def _first_clash(x: Dims, y: Dims) -> str:
    """Return the first two lengths, from the left, that do not broadcast, as words."""
    pairs = list(zip(reversed(x or ()), reversed(y or ()), strict=False))
    for a, b in reversed(pairs):
        if a is not None and b is not None and a != b and 1 not in (a, b):
            return f"{a} and {b}"
    return "not"


def scalar(*inputs: Known) -> Dims:
    """The output is a scalar."""
    return ()


def unknown(*inputs: Known) -> Dims:
    """Nothing is known about the output's shape before running."""
    return None


def with_rank(arg: Known, rank: int, name: str) -> Dims:
    """Return the input's dims, which must have this rank (all unknown where the rank is)."""
    if arg.dims is None:
        return (None,) * rank
    if len(arg.dims) != rank:
        raise errors.StaticShapeError(
            f"{name} must be {_RANKS.get(rank, f'of rank {rank}')}, but its shape is {show(arg.dims)}"
        )
    return arg.dims


_RANKS = {0: "a scalar", 1: "a vector", 2: "a matrix"}


def one_axis(axis: int, rank: int, name: str = "axis", extra: int = 0) -> int:
    """Return `axis` counted from the front, for a tensor of this rank (`extra` 1 lets it point behind the last)."""
    room = rank + extra
    if not -room <= axis < room:
        raise errors.StaticShapeError(f"{name} = {axis} is not in [{-room}, {room})")
    return int(axis) + room if axis < 0 else int(axis)


# --- rows -------------------------------------------------------------------------------------------------------------


def unary(
    name: str,
    fn: str | Callable[..., Any],
    slope: Any = None,
    types: str = "floats_complex",
    result: str = "T",
    arg: str = "x",
    out: str = "y",
    backward: Callable[..., Any] | None = None,
    facts: str = "",
) -> Op:
    """Declare y = f(x), element by element.

    `fn` is the name of an array function, or a kernel `(xp, x)`. `slope(x, y)` is dy/dx in terms of ops, or FLAT; of
    complex numbers it sees conjugates. Where the gradient is an op of its own, `backward(grad, x, y)` says it instead.
    """
    text = f"{name}({arg}:T) -> ({out}:{result}) | T: {_types(types)}"
    declared = op(text, f"elementwise {facts}", shape=same)
    declared.kernel(in_parts(array_function(fn), 1))
    declared.gradient(FLAT if slope is FLAT else _slope_rule(slope) if backward is None else _backward_rule(backward))
    return declared


def binary(
    name: str,
    fn: str | Callable[..., Any],
    dx: Any,
    dy: Any,
    types: str = "numbers",
    result: str = "T",
    flags: str = "",
    args: str = "x y",
    out: str = "z",
    conjugates: bool = True,
    settles_shapes: bool = False,
    facts: str = "",
) -> Op:
    """Declare z = f(x, y), element by element with broadcasting.

    `dx(grad, x, y, z)` and `dy(grad, x, y, z)` are the gradients before they are summed down to the inputs' shapes, or
    FLAT. Of complex numbers they see conjugates, unless TensorFlow's rule for this op forgets to. `settles_shapes` is
    explained at `binary_gradient`.
    """
    first, second = args.split()
    text = f"{name}({first}:T, {second}:T) -> ({out}:{result}) | T: {_types(types)}" + (f" | {flags}" if flags else "")
    declared = op(text, f"elementwise broadcasts {facts}", shape=broadcast)
    declared.kernel(in_parts(array_function(fn), 2))
    declared.gradient(FLAT if dx is FLAT and dy is FLAT else binary_gradient(dx, dy, conjugates, settles_shapes))
    return declared


def _types(types: str) -> str:
    return types if types in GROUPS else f"type in [{types}]"


def array_function(fn: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel that calls the array function named `fn`; a function is a kernel already."""
    if not isinstance(fn, str):
        return fn
    ufunc = getattr(np, fn)

    def kernel(xp: Any, *arrays: Any) -> Any:
        return ufunc(*arrays) if xp is np else getattr(xp, fn)(*arrays)

    kernel.ufunc = ufunc  # type: ignore[attr-defined]
    return kernel


def in_float32(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Have a kernel of floats (one without attrs) compute 16-bit ones in float32 and round once, as TensorFlow does."""

    @functools.wraps(kernel)
    def widened(xp: Any, *arrays: Any) -> Any:
        dtype = arrays[0].dtype
        if dtype.itemsize != 2:
            return kernel(xp, *arrays)
        return kernel(xp, *[a.astype(np.float32) for a in arrays]).astype(dtype)

    return widened


# --- gradient rules ---------------------------------------------------------------------------------------------------


def dense(grad: Any) -> Any:
    """Return a gradient as a tensor, adding up the rows of IndexedSlices."""
    return convert(grad) if grad.__class__ is IndexedSlices else grad


def _slope_rule(slope: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def gradient(call: Any, grad: Any) -> Any:
        x, y = call.inputs[0], call.outputs[0]
        if x.dtype.is_complex:
            x, y = raw.Conj(x), raw.Conj(y)
        return dense(grad) * slope(x, y)

    gradient.alike = lambda grad, x, _, y, by_x, by_none: (grad * slope(x, y), None)  # type: ignore[attr-defined]
    return gradient


def _backward_rule(backward: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    def gradient(call: Any, grad: Any) -> Any:
        return backward(dense(grad), call.inputs[0], call.outputs[0])

    gradient.alike = lambda grad, x, _, y, by_x, by_none: (backward(grad, x, y), None)  # type: ignore[attr-defined]
    return gradient


_BOTH = (True, True)


def binary_gradient(dx: Any, dy: Any, conjugates: bool = True, settles_shapes: bool = False) -> Callable[..., Any]:
    """Return the gradient rule of a broadcasting op from `dx(grad, x, y, z)` and `dy(grad, x, y, z)`.

    Its second form, by name, is `gradient.by_name`; what it comes to where no number is complex and each input whose
    gradient is wanted has the shape of the output, like the gradient, is `gradient.alike`. `settles_shapes`:
    TensorFlow's rule for the op looks at static shapes first, and leaves out what they make needless.
    """

    def operands(call: Any, grad: Any) -> tuple[Any, ...]:
        (x, y), (z,) = call.inputs, call.outputs
        if grad.__class__ is IndexedSlices:
            grad = dense(grad)
        if conjugates and x._dtype.is_complex:
            return grad, raw.Conj(x), raw.Conj(y), raw.Conj(z)
        return grad, x, y, z

    def gradient(call: Any, grad: Any) -> tuple[Any, Any]:
        grad, x, y, z = operands(call, grad)
        by_x, by_y = call.wanted or _BOTH
        return (
            reduce_to(dx(grad, x, y, z), x, y) if by_x and dx is not FLAT else None,
            reduce_to(dy(grad, x, y, z), y, x) if by_y and dy is not FLAT else None,
        )

    def by_name(call: Any, grad: Any) -> tuple[Any, Any]:
        grad, x, y, z = operands(call, grad)
        down = sums_down(x, y, settles_shapes)
        return (
            down(dx(grad, x, y, z), 0) if dx is not FLAT and call.wants(0) else None,
            down(dy(grad, x, y, z), 1) if dy is not FLAT and call.wants(1) else None,
        )

    def alike(grad: Any, x: Any, y: Any, z: Any, by_x: bool, by_y: bool) -> tuple[Any, Any]:
        return (
            dx(grad, x, y, z) if by_x and dx is not FLAT else None,
            dy(grad, x, y, z) if by_y and dy is not FLAT else None,
        )

    gradient.by_name, gradient.alike = by_name, alike  # type: ignore[attr-defined]
    return gradient


def names_matter() -> bool:
    """Return whether nodes are being made whose names programs may look up, by TensorFlow's names.

    Rules then take TensorFlow's steps, even where fewer would do; eagerly, and in bodies of functions, they take fewer.
    """
    if not context.graph_scopes:
        return False
    graph = context.current_graph()
    return graph is not None and not graph.building_function


def sums_down(x: Any, y: Any, settles_shapes: bool = False) -> Callable[[Any, int], Any]:
    """Return the function that sums a gradient of what `x` and `y` broadcast to down to the shape of one of them."""
    if not names_matter():
        return lambda grad, side: reduce_to(grad, y, x) if side else reduce_to(grad, x, y)
    if settles_shapes and all(t._dims is not None and None not in t._dims for t in (x, y)):
        return _sums_down_as_known(x._dims, y._dims)
    shapes = [raw.Shape(t) if settles_shapes else shape_node(t) for t in (x, y)]
    axes = raw.BroadcastGradientArgs(*shapes)
    return lambda grad, side: raw.Reshape(raw.Sum(grad, axes[side]), shapes[side])


def shape_node(x: Any, name: str = "Shape", dtype: DType = dtypes.int32) -> Any:
    """Return the shape of a tensor as a node of the graph: a Const where it is known, else a Shape."""
    if x._dims is None or None in x._dims:
        return raw.Shape(x, out_type=dtype, name=name)
    return context.current_graph().constant(np.array(x._dims, dtype.np), dtype, name)


def zeros_shaped_as(x: Any) -> Any:
    """Return zeros of the shape and dtype of `x`; spelled out, they are made from its shape."""
    if not names_matter():
        return raw.ZerosLike(x)
    shape = shape_node(x)
    with name_scope("zeros") as scope:
        return raw.Fill(shape, constant_like(0, x), name=scope)


def constant_like(value: float, x: Any, name: str = "Const") -> Any:
    """Return a number as a scalar of the dtype of `x`; in a graph, as a node called `name`."""
    if context.graph_scopes:
        graph = context.current_graph()
        if graph is not None:
            dtype = x.dtype.base_dtype
            return graph.constant(np.array(value, dtype.np), dtype, name)
    return _scalar(value, x._dtype)


@functools.lru_cache(maxsize=256)
def _scalar(value: float, dtype: DType) -> EagerTensor:
    return wrap(np.array(value, dtype.np), dtype)


def _sums_down_as_known(x: Dims, y: Dims) -> Callable[[Any, int], Any]:
    if x == y:
        return lambda grad, side: grad
    raw.BroadcastGradientArgs(list(x), list(y))  # type: ignore[arg-type]  # used by nobody, and there in TensorFlow
    dims = (x, y)

    def down(grad: Any, side: int) -> Any:
        axes = axes_to_sum(dims[side], dims[1 - side])
        if not axes:
            return grad
        return raw.Reshape(raw.Sum(grad, axes_tensor(axes)), axes_tensor(dims[side]))

    return down


def axes_to_sum(wanted: Dims, other: Dims) -> tuple[int, ...]:
    """Return the axes of what `wanted` and `other` broadcast to along which `wanted` was stretched."""
    added, lengthened = stretched_axes(wanted, other)  # type: ignore[misc]
    return (*added, *[axis + len(added) for axis in lengthened])


def reduce_to(grad: Any, x: Any, other: Any) -> Any:
    """Return `grad` summed over the axes along which `x` was stretched to meet `other`: it has the shape of `x`."""
    wanted = x._dims
    if wanted is not None and wanted == grad._dims and None not in wanted:
        return grad
    stretched = stretched_axes(wanted, other._dims)
    if stretched is None:
        shape = raw.Shape(x)
        axes, _ = raw.BroadcastGradientArgs(shape, raw.Shape(other))
        return raw.Reshape(raw.Sum(grad, axes), shape)
    added, lengthened = stretched
    if added:
        grad = sum_over(grad, added)
    return sum_over(grad, lengthened, keep_dims=True) if lengthened else grad


def stretched_axes(wanted: Dims, other: Dims) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the axes that broadcasting against `other` added in front, and those of length 1 that it lengthened.

    The second are counted after the first are gone. None: that cannot be told before running.

    >>> stretched_axes((1, 3), (2, 4, 3)), stretched_axes((None, 3), (3,)), stretched_axes((None,), (5,))
    (((0,), (0,)), ((), ()), None)
    """
    if wanted is None or other is None:
        return None
    lead = len(other) - len(wanted)
    lengthened = []
    for axis, length in enumerate(wanted):
        beside = other[axis + lead] if axis + lead >= 0 else 1
        if beside == 1 or (length is not None and length != 1):
            continue
        if length is None:
            return None
        lengthened.append(axis)
    return tuple(range(max(lead, 0))), tuple(lengthened)


def sum_over(x: Any, axes: tuple[int, ...], keep_dims: bool = False) -> Any:
    """Return `x` summed over axes known beforehand."""
    return raw.Sum.function(x, axes, keep_dims)


@functools.lru_cache(maxsize=256)
def axes_tensor(axes: tuple[int, ...]) -> EagerTensor:
    """Return axes (or dims) as an eager int32 vector, the same one for the same axes."""
    return wrap(np.array(axes, np.int32), dtypes.int32)


# --- quick public functions -------------------------------------------------------------------------------------------
#
# On eager tensors the kernel is called straight away when nothing unusual is going on. Which dtypes the op takes, and
# what it gives, is learnt from the first call with each dtype, which goes the long way (or is refused there).

LARGE = 1 << 13
"""Elements from which on a call is worth an engine's own loop: NumPy takes tens of microseconds for them."""


def quick_unary(op: Op, name: str, doc: str, arg: str = "x", scope: str | None = None) -> Callable[..., Any]:
    """Return the public function of a one-input op, which costs little more than its kernel on eager tensors.

    The node in a graph has the op's name; where TensorFlow has it in a scope, `scope` says which.
    """
    long_way, label, engines = _scoped(op, scope), scope or op.name, op.engines
    learnt: dict[DType, tuple[DType, Callable[..., Any], Callable[..., Any] | None]] = {}

    def function(x: TensorLike, name: str | None = None) -> Tensor:
        if x.__class__ is EagerTensor and not context.graph_scopes and not engines:
            try:
                out, kernel, large = learnt[x._dtype]
            except KeyError:
                pass
            else:
                array = x._array
                try:
                    value = kernel(array) if large is None or array.size < LARGE else large(array)
                except Exception:  # the long way explains it
                    return op(x)
                result = _new(EagerTensor)
                result._array = value if value.__class__ is ndarray else np.asarray(value, out.np)
                result._dtype = out
                if context.recorders:
                    for recorder in thread.recorders:
                        recorder.note(op, TYPED[x._dtype], result, x)
                return result
        if x.__class__ in instant and not context.graph_scopes:
            now = at_hand(x)
            if now is not x:
                return function(now, name)
        result = long_way(x, name=name or label)
        if result.__class__ is EagerTensor is x.__class__:
            learnt[x._dtype] = result._dtype, array_kernel(op, x._dtype), large_kernel(op, x._dtype)
        return result

    return public(function, name, doc, op, arg)


def quick_binary(
    op: Op, name: str, doc: str, args: str = "x y", node: str | None = None, scope: str | None = None
) -> Callable[..., Any]:
    """Return the public function of a two-input op, quick where both are eager tensors of one dtype.

    The node in a graph has the op's name, or the name `node`; where TensorFlow has it in a scope, `scope` says which.
    """
    long_way, label, engines = _scoped(op, scope), scope or node or op.name, op.engines
    learnt: dict[DType, tuple[DType, Callable[..., Any]]] = {}

    def function(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
        if x.__class__ is EagerTensor is y.__class__ and not context.graph_scopes and not engines:
            dtype = x._dtype
            found = learnt.get(dtype)
            if found is not None and y._dtype is dtype:
                out, kernel = found
                try:
                    value = kernel(x._array, y._array)
                except Exception:  # the long way explains it
                    return op(x, y)
                result = _new(EagerTensor)
                result._array = value if value.__class__ is ndarray else np.asarray(value, out.np)
                result._dtype = out
                if context.recorders:
                    for recorder in thread.recorders:
                        recorder.note(op, TYPED[dtype], result, x, y)
                return result
        if (x.__class__ in instant or y.__class__ in instant) and not context.graph_scopes:
            now = at_hand(x), at_hand(y)
            if now[0].__class__ is EagerTensor is now[1].__class__:
                return function(*now, name)
        result = long_way(x, y, name=name or label)
        if result.__class__ is EagerTensor is x.__class__:
            learnt[x._dtype] = result._dtype, array_kernel(op, x._dtype)
        return result

    return public(function, name, doc, op, args)


def _scoped(op: Op, scope: str | None) -> Callable[..., Any]:
    """Return the op, or a function that calls it under its own name inside the scope it is given as name."""
    if scope is None:
        return op

    def call(*inputs: Any, name: str) -> Any:
        with name_scope(name, None, inputs):
            return op(*inputs)

    return call


def array_kernel(op: Op, dtype: DType) -> Callable[..., Any]:
    """Return an op's kernel (one without attrs) as a function of NumPy arrays of one dtype.

    A kernel may have a quicker form for a dtype: `kernel.for_dtype(dtype)` gives it, or None. That of two arrays has an
    engine's form for large ones in it.
    """
    found = _plain_kernel(op, dtype)
    large = large_kernel(op, dtype) if len(op.signature.inputs) > 1 else None
    if large is None:
        return found

    def sized(x: Any, y: Any) -> Any:
        return found(x, y) if x.size < LARGE else large(x, y)

    return sized


def _plain_kernel(op: Op, dtype: DType) -> Callable[..., Any]:
    kernel: Any = op.kernel_fn
    found = getattr(kernel, "ufunc", None) or getattr(kernel, "for_dtype", lambda dtype: None)(dtype)
    return functools.partial(kernel, np) if found is None else found


def large_kernel(op: Op, dtype: DType) -> Callable[..., Any] | None:
    """Return what an engine has in place of `array_kernel` for arrays of at least `LARGE` elements, or None."""
    return None if op.large_fn is None else op.large_fn(dtype, _plain_kernel(op, dtype))


def public(function: Any, name: str, doc: str, op: Op, args: str) -> Callable[..., Any]:
    """Name a function made here as its users know it: itself, its arguments, its module, its docstring."""
    names = args.split()
    code = function.__code__
    function.__code__ = code.replace(co_varnames=(*names, *code.co_varnames[len(names) :]))
    function.__annotations__ = dict.fromkeys(names, "TensorLike") | {"name": "str | None", "return": "Tensor"}
    function.__name__ = function.__qualname__ = name
    function.__module__ = sys._getframe(2).f_globals["__name__"]
    function.__doc__ = doc
    function.op = op
    return function
