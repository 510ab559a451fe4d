"""Random words as machine code: the blocks of `ops.random.philox`, one after the other without Python's lock.

NumPy goes over arrays fifty times for them, which for the mask of a small dropout takes as long as the layer itself.
The words, and the numbers from [0, 1) that are made of them at once, are the same to the last bit, so nobody notices
from which call on the code is there. It is asked for when
enough calls have come by; programs that only initialise a few variables never load LLVM for it.
"""

from __future__ import annotations

import ctypes

import numpy as np

from ebbflow.core import memory
from ebbflow.engines.native.late_code import ADDRESS, LateCode
from ebbflow.ops.random.philox import _FACTORS, _KEY_STEPS, _ROUNDS

CALLS = 24
"""Calls after which the code is made."""


class Words:
    """The code that computes blocks of words: there as soon as it is made, once it was asked for often enough."""

    def __init__(self, fractions: bool = False) -> None:
        self._calls = 0
        self._dtype = np.float32 if fractions else np.uint32
        text = lambda: "\n".join(_text(fractions))
        self._code = LateCode(text, None, ADDRESS, *[ctypes.c_uint64] * 4)

    def __call__(self, key: int, low: int, high: int, count: int) -> np.ndarray | None:
        """Return `count` blocks from a counter on, as rows of four words; None where the code is not there yet."""
        self._calls += 1
        write = self._code.function() if self._calls >= CALLS else None
        if write is None:
            return None
        words = memory.empty((count, 4), self._dtype)
        write(memory.address(words), key, low, high, count)
        return words


def _text(fractions: bool) -> list[str]:
    """Return the function in LLVM's words: a loop over blocks, with the rounds written out."""
    lines = [
        "define void @entry(ptr noalias %out, i64 %key, i64 %low, i64 %high, i64 %n) nounwind {",
        "entry:",
        "  %c0 = trunc i64 %high to i32",
        "  %upper = lshr i64 %high, 32",
        "  %d0 = trunc i64 %upper to i32",
        "  %k0 = trunc i64 %key to i32",
        "  %second = lshr i64 %key, 32",
        "  %k1 = trunc i64 %second to i32",
    ]
    lines += [f"  %k{i} = add i32 %k{i - 2}, {_KEY_STEPS[i % 2]}" for i in range(2, 2 * _ROUNDS)]
    lines += [
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        "  %place = add i64 %low, %i",
        "  %a0 = trunc i64 %place to i32",
        "  %rest = lshr i64 %place, 32",
        "  %b0 = trunc i64 %rest to i32",
    ]
    for r in range(_ROUNDS):
        lines += _round(r)
    lines += ["  %first = mul i64 %i, 4"]
    for j, word in enumerate("abcd"):
        lines += _stored(j, word, fractions)
    return [
        *lines,
        "  %next = add i64 %i, 1",
        "  %more = icmp ult i64 %next, %n",
        "  br i1 %more, label %loop, label %done",
        "done:",
        "  ret void",
        "}",
    ]


def _stored(j: int, word: str, fraction: bool) -> list[str]:
    """Return the lines that put a word of a block, or the float32 from [0, 1) that it stands for, in its place."""
    lines = [
        f"  %at{word} = add i64 %first, {j}",
        f"  %to{word} = getelementptr i32, ptr %out, i64 %at{word}",
    ]
    if not fraction:
        return [*lines, f"  store i32 %{word}{_ROUNDS}, ptr %to{word}"]
    return [
        *lines,
        f"  %bits{word} = and i32 %{word}{_ROUNDS}, {(1 << 23) - 1}",
        f"  %whole{word} = sitofp i32 %bits{word} to float",
        f"  %part{word} = fmul float %whole{word}, 0x3E80000000000000",  # 2 ** -23
        f"  store float %part{word}, ptr %to{word}",
    ]


def _round(r: int) -> list[str]:
    """Return the lines of a round: from its four words to those of the next."""
    return [
        *_product("p", "a", r, _FACTORS[0]),
        *_product("q", "c", r, _FACTORS[1]),
        f"  %x{r} = xor i32 %qh{r}, %b{r}",
        f"  %a{r + 1} = xor i32 %x{r}, %k{2 * r}",
        f"  %b{r + 1} = trunc i64 %q{r} to i32",
        f"  %y{r} = xor i32 %ph{r}, %d{r}",
        f"  %c{r + 1} = xor i32 %y{r}, %k{2 * r + 1}",
        f"  %d{r + 1} = trunc i64 %p{r} to i32",
    ]


def _product(name: str, word: str, r: int, factor: int) -> list[str]:
    """Return the lines for the product of a word of a round and a factor, and its upper half."""
    return [
        f"  %{name}w{r} = zext i32 %{word}{r} to i64",
        f"  %{name}{r} = mul i64 %{name}w{r}, {factor}",
        f"  %{name}s{r} = lshr i64 %{name}{r}, 32",
        f"  %{name}h{r} = trunc i64 %{name}s{r} to i32",
    ]
