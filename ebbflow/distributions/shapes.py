"""Which axes of a tensor are samples, batches and events of a distribution: `_DistributionShape` of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.distributions.argument_checks import pick_vector, rotate_transpose
from ebbflow.graph.scopes import with_dependencies
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape, squeeze
from ebbflow.ops.checks.asserts import assert_non_negative_v1
from ebbflow.ops.checks.shape_asserts import assert_rank_v1
from ebbflow.ops.declare import raw


def _known(value: Any) -> Any:
    found = value.constant_value()
    return None if found is None else int(found)


class DistributionShape:
    """How many axes a batch and an event have; what is left in front of a tensor's axes are samples."""

    def __init__(
        self,
        batch_ndims: TensorLike | None = None,
        event_ndims: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "DistributionShape",
    ):
        for word, value in (("batch_ndims", batch_ndims), ("event_ndims", event_ndims)):
            if value is None:
                raise ValueError(f"{word} cannot be None")
        self._name, self._validate_args = name, validate_args
        with name_scope(name), name_scope("init"):
            self._batch_ndims = self._checked(convert(batch_ndims, name="batch_ndims"))
            self._event_ndims = self._checked(convert(event_ndims, name="event_ndims"))
        self._batch_ndims_static, self._batch_ndims_is_0 = self._known_facts(self._batch_ndims)
        self._event_ndims_static, self._event_ndims_is_0 = self._known_facts(self._event_ndims)

    name = property(lambda self: self._name, doc="The name of its scope.")
    batch_ndims = property(lambda self: self._batch_ndims, doc="How many axes a batch has.")
    event_ndims = property(lambda self: self._event_ndims, doc="How many axes an event has.")
    validate_args = property(lambda self: self._validate_args, doc="Whether numbers are checked in the run.")

    def _checked(self, x: Any) -> Any:
        if x.dtype.base_dtype != dtypes.int32:
            raise TypeError(f"{x.name}.dtype={x.dtype} is not {dtypes.int32}")
        value = x.constant_value()
        if x.shape.rank is not None and value is not None:
            if x.shape.rank:
                raise ValueError(f"{x.name}.ndims={x.shape.rank} is not 0 (scalar)")
            if value < 0:
                raise ValueError(f"{x.name}.value={value} cannot be negative")
        elif self._validate_args:
            return with_dependencies([assert_rank_v1(x, 0), assert_non_negative_v1(x)], x)
        return x

    @staticmethod
    def _known_facts(ndims: Any) -> tuple[int | None, Any]:
        known = _known(ndims)
        return known, raw.Equal(ndims, 0) if known is None else known == 0

    @contextmanager
    def _scope(self, name: str, values: list[Any]) -> Iterator[str]:
        with name_scope(self._name), name_scope(name, None, [*values, self._batch_ndims, self._event_ndims]) as scope:
            yield scope

    def get_ndims(self, x: TensorLike, name: str = "get_ndims") -> Tensor:
        """Return how many axes a tensor has."""
        with self._scope(name, [x]):
            tensor = convert(x, name="x")
            rank = tensor.shape.rank
            return raw.Rank(tensor, name="ndims") if rank is None else convert(rank, dtypes.int32, name="ndims")

    def get_sample_ndims(self, x: TensorLike, name: str = "get_sample_ndims") -> Tensor:
        """Return how many axes of a tensor are samples."""
        with self._scope(name, [x]):
            ndims = self.get_ndims(x, name=name)
            rank, batch, event = _known(ndims), self._batch_ndims_static, self._event_ndims_static
            if rank is not None and batch is not None and event is not None:
                if rank < batch + event:
                    raise ValueError(f"expected batch_ndims({batch}) + event_ndims({event}) <= ndims({rank})")
                return convert(rank - batch - event, dtypes.int32, name="sample_ndims")
            left = ndims - self._batch_ndims - self._event_ndims
            return with_dependencies([assert_non_negative_v1(left)], left) if self._validate_args else left

    def _borders(self, x: Any, name: str) -> list[tuple[Any, Any]]:
        """Return where samples, batches and events begin, and how many axes each has."""
        samples = self.get_sample_ndims(x, name=name)
        zero = convert(0, dtypes.int32)
        starts = [zero, samples, samples + self._batch_ndims]
        return list(zip(starts, (samples, self._batch_ndims, self._event_ndims), strict=True))

    def get_dims(self, x: TensorLike, name: str = "get_dims") -> tuple[Tensor, Tensor, Tensor]:
        """Return the numbers of the axes that are samples, batches and events."""
        with self._scope(name, [x]):
            found = []
            for start, size in self._borders(x, name):
                first, many = _known(start), _known(size)
                if first is None or many is None:
                    found.append(raw.Range(start, start + size, 1))
                else:
                    found.append(convert(list(range(first, first + many)), dtypes.int32))
            return found[0], found[1], found[2]

    def get_shape(self, x: TensorLike, name: str = "get_shape") -> tuple[Tensor, Tensor, Tensor]:
        """Return the shapes of samples, batches and events."""
        with self._scope(name, [x]):
            tensor = convert(x, name="x")
            found = []
            for start, size in self._borders(tensor, name):
                first, many = _known(start), _known(size)
                known = None
                if tensor.shape.rank is not None and first is not None and many is not None:
                    known = tensor.shape.as_list()[first : first + many]
                if known is not None and None not in known:
                    found.append(convert(known, dtypes.int32))
                else:
                    found.append(raw.Slice(raw.Shape(tensor), raw.ExpandDims(start, 0), raw.ExpandDims(size, 0)))
            return found[0], found[1], found[2]

    def make_batch_of_event_sample_matrices(
        self, x: TensorLike, expand_batch_dim: bool = True, name: str = "make_batch_of_event_sample_matrices"
    ) -> tuple[Tensor, Tensor]:
        """Return the tensor with its samples as one axis behind all others, and the samples' shape."""
        with self._scope(name, [x]):
            tensor = convert(x, name="x")
            samples, batch, event = self.get_shape(tensor)
            event = pick_vector(self._event_ndims_is_0, [1], event)
            batch = pick_vector(self._batch_ndims_is_0, [1], batch) if expand_batch_dim else batch
            return rotate_transpose(reshape(tensor, concat([[-1], batch, event], 0)), -1), samples

    def undo_make_batch_of_event_sample_matrices(
        self,
        x: TensorLike,
        sample_shape: TensorLike,
        expand_batch_dim: bool = True,
        name: str = "undo_make_batch_of_event_sample_matrices",
    ) -> Tensor:
        """Return the tensor as it was before its samples became one axis."""
        with self._scope(name, [x, sample_shape]):
            tensor = rotate_transpose(convert(x, name="x"), 1)
            samples = convert(sample_shape, dtypes.int32, name="sample_shape")
            if self._batch_ndims_static is not None and self._event_ndims_static is not None:
                odd = [-1] * self._event_ndims_is_0 + [1] * (self._batch_ndims_is_0 and expand_batch_dim)
                tensor = squeeze(tensor, odd) if odd else tensor
                _, batch, event = self.get_shape(tensor)
            else:
                sizes = raw.Shape(tensor)
                batch = sizes[1 : 1 + self._batch_ndims]
                start = 1 + self._batch_ndims
                if expand_batch_dim:
                    start = raw.SelectV2(self._batch_ndims_is_0, 2, start)
                event = sizes[start : start + self._event_ndims]
            return reshape(tensor, concat([samples, batch, event], 0))
