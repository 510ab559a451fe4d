"""The names of records: examples and their features, CSV, raw bytes, files as tensors."""

BOTH = """
[ops.parsing.features]
io.: FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature
[ops.parsing.examples]
io.: parse_sequence_example parse_single_sequence_example
[ops.parsing.proto_ops]
io.: decode_proto encode_proto
[ops.parsing.decoding]
io.: decode_compressed decode_json_example parse_tensor read_file serialize_tensor write_file
"""

V1 = """
[ops.parsing.features]
FixedLenFeature
FixedLenSequenceFeature
SparseFeature
VarLenFeature
[ops.parsing.examples]
parse_example_v1 as parse_example io.parse_example
parse_single_example_v1 as parse_single_example io.parse_single_example
parse_single_sequence_example
[ops.parsing.decoding]
decode_compressed
decode_csv_v1 as decode_csv io.decode_csv
decode_json_example
decode_raw_v1 as decode_raw io.decode_raw
parse_tensor
read_file
serialize_tensor
write_file
"""

V2 = """
[ops.parsing.examples]
io.: parse_example parse_single_example
[ops.parsing.decoding]
io.: decode_csv decode_raw
"""

INSIDE = """
[ops.parsing.features]
python.ops.parsing_ops.: FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature
python.ops.parsing_config.: FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature
[ops.parsing.examples]
parse_example_v1 as python.ops.parsing_ops.parse_example
parse_example as python.ops.parsing_ops.parse_example_v2
parse_single_example_v1 as python.ops.parsing_ops.parse_single_example
parse_single_example as python.ops.parsing_ops.parse_single_example_v2
python.ops.parsing_ops.: parse_sequence_example parse_single_sequence_example
[ops.parsing.decoding]
python.ops.parsing_ops.: decode_compressed decode_csv decode_json_example parse_tensor serialize_tensor
decode_raw_v1 as python.ops.parsing_ops.decode_raw_v1
python.ops.parsing_ops.decode_raw
python.ops.io_ops.: read_file write_file
"""
"""What `tensorflow.python.ops.parsing_ops` and `io_ops` show."""
