"""`tf.train.CheckpointOptions`: how checkpoints of objects are written and read."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.checkpoint.sharding import ShardingCallback


class CheckpointOptions:
    """How a checkpoint is written and read.

    `enable_async`: write in the background; what is saved is what the variables are when `save` is called.
    `experimental_write_callbacks`: functions called once a checkpoint is complete, with its path or without arguments.
    `experimental_skip_slot_variables`: restore no slot variables of optimizers.
    `experimental_sharding_callback`: deals the tensors out to several files, as `MaxShardSizePolicy` does.
    `experimental_io_device`: where nodes of a graph that save and restore are placed.
    """

    __slots__ = (
        "enable_async",
        "experimental_enable_async_checkpoint",
        "experimental_io_device",
        "experimental_sharding_callback",
        "experimental_skip_slot_variables",
        "experimental_write_callbacks",
    )

    def __init__(
        self,
        experimental_io_device: str | None = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Sequence[Callable[..., Any]] | None = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: object = None,
    ):
        self.experimental_io_device = experimental_io_device
        self.enable_async = experimental_enable_async_checkpoint or enable_async
        self.experimental_enable_async_checkpoint = self.enable_async
        for callback in experimental_write_callbacks or ():
            if len(inspect.signature(callback).parameters) > 1:
                raise AssertionError(f"A write callback takes the path, or nothing: {callback}")
        self.experimental_write_callbacks = experimental_write_callbacks
        if not isinstance(experimental_sharding_callback, (ShardingCallback, type(None))):
            raise ValueError(
                "The experimental_sharding_callback checkpoint option must be of type ShardingCallback. The option "
                f"provided was of type {type(experimental_sharding_callback)}."
            )
        self.experimental_sharding_callback = experimental_sharding_callback
        self.experimental_skip_slot_variables = experimental_skip_slot_variables

    def __copy__(self) -> CheckpointOptions:
        twin = object.__new__(CheckpointOptions)
        for name in self.__slots__:
            setattr(twin, name, getattr(self, name))
        if self.experimental_write_callbacks is not None:
            twin.experimental_write_callbacks = list(self.experimental_write_callbacks)
        return twin

    def __deepcopy__(self, memo: Any) -> CheckpointOptions:
        twin = copy.copy(self)
        twin.experimental_write_callbacks = copy.deepcopy(self.experimental_write_callbacks, memo)
        return twin

    def written(self, path: str) -> None:
        """Tell the callbacks that a checkpoint is complete."""
        for callback in self.experimental_write_callbacks or ():
            if inspect.signature(callback).parameters:
                callback(path)
            else:
                callback()
