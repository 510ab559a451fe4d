"""From feature columns of `tf.contrib.layers` to what a model takes: matrices, sequences and weighted sums.

The columns are those of `tf.feature_column` (see `feature_columns`); what is here goes through them in the order, and
makes the variables under the names, that `tf.contrib.layers` did. Columns of any other origin are taken as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.errors import OpError
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.feature_column.base import (
    IdWeightPair,
    LazyBuilder,
    OldCategoricalColumn,
    OldDenseColumn,
    buckets_of,
    is_column,
    sparse_tensors_of,
)
from ebbflow.feature_column.categorical import WeightedCategoricalColumn
from ebbflow.feature_column.embedding import EmbeddingColumn, looked_up, restore
from ebbflow.feature_column.first_generation import make_parse_example_spec_v1, weighted_sum_of_ids
from ebbflow.feature_column.indicator import IndicatorColumn
from ebbflow.feature_column.numeric import NumericColumn
from ebbflow.graph.collections import GraphKeys, get_collection_ref
from ebbflow.graph.placeholders import placeholder, sparse_placeholder
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.sums import add_n
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.bias_softmax import bias_add
from ebbflow.ops.parsing.examples import parse_example_v1, parse_single_sequence_example
from ebbflow.ops.parsing.features import FixedLenSequenceFeature, VarLenFeature
from ebbflow.ops.sparse.functions import concat as concat_sparse
from ebbflow.ops.sparse.functions import reshape as reshape_sparse
from ebbflow.state.initializers import zeros_initializer
from ebbflow.state.partitioners import PartitionedVariable
from ebbflow.state.variable_scope import get_variable, variable_scope
from ebbflow.tf1.column_kinds import VarLenRealColumn, kind_of, sort_key, with_known
from ebbflow.tf1.feature_columns import real_valued_column

if TYPE_CHECKING:
    from ebbflow.state.variable_scope import VariableScope


class Transformer:
    """What columns make of features, each computed once."""

    def __init__(self, columns_to_tensors: Mapping[Any, Any]):
        self._features = dict(columns_to_tensors)
        self._builder = with_known(self._features)

    @property
    def builder(self) -> LazyBuilder:
        """The same for columns that are asked directly."""
        return self._builder

    def transform(self, feature_column: Any) -> Any:
        """Return what a column makes of the features: ids, ids and weights, or numbers."""
        if feature_column not in self._features:
            inner = feature_column
            if isinstance(inner, (EmbeddingColumn, IndicatorColumn)):
                inner = inner.categorical_column
            self._features[feature_column] = self._builder.get(inner)
        return self._features[feature_column]


def transform_features(features: Mapping[Any, Any], feature_columns: Iterable[Any]) -> dict[Any, Any]:
    """Return what each column makes of the features, by column."""
    columns = _checked(feature_columns)
    transformer = Transformer(features)
    return {column: transformer.transform(column) for column in columns}


def _checked(feature_columns: Any) -> list[Any]:
    """Return the columns in the order of TF 1: by kind, then by what they are."""
    check_feature_columns(feature_columns)
    return sorted(set(feature_columns), key=sort_key)


def check_feature_columns(feature_columns: Iterable[Any]) -> None:
    """Raise ValueError unless these are columns whose names differ."""
    if isinstance(feature_columns, Mapping):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen: dict[str, Any] = {}
    for column in feature_columns:
        if not is_column(column):
            raise ValueError(f"feature_columns must be columns, got {column!r}")
        if seen.setdefault(column.name, column) != column:
            raise ValueError(f"Duplicate feature column key found for column: {column.name}.")


def create_feature_spec_for_parsing(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """Return how to read all features that columns need from an Example."""
    return make_parse_example_spec_v1(list(_values(feature_columns)))


def _values(feature_columns: Any) -> Iterable[Any]:
    return feature_columns.values() if isinstance(feature_columns, Mapping) else feature_columns


def sequence_spec(sequence_feature_columns: Iterable[Any], allow_missing_by_default: bool = False) -> dict[str, Any]:
    """Return how to read all features that columns need from the sequences of a SequenceExample."""
    spec: dict[str, Any] = {}
    for key, feature in create_feature_spec_for_parsing(sequence_feature_columns).items():
        if not isinstance(feature, VarLenFeature):
            missing = allow_missing_by_default or feature.default_value is not None
            feature = FixedLenSequenceFeature(feature.shape, feature.dtype, missing)
        spec[key] = feature
    return spec


def make_place_holder_tensors_for_base_features(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """Return a place to feed each feature that columns need, by its key."""
    found: dict[str, Any] = {}
    for key, feature in create_feature_spec_for_parsing(feature_columns).items():
        if isinstance(feature, VarLenFeature):
            found[key] = sparse_placeholder(feature.dtype)
        else:
            found[key] = placeholder(feature.dtype, [None, *feature.shape], name=f"Placeholder_{key}")
    return found


def _collections(weight_collections: Any) -> list[str]:
    return [*dict.fromkeys([*(weight_collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES])]


# --- one matrix -------------------------------------------------------------------------------------------------------


def input_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[Any],
    weight_collections: Iterable[Any] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Tensor:
    """Return the columns' numbers side by side, a row for each row of the batch."""
    make = _Inputs(columns_to_tensors, _collections(weight_collections), trainable)
    default = "input_from_feature_columns"
    return _side_by_side(make.matrix, columns_to_tensors, feature_columns, scope, default, 1, cols_to_outs)


def sequence_input_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[Any],
    weight_collections: Iterable[Any] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """Return the columns' numbers side by side for each step of sequences: [batch, time, numbers]."""
    check_feature_columns(feature_columns)
    for column in feature_columns:
        _check_sequence(column)
    make = _Inputs(columns_to_tensors, _collections(weight_collections), trainable)
    default = "sequence_input_from_feature_columns"
    return _side_by_side(make.sequence, columns_to_tensors, feature_columns, scope, default, 2, None)


def _side_by_side(
    make: Callable[[Any], Any], features: Any, feature_columns: Any, scope: Any, default: str, axis: int, outs: Any
) -> Any:
    columns, found = _checked(feature_columns), []
    with variable_scope(scope, default_name=default, values=list(features.values())):
        for column in columns:
            with variable_scope(None, default_name=column.name):
                try:
                    found.append(make(column))
                except (ValueError, TypeError, OpError) as error:
                    raise ValueError(f"Error creating input layer for column: {column.name}.\n{error}") from error
            if outs is not None:
                outs[column] = found[-1]
        return concat(found, axis)


def _check_sequence(column: Any) -> None:
    if not isinstance(column, (NumericColumn, VarLenRealColumn, EmbeddingColumn, IndicatorColumn)):
        raise ValueError(
            f"FeatureColumn type {kind_of(column)} is not currently supported for sequence data: "
            "use real-valued, one-hot or embedding columns"
        )
    inner = getattr(column, "categorical_column", None)
    if inner is not None and kind_of(inner) in ("_CrossedColumn", "_WeightedSparseColumn", "_BucketizedColumn"):
        raise ValueError(f"Column {inner.name} is of type {kind_of(inner)}, which sequences do not support")


class _Inputs:
    """Numbers of columns, with variables where they need some."""

    def __init__(self, features: Mapping[Any, Any], collections: list[str], trainable: bool):
        self.features = features
        self.builder = with_known(features)
        self.collections = collections
        self.trainable = trainable

    def matrix(self, column: Any) -> Any:
        """Return a column's numbers as a matrix."""
        if isinstance(column, EmbeddingColumn):
            return self._embedded(column, sparse_tensors_of(column.categorical_column, self.builder, None))
        if isinstance(column, VarLenRealColumn):
            return _flat(column.dense(self.builder), 1)
        if not isinstance(column, OldDenseColumn):
            raise ValueError(f"{column.name} is sparse: wrap it in an embedding_column or a one_hot_column")
        return _flat(column._get_dense_tensor(self.builder, self.collections, self.trainable), 1)

    def sequence(self, column: Any) -> Any:
        """Return a column's numbers as a matrix for each sequence."""
        if isinstance(column, (EmbeddingColumn, IndicatorColumn)):
            return self._of_steps(column)
        found = self.builder.get(column) if isinstance(column, NumericColumn) else column.dense(self.builder)
        if found.shape.rank == 2:
            found = reshape(found, [*_sizes(found, 2), 1])
        return _flat(found, 2)

    def _of_steps(self, column: Any) -> Any:
        """Return the numbers of ids, [batch, time, ids of a step] or one id a step, as if each step were a row."""
        ids = self.builder.get(column.categorical_column)
        batch, steps = shape_of(ids)[0], shape_of(ids)[1]
        ids = reshape_sparse(ids, [batch * steps, -1])
        if isinstance(column, EmbeddingColumn):
            found = self._embedded(column, IdWeightPair(ids, None))
        else:
            found = column._transform_feature(_Known(column.categorical_column, ids))
        found = reshape(found, [batch, steps, -1])
        found.set_shape([None, None, column._variable_shape.as_list()[-1]])
        return found

    def _embedded(self, column: Any, pair: Any) -> Any:
        shared = getattr(column, "shared_embedding_name", None)
        if shared is None:
            return looked_up(column, pair, self._vectors("weights", column))
        kept = get_collection_ref(f"SHARED_EMBEDDING_COLLECTION_{shared.upper()}")
        if not kept:
            kept.append(self._vectors(shared, column))
        return looked_up(column, pair, kept[0])

    def _vectors(self, name: str, column: Any) -> Any:
        weights = get_variable(
            name,
            shape=(buckets_of(column.categorical_column), column.dimension),
            dtype=dtypes.float32,
            initializer=column.initializer,
            trainable=column.trainable and self.trainable,
            collections=self.collections,
        )
        restore(weights, column.ckpt_to_load_from, column.tensor_name_in_ckpt)
        return weights


class _Known(LazyBuilder):
    """Features that are transformed already."""

    def __init__(self, column: Any, ids: Any):
        super().__init__({})
        self._feature_tensors[column] = ids


def _sizes(tensor: Any, count: int) -> list[Any]:
    """Return the first sizes of a tensor, as numbers where they are known."""
    known = tensor.shape.as_list()[:count]
    actual: Any = shape_of(tensor) if None in known else known
    return [actual[i] if size is None else size for i, size in enumerate(known)]


def _flat(tensor: Any, leading: int) -> Any:
    """Return a tensor as float32 with all axes behind the first `leading` ones in one."""
    tensor = cast(convert(tensor), dtypes.float32)
    if tensor.shape.rank == leading + 1:
        return tensor
    inner = tensor.shape[leading:].num_elements()
    return reshape(tensor, [*_sizes(tensor, leading), -1 if inner is None else inner])


# --- weighted sums ----------------------------------------------------------------------------------------------------


def weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Iterable[Any] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> tuple[Any, dict[Any, Any], Any]:
    """Return sums of the columns' numbers with weights that begin at zero, the weights by column, and the bias."""
    columns, into = _checked(feature_columns), _collections(weight_collections)
    builder = with_known(columns_to_tensors)
    sums, made = [], {}

    def weights(name: str, shape: Any) -> Any:
        start = zeros_initializer()
        return get_variable(name, shape, dtypes.float32, start, trainable=trainable, collections=into)

    with variable_scope(
        scope, default_name="weighted_sum_from_feature_columns", values=list(columns_to_tensors.values())
    ):
        for column in columns:
            with variable_scope(None, default_name=column.name):
                try:
                    total, variable = _weighted_sum(column, builder, num_outputs, weights)
                except (ValueError, TypeError, OpError) as error:
                    raise ValueError(f"Error creating weighted sum for column: {column.name}.\n{error}") from error
            sums.append(total)
            made[column] = _parts(variable)
        bias = weights("bias_weight", [num_outputs])
        return bias_add(add_n(sums), bias), made, bias


def _parts(variable: Any) -> list[Any]:
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def _combiner(column: Any) -> str:
    """Return how weights of several ids are combined; weighted ids have the manner of the ids."""
    inner = column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column
    return getattr(inner, "combiner", "sum")


def _weighted_sum(column: Any, builder: Any, outputs: int, weights: Callable[..., Any]) -> tuple[Any, Any]:
    if isinstance(column, OldCategoricalColumn):
        variable = weights("weights", (column._num_buckets, outputs))
        restore(variable, getattr(column, "ckpt_to_load_from", None), getattr(column, "tensor_name_in_ckpt", None))
        pair = sparse_tensors_of(column, builder, None)
        return weighted_sum_of_ids(pair, variable, _combiner(column)), variable
    if isinstance(column, NumericColumn):
        flat = _flat(builder.get(column), 1)
    elif isinstance(column, VarLenRealColumn):
        flat = _flat(column.dense(builder), 1)
    elif isinstance(column, IndicatorColumn):
        flat = _flat(column._get_dense_tensor(builder), 1)
    else:
        raise ValueError(f"{kind_of(column)} has vectors of its own: sum the weights of its ids")
    variable = weights("weight", [flat.shape.as_list()[1], outputs])
    return matmul(flat, convert(variable)), variable


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Iterable[Any] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> tuple[Any, list[Any], Any]:
    """Return sums of weights of the columns' ids, the one variable that has them all, and the bias."""
    columns, into = _checked(feature_columns), _collections(weight_collections)
    builder = with_known(columns_to_tensors)
    ids, offset = [], 0
    with variable_scope(
        scope, default_name="joint_weighted_sum_from_feature_columns", values=list(columns_to_tensors.values())
    ):
        for column in columns:
            if not isinstance(column, OldCategoricalColumn):
                raise NotImplementedError(f"{column.name} has no ids: use weighted_sum_from_feature_columns")
            if isinstance(column, WeightedCategoricalColumn):
                raise AssertionError(f"Joint sums do not support weights of ids, as {column.name} has")
            if _combiner(column) != "sum":
                raise AssertionError(f"Joint sums support no combiner but sum, {column.name} has {_combiner(column)!r}")
            own = sparse_tensors_of(column, builder, None).id_tensor
            own = reshape_sparse(own, [shape_of(own)[0], -1])
            values = cast(own.values, dtypes.int64)
            ids.append(SparseTensor(own.indices, values + offset, own.dense_shape))
            offset += column._num_buckets
        start = zeros_initializer()
        name = "linear_weights/weights"
        weights = get_variable(
            name, [offset, num_outputs], dtypes.float32, start, trainable=trainable, collections=into
        )
        together = concat_sparse(1, ids) if len(ids) > 1 else ids[0]
        total = weighted_sum_of_ids(IdWeightPair(together, None), weights, "sum")
        bias = get_variable("bias_weight", [num_outputs], dtypes.float32, start, trainable=trainable, collections=into)
        return bias_add(total, bias), _parts(weights), bias


# --- Examples ---------------------------------------------------------------------------------------------------------


def parse_feature_columns_from_examples(
    serialized: TensorLike,
    feature_columns: Iterable[Any],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[Any, Any]:
    """Return what each column makes of the features in Examples, by column, and the features by their names."""
    check_feature_columns(feature_columns)
    spec = create_feature_spec_for_parsing(feature_columns)
    transformer = Transformer(parse_example_v1(serialized, spec, name=name, example_names=example_names))
    for column in sorted(set(feature_columns), key=sort_key):
        transformer.transform(column)
    return transformer._features


def parse_feature_columns_from_sequence_examples(
    serialized: TensorLike,
    context_feature_columns: Iterable[Any],
    sequence_feature_columns: Iterable[Any],
    name: str | None = None,
    example_name: TensorLike | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the features that columns need of a SequenceExample's context, and of its sequences."""
    context = create_feature_spec_for_parsing(context_feature_columns or [])
    sequence = sequence_spec(sequence_feature_columns or [])
    return parse_single_sequence_example(serialized, context, sequence, example_name, name)


def infer_real_valued_columns(features: TensorLike | Mapping[str, TensorLike]) -> list[Any]:
    """Return a real-valued column for each feature, or for the one tensor that there is, which is called ""."""
    if isinstance(features, Mapping):
        return [_inferred(key, tensor) for key, tensor in features.items()]
    return [_inferred("", features)]


def _inferred(name: str, tensor: Any) -> Any:
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor is not supported for auto detection. Please define corresponding FeatureColumn")
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            f"Non integer or non floating types are not supported for auto detection, as {tensor.dtype} of {name!r}: "
            "define its column"
        )
    sizes: Sequence[int] = tensor.shape.as_list()[1:]
    dimension = 1
    for size in sizes:
        dimension *= size
    return real_valued_column(name, dimension=dimension, dtype=tensor.dtype)
