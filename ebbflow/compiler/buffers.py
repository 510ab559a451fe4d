"""Where intermediate values lie: offsets in one block of memory, used again when a value is dead.

Values of a straight line come to life in order and die after their last use. An element-wise result may take the place
of an input that dies with it. First fit on the free gaps, at multiples of 64 bytes, which is what vector units and XLA
want.
"""

from __future__ import annotations

from ebbflow.core.memory import ALIGN


class Block:
    """The gaps of a block of memory while it is being planned."""

    def __init__(self) -> None:
        self.size = 0
        self._free: list[tuple[int, int]] = []  # (start, end), in order, never touching

    def take(self, nbytes: int) -> int:
        """Return the offset of that many free bytes: the smallest gap that holds them, or the end."""
        wanted = -(-max(nbytes, 1) // ALIGN) * ALIGN
        best = min((g for g in self._free if g[1] - g[0] >= wanted), key=lambda g: g[1] - g[0], default=None)
        if best is None:
            start = self.size
            if self._free and self._free[-1][1] == self.size:  # the gap at the end grows
                start = self._free.pop()[0]
            self.size = start + wanted
            return start
        at = self._free.index(best)
        self._free[at : at + 1] = [(best[0] + wanted, best[1])] if best[1] - best[0] > wanted else []
        return best[0]

    def give(self, start: int, nbytes: int) -> None:
        """Let bytes be used again."""
        end = start + -(-max(nbytes, 1) // ALIGN) * ALIGN
        gaps = [*self._free, (start, end)]
        gaps.sort()
        merged: list[tuple[int, int]] = []
        for gap in gaps:
            if merged and merged[-1][1] == gap[0]:
                merged[-1] = (merged[-1][0], gap[1])
            else:
                merged.append(gap)
        self._free = merged
