"""`tf.test.TestCase`: assertions that hold where they should and fail where they should, in both modes."""

import collections
import contextlib
import os
import subprocess
import sys
import unittest
from typing import ClassVar

import numpy as np
import pytest

import ebbflow as tf
from ebbflow import messages
from ebbflow.graph.graph import Graph
from ebbflow.testing import modes
from ebbflow.testing.benchmark import Benchmark
from ebbflow.testing.test_case import TestCase


@pytest.fixture
def case():
    test = TestCase("run")
    test.setUp()
    yield test
    test.tearDown()
    test.doCleanups()


def constant(value):
    return tf.constant(value)


HOLDS = [
    ("assertAllEqual", (tf.ragged.constant([[1], [2, 3]]), [[1], [2, 3]])),
    ("assertAllClose", (tf.ragged.constant([[1.0], []]), [[1.0 + 1e-8], []])),
    ("assertAllClose", ([1.0, 2.0], [1.0, 2.0 + 1e-7])),
    ("assertAllClose", ({"a": [1.0], "b": 2}, {"a": [1.0], "b": 2})),
    ("assertAllClose", ([[1.0], [2.0, 3.0]], [[1.0], [2.0, 3.0]])),
    ("assertAllClose", (float("nan"), float("nan"))),
    ("assertAllClose", (np.zeros((0, 3)), np.zeros((0, 3)))),
    ("assertAllEqual", ([1, 2], np.array([1, 2]))),
    ("assertAllEqual", (["a", b"b"], [b"a", "b"])),
    ("assertAllEqual", ([], [])),
    ("assertAllEqual", ([np.nan, 1.0], [np.nan, 1.0])),
    ("assertNotAllClose", ([1.0], [1.1])),
    ("assertNotAllEqual", ([1], [2])),
    ("assertAllGreater", ([1, 2], 0)),
    ("assertAllLess", ([1, 2], 3)),
    ("assertAllGreaterEqual", ([1, 2], 1)),
    ("assertAllLessEqual", ([1, 2], 2)),
    ("assertAllInRange", ([1.0, 2.0], 1.0, 2.0)),
    ("assertAllInSet", ([1, 2, 1], {1, 2})),
    ("assertNear", (1.0, 1.05, 0.1)),
    ("assertArrayNear", ([1.0, 2.0], [1.05, 2.0], 0.1)),
    ("assertNDArrayNear", (np.ones(3), np.ones(3), 1e-6)),
    ("assertAllCloseAccordingToType", (np.float16([1.0]), np.float16([1.0005]))),
    ("assertDTypeEqual", (np.zeros(2, np.float32), np.float32)),
    ("assertDeviceEqual", ("/cpu:0", "/device:CPU:0")),
    ("assertStartsWith", ("abc", "ab")),
    ("assertItemsEqual", ([1, 2, 2], [2, 1, 2])),
    ("assertLen", ([1, 2], 2)),  # absl's
]

FAILS = [
    ("assertItemsEqual", ([1, 2], [1, 2, 2])),
    ("assertLen", ([1, 2], 3)),
    ("assertAllClose", ([1.0], [1.001])),
    ("assertAllClose", ([1.0], [1.0, 1.0])),
    ("assertAllClose", ([1.0], [float("nan")])),
    ("assertAllClose", ({"a": 1}, {"b": 1})),
    ("assertAllEqual", ([1, 2], [1, 3])),
    ("assertAllEqual", ([1, 2], [[1, 2]])),
    ("assertAllEqual", (["a"], ["b"])),
    ("assertNotAllClose", ([1.0], [1.0])),
    ("assertNotAllEqual", ([1], [1])),
    ("assertAllGreater", ([1, 2], 1)),
    ("assertAllInRange", ([1.0, 2.0], 1.0, 2.0, False, True)),
    ("assertAllInSet", ([1, 3], {1, 2})),
    ("assertNear", (1.0, 1.2, 0.1)),
    ("assertNDArrayNear", (np.ones(3), np.zeros(3), 1e-6)),
    ("assertDTypeEqual", (np.zeros(2, np.float32), np.float64)),
    ("assertDeviceEqual", ("/cpu:0", "/gpu:0")),
    ("assertStartsWith", ("abc", "b")),
]


@pytest.mark.parametrize("name, args", HOLDS)
def test_holds(case, name, args):
    getattr(case, name)(*args)


@pytest.mark.parametrize("name, args", FAILS)
def test_fails(case, name, args):
    with pytest.raises(AssertionError):
        getattr(case, name)(*args)


def test_devices_that_there_are_not_are_the_cpu(case):
    with tf.Graph().as_default():
        with tf.device("/device:GPU:0"):
            doubled = tf.constant([1.0, 2.0]) * 2
        assert case.evaluate(doubled).tolist() == [2.0, 4.0]


def test_tensors_are_evaluated(case):
    case.assertAllClose(constant([1.0, 2.0]) * 2, [2.0, 4.0])
    case.assertShapeEqual(np.zeros((2, 3)), constant(np.zeros((2, 3))))
    assert case.evaluate({"a": constant(1), "b": [constant(2)]}) == {"a": 1, "b": [2]}
    with case.session() as session:
        assert session.run([constant(1), constant(2)]) == [1, 2]


def test_tensors_of_graphs_are_run(case):
    with Graph().as_default(), case.cached_session() as session:
        x = constant([1.0, 2.0]) * 2
        case.assertAllClose(x, [2.0, 4.0])
        assert case.evaluate(x).tolist() == session.run(x).tolist()
        with case.cached_session(use_gpu=False) as again:
            assert again is session
            assert constant(1).device == "/device:CPU:0"


def test_two_tensors_of_a_graph_are_of_one_run(case):
    with Graph().as_default(), tf.compat.v1.Session():
        x = tf.random.stateless_uniform([3], seed=[1, 2]) + tf.compat.v1.random_uniform([3])
        case.assertAllClose(x * 2, x + x)
        case.assertAllEqual(x, tf.identity(x))


def test_errors_of_ops_are_recognised(case):
    with case.assertRaisesOpError("not in"):
        tf.gather([0, 1, 2], 7)
    with pytest.raises(AssertionError), case.assertRaisesOpError("some other words"):
        tf.gather([0, 1, 2], 7)
    with pytest.raises(AssertionError, match="not raised"), case.assertRaisesOpError("x"):
        pass


def test_threads_are_checked(case):
    good = case.checkedThread(lambda: None)
    good.start()
    good.join()
    bad = case.checkedThread(lambda: 1 / 0)
    bad.start()
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        bad.join()


def test_rows_of_bytes_that_end_in_zeros(case):
    case.assertAllEqual([[b"\0"], [b"a", b"b\0"]], tf.ragged.constant([[b"\0"], [b"a", b"b\0"]]))
    with pytest.raises(AssertionError):
        case.assertAllEqual([[b"\0"], [b"a", b"b"]], tf.ragged.constant([[b"\0"], [b"a", b"b\0"]]))


def test_temporary_directories_are_removed():
    test = TestCase("run")
    place = test.get_temp_dir()
    assert os.path.isdir(place) and test.get_temp_dir() == place
    test.doCleanups()
    assert not os.path.exists(place)


def test_a_temporary_directory_that_the_process_stands_in_stays(monkeypatch):
    test = TestCase("run")
    place = test.get_temp_dir()
    monkeypatch.chdir(place)
    test.doCleanups()
    assert os.path.isdir(os.getcwd())


def test_what_absl_has_is_there(case):
    folder = case.create_tempdir()
    assert os.path.isdir(folder.full_path)
    with open(case.create_tempfile(content="text").full_path) as file:
        assert file.read() == "text"
    case.doCleanups()
    assert not os.path.exists(folder.full_path)
    with pytest.raises(AttributeError, match="no_such_method"):
        case.no_such_method()


def test_contexts_last_until_the_test_ends(case):
    seen = []

    @contextlib.contextmanager
    def noted():
        yield "entered"
        seen.append("left")

    assert case.enter_context(noted()) == "entered" and not seen
    case.doCleanups()
    assert seen == ["left"]


def test_messages(case):
    case.assertProtoEquals("name: 'a' op: 'Add'", messages.NodeDef(name="a", op="Add"))
    close = messages.TreeEnsemble(tree_weights=[0.1 * 5.3, 2.0])
    close.trees.add().nodes.add().leaf.scalar = 0.53000003
    case.assertProtoEquals("trees { nodes { leaf { scalar: 0.53 } } } tree_weights: [0.53, 2]", close)
    with pytest.raises(AssertionError):
        case.assertProtoEquals("trees { nodes { leaf { scalar: 0.5301 } } } tree_weights: [0.53, 2]", close)
    with pytest.raises(AssertionError):
        case.assertProtoEquals("name: 'b'", messages.NodeDef(name="a"))


class Recorded(TestCase):
    seen: ClassVar[list] = []

    @modes.run_in_graph_and_eager_modes
    def test_both(self):
        self.seen.append(("both", tf.executing_eagerly()))
        self.assertAllClose(tf.add(1.0, 2.0), 3.0)

    @modes.run_deprecated_v1
    def test_graph(self):
        self.seen.append(("graph", tf.executing_eagerly()))

    @modes.run_v1_only("needs TF 1")
    def test_first(self):
        self.seen.append(("first", None))

    @modes.run_gpu_only
    def test_gpu(self):
        self.seen.append(("gpu", None))


Recorded.__test__ = False  # run below, by unittest


def test_decorators_choose_the_mode():
    Recorded.seen.clear()
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Recorded).run(result)
    assert not result.failures and not result.errors, result.failures + result.errors
    assert sorted(Recorded.seen, key=str) == [("both", False), ("both", True), ("graph", False)]
    assert {test.id().rpartition(".")[2] for test, _ in result.skipped} == {"test_first", "test_gpu", "test_session"}


def test_class_decorators_reach_every_test():
    calls = []

    @modes.run_all_in_graph_and_eager_modes
    class Both(TestCase):
        def test_one(self):
            calls.append(tf.executing_eagerly())

    unittest.defaultTestLoader.loadTestsFromTestCase(Both).run(unittest.TestResult())
    assert calls == [False, True]


def test_garbage_and_tensors_left_behind_are_noticed(case):
    kept = []

    @modes.assert_no_new_tensors
    def clean(self):
        constant(1.0)

    @modes.assert_no_new_tensors
    def leaky(self):
        kept.append(constant(1.0))

    clean(case)
    with pytest.raises(AssertionError, match="not deallocated"):
        leaky(case)

    @modes.assert_no_garbage_created
    def cycle(self):
        item = []
        item.append(item)

    with pytest.raises(AssertionError, match="garbage collector"):
        cycle(case)


def test_benchmarks_report(capsys):
    class Session:
        def run(self, fetch, feed_dict=None):
            return fetch

    class Bench(Benchmark):
        def benchmark_it(self):
            return self.run_op_benchmark(Session(), "op", min_iters=3, extras={"k": 1})

    found = Bench().benchmark_it()
    assert found["iters"] == 3 and found["name"] == "Bench.benchmark_it"
    assert "Bench.benchmark_it" in capsys.readouterr().out


def test_a_class_of_tests_that_build_graphs():
    seen = []

    @modes.deprecated_graph_mode_only
    class Built(TestCase):
        def test_graph(self):
            seen.append(tf.executing_eagerly())

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Built).run(result)
    assert not result.errors and seen == [False]


def test_what_setup_builds_is_alone_in_its_graph():
    names = []

    @modes.deprecated_graph_mode_only
    class Each(TestCase):
        def setUp(self):
            super().setUp()
            names.append(tf.compat.v1.placeholder(tf.float32, name="x").op.name)

        def test_one(self):
            assert not tf.executing_eagerly()

        test_two = test_one

    for name in ("test_one", "test_two"):
        assert not Each(name).run().errors
    assert names == ["x", "x"]


def test_a_test_is_left_out_where_a_condition_holds(case):
    ran = []

    @tf.test.disable_with_predicate(pred=lambda: bool(ran), skip_message="once is enough")
    def test(self):
        ran.append(self)

    test(case)
    with pytest.raises(unittest.SkipTest, match="once is enough"):
        test(case)
    assert ran == [case]


def test_python_objects_that_a_test_leaves_behind(case):
    kept = []

    @modes.assert_no_new_pyobjects_executing_eagerly()
    def leaves_nothing(self):
        assert tf.executing_eagerly()
        tf.constant([1.0]) + 1.0

    @modes.assert_no_new_pyobjects_executing_eagerly(warmup_iters=1)
    def leaves_lists(self):
        kept.append([[]])

    leaves_nothing(case)
    with pytest.raises(AssertionError, match=r"not deallocated.*list"):
        leaves_lists(case)


def test_a_graph_test_inside_both_modes_stays_in_the_graph_of_its_session():
    graphs = []

    class Case(tf.test.TestCase):
        @modes.run_in_graph_and_eager_modes
        @modes.run_deprecated_v1
        def test_sum(self):
            graphs.append(tf.compat.v1.get_default_graph())
            assert self.evaluate(tf.constant(1) + 2) == 3

    result = unittest.TestResult()
    Case("test_sum").run(result)
    assert not result.errors and not result.failures and len(set(graphs)) == 2


def test_what_a_class_of_graph_tests_sets_up_is_in_the_graph():
    eagerly = []

    @modes.run_deprecated_v1
    class Case(tf.test.TestCase):
        def setUp(self):
            super().setUp()
            eagerly.append(tf.executing_eagerly())
            self.constant = tf.constant(1)

        def test_sum(self):
            with self.session() as session:
                assert session.run(self.constant + 2) == 3

    result = unittest.TestResult()
    Case("test_sum").run(result)
    assert not result.errors and not result.failures and eagerly == [False]


def test_types_compare_with_their_names(case):
    case.assertAllEqual(tf.constant(1.0).dtype, "float32")
    case.assertAllEqual(np.array(["a", b"b"], object), ["a", "b"])
    with pytest.raises(AssertionError, match="not equal"):
        case.assertAllEqual(tf.constant(1.0).dtype, "uint8")


def test_a_named_tuple_is_compared_with_a_plain_one():
    pair = collections.namedtuple("pair", ["c", "h"])
    case = tf.test.TestCase()
    case.assertAllClose((pair(1.0, 2.0), pair([3.0], [4.0])), ((1.0, 2.0), ([3.0], [4.0])))
    case.assertAllClose(pair(1.0, [2.0, 3.0]), pair(1.0, [2.0, 3.0]))
    with pytest.raises(AssertionError, match="not close"):
        case.assertAllClose((pair(1.0, 2.0),), ((1.0, 2.5),))
    with pytest.raises(ValueError, match="Can't compare dict to non-dict"):
        case.assertAllClose({"c": 1.0}, [1.0])


def test_channels_are_moved_in_shapes_and_tensors():
    assert modes.NHWCToNCHW([1, 2, 3, 4]) == [1, 4, 2, 3] and modes.NCHWToNHWC([1, 2, 3, 4, 5]) == [1, 3, 4, 5, 2]
    moved = modes.NHWCToNCHW(tf.ones([1, 2, 3, 4]))
    assert moved._shape_as_list() == [1, 4, 2, 3] and modes.NCHWToNHWC(moved).shape == (1, 2, 3, 4)


def test_flags_say_where_tests_put_their_files():
    code = "import ebbflow as tf; tf.test.TestCase; F = tf.compat.v1.flags.FLAGS; print(F.test_tmpdir, F.test_srcdir)"
    told = {**os.environ, "TEST_TMPDIR": "/some/where", "TEST_SRCDIR": "/other"}
    said = subprocess.run([sys.executable, "-c", code], env=told, capture_output=True, text=True, timeout=120)
    assert said.stdout.split() == ["/some/where", "/other"], said.stderr


def test_serialized_graphs_are_told_apart():
    def graph(*values):
        with tf.Graph().as_default() as made:
            for value in values:
                tf.constant(value, name=f"c{value // 10}")
        return made.as_graph_def().SerializeToString()

    assert modes.graph_def_difference(graph(10, 20), graph(10, 20)) == b""
    assert b"Did not find expected node '{{node c2}}'" in modes.graph_def_difference(graph(10), graph(10, 20))
    assert b"Found unexpected node '{{node c2}}'" in modes.graph_def_difference(graph(10, 20), graph(10))
    assert modes.graph_def_difference(graph(10), graph(11)).startswith(b"Node 'c1' is ")


def test_what_is_run_in_a_graph_gives_what_it_gives(case):
    @modes.run_deprecated_v1
    def made(self, number):
        return tf.executing_eagerly(), number

    assert made(case, 3) == (False, 3)
