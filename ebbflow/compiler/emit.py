"""From a Flow to source: one straight-line Python function.

Each node becomes a line (or a few): NumPy functions with an array to write into, kernels made by an engine for the
shapes at hand, and otherwise the op's own kernel. Intermediate results of known shape lie in planned memory and are
arrays with a name; everything else is a local variable that is let go of after its last use. Behind each line stands
the user's own. The text is what runs, and what `sess.explain` shows.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.compiler import aliasing, numpy_lines, views
from ebbflow.compiler.buffers import Block
from ebbflow.compiler.flow import Flow, Node, Value, is_state, is_variable
from ebbflow.compiler.passes.native import BOTH
from ebbflow.core import memory
from ebbflow.core.op import Known
from ebbflow.ops.state.storage import Storage

BIG = 1 << 16
"""A result of at least this many bytes that leaves the Program starts at a multiple of 64."""


class Source:
    """The text of a program, what its names mean, and which node each line belongs to."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.nodes: list[Node | None] = []
        self.names: dict[str, Any] = {}
        self.places: dict[str, tuple[int, Value]] = {}
        self.views: dict[str, str] = {}
        self.size = 0
        self.natives: list[str] = []  # names of what is replaced by machine code when that is there
        self.changes = False  # whether lines change state, so that they may not run twice
        self.complains = False  # whether lines are computed by NumPy, which may be told to raise warnings
        self.owned: list[bool] = []
        self.operands: dict[Node, list[str]] = {}

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


class Writer:
    """Writes one flow; `bind(node)` gives a node's kernel as a function of its flat inputs.

    Written `exact`, a node is computed as a single call of its op would be: engines prepare nothing of their own.
    """

    def __init__(self, flow: Flow, bind: Callable[[Node], Callable[..., Any]], exact: bool = False):
        self.flow = flow
        self.exact = exact
        self.bind = bind
        self.source = Source()
        self.source.names |= {"empty": np.empty, "fit": fit, "aligned": memory.empty}
        self._taken: set[str] = {"program", "tick", *keyword.kwlist, *self.source.names, *numpy_lines.namespace()}
        self._named: dict[Value, str] = {}
        self._shared: dict[Any, str] = {}  # names of what several lines use: numbers, dtypes, variables' storages
        self._made: dict[Node, Callable[..., Any]] = {}
        self._block = Block()
        self._offsets: dict[Value, int] = {}
        self._flat: set[str] = set()  # views that are contiguous
        self._looks_into: dict[Value, set[Value]] = {}  # values whose memory a value may share, itself included

    def write(self) -> Source:
        flow = self.flow
        chosen = {node: self._choose(node) for node in flow.nodes}
        fresh = {node for node, (kind, _) in chosen.items() if kind in ("rows", "made")}
        for node in flow.nodes:
            into = {w for v in aliasing.shared_inputs(node, fresh) for w in self._looks_into.get(v, (v,))}
            for value in node.outputs:
                self._looks_into[value] = {value, *into}
        self._escaping = aliasing.escaping(flow, fresh)
        self._last = aliasing.last_uses(flow, fresh)
        self._dying = _by_number(self._last)
        arguments = [self._name(v, v.op.name if v.op is not None else f"x{i}") for i, v in enumerate(flow.inputs)]
        self._line(f"def program({', '.join(arguments)}):", None)
        for number, node in enumerate(flow.nodes):
            self._write(number, node, *chosen[node])
        self._finish(fresh)
        self.source.size = self._block.size
        return self.source

    # --- one node -----------------------------------------------------------------------------------------------------

    def _choose(self, node: Node) -> tuple[str, Any]:
        """Return how a node is written: known already, a view, rows of NumPy, made by an engine, or by its kernel."""
        if node.op.name == "Const":
            return "const", node.attrs["value"]
        if node.op.facts.variable:
            return "handle", None
        if node.op.facts.reads == "whole" and is_variable(node.inputs[0]):
            return "read", None
        if node.op in BOTH:
            return "made", self.bind(node)
        single = node.op.signature.gives_one
        if node.op.update is not None and all(is_variable(v) for v in node.inputs if is_state(v)):
            return "update", node.op.update
        view = views.view_of(node)
        if view is not None:
            return "view", view
        static = all(v.is_static and v.dtype.np.kind != "O" for v in (*node.inputs, *node.outputs))
        made = None if self.exact else self._prepared(node, node.op.preparers if static else node.op.open_preparers)
        if static:
            if made is not None:
                return "made", made
            if single and not (self.exact and _has_engine(node)):
                lines = numpy_lines.lines_for(node)
                if lines is not None:
                    return "rows", lines
        return "kernel", None if static else made

    def _prepared(self, node: Node, preparers: Sequence[Callable[..., Any]]) -> Callable[..., Any] | None:
        for prepare in preparers:
            made = prepare([Known(v.dims, v.dtype, v) for v in node.inputs], node.attrs, [v.dims for v in node.outputs])
            if made is not None:
                return made
        return None

    def _write(self, number: int, node: Node, kind: str, how: Any) -> None:
        inputs = [self._named[v] for v in node.inputs]
        self.source.operands[node] = inputs
        self.source.changes |= node.acts
        self.source.complains |= kind in ("rows", "kernel", "update")
        if kind == "const":
            self._bind(node.outputs[0], np.asarray(how))
            return
        if kind == "handle":
            self._bind(node.outputs[0], self.bind(node)())
            return
        if kind == "read":
            self._read(node, inputs[0])
        elif kind == "update":
            self._update(node, inputs, how)
        elif kind == "view":
            self._view(node, node.inputs[how[0]], how[1])
        elif kind == "rows":
            self._rows(number, node, inputs, how)
        elif kind == "made":
            shares = [node.inputs[i] for i in getattr(how, "shares", ())]
            targets = [self._target(number, v, node, self._alone(shares, node, v)) for v in node.outputs]
            self._line("    " + self._call(node, how, inputs, targets), node)
        else:
            self._kernel(node, inputs, how)
        self._let_go(number, node)

    def _call(self, node: Node, how: Any, inputs: list[str], targets: list[str]) -> str:
        """Return the call of what fills the targets; machine code may refuse, and says so."""
        name = self._object(node, how)
        if node.op not in BOTH:
            return f"{name}({', '.join([*inputs, *targets])})"
        self.source.natives.append(name)
        given = ", ".join([*[inputs[i] for i in how.takes], *targets])
        host = self._free(f"{name}_by_numpy")
        self.source.names[host] = how.by_numpy
        return f"{name}({given}) or {host}({given})"

    def _read(self, node: Node, handle: str) -> None:
        """A variable of this session is known before: reading it is asking its storage."""
        storage = node.inputs[0].storage or self.source.names[handle].item()
        if not isinstance(storage, Storage) or storage.dtype is not node.outputs[0].dtype:
            self._kernel(node, [handle])
            return
        name = self._once(storage, f"{handle}_storage", storage)
        self._line(f"    {self._name(node.outputs[0], handle + '_value')} = {name}.read()", node)

    def _update(self, node: Node, inputs: list[str], bound: Callable[..., Any]) -> None:
        """An optimizer's step on variables that are known before."""
        state = [name for name, v in zip(inputs, node.inputs, strict=True) if is_state(v)]
        storages = [v.storage or self.source.names[n].item() for n, v in zip(state, node.inputs, strict=False)]
        call = self._object(node, bound(storages, {name: node.attrs[name] for name in node.op.kernel_attrs}))
        self._line(f"    {call}({', '.join(inputs[len(state) :])})", node)
        for value in node.outputs:  # of references: the variable itself
            self._named[value] = state[0]

    def _view(self, node: Node, whole: Value, texts: Sequence[str]) -> None:
        """Views into planned memory are made once, with it; others where they are needed."""
        looked_into = self._named[whole]
        planned = looked_into in self.source.places or looked_into in self.source.views
        whole_lies_flat = looked_into in self.source.places or looked_into in self._flat
        if any(".reshape" in text for text in texts):
            planned = planned and whole_lies_flat  # NumPy copies what it cannot reshape in place
        for value, text in zip(node.outputs, texts, strict=True):
            name = self._name(value, f"{node.name}_{value.index}" if value.index else node.name)
            expression = text.format(looked_into)
            if planned:
                self.source.views[name] = expression
                if whole_lies_flat and ".reshape" in expression:
                    self._flat.add(name)
            else:
                self._line(f"    {name} = {expression}", node)

    def _rows(self, number: int, node: Node, inputs: list[str], lines: Sequence[str]) -> None:
        out = node.outputs[0]
        shares = [v for v, may in zip(node.inputs, numpy_lines.may_share(node, lines), strict=True) if may]
        if len(lines) > 1:  # later lines must not find their input overwritten, under whatever name they know it
            shares = self._alone(shares, node, out)
        names = dict(zip(numpy_lines.argument_names(node), inputs, strict=True))
        if (
            out in self._escaping
            and out.dims
            and out.nbytes < BIG
            and (made := numpy_lines.making(lines[0])) is not None
        ):
            names["out"] = self._name(out, node.name)
            lines = [f"out = {made}", *lines[1:]]
        else:
            names["out"] = self._target(number, out, node, shares)
        for word, number_ in numpy_lines.CONSTANTS.items():
            if any(word in numpy_lines.words(line) for line in lines):
                names[word] = self._number(number_, out)
        for line in lines:
            line = re.sub(r"number\(([^)]*)\)", lambda m: self._number(float(m.group(1)), out), line)
            self._line("    " + self._into_part(numpy_lines.fill(line, names), names["out"]), node)

    def _into_part(self, line: str, whole: str) -> str:
        """Return a line that fills a part of planned memory with the part, which is always the same, under a name."""
        part, is_filled, value = line.partition(" = ")
        if not is_filled or not part.startswith(f"{whole}[") or whole not in self.source.places:
            return line
        name = self._free(f"{whole}_part")
        self.source.views[name] = part
        return f"{name}[...] = {value}"

    def _alone(self, values: Sequence[Value], node: Node, out: Value) -> list[Value]:
        """Return those of a node's inputs that no other of its inputs may share memory with, as large as `out`."""
        return [
            v
            for v in values
            if v.nbytes == out.nbytes and sum(v in self._looks_into.get(w, (w,)) for w in node.inputs) == 1
        ]

    def _kernel(self, node: Node, inputs: list[str], made: Callable[..., Any] | None = None) -> None:
        call = f"{self._object(node, made or self.bind(node))}({', '.join(inputs)})"
        outs = node.outputs
        if not outs:
            self._line(f"    {call}", node)
            return
        if node.op.signature.gives_one:
            name = self._name(outs[0], node.name)
            self._line(
                f"    {name} = fit({call}, {self._dtype(outs[0])})" if _fits(outs[0]) else f"    {name} = {call}", node
            )
            return
        names = [self._name(v, f"{node.name}_{v.index}" if v.index else node.name) for v in outs]
        self._line(f"    {', '.join(names)}, = {call}", node)
        for name, value in zip(names, outs, strict=True):
            if _fits(value):
                self._line(f"    {name} = fit({name}, {self._dtype(value)})", node)

    def _target(self, number: int, value: Value, node: Node, shares: Sequence[Value]) -> str:
        """Return the name of the array that a result is written into."""
        wanted = value.op.name if node.op in BOTH and value.op is not None else node.name
        if value in self._escaping:
            name = self._name(value, wanted)
            make = "aligned" if value.nbytes >= BIG else "empty"
            self._line(f"    {name} = {make}({value.dims}, {self._dtype(value)})", node)
            return name
        for other in shares:
            if self._last.get(other) == number and other in self._offsets:
                self._offsets[value] = self._offsets.pop(other)
                break
        else:
            self._offsets[value] = self._block.take(value.nbytes)
        name = self._name(value, wanted)
        self.source.places[name] = (self._offsets[value], value)
        return name

    def _let_go(self, number: int, node: Node) -> None:
        gone = []
        unused = [v for v in node.outputs if v not in self._last and v in self._offsets]
        for value in (*unused, *self._dying.get(number, ())):
            if value in self._offsets:
                self._block.give(self._offsets.pop(value), value.nbytes)
            elif value.node is not None and value.node.op.name != "Const" and self._is_local(value):
                gone.append(self._named[value])
        if gone:
            self._line(f"    del {', '.join(gone)}", node)

    def _is_local(self, value: Value) -> bool:
        name = self._named.get(value)
        return (
            name is not None
            and name not in self.source.places
            and name not in self.source.names
            and name not in self.source.views
        )

    # --- the end ------------------------------------------------------------------------------------------------------

    def _finish(self, fresh: set[Node]) -> None:
        results = [self._named[v] for v in self.flow.outputs]
        self._line(
            f"    return {', '.join(results)}{',' if len(results) == 1 else ''}" if results else "    return ()", None
        )
        seen: set[str] = set()
        for value, name in zip(self.flow.outputs, results, strict=True):
            self.source.owned.append(value.node in fresh and name not in seen)
            seen.add(name)

    # --- names --------------------------------------------------------------------------------------------------------

    def _name(self, value: Value, wanted: str) -> str:
        name = self._free(wanted)
        self._named[value] = name
        return name

    def _free(self, wanted: str) -> str:
        base = re.sub(r"\W", "_", wanted)
        base = f"_{base}" if base[:1].isdigit() else base or "_"
        name, count = base, 1
        while name in self._taken:
            name = f"{base}_{count}"
            count += 1
        self._taken.add(name)
        return name

    def _bind(self, value: Value, array: np.ndarray) -> None:
        self.source.names[self._name(value, value.node.name if value.node else "constant")] = array

    def _object(self, node: Node, thing: Any) -> str:
        name = self._free(f"run_{node.name.rpartition('/')[2]}")
        self.source.names[name] = thing
        return name

    def _number(self, number: float, like: Value) -> str:
        text = f"{number:g}".replace("-", "minus_").replace(".", "_").replace("+", "")
        name = f"{_NUMBERS.get(number, f'n{text}')}_{like.dtype.name}"
        return self._once((number, like.dtype), name, np.array(number, like.dtype.np))

    def _dtype(self, value: Value) -> str:
        return self._once(value.dtype.base_dtype, f"t_{value.dtype.base_dtype.name}", value.dtype.np)

    def _once(self, key: Any, wanted: str, thing: Any) -> str:
        """Return the name of something that several lines use."""
        if key not in self._shared:
            self._shared[key] = self._free(wanted)
            self.source.names[self._shared[key]] = thing
        return self._shared[key]

    def _line(self, text: str, node: Node | None) -> None:
        self.source.lines.append(text)
        self.source.nodes.append(node)


_NUMBERS = {0: "zero", 1: "one", 2: "two", 6: "six", 0.5: "half"}


def _has_engine(node: Node) -> bool:
    """Return whether a single call of this size is an engine's."""
    arrays = [np.broadcast_to(np.zeros((), v.dtype.np), v.dims) for v in node.inputs]  # type: ignore[arg-type]
    return any(wins(node.grouped(arrays), node.attrs) for wins, _ in node.op.engines)


def _by_number(last: dict[Value, int]) -> dict[int, list[Value]]:
    found: dict[int, list[Value]] = {}
    for value, number in last.items():
        found.setdefault(number, []).append(value)
    return found


def _fits(value: Value) -> bool:
    """Return whether a kernel's result must be looked at: kernels may give a scalar, or another dtype."""
    return not value.dtype._is_ref_dtype


def fit(result: Any, dtype: np.dtype) -> np.ndarray:
    """Return a kernel's result as an array of the dtype."""
    return result if result.__class__ is np.ndarray and result.dtype is dtype else np.asarray(result, dtype)
