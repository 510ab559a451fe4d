"""What functions of elements make of a dataset: `tf.data.Dataset` as far as it maps, filters, groups and reduces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.data import mapping, structure
from ebbflow.data.background import width_of
from ebbflow.data.dataset_transforms import as_int64, certainty
from ebbflow.data.traced import Traced, as_condition, trace, traced_scan
from ebbflow.ops.declare import raw


class Functional:
    """What functions make of datasets."""

    _recipe: Any
    _then: Any
    _spec_of: Any
    _variant_tensor: Any
    element_spec: Any

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Any:
        """Return what a function gives for each element."""
        made = trace(map_func, [self.element_spec], "map", None, self._recipe)
        if num_parallel_calls is None:
            return self._then(
                mapping.MapDataset, made.captured, f=made, spec=made.spec, kind="_MapDataset", name=name,
                preserve_cardinality=True, force_synchronous=bool(synchronous),
            )  # fmt: skip
        calls = as_int64(num_parallel_calls, "num_parallel_calls")
        return self._then(
            mapping.ParallelMapDatasetV2, made.captured, calls, f=made, spec=made.spec, name=name,
            kind="_ParallelMapDataset", deterministic=certainty(deterministic), preserve_cardinality=True,
            use_unbounded_threadpool=use_unbounded_threadpool,
        )  # fmt: skip

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """Return the elements for which a function holds."""
        made = trace(predicate, [self.element_spec], "filter", as_condition, self._recipe)
        return self._then(mapping.FilterDataset, made.captured, predicate=made, kind="_FilterDataset", name=name)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """Return the elements before the first for which a function does not hold."""
        made = trace(predicate, [self.element_spec], "take_while", as_condition)
        return self._then(
            mapping.TakeWhileDataset, made.captured, predicate=made.body, kind="_TakeWhileDataset", name=name
        )

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Any:
        """Return the elements of the datasets that a function makes of elements, one dataset after the other."""
        made = trace(map_func, [self.element_spec], "flat_map", _a_dataset, self._recipe)
        return self._then(
            mapping.FlatMapDataset, made.captured, f=made, spec=made.spec.element_spec, kind="_FlatMapDataset",
            name=name,
        )  # fmt: skip

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """Return the elements of the datasets that a function makes of elements, of `cycle_length` of them in turn."""
        made = trace(map_func, [self.element_spec], "interleave", _a_dataset)
        words: dict[str, Any] = {"f": made.body, "spec": made.spec.element_spec, "name": name}
        block = as_int64(1 if block_length is None else block_length, "block_length")
        if num_parallel_calls is None:
            cycle = as_int64(width_of(-1) if cycle_length is None else cycle_length, "cycle_length")
            return self._then(
                mapping.InterleaveDataset, made.captured, cycle, block, kind="_InterleaveDataset", **words
            )
        calls = as_int64(num_parallel_calls, "num_parallel_calls")
        cycle = as_int64(-1 if cycle_length is None else cycle_length, "cycle_length")
        return self._then(
            mapping.ParallelInterleaveDatasetV4, made.captured, cycle, block, np.int64(-1), np.int64(-1), calls,
            kind="_ParallelInterleaveDataset", deterministic=certainty(deterministic), **words,
        )  # fmt: skip

    # --- with a state -------------------------------------------------------------------------------------------------

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Any:
        """Return what a function of a state and an element gives besides the next state."""
        state = structure.normalised(initial_state)
        made, held, rest = traced_scan(scan_func, state, self.element_spec, "scan_func", _state_and_rest)
        return self._then(
            mapping.ScanDataset, structure.to_tensors(held, state), made.captured, f=made.body, spec=rest[0],
            kind="_ScanDataset", preserve_cardinality=True, name=name,
        )  # fmt: skip

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """Return the state that a function of a state and an element leaves after all elements."""
        with name_scope("initial_state"):
            state = structure.normalised(initial_state)
        made, held, _ = traced_scan(reduce_func, state, self.element_spec, "reduce_func", lambda result: [result])
        found = mapping.ReduceDataset(
            self._variant_tensor, structure.to_tensors(held, state), made.captured, f=made.body, name=name,
            **structure.types_and_shapes(held),
        )  # fmt: skip
        return structure.from_tensors(held, found)

    # --- groups -------------------------------------------------------------------------------------------------------

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Return what a function makes of the datasets of elements with one key, that many at a time."""
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        size_of = window_size_func or (lambda key: convert(window_size, dtypes.int64))
        number = TensorSpec([], dtypes.int64)
        spec = self.element_spec
        key = trace(key_func, [spec], "key_func", _number("key_func"))
        size = trace(size_of, [number], "window_size_func", _number("window_size_func"))
        made = trace(reduce_func, [number, self._spec_of(spec)], "reduce_func", _a_dataset)
        return self._then(
            mapping.GroupByWindowDataset, key.captured, made.captured, size.captured, key_func=key.body,
            reduce_func=made.body, window_size_func=size.body, spec=made.spec.element_spec,
            kind="_GroupByWindowDataset", name=name,
        )  # fmt: skip

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Return padded batches of elements of like lengths: buckets end at the boundaries."""
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError(
                "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                f"`len(bucket_batch_sizes)={len(bucket_batch_sizes)}` and "
                f"`len(bucket_boundaries)={len(bucket_boundaries)}`."
            )
        edges = np.array(bucket_boundaries, np.int64)
        sizes = convert(np.array(bucket_batch_sizes, np.int64))

        def bucket_of(*element: Any) -> Any:
            length = raw.Cast(convert(element_length_func(*element)), DstT=dtypes.int64)
            return raw.Sum(raw.Cast(raw.LessEqual(edges, length), DstT=dtypes.int64), 0)

        def size_of(bucket: Any) -> Any:
            return raw.GatherV2(sizes, bucket, 0)

        def batch(bucket: Any, grouped: Any) -> Any:
            size = size_of(bucket)
            if no_padding:
                return grouped.batch(size, drop_remainder=drop_remainder)
            shapes = padded_shapes
            if pad_to_bucket_boundary:
                words = "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
                raw.Assert(raw.Less(bucket, np.int64(len(edges))), [words])
                longest = raw.GatherV2(np.array([*edges, 0], np.int64), bucket, 0) - 1
                shapes = _up_to(grouped.element_spec if shapes is None else shapes, longest)
            return grouped.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

        return self.group_by_window(bucket_of, batch, window_size_func=size_of, name=name)

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: Any = None,
        name: str | None = None,
    ) -> Any:
        """Return pairs of a class and an element, dropping elements so that classes come as `target_dist` says.

        Without `initial_dist` how often classes come is counted on the way.
        """
        wanted, spec = convert(target_dist, name="target_dist"), self.element_spec

        def labelled(*parts: Any) -> Any:  # of the very element: a second pass over it might be in another order
            return class_func(*parts), structure.pack_as(spec, structure.flatten(parts))

        if initial_dist is None:
            joined = self.map(labelled).scan(raw.ZerosLike(wanted), _counted)
        else:
            share = convert(initial_dist, wanted.dtype)
            joined = self.map(labelled).map(lambda label, element: (label, element, share))

        def kept(pair: Any, number: Any) -> Any:
            label, _, share = pair
            chance = wanted / raw.Maximum(share, np.finfo(wanted.dtype.np).tiny.astype(wanted.dtype.np))
            drawn = raw.Cast(number, DstT=wanted.dtype) * convert(2.0**-32, wanted.dtype)
            return drawn < raw.GatherV2(chance / raw.Max(chance, 0), label, 0)

        family: Any = type(self)
        return family.zip((joined, family.random(seed))).filter(kept).map(lambda pair, number: pair[:2])

    # --- the same elements, travelling otherwise ----------------------------------------------------------------------

    def _as_rows(self) -> Any:
        """Return a dataset whose composite elements are stacks of rows, for `unbatch` to take apart."""
        spec = self.element_spec
        return self._with_spec(spec, lambda leaf: leaf, rows=True)

    def _with_spec(self, spec: Any, change: Callable[[Any], Any], rows: bool = False) -> Any:
        """Return the elements under another spec, of which the leaves are packed as that says."""
        pack = structure.rows_to_tensors if rows else structure.to_tensors

        def flat(*tensors: Any) -> tuple[Any, ...]:
            element = structure.from_tensors(self.element_spec, tensors)
            return tuple(pack(spec, structure.map_structure(change, element)))

        parts = tuple(
            TensorSpec(dims, dtype)
            for dtype, dims in zip(
                structure.flat_types(self.element_spec), structure.flat_dims(self.element_spec), strict=True
            )
        )
        made: Traced = trace(flat, [parts], "map")
        return self._then(
            mapping.MapDataset, made.captured, f=made.body, spec=spec, kind="_MapDataset", preserve_cardinality=True
        )


def _counted(counts: Any, pair: Any) -> Any:
    """Return how often each class has come with this one, and beside class and element their shares."""
    one, none = convert(1, counts.dtype), convert(0, counts.dtype)
    after = counts + raw.OneHot(pair[0], counts._dims[0], one, none)
    return after, (*pair, after / raw.Sum(after, 0))


def _a_dataset(result: Any) -> Any:
    if not hasattr(result, "_variant_tensor"):
        raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {type(result)!r}.")
    return result


def _state_and_rest(result: Any) -> Sequence[Any]:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(
            "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the "
            f"output value but its return type is {type(result)}."
        )
    return result


def _number(name: str) -> Callable[[Any], Any]:
    def as_number(result: Any) -> Any:
        found = result if isinstance(result, Tensor) else convert(result, dtypes.int64)
        if found.dtype is dtypes.int32:
            found = raw.Cast(found, DstT=dtypes.int64)
        if found.dtype is not dtypes.int64 or found._dims not in ((), None):
            raise ValueError(
                f"Invalid `{name}`. `{name}` must return a single `tf.int64` scalar tensor, but it returns "
                f"{structure.spec_of(found)}."
            )
        return found

    return as_number


def _up_to(shapes: Any, longest: Any) -> Any:
    """Return the shapes of elements with a bucket's length where they have none."""

    def filled(leaf: Any) -> Any:
        dims = (leaf.shape if isinstance(leaf, TensorSpec) else leaf)._dims
        return raw.Pack([longest if n is None else convert(n, dtypes.int64) for n in dims]) if dims else dims

    return structure.map_structure(filled, shapes)
