"""The public functions that read examples: `tf.io.parse_example`, `parse_single_example` and those of sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.parsing.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    Request,
    SparseFeature,
    VarLenFeature,
)
from ebbflow.ops.ragged.tensor import RaggedTensor

ANY_FEATURE = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature)
CONTEXT_FEATURE = (VarLenFeature, FixedLenFeature, RaggedFeature)
SEQUENCE_FEATURE = (VarLenFeature, FixedLenSequenceFeature, RaggedFeature)


def _keys(keys: Any) -> np.ndarray:
    made = np.empty(len(keys), object)
    made[:] = [key.encode() if isinstance(key, str) else key for key in keys]
    return made


def parse_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Return the features of serialized `tf.train.Example`s, a vector of them (or one), by name.

    >>> parse_example([b""], {"a": FixedLenFeature([], dtypes.int64, 7)})["a"].numpy().tolist()
    [7]
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    request = Request(features, ANY_FEATURE)
    with name_scope(name, "ParseExample", [serialized, example_names]):
        texts = convert(serialized, dtypes.string, name="serialized")
        names = np.zeros(0, object) if example_names is None else convert(example_names, dtypes.string)
        dense = list(request.dense.values())
        ragged = list(request.ragged.values())
        found = raw.ParseExampleV2(
            texts, names, _keys(request.sparse), _keys(request.dense), _keys(request.ragged), request.defaults(),
            num_sparse=len(request.sparse), sparse_types=list(request.sparse.values()),
            ragged_value_types=[t for t, _ in ragged], ragged_split_types=[s for _, s in ragged],
            dense_shapes=[dims for _, dims, _ in dense], Tdense=[t for t, _, _ in dense], name="ParseExampleV2",
        )  # fmt: skip
        parts = zip(found.sparse_indices, found.sparse_values, found.sparse_shapes, strict=True)
        sparse = {key: SparseTensor(*part) for key, part in zip(request.sparse, parts, strict=True)}
        single = texts.shape.rank == 0
        rows = {
            key: flat if single else RaggedTensor.from_row_splits(flat, splits, validate=False)
            for key, flat, splits in zip(request.ragged, found.ragged_values, found.ragged_row_splits, strict=True)
        }
        return request.result(sparse, dict(zip(request.dense, found.dense_values, strict=True)), rows)


def parse_example_v1(
    serialized: TensorLike,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, Any]:
    """Return the features of serialized examples by name, as TF 1 orders the arguments."""
    return parse_example(serialized, features, example_names, name)


def parse_single_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Return the features of one serialized `tf.train.Example` by name."""
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        text = convert(serialized, dtypes.string, name="serialized")
        if text.shape.rank is None:
            text = raw.Reshape(text, np.zeros(0, np.int32))
        elif text.shape.rank:
            raise ValueError("Input serialized must be a scalar")
        return parse_example(text, features, example_names)


def parse_single_example_v1(
    serialized: TensorLike,
    features: Mapping[str, Any],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[str, Any]:
    """Return the features of one serialized example by name, as TF 1 orders the arguments."""
    return parse_single_example(serialized, features, example_names, name)


# --- sequences --------------------------------------------------------------------------------------------------------


def parse_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the context, the feature lists and their lengths of serialized `tf.train.SequenceExample`s."""
    if not (context_features or sequence_features):
        raise ValueError("Both `context_features` and `sequence_features` argument are None, but at least one must be")
    context = Request(context_features or {}, CONTEXT_FEATURE)
    lists = Request(sequence_features or {}, SEQUENCE_FEATURE, over_time=True)
    with name_scope(name, "ParseSequenceExample", [serialized, example_names]):
        texts = convert(serialized, dtypes.string, name="serialized")
        found = _sequences(texts, example_names, context, lists)
        single = texts.shape.rank == 0
        made = context.result(*_context_parts(found, context, single))
        listed, lengths = _list_parts(found, lists, single)
        return made, listed, lengths


def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the context and the feature lists of one serialized `tf.train.SequenceExample`."""
    with name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        text = convert(serialized, dtypes.string, name="serialized")
        if text.shape.rank not in (None, 0):
            raise ValueError(f"Input serialized must be a scalar, got shape {text.shape}")
        text = raw.Reshape(text, np.zeros(0, np.int32)) if text.shape.rank is None else text
        made, listed, _ = parse_sequence_example(text, context_features, sequence_features, example_name)
        return made, listed


def _sequences(texts: Any, names: Any, context: Request, lists: Request) -> Any:
    empty = np.array(b"", object) if texts.shape.rank == 0 else np.zeros(0, object)
    dense, ragged = list(context.dense.values()), list(context.ragged.values())
    over_time, rows = list(lists.dense.values()), list(lists.ragged.values())
    return raw.ParseSequenceExampleV2(
        texts, empty if names is None else convert(names, dtypes.string),
        _keys(context.sparse), _keys(context.dense), _keys(context.ragged),
        _keys(lists.sparse), _keys(lists.dense), _keys(lists.ragged),
        np.array(lists.may_lack, bool), context.defaults(), Ncontext_sparse=len(context.sparse),
        Tcontext_dense=[t for t, _, _ in dense], context_sparse_types=list(context.sparse.values()),
        context_ragged_value_types=[t for t, _ in ragged], context_ragged_split_types=[s for _, s in ragged],
        context_dense_shapes=[dims for _, dims, _ in dense], Nfeature_list_sparse=len(lists.sparse),
        Nfeature_list_dense=len(lists.dense), feature_list_dense_types=[t for t, _, _ in over_time],
        feature_list_sparse_types=list(lists.sparse.values()), feature_list_ragged_value_types=[t for t, _ in rows],
        feature_list_ragged_split_types=[s for _, s in rows],
        feature_list_dense_shapes=[dims for _, dims, _ in over_time],
    )  # fmt: skip


def _context_parts(found: Any, context: Request, single: bool) -> tuple[dict[str, Any], ...]:
    parts = zip(found.context_sparse_indices, found.context_sparse_values, found.context_sparse_shapes, strict=True)
    sparse = {key: SparseTensor(*part) for key, part in zip(context.sparse, parts, strict=True)}
    ragged = {
        key: flat if single else RaggedTensor.from_row_splits(flat, splits, validate=False)
        for key, flat, splits in zip(
            context.ragged, found.context_ragged_values, found.context_ragged_row_splits, strict=True
        )
    }
    return sparse, dict(zip(context.dense, found.context_dense_values, strict=True)), ragged


def _list_parts(found: Any, lists: Request, single: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the feature lists in their forms, and the lengths of the dense ones."""
    parts = zip(
        found.feature_list_sparse_indices,
        found.feature_list_sparse_values,
        found.feature_list_sparse_shapes,
        strict=True,
    )
    sparse = {key: SparseTensor(*part) for key, part in zip(lists.sparse, parts, strict=True)}
    dense = dict(zip(lists.dense, found.feature_list_dense_values, strict=True))
    lengths = dict(zip(lists.dense, found.feature_list_dense_lengths, strict=True))
    rows = zip(
        found.feature_list_ragged_values, found.feature_list_ragged_outer_splits,
        found.feature_list_ragged_inner_splits, strict=True,
    )  # fmt: skip
    ragged = {}
    for key, (flat, outer, inner) in zip(lists.ragged, rows, strict=True):
        steps = RaggedTensor.from_row_splits(flat, inner, validate=False)
        ragged[key] = steps if single else RaggedTensor.from_row_splits(steps, outer, validate=False)
    return lists.result(sparse, dense, ragged), lengths
