"""Element-wise work on large arrays, a piece at a time.

NumPy goes through memory once per function. Here all functions of a region are applied to one piece before the next, so
what they hand to each other stays in the cache; several threads take a stretch of pieces each. No compiler, no waiting:
what a cluster runs on until XLA has compiled it, and after that if this is quicker.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.compiler import numpy_lines
from ebbflow.compiler.flow import Flow, Node, Value
from ebbflow.core import memory
from ebbflow.platform import threads

TILE = 1 << 14
"""Elements of a piece."""

WORTH_THREADS = 1 << 18
"""Elements of the whole below which one thread does it all."""


class Tiles:
    """A function from the arrays that go into a region to those that come out."""

    def __init__(self, region: Flow):
        self.region = region
        self.dims = _whole(region)
        self.size = int(np.prod(self.dims, dtype=np.int64))
        self.source, self._names, self._temporaries = _written(region, self.dims)
        names = {**numpy_lines.namespace(), **self._names, "__name__": "ebbflow.program"}
        exec(compile(self.source, "<ebbflow tiles>", "exec"), names)
        self._function = names["tiles"]
        self._flat = [v.dims == self.dims for v in region.inputs]

    def __call__(self, *arrays: Any) -> list[Any]:
        """Return the results for these arrays."""
        outputs = [memory.empty(self.dims, v.dtype.np) for v in self.region.outputs]
        flat = [a.reshape(-1) if whole else a for a, whole in zip(arrays, self._flat, strict=True)]
        flat += [y.reshape(-1) for y in outputs]
        if not self.size:
            return outputs
        workers = threads.count() if self.size >= WORTH_THREADS else 1
        stretch = -(-self.size // workers // TILE) * TILE
        parts = [(at, min(at + stretch, self.size), *self._scratch(), *flat) for at in range(0, self.size, stretch)]
        threads.spread(self._function, parts)
        return outputs

    def _scratch(self) -> list[np.ndarray]:
        return [np.empty(TILE, dtype) for dtype in self._temporaries]


def fits(region: Flow) -> bool:
    """Return whether a region is element-wise throughout, on arrays of one shape and single numbers."""
    dims = _whole(region)
    if not dims or any(v.dims != dims for v in region.outputs):
        return False
    for node in region.nodes:
        if node.op.name == "Const":
            if node.outputs[0].dims != ():
                return False
            continue
        values = (*node.inputs, *node.outputs)
        if len(node.outputs) != 1 or any(v.dims not in ((), dims) for v in values) or node.outputs[0].dims != dims:
            return False
        if numpy_lines.lines_for(node) is None or not node.op.facts.elementwise:
            return False
    return True


def _whole(region: Flow) -> Any:
    return max((v.dims for v in region.outputs), key=lambda d: np.prod(d, dtype=np.float64), default=())  # type: ignore[arg-type]


def _written(region: Flow, dims: Any) -> tuple[str, dict[str, Any], list[np.dtype]]:
    """Return the source of the loop over pieces, the constants it names, and the dtypes of its scratch arrays."""
    names: dict[Value, str] = {v: f"x{i}" for i, v in enumerate(region.inputs)}
    constants: dict[str, Any] = {}
    results = {v: f"y{i}" for i, v in enumerate(region.outputs)}
    temporaries: list[np.dtype] = []
    body: list[str] = []
    for node in region.nodes:
        if node.op.name == "Const":
            names[node.outputs[0]] = f"c{len(constants)}"
            constants[names[node.outputs[0]]] = node.outputs[0].known
            continue
        _add(node, names, results, temporaries, constants, body)
    heads = [f"        {names[v]}_ = {names[v]}[at:end]" for v in region.inputs if v.dims == dims]
    heads += [f"        {n}_ = {n}[at:end]" for n in results.values()]
    heads += [f"        t{i}_ = t{i}[: end - at]" for i in range(len(temporaries))]
    arguments = [f"t{i}" for i in range(len(temporaries))] + [names[v] for v in region.inputs] + list(results.values())
    text = f"def tiles(start, stop, {', '.join(arguments)}):\n    for at in range(start, stop, {TILE}):\n"
    text += f"        end = min(at + {TILE}, stop)\n" + "\n".join([*heads, *body]) + "\n"
    return text, constants, temporaries


def _add(
    node: Node, names: dict[Value, str], results: dict[Value, str], temporaries: list, constants: dict, body: list[str]
) -> None:
    out = node.outputs[0]
    if out in results:
        names[out] = results[out]
    else:
        names[out] = f"t{len(temporaries)}"
        temporaries.append(out.dtype.np)
    lines = numpy_lines.lines_for(node) or ()
    words = {
        word: names[v] + ("_" if v.dims else "")
        for word, v in zip(numpy_lines.argument_names(node), node.inputs, strict=True)
    }
    words["out"] = names[out] + "_"
    for word, number in numpy_lines.CONSTANTS.items():
        name = f"{word}_{out.dtype.name}"
        words[word] = name
        constants.setdefault(name, np.array(number, out.dtype.np))
    body += ["        " + numpy_lines.fill(line, words) for line in lines]
