"""Seeded random ops give TensorFlow's numbers to the last bit; all of them give the right kind of numbers, or say why
not.

What TensorFlow 1.15 and 2.21 drew is in `tests/golden/random` (recorded by `tools/record/random_draws.py`): eagerly, in
graphs run several times, with and without state. Graphs are compared node by node, since in 1.15 an op's seed is the
number of nodes before it.
"""

import base64
import contextlib
import hashlib
import json
import pathlib
import sys
import threading
from unittest import mock

import ml_dtypes
import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.eager.tape import GradientTape
from ebbflow.functions.control_flow.cond import cond
from ebbflow.functions.control_flow.while_loop import while_loop
from ebbflow.graph.gradients import gradients
from ebbflow.graph.graph import Graph
from ebbflow.graph.placeholders import placeholder
from ebbflow.ops.arrays import creation
from ebbflow.ops.declare import raw
from ebbflow.ops.nn import candidate_sampling
from ebbflow.ops.random import distributions, philox, samplers, stateful, stateless, unseeded
from ebbflow.ops.random import seeds as random_seed
from ebbflow.runtime.session import Session
from ebbflow.state.random_generator import Generator
from tests.golden.random import cases

FOLDER = pathlib.Path(cases.__file__).parent
RECORDED = {
    judge: {line["name"]: line for line in map(json.loads, (FOLDER / f"drawn-{judge}.jsonl").read_text().splitlines())}
    for judge in cases.BOTH
}
PLAYED = [(judge, case) for case in cases.CASES for judge in case.judges]

# How far a number may be from TensorFlow's, in units of its last place. Single precision and below is exact everywhere.
# Doubles that went through a logarithm, a sine or a power follow the machine's C library: exact where that is glibc.
# So do the expected counts of samplers that draw each number once, by functions of floats.
ULPS = {True: 2, False: 0}

ROOMS = (stateful, stateless, random_seed, candidate_sampling)


def function(name):
    if name == "constant":
        return creation.constant
    if name == "random_poisson":
        return stateful.random_poisson_v1
    if name[0].isupper():
        return getattr(raw, name)
    name = name.removeprefix("nn.")
    return next(getattr(room, name) for room in ROOMS if hasattr(room, name))


def call(name, arguments):
    return function(name)(**cases.arguments_of(arguments, creation.constant))


def tensors(result):
    return [] if result is None else list(result) if isinstance(result, (tuple, list)) else [result]


@contextlib.contextmanager
def era(judge):
    """Take on the manners of the TensorFlow that judges."""
    if judge == "1.15":
        context.enter_v1()
    try:
        yield
    finally:
        context.enter_v2()
        random_seed.set_random_seed(None)


def play_eagerly(case):
    with context.eager_scope():
        random_seed.set_random_seed(case.seed)
        return [t._array for name, arguments in case.calls for t in tensors(call(name, arguments))], None


def play_in_a_graph(case):
    graph = Graph()
    with graph.as_default():
        if case.seed is not None:
            random_seed.set_random_seed(case.seed)
        fetches = [t for name, arguments in case.calls for t in tensors(call(name, arguments))]
        with Session() as session:
            drawn = [np.asarray(r) for _ in range(case.runs) for r in session.run(fetches)]
    return drawn, [line(node) for node in graph.get_operations()]


def line(node):
    inputs = ",".join(t.name.removesuffix(":0") for t in node.inputs) or "-"
    seeds = [f"{key}={node.get_attr(key)}" for key in ("seed", "seed2") if isinstance(node._attrs.get(key), int)]
    return " ".join([node.name, node.type, inputs, *seeds])


def play_by_a_generator(case):
    generator = Generator.from_seed(case.seed)
    drawn = [
        getattr(generator, name)(**cases.arguments_of(arguments, creation.constant)) for name, arguments in case.calls
    ]
    return [t._array for t in drawn], None


PLAYERS = {"eager": play_eagerly, "graph": play_in_a_graph, "generator": play_by_a_generator}


def differences(drawn, recorded, ulps):
    """Say where what was drawn is not what was recorded."""
    found = []
    for i, (given, form) in enumerate(zip(drawn, recorded, strict=True)):
        dtype = "string" if given.dtype == object else given.dtype.name
        if (dtype, list(given.shape)) != (form["dtype"], form["shape"]):
            found.append(f"{i}: {dtype}{list(given.shape)}, not {form['dtype']}{form['shape']}")
        elif dtype == "string":
            found += [] if [x.decode() for x in given.reshape(-1)] == form["data"] else [f"{i}: {given}"]
        elif ulps and "data" in form:
            wanted = np.frombuffer(base64.b64decode(form["data"]), given.dtype)
            whole = np.dtype(f"i{given.itemsize}")
            off = np.abs(wanted.view(whole) - np.ascontiguousarray(given).reshape(-1).view(whole))
            found += [] if not off.size or off.max() <= ulps else [f"{i}: {off.max()} units in the last place"]
        elif ulps:
            wanted = np.frombuffer(base64.b64decode(form["first"]), given.dtype)
            np.testing.assert_allclose(given.reshape(-1)[: wanted.size], wanted, rtol=1e-15)
        elif "data" in form:
            wanted = np.frombuffer(base64.b64decode(form["data"]), given.dtype).reshape(given.shape)
            found += [] if given.tobytes() == wanted.tobytes() else [f"{i}: {given}, not {wanted}"]
        elif hashlib.sha256(given.tobytes()).hexdigest() != form["sha256"]:
            found.append(f"{i}: another digest")
    return found


# --- TensorFlow's numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("judge, case", PLAYED, ids=[f"{judge} {case.name}" for judge, case in PLAYED])
def test_draws_what_tensorflow_drew(judge, case):
    recorded = RECORDED[judge][case.name]
    with era(judge):
        drawn, nodes = PLAYERS[case.where](case)
    assert nodes is None or nodes == recorded["nodes"]
    assert differences(drawn, recorded["results"], ULPS[case.double or "sampler, unique True" in case.name]) == []


def test_the_comparison_sees_one_bit():
    case = next(c for c in cases.CASES if c.name == "eager seed 1")
    recorded = RECORDED["2.21"][case.name]["results"]
    drawn, _ = play_eagerly(case)
    random_seed.set_random_seed(None)
    assert differences(drawn, recorded, 0) == []
    drawn[2] = np.nextafter(drawn[2], np.float32(2))
    assert len(differences(drawn, recorded, 0)) == 1
    drawn[2] = drawn[2].astype(np.float64)
    assert len(differences(drawn, recorded, 0)) == 1


def test_the_record_is_broad():
    assert len(PLAYED) >= 250
    assert sum(len(line["results"]) for lines in RECORDED.values() for line in lines.values()) >= 2500


# --- seeds ------------------------------------------------------------------------------------------------------------

TOP = 2**31 - 1


@pytest.mark.parametrize(
    "program, op, seeds",
    [
        (None, None, (None, None)),
        (None, 3, (87654321, 3)),
        (None, TOP, (87654321, 0)),
        (None, -1, (87654321, TOP - 1)),
        (0, 0, (0, TOP)),
        (TOP, 2 * TOP, (0, TOP)),
        (5, 7, (5, 7)),
        (2**31, 2**32, (1, 2)),
        (-1, 0, (TOP - 1, 0)),
    ],
)
def test_get_seed(program, op, seeds):
    graph = Graph()
    with graph.as_default():
        random_seed.set_random_seed(program)
        assert graph.seed == program
        assert random_seed.get_seed(op) == seeds
    random_seed.set_random_seed(program)
    assert random_seed.get_seed(op) == seeds
    random_seed.set_random_seed(None)


def test_a_graph_of_the_second_era_counts_its_random_ops_and_one_of_the_first_its_nodes():
    for judge, seeds in (("2.21", [0, 1, 2]), ("1.15", [1, 2, 2])):
        with era(judge), Graph().as_default():
            random_seed.set_random_seed(4)
            found = []
            for _ in range(2):
                creation.constant(1.0)
                found.append(random_seed.get_seed(None)[1])
            found.append(random_seed.get_seed(None)[1])
            assert found == seeds


def test_in_the_first_era_ops_of_branches_and_loops_have_seeds_of_their_own():
    with era("1.15"), Graph().as_default():
        random_seed.set_random_seed(4)
        found, yes = [], placeholder(dtypes.bool, [])
        for _ in range(2):
            cond(yes, lambda: found.append(random_seed.get_seed(None)[1]) or 1, lambda: 2)
            while_loop(lambda i: i < 2, lambda i: found.append(random_seed.get_seed(None)[1]) or i + 1, [0])
            found.append(random_seed.get_seed(None)[1])
            creation.constant(1.0)
    assert len(set(found)) == 6


def test_a_seed_may_be_any_integer_but_no_word():
    for seed in (np.int64(4), np.array(4), creation.constant(4), 4.0):
        random_seed.set_random_seed(seed)
        drawn = stateful.random_uniform([2]).numpy()
        random_seed.set_random_seed(4)
        assert (drawn == stateful.random_uniform([2]).numpy()).all()
    random_seed.set_random_seed(None)
    with pytest.raises(TypeError, match="a seed is an integer, got 'four'"):
        stateful.random_uniform([2], seed="four")


def test_sessions_have_streams_of_their_own_and_nodes_too():
    with Graph().as_default():
        x, y = stateful.random_normal([2], seed=1), stateful.random_normal([2], seed=1)
        one, other = Session(), Session()
        first, second = one.run(x), one.run([x, y])
        assert (first == second[1]).all()  # the same seeds, but a node that has not run yet
        assert (first != second[0]).all()
        assert (other.run(x) == first).all()
        assert (other.run([x, y])[0] == second[0]).all()


def test_streams_of_seeds_drawn_here_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(random_seed, "_KEPT", 10)
    random_seed.set_random_seed(1)
    for _ in range(30):
        stateful.random_uniform([1])
    assert len(random_seed._program.drawn) <= 10
    assert not random_seed._program.streams
    stateful.random_uniform([1], seed=3)
    assert len(random_seed._program.streams) == 1
    random_seed.set_random_seed(None)
    assert not random_seed._program.streams


def test_threads_never_draw_the_same_numbers():
    stream, found, wait = philox.Stream(3, 4), [], threading.Barrier(8)

    def reserve():
        wait.wait()
        found.extend(stream.reserve(5).counter for _ in range(500))

    threads = [threading.Thread(target=reserve) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(4 << 64) + 5 * i for i in range(4000)]


def test_threads_draw_unseeded_numbers_of_their_own():
    found = []
    threads = [threading.Thread(target=lambda: found.append(stateful.random_uniform([8]).numpy())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(x) for x in found}) == 4


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("counter", [0, 7 << 64, 2**64 - 20, 2**128 - 20, 2**32 - 3, (2**64 - 1) << 64])
def test_blocks_come_out_alike_one_by_one_all_at_once_and_picked(counter):
    source = philox.Source(0x123456789ABCDEF0, counter)
    one_by_one = np.concatenate([source.words(1, skip) for skip in range(40)])
    assert (source.words(40) == one_by_one).all()
    assert (source.words_at(np.arange(0, 40, 3)) == one_by_one[::3]).all()
    assert (np.concatenate([words for _, words in source.chunks(40)]) == one_by_one).all()


def test_a_block_is_the_published_one():
    """The known answers that come with the paper: for zeros, for ones, and for digits of pi."""
    ones, pi = 2**32 - 1, (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0)
    answers = {
        (0,) * 6: (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
        (ones,) * 6: (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        pi: (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    }
    for (*counter, k0, k1), words in answers.items():
        source = philox.Source(k0 | k1 << 32, sum(c << 32 * i for i, c in enumerate(counter)))
        assert tuple(source.words(1)[0]) == words
        assert tuple(source.words(50)[0]) == words


def test_logarithms_and_angles_are_right_to_the_last_place():
    """The comparison with TensorFlow is exact; this one says where to look when it fails."""
    fraction = np.arange(1, 2**23, 997, dtype=np.uint32)
    u = fraction.astype(np.float32) * np.float32(2.0**-23)
    wanted = np.log(u.astype(np.float64))
    assert (np.abs(distributions.log_single(u) - wanted) <= np.spacing(np.abs(wanted).astype(np.float32))).all()
    words = np.stack([fraction, fraction[::-1]] * 2, axis=1).astype(np.uint32)
    x, y = distributions.normals(words).reshape(-1, 2).T.astype(np.float64)
    np.testing.assert_allclose(np.hypot(x, y)[::2], np.sqrt(-2 * wanted), rtol=3e-7)


# --- numbers of the right kind ----------------------------------------------------------------------------------------

N = 40_000
NUMPY = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
SEED = pytest.mark.parametrize("seed", [None, 3], ids=["unseeded", "seeded"])


@SEED
@pytest.mark.parametrize("dtype", NUMPY)
def test_uniform_numbers_fill_the_interval(dtype, seed):
    x = stateful.random_uniform([N], dtype=dtype, seed=seed).numpy()
    assert x.dtype == NUMPY[dtype]
    x = x.astype(np.float64)
    assert x.min() >= 0 and x.max() < 1
    assert abs(x.mean() - 0.5) < 0.01 and abs(x.var() - 1 / 12) < 0.003
    low, high = (stateful.random_uniform([N], -3.0, -1.0, dtype, seed=seed).numpy().astype(float) for _ in range(2))
    assert low.min() >= -3 and high.max() <= -1


@SEED
@pytest.mark.parametrize("dtype", NUMPY)
def test_normal_numbers_are_normal(dtype, seed):
    x = stateful.random_normal([N], 2.0, 3.0, dtype, seed=seed).numpy().astype(np.float64)
    assert abs(x.mean() - 2) < 0.08 and abs(x.std() - 3) < 0.06
    t = stateful.truncated_normal([N], 2.0, 3.0, dtype, seed=seed).numpy().astype(np.float64)
    assert np.abs(t - 2).max() <= 6.0 and abs(t.mean() - 2) < 0.08 and abs(t.std() - 3 * 0.8796) < 0.06


@SEED
@pytest.mark.parametrize(
    "dtype, low, high", [("int32", -3, 4), ("int64", 2**40, 2**40 + 5), ("int32", -(2**31), 2**31 - 1)]
)
def test_integers_cover_their_range(dtype, low, high, seed):
    x = stateful.random_uniform([N], low, high, dtype, seed=seed).numpy()
    assert x.dtype == dtype and x.min() >= low and x.max() < high
    if high - low < 10:
        assert len(set(x.tolist())) == high - low
        assert np.bincount(x - low).min() > 0.8 * N / (high - low)


@SEED
def test_gamma_and_poisson_numbers_have_their_means(seed):
    alphas = np.array([0.2, 1.0, 3.0, 50.0])
    x = stateful.random_gamma([N], alphas, 2.0, "float64", seed=seed).numpy()
    assert x.shape == (N, 4) and x.min() > 0
    # six standard deviations of what N numbers give: once in a thousand million runs
    assert (np.abs(x.mean(0) / (alphas / 2) - 1) < 6 / np.sqrt(alphas * N)).all()
    assert (np.abs(x.var(0) / (alphas / 4) - 1) < 6 * np.sqrt((6 / alphas + 2) / N)).all()
    rates = np.array([0.3, 5.0, 30.0, 1e5])
    for dtype in ("int64", "float32"):
        k = stateful.random_poisson([N], rates, dtype, seed=seed).numpy()
        assert k.shape == (N, 4) and k.min() >= 0 and (k == np.floor(k)).all()
        assert (np.abs(k.mean(0, dtype=np.float64) / rates - 1) < 6 / np.sqrt(rates * N)).all()


@SEED
def test_categories_follow_their_chances(seed):
    logits = np.log([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    for count in (N, 30):
        x = stateful.categorical(logits, count, seed=seed).numpy()
        assert x.shape == (2, count)
    found = np.stack([np.bincount(row, minlength=3) for row in stateful.categorical(logits, N, seed=seed).numpy()])
    np.testing.assert_allclose(found / N, np.exp(logits), atol=0.015)


@SEED
def test_a_shuffle_loses_nothing(seed):
    for value in (np.arange(50), np.arange(60).reshape(20, 3), np.array([b"a", b"b"], object), np.arange(5.0)[:1]):
        x = stateful.random_shuffle(value, seed=seed).numpy()
        assert sorted(map(str, x.tolist())) == sorted(map(str, value.tolist()))
    places = np.array([stateful.random_shuffle(np.arange(5), seed=seed).numpy() for _ in range(2000)])
    assert all(np.bincount(column, minlength=5).min() > 300 for column in places.T)


@SEED
def test_numbers_between_bounds_stay_there(seed):
    for low, high, mean in ((-1.0, 2.0, -0.0), (3.0, 4.0, 3.26), (-9.0, np.inf, 0.0), (5.0, 5.5, 5.14)):
        x = stateful.parameterized_truncated_normal([3000], 0.0, 1.0, low, high, seed=seed).numpy()
        assert x.min() >= low and x.max() <= high
        assert mean == 0.0 or abs(x.mean() - mean) < 0.05


def test_crops_are_parts():
    value = np.arange(60).reshape(3, 4, 5)
    for _ in range(20):
        x = stateful.random_crop(value, [2, 3, 5]).numpy()
        assert any((x == value[i : i + 2, j : j + 3]).all() for i in range(2) for j in range(2))


def test_samplers_compared_and_searched_agree():
    logits, u = np.random.default_rng(1).normal(size=(7, 300)), np.random.default_rng(2).random((7, 250))
    whole = samplers.categories(logits, u)
    halves = [samplers.categories(logits, u[:, at : at + 50]) for at in range(0, 250, 50)]
    assert (whole == np.concatenate(halves, axis=1)).all()


def test_a_forked_process_draws_other_numbers(monkeypatch):
    for name in ("_generators", "_process"):
        monkeypatch.setattr(unseeded, name, getattr(unseeded, name))  # to come back to
    before = unseeded.generator()
    unseeded._restart()
    assert unseeded.generator() is not before
    unseeded.generator()


# --- gradients --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_gamma_numbers_have_a_slope_in_their_shape(seed):
    """Compared with how the number of the same rank moves when the shape does."""
    from scipy import special as scipy_special

    alpha = creation.constant([0.2, 0.7, 1.5, 8.0, 300.0, 3e4], "float64")
    with GradientTape() as tape:
        tape.watch(alpha)
        x = stateful.random_gamma([3], alpha, dtype="float64", seed=seed)
    slope = tape.gradient(x, alpha).numpy()
    a, step = alpha.numpy(), 1e-5 * alpha.numpy()
    rank = scipy_special.gammainc(a, x.numpy())
    moved = (scipy_special.gammaincinv(a + step, rank) - scipy_special.gammaincinv(a - step, rank)) / (2 * step)
    np.testing.assert_allclose(slope, moved.sum(0), rtol=1e-4)


def test_gamma_numbers_have_the_slope_in_graphs_too():
    with Graph().as_default():
        alpha = placeholder("float32", [None])
        x = stateful.random_gamma([2], alpha, seed=1)
        (slope,) = gradients(x, alpha)
        with Session() as session:
            value = session.run(slope, {alpha: [0.5, 2.0]})
    assert value.shape == (2,) and (value > 0).all()


def test_parameters_have_gradients_and_draws_have_none():
    mean, deviation = creation.constant(1.0), creation.constant([2.0, 3.0])
    with GradientTape() as tape:
        tape.watch([mean, deviation])
        x = stateful.random_normal([4, 2], mean, deviation, seed=1)
        y = stateful.random_shuffle(deviation)
    drawn = (x.numpy() - 1) / [2, 3]
    by_mean, by_deviation = tape.gradient([x, y], [mean, deviation])
    assert by_mean.numpy() == 8
    np.testing.assert_allclose(by_deviation.numpy(), drawn.sum(0), rtol=1e-5)


# --- shapes in graphs -------------------------------------------------------------------------------------------------


def test_static_shapes():
    with Graph().as_default():
        unknown, three = placeholder("int32"), placeholder("int32", [3])
        assert stateful.random_uniform(unknown)._dims is None
        assert stateful.random_normal(three)._dims == (None, None, None)
        assert stateful.truncated_normal([-1, 2])._dims == (None, 2)
        assert stateful.random_uniform([convert(2), 5], 0, 9, "int32")._dims == (2, 5)
        assert stateful.random_gamma(three, [1.0, 2.0])._dims == (None, None, None, 2)
        assert stateful.random_poisson([4], placeholder("float32"))._dims is None
        assert stateful.categorical(placeholder("float32"), 3)._dims == (None, 3)
        assert stateful.multinomial(placeholder("float32", [5, None]), placeholder("int32"))._dims == (5, None)
        assert stateful.random_shuffle(placeholder("float32", [None, 2]))._dims == (None, 2)
        assert stateful.random_crop(placeholder("float32"), [2, 3])._dims == (2, 3)
        assert stateless.stateless_random_normal(three, [1, 2])._dims == (None, None, None)
        assert stateless.split(placeholder("int32", [2]), 5)._dims == (5, 2)


# --- refusals ---------------------------------------------------------------------------------------------------------

INVALID, ABSURD = errors.InvalidArgumentError, (errors.InvalidArgumentError, errors.ResourceExhaustedError)
S = stateless
GOOD = np.array([[0.5, 0.5]], np.float32)


@pytest.mark.parametrize(
    "draw, error, says",
    [
        (lambda: stateful.random_uniform([-1]), INVALID, "Dimension -1 must be >= 0"),
        (lambda: stateful.random_normal([2, -3]), INVALID, "Dimension -3 must be >= 0"),
        (lambda: stateful.random_uniform(3), INVALID, r"shape must be a vector of {int32,int64}, got shape \[\]"),
        (
            lambda: stateful.truncated_normal([[3]]),
            INVALID,
            r"shape must be a vector of {int32,int64}, got shape \[1,1\]",
        ),
        (lambda: stateful.random_uniform([2**40, 2**40]), INVALID, r"would have more than 2\*\*63 - 1 elements"),
        (lambda: stateful.random_normal([2**45]), ABSURD, "OOM when allocating tensor"),
        (lambda: stateful.random_normal([2**45], seed=1), ABSURD, "OOM when allocating tensor"),
        (lambda: stateful.random_uniform([2**20, 2**20, 2**20], 0, 9, "int32"), ABSURD, "OOM when allocating tensor"),
        (lambda: stateful.random_uniform([2.5]), (TypeError, INVALID), "float32"),
        (
            lambda: stateful.random_uniform([2], dtype="int32"),
            ValueError,
            "Must specify maxval for integer dtype tf.int32",
        ),
        (lambda: stateful.random_uniform([2], 3, 3, "int32"), INVALID, "Need minval < maxval, got 3 >= 3"),
        (lambda: stateful.random_uniform([2], [1, 2], 9, "int32"), INVALID, r"minval must be 0-D, got shape \[2\]"),
        (
            lambda: stateful.random_uniform([2], 0, 9, "uint8"),
            ValueError,
            "Argument `dtype` got invalid value tf.uint8",
        ),
        (lambda: stateful.random_uniform([2], 0.5, 9, "int32"), TypeError, "0.5"),
        (lambda: stateful.random_normal([2], dtype="int32"), TypeError, "0.0"),
        (lambda: stateful.random_normal([2], creation.constant(1.0, "float64")), ValueError, "float64"),
        (lambda: stateful.categorical([0.1, 0.2], 3), INVALID, r"logits should be a matrix, got shape \[2\]"),
        (lambda: stateful.categorical(GOOD, -3), INVALID, "num_samples should be non-negative, got -3"),
        (lambda: stateful.categorical(GOOD, [3]), INVALID, r"num_samples should be a scalar, got shape \[1\]"),
        (lambda: stateful.categorical(GOOD[:, :0], 3), INVALID, "num_classes should be positive, got 0"),
        (lambda: stateful.categorical(GOOD, 3, "float32"), ValueError, "Argument `dtype` got invalid value tf.float32"),
        (lambda: stateful.categorical(np.tile(GOOD, (2**20, 1)), 2**30), ABSURD, "OOM when allocating tensor"),
        (lambda: stateful.random_gamma(2, 1.0), INVALID, "shape must be a vector"),
        (lambda: stateful.random_gamma([2**31 - 1, 100], 1.0), ABSURD, "OOM when allocating tensor"),
        (lambda: stateful.random_poisson([2], np.nan, "int32"), INVALID, "rate = nan"),
        (lambda: stateful.random_poisson([2], 1e10, "int32", seed=1), INVALID, r"rate = 1e\+10 is too large"),
        (lambda: stateful.random_crop(np.zeros((3, 3)), [4, 2]), INVALID, "Need value.shape >= size, got"),
        (lambda: stateful.parameterized_truncated_normal([3], 0.0, -1.0), INVALID, "Invalid parameters"),
        (lambda: stateful.parameterized_truncated_normal([3], [[0.0]]), INVALID, "means should be a scalar or vector"),
        (lambda: stateful.parameterized_truncated_normal([3], [0.0, 1.0]), INVALID, "should have length 1 or shape"),
        (lambda: stateful.parameterized_truncated_normal([]), INVALID, "Shape tensor must not be empty"),
        (lambda: S.stateless_random_uniform([2], [1]), INVALID, r"seed must have shape \[2\], not \[1\]"),
        (lambda: S.stateless_random_normal([2], [1, 2, 3]), INVALID, r"seed must have shape \[2\], not \[3\]"),
        (lambda: S.stateless_random_normal([2], [1.0, 2.0]), (TypeError, INVALID), "float32"),
        (lambda: S.stateless_random_uniform([2], [1, 2], dtype="int32"), ValueError, "must be both None or not None"),
        (lambda: S.stateless_random_uniform([2], [1, 2], 0, 5, "uint32"), ValueError, "don't use unsigned integers"),
        (lambda: S.stateless_random_uniform([2], [1, 2], 5, 5, "int32"), INVALID, "Need minval < maxval, got 5 >= 5"),
        (
            lambda: S.stateless_random_uniform([2], [1, 2], alg="x"),
            ValueError,
            "Argument `alg` got unsupported value x",
        ),
        (lambda: S.stateless_random_uniform([2], [1, 2], alg=2.5), TypeError, "Can't convert argument `alg`"),
        (
            lambda: S.stateless_random_uniform([2], [1, 2], alg="threefry"),
            INVALID,
            "counter must be a vector with length",
        ),
        (lambda: S.stateless_categorical(GOOD, 3, [1]), INVALID, r"seed must have shape \[2\]"),
        (
            lambda: S.stateless_random_gamma([3], [1, 2], [1.0, 2.0]),
            INVALID,
            "Shape passed in must end with broadcasted",
        ),
        (
            lambda: S.stateless_random_poisson([3], [1, 2], [1.0, 2.0]),
            INVALID,
            "Shape passed in must end with broadcasted",
        ),
        (lambda: S.stateless_random_binomial([3], [1, 2], [1.0, 2.0], 0.5), INVALID, "Shape passed in must end with"),
        (lambda: S.stateless_random_binomial([3], [1, 2], np.nan, 0.5), INVALID, "must be numbers, got NaN"),
        (lambda: S.stateless_random_normal([2**45], [1, 2]), ABSURD, "OOM when allocating tensor"),
        (lambda: Generator.from_seed(1, "threefry").normal([2]), errors.UnimplementedError, "ThreeFry"),
        (lambda: Generator.from_seed(1, 9), ValueError, "Argument `alg` got unsupported value 9"),
        (lambda: Generator.from_state([1, 2], "philox"), ValueError, "(?i)incompatible"),
    ],
)
def test_refusals(draw, error, says):
    with pytest.raises(error, match=says):
        draw()


@pytest.mark.parametrize(
    "build, says",
    [
        (lambda: stateful.random_uniform([-2]), "Invalid value in tensor used for shape: -2"),
        (lambda: stateful.random_uniform(3), "Shape must be rank 1 but is rank 0"),
        (lambda: stateful.random_normal([[3]]), "Shape must be rank 1 but is rank 2"),
        (
            lambda: stateful.random_uniform([2], [3], 9, "int32"),
            r"minval must be a scalar; got a tensor of shape \[1\]",
        ),
        (lambda: stateful.multinomial([0.1], 3), "Shape must be rank 2 but is rank 1"),
        (lambda: stateful.multinomial(GOOD, -3), "given by scalar input 1, must be non-negative but is -3"),
        (lambda: stateful.multinomial(GOOD, [3]), "Shape must be rank 0 but is rank 1"),
        (lambda: stateful.random_gamma(2, 1.0), "Shape must be rank 1 but is rank 0"),
        (lambda: stateful.parameterized_truncated_normal([3], [[0.0]]), "Shape must be at most rank 1 but is rank 2"),
        (lambda: S.stateless_random_uniform([2], [1]), "Dimension must be 2 but is 1"),
    ],
)
def test_refusals_while_a_graph_is_built(build, says):
    with Graph().as_default(), pytest.raises(ValueError, match=says):
        build()


def test_a_length_left_open_is_refused_when_it_stays_open():
    with Graph().as_default(), Session() as session:
        x = stateful.random_uniform([-1])
        with pytest.raises(INVALID, match="Dimension -1 must be >= 0"):
            session.run(x)


EMPTY = [
    (lambda: stateful.random_uniform([0], 3, 3, "int32"), (0,)),
    (lambda: stateful.random_normal([2, 0, 3], seed=1), (2, 0, 3)),
    (lambda: stateful.truncated_normal([0], seed=1), (0,)),
    (lambda: stateful.random_gamma([0], 1.0), (0,)),
    (lambda: stateful.random_gamma([2], np.zeros(0, np.float32), seed=1), (2, 0)),
    (lambda: stateful.random_poisson([0], [1.0, 2.0]), (0, 2)),
    (lambda: stateful.random_poisson([2], np.zeros((0, 3)), seed=1), (2, 0, 3)),
    (lambda: stateful.categorical(GOOD, 0), (1, 0)),
    (lambda: stateful.categorical(GOOD[:0], 3, seed=1), (0, 3)),
    (lambda: stateful.random_shuffle(np.zeros((0, 3))), (0, 3)),
    (lambda: stateful.parameterized_truncated_normal([0, 4], seed=1), (0, 4)),
    (lambda: S.stateless_random_normal([0], [1, 2]), (0,)),
    (lambda: S.stateless_random_poisson([0, 2], [1, 2], [1.0, 2.0]), (0, 2)),
    (lambda: S.stateless_random_gamma([0], [1, 2], 1.0), (0,)),
    (lambda: S.stateless_random_binomial([0], [1, 2], 1.0, 0.5), (0,)),
]


@pytest.mark.parametrize("draw, dims", EMPTY)
def test_nothing_may_be_asked_for(draw, dims):
    assert draw().shape.as_list() == list(dims)


@pytest.mark.parametrize(
    "draw, wanted",
    [
        (lambda: stateful.random_poisson([2], np.inf, "float32", seed=1), [np.inf] * 2),
        (lambda: stateful.random_poisson([2], np.nan, "float32", seed=1), [np.nan] * 2),
        (lambda: stateful.random_poisson([2], -3.0, "int32", seed=1), [0, 0]),
        (lambda: stateful.random_poisson([2], -3.0, "int32"), [0, 0]),
        (lambda: stateful.random_gamma([2], -1.0, seed=1), [np.nan] * 2),
        (lambda: stateful.random_gamma([2], -1.0), [np.nan] * 2),
        (lambda: stateful.random_gamma([2], np.nan, seed=1), [np.nan] * 2),
        (lambda: stateful.categorical([[np.nan, np.nan]], 2, seed=1)[0], [2, 2]),
        (lambda: stateful.categorical([[np.nan, 1.0]], 2, seed=1)[0], [1, 1]),
        (lambda: S.stateless_random_binomial([2], [1, 2], 5.0, 1.0), [5, 5]),
        (lambda: S.stateless_random_binomial([2], [1, 2], 5.0, 0.0), [0, 0]),
        (lambda: S.stateless_random_binomial([2], [1, 2], 5.0, np.nan, "float32"), [np.nan] * 2),
    ],
)
def test_odd_parameters_have_tensorflows_answers(draw, wanted):
    np.testing.assert_array_equal(draw().numpy(), wanted)


def test_programs_may_say_which_seeds_ops_get():
    """As Keras's DeterministicRandomTestTool: it puts a function in the place of TensorFlow's own."""
    place = sys.modules[tf.compat.v1.get_seed.__module__]
    tf.random.set_seed(1)
    with mock.patch.object(place, "get_seed", wraps=lambda _: (1, 2)) as asked:
        first, second = tf.random.uniform([3]), tf.random.normal([3])
    assert asked.call_count == 2
    tf.random.set_seed(1)
    with mock.patch.object(place, "get_seed", wraps=lambda _: (1, 2)):
        assert np.array_equal(tf.random.uniform([3]), first)
    assert second.shape == (3,)
