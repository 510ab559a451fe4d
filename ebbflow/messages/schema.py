"""The table `schema.txt` turned into protobuf descriptors, one file at a time and only when asked.

Knows the form of the table and how protobuf describes messages; knows nothing of what the messages are for. The pool
made here is private: an installed TensorFlow keeps its own messages of the same names in the default pool, and the
two never meet. Where Ebbflow stands in for TensorFlow, its files are put in the default pool instead, where a program's
own messages look for those they import. Imported by `ebbflow.messages` alone.
"""

from __future__ import annotations

import importlib
import pathlib
import re

from google.protobuf import descriptor_pb2, descriptor_pool

Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {name[5:].lower(): number for name, number in Field.Type.items()}
FIELD = re.compile(
    r"(\d+) (?:(repeated|optional) )?"  # number, label
    r"(?:map<(\w+),([\w. ]+)>|((?:enum )?[\w.]+)) "  # key and value of a map, or a type
    r"(\w+)( \[packed\])?(?: \(oneof (\w+)\))?"  # name, packed, oneof
)

MOVED = {
    "tensorflow/core/lib/core/error_codes.proto": "xla/tsl/protobuf/error_codes.proto",
    "tensorflow/core/protobuf/coordination_config.proto": "xla/tsl/protobuf/coordination_config.proto",
    "tensorflow/core/protobuf/error_codes.proto": "xla/tsl/protobuf/error_codes.proto",
    "tsl/protobuf/coordination_config.proto": "xla/tsl/protobuf/coordination_config.proto",
    "tsl/protobuf/error_codes.proto": "xla/tsl/protobuf/error_codes.proto",
    "tsl/protobuf/histogram.proto": "xla/tsl/protobuf/histogram.proto",
    "tsl/protobuf/rpc_options.proto": "xla/tsl/protobuf/rpc_options.proto",
}
"""Files by the names that earlier releases had for them, and others' messages still import: now they import these."""


class Schema:
    """A descriptor database over the table: protobuf's pool calls the two `Find` methods when it meets a new name."""

    def __init__(self, table: str) -> None:
        self.blocks: dict[str, list[str]] = {}  # file name -> its lines, the first one "PATH pkg PACKAGE [proto2]"
        self.homes: dict[str, str] = {}  # full name of a message or enum -> file name
        self.top_level: dict[str, str] = {}  # own name of a message that is nested in no other -> full name
        self.enums: dict[str, list[str]] = {}  # full name of an enum that is nested in no message -> its values
        for block in ("\n" + table).split("\n## ")[1:]:
            lines = block.splitlines()
            path, _, package = lines[0].split()[:3]
            self.blocks[path] = lines
            for line in lines[1:]:
                kind, full_name, body = line.split(" ", 2)
                self.homes[full_name] = path
                parent, _, name = full_name.rpartition(".")
                if kind == "msg" and parent == package:
                    self.top_level[name] = full_name
                elif parent == package:
                    self.enums[full_name] = [item.partition("=")[0] for item in body.split(", ")]

    def FindFileByName(self, name: str) -> descriptor_pb2.FileDescriptorProto:
        return build_file(self.blocks[name], self.homes)

    def FindFileContainingSymbol(self, symbol: str) -> descriptor_pb2.FileDescriptorProto:
        return self.FindFileByName(self.homes[symbol])


def read_schema() -> Schema:
    """The schema that lies beside this file."""
    return Schema(pathlib.Path(__file__).with_name("schema.txt").read_text())


def make_pool(schema: Schema, shared: bool = False) -> descriptor_pool.DescriptorPool:
    """A pool that has every message of `schema`: one of its own that finds them on first mention, or the default one.

    Where the default one has other messages of these names already, it is one of its own all the same.
    """
    if shared and fill_pool(descriptor_pool.Default(), schema):
        return descriptor_pool.Default()
    return descriptor_pool.DescriptorPool(schema)


def fill_pool(pool: descriptor_pool.DescriptorPool, schema: Schema) -> bool:
    """Put every file of `schema` in a pool that somebody else keeps, and say whether its messages are ours now."""
    here: set[str] = set()

    def add(path: str) -> None:
        if path in here:
            return
        here.add(path)
        if path.startswith("google/protobuf/"):
            importlib.import_module(path.removesuffix(".proto").replace("/", ".") + "_pb2")
        if not has_file(pool, path):
            file = schema.FindFileByName(path)
            for dependency in file.dependency:
                add(dependency)
            pool.AddSerializedFile(file.SerializeToString())

    try:
        for path in schema.blocks:
            add(path)
    except TypeError:  # a message of this name is there, from a file of another
        return False
    for path, target in MOVED.items():
        if not has_file(pool, path):
            stub = descriptor_pb2.FileDescriptorProto(name=path, syntax="proto3", dependency=[target])
            stub.public_dependency.append(0)
            pool.AddSerializedFile(stub.SerializeToString())
    return True


def has_file(pool: descriptor_pool.DescriptorPool, path: str) -> bool:
    try:
        pool.FindFileByName(path)
    except KeyError:
        return False
    return True


def build_file(lines: list[str], homes: dict[str, str]) -> descriptor_pb2.FileDescriptorProto:
    """The descriptor of one .proto file from its lines of the table."""
    path, _, package, *syntax = lines[0].split()
    file = descriptor_pb2.FileDescriptorProto(name=path, package=package, syntax=syntax[0] if syntax else "proto3")
    nodes = {package: file}  # full name -> what holds it
    used: set[str] = set()
    for line in sorted(lines[1:], key=depth):  # a parent before what is nested in it
        kind, full_name, body = line.split(" ", 2)
        parent, _, name = full_name.rpartition(".")
        if kind == "enum":
            fill_enum(nodes[parent].enum_type.add(name=name), body)
        else:
            children = nodes[parent].message_type if parent == package else nodes[parent].nested_type
            nodes[full_name] = children.add(name=name)
            used |= fill_message(nodes[full_name], full_name, body, homes)
    file.dependency.extend(sorted({homes[name] for name in used} - {path}))
    return file


def depth(line: str) -> int:
    return line.split(" ", 2)[1].count(".")


def fill_enum(enum: descriptor_pb2.EnumDescriptorProto, body: str) -> None:
    for item in body.split(", "):
        name, _, number = item.partition("=")
        enum.value.add(name=name, number=int(number))
    if len({value.number for value in enum.value}) < len(enum.value):
        enum.options.allow_alias = True


def fill_message(message: descriptor_pb2.DescriptorProto, full_name: str, body: str, homes: dict[str, str]) -> set[str]:
    """Add the fields that `body` lists; returns the full names of the types they use."""
    used: set[str] = set()
    oneofs: dict[str, int] = {}
    for match in FIELD.finditer(body):
        number, label, key, value, type_, name, packed, oneof = match.groups()
        field = message.field.add(name=name, number=int(number), label=Field.LABEL_OPTIONAL)
        if key:
            field.label = Field.LABEL_REPEATED
            field.type, field.type_name = Field.TYPE_MESSAGE, f".{full_name}.{entry_name(name)}"
            entry = message.nested_type.add(name=entry_name(name))
            entry.options.map_entry = True
            set_type(entry.field.add(name="key", number=1, label=Field.LABEL_OPTIONAL), key, homes, used)
            set_type(entry.field.add(name="value", number=2, label=Field.LABEL_OPTIONAL), value, homes, used)
            continue
        set_type(field, type_, homes, used)
        if label == "repeated":
            field.label = Field.LABEL_REPEATED
            if not field.type_name or type_.startswith("enum "):
                field.options.packed = bool(packed)
        elif label == "optional":
            field.proto3_optional, oneof = True, "_" + name
        if oneof:
            field.oneof_index = oneofs.setdefault(oneof, len(oneofs))
    for oneof in oneofs:
        message.oneof_decl.add(name=oneof)
    return used


def entry_name(field: str) -> str:
    """The name protobuf gives to the entry message of a map field: `feature_list` -> `FeatureListEntry`."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def set_type(field: descriptor_pb2.FieldDescriptorProto, type_: str, homes: dict[str, str], used: set[str]) -> None:
    if type_ in SCALARS:
        field.type = SCALARS[type_]
        return
    kind, _, name = type_.rpartition(" ")
    full_name = "tensorflow." + name if "tensorflow." + name in homes else name
    field.type = Field.TYPE_ENUM if kind else Field.TYPE_MESSAGE
    field.type_name = "." + full_name
    used.add(full_name)
