"""Python functions as ops: a node names a function by a token, and calls it when it runs.

`PyFunc` hands the function NumPy arrays and takes arrays back; `EagerPyFunc` hands it eager tensors, and what runs and
differentiates it is in `eager.py_function`. The table of tokens does not keep functions alive: each is kept by the
graphs whose nodes call it, and goes with them. What a function raises becomes an error of the op, with the function's
own traceback in its words.
"""

from __future__ import annotations

import contextlib
import itertools
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors, nest
from ebbflow.core.convert import convert, to_array
from ebbflow.core.dtypes import DType
from ebbflow.core.op import Op, op
from ebbflow.core.source import PACKAGE
from ebbflow.core.typing import Nested
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid

_CALL = "(input:list(Tin)) -> (output:list(Tout)) | token: string; {}Tin: list(type) >= 0; Tout: list(type) >= 0"
PyFunc = op("PyFunc" + _CALL.format("") + " | stateful", gradient=FLAT, facts="waits")
PyFuncStateless = op("PyFuncStateless" + _CALL.format(""), gradient=FLAT, facts="waits")
EagerPyFunc = op("EagerPyFunc" + _CALL.format("is_async: bool = false; ") + " | stateful", facts="waits")

IN_PYTHON = (PyFunc, PyFuncStateless, EagerPyFunc)
"""The ops that call functions in Python."""

for _declared in IN_PYTHON:
    _declared.shape(lambda input, *, Tout: [None] * len(Tout))


@PyFuncStateless.kernel
@PyFunc.kernel
def _(xp, input, *, token, Tout):
    return find(token).of_arrays(input, Tout)


@EagerPyFunc.kernel
def _(xp, input, *, token, Tin, run):
    return find(token).of_node(input, Tin, run.node)


@EagerPyFunc.gradient
def _(call, *grads):
    return find(call.attrs["token"]).backward(call, grads)


# --- functions and their tokens ---------------------------------------------------------------------------------------

REFUSED = "refused: "
"""How the token begins, of a node of a file that must not call Python; then it says why."""

_functions: weakref.WeakValueDictionary[str, Function] = weakref.WeakValueDictionary()
_numbers = itertools.count()


class Function:
    """A Python function that nodes can call."""

    def __init__(self, function: Callable[..., Any]):
        if not callable(function):
            raise ValueError(f"Expected func to be callable. Received func={function} of type {type(function)}.")
        self.function = function
        self.token = f"pyfunc_{next(_numbers)}"
        _functions[self.token] = self

    def of_arrays(self, arrays: Sequence[np.ndarray], types: Sequence[DType]) -> list[np.ndarray]:
        """Return what the function gives for these arrays (scalars as NumPy scalars), which it may write to."""
        given = [a[()] if not a.ndim else a.copy() for a in arrays]
        with reported(), context.eager_scope() if context.switches.eager_by_default else contextlib.nullcontext():
            result = several(self.function(*given))
        found = [_array(value) for value in result]
        self.check_count(len(found), len(types))
        for i, (array, dtype) in enumerate(zip(found, types, strict=True)):
            if array.dtype != dtype.np:
                kind = dtypes.c_name(dtypes.from_numpy(array.dtype) if array.dtype != object else dtypes.string)
                raise invalid(f"{i}-th value returned by {self.token} is {kind}, but expects {dtypes.c_name(dtype)}")
        return found

    def check_count(self, found: int, wanted: int) -> None:
        """Refuse another number of results than the node has outputs."""
        if found != wanted:
            raise invalid(f"{self.token} returns {found} values, but expects to see {wanted} values.")


def find(token: str) -> Function:
    """Return the function of a token."""
    found = _functions.get(token)
    if found is None and token.startswith(REFUSED):
        raise errors.PermissionDeniedError(None, None, token.removeprefix(REFUSED))
    if found is None:
        raise invalid(f"ValueError: callback {token} is not found")
    return found


def keep(function: Function) -> None:
    """Have the graph being built, and those around it, keep a function alive."""
    graph = context.current_graph()
    while graph is not None:
        graph.__dict__.setdefault("_py_funcs_used_in_graph", []).append(function)
        graph = getattr(graph, "_around", None)


def several(result: Any) -> list[Any]:
    """Return a function's result as a list: none for None, several for a tuple or list."""
    if result is None:
        return []
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _array(value: Any) -> np.ndarray:
    """Return a copy of one result, which the function may go on changing, as an array of a dtype we have."""
    found = np.array(value, order="C")
    if found.dtype.kind not in "USO":
        return found
    try:
        return to_array(value, dtypes.string)[0]
    except (TypeError, ValueError):
        kind = next((type(x).__name__ for x in found.reshape(-1) if not isinstance(x, (str, bytes))), "object")
        raise errors.InternalError(None, None, f"Unsupported object type {kind}") from None


# --- errors -----------------------------------------------------------------------------------------------------------

_CLASSES: tuple[tuple[Any, Any], ...] = (
    (errors.OpError, errors.UnknownError),
    ((ValueError, TypeError), errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    (Exception, errors.UnknownError),
)
"""What an exception inside a function becomes; the first that fits."""


class reported:  # noqa: N801  (reads as a word: `with reported():`)
    """Turn what the user's function raises inside the block into an error of the op that calls it."""

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        for theirs, ours in _CLASSES:
            if isinstance(error, theirs):
                raise ours(None, None, f"{type(error).__name__}: {error}{_users_traceback(error)}") from error


def _users_traceback(error: BaseException) -> str:
    """Return the traceback as text, from the first frame that is not ours on; nothing where there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    shown = list(itertools.dropwhile(lambda frame: frame.filename.startswith(PACKAGE), frames))
    if not shown:
        return ""
    lines = [*traceback.format_list(shown), *traceback.format_exception_only(type(error), error)]
    return "\nTraceback (most recent call last):\n\n" + "\n".join(lines)


# --- calling from Python ----------------------------------------------------------------------------------------------


def py_func(
    func: Callable[..., Any], inp: Sequence[Any], Tout: Nested, stateful: bool = True, name: str | None = None
) -> Nested:
    """Return what `func` gives for the values of `inp` as NumPy arrays; `Tout` says the dtypes of its results.

    >>> py_func(lambda x, y: x + y, [1.5, 2.0], dtypes.float32).numpy()
    np.float32(3.5)
    """
    if context.executing_eagerly():
        return _eagerly(func, inp)
    return in_graph(PyFunc if stateful else PyFuncStateless, Function(func), inp, Tout, name)


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Nested = None,
    stateful: bool = True,
    name: str | None = None,
) -> Nested:
    """Return what `func` gives for the values of `inp` as NumPy arrays; without `func`, a decorator that does so.

    >>> numpy_function(np.sum, [[1.0, 2.0]], dtypes.float32).numpy()
    np.float32(3.0)
    """
    if func is None:
        return decorator(numpy_function, Tout=Tout, stateful=stateful, name=name)
    return py_func(func, inp or (), Tout, stateful=stateful, name=name)


def decorator(call: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """Return a decorator: the function decorated then goes through `call` with its arguments as `inp`."""
    return lambda function: lambda *inp: call(function, inp, **settings)


def _eagerly(func: Callable[..., Any], inp: Sequence[Any]) -> Any:
    """Call the function at once; what it raises reaches the caller as it is."""
    result = nest.flatten(func(*[np.array(convert(x)) for x in inp]))
    tensors = [x if x is None else convert(x) for x in result]
    return tensors[0] if len(tensors) == 1 else tensors


def in_graph(declared: Op, function: Function, inp: Any, Tout: Any, name: str | None) -> Any:
    """Add the node that calls a function; return a tensor, a list of them, or the node where there are none."""
    types = [as_output_type(t) for t in (Tout if isinstance(Tout, (list, tuple)) else [Tout])]
    keep(function)
    outputs = declared(list(inp), token=function.token, Tout=types, name=name)
    return outputs if isinstance(Tout, (list, tuple)) else outputs[0]


def as_output_type(given: Any) -> DType:
    """Return a dtype from what `Tout` says: a dtype, its name, or the spec of a tensor."""
    return dtypes.as_dtype(given.dtype if hasattr(given, "_is_dense") else given)
