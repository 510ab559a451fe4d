"""Lists between regions: made where they are used, and handed over as arrays.

A region of machine code takes and gives arrays, and a list lives inside of one. A loop and the loop of its gradient are
often in two regions, because something lies between them that no region takes. Then the list that one fills is put
together at its end, and made again at the beginning of the other. Lists that are empty, or made of an array, are simply
made where they are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Substitution, Value, constant, make
from ebbflow.compiler.loops import Sized, sizes_of_lists
from ebbflow.core import dtypes
from ebbflow.core.registry import registry


def _makes(node: Node) -> bool:
    """Return whether a node makes a list of what is none."""
    return node.op.facts.lists and _is_list(node.outputs[0]) and not any(map(_is_list, node.inputs))


def _is_list(value: Value) -> bool:
    return value.dtype is dtypes.variant


def handed_over(flow: Flow, fits: set[Node], levels: dict[Node, int]) -> tuple[Flow, set[Node], dict[Node, int]]:
    """Return the flow with arrays in the place of lists that go from level to level, what fits, and levels."""
    work = _Work(flow, fits, levels)
    for node in flow.nodes:
        work.add(node)
    flow = Flow(flow.inputs, work.nodes, work.now.values(flow.outputs), map(work.now.now, flow.roots))
    return flow, work.fits, work.levels


class _Work:
    """A flow on its way to another."""

    def __init__(self, flow: Flow, fits: set[Node], levels: dict[Node, int]):
        self.nodes: list[Node] = []
        self.fits: set[Node] = set()
        self.levels: dict[Node, int] = {}
        self.now = Substitution()
        self._old = fits, levels
        self._uses = flow.uses()
        self._fetched = set(flow.outputs)
        self._sizes = sizes_of_lists(flow)
        self._made: dict[tuple[Value, int], Value] = {}  # a list as it is known at a level

    def add(self, node: Node) -> None:
        """Take the next node over."""
        fits, levels = self._old
        level = levels[node]
        if node in fits and _makes(node) and self._is_for_regions(node.outputs[0]):
            return  # it is made where it is used
        inputs = [self._at(v, level) if _is_list(v) else self.now.value(v) for v in node.inputs]
        if inputs != node.inputs:
            renewed = self.now.renewed[node] = node.taking(inputs)
            self.now.put(node.outputs, renewed.outputs)
            self._put(renewed, level, node in fits)
        else:
            self._put(node, level, node in fits)

    def _is_for_regions(self, value: Value) -> bool:
        fits, _ = self._old
        return value not in self._fetched and all(n in fits for n in self._uses.get(value, ()))

    def _at(self, value: Value, level: int) -> Value:
        """Return the list as a region of that level knows it."""
        maker = value.node
        if maker is None or not self._is_for_regions(value):
            return self.now.value(value)
        fits, levels = self._old
        if (value, level) not in self._made:
            size = self._sizes.get(value, Sized(0, None))
            if maker in fits and _makes(maker):
                copy = maker.taking(self.now.values(maker.inputs))
                self._made[value, level] = self._put(copy, level).outputs[0]
            elif levels[maker] == level or size.element is None or size.dtype is None:
                return self.now.value(value)
            else:
                self._made[value, level] = self._again(value, size, level)
        return self._made[value, level]

    def _again(self, value: Value, size: Sized, level: int) -> Value:
        """Return the list made anew from all its elements, which are put together where it comes from."""
        node, lists = value.node, (value, -1)
        assert node is not None
        shape = self._constant(np.array(size.element, np.int32), node)
        if lists not in self._made:
            attrs = {"element_dtype": size.dtype, "num_elements": size.length}
            whole = make(registry["TensorListStack"], [self.now.value(value), shape], attrs, node.origin)
            whole.outputs[0].dims = (size.length, *size.element)  # type: ignore[misc]
            self._made[lists] = self._put(whole, self._old[1][node]).outputs[0]
        attrs = {"element_dtype": size.dtype, "shape_type": dtypes.int32}
        again = make(registry["TensorListFromTensor"], [self._made[lists], shape], attrs, node.origin)
        return self._put(again, level).outputs[0]

    def _constant(self, array: np.ndarray, node: Any) -> Value:
        return self._put(constant(array, dtypes.int32, node.origin), 0, False).outputs[0]

    def _put(self, node: Node, level: int, fits: bool = True) -> Node:
        self.nodes.append(node)
        self.levels[node] = level
        if fits:
            self.fits.add(node)
        return node
