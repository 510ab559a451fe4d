"""Adding rows to rows that indices name, as machine code: one pass over what is added, in its order.

This is what becomes of the gradient of an embedding, of sums by segment, and of `scatter_add` and its kin. The order of
additions is that of the indices, so numbers are the same to the last bit as NumPy's. One piece of code serves all sizes
of a dtype; it looks at all indices before it writes. NumPy adds until the code is made, in the background.
"""

from __future__ import annotations

import ctypes

import numpy as np

from ebbflow.core import memory
from ebbflow.engines.native.late_code import ADDRESS, SIZE, LateCode

FLOATS = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
INDICES = {np.dtype(np.int32): "i32", np.dtype(np.int64): "i64"}
INSTRUCTIONS = {np.add: "fadd", np.subtract: "fsub"}

_TEXT = """
define i32 @entry(ptr noalias %rows, ptr noalias %at, ptr noalias %updates, i64 %n, i64 %width, i64 %count) nounwind {
start:
  %any = icmp ne i64 %n, 0
  br i1 %any, label %look, label %done
look:
  %k = phi i64 [ 0, %start ], [ %k1, %look ]
  %bad = phi i1 [ false, %start ], [ %worse, %look ]
  %lp = getelementptr INDEX, ptr %at, i64 %k
  %li = load INDEX, ptr %lp
  %lw = WIDEN INDEX %li to i64
  %out = icmp uge i64 %lw, %count
  %worse = or i1 %bad, %out
  %k1 = add nuw i64 %k, 1
  %more = icmp ult i64 %k1, %n
  br i1 %more, label %look, label %looked
looked:
  br i1 %worse, label %refuse, label %wide
wide:
  %some = icmp ne i64 %width, 0
  br i1 %some, label %row, label %done
row:
  %i = phi i64 [ 0, %wide ], [ %i1, %rowdone ]
  %ip = getelementptr INDEX, ptr %at, i64 %i
  %ii = load INDEX, ptr %ip
  %iw = WIDEN INDEX %ii to i64
  %to = mul nuw i64 %iw, %width
  %from = mul nuw i64 %i, %width
  %target = getelementptr FLOAT, ptr %rows, i64 %to
  %source = getelementptr FLOAT, ptr %updates, i64 %from
  br label %cell
cell:
  %j = phi i64 [ 0, %row ], [ %j1, %cell ]
  %tp = getelementptr FLOAT, ptr %target, i64 %j
  %sp = getelementptr FLOAT, ptr %source, i64 %j
  %old = load FLOAT, ptr %tp
  %more_of = load FLOAT, ptr %sp
  %new = ADD FLOAT %old, %more_of
  store FLOAT %new, ptr %tp
  %j1 = add nuw i64 %j, 1
  %on = icmp ult i64 %j1, %width
  br i1 %on, label %cell, label %rowdone
rowdone:
  %i1 = add nuw i64 %i, 1
  %next = icmp ult i64 %i1, %n
  br i1 %next, label %row, label %done
done:
  ret i32 1
refuse:
  ret i32 0
}
"""


class RowSums:
    """The code that adds rows of one dtype by indices of another: there when it is made, once it was asked for."""

    def __init__(self, kind: np.dtype, index: np.dtype, instruction: str):
        text = _TEXT.replace("INDEX", INDICES[index]).replace("FLOAT", FLOATS[kind]).replace("ADD", instruction)
        text = text.replace("WIDEN", "sext" if index.itemsize == 4 else "bitcast")
        self._code = LateCode(lambda: text, ctypes.c_int32, *[ADDRESS] * 3, *[SIZE] * 3)

    def __call__(self, rows: np.ndarray, at: np.ndarray, updates: np.ndarray) -> bool:
        """Add to rows in place; return whether that was done."""
        add = self._code.function()
        if add is None:
            return False
        width = rows.size // len(rows) if len(rows) else 0
        given = (memory.address(rows), memory.address(at), memory.address(updates))
        return bool(add(*given, at.size, width, len(rows)))
