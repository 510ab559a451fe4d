"""Bilinear resizing as machine code: one pass over an image, row by row, without Python's lock.

NumPy picks neighbours and steps between them in arrays as large as the image; here two rows are made at a time, and
those that the next row needs again are kept. The steps are those of `ops.image.taps`, rounded alike: results are the
same to the last bit, so nobody notices from which call on the code is there. One piece of code serves all sizes.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core import memory
from ebbflow.engines.native.late_code import ADDRESS, SIZE, LateCode
from ebbflow.ops.image.taps import Taps, each_image, kept

KINDS = {np.dtype(np.uint8): ("i8", "uitofp"), np.dtype(np.float32): ("float", "")}
"""Pixels that the code reads: how it loads and converts them. NumPy resizes others."""


class Resize:
    """The code that resizes images of one kind of numbers: there as soon as it is made, once it was asked for."""

    def __init__(self, kind: np.dtype):
        self._code = LateCode(lambda: _text(kind), None, *[ADDRESS] * 3, *[SIZE] * 3, *[ADDRESS] * 5)

    def __call__(self, images: np.ndarray, down: Taps, across: Taps) -> np.ndarray | None:
        """Return images [batch, height, width, channels] resized, or None where the code is not there yet."""
        resize = self._code.function()
        if resize is None:
            return None
        batch, height, width, channels = images.shape
        if width * channels >= 1 << 31:  # the code counts along a row in 32 bits
            return None
        images = np.ascontiguousarray(images)
        result = memory.empty((batch, len(down.places), len(across.places), channels))
        rows, columns = kept(down, "native", _rows), kept(across, ("native", channels), lambda t: _columns(t, channels))
        numbers = len(across.places) * channels
        sizes = (height, width * channels, len(down.places), numbers)
        begin, end = memory.address(images), memory.address(result)
        tables = [memory.address(a) for a in (*rows, *columns)]

        def one(i: int) -> None:
            scratch = np.empty(2 * numbers, np.float32)
            old, new = i * sizes[0] * sizes[1] * images.itemsize, i * sizes[2] * sizes[3] * 4
            resize(begin + old, end + new, memory.address(scratch), sizes[1], sizes[2], sizes[3], *tables)

        each_image(one, batch, result.size)
        return result


def _rows(down: Taps) -> tuple[np.ndarray, np.ndarray]:
    """Return which two old rows each new one lies between, and how far on the way."""
    return np.ascontiguousarray(down.places, np.int64), np.ascontiguousarray(down.weights[:, 1], np.float32)


def _columns(across: Taps, channels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first neighbour of each number of a row, the second, and how far on the way."""
    places = across.places.T[:, :, None] * channels + np.arange(channels)
    low, high = places.reshape(2, -1).astype(np.int32, order="C")
    return low, high, np.repeat(across.weights[:, 1], channels)


# --- LLVM's text ------------------------------------------------------------------------------------------------------


def _text(kind: np.dtype) -> str:
    return "\n".join([*_across(*KINDS[kind]), *_down(), _IMAGE.replace("BYTES", str(kind.itemsize))])


def _across(type: str, cast: str) -> list[str]:
    """Return the function that makes a row of numbers from an old row."""

    def read(name: str) -> list[str]:
        load = f"  %{name}raw = load {type}, ptr %{name}from"
        return [
            f"  %{name}at = getelementptr i32, ptr %{name}, i64 %i",
            f"  %{name}place = load i32, ptr %{name}at",
            f"  %{name}wide = zext i32 %{name}place to i64",
            f"  %{name}from = getelementptr {type}, ptr %row, i64 %{name}wide",
            load,
            f"  %{name}value = {cast} {type} %{name}raw to float" if cast else load.replace("raw", "value", 1),
        ]

    arguments = "ptr noalias %row, ptr noalias %out, i64 %n, ptr noalias %low, ptr noalias %high, ptr noalias %ways"
    return [
        f"define internal void @across({arguments}) nounwind {{",
        *_loop(
            [
                *read("low"),
                *read("high"),
                "  %wayat = getelementptr float, ptr %ways, i64 %i",
                "  %way = load float, ptr %wayat",
                "  %more = fsub float %highvalue, %lowvalue",
                "  %part = fmul float %more, %way",
                "  %sum = fadd float %part, %lowvalue",
            ]
        ),
    ]


def _down() -> list[str]:
    """Return the function that makes a new row between two rows."""
    return [
        "define internal void @down(ptr noalias %low, ptr noalias %high, ptr noalias %out, i64 %n, float %way) {",
        *_loop(
            [
                "  %lowat = getelementptr float, ptr %low, i64 %i",
                "  %lowvalue = load float, ptr %lowat",
                "  %highat = getelementptr float, ptr %high, i64 %i",
                "  %highvalue = load float, ptr %highat",
                "  %more = fsub float %highvalue, %lowvalue",
                "  %part = fmul float %more, %way",
                "  %sum = fadd float %part, %lowvalue",
            ]
        ),
    ]


def _loop(body: list[str]) -> list[str]:
    """Return a loop over `n` numbers that stores `sum` in each of `out`."""
    return [
        "entry:",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        *body,
        "  %to = getelementptr float, ptr %out, i64 %i",
        "  store float %sum, ptr %to",
        "  %next = add i64 %i, 1",
        "  %again = icmp ult i64 %next, %n",
        "  br i1 %again, label %loop, label %done",
        "done:",
        "  ret void",
        "}",
    ]


_IMAGE = """
define void @entry(ptr %image, ptr %out, ptr %scratch, i64 %old, i64 %rows, i64 %n, ptr %places,
                   ptr %steps, ptr %low, ptr %high, ptr %ways) nounwind {
entry:
  %stride = mul i64 %old, BYTES
  %second = getelementptr float, ptr %scratch, i64 %n
  br label %loop
loop:
  %y = phi i64 [ 0, %entry ], [ %next, %made ]
  %a0 = phi ptr [ %scratch, %entry ], [ %a, %made ]
  %b0 = phi ptr [ %second, %entry ], [ %b, %made ]
  %ina0 = phi i64 [ -1, %entry ], [ %top, %made ]
  %inb0 = phi i64 [ -1, %entry ], [ %bottom, %made ]
  %twice = mul i64 %y, 2
  %topat = getelementptr i64, ptr %places, i64 %twice
  %bottomat = getelementptr i64, ptr %topat, i64 1
  %top = load i64, ptr %topat
  %bottom = load i64, ptr %bottomat
  %turn = icmp eq i64 %top, %inb0  ; what was below is above now
  %a = select i1 %turn, ptr %b0, ptr %a0
  %b = select i1 %turn, ptr %a0, ptr %b0
  %ina = select i1 %turn, i64 %inb0, i64 %ina0
  %inb = select i1 %turn, i64 %ina0, i64 %inb0
  %hasa = icmp eq i64 %ina, %top
  br i1 %hasa, label %below, label %first
first:
  %topstart = mul i64 %top, %stride
  %toprow = getelementptr i8, ptr %image, i64 %topstart
  call void @across(ptr %toprow, ptr %a, i64 %n, ptr %low, ptr %high, ptr %ways)
  br label %below
below:
  %hasb = icmp eq i64 %inb, %bottom
  br i1 %hasb, label %between, label %last
last:
  %bottomstart = mul i64 %bottom, %stride
  %bottomrow = getelementptr i8, ptr %image, i64 %bottomstart
  call void @across(ptr %bottomrow, ptr %b, i64 %n, ptr %low, ptr %high, ptr %ways)
  br label %between
between:
  %stepat = getelementptr float, ptr %steps, i64 %y
  %step = load float, ptr %stepat
  %newstart = mul i64 %y, %n
  %newrow = getelementptr float, ptr %out, i64 %newstart
  call void @down(ptr %a, ptr %b, ptr %newrow, i64 %n, float %step)
  br label %made
made:
  %next = add i64 %y, 1
  %again = icmp ult i64 %next, %rows
  br i1 %again, label %loop, label %done
done:
  ret void
}
"""
"""The function for one image: `a` and `b` are the rows in hand, `ina` and `inb` say which old rows they are."""
