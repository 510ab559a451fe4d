"""Loops that cut texts into parts, and join neighbours, which may become machine code (`core.loops`)."""

from __future__ import annotations

from ebbflow.core.loops import I64, Text, Texts, copy_text, is_missing, is_text, loop, new_text, text_loop
from ebbflow.ops.strings.text_loops import REFUSED, is_blank, part_of


def found_at(text: Text, start: int, mark: Text) -> int:
    """Return where a mark stands from `start` on, or the text's length."""
    size = len(text)
    width = len(mark)
    for at in range(start, size - width + 1):
        if text[at] == mark[0]:
            same = 1
            while same < width and text[at + same] == mark[same]:
                same += 1
            if same == width:
                return at
    return size


def begin_of(text: Text, at: int, blanks: bool) -> int:
    """Return where the part begins that `at` is before."""
    begin = at
    if blanks:
        while begin < len(text) and is_blank(text[begin]):
            begin += 1
    return begin


def end_of(text: Text, begin: int, mark: Text, last: bool) -> int:
    """Return where a part ends; an empty mark stands for white space."""
    if last:
        return len(text)
    if len(mark) > 0:
        return found_at(text, begin, mark)
    end = begin
    while end < len(text) and not is_blank(text[end]):
        end += 1
    return end


@loop
def counts_of_parts(texts: Texts, n: int, marks: Texts, most: int, out: I64) -> int:
    """Count the parts of each text between marks, of which only the first `most` count unless that is negative."""
    mark = marks[0]
    blanks = len(mark) == 0
    for i in range(n):
        text = texts[i]
        if not is_text(text):
            return REFUSED
        count = 0
        at = 0
        while True:
            begin = begin_of(text, at, blanks)
            if blanks and begin == len(text):
                break
            end = end_of(text, begin, mark, count == most)
            count += 1
            if end == len(text):
                break
            at = end + len(mark)
        out[i] = count
    return 0


@text_loop
def split_texts(texts: Texts, n: int, marks: Texts, most: int, recent: Texts, indices: I64, out: Texts) -> int:
    """Cut each text between marks; `indices` are the row and the column of each part."""
    mark = marks[0]
    blanks = len(mark) == 0
    place = 0
    for i in range(n):
        text = texts[i]
        count = 0
        at = 0
        while True:
            begin = begin_of(text, at, blanks)
            if blanks and begin == len(text):
                break
            end = end_of(text, begin, mark, count == most)
            part = part_of(text, begin, end - begin, recent)
            if is_missing(part):
                return REFUSED
            out[place] = part
            indices[2 * place] = i
            indices[2 * place + 1] = count
            place += 1
            count += 1
            if end == len(text):
                break
            at = end + len(mark)
    return 0


@text_loop
def joined_neighbours(texts: Texts, n: int, width: int, glue: Texts, out: Texts) -> int:
    """Join each text with the ones behind it, `width` in all."""
    between = glue[0]
    for i in range(n):
        if not is_text(texts[i]):
            return REFUSED
    for i in range(n - width + 1):
        size = len(between) * (width - 1)
        for k in range(width):
            size += len(texts[i + k])
        whole = new_text(size)
        if is_missing(whole):
            return REFUSED
        at = 0
        for k in range(width):
            if k > 0:
                copy_text(whole, at, between, 0, len(between))
                at += len(between)
            one = texts[i + k]
            copy_text(whole, at, one, 0, len(one))
            at += len(one)
        out[i] = whole
    return 0
