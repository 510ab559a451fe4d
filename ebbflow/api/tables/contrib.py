"""`tf.contrib`, at the TF 1 door only. The forms are those of `paths`."""

MIRRORS = {"contrib.framework.nest": "nest"}

PATHS = {
    "contrib.eager": "GradientTape custom_gradient executing_eagerly py_func enable_eager_execution make_template",
    "contrib.framework": """
        argsort assert_global_step=train.assert_global_step assert_same_float_dtype assert_scalar
        create_global_step=train.create_global_step get_global_step=train.get_global_step
        get_local_variables=local_variables get_model_variables=model_variables
        get_or_create_global_step=train.get_or_create_global_step get_trainable_variables=trainable_variables
        get_variables=global_variables is_tensor py_func sort
    """,
    "contrib.framework.python.ops.variables": """
        create_global_step=train.create_global_step get_global_step=train.get_global_step
        get_or_create_global_step=train.get_or_create_global_step get_model_variables=model_variables
        get_trainable_variables=trainable_variables
    """,
    "contrib.util": "constant_value=get_static_value make_ndarray make_tensor_proto",
    "contrib.layers": "recompute_grad elu=nn.elu relu=nn.relu relu6=nn.relu6",
}

ROWS = """
[platform.deprecation]
contrib.framework.: deprecated deprecated_args deprecated_arg_values
[platform.early_eager]
contrib.eager.: async_clear_error async_wait execution_mode in_eager_mode in_graph_mode list_devices num_gpus run
contrib.eager.set_execution_mode
[platform.eras]
contrib.eager.: ASYNC SYNC DEVICE_PLACEMENT_EXPLICIT DEVICE_PLACEMENT_SILENT DEVICE_PLACEMENT_SILENT_FOR_INT32
contrib.eager.DEVICE_PLACEMENT_WARN
[platform.mnist]
contrib.learn.python.learn.datasets.mnist.: DataSet Datasets dense_to_one_hot extract_images extract_labels load_mnist
contrib.learn.python.learn.datasets.mnist.read_data_sets
[eager.functions]
contrib.eager.: gradients_function implicit_gradients implicit_value_and_gradients make_vjp value_and_gradients_function
[testing.modes]
run_in_graph_and_eager_modes as contrib.eager.run_test_in_graph_and_eager_modes
run_all_in_graph_and_eager_modes as contrib.eager.run_all_tests_in_graph_and_eager_modes
[state.resource]
ResourceVariable as contrib.eager.Variable
[state.regularizers]
contrib.layers.l1_regularizer
contrib.layers.l2_regularizer
contrib.layers.l1_l2_regularizer
contrib.layers.sum_regularizer
contrib.layers.apply_regularization
[state.contrib_initializers]
contrib.layers.xavier_initializer
contrib.layers.xavier_initializer_conv2d
contrib.layers.variance_scaling_initializer
[state.initializers]
contrib.layers.variance_scaling_initializer
"""
