"""Dispatchers: who answers for a function that fails on its arguments, and for borrowed operators."""

import subprocess
import sys
import textwrap

import pytest

from ebbflow.core import dispatch
from ebbflow.core.op_dispatch import dispatch_for_types


class Stand:
    pass


def test_a_function_asks_its_own_dispatchers():
    @dispatch.add_dispatch_support
    def double(x):
        if not isinstance(x, int):
            raise TypeError("no number")
        return 2 * x

    @dispatch_for_types(double, Stand)
    def of_stand(x):
        return "stands"

    assert double(3) == 6 and double(Stand()) == "stands"
    with pytest.raises(TypeError, match="no number"):
        double("x")


def test_errors_of_other_kinds_are_not_answered():
    @dispatch.add_dispatch_support()
    def fails(x):
        raise KeyError(x)

    dispatch_for_types(fails, Stand)(lambda x: "answered")
    with pytest.raises(KeyError):
        fails(Stand())


def test_public_functions_and_borrowed_operators_ask_the_dispatcher_for_all():
    """In a process of its own: once there is such a dispatcher, public functions have support for it."""
    code = """
        import ebbflow as tf
        from ebbflow.api.canonical import get_canonical_name_for_symbol, get_symbol_from_name
        relu = tf.nn.relu

        class Stand:
            dtype = tf.float32

        for name in tf.Tensor.OVERLOADABLE_OPERATORS:
            setattr(Stand, name, getattr(tf.Tensor, name))

        class Dispatcher(tf.__internal__.dispatch.GlobalOpDispatcher):
            def handle(self, op, args, kwargs):
                if any(isinstance(arg, Stand) for arg in args):
                    return get_canonical_name_for_symbol(op)
                return self.NOT_SUPPORTED

        Dispatcher().register()
        s = Stand()
        print(tf.nn.relu(s), tf.reshape(s, [1]), tf.cast(s, tf.int32))
        print(s + 1, 1.0 - s, tf.constant(2.0) * s, -s, s[0], s == 1, s @ s, s < 1)
        print(get_symbol_from_name("nn.relu")(s), float(tf.nn.relu(2.0)), float(relu(3.0)))
        import pickle
        assert pickle.loads(pickle.dumps(tf.nn.relu)) is tf.nn.relu and pickle.loads(pickle.dumps(relu)) is relu
        try:
            tf.reshape("x", object())
        except (TypeError, ValueError) as error:
            print(type(error).__name__)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:3] == [
        "nn.relu reshape cast",
        "__operators__.add math.subtract math.multiply math.negative __operators__.getitem __operators__.eq "
        "linalg.matmul math.less",
        "nn.relu 2.0 3.0",
    ]
