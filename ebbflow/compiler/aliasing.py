"""Who may share memory with whom, and what leaves the Program.

A result of a view, or of a kernel that promises nothing, may be (part of) one of its inputs. What is fetched, or handed
to an op that keeps it, escapes: it, and all that it may share memory with, must not lie in memory that is used again.
"""

from __future__ import annotations

from ebbflow.compiler.flow import HANDLES, READS, Flow, Node, Value
from ebbflow.compiler.views import NAMES as VIEWS
from ebbflow.compiler.views import view_of

_LETS_GO = ("Apply", "Assert", "Print", "Scatter")  # of stateful ops: those that use their inputs and forget them


def promises_fresh(node: Node) -> bool:
    """Return whether a node's results never share memory with its inputs."""
    return bool(node.op.facts.get("elementwise")) and node.op.name not in VIEWS and node.op.name not in _MAY_PASS


_MAY_PASS = frozenset(["Cast", "Real", "Conj", "Snapshot", "Identity"])


_FRESH = frozenset(
    [
        "Softmax",
        "LogSoftmax",
        "SoftmaxCrossEntropyWithLogits",
        "SparseSoftmaxCrossEntropyWithLogits",
        "_ScaledCrossEntropy",
        "MatMul",
        "BatchMatMulV2",
        "Sum",
        "Mean",
        "Max",
        "Min",
        "Prod",
        "Conv2D",
        "Conv2DBackpropInput",
        "Conv2DBackpropFilter",
        "MaxPool",
        "MaxPoolGrad",
        "AvgPool",
        "AvgPoolGrad",
        "BiasAddGrad",
        "ArgMax",
        "OneHot",
        "Tile",
        "Fill",
        "ZerosLike",
        "OnesLike",
        "L2Loss",
        "FusedBatchNormV3",
        "FusedBatchNormGradV3",
        "Any",
        "All",
    ]
)  # kernels that always make their results anew


def shared_inputs(node: Node, fresh: set[Node]) -> list[Value]:
    """Return the inputs that a node's results may share memory with."""
    if node in fresh or promises_fresh(node) or node.op.name in _FRESH:
        return []
    if node.op.name in VIEWS:
        view = view_of(node)
        if view is not None:
            return [node.inputs[view[0]]]
    if node.op.name == "_Cluster":
        handed_on = escaping(node.attrs["region"], set())
        return [v for v, inside in zip(node.inputs, node.attrs["region"].inputs, strict=True) if inside in handed_on]
    return [v for v in node.inputs if not (v.is_static and v.size == 0)]


def keeps_inputs(node: Node) -> bool:
    """Return whether a node may hold on to its inputs after it ran."""
    return node.stateful and node.op.name not in READS | HANDLES and not any(part in node.op.name for part in _LETS_GO)


def escaping(flow: Flow, fresh: set[Node]) -> set[Value]:
    """Return the values whose memory somebody outside may hold after the Program ran."""
    out = set(flow.outputs)
    for node in reversed(flow.nodes):
        if keeps_inputs(node):
            out.update(node.inputs)
        if out.intersection(node.outputs):
            out.update(shared_inputs(node, fresh))
    return out


def last_uses(flow: Flow, fresh: set[Node]) -> dict[Value, int]:
    """Return the number of the last node that needs each value's memory; what is fetched is needed to the end."""
    last = dict.fromkeys(flow.outputs, len(flow.nodes))
    for number in range(len(flow.nodes) - 1, -1, -1):
        node = flow.nodes[number]
        for value in node.inputs:
            last.setdefault(value, number)
        longest = max((last[v] for v in node.outputs if v in last), default=number)
        for value in shared_inputs(node, fresh):
            last[value] = max(last[value], longest)
    return last
