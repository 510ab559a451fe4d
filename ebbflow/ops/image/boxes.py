"""The public functions of boxes: non-maximum suppression in all forms, drawing, sampling crops."""

from __future__ import annotations

from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.lengths import lengths_of
from ebbflow.ops.random.seeds import get_seed

NO_LEAST = float("-inf")


def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = NO_LEAST,
    name: str | None = None,
) -> Tensor:
    """Return the places of the boxes that stay when those that overlap a better one are dropped, best first.

    >>> non_max_suppression([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9]], [0.3, 0.8], 2).numpy().tolist()
    [1]
    """
    with name_scope(name, "non_max_suppression"):
        return raw.NonMaxSuppressionV3(boxes, scores, max_output_size, iou_threshold, score_threshold)


def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = NO_LEAST,
    soft_nms_sigma: TensorLike = 0.0,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Return the places and scores of the boxes that stay; with a sigma, overlap lowers scores."""
    with name_scope(name, "non_max_suppression_with_scores"):
        found = raw.NonMaxSuppressionV5(boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma)
        return found.selected_indices, found.selected_scores


def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = NO_LEAST,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Any, Any]:
    """Return the places of the boxes that stay, filled up with zeros, and how many they are; of a batch, of each."""
    with name_scope(name, "non_max_suppression_padded"):
        boxes = convert(boxes, hint=dtypes.float32)
        scores = convert(scores, boxes.dtype)
        limits = (max_output_size, convert(iou_threshold, boxes.dtype), convert(score_threshold, boxes.dtype))
        if boxes.shape.rank == 2:
            found = raw.NonMaxSuppressionV4(boxes, scores, *limits, pad_to_max_output_size=pad_to_max_output_size)
            return found.selected_indices, found.valid_outputs
        if not pad_to_max_output_size:
            raise ValueError("`pad_to_max_output_size` must be set to True for batched input.")
        count = lengths_of(boxes)[0]
        if not isinstance(count, int):
            raise ValueError(f"the batch of boxes must have a known length, got shape {boxes.shape}")
        each = [
            raw.NonMaxSuppressionV4(boxes[i], scores[i], *limits, pad_to_max_output_size=True) for i in range(count)
        ]
        return raw.Pack([e.selected_indices for e in each]), raw.Pack([e.valid_outputs for e in each])


def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = NO_LEAST,
    name: str | None = None,
) -> Tensor:
    """Return the places of what stays, by a matrix of how much each overlaps each."""
    with name_scope(name, "non_max_suppression_overlaps"):
        return raw.NonMaxSuppressionWithOverlaps(overlaps, scores, max_output_size, overlap_threshold, score_threshold)


def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: TensorLike,
    max_total_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = NO_LEAST,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return the best boxes of all classes of each image, their scores, classes and number."""
    return raw.CombinedNonMaxSuppression(
        boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold,
        pad_per_class=pad_per_class, clip_boxes=clip_boxes, name=name,
    )  # fmt: skip


# --- drawing ----------------------------------------------------------------------------------------------------------


def draw_bounding_boxes(images: TensorLike, boxes: TensorLike, colors: TensorLike, name: str | None = None) -> Tensor:
    """Return images with the outlines of boxes [batch, boxes, 4]."""
    if colors is None:
        return raw.DrawBoundingBoxes(images, boxes, name=name)
    return raw.DrawBoundingBoxesV2(images, boxes, colors, name=name)


def draw_bounding_boxes_v1(
    images: TensorLike, boxes: TensorLike, name: str | None = None, colors: AnyTensor = None
) -> Tensor:
    """Return images with the outlines of boxes, as TF 1 orders the arguments."""
    return draw_bounding_boxes(images, boxes, colors, name)


# --- crops by lot -----------------------------------------------------------------------------------------------------


def _ranges(aspect_ratio_range: Any, area_range: Any, max_attempts: Any, use_image: Any) -> dict[str, Any]:
    given = {
        "aspect_ratio_range": aspect_ratio_range,
        "area_range": area_range,
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image,
    }
    return {
        key: [float(x) for x in value] if key.endswith("range") else value
        for key, value in given.items()
        if value is not None
    }


def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int = 0,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: TensorLike | None = None,
    area_range: TensorLike | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return a crop drawn by lot that covers enough of a box: where it begins, its size, and itself as a box."""
    seed1, seed2 = get_seed(seed) if seed else (0, 0)
    return _sampled(image_size, bounding_boxes, seed1, seed2, min_object_covered, name,
                    _ranges(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes))  # fmt: skip


def sample_distorted_bounding_box_v1(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: TensorLike | None = None,
    area_range: TensorLike | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return a crop drawn by lot that covers enough of a box, as TF 1 orders the arguments."""
    return _sampled(image_size, bounding_boxes, seed or 0, seed2 or 0, min_object_covered, name,
                    _ranges(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes))  # fmt: skip


def _sampled(size: Any, boxes: Any, seed: Any, seed2: Any, covered: Any, name: Any, rules: dict[str, Any]) -> Any:
    with name_scope(name, "sample_distorted_bounding_box"):
        return raw.SampleDistortedBoundingBoxV2(
            size, boxes, convert(covered, dtypes.float32), seed=seed or 0, seed2=seed2 or 0, **rules
        )


def stateless_sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: TensorLike,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: TensorLike | None = None,
    area_range: TensorLike | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Return a crop that the seeds alone decide."""
    rules = _ranges(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    with name_scope(name, "stateless_sample_distorted_bounding_box"):
        covered = convert(min_object_covered, dtypes.float32)
        return raw.StatelessSampleDistortedBoundingBox(image_size, bounding_boxes, covered, convert(seed), **rules)
