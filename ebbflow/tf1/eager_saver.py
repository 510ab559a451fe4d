"""`tfe.Saver` and its kin: eager variables saved and restored by name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ebbflow.checkpoint.reader import CheckpointReader
from ebbflow.checkpoint.saver import Saver as NameSaver
from ebbflow.core import context, errors
from ebbflow.core.convert import convert
from ebbflow.core.typing import PathLike, TensorLike
from ebbflow.state.base import making

if TYPE_CHECKING:
    from ebbflow.state.base import Variable
    from ebbflow.train.optimizer import Optimizer


class Saver:
    """Saves and restores eager variables, given as a list, a dictionary or one alone."""

    def __init__(self, var_list: Iterable[Any]):
        if context.graph_scopes and not context.executing_eagerly():
            raise RuntimeError("tfe.Saver is for eager execution; in graphs there is tf.train.Saver")
        if not isinstance(var_list, (list, tuple, dict, set)):
            var_list = [var_list]
        self._saver = NameSaver(var_list)

    def save(self, file_prefix: Any, global_step: Variable | TensorLike | None = None) -> str | None:
        """Write a checkpoint and return its prefix."""
        return self._saver.save(None, file_prefix, write_meta_graph=False, global_step=global_step)

    def restore(self, file_prefix: Any) -> None:
        """Give the variables the values of a checkpoint."""
        self._saver.restore(None, file_prefix)


def get_optimizer_variables(optimizer: Optimizer) -> list[Any]:
    """Return the variables that an optimizer keeps."""
    return optimizer.variables()


@contextlib.contextmanager
def restore_variables_on_create(save_path: PathLike, map_func: Callable[..., Any] | None = None) -> Iterator[None]:
    """Have variables that are made in the block start with what a checkpoint has under their names."""
    if map_func is not None and not callable(map_func):
        raise ValueError(f"map_func must be callable, got {map_func!r}")
    if not save_path:
        yield
        return
    reader, used = CheckpointReader(save_path), set[str]()

    def restore(variable: Any) -> None:
        name = variable._shared_name
        key = map_func(name) if map_func is not None else name
        if key in used:  # a second variable of the name is another
            return
        if not reader.has_tensor(key):
            raise errors.NotFoundError(None, None, f"{key} not found in checkpoint")
        used.add(key)
        variable.assign(convert(reader.get_tensor(key), variable.dtype.base_dtype))

    held, making.notices = making.notices, (*making.notices, restore)
    try:
        yield
    finally:
        making.notices = held
