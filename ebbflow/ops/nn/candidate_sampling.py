"""Candidate samplers: classes drawn by chance to stand for all of them, and how often each is expected.

A sampler is a way to draw one class and to tell its probability; what they share is `_draw`: that many classes (all
different where `unique` says so) and the expected counts of them and of the true ones. Random words are read one by
one in TensorFlow's order, so a seed means TensorFlow's classes. Knows words and probabilities; the losses that use
them are in `sampled_losses`.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Op, op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.random import unseeded
from ebbflow.ops.random.seeds import get_seed, stream_of
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid
from ebbflow.platform import files

_BLOCKS_A_CLASS = 512
"""Blocks of random words that TensorFlow sets aside for each class to be drawn."""


class Words:
    """Random words of 32 bits, one after the other."""

    def __init__(self, source: Any):
        self._words = _one_by_one(source)

    def word(self) -> int:
        return next(self._words)

    def unit_float(self) -> float:
        """Return a float32 in [0, 1)."""
        return (next(self._words) & 0x7FFFFF) / 8388608.0

    def unit_double(self) -> float:
        """Return a float64 in [0, 1) of 52 bits."""
        first, second = next(self._words), next(self._words)
        return ((first & 0xFFFFF) << 32 | second) / 4503599627370496.0

    def below(self, n: int, bits: int = 32) -> int:
        """Return a number in [0, n): by its lower bits where n is a power of two, else what is left over."""
        draw: Callable[[], int] = self.word if bits == 32 else self._long
        if n & (n - 1) == 0:
            return draw() & (n - 1)
        uneven = (1 << bits) % n
        while True:
            value = draw()
            if value >= uneven:
                return value % n

    def _long(self) -> int:
        low, high = next(self._words), next(self._words)
        return low | high << 32


def _one_by_one(source: Any) -> Iterator[int]:
    for start in itertools.count(0, 64):
        yield from source.words(64, start).reshape(-1).tolist()


# --- ways to draw -----------------------------------------------------------------------------------------------------


class _Uniform:
    def __init__(self, range_max: int):
        self.range = range_max

    def sample(self, words: Words) -> int:
        return words.below(self.range, 64)

    def probability(self, value: int) -> float:
        return 1.0 / self.range


class _LogUniform:
    """Smaller numbers are likelier, as words are in a list sorted by how common they are."""

    def __init__(self, range_max: int):
        self.range, self.log_range = range_max, math.log1p(range_max)

    def sample(self, words: Words) -> int:
        return (int(math.exp(words.unit_double() * self.log_range)) - 1) % self.range

    def probability(self, value: int) -> float:
        return math.log((value + 2.0) / (value + 1.0)) / self.log_range


class _Learned:
    """As likely as they have been seen so far, each once at the beginning."""

    def __init__(self, counts: np.ndarray):
        self.range, self.counts, self._sums = len(counts), counts, np.cumsum(counts).tolist()

    def sample(self, words: Words) -> int:
        return bisect.bisect_right(self._sums, words.below(self._sums[-1]))

    def probability(self, value: int) -> float:
        return float(self.counts[value]) / self._sums[-1]


class _Fixed:
    """By weights given beforehand, through a table of pairs that share a place (the alias method)."""

    def __init__(self, weights: Sequence[float]):
        self.range, self.weights, self.total = len(weights), weights, math.fsum(weights)
        scaled = [w * len(weights) / self.total for w in weights]
        low = [i for i, p in enumerate(scaled) if p < 1.0]
        high = [i for i, p in enumerate(scaled) if p >= 1.0]
        self.other = list(range(len(weights)))
        while high and low:
            small, large = low.pop(), high.pop()
            self.other[small] = large
            scaled[large] -= 1.0 - scaled[small]
            (low if scaled[large] < 1.0 else high).append(large)
        for i in (*low, *high):
            scaled[i] = 1.0
        self.own = [float(np.float32(p)) for p in scaled]

    def sample(self, words: Words) -> int:
        chance = words.unit_float()
        place = words.below(self.range)
        return place if chance < self.own[place] else self.other[place]

    def probability(self, value: int) -> float:
        return self.weights[value] / self.total


def _draw(sampler: Any, words: Words, count: int, unique: bool, true: np.ndarray) -> tuple[Any, Any, Any]:
    """Return classes, the expected counts of the true ones, and the expected counts of the drawn ones."""
    drawn: list[int] = []
    tries = count
    if unique:
        if count > sampler.range:
            raise invalid(f"Sampler's range is too small: num_sampled = {count} different ones of {sampler.range}")
        used: set[int] = set()
        tries = 0
        while len(drawn) < count:
            tries += 1
            value = sampler.sample(words)
            if value not in used:
                used.add(value)
                drawn.append(value)
    else:
        drawn = [sampler.sample(words) for _ in range(count)]
    outside = next((v for v in true.reshape(-1).tolist() if not 0 <= v < sampler.range), None)
    if outside is not None:
        raise invalid(f"`true_candidate` out of range [0, {sampler.range}), received {outside}")
    values = true.reshape(-1).tolist()
    expected = _expected([sampler.probability(v) for v in (*values, *drawn)], count, tries)
    return np.array(drawn, np.int64), expected[: len(values)].reshape(true.shape), expected[len(values) :]


def _expected(probabilities: Sequence[float], count: int, tries: int) -> np.ndarray:
    found = np.array(probabilities, np.float32)
    if tries == count:
        return found * np.float32(count)
    logs = np.array([math.log1p(-p) for p in found.tolist()], np.float32)  # NumPy's own differ from machine to machine
    powers = np.float32(tries) * logs
    return np.array([-math.expm1(p) for p in powers.tolist()], np.float32)


# --- ops --------------------------------------------------------------------------------------------------------------

_OUT = "sampled_candidates:int64, true_expected_count:float, sampled_expected_count:float"
_HEAD = "num_true: int >= 1; num_sampled: int >= 1; unique: bool"
_SEEDS = "seed: int = 0; seed2: int = 0 | stateful"


def _dims(true_classes: Any, *, num_true: int, num_sampled: int) -> Any:
    rows, given = ranked(true_classes, 2)
    if given is not None and given != num_true:
        raise errors.StaticShapeError(f"true_classes must have num_true columns, expected: {num_true} was: {given}")
    return [(num_sampled,), (rows, num_true), (num_sampled,)]


def _checked(true_classes: np.ndarray, num_true: int) -> None:
    if true_classes.ndim != 2:
        raise invalid(f"true_classes must be a matrix, got shape {show(true_classes.shape)}")
    if true_classes.shape[1] != num_true:
        raise invalid(f"true_classes must have num_true columns, expected: {num_true} was: {true_classes.shape[1]}")


def _declare(name: str, sampler: Callable[..., Any], learns: bool = False) -> Op:
    """Declare a sampler of the classes below `range_max`."""
    declared = op(
        f"{name}(true_classes:int64) -> ({_OUT}) | {_HEAD}; range_max: int >= 1; {_SEEDS}", shape=_dims, gradient=FLAT
    )

    @declared.kernel
    def _(
        xp: Any, true_classes: Any, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int,
        seed2: int, run: Any,
    ) -> Any:  # fmt: skip
        _checked(true_classes, num_true)
        words = _words(run, name, num_sampled, seed, seed2, num_true, unique, range_max)
        if not learns:
            return _draw(sampler(range_max), words, num_sampled, unique, true_classes)
        key = (run.node, name, range_max, seed, seed2)
        counts = run.resources.setdefault(key, np.ones(range_max, np.int64))
        result = _draw(sampler(counts), words, num_sampled, unique, true_classes)
        np.add.at(counts, true_classes.reshape(-1), 1)
        return result

    return declared


def _words(run: Any, name: str, count: int, seed: int, seed2: int, *attrs: Any) -> Words:
    stream = stream_of(run, name, seed, seed2, count, *attrs) or unseeded.stream()
    return Words(stream.reserve(_BLOCKS_A_CLASS * count))


UniformCandidateSampler = _declare("UniformCandidateSampler", _Uniform)
LogUniformCandidateSampler = _declare("LogUniformCandidateSampler", _LogUniform)
LearnedUnigramCandidateSampler = _declare("LearnedUnigramCandidateSampler", _Learned, learns=True)
ThreadUnsafeUnigramCandidateSampler = _declare("ThreadUnsafeUnigramCandidateSampler", _Learned, learns=True)

AllCandidateSampler = op(
    f"AllCandidateSampler(true_classes:int64) -> ({_OUT}) | {_HEAD}; {_SEEDS}", shape=_dims, gradient=FLAT
)


@AllCandidateSampler.kernel
def _(xp, true_classes, *, num_true, num_sampled):
    _checked(true_classes, num_true)
    ones = np.ones(num_sampled, np.float32)
    return np.arange(num_sampled, dtype=np.int64), np.ones(true_classes.shape, np.float32), ones


FixedUnigramCandidateSampler = op(
    f"FixedUnigramCandidateSampler(true_classes:int64) -> ({_OUT}) | {_HEAD}; range_max: int >= 1; "
    'vocab_file: string = ""; distortion: float = 1.0; num_reserved_ids: int = 0; num_shards: int >= 1 = 1; '
    f"shard: int >= 0 = 0; unigrams: list(float) = []; {_SEEDS}",
    shape=_dims,
    gradient=FLAT,
)


@FixedUnigramCandidateSampler.kernel
def _(
    xp,
    true_classes,
    *,
    num_true,
    num_sampled,
    unique,
    range_max,
    vocab_file,
    distortion,
    num_reserved_ids,
    num_shards,
    shard,
    unigrams,
    seed,
    seed2,
    run,
):
    _checked(true_classes, num_true)
    if bool(vocab_file) == bool(unigrams):
        raise invalid("Must provide exactly one of vocab_file and unigrams for FixedUnigramCandidateSampler")
    if shard >= num_shards:
        raise invalid(f"shard must be below num_shards, got {shard} of {num_shards}")
    counts = [0.0] * num_reserved_ids + (list(unigrams) or _counts_in(vocab_file))
    weights = [w**distortion if i >= num_reserved_ids else 0.0 for i, w in enumerate(counts)][shard::num_shards]
    if len(weights) != range_max:
        raise invalid(f"range_max is {range_max}, but there are {len(weights)} weights")
    if not sum(weights) > 0:
        raise invalid("the weights of all classes are zero")
    words = _words(run, "FixedUnigramCandidateSampler", num_sampled, seed, seed2, num_true, unique, range_max)
    return _draw(_Fixed(weights), words, num_sampled, unique, true_classes)


def _counts_in(path: Any) -> list[float]:
    """Return the last column of a file of comma-separated lines."""
    try:
        lines = files.read_bytes(path).decode().splitlines()
        return [float(line.rsplit(",", 1)[-1]) for line in lines if line.strip()]
    except errors.NotFoundError:
        raise errors.NotFoundError(None, None, f"vocab_file {path!r} does not exist") from None
    except ValueError as error:
        raise invalid(f"vocab_file {path!r}: each line must end in a comma and a number: {error}") from None


ComputeAccidentalHits = op(
    "ComputeAccidentalHits(true_classes:int64, sampled_candidates:int64) -> (indices:int32, ids:int64, weights:float)"
    " | num_true: int; seed: int = 0; seed2: int = 0",
    gradient=FLAT,
    facts="data_dependent",
)


@ComputeAccidentalHits.shape
def _(true_classes, sampled_candidates, *, num_true):
    given = ranked(true_classes, 2)[1]
    if given is not None and given != num_true:
        raise errors.StaticShapeError(f"true_classes must have num_true columns, expected: {num_true} was: {given}")
    ranked(sampled_candidates, 1)
    return [(None,)] * 3


@ComputeAccidentalHits.kernel
def _(xp, true_classes, sampled_candidates, *, num_true):
    _checked(true_classes, num_true)
    if sampled_candidates.ndim != 1:
        raise invalid(f"sampled_candidates must be a vector, got shape {show(sampled_candidates.shape)}")
    places = {value: place for place, value in enumerate(sampled_candidates.tolist())}
    hits = [(row, places[v]) for row, values in enumerate(true_classes.tolist()) for v in values if v in places]
    rows, ids = [row for row, _ in hits], [place for _, place in hits]
    return np.array(rows, np.int32), np.array(ids, np.int64), np.full(len(hits), np.finfo(np.float32).min, np.float32)


# --- public functions -------------------------------------------------------------------------------------------------


def _sampler(declared: Op, doc: str) -> Callable[..., Any]:
    def function(
        true_classes: TensorLike,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: TensorLike,
        seed: int | None = None,
        name: str | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        first, second = get_seed(seed)
        return declared(
            true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, range_max=range_max,
            seed=first or 0, seed2=second or 0, name=name,
        )  # fmt: skip

    function.__doc__ = doc
    function.__name__ = function.__qualname__ = declared.name
    return function


_GIVES = "Return classes, the expected counts of the true ones and of those drawn;"
uniform_candidate_sampler = _sampler(UniformCandidateSampler, f"{_GIVES} all are equally likely.")
log_uniform_candidate_sampler = _sampler(LogUniformCandidateSampler, f"{_GIVES} smaller numbers are likelier.")
learned_unigram_candidate_sampler = _sampler(
    LearnedUnigramCandidateSampler, f"{_GIVES} those are likelier that were true more often so far."
)


def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return all classes, each expected once."""
    first, second = get_seed(seed)
    return AllCandidateSampler(
        true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, seed=first or 0, seed2=second or 0,
        name=name,
    )  # fmt: skip


def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: TensorLike,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return classes drawn by weights given here or in a file, and expected counts of the true ones and of those."""
    first, second = get_seed(seed)
    return FixedUnigramCandidateSampler(
        true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, range_max=range_max,
        vocab_file=vocab_file, distortion=distortion, num_reserved_ids=num_reserved_ids, num_shards=num_shards,
        shard=shard, unigrams=list(unigrams), seed=first or 0, seed2=second or 0, name=name,
    )  # fmt: skip


def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return where a drawn class is a true one: rows, places among the drawn, and weights that rule them out."""
    first, second = get_seed(seed)
    return ComputeAccidentalHits(
        true_classes, sampled_candidates, num_true=num_true, seed=first or 0, seed2=second or 0, name=name
    )
