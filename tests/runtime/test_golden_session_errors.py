"""Misuse is answered with TensorFlow's error classes and the words programs look for.

Some 450 wrong calls (tests/golden/programs/errors*.py) were made in TensorFlow 1.15 and 2.21. Compared are the class,
the error code, the node that is blamed, and the promised words where a row has them; what TensorFlow lets pass must
pass here with the same value.
"""

import pytest

from tests.golden.programs import errors, replay

# Where Ebbflow answers otherwise on purpose, and why.
OTHERWISE = {
    "argmax out of range": "the axis is known when the graph is built, and is refused then",
    "cross entropy by position": "1.x refused positional arguments; programs from before 1.0 mean (logits, labels)",
}


@pytest.mark.parametrize("judge, name", [case for case in replay.cases("errors") if case[1] not in OTHERWISE])
def test_misuse(judge, name):
    expected, given = replay.outcome("errors", judge, name)
    if "gives" in expected:
        assert given == expected
        return
    said = given.get("says", "")
    kind = expected["raises"][0]
    assert kind in given.get("raises", ()), f"expected {kind}, got {given.get('raises', given)}: {said[-800:]}"
    words = errors.phrase(errors.book[name], judge)
    assert not words or words in said, f"{words!r} is not in {said[-800:]!r}"
    assert given.get("code") == expected.get("code", given.get("code"))
    if blames_a_node(expected):
        assert given["node"] == expected["node"]


def blames_a_node(expected):
    """Whether the recorded error names a node of the user's; those inside an assertion are TensorFlow's own."""
    return expected.get("node") is not None and "Assert" not in expected["node"]
