"""Print TensorFlow's messages in the form of `ebbflow/messages/schema.txt`: one message or enum a line.

Runs under a Python that has TensorFlow; reads the descriptors it carries and nothing else.

    python tools/record/schema.py                        # every file that schema.txt names, whole; the few this
                                                         # TensorFlow no longer has are kept as they stand
    python tools/record/schema.py tensorflow/core/protobuf/config.proto ...
    python tools/record/schema.py ConfigProto Summary.Value ...
"""

from __future__ import annotations

import contextlib
import importlib
import pathlib
import sys

from google.protobuf import descriptor_pb2, descriptor_pool

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "ebbflow" / "messages" / "schema.txt"
HEAD = """\
# Messages and enums of TensorFlow 2.21.0: field numbers and types, one a line. `tools/record/schema.py` prints it.
# msg NAME { NUMBER [repeated|optional] TYPE FIELD [packed] (oneof X) | ... }   map<K,V> = map field.
# Files are proto3 unless their line says proto2 (whose scalar fields have presence).
# The files under tensorflow/contrib/ and tensorflow/core/kernels/ are TensorFlow 1.15's, which had them still.
# The program of UserDefinedProgramParameters is an xla.HloModuleProto; here it is its bytes, which read the same.
"""
Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {number: name[5:].lower() for name, number in Field.Type.items()}


def main(wanted: list[str]) -> None:
    known = known_files()
    if not wanted:
        print(HEAD, end="")
        wanted = list(known)
    for name in wanted:
        try:
            lines = file_lines(name) if name.endswith(".proto") else message_lines("tensorflow." + name)
        except KeyError:
            lines = known[name]
        print("\n".join(lines))


def known_files() -> dict[str, list[str]]:
    """The lines of schema.txt by the .proto file they stand under."""
    files: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in SCHEMA.read_text().splitlines():
        if line.startswith("## "):
            lines = files[line.split()[1]] = []
        lines.append(line)
    return files


def file_lines(path: str) -> list[str]:
    """The header of a .proto file and the lines of all it declares."""
    proto = descriptor_pb2.FileDescriptorProto()
    file_descriptor(path).CopyToProto(proto)
    lines = [f"## {path} pkg {proto.package}" + (" proto2" if proto.syntax in ("", "proto2") else "")]
    for message in proto.message_type:
        lines += message_tree(proto, f"{proto.package}.{message.name}", message)
    lines += [enum_line(f"{proto.package}.{enum.name}", enum) for enum in proto.enum_type]
    return lines


def message_lines(full_name: str) -> list[str]:
    """The lines of one message and what is nested in it; its file must be one that schema.txt names."""
    for path in known_files():
        with contextlib.suppress(KeyError):
            file_descriptor(path)
    proto, file = descriptor_pb2.DescriptorProto(), descriptor_pb2.FileDescriptorProto()
    descriptor = descriptor_pool.Default().FindMessageTypeByName(full_name)
    descriptor.CopyToProto(proto)
    descriptor.file.CopyToProto(file)
    return message_tree(file, full_name, proto)


def file_descriptor(path: str):
    """The descriptor of a .proto file, after importing the module that carries it."""
    stem = path.removesuffix(".proto").replace("/", ".") + "_pb2"
    for module in (stem, "tensorflow.compiler." + stem):
        try:
            importlib.import_module(module)
            break
        except ImportError:
            continue
    return descriptor_pool.Default().FindFileByName(path)


def message_tree(file, full_name: str, message) -> list[str]:
    lines = [message_line(file, full_name, message)]
    for nested in message.nested_type:
        if not nested.options.map_entry:
            lines += message_tree(file, f"{full_name}.{nested.name}", nested)
    lines += [enum_line(f"{full_name}.{enum.name}", enum) for enum in message.enum_type]
    return lines


def message_line(file, full_name: str, message) -> str:
    maps = {n.name: n for n in message.nested_type if n.options.map_entry}
    fields = " | ".join(field_text(file, message, field, maps) for field in message.field)
    return f"msg {full_name} {{ {fields} }}"


def field_text(file, message, field, maps) -> str:
    entry = maps.get(field.type_name.rpartition(".")[2]) if field.type == Field.TYPE_MESSAGE else None
    if entry is not None:
        key, value = entry.field
        text = f"map<{type_text(key)},{type_text(value)}> {field.name}"
    elif field.label == Field.LABEL_REPEATED:
        text = f"repeated {type_text(field)} {field.name}" + (" [packed]" if is_packed(file, field) else "")
    else:
        text = ("optional " if field.proto3_optional else "") + f"{type_text(field)} {field.name}"
    if field.HasField("oneof_index") and not field.proto3_optional:
        text += f" (oneof {message.oneof_decl[field.oneof_index].name})"
    return f"{field.number} {text}"


def type_text(field) -> str:
    if field.type not in (Field.TYPE_MESSAGE, Field.TYPE_ENUM):
        return SCALARS[field.type]
    if field.type_name.startswith(".xla."):
        return "bytes"  # a message that is not in the table: its bytes read the same
    name = field.type_name.removeprefix(".").removeprefix("tensorflow.")
    return f"enum {name}" if field.type == Field.TYPE_ENUM else name


def is_packed(file, field) -> bool:
    if field.type in (Field.TYPE_STRING, Field.TYPE_BYTES, Field.TYPE_MESSAGE):
        return False
    if field.options.HasField("packed"):
        return field.options.packed
    return file.syntax == "proto3"


def enum_line(full_name: str, enum) -> str:
    return f"enum {full_name} " + ", ".join(f"{v.name}={v.number}" for v in enum.value)


if __name__ == "__main__":
    main(sys.argv[1:])
