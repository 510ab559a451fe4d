"""Logging, text, devices, eras, decorators, deprecation, resources: what programs expect around them."""

import functools
import gzip
import inspect
import io
import logging as python_logging
import os
import pathlib
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import context, dtypes
from ebbflow.platform import (
    config,
    decorators,
    deprecation,
    eras,
    logging,
    mnist,
    resources,
    sysconfig,
    text,
)


@pytest.fixture
def lines():
    """What the tensorflow logger writes."""
    stream = io.StringIO()
    handler = python_logging.StreamHandler(stream)
    handler.setFormatter(python_logging.Formatter("%(levelname)s:%(filename)s:%(message)s"))
    logger, level = logging.get_logger(), logging.get_verbosity()
    logger.addHandler(handler)
    yield lambda: stream.getvalue().splitlines()
    logger.removeHandler(handler)
    logging.set_verbosity(level)


def test_logging(lines):
    logging.set_verbosity(logging.INFO)
    logging.info("loss %d", 3)
    logging.debug("hidden")
    logging.warn("w")
    logging.fatal("f")
    logging.log(logging.ERROR, "e")
    logging.vlog(5, "hidden")
    logging.log_if(logging.INFO, "if", False)
    here = os.path.basename(__file__)
    assert lines() == [f"INFO:{here}:loss 3", f"WARNING:{here}:w", f"CRITICAL:{here}:f", f"ERROR:{here}:e"]
    assert logging.get_logger() is python_logging.getLogger("tensorflow")


def test_logging_at_the_level_of_the_root_until_one_is_set():
    made = logging._make_logger()
    before = made.level
    made.setLevel(python_logging.NOTSET)
    try:
        assert logging._make_logger().level == python_logging.NOTSET
        assert logging.get_verbosity() == python_logging.getLogger().getEffectiveLevel()
    finally:
        made.setLevel(before)


def test_logging_some_of_many(lines):
    for step in range(5):
        logging.log_every_n(logging.ERROR, "every %d", 2, step)
        logging.log_first_n(logging.ERROR, "first %d", 2, step)
    assert [line.rpartition(":")[2] for line in lines()] == ["every 0", "first 0", "first 1", "every 2", "every 4"]


@pytest.mark.parametrize("value", ["é", "é".encode(), bytearray("é".encode())])
def test_text_and_bytes(value):
    assert text.as_bytes(value) == "é".encode() and text.as_text(value) == text.as_str(value) == "é"


def test_text_of_other_things():
    assert text.as_str_any(3) == "3" and text.as_str_any(b"x") == "x"
    for function in (text.as_bytes, text.as_text):
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
            function(3)
    assert isinstance(np.int8(1), text.integral_types) and isinstance(1j, text.complex_types)
    with text.forward_compatibility_horizon(2020, 1, 1):
        assert text.forward_compatible(2019, 12, 31) and not text.forward_compatible(2020, 1, 2)
    assert text.forward_compatible(2100, 1, 1)


@pytest.fixture
def fresh_wishes(monkeypatch):
    monkeypatch.setattr(config, "wishes", config.Wishes())


def test_wishes_are_kept(fresh_wishes):
    config.set_jit(True)
    config.set_optimizer_experimental_options({"remapping": False, "no_such": 1})
    config.set_soft_device_placement(False)
    config.set_intra_op_parallelism_threads(3)
    assert config.get_jit() == "autoclustering" and not config.get_soft_device_placement()
    assert config.get_optimizer_experimental_options()["remapping"] is False
    assert "no_such" not in config.get_optimizer_experimental_options()
    assert config.get_intra_op_parallelism_threads() == 3
    with pytest.raises(ValueError, match="device_policy"):
        config.set_device_policy("sometimes")


def test_switches_between_eras():
    try:
        eras.disable_v2_behavior()
        tf.compat.v1.reset_default_graph()
        assert not eras.tf2_enabled() and not eras.resource_variables_enabled()
        eras.enable_eager_execution()
        assert context.executing_eagerly()
        eras.enable_resource_variables()
        assert eras.resource_variables_enabled()
        with pytest.raises(ValueError, match="device_policy must be None or"):
            eras.enable_eager_execution(device_policy=9)
    finally:
        eras.enable_v2_behavior()
    assert eras.tf2_enabled() and context.executing_eagerly()


def test_deprecation_warns_once_and_can_be_silenced(lines):
    @deprecation.deprecated("2030-01-01", "use other")
    def old(x):
        """Do it."""
        return x + 1

    assert [old(1), old(2)] == [2, 3]
    assert len([line for line in lines() if "old" in line and "after 2030-01-01" in line]) == 1
    assert old.__name__ == "old" and "Do it. (deprecated)" in old.__doc__

    @deprecation.deprecated_args(None, "drop it", "b", ("c", 0))
    def part(a, b=None, c=0):
        return a

    with deprecation.silence():
        part(1, b=2)
    before = len(lines())
    part(1, c=0)
    assert len(lines()) == before
    part(1, 2)
    assert "with b is deprecated" in "".join(lines()[before:])


@pytest.mark.parametrize("date, instructions", [("tomorrow", "x"), (None, "")])
def test_deprecation_refuses(date, instructions):
    with pytest.raises(ValueError, match=r"Date must be|conversion instructions"):
        deprecation.deprecated(date, instructions)


def test_deprecated_lookup():
    assert deprecation.deprecated_argument_lookup("axis", None, "dim", 2) == 2
    with pytest.raises(ValueError, match="Cannot specify both 'dim' and 'axis'"):
        deprecation.deprecated_argument_lookup("axis", 1, "dim", 2)


def test_decorators_can_be_seen_through():
    def target(a, b=1, *c, **d):
        """Doc."""

    wrapped = decorators.make_decorator(target, lambda *args, **kwargs: 5, "five")
    assert wrapped(1) == 5 and wrapped.__name__ == "target" and wrapped.__doc__ == "Doc."
    found, inner = decorators.unwrap(wrapped)
    assert inner is target and [one.decorator_name for one in found] == ["five"]
    assert decorators.getargspec(wrapped) == (["a", "b"], "c", "d", (1,))
    assert decorators.fn_args(wrapped) == ("a", "b")
    assert decorators.getcallargs(wrapped, 3) == {"a": 3, "b": 1}
    assert decorators.has_kwargs(target) and decorators.isfunction(wrapped)
    other = decorators.getfullargspec(lambda x, y=2: 0)
    outer = decorators.TFDecorator("outer", decorators.TFDecorator("inner", target), "", other)
    assert decorators.getfullargspec(outer) is decorators.getargspec(outer) is other
    assert str(inspect.signature(functools.partial(outer, x=5))) == "(*, x=5, y=2)"


def _some(m, n=1, *, k=2):
    return m


PARTIALS = [
    (functools.partial(_some), ["m", "n", "k"], (1, 2)),
    (functools.partial(_some, 7), ["n", "k"], (1, 2)),
    (functools.partial(_some, n=3), ["m", "n", "k"], (3, 2)),
    (functools.partial(_some, m=3), ["m", "n", "k"], (3, 1, 2)),
    (functools.partial(lambda a, b: a, 1, 2), [], None),
    (functools.partial(lambda a, b, c: a, b=1), "keyword-only arguments, which are not supported: ['c']", None),
]


@pytest.mark.parametrize("function, names, defaults", PARTIALS)
def test_old_arguments_of_partials(function, names, defaults):
    if isinstance(names, str):
        with pytest.raises(ValueError, match=re.escape(names)):
            decorators.getargspec(function)
    else:
        assert decorators.getargspec(function) == (names, None, None, defaults)


def test_arguments_of_calls_of_methods():
    class Kind:
        def method(self, func, z=1):
            return z

        def __call__(self):
            return 1

    one = Kind()
    assert decorators.getcallargs(one.method, 2) == {"self": one, "func": 2, "z": 1}
    assert decorators.getcallargs(one.method, func=4) == {"self": one, "func": 4, "z": 1}
    assert decorators.getcallargs(_some, 3, k=5) == {"m": 3, "n": 1, "k": 5}
    for bound in (one, one.method, functools.partial(one.method, 1)):
        assert decorators.isanytargetmethod(bound)
    assert not decorators.isanytargetmethod(Kind.method)


def test_arguments_of_callables():
    class Caller:
        def __call__(self, x, y):
            return x

        def method(self, z):
            return z

    assert decorators.fn_args(Caller()) == ("x", "y") and decorators.fn_args(Caller().method) == ("z",)
    assert decorators.fn_args(functools.partial(lambda a, b, c: a, 1, c=2)) == ("b",)
    with pytest.raises(ValueError, match="only accepts keyword arguments"):
        decorators.keyword_args_only(lambda a: a)(1)


def test_resources_lie_beside_the_caller():
    assert resources.get_data_files_path() == os.path.dirname(os.path.abspath(__file__))
    assert resources.get_path_to_datafile("x.txt") == os.path.join(os.path.dirname(os.path.abspath(__file__)), "x.txt")
    assert b"Ebbflow" in resources.load_resource("__init__.py")
    with pytest.raises(OSError, match="no_such"):
        resources.load_resource("no_such")
    assert sysconfig.get_link_flags() == [] and not sysconfig.get_build_info()["is_cuda_build"]


def idx(magic, array):
    return struct.pack(f">{array.ndim + 1}I", magic, *array.shape) + array.astype(np.uint8).tobytes()


@pytest.fixture
def digits(tmp_path):
    images, labels = np.arange(12 * 4, dtype=np.uint8).reshape(12, 2, 2), np.arange(12) % 10
    for name, data in zip(
        mnist.FILES,
        [idx(2051, images), idx(2049, labels), idx(2051, images[:3]), idx(2049, labels[:3])],
        strict=True,
    ):
        (tmp_path / name).write_bytes(gzip.compress(data))
    return tmp_path


def test_mnist(digits):
    data = mnist.read_data_sets(str(digits), one_hot=True, validation_size=2, seed=1)
    assert (data.train.num_examples, data.validation.num_examples, data.test.num_examples) == (10, 2, 3)
    assert data.test.images.dtype == np.float32 and data.test.images.max() == np.float32(11 / 255)
    assert data.test.labels.tolist() == np.eye(10)[:3].tolist()
    seen = [tuple(row) for _ in range(2) for row in data.train.next_batch(5)[0]]
    assert len(set(seen)) == 10 and data.train.epochs_completed == 0
    images, labels = data.train.next_batch(4)
    assert len(images) == len(labels) == 4 and data.train.epochs_completed == 1
    raw = mnist.read_data_sets(str(digits), dtype=dtypes.uint8, reshape=False, validation_size=0)
    assert raw.train.images.shape == (12, 2, 2, 1) and raw.train.images.dtype == np.uint8


def test_mnist_without_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="put the four MNIST files"):
        mnist.read_data_sets(str(tmp_path))
    fake = mnist.read_data_sets(str(tmp_path), fake_data=True)
    assert len(fake.train.next_batch(3)[0]) == 3


@pytest.mark.parametrize(
    "data, says",
    [
        (b"", "ends inside its header"),
        (idx(2049, np.zeros(3)) + b"\0" * 8, "Invalid magic number 2049"),
        (struct.pack(">4I", 2051, 2**32 - 1, 2**32 - 1, 2**32 - 1), "bytes that its header promises"),
    ],
)
def test_crafted_mnist_files(tmp_path, data, says):
    path = tmp_path / "images"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=says):
        mnist.extract_images(str(path))


def test_frames_of_our_own_can_be_shown():
    def frames():
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            tf.gather([0, 1, 2], 7)
        return len(raised.traceback)

    assert tf.debugging.is_traceback_filtering_enabled()
    few = frames()
    tf.debugging.disable_traceback_filtering()
    try:
        assert not tf.debugging.is_traceback_filtering_enabled() and frames() > few
    finally:
        tf.debugging.enable_traceback_filtering()
    assert frames() == few


ROOT = pathlib.Path(__file__).parents[2]

LATE = """
import ebbflow.v1 as tf
{}
try:
    tf.enable_eager_execution()
except ValueError as error:
    print(error)
else:
    print(tf.executing_eagerly())
"""


@pytest.mark.parametrize(
    ("before", "expected"),
    [("", "True"), ("tf.constant(1.0)", "tf.enable_eager_execution must be called at program startup.")],
    ids=["at the start", "with nodes"],
)
def test_eager_execution_is_switched_on_at_the_start(before, expected):
    done = subprocess.run([sys.executable, "-c", LATE.format(before)], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == expected, done.stderr


def test_what_is_said_of_a_decorated_function_is_its_signature():
    make = tf.__internal__.decorator.make_decorator

    class Layer:
        def call(self, inputs):
            return inputs

    said = inspect.FullArgSpec(["self", "inputs", "training"], None, None, (None,), ["mask"], {"mask": 1}, {})
    told = make(Layer().call, lambda *args, **kwargs: args[0], decorator_argspec=said)
    assert str(inspect.signature(told)) == "(self, inputs, training=None, *, mask=1)"
    outer = make(told, lambda *args, **kwargs: told(*args, **kwargs))
    assert str(inspect.signature(outer)) == "(inputs, training=None, *, mask=1)"
    assert float(tf.function(outer)(2.0, training=True)) == 2.0
