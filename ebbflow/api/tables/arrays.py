"""The names of arrays: making, shaping, slicing, gathering; checks, strings, control and the rest of `ops`."""

BOTH = """
[ops.arrays.parallel_concat]
parallel_stack
[ops.arrays.joining]
concat
split
stack
unstack
[ops.checks.asserts]
add_check_numerics_ops
Assert debugging.Assert
assert_greater_equal_v1 as assert_greater_equal
assert_less_equal_v1 as assert_less_equal
assert_near_v1 as assert_near
assert_negative_v1 as assert_negative
assert_non_negative_v1 as assert_non_negative
assert_non_positive_v1 as assert_non_positive
assert_none_equal_v1 as assert_none_equal
assert_positive_v1 as assert_positive
is_non_decreasing debugging.is_non_decreasing math.is_non_decreasing
is_strictly_increasing debugging.is_strictly_increasing math.is_strictly_increasing
[ops.control.barriers]
timestamp
[ops.arrays.ensure_shape]
ensure_shape
[ops.arrays.creation]
convert_to_tensor_or_indexed_slices
fill
guarantee_const
identity
identity_n
ones
stop_gradient
zeros
[ops.linalg.diag]
diag as matrix_diag linalg.diag
diag_part as matrix_diag_part linalg.diag_part
tensor_diag as diag linalg.tensor_diag
tensor_diag_part as diag_part linalg.tensor_diag_part
eye linalg.eye
linalg.band_part matrix_band_part
linalg.set_diag matrix_set_diag
[ops.arrays.indexing]
batch_gather
gather_nd_v1 as manip.gather_nd
meshgrid
one_hot
[ops.arrays.masks]
sequence_mask
[ops.linalg.norms]
linalg.l2_normalize math.l2_normalize nn.l2_normalize
math.zero_fraction nn.zero_fraction
linalg.normalize
[ops.arrays.reversing]
reverse reverse_v2 manip.reverse
roll manip.roll
[ops.arrays.padding]
repeat
required_space_to_batch_paddings
tile manip.tile
[ops.arrays.partition]
dynamic_partition
dynamic_stitch
[ops.checks.printing]
Print
print
[ops.arrays.ranges]
linspace lin_space
range
[ops.raw_ops]
raw_ops
[ops.arrays.scatter]
scatter_nd manip.scatter_nd
tensor_scatter_nd_add tensor_scatter_add
tensor_scatter_nd_max
tensor_scatter_nd_min
tensor_scatter_nd_sub tensor_scatter_sub
tensor_scatter_nd_update tensor_scatter_update
[ops.control.script]
numpy_function
py_func
[ops.arrays.sets]
setdiff1d
unique
unique_with_counts
[ops.checks.shape_asserts]
assert_rank_at_least_v1 as assert_rank_at_least
assert_rank_in_v1 as assert_rank_in
assert_scalar_v1 as assert_scalar
[ops.arrays.broadcasting]
broadcast_dynamic_shape
broadcast_static_shape
broadcast_to
[ops.elementwise.casts]
bitcast
[ops.arrays.permutations]
invert_permutation math.invert_permutation
[ops.arrays.shaping]
matrix_transpose linalg.matrix_transpose linalg.transpose
rank
reshape manip.reshape
shape_n
[ops.arrays.slicing]
slice_ as slice
strided_slice
[ops.arrays.space]
batch_to_space_nd manip.batch_to_space_nd
depth_to_space_v1 as depth_to_space
extract_image_patches image.extract_image_patches
space_to_batch_nd manip.space_to_batch_nd
space_to_depth_v1 as space_to_depth
image.extract_patches
[ops.random.stateless]
random.Algorithm random.experimental.Algorithm
random.fold_in random.experimental.stateless_fold_in
random.split random.experimental.stateless_split
stateless_random_binomial as random.stateless_binomial
stateless_random_gamma as random.stateless_gamma
stateless_random_normal as random.stateless_normal
stateless_random_poisson as random.stateless_poisson
stateless_random_uniform as random.stateless_uniform
random.: stateless_categorical stateless_multinomial stateless_parameterized_truncated_normal
random.: stateless_truncated_normal
random.experimental.stateless_shuffle
[ops.strings.format_join]
as_string dtypes.as_string strings.as_string
string_join strings.join
[ops.checks.type_asserts]
assert_integer
assert_proper_iterable debugging.assert_proper_iterable
assert_same_float_dtype debugging.assert_same_float_dtype
assert_type
is_numeric_tensor debugging.is_numeric_tensor
"""

V1 = """
[ops.checks.asserts]
assert_equal_v1 as assert_equal debugging.assert_equal
assert_greater_v1 as assert_greater debugging.assert_greater
assert_less_v1 as assert_less debugging.assert_less
assert_greater_equal_v1 as debugging.assert_greater_equal
assert_less_equal_v1 as debugging.assert_less_equal
assert_near_v1 as debugging.assert_near
assert_negative_v1 as debugging.assert_negative
assert_non_negative_v1 as debugging.assert_non_negative
assert_non_positive_v1 as debugging.assert_non_positive
assert_none_equal_v1 as debugging.assert_none_equal
assert_positive_v1 as debugging.assert_positive
[ops.arrays.creation]
constant_v1 as constant
ones_like_v1 as ones_like
zeros_like_v1 as zeros_like
[ops.arrays.masks]
boolean_mask_v1 as boolean_mask
[ops.arrays.indexing]
gather_v1 as gather
gather_nd_v1 as gather_nd
[ops.linalg.norms]
norm_v1 as norm linalg.norm
[ops.arrays.reversing]
reverse_sequence_v1 as reverse_sequence
[ops.arrays.padding]
pad_v1 as pad
[ops.checks.shape_asserts]
assert_rank_v1 as assert_rank debugging.assert_rank
assert_rank_at_least_v1 as debugging.assert_rank_at_least
assert_rank_in_v1 as debugging.assert_rank_in
assert_scalar_v1 as debugging.assert_scalar
assert_shapes_v1 as debugging.assert_shapes
[ops.arrays.shaping]
expand_dims_v1 as expand_dims
shape_v1 as shape
size_v1 as size
squeeze_v1 as squeeze
transpose_v1 as transpose
[ops.arrays.space]
batch_to_space_v1 as batch_to_space
depth_to_space_v1 as nn.depth_to_space
space_to_depth_v1 as nn.space_to_depth
space_to_batch_v1 as space_to_batch nn.space_to_batch
[ops.checks.type_asserts]
assert_integer_v1 as debugging.assert_integer
assert_type_v1 as debugging.assert_type
"""

V2 = """
[ops.checks.asserts]
assert_equal debugging.assert_equal
assert_greater debugging.assert_greater
assert_less debugging.assert_less
debugging.: assert_greater_equal assert_less_equal assert_near assert_negative assert_non_negative assert_non_positive
debugging.: assert_none_equal assert_positive
[ops.arrays.creation]
constant
ones_like
zeros_like
[ops.arrays.masks]
boolean_mask
[ops.arrays.indexing]
gather
gather_nd
[ops.linalg.norms]
norm linalg.norm
[ops.arrays.reversing]
reverse_sequence
[ops.arrays.padding]
pad
[ops.checks.shape_asserts]
assert_rank debugging.assert_rank
debugging.: assert_rank_at_least assert_rank_in assert_scalar assert_shapes
[ops.arrays.shaping]
expand_dims
shape
size
squeeze
transpose
[ops.arrays.space]
batch_to_space
space_to_batch nn.space_to_batch
nn.depth_to_space
nn.space_to_depth
[ops.random.stateless]
image.stateless_random_crop
[ops.checks.type_asserts]
debugging.assert_integer
debugging.assert_type
"""
