"""Training under constraints (`tf.contrib.constrained_optimization`): a game of the model against weights.

A problem tells an objective and constraints, each of which should be at most zero. `AdditiveExternalRegretOptimizer` is
the Lagrangian: the weights are multipliers, which the same kind of optimizer raises where constraints are violated. The
optimizers of swap regret keep a matrix of weights whose columns are distributions over objective and constraints, and
weigh by its stationary distribution. Of several models that training has met, `find_best_candidate_*` choose.
"""

from __future__ import annotations

import abc
import math
from typing import Any

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Array, TensorLike
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.functions.control_flow.while_loop import while_loop_v1
from ebbflow.graph.scopes import colocate_with, control_dependencies, group
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape, transpose
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.linalg.norms import norm
from ebbflow.ops.reduce.reductions import reduce_logsumexp, reduce_sum
from ebbflow.state.functions import assign, assign_add
from ebbflow.state.variables import VariableV1
from ebbflow.train.optimizer import Optimizer


class ConstrainedMinimizationProblem(abc.ABC):
    """What to minimize, and what should be at most zero: a program's class says both."""

    @property
    @abc.abstractmethod
    def objective(self) -> Any:
        """A scalar to minimize."""

    @property
    @abc.abstractmethod
    def constraints(self) -> Any:
        """Values that should be at most zero."""

    @property
    def proxy_constraints(self) -> Any:
        """Values that stand for the constraints where gradients are asked; None for these themselves."""
        return None

    @property
    def pre_train_ops(self) -> Any:
        """What must have run before a step; None for nothing."""
        return None

    @property
    def num_constraints(self) -> int:
        """How many constraints there are."""
        sizes = []
        for name, values in (("constraints", self.constraints), ("proxy_constraints", self.proxy_constraints)):
            if values is None:
                continue
            shape = convert(values).shape
            if not shape.is_fully_defined():
                raise ValueError(f"{name} must have a known shape, got {shape}")
            sizes.append(int(np.prod(shape.as_list())))
        if len(set(sizes)) != 1:
            raise ValueError(f"there are {sizes[0]} constraints, and {sizes[-1]} proxy_constraints")
        return sizes[0]


class ConstrainedOptimizer(abc.ABC):
    """Trains a `ConstrainedMinimizationProblem` by an optimizer of `tf.train`."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer

    optimizer = property(lambda self: self._optimizer, doc="What changes the model's variables.")

    @abc.abstractmethod
    def _minimize_constrained(self, minimization_problem: Any, **settings: Any) -> Any:
        """Return the op of one step, with what `Optimizer.minimize` takes."""

    def minimize_constrained(
        self, minimization_problem, global_step=None, var_list=None, gate_gradients=Optimizer.GATE_OP,
        aggregation_method=None, colocate_gradients_with_ops=False, name=None, grad_loss=None,
    ):  # fmt: skip
        """Return the op of a step towards a small objective among models that keep to the constraints."""
        with control_dependencies(minimization_problem.pre_train_ops or []):
            return self._minimize_constrained(
                minimization_problem, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
                aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name, grad_loss=grad_loss,
            )  # fmt: skip

    def minimize_unconstrained(self, minimization_problem, **settings):
        """Return the op of a step towards a small objective, whatever the constraints."""
        with control_dependencies(minimization_problem.pre_train_ops or []):
            return self.optimizer.minimize(minimization_problem.objective, **settings)

    def minimize(self, minimization_problem, unconstrained_steps=None, global_step=None, **settings):
        """Return the op of a step that heeds the constraints once `unconstrained_steps` are past."""
        settings["global_step"] = global_step
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, **settings)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided")
        first = convert(unconstrained_steps)
        return cond_v1(
            raw.Less(cast(global_step, first.dtype), first),
            lambda: self.minimize_unconstrained(minimization_problem, **settings),
            lambda: self.minimize_constrained(minimization_problem, **settings),
        )


class _Game(ConstrainedOptimizer):
    """A step of both players; subclasses say what the second one keeps, and how that stays allowed."""

    _state_name = ""

    def __init__(self, optimizer: Optimizer, constraint_optimizer: Optimizer | None = None) -> None:
        super().__init__(optimizer)
        self._constraint_optimizer = constraint_optimizer

    constraint_optimizer = property(lambda self: self._constraint_optimizer, doc="What changes the weights, if any.")

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> Any: ...

    @abc.abstractmethod
    def _loss_and_gradient(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]: ...

    @abc.abstractmethod
    def _constraint_grad_and_var(self, state: Any, gradient: Any) -> tuple[Any, Any]: ...

    @abc.abstractmethod
    def _projection_op(self, state: Any, name: str | None = None) -> Any: ...

    def _minimize_constrained(self, minimization_problem: Any, **settings: Any) -> Any:
        global_step, name = settings.pop("global_step"), settings.pop("name")
        objective, count = convert(minimization_problem.objective), minimization_problem.num_constraints
        constraints = convert(minimization_problem.constraints)
        proxies = minimization_problem.proxy_constraints
        proxies = constraints if proxies is None else convert(proxies)
        if len({value.dtype.base_dtype for value in (objective, constraints, proxies)}) > 1:
            raise ValueError("objective, constraints and proxy_constraints must have the same dtype")
        state = VariableV1(lambda: self._initial_state(count), trainable=False, name=self._state_name)
        loss, gradient = self._loss_and_gradient(
            state, objective, reshape(constraints, [count]), reshape(proxies, [count])
        )
        steps = self._updates(loss, self._constraint_grad_and_var(state, gradient), settings)
        with control_dependencies(steps):
            if global_step is None:
                return self._projection_op(state, name=name)
            back = self._projection_op(state, name="project")
            with colocate_with(global_step):
                counted = assign_add(global_step, 1, name="global_step_increment")
            return group(back, counted, name=name)

    def _updates(self, loss: Any, of_state: tuple[Any, Any], settings: dict[str, Any]) -> list[Any]:
        pairs = self.optimizer.compute_gradients(loss, **settings)
        if self.constraint_optimizer is None:
            return [self.optimizer.apply_gradients([*pairs, of_state], name="update")]
        with control_dependencies([g for g, _ in [*pairs, of_state] if g is not None]):  # both from the same weights
            return [
                self.optimizer.apply_gradients(pairs, name="update"),
                self.constraint_optimizer.apply_gradients([of_state], name="optimizer_state_update"),
            ]


class AdditiveExternalRegretOptimizer(_Game):
    """The Lagrangian: multipliers rise by what constraints are violated by, and fall where they are kept."""

    _state_name = "external_regret_optimizer_state"

    def __init__(self, optimizer, constraint_optimizer=None, maximum_multiplier_radius=None):
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius is not None and maximum_multiplier_radius <= 0.0:
            raise ValueError(f"maximum_multiplier_radius must be strictly positive, got {maximum_multiplier_radius}")
        self._maximum_multiplier_radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints):
        return np.zeros(num_constraints, np.float32)

    def _lagrange_multipliers(self, state):
        return state

    def _loss_and_gradient(self, state, objective, constraints, proxies):
        multipliers = convert(self._lagrange_multipliers(state))
        return objective + reduce_sum(cast(multipliers, proxies.dtype) * proxies), cast(constraints, multipliers.dtype)

    def _constraint_grad_and_var(self, state, gradient):
        return -gradient, state

    def _projection_op(self, state, name=None):
        with colocate_with(state):
            if self._maximum_multiplier_radius is None:
                return assign(state, raw.Maximum(convert(state), 0.0), name=name)
            return assign(state, bounded(convert(state), self._maximum_multiplier_radius), name=name)


class _SwapRegret(_Game):
    """The second player keeps a matrix whose columns are distributions over the objective and each constraint."""

    _state_name = "swap_regret_optimizer_state"

    @abc.abstractmethod
    def _stochastic_matrix(self, state: Any) -> Any: ...

    def _distribution(self, state: Any) -> Any:
        return stationary(self._stochastic_matrix(state))

    def _loss_and_gradient(self, state, objective, constraints, proxies):
        weights = self._distribution(state)
        values = concat([reshape(objective, [1]), proxies], 0)
        losses = cast(concat([raw.ZerosLike(reshape(objective, [1])), constraints], 0), weights.dtype)
        loss = reduce_sum(cast(weights, values.dtype) * values)
        return loss, reshape(losses, [-1, 1]) * reshape(weights, [1, -1])


class AdditiveSwapRegretOptimizer(_SwapRegret):
    """Minimizes swap regret by adding to a matrix of weights."""

    def _initial_state(self, num_constraints):
        first = np.zeros([num_constraints + 1, num_constraints + 1], np.float32)
        first[0] = 1
        return first

    def _stochastic_matrix(self, state):
        return convert(state)

    def _constraint_grad_and_var(self, state, gradient):
        return -gradient, state

    def _projection_op(self, state, name=None):
        with colocate_with(state):
            return assign(state, stochastic(convert(state)), name=name)


class MultiplicativeSwapRegretOptimizer(_SwapRegret):
    """Minimizes swap regret by multiplying a matrix of weights, which is kept as its logarithm."""

    def __init__(
        self, optimizer, constraint_optimizer=None, minimum_multiplier_radius=1e-3, initial_multiplier_radius=None
    ):
        super().__init__(optimizer, constraint_optimizer)
        if not 0.0 < minimum_multiplier_radius < 1.0:
            raise ValueError(f"minimum_multiplier_radius must be in the range (0,1), got {minimum_multiplier_radius}")
        if initial_multiplier_radius is None:
            initial_multiplier_radius = minimum_multiplier_radius
        elif not minimum_multiplier_radius <= initial_multiplier_radius <= 1.0:
            raise ValueError("initial_multiplier_radius must be in the range [minimum_multiplier_radius,1], got "
                             f"{initial_multiplier_radius}")  # fmt: skip
        self._minimum_multiplier_radius = minimum_multiplier_radius
        self._initial_multiplier_radius = initial_multiplier_radius

    def _initial_state(self, num_constraints):
        size = num_constraints + 1
        each = self._initial_multiplier_radius / size
        first = np.full([size, size], math.log(each), np.float32)
        first[0] = math.log(1 - each * num_constraints)
        return first

    def _stochastic_matrix(self, state):
        return raw.Exp(convert(state))

    def _constraint_grad_and_var(self, state, gradient):
        return -gradient, state

    def _projection_op(self, state, name=None):
        lowest = math.log(self._minimum_multiplier_radius / state.shape.as_list()[0])
        with colocate_with(state):
            return assign(state, raw.Maximum(log_stochastic(convert(state)), lowest), name=name)


def _floats(values: Any, ndims: int, name: str) -> Any:
    if not values.dtype.is_floating:
        raise ValueError(f"{name} must have a floating-point dtype, got {values.dtype.name}")
    if values.shape.rank != ndims or not values.shape.is_fully_defined():
        raise ValueError(f"{name} must have {ndims} axes of known size, got shape {values.shape}")
    return values


def _on_simplex(columns: Any, radius: float) -> Any:
    """Return the nearest columns of entries that are not negative and sum to `radius`: sorted, cut off."""
    count = columns.shape.as_list()[0]
    rows = transpose(columns)
    largest, _ = raw.TopKV2(rows, count)
    excess = (raw.Cumsum(largest, 1) - radius) / np.arange(1, count + 1, dtype=columns.dtype.as_numpy_dtype)
    kept = reduce_sum(cast(raw.Greater(largest, excess), columns.dtype), axis=1)
    last = raw.OneHot(cast(kept, "int32") - 1, count, convert(1, columns.dtype), convert(0, columns.dtype))
    return transpose(raw.Relu(rows - reduce_sum(excess * last, axis=1, keepdims=True)))


def bounded(multipliers: Any, radius: float) -> Any:
    """Return the nearest multipliers that are not negative and sum to at most `radius`."""
    multipliers = _floats(convert(multipliers), 1, "multipliers")
    positive = raw.Relu(multipliers)
    full = reshape(_on_simplex(reshape(multipliers, [-1, 1]), radius), [-1])
    return raw.SelectV2(raw.LessEqual(reduce_sum(positive), convert(radius, multipliers.dtype)), positive, full)


def stochastic(matrix: Any) -> Any:
    """Return the nearest matrix whose columns are distributions."""
    return _on_simplex(_floats(convert(matrix), 2, "matrix"), 1.0)


def log_stochastic(log_matrix: Any) -> Any:
    """Return the logarithm of the matrix of distributions that is nearest in divergence: each column by its sum."""
    log_matrix = _floats(convert(log_matrix), 2, "log_matrix")
    return log_matrix - reduce_logsumexp(log_matrix, axis=0, keepdims=True)


def stationary(matrix: Tensor, epsilon: float = 1e-6, maximum_iterations: int = 100) -> Any:
    """Return the eigenvector of the largest eigenvalue, summing to one, as multiplying again and again finds it."""
    if not matrix.dtype.is_floating:
        raise ValueError(f"matrix must have a floating-point dtype, got {matrix.dtype.name}")
    if epsilon <= 0.0 or maximum_iterations <= 0:
        raise ValueError(f"epsilon={epsilon} and maximum_iterations={maximum_iterations} must be strictly positive")
    count = matrix.shape.as_list()[0]
    first = raw.Fill([count, 1], convert(1.0 / count, matrix.dtype))

    def step(number: Any, vector: Any, old: Any) -> tuple[Any, Any, Any]:
        new = matmul(matrix, vector)
        return number + 1, new / reduce_sum(new), vector

    def goes_on(number: Any, vector: Any, old: Any) -> Any:
        return raw.LogicalAnd(raw.Less(number, maximum_iterations), raw.Greater(norm(vector - old), epsilon))

    found = while_loop_v1(goes_on, step, step(convert(0), first, first), name="power_method")
    return reshape(found[1], [-1])


def _candidates(objective_vector: Any, constraints_matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    objectives, constraints = np.asarray(objective_vector), np.asarray(constraints_matrix)
    if constraints.ndim != 2 or objectives.shape != constraints.shape[1:]:
        raise ValueError(
            f"constraints_matrix must have a column for each objective ({objectives.shape}), got {constraints.shape}"
        )
    return objectives, constraints


def find_best_candidate_distribution(
    objective_vector: TensorLike, constraints_matrix: TensorLike, epsilon: float = 0.0
) -> Array:
    """Return how likely to take each candidate so that constraints are violated least, then for the objective."""
    from scipy.optimize import linprog  # a large library, for this one question

    if epsilon < 0.0:
        raise ValueError(f"epsilon must be nonnegative, got {epsilon}")
    objectives, constraints = _candidates(objective_vector, constraints_matrix)
    count, size = constraints.shape
    whole = np.concatenate([np.ones(size), [0.0]])[None]
    least = linprog(
        np.concatenate([np.zeros(size), [1.0]]), np.concatenate([constraints, -np.ones([count, 1])], 1),
        np.zeros(count), whole, [1.0],
    ).x[-1]  # fmt: skip
    allowed = np.full(count, max(least, 0.0) + epsilon + (1e-9 if least > 0 else 0.0))
    return linprog(objectives, constraints, allowed, whole[:, :-1], [1.0]).x


def find_best_candidate_index(
    objective_vector: TensorLike, constraints_matrix: TensorLike, rank_objectives: bool = False
) -> int:
    """Return the candidate whose worst rank, by each constraint's violation, is best; ties by the objective."""
    objectives, constraints = _candidates(objective_vector, constraints_matrix)
    judged = [np.maximum(row, 0.0) for row in constraints] + ([objectives] if rank_objectives else [])
    worst = np.max([[(row < value).sum() for value in row] for row in judged], axis=0)
    return int(np.lexsort((objectives, worst))[0])
