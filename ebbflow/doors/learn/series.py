"""`tf.contrib.timeseries`: an autoregressive model of time series, and the Estimator around it.

The model looks at a window of the past and at times, and says the mean and the variance of a window of the future;
longer futures are windows one after the other. Values are scaled by their mean and variance so far. Variables have
TensorFlow's names, so its checkpoints can be read. Where series come from is in `tf1/series_input.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.core import dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.typing import Nested
from ebbflow.doors.learn.estimator import core
from ebbflow.feature_column.first_generation import input_layer
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.functions.control_flow.while_loop import while_loop_v1
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import control_dependencies, group
from ebbflow.layers.core import dense
from ebbflow.ops.arrays.creation import identity
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.padding import pad_v1 as pad
from ebbflow.ops.arrays.shaping import reshape, shape
from ebbflow.ops.declare import raw
from ebbflow.ops.reduce.reductions import reduce_mean, reduce_sum
from ebbflow.state.functions import assign, assign_add
from ebbflow.state.initializers import Ones, Zeros
from ebbflow.state.variable_scope import get_variable, variable_scope
from ebbflow.state.variable_store import AUTO_REUSE
from ebbflow.state.variables import VariableV1
from ebbflow.summary.ops import scalar
from ebbflow.tf1.series_input import TIMES, VALUES, FilteringResults, PredictionFeatures
from ebbflow.train import metrics
from ebbflow.train.optimizers import AdagradOptimizer, AdamOptimizer
from ebbflow.train.step_counter import get_global_step

STATE = PredictionFeatures.STATE_TUPLE
LEAST_VARIANCE = 1e-5


class ModelOutputs(NamedTuple):
    """What a model says of a batch."""

    loss: Any
    end_state: Any
    predictions: Any
    prediction_times: Any


class Statistics:
    """The mean and the variance of all values so far, in variables."""

    def __init__(self, num_features: int, dtype: Any):
        make = lambda name, initializer: get_variable(name, [num_features], dtype, initializer, trainable=False)
        with variable_scope("input_statistics"):
            self.mean: Any
            self.variance: Any
            self.mean, self.variance = make("overall_feature_mean", Zeros()), make("overall_feature_var", Ones())
        with variable_scope("input_statistics_auxiliary"):
            self._count = get_variable("example_count", [], dtypes.int64, Zeros(), trainable=False)
            self._sum, self._squares = (
                make(f"overall_feature_{word}", Zeros()) for word in ("sum", "sum_of_squares")
            )  # fmt: skip
        self._dtype = dtype

    def update(self, values: Any) -> None:
        """Count a batch of windows, before its mean and variance are read."""
        seen = [
            assign_add(self._count, raw.Size(values[:, :, 0], out_type=dtypes.int64)),
            assign_add(self._sum, reduce_sum(values, axis=[0, 1])),
            assign_add(self._squares, reduce_sum(raw.Square(values), axis=[0, 1])),
        ]
        with control_dependencies(seen):
            count = raw.Cast(identity(self._count), DstT=self._dtype)
            mean = identity(self._sum) / count
            spread = count / (count - 1) * (identity(self._squares) / count - raw.Square(mean))
        with control_dependencies([assign(self.mean, mean), assign(self.variance, spread)]):
            self.mean, self.variance = identity(mean), identity(spread)


class FlatPredictionModel:
    """A window laid flat, through layers of neurons, to the mean and variance of the next."""

    def __init__(
        self, num_features: int, input_window_size: int, output_window_size: int,
        hidden_layer_sizes: Iterable[int] | None = None,
    ):  # fmt: skip
        self._shape = [-1, output_window_size, num_features]
        self._hidden = list(hidden_layer_sizes or ())

    def __call__(self, input_window_features: Any, output_window_features: Any) -> dict[str, Any]:
        both = input_window_features, output_window_features
        widths = [int(part.shape[1]) * int(part.shape[2]) for part in both]
        parts = [reshape(part, [-1, width]) for part, width in zip(both, widths) if width]
        flat = concat(parts, 1) if len(parts) > 1 else parts[0]
        width = self._shape[1] * self._shape[2]
        with variable_scope("flat_prediction_model", reuse=AUTO_REUSE):
            for i, size in enumerate(self._hidden):
                flat = dense(flat, size, activation=raw.Relu, name=f"sequential/dense{f'_{i}' if i else ''}")
            mean, spread = dense(flat, width, name="predicted_mean"), dense(flat, width, name="log_sigma_square")
        return {"mean": reshape(mean, self._shape), "covariance": raw.Exp(reshape(spread, self._shape))}


class ARModel:
    """The next `output_window_size` values by the last `input_window_size` and by times, which may have periods.

    A period is cut into `num_time_buckets`; each is a feature that says how far into it a time is.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: int | Sequence[int] | None,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Iterable[Any] | None = None,
    ):
        many = isinstance(periodicities, list | tuple)
        self._periods = [int(p) for p in (periodicities if many else [periodicities] if periodicities else [])]  # type: ignore[union-attr, arg-type]
        if loss not in (self.SQUARED_LOSS, self.NORMAL_LIKELIHOOD_LOSS):
            raise ValueError(f"loss must be {self.SQUARED_LOSS!r} or {self.NORMAL_LIKELIHOOD_LOSS!r}, got {loss!r}")
        if min([num_time_buckets, output_window_size, *self._periods]) <= 0 or input_window_size < 0:
            raise ValueError(
                "num_time_buckets, output_window_size and periodicities must be above zero, got "
                f"{num_time_buckets}, {output_window_size} and {periodicities}"
            )
        if not self._periods and not input_window_size:
            raise ValueError("without periodicities, input_window_size must be above zero: there is nothing to go by")
        self.input_window_size, self.output_window_size = input_window_size, output_window_size
        self.window_size, self.num_features = input_window_size + output_window_size, num_features
        self.loss, self.dtype, self._buckets = loss, dtypes.float32, int(num_time_buckets)
        self.exogenous_feature_columns = list(exogenous_feature_columns or ())
        self._factory = prediction_model_factory
        self._statistics: Statistics | None = None

    def initialize_graph(self, input_statistics: Statistics | None = None) -> None:
        """Make what predicts, in the current graph."""
        self._statistics = input_statistics
        self._instance = self._factory(
            num_features=self.num_features, input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )  # fmt: skip

    def _scaled(self, values: Any) -> Any:
        s = self._statistics
        return values if s is None else (values - s.mean) / raw.Sqrt(identity(s.variance))

    def _scaled_back(self, values: Any) -> Any:
        s = self._statistics
        return values if s is None else values * raw.Sqrt(identity(s.variance)) + s.mean

    def _exogenous(self, times: Any, features: Mapping[str, Any]) -> Any:
        """Return the features beside the series, as vectors: of shape [batch, window, width]."""
        if not self.exogenous_feature_columns:
            return raw.Fill(concat([shape(times), [0]], 0), np.float32(0))
        flat = {
            name: reshape(value, concat([[-1], shape(value)[2:]], 0) if value.shape.rank != 2 else [-1, 1])
            for name, value in features.items()
            if name not in (TIMES, VALUES, STATE)
        }
        with variable_scope("exogenous_inputs", reuse=AUTO_REUSE):
            vectors = input_layer(flat, self.exogenous_feature_columns)
        return reshape(vectors, concat([shape(times), [vectors.shape[-1]]], 0))

    def _time_features(self, times: Any) -> Any:
        periods = np.array(self._periods, np.int64)[:, None]
        phase = raw.Cast(raw.FloorMod(times[:, :, None, None], periods), DstT=self.dtype)
        into = raw.Relu(
            phase * (self._buckets / periods).astype(np.float32) - np.arange(self._buckets, dtype=np.float32)
        )
        inside = raw.SelectV2(into < 1.0, into, raw.ZerosLike(into))
        return reshape(inside, concat([shape(times), [len(self._periods) * self._buckets]], 0))

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> dict[str, Any]:
        """Return the mean and the variance of the last steps of windows, whose values are scaled."""
        before, after = [], []
        for features in ([self._time_features(times)] if self._periods else []) + (
            [exogenous_regressors] if self.exogenous_feature_columns else []
        ):
            before.append(features[:, : self.input_window_size])
            after.append(features[:, self.input_window_size :])
        if self.input_window_size:
            before.insert(len(self._periods) and 1, values)
        rows = shape(times)[0]
        nothing = lambda size: raw.Fill(raw.Pack([rows, size, 0]), np.float32(0))
        told = concat(before, 2) if before else nothing(self.input_window_size)
        asked = concat(after, 2) if after else nothing(self.output_window_size)
        width = lambda parts: sum(int(part.shape[2]) for part in parts)
        told.set_shape([None, self.input_window_size, width(before)])
        asked.set_shape([None, self.output_window_size, width(after)])
        return self._instance(told, asked)

    def loss_op(self, targets: Any, prediction_ops: Mapping[str, Any]) -> Any:
        """Return the mean over all values of the squared error, or of the negative logarithm of a normal density.

        The latter counts the logarithm of the deviation half, as TensorFlow's does: models learn what they learned.
        """
        errors = raw.Square(targets - prediction_ops["mean"])
        if self.loss == self.SQUARED_LOSS:
            return reduce_mean(errors)
        variance = raw.Maximum(prediction_ops["covariance"], LEAST_VARIANCE)
        return reduce_mean(0.5 * (errors / variance + 0.5 * raw.Log(variance) + float(np.log(2 * np.pi))))

    def _window(self, times: Any, values: Any, exogenous: Any, mode: str) -> tuple[Any, Any, Any]:
        """Return the loss, the means and the variances of windows."""
        scaled = self._scaled(values)
        told = self.prediction_ops(times, scaled[:, : self.input_window_size], exogenous)
        mean = self._scaled_back(told["mean"])
        if mode == core.ModeKeys.EVAL and self.loss == self.SQUARED_LOSS:
            loss = self.loss_op(values[:, self.input_window_size :], {"mean": mean})
        else:
            loss = self.loss_op(scaled[:, self.input_window_size :], told)
        s = self._statistics
        return loss, mean, told["covariance"] if s is None else told["covariance"] * s.variance

    def get_batch_loss(self, features: Mapping[str, Any], mode: str, state: Nested = None) -> ModelOutputs:
        """Return what the model says of windows; in evaluation of longer ones, by windows of outputs side by side."""
        times, values = features[TIMES], features[VALUES]
        length = times.shape.as_list()[1]
        if mode == core.ModeKeys.TRAIN and length is not None and length != self.window_size:
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and "
                f"output_window_size={self.output_window_size} expects feature '{TIMES}' to have shape (batch_size, "
                f"{self.window_size}) (for any batch_size), but got shape {times.shape}. If you are using "
                f"RandomWindowInputFn, set window_size={self.window_size} or adjust the input_window_size and "
                "output_window_size arguments to ARModel."
            )
        if length is not None and length < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + output_window_size to evaluate on "
                f"(input_window_size={self.input_window_size}, output_window_size={self.output_window_size}, and got "
                f"shape {times.shape} for feature '{TIMES}' (batch size, window size))."
            )
        exogenous = self._exogenous(times, features)
        count = (shape(times)[1] - self.input_window_size) // self.output_window_size
        size = count * self.output_window_size
        first = shape(times)[1] - size - self.input_window_size
        starts = first + raw.Range(0, count, 1)[:, None] * self.output_window_size
        steps, rows = starts + np.arange(self.window_size, dtype=np.int32), shape(times)[0] * count
        size_of = lambda x: concat([raw.Pack([rows, self.window_size]), shape(x)[2:]], 0)
        cut = lambda x: reshape(gather(x, steps, axis=1), size_of(x))
        windows = cut(values)
        windows.set_shape([None, self.window_size, self.num_features])
        loss, mean, covariance = self._window(cut(times), windows, cut(exogenous), mode)
        whole = lambda x: reshape(x, raw.Pack([shape(times)[0], size, self.num_features]))
        observed = values[:, first + self.input_window_size :]
        predictions = {"mean": whole(mean), "covariance": whole(covariance), "observed": observed}
        last = lambda x: x[:, shape(x)[1] - self.input_window_size :]
        end = last(times), last(self._scaled(values)), last(exogenous)
        return ModelOutputs(loss, end, predictions, times[:, first + self.input_window_size :])

    def predict(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mean and the variance at times that follow a state."""
        times, (past_times, past_values, past_exogenous) = features[TIMES], features[STATE]
        wanted, step = shape(times)[1], self.output_window_size
        count = (wanted + step - 1) // step
        more = count * step - wanted
        exogenous = pad(self._exogenous(times, features), raw.Pack([[0, 0], raw.Pack([0, more]), [0, 0]]))
        every = concat([past_times, pad(times, raw.Pack([[0, 0], raw.Pack([0, more])]))], 1)
        beside = concat([past_exogenous, exogenous], 1)
        arrays = [TensorArray(self.dtype, size=count) for _ in range(2)]

        def body(i: Any, values: Any, means: Any, covariances: Any) -> Any:
            begin = i * step
            at = every[:, begin : begin + self.window_size]
            told = self.prediction_ops(at, values, beside[:, begin : begin + self.window_size])
            told["mean"].set_shape([None, step, self.num_features])
            going = concat([values, told["mean"]], 1)
            going = going[:, shape(going)[1] - self.input_window_size :]
            going.set_shape(values.shape)
            return i + 1, going, means.write(i, told["mean"]), covariances.write(i, told["covariance"])

        past_values.set_shape([None, self.input_window_size, self.num_features])
        found = while_loop_v1(lambda i, *_: i < count, body, [0, past_values, *arrays])
        mean, covariance = (
            reshape(raw.Transpose(array.stack(), [1, 0, 2, 3]), raw.Pack([shape(times)[0], -1, self.num_features]))[
                :, :wanted
            ]
            for array in found[2:]
        )
        s = self._statistics
        if self.loss == self.SQUARED_LOSS:
            covariance = raw.OnesLike(mean)
        return {"mean": self._scaled_back(mean), "covariance": covariance if s is None else covariance * s.variance}


def _last(value: Any) -> tuple[Any, Any]:
    """Return a tensor as a metric: its value in the last batch."""
    kept = VariableV1(
        np.zeros([0], value.dtype.as_numpy_dtype), trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
    )  # fmt: skip
    return identity(kept), assign(kept, value, validate_shape=False)


class TimeSeriesRegressor(core.Estimator):  # type: ignore[name-defined]
    """An Estimator of a model of time series."""

    def __init__(
        self, model: Any, state_manager: Any = None, optimizer: Any = None, model_dir: str | None = None,
        config: Any = None, head_type: Any = None,
    ):  # fmt: skip
        for name, given in (("state_manager", state_manager), ("head_type", head_type)):
            if given is not None:
                raise ValueError(f"{name} is for models with a state of their own; ARModel, which is here, has none")
        self._model, self._optimizer = model, optimizer or AdamOptimizer(0.02)
        super().__init__(self._series_fn, model_dir, config)

    def _series_fn(self, features: Any, labels: Any, mode: str) -> Any:
        if labels is not None and labels != {}:
            raise ValueError(
                f"The model received a `labels`, which is not supported. Pass '{TIMES}' and '{VALUES}' as features."
            )
        needed = (TIMES, STATE) if mode == core.ModeKeys.PREDICT else (TIMES, VALUES)
        for name in needed:
            if name not in features:
                raise ValueError(f"Expected a '{name}' feature for {mode}; there are {sorted(features)}.")
        model = self._model
        kinds = {TIMES: dtypes.int64, VALUES: model.dtype}
        features = {
            name: nest.map_structure(convert, value) if name == STATE else _cast(value, kinds.get(name))
            for name, value in features.items()
        }
        statistics = Statistics(model.num_features, model.dtype)
        if mode == core.ModeKeys.TRAIN:
            statistics.update(features[VALUES])
        model.initialize_graph(statistics)
        with variable_scope("model"):
            if mode == core.ModeKeys.PREDICT:
                told = model.predict(features)
                return core.EstimatorSpec(mode, predictions={**told, TIMES: features[TIMES]})
            outputs = model.get_batch_loss(features, mode)
        scalar("loss", outputs.loss)
        if mode == core.ModeKeys.TRAIN:
            step = self._optimizer.minimize(outputs.loss, global_step=get_global_step())
            return core.EstimatorSpec(mode, loss=outputs.loss, train_op=step)
        return core.EstimatorSpec(
            mode, loss=outputs.loss, predictions=outputs.predictions, eval_metric_ops=_metrics(outputs)
        )


def _cast(value: Any, dtype: Any) -> Any:
    value = convert(value)
    return value if dtype is None else raw.Cast(value, DstT=dtype)


def _metrics(outputs: ModelOutputs) -> dict[str, Any]:
    told = {name: _last(value) for name, value in outputs.predictions.items()}
    told[TIMES] = _last(outputs.prediction_times)
    state = [_last(value) for value in outputs.end_state]
    told[FilteringResults.STATE_TUPLE] = tuple(value for value, _ in state), group(*(update for _, update in state))
    return {**told, "average_loss": metrics.mean(outputs.loss)}


class ARRegressor(TimeSeriesRegressor):
    """An Estimator of an `ARModel`."""

    def __init__(
        self,
        periodicities: int | Sequence[int] | None,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Iterable[Any] | None = None,
        num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Iterable[int] | None = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
    ):
        if anomaly_prior_probability is not None or anomaly_distribution is not None:
            raise ValueError(
                "mixtures with anomalies are not here: leave anomaly_prior_probability and anomaly_distribution out"
            )
        sizes = None if hidden_layer_sizes is None else list(hidden_layer_sizes)
        model = ARModel(
            periodicities, input_window_size, output_window_size, num_features,
            lambda **options: FlatPredictionModel(**options, hidden_layer_sizes=sizes), num_time_buckets, loss,
            exogenous_feature_columns,
        )  # fmt: skip
        super().__init__(model, optimizer=optimizer or AdagradOptimizer(0.1), model_dir=model_dir, config=config)
