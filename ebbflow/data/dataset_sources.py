"""Datasets from nothing but values: the part of `tf.data.Dataset` that makes one."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, merge_dims
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.data import file_ops, random_words, selecting, sources, structure
from ebbflow.data.generator import generator_functions
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.ops.random.seeds import get_seed


def dataset_seeds(seed: Any) -> tuple[Any, Any]:
    """Return the two seeds of a dataset asked for with one (or None): zeros where it is not seeded."""
    first, second = _seeds(seed)
    return convert(first, dtypes.int64, name="seed"), convert(second, dtypes.int64, name="seed2")


def _seeds(seed: Any) -> tuple[Any, Any]:
    if seed is not None and not isinstance(seed, (int, np.integer)):
        return np.int64(0), convert(seed, dtypes.int64)
    first, second = get_seed(None if seed is None else int(seed))
    if first is None:
        return np.int64(0), np.int64(0)
    if first == 0 and second == 0:
        second = 2**31 - 1
    return np.int64(first), np.int64(second)


def kept_seeds() -> bool:
    """Return whether seeds for iterations are kept outside of the op: where datasets outlive a run."""
    graph = context.current_graph()
    return context.switches.v2_behavior and (graph is None or graph.building_function)


def as_int64(value: Any, name: str) -> Any:
    """Return a count as a tensor."""
    if value.__class__ is int and not context.graph_scopes:
        return _number(value)
    return convert(value, dtypes.int64, name=name)


@functools.lru_cache(256)
def _number(value: int) -> Tensor:
    """Return a count as a tensor that the ops of many datasets share."""
    return convert(value, dtypes.int64)


class Making:
    """How datasets are made of values."""

    _make: Any

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Any:
        """Return a dataset of one element: `tensors`."""
        element = structure.normalised(tensors)
        spec = structure.spec_of(element)
        return cls._make(
            sources.TensorDataset, structure.to_tensors(spec, element), spec=spec, kind="_TensorDataset", name=name
        )

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Any:
        """Return a dataset of the rows of `tensors`.

        >>> import ebbflow as tf
        >>> [int(x) for x in tf.data.Dataset.from_tensor_slices([1, 2, 3])]
        [1, 2, 3]
        """
        element = structure.normalised(tensors)
        whole = structure.spec_of(element)
        rows: Any = None
        if not structure.flat_specs(whole):
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        for i, spec in enumerate(structure.flat_specs(whole)):
            dims = getattr(spec, "shape", TensorShape(None))._dims
            if dims == ():
                raise ValueError(
                    f"Unbatching a tensor is only supported for rank >= 1: component {i} of `tensors` is a scalar"
                )
            try:
                rows = merge_dims(rows, None if dims is None else dims[:1])
            except ValueError:
                raise ValueError(f"Dimensions {rows[0]} and {dims[0]} are not compatible") from None  # type: ignore[index]
        tensors = structure.rows_to_tensors(whole, element)
        return cls._make(
            sources.TensorSliceDataset, tensors, spec=structure.unbatched(whole), kind="_TensorSliceDataset", name=name
        )

    @classmethod
    def range(cls, *args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Any:
        """Return a dataset of the numbers of a range: stop, or start and stop, or start, stop and step."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        start, stop, step = [(0, *args, 1), (*args, 1), args][len(args) - 1]
        spec = TensorSpec([], dtypes.as_dtype(output_type))
        numbers = [as_int64(x, word) for x, word in ((start, "start"), (stop, "stop"), (step, "step"))]
        return cls._make(sources.RangeDataset, *numbers, spec=spec, kind="_RangeDataset", name=name)

    @classmethod
    def _counted(cls, start: Any) -> Any:
        """Return the numbers from `start` on; workers that share a dataset have all of them each."""
        numbers = [as_int64(x, word) for x, word in ((start, "start"), (np.iinfo(np.int64).max, "stop"), (1, "step"))]
        spec = TensorSpec([], dtypes.int64)
        return cls._make(sources.RangeDataset, *numbers, spec=spec, kind="_RangeDataset", replicate_on_split=True)

    @classmethod
    def counter(cls, start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None) -> Any:
        """Return the numbers from `start` on, without end."""
        dtype = dtypes.as_dtype(dtype)
        first, by = convert(start, dtype), convert(step, dtype)
        return cls.from_tensors(0, name).repeat().scan(first, lambda state, _: (state + by, state))

    @classmethod
    def random(cls, seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None) -> Any:
        """Return random numbers in [0, 2**32), without end."""
        seeds, spec = dataset_seeds(seed), TensorSpec([], dtypes.int64)
        if not rerandomize_each_iteration:
            return cls._make(sources.RandomDataset, *seeds, spec=spec, kind="_RandomDataset", name=name)
        generator = random_words.DummySeedGenerator()
        return cls._make(
            sources.RandomDatasetV2, *seeds, generator, spec=spec, kind="_RandomDataset", name=name,
            rerandomize_each_iteration=True,
        )  # fmt: skip

    @classmethod
    def from_generator(
        cls,
        generator: Any,
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Any:
        """Return a dataset of what `generator(*args)` yields, called anew for each iteration.

        >>> import ebbflow as tf
        >>> dataset = tf.data.Dataset.from_generator(lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.int32))
        >>> [int(x) for x in dataset]
        [1, 2]
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is not None:
            if output_types is not None or output_shapes is not None:
                raise TypeError(
                    "The `output_types` and `output_shapes` arguments can not be used together with the "
                    "`output_signature` argument."
                )
            for leaf in structure.flatten(output_signature):
                if not hasattr(leaf, "_is_dense"):
                    raise TypeError(
                        "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                        f"{type(leaf)} which is not."
                    )
            spec = output_signature
        elif output_types is None:
            raise TypeError(
                "To specify the output signature you need to provide either the `output_signature` "
                "argument or the `output_types` argument."
            )
        else:
            spec = structure.from_legacy(output_types, output_shapes)
        functions = generator_functions(generator, spec, [convert(a) for a in args or ()])
        return cls._make(
            sources.GeneratorDataset, *[f.captured for f in functions], spec=spec, kind="_FlatMapDataset", name=name,
            init_func=functions[0].body, next_func=functions[1].body, finalize_func=functions[2].body,
        )  # fmt: skip

    @classmethod
    def list_files(
        cls, file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> Any:
        """Return the names of files that match a pattern (or several), in random order unless `shuffle` is False."""
        with name_scope("list_files"):
            patterns = convert(file_pattern, dtypes.string, name="file_pattern")
            names = file_ops.matching_files(patterns)
            said = [
                raw.StringJoin(
                    ["No files matched pattern: ", raw.ReduceJoin(raw.Reshape(patterns, [-1]), [0], separator=", ")]
                )
            ]
            with control_dependencies([Assert(raw.Greater(raw.Size(names), 0), said, name="assert_not_empty")]):
                names = raw.Identity(names)
            count = raw.Maximum(raw.Size(names, out_type=dtypes.int64), np.int64(1))
            found = cls.from_tensor_slices(names, name)
            return found if shuffle is False else found.shuffle(count, seed=seed)

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Any:
        """Return tuples (or any structure) of the elements of several datasets, as many as the shortest has."""
        if datasets is None:
            if not args:
                raise TypeError("Must pass at least one dataset to `zip`.")
            datasets = args[0] if len(args) == 1 else args
        elif args:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        flat = structure.flatten(datasets)
        for dataset in flat:
            if not hasattr(type(dataset), "_variant_tensor"):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects"
                    + (
                        ". Python `list` is not supported and you should use `tuple` instead."
                        if isinstance(dataset, list)
                        else f" but encountered object of type {type(dataset)}."
                    )
                )
        spec = structure.pack_as(datasets, [dataset.element_spec for dataset in flat])
        made = cls._make(selecting.ZipDataset, flat, spec=spec, kind="_ZipDataset", name=name, made_of=flat)
        sizes = {dataset._rows_asked for dataset in flat}
        made._rows_asked = sizes.pop() if len(sizes) == 1 else -1
        return made

    @classmethod
    def choose_from_datasets(cls, datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True) -> Any:
        """Return elements of several datasets, each of the one that `choice_dataset` has the number of."""
        datasets = list(datasets)
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if not hasattr(choice_dataset, "_variant_tensor"):
            raise TypeError(
                "Invalid `choice_dataset`. `choice_dataset` should be a `tf.data.Dataset` but is "
                f"{type(choice_dataset)}."
            )
        choice = choice_dataset.element_spec
        if (
            not isinstance(choice, TensorSpec)
            or choice.shape._dims not in ((), None)
            or choice.dtype is not dtypes.int64
        ):
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors "
                f"but are {choice}."
            )
        return cls._directed(choice_dataset, datasets, stop_on_empty_dataset)

    @classmethod
    def _directed(cls, selector: Any, datasets: Any, stops: bool) -> Any:
        spec = datasets[0].element_spec
        for other in datasets[1:]:
            spec = common_elements(spec, other.element_spec, "datasets")
        return cls._make(
            selecting.DirectedInterleaveDataset, selector._variant_tensor, [d._variant_tensor for d in datasets],
            spec=spec, kind="_DirectedInterleaveDataset", stop_on_empty_dataset=stops, made_of=[selector, *datasets],
        )  # fmt: skip

    @classmethod
    def sample_from_datasets(
        cls,
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Any:
        """Return elements of several datasets, each of one drawn at random by `weights`."""
        datasets = list(datasets)
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        numbers = cls.random(seed, rerandomize_each_iteration).batch(2)
        if hasattr(weights, "_variant_tensor"):
            logits = weights.map(lambda *parts: raw.Log(convert(parts[0] if len(parts) == 1 else list(parts))))
            chosen = cls.zip((logits, numbers)).map(lambda row, pair: _drawn([row], pair))
            return cls._directed(chosen, datasets, stop_on_empty_dataset)
        if weights is None:
            weights = [1.0] * len(datasets)
            logs: Any = np.ones([1, len(datasets)], np.float32)
        else:
            datasets, logs = _weighted(datasets, weights)
        if len(datasets) == 1:
            return datasets[0]
        return cls._directed(numbers.map(lambda pair: _drawn(logs, pair)), datasets, stop_on_empty_dataset)


def _weighted(datasets: list[Any], weights: Any) -> tuple[list[Any], Any]:
    """Return the datasets that can be drawn, and the logarithms of their weights as a row."""
    count = len(weights) if isinstance(weights, (list, tuple, np.ndarray)) else convert(weights)._dims[0]
    if count != len(datasets):
        raise ValueError(
            "Invalid `weights`. `weights` should have the same length as `datasets` but got "
            f"`len(weights)={count}` vs. `len(datasets)={len(datasets)}`."
        )
    if isinstance(weights, (list, tuple, np.ndarray)):
        kept = [(d, w) for d, w in zip(datasets, weights, strict=True) if w > 0]
        datasets = [d for d, _ in kept] or [datasets[0].take(0)]
        weights = [w for _, w in kept] or [1.0]
    found = convert(weights, name="weights")
    if found.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(
            f"Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is {found.dtype}."
        )
    return datasets, raw.ExpandDims(raw.Log(found), 0)


def _drawn(logits: Any, pair: Any) -> Any:
    return raw.Squeeze(raw.StatelessMultinomial(logits, 1, pair), squeeze_dims=[0, 1])


def common_elements(first: Any, second: Any, what: str) -> Any:
    """Return the spec that the elements of two datasets have in common, or refuse."""
    try:
        structure.assert_same(first, second)
        return structure.map_structure(_common, first, second)
    except (TypeError, ValueError) as error:
        raise TypeError(f"Incompatible dataset elements of `{what}`:\n  {first} vs.   {second}.\n{error}") from None


def _common(a: Any, b: Any) -> Any:
    if isinstance(a, TensorSpec) and isinstance(b, TensorSpec) and a.dtype is b.dtype:
        return TensorSpec(a.shape.most_specific_compatible_shape(b.shape), a.dtype)
    found = a.most_specific_common_supertype([b])
    if found is None:
        raise ValueError(f"Incompatible types: {a} vs {b}")
    return found
