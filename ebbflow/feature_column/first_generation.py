"""The first generation's way from features to a matrix (`input_layer`) or to weighted sums (`linear_model`)."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.feature_column.base import (
    CategoricalColumn,
    FeatureColumn,
    FeatureTransformationCache,
    LazyBuilder,
    OldCategoricalColumn,
    OldDenseColumn,
    OldFeatureColumn,
    check_batch_sizes,
    normalized,
    scope_name,
    sparse_tensors_of,
    spec_of,
)
from ebbflow.feature_column.checks import merged_specs
from ebbflow.graph.collections import GraphKeys, get_collection
from ebbflow.graph.scopes import name_scope_v1
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.elementwise.sums import add_n
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.bias_softmax import bias_add
from ebbflow.ops.nn.embedding_sparse import safe_embedding_lookup_sparse_v1
from ebbflow.ops.sparse.functions import reshape as reshape_sparse
from ebbflow.state.initializers import zeros_initializer
from ebbflow.state.partitioners import PartitionedVariable
from ebbflow.state.template import make_template
from ebbflow.state.variable_scope import get_variable, get_variable_scope, variable_scope


def _variable_collections(weight_collections: Any) -> list[str]:
    """Return the collections variables go to: those asked for, and the usual ones."""
    return [*dict.fromkeys([*(weight_collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES])]


def _flat(tensor: Any, shape: TensorShape) -> Any:
    """Return what a dense column gives as a matrix, a row for each row of the batch."""
    width = shape.num_elements()
    flat = reshape(tensor, [shape_of(tensor)[0], width])
    flat.set_shape([TensorShape(tensor.shape).as_list()[0] if tensor.shape.rank else None, width])
    return flat


def input_layer(
    features: Mapping[str, Any],
    feature_columns: Iterable[Any],
    weight_collections: Iterable[Any] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Tensor:
    """Return the columns' numbers side by side, in the order of their names: a matrix with a row for each row.

    >>> from ebbflow.feature_column.numeric import numeric_column
    >>> input_layer({"b": [[3.0]], "a": [[1.0]]}, [numeric_column("b"), numeric_column("a")]).numpy().tolist()
    [[1.0, 3.0]]
    """
    return _input_layer(
        features, feature_columns, weight_collections, trainable, cols_to_vars, None, cols_to_output_tensors
    )


def _input_layer(
    features: Any,
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: Any = None,
    scope: Any = None,
    cols_to_output_tensors: Any = None,
    from_template: bool = False,
) -> Any:
    columns = normalized(feature_columns)
    for column in columns:
        if not isinstance(column, OldDenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an "
                f"embedding_column or indicator_column. Given: {column}"
            )
    into = _variable_collections(weight_collections)
    builder = LazyBuilder(features)
    tensors = []

    def one(column: Any) -> Any:
        with variable_scope(None, default_name=scope_name(column._var_scope_name)):
            tensor = column._get_dense_tensor(builder, weight_collections=into, trainable=trainable)
            flat = _flat(tensor, column._variable_shape)
            if cols_to_vars is not None:  # what columns of the same scope share is found by its name
                cols_to_vars[column] = get_collection(GraphKeys.GLOBAL_VARIABLES, scope=get_variable_scope().name)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = flat
            return flat

    if from_template:  # the template has opened the scope
        tensors = [one(column) for column in columns]
        check_batch_sizes(tensors, columns)
        return concat(tensors, 1)
    with variable_scope(scope, default_name="input_layer", values=list(features.values())):
        tensors = [one(column) for column in columns]
        check_batch_sizes(tensors, columns)
        return concat(tensors, 1)


class InputLayer:
    """`input_layer` that has the same variables each time it is called."""

    def __init__(
        self,
        feature_columns: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        cols_to_vars: Any = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ) -> None:
        self._feature_columns = feature_columns
        self._weight_collections = weight_collections
        self._trainable = trainable
        self._cols_to_vars = cols_to_vars
        self._name = name
        self._input_layer_template = make_template(self._name, _input_layer, create_scope_now_=create_scope_now)
        self._scope = self._input_layer_template.variable_scope

    def __call__(self, features: Mapping[str, Any]) -> Any:
        return self._input_layer_template(
            features=features,
            feature_columns=self._feature_columns,
            weight_collections=self._weight_collections,
            trainable=self._trainable,
            cols_to_vars=None,
            from_template=True,
        )

    @property
    def name(self) -> str:
        """The name of its scope."""
        return self._name

    @property
    def variables(self) -> Any:
        """All variables made by calls so far."""
        return self._input_layer_template.variables

    @property
    def trainable_variables(self) -> Any:
        """Those that are trained."""
        return self._input_layer_template.trainable_variables

    @property
    def non_trainable_variables(self) -> Any:
        """Those that are not."""
        return self._input_layer_template.non_trainable_variables

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


class LinearModel:
    """A weighted sum of everything: a weight for each id, a matrix for numbers, and a bias."""

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        weight_collections: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._columns = normalized(feature_columns)
        for column in self._columns:
            if not isinstance(column, (OldDenseColumn, OldCategoricalColumn)):
                raise ValueError(
                    f"Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. Given: {column}"
                )
        self._units = units
        self._combiner = sparse_combiner
        self._trainable = trainable
        self._into = _variable_collections(weight_collections)
        self._vars: dict[Any, Any] = collections.OrderedDict()
        self._template = make_template(name or "linear_model", self._compute, create_scope_now_=True)
        scope: Any = self._template.variable_scope
        self.name = scope.name
        self.bias: Any = None

    def cols_to_vars(self) -> dict[Any, Any]:
        """Return the variables by column, and the bias by "bias"."""
        return self._vars

    @property
    def variables(self) -> Any:
        """All variables made by calls so far."""
        return self._template.variables

    def __call__(self, features: Mapping[str, Any]) -> Any:
        if not isinstance(features, Mapping):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
        return self._template(features)

    def _compute(self, features: Mapping[str, Any]) -> Any:
        builder = LazyBuilder(features)
        sums = []
        for column in self._columns:
            with variable_scope(None, default_name=scope_name(column._var_scope_name)):
                total, made = self._weighted_sum(column, builder)
            sums.append(total)
            self._vars[column] = _parts(made)
        check_batch_sizes(sums, self._columns)
        total = add_n(sums, name="weighted_sum_no_bias")
        self.bias = self._variable("bias_weights", [self._units])
        self._vars["bias"] = _parts(self.bias)
        return bias_add(total, self.bias, name="weighted_sum")

    def _variable(self, name: str, shape: Any) -> Any:
        return get_variable(
            name=name,
            shape=shape,
            dtype=dtypes.float32,
            initializer=zeros_initializer(),
            trainable=self._trainable,
            collections=self._into,
        )

    def _weighted_sum(self, column: Any, builder: LazyBuilder) -> tuple[Any, Any]:
        if isinstance(column, OldCategoricalColumn):
            pair = sparse_tensors_of(column, builder, None)
            weights = self._variable("weights", (column._num_buckets, self._units))
            return weighted_sum_of_ids(pair, weights, self._combiner), weights
        tensor = column._get_dense_tensor(builder, weight_collections=self._into, trainable=self._trainable)
        flat = _flat(tensor, column._variable_shape)
        weights = self._variable("weights", [column._variable_shape.num_elements(), self._units])
        return matmul(flat, convert(weights), name="weighted_sum"), weights


def weighted_sum_of_ids(pair: Any, weights: Any, combiner: str) -> Any:
    """Return the combined weights of each row's ids."""
    ids, given = pair
    flat = [shape_of(ids)[0], -1]
    return safe_embedding_lookup_sparse_v1(
        weights,
        reshape_sparse(ids, flat),
        sparse_weights=None if given is None else reshape_sparse(given, flat),
        combiner=combiner,
        name="weighted_sum",
    )


def _parts(variable: Any) -> list[Any]:
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def linear_model(
    features: Mapping[str, Any],
    feature_columns: Iterable[Any],
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Iterable[Any] | None = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> TensorLike:
    """Return weighted sums of all columns and a bias, `units` of them for each row; weights begin at zero."""
    model = LinearModel(feature_columns, units, sparse_combiner, weight_collections, trainable, name="linear_model")
    total = model(features)
    if cols_to_vars is not None:
        cols_to_vars.update(model.cols_to_vars())
    return total


def make_parse_example_spec_v1(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """Return how to read all features that columns need from an Example (TF 1)."""
    return _spec(feature_columns, OldFeatureColumn, "_FeatureColumn")


def make_parse_example_spec(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """Return how to read all features that columns need from an Example: the `features` of `tf.io.parse_example`."""
    return _spec(feature_columns, FeatureColumn, "FeatureColumn")


def _spec(feature_columns: Any, kind: type, called: str) -> dict[str, Any]:
    for column in feature_columns:
        if not isinstance(column, kind):
            raise ValueError(f"All feature_columns must be {called} instances. Given: {column}")
    return merged_specs(feature_columns, [(column, spec_of(column)) for column in feature_columns])


def transformed_v1(features: Mapping[str, Any], feature_columns: Any) -> dict[Any, Any]:
    """Return what each column makes of the features, by column."""
    columns = normalized(feature_columns)
    with name_scope_v1(None, default_name="transform_features", values=list(features.values())):
        builder = LazyBuilder(features)
        return {column: _named(column, builder.get) for column in columns}


def transformed_v2(features: Mapping[str, Any], feature_columns: Any, state_manager: Any) -> dict[Any, Any]:
    """Return what each column makes of the features, by column (second generation)."""
    columns = normalized(feature_columns)
    with name_scope_v1(None, default_name="transform_features", values=list(features.values())):
        cache = FeatureTransformationCache(features)
        return {column: _named(column, lambda c: cache.get(c, state_manager)) for column in columns}


def _named(column: Any, get: Any) -> Any:
    with name_scope_v1(None, default_name=scope_name(column.name)):
        return get(column)


def weighted_sum(
    column: Any, transformation_cache: Any, state_manager: Any, sparse_combiner: str, weight_var: Any
) -> Any:
    """Return a second-generation column's share of a linear model, with weights that are there already."""
    if isinstance(column, CategoricalColumn):
        pair = column.get_sparse_tensors(transformation_cache, state_manager)
        return weighted_sum_of_ids(pair, weight_var, sparse_combiner)
    tensor = column.get_dense_tensor(transformation_cache, state_manager)
    return matmul(_flat(tensor, column.variable_shape), convert(weight_var), name="weighted_sum")
