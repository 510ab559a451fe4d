"""Attributes replaced for a test: where they are found, and that everything comes back."""

import types

import pytest

import ebbflow as tf


class Base:
    def speak(self):
        return "base"

    @staticmethod
    def still():
        return "still"


class Heir(Base):
    pass


def test_what_is_replaced_comes_back_last_first():
    module = types.ModuleType("module")
    module.value = 1
    stubs = tf.compat.v1.test.StubOutForTesting()
    stubs.Set(module, "value", 2)
    stubs.Set(module, "value", 3)
    assert module.value == 3
    stubs.UnsetAll()
    assert module.value == 1


def test_a_smart_stub_stands_where_the_attribute_is_defined():
    heir = Heir()
    with tf.compat.v1.test.StubOutForTesting() as stubs:
        stubs.SmartSet(heir, "speak", lambda self: "stub")
        assert Base().speak() == heir.speak() == "stub" and "speak" not in vars(Heir)
        stubs.SmartSet(Heir, "still", staticmethod(lambda: "moved"))
        assert Base.still() == "moved"
    assert heir.speak() == "base" and heir.still() == "still"


def test_what_is_not_there_cannot_be_replaced():
    stubs = tf.compat.v1.test.StubOutForTesting()
    with pytest.raises(AttributeError, match="nothing"):
        stubs.SmartSet(Heir(), "nothing", 1)
    with pytest.raises(AttributeError):
        stubs.Set(Heir(), "nothing", 1)
