"""Cases of image and sound files: the files are in `pictures/` (`tools/record/pictures.py`)."""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "pictures"


def cases(tf):
    io, files = tf.io, {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir())}
    for name, data in files.items():
        yield f"is_jpeg/{name}", lambda d=data: io.is_jpeg(d)
        if name != "moving.gif":  # of which a frame is left
            yield f"cut/{name}", lambda d=data: io.decode_image(d[: len(d) // 2])
        if name.endswith("jpg"):
            yield from jpegs(io, name, data)
            continue
        for channels in (0, 1, 3) if name == "palette.png" else (0, 1, 3, 4):  # its alpha is odd in TensorFlow
            yield f"decode_image/{name}/{channels}", lambda d=data, c=channels: io.decode_image(d, c)
        yield f"decode_image/{name}/float", lambda d=data: io.decode_image(d, dtype=tf.float32)
        yield f"decode_image/{name}/wide", lambda d=data: io.decode_image(d, dtype=tf.uint16)
        yield f"decode_image/{name}/still", lambda d=data: io.decode_image(d, expand_animations=False)
        for decode in (io.decode_png, io.decode_jpeg, io.decode_gif, io.decode_bmp):
            yield f"{decode.__name__}/{name}", lambda f=decode, d=data: f(d)
        if name.endswith("png"):
            for channels in (0, 1, 3) if name == "palette.png" else (0, 1, 3, 4):
                yield f"decode_png/{name}/wide/{channels}", lambda d=data, c=channels: io.decode_png(d, c, tf.uint16)
    yield from others(tf, files)


def jpegs(io, name, data):
    """JPEG files by the exact transform; the quick one, which is TensorFlow's default, differs by a level or two."""
    exact = {"dct_method": "INTEGER_ACCURATE"}
    for ratio in (1, 2, 4, 8):
        for channels in (0, 1, 3):
            yield (
                f"decode_jpeg/{name}/{ratio}/{channels}",
                lambda r=ratio, c=channels: io.decode_jpeg(data, c, r, **exact),
            )
    if name in ("full.jpg", "grey.jpg"):  # where chroma is smoothed, TensorFlow's crop ends before the neighbours
        yield f"decode_and_crop_jpeg/{name}", lambda: io.decode_and_crop_jpeg(data, [1, 2, 5, 4], **exact)
    yield f"crop/{name}/beyond", lambda: io.decode_and_crop_jpeg(data, [1, 2, 50, 4])
    yield f"extract_jpeg_shape/{name}", lambda: io.extract_jpeg_shape(data)
    yield f"decode_image/{name}/4", lambda: io.decode_image(data, 4)
    yield f"decode_bmp/{name}", lambda: io.decode_bmp(data)


def others(tf, files):
    io = tf.io
    yield "bad/empty", lambda: io.decode_image(b"")
    yield "bad/bytes", lambda: io.decode_image(b"not an image at all, by no means")
    yield "bad/vector", lambda: io.decode_png([files["rgb.png"]])
    yield "bad/channels", lambda: io.decode_png(files["rgb.png"], 2)
    yield "bad/ratio", lambda: io.decode_jpeg(files["rgb.jpg"], ratio=3)
    exact = lambda data: io.decode_jpeg(data, dct_method="INTEGER_ACCURATE")
    pixels = np.arange(7 * 5 * 3, dtype=np.uint8).reshape(7, 5, 3)
    for quality in (10, 95, 100):
        yield f"encode_jpeg/{quality}", lambda q=quality: exact(io.encode_jpeg(pixels, quality=q))
    yield "encode_jpeg/full", lambda: exact(io.encode_jpeg(pixels, chroma_downsampling=False))
    yield "encode_jpeg/progressive", lambda: exact(io.encode_jpeg(pixels, progressive=True))
    yield "encode_jpeg/grey", lambda: exact(io.encode_jpeg(pixels[..., :1]))
    yield "encode_jpeg/two", lambda: io.encode_jpeg(pixels[..., :2])
    yield "encode_jpeg/wrong", lambda: io.encode_jpeg(pixels, "grayscale")
    yield "encode_jpeg/quality", lambda: io.encode_jpeg(pixels, quality=101)
    yield "encode_png", lambda: io.decode_png(io.encode_png(pixels))
    yield "adjust_jpeg_quality", lambda: tf.image.adjust_jpeg_quality(pixels, 30, "INTEGER_ACCURATE")
    yield (
        "adjust_jpeg_quality/float",
        lambda: tf.image.adjust_jpeg_quality(pixels / np.float32(255), 75, "INTEGER_ACCURATE"),
    )
