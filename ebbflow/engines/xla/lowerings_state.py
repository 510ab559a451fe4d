"""Variables: their ops' own kernels, at work on storages that hold traced values (`state`).

Optimizers' formulas write into arrays; they are run with cells that can be written to. Updates of rows are scatters:
a row named twice is updated twice, but in no order that can be told, so what depends on the order is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.engines.xla.refusal import Refusal
from ebbflow.engines.xla.rules import lowering
from ebbflow.engines.xla.state import Cell
from ebbflow.ops.state import optimizer_updates
from ebbflow.ops.state.storage import held

_ROWS = "whether an index is a row of the variable"


def _through_kernel(*names: str) -> None:
    """Declare that kernels which work on a storage serve as they are."""

    def lower(jnp: Any, *inputs: Any, op: Any, attrs: dict[str, Any]) -> Any:
        return op.kernel_fn(jnp, *inputs, **{name: attrs[name] for name in op.kernel_attrs})

    lowering(*names, state=True)(lower)


_through_kernel("ReadVariableOp", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "DisableCopyOnRead")


@lowering("VariableShape", state=True)
def _(jnp: Any, input: Any, *, out_type: Any) -> Any:
    return np.array(held(input).read().shape, out_type.np)


@lowering("VarIsInitializedOp", state=True)
def _(jnp: Any, resource: Any) -> Any:
    return np.array(True)  # a program is compiled with the values that its variables have


# --- optimizers -------------------------------------------------------------------------------------------------------

FORMULAS = {
    "AdaMax": optimizer_updates.ada_max,
    "Adadelta": optimizer_updates.adadelta,
    "Adagrad": optimizer_updates.adagrad,
    "AdagradDA": optimizer_updates.adagrad_da,
    "AdagradV2": optimizer_updates.adagrad_v2,
    "Adam": optimizer_updates.adam,
    "AdamWithAmsgrad": optimizer_updates.adam_with_amsgrad,
    "AddSign": optimizer_updates.add_sign,
    "CenteredRMSProp": optimizer_updates.centered_rms_prop,
    "Ftrl": optimizer_updates.ftrl,
    "FtrlV2": optimizer_updates.ftrl_v2,
    "GradientDescent": optimizer_updates.gradient_descent,
    "KerasMomentum": optimizer_updates.keras_momentum,
    "Momentum": optimizer_updates.momentum,
    "PowerSign": optimizer_updates.power_sign,
    "ProximalAdagrad": optimizer_updates.proximal_adagrad,
    "ProximalGradientDescent": optimizer_updates.proximal_gradient_descent,
    "RMSProp": optimizer_updates.rms_prop,
}


def _applied(formula: Any) -> Any:
    def lower(jnp: Any, *inputs: Any, op: Any, attrs: dict[str, Any]) -> Any:
        names = [arg.name for arg in op.signature.inputs]
        state = [held(x).writable() for x in inputs if x.dtype == object]
        numbers = {name: Cell(x) for name, x in zip(names, inputs, strict=True) if x.dtype != object}
        formula(*state, **numbers, **{name: attrs[name] for name in op.kernel_attrs})
        return ()

    return lower


_CHOOSING = "lr l1 l2 lr_power l2_shrinkage alpha"  # a formula may choose its way by them
for _name, _formula in FORMULAS.items():
    lowering(f"ResourceApply{_name}", keeps=_CHOOSING, state=True)(_applied(_formula))

# --- rows -------------------------------------------------------------------------------------------------------------


@lowering("ResourceGather", loses=_ROWS, state=True)
def _(jnp: Any, resource: Any, indices: Any, *, batch_dims: int) -> Any:
    if batch_dims:
        raise Refusal("gathers from a variable in batches; read it first and use tf.gather")
    return jnp.take(held(resource).read(), indices, axis=0, mode="clip")


_SCATTERS = {"Add": "add", "Sub": "subtract", "Mul": "multiply", "Min": "min", "Max": "max"}


def _scatter(how: str) -> Any:
    def lower(jnp: Any, resource: Any, indices: Any, updates: Any) -> Any:
        storage = held(resource)
        value = storage.read()
        whole = jnp.broadcast_to(updates, (*indices.shape, *value.shape[1:]))
        storage.set(getattr(value.at[indices], how)(whole, mode="drop"))
        return ()

    return lower


for _name, _how in _SCATTERS.items():
    lowering(f"ResourceScatter{_name}", loses=_ROWS, state=True)(_scatter(_how))
