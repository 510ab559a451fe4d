"""Looking for cycles of garbage less often, while much is made that stays.

Python goes over what is new for every 700 objects, and over all there is when a quarter has come to it. A graph that
is being made is nearly all of it there to stay, so nothing is found; and one walk over all that a process with Keras
holds takes as long as making a small net's training step. Imported by whoever makes graphs, flows or code.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from ebbflow.core import forks

OBJECTS = 50_000
"""How many come between two looks meanwhile: some megabytes, if it should all be garbage."""


class _Held:
    times = 0  # by how many blocks that have not ended
    before: tuple[int, int, int] = (0, 0, 0)


_lock = forks.rlock()


@contextlib.contextmanager
def seldom() -> Iterator[None]:
    """Have Python look for garbage less often inside the block; one that never looks is left alone."""
    with _lock:
        if not _Held.times:
            _Held.before = gc.get_threshold()
            if 0 < _Held.before[0] < OBJECTS:
                gc.set_threshold(OBJECTS, *_Held.before[1:])
        _Held.times += 1
    try:
        yield
    finally:
        with _lock:
            _Held.times -= 1
            if not _Held.times and gc.get_threshold() == (OBJECTS, *_Held.before[1:]):  # nobody else has decided
                gc.set_threshold(*_Held.before)
