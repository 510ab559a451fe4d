"""Datasets in directories: written once and read again (`save`, `load`), or written by whoever is first (`snapshot`).

    path/dataset_spec.pb                       what the elements are: a StructuredValue
    path/<run>/<shard>.shard/<part>.snapshot   of each element its tensors as messages, records of a TFRecord file
    path/snapshot.metadata                     which run is whole, and how many elements it has

The files are TensorFlow's, which reads ours as we read its. A snapshot is such a directory under the fingerprint of its
dataset, so several may share a path. The metadata gets its name when everything else is there, so a directory is whole
or not there at all. Knows pipes and records; nothing of how users say what they want.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.data.element_records import array_of, dtype_of, record_of
from ebbflow.data.fingerprint import fingerprint
from ebbflow.data.going_on import Failed, goes_on, told
from ebbflow.data.pipe import TYPED, UNKNOWN, Element, Pipe, begun_anew, caller, dataset_op, made, pipe_of
from ebbflow.io.record_forms import reader_of, writer_of
from ebbflow.io.records import TFRecordWriter
from ebbflow.io.structures import NotEncodableError, decode_proto, encode_structure
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed
from ebbflow.platform import files

SaveDataset = op(
    "SaveDataset(input_dataset:variant, path:string, shard_func_other_args:list(Tshard_func_args)) -> () | "
    'compression: string = ""; shard_func: func; use_shard_func: bool = true; '
    "Tshard_func_args: list(type) >= 0 | stateful",
    shape=lambda *given: [],
    gradient=FLAT,
)
SaveDatasetV2 = dataset_op(
    "SaveDatasetV2(input_dataset:variant, path:string, shard_func_other_args:list(Tshard_func_args)) -> "
    f'(handle:variant) | compression: string = ""; shard_func: func; use_shard_func: bool = true; '
    f"Tshard_func_args: list(type) >= 0; {TYPED} | stateful"
)
LoadDataset = dataset_op(
    "LoadDataset(path:string, reader_func_other_args:list(Treader_func_args)) -> (handle:variant) | "
    f'{TYPED}; compression: string = ""; reader_func: func; Treader_func_args: list(type) >= 0 | stateful'
)
SnapshotDatasetV2 = dataset_op(
    "SnapshotDatasetV2(input_dataset:variant, path:string, reader_func_other_args:list(Treader_func_args), "
    f'shard_func_other_args:list(Tshard_func_args)) -> (handle:variant) | {TYPED}; compression: string = ""; '
    'reader_prefix: string = ""; writer_prefix: string = ""; hash_valid: bool = false; hash: int = 0; '
    "reader_func: func; shard_func: func; Treader_func_args: list(type) >= 0; Tshard_func_args: list(type) >= 0; "
    'metadata: string = ""'
)

METADATA, SPEC, ERROR = "snapshot.metadata", "dataset_spec.pb", "ERROR"
VERSION = 2  # of the format: elements in TFRecord files
_COMPRESSIONS = {"": "", "NONE": "", "AUTO": "SNAPPY", "SNAPPY": "SNAPPY", "GZIP": "GZIP", "ZLIB": "ZLIB"}
"""By what was asked for: what files are."""


def form_of(compression: str) -> str:
    """Return what files are for a `compression` that was asked for."""
    if compression not in _COMPRESSIONS:
        raise invalid(f"compression must be one of {', '.join(filter(None, _COMPRESSIONS))}, got {compression!r}")
    return _COMPRESSIONS[compression]


# --- writing ----------------------------------------------------------------------------------------------------------


@goes_on
def _writing(
    elements: Iterator[Element], path: str, form: str, shard_of: Callable[[Element], int], graph: str = ""
) -> Iterator[Any]:
    """Yield elements that are written on the way; at the end the directory is whole, unless one of them failed."""
    run = str(secrets.randbits(64))
    folder = os.path.join(path, run)
    files.makedirs(folder)
    said = messages.message(RECORD)(graph_hash=graph, run_id=run, version=VERSION, finalized=True)
    whole = lacking = False
    last: Element = ()
    try:
        with contextlib.ExitStack() as opened:
            writers: dict[int, TFRecordWriter] = {}
            for element in told(elements):
                if element.__class__ is Failed:
                    yield element
                    lacking = True
                    continue
                shard = shard_of(element)
                if shard < 0:
                    raise invalid(f"shard_func must give a number >= 0, got {shard}")
                if shard not in writers:
                    writers[shard] = opened.enter_context(_writer(folder, shard, form))
                for array in element:
                    writers[shard].write(record_of(array))
                said.num_elements += 1
                yield element
                last = element
        if not lacking:
            said.creation_timestamp = int(time.time() * 1e6)
            said.dtype.extend([dtype_of(array).as_datatype_enum for array in last])
            files.atomic_write_string_to_file(os.path.join(path, METADATA), said.SerializeToString())
            whole = True
    finally:
        if not whole:
            with contextlib.suppress(errors.OpError):
                files.rmtree(folder)


RECORD = "tensorflow.data.experimental.SnapshotMetadataRecord"


def _writer(folder: str, shard: int, form: str) -> TFRecordWriter:
    place = os.path.join(folder, f"{shard:08d}.shard")
    files.makedirs(place)
    return writer_of(os.path.join(place, f"{0:08d}.snapshot"), form)


@SaveDataset.kernel
def _(
    xp: Any, input_dataset: Any, path: Any, shard_args: Any, *, compression: Any, shard_func: Any, use_shard_func: Any,
    run: Any,
) -> Any:  # fmt: skip
    shard_of, form = _sharding(shard_func, shard_args, run) if use_shard_func else _first, form_of(compression)
    with begun_anew({}):
        elements = _writing(pipe_of(input_dataset).start(), os.fsdecode(path.item()), form, shard_of)
        with contextlib.closing(elements):  # type: ignore[type-var]
            for _ in elements:
                pass
    return ()


@SaveDatasetV2.kernel
def _(
    xp: Any, input_dataset: Any, path: Any, shard_args: Any, *, compression: Any, shard_func: Any, use_shard_func: Any,
    run: Any,
) -> Any:  # fmt: skip
    source, place, form = pipe_of(input_dataset), os.fsdecode(path.item()), form_of(compression)
    shard_of = _sharding(shard_func, shard_args, run) if use_shard_func else _first
    return made(lambda: _writing(source.start(), place, form, shard_of), source.size, source)


def _sharding(function: Any, captured: Any, run: Any) -> Callable[[Element], int]:
    call = caller(function, captured, run)
    return lambda element: int(call(element)[0])


def _first(element: Element) -> int:
    return 0


# --- reading ----------------------------------------------------------------------------------------------------------


def described(path: str) -> Any:
    """Return what is said of a directory, or None where nothing is yet."""
    name = os.path.join(path, METADATA)
    try:
        said = messages.parse(messages.message(RECORD), files.read_bytes(name), name)
    except errors.NotFoundError:
        return None
    except (ValueError, errors.OpError) as error:
        raise errors.DataLossError(None, None, f"{name} cannot be read: {error}") from None
    if not said.run_id or said.version not in (0, VERSION) or os.path.basename(said.run_id) != said.run_id:
        raise errors.DataLossError(None, None, f"{name} does not describe a saved dataset: {said}")
    return said


def _described(path: str) -> Any:
    """Return what is said of a whole directory, or None where there is none yet."""
    said = described(path)
    return said if said is not None and said.finalized else None


def _elements(folder: str, types: Any) -> Iterator[Element]:
    """Yield the elements of a shard: of one file after the other."""
    for name in files.listdir(folder):
        yield from elements_of(os.path.join(folder, name), types)


def elements_of(file: str, types: Any) -> Iterator[Element]:
    """Yield the elements that a file holds."""
    with reader_of(file) as records:
        for first in records:
            element = [array_of(first, file)]
            element += [array_of(next(records, None), file) for _ in types[1:]]
            for array, dtype in zip(element, types, strict=True):
                if array.dtype != dtype.np:
                    raise invalid(f"{file} holds tensors of {array.dtype}, but {dtype.name} is asked for")
            yield tuple(element)


def _shards(path: str, types: Any) -> Pipe:
    """Return the dataset of the datasets of shards."""
    said = _described(path)
    if said is None:
        raise errors.NotFoundError(None, None, f"{path} does not hold a saved dataset: it has no {METADATA}")
    if said.dtype and len(said.dtype) != len(types):
        raise invalid(f"{path} holds elements of {len(said.dtype)} tensors, but {len(types)} are asked for")
    folder = os.path.join(path, said.run_id)
    names = [name for name in files.listdir(folder) if name.endswith(".shard")]
    parts = [(boxed(Pipe(partial(_elements, os.path.join(folder, name), types))),) for name in names]
    return Pipe(lambda: iter(parts), len(parts))


def _read(path: str, types: Any, reader: Callable[[Element], Element]) -> Iterator[Element]:
    return pipe_of(reader((boxed(_shards(path, types)),))[0]).start()


@LoadDataset.kernel
def _(xp: Any, path: Any, reader_args: Any, *, output_types: Any, compression: Any, reader_func: Any, run: Any) -> Any:
    form_of(compression)
    place, reader = os.fsdecode(path.item()), caller(reader_func, reader_args, run)
    said = _described(place)
    count = UNKNOWN if said is None else said.num_elements
    return made(lambda: _read(place, output_types, reader), count)


@SnapshotDatasetV2.kernel
def _(
    xp: Any, input_dataset: Any, path: Any, reader_args: Any, shard_args: Any,
    *, output_types: Any, compression: Any, reader_func: Any, shard_func: Any, run: Any,
) -> Any:  # fmt: skip
    source = pipe_of(input_dataset)
    place = os.path.join(os.fsdecode(path.item()), str(fingerprint(source)))
    reader, shard_of = caller(reader_func, reader_args, run), _sharding(shard_func, shard_args, run)
    form, graph = form_of(compression), os.path.basename(place)

    def start() -> Iterator[Element]:
        if _described(place) is not None:
            return _read(place, output_types, reader)
        return _writing(source.start(), place, form, shard_of, graph)

    return made(start, source.size, source)


# --- written by others ------------------------------------------------------------------------------------------------


def is_whole(path: str) -> bool:
    """Return whether a directory holds a dataset."""
    return files.exists(os.path.join(path, METADATA))


def write_all(elements: Iterator[Element], path: str) -> None:
    """Write elements to a directory."""
    with contextlib.suppress(errors.NotFoundError):
        files.remove(os.path.join(path, ERROR))
    writing = _writing(elements, path, "", _first)
    with contextlib.closing(writing):  # type: ignore[type-var]
        for _ in writing:
            pass


def put_error(path: str, words: str) -> None:
    """Say in a directory why there will be no dataset."""
    files.atomic_write_string_to_file(os.path.join(path, ERROR), words.encode())


def wait_for(path: str) -> None:
    """Wait until a directory that somebody writes to is whole."""
    while not is_whole(path):
        if files.exists(os.path.join(path, ERROR)):
            words = files.read_file_to_string(os.path.join(path, ERROR))
            raise errors.FailedPreconditionError(None, None, f"{path} was not saved: {words}")
        time.sleep(0.05)


# --- what the elements are --------------------------------------------------------------------------------------------


def put_spec(path: str, spec: Any) -> None:
    """Write what the elements are beside them."""
    try:
        content = encode_structure(spec).SerializeToString()
    except NotEncodableError as error:
        raise errors.UnimplementedError(None, None, f"Elements of {spec!r} cannot be saved: {error}") from None
    files.makedirs(path)
    files.atomic_write_string_to_file(os.path.join(path, SPEC), content)


def spec_at(path: str) -> Any:
    """Return what the elements of a saved dataset are."""
    name = os.path.join(path, SPEC)
    try:
        return decode_proto(messages.parse(messages.message("tensorflow.StructuredValue"), files.read_bytes(name)))
    except errors.NotFoundError:
        raise errors.NotFoundError(None, None, f"{path} has no {SPEC}: give `element_spec` to load it") from None
    except (ValueError, errors.OpError) as error:
        raise errors.DataLossError(None, None, f"{name} cannot be read: {error}") from None
