"""The structure of elements: nested tuples and dictionaries of tensors on one side, flat lists of tensors on the other.

Unlike elsewhere a list is no structure here but a tensor to be. A flat tensor stands for each leaf: a dense one for
itself, a variant for what is made of several tensors (sparse, ragged), for a dataset, and for an optional. How these
travel is said by the leaf's spec; `register` adds kinds of leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ebbflow.core import dtypes
from ebbflow.core.composite import BatchableTypeSpec, CompositeTensor, TypeSpec
from ebbflow.core.containers import PLAIN, Kinds, rebuild
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims, TensorShape, from_dims
from ebbflow.core.sparse import SparseTensorValue
from ebbflow.core.spec import TensorSpec
from ebbflow.core.spec_registry import register as register_name
from ebbflow.core.tensor import EagerTensor, Tensor, _new, ndarray


class Leaf(NamedTuple):
    """How values of a spec travel as one tensor."""

    dtype: Callable[[Any], DType]
    dims: Callable[[Any], Dims]
    pack: Callable[[Any, Any], Any]  # (spec, value) -> tensor
    open: Callable[[Any, Any], Any]  # (spec, tensor) -> value
    batch: Callable[[Any, int | None], Any]  # the spec of several of them
    unbatch: Callable[[Any], Any]  # the spec of one of them
    pack_rows: Callable[[Any, Any], Any]  # a batch as a tensor with a row for each


_leaves: dict[type, Leaf] = {}
_inherited: dict[type, Leaf | None] = {}
"""What `_leaves` says of a class of specs or of the nearest one above it."""


def register(kind: type, leaf: Leaf) -> None:
    """Say how values of a kind of spec travel."""
    _leaves[kind] = leaf
    _inherited.clear()


def leaf_of(spec: Any) -> Leaf:
    """Return how values of a spec travel in one tensor."""
    found = _one_tensor(spec)
    if found is None:
        raise TypeError(f"{spec!r} (of type {type(spec).__name__}) cannot be an element of a dataset")
    return found


def _one_tensor(spec: Any) -> Leaf | None:
    """Return how values of a spec travel in one tensor, or None for one that says itself in which tensors they do."""
    kind = spec.__class__
    if kind not in _inherited:
        _inherited[kind] = next((_leaves[cls] for cls in kind.__mro__ if cls in _leaves), None)
    found = _inherited[kind]
    if found is None and not isinstance(spec, TypeSpec):
        raise TypeError(f"{spec!r} (of type {type(spec).__name__}) cannot be an element of a dataset")
    return found


def _batchable(spec: Any) -> Any:
    if not isinstance(spec, BatchableTypeSpec):
        raise TypeError(f"{spec!r} cannot be batched: {type(spec).__qualname__} is no tf.BatchableTypeSpec")
    return spec


def _batched(spec: TensorSpec, count: int | None) -> TensorSpec:
    return TensorSpec(TensorShape([count]).concatenate(spec.shape), spec.dtype)


def _unbatched(spec: TensorSpec) -> TensorSpec:
    dims = spec.shape._dims
    if dims == ():
        raise ValueError(f"Unbatching a tensor is only supported for rank >= 1: got a component of {spec}")
    return TensorSpec(None if dims is None else dims[1:], spec.dtype)


register(
    TensorSpec,
    Leaf(
        dtype=lambda spec: spec.dtype,
        dims=lambda spec: spec.shape._dims,
        pack=lambda spec, value: value,
        open=lambda spec, tensor: tensor,
        batch=_batched,
        unbatch=_unbatched,
        pack_rows=lambda spec, value: value,
    ),
)


@register_name("tf.NoneTensorSpec")
class NoneTensorSpec(TypeSpec):
    """The type of None, which elements may hold. No tensor stands for it."""

    value_type = type(None)
    shape = TensorShape([])

    @property
    def _component_specs(self) -> list[Any]:
        return []

    def _to_components(self, value: Any) -> list[Any]:
        return []

    def _from_components(self, components: Any) -> None:
        return None

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether the other is None, too."""
        return other is None or isinstance(other, NoneTensorSpec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoneTensorSpec)

    def __hash__(self) -> int:
        return hash(NoneTensorSpec)

    def __repr__(self) -> str:
        return "NoneTensorSpec()"


# --- walking ----------------------------------------------------------------------------------------------------------


LEAVES = (list, range, Tensor, CompositeTensor, TypeSpec, TensorShape, ndarray, SparseTensorValue)
KINDS = Kinds(lambda cls: None if issubclass(cls, LEAVES) else PLAIN[cls])
"""How the structures of elements open and close, by class."""


def kind_of(value: Any) -> Any:
    """Return how a structure opens and closes, or None for a leaf."""
    return KINDS[value.__class__]


def is_nested(structure: Any) -> bool:
    """Return whether a value is a structure of others here: a tuple, a dictionary, but no list."""
    return kind_of(structure) is not None


def flatten(structure: Any) -> list[Any]:
    """Return the leaves of a structure in order: lists are leaves, dictionaries go by sorted key."""
    kind = kind_of(structure)
    if kind is None:
        return [structure]
    return [leaf for child in kind.values(structure) for leaf in flatten(child)]


def pack_as(structure: Any, leaves: Sequence[Any]) -> Any:
    """Return leaves in the form of a structure."""
    iterator = iter(leaves)
    made = _packed(structure, iterator)
    if next(iterator, iterator) is not iterator:
        raise ValueError(f"Structure {structure!r} has fewer leaves than the {len(leaves)} that were given")
    return made


def _packed(structure: Any, leaves: Any) -> Any:
    kind = kind_of(structure)
    if kind is None:
        return next(leaves)
    return rebuild(kind, structure, [_packed(child, leaves) for child in kind.values(structure)])


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """Return a structure of what a function gives for each leaf (of several structures of one form)."""
    return pack_as(structures[0], [function(*leaves) for leaves in zip(*map(flatten, structures), strict=True)])


def assert_same(first: Any, second: Any) -> None:
    """Refuse two structures of different form."""
    if form_of(first) != form_of(second):
        raise TypeError(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {first!r}\n\nSecond structure: {second!r}"
        )


def form_of(structure: Any) -> Any:
    """Return what two structures of one form have in common."""
    kind = kind_of(structure)
    if kind is None:
        return None
    cls = dict if isinstance(structure, dict) else type(structure)
    return (cls, tuple(kind.keys(structure)), *[form_of(child) for child in kind.values(structure)])


# --- values -----------------------------------------------------------------------------------------------------------


def normalised(value: Any, like: Any = None) -> Any:
    """Return an element with every leaf a tensor, a composite or None; `like` gives specs to convert by."""
    flat = flatten(value)
    specs = [None] * len(flat) if like is None else flatten(like)
    with name_scope("normalize_element"):
        return pack_as(value, [_value(leaf, spec, i) for i, (leaf, spec) in enumerate(zip(flat, specs, strict=True))])


def _value(leaf: Any, spec: Any, index: int) -> Any:
    if leaf is None or isinstance(leaf, CompositeTensor) or (leaf.__class__ is EagerTensor and spec is None):
        return leaf
    if isinstance(leaf, tuple(converters)):
        return converters[next(cls for cls in converters if isinstance(leaf, cls))](leaf)
    if leaf.__class__ is list and leaf and isinstance(leaf[0], CompositeTensor):
        found = next((made for made in (join(leaf) for join in several) if made is not None), None)
        if found is not None:
            return found
    return convert(leaf, spec.dtype if isinstance(spec, TensorSpec) else None, name=f"component_{index}")


several: list[Callable[[list[Any]], Any]] = []
"""What makes one value of a list of composites, or None."""

converters: dict[type, Callable[[Any], Any]] = {}
"""What values of some classes become before they are elements."""


def spec_of(value: Any) -> Any:
    """Return the spec of a normalised element."""
    return map_structure(_leaf_spec, value)


def _leaf_spec(leaf: Any) -> Any:
    if leaf is None:
        return NoneTensorSpec()
    if isinstance(leaf, CompositeTensor):
        return leaf._type_spec
    return TensorSpec(leaf.shape, leaf.dtype.base_dtype)


def flat_specs(spec: Any) -> list[Any]:
    """Return the specs of the tensors that stand for an element; what travels as one is told by its own spec."""
    if spec.__class__ is TensorSpec:
        return [spec]
    found: list[Any] = []
    for leaf in flatten(spec):
        if not isinstance(leaf, NoneTensorSpec):
            found += [leaf] if _one_tensor(leaf) is not None else leaf._flat_tensor_specs
    return found


def _leaf_specs(spec: Any) -> list[Any]:
    """Return the specs of the leaves that tensors stand for."""
    return [leaf for leaf in flatten(spec) if not isinstance(leaf, NoneTensorSpec)]


def flat_types(spec: Any) -> list[DType]:
    """Return the dtypes of the flat tensors."""
    return [leaf_of(s).dtype(s) for s in flat_specs(spec)]


def flat_dims(spec: Any) -> list[Dims]:
    """Return the static shapes of the flat tensors."""
    return [leaf_of(s).dims(s) for s in flat_specs(spec)]


def types_of(spec: Any) -> tuple[DType, ...]:
    """Return the dtypes of the flat tensors, as one that many calls may share."""
    return (spec._dtype,) if spec.__class__ is TensorSpec else tuple(flat_types(spec))


def dims_of(spec: Any) -> tuple[Dims, ...]:
    """Return the static shapes of the flat tensors, as one that many calls may share."""
    return (spec._shape._dims,) if spec.__class__ is TensorSpec else tuple(flat_dims(spec))


def types_and_shapes(spec: Any) -> dict[str, Any]:
    """Return the attrs by which ops say what the elements are."""
    leaves = [(leaf_of(s), s) for s in flat_specs(spec)]
    return {"output_types": [k.dtype(s) for k, s in leaves], "output_shapes": [k.dims(s) for k, s in leaves]}


def to_tensors(spec: Any, value: Any) -> list[Any]:
    """Return the flat tensors of a normalised element."""
    leaves = [leaf for leaf in flatten(value) if leaf is not None]
    return [t for s, leaf in zip(_leaf_specs(spec), leaves, strict=True) for t in leaf_tensors(s, leaf)]


def leaf_tensors(spec: Any, value: Any) -> list[Any]:
    """Return the tensors that stand for one leaf."""
    leaf = _one_tensor(spec)
    return spec._to_tensor_list(value) if leaf is None else [leaf.pack(spec, value)]


def rows_to_tensors(spec: Any, value: Any) -> list[Any]:
    """Return the flat tensors of a batch of elements, each with a row for each element; `spec` is the batch's."""
    leaves = [leaf for leaf in flatten(value) if leaf is not None]
    return [t for s, leaf in zip(_leaf_specs(spec), leaves, strict=True) for t in _row_tensors(s, leaf)]


def _row_tensors(spec: Any, value: Any) -> list[Any]:
    leaf = _one_tensor(spec)
    return _batchable(spec)._to_batched_tensor_list(value) if leaf is None else [leaf.pack_rows(spec, value)]


def from_tensors(spec: Any, tensors: Sequence[Any]) -> Any:
    """Return the element that flat tensors stand for."""
    given = iter(tensors)
    return pack_as(spec, [None if isinstance(s, NoneTensorSpec) else _open(s, given) for s in flatten(spec)])


def _open(spec: Any, tensors: Iterator[Any]) -> Any:
    leaf = _one_tensor(spec)
    if leaf is None:
        return spec._from_compatible_tensor_list([next(tensors) for _ in spec._flat_tensor_specs])
    return leaf.open(spec, next(tensors))


def batched(spec: Any, count: int | None) -> Any:
    """Return the spec of a batch of elements."""
    return map_structure(lambda s: s if isinstance(s, NoneTensorSpec) else _batch_of(s, count), spec)


def _batch_of(spec: Any, count: int | None) -> Any:
    leaf = _one_tensor(spec)
    return _batchable(spec)._batch(count) if leaf is None else leaf.batch(spec, count)


def unbatched(spec: Any) -> Any:
    """Return the spec of one row of elements."""
    return map_structure(lambda s: s if isinstance(s, NoneTensorSpec) else _row_of(s), spec)


def _row_of(spec: Any) -> Any:
    leaf = _one_tensor(spec)
    return _batchable(spec)._unbatch() if leaf is None else leaf.unbatch(spec)


def opener(spec: Any) -> Callable[[Sequence[Any]], Any]:
    """Return the function from the arrays of an element to what the user gets: eager tensors in their structure."""
    types = flat_types(spec)
    if isinstance(spec, TensorSpec):
        return lambda arrays: _tensor(arrays[0], types[0])
    if type(spec) is tuple and all(isinstance(s, TensorSpec) for s in spec):
        return lambda arrays: tuple([_tensor(a, t) for a, t in zip(arrays, types, strict=True)])
    if type(spec) is dict and all(isinstance(s, TensorSpec) for s in spec.values()):  # the logs of Keras's steps
        places = dict(zip(PLAIN[dict].keys(spec), range(len(spec)), strict=True))  # type: ignore[union-attr]
        given = [(key, places[key], types[places[key]]) for key in spec]
        return lambda arrays: {key: _tensor(arrays[i], dtype) for key, i, dtype in given}
    return lambda arrays: from_tensors(spec, [_tensor(a, t) for a, t in zip(arrays, types, strict=True)])


def _tensor(array: Any, dtype: DType) -> EagerTensor:
    tensor = _new(EagerTensor)
    tensor._array = array
    tensor._dtype = dtype
    return tensor


# --- types, shapes and classes, as TF 1 has them ----------------------------------------------------------------------


def legacy_types(spec: Any) -> Any:
    """Return a structure of dtypes."""
    return map_structure(lambda s: getattr(s, "dtype", dtypes.variant), spec)


def legacy_shapes(spec: Any) -> Any:
    """Return a structure of shapes."""
    return map_structure(lambda s: s.shape if hasattr(s, "shape") else from_dims(()), spec)


def legacy_classes(spec: Any) -> Any:
    """Return a structure of classes."""
    return map_structure(lambda s: s.value_type, spec)


def from_legacy(types: Any, shapes: Any = None, classes: Any = None) -> Any:
    """Return the spec for structures of dtypes, shapes (unknown where not given) and classes (tensors)."""
    flat = [dtypes.as_dtype(t) for t in flatten(types)]
    given = [TensorShape(None)] * len(flat) if shapes is None else _flat_shapes(types, shapes)
    kinds = [Tensor] * len(flat) if classes is None else flatten(classes)
    made = []
    for dtype, shape, kind in zip(flat, given, kinds, strict=True):
        made.append(kind if isinstance(kind, TypeSpec) else by_class.get(kind, TensorSpec)(shape, dtype))
    return pack_as(types, made)


by_class: dict[type, Callable[[Any, Any], Any]] = {}
"""The specs by the class of the value, for those that are no tensors: (shape, dtype) -> spec."""


def _flat_shapes(types: Any, shapes: Any) -> list[Any]:
    """Return the shapes beside a structure of dtypes: a tuple or list of numbers in it is a shape."""
    kind = kind_of(types)
    if kind is None:
        return [TensorShape(shapes)]
    children = list(kind.values(types))
    inside = kind_of(shapes)
    given = list(shapes) if isinstance(shapes, list) else [] if inside is None else list(inside.values(shapes))
    if len(given) != len(children):
        raise TypeError(f"The shapes {shapes!r} do not have the structure of the types {types!r}")
    return [s for child, shape in zip(children, given, strict=True) for s in _flat_shapes(child, shape)]
