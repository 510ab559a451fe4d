"""Ops that hash: texts into buckets, rows of anything into fingerprints. The formulas are in `hashing`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.loops import Loop
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, same, show
from ebbflow.ops.sizes import invalid
from ebbflow.ops.strings.hash_loops import fingerprints, murmurs, siphashes
from ebbflow.ops.strings.hashing import MASK, fingerprint64, hashes, murmur64, siphash
from ebbflow.ops.strings.text_loops import looked_at

StringToHashBucket = op(
    "StringToHashBucket(string_tensor:string) -> (output:int64) | num_buckets: int >= 1", shape=same, gradient=FLAT
)
StringToHashBucketFast = op(
    "StringToHashBucketFast(input:string) -> (output:int64) | num_buckets: int >= 1", shape=same, gradient=FLAT
)
StringToHashBucketStrong = op(
    "StringToHashBucketStrong(input:string) -> (output:int64) | num_buckets: int >= 1; key: list(int)",
    shape=same,
    gradient=FLAT,
)


def _buckets(texts: np.ndarray, hash_of: Any, loop: Loop, count: int, key: tuple[int, int] = (0, 0)) -> np.ndarray:
    found = _looped(texts, loop, key)
    if found is None:
        found = hashes(texts.reshape(-1).tolist(), hash_of)
    return (found % np.uint64(count)).astype(np.int64).reshape(texts.shape)


def _looped(texts: np.ndarray, loop: Loop, key: tuple[int, int]) -> np.ndarray | None:
    """Return the hash of each text by machine code; None where that is not there, or leaves a text to others."""
    found = np.empty(texts.size, np.uint64)
    return found if looked_at(loop, texts, found, np.array([*key, 0, 0], np.uint64)) else None


@StringToHashBucket.kernel
def _(xp, string_tensor, *, num_buckets):
    return _buckets(string_tensor, murmur64, murmurs, num_buckets)


@StringToHashBucketFast.kernel
def _(xp, input, *, num_buckets):
    return _buckets(input, fingerprint64, fingerprints, num_buckets)


@StringToHashBucketStrong.kernel
def _(xp, input, *, num_buckets, key):
    if len(key) != 2:
        raise invalid(f"Key must have 2 elements, got {list(key)}")
    both = (key[0] & MASK, key[1] & MASK)
    return _buckets(input, siphash(both), siphashes, num_buckets, both)


Fingerprint = op("Fingerprint(data:T, method:string) -> (fingerprint:uint8) | T: type", gradient=FLAT)


@Fingerprint.shape
def _(data, method):
    return (None if data.dims is None or not data.dims else data.dims[0], 8)


@Fingerprint.kernel
def _(xp, data, method, *, T):
    if data.ndim < 1:
        raise invalid(f"`data` must be at least rank 1, got shape {show(data.shape)}")
    if method.ndim or method[()] != b"farmhash64":
        raise invalid(f"Unsupported fingerprint method: {method.tolist()}")
    rows = data.reshape(data.shape[0], -1) if data.size else data.reshape(data.shape[0], 0)
    if T is dtypes.string:
        own = hashes(rows.reshape(-1).tolist(), fingerprint64).reshape(rows.shape)
        if rows.shape[1] == 1 or data.ndim == 1:
            return own.astype("<u8").view(np.uint8).reshape(-1, 8)
        rows = own
    found = hashes([row.tobytes() for row in rows], fingerprint64)
    return found.astype("<u8").view(np.uint8).reshape(-1, 8)
