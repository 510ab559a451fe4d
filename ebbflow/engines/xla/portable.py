"""Ops whose own kernel serves jax.numpy too, and which of their inputs must be known.

A row here is a checked fact: `tests/engines/xla/test_ops.py` compiles the recorded cases of every op in the table and
compares with TensorFlow's answers. Rows are `op` or `op: inputs that must be known`; below stand the ops whose kernel
finds errors in values on the host, which nobody looks for once they are compiled.
"""

from __future__ import annotations

from ebbflow.engines.xla.rules import portable

ELEMENTWISE = """
    Abs Acos Acosh Add AddV2 Angle ApproximateEqual Asin Asinh Atan Atan2 Atanh BitwiseAnd BitwiseOr BitwiseXor
    Cast Ceil ClipByValue Complex ComplexAbs Conj Cos Cosh DivNoNan Elu EluGrad Equal Erf Erfc Erfinv Exp Expm1 Floor
    Greater GreaterEqual Imag Inv InvGrad Invert IsFinite IsInf IsNan LeakyRelu LeakyReluGrad LeftShift Less LessEqual
    Log Log1p LogicalAnd LogicalNot LogicalOr Maximum Minimum Mul MulNoNan Ndtri Neg NextAfter NotEqual OnesLike
    PopulationCount Real Reciprocal ReciprocalGrad Relu Relu6 Relu6Grad ReluGrad RightShift Rint Round Rsqrt RsqrtGrad
    Select SelectV2 Selu SeluGrad Sigmoid SigmoidGrad Sign Sin Sinh Softplus SoftplusGrad Softsign SoftsignGrad Sqrt
    SqrtGrad Square SquaredDifference Sub Tan Tanh TanhGrad Xdivy Xlog1py Xlogy
"""
SPECIAL = "BesselI0 BesselI0e BesselI1 BesselI1e Betainc Digamma Igamma Igammac Lgamma Polygamma Zeta"
ARRAYS = """
    BatchMatrixDiag BatchMatrixDiagPart BatchMatrixSetDiag BiasAdd BiasAddGrad BiasAddV1 Bitcast Bucketize Copy
    CopyHost Cross DepthToSpace Diag DiagPart ExtractImagePatches GRUBlockCell GRUBlockCellGrad L2Loss LSTMBlockCell
    LSTMBlockCellGrad MatrixDiag MatrixDiagPart MatrixSetDiag Pack SpaceToDepth Squeeze TopK
"""
TRANSFORMS = "FFT FFT2D FFT3D IFFT IFFT2D IFFT3D"
MATRICES = "BatchMatMul BatchMatMulV2 BatchMatMulV3 Einsum LogMatrixDeterminant MatMul MatrixDeterminant Qr"

#         ops                                                           inputs that must be known
KNOWN = {
    "ArgMax ArgMin":                                                    "dimension",
    "All Any EuclideanNorm Max Mean Min Prod Sum":                      "reduction_indices",
    "BatchToSpace":                                                     "crops",
    "BatchToSpaceND":                                                   "block_shape crops",
    "BroadcastArgs BroadcastGradientArgs":                              "s0 s1",
    "BroadcastTo Reshape":                                              "shape",
    "Concat":                                                           "concat_dim",
    "ConcatOffset":                                                     "concat_dim shape",
    "ConcatV2 Cumprod Cumsum ReverseV2":                                "axis",
    "ConjugateTranspose Transpose":                                     "perm",
    "Fill Reverse":                                                     "dims",
    "LinSpace":                                                         "num",
    "BatchMatrixBandPart MatrixBandPart":                               "num_lower num_upper",
    "MatrixDiagPartV2 MatrixDiagPartV3 MatrixSetDiagV2 MatrixSetDiagV3": "k",
    "MatrixDiagV2 MatrixDiagV3":                                        "k num_cols num_rows",
    "MirrorPad MirrorPadGrad Pad PadV2 SpaceToBatch":                   "paddings",
    "NthElement":                                                       "n",
    "OneHot":                                                           "depth",
    "Roll":                                                             "axis shift",
    "SpaceToBatchND":                                                   "block_shape paddings",
    "BlockLSTM BlockLSTMV2 BlockLSTMGrad BlockLSTMGradV2":              "seq_len_max",
    "TensorStridedSliceUpdate":                                         "begin end strides",
    "Tile":                                                             "multiples",
    "RFFT RFFT2D RFFT3D IRFFT IRFFT2D IRFFT3D":                         "fft_length",
    "TopKV2":                                                           "k",
}  # fmt: skip

INDEXED = "whether indices are in range"
SINGULAR = "whether the matrix can be inverted"

#    ops                                       must be known    not checked any more
LOSING = (
    ("Gather GatherNd",                         "",             INDEXED),
    ("GatherV2",                                "axis",         INDEXED),
    ("TensorScatterAdd TensorScatterSub TensorScatterUpdate", "", INDEXED),
    ("InTopK",                                  "",             "whether targets are in range"),
    ("InTopKV2",                                "k",            "whether targets are in range"),
    ("InvertPermutation",                       "",             "whether it is a permutation"),
    ("MatrixInverse MatrixSolve",               "",             SINGULAR),
    ("ReverseSequence",                         "",             "whether the lengths fit"),
)  # fmt: skip

for _names in (ELEMENTWISE, SPECIAL, ARRAYS, TRANSFORMS, MATRICES):
    portable(*_names.split())
for _names, _needs in KNOWN.items():
    portable(*_names.split(), needs=_needs)
for _names, _needs, _lost in LOSING:
    portable(*_names.split(), needs=_needs, loses=_lost)
