"""What engines offer for parts of kernels: asked for by name, and what is offered is what kernels ask for."""

from __future__ import annotations

import pytest

from ebbflow.core import offers
from ebbflow.engines import large_calls
from ebbflow.ops.image import resize_ops
from ebbflow.ops.random import philox
from ebbflow.ops.state import repeated_indices


def test_a_way_is_taken_once_it_is_there(monkeypatch):
    assert offers.quicker("twice", 4) is None
    monkeypatch.setitem(offers.ways, "twice", lambda x: 2 * x)
    assert offers.quicker("twice", 4) == 8


@pytest.mark.parametrize("name", [resize_ops.BILINEAR, repeated_indices.FOLD, philox.WORDS])
def test_engines_offer_what_kernels_ask_for(name):
    assert offers.ways[name].__module__ == large_calls.__name__
