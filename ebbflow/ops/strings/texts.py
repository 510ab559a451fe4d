"""The public functions of single texts: `tf.strings.lower`, `substr`, `regex_replace`, `to_number`, hashes, joins.

They pass on to the ops; ragged tensors of texts go through their elements (`ops/ragged/forms.py`).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import operand
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Axis, DTypeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.reduce import over
from ebbflow.ops.ragged.tensor import RaggedTensor


def string_lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Return texts in small letters; without an encoding, those of ASCII.

    >>> string_lower("ABC").numpy()
    b'abc'
    """
    return raw.StringLower(input, encoding=encoding, name=name)


def string_upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Return texts in capital letters; without an encoding, those of ASCII."""
    return raw.StringUpper(input, encoding=encoding, name=name)


def string_strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Return texts without white space at either end."""
    return raw.StringStrip(input, name=name)


def string_length(input: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Return how many bytes (or characters of UTF-8) each text has.

    >>> string_length("wörld").numpy(), string_length("wörld", unit="UTF8_CHAR").numpy()
    (np.int32(6), np.int32(5))
    """
    return raw.StringLength(input, unit=unit, name=name)


def string_length_v1(input: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """Return how many bytes (or characters of UTF-8) each text has, as TF 1 orders the arguments."""
    return raw.StringLength(input, unit=unit, name=name)


def substr(input: TensorLike, pos: TensorLike, len: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Return `len` bytes (or characters) of each text from `pos` on, which counts from the end where negative.

    >>> substr("hello", 1, 3).numpy()
    b'ell'
    """
    return raw.Substr(input, pos, len, unit=unit, name=name)


def substr_v1(
    input: TensorLike, pos: TensorLike, len: TensorLike, name: str | None = None, unit: str = "BYTE"
) -> Tensor:
    """Return `len` bytes (or characters) of each text from `pos` on, as TF 1 orders the arguments."""
    return raw.Substr(input, pos, len, unit=unit, name=name)


def string_to_number(input: TensorLike, out_type: DTypeLike = dtypes.float32, name: str | None = None) -> Tensor:
    """Return the numbers that texts spell.

    >>> string_to_number(["1.5", "2"]).numpy().tolist()
    [1.5, 2.0]
    """
    return raw.StringToNumber(input, out_type=out_type, name=name)


def string_to_number_v1(
    string_tensor: TensorLike | None = None,
    out_type: DTypeLike = dtypes.float32,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """Return the numbers that texts spell, as TF 1 names the arguments."""
    return raw.StringToNumber(_either(string_tensor, input), out_type=out_type, name=name)


def _either(old: Any, new: Any) -> Any:
    if (old is None) == (new is None):
        raise ValueError("give either 'input' or 'string_tensor', its old name")
    return new if old is None else old


# --- patterns ---------------------------------------------------------------------------------------------------------


def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Return whether the whole of each text matches a pattern (RE2's language)."""
    if isinstance(pattern, (str, bytes)):
        return raw.StaticRegexFullMatch(input, pattern=pattern, name=name)
    return raw.RegexFullMatch(input, pattern, name=name)


def regex_replace(
    input: TensorLike, pattern: TensorLike, rewrite: TensorLike, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""Return texts with what matches a pattern (RE2's language) replaced; `\1` is the first group.

    >>> regex_replace("Text with tags.<br />", "<[^>]+>", " ").numpy()
    b'Text with tags. '
    """
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return raw.StaticRegexReplace(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )  # fmt: skip
    return raw.RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)


# --- hashes -----------------------------------------------------------------------------------------------------------


def string_to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Return a number below `num_buckets` for each text, the same in every version (FarmHash)."""
    return raw.StringToHashBucketFast(input, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_strong(
    input: TensorLike, num_buckets: int, key: AnyTensor, name: str | None = None
) -> Tensor:
    """Return a number below `num_buckets` for each text that nobody can foresee without the key (SipHash)."""
    return raw.StringToHashBucketStrong(input, num_buckets=num_buckets, key=list(key), name=name)


def string_to_hash_bucket(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Return a number below `num_buckets` for each text."""
    return raw.StringToHashBucket(input, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_v1(
    string_tensor: TensorLike | None = None,
    num_buckets: TensorLike | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """Return a number below `num_buckets` for each text, as TF 1 names the arguments."""
    return raw.StringToHashBucket(_either(string_tensor, input), num_buckets=num_buckets, name=name)


def fingerprint(data: TensorLike, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """Return eight bytes for each row of `data` that tell it from others."""
    return raw.Fingerprint(data, method, name=name)


# --- base64 -----------------------------------------------------------------------------------------------------------


def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Return texts in the base64 that is safe in addresses."""
    return raw.EncodeBase64(input, pad=pad, name=name)


def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """Return what texts in base64 say."""
    return raw.DecodeBase64(input, name=name)


# --- joined along axes ------------------------------------------------------------------------------------------------


def reduce_join(
    inputs: TensorLike, axis: Axis = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Tensor:
    """Return texts joined along axes; without axes, all of them.

    >>> reduce_join([["a", "b"], ["c", "d"]], 1, separator="-").numpy().tolist()
    [b'a-b', b'c-d']
    """
    inputs = operand(inputs)
    if isinstance(inputs, RaggedTensor):
        return _join_ragged(inputs, axis, keepdims, separator)
    if axis is None:
        rank = inputs.shape.rank
        axis = (
            np.arange(rank - 1, -1, -1, dtype=np.int32) if rank is not None else raw.Range(raw.Rank(inputs) - 1, -1, -1)
        )
    return raw.ReduceJoin(inputs, axis, keep_dims=bool(keepdims), separator=separator, name=name)


def _join_ragged(rows: RaggedTensor, axis: Any, keepdims: bool, separator: str) -> Any:
    whole = functools.partial(raw.ReduceJoin, separator=separator)
    bring = functools.partial(raw.UnsortedSegmentJoin, separator=separator)
    return over(rows, whole, bring, range(rows.shape.rank or 0) if axis is None else axis, keepdims)


def reduce_join_v1(
    inputs: TensorLike,
    axis: Axis = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Axis = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Return texts joined along axes, as TF 1 names the arguments."""
    for new, old, names in (
        (keepdims, keep_dims, "keep_dims and keepdims"),
        (axis, reduction_indices, "axis and reduction_indices"),
    ):
        if new is not None and old is not None:
            raise ValueError(f"Cannot specify both {names}")
    keep = keep_dims if keepdims is None else keepdims
    return reduce_join(inputs, reduction_indices if axis is None else axis, bool(keep), separator, name)


def unsorted_segment_join(
    inputs: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, separator: str = "", name: str | None = None
) -> Tensor:
    """Return the texts of each segment joined."""
    return raw.UnsortedSegmentJoin(inputs, segment_ids, num_segments, separator=separator, name=name)
