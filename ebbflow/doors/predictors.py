"""Predictors of Estimators (`tf.contrib.predictor`): functions from arrays to arrays, of the newest checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core.typing import Message
from ebbflow.doors import estimator_package
from ebbflow.doors.learn.estimator import BaseEstimator, ModeKeys
from ebbflow.doors.learn.exports import get_output_alternatives
from ebbflow.graph.graph import Graph
from ebbflow.monitored.monitored_session import ChiefSessionCreator, MonitoredSession
from ebbflow.savedmodel.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from ebbflow.savedmodel.predictor import Predictor

core = estimator_package.shown(1)


def _session(graph: Any, estimator: Any, scaffold: Any, config: Any) -> Any:
    """Return a session of the graph with the newest checkpoint's values."""
    with graph.as_default():
        return MonitoredSession(
            session_creator=ChiefSessionCreator(
                config=config, checkpoint_dir=estimator.model_dir, scaffold=scaffold, master=estimator.config.master
            )
        )


class CoreEstimatorPredictor(Predictor):
    """A predictor of one of an Estimator's export outputs."""

    def __init__(
        self,
        estimator: Any,
        serving_input_receiver_fn: Callable[[], Any],
        output_key: str | None = None,
        graph: Any = None,
        config: Any = None,
    ):
        graph = graph or Graph()
        with graph.as_default():
            received = serving_input_receiver_fn()
            spec = estimator.model_fn(received.features, None, core.ModeKeys.PREDICT, estimator.config)
            outputs = spec.export_outputs
            key = output_key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
            if key not in outputs:
                raise ValueError(f"output_key must be one of the model's outputs, {sorted(outputs)}; got {key!r}")
            signature = outputs[key].as_signature_def(received.receiver_tensors)
        feeds = {name: graph.get_tensor_by_name(info.name) for name, info in signature.inputs.items()}
        fetches = {name: graph.get_tensor_by_name(info.name) for name, info in signature.outputs.items()}
        super().__init__(graph, _session(graph, estimator, spec.scaffold, config), feeds, fetches)


class ContribEstimatorPredictor(Predictor):
    """A predictor of one of the output alternatives of an Estimator of `tf.contrib.learn`."""

    def __init__(
        self,
        estimator: Any,
        prediction_input_fn: Callable[[], Any],
        input_alternative_key: str | None = None,
        output_alternative_key: str | None = None,
        graph: Any = None,
        config: Any = None,
    ):
        graph = graph or Graph()
        with graph.as_default():
            given = prediction_input_fn()
            ops = estimator._ops(given.features, None, ModeKeys.INFER, estimator.params, estimator.config)
            alternatives, default = get_output_alternatives(ops, output_alternative_key)
            inputs = given.default_inputs
            feeds = inputs[input_alternative_key] if input_alternative_key else inputs
            _, fetches = alternatives[output_alternative_key or default]
        super().__init__(graph, _session(graph, estimator, ops.scaffold, config), feeds, fetches)


def from_contrib_estimator(
    estimator: object,
    prediction_input_fn: Callable[[], Any],
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: Graph | None = None,
    config: Message | None = None,
) -> ContribEstimatorPredictor:
    """Return a predictor of an Estimator of `tf.contrib.learn`."""
    if not isinstance(estimator, BaseEstimator):
        raise TypeError(f"Expected estimator to be of type tf.contrib.learn.Estimator, got {type(estimator)}; "
                        "for a tf.estimator.Estimator there is from_estimator")  # fmt: skip
    return ContribEstimatorPredictor(
        estimator, prediction_input_fn, input_alternative_key, output_alternative_key, graph, config
    )


def from_estimator(
    estimator: object,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: Graph | None = None,
    config: Message | None = None,
) -> CoreEstimatorPredictor:
    """Return a predictor of a `tf.estimator.Estimator`."""
    if isinstance(estimator, BaseEstimator) or not hasattr(estimator, "model_fn"):
        raise TypeError(f"Expected estimator to be of type tf.estimator.Estimator, got {type(estimator)}; "
                        "for a tf.contrib.learn.Estimator there is from_contrib_estimator")  # fmt: skip
    return CoreEstimatorPredictor(estimator, serving_input_receiver_fn, output_key, graph, config)
