"""`imghdr`, which Python dropped in 3.13: the kind of an image, told from its first bytes.

Lent to the program being run, by `vanished`.
"""

from __future__ import annotations

from typing import Any

KINDS = (
    ("png", lambda h: h.startswith(b"\x89PNG\r\n\x1a\n")),
    ("jpeg", lambda h: h[6:10] in (b"JFIF", b"Exif") or h[:4] == b"\xff\xd8\xff\xdb" or h[:3] == b"\xff\xd8\xff"),
    ("gif", lambda h: h[:6] in (b"GIF87a", b"GIF89a")),
    ("tiff", lambda h: h[:2] in (b"MM", b"II")),
    ("webp", lambda h: h.startswith(b"RIFF") and h[8:12] == b"WEBP"),
    ("bmp", lambda h: h.startswith(b"BM")),
    ("rgb", lambda h: h.startswith(b"\x01\xda")),
    ("pbm", lambda h: h[:2] in (b"P1", b"P4")),
    ("pgm", lambda h: h[:2] in (b"P2", b"P5")),
    ("ppm", lambda h: h[:2] in (b"P3", b"P6")),
)


def what(file: Any, h: bytes | None = None) -> str | None:
    """Return the kind of an image file, or None.

    >>> what(None, b"GIF89a...")
    'gif'
    """
    if h is None:
        if hasattr(file, "read"):
            place = file.tell()
            h = file.read(32)
            file.seek(place)
        else:
            with open(file, "rb") as stream:
                h = stream.read(32)
    return next((kind for kind, fits in KINDS if fits(h)), None)
