"""Ops compiled by XLA answer as TensorFlow 2.21 did, and as the host does: values, dtypes, gradients.

The recorded cases (`tests/golden/ops/`) are compiled many at a time. All of them would take minutes, so every seventh
is taken, and the first of most dtypes (`sample`; `EBBFLOW_EVERY_CASE=1` takes all). Ops without recorded cases are
compared with their kernels.
"""

# ruff: noqa: E501  (tables have long rows)

from __future__ import annotations

import os

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.registry import registry
from ebbflow.engines.xla.rules import everything
from tests.engines.xla import cases as xla_cases
from tests.ops import golden

RULES = everything()
RECORDED = {op: cases for family in golden.families() for op, cases in golden.load(family).items()}
COMPILED = sorted(op for op in RECORDED if op in RULES)

DEPARTURES = {
    "Max/36": "XLA makes of (x == max) / 0 a choice between 1 / 0 and 0, so that 0 / 0 is 0",
    "Min/36": "as Max",
    "TensorScatterMin/15": "as Max",
    "TensorScatterMax/15": "as Max",
    "CumulativeLogsumexp/28": "TensorFlow forgets NaN after the next element, in an order that a parallel scan has not",
    "CumulativeLogsumexp/29": "as 28",
    "CumulativeLogsumexp/30": "as 28",
    "CumulativeLogsumexp/31": "as 28",
    "SegmentMax/11": "TensorFlow forgets NaN after the next row, which depends on their order",
    "SegmentMin/11": "as SegmentMax",
    "Digamma/8": "polygamma at infinity is NaN in jax",
    "Angle/13": "a complex quotient by zero is infinite in one part and not in both",
}
NEVER = {
    "AsString": "gives strings",
    "StringJoin": "gives strings",
    "MatrixSolveLs": "chooses its way by the condition of the matrix",
}

NOT_YET = frozenset(
    """
    AllCandidateSampler BandedTriangularSolve CTCLoss DataFormatDimMap DataFormatVecPermute Dilation2D
    Dilation2DBackpropFilter Dilation2DBackpropInput EditDistance Eig ExtractGlimpse ExtractGlimpseV2 ExtractVolumePatches
    FractionalAvgPool FractionalAvgPoolGrad
    FractionalMaxPool FractionalMaxPoolGrad FusedPadConv2D FusedResizeAndPadConv2D InplaceAdd InplaceSub InplaceUpdate IsotonicRegression Lu
    KMC2ChainInitialization KmeansPlusPlusInitialization MatrixLogarithm MatrixSquareRoot NearestNeighbors QuantizeAndDequantizeV2 QuantizeAndDequantizeV3
    QuantizeAndDequantizeV4 QuantizeAndDequantizeV4Grad RaggedBincount RaggedFillEmptyRowsGrad RaggedTensorToTensor
    SetSize SobolSample TridiagonalMatMul TridiagonalSolve UnravelIndex
    """.split()  # noqa: SIM905
)
"""Ops with kernels for the host only: `jit_compile=True` says so, `"auto"` leaves them there."""


def holds_strings(case: dict) -> bool:
    forms = [form for value in case["inputs"].values() for form in (value if isinstance(value, list) else [value])]
    return any(form["d"] == "string" for form in forms)


def can_answer(case: dict) -> bool:
    refused = "graph" in case.get("skip", ()) or "graph" in case.get("error", {})
    known = case["id"].rpartition("-")[0] in DEPARTURES or case["id"] in DEPARTURES
    return "outputs" in case and not refused and not holds_strings(case) and not known


SLOW = {"CumulativeLogsumexp", "Igamma", "Igammac", "Betainc", "Zeta", "Polygamma", "Digamma"}
"""Ops that take seconds to compile, case by case: of them a few are enough."""


ALIKE = {"int8", "int16", "uint8", "uint16", "uint32", "uint64", "complex128"}
"""Dtypes that meet no code of their own."""


def sample(cases: list[dict]) -> list[dict]:
    """Return the cases to compile: every seventh, and the first of most dtypes (of slow ops, three)."""
    cases = list(filter(can_answer, cases))
    if os.environ.get("EBBFLOW_EVERY_CASE"):
        return cases
    kept, met = [], set()
    for i, case in enumerate(cases):
        kind = case["id"].split("-")[1:2]
        if i % 7 == 0 or (kind and kind[0] not in met and kind[0] not in ALIKE):
            kept.append(case)
        met.update(kind)
    return kept[:3] if cases[0]["op"] in SLOW else kept


@pytest.mark.parametrize("op", COMPILED)
def test_compiled_answers_as_recorded(op, monkeypatch):
    monkeypatch.setattr(golden, "FOLDED", golden.FOLDED | RULES[op].needs)
    cases = sample(RECORDED[op])
    failures = []
    for start in range(0, len(cases), 60):
        part = cases[start : start + 60]
        for case, answer in zip(part, xla_cases.answers(part), strict=True):
            found = [text for text in golden.problems(case, "graph", answer) if not text.startswith("static")]
            failures += [f"{case['id']}: {text}" for text in found]
    assert not failures, f"{len(failures)} departures\n" + "\n".join(failures)


def test_every_departure_is_recorded():
    ids = {case["id"].rpartition("-")[0] for cases in RECORDED.values() for case in cases}
    assert set(DEPARTURES) <= ids


def test_what_is_not_compiled_has_a_reason():
    left = {op for op in RECORDED if op not in RULES and op in registry.names()}
    sparse = {op for op in left if op.startswith("Sparse")}  # their sizes come with the values
    assert left - sparse <= set(NEVER) | NOT_YET | {op for op in left if registry[op].facts.data_dependent}
    assert not (set(NEVER) | NOT_YET) & set(RULES)


def test_every_rule_names_inputs_that_exist():
    for name, rule in RULES.items():
        inputs = {arg.name for arg in registry[name].signature.inputs}
        assert rule.needs <= inputs, name


# ---------------------------------------------------------------------------------------------- against the host

F = np.float32
RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(F)


def lstm_block(grad: bool) -> dict:
    x, cs, h, w, b = normal(2, 3), normal(2, 4), normal(2, 4), normal(7, 16), normal(16)
    inputs = dict(x=x, cs_prev=cs, h_prev=h, w=w, wci=normal(4), wcf=normal(4), wco=normal(4), b=b)
    if grad:
        gates = {name: normal(2, 4) for name in ("i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad")}
        return {**inputs, **gates, "use_peephole": True}
    return {**inputs, "use_peephole": True, "forget_bias": 1.0}


def gru_block(grad: bool) -> dict:
    inputs = dict(
        x=normal(2, 3), h_prev=normal(2, 4), w_ru=normal(7, 8), w_c=normal(7, 4), b_ru=normal(8), b_c=normal(4)
    )
    return {**inputs, **({n: normal(2, 4) for n in ("r", "u", "c", "d_h")} if grad else {})}


def block_lstm() -> dict:
    return dict(
        seq_len_max=np.array(3, np.int64), x=normal(3, 2, 3), cs_prev=normal(2, 4), h_prev=normal(2, 4),
        w=normal(7, 16), wci=normal(4), wcf=normal(4), wco=normal(4), b=normal(16),
    )  # fmt: skip


POOL = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
KEY = dict(key=np.array([12345], np.uint64), counter=np.array([2**64 - 3, 9], np.uint64), alg=np.int32(1))
SEED = np.array([-3, 2**40], np.int64)
SEGMENTS = np.array([0, 0, 2, 3])

HOST_CASES = [
    ("BatchMatMulV3", dict(x=normal(2, 1, 3, 4), y=normal(5, 4, 2), Tout=tf.float32)),
    ("BesselI0", dict(x=normal(9))),
    ("BesselI1", dict(x=normal(9))),
    *[
        (f"Batch{way}FFT{axes}", dict(input=(normal(2, 2, 4, 6) + 1j * normal(2, 2, 4, 6)).astype(np.complex64)))
        for way in ("", "I")
        for axes in ("", "2D", "3D")
    ],
    ("BatchMatrixBandPart", dict(input=normal(2, 3, 3), num_lower=np.int64(1), num_upper=np.int64(0))),
    ("BatchMatrixDiag", dict(diagonal=normal(2, 3))),
    ("BatchMatrixDiagPart", dict(input=normal(2, 3, 3))),
    ("BatchMatrixSetDiag", dict(input=normal(2, 3, 3), diagonal=normal(2, 3))),
    ("BlockLSTM", dict(block_lstm())),
    ("BlockLSTMV2", dict(block_lstm())),
    ("CheckNumericsV2", dict(tensor=normal(3), message="m")),
    ("Copy", dict(input=normal(3), tensor_name="", debug_ops_spec=[])),
    ("CopyHost", dict(input=normal(3), tensor_name="", debug_ops_spec=[])),
    ("DynamicStitch", dict(indices=[np.array([0, 4], np.int32), np.array([[1, 4]], np.int32)], data=[normal(2, 3), normal(1, 2, 3)])),
    ("ParallelDynamicStitch", dict(indices=[np.array([0, 1], np.int32)], data=[normal(2, 3)])),
    ("FusedBatchNormGrad", dict(y_backprop=normal(2, 3, 3, 2), x=normal(2, 3, 3, 2), scale=normal(2), reserve_space_1=normal(2), reserve_space_2=np.abs(normal(2)))),
    ("FusedBatchNormGradV2", dict(y_backprop=normal(2, 3, 3, 2), x=normal(2, 3, 3, 2), scale=normal(2), reserve_space_1=normal(2), reserve_space_2=np.abs(normal(2)))),
    ("GRUBlockCell", gru_block(False)),
    ("GRUBlockCellGrad", gru_block(True)),
    ("GuaranteeConst", dict(input=normal(3))),
    ("LSTMBlockCell", lstm_block(False)),
    ("LSTMBlockCellGrad", lstm_block(True)),
    ("MatrixDiagV2", dict(diagonal=normal(2, 3), k=np.int32(1), num_rows=np.int32(4), num_cols=np.int32(4), padding_value=F(0))),
    ("MatrixDiagPartV2", dict(input=normal(2, 3, 3), k=np.array([-1, 1], np.int32), padding_value=F(0))),
    ("MatrixSetDiagV2", dict(input=normal(2, 3, 3), diagonal=normal(2, 2), k=np.int32(1))),
    ("MaxPool3DGradGrad", dict(orig_input=normal(1, 4, 4, 4, 1), orig_output=normal(1, 2, 2, 2, 1), grad=normal(1, 4, 4, 4, 1), ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")),
    ("MaxPoolGradV2", dict(orig_input=normal(1, 4, 4, 2), orig_output=normal(1, 2, 2, 2), grad=normal(1, 2, 2, 2), ksize=np.array([1, 2, 2, 1], np.int32), strides=np.array([1, 2, 2, 1], np.int32), padding="VALID")),
    ("MaxPoolGradGradV2", dict(orig_input=normal(1, 4, 4, 2), orig_output=normal(1, 2, 2, 2), grad=normal(1, 4, 4, 2), ksize=np.array([1, 2, 2, 1], np.int32), strides=np.array([1, 2, 2, 1], np.int32), padding="VALID")),
    ("MaxPoolGradWithArgmax", dict(input=normal(2, 4, 4, 2), grad=normal(2, 2, 2, 2), argmax=RANDOM.integers(0, 32, (2, 2, 2, 2)), **POOL)),
    ("MaxPoolGradGradWithArgmax", dict(input=normal(2, 4, 4, 2), grad=normal(2, 4, 4, 2), argmax=RANDOM.integers(0, 32, (2, 2, 2, 2)), **POOL)),
    ("MirrorPadGrad", dict(input=normal(5, 6), paddings=np.array([[1, 1], [2, 1]], np.int32), mode="REFLECT")),
    ("PopulationCount", dict(x=np.array([0, 7, -1], np.int32))),
    ("StatelessRandomGetKeyCounter", dict(seed=SEED)),
    ("StatelessRandomGetKeyCounterAlg", dict(seed=SEED)),
    ("StatelessRandomNormal", dict(shape=np.array([5001], np.int32), seed=SEED, dtype=tf.float32)),
    ("StatelessRandomNormalV2", dict(shape=np.array([5001], np.int32), **KEY, dtype=tf.float64)),
    ("StatelessRandomUniform", dict(shape=np.array([7, 1001], np.int32), seed=SEED, dtype=tf.float32)),
    ("StatelessRandomUniform", dict(shape=np.array([7, 1001], np.int32), seed=SEED, dtype=tf.bfloat16)),
    ("StatelessRandomUniformV2", dict(shape=np.array([7, 1001], np.int32), **KEY, dtype=tf.float64)),
    ("StatelessRandomUniformFullInt", dict(shape=np.array([5001], np.int32), seed=SEED, dtype=tf.uint64)),
    ("StatelessRandomUniformFullIntV2", dict(shape=np.array([5001], np.int32), **KEY, dtype=tf.int32)),
    ("StatelessRandomUniformInt", dict(shape=np.array([5001], np.int32), seed=SEED, minval=np.int64(-5), maxval=np.int64(2**40))),
    ("StatelessRandomUniformIntV2", dict(shape=np.array([5001], np.int32), **KEY, minval=np.int32(-5), maxval=np.int32(17))),
    *((op, dict(input=normal(2, 3, 4, 5).astype(np.complex64))) for op in ["FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D"]),
    *((f"RFFT{d}", dict(input=normal(2, 3, 4, 6), fft_length=np.array([3, 4, 5][-n:], np.int32))) for n, d in ((1, ""), (2, "2D"), (3, "3D"))),
    *((f"IRFFT{d}", dict(input=normal(2, 3, 4, 6).astype(np.complex64), fft_length=np.array([3, 4, 9][-n:], np.int32))) for n, d in ((1, ""), (2, "2D"), (3, "3D"))),
    *(("ApproxTopK", dict(input=normal(3, 9, 4), k=3, reduction_dimension=1, is_max_k=up)) for up in (True, False)),
    ("TensorStridedSliceUpdate", dict(input=normal(4, 3), begin=np.array([1], np.int32), end=np.array([3], np.int32), strides=np.array([1], np.int32), value=normal(2, 3))),
]  # fmt: skip


@pytest.mark.parametrize("op, arguments", HOST_CASES, ids=[f"{op}{i}" for i, (op, _) in enumerate(HOST_CASES)])
def test_compiled_answers_as_the_host(op, arguments):
    ours, theirs = xla_cases.both(op, arguments)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        text = golden.differ(np.asarray(a), b, factor=8.0)  # sums in another order
        assert text is None, text


def test_every_portable_op_is_compared():
    """No kernel is said to serve that no case has tried."""
    tried = set(COMPILED) | {op for op, _ in HOST_CASES}
    portable = {name for name, rule in RULES.items() if rule.fn is None}
    assert portable <= tried


@pytest.mark.parametrize("op", ["BlockLSTM", "BlockLSTMV2"])
def test_gradient_of_a_sequence(op):
    arguments = block_lstm()
    outputs = xla_cases.host(op, arguments)
    names = ("i", "cs", "f", "o", "ci", "co", "h")
    grads = dict(cs_grad=normal(3, 2, 4), h_grad=normal(3, 2, 4), use_peephole=False)
    arguments |= {**dict(zip(names, outputs, strict=True)), **grads}
    ours, theirs = xla_cases.both(op.replace("LSTM", "LSTMGrad"), arguments)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
