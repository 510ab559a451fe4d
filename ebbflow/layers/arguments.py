"""How the arguments of layers are written, and what they mean: sizes, paddings, data formats, names of functions.

A size is an int or one int per axis; an activation, initializer or regularizer is a function or the name of one. The
words of the errors are TensorFlow's. Knows no layer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ebbflow.ops.declare import raw
from ebbflow.state import initializers

# --- sizes ------------------------------------------------------------------------------------------------------------


def sizes_of(value: Any, n: int, name: str) -> tuple[int, ...]:
    """Return an int or a sequence of ints as a tuple of `n` ints.

    >>> sizes_of(3, 2, "kernel_size"), sizes_of([1, 2], 2, "strides")
    ((3, 3), (1, 2))
    """
    if isinstance(value, int):
        return (value,) * n
    wrong = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        found = tuple(value)
    except TypeError:
        raise ValueError(wrong) from None
    if len(found) != n:
        raise ValueError(wrong)
    for size in found:
        try:
            int(size)
        except (TypeError, ValueError):
            raise ValueError(f"{wrong} including element {size} of type {type(size)}") from None
    return tuple(int(size) for size in found)


def padding_named(value: Any) -> str:
    """Return "valid", "same" or "causal"."""
    found = str(value).lower()
    if found not in ("valid", "same", "causal"):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv1D). '
            f"Received: {found}"
        )
    return found


def data_format_named(value: Any) -> str:
    """Return "channels_first" or "channels_last" (which None means too)."""
    found = "channels_last" if value is None else str(value).lower()
    if found not in ("channels_first", "channels_last"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". Received: ' + str(value)
        )
    return found


def op_format(data_format: str, rank: int) -> str:
    """Return what ops call a data format of that many spatial axes.

    >>> op_format("channels_last", 2), op_format("channels_first", 3)
    ('NHWC', 'NCDHW')
    """
    space = "DHW"[-rank:]
    return f"N{space}C" if data_format == "channels_last" else f"NC{space}"


def with_channels(values: tuple[int, ...], data_format: str) -> list[int]:
    """Return one number per axis, from one per spatial axis: 1 for batch and channels."""
    return [1, *values, 1] if data_format == "channels_last" else [1, 1, *values]


def window_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """Return over how many places a window moves.

    >>> window_length(8, 3, "valid", 1), window_length(8, 3, "same", 2)
    (6, 4)
    """
    if input_length is None:
        return None
    reach = (filter_size - 1) * dilation
    whole = input_length + {"valid": -reach, "full": reach}.get(padding, 0)
    return (whole + stride - 1) // stride


def spread_length(input_length: Any, filter_size: int, padding: str, stride: int) -> Any:
    """Return the length that `window_length` takes back to this one (an int, a tensor, or None where unknown).

    >>> spread_length(6, 3, "valid", 1), spread_length(4, 3, "same", 2)
    (8, 8)
    """
    if input_length is None:
        return None
    more = {"valid": max(filter_size - stride, 0), "full": -(stride + filter_size - 2)}
    return input_length * stride + more[padding] if padding in more else input_length * stride


# --- functions by name ------------------------------------------------------------------------------------------------

_ACTIVATIONS = {
    "elu": "Elu",
    "exponential": "Exp",
    "relu": "Relu",
    "relu6": "Relu6",
    "selu": "Selu",
    "sigmoid": "Sigmoid",
    "softmax": "Softmax",
    "softplus": "Softplus",
    "softsign": "Softsign",
    "tanh": "Tanh",
}


def activation_named(given: Any) -> Callable[..., Any] | None:
    """Return an activation given as a function, a name, or None."""
    if given is None or callable(given):
        return given
    if given == "linear":
        return None
    if given in _ACTIVATIONS:
        return getattr(raw, _ACTIVATIONS[given])
    raise ValueError(f"Unknown activation function:{given}; known are linear, {', '.join(_ACTIVATIONS)}")


def name_of_activation(function: Any) -> Any:
    """Return the name of an activation, as settings have it; what has none stays as it is."""
    names = {op: name for name, op in _ACTIVATIONS.items()}
    return names.get(getattr(function, "name", "")) or getattr(function, "__name__", function)


_INITIALIZERS: dict[str, Callable[[], Any]] = {
    "zeros": initializers.Zeros,
    "ones": initializers.Ones,
    "constant": initializers.Constant,
    "random_uniform": lambda: initializers.RandomUniform(-0.05, 0.05),
    "random_normal": lambda: initializers.RandomNormal(0.0, 0.05),
    "truncated_normal": lambda: initializers.TruncatedNormal(0.0, 0.05),
    "variance_scaling": initializers.VarianceScaling,
    "orthogonal": initializers.Orthogonal,
    "identity": initializers.Identity,
    "glorot_uniform": initializers.GlorotUniform,
    "glorot_normal": initializers.GlorotNormal,
    "lecun_uniform": initializers.lecun_uniform,
    "lecun_normal": initializers.lecun_normal,
    "he_uniform": initializers.he_uniform,
    "he_normal": initializers.he_normal,
}


def initializer_named(given: Any) -> Any:
    """Return an initializer given as a function, a class, a tensor, a name, or None."""
    if isinstance(given, str):
        if given not in _INITIALIZERS:
            raise ValueError(f"Unknown initializer:{given}; known are {', '.join(_INITIALIZERS)}")
        return _INITIALIZERS[given]()
    return given() if inspect.isclass(given) else given


def checked_function(given: Any, what: str) -> Any:
    """Return a regularizer or constraint, which is a function or None."""
    if given is None or callable(given):
        return given
    raise ValueError(f"Could not interpret {what} identifier: {given}; give a function of the variable")
