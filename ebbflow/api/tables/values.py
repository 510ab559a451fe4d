"""The names of dtypes, shapes, tensors, errors, nested structures and device names: the vocabulary of `core`."""

BOTH = """
[core.spec]
TensorSpec
type_spec_from_value
[core.composite]
TypeSpec data.experimental.Structure
[core.type_dispatch]
experimental.: dispatch_for_api dispatch_for_binary_elementwise_apis dispatch_for_binary_elementwise_assert_apis
experimental.: dispatch_for_unary_elementwise_apis unregister_dispatch_for
[ops.extension.types]
experimental.: ExtensionType ExtensionTypeSpec
as_dict as experimental.extension_type.as_dict
[ops.extension.batching]
experimental.: BatchableExtensionType ExtensionTypeBatchEncoder
[io.structures]
encode_structure as __internal__.saved_model.encode_structure
[core.containers]
nest.is_nested
[core.context]
executing_eagerly
[core.convert]
register_tensor_conversion_function
[core.dlpack]
experimental.dlpack.: from_dlpack to_dlpack
[core.dtypes]
dtypes.QUANTIZED_DTYPES
as_dtype dtypes.as_dtype
bfloat16 dtypes.bfloat16
bool dtypes.bool
complex128 dtypes.complex128
complex64 dtypes.complex64
double float64 dtypes.double dtypes.float64
DType dtypes.DType
experimental.float4_e2m1fn dtypes.experimental.float4_e2m1fn
experimental.float8_e4m3b11fnuz dtypes.experimental.float8_e4m3b11fnuz
experimental.float8_e4m3fn dtypes.experimental.float8_e4m3fn
experimental.float8_e4m3fnuz dtypes.experimental.float8_e4m3fnuz
experimental.float8_e5m2 dtypes.experimental.float8_e5m2
experimental.float8_e5m2fnuz dtypes.experimental.float8_e5m2fnuz
experimental.int2 dtypes.experimental.int2
experimental.int4 dtypes.experimental.int4
experimental.uint2 dtypes.experimental.uint2
experimental.uint4 dtypes.experimental.uint4
float32 dtypes.float32
half float16 dtypes.float16 dtypes.half
int16 dtypes.int16
int32 dtypes.int32
int64 dtypes.int64
int8 dtypes.int8
qint16 dtypes.qint16
qint32 dtypes.qint32
qint8 dtypes.qint8
quint16 dtypes.quint16
quint8 dtypes.quint8
resource dtypes.resource
string dtypes.string
uint16 dtypes.uint16
uint32 dtypes.uint32
uint64 dtypes.uint64
uint8 dtypes.uint8
variant dtypes.variant
[core.errors]
OpError errors.OpError
errors.: ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS DEADLINE_EXCEEDED
errors.: DataLossError DeadlineExceededError FAILED_PRECONDITION FailedPreconditionError INTERNAL INVALID_ARGUMENT
errors.: InternalError InvalidArgumentError NOT_FOUND NotFoundError OK OUT_OF_RANGE OutOfRangeError PERMISSION_DENIED
errors.: PermissionDeniedError RESOURCE_EXHAUSTED ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED
errors.: UNKNOWN UnauthenticatedError UnavailableError UnimplementedError UnknownError error_code_from_exception_type
errors.: exception_type_from_error_code raise_exception_on_not_ok_status
[core.nest]
nest.: assert_same_structure flatten map_structure pack_sequence_as
[core.shape]
Dimension
dimension_at_index compat.dimension_at_index
dimension_value compat.dimension_value
TensorShape
[core.slices]
IndexedSlicesSpec
IndexedSlices
[core.tensor]
Tensor
"""

V1 = """
[core.convert]
convert_to_tensor
[core.dtypes]
QUANTIZED_DTYPES
[core.device]
DeviceSpecV1 as DeviceSpec
"""

V2 = """
[core.device]
DeviceSpecV2 as DeviceSpec
[core.errors]
errors.OperatorNotAllowedInGraphError
"""

INSIDE = """
[ops.ragged.text]
python.ops.ragged.ragged_string_ops.ragged_tensor_to_string
[api.inner_values]
HASH_KEY as python.ops.sparse_ops._DEFAULT_HASH_KEY python.ops.ragged.ragged_array_ops._DEFAULT_CROSS_HASH_KEY
python.data.experimental.ops.distribute.: SHARD_HINT batch_sizes_for_worker
python.data.experimental.ops.snapshot.: COMPRESSION_GZIP COMPRESSION_NONE COMPRESSION_SNAPPY
ENABLED as python.ops.shape_util._ENABLE_MAYBE_SET_STATIC_SHAPE
TYPE_TO_STRING as python.framework.dtypes._TYPE_TO_STRING
python.framework.dtypes.: _np_bfloat16 _np_float4_e2m1fn _np_float8_e4m3b11fnuz _np_float8_e4m3fn
python.framework.dtypes.: _np_float8_e4m3fnuz _np_float8_e5m2 _np_float8_e5m2fnuz _np_int2 _np_int4 _np_qint16
python.framework.dtypes.: _np_qint32 _np_qint8 _np_quint16 _np_quint8 _np_uint2 _np_uint4
NUMPY_TYPES as python.framework.dtypes._NP_TO_TF
never as python.pywrap_sanitizers.is_asan_enabled python.pywrap_sanitizers.is_msan_enabled
never as python.pywrap_sanitizers.is_tsan_enabled python.pywrap_sanitizers.is_ubsan_enabled
never as python.eager.context.is_tfrt_enabled
PLACEMENT_EXPLICIT as python.eager.context.DEVICE_PLACEMENT_EXPLICIT
PLACEMENT_SILENT as python.eager.context.DEVICE_PLACEMENT_SILENT
PLACEMENT_SILENT_FOR_INT32 as python.eager.context.DEVICE_PLACEMENT_SILENT_FOR_INT32
PLACEMENT_WARN as python.eager.context.DEVICE_PLACEMENT_WARN
python.framework.common_shapes.: broadcast_shape is_broadcast_compatible
python.ops.math_ops.reduced_shape
python.ops.shape_util.shape_tensor
python.ops.array_ops.: rank_internal size_internal
compute_fans as python.ops.init_ops._compute_fans python.ops.init_ops_v2._compute_fans
python.layers.utils.: conv_input_length convert_data_format
convert_variables_to_tensors as python.framework.composite_tensor.convert_variables_to_tensors
convert_variables_to_tensors as python.util.variable_utils.convert_variables_to_tensors
python.ops.ragged.ragged_util.repeat_ranges
python.ops.ragged.ragged_array_ops.fill_empty_rows
python.ops.ctc_ops.dense_labels_to_sparse
python.framework.device.: canonical_name check_valid
python.util.lock_util.GroupLock
python.util.type_annotations.: get_generic_type_args is_forward_ref is_generic_mapping is_generic_tuple is_generic_union
python.util.decorator_utils.: get_qualified_name validate_callable
python.ops.control_flow_util.: IsLoopConstantEnter IsLoopEnter IsLoopExit IsMerge IsSwitch
python.ops.control_flow_util.: IsCondMerge IsCondSwitch IsLoopMerge IsLoopSwitch
python.ops.control_flow_util.: GetContainingCondContext GetContainingWhileContext GetContainingXLAContext
"""
