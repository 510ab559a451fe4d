"""Where shuffled and random datasets take their numbers from: TensorFlow's streams of 32-bit words, bit for bit.

Two seeds name a stream of words. A dataset that is to differ at each iteration draws the two seeds of each iteration
from a stream of its own. Two zeros mean: not seeded. A dataset that is made while another is gone over, and is not
seeded, draws its seeds from those of the iteration, so that an iteration can be gone through again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ebbflow.core import forks
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.random.philox import words_of
from ebbflow.ops.random.seeds import by_chance, iteration, own_seeds
from ebbflow.ops.state.storage import boxed

DRAWN = "drawn"
"""In the streams of an iteration: which seeds its stages have drawn, as `Draws`."""

Runs = Sequence[Sequence[int]]
"""Numbers, as the first and the count of those that follow each other."""


class Seeds:
    """The seeds for one iteration after another: the same each time, or drawn anew."""

    def __init__(self, seed: int, seed2: int, anew: bool):
        self.first, self.anew = (seed, seed2), anew
        self._words: Iterator[int] = words_of(seed, seed2)
        self._drawn = self._at = 0  # by whoever asked, and the number of the pair that comes next in `_words`
        self._lock = forks.lock()

    def draw(self) -> tuple[int, int]:
        """Return the seeds of the next iteration, or those that this one drew here before."""
        if not self.anew:
            return self.first
        draws: Draws | None = (iteration.streams or {}).get(DRAWN)
        with self._lock:
            number = None if draws is None else draws.again(self)
            if number is None:
                number = self._drawn
                self._drawn += draws is None or not draws.over
                if draws is not None:
                    draws.note(self, number)
            return self._pair(number)

    def _pair(self, number: int) -> tuple[int, int]:
        if number != self._at:
            self._words = itertools.islice(words_of(*self.first, number // 2), number % 2 * 2, None)
        self._at = number + 1
        return next(self._words), next(self._words)

    def state(self) -> tuple[int, int, int]:
        """Return where this is: the two seeds, and how many iterations have drawn theirs."""
        return *self.first, self._drawn

    def noted(self, draws: Draws | None) -> tuple[tuple[int, int, int], list[list[int]]]:
        """Return where this is, and which of its seeds an iteration has drawn."""
        with self._lock:
            return self.state(), [] if draws is None else draws.runs(self)

    def go_to(self, state: tuple[int, int, int]) -> None:
        """Go on as those did whose state this was."""
        with self._lock:
            self.first, self._drawn = (state[0], state[1]), state[2]
            self._words, self._at = words_of(*self.first), 0


class Draws:
    """Which of their seeds the stages of an iteration have drawn, by number: others may draw meanwhile.

    One that goes on from a checkpoint draws the recorded ones again, and only then what nobody has drawn yet.
    """

    def __init__(
        self, stages: Sequence[Seeds], recorded: Mapping[int, Runs] | None = None, around: Draws | None = None
    ):
        self.stages = stages  # those of datasets that the iteration makes are told apart by nobody
        self._before = {
            key: itertools.chain.from_iterable([range(first, first + count) for first, count in runs])
            for key, runs in (recorded or {}).items()
        }
        self._around = around  # draws and notes in place of this one
        self._runs = {id(seeds): [list(run) for run in (recorded or {}).get(id(seeds), ())] for seeds in stages}
        self.over = False  # nobody goes on with the iteration: what its threads still draw is taken from nobody

    def again(self, seeds: Seeds) -> int | None:
        """Return what was drawn at this point before, by one that is done again; None where nobody was that far."""
        if self._around is None:
            return next(self._before.get(id(seeds), _NONE), None)
        number = self._around.again(seeds)
        if number is not None:
            self._add(seeds, number)
        return number

    def note(self, seeds: Seeds, number: int) -> None:
        """Keep what was drawn for the first time."""
        self._add(seeds, number)
        if self._around is not None:
            self._around.note(seeds, number)

    def _add(self, seeds: Seeds, number: int) -> None:
        runs = self._runs.get(id(seeds))
        if runs and sum(runs[-1]) == number:
            runs[-1][1] += 1
        elif runs is not None:
            runs.append([number, 1])

    def runs(self, seeds: Seeds) -> list[list[int]]:
        """Return what was drawn of some seeds, or is to be drawn again."""
        return [list(run) for run in self._runs[id(seeds)]]


_NONE: Iterator[int] = iter(())


def seeds_of(seed: int, seed2: int, anew: bool) -> Seeds:
    """Return the seeds for iterations of a dataset asked for with these two."""
    if not seed and not seed2:
        streams: Any = iteration.streams
        seed, seed2 = by_chance() if streams is None else drawer(streams).draw()
    return Seeds(seed, seed2, anew)


def drawer(streams: dict[Any, Any]) -> Seeds:
    """Return where datasets that are made while an iteration runs take their seeds from."""
    known = streams.get("datasets")
    return known if known is not None else streams.setdefault("datasets", Seeds(*own_seeds(streams), anew=True))


DummySeedGenerator = op(
    "DummySeedGenerator() -> (handle:resource) | stateful", shape=scalar, gradient=FLAT, facts="copyable"
)


@DummySeedGenerator.kernel
def _(xp: Any) -> Any:
    return boxed(None)
