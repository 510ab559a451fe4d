"""`tf.data.Dataset` of TF 1: with methods that make iterators, and the types and shapes of elements apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.sparse import SparseTensor, SparseTensorSpec
from ebbflow.core.spec import TensorSpec
from ebbflow.core.typing import DTypeLike, Nested, ShapeLike, TensorLike
from ebbflow.data import iterator_v1, sources, structure
from ebbflow.data.dataset import DatasetV2
from ebbflow.functions.control_flow.tensor_array import TensorArraySpec
from ebbflow.ops.ragged.spec import RaggedTensorSpec


class DatasetV1(DatasetV2):
    """A sequence of elements, with what TF 1 asks of it."""

    @classmethod
    def _family(cls) -> type:
        return DatasetV1

    def make_one_shot_iterator(self) -> Any:
        """Return an iterator that starts by itself."""
        return iterator_v1.make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """Return an iterator that starts when its initializer is run."""
        return iterator_v1.make_initializable_iterator(self, shared_name)

    @property
    def output_types(self) -> Nested:
        return structure.legacy_types(self.element_spec)

    @property
    def output_shapes(self) -> Nested:
        return structure.legacy_shapes(self.element_spec)

    @property
    def output_classes(self) -> Nested:
        return structure.legacy_classes(self.element_spec)

    @classmethod
    def from_sparse_tensor_slices(cls, sparse_tensor: SparseTensor) -> DatasetV1:
        """Return the rows of a sparse tensor, each as (indices, values, dense_shape)."""
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(
                "Invalid `sparse_tensor`. `sparse_tensor` must be a `tf.sparse.SparseTensor`. Got "
                f"{type(sparse_tensor)}."
            )
        rank = SparseTensorSpec.from_value(sparse_tensor).shape.rank
        rest = None if rank is None else rank - 1
        spec = (
            TensorSpec([None, rest], dtypes.int64),
            TensorSpec([None], sparse_tensor.dtype),
            TensorSpec([rest], dtypes.int64),
        )
        parts = sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape
        return cls._make(sources.SparseTensorSliceDataset, *parts, spec=spec, kind="_SparseTensorSliceDataset")

    def map_with_legacy_function(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None,
    ) -> DatasetV1:
        """Return what a function gives for each element."""
        return self.map(map_func, num_parallel_calls, deterministic)

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> DatasetV1:
        """Return the elements for which a function holds."""
        return self.filter(predicate)


# --- types of elements, as TF 1 calls them ----------------------------------------------------------------------------


def tensor_structure(dtype: DTypeLike, shape: ShapeLike) -> TensorSpec:
    """Return the type of a tensor."""
    return TensorSpec(shape, dtype)


def sparse_tensor_structure(dtype: DTypeLike, shape: ShapeLike) -> SparseTensorSpec:
    """Return the type of a sparse tensor."""
    return SparseTensorSpec(shape, dtype)


def ragged_tensor_structure(dtype: DTypeLike, shape: ShapeLike, ragged_rank: int) -> RaggedTensorSpec:
    """Return the type of a ragged tensor."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def tensor_array_structure(
    dtype: DTypeLike, element_shape: ShapeLike, dynamic_size: bool, infer_shape: bool
) -> TensorArraySpec:
    """Return the type of a list of tensors."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
