"""Do all frameworks compute the same? Tiny sizes, every form, three calls each, compared with NumPy and each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks import reference
from benchmarks.problems import PROBLEMS
from benchmarks.workers import Worker, WorkerError

RTOL, ATOL = 2e-4, 2e-5
"""Single precision, sums in any order, three steps of training on top of each other."""


def differences(workers: list[Worker], names: list[str]) -> Iterator[str]:
    """Yield a line for every form of every framework: what it agrees with, or where it differs."""
    for name in names:
        agreed = None
        for worker in workers:
            for form in worker.forms.get(name, []):
                try:
                    found = worker.ask("check", name, form=form)["results"]
                except WorkerError as failure:
                    yield f"FAILS   {name} {worker.name} {form}: {failure}"
                    continue
                wrong = _compare(found[0], [x.tolist() for x in _truth(name)]) or (agreed and _compare(found, agreed))
                agreed = agreed or (None if wrong or worker.name == "numpy" else found)
                yield f"{'DIFFERS' if wrong else 'agrees '} {name} {worker.name} {form}{wrong or ''}"


def _truth(name: str) -> list[np.ndarray]:
    return reference.answer(name, *PROBLEMS[name].arrays(tiny=True))


def _compare(found: list, expected: list, at: str = "") -> str | None:
    """Return where `found` differs from `expected`; what goes beyond it is not looked at."""
    for i, (a, b) in enumerate(zip(found, expected)):
        a, b = (x if isinstance(x, list) else [x] for x in (a, b))
        try:
            same = np.shape(a) == np.shape(b) and np.allclose(a, b, RTOL, ATOL)
        except ValueError:  # arrays of several shapes: one at a time
            if wrong := _compare(a, b, f"{at}[{i}]"):
                return wrong
            continue
        if not same:
            return f"{at}[{i}]: {str(a)[:120]} is not {str(b)[:120]}"
    return None
