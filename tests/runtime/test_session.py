"""Sessions: fetches, feeds, callables, threads, errors with node and line."""

from __future__ import annotations

import collections
import threading

import numpy as np
import pytest

import ebbflow as tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


Point = collections.namedtuple("Point", "x y")


def test_fetch_structures(graph):
    a, b = tf.constant(1.0, name="a"), tf.constant([2, 3], name="b")
    with v1.Session() as sess:
        assert sess.run(a) == 1.0 and sess.run("a:0") == 1.0 and sess.run(a.op) is None and sess.run("a") is None
        assert sess.run([a, [b]])[1][0].tolist() == [2, 3]
        assert sess.run(Point(a, a)) == Point(1.0, 1.0)
        got = sess.run(collections.OrderedDict([("z", a), ("y", (a, {"k": b}))]))
        assert list(got) == ["z", "y"] and got["y"][1]["k"].tolist() == [2, 3]
        assert sess.run([]) == [] and isinstance(sess.run((a,)), tuple)
        assert isinstance(sess.run(a), np.float32) and isinstance(sess.run(b), np.ndarray)


def test_any_tensor_can_be_fed(graph):
    a = tf.constant(1.0)
    b = a * 2.0
    c = b + 1.0
    with v1.Session() as sess:
        assert sess.run(c) == 3.0 and sess.run(c, {b: 10.0}) == 11.0 and sess.run([b, c], {b: 5.0}) == [5.0, 6.0]
        assert sess.run(c, {"mul:0": 7.0}) == 8.0


def test_values_handed_out_are_the_users_own(graph):
    const = tf.constant([1.0, 2.0])
    fed = v1.placeholder(tf.float32, [2])
    with v1.Session() as sess:
        got = sess.run(const)
        got[:] = 9.0
        assert sess.run(const).tolist() == [1.0, 2.0]
        mine = np.array([3.0, 4.0], np.float32)
        out = sess.run(tf.identity(fed), {fed: mine})
        out[:] = 0.0
        assert mine.tolist() == [3.0, 4.0]


#           levels, what is fed, what is written on it, what comes back
RAGGED = [
    (1, [[1.0], [2.0, 3.0]], lambda r: r * 2.0, [[2.0], [4.0, 6.0]]),
    (1, [[1.0], [2.0, 3.0]], lambda r: r[:, 1:], [[], [3.0]]),
    (2, [[[1.0]], [[2.0, 3.0], []]], lambda r: r + 1.0, [[[2.0]], [[3.0, 4.0], []]]),
    (1, [[], [1.0, 2.0]], lambda r: tf.map_fn(lambda row: row + 1.0, r), [[], [2.0, 3.0]]),
]


@pytest.mark.parametrize(("levels", "fed", "write", "wanted"), RAGGED)
def test_ragged_tensors_are_fed_and_fetched(graph, levels, fed, write, wanted):
    r = v1.ragged.placeholder(tf.float32, levels, [])
    value = v1.ragged.constant_value(fed, dtype="float32")
    y = write(r)
    with v1.Session() as sess:
        for _ in range(3):
            got = sess.run({"y": y, "r": r}, {r: value})
            assert isinstance(got["y"], v1.ragged.RaggedTensorValue) and got["y"].to_list() == wanted
            assert got["r"].to_list() == fed and str(got["r"]) == f"<tf.RaggedTensorValue {fed}>"
        with pytest.raises(TypeError, match="is fed a RaggedTensorValue"):
            sess.run(y, {r: fed})


# use, error, words
REFUSED = [
    (lambda s, x: s.run(None), TypeError, "None"),
    (lambda s, x: s.run(3), TypeError, "must be a string or Tensor"),
    (lambda s, x: s.run("nope:0"), ValueError, "cannot be interpreted as a Tensor"),
    (lambda s, x: s.run(x * 1.0), tf.errors.InvalidArgumentError, "You must feed a value for placeholder tensor 'x'"),
    (lambda s, x: s.run(x * 1.0, {x: np.zeros((3, 4))}), ValueError, r"Cannot feed value of shape \(3, 4\)"),
    (lambda s, x: s.run(x * 1.0, {x: "text"}), (ValueError, TypeError), "text"),
    (lambda s, x: s.run(x * 1.0, {"y:0": 1.0}), TypeError, "Cannot interpret feed_dict key as Tensor"),
    (lambda s, x: s.run(x * 1.0, {x: x}), TypeError, "cannot be a tf.Tensor"),
    (lambda s, x: s.run(x * 1.0, [1.0]), TypeError, "dictionary"),
    (lambda s, x: s.run(tf.Graph), TypeError, "type"),
]


@pytest.mark.parametrize(("use", "error", "words"), REFUSED)
def test_refusals(graph, use, error, words):
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    with v1.Session() as sess, pytest.raises(error, match=words):
        use(sess, x)


def test_foreign_tensors_closed_sessions_and_empty_graphs():
    with tf.Graph().as_default():
        mine = tf.constant(1.0)
        sess = v1.Session()
    with tf.Graph().as_default():
        other = tf.constant(1.0)
        with pytest.raises(ValueError, match="not an element of this graph"):
            sess.run(other)
    sess.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        sess.run(mine)
    with tf.Graph().as_default(), v1.Session() as sess, pytest.raises(RuntimeError, match="graph is empty"):
        sess.run([])


def test_errors_name_the_node_and_the_users_line(graph):
    x = v1.placeholder(tf.float32, None, name="x")
    y = tf.matmul(x, x, name="product")
    with v1.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(y, {x: np.zeros((2, 3))})
    assert caught.value.op is y.op and caught.value.node_def.name == "product"
    assert "{{node product}}" in caught.value.message and "test_session.py:" in caught.value.message
    assert "float32[2, 3]" in caught.value.message


def test_default_sessions(graph):
    x = tf.constant(4.0)
    with pytest.raises(ValueError, match="No default session"):
        x.eval()
    with v1.Session():
        assert x.eval() == 4.0 and v1.get_default_session() is not None
    sess = v1.InteractiveSession()
    assert x.eval() == 4.0
    sess.close()
    assert v1.get_default_session() is None


def test_make_callable(graph):
    a, b = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
    with v1.Session() as sess:
        add = sess.make_callable(a + b, [a, b])
        assert add(1.0, 2.0) == 3.0
        with pytest.raises(ValueError, match="2 feeds"):
            add(1.0)


def test_concurrent_runs(graph):
    x = v1.placeholder(tf.float32, [])
    y = x
    for _ in range(20):
        y = y + 1.0
    wrong = []
    with v1.Session() as sess:

        def work(n):
            for i in range(100):
                value = float(n * 1000 + i)
                if sess.run(y, {x: value}) != value + 20:
                    wrong.append(value)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not wrong


def test_only_what_is_needed_runs(graph):
    ran = []
    a = v1.placeholder(tf.float32, [])
    used = tf.numpy_function(lambda v: (ran.append("used"), v)[1], [a], tf.float32)
    tf.numpy_function(lambda v: (ran.append("unused"), v)[1], [a], tf.float32)
    with v1.Session() as sess:
        sess.run(used, {a: 1.0})
    assert ran == ["used"]


def test_list_devices_and_config(graph):
    config = v1.ConfigProto(allow_soft_placement=True, gpu_options=v1.GPUOptions(allow_growth=True))
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    with v1.Session(config=config) as sess:
        assert [d.device_type for d in sess.list_devices()] == ["CPU"]
    with pytest.raises(TypeError, match="ConfigProto"):
        v1.Session(config={"a": 1})
    with pytest.raises(tf.errors.NotFoundError):
        v1.Session("other://somewhere")


def test_a_control_input_added_later_counts(graph):
    v = tf.Variable(1.0)
    read = v.read_value()
    step = v.assign(5.0, read_value=False)
    with v1.Session() as sess:
        sess.run(v.initializer)
        sess.run(read)
        read.op.inputs[0].op._add_control_input(step) if read.op.type == "Identity" else read.op._add_control_input(
            step
        )
        assert sess.run(read) == 5.0


def test_a_cycle_is_an_error(graph):
    a = tf.constant(1.0)
    b = tf.identity(a)
    c = tf.identity(b)
    b.op._add_control_input(c.op)
    with v1.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="cycle"):
        sess.run(c)


@pytest.mark.parametrize("use_resource", [False, True])
def test_an_error_shows_a_variable_among_the_operands_by_its_own_shape(use_resource):
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", [3, 2], initializer=v1.ones_initializer(), use_resource=use_resource)
        x = v1.placeholder(tf.float32, None, name="x")
        update = v1.assign_sub(w, x)
        session.run(w.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(update, {x: np.ones(5)})
    assert "float32[3, 2]   variable 'w'" in str(caught.value)
    assert "x:0: float32[5]   made by Placeholder" in str(caught.value)


def test_keys_of_feeds_may_be_nested():
    with tf.Graph().as_default(), v1.Session() as session:
        cell = v1.nn.rnn_cell.MultiRNNCell([v1.nn.rnn_cell.LSTMCell(2) for _ in range(2)])
        state = cell.zero_state(1, tf.float32)
        packed = tf.identity(state, "state")  # tuples with names are packed like others
        assert packed.shape == [2, 2, 1, 2]
        values = [[np.full([1, 2], 1.0), np.full([1, 2], 2.0)], [np.full([1, 2], 3.0), np.full([1, 2], 4.0)]]
        assert session.run(packed, {state: values})[:, :, 0, 0].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_states_of_cells_among_the_fetches_are_prepared_once():
    with tf.Graph().as_default(), v1.Session() as session:
        State = collections.namedtuple("State", "c h")
        state = State(tf.constant(1.0), tf.constant(2.0))
        for _ in range(2):
            assert session.run([(state,)]) == [(State(1.0, 2.0),)]
        assert len(session._runners) == 1
