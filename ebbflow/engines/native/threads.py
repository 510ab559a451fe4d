"""Dividing a range among threads: those of libgomp, which come with oneDNN.

`GOMP_parallel` has each thread of a team call a function with one pointer; what the function needs lies behind it. The
function finds its number and the team's size, takes its share of the range, and calls the work with plain arguments, so
that the compiler may go on believing that they do not overlap. Without libgomp the caller does all of it.

A team is as fast as its last thread. On a machine that others use, one that has to wait for a core holds up all the
rest for milliseconds, whatever it has to do: who sees that does the shares one after the other for a while.
"""

from __future__ import annotations

from ebbflow.engines.native import symbols
from ebbflow.engines.native.text import Body
from ebbflow.platform import threads

PATIENCE = 1 << 20
"""Cycles, a third of a millisecond, that any work may take; an idle thread is awake after a tenth of it."""

SLOWEST = 16
"""Cycles that an addition may take, with all of its memory touched for the first time."""

REST = 1 << 28
"""Cycles, about a tenth of a second, for which nobody is called after a team was late."""

_TOGETHER = f"""
declare i64 @llvm.readcyclecounter()
define internal void @member(ptr %call) nounwind {{
  %share = load ptr, ptr %call
  %at = getelementptr ptr, ptr %call, i64 1
  %frame = load ptr, ptr %at
  %me32 = call i32 @omp_get_thread_num()
  %team32 = call i32 @omp_get_num_threads()
  %me = sext i32 %me32 to i64
  %team = sext i32 %team32 to i64
  call void %share(ptr %frame, i64 %me, i64 %team)
  ret void
}}
define internal void @together(ptr %share, ptr %frame, i32 %workers, i64 %shares, i64 %patience) noinline nounwind {{
entry:
  %call = alloca [2 x ptr]
  %start = call i64 @llvm.readcyclecounter()
  %until = load i64, ptr {symbols.BUSY}
  %busy = icmp ult i64 %start, %until
  br i1 %busy, label %alone, label %team
alone:
  %me = phi i64 [ 0, %entry ], [ %next, %alone ]
  call void %share(ptr %frame, i64 %me, i64 %shares)
  %next = add i64 %me, 1
  %more = icmp ult i64 %next, %shares
  br i1 %more, label %alone, label %done
team:
  store ptr %share, ptr %call
  %at = getelementptr ptr, ptr %call, i64 1
  store ptr %frame, ptr %at
  call void @GOMP_parallel(ptr @member, ptr %call, i32 %workers, i32 0)
  %end = call i64 @llvm.readcyclecounter()
  %took = sub i64 %end, %start
  %late = icmp ugt i64 %took, %patience
  br i1 %late, label %rest, label %done
rest:
  %then = add i64 %end, {REST}
  store i64 %then, ptr {symbols.BUSY}
  br label %done
done:
  ret void
}}"""


def definitions() -> list[str]:
    """Return what code that divides work calls."""
    return [_TOGETHER] if symbols.gomp() else []


def count() -> int:
    """Return how many threads may divide a range among them."""
    return threads.count() if symbols.gomp() else 1


def parted(number: int | str, pointers: int, total: int, unit: int) -> list[str]:
    """Return the function that each thread calls: it does its share of the work."""
    units = -(-total // unit)
    lines = [f"define internal void @part{number}(ptr %frame, i64 %me, i64 %team) nounwind {{", "entry:"]
    for i in range(pointers):
        lines.append(f"  %f{i} = getelementptr ptr, ptr %frame, i64 {i}")
        lines.append(f"  %p{i} = load ptr, ptr %f{i}")
    lines += [
        f"  %first = mul i64 %me, {units}",
        "  %next = add i64 %me, 1",
        f"  %last = mul i64 %next, {units}",
        "  %low = udiv i64 %first, %team",
        "  %high = udiv i64 %last, %team",
        f"  %begin = mul i64 %low, {unit}",
        f"  %stop = mul i64 %high, {unit}",
        f"  %over = icmp ugt i64 %stop, {total}",
        f"  %end = select i1 %over, i64 {total}, i64 %stop",
        "  %some = icmp ult i64 %begin, %end",
        "  br i1 %some, label %go, label %done",
        "go:",
        f"  call void @work{number}({''.join(f'ptr %p{i}, ' for i in range(pointers))}i64 %me, i64 %begin, i64 %end)",
        "  br label %done",
        "done:",
        "  ret void",
        "}",
    ]
    return ["\n".join(lines)]


def call(body: Body, number: int | str, pointers: list[str], workers: int, patience: int, waits: bool = False) -> None:
    """Have work done, by a team that is late when it takes longer than `patience`, in cycles.

    Who does it alone does the shares of a team, so that sums come out the same; but where threads wait for each other,
    all of it at once.
    """
    frame = f"%frame{number}"
    body.frames.append(f"  {frame} = alloca [{len(pointers)} x ptr]")
    for i, pointer in enumerate(pointers):
        body.do(f"store ptr {pointer}, ptr {body(f'getelementptr ptr, ptr {frame}, i64 {i}')}")
    if workers > 1:
        shares, patience = 1 if waits else workers, max(PATIENCE, patience)
        taken = f"ptr @part{number}, ptr {frame}, i32 {workers}, i64 {shares}, i64 {patience}"
        body.do(f"call void @together({taken})")
    else:
        body.do(f"call void @part{number}(ptr {frame}, i64 0, i64 1)")


def wait(body: Body, memory: str) -> None:
    """Wait until all threads of the team are here; they may have written to memory meanwhile.

    The function takes no argument: it is given the pointer so that the compiler knows that it is seen by others.
    """
    body.do(f"call void @GOMP_barrier(ptr {memory})")
