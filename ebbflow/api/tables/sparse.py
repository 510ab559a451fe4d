"""The names of sparse and ragged tensors."""

BOTH = """
[ops.sparse.sets]
set_difference as sets.difference
set_intersection as sets.intersection
set_size as sets.size
set_union as sets.union
[ops.sparse.counting]
edit_distance
sparse_bincount as sparse.bincount
[ops.sparse.cross]
sparse_cross as sparse.cross
sparse_cross_hashed as sparse.cross_hashed
[ops.ragged.cross]
ragged.: cross cross_hashed stack_dynamic_partitions
[ops.arrays.older_ops]
unravel_index
[ops.nn.older_ops]
extract_volume_patches
[ops.random.low_discrepancy]
math.sobol_sample
random.experimental.index_shuffle
[core.sparse]
SparseTensor sparse.SparseTensor
SparseTensorSpec
[ops.ragged.forms]
RaggedTensor
RaggedTensorSpec
[ops.ragged.functions]
ragged.: constant map_flat_values row_splits_to_segment_ids segment_ids_to_row_splits stack
ragged_range as ragged.range
[ops.ragged.rows]
ragged.boolean_mask
[ops.sparse.serialized]
deserialize_many_sparse as io.deserialize_many_sparse
[ops.sparse.functions]
sparse.: expand_dims eye fill_empty_rows from_dense mask maximum minimum reorder reset_shape reshape retain slice
sparse.: softmax sparse_dense_matmul to_dense to_indicator transpose
"""

V1 = """
[ops.sparse.sets]
sets.: set_difference set_intersection set_size set_union
[core.sparse]
SparseTensorValue
[graph.placeholders]
sparse_placeholder sparse.placeholder
[graph.ragged_placeholder]
ragged_placeholder as ragged.placeholder
[ops.ragged.functions]
ragged.constant_value
[ops.ragged.value]
RaggedTensorValue as ragged.RaggedTensorValue
[ops.nn.embedding_sparse]
embedding_lookup_sparse_v1 as nn.embedding_lookup_sparse
safe_embedding_lookup_sparse_v1 as nn.safe_embedding_lookup_sparse
[ops.sparse.functions]
add_v1 as sparse_add sparse.add
convert_to_tensor_or_sparse_tensor
concat_v1 as sparse_concat sparse.concat
fill_empty_rows as sparse_fill_empty_rows
mask as sparse_mask
maximum as sparse_maximum
minimum as sparse_minimum
reduce_max_sparse as sparse_reduce_max_sparse sparse.reduce_max_sparse
reduce_max_v1 as sparse_reduce_max sparse.reduce_max
reduce_sum_sparse as sparse_reduce_sum_sparse sparse.reduce_sum_sparse
reduce_sum_v1 as sparse_reduce_sum sparse.reduce_sum
reorder as sparse_reorder
reset_shape as sparse_reset_shape
reshape as sparse_reshape
retain as sparse_retain
slice as sparse_slice
softmax as sparse_softmax
sparse_dense_matmul as sparse_tensor_dense_matmul sparse.matmul
sparse_to_dense
split_v1 as sparse_split sparse.split
to_dense as sparse_tensor_to_dense
to_indicator as sparse_to_indicator
transpose as sparse_transpose
[ops.sparse.serialized]
deserialize_many_sparse
serialize_many_sparse_v1 as serialize_many_sparse io.serialize_many_sparse
serialize_sparse_v1 as serialize_sparse io.serialize_sparse
[ops.sparse.merging]
merge as sparse_merge sparse.merge
"""

V2 = """
[ops.sparse.serialized]
io.: serialize_many_sparse serialize_sparse
[ops.nn.embedding_sparse]
nn.embedding_lookup_sparse
nn.safe_embedding_lookup_sparse
[ops.sparse.entries]
sparse.map_values
[ops.sparse.functions]
sparse.: add concat reduce_max reduce_sum split
"""

INSIDE = """
[ops.ragged.dynamic_shape]
DynamicRaggedShape as python.ops.ragged.dynamic_ragged_shape.DynamicRaggedShape
partitions_and_values as python.ops.ragged.dynamic_ragged_shape._to_row_partitions_and_nvals_from_lengths
[ops.ragged.rows]
python.ops.ragged.ragged_batch_gather_with_default_op.batch_gather_with_default
[ops.ragged.matmul]
python.ops.ragged.ragged_math_ops.matmul
[ops.ragged.dim_sizes]
python.ops.ragged.ragged_tensor_shape.: RaggedTensorDynamicShape broadcast_dynamic_shape broadcast_to
[ops.ragged.shape_spec]
DynamicRaggedShapeBatchEncoder as python.ops.ragged.dynamic_ragged_shape._DynamicRaggedShapeBatchEncoder
[ops.ragged.shape_broadcast]
python.ops.ragged.dynamic_ragged_shape.: broadcast_dynamic_shape broadcast_dynamic_shape_extended broadcast_to
python.ops.ragged.dynamic_ragged_shape.: ragged_binary_elementwise_assert_op_impl ragged_binary_elementwise_op_impl
python.ops.ragged.ragged_array_ops.: broadcast_dynamic_shape broadcast_to
LayerBroadcaster as python.ops.ragged.dynamic_ragged_shape._LayerBroadcaster
Broadcaster as python.ops.ragged.dynamic_ragged_shape._Broadcaster
get_broadcaster as python.ops.ragged.dynamic_ragged_shape._get_broadcaster
get_identity_broadcaster as python.ops.ragged.dynamic_ragged_shape._get_identity_broadcaster
get_layer_broadcasters as python.ops.ragged.dynamic_ragged_shape._get_layer_broadcasters_from_rps
first_layers as python.ops.ragged.dynamic_ragged_shape._broadcast_dynamic_shape_first_layer
next_layers as python.ops.ragged.dynamic_ragged_shape._broadcast_dynamic_shape_next_layer
next_layers as python.ops.ragged.dynamic_ragged_shape._broadcast_dynamic_shape_next_layer_both_uniform
next_layers as python.ops.ragged.dynamic_ragged_shape._broadcast_dynamic_shape_next_layer_half_ragged
[ops.ragged.forms]
python.ops.ragged.ragged_array_ops.ragged_reshape
[ops.structured.array_ops]
python.ops.structured.structured_tensor.StructuredTensor
python.ops.structured.structured_array_ops.: concat expand_dims gather ones_like random_shuffle rank
python.ops.structured.structured_array_ops.: shape_v1 shape_v2 size size_v2 zeros_like
expand_dims as python.ops.structured.structured_array_ops.expand_dims_v2
ones_like as python.ops.structured.structured_array_ops.ones_like_v2
zeros_like as python.ops.structured.structured_array_ops.zeros_like_v2
extend_op as python.ops.structured.structured_array_ops._extend_op
structured_tensor_like as python.ops.structured.structured_array_ops._structured_tensor_like
[ops.structured.tensor]
python.ops.structured.structured_tensor.StructuredTensorSpec
[ops.structured.fields]
init_shape as python.ops.structured.structured_tensor_dynamic._dynamic_ragged_shape_init
merge_generic as python.ops.structured.structured_tensor._merge_dims_generic
field_value as python.ops.structured.structured_tensor._convert_to_structured_field_value
rows_of_shape as python.ops.structured.structured_tensor._row_partitions_for_uniform_shape
rows_of_ragged as python.ops.structured.structured_tensor._row_partitions_for_ragged_tensor
merge_nrows as python.ops.structured.structured_tensor._merge_nrows
[ops.arrays.creation]
ones as python.ops.ragged.dynamic_ragged_shape.ones
[api.inner_sparse]
add_sparse_to_tensors_map as python.ops.sparse_ops._add_sparse_to_tensors_map
add_many_sparse_to_tensors_map as python.ops.sparse_ops._add_many_sparse_to_tensors_map
take_many_sparse_from_tensors_map as python.ops.sparse_ops._take_many_sparse_from_tensors_map
deserialize_sparse as python.ops.sparse_ops.deserialize_sparse
append_composite_tensor as python.framework.composite_tensor_utils.append_composite_tensor
is_composite_or_composite_value as python.framework.composite_tensor_utils.is_composite_or_composite_value
compare_and_bitpack as python.ops.math_ops.compare_and_bitpack
[ops.random.stateful]
parameterized_truncated_normal as python.ops.random_ops.parameterized_truncated_normal
"""
