"""Complex numbers and their parts."""

import numpy as np
import pytest

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args

NUMBERS = args("2 3", dtype="complex64")
WIDE = args("4", dtype="complex128")

CASES = [
    Case(tf.math.real, NUMBERS, np.real, result="float32"),
    Case(tf.math.imag, NUMBERS, np.imag, result="float32"),
    Case(tf.math.angle, NUMBERS, np.angle, result="float32"),
    Case(tf.math.conj, NUMBERS, np.conj),
    Case(tf.abs, NUMBERS, np.abs, result="float32"),
    Case(tf.math.real, WIDE, np.real, result="float64"),
    Case(tf.math.angle, WIDE, np.angle, result="float64"),
    Case(tf.sign, WIDE, lambda x: x / np.abs(x)),
    Case(tf.complex, args("2 3", "3"), lambda a, b: a + 1j * b, smooth=0, result="complex128"),
    Case(lambda a, b: tf.abs(tf.complex(a, b)), args("2 3", "3"), np.hypot, name="abs_of_complex"),
    Case(lambda a, b: tf.math.angle(tf.complex(a, b)), args("3", "3"), lambda a, b: np.angle(a + 1j * b), name="angle"),
    Case(
        lambda a, b: tf.math.real(tf.exp(tf.complex(a, b)) * tf.complex(b, a)), args("3", "3"),
        lambda a, b: np.real(np.exp(a + 1j * b) * (b + 1j * a)), name="real_of_product",
    ),
    Case(tf.math.real, args("3"), lambda x: x),
    Case(tf.math.imag, args("3"), np.zeros_like, smooth=0),
    Case(tf.math.angle, args("4"), np.angle, smooth=0),
    Case(tf.math.conj, args("3"), lambda x: x),
    Refusal(tf.complex, args("2", "2", dtype="int32"), says="incorrect types"),
    Refusal(tf.complex, args("2", "3"), says="Incompatible shapes", in_graph="Dimensions must be equal"),
    Refusal(tf.math.conj, [np.array([True])], says="numeric"),
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


def test_an_infinite_part_leaves_the_other_alone():
    z = tf.complex(tf.constant([np.inf, 1.0]), tf.constant([1.0, np.inf])).numpy()
    assert z.real.tolist() == [np.inf, 1.0]
    assert z.imag.tolist() == [1.0, np.inf]


def test_the_gradient_of_a_holomorphic_function_is_conjugated():
    z = tf.constant(1.0 + 2.0j)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = z * z
    assert tape.gradient(y, z).numpy() == 2 * np.conj(1 + 2j)


def test_the_absolute_value_of_zero_has_slope_zero():
    z = tf.constant([0j])
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.abs(z)
    assert tape.gradient(y, z).numpy().tolist() == [0j]
