"""Records TensorFlow 2.21's answers for the op library, and checks the records against TensorFlow again.

    python tools/record/ops.py [family ...]               write tests/golden/ops/<family>.jsonl
    python tools/record/ops.py --selfcheck [family ...]   replay the files on the real TensorFlow: all must pass

Run it in an environment that has TensorFlow 2.21 (CPU). The tables of cases are `ops_<family>.py` beside this file;
the file format and the code that runs a case are `tests/ops/golden.py`. Ebbflow is not needed and not imported.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import math
import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Without oneDNN, TensorFlow's answers are the same on every CPU.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf
from ops_derived import call_derived, is_derivable
from ops_rows import made_up

from tests.ops import golden

WRITES = ("ops/*.jsonl",)
FAMILIES = (
    "unary",
    "binary",
    "reduce",
    "shape",
    "layout",
    "index",
    "matrix",
    "matrix_functions",
    "nn",
    "nn_more",
    "conv",
    "pool",
    "sparse",
)
WIDER = {"float32": "float64", "float16": "float64", "bfloat16": "float64", "complex64": "complex128"}
KEYS = "op id inputs attrs outputs static dy grads dy2 grads2 grad_error error says skip via derived zeros tol"
NO_KERNEL = ("Could not find device for node", "No OpKernel was registered", "could not find a kernel")

PLAIN = golden.Runner(tf)
DERIVED = golden.Runner(tf, call_derived)


class Recorder:
    """Turns table entries into recorded cases, and remembers what was odd about them."""

    def __init__(self) -> None:
        self.notes: dict[str, list[str]] = {}

    def note(self, case: dict, text: str) -> None:
        self.notes.setdefault(f"{case['op']}: {text}", []).append(case["id"].partition("/")[2])

    def record(self, entry: dict) -> dict | None:
        """Return the recorded case, or None where TensorFlow has nothing to say."""
        row = entry.pop("_row")
        options = row.options
        case = dict(entry)
        for key in ("via", "zeros", "says"):
            if key in options:
                case[key] = options[key]
        if "only" in options:
            case["skip"] = [mode for mode in golden.MODES if mode not in options["only"]]
        signature = inspect.signature(getattr(tf.raw_ops, case["op"]))
        signature.bind(**case["inputs"], **case["attrs"])  # a misspelt argument must not pass for a refusal
        recorded = self._refusal(case, options) if row.refused else self._answer(case, options)
        return recorded and {key: recorded[key] for key in KEYS.split() if key in recorded}

    # -- refusals

    def _refusal(self, case: dict, options: dict) -> dict | None:
        runner = DERIVED if case["op"] == "TopK" else PLAIN
        answers = {mode: runner.answer(case, mode) for mode in golden.MODES if mode not in case.get("skip", ())}
        case["error"] = {mode: describe(a.refusal) for mode, a in answers.items() if a.refusal}
        case |= {"derived": 1} if runner is DERIVED else {}
        silent = [mode for mode, a in answers.items() if not a.refusal]
        if not case["error"]:
            self.note(case, "meant to be refused, but every mode answers: " + str(answers["eager"].outputs)[:80])
            return None
        if any(text in case["error"].get("eager", ["", ""])[1] for text in NO_KERNEL):
            self.note(case, "refused only for want of a kernel")
            return None
        if any(case.get("says", "") not in refusal[1] for refusal in case["error"].values()):
            self.note(case, f"does not say {case.pop('says')!r}: {case['error']['eager']}")
        if silent and options.get("mixed"):
            case["outputs"] = [golden.encode(y) for y in answers[silent[0]].outputs]
            case["static"] = _known(answers["graph"].static) if "graph" in silent else [None] * len(case["outputs"])
        elif silent:
            self.note(case, f"refused by {sorted(case['error'])}, answered in {silent}")
            case["skip"] = sorted({*case.get("skip", ()), *silent})
        return case

    # -- answers

    def _answer(self, case: dict, options: dict) -> dict | None:
        runner, first = PLAIN, next(mode for mode in golden.MODES if mode not in case.get("skip", ()))
        answer = runner.answer(case, first)
        derivable = is_derivable(case["op"], case["attrs"])
        if derivable and (answer.refusal or any(d != 1 for d in case["attrs"].get("dilations", ()))):
            runner, own = DERIVED, answer
            answer = runner.answer(case, first)
            case["derived"] = 1
            for ours, theirs in zip(answer.outputs or (), own.outputs or (), strict=False):
                if golden.differ(ours, theirs):
                    self.note(case, "TensorFlow's own answer differs from the derived one, which is recorded")
        if answer.refusal:
            message = describe(answer.refusal)
            quiet = any(text in message[1] for text in NO_KERNEL)
            self.note(case, "no kernel" if quiet else f"unexpectedly refused: {message}")
            return None
        free = options.get("free", ())
        case["outputs"] = [golden.encode(y) | ({"v": None} if i in free else {}) for i, y in enumerate(answer.outputs)]
        self._gradients(runner, case, options, answer, first)
        self._graphs(runner, case)
        self._tolerance(runner, case, options)
        return case

    def _gradients(self, runner: Any, case: dict, options: dict, answer: Any, first: str) -> None:
        forms = [f for v in case["inputs"].values() for f in (v if isinstance(v, list) else [v])]
        targets = options.get("toward", range(len(answer.outputs)))
        dy = [
            golden.encode(made_up(y.shape, golden.dtype_name(y), -1.5, 1.5, 5 + i))
            if golden.is_differentiable(y) and i in targets
            else None
            for i, y in enumerate(answer.outputs)
        ]
        if options.get("no_grad") or not any(dy) or not any(f["d"] in golden.TOLERANCE for f in forms):
            return
        case["dy"] = dy
        answer = runner.answer(case, first)
        if answer.grad_refusal:
            if options.get("refuses_grad"):
                case["grad_error"] = describe(answer.grad_refusal)[:2]
                return
            self.note(case, f"no gradient: {describe(answer.grad_refusal)[:2]}")
            del case["dy"]
            return
        case["grads"] = {name: _forms(g, name in answer.slices) for name, g in answer.grads.items()}
        if options.get("second"):
            self._second(runner, case, first)

    def _second(self, runner: Any, case: dict, first: str) -> None:
        case["dy2"] = {}
        for name, form in case["grads"].items():
            for i, f in enumerate(form if isinstance(form, list) else [form]):
                if f is not None:
                    slot = f"{name}:{i}" if isinstance(form, list) else name
                    case["dy2"][slot] = golden.encode(made_up(tuple(f["s"]), f["d"], -1.0, 1.0, 9 + i))
        answer = runner.answer(case, first)
        if answer.grad_refusal or not case["dy2"]:
            self.note(case, f"no second gradient: {answer.grad_refusal}")
            del case["dy2"]
            return
        case["grads2"] = {name: _forms(g, False) for name, g in answer.grads2.items()}

    def _graphs(self, runner: Any, case: dict) -> None:
        skip = case.setdefault("skip", [])
        case["static"] = [None] * len(case["outputs"])
        for mode in ("graph", "late"):
            if mode in skip:
                continue
            answer = runner.answer(case, mode)
            if answer.refusal:
                self.note(case, f"{mode} refuses what eager answers: {describe(answer.refusal)}")
                skip.append(mode)
            elif answer.grad_refusal and "grads" in case:
                self.note(case, f"{mode} has no gradient where eager has: {describe(answer.grad_refusal)}")
                skip.append(f"{mode}.grads")
            if mode == "graph" and answer.static:
                case["static"] = _known(answer.static)
                for i, (static, form) in enumerate(zip(case["static"], case["outputs"], strict=True)):
                    if static not in (None, form["s"]):
                        self.note(case, f"infers {static} for output {i}, which has {form['s']}: not recorded")
                        case["static"][i] = None
            answer.static = answer.static and [
                s if k is not None else None for s, k in zip(answer.static, case["static"], strict=True)
            ]
            for text in golden.problems(case, mode, answer):
                self.note(case, f"{mode} disagrees with eager: {text[:300]}")
                skip.append(mode)
        if not skip:
            del case["skip"]

    def _tolerance(self, runner: Any, case: dict, options: dict) -> None:
        """Widen the tolerance to what TensorFlow's own narrow answer strays from its double one."""
        if "tol" in options:
            case["tol"] = options["tol"]
            return
        if any(form["d"] in ("float64", "complex128") for form in case["outputs"]):
            if "tol64" in options:
                case["tol"] = options["tol64"]
            return
        wide = _widened(case)
        if wide is None or "eager" in case.get("skip", ()):
            return
        answer = runner.answer(wide, "eager")
        if answer.refusal or answer.grad_refusal:
            return
        strays = [_stray(y, form, 1.0) for y, form in zip(answer.outputs, case["outputs"], strict=True)]
        for key, ours in (("grads", answer.grads), ("grads2", answer.grads2)):
            for name, form in case.get(key, {}).items():
                pairs = zip(ours[name], form, strict=True) if isinstance(form, list) else [(ours[name], form)]
                strays += [
                    _stray(g, f, golden.GRADIENT_FACTOR.get(f["d"], 1.0))
                    for g, f in pairs
                    if f is not None and g is not None
                ]
        factor = max(strays, default=0.0)
        if factor > 0.5:
            case["tol"] = [math.ceil(2 * factor), "TensorFlow's own answer is this far from its float64 one"]
            if factor > 50:
                self.note(case, f"strays {factor:.0f} tolerances from float64")


def _stray(wide: np.ndarray, form: dict, allowed: float) -> float:
    if form["d"] not in golden.TOLERANCE or form["v"] is None or list(wide.shape) != form["s"]:
        return 0.0
    narrow = golden.decode(form)
    with np.errstate(over="ignore"):
        fits = np.isfinite(wide.astype(narrow.dtype))
    return golden.excess(np.where(fits, wide, np.nan), narrow) / allowed


def _widened(case: dict) -> dict | None:
    if not any(form["d"] in WIDER for form in case["outputs"]):
        return None

    def widen(value: Any) -> Any:
        if isinstance(value, list):
            return [widen(v) for v in value]
        if isinstance(value, str) and value.startswith("DT:"):
            return "DT:" + WIDER.get(value[3:], value[3:])
        if isinstance(value, dict) and "d" in value:
            return golden.encode(golden.decode(value).astype(golden.np_dtype(WIDER.get(value["d"], value["d"]))))
        return {k: widen(v) for k, v in value.items()} if isinstance(value, dict) else value

    return dict(case) | {key: widen(case[key]) for key in ("inputs", "attrs", "dy", "dy2") if key in case}


def _forms(grads: Any, slices: bool) -> Any:
    if isinstance(grads, list):
        return [_forms(g, slices) for g in grads]
    return None if grads is None else golden.encode(grads) | ({"slices": 1} if slices else {})


def _known(static: list) -> list:
    return [list(s) if s is not None and None not in s else None for s in static]


def describe(refusal: Any) -> list[str]:
    """Return an error as [class, message, stage], without what TensorFlow wraps around its messages."""
    text = str(getattr(refusal.error, "message", refusal.error))
    if text.startswith("Graph execution error"):
        text = text.rpartition("Node: ")[2].partition("\n")[2]
    text = re.sub(r"\{\{function_node .*?\}\} ", "", text).strip().partition("\n")[0]
    text = re.sub(r"\s*(\[Op:\w+\] name:.*| for '\{\{node .*)$", "", text)
    return [type(refusal.error).__name__, text[:160], refusal.stage]


def record_family(family: str) -> None:
    recorder, ids, lines = Recorder(), set(), []
    for entry in importlib.import_module(f"ops_{family}").cases():
        if entry["id"] in ids:
            raise SystemExit(f"two cases are called {entry['id']}")
        ids.add(entry["id"])
        print(entry["id"], end="\r", file=sys.stderr, flush=True)  # TensorFlow may abort: show where
        recorded = recorder.record(entry)
        if recorded is not None:
            lines.append(json.dumps(recorded, separators=(",", ":"), ensure_ascii=False))
    path = golden.FOLDER / f"{family}.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{family}: {len(lines)} cases, {path.stat().st_size} bytes, {len(recorder.notes)} notes")
    for text, names in recorder.notes.items():
        print(f"  {text} ({', '.join(names)})")


def selfcheck_family(family: str) -> int:
    failures = count = 0
    for cases in golden.load(family).values():
        for case in cases:
            runner = DERIVED if case.get("derived") else PLAIN
            for mode in golden.MODES:
                if mode in case.get("skip", ()):
                    continue
                count += 1
                for text in golden.problems(case, mode, runner.answer(case, mode)):
                    failures += 1
                    print(f"{case['id']} [{mode}] {text}")
    print(f"{family}: {count} runs, {failures} failures")
    return failures


def main() -> None:
    parser = argparse.ArgumentParser(description="Record or re-check TensorFlow's answers for the op library.")
    parser.add_argument("family", nargs="*", default=list(FAMILIES))
    parser.add_argument(
        "--selfcheck", action="store_true", help="replay the files on TensorFlow instead of writing them"
    )
    options = parser.parse_args()
    if options.selfcheck:
        raise SystemExit(1 if sum(selfcheck_family(family) for family in options.family) else 0)
    for family in options.family:
        record_family(family)


if __name__ == "__main__":
    main()
