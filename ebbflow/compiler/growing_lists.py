"""Lists that a loop writes behind their end, as pushes.

    list = TensorListSetItem(list, i, x, resize)     =>     list = TensorListPushBack(list, x)

where every turn of a counted loop writes the element behind the last: what a `TensorArray` of dynamic size is mostly
for. Its gradient makes the list shorter again in every turn; where nobody takes what is left in the end, it need not.
Only the flow that code is made of is written so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ebbflow.compiler.flow import Flow, Node, Rewrite, Value, make
from ebbflow.core.registry import registry


def as_pushes(body: Flow, lengths: dict[int, int], starts: dict[Value, int]) -> Flow:
    """Return a loop's body that pushes.

    `lengths` are those of the lists that enter, by number, and `starts` what numbers are in the first turn, of those
    that each further turn adds one to.
    """
    behind: dict[Value, Value] = {}  # by list: the number of the element behind its last
    for i, length in lengths.items():
        node = _only_user(body, body.inputs[i], may_grow)
        if node is not None and starts.get(node.inputs[1]) == length and node.outputs[0] is body.outputs[i]:
            behind[body.inputs[i]] = node.inputs[1]
    if not behind:
        return body

    def visit(node: Node, rewrite: Rewrite) -> list[Value] | None:
        if not node.inputs or node.inputs[0] not in behind:
            return None
        if may_grow(node):
            attrs = {"element_dtype": node.attrs["element_dtype"]}
            pushed = make(registry["TensorListPushBack"], [node.inputs[0], node.inputs[2]], attrs, node.origin)
            return rewrite.add(pushed).outputs
        return [behind[node.inputs[0]]]

    return Rewrite(_in_front(body, behind.values())).run(visit)


def _in_front(body: Flow, numbers: Iterable[Value]) -> Flow:
    """Return the flow with what some numbers follow from (counters, and nothing else) in front of all others."""
    first: set[Node] = set()
    stack = [v.node for v in numbers]
    while stack:
        node = stack.pop()
        if node is not None and node not in first:
            first.add(node)
            stack += [v.node for v in node.inputs]
    return Flow(body.inputs, sorted(body.nodes, key=lambda n: n not in first), body.outputs, body.roots)


def without_cuts(body: Flow, unused: set[int]) -> Flow:
    """Return a loop's body that leaves lists as long as they are, where nobody takes them in the end."""
    used = {v for node in body.nodes for v in node.inputs}
    cuts = {v.node for i in unused if _cuts(v := body.outputs[i]) and v not in used}
    if not cuts:
        return body
    return Rewrite(body).run(lambda node, rewrite: [node.inputs[0]] if rewrite.original in cuts else None)


def _cuts(value: Value) -> bool:
    return value.node is not None and value.node.op.name == "TensorListResize"


def _only_user(body: Flow, value: Value, wanted: Callable[[Node], bool]) -> Node | None:
    """Return the one node of this kind that takes a list, if no other does but to ask for its length."""
    users = [n for n in body.nodes if value in n.inputs and not _asks(n)]
    return users[0] if len(users) == 1 and wanted(users[0]) and value not in body.outputs else None


def may_grow(node: Node) -> bool:
    """Return whether a node may write behind the end of a list."""
    return node.op.name == "TensorListSetItem" and node.attrs["resize_if_index_out_of_bounds"]


def _asks(node: Node) -> bool:
    return node.op.name == "TensorListLength"
