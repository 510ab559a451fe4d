"""Patterns as tables match the texts that `re` matches."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import late_code
from ebbflow.ops.strings import automata
from ebbflow.ops.strings.patterns import compiled, decoded

TEXTS = ["".join(letters) for n in range(6) for letters in itertools.product("ab1\n", repeat=n)]
TEXTS += ["word_12", "w", "W", "", "aéb", "é", "a" * 12, "ab" * 9, "\x00", "\x7f", "x-y", "a.b"]
RAW = [text.encode() for text in TEXTS] + [b"a\xffb", b"\xff"]

SERVED = [
    "", "a", "w.*", "a*", "a+b?", "(a|b)*", "(?:a|b1)+", "[ab]{2,3}", "[^a]*", "a{3}", "(a*)*b", "^a.*b$", "^$",
    "$^", "a^b", "a$b", "(^a|b)$", ".*?1", "\\d+", "\\w+_\\d{2}", "\\W", "[[:alpha:]]+", "x\\-y", "a\\.b", "(?s)a.b?",
    "é|a", "[é-ü]a*", "[^é]*", "a|ab|abb", "((a)|(b))+1", ".{2,}", "\\Aab*\\z", "a??b", "[\\x00-\\x1f]",
]  # fmt: skip
LEFT = ["(?i)a", "a\\b", "(?m)^a$", "a{900}", "(a|b)*a(a|b){9}"]


@pytest.mark.parametrize("pattern", SERVED)
def test_a_table_matches_what_re_matches(pattern):
    found = compiled(pattern.encode())
    table = automata.table(found)
    assert table is not None
    for text in RAW:
        if text.isascii():
            state = 1
            for letter in text:
                state = table.follows[state * 128 + letter]
            assert bool(table.accepts[state]) == (found.fullmatch(decoded(text)) is not None), text


@pytest.mark.parametrize("pattern", LEFT)
def test_what_has_no_table_is_left_to_re(pattern):
    assert automata.table(compiled(pattern.encode())) is None


@pytest.mark.parametrize("pattern", [*SERVED, *LEFT])
def test_texts_of_all_letters_match_as_one_by_one(pattern):
    texts = tf.constant(np.array(RAW, object))
    tf.strings.regex_full_match(texts, pattern)
    late_code.settle()
    single = [bool(tf.strings.regex_full_match(tf.constant(text), pattern)) for text in RAW[::7]]
    assert tf.strings.regex_full_match(texts, pattern).numpy()[::7].tolist() == single
