"""Lookup tables filled from datasets of pairs (key, value)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.op import op
from ebbflow.core.spec import TensorSpec
from ebbflow.core.typing import DTypeLike, Effect, TensorLike
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.pipe import begun_anew, pipe_of
from ebbflow.ops.declare import FLAT
from ebbflow.ops.lookup.table_ops import table_of
from ebbflow.ops.sizes import invalid
from ebbflow.state.lookup.initializers import TableInitializerBase
from ebbflow.state.lookup.interface import check_table_dtypes, remember_initializer
from ebbflow.state.lookup.static import StaticHashTableV1, StaticVocabularyTable

if TYPE_CHECKING:
    from ebbflow.state.lookup.interface import LookupInterface
    from ebbflow.state.lookup.static import HasherSpec


InitializeTableFromDataset = op(
    "InitializeTableFromDataset(table_handle:resource, dataset:variant) -> () | stateful",
    shape=lambda table_handle, dataset: [],
    gradient=FLAT,
)


@InitializeTableFromDataset.kernel
def _(xp: Any, table_handle: Any, dataset: Any) -> Any:
    table = table_of(table_handle)
    with begun_anew({}):
        pairs = list(pipe_of(dataset).start())
    if any(len(pair) != 2 or any(part.ndim for part in pair) for pair in pairs):
        raise invalid("a table is filled from a dataset of pairs of scalars, (key, value)")
    columns = [
        np.array([pair[i].item() if dtype is dtypes.string else pair[i] for pair in pairs], dtype.np)
        for i, dtype in enumerate((table.key_dtype, table.value_dtype))
    ]
    with table.lock:
        if not getattr(table, "initialized", False):
            table.replace(*columns)
    return ()


class DatasetInitializer(TableInitializerBase):
    """Fills a table from a dataset of pairs (key, value)."""

    def __init__(self, dataset: DatasetV2):
        if not isinstance(dataset, DatasetV2):
            raise ValueError(f"Unexpected `dataset` value. Expected a `tf.data.Dataset` object, got {type(dataset)}.")
        self.dataset = dataset
        spec = dataset.element_spec
        if not isinstance(spec, tuple) or len(spec) != 2 or not all(isinstance(part, TensorSpec) for part in spec):
            raise ValueError(
                f"Unexpected `dataset` value. Expected a dataset of pairs of tensors (key, value), got {spec}"
            )
        if any(part.shape.rank not in (0, None) for part in spec):
            raise ValueError(f"Unexpected `dataset` value. Keys and values must be scalars, got {spec}")
        super().__init__(spec[0].dtype, spec[1].dtype)

    def initialize(self, table: LookupInterface) -> Effect:
        """Return the operation that fills a table."""
        check_table_dtypes(table, self._key_dtype, self._value_dtype)
        return remember_initializer(InitializeTableFromDataset(table.resource_handle, self.dataset._variant_tensor))


def table_from_dataset(
    dataset: DatasetV2 | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: TensorLike | None = None,
    hasher_spec: HasherSpec | None = None,
    key_dtype: DTypeLike = dtypes.string,
    name: str | None = None,
) -> LookupInterface:
    """Return a table from the keys to the values of a dataset of pairs; further keys get ids behind, or a default."""
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater than or equal to 0, got {num_oov_buckets}.")
    if vocab_size is not None and (not isinstance(vocab_size, int) or vocab_size < 1):
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    key_dtype = dtypes.as_dtype(key_dtype)
    if not (key_dtype.is_integer or key_dtype is dtypes.string):
        raise TypeError("`key_dtype` must be either an integer or string type.")
    if not isinstance(dataset, DatasetV2):
        raise ValueError(f"Unexpected `dataset` value. Expected a `tf.data.Dataset` object, got {type(dataset)}.")
    if vocab_size:
        dataset = dataset.take(vocab_size).assert_cardinality(vocab_size)
    initializer = DatasetInitializer(dataset)
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, lookup_key_dtype=key_dtype, name=name)
    default = -1 if default_value is None else default_value
    return StaticHashTableV1(initializer, default, name=name)


def index_table_from_dataset(
    dataset: DatasetV2 | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: TensorLike = -1,
    hasher_spec: HasherSpec | None = None,
    key_dtype: DTypeLike = dtypes.string,
    name: str | None = None,
) -> LookupInterface:
    """Return a table from the elements of a dataset to their numbers."""
    if not isinstance(dataset, DatasetV2):
        raise ValueError(f"Unexpected `dataset` value. Expected a `tf.data.Dataset` object, got {type(dataset)}.")
    pairs = dataset.enumerate().map(lambda number, key: (key, number))
    return table_from_dataset(pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)
