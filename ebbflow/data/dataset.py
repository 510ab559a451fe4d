"""`tf.data.Dataset`: a variant tensor that holds a dataset, and the structure of its elements.

What can be made of values is in `making`, what of other datasets in `transforms` and `functional`; here is what all
datasets have in common: their spec, iteration, size and options. The same class serves where ops run at once and where
a graph is built.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.op import Op
from ebbflow.core.shape import TensorShape
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, Tensor, wrap
from ebbflow.core.typing import Nested, ShapeLike, TensorLike
from ebbflow.data import recipes, selecting, structure
from ebbflow.data import spec as _composites  # noqa: F401  (says how composite elements travel)
from ebbflow.data.dataset_files import Files
from ebbflow.data.dataset_functions import Functional
from ebbflow.data.dataset_sources import Making
from ebbflow.data.dataset_transforms import Transforms
from ebbflow.data.explain import SECONDS, explanation
from ebbflow.data.fingerprint import DatasetFingerprint
from ebbflow.data.iterator import OwnedIterator
from ebbflow.data.iterator_ops import DatasetToSingleElement
from ebbflow.data.options import PROCESSES, ExternalStatePolicy, Options
from ebbflow.data.pipe import INFINITE, UNKNOWN, Pipe, Under, joint, pipe_of
from ebbflow.data.recipes import Recipe
from ebbflow.data.running import DEBUG, USUAL, Run, current
from ebbflow.data.statistics import gathered_by
from ebbflow.data.traced import Traced
from ebbflow.data.written_graphs import DatasetToGraphV2
from ebbflow.ops.declare import raw
from ebbflow.ops.state.storage import boxed
from ebbflow.platform.progress import Progress
from ebbflow.trackable.base import Trackable

_BATCHING = frozenset(["_BatchDataset", "_PaddedBatchDataset", "_ParallelBatchDataset"])
_KEEPING_BATCHES = frozenset(
    f"_{word}Dataset"
    for word in ("AssertCardinality", "Cache", "Filter", "Options", "Prefetch", "Repeat", "Shard", "Shuffle", "Skip",
                 "Take", "TakeWhile")
)  # fmt: skip


@functools.cache
def _saying_elements(op: Op) -> tuple[tuple[str, Any], ...]:
    """Return the attrs by which an op is told what the elements are, each with what it is of a spec."""
    signature = op.signature
    ways = {"output_types": structure.types_of, "Toutput_types": structure.types_of, "output_shapes": structure.dims_of}
    return tuple((k, of) for k, of in ways.items() if k in signature.attrs and k not in signature.inferred)


class DatasetV2(Making, Transforms, Functional, Files, CompositeTensor):
    """A sequence of elements that are made when somebody iterates over them."""

    def __init__(
        self, variant_tensor: TensorLike, element_spec: Nested = None, kind: str = "Dataset", options: Any = None
    ):
        if variant_tensor.__class__ is not EagerTensor or variant_tensor._dtype is not dtypes.variant:
            variant_tensor = convert(variant_tensor, dtypes.variant)
        self._variant_tensor_attr = variant_tensor
        self._spec = element_spec
        self._kind = kind
        self._own_options = options

    @classmethod
    def _family(cls) -> type:
        """Return the class of the datasets that are made of this one's."""
        return DatasetV2

    @classmethod
    def _make(cls, op: Op, *inputs: Any, spec: Any, kind: str, made_of: Sequence[DatasetV2] = (), **attrs: Any) -> Any:
        """Call an op that makes a dataset of elements of a spec, maybe of other datasets, whose options it has."""
        options = made_of[0]._own_options if made_of else None
        for other in made_of[1:]:
            options = joint(options, other._own_options)
        made = cls._of_call(op, inputs, attrs, spec, kind, options)
        made._made_of = tuple(made_of)
        return made

    @classmethod
    def _of_call(
        cls, op: Op, inputs: Sequence[Any], attrs: dict[str, Any], spec: Any, kind: str, options: Options | None
    ) -> DatasetV2:
        """Return the dataset that a call of an op makes: at once, or when it is needed if that is known to go well."""
        family: Any = cls._family()
        call = recipes.described(op, inputs, attrs, family, spec)  # type: ignore[arg-type]
        recipe = None if call is None else recipes.known(call[0])
        if recipe is None:
            made = cls._of_call_now(op, inputs, attrs, spec, kind, options)
            if call is not None:
                made._recipe = recipes.learn(call[0], inputs, attrs, pipe_of(made._variant_tensor_attr._array))
        else:
            made = object.__new__(family)
            made._variant_tensor_attr, made._spec, made._kind, made._own_options = None, spec, kind, options
            made._recipe = recipe
        if made._recipe is not None:
            made._loose = call[1]  # type: ignore[index]
        return made

    @classmethod
    def _of_call_now(
        cls, op: Op, inputs: Sequence[Any], attrs: dict[str, Any], spec: Any, kind: str, options: Options | None
    ) -> Any:
        given = [[*map(_variant_of, x)] if x.__class__ is list else _variant_of(x) for x in inputs]
        attrs = {k: v.body if v.__class__ is Traced else v for k, v in attrs.items()}
        for theirs, of in _saying_elements(op):
            if theirs not in attrs:
                attrs[theirs] = of(spec)
        return cls._family()(op(*given, **attrs), spec, kind, options)

    _recipe: Recipe | None = None
    _loose: Sequence[Any] = ()
    _quick_pipe: Pipe | None = None

    def _then(
        self, op: Op, *inputs: Any, spec: Any = None, kind: str, made_of: Sequence[DatasetV2] = (), **attrs: Any
    ) -> Any:
        """Call an op of this dataset that makes another; without a `spec`, of elements like these."""
        spec = self.element_spec if spec is None else spec
        made = self._make(op, self, *inputs, spec=spec, kind=kind, made_of=made_of or [self], **attrs)
        if kind in _BATCHING:
            known = inputs[0].constant_value()
            made._rows_asked = -1 if known is None else int(known)
            made._batch_size = inputs[0]  # only these have it: that is how Keras knows them
        elif kind in _KEEPING_BATCHES:
            made._rows_asked = self._rows_asked
        return made

    _made_of: tuple[DatasetV2, ...] = ()

    def _inputs(self) -> list[DatasetV2]:
        return list(self._made_of)

    _rows_asked = -1  # what batches were asked to have, while nothing has changed elements since

    @staticmethod
    def _spec_of(element_spec: Any) -> DatasetSpec:
        return DatasetSpec(element_spec)

    @property
    def _variant_tensor(self) -> Any:
        if self._variant_tensor_attr is None:
            pipe = self._recipe.whole_pipe(self._loose)
            self._variant_tensor_attr = wrap(boxed(pipe), dtypes.variant)
        return self._variant_tensor_attr

    def _pipe_to_run(self) -> Pipe | None:
        """Return what goes over the elements where ops run at once; None for the dataset of a graph."""
        if self._recipe is not None and current.run is USUAL:
            if self._quick_pipe is None:
                self._quick_pipe = self._recipe.pipe(self._loose)
            return self._quick_pipe
        variant = self._variant_tensor
        return pipe_of(variant._array) if isinstance(variant, EagerTensor) else None

    @property
    def element_spec(self) -> Nested:
        """The type of an element, as a nested structure of specs."""
        return self._spec

    @property
    def _type_spec(self) -> DatasetSpec:
        held = self._variant_tensor_attr
        return DatasetSpec(self.element_spec, () if held is None else held._dims or ())

    # --- going over elements ------------------------------------------------------------------------------------------

    def __iter__(self) -> OwnedIterator:
        graph = context.current_graph()
        if graph is not None and not graph.building_function:
            raise RuntimeError(
                "`tf.data.Dataset` only supports Python-style iteration in eager mode or within tf.function."
            )
        return OwnedIterator(self)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Return an iterator over elements as NumPy arrays."""
        if not context.executing_eagerly():
            raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
        for leaf in structure.flatten(self.element_spec):
            if not isinstance(leaf, TensorSpec) and leaf.value_type.__name__ not in _AS_ARRAYS:
                raise TypeError(
                    "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type "
                    f"{leaf.value_type}."
                )
        return NumpyIterator(self)

    def fingerprint(self) -> Tensor:
        """Return a number that datasets share which are made by the same calls with the same values.

        >>> import ebbflow as tf
        >>> numbers = tf.data.Dataset.range(3)
        >>> bool(numbers.fingerprint() == tf.data.Dataset.range(3).fingerprint())
        True
        """
        return DatasetFingerprint(self._variant_tensor)

    def get_single_element(self, name: str | None = None) -> Nested:
        """Return the only element of this dataset."""
        spec = self.element_spec
        found = DatasetToSingleElement(self._variant_tensor, name=name, **structure.types_and_shapes(spec))
        return structure.from_tensors(spec, found)

    def progress(self, label: str = "", total: int | None = None) -> Progress:
        """Return a loop over the elements that shows how far it is, how fast it goes and when it will end."""
        return Progress(self, label, total)

    def debug(self) -> DatasetV2:
        """Return these elements, all made in the calling thread, with functions run as Python: one can step into them.

        Nothing is made ahead or side by side, and nothing by the column. Random ops draw other numbers than usual.
        """
        source = self._pipe("debug")
        pipe = Pipe(lambda: Under(source, Run(DEBUG)), source.size, source.options, source.rows)
        pipe.name, pipe.inputs = "Debug", (source,)
        return self._family()(wrap(boxed(pipe), dtypes.variant), self.element_spec, "_DebugDataset", self._own_options)

    def explain(self, seconds: float = SECONDS, elements: int | None = None) -> str:
        """Print and return what was planned, what each stage costs, and advice; the dataset is run for a while."""
        text = explanation(self._pipe("explain"), seconds, elements)
        print(text)
        return text

    def _pipe(self, what: str) -> Pipe:
        if not context.executing_eagerly():
            raise RuntimeError(f"`tf.data.Dataset.{what}()` is only supported in eager mode.")
        return pipe_of(self._variant_tensor._array)

    # --- how many -----------------------------------------------------------------------------------------------------

    def cardinality(self, name: str | None = None) -> Tensor:
        """Return how many elements there are; `tf.data.INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY` for the rest."""
        return selecting.DatasetCardinality(self._variant_tensor, name=name)

    def __len__(self) -> int:
        if not context.executing_eagerly():
            raise TypeError(
                "`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset.cardinality()` instead."
            )
        count = int(self.cardinality())
        if count == INFINITE:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self) -> bool:
        return True

    # --- options ------------------------------------------------------------------------------------------------------

    def options(self) -> Options:
        """Return the options of this dataset and of those it is made of."""
        known = self._known_options()
        return (Options() if known is None else Options().merge(known)).fixed()

    def _known_options(self) -> Options | None:
        if self._own_options is not None:
            return self._own_options
        if self._recipe is not None:
            return self._recipe.options
        return pipe_of(self._variant_tensor._array).options if isinstance(self._variant_tensor, EagerTensor) else None

    def _options(self) -> Tensor:
        return selecting.GetOptions(self._variant_tensor)

    @staticmethod
    def _options_tensor_to_options(serialized_options: Any) -> Options:
        text = serialized_options.numpy() if isinstance(serialized_options, EagerTensor) else serialized_options
        return Options.parsed(text)

    def _as_serialized_graph(
        self,
        stateful_whitelist: Any = None,
        allow_stateful: bool | None = None,
        strip_device_assignment: bool | None = None,
        external_state_policy: ExternalStatePolicy = ExternalStatePolicy.WARN,
    ) -> Tensor:
        """Return the ops that make this dataset, as a GraphDef."""
        return DatasetToGraphV2(
            self._variant_tensor, external_state_policy=external_state_policy.value,
            strip_device_assignment=bool(strip_device_assignment),
        )  # fmt: skip

    def with_options(self, options: Options, name: str | None = None) -> DatasetV2:
        """Return this dataset with some options set."""
        whole = (self._known_options() or _NO_OPTIONS).with_set(options)
        statistics = options._values.get("experimental_stats")
        told = statistics is not None and statistics.aggregator is not None
        made = (gathered_by(self, statistics) if told else self)._then(
            selecting.OptionsDataset, kind="_OptionsDataset", serialized_options=whole.serialized(),
            metadata=PROCESSES if whole.experimental_python_processes else b"", name=name,
        )  # fmt: skip
        made._own_options = whole
        return made

    def __repr__(self) -> str:
        return f"<{self._kind} element_spec={self.element_spec!r}>"

    __str__ = __repr__


_NO_OPTIONS = Options()


def _variant_of(value: Any) -> Any:
    return value._variant_tensor if isinstance(value, DatasetV2) else value


_AS_ARRAYS = {"RaggedTensor", "SparseTensor", "NoneType", "Tensor"}


class NumpyIterator(Trackable):
    """The elements of a dataset as arrays."""

    def __init__(self, dataset: DatasetV2):
        self._iterator = iter(dataset)
        self._dataset = dataset

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator}, dataset={self._dataset})"

    def __iter__(self) -> NumpyIterator:
        return self

    def next(self) -> Any:
        """Return the next element."""
        return next(self)

    def save(self) -> Any:
        """Return where this is, as a value that `restore` of another takes."""
        return self._iterator._save()

    def restore(self, state: Any) -> None:
        """Go on from where `save` was called."""
        self._iterator._restore(state)

    def _trackable_children(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return {"_iterator": self._iterator}

    def __next__(self) -> Any:
        return structure.map_structure(_numpy, next(self._iterator))


def _numpy(leaf: Any) -> Any:
    if isinstance(leaf, SparseTensor):
        return leaf._numpy()
    if leaf is None:
        return None
    found = leaf.numpy()
    if isinstance(found, np.ndarray) and found.flags.writeable:
        found.flags.writeable = False
    return found


class DatasetSpec(TypeSpec):
    """The type of a dataset: that of its elements."""

    __slots__ = ("_dataset_shape", "_element_spec")

    def __init__(self, element_spec: Nested, dataset_shape: ShapeLike = ()):
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @classmethod
    def from_value(cls, value: Any) -> DatasetSpec:
        """Return the type of a dataset."""
        return cls(value.element_spec)

    @property
    def element_spec(self) -> Nested:
        """The type of an element."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        return DatasetV2

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec(self._dataset_shape, dtypes.variant)]

    def _to_components(self, value: Any) -> list[Any]:
        return [value._variant_tensor]

    def _from_components(self, components: Any) -> Any:
        return DatasetV2(components[0], self._element_spec, "_VariantDataset")

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    def is_compatible_with(self, other: object) -> bool:
        """Return whether a dataset of the other type can stand where this one is asked for."""
        spec = other if isinstance(other, DatasetSpec) else getattr(other, "_type_spec", None)
        return isinstance(spec, DatasetSpec) and _alike(
            self._element_spec, spec._element_spec, lambda a, b: a.is_compatible_with(b)
        )

    def is_subtype_of(self, other: object) -> bool:
        """Return whether every dataset of this type is of the other type too."""
        return (
            isinstance(other, DatasetSpec)
            and self._dataset_shape.is_subtype_of(other._dataset_shape)
            and _alike(self._element_spec, other._element_spec, lambda a, b: a.is_subtype_of(b))
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> DatasetSpec | None:
        """Return the narrowest type that this and all `others` belong to, or None."""
        found = common_structure(DatasetSpec, self, others)
        shape = self._dataset_shape.most_specific_common_supertype([each._dataset_shape for each in others if found])
        return None if found is None or shape is None else DatasetSpec(found._element_spec, shape)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DatasetSpec)
            and self._dataset_shape._dims == other._dataset_shape._dims
            and same_structure(self._element_spec, other._element_spec)
        )

    def __hash__(self) -> int:
        return hash((DatasetSpec, tuple(structure.flatten(self._element_spec))))

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._dataset_shape!r})"


def _alike(a: Any, b: Any, test: Any) -> bool:
    try:
        structure.assert_same(a, b)
    except TypeError:
        return False
    leaves = zip(structure.flatten(a), structure.flatten(b), strict=True)
    return all(x is y if x is None or y is None else test(x, y) for x, y in leaves)


def are_compatible(spec1: Any, spec2: Any) -> bool:
    """Return whether elements of one spec may stand for those of another: in structure, and leaf by leaf."""
    return _alike(spec1, spec2, lambda a, b: a.is_compatible_with(b))


def same_structure(a: Any, b: Any) -> bool:
    """Return whether two element specs are equal, structure and leaves."""
    return _alike(a, b, lambda x, y: x == y)


def common_structure(kind: Any, spec: Any, others: Any) -> Any:
    """Return the narrowest spec (of datasets, iterators) that all belong to, or None."""
    found = spec._element_spec
    for other in others:
        if not isinstance(other, kind) or not _alike(found, other._element_spec, lambda a, b: True):
            return None
        leaves = [
            a if a is None else a.most_specific_common_supertype([b])
            for a, b in zip(structure.flatten(found), structure.flatten(other._element_spec), strict=True)
        ]
        if any(leaf is None and a is not None for leaf, a in zip(leaves, structure.flatten(found), strict=True)):
            return None
        found = structure.pack_as(found, leaves)
    return kind(found)


def _several_of(spec: DatasetSpec, count: int | None) -> DatasetSpec:
    return DatasetSpec(spec._element_spec, [count, *spec._dataset_shape])


def _one_of_several(spec: DatasetSpec) -> DatasetSpec:
    if not spec._dataset_shape.rank:
        raise TypeError(f"A single dataset has no rows to be sliced into: got {spec!r}. Use `flat_map` over it")
    return DatasetSpec(spec._element_spec, spec._dataset_shape[1:])


def _several(datasets: list[Any]) -> Any:
    """Return datasets in a list as one value, whose rows they are; None where they are no datasets of one type."""
    if not datasets or not all(isinstance(each, DatasetV2) for each in datasets):
        return None
    if not all(same_structure(each.element_spec, datasets[0].element_spec) for each in datasets):
        return None
    variants = [each._variant_tensor for each in datasets]
    return DatasetSpec(datasets[0].element_spec, [len(datasets)])._from_components([raw.Pack(variants)])


structure.several.append(_several)


structure.register(
    DatasetSpec,
    structure.Leaf(
        dtype=lambda spec: dtypes.variant,
        dims=lambda spec: spec._dataset_shape._dims,
        pack=lambda spec, value: value._variant_tensor,
        open=lambda spec, tensor: spec._from_components([tensor]),
        batch=_several_of,
        unbatch=_one_of_several,
        pack_rows=lambda spec, value: value._variant_tensor,
    ),
)
