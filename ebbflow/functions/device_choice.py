"""Forms of a function for each kind of device, of which one is run: LSTMs on a GPU, and elsewhere."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from ebbflow.core import context
from ebbflow.core.device import parts_of
from ebbflow.core.typing import Nested
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.trace_places import compiled_whole

PREFERRED_DEVICE = "api_preferred_device"
"""The attribute by which a function says that it is the form of another for one kind of device."""


IMPLEMENTED = "api_implements"
"""The attribute by which functions say that they are forms of one: the same text for all of them."""


def register(form: FuncGraph, graph: Any) -> None:
    """Note, for a graph that is being built, the form for the CPU of a function that is called there.

    What XLA compiles stays as it is: the other forms are written for it.
    """
    for_cpu = form.attributes.get(PREFERRED_DEVICE) == "CPU"
    if for_cpu and isinstance(graph, FuncGraph) and not compiled_whole(graph):
        graph.forms[form.attributes.get(IMPLEMENTED)] = form


def prefer_registered(graph: FuncGraph) -> None:
    """Have calls in a graph run the form for the CPU that was registered, where that takes and gives the same.

    TensorFlow does so where it runs the graph. TensorFlow Probability writes samplers as loops for accelerators, and
    registers forms of them that call one op: faster, and right where numbers are very small.
    """
    for node in graph._nodes:
        called = node._attrs.get("f")
        if not isinstance(called, FuncGraph) or PREFERRED_DEVICE in called.attributes:
            continue
        form = graph.forms.get(called.attributes.get(IMPLEMENTED))
        if form is not None and _alike(called, form) and parts_of(node.device).device_type in (None, "CPU"):
            node._attrs = {**node._attrs, "f": form}
            graph._mutations += 1


def _alike(called: FuncGraph, form: FuncGraph) -> bool:
    """Return whether one body can be called in place of another: the same types, and nothing from outside."""
    if called.external_captures or form.external_captures or (form.stateful and not called.stateful):
        return False
    return all(
        [t.dtype.base_dtype for t in mine] == [t.dtype.base_dtype for t in others]
        for mine, others in ((called.inputs, form.inputs), (called.outputs, form.outputs))
    )


class DeferredForm:
    """The trace of a form for another device, made when somebody asks for more than that it be known to a graph.

    Only forms for the CPU take the place of others, so one for another device that is only registered is never needed;
    nor need there be the ops that it calls.
    """

    def __init__(self, trace: Callable[[], Any]):
        self._trace = trace

    def add_to_graph(self, g: Any = None, overwrite: bool = False) -> None:
        """Do nothing: a node that calls a function brings it along when a graph is written."""

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Do nothing, as `add_to_graph`."""

    @functools.cached_property
    def _traced(self) -> Any:
        return self._trace()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._traced(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._traced, name)


def execute_fn_for_device(
    device_branch_fns: Mapping[str, Callable[[], Any]], default_fn: Callable[[], Any], name: str = "execute_fn"
) -> Nested:
    """Return what the function of the device that is asked for here gives, or the default one's.

    >>> execute_fn_for_device({"GPU": lambda: 1}, lambda: 2)
    2
    """
    graph = context.current_graph()
    if graph is not None:
        asked = [entry for entry in graph._stack("devices") if not callable(entry)]
        kind = asked[-1].device_type if asked and asked[-1] is not None else None
    else:
        kind = parts_of(context.thread.devices[-1].name).device_type if context.thread.devices else None
    return device_branch_fns.get(kind or "CPU", default_fn)()
