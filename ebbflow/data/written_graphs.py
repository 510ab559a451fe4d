"""A dataset as a GraphDef: the ops that make it again, with the functions of its elements in the library.

What programs look into to see what a dataset is made of (Keras 2: whether it is shuffled). Knows pipes, how they are
rebuilt, and graphs; knows nothing of files.
"""

from __future__ import annotations

from typing import Any

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.op import op
from ebbflow.data.options import ExternalStatePolicy
from ebbflow.data.pipe import Pipe, dataset_op, pipe_of, stages
from ebbflow.data.rebuilding import rebuilt
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.graph.graph import Graph
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.state.storage import boxed
from ebbflow.runtime.session import Session

DatasetFromGraph = dataset_op("DatasetFromGraph(graph_def:string) -> (handle:variant)")
DatasetToGraph = op(
    "DatasetToGraph(input_dataset:variant) -> (graph:string) | stateful_whitelist: list(string) >= 0 = []; "
    "allow_stateful: bool = false; strip_device_assignment: bool = false",
    shape=scalar,
    kernel=lambda xp, input_dataset, *, allow_stateful: boxed(
        graph_of(input_dataset, ExternalStatePolicy.IGNORE if allow_stateful else ExternalStatePolicy.FAIL)
    ),
    gradient=FLAT,
)
DatasetToGraphV2 = op(
    "DatasetToGraphV2(input_dataset:variant) -> (graph:string) | external_state_policy: int = 0; "
    "strip_device_assignment: bool = false",
    shape=scalar,
    kernel=lambda xp, input_dataset, *, external_state_policy: boxed(
        graph_of(input_dataset, ExternalStatePolicy(external_state_policy))
    ),
    gradient=FLAT,
)


def graph_of(variant: Any, policy: ExternalStatePolicy) -> bytes:
    """Return a GraphDef whose only result is a dataset like that in a variant."""
    pipe = pipe_of(variant)
    if policy is ExternalStatePolicy.FAIL:
        _refuse_state(pipe)
    graph = Graph()
    with graph.as_default():
        made = rebuilt(pipe)
    written = graph.as_graph_def()
    result = written.node.add(name="dataset", op="_Retval", input=[made.op.name])
    result.attr["T"].type = dtypes.variant.as_datatype_enum
    result.attr["index"].i = 0
    return written.SerializeToString()


def _refuse_state(pipe: Pipe) -> None:
    for stage in stages(pipe):
        if stage.call is not None and stage.call.facts.draws:
            raise errors.FailedPreconditionError(
                None, None, f"{stage.name} calls a function that draws random numbers, which are state outside of the "
                "dataset: with `external_state_policy` IGNORE it is written without them",
            )  # fmt: skip


@DatasetFromGraph.kernel
def _(xp: Any, graph_def: Any) -> Any:
    return boxed(pipe_of_graph(graph_def.item()))


def pipe_of_graph(written: bytes) -> Pipe:
    """Make the dataset that a GraphDef says."""
    graph_def = messages.parse(messages.GraphDef, written, "the graph of a dataset", errors.DataLossError)
    result = next(node.input[0] for node in graph_def.node if node.op == "_Retval")
    kept = [node for node in graph_def.node if node.op != "_Retval"]
    del graph_def.node[:]
    graph_def.node.extend(kept)
    graph = Graph()
    with graph.as_default():
        import_graph_def(graph_def, name="")
        made: Pipe = Session(graph=graph).run(graph.get_tensor_by_name(f"{result}:0"))
    return made
