"""Lines of LIBSVM's format (`tf.contrib.libsvm`): a label, then features as `number:value`."""

from __future__ import annotations

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.masks import boolean_mask
from ebbflow.ops.arrays.shaping import reshape, shape, transpose
from ebbflow.ops.declare import raw


def decode_libsvm(
    content: TensorLike, num_features: int, dtype: DTypeLike | None = None, label_dtype: DTypeLike | None = None
) -> tuple[SparseTensor, Tensor]:
    """Return the features of each line as a sparse tensor of `num_features` columns, and the labels."""
    with name_scope(None, "DecodeLibsvm", [content]):
        lines = convert(content, dtypes.string, name="content")
        outer = raw.Cast(shape(lines), DstT=dtypes.int64)
        places, words, _ = raw.StringSplitV2(reshape(lines, [-1]), "")
        is_label = raw.Equal(places[:, 1], convert(0, dtypes.int64))
        labels = raw.StringToNumber(boolean_mask(words, is_label), out_type=label_dtype or dtypes.int64)
        is_feature = raw.LogicalNot(is_label)
        _, parts, _ = raw.StringSplitV2(boolean_mask(words, is_feature), ":")
        pairs = reshape(parts, [-1, 2])
        columns = raw.StringToNumber(pairs[:, 0], out_type=dtypes.int64)
        values = raw.StringToNumber(pairs[:, 1], out_type=dtype or dtypes.float32)
        rows = transpose(raw.UnravelIndex(boolean_mask(places[:, 0], is_feature), outer))
        indices = concat([rows, reshape(columns, [-1, 1])], 1)
        labels = reshape(labels, shape(lines))
        labels.set_shape(lines.shape)
        return SparseTensor(indices, values, concat([outer, [num_features]], 0)), labels
