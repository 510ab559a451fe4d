"""Queues that repeat their input: names of files, ranges, slices of tensors, for a number of epochs.

`tf.train.string_input_producer` and its kin: each makes a queue, the operation that fills it and a QueueRunner for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import as_shape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Nested, ShapeLike, TensorLike
from ebbflow.data.file_ops import matching_files
from ebbflow.graph import scopes
from ebbflow.graph.collections import GraphKeys
from ebbflow.ops.arrays.creation import identity
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.ranges import range as range_of
from ebbflow.ops.arrays.shaping import shape
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.ops.random.stateful import random_shuffle
from ebbflow.state.base import VariableV1
from ebbflow.state.queues.queue import FIFOQueue
from ebbflow.summary import ops as summary
from ebbflow.train.queue_runner import QueueRunner, add_queue_runner

if TYPE_CHECKING:
    from ebbflow.state.base import Variable


NO_EAGER = (
    "Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data to ingest "
    "data into your model instead."
)


def match_filenames_once(pattern: TensorLike, name: str | None = None) -> Variable:
    """Return a local variable that holds the names of the files that match a pattern when it is initialized."""
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return VariableV1(
            initial_value=matching_files(pattern),
            trainable=False,
            name=scope,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


def limit_epochs(tensor: AnyTensor, num_epochs: int | None = None, name: str | None = None) -> Tensor:
    """Return `tensor`, which may be evaluated `num_epochs` times; after that it raises OutOfRangeError."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = VariableV1(
            convert(0, dtypes.int64), name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
        )
        counter = epochs.count_up_to(num_epochs)
        with scopes.control_dependencies([counter]):
            return identity(tensor, name=scope)


def input_producer(
    input_tensor: TensorLike,
    element_shape: ShapeLike = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Nested = None,
) -> FIFOQueue:
    """Return a queue of the rows of a tensor, for a number of epochs (for ever, if None)."""
    _refuse_eager()
    with name_scope(name, "input_producer", [input_tensor]) as scope:
        input_tensor = convert(input_tensor, name="input_tensor")
        element = input_tensor.shape[1:].merge_with(as_shape(element_shape))
        if not element.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be specified"
            )
        if shuffle:
            input_tensor = random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = FIFOQueue(
            capacity, dtypes=[input_tensor.dtype.base_dtype], shapes=[element], shared_name=shared_name, name=scope
        )
        enqueue = queue.enqueue_many([input_tensor])
        add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            summary.scalar(summary_name, raw.Cast(queue.size(), DstT=dtypes.float32) * (1.0 / capacity))
        return queue


def string_input_producer(
    string_tensor: AnyTensor,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Nested = None,
) -> FIFOQueue:
    """Return a queue of strings, such as names of files, for a number of epochs."""
    _refuse_eager()
    words = "string_input_producer requires a non-null input tensor"
    if (
        not isinstance(string_tensor, Tensor)
        and not hasattr(string_tensor, "_as_graph_element")
        and not len(string_tensor)
    ):
        raise ValueError(words)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        string_tensor = convert(string_tensor, dtypes.string)
        with scopes.control_dependencies([Assert(raw.Size(string_tensor) > 0, [words])]):
            string_tensor = identity(string_tensor)
        return input_producer(
            input_tensor=string_tensor, element_shape=[], num_epochs=num_epochs, shuffle=shuffle, seed=seed,
            capacity=capacity, shared_name=shared_name, name=scope, summary_name=f"fraction_of_{capacity}_full",
            cancel_op=cancel_op,
        )  # fmt: skip


def range_input_producer(
    limit: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """Return a queue of the integers from 0 to `limit` - 1, for a number of epochs."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            range_of(limit), [], num_epochs, shuffle, seed, capacity, shared_name, f"fraction_of_{capacity}_full", scope
        )


def slice_input_producer(
    tensor_list: Sequence[TensorLike],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Return one row of each of several tensors, the same number for all, another one at each run."""
    with name_scope(name, "input_producer", tensor_list):
        tensors = [convert(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        rows = shape(tensors[0])[0]
        queue = range_input_producer(rows, num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [gather(t, index) for t in tensors]


def _refuse_eager() -> None:
    if context.executing_eagerly():
        raise RuntimeError(NO_EAGER)
