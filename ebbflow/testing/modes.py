"""`tensorflow.python.framework.test_util`: decorators that run a test in one mode or in several.

Knows graphs and the eager switch; the tests are `TestCase`'s.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import gc
import inspect
import platform
import re
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow import messages
from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Message, TensorLike
from ebbflow.engines import devices
from ebbflow.graph.graph import Graph, get_default_graph
from ebbflow.ops.declare import raw
from ebbflow.platform import eras, flags
from ebbflow.platform.early_eager import graph_mode

NOT_TESTS = ("testSkipEager", "test_session")
flags.define_test_folders()


def run_in_graph_and_eager_modes(
    func: Callable[..., Any] | None = None,
    config: Message | None = None,
    use_gpu: bool = True,
    assert_no_eager_garbage: bool = False,
    reset_test: bool = True,
) -> Callable[..., Any]:
    """Run a test twice: building a graph, with a session open, and eagerly."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(test):
            raise ValueError("`run_in_graph_and_eager_modes` only supports test methods.")

        @functools.wraps(test)
        def both(self: Any, *args: Any, **kwargs: Any) -> None:
            with Graph().as_default() as graph:
                with self.cached_session(graph=graph, config=config, use_gpu=use_gpu):
                    test(self, *args, **kwargs)
                if reset_test:
                    self.tearDown()
                    self._tempdir = None
            with context.eager_scope():
                if reset_test:
                    self.setUp()
                test(self, *args, **kwargs)

        return both

    return decorate if func is None else decorate(func)


run_test_in_graph_and_eager_modes = run_in_graph_and_eager_modes


def for_all_test_methods(decorator: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[type], type]:
    """Return a decorator of a class, which decorates each of its test methods."""

    def decorate(cls: type) -> type:
        for name, value in list(vars(cls).items()):
            if callable(value) and name.startswith("test") and name not in NOT_TESTS:
                setattr(cls, name, decorator(*args, **kwargs)(value))
        return cls

    return decorate


def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """Run every test of a class in both modes."""
    return for_all_test_methods(run_in_graph_and_eager_modes)(cls)


def run_deprecated_v1(func: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Run a test, or each test of a class, building a graph, whatever the mode around it."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(test):
            for name in {"setUp"} & vars(test).keys():  # what it makes is of the graph, too
                setattr(test, name, decorate(vars(test)[name]))
            return for_all_test_methods(lambda: decorate)(test)

        @functools.wraps(test)
        def in_graph(self: Any, *args: Any, **kwargs: Any) -> Any:
            if eras.tf2_enabled() and context.executing_eagerly():
                with graph_mode():
                    return test(self, *args, **kwargs)
            return test(self, *args, **kwargs)

        return in_graph

    return decorate if func is None else decorate(func)


deprecated_graph_mode_only = run_deprecated_v1


def _only_if(condition: Callable[[], bool], reason: str) -> Callable[..., Any]:
    """Return a decorator that skips a test (or all of a class) where a condition does not hold."""

    def outer(func: Any = None) -> Any:
        def decorate(test: Any) -> Any:
            if inspect.isclass(test):
                return for_all_test_methods(lambda: decorate)(test)

            @functools.wraps(test)
            def maybe(self: Any, *args: Any, **kwargs: Any) -> Any:
                if not condition():
                    self.skipTest(reason)
                return test(self, *args, **kwargs)

            return maybe

        return decorate if func is None or isinstance(func, str) else decorate(func)

    outer.__doc__ = f"Return a test, or all of a class, skipped with the words {reason!r} where they hold."
    return outer


def _has_gpu() -> bool:
    return bool(devices.list_physical_devices("GPU"))


run_v1_only = _only_if(lambda: not eras.tf2_enabled(), "Test is not compatible with v2")
run_v2_only = _only_if(eras.tf2_enabled, "Test is only compatible with v2")
run_gpu_only = _only_if(_has_gpu, "Test requires GPU")
run_cuda_only = _only_if(_has_gpu, "Test requires CUDA GPU")


def skip_if(condition: Any) -> Callable[..., Any]:
    """Return a decorator that leaves out a test where a condition (a value or a function) holds."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def maybe(self: Any, *args: Any, **kwargs: Any) -> None:
            if not (condition() if callable(condition) else condition):
                test(self, *args, **kwargs)

        return maybe

    return decorate


def _as_it_is(*given: Any) -> Any:
    """Return what is decorated, as it is."""
    if len(given) == 1 and callable(given[0]):
        return given[0]
    return lambda test: test


disable_xla = no_xla_auto_jit = xla_allow_fallback = also_run_as_tf_function = _as_it_is
enable_control_flow_v2 = disable_control_flow_v2 = with_control_flow_v2 = with_eager_op_as_function = _as_it_is
enable_output_all_intermediates = disable_tfrt = use_deterministic_cudnn = _as_it_is


def placed(graph: Graph, use_gpu: bool) -> contextlib.AbstractContextManager[Any]:
    """Return the block in which a test's session builds its graph: on the host, where no GPU is to be used."""
    return contextlib.nullcontext() if use_gpu else graph.device("/device:CPU:0")


@contextlib.contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """Run ops on the GPU or the CPU inside the block."""
    name = devices.gpu_device_name() if use_gpu else "/device:CPU:0"
    with get_default_graph().device(name) if name and not context.executing_eagerly() else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def use_gpu() -> Iterator[None]:
    """Run ops on a GPU inside the block, if there is one."""
    with device(use_gpu=True):
        yield


def soft(config: Message | None, force_gpu: bool) -> Message:
    """Return a test's configuration of a session: without one of its own, devices that there are not are the CPU."""
    return messages.ConfigProto(allow_soft_placement=not force_gpu) if config is None else config


@contextlib.contextmanager
def force_gpu() -> Iterator[None]:
    """Run ops on a GPU inside the block, or say that there is none."""
    if not _has_gpu():
        raise RuntimeError("there is no GPU here: tf.config.list_physical_devices('GPU') is empty")
    with device(use_gpu=True):
        yield


@contextlib.contextmanager
def force_cpu() -> Iterator[None]:
    """Run ops on the CPU inside the block."""
    with device(use_gpu=False):
        yield


def disable_with_predicate(pred: Callable[[], bool], skip_message: str) -> Callable[..., Any]:
    """Leave a test out, with a message, where a condition holds when it is about to run."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                self.skipTest(skip_message)
            return test(self, *args, **kwargs)

        return run

    return decorate


_MOST_LEAKY_RUNS = 6


def assert_no_new_pyobjects_executing_eagerly(warmup_iters: int | Callable[..., Any] = 2) -> Callable[..., Any]:
    """Decorate a test that must leave no Python objects behind: eagerly, some times, then until one run leaves none.

    Threads of the process make objects of their own beside the test, so a single run says nothing; a test that leaks
    does so each time.
    """
    if callable(warmup_iters):  # TensorFlow 1.15: the decorator itself
        return assert_no_new_pyobjects_executing_eagerly()(warmup_iters)

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def check(self: Any, *args: Any, **kwargs: Any) -> None:
            with context.eager_scope():
                for _ in range(warmup_iters):
                    test(self, *args, **kwargs)
                for _ in range(_MOST_LEAKY_RUNS):
                    before = _objects_by_class()
                    test(self, *args, **kwargs)
                    left = _objects_by_class() - before
                    if not left:
                        return
            raise AssertionError(f"Python objects not deallocated after test: {dict(left)}")

        return check

    return decorate


def _objects_by_class() -> collections.Counter[str]:
    gc.collect()
    gc.collect()  # a tuple of tuples of numbers is no object to count once those inside it are none
    return collections.Counter(type(item).__name__ for item in gc.get_objects())


def assert_no_new_tensors(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a test that must leave no tensors behind."""

    @functools.wraps(f)
    def check(self: Any, *args: Any, **kwargs: Any) -> Any:
        gc.collect()
        before = {id(item) for item in gc.get_objects() if isinstance(item, Tensor)}
        result = f(self, *args, **kwargs)
        gc.collect()
        after = [item for item in gc.get_objects() if isinstance(item, Tensor) and id(item) not in before]
        if after:
            raise AssertionError(f"{len(after)} Tensors not deallocated after test: {after}")
        return result

    return check


def assert_no_garbage_created(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a test that must make no reference cycles."""

    @functools.wraps(f)
    def check(self: Any, *args: Any, **kwargs: Any) -> Any:
        gc.collect()
        enabled = gc.isenabled()
        gc.disable()
        try:
            result = f(self, *args, **kwargs)
            found = gc.collect()
        finally:
            if enabled:
                gc.enable()
        if found:
            raise AssertionError(f"the test made {found} objects that only the garbage collector could free")
        return result

    return check


def assert_equal_graph_def(
    actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False
) -> None:
    """Fail unless two GraphDefs have the same nodes."""
    for which, given in (("actual", actual), ("expected", expected)):
        if not isinstance(given, messages.GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {which}, got {type(given).__name__}")
    one, two = ({node.name: _plain(node, checkpoint_v2) for node in graph.node} for graph in (actual, expected))
    if one != two:
        names = sorted(name for name in {*one, *two} if one.get(name) != two.get(name))
        shown = "\n".join(
            f"{name}:\n{one.get(name, '(missing)')}vs\n{two.get(name, '(missing)')}" for name in names[:3]
        )
        raise AssertionError(f"GraphDefs differ in {len(names)} nodes:\n{shown}")


def _plain(node: Any, checkpoint_v2: bool) -> str:
    text = messages.to_text(node)
    return re.sub(r"_temp_[0-9a-z]{32}/part", "_temp/part", text) if checkpoint_v2 else text


def graph_def_difference(actual: bytes, expected: bytes) -> bytes:
    """Return how two serialized GraphDefs differ; nothing where they have the same nodes."""
    one, two = ({node.name: node for node in messages.GraphDef.FromString(given).node} for given in (actual, expected))
    for name, node in two.items():
        if name not in one:
            return f"Did not find expected node '{{{{node {name}}}}}' of type {node.op}".encode()
        if _plain(one[name], False) != _plain(node, False):
            return f"Node '{name}' is {_plain(one[name], False)} and expected to be {_plain(node, False)}".encode()
    surplus = [name for name in one if name not in two]
    return f"Found unexpected node '{{{{node {surplus[0]}}}}}'".encode() if surplus else b""


assert_equal_graph_def_v1 = assert_equal_graph_def


def assert_equal_graph_def_v2(expected: object, actual: object) -> None:
    """Fail unless two GraphDefs have the same nodes."""
    assert_equal_graph_def(actual, expected, checkpoint_v2=True, hash_table_shared_name=True)


def assert_ops_in_graph(expected_ops: dict[str, str], graph: Any) -> dict[str, Any]:
    """Fail unless a graph has nodes of some names and ops; return them."""
    nodes = {node.name: node for node in graph.as_graph_def().node}
    for name, op in expected_ops.items():
        if name not in nodes:
            raise ValueError(f"Expected op for node {name} is missing.")
        if nodes[name].op != op:
            raise ValueError(f"Expected op for node {name} is different. {op} vs {nodes[name].op}")
    return {name: nodes[name] for name in expected_ops}


def _moved(orders: dict[int, tuple[int, ...]]) -> Callable[[Any], Any]:
    def move(tensor: TensorLike) -> Any:
        if isinstance(tensor, list):
            return [tensor[place] for place in orders[len(tensor)]]
        tensor = convert(tensor)
        return raw.Transpose(tensor, list(orders[len(tensor.shape)]))

    move.__doc__ = f"Return a tensor with its axes, or a shape with its entries, in the order {orders[4]}."
    return move


NHWCToNCHW = _moved({4: (0, 3, 1, 2), 5: (0, 4, 1, 2, 3)})
NCHWToNHWC = _moved({4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)})


def IsMklEnabled() -> bool:
    """Return False: Ebbflow has no MKL ops of its own."""
    return False


def is_xla_enabled() -> bool:
    """Return False: tests run on the host unless they ask otherwise."""
    return False


def IsBuiltWithROCm() -> bool:
    """Return False: Ebbflow is not compiled for any accelerator."""
    return False


def IsBuiltWithNvcc() -> bool:
    """Return False: Ebbflow is not compiled for any accelerator."""
    return False


def IsBuiltWithXLA() -> bool:
    """Return True: XLA is there where jax is installed."""
    return True


def IsCPUTargetAvailable(target: str) -> bool:
    """Return whether code is made for a kind of processor: the machine's own."""
    return target.lower() == {"x86_64": "x86", "amd64": "x86", "arm64": "aarch64"}.get(
        name := platform.machine().lower(), name
    )


def IsGoogleCudaEnabled() -> bool:
    """Return whether there is a GPU."""
    return _has_gpu()


def InstallStackTraceHandler() -> None:
    """Do nothing: errors show the program's lines as they are."""


def disable_cudnn_autotune(func: Any) -> Any:
    """Return a test as it is: there is no cuDNN to choose algorithms."""
    return func
