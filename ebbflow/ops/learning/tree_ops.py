"""The ops of boosted trees: an ensemble as a resource of the session, its growth, and its predictions.

What an ensemble is and does is in `tree_ensemble.py`; where to split is decided in `tree_splits.py`.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import FLAT, scalar, show, with_rank
from ebbflow.ops.learning.tree_ensemble import EQUAL, LEFT, RIGHT, Ensemble, Split
from ebbflow.ops.learning.tree_splits import best_values
from ebbflow.ops.queues.queue_ops import NAMED, shared
from ebbflow.ops.shape_rules import equal_length
from ebbflow.ops.sizes import invalid, one
from ebbflow.ops.state.storage import held

HANDLE = "tree_ensemble_handle"
FEATURES = "bucketized_features:num_bucketized_features*int32"
WIDTHS = "num_bucketized_features: int >= 1; logits_dimension: int"

# --- making and keeping -----------------------------------------------------------------------------------------------

BoostedTreesEnsembleResourceHandleOp = op(
    f"BoostedTreesEnsembleResourceHandleOp() -> (resource:resource) | {NAMED} | stateful",
    shape=scalar,
    gradient=FLAT,
)


@BoostedTreesEnsembleResourceHandleOp.kernel
def _(xp, *, container, shared_name, run):
    return shared(run, container, shared_name, "trees", lambda name: Ensemble())


def ensemble_of(handle: np.ndarray) -> Ensemble:
    """Return the filled ensemble that a handle stands for."""
    ensemble = held(handle)
    if not isinstance(ensemble, Ensemble):
        raise invalid(f"{HANDLE} is not of a tree ensemble, but of {type(ensemble).__name__}")
    if not ensemble.ready:
        raise errors.NotFoundError(
            None, None, f"the tree ensemble behind {HANDLE} was not created: run its initializer"
        )
    return ensemble


def _filled_from_scalars(handle: Known, stamp_token: Known, tree_ensemble_serialized: Known) -> list[Dims]:
    with_rank(stamp_token, 0, "stamp_token")
    with_rank(tree_ensemble_serialized, 0, "tree_ensemble_serialized")
    return []


def _create(xp: Any, tree_ensemble_handle: Any, stamp_token: Any, tree_ensemble_serialized: Any) -> tuple[()]:
    ensemble = held(tree_ensemble_handle)
    if not isinstance(ensemble, Ensemble):
        raise invalid(f"{HANDLE} is not of a tree ensemble, but of {type(ensemble).__name__}")
    with ensemble.lock:
        if not ensemble.ready:
            ensemble.fill(
                one(tree_ensemble_serialized, "tree_ensemble_serialized"), int(one(stamp_token, "stamp_token"))
            )
    return ()


def _deserialize(xp: Any, tree_ensemble_handle: Any, stamp_token: Any, tree_ensemble_serialized: Any) -> tuple[()]:
    ensemble_of(tree_ensemble_handle).fill(
        one(tree_ensemble_serialized, "tree_ensemble_serialized"), int(one(stamp_token, "stamp_token"))
    )
    return ()


_CONTENT = f"({HANDLE}:resource, stamp_token:int64, tree_ensemble_serialized:string) -> () | stateful"
BoostedTreesCreateEnsemble = op(
    f"BoostedTreesCreateEnsemble{_CONTENT}", shape=_filled_from_scalars, kernel=_create, gradient=FLAT
)
BoostedTreesDeserializeEnsemble = op(
    f"BoostedTreesDeserializeEnsemble{_CONTENT}", shape=_filled_from_scalars, kernel=_deserialize, gradient=FLAT
)
IsBoostedTreesEnsembleInitialized = op(
    f"IsBoostedTreesEnsembleInitialized({HANDLE}:resource) -> (is_initialized:bool) | stateful",
    shape=scalar,
    kernel=lambda xp, handle: np.array(isinstance(held(handle), Ensemble) and held(handle).ready),
    gradient=FLAT,
)
BoostedTreesSerializeEnsemble = op(
    f"BoostedTreesSerializeEnsemble({HANDLE}:resource) -> (stamp_token:int64, tree_ensemble_serialized:string) | "
    "stateful",
    shape=lambda handle: [(), ()],
    gradient=FLAT,
)


@BoostedTreesSerializeEnsemble.kernel
def _(xp, tree_ensemble_handle):
    ensemble = ensemble_of(tree_ensemble_handle)
    with ensemble.lock:
        return np.array(ensemble.stamp, np.int64), np.array(ensemble.serialized(), object)


BoostedTreesGetEnsembleStates = op(
    f"BoostedTreesGetEnsembleStates({HANDLE}:resource) -> (stamp_token:int64, num_trees:int32, "
    "num_finalized_trees:int32, num_attempted_layers:int32, last_layer_nodes_range:int32) | stateful",
    shape=lambda handle: [(), (), (), (), (2,)],
    gradient=FLAT,
)


@BoostedTreesGetEnsembleStates.kernel
def _(xp, tree_ensemble_handle):
    ensemble = ensemble_of(tree_ensemble_handle)
    with ensemble.lock:
        states = ensemble.count, ensemble.finalized, ensemble.layers_attempted, ensemble.last_layer
        return np.array(ensemble.stamp, np.int64), *(np.array(state, np.int32) for state in states)


# --- predicting -------------------------------------------------------------------------------------------------------


def _batch(bucketized_features: list[Known]) -> int | None:
    batch = None
    for feature in bucketized_features:
        if feature.dims is not None and len(feature.dims) not in (1, 2):
            raise errors.StaticShapeError(
                f"bucketized_features must be vectors or matrices, but one has shape {show(feature.dims)}"
            )
        batch = equal_length(batch, feature.dims[0] if feature.dims else None)
    return batch


def _matrices(bucketized_features: list[np.ndarray]) -> list[np.ndarray]:
    return [feature.reshape(len(feature), -1) for feature in bucketized_features]


BoostedTreesPredict = op(
    f"BoostedTreesPredict({HANDLE}:resource, {FEATURES}) -> (logits:float) | {WIDTHS} | stateful",
    shape=lambda handle, features, *, logits_dimension: (_batch(features), logits_dimension),
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesPredict.kernel
def _(xp, tree_ensemble_handle, bucketized_features, *, logits_dimension):
    ensemble = ensemble_of(tree_ensemble_handle)
    with ensemble.lock:
        return ensemble.predict(_matrices(bucketized_features), logits_dimension)


BoostedTreesTrainingPredict = op(
    f"BoostedTreesTrainingPredict({HANDLE}:resource, cached_tree_ids:int32, cached_node_ids:int32, {FEATURES}) -> "
    f"(partial_logits:float, tree_ids:int32, node_ids:int32) | {WIDTHS} | stateful",
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesTrainingPredict.shape
def _(tree_ensemble_handle, cached_tree_ids, cached_node_ids, bucketized_features, *, logits_dimension):
    batch = _batch(bucketized_features)
    for ids, name in ((cached_tree_ids, "cached_tree_ids"), (cached_node_ids, "cached_node_ids")):
        batch = equal_length(batch, (with_rank(ids, 1, name) or (None,))[0])
    return [(batch, logits_dimension), (batch,), (batch,)]


@BoostedTreesTrainingPredict.kernel
def _(xp, tree_ensemble_handle, cached_tree_ids, cached_node_ids, bucketized_features, *, logits_dimension):
    ensemble = ensemble_of(tree_ensemble_handle)
    with ensemble.lock:
        if not ensemble.count:
            nothing = np.zeros((len(cached_tree_ids), logits_dimension), np.float32)
            return nothing, cached_tree_ids, np.zeros_like(cached_node_ids)
        features = _matrices(bucketized_features)
        change, nodes = ensemble.advance(cached_tree_ids, cached_node_ids, features, logits_dimension)
        return change, np.full_like(cached_tree_ids, ensemble.count - 1), nodes.astype(np.int32)


BoostedTreesExampleDebugOutputs = op(
    f"BoostedTreesExampleDebugOutputs({HANDLE}:resource, {FEATURES}) -> (examples_debug_outputs_serialized:string) | "
    f"{WIDTHS} | stateful",
    shape=lambda handle, features: (_batch(features),),
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesExampleDebugOutputs.kernel
def _(xp, tree_ensemble_handle, bucketized_features, *, logits_dimension):
    if logits_dimension != 1:
        raise invalid(f"logits_dimension = {logits_dimension}: only logits of one dimension have debug outputs")
    ensemble = ensemble_of(tree_ensemble_handle)
    with ensemble.lock:
        paths = ensemble.paths(_matrices(bucketized_features))
    result = np.empty(len(paths), object)
    result[:] = paths
    return result


# --- growing ----------------------------------------------------------------------------------------------------------

BoostedTreesCenterBias = op(
    f"BoostedTreesCenterBias({HANDLE}:resource, mean_gradients:float, mean_hessians:float, l1:float, l2:float) -> "
    "(continue_centering:bool) | stateful",
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesCenterBias.shape
def _(tree_ensemble_handle, mean_gradients, mean_hessians, l1, l2):
    for means, name in ((mean_gradients, "mean_gradients"), (mean_hessians, "mean_hessians")):
        dims = with_rank(means, 2, name)
        if dims is not None and 0 in dims:
            raise errors.StaticShapeError(f"{name} must have an element, but its shape is {show(dims)}")
    with_rank(l1, 0, "l1")
    with_rank(l2, 0, "l2")
    return ()


@BoostedTreesCenterBias.kernel
def _(xp, tree_ensemble_handle, mean_gradients, mean_hessians, l1, l2):
    ensemble = ensemble_of(tree_ensemble_handle)
    if mean_gradients.shape[1] != 1:
        raise errors.InternalError(None, None, f"Expected logits_dim == 1, got {mean_gradients.shape[1]}")
    logits, _ = best_values(mean_gradients[:1], mean_hessians[:1, :1], l1, l2)
    with ensemble.lock:
        goes_on = ensemble.center(float(logits[0, 0]))
        ensemble.stamp += 1
    return np.array(goes_on)


_COLUMNS = "node_ids:num_features*int32, gains:num_features*float, thresholds:num_features*int32"
_CONTRIBS = "left_node_contribs:num_features*float, right_node_contribs:num_features*float"
BoostedTreesUpdateEnsemble = op(
    f"BoostedTreesUpdateEnsemble({HANDLE}:resource, feature_ids:int32, {_COLUMNS}, {_CONTRIBS}, max_depth:int32, "
    "learning_rate:float) -> () | pruning_mode: int >= 0; num_features: int >= 0 | stateful",
    gradient=FLAT,
    checks_first=True,
)
BoostedTreesUpdateEnsembleV2 = op(
    f"BoostedTreesUpdateEnsembleV2({HANDLE}:resource, feature_ids:num_groups*int32, dimension_ids:num_features*int32, "
    f"{_COLUMNS}, {_CONTRIBS}, split_types:num_features*string, max_depth:int32, learning_rate:float, "
    "pruning_mode:int32) -> () | num_features: int >= 0; logits_dimension: int = 1; num_groups: int >= 1 = 1 | "
    "stateful",
    gradient=FLAT,
    checks_first=True,
)


def _check_columns(columns: dict[str, list[Known]], contribs: dict[str, list[Known]], width: int) -> list[Dims]:
    """Refuse candidates whose columns are not of one length, or whose contributions are not of this width."""
    for number in range(len(columns["node_ids"])):
        count = None
        for name, column in columns.items():
            count = equal_length(count, (with_rank(column[number], 1, f"{name}[{number}]") or (None,))[0])
        for name, column in contribs.items():
            rows, wide = with_rank(column[number], 2, f"{name}[{number}]") or (None, None)
            equal_length(count, rows)
            equal_length(wide, width)
    return []


@BoostedTreesUpdateEnsemble.shape
def _(handle, feature_ids, node_ids, gains, thresholds, left, right, max_depth, learning_rate):
    (count,) = with_rank(feature_ids, 1, "feature_ids") or (None,)
    equal_length(count, len(node_ids))
    with_rank(max_depth, 0, "max_depth")
    with_rank(learning_rate, 0, "learning_rate")
    columns = {"node_ids": node_ids, "gains": gains, "thresholds": thresholds}
    return _check_columns(columns, {"left_node_contribs": left, "right_node_contribs": right}, 1)


@BoostedTreesUpdateEnsemble.kernel
def _(xp, handle, feature_ids, node_ids, gains, thresholds, left, right, max_depth, learning_rate, *, pruning_mode):
    best: dict[int, Split] = {}
    for number, feature in enumerate(feature_ids.tolist()):
        ids = np.full_like(node_ids[number], feature)
        kinds = [LEFT] * len(ids)
        columns = ids, np.zeros_like(ids), node_ids[number], gains[number], thresholds[number], kinds
        _keep_best(best, columns, left[number], right[number], learning_rate)
    return _grow(handle, best, max_depth, pruning_mode, 1)


@BoostedTreesUpdateEnsembleV2.shape
def _(
    handle, feature_ids, dimension_ids, node_ids, gains, thresholds, left, right, split_types, max_depth,
    learning_rate, pruning_mode, *, logits_dimension,
):  # fmt: skip
    for number, ids in enumerate(feature_ids):
        with_rank(ids, 1, f"feature_ids[{number}]")
    for value, name in ((max_depth, "max_depth"), (learning_rate, "learning_rate"), (pruning_mode, "pruning_mode")):
        with_rank(value, 0, name)
    columns = {"node_ids": node_ids, "dimension_ids": dimension_ids, "gains": gains, "thresholds": thresholds}
    contribs = {"left_node_contribs": left, "right_node_contribs": right}
    return _check_columns({**columns, "split_types": split_types}, contribs, logits_dimension)


@BoostedTreesUpdateEnsembleV2.kernel
def _(
    xp, handle, feature_ids, dimension_ids, node_ids, gains, thresholds, left, right, split_types, max_depth,
    learning_rate, pruning_mode, *, logits_dimension,
):  # fmt: skip
    best: dict[int, Split] = {}
    for number, nodes in enumerate(node_ids):
        ids = _ids_of(feature_ids, number, len(node_ids), len(nodes))
        kinds = split_types[number].tolist()
        for kind in kinds:
            if kind not in (LEFT, RIGHT, EQUAL):
                raise invalid(f"split_types has {kind!r}, which is none of {LEFT!r}, {RIGHT!r} and {EQUAL!r}")
        columns = ids, dimension_ids[number], nodes, gains[number], thresholds[number], kinds
        _keep_best(best, columns, left[number], right[number], learning_rate)
    return _grow(handle, best, max_depth, int(pruning_mode), logits_dimension)


def _ids_of(feature_ids: list[np.ndarray], number: int, columns: int, count: int) -> np.ndarray:
    """Return the feature of each candidate: a vector for each group of candidates, or (as in TF 1.15) one of groups."""
    if len(feature_ids) == columns and len(feature_ids[number]) == count:
        return feature_ids[number]
    if len(feature_ids) == 1 and len(feature_ids[0]) == columns:
        return np.full(count, feature_ids[0][number], np.int32)
    lengths = [len(ids) for ids in feature_ids]
    raise invalid(
        f"feature_ids has {len(feature_ids)} vectors of lengths {lengths}: it takes one for each of the {columns} "
        f"node_ids, as long (node_ids[{number}] has {count})"
    )


def _keep_best(best: dict[int, Split], columns: tuple[Any, ...], left: Any, right: Any, rate: np.ndarray) -> None:
    """Keep for each node the candidate that gains most; of equal ones that of the lower feature."""
    for row, (feature, dimension, node, gain, threshold, kind) in enumerate(zip(*columns, strict=True)):
        known = best.get(int(node))
        if known is not None and not (gain > known.gain or (gain == known.gain and feature < known.feature)):
            continue
        sides = (tuple((rate * side[row]).tolist()) for side in (left, right))
        best[int(node)] = Split(int(feature), int(dimension), int(threshold), kind, float(gain), *sides)


def _grow(handle: np.ndarray, best: dict[int, Split], max_depth: np.ndarray, pruning: int, width: int) -> tuple[()]:
    if pruning not in (0, 1, 2):
        raise invalid(f"pruning_mode = {pruning} is none of 0 (none), 1 (before) and 2 (after a tree has grown)")
    ensemble = ensemble_of(handle)
    with ensemble.lock:
        grown = ensemble.grow(best, int(max_depth), pruning, width)
        ensemble.stamp += 1
    if not grown:
        logging.getLogger("tensorflow").warning("Not growing tree ensemble as no good splits were found.")
    return ()
