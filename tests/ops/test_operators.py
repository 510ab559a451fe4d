"""Python's operators on tensors, both ways round, with tensors, numbers, lists and arrays on the other side."""

import contextlib
import operator

import numpy as np
import pytest

import ebbflow as tf

BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
]
LEFT = np.array([1.5, 2.0, 3.5], np.float32)
RIGHT = np.array([2.0, 2.0, 0.5], np.float32)


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize(
    "other",
    [tf.constant(RIGHT), RIGHT, RIGHT.tolist(), 2.0, 2, np.float32(2), np.float64(2), RIGHT.astype(np.float64)],
    ids=lambda o: type(o).__name__,
)  # fmt: skip
def test_both_ways_round(op, other):
    array = np.asarray(other, np.float32)
    for _ in range(3):  # the first call of a dtype goes the long way, the others the quick one
        for ours, theirs in (
            (op(tf.constant(LEFT), other), op(LEFT, array)),
            (op(other, tf.constant(LEFT)), op(array, LEFT)),
        ):
            assert isinstance(ours, tf.Tensor)
            np.testing.assert_allclose(ours.numpy(), theirs, 1e-6)
            assert ours.dtype.name == np.asarray(theirs).dtype.name


@pytest.mark.parametrize("op", BINARY[:6])
def test_integers(op):
    x, y = np.array([7, -7, 8], np.int32), np.array([2, 2, -3], np.int32)
    for _ in range(2):
        result = op(tf.constant(x), tf.constant(y))
        np.testing.assert_array_equal(result.numpy(), op(x, y))
        assert result.dtype == (tf.float64 if op is operator.truediv else tf.int32)


def test_a_number_kept_as_a_scalar_is_the_right_one_next_time():
    x, n = tf.constant([1.0]), tf.constant([1])
    for _ in range(2):
        assert (x * 2).numpy().tolist() == [2.0]
        assert (x * 2.0).numpy().tolist() == [2.0]
        assert (n * 2).numpy().tolist() == [2]
        assert (x + True).numpy().tolist() == [2.0]
        assert np.signbit((x * 0.0).numpy()).tolist() == [False]
        assert np.signbit((x * -0.0).numpy()).tolist() == [True]
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            n * 2.0
    for i in range(200):
        assert (x * i).numpy().tolist() == [float(i)]


REFUSED = [
    (lambda: tf.constant(1) + 1.5, "expected to be a int32 tensor"),
    (lambda: tf.constant(1.0) + tf.constant(1), "expected to be a float tensor"),
    (lambda: tf.constant(1.0) + "a", "string"),
    (lambda: tf.constant(True) + tf.constant(True), "not in list of allowed values"),
    (lambda: tf.constant(1) // 0, "Integer division by zero"),
    (lambda: tf.constant([1.0, 2.0]) * tf.constant([1.0, 2.0, 3.0]), r"Incompatible shapes: \[2\] vs. \[3\]"),
    (lambda: tf.constant(1.0) + None, "None"),
    (lambda: tf.constant(True) & 1, "bool"),
]


@pytest.mark.parametrize("expression, says", REFUSED)
def test_refusals(expression, says):
    for _ in range(2):
        with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError), match=says):
            expression()


def test_logic_for_booleans_and_bits_for_integers():
    p, q = tf.constant([True, True, False]), tf.constant([True, False, False])
    assert (p & q).numpy().tolist() == [True, False, False]
    assert (p | q).numpy().tolist() == [True, True, False]
    assert (p ^ q).numpy().tolist() == [False, True, False]
    assert (~p).numpy().tolist() == [False, False, True]
    assert (True & q).numpy().tolist() == [True, False, False]
    n = tf.constant([6, 5])
    assert (n & 3).numpy().tolist() == [2, 1]
    assert (n | 1).numpy().tolist() == [7, 5]
    assert (n ^ 7).numpy().tolist() == [1, 2]
    assert (~n).numpy().tolist() == [-7, -6]


def test_one_operand():
    x = tf.constant([-1.5, 2.0])
    assert (-x).numpy().tolist() == [1.5, -2.0]
    assert (+x).numpy().tolist() == [-1.5, 2.0]
    assert abs(x).numpy().tolist() == [1.5, 2.0]


class TestEquality:
    def test_by_element(self):
        x = tf.constant([1, 2, 3])
        assert (x == 2).numpy().tolist() == [False, True, False]
        assert (x != [1, 2, 4]).numpy().tolist() == [False, False, True]
        assert (x == 2).numpy().tolist() == [False, True, False]
        assert (tf.constant("a") == "a").numpy()

    def test_shapes_that_do_not_fit_are_unequal(self):
        assert not (tf.constant([1, 2, 3]) == tf.constant([1, 2])).numpy()
        assert (tf.constant([1, 2, 3]) != tf.constant([1, 2])).numpy()

    def test_none_is_never_equal(self):
        assert (tf.constant(1) == None) is False  # noqa: E711
        assert (tf.constant(1) != None) is True  # noqa: E711

    def test_dtypes_must_agree(self):
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            tf.constant(1) == tf.constant(1.0)  # noqa: B015

    def test_nodes_of_a_plain_graph_compare_by_identity(self):
        with tf.Graph().as_default():
            a, b = tf.constant(1), tf.constant(1)
            assert (a == a) is True
            assert (a == b) is False
            assert (a != b) is True
            assert a in {a}


def test_numpy_on_the_left_gives_a_tensor():
    array = np.arange(3.0)
    assert isinstance(array + tf.constant([1.0, 2.0, 3.0]), tf.Tensor)
    assert isinstance(np.float64(2) * tf.constant(1.0), tf.Tensor)
    assert (tf.constant([1.5, 2.0]) * np.array([True, False])).numpy().tolist() == [1.5, 0.0]


def test_another_class_may_answer_for_the_right_side():
    class Answers:
        def __radd__(self, other):
            return "answered"

    assert tf.constant(1.0) + Answers() == "answered"


def test_the_quick_way_is_recorded():
    x = tf.constant([2.0])
    _ = x * 3.0, 1.0 - x, x / x
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = (x * 3.0) * x + (1.0 - x) / x
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [6 * 2.0 - 1 / 4.0])


REMEDIES = [
    (1, 1.5, "Write tf.cast(x, tf.float32) to convert it."),  # the other way round the fractions would be lost
    (1.5, 1, "Write tf.cast(y, tf.float32) to convert it."),
    (1, np.int64(1), "Write tf.cast(y, tf.int32) to convert it."),
    (1, "a", "but is a string tensor. [Op:AddV2]"),  # no cast does that
]


@pytest.mark.parametrize("x, y, says", REMEDIES)
def test_the_error_says_which_cast_to_write(x, y, says):
    with pytest.raises(TypeError) as raised:
        tf.constant(x) + tf.constant(y)
    assert says in str(raised.value) and isinstance(raised.value, tf.errors.InvalidArgumentError)


class Answers:
    """The right side of an operator, which says what it is told to, or raises it."""

    def __init__(self, answer):
        self.answer = answer

    def __radd__(self, other):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("graph", [False, True])
def test_the_right_side_is_asked_where_a_tensor_cannot_take_it(graph):
    with tf.Graph().as_default() if graph else contextlib.nullcontext():
        one = tf.constant([1])
        assert one + Answers("said") == "said"
        for silent in (Answers(NotImplemented), Answers(TypeError("not this")), object()):
            with pytest.raises((TypeError, ValueError), match="convert"):
                one + silent


def test_a_sparse_tensor_is_scaled_from_both_sides():
    cells = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    for product in (cells * [[3.0]], tf.constant([[3.0]]) * cells):
        assert isinstance(product, tf.SparseTensor) and product.values.numpy().tolist() == [3.0, 6.0]
    whole = tf.sparse.from_dense([[1, 0], [0, 2]]) / tf.constant([2])
    assert whole.values.dtype == tf.float64 and whole.values.numpy().tolist() == [0.5, 1.0]
    with tf.Graph().as_default():
        assert isinstance(tf.constant([[3.0]]) * tf.SparseTensor([[0, 0]], [1.0], [1, 1]), tf.SparseTensor)
