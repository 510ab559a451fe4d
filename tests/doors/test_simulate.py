"""What `ebbflow simulate` says of jobs whose outcome can be worked out by hand."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ebbflow.doors import simulate
from ebbflow.doors.simulate import Costs

CALM = Costs(compute=0.1, model=1e6, bandwidth=1e9, latency=0.0, apply=0.0, jitter=0.0, servers=1)


def rate(kind, workers, costs=CALM, seed=0):
    return simulate.simulate(kind, workers, costs, seed)


def test_one_worker_alone_pays_its_own_messages():
    assert rate("ring", 1).steps_per_second == pytest.approx(10.0)
    assert rate("ps", 1).steps_per_second == pytest.approx(1 / (0.1 + 2 * 1e6 / 1e9))
    assert rate("ring", 1).efficiency == pytest.approx(1.0) and rate("ring", 1).waiting == pytest.approx(0.0)


def test_a_ring_costs_twice_the_model_whatever_its_length():
    for n in (2, 8, 64, 65, 1000):
        assert rate("ring", n).steps_per_second == pytest.approx(1 / (0.1 + 2 * (n - 1) / n * 1e-3))


def test_turns_of_a_ring_that_are_followed_and_counted_agree(monkeypatch):
    costs = CALM._replace(jitter=0.1, latency=1e-4)
    followed = rate("ring", 64, costs)
    monkeypatch.setattr(simulate, "RING_EVENTS", 1)
    counted = rate("ring", 64, costs)
    assert counted.steps_per_second <= followed.steps_per_second * 1.0001
    assert counted.steps_per_second == pytest.approx(followed.steps_per_second, rel=0.15)


def test_a_server_is_the_limit_where_its_link_is_full():
    busy = CALM._replace(model=1e8)  # 0.1 s each way
    assert rate("ps", 16, busy).steps_per_second == pytest.approx(10.0, rel=0.1)  # as many pulls as fit
    assert rate("ps", 16, busy._replace(servers=16)).steps_per_second > 25.0


def test_stragglers_hold_up_those_who_wait_for_all():
    slow = CALM._replace(stragglers=0.02, slowness=10.0)
    assert rate("ring", 64, slow).efficiency < 0.3 < 0.75 < rate("ps", 64, slow._replace(servers=8)).efficiency
    assert rate("ps-sync", 64, slow._replace(servers=8)).efficiency < 0.3


def test_a_mesh_sends_less_of_the_model():
    heavy = CALM._replace(model=1e9, activations=1e6, model_side=4)
    assert rate("mesh", 16, heavy).steps_per_second > 2.5 * rate("ring", 16, heavy).steps_per_second


def test_cores_that_are_shared_and_seeds():
    shared = CALM._replace(cores=2, jitter=0.1)
    assert rate("ring", 4, shared).steps_per_second == pytest.approx(5.0, rel=0.2)
    assert rate("ps", 4, shared, 1) == rate("ps", 4, shared, 1) != rate("ps", 4, shared, 2)


@pytest.mark.parametrize(("kind", "workers", "says"), [("tree", 1, "kind = 'tree'"), ("ps", 0, "workers = 0")])
def test_what_is_no_job(kind, workers, says):
    with pytest.raises(ValueError, match=says):
        rate(kind, workers)


def test_the_command(tmp_path):
    words = [sys.executable, "-m", "ebbflow", "simulate", "--workers", "1,10,10000", "--kind", "ring"]
    done = subprocess.run([*words, "--svg", str(tmp_path / "x.svg")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "batches/s" in done.stdout and "10000" in done.stdout
    assert (tmp_path / "x.svg").read_text().startswith("<svg") and "polyline" in (tmp_path / "x.svg").read_text()
    bad = subprocess.run([*words[:4], "--workers", "0,x"], capture_output=True, text=True, timeout=60)
    assert bad.returncode == 2 and "ebbflow simulate" in bad.stderr
