"""GraphDefs of the golden files, brought into a graph under their own names."""

from __future__ import annotations

import base64
import zlib

from ebbflow import messages
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def


def decoded(text):
    """Return the GraphDef in a golden file."""
    found = messages.GraphDef()
    found.ParseFromString(zlib.decompress(base64.b64decode(text)))
    return found


def imported(graph_def, graph, names):
    """Add a GraphDef to a graph; return what stands there for each name: a tensor (NODE:INDEX) or a node."""
    with graph.as_default():
        found = import_graph_def(graph_def, return_elements=names, name="")
    return dict(zip(names, found, strict=True)).__getitem__
