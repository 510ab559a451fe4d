"""Loops over arrays of texts, which may become machine code (`core.loops`), and how kernels call them.

A loop has `n` texts and says with a negative number that an object is no plain bytes object, or that there is no
memory; then the kernel's other way answers. Below `FEW` texts that other way is as quick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.loops import (
    I32,
    I64,
    Loop,
    Texts,
    all_texts,
    copy_text,
    is_missing,
    loop,
    new_text,
    text_loop,
)

FEW = 64
REFUSED = -1


def code_for(loop: Loop, *texts: np.ndarray) -> Callable[..., Any] | None:
    """Return the code of a loop for arrays of texts that it can walk; None where there is none, or few texts so far."""
    if not all([t.flags.c_contiguous for t in texts]):
        return None
    return loop.worth(max([t.size for t in texts]), FEW)


def walked(loop: Loop, texts: np.ndarray, *rest: Any) -> np.ndarray | None:
    """Return the texts that a loop makes, one of each; None where it cannot."""
    code = code_for(loop, texts)
    if code is None:
        return None
    result = np.empty(texts.shape, object)
    return result if code(texts, texts.size, *rest, result) >= 0 else None


@loop
def lengths(texts: Texts, n: int, characters: bool, out: I32) -> int:
    """Count the bytes of each text, or those that begin a UTF-8 character."""
    if not all_texts(texts, n):
        return REFUSED
    for i in range(n):
        text = texts[i]
        count = len(text)
        if characters:
            count = 0
            for k in range(len(text)):
                if text[k] & 0xC0 != 0x80:
                    count += 1
        out[i] = count
    return 0


@text_loop
def parts(texts: Texts, n: int, starts: I64, counts: I64, several: int, out: Texts) -> int:
    """Cut a part out of each text; stop at one that its start is not in. `several` is 1 where each has its own."""
    if not all_texts(texts, n):
        return REFUSED
    for i in range(n):
        text = texts[i]
        size = len(text)
        start = starts[i * several]
        count = counts[i * several]
        if start < -size or start > size:
            return REFUSED
        if start < 0:
            start += size
        if count < 0 or count > size - start:
            count = size - start
        part = new_text(count)
        if is_missing(part):
            return REFUSED
        copy_text(part, 0, text, start, count)
        out[i] = part
    return 0


@text_loop
def joined_pairs(texts: Texts, n: int, others: Texts, step: int, other: int, glue: Texts, out: Texts) -> int:
    """Join two texts with a third between; a step of 0 takes the first again and again."""
    if not all_texts(texts, n * step + 1 - step) or not all_texts(others, n * other + 1 - other):
        return REFUSED
    between = glue[0]
    for i in range(n):
        left = texts[i * step]
        right = others[i * other]
        whole = new_text(len(left) + len(between) + len(right))
        if is_missing(whole):
            return REFUSED
        copy_text(whole, 0, left, 0, len(left))
        copy_text(whole, len(left), between, 0, len(between))
        copy_text(whole, len(left) + len(between), right, 0, len(right))
        out[i] = whole
    return 0


@text_loop
def cased(texts: Texts, n: int, first: int, out: Texts) -> int:
    """Turn the 26 letters from `first` on to their other case."""
    if not all_texts(texts, n):
        return REFUSED
    for i in range(n):
        text = texts[i]
        whole = new_text(len(text))
        if is_missing(whole):
            return REFUSED
        for k in range(len(text)):
            letter = text[k]
            turned = letter ^ 32
            whole[k] = turned if letter >= first and letter < first + 26 else letter
        out[i] = whole
    return 0


def is_blank(letter: int) -> bool:
    return letter == 32 or (letter >= 9 and letter <= 13)


@text_loop
def stripped(texts: Texts, n: int, out: Texts) -> int:
    """Leave white space at both ends of each text out."""
    if not all_texts(texts, n):
        return REFUSED
    for i in range(n):
        text = texts[i]
        end = len(text)
        start = 0
        while start < end and is_blank(text[start]):
            start += 1
        while end > start and is_blank(text[end - 1]):
            end -= 1
        part = new_text(end - start)
        if is_missing(part):
            return REFUSED
        copy_text(part, 0, text, start, end - start)
        out[i] = part
    return 0


def letter_of(six: int) -> int:
    """The letter of base64 (the one for URLs) that stands for six bits."""
    if six < 26:
        return six + 65
    if six < 52:
        return six + 71
    if six < 62:
        return six - 4
    return 45 if six == 62 else 95


@text_loop
def base64_encoded(texts: Texts, n: int, pad: bool, out: Texts) -> int:
    """Write each text in the letters of base64."""
    if not all_texts(texts, n):
        return REFUSED
    for i in range(n):
        text = texts[i]
        size = len(text)
        bare = (size * 4 + 2) // 3
        total = (size + 2) // 3 * 4 if pad else bare
        whole = new_text(total)
        if is_missing(whole):
            return REFUSED
        for k in range(total):
            whole[k] = 61
        for k in range(bare):
            at = k * 6 // 8
            low = text[at + 1] if at + 1 < size else 0
            pair = text[at] * 256 + low
            whole[k] = letter_of(pair >> (10 - k * 6 % 8) & 63)
        out[i] = whole
    return 0


def six_of(letter: int) -> int:
    """The six bits that a letter of base64 stands for, or a negative number."""
    if letter >= 65 and letter <= 90:
        return letter - 65
    if letter >= 97 and letter <= 122:
        return letter - 71
    if letter >= 48 and letter <= 57:
        return letter + 4
    if letter == 45:
        return 62
    return 63 if letter == 95 else REFUSED


@text_loop
def base64_decoded(texts: Texts, n: int, out: Texts) -> int:
    """Read each text in the letters of base64, filled up or not."""
    if not all_texts(texts, n):
        return REFUSED
    for i in range(n):
        text = texts[i]
        size = len(text)
        if size % 4 == 0 and size > 0 and text[size - 1] == 61:
            size -= 1
            if text[size - 1] == 61:
                size -= 1
        if size % 4 == 1:
            return REFUSED
        whole = new_text(size * 3 // 4)
        if is_missing(whole):
            return REFUSED
        bits = 0
        held = 0
        at = 0
        for k in range(size):
            six = six_of(text[k])
            if six < 0:
                out[i] = whole
                return REFUSED
            bits = (bits << 6 | six) & 0xFFFF
            held += 6
            if held >= 8:
                held -= 8
                whole[at] = bits >> held
                at += 1
        out[i] = whole
    return 0
