"""Datasets of LMDB databases: pairs of keys and values, in the order of keys, one database after the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.dataset_v1 import DatasetV1
from ebbflow.data.pipe import TYPED, Element, dataset_op, made
from ebbflow.data.queue_readers import lmdb_entries
from ebbflow.ops.state.storage import boxed
from ebbflow.ops.strings.arrays import as_bytes

LMDBDataset = dataset_op(f"LMDBDataset(filenames:string) -> (handle:variant) | {TYPED} | stateful")


@LMDBDataset.kernel
def _(xp: Any, filenames: Any) -> Any:
    names = [as_bytes(name) for name in filenames.reshape(-1).tolist()]

    def start() -> Iterator[Element]:
        entries = itertools.chain.from_iterable(map(lmdb_entries, names))
        return ((boxed(key), boxed(value)) for key, value in entries)

    return made(start)


class LMDBDatasetV1(DatasetV1):
    """The keys and values of LMDB databases, as pairs of texts."""

    def __init__(self, filenames: Any):
        """Make the dataset of the entries of databases; each is a file, or a directory with one."""
        spec = (TensorSpec([], dtypes.string), TensorSpec([], dtypes.string))
        names = convert(filenames, dtypes.string, name="filenames")
        dataset = self._make(LMDBDataset, names, spec=spec, kind="LMDBDataset")
        DatasetV2.__init__(self, dataset._variant_tensor, spec, "LMDBDataset")
