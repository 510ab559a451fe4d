"""What only the TF 1 door shows: forms as 1.15 had them, and names and orders of arguments of before 1.0."""

NAMES = """
[layers.seq2seq.legacy]
nn.seq2seq.: attention_decoder basic_rnn_seq2seq embedding_attention_decoder embedding_attention_seq2seq
nn.seq2seq.: embedding_rnn_decoder embedding_rnn_seq2seq embedding_tied_rnn_seq2seq model_with_buckets
nn.seq2seq.: one2many_rnn_seq2seq rnn_decoder sequence_loss sequence_loss_by_example tied_rnn_seq2seq
models.rnn.seq2seq.: attention_decoder basic_rnn_seq2seq embedding_attention_decoder embedding_attention_seq2seq
models.rnn.seq2seq.: embedding_rnn_decoder embedding_rnn_seq2seq embedding_tied_rnn_seq2seq model_with_buckets
models.rnn.seq2seq.: one2many_rnn_seq2seq rnn_decoder sequence_loss sequence_loss_by_example tied_rnn_seq2seq
extract_argmax_and_embed as models.rnn.seq2seq._extract_argmax_and_embed
[layers.rnn.static]
static_rnn as nn.rnn models.rnn.rnn.rnn
static_bidirectional_rnn as nn.bidirectional_rnn models.rnn.rnn.bidirectional_rnn
static_state_saving_rnn as nn.state_saving_rnn models.rnn.rnn.state_saving_rnn
[layers.rnn.dynamic]
models.rnn.rnn.: bidirectional_dynamic_rnn dynamic_rnn
[layers.rnn.projections]
nn.rnn_cell.: EmbeddingWrapper InputProjectionWrapper OutputProjectionWrapper
models.rnn.rnn_cell.: EmbeddingWrapper InputProjectionWrapper OutputProjectionWrapper
linear as nn.rnn_cell._linear
linear as models.rnn.linear.linear
linear as models.rnn.rnn_cell._linear models.rnn.rnn_cell.linear
[layers.rnn.cells]
models.rnn.rnn_cell.: BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple MultiRNNCell
[layers.rnn.cell_base]
models.rnn.rnn_cell.RNNCell
[layers.rnn.wrappers]
models.rnn.rnn_cell.DropoutWrapper
[api.before_one]
batch_matmul
concat
fill
listdiff
ones
pack
reverse
select
split
unpack
zeros
[graph.symbolic]
SymbolicTensor as Tensor
[ops.arrays.joining]
concat as concat_v2
[ops.nn.conv]
conv2d_transpose_v1 as nn.deconv2d
[ops.linalg.diag]
band_part as batch_matrix_band_part
diag as batch_matrix_diag
diag_part as batch_matrix_diag_part
set_diag as batch_matrix_set_diag
[ops.arrays.shaping]
matrix_transpose as batch_matrix_transpose
[ops.linalg.factorizations]
cholesky as batch_cholesky
eigh as batch_self_adjoint_eig
eigvalsh as batch_self_adjoint_eigvals
svd as batch_svd
[ops.linalg.solvers]
cholesky_solve as batch_cholesky_solve
det as batch_matrix_determinant
inv as batch_matrix_inverse
lstsq as batch_matrix_solve_ls
solve as batch_matrix_solve
triangular_solve as batch_matrix_triangular_solve
[ops.elementwise.unary]
abs as complex_abs
reciprocal as inv
negative as neg
[ops.elementwise.binary]
multiply as mul
subtract as sub
[ops.elementwise.activations]
swish_tf1 as nn.swish
[api.early_summaries]
audio_summary
histogram_summary
image_summary
scalar_summary
[summary.ops]
merge as merge_summary
merge_all as merge_all_summaries
[summary.writer]
FileWriter as train.SummaryWriter
FileWriterCache as train.SummaryWriterCache
[ops.elementwise.casts]
saturate_cast_tf1 as saturate_cast dtypes.saturate_cast
[ops.elementwise.clip]
clip_by_global_norm_tf1 as clip_by_global_norm
[ops.reduce.counting]
bincount_tf1 as bincount math.bincount
[ops.nn.cross_entropy]
sigmoid_cross_entropy_with_logits_tf1 as nn.sigmoid_cross_entropy_with_logits
softmax_cross_entropy_with_logits_tf1 as nn.softmax_cross_entropy_with_logits
sparse_softmax_cross_entropy_with_logits_tf1 as nn.sparse_softmax_cross_entropy_with_logits
weighted_cross_entropy_with_logits_tf1 as nn.weighted_cross_entropy_with_logits
[ops.nn.dropout]
dropout_tf1 as nn.dropout
[ops.linalg.einsum]
einsum_tf1 as einsum linalg.einsum
tensordot_tf1 as tensordot linalg.tensordot
[ops.elementwise.sums]
accumulate_n_tf1 as accumulate_n math.accumulate_n
[ops.elementwise.binary]
add_tf1 as add math.add
[ops.reduce.reductions]
reduce_logsumexp_tf1 as reduce_logsumexp math.reduce_logsumexp
[ops.nn.normalization]
normalize_moments_tf1 as nn.normalize_moments
weighted_moments_tf1 as nn.weighted_moments
"""

SECOND = """
[api.before_one]
fill
ones
ones_like_second as ones_like
shape_second as shape
size_second as size
zeros
zeros_like_second as zeros_like
[doors.keras_package]
keras_second as keras
optimizers_second as optimizers
"""
"""What `tf.compat.v2` of TensorFlow 1.15 has otherwise than TensorFlow 2: libraries compare arguments of functions."""
