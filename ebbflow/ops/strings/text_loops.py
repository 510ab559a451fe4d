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
    U8,
    Loop,
    Text,
    Texts,
    copy_text,
    is_missing,
    is_text,
    kept,
    loop,
    new_text,
    text_loop,
    u64,
)
from ebbflow.ops.parts import in_shares

FEW = 64
REFUSED = -1
SHARE = 1 << 14
"""Texts that a thread looks at at a time."""
RECENT, SHORT = 256, 16
"""How many of the texts that were made last are remembered to be given again, and up to how many bytes they have."""


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


def looked_at(loop: Loop, texts: np.ndarray, out: np.ndarray, *rest: Any) -> bool:
    """Fill `out` with what a loop finds in each text, on all cores; return whether it could."""
    code = code_for(loop, texts)
    if code is None:
        return False
    flat, found, answers = texts.reshape(-1), out.reshape(-1), []

    def work(begin: int, end: int) -> None:
        own = [r.copy() if isinstance(r, np.ndarray) else r for r in rest]  # arrays are for a loop to write into
        answers.append(code(flat[begin:end], end - begin, *own, found[begin:end]))

    in_shares(work, texts.size, SHARE)
    return min(answers) >= 0


def recent_texts() -> np.ndarray:
    """Return room for the texts that a loop made last."""
    return np.full(RECENT, b"", object)


def part_of(text: Text, start: int, count: int, recent: Texts) -> Text:
    """Return a part of a text: the text itself where that is all of it, or one of the same bytes that was made lately.

    Words come again and again, and a new object costs as much as looking for an old one ten times.
    """
    if count == len(text):
        return kept(text)
    mixed = u64(count)
    if count <= SHORT:
        for k in range(count):
            mixed = (mixed ^ u64(text[start + k])) * 0x100000001B3
    place = int((mixed >> 16) % RECENT)
    if count <= SHORT:
        old = recent[place]
        if len(old) == count:
            same = 0
            while same < count and old[same] == text[start + same]:
                same += 1
            if same == count:
                return kept(old)
    part = new_text(count)
    if not is_missing(part):
        copy_text(part, 0, text, start, count)
        if count <= SHORT:
            recent[place] = kept(part)
    return part


@loop
def lengths(texts: Texts, n: int, characters: bool, out: I32) -> int:
    """Count the bytes of each text, or those that begin a UTF-8 character."""
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        count = len(text)
        if characters:
            count = 0
            for k in range(len(text)):
                if text[k] & 0xC0 != 0x80:
                    count += 1
        out[i] = count
    return 0


UNSURE = 2


@loop
def matches(texts: Texts, n: int, follows: I32, accepts: U8, out: U8) -> int:
    """Say of each text whether an automaton (`automata`) accepts it, or is not made for its letters."""
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        state = 1
        sure = True
        for k in range(len(text)):
            letter = text[k]
            if letter >= 128:
                sure = False
                break
            state = follows[state * 128 + letter]
            if state == 0:
                break
        out[i] = accepts[state] if sure else UNSURE
    return 0


@text_loop
def parts(texts: Texts, n: int, starts: I64, counts: I64, several: int, recent: Texts, out: Texts) -> int:
    """Cut a part out of each text; stop at one that its start is not in. `several` is 1 where each has its own."""
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        size = len(text)
        start = starts[i * several]
        count = counts[i * several]
        if start < -size or start > size:
            return REFUSED
        if start < 0:
            start += size
        if count < 0 or count > size - start:
            count = size - start
        part = part_of(text, start, count, recent)
        if is_missing(part):
            return REFUSED
        out[i] = part
    return 0


@text_loop
def joined_pairs(texts: Texts, n: int, others: Texts, step: int, other: int, glue: Texts, out: Texts) -> int:
    """Join two texts with a third between; a step of 0 takes the first again and again."""
    between = glue[0]
    for i in range(n):
        left = texts[i * step]
        right = others[i * other]
        if not is_text(left) or not is_text(right):
            return REFUSED
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
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        at = 0
        while at < len(text) and (text[at] < first or text[at] >= first + 26):
            at += 1
        if at == len(text):
            out[i] = kept(text)
            continue
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
def stripped(texts: Texts, n: int, recent: Texts, out: Texts) -> int:
    """Leave white space at both ends of each text out."""
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        end = len(text)
        start = 0
        while start < end and is_blank(text[start]):
            start += 1
        while end > start and is_blank(text[end - 1]):
            end -= 1
        part = part_of(text, start, end - start, recent)
        if is_missing(part):
            return REFUSED
        out[i] = part
    return 0


LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8)
"""What stands for six bits in base64 (the one for URLs)."""


@text_loop
def base64_encoded(texts: Texts, n: int, pad: bool, letters: U8, out: Texts) -> int:
    """Write each text in the letters of base64."""
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        size = len(text)
        bare = (size * 4 + 2) // 3
        total = (size + 2) // 3 * 4 if pad else bare
        whole = new_text(total)
        if is_missing(whole):
            return REFUSED
        triples = size // 3
        for k in range(triples):
            bits = text[3 * k] << 16 | text[3 * k + 1] << 8 | text[3 * k + 2]
            whole[4 * k] = letters[bits >> 18]
            whole[4 * k + 1] = letters[bits >> 12 & 63]
            whole[4 * k + 2] = letters[bits >> 6 & 63]
            whole[4 * k + 3] = letters[bits & 63]
        if size > 3 * triples:
            bits = text[3 * triples] << 16
            if size > 3 * triples + 1:
                bits |= text[3 * triples + 1] << 8
            for k in range(4 * triples, bare):
                whole[k] = letters[bits >> (18 - 6 * (k - 4 * triples)) & 63]
            for k in range(bare, total):
                whole[k] = 61
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
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
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
