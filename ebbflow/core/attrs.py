"""Attribute values: checked against the declaration and brought to one Python form.

int, float, bool, str, DType, dims (a tuple, or None for unknown rank), NumPy array, and tuples of these for lists.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.shape import as_dims
from ebbflow.core.signature import Attr

MOST_OUTPUTS = 1 << 20
"""How many outputs an op may be asked for: the list of them is made before a kernel could refuse."""


def normalise(op: Any, attrs: dict[str, Any]) -> dict[str, Any]:
    """Return `attrs` in their one Python form; raise where the op does not have them so."""
    declared = op.signature.attrs
    result = {}
    for name, value in attrs.items():
        attr = declared.get(name)
        if attr is None:
            if name.startswith("_"):
                result[name] = value
                continue
            raise TypeError(f"{op.name} got an unexpected argument '{name}'; it takes {_takes(op)}")
        if value is None and attr.kind not in ("shape",):
            if attr.has_default:
                result[name] = attr.default
            continue
        result[name] = _check(op, attr, value)
    return result


def _check_outputs(op: Any, attr: Attr, found: int) -> None:
    if any(out.number_attr == attr.name for out in op.signature.outputs):
        raise ValueError(
            f"Attr '{attr.name}' of '{op.name}' Op passed {found}, but an op has at most {MOST_OUTPUTS} outputs."
        )


def _takes(op: Any) -> str:
    names = [a.name for a in op.signature.inputs] + [a for a in op.signature.attrs if a not in op.signature.inferred]
    return ", ".join(names) or "no arguments"


def _check(op: Any, attr: Attr, value: Any) -> Any:
    if attr.kind.startswith("list("):
        base = attr.kind[5:-1]
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            raise TypeError(f"Expected list for '{attr.name}' argument to '{op.name}' Op, not {value!r}.")
        found: Any = _several(op, attr, base, value)
        if attr.minimum is not None and len(found) < attr.minimum:
            raise ValueError(
                f"Attr '{attr.name}' of '{op.name}' Op passed list of length {len(found)} less than minimum "
                f"{attr.minimum}."
            )
        choices = found
    else:
        found = _one(op, attr, attr.kind, value)
        if attr.minimum is not None and found < attr.minimum:
            raise ValueError(f"Attr '{attr.name}' of '{op.name}' Op passed {found} less than minimum {attr.minimum}.")
        if attr.kind == "int" and found > MOST_OUTPUTS:
            _check_outputs(op, attr, found)
        choices = (found,)
    if attr.allowed is not None:
        for item in choices:
            if item not in attr.allowed:
                _not_allowed(op, attr, item)
    return found


def _not_allowed(op: Any, attr: Attr, value: Any) -> None:
    allowed = attr.allowed or ()
    if attr.kind in ("type", "list(type)"):
        raise errors.WrongTypeError(
            f"Value passed to parameter '{attr.name}' has DataType {value.name} not in list of allowed values: "
            f"{', '.join(t.name for t in allowed)} [Op:{op.name}]"
        )
    quoted = ", ".join(f'"{a}"' if isinstance(a, str) else str(a) for a in allowed)
    raise errors.WrongValueError(f"Attr '{attr.name}' of '{op.name}' Op passed string '{value}' not in: {quoted}.")


def _one(op: Any, attr: Attr, kind: str, value: Any) -> Any:
    try:
        return _FORMS[kind](value)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"Expected {kind} for argument '{attr.name}' of '{op.name}' Op, not {value!r}: {error}"
        ) from None


def _several(op: Any, attr: Attr, kind: str, values: Any) -> tuple[Any, ...]:
    try:
        return tuple(_one(op, attr, kind, item) for item in values)
    except TypeError:
        if isinstance(values, (list, tuple)):
            raise
        raise TypeError(f"Expected list for '{attr.name}' argument to '{op.name}' Op, not {values!r}.") from None


def _int(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    found = operator.index(value)
    if not -(2**63) <= found < 2**63:
        raise OverflowError("it does not fit in 64 bits")
    return found


def _bool(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return bool(value)
    raise TypeError("not a bool")


def _string(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return value
    raise TypeError("not a string")


def _float(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError("not a float")
    return float(value)


def _shape(value: Any) -> Any:
    return as_dims(value)


def _func(value: Any) -> Any:
    """Return the body of a function; what a program holds (of `Defun`, of a concrete function) knows its own."""
    body = getattr(value, "_body_of_attr", None)
    return value if body is None else body()


def _plain(value: Any) -> Any:
    return value


_FORMS = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "string": _string,
    "type": lambda value: dtypes.as_dtype(value).base_dtype,
    "shape": _shape,
    "tensor": _plain,
    "func": _func,
}
