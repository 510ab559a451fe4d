"""The switches between TensorFlow's eras: eager or graphs, resource variables, shapes and equality of either kind.

Thin functions over `core.context`, which keeps the state and tells the rooms that care. Every switch is process-wide.
"""

from __future__ import annotations

from ebbflow.core import context, shape
from ebbflow.core.typing import Message

SYNC, ASYNC = 0, 1
DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT, DEVICE_PLACEMENT_SILENT_FOR_INT32 = (
    0,
    1,
    2,
    3,
)


def enable_eager_execution(
    config: Message | None = None, device_policy: object = None, execution_mode: object = None
) -> None:
    """Run ops at once from now on, in a program of the TF 1 door. To be called before any graph is built."""
    if device_policy not in (None, 0, 1, 2, 3):
        raise ValueError("device_policy must be None or a tf.contrib.eager.DEVICE_PLACEMENT_* constant")
    if execution_mode not in (None, SYNC, ASYNC):
        raise ValueError("execution_mode must be None, tf.contrib.eager.SYNC or tf.contrib.eager.ASYNC")
    begun = not context.switches.eager_by_default and context.default_graph_has_nodes()
    if begun or any(scope is not context.EAGER for scope in context.thread.scopes):
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    context.set_eager_default(True)


def disable_eager_execution() -> None:
    """Build graphs from now on, in a program of the TF 2 door. To be called before any op has run."""
    context.set_eager_default(False)


def enable_v2_behavior() -> None:
    """Take on TF 2's manners for the whole process."""
    context.enter_v2()


def disable_v2_behavior() -> None:
    """Take on TF 1's manners for the whole process."""
    context.disable_v2()


def tf2_enabled() -> bool:
    """Return whether the process has TF 2's manners."""
    return context.switches.v2_behavior


def executing_eagerly_outside_functions() -> bool:
    """Return whether ops run at once here, or would outside the functions that are being traced."""
    return context.eager_outside_functions()


def in_graph_mode() -> bool:
    """Return whether ops are added to a graph here."""
    return not context.executing_eagerly()


def enable_resource_variables() -> None:
    """Make variables resources, whose reads are snapshots, where `use_resource` is not given."""
    context.switches.resource_variables = True


def disable_resource_variables() -> None:
    """Make variables references, where `use_resource` is not given."""
    context.switches.resource_variables = False


def resource_variables_enabled() -> bool:
    """Return whether variables are resources where `use_resource` is not given."""
    return context.switches.resource_variables


def enable_tensor_equality() -> None:
    """Compare tensors by their elements with `==`."""
    context.switches.tensor_equality = True


def disable_tensor_equality() -> None:
    """Compare tensors by identity with `==`."""
    context.switches.tensor_equality = False


def enable_control_flow_v2() -> None:
    """Say that control flow may be functional. Ebbflow's always is."""
    context.switches.control_flow_v2 = True


def disable_control_flow_v2() -> None:
    """Say that control flow should not be functional. Ebbflow's is all the same, with the same results."""
    context.switches.control_flow_v2 = False


def control_flow_v2_enabled() -> bool:
    """Return what was said about functional control flow."""
    return context.switches.control_flow_v2


def enable_v2_tensorshape() -> None:
    """Give plain integers as the dimensions of shapes."""
    shape.enable_v2_tensorshape()


def disable_v2_tensorshape() -> None:
    """Give `Dimension`s as the dimensions of shapes."""
    shape.disable_v2_tensorshape()
