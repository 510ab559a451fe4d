"""Facts of ops: the words are known, the inputs they name exist, and they do not contradict each other."""

import pytest

from ebbflow.core.facts import Facts, parse
from ebbflow.core.registry import registry

OPS = registry.declare_all()


def test_words_are_read_as_what_they_are():
    facts = parse("fresh cheap one_core=30 known=begin,end repeats=input")
    assert (facts.memory, facts.cheap, facts.one_core) == ("fresh", True, 30)
    assert (facts.known, facts.repeats, facts.portable) == (("begin", "end"), "input", False)
    assert facts.fresh and not facts.view
    assert not any(getattr(parse(""), word) for word in Facts.__annotations__)
    with pytest.raises(AttributeError, match="declared with the op"):
        facts.cheap = False


@pytest.mark.parametrize("text", ["quick", "cheap=1", "known", "one_core=many", "cheap cheap", "fresh view", "memory"])
def test_what_is_no_fact_is_refused(text):
    with pytest.raises(ValueError, match=text.split("=")[0].split()[-1] if text != "one_core=many" else "many"):
        parse(text)


def test_element_wise_results_are_fresh_unless_it_is_said():
    assert OPS["Exp"].facts.fresh and OPS["AddV2"].facts.fresh
    assert not OPS["Cast"].facts.fresh  # of the same type it gives what it was given
    assert OPS["Identity"].facts.view and OPS["Transpose"].facts.view and not OPS["Tile"].facts.view


@pytest.mark.parametrize("name", sorted(OPS))
def test_every_op_says_what_can_be_said_of_it(name):
    op = OPS[name]
    facts = op.facts  # an unknown word would be an error here
    inputs = {arg.name for arg in op.signature.inputs}
    assert {*facts.known, *facts.sizes, *filter(None, [facts.repeats, facts.in_range])} <= inputs
    assert not set(facts.known) & set(facts.sizes)
    assert facts.elementwise or not (facts.broadcasts or facts.activation or facts.host)
    assert not (facts.elementwise and facts.portable)  # said already
    assert not (facts.broadcasts and len(op.signature.inputs) < 2)
    assert op.keeps_state or not (facts.random or facts.variable or facts.reads or facts.forgets)
    assert not facts.data_dependent or not facts.elementwise


# What changes state is never said to be cheap, fresh or free: passes would compute it twice or leave it out.
@pytest.mark.parametrize("name", sorted(name for name, op in OPS.items() if op.keeps_state))
def test_what_keeps_state_is_not_computed_twice(name):
    facts = OPS[name].facts
    assert not (facts.cheap or facts.light or facts.static or facts.arranges or facts.elementwise or facts.portable)
    assert facts.reads == "whole" or not facts.free
