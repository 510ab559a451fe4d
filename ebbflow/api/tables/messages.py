"""The names of protocol messages, summaries and the files they are kept in."""

BOTH = """
[io.records]
io.tf_record_iterator python_io.tf_record_iterator
io.TFRecordCompressionType python_io.TFRecordCompressionType
io.TFRecordOptions python_io.TFRecordOptions
io.TFRecordWriter python_io.TFRecordWriter
[graph.graph_def]
io.write_graph train.write_graph
[messages]
AttrValue
ConfigProto
Event summary.Event
GPUOptions
GraphDef
GraphOptions
HistogramProto
LogMessage
MetaGraphDef
NameAttrList
NodeDef
OptimizerOptions
RunMetadata
RunOptions
SessionLog summary.SessionLog
Summary summary.Summary
SummaryMetadata
TensorInfo
profiler.: AdviceProto GraphNodeProto MultiGraphNodeProto OpLogProto
summary.TaggedRunMetadata
summary.SummaryDescription
train.: BytesList ClusterDef Example Feature FeatureList FeatureLists Features FloatList Int64List JobDef SaverDef
train.: SequenceExample ServerDef
[messages.tensors]
make_tensor_proto
[summary.ops]
summary.: get_summary_description merge merge_all tensor_summary
[summary.writer]
summary.FileWriter
summary.FileWriterCache
train.summary_iterator
"""

V1 = """
[summary.contrib]
initialize as summary.initialize
[summary.through_second]
summary.: audio histogram image scalar text
[summary.recording]
summary.all_v2_summary_ops
"""

V2 = """
[summary.plugins]
summary.: audio histogram image scalar text
[summary.recording]
summary.: SummaryWriter create_file_writer create_noop_writer flush graph record_if should_record_summaries trace_export
summary.: trace_off trace_on write
summary.experimental.: get_step set_step summary_scope write_raw_pb
"""
