"""A lock that all members of one group may hold together, and nobody of another."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager


class GroupLock:
    """Members of one group hold it at a time, as many as like."""

    def __init__(self, num_groups: int = 2) -> None:
        if num_groups < 1:
            raise ValueError(f"num_groups must be a positive integer, got {num_groups}")
        self._free = threading.Condition()
        self._group_member_counts = [0] * num_groups

    def acquire(self, group_id: int) -> None:
        """Wait until no other group holds the lock, and join those who do."""
        self._check(group_id)
        with self._free:
            self._free.wait_for(lambda: not any(n for g, n in enumerate(self._group_member_counts) if g != group_id))
            self._group_member_counts[group_id] += 1

    def release(self, group_id: int) -> None:
        """Leave the lock; the last of a group lets others in."""
        self._check(group_id)
        with self._free:
            self._group_member_counts[group_id] -= 1
            if not self._group_member_counts[group_id]:
                self._free.notify_all()

    @contextmanager
    def _held(self, group_id: int) -> Iterator[None]:
        self.acquire(group_id)
        try:
            yield
        finally:
            self.release(group_id)

    def group(self, group_id: int) -> AbstractContextManager[None]:
        """Return a block that holds the lock for a group."""
        self._check(group_id)
        return self._held(group_id)

    def _check(self, group_id: int) -> None:
        if not 0 <= group_id < len(self._group_member_counts):
            raise ValueError(f"group_id={group_id} should be between 0 and num_groups={len(self._group_member_counts)}")
