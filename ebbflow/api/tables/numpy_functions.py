"""`tf.experimental.numpy`: NumPy's names, at both doors."""

BOTH = """
[ops.numpy.promotion]
experimental.numpy.: promote_types result_type
[ops.numpy.elementwise]
experimental.numpy.: abs absolute add angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh around bitwise_and
experimental.numpy.: bitwise_not bitwise_or bitwise_xor cbrt ceil clip conj conjugate cos cosh deg2rad divide divmod
experimental.numpy.: equal exp exp2 expm1 fabs finfo fix float_power floor floor_divide gcd greater greater_equal
experimental.numpy.: heaviside hypot iinfo imag isclose iscomplex iscomplexobj isfinite isinf isnan isneginf isposinf
experimental.numpy.: isreal isrealobj lcm less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and
experimental.numpy.: logical_not logical_or logical_xor maximum minimum mod multiply negative nextafter not_equal
experimental.numpy.: polyval positive power rad2deg real reciprocal remainder round select sign signbit sin sinc sinh
experimental.numpy.: sqrt square subtract tan tanh true_divide where
[ops.numpy.arrays]
experimental.numpy.: append arange argsort array asanyarray asarray ascontiguousarray atleast_1d atleast_2d atleast_3d
experimental.numpy.: broadcast_arrays broadcast_to compress concatenate copy diag diag_indices diagflat diagonal dsplit
experimental.numpy.: dstack empty empty_like expand_dims eye flatten flip fliplr flipud full full_like geomspace hsplit
experimental.numpy.: hstack identity isscalar ix_ linspace logspace meshgrid moveaxis ndim nonzero ones ones_like pad
experimental.numpy.: ravel repeat reshape roll rot90 shape size sort split squeeze stack swapaxes take take_along_axis
experimental.numpy.: tile trace transpose tri tril triu vander vsplit vstack zeros zeros_like
[ops.numpy.reductions]
experimental.numpy.: all allclose amax amin any argmax argmin array_equal average count_nonzero cross cumprod cumsum
experimental.numpy.: diff dot einsum inner kron matmul max mean min nanmean nanprod nansum outer prod ptp std sum
experimental.numpy.: tensordot var vdot
[ops.numpy.random]
experimental.numpy.random.: poisson rand randint randn random seed standard_normal uniform
[ops.numpy.behaviour]
experimental.numpy.experimental_enable_numpy_behavior
[ops.numpy.vocabulary]
experimental.numpy.: bool_ complex128 complex64 complex_ e float16 float32 float64 float_ inexact inf int16 int32 int64
experimental.numpy.: int8 int_ issubdtype ndarray newaxis object_ pi string_ uint16 uint32 uint64 uint8 unicode_
"""

V1 = """
"""

V2 = """
"""

INSIDE = """
[ops.numpy.promotion]
python.ops.numpy_ops.np_dtypes.: canonicalize_dtype default_float_type is_allow_float64 is_prefer_float32
python.ops.numpy_ops.np_dtypes.: set_allow_float64 set_prefer_float32
tensor as python.ops.numpy_ops.np_arrays.convert_to_tensor
[ops.weak.promotion]
python.framework.ops.: PromoMode get_dtype_conversion_mode is_auto_dtype_conversion_enabled
python.framework.ops.: is_numpy_style_type_promotion promo_mode_enum_to_string
python.framework.flexible_dtypes.: PromoMode result_type
HALF as python.framework.flexible_dtypes._BINARY_DTYPE_RES_HALF
FULL as python.framework.flexible_dtypes._BINARY_DTYPE_RES_FULL
[ops.weak.tensor]
weak_or_plain as python.framework.weak_tensor.convert_to_weak_tensor_or_tensor
python.framework.weak_tensor.WeakTensorGradient
python.types.core.: Symbol Value
[ops.weak.operators]
python.framework.weak_tensor.: EagerWeakTensor GraphWeakTensor WeakTensor
[ops.weak.functions]
unary_functions as python.ops.weak_tensor_ops._TF_UNARY_APIS
"""
