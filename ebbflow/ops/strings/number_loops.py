"""Numbers as texts and texts as numbers, in loops that may become machine code (`core.loops`).

They know the plain spellings, and those that can be read or written exactly; a negative answer leaves all to Python.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core.loops import F64, I64, Text, Texts, f64, is_missing, is_text, loop, new_text, text_loop
from ebbflow.ops.strings.text_loops import REFUSED

POWERS = 10.0 ** np.arange(23)
"""The powers of ten that are exact."""
DIGITS = 15
"""Digits that a float64 holds whatever they are."""
LARGEST = 1e9
MILLION = 1000000


def count_of(number: int) -> int:
    """The number of digits of a number that is not negative."""
    count = 1
    while number >= 10:
        number = number // 10
        count += 1
    return count


def write(text: Text, end: int, number: int, digits: int) -> None:
    """Write digits of a number that end before a place."""
    for k in range(digits):
        text[end - 1 - k] = 48 + number % 10
        number = number // 10


@text_loop
def whole_texts(numbers: I64, n: int, out: Texts) -> int:
    """Write whole numbers, the least of 64 bits left out."""
    for i in range(n):
        number = numbers[i]
        sign = 1 if number < 0 else 0
        if number < 0:
            number = -number
        if number < 0:
            return REFUSED
        digits = count_of(number)
        text = new_text(sign + digits)
        if is_missing(text):
            return REFUSED
        if sign == 1:
            text[0] = 45
        write(text, sign + digits, number, digits)
        out[i] = text
    return 0


@text_loop
def fixed_texts(numbers: F64, n: int, out: Texts) -> int:
    """Write numbers with six digits behind the point; of no more than 24 bits, so that a million times one is exact."""
    for i in range(n):
        number = numbers[i]
        if not abs(number) < LARGEST:
            return REFUSED
        sign = 1 if number < 0.0 or (number == 0.0 and 1.0 / number < 0.0) else 0
        scaled = abs(number) * 1e6
        parts = int(scaled)
        rest = scaled - f64(parts)
        if rest > 0.5 or (rest == 0.5 and parts % 2 == 1):
            parts += 1
        digits = count_of(parts // MILLION)
        text = new_text(sign + digits + 7)
        if is_missing(text):
            return REFUSED
        if sign == 1:
            text[0] = 45
        write(text, sign + digits, parts // MILLION, digits)
        text[sign + digits] = 46
        write(text, sign + digits + 7, parts % MILLION, 6)
        out[i] = text
    return 0


@loop
def decimals(texts: Texts, n: int, powers: F64, out: F64) -> int:
    """Read numbers of a few digits, with a sign or a point."""
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        size = len(text)
        at = 1 if size > 0 and (text[0] == 45 or text[0] == 43) else 0
        mantissa = 0
        digits = 0
        scale = 0
        behind = 0
        while at < size and ((text[at] >= 48 and text[at] <= 57) or (text[at] == 46 and behind == 0)):
            if text[at] == 46:
                behind = 1
            else:
                mantissa = mantissa * 10 + text[at] - 48
                digits += 1
                scale -= behind
                if digits > DIGITS:
                    return REFUSED
            at += 1
        if digits == 0 or at < size:
            return REFUSED
        value = f64(mantissa) / powers[-scale]
        out[i] = -value if text[0] == 45 else value
    return 0


@loop
def wholes(texts: Texts, n: int, out: I64) -> int:
    """Read whole numbers of at most 18 digits."""
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        size = len(text)
        at = 1 if size > 0 and (text[0] == 45 or text[0] == 43) else 0
        if at == size or size - at > 18:
            return REFUSED
        value = 0
        for k in range(at, size):
            if text[k] < 48 or text[k] > 57:
                return REFUSED
            value = value * 10 + text[k] - 48
        out[i] = -value if text[0] == 45 else value
    return 0
