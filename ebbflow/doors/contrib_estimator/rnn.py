"""`tf.contrib.estimator.RNNClassifier` and `RNNEstimator`: cells over sequence columns, then a head of TF 1.

The package has those of TF 2 only, which are Keras models with other variables; checkpoints of TF 1 fit these here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.doors.contrib_estimator.extenders import clip_gradients_by_norm
from ebbflow.doors.estimator_package import inside
from ebbflow.feature_column.first_generation import input_layer
from ebbflow.feature_column.sequence import concatenate_context_input
from ebbflow.feature_column.sequence_input import sequence_input_layer
from ebbflow.graph.scopes import name_scope_v1
from ebbflow.layers.core import dense
from ebbflow.layers.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, MultiRNNCell, RNNCell
from ebbflow.layers.rnn.dynamic import dynamic_rnn
from ebbflow.ops.arrays.indexing import gather_nd
from ebbflow.ops.arrays.joining import stack
from ebbflow.ops.arrays.ranges import range as range_
from ebbflow.ops.arrays.shaping import shape
from ebbflow.ops.elementwise.casts import to_int64
from ebbflow.state.initializers import GlorotUniform
from ebbflow.state.partitioners import min_max_variable_partitioner
from ebbflow.state.variable_scope import variable_scope
from ebbflow.summary.ops import histogram
from ebbflow.train.losses import Reduction
from ebbflow.train.optimizer import Optimizer

heads = inside("canned.head")
optimizers = inside("canned.optimizers")
Estimator = inside("estimator").Estimator

USE_DEFAULT = object()
RATE, CLIP_NORM = 0.05, 5.0
"""Of an optimizer that is given by its name, or not at all."""
CELLS = {"basic_rnn": BasicRNNCell, "lstm": BasicLSTMCell, "gru": GRUCell}


def _cell_maker(rnn_cell_fn: Any, num_units: Iterable[int] | None, cell_type: Any) -> Callable[[str], RNNCell]:
    """Return the function that makes the cell for a mode."""
    if rnn_cell_fn:
        if num_units or cell_type is not USE_DEFAULT:
            raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")
        return rnn_cell_fn
    kind = "basic_rnn" if cell_type is USE_DEFAULT else cell_type
    kind = CELLS.get(kind, kind) if isinstance(kind, str) else kind
    if not (isinstance(kind, type) and issubclass(kind, RNNCell)):
        raise ValueError(f"Supported cell types are {list(CELLS)}; got {cell_type}")
    sizes = list(num_units or ())

    def make(mode: str) -> RNNCell:
        cells: list[Any] = [kind(num_units=size) for size in sizes]
        return cells[0] if len(cells) == 1 else MultiRNNCell(cells)

    return make


def _last(outputs: Any, lengths: Any) -> Any:
    """Return each example's output at the end of its own sequence."""
    with name_scope_v1("select_last_activations", values=[outputs, lengths]):
        rows = to_int64(range_(shape(outputs)[0]))
        chosen = gather_nd(outputs, stack([rows, to_int64(lengths) - 1], axis=1))
        chosen.set_shape([outputs.shape[0], outputs.shape[2]])
        return chosen


class _Model:
    """The model function: what is the same for all modes, then a call for one."""

    def __init__(self, head: Any, make_cell: Any, sequence: Any, context: Any, optimizer: Any, partitioner: Any):
        self.head, self.make_cell, self.sequence, self.context = head, make_cell, sequence, context
        self.optimizer, self.partitioner = optimizer, partitioner

    def __call__(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        if not isinstance(features, Mapping):
            raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")
        optimizer, shards = self.optimizer, config.num_ps_replicas if config else 0
        if not isinstance(optimizer, Optimizer):
            optimizer = optimizers.get_optimizer_instance(optimizer, learning_rate=RATE)
            optimizer = clip_gradients_by_norm(optimizer, CLIP_NORM)
        with variable_scope("rnn", partitioner=min_max_variable_partitioner(max_partitions=shards)):
            inputs, lengths = self._inputs(features, shards)
            outputs, _ = dynamic_rnn(self.make_cell(mode), inputs, sequence_length=lengths, dtype=dtypes.float32)
            with variable_scope("logits"):
                read = _last(outputs, lengths)
                logits = dense(read, units=self.head.logits_dimension, kernel_initializer=GlorotUniform())
            return self.head.create_estimator_spec(
                features=features, mode=mode, labels=labels, optimizer=optimizer, logits=logits
            )

    def _inputs(self, features: Any, shards: int) -> tuple[Any, Any]:
        split = self.partitioner or min_max_variable_partitioner(max_partitions=shards, min_slice_size=64 << 20)
        with variable_scope("sequence_input_layer", partitioner=split):
            inputs, lengths = sequence_input_layer(features, self.sequence)
            histogram("sequence_length", lengths)
            if self.context:
                inputs = concatenate_context_input(input_layer(features, self.context), inputs)
        return inputs, lengths


class RNNEstimator(Estimator):  # type: ignore[misc, valid-type]
    """Recurrent cells over sequences, and any head."""

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Callable[..., Any] | None = None,
        return_sequences: bool = False,
        model_dir: str | None = None,
        optimizer: Any = "Adagrad",
        input_layer_partitioner: Callable[..., Any] | None = None,
        config: Any = None,
    ):
        if return_sequences:
            raise ValueError("Provided head must be a `_SequentialHead` object when `return_sequences` is set to True.")
        make = _cell_maker(rnn_cell_fn, num_units, cell_type)
        model = _Model(
            head, make, sequence_feature_columns, context_feature_columns, optimizer, input_layer_partitioner
        )

        def _model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return model(features, labels, mode, config)

        super().__init__(model_fn=_model_fn, model_dir=model_dir, config=config)


class RNNClassifier(RNNEstimator):
    """Recurrent cells over sequences, then a class."""

    def __init__(
        self,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: Any = USE_DEFAULT,
        rnn_cell_fn: Callable[..., Any] | None = None,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Callable[..., Any] | None = None,
        config: Any = None,
    ):
        head = heads._binary_logistic_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(
            head, sequence_feature_columns, context_feature_columns, num_units, cell_type, rnn_cell_fn, False,
            model_dir, optimizer, input_layer_partitioner, config,
        )  # fmt: skip
