"""What an Estimator of early `tf.contrib.learn` remembered of its inputs, tensor by tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ebbflow.core import dtypes
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.graph.placeholders import placeholder, sparse_placeholder
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.parsing.examples import parse_example_v1
from ebbflow.ops.parsing.features import FixedLenFeature, VarLenFeature


class TensorSignature(NamedTuple("TensorSignature", [("dtype", Any), ("shape", Any), ("is_sparse", bool)])):
    """Dtype, shape and sparseness of a tensor."""

    def __new__(cls, tensor: Any) -> TensorSignature:
        """Return the signature of a tensor."""
        sparse = isinstance(tensor, SparseTensor)
        return super().__new__(cls, tensor.dtype, None if sparse else tensor.shape, sparse)

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether a tensor, or one of another signature, may stand here: of any number of rows."""
        if not isinstance(other, TensorSignature):
            other = TensorSignature(other)
        if self.dtype != other.dtype or self.is_sparse != other.is_sparse:
            return False
        return self.is_sparse or _row(self.shape).is_compatible_with(_row(other.shape))

    def get_placeholder(self) -> Any:
        """Return a placeholder for such a tensor, of any number of rows."""
        if self.is_sparse:
            return sparse_placeholder(self.dtype)
        return placeholder(self.dtype, self.shape if self.shape.rank is None else [None, *self.shape[1:]])

    def get_feature_spec(self) -> Any:
        """Return how such a tensor is read from serialized examples, which know three dtypes."""
        dtype = dtypes.int64 if self.dtype in (dtypes.bool, dtypes.int32) else self.dtype
        dtype = dtypes.float32 if dtype == dtypes.float64 else dtype
        return VarLenFeature(dtype) if self.is_sparse else FixedLenFeature(list(self.shape[1:]), dtype)

    def as_read(self, tensor: Any) -> Any:
        """Return what was read from examples with the dtype of this signature."""
        wanted = tensor if self.dtype == tensor.dtype else cast(tensor, self.dtype)
        return wanted if self.is_sparse else reshape(wanted, [-1, *self.shape.as_list()[1:]])


def _row(shape: Any) -> Any:
    return shape if shape.rank is None else shape[1:]


def tensors_compatible(tensors: Nested, signatures: Nested) -> bool:
    """Return whether tensors fit: one for one, or all that are named among those that are given."""
    if tensors is None or signatures is None:
        return tensors is None and signatures is None
    if isinstance(signatures, Mapping):
        return isinstance(tensors, Mapping) and all(
            name in tensors and signature.is_compatible_with(tensors[name]) for name, signature in signatures.items()
        )
    return not isinstance(tensors, Mapping) and signatures.is_compatible_with(tensors)


def create_signatures(tensors: Nested) -> Nested:
    """Return the signature of a tensor, or of each in a dictionary; None for None."""
    if isinstance(tensors, Mapping):
        return {name: TensorSignature(tensor) for name, tensor in tensors.items()}
    return None if tensors is None else TensorSignature(tensors)


def create_placeholders_from_signatures(signatures: Nested) -> Nested:
    """Return a placeholder for a signature, or for each in a dictionary; None for None."""
    if isinstance(signatures, Mapping):
        return {name: signature.get_placeholder() for name, signature in signatures.items()}
    return None if signatures is None else signatures.get_placeholder()


def create_example_parser_from_signatures(
    signatures: Nested, examples_batch: TensorLike, single_feature_name: str = "feature"
) -> Nested:
    """Return tensors of these signatures, read from serialized examples."""
    named = signatures if isinstance(signatures, Mapping) else {single_feature_name: signatures}
    found = parse_example_v1(examples_batch, {name: signature.get_feature_spec() for name, signature in named.items()})
    read = {name: signature.as_read(found[name]) for name, signature in named.items()}
    return read if isinstance(signatures, Mapping) else read[single_feature_name]
