"""Functions of labelled tensors that select, join, reshape, reduce or make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType
from ebbflow.core.scopes import name_scope
from ebbflow.core.typing import DTypeLike
from ebbflow.functions.control_flow.loops import foldl as plain_foldl
from ebbflow.functions.control_flow.loops import map_fn as plain_map
from ebbflow.ops.arrays import creation, joining, padding, shaping
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.masks import boolean_mask as plain_mask
from ebbflow.ops.checks.numerics import verify_tensor_all_finite as plain_check
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise import casts
from ebbflow.ops.elementwise.compare import where_v1
from ebbflow.ops.linalg.matmul import matmul as plain_matmul
from ebbflow.ops.random.stateful import random_crop as plain_crop
from ebbflow.ops.reduce import reductions
from ebbflow.tf1 import input_batches
from ebbflow.tf1.labeled.axes import Axes, Axis, as_axis, concat_axes
from ebbflow.tf1.labeled.tensors import (
    AxisOrderError,
    LabeledTensor,
    Tensors,
    convert_to_labeled_tensor,
    get_axis_order,
    identity,
    scoped,
    slice_function,
)

AxesLike = Iterable[Any]
"""Names of axes, axes, or pairs that make axes."""


# --- parts of a tensor ------------------------------------------------------------------------------------------------


def _place(axis: Axis, wanted: Any) -> Any:
    """Return the number, or the slice of numbers, of what a selection names by labels; both ends of a slice count."""
    if not isinstance(wanted, slice):
        return axis.index(wanted)
    if wanted.step is not None:
        raise NotImplementedError("slicing with a step is not yet supported")
    stop = None if wanted.stop is None else axis.index(wanted.stop) + 1
    return slice(None if wanted.start is None else axis.index(wanted.start), stop)


@scoped("select")
def select(labeled_tensor: Tensors, selection: Mapping[str, Any], name: str | None = None) -> LabeledTensor:
    """Return the places that a selection names by their labels: one, a slice, or the list of an axis."""
    for axis_name in selection:
        if axis_name not in labeled_tensor.axes:
            found = list(labeled_tensor.axes)
            raise ValueError(f"The tensor does not have an axis named {axis_name}. Its axes are: {found!r}")
        if labeled_tensor.axes[axis_name].labels is None:
            axis = labeled_tensor.axes[axis_name]
            raise ValueError(f"The axis named {axis_name} does not have labels. The axis is: {axis!r}")
    lists = {axis: wanted for axis, wanted in selection.items() if isinstance(wanted, list)}
    if len(lists) > 1:
        raise NotImplementedError("select does not yet support more than one list selection at the same time")
    if lists and len(selection) > 1:
        raise NotImplementedError("select does not yet support combined scalar and list selection")
    if not lists:
        places = {axis: _place(labeled_tensor.axes[axis], wanted) for axis, wanted in selection.items()}
        return slice_function(labeled_tensor, places, name=name)
    ((axis_name, labels),) = lists.items()
    return _taken(labeled_tensor, axis_name, labels, name)


def _taken(tensor: LabeledTensor, axis_name: str, labels: list[Any], name: str | None) -> LabeledTensor:
    """Return the rows of some labels of an axis, in their order."""
    number = list(tensor.axes).index(axis_name)
    places = convert([tensor.axes[axis_name].index(label) for label in labels], dtypes.int64)
    axes = [Axis(axis_name, labels) if axis.name == axis_name else axis for axis in tensor.axes.values()]
    return LabeledTensor(raw.Identity(gather(tensor.tensor, places, axis=number), name=name), axes)


@scoped("random_crop")
def random_crop(
    labeled_tensor: Tensors, shape_map: Mapping[str, int], seed: int | None = None, name: str | None = None
) -> LabeledTensor:
    """Return a random part of the given sizes along some axes."""
    for axis_name in shape_map:
        if axis_name not in labeled_tensor.axes:
            raise ValueError(f"Selection axis {axis_name} not in axes {labeled_tensor.axes}")
    axes = [Axis(a.name, shape_map[a.name]) if a.name in shape_map else a for a in labeled_tensor.axes.values()]
    return LabeledTensor(plain_crop(labeled_tensor.tensor, [len(a) for a in axes], seed=seed, name=name), axes)


@scoped("squeeze")
def squeeze(labeled_tensor: Tensors, axis_names: Iterable[str] | None = None, name: str | None = None) -> LabeledTensor:
    """Return the tensor without some axes of one place (None: all of them)."""
    axes = labeled_tensor.axes
    gone = [a.name for a in axes.values() if len(a) == 1] if axis_names is None else list(axis_names)
    for axis_name in gone:
        if axis_name not in axes:
            raise ValueError(f"axis {axis_name} is not in tensor axes {axes}")
        if len(axes[axis_name]) != 1:
            raise ValueError(f"cannot squeeze axis with size greater than 1: ({axis_name}, {axes[axis_name]})")
    numbers = [number for number, axis in enumerate(axes) if axis in gone]
    tensor = labeled_tensor.tensor
    less = shaping.squeeze(tensor, numbers, name=name) if numbers else raw.Identity(tensor, name=name)
    return LabeledTensor(less, [axis for axis in axes.values() if axis.name not in gone])


@scoped("boolean_mask")
def boolean_mask(labeled_tensor: Tensors, mask: Tensors, name: str | None = None) -> LabeledTensor:
    """Return the rows at which a mask along the first axis is true."""
    chosen = convert_to_labeled_tensor(mask)
    if len(chosen.axes) > 1:
        raise NotImplementedError("LabeledTensor's boolean_mask currently only supports 1D masks")
    (of_mask,), (first, *others) = chosen.axes.values(), labeled_tensor.axes.values()
    if of_mask != first:
        raise ValueError(f"the first axis of the labeled tensor and the mask are not equal:\n{first!r}\n{of_mask!r}")
    return LabeledTensor(
        plain_mask(labeled_tensor.tensor, chosen.tensor, name=name or "boolean_mask"), [first.name, *others]
    )


# --- several tensors --------------------------------------------------------------------------------------------------


def _converted(tensors: Iterable[Tensors], word: str) -> list[LabeledTensor]:
    found = [convert_to_labeled_tensor(tensor) for tensor in tensors]
    if not found:
        raise ValueError(f"{word} expects at least 1 tensor, but received {found}")
    return found


def concat(labeled_tensors: Iterable[Tensors], axis_name: str, name: str | None = None) -> LabeledTensor:
    """Return tensors laid end to end along an axis; their other axes are the same."""
    with name_scope(name, "lt_concat", labeled_tensors) as scope:
        tensors = _converted(labeled_tensors, "concat")
        axes = tensors[0].axes
        if axis_name not in axes:
            raise ValueError(f"{axis_name} not in {list(axes)}")
        shared = axes.remove(axis_name)
        for tensor in tensors[1:]:
            others = tensor.axes.remove(axis_name)
            if others != shared:
                raise ValueError(
                    f"Mismatched shared axes: the first tensor had axes {shared!r} but this tensor has axes {others!r}."
                )
        long = concat_axes([tensor.axes[axis_name] for tensor in tensors])
        joined = joining.concat([tensor.tensor for tensor in tensors], list(axes).index(axis_name), name=scope)
        return LabeledTensor(joined, [long if axis.name == axis_name else axis for axis in axes.values()])


def pack(
    labeled_tensors: Iterable[Tensors], new_axis: Any, axis_position: int = 0, name: str | None = None
) -> LabeledTensor:
    """Return tensors of the same axes stacked along a new one."""
    with name_scope(name, "lt_pack", labeled_tensors) as scope:
        tensors = _converted(labeled_tensors, "pack")
        axes = list(tensors[0].axes.values())
        for tensor in tensors:
            if tensor.axes != tensors[0].axes:
                raise ValueError(f"Non-identical axes. Expected {tensors[0].axes} but got {tensor.axes}")
        stacked = joining.stack([tensor.tensor for tensor in tensors], axis=axis_position, name=scope)
        return LabeledTensor(stacked, [*axes[:axis_position], new_axis, *axes[axis_position:]])


@scoped("unpack")
def unpack(labeled_tensor: Tensors, axis_name: str | None = None, name: str | None = None) -> list[LabeledTensor]:
    """Return the slices along an axis (None: the first)."""
    names = list(labeled_tensor.axes)
    along = names[0] if axis_name is None else axis_name
    if along not in names:
        raise ValueError(f"{along} not in {names}")
    parts = joining.unstack(labeled_tensor.tensor, axis=names.index(along), name=name or "unstack")
    return [LabeledTensor(part, labeled_tensor.axes.remove(along)) for part in parts]


@scoped("where")
def where(condition: Tensors, x: Tensors, y: Tensors, name: str | None = None) -> LabeledTensor:
    """Return the elements of x where a condition holds, of y elsewhere; all have the same axes."""
    first, second = convert_to_labeled_tensor(x), convert_to_labeled_tensor(y)
    if not condition.axes == first.axes == second.axes:
        raise ValueError("all inputs to `where` must have equal axes")
    return LabeledTensor(where_v1(condition.tensor, first.tensor, second.tensor, name=name), first.axes)


def matmul(a: Tensors, b: Tensors, name: str | None = None) -> LabeledTensor:
    """Return the sum of products over the one axis that two matrices or vectors share."""
    with name_scope(name, "lt_matmul", [a, b]) as scope:
        left, right = convert_to_labeled_tensor(a), convert_to_labeled_tensor(b)
        shared = _shared_axis(left, right)
        axes = [axis for axis in [*left.axes.values(), *right.axes.values()] if axis.name != shared]
        order = get_axis_order()
        if order is not None and [n for n in order if n in {x.name for x in axes}] != [x.name for x in axes]:
            left, right, axes = right, left, axes[::-1]
        # as matrices whose inner axes are the shared one; the other axis of a vector goes again
        rows = shaping.reshape(left.tensor, (1, -1)) if len(left.axes) == 1 else left.tensor
        columns = shaping.reshape(right.tensor, (-1, 1)) if len(right.axes) == 1 else right.tensor
        product = plain_matmul(
            rows, columns,
            transpose_a=len(left.axes) == 2 and next(iter(left.axes)) == shared,
            transpose_b=len(right.axes) == 2 and list(right.axes)[1] == shared,
        )  # fmt: skip
        odd = [number for number, tensor in enumerate((left, right)) if len(tensor.axes) == 1]
        product = shaping.squeeze(product, odd) if odd else product
        return LabeledTensor(raw.Identity(product, name=scope), axes)


def _shared_axis(a: LabeledTensor, b: LabeledTensor) -> str:
    ranks = f"{len(a.axes)!r} and {len(b.axes)!r}"
    if len(a.axes) > 2 or len(b.axes) > 2:
        raise NotImplementedError(
            f"matmul currently requires inputs with rank 2 or less, but inputs have ranks {ranks}"
        )
    if not a.axes or not b.axes:
        raise ValueError(f"matmul currently requires inputs with at least rank 1, but inputs have ranks {ranks}")
    shared = [axis for axis in a.axes if axis in b.axes]
    if len(shared) > 1:
        raise NotImplementedError(
            f"matmul does not yet support summing over multiple shared axes: {shared!r}. Use transpose and reshape to "
            "create a single shared axis to sum over."
        )
    if not shared:
        both = f"{list(a.axes)!r}, {list(b.axes)!r}"
        raise ValueError(f"there must have exactly one axis in common between input to matmul: {both}")
    (axis,) = shared
    if a.axes[axis] != b.axes[axis]:
        raise ValueError(
            f"axis {axis!r} does not match on input arguments: {a.axes[axis].value!r} vs {b.axes[axis].value!r}"
        )
    return axis


# --- other axes -------------------------------------------------------------------------------------------------------


@scoped("reshape")
def reshape(
    labeled_tensor: Tensors, existing_axes: Iterable[str], new_axes: AxesLike, name: str | None = None
) -> LabeledTensor:
    """Return the tensor with a run of its axes replaced by others of as many elements."""
    names, old, new = list(labeled_tensor.axes), list(existing_axes), list(new_axes)
    if not set(old) <= set(names):
        raise ValueError(
            f"existing_axes {old!r} are not contained in the set of axis names {names!r} on the input labeled tensor"
        )
    start, stop = names.index(old[0]), names.index(old[-1]) + 1
    if old != names[start:stop]:
        raise AxisOrderError(
            f"existing_axes {old!r} are not a slice of axis names {names!r} on the input labeled tensor. Use "
            "`transpose` or `impose_axis_order` to reorder axes on the input explicitly."
        )
    if sum(isinstance(axis, str) for axis in new) > 1:
        raise ValueError(
            "at most one axis in new_axes can have unknown size. All other axes must have an indicated integer size "
            f"or labels: {new!r}"
        )
    before = list(labeled_tensor.axes.values())
    axes = [*before[:start], *new, *before[stop:]]
    sizes = [None if isinstance(axis, str) else as_axis(axis).size for axis in axes]
    shape = [-1 if size is None else size for size in sizes]
    return LabeledTensor(shaping.reshape(labeled_tensor.tensor, shape, name=name), axes)


@scoped("rename_axis")
def rename_axis(labeled_tensor: Tensors, existing_name: str, new_name: str, name: str | None = None) -> LabeledTensor:
    """Return the tensor with another name for an axis."""
    if existing_name not in labeled_tensor.axes:
        names = list(labeled_tensor.axes)
        raise ValueError(
            f"existing_name {existing_name!r} are not contained in the set of axis names {names!r} on the input "
            "labeled tensor"
        )
    renamed = Axis(new_name, labeled_tensor.axes[existing_name].value)
    return reshape(labeled_tensor, [existing_name], [renamed], name=name)


@scoped("tile")
def tile(labeled_tensor: Tensors, multiples: Mapping[str, Any], name: str | None = None) -> LabeledTensor:
    """Return the tensor repeated along some axes, which have no labels."""
    axes = labeled_tensor.axes
    if not set(multiples) <= set(axes):
        raise ValueError(f"tile axes {list(multiples)!r} are not contained in the set of axis names {axes!r}")
    labelled = [axis for axis in multiples if axes[axis].labels is not None]
    if labelled:
        raise ValueError(f"cannot tile axes with tick labels: {labelled!r}")
    many = padding.tile(labeled_tensor.tensor, [multiples.get(axis, 1) for axis in axes], name=name)
    return LabeledTensor(many, [axis.name if axis.labels is None else axis for axis in axes.values()])


@scoped("pad")
def pad(
    labeled_tensor: Tensors, paddings: Mapping[str, tuple[Any, Any]], mode: str = "CONSTANT", name: str | None = None
) -> LabeledTensor:
    """Return the tensor with places (a number of them, or their labels) before and after some axes."""
    axes = labeled_tensor.axes
    if not set(paddings) <= set(axes):
        raise ValueError(f"pad axes {list(paddings)!r} are not contained in the set of axis names {axes!r}")
    around = {axis: [Axis(axis, value) for value in paddings.get(axis, (0, 0))] for axis in axes}
    amounts = [[len(side) for side in sides] for sides in around.values()]
    wider: list[Any] = []
    for axis, (before, after) in zip(axes.values(), around.values(), strict=True):
        wider.append(concat_axes([before, axis, after]) if axis.name in paddings else axis)
    return LabeledTensor(padding.pad(labeled_tensor.tensor, amounts, mode, name=name), wider)


# --- reductions -------------------------------------------------------------------------------------------------------


def define_reduce_op(op_name: str, reduce_fn: Callable[..., Any]) -> Callable[..., LabeledTensor]:
    """Return a reduction of labelled tensors, made from one of tensors with `keepdims`."""

    def op(labeled_tensor: Tensors, axes: Any = None, name: str | None = None) -> LabeledTensor:
        present = labeled_tensor.axes
        wanted = list(present) if axes is None else [axes] if isinstance(axes, str | tuple) else list(axes)
        # a name alone goes; a pair stays, with one place of that label
        kept = {a[0]: (a[0], 1 if a[1] is None else [a[1]]) for a in wanted if not isinstance(a, str)}
        gone = [a for a in wanted if isinstance(a, str)]
        for axis in [*gone, *kept]:
            if axis not in present:
                raise ValueError(f"Axis {axis} not in axes {present}")
        numbers = [number for number, axis in enumerate(present) if axis in gone or axis in kept]
        reduced = reduce_fn(labeled_tensor.tensor, numbers, keepdims=True)
        between = [(a, 1) if a in gone else kept.get(a, axis) for a, axis in present.items()]
        return squeeze(LabeledTensor(reduced, between), gone, name=name)

    op.__doc__ = f"Return the tensor with `tf.{op_name}` taken along some axes (None: all)."
    op.__name__ = op_name
    return scoped(op_name)(op)


REDUCTIONS = {
    word: define_reduce_op(word, getattr(reductions, word))
    for word in (
        "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
        "reduce_sum",
    )
}  # fmt: skip


# --- functions over rows ----------------------------------------------------------------------------------------------


@scoped("map_fn")
def _map_fn(labeled_tensor: Tensors, fn: Callable[..., Any], name: str | None = None) -> LabeledTensor:
    rows = unpack(labeled_tensor)
    first, *others = labeled_tensor.axes.values()
    if labeled_tensor.dtype == dtypes.string:
        return pack([fn(row) for row in rows], first, name=name)
    sample = fn(rows[0])
    mapped = plain_map(
        lambda row: fn(LabeledTensor(row, others)).tensor, labeled_tensor.tensor, dtype=sample.dtype.base_dtype
    )
    return identity(LabeledTensor(mapped, [first, *sample.axes.values()]), name=name)


def map_fn(fn: Callable[..., LabeledTensor], labeled_tensor: Tensors, name: str | None = None) -> LabeledTensor:
    """Return what a function gives for each row along the first axis, stacked."""
    return _map_fn(labeled_tensor, fn, name)


def foldl(
    fn: Callable[..., LabeledTensor], labeled_tensor: Tensors, initial_value: Tensors, name: str | None = None
) -> LabeledTensor:
    """Return what a function makes of a value and one row after another."""
    with name_scope(name, "lt_foldl", [labeled_tensor, initial_value]) as scope:
        tensor, start = convert_to_labeled_tensor(labeled_tensor), convert_to_labeled_tensor(initial_value)
        others = list(tensor.axes.values())[1:]

        def turn(value: Any, row: Any) -> Any:
            return fn(LabeledTensor(value, start.axes), LabeledTensor(row, others)).tensor

        folded = plain_foldl(turn, tensor.tensor, initializer=start.tensor)
        return identity(LabeledTensor(folded, start.axes), name=scope)


# --- batches ----------------------------------------------------------------------------------------------------------


def _batched(
    queued: Callable[..., Any], word: str, tensors: Sequence[Tensors], size: int, many: bool, smaller: bool,
    name: str | None,
) -> list[LabeledTensor]:  # fmt: skip
    """Return tensors from a queue, with an axis `batch` in front."""
    with name_scope(name, word, tensors) as scope:
        given = [convert_to_labeled_tensor(tensor) for tensor in tensors]
        taken = queued([tensor.tensor for tensor in given], name=scope)
        batch_axis = Axis("batch", None if smaller else size)
        found = []
        for tensor, source in zip(taken if isinstance(taken, list) else [taken], given, strict=True):
            if many and next(iter(source.axes), None) != "batch":
                raise ValueError(
                    'When enqueue_many is True, input tensors must have an axis called "batch" as their first '
                    f"dimension, but axes were {source.axes}"
                )
            others = source.axes.remove("batch") if many else source.axes
            found.append(LabeledTensor(tensor, [batch_axis, *others.values()]))
        return found


def batch(
    labeled_tensors: Sequence[Tensors],
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Return batches of tensors, as `tf.train.batch` makes them."""

    def queued(tensors: list[Any], name: str) -> Any:
        return input_batches.batch(
            tensors, batch_size=batch_size, num_threads=num_threads, capacity=capacity, enqueue_many=enqueue_many,
            allow_smaller_final_batch=allow_smaller_final_batch, name=name,
        )  # fmt: skip

    return _batched(
        queued, "lt_batch", labeled_tensors, batch_size, enqueue_many, allow_smaller_final_batch, name
    )  # fmt: skip


def shuffle_batch(
    labeled_tensors: Sequence[Tensors],
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    min_after_dequeue: int = 0,
    seed: int | None = None,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Return batches of shuffled tensors, as `tf.train.shuffle_batch` makes them."""

    def queued(tensors: list[Any], name: str) -> Any:
        return input_batches.shuffle_batch(
            tensors, batch_size=batch_size, num_threads=num_threads, capacity=capacity, enqueue_many=enqueue_many,
            min_after_dequeue=min_after_dequeue, seed=seed, allow_smaller_final_batch=allow_smaller_final_batch,
            name=name,
        )  # fmt: skip

    return _batched(
        queued, "lt_shuffle_batch", labeled_tensors, batch_size, enqueue_many, allow_smaller_final_batch, name
    )  # fmt: skip


# --- new tensors ------------------------------------------------------------------------------------------------------


def constant(
    value: Any, dtype: DType | None = None, axes: Axes | AxesLike | None = None, name: str | None = None
) -> LabeledTensor:
    """Return values as a tensor of some axes."""
    with name_scope(name, "lt_constant", [value]) as scope:
        given = list(axes.values() if isinstance(axes, Axes) else axes or [])
        shape = None if any(isinstance(a, str) for a in given) else [as_axis(a).size for a in given]
        return LabeledTensor(creation.constant_v1(value, dtype=dtype, shape=shape, name=scope), given)


def _same_axes(word: str, function: Callable[..., Any]) -> Callable[..., LabeledTensor]:
    def made(labeled_tensor: Tensors, dtype: DTypeLike | None = None, name: str | None = None) -> LabeledTensor:
        return LabeledTensor(function(labeled_tensor.tensor, dtype, name=name), labeled_tensor.axes)

    made.__doc__ = f"Return {word} of the tensor, with its axes."
    made.__name__ = word
    return scoped(word)(made)


MADE = {
    "zeros_like": _same_axes("zeros_like", creation.zeros_like_v1),
    "ones_like": _same_axes("ones_like", creation.ones_like_v1),
    "cast": _same_axes("cast", casts.cast),
}


@scoped("verify_tensor_all_finite")
def verify_tensor_all_finite(labeled_tensor: Tensors, message: str, name: str | None = None) -> LabeledTensor:
    """Return the tensor, with an error in the run where an element is infinite or no number."""
    checked = plain_check(labeled_tensor.tensor, msg=message, name=name)
    return LabeledTensor(checked, labeled_tensor.axes)


def __getattr__(name: str) -> Callable[..., LabeledTensor]:
    try:
        return REDUCTIONS.get(name) or MADE[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
