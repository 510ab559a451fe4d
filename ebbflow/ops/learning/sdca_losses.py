"""The losses of stochastic dual coordinate ascent: what each takes for labels, and its best dual for one example.

The dual of an example says how much it pulls at the weights. A loss knows the dual that raises the dual objective most
while all others stay, its value for a prediction, and its conjugate. Numbers only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from ebbflow.ops.sizes import invalid

NEWTON_STEPS = 10
"""Newton's steps double the digits: ten are more than enough."""


@dataclass(frozen=True)
class Example:
    """What a loss needs of one example: `pull` is how far a unit of its dual moves its own prediction."""

    label: float
    weight: float
    dual: float
    prediction: float
    pull: float


class Loss(Protocol):
    """One loss."""

    smoothness: float

    def label(self, label: float) -> float: ...
    def best_dual(self, example: Example) -> float: ...
    def primal(self, prediction: float, label: float) -> float: ...
    def conjugate(self, dual: float, label: float) -> float: ...
    def slope(self, prediction: float, label: float) -> float: ...


def _two_classes(label: float) -> float:
    if label not in (0.0, 1.0):
        raise invalid(
            f"Only labels of 0.0 or 1.0 are supported right now. Found example with label: {label:g} in example_labels"
        )
    return 1.0 if label else -1.0


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf


class Logistic:
    """log(1 + exp(-y p))."""

    smoothness = 4.0

    def label(self, label: float) -> float:
        return _two_classes(label)

    def best_dual(self, example: Example) -> float:
        y, x = example.label, 0.0
        for _ in range(NEWTON_STEPS):
            t = math.tanh(x)
            value = -2 * y * x - example.prediction - example.pull * (0.5 * (1 + t) / y - example.dual)
            x -= value / (-2 * y - example.pull * (1 - t * t) * 0.5 / y)
        return 0.5 * (1 + math.tanh(x)) / y

    def primal(self, prediction: float, label: float) -> float:
        margin = label * prediction
        return math.log1p(math.exp(-abs(margin))) + max(0.0, -margin)

    def conjugate(self, dual: float, label: float) -> float:
        return sum(p * math.log(p) if p > 0 else 0.0 for p in (dual * label, 1 - dual * label))

    def slope(self, prediction: float, label: float) -> float:
        return -label / (1 + _exp(label * prediction))


class Squared:
    """Half the square of the error."""

    smoothness = 1.0

    def label(self, label: float) -> float:
        return label

    def best_dual(self, example: Example) -> float:
        return example.dual + (example.label - example.dual - example.prediction) / (1 + example.pull)

    def primal(self, prediction: float, label: float) -> float:
        return 0.5 * (prediction - label) ** 2

    def conjugate(self, dual: float, label: float) -> float:
        return dual * (0.5 * dual - label)

    def slope(self, prediction: float, label: float) -> float:
        return prediction - label


class SmoothHinge:
    """max(0, 1 - y p), rounded off over a stretch of `gamma`; without one (0) the hinge itself."""

    def __init__(self, gamma: float):
        self.smoothness = gamma

    def label(self, label: float) -> float:
        return _two_classes(label)

    def best_dual(self, example: Example) -> float:
        gamma, span = self.smoothness, example.pull + self.smoothness
        wanted = example.label - example.prediction - gamma * example.dual
        dual = example.dual + (wanted / span if span else math.copysign(math.inf, wanted) if wanted else 0.0)
        return example.label * min(1.0, max(0.0, example.label * dual))

    def primal(self, prediction: float, label: float) -> float:
        gap, gamma = 1 - label * prediction, self.smoothness
        if gap <= 0:
            return 0.0
        return gap - gamma / 2 if gap >= gamma else gap * gap * 0.5 / gamma

    def conjugate(self, dual: float, label: float) -> float:
        pulled = dual * label
        return -pulled + 0.5 * self.smoothness * dual * dual if 0 <= pulled <= 1 else math.inf

    def slope(self, prediction: float, label: float) -> float:
        gap = 1 - label * prediction
        if gap <= 0:
            return 0.0
        return -label if gap >= self.smoothness else (prediction - label) / self.smoothness


class Poisson:
    """exp(p) - y p."""

    smoothness = 1.0

    def label(self, label: float) -> float:
        if label < 0:
            raise invalid(
                "Only non-negative labels can be used with the Poisson log loss. Found example with label: "
                f"{label:g} in example_labels"
            )
        return label

    def best_dual(self, example: Example) -> float:
        left = example.label - example.dual
        x = math.log(left) if left > 0 else 0.0
        for _ in range(NEWTON_STEPS):
            e = _exp(x)
            x -= (x - example.prediction - example.pull * (left - e)) / (1 + example.pull * e)
        return example.label - _exp(x)

    def primal(self, prediction: float, label: float) -> float:
        return _exp(prediction) - prediction * label

    def conjugate(self, dual: float, label: float) -> float:
        left = label - dual
        return math.inf if left < 0 else left * (math.log(left) - 1) if left else 0.0

    def slope(self, prediction: float, label: float) -> float:
        return _exp(prediction) - label


LOSSES: dict[str, Loss] = {
    "logistic_loss": Logistic(),
    "squared_loss": Squared(),
    "hinge_loss": SmoothHinge(0.0),
    "smooth_hinge_loss": SmoothHinge(1.0),
    "poisson_loss": Poisson(),
}
