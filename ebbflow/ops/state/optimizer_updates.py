"""The update rules of optimizers, as ops.

A rule is a formula on arrays, written once; `rule` declares from it the op on references, the op on resources, and
(where TensorFlow has them) both sparse forms, which apply the same formula to the rows that the gradient touches.
Formulas write into the arrays they are given; what could go wrong is refused before the first of them is written. Knows
storages and arrays; knows nothing of optimizers, graphs or sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.shape_rules import agreed, equal_length, ranked
from ebbflow.ops.state.storage import Storage, held
from ebbflow.ops.state.update_loops import stepped
from ebbflow.ops.state.variable_ops import handle_facts

Formula = Callable[..., None]

_FLOATS = frozenset(dtypes.FLOATS)
_FLOATS_COMPLEX = frozenset(dtypes.FLOATS_COMPLEX)


class Form:
    """One op of a rule: on references or resources, on whole variables or on rows."""

    def __init__(self, state: str, numbers: str, resource: bool, sparse: bool, real: bool):
        self.trains = _FLOATS if real else _FLOATS_COMPLEX
        self.state = state.split()
        self.numbers = _named(numbers, sparse)
        self.resource = resource
        self.sparse = sparse
        self.grad = "grad" if "grad" in self.numbers else "delta"

    def text(self, name: str, extra: str) -> str:
        """Return the op's interface line."""
        kinds = {"indices": "Tindices", "global_step": "int64"}
        inputs = [f"{s}:{'resource' if self.resource else 'Ref(T)'}" for s in self.state]
        inputs += [f"{n}:{kinds.get(n, 'T')}" for n in self.numbers]
        head = f"{'Resource' * self.resource}{'Sparse' * self.sparse}Apply{name}({', '.join(inputs)})"
        index = "; Tindices: index" if self.sparse else ""
        outputs, flags = ("", " | stateful") if self.resource else ("out:Ref(T)", "")
        return f"{head} -> ({outputs}) | T: numbers{index}; use_locking: bool = false{extra}{flags}"


def optimizer_update(
    name: str, state: str, numbers: str, attrs: str = "", forms: str = "ref resource sparse"
) -> Callable[[Formula], Formula]:
    """Declare the ops of an update rule; the decorated formula takes state, numbers and attrs by name.

    `state` are the variable and its slots, `numbers` the rest in TensorFlow's order; `forms` says which ops there are
    ("real": not for complex variables).
    """
    extra = "".join(f"; {a}" for a in attrs.split("; ") if a)
    flags = tuple(a.split(":")[0] for a in attrs.split("; ") if a)

    def declare(formula: Formula) -> Formula:
        for sparse in (False, True) if "sparse" in forms else (False,):
            for resource in (False, True):
                if ("resource" if resource else "ref") in forms:
                    form = Form(state, numbers, resource, sparse, "real" in forms)
                    _declare(form.text(name, extra), form, flags, formula)
        return formula

    return declare


def _named(numbers: str, sparse: bool) -> list[str]:
    names = numbers.split()
    if not sparse:
        return names
    names = ["grad" if n == "delta" else n for n in names]
    names.insert(names.index("grad") + 1, "indices")
    return names


def _declare(text: str, form: Form, flags: tuple[str, ...], formula: Formula) -> None:
    declared = op(text, "forgets", gradient=FLAT)
    declared.shape(lambda *inputs: _agreed_shape(form, inputs))
    count = len(form.state)

    def kernel(xp: Any, *inputs: Any, **options: Any) -> Any:
        storages = [held(box) for box in inputs[:count]]
        given = dict(zip(form.numbers, inputs[count:], strict=True))
        locked = sorted(storages, key=id)  # one order for all, so that no two updates wait for each other
        for storage in locked:
            storage.__enter__()
        try:
            _check(form, storages, given)
            with np.errstate(all="ignore"):  # a warning made an error would leave half of an update
                _apply(formula, storages, given, options)
        finally:
            for storage in reversed(locked):
                storage.__exit__()
        return () if form.resource else inputs[0]

    declared.kernel_fn = kernel
    declared.kernel_attrs = flags
    if not form.sparse:
        declared.formula = (form, formula)
        declared.update = lambda storages, options: _bound(form, formula, kernel, storages, options)


def _bound(form: Form, formula: Formula, kernel: Any, storages: list[Storage], options: dict[str, Any]) -> Any:
    """Return the update of given variables as a function of the numbers: for Programs, which know them beforehand.

    Where inputs do not match the kernel is called, whose error says which. Who calls sees to it that NumPy raises
    no floating-point errors, which would leave half of an update.
    """
    locked = sorted(storages, key=id)
    names, at = form.numbers, form.numbers.index(form.grad)
    fits = storages[0].dtype in form.trains and len({s.dtype for s in storages}) == 1
    boxes = [s.handle() for s in storages]
    dtype = storages[0].dtype.np

    def update(*numbers: Any) -> None:
        grad = numbers[at]
        odd = not fits or grad.dtype is not dtype or sum([n.ndim for n in numbers]) != grad.ndim
        if odd or [s for s in storages if s.value is None or s.value.shape != grad.shape]:
            kernel(np, *boxes, *numbers, **options)
            return
        for storage in locked:
            storage.__enter__()
        try:
            arrays = [s.writable() for s in storages]
            given = dict(zip(names, numbers, strict=True))
            if grad.size < TILE:
                formula(*arrays, **given, **options)
            else:
                for part, numbers_of_part in _tiles(arrays, given):
                    formula(*part, **numbers_of_part, **options)
        finally:
            for storage in locked:
                storage.__exit__()

    return update


# --- which inputs match -----------------------------------------------------------------------------------------------


def _agreed_shape(form: Form, inputs: tuple[Known, ...]) -> Any:
    """The shape rule: state and gradient have one shape, numbers are scalars."""
    given = dict(zip(form.numbers, inputs[len(form.state) :], strict=True))
    dims: Dims = None
    for slot in inputs[: len(form.state)]:
        dims = agreed(dims, handle_facts(slot._source)[1] if form.resource else slot.dims)
    for name, number in given.items():
        if name not in (form.grad, "indices"):
            ranked(number, 0)
    grad = given[form.grad].dims
    if form.sparse:
        (rows,) = ranked(given["indices"], 1)
        if grad:
            equal_length(rows, grad[0])
            grad = (None, *grad[1:])
    dims = agreed(dims, grad)
    return [] if form.resource else dims


def _check(form: Form, storages: list[Storage], given: dict[str, Any]) -> None:
    """Refuse inputs that do not match, before anything is written."""
    grad = given[form.grad]
    var = storages[0].read()
    if storages[0].dtype not in form.trains:
        allowed = sorted(t.name for t in form.trains)
        raise _invalid(f"var has dtype {storages[0].dtype.name}, which is not among {', '.join(allowed)}")
    for storage, name in zip(storages, form.state, strict=True):
        if storage.dtype.np != grad.dtype:
            raise _invalid(f"{name} has dtype {storage.dtype.name}, {form.grad} has dtype {grad.dtype.name}")
        if storage.read().shape != var.shape:
            raise _invalid(f"var and {name} do not have the same shape{show(var.shape)} {show(storage.read().shape)}")
    for name, value in given.items():
        if value.ndim and name not in (form.grad, "indices"):
            raise _invalid(f"{name} is not a scalar: {show(value.shape)}")
    if form.sparse:
        _check_rows(var.shape, grad.shape, given["indices"])
    elif grad.shape != var.shape:
        raise _invalid(f"var and {form.grad} do not have the same shape{show(var.shape)} {show(grad.shape)}")


def _check_rows(var: tuple[int, ...], grad: tuple[int, ...], indices: np.ndarray) -> None:
    if not var:
        raise _invalid("var must be at least 1 dimensional")
    if indices.ndim != 1:
        raise _invalid("indices must be one-dimensional")
    if not grad or grad[0] != len(indices):
        raise _invalid("grad must be the same size as indices in the first dimension.")
    if grad[1:] != var[1:]:
        pairs = enumerate(zip(var, grad, strict=False))
        at = next((d for d, (v, g) in pairs if d and v != g), min(len(var), len(grad)))
        raise _invalid(f"var and grad must match in dimension {at}")
    outside = (indices < 0) | (indices >= var[0])
    if outside.any():
        at = int(np.argmax(outside))
        raise _invalid(f"Index {indices[at]} at offset {at} in indices is out of range")


def _invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


# --- applying ---------------------------------------------------------------------------------------------------------


TILE = 1 << 16
"""Elements that a formula takes at a time: what it computes in between then stays in the cache."""


def _tiles(arrays: list[np.ndarray], given: dict[str, Any]) -> Iterator[tuple[list[np.ndarray], dict[str, Any]]]:
    """Yield the arguments of a formula piece by piece, where they are large: it goes element by element."""
    size = arrays[0].size
    whole = [*arrays, *[v for v in given.values() if v.ndim]]
    if size < 2 * TILE or not all(a.flags.c_contiguous for a in whole):
        yield arrays, given
        return
    flat, numbers = [a.reshape(-1) for a in arrays], {k: v.reshape(-1) if v.ndim else v for k, v in given.items()}
    for start in range(0, size, TILE):
        piece = slice(start, start + TILE)
        yield [a[piece] for a in flat], {k: v[piece] if v.ndim else v for k, v in numbers.items()}


def _apply(formula: Formula, storages: list[Storage], given: dict[str, Any], options: dict[str, Any]) -> None:
    arrays = [s.writable() for s in storages]
    indices = given.pop("indices", None)
    if indices is None:
        if stepped(formula.__name__, arrays, given, options):
            return
        for part in _tiles(arrays, given):
            formula(*part[0], **part[1], **options)
        return
    grad = given.pop("grad")
    alone = len(np.unique(indices)) == len(indices)
    # A row named twice is updated twice, one after the other, as TensorFlow does it.
    for chosen in [slice(None)] if alone else [slice(i, i + 1) for i in range(len(indices))]:
        at = indices[chosen]
        rows = [a[at] for a in arrays]
        formula(*rows, grad=grad[chosen], **given, **options)
        for array, row in zip(arrays, rows, strict=True):
            array[at] = row


# --- the rules --------------------------------------------------------------------------------------------------------


@optimizer_update("GradientDescent", "var", "alpha delta", forms="ref resource")
def gradient_descent(var, *, alpha, delta):
    """var ← var - α δ"""
    var -= alpha * delta


@optimizer_update("Momentum", "var accum", "lr grad momentum", "use_nesterov: bool = false")
def momentum(var, accum, *, lr, grad, momentum, use_nesterov):
    """accum ← μ accum + g; var ← var - lr accum (Nesterov: looks one step ahead)"""
    accum *= momentum
    accum += grad
    var -= grad * lr + accum * momentum * lr if use_nesterov else accum * lr


@optimizer_update(
    "KerasMomentum", "var accum", "lr grad momentum", "use_nesterov: bool = false", forms="resource sparse"
)
def keras_momentum(var, accum, *, lr, grad, momentum, use_nesterov):
    """accum ← μ accum - lr g; var ← var + accum"""
    accum *= momentum
    accum -= lr * grad
    var += accum * momentum - lr * grad if use_nesterov else accum


@optimizer_update("Adagrad", "var accum", "lr grad", "update_slots: bool = true")
def adagrad(var, accum, *, lr, grad, update_slots):
    """accum ← accum + g²; var ← var - lr g / √accum"""
    if update_slots:
        accum += grad * grad
    var -= grad * lr / np.sqrt(accum)


@optimizer_update("AdagradV2", "var accum", "lr epsilon grad", "update_slots: bool = true")
def adagrad_v2(var, accum, *, lr, epsilon, grad, update_slots):
    """accum ← accum + g²; var ← var - lr g / (√accum + ε)"""
    if update_slots:
        accum += grad * grad
    var -= grad * lr / (np.sqrt(accum) + epsilon)


@optimizer_update(
    "AdagradDA",
    "var gradient_accumulator gradient_squared_accumulator",
    "grad lr l1 l2 global_step",
    forms="ref resource sparse real",
)
def adagrad_da(var, gradient_accumulator, gradient_squared_accumulator, *, grad, lr, l1, l2, global_step):
    """Dual averaging: the variable is computed anew from all gradients so far."""
    gradient_accumulator += grad
    gradient_squared_accumulator += grad * grad
    step = global_step.astype(var.dtype)
    total = gradient_accumulator
    if l1 > 0:
        total = np.sign(total) * np.maximum(np.abs(total) - l1 * step, 0)
    var[...] = -lr * total / (l2 * step * lr + np.sqrt(gradient_squared_accumulator))


@optimizer_update("Adadelta", "var accum accum_update", "lr rho epsilon grad")
def adadelta(var, accum, accum_update, *, lr, rho, epsilon, grad):
    """Steps as long as recent steps were, by gradients as large as recent gradients were."""
    accum *= rho
    accum += grad * grad * (1 - rho)
    update = np.sqrt(accum_update + epsilon) / np.sqrt(accum + epsilon) * grad
    var -= update * lr
    accum_update *= rho
    accum_update += update * update * (1 - rho)


@optimizer_update("RMSProp", "var ms mom", "lr rho momentum epsilon grad")
def rms_prop(var, ms, mom, *, lr, rho, momentum, epsilon, grad):
    """ms ← ρ ms + (1-ρ) g²; mom ← μ mom + lr g / √(ms + ε); var ← var - mom"""
    ms += (grad * grad - ms) * (1 - rho)
    mom *= momentum
    mom += grad * lr / np.sqrt(ms + epsilon)
    var -= mom


@optimizer_update("CenteredRMSProp", "var mg ms mom", "lr rho momentum epsilon grad")
def centered_rms_prop(var, mg, ms, mom, *, lr, rho, momentum, epsilon, grad):
    """RMSProp by the variance: the mean gradient is taken off the mean square."""
    ms += (grad * grad - ms) * (1 - rho)
    mg += (grad - mg) * (1 - rho)
    mom *= momentum
    mom += grad * lr / np.sqrt(ms - mg * mg + epsilon)
    var -= mom


@optimizer_update(
    "Adam",
    "var m v",
    "beta1_power beta2_power lr beta1 beta2 epsilon grad",
    "use_nesterov: bool = false",
    forms="ref resource",
)
def adam(var, m, v, *, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov):
    """Adaptive moments with bias correction."""
    alpha = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    m += (grad - m) * (1 - beta1)
    v += (grad * grad - v) * (1 - beta2)
    step = grad * (1 - beta1) + beta1 * m if use_nesterov else m
    var -= step * alpha / (np.sqrt(v) + epsilon)


@optimizer_update(
    "AdamWithAmsgrad", "var m v vhat", "beta1_power beta2_power lr beta1 beta2 epsilon grad", forms="resource real"
)
def adam_with_amsgrad(var, m, v, vhat, *, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    """Adam whose second moment never shrinks."""
    alpha = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    m += (grad - m) * (1 - beta1)
    v += (grad * grad - v) * (1 - beta2)
    np.maximum(vhat, v, out=vhat)
    var -= m * alpha / (np.sqrt(vhat) + epsilon)


@optimizer_update("AdaMax", "var m v", "beta1_power lr beta1 beta2 epsilon grad", forms="ref resource real")
def ada_max(var, m, v, *, beta1_power, lr, beta1, beta2, epsilon, grad):
    """Adam by the largest gradient in place of the mean square."""
    m += (grad - m) * (1 - beta1)
    np.maximum(beta2 * v, np.abs(grad), out=v)
    var -= lr / (1 - beta1_power) * (m / (v + epsilon))


def _ftrl(var, accum, linear, grad, slope, lr, l1, l2, lr_power, by_lr):
    """Follow the regularised leader; `slope` is the gradient with shrinkage."""
    new = accum + grad * grad
    if lr_power == -0.5:
        root_new, root = np.sqrt(new), np.sqrt(accum)
    else:
        root_new, root = np.power(new, -lr_power), np.power(accum, -lr_power)
    if by_lr:
        linear += slope * lr - (root_new - root) * var
        quadratic = root_new + 2 * l2 * lr
        bound = l1 * lr
    else:
        linear += slope - (root_new - root) / lr * var
        quadratic = root_new / lr + 2 * l2
        bound = l1
    var[...] = np.where(np.abs(linear) > bound, (np.clip(linear, -bound, bound) - linear) / quadratic, 0)
    accum[...] = new


@optimizer_update(
    "Ftrl",
    "var accum linear",
    "grad lr l1 l2 lr_power",
    "multiply_linear_by_lr: bool = false",
    forms="ref resource sparse real",
)
def ftrl(var, accum, linear, *, grad, lr, l1, l2, lr_power, multiply_linear_by_lr):
    """Follow the regularised leader."""
    _ftrl(var, accum, linear, grad, grad, lr, l1, l2, lr_power, multiply_linear_by_lr)


@optimizer_update(
    "FtrlV2",
    "var accum linear",
    "grad lr l1 l2 l2_shrinkage lr_power",
    "multiply_linear_by_lr: bool = false",
    forms="ref resource sparse real",
)
def ftrl_v2(var, accum, linear, *, grad, lr, l1, l2, l2_shrinkage, lr_power, multiply_linear_by_lr):
    """Follow the regularised leader, with a penalty that only moves the step."""
    _ftrl(var, accum, linear, grad, grad + 2 * l2_shrinkage * var, lr, l1, l2, lr_power, multiply_linear_by_lr)


def _shrunk(value, threshold, scale):
    return np.sign(value) * np.maximum(np.abs(value) - threshold, 0) / scale


@optimizer_update("ProximalGradientDescent", "var", "alpha l1 l2 delta", forms="ref resource sparse real")
def proximal_gradient_descent(var, *, alpha, l1, l2, delta=None, grad=None):
    """A gradient step, then a pull towards zero."""
    stepped = var - alpha * (delta if delta is not None else grad)
    scale = 1 + l2 * alpha
    var[...] = _shrunk(stepped, alpha * l1, scale) if l1 > 0 else stepped / scale


@optimizer_update("ProximalAdagrad", "var accum", "lr l1 l2 grad", forms="ref resource sparse real")
def proximal_adagrad(var, accum, *, lr, l1, l2, grad):
    """An Adagrad step, then a pull towards zero by the same adapted rate."""
    accum += grad * grad
    rate = lr / np.sqrt(accum)
    stepped = var - grad * rate
    scale = 1 + l2 * rate
    var[...] = _shrunk(stepped, rate * l1, scale) if l1 > 0 else stepped / scale


@optimizer_update("AddSign", "var m", "lr alpha sign_decay beta grad", forms="ref resource real")
def add_sign(var, m, *, lr, alpha, sign_decay, beta, grad):
    """Longer steps where gradient and mean gradient agree in sign."""
    m *= beta
    m += grad * (1 - beta)
    var -= lr * (alpha + sign_decay * np.sign(grad) * np.sign(m)) * grad


@optimizer_update("PowerSign", "var m", "lr logbase sign_decay beta grad", forms="ref resource real")
def power_sign(var, m, *, lr, logbase, sign_decay, beta, grad):
    """Steps longer by a power where gradient and mean gradient agree in sign."""
    m *= beta
    m += grad * (1 - beta)
    var -= lr * np.exp(logbase * sign_decay * np.sign(grad) * np.sign(m)) * grad
