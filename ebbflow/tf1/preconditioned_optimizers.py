"""Optimizers of `tf.contrib.opt` that divide gradients by roots of matrices: Shampoo, one of an axis each; GGT, of all.

Roots of matrices are taken by singular values, or by iterations that need products only.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Rate, TensorLike
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.functions.control_flow.while_loop import while_loop_v1
from ebbflow.graph.scopes import control_dependencies, group
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.shaping import reshape, shape, transpose
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where
from ebbflow.ops.linalg.diag import eye
from ebbflow.ops.linalg.einsum import tensordot
from ebbflow.ops.linalg.factorizations import svd
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.reduce.reductions import reduce_max, reduce_min, reduce_sum
from ebbflow.platform import logging
from ebbflow.state.functions import assign, assign_add, assign_sub, scatter_add, scatter_update
from ebbflow.train.optimizer import Optimizer

Told = Any
"""A number, or a function of the step that gives one."""


def matrix_square_root(mat_a: Any, mat_a_size: int, iter_count: int = 100, ridge_epsilon: float = 1e-4) -> Tensor:
    """Return the square root of a symmetric matrix by the coupled iteration of Newton and Schulz.

    It ends when the error grows again; the root before that is the answer.
    """
    identity = eye(cast(mat_a_size, dtypes.int32))
    matrix = mat_a + ridge_epsilon * identity
    size = raw.Sqrt(reduce_sum(matrix * matrix))

    def goes_on(i: Any, y: Any, last: Any, z: Any, error: Any, before: Any) -> Any:
        return raw.LogicalAnd(i < iter_count, error < before)

    def step(i: Any, y: Any, last: Any, z: Any, error: Any, before: Any) -> Any:
        change = 0.5 * (3.0 * identity - matmul(z, y))
        closer = matmul(y, change)
        root = closer * raw.Sqrt(size)
        rest = matrix - matmul(root, root)
        return i + 1, closer, y, matmul(change, z), raw.Sqrt(reduce_sum(rest * rest)) / size, error

    start = [0, matrix / size, matrix / size, identity, size, size + 1.0]
    return while_loop_v1(goes_on, step, start)[2] * raw.Sqrt(size)


def _power(matrix: Any, exponent: float) -> Any:
    """Return a power of a matrix, which is whole and positive."""
    count = round(exponent)
    if count != exponent or count <= 0:
        raise ValueError(f"matrix_inverse_pth_root needs an alpha whose -1/alpha is whole and positive, got {exponent}")
    found = None
    while count:
        if count % 2:
            found = matrix if found is None else matmul(matrix, found)
        count //= 2
        matrix = matmul(matrix, matrix) if count else matrix
    return found


def matrix_inverse_pth_root(
    mat_g: Any,
    mat_g_size: int,
    alpha: float,
    iter_count: int = 100,
    epsilon: float = 1e-6,
    ridge_epsilon: float = 1e-6,
) -> Tensor:
    """Return a symmetric matrix to the power `alpha`, which is -1/p, by the coupled iteration of Iannazzo."""
    if mat_g_size == 1:
        return raw.Pow(mat_g + ridge_epsilon, alpha)
    identity = eye(cast(mat_g_size, dtypes.int32))
    matrix = mat_g + ridge_epsilon * identity
    scale = (1 - 1 / alpha) / (2 * raw.Sqrt(reduce_sum(matrix * matrix)))

    def goes_on(i: Any, m: Any, x: Any) -> Any:
        return raw.LogicalAnd(i < iter_count, reduce_max(raw.Abs(m - identity)) > epsilon)

    def step(i: Any, m: Any, x: Any) -> Any:
        change = (1 - alpha) * identity + alpha * m
        return i + 1, matmul(_power(change, -1.0 / alpha), m), matmul(x, change)

    return while_loop_v1(goes_on, step, [0, matrix * scale, identity * raw.Pow(scale, -alpha)])[2]


class ShampooOptimizer(Optimizer):
    """Shampoo: each axis of a gradient is multiplied by a root of the sum of the gradients' products over the others.

    Axes longer than `max_matrix_size` have a diagonal. Most options may be functions of the step.
    """

    def __init__(
        self,
        global_step: TensorLike = 0,
        max_matrix_size: int = 768,
        gbar_decay: Told = 0.0,
        gbar_weight: Told = 1.0,
        mat_gbar_decay: Told = 1.0,
        mat_gbar_weight: Told = 1.0,
        learning_rate: Told = 1.0,
        svd_interval: Told = 1,
        precond_update_interval: Told = 1,
        epsilon: float = 1e-4,
        alpha: Told = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ) -> None:
        super().__init__(use_locking, name)
        self._global_step = cast(global_step, dtypes.float32)
        self._max_matrix_size, self._epsilon = max_matrix_size, epsilon
        self._gbar_decay, self._gbar_weight = gbar_decay, gbar_weight
        self._mat_gbar_decay, self._mat_gbar_weight = mat_gbar_decay, mat_gbar_weight
        self._learning_rate, self._alpha = learning_rate, alpha
        self._svd_interval, self._precond_update_interval = svd_interval, precond_update_interval
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            self._zeros_slot(v, "gbar", self._name)
            for i, size in enumerate(v.shape.as_list()):
                if size > self._max_matrix_size:
                    self._get_or_make_slot(v, zeros([size]), f"Gbar_{i}", self._name)
                    continue
                if self._svd_interval != 1:
                    self._get_or_make_slot(v, eye(size), f"H_{i}", self._name)
                self._get_or_make_slot(v, zeros([size, size]), f"Gbar_{i}", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._moved(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._moved(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        if var.shape.as_list()[0] > self._max_matrix_size and self._gbar_decay == 0.0:
            return self._moved(grad, var, indices)
        whole = raw.ScatterNd(indices[:, None], grad, shape(var, out_type=indices.dtype))
        return self._moved(whole, var)

    def _now(self, told: Told) -> Any:
        return told(self._global_step + 1) if callable(told) else told

    def _summed(self, kept: Any, decay: Told, more: Any) -> Any:
        """Return what is kept, after it decayed and got more."""
        if not callable(decay) and decay == 0.0:
            return more
        if not callable(decay) and decay == 1.0:
            return assign_add(kept, more)
        return assign(kept, self._now(decay) * kept + more)

    def _moved(self, grad: Any, var: Any, indices: Any = None) -> Any:
        if indices is None:
            step = self._summed(self.get_slot(var, "gbar"), self._gbar_decay, self._now(self._gbar_weight) * grad)
        else:
            step = grad
            if self._gbar_decay != 0.0:
                logging.warning("Not applying momentum for variable: %s", var.name)
        sizes = var.shape.as_list()
        power = -self._now(self._alpha) / max(len(sizes), 1)
        for i, size in enumerate(sizes):
            if size <= self._max_matrix_size:
                step = tensordot(step, self._root(var, grad, i, size, power), axes=([0], [0]))
            else:
                root = self._diagonal_root(var, grad, i, indices, power)
                step = transpose(step, [*range(1, len(sizes)), 0]) * root
        rate = self._now(self._learning_rate)
        return assign_sub(var, rate * step) if indices is None else scatter_add(var, indices, -rate * step)

    def _root(self, var: Any, grad: Any, i: int, size: int, power: Any) -> Any:
        """Return the power of the matrix of an axis, after it got the products of this gradient."""
        others = [axis for axis in range(grad.shape.rank) if axis != i]
        kept, every = self.get_slot(var, f"Gbar_{i}"), self._now(self._precond_update_interval)
        step = self._global_step + 1

        def updated() -> Any:
            more = self._now(self._mat_gbar_weight) * every * tensordot(grad, grad, axes=(others, others))
            return convert(self._summed(kept, self._mat_gbar_decay, more))

        matrix = cond_v1(raw.FloorMod(step, float(every)) < 1, updated, lambda: convert(kept)) / float(size)
        if self._svd_interval == 1:
            return self._to_power(matrix, size, power)
        last = self.get_slot(var, f"H_{i}")
        return cond_v1(
            raw.FloorMod(step, float(self._now(self._svd_interval))) < 1,
            lambda: convert(assign(last, self._to_power(matrix, size, power))),
            lambda: convert(last),
        )

    def _to_power(self, matrix: Any, size: int, power: Any) -> Any:
        with name_scope("matrix_iterative_power"):
            if self._use_iterative_root:
                root = matrix_square_root(matrix, size, 100, self._epsilon)
                return matrix_inverse_pth_root(root, size, 2 * power, 100, 1e-6, ridge_epsilon=0.0)
            if size == 1:
                return raw.Pow(matrix + self._epsilon, power)
            values, left, right = svd(matrix + self._epsilon * eye(size), full_matrices=True)
            return matmul(right * raw.Pow(raw.Maximum(values, self._epsilon), power), transpose(left))

    def _diagonal_root(self, var: Any, grad: Any, i: int, indices: Any, power: Any) -> Any:
        others = [axis for axis in range(grad.shape.rank) if axis != i]
        kept, square = self.get_slot(var, f"Gbar_{i}"), grad * grad
        if others:
            square = reduce_sum(square, axis=others) / (1.0 if indices is not None else float(var.shape.as_list()[i]))
        more = self._now(self._mat_gbar_weight) * square
        if i == 0 and indices is not None:
            if self._mat_gbar_decay != 1.0:
                raise ValueError(f"sparse gradients need mat_gbar_decay 1.0, got {self._mat_gbar_decay}")
            found = gather(scatter_add(kept, indices, more), indices)
        else:
            found = convert(self._summed(kept, self._mat_gbar_decay, more))
        return where(found > 0, raw.Pow(found, power), raw.ZerosLike(found))


class GGTOptimizer(Optimizer):
    """GGT: divides by the root of the matrix of the last `window` gradients, all variables' side by side."""

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: float = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: float = 1e-4,
        svd_eps: float = 1e-6,
        sigma_eps: float = 1e-2,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._beta1, self._window = learning_rate, beta1, window
        self._eps, self._svd_eps, self._sigma_eps = eps, svd_eps, sigma_eps
        self.index_dict: dict[str, int] = {}
        self.shape_dict: dict[str, int] = {}
        self._moving: list[Any] = []

    def _create_slots(self, var_list: Any) -> None:
        self.shape_dict = dict(sorted((v.name, v.shape.num_elements()) for v in var_list))
        total = 0
        for name, count in self.shape_dict.items():
            self.index_dict[name] = total
            total += count
        first = min(var_list, key=lambda v: v.name)
        dtype = first.dtype.base_dtype
        starts: dict[str, Any] = {
            "global_step": zeros([], dtype), "grad_buffer": zeros([self._window, total], dtype),
            "moment1": zeros([total], dtype), "flat_grad": zeros([total], dtype),
        }  # fmt: skip
        for name, start in starts.items():
            self._create_non_slot_variable(start, name, colocate_with=first)
        self._moving = []

    def _get_global_step(self) -> Any:
        return self._of_all("global_step")

    def _get_moment1(self) -> Any:
        return self._of_all("moment1")

    def _get_grad_buffer(self) -> Any:
        return self._of_all("grad_buffer")

    def _get_flat_grad(self) -> Any:
        return self._of_all("flat_grad")

    def _of_all(self, name: str) -> Any:
        return self._get_non_slot_variable(name, None if context.executing_eagerly() else context.default_graph())

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        self._moving.append(var)
        start = self.index_dict[var.name]
        places = raw.Range(start, start + self.shape_dict[var.name], 1)
        return scatter_update(self._get_flat_grad(), places, reshape(grad, [-1]))

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_dense(grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _finish(self, update_ops: list[Any], name_scope: Any) -> Any:
        with control_dependencies(update_ops):
            flat, moment = convert(self._get_flat_grad()), self._get_moment1()
            dtype = flat.dtype.base_dtype
            beta = convert(self._beta1, dtype)
            mean = convert(assign(moment, beta * moment + (1 - beta) * flat))
            count = convert(assign_add(self._get_global_step(), convert(1, dtype)))
            seat = raw.FloorMod(cast(count - 1, dtypes.int32), self._window)
            rows = convert(scatter_update(self._get_grad_buffer(), seat, mean))
        step = self._step(rows / raw.Sqrt(raw.Minimum(count, convert(self._window, dtype))), mean, dtype)
        rate = cast(self._call_if_callable(self._learning_rate), dtype)
        moved = []
        for var in self._moving:
            start = self.index_dict[var.name]
            part = reshape(step[start : start + self.shape_dict[var.name]], var.shape)
            moved.append(assign_sub(var, rate * part))
        return group(*moved)

    def _step(self, rows: Any, mean: Any, dtype: Any) -> Any:
        """Return the mean gradient divided by the root of the matrix of rows, as far as they reach; scaled beyond."""
        values, left, _ = svd(matmul(rows, rows, transpose_b=True) + self._svd_eps * eye(self._window, dtype=dtype))
        roots = raw.Sqrt(values)
        seen = matmul(left, matmul(rows, mean[:, None]), transpose_a=True)

        def within(scale: Any) -> Any:
            return matmul(rows, matmul(left, scale[:, None] * seen), transpose_a=True)[:, 0]

        least = reduce_min(roots)
        head = within(raw.Pow(roots + self._sigma_eps, convert(-3.0, dtype)))
        return cond_v1(
            least > convert(self._eps, dtype), lambda: head + (mean - within(1 / values)) / least, lambda: head
        )
