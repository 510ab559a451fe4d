"""A graph as a Python program that builds it: `ebbflow show --python model.pb`.

Each node is one line, a call of its op by keywords, under its own name; functions of the library are Python functions,
and nodes that call them are calls, choices and loops. Large constants are read from the file. The graph is read into
Ebbflow first, so loops in TF 1's manner come out as `tf.while_loop`.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.graph.graph import Graph

LARGEST_LITERAL = 16
"""A constant of at most this many numbers is written out; a larger one is read from the file."""

HEADER = '''"""The graph of {path}, as the program that builds it."""

import numpy as np

import ebbflow as tf
from ebbflow.savedmodel.show import read_graph

_stored = {{node.name: node for node in read_graph({path!r}).node if node.op == "Const"}}


def stored(name):
    """Return a constant of the file."""
    return tf.make_ndarray(_stored[name].attr["value"].tensor)

'''
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
CHOICES = ("If", "StatelessIf")
LOOPS = ("While", "StatelessWhile")


def python_code(graph_def: Any, path: str) -> str:
    """Return the text of a program whose `build()` adds the graph to the current one and returns what it made."""
    graph = Graph()
    with graph.as_default():
        import_graph_def(graph_def, name="")
    program = _Program({node.name for node in graph_def.node if node.op == "Const"})
    lines = list(program.body(graph, "build", []))
    text = HEADER.format(path=path) + "".join(f"\n{function}\n" for function in program.functions)
    return text + "\n" + "\n".join(lines) + "\n"


class _Program:
    """The text of a graph and of the functions it calls."""

    def __init__(self, stored: set[str]):
        self._stored = stored
        self.functions: list[str] = []
        self._names: dict[int, str] = {}

    def body(self, graph: Any, name: str, arguments: list[Any]) -> Iterator[str]:
        """Yield the lines of a function that builds the nodes of a graph."""
        words = _Words()
        known = {id(t): words.of(t.op.name) for t in arguments}
        yield f"def {name}({', '.join(known.values())}):"
        count = 0
        for node in graph._nodes:
            if any(t.op is node for t in arguments):
                continue
            count += 1
            yield from (f"    {line}" for line in self._node(node, known, words))
        if isinstance(graph, FuncGraph):
            yield f"    return [{', '.join(known[id(t)] for t in graph.outputs)}]"
        elif count:
            yield "    return {name: value for name, value in locals().items()}"
        else:
            yield "    return {}"

    def _node(self, node: Any, known: dict[int, str], words: _Words) -> Iterator[str]:
        word = words.of(node.name)
        indent = ""
        if node.device:
            yield f"with tf.device({node.device!r}):"
            indent = "    "
        if node._control_inputs:
            waits = [words.of(other.name) for other in node._control_inputs]
            yield f"{indent}with tf.control_dependencies([{', '.join(waits)}]):"
            indent += "    "
        yield f"{indent}{word} = {self._call(node, known)}"
        for i, tensor in enumerate(node._outputs):
            known[id(tensor)] = word if len(node._outputs) == 1 and not self._is_list(node) else f"{word}[{i}]"

    def _is_list(self, node: Any) -> bool:
        outputs = node._op.signature.outputs
        return node.type in (*CALLS, *CHOICES, *LOOPS) or (len(outputs) == 1 and outputs[0].is_list)

    def _call(self, node: Any, known: Mapping[int, str]) -> str:
        given = [known[id(t)] for t in node._inputs]
        if node.type == "Const":
            return self._constant(node)
        if node.type in CALLS:
            return f"{self.function(node._attrs['f'])}({', '.join(given)})"
        if node.type in CHOICES:
            branches = [self.function(node._attrs[a]) for a in ("then_branch", "else_branch")]
            calls = [f"lambda: {one}({', '.join(given[1:])})" for one in branches]
            return f"tf.cond({given[0]}, {calls[0]}, {calls[1]})"
        if node.type in LOOPS:
            test, body = self.function(node._attrs["cond"]), self.function(node._attrs["body"])
            return f"tf.while_loop(lambda *v: {test}(*v)[0], {body}, [{', '.join(given)}])"
        parts = [f"{name}={value}" for name, value in self._arguments(node, given)]
        return f"tf.raw_ops.{node.type}({', '.join([*parts, f'name={node.name!r}'])})"

    def _arguments(self, node: Any, given: list[str]) -> Iterator[tuple[str, str]]:
        """Yield the arguments of an op's call: tensors, then attrs that do not follow from them."""
        signature, at = node._op.signature, 0
        for arg in signature.inputs:
            count = 1
            if arg.number_attr is not None:
                count = node._attrs[arg.number_attr]
            elif arg.is_type_list:
                count = len(node._attrs[arg.type_attr])
            part = given[at : at + count]
            yield arg.name, f"[{', '.join(part)}]" if arg.is_list else part[0]
            at += count
        for name, attr in signature.attrs.items():
            value = node._attrs.get(name)
            if name in signature.inferred or (attr.has_default and _same(value, attr.default)):
                continue
            yield name, self._attr(value)

    def _attr(self, value: Any) -> str:
        if isinstance(value, dtypes.DType):
            return f"tf.{value.base_dtype.name}"
        if isinstance(value, FuncGraph):
            return self.function(value)
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(self._attr(item) for item in value)}]"
        if isinstance(value, np.ndarray):
            return _array(value)
        return repr(value)

    def _constant(self, node: Any) -> str:
        value, dtype = node._attrs["value"], node._attrs["dtype"].base_dtype
        if value.size > LARGEST_LITERAL and node.name in self._stored:
            return f"tf.constant(stored({node.name!r}), tf.{dtype.name}, name={node.name!r})"
        if value.size > 1 and not any(value.strides):
            one = value.reshape(-1)[0].tolist() if dtype is not dtypes.string else value.reshape(-1)[0]
            return f"tf.constant({one!r}, tf.{dtype.name}, {list(value.shape)}, name={node.name!r})"
        return f"tf.constant({_array(value)}, tf.{dtype.name}, {list(value.shape)}, name={node.name!r})"

    def function(self, body: FuncGraph) -> str:
        """Return the name of the Python function that stands for a body, writing it first."""
        if id(body) not in self._names:
            name = _identifier(body.function_name or body.name, set(self._names.values()) | {"build", "stored"})
            self._names[id(body)] = name
            self.functions.append("\n".join(self.body(body, name, body.inputs)))
        return self._names[id(body)]


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return False
    if isinstance(value, tuple) and isinstance(default, (list, tuple)):
        return list(value) == list(default)
    return bool(value == default)


def _array(value: np.ndarray) -> str:
    items = value.tolist()
    text = repr(items)
    return re.sub(r"\b(nan|inf)\b", r"np.\1", text) if value.dtype.kind in "fc" else text


class _Words:
    """Names for Python, one a node."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, name: str) -> str:
        """Return a node's name as Python can say it."""
        if name not in self._known:
            self._known[name] = _identifier(name, set(self._known.values()))
        return self._known[name]


def _identifier(name: str, taken: set[str]) -> str:
    word = re.sub(r"\W", "_", name)
    word = f"_{word}" if not word or word[0].isdigit() or keyword.iskeyword(word) or word in ("tf", "np") else word
    found, number = word, 1
    while found in taken:
        found, number = f"{word}_{number}", number + 1
    return found
