"""The names of control flow: loops, choices, arrays of tensors."""

BOTH = """
[functions.case]
case
switch_case
[functions.loops]
foldl
foldr
map_fn
scan
[functions.vectorize]
vectorized_map
[functions.tensor_array]
TensorArray
TensorArraySpec
"""

V1 = """
[functions.cond]
cond_v1 as cond
[functions.while_loop]
while_loop_v1 as while_loop
"""

V2 = """
[functions.cond]
cond
[functions.while_loop]
while_loop
"""
