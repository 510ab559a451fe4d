"""The C interface of oneDNN, as far as it is used: constants, layouts, attributes and descriptions of primitives.

Every object of the library is held by a Python object that gives it back when it is no longer used. A `Layout` says how
a tensor of given dims lies in memory; a `Description` says what a primitive would compute, and on which layouts. Dims
are in oneDNN's order (batch, channels, space…) whatever the order in memory. Names and numbers are those of the
library's headers, version 3.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import errors
from ebbflow.engines.onednn import library

F16, BF16, F32, S32, S8, U8 = 1, 2, 3, 4, 5, 6
TRAINING, INFERENCE, BACKWARD, BACKWARD_DATA = 64, 96, 128, 160

SRC, SRC_1, DST, WEIGHTS, BIAS = 1, 2, 17, 33, 41
MEAN, VARIANCE, SCALE, SHIFT, WORKSPACE, SCRATCHPAD = 49, 50, 51, 52, 64, 80
DIFF_SRC, DIFF_DST, DIFF_WEIGHTS, DIFF_BIAS, DIFF_SCALE, DIFF_SHIFT = 129, 145, 161, 169, 255, 256

DIRECT = 1
POOL_MAX, POOL_MEAN = 0x1FF, 0x3FF
SOFTMAX = 0x30000
GLOBAL_STATISTICS, USE_SCALE, USE_SHIFT = 1, 2, 4


def _numbered(first: int, names: str) -> dict[str, int]:
    return {name: first + i for i, name in enumerate(names.split())}


ELTWISE = {
    **_numbered(0x20, "relu tanh elu square abs sqrt linear softplus hardsigmoid sigmoid exp gelu_tanh swish log clip"),
    **_numbered(0x2F, "clip_v2 pow gelu round mish hardswish"),
}
OF_RESULT = _numbered(0x100, "relu tanh elu sqrt sigmoid exp")  # slopes that are known from the result
BINARY = _numbered(0x1FFF0, "add multiply maximum minimum divide subtract")
REDUCTION = _numbered(0x2FFF2, "max min sum prod mean")

_UNIMPLEMENTED, _INVALID, _OUT_OF_MEMORY = 3, 2, 1
_QUERY_INFO, _QUERY_LAYOUT = 8, 255
_ANY = 1


def binary_operand(position: int) -> int:
    """Return the argument that is the other operand of the post-op at this position."""
    return 0x8000 * (position + 1) | SRC_1


# --- functions --------------------------------------------------------------------------------------------------------


class _Dims:
    """A tuple as the fixed array that oneDNN takes for dims."""

    @classmethod
    def from_param(cls, values: Sequence[int]) -> Any:
        return (ctypes.c_int64 * 12)(*values)


class _Object:
    """One of our objects as the pointer it holds."""

    @classmethod
    def from_param(cls, given: Any) -> Any:
        return ctypes.c_void_p(getattr(given, "handle", given))


_KINDS = {
    "p": ctypes.c_void_p,  # a bare pointer: a place to write to, or (quicker) a handle
    "o": _Object,
    "d": _Dims,
    "i": ctypes.c_int,
    "u": ctypes.c_uint,
    "f": ctypes.c_float,
    "n": ctypes.c_int64,
    "z": ctypes.c_size_t,
}

_FUNCTIONS = {  # what each function takes
    "engine_create": "piz",
    "stream_create": "pou",
    "memory_desc_create_with_strides": "pidid",
    "memory_desc_create_with_tag": "pidii",
    "memory_desc_equal": "oo",
    "memory_desc_get_size": "o",
    "memory_create": "pooz",
    "memory_set_data_handle": "pp",
    "primitive_attr_create": "p",
    "primitive_attr_set_scratchpad_mode": "oi",
    "primitive_attr_set_post_ops": "oo",
    "post_ops_create": "p",
    "post_ops_append_eltwise": "oiff",
    "post_ops_append_sum": "ofii",
    "post_ops_append_binary": "oio",
    "primitive_desc_query": "oiip",
    "primitive_desc_query_md": "oii",
    "primitive_desc_next_impl": "o",
    "primitive_create": "po",
    "primitive_execute": "ppip",
    "reorder_primitive_desc_create": "pooooo",
    "convolution_forward_primitive_desc_create": "poiiooooddddo",
    "convolution_backward_data_primitive_desc_create": "poioooddddoo",
    "convolution_backward_weights_primitive_desc_create": "poiooooddddoo",
    "pooling_forward_primitive_desc_create": "poiioodddddo",
    "pooling_backward_primitive_desc_create": "poioodddddoo",
    "batch_normalization_forward_primitive_desc_create": "poioofuo",
    "batch_normalization_backward_primitive_desc_create": "poiooofuoo",
    "layer_normalization_forward_primitive_desc_create": "poiooofuo",
    "layer_normalization_backward_primitive_desc_create": "poioooofuoo",
    "softmax_forward_primitive_desc_create": "poiiooio",
    "softmax_backward_primitive_desc_create": "poioooioo",
    "eltwise_forward_primitive_desc_create": "poiiooffo",
    "eltwise_backward_primitive_desc_create": "poioooffoo",
    "binary_primitive_desc_create": "poioooo",
    "reduction_primitive_desc_create": "poiooffo",
    "matmul_primitive_desc_create": "poooooo",
}
_RESULTS = {"primitive_desc_query_md": ctypes.c_void_p, "memory_desc_get_size": ctypes.c_size_t}
_QUICK = {"memory_set_data_handle"}  # done in nanoseconds: not worth releasing the interpreter's lock


@functools.cache
def function(name: str) -> Callable[..., Any]:
    """Return a function of the library; it keeps the interpreter's lock only if it is done at once."""
    loaded = library.load()
    assert loaded is not None
    found = getattr(loaded.quick if name in _QUICK else loaded.call, f"dnnl_{name}")
    found.argtypes = [_KINDS[c] for c in _FUNCTIONS[name]] if name in _FUNCTIONS else [ctypes.c_void_p]
    found.restype = _RESULTS.get(name, ctypes.c_int)
    return found


def check(status: int, what: str) -> None:
    """Raise what a status says."""
    if status == _OUT_OF_MEMORY:
        raise errors.ResourceExhaustedError(None, None, f"oneDNN is out of memory in {what}")
    if status:
        raise errors.InternalError(None, None, f"oneDNN returned status {status} from {what}")


class Owned:
    """An object of the library, given back when it is no longer used."""

    __slots__ = ("_destroy", "handle", "holds")

    def __init__(self, kind: str, create: str, *arguments: Any, holds: Any = None):
        place = ctypes.c_void_p()
        check(function(create)(ctypes.byref(place), *arguments), create)
        self._take(kind, place, holds)

    def _take(self, kind: str, place: ctypes.c_void_p, holds: Any) -> None:
        self.handle = place.value
        self.holds = holds  # what must live as long
        self._destroy = function(f"{kind}_destroy")

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._destroy(self.handle)


@functools.cache
def engine() -> Owned:
    """Return the CPU, as oneDNN sees it."""
    return Owned("engine", "engine_create", 1, 0)


# --- layouts ----------------------------------------------------------------------------------------------------------


class Layout(Owned):
    """How a tensor of some dims and type lies in memory."""

    __slots__ = ("dims", "dtype")

    def __init__(self, dims: Sequence[int], strides: Sequence[int] | None, dtype: int = F32):
        self.dims, self.dtype = tuple(dims), dtype
        if strides is None:
            super().__init__("memory_desc", "memory_desc_create_with_tag", len(dims), dims, dtype, _ANY)
        else:
            super().__init__("memory_desc", "memory_desc_create_with_strides", len(dims), dims, dtype, strides)


def free(dims: Sequence[int], dtype: int = F32) -> Layout:
    """Return the layout that leaves it to the primitive how the tensor lies."""
    return Layout(dims, None, dtype)


def seen(shape: Sequence[int], order: Sequence[int] | None = None, dtype: int = F32) -> Layout:
    """Return the layout of an array of this shape (rows last, no gaps) with its axes taken in this order."""
    strides = [*itertools.accumulate(shape[:0:-1], lambda a, b: a * b, initial=1)][::-1]
    order = range(len(shape)) if order is None else order
    return Layout([shape[i] for i in order], [strides[i] for i in order], dtype)


def same(a: Any, b: Any) -> bool:
    """Return whether two layouts are one."""
    return bool(function("memory_desc_equal")(a, b))


def nbytes(layout: Any) -> int:
    """Return how much memory a tensor of this layout takes."""
    return function("memory_desc_get_size")(layout)


# --- descriptions -----------------------------------------------------------------------------------------------------


def attributes(post_ops: Sequence[tuple[Any, ...]] = ()) -> Owned:
    """Return the attributes of a primitive: memory for its own use is ours to give, and what is done to its results."""
    made = Owned("primitive_attr", "primitive_attr_create")
    check(function("primitive_attr_set_scratchpad_mode")(made, 1), "scratchpad mode")
    if post_ops:
        chain = Owned("post_ops", "post_ops_create")
        for kind, *details in post_ops:
            check(function(f"post_ops_append_{kind}")(chain, *details), kind)
        check(function("primitive_attr_set_post_ops")(made, chain), "post-ops")
    return made


class Description(Owned):
    """What a primitive computes, and on which layouts."""

    __slots__ = ()

    def __init__(self, place: ctypes.c_void_p, holds: Any):
        self._take("primitive_desc", place, holds)

    def layout(self, argument: int) -> int | None:
        """Return the layout the primitive wants for an argument; None where it takes no such argument."""
        found = function("primitive_desc_query_md")(self, _QUERY_LAYOUT, argument)
        return found if found and nbytes(found) else None

    @property
    def info(self) -> str:
        """The name of the implementation: `brgconv:avx512_core`."""
        text = ctypes.c_char_p()
        function("primitive_desc_query")(self, _QUERY_INFO, 0, ctypes.byref(text))
        return (text.value or b"").decode()

    @property
    def is_quick(self) -> bool:
        """Whether this is more than the library's plain loops, which NumPy outdoes."""
        return "ref" not in self.info.split(":")[0]


def describe(kind: str, *arguments: Any, attrs: Any = None, plain_loops: bool = False) -> Description:
    """Return the description of a primitive; raise UnimplementedError where the library has none (or just loops)."""
    create = f"{kind}_primitive_desc_create"
    place = ctypes.c_void_p()
    attrs = attributes() if attrs is None else attrs
    start = () if kind == "reorder" else (engine(),)
    status = function(create)(ctypes.byref(place), *start, *arguments, attrs)
    if status in (_UNIMPLEMENTED, _INVALID):
        raise errors.UnimplementedError(None, None, f"oneDNN has no {kind} for this")
    check(status, create)
    found = Description(place, arguments)
    if not plain_loops and not found.is_quick:
        raise errors.UnimplementedError(None, None, f"oneDNN has only plain loops for {kind} here")
    return found
