"""`TransformGraph`: one transform of a graph after the other, as a text asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ebbflow import messages
from ebbflow.core.typing import Message
from ebbflow.ops.sizes import invalid
from ebbflow.tf1.graph_transforms import batch_norms, edits, folding, weights
from ebbflow.tf1.graph_transforms.request import Request, joined, parse

TRANSFORMS: dict[str, Callable[[Message, Request], Message]] = {
    transform.__name__: transform
    for transform in (
        batch_norms.flatten_atrous_conv,
        batch_norms.fold_batch_norms,
        batch_norms.fold_old_batch_norms,
        edits.add_default_attributes,
        edits.merge_duplicate_nodes,
        edits.obfuscate_names,
        edits.remove_attribute,
        edits.remove_control_dependencies,
        edits.remove_device,
        edits.remove_nodes,
        edits.rename_attribute,
        edits.rename_op,
        edits.set_device,
        edits.sort_by_execution_order,
        edits.strip_unused_nodes,
        folding.fold_constants,
        weights.quantize_weights,
        weights.round_weights,
    )
}


def transform_graph(
    input_graph_def: Message, inputs: Sequence[str], outputs: Sequence[str], transforms: Sequence[str]
) -> Message:
    """Return a GraphDef with transforms done to it, which stay between nodes named as inputs and as outputs."""
    result = messages.GraphDef()
    result.CopyFrom(input_graph_def)
    for name, params in parse(joined(transforms)):
        if name not in TRANSFORMS:
            raise invalid(f"Transform '{name}' not recognized. Here are: {', '.join(sorted(TRANSFORMS))}")
        result = TRANSFORMS[name](result, Request(tuple(inputs), tuple(outputs), params))
    return result
