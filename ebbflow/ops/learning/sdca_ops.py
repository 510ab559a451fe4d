"""Stochastic dual coordinate ascent: an epoch over a batch of examples, for linear models with l1 and l2.

Every example has a dual, which is kept outside from batch to batch; weights follow from the duals. An epoch goes over
the examples in a random order (or, adaptive, more often where there is more to gain) and gives what to add to the
weights. The losses are in `sdca_losses.py`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import FLAT, with_rank
from ebbflow.ops.learning.sdca_losses import LOSSES, Example, Loss
from ebbflow.ops.random import unseeded
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import held
from ebbflow.ops.strings.fingerprint128 import fingerprint128

MASK = (1 << 64) - 1
MOST = np.finfo(np.float32).max


@dataclass
class Group:
    """Features that share a vector of weights: for each example where its values are, and the values."""

    weights: np.ndarray
    deltas: np.ndarray
    rows: list[tuple[Any, np.ndarray]]

    def norm(self, example: int) -> float:
        values = self.rows[example][1]
        return float(np.dot(values, values))


class Model:
    """The weights of all groups, and what an epoch adds to them."""

    def __init__(self, groups: list[Group], l1: float, l2: float, partitions: int):
        self.groups, self.l2, self.partitions = groups, l2, partitions
        self._shrinkage = l1 / l2

    def shrunk(self, weights: np.ndarray) -> np.ndarray:
        """Return weights after the step that l1 asks for."""
        if not self._shrinkage:
            return weights
        return np.sign(weights) * np.maximum(np.abs(weights) - self._shrinkage, 0)

    def predictions(self, example: int) -> tuple[float, float]:
        """Return what the model says of an example, before this epoch and now."""
        before = now = 0.0
        for group in self.groups:
            places, values = group.rows[example]
            weights = group.weights[places]
            before += float(np.dot(values, self.shrunk(weights)))
            now += float(np.dot(values, self.shrunk(weights + group.deltas[places] * self.partitions)))
        return before, now

    def move(self, example: int, change: float) -> None:
        """Add a multiple of an example to the weights."""
        for group in self.groups:
            places, values = group.rows[example]
            group.deltas[places] += values * change


def _sparse_group(
    number: int, examples: np.ndarray, features: np.ndarray, values: np.ndarray | None, known: np.ndarray,
    weights: np.ndarray, count: int,
) -> Group:  # fmt: skip
    examples, features = examples.reshape(-1), features.reshape(-1)
    if len(examples) != len(features) or (values is not None and values.size != len(features)):
        raise invalid(
            f"Found mismatched example_indices and feature_indices: sparse_example_indices[{number}] has "
            f"{len(examples)} entries, sparse_feature_indices[{number}] {len(features)}"
        )
    if examples.size and not 0 <= examples.min() <= examples.max() < count:
        raise invalid(f"sparse_example_indices[{number}] has {examples.max()}, but there are {count} examples")
    if known.size != weights.size:
        raise invalid(f"sparse_indices[{number}] has {known.size} entries, sparse_weights[{number}] {weights.size}")
    places = _places(number, features, known.reshape(-1))
    numbers = np.ones(len(features)) if values is None else values.reshape(-1).astype(np.float64)
    order = np.argsort(examples, kind="stable")
    ends = np.searchsorted(examples[order], np.arange(count + 1))
    rows = []
    for start, end in itertools.pairwise(ends):
        mine = order[start:end]
        if len(np.unique(places[mine])) != len(mine):
            raise invalid(f"Duplicate index in sparse vector: sparse_feature_indices[{number}] names a feature twice")
        rows.append((places[mine], numbers[mine]))
    return Group(weights.reshape(-1).astype(np.float64), np.zeros(weights.size), rows)


def _places(number: int, features: np.ndarray, known: np.ndarray) -> np.ndarray:
    order = np.argsort(known, kind="stable")
    at = np.searchsorted(known[order], features)
    found = at < len(known)
    found[found] = known[order][at[found]] == features[found]
    if not found.all():
        raise invalid(
            f"Found sparse feature indices out of valid range: {features[~found][0]} of "
            f"sparse_feature_indices[{number}] is not in sparse_indices[{number}]"
        )
    return order[at]


def _dense_group(number: int, features: np.ndarray, weights: np.ndarray, count: int) -> Group:
    if len(features) != count:
        raise invalid(f"dense_features[{number}] has {len(features)} rows, but there are {count} examples")
    if features.shape[1] > weights.size:
        raise invalid(
            f"More dense features than we have parameters for: dense_features[{number}] has {features.shape[1]}, "
            f"dense_weights[{number}] {weights.size}"
        )
    whole = slice(0, features.shape[1])
    return Group(
        weights.reshape(-1).astype(np.float64), np.zeros(weights.size),
        [(whole, row) for row in features.astype(np.float64)],
    )  # fmt: skip


def _in_turn(model: Model, loss: Loss, labels: np.ndarray, weights: np.ndarray, duals: np.ndarray, l2: float) -> Any:
    """Return examples as often as there are some, those first and again that have most to gain."""
    count, source = len(labels), unseeded.generator()
    odds = np.empty(count)
    for example in range(count):
        slope = loss.slope(model.predictions(example)[1], float(labels[example]))
        length = sum(group.norm(example) for group in model.groups) + l2 * loss.smoothness
        odds[example] = weights[example] * np.sqrt(length) * abs(duals[example] + slope)
    taken = np.zeros(count, np.int64)
    chosen: list[int] = []
    if odds.sum() > 0 and np.isfinite(odds).all():
        for example in source.choice(count, 2 * count, p=odds / odds.sum()).tolist():
            if len(chosen) < count and source.random() <= 0.1 ** taken[example]:  # seldom again
                taken[example] += 1
                chosen.append(example)
    unseen = np.flatnonzero(taken == 0)
    return [*chosen, *unseen[np.argsort(-odds[unseen], kind="stable")].tolist()][:count]


def _epoch(
    model: Model, loss: Loss, labels: np.ndarray, weights: np.ndarray, state: np.ndarray, adaptive: bool
) -> None:
    duals = state[:, 0].astype(np.float64)
    if adaptive:
        order = _in_turn(model, loss, labels, weights, duals, model.l2)
    else:
        order = unseeded.generator().permutation(len(labels)).tolist()
    for example in order:
        label, weight = float(labels[example]), float(weights[example])
        before, now = model.predictions(example)
        pull = model.partitions * weight * sum(group.norm(example) for group in model.groups) / model.l2
        dual = loss.best_dual(Example(label, weight, duals[example], now, pull))
        model.move(example, (dual - duals[example]) * weight / model.l2)
        conjugate = min(loss.conjugate(duals[example], label), float(MOST))
        state[example] = dual, loss.primal(before, label) * weight, min(conjugate * weight, MOST), weight
        duals[example] = dual


_FEATURES = (
    "sparse_example_indices:num_sparse_features*int64, sparse_feature_indices:num_sparse_features*int64, "
    "sparse_feature_values:num_sparse_features_with_values*float, dense_features:num_dense_features*float, "
    "example_weights:float, example_labels:float, sparse_indices:num_sparse_features*int64, "
    "sparse_weights:num_sparse_features*float, dense_weights:num_dense_features*float, example_state_data:float"
)
_RESULTS = (
    "out_example_state_data:float, out_delta_sparse_weights:num_sparse_features*float, "
    "out_delta_dense_weights:num_dense_features*float"
)


def _attrs(adaptive: str) -> str:
    names = ",".join(f'"{name}"' for name in LOSSES)
    return (
        f"loss_type: string in [{names}]; {adaptive}: bool = false; num_sparse_features: int >= 0; "
        "num_sparse_features_with_values: int >= 0; num_dense_features: int >= 0; l1: float; l2: float; "
        "num_loss_partitions: int >= 1; num_inner_iterations: int >= 1"
    )


def _result_dims(*inputs: Any) -> list[Dims]:
    *_, dense_features, _, _, _, sparse_weights, dense_weights, state = inputs
    for number, features in enumerate(dense_features):
        with_rank(features, 2, f"dense_features[{number}]")
    rows, columns = with_rank(state, 2, "example_state_data") or (None, None)
    if columns not in (None, 4):
        raise invalid(f"example_state_data has {columns} columns: an example has 4")
    weights: list[Known] = [*sparse_weights, *dense_weights]
    return [(rows, 4), *(w.dims for w in weights)]


def _optimize(
    xp: Any, sparse_example_indices: Any, sparse_feature_indices: Any, sparse_feature_values: Any, dense_features: Any,
    example_weights: Any, example_labels: Any, sparse_indices: Any, sparse_weights: Any, dense_weights: Any,
    example_state_data: Any, *, loss_type: str, l1: float, l2: float, num_loss_partitions: int, adaptive: bool,
) -> Any:  # fmt: skip
    weights, count = example_weights.reshape(-1), example_weights.size
    if not sparse_example_indices and not dense_features:
        raise invalid("Requires at least one feature to train.")
    if not l2 > 0 or l1 < 0:
        raise invalid(f"l1 = {l1} must not be negative, and l2 = {l2} must be positive")
    if example_labels.size != count:
        raise invalid(f"Expected {count} example labels but got {example_labels.size}")
    if example_state_data.shape != (count, 4):
        raise invalid(f"Expected shape [{count},4] for example_state_data, got {list(example_state_data.shape)}")
    loss = LOSSES[loss_type if isinstance(loss_type, str) else loss_type.decode()]
    sparse = [
        _sparse_group(
            i, sparse_example_indices[i], sparse_feature_indices[i],
            sparse_feature_values[i] if i < len(sparse_feature_values) else None, sparse_indices[i], sparse_weights[i],
            count,
        )
        for i in range(len(sparse_example_indices))
    ]  # fmt: skip
    dense = [_dense_group(i, dense_features[i], dense_weights[i], count) for i in range(len(dense_features))]
    labels = np.array([loss.label(float(label)) for label in example_labels.reshape(-1)])
    state = example_state_data.copy()
    _epoch(Model([*sparse, *dense], l1, l2, num_loss_partitions), loss, labels, weights, state, adaptive)
    shaped = zip([*sparse, *dense], [*sparse_weights, *dense_weights], strict=True)
    deltas = [group.deltas.astype(np.float32).reshape(like.shape) for group, like in shaped]
    return state, deltas[: len(sparse)], deltas[len(sparse) :]


SdcaOptimizer = op(
    f"SdcaOptimizer({_FEATURES}) -> ({_RESULTS}) | {_attrs('adaptative')}",
    facts="data_dependent",
    shape=_result_dims,
    gradient=FLAT,
    checks_first=True,
)
SdcaOptimizerV2 = op(
    f"SdcaOptimizerV2({_FEATURES}) -> ({_RESULTS}) | {_attrs('adaptive')}",
    facts="data_dependent",
    shape=_result_dims,
    gradient=FLAT,
    checks_first=True,
)


@SdcaOptimizer.kernel
def _(xp, *inputs, loss_type, l1, l2, num_loss_partitions, adaptative):
    return _optimize(
        xp, *inputs, loss_type=loss_type, l1=l1, l2=l2, num_loss_partitions=num_loss_partitions, adaptive=adaptative
    )


@SdcaOptimizerV2.kernel
def _(xp, *inputs, loss_type, l1, l2, num_loss_partitions, adaptive):
    return _optimize(
        xp, *inputs, loss_type=loss_type, l1=l1, l2=l2, num_loss_partitions=num_loss_partitions, adaptive=adaptive
    )


SdcaShrinkL1 = op(
    "SdcaShrinkL1(weights:Ref(num_features*float)) -> () | num_features: int >= 0; l1: float; l2: float",
    shape=lambda weights: [],
    gradient=FLAT,
)


@SdcaShrinkL1.kernel
def _(xp, weights, *, l1, l2):
    if not l2 > 0 or l1 < 0:
        raise invalid(f"l1 = {l1} must not be negative, and l2 = {l2} must be positive")
    shrinkage = np.float32(l1 / l2)
    for handle in weights:
        storage = held(handle)
        with storage:
            value = storage.present()
            storage.take(np.sign(value) * np.maximum(np.abs(value) - shrinkage, np.float32(0)))
    return ()


SdcaFprint = op("SdcaFprint(input:string) -> (output:int64)", gradient=FLAT, facts="data_dependent", checks_first=True)


@SdcaFprint.shape
def _(input):
    return ((with_rank(input, 1, "input") or (None,))[0], 2)


@SdcaFprint.kernel
def _(xp, input):
    words = np.empty((len(input), 2), np.uint64)
    for row, text in zip(words, input.tolist(), strict=True):
        low, high = fingerprint128(text)
        row[:] = (low if low >= 2 else low - 2 & MASK), high
    return words.view(np.int64)
