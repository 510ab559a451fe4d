"""Cases of colours, boxes, likeness and chance: values, and gradients where TensorFlow has them."""

import numpy as np

from tests.ops.calls import gradients

RNG = np.random.RandomState(2)
X = RNG.rand(2, 5, 4, 3).astype(np.float32)
BYTES = RNG.randint(0, 256, (2, 6, 5, 3)).astype(np.uint8)
LARGE = RNG.rand(2, 24, 20, 2).astype(np.float32)
CORNERS = RNG.rand(12, 2) * 0.6
BOXES = np.concatenate([CORNERS, CORNERS + 0.1 + RNG.rand(12, 2) * 0.5], 1).astype(np.float32)
SCORES = RNG.rand(12).astype(np.float32)


def cases(tf):
    yield from colours(tf)
    yield from boxes(tf)
    yield from likeness(tf)
    yield from chance(tf)
    yield from sound(tf)


def colours(tf):
    image = tf.image
    yield "rgb_to_hsv", lambda: gradients(tf, image.rgb_to_hsv, X)
    yield "hsv_to_rgb", lambda: image.hsv_to_rgb(X)
    for kind in (np.float16, np.float64):
        yield f"rgb_to_hsv/{kind.__name__}", lambda k=kind: image.rgb_to_hsv(tf.constant(X.astype(k)))
        yield f"hsv_to_rgb/{kind.__name__}", lambda k=kind: image.hsv_to_rgb(tf.constant(X.astype(k)))
    yield "rgb_to_hsv/grey", lambda: image.rgb_to_hsv(np.full((2, 3), 0.5, np.float32))
    for name in ("rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb"):
        yield name, lambda n=name: gradients(tf, getattr(image, n), X)
    for what, pixels in (("floats", X), ("bytes", BYTES), ("single", BYTES[0])):
        yield f"rgb_to_grayscale/{what}", lambda x=pixels: image.rgb_to_grayscale(x)
        yield f"grayscale_to_rgb/{what}", lambda x=pixels: image.grayscale_to_rgb(tf.constant(x[..., :1]))
        for delta in (-0.3, 0.0, 0.7):
            yield f"adjust_brightness/{what}/{delta}", lambda x=pixels, d=delta: image.adjust_brightness(x, d)
            yield f"adjust_hue/{what}/{delta}", lambda x=pixels, d=delta: image.adjust_hue(x, d)
        for factor in (0.0, 0.5, 2.0):
            yield f"adjust_contrast/{what}/{factor}", lambda x=pixels, f=factor: image.adjust_contrast(x, f)
            yield f"adjust_saturation/{what}/{factor}", lambda x=pixels, f=factor: image.adjust_saturation(x, f)
            yield f"adjust_gamma/{what}/{factor}", lambda x=pixels, f=factor: image.adjust_gamma(x, f, 0.9)
        yield f"per_image_standardization/{what}", lambda x=pixels: image.per_image_standardization(x)
    kinds = ("uint8", "int16", "uint16", "int32", "float16", "float32", "float64")
    for source in kinds:
        for target in kinds:
            for saturate in (False, True):
                values = np.array([[[0, 1, 100]]]) if "int" in source else np.array([[[0.0, 0.25, 1.0]]])
                yield (
                    f"convert_image_dtype/{source}/{target}/{saturate}",
                    lambda v=values, s=source, t=target, c=saturate: image.convert_image_dtype(tf.cast(v, s), t, c),
                )
    yield "bad/channels", lambda: image.rgb_to_hsv(X[..., :2])
    yield "bad/grey", lambda: image.grayscale_to_rgb(tf.constant(X))
    yield "bad/gamma", lambda: image.adjust_gamma(X, -1)
    yield "bad/standard", lambda: image.per_image_standardization(X[0, 0])


def boxes(tf):
    image = tf.image
    for most in (0, 3, 12, 50):
        for overlap in (0.0, 0.2, 0.6):
            for least in (float("-inf"), 0.5):
                rules = (most, overlap, least)
                yield f"nms/{rules}", lambda r=rules: image.non_max_suppression(BOXES, SCORES, *r)
                if not overlap:
                    continue
                yield f"nms/soft/{rules}", lambda r=rules: image.non_max_suppression_with_scores(BOXES, SCORES, *r, 0.4)
                yield f"nms/padded/{rules}", lambda r=rules: image.non_max_suppression_padded(BOXES, SCORES, *r, True)
    yield "nms/turned", lambda: image.non_max_suppression(BOXES[:, [2, 3, 0, 1]], SCORES, 5, 0.3)
    yield "nms/equal", lambda: image.non_max_suppression(BOXES, np.ones(12, np.float32), 5, 0.3)
    yield (
        "nms/half",
        lambda: image.non_max_suppression(
            BOXES.astype(np.float16), SCORES.astype(np.float16), 5, np.float16(0.3), np.float16(0)
        ),
    )
    yield "nms/none", lambda: image.non_max_suppression(BOXES[:0], SCORES[:0], 5)
    overlaps = np.abs(np.subtract.outer(SCORES, SCORES))
    yield "nms/overlaps", lambda: image.non_max_suppression_overlaps(overlaps, SCORES, 5, 0.3, 0.1)
    many = np.stack([BOXES, BOXES[::-1]])[:, :, None]
    each = np.stack([SCORES, SCORES[::-1], SCORES**2], -1)
    scores = np.stack([each, each[::-1]])
    for pads in (False, True):
        for clips in (False, True):
            yield (
                f"combined/{pads}/{clips}",
                lambda p=pads, c=clips: image.combined_non_max_suppression(
                    many * 1.5 - 0.2, scores, 3, 10, 0.4, 0.2, p, c
                ),
            )
    yield "combined/classes", lambda: image.combined_non_max_suppression(np.repeat(many, 3, 2), scores, 2, 4)
    yield "bad/threshold", lambda: image.non_max_suppression(BOXES, SCORES, 3, 1.5)
    yield "bad/scores", lambda: image.non_max_suppression(BOXES, SCORES[:3], 3)
    yield "bad/size", lambda: image.non_max_suppression(BOXES, SCORES, -1)
    drawn = BOXES[:10].reshape(2, 5, 4)
    yield "draw", lambda: image.draw_bounding_boxes(LARGE[..., [0, 1, 0]], drawn, [[1.0, 0.0, 0.5]])
    yield "draw/colours", lambda: tf.compat.v1.image.draw_bounding_boxes(LARGE[..., [0, 1, 0]], drawn)
    yield "draw/grey", lambda: tf.compat.v1.image.draw_bounding_boxes(LARGE[..., :1], drawn)
    yield "draw/outside", lambda: tf.compat.v1.image.draw_bounding_boxes(LARGE[..., :1], drawn * 2 - 0.5)


def likeness(tf):
    image = tf.image
    other = np.clip(LARGE + RNG.rand(*LARGE.shape) * 0.2, 0, 1).astype(np.float32)
    yield "psnr", lambda: gradients(tf, lambda a, b: image.psnr(a, b, 1.0), LARGE, other)
    yield "psnr/bytes", lambda: image.psnr(BYTES, BYTES[::-1], 255)
    yield "ssim", lambda: gradients(tf, lambda a, b: image.ssim(a, b, 1.0), LARGE, other)
    yield "ssim/small", lambda: image.ssim(LARGE, other, 1.0, filter_size=5, filter_sigma=0.8, k1=0.02, k2=0.05)
    yield "ssim/map", lambda: image.ssim(LARGE, other, 1.0, return_index_map=True)
    yield "ssim_multiscale", lambda: image.ssim_multiscale(LARGE, other, 1.0, (0.3, 0.7), filter_size=5)
    yield (
        "ssim_multiscale/odd",
        lambda: image.ssim_multiscale(LARGE[:, :23], other[:, :23], 1.0, (0.3, 0.7), filter_size=5),
    )
    yield "ssim/too small", lambda: image.ssim(X, X, 1.0)
    yield "psnr/shapes", lambda: image.psnr(X, LARGE, 1.0)
    yield "total_variation", lambda: gradients(tf, image.total_variation, X)
    yield "total_variation/single", lambda: image.total_variation(tf.constant(X[0]))
    yield "image_gradients", lambda: list(image.image_gradients(tf.constant(X)))
    yield "sobel_edges", lambda: gradients(tf, image.sobel_edges, X)


def chance(tf):
    image = tf.image
    for seed in ([1, 2], [7, 3]):
        for name, rest in (
            ("brightness", (0.3,)), ("contrast", (0.3, 1.4)), ("hue", (0.2,)), ("saturation", (0.3, 1.4)),
            ("flip_left_right", ()), ("flip_up_down", ()),
        ):  # fmt: skip
            f = getattr(image, f"stateless_random_{name}")
            yield f"stateless/{name}/{seed}", lambda f=f, r=rest, s=seed: f(X[0], *r, seed=s)
            if name.startswith("flip"):
                yield f"stateless/{name}/batch/{seed}", lambda f=f, s=seed: f(X, seed=s)
        yield (
            f"stateless/box/{seed}",
            lambda s=seed: image.stateless_sample_distorted_bounding_box([40, 60, 3], BOXES[None, :3] / 2, s, 0.3),
        )
        yield (
            f"stateless/box/whole/{seed}",
            lambda s=seed: image.stateless_sample_distorted_bounding_box(
                [40, 60, 3], np.zeros((1, 0, 4), np.float32), s, 0.1, [0.5, 2.0], [0.2, 0.9], 10, True
            ),
        )
    yield "bad/delta", lambda: image.random_brightness(X, -0.1)
    yield "bad/hue", lambda: image.random_hue(X, 0.6)
    yield "bad/range", lambda: image.random_contrast(X, 0.5, 0.4)
    yield (
        "bad/no boxes",
        lambda: image.stateless_sample_distorted_bounding_box([40, 60, 3], np.zeros((1, 0, 4), np.float32), [1, 2]),
    )


def sound(tf):
    wave = np.sin(np.arange(600) / 7.0).astype(np.float32)
    both = np.stack([wave, wave * 0.5], 1)
    wav = lambda: tf.audio.encode_wav(both, 8000)
    yield "decode_wav", lambda: list(tf.audio.decode_wav(tf.audio.encode_wav(both[:9], 8000)))
    yield "decode_wav/fitted", lambda: list(tf.audio.decode_wav(tf.audio.encode_wav(both[:9], 8000), 3, 12))
    yield "decode_wav/less", lambda: list(tf.audio.decode_wav(tf.audio.encode_wav(both[:9], 8000), 1, 4))
    yield "decode_wav/bytes", lambda: tf.audio.decode_wav(b"no sound at all")
    spectrum = lambda: tf.raw_ops.AudioSpectrogram(input=both, window_size=128, stride=64, magnitude_squared=True)
    yield "spectrogram", lambda: tf.raw_ops.AudioSpectrogram(input=both, window_size=100, stride=50)[..., :20]
    yield "mfcc", lambda: tf.raw_ops.Mfcc(spectrogram=spectrum(), sample_rate=8000)
    yield "wav/size", lambda: tf.strings.length(wav())
