"""AutoGraph's options, rules and transpiler, as TensorFlow's inside has them."""

from __future__ import annotations

import types

import ebbflow as tf
from ebbflow.functions.autograph import transpiler
from ebbflow.functions.autograph.public import Feature


def test_options_say_which_features():
    options = transpiler.ConversionOptions(recursive=True, optional_features=Feature.LISTS)
    assert options.uses(Feature.LISTS) and not options.uses(Feature.NAME_SCOPES)
    assert not transpiler.STANDARD_OPTIONS.optional_features and options.call_options() != transpiler.STANDARD_OPTIONS
    assert transpiler.ConversionOptions().uses(Feature.NAME_SCOPES)


def test_a_transpiler_converts_control_flow():
    def halve(x):
        while x > 1:
            x = x // 2
        return x

    context = transpiler.ProgramContext(transpiler.ConversionOptions(recursive=True))
    made, _, _ = transpiler.PyToTF().transform_function(halve, context)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        assert session.run(made(tf.constant(9))) == 1


def test_what_is_left_unconverted(monkeypatch):
    def own():
        pass

    class Left:
        def __call__(self):
            pass

        def kept(self):
            pass

    Left.__module__ = "left_alone.inner"

    class Derived(Left):
        def changed(self):
            pass

    assert not transpiler.is_allowlisted(own) and transpiler.is_allowlisted(tf.constant)
    assert transpiler.is_allowlisted(types)
    monkeypatch.setattr(transpiler, "CONVERSION_RULES", (transpiler.DoNotConvert("left_alone"),))
    found = [transpiler.is_allowlisted(o) for o in (Derived(), Derived().kept, Derived, Derived().changed)]
    assert found == [True, True, False, False]
