"""Variables of a new model started from an old model's checkpoint: `tf.train.warm_start`.

Which variables, is said with regular expressions; under which names they stand in the checkpoint, and which words
their rows or columns stand for, with two dictionaries. Changes what variables of a graph are initialised with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ebbflow.checkpoint import saveables
from ebbflow.checkpoint.initializing import init_from_checkpoint, is_variable
from ebbflow.checkpoint.reader import checkpoint_filename, load_checkpoint
from ebbflow.checkpoint.remapping import load_and_remap_matrix_initializer
from ebbflow.checkpoint.saver import object_graph_key_mapping
from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.typing import PathLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.platform import logging
from ebbflow.state.partitioners import PartitionedVariable, PartitionInfo
from ebbflow.trackable.constants import OBJECT_GRAPH_PROTO_KEY


class VocabInfo(NamedTuple):
    """What the rows (axis 0) or columns (axis 1) of a variable stand for: now, and in the checkpoint."""

    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


def warm_start(
    ckpt_to_initialize_from: PathLike,
    vars_to_warm_start: str | Sequence[Any] | None = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Have variables of the current graph start with what they were in a checkpoint.

    A regular expression chooses among trainable variables, a list of them among all; None takes only those that have a
    `VocabInfo`. A list of variables names them itself.
    """
    vocabs, previous = dict(var_name_to_vocab_info or {}), dict(var_name_to_prev_var_name or {})
    logging.info("Warm-starting from: %s", ckpt_to_initialize_from)
    groups = grouped_variables(vars_to_warm_start)
    unnamed = {name: key for name, key in _keys_of_objects(ckpt_to_initialize_from).items() if name not in previous}
    plain: list[tuple[str, Any]] = []
    for name, parts in groups.items():
        old_name = previous.get(name, unnamed.get(name))
        if name in vocabs:
            _start_with_vocabulary(parts, vocabs[name], ckpt_to_initialize_from, old_name)
        elif vars_to_warm_start:
            plain.append(var_info(parts[0] if len(parts) == 1 else parts, old_name))
    init_from_checkpoint(ckpt_to_initialize_from, plain)
    _check_used("var_name_to_prev_var_name", previous, groups)
    _check_used("var_name_to_vocab_info", vocabs, groups)


def _keys_of_objects(checkpoint: Any) -> dict[str, str]:
    """Return where an object-based checkpoint has the variables, by the names they had; nothing for another."""
    if not load_checkpoint(checkpoint).has_tensor(OBJECT_GRAPH_PROTO_KEY):
        return {}
    return object_graph_key_mapping(checkpoint_filename(checkpoint))


def _check_used(what: str, names: Mapping[str, Any], groups: Mapping[str, Any]) -> None:
    unused = sorted(set(names) - set(groups))
    if unused:
        raise ValueError(
            f"You provided the following variables in {what} that were not used: {', '.join(unused)}.  Perhaps you "
            f"misspelled them?  Here is the list of viable variable names: {', '.join(sorted(groups))}"
        )


def grouped_variables(vars_to_warm_start: Any) -> dict[str, list[Any]]:
    """Return the variables that are meant by name: those of one name are the parts of one."""
    graph = context.default_graph()
    if vars_to_warm_start is None or isinstance(vars_to_warm_start, str):
        chosen = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, vars_to_warm_start)
    elif not isinstance(vars_to_warm_start, list):
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Otherwise it is one string; "
            f"got {vars_to_warm_start!r}"
        )
    elif all(isinstance(v, str) for v in vars_to_warm_start):
        chosen = [v for text in vars_to_warm_start for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, text)]
    elif all(is_variable(v) for v in vars_to_warm_start):
        chosen = vars_to_warm_start
    else:
        raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.")
    groups: dict[str, list[Any]] = {}
    for variable in chosen:
        parts = groups.setdefault(name_of(variable), [])
        if not any(part is variable for part in parts):
            parts.append(variable)
    return groups


def name_of(variable: Any) -> str:
    """Return the name a checkpoint has for a variable, or for a list of parts of one."""
    named = saveables.op_list_to_dict(variable if isinstance(variable, list) else [variable])
    if len(named) > 1:
        raise TypeError(f"`var` = {variable} passed as arg violates the constraints: name: {list(named)}")
    return next(iter(named))


def var_info(var: Any, prev_tensor_name: str | None = None) -> tuple[str, Any]:
    """Return the name that a variable (or a list of parts, or a divided one) has in the checkpoint, and what it is."""
    if isinstance(var, PartitionedVariable):
        var = var._get_variable_list()
    elif not _is_variable_or_parts(var):
        raise TypeError(f"var MUST be one of the following: a Variable, list of Variable or PartitionedVariable: {var}")
    return prev_tensor_name or name_of(var), var


def _is_variable_or_parts(var: Any) -> bool:
    return is_variable(var) or (isinstance(var, list) and all(is_variable(v) for v in var))


# --- vocabularies -----------------------------------------------------------------------------------------------------


def _start_with_vocabulary(parts: list[Any], info: VocabInfo, checkpoint: Any, old_name: str | None) -> None:
    warm_start_var_with_vocab(
        parts,
        info.new_vocab,
        info.new_vocab_size,
        checkpoint,
        info.old_vocab or info.new_vocab,
        previous_vocab_size=info.old_vocab_size,
        current_oov_buckets=info.num_oov_buckets,
        prev_tensor_name=old_name,
        initializer=info.backup_initializer,
        axis=info.axis,
    )


def warm_start_var_with_vocab(
    var: Any,
    current_vocab_path: str,
    current_vocab_size: int,
    prev_ckpt: Any,
    prev_vocab_path: str,
    previous_vocab_size: int = -1,
    current_oov_buckets: int = 0,
    prev_tensor_name: str | None = None,
    initializer: Any = None,
    axis: int = 0,
) -> None:
    """Have a matrix start with that of a checkpoint, its rows (or columns) found by the words they stand for."""
    if not (current_vocab_path and current_vocab_size and prev_ckpt and prev_vocab_path):
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, prev_vocab_path]."
        )
    if axis not in (0, 1):
        raise ValueError(f"The only supported values for the axis argument are 0 and 1.  Provided axis: {axis}")
    prev_tensor_name, var = var_info(var, prev_tensor_name)
    parts = var if isinstance(var, list) else [var]
    rows = sum(part.shape.as_list()[0] for part in parts)
    for part in parts:
        shape = part.shape.as_list()
        word_rows = axis == 0
        read = load_and_remap_matrix_initializer(
            checkpoint_filename(prev_ckpt),
            prev_tensor_name,
            new_row_vocab_size=current_vocab_size if word_rows else rows,
            new_col_vocab_size=shape[1] if word_rows else current_vocab_size,
            old_row_vocab_size=previous_vocab_size if word_rows else -1,
            old_row_vocab_file=prev_vocab_path if word_rows else None,
            new_row_vocab_file=current_vocab_path if word_rows else None,
            old_col_vocab_file=None if word_rows else prev_vocab_path,
            new_col_vocab_file=None if word_rows else current_vocab_path,
            num_row_oov_buckets=current_oov_buckets if word_rows else 0,
            num_col_oov_buckets=0 if word_rows else current_oov_buckets,
            initializer=initializer,
        )
        slice_info = part._get_save_slice_info()
        place = None if slice_info is None else PartitionInfo(slice_info.full_shape, slice_info.var_offset)
        _start_with(part, convert(read(shape, partition_info=place)))


def _start_with(variable: Any, value: Any) -> None:
    """Have a variable be initialised with a value (eagerly: at once)."""
    assign = variable.assign(value)
    if not context.executing_eagerly():
        variable._initializer = getattr(assign, "op", assign)
        variable._initial_value = value
