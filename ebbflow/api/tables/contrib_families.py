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
"""  # noqa: E501 (names as long as those of TensorFlow)
