"""Have what is written with channels first run with channels last.

oneDNN's fast convolutions are for channels last: in NCHW each rearranges its images on the way in and out, pooling and
norms run in plain loops, and a bias or an activation is not computed along. Here whole regions (convolutions, pooling,
norms, and what lies between) change sides, and images are rearranged at the border of a region only: mostly what is fed
and what is fetched.

Measured on one thread, in ms of CPU time: 32×64×56×56 by 3×3×64 takes 73 forward, 63 to the input and 87 to the filter
in NCHW; 52, 55 and 72 in NHWC; to rearrange the images once takes 6 each. 1×1 to 256 channels: 80, 79, 87 and 40, 34,
47 (6 and 43). Depthwise: 19, 18, 18 and 7, 8, 7. 32×3×224×224 by 7×7×64 in steps of 2: 127 and 98 (4 and 27). So a
convolution saves what it costs to rearrange all its images. Pooling of 32×64×112×112 by 3×3 in steps of 2: 24 forward
and 57 back, 15 and 38 (26 and 9): a quarter to a half of it. Batch norm of 32×64×56×56: 29 in training, 12 with known
statistics, 24 back; 11, 5 and 8 (6): a half and more. But where channels are no multiple of four it is two to five
times slower (8×66×32×32: 2.5, 0.9 and 1.8; 6.6, 5.3 and 6.9), and better left alone. So are sums over some axes, and
arithmetic with a number for each channel, where there are fewer than 16 channels: NumPy's inner loop would go along
these (means over pixels of 8×3×64×64 take 0.6 ms more, rearranging them 0.03).

A region is rewritten where what its nodes save (`Form.gain`) is more than what its border costs, both counted in
elements that are rearranged. A convolution alone stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Rewrite, Value, make, standing_for
from ebbflow.compiler.passes.channels_last import Form, form_of, stays_in_place, to_first, to_last
from ebbflow.core import dtypes
from ebbflow.core.op import op
from ebbflow.engines.onednn import layout, library

ARRANGED = op(
    "_Arranged(x:T) -> (y:T) | T: type; perm: list(int)",
    internal=True,
    shape=lambda x, *, perm: tuple(x.dims[i] for i in perm),
    kernel=lambda xp, x, *, perm: xp.array(x.transpose(perm), order="C"),
)
"""A transposition that is written out, by all CPUs: no view that somebody would have to copy."""

WORTH = 1 << 14
"""Elements that a region saves rearranging, at least."""

SLOWLY = 4
"""How many times longer it takes to rearrange what is not float32, which NumPy does."""


@ARRANGED.prepare
def _(knowns: Sequence[Any], attrs: dict[str, Any], outputs: Sequence[Any]) -> Any:
    plan = layout.transpose(tuple(knowns[0].dims), tuple(attrs["perm"]))
    return None if plan is None else plan.call


def keep_channels_last(flow: Flow) -> Flow:
    """Return the flow with regions of images in NCHW (NCDHW) rewritten to NHWC (NDHWC) where that pays.

    y = Relu(Conv2D(Conv2D(x, f), g))     =>     y = first(Relu(Conv2D(Conv2D(last(x), f), g)))
    """
    if not any(_is_channels_first(n) for n in flow.nodes) or not library.serves():
        return flow
    forms = {n: form for n in flow.nodes if (form := form_of(n)) is not None}
    border = _Border(flow, forms)
    chosen: set[Node] = set()
    for region in border.regions(forms):
        for part in border.regions(border.trimmed(region)):
            if border.gain(part) > max(border.cost(part), WORTH - 1):
                chosen |= part
    if not chosen:
        return flow
    return _Rearranging(flow, border, chosen).run()


def _is_channels_first(node: Node) -> bool:
    return str(node.attrs.get("data_format", "")).startswith("NC")


class _Border:
    """What crosses the border of a set of nodes, and what that costs."""

    def __init__(self, flow: Flow, forms: dict[Node, Form]):
        self.forms = forms
        self._order = {node: i for i, node in enumerate(flow.nodes)}
        self._fetched = set(flow.outputs)
        self._takers: dict[Value, list[tuple[Node, bool]]] = {}  # who takes a value, and whether as an image
        for node in flow.nodes:
            images = forms[node].takes if node in forms else ()
            for i, value in enumerate(node.inputs):
                self._takers.setdefault(value, []).append((node, i in images))

    def images(self, node: Node) -> list[Value]:
        """Return the images that a node takes and gives."""
        form = self.forms[node]
        return [*[node.inputs[i] for i in form.takes], *[node.outputs[i] for i in form.gives]]

    def regions(self, nodes: Iterable[Node]) -> list[set[Node]]:
        """Return the sets of nodes that share images."""
        home: dict[Node, set[Node]] = {}
        first: dict[Value, Node] = {}
        for node in nodes:
            home[node] = {node}
            for value in self.images(node):
                small, large = sorted((home[first.setdefault(value, node)], home[node]), key=len)
                if small is not large:
                    large |= small
                    home.update(dict.fromkeys(small, large))
        return list({id(region): region for region in home.values()}.values())

    def gain(self, nodes: Iterable[Node]) -> float:
        return sum(self.forms[n].gain for n in nodes)

    def cost(self, inside: set[Node]) -> float:
        """Return what it costs to rearrange all that crosses the border."""
        return self._cost_of({v for n in inside for v in self.images(n)}, inside)

    def _cost_of(self, values: Iterable[Value], inside: set[Node]) -> float:
        return sum(_moving(v) for v in values if self.leaves(v, inside) or self._enters(v, inside))

    def _is_inside(self, value: Value, inside: set[Node]) -> bool:
        """Return whether a value comes with channels last."""
        return value.node in inside and value.index in self.forms[value.node].gives

    def leaves(self, value: Value, inside: set[Node]) -> bool:
        """Return whether an image from inside is wanted with channels first."""
        if not self._is_inside(value, inside):
            return False
        return value in self._fetched or any(not (m and n in inside) for n, m in self._takers.get(value, ()))

    def _enters(self, value: Value, inside: set[Node]) -> bool:
        if self._is_inside(value, inside):
            return False
        return any(m and n in inside for n, m in self._takers.get(value, ()))

    def trimmed(self, region: set[Node]) -> set[Node]:
        """Return the region without nodes that bring more over the border than they save.

        What stands before everything else goes out even where it makes no difference: then a sum of two such values
        may cross the border, and not both.
        """
        inside, changed = set(region), True
        while changed:
            changed = False
            for node in sorted(inside, key=self._order.__getitem__):
                images, form = set(self.images(node)), self.forms[node]
                before = self._cost_of(images, inside)
                is_first = not any(self._is_inside(node.inputs[i], inside) for i in form.takes)
                inside.discard(node)
                saved = before - self._cost_of(images, inside) - form.gain
                if saved > 0 or (saved == 0 and is_first and not form.gain):
                    changed = True
                else:
                    inside.add(node)
        return inside


def _moving(value: Value) -> float:
    """Return what it costs to rearrange a value."""
    dims: Any = value.dims
    if value.known is not None or stays_in_place(dims, to_last(len(dims))):
        return 0
    return value.size if value.dtype is dtypes.float32 else SLOWLY * value.size


class _Rearranging:
    """The walk that rewrites what was chosen."""

    def __init__(self, flow: Flow, border: _Border, chosen: set[Node]):
        self._flow, self._border, self._chosen = flow, border, chosen
        self._last: dict[Value, Value] = {}  # images with channels last, by what they are in the flow before

    def run(self) -> Flow:
        return Rewrite(self._flow).run(self._visit)

    def _visit(self, node: Node, rewrite: Rewrite) -> list[Value] | None:
        original = rewrite.original
        if original not in self._chosen:
            return None
        form = self._border.forms[original]
        inputs = self._inputs(node, original, form, rewrite)
        if node.op.name == "Transpose" and list(form.known[1]) == sorted(form.known[1]):  # channels are last by now
            made = [inputs[0]]
        else:
            made = rewrite.add(_rewritten(node, form, inputs)).outputs
        found = list(made)
        for i in form.gives:
            value = original.outputs[i]
            self._last[value] = made[i]
            if self._border.leaves(value, self._chosen):
                found[i] = _arranged(made[i], to_first(len(made[i].dims or ())), node.origin, rewrite)
                found[i].tensor = value.tensor
        return found

    def _inputs(self, node: Node, original: Node, form: Form, rewrite: Rewrite) -> list[Value]:
        inputs = list(node.inputs)
        for i in form.takes:
            old = original.inputs[i]
            if old not in self._last:
                self._last[old] = _arranged(inputs[i], to_last(len(old.dims or ())), node.origin, rewrite)
            inputs[i] = self._last[old]
        for i, array in form.known.items():
            inputs[i] = rewrite.constant(array, inputs[i], node.origin)
        for i, dims in form.reshaped.items():
            inputs[i] = _reshaped(inputs[i], dims, node.origin, rewrite)
        return inputs


def _rewritten(node: Node, form: Form, inputs: Sequence[Value]) -> Node:
    made = standing_for(node.op, inputs, form.attrs, node.origin, node.outputs)
    for i, (old, new) in enumerate(zip(node.outputs, made.outputs, strict=True)):
        if i in form.gives:
            dims: Any = old.dims
            new.dims, new.tensor = tuple(dims[a] for a in to_last(len(dims))), None
        else:
            new.known = old.known
    return made


def _arranged(value: Value, order: Sequence[int], origin: Any, rewrite: Rewrite) -> Value:
    """Return a value with its axes in another order."""
    dims: Any = value.dims
    if value.known is not None:
        return rewrite.constant(np.ascontiguousarray(value.known.transpose(order)), value, origin)
    if stays_in_place(dims, order):
        return _reshaped(value, tuple(dims[i] for i in order), origin, rewrite)
    if value.dtype is dtypes.float32:
        return rewrite.add(make(ARRANGED, [value], {"T": value.dtype, "perm": tuple(order)}, origin)).outputs[0]
    perm = _integers(order, origin, rewrite)
    return rewrite.call("Transpose", [value, perm], {"T": value.dtype, "Tperm": perm.dtype}, origin)


def _reshaped(value: Value, dims: Sequence[int], origin: Any, rewrite: Rewrite) -> Value:
    if value.known is not None:
        return rewrite.constant(value.known.reshape(dims), value, origin)
    shape = _integers(dims, origin, rewrite)
    return rewrite.call("Reshape", [value, shape], {"T": value.dtype, "Tshape": shape.dtype}, origin)


def _integers(numbers: Sequence[int], origin: Any, rewrite: Rewrite) -> Value:
    array = np.array(numbers, np.int32)
    return rewrite.constant(array, Value(None, 0, dtypes.int32, array.shape), origin)
