"""Forward mode: derivatives carried along with the values.

`ForwardAccumulator` listens to ops like a tape does. A call's product with the tangents of its inputs comes from its
one gradient rule, used twice: the rule gives v ↦ Jᵀv, which is linear in v, and the gradient of ⟨Jᵀv, t⟩ by v is J t.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.call import Call
from ebbflow.core.convert import convert
from ebbflow.core.recorder import Recorder
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested
from ebbflow.eager.backprop import CAPTURED, FLAT, differentiable, rule_of, unconnected
from ebbflow.eager.tape import GradientTape, UnconnectedGradients, handle_of, stop_recording
from ebbflow.ops.declare import raw


class ForwardAccumulator(Recorder):
    """Computes Jacobian-vector products while ops run.

    >>> x = convert(3.0)
    >>> with ForwardAccumulator(x, convert(1.0)) as acc:
    ...     y = x * x
    >>> float(acc.jvp(y))
    6.0
    """

    def __init__(self, primals: Nested, tangents: Nested):
        self._tangents: dict[int, Any] = {}
        self._keep: list[Any] = []
        self._recording = False
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            self._watch(primal, tangent)

    def _watch(self, primal: Any, tangent: Any) -> None:
        tangent = convert(tangent, primal.dtype.base_dtype)
        if tangent._dims is not None and primal.shape._dims is not None and tangent._dims != primal.shape._dims:
            raise ValueError(
                f"the tangent's shape {tangent.shape} is not the primal's {primal.shape}: they must be the same"
            )
        handle = handle_of(primal)
        if id(handle) in self._tangents:
            raise ValueError(f"Tensor {primal!r} is being watched twice by one ForwardAccumulator")
        self._set(handle, tangent)

    def _set(self, tensor: Any, tangent: Any) -> None:
        self._tangents[id(tensor)] = tangent
        self._keep.append(tensor)

    def __enter__(self) -> ForwardAccumulator:
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        self._recording = True
        self._listen()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._recording = False
        self._leave()

    asks_for_more = True  # a product comes from the gradient of a gradient

    def watches(self, tensors: Sequence[Any]) -> list[bool]:
        """Return for each tensor whether it has a tangent to carry over."""
        return [id(x) in self._tangents for x in tensors]

    def record(self, op: Any, inputs: Sequence[Any], outputs: Sequence[Any], attrs: dict[str, Any]) -> None:
        """Carry the inputs' tangents over to the outputs of a call."""
        tangents = [self._tangents.get(id(x)) for x in inputs]
        if all(t is None for t in tangents) or op.gradient_fn is FLAT:
            return
        if op is CAPTURED:  # the same tensor, seen from inside a function
            self._set(outputs[0], tangents[0])
            return
        call = Call(op, inputs, outputs, attrs)
        rule = rule_of(call)
        chosen = [i for i, o in enumerate(outputs) if differentiable(o.dtype)]
        if rule is FLAT or not chosen:
            return
        with _without(self):
            products = _push_forward(rule, call, tangents, chosen)
        for i, product in zip(chosen, products, strict=True):
            if product is not None:
                self._set(outputs[i], product)

    def jvp(
        self, primals: Nested, unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE
    ) -> Tensor:
        """Return the derivative of each primal along the tangents (None, or zeros, where there is none)."""

        def one(tensor: Any) -> Any:
            found = self._tangents.get(id(handle_of(tensor)))
            return found if found is not None else unconnected(tensor, unconnected_gradients)

        return nest.map_structure(one, primals)


class _without:  # noqa: N801
    """Keep one recorder from hearing what happens inside the block; outer ones still do."""

    def __init__(self, recorder: Any):
        self._recorder = recorder

    def __enter__(self) -> None:
        self._held = list(context.thread.recorders)
        context.thread.recorders[:] = [r for r in self._held if r is not self._recorder]

    def __exit__(self, *exc: Any) -> None:
        context.thread.recorders[:] = self._held


def _push_forward(rule: Any, call: Call, tangents: Sequence[Any], chosen: Sequence[int]) -> list[Any]:
    with GradientTape() as tape:
        seeds = {i: raw.ZerosLike(call.outputs[i]) for i in chosen}
        tape.watch(list(seeds.values()))
        call.wanted = [t is not None for t in tangents]
        grads = rule(call, *[seeds.get(i) for i in range(len(call.outputs))])
        grads = grads if isinstance(grads, (list, tuple)) else [grads]
        both = zip(grads, tangents, strict=False)  # a loop that is differentiated may get further inputs: lists
        pairs = [(convert(g), t) for g, t in both if g is not None and t is not None]
    if not pairs:
        return [None] * len(chosen)
    return tape.gradient([g for g, _ in pairs], list(seeds.values()), output_gradients=[t for _, t in pairs])


__all__ = ["ForwardAccumulator", "stop_recording"]
