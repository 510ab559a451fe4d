"""Contractions: by letters (`einsum`) and by axes (`tensordot`).

The kernel takes any equation of one or two terms apart into diagonals, sums, transposes and one batched matrix product,
so that the work is BLAS's. A term is handled as a tuple of labels; "..." stands for the axes that broadcast.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import is_static
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops.arrays.creation import building
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.ranges import range as range_of
from ebbflow.ops.arrays.shaping import rank as rank_of
from ebbflow.ops.arrays.shaping import reshape, transpose
from ebbflow.ops.arrays.shaping import shape as shape_of_tensor
from ebbflow.ops.declare import raw, show
from ebbflow.ops.linalg.matmul import matmul, product
from ebbflow.ops.reduce import reductions
from ebbflow.ops.sizes import int_vector, invalid, shape_of

Term = tuple[str, ...]
REST = "..."
_BROADCAST = 0xE000  # labels of broadcasting axes, counted from the right, live in the private use area

Einsum = op("Einsum(inputs:N*T) -> (output:T) | equation: string; N: int >= 1; T: type", facts="portable")


@functools.lru_cache(1024)
def parse(equation: str) -> tuple[tuple[Term, ...], Term]:
    """Return the terms of an equation "ab,bc->ac" and the output's."""
    parts = equation.replace(" ", "").split("->")
    if len(parts) != 2:
        raise errors.StaticShapeError(f"Expecting exactly one '->' in einsum equation: {equation}")
    terms = tuple(_labels(t, equation) for t in parts[0].split(","))
    if len(terms) > 2:
        raise errors.StaticShapeError(
            f"Expecting 1 or 2 input subscripts in equation '{equation}' but got: {len(terms)}"
        )
    output = _labels(parts[1], equation)
    for label in output:
        if label != REST and not any(label in term for term in terms):
            raise errors.StaticShapeError(
                f"Einsum output subscripts for equation '{equation}' has label '{label}' "
                "which is not present in the input subscripts"
            )
    return terms, output


def _labels(term: str, equation: str) -> Term:
    found = tuple(re.findall(r"\.\.\.|[A-Za-z]", term))
    if "".join(found) != term or found.count(REST) > 1:
        raise errors.StaticShapeError(f"Invalid subscripts '{term}' in einsum equation: {equation}")
    return found


def _spelled(term: Term, rank: int, at: int, equation: str) -> Term:
    """Return a term with a label for each of `rank` axes: the dots become as many labels as are needed."""
    named = len(term) - (REST in term)
    if (rank < named) if REST in term else (rank != named):
        raise errors.StaticShapeError(
            f"Shape must be{' at least' if REST in term else ''} rank {named} but is rank {rank}\n\t "
            f"for {at}th input and equation: {equation}"
        )
    if REST not in term:
        return term
    i = term.index(REST)
    return term[:i] + _broadcast_labels(rank - named) + term[i + 1 :]


def _broadcast_labels(count: int) -> Term:
    return tuple(chr(_BROADCAST + j) for j in reversed(range(count)))


def _resolve(equation: str, ranks: Sequence[int]) -> tuple[list[Term], Term]:
    """Return all terms and the output with every axis labelled."""
    terms, output = parse(equation)
    if len(terms) != len(ranks):
        raise errors.StaticShapeError(f"Expected {len(terms)} inputs for equation {equation} but got: {len(ranks)}")
    spelled = [_spelled(t, r, i, equation) for i, (t, r) in enumerate(zip(terms, ranks, strict=True))]
    dots = max((len(s) - len(t) + 1 for s, t in zip(spelled, terms, strict=True) if REST in t), default=0)
    if REST not in output:
        if dots:
            raise errors.StaticShapeError(
                f"Shape must be at most rank 0 but is rank {dots}\n\t for einsum equation '{equation}' without "
                "ellipsis (...) in the output subscripts where input(s) have non-empty broadcasting shape"
            )
        return spelled, output
    i = output.index(REST)
    return spelled, output[:i] + _broadcast_labels(dots) + output[i + 1 :]


@Einsum.shape
def _(inputs, *, equation):
    terms, output = parse(equation)
    if len(terms) != len(inputs):
        raise errors.StaticShapeError(f"Expected {len(terms)} inputs for equation {equation} but got: {len(inputs)}")
    if any(x.dims is None for x in inputs):
        for at, (term, x) in enumerate(zip(terms, inputs, strict=True)):
            if x.dims is not None:
                _spelled(term, len(x.dims), at, equation)
        return None if REST in output else _output_dims(output, _sizes(terms, inputs))
    spelled, output = _resolve(equation, [len(x.dims) for x in inputs])
    return _output_dims(output, _sizes(spelled, inputs))


def _sizes(terms: Sequence[Term], inputs: Sequence[Any]) -> dict[str, int | None]:
    sizes: dict[str, int | None] = {}
    for term, x in zip(terms, inputs, strict=True):
        for label, n in zip(term, x.dims, strict=True) if x.dims is not None else ():
            known = sizes.get(label)
            if known is None or n is None or n == known:
                sizes[label] = n if known is None else known
            elif ord(label) >= _BROADCAST and 1 in (n, known):
                sizes[label] = max(n, known)
            else:
                raise errors.StaticShapeError(f"Dimensions must be equal, but are {known} and {n}")
    return sizes


def _output_dims(output: Term, sizes: dict[str, int | None]) -> tuple[int | None, ...]:
    return tuple(sizes.get(label) for label in output)


# --- the kernel -------------------------------------------------------------------------------------------------------


@Einsum.kernel
def _(xp, inputs, *, equation):
    terms, output = _resolve(equation, [x.ndim for x in inputs])
    _check_sizes(inputs, terms)
    keep = set(output)
    if len(inputs) == 1:
        x, term = _simplified(xp, inputs[0], terms[0], keep)
        return _arranged(xp, x, term, output)
    (a, ta), (b, tb) = zip(inputs, terms, strict=True)
    (a, ta), (b, tb) = _without_ones(a, ta, b, tb), _without_ones(b, tb, a, ta)
    a, ta = _simplified(xp, a, ta, keep | set(tb))
    b, tb = _simplified(xp, b, tb, keep | set(ta))
    return _arranged(xp, *_contract(xp, a, ta, b, tb, keep), output)


def _check_sizes(inputs, terms) -> None:
    sizes: dict[str, int] = {}
    for x, term in zip(inputs, terms, strict=True):
        for axis, (label, n) in enumerate(zip(term, x.shape, strict=True)):
            known = sizes.setdefault(label, n)
            if known != n and not (ord(label) >= _BROADCAST and 1 in (n, known)):
                raise invalid(
                    f"Expected dimension {known} at axis {axis} of the input shaped {show(x.shape)} "
                    f"but got dimension {n}"
                )


def _without_ones(x, term, other, theirs):
    """Drop the axes of length 1 that broadcast against longer ones: the product then broadcasts by itself."""
    longer = {label for label, n in zip(theirs, other.shape, strict=True) if n != 1}
    axes = tuple(i for i, n in enumerate(x.shape) if n == 1 and ord(term[i]) >= _BROADCAST and term[i] in longer)
    return x.squeeze(axes), tuple(label for i, label in enumerate(term) if i not in axes)


def _simplified(xp, x, term, keep):
    """Take the diagonal over repeated labels and sum over those that nobody else has."""
    for label in dict.fromkeys(term):
        while term.count(label) > 1:
            i = term.index(label)
            j = term.index(label, i + 1)
            x = xp.diagonal(x, axis1=i, axis2=j)
            term = (*(t for k, t in enumerate(term) if k not in (i, j)), label)
    axes = tuple(i for i, label in enumerate(term) if label not in keep)
    if axes:
        x = _sum(xp, x, axes)
        term = tuple(label for label in term if label in keep)
    return x, term


def _sum(xp, x, axes):
    if (x.dtype.kind in "fc" and x.dtype.itemsize > 2) or x.dtype.kind in "iu":
        return xp.sum(x, axis=axes, dtype=x.dtype)
    return xp.sum(x.astype(np.float32), axis=axes).astype(x.dtype)


def roles(ta: Term, tb: Term, keep: Container[str]) -> tuple[list[str], list[str], list[str], list[str]]:
    """Return the labels of two terms as a product has them: of both and kept, of both and summed, of one alone."""
    return (
        [label for label in ta if label in tb and label in keep],
        [label for label in ta if label in tb and label not in keep],
        [label for label in ta if label not in tb],
        [label for label in tb if label not in ta],
    )


def _contract(xp, a, ta, b, tb, keep):
    """Return the product of two arrays over the labels that both have and the output lacks, and its labels."""
    batch, inner, rows, columns = roles(ta, tb, keep)
    left = _as_matrices(a, ta, batch, rows, inner)
    right = _as_matrices(b, tb, batch, inner, columns)
    sizes = {**dict(zip(tb, b.shape, strict=True)), **dict(zip(ta, a.shape, strict=True))}
    term = (*batch, *rows, *columns)
    return _product(xp, left, right).reshape([sizes[label] for label in term]), term


_FOR_AN_ENGINE = 1 << 18
"""Multiplications from which on a product is asked of the op, and so of whichever engine serves it."""


def _product(xp, left, right):
    if xp is np and left.size * right.shape[-1] >= _FOR_AN_ENGINE:
        return raw.BatchMatMulV2.run(
            [left, right], {"adj_x": False, "adj_y": False, "T": dtypes.from_numpy(left.dtype)}
        )
    return product(xp, left, right)


def _as_matrices(x, term, batch, rows, columns):
    order = [term.index(label) for label in (*batch, *rows, *columns)]
    x = x.transpose(order)
    lead, middle = len(batch), len(batch) + len(rows)
    return x.reshape(*x.shape[:lead], math.prod(x.shape[lead:middle]), math.prod(x.shape[middle:]))


def _arranged(xp, x, term, output):
    """Transpose to the output's order; a label that the output repeats is spread along a diagonal."""
    unique = tuple(dict.fromkeys(output))
    x = x.transpose([term.index(label) for label in unique])
    for i, label in enumerate(output):
        if label in output[:i]:
            first = output.index(label)
            n = x.shape[first]
            eye = xp.eye(n, dtype=bool).reshape([n if k in (first, i) else 1 for k in range(x.ndim + 1)])
            x = xp.where(eye, xp.expand_dims(x, i), xp.zeros((), x.dtype))
    return x


# --- the gradient -----------------------------------------------------------------------------------------------------


@Einsum.gradient
def _(call, grad):
    terms, output = parse(call.equation)
    inputs = call.inputs
    if len(inputs) == 1:
        return [_gradient_of(grad, output, inputs[0], terms[0], None, ())]
    return [
        _gradient_of(grad, output, inputs[i], terms[i], inputs[1 - i], terms[1 - i]) if call.wants(i) else None
        for i in range(2)
    ]


def _gradient_of(grad, output, x, term, other, their_term):
    """Contract the gradient with the other input, then give back what was summed away or broadcast."""
    term = tuple(label for label in term if label != REST or REST in output)
    unique = tuple(dict.fromkeys(term))
    known = tuple(label for label in unique if label in output or label in their_term)
    spread = REST in output and REST not in term  # the other input alone has broadcasting axes
    target = (REST, *known) if spread else known
    inputs = [grad] if other is None else [grad, raw.Conj(other) if other.dtype.is_complex else other]
    source = [output] if other is None else [output, their_term]
    equation = ",".join("".join(t) for t in source) + "->" + "".join(target)
    result = raw.Einsum(inputs, equation=equation)
    if spread:
        result = _sum_leading(result, len(known))
    elif REST in term:
        result = _sum_broadcast(result, known, x, term)
    result = _restore(result, known, unique, x, term)
    return raw.Einsum([result], equation=f"{''.join(unique)}->{''.join(term)}") if unique != term else result


def _sum_leading(x, named):
    if x._dims is not None:
        return raw.Sum(x, list(range(len(x._dims) - named))) if len(x._dims) > named else x
    return raw.Sum(x, raw.Range(0, raw.Rank(x) - named, 1))


def _sum_broadcast(x, known, like, term):
    """Sum the dotted axes of `x`, labelled `known`, down to those of `like`, labelled `term`."""
    before, after = known.index(REST), len(known) - known.index(REST) - 1
    their_before, their_after = term.index(REST), len(term) - term.index(REST) - 1
    if x._dims is not None and like._dims is not None and is_static(x._dims) and is_static(like._dims):
        mine = x._dims[before : len(x._dims) - after]
        theirs = like._dims[their_before : len(like._dims) - their_after]
        if mine == theirs:
            return x
        lead = len(mine) - len(theirs)
        axes = [before + i for i in range(len(mine)) if i < lead or theirs[i - lead] != mine[i]]
        shape = (*x._dims[:before], *theirs, *x._dims[len(x._dims) - after :])
        return raw.Reshape(raw.Sum(x, axes), int_vector(shape, x))
    whole, wanted = raw.Shape(x), raw.Shape(like)
    dots = wanted[their_before : raw.Rank(like) - their_after]
    axes, _ = raw.BroadcastGradientArgs(dots, whole[before : raw.Rank(x) - after])
    shape = concat([whole[:before], dots, whole[raw.Rank(x) - after :]], 0)
    return raw.Reshape(raw.Sum(x, axes + before), shape)


def _restore(x, known, unique, like, term):
    """Repeat `x` along the labels of `unique` that it lacks: they were summed away."""
    if known == unique:
        return x
    dots = unique.index(REST) if REST in unique else len(unique)
    for i, label in enumerate(unique):
        if label not in known and i < dots:
            x = raw.ExpandDims(x, i)
    for i, label in reversed(list(enumerate(unique))):
        if label not in known and i > dots:
            x = raw.ExpandDims(x, i - len(unique))
    firsts = [i for i, label in enumerate(term) if label not in term[:i]]
    shape = shape_of(like)
    if len(firsts) < len(term):
        shape = raw.GatherV2(shape, _positions(firsts, term, like), 0)
    return raw.BroadcastTo(x, shape)


def _positions(firsts, term, like):
    """The axes of the first uses of each label, the dots standing for as many axes as there are."""
    if REST not in term:
        return firsts
    dots = term.index(REST)
    rank = len(like._dims) if like._dims is not None else None
    if rank is None:
        raise errors.InvalidArgumentError(
            None, None, "the gradient of an einsum with repeated labels and '...' needs inputs of known rank"
        )
    extra = rank - len(term)
    spread = []
    for i in firsts:
        spread.extend([i] if i < dots else range(i, i + extra + 1) if i == dots else [i + extra])
    return spread


# --- einsum -----------------------------------------------------------------------------------------------------------


def einsum(equation: str, *inputs: TensorLike, **kwargs: Any) -> Tensor:
    """Return the contraction of the inputs that the equation spells out.

    >>> einsum("ij,jk->ik", [[1., 2.]], [[3.], [4.]]).numpy().tolist()
    [[11.0]]
    """
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError(f"Invalid keyword arguments for einsum: {', '.join(kwargs)}. Expected: 'name' and 'optimize'")
    with name_scope(name, "einsum", inputs):
        tensors = [convert(x) for x in inputs]
        terms, output = _explicit(equation, tensors)
        while len(tensors) > 2:
            i, j, middle = _cheapest(tensors, terms, output)
            joined = raw.Einsum([tensors[i], tensors[j]], equation=f"{terms[i]},{terms[j]}->{middle}")
            tensors = [t for k, t in enumerate(tensors) if k not in (i, j)] + [joined]
            terms = [t for k, t in enumerate(terms) if k not in (i, j)] + [middle]
        return raw.Einsum(tensors, equation=f"{','.join(terms)}->{output}")


def einsum_tf1(equation: str, *inputs: TensorLike, **kwargs: Any) -> Tensor:
    """Return `einsum(equation, …)`; a transposition or a plain product is that node, as TensorFlow 1 has it."""
    terms, arrow, output = equation.replace(" ", "").partition("->")
    plain = building() is not None and arrow and len(set(output)) == len(output) and "." not in equation
    if plain and len(inputs) == 1 and sorted(terms) == sorted(output):
        with name_scope(kwargs.get("name"), "einsum", inputs):
            return transpose(inputs[0], [terms.index(label) for label in output])
    a, _, b = terms.partition(",")
    if plain and len(inputs) == 2 and len(a) == len(b) == 2 and a[1] == b[0] and output == a[0] + b[1] != a:
        with name_scope(kwargs.get("name"), "einsum", inputs):
            return matmul(*inputs)
    return einsum(equation, *inputs, **kwargs)


_EQUATION = re.compile(r"((?:[A-Za-z]|\.\.\.|,)*)(->(?:[A-Za-z]|\.\.\.)*)?")


def _explicit(equation: str, tensors: Sequence[Any]) -> tuple[list[str], str]:
    """Return the input terms and the output term, which is made up where the equation leaves it out."""
    text = equation.replace(" ", "")
    found = _EQUATION.fullmatch(text)
    if not found:
        raise ValueError(f"Indices have incorrect format. Received: {equation}.")
    terms = found[1].split(",")
    if len(terms) != len(tensors):
        raise ValueError(f"Got {len(tensors)} inputs for equation {equation!r}, expecting {len(terms)}")
    if found[2] is not None:
        letters = [c for c in found[2] if c.isalpha()]
        if len(set(letters)) < len(letters):
            raise ValueError(f"Output subscripts contain a label appearing more than once: {equation}")
        return terms, found[2][2:]
    letters = [c for c in found[1] if c.isalpha()]
    once = sorted(c for c in set(letters) if letters.count(c) == 1)
    return terms, (REST if REST in found[1] else "") + "".join(once)


def _cheapest(tensors: list[Any], terms: list[str], output: str) -> tuple[int, int, str]:
    """Return the pair whose product is smallest, and the labels it keeps: those that others or the output need."""
    sizes = {
        label: n
        for t, term in zip(tensors, terms, strict=True)
        if t._dims is not None and REST not in term and len(t._dims) == len(term)
        for label, n in zip(term, t._dims, strict=True)
        if n is not None
    }
    best: tuple[float, int, int, str] | None = None
    for i in range(len(terms)):
        for j in range(i + 1, len(terms)):
            others = {c for k, t in enumerate(terms) if k not in (i, j) for c in t} | set(output)
            labels = list(dict.fromkeys(c for c in terms[i] + terms[j] if c != "." and c in others))
            cost = math.prod(sizes.get(c, 16) for c in labels)
            dots = REST if REST in terms[i] + "," + terms[j] else ""
            if best is None or cost < best[0]:
                best = (cost, i, j, dots + "".join(labels))
    assert best is not None
    return best[1:]


# --- tensordot --------------------------------------------------------------------------------------------------------


def tensordot(a: TensorLike, b: TensorLike, axes: Axis, name: str | None = None) -> Tensor:
    """Return the sum of products of `a` and `b` over the given axes: a number of them, or a list for each.

    >>> tensordot([[1., 2.]], [[3.], [4.]], 1).numpy().tolist()
    [[11.0]]
    """
    return _tensordot(a, b, axes, name, tidy=True)


def tensordot_tf1(a: TensorLike, b: TensorLike, axes: Axis, name: str | None = None) -> Tensor:
    """Return `tensordot(a, b, axes)` as TensorFlow 1 puts it into a graph: no step is left out, needed or not."""
    return _tensordot(a, b, axes, name, tidy=building() is None)


def _tensordot(a, b, axes, name, tidy):
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a = convert(a, None, None, "a")
        b = convert(b, None, None, "b")
        axes_a, axes_b = _dot_axes(a, axes)
        left, free_a, dims_a = _as_matrix(a, axes_a, False, tidy)
        right, free_b, dims_b = _as_matrix(b, axes_b, True, tidy)
        result = matmul(left, right)
        if isinstance(free_a, list) and isinstance(free_b, list):
            shape = free_a + free_b
            if tidy and result._dims == tuple(shape):
                return result
            return reshape(result, shape, name=scope or None)
        free_a, free_b = (convert(f, None, dtypes.int32) for f in (free_a, free_b))
        result = reshape(result, concat([free_a, free_b], 0), name=scope or None)
        if dims_a is not None and dims_b is not None:
            result.set_shape(dims_a + dims_b)
        return result


def _dot_axes(a, axes):
    if isinstance(axes, (int, np.integer)) and not isinstance(axes, bool):
        return _last_and_first(a, int(axes))
    if isinstance(axes, (list, tuple, np.ndarray)):
        if len(axes) != 2:
            raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
        plain = (x.tolist() if isinstance(x, (np.ndarray, np.integer)) else x for x in axes)
        first, second = ([x] if isinstance(x, int) else x for x in plain)
        if _length(first) != _length(second) and None not in (_length(first), _length(second)):
            raise ValueError(f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}.")
        return first, second
    axes = convert(axes, None, dtypes.int32, "axes")
    return axes[0], axes[1]


def _last_and_first(a, count):
    """The last axes of `a`, as many as are asked for, go with the first of `b`."""
    if count < 0:
        raise ValueError(f"`axes` must be at least 0. Received: {count}.")
    if a._dims is None:
        rank = rank_of(a)
        return range_of(rank - count, rank), range_of(count)
    rank = len(a._dims)
    if count > rank:
        raise ValueError(
            f"`axes` must not be larger than the number of dimensions of tensor {a}.  "
            f"Received {count}, vs tensor dimensions {rank}."
        )
    return list(range(rank - count, rank)), list(range(count))


def _length(axes) -> int | None:
    return None if isinstance(axes, Tensor) else len(axes)


def _as_matrix(x, axes, flipped, tidy):
    """Return `x` as a matrix with the contracted axes as columns (rows if flipped), and the shape of its other axes."""
    dims = None
    if x._dims is not None and isinstance(axes, (list, tuple)):
        rank = len(x._dims)
        axes = [int(i) + rank if i < 0 else int(i) for i in axes]
        free = [i for i in range(rank) if i not in axes]
        if is_static(x._dims):
            return _static_matrix(x, axes, free, flipped, tidy)
        dims = [x._dims[i] for i in free]
        axes, free = convert(axes, dtypes.int32, None, "axes"), convert(free, dtypes.int32, None, "free")
        whole = shape_of_tensor(x)
    else:
        whole, rank = shape_of_tensor(x), rank_of(x)
        axes = convert(axes, dtypes.int32, None, "axes")
        axes = raw.Select(axes >= 0, axes, axes + rank)
        free, _ = raw.ListDiff(range_of(rank), axes)
    free_dims, axes_dims = raw.GatherV2(whole, free, 0), raw.GatherV2(whole, axes, 0)
    free_side = free, reductions.reduce_prod(free_dims)
    axes_side = axes, reductions.reduce_prod(axes_dims)
    first, second = (axes_side, free_side) if flipped else (free_side, axes_side)
    order = concat([first[0], second[0]], 0)
    sizes = stack([first[1], second[1]])
    return reshape(transpose(x, order), sizes), free_dims, dims


def _static_matrix(x, axes, free, flipped, tidy):
    free_dims = [x._dims[i] for i in free]
    count, inner = math.prod(free_dims), math.prod(x._dims[i] for i in axes)
    perm = axes + free if flipped else free + axes
    shape = [inner, count] if flipped else [count, inner]
    turned = x if tidy and perm == list(range(len(perm))) else transpose(x, perm)
    return turned if tidy and list(turned._dims) == shape else reshape(turned, shape), free_dims, free_dims
