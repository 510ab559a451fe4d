"""Recorded answers of TensorFlow 2.21: how a case is written, how it is run, how it is judged.

Knows the file format of `tests/golden/ops/*.jsonl` and the public names a program would use (`tf.raw_ops`,
`tf.GradientTape`, `tf.Graph`, `tf.gradients`, a v1 session). It knows no op and nothing of Ebbflow's inside: the
namespace `tf` is handed in, so the recorder runs the same code over the real TensorFlow (`tools/record/ops.py`) and
the tests run it over Ebbflow.

One line of a file is one case, a JSON object:

    op, id      the name in `tf.raw_ops`, and a name for the case unique among that op's
    inputs      {argument: array, or a list of arrays}, arguments as `tf.raw_ops` spells them
    attrs       {argument: value}; a dtype is "DT:float32", a list of dtypes a list of those, a shape is
                {"shape": [2, null]} or {"shape": null} for an unknown rank; all else is plain JSON
    outputs     arrays, in order; an op that returns nothing has none
    static      an output's shape as TensorFlow infers it when the graph is built, null where not fully known
    dy          the upstream gradient of each output, null for an output that takes none
    grads       {argument: array or null (TensorFlow says None), or a list of those}; "slices": 1 in an array marks
                an IndexedSlices, recorded densely
    dy2, grads2 second order: `grads` taken again with upstream gradients dy2 {argument: array}
    grad_error  [class, message]: asking for the gradient must be refused so
    error       {mode: [class, message, "build" | "run"]}: the modes in which the call is refused
    says        a piece of text our message must hold too
    skip        modes in which TensorFlow itself cannot answer (or, "late.grads", not differentiate), so nothing is
                asked of us there
    via         the outputs were made comparable first (see VIA): signs of QR, SVD and eigenvectors are free
    derived     1: TensorFlow's CPU refuses this layout (or, TopK, this op); the answer is that of the layout (the op)
                it takes, brought into this form
    zeros       "signed": the sign of a zero matters here
    tol         [factor, reason]: tolerances are this many times wider (0: exactly equal)

An array is {"d": dtype, "s": shape, "v": flat values}: a float has the fewest digits that read back the same in its
dtype, non-finite ones are "nan", "inf", "-inf"; a complex is [re, im]; a bool is 0 or 1; a string is its bytes as
latin-1 text. Values of null are unspecified (TensorFlow leaves them uninitialised): only dtype and shape count.

Modes: `eager`; `graph` (placeholders of known shape, with the arguments in FOLDED as constants, as programs write
them); `late` (every input a placeholder of unknown shape: nothing can be known before the run).
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "golden" / "ops"
MODES = ("eager", "graph", "late")

# Arguments that programs write as constants and that shape rules read.
FOLDED_NAMES = """
    axis begin block_shape concat_dim crops delta depth dims dimension end filter_sizes input_sizes k ksize limit
    multiples n num num_cols num_lower num_rows num_segments num_upper orig_input_shape paddings perm s0 s1 shape shift
    size size_splits split_dim start stop strides
"""
FOLDED = frozenset(FOLDED_NAMES.split())

# Closeness: |ours - theirs| <= factor * (atol + rtol * |theirs|). Anything not listed must be equal.
TOLERANCE = {
    "float64": (1e-12, 1e-13),
    "complex128": (1e-12, 1e-13),
    "float32": (1e-5, 1e-6),
    "complex64": (1e-5, 1e-6),
    "float16": (2e-3, 1e-3),  # two units in the last place
    "bfloat16": (2e-2, 1e-2),  # two to three units in the last place
}
# How much wider for gradients: in 16 bits every step of a gradient formula rounds, and formulas may differ.
GRADIENT_FACTOR = {"float16": 4.0, "bfloat16": 4.0}


# ---------------------------------------------------------------------------------------------- arrays as text


def np_dtype(name: str) -> np.dtype:
    """Return the NumPy dtype of arrays of the TensorFlow dtype `name`."""
    if name == "string":
        return np.dtype(object)
    return np.dtype(getattr(ml_dtypes, name)) if name == "bfloat16" else np.dtype(name)


def dtype_name(array: np.ndarray) -> str:
    """Return TensorFlow's name for an array's dtype."""
    return "string" if array.dtype.kind in "OSU" else array.dtype.name


def is_differentiable(array: np.ndarray) -> bool:
    return dtype_name(array) in TOLERANCE


def _shortest(value: float, dtype: np.dtype) -> float | int | str:
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e6 and not (value == 0 and math.copysign(1, value) < 0):
        return int(value)
    with np.errstate(over="ignore"):
        for digits in range(1, 18):
            short = float(f"{value:.{digits}g}")
            if float(dtype.type(short)) == value:
                return short
    return value


def encode(array: np.ndarray) -> dict:
    """Return the JSON form of an array."""
    name = dtype_name(array)
    flat = array.reshape(-1)
    if name == "string":
        values = [(v if isinstance(v, bytes) else v.encode()).decode("latin-1") for v in flat.tolist()]
    elif array.dtype.kind in "biu":
        values = [int(v) for v in flat.tolist()]
    elif array.dtype.kind == "c":
        part = np.dtype(np.float32 if name == "complex64" else np.float64)
        values = [[_shortest(v.real, part), _shortest(v.imag, part)] for v in flat.tolist()]
    else:
        values = [_shortest(float(v), array.dtype) for v in flat]
    return {"d": name, "s": list(array.shape), "v": values}


def decode(form: dict) -> np.ndarray:
    """Return the array of a JSON form."""
    dtype, values = np_dtype(form["d"]), form["v"]
    if form["d"] == "string":
        flat = np.empty(len(values), object)
        flat[:] = [v.encode("latin-1") for v in values]
    elif dtype.kind == "c":
        flat = np.array([complex(float(re), float(im)) for re, im in values], dtype)
    elif dtype.kind in "biu":
        flat = np.array(values, dtype)
    else:
        flat = np.array([float(v) for v in values], np.float64).astype(dtype)
    return flat.reshape(form["s"])


def decode_attr(tf: Any, value: Any) -> Any:
    """Return an attr as an op call takes it."""
    if isinstance(value, str) and value.startswith("DT:"):
        return tf.as_dtype(value[3:])
    if isinstance(value, dict):
        return tf.TensorShape(value["shape"])
    return [decode_attr(tf, v) for v in value] if isinstance(value, list) else value


@functools.cache
def load(family: str) -> dict[str, list[dict]]:
    """Return the cases of one file, by op, in file order."""
    by_op: dict[str, list[dict]] = {}
    with open(FOLDER / f"{family}.jsonl", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            by_op.setdefault(case["op"], []).append(case)
    return by_op


def families() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def check_counts(case: dict) -> dict[str, int]:
    """Return what replaying a case in every mode compares: values, gradients of both orders, refusals."""
    modes = [mode for mode in MODES if mode not in case.get("skip", ())]
    refused = [mode for mode in modes if mode in case.get("error", ())]
    answered = [mode for mode in modes if mode not in refused] if "outputs" in case else []
    differentiated = [mode for mode in answered if f"{mode}.grads" not in case.get("skip", ())]
    return {
        "values": len(answered),
        "gradients": len(differentiated) * (("grads" in case) + ("grads2" in case) + ("grad_error" in case)),
        "refusals": len(refused),
    }


# ---------------------------------------------------------------------------------------------- running a case


@dataclass
class Refusal:
    """The error a call ended in, and whether that was while building the graph or while running it."""

    error: Exception
    stage: str

    def __str__(self) -> str:
        return f"{type(self.error).__name__} at {self.stage}: {str(self.error)[:200]}"


@dataclass
class Answer:
    """What a namespace said to a case."""

    outputs: list[np.ndarray] | None = None
    static: list[tuple | None] | None = None
    grads: dict[str, Any] | None = None
    grads2: dict[str, Any] | None = None
    slices: set[str] = field(default_factory=set)
    refusal: Refusal | None = None
    grad_refusal: Refusal | None = None


def call_raw_op(tf: Any, op: str, inputs: dict, attrs: dict) -> list:
    """Call `tf.raw_ops.<op>` and return its outputs as a list."""
    result = getattr(tf.raw_ops, op)(**inputs, **attrs)
    if isinstance(result, (list, tuple)):
        # An op with a list output and another one returns a tuple with a list inside.
        return [t for item in result for t in (item if isinstance(item, (list, tuple)) else [item])]
    return [] if result is None or not hasattr(result, "dtype") else [result]


def call_in_function(jit_compile: bool) -> Callable:
    """Return what calls an op inside a `tf.function`: the arguments in FOLDED as constants, the others as inputs."""

    def call(tf: Any, op: str, inputs: dict, attrs: dict) -> list:
        arrays = {name: (t.numpy(), t.dtype) for name, t in inputs.items() if name in FOLDED and hasattr(t, "numpy")}
        given = {name: t for name, t in inputs.items() if name not in arrays}

        def body(given: dict) -> list:
            constants = {name: tf.constant(array, dtype) for name, (array, dtype) in arrays.items()}
            return call_raw_op(tf, op, constants | given, attrs)

        return tf.function(body, autograph=False, jit_compile=jit_compile)(given)

    return call


def _phase(tf: Any, x: Any) -> Any:
    """Return x/|x|, as a constant for gradients."""
    return tf.stop_gradient(x / tf.cast(tf.abs(x), x.dtype))


def _via_qr(tf: Any, outputs: list) -> list:
    """Make the diagonal of R positive."""
    q, r = outputs
    phase = _phase(tf, tf.linalg.diag_part(r))
    return [q * phase[..., None, :], tf.math.conj(phase)[..., None] * r]


def _via_svd(tf: Any, outputs: list) -> list:
    """Make the first row of U positive, V following."""
    s, u, v = outputs
    phase = tf.math.conj(_phase(tf, u[..., :1, :]))
    return [s, u * phase, v * phase]


def _via_product(tf: Any, outputs: list) -> list:
    """Full factors have free columns: keep what is determined, U S V*, and that U and V are unitary."""
    s, u, v = outputs
    k = tf.shape(s)[-1]
    scaled = u[..., :k] * tf.cast(s, u.dtype)[..., None, :]
    unitary = [tf.matmul(m, m, adjoint_a=True) for m in (u, v)]
    return [s, tf.matmul(scaled, v[..., :k], adjoint_b=True), *unitary]


def _via_eigh(tf: Any, outputs: list) -> list:
    """Make the first row of the eigenvectors positive."""
    e, v = outputs
    return [e, v * tf.math.conj(_phase(tf, v[..., :1, :]))]


def _via_first(tf: Any, outputs: list) -> list:
    """Keep the first output: the others are empty or free."""
    return outputs[:1]


VIA = {"qr": _via_qr, "svd": _via_svd, "product": _via_product, "eigh": _via_eigh, "first": _via_first}


class Runner:
    """Runs cases in one namespace; `call` may stand in for `call_raw_op`."""

    def __init__(self, tf: Any, call: Callable = call_raw_op):
        self.tf = tf
        self.call = call

    def answer(self, case: dict, mode: str) -> Answer:
        """Return what the namespace says to `case` in `mode`; never raises for what the op itself raises."""
        inputs = {
            name: [decode(v) for v in value] if isinstance(value, list) else decode(value)
            for name, value in case["inputs"].items()
        }
        return self._eager(case, inputs) if mode == "eager" else self._graph(case, inputs, mode == "late")

    def _constant(self, array: np.ndarray) -> Any:
        return self.tf.constant(array, dtype=self.tf.as_dtype(dtype_name(array)))

    def _outputs(self, case: dict, tensors: dict) -> list:
        attrs = {name: decode_attr(self.tf, value) for name, value in case["attrs"].items()}
        outputs = self.call(self.tf, case["op"], tensors, attrs)
        return VIA[case["via"]](self.tf, outputs) if "via" in case else outputs

    def _upstream(self, case: dict, outputs: list) -> tuple[list, list]:
        pairs = [(y, self._constant(decode(dy))) for y, dy in zip(outputs, case["dy"], strict=True) if dy is not None]
        return [y for y, _ in pairs], [dy for _, dy in pairs]

    def _dense(self, slots: list[str], grads: list, result: Answer) -> list:
        for slot, grad in zip(slots, grads, strict=True):
            if hasattr(grad, "indices") and hasattr(grad, "values"):
                result.slices.add(slot.partition(":")[0])
        return [None if g is None else self.tf.convert_to_tensor(g) for g in grads]

    def _second(self, case: dict, slots: list[str], grads: list) -> tuple[list, list]:
        kept = [(s, g) for s, g in zip(slots, grads, strict=True) if g is not None]
        return [g for _, g in kept], [self._constant(decode(case["dy2"][s])) for s, _ in kept]

    # -- eager

    def _eager(self, case: dict, inputs: dict) -> Answer:
        tf, result = self.tf, Answer()
        tensors = _map(self._constant, inputs)
        slots, sources = _sources(inputs, tensors)
        try:
            with tf.GradientTape() as tape:
                tape.watch(sources)
                outputs = self._outputs(case, tensors)
            result.outputs = [_to_numpy(y.numpy()) for y in outputs]
        except Exception as error:
            result.refusal = Refusal(error, "run")
            return result
        try:
            if "dy" in case:
                targets, dys = self._upstream(case, outputs)
                grads = self._dense(slots, tape.gradient(targets, sources, output_gradients=dys), result)
                result.grads = _by_name(inputs, slots, _numpy_or_none(grads))
            if "dy2" in case:
                grads = self._eager_second(case, tensors, slots, sources)
                result.grads2 = _by_name(inputs, slots, _numpy_or_none(grads))
        except Exception as error:
            result.grad_refusal = Refusal(error, "run")
        return result

    def _eager_second(self, case: dict, tensors: dict, slots: list[str], sources: list) -> list:
        with self.tf.GradientTape() as outer:
            outer.watch(sources)
            with self.tf.GradientTape() as inner:
                inner.watch(sources)
                targets, dys = self._upstream(case, self._outputs(case, tensors))
            grads = self._dense(slots, inner.gradient(targets, sources, output_gradients=dys), Answer())
        targets, dys = self._second(case, slots, grads)
        return self._dense(slots, outer.gradient(targets, sources, output_gradients=dys), Answer())

    # -- graph

    def _graph(self, case: dict, inputs: dict, late: bool) -> Answer:
        tf, result, feeds, stage = self.tf, Answer(), {}, "build"

        def feed(name: str, array: np.ndarray) -> Any:
            if name in FOLDED and not late:
                return self._constant(array)
            dtype = tf.as_dtype(dtype_name(array))
            node = tf.compat.v1.placeholder(dtype, None if late else array.shape)
            feeds[node] = array
            return node

        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            try:
                tensors = {
                    name: [feed(name, a) for a in v] if isinstance(v, list) else feed(name, v)
                    for name, v in inputs.items()
                }
                outputs = self._outputs(case, tensors)
                result.static = [None if y.shape.rank is None else tuple(y.shape.as_list()) for y in outputs]
                stage = "run"
                result.outputs = [_to_numpy(y) for y in session.run(outputs, feeds)]
            except Exception as error:
                result.refusal = Refusal(error, stage)
                return result
            if "dy" in case:
                self._graph_gradients(case, inputs, tensors, outputs, lambda ts: session.run(ts, feeds), result)
        return result

    def _graph_gradients(self, case, inputs, tensors, outputs, run, result: Answer) -> None:
        tf, stage = self.tf, "build"
        slots, sources = _sources(inputs, tensors)
        try:
            targets, dys = self._upstream(case, outputs)
            grads = self._dense(slots, tf.gradients(targets, sources, grad_ys=dys), result)
            second = None
            if "dy2" in case:
                targets, dys = self._second(case, slots, grads)
                second = self._dense(slots, tf.gradients(targets, sources, grad_ys=dys), Answer())
            stage = "run"
            known = [g for g in grads + (second or []) if g is not None]
            values = iter(run(known) if known else [])
            pick = lambda gs: [None if g is None else _to_numpy(next(values)) for g in gs]
            result.grads = _by_name(inputs, slots, pick(grads))
            result.grads2 = None if second is None else _by_name(inputs, slots, pick(second))
        except Exception as error:
            result.grad_refusal = Refusal(error, stage)


def _map(function: Callable, inputs: dict) -> dict:
    return {n: [function(a) for a in v] if isinstance(v, list) else function(v) for n, v in inputs.items()}


def _sources(inputs: dict, tensors: dict) -> tuple[list[str], list]:
    """Return the differentiable inputs as slots (`name`, or `name:i` in a list) and their tensors."""
    slots, sources = [], []
    for name, value in inputs.items():
        listed = isinstance(value, list)
        for i, array in enumerate(value if listed else [value]):
            if is_differentiable(array):
                slots.append(f"{name}:{i}" if listed else name)
                sources.append(tensors[name][i] if listed else tensors[name])
    return slots, sources


def _by_name(inputs: dict, slots: list[str], values: list) -> dict:
    """Fold slots back: an argument that is a list has a list of gradients."""
    result: dict[str, Any] = {}
    for slot, value in zip(slots, values, strict=True):
        name, _, _ = slot.partition(":")
        if isinstance(inputs[name], list):
            result.setdefault(name, []).append(value)
        else:
            result[name] = value
    return result


def _numpy_or_none(tensors: list) -> list:
    return [None if t is None else _to_numpy(t.numpy()) for t in tensors]


def _to_numpy(value: Any) -> np.ndarray:
    array = np.asarray(value, dtype=object) if isinstance(value, (bytes, str)) else np.asarray(value)
    return array.astype(object) if array.dtype.kind in "SU" else array


# ---------------------------------------------------------------------------------------------- judging an answer


def excess(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest error in units of the dtype's tolerance, over the elements that are finite in both."""
    rtol, atol = TOLERANCE[dtype_name(theirs)]
    wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
    a, b = ours.astype(wide), theirs.astype(wide)
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    return float(np.max(np.abs(a - b) / (atol + rtol * np.abs(b)), initial=0.0))


def _special(array: np.ndarray) -> np.ndarray:
    """Return a code per element: 0 finite, 1 nan, 2 inf, 3 -inf."""
    wide = array.astype(np.float64)
    return np.where(np.isnan(wide), 1, np.where(np.isinf(wide), np.where(wide > 0, 2, 3), 0))


def differ(ours: np.ndarray, theirs: np.ndarray, factor: float = 1.0, signed_zeros: bool = False) -> str | None:
    """Return how two arrays differ, or None when they agree."""
    if dtype_name(ours) != dtype_name(theirs):
        return f"dtype {dtype_name(ours)}, not {dtype_name(theirs)}"
    if ours.shape != theirs.shape:
        return f"shape {list(ours.shape)}, not {list(theirs.shape)}"
    if dtype_name(theirs) not in TOLERANCE:
        return None if np.array_equal(ours, theirs) else f"{_show(ours)}, not {_show(theirs)}"
    if theirs.dtype.kind == "c":
        same = np.array_equal(_special(ours.real), _special(theirs.real))
        same = same and np.array_equal(_special(ours.imag), _special(theirs.imag))
    else:
        same = np.array_equal(_special(ours), _special(theirs))
    if not same or excess(ours, theirs) > factor:
        return f"{_show(ours)}, not {_show(theirs)}"
    zero = (theirs == 0) & (ours == 0)
    if (
        signed_zeros
        and theirs.dtype.kind != "c"
        and not np.array_equal(np.signbit(ours[zero]), np.signbit(theirs[zero]))
    ):
        return f"{_show(ours)}, not {_show(theirs)} (sign of zero)"
    return None


def _show(array: np.ndarray) -> str:
    text = np.array2string(array.reshape(-1), threshold=24, max_line_width=100_000)
    return text.replace("\n", " ")


def is_a(error: Exception, recorded: str) -> bool:
    """Say whether an error is of the recorded class.

    ValueError and InvalidArgumentError stand for each other, and either for an InternalError: that is TensorFlow being
    caught out by a bad argument.
    """
    names = {c.__name__ for c in type(error).__mro__}
    twins = {"ValueError", "InvalidArgumentError"}
    return recorded in names or (recorded in twins | {"InternalError"} and bool(names & twins))


def problems(case: dict, mode: str, answer: Answer) -> list[str]:
    """Return everything in which an answer departs from the recorded one."""
    if mode in case.get("skip", ()):
        return []
    expected = case.get("error", {}).get(mode)
    if expected is not None:
        return _judge_refusal(case, mode, expected, answer)
    if answer.refusal is not None:
        return [f"refused: {answer.refusal}"]
    found = _judge_outputs(case, answer)
    if mode == "graph" and answer.static is not None:
        found += _judge_static(case, answer)
    if "dy" in case and f"{mode}.grads" not in case.get("skip", ()):
        found += _judge_gradients(case, mode, answer)
    return found


def _judge_refusal(case: dict, mode: str, expected: list, answer: Answer) -> list[str]:
    name, message, stage = expected
    if answer.refusal is None:
        return [f"not refused; TensorFlow: {name}: {message}"]
    if not is_a(answer.refusal.error, name):
        return [f"{answer.refusal}; TensorFlow: {name}: {message}"]
    if mode == "graph" and stage == "build" and answer.refusal.stage == "run":
        return [f"refused only when run; TensorFlow already when built: {name}: {message}"]
    if "says" in case and case["says"] not in str(answer.refusal.error):
        return [f"message lacks {case['says']!r}: {answer.refusal.error}"]
    return []


def _judge_outputs(case: dict, answer: Answer) -> list[str]:
    theirs, ours = case["outputs"], answer.outputs
    if len(theirs) != len(ours):
        return [f"{len(ours)} outputs, not {len(theirs)}"]
    factor, signed = case.get("tol", [1])[0], case.get("zeros") == "signed"
    found = []
    for i, (y, form) in enumerate(zip(ours, theirs, strict=True)):
        text = _differ_in_kind(y, form) if form["v"] is None else differ(y, decode(form), factor, signed)
        found += [f"output {i}: {text}"] if text else []
    return found


def _differ_in_kind(ours: np.ndarray, form: dict) -> str | None:
    kind = (dtype_name(ours), list(ours.shape))
    return None if kind == (form["d"], form["s"]) else f"{kind}, not {(form['d'], form['s'])}"


def _judge_static(case: dict, answer: Answer) -> list[str]:
    found = []
    for i, (static, form, theirs) in enumerate(zip(answer.static, case["outputs"], case["static"], strict=True)):
        actual = form["s"]
        if theirs is not None and (static is None or list(static) != theirs):
            found.append(f"static shape of output {i}: {static}, TensorFlow infers {theirs}")
        elif static is not None and (
            len(static) != len(actual) or any(d not in (None, n) for d, n in zip(static, actual, strict=True))
        ):
            found.append(f"static shape of output {i}: {static}, but the value has {actual}")
    return found


def _judge_gradients(case: dict, mode: str, answer: Answer) -> list[str]:
    refusal = answer.grad_refusal
    if "grad_error" in case:
        name = case["grad_error"][0]
        return [] if refusal and is_a(refusal.error, name) else [f"gradient not refused with {name}: {refusal}"]
    if refusal is not None:
        return [f"gradient refused: {refusal}"]
    factor = case.get("tol", [1])[0]
    found = _judge_named("gradient", case["grads"], answer.grads, factor)
    for name, form in case["grads"].items():
        forms = form if isinstance(form, list) else [form]
        # Late, TensorFlow cannot know along which axis the slices lie, and makes the gradient dense.
        if mode != "late" and any(f and f.get("slices") for f in forms) and name not in answer.slices:
            found.append(f"gradient of {name}: dense, TensorFlow gives IndexedSlices")
    if "grads2" in case:
        found += _judge_named("second gradient", case["grads2"], answer.grads2, factor)
    return found


def _judge_named(what: str, theirs: dict, ours: dict, factor: float) -> list[str]:
    found = []
    for name, form in theirs.items():
        pairs = zip(ours[name], form, strict=True) if isinstance(form, list) else [(ours[name], form)]
        for mine, recorded in pairs:
            if (mine is None) != (recorded is None):
                found.append(f"{what} of {name}: {'None, not an array' if mine is None else 'an array, not None'}")
            elif recorded is not None:
                text = differ(mine, decode(recorded), factor * GRADIENT_FACTOR.get(recorded["d"], 1.0))
                found += [f"{what} of {name}: {text}"] if text else []
    return found
