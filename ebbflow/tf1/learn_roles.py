"""What `tf.contrib.learn` asks of a model: that it can be trained, that it can be evaluated."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core.typing import Nested


class Trainable(abc.ABC):
    """What can be trained. Estimators are."""

    @abc.abstractmethod
    def fit(
        self,
        x: Nested = None,
        y: Nested = None,
        input_fn: Callable[..., Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
        max_steps: int | None = None,
    ) -> object:
        """Train by data, or by what a function gives; return itself."""


class Evaluable(abc.ABC):
    """What can be evaluated, and keeps its model in a folder. Estimators are."""

    @property
    @abc.abstractmethod
    def model_dir(self) -> str | None:
        """The folder of the model."""

    @abc.abstractmethod
    def evaluate(
        self,
        x: Nested = None,
        y: Nested = None,
        input_fn: Callable[..., Any] | None = None,
        feed_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Nested = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
    ) -> dict[str, Any]:
        """Return what metrics say of the model."""
