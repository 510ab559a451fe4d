"""The names of texts."""

BOTH = """
[ops.strings.texts]
decode_base64 io.decode_base64
encode_base64 io.encode_base64
fingerprint
regex_replace strings.regex_replace
strings.regex_full_match
string_lower as strings.lower
string_strip strings.strip
string_to_hash_bucket_fast strings.to_hash_bucket_fast
string_to_hash_bucket_strong strings.to_hash_bucket_strong
string_upper as strings.upper
strings.unsorted_segment_join
[ops.strings.splitting]
ngrams as strings.ngrams
string_bytes_split as strings.bytes_split
strings.: unicode_decode unicode_decode_with_offsets unicode_encode unicode_script unicode_split
strings.: unicode_split_with_offsets unicode_transcode
"""

V1 = """
[ops.strings.texts]
reduce_join_v1 as reduce_join strings.reduce_join
string_length_v1 as strings.length
string_to_hash_bucket_v1 as string_to_hash_bucket strings.to_hash_bucket
string_to_number_v1 as string_to_number strings.to_number
substr_v1 as substr strings.substr
[ops.strings.splitting]
split_v1 as strings.split
string_split
"""

V2 = """
[ops.strings.texts]
reduce_join as strings.reduce_join
string_length as strings.length
string_to_hash_bucket as strings.to_hash_bucket
string_to_number as strings.to_number
substr as strings.substr
[ops.strings.splitting]
split as strings.split
"""

INSIDE = """
[ops.strings.texts]
python.ops.string_ops.: decode_base64 encode_base64 regex_full_match regex_replace string_lower
python.ops.string_ops.: string_strip string_to_hash_bucket_fast string_to_hash_bucket_strong string_upper
python.ops.string_ops.: unsorted_segment_join
reduce_join_v1 as python.ops.string_ops.reduce_join
reduce_join as python.ops.string_ops.reduce_join_v2
string_length as python.ops.string_ops.string_length_v2
string_length_v1 as python.ops.string_ops.string_length
string_to_hash_bucket_v1 as python.ops.string_ops.string_to_hash_bucket_v1
python.ops.string_ops.string_to_hash_bucket
string_to_number as python.ops.string_ops.string_to_number
substr_v1 as python.ops.string_ops.substr python.ops.string_ops.substr_deprecated
substr as python.ops.string_ops.substr_v2
[ops.strings.splitting]
python.ops.string_ops.: string_split unicode_script unicode_transcode
ngrams as python.ops.ragged.ragged_string_ops.ngrams
python.ops.ragged.ragged_string_ops.: string_bytes_split unicode_decode unicode_decode_with_offsets unicode_encode
python.ops.ragged.ragged_string_ops.: unicode_split unicode_split_with_offsets
split as python.ops.ragged.ragged_string_ops.string_split_v2
split_v1 as python.ops.ragged.ragged_string_ops.strings_split_v1
"""
"""What the modules of texts inside TensorFlow show."""
