"""The ops of `tf.contrib.tensor_forest`: a tree and what its leaves have seen, as resources of the session.

What a tree is and how it grows is in `forest.py`. Interfaces are TensorFlow 1.15's, the last that had them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import FLAT, scalar, with_rank
from ebbflow.ops.learning.forest import Stats, Tree, params_of
from ebbflow.ops.queues.queue_ops import NAMED, shared
from ebbflow.ops.sizes import invalid, room_for
from ebbflow.ops.state.storage import held

DATA = "input_data:float, sparse_input_indices:int64, sparse_input_values:float, sparse_input_shape:int64"

DecisionTreeResourceHandleOp = op(
    f"DecisionTreeResourceHandleOp() -> (resource:resource) | {NAMED} | stateful", shape=scalar, gradient=FLAT
)
FertileStatsResourceHandleOp = op(
    f"FertileStatsResourceHandleOp() -> (resource:resource) | {NAMED} | stateful", shape=scalar, gradient=FLAT
)


@DecisionTreeResourceHandleOp.kernel
def _(xp, *, container, shared_name, run):
    return shared(run, container, shared_name, "decision tree", lambda name: Tree())


@FertileStatsResourceHandleOp.kernel
def _(xp, *, container, shared_name, run):
    return shared(run, container, shared_name, "fertile stats", lambda name: Stats())


def _any(handle: np.ndarray, kind: type) -> Any:
    thing = held(handle)
    if not isinstance(thing, kind):
        raise invalid(f"the handle is not of a {kind.__name__}, but of {type(thing).__name__}")
    return thing


def _ready(handle: np.ndarray, kind: type) -> Any:
    thing = _any(handle, kind)
    if not thing.ready:
        raise errors.NotFoundError(
            None, None, f"the {kind.__name__.lower()} of a forest was not created: run its initializer"
        )
    return thing


def _text(value: Any, name: str) -> bytes:
    if value.ndim:
        raise invalid(f"{name} must be a scalar, got shape {value.shape}")
    return value[()]


def _nothing(*inputs: Known, **attrs: Any) -> list[Dims]:
    return []


def _create(xp: Any, tree_handle: Any, tree_config: Any, *, params: Any) -> tuple[()]:
    tree = _any(tree_handle, Tree)
    with tree.lock:
        if not tree.ready:
            tree.fill(_text(tree_config, "tree_config"), params_of(params))
    return ()


def _deserialize(xp: Any, tree_handle: Any, tree_config: Any, *, params: Any) -> tuple[()]:
    tree = _any(tree_handle, Tree)
    with tree.lock:
        tree.fill(_text(tree_config, "tree_config"), params_of(params))
    return ()


_TREE_TEXT = "(tree_handle:resource, tree_config:string) -> () | params: string | stateful"
CreateTreeVariable = op(f"CreateTreeVariable{_TREE_TEXT}", shape=_nothing, kernel=_create, gradient=FLAT)
TreeDeserialize = op(f"TreeDeserialize{_TREE_TEXT}", shape=_nothing, kernel=_deserialize, gradient=FLAT)
TreeIsInitializedOp = op(
    "TreeIsInitializedOp(tree_handle:resource) -> (is_initialized:bool) | stateful",
    shape=scalar,
    kernel=lambda xp, handle: np.array(_any(handle, Tree).ready),
    gradient=FLAT,
)
TreeSerialize = op(
    "TreeSerialize(tree_handle:resource) -> (tree_config:string) | stateful", shape=scalar, gradient=FLAT
)
TreeSize = op("TreeSize(tree_handle:resource) -> (tree_size:int32) | stateful", shape=scalar, gradient=FLAT)


@TreeSerialize.kernel
def _(xp, tree_handle):
    tree = _ready(tree_handle, Tree)
    with tree.lock:
        return np.array(messages.serialize(tree.message()), object)


@TreeSize.kernel
def _(xp, tree_handle):
    return np.array(len(_ready(tree_handle, Tree).feature), np.int32)


def _create_stats(xp: Any, stats_handle: Any, stats_config: Any, *, params: Any) -> tuple[()]:
    stats = _any(stats_handle, Stats)
    with stats.lock:
        if not stats.ready:
            stats.fill(params_of(params))
    return ()


def _deserialize_stats(xp: Any, stats_handle: Any, stats_config: Any, *, params: Any) -> tuple[()]:
    stats = _any(stats_handle, Stats)
    with stats.lock:  # a checkpoint has which leaves there were, not what they had seen: they begin anew
        stats.fill(params_of(params))
    return ()


_STATS_TEXT = "(stats_handle:resource, stats_config:string) -> () | params: string | stateful"
CreateFertileStatsVariable = op(
    f"CreateFertileStatsVariable{_STATS_TEXT}", shape=_nothing, kernel=_create_stats, gradient=FLAT
)
FertileStatsDeserialize = op(
    f"FertileStatsDeserialize{_STATS_TEXT}", shape=_nothing, kernel=_deserialize_stats, gradient=FLAT
)
FertileStatsIsInitializedOp = op(
    "FertileStatsIsInitializedOp(stats_handle:resource) -> (is_initialized:bool) | stateful",
    shape=scalar,
    kernel=lambda xp, handle: np.array(_any(handle, Stats).ready),
    gradient=FLAT,
)
FertileStatsSerialize = op(
    "FertileStatsSerialize(stats_handle:resource) -> (stats_config:string) | params: string | stateful",
    shape=lambda handle, *, params: (),
    gradient=FLAT,
)


@FertileStatsSerialize.kernel
def _(xp, stats_handle, *, params):
    stats = _ready(stats_handle, Stats)
    told = messages.message("tensorflow.tensorforest.FertileStats")()
    with stats.lock:
        for node in sorted(stats.slots):
            told.node_to_slot.add(node_id=node)
    return np.array(messages.serialize(told), object)


# --- going down a tree ------------------------------------------------------------------------------------------------


def _matrix(data: np.ndarray, indices: np.ndarray, values: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the features of a batch as one matrix: the dense ones, then those of a sparse matrix."""
    if size.size < 2:
        if data.ndim != 2:
            raise invalid(f"input_data must be a matrix, got shape {data.shape}")
        return data
    rows, columns = (int(n) for n in size)
    room_for((rows, columns), 4)
    sparse = np.zeros((rows, columns), np.float32)
    if len(indices) and not ((indices >= 0) & (indices < size)).all():
        raise invalid(f"sparse_input_indices are not all inside sparse_input_shape {size.tolist()}")
    sparse[tuple(indices.T)] = values
    return np.concatenate([data, sparse], 1) if data.ndim == 2 and data.shape[1] else sparse


def _leaves(tree: Tree, data: np.ndarray, paths: Any = None) -> np.ndarray:
    if data.shape[1] <= tree.feature.max():
        raise invalid(f"input_data has {data.shape[1]} features, and the tree asks for feature {tree.feature.max()}")
    return tree.leaves(data, paths)


def _batch(data: Known, size: Known) -> int | None:
    dims = data.dims
    return dims[0] if dims is not None and len(dims) == 2 else None


TraverseTreeV4 = op(
    f"TraverseTreeV4(tree_handle:resource, {DATA}) -> (leaf_ids:int32) | input_spec: string; params: string | stateful",
    shape=lambda handle, data, indices, values, size, **attrs: (_batch(data, size),),
    gradient=FLAT,
)
TreePredictionsV4 = op(
    f"TreePredictionsV4(tree_handle:resource, {DATA}) -> (predictions:float, tree_paths:string) | input_spec: string; "
    "params: string | stateful",
    gradient=FLAT,
)


@TreePredictionsV4.shape
def _(handle, data, indices, values, size, *, input_spec, params):
    return [(_batch(data, size), params_of(params).num_outputs), (_batch(data, size),)]


@TraverseTreeV4.kernel
def _(xp, tree_handle, data, indices, values, size, *, input_spec, params):
    tree = _ready(tree_handle, Tree)
    with tree.lock:
        return _leaves(tree, _matrix(data, indices, values, size))


@TreePredictionsV4.kernel
def _(xp, tree_handle, data, indices, values, size, *, input_spec, params):
    tree, rows = _ready(tree_handle, Tree), _matrix(data, indices, values, size)
    paths: list[list[int]] = [[] for _ in rows]
    wanted = params_of(params).inference_tree_paths
    with tree.lock:
        leaves = _leaves(tree, rows, paths if wanted else None)
        shown = np.full(len(rows), b"", object)
        if wanted:
            nodes = tree.message().decision_tree.nodes
            kind = messages.message("tensorflow.tensorforest.TreePath")
            for i, path in enumerate(paths):
                shown[i] = messages.serialize(kind(nodes_visited=[nodes[n] for n in path]))
        return tree.means(leaves), shown


FeatureUsageCounts = op(
    "FeatureUsageCounts(tree_handle:resource) -> (feature_counts:int32) | params: string | stateful", gradient=FLAT
)


@FeatureUsageCounts.shape
def _(handle, *, params):
    return (params_of(params).num_features,)


@FeatureUsageCounts.kernel
def _(xp, tree_handle, *, params):
    used = _ready(tree_handle, Tree).feature
    return np.bincount(used[used >= 0], minlength=params_of(params).num_features).astype(np.int32)


# --- growing ----------------------------------------------------------------------------------------------------------


def _labelled(tree: Tree, labels: np.ndarray, weights: np.ndarray, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels as a matrix and a weight for each, checked."""
    told = labels.reshape(len(leaves), -1) if len(leaves) and labels.size % len(leaves) == 0 else labels
    width = tree.outputs if tree.regression else 1
    if told.ndim != 2 or told.shape != (len(leaves), width):
        raise invalid(f"input_labels must have {width} columns and {len(leaves)} rows, got shape {labels.shape}")
    if not tree.regression and told.size and not ((told >= 0) & (told < tree.outputs)).all():
        wrong = told[(told < 0) | (told >= tree.outputs)][0]
        raise invalid(f"label {wrong} is not in [0, {tree.outputs}): is num_classes right?")
    if weights.size and weights.size != len(leaves):
        raise invalid(f"input_weights has {weights.size} weights for {len(leaves)} examples")
    return told, weights.reshape(-1) if weights.size else np.ones(len(leaves), np.float32)


UpdateModelV4 = op(
    "UpdateModelV4(tree_handle:resource, leaf_ids:int32, input_labels:float, input_weights:float) -> () | "
    "params: string | stateful",
    shape=_nothing,
    gradient=FLAT,
)


def _known(leaves: np.ndarray, tree: Tree, name: str) -> None:
    if leaves.ndim != 1 or (leaves.size and not ((leaves >= 0) & (leaves < len(tree.feature))).all()):
        raise invalid(f"{name} must be a vector of numbers of the tree's {len(tree.feature)} nodes, got {leaves}")


@UpdateModelV4.kernel
def _(xp, tree_handle, leaf_ids, input_labels, input_weights, *, params):
    tree = _ready(tree_handle, Tree)
    with tree.lock:
        _known(leaf_ids, tree, "leaf_ids")
        labels, weights = _labelled(tree, input_labels, input_weights, leaf_ids)
        if tree.regression:
            np.add.at(tree.sums, leaf_ids, labels * weights[:, None])
        else:
            np.add.at(tree.sums, (leaf_ids, labels[:, 0].astype(np.int64)), weights)
        np.add.at(tree.weight, leaf_ids, weights)
    return ()


ProcessInputV4 = op(
    f"ProcessInputV4(tree_handle:resource, stats_handle:resource, {DATA}, input_labels:float, input_weights:float, "
    "leaf_ids:int32) -> (finished_nodes:int32) | random_seed: int; input_spec: string; params: string | stateful",
    shape=lambda *inputs, **attrs: (None,),
    gradient=FLAT,
)


@ProcessInputV4.kernel
def _(xp, tree_handle, stats_handle, data, indices, values, size, input_labels, input_weights, leaf_ids, *,
      random_seed, input_spec, params):  # fmt: skip
    tree, stats, rows = _ready(tree_handle, Tree), _ready(stats_handle, Stats), _matrix(data, indices, values, size)
    if len(rows) != len(leaf_ids):
        raise invalid(f"leaf_ids has {len(leaf_ids)} elements for {len(rows)} rows of input_data")
    finished = []
    with stats.lock, tree.lock:
        _known(leaf_ids, tree, "leaf_ids")
        labels, weights = _labelled(tree, input_labels, input_weights, leaf_ids)
        random = stats.draw(random_seed)
        order = np.argsort(leaf_ids, kind="stable")
        starts = np.flatnonzero(np.diff(leaf_ids[order], prepend=-1))
        for part in np.split(order, starts[1:]) if len(order) else ():
            leaf = int(leaf_ids[part[0]])
            slot = stats.slot(leaf, int(tree.depth[leaf]))
            slot.add(tree, rows[part], labels[part], weights[part], random)
            if slot.finished():
                finished.append(leaf)
    return np.array(finished, np.int32)


GrowTreeV4 = op(
    "GrowTreeV4(tree_handle:resource, stats_handle:resource, finished_nodes:int32) -> () | params: string | stateful",
    shape=lambda tree, stats, nodes, *, params: (with_rank(nodes, 1, "finished_nodes"), [])[1],
    gradient=FLAT,
)


@GrowTreeV4.kernel
def _(xp, tree_handle, stats_handle, finished_nodes, *, params):
    tree, stats, most = _ready(tree_handle, Tree), _ready(stats_handle, Stats), params_of(params).max_nodes
    with stats.lock, tree.lock:
        _known(finished_nodes, tree, "finished_nodes")
        for node in finished_nodes.tolist():
            if len(tree.feature) >= most or node not in stats.slots or tree.feature[node] >= 0:
                continue
            best = stats.slots[node].best()
            if best is not None:
                del stats.slots[node]
                tree.split(node, *best)
    return ()


FinalizeTree = op(
    "FinalizeTree(tree_handle:resource, stats_handle:resource) -> () | params: string | stateful",
    shape=_nothing,
    gradient=FLAT,
)


@FinalizeTree.kernel
def _(xp, tree_handle, stats_handle, *, params):
    """Forget what leaves have seen: the tree grows no more. Leaves hold their predictions already."""
    _ready(tree_handle, Tree)
    stats = _ready(stats_handle, Stats)
    with stats.lock:
        stats.slots.clear()
    return ()
