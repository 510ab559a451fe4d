"""Facts of ops are declared beside the op: nobody else keeps a list of names, or looks for part of one.

The sources outside of `ops/` and `api/` are searched for sets, lists, tuples, dicts and texts that name several ops.
What is left is a table of rules, one op each, and stands below with the reason. Versions of an op (`Add`, `AddV2`;
`If`, `StatelessIf`) count as one.
"""

from __future__ import annotations

import ast
import pathlib
import re
from collections.abc import Iterator

import pytest

from ebbflow.core.registry import registry

ROOT = pathlib.Path(__file__).parent.parent / "ebbflow"
NAMES = frozenset(registry.names())

ALLOWED = {
    # Tables of rules: how an engine or a transform does one op.
    "compiler/known_lists.py:_RULES": "what each op does to a list whose elements are known",
    "compiler/loops.py:GROWS": "by how much each op changes the length of a list",
    "compiler/open_rows.py:_RULES": "how each op takes rows of a list for an array",
    "compiler/ranges.py:_RULES": "the range of the numbers that each op makes of others",
    "compiler/loops.py:_note_list": "the same: which input is the new item",
    "compiler/loops.py:_shapes": "the shapes of a list's elements put together, in two ways",
    "compiler/numpy_lines.py:LINES": "lines of NumPy for each op",
    "compiler/numpy_lines.py:_": "the ufunc of each reduction",
    "compiler/shapes_through.py:_RULES": "what each op on lists says of the shapes in them",
    "compiler/passes/channels_last.py:_FORMATTED": "how each op reads with channels last",
    "compiler/passes/channels_last.py:_PER_AXIS": "the same, for ops with an argument for each axis",
    "compiler/passes/columns.py:_WHOLE": "which columns each op takes",
    "compiler/passes/fuse.py:_PLANNERS": "oneDNN's plan for each op",
    "engines/native/arithmetic/division.py:_FLOATS": "machine code for each division",
    "engines/native/arithmetic/division.py:_INTEGERS": "machine code for each division",
    "engines/large_calls.py:FUNCTIONS": "machine code for single calls of each op",
    "engines/native/lowerings/convolution.py:_OPERANDS": "which operand is which, for each convolution",
    "engines/native/lowerings/elementwise.py:FORMULAS": "machine code for each op",
    "engines/native/lowerings/elementwise.py:BOOLS": "machine code for each op",
    "engines/native/lowerings/elementwise.py:ANY": "machine code for each op",
    "engines/native/lowerings/elementwise.py:FLOATS": "machine code for each op",
    "engines/native/lowerings/elementwise.py:LEAKY": "machine code for each op",
    "functions/control_flow/summed_once.py:summed_once": "how each sum over all turns becomes one call",
    "tf1/float_operations.py:FORMULAS": "how many float operations TensorFlow's profiler counts for each op",
    "graph/constants.py:partial_dims": "how each op passes a partly known shape on",
    # What is read or written by name: messages, and TF 1's dataflow.
    "data/queue_readers.py:_MAKERS": "the declarations of ops",
    "data/queue_readers.py:_USES": "the declarations of ops",
    "eager/explain.py:_broken": "words for a message",
    "engines/xla/refusal.py:_NO_WORK": "what a body has besides computations",
    "functions/dataflow_v1/functional_builder.py:*": "TF 1's dataflow, op by op",
    "functions/dataflow_v1/low_level.py:*": "TF 1's dataflow, op by op",
    "functions/dataflow_v1/merge_groups.py:*": "TF 1's dataflow, op by op",
    "graph/freezing.py:*": "nodes of a GraphDef, each by what stands for it when it is frozen",
    "graph/graph_util.py:*": "TensorFlow's own lists, which `tf.graph_util` documents, of nodes in a GraphDef",
    "savedmodel/load_v1.py:*": "nodes of a GraphDef",
    "savedmodel/safety.py:*": "nodes of a file, which may be of ops that nobody declares here",
    "savedmodel/show.py:*": "nodes of a GraphDef",
    "tf1/graph_transforms/batch_norms.py:*": "the nodes of a layer, as TensorFlow's transforms look for them",
    "tf1/graph_transforms/edits.py:*": "nodes of a GraphDef",
    "tf1/graph_transforms/folding.py:*": "nodes of a GraphDef: inputs, and TF 1's dataflow",
    "tf1/quantize/layers.py:*": "the nodes of a layer, as TensorFlow's rewrite looks for them",
    "tf1/receptive_field.py:*": "nodes of a GraphDef",
    "tf1/quantize/unfused.py:*": "the layers whose normalisation is folded",
    "train/device_setter.py:STANDARD_PS_OPS": "TensorFlow's own list, which users are given and may change",
    # Not ops, though they are called like some.
    "engines/xla/lowerings_state.py:*": "kinds of updates",
    "state/functions.py:_DONE": "kinds of updates",
}


def stem(name: str) -> str:
    return re.sub(r"V\d+$", "", name.removeprefix("Stateless").removeprefix("Stateful"))


def names_in(node: ast.AST) -> set[str]:
    """Return the ops that a collection, or a text of nothing but words, names."""
    if isinstance(node, (ast.Set, ast.List, ast.Tuple)):
        items = [e.value for e in node.elts if isinstance(e, ast.Constant)]
    elif isinstance(node, ast.Dict):
        items = [k.value for k in node.keys if isinstance(k, ast.Constant)]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        words = node.value.split()
        items = words if all(word in NAMES for word in words) else []
    else:
        return set()
    return {stem(item) for item in items if isinstance(item, str) and item in NAMES}


def looks_for_a_part(node: ast.AST) -> bool:
    """Return whether a name is matched by a part that ops have in their names."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in ("startswith", "endswith") or not node.args or not is_a_name(node.func.value):
            return False
        given = node.args[0].elts if isinstance(node.args[0], ast.Tuple) else node.args[:1]
        return any(is_a_part(e) for e in given)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return is_a_part(node.left) and is_a_name(node.comparators[0])
    return False


def is_a_name(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("name", "type", "kind")
    return isinstance(node, ast.Name) and node.id in ("name", "kind", "op_name", "op_type")


def is_a_part(node: ast.AST) -> bool:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or not re.match("[A-Z][a-z]", node.value):
        return False
    return any(node.value in name for name in NAMES)


def found(tree: ast.AST, inside: str = "") -> Iterator[tuple[str, int, str]]:
    """Yield where ops are listed: the variable or function it is in, the line, and what is wrong."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and not inside.endswith("()"):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            place = target.id if isinstance(target, ast.Name) else inside
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            place = f"{node.name}()"
        else:
            place = inside
        listed = names_in(node)
        if len(listed) > 1:
            yield place.removesuffix("()"), node.lineno, f"lists {', '.join(sorted(listed)[:5])}"
        elif looks_for_a_part(node):
            yield place.removesuffix("()"), node.lineno, f"matches a part of names: {ast.unparse(node)}"
        yield from found(node, place)


def places() -> Iterator[tuple[str, str, int, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        if file.split("/")[0] not in ("ops", "api"):
            for place, line, what in found(ast.parse(path.read_text())):
                yield file, place, line, what


def test_no_lists_of_ops():
    wrong = [
        f"ebbflow/{file}:{line} ({place}) {what}: declare it beside the op (core/facts.py)"
        for file, place, line, what in places()
        if f"{file}:{place}" not in ALLOWED and f"{file}:*" not in ALLOWED
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_allowed_is_there():
    there = {name for file, place, _, _ in places() for name in (f"{file}:{place}", f"{file}:*")}
    assert not set(ALLOWED) - there


@pytest.mark.parametrize(
    "text",
    [
        'CHEAP = frozenset(["Reshape", "Tile"])',
        'CHEAP = """Reshape Tile\n Pad""".split()',
        'COST = {"Erf": 10, "Cumsum": 45}',
        'def f(node):\n    return node.op.name in ("Sum", "Mean")',
        'def f(node):\n    return node.op.name.startswith("Conv")',
        'def f(name):\n    return "MatMul" in name or name.startswith(("TensorList", "Empty"))',
    ],
)
def test_lists_are_seen(text):
    assert list(found(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        'pair = node.op.name in ("Add", "AddV2")',
        'words = ["one", "Tile", "two"]',
        'first = data_format.startswith("NC") or name.startswith("_")',
        'text = "Tile repeats its input, Pad surrounds it"',
    ],
)
def test_others_are_not(text):
    assert not list(found(ast.parse(text)))
