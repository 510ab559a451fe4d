"""Decoders of `tf.contrib.seq2seq` that are layers of Keras 2: what they decode is given when they are called."""

from __future__ import annotations

from typing import Any

from ebbflow.core import nest
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.doors import keras_package
from ebbflow.layers.seq2seq import decoder
from ebbflow.layers.seq2seq.samplers import Sampler

_Layer = keras_package.keras_2(1).layers.Layer


class BaseDecoder(_Layer):  # type: ignore[misc, valid-type]
    """A decoder that is called with its inputs and its first state, and gives what `dynamic_decode` gives."""

    def __init__(
        self,
        output_time_major: bool = False,
        impute_finished: bool = False,
        maximum_iterations: TensorLike | None = None,
        parallel_iterations: int = 32,
        swap_memory: bool = False,
        **kwargs: Any,
    ):
        self.output_time_major, self.impute_finished = output_time_major, impute_finished
        self.maximum_iterations, self.parallel_iterations = maximum_iterations, parallel_iterations
        self.swap_memory = swap_memory
        super().__init__(**kwargs)

    def call(self, inputs: Nested, initial_state: Nested = None, **kwargs: Nested) -> tuple[Any, Any, Any]:
        """Return the outputs, the last state and the lengths of all rows."""
        of_layers = ("training", "mask")  # what Keras gives every layer
        others = {word: value for word, value in kwargs.items() if word not in of_layers}
        return decoder.dynamic_decode(
            _Begun(self, inputs, {**others, "initial_state": initial_state}), self.output_time_major,
            self.impute_finished, self.maximum_iterations, self.parallel_iterations, self.swap_memory,
        )  # fmt: skip

    @property
    def tracks_own_finished(self) -> bool:
        """Whether steps say which rows have finished, not only which finish now."""
        return False

    def finalize(self, outputs: Nested, final_state: Nested, sequence_lengths: TensorLike) -> tuple[Any, Any]:
        """Return outputs and state as they are to be given out."""
        return outputs, final_state


class _Begun(decoder.Decoder):
    """A decoder that is a layer with what it is called with: a decoder as loops take it."""

    def __init__(self, layer: Any, inputs: Any, others: dict[str, Any]) -> None:
        self._layer, self._inputs, self._others = layer, inputs, others

    batch_size = property(lambda self: self._layer.batch_size)
    output_size = property(lambda self: self._layer.output_size)
    output_dtype = property(lambda self: self._layer.output_dtype)
    tracks_own_finished = property(lambda self: self._layer.tracks_own_finished)

    def initialize(self, name: str | None = None) -> Any:
        return self._layer.initialize(self._inputs, **self._others)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        return self._layer.step(time, inputs, state)

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        return self._layer.finalize(outputs, final_state, sequence_lengths)


class BasicDecoderV2(BaseDecoder):
    """A cell whose inputs a sampler chooses, and a layer behind it if there is one."""

    def __init__(self, cell: Any, sampler: Sampler, output_layer: Any = None, **kwargs: Any) -> None:
        if not (callable(cell) and hasattr(cell, "state_size") and hasattr(cell, "output_size")):
            raise TypeError(f"The argument 'cell' ({cell}) is not an RNNCell")
        if not isinstance(sampler, Sampler):
            raise TypeError(f"sampler must be a Sampler, received: {sampler}")
        if output_layer is not None and not hasattr(output_layer, "compute_output_shape"):
            raise TypeError(f"output_layer must be a Layer, received: {output_layer}")
        super().__init__(**kwargs)
        self.cell, self.sampler, self.output_layer = cell, sampler, output_layer

    def initialize(self, inputs: Nested, initial_state: Nested = None, **kwargs: Nested) -> tuple[Any, Any, Any]:
        """Return which rows have finished before they began, the first inputs, and the first state."""
        self._cell_dtype = nest.flatten(initial_state)[0].dtype
        return (*self.sampler.initialize(inputs, **kwargs), initial_state)

    @property
    def batch_size(self) -> Any:
        """How many rows there are."""
        return self.sampler.batch_size

    def _rnn_output_size(self) -> Any:
        size = TensorShape(self.cell.output_size)
        if self.output_layer is None:
            return size
        return TensorShape(self.output_layer.compute_output_shape(TensorShape([None]).concatenate(size)))[1:]

    @property
    def output_size(self) -> Any:
        """The shapes of a row's outputs."""
        return decoder.BasicDecoderOutput(self._rnn_output_size(), self.sampler.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        """The dtypes of the outputs."""
        return decoder.BasicDecoderOutput(self._cell_dtype, self.sampler.sample_ids_dtype)

    def step(self, time: TensorLike, inputs: Nested, state: Nested) -> tuple[Any, Any, Any, Any]:
        """Return outputs, the next state, the next inputs, and which rows have finished."""
        outputs, cell_state = self.cell(inputs, state)
        if self.output_layer is not None:
            outputs = self.output_layer(outputs)
        chosen = self.sampler.sample(time=time, outputs=outputs, state=cell_state)
        finished, following, next_state = self.sampler.next_inputs(
            time=time, outputs=outputs, state=cell_state, sample_ids=chosen
        )
        return decoder.BasicDecoderOutput(outputs, chosen), next_state, following, finished
