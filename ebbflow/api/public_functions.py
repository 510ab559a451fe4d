"""What a name of a table is to the public: functions of tensors with support for dispatch, once a dispatcher is there.

Knows the tables, the doors and `core.dispatch`; remembers which function was fetched for which row, so that functions
can be named. Loaded with the first name that is fetched.
"""

from __future__ import annotations

import types
from typing import Any

from ebbflow.api import namespace, views
from ebbflow.core import dispatch

DISPATCHED = ("ops.", "core.convert:convert_to_tensor", "api.adapters:convert_to_tensor", "api.inner_helpers:tensor_")
"""How targets begin whose functions take tensors and give tensors: dispatchers may answer for these."""

NOT_OF_TENSORS = ("ops.random.seeds:",)
"""Of these, targets whose functions take none: programs that put another in their place find them where they are."""

OWN_ENDINGS = ("_v1", "_tf1")
"""How functions end that are one era's, where the other has one of the same public name."""

_supported: dict[Any, Any] = {}
_targets: dict[Any, str] = {}


def public(target: str) -> Any:
    """Return the object a table's target names as the public sees it."""
    value = namespace.resolve(target)
    if isinstance(value, type):
        _targets.setdefault(value, target)
    if not dispatch.is_function(value):
        return value
    if value.__name__.endswith(OWN_ENDINGS):  # programs make names of nodes and of runs from those of functions
        value.__name__ = value.__name__.rpartition("_")[0]
    dispatched = target.startswith(DISPATCHED) and not target.startswith(NOT_OF_TENSORS)
    if dispatched:
        dispatch.support(value)
    if dispatch.dispatches() and dispatched and not hasattr(value, dispatch.INNER):
        if value not in _supported:
            _supported[value] = _with_dispatch(value, target)
        value = _supported[value]
    _targets.setdefault(value, target)
    return value


class _Inner(dict[str, Any]):
    """The functions that targets name, without support for dispatch."""

    def __missing__(self, target: str) -> Any:
        return self.setdefault(target, namespace.resolve(target))


_inner = _Inner()


def _asking(*args: Any, **kwargs: Any) -> Any:
    function = _inner["target"]
    try:
        return function(*args, **kwargs)
    except (TypeError, ValueError):
        result = dispatch.answer(public("target"), args, kwargs)
        if result is dispatch.NOT_SUPPORTED:
            raise
        return result


def _with_dispatch(function: Any, target: str) -> Any:
    """Return a function that has dispatchers asked where `function` fails.

    Its code has the target as a constant, and no cells: Keras 2 writes the code of a Lambda layer's function into a
    file, and runs it with the names of the module that the function says it is of. There pickle finds it, too: under
    its own name, the function inside is found.
    """
    constants = tuple(target if value == "target" else value for value in _asking.__code__.co_consts)
    code = _asking.__code__.replace(co_consts=constants, co_name=function.__name__)
    wrapped = dispatch.stand_in(types.FunctionType(code, globals(), function.__name__), function)
    wrapped.__module__, wrapped.__qualname__ = __name__, _plain(target)
    return wrapped


def _plain(target: str) -> str:
    return target.replace(".", "_").replace(":", "__")


def __getattr__(name: str) -> Any:
    for key in ("v2", "v1"):
        for target in views.names_of(key).values():
            if _plain(target) == name:
                return public(target)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def target_of(function: Any) -> str | None:
    """Return the target of a function or class that was fetched through a door, or None."""
    return _targets.get(function) or _targets.get(getattr(function, dispatch.INNER, None))


def public_function(name: str) -> Any:
    """Return the function that TF 2 has under a public name: `math.add`, `compat.v1.add`."""
    key, path = views.locate("v2", name)
    return public(views.view(key).names[path])


ELEMENTWISE = {
    "unary": """
        zeros_like ones_like debugging.check_numerics math.abs math.softplus math.sign math.real math.imag math.angle
        math.round cast dtypes.saturate_cast math.sigmoid math.log_sigmoid math.conj math.reciprocal_no_nan math.erfinv
        math.ndtri math.erfcinv math.ceil math.sqrt math.exp math.rsqrt math.acos math.floor bitwise.invert math.acosh
        math.asin math.asinh math.atan math.atanh math.cos math.cosh math.digamma math.erf math.erfc math.expm1
        math.is_finite math.is_inf math.is_nan math.lgamma math.log math.log1p math.logical_not math.negative
        math.nextafter math.reciprocal math.rint math.sin math.sinh math.square math.tan math.tanh nn.relu6
        nn.leaky_relu nn.gelu nn.log_softmax nn.elu nn.relu nn.selu math.softsign strings.regex_full_match
        strings.regex_replace strings.length strings.substr strings.to_number strings.to_hash_bucket strings.as_string
        io.decode_base64 io.encode_base64 strings.lower strings.upper strings.unicode_transcode strings.strip
        strings.to_hash_bucket_fast strings.to_hash_bucket_strong strings.unicode_script math.special.dawsn
        math.special.expint math.special.fresnel_cos math.special.fresnel_sin math.special.spence math.bessel_i0
        math.bessel_i0e math.bessel_i1 math.bessel_i1e math.special.bessel_k0 math.special.bessel_k0e
        math.special.bessel_k1 math.special.bessel_k1e math.special.bessel_j0 math.special.bessel_j1
        math.special.bessel_y0 math.special.bessel_y1 clip_by_value nn.swish image.random_brightness
        image.stateless_random_brightness image.adjust_brightness image.adjust_gamma image.convert_image_dtype
        io.decode_compressed identity
        compat.v1.zeros_like compat.v1.ones_like compat.v1.to_float compat.v1.to_double compat.v1.to_int32
        compat.v1.to_int64 compat.v1.to_bfloat16 compat.v1.to_complex64 compat.v1.to_complex128 compat.v1.strings.length
        compat.v1.substr compat.v1.strings.substr compat.v1.string_to_hash_bucket
    """,
    "binary": """
        math.divide math.multiply math.subtract math.scalar_mul math.pow dtypes.complex math.truediv math.divide_no_nan
        math.multiply_no_nan math.floordiv math.logical_xor math.equal math.not_equal math.add math.xdivy math.xlog1py
        bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift math.atan2
        math.floormod math.greater math.greater_equal math.less math.less_equal math.logical_and math.logical_or
        math.maximum math.minimum realdiv math.squared_difference truncatediv truncatemod math.xlogy math.zeta
        nn.sigmoid_cross_entropy_with_logits compat.v1.scalar_mul compat.v1.div compat.v1.floor_div
    """,
    "binary assert": """
        debugging.assert_equal debugging.assert_none_equal debugging.assert_less debugging.assert_less_equal
        debugging.assert_greater debugging.assert_greater_equal compat.v1.assert_equal compat.v1.assert_none_equal
        compat.v1.assert_less compat.v1.assert_less_equal compat.v1.assert_greater compat.v1.assert_greater_equal
    """,
}
"""The public functions that act on each element for itself, as TensorFlow counts them."""


def _elementwise(kind: str) -> list[Any]:
    """Return the functions of one kind, each once."""
    return list(dict.fromkeys(public_function(name) for name in ELEMENTWISE[kind].split()))


def dispatched_functions() -> list[Any]:
    """Return all public functions of TF 2 that other functions can be registered for."""
    targets = dict.fromkeys(t for t in views.view("v2").names.values() if t is not None and t.startswith(DISPATCHED))
    return [value for value in map(public, targets) if dispatch.is_function(value)]


def _support_dispatch() -> None:
    for support in namespace.furnished:
        support()


dispatch.provide_public(public_function)
dispatch.provide_elementwise(_elementwise)
dispatch.when_registered(_support_dispatch)
