"""Small crops are made many at a time, and are what they are one by one; soft suppression goes by the best score."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.image import warp_ops

RANDOM = np.random.RandomState(3)
BOXES = RANDOM.uniform(-0.2, 1.2, (50, 4)).astype(np.float32)
NUMBERS = RANDOM.randint(0, 3, 50).astype(np.int32)


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_many_at_a_time_or_one_by_one(method, dtype, monkeypatch):
    image = (RANDOM.uniform(size=(3, 20, 25, 2)) * 255).astype(dtype)
    crops = lambda: tf.image.crop_and_resize(image, BOXES, NUMBERS, [5, 6], method, 7.0).numpy()
    many = crops()
    monkeypatch.setattr(warp_ops, "AT_ONCE", 5 * 6 * 2 * 7)
    some = crops()
    monkeypatch.setattr(warp_ops, "SMALL_CROP", 0)
    np.testing.assert_array_equal(many, crops())
    np.testing.assert_array_equal(some, many)
    assert (many == 7.0).any()


@pytest.mark.parametrize("sigma", [0.5, 1e-5])
def test_soft_suppression_takes_the_best_score_that_is_left(sigma):
    boxes = np.array([[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3], [0, 0, 0.5, 1]], np.float32)
    scores = np.array([0.9, 0.8, 0.7, np.inf], np.float32)
    shared = {(0, 1): 0.9, (0, 3): 0.5, (1, 3): 0.45 / 0.95}
    now, order, kept = dict(enumerate(scores.tolist())), [], []
    while now:
        best = max(now, key=now.get)
        if not now[best] > 0.01:
            break
        order.append(best)
        kept.append(now.pop(best))
        for other in now:
            now[other] *= np.exp(-0.5 / sigma * shared.get((min(best, other), max(best, other)), 0.0) ** 2)
    found, values = tf.image.non_max_suppression_with_scores(
        boxes, scores, 4, score_threshold=0.01, soft_nms_sigma=sigma / 2
    )
    assert len(found) <= len(order)
    found, values = tf.raw_ops.NonMaxSuppressionV5(
        boxes=boxes, scores=scores, max_output_size=4, iou_threshold=1.0, score_threshold=0.01, soft_nms_sigma=sigma
    )[:2]
    assert found.numpy().tolist() == order
    np.testing.assert_allclose(values.numpy(), kept, rtol=1e-5)
