"""Places that are known only when the code runs, where it may say in the end that one was not there.

Code of a loop that others have filled the lists of cannot look at all places beforehand: it looks at each when it comes
to it, takes one that is there in its stead, and raises an alarm. Whoever has called it then drops what it has computed.
"""

from __future__ import annotations

from ebbflow.engines.native.lowering import Lowering
from ebbflow.engines.native.values import Held, Num

ABSENT, FULL = 1, 2
"""What an alarm says: a place is not there; there is no room for more in a list."""


def inside(low: Lowering, places: Held, count: Held | int) -> Held:
    """Return places that are there, of so many; raise the alarm where one is another."""
    limit = low.full(count, "i64", ()) if isinstance(count, int) else count
    wide = widened(low, places)
    wrong: Held = low.map(lambda i, n: (i < 0) | ~(i < n), wide, limit, kind="bool")
    if wrong.dims:
        ones = low.map(lambda w: w.where(Num(w.body, "i64", "1"), 0), wrong, kind="i64")
        most = low.reduce("max", ones, range(len(ones.dims)))
        wrong = low.map(lambda n: n > 0, most, kind="bool")
    raise_where(low, wrong, ABSENT)
    below = low.map(lambda i, n: (i < n).where(i, n - 1), wide, limit)
    return low.write(low.room("i64", wide.dims), low.map(lambda i: (i < 0).where(0, i), below))


def raise_where(low: Lowering, wrong: Held, why: int) -> None:
    """Raise the alarm where something holds, if it was not raised before."""
    assert low.alarm is not None
    quiet = low.map(lambda wrong, was: wrong & was.compare("eq", 0), wrong, low.alarm, kind="bool")
    low.write(low.alarm, low.map(lambda now, was: now.where(why, was), quiet, low.alarm, kind="i64"))


def widened(low: Lowering, number: Held) -> Held:
    """Return integers as those of 64 bits."""
    if number.kind == "i64":
        return number
    return low.map(lambda n: Num(n.body, "i64", n.body(f"sext i32 {n.name} to i64")), number, kind="i64")
