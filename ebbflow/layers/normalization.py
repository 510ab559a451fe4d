"""Batch normalization: by the batch's own statistics while training, by their moving averages afterwards.

In a graph the averages move when the layer's updates run (collection UPDATE_OPS); eagerly they move with the call.
Images with channels first or last go through one fused op; everything else, and batch renormalization, virtual batches
and adjustments, is composed. Names and arithmetic are TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, InitializerLike, Nested, ShapeLike, TensorLike
from ebbflow.graph.scopes import colocate_with, control_dependencies
from ebbflow.layers.arguments import checked_function, initializer_named
from ebbflow.layers.base import InputSpec, Layer, read
from ebbflow.layers.smart_cond import known_flag, smart_cond
from ebbflow.ops.arrays.creation import constant_v1, ones_like, zeros_like
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.nn.normalization import batch_normalization as normalized
from ebbflow.ops.nn.normalization import fused_batch_norm, moments
from ebbflow.ops.reduce.reductions import reduce_mean
from ebbflow.state.functions import assign, assign_sub
from ebbflow.state.initializers import ones_initializer, zeros_initializer
from ebbflow.state.variables import VariableAggregation, VariableSynchronization

_CLIPPINGS = ("rmax", "rmin", "dmax")


class BatchNormalization(Layer):
    """Takes off the mean and divides by the deviation, per channel; then scales by gamma and shifts by beta."""

    beta: Any
    gamma: Any
    _beta_const: Any
    _gamma_const: Any

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: InitializerLike = zeros_initializer(),  # noqa: B008
        gamma_initializer: InitializerLike = ones_initializer(),  # noqa: B008
        moving_mean_initializer: InitializerLike = zeros_initializer(),  # noqa: B008
        moving_variance_initializer: InitializerLike = ones_initializer(),  # noqa: B008
        beta_regularizer: Callable[[Any], Any] | None = None,
        gamma_regularizer: Callable[[Any], Any] | None = None,
        beta_constraint: Callable[[Any], Any] | None = None,
        gamma_constraint: Callable[[Any], Any] | None = None,
        renorm: bool = False,
        renorm_clipping: Mapping[str, TensorLike] | None = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Callable[[Any], Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.axis = _axes(axis)
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = map(initializer_named, (beta_initializer, gamma_initializer))
        self.moving_mean_initializer = initializer_named(moving_mean_initializer)
        self.moving_variance_initializer = initializer_named(moving_variance_initializer)
        self.beta_regularizer = checked_function(beta_regularizer, "regularizer")
        self.gamma_regularizer = checked_function(gamma_regularizer, "regularizer")
        self.beta_constraint = checked_function(beta_constraint, "constraint")
        self.gamma_constraint = checked_function(gamma_constraint, "constraint")
        self.virtual_batch_size, self.adjustment = virtual_batch_size, adjustment
        self.fused = True if fused is None else fused
        self.supports_masking = True
        self.renorm, self.renorm_momentum = renorm, renorm_momentum
        self.renorm_clipping = _clipping(renorm_clipping) if renorm else None

    # --- variables ----------------------------------------------------------------------------------------------------

    def build(self, input_shape: ShapeLike) -> None:
        """Make gamma, beta and the moving averages."""
        shape = TensorShape(input_shape)
        if not shape.rank:
            raise ValueError("Input has undefined rank:", shape)
        self._settle_axes(shape.rank)
        self.fused = bool(self.fused) and self._can_fuse(shape.rank)
        lengths = {axis: shape.as_list()[axis] for axis in self.axis}
        if None in lengths.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", shape)
        self.input_spec = InputSpec(ndim=shape.rank, axes=lengths)
        if len(lengths) == 1 and self.virtual_batch_size is None:
            self._shape = list(lengths.values())
        else:
            self._shape = [lengths.get(axis, 1) for axis in range(shape.rank)]
        if self.virtual_batch_size is not None:  # a second axis, of batches
            self._shape.insert(1, 1)
            self.axis = [axis + 1 for axis in self.axis]
        self._add_parameters()
        self._add_averages()
        self.built = True

    def _settle_axes(self, rank: int) -> None:
        self.axis = [axis + rank if axis < 0 else axis for axis in _axes(self.axis)]
        for axis in self.axis:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(set(self.axis)) != len(self.axis):
            raise ValueError(f"Duplicate axis: {self.axis}")
        if self.virtual_batch_size is None:
            return
        if self.virtual_batch_size <= 0:
            raise ValueError(
                "virtual_batch_size must be a positive integer that divides the true batch size of the input Tensor"
            )
        if 0 in self.axis:
            raise ValueError(
                "When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot include 0"
            )
        if self.adjustment is not None:
            raise ValueError("When using virtual_batch_size, adjustment cannot be specified")

    def _can_fuse(self, rank: int) -> bool:
        plain = not self.renorm and self.virtual_batch_size is None and self.adjustment is None
        return plain and rank == 4 and self.axis in ([1], [3])

    @property
    def _parameter_dtype(self) -> Any:
        half = self._dtype in (dtypes.float16, dtypes.bfloat16)
        return dtypes.float32 if half else self._dtype or dtypes.float32

    def _add_parameters(self) -> None:
        for name, wanted, value in (("gamma", self.scale, 1.0), ("beta", self.center, 0.0)):
            parameter = None
            if wanted:
                parameter = self.add_weight(
                    name,
                    shape=self._shape,
                    dtype=self._parameter_dtype,
                    initializer=getattr(self, f"{name}_initializer"),
                    regularizer=getattr(self, f"{name}_regularizer"),
                    constraint=getattr(self, f"{name}_constraint"),
                )
            elif self.fused:
                filled = constant_v1(value, dtype=self._parameter_dtype, shape=self._shape)
                setattr(self, f"_{name}_const", filled)
            setattr(self, name, parameter)

    def _add_averages(self) -> None:
        partitioner = self._scope.partitioner if self._scope else None
        if partitioner is not None:
            self._scope.set_partitioner(None)
        try:
            self.moving_mean = self._add_average("moving_mean", self.moving_mean_initializer)
            self.moving_variance = self._add_average("moving_variance", self.moving_variance_initializer)
            if self.renorm:
                self.moving_stddev = self._add_average("moving_stddev", self._first_deviation)
                self.renorm_mean = self._add_average("renorm_mean", self.moving_mean_initializer)
                self.renorm_stddev = self._add_average("renorm_stddev", self._first_deviation)
        finally:
            if partitioner is not None:
                self._scope.set_partitioner(partitioner)

    def _add_average(self, name: str, initializer: Any) -> Any:
        return self.add_weight(
            name,
            shape=self._shape,
            dtype=self._parameter_dtype,
            initializer=initializer,
            trainable=False,
            synchronization=VariableSynchronization.ON_READ,
            aggregation=VariableAggregation.MEAN,
        )

    def _first_deviation(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return raw.Sqrt(self.moving_variance_initializer(shape, dtype=dtype))

    # --- calling ------------------------------------------------------------------------------------------------------

    def call(self, inputs: Nested, training: TensorLike = False) -> Tensor:
        """Normalize."""
        if self.fused:
            return self._fused(inputs, training)
        if self.virtual_batch_size is None:
            return self._composed(inputs, training)
        shape = [-1, *inputs.shape.as_list()[1:]]
        batches = reshape(inputs, [self.virtual_batch_size, *shape])
        return reshape(self._composed(batches, training), shape)

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        """Return the input's shape."""
        return input_shape

    def _fused(self, inputs: Any, training: Any) -> Any:
        beta = read(self.beta) if self.center else self._beta_const
        gamma = read(self.gamma) if self.scale else self._gamma_const
        settings: dict[str, Any] = {"epsilon": self.epsilon, "data_format": "NHWC" if self.axis == [3] else "NCHW"}
        averages: dict[str, Any] = {"mean": self.moving_mean, "variance": self.moving_variance, "is_training": False}
        outputs, mean, variance = smart_cond(
            training,
            lambda: fused_batch_norm(inputs, gamma, beta, **settings),
            lambda: fused_batch_norm(inputs, gamma, beta, **averages, **settings),
        )
        flag = known_flag(training)
        if flag is None:
            momentum = smart_cond(training, lambda: convert(self.momentum), lambda: convert(1.0))
        else:
            momentum = convert(self.momentum)
        if flag is not False:
            self.add_update(lambda: _move(self.moving_mean, mean, momentum))
            self.add_update(lambda: _move(self.moving_variance, variance, momentum))
        return outputs

    def _composed(self, inputs: Any, training: Any) -> Any:
        rank = inputs.shape.rank
        reduced = [axis for axis in range(rank) if axis not in self.axis]
        if self.virtual_batch_size is not None:
            del reduced[1]
        wide = [1] * rank
        wide[self.axis[0]] = inputs.shape.as_list()[self.axis[0]]

        def spread(value: Any) -> Any:
            """Return a number per channel so that it lies along the channels of the inputs."""
            if value is None or len(value.shape) == rank or reduced == list(range(rank - 1)):
                return value
            return reshape(value, wide)

        scale, offset = spread(read(self.gamma)), spread(read(self.beta))
        if known_flag(training) is False:
            mean, variance = read(self.moving_mean), read(self.moving_variance)
        else:
            scale, offset = self._adjusted(inputs, training, scale, offset)
            mean, variance = self._statistics(inputs, reduced, training)
            seen: Any = mean, variance
            if self.virtual_batch_size is not None:
                seen = tuple(reduce_mean(x, axis=1, keepdims=True) for x in seen)
            if self.renorm:
                r, d, *seen = self._renormalized(*seen, training)  # type: ignore[call-arg]
                r, d = raw.StopGradient(r, name="renorm_r"), raw.StopGradient(d, name="renorm_d")
                scale, offset = _then(spread(r), spread(d), scale, offset)
            self._follow(*seen, training)  # type: ignore[call-arg]
        mean, variance, offset, scale = (
            None if part is None else cast(part, inputs.dtype) for part in (mean, variance, offset, scale)
        )
        outputs = normalized(inputs, spread(mean), spread(variance), offset, scale, self.epsilon)
        outputs.set_shape(inputs.shape)
        return outputs

    def _adjusted(self, inputs: Any, training: Any, scale: Any, offset: Any) -> tuple[Any, Any]:
        """Return scale and offset behind those of the `adjustment`, which holds only while training."""
        if self.adjustment is None:
            return scale, offset
        adjusted, bias = self.adjustment(shape_of(inputs))
        adjusted = smart_cond(training, lambda: adjusted, lambda: ones_like(adjusted))
        bias = smart_cond(training, lambda: bias, lambda: zeros_like(bias))
        return _then(adjusted, bias, scale, offset)

    def _statistics(self, inputs: Any, reduced: list[int], training: Any) -> tuple[Any, Any]:
        """Return mean and variance to normalize by: the batch's while training, else the averages."""
        keep = self.virtual_batch_size is not None or len(self.axis) > 1
        batch_mean, batch_variance = moments(cast(inputs, self._parameter_dtype), reduced, keepdims=keep)
        mean = smart_cond(training, lambda: batch_mean, lambda: convert(self.moving_mean))
        variance = smart_cond(training, lambda: batch_variance, lambda: convert(self.moving_variance))
        return mean, variance

    def _follow(self, mean: Any, variance: Any, training: Any) -> None:
        """Have the averages move towards what was seen, while training."""

        def move_mean() -> Any:
            return _move(self.moving_mean, mean, self.momentum)

        def move_variance() -> Any:
            if not self.renorm:
                return _move(self.moving_variance, variance, self.momentum)
            deviation = _move(self.moving_stddev, raw.Sqrt(variance + self.epsilon), self.momentum)
            square = raw.Relu(deviation * deviation - self.epsilon)
            with name_scope("AssignNewValue") as scope, _beside(self.moving_variance):
                return assign(self.moving_variance, square, name=scope or None)

        self.add_update(lambda: smart_cond(training, move_mean, lambda: self.moving_mean))
        self.add_update(lambda: smart_cond(training, move_variance, lambda: self.moving_variance))

    # --- renormalization ----------------------------------------------------------------------------------------------

    def _renormalized(self, mean: Any, variance: Any, training: Any) -> tuple[Any, Any, Any, Any]:
        """Return by how much the batch is off its running statistics (r, d), and its mean and variance behind that."""
        deviation = raw.Sqrt(variance + self.epsilon)
        known = raw.Maximum(self.renorm_stddev, cast(raw.Sqrt(self.epsilon), self._parameter_dtype))
        ratio, shift = deviation / known, (mean - self.renorm_mean) / known
        with control_dependencies([ratio, shift]):
            mean, deviation = raw.Identity(mean), raw.Identity(deviation)
        ratio, shift = self._clipped(ratio, shift)
        r = smart_cond(training, lambda: ratio, lambda: ones_like(ratio))
        d = smart_cond(training, lambda: shift, lambda: zeros_like(shift))
        moved = [
            self._move_if(training, self.renorm_mean, mean),
            self._move_if(training, self.renorm_stddev, deviation),
        ]
        with control_dependencies(moved):
            return r, d, raw.Identity(mean), raw.Identity(variance)

    def _clipped(self, ratio: Any, shift: Any) -> tuple[Any, Any]:
        rmin, rmax, dmax = ((self.renorm_clipping or {}).get(key) for key in ("rmin", "rmax", "dmax"))
        if rmin is not None:
            ratio = raw.Maximum(ratio, rmin)
        if rmax is not None:
            ratio = raw.Minimum(ratio, rmax)
        if dmax is not None:
            shift = raw.Minimum(raw.Maximum(shift, -dmax), dmax)
        return ratio, shift

    def _move_if(self, training: Any, variable: Any, value: Any) -> Any:
        value = raw.Identity(value)

        def move() -> Any:
            return convert(_move(variable, value, self.renorm_momentum))

        return smart_cond(training, move, lambda: raw.Identity(variable))


def _axes(axis: Any) -> list[int]:
    if isinstance(axis, (list, tuple)):
        return list(axis)
    if isinstance(axis, int):
        return [axis]
    raise TypeError(f"axis must be int or list, type given: {type(axis)}")


def _clipping(given: Any) -> dict[str, Any]:
    given = given or {}
    if set(given) - set(_CLIPPINGS):
        raise ValueError(f"renorm_clipping {given} contains keys not in {list(_CLIPPINGS)}")
    return given


def _then(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> tuple[Any, Any]:
    """Return one scale and offset that do what two do one after the other."""
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    return scale, offset if then_offset is None else offset + then_offset


def _beside(variable: Any) -> Any:
    in_graph = not context.executing_eagerly() and getattr(variable, "_in_graph", True)
    return colocate_with(variable.op if in_graph else None, ignore_existing=not in_graph)


def _move(average: Any, value: Any, momentum: Any) -> Any:
    """Move an average towards a value."""
    with name_scope("AssignMovingAvg") as scope, _beside(average):
        dtype = average.dtype.base_dtype
        rate = convert(1.0 - momentum, name="decay")
        rate = rate if rate.dtype.base_dtype is dtype else cast(rate, dtype)
        return assign_sub(average, (average - cast(value, dtype)) * rate, name=scope or None)


def batch_normalization(
    inputs: Nested,
    axis: Axis = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: InitializerLike = zeros_initializer(),  # noqa: B008
    gamma_initializer: InitializerLike = ones_initializer(),  # noqa: B008
    moving_mean_initializer: InitializerLike = zeros_initializer(),  # noqa: B008
    moving_variance_initializer: InitializerLike = ones_initializer(),  # noqa: B008
    beta_regularizer: Callable[[Any], Any] | None = None,
    gamma_regularizer: Callable[[Any], Any] | None = None,
    beta_constraint: Callable[[Any], Any] | None = None,
    gamma_constraint: Callable[[Any], Any] | None = None,
    training: TensorLike = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, TensorLike] | None = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Callable[..., Any] | None = None,
) -> Tensor:
    """Return the inputs normalized by the batch (while `training`) or by the moving averages."""
    given = dict(locals())
    inputs, training, reuse = given.pop("inputs"), given.pop("training"), given.pop("reuse")
    return BatchNormalization(**given, _scope=name, _reuse=reuse).apply(inputs, training=training)


batch_norm = batch_normalization
BatchNorm = BatchNormalization
