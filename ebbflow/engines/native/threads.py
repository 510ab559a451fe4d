"""Dividing a range among threads: those of libgomp, which come with oneDNN.

`GOMP_parallel` has each thread of a team call a function with one pointer; what the function needs lies behind it. The
function finds its number and the team's size, takes its share of the range, and calls the work with plain arguments, so
that the compiler may go on believing that they do not overlap. Without libgomp the caller does all of it.
"""

from __future__ import annotations

from ebbflow.engines.native import symbols
from ebbflow.engines.native.text import Body
from ebbflow.platform import threads


def count() -> int:
    """Return how many threads may divide a range among them."""
    return threads.count() if symbols.gomp() else 1


def parted(number: int | str, pointers: int, total: int, unit: int) -> list[str]:
    """Return the function that each thread calls: it does its share of the work."""
    units = -(-total // unit)
    lines = [f"define internal void @part{number}(ptr %frame) nounwind {{", "entry:"]
    for i in range(pointers):
        lines.append(f"  %f{i} = getelementptr ptr, ptr %frame, i64 {i}")
        lines.append(f"  %p{i} = load ptr, ptr %f{i}")
    if symbols.gomp():
        lines += ["  %me32 = call i32 @omp_get_thread_num()", "  %team32 = call i32 @omp_get_num_threads()"]
        lines += ["  %me = sext i32 %me32 to i64", "  %team = sext i32 %team32 to i64"]
    else:
        lines += ["  %me = add i64 0, 0", "  %team = add i64 1, 0"]
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


def call(body: Body, number: int | str, pointers: list[str], workers: int) -> None:
    """Have the work done."""
    frame = f"%frame{number}"
    body.frames.append(f"  {frame} = alloca [{len(pointers)} x ptr]")
    for i, pointer in enumerate(pointers):
        body.do(f"store ptr {pointer}, ptr {body(f'getelementptr ptr, ptr {frame}, i64 {i}')}")
    if workers > 1:
        body.do(f"call void @GOMP_parallel(ptr @part{number}, ptr {frame}, i32 {workers}, i32 0)")
    else:
        body.do(f"call void @part{number}(ptr {frame})")


def wait(body: Body, memory: str) -> None:
    """Wait until all threads of the team are here; they may have written to memory meanwhile.

    The function takes no argument: it is given the pointer so that the compiler knows that it is seen by others.
    """
    body.do(f"call void @GOMP_barrier(ptr {memory})")
