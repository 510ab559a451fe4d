"""`tf.compat.v1.summary.scalar` and its kin where TensorFlow 2's manners hold: they write to its default writer.

With eager execution, a default writer and a step, a summary op of TF 1 writes what TF 2's function of the same name
writes, and gives an empty text. Where a writer or a step is missing it says so, and gives the message as ever.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw
from ebbflow.platform.eras import executing_eagerly_outside_functions
from ebbflow.summary import ops, plugins
from ebbflow.summary.recording import get_step, has_default_writer
from ebbflow.train.step_counter import get_global_step

Collections = Sequence[str] | str | None


def _step() -> Any:
    """Return the step to write at, or None where TF 1's own way is to be gone."""
    if not executing_eagerly_outside_functions():
        return None
    if not has_default_writer():
        _warn("default summary writer not found")
        return None
    step = get_step()
    step = get_global_step() if step is None else step
    if step is None:
        _warn(
            "global step not set. To set step for summary writer, use `with SummaryWriter.as_default(step=_):`, "
            "`tf.summary.experimental.set_step()` or `tf.compat.v1.train.create_global_step()`"
        )
    return step


def _warn(what: str) -> None:
    warnings.warn(f"Cannot activate TF2 compatibility support for TF1 summary ops: {what}.", stacklevel=4)


def _written(
    write: Callable[[str, Any], Any], name: str, family: str | None, values: Any, kind: str | None = None
) -> Any:
    """Have `write(tag, step)` write a summary if TF 2's way is to be gone, and return what stands for the message."""
    step = _step()
    if step is None:
        return None
    with ops.summary_scope(name, family, kind, values) as (tag, _), name_scope(None):
        write(tag, step)
    return convert(b"")


def scalar(name: str, tensor: TensorLike, collections: Collections = None, family: str | None = None) -> Tensor:
    """Return the summary of one number, or write it to TF 2's default writer.

    >>> scalar("loss", 0.5).dtype
    tf.string
    """
    done = _written(lambda tag, step: plugins.scalar(name=tag, data=tensor, step=step), name, family, [tensor])
    return ops.scalar(name, tensor, collections, family) if done is None else done


def histogram(name: str, values: TensorLike, collections: Collections = None, family: str | None = None) -> Tensor:
    """Return the summary of how numbers are distributed, or write it to TF 2's default writer.

    >>> histogram("weights", [1.0, 2.0]).dtype
    tf.string
    """
    write = lambda tag, step: plugins.histogram(name=tag, data=values, step=step)
    done = _written(write, name, family, [values], "HistogramSummary")
    return ops.histogram(name, values, collections, family) if done is None else done


def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: Collections = None,
    family: str | None = None,
) -> Tensor:
    """Return the summary of the first pictures of a batch, or write them to TF 2's default writer."""
    write = lambda tag, step: plugins.image(name=tag, data=tensor, step=step, max_outputs=max_outputs)
    done = _written(write, name, family, [tensor])
    return ops.image(name, tensor, max_outputs, collections, family) if done is None else done


def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Collections = None,
    family: str | None = None,
) -> Tensor:
    """Return the summary of the first clips of a batch, or write them to TF 2's default writer."""

    def write(tag: str, step: Any) -> Any:
        clips = convert(tensor)
        clips = raw.ExpandDims(clips, -1) if clips.shape.rank == 2 else clips
        return plugins.audio(name=tag, data=clips, sample_rate=sample_rate, step=step, max_outputs=max_outputs)

    done = _written(write, name, family, [tensor])
    return ops.audio(name, tensor, sample_rate, max_outputs, collections, family) if done is None else done


def text(name: str, tensor: TensorLike, collections: Collections = None) -> Tensor:
    """Return the summary of strings, or write them to TF 2's default writer."""
    done = _written(lambda tag, step: plugins.text(name=tag, data=tensor, step=step), name, None, [tensor])
    return ops.text(name, tensor, collections) if done is None else done
