"""What a dataset can be turned into without functions of its elements: the part of `tf.data.Dataset` that selects,
orders, keeps, batches and takes apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.nest import rebuild
from ebbflow.core.shape import TensorShape, as_dims
from ebbflow.core.sparse import SparseTensorSpec
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.data import batching, prefetch_cache, random_words, selecting, structure
from ebbflow.data.dataset_sources import as_int64, common_elements, dataset_seeds, kept_seeds
from ebbflow.ops.ragged.forms import RaggedTensorSpec


def static(value: Any) -> int | None:
    """Return a number as far as it is known."""
    found = convert(value, dtypes.int64).constant_value()
    return None if found is None else int(found)


class Transforms:
    """What datasets can be turned into."""

    _then: Any
    _spec_of: Any
    _type_spec: Any
    _variant_tensor: Any
    element_spec: Any

    # --- which, and in which order ------------------------------------------------------------------------------------

    def repeat(self, count: Any = None, name: str | None = None) -> Any:
        """Return the elements `count` times over, or for ever."""
        count = as_int64(-1 if count is None else count, "count")
        return self._then(selecting.RepeatDataset, count, kind="_RepeatDataset", name=name)

    def take(self, count: Any, name: str | None = None) -> Any:
        """Return the first `count` elements; all for -1."""
        return self._then(selecting.TakeDataset, as_int64(count, "count"), kind="_TakeDataset", name=name)

    def skip(self, count: Any, name: str | None = None) -> Any:
        """Return the elements after the first `count`; none for -1."""
        return self._then(selecting.SkipDataset, as_int64(count, "count"), kind="_SkipDataset", name=name)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Any:
        """Return every `num_shards`-th element, from the one at `index` on."""
        counts = as_int64(num_shards, "num_shards"), as_int64(index, "index")
        return self._then(selecting.ShardDataset, *counts, kind="_ShardDataset", name=name)

    def concatenate(self, dataset: Any, name: str | None = None) -> Any:
        """Return these elements, then those of another dataset."""
        if not hasattr(type(dataset), "_variant_tensor"):
            raise TypeError(f"`dataset` must be a tf.data.Dataset, got {type(dataset).__name__}")
        spec = common_elements(self.element_spec, dataset.element_spec, "dataset")
        return self._then(
            selecting.ConcatenateDataset, dataset, spec=spec, kind="_ConcatenateDataset",
            made_of=[self, dataset], name=name,
        )  # fmt: skip

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = True, name: str | None = None
    ) -> Any:
        """Return the elements in random order: each drawn of the `buffer_size` next ones."""
        anew = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        given = as_int64(buffer_size, "buffer_size"), *dataset_seeds(seed)
        words: dict[str, Any] = {"kind": "_ShuffleDataset", "reshuffle_each_iteration": anew, "name": name}
        if not kept_seeds():
            return self._then(selecting.ShuffleDataset, *given, **words)
        return self._then(selecting.ShuffleDatasetV3, *given, random_words.DummySeedGenerator(), **words)

    def enumerate(self, start: Any = 0, name: str | None = None) -> Any:
        """Return pairs of a number, counted from `start`, and an element."""
        numbers = type(self)._counted(start)  # type: ignore[attr-defined]
        return type(self).zip((numbers, self), name=name)  # type: ignore[attr-defined]

    def unique(self, name: str | None = None) -> Any:
        """Return each element once."""
        spec = self.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype.name not in ("int32", "int64", "string"):
            raise TypeError(
                f"`tf.data.Dataset.unique` does not support type {spec} -- only `tf.int32`, `tf.int64`, "
                "and `tf.string` are supported."
            )
        return self._then(selecting.UniqueDataset, kind="_UniqueDataset", name=name)

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Any:
        """Return the elements that can be made without an error."""
        return self._then(
            selecting.IgnoreErrorsDataset, kind="_IgnoreErrorsDataset", log_warning=log_warning, name=name
        )

    def apply(self, transformation_func: Callable[[Any], Any]) -> Any:
        """Return what a function makes of this dataset."""
        made = transformation_func(self)
        if not hasattr(type(made), "_variant_tensor"):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}.")
        return made

    # --- ahead of time, or once and for all ---------------------------------------------------------------------------

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Any:
        """Return the elements, made ahead by a thread: up to `buffer_size` of them."""
        size = as_int64(-1 if buffer_size is None else buffer_size, "buffer_size")
        return self._then(prefetch_cache.PrefetchDataset, size, kind="_PrefetchDataset", name=name)

    def cache(self, filename: Any = "", name: str | None = None) -> Any:
        """Return the elements, kept in memory (or a file) once they have been gone through."""
        path = convert(filename, dtypes.string, name="filename")
        if not kept_seeds():
            return self._then(prefetch_cache.CacheDataset, path, kind="_CacheDataset", name=name)
        return self._then(
            prefetch_cache.CacheDatasetV2, path, prefetch_cache.DummyMemoryCache(), kind="_CacheDataset", name=name
        )

    # --- batches ------------------------------------------------------------------------------------------------------

    def batch(
        self,
        batch_size: Any,
        drop_remainder: Any = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """Return batches of `batch_size` elements that follow each other; the last may be smaller."""
        size, drop = as_int64(batch_size, "batch_size"), convert(drop_remainder, dtypes.bool, name="drop_remainder")
        spec = structure.batched(self.element_spec, whole_size(batch_size, drop))
        if num_parallel_calls is None:
            return self._then(batching.BatchDatasetV2, size, drop, spec=spec, kind="_BatchDataset", name=name)
        calls = as_int64(num_parallel_calls, "num_parallel_calls")
        return self._then(
            batching.ParallelBatchDataset, size, calls, drop, spec=spec, kind="_ParallelBatchDataset", name=name,
            deterministic=certainty(deterministic),
        )  # fmt: skip

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: Any = False,
        name: str | None = None,
    ) -> Any:
        """Return batches whose elements are padded to one shape: to the given one, or to the longest of the batch."""
        spec = self.element_spec
        flat = structure.flat_specs(spec)
        for leaf in structure.flatten(spec):
            if not isinstance(leaf, TensorSpec):
                of_datasets = isinstance(leaf, type(self._type_spec))
                raise TypeError(
                    "`padded_batch` is not supported for datasets of datasets"
                    if of_datasets
                    else "`padded_batch` is only supported for datasets that produce tensor elements but type spec of "
                    f"elements in the input dataset is not a subclass of TensorSpec: `{leaf}`."
                )
        shapes = _padded_shapes(spec, padded_shapes)
        values = _padding_values(spec, padding_values)
        size, drop = as_int64(batch_size, "batch_size"), convert(drop_remainder, dtypes.bool, name="drop_remainder")
        lengths = [_known_lengths(shape) for shape in shapes]
        count = whole_size(batch_size, drop)
        made = iter(
            TensorSpec(None if dims is None else [count, *dims], leaf.dtype)
            for leaf, dims in zip(flat, lengths, strict=True)
        )
        padded = structure.map_structure(lambda s: s if isinstance(s, structure.NoneTensorSpec) else next(made), spec)
        return self._then(
            batching.PaddedBatchDatasetV2, size, [_as_vector(s) for s in shapes], values, drop,
            spec=padded, kind="_PaddedBatchDataset", name=name,
        )  # fmt: skip

    def unbatch(self, name: str | None = None) -> Any:
        """Return the rows of elements one by one."""
        spec = self.element_spec
        source: Any = self
        _check_rows(spec)
        if not all(isinstance(leaf, (TensorSpec, structure.NoneTensorSpec)) for leaf in structure.flatten(spec)):
            source = self._as_rows()  # type: ignore[attr-defined]
        return source._then(batching.UnbatchDataset, spec=structure.unbatched(spec), kind="_UnbatchDataset", name=name)

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Any:
        """Return the rows of elements in batches of another size, or of several sizes in turn."""
        spec = self.element_spec
        sizes = convert(batch_size, dtypes.int64, name="batch_sizes")
        drop = convert(drop_remainder, dtypes.bool, name="drop_remainder")
        if not all(isinstance(leaf, TensorSpec) for leaf in structure.flatten(spec)):
            single = self.unbatch(name)
            if not sizes.shape.rank:
                return single.batch(sizes, drop_remainder)
            single = single.batch(1)  # so that rows have one form, whatever they are
            return single._then(batching.RebatchDatasetV2, sizes, drop, kind="_RebatchDataset", name=name)
        rows = structure.map_structure(lambda leaf: _rebatched(leaf, sizes.constant_value(), drop_remainder), spec)
        return self._then(batching.RebatchDatasetV2, sizes, drop, spec=rows, kind="_RebatchDataset", name=name)

    def ragged_batch(
        self, batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Return batches of elements of different shapes, as ragged tensors."""
        spec = structure.map_structure(lambda leaf: _ragged(leaf, dtypes.as_dtype(row_splits_dtype)), self.element_spec)
        source = self._with_spec(spec, lambda leaf: leaf)  # type: ignore[attr-defined]
        return source.batch(batch_size, drop_remainder, name=name)

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Any:
        """Return batches of elements of different shapes, as sparse tensors of rows that have `row_shape`."""
        spec = self.element_spec
        if not isinstance(spec, TensorSpec):
            raise TypeError(f"`sparse_batch` needs elements that are single tensors, got {spec!r}")
        shape = TensorShape(_dims(row_shape))
        made = SparseTensorSpec(TensorShape([None]).concatenate(shape), spec.dtype)
        size, rows = as_int64(batch_size, "batch_size"), _as_vector(shape)
        return self._then(
            batching.DenseToSparseBatchDataset, size, rows, spec=made, kind="_DenseToSparseBatchDataset", name=name
        )

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False, name: str | None = None
    ) -> Any:
        """Return windows: datasets of `size` elements each, which begin `shift` elements apart."""
        given = [
            as_int64(x, n) for x, n in ((size, "size"), (size if shift is None else shift, "shift"), (stride, "stride"))
        ]
        drop = convert(drop_remainder, dtypes.bool, name="drop_remainder")
        spec = structure.map_structure(
            lambda leaf: leaf if isinstance(leaf, structure.NoneTensorSpec) else self._spec_of(leaf), self.element_spec
        )
        return self._then(batching.WindowDataset, *given, drop, spec=spec, kind="_WindowDataset", name=name)

    def assert_cardinality(self, expected_cardinality: Any) -> Any:
        """Return this dataset, which then must have that many elements."""
        count = as_int64(expected_cardinality, "cardinality")
        return self._then(selecting.AssertCardinalityDataset, count, kind="_AssertCardinalityDataset")


def _check_rows(spec: Any) -> None:
    """Refuse elements that are known not to have as many rows in each component."""
    counts: dict[int, None] = {}
    for leaf in structure.flatten(spec):
        dims = leaf.shape.dims if isinstance(leaf, TensorSpec) else None
        if dims is not None and not dims:
            raise ValueError("Cannot unbatch an input with scalar components.")
        if dims is not None and dims[0].value is not None:
            counts[dims[0].value] = None
    if len(counts) > 1:
        first, second, *_ = counts
        raise ValueError(
            "`unbatch()` is only supported for datasets of elements whose components have a matching leading "
            f"dimension. Encountered both {first} and {second}."
        )


def _rebatched(leaf: TensorSpec, sizes: Any, whole: Any) -> TensorSpec:
    """Return the type of a component in batches of these sizes."""
    if leaf.shape.rank is None:
        return leaf
    if leaf.shape.rank == 0:
        raise ValueError(f"Cannot rebatch elements that are scalars: got {leaf!r}. Use `batch`")
    known = set() if sizes is None else {int(n) for n in np.asarray(sizes).reshape(-1)}
    size = known.pop() if len(known) == 1 else None
    before = leaf.shape[0]
    fixed = size is not None and size > 0 and (whole is True or (before is not None and before % size == 0))
    return TensorSpec([size if fixed else None, *leaf.shape[1:]], leaf.dtype)


def certainty(deterministic: bool | None) -> str:
    """Return the attr that says whether elements must come in order."""
    return "default" if deterministic is None else str(bool(deterministic)).lower()


def whole_size(batch_size: Any, drop_remainder: Any) -> int | None:
    """Return the size of batches where all are known to have it."""
    drop = drop_remainder.constant_value()
    return static(batch_size) if drop is not None and bool(drop) else None


# --- padding ----------------------------------------------------------------------------------------------------------


def _as_vector(shape: Any) -> Any:
    if isinstance(shape, Tensor):
        return convert(shape, dtypes.int64)
    return np.array([-1 if n is None else n for n in as_dims(shape)], np.int64)  # type: ignore[union-attr]


def _known_lengths(shape: Any) -> Any:
    """Return what is known of the lengths that a component is padded to."""
    if not isinstance(shape, Tensor):
        return as_dims(shape)
    if shape.dtype is not dtypes.int64:
        raise TypeError(
            f"Padded shape {shape} must be a `tf.int64` vector tensor, but its element type was {shape.dtype.name}."
        )
    if shape.shape.rank not in (1, None):
        raise ValueError(f"Padded shape {shape} must be a `tf.int64` vector tensor, but its shape was {shape.shape}.")
    value = shape.constant_value()
    return shape.constant_dims() if value is None else tuple(None if n < 0 else int(n) for n in value)


def _padded_shapes(spec: Any, given: Any) -> list[Any]:
    """Return the shape that each component is padded to: -1 (None) for the longest of a batch."""
    flat = structure.flat_specs(spec)
    if given is None:
        for leaf in flat:
            if leaf.shape.rank is None:
                raise ValueError(
                    f"You must provide `padded_shapes` argument because component {leaf} has unknown rank."
                )
        return [leaf.shape for leaf in flat]
    shapes = _beside(spec, given)
    for leaf, shape in zip(flat, shapes, strict=True):
        dims = _known_lengths(shape)
        own = leaf.shape._dims
        if dims is None or own is None:
            continue
        if len(dims) != len(own):
            raise ValueError(
                f"The padded shape {TensorShape(dims)} is not compatible with the shape {leaf.shape} of "
                "the corresponding input component."
            )
        for wanted, there in zip(dims, own, strict=True):
            if wanted is not None and there is not None and there > wanted:
                raise ValueError(
                    f"The padded shape {TensorShape(dims)} is not compatible with the shape {leaf.shape} of "
                    "the corresponding input component."
                )
    return shapes


def _beside(spec: Any, given: Any) -> list[Any]:
    """Return the shapes in `given`, which has the structure of `spec`; tuples of numbers in it are shapes."""
    kind = structure.kind_of(spec)
    if isinstance(spec, structure.NoneTensorSpec):
        return []
    if kind is None:
        return [given if isinstance(given, Tensor) else TensorShape(_dims(given))]
    inside = structure.kind_of(given)
    if inside is None or len(list(inside.values(given))) != len(list(kind.values(spec))):
        raise ValueError(f"`padded_shapes` {given!r} does not have the structure of the elements: {spec!r}")
    pairs = zip(kind.values(spec), inside.values(given), strict=True)
    return [shape for s, g in pairs for shape in _beside(s, g)]


def _dims(shape: Any) -> Any:
    if isinstance(shape, (list, tuple, np.ndarray)):
        if np.ndim(np.array(shape, object)) != 1:
            raise ValueError(
                f"Padded shape {shape!r} must be a `tf.int64` vector tensor, but its shape was {np.shape(shape)}."
            )
        return [None if n is None or int(n) == -1 else int(n) for n in shape]
    return shape


def _padding_values(spec: Any, given: Any) -> list[Any]:
    flat = structure.flat_specs(spec)
    if given is None:
        values: list[Any] = [None] * len(flat)
    elif structure.kind_of(given) is None and not isinstance(given, list):
        values = [given] * len(flat)
    else:
        given = _filled_up(spec, given)
        structure.assert_same(
            structure.map_structure(lambda s: None, spec), structure.map_structure(lambda s: None, given)
        )
        pairs = zip(structure.flatten(spec), structure.flatten(given), strict=True)
        values = [value for leaf, value in pairs if not isinstance(leaf, structure.NoneTensorSpec)]
    return [_filler(value, leaf.dtype) for value, leaf in zip(values, flat, strict=True)]


def _filled_up(spec: Any, given: Any) -> Any:
    """Return fillers with None for all parts of what has None."""
    kind, own = structure.kind_of(spec), structure.kind_of(given)
    if given is None:
        return structure.map_structure(lambda leaf: None, spec)
    if kind is None or own is None or len(list(own.values(given))) != len(list(kind.values(spec))):
        return given
    parts = [_filled_up(s, g) for s, g in zip(kind.values(spec), own.values(given), strict=True)]
    return rebuild(own, given, parts)


def _filler(value: Any, dtype: Any) -> Any:
    if value is None:
        if dtype is dtypes.variant:
            raise TypeError("Unable to create default padding value for a component of type tf.variant.")
        value = "" if dtype is dtypes.string else np.zeros((), dtype.np)
    try:
        found = convert(value, None if isinstance(value, Tensor) else dtype, name="padding_value")
    except (TypeError, ValueError):
        raise TypeError(
            f"Mismatched type between padding value {value!r} and the component's type {dtype.name}"
        ) from None
    if found._dims not in ((), None):
        raise ValueError(f"Invalid `padding_values`. `padding_values` values should be scalars, but got {found.shape}.")
    if found.dtype is not dtype:
        raise TypeError(
            f"Mismatched type between padding value ({found.dtype.name}) and input dataset's component ({dtype.name})"
        )
    return found


def _ragged(leaf: Any, splits: Any) -> Any:
    """Return the spec under which elements of different shapes become a ragged batch."""
    if not isinstance(leaf, TensorSpec) or leaf.shape.rank == 0 or leaf.shape.is_fully_defined():
        return leaf
    if leaf.shape.rank is None:
        raise ValueError(f"Unable to make ragged batches of components of unknown rank: {leaf}")
    last = max(axis for axis, length in enumerate(leaf.shape.as_list()) if length is None)
    return RaggedTensorSpec(leaf.shape, leaf.dtype, last, splits)
