"""Which byte comes first, and what becomes of control characters: TensorFlow 2.21's answers."""

from __future__ import annotations

import pytest

import ebbflow as tf


@pytest.mark.parametrize(
    ("text", "encoding", "found", "places"),
    [
        (b"\x00*", "UTF-16", b"*", [0]),
        (b"\x00\x00\x00*", "UTF-32", b"*", [0]),
        (b"\xfe\xff\x00*\x00a", "UTF-16", b"*a", [0, 4]),
        (b"\xff\xfe*\x00a\x00", "UTF-16", b"*a", [0, 4]),
        (b"*\x00", "UTF-16-LE", b"*", [0]),
        (b"\xfe\xff\x00*", "UTF-16-BE", b"\xef\xbb\xbf*", [0, 2]),
    ],
)
def test_the_order_of_bytes(text, encoding, found, places):
    assert tf.strings.unicode_transcode(text, encoding, "UTF-8").numpy() == found
    assert tf.strings.unicode_decode_with_offsets(text, encoding)[1].numpy().tolist() == places


@pytest.mark.parametrize(("errors", "found"), [("ignore", b"ab"), ("replace", b"a\xef\xbf\xbdb\xef\xbf\xbd")])
def test_control_characters(errors, found):
    given = {"errors": errors, "replace_control_characters": True}
    assert tf.strings.unicode_transcode(b"a\x00b\xff", "UTF-8", "UTF-8", **given).numpy() == found
