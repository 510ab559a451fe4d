"""Which tasks of a launched program have done their work and are gone: sessions do without them.

The supervisor writes it into the file by which a task shows that it is alive (`doors.task_process`), which has no name.
A program that was not launched knows of none. Knows that file, and nothing of sessions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

ALIVE = "EBBFLOW_ALIVE"
"""The variable with the number of that file."""

_LONGEST = 1 << 20
_TASK = re.compile(r"(\w+) (\d+)")


def departed() -> frozenset[str]:
    """Return the full names of the tasks that have ended well."""
    number = os.environ.get(ALIVE, "")
    if not number.isdecimal():
        return frozenset()
    try:
        if os.fstat(int(number)).st_nlink:  # another file: a process in between has closed ours
            return frozenset()
        text = os.pread(int(number), _LONGEST, 0).decode("ascii", "replace")
    except OSError:
        return frozenset()
    found = (_TASK.fullmatch(line) for line in text.splitlines())
    return frozenset(f"/job:{match[1]}/replica:0/task:{match[2]}" for match in found if match)


def tell(file: int, tasks: Iterable[str]) -> None:
    """Write which tasks, by names such as "worker 0", have ended well; the time of the file stays what it was."""
    times = os.fstat(file)
    os.pwrite(file, "".join(f"{task}\n" for task in sorted(tasks)).encode(), 0)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
