"""What a dataset can do with directories: the part of `tf.data.Dataset` that saves, loads and takes snapshots."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.data import saved, structure
from ebbflow.data.background import width_of
from ebbflow.data.traced import trace
from ebbflow.graph.symbolic import Operation
from ebbflow.ops.declare import raw


class Files:
    """Datasets in directories."""

    _then: Any
    enumerate: Any
    _make: Any
    _spec_of: Any
    _variant_tensor: Any
    element_spec: Any

    def save(
        self,
        path: Any,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> Operation | None:
        """Write all elements to a directory; `shard_func` says the number of the file that an element goes to.

        With the arguments of a `tf.train.CheckpointManager` it is kept on the way where one was: a later call goes on
        from there. In a graph, return the op that saves.
        """
        name = os.fspath(path)
        sharding = trace(shard_func or _shard_0, [self.element_spec], "shard_func", _number)
        saved.put_spec(name, self.element_spec)
        how: dict[str, Any] = {
            "shard_func": sharding.body, "compression": compression or "", "use_shard_func": shard_func is not None,
        }  # fmt: skip
        if checkpoint_args is None:
            written = saved.SaveDataset(self._variant_tensor, name, sharding.captured, **how)
            return None if context.executing_eagerly() else written
        if not context.executing_eagerly():
            raise ValueError("`checkpoint_args` are only supported where ops run at once.")
        writing = self._then(saved.SaveDatasetV2, name, sharding.captured, kind="_SaveDataset", **how)
        checkpoints = importlib.import_module("ebbflow.checkpoint.iterators")  # a higher room, for the few who ask
        checkpoints.go_to_the_end(iter(writing), checkpoint_args)
        return None

    @classmethod
    def load(
        cls,
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[[Any], Any] | None = None,
        wait: bool = False,
    ) -> Any:
        """Return the dataset that was saved in a directory; `reader_func` makes one of the datasets of its files.

        With `wait`, what somebody is still writing is waited for (`tf.data.experimental.distributed_save`).
        """
        name = os.fspath(path)
        if wait:
            saved.wait_for(name)
        spec = saved.spec_at(name) if element_spec is None else element_spec
        reading = _traced_reader(cls, reader_func, spec)
        return cls._make(
            saved.LoadDataset, name, reading.captured, reader_func=reading.body, spec=spec, kind="_LoadDataset",
            compression=compression or "",
        )  # fmt: skip

    def snapshot(
        self,
        path: Any,
        compression: str = "AUTO",
        reader_func: Callable[[Any], Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Return the elements, written to a directory the first time they are gone through and read from it later."""
        if shard_func is None:  # one for each core, in turn, as TensorFlow has it
            shards, numbered = os.cpu_count() or 1, self.enumerate()
            written = numbered.snapshot(path, compression, reader_func, lambda i, _: i % shards, name)
            return written.map(lambda _, element: element)
        spec = self.element_spec
        reading = _traced_reader(type(self), reader_func, spec)
        sharding = trace(shard_func, [spec], "shard_func", _number)
        return self._then(
            saved.SnapshotDatasetV2, convert(path, dtypes.string), reading.captured, sharding.captured, name=name,
            reader_func=reading.body, shard_func=sharding.body, compression=compression or "", kind="_SnapshotDataset",
        )  # fmt: skip


def _shard_0(*element: Any) -> Any:
    return np.int64(0)


def _number(result: Any) -> Any:
    number = convert(result)
    if not number.dtype.is_integer:
        raise TypeError(f"`shard_func` must return a whole number, got {result!r}")
    return raw.Cast(number, DstT=dtypes.int64)


def _traced_reader(family: Any, reader_func: Callable[[Any], Any] | None, spec: Any) -> Any:
    def in_turn(datasets: Any) -> Any:
        most = np.int64(max(width_of(-1), os.cpu_count() or 1))  # as many as were written by default, here
        shards = raw.Maximum(raw.Minimum(datasets.cardinality(), most), np.int64(1))
        return datasets.interleave(lambda dataset: dataset, cycle_length=shards, num_parallel_calls=-1)

    def checked(result: Any) -> Any:
        if not hasattr(result, "_variant_tensor"):
            raise TypeError(f"`reader_func` must return a `tf.data.Dataset`, got {type(result).__name__}")
        if structure.form_of(result.element_spec) != structure.form_of(spec):
            raise TypeError(f"`reader_func` must return elements of {spec}, got {result.element_spec}")
        return result

    inner = family._spec_of(spec)
    return trace(reader_func or in_turn, [family._spec_of(inner)], "reader_func", checked)
