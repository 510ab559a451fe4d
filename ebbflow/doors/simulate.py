"""`ebbflow simulate`: what a job of 1 to 10,000 workers would do, from what its parts cost.

Discrete events on a clock of its own: workers compute for times that are drawn, links carry one message after the
other, parameter servers apply what comes in the order it comes. Servers are alike, and every worker speaks to each of
them, so one stands for all; a ring of many workers goes at the pace of its slowest, so beyond `RING_EVENTS` its turns
are counted in one. Costs are given, or are those that `tools/scaling.py` has measured. Knows numbers alone.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

RING_EVENTS = 64
"""Rings of at most so many workers are followed turn by turn."""

STEPS = 12
"""Steps that are followed, after the first two."""

KINDS = ("ps", "ps-sync", "ring", "mesh")


class Costs(NamedTuple):
    """What the parts of a job cost: seconds, bytes and bytes a second."""

    compute: float = 0.1  # one step of one worker, alone on its machine
    model: float = 100e6  # bytes of all weights
    bandwidth: float = 1.25e9  # of one machine, each way
    latency: float = 50e-6  # of one message, with what both ends do for it
    apply: float = 0.3e-9  # seconds for each byte that a server adds to its weights
    jitter: float = 0.05  # of compute, as a share of it
    stragglers: float = 0.0  # how many steps of a worker are slow ones
    slowness: float = 10.0  # how much longer those take
    servers: int = 0  # parameter servers; 0: one for every eight workers
    model_side: int = 4  # workers that a mesh divides the model over
    activations: float = 4e6  # bytes that they exchange in a step
    cores: int = 0  # that all tasks share, if they are on one machine; 0: each has its own


class Outcome(NamedTuple):
    """What came of a simulated job."""

    workers: int
    steps_per_second: float  # of all workers together; in step, all of them make one
    efficiency: float  # against as many workers that need not speak to each other
    waiting: float  # the share of a worker's time that it does not compute


def simulate(kind: str, workers: int, costs: Costs, seed: int = 0) -> Outcome:
    """Return what so many workers would do together."""
    if kind not in KINDS:
        raise ValueError(f"kind = {kind!r}: a job is one of {', '.join(KINDS)}")
    if workers < 1:
        raise ValueError(f"workers = {workers}: a job has at least one")
    draw = _Draws(costs, workers, random.Random(seed))
    run: dict[str, Callable[..., tuple[float, float]]] = {
        "ps": _out_of_step, "ps-sync": _in_step_by_servers, "ring": _ring, "mesh": _mesh,
    }  # fmt: skip
    steps, seconds = run[kind](workers, costs, draw)
    alone = workers / (costs.compute * _sharing(costs, workers))
    done = steps * (1 if kind == "ps" else workers) / seconds
    busy = min(draw.computed / (workers * seconds), 1.0)
    return Outcome(workers, steps / seconds, min(done / alone, 1.0), 1.0 - busy)


def _sharing(costs: Costs, workers: int) -> float:
    return max(1.0, workers / costs.cores) if costs.cores else 1.0


class _Draws:
    """How long each step of a worker takes to compute, and how much was computed in all."""

    def __init__(self, costs: Costs, workers: int, rng: random.Random):
        self._costs, self._rng = costs, rng
        self._mean = costs.compute * _sharing(costs, workers)
        self.computed = 0.0

    def step(self, share: float = 1.0) -> float:
        costs = self._costs
        seconds = max(self._mean * share * self._rng.gauss(1.0, costs.jitter), 0.0)
        if self._rng.random() < costs.stragglers:
            seconds *= costs.slowness
        self.computed += seconds
        return seconds


class _Server:
    """One of the parameter servers, all of which are alike: two links, and what applies what comes in."""

    def __init__(self, costs: Costs, workers: int):
        self.count = costs.servers or max(1, workers // 8)
        self._bytes = costs.model / self.count
        self._costs = costs
        self._out = self._in = self._applied = 0.0
        # What a worker's own link needs for the parts of all servers: it cannot be quicker than that.
        self._own = costs.model / costs.bandwidth

    def pulled(self, now: float) -> float:
        """Return when a worker that asks now has the weights."""
        begin = max(now + self._costs.latency, self._out)
        self._out = begin + self._bytes / self._costs.bandwidth
        return max(self._out, now + self._own) + self._costs.latency

    def pushed(self, now: float) -> float:
        """Return when what a worker sends now has been added to the weights."""
        begin = max(now, self._in)
        self._in = begin + self._bytes / self._costs.bandwidth
        arrived = max(self._in, now + self._own) + self._costs.latency
        self._applied = max(arrived, self._applied) + self._bytes * self._costs.apply
        return self._applied


def _out_of_step(workers: int, costs: Costs, draw: _Draws) -> tuple[float, float]:
    """Each worker pulls, computes and pushes as it likes."""
    server, total, done = _Server(costs, workers), STEPS * workers, 0
    events = [(0.0, i, "pull") for i in range(workers)]
    heapq.heapify(events)
    end = 0.0
    while done < total:
        now, worker, what = heapq.heappop(events)
        if what == "pull":
            heapq.heappush(events, (server.pulled(now), worker, "compute"))
        elif what == "compute":
            heapq.heappush(events, (now + draw.step(), worker, "push"))
        else:
            end = server.pushed(now)
            heapq.heappush(events, (end, worker, "pull"))
            done += 1
    return done, end


def _in_step_by_servers(workers: int, costs: Costs, draw: _Draws) -> tuple[float, float]:
    """All pull, compute and push; the next step begins when the last push was added."""
    server, now = _Server(costs, workers), 0.0
    for _ in range(STEPS):
        pulled = [server.pulled(now) for _ in range(workers)]
        ready = sorted(at + draw.step() for at in pulled)
        now = max(server.pushed(at) for at in ready)
    return STEPS, now


def _summed(starts: Sequence[float], size: float, costs: Costs) -> float:
    """Return when the last of some workers has the sum of what all have: 2(n - 1) turns round a ring."""
    n = len(starts)
    if n == 1:
        return starts[0]
    turn = costs.latency + size / n / costs.bandwidth
    if n > RING_EVENTS:
        return max(starts) + 2 * (n - 1) * turn
    at = list(starts)
    for _ in range(2 * (n - 1)):  # a turn: each sends on what it got from the one before it
        at = [max(at[i], at[i - 1]) + turn for i in range(n)]
    return max(at)


def _ring(workers: int, costs: Costs, draw: _Draws) -> tuple[float, float]:
    """Replicas that bring their gradients together round a ring."""
    now = 0.0
    for _ in range(STEPS):
        now = _summed([now + draw.step() for _ in range(workers)], costs.model, costs)
    return STEPS, now


def _mesh(workers: int, costs: Costs, draw: _Draws) -> tuple[float, float]:
    """A mesh: the model divided over one side, the batch over the other."""
    side = math.gcd(workers, costs.model_side)
    groups, now = workers // side, 0.0
    for _ in range(STEPS):
        ends = []
        for _ in range(groups):
            begun = [now + draw.step() for _ in range(side)]
            ends.append(_summed(begun, costs.activations, costs))
        now = _summed(ends, costs.model / side, costs)
    return STEPS, now


# --- what is shown ----------------------------------------------------------------------------------------------------


def table(kind: str, counts: Sequence[int], costs: Costs, seeds: int = 3) -> list[Outcome]:
    """Return what came of jobs of these sizes: of each, the one in the middle of some seeds."""
    found = []
    for count in counts:
        runs = [simulate(kind, count, costs, seed) for seed in range(seeds)]
        middle = statistics.median_low(run.steps_per_second for run in runs)
        found.append(next(run for run in runs if run.steps_per_second == middle))
    return found


_COLOURS = ("#1b6ca8", "#c8553d", "#4c956c", "#8e6bbf", "#b08900", "#555555")


def svg(title: str, lines: dict[str, Sequence[tuple[float, float]]], x: str, y: str, dots: Sequence[str] = ()) -> str:
    """Return a plot with logarithmic axes as the text of an SVG file; the lines that `dots` names are points."""
    width, height, left, top = 560, 340, 62, 34
    points = [p for line in lines.values() for p in line]
    spans = [_decades([p[i] for p in points]) for i in (0, 1)]
    right, bottom = width - 130, height - 46

    def place(point: tuple[float, float]) -> tuple[float, float]:
        (x0, x1), (y0, y1) = spans
        across = (math.log10(point[0]) - x0) / (x1 - x0)
        up = (math.log10(point[1]) - y0) / (y1 - y0)
        return round(left + across * (right - left), 1), round(bottom - up * (bottom - top), 1)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
             f'font-size="11"><rect width="100%" height="100%" fill="white"/><text x="{left}" y="18" font-size="13">'
             f"{title}</text>"]  # fmt: skip
    for power in range(spans[0][0], spans[0][1] + 1):
        at, _ = place((10.0**power, 10.0 ** spans[1][0]))
        parts.append(f'<path d="M{at} {top}V{bottom}" stroke="#ddd"/><text x="{at}" y="{bottom + 15}" '
                     f'text-anchor="middle">{10**power:g}</text>')  # fmt: skip
    for power in range(spans[1][0], spans[1][1] + 1):
        _, at = place((10.0 ** spans[0][0], 10.0**power))
        parts.append(f'<path d="M{left} {at}H{right}" stroke="#ddd"/><text x="{left - 6}" y="{at + 4}" '
                     f'text-anchor="end">{10.0**power:g}</text>')  # fmt: skip
    parts.append(f'<text x="{(left + right) / 2}" y="{height - 10}" text-anchor="middle">{x}</text>')
    parts.append(f'<text transform="translate(14 {(top + bottom) / 2}) rotate(-90)" text-anchor="middle">{y}</text>')
    for number, (name, line) in enumerate(lines.items()):
        colour, placed = _COLOURS[number % len(_COLOURS)], [place(p) for p in line]
        if name in dots:
            parts += [f'<circle cx="{a}" cy="{b}" r="4" fill="{colour}"/>' for a, b in placed]
        else:
            path = " ".join(f"{a},{b}" for a, b in placed)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{right + 10}" y="{top + 14 + 16 * number}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten between which values lie."""
    low = math.floor(math.log10(min(values)) + 1e-9)
    return low, max(math.ceil(math.log10(max(values)) - 1e-9), low + 1)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what `ebbflow simulate` takes."""
    usual = Costs()
    parser.add_argument("--kind", choices=(*KINDS, "all"), default="all", help="how workers share what they learn")
    parser.add_argument("--workers", default="1,2,4,8,16,32,64,128,256,1000,10000", metavar="N,N,…", help="job sizes")
    parser.add_argument("--compute-ms", type=float, default=usual.compute * 1e3, help="one step of one worker")
    parser.add_argument("--model-mb", type=float, default=usual.model / 1e6, help="weights, in megabytes")
    parser.add_argument("--gbps", type=float, default=usual.bandwidth * 8 / 1e9, help="gigabits a second of a machine")
    parser.add_argument("--latency-us", type=float, default=usual.latency * 1e6, help="of one message")
    parser.add_argument("--servers", type=int, default=0, help="parameter servers (default: one for 8 workers)")
    parser.add_argument("--stragglers", type=float, default=0.0, metavar="SHARE", help="steps that are slow ones")
    parser.add_argument("--slowness", type=float, default=usual.slowness, help="how much longer those take")
    parser.add_argument("--model-side", type=int, default=usual.model_side, help="workers a mesh divides a model over")
    parser.add_argument("--cores", type=int, default=0, help="that all workers share, if on one machine")
    parser.add_argument("--svg", metavar="FILE", help="write a plot here")


def serve(options: Any) -> int:
    """Do what `ebbflow simulate` was asked for, and return what to exit with."""
    costs = Costs(
        compute=options.compute_ms / 1e3, model=options.model_mb * 1e6, bandwidth=options.gbps / 8 * 1e9,
        latency=options.latency_us / 1e6, servers=options.servers, stragglers=options.stragglers,
        slowness=options.slowness, model_side=options.model_side, cores=options.cores,
    )  # fmt: skip
    try:
        counts = [int(word) for word in options.workers.split(",")]
        if min(counts) < 1 or min(costs.compute, costs.model, costs.bandwidth) <= 0 or costs.latency < 0:
            raise ValueError("numbers of workers, times and sizes are above zero")
    except ValueError as error:
        print(f"ebbflow simulate: {error}", file=sys.stderr)
        return 2
    kinds = KINDS if options.kind == "all" else (options.kind,)
    print(f"{'':8s}" + "".join(f"{count:>12d}" for count in counts) + "  workers")
    lines: dict[str, Sequence[tuple[float, float]]] = {}
    for kind in kinds:
        found = table(kind, counts, costs)
        rates = [f.steps_per_second * (1 if kind == "ps" else f.workers) for f in found]
        lines[kind] = list(zip(map(float, counts), rates, strict=True))
        print(f"{kind:8s}" + "".join(f"{rate:12.4g}" for rate in rates) + "  batches/s")
        print(f"{'':8s}" + "".join(f"{f.efficiency:11.0%} " for f in found) + "  of no waiting")
    if options.svg:
        with open(options.svg, "w") as file:
            file.write(svg("batches a second", lines, "workers", "batches/s"))
    return 0
