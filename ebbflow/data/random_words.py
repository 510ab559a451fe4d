"""Where shuffled and random datasets take their numbers from: TensorFlow's streams of 32-bit words, bit for bit.

Two seeds name a stream of words. A dataset that is to differ at each iteration draws the two seeds of each iteration
from a stream of its own. Two zeros mean: not seeded. A dataset that is made while another is gone over, and is not
seeded, draws its seeds from those of the iteration, so that an iteration can be gone through again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ebbflow.core import forks
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.random.philox import words_of
from ebbflow.ops.random.seeds import by_chance, iteration, own_seeds
from ebbflow.ops.state.storage import boxed


class Seeds:
    """The seeds for one iteration after another: the same each time, or drawn anew."""

    def __init__(self, seed: int, seed2: int, anew: bool):
        self.first, self.anew = (seed, seed2), anew
        self._words: Iterator[int] = words_of(seed, seed2)
        self._drawn = 0
        self._lock = forks.lock()

    def draw(self) -> tuple[int, int]:
        """Return the seeds of the next iteration."""
        if not self.anew:
            return self.first
        with self._lock:
            self._drawn += 1
            return next(self._words), next(self._words)

    def state(self) -> tuple[int, int, int]:
        """Return where this is: the two seeds, and how many iterations have drawn theirs."""
        return *self.first, self._drawn

    def go_to(self, state: tuple[int, int, int]) -> None:
        """Go on as those did whose state this was."""
        with self._lock:
            self.first, self._drawn = (state[0], state[1]), state[2]
            self._words = itertools.islice(words_of(*self.first), 2 * self._drawn, None)


def seeds_of(seed: int, seed2: int, anew: bool) -> Seeds:
    """Return the seeds for iterations of a dataset asked for with these two."""
    if not seed and not seed2:
        streams: Any = iteration.streams
        seed, seed2 = by_chance() if streams is None else _drawer(streams).draw()
    return Seeds(seed, seed2, anew)


def _drawer(streams: dict[Any, Any]) -> Seeds:
    """Return where datasets that are made while an iteration runs take their seeds from."""
    known = streams.get("datasets")
    return known if known is not None else streams.setdefault("datasets", Seeds(*own_seeds(streams), anew=True))


DummySeedGenerator = op(
    "DummySeedGenerator() -> (handle:resource) | stateful", shape=scalar, gradient=FLAT, facts="copyable"
)


@DummySeedGenerator.kernel
def _(xp: Any) -> Any:
    return boxed(None)
