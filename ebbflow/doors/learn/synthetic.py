"""Points in rings and on spirals (`tf.contrib.learn.datasets.make_dataset`), for classifiers to be tried on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.doors.learn.data_files import TABLES, Dataset

SPIRALS: dict[str, Callable[[Any], Any]] = {
    "archimedes": lambda turn: turn / (2 * np.pi),
    "bernoulli": lambda turn: np.exp(0.1 * turn),
    "fermat": np.sqrt,
}
"""How far from the middle each kind of spiral is, by how far it has turned."""


def circles(
    n_samples: int = 100, noise: float | None = None, seed: int | None = None, factor: float = 0.8, n_classes: int = 2,
    *args: Any, **kwargs: Any,
) -> Any:  # fmt: skip
    """Return points on rings around each other, each ring a class, in an order by chance."""
    if seed is not None:
        np.random.seed(seed)
    turns = np.linspace(0, 2 * np.pi, n_samples // n_classes, endpoint=False)
    ring = np.stack([np.cos(turns), np.sin(turns)], 1)
    return _shuffled([ring * factor**number for number in range(n_classes)], noise)


def spirals(
    n_samples: int = 100, noise: float | None = None, seed: int | None = None, mode: str = "archimedes",
    n_loops: int = 2, *args: Any, **kwargs: Any,
) -> Any:  # fmt: skip
    """Return points on two arms of a spiral, each arm a class, in an order by chance."""
    if mode not in SPIRALS:
        raise ValueError(f"Cannot generate spiral with mode {mode}; one of {', '.join(SPIRALS)}")
    if seed is not None:
        np.random.seed(seed)
    turns = np.linspace(0, 2 * n_loops * np.pi, n_samples // 2, endpoint=False)
    arm = SPIRALS[mode](turns)[:, None] * np.stack([np.cos(turns), np.sin(turns)], 1)
    return _shuffled([arm, -arm], noise)


def _shuffled(parts: list[Any], noise: float | None) -> Any:
    """Return points of classes, somewhat off their places, in an order by chance."""
    data = np.concatenate(parts)
    target = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    if noise is not None:
        data = data + np.random.normal(scale=noise, size=data.shape)
    order = np.random.permutation(len(data))
    return Dataset(data=data[order], target=target[order])


SYNTHETIC: dict[str, Callable[..., Any]] = {"circles": circles, "spirals": spirals}
DATASETS: dict[str, Callable[..., Any]] = TABLES


def make_dataset(
    name: str, n_samples: int = 100, noise: float | None = None, seed: int = 42, *args: Any, **kwargs: Any
) -> Dataset:
    """Return one of the synthetic datasets, by its name."""
    if name not in SYNTHETIC:
        raise ValueError(f"Synthetic dataset not found or not implemeted: {name}; one of {', '.join(SYNTHETIC)}")
    return SYNTHETIC[name](*args, n_samples=n_samples, noise=noise, seed=seed, **kwargs)
