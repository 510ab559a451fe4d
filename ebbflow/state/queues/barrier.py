"""`Barrier` of `tensorflow.python.ops.data_flow_ops`: tuples whose components come at different times, by key."""

from __future__ import annotations

from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.shape import as_shape
from ebbflow.core.tensor import Tensor
from ebbflow.ops.declare import raw
from ebbflow.state.queues.queue import shapes_of, types_of


class Barrier:
    """Gathers the components of tuples, and gives those that are complete."""

    def __init__(self, types: Any, shapes: Any = None, shared_name: str | None = None, name: str = "barrier"):
        self._types = types_of(types)
        if shapes is not None:
            self._shapes = shapes_of(shapes, len(self._types)) or []
            for i, shape in enumerate(self._shapes):
                if shape.num_elements() == 0:
                    raise ValueError(f"Empty tensors are not supported, but received shape '{shape}' at index {i}")
        else:
            self._shapes = [as_shape(None)] * len(self._types)
        self._barrier_ref = raw.Barrier(
            component_types=self._types,
            shapes=self._shapes if shapes is not None else [],
            shared_name=shared_name or "",
            name=name,
        )
        self._name = self._barrier_ref.op.name.split("/")[-1]

    @property
    def barrier_ref(self) -> Any:
        """The tensor that stands for the barrier."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        """The name of the barrier's node."""
        return self._barrier_ref.op.name

    def insert_many(self, component_index: int, keys: Any, values: Any, name: str | None = None) -> Any:
        """Return the operation that gives one component of some keys."""
        name = f"{self._name}_BarrierInsertMany" if name is None else name
        values = convert(values, self._types[component_index] if component_index < len(self._types) else None)
        return raw.BarrierInsertMany(self._barrier_ref, keys, values, component_index=component_index, name=name)

    def take_many(
        self, num_elements: Any, allow_small_batch: bool = False, timeout: int | None = None, name: str | None = None
    ) -> Any:
        """Return indices, keys and components of complete tuples, waiting until there are enough."""
        if timeout is not None:
            raise ValueError("timeout of take_many is not supported: use tf.RunOptions(timeout_in_ms=…)")
        name = f"{self._name}_BarrierTakeMany" if name is None else name
        taken = raw.BarrierTakeMany(
            self._barrier_ref,
            num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            name=name,
        )
        lead = None if allow_small_batch or not isinstance(num_elements, int) else num_elements
        for tensor in (taken.indices, taken.keys):
            tensor.set_shape([lead])
        for tensor, shape in zip(taken.values, self._shapes, strict=True):
            tensor.set_shape(as_shape([lead]).concatenate(shape))
        return taken

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """Return the operation that closes the barrier: it takes no new keys."""
        name = f"{self._name}_BarrierClose" if name is None else name
        return raw.BarrierClose(self._barrier_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name)

    def ready_size(self, name: str | None = None) -> Tensor:
        """Return how many tuples are complete."""
        name = f"{self._name}_BarrierReadySize" if name is None else name
        return raw.BarrierReadySize(self._barrier_ref, name=name)

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """Return how many tuples lack components."""
        name = f"{self._name}_BarrierIncompleteSize" if name is None else name
        return raw.BarrierIncompleteSize(self._barrier_ref, name=name)
