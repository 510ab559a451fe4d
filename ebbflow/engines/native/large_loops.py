"""A costly function of all elements of an array, as machine code on all cores.

One piece of code serves every size and shape of a dtype. It is made when it is first asked for, a tenth of a second
that the call waits (its numbers are not NumPy's to the last bit), and kept with other code. Threads take parts until
none is left, and whoever has not begun by then is not waited for (`platform.threads.helped`): on a machine that others
use, a call takes as long as the core it has needs, and not until another is free. Knows LLVM's text; which ops it is
for says `large_calls`.
"""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

from ebbflow.core import dtypes, memory
from ebbflow.core.tensor import ndarray
from ebbflow.engines.native.late_code import ADDRESS, SIZE, LateCode
from ebbflow.platform import threads

PART = 1 << 14
"""Elements that a thread takes at a time."""

KINDS = {dtypes.float32: ("f32", "float"), dtypes.float64: ("f64", "double")}


class LargeFunction:
    """A function of all elements of an array, as machine code."""

    def __init__(self, name: str, dtype: Any):
        self._dtype = dtype.np
        self._code = LateCode(lambda: _text(name, *KINDS[dtype]), None, ADDRESS, ADDRESS, SIZE, ADDRESS, wait=True)

    def __call__(self, x: ndarray) -> ndarray | None:
        """Return a new array of results, or None where the code is not there, or not for this."""
        run = self._code.function()
        if run is None:
            return None
        if not x.flags.c_contiguous or not x.flags.aligned or x.dtype is not self._dtype:
            return None
        out = memory.empty(x.shape, self._dtype)
        taken = ctypes.c_int64(0)
        work = partial(run, memory.address(x), memory.address(out), x.size, ctypes.addressof(taken))
        if x.size <= PART:  # one thread's
            work()
        else:
            threads.helped(work)
        return out


def _text(name: str, kind: str, type: str) -> str:
    from ebbflow.engines.native import kernel  # loads LLVM: for those who have large arrays

    return "\n".join([*kernel.own_functions(name, kind).values(), *_work(name, kind, type), *_entry()])


def _work(name: str, kind: str, type: str) -> list[str]:
    return [
        "define internal void @work(ptr noalias %x, ptr noalias %out, i64 %begin, i64 %end) nounwind {",
        "entry:",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]",
        f"  %from = getelementptr {type}, ptr %x, i64 %i",
        f"  %to = getelementptr {type}, ptr %out, i64 %i",
        f"  %value = load {type}, ptr %from",
        f"  %result = call {type} @ebb.{name}.{kind}({type} %value)",
        f"  store {type} %result, ptr %to",
        "  %next = add i64 %i, 1",
        "  %more = icmp ult i64 %next, %end",
        "  br i1 %more, label %loop, label %done",
        "done:",
        "  ret void",
        "}",
    ]


def _entry() -> list[str]:
    """Return the function that each thread calls: it takes parts as long as there are any that nobody has taken."""
    return [
        "define void @entry(ptr %x, ptr %out, i64 %n, ptr %taken) nounwind {",
        "start:",
        "  br label %take",
        "take:",
        f"  %begin = atomicrmw add ptr %taken, i64 {PART} monotonic",
        "  %some = icmp ult i64 %begin, %n",
        "  br i1 %some, label %go, label %done",
        "go:",
        f"  %stop = add i64 %begin, {PART}",
        "  %over = icmp ugt i64 %stop, %n",
        "  %end = select i1 %over, i64 %n, i64 %stop",
        "  call void @work(ptr %x, ptr %out, i64 %begin, i64 %end)",
        "  br label %take",
        "done:",
        "  ret void",
        "}",
    ]
