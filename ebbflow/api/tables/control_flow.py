"""The names of control flow: loops, choices, arrays of tensors."""

BOTH = """
[functions.batching]
nondifferentiable_batch_function
[functions.control_flow.case]
case
switch_case
[functions.control_flow.loops]
foldl
foldr
map_fn
scan
[functions.vectorize.vectorized_map]
vectorized_map
[functions.control_flow.tensor_array]
TensorArray
TensorArraySpec
"""

V1 = """
[functions.control_flow.cond]
cond_v1 as cond
[functions.control_flow.while_loop]
while_loop_v1 as while_loop
"""

V2 = """
[functions.control_flow.cond]
cond
[functions.control_flow.while_loop]
while_loop
"""
