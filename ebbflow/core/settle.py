"""Settling a call: arguments become tensors, and the inputs decide the types and lengths that the op leaves open.

A tensor among the inputs of one type attr decides it for all; Python numbers and lists follow, whichever side of the
op they stand on; a NumPy array decides where there is no tensor. A value that has no say takes its natural type where
the op allows that, else the attr's default. Knows interfaces and conversion; the same rules serve eager calls and
graphs, which pass their own `convert`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import to_array
from ebbflow.core.dtypes import DType, c_name
from ebbflow.core.signature import Arg, Signature
from ebbflow.core.tensor import Tensor

Convert = Callable[..., Tensor]


def settle(
    name: str, signature: Signature, inputs: Sequence[Any], settled: dict[str, Any], convert: Convert
) -> tuple[list[Any], dict[str, Any]]:
    """Return the inputs as tensors (a list where the op takes one) and every attr's value, `settled` being those
    given.
    """
    taking = _Taking(name, signature, settled, convert)
    taking.hints = _known_types(signature, inputs, settled)
    tensors: list[Any] = []
    for arg, value in zip(signature.inputs, inputs, strict=True):
        if not arg.is_list:
            tensors.append(taking.one(arg, value, arg.name))
        elif isinstance(value, (list, tuple)):
            tensors.append(taking.several(arg, value))
        else:
            raise TypeError(f"Expected list for '{arg.name}' argument to '{name}' Op, not {value!r}.")
    for attr in signature.attrs.values():
        if attr.name not in settled:
            if not attr.has_default:
                raise TypeError(f"{name} missing required attribute: '{attr.name}'")
            settled[attr.name] = attr.default
    return tensors, settled


class _Taking:
    """One call being settled."""

    def __init__(self, name: str, signature: Signature, settled: dict[str, Any], convert: Convert):
        self.name = name
        self.signature = signature
        self.settled = settled
        self.convert = convert
        self.hints: dict[str, DType] = {}

    def one(self, arg: Arg, value: Any, label: str) -> Tensor:
        """Return the tensor for one argument, of the type that is settled or that it settles."""
        attr: Any = arg.type_attr
        wanted = arg.type if arg.type is not None else self.settled.get(attr)
        if isinstance(value, Tensor):
            tensor = self.convert(value, None, None, label)
        elif wanted is not None:
            tensor = self._must(arg, value, wanted, label)
        else:
            hint = self._hint(arg, value)
            if isinstance(value, np.ndarray) and hint is not None and value.dtype != hint.np:
                value = value.astype(hint.np)  # an array of a type that the op does not take becomes its default one
            tensor = self.convert(value, None, hint, label)
        found = tensor.dtype.base_dtype
        if wanted is not None:
            if found is not wanted:
                raise self._wrong_type(arg, found, wanted)
        elif attr is not None:
            self._admit(arg, found)
            self.settled[attr] = found
        return tensor

    def several(self, arg: Arg, values: Sequence[Any]) -> list[Tensor]:
        """Return the tensors of a list argument: of one type, or each of its own."""
        type_attr: Any = arg.type_attr
        number_attr: Any = arg.number_attr
        if arg.is_type_list:
            given = self.settled.get(type_attr) or ()
            taken = []
            for i, value in enumerate(values):
                label = f"{arg.name}_{i}"
                taken.append(
                    self._must(arg, value, given[i], label)
                    if i < len(given)
                    else self.convert(value, None, None, label)
                )
            self.settled[type_attr] = tuple(t.dtype.base_dtype for t in taken)
            self._enough(arg, arg.type_attr, len(taken))
            return taken
        taken = [self.one(arg, value, f"{arg.name}_{i}") for i, value in enumerate(values)]
        self._enough(arg, arg.number_attr, len(taken))
        if self.settled.setdefault(number_attr, len(taken)) != len(taken):
            raise ValueError(
                f"List argument '{arg.name}' to '{self.name}' Op with length {len(taken)} must match "
                f"length {self.settled[number_attr]} of argument '{arg.number_attr}'."
            )
        if not taken and type_attr is not None and type_attr not in self.settled:
            declared = self.signature.attrs[type_attr]
            self.settled[type_attr] = declared.default if declared.has_default else dtypes.float32
        return taken

    def _must(self, arg: Arg, value: Any, wanted: DType, label: str) -> Tensor:
        if isinstance(value, Tensor):
            return self.convert(value, None, None, label)
        try:
            return self.convert(value, wanted, None, label)
        except errors.WrongValueError:  # of the right type, and too large
            raise
        except (TypeError, ValueError) as error:
            raise errors.WrongTypeError(
                f"Input '{arg.name}' of '{self.name}' Op cannot take {_brief(value)}: {error} [Op:{self.name}]"
            ) from None

    def _hint(self, arg: Arg, value: Any) -> DType | None:
        """Return the type that a value without a say should have, or None for its natural one."""
        found = self.hints.get(arg.type_attr)  # type: ignore[arg-type]
        if arg.type_attr is None:
            return found
        declared = self.signature.attrs[arg.type_attr]
        if found is not None:  # tensors in a list are cast where the op cannot take them as they are: sizes as floats
            refused = declared.has_default and declared.allowed is not None and found not in declared.allowed
            return declared.default if refused and isinstance(value, (list, tuple, np.ndarray)) else found
        if declared.kind != "type" or not declared.has_default or declared.allowed is None or hasattr(value, "dtype"):
            return None
        if context.switches.tf1:  # TensorFlow 1.15 took the default at once
            return declared.default
        try:
            return None if to_array(value)[1] in declared.allowed else declared.default
        except (TypeError, ValueError, NotImplementedError):  # the last: a list of symbolic tensors, which say it
            return None

    def _enough(self, arg: Arg, counted: Any, length: int) -> None:
        minimum = self.signature.attrs[counted].minimum
        if minimum is not None and length < minimum:
            raise ValueError(
                f"List argument '{arg.name}' to '{self.name}' Op with length {length} shorter than minimum length "
                f"{minimum}."
            )

    def _remedy(self, arg: Arg, found: DType, wanted: DType) -> str:
        """Say which cast to write: of what the other argument is, where casting this one would lose its fractions."""
        if dtypes.string in (found, wanted):
            return ""
        name, target = arg.name, wanted
        others = [a.name for a in self.signature.inputs if a.type_attr == arg.type_attr and a is not arg]
        if arg.type_attr and others and wanted.is_integer and not found.is_integer and not found.is_bool:
            name, target = others[0], found
        return f"Write tf.cast({name}, tf.{target.name}) to convert it. "

    def _wrong_type(self, arg: Arg, found: DType, wanted: DType) -> errors.WrongTypeError:
        cast = f"{self._remedy(arg, found, wanted)}[Op:{self.name}]"
        if context.executing_eagerly():
            place = [a.name for a in self.signature.inputs].index(arg.name)
            return errors.WrongTypeError(
                f"cannot compute {self.name} as input #{place}(zero-based) was expected to be a "
                f"{c_name(wanted)} tensor but is a "
                f"{c_name(found)} tensor. {cast}"
            )
        other = next((a.name for a in self.signature.inputs if a.type_attr == arg.type_attr and a is not arg), None)
        rule = (
            f"does not match type {wanted.name} of argument '{other}'"
            if arg.type_attr and other
            else f"should be {wanted.name}"
        )
        return errors.WrongTypeError(
            f"Input '{arg.name}' of '{self.name}' Op has type {found.name} that {rule}. {cast}"
        )

    def _admit(self, arg: Arg, found: DType) -> None:
        allowed = self.signature.attrs[arg.type_attr].allowed  # type: ignore[index]
        if allowed is not None and found not in allowed:
            raise errors.WrongTypeError(
                f"Value passed to parameter '{arg.name}' has DataType {found.name} not in list of allowed values: "
                f"{', '.join(t.name for t in allowed)} [Op:{self.name}]"
            )


def _known_types(signature: Signature, inputs: Sequence[Any], settled: dict[str, Any]) -> dict[str, DType]:
    """Return, per type attr, the type that a tensor (first choice) or a NumPy array among the inputs has."""
    hints: dict[str, DType] = {}
    for strict in (True, False):
        for arg, value in zip(signature.inputs, inputs, strict=False):
            attr = arg.type_attr
            if attr is None or arg.is_type_list or attr in hints or attr in settled:
                continue
            for item in value if arg.number_attr and isinstance(value, (list, tuple)) else (value,):
                found = _type_of(item, strict)
                if found is not None:
                    hints[attr] = found
                    break
    return hints


def _type_of(value: Any, strict: bool) -> DType | None:
    if isinstance(value, Tensor):
        return value.dtype.base_dtype
    if strict:
        found = getattr(value, "dtype", None)
        return found.base_dtype if isinstance(found, DType) else None
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "USO":
        return dtypes.from_numpy(value.dtype)
    if isinstance(value, (list, tuple)):
        for item in value:
            found = _type_of(item, True)
            if found is not None:
                return found
    return None


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:80] + "…"
