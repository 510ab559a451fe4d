"""Fingerprints of SavedModels: `fingerprint.pb`, and `tf.saved_model.experimental.read_fingerprint`.

Numbers that tell whether two models are the same: of the whole file, of the graph, the signatures, the objects and the
index of the checkpoint. Functions count by what they do, not by their names, which have numbers that differ from one
saving to the next. The number of the checkpoint's index is the one TensorFlow writes; TensorFlow simplifies the rest in
its own way, so the others compare models written here with each other.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.core.typing import Message, PathLike
from ebbflow.ops.sparse.cross import joined_hash
from ebbflow.ops.strings.hashing import fingerprint64, hashes
from ebbflow.platform import files
from ebbflow.savedmodel import constants, reading

VERSION = 4
"""The version of the numbers that TensorFlow 2.21 writes."""

_FIELDS = (
    "saved_model_checksum", "graph_def_program_hash", "signature_def_hash", "saved_object_graph_hash",
    "checkpoint_hash",
)  # fmt: skip


def _hash(data: bytes) -> int:
    return int(hashes([data], fingerprint64)[0]) % 2**64


def write_fingerprint(folder: str, message: Any, data: bytes) -> None:
    """Write the fingerprint of a model that has just been written; `data` are the bytes of its main file."""
    meta = message.meta_graphs[0]
    names = {function.signature.name: f"<{i}>" for i, function in enumerate(meta.graph_def.library.function)}
    signatures = 0
    for key in sorted(meta.signature_def):
        for part in (key.encode(), messages.serialize(meta.signature_def[key])):
            signatures = joined_hash(signatures, _hash(part))
    path = reading.variables_path(folder) + ".index"
    index = files.read_file_to_string(path, binary_mode=True) if files.exists(path) else b""
    written = messages.FingerprintDef(
        saved_model_checksum=_hash(data),
        graph_def_program_hash=_hash(b"".join(_graph_parts(meta.graph_def, names))),
        signature_def_hash=signatures,
        saved_object_graph_hash=_hash(b"".join(_object_parts(meta.object_graph_def, names))),
        checkpoint_hash=_hash(index),
        version=messages.VersionDef(producer=VERSION),
        uuid=str(uuid.uuid4().int),
    )
    files.atomic_write_string_to_file(files.join(folder, constants.FINGERPRINT_FILENAME), messages.serialize(written))


def _graph_parts(graph_def: Any, names: dict[str, str]) -> Iterator[bytes]:
    """Give what a graph and its functions compute, piece by piece."""
    yield from _node_parts(graph_def.node, names)
    for function in graph_def.library.function:
        yield names[function.signature.name].encode()
        yield messages.serialize(messages.FunctionDef(ret=function.ret, control_ret=function.control_ret))
        yield from _node_parts(function.node_def, names)


def _node_parts(nodes: Any, names: dict[str, str]) -> Iterator[bytes]:
    for node in nodes:
        yield " ".join([node.name, names.get(node.op, node.op), *node.input]).encode()
        for key in sorted(node.attr):
            attr = node.attr[key]
            called = attr.func.name or " ".join(names.get(f.name, f.name) for f in attr.list.func)
            yield key.encode()
            yield names.get(called, called).encode() if called else messages.serialize(attr)


def _object_parts(objects: Any, names: dict[str, str]) -> Iterator[bytes]:
    """Give what the objects of a model are, piece by piece."""
    for node in objects.nodes:
        kind = node.WhichOneof("kind") or ""
        yield " ".join([kind, *(f"{child.local_name}={child.node_id}" for child in node.children)]).encode()
        if kind == "function":
            yield " ".join(names.get(name, name) for name in node.function.concrete_functions).encode()
        elif kind == "bare_concrete_function":
            name = node.bare_concrete_function.concrete_function_name
            yield names.get(name, name).encode()
        elif kind and kind != "captured_tensor":
            yield messages.serialize(getattr(node, kind))
    known = {names.get(name, name): concrete for name, concrete in objects.concrete_functions.items()}
    for name in sorted(known):
        yield name.encode()
        yield messages.serialize(known[name])


class Fingerprint:
    """The numbers that tell a SavedModel from others; equal to another's where all of them are."""

    def __init__(
        self,
        saved_model_checksum: int | None = None,
        graph_def_program_hash: int | None = None,
        signature_def_hash: int | None = None,
        saved_object_graph_hash: int | None = None,
        checkpoint_hash: int | None = None,
        version: object = None,
    ):
        self.saved_model_checksum = saved_model_checksum
        self.graph_def_program_hash = graph_def_program_hash
        self.signature_def_hash = signature_def_hash
        self.saved_object_graph_hash = saved_object_graph_hash
        self.checkpoint_hash = checkpoint_hash
        self.version = version

    @classmethod
    def from_proto(cls, proto: Message) -> Fingerprint:
        """Return the fingerprint that a FingerprintDef (or its bytes) holds."""
        kind = "bytes" if isinstance(proto, bytes) else proto.DESCRIPTOR.name
        if kind not in ("bytes", "FingerprintDef"):
            raise ValueError(f"Given proto could not be deserialized as fingerprint: it is a {kind}.")
        data = proto if isinstance(proto, bytes) else proto.SerializeToString()
        try:
            message = messages.parse(messages.FingerprintDef, data, "the fingerprint")
        except errors.OpError as error:
            raise ValueError(f"Given proto could not be deserialized as fingerprint. {error.message}") from None
        if not any(getattr(message, field) for field in _FIELDS):
            raise ValueError("Given proto could not be deserialized as fingerprint: it has none of its numbers.")
        return cls(version=message.version, **{field: getattr(message, field) for field in _FIELDS})

    def to_proto(self) -> Message:
        """Return the fingerprint as a FingerprintDef."""
        proto = messages.FingerprintDef(**{field: getattr(self, field) or 0 for field in _FIELDS})
        if self.version is not None:
            proto.version.CopyFrom(self.version)
        return proto

    def singleprint(self) -> str:
        """Return the numbers of the graph, the signatures, the objects and the checkpoint as one text."""
        parts = [getattr(self, field) for field in _FIELDS[1:]]
        if any(part is None for part in parts):
            raise ValueError(f"Encounted invalid fingerprint values: {', '.join(map(str, parts))}; all are needed.")
        return "/".join(map(str, parts))

    def __eq__(self, other: Any) -> bool:
        return all(getattr(self, field) == getattr(other, field, None) for field in _FIELDS)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, field) for field in _FIELDS))

    def __str__(self) -> str:
        lines = [f"  {field}: {getattr(self, field)}" for field in _FIELDS]
        return "\n".join(["SavedModel Fingerprint", *lines])

    def __repr__(self) -> str:
        return f"Fingerprint({', '.join(str(getattr(self, field)) for field in _FIELDS)}, {self.version})"


def read_fingerprint(export_dir: PathLike) -> Fingerprint:
    """Return the fingerprint that stands beside a SavedModel."""
    path = files.join(files.text_of(export_dir), constants.FINGERPRINT_FILENAME)
    try:
        data = files.read_file_to_string(path, binary_mode=True)
    except (errors.NotFoundError, FileNotFoundError):
        raise FileNotFoundError(f"SavedModel Fingerprint Error: Unable to read fingerprint: no {path}") from None
    return Fingerprint.from_proto(data)


def fingerprint_bytes(export_dir: Any) -> bytes:
    """Return the fingerprint of a SavedModel as it is written."""
    return messages.serialize(read_fingerprint(export_dir).to_proto())


def to_proto(fingerprint: Fingerprint) -> Any:
    """Return a fingerprint as a FingerprintDef."""
    return fingerprint.to_proto()
