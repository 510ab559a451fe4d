"""The table: what was measured, as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

OURS, FLOOR = "ebbflow", "numpy"
USUAL = {"", "function", "jit", "eager", "out="}
"""Forms that need no mention."""


@dataclass
class Row:
    """One workload: what each framework took (the less the better), and the form that took it."""

    name: str
    unit: str = "seconds"
    values: dict[str, float] = field(default_factory=dict)
    forms: dict[str, str] = field(default_factory=dict)
    limit: float | None = None

    def add(self, framework: str, value: float, form: str = "") -> None:
        """Keep the value if it is the best so far."""
        if value < self.values.get(framework, float("inf")):
            self.values[framework], self.forms[framework] = value, form

    @property
    def ratio(self) -> float | None:
        """Ours over the best peer's."""
        peers = [value for name, value in self.values.items() if name not in (OURS, FLOOR)]
        if not peers or OURS not in self.values or min(peers) <= 0:
            return None
        return self.values[OURS] / min(peers)

    def cells(self, frameworks: Iterable[str]) -> list[str]:
        found = [self.name]
        for name in frameworks:
            form = self.forms.get(name, "")
            found.append(show(self.values.get(name), self.unit) + ("" if form in USUAL else f" {form}"))
        ratio = "–" if self.ratio is None else f"{self.ratio:.2f}"
        return [*found, ratio, show(self.limit, self.unit)]


def show(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if unit == "bytes":
        return f"{value / 1e6:.0f} MB"
    if value < 1e-4:
        return f"{value * 1e6:.2f} µs"
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.2f} ms" if value < 1e-2 else f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"


def markdown(rows: Iterable[Row], frameworks: list[str]) -> str:
    head = ["workload", *frameworks, "ratio", "limit"]
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *[row.cells(frameworks) for row in rows])]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])
