"""Record the interfaces of TensorFlow's ops, one line each: tests/golden/tf221/op_signatures.txt, and tf115/….

    python tools/record/op_signatures.py

Run it in an environment that has TensorFlow 2.21 (CPU). Reads the registry of ops that TensorFlow carries; families
that belong to other hardware, to distribution or to debugging are left out. With TensorFlow 1.15 it writes the ops of
`tf.contrib` that 2.21 has no more.
"""

from __future__ import annotations

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, op_def_pb2, tensor_pb2, tensor_shape_pb2, types_pb2

WRITES = ("tf221/op_signatures.txt", "tf115/op_signatures.txt")
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
LEFT_OUT = [
    "Xla",
    "TPU",
    "Tpu",
    "_",
    "Nccl",
    "Debug",
    "Experimental",
    "TensorForest",
    "RiscV",
    "Mkl",
    "Cudnn",
    "Uniform",
    "ConvertToCoo",
    "GetMinibatch",
    "Onednn",
]
KEPT = ("UniformCandidateSampler",)
FORM = (
    "# name(inputs) -> (outputs) | attributes (type, allowed values, minimum, default) | flags.  N*T is a list of N "
    "tensors of type T; list(T) is a list typed by the type-list attr T."
)
FLAGS = {
    "is_stateful": "stateful",
    "is_commutative": "commutative",
    "is_aggregate": "aggregate",
    "allows_uninitialized_input": "allows_uninitialized_input",
}


def main() -> None:
    """Write the file of this TensorFlow."""
    if tf.__version__.startswith("1."):
        shown = of_contrib()
        head = (
            f"# Operation interfaces of tf.contrib that TensorFlow {tf.__version__} had, and none later: {len(shown)}"
        )
        target = GOLDEN / WRITES[1]
    else:
        shown, head = of_today()
        target = GOLDEN / WRITES[0]
    target.write_text("\n".join([head, FORM, *sorted(map(line, shown))]) + "\n", encoding="utf-8")


def of_today() -> tuple[list[op_def_pb2.OpDef], str]:
    """Return the ops of TensorFlow 2 without those left out, and the file's first line."""
    from tensorflow.python.client import pywrap_tf_session

    buffer = pywrap_tf_session.TF_GetAllOpList()
    known = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(buffer))
    shown = [op for op in known.op if op.name in KEPT or not op.name.startswith(tuple(LEFT_OUT))]
    return shown, (
        f"# Operation interfaces registered by TensorFlow {tf.__version__} (CPU build): {len(shown)} of "
        f"{len(known.op)}; families left out: {' '.join(LEFT_OUT)}"
    )


def of_contrib() -> list[op_def_pb2.OpDef]:
    """Return the ops that `tf.contrib` brings with it when it is loaded."""
    from tensorflow.python.framework import op_def_registry

    today = {text.split("(")[0] for text in (GOLDEN / WRITES[0]).read_text().splitlines()}
    before = set(op_def_registry.get_registered_ops())
    dir(tf.contrib)
    every = op_def_registry.get_registered_ops()
    return [op for name, op in every.items() if name not in before and name not in today]


def line(op: op_def_pb2.OpDef) -> str:
    """Return an op's interface as a line."""
    call = f"{op.name}({', '.join(map(argument, op.input_arg))}) -> ({', '.join(map(argument, op.output_arg))})"
    flags = [word for field, word in FLAGS.items() if getattr(op, field)]
    flags += [f"deprecated@{op.deprecation.version}"] if op.HasField("deprecation") else []
    return " | ".join(part for part in (call, "; ".join(map(attr, op.attr)), " ".join(flags)) if part)


def argument(arg: op_def_pb2.OpDef.ArgDef) -> str:
    """Return `name:type`, with the number of tensors in front of the type."""
    kind = arg.type_attr or (f"list({arg.type_list_attr})" if arg.type_list_attr else dtype(arg.type))
    kind = f"{arg.number_attr}*{kind}" if arg.number_attr else kind
    return f"{arg.name}:{f'Ref({kind})' if arg.is_ref else kind}"


def attr(definition: op_def_pb2.OpDef.AttrDef) -> str:
    """Return `name: kind`, what is allowed and the default."""
    text = f"{definition.name}: {definition.type}"
    if definition.HasField("allowed_values"):
        allowed = definition.allowed_values.list
        text += f" in [{','.join([*map(dtype, allowed.type), *map(quoted, allowed.s)])}]"
    if definition.has_minimum:
        text += f" >= {definition.minimum}"
    return text + (f" = {value(definition.default_value)}" if definition.HasField("default_value") else "")


def value(message: attr_value_pb2.AttrValue) -> str:
    """Return the value of an attr as the listing writes it; `?` is a shape of unknown rank."""
    kind = message.WhichOneof("value")
    plain = getattr(message, kind)
    words = {"s": quoted, "type": dtype, "shape": shape, "tensor": tensor}
    if kind == "list":
        items = [words.get(field.name, plainly)(item) for field, items in plain.ListFields() for item in items]
        return f"[{','.join(items)}]"
    return words.get(kind, plainly)(plain)


def plainly(number: float | bool) -> str:
    """Return a number, or true or false."""
    return str(number).lower()


def quoted(text: bytes) -> str:
    """Return a string between quotes, on one line."""
    return json.dumps(text.decode())


def shape(message: tensor_shape_pb2.TensorShapeProto) -> str:
    """Return the lengths of a shape."""
    return "?" if message.unknown_rank else f"[{','.join(str(dim.size) for dim in message.dim)}]"


def tensor(message: tensor_pb2.TensorProto) -> str:
    """Return a small tensor's values."""
    return f"tensor({tf.make_ndarray(message).tolist()})"


def dtype(number: int) -> str:
    """Return the name of a type: `float`, `resource`."""
    return types_pb2.DataType.Name(number)[len("DT_") :].lower()


if __name__ == "__main__":
    main()
