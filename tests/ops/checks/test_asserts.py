"""Assertions: what holds passes, what fails says so in TensorFlow's words, at once or when the operation runs.

Every wording was compared with TensorFlow 2.21's own.
"""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import dtypes, errors
from ebbflow.core.tensor import Reference
from ebbflow.graph.graph import Graph
from ebbflow.graph.placeholders import placeholder, placeholder_with_default
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.checks import asserts, shape_asserts, type_asserts
from ebbflow.ops.checks.numerics import check_numerics
from ebbflow.ops.reduce.reductions import reduce_all
from ebbflow.runtime.session import Session


def ones(*dims):
    return constant(np.ones(dims, np.float32))


HOLDS = {
    "Assert": lambda: asserts.Assert(True, ["never seen"]),
    "Assert of a list": lambda: asserts.Assert([False], ["a list that is not empty is true"]),
    "equal": lambda: asserts.assert_equal([1, 2], [1, 2]),
    "equal by broadcasting": lambda: asserts.assert_equal([[1, 1]], 1),
    "equal to itself": lambda: (lambda x: asserts.assert_equal(x, x))(constant(np.nan)),
    "equal strings": lambda: asserts.assert_equal("a", "a"),
    "equal, empty": lambda: asserts.assert_equal(np.zeros(0, np.float32), np.zeros(0, np.float32)),
    "none equal": lambda: asserts.assert_none_equal([1, 2], [2, 1]),
    "less": lambda: asserts.assert_less([1, 2], 3),
    "less equal": lambda: asserts.assert_less_equal([1, 3], 3),
    "greater": lambda: asserts.assert_greater(2.0, [1.0, -1.0]),
    "greater equal": lambda: asserts.assert_greater_equal([1, 3], 1),
    "positive": lambda: asserts.assert_positive([1, 2]),
    "negative": lambda: asserts.assert_negative([-1.0]),
    "non negative": lambda: asserts.assert_non_negative([0, 1]),
    "non positive": lambda: asserts.assert_non_positive([0, -1]),
    "near": lambda: asserts.assert_near([1.0, 2.0], [1.0, 2.1], rtol=0.1),
    "near in half": lambda: asserts.assert_near(constant([1.0], dtypes.float16), [1.002]),
    "near in bfloat16": lambda: asserts.assert_near(constant([1.0], dtypes.bfloat16), [1.01]),
    "near, complex": lambda: asserts.assert_near(1 + 1j, 1 + 1.0000000000000002j),
    "rank": lambda: shape_asserts.assert_rank([[1]], 2),
    "rank at least": lambda: shape_asserts.assert_rank_at_least([[1]], 1),
    "rank in": lambda: shape_asserts.assert_rank_in([[1]], (0, 2)),
    "scalar": lambda: shape_asserts.assert_scalar(1.5),
    "type": lambda: type_asserts.assert_type([1], dtypes.int32),
    "integer": lambda: type_asserts.assert_integer(constant(1, dtypes.uint8)),
    "proper iterable": lambda: type_asserts.assert_proper_iterable({1: 2}),
    "shapes": lambda: shape_asserts.assert_shapes([(ones(2, 3), ("N", 3)), (ones(2), ("N",)), (ones(3, 2), (3, "N"))]),
    "shapes by letters": lambda: shape_asserts.assert_shapes([(ones(3), "N"), (ones(3, 2), "NM")]),
    "shapes by reference": lambda: shape_asserts.assert_shapes({Reference(ones(2, 3)): ("N", None)}),
    "shapes from the end": lambda: shape_asserts.assert_shapes([(ones(5, 2, 3), (..., "M")), (ones(3), ("*", "M"))]),
    "a scalar as a vector": lambda: shape_asserts.assert_shapes(
        [(1.5, ("N",)), (ones(1), "N"), (ones(), ()), (2, (1,))]
    ),
    "no shapes": lambda: shape_asserts.assert_shapes([]),
}


@pytest.mark.parametrize("name", HOLDS)
def test_what_holds_passes(name):
    assert HOLDS[name]() is None


INVALID = errors.InvalidArgumentError
FAILS = {
    "Assert": (
        lambda: asserts.Assert(False, [1, "b"]),
        INVALID,
        "Expected 'False' to be true. Summarized data: 1\nb'b'",
    ),
    "Assert of a tensor": (
        lambda: asserts.Assert(constant(False), [constant([[1.5, 2.0], [3.0, 4.0]])]),
        INVALID,
        "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: 1.5, 2.0, 3.0, ...",
    ),
    "Assert summarized": (lambda: asserts.Assert(False, [[1, 2, 3]], 2), INVALID, "Summarized data: 1, 2, ..."),
    "Assert of no list": (lambda: asserts.Assert(False, constant([1])), TypeError, "values must be a sequence."),
    "equal": (
        lambda: asserts.assert_equal([1, 2, 3], [1, 3, 3], message="msg", summarize=1),
        INVALID,
        "msg\nCondition x == y did not hold.\nIndices of first 1 different values:\n[[1]]\n"
        "Corresponding x values:\n[2]\nCorresponding y values:\n[3]\n"
        "First 1 elements of x:\n[1]\nFirst 1 elements of y:\n[1]",
    ),
    "equal, matrix": (
        lambda: asserts.assert_equal([[1, 2], [3, 4]], [[9, 9], [9, 9]]),
        INVALID,
        "Condition x == y did not hold.\nIndices of first 3 different values:\n[[0 0]\n [0 1]\n [1 0]]\n"
        "Corresponding x values:\n[1 2 3]\nCorresponding y values:\n[9 9 9]\n"
        "First 3 elements of x:\n[1 2 3]\nFirst 3 elements of y:\n[9 9 9]",
    ),
    "equal by broadcasting": (
        lambda: asserts.assert_equal([1, 2], 1),
        INVALID,
        "Condition x == y did not hold.\nFirst 2 elements of x:\n[1 2]\nFirst 1 elements of y:\n[1]",
    ),
    "equal strings": (
        lambda: asserts.assert_equal(["a", "b"], ["a", "c"]),
        INVALID,
        "Condition x == y did not hold.\nIndices of first 1 different values:\n[[1]]\n"
        "Corresponding x values:\n[b'b']\nCorresponding y values:\n[b'c']\n"
        "First 2 elements of x:\n[b'a' b'b']\nFirst 2 elements of y:\n[b'a' b'c']",
    ),
    "equal with data": (
        lambda: asserts.assert_equal_v1([1, 2], [1, 3], data=["shown", constant(5)], message="m"),
        INVALID,
        "m\nshown\n5",
    ),
    "unlike shapes": (lambda: asserts.assert_equal([1, 2], [1, 2, 3]), INVALID, "Incompatible shapes: [2] vs. [3]"),
    "none equal": (lambda: asserts.assert_none_equal([1, 2], [1, 3]), INVALID, "Condition x != y did not hold."),
    "less": (lambda: asserts.assert_less([1, 2], [1, 3]), INVALID, "Condition x < y did not hold."),
    "less equal": (lambda: asserts.assert_less_equal(2, 1), INVALID, "Condition x <= y did not hold."),
    "greater": (lambda: asserts.assert_greater(1, 1), INVALID, "Condition x > y did not hold."),
    "greater equal": (lambda: asserts.assert_greater_equal(0.5, 1.0), INVALID, "Condition x >= y did not hold."),
    "positive": (
        lambda: asserts.assert_positive([0, 1], message="pos"),
        INVALID,
        "pos.  \nCondition x > 0 did not hold element-wise:\nx (shape=(2,) dtype=int32) = \n['0', '1']",
    ),
    "negative": (
        lambda: asserts.assert_negative(0),
        INVALID,
        "\nCondition x < 0 did not hold element-wise:\nx (shape=() ",
    ),
    "non negative": (lambda: asserts.assert_non_negative(-1), INVALID, "\nCondition x >= 0 did not hold element-wise:"),
    "non positive": (
        lambda: asserts.assert_non_positive([0, 1]),
        INVALID,
        "\nCondition x <= 0 did not hold element-wise:x (shape=(2,) dtype=int32) = \n['0', '1']",
    ),
    "not a number": (lambda: asserts.assert_non_negative([np.nan]), INVALID, "Condition x >= 0"),
    "near": (
        lambda: asserts.assert_near([1.0, 2.0], [1.0, 2.1], message="nn", summarize=1),
        INVALID,
        "Summarized data: b'nn.  '\nb'x and y not equal to tolerance rtol = tf.Tensor(1.1920929e-06, shape=(), "
        "dtype=float32), atol = tf.Tensor(1.1920929e-06, shape=(), dtype=float32)'\n"
        "b'x (shape=(2,) dtype=float32) = '\n1.0, ...\nb'y (shape=(2,) dtype=float32) = '\n1.0, ...",
    ),
    "near of integers": (lambda: asserts.assert_near(1, 1), ValueError, "not inexact"),
    "rank": (
        lambda: shape_asserts.assert_rank([1], 2, message="mm"),
        ValueError,
        "mm.  Tensor  must have rank 2.  Received rank 1, shape (1,)",
    ),
    "rank that is a vector": (lambda: shape_asserts.assert_rank([1], [2]), ValueError, "Rank must be a scalar."),
    "rank that is a float": (
        lambda: shape_asserts.assert_rank([1], 1.5),
        TypeError,
        "tensor must be of type tf.int32; got tf.float32",
    ),
    "rank at least": (
        lambda: shape_asserts.assert_rank_at_least([1], 2),
        ValueError,
        "Tensor  must have rank at least 2.  Received rank 1, shape (1,)",
    ),
    "rank in": (
        lambda: shape_asserts.assert_rank_in([1], (2, 3)),
        ValueError,
        "Tensor  must have rank in (2, 3).  Received rank 1, shape (1,)",
    ),
    "scalar": (
        lambda: shape_asserts.assert_scalar([1], message="mm"),
        ValueError,
        "mm.  Expected scalar shape, saw shape: (1,).",
    ),
    "type": (
        lambda: type_asserts.assert_type(constant(1), dtypes.float32, message="mm"),
        TypeError,
        "mm.  tensor must be of type tf.float32; got tf.int32",
    ),
    "integer": (
        lambda: type_asserts.assert_integer(1.5),
        TypeError,
        "Expected \"x\" to be integer type.  Found: tensor of dtype <dtype: 'float32'>",
    ),
    "a tensor is no proper iterable": (
        lambda: type_asserts.assert_proper_iterable(constant([1])),
        TypeError,
        'Expected argument "values" to be a "proper" iterable.',
    ),
    "a string is no proper iterable": (
        lambda: type_asserts.assert_proper_iterable("abc"),
        TypeError,
        "Found: <class 'str'>",
    ),
    "a number is no iterable": (
        lambda: type_asserts.assert_proper_iterable(5),
        TypeError,
        "Expected argument \"values\" to be iterable.  Found: <class 'int'>",
    ),
    "one symbol, two sizes": (
        lambda: shape_asserts.assert_shapes([(ones(2, 3), ("N", "N"))]),
        ValueError,
        "Specified by tensor shape=(2, 3) dtype=float32 dimension 0.  Tensor shape=(2, 3) dtype=float32 dimension 1 "
        "must have size 2.  Received size 3, shape (2, 3)",
    ),
    "another size": (
        lambda: shape_asserts.assert_shapes([(ones(2, 3), ("N", 4))], message="mm"),
        ValueError,
        "mm.  Specified explicitly.  Tensor shape=(2, 3) dtype=float32 dimension 1 must have size 4.  Received size 3",
    ),
    "counted from the end": (
        lambda: shape_asserts.assert_shapes([(ones(2, 3), (..., "M")), (ones(4), ("M",))]),
        ValueError,
        "Specified by tensor shape=(2, 3) dtype=float32 dimension -1.  Tensor shape=(4,)",
    ),
    "too few dimensions": (
        lambda: shape_asserts.assert_shapes([(ones(2, 3), ("*", "M", "Q", "R"))]),
        ValueError,
        "must have rank at least 3",
    ),
    "one name, two dimensions": (
        lambda: shape_asserts.assert_shapes([(ones(2, 3), ("N",))]),
        ValueError,
        "must have rank in (0, 1)",
    ),
    "no scalar": (
        lambda: shape_asserts.assert_shapes([(ones(2), ())]),
        ValueError,
        "must have size 1.  Received size 2",
    ),
    "the rest in the middle": (
        lambda: shape_asserts.assert_shapes([(ones(2, 3), ("N", ...))]),
        ValueError,
        "specified shape index 1.  Symbol `...` or `*`",
    ),
    "a number for a shape": (
        lambda: shape_asserts.assert_shapes([(ones(2, 3), 5)]),
        ValueError,
        "Specified shape must be an iterable.",
    ),
}


@pytest.mark.parametrize("name", FAILS)
def test_what_fails_says_so(name):
    fail, kind, words = FAILS[name]
    with pytest.raises(kind) as raised:
        fail()
    assert words in str(raised.value)


def test_one_float_dtype():
    one, other = constant(1.0), constant(2.0, dtypes.float64)
    same = type_asserts.assert_same_float_dtype
    assert same([one, None]) is same([]) is same() is dtypes.float32
    assert same([other]) is same([], dtypes.float64) is dtypes.float64
    with pytest.raises(ValueError, match="type=<dtype: 'float64'>, must be of the same type"):
        same([one, other])
    with pytest.raises(ValueError, match=r"must be of the same type \(<dtype: 'float64'>\)\."):
        same([one], dtypes.float64)
    with pytest.raises(ValueError, match="Expected floating point type, got <dtype: 'int32'>"):
        same(dtype=dtypes.int32)


@pytest.mark.parametrize(
    "x, non_decreasing, increasing",
    [
        ([1, 2, 2], True, False),
        ([1, 2, 3], True, True),
        ([3, 2], False, False),
        ([[1, 2], [3, 4]], True, True),
        ([], True, True),
        ([7], True, True),
        (np.array([5, 3], np.uint8), False, False),
    ],
)
def test_order(x, non_decreasing, increasing):
    assert bool(asserts.is_non_decreasing(x)) is non_decreasing
    assert bool(asserts.is_strictly_increasing(x)) is increasing


def test_order_of_strings_is_refused():
    with pytest.raises(TypeError, match="Expected x to be numeric"):
        asserts.is_non_decreasing(["a", "b"])


# --- in graphs --------------------------------------------------------------------------------------------------------


def run_assertion(make, feeds):
    """Build and run an assertion about the placeholders a: float [2, 3], n: int [?] and u: float of unknown rank."""
    with Graph().as_default() as graph:
        given = {
            "a": placeholder(dtypes.float32, [2, 3], name="a"),
            "n": placeholder(dtypes.int32, [None], name="n"),
            "u": placeholder(dtypes.float32, None, name="u"),
        }
        made = make(**given)
        with Session(graph=graph) as session:
            session.run(made, {given[name]: value for name, value in feeds.items()})
        return made


A = [[1, 2, 3], [4, 5, -1]]
RUN = {
    "Assert": (
        lambda a, n, u: asserts.Assert(reduce_all(a > 0), [a, "x", n]),
        {"a": A, "n": [3, 4, 5, 6]},
        {"a": np.abs(A), "n": [1]},
        "assertion failed: [[1 2 3]...] [x] [3 4 5...]",
    ),
    "Assert summarized": (
        lambda a, n, u: asserts.Assert(reduce_all(n > 3), [n], summarize=2),
        {"n": [3, 4, 5]},
        {"n": [4]},
        "assertion failed: [3 4...]",
    ),
    "equal": (
        lambda a, n, u: asserts.assert_equal(n, 3),
        {"n": [3, 4]},
        {"n": [3, 3]},
        "[Condition x == y did not hold element-wise:] [x (n:0) = ] [3 4] [y (assert_equal_1/y:0) = ] [3]",
    ),
    "equal with data": (
        lambda a, n, u: asserts.assert_equal_v1(n, 3, data=["q", n], message="mm", summarize=1),
        {"n": [3, 4]},
        {"n": [3]},
        "assertion failed: [mm] [q] [3...]",
    ),
    "positive": (
        lambda a, n, u: asserts.assert_positive(a),
        {"a": A},
        {"a": np.abs(A)},
        "assertion failed: [] [Condition x > 0 did not hold element-wise:] [x (a:0) = ] [[1 2 3]...]",
    ),
    "near": (
        lambda a, n, u: asserts.assert_near(a, 1.0),
        {"a": A},
        {"a": np.ones((2, 3))},
        'Tensor(\\"assert_near/rtol:0\\", shape=(), dtype=float32)',
    ),
    "rank": (
        lambda a, n, u: shape_asserts.assert_rank(u, 2, message="mm"),
        {"u": [1.0]},
        {"u": [[1.0]]},
        "assertion failed: [mm.  ] [Tensor u:0 must have rank] [2] [Received shape: ] [1]",
    ),
    "rank of the run": (
        lambda a, n, u: shape_asserts.assert_rank(a, n[0]),
        {"a": A, "n": [1]},
        {"a": A, "n": [2]},
        "[Tensor a:0 must have rank] [1] [Received shape: ] [2 3]",
    ),
    "rank at least": (
        lambda a, n, u: shape_asserts.assert_rank_at_least(u, 2),
        {"u": [1.0]},
        {"u": [[[1.0]]]},
        "[Tensor u:0 must have rank at least] [2]",
    ),
    "rank in": (
        lambda a, n, u: shape_asserts.assert_rank_in(u, [2, 3]),
        {"u": [1.0]},
        {"u": [[1.0]]},
        "[Tensor u:0 must have rank in] [2] [3] [Received shape: ] [1]",
    ),
    "shapes": (
        lambda a, n, u: shape_asserts.assert_shapes([(a, ("N", "M")), (n, ("N",))]),
        {"a": A, "n": [3, 4, 5, 6]},
        {"a": A, "n": [3, 4]},
        "[Specified by tensor a:0 dimension 0] [Tensor n:0 dimension] [0] [must have size] [2] [Received shape: ] [4]",
    ),
    "shapes of any rank": (
        lambda a, n, u: shape_asserts.assert_shapes([(u, ("N", 3)), (n, ("N",))]),
        {"u": [[1.0, 2.0, 3.0]], "n": [1, 2]},
        {"u": [[1.0, 2.0, 3.0]], "n": [1]},
        "[Specified by tensor u:0 dimension 0] [Tensor n:0 dimension] [0] [must have size] [1]",
    ),
    "shapes of another rank": (
        lambda a, n, u: shape_asserts.assert_shapes([(u, ("N", 3))]),
        {"u": [1.0]},
        {"u": [[1.0, 2.0, 3.0]]},
        "[Tensor u:0 must have rank] [2]",
    ),
    "shapes of a scalar": (
        lambda a, n, u: shape_asserts.assert_shapes([(u, ())]),
        {"u": [1.0, 2.0]},
        {"u": 5.0},
        "[Specified explicitly] [Tensor u:0 dimension] [0] [must have size] [1]",
    ),
}


@pytest.mark.parametrize("name", RUN)
def test_in_a_graph(name):
    make, wrong, right, words = RUN[name]
    assert isinstance(run_assertion(make, right), Operation)
    with pytest.raises(INVALID) as raised:
        run_assertion(make, wrong)
    assert words in raised.value.message


STATIC = {
    "equal": (lambda: asserts.assert_equal(constant([1, 2]), [1, 3], message="zz"), INVALID, "zz\nCondition x == y"),
    "shown with values": (lambda: asserts.assert_less(constant([1, 2]), [1, 3]), INVALID, "x (Const:0) = \n[1 2]\ny ("),
    "with data": (lambda: asserts.assert_less_v1(constant(1), 1, data=["dd", constant(5)]), INVALID, "dd\n5"),
    "rank": (
        lambda: shape_asserts.assert_rank(constant([1]), 3),
        ValueError,
        "Tensor Const:0 must have rank 3.  Received rank 1, shape (1,)",
    ),
    "scalar": (
        lambda: shape_asserts.assert_scalar(placeholder(dtypes.float32, name="u")),
        ValueError,
        "Expected scalar shape for u:0, saw shape: <unknown>.",
    ),
    "type": (
        lambda: type_asserts.assert_type(constant(1, name="c"), dtypes.float32),
        TypeError,
        "c:0 must be of type tf.float32; got tf.int32",
    ),
    "no scalar condition": (lambda: asserts.Assert(constant([True]), ["x"]), ValueError, "condition must be a scalar"),
}


@pytest.mark.parametrize("name", STATIC)
def test_what_constants_decide_fails_while_the_graph_is_built(name):
    fail, kind, words = STATIC[name]
    with Graph().as_default(), pytest.raises(kind) as raised:
        fail()
    assert words in str(raised.value)


def test_an_assertion_guards_what_depends_on_it():
    with Graph().as_default() as graph, Session() as session:
        x = placeholder(dtypes.float32, [None])
        with graph.control_dependencies([asserts.assert_positive(x)]):
            y = x * 2.0
        assert session.run(y, {x: [1.0]}).tolist() == [2.0]
        with pytest.raises(INVALID, match="did not hold"):
            session.run(y, {x: [0.0]})


def test_names():
    with Graph().as_default() as graph:
        x = placeholder(dtypes.float32, [None], name="x")
        n = placeholder(dtypes.int32, [None], name="n")
        assert asserts.Assert(reduce_all(x > 0), [x], name="named").name == "named/AssertGuard/Assert"
        assert asserts.assert_equal(n, 3).name == "assert_equal_1/Assert/Assert"
        assert asserts.assert_equal(n, n).name == "assert_equal_2/NoOp"
        assert shape_asserts.assert_rank(x, 1).name == "assert_rank/static_checks_determined_all_ok"
        assert type_asserts.assert_type(x, dtypes.float32).name == "assert_type/statically_determined_correct_type"
        assert "assert_equal_1/Assert/Assert/data_1" in [node.name for node in graph.get_operations()]


def test_check_numerics_ops():
    with Graph().as_default(), Session() as session:
        x = placeholder_with_default(np.float32([1.0, 0.0]), [2], name="x")
        y = 1.0 / x
        checks = asserts.add_check_numerics_ops()
        session.run(checks, {x: [1.0, 2.0]})
        with pytest.raises(INVALID, match=f"{y.name} : Tensor had Inf"):
            session.run(checks)
        with pytest.raises(INVALID, match="seen : Tensor had NaN"):
            session.run(check_numerics(y, "seen"), {x: [np.nan, 1.0]})
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        asserts.add_check_numerics_ops()


def test_shapes_of_sparse_tensors():
    x = tf.sparse.SparseTensor([[1], [2]], [1.0, 2.0], [500])
    tf.debugging.assert_shapes([(x, [500]), ([1.0, 2.0], ["N"])])
    tf.debugging.assert_shapes([(x, ["N"]), (tf.zeros([500]), ["N"])])
    with pytest.raises(ValueError, match="dimension 0 must have size 499"):
        tf.debugging.assert_shapes([(x, [499])])
    with pytest.raises(ValueError, match=r"must have rank 2.*Received rank 1"):
        tf.debugging.assert_shapes([(x, [None, None])])


def test_eager_tensors_in_a_function_need_no_name():
    one, pair = tf.constant(1), tf.constant([3.0, 3.5])
    checks = [
        (lambda: tf.debugging.assert_type(one, tf.float32, message="fail"), TypeError),
        (lambda: tf.debugging.assert_integer(pair, message="fail"), TypeError),
        (lambda: tf.debugging.assert_scalar(pair, message="fail"), ValueError),
        (lambda: tf.debugging.assert_rank(pair, 2, message="fail"), ValueError),
        (lambda: tf.debugging.assert_shapes([(pair, (3,))], message="fail"), ValueError),
    ]
    for check, error in checks:
        with pytest.raises(error, match="fail"):
            tf.function(check, autograph=False)()


def test_shapes_may_be_unknown_or_written_as_digits():
    x = tf.ones([2, 2])
    tf.debugging.assert_shapes([(x, None), (x, "22"), (x, "*2")])
    with pytest.raises(ValueError, match=r"Specified explicitly.  Tensor .* dimension 0 must have size 3"):
        tf.debugging.assert_shapes([(x, "3Q")])


def test_what_tensorflow_does_not_know_before_it_runs_fails_in_the_run():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant([2, 1])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x <= y"):
            tf.compat.v1.assert_less_equal(tf.cast(x, tf.int64), tf.ones([2], tf.int64))
        check = tf.compat.v1.assert_less_equal(tf.reshape(x, [-1]), 1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x <= y"):
            session.run(check)


def test_a_rank_that_turns_out_to_be_no_scalar():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        rank = tf.compat.v1.placeholder(tf.int32)
        check = tf.compat.v1.assert_rank(tf.constant([1.0, 2.0]), rank)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Rank must be a scalar"):
            session.run(check, {rank: [1, 2]})
