"""The names of numbers and matrices: element-wise, reductions, comparisons, linear algebra."""

BOTH = """
[api.gen_ops]
approx_top_k
check_pinned
conv
conv2d_backprop_filter_v2
conv2d_backprop_input_v2
fftnd
ifftnd
irfftnd
ragged_fill_empty_rows
ragged_fill_empty_rows_grad
random_index_shuffle
rfftnd
[ops.arrays.argmax]
arg_max
arg_min
[ops.elementwise.bitwise]
bitwise.: bitwise_and bitwise_or bitwise_xor invert left_shift right_shift
[ops.elementwise.casts]
cast dtypes.cast
saturate_cast dtypes.saturate_cast
to_bfloat16
to_complex128
to_complex64
to_double
to_float
to_int32
to_int64
[ops.elementwise.clip]
clip_by_average_norm
clip_by_global_norm
clip_by_norm
clip_by_value
global_norm linalg.global_norm
[ops.elementwise.compare]
equal math.equal
greater math.greater
greater_equal math.greater_equal
less math.less
less_equal math.less_equal
logical_and math.logical_and
logical_not math.logical_not
logical_or math.logical_or
logical_xor math.logical_xor
not_equal math.not_equal
where as where_v2
[ops.elementwise.complex_numbers]
angle math.angle
complex dtypes.complex
conj math.conj
imag math.imag
real math.real
[ops.reduce.counting]
bincount_v1 as bincount
histogram_fixed_width
histogram_fixed_width_bins
[ops.linalg.einsum]
einsum linalg.einsum
tensordot linalg.tensordot
[ops.elementwise.unary]
abs math.abs
acos math.acos
acosh math.acosh
asin math.asin
asinh math.asinh
atan math.atan
atanh math.atanh
ceil math.ceil
cos math.cos
cosh math.cosh
exp math.exp
expm1 math.expm1
floor math.floor
is_finite debugging.is_finite math.is_finite
is_inf debugging.is_inf math.is_inf
is_nan debugging.is_nan math.is_nan
log math.log
log1p math.log1p
negative math.negative
reciprocal math.reciprocal
rint math.rint
round math.round
rsqrt math.rsqrt
sigmoid math.sigmoid nn.sigmoid
sign math.sign
sin math.sin
sinh math.sinh
sqrt math.sqrt
square math.square
tan math.tan
tanh math.tanh nn.tanh
[ops.linalg.factorizations]
cholesky linalg.cholesky
qr linalg.qr
linalg.eigh self_adjoint_eig
linalg.eigvalsh self_adjoint_eigvals
svd linalg.svd
[ops.linalg.solvers]
cholesky_solve linalg.cholesky_solve
linalg.det matrix_determinant
linalg.inv matrix_inverse
linalg.solve matrix_solve
linalg.lstsq matrix_solve_ls
linalg.triangular_solve matrix_triangular_solve
linalg.slogdet
linalg.logdet
[linear.operator]
linalg.LinearOperator
[linear.kinds]
linalg.: LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorHouseholder LinearOperatorLowerTriangular
linalg.: LinearOperatorPermutation LinearOperatorToeplitz LinearOperatorTridiag
[linear.sized]
linalg.: LinearOperatorIdentity LinearOperatorScaledIdentity LinearOperatorZeros
[linear.composed]
linalg.: LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular LinearOperatorComposition
linalg.: LinearOperatorInversion LinearOperatorKronecker LinearOperatorLowRankUpdate
[linear.circulant]
linalg.: LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D
linalg.experimental.conjugate_gradient
[ops.linalg.decompositions]
linalg.: expm logm lu lu_matrix_inverse lu_reconstruct lu_solve matrix_rank pinv
linalg.sqrtm matrix_square_root
[ops.linalg.banded]
linalg.: eigh_tridiagonal tridiagonal_matmul tridiagonal_solve
[ops.elementwise.sums]
accumulate_n math.accumulate_n
add_n math.add_n
[ops.elementwise.binary]
add math.add
atan2 math.atan2
div
div_no_nan math.divide_no_nan
divide math.divide
floor_div
floordiv math.floordiv
mod floormod math.floormod math.mod
maximum math.maximum
minimum math.minimum
multiply math.multiply
pow math.pow
realdiv
scalar_mul math.scalar_mul
squared_difference math.squared_difference
subtract math.subtract
truediv math.truediv
truncatediv
truncatemod
math.: multiply_no_nan nextafter polyval reciprocal_no_nan xdivy xlog1py xlogy
[ops.linalg.matmul]
cross linalg.cross
matmul linalg.matmul
trace linalg.trace
linalg.matvec
linalg.adjoint
[ops.checks.numerics]
check_numerics debugging.check_numerics
verify_tensor_all_finite
[ops.reduce.reductions]
count_nonzero_v1 as count_nonzero
math.: reduce_euclidean_norm reduce_std reduce_variance
[ops.reduce.scan]
cumprod math.cumprod
cumsum math.cumsum
math.cumulative_logsumexp
[ops.reduce.segment]
segment_max math.segment_max
segment_mean math.segment_mean
segment_min math.segment_min
segment_prod math.segment_prod
segment_sum math.segment_sum
unsorted_segment_max math.unsorted_segment_max
unsorted_segment_mean math.unsorted_segment_mean
unsorted_segment_min math.unsorted_segment_min
unsorted_segment_prod math.unsorted_segment_prod
unsorted_segment_sqrt_n math.unsorted_segment_sqrt_n
unsorted_segment_sum math.unsorted_segment_sum
[ops.arrays.sorting]
argsort
math.top_k nn.top_k
searchsorted
sort
[ops.sparse.segment]
sparse_segment_mean_v1 as sparse_segment_mean
sparse_segment_sqrt_n_v1 as sparse_segment_sqrt_n
sparse_segment_sum_v1 as sparse_segment_sum
[ops.elementwise.special]
betainc math.betainc
digamma math.digamma
erf math.erf
erfc math.erfc
igamma math.igamma
igammac math.igammac
lbeta math.lbeta
lgamma math.lgamma
math.bessel_i0 math.special.bessel_i0
math.bessel_i0e math.special.bessel_i0e
math.bessel_i1 math.special.bessel_i1
math.bessel_i1e math.special.bessel_i1e
polygamma math.polygamma
zeta math.zeta
math.: erfcinv erfinv ndtri
math.special.: bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint
math.special.: fresnel_cos fresnel_sin spence
"""

V1 = """
[api.gen_ops]
sparse_mat_mul as sparse_matmul
[ops.arrays.argmax]
argmax_v1 as argmax math.argmax
argmin_v1 as argmin math.argmin
[ops.elementwise.compare]
where_v1 as where
[ops.reduce.counting]
bincount_v1 as math.bincount
[ops.checks.numerics]
verify_tensor_all_finite as debugging.assert_all_finite
[ops.reduce.reductions]
count_nonzero_v1 as math.count_nonzero
reduce_all_v1 as reduce_all math.reduce_all
reduce_any_v1 as reduce_any math.reduce_any
reduce_logsumexp_v1 as reduce_logsumexp math.reduce_logsumexp
reduce_max_v1 as reduce_max math.reduce_max
reduce_mean_v1 as reduce_mean math.reduce_mean
reduce_min_v1 as reduce_min math.reduce_min
reduce_prod_v1 as reduce_prod math.reduce_prod
reduce_sum_v1 as reduce_sum math.reduce_sum
[ops.arrays.sorting]
in_top_k_v1 as math.in_top_k nn.in_top_k
[ops.sparse.segment]
sparse_segment_mean_v1 as sparse.segment_mean
sparse_segment_sqrt_n_v1 as sparse.segment_sqrt_n
sparse_segment_sum_v1 as sparse.segment_sum
"""

V2 = """
[ops.linalg.decompositions]
eig linalg.eig
eigvals linalg.eigvals
[ops.linalg.banded]
linalg.banded_triangular_solve
[ops.arrays.argmax]
argmax math.argmax
argmin math.argmin
[ops.elementwise.compare]
where
[ops.reduce.counting]
math.bincount
[ops.checks.numerics]
debugging.assert_all_finite
[ops.reduce.reductions]
reduce_all math.reduce_all
reduce_any math.reduce_any
reduce_logsumexp math.reduce_logsumexp
reduce_max math.reduce_max
reduce_mean math.reduce_mean
reduce_min math.reduce_min
reduce_prod math.reduce_prod
reduce_sum math.reduce_sum
math.count_nonzero
[ops.arrays.sorting]
math.in_top_k nn.in_top_k
[ops.sparse.segment]
sparse_segment_mean as sparse.segment_mean
sparse_segment_sqrt_n as sparse.segment_sqrt_n
sparse_segment_sum as sparse.segment_sum
"""
