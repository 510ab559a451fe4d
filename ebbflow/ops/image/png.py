"""PNG from pixels, byte for byte as libpng writes it with its defaults, so that event files equal TensorFlow's.

Knows NumPy, zlib and the PNG format. Each row is stored as its difference to a guess; libpng tries five ways of
guessing and takes the one whose differences are smallest in sum.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # by channels: grey, grey with alpha, RGB, RGBA
CHUNK = 8192  # compressed bytes in one IDAT
NONE, SUB, UP, AVERAGE, PAETH = range(5)


def encode_png(pixels: np.ndarray, compression: int = zlib.Z_DEFAULT_COMPRESSION) -> bytes:
    """A PNG file of uint8 or uint16 pixels [height, width, 1 to 4 channels]."""
    height, width, channels = pixels.shape
    depth = 8 * pixels.dtype.itemsize
    if depth == 16:  # high byte first
        pixels = pixels.astype(">u2").view(np.uint8).reshape(height, width, 2 * channels)
    packed = _compress(_filter_rows(pixels), compression)
    parts = [SIGNATURE, _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, COLOR_TYPES[channels], 0, 0, 0))]
    parts += [_chunk(b"IDAT", packed[i : i + CHUNK]) for i in range(0, len(packed), CHUNK)]
    return b"".join([*parts, _chunk(b"IEND", b"")])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _filter_rows(pixels: np.ndarray) -> bytes:
    """Each row as differences to the best guess, behind a byte that says which guess that was."""
    height, width, channels = pixels.shape
    row = pixels.reshape(height, width * channels)
    left, up, up_left = np.zeros((3, *row.shape), np.uint8)
    left[:, channels:] = row[:, :-channels]
    up[1:] = row[:-1]
    up_left[1:, channels:] = row[:-1, :-channels]
    average = ((left.astype(np.uint16) + up) // 2).astype(np.uint8)
    guesses = {NONE: np.zeros_like(row), SUB: left, UP: up, AVERAGE: average, PAETH: _paeth(left, up, up_left)}
    for useless in ((UP, AVERAGE, PAETH) if height == 1 else ()) + ((SUB, AVERAGE, PAETH) if width == 1 else ()):
        guesses.pop(useless, None)
    kinds = np.array(list(guesses), np.uint8)
    differences = np.stack([row - guess for guess in guesses.values()])
    best = np.abs(differences.view(np.int8).astype(np.int16)).sum(axis=2).argmin(axis=0)
    chosen = differences[best, np.arange(height)]
    return np.concatenate([kinds[best][:, None], chosen], axis=1).tobytes()


def _paeth(left: np.ndarray, up: np.ndarray, up_left: np.ndarray) -> np.ndarray:
    """Of the three neighbours, the one nearest to left + up - up_left."""
    a, b, c = (x.astype(np.int16) for x in (left, up, up_left))
    to_left, to_up, to_corner = np.abs(b - c), np.abs(a - c), np.abs(a + b - 2 * c)
    choose_left = (to_left <= to_up) & (to_left <= to_corner)
    return np.where(choose_left, left, np.where(to_up <= to_corner, up, up_left))


def _compress(data: bytes, level: int) -> bytes:
    bits = 15
    while bits > 9 and len(data) + 262 <= 1 << (bits - 1):  # 262: how far zlib looks ahead
        bits -= 1
    deflater = zlib.compressobj(level, zlib.DEFLATED, bits, 9, zlib.Z_FILTERED)
    packed = bytearray(deflater.compress(data) + deflater.flush())
    window = packed[0] >> 4  # log2 of the window, less 8: libpng states the smallest that holds the data
    while window > 0 and len(data) <= 1 << (window + 7):
        window -= 1
    packed[0] = packed[0] & 0x0F | window << 4
    packed[1] &= 0xE0
    packed[1] += 31 - (packed[0] * 256 + packed[1]) % 31
    return bytes(packed)
