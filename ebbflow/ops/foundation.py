"""What every use of tensors may need, whichever name a program asks for first: Python's operators, indexing, and how
lists of tensors become one.

Families put these on the tensor classes when they are imported; `raw` finds everything else by name.
"""

from __future__ import annotations

from ebbflow.ops.arrays import creation, indexing, joining, masks, slicing
from ebbflow.ops.elementwise import binary, compare, unary
from ebbflow.ops.linalg import matmul
from ebbflow.ops.ragged import forms
from ebbflow.ops.sparse import entries, functions

FAMILIES = (creation, indexing, joining, masks, slicing, unary, binary, compare, matmul, forms, entries, functions)
