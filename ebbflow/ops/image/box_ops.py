"""Ops on boxes in images: drawn, and drawn by lot for a crop (`SampleDistortedBoundingBox`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow.core.op import Known, op
from ebbflow.ops.declare import FLAT, UNDEFINED, show
from ebbflow.ops.image.frame_loops import frames
from ebbflow.ops.random.philox import Source
from ebbflow.ops.random.seeds import stream_of
from ebbflow.ops.random.stateless_ops import seeded
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid

F = np.float32

# --- drawing ----------------------------------------------------------------------------------------------------------

_T = "T: type in [float,half] = float"
DrawBoundingBoxes = op(f"DrawBoundingBoxes(images:T, boxes:float) -> (output:T) | {_T}", gradient=FLAT)
DrawBoundingBoxesV2 = op(
    f"DrawBoundingBoxesV2(images:T, boxes:float, colors:float) -> (output:T) | {_T}", gradient=UNDEFINED
)
COLOURS = np.array(
    [
        [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1],
    ],
    F,
)  # fmt: skip
"""Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia."""


def _drawn_on(images: Known, boxes: Known, *others: Known) -> Any:
    ranked(boxes, 3)
    return ranked(images, 4)


DrawBoundingBoxes.shape(_drawn_on)
DrawBoundingBoxesV2.shape(_drawn_on)


@DrawBoundingBoxes.kernel
def _(xp, images, boxes):
    return _drawn(images, boxes, COLOURS)


@DrawBoundingBoxesV2.kernel
def _(xp, images, boxes, colors):
    if colors.ndim != 2:
        raise invalid(f"colors must be a 2-D matrix, got shape {show(colors.shape)}")
    return _drawn(images, boxes, colors if colors.size else COLOURS)


def _drawn(images: np.ndarray, boxes: np.ndarray, colours: np.ndarray) -> np.ndarray:
    if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
        raise invalid(f"The rank of the images should be 4, with 1, 3 or 4 channels, got {show(images.shape)}")
    if boxes.ndim != 3 or boxes.shape[2] != 4 or boxes.shape[0] != images.shape[0]:
        raise invalid(f"boxes must be [batch, boxes, 4] for images {show(images.shape)}, got {show(boxes.shape)}")
    _, height, width, depth = images.shape
    if colours.shape[1] < depth:
        raise invalid(f"colors must have at least {depth} columns, got {show(colours.shape)}")
    result = images.copy()
    table = colours.copy()
    if depth == 1:
        table[:, 0] = 1
    if _framed_by_code(result, boxes, table):
        return result
    for b in range(len(boxes)):
        for i, (y1, x1, y2, x2) in enumerate(boxes[b].tolist()):
            ink = table[i % len(table), :depth].astype(images.dtype)
            rows, columns = (
                (int(y1 * (height - 1)), int(y2 * (height - 1))),
                (int(x1 * (width - 1)), int(x2 * (width - 1))),
            )
            _frame(result[b], rows, columns, ink)
    return result


_EDGES = 1 << 40
"""Edges further out than this are left to Python's own numbers."""


def _framed_by_code(images: np.ndarray, boxes: np.ndarray, table: np.ndarray) -> bool:
    """Draw frames by machine code, where there is some for these."""
    code = frames.worth(boxes.size * 16, 1 << 13) if images.dtype == np.float32 and images.size else None
    if code is None:
        return False
    batch, height, width, depth = images.shape
    edges = boxes.astype(np.float64) * [height - 1, width - 1, height - 1, width - 1]
    if not (np.abs(edges) < _EDGES).all():
        return False
    inks = np.ascontiguousarray(table[:, :depth], np.float32)
    code(images, height, width, depth, edges.astype(np.int64), batch, boxes.shape[1], inks, len(inks))
    return True


def _frame(image: np.ndarray, rows: tuple[int, int], columns: tuple[int, int], ink: np.ndarray) -> None:
    """Draw the four sides that are inside; a box that lies outside, or is upside down, is left out."""
    height, width = image.shape[:2]
    (top, bottom), (left, right) = rows, columns
    if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
        return
    inner = slice(max(left, 0), min(right, width - 1) + 1)
    outer = slice(max(top, 0), min(bottom, height - 1) + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            image[row, inner] = ink
    for column in (left, right):
        if 0 <= column < width:
            image[outer, column] = ink


# --- by lot -----------------------------------------------------------------------------------------------------------

_RANGES = (
    "aspect_ratio_range: list(float) = [0.75,1.3300000429153442]; area_range: list(float) = [0.05000000074505806,1.0];"
    " max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false"
)
_SIZES = "T: type in [uint8,int8,int16,int32,int64]"
SampleDistortedBoundingBox = op(
    f"SampleDistortedBoundingBox(image_size:T, bounding_boxes:float) -> (begin:T, size:T, bboxes:float) | {_SIZES};"
    f" seed: int = 0; seed2: int = 0; min_object_covered: float = 0.10000000149011612; {_RANGES} | stateful",
    gradient=FLAT,
)
SampleDistortedBoundingBoxV2 = op(
    "SampleDistortedBoundingBoxV2(image_size:T, bounding_boxes:float, min_object_covered:float) -> (begin:T, size:T,"
    f" bboxes:float) | {_SIZES}; seed: int = 0; seed2: int = 0; {_RANGES} | stateful",
    gradient=FLAT,
)
StatelessSampleDistortedBoundingBox = op(
    "StatelessSampleDistortedBoundingBox(image_size:T, bounding_boxes:float, min_object_covered:float, seed:Tseed)"
    f" -> (begin:T, size:T, bboxes:float) | {_SIZES}; Tseed: type in [int32,int64]; {_RANGES}",
    gradient=UNDEFINED,
)


def _sampled_dims(image_size: Known, bounding_boxes: Known, *others: Known) -> Any:
    ranked(image_size, 1)
    ranked(bounding_boxes, 3)
    return [(3,), (3,), (1, 1, 4)]


for _op in (SampleDistortedBoundingBox, SampleDistortedBoundingBoxV2, StatelessSampleDistortedBoundingBox):
    _op.shape(_sampled_dims)


class Words:
    """Random words one by one, and the numbers TensorFlow makes of them."""

    def __init__(self, source: Source) -> None:
        self._words = self._run(source)

    @staticmethod
    def _run(source: Source) -> Iterator[int]:
        block = 0
        while True:
            yield from source.words(8, block).reshape(-1).tolist()
            block += 8

    def fraction(self) -> float:
        """Return a float32 from 0 to below 1: the lower 23 bits are those of a float from 1 to 2."""
        word = next(self._words) & 0x7FFFFF | 127 << 23
        return float(np.array(word, np.uint32).view(F) - F(1))

    def below(self, limit: int) -> int:
        """Return an integer below a limit."""
        if limit & (limit - 1) == 0:
            return next(self._words) & (limit - 1)
        spare = 0xFFFFFFFF % limit + 1
        word = next(self._words)
        while word < spare:
            word = next(self._words)
        return word % limit


def _sampled(
    image_size: np.ndarray, boxes: np.ndarray, covered: Any, aspects: Any, areas: Any, attempts: int, whole: bool,
    words: Words,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    height, width = _check_sampling(image_size, boxes, covered, aspects, areas, attempts)
    rectangles = _rectangles(boxes.reshape(-1, 4), height, width)
    if not len(rectangles):
        if not whole:
            raise invalid("No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you "
                          "wish to not provide any bounding boxes.")  # fmt: skip
        rectangles = np.array([[0, 0, height, width]])
    crop = (0, 0, height, width)
    low, high = F(aspects[0]), F(aspects[1])
    for _ in range(attempts):
        aspect = F(words.fraction()) * (high - low) + low
        found = _random_crop(width, height, F(areas[0]), F(areas[1]), float(aspect), words)
        if found is not None and _covers(found, float(covered), rectangles):
            crop = found
            break
    top, left, bottom, right = crop
    kind = image_size.dtype
    shares = np.array([top / height, left / width, bottom / height, right / width], F).reshape(1, 1, 4)
    return np.array([top, left, 0], kind), np.array([bottom - top, right - left, -1]).astype(kind), shares


def _check_sampling(
    image_size: np.ndarray, boxes: np.ndarray, covered: Any, aspects: Any, areas: Any, attempts: int
) -> tuple[int, int]:
    if image_size.shape != (3,):
        raise invalid(f"image_size must contain 3 elements, got shape {show(image_size.shape)}")
    if boxes.ndim != 3 or boxes.shape[2] != 4:
        raise invalid(f"input boxes must be [batch, num_boxes, 4], got shape {show(boxes.shape)}")
    if not 0 <= float(covered) <= 1:
        raise invalid(f"Min object covered must be in [0.0, 1.0], got: {float(covered)}")
    if len(aspects) != 2 or aspects[0] <= 0 or aspects[1] <= 0:
        raise invalid(f"Aspect ratio range must have 2 positive elements, got {list(aspects)}")
    if len(areas) != 2 or not all(0 < a <= 1 for a in areas):
        raise invalid(f"Area range must have 2 elements in (0.0, 1.0], got {list(areas)}")
    if attempts <= 0:
        raise invalid(f"Max attempts must be greater than 0: {attempts}")
    height, width = int(image_size[0]), int(image_size[1])
    if height <= 0 or width <= 0:
        raise invalid(f"Image height and width must be positive, got {height} x {width}")
    if boxes.size and not ((boxes >= 0) & (boxes <= 1)).all():
        raise invalid("All bounding box coordinates must be in [0.0, 1.0]: they were not")
    return height, width


def _rectangles(boxes: np.ndarray, height: int, width: int) -> np.ndarray:
    return np.stack([(boxes[:, i] * (height if i % 2 == 0 else width)).astype(np.int64) for i in range(4)], 1)


def _round(x: float) -> int:
    return int(np.rint(F(x)))


def _random_crop(width: int, height: int, least: Any, most: Any, aspect: float, words: Words) -> Any:
    """Return a rectangle (top, left, bottom, right) of this aspect with an area in the range, or None."""
    if most <= 0 or aspect <= 0 or least > most:
        return None
    small, large = float(least * F(width) * F(height)), float(most * F(width) * F(height))
    low, high = _round(math.sqrt(small / aspect)), _round(math.sqrt(large / aspect))
    if _round(high * aspect) > width:
        high = int((width + 0.5 - 1e-7) / aspect)
        high -= _round(high * aspect) > width
    high = min(high, height)
    low = min(low, high)
    tall = low + (words.below(high - low + 1) if low < high else 0)
    wide = _round(tall * aspect)
    if wide * tall < small:
        tall += 1
        wide = _round(tall * aspect)
    if wide * tall > large:
        tall -= 1
        wide = _round(tall * aspect)
    if not small <= wide * tall <= large or not 0 < wide <= width or not 0 < tall <= height:
        return None
    top = words.below(height - tall) if tall < height else 0
    left = words.below(width - wide) if wide < width else 0
    return top, left, top + tall, left + wide


def _covers(crop: tuple[int, int, int, int], share: float, rectangles: np.ndarray) -> bool:
    """Return whether a crop covers that much of at least one of the rectangles."""
    top, left, bottom, right = crop
    if (bottom - top) * (right - left) <= 0:
        return False
    for y1, x1, y2, x2 in rectangles.tolist():
        area = (y2 - y1) * (x2 - x1)
        if area <= 0:
            continue
        shared = max(min(bottom, y2) - max(top, y1), 0) * max(min(right, x2) - max(left, x1), 0)
        if shared / area >= share:
            return True
    return False


def _stream(run: Any, name: str, seed: int, seed2: int, attempts: int) -> Words:
    stream = stream_of(run, name, seed, seed2)
    if stream is None:
        return Words(Source(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]), 0))
    return Words(stream.reserve(attempts))


@SampleDistortedBoundingBox.kernel
def _(
    xp, image_size, bounding_boxes, *, seed, seed2, min_object_covered, aspect_ratio_range, area_range, max_attempts,
    use_image_if_no_bounding_boxes, run,
):  # fmt: skip
    words = _stream(run, "SampleDistortedBoundingBox", seed, seed2, 4 * max(max_attempts, 1))
    return _sampled(
        image_size, bounding_boxes, min_object_covered, aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes, words,
    )  # fmt: skip


@SampleDistortedBoundingBoxV2.kernel
def _(
    xp, image_size, bounding_boxes, min_object_covered, *, seed, seed2, aspect_ratio_range, area_range, max_attempts,
    use_image_if_no_bounding_boxes, run,
):  # fmt: skip
    if min_object_covered.ndim:
        raise invalid(f"min_object_covered must be 0-D, got shape {show(min_object_covered.shape)}")
    words = _stream(run, "SampleDistortedBoundingBoxV2", seed, seed2, 4 * max(max_attempts, 1))
    return _sampled(
        image_size, bounding_boxes, min_object_covered, aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes, words,
    )  # fmt: skip


@StatelessSampleDistortedBoundingBox.kernel
def _(
    xp, image_size, bounding_boxes, min_object_covered, seed, *, aspect_ratio_range, area_range, max_attempts,
    use_image_if_no_bounding_boxes,
):  # fmt: skip
    if min_object_covered.ndim:
        raise invalid(f"min_object_covered must be 0-D, got shape {show(min_object_covered.shape)}")
    return _sampled(
        image_size, bounding_boxes, min_object_covered, aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes, Words(seeded(seed)),
    )  # fmt: skip
