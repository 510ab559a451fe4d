"""Loops and choices over reference variables, written as TensorFlow 1 wrote them: Switch and Merge, Enter and Exit.

A function's argument cannot be a reference in TensorFlow, so a body that changes a reference variable is written into
the graph around it, under the name of its node; a node of that name stays, and gives what the body gives. Other loops
and choices are written with their bodies as functions, which TensorFlow 1.15 and 2.21 read. Knows nodes and
NodeDefs; `graph_def` calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core.dtypes import DType
from ebbflow.messages.attrs import attr_value


def takes_references(node: Any) -> bool:
    """Return whether a node is a loop or a choice with a reference among its arguments."""
    attrs = node._attrs
    if not ("then_branch" in attrs or ("body" in attrs and "cond" in attrs)):
        return False
    return any(tensor._dtype._is_ref_dtype for tensor in node._inputs)


class LowLevelWriter:
    """Adds the nodes of loops and choices to a GraphDef."""

    def __init__(self, graph_def: Any, fill_node: Callable[[Any, Any], None], taken: set[str]):
        self._graph_def, self._fill_node, self._taken = graph_def, fill_node, taken

    def write(self, node: Any) -> None:
        """Write a loop or a choice of the graph itself."""
        inputs = [tensor._as_node_def_input() for tensor in node._inputs]
        self._lower(node, node.name, inputs, [f"^{n.name}" for n in node._control_inputs])

    def _lower(self, node: Any, name: str, inputs: list[str], controls: list[str]) -> None:
        types = [tensor._dtype for tensor in node._inputs]
        if "then_branch" in node._attrs:
            outputs, effects = self._choice(node, name, inputs, types, controls)
        else:
            outputs, effects = self._loop(node, name, inputs, types, controls)
        if outputs:
            kinds = [tensor.dtype.base_dtype for tensor in node._outputs]
            self._add(name, "IdentityN", [*outputs, *effects], {"T": ("list(type)", kinds)})
        else:
            self._add(name, "NoOp", effects)

    def _add(self, name: str, op: str, inputs: Sequence[str], attrs: dict[str, tuple[str, Any]] | None = None) -> str:
        written = self._graph_def.node.add(name=name, op=op)
        written.input.extend(inputs)
        for key, (kind, value) in (attrs or {}).items():
            written.attr[key].CopyFrom(attr_value(kind, value))
        return name

    def _typed(self, name: str, op: str, inputs: Sequence[str], dtype: DType, **attrs: tuple[str, Any]) -> str:
        """Add a node that passes values on: of references its reference form."""
        form = f"Ref{op}" if dtype._is_ref_dtype else op
        return self._add(self._free(name), form, inputs, {"T": ("type", dtype.base_dtype), **attrs})

    def _free(self, name: str) -> str:
        found, number = name, 0
        while found in self._taken:
            number += 1
            found = f"{name}_{number}"
        self._taken.add(found)
        return found

    # --- choices ------------------------------------------------------------------------------------------------------

    def _choice(
        self, node: Any, name: str, inputs: list[str], types: list[DType], controls: list[str]
    ) -> tuple[list[str], list[str]]:
        predicate = inputs[0]
        kind = {"T": ("type", types[0].base_dtype)}
        pivot = self._add(self._free(f"{name}/Switch"), "Switch", [predicate, predicate, *controls], kind)
        ways = []
        for output, branch, word in ((0, "else_branch", "switch_f"), (1, "then_branch", "switch_t")):
            side = self._add(self._free(f"{name}/{word}"), "Identity", [f"{pivot}:{output}"], kind)
            arguments = [
                f"{self._typed(f'{name}/Switch', 'Switch', [value, predicate], dtype)}:{output}"
                for value, dtype in zip(inputs[1:], types[1:], strict=True)
            ]
            results, effects = self._inlined(node._attrs[branch], arguments, name, side)
            after = self._add(self._free(f"{name}/done"), "Identity", [side, *effects], kind)
            ways.append(([*results], after))
        (no, no_after), (yes, yes_after) = ways
        merged = []
        for tensor, one, other in zip(node._outputs, no, yes, strict=True):
            merged.append(self._merge(name, [one, other], tensor.dtype.base_dtype))
        return merged, [f"^{self._merge(name, [no_after, yes_after], types[0].base_dtype)}"]

    def _merge(self, name: str, inputs: list[str], dtype: DType) -> str:
        attrs = {"T": ("type", dtype), "N": ("int", len(inputs))}
        return self._add(self._free(f"{name}/Merge"), "Merge", inputs, attrs)

    # --- loops --------------------------------------------------------------------------------------------------------

    def _loop(
        self, node: Any, name: str, inputs: list[str], types: list[DType], controls: list[str]
    ) -> tuple[list[str], list[str]]:
        body, test = node._attrs["body"], node._attrs["cond"]
        same = [out is argument for out, argument in zip(body.outputs, body.inputs, strict=True)]
        frame = {"frame_name": ("string", name), "parallel_iterations": ("int", 10)}
        values = [
            self._typed(f"{name}/Enter", "Enter", [value, *controls], dtype, is_constant=("bool", stays), **frame)
            for value, dtype, stays in zip(inputs, types, same, strict=True)
        ]
        changing = [i for i, stays in enumerate(same) if not stays]
        merges: dict[int, Any] = {}
        for i in changing:
            values[i] = self._merge(name, [values[i], values[i]], types[i].base_dtype)
            merges[i] = self._graph_def.node[-1]
        (go_on,), _ = self._inlined(test, values, name, values[changing[0]])
        test_name = self._add(self._free(f"{name}/LoopCond"), "LoopCond", [go_on])
        outputs, within = list(inputs), list(values)
        for i in changing:
            switch = self._typed(f"{name}/Switch", "Switch", [values[i], test_name], types[i].base_dtype)
            within[i] = self._typed(f"{name}/Identity", "Identity", [f"{switch}:1"], types[i].base_dtype)
            outputs[i] = self._typed(f"{name}/Exit", "Exit", [switch], types[i].base_dtype)
        results, effects = self._inlined(body, within, name, within[changing[0]])
        for i in changing:
            last = self._typed(f"{name}/Identity", "Identity", [results[i], *effects], types[i].base_dtype)
            merges[i].input[1] = self._typed(f"{name}/NextIteration", "NextIteration", [last], types[i].base_dtype)
        return outputs, [f"^{outputs[changing[0]]}"]

    # --- bodies -------------------------------------------------------------------------------------------------------

    def _inlined(self, body: Any, arguments: list[str], prefix: str, pivot: str) -> tuple[list[str], list[str]]:
        """Write the nodes of a body; return the edges of its results, and of what it does besides."""
        edges = {id(tensor): edge for tensor, edge in zip(body.inputs, arguments, strict=True)}
        outside = {tensor.op for tensor in body.inputs}
        names: dict[Any, str] = {}
        for node in body._nodes:
            if node in outside:
                continue
            name = names[node] = self._free(f"{prefix}/{node.name}")
            inputs = [edges[id(tensor)] for tensor in node._inputs]
            controls = [f"^{names[n]}" for n in node._control_inputs if n in names]
            if not inputs and not controls:
                controls = [f"^{pivot.partition(':')[0]}"]
            if takes_references(node):
                self._lower(node, name, inputs, controls)
            else:
                written = self._graph_def.node.add()
                self._fill_node(written, node)
                written.name = name
                written.input[:] = [*inputs, *controls]
                written.attr.pop("_class", None)
            edges.update({id(t): f"{name}:{i}" if i else name for i, t in enumerate(node._outputs)})
        effects = [f"^{names[node]}" for node in names if node._op.stateful]
        return [edges[id(tensor)] for tensor in body.outputs], effects
