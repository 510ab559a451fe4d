"""`tf.contrib.slim`, and what of `tf.contrib.layers` and `tf.contrib.framework` comes from the package `tf_slim`."""

BOTH = """
"""

V1 = """
"""

V2 = """
"""

CONTRIB = """
[doors.slim_package]
contrib.slim.: GDN OPTIMIZER_CLS_NAMES RevBlock VariableDeviceChooser adaptive_clipping_fn add_arg_scope
contrib.slim.: add_model_variable apply_regularization arg_scope arg_scope_func_key arg_scoped_arguments
contrib.slim.: assert_global_step assert_or_get_global_step assign_from_checkpoint assign_from_checkpoint_fn
contrib.slim.: assign_from_values assign_from_values_fn avg_pool2d avg_pool3d batch_norm bias_add bucketization_op
contrib.slim.: bucketize conv1d conv2d conv2d_in_plane conv2d_transpose conv3d conv3d_transpose convolution
contrib.slim.: convolution1d convolution2d convolution2d_in_plane convolution2d_transpose convolution3d
contrib.slim.: convolution3d_transpose create_global_step current_arg_scope data data_decoder data_provider dataset
contrib.slim.: dataset_data_provider dense_to_sparse dropout evaluation filter_variables flatten fully_connected gdn
contrib.slim.: get_global_step get_local_variables get_model_variables get_or_create_global_step
contrib.slim.: get_trainable_variables get_unique_variable get_variable_full_name get_variable_full_name
contrib.slim.: get_variables get_variables_by_name get_variables_by_suffix get_variables_to_restore global_variable
contrib.slim.: group_norm has_arg_scope images_to_sequence initializers instance_norm l1_l2_regularizer
contrib.slim.: l1_regularizer l2_regularizer layer_norm learning legacy_fully_connected local_variable losses
contrib.slim.: max_pool2d max_pool3d maxout metrics model_analyzer model_variable nets normalization
contrib.slim.: one_hot_encoding optimize_loss optimizers parallel_reader pool prefetch_queue queues recompute_grad
contrib.slim.: regularizers repeat rev_block rev_block_lib scale_gradient separable_conv2d separable_convolution2d
contrib.slim.: sequence_to_images softmax spatial_softmax stack sum_regularizer summaries summarize_activation
contrib.slim.: summarize_activations summarize_collection summarize_tensor summarize_tensors tfexample_decoder
contrib.slim.: train_eval training unit_norm utils variable variance_scaling_initializer xavier_initializer
contrib.slim.: xavier_initializer_conv2d
contrib.layers.: GDN OPTIMIZER_CLS_NAMES RevBlock adaptive_clipping_fn avg_pool2d avg_pool3d batch_norm bias_add
contrib.layers.: bucketize conv1d conv2d conv2d_in_plane conv2d_transpose conv3d conv3d_transpose convolution
contrib.layers.: convolution1d convolution2d convolution2d_in_plane convolution2d_transpose convolution3d
contrib.layers.: convolution3d_transpose dense_to_sparse dropout flatten fully_connected gdn group_norm
contrib.layers.: images_to_sequence instance_norm layer_norm legacy_fully_connected linear max_pool2d max_pool3d
contrib.layers.: maxout one_hot_encoding optimize_loss pool repeat rev_block scale_gradient separable_conv2d
contrib.layers.: separable_convolution2d sequence_to_images softmax spatial_softmax stack summarize_activation
contrib.layers.: summarize_activations summarize_collection summarize_tensor summarize_tensors unit_norm
layers.bucketization_op as contrib.layers.bucketization_op contrib.layers.python.layers.bucketization_op
layers.initializers as contrib.layers.initializers contrib.layers.python.layers.initializers
layers.normalization as contrib.layers.normalization contrib.layers.python.layers.normalization
layers.optimizers as contrib.layers.optimizers contrib.layers.python.layers.optimizers
layers.regularizers as contrib.layers.regularizers contrib.layers.python.layers.regularizers
layers.rev_block_lib as contrib.layers.rev_block_lib contrib.layers.python.layers.rev_block_lib
layers.summaries as contrib.layers.summaries contrib.layers.python.layers.summaries
layers.utils as contrib.layers.utils contrib.layers.python.layers.utils
layers.layers as contrib.layers.python.layers.layers
layers.layers.elu as contrib.layers.elu contrib.slim.elu
layers.layers.legacy_linear as contrib.layers.legacy_linear contrib.slim.legacy_linear
layers.layers.legacy_relu as contrib.layers.legacy_relu contrib.slim.legacy_relu
layers.layers.relu as contrib.layers.relu contrib.slim.relu
layers.layers.relu6 as contrib.layers.relu6 contrib.slim.relu6
training.training.add_gradients_summaries as contrib.training.add_gradients_summaries
training.training.clip_gradient_norms as contrib.training.clip_gradient_norms
training.training.clip_gradient_norms_fn as contrib.training.clip_gradient_norms_fn
training.training.create_train_op as contrib.training.create_train_op
training.training.multiply_gradients as contrib.training.multiply_gradients
losses.absolute_difference as contrib.losses.absolute_difference
losses.add_loss as contrib.losses.add_loss
losses.compute_weighted_loss as contrib.losses.compute_weighted_loss
losses.cosine_distance as contrib.losses.cosine_distance
losses.get_losses as contrib.losses.get_losses
losses.get_regularization_losses as contrib.losses.get_regularization_losses
losses.get_total_loss as contrib.losses.get_total_loss
losses.hinge_loss as contrib.losses.hinge_loss
losses.log_loss as contrib.losses.log_loss
losses.mean_pairwise_squared_error as contrib.losses.mean_pairwise_squared_error
losses.mean_squared_error as contrib.losses.mean_squared_error
losses.sigmoid_cross_entropy as contrib.losses.sigmoid_cross_entropy
losses.softmax_cross_entropy as contrib.losses.softmax_cross_entropy
losses.sparse_softmax_cross_entropy as contrib.losses.sparse_softmax_cross_entropy
layers as contrib.slim.layers
contrib.framework.: VariableDeviceChooser add_arg_scope add_model_variable arg_scope arg_scope_func_key
contrib.framework.: arg_scoped_arguments assert_or_get_global_step current_arg_scope filter_variables
contrib.framework.: global_variable has_arg_scope local_variable model_variable variable
contrib.framework.python.ops.: add_arg_scope arg_scope
contrib.slim.python.slim.: evaluation learning model_analyzer queues summaries
contrib.slim.python.slim.data.: data_decoder data_provider dataset dataset_data_provider parallel_reader
contrib.slim.python.slim.data.: prefetch_queue tfexample_decoder
nets.alexnet as contrib.slim.python.slim.nets.alexnet
nets.inception as contrib.slim.python.slim.nets.inception
nets.inception_v1 as contrib.slim.python.slim.nets.inception_v1
nets.inception_v2 as contrib.slim.python.slim.nets.inception_v2
nets.inception_v3 as contrib.slim.python.slim.nets.inception_v3
nets.overfeat as contrib.slim.python.slim.nets.overfeat
nets.resnet_utils as contrib.slim.python.slim.nets.resnet_utils
nets.resnet_v1 as contrib.slim.python.slim.nets.resnet_v1
nets.resnet_v2 as contrib.slim.python.slim.nets.resnet_v2
nets.vgg as contrib.slim.python.slim.nets.vgg
"""
"""At the TF 1 door; what of these families Ebbflow has itself stands in other tables."""

INSIDE = """
[graph.scopes]
graph_from_inputs as python.framework.ops._get_graph_from_inputs
[layers.input_spec]
python.keras.engine.input_spec.InputSpec
[ops.arrays.shaping]
python.ops.array_ops.shape_internal
[ops.arrays.sorting]
bucketize as python.ops.math_ops._bucketize
[train.confusion]
python.ops.confusion_matrix.: confusion_matrix confusion_matrix_v1
[train.metrics]
aggregate_variable as python.ops.metrics_impl._aggregate_variable
safe_scalar_div as python.ops.metrics_impl._safe_scalar_div
[train.metrics_ranking]
average_precision_at_top_k as python.ops.metrics_impl._streaming_sparse_average_precision_at_top_k
[train.metrics_thresholds]
confusion_matrix_at_thresholds as python.ops.metrics_impl._confusion_matrix_at_thresholds
[train.weights]
python.ops.confusion_matrix.remove_squeezable_dimensions
python.ops.weights_broadcast_ops.broadcast_weights
assert_broadcastable as python.ops.weights_broadcast_ops.assert_broadcastable
match_shapes as python.ops.metrics_impl._remove_squeezable_dimensions
"""
"""What `tf_slim` asks of TensorFlow's inner modules and nobody else has listed."""
