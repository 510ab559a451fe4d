"""`tf.test.TestCase`: unittest with tensors, in eager mode or in sessions.

Knows sessions, graphs and structures. Values are compared as NumPy arrays: tensors are evaluated first, wherever they
come from.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import random
import re
import shutil
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn
from unittest import mock

import numpy as np

from ebbflow import messages
from ebbflow.core import context, dtypes, errors, nest
from ebbflow.core.device import canonical_name
from ebbflow.core.shape import as_shape
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.sparse import SparseTensor, SparseTensorValue
from ebbflow.core.tensor import EagerTensor, is_tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, Message, Nested, TensorLike
from ebbflow.graph.graph import get_default_graph, process_default, reset_default_graph
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.ragged.value import RaggedTensorValue
from ebbflow.ops.random.seeds import set_random_seed
from ebbflow.platform import app
from ebbflow.runtime.fetches import IndexedSlicesValue
from ebbflow.runtime.session import Session, get_default_session
from ebbflow.testing.checked_threads import CheckedThread
from ebbflow.testing.modes import placed, soft
from ebbflow.testing.rounded_messages import rounded

if TYPE_CHECKING:
    from ebbflow.graph.graph import Graph


__all__ = ["mock"]

SEED = 87654321
"""What Python's, NumPy's and the graph's random numbers start from in every test."""

_temp_dirs: list[str] = []

INCOMPATIBLE_SHAPES = "Incompatible shapes|Dimensions must be equal|required broadcastable shapes"
"""How errors speak of shapes that do not go together: when they run, when they are built, compiled."""


class TestCase(unittest.TestCase):
    """A test case whose assertions take tensors, arrays and nested structures of both.

    >>> case = TestCase()
    >>> case.assertAllClose([1.0, 2.0], [1.0, 2.0 + 1e-9])
    >>> case.assertAllEqual([1, 2], [1, 2])
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._tempdir: str | None = None
        self._cached_session: Any = None

    def __getattr__(self, name: str) -> Any:
        # what TensorFlow's class inherits from absl's: taken from absl where somebody uses it
        if not name.startswith("__"):
            with contextlib.suppress(ImportError):
                from absl.testing import absltest

                if not absltest.FLAGS.is_parsed():  # its folders are a flag's
                    absltest.FLAGS.mark_as_parsed()
                if name in vars(absltest.TestCase):
                    own = vars(absltest.TestCase)[name]
                    return own.__get__(self, type(self)) if hasattr(own, "__get__") else own
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def fail(self, msg: object | None = None, user_msg: object = None) -> NoReturn:
        """Fail with a message, and a second one of the caller's where there is one, as absl's assertions give it."""
        super().fail(msg if user_msg is None else f"{msg} : {user_msg}")

    def setUp(self) -> None:
        """Start from the same random numbers and an empty default graph."""
        self._clear_cached_session()
        random.seed(SEED)
        np.random.seed(SEED)
        if all(scope in (context.EAGER, process_default()) for scope in context.thread.scopes):
            reset_default_graph()
            if context.executing_eagerly():
                set_random_seed(SEED)
            else:
                get_default_graph().seed = SEED
        super().setUp()

    def tearDown(self) -> None:
        """Let the threads of the test end, and its session."""
        for thread in self._threads:
            thread.check_termination()
        self._clear_cached_session()
        super().tearDown()

    def get_temp_dir(self) -> str:
        """Return a directory of this test's own."""
        if self._tempdir is None:
            self._tempdir = tempfile.mkdtemp(prefix=f"{type(self).__name__}_")
            self.addCleanup(_remove, self._tempdir)
        return self._tempdir

    def enter_context(self, manager: contextlib.AbstractContextManager[Any]) -> object:
        """Enter a context for the rest of this test, and return what it gives."""
        entered = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return entered

    # -- running ops

    def evaluate(self, tensors: Nested) -> Nested:
        """Return the values of tensors, in the structure they are given in."""
        if context.executing_eagerly():
            return nest.map_structure(self._value_now, tensors)
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.cached_session() as own:
            return own.run(tensors)

    def _value_now(self, tensor: Any) -> Any:
        if callable(tensor) and not is_tensor(tensor) and not hasattr(tensor, "numpy"):
            return self.evaluate(tensor())
        if isinstance(tensor, IndexedSlices):
            return IndexedSlicesValue(*map(self._value_now, (tensor.values, tensor.indices, tensor.dense_shape)))
        if isinstance(tensor, SparseTensor):
            parts = (tensor.indices, tensor.values, tensor.dense_shape)
            return SparseTensorValue(*(self._value_now(part) for part in parts))
        if isinstance(tensor, RaggedTensor):
            return RaggedTensorValue(self._value_now(tensor.values), self._value_now(tensor.row_splits))
        return tensor.numpy() if hasattr(tensor, "numpy") else tensor

    @contextlib.contextmanager
    def session(
        self, graph: Graph | None = None, config: Message | None = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[Any]:
        """Open a session for the block; in eager mode, nothing is opened and None is given."""
        if context.executing_eagerly():
            yield EagerSession(self)
            return
        config = soft(config, force_gpu)
        with Session(graph=graph, config=config) as opened, opened.graph.as_default(), placed(opened.graph, use_gpu):
            yield opened

    @contextlib.contextmanager
    def cached_session(
        self, graph: Graph | None = None, config: Message | None = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[Any]:
        """Open a session, the same one each time within a test."""
        if context.executing_eagerly():
            yield EagerSession(self)
            return
        if self._cached_session is None:
            self._cached_session = Session(graph=graph, config=soft(config, force_gpu))
        cached = self._cached_session
        with cached.graph.as_default(), cached.as_default(), placed(cached.graph, use_gpu):
            yield cached

    def test_session(
        self, graph: Graph | None = None, config: Message | None = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> contextlib.AbstractContextManager[Any]:
        """Open a session: the test's own, or one for a given graph."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")  # runners take it for one, by its name
        opened = self.cached_session if graph is None else self.session
        return opened(graph, config, use_gpu, force_gpu)

    def _clear_cached_session(self) -> None:
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None

    def checkedThread(
        self, target: Callable[..., Any], args: Nested = None, kwargs: Mapping[str, Any] | None = None
    ) -> CheckedThread:
        """Return a thread whose error, if any, fails the test when it is joined."""
        thread = CheckedThread(self, target, args or (), kwargs or {})
        self._threads.append(thread)
        return thread

    @contextlib.contextmanager
    def captureWritesToStream(self, stream: object) -> Iterator[Any]:
        """Catch what is written to standard output or error inside the block."""
        name = "stdout" if stream is sys.stdout else "stderr"
        caught = _Caught()
        with mock.patch.object(sys, name, caught):
            yield caught

    # -- comparing values

    def _array(self, value: Any) -> np.ndarray:
        if isinstance(value, EagerTensor):
            value = value.numpy()
        elif is_tensor(value) or hasattr(value, "read_value"):
            value = self.evaluate(value)
        if isinstance(value, IndexedSlices):
            raise TypeError("compare the values and indices of IndexedSlices one by one")
        if isinstance(value, np.ndarray):
            return value
        try:
            return np.array(value)
        except ValueError:  # rows of different lengths: an array of lists, as NumPy once made of itself
            return np.array(value, dtype=object)

    _GetNdArray = _array

    def evaluate_if_both_tensors(self, a: AnyTensor, b: AnyTensor) -> Nested:
        """Return two values, of one run where both are tensors of a graph: they may hang on the same random numbers."""
        both = all(is_tensor(value) and not isinstance(value, EagerTensor) for value in (a, b))
        return self.evaluate((a, b)) if both else (a, b)

    def assertAllClose(
        self, a: TensorLike, b: TensorLike, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fail unless two structures have the same shape and values within rtol * |b| + atol."""
        self._all_close(a, b, rtol, atol, msg, "")

    def _plain_rows(self, value: Any) -> Any:
        """Return a ragged value, or a list of anything, as plain lists."""
        if isinstance(value, (list, tuple)):
            return [self._plain_rows(item) for item in value]
        if is_tensor(value):
            value = self.evaluate(value)
        if isinstance(value, bytes):  # which an array of bytes would cut where it ends in zeros
            return value
        return value.to_list() if isinstance(value, RaggedTensorValue) else np.asarray(value).tolist()

    def assertRaggedEqual(self, a: TensorLike, b: TensorLike, msg: str | None = None) -> None:
        """Fail unless two ragged tensors, or lists for them, have the same rows."""
        self.assertEqual(self._plain_rows(a), self._plain_rows(b), msg)

    def _all_close(self, a: Any, b: Any, rtol: float, atol: float, msg: str | None, path: str) -> None:
        where = f"\n{path}" if path else ""
        a, b = self.evaluate_if_both_tensors(a, b)
        if _has_rows(a) or _has_rows(b):
            a, b = self._plain_rows(a), self._plain_rows(b)
        if hasattr(a, "_asdict") and hasattr(b, "_asdict"):  # a named tuple may be compared with a plain one, too
            a, b = a._asdict(), b._asdict()
        if isinstance(a, Mapping) or isinstance(b, Mapping):
            if not (isinstance(a, Mapping) and isinstance(b, Mapping)):
                raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg or ''}")
            self.assertCountEqual(a.keys(), b.keys(), msg=f"mismatched keys: a{path}, b{path}. {msg or ''}")
            for key in a:
                self._all_close(a[key], b[key], rtol, atol, msg, f"{path}[{key}]")
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and (_ragged(a) or _ragged(b)):
            self.assertEqual(len(a), len(b), f"Mismatched length: a{path} has {len(a)} items, b{path} has {len(b)}.")
            for place, (x, y) in enumerate(zip(a, b, strict=True)):
                self._all_close(x, y, rtol, atol, msg, f"{path}[{place}]")
        else:
            self._arrays_close(self._array(a), self._array(b), rtol, atol, f"{msg or ''}{where}")

    def _arrays_close(self, a: np.ndarray, b: np.ndarray, rtol: float, atol: float, msg: str) -> None:
        self._same_shape(a, b, msg)
        a, b = _comparable(a), _comparable(b)
        if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return
        far = np.abs(a - b) > atol + rtol * np.abs(b)
        far |= np.isnan(a) != np.isnan(b)
        words = [f"Mismatched value: a is different from b. {msg}", f"not close where = {np.where(np.atleast_1d(far))}"]
        words += [f"not close lhs = {a[far]}", f"not close rhs = {b[far]}", f"not close dif = {np.abs(a - b)[far]}"]
        words += [f"not close tol = {(atol + rtol * np.abs(b))[far]}", f"rtol = {rtol}, atol = {atol}"]
        self.fail("\n".join(words))

    def _same_shape(self, a: np.ndarray, b: np.ndarray, msg: str | None) -> None:
        if a.shape != b.shape:
            self.fail(f"Shape mismatch: expected {a.shape}, got {b.shape}. {msg or ''}\nContents: {a!r}\n{b!r}")

    def assertAllCloseAccordingToType(
        self,
        a: AnyTensor,
        b: AnyTensor,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """Fail unless values are as close as their type lets one expect."""
        if _has_rows(a) or _has_rows(b):
            kinds = {np.dtype(v.dtype.name).name for v in (a, b) if _has_rows(v)}
        else:
            (a, b) = (self._array(a), self._array(b))
            kinds = {a.dtype.name, b.dtype.name}
        for names, r, t in (
            (("float32", "complex64"), float_rtol, float_atol),
            (("float16",), half_rtol, half_atol),
            (("bfloat16",), bfloat16_rtol, bfloat16_atol),
        ):
            if kinds & set(names):
                rtol, atol = max(rtol, r), max(atol, t)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(
        self, a: TensorLike, b: TensorLike, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fail if all values are close."""
        try:
            self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements. {msg or ''}")

    def assertAllEqual(self, a: TensorLike, b: TensorLike, msg: str | None = None) -> None:
        """Fail unless two arrays have the same shape and the same values, NaN equal to NaN."""
        if _has_rows(a) or _has_rows(b):
            return self.assertRaggedEqual(a, b, msg)
        a, b = map(self._array, self.evaluate_if_both_tensors(a, b))
        if a.size == b.size == 0 and a.ndim <= 1 and b.ndim <= 1:
            return
        self._same_shape(a, b, msg)
        same = np.asarray(_texts(a, b) == _texts(b, a))
        if a.dtype.kind in "fcV" and b.dtype.kind in "fcV":
            same = np.logical_or(
                same, np.logical_and(_comparable(a) != _comparable(a), _comparable(b) != _comparable(b))
            )
        if not np.all(same):
            off = np.logical_not(same)
            words = [f"Arrays are not equal. {msg or ''}", f"not equal where = {np.where(np.atleast_1d(off))}"]
            words += [f"not equal lhs = {a[off]!r}", f"not equal rhs = {b[off]!r}"] if a.ndim else [f"{a!r}\n{b!r}"]
            self.fail("\n".join(words))

    def assertNotAllEqual(self, a: TensorLike, b: TensorLike, msg: str | None = None) -> None:
        """Fail if all values are the same."""
        try:
            self.assertAllEqual(a, b, msg)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def _all(self, target: Any, fits: Callable[[np.ndarray], Any], words: str) -> None:
        values = self._array(target)
        wrong = np.logical_not(fits(_comparable(values)))
        if np.any(wrong):
            self.fail(f"{words}: {np.count_nonzero(wrong)} of {values.size} values are not, first {values[wrong][:5]}")

    def assertAllGreater(self, a: TensorLike, comparison_target: AnyTensor) -> None:
        """Fail unless every value is greater."""
        self._all(a, lambda v: v > comparison_target, f"Values should be > {comparison_target}")

    def assertAllLess(self, a: TensorLike, comparison_target: AnyTensor) -> None:
        """Fail unless every value is less."""
        self._all(a, lambda v: v < comparison_target, f"Values should be < {comparison_target}")

    def assertAllGreaterEqual(self, a: TensorLike, comparison_target: AnyTensor) -> None:
        """Fail unless every value is greater or equal."""
        self._all(a, lambda v: v >= comparison_target, f"Values should be >= {comparison_target}")

    def assertAllLessEqual(self, a: TensorLike, comparison_target: AnyTensor) -> None:
        """Fail unless every value is less or equal."""
        self._all(a, lambda v: v <= comparison_target, f"Values should be <= {comparison_target}")

    def assertAllInRange(
        self,
        target: Nested,
        lower_bound: AnyTensor,
        upper_bound: AnyTensor,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Fail unless every value is between two others."""
        above, below = (
            (np.greater if open_lower_bound else np.greater_equal),
            (np.less if open_upper_bound else np.less_equal),
        )
        span = f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}{')' if open_upper_bound else ']'}"
        self._all(target, lambda v: above(v, lower_bound) & below(v, upper_bound), f"Values should be in {span}")

    def assertAllInSet(self, target: Nested, expected_set: Any) -> None:
        """Fail unless every value is one of some."""
        self._all(target, lambda v: np.isin(v, list(expected_set)), f"Values should be in {expected_set}")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Fail unless two numbers are within `err` of each other."""
        near = f1 == f2 or abs(f1 - f2) <= err
        self.assertTrue(near, f"{f1!r} != {f2!r} +/- {err!r}{f' ({msg})' if msg is not None else ''}")

    def assertArrayNear(self, farray1: AnyTensor, farray2: AnyTensor, err: float, msg: str | None = None) -> None:
        """Fail unless two rows of numbers are within `err` of each other."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg=msg)

    def assertNDArrayNear(self, ndarray1: TensorLike, ndarray2: TensorLike, err: float, msg: str | None = None) -> None:
        """Fail unless the distance of two arrays is below `err`."""
        distance = np.linalg.norm(self._array(ndarray1) - self._array(ndarray2))
        self.assertTrue(distance < err, msg=msg or f"distance {distance} is not < {err}")

    # -- comparing other things

    def assertShapeEqual(self, input_a: AnyTensor, input_b: AnyTensor, msg: str | None = None) -> None:
        """Fail unless an array's (or tensor's) shape is a tensor's."""
        a, b = (as_shape(np.shape(item) if isinstance(item, np.ndarray) else item.shape) for item in (input_a, input_b))
        self.assertEqual(a.as_list(), b.as_list(), msg)

    def assertDTypeEqual(self, target: Nested, expected_dtype: DTypeLike) -> None:
        """Fail unless values are of a type."""
        self.assertEqual(dtypes.as_dtype(self._array(target).dtype), dtypes.as_dtype(expected_dtype))

    def assertDeviceEqual(self, device1: object, device2: object, msg: str | None = None) -> None:
        """Fail unless two names are of the same device."""
        one, two = canonical_name(device1), canonical_name(device2)
        self.assertEqual(one, two, f"Devices {one} and {two} are not equal. {msg or ''}")

    def assertItemsEqual(self, expected_seq: Any, actual_seq: Any, msg: str | None = None) -> None:
        """Fail unless two sequences have the same items, each as often, in any order."""
        self.assertCountEqual(expected_seq, actual_seq, msg)

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """Fail unless a text starts with another."""
        if not actual.startswith(expected_start):
            self.fail(self._formatMessage(msg, f"{actual!r} does not start with {expected_start!r}"))

    def assertProtoEquals(
        self, expected_message_maybe_ascii: object, message: object, msg: str | None = None, **kwargs: Any
    ) -> None:
        """Fail unless a message is equal to another, or to one given as text; numbers are compared rounded."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            expected = messages.parse_text(expected, type(message))
        if messages.to_text(expected) != messages.to_text(message):
            self.assertEqual(messages.to_text(rounded(expected)), messages.to_text(rounded(message)), msg)

    def assertProtoEqualsVersion(
        self,
        expected: str,
        actual: Any,
        producer: int | None = None,
        min_consumer: int | None = None,
        msg: str | None = None,
    ) -> None:
        """Fail unless a GraphDef is what the text says, whatever its versions."""
        stripped = type(actual)()
        stripped.CopyFrom(actual)
        stripped.ClearField("versions")
        self.assertProtoEquals(expected, stripped, msg=msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: type[BaseException], expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """Fail unless the block raises an error that a pattern matches or a function accepts."""
        try:
            yield
        except exception_type as error:
            if callable(expected_err_re_or_predicate):
                fits = expected_err_re_or_predicate(error)
            else:
                text = error.message if isinstance(error, errors.OpError) else str(error)
                fits = re.search(expected_err_re_or_predicate, f"{text}\n{error}")
            if not fits:
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
            return
        self.fail(f"{exception_type} not raised")

    def assertRaisesOpError(
        self, expected_err_re_or_predicate: str | Callable[[Exception], bool]
    ) -> contextlib.AbstractContextManager[Any]:
        """Fail unless the block raises an error of an op that a pattern matches."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(
        self, exception_type: type[BaseException] = errors.InvalidArgumentError, msg: str = INCOMPATIBLE_SHAPES
    ) -> contextlib.AbstractContextManager[Any]:
        """Fail unless the block raises an error about shapes."""
        return self.assertRaisesWithPredicateMatch(exception_type, msg)


class EagerSession:
    """What stands for a session in eager mode: it hands values over."""

    def __init__(self, test: TestCase) -> None:
        self._test = test
        self.graph = None

    def run(self, fetches: Any, feed_dict: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Return the values of tensors that are computed already."""
        if feed_dict:
            raise RuntimeError("nothing can be fed in eager mode: give the values to the ops, or build a graph")
        return self._test.evaluate(fetches)


class _Caught:
    def __init__(self) -> None:
        self._parts: list[str] = []

    def write(self, text: str) -> int:
        self._parts.append(text)
        return len(text)

    def flush(self) -> None:
        pass

    def contents(self) -> str:
        """Return what was written."""
        return "".join(self._parts)


def _remove(directory: str) -> None:
    """Remove a test's directory; one that the process stands in goes as it ends."""
    inside = os.path.commonpath([os.path.realpath(directory), os.getcwd()]) == os.path.realpath(directory)
    if inside:
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
    else:
        shutil.rmtree(directory, ignore_errors=True)


def _has_rows(value: Any) -> bool:
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def _ragged(value: Any) -> bool:
    """Return whether a list cannot be one array."""
    try:
        return (
            any(isinstance(item, (list, tuple, Mapping)) or is_tensor(item) for item in value)
            or np.array(value).dtype == object
        )
    except ValueError:
        return True


def _comparable(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype.kind == "V" or array.dtype.name == "float16" else array


def _texts(array: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return an array of texts as bytes where the other is one too, so that `str` and `bytes` compare."""
    if array.dtype.kind in "UO" and all(isinstance(v, (str, bytes)) for v in other.ravel()):
        return np.array([v.encode() if isinstance(v, str) else v for v in array.ravel()], object).reshape(array.shape)
    return array.astype(object) if array.dtype.kind == "S" else array


def main(argv: Sequence[str] | None = None) -> None:
    """Run the tests of the program's main module."""
    words = sys.argv if argv is None else argv
    app.run(lambda rest: unittest.main(module="__main__", argv=rest), words)


def get_temp_dir() -> str:
    """Return a directory for all tests of this process."""
    if not _temp_dirs:
        _temp_dirs.append(tempfile.mkdtemp())
    return _temp_dirs[0]


def test_src_dir_path(relative_path: str) -> str:
    """Return the path of a file given relative to the library's sources in TEST_SRCDIR, or to the working directory."""
    source = os.environ.get("TEST_SRCDIR", "")
    homes = [os.path.join(source, home) for home in ("org_tensorflow/tensorflow", "tensorflow")] if source else []
    return os.path.join(next((home for home in homes if os.path.isdir(home)), os.getcwd()), relative_path)


test_src_dir_path.__test__ = False  # type: ignore[attr-defined]  # by its name, pytest would take it for a test
