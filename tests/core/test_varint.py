"""Numbers as varints: there and back, and what is cut off or too long is refused."""

import pytest

from ebbflow.core.varint import to_varint, varint


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**32, 2**63, 2**64 - 1])
def test_there_and_back(number):
    data = b"\xff" + to_varint(number) + b"\x05"
    assert varint(data, 1) == (number, len(data) - 1)


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 9, b"\xff" * 10 + b"\x01"])
def test_cut_off_or_too_long(data):
    with pytest.raises(IndexError):
        varint(data, 0)
