"""`tf.data.experimental` and `tf.contrib.data`: transformations for `Dataset.apply`, from before they were methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, Effect, Nested, PathLike, TensorLike
from ebbflow.data import sources, structure
from ebbflow.data.dataset import DatasetSpec, DatasetV2
from ebbflow.data.dataset_sources import common_elements
from ebbflow.data.dataset_v1 import DatasetV1
from ebbflow.data.iterator import IteratorBase
from ebbflow.data.optional import Optional
from ebbflow.data.pipe import pipe_of
from ebbflow.io.records import TFRecordOptions
from ebbflow.io.records import TFRecordWriter as Writer
from ebbflow.ops.declare import FLAT
from ebbflow.ops.parsing.examples import parse_example
from ebbflow.ops.sizes import invalid

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
SHARD_HINT = -1

Transformation = Callable[[Any], Any]


def assert_cardinality(expected_cardinality: TensorLike) -> Transformation:
    """Return the transformation after which there must be that many elements."""
    return lambda dataset: dataset.assert_cardinality(expected_cardinality)


def assert_element_shape(expected_shapes: Nested) -> Transformation:
    """Return the transformation after which elements must have these shapes."""

    def check(*element: Any) -> Any:
        given = element if len(element) != 1 else element[0]
        structure.map_structure(lambda tensor, shape: tensor.set_shape(shape), given, expected_shapes)
        return given

    return lambda dataset: dataset.map(check)


def batch_and_drop_remainder(batch_size: TensorLike) -> Transformation:
    """Return the transformation into batches that are all whole."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: TensorLike, padded_shapes: Nested, padding_values: Nested = None
) -> Transformation:
    """Return the transformation into padded batches that are all whole."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Nested = None,
    padding_values: Nested = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Return the transformation into padded batches of elements of like lengths."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip


def cardinality(dataset: DatasetV2) -> Tensor:
    """Return how many elements a dataset has."""
    return dataset.cardinality()


def choose_from_datasets(
    datasets: Sequence[DatasetV2], choice_dataset: DatasetV2, stop_on_empty_dataset: bool = False
) -> DatasetV2:
    """Return elements of several datasets, each of the one that `choice_dataset` has the number of."""
    return DatasetV2.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def choose_from_datasets_v1(
    datasets: Sequence[DatasetV2], choice_dataset: DatasetV2, stop_on_empty_dataset: bool = False
) -> DatasetV2:
    """Return elements of several datasets, each of the one that `choice_dataset` has the number of."""
    return DatasetV1.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def counter(start: TensorLike = 0, step: TensorLike = 1, dtype: DTypeLike = dtypes.int64) -> DatasetV2:
    """Return the numbers from `start` on, without end."""
    return DatasetV2.counter(start, step, dtype)


def counter_v1(start: TensorLike = 0, step: TensorLike = 1, dtype: DTypeLike = dtypes.int64) -> DatasetV2:
    """Return the numbers from `start` on, without end."""
    return DatasetV1.counter(start, step, dtype)


def dense_to_ragged_batch(
    batch_size: TensorLike, drop_remainder: bool = False, row_splits_dtype: DTypeLike = dtypes.int64
) -> Transformation:
    """Return the transformation into batches that are ragged tensors."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: TensorLike, row_shape: TensorLike) -> Transformation:
    """Return the transformation into batches that are sparse tensors."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def enumerate_dataset(start: TensorLike = 0) -> Transformation:
    """Return the transformation into pairs of a number and an element."""
    return lambda dataset: dataset.enumerate(start)


def from_list(elements: Sequence[Any], name: str | None = None) -> DatasetV2:
    """Return a dataset of the elements of a list."""
    if not isinstance(elements, list) or not elements:
        raise ValueError("`elements` must be a non-empty list.")
    values = [structure.normalised(element) for element in elements]
    specs = [structure.spec_of(value) for value in values]
    spec = specs[0]
    for other in specs[1:]:
        spec = common_elements(spec, other, "elements")
    tensors = [tensor for value in values for tensor in structure.to_tensors(spec, value)]
    return DatasetV2._make(sources.ListDataset, tensors, spec=spec, kind="_ListDataset", name=name)


def from_variant(variant: TensorLike, structure: Nested) -> DatasetV2:
    """Return the dataset that a variant tensor holds; `structure` is the type of its elements."""
    return DatasetSpec(structure)._from_components([variant])


def to_variant(dataset: DatasetV2) -> Tensor:
    """Return the variant tensor that holds a dataset."""
    return dataset._variant_tensor


def get_next_as_optional(iterator: IteratorBase) -> Optional:
    """Return an iterator's next element as an optional."""
    return iterator.get_next_as_optional()


def get_single_element(dataset: DatasetV2) -> Nested:
    """Return the only element of a dataset."""
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Nested) -> Nested:
    """Return the type of the elements."""
    if not isinstance(dataset_or_iterator, (DatasetV2, IteratorBase)):
        raise TypeError(
            f"Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator "
            f"object, but got {type(dataset_or_iterator)}."
        )
    return dataset_or_iterator.element_spec


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: TensorLike | None = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """Return the transformation that makes something of the elements with one key, that many at a time."""
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """Return the transformation that drops elements that cannot be made."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def compute_batch_size(dataset: Any) -> Tensor:
    """Return how many rows the batches of a dataset have (the last may have fewer), or -1 where that is not known."""
    leading = {leaf.shape[0] if leaf.shape.rank else None for leaf in structure.flat_specs(dataset.element_spec)}
    if len(leading) == 1 and None not in leading:
        return convert(leading.pop(), dtypes.int64)
    return convert(dataset._rows_asked, dtypes.int64)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: TensorLike,
    num_parallel_batches: TensorLike | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: TensorLike | None = None,
) -> Transformation:
    """Return the transformation by a function, then into batches."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set, but "
            f"`num_parallel_batches` was set to {num_parallel_batches!s} and `num_parallel_calls` as set to "
            f"{num_parallel_calls!s}."
        )
    calls = num_parallel_calls if num_parallel_batches is None else AUTOTUNE
    return lambda dataset: dataset.map(map_func, calls).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: TensorLike,
    block_length: TensorLike = 1,
    sloppy: bool | None = False,
    buffer_output_elements: TensorLike | None = None,
    prefetch_input_elements: TensorLike | None = None,
) -> Transformation:
    """Return the transformation into the elements of datasets that a function makes, several in turn.

    Where it is `sloppy` none is waited for that takes longer.
    """
    sure = None if sloppy is None else not sloppy
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, AUTOTUNE, deterministic=sure)


def sloppy_interleave(
    map_func: Callable[..., Any], cycle_length: TensorLike, block_length: TensorLike = 1
) -> Transformation:
    """Return the transformation into the elements of datasets that a function makes, several in turn."""
    return parallel_interleave(map_func, cycle_length, block_length, True)


def prefetch_to_device(device: str, buffer_size: TensorLike | None = None) -> Transformation:
    """Return the transformation that makes elements ahead; they lie on the host, where all eager values do."""
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """Return the transformation that changes nothing: elements lie on the host, where all eager values do."""
    return lambda dataset: dataset


def rejection_resample(
    class_func: Callable[..., Any],
    target_dist: TensorLike,
    initial_dist: TensorLike | None = None,
    seed: TensorLike | None = None,
) -> Transformation:
    """Return the transformation that drops elements until classes come as wanted."""
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def sample_from_datasets(
    datasets: Sequence[DatasetV2],
    weights: TensorLike | None = None,
    seed: TensorLike | None = None,
    stop_on_empty_dataset: bool = False,
) -> DatasetV2:
    """Return elements of several datasets, each of one drawn at random."""
    return DatasetV2.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def sample_from_datasets_v1(
    datasets: Sequence[DatasetV2],
    weights: TensorLike | None = None,
    seed: TensorLike | None = None,
    stop_on_empty_dataset: bool = False,
) -> DatasetV2:
    """Return elements of several datasets, each of one drawn at random."""
    return DatasetV1.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def scan(initial_state: Nested, scan_func: Callable[..., Any]) -> Transformation:
    """Return the transformation by a function of a state and an element."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def shuffle_and_repeat(
    buffer_size: TensorLike, count: TensorLike | None = None, seed: TensorLike | None = None
) -> Transformation:
    """Return the transformation into random order, several times over."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """Return the transformation that ends where a function does not hold."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """Return the transformation into the rows of elements."""
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """Return the transformation that gives each element once."""
    return lambda dataset: dataset.unique()


class Reducer:
    """A state, how an element changes it, and what is made of it at the end."""

    def __init__(
        self, init_func: Callable[..., Any], reduce_func: Callable[..., Any], finalize_func: Callable[..., Any]
    ):
        self.init_func, self.reduce_func, self.finalize_func = init_func, reduce_func, finalize_func


def reduce_dataset(dataset: DatasetV2, reducer: Reducer) -> Nested:
    """Return what a reducer makes of all elements."""
    if not isinstance(reducer, Reducer):
        raise TypeError(f"reducer must be a Reducer, got {type(reducer).__name__}")
    return _final(reducer, dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func))


def _final(reducer: Reducer, state: Any) -> Any:
    """Return what a reducer makes of the state at the end: a function of the parts of a state that is a tuple."""
    return reducer.finalize_func(*state) if type(state) is tuple else reducer.finalize_func(state)


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """Return the transformation into what a reducer makes of all elements with one key, in the order of keys."""
    most = np.iinfo(np.int64).max

    def reduced(key: Any, group: Any) -> Any:
        final = _final(reducer, group.reduce(reducer.init_func(key), reducer.reduce_func))
        return type(group).from_tensors(final)

    return lambda dataset: dataset.group_by_window(key_func, reduced, window_size=most)


def parse_example_dataset(
    features: Mapping[str, Any], num_parallel_calls: TensorLike = 1, deterministic: bool | None = None
) -> Transformation:
    """Return the transformation of vectors of serialized examples into their features."""
    if not features:
        raise ValueError("Argument `features` is required, but was not provided.")

    def parsed(dataset: Any) -> Any:
        spec = dataset.element_spec
        if getattr(spec, "dtype", None) is not dtypes.string:
            raise TypeError(f"Input dataset should be a dataset of vectors of strings, but got {spec}")
        return dataset.map(lambda texts: parse_example(texts, features), num_parallel_calls, deterministic)

    return parsed


def sliding_window_batch(
    window_size: TensorLike,
    stride: TensorLike | None = None,
    window_shift: TensorLike | None = None,
    window_stride: TensorLike = 1,
) -> Transformation:
    """Return the transformation into batches of elements in windows that move on by `window_shift`."""
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `window_shift` and `stride`")
    shift = window_shift if window_shift is not None else 1 if stride is None else stride

    def batches(*parts: Any) -> Any:
        given = parts[0] if len(parts) == 1 else parts
        flat = [dataset.batch(window_size) for dataset in structure.flatten(given)]
        return DatasetV2.zip(structure.pack_as(given, flat))

    return lambda dataset: dataset.window(window_size, shift, window_stride, drop_remainder=True).flat_map(batches)


def pad_to_cardinality(cardinality: int, mask_key: str = "valid") -> Transformation:
    """Return the transformation that adds elements of zeros up to a number, and says which are real under a key."""

    given = "The dataset passed into `pad_to_cardinality` must have a"

    def padded(dataset: Any) -> Any:
        count = dataset.cardinality()
        if context.executing_eagerly():
            if int(count) < 0:
                raise ValueError(f"{given} known cardinalty, but has cardinality {int(count)}.")
            if int(count) > cardinality:
                words = f"{given} cardinalty less than the target cardinality ({cardinality}), but has cardinality"
                raise ValueError(f"{words} {int(count)}.")
        spec = dataset.element_spec
        if not isinstance(spec, dict):
            raise ValueError(f"`pad_to_cardinality` requires its input dataset to be a dictionary, got {spec!r}.")
        if mask_key in spec:
            raise ValueError(f"Elements must be dictionaries without the key {mask_key!r}, got {spec!r}")
        real = dataset.map(lambda element: {**element, mask_key: True})
        zeros = structure.map_structure(_zero, spec)
        return real.concatenate(type(dataset).from_tensors({**zeros, mask_key: False}).repeat(cardinality - count))

    return padded


def _zero(spec: Any) -> Any:
    dims = spec.shape.as_list()
    return np.full(dims, b"", object) if spec.dtype is dtypes.string else np.zeros(dims, spec.dtype.np)


def save(
    dataset: Any, path: Any, compression: str | None = None, shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> Effect:  # fmt: skip
    """Write all elements of a dataset to a directory; in a graph, return the op that does so."""
    return dataset.save(path, compression, shard_func, checkpoint_args)


def load(
    path: PathLike, element_spec: Nested = None, compression: str | None = None,
    reader_func: Callable[[Any], Any] | None = None,
) -> DatasetV2:  # fmt: skip
    """Return the dataset that was saved in a directory."""
    return DatasetV2.load(path, element_spec, compression, reader_func)


def snapshot(
    path: PathLike, compression: str = "AUTO", reader_func: Callable[[Any], Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Transformation:  # fmt: skip
    """Return the transformation that writes elements to a directory the first time, and reads them later."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


# --- writing ----------------------------------------------------------------------------------------------------------

DatasetToTFRecord = op(
    "DatasetToTFRecord(input_dataset:variant, filename:string, compression_type:string) -> () | stateful",
    shape=lambda *given: [],
    gradient=FLAT,
)


@DatasetToTFRecord.kernel
def _(xp: Any, input_dataset: Any, filename: Any, compression_type: Any) -> Any:
    options = TFRecordOptions(compression_type.item().decode())
    with Writer(filename.item().decode(), options) as writer:
        for (record,) in pipe_of(input_dataset).start():
            if record.ndim:
                raise invalid(f"DatasetToTFRecordOp currently only supports scalar elements, got shape {record.shape}")
            writer.write(record.item())
    return ()


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file."""

    def __init__(self, filename: PathLike, compression_type: str | None = None):
        self._filename = convert(filename, dtypes.string, name="filename")
        self._compression = convert(compression_type or "", dtypes.string, name="compression_type")

    def write(self, dataset: DatasetV2) -> Effect:
        """Write all elements; in a graph, return the operation that does."""
        if not isinstance(dataset, DatasetV2):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        types = structure.flat_types(dataset.element_spec)
        if types != [dtypes.string] or structure.flat_dims(dataset.element_spec)[0] not in ((), None):
            raise TypeError(
                f"Invalid `dataset`. Expected a `dataset` that produces scalar `tf.string` elements, but got a dataset "
                f"which produces elements with spec {dataset.element_spec}."
            )
        return DatasetToTFRecord(dataset._variant_tensor, self._filename, self._compression)
