"""Optimizers of `tf.contrib.opt` that go around another one: they clip what it changed, or skip some steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.typing import Effect, TensorLike
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.graph.scopes import control_dependencies, group
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.clip import clip_by_global_norm, clip_by_norm, global_norm
from ebbflow.state.functions import scatter_update
from ebbflow.train.optimizer import Optimizer

if TYPE_CHECKING:
    from ebbflow.state.base import Variable


class VariableClippingOptimizer(Optimizer):
    """Another optimizer after whose steps some variables are clipped to a length along some axes."""

    def __init__(
        self,
        opt: Optimizer,
        vars_to_clip_dims: dict[Any, Sequence[int]],
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ):
        super().__init__(use_locking, name)
        self._opt, self._max_norm = opt, max_norm
        pairs = vars_to_clip_dims.items()
        self._clip_dims = {(v.experimental_ref() if hasattr(v, "experimental_ref") else v): d for v, d in pairs}

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Variable]]:
        """Return what the other one computes."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any) -> Any:
        """Return the other's slot."""
        return self._opt.get_slot(*args)

    def get_slot_names(self) -> list[str]:
        """Return the names of the other's slots."""
        return self._opt.get_slot_names()

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | TensorLike | None = None,
        name: str | None = None,
    ) -> Effect:
        """Take the other's step, then clip."""
        pairs = list(grads_and_vars)
        step = self._opt.apply_gradients(pairs, global_step=global_step)
        with control_dependencies([step] if step is not None else []):
            clipped = []
            for grad, var in pairs:
                key = var.experimental_ref() if hasattr(var, "experimental_ref") else var
                if key not in self._clip_dims or grad is None:
                    continue
                clipped.append(self._clipped(grad, var, list(self._clip_dims[key])))
        return (
            None if context.executing_eagerly() else group(*clipped, *([step] if step is not None else []), name=name)
        )

    def _clipped(self, grad: Any, var: Any, axes: list[int]) -> Any:
        """Clip a variable after its step: of one that got a few rows these rows, where each is clipped by itself."""
        if not isinstance(grad, IndexedSlices) or 0 in axes:
            return var.assign(clip_by_norm(var.read_value(), self._max_norm, axes))
        rows = gather(var.read_value(), grad.indices)
        return scatter_update(var, grad.indices, clip_by_norm(rows, self._max_norm, axes))


class MultitaskOptimizerWrapper:
    """Another optimizer that leaves a variable, and its slots, alone in steps where its whole gradient is zero."""

    def __init__(self, opt: Optimizer) -> None:
        if not isinstance(opt, Optimizer):
            raise TypeError(f"Supplied optimizer must be an instance of tf.train.Optimizer; got {opt!r}")
        self._opt = opt
        for method in ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse"):
            setattr(opt, method, self._only_where_any(getattr(opt, method)))

    @staticmethod
    def _only_where_any(update: Callable[..., Any]) -> Callable[..., Any]:

        def updated(grad: Any, var: Any, *args: Any) -> Any:
            values = grad.values if isinstance(grad, IndexedSlices) else grad
            some = raw.Any(raw.NotEqual(values, zeros_like(values)), raw.Range(0, raw.Rank(values), 1))

            def step() -> Any:
                with control_dependencies([update(grad, var, *args)]):
                    return convert(0, dtypes.int32)

            return cond_v1(some, step, lambda: convert(0, dtypes.int32))

        return updated

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def clip_gradients_by_global_norm(
    gradients_variables: Iterable[tuple[Any, Any]], clip_norm: float = 20.0
) -> tuple[list[tuple[Any, Any]], Any]:
    """Return the pairs with their gradients scaled together to at most `clip_norm`, and how long they were."""
    slopes, variables = zip(*gradients_variables, strict=True)
    length = global_norm([slope for slope in slopes if slope is not None])
    clipped, _ = clip_by_global_norm(list(slopes), clip_norm, use_norm=length)
    return list(zip(clipped, variables, strict=True)), length
