"""`tf.train.SyncReplicasOptimizer`: workers whose gradients are averaged before one step is taken for all.

Each worker adds its gradients to accumulators, which drop those of steps that have passed, and waits for a token. A
thread of the chief takes the mean when enough have come, applies it, and hands out the tokens of the next step. With
more workers than gradients are waited for, the slowest are backups. All state is shared by name, so workers may be
threads of one session or processes that meet at a server.

Where variables are in several tasks, each task notes when it has begun and done its part of a step. A chief that starts
again sees from the notes what the one before it left undone, and does it: the gradients are still there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes, errors
from ebbflow.core.device import parse
from ebbflow.core.scopes import name_scope
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.typing import AnyTensor, Effect
from ebbflow.graph import scopes
from ebbflow.graph.collections import GraphKeys
from ebbflow.monitored.live_state import add_keeper
from ebbflow.monitored.session_run_hook import SessionRunHook
from ebbflow.ops.arrays.creation import fill
from ebbflow.ops.declare import raw
from ebbflow.ops.queues import givers
from ebbflow.platform import logging
from ebbflow.state import functions
from ebbflow.state.base import VariableV1
from ebbflow.state.queues.accumulators import ConditionalAccumulator, SparseConditionalAccumulator
from ebbflow.state.queues.queue import FIFOQueue
from ebbflow.state.resource import ResourceVariable
from ebbflow.train.optimizer import Optimizer
from ebbflow.train.queue_runner import QueueRunner

if TYPE_CHECKING:
    from ebbflow.state.base import Variable
    from ebbflow.train.moving_averages import ExponentialMovingAverage

NO_STEP = -1
"""A step that never is: an accumulator that goes there keeps nothing."""


class SyncReplicasOptimizer(Optimizer):
    """Averages the gradients of several workers, then has another optimizer take the step."""

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: ExponentialMovingAverage | None = None,
        variables_to_average: Iterable[Any] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ):
        super().__init__(use_locking, name)
        total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        logging.info("SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s", replicas_to_aggregate, total)
        self._opt, self._replicas_to_aggregate, self._total_num_replicas = opt, replicas_to_aggregate, total
        self._tokens_per_step = max(total, replicas_to_aggregate)
        self._variable_averages, self._variables_to_average = variable_averages, variables_to_average
        self._gradients_applied = False
        self._sync_token_queue: Any = None
        self._chief_queue_runner: Any = None
        self._accumulators: list[tuple[Any, str]] = []
        self._notes: list[_Notes] = []
        self._at_step: list[Any] = []
        self._drop: list[Any] = []

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Variable]]:
        """Return what the other optimizer's `compute_gradients` returns."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Any]], global_step: AnyTensor = None, name: str | None = None
    ) -> Effect:
        """Return the operation by which a worker gives its gradients and waits for the next step."""
        grads_and_vars = list(grads_and_vars or ())
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        kind = global_step.dtype.base_dtype
        self._local_step = VariableV1(
            0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], dtype=kind, name="sync_rep_local_step"
        )
        self.local_step_init_op = self._local_step.assign(global_step)
        self.ready_for_local_init_op = functions.report_uninitialized_variables(functions.global_variables())
        with name_scope(None, self._name):
            given, means = self._accumulated(grads_and_vars)
            variables = [variable for _, variable in grads_and_vars]
            means = self._begin_noted(means, variables)
            with scopes.device_scope(global_step.device):
                before = len(given[0].graph._nodes)
                update = self._opt.apply_gradients(zip(means, variables, strict=True), global_step)
                self._end_noted(update, given[0].graph._nodes[before:])
                self._sync_token_queue = FIFOQueue(
                    -1, kind, shapes=[[]], name="sync_token_q", shared_name="sync_token_q"
                )
                dummy = FIFOQueue(1, dtypes.int32, shapes=[[]], name="dummy_queue", shared_name="dummy_queue")
                with scopes.control_dependencies(given):
                    token = self._sync_token_queue.dequeue()
                    self._one_each(token.op)
                train = self._local_step.assign(token)
                synchronise = self._tokens_after(update)
            self._chief_queue_runner = QueueRunner(dummy, [synchronise])
            self._at_step = self._steps_set()
            self.chief_init_op = scopes.group(self.local_step_init_op, *self._at_step)
            self._forget_other_states()
            self._gradients_applied = True
            return train

    def _accumulated(self, grads_and_vars: list[Any]) -> tuple[list[Any], list[Any]]:
        """Return the operations that give the gradients, and the means of those of all workers."""
        given: list[Any] = []
        means: list[Any] = []
        for gradient, variable in grads_and_vars:
            with scopes.device_scope(variable.device):
                if gradient is None:
                    means.append(None)
                    continue
                shared = f"{variable.name}/grad_accum"
                if isinstance(gradient, IndexedSlices):
                    sparse = SparseConditionalAccumulator(gradient.values.dtype, shape=(), shared_name=shared)
                    given.append(self._one_each(sparse.apply_indexed_slices_grad(gradient, self._local_step)))
                    means.append(sparse.take_indexed_slices_grad(self._replicas_to_aggregate))
                    self._accumulators.append((sparse, variable.device))
                else:
                    dense = ConditionalAccumulator(gradient.dtype, shape=variable.shape, shared_name=shared)
                    given.append(self._one_each(dense.apply_grad(gradient, self._local_step)))
                    means.append(dense.take_grad(self._replicas_to_aggregate))
                    self._accumulators.append((dense, variable.device))
        return given, means

    def _one_each(self, give: Any) -> Any:
        """Have each worker give one gradient and take one token in a step, unless some must give several."""
        return givers.mark(give) if self._replicas_to_aggregate <= self._total_num_replicas else give

    # --- steps that are cut off ---------------------------------------------------------------------------------------

    def _begin_noted(self, means: list[Any], variables: list[Any]) -> list[Any]:
        """Return the means, which are there once each task has noted that it begins."""
        devices = sorted({v.device for v, mean in zip(variables, means, strict=True) if mean is not None})
        if not all(parse(device).job for device in devices):
            return means  # of one process: what cuts off a step takes the variables too
        result = list(means)
        for device in devices:
            own = [i for i, v in enumerate(variables) if means[i] is not None and v.device == device]
            notes = _Notes(device, [a for a, where in self._accumulators if where == device], self._global_step)
            with scopes.device_scope(device):
                begun = notes.begun.assign_add(1, read_value=False)
                begun._add_control_inputs([_op_of(means[i]) for i in own])
                with scopes.control_dependencies([begun]):
                    for i in own:
                        result[i] = _same(means[i])
            self._notes.append(notes)
        return result

    def _end_noted(self, update: Any, nodes: list[Any]) -> None:
        """Have each task note that it is done with its nodes, before `update` counts the step."""
        changes = [node for node in nodes if node is not update and node._inputs]
        for notes in self._notes:
            own = [node for node in changes if node.device == notes.device]
            with scopes.device_scope(notes.device):
                notes.finished = notes.done.assign_add(1, read_value=False)
                notes.finished._add_control_inputs(own or changes)
        update._add_control_inputs([notes.finished for notes in self._notes])
        if self._notes:
            self._count_step = self._global_step.assign_add(1, read_value=False)

    def _forget_other_states(self) -> None:
        """Make the operations by which gradients and tokens of a state that was replaced are dropped.

        That must be done before workers come: a gradient that is given first would be dropped with the others, and its
        worker has the token of the step already where the very step was restored that it was at.
        """
        with scopes.device_scope(self._global_step.device):
            none = fill([0], self._global_step.read_value())
            self._drop = [self._one_each(self._sync_token_queue.enqueue_many([none]))]
        for accumulator, device in self._accumulators:
            with scopes.device_scope(device):
                self._drop.append(accumulator.set_global_step(NO_STEP))
        add_keeper(self._global_step.graph, self)

    def start_anew(self, session: Any) -> None:
        """Drop what was given for a state that was replaced; all are at the step that was restored."""
        session.run(self._drop)
        session.run(self._at_step)

    def settle(self, session: Any) -> bool:
        """Finish a step that was cut off between two tasks; return whether all of them are at the same then."""
        notes = self._notes
        if not notes:
            return True
        try:
            step, begun, done = session.run([self._global_step, [n.read[0] for n in notes], [n.read[1] for n in notes]])
        except errors.FailedPreconditionError:
            return False
        if begun != done or any(number not in (step, step + 1) for number in done):
            return False
        late = [n for n, number in zip(notes, done, strict=True) if number == step]
        if len(late) == len(notes):
            return True
        session.run([n.set_steps for n in late])
        if any(count < self._replicas_to_aggregate for count in session.run([c for n in late for c in n.counts])):
            return False
        session.run([n.finished for n in late])
        session.run(self._count_step)
        words = "Step %d was cut off and is finished: %d of %d tasks had not taken it."
        logging.info(words, step, len(late), len(notes))
        return True

    def _tokens_after(self, update: Any) -> Any:
        """Return the operation that hands out the next step's tokens once this one is taken."""
        with scopes.control_dependencies([update]):
            tokens = fill([self._tokens_per_step], self._global_step.read_value())
            synchronise = self._one_each(self._sync_token_queue.enqueue_many([tokens]))
        if self._variable_averages is not None:
            with scopes.control_dependencies([synchronise]), name_scope(""):
                synchronise = self._variable_averages.apply(self._variables_to_average)
        return synchronise

    def _steps_set(self) -> list[Any]:
        operations = []
        for accumulator, device in self._accumulators:
            with scopes.device_scope(device):
                operations.append(accumulator.set_global_step(self._global_step, name="SetGlobalStep"))
        for notes in self._notes:
            with scopes.device_scope(notes.device):
                operations += [note.assign(self._global_step, read_value=False) for note in (notes.begun, notes.done)]
        return operations

    # --- what the chief does -----------------------------------------------------------------------------------------

    def get_chief_queue_runner(self) -> QueueRunner:
        """Return what applies the means, in a thread of the chief."""
        self._check_applied("get_chief_queue_runner")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Effect:
        """Return the operation that hands out the first tokens, which let the workers start."""
        self._check_applied("get_init_tokens_op")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} (needed)")
        if num_tokens <= 0:
            return scopes.no_op(name="no_init_tokens")
        with scopes.device_scope(self._global_step.device), name_scope(""):
            tokens = fill([num_tokens], self._global_step.read_value())
            return self._one_each(self._sync_token_queue.enqueue_many([tokens]))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """Return the hook that starts synchronisation in a monitored session."""
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)

    def _check_applied(self, what: str) -> None:
        if not self._gradients_applied:
            raise ValueError(f"{what}() should be called after apply_gradients().")

    # --- the other optimizer's ---------------------------------------------------------------------------------------

    def get_slot(self, *args: Any, **kwargs: Any) -> Variable | None:
        """Return a slot of the other optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Return the names of the other optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Variable]:
        """Return the other optimizer's variables."""
        return self._opt.variables()


class _Notes:
    """How far one task has come with steps that are taken in several."""

    finished: Any

    def __init__(self, device: str, accumulators: list[Any], step: Any):
        self.device = device
        with scopes.device_scope(device):
            self.begun, self.done = (
                ResourceVariable(0, trainable=False, collections=[], dtype=step.dtype.base_dtype, name=name)
                for name in ("step_begun", "step_done")
            )
            self.read = (self.begun.read_value(), self.done.read_value())
            self.counts = [accumulator.num_accumulated() for accumulator in accumulators]
            self.set_steps = [accumulator.set_global_step(step) for accumulator in accumulators]


def _op_of(mean: Any) -> Any:
    return (mean.values if isinstance(mean, IndexedSlices) else mean).op


def _same(mean: Any) -> Any:
    if not isinstance(mean, IndexedSlices):
        return raw.Identity(mean)
    return IndexedSlices(raw.Identity(mean.values), mean.indices, mean.dense_shape)


class _SyncReplicasOptimizerHook(SessionRunHook):
    """Starts a worker, or the chief with its thread."""

    def __init__(self, sync_optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int):
        self._sync_optimizer, self._is_chief, self._num_tokens = sync_optimizer, is_chief, num_tokens

    def begin(self) -> None:
        """Make the operations that are run once."""
        if not self._sync_optimizer._gradients_applied:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        optimizer = self._sync_optimizer
        self._local_init_op = optimizer.chief_init_op if self._is_chief else optimizer.local_step_init_op
        self._ready_for_local_init_op = optimizer.ready_for_local_init_op
        self._q_runner = optimizer.get_chief_queue_runner() if self._is_chief else None
        self._init_tokens_op = optimizer.get_init_tokens_op(self._num_tokens) if self._is_chief else None

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Set the local step; the chief hands out tokens and starts its thread."""
        missing = session.run(self._ready_for_local_init_op)
        if missing is not None and len(missing):
            names = ", ".join(name.decode() for name in missing)
            raise RuntimeError(
                f"Init operations did not make model ready for local_init. Init op: {self._local_init_op.name}, error: "
                f"Variables not initialized: {names}"
            )
        session.run(self._local_init_op)
        if self._init_tokens_op is not None:
            session.run(self._init_tokens_op)
        if self._q_runner is not None:
            self._q_runner.create_threads(session, coord=coord, daemon=True, start=True)
