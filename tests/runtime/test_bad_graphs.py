"""Bad input, and input at the edge: the same error or answer whether graphs are compiled or not, on every engine."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow.core import convert, errors

tf = tf2.compat.v1
OFF = {"graph_options": tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))}
MODES = {  # how it runs: (what EBBFLOW_ENGINES says, EBBFLOW_CHECK, the session's config)
    "interpreted": (None, "0", OFF),
    "interpreted by NumPy": ("host", "0", OFF),
    "compiled": (None, "1", {}),
    "compiled for NumPy": ("host", "1", {}),
    "compiled without XLA": ("host,onednn", "1", {}),
    "on two devices": (None, "1", {"device_count": {"CPU": 2}}),
}


@pytest.fixture(params=MODES)
def config(request, monkeypatch):
    engines, check, options = MODES[request.param]
    monkeypatch.delenv("EBBFLOW_ENGINES", raising=False)
    if engines is not None:
        monkeypatch.setenv("EBBFLOW_ENGINES", engines)
    monkeypatch.setenv("EBBFLOW_CHECK", check)
    return tf.ConfigProto(**options)


def second(config):
    """A second device, where the session has one."""
    return tf.device("/cpu:1" if config.device_count else None)


# --- graphs that cannot run -------------------------------------------------------------------------------------------


def data_cycle(b, c):
    b.op._update_input(0, c)


def control_cycle(b, c):
    b.op._add_control_input(c.op)


CYCLES = {  # what makes it, what is said: TensorFlow 2.21's words
    "data": (data_cycle, "contains a cycle with 2 nodes, including: b, c"),
    "control": (control_cycle, "contains a cycle with 2 nodes, including: b, c"),
    "itself": (lambda b, c: b.op._update_input(0, b), "contains a cycle with 1 nodes, including: b"),
}


@pytest.mark.parametrize("kind", CYCLES)
def test_a_cycle(config, kind):
    close, says = CYCLES[kind]
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        b = tf.add(tf.placeholder_with_default(1.0, []), 1.0, name="b")
        with second(config):
            c = tf.add(b, 1.0, name="c")
        after = tf.add(c, 1.0, name="after")
        assert session.run(after) == 4
        close(b, c)
        for _ in range(2):
            with pytest.raises(errors.InvalidArgumentError, match=f"Graph is invalid, {says}$"):
                session.run(after)


def test_a_cycle_nobody_needs(config):
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        a = tf.placeholder_with_default(1.0, [])
        b = tf.add(a, 1.0)
        b.op._update_input(0, b)
        assert session.run(a + 1.0) == 2
        assert session.run(b + 1.0, {b: 5.0}) == 6  # fed, it is no cycle


def test_foreign_and_deleted_tensors(config):
    with tf.Graph().as_default():
        foreign = tf.constant(1.0, name="same")
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        own = tf.constant(2.0, name="same")
        feed = tf.placeholder(tf.float32, [], name="feed")
        for fetch in (foreign, foreign.op, [own, foreign]):
            with pytest.raises(ValueError, match="is not an element of this graph"):
                session.run(fetch)
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
            session.run(own, {foreign: 1.0})
        for name in ("gone:0", "same:1"):
            with pytest.raises((ValueError, KeyError), match="refers to a Tensor which does not exist"):
                session.run(name)
        with pytest.raises(errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'feed'"):
            session.run(feed + own)
        assert session.run(own) == 2


# --- feeds ------------------------------------------------------------------------------------------------------------

FEEDS = [  # dtype and shape of the placeholder, what is fed, the value or the error
    ("float32", [2], [1, 2], [1, 2]),
    ("float32", [2], np.array([1, 2], np.int64), [1, 2]),
    ("float32", [2], 1, ValueError),
    ("float32", [2], [[1, 2]], ValueError),
    ("float32", [2], [1, 2, 3], ValueError),
    ("float32", [2], [], ValueError),
    ("float32", [2], ["a", "b"], ValueError),
    ("float32", [2], [1, [2]], ValueError),
    ("float32", [2], {"a": 1}, TypeError),
    ("float32", [2], object(), TypeError),
    ("int32", [None], [1.5, 2.5], [1, 2]),
    ("int32", [None], [], []),
    ("int32", [None], "x", ValueError),
    ("int32", [], 2**40, TypeError),
    ("uint8", [], 300, TypeError),
    ("uint8", [], -1, TypeError),
    ("bool", [], 1.5, True),
    ("complex64", [], 1j, 1j),
    ("string", [], "x", b"x"),
    ("string", [], ["a"], ValueError),
    ("float32", None, np.zeros([2, 0, 3]), np.zeros([2, 0, 3])),
]


@pytest.mark.parametrize(("dtype", "dims", "value", "expected"), FEEDS)
def test_feeds(config, dtype, dims, value, expected):
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        x = tf.placeholder(dtype, dims, name="x")
        with second(config):
            y = tf.identity(tf.reshape(x, tf.shape(x)))
        for _ in range(2):
            if isinstance(expected, type):
                with pytest.raises(expected):
                    session.run(y, {x: value})
            else:
                got = session.run(y, {x: value})
                assert np.asarray(got).dtype.kind in (x.dtype.np.kind, "S")
                np.testing.assert_array_equal(got, np.asarray(expected, x.dtype.np))


def test_a_feed_too_many_dimensions_for_what_is_inside(config):
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        x = tf.placeholder(tf.float32)
        with second(config):
            y = tf.matmul(x, [[1.0], [2.0]], name="product")
        assert session.run(y, {x: [[1, 2]]}).tolist() == [[5]]
        for wrong in ([[1, 2, 3]], [1, 2], np.zeros([0, 3])):
            for _ in range(2):
                with pytest.raises(errors.InvalidArgumentError) as caught:
                    session.run(y, {x: wrong})
                assert caught.value.op is y.op


# --- large and empty --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["interpreted", "compiled for NumPy"])
def test_ten_thousand_nodes_in_a_row(monkeypatch, mode):
    engines, _, options = MODES[mode]
    if engines is not None:
        monkeypatch.setenv("EBBFLOW_ENGINES", engines)
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(**options)) as session:
        x = tf.placeholder(tf.float32, [])
        y = x
        for _ in range(10_000):
            y = tf.sin(y)
        got = [session.run(y, {x: 1.0}) for _ in range(3)]
    assert got[0] == got[1] == got[2] and 0 < got[0] < 0.1


def test_a_constant_too_large_for_a_message(monkeypatch):
    """A graph keeps and runs what no GraphDef can hold; the limit is made small here."""
    from ebbflow.messages import tensors

    monkeypatch.setattr(tensors, "LARGEST_CONTENT", 1000)
    with tf.Graph().as_default() as graph:
        large = tf.constant(np.arange(500.0), name="large")
        with tf.Session() as session:
            assert [session.run(tf.reduce_max(large)) for _ in range(3)] == [499] * 3
        with pytest.raises(ValueError, match="larger than 2GB"):
            graph.as_graph_def()


HUGE = np.broadcast_to(np.float32(1.0), (2**29 + 1,))  # two gigabytes that take no memory

TOO_LARGE = {
    "constant": lambda: tf.constant(HUGE),
    "constant of TF 2": lambda: tf2.constant(HUGE),
    "converted": lambda: tf.convert_to_tensor(HUGE),
    "argument": lambda: tf.negative(HUGE),
    "operand": lambda: tf.zeros([]) + HUGE,
    "in a function": lambda: tf2.function(lambda: tf.reduce_max(HUGE))(),
    "with a dtype": lambda: tf.constant(HUGE[: 2**28], tf.float64),
}


@pytest.mark.parametrize("make", TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_constant_over_two_gigabytes_is_refused_where_it_is_made(make):
    with tf.Graph().as_default() as graph, pytest.raises(ValueError, match="larger than 2GB"):
        make()
    assert not [node for node in graph.get_operations() if node.type == "Const" and node.outputs[0].shape.rank]


def test_what_is_large_but_fits(monkeypatch):
    with tf.Graph().as_default():
        assert tf.constant(HUGE[: 2**10]).shape == [2**10]
        assert tf.constant(1.0, shape=[2**29 + 1]).shape == [2**29 + 1]  # one number in memory, and in a message
        assert tf.constant(HUGE[: 2**8].astype(np.float64), tf.float32).shape == [2**8]
    monkeypatch.setattr(convert, "LARGEST_CONSTANT", 1000)
    assert tf2.reduce_max(tf2.constant(np.arange(500.0))) == 499  # eagerly nothing has to fit a message


EMPTY = {  # what is written on arrays with no elements: results
    "sums": lambda: [tf.reduce_sum(z(0, 3), 0), tf.reduce_sum(z(3, 0), 0), tf.reduce_prod(z(0)), tf.reduce_mean(z(0))],
    "largest": lambda: [tf.reduce_max(z(0, 3), 0), tf.reduce_any(z(0) > 1.0), tf.reduce_all(z(0) > 1.0)],
    "products": lambda: [tf.matmul(z(0, 3), z(3, 2)), tf.matmul(z(2, 0), z(0, 3)), tf.matmul(z(0, 2, 3), z(0, 3, 4))],
    "element-wise": lambda: [tf.tanh(z(0)) + tf.exp(z(0)) * 2.0, z(0, 3) + z(1, 3), tf.nn.relu(z(4, 0))],
    "softmax": lambda: [tf.nn.softmax(z(0, 5)), tf.nn.softmax(z(5, 0)), tf.nn.log_softmax(z(0, 5))],
    "convolution": lambda: [tf.nn.conv2d(z(0, 5, 5, 2), tf.ones([3, 3, 2, 4]), 1, "SAME")],
    "pooling": lambda: [tf.nn.max_pool(z(0, 4, 4, 2), 2, 2, "VALID"), tf.nn.avg_pool(z(0, 4, 4, 2), 2, 2, "VALID")],
    "arrays": lambda: [tf.concat([z(0, 2), tf.ones([1, 2])], 0), tf.transpose(z(0, 3)), tf.tile(z(0, 1), [2, 3])],
    "indices": lambda: [tf.gather(tf.ones([3, 2]), tf.zeros([0], tf.int32)), tf.boolean_mask(z(0), z(0) > 0.0)],
    "sorting": lambda: [tf.sort(z(0)), tf.cumsum(z(0, 3)), tf.nn.top_k(z(3, 0), 0)[0], tf.argsort(z(0, 3), axis=0)],
    "losses": lambda: [tf.nn.softmax_cross_entropy_with_logits_v2(labels=z(0, 3), logits=z(0, 3))],
    "gradients": lambda: tf.gradients(tf.reduce_sum(tf.tanh(tf.matmul(y := z(0, 3), tf.ones([3, 2])))), [y]),
    "bias": lambda: [tf.nn.bias_add(z(0, 3), tf.ones([3])), tf.nn.relu(tf.matmul(z(0, 3), tf.ones([3, 2])) + 1.0)],
    "splitting": lambda: [*tf.split(z(0, 4), 2, 1), *tf.unstack(z(2, 0))],
}


def z(*dims):
    """A tensor without elements that is not known before it runs."""
    return tf.placeholder_with_default(np.zeros(dims, "f"), dims)


@pytest.mark.parametrize("name", EMPTY)
def test_arrays_without_elements(config, name):
    with tf.Graph().as_default():
        with second(config):
            fetches = EMPTY[name]()
        with tf.Session(config=tf.ConfigProto(**OFF)) as plain:
            expected = plain.run(fetches) if not config.device_count else None
        with tf.Session(config=config) as session:
            for _ in range(2):
                got = session.run(fetches)
    for tensor, value in zip(fetches, got, strict=True):
        assert value.dtype == tensor.dtype.np and tensor.shape.is_compatible_with(np.shape(value))
    for one, other in zip(got, expected or got, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dims", [(0,), (3, 0)])
def test_arrays_without_elements_in_xla(dims):
    function = tf2.function(lambda x: (tf2.tanh(x) * 2.0, tf2.reduce_sum(x), tf2.concat([x, x], 0)), jit_compile=True)
    got = function(tf2.zeros(dims))
    assert got[0].shape == dims and float(got[1]) == 0 and got[2].shape == (2 * dims[0], *dims[1:])
