"""LSTM sequences in Programs: steps in machine code give what the op gives alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.compiler import lstm_steps, native_region
from ebbflow.core.op import Known
from ebbflow.core.registry import registry
from ebbflow.ops.declare import raw

LENGTH, BATCH, DEPTH, UNITS = 5, 6, 3, 4
RANDOM = np.random.RandomState(0)


def floats(*dims: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, dims).astype(np.float32)


GIVEN = {
    "x": floats(LENGTH, BATCH, DEPTH),
    "cs_prev": floats(BATCH, UNITS),
    "h_prev": floats(BATCH, UNITS),
    "w": floats(DEPTH + UNITS, 4 * UNITS),
    "wci": floats(UNITS),
    "wcf": floats(UNITS),
    "wco": floats(UNITS),
    "b": floats(4 * UNITS),
}
FORMS = {
    "plain": (raw.BlockLSTM, {"forget_bias": 1.0, "cell_clip": -1.0, "use_peephole": False}),
    "clipped": (raw.BlockLSTM, {"forget_bias": 0.5, "cell_clip": 0.3, "use_peephole": False}),
    "other order": (raw.BlockLSTMV2, {"cell_clip": 0.0, "use_peephole": False}),
    "peepholes": (raw.BlockLSTM, {"forget_bias": 1.0, "cell_clip": -1.0, "use_peephole": True}),
}


def sequence(op: Any, attrs: dict[str, Any], count: Any, **given: Any) -> list[Any]:
    """All results, and the gradients by all arguments."""
    with tf.GradientTape() as tape:
        arguments = [given[name] for name in GIVEN]
        tape.watch(arguments)
        kept = op(seq_len_max=tf.cast(count, tf.int64), **given, **attrs)
        loss = tf.reduce_sum(kept[6] * kept[6]) + tf.reduce_sum(kept[1][-1])
    return [*kept, *tape.gradient(loss, arguments)]


@pytest.mark.parametrize("form", FORMS)
def test_programs_give_what_single_calls_give(form: str) -> None:
    op, attrs = FORMS[form]
    tensors = {name: tf.constant(a) for name, a in GIVEN.items()}
    run = tf.function(lambda count, **given: sequence(op, attrs, count, **given))
    for _ in range(5):
        for count in (LENGTH, 2, 0):
            wanted = sequence(op, attrs, tf.constant(count), **tensors)
            for a, b in zip(run(tf.constant(count), **tensors), wanted, strict=True):
                assert (a is None) == (b is None)
                if a is not None:
                    np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
        native_region.settle()


@pytest.mark.parametrize("form", ["clipped", "other order", "peepholes"])
def test_sequences_of_any_length_have_one_program(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op, attrs = FORMS[form]
    tensors = {name: tf.constant(a) for name, a in GIVEN.items() if name != "x"}
    made = []
    code = lstm_steps._code
    monkeypatch.setattr(lstm_steps, "_code", lambda text: made.append(code(text)) or made[-1])

    @tf.function(autograph=False, input_signature=[tf.TensorSpec([None, BATCH, DEPTH])])
    def run(x: Any) -> list[Any]:
        return sequence(op, attrs, tf.shape(x)[0], x=x, **tensors)

    for length in range(1, 12):
        x = tf.constant(floats(length, BATCH, DEPTH))
        for a, b in zip(run(x), sequence(op, attrs, length, x=x, **tensors), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
        native_region.settle()
    assert len(made) == (0 if form == "peepholes" else 2)  # there and back


def test_a_count_out_of_range_is_an_error_in_programs_too() -> None:
    op, attrs = FORMS["plain"]
    tensors = {name: tf.constant(a) for name, a in GIVEN.items()}
    run = tf.function(lambda count: op(seq_len_max=tf.cast(count, tf.int64), **tensors, **attrs)[6])
    for _ in range(3):
        assert run(tf.constant(LENGTH)).shape == (LENGTH, BATCH, UNITS)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"seq_len_max = 9 is not in \[0, 5\]"):
        run(tf.constant(9))


def test_what_lies_otherwise_in_memory_is_taken_too() -> None:
    op, attrs = FORMS["plain"]
    turned = {name: tf.constant(a) for name, a in GIVEN.items()} | {
        "x": tf.constant(GIVEN["x"].transpose(2, 1, 0).copy())
    }
    run = tf.function(lambda x, **given: op(seq_len_max=LENGTH, x=tf.transpose(x, [2, 1, 0]), **given, **attrs)[6])
    wanted = op(seq_len_max=LENGTH, **{k: tf.constant(a) for k, a in GIVEN.items()}, **attrs)[6]
    for _ in range(4):
        np.testing.assert_allclose(run(**turned), wanted, rtol=2e-5, atol=1e-6)


def test_large_layers_and_peepholes_go_the_ops_own_way() -> None:
    def prepared(batch: int, units: int, **attrs: Any) -> Any:
        dims = [(), (LENGTH, batch, DEPTH), (batch, units), (batch, units), (DEPTH + units, 4 * units)]
        knowns = [
            Known(d, tf.int64 if not d else tf.float32, None)
            for d in (*dims, (units,), (units,), (units,), (4 * units,))
        ]
        return lstm_steps.prepare("icfo", knowns, {"cell_clip": -1.0, "use_peephole": False, **attrs}, [])

    assert prepared(BATCH, UNITS) is not None
    assert prepared(64, 512) is None and prepared(BATCH, UNITS, use_peephole=True) is None
    assert registry["BlockLSTM"].preparers and registry["BlockLSTMGrad"].preparers
