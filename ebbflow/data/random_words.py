"""Where shuffled and random datasets take their numbers from: TensorFlow's streams of 32-bit words, bit for bit.

Two seeds name a stream of words. A dataset that is to differ at each iteration draws the two seeds of each iteration
from a stream of its own. Two zeros mean: not seeded.
"""

from __future__ import annotations

import secrets
import threading
from typing import Any

from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.random.philox import words_of
from ebbflow.ops.state.storage import boxed


class Seeds:
    """The seeds for one iteration after another: the same each time, or drawn anew."""

    def __init__(self, seed: int, seed2: int, anew: bool):
        self.first, self.anew = (seed, seed2), anew
        self._words = words_of(seed, seed2) if anew else None
        self._lock = threading.Lock()

    def draw(self) -> tuple[int, int]:
        """Return the seeds of the next iteration."""
        if self._words is None:
            return self.first
        with self._lock:
            return next(self._words), next(self._words)


def seeds_of(seed: int, seed2: int, anew: bool) -> Seeds:
    """Return the seeds for iterations of a dataset asked for with these two."""
    if not seed and not seed2:
        seed, seed2 = secrets.randbits(64), secrets.randbits(64)
    return Seeds(seed, seed2, anew)


DummySeedGenerator = op(
    "DummySeedGenerator() -> (handle:resource) | stateful", shape=scalar, gradient=FLAT, facts="copyable"
)


@DummySeedGenerator.kernel
def _(xp: Any) -> Any:
    return boxed(None)
