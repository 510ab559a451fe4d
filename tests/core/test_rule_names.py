"""Rules declared as `def _` are called by the op and their role in tracebacks and profiles."""

import cProfile
import functools
import pstats
import traceback

import pytest

from ebbflow.core.op import Op
from ebbflow.core.rule_names import named


def failing_op() -> Op:
    declared = Op("RuleNameProbe(x:float) -> (y:float)", internal=True)

    @declared.kernel
    def _(xp, x):
        raise RuntimeError("from the kernel")

    @declared.shape
    def _(x):
        raise RuntimeError("from the shape rule")

    @declared.gradient
    def _(call, grad):
        raise RuntimeError("from the gradient")

    return declared


def frame_names(fn, *args):
    with pytest.raises(RuntimeError) as raised:
        fn(*args)
    return [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]


def test_tracebacks_name_the_op_and_the_role():
    declared = failing_op()
    assert declared.signature.name == "RuleNameProbe"
    assert frame_names(declared.kernel_fn, None, None)[-1] == "RuleNameProbe.kernel"
    assert frame_names(declared.shape_fn, None)[-1] == "RuleNameProbe.shape"
    assert frame_names(declared.gradient_fn, None, None)[-1] == "RuleNameProbe.gradient"
    assert declared.kernel_fn.__qualname__ == "RuleNameProbe.kernel"


def test_a_rule_declared_after_the_first_use_is_named_too():
    declared = failing_op()
    assert declared.signature.name == "RuleNameProbe"

    @declared.xla
    def _(jnp, x):
        return x

    assert declared.lowering_fn.__name__ == "RuleNameProbe.xla"


def test_profiles_name_the_op_and_the_role():
    import ebbflow as tf

    tf.nn.bias_add([[1.0, 2.0]], [1.0, 2.0])  # the first use
    profile = cProfile.Profile()
    profile.runcall(tf.nn.bias_add, [[1.0, 2.0]], [1.0, 2.0])
    assert "BiasAdd.kernel" in {name for _, _, name in pstats.Stats(profile).stats}


def test_names_are_given_once_and_only_to_the_nameless():
    def _(x):
        return x

    def kept(x):
        return x

    @functools.wraps(_)
    def wrapper(x):
        return _(x)

    assert named(wrapper, "A.kernel").__code__.co_name == "A.kernel"
    assert _.__code__.co_name == "A.kernel"  # what it wraps
    assert named(_, "B.kernel").__name__ == "A.kernel"
    assert named(kept, "C.kernel").__code__.co_name == "kept"
    assert named(len, "D.kernel") is len
