"""What a column is, in both generations, and the caches through which columns ask for each other's results.

The first generation (`input_layer`, `linear_model`) asks a column by methods with an underscore, and the column makes
its variables by `get_variable`; the second (`DenseFeatures`) asks by public methods, and a state manager makes and
keeps variables and tables. Columns of this room serve both from one body: a method of the first generation calls the
second's with no state manager.
"""

from __future__ import annotations

import abc
import collections
import inspect
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.typing import AnyTensor, Nested, TensorLike
from ebbflow.functions.control_flow.cond import cond
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.shaping import expand_dims, rank
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.checks.asserts import assert_positive_v1
from ebbflow.ops.elementwise.compare import equal
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.sparse.functions import convert_to_tensor_or_sparse_tensor
from ebbflow.ops.sparse.functions import reshape as reshape_sparse

if TYPE_CHECKING:
    from ebbflow.feature_column.state import StateManager


class IdWeightPair(NamedTuple):
    """The ids of a categorical column, and their weights if it has any."""

    id_tensor: Any
    weight_tensor: Any


class TensorSequenceLengthPair(NamedTuple):
    """What a sequence column gives: values [batch, steps, …] and how many steps each row has."""

    dense_tensor: Any
    sequence_length: Any


class OldFeatureColumn(abc.ABC):
    """A column of the first generation (`_FeatureColumn`)."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """A name that no other column of a model has."""

    @property
    def _var_scope_name(self) -> str:
        return self.name

    @abc.abstractmethod
    def _transform_feature(self, inputs: Any) -> Any:
        """Return what follows from the features that `inputs.get` gives."""

    @property
    @abc.abstractmethod
    def _parse_example_spec(self) -> dict[str, Any]:
        """How to read the column's features from an Example."""

    def _reset_config(self) -> None:  # noqa: B027  (most keep nothing)
        """Forget what an earlier use has left; for columns that keep something."""


class OldDenseColumn(OldFeatureColumn):
    """A column of the first generation that gives numbers."""

    @property
    @abc.abstractmethod
    def _variable_shape(self) -> TensorShape:
        """The shape of one row."""

    @abc.abstractmethod
    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        """Return numbers [batch, …]."""


class OldCategoricalColumn(OldFeatureColumn):
    """A column of the first generation that gives ids."""

    IdWeightPair: ClassVar[type] = IdWeightPair

    @property
    @abc.abstractmethod
    def _num_buckets(self) -> int:
        """How many ids there are."""

    @abc.abstractmethod
    def _get_sparse_tensors(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        """Return an IdWeightPair."""


class OldSequenceDenseColumn(OldFeatureColumn):
    """A column of the first generation that gives a sequence of numbers for each row."""

    TensorSequenceLengthPair: ClassVar[type] = TensorSequenceLengthPair

    @abc.abstractmethod
    def _get_sequence_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        """Return a TensorSequenceLengthPair."""


class FeatureColumn(abc.ABC):
    """A column of the second generation. Columns are compared by what they were made of."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """A name that no other column of a model has."""

    def __lt__(self, other: Any) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: Any) -> bool:
        return str(self) > str(other)

    @abc.abstractmethod
    def transform_feature(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ) -> Nested:
        """Return what follows from the features that the cache gives."""

    @property
    @abc.abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """How to read the column's features from an Example."""

    def create_state(self, state_manager: StateManager) -> None:  # noqa: B027  (most need none)
        """Have the state manager make the variables this column needs; most need none."""

    @property
    @abc.abstractmethod
    def _is_v2_column(self) -> bool:
        """Whether the column, and all it was made of, is of the second generation."""

    @property
    @abc.abstractmethod
    def parents(self) -> list[Any]:
        """The columns and keys of features this one was made of."""

    def get_config(self) -> dict[str, Any]:
        """Return what to make an equal column of."""
        return self._get_config()

    def _get_config(self) -> dict[str, Any]:
        raise NotImplementedError(
            f"{type(self).__name__} does not say how it is written to a file: give it a get_config"
        )

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any],
        custom_objects: Mapping[str, Any] | None = None,
        columns_by_name: Mapping[str, Any] | None = None,
    ) -> FeatureColumn:
        """Return the column that `get_config` described."""
        return cls._from_config(config, custom_objects, columns_by_name)

    @classmethod
    def _from_config(cls, config: Mapping[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        raise NotImplementedError(f"{cls.__name__} does not say how it is read from a file: give it a from_config")


class DenseColumn(FeatureColumn):
    """A column that gives numbers."""

    @property
    @abc.abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape of one row."""

    @abc.abstractmethod
    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> AnyTensor:
        """Return numbers [batch, …]."""


class CategoricalColumn(FeatureColumn):
    """A column that gives ids."""

    IdWeightPair: ClassVar[type] = IdWeightPair

    @property
    @abc.abstractmethod
    def num_buckets(self) -> int:
        """How many ids there are."""

    @abc.abstractmethod
    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Return an IdWeightPair."""


class OfOneFeature:
    """What a column that is made of one feature says of itself."""

    __slots__ = ()
    key: str

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.key

    @property
    def parents(self) -> list[Any]:
        """What it is made of."""
        return [self.key]


class SequenceDenseColumn(FeatureColumn):
    """A column that gives a sequence of numbers for each row."""

    TensorSequenceLengthPair: ClassVar[type] = TensorSequenceLengthPair

    @abc.abstractmethod
    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Nested:
        """Return a TensorSequenceLengthPair."""


class _Both:
    """The first generation's methods of a column, in terms of the second's."""

    transform_feature: Callable[..., Any]
    parse_example_spec: Any

    def _transform_feature(self, inputs: Any) -> Any:
        return self.transform_feature(inputs, None)

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    @property
    def _is_v2_column(self) -> bool:
        return all(
            isinstance(parent, str) or (isinstance(parent, FeatureColumn) and parent._is_v2_column)
            for parent in self.parents  # type: ignore[attr-defined]
        )


class BothDense(_Both, DenseColumn, OldDenseColumn):
    """A dense column of both generations."""

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        return self.get_dense_tensor(inputs, None)


class BothCategorical(_Both, CategoricalColumn, OldCategoricalColumn):
    """A categorical column of both generations."""

    @property
    def _num_buckets(self) -> int:
        return self.num_buckets

    def _get_sparse_tensors(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        return self.get_sparse_tensors(inputs, None)


class BothSequenceDense(_Both, SequenceDenseColumn, OldSequenceDenseColumn):
    """A sequence column of both generations."""

    def _get_sequence_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        return self.get_sequence_dense_tensor(inputs, None)


def is_feature_column_v2(feature_columns: Sequence[Any]) -> bool:
    """Return whether all columns are of the second generation."""
    return all(isinstance(c, FeatureColumn) and c._is_v2_column for c in feature_columns)


def is_column(value: Any) -> bool:
    """Return whether something is a column, of whichever generation."""
    return isinstance(value, (FeatureColumn, OldFeatureColumn))


def is_categorical(value: Any) -> bool:
    """Return whether something is a column of ids, of whichever generation."""
    return isinstance(value, (CategoricalColumn, OldCategoricalColumn))


def spec_of(column: Any) -> dict[str, Any]:
    """Return how a column's features are read from an Example."""
    return column.parse_example_spec if isinstance(column, FeatureColumn) else column._parse_example_spec


def buckets_of(column: Any) -> int:
    """Return how many ids a categorical column has."""
    return column.num_buckets if isinstance(column, CategoricalColumn) else column._num_buckets


def sparse_tensors_of(column: Any, cache: Any, state_manager: Any) -> Any:
    """Return the ids and weights of a categorical column, asked in the manner of the generation that asks."""
    if isinstance(cache, LazyBuilder) or not isinstance(column, CategoricalColumn):
        return column._get_sparse_tensors(cache)
    return column.get_sparse_tensors(cache, state_manager)


def scope_name(name: str) -> str:
    """Return a column's name as a variable scope may be called.

    >>> scope_name("a b")
    'a_b'
    """
    return re.sub(r"[^A-Za-z0-9_.\\/-]", "_", name)


class FeatureTransformationCache:
    """The features of a batch, and what columns have made of them so far."""

    NEEDS: ClassVar[Any] = FeatureColumn
    KIND: ClassVar[str] = "FeatureColumn"

    def __init__(self, features: Mapping[Any, Any]) -> None:
        self._features = features.copy() if hasattr(features, "copy") else dict(features)
        self._feature_tensors: dict[Any, Any] = {}

    def get(
        self, key: Hashable, state_manager: StateManager | None = None, training: TensorLike | None = None
    ) -> Nested:
        """Return the feature of that key, or what the column makes of its features."""
        if key in self._feature_tensors:
            return self._feature_tensors[key]
        if key in self._features:
            found = self._raw(key)
        else:
            found = self._from_column(key, state_manager, training)
        self._feature_tensors[key] = found
        return found

    def _from_column(self, key: Any, state_manager: Any, training: Any) -> Any:
        if isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary; it has {sorted(map(str, self._features))}.")
        if not isinstance(key, self.NEEDS):
            raise TypeError(f'"key" must be either a "str" or "{self.KIND}". Provided: {key}')
        found = self._transform(key, state_manager, training)
        if found is None:
            raise ValueError(f"Column {key.name} is not supported.")
        return found

    def _transform(self, column: Any, state_manager: Any, training: Any) -> Any:
        if "training" in inspect.signature(column.transform_feature).parameters:
            return column.transform_feature(self, state_manager, training=training)
        return column.transform_feature(self, state_manager)

    def _raw(self, key: Any) -> Any:
        """Return a feature with a batch and something in each row: a vector becomes a column of a matrix."""
        value = self._features[key]
        tensor = value if isinstance(value, RaggedTensor) else convert_to_tensor_or_sparse_tensor(value)
        ranks = tensor.shape.rank
        if ranks == 0:
            raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {tensor}")
        if ranks == 1:
            return _in_a_column(tensor)
        if ranks is not None:
            return tensor
        with control_dependencies(
            [assert_positive_v1(rank(tensor), message=f"Feature (key: {key}) cannot have rank 0.")]
        ):
            return cond(equal(1, rank(tensor)), lambda: _in_a_column(tensor), lambda: tensor)


def _in_a_column(tensor: Any) -> Any:
    if isinstance(tensor, SparseTensor):
        return reshape_sparse(tensor, [shape_of(tensor)[0], 1])
    return expand_dims(tensor, -1)


class LazyBuilder(FeatureTransformationCache):
    """`FeatureTransformationCache` that asks columns in the manner of the first generation."""

    NEEDS = OldFeatureColumn
    KIND = "_FeatureColumn"

    def _transform(self, column: Any, state_manager: Any, training: Any) -> Any:
        return column._transform_feature(self)


def normalized(feature_columns: Any) -> list[Any]:
    """Return columns as a list, having checked that they are columns whose names differ."""
    if is_column(feature_columns):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, collections.abc.Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, Mapping):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    for column in feature_columns:
        if not is_column(column):
            raise ValueError(
                "Items of feature_columns must be a _FeatureColumn or FeatureColumn. "
                f"Given (type {type(column)}): {column}."
            )
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    named: dict[str, Any] = {}
    for column in feature_columns:
        if column.name in named:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {named[column.name]}. Leave one of "
                "them out, or give its feature another key."
            )
        named[column.name] = column
    return sorted(feature_columns, key=lambda column: column.name)


def check_batch_sizes(tensors: Sequence[Any], columns: Sequence[Any]) -> None:
    """Raise ValueError unless the first dimensions agree, as far as they are known."""
    first: tuple[int, Any] | None = None
    for tensor, column in zip(tensors, columns):
        size = TensorShape(tensor.shape)
        length = None if size.rank in (None, 0) else size.as_list()[0]
        if length is None:
            continue
        if first is None:
            first = length, column
        elif first[0] != length:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size of columns "
                f"({first[1].name}, {column.name}): ({first[0]}, {length})"
            )


def as_tensor(value: Any) -> Any:
    """Return a feature as a tensor, dense or sparse."""
    return value if isinstance(value, (SparseTensor, RaggedTensor)) else convert(value)
