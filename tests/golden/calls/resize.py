"""Cases of resizes, crops and projections: values and gradients."""

import numpy as np

from tests.ops.calls import gradients

RNG = np.random.RandomState(1)
X = RNG.rand(2, 5, 4, 2).astype(np.float32)
BYTES = RNG.randint(0, 256, (1, 6, 5, 3)).astype(np.uint8)
BOXES = np.array([[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.9], [0.8, 0.9, 0.1, 0.2], [-0.3, 0.2, 1.4, 1.2]], np.float32)
NUMBERS = np.array([0, 1, 1, 0], np.int32)
METHODS = "bilinear nearest bicubic area lanczos3 lanczos5 gaussian mitchellcubic".split()


def cases(tf):
    yield from sizes(tf)
    yield from raw(tf)
    yield from refusals(tf)
    yield from crops(tf)
    yield from projections(tf)


def sizes(tf):
    image, v1 = tf.image, tf.compat.v1.image
    for method in METHODS:
        for size in ([3, 7], [9, 2], [5, 4], [1, 1]):
            for smooth in (False, True):
                call = lambda x, s=size, m=method, a=smooth: image.resize(x, s, m, antialias=a)
                if method == "area":
                    yield f"resize/{method}/{size}/{smooth}", lambda call=call: call(X)
                else:
                    yield f"resize/{method}/{size}/{smooth}", lambda call=call: gradients(tf, call, X)
        yield f"resize/{method}/bytes", lambda m=method: image.resize(BYTES, [4, 9], m)
        yield f"resize/{method}/single", lambda m=method: image.resize(BYTES[0], [4, 9], m)
        yield f"resize/{method}/double", lambda m=method: image.resize(X.astype(np.float64), [4, 9], m)
        yield f"resize/{method}/half", lambda m=method: image.resize(X.astype(np.float16), [4, 9], m)
        yield f"resize/{method}/ratio", lambda m=method: image.resize(BYTES, [4, 9], m, preserve_aspect_ratio=True)
        yield f"resize_with_pad/{method}", lambda m=method: image.resize_with_pad(BYTES, 4, 9, m)
    for method in (0, 1, 2, 3):
        for size in ([3, 7], [9, 2], [6, 5]):
            for corners in (False, True):
                yield (
                    f"resize_images/{method}/{size}/{corners}",
                    lambda m=method, s=size, c=corners: v1.resize_images(BYTES, s, m, c),
                )
        yield f"resize_image_with_pad/{method}", lambda m=method: v1.resize_image_with_pad(BYTES, 9, 4, m)
    yield "resize_images/ratio", lambda: v1.resize_images(BYTES, [4, 9], preserve_aspect_ratio=True)
    yield (
        "resize_with_crop_or_pad",
        lambda: [image.resize_with_crop_or_pad(BYTES, h, w) for h, w in ((3, 7), (9, 2), (6, 5), (7, 8))],
    )


def raw(tf):
    ops = tf.raw_ops
    for name in ("ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor"):
        for size in ([3, 7], [10, 8], [1, 9]):
            for corners, half in ((False, False), (True, False), (False, True)):
                call = lambda x, n=name, s=size, c=corners, h=half: getattr(ops, n)(
                    images=x, size=s, align_corners=c, half_pixel_centers=h
                )
                yield f"{name}/{size}/{corners}/{half}", lambda call=call: gradients(tf, call, X)
    for kernel in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"):
        for smooth in (True, False):
            call = lambda x, k=kernel, a=smooth: ops.ScaleAndTranslate(
                images=x, size=[6, 3], scale=[1.3, 0.6], translation=[0.4, -0.7], kernel_type=k, antialias=a
            )
            yield f"ScaleAndTranslate/{kernel}/{smooth}", lambda call=call: gradients(tf, call, X)
    yield "ResizeArea/corners", lambda: ops.ResizeArea(images=X, size=[3, 3], align_corners=True)
    yield (
        "ResizeNearestNeighborGrad/ints",
        lambda: ops.ResizeNearestNeighborGrad(grads=np.arange(12, dtype=np.int32).reshape(1, 4, 3, 1), size=[2, 5]),
    )


def refusals(tf):
    image = tf.image
    yield "bad/rank", lambda: image.resize(X[0, 0], [2, 2])
    yield "bad/size", lambda: image.resize(X, [2])
    yield "bad/float size", lambda: image.resize(X, [2.5, 2.0])
    yield "bad/zero", lambda: image.resize(X, [0, 2])
    yield "bad/method", lambda: image.resize(X, [2, 2], "other")
    yield (
        "bad/both",
        lambda: tf.raw_ops.ResizeBilinear(images=X, size=[2, 2], align_corners=True, half_pixel_centers=True),
    )
    yield "bad/empty", lambda: tf.raw_ops.ResizeBilinear(images=X[:, :0], size=[2, 2])
    yield (
        "bad/kernel",
        lambda: tf.raw_ops.ScaleAndTranslate(
            images=X, size=[2, 2], scale=[1.0, 1.0], translation=[0.0, 0.0], kernel_type="other"
        ),
    )
    yield (
        "bad/scale",
        lambda: tf.raw_ops.ScaleAndTranslate(images=X, size=[2, 2], scale=[0.0, 1.0], translation=[0.0, 0.0]),
    )
    yield "bad/box index", lambda: image.crop_and_resize(X, BOXES, [0, 1, 2, 0], [2, 2])
    yield "bad/boxes", lambda: image.crop_and_resize(X, BOXES[:, :3], NUMBERS, [2, 2])
    yield "bad/crop size", lambda: image.crop_and_resize(X, BOXES, NUMBERS, [0, 2])
    yield (
        "bad/transforms",
        lambda: tf.raw_ops.ImageProjectiveTransformV3(
            images=X, transforms=[[1.0, 0.0]], output_shape=[2, 2], fill_value=0.0, interpolation="NEAREST"
        ),
    )


def crops(tf):
    image, v1 = tf.image, tf.compat.v1.image
    for method in ("bilinear", "nearest"):
        for size in ([3, 2], [1, 4], [8, 8]):
            call = lambda x, b, m=method, s=size: image.crop_and_resize(x, b, NUMBERS, s, m, 0.5)
            yield f"crop_and_resize/{method}/{size}", lambda call=call: gradients(tf, call, X, BOXES)
        yield (
            f"crop_and_resize/{method}/bytes",
            lambda m=method: image.crop_and_resize(BYTES, BOXES[:2], [0, 0], [3, 3], m),
        )
    yield "crop_and_resize/none", lambda: image.crop_and_resize(X, np.zeros((0, 4), np.float32), [], [3, 3])
    yield "crop_and_resize/v1", lambda: v1.crop_and_resize(X, BOXES, NUMBERS, [2, 2])
    for k in (-1, 0, 1, 2, 3, 4):
        yield f"rot90/{k}", lambda k=k: [image.rot90(BYTES, k), image.rot90(BYTES[0], k)]
    yield "flips", lambda: [image.flip_left_right(BYTES), image.flip_up_down(BYTES[0]), image.transpose(BYTES)]
    yield "crop_to_bounding_box", lambda: image.crop_to_bounding_box(BYTES, 1, 2, 3, 2)
    yield "pad_to_bounding_box", lambda: image.pad_to_bounding_box(BYTES[0], 1, 2, 9, 8)
    for fraction in (0.3, 0.5, 0.99, 1.0):
        yield (
            f"central_crop/{fraction}",
            lambda f=fraction: [image.central_crop(BYTES, f), image.central_crop(BYTES[0], f)],
        )
    yield "bad/crop", lambda: image.crop_to_bounding_box(BYTES, 4, 0, 3, 2)
    yield "bad/crop offset", lambda: image.crop_to_bounding_box(BYTES, -1, 0, 3, 2)
    yield "bad/pad", lambda: image.pad_to_bounding_box(BYTES, 4, 0, 9, 9)
    yield "bad/pad offset", lambda: image.pad_to_bounding_box(BYTES, -1, 0, 9, 9)
    yield "bad/fraction", lambda: image.central_crop(BYTES, 1.5)
    yield "bad/fraction of none", lambda: image.central_crop(BYTES, 0.0)
    yield "bad/flip", lambda: image.flip_left_right(BYTES[0, 0])
    yield "bad/rot90", lambda: image.rot90(BYTES, [1, 2])
    yield "bad/crop or pad", lambda: image.resize_with_crop_or_pad(BYTES, 0, 2)


def projections(tf):
    turn = [0.8, -0.6, 1.1, 0.6, 0.8, -0.7, 0.02, -0.01]
    for interpolation in ("NEAREST", "BILINEAR"):
        for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
            for shift in ([1.0, 0, -7.3, 0, 1.0, 9.4, 0, 0], turn):
                call = lambda x, i=interpolation, m=mode, t=shift: tf.raw_ops.ImageProjectiveTransformV3(
                    images=x, transforms=[t], output_shape=[6, 5], fill_value=0.25, interpolation=i, fill_mode=m
                )
                yield f"projective/{interpolation}/{mode}/{shift[0]}", lambda call=call: gradients(tf, call, X)
        yield (
            f"projective/{interpolation}/bytes",
            lambda i=interpolation: tf.raw_ops.ImageProjectiveTransformV2(
                images=BYTES, transforms=[turn], output_shape=[6, 5], interpolation=i
            ),
        )
