"""Masks of weights, and when and by how much they grow (`Pruning`): more of the smallest weights with each update."""

from __future__ import annotations

import re
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.graph.collections import add_to_collection, get_collection
from ebbflow.graph.scopes import control_dependencies, group, no_op
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.shaping import reshape, squeeze
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.linalg.norms import zero_fraction
from ebbflow.platform import logging
from ebbflow.state.functions import assign
from ebbflow.state.initializers import Zeros
from ebbflow.state.partitioners import PartitionedVariable
from ebbflow.state.variable_scope import get_variable, variable_scope
from ebbflow.summary import ops as summary
from ebbflow.tf1.hparams import HParams
from ebbflow.tf1.pruning import blocks
from ebbflow.train.step_counter import get_global_step

MASK_COLLECTION = "masks"
THRESHOLD_COLLECTION = "thresholds"
MASKED_WEIGHT_COLLECTION = "masked_weights"
WEIGHT_COLLECTION = "kernel"
MASKED_WEIGHT_NAME = "weights/masked_weight"


def apply_mask(x: TensorLike, scope: object = "") -> Tensor:
    """Return weights times a mask of their own, which `Pruning` finds in collections of the graph."""
    mask = blocks.weight_mask_variable(x, scope)
    threshold = blocks.weight_threshold_variable(x, scope)
    return masked_weight(x, mask, threshold)


def masked_weight(weights: Any, mask: Any, threshold: Any, name: str = MASKED_WEIGHT_NAME) -> Any:
    """Return weights times their mask, remembered in the graph unless the mask is there already."""
    masked = raw.Mul(convert(mask), convert(weights), name=name)
    if not any(mask is known for known in get_collection(MASK_COLLECTION)):
        add_to_collection(THRESHOLD_COLLECTION, threshold)
        add_to_collection(MASK_COLLECTION, mask)
        add_to_collection(MASKED_WEIGHT_COLLECTION, masked)
        add_to_collection(WEIGHT_COLLECTION, weights)
    return masked


def get_masked_weights() -> list[Any]:
    """Return the products of weights and masks."""
    return get_collection(MASKED_WEIGHT_COLLECTION)


def get_masks() -> list[Any]:
    """Return the masks."""
    return get_collection(MASK_COLLECTION)


def get_thresholds() -> list[Any]:
    """Return the magnitudes below which weights are masked."""
    return get_collection(THRESHOLD_COLLECTION)


def get_weights() -> list[Any]:
    """Return the weights that have masks."""
    return get_collection(WEIGHT_COLLECTION)


def get_weight_sparsity() -> list[Any]:
    """Return for each mask how much of it is zero."""
    return [zero_fraction(mask) for mask in get_masks()]


def get_pruning_hparams() -> HParams:
    """Return the settings of `Pruning` as they are unless a program says otherwise."""
    return HParams(
        name="model_pruning", begin_pruning_step=0, end_pruning_step=-1, weight_sparsity_map=[""], block_dims_map=[""],
        threshold_decay=0.0, pruning_frequency=10, nbins=256, block_height=1, block_width=1,
        block_pooling_function="AVG", initial_sparsity=0.0, target_sparsity=0.5, sparsity_function_begin_step=0,
        sparsity_function_end_step=100, sparsity_function_exponent=3.0, use_tpu=False,
    )  # fmt: skip


def _check(spec: Any) -> None:
    """Refuse settings that cannot be, by name and value."""
    rules = (
        ("begin_pruning_step", spec.begin_pruning_step >= 0),
        ("end_pruning_step", spec.end_pruning_step < 0 or spec.begin_pruning_step < spec.end_pruning_step),
        ("sparsity_function_begin_step", spec.sparsity_function_begin_step >= 0),
        ("sparsity_function_end_step", spec.sparsity_function_begin_step < spec.sparsity_function_end_step),
        ("threshold_decay", 0.0 <= spec.threshold_decay < 1.0),
        ("initial_sparsity", 0.0 <= spec.initial_sparsity < 1.0),
        ("target_sparsity", 0.0 <= spec.target_sparsity < 1.0),
    )
    for name, holds in rules:
        if not holds:
            raise ValueError(f"Illegal value for {name}: {getattr(spec, name)}")


def _pairs(entries: list[str]) -> dict[str, str]:
    """Return what a list of `pattern:value` says."""
    return dict(entry.split(":", 1) for entry in entries if entry)


def _block(text: str) -> list[int]:
    sizes = [int(size) for size in text.split("x")]
    if len(sizes) != 2:
        raise ValueError(f"block_dims_map: expected two sizes such as 2x4, got {text!r}")
    return sizes


def _only_match(patterns: dict[str, Any], name: str, setting: str) -> Any:
    """Return what is said of a weight's name by the one pattern that it matches; None where no pattern does."""
    found = [value for pattern, value in patterns.items() if re.match(pattern, name)]
    if len(found) > 1:
        raise ValueError(f"Multiple matches in {setting} for weight {name}")
    return found[0] if found else None


class Pruning:
    """Updates the masks of a graph: every few steps the smallest weights go, until as many have gone as should."""

    def __init__(self, spec: Any = None, global_step: Any = None, sparsity: Any = None) -> None:
        settings: Any = spec or get_pruning_hparams()
        self._spec: Any = settings
        _check(settings)
        self._global_step = cast(get_global_step() if global_step is None else global_step, dtypes.int32)
        self._sparsity = self._setup_sparsity() if sparsity is None else sparsity
        self._last_update_step = self._setup_last_update_step()
        self._block_dim = [settings.block_height, settings.block_width]
        self._block_pooling_function = settings.block_pooling_function
        if self._block_pooling_function not in ("AVG", "MAX"):
            raise ValueError(f"Unknown pooling function for block sparsity: {self._block_pooling_function}")
        self._block_dims = {p: _block(text) for p, text in _pairs(settings.block_dims_map).items()}
        self._weight_sparsity = {p: float(text) for p, text in _pairs(settings.weight_sparsity_map).items()}
        if any(value >= 1.0 for value in self._weight_sparsity.values()):
            raise ValueError(f"weight_sparsity_map: sparsity must be less than 1, got {self._weight_sparsity}")
        self._mask_update: Any = None

    def _setup_sparsity(self) -> Any:
        spec = self._spec
        with name_scope(spec.name):
            begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
            past = cast(self._global_step - begin, dtypes.float32) / float(end - begin)
            left = 1.0 - raw.ClipByValue(past, 0.0, 1.0)
            span = spec.initial_sparsity - spec.target_sparsity
            return raw.Add(span * left**spec.sparsity_function_exponent, spec.target_sparsity, name="sparsity")

    def _setup_last_update_step(self) -> Any:
        with variable_scope(self._spec.name, use_resource=self._spec.use_tpu) as scope:
            try:
                return get_variable(
                    "last_mask_update_step", [], initializer=Zeros(), trainable=False, dtype=dtypes.int32
                )
            except ValueError:  # another Pruning of this graph has made it
                scope.reuse_variables()
                return get_variable("last_mask_update_step", dtype=dtypes.int32)

    def _get_sparsity(self, weight_name: str) -> Any:
        wanted = _only_match(self._weight_sparsity, weight_name, "weight_sparsity_map")
        return self._sparsity if wanted is None else self._sparsity * (wanted / self._spec.target_sparsity)

    def _update_mask(self, weights: Any, threshold: Any) -> tuple[Any, Any]:
        """Return the new threshold of some weights, and the mask of those that reach it."""
        return self._reaching(raw.Abs(convert(weights)), threshold, _name(weights))

    def _reaching(self, sizes: Any, threshold: Any, name: str) -> tuple[Any, Any]:
        with name_scope(f"{name}_pruning_ops"):
            count = sizes.shape.num_elements()
            kept = cast(raw.Round(cast(count, dtypes.float32) * (1.0 - self._get_sparsity(name))), dtypes.int32)
            falling, _ = raw.TopKV2(reshape(sizes, [-1]), count)
            current = gather(falling, raw.Maximum(kept - 1, 0))
            decay = self._spec.threshold_decay
            smoothed = current * (1.0 - decay) + convert(threshold) * decay
            return smoothed, cast(raw.GreaterEqual(sizes, smoothed), sizes.dtype)

    def _maybe_update_block_mask(self, weights: Any, threshold: Any) -> tuple[Any, Any]:
        """Return the new threshold and mask, by blocks where the settings say so and the weights are a matrix."""
        matrix, name = squeeze(convert(weights)), _name(weights)
        sizes = _only_match(self._block_dims, name, "block_dims_map") or self._block_dim
        if matrix.shape.rank != 2 or list(sizes) == [1, 1]:
            return self._update_mask(weights, threshold)
        block = [whole if size == -1 else size for size, whole in zip(sizes, matrix.shape.as_list(), strict=True)]
        pooled = blocks.factorized_pool(
            raw.Abs(matrix), block, self._block_pooling_function, block, "SAME", f"{name}_pooled"
        )
        smoothed, mask = self._reaching(pooled, threshold, name)
        spread = blocks.cut(blocks.expand_tensor(mask, block), matrix)
        return smoothed, reshape(spread, weights.shape.as_list())

    def _assignments(self) -> list[Any]:
        found = []
        for mask, weight, threshold in zip(get_masks(), get_weights(), get_thresholds(), strict=True):
            smoothed, new = self._maybe_update_block_mask(weight, threshold)
            found.append(blocks.variable_assign(threshold, smoothed))
            parts = isinstance(mask, PartitionedVariable)
            found.append((blocks.partitioned_variable_assign if parts else blocks.variable_assign)(mask, new))
        return found

    def mask_update_op(self) -> Any:
        """Return the op that updates all masks now."""
        with name_scope(self._spec.name):
            if self._mask_update is None:
                with control_dependencies(self._assignments()):
                    logging.info("Updating masks.")
                    self._mask_update = assign(
                        self._last_update_step, self._global_step, name="last_mask_update_step_assign"
                    )
            return self._mask_update

    def conditional_mask_update_op(self) -> Any:
        """Return the op that updates the masks in the steps in which that is due."""
        spec, step = self._spec, self._global_step

        def due() -> Any:
            begun = raw.GreaterEqual(step, spec.begin_pruning_step)
            goes_on = raw.LogicalOr(raw.LessEqual(step, spec.end_pruning_step), spec.end_pruning_step < 0)
            again = raw.LessEqual(self._last_update_step + spec.pruning_frequency, step)
            return raw.LogicalAnd(raw.LogicalAnd(begun, goes_on), again)

        def update() -> Any:
            with control_dependencies(self._assignments()):
                return group(assign(self._last_update_step, step, name="last_mask_update_step_assign"))

        with name_scope(spec.name):
            return cond_v1(due(), update, no_op)

    def add_pruning_summaries(self) -> None:
        """Add summaries of how sparse weights are."""
        with name_scope(f"{self._spec.name}_summaries"):
            summary.scalar("sparsity", self._sparsity)
            summary.scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds(), strict=True):
                summary.scalar(f"{_name(mask)}/sparsity", zero_fraction(mask))
                summary.scalar(f"{_name(threshold)}/threshold", threshold)

    def print_hparams(self) -> None:
        """Log the settings."""
        logging.info(self._spec.to_json())


def _name(weights: Any) -> str:
    return weights.name if isinstance(weights, PartitionedVariable) else weights.op.name
