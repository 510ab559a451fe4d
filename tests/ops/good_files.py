"""Good arguments for the ops of images, texts, signals and records, in the form of `good_arguments`."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np

PICTURES = Path(__file__).resolve().parent.parent / "golden" / "calls" / "pictures"
F = np.linspace(0.1, 2.4, 24, dtype=np.float32)
IMAGES = F.reshape(1, 4, 2, 3)
COMPLEX = F.reshape(2, 3, 4).astype(np.complex64)
GLIMPSES = np.array([[0.2, -0.3]], np.float32)
BOXES = np.array([[0, 0, 0.5, 0.5], [0.1, 0.1, 0.6, 0.7]], np.float32)
SCORES = np.array([0.4, 0.9], np.float32)
TWO, SIZE = np.array(2, np.int32), np.array([3, 5], np.int32)
HALF, ONE = np.array(0.5, np.float32), np.array(1.0, np.float32)
CROP = np.array([0, 0], np.int32)
PAIR = np.array([1.0, 1.0], np.float32)
EYE = np.array([[1, 0, 0, 0, 1, 0, 0, 0]], np.float32)


def text(*values: bytes) -> np.ndarray:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def one(value: bytes) -> np.ndarray:
    return text(value).reshape(())


def picture(name: str) -> np.ndarray:
    return one((PICTURES / name).read_bytes())


WORDS = text(b"ab", b"c d")
EXAMPLE = b"\n\x0e\n\x0c\n\x01b\x12\x07\x1a\x05\x08\x05\x08\xac\x02"
WAV = b"RIFF(\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x04\0\0\0\0\0\x01\0"
CODES = {"input_encoding": "UTF-8"}
GRAMS = {
    "separator": " ", "ngram_widths": [2], "left_pad": "", "right_pad": "", "pad_width": 0,
    "preserve_short_sequences": False,
}  # fmt: skip
INT64, FLOAT = "DT:int64", {"T": "DT:float32"}
EXAMPLES = {
    "Tdense": [INT64], "num_sparse": 0, "sparse_types": [], "ragged_value_types": [], "ragged_split_types": [],
    "dense_shapes": [{"shape": [2]}],
}  # fmt: skip
NONE, KEY = text(), text(b"b")
LENGTHS = {"": [4], "2D": [3, 4], "3D": [2, 3, 4]}
CONTEXT = {"context_sparse_types": [INT64], "Ncontext_sparse": 1}

ROWS: list[tuple[str, list[Any], dict[str, Any]]] = [
    *((f"{old}{kind}FFT{d}", [COMPLEX], {}) for old in ("", "Batch") for kind in ("", "I") for d in LENGTHS),
    *((f"RFFT{d}", [F.reshape(2, 3, 4), np.array(n, np.int32)], {}) for d, n in LENGTHS.items()),
    *((f"IRFFT{d}", [COMPLEX, np.array(n, np.int32)], {}) for d, n in LENGTHS.items()),
    *((f"{kind}FFTND", [COMPLEX, np.array([4], np.int32), np.array([2], np.int32)], {}) for kind in ("", "I", "IR")),
    ("RFFTND", [F.reshape(2, 3, 4), np.array([4], np.int32), np.array([2], np.int32)], {}),
    *((f"Resize{kind}", [IMAGES, SIZE], {}) for kind in ("Area", "Bicubic", "Bilinear", "NearestNeighbor")),
    ("ScaleAndTranslate", [IMAGES, SIZE, PAIR, PAIR], {}),
    ("CropAndResize", [IMAGES, BOXES, CROP, SIZE], {}),
    ("ExtractGlimpse", [IMAGES, SIZE, GLIMPSES], {}),
    ("ExtractGlimpseV2", [IMAGES, SIZE, GLIMPSES], {}),
    ("CropAndResizeGradBoxes", [F[:12].reshape(2, 2, 1, 3), IMAGES, BOXES, CROP], {}),
    ("CropAndResizeGradImage", [F[:12].reshape(2, 2, 1, 3), BOXES, CROP, np.array([1, 4, 2, 3], np.int32)], FLOAT),
    ("ImageProjectiveTransformV2", [IMAGES, EYE, SIZE], {"interpolation": "NEAREST"}),
    ("ImageProjectiveTransformV3", [IMAGES, EYE, SIZE, ONE], {"interpolation": "BILINEAR"}),
    *((name, [IMAGES], {}) for name in ("RGBToHSV", "HSVToRGB")),
    *((f"Adjust{kind}", [IMAGES, HALF], {}) for kind in ("Contrastv2", "Hue", "Saturation")),
    ("AdjustContrast", [IMAGES, HALF, HALF, ONE], {}),
    ("NonMaxSuppression", [BOXES, SCORES, TWO], {}),
    ("NonMaxSuppressionV2", [BOXES, SCORES, TWO, HALF], {}),
    *((f"NonMaxSuppressionV{n}", [BOXES, SCORES, TWO, HALF, HALF], {}) for n in (3, 4)),
    ("NonMaxSuppressionV5", [BOXES, SCORES, TWO, HALF, HALF, HALF], {}),
    ("NonMaxSuppressionWithOverlaps", [np.eye(2, dtype=np.float32), SCORES, TWO, HALF, HALF], {}),
    ("CombinedNonMaxSuppression", [BOXES[None, :, None], SCORES[None, :, None], TWO, TWO, HALF, HALF], {}),
    ("DrawBoundingBoxes", [IMAGES, BOXES[None]], {}),
    ("DrawBoundingBoxesV2", [IMAGES, BOXES[None], np.ones((1, 3), np.float32)], {}),
    ("SampleDistortedBoundingBox", [np.array([4, 5, 3], np.int32), BOXES[None]], {"seed": 1}),
    ("SampleDistortedBoundingBoxV2", [np.array([4, 5, 3], np.int32), BOXES[None], HALF], {"seed": 1}),
    (
        "StatelessSampleDistortedBoundingBox",
        [np.array([4, 5, 3], np.int32), BOXES[None], HALF, np.array([1, 2], np.int64)],
        {},
    ),
    *((name, [picture("rgb.jpg")], {}) for name in ("DecodeJpeg", "DecodeImage", "ExtractJpegShape")),
    ("DecodeAndCropJpeg", [picture("rgb.jpg"), np.array([0, 0, 2, 2], np.int32)], {}),
    ("DecodePng", [picture("rgba.png")], {}),
    ("DecodeGif", [picture("moving.gif")], {}),
    ("DecodeBmp", [picture("rgb.bmp")], {}),
    ("DecodeWav", [one(WAV)], {}),
    ("AudioSpectrogram", [F.reshape(24, 1)], {"window_size": 8, "stride": 4}),
    ("Mfcc", [F.reshape(1, 3, 8), np.array(16000, np.int32)], {}),
    *((f"String{kind}", [WORDS], {}) for kind in ("Lower", "Upper", "Strip", "Length")),
    ("Substr", [WORDS, np.array(1, np.int32), np.array(1, np.int32)], {}),
    ("StringToNumber", [text(b"1", b"2.5")], {}),
    ("DecodeBase64", [text(b"aGVsbG8")], {}),
    ("ReduceJoin", [WORDS, np.array([0], np.int32)], {}),
    ("UnsortedSegmentJoin", [WORDS, np.array([0, 1], np.int32), TWO], {}),
    ("RegexFullMatch", [WORDS, one(b"a.")], {}),
    ("RegexReplace", [WORDS, one(b"a"), one(b"x")], {}),
    ("StaticRegexFullMatch", [WORDS], {"pattern": "a."}),
    ("StaticRegexReplace", [WORDS], {"pattern": "a", "rewrite": "x"}),
    ("StringSplit", [WORDS, one(b" ")], {}),
    ("StringSplitV2", [WORDS, one(b" ")], {}),
    ("StringNGrams", [text(b"a", b"b", b"c"), np.array([0, 2, 3])], GRAMS),
    *((name, [WORDS], {"num_buckets": 7}) for name in ("StringToHashBucket", "StringToHashBucketFast")),
    ("StringToHashBucketStrong", [WORDS], {"num_buckets": 7, "key": [1, 2]}),
    ("Fingerprint", [WORDS, one(b"farmhash64")], {}),
    *((name, [WORDS], CODES) for name in ("UnicodeDecode", "UnicodeDecodeWithOffsets")),
    ("UnicodeEncode", [np.array([97, 98], np.int32), np.array([0, 1, 2])], {"output_encoding": "UTF-8"}),
    ("UnicodeTranscode", [WORDS], CODES | {"output_encoding": "UTF-16-BE"}),
    ("UnicodeScript", [np.array([65, 945], np.int32)], {}),
    ("DecodeRaw", [text(b"abcd")], {"out_type": "DT:int16"}),
    ("DecodePaddedRaw", [text(b"abcd"), np.array(6, np.int32)], {"out_type": "DT:int16"}),
    ("DecodeCSV", [text(b"1,2"), [np.array([0], np.int32), np.array([0], np.int32)]], {}),
    ("DecodeCompressed", [text(zlib.compress(b"hello"))], {"compression_type": "ZLIB"}),
    ("DecodeJSONExample", [text(b"{}")], {}),
    ("SerializeTensor", [F], {}),
    ("ParseTensor", [one(b"\x08\x03\x12\x04\x12\x02\x08\x01:\x01\x05")], {"out_type": "DT:int32"}),
    ("ParseExampleV2", [text(EXAMPLE), NONE, NONE, KEY, NONE, [np.zeros(0, np.int64)]], EXAMPLES),
    ("ParseExample", [text(EXAMPLE), NONE, [one(b"b")], [], []],
     {"sparse_types": [INT64], "Tdense": [], "dense_shapes": []}),
    ("ParseSingleExample", [one(EXAMPLE), []],
     {"num_sparse": 1, "sparse_keys": ["b"], "dense_keys": [], "sparse_types": [INT64], "Tdense": [],
      "dense_shapes": []}),
    ("ParseSequenceExampleV2", [text(EXAMPLE), NONE, KEY, *[NONE] * 5, np.zeros(0, bool), []], CONTEXT),
]  # fmt: skip
"""An op, its inputs in order, its attrs."""
