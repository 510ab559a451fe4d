"""`tf.contrib.estimator.replicate_model_fn`: one model function over the shards of a batch, one shard a device.

The replicas share their variables. `TowerOptimizer` holds their gradients back until the last of them, which applies
the sums. With one device the model function is called as it is.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ebbflow.core import context
from ebbflow.core.convert import convert_to_tensor
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.typing import Effect
from ebbflow.doors.estimator_package import inside
from ebbflow.engines.devices import list_logical_devices
from ebbflow.graph.collections import GraphKeys, get_collection
from ebbflow.graph.scopes import control_dependencies, device_scope, group, name_scope_v1, no_op
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.joining import concat, split
from ebbflow.ops.elementwise.sums import add_n
from ebbflow.ops.sparse.functions import split_v1 as split_sparse
from ebbflow.state.functions import assign, assign_add
from ebbflow.state.variable_scope import variable_scope
from ebbflow.train.losses import Reduction
from ebbflow.train.optimizer import Optimizer

ModeKeys = inside("model_fn").ModeKeys
Outputs = inside("export.export_output")


class _Towers:
    """What the replicas of one call share: how many there are, which is being built, and the gradients held back."""

    def __init__(self, count: int, reduction: str):
        self.count, self.reduction = count, reduction
        self.index = 0
        self.held: list[list[Any]] = [[] for _ in range(count)]
        self.first_scope: Any = None
        self.has_optimizer = False

    @property
    def is_last(self) -> bool:
        """Whether the replica being built is the last."""
        return self.index == self.count - 1

    def scaled(self, loss: Any) -> Any:
        """Return a replica's part of the loss: losses that are means are divided by how many replicas there are."""
        return loss if self.reduction == Reduction.SUM or self.count == 1 or loss is None else loss / float(self.count)


_KEY = "replicate_model_fn_graph_states"
_alone = _Towers(1, Reduction.SUM)


def _towers() -> _Towers:
    return ([_alone, *get_collection(_KEY)])[-1]


class TowerOptimizer(Optimizer):
    """An optimizer for model functions that are replicated; elsewhere it does what the inner one does."""

    COLLECTION_FOR_GRAPH_STATES = _KEY

    def __init__(self, optimizer_or_optimizer_fn: Optimizer | Callable[[], Optimizer]):
        self._given = optimizer_or_optimizer_fn

    @staticmethod
    def has_been_used() -> bool:
        """Return whether a replica of the model that is being built has one."""
        return _towers().has_optimizer

    def _inner(self) -> Any:
        if not isinstance(self._given, Optimizer):
            self._given = self._given()
        _towers().has_optimizer = True
        return self._given

    def get_name(self) -> str:
        """Return the inner optimizer's name."""
        return self._inner().get_name()

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Return a slot of the inner optimizer."""
        return self._inner().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Return the names of the inner optimizer's slots."""
        return self._inner().get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        """Return the inner optimizer's variables."""
        return self._inner().variables()

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what the inner optimizer computes for the replica's part of the loss."""
        return self._inner().compute_gradients(_towers().scaled(loss), *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Effect:
        """Hold the gradients back; in the last replica, have the inner optimizer apply the sums over all."""
        towers, pairs = _towers(), list(grads_and_vars)
        if towers.count == 1:
            return self._inner().apply_gradients(pairs, global_step, name)
        towers.held[towers.index].append(pairs)
        if not towers.is_last:
            with control_dependencies([gradient for gradient, _ in pairs if gradient is not None]):
                return no_op(name="train_op_placeholder")
        call = len(towers.held[towers.index]) - 1
        sums: dict[int, tuple[Any, list[Any]]] = {}
        for one in towers.held:
            if call >= len(one):
                raise ValueError("Each invocation of model_fn was supposed to make the same optimizer calls.")
            for gradient, variable in one[call]:
                if gradient is not None:
                    sums.setdefault(id(variable), (variable, []))[1].append(gradient)
        with variable_scope(towers.first_scope), name_scope_v1("gradient_aggregating"):
            added = [(_sum(gradients), variable) for variable, gradients in sums.values()]
        with variable_scope(towers.first_scope):
            return self._inner().apply_gradients(added, global_step, name)


def _sum(values: Sequence[Any]) -> Any:
    if isinstance(values[0], IndexedSlices):
        rows = concat([value.values for value in values], 0)
        return IndexedSlices(rows, concat([value.indices for value in values], 0), values[0].dense_shape)
    return add_n(list(values))


def replicate_model_fn(
    model_fn: Callable[..., Any],
    loss_reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: Sequence[str] | None = None,
) -> Callable[..., Any]:
    """Return a model function that calls another for each device, with a part of the batch, and joins the results."""
    if loss_reduction == Reduction.NONE:
        raise ValueError(f"Tower losses need to be reduced in some way, yet {loss_reduction} reduction is specified.")
    places = list(devices or [one.name for one in list_logical_devices("GPU")] or ["/device:CPU:0"])

    def replicated(features: Any, labels: Any, mode: str, params: Any = None, config: Any = None) -> Any:
        towers = _Towers(len(places), loss_reduction)
        told = {"params": params, "config": config}
        taken = inspect.signature(model_fn).parameters
        told = {name: value for name, value in told.items() if name in taken}
        specs = _replicas(model_fn, features, labels, mode, told, places, towers)
        if len(specs) == 1:
            return specs[0]
        if mode == ModeKeys.TRAIN:
            return specs[-1]._replace(loss=add_n([spec.loss for spec in specs], name="loss"))
        return _evaluation(specs) if mode == ModeKeys.EVAL else _prediction(specs)

    return replicated


def _replicas(
    model_fn: Any, features: Any, labels: Any, mode: str, told: dict[str, Any], places: list[str], towers: _Towers
) -> list[Any]:
    parts, label_parts, specs = _shards(features, len(places)), _shards(labels, len(places)), []
    with _open(towers):
        for index, place in enumerate(places):
            towers.index = index
            with (
                variable_scope("", reuse=index > 0) as scope,
                name_scope_v1(f"tower_{index}" if index else ""),
                device_scope(place),
            ):
                towers.first_scope = scope if index == 0 else towers.first_scope
                spec = model_fn(features=parts[index], labels=label_parts[index], mode=mode, **told)
                if spec.train_op is not None and len(places) > 1 and not towers.has_optimizer:
                    raise ValueError("Please wrap optimizers with TowerOptimizer in order to use replicate_model_fn "
                                     "with multiple `devices`.")  # fmt: skip
                specs.append(spec._replace(loss=towers.scaled(spec.loss)))
    return specs


@contextlib.contextmanager
def _open(towers: _Towers) -> Iterator[None]:
    kept = context.default_graph().get_collection_ref(_KEY)
    kept.append(towers)
    try:
        yield
    finally:
        kept.remove(towers)


def _shards(values: Any, count: int) -> list[Any]:
    """Return the parts of a batch: tensors are cut along their first axis, those in dictionaries each."""
    if count == 1 or values is None:
        return [values] * count
    if isinstance(values, Mapping):
        parts = {key: _shards(value, count) for key, value in values.items()}
        return [{key: part[index] for key, part in parts.items()} for index in range(count)]
    if isinstance(values, SparseTensor):
        return list(split_sparse(sp_input=values, num_split=count, axis=0))
    tensor = convert_to_tensor(values)
    size = tensor.shape[0]
    if size is not None and int(size) % count:
        raise ValueError(f"Batch size {size} needs to be divisible by the number of GPUs, which is {count}.")
    return list(split(tensor, count))


def _evaluation(specs: list[Any]) -> Any:
    """Return one spec whose metrics are the first replica's, over what all have counted."""
    updates = [update for spec in specs for _, update in (spec.eval_metric_ops or {}).values()]
    kept = get_collection(GraphKeys.METRIC_VARIABLES)
    each, rest = divmod(len(kept), len(specs))
    if rest:
        raise ValueError("Different `EstimatorSpec.eval_metric_ops` across `model_fn()` calls. Expected "
                         f"{each * len(specs)} local variables, but got {len(kept)} instead.")  # fmt: skip
    emptied = []
    with control_dependencies(updates):
        for index in range(each):
            others = kept[index + each :: each]
            with control_dependencies([assign_add(kept[index], add_n([other.read_value() for other in others]))]):
                emptied += [assign(other, zeros_like(other)) for other in others]
    joined = group(*emptied)
    told = {key: (value, joined) for key, (value, _) in (specs[0].eval_metric_ops or {}).items()}
    return specs[0]._replace(loss=add_n([spec.loss for spec in specs], name="loss"), eval_metric_ops=told)


def _prediction(specs: list[Any]) -> Any:
    """Return one spec with all replicas' predictions, one behind the other."""
    said = {key: concat([spec.predictions[key] for spec in specs], 0) for key in specs[0].predictions}
    outputs = {
        key: _joined([spec.export_outputs[key] for spec in specs]) for key in (specs[0].export_outputs or {})
    }  # fmt: skip
    return specs[0]._replace(predictions=said, export_outputs=outputs or None)


def _joined(outputs: list[Any]) -> Any:
    first = outputs[0]
    if isinstance(first, Outputs.PredictOutput):
        return Outputs.PredictOutput({k: concat([o.outputs[k] for o in outputs], 0) for k in first.outputs})
    if isinstance(first, Outputs.RegressionOutput):
        return Outputs.RegressionOutput(concat([output.value for output in outputs], 0))
    parts = {
        name: None if getattr(first, name) is None else concat([getattr(o, name) for o in outputs], 0)
        for name in ("scores", "classes")
    }
    return Outputs.ClassificationOutput(**parts)
