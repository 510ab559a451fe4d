"""The scripts of characters, by ICU's numbers: a table that `tools/record/unicode_scripts.py` wrote. Knows no ops."""

from __future__ import annotations

import functools
import pathlib

import numpy as np

SCRIPTS_FILE = pathlib.Path(__file__).with_name("scripts.txt")
_NAMES = """
    Common Inherited Arabic Armenian Bengali Bopomofo Cherokee Coptic Cyrillic Deseret Devanagari Ethiopic Georgian
    Gothic Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian
    Myanmar Ogham Old_Italic Oriya Runic Sinhala Syriac Tamil Telugu Thaana Thai Tibetan
"""
SCRIPTS = {name: number for number, name in enumerate(_NAMES.split())}
"""The scripts that patterns know by name."""


@functools.cache
def script_table() -> tuple[np.ndarray, np.ndarray]:
    """Return the first code point of each range and the number of its script."""
    rows = [line.split() for line in SCRIPTS_FILE.read_text().splitlines() if line and not line.startswith("#")]
    return np.array([int(start, 16) for start, _ in rows]), np.array([int(script) for _, script in rows], np.int32)


@functools.cache
def scripts_of_all() -> np.ndarray:
    """Return the number of every code point's script: a table of four megabytes, for those who have many."""
    starts, scripts = script_table()
    return np.repeat(scripts, np.diff(starts, append=0x110000))


def script_ranges(number: int) -> list[tuple[int, int]]:
    """Return the ranges of code points (both ends included) of a script."""
    starts, scripts = script_table()
    ends = [*starts[1:].tolist(), 0x110000]
    return [(a, b - 1) for a, b, s in zip(starts.tolist(), ends, scripts.tolist(), strict=True) if s == number]
