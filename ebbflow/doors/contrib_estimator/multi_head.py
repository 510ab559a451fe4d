"""`tf.contrib.estimator.multi_head`: several heads on one model, whose losses are added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ebbflow.core.convert import convert_to_tensor
from ebbflow.doors.contrib_estimator.multi_label import _train_op, base, model_fn
from ebbflow.doors.estimator_package import inside
from ebbflow.graph.scopes import name_scope_v1, no_op
from ebbflow.ops.arrays.joining import split
from ebbflow.ops.elementwise.binary import multiply
from ebbflow.ops.elementwise.sums import add_n
from ebbflow.summary.ops import scalar
from ebbflow.train import metrics

PredictOutput = inside("export.export_output").PredictOutput
DEFAULT, PREDICT = "serving_default", "predict"


def multi_head(heads: Iterable[Any], head_weights: Iterable[float] | None = None) -> Any:
    """Return a head of several, each with a name; labels are given by these names, logits too or side by side."""
    several, weights = tuple(heads or ()), tuple(head_weights or ())
    if weights and len(weights) != len(several):
        raise ValueError(f"heads and head_weights must have the same size. Given len(heads): {len(several)}. "
                         f"Given len(head_weights): {len(weights)}.")  # fmt: skip
    if not several:
        raise ValueError(f"Must specify heads. Given: {heads}")
    for head in several:
        if not head.name:
            raise ValueError(f"All given heads must have name specified. Given: {head}")
    return _MultiHead(several, weights)


class _MultiHead(base._Head):
    """What `multi_head` returns."""

    def __init__(self, heads: tuple[Any, ...], head_weights: tuple[float, ...]):
        self._heads, self._weights = heads, head_weights

    @property
    def name(self) -> str:
        """The names of its heads."""
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """The sum over its heads."""
        return sum(head.logits_dimension for head in self._heads)

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> Any:
        """Return the sum of the heads' losses, weighted; what they were made of, by the heads' names."""
        parts = self._by_head(logits)
        specs = [head.create_loss(features, mode, parts[head.name], labels[head.name]) for head in self._heads]
        factors = self._weights or (None,) * len(specs)
        return base.LossSpec(
            training_loss=self._merged([spec.training_loss for spec in specs]),
            unreduced_loss=self._named(_scaled(s.unreduced_loss, f) for s, f in zip(specs, factors, strict=True)),
            weights=self._named(_scaled(s.weights, f) for s, f in zip(specs, factors, strict=True)),
            processed_labels=self._named(spec.processed_labels for spec in specs),
        )

    def create_estimator_spec(
        self, features: Any, mode: str, logits: Any, labels: Any = None, optimizer: Any = None, train_op_fn: Any = None,
        regularization_losses: Any = None,
    ) -> Any:  # fmt: skip
        """Return one spec for all heads; predictions have keys of a head's name and the head's own key."""
        parts = self._by_head(logits)
        if labels is not None and not isinstance(labels, Mapping):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        specs = [
            head.create_estimator_spec(
                features=features, mode=mode, logits=parts[head.name], train_op_fn=lambda loss: no_op(),
                labels=labels[head.name] if labels else None,
            )
            for head in self._heads
        ]  # fmt: skip
        said = {(h.name, k): v for h, s in zip(self._heads, specs, strict=True) for k, v in s.predictions.items()}
        if mode == model_fn.ModeKeys.PREDICT:
            return model_fn.EstimatorSpec(mode=mode, predictions=said, export_outputs=self._outputs(specs))
        judged = {key: value for spec in specs for key, value in (spec.eval_metric_ops or {}).items()}
        if mode == model_fn.ModeKeys.EVAL:
            with name_scope_v1("merge_eval"):
                for head, spec in zip(self._heads, specs, strict=True):
                    key = base._summary_key(head.name, "loss")
                    judged[key] = metrics.mean(spec.loss, name=key)
                loss = self._merged([spec.loss for spec in specs], regularization_losses)
            return model_fn.EstimatorSpec(mode=mode, predictions=said, loss=loss, eval_metric_ops=judged)
        if mode != model_fn.ModeKeys.TRAIN:
            raise ValueError(f"mode={mode} unrecognized")
        loss = self._merged([spec.loss for spec in specs], regularization_losses)
        step = _train_op(loss, optimizer, train_op_fn)
        with name_scope_v1(""):
            scalar("loss", loss)
        return model_fn.EstimatorSpec(mode=mode, loss=loss, train_op=step, predictions=said, eval_metric_ops=judged)

    def _named(self, values: Iterable[Any]) -> dict[str, Any]:
        return {head.name: value for head, value in zip(self._heads, values, strict=True)}

    def _merged(self, losses: list[Any], more: Iterable[Any] | None = None) -> Any:
        with name_scope_v1("merge_losses", values=losses):
            weighted = [multiply(x, f) for x, f in zip(losses, self._weights, strict=True)] if self._weights else losses
            return add_n([*weighted, *(more or ())])

    def _by_head(self, logits: Any) -> Mapping[str, Any]:
        if isinstance(logits, Mapping):
            return logits
        with name_scope_v1(None, "split_logits", values=[logits]):
            tensor, sizes = convert_to_tensor(logits), [head.logits_dimension for head in self._heads]
            last = tensor.shape.as_list()[-1]
            if last is not None and last != sum(sizes):
                raise ValueError(
                    f"Could not split logits of shape {tensor.shape.as_list()} among the heads with individual logits "
                    f"dimensions: {sizes}. The last dimension of the logits tensor should equal {sum(sizes)} but is "
                    f"{last}."
                )
            return self._named(split(tensor, sizes, axis=-1))

    def _outputs(self, specs: list[Any]) -> dict[str, Any]:
        found = {DEFAULT: _default(specs[0].export_outputs, self._heads[0].name)}
        together: dict[str, Any] = {}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, output in spec.export_outputs.items():
                found[head.name if key == DEFAULT else f"{head.name}/{key}"] = output
                if key == PREDICT and isinstance(output, PredictOutput):
                    together.update({f"{head.name}/{inner}": value for inner, value in output.outputs.items()})
        return {**found, PREDICT: PredictOutput(together)}


def _scaled(value: Any, factor: float | None) -> Any:
    return value if factor is None else multiply(value, factor)


def _default(outputs: Mapping[str, Any], name: str) -> Any:
    if len(outputs) == 1:
        return next(iter(outputs.values()))
    if DEFAULT not in outputs:
        raise ValueError(
            f"{name} did not specify default export_outputs. Given: {outputs} Suggested fix: Use one of the heads in "
            f"tf.contrib.estimator, or include key {DEFAULT} in export_outputs."
        )
    return outputs[DEFAULT]
