"""The names of probability distributions, which only TF 1 has: `tf.distributions`, `tf.contrib.distributions`."""

BOTH = """
"""

V1 = """
[distributions.base]
distributions.: Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED RegisterKL ReparameterizationType kl_divergence
[distributions.real]
distributions.: Laplace Normal StudentT Uniform
[distributions.positive]
distributions.: Beta Exponential Gamma
[distributions.discrete]
distributions.Bernoulli
[distributions.categories]
distributions.: Categorical Dirichlet DirichletMultinomial Multinomial
"""

V2 = """
"""

CONTRIB = """
[distributions.base]
contrib.distributions.: Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED RegisterKL ReparameterizationType
contrib.distributions.kl_divergence
[distributions.real]
contrib.distributions.: Cauchy HalfNormal Laplace LaplaceWithSoftplusScale Logistic Normal NormalWithSoftplusScale
contrib.distributions.: StudentT StudentTWithAbsDfSoftplusScale Uniform
[distributions.positive]
contrib.distributions.: Beta BetaWithSoftplusConcentration Chi2 Chi2WithAbsDf Exponential ExponentialWithSoftplusRate
contrib.distributions.: Gamma GammaWithSoftplusConcentrationRate InverseGamma
contrib.distributions.InverseGammaWithSoftplusConcentrationRate
[distributions.discrete]
contrib.distributions.: Bernoulli Binomial Deterministic Geometric NegativeBinomial Poisson VectorDeterministic
[distributions.categories]
contrib.distributions.: Categorical Dirichlet DirichletMultinomial ExpRelaxedOneHotCategorical Multinomial
contrib.distributions.OneHotCategorical
[distributions.transformed]
contrib.distributions.: ConditionalDistribution ConditionalTransformedDistribution Kumaraswamy RelaxedBernoulli
contrib.distributions.: RelaxedOneHotCategorical SinhArcsinh TransformedDistribution
[distributions.vectors]
contrib.distributions.: MultivariateNormalDiag MultivariateNormalDiagPlusLowRank MultivariateNormalDiagWithSoftplusScale
contrib.distributions.: MultivariateNormalFullCovariance MultivariateNormalTriL VectorExponentialDiag VectorLaplaceDiag
contrib.distributions.python.ops.mvn_linear_operator.MultivariateNormalLinearOperator
[distributions.conjugates]
contrib.distributions.: normal_conjugates_known_scale_posterior normal_conjugates_known_scale_predictive
contrib.distributions.python.ops.normal_conjugate_posteriors.: normal_conjugates_known_scale_posterior
contrib.distributions.python.ops.normal_conjugate_posteriors.: normal_conjugates_known_scale_predictive
[distributions.compound]
contrib.distributions.: Autoregressive BatchReshape Independent Mixture MixtureSameFamily QuantizedDistribution
[distributions.scales]
contrib.distributions.python.ops.distribution_util.: get_broadcast_shape is_diagonal_scale make_diag_scale
contrib.distributions.python.ops.distribution_util.: make_tril_scale mixture_stddev move_dimension pad
contrib.distributions.python.ops.distribution_util.: pad_mixture_dimensions shapes_from_loc_and_scale
[distributions.functions]
contrib.distributions.python.ops.distribution_util.tridiag
contrib.distributions.: SeedStream auto_correlation fill_triangular fill_triangular_inverse matrix_diag_transform
contrib.distributions.: percentile reduce_weighted_logsumexp softplus_inverse tridiag
[distributions.bijectors.base]
contrib.distributions.bijectors.: Bijector ConditionalBijector
[distributions.bijectors.elementwise]
contrib.distributions.bijectors.: AbsoluteValue AffineScalar Exp Gumbel Identity Kumaraswamy PowerTransform Sigmoid
contrib.distributions.bijectors.: SinhArcsinh Softplus Softsign Square
contrib.distributions.python.ops.bijectors.weibull.Weibull
[tf1.moving_stats]
contrib.distributions.: assign_log_moving_mean_exp assign_moving_mean_variance moving_mean_variance
[distributions.bijectors.composed]
contrib.distributions.bijectors.: Chain Inline Invert
[distributions.bijectors.vectors]
contrib.distributions.bijectors.: Affine AffineLinearOperator CholeskyOuterProduct FillTriangular MatrixInverseTriL
contrib.distributions.bijectors.: Ordered Permute ScaleTriL SoftmaxCentered TransformDiagonal
[distributions.bijectors.reshaping]
contrib.distributions.bijectors.Reshape
[tf1.flows]
contrib.distributions.bijectors.: BatchNormalization MaskedAutoregressiveFlow RealNVP masked_dense
contrib.distributions.bijectors.: masked_autoregressive_default_template real_nvp_default_template
contrib.distributions.python.ops.bijectors.batch_normalization.BatchNormalization
contrib.distributions.python.ops.bijectors.real_nvp.: RealNVP real_nvp_default_template
contrib.distributions.python.ops.bijectors.masked_autoregressive.: MaskedAutoregressiveFlow masked_dense
contrib.distributions.python.ops.bijectors.masked_autoregressive.masked_autoregressive_default_template
block_mask as contrib.distributions.python.ops.bijectors.masked_autoregressive._gen_mask
"""

INSIDE = """
[distributions.base]
python.ops.distributions.distribution.: Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED ReparameterizationType
python.ops.distributions.kullback_leibler.: RegisterKL cross_entropy kl_divergence
[distributions.real]
python.ops.distributions.normal.Normal
python.ops.distributions.uniform.Uniform
python.ops.distributions.laplace.Laplace
python.ops.distributions.student_t.StudentT
[distributions.positive]
python.ops.distributions.beta.Beta
python.ops.distributions.gamma.Gamma
python.ops.distributions.exponential.Exponential
[distributions.discrete]
python.ops.distributions.bernoulli.Bernoulli
[distributions.categories]
python.ops.distributions.categorical.Categorical
python.ops.distributions.dirichlet.Dirichlet
python.ops.distributions.dirichlet_multinomial.DirichletMultinomial
python.ops.distributions.multinomial.Multinomial
[distributions.transformed]
python.ops.distributions.transformed_distribution.TransformedDistribution
[distributions.bijectors.base]
python.ops.distributions.bijector.Bijector
python.ops.distributions.bijector_impl.Bijector
[distributions.bijectors.elementwise]
Identity as python.ops.distributions.identity_bijector.Identity
"""
