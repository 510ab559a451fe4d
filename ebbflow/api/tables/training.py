"""The names of optimizers, decays, moving averages, layers."""

BOTH = """
[layers.base]
layers.Layer
[layers.convolutional]
layers.: Conv1D Conv2D Conv3D conv1d conv2d conv3d
[layers.input_spec]
layers.InputSpec
[layers.deconvolutional]
layers.: Conv2DTranspose Conv3DTranspose conv2d_transpose conv3d_transpose
[layers.separable]
layers.: SeparableConv1D SeparableConv2D separable_conv1d separable_conv2d
[train.losses]
losses.: absolute_difference add_loss compute_weighted_loss cosine_distance get_losses get_total_loss
losses.: hinge_loss huber_loss log_loss mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy
losses.: softmax_cross_entropy sparse_softmax_cross_entropy
[layers.core]
layers.: Dense Dropout Flatten dense dropout flatten
[layers.normalization]
layers.BatchNormalization
layers.batch_normalization
[layers.pooling]
layers.: AveragePooling1D AveragePooling2D AveragePooling3D MaxPooling1D MaxPooling2D MaxPooling3D average_pooling1d
layers.: average_pooling2d average_pooling3d max_pooling1d max_pooling2d max_pooling3d
[train.device_setter]
train.replica_device_setter
[train.decay]
train.piecewise_constant train.piecewise_constant_decay
train.: cosine_decay cosine_decay_restarts exponential_decay inverse_time_decay linear_cosine_decay natural_exp_decay
train.: noisy_linear_cosine_decay polynomial_decay
[train.moving_averages]
train.ExponentialMovingAverage
[train.optimizer]
train.Optimizer
[train.optimizers]
train.: AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer AdamOptimizer FtrlOptimizer GradientDescentOptimizer
train.: MomentumOptimizer ProximalAdagradOptimizer ProximalGradientDescentOptimizer RMSPropOptimizer
[train.step_counter]
train.: assert_global_step create_global_step get_global_step get_or_create_global_step global_step
"""
