"""What a model would do to files, processes or the network besides computing: found before anything of it runs.

A SavedModel is a program. One that writes files or calls Python needs the caller's word for it (`allow=`). What a
model's own saver does is left out of account: it runs when the caller saves. A function that nothing but the caller
runs may call Python in the file (Keras 2's layers keep how they were adapted): it is refused when it is called.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ebbflow.core import errors
from ebbflow.graph.graph_util import reached
from ebbflow.graph.scope_names import node_name
from ebbflow.ops.control.script import REFUSED
from ebbflow.savedmodel import constants

PYTHON = frozenset(["PyFunc", "PyFuncStateless", "EagerPyFunc"])
WRITES = frozenset(
    ["WriteFile", "Save", "SaveSlices", "SaveV2", "MergeV2Checkpoints", "CreateSummaryFileWriter", "SummaryWriter",
     "DatasetToTFRecord", "SaveDataset", "SaveDatasetV2", "SnapshotDataset", "SnapshotDatasetV2",
     "CollectiveDistributedSave", "DebugIdentity", "DebugIdentityV2", "DebugIdentityV3"]
)  # fmt: skip
SAVERS = frozenset(["Save", "SaveSlices", "SaveV2", "MergeV2Checkpoints"])
CALLS_OUT = frozenset(
    ["DataServiceDataset", "DataServiceDatasetV2", "DataServiceDatasetV3", "DataServiceDatasetV4", "RegisterDataset",
     "RegisterDatasetV2", "RpcClient", "RpcCall", "RpcServer", "ConfigureDistributedTPU", "CloudBigtableClient"]
)  # fmt: skip
KINDS = {**dict.fromkeys(PYTHON, "calls Python"), **dict.fromkeys(WRITES, "writes files"),
         **dict.fromkeys(CALLS_OUT, "uses the network")}  # fmt: skip


def effect_of(node: Any) -> str:
    """Return what a node does outside of the model, or nothing."""
    if node.op == "PrintV2":
        return "writes files" if node.attr["output_stream"].s.startswith(b"file://") else ""
    if node.op in ("CacheDataset", "CacheDatasetV2"):
        return ""  # where to is a tensor, and empty unless somebody asked for a file
    return KINDS.get(node.op, "")


def run_by_itself(meta_graph_def: Any) -> list[str]:
    """Return the names of the nodes that loading runs, and those that signatures give."""
    names = []
    for signature in meta_graph_def.signature_def.values():
        names += [info.name for info in signature.outputs.values()]
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY, "table_initializer"):
        if key in meta_graph_def.collection_def:
            names += list(meta_graph_def.collection_def[key].node_list.value)
    return [node_name(name) for name in names]


class Effect(NamedTuple):
    """A node that does more than compute: its op, where it stands, what it does, and whether a caller decides on it."""

    op: str
    place: str
    what: str
    is_offered: bool
    node: Any


def effects(meta_graph_def: Any) -> list[Effect]:
    """Return the nodes of a graph and of its functions that do more than compute.

    A graph may have savers, whose nodes run when somebody saves: they count where signatures or initialisation run
    them.
    """
    graph_def = meta_graph_def.graph_def
    run = reached({node.name: node for node in graph_def.node}, run_by_itself(meta_graph_def))
    saver = meta_graph_def.saver_def
    ends = [node_name(name) for name in (saver.save_tensor_name, saver.restore_op_name) if name]
    saving = reached({node.name: node for node in graph_def.node}, ends) - run
    kept = [node for node in graph_def.node if node.name in run or (node.op not in SAVERS and node.name not in saving)]
    functions = {function.signature.name: function for function in graph_def.library.function}
    needed = reachable(functions, called(kept))
    offered = reachable(functions, meta_graph_def.object_graph_def.concrete_functions) - needed
    bodies = [("", kept), *((f"{name}/", functions[name].node_def) for name in sorted(needed | offered))]
    return [
        Effect(node.op, prefix + node.name, effect_of(node), prefix[:-1] in offered, node)
        for prefix, body in bodies
        for node in body
        if effect_of(node)
    ]


def called(nodes: Iterable[Any]) -> set[str]:
    """Return the names of functions that nodes call, or hand to an op that does."""
    found: set[str] = set()
    for node in nodes:
        found.add(node.op)
        for value in node.attr.values():
            found.update(function.name for function in [value.func, *value.list.func] if function.name)
    return found


def reachable(functions: dict[str, Any], roots: Iterable[str]) -> set[str]:
    """Return the names of the functions that some call, themselves included."""
    found: set[str] = set()
    stack = [name for name in roots if name in functions]
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack.extend(other for other in called(functions[name].node_def) if other in functions)
    return found


def check(meta_graph_def: Any, where: str, allow: Any = None) -> None:
    """Refuse a graph that does more than compute, unless its ops are allowed: names, or True for all."""
    if allow is True or allow == "all":
        return
    permitted = {allow} if isinstance(allow, str) else set(allow or ())
    refused = [effect for effect in effects(meta_graph_def) if effect.op not in permitted]
    later = [effect for effect in refused if effect.is_offered and effect.op in PYTHON]
    if len(later) < len(refused):
        raise errors.PermissionDeniedError(None, None, _refusal(where, refused))
    for effect in later:
        effect.node.attr["token"].s = (REFUSED + _refusal(where, [effect])).encode()


def _refusal(where: str, refused: list[Effect]) -> str:
    shown = ", ".join(f"{effect.op} ('{effect.place}', {effect.what})" for effect in refused[:8])
    ops = sorted({effect.op for effect in refused})
    return f"{where} does more than compute: {shown}. If you trust it, load it with allow={ops!r}."
