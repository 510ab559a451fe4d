"""Families of `tf.contrib` that stand on their own, a module each; `contrib` has what goes with the rest."""

BOTH = V1 = V2 = ""

CONTRIB = """
[tf1.monte_carlo]
contrib.bayesflow.monte_carlo.: expectation expectation_importance_sampler expectation_importance_sampler_logspace
samples_of as contrib.bayesflow.python.ops.monte_carlo_impl._get_samples
[tf1.slices_reduced]
contrib.reduce_slice_ops.: reduce_slice_max reduce_slice_min reduce_slice_prod reduce_slice_sum
contrib.reduce_slice_ops.python.ops.reduce_slice_ops.: reduce_slice_max reduce_slice_min reduce_slice_prod
contrib.reduce_slice_ops.python.ops.reduce_slice_ops.reduce_slice_sum
[tf1.periodic_resample]
contrib.periodic_resample.periodic_resample
contrib.periodic_resample.python.ops.periodic_resample_op.periodic_resample
[tf1.skip_grams]
contrib.text.: skip_gram_sample skip_gram_sample_with_text_vocab
contrib.text.python.ops.skip_gram_ops.: skip_gram_sample skip_gram_sample_with_text_vocab
kept_words as contrib.text.python.ops.skip_gram_ops._filter_input
[tf1.ranked_sampling]
contrib.nn.: fwd_gradients rank_sampled_softmax_loss sampled_sparse_softmax_loss
contrib.nn.python.ops.fwd_gradients.fwd_gradients
contrib.nn.python.ops.sampling_ops.: rank_sampled_softmax_loss sampled_sparse_softmax_loss
[tf1.libsvm]
contrib.libsvm.decode_libsvm contrib.libsvm.python.ops.libsvm_ops.decode_libsvm
[tf1.constrained_optimization]
contrib.constrained_optimization.: AdditiveExternalRegretOptimizer AdditiveSwapRegretOptimizer ConstrainedOptimizer
contrib.constrained_optimization.: ConstrainedMinimizationProblem MultiplicativeSwapRegretOptimizer
contrib.constrained_optimization.: find_best_candidate_distribution find_best_candidate_index
bounded as contrib.constrained_optimization.python.external_regret_optimizer._project_multipliers_wrt_euclidean_norm
stationary as contrib.constrained_optimization.python.swap_regret_optimizer._maximal_eigenvector_power_method
stochastic as contrib.constrained_optimization.python.swap_regret_optimizer._project_stochastic_matrix_wrt_euclidean_norm
log_stochastic as contrib.constrained_optimization.python.swap_regret_optimizer._project_log_stochastic_matrix_wrt_kl_divergence
[tf1.pruning.masks]
contrib.model_pruning.: Pruning apply_mask get_masked_weights get_masks get_pruning_hparams get_thresholds
contrib.model_pruning.: get_weight_sparsity get_weights
contrib.model_pruning.python.pruning.: Pruning apply_mask get_masked_weights get_masks get_pruning_hparams
contrib.model_pruning.python.pruning.: get_thresholds get_weight_sparsity get_weights
[tf1.pruning.blocks]
contrib.model_pruning.python.pruning_utils.: determine_partitioned_axis expand_tensor factorized_pool
contrib.model_pruning.python.pruning_utils.: kronecker_product partitioned_variable_assign variable_assign
contrib.model_pruning.python.pruning_utils.: weight_mask_variable weight_threshold_variable
[tf1.pruning.layers]
contrib.model_pruning.: MaskedBasicLSTMCell MaskedLSTMCell
contrib.model_pruning.python.layers.rnn_cells.: MaskedBasicLSTMCell MaskedLSTMCell
contrib.model_pruning.python.layers.core_layers.: MASKED_WEIGHT_COLLECTION MASKED_WEIGHT_NAME MASK_COLLECTION
contrib.model_pruning.python.layers.core_layers.: MaskedConv2D MaskedFullyConnected THRESHOLD_COLLECTION
contrib.model_pruning.python.layers.core_layers.WEIGHT_COLLECTION
[doors.pruned_layers]
contrib.model_pruning.: masked_conv2d masked_convolution masked_fully_connected
contrib.model_pruning.python.layers.layers.: masked_conv2d masked_convolution masked_fully_connected
[tf1.pruning.stripping]
contrib.model_pruning.: graph_def_from_checkpoint strip_pruning_vars_fn
contrib.model_pruning.python.strip_pruning_vars_lib.: graph_def_from_checkpoint strip_pruning_vars_fn
node_name as contrib.model_pruning.python.strip_pruning_vars_lib._node_name
[doors.predictors]
contrib.predictor.: from_contrib_estimator from_estimator
contrib.predictor.predictor_factories.: from_contrib_estimator from_estimator
contrib.predictor.contrib_estimator_predictor.ContribEstimatorPredictor
contrib.predictor.core_estimator_predictor.CoreEstimatorPredictor
[doors.learn.exports]
contrib.learn.: make_parsing_export_strategy
contrib.learn.python.learn.utils.saved_model_export_utils.: BestModelSelector DEFAULT_INPUT_ALTERNATIVE_KEY
contrib.learn.python.learn.utils.saved_model_export_utils.: FEATURES_INPUT_ALTERNATIVE_KEY build_all_signature_defs
contrib.learn.python.learn.utils.saved_model_export_utils.: build_standardized_signature_def extend_export_strategy
contrib.learn.python.learn.utils.saved_model_export_utils.: garbage_collect_exports get_input_alternatives
contrib.learn.python.learn.utils.saved_model_export_utils.: get_most_recent_export get_output_alternatives
contrib.learn.python.learn.utils.saved_model_export_utils.: get_temp_export_dir get_timestamped_export_dir
contrib.learn.python.learn.utils.saved_model_export_utils.: make_best_model_export_strategy
contrib.learn.python.learn.utils.saved_model_export_utils.: make_parsing_export_strategy
contrib.learn.utils.saved_model_export_utils.: BestModelSelector DEFAULT_INPUT_ALTERNATIVE_KEY
contrib.learn.utils.saved_model_export_utils.: FEATURES_INPUT_ALTERNATIVE_KEY build_all_signature_defs
contrib.learn.utils.saved_model_export_utils.: build_standardized_signature_def extend_export_strategy
contrib.learn.utils.saved_model_export_utils.: garbage_collect_exports get_input_alternatives get_most_recent_export
contrib.learn.utils.saved_model_export_utils.: get_output_alternatives get_temp_export_dir get_timestamped_export_dir
contrib.learn.utils.saved_model_export_utils.: make_best_model_export_strategy make_parsing_export_strategy
[tf1.tensor_signatures]
contrib.learn.python.learn.estimators.tensor_signature.: TensorSignature create_example_parser_from_signatures
contrib.learn.python.learn.estimators.tensor_signature.: create_placeholders_from_signatures create_signatures
contrib.learn.python.learn.estimators.tensor_signature.: tensors_compatible
[doors.learn.synthetic]
contrib.learn.datasets.: DATASETS SYNTHETIC make_dataset
contrib.learn.python.learn.datasets.: SYNTHETIC
contrib.learn.python.learn.datasets.synthetic.: circles spirals
[tf1.receptive_field]
contrib.receptive_field.receptive_field_api.: compute_receptive_field_from_graph_def get_compute_order
contrib.receptive_field.: compute_receptive_field_from_graph_def get_compute_order
contrib.receptive_field.python.util.receptive_field.: ReceptiveField compute_receptive_field_from_graph_def
contrib.receptive_field.python.util.graph_compute_order.: get_compute_order parse_graph_nodes
contrib.receptive_field.python.util.parse_layer_parameters.get_layer_params
[tf1.target_columns]
contrib.layers.: multi_class_target regression_target
contrib.layers.python.layers.target_column.: binary_svm_target multi_class_target regression_target
TargetColumn as contrib.layers.python.layers.target_column._TargetColumn
[tf1.input_pipeline]
contrib.input_pipeline.: obtain_next seek_next
contrib.input_pipeline.python.ops.input_pipeline_ops.: obtain_next seek_next
"""  # noqa: E501 (names as long as those of TensorFlow)
