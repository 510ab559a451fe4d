"""Every op answers as TensorFlow 2.21 did: values, dtypes, shapes, gradients, refusals; eagerly and in graphs, some
cases inside functions and compiled by XLA too.

The answers are in `tests/golden/ops/` (recorded by `tools/record/ops.py`, format in `golden.py`). One test is one op in
one mode; it runs all the op's cases and reports every failing one.
"""

from collections import Counter

import numpy as np
import pytest

import ebbflow as tf
from tests.ops import golden

OPS = [(family, op) for family in golden.families() for op in golden.load(family)]
RUNNER = golden.Runner(tf)


def is_declared(op: str) -> bool:
    return hasattr(tf.raw_ops, op)


@pytest.mark.parametrize("mode", golden.MODES)
@pytest.mark.parametrize("family, op", OPS, ids=[op for _, op in OPS])
def test_answers_as_recorded(family, op, mode):
    failures = []
    for case in golden.load(family)[op]:
        if mode not in case.get("skip", ()):
            failures += [f"{case['id']}: {text}" for text in golden.problems(case, mode, RUNNER.answer(case, mode))]
    assert not failures, f"{len(failures)} departures from TensorFlow\n" + "\n".join(failures)


def test_every_recorded_op_is_declared():
    assert sorted({op for _, op in OPS if not is_declared(op)}) == []


def sample(family: str, op: str, count: int) -> list[dict]:
    """Return a few cases of an op that were answered: the first, one of the middle, the last; with gradients if any."""
    cases = [case for case in golden.load(family)[op] if "outputs" in case and "eager" not in case.get("skip", ())]
    cases = [case for case in cases if "dy" in case] or cases
    return [cases[i] for i in sorted({0, len(cases) // 2, len(cases) - 1})][:count] if cases else []


@pytest.mark.parametrize("family, op", OPS, ids=[op for _, op in OPS])
def test_answers_as_recorded_inside_a_function(family, op):
    runner = golden.Runner(tf, golden.call_in_function(jit_compile=False))
    failures = []
    for case in sample(family, op, 3):
        failures += [f"{case['id']}: {text}" for text in golden.problems(case, "eager", runner.answer(case, "eager"))]
    assert not failures, "\n".join(failures)


def unserved(refusal: golden.Refusal | None) -> bool:
    return refusal is not None and "Detected unsupported operations" in str(refusal)


@pytest.mark.parametrize("part", range(4))
def test_answers_as_recorded_when_compiled_by_xla(part):
    """Every 28th op in each part: compiling takes long. An op that XLA does not serve says so; most are served.

    Nor does XLA serve every gradient: of such an op the outputs are compared alone.
    """
    runner = golden.Runner(tf, golden.call_in_function(jit_compile=True))
    failures, served, chosen = [], 0, OPS[part * 7 :: 28]
    for family, op in chosen:
        for case in sample(family, op, 1):
            answer = runner.answer(case, "eager")
            if unserved(answer.refusal):
                continue
            if unserved(answer.grad_refusal):  # as TensorFlow's XLA has QuantizeAndDequantizeV4, and not its gradient
                case = {name: form for name, form in case.items() if name not in ("dy", "dy2")}
            served += 1
            failures += [f"{case['id']}: {text}" for text in golden.problems(case, "eager", answer)]
    assert not failures, "\n".join(failures)
    assert served >= len(chosen) // 3


def test_the_record_is_broad():
    counts = {op: len(golden.load(family)[op]) for family, op in OPS}
    assert len(counts) >= 355
    assert min(counts.values()) >= 3
    assert sum(path.stat().st_size for path in golden.FOLDER.parent.rglob("*") if path.is_file()) < 30_000_000


def test_the_record_asks_much():
    """A check is one case in one mode: its value, its gradient, the gradient's gradient, or that it is refused."""
    checks = Counter()
    bad_calls = 0
    for family, op in OPS:
        for case in golden.load(family)[op]:
            checks.update(golden.check_counts(case))
            bad_calls += "error" in case or "grad_error" in case
    assert checks.total() >= 38_000, checks
    assert checks["gradients"] >= 13_000
    assert bad_calls >= 1_390


@pytest.mark.parametrize(
    "case, expected",
    [
        ({"outputs": [], "grads": {}}, (3, 3, 0)),
        ({"outputs": [], "grads": {}, "grads2": {}, "skip": ["late.grads"]}, (3, 4, 0)),
        ({"error": {"eager": [], "graph": []}, "skip": ["late"]}, (0, 0, 2)),
        ({"error": {"graph": []}, "outputs": []}, (2, 0, 1)),
    ],
)
def test_checks_are_counted(case, expected):
    assert tuple(golden.check_counts(case).values()) == expected


# ---------------------------------------------------------------------------------------------- the judge is judged


def exact(case: dict) -> golden.Answer:
    """Return the recorded answer itself."""
    decoded = {name: form and golden.decode(form) for name, form in case["grads"].items()}
    sliced = {name for name, form in case["grads"].items() if form and form.get("slices")}
    outputs = [golden.decode(form) for form in case["outputs"]]
    static = [None if s is None else tuple(s) for s in case["static"]]
    return golden.Answer(outputs, static, decoded, None, sliced)


def with_output(change):
    return lambda answer: answer.outputs.__setitem__(0, change(answer.outputs[0]))


def with_gradient(change):
    return lambda answer: answer.grads.update(x=change(answer.grads["x"]))


def with_static(static):
    return lambda answer: answer.static.__setitem__(0, static)


DEPARTURES = {
    "value wrong by a thousandth": with_output(lambda y: y * np.float32(1.001)),
    "value wrong in one place": with_output(
        lambda y: np.where(np.arange(6).reshape(2, 3) == 4, y + 1, y).astype(y.dtype)
    ),
    "value of another dtype": with_output(lambda y: y.astype(np.float64)),
    "value of another shape": with_output(lambda y: y.reshape(3, 2)),
    "value not a number": with_output(lambda y: y * np.float32(np.nan)),
    "gradient wrong by a thousandth": with_gradient(lambda g: g * np.float32(1.001)),
    "gradient missing": with_gradient(lambda g: None),
    "gradient of another dtype": with_gradient(lambda g: g.astype(np.float64)),
    "static shape unknown": with_static(None),
    "static shape half known": with_static((2, None)),
    "static shape wrong": with_static((3, 2)),
}


@pytest.mark.parametrize("name", DEPARTURES)
def test_judge_sees(name):
    case = golden.load("unary")["Exp"][0]
    answer = exact(case)
    assert golden.problems(case, "graph", answer) == []
    DEPARTURES[name](answer)
    assert golden.problems(case, "graph", answer) != []


def test_judge_sees_a_dense_gradient_where_slices_belong():
    case = next(c for c in golden.load("index")["GatherV2"] if c.get("grads", {}).get("params", {}).get("slices"))
    answer = exact(case)
    assert golden.problems(case, "eager", answer) == []
    answer.slices.clear()
    assert golden.problems(case, "eager", answer) != []


REFUSALS = {
    "not refused": (None, "build"),
    "another class": (KeyError("axis"), "build"),
    "too late": (ValueError("axis"), "run"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_judge_sees_a_refusal(name):
    error, stage = REFUSALS[name]
    case = {"op": "Sum", "id": "Sum/x", "error": {"graph": ["ValueError", "Invalid reduction dimension", "build"]}}
    right = golden.Answer(refusal=golden.Refusal(ValueError("axis"), "build"))
    assert golden.problems(case, "graph", right) == []
    wrong = golden.Answer(outputs=[], refusal=error and golden.Refusal(error, stage))
    assert golden.problems(case, "graph", wrong) != []


def test_errors_match_through_their_bases_and_twins():
    invalid = type("InvalidArgumentError", (Exception,), {})
    assert golden.is_a(type("Special", (invalid,), {})(), "InvalidArgumentError")
    assert golden.is_a(invalid(), "ValueError")
    assert golden.is_a(ValueError(), "InvalidArgumentError")
    assert golden.is_a(ValueError(), "InternalError")
    assert not golden.is_a(TypeError(), "ValueError")


ARRAYS = [
    np.array([0.1, -0.0, np.nan, np.inf, 1e-40], np.float32),
    np.array([[0.1, 65504.0]], np.float16),
    np.array(0.1),
    np.array([1.5 - 2.5j, np.inf], np.complex64),
    np.array([2**63 - 1, -(2**63)], np.int64),
    np.array([True, False]),
    np.array([b"", b"\xff\x00", "ü".encode()], object),
    np.zeros((2, 0, 3), golden.np_dtype("bfloat16")),
    np.array([0.1, 3.140625], golden.np_dtype("bfloat16")),
]


@pytest.mark.parametrize("array", ARRAYS, ids=golden.dtype_name)
def test_arrays_survive_their_text(array):
    again = golden.decode(golden.encode(array))
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes() or array.dtype == object
    assert golden.differ(again, array, factor=0, signed_zeros=True) is None
