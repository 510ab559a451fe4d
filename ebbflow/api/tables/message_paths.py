"""The files of TensorFlow's messages, as programs import them: `tensorflow.core.framework.graph_pb2.GraphDef`.

Rows as in the other tables; the messages themselves are made from their schema on first use. `tools/message_paths.py`
writes this file."""

ROWS = """
[messages]
core.example.example_parser_configuration_pb2.: ExampleParserConfiguration FeatureConfiguration FixedLenFeatureProto
core.example.example_parser_configuration_pb2.: VarLenFeatureProto
core.example.example_pb2.: Example SequenceExample
core.example.feature_pb2.: BytesList Feature FeatureList FeatureLists Features FloatList Int64List
core.framework.allocation_description_pb2.: AllocationDescription
core.framework.api_def_pb2.: ApiDef ApiDefs
core.framework.attr_value_pb2.: AttrValue NameAttrList
core.framework.cost_graph_pb2.: CostGraphDef
core.framework.cpp_shape_inference_pb2.: CppShapeInferenceInputsNeeded CppShapeInferenceResult
core.framework.dataset_metadata_pb2.: Metadata
core.framework.dataset_options_pb2.: AutotuneOptions CardinalityOptions DistributeOptions OptimizationOptions Options
core.framework.dataset_options_pb2.: ServiceOptions ThreadingOptions
core.framework.dataset_pb2.: CompressedComponentMetadata CompressedElement UncompressedElement
core.framework.device_attributes_pb2.: DeviceAttributes DeviceLocality InterconnectLink LocalLinks
core.framework.full_type_pb2.: FullTypeDef
core.framework.function_pb2.: FunctionDef FunctionDefLibrary GradientDef RegisteredGradient
core.framework.graph_debug_info_pb2.: GraphDebugInfo
core.framework.graph_pb2.: GraphDef
core.framework.kernel_def_pb2.: KernelDef KernelList
core.framework.model_pb2.: ModelProto
core.framework.node_def_pb2.: NodeDef
core.framework.op_def_pb2.: OpDef OpDeprecation OpList
core.framework.reader_base_pb2.: ReaderBaseState
core.framework.resource_handle_pb2.: ResourceHandleProto
core.framework.step_stats_pb2.: AllocationRecord AllocatorMemoryUsed DeviceStepStats MemoryStats NodeExecStats
core.framework.step_stats_pb2.: NodeOutput StepStats
core.framework.summary_pb2.: Summary SummaryDescription SummaryMetadata
core.framework.summary_pb2.: HistogramProto
core.framework.tensor_description_pb2.: TensorDescription
core.framework.tensor_pb2.: TensorProto VariantTensorDataProto
core.framework.tensor_shape_pb2.: TensorShapeProto
core.framework.tensor_slice_pb2.: TensorSliceProto
core.framework.types_pb2.: SerializedDType
core.framework.variable_pb2.: SaveSliceInfoDef VariableDef
core.framework.versions_pb2.: VersionDef
core.kernels.boosted_trees.boosted_trees_pb2.: BucketizedSplit CategoricalSplit DebugOutput DenseSplit GrowingMetadata
core.kernels.boosted_trees.boosted_trees_pb2.: Leaf Node NodeMetadata SparseVector Tree TreeEnsemble TreeMetadata
core.kernels.boosted_trees.boosted_trees_pb2.: Vector
core.profiler.tfprof_log_pb2.: CodeDef ExecMemory ExecProfile ExecTime Memory OpLogEntry OpLogProto ProfileNode
core.profiler.tfprof_log_pb2.: ProfileProto Tuple
core.profiler.tfprof_options_pb2.: AdvisorOptionsProto OptionsProto
core.profiler.tfprof_output_pb2.: AdviceProto GraphNodeProto MultiGraphNodeProto TFProfTensorProto
core.protobuf.cluster_pb2.: ClusterDef JobDef
core.protobuf.composite_tensor_variant_pb2.: CompositeTensorVariantMetadata
core.protobuf.config_pb2.: BatchingOptions CallableOptions ConfigProto GPUOptions GraphOptions OptimizerOptions
core.protobuf.config_pb2.: RPCOptions RunMetadata RunOptions SessionMetadata TensorConnection ThreadPoolOptionProto
core.protobuf.control_flow_pb2.: CondContextDef ControlFlowContextDef ValuesDef WhileContextDef
core.protobuf.data_service_pb2.: CrossTrainerCacheOptions DataServiceConfig DataServiceMetadata ProcessingModeDef
core.protobuf.debug_event_pb2.: CodeLocation DebugEvent DebugMetadata DebuggedDevice DebuggedGraph Execution
core.protobuf.debug_event_pb2.: GraphExecutionTrace GraphOpCreation SourceFile StackFrameWithId
core.protobuf.debug_pb2.: DebugOptions DebugTensorWatch DebuggedSourceFile DebuggedSourceFiles
core.protobuf.device_filters_pb2.: ClusterDeviceFilters JobDeviceFilters TaskDeviceFilters
core.protobuf.device_properties_pb2.: DeviceProperties NamedDevice
core.protobuf.fingerprint_pb2.: FingerprintDef
core.protobuf.meta_graph_pb2.: AssetFileDef CollectionDef MetaGraphDef SignatureDef TensorInfo
core.protobuf.named_tensor_pb2.: NamedTensorProto
core.protobuf.queue_runner_pb2.: QueueRunnerDef
core.protobuf.remote_tensor_handle_pb2.: RemoteTensorHandle ResourceDtypeAndShape
core.protobuf.rewriter_config_pb2.: AutoParallelOptions RewriterConfig ScopedAllocatorOptions
core.protobuf.rpc_options_pb2.: RPCOptions
core.protobuf.saved_model_pb2.: SavedModel
core.protobuf.saved_object_graph_pb2.: CapturedTensor FunctionSpec SaveableObject SavedAsset SavedBareConcreteFunction
core.protobuf.saved_object_graph_pb2.: SavedConcreteFunction SavedConstant SavedFunction SavedObject SavedObjectGraph
core.protobuf.saved_object_graph_pb2.: SavedResource SavedUserObject SavedVariable
core.protobuf.saver_pb2.: SaverDef
core.protobuf.service_config_pb2.: DispatcherConfig WorkerConfig
core.protobuf.snapshot_pb2.: DistributedSnapshotMetadata SnapshotMetadataRecord SnapshotRecord SnapshotTensorMetadata
core.protobuf.snapshot_pb2.: TensorMetadata
core.protobuf.struct_pb2.: BoundedTensorSpecProto DictValue ListValue NamedTupleValue NoneValue PairValue
core.protobuf.struct_pb2.: StructuredValue TensorSpecProto TupleValue TypeSpecProto
core.protobuf.tensor_bundle_pb2.: BundleEntryProto BundleHeaderProto
core.protobuf.tensorflow_server_pb2.: ServerDef
core.protobuf.tpu.optimization_parameters_pb2.: AdadeltaParameters AdagradMomentumParameters AdagradParameters
core.protobuf.tpu.optimization_parameters_pb2.: AdamParameters AssignParameters BoundedAdagradParameters
core.protobuf.tpu.optimization_parameters_pb2.: CenteredRmsPropParameters ClippingLimits
core.protobuf.tpu.optimization_parameters_pb2.: FrequencyAwareAdagradParameters FrequencyEstimatorParameters
core.protobuf.tpu.optimization_parameters_pb2.: FtrlParameters GradientAccumulationStatus HotIdReplicationConfiguration
core.protobuf.tpu.optimization_parameters_pb2.: LearningRate LionParameters LowDimensionalPackingStatus
core.protobuf.tpu.optimization_parameters_pb2.: MdlAdagradLightParameters MomentumParameters OnlineYogiParameters
core.protobuf.tpu.optimization_parameters_pb2.: OptimizationParameters OptimizerDynamicInput ProximalAdagradParameters
core.protobuf.tpu.optimization_parameters_pb2.: ProximalYogiParameters RmsPropParameters SimulatedQuantization
core.protobuf.tpu.optimization_parameters_pb2.: StateVariableSpecification StochasticGradientDescentParameters
core.protobuf.tpu.optimization_parameters_pb2.: UserDefinedProgramParameters
core.protobuf.tpu.topology_pb2.: TPUHardwareFeature TopologyProto
core.protobuf.tpu.tpu_embedding_configuration_pb2.: TPUEmbeddingConfiguration TPUEmbeddingError
core.protobuf.trackable_object_graph_pb2.: RegisteredSaver TrackableObjectGraph
core.protobuf.verifier_config_pb2.: VerifierConfig
core.util.event_pb2.: Event LogMessage RequestedExitCode SessionLog SourceMetadata TaggedRunMetadata WatchdogConfig
core.util.event_pb2.: WorkerHeartbeatRequest WorkerHeartbeatResponse
core.util.saved_tensor_slice_pb2.: SavedSlice SavedSliceMeta SavedTensorSliceMeta SavedTensorSlices
core.util.test_log_pb2.: AvailableDeviceInfo BenchmarkEntries BenchmarkEntry BuildConfiguration CPUInfo CommitId
core.util.test_log_pb2.: EntryValue GPUInfo MachineConfiguration MemoryInfo MetricEntry PlatformInfo RunConfiguration
core.util.test_log_pb2.: TestResults
python.framework.cpp_shape_inference_pb2.: CppShapeInferenceInputsNeeded CppShapeInferenceResult
python.training.checkpoint_state_pb2.: CheckpointState
[messages.enums]
core.framework.dataset_options_pb2.: AutoShardPolicy AUTO FILE DATA HINT OFF ExternalStatePolicy POLICY_WARN
core.framework.dataset_options_pb2.: POLICY_IGNORE POLICY_FAIL
core.framework.full_type_pb2.: FullTypeId TFT_UNSET TFT_VAR TFT_ANY TFT_PRODUCT TFT_NAMED TFT_FOR_EACH TFT_CALLABLE
core.framework.full_type_pb2.: TFT_TENSOR TFT_ARRAY TFT_OPTIONAL TFT_LITERAL TFT_ENCODED TFT_SHAPE_TENSOR TFT_BOOL
core.framework.full_type_pb2.: TFT_UINT8 TFT_UINT16 TFT_UINT32 TFT_UINT64 TFT_INT8 TFT_INT16 TFT_INT32 TFT_INT64
core.framework.full_type_pb2.: TFT_HALF TFT_FLOAT TFT_DOUBLE TFT_BFLOAT16 TFT_COMPLEX64 TFT_COMPLEX128 TFT_STRING
core.framework.full_type_pb2.: TFT_DATASET TFT_RAGGED TFT_ITERATOR TFT_MUTEX_LOCK TFT_LEGACY_VARIANT
core.framework.model_pb2.: NodeClass UNKNOWN INTERLEAVE_MANY ASYNC_INTERLEAVE_MANY KNOWN_RATIO ASYNC_KNOWN_RATIO
core.framework.model_pb2.: UNKNOWN_RATIO ASYNC_UNKNOWN_RATIO AutotuneAlgorithm DEFAULT HILL_CLIMB GRADIENT_DESCENT
core.framework.model_pb2.: MAX_PARALLELISM STAGE_BASED
core.framework.summary_pb2.: DataClass DATA_CLASS_UNKNOWN DATA_CLASS_SCALAR DATA_CLASS_TENSOR DATA_CLASS_BLOB_SEQUENCE
core.framework.types_pb2.: DataType DT_INVALID DT_FLOAT DT_DOUBLE DT_INT32 DT_UINT8 DT_INT16 DT_INT8 DT_STRING
core.framework.types_pb2.: DT_COMPLEX64 DT_INT64 DT_BOOL DT_QINT8 DT_QUINT8 DT_QINT32 DT_BFLOAT16 DT_QINT16 DT_QUINT16
core.framework.types_pb2.: DT_UINT16 DT_COMPLEX128 DT_HALF DT_RESOURCE DT_VARIANT DT_UINT32 DT_UINT64 DT_FLOAT8_E5M2
core.framework.types_pb2.: DT_FLOAT8_E4M3FN DT_FLOAT8_E4M3FNUZ DT_FLOAT8_E4M3B11FNUZ DT_FLOAT8_E5M2FNUZ DT_INT4
core.framework.types_pb2.: DT_UINT4 DT_INT2 DT_UINT2 DT_FLOAT4_E2M1FN DT_FLOAT_REF DT_DOUBLE_REF DT_INT32_REF
core.framework.types_pb2.: DT_UINT8_REF DT_INT16_REF DT_INT8_REF DT_STRING_REF DT_COMPLEX64_REF DT_INT64_REF
core.framework.types_pb2.: DT_BOOL_REF DT_QINT8_REF DT_QUINT8_REF DT_QINT32_REF DT_BFLOAT16_REF DT_QINT16_REF
core.framework.types_pb2.: DT_QUINT16_REF DT_UINT16_REF DT_COMPLEX128_REF DT_HALF_REF DT_RESOURCE_REF DT_VARIANT_REF
core.framework.types_pb2.: DT_UINT32_REF DT_UINT64_REF DT_FLOAT8_E5M2_REF DT_FLOAT8_E4M3FN_REF DT_FLOAT8_E4M3FNUZ_REF
core.framework.types_pb2.: DT_FLOAT8_E4M3B11FNUZ_REF DT_FLOAT8_E5M2FNUZ_REF DT_INT4_REF DT_UINT4_REF DT_INT2_REF
core.framework.types_pb2.: DT_UINT2_REF DT_FLOAT4_E2M1FN_REF
core.framework.variable_pb2.: VariableSynchronization VARIABLE_SYNCHRONIZATION_AUTO VARIABLE_SYNCHRONIZATION_NONE
core.framework.variable_pb2.: VARIABLE_SYNCHRONIZATION_ON_WRITE VARIABLE_SYNCHRONIZATION_ON_READ VariableAggregation
core.framework.variable_pb2.: VARIABLE_AGGREGATION_NONE VARIABLE_AGGREGATION_SUM VARIABLE_AGGREGATION_MEAN
core.framework.variable_pb2.: VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA
core.kernels.boosted_trees.boosted_trees_pb2.: SplitTypeWithDefault INEQUALITY_DEFAULT_LEFT INEQUALITY_DEFAULT_RIGHT
core.kernels.boosted_trees.boosted_trees_pb2.: EQUALITY_DEFAULT_RIGHT DefaultDirection DEFAULT_LEFT DEFAULT_RIGHT
core.lib.core.error_codes_pb2.: Code OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS
core.lib.core.error_codes_pb2.: PERMISSION_DENIED UNAUTHENTICATED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED
core.lib.core.error_codes_pb2.: OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS
core.lib.core.error_codes_pb2.: DO_NOT_USE_RESERVED_FOR_FUTURE_EXPANSION_USE_DEFAULT_IN_SWITCH_INSTEAD_
core.protobuf.data_service_pb2.: DeploymentMode DEPLOYMENT_MODE_UNSPECIFIED DEPLOYMENT_MODE_COLOCATED
core.protobuf.data_service_pb2.: DEPLOYMENT_MODE_REMOTE DEPLOYMENT_MODE_HYBRID
core.protobuf.debug_event_pb2.: TensorDebugMode UNSPECIFIED NO_TENSOR CURT_HEALTH CONCISE_HEALTH FULL_HEALTH SHAPE
core.protobuf.debug_event_pb2.: FULL_NUMERICS FULL_TENSOR REDUCE_INF_NAN_THREE_SLOTS
core.protobuf.error_codes_pb2.: Code OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS
core.protobuf.error_codes_pb2.: PERMISSION_DENIED UNAUTHENTICATED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED
core.protobuf.error_codes_pb2.: OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS
core.protobuf.error_codes_pb2.: DO_NOT_USE_RESERVED_FOR_FUTURE_EXPANSION_USE_DEFAULT_IN_SWITCH_INSTEAD_
core.util.event_pb2.: WorkerHealth OK RECEIVED_SHUTDOWN_SIGNAL INTERNAL_ERROR SHUTTING_DOWN WorkerShutdownMode DEFAULT
core.util.event_pb2.: NOT_CONFIGURED WAIT_FOR_COORDINATOR SHUTDOWN_AFTER_TIMEOUT
"""
