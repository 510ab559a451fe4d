"""Boosted trees as a value: what an ensemble holds, how it grows by a layer, and what it answers.

The ensemble is TensorFlow's message `TreeEnsemble`, so what is saved is what TensorFlow reads. Nodes of a tree stand
in one list, children behind their parent; the value of a leaf is its contribution to the logits. Beside the message
every tree has arrays of its nodes, made when somebody predicts and dropped when the tree changes. Knows nothing of ops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import errors, forks
from ebbflow.ops.sizes import invalid

NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)
TREE_WEIGHT = 1.0
"""The learning rate is in the leaves: trees grow layer by layer, and every layer counts at once."""

LEFT, RIGHT, EQUAL = b"INEQUALITY_DEFAULT_LEFT", b"INEQUALITY_DEFAULT_RIGHT", b"EQUALITY_DEFAULT_RIGHT"
"""How a split decides: by `<=`, with missing values going left or right, or by `==`."""


@dataclass(frozen=True)
class Split:
    """A node that becomes two: by which feature, where, and what that adds to the value of either side."""

    feature: int
    dimension: int
    threshold: int
    kind: bytes
    gain: float
    left: tuple[float, ...]
    right: tuple[float, ...]


@dataclass(frozen=True)
class Nodes:
    """The nodes of one tree as arrays; `child[:, 0]` is -1 for a leaf."""

    feature: np.ndarray
    dimension: np.ndarray
    threshold: np.ndarray
    equality: np.ndarray
    child: np.ndarray
    value: np.ndarray

    def follow(self, at: np.ndarray, features: list[np.ndarray]) -> np.ndarray:
        """Return the leaf that each example ends in, from the node where it is."""
        at = at.copy()
        going = np.flatnonzero(self.child[at, 0] >= 0)
        while going.size:
            at[going] = self.step(at[going], going, features)
            going = going[self.child[at[going], 0] >= 0]
        return at

    def step(self, at: np.ndarray, examples: np.ndarray, features: list[np.ndarray]) -> np.ndarray:
        """Return the child that each example goes to, from a node that is no leaf."""
        bucket = np.empty(len(at), np.int32)
        for number in np.unique(self.feature[at]):
            mine = self.feature[at] == number
            bucket[mine] = _column(features, number, self.dimension[at[mine]], examples[mine])
        threshold = self.threshold[at]
        left = np.where(self.equality[at], bucket == threshold, bucket <= threshold)
        return self.child[at, np.where(left, 0, 1)]


def _column(features: list[np.ndarray], number: int, dimension: np.ndarray, examples: np.ndarray) -> np.ndarray:
    if not 0 <= number < len(features):
        raise invalid(f"the trees split by feature {number}, but there are {len(features)} bucketized_features")
    if dimension.size and not 0 <= dimension.min() <= dimension.max() < features[number].shape[1]:
        raise invalid(
            f"the trees split by dimension {dimension.max()} of feature {number}, which has {features[number].shape[1]}"
        )
    return features[number][examples, dimension]


class Ensemble:
    """Trees that add up, with a stamp that counts the changes."""

    def __init__(self) -> None:
        self.lock = forks.rlock()
        self.stamp = -1
        self._trees: Any = None
        self._nodes: dict[int, Nodes] = {}

    # --- the whole ----------------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether it was ever filled."""
        return self._trees is not None

    def fill(self, serialized: bytes, stamp: int) -> None:
        """Take the trees of a message in the place of those there are."""
        try:
            trees = messages.parse(messages.TreeEnsemble, serialized)
        except errors.DataLossError as e:
            raise invalid(f"Unable to parse tree ensemble proto: {e.message}") from e
        for _ in range(len(trees.tree_metadata), len(trees.trees)):  # who only predicts may have left them out
            trees.tree_metadata.add()
        if not len(trees.trees) == len(trees.tree_weights) == len(trees.tree_metadata):
            raise invalid(
                f"a tree ensemble with {len(trees.trees)} trees has {len(trees.tree_weights)} tree_weights and "
                f"{len(trees.tree_metadata)} tree_metadata"
            )
        for tree in range(len(trees.trees)):
            _check_tree(tree, trees)
        with self.lock:
            self._trees, self.stamp, self._nodes = trees, stamp, {}

    def serialized(self) -> bytes:
        """Return the message's bytes."""
        return messages.serialize(self._trees)

    @property
    def count(self) -> int:
        """The number of trees."""
        return len(self._trees.trees)

    @property
    def finalized(self) -> int:
        """The number of trees that are done with growing."""
        last = self.count - 1
        return self.count if last < 0 or self._trees.tree_metadata[last].is_finalized else last

    @property
    def layers_attempted(self) -> int:
        """How often a layer was asked for."""
        return self._trees.growing_metadata.num_layers_attempted

    @property
    def last_layer(self) -> tuple[int, int]:
        """The nodes that the next layer splits: from, and up to."""
        growing = self._trees.growing_metadata
        return growing.last_layer_node_start, max(1, growing.last_layer_node_end)

    # --- asking -------------------------------------------------------------------------------------------------------

    def nodes(self, tree: int, width: int) -> Nodes:
        """Return the arrays of a tree whose leaves have `width` values."""
        known = self._nodes.get(tree)
        if known is None:
            known = self._nodes[tree] = _as_arrays(self._trees.trees[tree].nodes)
        if known.value.shape[1] != width:
            raise invalid(
                f"Expected leaf_logits.size() == logits_dimension_, got {known.value.shape[1]} vs {width} in "
                f"tree {tree}"
            )
        return known

    def predict(self, features: list[np.ndarray], width: int) -> np.ndarray:
        """Return the sum of what all trees say of each example."""
        logits = np.zeros((len(features[0]), width), np.float32)
        for tree in range(self.count):
            nodes = self.nodes(tree, width)
            leaves = nodes.follow(np.zeros(len(logits), np.int64), features)
            logits += np.float32(self._trees.tree_weights[tree]) * nodes.value[leaves]
        return logits

    def advance(
        self, trees: np.ndarray, at: np.ndarray, features: list[np.ndarray], width: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what has been added to each example's logits since it was in that node of that tree, and its node now.

        A node of -1 means that it has not been in that tree.
        """
        change = np.zeros((len(trees), width), np.float32)
        node = np.zeros(len(trees), np.int64)
        self._check_places(trees, at)
        for tree in range(int(trees.min(initial=self.count)), self.count):
            nodes, weight = self.nodes(tree, width), np.float32(self._trees.tree_weights[tree])
            before = np.zeros((len(trees), width), np.float32)
            start = np.zeros(len(trees), np.int64)
            resumed = np.flatnonzero((trees == tree) & (at >= 0))
            if resumed.size:
                start[resumed], corrections = self._after_pruning(tree, at[resumed], width)
                before[resumed] = corrections - nodes.value[start[resumed]]
            mine = np.flatnonzero(trees <= tree)
            some = [f[mine] for f in features]
            node[mine] = nodes.follow(start[mine], some)
            change[mine] += weight * (before[mine] + nodes.value[node[mine]])
        return change, node

    def _check_places(self, trees: np.ndarray, at: np.ndarray) -> None:
        if trees.size and not 0 <= trees.min() <= trees.max() < self.count:
            raise invalid(f"cached_tree_ids {trees.min()} to {trees.max()} are not in [0, {self.count})")
        for tree in np.unique(trees):
            meta = self._trees.tree_metadata[tree]
            known = len(meta.post_pruned_nodes_meta) or len(self._trees.trees[tree].nodes)
            highest = at[trees == tree].max()
            if highest >= known:
                raise invalid(f"cached_node_ids has node {highest} of tree {tree}, which has {known} nodes")

    def _after_pruning(self, tree: int, at: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Return where nodes are after the tree was pruned, and what that changed of their values."""
        meta = self._trees.tree_metadata[tree]
        moved = meta.post_pruned_nodes_meta
        if not meta.is_finalized or not moved:
            return at.astype(np.int64), np.zeros((len(at), width), np.float32)
        place = np.array([update.new_node_id for update in moved], np.int64)
        change = np.zeros((len(moved), width), np.float32)
        for row, update in zip(change, moved, strict=True):
            row[: len(update.logit_change)] = update.logit_change[:width]
        return place[at], change[at]

    def paths(self, features: list[np.ndarray]) -> list[bytes]:
        """Return for every example the features it was split by, and its logits after each, as a `DebugOutput`."""
        if not self.count:
            return [messages.serialize(messages.DebugOutput())] * len(features[0])
        return [self._path(example, features) for example in range(len(features[0]))]

    def _path(self, example: int, features: list[np.ndarray]) -> bytes:
        output, past = messages.DebugOutput(), np.float32(0)
        logit = np.float32(self._trees.tree_weights[0]) * self.nodes(0, 1).value[0, 0]
        output.logits_path.append(logit)
        which = np.array([example])
        for tree in range(self.count):
            nodes, weight = self.nodes(tree, 1), np.float32(self._trees.tree_weights[tree])
            at = np.zeros(1, np.int64)
            while nodes.child[at[0], 0] >= 0:
                output.feature_ids.append(int(nodes.feature[at[0]]))
                at = nodes.step(at, which, features)
                logit = weight * nodes.value[at[0], 0]
                output.logits_path.append(logit + past)
            if tree == 0 or at[0]:
                past += logit
        return messages.serialize(output)

    # --- growing ------------------------------------------------------------------------------------------------------

    def center(self, logits: float) -> bool:
        """Move the bias (the value of the first node) by `logits`, and say whether that was more than a hundredth."""
        if not self.count:
            self._plant((logits,))
            return True
        bias = float(self.nodes(0, 1).value[0, 0])
        if _split_of(self._trees.trees[0].nodes[0]) is not None:
            raise invalid("the bias cannot be centered any more: the first tree has grown")
        with np.errstate(divide="ignore", invalid="ignore"):
            goes_on = bool(np.abs(np.float32(logits) / np.float32(bias)) > np.float32(0.01))
        self._trees.trees[0].nodes[0].leaf.scalar = np.float32(bias) + np.float32(logits)
        self._nodes.pop(0, None)
        return goes_on

    def _plant(self, logits: tuple[float, ...]) -> int:
        _write(self._trees.trees.add().nodes.add().leaf, logits)
        self._trees.tree_weights.append(TREE_WEIGHT)
        self._trees.tree_metadata.add()
        return self.count - 1

    def grow(self, splits: dict[int, Split], max_depth: int, pruning: int, width: int) -> bool:
        """Split nodes of the last tree; say whether there was anything to split."""
        self._check_splits(splits, width)
        self._count_attempt()
        tree = self.count - 1 if self.count else self._plant((0.0,) * width)
        nodes, meta = self._trees.trees[tree].nodes, self._trees.tree_metadata[tree]
        start = len(nodes)
        chosen = [(n, s) for n, s in sorted(splits.items()) if pruning != PRE_PRUNING or s.gain >= 0]
        for number, split in chosen:
            _divide(nodes, number, split)
        self._nodes.pop(tree, None)
        if not chosen:
            return bool(splits)
        meta.num_layers_grown += 1
        end = len(nodes)
        if meta.num_layers_grown >= max_depth:
            start, end = 0, 1
            meta.is_finalized = True
            if pruning == POST_PRUNING:
                self._prune(tree, width)
            self._plant((0.0,) * width)
        growing = self._trees.growing_metadata
        growing.last_layer_node_start, growing.last_layer_node_end = start, end
        return True

    def _check_splits(self, splits: dict[int, Split], width: int) -> None:
        nodes = self._trees.trees[self.count - 1].nodes if self.count else [messages.Node()]
        for number in splits:
            if not 0 <= number < len(nodes) or _split_of(nodes[number]) is not None:
                raise invalid(f"node_ids has node {number}, which is no leaf of the tree that grows")
            if len(_values(nodes[number], width)) != width:
                raise invalid(f"leaves of the tree that grows do not have logits_dimension = {width} values")

    def _count_attempt(self) -> None:
        growing, last = self._trees.growing_metadata, self.count - 1
        growing.num_layers_attempted += 1
        is_new = last < 0 or (
            (last == 0 or self._trees.tree_metadata[last - 1].is_finalized) and len(self._trees.trees[last].nodes) == 1
        )
        growing.num_trees_attempted += is_new

    def _prune(self, tree: int, width: int) -> None:
        """Take back splits that lose, from the leaves up, and note where the nodes that are gone have gone."""
        nodes = list(self._trees.trees[tree].nodes)
        changes = np.zeros((len(nodes), width), np.float32)
        parent = np.arange(len(nodes))
        for number in range(len(nodes) - 1, -1, -1):  # children stand behind their parents
            split = _split_of(nodes[number])
            if split is None or nodes[number].metadata.gain >= 0:
                continue
            children = split.left_id, split.right_id
            if any(_split_of(nodes[child]) is not None for child in children):
                continue
            nodes[number].leaf.CopyFrom(nodes[number].metadata.original_leaf)
            nodes[number].ClearField("metadata")
            mine = _values(nodes[number], width)
            for child in children:
                parent[child], changes[child] = number, mine - _values(nodes[child], width)
        if (parent != np.arange(len(nodes))).any():
            self._renumber(tree, parent, changes)

    def _renumber(self, tree: int, parent: np.ndarray, changes: np.ndarray) -> None:
        kept = parent == np.arange(len(parent))
        place = np.cumsum(kept) - 1
        meta, nodes = self._trees.tree_metadata[tree], self._trees.trees[tree].nodes
        for number in range(len(parent)):
            total, at = np.zeros(changes.shape[1], np.float32), number
            while parent[at] != at:
                total += changes[at]
                at = parent[at]
            meta.post_pruned_nodes_meta.add(new_node_id=int(place[at]), logit_change=total.tolist())
        remaining = [node for node, stays in zip(nodes, kept, strict=True) if stays]
        for node in remaining:
            split = _split_of(node)
            if split is not None:
                split.left_id, split.right_id = int(place[split.left_id]), int(place[split.right_id])
        copies = [messages.parse(messages.Node, messages.serialize(node)) for node in remaining]
        del nodes[:]
        nodes.extend(copies)
        self._nodes.pop(tree, None)


def _check_tree(tree: int, trees: Any) -> None:
    """Refuse a tree in which examples could go round, or nowhere."""
    nodes = trees.trees[tree].nodes
    if not nodes:
        raise invalid(f"tree {tree} of the tree ensemble has no nodes")
    for number, node in enumerate(nodes):
        kind, split = node.WhichOneof("node"), _split_of(node)
        if kind not in (None, "leaf", "bucketized_split", "categorical_split"):
            raise invalid(f"node {number} of tree {tree} is a {kind}, which bucketized features cannot decide")
        if split is not None and not (number < split.left_id < len(nodes) and number < split.right_id < len(nodes)):
            raise invalid(
                f"node {number} of tree {tree} has the children {split.left_id} and {split.right_id}, which are not "
                f"behind it among {len(nodes)} nodes"
            )
    for number, moved in enumerate(trees.tree_metadata[tree].post_pruned_nodes_meta):
        if not 0 <= moved.new_node_id < len(nodes):
            raise invalid(
                f"node {number} of tree {tree} went to {moved.new_node_id}, which is not in [0, {len(nodes)})"
            )


def _split_of(node: Any) -> Any:
    kind = node.WhichOneof("node")
    return None if kind in (None, "leaf") else getattr(node, kind)


def _values(node: Any, width: int) -> np.ndarray:
    """Return what a node says: its own value if it is a leaf, else the one it had as a leaf."""
    leaf = node.leaf if _split_of(node) is None else node.metadata.original_leaf
    if leaf.WhichOneof("leaf") == "vector" and len(leaf.vector.value):
        return np.array(leaf.vector.value, np.float32)
    return np.full(width, leaf.scalar, np.float32)


def _write(leaf: Any, values: tuple[float, ...]) -> None:
    leaf.SetInParent()
    if len(values) == 1:
        leaf.scalar = values[0]
    else:
        leaf.vector.value[:] = values


def _divide(nodes: Any, number: int, split: Split) -> None:
    node = nodes[number]
    before = _values(node, len(split.left))
    if number or before.any():  # what the first leaf of a tree says is nothing, and is not kept
        node.metadata.original_leaf.CopyFrom(node.leaf)
    node.metadata.gain = split.gain
    left = len(nodes)
    for added in (split.left, split.right):
        _write(nodes.add().leaf, tuple((before + np.array(added, np.float32)).tolist()))
    if split.kind == EQUAL:
        decides = nodes[number].categorical_split
        decides.value = split.threshold
    else:
        decides = nodes[number].bucketized_split
        decides.threshold = split.threshold
        decides.default_direction = 1 if split.kind == RIGHT else 0
    decides.feature_id, decides.dimension_id = split.feature, split.dimension
    decides.left_id, decides.right_id = left, left + 1


def _as_arrays(nodes: Any) -> Nodes:
    splits = [_split_of(node) for node in nodes]
    width = max(len(_values(node, 1)) for node in nodes)
    values = np.zeros((len(nodes), width), np.float32)
    for number, node in enumerate(nodes):
        known = _values(node, width)
        if len(known) != width:
            raise invalid(f"leaves of one tree have {len(known)} and {width} values")
        values[number] = known

    def column(*fields: str) -> np.ndarray:
        picked = (next((getattr(s, f) for f in fields if hasattr(s, f)), 0) if s is not None else 0 for s in splits)
        return np.fromiter(picked, np.int64, len(splits))

    child = np.stack([column("left_id"), column("right_id")], 1)
    child[[s is None for s in splits]] = -1
    equality = np.array([s is not None and hasattr(s, "value") for s in splits])
    return Nodes(column("feature_id"), column("dimension_id"), column("threshold", "value"), equality, child, values)
