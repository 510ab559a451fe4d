"""`tf.contrib.tpu` where there is no TPU: a program written for one runs as a program of one shard.

`rewrite` and its kin call the computation; the optimizer that adds up the shards' gradients is the optimizer itself.
Parameters of embeddings on TPUs are kept as values.
"""

from __future__ import annotations

import contextlib
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow import messages
from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Effect, Nested, TensorLike
from ebbflow.feature_column.embedding import EmbeddingColumn
from ebbflow.functions.control_flow.while_loop import while_loop as host_while_loop
from ebbflow.graph.scopes import no_op
from ebbflow.ops.elementwise.casts import cast
from ebbflow.state.variable_scope import variable_scope
from ebbflow.train.optimizer import Optimizer

if TYPE_CHECKING:
    from ebbflow.state.base import Variable


class TpuContext:
    """How many shards the computation that is being built runs on."""

    def __init__(self) -> None:
        self.number_of_shards: int | None = None

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        """Say how many."""
        self.number_of_shards = number_of_shards


_context = TpuContext()


def get_tpu_context() -> TpuContext:
    """Return the context of the computation that is being built."""
    return _context


@contextlib.contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """Have what is built inside know that it runs on so many shards."""
    if _context.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested: close the outer one first")
    _context.set_number_of_shards(number_of_shards)
    try:
        yield
    finally:
        _context.set_number_of_shards(None)


class CrossShardOptimizer(Optimizer):
    """An optimizer for a computation on several shards; with one, as here, it does what the inner one does."""

    def __init__(
        self,
        opt: Optimizer,
        reduction: str = "weighted_mean",
        name: str = "CrossShardOptimizer",
        group_assignment: Sequence[Sequence[int]] | None = None,
    ) -> None:
        accepted = ("weighted_mean", "weighted_sum", "weighted_sum_by_nonzero_weights", "mean", "sum")
        if reduction not in accepted:
            raise ValueError(f"Unsupported reduction: {reduction}. Expected one of {accepted}.")
        super().__init__(False, name)
        self._opt = opt

    def compute_gradients(
        self, loss: TensorLike | Callable[..., Any], var_list: Iterable[Any] | None = None, *args: Any, **kwargs: Any
    ) -> list[tuple[Any, Variable]]:
        """Return what the inner optimizer computes."""
        return self._opt.compute_gradients(loss, var_list, *args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | TensorLike | None = None,
        name: str | None = None,
    ) -> Effect:
        """Have the inner optimizer apply them."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Variable | None:
        """Return a slot of the inner optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Return the names of the inner optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Variable]:
        """Return the inner optimizer's variables."""
        return self._opt.variables()


def rewrite(
    computation: Callable[..., Any], inputs: Nested = None, infeed_queue: object = None, name: str | None = None
) -> list[Tensor]:
    """Return the computation's results, as a list of tensors where it gives tensors."""
    result = computation(*(inputs or ()))
    return [result] if isinstance(result, Tensor) else result


def shard(computation: Callable[..., Any], inputs: Nested = None, num_shards: int = 1, **kwargs: Any) -> list[Any]:
    """Return the computation's results; the one shard gets everything."""
    return _as_list(computation(*(inputs or ())))


def batch_parallel(
    computation: Callable[..., Any], inputs: Nested = None, num_shards: int = 1, **kwargs: Any
) -> list[Any]:
    """Return the computation's results for a batch; the one shard gets all of it."""
    return shard(computation, inputs, num_shards)


def core(num: int) -> str:
    """Return the name of a core of each replica, as `tf.device` takes it."""
    return f"device:TPU_REPLICATED_CORE:{num}"


def initialize_system(embedding_config: object = None, job: str | None = None) -> Tensor:
    """Return the layout of the system, serialized: a program of one shard has one core in one task."""
    layout = messages.TopologyProto(
        mesh_shape=[1, 1, 1, 1], num_tasks=1, num_tpu_devices_per_task=1, device_coordinates=[0, 0, 0, 0]
    )
    return convert(layout.SerializeToString(), name="ConfigureDistributedTPU")


def shutdown_system(job: str | None = None) -> Effect:
    """Return a node that ends the system's use: nothing has to be done."""
    return no_op(name="ShutdownDistributedTPU")


def bfloat16_scope() -> variable_scope:
    """Return a scope in which variables that are asked for as bfloat16 are kept as float32, and read as bfloat16."""

    def kept_as_float(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("dtype") != dtypes.bfloat16:
            return getter(*args, **kwargs)
        return cast(getter(*args, **{**kwargs, "dtype": dtypes.float32}), dtypes.bfloat16)

    return variable_scope("", custom_getter=kept_as_float)


def replicate(computation: Callable[..., Any], inputs: Sequence[Any] | None = None, **kwargs: Any) -> list[Any]:
    """Return the results for each list of inputs."""
    return [_as_list(computation(*one)) for one in (inputs or [[]])]


def outside_compilation(computation: Callable[..., Any], *args: Any, **kwargs: Any) -> Nested:
    """Call a part of a computation that a TPU leaves to its host."""
    return computation(*args, **kwargs)


def cross_replica_sum(
    x: TensorLike, group_assignment: Sequence[Sequence[int]] | None = None, name: str | None = None
) -> AnyTensor:
    """Return the sum over all shards, of which there is one."""
    return x


def _as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


def while_loop(
    condition: Callable[..., Any],
    body: Callable[..., Any],
    inputs: Nested = None,
    infeed_queue: object = None,
    name: str | None = None,
) -> list[Tensor]:
    """Repeat `body` while `condition` holds."""
    result = host_while_loop(condition, lambda *args: _as_list(body(*args)), _as_list(inputs or []))
    return result


def repeat(
    n: int, body: Callable[..., Any], inputs: Nested = None, infeed_queue: object = None, name: str | None = None
) -> Nested:
    """Repeat `body` n times, each time with what it gave before."""
    values = _as_list(inputs) if inputs is not None else []
    found = host_while_loop(lambda i, *rest: i < n, lambda i, *rest: [i + 1, *_as_list(body(*rest))], [0, *values])[1:]
    return found[0] if len(found) == 1 else list(found)


TPUSystemMetadata = namedtuple(
    "TPUSystemMetadata", ["num_cores", "num_hosts", "num_of_cores_per_host", "topology", "devices"]
)


class OptimizationParameters:
    """How an embedding on a TPU is trained: a learning rate, and whatever else was said, as attributes."""

    def __init__(self, learning_rate: float | None = None, **kwargs: Any) -> None:
        self.learning_rate = learning_rate
        vars(self).update(kwargs)


class AdagradParameters(OptimizationParameters):
    """Adagrad's."""

    def __init__(self, learning_rate: float, initial_accumulator: float = 0.1, **kwargs: Any) -> None:
        if initial_accumulator <= 0:
            raise ValueError(f"Adagrad initial_accumulator must be positive, got {initial_accumulator}")
        super().__init__(learning_rate, initial_accumulator=initial_accumulator, **kwargs)


class ProximalAdagradParameters(AdagradParameters):
    """Proximal Adagrad's."""


class AdamParameters(OptimizationParameters):
    """Adam's."""

    def __init__(
        self, learning_rate: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, **kwargs: Any
    ) -> None:
        for name, value in (("beta1", beta1), ("beta2", beta2)):
            if not 0.0 <= value < 1.0:
                raise ValueError(f"{name} must be between 0. and 1; got {value}.")
        if epsilon <= 0.0:
            raise ValueError(f"epsilon must be positive; got {epsilon}.")
        super().__init__(learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon, **kwargs)


class FtrlParameters(OptimizationParameters):
    """Ftrl's."""


class MomentumParameters(OptimizationParameters):
    """Momentum's."""


class RMSPropParameters(OptimizationParameters):
    """RMSProp's."""


class StochasticGradientDescentParameters(OptimizationParameters):
    """Plain gradient descent's."""


class TPUEmbeddingColumn(EmbeddingColumn):
    """An embedding column that may live on a TPU; on a host it is an embedding column."""


class TPUSharedEmbeddingColumn(TPUEmbeddingColumn):
    """One that shares its table."""


class ControlFlowContext:
    """A stretch of a graph being built that programs for TPUs mark. Control flow here is functional and needs none, so
    entering and leaving change nothing but what `outer_context` says.
    """

    _open: list[Any] = []  # noqa: RUF012  (one list for all)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._outer_context: Any = self._open[-1] if self._open else None

    @property
    def outer_context(self) -> Any:
        """The context around this one."""
        return self._outer_context

    def Enter(self) -> None:
        """Begin the stretch."""
        self._open.append(self)

    def Exit(self) -> None:
        """End it."""
        if self in self._open:
            self._open.remove(self)

    def __enter__(self) -> ControlFlowContext:
        self.Enter()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.Exit()


class XLAControlFlowContext(ControlFlowContext):
    """A stretch that XLA compiles."""


class TPUInferenceContext(XLAControlFlowContext):
    """What a computation for prediction is built in, on a TPU."""


class TensorTracer:
    """What prints the values inside a computation on a TPU; there is none here, so it is never on."""

    @staticmethod
    def is_enabled() -> bool:
        """Return whether values are traced."""
        return False
