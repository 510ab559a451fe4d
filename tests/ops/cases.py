"""Rows for tests of op families: a call, what NumPy says to it, and the checks that each row goes through in each mode.

    CASES = [
        Case(tf.nn.bias_add, args("4 3", "3"), numpy=lambda v, b: v + b),
        Refusal(tf.nn.bias_add, args("4 3", "2"), says="bias has 2 entries, value has 3 channels"),
    ]

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_bias_add(case, mode):
        case.check_value(mode)          # numbers, dtype, static shape and run-time shape
        case.check_gradient(mode)       # against finite differences, first and second order

Knows the public names a program would use and nothing of Ebbflow's inside. First-order gradients are compared with
finite differences of the NumPy function, second-order ones with finite differences of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import ebbflow as tf

MODES = ("eager", "graph", "function")

# |ours - theirs| <= absolute + relative * |theirs|, by dtype; whatever is not listed must be equal.
TOLERANCE = {
    "float64": (1e-12, 1e-12),
    "complex128": (1e-12, 1e-12),
    "float32": (1e-6, 2e-6),
    "complex64": (1e-6, 2e-6),
    "float16": (1e-3, 2e-3),
    "bfloat16": (8e-3, 1.6e-2),
}
DIFFERENCE = (1e-6, 1e-5)  # what central differences of a float64 function can promise
STEP = 1e-5


def args(*dims: str, low: float = -2.0, high: float = 2.0, dtype: str = "float64") -> list[np.ndarray]:
    """Return an array of made-up numbers for each shape ("4 3", "" for a scalar); no two numbers are equal."""
    arrays = []
    for i, text in enumerate(dims):
        shape = tuple(int(n) for n in text.split())
        count = int(np.prod(shape))
        spread = (np.arange(count) * 0.6180339887 + 0.137 * (i + 1)) % 1.0
        numbers = low + (high - low) * spread
        kind = np.dtype(dtype).kind if dtype != "bfloat16" else "f"
        if kind == "c":
            numbers = numbers + 1j * (low + (high - low) * ((spread + 0.37) % 1.0))
        elif kind in "iu":
            numbers = np.round(numbers)
        arrays.append(numbers.reshape(shape).astype(tf.as_dtype(dtype).as_numpy_dtype))
    return arrays


class Case:
    """A call and its right answer. `smooth` says to which order its gradient is checked (0: not at all).

    `result` is the dtype of the answer where it is not that of the first argument.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        arguments: Sequence[Any],
        numpy: Callable[..., Any],
        *,
        smooth: int = 2,
        result: str | None = None,
        tol: float = 1.0,
        name: str | None = None,
    ):
        self.fn = fn
        self.arguments = [np.asarray(a) for a in arguments]
        self.numpy = numpy
        self.smooth = smooth
        self.result = result or self.arguments[0].dtype.name
        self.tol = tol
        self.name = name or getattr(fn, "__name__", "?")

    def __str__(self) -> str:
        shapes = " ".join(f"{a.dtype.name}{list(a.shape)}" for a in self.arguments)
        return f"{self.name} {shapes}".replace(" ", "")

    # --- values -------------------------------------------------------------------------------------------------------

    def check_value(self, mode: str) -> None:
        """Compare the value with NumPy's; eagerly twice, since the second call of a dtype takes the quick way."""
        expected = np.asarray(self.numpy(*self.arguments))
        if mode == "eager":
            for _ in range(2):
                self._same(_array(self.fn(*map(tf.constant, self.arguments))), expected)
            return
        if mode == "function":
            traced = tf.function(lambda *tensors: self.fn(*tensors), autograph=False)
            for _ in range(2):  # the second run is of a compiled Program
                self._same(_array(traced(*map(tf.constant, self.arguments))), expected)
            return
        for known in (True, False):
            value, static = self._in_graph(known)
            self._same(value, expected)
            fits = static.rank is None or static.is_compatible_with(expected.shape)
            assert fits, f"static shape {static}, but the value has {expected.shape}"
            assert not known or static.rank == expected.ndim, f"static shape {static} of known inputs"

    def _in_graph(self, known: bool) -> tuple[np.ndarray, Any]:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            feeds = {
                tf.compat.v1.placeholder(tf.as_dtype(a.dtype), a.shape if known else None): a for a in self.arguments
            }
            y = self.fn(*feeds)
            return np.asarray(session.run(y, feeds)), y.shape

    def _same(self, ours: np.ndarray, expected: np.ndarray) -> None:
        assert ours.dtype.name == self.result, f"dtype {ours.dtype.name}, not {self.result}"
        assert ours.shape == expected.shape, f"shape {ours.shape}, not {expected.shape}"
        if self.result not in TOLERANCE:
            np.testing.assert_array_equal(ours, expected)
            return
        relative, absolute = TOLERANCE[self.result]
        wide = np.complex128 if ours.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(
            ours.astype(wide), expected.astype(wide), relative * self.tol, absolute * self.tol, equal_nan=True
        )

    # --- gradients ----------------------------------------------------------------------------------------------------

    def check_gradient(self, mode: str) -> None:
        """Compare the gradients for the float64 arguments with finite differences."""
        places = [i for i, a in enumerate(self.arguments) if a.dtype == np.float64]
        if not self.smooth or not places:
            return
        if mode == "function":
            self._check_function_gradient(places)
            return
        gradients = self._gradients if mode == "eager" else self._graph_gradients
        first = gradients(self.arguments, places, 1)
        for place, ours in zip(places, first, strict=True):
            _close(ours, self._differences(self._numpy_loss, place), f"gradient of argument {place}")
        if self.smooth > 1:
            second = gradients(self.arguments, places, 2)
            for place, ours in zip(places, second, strict=True):
                theirs = self._differences(lambda arrays: self._slope_loss(arrays, places), place)
                _close(ours, theirs, f"second gradient of argument {place}")

    def _check_function_gradient(self, places: Sequence[int]) -> None:
        """Compare first-order gradients through a function with finite differences."""
        fn = self.fn
        try:
            self.fn = tf.function(lambda *tensors: fn(*tensors), autograph=False)
            gradients = self._gradients(self.arguments, places, 1)
        finally:
            self.fn = fn
        for place, ours in zip(places, gradients, strict=True):
            _close(ours, self._differences(self._numpy_loss, place), f"gradient of argument {place}")

    def _numpy_loss(self, arrays: Sequence[np.ndarray]) -> float:
        y = np.asarray(self.numpy(*arrays), np.float64)
        return float(np.sum(y * weights(y.shape, 0)))

    def _slope_loss(self, arrays: Sequence[np.ndarray], places: Sequence[int]) -> float:
        slopes = self._gradients(arrays, places, 1)
        return float(sum(np.sum(g * weights(g.shape, i + 1)) for i, g in enumerate(slopes)))

    def _differences(self, loss: Callable[[list[np.ndarray]], float], place: int) -> np.ndarray:
        """Return central differences of a loss by one argument."""
        slopes = np.zeros(self.arguments[place].shape)
        for at in np.ndindex(slopes.shape):
            ends = []
            for sign in (1, -1):
                arrays = [a.copy() for a in self.arguments]
                arrays[place][at] += sign * STEP
                ends.append(loss(arrays))
            slopes[at] = (ends[0] - ends[1]) / (2 * STEP)
        return slopes

    def _gradients(self, arrays: Sequence[np.ndarray], places: Sequence[int], order: int) -> list[np.ndarray]:
        tensors = [tf.constant(a) for a in arrays]
        sources = [tensors[i] for i in places]
        with tf.GradientTape() as outer:
            outer.watch(sources)
            with tf.GradientTape() as inner:
                inner.watch(sources)
                loss = _weighted(self.fn(*tensors), 0)
            slopes = inner.gradient(loss, sources, unconnected_gradients=tf.UnconnectedGradients.ZERO)
            if order == 2:
                loss = tf.add_n([_weighted(g, i + 1) for i, g in enumerate(slopes)])
        if order == 2:
            slopes = outer.gradient(loss, sources, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return [_array(tf.convert_to_tensor(g)) for g in slopes]

    def _graph_gradients(self, arrays: Sequence[np.ndarray], places: Sequence[int], order: int) -> list[np.ndarray]:
        """Gradients in a graph whose shapes are known, and again where none is: both must agree."""
        answers = []
        for known in (True, False):
            with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                feeds = {tf.compat.v1.placeholder(tf.as_dtype(a.dtype), a.shape if known else None): a for a in arrays}
                tensors = list(feeds)
                sources = [tensors[i] for i in places]
                y = self.fn(*tensors)
                upstream = tf.constant(weights(self.numpy(*arrays).shape, 0), y.dtype)
                slopes = tf.gradients(y, sources, grad_ys=upstream, unconnected_gradients="zero")
                if order == 2:
                    given = [tf.constant(weights(arrays[p].shape, i + 1)) for i, p in enumerate(places)]
                    slopes = tf.gradients(slopes, sources, grad_ys=given, unconnected_gradients="zero")
                answers.append(session.run([tf.convert_to_tensor(g) for g in slopes], feeds))
        for a, b in zip(*answers, strict=True):
            np.testing.assert_allclose(a, b, 1e-12, 1e-12)
        return answers[0]


class Refusal:
    """A call that must be refused, with words in the message; at once, or in a graph when it is built or run.

    `in_graph` are the words there, where TensorFlow has other ones.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        arguments: Sequence[Any],
        says: str,
        *,
        in_graph: str | None = None,
        error: Any = (tf.errors.InvalidArgumentError, ValueError, TypeError),
        name: str | None = None,
    ):
        self.fn = fn
        self.arguments = [np.asarray(a) for a in arguments]
        self.says = {"eager": says, "graph": in_graph or says, "function": in_graph or says}
        self.error = error
        self.name = name or getattr(fn, "__name__", "?")

    def __str__(self) -> str:
        return f"{self.name} refuses {self.says['eager']}".replace(" ", "-")

    def check_value(self, mode: str) -> None:
        with pytest.raises(self.error) as caught:
            if mode == "eager":
                self.fn(*map(tf.constant, self.arguments))
            elif mode == "function":
                tf.function(lambda *tensors: self.fn(*tensors), autograph=False)(*map(tf.constant, self.arguments))
            else:
                self._in_graph()
        assert self.says[mode] in str(caught.value), f"message lacks {self.says[mode]!r}: {caught.value}"

    def _in_graph(self) -> None:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            feeds = {tf.compat.v1.placeholder(tf.as_dtype(a.dtype), a.shape): a for a in self.arguments}
            session.run(self.fn(*feeds), feeds)

    def check_gradient(self, mode: str) -> None:
        """Nothing to check: there is no value."""


def weights(shape: tuple[int, ...], salt: int) -> np.ndarray:
    """Return made-up numbers that make a scalar loss of an array; different ones for a different salt."""
    count = int(np.prod(shape))
    return (((np.arange(count) * 0.7548776662 + 0.21 * (salt + 1)) % 1.0) * 2.0 - 0.7).reshape(shape)


def _weighted(tensor: Any, salt: int) -> Any:
    tensor = tf.convert_to_tensor(tensor)
    return tf.reduce_sum(tensor * tf.constant(weights(tuple(tensor.shape), salt), tensor.dtype))


def _array(tensor: Any) -> np.ndarray:
    return np.asarray(tensor.numpy())


def _close(ours: np.ndarray, theirs: np.ndarray, what: str) -> None:
    assert ours.shape == theirs.shape, f"{what}: shape {ours.shape}, not {theirs.shape}"
    np.testing.assert_allclose(ours, theirs, *DIFFERENCE, err_msg=what)
