"""Good arguments for ops: recorded cases of TensorFlow, and by hand where none are recorded.

A case is written as in `golden`. Ops on variables have cases too: `call` makes variables of the arrays given for their
resources, runs the op, and gives the first variable's value beside the op's own outputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.registry import registry
from tests.ops import golden, good_files, good_handles

X = np.linspace(0.1, 2.4, 24, dtype=np.float32)
MATRIX = X[:6].reshape(2, 3)
IMAGES = X[:16].reshape(1, 4, 4, 1)
IDS = np.array([0, 0, 1], np.int32)
ROWS = np.array([0, 2, 1], np.int32)
SHAPE = np.array([2, 3], np.int32)
SEED = np.array([1, 2], np.int64)
TWO = np.array(2, np.int32)
ONE = np.array(1.0, np.float32)
PHILOX = [np.array([1], np.uint64), np.array([1, 2], np.uint64), np.array(1, np.int32)]
LEAST, ZERO, FOUR, NINE = (np.array(n, np.int32) for n in (-1, 0, 4, 9))
FROM, STEPS = np.array([0, 1], np.int32), np.array([1, 1], np.int32)
TALL = X.reshape(4, 6)
PLACES = [np.array([0, 2], np.int32), np.array([1], np.int32)]
TAG = np.array(b"a", object)
LSTM = [MATRIX[:, :1], MATRIX[:, :1], X[:16].reshape(4, 4), X[:1], X[:1], X[:1], X[:4]]
POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "VALID"}
SPECIAL = "BesselI0 BesselI1 BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Dawsn Expint"
FLOAT = {"dtype": "DT:float32"}
CONV = {"strides": [1, 1, 1, 1], "padding": "VALID"}
CONV3 = {"strides": [1, 1, 1, 1, 1], "padding": "VALID"}
NORM = {"variance_epsilon": 0.1, "scale_after_normalization": True}
NUMBERS = np.array([4, 5, 6])
CROSS = {
    "input_order": "R", "hashed_output": True, "num_buckets": 9, "hash_key": 1, "out_values_type": "DT:int64",
    "out_row_splits_type": "DT:int64",
}  # fmt: skip
SQUARE = np.array([[2.0, 0.5], [0.5, 1.0]], np.float32)
CLASSES = np.array([[1, 2], [3, 0]], np.int64)
SAMPLED = {"num_true": 2, "num_sampled": 3, "unique": True, "seed": 1}
ONES = np.ones(3, np.float32)
LEAVES = [np.array(n, np.float32) for n in (0.0, 0.5, 0.1, 0.0)]
SAMPLERS = "Uniform LogUniform LearnedUnigram ThreadUnsafeUnigram"

# an op, its inputs in order, its attrs
BY_HAND: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("KMC2ChainInitialization", [X[:4], np.array(3)], {}),
    ("KmeansPlusPlusInitialization", [TALL, np.array(2), np.array(3), np.array(1)], {}),
    (
        "WALSComputePartialLhsAndRhs",
        [
            TALL,
            ONES[0] * X[:4],
            np.array(0.1, np.float32),
            ONES,
            CLASSES[:, :1] * [1, 1] % 3,
            X[:2],
            np.zeros([0], np.float32),
            np.array(3),
            np.array(False),
        ],
        {},
    ),
    ("MaskedMatmul", [TALL, TALL, CLASSES, np.array(False), np.array(True)], {}),
    # SDCA
    ("SdcaFprint", [np.array([b"a", b"bc"], object)], {}),
    *(
        (
            name,
            [
                [NUMBERS - 4],
                [np.array([0, 0, 1])],
                [X[:3]],
                [MATRIX.T.copy()],
                X[:3],
                ONES[:3],
                [np.array([0, 1])],
                [X[:2]],
                [X[:2]],
                np.zeros((3, 4), np.float32),
            ],
            {"loss_type": "squared_loss", "l1": 0.1, "l2": 1.0, "num_loss_partitions": 1, "num_inner_iterations": 1},
        )
        for name in ("SdcaOptimizer", "SdcaOptimizerV2")
    ),
    # boosted trees
    ("BoostedTreesMakeStatsSummary", [IDS, X[:3, None], X[:3, None], [ROWS, IDS]], {"max_splits": 2, "num_buckets": 3}),
    ("BoostedTreesAggregateStats", [IDS, X[:3, None], X[:3, None], ROWS[:, None]], {"max_splits": 2, "num_buckets": 3}),
    (
        "BoostedTreesSparseAggregateStats",
        [IDS, X[:3, None], X[:3, None], ROWS[[0, 2], None] * STEPS, ROWS[:2], np.array([3, 2], np.int32)],
        {"max_splits": 2, "num_buckets": 3},
    ),
    ("BoostedTreesCalculateBestGainsPerFeature", [FROM, [X.reshape(3, 4, 2)] * 2, *LEAVES], {"max_splits": 3}),
    ("BoostedTreesCalculateBestFeatureSplit", [FROM, X.reshape(3, 1, 4, 2), *LEAVES], {"logits_dimension": 1}),
    (
        "BoostedTreesCalculateBestFeatureSplitV2",
        [FROM, [X.reshape(3, 1, 4, 2)] * 2, np.array([b"inequality", b"equality"], object), FROM, *LEAVES],
        {"logits_dimension": 1},
    ),
    (
        "BoostedTreesSparseCalculateBestFeatureSplit",
        [
            FROM,
            np.array([[0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 2, 1]], np.int32),
            X[:3],
            np.array([1, 1, 4, 2], np.int32),
            *LEAVES,
        ],
        {"logits_dimension": 1},
    ),
    ("BoostedTreesMakeQuantileSummaries", [[X[:3], X[3:6]], X[:3], np.array(0.1, np.float32)], {}),
    ("BoostedTreesBucketize", [[X[:3], X[3:6]], [X[:2], X[3:5]]], {}),
    *((name, [MATRIX], {}) for name in (*SPECIAL.split(), "FresnelCos", "FresnelSin", "Spence")),
    *((f"SparseSegment{kind}", [TALL, ROWS, IDS], {}) for kind in ("Sum", "Mean", "SqrtN")),
    *((f"SparseSegment{kind}WithNumSegments", [TALL, ROWS, IDS, TWO], {}) for kind in ("Sum", "Mean", "SqrtN")),
    *((f"SparseSegment{kind}Grad", [MATRIX, ROWS, IDS, FOUR], {}) for kind in ("Sum", "Mean", "SqrtN")),
    ("DynamicPartition", [TALL, np.array([0, 1, 1, 0], np.int32)], {"num_partitions": 2}),
    ("DynamicStitch", [PLACES, [X[:2], X[2:3]]], {}),
    ("ParallelDynamicStitch", [PLACES, [X[:2], X[2:3]]], {}),
    ("HistogramFixedWidth", [MATRIX, np.array([0, 1], np.float32), FOUR], {}),
    ("Empty", [SHAPE], FLOAT),
    ("SparseMatMul", [MATRIX, MATRIX.T.copy()], {}),
    ("MirrorPadGrad", [TALL, np.array([[1, 1], [1, 1]], np.int32)], {"mode": "REFLECT"}),
    ("PopulationCount", [ROWS], {}),
    ("MatrixDiagV2", [MATRIX, ZERO, LEAST, LEAST, ONE], {}),
    ("MatrixDiagPartV2", [MATRIX, ZERO, ONE], {}),
    ("MatrixSetDiagV2", [MATRIX, X[:2], ZERO], {}),
    ("CholeskyGrad", [np.eye(2, dtype=np.float32), X[:4].reshape(2, 2)], {}),
    ("IgammaGradA", [MATRIX, MATRIX], {}),
    ("RandomGammaGrad", [MATRIX, MATRIX], {}),
    ("MaxPoolGradWithArgmax", [IMAGES, X[:9].reshape(1, 3, 3, 1), np.arange(9).reshape(1, 3, 3, 1)], POOL),
    ("TensorStridedSliceUpdate", [MATRIX, FROM, SHAPE, STEPS, X[:4].reshape(2, 2)], {}),
    ("ScatterNdNonAliasingAdd", [X[:6], np.array([[1], [3]], np.int32), X[:2]], {}),
    ("GuaranteeConst", [MATRIX], {}),
    ("CheckNumericsV2", [MATRIX], {"message": "m"}),
    # matrices under older names
    *(
        (f"Batch{name}", [SQUARE], {})
        for name in ("Cholesky", "MatrixDeterminant", "MatrixInverse", "SelfAdjointEigV2")
    ),
    *((name, [SQUARE], {}) for name in ("BatchSvd", "BatchSelfAdjointEig", "SelfAdjointEig", "MatrixExponential")),
    *((f"BatchMatrix{name}", [SQUARE, X[:2].reshape(2, 1)], {}) for name in ("Solve", "TriangularSolve")),
    ("BatchMatrixSolveLs", [SQUARE, X[:2].reshape(2, 1), np.array(0.5)], {}),
    ("BatchCholeskyGrad", [np.eye(2, dtype=np.float32), SQUARE], {}),
    # drawn classes
    *((f"{name}CandidateSampler", [CLASSES], SAMPLED | {"range_max": 8}) for name in SAMPLERS.split()),
    ("FixedUnigramCandidateSampler", [CLASSES], SAMPLED | {"range_max": 4, "unigrams": [1.0, 2.0, 3.0, 4.0]}),
    ("ApproxTopK", [MATRIX], {"k": 2}),
    # what exported graphs hold
    *((f"Segment{kind}V2", [TALL[:3], IDS, TWO], {}) for kind in ("Sum", "Prod", "Max", "Min")),
    ("ToBool", [MATRIX], {}),
    ("CheckPinned", [MATRIX], {}),
    *((name, [MATRIX], {"k": 2}) for name in ("TopKUnique", "TopKWithUnique")),
    ("Conv", [IMAGES, X[:4].reshape(2, 2, 1, 1)], {"strides": [1, 1, 1, 1], "padding": "SAME"}),
    *(
        (f"Conv2DBackprop{kind}V2", [IMAGES, X[:4].reshape(2, 2, 1, 1), IMAGES[:, :3, :3]], CONV)
        for kind in ("Input", "Filter")
    ),
    *(
        (f"Conv3DBackprop{kind}", [IMAGES[..., None], X[:4].reshape(2, 2, 1, 1, 1), IMAGES[:, :3, :3, :, None]], CONV3)
        for kind in ("Input", "Filter")
    ),
    ("BatchNormWithGlobalNormalization", [IMAGES, X[:1], X[:1], X[:1], X[:1]], NORM),
    ("BatchNormWithGlobalNormalizationGrad", [IMAGES, X[:1], X[:1], X[:1], IMAGES], NORM),
    ("RandomIndexShuffle", [np.array(3), np.array([1, 2, 3]), np.array(9)], {}),
    ("ImageConnectedComponents", [TALL[None]], {}),
    ("StochasticCastToInt", [MATRIX, *PHILOX], {"Tout": "DT:int32"}),
    ("QuantizeAndDequantize", [MATRIX], {}),
    ("RaggedCross", [[NUMBERS], [np.array([0, 2, 3])], [], [], [], []], CROSS),
    # random numbers
    ("RandomUniform", [SHAPE], FLOAT),
    ("RandomStandardNormal", [SHAPE], FLOAT),
    ("TruncatedNormal", [SHAPE], FLOAT),
    ("RandomUniformInt", [SHAPE, ZERO, NINE], {}),
    ("RandomGamma", [SHAPE, X[:2]], {}),
    ("RandomPoissonV2", [SHAPE, X[:2]], {}),
    ("RandomShuffle", [MATRIX], {}),
    ("Multinomial", [MATRIX, FOUR], {}),
    ("ParameterizedTruncatedNormal", [SHAPE, X[:2], X[:2], X[:2] - 9, X[:2] + 9], {}),
    *((f"StatelessRandom{kind}", [SHAPE, SEED], FLOAT) for kind in ("Uniform", "Normal")),
    ("StatelessTruncatedNormal", [SHAPE, SEED], FLOAT),
    ("StatelessRandomUniformInt", [SHAPE, SEED, ZERO, NINE], {}),
    ("StatelessRandomUniformFullInt", [SHAPE, SEED], {"dtype": "DT:int64"}),
    ("StatelessRandomPoisson", [SHAPE, SEED, X[:3]], FLOAT),
    ("StatelessRandomGammaV2", [SHAPE, SEED, X[:3]], {}),
    ("StatelessRandomBinomial", [SHAPE, SEED, np.array(5.0), np.array(0.5)], {"dtype": "DT:int64"}),
    ("StatelessMultinomial", [MATRIX, FOUR, SEED], {}),
    *((f"StatelessRandom{kind}V2", [SHAPE, *PHILOX], FLOAT) for kind in ("Uniform", "Normal")),
    ("StatelessTruncatedNormalV2", [SHAPE, *PHILOX], FLOAT),
    ("StatelessRandomUniformIntV2", [SHAPE, *PHILOX, ZERO, NINE], {}),
    ("StatelessRandomGammaV3", [SHAPE, *PHILOX, X[:3]], {}),
    ("StatelessShuffle", [MATRIX, *PHILOX], {}),
    ("StatelessRandomGetKeyCounter", [SEED], {}),
    # recurrent cells
    ("GRUBlockCell", [MATRIX, MATRIX[:, :2], X[:20].reshape(5, 4), X[:10].reshape(5, 2), X[:4], X[:2]], {}),
    ("LSTMBlockCell", [MATRIX, *LSTM], {}),
    *((name, [np.array(2), X[:12].reshape(2, 2, 3), *LSTM], {}) for name in ("BlockLSTM", "BlockLSTMV2")),
    # summaries
    ("ScalarSummary", [np.array([b"a", b"b"], object), X[:2]], {}),
    ("HistogramSummary", [TAG, MATRIX], {}),
    ("ImageSummary", [TAG, IMAGES], {}),
    ("AudioSummaryV2", [TAG, MATRIX, ONE], {}),
]


# --- ops on variables -------------------------------------------------------------------------------------------------

VARIABLE = X[:6].reshape(3, 2)
OWN_SHAPES = {
    "grad": VARIABLE,
    "delta": VARIABLE,
    "value": VARIABLE,
    "indices": np.array([0, 2], np.int32),
    "updates": VARIABLE[:2],
    "global_step": np.array(1),
}
SKIPPED = {"ResourceCountUpTo", "ResourceStridedSliceAssign"}  # their arguments are of other forms: see state's tests


def on_variables() -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """Yield good arguments for the ops that take variables as resources."""
    for name, op in sorted(registry.declare_all().items()):
        inputs = op.signature.inputs
        if name in SKIPPED or not name.startswith(("Resource", "Assign")) or not is_on_variables(name):
            continue
        given = {}
        for arg in inputs:
            plain = VARIABLE if arg.type is dtypes.resource else np.array(0.5, np.float32)
            given[arg.name] = OWN_SHAPES.get(arg.name, plain)
        if "indices" in given and "grad" in given:
            given["grad"] = VARIABLE[:2]
        if "Nd" in name:
            given["indices"] = np.array([[0], [2]], np.int32)
        yield name, list(given.values()), FLOAT if name.startswith("ResourceGather") else {}


def is_on_variables(name: str) -> bool:
    return name in registry.names() and any(arg.type is dtypes.resource for arg in registry[name].signature.inputs)


_numbers = itertools.count()


def call(tf: Any, op: str, inputs: dict, attrs: dict) -> list:
    """Call `tf.raw_ops.<op>`, with variables where it takes resources, and return its outputs as a list."""
    if op in good_handles.OPS:
        taken = {name: good_handles.given(tf, op, name, value) for name, value in inputs.items()}
        return [good_handles.plain(tf, op, output) for output in golden.call_raw_op(tf, op, taken, attrs)]
    if not is_on_variables(op):
        return golden.call_raw_op(tf, op, inputs, attrs)
    raw, made, given = tf.raw_ops, [], dict(inputs)
    for arg in registry[op].signature.inputs:
        if arg.type is dtypes.resource:
            value = inputs[arg.name]
            handle = raw.VarHandleOp(dtype=value.dtype, shape=None, shared_name=f"spoiled_{next(_numbers)}")
            made.append(raw.AssignVariableOp(resource=handle, value=value))
            given[arg.name] = handle
    resource = next(arg.name for arg in registry[op].signature.inputs if arg.type is dtypes.resource)
    with tf.control_dependencies([node for node in made if node is not None]):
        result = getattr(raw, op)(**given, **attrs)
    outputs = [] if result is None or not hasattr(result, "dtype") else [result]
    with tf.control_dependencies([] if result is None else [result]):
        return [*outputs, raw.ReadVariableOp(resource=given[resource], dtype=inputs[resource].dtype)]


# --- all of them ------------------------------------------------------------------------------------------------------


def good_cases(most: int = 1) -> dict[str, list[dict]]:
    """Return cases of each op that have an answer: recorded ones of the highest rank, or those by hand."""
    found: dict[str, list[dict]] = {}
    for family in golden.families():
        for op, cases in golden.load(family).items():
            answered = [{k: v for k, v in case.items() if k != "via"} for case in cases if "error" not in case]
            answered.sort(key=lambda case: -max((len(form["s"]) for form in _forms(case)), default=0))
            found.setdefault(op, []).extend(answered[:most])
    for op, inputs, attrs in (*BY_HAND, *good_files.ROWS, *good_handles.ROWS, *on_variables()):
        if not found.get(op):
            names = [arg.name for arg in registry[op].signature.inputs]
            written = {name: _written(value) for name, value in zip(names, inputs, strict=True)}
            found[op] = [{"op": op, "id": f"{op}/by hand", "inputs": written, "attrs": attrs}]
    return {op: cases for op, cases in found.items() if cases}


def _written(value: Any) -> Any:
    return [golden.encode(array) for array in value] if isinstance(value, list) else golden.encode(value)


def _forms(case: dict) -> Iterator[dict]:
    for value in case["inputs"].values():
        yield from value if isinstance(value, list) else [value]
