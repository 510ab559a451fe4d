"""The names of `tf.data`."""

BOTH = """
[data.dataset]
data.DatasetSpec data.experimental.DatasetStructure
data.NumpyIterator
[data.traced]
data.experimental.enable_debug_mode
[data.experimental_functions]
data.: AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY
data.experimental.: AUTOTUNE INFINITE_CARDINALITY SHARD_HINT UNKNOWN_CARDINALITY
data.experimental.: Reducer TFRecordWriter assert_cardinality bucket_by_sequence_length cardinality copy_to_device
data.experimental.: dense_to_ragged_batch dense_to_sparse_batch enumerate_dataset from_list from_variant
data.experimental.: get_next_as_optional
data.experimental.: get_single_element get_structure group_by_reducer group_by_window ignore_errors map_and_batch
data.experimental.: parallel_interleave prefetch_to_device rejection_resample scan shuffle_and_repeat take_while
data.experimental.: to_variant unbatch unique
data.experimental.: load pad_to_cardinality parse_example_dataset save snapshot
map_and_batch as data.experimental.map_and_batch_with_legacy_function
[data.explain]
data.experimental.get_model_proto
[data.random_access]
data.experimental.at
[data.service.distributing]
data.experimental.service.: CrossTrainerCache ShardingPolicy distribute from_dataset_id register_dataset
[data.service.saving]
data.experimental.distributed_save
[data.service.servers]
data.experimental.service.: DispatchServer DispatcherConfig WorkerConfig WorkerServer
[data.table_datasets]
data.experimental.: DatasetInitializer index_table_from_dataset table_from_dataset
[checkpoint.iterators]
data.experimental.make_saveable_from_iterator
[data.csv_files]
data.experimental.make_csv_dataset
[data.file_ops]
io.matching_files matching_files
[data.iterator]
data.IteratorSpec
[data.optional]
data.experimental.Optional experimental.Optional
OptionalSpec data.experimental.OptionalStructure
[data.options]
data.Options
data.ThreadingOptions data.experimental.ThreadingOptions
data.experimental.: AutoShardPolicy AutotuneAlgorithm AutotuneOptions DistributeOptions ExternalStatePolicy
data.experimental.: OptimizationOptions ServiceOptions
"""

V1 = """
[data.statistics]
data.experimental.: StatsAggregator bytes_produced_stats latency_stats
[data.options]
data.experimental.: MapVectorizationOptions StatsOptions
[data.feature_files]
make_batched_features_dataset_v1 as data.experimental.make_batched_features_dataset
[data.sql]
SqlDatasetV1 as data.experimental.SqlDataset
[data.csv_files]
CsvDatasetV1 as data.experimental.CsvDataset
[data.random_datasets]
RandomDatasetV1 as data.experimental.RandomDataset
[data.dataset_v1]
DatasetV1 as data.Dataset
ragged_tensor_structure as data.experimental.RaggedTensorStructure
sparse_tensor_structure as data.experimental.SparseTensorStructure
tensor_array_structure as data.experimental.TensorArrayStructure
tensor_structure as data.experimental.TensorStructure
[data.experimental_functions]
choose_from_datasets_v1 as data.experimental.choose_from_datasets
counter_v1 as data.experimental.Counter
sample_from_datasets_v1 as data.experimental.sample_from_datasets
[data.iterator_v1]
data.: Iterator get_output_classes get_output_shapes get_output_types
data.: make_initializable_iterator make_one_shot_iterator
[data.readers]
FixedLengthRecordDatasetV1 as data.FixedLengthRecordDataset
TFRecordDatasetV1 as data.TFRecordDataset
TextLineDatasetV1 as data.TextLineDataset
"""

V2 = """
[data.feature_files]
data.experimental.make_batched_features_dataset
[data.sql]
SqlDatasetV2 as data.experimental.SqlDataset
[data.csv_files]
CsvDatasetV2 as data.experimental.CsvDataset
[data.random_datasets]
RandomDatasetV2 as data.experimental.RandomDataset
[data.dataset]
DatasetV2 as data.Dataset
[data.experimental_functions]
data.experimental.: choose_from_datasets sample_from_datasets
counter as data.experimental.Counter
[data.iterator]
IteratorBase as data.Iterator
[data.readers]
FixedLengthRecordDatasetV2 as data.FixedLengthRecordDataset
TFRecordDatasetV2 as data.TFRecordDataset
TextLineDatasetV2 as data.TextLineDataset
"""

CONTRIB = """
[data.record_input]
RecordInputV1 as contrib.framework.RecordInput
[data.feature_files]
contrib.data.read_batch_features
[data.experimental_functions]
contrib.data.sliding_window_batch
[data.lmdb_datasets]
LMDBDatasetV1 as contrib.data.LMDBDataset
"""

INSIDE = """
[data.worker_datasets]
auto_sharded as python.data.experimental.ops.distribute._AutoShardDataset
rebatched_for_replicas as python.data.experimental.ops.distribute._LegacyRebatchDataset
remote_dataset as python.data.experimental.ops.distribute._RemoteDataset
python.data.experimental.ops.distribute.replicate
prefetched as python.data.ops.prefetch_op._PrefetchDataset
python.data.experimental.ops.testing.: non_serializable sleep
sleep as python.data.experimental.ops.sleep.sleep
non_serializable as python.data.experimental.ops.optimization.non_serializable
[data.legacy_snapshots]
python.data.experimental.ops.snapshot.legacy_snapshot
[data.thread_pools]
python.data.experimental.ops.threadpool.: PrivateThreadPool override_threadpool
[data.asserted]
python.data.experimental.ops.testing.: assert_next assert_prev
[data.traced]
python.data.ops.debug_mode.toggle_debug_mode
[data.options]
python.data.util.options.create_option
[tf1.input_batches]
as_tensor_list as python.training.input._as_tensor_list
as_original_type as python.training.input._as_original_type
[data.row_calls]
python.data.experimental.ops.map_defun.map_defun
[data.flattened]
python.data.experimental.ops.index_flat_map_op.index_flat_map
Number as python.data.experimental.ops.index_flat_map_op._IndexType
weighted_flat_map as python.data.experimental.ops.weighted_flat_map_op._weighted_flat_map
"""
