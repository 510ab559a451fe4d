"""GraphDefs brought into a graph through `functionalize`: just enough of an importer to test with."""

from __future__ import annotations

import base64
import zlib

import numpy as np

import ebbflow.functions.op_catalogue  # noqa: F401  (declares all ops)
from ebbflow import messages
from ebbflow.core import dtypes
from ebbflow.core.op import registry
from ebbflow.functions.functionalize import functionalize
from ebbflow.functions.low_level import Item
from ebbflow.messages import tensors


def decoded(text):
    """Return the GraphDef in a golden file."""
    found = messages.GraphDef()
    found.ParseFromString(zlib.decompress(base64.b64decode(text)))
    return found


def imported(graph_def, graph):
    """Add a GraphDef to a graph, made functional; return a function from a name to the tensor (NODE:INDEX) or node."""
    items = {node.name: Item(node.name, node.op, attrs=_attrs(node)) for node in graph_def.node}
    for node in graph_def.node:
        item = items[node.name]
        for text in node.input:
            if text.startswith("^"):
                item.controls.append(items[text[1:]])
            else:
                name, _, index = text.partition(":")
                item.inputs.append((items[name], int(index or 0)))
    with graph.as_default():
        found = functionalize(list(items.values()), graph, _emit)

    def look_up(name):
        name, colon, index = name.partition(":")
        return found(items[name], int(index) if colon else None)

    return look_up


def _emit(item, inputs, graph):
    op = registry[item.op]
    attrs = {**{n: a.default for n, a in op.signature.attrs.items() if a.has_default}, **item.attrs}
    grouped, at = [], 0
    for arg in op.signature.inputs:
        count = attrs[arg.number_attr] if arg.number_attr else len(attrs[arg.type_attr]) if arg.is_type_list else 1
        grouped.append(inputs[at : at + count] if arg.is_list else inputs[at])
        at += count
    node = graph._add(op, item.name, inputs, grouped, attrs)
    return node._outputs or [node]


def _attrs(node):
    declared = registry[node.op].signature.attrs
    return {name: _value(node.attr[name], declared[name].kind) for name in node.attr if name in declared}


def _value(attr, kind):
    if kind.startswith("list("):
        values = {"int": attr.list.i, "type": attr.list.type, "shape": attr.list.shape, "string": attr.list.s}
        return tuple(_one(v, kind[5:-1]) for v in values[kind[5:-1]])
    fields = {
        "int": "i",
        "float": "f",
        "bool": "b",
        "string": "s",
        "type": "type",
        "shape": "shape",
        "tensor": "tensor",
    }
    return _one(getattr(attr, fields[kind]), kind)


def _one(value, kind):
    if kind == "type":
        return dtypes.as_dtype(value).base_dtype
    if kind == "shape":
        return None if value.unknown_rank else tuple(None if d.size < 0 else d.size for d in value.dim)
    if kind == "tensor":
        return np.asarray(tensors.make_ndarray(value))
    return value.decode() if kind == "string" else value
