"""Gauges, counters and samplers keep what they are given, by labels."""

import pytest

from ebbflow.platform import deprecation, gauges


def test_cells():
    gauge = gauges.BoolGauge("/used", "Whether it is used", "method")
    assert gauge.get_cell("fit").value() is False
    gauge.get_cell("fit").set(True)
    assert gauge.get_cell("fit").value() and not gauge.get_cell("predict").value()
    counter = gauges.Counter("/calls", "Calls")
    counter.get_cell().increase_by(2)
    counter.get_cell().increase_by(1)
    assert counter.get_cell().value() == 3
    with pytest.raises(ValueError, match="only grows"):
        counter.get_cell().increase_by(-1)
    sampler = gauges.Sampler("/times", [1, 2], "Times")
    sampler.get_cell().add(0.5)
    assert sampler.get_cell().value() == [0.5] and gauges.Sampler("/others").get_cell().value() == []


def test_classes_made_by_new_can_be_deprecated():
    import collections

    @deprecation.deprecated(None, "Use another.")
    class Pair(collections.namedtuple("Pair", ["a", "b"])):
        def __new__(cls, a, b=3):
            return super().__new__(cls, a, b)

    @deprecation.deprecated(None, "Use another.")
    class Base:
        pass

    class Heir(Base):
        def __init__(self, x):
            self.x = x

    assert Pair(1) == (1, 3) and Heir(5).x == 5
