"""The beam search of CTC as a loop that may become machine code (`core.loops`): that of `ctc_arrays`, step by step."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ebbflow.core.loops import F64, I64, exp, log1p, loop

LOG_2 = 0.693147180559945309417232121458176568
NOWHERE = -1


class Beam:
    """The memory of a search: `width` prefixes in the beam, and a tree of all that ever were there."""

    def __init__(self, steps: int, classes: int, width: int):
        nodes = steps * width + 2
        self.tree = np.full(
            (5, nodes), NOWHERE, np.int64
        )  # parent, label, first child, next sibling, place in the beam
        self.numbers = np.empty((7, width + 1))
        self.places = np.zeros((8, width + 1), np.int64)
        self.longer = np.full((width + 1) * classes, NOWHERE, np.int64)

    def search(
        self, code: Callable[..., int], rows: np.ndarray, blank: int, top: int, merge_repeated: bool
    ) -> tuple[list[list[int]], list[float]]:
        """Return the likeliest label sequences by the code of `beam`, and their log probabilities."""
        width, (steps, classes) = self.places.shape[1] - 1, rows.shape
        self.tree[:] = NOWHERE
        count = code(
            rows, steps, rows.strides[0] // 8, classes, width, blank, -math.inf, self.tree.shape[1], self.tree,
            self.longer, *self.places, *self.numbers,
        )  # fmt: skip
        best = self.places[2, : min(top, count)].tolist()
        return [self.spell(self.places[0, i], merge_repeated) for i in best], [float(self.numbers[2, i]) for i in best]

    def spell(self, node: int, merge_repeated: bool) -> list[int]:
        """Return the labels that lead to a node."""
        labels: list[int] = []
        above = NOWHERE
        parents, names = self.tree[0], self.tree[1]
        while parents[node] >= 0:
            label = int(names[node])
            if not merge_repeated or label != above:
                labels.append(label)
            above = label
            node = int(parents[node])
        return labels[::-1]


def log_add(x: float, y: float) -> float:
    """The logarithm of a sum, as NumPy has it."""
    if x == y:
        return x + LOG_2
    apart = x - y
    return x + log1p(exp(-apart)) if apart > 0.0 else y + log1p(exp(apart))


def child_of(tree: I64, nodes: int, count: I64, node: int, label: int) -> int:
    """The node one label behind another; it is made where it is not there."""
    at = tree[2 * nodes + node]
    while at >= 0:
        if tree[nodes + at] == label:
            return at
        at = tree[3 * nodes + at]
    made = count[0]
    count[0] = made + 1
    tree[made] = node
    tree[nodes + made] = label
    tree[3 * nodes + made] = tree[2 * nodes + node]
    tree[2 * nodes + node] = made
    return made


def order_down(values: F64, n: int, order: I64) -> None:
    """Put places in the order of falling values, equal ones as they are."""
    for i in range(n):
        k = i
        while k > 0 and values[order[k - 1]] < values[i]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = i


def least_of(scores: F64, prefixes: I64, labels: I64, n: int) -> int:
    """Where the worst of those that stay is: the least score, then the first prefix, then the first label."""
    worst = 0
    for i in range(1, n):
        if scores[i] < scores[worst] or (
            scores[i] == scores[worst]
            and (prefixes[i] < prefixes[worst] or (prefixes[i] == prefixes[worst] and labels[i] < labels[worst]))
        ):
            worst = i
    return worst


def sort_places(prefixes: I64, labels: I64, scores: F64, n: int, classes: int) -> None:
    """Sort what stays: old prefixes first, then new ones, each by prefix and label."""
    for i in range(1, n):
        prefix = prefixes[i]
        label = labels[i]
        score = scores[i]
        key = rank_of(prefix, label, classes, n)
        k = i
        while k > 0 and rank_of(prefixes[k - 1], labels[k - 1], classes, n) > key:
            prefixes[k] = prefixes[k - 1]
            labels[k] = labels[k - 1]
            scores[k] = scores[k - 1]
            k -= 1
        prefixes[k] = prefix
        labels[k] = label
        scores[k] = score


def rank_of(prefix: int, label: int, classes: int, n: int) -> int:
    return prefix if label < 0 else (1 << 40) + prefix * classes + label


def look(
    rows: F64, at: int, n: int, classes: int, blank: int, nodes: int, tree: I64, longer: I64, old: I64, label: I64,
    blanks: F64, symbols: F64, total: F64, kept: F64, after: F64, score: F64,
) -> None:  # fmt: skip
    """Compute what each prefix of the beam is worth one step later, as it is."""
    for i in range(n):
        total[i] = log_add(blanks[i], symbols[i])
        tree[4 * nodes + old[i]] = i
        label[i] = tree[nodes + old[i]]
    for i in range(n):
        kept[i] = symbols[i]
        parent = tree[old[i]]
        above = tree[4 * nodes + parent] if parent >= 0 else NOWHERE
        if above >= 0:  # the way from the shorter prefix leads to one that is there already
            before = blanks[above] if label[i] == label[above] else total[above]
            kept[i] = log_add(kept[i], before)
            longer[above * classes + label[i]] = i
        if label[i] >= 0:
            kept[i] = kept[i] + rows[at + label[i]]
        after[i] = total[i] + rows[at + blank]
        score[i] = log_add(after[i], kept[i])


def begin(n: int, never: float, score: F64, best: F64, stay: I64, stay_label: I64, out: I64, barren: I64) -> int:
    """Let every prefix stay that is possible; return their number."""
    m = 0
    for i in range(n):
        barren[i] = 0
        out[i] = 1
        if score[i] > never:
            out[i] = 0
            best[m] = score[i]
            stay[m] = i
            stay_label[m] = NOWHERE
            m += 1
    return m


def grow(
    rows: F64, at: int, b: int, m: int, classes: int, width: int, blank: int, never: float, longer: I64, label: int,
    blanks: float, total: float, best: F64, stay: I64, stay_label: I64, out: I64, barren: I64,
) -> int:  # fmt: skip
    """Let what is one label longer than prefix `b` in, where it is better than the worst; return how many stay."""
    worst = least_of(best, stay, stay_label, m)
    bar = best[worst] if m >= width else never
    for c in range(classes):
        there = longer[b * classes + c]
        if there >= 0:
            if out[there] == 1:
                barren[there] = 1
            continue
        value = (blanks if c == label else total) + rows[at + c]
        if c == blank or not value > bar:
            continue
        if m < width:
            worst = m
            m += 1
        elif value > best[worst]:
            if stay_label[worst] < 0:
                out[stay[worst]] = 1
        else:
            continue
        best[worst] = value
        stay[worst] = b
        stay_label[worst] = c
        worst = least_of(best, stay, stay_label, m)
    return m


def forget(n: int, classes: int, nodes: int, tree: I64, longer: I64, old: I64, label: I64) -> None:
    """Take back what was noted about the beam."""
    for i in range(n):
        parent = tree[old[i]]
        above = tree[4 * nodes + parent] if parent >= 0 else NOWHERE
        if above >= 0:
            longer[above * classes + label[i]] = NOWHERE
    for i in range(n):
        tree[4 * nodes + old[i]] = NOWHERE


def settle(
    m: int, never: float, nodes: int, tree: I64, count: I64, old: I64, stay: I64, stay_label: I64, order: I64,
    blanks: F64, symbols: F64, total: F64, kept: F64, after: F64, score: F64, best: F64,
) -> None:  # fmt: skip
    """Make the beam of those that stay."""
    for i in range(m):
        if stay_label[i] < 0:
            total[i] = after[stay[i]]
            score[i] = kept[stay[i]]
            order[i] = old[stay[i]]
        else:
            total[i] = never
            score[i] = best[i]
            order[i] = child_of(tree, nodes, count, old[stay[i]], stay_label[i])
    for i in range(m):
        blanks[i] = total[i]
        symbols[i] = score[i]
        old[i] = order[i]


@loop
def beam(
    rows: F64, steps: int, apart: int, classes: int, width: int, blank: int, never: float, nodes: int, tree: I64,
    longer: I64, old: I64, label: I64, order: I64, stay: I64, stay_label: I64, out: I64, barren: I64, count: I64,
    blanks: F64, symbols: F64, total: F64, kept: F64, after: F64, score: F64, best: F64,
) -> int:  # fmt: skip
    """Search; return how many prefixes there are in the end. `rows` are log probabilities, `apart` from each other."""
    n = 1
    count[0] = 1
    old[0] = 0
    blanks[0] = 0.0
    symbols[0] = never
    for t in range(steps):
        at = t * apart
        look(rows, at, n, classes, blank, nodes, tree, longer, old, label, blanks, symbols, total, kept, after, score)
        m = begin(n, never, score, best, stay, stay_label, out, barren)
        order_down(total, n, order)
        for k in range(n):
            b = order[k]
            if m >= width and total[b] <= best[least_of(best, stay, stay_label, m)]:
                break
            if barren[b] == 0:
                m = grow(
                    rows, at, b, m, classes, width, blank, never, longer, label[b], blanks[b], total[b],
                    best, stay, stay_label, out, barren,
                )  # fmt: skip
        forget(n, classes, nodes, tree, longer, old, label)
        sort_places(stay, stay_label, best, m, classes)
        settle(
            m, never, nodes, tree, count, old, stay, stay_label, order, blanks, symbols, total, kept, after, score, best
        )
        n = m
    for i in range(n):
        total[i] = log_add(blanks[i], symbols[i])
    order_down(total, n, order)
    return n
