"""The names of queues, readers and the threads that feed them."""

BOTH = """
[train.coordinator]
train.Coordinator
[state.queues.queue]
queue.: FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
"""

V1 = """
[state.queues.accumulators]
ConditionalAccumulator
ConditionalAccumulatorBase
SparseConditionalAccumulator sparse.SparseConditionalAccumulator
[data.readers_v1]
FixedLengthRecordReader
IdentityReader
LMDBReader
ReaderBase
TFRecordReader
TextLineReader
WholeFileReader
[tf1.input_batches]
train.: batch batch_join maybe_batch maybe_batch_join maybe_shuffle_batch maybe_shuffle_batch_join shuffle_batch
train.: shuffle_batch_join
[tf1.input_producers]
train.match_filenames_once io.match_filenames_once
train.: input_producer limit_epochs
train.: range_input_producer slice_input_producer string_input_producer
[train.coordinator]
train.LooperThread
[train.queue_runner]
train.QueueRunner train.queue_runner.QueueRunner
train.add_queue_runner train.queue_runner.add_queue_runner
train.start_queue_runners train.queue_runner.start_queue_runners
[state.queues.queue]
FIFOQueue
io.: PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
PaddingFIFOQueue
PriorityQueue
QueueBase
RandomShuffleQueue
"""

V2 = """
"""

CONTRIB = """
[state.queues.staging]
contrib.staging.: StagingArea
"""

INSIDE = """
[state.queues.accumulators]
python.ops.data_flow_ops.: ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator
[state.queues.barrier]
python.ops.data_flow_ops.Barrier
[state.queues.staging]
python.ops.data_flow_ops.: BaseStagingArea MapStagingArea StagingArea
[data.readers_v1]
python.ops.io_ops.: FixedLengthRecordReader IdentityReader LMDBReader ReaderBase TFRecordReader TextLineReader
python.ops.io_ops.WholeFileReader
[tf1.input_batches]
python.training.input.: batch batch_join maybe_batch maybe_batch_join maybe_shuffle_batch maybe_shuffle_batch_join
python.training.input.: shuffle_batch shuffle_batch_join
[tf1.input_producers]
python.training.input.: input_producer limit_epochs match_filenames_once range_input_producer slice_input_producer
python.training.input.: string_input_producer
[train.coordinator]
python.training.coordinator.: Coordinator LooperThread
[train.queue_runner]
python.training.queue_runner_impl.: QueueRunner add_queue_runner start_queue_runners
python.training.queue_runner.: QueueRunner add_queue_runner start_queue_runners
[state.queues.queue]
python.ops.data_flow_ops.: FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
"""
