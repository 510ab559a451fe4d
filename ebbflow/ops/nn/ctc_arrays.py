"""Connectionist temporal classification on arrays: the loss with its gradient, and decoding by beams of prefixes.

Probabilities are kept as logarithms. The loss goes through time once forwards and once backwards for the whole batch
together, over label sequences with blanks between. The decoder keeps prefixes as nodes of a tree; a step in time is a
table of prefixes by classes, of which the best stay. Knows arrays only; the ops are in `ctc`.

    Graves, Fernández, Gomez, Schmidhuber: Connectionist temporal classification. ICML 2006.
"""

from __future__ import annotations

import collections
import heapq

import numpy as np

from ebbflow.ops.nn.row_loops import largest_places

NEVER = -np.inf


def log_softmax(x: np.ndarray) -> np.ndarray:
    """Return the logarithms of the probabilities along the last axis."""
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def loss_and_gradient(
    logits: np.ndarray, labels: list[list[int]], lengths: np.ndarray, blank: int, merges: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return -log p of each label sequence, and its gradient by the logits `[time, batch, class]`.

    A sequence that no path spells has an infinite loss, and the probabilities as its gradient.
    """
    steps, batch, classes = logits.shape
    kind = logits.dtype
    log_y = log_softmax(logits.astype(np.float64))
    width = 2 * max((len(row) for row in labels), default=0) + 1
    path = np.full((batch, width), blank)
    ends = np.array([2 * len(row) for row in labels])
    for row, places in zip(labels, path, strict=True):
        places[1 : 2 * len(row) : 2] = row
    is_label = np.arange(width) % 2 == 1  # which may be the blank's class too, between blanks that none asked for
    stays = np.broadcast_to(np.where(~is_label | merges, 0.0, NEVER), (batch, width))
    skips = np.full((batch, width), NEVER)
    skips[:, 2:] = np.where(is_label[2:] & ~((path[:, 2:] == path[:, :-2]) & merges), 0.0, NEVER)
    emitted = np.take_along_axis(log_y, np.broadcast_to(path, (steps, batch, width)), -1)
    alpha = _forwards(emitted, stays, skips)
    beta = _backwards(emitted, stays, skips, lengths, ends)
    rows, last = np.arange(batch), np.maximum(lengths - 1, 0)
    log_p = alpha[last, rows, ends]
    log_p = np.where(ends > 0, np.logaddexp(log_p, alpha[last, rows, np.maximum(ends - 1, 0)]), log_p)
    inside = np.arange(steps)[:, None] < lengths
    possible = np.isfinite(log_p)
    log_p = np.where(lengths > 0, log_p, np.where(ends == 0, 0.0, NEVER))
    gradient = np.where(inside[..., None], np.exp(log_y), 0.0)
    share = np.exp(alpha + beta - np.where(possible, log_p, 0.0)[:, None])
    for b in np.flatnonzero(possible):
        which = (path[b][:, None] == np.arange(classes)).astype(np.float64)
        which[is_label, blank] = 0  # as TensorFlow has it: such a label is nobody's to learn
        gradient[:, b] -= np.where(inside[:, b, None], share[:, b] @ which, 0.0)
    return (-log_p).astype(kind), gradient.astype(kind)


def _forwards(emitted: np.ndarray, stays: np.ndarray, skips: np.ndarray) -> np.ndarray:
    alpha = np.full_like(emitted, NEVER)
    if not len(emitted):
        return alpha
    alpha[0, :, :2] = emitted[0, :, :2]
    for t in range(1, len(emitted)):
        before = alpha[t - 1]
        reached = before + stays
        reached[:, 1:] = np.logaddexp(reached[:, 1:], before[:, :-1])
        reached[:, 2:] = np.logaddexp(reached[:, 2:], before[:, :-2] + skips[:, 2:])
        alpha[t] = reached + emitted[t]
    return alpha


def _backwards(
    emitted: np.ndarray, stays: np.ndarray, skips: np.ndarray, lengths: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """Return the probability of what comes after each step (the step itself left out)."""
    steps, _, width = emitted.shape
    places = np.arange(width)
    final = np.where((places == ends[:, None]) | (places == ends[:, None] - 1), 0.0, NEVER)
    beta = np.full_like(emitted, NEVER)
    for t in range(steps - 1, -1, -1):
        here = np.full_like(final, NEVER)
        if t + 1 < steps:
            after = beta[t + 1] + emitted[t + 1]
            here = after + stays
            here[:, :-1] = np.logaddexp(here[:, :-1], after[:, 1:])
            here[:, :-2] = np.logaddexp(here[:, :-2], after[:, 2:] + skips[:, 2:])
        last = (lengths - 1 == t)[:, None]
        beta[t] = np.where(last, final, np.where((lengths - 1 > t)[:, None], here, NEVER))
    return beta


# --- decoding ---------------------------------------------------------------------------------------------------------


class _Prefixes:
    """A tree of label sequences: each node is one, known by its parent and last label."""

    def __init__(self) -> None:
        self.parent, self.label = [-1], [-1]
        self._children: dict[tuple[int, int], int] = {}

    def child(self, node: int, label: int) -> int:
        found = self._children.get((node, label))
        if found is None:
            found = self._children[node, label] = len(self.parent)
            self.parent.append(node)
            self.label.append(label)
        return found

    def spell(self, node: int, merge_repeated: bool) -> list[int]:
        labels: list[int] = []
        above = -1
        while self.parent[node] >= 0:
            if not merge_repeated or self.label[node] != above:
                labels.append(self.label[node])
            above = self.label[node]
            node = self.parent[node]
        return labels[::-1]


def beam_search(
    log_y: np.ndarray, width: int, blank: int, top: int, merge_repeated: bool
) -> tuple[list[list[int]], list[float]]:
    """Return the `top` likeliest label sequences of `[time, class]` log probabilities, and their log probabilities."""
    tree = _Prefixes()
    nodes, blanks, symbols = [0], np.zeros(1), np.full(1, NEVER)
    for row in log_y:
        total = np.logaddexp(blanks, symbols)
        slot = {node: i for i, node in enumerate(nodes)}
        label = np.array([tree.label[node] for node in nodes])
        extended = np.where(np.arange(len(row)) == label[:, None], blanks[:, None], total[:, None]) + row
        extended[:, blank] = NEVER
        kept, longer = symbols.copy(), collections.defaultdict[int, dict[int, int]](dict)
        for i, node in enumerate(nodes):
            above = slot.get(tree.parent[node])
            if above is not None:  # the way from the shorter prefix leads to one that is there already
                before = blanks[above] if label[i] == label[above] else total[above]
                kept[i] = np.logaddexp(kept[i], before)
                longer[above][int(label[i])] = i
        kept = kept + np.where(label >= 0, row[label], 0.0)
        after_blank = total + row[blank]
        scores = np.logaddexp(after_blank, kept)
        old, new = _survivors(total, scores, extended, longer, width)
        added = [tree.child(nodes[b], c) for b, c in new]
        symbols = np.concatenate([kept[old], np.array([extended[b, c] for b, c in new])])
        blanks = np.concatenate([after_blank[old], np.full(len(new), NEVER)])
        nodes = [nodes[i] for i in old] + added
    total = np.logaddexp(blanks, symbols)
    order = np.argsort(-total, kind="stable")[:top]
    return [tree.spell(nodes[i], merge_repeated) for i in order], [float(total[i]) for i in order]


def _survivors(
    total: np.ndarray, scores: np.ndarray, extended: np.ndarray, longer: dict[int, dict[int, int]], width: int
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return which prefixes stay, and which (prefix, label) come in: the best, but for one thing.

    TensorFlow grows prefixes from the likeliest on, and one that has been driven out by then is grown no more if the
    prefix before it was met in the meantime (`longer`: for a prefix, those one label longer that were in the beam).
    """
    heap: list[tuple[float, int, int]] = [(float(score), i, -1) for i, score in enumerate(scores) if score > NEVER]
    heapq.heapify(heap)
    out = {i for i, score in enumerate(scores) if not score > NEVER}
    barren: set[int] = set()
    for b in np.argsort(-total, kind="stable").tolist():
        if len(heap) >= width and total[b] <= heap[0][0]:
            break
        if b in barren:
            continue
        bar = heap[0][0] if len(heap) >= width else NEVER
        there = longer.get(b, {})
        for c in sorted({*np.flatnonzero(extended[b] > bar).tolist(), *there}):
            if c in there:
                if there[c] in out:
                    barren.add(there[c])
                continue
            score = float(extended[b, c])
            if len(heap) < width:
                heapq.heappush(heap, (score, b, c))
            elif score > heap[0][0]:
                _, gone, label = heapq.heapreplace(heap, (score, b, c))
                if label < 0:
                    out.add(gone)
    return sorted(i for _, i, c in heap if c < 0), sorted((b, c) for _, b, c in heap if c >= 0)


def likeliest(inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the likeliest class of each step of each row, [rows, steps], and its number."""
    steps, rows, classes = inputs.shape
    quick = largest_places(inputs)
    if quick is None:
        best, top = inputs.argmax(-1), inputs.max(-1) if classes else np.zeros((steps, rows), inputs.dtype)
    else:
        best, top = quick
    return np.ascontiguousarray(best.T), np.ascontiguousarray(top.T)


def greedy(best: np.ndarray, lengths: np.ndarray, blank: int, merge_repeated: bool) -> np.ndarray:
    """Return which of the likeliest classes stay: no blanks and, where asked for, no repetitions."""
    kept = (best != blank) & (np.arange(best.shape[1]) < lengths[:, None])
    if merge_repeated:
        kept[:, 1:] &= best[:, 1:] != best[:, :-1]
    return kept
