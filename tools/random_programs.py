"""Random programs, each run in every way there is: eagerly, as a function, for shapes that are open, compiled, and
differentiated both ways.

    python tools/random_programs.py --count 2000 --first 0 --seconds 600

A program is a chain of random steps (element-wise work, folds, products, slices, loops with lists, choices, variables,
empty and large arrays) that follows from its number alone, so that one which differs can be run again with
`--first NUMBER --count 1`. Ways are compared by shape, dtype and value; a program whose ways differ is given other
numbers twice, because a maximum or a comparison may fall the other way by rounding. Programs run in child processes, a
hundred each: one that dies is told, with its number.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

EACH = 100
"""Programs of a child process."""

TOLERANCE = 2e-4
"""Of differences, beside the largest number: sums in another order, functions to a few units in the last place."""

MOVED = 1e-6
"""How far inputs are moved where ways differ: results that this changes as well are no proof."""

Step = Callable[[Any], Any]
"""A part of a program: a function of the tensors so far, which gives one more."""


class Maker:
    """One random program; `pool` says of what shape the tensors so far are."""

    def __init__(self, number: int):
        import ebbflow as tf

        self.tf, self.number = tf, number
        self.rng = random.Random(number)
        self.large = self.rng.random() < 0.04
        self.pool = [self._dims() for _ in range(self.rng.randint(1, 3))]
        self.inputs = list(self.pool)
        self.steps: list[Callable[[list[Any], Any, Any], Any]] = []
        for _ in range(self.rng.randint(2, 9)):
            self._add()

    def _dims(self) -> tuple[int, ...]:
        if self.large:
            return self.rng.choice([(1 << 16,), (300, 257), (2, 400, 90)])
        sizes = [0, 1, 1, 2, 3, 4, 5, 8, 17] if self.rng.random() < 0.15 else [1, 2, 3, 4, 5, 8, 17]
        return tuple(self.rng.choice(sizes) for _ in range(self.rng.choice([0, 1, 1, 2, 2, 2, 3])))

    def arrays(self, salt: int) -> list[np.ndarray]:
        """Return what the program is given."""
        numbers = np.random.RandomState((self.number * 3 + salt) % (1 << 32))
        return [numbers.uniform(-1.5, 1.5, dims).astype(np.float32) for dims in self.inputs]

    def run(self, tensors: list[Any], turns: Any, variable: Any) -> list[Any]:
        """Return the last tensors, of those that are given and those that follow."""
        pool = list(tensors)
        for step in self.steps:
            pool.append(step(pool, turns, variable))
        return pool[-3:]

    def _add(self) -> None:
        name = self.rng.choice(KINDS)
        step = getattr(self, f"any_{name}")()
        if step is None:
            return
        # The shape that follows is found by running the step once on ones.
        tf = self.tf
        given = [tf.ones(dims) for dims in self.pool]
        self.pool.append(tuple(step(given, tf.constant(2), tf.Variable(tf.ones([3]))).shape))
        self.steps.append(step)

    def _pick(self, least: int = 0) -> int | None:
        fits = [i for i, dims in enumerate(self.pool) if len(dims) >= least]
        return self.rng.choice(fits) if fits else None

    def _axis(self, i: int) -> int:
        return self.rng.randrange(len(self.pool[i]))

    # --- steps ---

    def any_unary(self) -> Any:
        tf, i = self.tf, self._pick()
        fn = self.rng.choice([
            tf.tanh, tf.sigmoid, tf.abs, tf.sin, tf.cos, tf.nn.relu, tf.nn.softplus, tf.square, tf.negative, tf.nn.elu,
            tf.math.erf, tf.atan, lambda x: tf.exp(tf.tanh(x)), lambda x: tf.sqrt(1 + x * x),
            lambda x: tf.math.log1p(x * x), lambda x: 1 / (2 + tf.sin(x)), lambda x: tf.clip_by_value(x, -0.7, 0.7),
            lambda x: tf.pow(tf.abs(x) + 0.5, 1.5),
        ])  # fmt: skip
        return lambda pool, turns, variable: fn(pool[i])

    def any_binary(self) -> Any:
        tf, i, j = self.tf, self._pick(), self._pick()
        a, b = self.pool[i], self.pool[j]  # type: ignore[index]
        fn = self.rng.choice([
            tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, lambda x, y: x / (2 + tf.abs(y)),
            lambda x, y: tf.where(x > y, x * 0.5, y), tf.math.squared_difference, tf.atan2,
        ])  # fmt: skip
        try:
            np.broadcast_shapes(a, b)
        except ValueError:
            return lambda pool, turns, variable: fn(pool[i], tf.reduce_mean(pool[j] * 0.5) if 0 not in b else pool[i])
        return lambda pool, turns, variable: fn(pool[i], pool[j])

    def any_fold(self) -> Any:
        tf, i = self.tf, self._pick(1)
        if i is None:
            return None
        axes, keep = (
            sorted(self.rng.sample(range(len(self.pool[i])), self.rng.randint(1, len(self.pool[i])))),
            self.rng.random() < 0.4,
        )
        empty = any(self.pool[i][axis] == 0 for axis in axes)
        fold = self.rng.choice(
            [tf.reduce_sum] if empty else [tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_logsumexp]
        )
        return lambda pool, turns, variable: fold(tf.tanh(pool[i]), axes, keepdims=keep)

    def any_product(self) -> Any:
        tf, i = self.tf, self._pick(2)
        if i is None:
            return None
        columns, transpose = self.rng.choice([1, 3, 6]), self.rng.random() < 0.3
        inner = self.pool[i][-2 if transpose else -1]
        if inner > 512:
            return None
        w = np.random.RandomState(self.rng.randrange(1 << 30)).uniform(-1, 1, (inner, columns)).astype(np.float32)
        w /= max(inner, 1) ** 0.5
        if transpose:
            return lambda pool, turns, variable: tf.einsum("...ij,ik->...jk", pool[i], w)
        if len(self.pool[i]) == 3 and self.rng.random() < 0.5:
            equation = self.rng.choice(["abc,cd->adb", "abc,cd->bda", "abc,cd->abd", "abc,cd->dba"])
            return lambda pool, turns, variable: tf.einsum(equation, pool[i], w)
        return lambda pool, turns, variable: tf.tensordot(pool[i], w, 1)

    def any_shape(self) -> Any:
        tf, i = self.tf, self._pick(1)
        if i is None:
            return None
        axis, perm = self._axis(i), self.rng.sample(range(len(self.pool[i])), len(self.pool[i]))
        size, step = self.pool[i][axis], self.rng.choice([1, 2, -1])
        first = tuple([slice(None)] * axis + [slice(None, None, step)])
        half = tuple([slice(None)] * axis + [slice(0, (size + 1) // 2)])
        fn = self.rng.choice([
            lambda x: tf.transpose(x, perm), lambda x: tf.reshape(x, [-1]), lambda x: tf.expand_dims(x, axis),
            lambda x: tf.concat([x, x * 0.5], axis), lambda x: x[first], lambda x: x[half],
            lambda x: tf.reverse(x, [axis]), lambda x: tf.stack([x, -x], axis), lambda x: tf.roll(x, 1, axis),
            lambda x: tf.pad(x, [[int(a == axis), 0] for a in range(len(perm))]),
        ])  # fmt: skip
        return lambda pool, turns, variable: fn(pool[i])

    def any_rows(self) -> Any:
        tf, i = self.tf, self._pick(1)
        if i is None or not self.pool[i][0]:
            return None
        rows = self.rng.choices(range(self.pool[i][0]), k=self.rng.randint(1, 6))
        ids = sorted(self.rng.choices(range(3), k=min(self.pool[i][0], 1 << 16)))
        fn = self.rng.choice([
            lambda x: tf.gather(x, rows), lambda x: tf.math.unsorted_segment_sum(x, ids[: len(ids)] * 1, 4),
            lambda x: tf.tensor_scatter_nd_add(x, [[rows[0]]], tf.ones_like(x[:1])), lambda x: tf.cumsum(x) * 0.3,
            lambda x: tf.nn.softmax(x), lambda x: tf.sort(x, axis=0), lambda x: tf.nn.l2_normalize(x + 2.0, axis=0),
        ])  # fmt: skip
        return lambda pool, turns, variable: fn(pool[i])

    def any_loop(self) -> Any:
        """Turns that are known, that are given, or that follow from numbers; with a list or without."""
        tf, i = self.tf, self._pick()
        count, kind, listed = (
            self.rng.randint(0, 5),
            self.rng.choice(["known", "given", "until"]),
            self.rng.random() < 0.5,
        )

        def step(pool: list[Any], turns: Any, variable: Any) -> Any:
            bound = turns if kind == "given" else tf.constant(count)
            scale = tf.cond(bound > 2, lambda: 0.5, lambda: 0.8) if kind == "given" else 0.6
            if listed:
                kept = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=self.pool[i])  # type: ignore[index]
                _, x, kept = tf.while_loop(
                    lambda t, x, kept: t <= bound,
                    lambda t, x, kept: (t + 1, tf.tanh(x * scale + 0.1), kept.write(t, x)),
                    (0, pool[i], kept),
                )
                return tf.reduce_sum(kept.stack(), 0) * 0.4 + x
            if kind == "until":
                test = lambda t, x: tf.logical_and(t < 6, tf.reduce_sum(x * x) > 0.5)
            else:
                test = lambda t, x: t < bound
            return tf.while_loop(test, lambda t, x: (t + 1, tf.sin(x * scale) + 0.05), (0, pool[i]))[1]

        return step

    def any_turns(self) -> Any:
        """Turns that take what stands at their counters, along any axis; with choices, in a loop of another."""
        tf, i = self.tf, self._pick(1)
        if i is None or 0 in self.pool[i] or np.prod(self.pool[i]) > 1 << 12:
            return None
        axis, how, chosen = self._axis(i), self.rng.choice(["index", "end", "gather"]), self.rng.choice("ncv")
        length, nested, limit = self.pool[i][axis], self.rng.random() < 0.4, self.rng.uniform(-1, 1)

        def take(x: Any, t: Any) -> Any:
            if how == "gather":
                return tf.gather(x, t, axis=axis)
            return x[(slice(None),) * axis + (t if how == "index" else -1 - t,)]

        def turn(x: Any, t: Any, a: Any) -> Any:
            go = lambda: tf.tanh(a * 0.5 + take(x, t))
            if chosen == "n":
                return go()
            holds = tf.equal(t % 2, 0) if chosen == "c" else tf.reduce_sum(a) > limit
            return tf.cond(holds, go, lambda: a * 0.7 + 0.1)

        def step(pool: list[Any], turns: Any, variable: Any) -> Any:
            x, inner = pool[i], 2 if nested and length > 1 else 1
            loop = lambda t, a: tf.while_loop(lambda j, a: j < inner, lambda j, a: (j + 1, turn(x, t + j, a)), (0, a))[
                1
            ]
            return tf.while_loop(
                lambda t, a: t < min(length, 6) - inner + 1,
                lambda t, a: (t + 1, loop(t, a) if inner > 1 else turn(x, t, a)),
                (0, tf.zeros_like(take(x, 0))),
            )[1]

        return step

    def any_choice(self) -> Any:
        tf, i, j = self.tf, self._pick(), self._pick()
        limit = self.rng.uniform(-1, 1)

        def step(pool: list[Any], turns: Any, variable: Any) -> Any:
            x = pool[i]
            holds = turns > 2 if self.number % 2 else tf.reduce_sum(tf.sin(pool[j])) > limit
            return tf.cond(holds, lambda: tf.tanh(x) * 2.0, lambda: x * x - 0.5)

        return step

    def any_scan(self) -> Any:
        tf, i = self.tf, self._pick(1)
        if i is None or not 0 < self.pool[i][0] <= 20:
            return None
        fn = self.rng.choice([
            lambda x: tf.scan(lambda a, y: tf.tanh(a * 0.5 + y), x),
            lambda x: tf.map_fn(lambda y: tf.sin(y) + tf.reduce_sum(y), x),
            lambda x: tf.vectorized_map(lambda y: tf.cos(y) * tf.reduce_mean(y + 1.0) if 0 not in y.shape else y, x),
        ])  # fmt: skip
        return lambda pool, turns, variable: fn(pool[i])

    def any_state(self) -> Any:
        tf, i = self.tf, self._pick()

        def step(pool: list[Any], turns: Any, variable: Any) -> Any:
            variable.assign_add(tf.ones([3]) * tf.reduce_sum(tf.tanh(pool[i])) * 0.1)
            variable.assign(tf.sin(variable))
            return pool[i] * variable[1] + variable[0]

        return step


KINDS = (
    *("unary", "unary", "unary", "binary", "binary", "binary"),
    *("fold", "product", "shape", "shape", "rows", "loop", "turns", "choice", "scan", "state"),
)
"""What steps are made of, as often as it stands here."""


# --- ways -------------------------------------------------------------------------------------------------------------


def results(maker: Maker, way: str, salt: int, moved: float = 0.0) -> list[np.ndarray]:
    """Return what a program gives in one way: its results, the variable afterwards, and the gradients by its inputs.

    Its inputs may be moved by a little, to see how much of it comes back.
    """
    tf = maker.tf
    variable = tf.Variable(tf.constant([0.1, 0.2, 0.3]))
    given = enumerate(maker.arrays(salt), 1)  # not all by as much: a program may take the difference of two
    arrays = [tf.constant(a + np.float32(moved * i)) for i, a in given]
    turns = tf.constant(maker.number % 5)

    def program(turns: Any, *inputs: Any) -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            found = maker.run(list(inputs), turns, variable)
            loss = sum(tf.reduce_sum(tf.sin(x)) for x in found)
        grads = tape.gradient(loss, inputs, unconnected_gradients="zero")
        return [*found, *map(tf.convert_to_tensor, grads)]  # those of gathered rows are IndexedSlices

    run = program if way == "eager" else tf.function(program, jit_compile=True if way == "xla" else None)
    if way == "open":
        shapes = [tf.TensorSpec([], tf.int32), *[tf.TensorSpec([None] * a.shape.rank) for a in arrays]]
        run = tf.function(program, input_signature=shapes)
    with _all_open(way == "open"):
        for _ in range(1 if way == "eager" else 3):
            variable.assign([0.1, 0.2, 0.3])
            found = run(turns, *arrays)
    return [np.asarray(x) for x in (*found, variable)]


@contextlib.contextmanager
def _all_open(wanted: bool) -> Iterator[None]:
    """Have Programs of what is declared open made for any shapes, when they come for the second time."""
    from ebbflow.runtime import compiled

    made = compiled.Runner.compile

    def opened(runner: Any, shapes: Any, fed: Any = None) -> Any:
        return made(runner, [None if dims is None else (None,) * len(dims) for dims in shapes])

    compiled.Runner.compile = opened if wanted else made  # type: ignore[method-assign]
    yield
    compiled.Runner.compile = made  # type: ignore[method-assign]


def outcome(maker: Maker, way: str, salt: int) -> list[np.ndarray] | str:
    """Return what a program gives in one way, or how it is refused."""
    try:
        return results(maker, way, salt)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def difference(one: list[np.ndarray], other: list[np.ndarray], loose: frozenset[int] = frozenset()) -> str | None:
    """Return in what two ways differ, apart from the results in `loose` places."""
    for place, (a, b) in enumerate(zip(one, other, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {place}: {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        if a.size and place not in loose:
            size = max(1.0, float(np.nanmax(np.abs(a))))
            if not np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * size, equal_nan=True):
                return f"result {place}: {float(np.nanmax(np.abs(a - b))):.3g} apart, of numbers up to {size:.3g}"
    return None


def differs(number: int, ways: list[str]) -> str | None:
    """Return in which way a program differs from what it gives eagerly, if it does for three sets of numbers."""
    maker = Maker(number)
    for way in ways:
        found = None
        for salt in range(3):
            plain, other = outcome(maker, "eager", salt), outcome(maker, way, salt)
            if isinstance(other, str):  # what both refuse in the same words is alike
                found = None if plain == other else f"refused: {other}"
                break
            if isinstance(plain, str):  # a function need not do what nobody takes, a tape does it
                break
            found = difference(plain, other)
            if found is not None:  # sines of large sums magnify rounding beyond any tolerance
                moved = results(maker, "eager", salt, MOVED)
                pairs = enumerate(zip(plain, moved, strict=True))
                loose = {i for i, pair in pairs if difference(*([x] for x in pair))}
                found = difference(plain, other, frozenset(loose))
            if found is None:
                break
        if found is not None:
            return f"{way}: {found}"
    return None


# --- child processes --------------------------------------------------------------------------------------------------


def child(first: int, count: int, ways: list[str], every: int, deadline: float) -> None:
    """Run programs, each of some as machine code from its first run on, and say of each what became of it."""
    for number in range(first, first + count):
        if time.time() > deadline:
            break
        os.environ["EBBFLOW_CHECK"] = str(int(number % every == 0))
        print(f"begin {number}", flush=True)
        found = differs(number, ways)
        print(f"end {number} {found or 'alike'}", flush=True)


def run_many(first: int, count: int, ways: list[str], seconds: float, every: int = 1) -> tuple[int, list[str]]:
    """Return how many programs ran, and what is wrong with those that differ or died."""
    deadline, done, wrong = time.time() + seconds, 0, []
    start, end = first, first + count
    while start < end and time.time() < deadline:
        size = min(EACH, end - start)
        command = [sys.executable, __file__, "--child", "--first", str(start), "--count", str(size)]
        command += ["--every", str(every), "--deadline", str(deadline), "--ways", *ways]
        ended = subprocess.run(command, capture_output=True, text=True)
        begun = [line.split()[1] for line in ended.stdout.splitlines() if line.startswith("begin ")]
        told = [line.split(" ", 2)[1:] for line in ended.stdout.splitlines() if line.startswith("end ")]
        wrong += [f"program {number}: {words}" for number, words in told if words != "alike"]
        done += len(told)
        if len(begun) > len(told) or ended.returncode:
            at = int(begun[-1]) if begun else start
            wrong.append(f"program {at}: the process ended with {ended.returncode}: {ended.stderr[-2000:]}")
            start = at + 1
        else:
            start += max(len(told), 1)
    return done, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--ways", nargs="+", default=["function"], choices=["function", "open", "xla"])
    parser.add_argument("--every", type=int, default=1, help="machine code for each so many; others on NumPy")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--deadline", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.first, given.count, given.ways, given.every, given.deadline)
        return
    done, wrong = run_many(given.first, given.count, given.ways, given.seconds, given.every)
    print("\n".join([*wrong, f"{done} programs, {len(wrong)} wrong"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
