"""The weights of recurrent layers in two forms: one vector as cuDNN keeps it, and the kernels and biases of cells.

In the vector come, layer by layer and direction by direction, the matrices of each gate for inputs, then for states,
then all biases in the same order. Gates of an LSTM are there in the order input, forget, new, output; cells have new
before forget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ebbflow.ops.arrays.joining import concat, split
from ebbflow.ops.arrays.shaping import reshape, transpose

UNIDIRECTION, BIDIRECTION = "unidirectional", "bidirectional"


class Converter:
    """Between a vector, the matrices in it, and the kernels of cells."""

    GATES: ClassVar[int] = 1
    PARTS: ClassVar[tuple[str, ...]] = ("",)
    """What comes before `kernel` and `bias` in the names of a cell's variables."""

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        num_proj: int | None = None,
        input_mode: str = "linear_input",
        direction: str = UNIDIRECTION,
    ):
        if num_proj:
            raise NotImplementedError("num_proj: weights with projections have no form here; use LSTMCell(num_proj=…)")
        self.num_layers, self.num_units, self.input_size = num_layers, num_units, input_size
        self.directions = 1 if direction == UNIDIRECTION else 2

    def _widths(self) -> list[int]:
        """Return how many inputs each layer has, once for each direction."""
        deeper = self.directions * self.num_units
        return [width for i in range(self.num_layers) for width in [deeper if i else self.input_size] * self.directions]

    def weight_shapes(self) -> list[tuple[int, int]]:
        """Return the shapes of all matrices, in their order."""
        units, gates = self.num_units, self.GATES
        return [s for width in self._widths() for s in [(units, width)] * gates + [(units, units)] * gates]

    def bias_shapes(self) -> list[list[int]]:
        """Return the shapes of all biases, in their order."""
        return [[self.num_units] for _ in range(2 * self.GATES * self.num_layers * self.directions)]

    def size(self) -> int:
        """Return the length of the vector."""
        return sum(math.prod(shape) for shape in [*self.weight_shapes(), *self.bias_shapes()])

    def joined(self, weights: Sequence[Any], biases: Sequence[Any]) -> Any:
        """Return the vector of these matrices and biases."""
        return concat([reshape(part, [-1]) for part in [*weights, *biases]], 0)

    def parted(self, opaque: Any) -> tuple[list[Any], list[Any]]:
        """Return the matrices and biases in a vector."""
        shapes = [*self.weight_shapes(), *self.bias_shapes()]
        parts = split(opaque, [math.prod(shape) for shape in shapes], axis=0)
        shaped = [reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)]
        count = len(self.weight_shapes())
        return shaped[:count], shaped[count:]

    def _grouped(self, opaque: Any) -> list[tuple[list[Any], list[Any]]]:
        """Return matrices and biases of each layer and direction."""
        weights, biases = self.parted(opaque)
        step = 2 * self.GATES
        return [(weights[i : i + step], biases[i : i + step]) for i in range(0, len(weights), step)]

    def by_layer(self, opaque: Any) -> list[Any]:
        """Return, for each layer and direction, kernels for inputs and states, and their biases, gates side by side."""
        found = []
        for weights, biases in self._grouped(opaque):
            gates = self.GATES
            of_input, of_state = (transpose(concat(part, 0)) for part in (weights[:gates], weights[gates:]))
            found.append((of_input, of_state, concat(biases[:gates], 0), concat(biases[gates:], 0)))
        return found

    def opaque_to_tf_canonical(self, opaque_param: Any) -> tuple[list[Any], list[Any]]:
        """Return the kernels and biases of cells."""
        kernels: list[Any] = []
        biases: list[Any] = []
        for of_gates, of_biases in self._grouped(opaque_param):
            kernels += self._cell_kernels(of_gates)
            biases += self._cell_biases(of_biases)
        return kernels, biases

    def tf_canonical_to_opaque(self, tf_canonicals: Sequence[Any], weights_proj: Any = None) -> Any:
        """Return the vector of cells' kernels, followed by their biases."""
        half, step = len(tf_canonicals) // 2, len(self.PARTS)
        weights: list[Any] = []
        biases: list[Any] = []
        for i, width in enumerate(self._widths()):
            weights += self._gate_weights(tf_canonicals[i * step : (i + 1) * step], width)
            biases += self._gate_biases(tf_canonicals[half + i * step : half + (i + 1) * step])
        return self.joined(weights, biases)

    # --- plain units: one gate ----------------------------------------------------------------------------------------

    def _cell_kernels(self, weights: Sequence[Any]) -> list[Any]:
        gates = self._cells_order([concat([w, r], 1) for w, r in self._pairs(weights)])
        return [transpose(concat(gates, 0))]

    def _cell_biases(self, biases: Sequence[Any]) -> list[Any]:
        return [concat(self._cells_order([w + r for w, r in self._pairs(biases)]), 0)]

    def _gate_weights(self, kernels: Sequence[Any], width: int) -> list[Any]:
        gates = self._cells_order(split(transpose(kernels[0]), self.GATES, axis=0))
        pairs = [split(gate, [width, self.num_units], axis=1) for gate in gates]
        return [w for w, _ in pairs] + [r for _, r in pairs]

    def _gate_biases(self, biases: Sequence[Any]) -> list[Any]:
        return [gate * 0.5 for gate in self._cells_order(split(biases[0], self.GATES, axis=0))] * 2

    def _pairs(self, parts: Sequence[Any]) -> list[tuple[Any, Any]]:
        return list(zip(parts[: self.GATES], parts[self.GATES :], strict=True))

    def _cells_order(self, gates: Sequence[Any]) -> list[Any]:
        """Return gates in the order of cells, or back: the two orders differ by one exchange."""
        return list(gates)


class ConverterSimple(Converter):
    """Of plain units."""


class ConverterLSTM(Converter):
    """Of an LSTM."""

    GATES = 4

    def _cells_order(self, gates: Sequence[Any]) -> list[Any]:
        first, second, third, last = gates
        return [first, third, second, last]


class ConverterGRU(Converter):
    """Of gated recurrent units: the candidate's two products have kernels and biases of their own."""

    GATES = 3
    PARTS = ("gates/", "candidate/input_projection/", "candidate/hidden_projection/")

    def _cell_kernels(self, weights: Sequence[Any]) -> list[Any]:
        *gates, (input_kernel, state_kernel) = self._pairs(weights)
        both = concat([concat([w, r], 1) for w, r in gates], 0)
        return [transpose(both), transpose(input_kernel), transpose(state_kernel)]

    def _cell_biases(self, biases: Sequence[Any]) -> list[Any]:
        *gates, (input_bias, state_bias) = self._pairs(biases)
        return [concat([w + r for w, r in gates], 0), input_bias, state_bias]

    def _gate_weights(self, kernels: Sequence[Any], width: int) -> list[Any]:
        gates = [split(g, [width, self.num_units], axis=1) for g in split(transpose(kernels[0]), 2, axis=0)]
        inputs, states = [w for w, _ in gates], [r for _, r in gates]
        return [*inputs, transpose(kernels[1]), *states, transpose(kernels[2])]

    def _gate_biases(self, biases: Sequence[Any]) -> list[Any]:
        halves = split(biases[0] * 0.5, 2, axis=0)
        return [*halves, biases[1], *halves, biases[2]]
