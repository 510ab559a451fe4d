"""Functions that promote their arguments and answer with weak tensors, while the mode says so.

The modes "all" and "safe" intercept the functions of the tables below (`core.interception`); before that, and in other
modes, these are what they always were. A function of one tensor gives a weak one for a weak one; a function of two has
them meet in one dtype first. Knows the lattice and weak tensors; `ops.numpy.behaviour` turns it on and off.
"""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Callable
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.interception import intercept, take_offers
from ebbflow.core.tensor import Tensor, TensorBase
from ebbflow.ops.weak.promotion import is_auto_dtype_conversion_enabled, result_type
from ebbflow.ops.weak.tensor import WeakTensor, as_dtype_of, weak_or_plain

UNARY = """
elementwise.unary: abs sign round sigmoid ceil sqrt exp rsqrt acos floor acosh asin asinh atan atanh cos cosh expm1
elementwise.unary: log log1p negative reciprocal rint sin sinh square tan tanh
elementwise.activations: softplus log_sigmoid relu6 leaky_relu gelu silu elu relu selu softsign
elementwise.complex_numbers: real imag angle conj
elementwise.binary: reciprocal_no_nan
elementwise.special: erfinv ndtri erfcinv digamma erf erfc lgamma dawsn expint fresnel_cos fresnel_sin spence
elementwise.special: bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_j0
elementwise.special: bessel_j1 bessel_y0 bessel_y1
elementwise.clip: clip_by_value
elementwise.bitwise: invert
arrays.creation: zeros_like_v1 zeros_like ones_like_v1 ones_like identity stop_gradient
arrays.shaping: reshape expand_dims_v1 expand_dims squeeze_v1 squeeze transpose_v1 transpose matrix_transpose
arrays.space: depth_to_space_v1 depth_to_space extract_image_patches extract_patches space_to_depth_v1 space_to_depth
nn.bias_softmax: log_softmax_v1 log_softmax
image.augment: random_brightness stateless_random_brightness
image.colour: adjust_brightness adjust_gamma
reduce.reductions: reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std
reduce.reductions: reduce_sum reduce_variance
reduce.reductions: reduce_logsumexp_v1 reduce_max_v1 reduce_mean_v1 reduce_min_v1 reduce_prod_v1 reduce_sum_v1
linalg.matmul: trace
linalg.diag: diag diag_part tensor_diag_part
numpy.elementwise: absolute angle arccos arcsin arcsinh arctan arctanh bitwise_not cbrt ceil conjugate cos cosh deg2rad
numpy.elementwise: exp exp2 expm1 fabs fix floor log negative rad2deg reciprocal sin sinh sqrt tan tanh log2 log10
numpy.elementwise: log1p positive sinc square around imag real sign
numpy.reductions: nanmean diff average amax amin cumprod cumsum max mean min prod std sum var ptp
numpy.arrays: sort trace arange array asarray copy diag diagflat diagonal expand_dims flatten flip fliplr flipud
numpy.arrays: full_like moveaxis ones_like ravel reshape repeat rot90 squeeze swapaxes transpose triu vander zeros_like
"""
"""Functions of one tensor, by the file in `ops`."""

SECOND = "elementwise.binary: scalar_mul"
"""Functions whose second argument decides."""

BINARY = """
elementwise.binary: add subtract multiply multiply_no_nan divide truediv div_no_nan realdiv truncatediv floordiv
elementwise.binary: floor_div floormod truncatemod pow
linalg.matmul: matmul
numpy.reductions: matmul
"""
"""Functions of two tensors that meet in one dtype."""

COMPARISONS = """
elementwise.binary: maximum minimum
elementwise.compare: equal
"""
"""Functions of two tensors that meet in one dtype, whose result is never weak."""

GENERATED = {
    "unary": """
        invert acosh asin asinh atan atanh cos cosh digamma erf erfc expm1 lgamma log log1p neg reciprocal rint sin sinh
        square tan tanh check_numerics elu relu selu softsign
    """,
    "binary": "sub real_div truncate_div floor_div truncate_mod floor_mod _pow",
    "comparison": "maximum minimum equal",
}
"""The same among the functions that stand for ops under their small names (`gen_math_ops`)."""


class _Promoting:
    """Answers the calls of one function."""

    place = 0
    weak_results = True

    def __init__(self, function: types.FunctionType):
        names = list(inspect.signature(function).parameters.values())
        variadic = names[0].kind is inspect.Parameter.VAR_POSITIONAL
        self.names = () if variadic else tuple(parameter.name for parameter in names)
        self.plain: Callable[..., Any] = intercept(function, self)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a call: as the function does, but for what the mode says."""
        if not is_auto_dtype_conversion_enabled():
            return self.plain(*args, **kwargs)
        return self.promoted(list(args), kwargs)

    def promoted(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Answer a call with one tensor that decides."""
        x, put = self.argument(args, kwargs, self.place)
        dtype = self.argument(args, kwargs, self.names.index("dtype"))[0] if "dtype" in self.names else None
        if put is None or isinstance(x, Tensor) or dtype is not None:
            return self.plain(*args, **kwargs)
        try:
            met, weak = result_type(x)
        except NotImplementedError:
            return self.plain(*args, **kwargs)
        put(_converted(x, met))
        return weak_or_plain(self.plain(*args, **kwargs), weak)

    def argument(self, args: list[Any], kwargs: dict[str, Any], place: int) -> tuple[Any, Callable[[Any], None] | None]:
        """Return the argument of a place, and what puts another value there; no such thing where it is left out."""
        if place < len(args):
            return args[place], lambda value: args.__setitem__(place, value)
        named = self.names[place] if self.names else next(iter([*kwargs][place - len(args) :]), "")
        return kwargs.get(named), (lambda value: kwargs.update({named: value})) if named in kwargs else None


class _OfSecond(_Promoting):
    place = 1


class _Meeting(_Promoting):
    def promoted(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Answer a call with two tensors that meet."""
        (x, put_x), (y, put_y) = self.argument(args, kwargs, 0), self.argument(args, kwargs, 1)
        if put_x is None or put_y is None:
            return self.plain(*args, **kwargs)
        try:
            met, weak = result_type(x, y)
        except NotImplementedError:
            return self.plain(*args, **kwargs)
        put_x(_converted(x, met))
        put_y(_converted(y, met))
        return weak_or_plain(self.plain(*args, **kwargs), weak and self.weak_results)


class _Comparing(_Meeting):
    weak_results = False


class _Constant(_Promoting):
    """`tf.constant`: weak without a dtype; a tensor is taken to the dtype that is asked for, where that holds it."""

    def promoted(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Answer a call."""
        (x, put), (wanted, _) = self.argument(args, kwargs, 0), self.argument(args, kwargs, 1)
        dtype = None if wanted is None else as_dtype(wanted)
        try:
            met, weak = result_type(x, dtype)
        except NotImplementedError:
            return self.plain(*args, **kwargs)
        if put is not None and isinstance(x, WeakTensor):
            put(x.tensor)
        if dtype is None:
            args[1:2] = [met]
            kwargs.pop("dtype", None)
            return weak_or_plain(self.plain(*args, **kwargs), weak)
        if put is not None and met == dtype and isinstance(x, TensorBase):
            put(_converted(x, met))
        return self.plain(*args, **kwargs)


class _Assigning(_Promoting):
    """A variable's `assign` and its kin: the value is taken to the variable's dtype, never the other way."""

    def promoted(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Answer a call."""
        variable, (value, put) = args[0], self.argument(args, kwargs, 1)
        try:
            met, _ = result_type(variable.dtype, value)
        except NotImplementedError:
            return self.plain(*args, **kwargs)
        if met != variable.dtype:
            raise TypeError(
                f"Variable dtype is immutable. Calling {self.plain.__name__} of Variable (with dtype {variable.dtype}) "
                f"on {value} requires converting {value} to {variable.dtype}, which promotion does not do; convert it."
            )
        if put is not None:
            put(_converted(value, met))
        return self.plain(*args, **kwargs)


def _converted(value: Any, dtype: DType) -> Any:
    return as_dtype_of(value, dtype, convert)


_intercepted: dict[types.FunctionType, _Promoting] = {}
_on: list[bool] = []


def functions_of(table: str) -> list[types.FunctionType]:
    """Return the functions of a table, in its order."""
    found = []
    for line in table.strip().splitlines():
        file, _, names = line.partition(":")
        module = importlib.import_module(f"ebbflow.ops.{file.strip()}")
        found += [getattr(module, name) for name in names.split()]
    return found


def turn_on() -> None:
    """Intercept all functions; it is done once, and they look at the mode from then on."""
    if _on:
        return
    _on.append(True)
    for table, kind in ((UNARY, _Promoting), (SECOND, _OfSecond), (BINARY, _Meeting), (COMPARISONS, _Comparing)):
        for function in functions_of(table):
            _promote(function, kind)
    for function in functions_of("arrays.creation: constant"):
        _promote(function, _Constant)
    take_offers(_adopt)


def _promote(function: types.FunctionType, kind: type[_Promoting]) -> None:
    if function not in _intercepted:
        _intercepted[function] = kind(function)


def _adopt(offered: str, function: types.FunctionType) -> None:
    """Intercept what higher rooms offer: functions of ops under small names, and what assigns to variables."""
    kinds: dict[str, type[_Promoting]] = {"unary": _Promoting, "binary": _Meeting, "comparison": _Comparing}
    if offered == "assignment":
        _promote(function, _Assigning)
    for kind, names in GENERATED.items():
        if offered == "op" and function.__name__ in names.split():
            _promote(function, kinds[kind])


def __getattr__(name: str) -> Any:
    if name == "unary_functions":  # what can be asked for is in a table of names; loaded when somebody asks
        return list({(f.__module__, f.__name__): f for f in reversed(functions_of(UNARY))}.values())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
