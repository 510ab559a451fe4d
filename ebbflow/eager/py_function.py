"""`tf.py_function`: a Python function of eager tensors as part of a graph, with its gradient.

Where ops run at once the function is simply called, and open tapes see its ops. In a graph a node calls it. If anything
asks for the node's gradient, the function is run under a tape of its own, which the node hands on in one more output;
the gradient's node takes it from there, so that runs that overlap do not mix. The gradient's node can be differentiated
in turn: it then runs the function again, where the outer tape can see it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType
from ebbflow.core.tensor import wrap
from ebbflow.core.typing import Nested
from ebbflow.eager.tape import GradientTape, UnconnectedGradients
from ebbflow.ops.control.script import EagerPyFunc, Function, as_output_type, decorator, in_graph, reported, several
from ebbflow.ops.declare import dense


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Nested = None,
    name: str | None = None,
) -> Nested:
    """Return what `func` gives for `inp` as eager tensors; `Tout` says the dtypes. Gradients flow through it.

    >>> py_function(lambda x: x * x, [3.0], dtypes.float32).numpy()
    np.float32(9.0)
    """
    if func is None:
        return decorator(py_function, Tout=Tout, name=name)
    many = isinstance(Tout, (list, tuple))
    types = [as_output_type(t) for t in (Tout if many else [Tout])]
    function = EagerFunction(func, types)
    if context.executing_eagerly():
        outputs = function([convert(x) for x in inp or ()])
    else:
        outputs = add_node(function, inp or (), name)
    return outputs if many else outputs[0]


def _smooth(dtype: DType) -> bool:
    """Return whether values of this dtype have gradients of their own."""
    return dtype.is_floating or dtype.is_complex


class _Record(NamedTuple):
    """A run of a function: its tape, and the tensors that went in and came out."""

    tape: GradientTape
    inputs: list[Any]
    outputs: list[Any]


class EagerFunction(Function):
    """A Python function of eager tensors, with the dtypes of its results."""

    def __init__(self, function: Callable[..., Any], types: Sequence[DType]):
        super().__init__(function)
        self.types = types

    def __call__(self, tensors: Sequence[Any]) -> list[Any]:
        """Return the function's results as eager tensors of the right dtypes."""
        with reported(), context.eager_scope():
            found = several(self.function(*tensors))
            outputs = [convert(value, dtype) for value, dtype in zip(found, self.types, strict=False)]
        self.check_count(len(outputs), len(self.types))
        return outputs

    def recorded(self, tensors: Sequence[Any]) -> _Record:
        """Run the function under a tape that watches what it is given."""
        with context.eager_scope(), GradientTape(persistent=True) as tape:
            tape.watch([x for x in tensors if _smooth(x.dtype)])
            return _Record(tape, list(tensors), self(tensors))

    def of_node(self, arrays: Sequence[np.ndarray], types: Sequence[DType], node: Any) -> list[np.ndarray]:
        """Return the values of a node's outputs: the results, and the record of the run if anybody asks for it."""
        tensors = [wrap(array, dtype) for array, dtype in zip(arrays, types, strict=True)]
        box = np.empty((), object)
        if node is not None and node.outputs[-1].consumers():
            box[()] = record = self.recorded(tensors)
            outputs = record.outputs
        else:
            outputs = self(tensors)
        return [*[t._array for t in outputs], box]

    def backward(self, call: Any, grads: Sequence[Any]) -> list[Any]:
        """Return the gradients for a node's inputs, by one more node."""
        flows = [_smooth(x.dtype) for x in call.inputs]
        given = [dense(g) for g, t in zip(grads, self.types, strict=False) if _smooth(t)]
        types = [x.dtype.base_dtype for x, flow in zip(call.inputs, flows, strict=True) if flow]
        if not given or not types:
            return [None] * len(flows)
        found = add_node(Gradient(self, len(flows), types), [*call.inputs, call.outputs[-1], *given], None)
        results = iter(found)
        backward = [next(results) if flow else None for flow in flows]
        for x, grad in zip(call.inputs, backward, strict=True):
            if grad is not None:
                grad.set_shape(x._dims)
        return backward


class Gradient(EagerFunction):
    """The gradient of a function: of its inputs, the record of its run, and the gradients of its results."""

    def __init__(self, forward: EagerFunction, count: int, types: Sequence[DType]):
        super().__init__(self._gradient, types)
        self._forward = forward
        self._count = count

    def _gradient(self, *tensors: Any) -> list[Any]:
        inputs, state, given = tensors[: self._count], tensors[self._count], list(tensors[self._count + 1 :])
        # Under a tape (of the gradient's own gradient) the record of the first run will not do: its tensors are others.
        record = None if context.thread.recorders else state._array.item()
        tape, sources, results = record if record is not None else self._forward.recorded(inputs)
        return tape.gradient(
            [y for y in results if _smooth(y.dtype)],
            [x for x in sources if _smooth(x.dtype)],
            given,
            unconnected_gradients=UnconnectedGradients.ZERO,
        )


def add_node(function: EagerFunction, inp: Sequence[Any], name: str | None) -> list[Any]:
    """Add the node that calls a function; return its outputs without the record of the run."""
    outputs = in_graph(EagerPyFunc, function, inp, [*function.types, dtypes.variant], name)
    return outputs[:-1] or outputs[-1].op
