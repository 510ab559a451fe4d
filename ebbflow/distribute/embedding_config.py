"""What `tf.tpu.experimental.embedding` is told: tables, the features that look into them, how tables are trained.

These are plain descriptions. Two optimizers that say the same are equal; tables and features are known by identity, for
several features share one table.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import ShapeLike
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.state.tf2_initializers import TruncatedNormal

COMBINERS = ("mean", "sum", "sqrtn")
Rate = float | Callable[[], float]
MakesSlots = Callable[[Any, list[str], list[Any]], dict[str, Any]]
Clip = tuple[float, float] | float | None

options = dataclasses.dataclass(eq=False, repr=False)


class Optimizer:
    """How a table is trained: the options of one rule, and the variables that it keeps beside the table."""

    use_gradient_accumulation: bool
    slot_variable_creation_fn: MakesSlots | None = None

    def __post_init__(self, clipvalue: Clip) -> None:
        if not self.use_gradient_accumulation and clipvalue is not None:
            raise ValueError(
                "When `use_gradient_accumulation` is False, gradient clipping cannot be used and `clipvalue` should be "
                f"left as None. Received value {clipvalue} for argument `clipvalue`."
            )
        creates = self.slot_variable_creation_fn
        if creates is not None and not callable(creates):
            raise ValueError(
                f"Argument `slot_variable_creation_fn` must be either None or a callable. Received: {creates}"
            )
        both = clipvalue if isinstance(clipvalue, tuple) else (None if clipvalue is None else -clipvalue, clipvalue)
        self.clip_gradient_min, self.clip_gradient_max = both
        self._check()

    def _check(self) -> None:
        """Refuse options that the rule cannot be run with."""

    def _slots(self) -> dict[str, float]:
        """Return the names of the variables kept beside a table, each with the value that it begins with."""
        return {}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))


def _check_accumulator(value: float) -> None:
    if value <= 0:
        raise ValueError(f"Argument `initial_accumulator_value` must be a positive float. Received: {value}")


@options
class SGD(Optimizer):
    """Plain gradient descent."""

    learning_rate: Rate = 0.01
    use_gradient_accumulation: bool = True
    clip_weight_min: float | None = None
    clip_weight_max: float | None = None
    weight_decay_factor: float | None = None
    multiply_weight_decay_factor_by_learning_rate: bool | None = None
    clipvalue: dataclasses.InitVar[Clip] = None  # type: ignore[assignment]
    low_dimensional_packing_status: bool = False


@options
class Adagrad(Optimizer):
    """Adagrad: steps shrink with the sum of squared gradients."""

    learning_rate: Rate = 0.001
    initial_accumulator_value: float = 0.1
    use_gradient_accumulation: bool = True
    clip_weight_min: float | None = None
    clip_weight_max: float | None = None
    weight_decay_factor: float | None = None
    multiply_weight_decay_factor_by_learning_rate: bool | None = None
    slot_variable_creation_fn: MakesSlots | None = None
    clipvalue: dataclasses.InitVar[Clip] = None  # type: ignore[assignment]
    low_dimensional_packing_status: bool = False

    def _check(self) -> None:
        _check_accumulator(self.initial_accumulator_value)

    def _slots(self) -> dict[str, float]:
        return {"accumulators": self.initial_accumulator_value}


@options
class AdagradMomentum(Optimizer):
    """Adagrad with momentum, another exponent and a sum that may decay."""

    learning_rate: Rate = 0.001
    momentum: float = 0.0
    use_nesterov: bool = False
    exponent: float = 2
    beta2: float = 1
    epsilon: float = 1e-10
    use_gradient_accumulation: bool = True
    clip_weight_min: float | None = None
    clip_weight_max: float | None = None
    weight_decay_factor: float | None = None
    multiply_weight_decay_factor_by_learning_rate: bool | None = None
    slot_variable_creation_fn: MakesSlots | None = None
    clipvalue: dataclasses.InitVar[Clip] = None  # type: ignore[assignment]
    low_dimensional_packing_status: bool = False

    def _check(self) -> None:
        if self.epsilon <= 0:
            raise ValueError(f"Adagrad momentum: epsilon must be positive. Received: {self.epsilon}")
        if self.exponent <= 0:
            raise ValueError(f"Adagrad momentum: Precondition exponent must >0. Received: {self.exponent}")

    def _slots(self) -> dict[str, float]:
        return {"accumulators": 0.0, "momenta": 0.0}


@options
class FTRL(Optimizer):
    """Follow the regularized leader."""

    learning_rate: Rate = 0.001
    learning_rate_power: float = -0.5
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    beta: float = 0.0
    initial_accumulator_value: float = 0.1
    use_gradient_accumulation: bool = True
    clip_weight_min: float | None = None
    clip_weight_max: float | None = None
    weight_decay_factor: float | None = None
    multiply_weight_decay_factor_by_learning_rate: bool | None = None
    slot_variable_creation_fn: MakesSlots | None = None
    clipvalue: dataclasses.InitVar[Clip] = None  # type: ignore[assignment]
    multiply_linear_by_learning_rate: bool = False
    allow_zero_accumulator: bool = False
    low_dimensional_packing_status: bool = False

    def _check(self) -> None:
        _check_accumulator(self.initial_accumulator_value)

    def _slots(self) -> dict[str, float]:
        return {"accumulators": self.initial_accumulator_value, "linears": 0.0}


@options
class Adam(Optimizer):
    """Adam; a lazy one moves only the rows that a step has looked up."""

    learning_rate: Rate = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-07
    lazy_adam: bool = True
    sum_inside_sqrt: bool = True
    use_gradient_accumulation: bool = True
    clip_weight_min: float | None = None
    clip_weight_max: float | None = None
    weight_decay_factor: float | None = None
    multiply_weight_decay_factor_by_learning_rate: bool | None = None
    slot_variable_creation_fn: MakesSlots | None = None
    clipvalue: dataclasses.InitVar[Clip] = None  # type: ignore[assignment]
    low_dimensional_packing_status: bool = False

    def _check(self) -> None:
        for name in ("beta_1", "beta_2"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"Argument `{name}` must be >= 0 and < 1. Received: {getattr(self, name)}.")
        if self.epsilon <= 0:
            raise ValueError(f"epsilon must be positive; got {self.epsilon}.")
        if not (self.use_gradient_accumulation or self.lazy_adam):
            raise ValueError("When disabling lazy Adam (`lazy_adam=False`), gradient accumulation must be used.")

    def _slots(self) -> dict[str, float]:
        return {"momenta": 0.0, "velocities": 0.0}


@dataclasses.dataclass(eq=False)
class QuantizationConfig:
    """Values that a TPU rounds to so many steps between two bounds when it looks them up; serving does not."""

    num_buckets: int
    lower: float
    upper: float

    def __post_init__(self) -> None:
        if self.num_buckets < 2:
            raise ValueError(f"num_buckets is {self.num_buckets}, must be at least 2 for simulated quantization.")


SHOWN = ("vocabulary_size", "dim", "initializer", "optimizer", "combiner", "name", "quantization_config")


@dataclasses.dataclass(eq=False, repr=False)
class TableConfig:
    """A table of embeddings: how many rows, how long, where values come from, how the rows of one answer combine."""

    vocabulary_size: int
    dim: int
    initializer: Callable[..., Any] | None = None
    optimizer: Optimizer | None = None
    combiner: str = "mean"
    name: str | None = None
    quantization_config: QuantizationConfig | None = None
    layout: object = None
    dtype: DType = dtypes.float32

    def __post_init__(self) -> None:
        for name, what in (("vocabulary_size", ""), ("dim", " (embedding dimension)")):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"Argument `{name}`{what} must be an int and must be >= 1. Received: {value}")
        if self.initializer is not None and not callable(self.initializer):
            raise ValueError(f"Argument `initializer` must be a callable (or None). Received: {self.initializer}")
        if self.combiner not in COMBINERS:
            raise ValueError(f"String argument `combiner` must be in {COMBINERS}. Received: {self.combiner}")
        self.initializer = self.initializer or TruncatedNormal(0.0, 1 / math.sqrt(self.dim))

    def __repr__(self) -> str:
        shown = {name: getattr(self, name) for name in SHOWN}
        shown["initializer"] = None if isinstance(self.initializer, TruncatedNormal) else self.initializer
        return f"TableConfig({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


@dataclasses.dataclass(eq=False)
class FeatureConfig:
    """What a feature is looked up in, and in which form the answer is: rows combined, or a sequence of them."""

    table: TableConfig
    max_sequence_length: int = 0
    validate_weights_and_indices: bool = True
    output_shape: Sequence[int] | TensorShape | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.table, TableConfig):
            raise ValueError(
                f"Argument `table` has invalid type {type(self.table)}. Expected "
                "`tf.tpu.experimental.embedding.TableConfig`."
            )
        if not isinstance(self.max_sequence_length, int) or self.max_sequence_length < 0:
            raise ValueError(
                f"Argument `max_sequence_length` must be an int and must be >= 0. Received: {self.max_sequence_length}"
            )
        self.output_shape = TensorShape(self.output_shape)


class RowIdInitializer:
    """Every element of a row is the row's number, counted from `offset`."""

    def __init__(self, offset: int = 0):
        self.offset = offset

    def __call__(self, shape: ShapeLike, dtype: DType) -> Tensor:
        rows, columns = TensorShape(shape).as_list()
        numbers = cast(raw.Range(self.offset, self.offset + rows, 1), dtype)
        return raw.Tile(raw.Reshape(numbers, [rows, 1]), [1, columns])
