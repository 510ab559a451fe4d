"""Cases of `tf.contrib.distributions`: distributions with points, bijectors with points, divergences.

Each runs on TensorFlow 1.15 (which recorded `distributions.json`) and on Ebbflow. `made(ds, p)` makes a distribution of
the parameters p, which are tensors, so that gradients by them can be asked for.
"""

import numpy as np

F = "float32"
REAL = [-2.5, -0.3, 0.0, 0.7, 4.0]
POSITIVE = [0.05, 0.4, 1.0, 2.5, 9.0]
SHARES = [0.02, 0.3, 0.5, 0.81, 0.99]
COUNTS = [0.0, 1.0, 2.0, 3.0, 6.0]
A, B = [[0.5], [-1.0]], [0.3, 1.0, 2.0, 0.7, 1.5]
P5 = [0.2, 1.0, 2.5, 3.0, 8.0]
MATRIX = [[2.0, 0.0, 0.0], [0.5, 1.0, 0.0], [-1.0, 0.3, 0.7]]
COVARIANCE = (np.array(MATRIX) @ np.array(MATRIX).T).tolist()
VECTORS = [[0.1, -0.4, 2.0], [1.0, 0.0, -1.0]]
LOGITS = [[0.1, -1.0, 2.0], [0.0, 0.5, -0.5]]
PROBS = [[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]]


def mixture(ds, w, loc, scale):
    return ds.Mixture(ds.Categorical(probs=w), [ds.Normal(loc[0], scale[0]), ds.Normal(loc[1], scale[1])])


def same_family(ds, w, loc, scale):
    return ds.MixtureSameFamily(ds.Categorical(logits=w), ds.Normal(loc, scale))


# name: (parameters, how it is made of them, points)
DISTRIBUTIONS = {
    "Normal": ([A, B], lambda ds, a, b: ds.Normal(a, b), REAL),
    "Normal scalar": ([0.0, 2.0], lambda ds, a, b: ds.Normal(a, b), [-30.0, -12.0, -6.0, 3.0, 40.0]),
    "NormalWithSoftplusScale": ([A, B], lambda ds, a, b: ds.NormalWithSoftplusScale(a, b), REAL),
    "Laplace": ([A, B], lambda ds, a, b: ds.Laplace(a, b), REAL),
    "LaplaceWithSoftplusScale": ([A, B], lambda ds, a, b: ds.LaplaceWithSoftplusScale(a, b), REAL),
    "Cauchy": ([A, B], lambda ds, a, b: ds.Cauchy(a, b), REAL),
    "Logistic": ([A, B], lambda ds, a, b: ds.Logistic(a, b), REAL),
    "StudentT": ([[0.5, 3.5, 2.5, 4.0, 9.0], REAL, B], lambda ds, d, a, b: ds.StudentT(d, a, b), REAL),
    "StudentTWithAbsDfSoftplusScale": (
        [[-3.5, 1.5, 3.5, 4.0, 9.0], REAL, B], lambda ds, d, a, b: ds.StudentTWithAbsDfSoftplusScale(d, a, b), REAL),
    "Uniform": ([[-1.0, 0.0, -3.0, 0.5, 2.0], [5.0]], lambda ds, a, b: ds.Uniform(a, b), REAL),
    "HalfNormal": ([B], lambda ds, b: ds.HalfNormal(b), POSITIVE),
    "Gamma": ([P5, B], lambda ds, a, b: ds.Gamma(a, b), POSITIVE),
    "GammaWithSoftplusConcentrationRate": (
        [P5, B], lambda ds, a, b: ds.GammaWithSoftplusConcentrationRate(a, b), POSITIVE),
    "Exponential": ([P5], lambda ds, a: ds.Exponential(a), POSITIVE),
    "ExponentialWithSoftplusRate": ([P5], lambda ds, a: ds.ExponentialWithSoftplusRate(a), POSITIVE),
    "Chi2": ([P5], lambda ds, a: ds.Chi2(a), POSITIVE),
    "Chi2WithAbsDf": ([[-1.5, 2.0, 3.7, 4.0, 5.0]], lambda ds, a: ds.Chi2WithAbsDf(a), POSITIVE),
    "InverseGamma": ([P5, B], lambda ds, a, b: ds.InverseGamma(a, b), POSITIVE),
    "InverseGammaWithSoftplusConcentrationRate": (
        [P5, B], lambda ds, a, b: ds.InverseGammaWithSoftplusConcentrationRate(a, b), POSITIVE),
    "Beta": ([P5, B], lambda ds, a, b: ds.Beta(a, b), SHARES),
    "BetaWithSoftplusConcentration": ([P5, B], lambda ds, a, b: ds.BetaWithSoftplusConcentration(a, b), SHARES),
    "Kumaraswamy": ([P5, B], lambda ds, a, b: ds.Kumaraswamy(a, b), SHARES),
    "Bernoulli logits": ([REAL], lambda ds, a: ds.Bernoulli(logits=a), [0, 1, 1, 0, 1]),
    "Bernoulli probs": ([SHARES], lambda ds, a: ds.Bernoulli(probs=a), [0, 1, 1, 0, 1]),
    "Binomial": ([[7.0, 3.0, 5.0, 6.0, 6.0], SHARES], lambda ds, n, p: ds.Binomial(n, probs=p), COUNTS),
    "Geometric": ([SHARES], lambda ds, p: ds.Geometric(probs=p), COUNTS),
    "Geometric logits": ([REAL], lambda ds, p: ds.Geometric(logits=p), COUNTS),
    "NegativeBinomial": ([P5, REAL], lambda ds, n, p: ds.NegativeBinomial(n, logits=p), COUNTS),
    "Poisson": ([P5], lambda ds, a: ds.Poisson(a), COUNTS),
    "Poisson log_rate": ([REAL], lambda ds, a: ds.Poisson(log_rate=a), COUNTS),
    "Deterministic": ([REAL], lambda ds, a: ds.Deterministic(a, atol=0.1), [0.0, -0.3, 0.05, 1.0, 4.0]),
    "VectorDeterministic": ([VECTORS], lambda ds, a: ds.VectorDeterministic(a), [0.1, -0.4, 2.0]),
    "Categorical": ([LOGITS], lambda ds, a: ds.Categorical(logits=a), [2, 0]),
    "Categorical probs": ([PROBS], lambda ds, a: ds.Categorical(probs=a), [[0, 1], [2, 2], [1, 0]]),
    "OneHotCategorical": ([LOGITS], lambda ds, a: ds.OneHotCategorical(logits=a), [[0, 0, 1], [1, 0, 0]]),
    "OneHotCategorical float": (
        [PROBS], lambda ds, a: ds.OneHotCategorical(probs=a, dtype=a.dtype), [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "Multinomial": (
        [[4.0, 3.0], PROBS], lambda ds, n, p: ds.Multinomial(n, probs=p), [[1.0, 0.0, 3.0], [1.0, 1.0, 1.0]]),
    "Multinomial logits": ([5.0, LOGITS], lambda ds, n, p: ds.Multinomial(n, logits=p), [2.0, 2.0, 1.0]),
    "Dirichlet": ([[[1.5, 2.0, 3.0], [1.5, 1.2, 4.0]]], lambda ds, a: ds.Dirichlet(a), PROBS),
    "DirichletMultinomial": (
        [4.0, [[0.5, 2.0, 3.0], [1.5, 1.2, 4.0]]], lambda ds, n, a: ds.DirichletMultinomial(n, a),
        [[1.0, 0.0, 3.0], [1.0, 2.0, 1.0]]),
    "ExpRelaxedOneHotCategorical": (
        [0.7, LOGITS], lambda ds, t, a: ds.ExpRelaxedOneHotCategorical(t, logits=a), np.log(PROBS).tolist()),
    "RelaxedOneHotCategorical": (
        [0.4, PROBS], lambda ds, t, a: ds.RelaxedOneHotCategorical(t, probs=a), PROBS),
    "RelaxedBernoulli": ([0.6, REAL], lambda ds, t, a: ds.RelaxedBernoulli(t, logits=a), SHARES),
    "SinhArcsinh": ([A, B, 0.4, 1.3], lambda ds, a, b, c, d: ds.SinhArcsinh(a, b, c, d), REAL),
    "MultivariateNormalDiag": (
        [VECTORS, [0.5, 1.0, 2.0]], lambda ds, a, b: ds.MultivariateNormalDiag(a, b), [0.3, 0.1, -1.0]),
    "MultivariateNormalDiag multiplier": (
        [VECTORS, 1.7], lambda ds, a, b: ds.MultivariateNormalDiag(a, scale_identity_multiplier=b), [0.3, 0.1, -1.0]),
    "MultivariateNormalDiag loc": ([VECTORS], lambda ds, a: ds.MultivariateNormalDiag(a), [0.3, 0.1, -1.0]),
    "MultivariateNormalDiagWithSoftplusScale": (
        [VECTORS, VECTORS], lambda ds, a, b: ds.MultivariateNormalDiagWithSoftplusScale(a, b), [0.3, 0.1, -1.0]),
    "MultivariateNormalTriL": (
        [VECTORS, MATRIX], lambda ds, a, b: ds.MultivariateNormalTriL(a, b), [[0.3, 0.1, -1.0], [1.0, 2.0, 3.0]]),
    "MultivariateNormalFullCovariance": (
        [[0.1, 0.2, 0.3], COVARIANCE], lambda ds, a, b: ds.MultivariateNormalFullCovariance(a, b), VECTORS),
    "MultivariateNormalDiagPlusLowRank": (
        [[0.1, 0.2, 0.3], [1.0, 2.0, 0.5], [[0.3], [-0.2], [0.6]]],
        lambda ds, a, b, c: ds.MultivariateNormalDiagPlusLowRank(a, b, scale_perturb_factor=c), VECTORS),
    "VectorLaplaceDiag": ([VECTORS, [0.5, 1.0, 2.0]], lambda ds, a, b: ds.VectorLaplaceDiag(a, b), [0.3, 0.1, -1.0]),
    "VectorExponentialDiag": (
        [[-1.0, -2.0, -3.0], [0.5, 1.0, 2.0]], lambda ds, a, b: ds.VectorExponentialDiag(a, b), [0.3, 0.1, -1.0]),
    "Independent": ([VECTORS, [0.5, 1.0, 2.0]], lambda ds, a, b: ds.Independent(ds.Normal(a, b)), [0.3, 0.1, -1.0]),
    "Independent all": (
        [VECTORS, [0.5, 1.0, 2.0]], lambda ds, a, b: ds.Independent(ds.Normal(a, b), 2), VECTORS),
    "Mixture": ([[0.3, 0.7], [-1.0, 2.0], [0.5, 1.5]], mixture, REAL),
    "MixtureSameFamily": ([[0.1, 0.9, -0.5], [-1.0, 2.0, 0.0], [0.5, 1.5, 1.0]], same_family, REAL),
    "QuantizedDistribution": (
        [0.5, 2.0], lambda ds, a, b: ds.QuantizedDistribution(ds.Normal(a, b), low=-2.0, high=3.0),
        [-2.0, -1.0, 0.0, 1.0, 3.0]),
    "log-normal": (
        [A, B], lambda ds, a, b: ds.TransformedDistribution(ds.Normal(a, b), ds.bijectors.Exp()), POSITIVE),
    "affine of uniform": (
        [[0.5, -2.0]],
        lambda ds, a: ds.TransformedDistribution(ds.Uniform(0.0, 1.0), ds.bijectors.AffineScalar(a[0], a[1])),
        [-1.2, 0.0, 0.3]),
    "event of normals": (
        [[0.5]],
        lambda ds, a: ds.TransformedDistribution(ds.Normal(a[0], 1.0), ds.bijectors.Identity(), event_shape=[3]),
        VECTORS),
    "BatchReshape": ([B], lambda ds, b: ds.BatchReshape(ds.Exponential(b), [5, 1]), [[x] for x in POSITIVE]),
}  # fmt: skip

POINTWISE = ("log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function", "quantile")
FACTS = ("mean", "variance", "stddev", "mode", "entropy", "covariance")
BIJECTORS = {
    "Identity": (lambda b: b.Identity(), REAL, 0),
    "Exp": (lambda b: b.Exp(), REAL, 0),
    "Exp event": (lambda b: b.Exp(), REAL, 1),
    "PowerTransform": (lambda b: b.PowerTransform(0.5), REAL[1:], 0),
    "Softplus": (lambda b: b.Softplus(), [-20.0, -0.3, 0.0, 0.7, 40.0], 0),
    "Softplus hinge": (lambda b: b.Softplus(hinge_softness=0.5), REAL, 1),
    "Sigmoid": (lambda b: b.Sigmoid(), REAL, 0),
    "Softsign": (lambda b: b.Softsign(), REAL, 0),
    "Square": (lambda b: b.Square(), POSITIVE, 0),
    "Gumbel": (lambda b: b.Gumbel(0.3, 2.0), REAL, 0),
    "Kumaraswamy": (lambda b: b.Kumaraswamy(2.0, 0.5), SHARES, 0),
    "SinhArcsinh": (lambda b: b.SinhArcsinh(0.4, 1.5), REAL, 0),
    "AffineScalar": (lambda b: b.AffineScalar(2.0, -3.0), REAL, 0),
    "AffineScalar event": (lambda b: b.AffineScalar(2.0, -3.0), REAL, 1),
    "Affine diag": (lambda b: b.Affine([1.0, 2.0, 3.0], scale_diag=[1.0, 2.0, 0.5]), VECTORS, 1),
    "Affine tril": (lambda b: b.Affine([1.0, 2.0, 3.0], scale_tril=MATRIX), VECTORS, 1),
    "Affine multiplier": (lambda b: b.Affine([1.0, 2.0, 3.0], scale_identity_multiplier=2.0), VECTORS, 1),
    "Permute": (lambda b: b.Permute([2, 0, 1]), VECTORS, 1),
    "Reshape": (lambda b: b.Reshape([3, 2], [2, 3]), VECTORS, 2),
    "SoftmaxCentered": (lambda b: b.SoftmaxCentered(), VECTORS, 1),
    "CholeskyOuterProduct": (lambda b: b.CholeskyOuterProduct(), MATRIX, 2),
    "FillTriangular": (lambda b: b.FillTriangular(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1),
    "FillTriangular upper": (lambda b: b.FillTriangular(upper=True), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1),
    "ScaleTriL": (lambda b: b.ScaleTriL(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1),
    "MatrixInverseTriL": (lambda b: b.MatrixInverseTriL(), MATRIX, 2),
    "Ordered": (lambda b: b.Ordered(), [-1.0, 0.5, 0.7, 3.0], 1),
    "Chain": (lambda b: b.Chain([b.Exp(), b.AffineScalar(1.0, 0.5)]), REAL, 0),
    "Invert": (lambda b: b.Invert(b.Exp()), POSITIVE, 0),
    "Inline": (
        lambda b: b.Inline(
            forward_fn=lambda x: x * 2.0, inverse_fn=lambda y: y / 2.0,
            inverse_log_det_jacobian_fn=lambda y: -0.6931472 + 0.0 * y, forward_min_event_ndims=0),
        REAL, 0),
}  # fmt: skip
DIVERGENCES = {
    "Normal": lambda ds: (ds.Normal(A, B), ds.Normal(0.5, 2.0)),
    "Gamma": lambda ds: (ds.Gamma(P5, B), ds.Gamma(2.0, 0.5)),
    "Exponential": lambda ds: (ds.Exponential(P5), ds.Exponential(2.0)),
    "Beta": lambda ds: (ds.Beta(P5, B), ds.Beta(2.0, 0.5)),
    "Bernoulli": lambda ds: (ds.Bernoulli(logits=REAL), ds.Bernoulli(probs=0.4)),
    "Categorical": lambda ds: (ds.Categorical(logits=LOGITS), ds.Categorical(probs=PROBS)),
    "OneHotCategorical": lambda ds: (ds.OneHotCategorical(logits=LOGITS), ds.OneHotCategorical(probs=PROBS)),
    "Dirichlet": lambda ds: (ds.Dirichlet([0.5, 2.0, 3.0]), ds.Dirichlet([1.5, 1.0, 4.0])),
    "MultivariateNormalDiag": lambda ds: (
        ds.MultivariateNormalDiag(VECTORS, [0.5, 1.0, 2.0]), ds.MultivariateNormalDiag([0.0, 0.0, 1.0])),
    "MultivariateNormalTriL": lambda ds: (
        ds.MultivariateNormalTriL(VECTORS, MATRIX), ds.MultivariateNormalDiag([0.0, 0.0, 1.0], [1.0, 2.0, 1.0])),
    "Independent": lambda ds: (ds.Independent(ds.Normal(VECTORS, 1.0)), ds.Independent(ds.Normal(VECTORS, 2.0))),
    "none": lambda ds: (ds.Normal(0.0, 1.0), ds.Laplace(0.0, 1.0)),
}  # fmt: skip
BAD = {
    "negative scale": lambda ds: ds.Normal(0.0, -1.0, validate_args=True),
    "whole numbers": lambda ds: ds.Normal(0, 1),
    "shapes that do not fit": lambda ds: ds.Normal([0.0, 1.0], [1.0, 2.0, 3.0]).sample(),
    "probs and logits": lambda ds: ds.Bernoulli(probs=0.5, logits=0.0),
    "neither": lambda ds: ds.Categorical(),
    "uniform the wrong way round": lambda ds: ds.Uniform(1.0, 0.0, validate_args=True),
    "cauchy mean": lambda ds: ds.Cauchy(0.0, 1.0, allow_nan_stats=False).mean(),
    "student mean": lambda ds: ds.StudentT(0.5, 0.0, 1.0, allow_nan_stats=False).mean(),
    "gamma mode": lambda ds: ds.Gamma(0.5, 1.0, allow_nan_stats=False).mode(),
    "poisson entropy": lambda ds: ds.Poisson(1.0).entropy(),
    "poisson of both": lambda ds: ds.Poisson(1.0, log_rate=0.0),
    "log-normal mean": lambda ds: ds.TransformedDistribution(ds.Normal(0.0, 1.0), ds.bijectors.Exp()).mean(),
    "mixture of unequals": lambda ds: ds.Mixture(ds.Categorical(probs=[0.5, 0.5]), [ds.Normal(0.0, 1.0)]),
    "mixture without a categorical": lambda ds: ds.Mixture(ds.Normal(0.0, 1.0), [ds.Normal(0.0, 1.0)]),
    "too many axes": lambda ds: ds.Independent(ds.Normal(0.0, 1.0), 1),
    "beta outside": lambda ds: ds.Beta(1.0, 1.0, validate_args=True).log_prob(1.5),
    "dirichlet of one": lambda ds: ds.Dirichlet([-1.0, 2.0], validate_args=True),
    "permutation twice": lambda ds: ds.bijectors.Permute([0, 0]),
    "triangle of four": lambda ds: ds.bijectors.FillTriangular().forward([1.0, 2.0, 3.0, 4.0]),
    "too few axes": lambda ds: ds.bijectors.Softplus().forward_log_det_jacobian([1.0], event_ndims=-1),
    "negative power": lambda ds: ds.bijectors.PowerTransform(-1.0),
}


def attempt(function, plain):
    """Return what `function` gives as plain numbers, or the name of its error's class."""
    try:
        return plain(function())
    except Exception as error:  # the class is the answer
        return type(error).__name__


def numbers(value):
    value = np.asarray(value)
    return (
        np.where(np.isfinite(value), value, 0).tolist(),
        np.isnan(value).tolist(),
        np.where(np.isinf(value), np.sign(value), 0).tolist(),
    )


def facts_of(tf, ds, name, plain):
    """Return every fact of one distribution: densities, moments, shapes, samples and gradients."""
    values, make, points = DISTRIBUTIONS[name]
    parameters = [tf.constant(v, F) for v in values]
    d = make(ds, *parameters)
    x = tf.constant(points if d.dtype != tf.int32 else np.asarray(points, np.int32))
    share = tf.constant(SHARES[: d.batch_shape.as_list()[-1]] if d.batch_shape.rank else 0.3, F)
    answers = {"batch_shape": d.batch_shape.as_list(), "event_shape": d.event_shape.as_list()}
    for method in POINTWISE:
        argument = share if method == "quantile" else x
        answers[method] = attempt(lambda m=method, a=argument: getattr(d, m)(a), plain)
    for method in FACTS:
        answers[method] = attempt(getattr(d, method), plain)
    answers["sample"] = attempt(lambda: d.sample([2, 3], seed=11), lambda v: list(np.shape(plain(v)[0])))
    answers["reparameterized"] = "FULLY" in repr(d.reparameterization_type)
    return answers


def gradients_of(tf, ds, name, plain):
    """Return the gradients of the summed log-density, and of summed samples, by each parameter (eager)."""
    answers = {}
    for what in ("log_prob", "sample"):
        try:
            slopes = slopes_of(tf, ds, name, what)
        except Exception as error:
            answers[what] = type(error).__name__
            continue
        if what == "sample":
            answers[what] = [slope is not None for slope in slopes]
        else:
            answers[what] = [None if slope is None else plain(slope) for slope in slopes]
    return answers


def slopes_of(tf, ds, name, what):
    values, make, points = DISTRIBUTIONS[name]
    parameters = [tf.constant(v, F) for v in values]
    with tf.GradientTape() as tape:
        for p in parameters:
            tape.watch(p)
        d = make(ds, *parameters)
        x = tf.constant(points if d.dtype != tf.int32 else np.asarray(points, np.int32))
        y = tf.reduce_sum(d.log_prob(x) if what == "log_prob" else d.sample(4, seed=3))
    return tape.gradient(y, parameters)


def bijector_of(tf, ds, name, plain):
    make, points, ndims = BIJECTORS[name]
    bijector = make(ds.bijectors)
    x = tf.constant(points, F)
    y = bijector.forward(x)
    other = make(ds.bijectors)
    back = ndims + other.inverse_min_event_ndims - other.forward_min_event_ndims
    return {
        "forward": plain(y),
        "inverse": plain(other.inverse(y)),
        "forward_log_det_jacobian": plain(make(ds.bijectors).forward_log_det_jacobian(x, event_ndims=ndims)),
        "inverse_log_det_jacobian": plain(make(ds.bijectors).inverse_log_det_jacobian(y, event_ndims=back)),
        "shape": other.forward_event_shape(np.shape(points)[len(np.shape(points)) - ndims :]).as_list(),
        "constant": bool(other.is_constant_jacobian),
    }


def answers(tf, ds, plain):
    """Return all answers, by the kind of case and its name."""
    return {
        "facts": {name: facts_of(tf, ds, name, plain) for name in DISTRIBUTIONS},
        "gradients": {name: gradients_of(tf, ds, name, plain) for name in DISTRIBUTIONS},
        "bijectors": {name: bijector_of(tf, ds, name, plain) for name in BIJECTORS},
        "divergences": {
            name: attempt(lambda n=name: ds.kl_divergence(*DIVERGENCES[n](ds)), plain) for name in DIVERGENCES
        },
        "bad": {name: attempt(lambda n=name: BAD[n](ds), lambda v: "no error") for name in BAD},
    }
