"""Programs give what the plain executor gives, whatever passes run, and hand out nothing that is used again."""

from __future__ import annotations

import linecache
import threading
import warnings

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow.compiler import options, program
from ebbflow.compiler.flow import Flow
from ebbflow.compiler.passes import PASSES
from ebbflow.compiler.program import Program
from ebbflow.platform import config
from tests.compiler.programs import graph_of

pytestmark = pytest.mark.usefixtures("without_native")

tf = tf2.compat.v1

INTERPRETED = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1)))


def feed(seed: int, count: int) -> list[np.ndarray]:
    rng = np.random.RandomState(seed)
    return [rng.uniform(-2, 2, (3, 3)).astype("f") for _ in range(count)]


def answers(seed: int, config, monkeypatch, check: bool) -> list:
    monkeypatch.setenv("EBBFLOW_CHECK", "1" if check else "0")
    graph, feeds, fetches = graph_of(seed)
    with tf.Session(graph=graph, config=config) as session:
        with graph.as_default():
            session.run(tf.global_variables_initializer())
        return [session.run(fetches, dict(zip(feeds, feed(i, 2), strict=True))) for i in range(3)]


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_answer_as_the_executor_does(seed, monkeypatch):
    expected = answers(seed, INTERPRETED, monkeypatch, check=False)
    given = answers(seed, None, monkeypatch, check=True)
    for one, other in zip(given, expected, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5)


# option of tf.config.optimizer: its value, and the passes that do not run then
SWITCHES = {
    "constant_folding": (False, {"fold"}),
    "arithmetic_optimization": (False, {"simplify", "columns", "broadcasts", "common", "siblings"}),
    "remapping": (False, {"fuse", "entropy"}),
    "layout_optimizer": (False, {"layout"}),
    "loop_optimization": (False, {"narrow", "draws", "reads", "invariants"}),
    "auto_parallel": (False, {"parallel"}),
    "native_code": (False, {"native", "winograd"}),
    "clustering": (False, {"cluster"}),
    "disable_model_pruning": (True, {"prune"}),
}


def test_every_pass_can_be_switched_off(monkeypatch):
    for name, (value, passes) in SWITCHES.items():
        monkeypatch.setattr(config, "wishes", config.Wishes())
        assert not options.switched_off()
        tf2.config.optimizer.set_experimental_options({name: value})
        assert options.switched_off() == passes
    assert set().union(*[passes for _, passes in SWITCHES.values()]) == set(PASSES)
    monkeypatch.setattr(config, "wishes", config.Wishes())
    for rewrites, passes in (
        ({"constant_folding": 2}, {"fold"}),
        ({"disable_model_pruning": True}, {"prune"}),
        ({"disable_meta_optimizer": True}, {options.ALL}),
    ):
        proto = tf.ConfigProto(graph_options=tf.GraphOptions(rewrite_options=rewrites))
        assert options.switched_off(proto) == passes


@pytest.mark.parametrize("limit", ["much", -1, 1.5, True])
def test_a_limit_is_a_number_of_bytes(limit):
    with pytest.raises(ValueError, match="is no number of bytes"):
        tf2.config.optimizer.set_experimental_options({"memory_limit": limit})


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("seed", range(3))
def test_each_pass_alone_changes_no_answer(seed, name, monkeypatch):
    expected = answers(seed, INTERPRETED, monkeypatch, check=False)
    monkeypatch.setattr(options, "_told", lambda _: set(PASSES) - {name})
    given = answers(seed, tf.ConfigProto(), monkeypatch, check=True)
    for one, other in zip(given, expected, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5)


@pytest.fixture
def session(monkeypatch):
    monkeypatch.setenv("EBBFLOW_CHECK", "1")
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_results_are_the_callers_to_change(session):
    x = tf.placeholder(tf.float32, [4])
    y = tf.nn.relu(x) + 1.0
    views = [y, tf.reshape(y, [2, 2]), tf.identity(x), tf.constant([1.0, 2.0]) * 1.0]
    value = np.arange(4, dtype="f")
    first = session.run(views, {x: value})
    for array in first:
        array += 100
    second = session.run(views, {x: np.arange(4, dtype="f")})
    np.testing.assert_array_equal(second[0], [1, 2, 3, 4])
    np.testing.assert_array_equal(second[1], [[1, 2], [3, 4]])
    np.testing.assert_array_equal(second[2], [0, 1, 2, 3])
    np.testing.assert_array_equal(second[3], [1, 2])
    np.testing.assert_array_equal(value, np.arange(4))
    np.testing.assert_array_equal(first[0], [101, 102, 103, 104])


def test_a_result_kept_is_not_written_by_the_next_run(session):
    x = tf.placeholder(tf.float32, [None, 8])
    y = tf.tanh(tf.matmul(x, tf.ones([8, 8])))
    kept = [session.run(y, {x: np.full((2, 8), i, "f")}) for i in range(5)]
    for i, array in enumerate(kept):
        np.testing.assert_allclose(array, np.tanh(np.full((2, 8), 8 * i)), rtol=1e-6)


def test_what_is_assigned_does_not_lie_in_memory_that_is_used_again(session):
    x = tf.placeholder(tf.float32, [3])
    v = tf.get_variable("v", [3], use_resource=True, initializer=tf.zeros_initializer())
    assigned = v.assign(x * 2.0 + 1.0)
    session.run(v.initializer)
    session.run(assigned, {x: [1, 2, 3]})
    session.run([tf.sigmoid(x * 2.0 + 1.0)], {x: [9, 9, 9]})
    session.run([x * 3.0 + 2.0], {x: [7, 7, 7]})
    np.testing.assert_array_equal(session.run(v), [3, 5, 7])


def test_threads_share_a_program(session):
    x = tf.placeholder(tf.float32, [64, 64])
    y = tf.reduce_sum(tf.sigmoid(tf.matmul(x, x)) * x)
    inputs = [np.random.RandomState(i).randn(64, 64).astype("f") for i in range(8)]
    expected = [session.run(y, {x: a}) for a in inputs]
    wrong = []

    def work(i):
        for _ in range(50):
            if session.run(y, {x: inputs[i]}) != expected[i]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_shapes_that_keep_changing_still_run(session):
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.square(x))
    for n in range(60):
        assert session.run(y, {x: np.ones(n, "f")}) == n


LOOKED_INTO = {
    "a reshaped transpose, which NumPy copies": (lambda x: tf.reshape(tf.transpose(x), [6]), lambda a: a.T.reshape(6)),
    "a row": (lambda x: tf.unstack(x)[1], lambda a: a[1]),
    "numbers of a row": (lambda x: tf.stack(tf.unstack(tf.unstack(x)[0])[1:]), lambda a: a[0, 1:]),
    "a number by index": (lambda x: x[1, 2], lambda a: a[1, 2]),
    "a number by indices in turn": (lambda x: x[1][2], lambda a: a[1, 2]),
    "the only one of its kind": (lambda x: tf.unstack(x[0, :1])[0], lambda a: a[0, 0]),
    "a number that was split off": (lambda x: tf.squeeze(tf.split(x[0], 3)[1]), lambda a: a[0, 1]),
}


@pytest.mark.parametrize("name", LOOKED_INTO)
def test_views_show_each_runs_values(session, name):
    write, by_numpy = LOOKED_INTO[name]
    x = tf.placeholder(tf.float16, [2, 3])
    y = write(x * 2.0) + 1.0
    for k in range(3):
        value = np.arange(6, dtype=np.float16).reshape(2, 3) + k
        np.testing.assert_array_equal(session.run(y, {x: value}), by_numpy(value * 2) + 1)


OUT_OF_RANGE = {
    "small": lambda x: tf.log(x) + tf.exp(x * 1e3) / x,
    "by a kernel": lambda x: tf.cumsum(tf.log(x)),
    "in tiles and threads": lambda x: tf.reduce_sum(tf.log(tf.tile(x, [200_000])) * 2.0 + 1.0),
    "behind an update": lambda x: tf.log(tf.get_variable("v", [3], initializer=tf.zeros_initializer()).assign_add(x)),
}


@pytest.mark.parametrize("strictness", ["warnings are errors", "numpy raises"])
@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_numbers_out_of_range_are_no_error_however_strict_numpy_is(name, strictness, without_native):
    """Interpreted first, then compiled; a step that changes variables is not run twice for it."""
    with warnings.catch_warnings(), np.errstate(all="warn"):
        plain = three_runs(OUT_OF_RANGE[name])
        warnings.simplefilter("error")
        with np.errstate(all="warn" if strictness == "warnings are errors" else "raise"):
            given = three_runs(OUT_OF_RANGE[name])
    np.testing.assert_array_equal(given, plain)


def three_runs(write):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3])
        y = write(x)
        session.run(tf.global_variables_initializer())
        return [session.run(y, {x: [0.0, -1.0, 2.0]}) for _ in range(3)]


def test_a_loop_that_never_turns_hands_on_what_it_was_given(session):
    """It does so as part of a cluster too: what it was given must not be written over while its result is needed."""
    x, n = tf.placeholder(tf.float32, [3, 3]), tf.placeholder(tf.int32, [])
    _, after = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, tf.sin(s) * 2.0), (0, tf.matmul(x, x)))
    y = tf.matmul(tf.matmul(after, x), after)
    for turns in (1, 0, 0):
        value = feed(turns, 1)[0]
        given = np.sin(value @ value) * 2 if turns else value @ value
        np.testing.assert_allclose(session.run(y, {x: value, n: turns}), given @ value @ given, rtol=1e-4, atol=1e-5)


def test_an_error_names_node_line_and_operands(session):
    x = tf.placeholder(tf.int32, [None])
    y = tf.gather([10, 20, 30], x, name="picked")
    session.run(y, {x: [1]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 7 is not in \[0, 3\)") as caught:
        session.run(y, {x: [7]})
    assert caught.value.op.name == "picked"
    assert "test_programs.py" in str(caught.value)


def test_explain_shows_source_with_the_users_lines(session):
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    y = tf.nn.relu(tf.matmul(x, x, name="product"), name="kept")
    session.run(y, {x: np.ones((2, 2))})
    text = session.explain(y, [x])
    assert "x.dot(x, product)" in text
    assert "kept = maximum(product, zero_float32)" in text
    assert "test_programs.py:" in text
    assert session.explain(tf.identity(x) + 1.0, [x]).startswith("def program(x):")


@pytest.mark.parametrize(
    "name", ["one_float32", "t_float32", "tick", "v_storage", "run_s", "empty", "def", "None", "1.x"]
)
def test_whatever_nodes_are_called(session, name):
    x = tf.placeholder(tf.float32, [2, 3], name=name)
    v = tf.get_variable("v", [3], initializer=tf.ones_initializer(), use_resource=True)
    s = tf.sigmoid(tf.nn.relu(x + v, name=name), name=name)
    y = tf.cumsum(tf.square(tf.concat([s, x], 1), name=name), name="s")
    session.run(v.initializer)
    value = np.linspace(0, 1, 6).reshape(2, 3)
    expected = np.cumsum(np.concatenate([1 / (1 + np.exp(-value - 1)), value], 1) ** 2, 0)
    traced = {"options": tf.RunOptions(trace_level=3), "run_metadata": tf.RunMetadata()}
    for more in ({}, traced):
        np.testing.assert_allclose(session.run(y, {x: value}, **more), expected, rtol=1e-5)


def test_ten_thousand_nodes_in_a_row(session):
    y = x = tf.placeholder(tf.float32, [])
    for _ in range(10_000):
        y = y + 1.0
    assert session.run(y, {x: 0.5}) == 10_000.5
    assert session.run(y, {x: 1.5}) == 10_001.5


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0)])
def test_tensors_without_elements(shape, session):
    x = tf.placeholder(tf.float32, shape)
    fetches = [tf.nn.relu(x) + 1.0, tf.reduce_sum(x), tf.reshape(x, [-1]), tf.concat([x, x], 0), tf.transpose(x)]
    if len(shape) == 2:
        fetches.append(tf.matmul(x, x, transpose_b=True))
        fetches.append(tf.matmul(x, x, transpose_a=True))
    expected = tf.Session(config=INTERPRETED, graph=session.graph).run(fetches, {x: np.zeros(shape)})
    for a, b in zip(session.run(fetches, {x: np.zeros(shape)}), expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_array_equal(a, b)


def test_options_switch_passes_off(session, monkeypatch):
    x = tf.placeholder(tf.float32, [2], name="x")
    y = (x * 1.0) + tf.constant([1.0, 2.0]) * tf.constant([3.0, 4.0])
    assert "multiply" not in session.explain(y, [x])
    rewrites = tf.GraphOptions(rewrite_options={"constant_folding": 2, "shape_optimization": 2})
    plain = tf.Session(config=tf.ConfigProto(graph_options=rewrites))
    assert "multiply" in plain.explain(y, [x])
    tf2.config.optimizer.set_experimental_options({"arithmetic_optimization": False})
    try:
        assert "multiply(x," in tf.Session().explain(y, [x])
    finally:
        tf2.config.optimizer.set_experimental_options({"arithmetic_optimization": True})


def test_a_program_is_traced_node_by_node(session):
    x = tf.placeholder(tf.float32, [2, 2])
    y = tf.nn.relu(tf.matmul(x, x, name="product"), name="kept")
    options, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
    session.run(y, {x: np.eye(2)})
    given = session.run(y, {x: np.eye(2)}, options=options, run_metadata=metadata)
    np.testing.assert_array_equal(given, np.eye(2))
    names = [s.node_name for s in metadata.step_stats.dev_stats[0].node_stats]
    assert "product" in names and "kept" in names


def test_results_that_nobody_takes_do_not_lie_on_those_that_somebody_does(session):
    x = tf.placeholder(tf.float32, [8, 16, 16, 8])
    y, _, _ = tf.nn.fused_batch_norm(x, tf.ones([8]), tf.zeros([8]))
    gradient = tf.gradients(tf.reduce_sum(tf.nn.relu(y) * x), x)[0]
    value = np.random.RandomState(0).randn(8, 16, 16, 8).astype("f")
    plain = tf.Session(config=INTERPRETED, graph=session.graph).run(gradient, {x: value})
    np.testing.assert_allclose(session.run(gradient, {x: value}), plain, rtol=1e-4, atol=1e-4)


def test_the_text_of_a_program_that_is_gone_goes_with_the_next_one():
    def program():
        return Program(Flow([], [], []), lambda node: None)

    one = program()
    file = one.file
    assert file in linecache.cache
    del one
    assert file in linecache.cache  # whoever walks over the cache finds what was there when it began
    other = program()
    assert file not in linecache.cache and other.file in linecache.cache


def test_an_assertion_speaks_before_what_it_is_there_for():
    @tf2.function
    def counted(x):
        with tf2.control_dependencies([tf2.debugging.assert_greater(x, -1, message="no such class")]):
            x = tf2.identity(x)
        return tf2.math.bincount(x, minlength=3, maxlength=3), tf2.gather([1.0, 2.0, 3.0], x)

    for _ in range(3):  # node by node, then compiled
        assert counted(tf2.constant([1, 2]))[0].numpy().tolist() == [0, 1, 1]
        with pytest.raises(tf2.errors.InvalidArgumentError, match="no such class"):
            counted(tf2.constant([1, -1]))


def test_texts_that_another_thread_has_dropped_are_not_missed(monkeypatch):
    class Emptied(list):
        """A list whose last element was just taken by somebody else."""

        def __bool__(self):
            return True

    monkeypatch.setattr(program, "_gone", Emptied())
    f = tf2.function(lambda x: x * 2.0 + 1.0)
    assert [f(tf2.constant(2.0)).numpy() for _ in range(3)] == [5.0] * 3
