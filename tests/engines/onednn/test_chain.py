"""Chains of primitives on a machine that others use."""

from __future__ import annotations

import numpy as np
import pytest

from ebbflow.engines.onednn import chain, conv, library, matmul
from tests.machine import ONEDNN

pytestmark = ONEDNN
R = np.random.RandomState(0)
A, B = R.randn(64, 300).astype("f"), R.randn(300, 500).astype("f")


@pytest.fixture
def two(monkeypatch):
    """Have two threads, and nobody be late."""
    monkeypatch.setattr(library, "thread_count", lambda: 2)
    monkeypatch.setattr(chain._crowd, "until", 0.0)


def product(call):
    out = np.empty((64, 500), np.float32)
    call(A, B, out)
    return out


def test_who_works_alone_gives_the_bits_of_the_team(two, monkeypatch):
    plan = matmul.forward(A.shape, B.shape)
    assert plan.call.team.threads == 2
    together = product(plan.call)
    monkeypatch.setattr(chain._crowd, "until", float("inf"))
    monkeypatch.setattr(chain, "NEW", float("inf"))
    np.testing.assert_array_equal(product(plan.call), together)
    assert plan.call._spare is None
    monkeypatch.setattr(chain, "NEW", -1.0)
    np.testing.assert_array_equal(product(plan.call), together)
    assert plan.call._spare.team.threads == 1
    np.testing.assert_allclose(together, A @ B, rtol=1e-4, atol=1e-4)


def test_a_team_that_is_late_rests(two):
    call = matmul.forward(A.shape, B.shape).call
    product(call)
    chain._crowd.until = 0.0
    call._patience, kept = -1.0, call._patience
    product(call)
    call._patience = kept
    assert chain._crowd.until > 0


def test_where_one_thread_would_add_in_another_order_the_team_goes_on(two, monkeypatch):
    call = matmul.forward(A.shape, B.shape).call
    monkeypatch.setattr(call, "_has_looked", False)
    monkeypatch.setattr(call, "_spare", None)
    monkeypatch.setattr(chain, "NEW", -1.0)
    tried = iter([[b"one"], [b"another"]])
    monkeypatch.setattr(chain.Chain, "_tried", lambda self: next(tried))
    assert call._alone() is None


def test_gradients_of_filters_stay_what_they_are(two, monkeypatch):
    """They are sums over images, which a team divides."""
    x, dy = R.randn(8, 20, 20, 16).astype("f"), R.randn(8, 20, 20, 32).astype("f")
    found = []
    for until in (0.0, float("inf")):
        monkeypatch.setattr(chain._crowd, "until", until)
        plan = conv.to_filter(x.shape, (3, 3, 16, 32), dy.shape, (1, 1, 1, 1), "SAME")
        out = np.empty((3, 3, 16, 32), np.float32)
        plan.call(x, None, dy, out)
        found.append(out)
    np.testing.assert_array_equal(*found)
