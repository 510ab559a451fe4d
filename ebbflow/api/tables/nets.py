"""The names of neural nets: activations, convolution, pooling, losses, embeddings, random numbers."""

BOTH = """
[ops.elementwise.activations]
log_sigmoid math.log_sigmoid
math.softplus nn.softplus
math.softsign nn.softsign
nn.silu nn.swish
nn.: elu leaky_relu relu relu6 selu
[ops.nn.conv]
nn.conv3d_backprop_filter nn.conv3d_backprop_filter_v2
nn.: atrous_conv2d atrous_conv2d_transpose conv1d_transpose conv2d_backprop_filter conv2d_backprop_input
nn.: conv_transpose
[ops.nn.cross_entropy]
nn.: log_poisson_loss sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits_v2
[ops.nn.depthwise]
nn.depthwise_conv2d_backprop_filter nn.depthwise_conv2d_native_backprop_filter
nn.depthwise_conv2d_backprop_input nn.depthwise_conv2d_native_backprop_input
nn.depthwise_conv2d_native
[ops.nn.dropout]
nn.experimental.general_dropout
nn.experimental.stateless_dropout
[ops.nn.normalization]
nn.local_response_normalization nn.lrn
nn.: batch_normalization fused_batch_norm normalize_moments
[ops.nn.bias_softmax]
nn.: bias_add l2_loss relu_layer xw_plus_b
[ops.nn.pool]
avg_pool as nn.avg_pool_v2
max_pool as nn.max_pool_v2
nn.: avg_pool1d avg_pool3d max_pool1d max_pool2d max_pool3d
[ops.nn.candidate_sampling]
nn.: compute_accidental_hits
all_candidate_sampler as nn.all_candidate_sampler random.all_candidate_sampler
fixed_unigram_candidate_sampler as nn.fixed_unigram_candidate_sampler random.fixed_unigram_candidate_sampler
learned_unigram_candidate_sampler as nn.learned_unigram_candidate_sampler random.learned_unigram_candidate_sampler
random.log_uniform_candidate_sampler
random.uniform_candidate_sampler
[ops.nn.ctc]
nn.: collapse_repeated ctc_greedy_decoder ctc_unique_labels
[ops.nn.layouts]
approx_max_k as nn.approx_max_k math.approx_max_k
approx_min_k as nn.approx_min_k math.approx_min_k
[ops.nn.losses]
nn.: compute_average_loss scale_regularization_loss
[ops.nn.dilated]
nn.with_space_to_batch
[ops.quantization.fake]
quantization.: fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
quantization.: fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
quantization.: fake_quant_with_min_max_vars_per_channel_gradient quantize_and_dequantize quantize_and_dequantize_v2
[ops.quantization.quantized_ops]
quantization.: dequantize quantize quantized_concat
[ops.random.stateful]
multinomial random.multinomial
random_crop image.random_crop
random_gamma random.gamma
random_normal random.normal
random_poisson_v1 as random_poisson
random_shuffle random.shuffle
random_uniform random.uniform
truncated_normal random.truncated_normal
random.categorical
[ops.random.seeds]
get_seed random.get_seed
set_random_seed random.set_random_seed
"""

V1 = """
[ops.random.seeds]
set_random_seed as random.set_seed
[ops.quantization.fake]
fake_quant_with_min_max_args
fake_quant_with_min_max_args_gradient
fake_quant_with_min_max_vars
fake_quant_with_min_max_vars_gradient
fake_quant_with_min_max_vars_per_channel
fake_quant_with_min_max_vars_per_channel_gradient
[ops.quantization.quantized_ops]
dequantize
quantize
quantize_v2
quantized_concat
nn.: quantized_avg_pool quantized_conv2d quantized_max_pool quantized_relu_x
[layers.rnn.cells]
nn.rnn_cell.: BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple MultiRNNCell
[layers.rnn.cell_base]
nn.rnn_cell.RNNCell
[layers.rnn.wrappers]
nn.rnn_cell.: DeviceWrapper DropoutWrapper ResidualWrapper
[layers.rnn.dynamic]
nn.: bidirectional_dynamic_rnn dynamic_rnn raw_rnn
[layers.rnn.static]
nn.: static_bidirectional_rnn static_rnn static_state_saving_rnn
[ops.elementwise.activations]
crelu_v1 as nn.crelu
[ops.nn.conv]
conv1d_v1 as nn.conv1d
conv2d_v1 as nn.conv2d
conv2d_transpose_v1 as nn.conv2d_transpose
conv3d_v1 as nn.conv3d
conv3d_transpose_v1 as nn.conv3d_transpose
convolution_v1 as nn.convolution
[ops.nn.cross_entropy]
softmax_cross_entropy_with_logits_v1 as nn.softmax_cross_entropy_with_logits
sparse_softmax_cross_entropy_with_logits_v1 as nn.sparse_softmax_cross_entropy_with_logits
weighted_cross_entropy_with_logits_v1 as nn.weighted_cross_entropy_with_logits
[ops.nn.depthwise]
depthwise_conv2d_v1 as nn.depthwise_conv2d
separable_conv2d_v1 as nn.separable_conv2d
[ops.nn.dropout]
dropout_v1 as nn.dropout
[ops.nn.embedding]
embedding_lookup_v1 as nn.embedding_lookup
[ops.nn.normalization]
batch_norm_with_global_normalization_v1 as nn.batch_norm_with_global_normalization
moments_v1 as nn.moments
sufficient_statistics_v1 as nn.sufficient_statistics
weighted_moments_v1 as nn.weighted_moments
[ops.nn.bias_softmax]
log_softmax_v1 as math.log_softmax nn.log_softmax
softmax_v1 as math.softmax nn.softmax
[ops.nn.pool]
avg_pool_v1 as nn.avg_pool nn.avg_pool2d
max_pool_v1 as nn.max_pool
max_pool_with_argmax_v1 as nn.max_pool_with_argmax
pool_v1 as nn.pool
[ops.nn.candidate_sampling]
nn.: log_uniform_candidate_sampler uniform_candidate_sampler
[ops.nn.ctc]
ctc_loss as nn.ctc_loss_v2
ctc_beam_search_decoder as nn.ctc_beam_search_decoder_v2
ctc_loss_v1 as nn.ctc_loss
ctc_beam_search_decoder_v1 as nn.ctc_beam_search_decoder
[ops.nn.fractional_pool]
fractional_avg_pool_v1 as nn.fractional_avg_pool
fractional_max_pool_v1 as nn.fractional_max_pool
[ops.nn.morphology]
dilation2d_v1 as nn.dilation2d
erosion2d_v1 as nn.erosion2d
[ops.nn.sampled_losses]
nce_loss_v1 as nn.nce_loss
sampled_softmax_loss_v1 as nn.sampled_softmax_loss
[ops.random.stateful]
random_poisson_v1 as random.poisson
"""

V2 = """
[ops.elementwise.activations]
nn.crelu
nn.gelu
[ops.nn.conv]
nn.: conv1d conv2d conv2d_transpose conv3d conv3d_transpose convolution
[ops.nn.cross_entropy]
softmax_cross_entropy_with_logits_v2 as nn.softmax_cross_entropy_with_logits
nn.weighted_cross_entropy_with_logits
nn.sparse_softmax_cross_entropy_with_logits
[ops.nn.depthwise]
nn.depthwise_conv2d
nn.separable_conv2d
[ops.nn.dropout]
nn.dropout
[ops.nn.embedding]
nn.embedding_lookup
[ops.nn.normalization]
nn.: batch_norm_with_global_normalization moments sufficient_statistics weighted_moments
[ops.nn.bias_softmax]
math.log_softmax nn.log_softmax
math.softmax nn.softmax
[ops.nn.pool]
nn.: avg_pool avg_pool2d max_pool max_pool_with_argmax pool
[ops.nn.ctc]
nn.: ctc_beam_search_decoder ctc_loss
[ops.nn.fractional_pool]
nn.: fractional_avg_pool fractional_max_pool
[ops.nn.layouts]
nn.isotonic_regression
[ops.nn.morphology]
nn.: dilation2d erosion2d
[ops.nn.sampled_losses]
nn.: nce_loss sampled_softmax_loss
[ops.random.stateful]
random_poisson as random.poisson
[ops.random.seeds]
random.set_seed
"""
