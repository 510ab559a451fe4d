"""A lock of groups: members come in together, others wait until all of them have left."""

import threading

import pytest

from ebbflow.platform.group_lock import GroupLock


def test_members_share_and_others_wait():
    lock, order = GroupLock(2), []
    lock.acquire(0)
    with lock.group(0):  # another member does not wait
        order.append("member")

    def other():
        with lock.group(1):
            order.append("other")

    thread = threading.Thread(target=other)
    thread.start()
    order.append("still held")
    lock.release(0)
    thread.join(30)
    assert order == ["member", "still held", "other"]


@pytest.mark.parametrize("group", [-1, 2])
def test_groups_that_there_are_not(group):
    with pytest.raises(ValueError, match="should be between 0 and num_groups=2"):
        GroupLock(2).group(group)
    with pytest.raises(ValueError, match="positive"):
        GroupLock(0)
