"""Trees that grow while examples come by, as those of `tf.contrib.tensor_forest`: what a tree is, and how it grows.

Every leaf draws some candidates for its split, each a random feature at the value an example has there, and counts what
goes left by each. When a leaf has seen enough it becomes a node with the best of them. Knows arrays and TensorFlow's
messages for trees and for parameters; the ops are in `forest_ops.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import errors, forks
from ebbflow.core.typing import Message
from ebbflow.ops.sizes import invalid

LEAF = -1
PRUNED = {1: 0.5, 2: 0.25, 3: 0.1}
"""The share of a leaf's candidates that a way of pruning takes away."""
HOEFFDING = 4
LESS_THAN = 1


def params_of(text: bytes) -> Message:
    """Return the parameters that an op was told."""
    kind = messages.message("tensorflow.tensorforest.TensorForestParams")
    return messages.parse(kind, text, "params", error=errors.InvalidArgumentError)


def at_depth(param: Message, depth: int) -> float:
    """Return what a parameter is in some depth of a tree."""
    kind = param.WhichOneof("ParamType")
    if kind == "linear":
        line = param.linear
        return min(max(line.slope * depth + line.y_intercept, line.min_val), line.max_val)
    if kind == "exponential":
        curve = param.exponential
        return curve.bias + curve.multiplier * math.pow(curve.base, curve.depth_multiplier * depth)
    if kind == "threshold":
        step = param.threshold
        return step.on_value if depth >= step.threshold else step.off_value
    return param.constant_value


class Tree:
    """A tree of nodes by their numbers; the right child of a node follows the left."""

    def __init__(self) -> None:
        self.lock, self.ready = forks.rlock(), False

    def fill(self, text: bytes, params: Message) -> None:
        """Become the tree that a message holds, or a single leaf where it holds none."""
        self.outputs, self.regression = params.num_outputs, params.is_regression
        self.strict = params.inequality_test_type == LESS_THAN
        self.feature, self.threshold = np.full(1, LEAF, np.int32), np.zeros(1, np.float32)
        self.left, self.depth = np.zeros(1, np.int32), np.zeros(1, np.int32)
        self.sums, self.weight = np.zeros((1, self.outputs), np.float32), np.zeros(1, np.float32)
        if text:
            kind = messages.message("tensorflow.decision_trees.Model")
            self._read(messages.parse(kind, text, "tree_config", error=errors.InvalidArgumentError).decision_tree.nodes)
        self.ready = True

    def _read(self, nodes: Any) -> None:
        if not nodes:
            return
        self._lengthen(len(nodes) - 1)
        for i, node in enumerate(nodes):
            self.depth[i] = node.depth.value
            if node.WhichOneof("node_type") == "binary_node":
                split = node.binary_node
                self.feature[i] = int(split.inequality_left_child_test.feature_id.id.value)
                self.threshold[i] = split.inequality_left_child_test.threshold.float_value
                self.left[i] = split.left_child_id.value
                if not i < self.left[i] < len(nodes) - 1 or split.right_child_id.value != self.left[i] + 1:
                    raise invalid(f"tree_config: node {i} has the children {self.left[i]} and "
                                  f"{split.right_child_id.value} in a tree of {len(nodes)}")  # fmt: skip
                continue
            values = [value.float_value for value in node.leaf.vector.value]
            if values:
                self.sums[i, : len(values)] = values[: self.outputs]
                self.weight[i] = values[self.outputs] if len(values) > self.outputs else 1
                self.sums[i] *= self.weight[i] if self.regression else 1

    def message(self) -> Message:
        """Return the tree as TensorFlow's message. A leaf of means has its weight behind them."""
        model = messages.message("tensorflow.decision_trees.Model")()
        for i in range(len(self.feature)):
            node = model.decision_tree.nodes.add()
            node.node_id.value, node.depth.value = i, int(self.depth[i])
            if self.feature[i] != LEAF:
                self._write_split(node.binary_node, i)
                continue
            values = [*self.means(np.array([i]))[0], self.weight[i]] if self.regression else self.sums[i]
            for value in values:
                node.leaf.vector.value.add(float_value=value)
        return model

    def _write_split(self, split: Message, i: int) -> None:
        split.left_child_id.value, split.right_child_id.value = int(self.left[i]), int(self.left[i]) + 1
        test = split.inequality_left_child_test
        test.feature_id.id.value, test.type = str(self.feature[i]), int(self.strict)
        test.threshold.float_value = self.threshold[i]

    def leaves(self, data: np.ndarray, paths: list[list[int]] | None = None) -> np.ndarray:
        """Return the number of the leaf that each row comes to; the nodes on its way are added to `paths`."""
        at = np.zeros(len(data), np.int32)
        going = np.arange(len(data))
        while len(going):
            nodes = at[going]
            if paths is not None:
                for row, node in zip(going, nodes):
                    paths[row].append(int(node))
            inner = self.feature[nodes] != LEAF
            going, nodes = going[inner], nodes[inner]
            at[going] = self.left[nodes] + ~self.goes_left(data[going, self.feature[nodes]], self.threshold[nodes])
        return at

    def goes_left(self, values: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
        """Return whether values are on the left side of thresholds."""
        return values < thresholds if self.strict else values <= thresholds

    def means(self, leaves: np.ndarray) -> np.ndarray:
        """Return what leaves predict: the shares of the classes, or the mean of the labels they have seen."""
        weight = self.weight[leaves] if self.regression else self.sums[leaves].sum(1)
        return self.sums[leaves] / np.maximum(weight, np.finfo(np.float32).tiny)[:, None]

    def split(self, node: int, feature: int, threshold: float, left: Any, right: Any) -> tuple[int, int]:
        """Make a leaf a node; return the numbers of its children, which begin with some sums and weights."""
        first = len(self.feature)
        self._lengthen(2)
        self.feature[node], self.threshold[node], self.left[node] = feature, threshold, first
        self.depth[first:] = self.depth[node] + 1
        (self.sums[first], self.weight[first]), (self.sums[first + 1], self.weight[first + 1]) = left, right
        return first, first + 1

    def _lengthen(self, more: int) -> None:
        self.feature = np.concatenate([self.feature, np.full(more, LEAF, np.int32)])
        for name in ("threshold", "left", "depth", "weight", "sums"):
            values = getattr(self, name)
            setattr(self, name, np.concatenate([values, np.zeros((more, *values.shape[1:]), values.dtype)]))


class Stats:
    """What the leaves of a tree have seen since they are leaves."""

    def __init__(self) -> None:
        self.lock, self.ready = forks.rlock(), False
        self.random: np.random.Generator | None = None

    def fill(self, params: Message) -> None:
        """Begin with nothing."""
        self.params, self.slots, self.random, self.ready = params, dict[int, Slot](), None, True

    def draw(self, seed: int) -> np.random.Generator:
        """Return the source of random features; the first seed decides, and zero means none."""
        if self.random is None:
            self.random = np.random.Generator(np.random.Philox(seed or None))
        return self.random

    def slot(self, node: int, depth: int) -> Slot:
        """Return what a leaf has seen."""
        if node not in self.slots:
            self.slots[node] = Slot(self.params, depth)
        return self.slots[node]


class Slot:
    """A leaf's candidates for its split, and the sums of what goes left by each, and of all.

    For classes a sum is a weight by class; for numbers there are the labels, their squares and the weight side by side.
    """

    def __init__(self, params: Message, depth: int):
        self._params, self._classes = params, params.num_outputs
        self._wanted = int(at_depth(params.num_splits_to_consider, depth))
        self._enough = at_depth(params.split_after_samples, depth)
        self._prune_every = at_depth(params.pruning_type.prune_every_samples, depth)
        self._sure = at_depth(params.dominate_fraction, depth)
        self._begin()

    def _begin(self) -> None:
        self._pruned = 0
        width = 2 * self._classes + 1 if self._params.is_regression else self._classes
        self.features, self.thresholds = np.zeros(0, np.int64), np.zeros(0, np.float32)
        self.lefts, self.total = np.zeros((0, width), np.float64), np.zeros(width, np.float64)
        self.weight = 0.0

    def add(self, tree: Tree, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray, random: Any) -> None:
        """Count rows; the first of them make candidates, while there are too few of these."""
        told = self._sums(labels, weights)
        more = min(len(rows), self._wanted - len(self.features) if not self._pruned else 0)
        if more > 0:
            drawn = random.integers(rows.shape[1], size=more)
            self.features = np.concatenate([self.features, drawn])
            self.thresholds = np.concatenate([self.thresholds, rows[np.arange(more), drawn]])
            self.lefts = np.concatenate([self.lefts, np.zeros((more, self.lefts.shape[1]))])
        left = tree.goes_left(rows[:, self.features], self.thresholds)
        if more > 0:  # a candidate counts only what comes after the row that made it
            left[:, -more:] &= np.arange(len(rows))[:, None] > np.arange(more)
        self.lefts += left.T.astype(np.float64) @ told
        self.total += told.sum(0)
        self.weight += float(weights.sum())
        if self._params.pruning_type.type and self.weight >= (self._pruned + 1) * self._prune_every > 0:
            self._pruned += 1
            self._prune()

    def _sums(self, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
        if self._params.is_regression:
            columns = [labels, np.square(labels), np.ones((len(labels), 1))]
            return np.concatenate(columns, 1) * weights[:, None]
        told = np.zeros((len(labels), self._classes))
        told[np.arange(len(labels)), labels[:, 0].astype(np.int64)] = weights
        return told

    def _prune(self) -> None:
        scores = self._scores()[0]
        if self._params.pruning_type.type == HOEFFDING:
            spread = self.weight * (1 - 1 / self._classes)
            bound = spread * math.sqrt(0.5 * math.log(1 / (1 - self._sure)) / self.weight)
            kept = scores - scores.min(initial=np.inf) <= bound
        else:
            gone = int(len(scores) * PRUNED[self._params.pruning_type.type])
            kept = np.ones(len(scores), bool)
            kept[np.argsort(-scores, kind="stable")[:gone]] = False
        self.features, self.thresholds, self.lefts = self.features[kept], self.thresholds[kept], self.lefts[kept]

    def finished(self) -> bool:
        """Whether the leaf has seen enough, and not of one class only."""
        pure = not self._params.is_regression and np.count_nonzero(self.total) < 2
        return self.weight >= self._enough and not pure

    def _scores(self) -> tuple[np.ndarray, np.ndarray]:
        """Return how mixed both sides of each candidate are together, and whether both have something."""
        rights = self.total - self.lefts
        if self._params.is_regression:
            n = self._classes
            scores, some = np.zeros(len(self.lefts)), np.ones(len(self.lefts), bool)
            for side in (self.lefts, rights):
                weight = side[:, -1]
                some &= weight > 0
                mean = side[:, :n] / np.maximum(weight, 1e-30)[:, None]
                scores += (side[:, n : 2 * n] - mean * side[:, :n]).sum(1)
            return scores, some
        sides = [(side, side.sum(1)) for side in (self.lefts, rights)]
        some = (sides[0][1] > 0) & (sides[1][1] > 0)
        mixed = [n + self._classes - np.square(side + 1).sum(1) / (n + self._classes) for side, n in sides]
        return mixed[0] + mixed[1], some

    def best(self) -> tuple[int, float, Any, Any] | None:
        """Return the feature and threshold of the best candidate, and what its sides begin with; None if none is any
        use, in which case others are drawn from now on.
        """
        scores, some = self._scores()
        if not some.any():
            self._begin()
            return None
        i = int(np.argmin(np.where(some, scores, np.inf)))
        left, right = (self._beginning(side) for side in (self.lefts[i], self.total - self.lefts[i]))
        return int(self.features[i]), float(self.thresholds[i]), left, right

    def _beginning(self, sums: np.ndarray) -> tuple[np.ndarray, float]:
        weight = sums[-1] if self._params.is_regression else sums.sum()
        return sums[: self._classes], float(weight)
