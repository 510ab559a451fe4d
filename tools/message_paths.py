"""Write `ebbflow/api/tables/message_paths.py`: which file of TensorFlow's shows which messages, enums and values.

    python tools/message_paths.py

Reads `ebbflow/messages/schema.txt`. Where a file of `tensorflow/core` only passes on what another one declares, the
table below says so.
"""

from __future__ import annotations

import pathlib
import textwrap

from ebbflow.messages.schema import Schema, read_schema

TABLE = pathlib.Path(__file__).resolve().parents[1] / "ebbflow" / "api" / "tables" / "message_paths.py"
HEAD = '''\
"""The files of TensorFlow's messages, as programs import them: `tensorflow.core.framework.graph_pb2.GraphDef`.

Rows as in the other tables; the messages themselves are made from their schema on first use. `tools/message_paths.py`
writes this file."""

ROWS = """
'''
PASSED_ON = {
    "core.framework.summary_pb2": ("xla/tsl/protobuf/histogram.proto",),
    "core.lib.core.error_codes_pb2": ("xla/tsl/protobuf/error_codes.proto",),
    "core.protobuf.error_codes_pb2": ("xla/tsl/protobuf/error_codes.proto",),
    "core.protobuf.rpc_options_pb2": ("xla/tsl/protobuf/rpc_options.proto",),
    "core.util.test_log_pb2": ("xla/tsl/protobuf/test_log.proto",),
    "python.training.checkpoint_state_pb2": ("tensorflow/python/training/checkpoint_state.proto",),
    "python.framework.cpp_shape_inference_pb2": ("tensorflow/core/framework/cpp_shape_inference.proto",),
}


def names_in(schema: Schema, path: str) -> tuple[list[str], list[str]]:
    """Return the messages of a .proto file, and its enums with all their values."""
    found = [name for name, full_name in schema.top_level.items() if schema.homes[full_name] == path]
    enums: list[str] = []
    for full_name, values in schema.enums.items():
        if schema.homes[full_name] == path:
            enums += [full_name.rpartition(".")[2], *(v for v in values if not v.endswith("_SENTINEL_DO_NOT_USE_"))]
    return sorted(found), enums


def rows(module: str, names: list[str]) -> list[str]:
    """Return the rows of one module, in lines of the usual length."""
    start = f"{module}.: "
    return textwrap.wrap(" ".join(names), 119, initial_indent=start, subsequent_indent=start, break_long_words=False)


def main() -> None:
    schema = read_schema()
    modules = {
        path.removeprefix("tensorflow/").removesuffix(".proto").replace("/", ".") + "_pb2": (path,)
        for path in schema.blocks
        if path.startswith("tensorflow/core/")
    }
    for module, paths in PASSED_ON.items():
        modules[module] = modules.get(module, ()) + paths
    of_messages, of_enums = ["[messages]"], ["[messages.enums]"]
    for module, paths in sorted(modules.items()):
        for path in paths:
            found, enums = names_in(schema, path)
            of_messages += rows(module, found)
            of_enums += rows(module, enums)
    TABLE.write_text(HEAD + "\n".join([*of_messages, *of_enums]) + '\n"""\n')


if __name__ == "__main__":
    main()
