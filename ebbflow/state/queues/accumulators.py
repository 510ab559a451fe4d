"""`tf.compat.v1.ConditionalAccumulator` and its sparse kin: gradients of several workers, averaged when enough came."""

from __future__ import annotations

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.shape import as_shape
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, Effect, ShapeLike, TensorLike
from ebbflow.ops.declare import raw


class ConditionalAccumulatorBase:
    """What both kinds can do."""

    def __init__(self, dtype: DTypeLike, shape: ShapeLike, accumulator_ref: AnyTensor):
        self._dtype, self._shape, self._accumulator_ref = as_dtype(dtype), as_shape(shape), accumulator_ref
        eager = getattr(accumulator_ref, "_array", None) is not None
        self._name = "accumulator" if eager else accumulator_ref.op.name.split("/")[-1]

    @property
    def accumulator_ref(self) -> Tensor:
        """The tensor that stands for the accumulator."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the accumulator's node."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The dtype of gradients."""
        return self._dtype

    _PREFIX = "Resource"

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """Return how many gradients have come since the last were taken."""
        count = getattr(raw, f"{self._PREFIX}AccumulatorNumAccumulated")
        return count(self._accumulator_ref, name=name or f"{self._name}_NumAccumulated")

    def set_global_step(self, new_global_step: TensorLike, name: str | None = None) -> Effect:
        """Return the operation that goes on to a step: gradients of earlier ones are dropped."""
        step = raw.Cast(new_global_step, DstT=dtypes.int64)
        set_step = getattr(raw, f"{self._PREFIX}AccumulatorSetGlobalStep")
        return set_step(self._accumulator_ref, step, name=name or f"{self._name}_SetGlobalStep")


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Averages (or sums) gradients of one shape."""

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ):
        reference = raw.ResourceConditionalAccumulator(
            dtype=as_dtype(dtype), shape=shape, shared_name=shared_name or "", name=name, reduction_type=reduction_type
        )
        super().__init__(dtype, shape, reference)

    def apply_grad(self, grad: TensorLike, local_step: TensorLike = 0, name: str | None = None) -> Effect:
        """Return the operation that adds a gradient, unless its step has passed."""
        grad = convert(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        step = raw.Cast(local_step, DstT=dtypes.int64)
        return raw.ResourceAccumulatorApplyGradient(self._accumulator_ref, step, grad, name=name)

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> Tensor:
        """Return the mean of the gradients, waiting until at least `num_required` have come."""
        mean = raw.ResourceAccumulatorTakeGradient(self._accumulator_ref, num_required, dtype=self._dtype, name=name)
        if getattr(mean, "_array", None) is None:
            mean.set_shape(self._shape)
        return mean


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Averages (or sums) gradients that are rows, given as indices and values."""

    _PREFIX = ""

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ):
        reference = raw.SparseConditionalAccumulator(
            dtype=as_dtype(dtype), shape=shape, shared_name=shared_name or "", name=name, reduction_type=reduction_type
        )
        super().__init__(dtype, shape, reference)

    def apply_indexed_slices_grad(self, grad: AnyTensor, local_step: AnyTensor = 0, name: str | None = None) -> Effect:
        """Return the operation that adds a gradient given as IndexedSlices."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self,
        grad_indices: TensorLike,
        grad_values: TensorLike,
        grad_shape: ShapeLike = None,
        local_step: TensorLike = 0,
        name: str | None = None,
    ) -> Effect:
        """Return the operation that adds rows, unless their step has passed."""
        return raw.SparseAccumulatorApplyGradient(
            self._accumulator_ref,
            raw.Cast(local_step, DstT=dtypes.int64),
            raw.Cast(grad_indices, DstT=dtypes.int64),
            convert(grad_values, self._dtype),
            convert([], dtypes.int64) if grad_shape is None else raw.Cast(grad_shape, DstT=dtypes.int64),
            has_known_shape=grad_shape is not None,
            name=name,
        )

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> IndexedSlices:
        """Return indices, values and shape of the mean, waiting until at least `num_required` gradients have come."""
        return raw.SparseAccumulatorTakeGradient(self._accumulator_ref, num_required, dtype=self._dtype, name=name)

    def take_indexed_slices_grad(self, num_required: TensorLike, name: str | None = None) -> IndexedSlices:
        """Return the mean as IndexedSlices."""
        taken = self.take_grad(num_required, name)
        return IndexedSlices(indices=taken.indices, values=taken.values, dense_shape=taken.shape)
