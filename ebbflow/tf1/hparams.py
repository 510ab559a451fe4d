"""`tf.contrib.training.HParams`: named hyperparameters, each with a type, that can be read from text.

The text is `name=value` pairs with commas between; a list stands in brackets: `rate=0.1,sizes=[64,32],name=first`.
"""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Callable
from typing import Any

from ebbflow.core.typing import Message, Nested, TensorLike

_ASSIGNMENT = re.compile(
    r"""
    (?P<name>[a-zA-Z][\w.]*)                # the name
    (\[\s*(?P<index>\d+)\s*\])?             # and which element of a list
    \s*=\s*
    ((?P<value>[^,\[]*)                     # one value
    |\[(?P<values>[^\]]*)\])                # or several
    ($|,\s*)""",
    re.VERBOSE,
)


def parse_values(values: str, type_map: dict[str, type], ignore_unknown: bool = False) -> dict[str, Any]:
    """Return the hyperparameters that a text assigns, each of the type that `type_map` gives its name.

    >>> parse_values("rate=0.1,sizes=[64,32]", {"rate": float, "sizes": int})
    {'rate': 0.1, 'sizes': [64, 32]}
    """
    parsed: dict[str, Any] = {}
    at = 0
    while at < len(values):
        match = _ASSIGNMENT.match(values, at)
        if not match:
            raise ValueError(f"Malformed hyperparameter value: {values[at:]}")
        at = match.end()
        name = match["name"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        read = _reader(name, type_map[name], values)
        if match["index"] is None:
            if name in parsed:
                raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
            parsed[name] = read(match["value"], False) if match["value"] is not None else read(match["values"], True)
        else:
            elements = parsed.setdefault(name, {})
            index = int(match["index"])
            if not isinstance(elements, dict) or index in elements:
                raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
            elements[index] = read(match["value"], False)
    return parsed


def _reader(name: str, kind: type, text: str) -> Callable[[str, bool], Any]:
    """Return a function that reads one value, or a list of them, of a type."""

    def read(value: str, several: bool) -> Any:
        try:
            if several:
                return [_read(kind, word) for word in re.split(r"[ ,]+", value.strip()) if word]
            return _read(kind, value)
        except ValueError:
            raise ValueError(
                f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{value}' in {text}"
            ) from None

    return read


def _read(kind: type, text: str) -> Any:
    if kind is not bool:
        return kind(text)
    if text in ("true", "True"):
        return True
    return text not in ("false", "False") and bool(int(text))


class HParams:
    """Hyperparameters as attributes, with the types of their first values.

    >>> hparams = HParams(rate=0.1, sizes=[64, 32])
    >>> hparams.parse("rate=1,sizes=[8]").values()
    {'rate': 1.0, 'sizes': [8]}
    """

    _HAS_DYNAMIC_ATTRIBUTES = True

    def __init__(self, hparam_def: Message | None = None, model_structure: object = None, **kwargs: Any) -> None:
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        if hparam_def is not None:
            raise ValueError("hparam_def messages are not read: give the hyperparameters as keywords, or parse_json")
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: TensorLike) -> None:
        """Add a hyperparameter; its type is that of the value, or of a list's first element."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: object) -> None:
        """Give a hyperparameter another value of its type."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast(name, kind, item) for item in value])
        else:
            if is_list:
                raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Remove a hyperparameter, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Set hyperparameters from a text; returns itself."""
        types = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict: dict[str, Any]) -> HParams:
        """Set hyperparameters from a dict; returns itself."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_model_structure(self, model_structure: object) -> None:
        """Keep something that describes the model."""
        self._model_structure = model_structure

    def get_model_structure(self) -> object:
        """Return what `set_model_structure` kept."""
        return self._model_structure

    def to_json(
        self,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """Return the hyperparameters as JSON."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> HParams:
        """Set hyperparameters from JSON; returns itself."""
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """Return the hyperparameters by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Nested = None) -> Nested:
        """Return a hyperparameter; where there is none, `default`, which must be of its type where there is one."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            shown = f"list<{kind}>" if is_list else str(kind)
            complaint = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
            if is_list and not isinstance(default, list):
                raise ValueError(complaint)
            try:
                for item in default if is_list else [default]:
                    _cast(key, kind, item)
            except ValueError as error:
                raise ValueError(f"{complaint}. {error}") from None
        return getattr(self, key)

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"

    __hash__ = object.__hash__


def _cast(name: str, kind: type, value: Any) -> Any:
    """Return a value as a hyperparameter's type; only what loses nothing is taken."""
    refusal = ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    if kind is type(None):
        return value
    if issubclass(kind, str) and not isinstance(value, str):
        raise refusal
    if issubclass(kind, bool) != isinstance(value, bool):
        raise refusal
    if issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral):
        raise refusal
    if issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number):
        raise refusal
    return kind(value)
