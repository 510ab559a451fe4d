"""Expressions of `tf.experimental.numpy` (np), which TensorFlow 2.21 has answered in `answers.json`.

`i8 i32 i64 f32 f64 c64 b` are arrays of those dtypes, `t32 tf32` tensors, `m` a matrix, `n` has NaN. Each expression is
evaluated as it stands, on TensorFlow and on Ebbflow.
"""

import numpy

ONE = """
    sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh exp exp2 expm1 log log1p log2 log10 sqrt
    square abs absolute fabs negative positive reciprocal ceil floor fix sign signbit isfinite isinf isnan isposinf
    isneginf deg2rad rad2deg sinc real imag angle isreal iscomplex conj conjugate logical_not around round
""".split()  # noqa: SIM905
TWO = """
    add subtract multiply divide true_divide floor_divide mod remainder power maximum minimum arctan2 hypot logaddexp
    logaddexp2 heaviside equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor
    isclose allclose array_equal nextafter
""".split()  # noqa: SIM905
MANY = """
    sum prod mean var std max min amax amin ptp all any count_nonzero argmax argmin cumsum cumprod
    nansum nanprod nanmean
""".split()  # noqa: SIM905
OTHERS = """
    np.bitwise_and(i32, 6) | np.bitwise_or(i32, i8) | np.bitwise_xor(i64, 3) | np.bitwise_not(i32) | np.gcd(i32, 6)
    np.lcm(i32, 4) | np.clip(i32, 2, 3) | np.clip(f32, None, 1.0) | np.where(b, i32, 2.5) | np.where(b, 1, 0)
    np.where(b) | np.select([b, ~b], [i32, f32]) | np.array(["a", b"bc"], dtype="S8") | np.array([["a"]], "U8") | np.array(["a"])
    np.ascontiguousarray(2.5) | np.zeros(i32[0]) | np.sign(c64 * (1 + 2j)) | np.empty_like(["a"], dtype="S8")
    np.divmod(i32, 3) | np.polyval([1, 2, 3], i32) | np.polyval([1.5, 2], 3)
    np.sum(m, axis=0) | np.sum(m, axis=1, keepdims=True) | np.mean(m, axis=0) | np.max(m, axis=1) | np.argmax(m, axis=0)
    np.cumsum(m, axis=1) | np.cumprod(m, axis=0) | np.sum(i8, dtype="float32") | np.var(m, ddof=1) | np.std(m, axis=0)
    np.average(f64) | np.average(f64, weights=f64 * 0 + 2) | np.diff(i32) | np.diff(m, n=2) | np.diff(m, axis=0)
    np.matmul(m, m) | np.matmul(m, f64) | np.matmul(f64, m) | np.matmul(f64, f64) | np.matmul(i32, 1)
    np.dot(m, f64) | np.dot(2, m) | np.inner(m, m) | np.outer(i32, f32) | np.vdot(m, m) | np.tensordot(m, m, 1)
    np.einsum("ij,jk", m, m) | np.kron(i32, [1, 10]) | np.cross([1, 2, 3], [4, 5, 6.0]) | np.cross([1, 2], [3, 4])
    np.array([1, 2]) | np.array([1.0, 2]) | np.array(True) | np.array([1, 2], "float32") | np.array(5, ndmin=2)
    np.asarray(i8) | np.asarray([[1, 2], [3, 4]]) | np.asarray([1j])
    np.zeros([2]) | np.zeros(2, "int32") | np.ones([2, 1])
    np.full([2], 3) | np.full([2], 3.5) | np.full([2], 3.5, "int32") | np.full_like(i32, 7.5) | np.zeros_like(f32)
    np.ones_like(i8, dtype="float64") | np.arange(4)
    np.arange(1, 4) | np.arange(1.0, 2.0, 0.25) | np.arange(3, dtype="float32")
    np.linspace(0, 1, 5) | np.linspace(0, 1, 4, endpoint=False)
    np.linspace(1, 2, 3, retstep=True) | np.logspace(0, 2, 3)
    np.geomspace(1, 8, 4) | np.eye(3) | np.eye(2, 3, 1)
    np.identity(2, "int32") | np.tri(3, 2) | np.tril(m) | np.triu(m, 1)
    np.diag([1, 2]) | np.diag(m) | np.diag(m, 1)
    np.diag([1, 2], -1) | np.diagflat([[1, 2]]) | np.diagonal(m, -1) | np.trace(m)
    np.vander([1, 2, 3]) | np.vander([1, 2], 3, increasing=True)
    np.meshgrid([1, 2], [3, 4, 5]) | np.ix_([0, 1], [2, 3])
    np.reshape(m, [-1]) | np.reshape(m, (1, 4), order="F") | np.ravel(m) | np.transpose(m) | np.swapaxes(m, 0, 1)
    np.moveaxis(np.zeros([2, 3, 4]), 0, -1) | np.expand_dims(i32, 0) | np.squeeze([[1], [2]]) | np.atleast_1d(3)
    np.atleast_2d([1, 2]) | np.atleast_3d([1, 2])
    np.broadcast_to(i32, [2, 4]) | np.broadcast_arrays([1, 2], [[3], [4]])
    np.flip(m) | np.flip(m, 1) | np.flipud(m) | np.fliplr(m)
    np.rot90(m) | np.rot90(m, 2) | np.rot90(m, 3) | np.roll(i32, 1)
    np.roll(m, 1, axis=1) | np.roll(m, 1)
    np.concatenate([i32, f32]) | np.concatenate([m, m], axis=1) | np.concatenate([m, [[1, 2]]])
    np.concatenate([m, i32], axis=None) | np.stack([i32, i8])
    np.vstack([i32, f32]) | np.hstack([i32, f32]) | np.dstack([i32, i32])
    np.append(i32, 5) | np.append(m, m, axis=0) | np.split(i32, 2)
    np.split(i32, [1, 3]) | np.vsplit(m, 2) | np.hsplit(m, 2)
    np.tile(i32, 2) | np.tile(m, (2, 1)) | np.repeat(i32, 2) | np.repeat(m, 2, axis=0) | np.repeat([1, 2], [2, 1])
    np.pad(i32, [[1, 2]], "constant")
    np.pad(m, [[1, 0], [0, 1]], "constant", constant_values=9) | np.pad(i32, [[1, 1]], "reflect")
    np.take(i32, [0, 2]) | np.take(m, [1], axis=1) | np.take(i32, [0, 9]) | np.take(i32, [0, 5], mode="wrap")
    np.take_along_axis(m, [[0], [1]], 1) | np.compress([True, False], m, axis=0)
    np.compress(b, i32) | np.nonzero([0, 3, 0, 4])
    np.sort([3, 1, 2]) | np.sort(m, axis=0) | np.argsort([3, 1, 2])
    np.argsort(m, axis=None) | np.size(m) | np.shape(m) | np.ndim(m)
    np.result_type(i8, i32) | np.result_type(i32, 1.0)
    np.result_type("float32", "int64") | np.promote_types("int8", "uint8")
    np.isscalar(1) | np.isscalar([1]) | np.iscomplexobj(c64)
    np.isrealobj(i32) | np.copy(i32) | np.flatten(m) | np.float_power(f32, 2)
    np.finfo("float32").eps | np.iinfo("int32").max | np.pi | np.e | np.newaxis | np.inf | np.float32(1) + 1
    np.arange(3, 1) | np.arange(5, 1, -2)
    np.arange(1, 2, 0) | np.random.randint(3, size=[2]).shape | np.random.randn(2, 3).dtype
    np.random.uniform(size=[2]).dtype | np.random.rand(2).shape
    np.random.poisson(3.0, [2]).dtype | np.random.standard_normal([2]).shape
    np.cbrt([8.0, 27.0]) | np.add([1, 2], [[1.5], [2]]) | np.concatenate([[1], [2.5], i8]) | np.sum([]) | np.mean(i8)
    np.full([2], [1, 2]) | np.where(b, i32) | np.reshape(i32, [3, 3]) | np.split(i32, 3) | np.take(i32, [0], mode="bad")
    np.diff(i32, n=-1) | np.array_equal(m, i32)
    np.isclose(n, n, equal_nan=True) | np.maximum(n, 0.0) | np.minimum(n, 0.0)
"""


def names(numeric, constant):
    """Return what the expressions may use, but for np."""
    return {
        "i8": numpy.int8([1, 2, -3, 4]), "i32": numpy.int32([1, 2, 3, 4]), "i64": numpy.int64([4, -3, 2, 1]),
        "f32": numpy.float32([0.5, -0.25, 0.75, 0.1]), "f64": numpy.float64([0.5, 0.25]),
        "c64": numpy.complex64([1 + 2j]),
        "b": numpy.array([True, False, True, False]), "m": numpy.float64([[1.0, 2.0], [4.0, 3.0]]),
        "n": numpy.float32([1.0, numpy.nan, -1.0]), "t32": constant(numpy.int32([1, 2, 3, 4])),
        "tf32": constant(numpy.float32([0.5, 2.0, -1.5, 3.0])), "np": numeric,
    }  # fmt: skip


def expressions():
    """Return all expressions."""
    listed = []
    for f in ONE:
        listed += [f"np.{f}({x})" for x in ("f32", "i32", "0.5", "1", "[0.25, 0.5]", "tf32", "True", "i8")]
    for f in TWO:
        pairs = "f32, f32|i32, f32|i32, i8|t32, 2|tf32, 2.0|1, 2|1, 2.5|[1, 2, 3, 4], f32|f64, [[2.0], [3.0]]|i64, t32"
        listed += [f"np.{f}({x})" for x in pairs.split("|")]
    for f in MANY:
        listed += [f"np.{f}({x})" for x in ("i32", "f32", "i8", "m", "[1, 2, 3]", "[0.5, 1.5]", "b", "n", "True")]
    listed += [e.strip() for line in OTHERS.strip().splitlines() for e in line.split("|")]
    return listed


def plain(value):
    """Return an answer in a form that JSON has: dtype, shape and entries."""
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    if hasattr(value, "as_numpy_dtype"):
        return value.name
    if isinstance(value, (numpy.dtype, type)):
        return numpy.dtype(value).name
    if hasattr(value, "as_list"):
        return value.as_list()
    array = numpy.asarray(value)
    entries = array.astype(numpy.complex128) if array.dtype.kind == "c" else array
    parts = [entries.real, entries.imag] if array.dtype.kind == "c" else [entries]
    return [
        array.dtype.name,
        list(array.shape),
        [[repr(float(f"{x:.6g}")) for x in p.astype(float).ravel()] for p in parts],
    ]


def answer(expression, space):
    """Return what an expression gives, or the class of its error."""
    try:
        return plain(eval(expression, dict(space)))
    except Exception as error:
        return f"{type(error).__name__}"
