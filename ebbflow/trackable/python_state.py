"""Python values in a checkpoint: an object that says its state as a string."""

from __future__ import annotations

import abc
from typing import Any

from ebbflow.core.typing import TensorLike
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import PYTHON_STATE


class PythonState(Trackable, metaclass=abc.ABCMeta):
    """State that is a string in a checkpoint; subclasses turn theirs into one and back."""

    @abc.abstractmethod
    def serialize(self) -> str:
        """Return the state as a string."""

    @abc.abstractmethod
    def deserialize(self, string_value: TensorLike) -> None:
        """Take the state back from a string."""

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {PYTHON_STATE: self.serialize()}

    _restores_at_once = True  # also where a graph is built: Python values are no part of it

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        value = restored_tensors[PYTHON_STATE]
        self.deserialize(value.numpy() if hasattr(value, "numpy") else value)
