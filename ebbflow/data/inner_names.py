"""What `tensorflow.python.data.util` offers: structures of elements walked beside each other, arguments as tensors.

Programs and tests reach for these names; inside of this room `structure` does the same. Knows structures and specs;
knows nothing of pipes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core import nest as plain
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape, from_dims
from ebbflow.core.sparse import SparseTensor, SparseTensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.data import spec as _registered  # noqa: F401 (how sparse and ragged tensors travel)
from ebbflow.data import structure
from ebbflow.data.structure import KINDS, flatten, is_nested, map_structure, pack_as
from ebbflow.ops.elementwise.compare import equal, where
from ebbflow.ops.random import seeds

# --- nest -------------------------------------------------------------------------------------------------------------


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raise unless two structures of elements nest alike: ValueError for another form, TypeError for other classes."""
    difference = plain._difference(nest1, nest2, check_types, KINDS)
    if difference is not None:
        error, words = difference
        raise error(
            f"The two structures don't have the same nested structure.\n\nFirst structure: {nest1!r}\n\n"
            f"Second structure: {nest2!r}\n\nMore specifically: {words}"
        )


def map_structure_checked(func: Callable[..., Any], *structures: Any, **check_types_dict: Any) -> Any:
    """Return a structure of what a function gives for the leaves of structures that nest alike."""
    if not callable(func):
        raise TypeError(f"`func` must be callable, got: {func!r}")
    if not structures:
        raise ValueError("Argument `structure` must contain at least one structure.")
    if set(check_types_dict) - {"check_types"}:
        raise ValueError(
            f"Only valid keyword argument for `check_types_dict` is 'check_types'. Got {check_types_dict}."
        )
    for other in structures[1:]:
        assert_same_structure(structures[0], other, **check_types_dict)
    return map_structure(func, *structures)


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """Return leaves in the form of a structure."""
    if isinstance(flat_sequence, str) or not isinstance(flat_sequence, Sequence):
        raise TypeError(f"Argument `flat_sequence` must be a sequence. Got {type(flat_sequence).__name__}.")
    if not is_nested(structure) and len(flat_sequence) != 1:
        raise ValueError(
            "Argument `structure` is a scalar but argument `flat_sequence` has "
            f"{len(flat_sequence)} elements: it must have one."
        )
    count = len(flatten(structure))
    if count != len(flat_sequence):
        raise ValueError(f"The structure has {count} leaves, but {len(flat_sequence)} were given: {flat_sequence!r}")
    return pack_as(structure, flat_sequence)


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> None:
    """Raise unless `input_tree` nests like `shallow_tree`, as deep as that goes."""
    plain._check_shallow(shallow_tree, input_tree, check_types, True, KINDS)


def flatten_up_to(shallow_tree: Any, input_tree: Any) -> list[Any]:
    """Return the subtrees of `input_tree` that stand where `shallow_tree` has leaves."""
    assert_shallow_structure(shallow_tree, input_tree)
    return [subtree for _, subtree in plain._subtrees_with_paths(shallow_tree, input_tree, KINDS, ())]


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any) -> Any:
    """Return what a function gives for the subtrees of structures that stand where `shallow_tree` has leaves."""
    if not inputs:
        raise ValueError("Argument `inputs` is empty. Cannot map over no sequences.")
    columns = [flatten_up_to(shallow_tree, one) for one in inputs]
    return pack_as(shallow_tree, [func(*leaves) for leaves in zip(*columns, strict=True)])


# --- structure --------------------------------------------------------------------------------------------------------


def type_spec_from_value(element: Any) -> Any:
    """Return the spec of an element; what is no tensor yet becomes one."""
    whole = map_structure(lambda leaf: leaf if hasattr(leaf, "_type_spec") or leaf is None else convert(leaf), element)
    return structure.spec_of(whole)


def get_flat_tensor_shapes(element_spec: Any) -> list[TensorShape]:
    """Return the static shapes of the tensors that an element travels as."""
    return [from_dims(dims) for dims in structure.flat_dims(element_spec)]


def get_flat_tensor_types(element_spec: Any) -> list[Any]:
    """Return the dtypes of the tensors that an element travels as."""
    return structure.flat_types(element_spec)


def from_tensor_list(element_spec: Any, tensor_list: Sequence[Any]) -> Any:
    """Return the element that tensors stand for."""
    count = len(structure.flat_specs(element_spec))
    if count != len(tensor_list):
        raise ValueError(f"Expected {count} tensors but got {len(tensor_list)}.")
    for tensor, dtype, dims in zip(tensor_list, structure.flat_types(element_spec), structure.flat_dims(element_spec),
                                   strict=True):  # fmt: skip
        if tensor.dtype != dtype:
            raise ValueError(f"A tensor of dtype {tensor.dtype.name} does not stand for one of {dtype.name}")
        if not from_dims(dims).is_compatible_with(tensor.shape):
            raise ValueError(f"A tensor of shape {tensor.shape} does not stand for one of {from_dims(dims)}")
    return structure.from_tensors(element_spec, tensor_list)


def to_tensor_list(element_spec: Any, element: Any) -> list[Any]:
    """Return the tensors that an element travels as."""
    assert_same_structure(element_spec, element)
    for spec, leaf in zip(flatten(element_spec), flatten(element), strict=True):
        if not spec.is_compatible_with(leaf):
            raise ValueError(f"{leaf!r} is not compatible with {spec!r}")
    return structure.to_tensors(element_spec, element)


# --- arguments --------------------------------------------------------------------------------------------------------


def optional_param_to_tensor(
    argument_name: str, argument_value: Any, argument_default: Any = 0, argument_dtype: Any = dtypes.int64
) -> Tensor:
    """Return an argument, or its default where it is None, as a tensor."""
    return convert(argument_default if argument_value is None else argument_value, argument_dtype, name=argument_name)


def partial_shape_to_tensor(shape_like: Any) -> Tensor:
    """Return a shape as a vector, with -1 for lengths that are not known."""
    if isinstance(shape_like, Tensor):
        if shape_like.shape.rank != 1:
            raise ValueError(f"The given shape {shape_like} must be a 1-D tensor of `tf.int64` values.")
        if shape_like.dtype != dtypes.int64:
            raise TypeError(f"The given shape {shape_like} must be a 1-D tensor of `tf.int64` values.")
        return shape_like
    dims = TensorShape(shape_like).as_list() if not isinstance(shape_like, TensorShape) else shape_like.as_list()
    return convert([-1 if n is None else n for n in dims], dtypes.int64)


def get_seed(seed: Any) -> tuple[Tensor, Tensor]:
    """Return the seeds of the program and of an op as tensors; both zero would mean chance, so they never are."""
    first, second = seeds.get_seed(1 if isinstance(seed, Tensor) else seed)
    if not isinstance(seed, Tensor):
        return convert(first or 0, dtypes.int64, name="seed"), convert(second or 0, dtypes.int64, name="seed2")
    most = convert(2**31 - 1, dtypes.int64)
    second = convert(seed, dtypes.int64, name="seed2") % most
    return convert(first, dtypes.int64, name="seed"), second if first else where(equal(second, 0), most, second)


# --- sparse -----------------------------------------------------------------------------------------------------------


def any_sparse(classes: Any) -> bool:
    """Return whether any of the classes of a structure is that of sparse tensors."""
    return any(cls is SparseTensor for cls in flatten(classes))


def as_dense_shapes(shapes: Any, classes: Any) -> Any:
    """Return shapes with none known where the class is that of sparse tensors."""
    return map_structure(lambda s, cls: TensorShape(None) if cls is SparseTensor else s, shapes, classes)


def as_dense_types(types: Any, classes: Any) -> Any:
    """Return dtypes with variants where the class is that of sparse tensors."""
    return map_structure(lambda t, cls: dtypes.variant if cls is SparseTensor else t, types, classes)


def get_classes(tensors: Any) -> Any:
    """Return the class of each tensor of a structure."""
    return map_structure(lambda t: SparseTensor if isinstance(t, SparseTensor) else Tensor, tensors)


def serialize_sparse_tensors(tensors: Any) -> Any:
    """Return a structure with every sparse tensor as one tensor of dtype variant."""
    return map_structure(lambda t: _packed(t, "pack"), tensors)


def serialize_many_sparse_tensors(tensors: Any) -> Any:
    """Return a structure with every batch of sparse tensors as a tensor with a row for each."""
    return map_structure(lambda t: _packed(t, "pack_rows"), tensors)


def _packed(tensor: Any, how: str) -> Any:
    if not isinstance(tensor, SparseTensor):
        return tensor
    spec = tensor._type_spec
    return getattr(structure.leaf_of(spec), how)(spec, tensor)


def deserialize_sparse_tensors(tensors: Any, types: Any, shapes: Any, classes: Any) -> Any:
    """Return what `serialize_sparse_tensors` was given."""

    def opened(tensor: Any, dtype: Any, shape: Any, cls: Any) -> Any:
        if cls is not SparseTensor:
            return tensor
        spec = SparseTensorSpec(shape, dtype)
        return structure.leaf_of(spec).open(spec, tensor)

    return map_structure(opened, tensors, types, shapes, classes)
