"""Notices in docstrings, and what decorators refuse."""

import pytest

from ebbflow.platform import decorator_notes


@pytest.mark.parametrize(
    "doc, expected",
    [
        (None, "Nothing.\n\nWarning: Gone\nSay this"),
        ("Brief", "Brief (old)\n\nWarning: Gone\nSay this"),
        ("Brief\n\n    Long.\n    ", "Brief (old)\n\nWarning: Gone\nSay this\n\nLong."),
        ("Brief\n    Args:\n      x", "Brief (old)\n\nWarning: Gone\nSay this\n\nArgs:\n  x"),
    ],
)
def test_notices(doc, expected):
    assert decorator_notes.add_notice_to_docstring(doc, "Say this", "Nothing.", "(old)", ["Gone"]) == expected


def test_refusals():
    with pytest.raises(ValueError, match="not be empty"):
        decorator_notes.add_notice_to_docstring("Brief", "", "", "", [])
    with pytest.raises(ValueError, match="@property appears before @mine"):
        decorator_notes.validate_callable(3, "mine")
