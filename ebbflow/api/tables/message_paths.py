"""The files of TensorFlow's messages, as programs import them: `tensorflow.core.framework.graph_pb2.GraphDef`.

Rows as in the other tables; the messages themselves are made from their schema on first use."""

ROWS = """
[messages]
core.framework.allocation_description_pb2.: AllocationDescription
core.framework.api_def_pb2.: ApiDef ApiDefs
core.framework.attr_value_pb2.: AttrValue NameAttrList
core.framework.cost_graph_pb2.: CostGraphDef
core.framework.device_attributes_pb2.: DeviceAttributes DeviceLocality InterconnectLink LocalLinks
core.framework.full_type_pb2.: FullTypeDef
core.framework.function_pb2.: FunctionDef FunctionDefLibrary GradientDef RegisteredGradient
core.framework.graph_debug_info_pb2.: GraphDebugInfo
core.framework.graph_pb2.: GraphDef
core.framework.kernel_def_pb2.: KernelDef KernelList
core.framework.node_def_pb2.: NodeDef
core.framework.op_def_pb2.: OpDef OpDeprecation OpList
core.framework.resource_handle_pb2.: ResourceHandleProto
core.framework.step_stats_pb2.: AllocationRecord AllocatorMemoryUsed DeviceStepStats MemoryStats NodeExecStats
core.framework.step_stats_pb2.: NodeOutput StepStats
core.framework.summary_pb2.: Summary SummaryDescription SummaryMetadata
core.framework.tensor_description_pb2.: TensorDescription
core.framework.tensor_pb2.: TensorProto VariantTensorDataProto
core.framework.tensor_shape_pb2.: TensorShapeProto
core.framework.tensor_slice_pb2.: TensorSliceProto
core.framework.types_pb2.: SerializedDType
core.framework.variable_pb2.: SaveSliceInfoDef VariableDef
core.framework.versions_pb2.: VersionDef
core.protobuf.cluster_pb2.: ClusterDef JobDef
core.protobuf.composite_tensor_variant_pb2.: CompositeTensorVariantMetadata
core.protobuf.config_pb2.: BatchingOptions CallableOptions ConfigProto GPUOptions GraphOptions OptimizerOptions
core.protobuf.config_pb2.: RunMetadata RunOptions SessionMetadata TensorConnection ThreadPoolOptionProto
core.protobuf.control_flow_pb2.: CondContextDef ControlFlowContextDef ValuesDef WhileContextDef
core.protobuf.debug_pb2.: DebugOptions DebugTensorWatch DebuggedSourceFile DebuggedSourceFiles
core.protobuf.device_filters_pb2.: ClusterDeviceFilters JobDeviceFilters TaskDeviceFilters
core.protobuf.device_properties_pb2.: DeviceProperties NamedDevice
core.protobuf.fingerprint_pb2.: FingerprintDef
core.protobuf.meta_graph_pb2.: AssetFileDef CollectionDef MetaGraphDef SignatureDef TensorInfo
core.protobuf.named_tensor_pb2.: NamedTensorProto
core.protobuf.queue_runner_pb2.: QueueRunnerDef
core.protobuf.rewriter_config_pb2.: AutoParallelOptions RewriterConfig ScopedAllocatorOptions
core.protobuf.saved_model_pb2.: SavedModel
core.protobuf.saved_object_graph_pb2.: CapturedTensor FunctionSpec SaveableObject SavedAsset
core.protobuf.saved_object_graph_pb2.: SavedBareConcreteFunction SavedConcreteFunction SavedConstant
core.protobuf.saved_object_graph_pb2.: SavedFunction SavedObject SavedObjectGraph SavedResource SavedUserObject
core.protobuf.saved_object_graph_pb2.: SavedVariable
core.protobuf.saver_pb2.: SaverDef
core.protobuf.struct_pb2.: BoundedTensorSpecProto DictValue ListValue NamedTupleValue NoneValue PairValue
core.protobuf.struct_pb2.: StructuredValue TensorSpecProto TupleValue TypeSpecProto
core.protobuf.tensor_bundle_pb2.: BundleEntryProto BundleHeaderProto
core.protobuf.tensorflow_server_pb2.: ServerDef
core.protobuf.trackable_object_graph_pb2.: RegisteredSaver TrackableObjectGraph
core.protobuf.verifier_config_pb2.: VerifierConfig
core.util.event_pb2.: Event LogMessage RequestedExitCode SessionLog SourceMetadata TaggedRunMetadata
core.util.event_pb2.: WatchdogConfig WorkerHeartbeatRequest WorkerHeartbeatResponse
core.util.saved_tensor_slice_pb2.: SavedSlice SavedSliceMeta SavedTensorSliceMeta SavedTensorSlices
core.example.example_pb2.: Example SequenceExample
core.example.feature_pb2.: BytesList Feature FeatureList FeatureLists Features FloatList Int64List
[api.types_pb2]
core.framework.types_pb2.: DataType DT_INVALID DT_FLOAT DT_DOUBLE DT_INT32 DT_UINT8 DT_INT16 DT_INT8 DT_STRING
core.framework.types_pb2.: DT_COMPLEX64 DT_INT64 DT_BOOL DT_QINT8 DT_QUINT8 DT_QINT32 DT_BFLOAT16 DT_QINT16
core.framework.types_pb2.: DT_QUINT16 DT_UINT16 DT_COMPLEX128 DT_HALF DT_RESOURCE DT_VARIANT DT_UINT32 DT_UINT64
core.framework.types_pb2.: DT_FLOAT8_E5M2 DT_FLOAT8_E4M3FN DT_FLOAT8_E4M3FNUZ DT_FLOAT8_E4M3B11FNUZ
core.framework.types_pb2.: DT_FLOAT8_E5M2FNUZ DT_INT4 DT_UINT4 DT_INT2 DT_UINT2 DT_FLOAT4_E2M1FN DT_FLOAT_REF
core.framework.types_pb2.: DT_DOUBLE_REF DT_INT32_REF DT_UINT8_REF DT_INT16_REF DT_INT8_REF DT_STRING_REF
core.framework.types_pb2.: DT_COMPLEX64_REF DT_INT64_REF DT_BOOL_REF DT_QINT8_REF DT_QUINT8_REF DT_QINT32_REF
core.framework.types_pb2.: DT_BFLOAT16_REF DT_QINT16_REF DT_QUINT16_REF DT_UINT16_REF DT_COMPLEX128_REF
core.framework.types_pb2.: DT_HALF_REF DT_RESOURCE_REF DT_VARIANT_REF DT_UINT32_REF DT_UINT64_REF
core.framework.types_pb2.: DT_FLOAT8_E5M2_REF DT_FLOAT8_E4M3FN_REF DT_FLOAT8_E4M3FNUZ_REF
core.framework.types_pb2.: DT_FLOAT8_E4M3B11FNUZ_REF DT_FLOAT8_E5M2FNUZ_REF DT_INT4_REF DT_UINT4_REF DT_INT2_REF
core.framework.types_pb2.: DT_UINT2_REF DT_FLOAT4_E2M1FN_REF
"""
